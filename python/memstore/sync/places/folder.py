"""A folder that something else carries: Syncthing, a share, a stick.

Whoever can write there can put anything there. So nothing is followed that is a link, nothing is
read that is no plain file, and sizes are checked before the bytes are.
"""

from __future__ import annotations

import errno
import os
import stat
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Final

from memstore.errors import Remedy, SyncError
from memstore.sync.places import Entry, mounts, names

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

MAX_FILES: Final = 50_000
"""How many files are looked at. A hundred devices leave a fifth of that."""

MAX_NAMED: Final = 3
"""How many foreign files are named."""

NO_FOLLOW: Final = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
"""Do not follow a link, and do not wait at a pipe."""

BINARY: Final = getattr(os, "O_BINARY", 0)

REASONS: Final = {
    errno.ENOSPC: "the disk is full",
    errno.EDQUOT: "the disk is full",
    errno.EROFS: "it is read-only",
    errno.EACCES: "it may not be read or written by this user",
    errno.EPERM: "it may not be read or written by this user",
    errno.ENOENT: "it is not there",
    errno.ENOTDIR: "it is no folder",
    errno.ELOOP: "it is a link",
}


class FolderPlace:
    """The files of all devices in one folder, with a folder for each device.

    Args:
        folder: which has to be there.
        state: the folder of this machine that says where its file system was mounted; ``None`` to
            take one that is empty for what it seems.
        refill: fill one that is empty, also on another file system than before.
    """

    def __init__(
        self,
        folder: str | os.PathLike[str],
        *,
        state: Path | None = None,
        refill: bool = False,
    ) -> None:
        self.address = os.fspath(folder)
        self.ignored: Sequence[str] = ()
        self._folder = os.path.abspath(os.path.expanduser(self.address))
        self._state = state
        self._refill = refill

    def list(self) -> Mapping[str, Entry]:
        found: dict[str, Entry] = {}
        foreign: list[str] = []
        with self._explained(""):
            for name, entry in self._every():
                if names.is_name(name) and entry.is_file(follow_symlinks=False):
                    with suppress(FileNotFoundError):  # it was replaced while we looked
                        found[name] = _entry(entry.stat(follow_symlinks=False))
                elif not is_hidden(name):
                    foreign.append(name)
        self.ignored = foreign_files(foreign)
        if not found and not self._refill:
            self._check_mounted()
        return found

    def get(self, name: str, *, most: int) -> bytes:
        with self._explained(name):
            descriptor = os.open(self._path(name), os.O_RDONLY | BINARY | NO_FOLLOW)
            with os.fdopen(descriptor, "rb") as file:
                status = os.fstat(descriptor)
                if not stat.S_ISREG(status.st_mode):
                    raise SyncError(f"{name} in {self.address!r} is no plain file")
                data = file.read(most + 1) if status.st_size <= most else None
        if data is None or len(data) > most:
            raise too_large(name, most)
        return data

    def put(self, name: str, data: bytes) -> None:
        path = self._path(name)
        head, tail = os.path.split(path)
        beside = os.path.join(head, f".{tail}.new")
        with self._explained(name):
            if not os.path.isdir(self._folder):
                raise FileNotFoundError(errno.ENOENT, "")
            with suppress(FileExistsError):
                os.mkdir(head, 0o700)
            with suppress(FileNotFoundError):
                os.unlink(beside)  # left by a run that was killed
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | BINARY | NO_FOLLOW
            with os.fdopen(os.open(beside, flags, 0o600), "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            os.replace(beside, path)

    def delete(self, name: str) -> None:
        path = self._path(name)
        with self._explained(name):
            with suppress(FileNotFoundError):
                os.unlink(path)
            with suppress(OSError):  # others are in it
                os.rmdir(os.path.dirname(path))

    def publish(self, *, anew: bool = False) -> None:
        """Remember where the folder is mounted; what was put is there."""
        if self._state is not None:
            mounts.remember(self._state, self._folder)

    def _check_mounted(self) -> None:
        """Refuse an empty folder that had files when another file system was mounted there."""
        before = None if self._state is None else mounts.remembered(self._state, self._folder)
        if before is not None and (now := mounts.mount_of(self._folder)) != before:
            raise SyncError(
                f"{self.address!r} is empty, and on the file system of {now!r}; it had files when "
                f"it was on that of {before!r}, which seems to be away: nothing was written",
                remedy=Remedy.MOUNT_PLACE,
            )

    def _every(self) -> Iterator[tuple[str, os.DirEntry[str]]]:
        """Yield what is in the folder and in the folders of devices, each with its name there."""
        seen = 0
        with os.scandir(self._folder) as devices:
            for device in devices:
                seen += 1
                if names.DEVICE.fullmatch(device.name) and device.is_dir(follow_symlinks=False):
                    with os.scandir(device.path) as files:
                        for file in files:
                            seen += 1
                            yield f"{device.name}/{file.name}", file
                            self._check_number(seen)
                else:
                    yield device.name, device
                self._check_number(seen)

    def _check_number(self, seen: int) -> None:
        if seen > MAX_FILES:
            raise SyncError(
                f"{self.address!r} holds more than {MAX_FILES:,} files", remedy=Remedy.OWN_PLACE
            )

    def _path(self, name: str) -> str:
        checked_name(name)
        device, _, file = name.partition("/")
        folder = os.path.join(self._folder, device)
        if os.path.islink(folder):
            raise SyncError(f"{device} in {self.address!r} is a link, which is not followed")
        return os.path.join(folder, file)

    @contextmanager
    def _explained(self, name: str) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            what = f"{name} in {self.address!r}" if name else repr(self.address)
            reason = REASONS.get(error.errno or 0, error.strerror or type(error).__name__)
            raise SyncError(
                f"{what} cannot be used: {reason}", remedy=Remedy.CHECK_PLACE
            ) from error


def checked_name(name: str) -> None:
    """Check that a file of a place may have this name."""
    if not names.is_name(name):
        raise SyncError(f"{name!r} is no name of a file of sync")


def too_large(name: str, most: int) -> SyncError:
    """Return the error for a file that is not read because of its size."""
    return SyncError(f"{name} has more than {most:,} bytes, and was not read")


def is_hidden(name: str) -> bool:
    """Return whether a foreign file belongs to what carries the folder, or to a system."""
    last = name.rpartition("/")[2]
    return last.startswith(".") or last.lower() in ("desktop.ini", "thumbs.db", "icon\r")


def foreign_files(found: list[str]) -> tuple[str, ...]:
    """Return a sentence on the files that are no files of sync, if there are any."""
    if not found:
        return ()
    shown = ", ".join(ascii(name)[:80] for name in sorted(found)[:MAX_NAMED])
    more = f" and {len(found) - MAX_NAMED:,} more" if len(found) > MAX_NAMED else ""
    return (f"not read, because no device writes files of such a name: {shown}{more}",)


def _entry(status: os.stat_result) -> Entry:
    return Entry(status.st_size, f"{status.st_size}-{status.st_mtime_ns}-{status.st_ino}")
