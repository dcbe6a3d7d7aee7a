"""Messages over pipes: one line of JSON each."""

from __future__ import annotations

import json
import os
import re
import select
import sys
import threading
from typing import TYPE_CHECKING, Any, BinaryIO, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

MAX_LINE_BYTES: Final = 64 * 1024 * 1024
"""Bytes of one message; an endless line would otherwise fill the memory."""

MAX_UNREAD_BYTES: Final = 64 * 1024 * 1024
"""Bytes of answers that the client has not read; above it, no more requests are read."""

CHUNK: Final = getattr(select, "PIPE_BUF", 512)
"""Bytes that a pipe accepts without blocking whenever the system reports it writable."""

BATCH: Final = 65_536
"""Bytes written at a time once the pipe is full, so that it is seen whether the client reads."""

HALF: Final = re.compile(rb"\\u[dD][89a-fA-F]")
"""An escape of a surrogate; usually the other half of the pair follows."""


def mended(text: str | bytes) -> str:
    """Return JSON with U+FFFD for each lone surrogate, such as half of an emoji.

    Raises ValueError if it is not JSON, and RecursionError if it is nested too deeply.
    """
    whole = json.dumps(json.loads(text), ensure_ascii=False)
    return whole.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def read_json(line: bytes) -> Any:
    """Parse one line; raises like :func:`mended`."""
    text = line.decode("utf-8", "replace")
    return json.loads(mended(text) if HALF.search(line) else text)


def take_over() -> tuple[BinaryIO, int]:
    """Take over standard input and output, and return the stream and the descriptor.

    Then a stray ``print`` or a child process cannot corrupt the messages.
    """
    incoming, outgoing = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    try:
        os.dup2(2, 1)
    except OSError:  # there is no standard error
        os.dup2(nothing, 1)
    os.close(nothing)
    return os.fdopen(incoming, "rb"), outgoing


def lines(incoming: BinaryIO, largest: int = MAX_LINE_BYTES) -> Iterator[bytes]:
    """Yield each non-empty line; one that is too long is yielded as empty bytes."""
    while line := incoming.readline(largest):
        if len(line) == largest and not line.endswith(b"\n"):
            while line and not line.endswith(b"\n"):
                line = incoming.readline(largest)
            yield b""
        elif line.strip():
            yield line


class Outgoing:
    """Writes messages in order; senders never wait for the client to read.

    As much as the pipe accepts is written at once, the rest by a thread.

    Args:
        write: writes some bytes and returns how many, like ``os.write``.
        on_gone: called once the client has closed the pipe.
        has_room: whether ``CHUNK`` bytes can be written without waiting.
    """

    def __init__(
        self,
        write: Callable[[memoryview], int],
        on_gone: Callable[[], object],
        has_room: Callable[[], bool] = lambda: False,
    ) -> None:
        self._write = write
        self._on_gone = on_gone
        self._has_room = has_room
        self._changed = threading.Condition()
        self._waiting: list[memoryview] = []
        self._unwritten = 0
        self._writing: threading.Thread | None = None

    def send(self, message: dict[str, Any]) -> None:
        text = json.dumps({"jsonrpc": "2.0", **message}, ensure_ascii=False, separators=(",", ":"))
        line = memoryview(text.encode("utf-8", "replace") + b"\n")
        with self._changed:
            if not self._unwritten:
                line = self._write_at_once(line)
            if line:
                self._leave_to_thread(line)

    def wait_for_room(self) -> None:
        """Wait until at most ``MAX_UNREAD_BYTES`` bytes are unwritten."""
        with self._changed:
            self._changed.wait_for(lambda: self._unwritten < MAX_UNREAD_BYTES)

    def flush(self, seconds: float) -> None:
        """Wait until everything is written, or until the client reads nothing for ``seconds``."""
        with self._changed:
            while self._unwritten and self._changed.wait(seconds):
                pass

    def _write_at_once(self, line: memoryview) -> memoryview:
        """Write as much as the pipe accepts; return the rest."""
        try:
            while line and self._has_room():
                line = line[self._write(line[:CHUNK]) :]
        except OSError:
            self._on_gone()
        return line

    def _leave_to_thread(self, line: memoryview) -> None:
        self._waiting.append(line)
        self._unwritten += len(line)
        if self._writing is None:
            self._writing = threading.Thread(target=self._run, name="memstore-write", daemon=True)
            self._writing.start()
        self._changed.notify_all()

    def _run(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._waiting)
                batch, self._waiting = b"".join(self._waiting), []
            rest = memoryview(batch)
            while rest:
                try:
                    written = self._write(rest[:BATCH])
                except OSError:
                    self._on_gone()
                    return
                rest = rest[written:]
                with self._changed:
                    self._unwritten -= written
                    self._changed.notify_all()


def room_of(descriptor: int) -> Callable[[], bool]:
    """Return a function that reports whether a pipe accepts ``CHUNK`` bytes without blocking."""
    if sys.platform == "win32":  # where select() works only for sockets
        return lambda: False
    return lambda: bool(select.select([], [descriptor], [], 0)[1])
