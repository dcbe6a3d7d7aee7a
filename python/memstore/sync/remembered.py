"""What this machine keeps of a file's place, in a folder that no other user can read.

The folder belongs to one file of memories at one path, and none of it is part of the file: a copy
of the file elsewhere, or on another machine, does not sync before a person says so.
"""

from __future__ import annotations

import hashlib
import json
import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from memstore import settings
from memstore.errors import SyncError
from memstore.sync.places.address import place_at

if TYPE_CHECKING:
    from memstore.sync.places import Place

FILE: Final = "place.json"


class Remembered(NamedTuple):
    """The place with which a file syncs, and what a person chose."""

    address: str
    namespaces: tuple[str, ...] | None = None
    """Those that travel; ``None`` for all."""
    token: str | None = None
    """Of a server."""
    may_be_shared: bool = False
    """Whether a project's own repository was named twice."""
    sealed_with: str | None = None
    """The key with which this device's files there are sealed."""


def folder_of(path: str) -> Path:
    """Return the folder for the memories at a path, or at the address of a database."""
    place = path if "://" in path else os.path.realpath(path)
    return Path(settings.sync_folder(), hashlib.sha256(place.encode()).hexdigest()[:16])


def reached(path: str, place: Place | str | os.PathLike[str]) -> Place:
    """Return the place of the memories at a path, if it is given by its address."""
    if isinstance(place, str | os.PathLike):
        return place_at(os.fspath(place), state=folder_of(path))
    return place


def read(state: Path) -> Remembered | None:
    """Return the place of a file; ``None`` if it has none.

    Raises:
        SyncError: what was kept of it cannot be read.
    """
    file = state / FILE
    try:
        held: Any = json.loads(file.read_bytes())
        named = held["namespaces"]
        return Remembered(
            str(held["address"]),
            None if named is None else tuple(map(str, named)),
            held["token"],
            bool(held["may_be_shared"]),
            held["sealed_with"],
        )
    except FileNotFoundError:
        return None
    except (OSError, ValueError, LookupError, TypeError) as error:
        raise SyncError(f"{str(file)!r} cannot be read: {error}; name the place again") from None


def write(state: Path, place: Remembered) -> None:
    """Remember the place of a file."""
    write_private(state / FILE, json.dumps(place._asdict(), indent=1).encode())


def forget(state: Path) -> None:
    """Forget the place of a file."""
    with suppress(FileNotFoundError):
        os.unlink(state / FILE)


def write_private(file: Path, data: bytes) -> None:
    """Write a file that no other user can read, as a whole or not at all."""
    file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    new = file.with_name(f".{file.name}.new")
    with suppress(FileNotFoundError):
        new.unlink()
    with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as opened:
        opened.write(data)
        opened.flush()
        os.fsync(opened.fileno())
    new.replace(file)
