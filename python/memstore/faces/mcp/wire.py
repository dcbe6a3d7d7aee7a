"""Messages over pipes: one line of JSON each, read from standard input, written by a thread."""

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

LARGEST_LINE: Final = 64 * 1024 * 1024
"""Bytes of one message. What has no end would else fill the memory."""

MOST_UNREAD: Final = 64 * 1024 * 1024
"""Bytes of answers that wait for a client to read them; then nothing more is read from it."""

PIECE: Final = getattr(select, "PIPE_BUF", 512)
"""Bytes for which a pipe has room where the system says that it has any."""

HALF: Final = re.compile(rb"\\u[dD][89a-fA-F]")
"""An escape of half a character; most often the other half follows."""


def mended(text: str | bytes) -> str:
    """Return JSON with U+FFFD for each half of a character, such as an emoji cut in two.

    Raises ValueError if it is not JSON, and RecursionError if it is nested too deeply.
    """
    whole = json.dumps(json.loads(text), ensure_ascii=False)
    return whole.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def read_json(line: bytes) -> Any:
    """Read one line; raises as :func:`mended`."""
    text = line.decode("utf-8", "replace")
    return json.loads(mended(text) if HALF.search(line) else text)


def take_over() -> tuple[BinaryIO, int]:
    """Return standard input and the descriptor of standard output, for nobody else to use.

    What prints by mistake, or a program that is started, then disturbs no message.
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


def lines(incoming: BinaryIO, largest: int = LARGEST_LINE) -> Iterator[bytes]:
    """Yield each line that is not empty; one that is too long becomes empty text."""
    while line := incoming.readline(largest):
        if len(line) == largest and not line.endswith(b"\n"):
            while line and not line.endswith(b"\n"):
                line = incoming.readline(largest)
            yield b""
        elif line.strip():
            yield line


class Outgoing:
    """Writes messages in the order they are sent; nobody who sends waits for the client to read.

    What there is room for is written at once. The rest is left to a thread.

    Args:
        write: writes some bytes and returns how many, as ``os.write``.
        on_gone: called once the client reads no more.
        has_room: whether ``PIECE`` bytes can be written without waiting.
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
        """Wait until not too much is unwritten."""
        with self._changed:
            self._changed.wait_for(lambda: self._unwritten < MOST_UNREAD)

    def flush(self, seconds: float) -> None:
        """Wait until everything is written, or for so long."""
        with self._changed:
            self._changed.wait_for(lambda: not self._unwritten, seconds)

    def _write_at_once(self, line: memoryview) -> memoryview:
        """Write what there is room for; return the rest."""
        try:
            while line and self._has_room():
                line = line[self._write(line[:PIECE]) :]
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
            try:
                rest = memoryview(batch)
                while rest:
                    rest = rest[self._write(rest) :]
            except OSError:
                self._on_gone()
                return
            with self._changed:
                self._unwritten -= len(batch)
                self._changed.notify_all()


def room_of(descriptor: int) -> Callable[[], bool]:
    """Return what tells whether a pipe takes ``PIECE`` bytes at once."""
    if sys.platform == "win32":  # which can ask sockets only
        return lambda: False
    return lambda: bool(select.select([], [descriptor], [], 0)[1])
