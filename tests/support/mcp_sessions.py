"""Two servers for the same lines of a client: our own loop, and the SDK's over the same methods."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import anyio
import mcp_types
from mcp.server.stdio import stdio_server

from memstore import Store
from memstore.faces.http.endpoint import SdkServer, Watch
from memstore.faces.mcp import catalogue
from memstore.faces.mcp.clients import Through
from memstore.faces.mcp.methods import Methods
from memstore.faces.mcp.session import serve
from memstore.faces.mcp.wire import Outgoing, lines, room_of
from memstore.faces.serving.opening import Opening

TOOLS = "facts,tasks,episodes"

ANSWER_SECONDS = 20.0


class Client:
    """Writes lines to a server and records the answers."""

    def __init__(self, to_server: int, from_server: int) -> None:
        self._to_server = os.fdopen(to_server, "wb", buffering=0)
        self._from_server = os.fdopen(from_server, "rb")
        self._changed = threading.Condition()
        self.answers: list[dict[str, Any]] = []
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def write(self, line: bytes) -> None:
        self._to_server.write(line.rstrip(b"\n") + b"\n")

    def wait_for(self, number: object) -> dict[str, Any]:
        """Return the answer of an id; fail if it never comes."""

        def found() -> dict[str, Any] | None:
            return next((one for one in self.answers if one.get("id") == number), None)

        with self._changed:
            assert self._changed.wait_for(found, ANSWER_SECONDS), (number, self.answers)
            answer = found()
        assert answer is not None
        return answer

    def end(self) -> None:
        self._to_server.close()
        self._reader.join(ANSWER_SECONDS)
        self._from_server.close()

    def _read(self) -> None:
        for line in self._from_server:
            with self._changed:
                self.answers.append(json.loads(line))
                self._changed.notify_all()


@contextmanager
def connected(run: Callable[[int, int], object]) -> Iterator[Client]:
    """Run a server on two pipes in a thread, until its client is closed."""
    its_input, to_server = os.pipe()
    from_server, its_output = os.pipe()
    serving = threading.Thread(target=run, args=(its_input, its_output), daemon=True)
    serving.start()
    client = Client(to_server, from_server)
    try:
        yield client
    finally:
        client.end()
        serving.join(ANSWER_SECONDS)


def ours(open_store: Callable[[], Store]) -> Callable[[int, int], None]:
    def run(incoming: int, outgoing: int) -> None:
        methods = Methods(catalogue.offered(TOOLS, answers="json"), logging=True)
        with os.fdopen(incoming, "rb") as file:
            wire = Outgoing(partial(os.write, outgoing), lambda: None, room_of(outgoing))
            serve(methods, Opening(open_store), lines(file), wire)
        os.close(outgoing)

    return run


def theirs(open_store: Callable[[], Store]) -> Callable[[int, int], None]:
    async def set_level(_context: object, _params: object) -> mcp_types.EmptyResult:
        return mcp_types.EmptyResult()

    async def main(incoming: int, outgoing: int) -> None:
        opening = Opening(open_store)
        methods = Methods(catalogue.offered(TOOLS, answers="json"), logging=True)
        through = Through(opening, client=None)
        server = SdkServer(methods, lambda _: through, 8, Watch().measure).server
        server.add_request_handler("logging/setLevel", mcp_types.SetLevelRequestParams, set_level)
        with (
            open(incoming, encoding="utf-8", errors="replace") as read,
            open(outgoing, "w", encoding="utf-8") as write,
        ):
            async with stdio_server(anyio.wrap_file(read), anyio.wrap_file(write)) as streams:
                await server.run(*streams, server.create_initialization_options())

    return lambda incoming, outgoing: anyio.run(main, incoming, outgoing)
