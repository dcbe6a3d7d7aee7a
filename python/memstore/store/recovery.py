"""Bringing a backup back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from memstore import settings
from memstore.database.sqlite import recovery
from memstore.errors import InvalidArgument, Remedy, StorageError
from memstore.store.paths import file_at

if TYPE_CHECKING:
    import os

    from memstore.database.engine import Progress


@dataclass(frozen=True, slots=True)
class Recovered:
    """What :func:`memstore.recover` did."""

    path: str
    """The file that holds now what the backup holds."""
    kept: str | None
    """Where the file is that was there before; ``None`` if there was none."""


def recover(
    backup: str | os.PathLike[str],
    path: str | os.PathLike[str] | None = None,
    *,
    progress: Progress | None = None,
) -> Recovered:
    """Bring a backup back into the place of a file, which may be damaged, missing or in use.

    What was there is kept beside it under another name, with its log. Stores that have it open
    raise :class:`memstore.FileReplaced` on their next use, and confirm no write in between.

    Args:
        backup: made by :meth:`Store.backup`, of this version or an older one; left as it is.
        path: the file to replace; ``None`` for the user's own, as for :func:`memstore.open`.
        progress: called with how many pages are copied, and of how many.

    Raises:
        SchemaError: the backup is newer than this program, or another program's.
        StorageError: the backup is damaged or not there, or the file cannot be replaced. Nothing
            was changed.
    """
    source = file_at(backup, "backup").absolute()
    if path == ":memory:":
        raise InvalidArgument("is a store in memory, which no file stands for", argument="path")
    file = file_at(settings.default_path() if path is None else path).resolve()
    if not source.is_file():
        raise StorageError(f"{str(source)!r} is no file", remedy=Remedy.OTHER_BACKUP)
    if not file.parent.is_dir():
        raise StorageError(f"{str(file.parent)!r} is no folder", remedy=Remedy.NAME_FILE)
    if file.exists() and source.samefile(file):
        raise StorageError(
            f"{str(source)!r} is the file itself, and no backup of it", remedy=Remedy.OTHER_BACKUP
        )
    kept = recovery.recover(source, file, progress)
    return Recovered(str(file), None if kept is None else str(kept))
