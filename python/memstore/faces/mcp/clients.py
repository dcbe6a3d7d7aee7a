"""The program that calls the server; the journal names it as the source of its changes.

A client introduces itself in the handshake, or with each request. Nobody checks the name, so it
may neither pass for another interface of memstore nor hold anything but letters, digits and
hyphens. A host that is known by its hooks, too, has the same name here.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from memstore.lazy import lazy_import
from memstore.named import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

    from memstore.faces.mcp.methods import StoreSource
    from memstore.store import store as stores
    from memstore.store.store import Store
else:
    stores = lazy_import("memstore.store.store")

HOSTS: Final = (
    *("claude-code", "claude-desktop", "codex", "cursor", "gemini-cli"),
    *("opencode", "vscode", "windsurf", "zed"),
)
"""The names that hooks and ``memstore setup`` use; clients may add to them: codex-mcp-client."""

OTHER_NAMES: Final = {"claude-ai": "claude-desktop", "visual-studio-code": "vscode"}

OURS: Final = frozenset("agent cli demo host library mcp memory memstore none user web".split())
"""Names that mean something else in the journal."""

MAX_CHARACTERS: Final = 40


def named(client: object) -> str | None:
    """Return the source for a client that calls itself so; ``None`` if that names none."""
    if not isinstance(client, str):
        return None
    words = re.findall("[a-z0-9]+", client[: 4 * MAX_CHARACTERS].lower())
    name = "-".join(words)[:MAX_CHARACTERS].rstrip("-")
    for known in (*HOSTS, *OTHER_NAMES):
        if name == known or name.startswith(f"{known}-"):
            return OTHER_NAMES.get(known, known)
    return None if name in OURS or name.startswith("memstore-") else name or None


def of_agent(header: object) -> str | None:
    """Return the host that a ``User-Agent`` names; other programs name their HTTP library there."""
    name = named(header.partition("/")[0]) if isinstance(header, str) else None
    return name if name in HOSTS else None


def of_info(info: Any) -> str | None:
    """Return the source for a protocol's ``clientInfo``."""
    return named(info.get("name")) if isinstance(info, dict) else None


class Through(NamedTuple):
    """The source of the store for calls of one client."""

    source: StoreSource
    client: str | None
    run: bytes | None = None
    """The client's run, for the journal; ``None`` for that of the opening of the file."""
    owners: Mapping[str, Any] | None = None
    """The owners whose memories alone calls reach; ``None`` if they may name any."""

    def start(self) -> None:
        self.source.start()

    def store(self) -> Store:
        store = self.source.store()
        if self.client is not None:
            store = store.within(source=self.client)
        return store if self.run is None else stores.in_run(store, self.run)
