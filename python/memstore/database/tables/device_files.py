"""The table of the files of devices that meet at a server, which keeps them without reading them.

A place is the files that one set of tokens reaches. Its files are neither journalled nor memories:
what is missing, the devices write again.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Final

from memstore.database.writes import Delete, Insert
from memstore.named import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memstore.database.engine import Transaction

TAG_LENGTH: Final = 32

ID: Final = "place = :place AND name = :name"

PUT: Final = Insert(
    "memstore_device_files",
    ("place", "name", "token", "size", "tag", "data"),
    unique=("place", "name"),
    instead="token = excluded.token, size = excluded.size, tag = excluded.tag,"
    " data = excluded.data",
)
REMOVE: Final = Delete("memstore_device_files", ID)


class StoredFile(NamedTuple):
    """A file, without its data."""

    name: str
    size: int
    tag: str


class Space(NamedTuple):
    """How much of a place is used."""

    files: int
    bytes: int


def tag_of(data: bytes) -> str:
    """Return what changes whenever the data does."""
    return hashlib.sha256(data).hexdigest()[:TAG_LENGTH]


def listed(transaction: Transaction, place: str) -> list[StoredFile]:
    """Return the files of a place by their names."""
    rows = transaction.rows(
        "SELECT name, size, tag FROM memstore_device_files WHERE place = :place ORDER BY name",
        {"place": place},
    )
    return [StoredFile(str(name), int(size), str(tag)) for name, size, tag in rows]


def find(transaction: Transaction, place: str, name: str) -> StoredFile | None:
    row = transaction.one(
        f"SELECT name, size, tag FROM memstore_device_files WHERE {ID}",
        {"place": place, "name": name},
    )
    return None if row is None else StoredFile(str(row[0]), int(row[1]), str(row[2]))


def read(transaction: Transaction, place: str, name: str) -> tuple[StoredFile, bytes] | None:
    """Return a file with its data; ``None`` if there is none."""
    row = transaction.one(
        f"SELECT name, size, tag, data FROM memstore_device_files WHERE {ID}",
        {"place": place, "name": name},
    )
    if row is None:
        return None
    return StoredFile(str(row[0]), int(row[1]), str(row[2])), bytes(row[3])


def put(transaction: Transaction, place: str, name: str, token: str, data: bytes) -> str:
    """Store a file, or other data of one that is there; return its tag."""
    tag = tag_of(data)
    transaction.run(PUT, (place, name, token, len(data), tag, data))
    return tag


def remove(transaction: Transaction, place: str, name: str) -> None:
    transaction.run(REMOVE, (place, name))


def token_of(transaction: Transaction, place: str, device: str) -> str | None:
    """Return the name of the token that began a device; ``None`` if it has no files."""
    row = transaction.one(
        "SELECT max(token) FROM memstore_device_files"
        " WHERE place = :place AND name >= :device || '/' AND name < :device || '0'",
        {"place": place, "device": device},
    )
    return None if row is None or row[0] is None else str(row[0])


def begun_by(transaction: Transaction, place: str, token: str, length: int) -> int:
    """Return how many devices a token began that have files; their ids are so long."""
    return transaction.scalar(
        "SELECT count(DISTINCT substr(name, 1, CAST(:length AS INTEGER)))"
        " FROM memstore_device_files WHERE place = :place AND token = :token",
        {"place": place, "token": token, "length": length},
    )


def used(transaction: Transaction, place: str, besides: str) -> Space:
    """Return how much all files of a place but one take."""
    row = transaction.one(
        "SELECT count(*), coalesce(sum(size), 0) FROM memstore_device_files"
        " WHERE place = :place AND name <> :name",
        {"place": place, "name": besides},
    )
    return Space(0, 0) if row is None else Space(int(row[0]), int(row[1]))


def damaged(transaction: Transaction) -> Iterator[tuple[str, str]]:
    """Yield place and name of each file whose data is not what was stored."""
    names = transaction.rows("SELECT place, name FROM memstore_device_files ORDER BY place, name")
    for place, name in [(str(place), str(name)) for place, name in names]:
        found = read(transaction, place, name)
        if found is None or found[0][1:] != (len(found[1]), tag_of(found[1])):
            yield place, name


def remove_damaged(transaction: Transaction) -> int:
    """Remove the files that are damaged, so that the devices write them again; return how many."""
    found = [*damaged(transaction)]
    for place, name in found:
        remove(transaction, place, name)
    return len(found)
