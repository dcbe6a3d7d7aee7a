"""Ways to move a file away while programs have it open, and back."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple


class Way(NamedTuple):
    """A way to move a file away, and back."""

    away: Callable[[Path], object]
    back: Callable[[Path], object]


def parts(path: Path) -> list[Path]:
    return sorted(path.parent.glob(f"{path.name}*"))


def move_all(path: Path, to: str) -> None:
    for part in parts(path):
        part.rename(part.with_name(part.name.replace(path.name, to)))


def away(path: Path) -> Path:
    return path.with_name("away.db")


def folder_away(path: Path) -> Path:
    return path.parent.with_name("folder.away")


def unmount(path: Path) -> None:
    path.parent.rename(folder_away(path))
    path.parent.mkdir()


def mount(path: Path) -> None:
    path.parent.rmdir()
    folder_away(path).rename(path.parent)


WAYS = {
    "the file": Way(lambda path: path.rename(away(path)), lambda path: away(path).rename(path)),
    "with its log": Way(
        lambda path: move_all(path, "away.db"), lambda path: move_all(away(path), path.name)
    ),
    "and back without its log": Way(
        lambda path: move_all(path, "away.db"), lambda path: away(path).rename(path)
    ),
    "the folder": Way(
        lambda path: path.parent.rename(folder_away(path)),
        lambda path: folder_away(path).rename(path.parent),
    ),
    "the disk": Way(unmount, mount),
}
