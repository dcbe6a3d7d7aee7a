"""A real HTTP server on a free port that answers by a script and records its requests."""

from __future__ import annotations

import socket
import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest
from tests.support.http_server import Asked, serving

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@dataclass
class Server:
    """Sends the replies in order, repeating the last one."""

    url: str = ""
    replies: list[Callable[[Asked], None]] = field(default_factory=list)
    asked: list[Asked] = field(default_factory=list)
    stopped: threading.Event = field(default_factory=threading.Event)

    def answer(self, asked: Asked) -> None:
        self.asked.append(asked)
        number = min(len(self.asked), len(self.replies)) - 1
        self.replies[number](asked)

    def play(self, *replies: Callable[[Asked], None]) -> None:
        self.replies = list(replies)

    def reply(self, body: object = None, **more: Any) -> None:
        self.play(lambda asked: asked.answer(body, **more))


@pytest.fixture(autouse=True)
def _no_proxy(no_proxy: None) -> None:
    """Keep every request on this machine."""


@pytest.fixture
def server() -> Iterator[Server]:
    script = Server()
    with serving(script.answer) as script.url:
        yield script
        script.stopped.set()


@pytest.fixture
def deaf_url() -> Iterator[str]:
    """The address of a bound socket that does not listen."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{taken.getsockname()[1]}"
