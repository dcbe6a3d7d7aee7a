"""A real HTTP server on a free port that answers by a script and keeps what it was asked."""

from __future__ import annotations

import contextlib
import json
import socket
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping


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


@dataclass
class Server:
    """Plays the replies in order, the last one again and again."""

    url: str = ""
    replies: list[Callable[[Asked], None]] = field(default_factory=list)
    asked: list[Asked] = field(default_factory=list)
    stopped: threading.Event = field(default_factory=threading.Event)

    def play(self, *replies: Callable[[Asked], None]) -> None:
        self.replies = list(replies)

    def reply(self, body: object = None, **more: Any) -> None:
        self.play(lambda asked: asked.answer(body, **more))


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the pauses between attempts a matter of milliseconds."""
    monkeypatch.setattr("memstore.providers.http.BACKOFF_SECONDS", 0.001)


@pytest.fixture
def server() -> Iterator[Server]:
    script = Server()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        timeout = 10

        def do_POST(self) -> None:
            length = int(self.headers["Content-Length"])
            headers = {name.lower(): value for name, value in self.headers.items()}
            asked = Asked(self.path, headers, json.loads(self.rfile.read(length)), self)
            script.asked.append(asked)
            number = min(len(script.asked), len(script.replies)) - 1
            script.replies[number](asked)

        def handle(self) -> None:
            with contextlib.suppress(ConnectionError):  # a client that has given up
                super().handle()

        def log_message(self, *_: object) -> None:
            pass

    running = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    running.daemon_threads = True
    script.url = f"http://127.0.0.1:{running.server_port}"
    thread = threading.Thread(target=running.serve_forever, args=(0.01,))
    thread.start()
    yield script
    script.stopped.set()
    running.shutdown()
    running.server_close()
    thread.join()


@pytest.fixture
def deaf_url() -> Iterator[str]:
    """An address that is taken, at which nobody listens."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{taken.getsockname()[1]}"
