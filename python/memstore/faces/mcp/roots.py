"""The folders that a client works in, which it tells as its roots.

With ``--namespace auto`` they decide whose project's memory calls use, also if the client moves to
another folder while the server runs. In a namespace that was named, which may hold those of several
projects, they say from which one a call comes.
"""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING, Any, Final

from memstore import settings
from memstore.lazy import lazy_import

if TYPE_CHECKING:
    import urllib.parse as addresses
    from collections.abc import Callable, Iterator

    from memstore import projects
    from memstore.faces import caller_project
    from memstore.faces.mcp.methods import StoreSource
    from memstore.faces.mcp.protocol import Message
    from memstore.projects import Project
    from memstore.store import store as stores
    from memstore.store.store import Store
else:
    addresses = lazy_import("urllib.parse")
    caller_project = lazy_import("memstore.faces.caller_project")
    projects = lazy_import("memstore.projects")
    stores = lazy_import("memstore.store.store")

PATIENCE_SECONDS: Final = 2.0
"""How long calls wait for the client to tell its folders; then the last known project counts."""

MAX_ROOTS: Final = 100
"""Roots that are looked at."""


class Rooted:
    """The store of the project that the client works in, or a fixed one, as seen from there.

    Args:
        source: opens the store of the project that the server was started in, or a fixed one.
        send: sends a message to the client.
        asks: whether the client is asked; else the server's own folder counts.
    """

    def __init__(
        self, source: StoreSource, send: Callable[[Message], object], *, asks: bool = True
    ) -> None:
        self._source = source
        self._send = send
        self._asks = asks
        self._questions = 0
        self._answered = threading.Event()
        if not asks:
            self._answered.set()
        self._project: Project | None = None
        self._started_in: tuple[str | None] | None = None
        """The project of the server's own folder, once it was looked for."""
        self._seen: tuple[Store, str, Store] | None = None
        """The last fixed store, the project, and the store as seen from there."""

    def ask(self) -> None:
        """Ask the client for its folders, if it has any."""
        if not self._asks:
            return
        self._questions += 1
        self._answered.clear()
        self._send({"id": self._question, "method": "roots/list"})

    def receive(self, answer: Message) -> None:
        """Take an answer of the client; one to an earlier question is ignored."""
        if not self._asks or answer.get("id") != self._question:
            return
        result = answer.get("result")
        roots = result.get("roots") if isinstance(result, dict) else None
        found = [projects.project_of(folder) for folder in _folders(roots)]
        if found:
            here = projects.project_of()
            chosen = here if here in found else found[0]
            self._project = chosen
        self._answered.set()

    def start(self) -> None:
        self._source.start()

    def store(self) -> Store:
        store = self._source.store()
        self._answered.wait(PATIENCE_SECONDS)
        if not stores.may_hold_several(store):
            told = self._project
            return store if told is None else stores.in_project(store, told.namespace)
        name = self._name()
        if name is None:
            return store
        if self._seen is None or self._seen[:2] != (store, name):
            self._seen = store, name, stores.working_in(store, name)
        return self._seen[2]

    def _name(self) -> str | None:
        """Return the project from which a fixed store is seen."""
        if self._project is not None:
            return caller_project.named(self._project)
        if self._started_in is None:
            self._started_in = (caller_project.name_of(only_repositories=True),)
        return self._started_in[0]

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
            parts = addresses.urlsplit(uri if isinstance(uri, str) else "")
        except ValueError:  # no address
            continue
        if parts.scheme != "file" or parts.netloc not in ("", "localhost"):
            continue
        path = addresses.unquote(parts.path)
        if os.name == "nt":
            path = path.lstrip("/")
        if "\0" not in path and os.path.isdir(path):
            yield path
