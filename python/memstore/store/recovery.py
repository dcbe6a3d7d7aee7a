"""Restoring a backup."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from memstore import settings
from memstore.database.sqlite import recovery
from memstore.errors import InvalidArgument, Remedy, StorageError
from memstore.file.paths import file_at
from memstore.frozen import frozen

if TYPE_CHECKING:
    import os

    from memstore.database.engine import Progress


@frozen
class Recovered:
    """The result of :func:`memstore.recover`."""

    path: str
    """The restored file."""
    kept: str | None
    """The new path of the replaced file; ``None`` if there was none."""


def recover(
    backup: str | os.PathLike[str],
    path: str | os.PathLike[str] | None = None,
    *,
    progress: Progress | None = None,
) -> Recovered:
    """Replace a file, which may be damaged, missing or in use, with a copy of a backup.

    The replaced file is kept beside it under another name, with its log. Stores that have it open
    raise :class:`memstore.FileReplaced` on their next use, and confirm no write in between. Windows
    cannot replace a file that is open.

    Args:
        backup: made by :meth:`memstore.File.backup` of this version or an older one; it is not
            changed.
        path: the file to replace; ``None`` for the user's own, as for :func:`memstore.open`.
        progress: called with the number of pages copied and the total.

    Raises:
        SchemaError: the backup is newer than this program, or another program's.
        StorageError: the backup is damaged or missing, or the file cannot be replaced. Nothing was
            changed.
    """
    source = Path(file_at(backup, "backup")).absolute()
    if path == ":memory:":
        raise InvalidArgument("is an in-memory store, which has no file", argument="path")
    file = Path(file_at(settings.default_path() if path is None else path)).resolve()
    if not source.is_file():
        raise StorageError(f"{str(source)!r} is not a file", remedy=Remedy.OTHER_BACKUP)
    if not file.parent.is_dir():
        raise StorageError(f"{str(file.parent)!r} is not a folder", remedy=Remedy.NAME_FILE)
    if file.exists() and source.samefile(file):
        raise StorageError(
            f"{str(source)!r} is the file itself, not a backup of it", remedy=Remedy.OTHER_BACKUP
        )
    kept = recovery.recover(source, file, progress)
    return Recovered(str(file), None if kept is None else str(kept))
