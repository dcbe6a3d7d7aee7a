"""The project that a folder belongs to, and the namespace of its memories.

The project is the nearest parent folder with a name (:func:`set_name`); else the root of the git
repository, which all its working trees share; else the folder itself. The namespace of an unnamed
project is its path, such as ``~/work/api``, or what other devices call its repository. The home
folder and the root of a disk are not projects: they use ``default``.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

from memstore import settings
from memstore.domain.arguments import RESERVED, checked_name
from memstore.errors import InvalidArgument, StorageError
from memstore.lazy import lazy_import, lazy_pattern
from memstore.named import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

    from memstore import repositories
else:  # only where memories are synced
    repositories = lazy_import("memstore.repositories")

NAMES_FILE: Final = "projects.json"

MAX_NAMES_BYTES: Final = 2**20

WORKTREE: Final = lazy_pattern(r"(?mi)^\s*worktree\s*=\s*(.+?)\s*$")
"""Where the configuration of a submodule's repository names its working tree."""


class Project(NamedTuple):
    """The root folder of a project, its namespace, and the rule that determined it."""

    folder: Path
    namespace: str
    rule: Literal["named", "repository", "folder", "none"]


def project_of(folder: str | os.PathLike[str] | None = None) -> Project:
    """Return the project of a folder; the default is ``MEMSTORE_PROJECT`` or the current folder."""
    start = Path(os.path.realpath(settings.project_folder() if folder is None else folder))
    names = named()
    home = _home()
    for place in (start, *start.parents):
        if (name := names.get(str(place))) is not None:
            return Project(place, name, "named")
    top = _repository(start, home)
    if top is not None and (carried := _of_other_devices(top)) is not None:
        return Project(top, carried, "repository")
    rule: Literal["repository", "folder"] = "folder" if top is None else "repository"
    top = top or start
    if top == home or top.parent == top:
        return Project(top, settings.DEFAULT_NAMESPACE, "none")
    return Project(top, _written(top, home), rule)


def repository_of(folder: str | os.PathLike[str]) -> Path | None:
    """Return the root of the git repository that a folder is in; ``None`` if it is in none."""
    return _repository(Path(os.path.realpath(os.path.expanduser(folder))), _home())


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


def folders_of(namespace: str) -> list[Path]:
    """Return the folders on this machine whose namespace this is, as far as they are there."""
    names = named()
    found = [Path(folder) for folder, name in names.items() if name == namespace]
    if namespace.startswith(("~/", "/")):
        path = os.path.realpath(os.path.expanduser(namespace))
        if path not in names:
            found.append(Path(path))
    return [folder for folder in found if folder.is_dir()]


def _of_other_devices(top: Path) -> str | None:
    """Return the namespace that other devices use for a repository, if memories are synced."""
    if not os.path.exists(settings.repositories_file()):
        return None
    return repositories.namespace_of(top)


def _write_names(names: Mapping[str, str]) -> None:
    file = _names_file()
    file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    new = file.with_name(f".{file.name}.{os.getpid()}")
    new.write_text(json.dumps(names, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    new.replace(file)


def _home() -> Path:
    return Path(os.path.realpath(Path.home()))


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
        if _is_bare(place):
            return _top_of(place)
    return None


def _is_bare(folder: Path) -> bool:
    """Return whether a folder holds what git keeps of a repository, without a working tree."""
    return (
        (folder / "HEAD").is_file() and (folder / "objects").is_dir() and (folder / "refs").is_dir()
    )


def _main_tree(mark: Path) -> Path | None:
    """Return the main working tree of a linked one, or of a submodule in one.

    Nothing is believed that is not linked both ways, as git does it: a downloaded folder may
    contain a file ``.git`` that names the repository of another project.

    Args:
        mark: the file ``.git`` of a working tree.
    """
    own = _named_by(mark)
    if own is None:
        return None
    if (common := _common(own)) is not None:
        is_known = own.parent == common / "worktrees" and _is_back(own, mark)
        return _root(common) if is_known else None
    # A submodule: its repository lies in that of the tree around it.
    for folder in own.parents:
        if folder.name == "modules" and (above := _common(folder.parent)) is not None:
            return _submodule(mark.parent, folder.parent, above)
    return None


def _submodule(tree: Path, own: Path, common: Path) -> Path | None:
    """Return where a submodule of a linked working tree is in the main one.

    Args:
        tree: the submodule's working tree.
        own: what git keeps of the linked tree around it.
        common: what git keeps of that tree's repository.
    """
    for around in tree.parents:
        if _named_by(around / ".git") == own:
            known = own.parent == common / "worktrees" and _is_back(own, around / ".git")
            return _root(common) / tree.relative_to(around) if known else None
    return None


def _root(common: Path) -> Path:
    """Return the root of a repository: its main working tree, else the folder that holds it."""
    try:
        config = (common / "config").read_text(encoding="utf-8")
    except (OSError, ValueError):
        config = ""
    if (found := WORKTREE.search(config)) is not None:
        tree = Path(os.path.realpath(common / found[1].strip('"')))
        if _named_by(tree / ".git") == common:
            return _main_tree(tree / ".git") or tree  # a submodule may be in a linked tree itself
    return _top_of(common)


def _top_of(common: Path) -> Path:
    """Return the folder around ``.git`` or ``.bare``; one such as ``x.git`` stands for itself."""
    above = common.parent
    is_inside = common.name.startswith(".") or _named_by(above / ".git") == common
    return above if is_inside and above != _home() else common


def _named_by(mark: Path) -> Path | None:
    """Return the folder that a file ``.git`` names."""
    try:
        kind, _, where = mark.read_text(encoding="utf-8").partition(":")
        return Path(os.path.realpath(mark.parent / where.strip())) if kind == "gitdir" else None
    except (OSError, ValueError):
        return None


def _common(own: Path) -> Path | None:
    """Return the repository of a linked working tree; only what git keeps of one says so."""
    try:
        where = (own / "commondir").read_text(encoding="utf-8").strip()
        return Path(os.path.realpath(own / where))
    except (OSError, ValueError):
        return None


def _is_back(own: Path, mark: Path) -> bool:
    """Return whether what git keeps of a working tree names it, or one that was moved away."""
    try:
        named = own / (own / "gitdir").read_text(encoding="utf-8").strip()
        return not named.exists() or named.samefile(mark)
    except (OSError, ValueError):
        return False


def _written(folder: Path, home: Path) -> str:
    if folder.is_relative_to(home):
        return f"~/{folder.relative_to(home).as_posix()}"
    return folder.as_posix()
