"""The memory that a folder's hooks write to, as ``memstore setup`` recorded it.

The command line and the pages open the same one, so that what an agent remembers is there when a
person looks for it.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from memstore import projects, settings
from memstore.settings import Settings
from memstore.store.paths import file_at, is_server

if TYPE_CHECKING:
    from collections.abc import Mapping

MAX_BYTES: Final = 2**22


class Memory(NamedTuple):
    """The settings of the memory for the current folder."""

    chosen: Settings
    is_named: bool = False
    """Whether the user named the namespace."""
    is_served: bool = False
    """Whether it is that of the hooks here."""
    project: str | None = None
    """The namespace of the current folder's project."""
    server: str | None = None
    """The server that hooks here write to, which commands cannot open."""


def memory_here(chosen: Settings) -> Memory:
    """Return settings that open what hooks in the current folder write to.

    What is chosen stays as it is, and only what is not chosen is added: a file or a namespace that
    the user named is what the user means.
    """
    if chosen.namespace is not None:
        return Memory(chosen, is_named=True)
    project = projects.project_of()
    memory = Memory(chosen, project=project.namespace)
    served = _recorded(project.folder)
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


def _recorded(project: Path) -> Mapping[str, str] | None:
    """Return the settings for a project, or else for the user, of the host set up last."""
    found: dict[bool, dict[str, str]] = {}
    for one in _hosts():
        memory = one.get("memory") if isinstance(one, dict) else None
        if isinstance(memory, dict) and one.get("project") in (None, str(project)):
            texts = {str(name): str(value) for name, value in memory.items()}
            found[one["project"] is None] = texts
    return found.get(False) or found.get(True)


def _hosts() -> list[Any]:
    """Return the record's entries; a record that cannot be read is reported by ``setup``."""
    file = Path(settings.data_folder(), "setup.json")
    try:
        if not file.is_file() or file.stat().st_size > MAX_BYTES:
            return []
        return list(json.loads(file.read_bytes())["hosts"])
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        return []


def _is_same(named: str, served: str | None) -> bool:
    if is_server(named):
        return False
    paths = (file_at(one) for one in (named, served or settings.default_path()))
    first, second = (os.path.realpath(os.path.expanduser(path)) for path in paths)
    return first == second
