"""The memory that a folder's hooks write to, as ``memstore setup`` recorded it.

The command line and the pages open the same one, so that what an agent remembers is there when a
person looks for it.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Final

from memstore import settings
from memstore.file.paths import file_at, is_server
from memstore.lazy import lazy_import
from memstore.named import NamedTuple
from memstore.settings import Settings

if TYPE_CHECKING:
    import json
    from collections.abc import Mapping

    from memstore import projects
else:
    json = lazy_import("json")
    projects = lazy_import("memstore.projects")

MAX_BYTES: Final = 2**22


class ServedMemory(NamedTuple):
    """The settings of the memory for the current folder."""

    chosen: Settings
    is_named: bool = False
    """Whether the user named the namespace."""
    is_served: bool = False
    """Whether it is that of the hooks here."""
    server: str | None = None
    """The server that hooks here write to, which commands cannot open."""


def memory_here(chosen: Settings) -> ServedMemory:
    """Return settings that open what hooks in the current folder write to.

    What is chosen stays as it is, and only what is not chosen is added: a file or a namespace that
    the user named is what the user means.
    """
    if chosen.namespace is not None:
        return ServedMemory(chosen, is_named=True)
    memory = ServedMemory(chosen)
    served = _recorded()
    if served is None:
        return memory
    if "server" in served:
        return memory._replace(server=served["server"]) if chosen.db is None else memory
    if chosen.db is not None and not _is_same(chosen.db, served.get("db")):
        return memory
    more: dict[str, Any] = {
        name: value
        for name, value in served.items()
        if name in Settings._fields and getattr(chosen, name) is None
    }
    return memory._replace(chosen=chosen._replace(**more), is_served=True)


def _recorded() -> Mapping[str, str] | None:
    """Return the settings for this project, or else for the user, of the host set up last."""
    found: dict[str | None, dict[str, str]] = {}
    for one in _hosts():
        memory = one.get("memory") if isinstance(one, dict) else None
        if isinstance(memory, dict):
            texts = {str(name): str(value) for name, value in memory.items()}
            found[one.get("project")] = texts
    if found.keys() - {None}:  # looking for the project takes longer than the rest
        here = str(projects.project_of().folder)
        return found.get(here) or found.get(None)
    return found.get(None)


def _hosts() -> list[Any]:
    """Return the record's entries; a record that cannot be read is reported by ``setup``."""
    path = os.path.join(settings.data_folder(), "setup.json")
    try:
        if not os.path.isfile(path) or os.path.getsize(path) > MAX_BYTES:
            return []
        with open(path, "rb") as file:
            return list(json.loads(file.read())["hosts"])
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        return []


def _is_same(named: str, served: str | None) -> bool:
    if is_server(named):
        return False
    paths = (file_at(one) for one in (named, served or settings.default_path()))
    first, second = (os.path.realpath(os.path.expanduser(path)) for path in paths)
    return first == second
