"""A real HTTP server on a free port, for as long as a test lasts."""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Asked:
    """One request as the server saw it; the names of its headers in lower case."""

    target: str
    headers: Mapping[str, str]
    body: Any
    handler: BaseHTTPRequestHandler

    def answer(
        self, body: object = None, *, status: int = 200, headers: Mapping[str, str] | None = None
    ) -> None:
        """Send a whole reply; anything but bytes goes as JSON."""
        raw = body if isinstance(body, bytes) else json.dumps(body).encode()
        sent = {"Content-Length": str(len(raw)), **(headers or {})}
        self.begin(status, sent)
        self.send(raw)

    def begin(self, status: int, headers: Mapping[str, str]) -> None:
        self.handler.send_response_only(status)
        for name, value in headers.items():
            self.handler.send_header(name, value)
        self.handler.end_headers()

    def send(self, raw: bytes) -> bool:
        """Write bytes; False once the client has gone."""
        try:
            self.handler.wfile.write(raw)
            self.handler.wfile.flush()
        except OSError:
            return False
        return True

    def hang_up(self) -> None:
        self.handler.close_connection = True


@contextlib.contextmanager
def serving(answer: Callable[[Asked], None]) -> Iterator[str]:
    """Answer every GET and POST, each in a thread of its own; yields the server's address."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        timeout = 10
        disable_nagle_algorithm = True  # otherwise each body waits 40 ms for an acknowledgement

        def do_POST(self) -> None:
            length = int(self.headers["Content-Length"])
            headers = {name.lower(): value for name, value in self.headers.items()}
            answer(Asked(self.path, headers, json.loads(self.rfile.read(length)), self))

        def do_GET(self) -> None:
            headers = {name.lower(): value for name, value in self.headers.items()}
            answer(Asked(self.path, headers, None, self))

        def handle(self) -> None:
            with contextlib.suppress(ConnectionError):  # the client has disconnected
                super().handle()

        def log_message(self, *_: object) -> None:
            pass

    running = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    running.daemon_threads = True
    thread = threading.Thread(target=running.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{running.server_port}"
    finally:
        running.shutdown()
        running.server_close()
        thread.join()
