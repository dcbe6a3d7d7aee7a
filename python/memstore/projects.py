"""The project that a folder belongs to, and the namespace of its memories.

The project is the nearest parent folder with a name (:func:`set_name`); else the root of the git
repository, or of its main working tree; else the folder itself. The namespace of an unnamed
project is its path, such as ``~/work/api``. The home folder and the root of a disk are not
projects: they use ``default``.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from memstore import settings
from memstore.domain.arguments import checked_name
from memstore.domain.namespaces import RESERVED
from memstore.errors import InvalidArgument, StorageError

if TYPE_CHECKING:
    from collections.abc import Mapping

NAMES_FILE: Final = "projects.json"

MAX_NAMES_BYTES: Final = 2**20


class Project(NamedTuple):
    """The root folder of a project, its namespace, and the rule that determined it."""

    folder: Path
    namespace: str
    rule: Literal["named", "repository", "folder", "none"]


def project_of(folder: str | os.PathLike[str] | None = None) -> Project:
    """Return the project of a folder; the default is ``MEMSTORE_PROJECT`` or the current folder."""
    start = Path(os.path.realpath(settings.project_folder() if folder is None else folder))
    names = named()
    home = Path(os.path.realpath(Path.home()))
    for place in (start, *start.parents):
        if (name := names.get(str(place))) is not None:
            return Project(place, name, "named")
    top = _repository(start, home)
    rule: Literal["repository", "folder"] = "folder" if top is None else "repository"
    top = top or start
    if top == home or top.parent == top:
        return Project(top, settings.DEFAULT_NAMESPACE, "none")
    return Project(top, _written(top, home), rule)


def named() -> dict[str, str]:
    """Return the names of named folders, by path."""
    file = _names_file()
    try:
        if not file.exists():
            return {}
        if not file.is_file() or file.stat().st_size > MAX_NAMES_BYTES:
            raise ValueError("it is not a small regular file")  # a pipe would block for ever
        held = json.loads(file.read_bytes())
        return {str(folder): str(name) for folder, name in held.items()}
    except (OSError, ValueError, AttributeError) as error:
        raise StorageError(f"{str(file)!r} cannot be read: {error}") from None


def set_name(folder: Path, name: str | None) -> None:
    """Name the namespace of a folder and its subfolders; ``None`` removes the name."""
    names = named()
    names.pop(str(folder), None)
    if name is not None:
        name = checked_name(name, "namespace")
        if name in RESERVED:
            raise InvalidArgument(f"cannot be {name!r}", argument="namespace")
        names[str(folder)] = name
    _write_names(names)


def _write_names(names: Mapping[str, str]) -> None:
    file = _names_file()
    file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    new = file.with_name(f".{file.name}.{os.getpid()}")
    new.write_text(json.dumps(names, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    new.replace(file)


def _names_file() -> Path:
    return Path(settings.data_folder(), NAMES_FILE)


def _repository(start: Path, home: Path) -> Path | None:
    """Return the root of a folder's repository; one at or above the home folder does not count."""
    for place in (start, *start.parents):
        if place == home:
            return None
        mark = place / ".git"
        if mark.is_dir():
            return place
        if mark.is_file():
            return _main_tree(mark) or place
    return None


def _main_tree(mark: Path) -> Path | None:
    """Return the main working tree of a linked one, which has a file ``.git``."""
    try:
        kind, _, where = mark.read_text(encoding="utf-8").partition(":")
        own = mark.parent / where.strip()
        common = own / (own / "commondir").read_text(encoding="utf-8").strip()
    except (OSError, ValueError):  # a submodule has no commondir
        return None
    common = Path(os.path.realpath(common))
    return common.parent if kind == "gitdir" and common.name == ".git" else None


def _written(folder: Path, home: Path) -> str:
    if folder.is_relative_to(home):
        return f"~/{folder.relative_to(home).as_posix()}"
    return folder.as_posix()
