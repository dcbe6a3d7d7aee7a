"""The entries that tell each host of a server over HTTP, and the place of its token.

Claude Code asks ``memstore hook headers`` for the header, so its settings have no token. Codex,
Gemini CLI and Cursor keep it in their own settings, as they do for any server, and nobody else may
read that file afterwards. So there a project cannot have it: its settings are often shared.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from memstore import plain_http
from memstore.domain import zones
from memstore.errors import MemstoreError
from memstore.faces.hosts import catalogue
from memstore.faces.hosts.edits import Edit
from memstore.faces.hosts.registration import shell_line

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from memstore.faces.hosts.catalogue import Host, Registration

ASKING: Final = "claude-code"
"""The host that asks a program for the header."""


class NoServer(MemstoreError):
    """A host that cannot be told of this server."""


def of_claude(wanted: Registration) -> dict[str, Any]:
    """Return the entry of a server for Claude Code."""
    entry = {"type": "http", "url": wanted.url, **catalogue.SHOWN}
    if wanted.program is None or wanted.secret is None:
        return entry
    assert wanted.url is not None
    words = [*wanted.program, "hook", "headers", "--server", wanted.url]
    return {**entry, "headersHelper": shell_line(words)}


def edits_of(host: Host, wanted: Registration) -> list[tuple[Path, Edit]]:
    """Return the edits that tell a host of a server.

    Raises:
        NoServer: it cannot be told, or not for a project.
    """
    if host.name == ASKING:
        return []  # registered by its own command
    if host.name not in ENTRIES:
        known = ", ".join((ASKING, *ENTRIES))
        raise NoServer(f"{host.title} cannot be set up with a server: only {known} can")
    if wanted.project is not None and wanted.secret is not None:
        raise NoServer(
            f"{host.title} would keep the token in the project's settings, which are often shared: "
            "leave --project out"
        )
    (file, edit), *_ = host.server(wanted._replace(server=["memstore-mcp"]))
    return [(file, Edit(edit.path, ENTRIES[host.name](wanted)))]


def _headers(wanted: Registration) -> dict[str, str]:
    if wanted.secret is None:
        return {}
    zone = zones.name_of(zones.user())
    is_users = zone is not None and not zone.endswith("UTC")  # which is that of containers
    said = {plain_http.TIMEZONE: zone} if zone and is_users else {}
    return {"Authorization": f"Bearer {wanted.secret}", **said}


def _with_headers(name: str, entry: dict[str, Any], wanted: Registration) -> dict[str, Any]:
    return {**entry, name: headers} if (headers := _headers(wanted)) else entry


ENTRIES: Final[dict[str, Callable[[Registration], dict[str, Any]]]] = {
    # Not "required", as over pipes: Codex would not start while the server is away.
    "codex": lambda wanted: _with_headers("http_headers", {"url": wanted.url}, wanted),
    "gemini-cli": lambda wanted: _with_headers("headers", {"httpUrl": wanted.url}, wanted),
    "cursor": lambda wanted: _with_headers("headers", {"url": wanted.url}, wanted),
}


def urls(everything: Any) -> set[str]:
    """Return the addresses of servers in recorded changes, wherever they are."""
    found: set[str] = set()
    if isinstance(everything, dict):
        found |= {
            everything[name] for name in ("url", "httpUrl") if isinstance(everything.get(name), str)
        }
        everything = [*everything.values()]
    if isinstance(everything, list):
        for one in everything:
            found |= urls(one)
    return found
