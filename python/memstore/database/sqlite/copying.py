"""Copies of a database: written under a temporary name, verified, then renamed.

An unfinished copy contains an extra table, so that one left by a killed process is refused like
the database of another program and never opens as an empty store.
"""

from __future__ import annotations

import errno
import os
import stat
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

import apsw

from memstore import errors
from memstore.database import journal
from memstore.database import meta as meta_table
from memstore.database.engine import PART
from memstore.database.sqlite import integrity
from memstore.database.sqlite.transaction import SqliteTransaction, Translated
from memstore.errors import Remedy, StorageError
from memstore.lazy import lazy_import

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memstore.database.engine import Cancelled, Progress
    from memstore.database.tables import devices
    from memstore.domain.records import Head
else:
    devices = lazy_import("memstore.database.tables.devices")


PAGES: Final = 1024
"""Pages per step; 4 MB keep the progress bar moving and do not hold up other writers."""


def write_copy(source: SqliteTransaction, target: Path, progress: Progress | None = None) -> None:
    """Write a verified copy of the state that a transaction sees to a new file.

    Raises:
        StorageError: the file exists or cannot be written, or the copied data is damaged.
    """
    if target.exists():
        raise not_created(str(target), FileExistsError(17, "File exists"))
    part = Path(f"{target}{PART}")
    with _claimed(part) as copy, Translated(source.connection.filename):
        # Take the snapshot now: without one, SQLite restarts the copy at every write of others.
        source.one("SELECT count(*) FROM sqlite_schema")
        with copy.backup("main", source.connection, "main") as task:
            while not task.done:
                task.step(PAGES)
                if progress is not None:
                    progress(task.page_count - task.remaining, task.page_count)
        copy.close()
        if source.has_table("memstore_devices") and devices.is_one(source):
            _be_no_device(part)
        try:
            sync(part)
            _verify(part, meta_table.schema_version(source))
            part.rename(target)
            sync(target.parent)
        except OSError as error:
            raise not_created(str(target), error) from error


def head_of(file: Path) -> Head | None:
    """Return the end of the journal in a copy; ``None`` if the file is no such copy."""
    if not is_regular(file):
        return None
    try:
        with reading(f"{file.absolute().as_uri()}?immutable=1", 0) as copy:
            return journal.head(copy) if copy.has_table("memstore_journal") else None
    except StorageError:
        return None


def remove_unfinished(part: Path) -> bool:
    """Remove an unfinished copy that no process is writing; return whether it was one."""
    if not is_regular(part):
        return False
    try:
        with closing(apsw.Connection(str(part), flags=apsw.SQLITE_OPEN_READWRITE)) as copy:
            copy.set_busy_timeout(0)
            copy.execute("BEGIN EXCLUSIVE")
            query = "SELECT 1 FROM sqlite_schema WHERE name = 'unfinished_copy'"
            if part.stat().st_size and not copy.execute(query).fetchall():
                return False
            copy.execute("ROLLBACK")
            part.unlink(missing_ok=True)
            return True
    except (apsw.Error, OSError):
        return False


def is_regular(file: Path) -> bool:
    """Return whether there is a file, and no link, folder or pipe."""
    try:
        return stat.S_ISREG(file.lstat().st_mode)
    except OSError:
        return False


def private_copy(
    source: apsw.Connection, kept_in: str, cancelled: Cancelled | None = None
) -> apsw.Connection | None:
    """Return a copy of the state that a connection reads; ``None`` if there is no room for it.

    If the copy is a file, it has no name and is deleted when the connection is closed or the
    process ends.

    Args:
        source: a connection in a read transaction.
        kept_in: ``MEMORY`` or ``FILE``.
        cancelled: asked after some pages.

    Raises:
        Cancelled: it was cancelled.
    """
    copy = apsw.Connection(":memory:" if kept_in == "MEMORY" else "")
    try:
        with copy.backup("main", source, "main") as task:
            while not task.done:
                if cancelled is not None and cancelled():
                    raise errors.Cancelled("copying the file was cancelled")
                task.step(-1 if cancelled is None else PAGES)
    except apsw.Error:
        copy.close()
        return None
    except errors.Cancelled:
        copy.close()
        raise
    return copy


@contextmanager
def reading(name: str, wait_seconds: float, path: str | None = None) -> Iterator[SqliteTransaction]:
    """Open a read transaction of a database, named by a URI, that must not be changed.

    Errors name ``path`` if it is given, for example the file that this one is a copy of.
    """
    with Translated(""):
        connection = apsw.Connection(name, flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI)
    try:
        with Translated(path or connection.filename):
            connection.set_busy_timeout(int(wait_seconds * 1000))
            # The schema may come from an untrusted file: it must not call SQL functions.
            connection.pragma("trusted_schema", False)
            connection.execute("BEGIN")
            connection.execute("SELECT count(*) FROM sqlite_schema").fetchall()
        yield SqliteTransaction(connection, path)
    finally:
        connection.close()


def create(file: Path) -> None:
    """Create an empty file that only its user can read, because it will hold memories."""
    os.close(os.open(file, os.O_CREAT | os.O_EXCL, 0o600))
    sync(file.parent)  # so that its name survives a power failure too


def sync(path: Path) -> None:
    """Flush a file, or the names in a folder, to disk."""
    if path.is_dir():
        if not hasattr(os, "O_DIRECTORY"):
            return  # Windows cannot sync folders
        opened = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    else:
        opened = os.open(path, os.O_RDWR)
    try:
        os.fsync(opened)
    except OSError as error:
        # Some file systems (CIFS, some in user space) cannot sync folders; nothing can be done.
        if error.errno != errno.EINVAL or not path.is_dir():
            raise
    finally:
        os.close(opened)


def not_created(path: str, error: OSError, remedy: Remedy = Remedy.NEW_TARGET) -> StorageError:
    return StorageError(f"cannot create {path!r}: {error.strerror or error}", remedy=remedy)


@contextmanager
def _claimed(part: Path) -> Iterator[apsw.Connection]:
    """Create the file of an unfinished copy, or reuse one left by a killed process.

    It is removed if copying fails.
    """
    try:
        if not part.exists():
            create(part)
    except OSError as error:
        raise not_created(str(part), error) from error
    copy = apsw.Connection(str(part))
    try:
        _lock(copy, part)
    except BaseException:
        copy.close()
        raise
    try:
        yield copy
    except BaseException:
        copy.close()
        for half in (part, Path(f"{part}-journal")):
            half.unlink(missing_ok=True)
        raise


def _lock(copy: apsw.Connection, part: Path) -> None:
    try:
        copy.set_busy_timeout(0)
        copy.pragma("locking_mode", "EXCLUSIVE")
        copy.pragma("synchronous", "OFF")  # the finished copy is synced once
        copy.execute("BEGIN EXCLUSIVE; CREATE TABLE IF NOT EXISTS unfinished_copy (x); COMMIT")
    except apsw.BusyError:
        raise StorageError(
            f"another backup is being written to {str(part)!r}", remedy=Remedy.NEW_TARGET
        ) from None
    except apsw.Error as error:
        raise StorageError(
            f"{str(part)!r}, left over from another backup, cannot be used: {error}",
            remedy=Remedy.NEW_TARGET,
        ) from error


def _be_no_device(part: Path) -> None:
    """Take the id out of a copy under which the file syncs with other devices."""
    with closing(apsw.Connection(str(part), flags=apsw.SQLITE_OPEN_READWRITE)) as copy:
        transaction = SqliteTransaction(copy)
        copy.execute("BEGIN IMMEDIATE")
        head = journal.head(transaction)
        devices.retire(transaction, head.line, head.hash)
        copy.execute("COMMIT")


def _verify(part: Path, version: int) -> None:
    with reading(f"{part.absolute().as_uri()}?immutable=1", 0) as copy:
        if troubles := integrity.quick_troubles(copy):
            raise StorageError(
                f"the copied data is damaged, and the copy was not kept: {troubles[0]}",
                remedy=Remedy.RESTORE_BACKUP,
            )
        if (found := meta_table.schema_version(copy)) != version:
            raise StorageError(
                f"the copy has schema version {found} instead of {version}; it was not kept"
            )
