"""The driver's errors as the library's."""

from __future__ import annotations

from typing import Final

import psycopg
from psycopg import errors

from memstore.errors import Remedy, StorageError, StoreBusy


class PostgresErrors:
    """Translates the driver's errors."""

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        if isinstance(error, psycopg.Error):
            raise storage_error(error) from error


LOST: Final = ("08", "57P")
"""How the codes of errors begin after which the server says nothing more."""


def is_lost(error: psycopg.Error) -> bool:
    """Return whether a connection broke; otherwise the server said why it undid the change."""
    return isinstance(error, psycopg.OperationalError) and (
        error.sqlstate is None or error.sqlstate.startswith(LOST)
    )


def storage_error(error: psycopg.Error) -> StorageError:
    if isinstance(error, errors.LockNotAvailable | errors.DeadlockDetected):
        return StoreBusy(
            "another process is writing to this memory; nothing was stored", remedy=Remedy.WAIT
        )
    if isinstance(error, errors.SerializationFailure):
        return StoreBusy(
            "another process changed the same rows; nothing was stored", remedy=Remedy.WAIT
        )
    if isinstance(error, errors.DiskFull):
        return StorageError("the server's disk is full; nothing of this change was stored")
    if isinstance(error, errors.ReadOnlySqlTransaction):
        return StorageError(
            "the database is open read-only; nothing was stored", remedy=Remedy.OPEN_WRITABLE
        )
    if isinstance(error, errors.ProgramLimitExceeded) and "index row" in _said(error):
        return StorageError(
            "names, tags or metadata are too long for an index of PostgreSQL; nothing was stored:"
            f" {_said(error)}"
        )
    if isinstance(error, errors.InsufficientPrivilege):
        return StorageError(f"the database user lacks a right: {_said(error)}")
    if isinstance(error, psycopg.OperationalError):
        return StorageError(
            f"the connection to the server failed; nothing was stored: {_said(error)}",
            remedy=Remedy.RETRY,
        )
    return StorageError(f"the database reported an error: {_said(error)}")


def _said(error: psycopg.Error) -> str:
    """Return what the server said; its details may quote rows, so they are left out."""
    return (error.diag.message_primary or str(error)).strip().partition("\n")[0]
