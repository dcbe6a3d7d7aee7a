"""Where devices meet: a folder, a git repository, or a server, each as a :class:`Place`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from memstore.errors import SyncError
from memstore.named import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


class Entry(NamedTuple):
    """A file of a place, as it is listed."""

    size: int
    tag: str
    """Changes whenever the content does: an ETag, a blob's id, or a file's size and time."""


class Place(Protocol):
    """Opaque files under strict names (:mod:`.names`); each device writes only its own."""

    address: str
    """Where it is, as a person wrote it, without passwords."""

    ignored: Sequence[str]
    """A sentence on each kind of other thing that the last listing found there."""

    def list(self) -> Mapping[str, Entry]:
        """Return what is there under strict names; a git place fetches and resets first.

        Raises:
            SyncError: nobody answers there, or nothing may be read there.
        """

    def get(self, name: str, *, most: int) -> bytes:
        """Return a file.

        Raises:
            SyncError: it has more than ``most`` bytes, is gone, or is no plain file.
        """

    def put(self, name: str, data: bytes) -> None:
        """Write a file, beside and then renamed, so that it is seen whole or not at all."""

    def delete(self, name: str) -> None:
        """Remove a file; nothing happens if it is gone."""

    def publish(self, *, anew: bool = False) -> None:
        """Let the other devices see what was put and deleted: a git place commits and pushes.

        Args:
            anew: forget what the files were before, because a text was erased: a git place begins
                its history again.
        """


class OtherKey(SyncError):
    """A file is sealed with another key: its device has not synced since the key was changed."""


class Seal(Protocol):
    """Encrypts the files of a place, each bound to its device and its name."""

    key_id: str
    """Names the key with which it seals; files sealed with another one have to be made again."""

    def seal(self, data: bytes, *, device: str, name: str) -> bytes:
        """Return the data encrypted."""

    def open(self, data: bytes, *, device: str, name: str) -> bytes:
        """Return what was sealed.

        Raises:
            OtherKey: it is sealed with another key.
            SyncError: it was changed or moved.
        """
