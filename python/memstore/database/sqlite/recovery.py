"""Restoring a backup in place of a file that other processes may have open.

The file is replaced, never written to. A process that has it open keeps using the old file until
its next check of the file's identity, and then stops.
"""

from __future__ import annotations

import os
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

import apsw

from memstore.database.migrations import usable_version
from memstore.database.sqlite import copying, integrity, locks
from memstore.domain import clock
from memstore.errors import Remedy, SchemaError, StorageError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memstore.database.engine import Progress
    from memstore.database.sqlite.transaction import SqliteTransaction

LOG_SUFFIXES: Final = ("-wal", "-shm")
"""The suffixes of a database's write-ahead log and of the log's index."""

SQLITE: Final = b"SQLite format 3\0"
"""How a database begins."""

WRITER_MILLISECONDS: Final = 5000
"""How long to wait for a write in progress."""


def recover(backup: Path, file: Path, progress: Progress | None = None) -> Path | None:
    """Replace a file with a copy of a backup, and return the new path of the replaced file.

    Args:
        backup: checked first, and not changed.
        file: the file to replace; it may be damaged or missing.
        progress: called with the number of pages copied and the total.

    Raises:
        StorageError: the backup is damaged, newer than this program, or not a memstore file; or the
            file cannot be replaced. The file is then unchanged.
    """
    locks.install(str(file))
    ready = Path(f"{file}.recovering")
    with _checked(backup) as source:
        _clear(ready)
        copying.write_copy(source, ready, progress)
    try:
        with _no_writer(file):
            return _replace(file, ready)
    except OSError as error:
        raise StorageError(
            f"{str(file)!r} cannot be replaced: {error.strerror or error}",
            remedy=Remedy.CLOSE_FILE if os.name == "nt" else None,
        ) from error
    finally:
        ready.unlink(missing_ok=True)


def _clear(ready: Path) -> None:
    """Remove the copy that a killed process left, and nothing else of its name."""
    if not os.path.lexists(ready):
        return
    if not copying.is_regular(ready) or _beginning(ready) not in (b"", SQLITE):
        raise StorageError(f"{str(ready)!r} is in the way; nothing was changed")
    ready.unlink(missing_ok=True)


def _beginning(file: Path) -> bytes:
    with file.open("rb") as opened:
        return opened.read(len(SQLITE))


@contextmanager
def _checked(backup: Path) -> Iterator[SqliteTransaction]:
    """Open a backup for reading, after checking that it is a sound memstore file."""
    log = Path(f"{backup}-wal")
    has_log = log.exists() and log.stat().st_size > 0
    name = f"{backup.as_uri()}?{'mode=ro' if has_log else 'immutable=1'}"
    try:
        with copying.reading(name, 0) as source:
            if usable_version(source, str(backup)) == 0:
                raise StorageError("it holds no memories")
            if troubles := integrity.page_troubles(source):
                raise StorageError(f"it is damaged: {troubles[0]}")
            yield source
    except SchemaError as error:
        if error.remedy is not Remedy.NAME_FILE:
            raise
        raise SchemaError(error.text, remedy=Remedy.OTHER_BACKUP) from None
    except StorageError as error:
        raise StorageError(
            f"{str(backup)!r} was not restored, and nothing was changed: {error}",
            remedy=Remedy.OTHER_BACKUP,
        ) from error


@contextmanager
def _no_writer(file: Path) -> Iterator[None]:
    """Keep others from writing, if the file is intact enough to be locked."""
    with ExitStack() as held:
        if file.exists():
            with suppress(apsw.Error):
                _connect(file, held).execute("BEGIN IMMEDIATE")
                # Now the file is complete without its log, so being killed later loses nothing.
                _connect(file, held).wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_PASSIVE)
            if os.name == "nt":
                # Nobody can rename an open file there, so no program goes on writing to the
                # replaced one. Renaming it to its own name fails if another program has it open.
                held.close()
                file.rename(file)
        yield


def _connect(file: Path, stack: ExitStack) -> apsw.Connection:
    connection = apsw.Connection(str(file), flags=apsw.SQLITE_OPEN_READWRITE)
    stack.callback(connection.close)
    connection.set_busy_timeout(WRITER_MILLISECONDS)
    # By the time this is closed, the log at this path belongs to the new file.
    connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
    return connection


def _replace(file: Path, ready: Path) -> Path | None:
    """Rename the file and its log, then give the file's name to the ready copy.

    The log is renamed first: a file next to the log of another one would be damaged.
    """
    kept = _free_name(file)
    for suffix in LOG_SUFFIXES:
        with suppress(FileNotFoundError):
            Path(f"{file}{suffix}").rename(f"{kept}{suffix}")
    existed = file.exists()
    if existed:
        try:
            kept.hardlink_to(file)  # so that the path always names a file
        except OSError:  # a file system without hard links
            file.rename(kept)
    ready.replace(file)
    copying.sync(file.parent)
    return kept if existed else None


def _free_name(file: Path) -> Path:
    at = clock.utc_now().strftime("%Y%m%dT%H%M%SZ")
    name = f"{file}.before-recover-{at}"
    taken = 1
    while Path(name).exists():
        taken += 1
        name = f"{file}.before-recover-{at}-{taken}"
    return Path(name)
