"""Places of each kind, empty, and reached by several devices."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

from memstore.sync.places import Place
from memstore.sync.places.folder import FolderPlace
from memstore.sync.places.git import GitPlace

Reach: TypeAlias = Callable[[str], Place]
"""Returns the place, as the machine of that name reaches it."""


def git(where: Path, *arguments: str) -> str:
    """Run git as another program would."""
    done = subprocess.run(
        ["git", "-c", "user.name=t", "-c", "user.email=t@localhost", *arguments],
        cwd=where,
        capture_output=True,
        check=True,
    )
    return done.stdout.decode("utf-8", "replace")


def repository(folder: Path) -> Path:
    """Make an empty repository."""
    folder.mkdir()
    git(folder, "init", "-q", "--bare")
    return folder


def git_reach(remote: Path, machines: Path) -> Reach:
    return lambda machine: GitPlace(str(remote), machines / machine / "clone")


def folder_reach(folder: Path) -> Reach:
    folder.mkdir()
    return lambda _machine: FolderPlace(folder)
