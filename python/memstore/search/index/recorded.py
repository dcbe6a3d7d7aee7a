"""Records which derived files belong to a database: in the database, or in a local folder.

A file's database records its own. The files of a server's memory are each machine's own, in a
folder that only its user can open. The database may be restored to an earlier state, or a replica
may be promoted that lacks the last writes, and then go on differently. So the folder's record holds
the end of the journal as the files were written: they belong to a database that has this line.
"""

from __future__ import annotations

import json
import os
import stat
from contextlib import AbstractContextManager, suppress
from typing import TYPE_CHECKING, Any, Final, Protocol

from memstore.database import journal
from memstore.database.tables import feeds
from memstore.database.tables.feeds import DerivedFiles
from memstore.domain.records import Head

if TYPE_CHECKING:
    from memstore.database.engine import Engine, Transaction

SAVE_WAIT_SECONDS: Final = 5.0
"""How long recording new files waits for a writer. They can be written again later."""


class Recorded(Protocol):
    """The record of the files of one kind of rows."""

    def read(self, transaction: Transaction, *, besides: str | None = None) -> DerivedFiles | None:
        """Return what is recorded, if it is of this database's history.

        Args:
            besides: files that are in use; ``None`` is returned if these are recorded.
        """

    def changing(
        self, engine: Engine, wait_seconds: float | None = SAVE_WAIT_SECONDS
    ) -> AbstractContextManager[Transaction]:
        """Open the transaction in which the record is changed."""

    def record(self, transaction: Transaction, saved: DerivedFiles, head: Head | None) -> None:
        """Record files; ``head`` is the journal's end when their state was read, or later.

        Raises:
            OSError: the record cannot be written.
        """

    def forget(self, transaction: Transaction) -> None: ...


class InDatabase:
    """A table of the database."""

    def __init__(self, rows: str) -> None:
        self._rows = rows

    def read(self, transaction: Transaction, *, besides: str | None = None) -> DerivedFiles | None:
        saved = feeds.derived_files(transaction, self._rows)
        return None if saved is None or saved.identity == besides else saved

    def changing(
        self, engine: Engine, wait_seconds: float | None = SAVE_WAIT_SECONDS
    ) -> AbstractContextManager[Transaction]:
        return engine.write(wait_seconds=wait_seconds)

    def record(self, transaction: Transaction, saved: DerivedFiles, head: Head | None) -> None:
        feeds.record_derived_files(transaction, self._rows, saved)

    def forget(self, transaction: Transaction) -> None:
        feeds.forget_derived_files(transaction, self._rows)


class InFolder:
    """A file beside the derived files."""

    def __init__(self, stem: str, rows: str) -> None:
        self._path = f"{stem}.{rows}.json"

    def read(self, transaction: Transaction, *, besides: str | None = None) -> DerivedFiles | None:
        try:
            with open(self._path, encoding="utf-8") as file:
                found: dict[str, Any] = json.load(file)
            saved = DerivedFiles(found["identity"], found["position"], found["generation_id"])
            head = Head(*found["head"])
            bytes.fromhex(saved.identity)
        except (OSError, ValueError, LookupError, TypeError):
            return None
        if saved.identity == besides:  # the server is not asked for their history again
            return None
        return saved if journal.head(transaction, head.line) == head else None

    def changing(
        self, engine: Engine, wait_seconds: float | None = SAVE_WAIT_SECONDS
    ) -> AbstractContextManager[Transaction]:
        return engine.read()  # nothing of the database changes, so nobody waits

    def record(self, transaction: Transaction, saved: DerivedFiles, head: Head | None) -> None:
        if head is None:
            raise OSError("the history of these files is not known")
        draft = f"{self._path}-{os.getpid()}.part"
        handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            json.dump(saved._asdict() | {"head": [*head]}, file)
        os.replace(draft, self._path)

    def forget(self, transaction: Transaction) -> None:
        with suppress(FileNotFoundError):
            os.unlink(self._path)


def is_sealed(folder: str) -> bool:
    """Create a folder that only its user can open; return whether it is one."""
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)
        found = os.lstat(folder)
    except OSError:
        return False
    if os.name != "posix":
        return stat.S_ISDIR(found.st_mode)
    is_ours = stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid()
    return is_ours and not stat.S_IMODE(found.st_mode) & 0o077
