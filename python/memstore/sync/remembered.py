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
from typing import TYPE_CHECKING, Any, Final

from memstore import settings
from memstore.domain import clock
from memstore.errors import SyncError
from memstore.lazy import lazy_import
from memstore.named import NamedTuple

if TYPE_CHECKING:
    import shutil
    from collections.abc import Sequence
    from datetime import datetime

    from memstore.sync.places import Place, address
else:
    address = lazy_import("memstore.sync.places.address")
    shutil = lazy_import("shutil")

FILE: Final = "place.json"
LAST: Final = "last.json"
"""What became of the last run."""
BEGUN: Final = "begun"
"""An empty file: its time says when a run was last begun in the background."""


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
    every_seconds: float | None = None
    """How often it is synced in the background; ``None`` if it is not."""
    trust: bool = False
    """Whether it travels how much sources count; only through a place that is sealed."""


class LastRun(NamedTuple):
    """What became of the last run that was not a rehearsal."""

    at: datetime
    error: str = ""
    """Why it failed; empty if it did not."""
    said: tuple[str, ...] = ()
    """What a person has to know of it besides what came and went."""


def folder_of(path: str) -> Path:
    """Return the folder for the memories at a path, or at the address of a database."""
    place = path if "://" in path else os.path.realpath(path)
    return Path(settings.sync_folder(), hashlib.sha256(place.encode()).hexdigest()[:16])


def reached(path: str, place: Place | str | os.PathLike[str]) -> Place:
    """Return the place of the memories at a path, if it is given by its address."""
    if isinstance(place, str | os.PathLike):
        return address.place_at(os.fspath(place), state=folder_of(path))
    return place


def read(state: Path) -> Remembered | None:
    """Return the place of a file; ``None`` if it has none.

    Raises:
        SyncError: what was kept of it cannot be read.
    """
    file = state / FILE
    try:
        held: Any = json.loads(file.read_bytes())
        named, every = held["namespaces"], held.get("every_seconds")
        return Remembered(
            str(held["address"]),
            None if named is None else tuple(map(str, named)),
            held["token"],
            bool(held["may_be_shared"]),
            held["sealed_with"],
            None if every is None else float(every),
            bool(held.get("trust", False)),
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
    for name in (FILE, LAST, BEGUN):
        with suppress(FileNotFoundError):
            os.unlink(state / name)


def discard(state: Path) -> None:
    """Remove what a rehearsal left of a place that is not remembered, such as a clone."""
    shutil.rmtree(state, ignore_errors=True)


def last_run(state: Path) -> LastRun | None:
    """Return what became of the last run; ``None`` if there was none, or it cannot be read."""
    try:
        held: Any = json.loads((state / LAST).read_bytes())
        return LastRun(
            clock.from_text(held["at"]), str(held["error"]), tuple(map(str, held["said"]))
        )
    except (OSError, ValueError, LookupError, TypeError):
        return None


def note_run(state: Path, error: str = "", said: Sequence[str] = ()) -> None:
    """Remember what became of a run with the place that is remembered."""
    if (state / FILE).exists():
        told = {"at": clock.to_text(clock.utc_now()), "error": error, "said": [*said]}
        write_private(state / LAST, json.dumps(told, ensure_ascii=False).encode())


def seconds_since_begun(state: Path) -> float | None:
    """Return how long ago a run was begun in the background; ``None`` if none was, or later."""
    try:
        seconds = clock.utc_now().timestamp() - (state / BEGUN).stat().st_mtime
    except OSError:
        return None
    return seconds if seconds >= 0 else None


def note_begun(state: Path) -> None:
    """Remember that a run is begun in the background."""
    state.mkdir(parents=True, exist_ok=True, mode=0o700)
    now = clock.utc_now().timestamp()
    (state / BEGUN).touch(mode=0o600)
    os.utime(state / BEGUN, (now, now))


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
