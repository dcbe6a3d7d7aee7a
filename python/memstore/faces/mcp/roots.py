"""The folders that a client works in, which it tells as its roots.

With ``--namespace auto`` they decide whose project's memory calls use, also if the client moves to
another folder while the server runs.
"""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import unquote, urlsplit

from memstore import settings
from memstore.lazy import lazy_import

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from memstore import projects
    from memstore.faces.mcp.methods import StoreSource
    from memstore.faces.mcp.protocol import Message
    from memstore.store import store as stores
    from memstore.store.store import Store
else:
    projects = lazy_import("memstore.projects")
    stores = lazy_import("memstore.store.store")

PATIENCE_SECONDS: Final = 2.0
"""How long calls wait for the client to tell its folders; then the last known project counts."""

MAX_ROOTS: Final = 100
"""Roots that are looked at."""


class Rooted:
    """The store of the project that the client works in.

    Args:
        source: opens the store of the project that the server was started in.
        send: sends a message to the client.
    """

    def __init__(self, source: StoreSource, send: Callable[[Message], object]) -> None:
        self._source = source
        self._send = send
        self._questions = 0
        self._answered = threading.Event()
        self._namespace: str | None = None

    def ask(self) -> None:
        """Ask the client for its folders."""
        self._questions += 1
        self._answered.clear()
        self._send({"id": self._question, "method": "roots/list"})

    def receive(self, answer: Message) -> None:
        """Take an answer of the client; one to an earlier question is ignored."""
        if answer.get("id") != self._question:
            return
        result = answer.get("result")
        roots = result.get("roots") if isinstance(result, dict) else None
        found = [projects.project_of(folder) for folder in _folders(roots)]
        if found:
            here = projects.project_of()
            chosen = here if here in found else found[0]
            self._namespace = chosen.namespace
        self._answered.set()

    def start(self) -> None:
        self._source.start()

    def store(self) -> Store:
        store = self._source.store()
        self._answered.wait(PATIENCE_SECONDS)
        return store if self._namespace is None else stores.in_project(store, self._namespace)

    @property
    def _question(self) -> str:
        return f"roots-{self._questions}"


def follows(client: Any) -> bool:
    """Return whether a client has roots to follow; not if the user named the project."""
    offers = isinstance(client, dict) and isinstance(client.get("roots"), dict)
    return offers and not settings.names_project()


def _folders(roots: Any) -> Iterator[str]:
    for root in roots[:MAX_ROOTS] if isinstance(roots, list) else ():
        uri = root.get("uri") if isinstance(root, dict) else None
        try:
            parts = urlsplit(uri if isinstance(uri, str) else "")
        except ValueError:  # no address
            continue
        if parts.scheme != "file" or parts.netloc not in ("", "localhost"):
            continue
        path = unquote(parts.path)
        if os.name == "nt":
            path = path.lstrip("/")
        if "\0" not in path and os.path.isdir(path):
            yield path
