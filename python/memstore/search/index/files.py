"""The derived files of a database: beside it, named after it, each written once and then mapped.

They may be deleted at any time; answers are the same without them. Each set has an identity in its
names and headers, which the database records together with the position in its changes. So files
of another database, of a backup or of a copy that was changed separately are never used. A set is
never changed, only replaced by a new one, because some systems cannot replace a mapped file.

The names of a set are claimed before anything is written, and writing a file does not create it. So
whoever removes a set knows that it does not come back, even if the process that was writing it goes
on (decision 67).

Which files belong to a database is recorded. A file's database records its own. The files of a
server's memory are each machine's own, in a folder that only its user can open. The database may be
restored to an earlier state, or a replica may be promoted that lacks the last writes, and then go
on differently. So the folder's record holds the end of the journal as the files were written: they
belong to a database that has this line.
"""

from __future__ import annotations

import json
import os
import re
import stat
from contextlib import AbstractContextManager, suppress
from typing import TYPE_CHECKING, Any, Final, Protocol

from memstore.database import journal
from memstore.database.tables import feeds
from memstore.database.tables.feeds import DerivedFiles
from memstore.domain.records import Head

if TYPE_CHECKING:
    from collections.abc import Sequence

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
    """The record as a table of the database."""

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
    """The record as a file beside the derived files."""

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


PARTS: Final = ("columns", "words", "features", "codes")

MAGIC: Final = b"memstore"
"""The first bytes of a file (``rust/kernel/src/index/mapped``)."""

HEADER_BYTES: Final = 64
"""Within these is the identity of the set."""


class Files:
    """Names of the derived files for one kind of rows."""

    def __init__(self, database: str, rows: str) -> None:
        self._stem = f"{database}.{rows}-"

    def path(self, identity: str, part: str) -> str:
        return f"{self._stem}{identity}.{part}"

    def claim(self, identity: str, parts: Sequence[str]) -> None:
        """Create files of a set, empty.

        Raises:
            OSError: they cannot be created.
        """
        for part in parts:
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
            os.close(os.open(self.path(identity, part), flags, 0o600))

    def are_there(self, identity: str, parts: Sequence[str]) -> bool:
        return all(os.path.exists(self.path(identity, part)) for part in parts)

    def size(self, identity: str, parts: Sequence[str]) -> int:
        """Return the bytes of a set; files that were removed meanwhile count as none."""
        size = 0
        for part in parts:
            with suppress(OSError):
                size += os.stat(self.path(identity, part)).st_size
        return size

    def remove(self, identity: str) -> bool:
        """Remove a set; return whether it is gone, because some systems keep mapped files."""
        return _removed([self.path(identity, part) for part in PARTS])

    def others(self, identity: str | None, recorded: str | None = None) -> list[str]:
        """Return the files of all sets but this.

        A file of such a name that nobody has recorded may be somebody else's: its beginning tells.

        Args:
            identity: the set that stays.
            recorded: the set that was recorded last, whatever is in its files by now.
        """
        folder, stem = os.path.split(self._stem)
        ours = rf"{re.escape(stem)}([0-9a-f]{{32}})\.(?:{'|'.join(PARTS)})(?:-\d+\.part)?"
        found = (re.fullmatch(ours, file) for file in os.listdir(folder))
        paths = [(os.path.join(folder, name[0]), name[1]) for name in found if name]
        return [
            path
            for path, owner in paths
            if owner != identity and (owner == recorded or _is_derived(path, owner))
        ]

    def remove_others(self, identity: str | None, recorded: str | None = None) -> bool:
        """Remove all sets but this, see :meth:`others`; return whether they are gone."""
        return _removed(self.others(identity, recorded))


def _is_derived(path: str, identity: str) -> bool:
    """Return whether a file begins as those of a set do, or is empty, or cannot be read.

    One of the two marks is enough: the file may be damaged.
    """
    try:
        if not stat.S_ISREG(os.lstat(path).st_mode):
            return False
        with open(path, "rb") as file:
            beginning = file.read(HEADER_BYTES)
    except OSError:
        return True
    return not beginning or beginning.startswith(MAGIC) or bytes.fromhex(identity) in beginning


def _removed(paths: Sequence[str]) -> bool:
    for path in paths:
        with suppress(OSError):
            os.unlink(path)
    return not any(map(os.path.lexists, paths))
