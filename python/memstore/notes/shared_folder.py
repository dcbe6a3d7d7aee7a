"""Files of a folder that other programs change at the same time, such as an editor of notes.

A file is never replaced or removed at its place: it is moved aside, looked at, and put back unless
it is what was expected. So what somebody puts there between a look and a change is not lost. What
a killed process left aside is found by its name (:meth:`SharedFolder.left_aside`).
"""

from __future__ import annotations

import errno
import os
import stat
import sys
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Final

from memstore.domain import clock
from memstore.errors import Remedy, StorageError

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path
    from typing import Self

OTHER: Final = b"\0"
"""Stands for what is no file that can be read: a link, a folder, a pipe, a huge file."""
MAX_BYTES: Final = 256 * 2**20
"""Of a file that is read."""
PATIENCE_SECONDS: Final = 60.0
"""How long to wait for another process that writes into the folder."""
PAUSE_SECONDS: Final = 0.05
HAS_FOLDERS: Final = hasattr(os, "O_DIRECTORY") and {os.open, os.rename, os.link} <= (
    os.supports_dir_fd
)
"""Whether a folder can be opened, so that its path may change meanwhile."""


class SharedFolder:
    """An open folder.

    Args:
        path: the folder, which exists.
        mark: part of the names of files that are written, or moved aside; only whoever knows it
            takes such a file for one that a killed process left.
    """

    def __init__(self, path: Path, mark: str) -> None:
        self.path = path
        self._new = f".memstore-{mark}.new"
        self._aside = f".memstore-{mark}-"
        self._handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY) if HAS_FOLDERS else None
        self._at: dict[str, Any] = {} if self._handle is None else {"dir_fd": self._handle}
        self._of_two: dict[str, Any] = (
            {} if self._handle is None else {"src_dir_fd": self._handle, "dst_dir_fd": self._handle}
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._handle is not None:
            os.close(self._handle)

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Let no other process that asks for this write into the folder.

        Raises:
            StorageError: another one has been writing for a minute.
        """
        handle = self._handle
        if handle is None:
            handle = os.open(self.path / f"{self._new}.lock", os.O_RDWR | os.O_CREAT, 0o600)
        try:
            end = clock.monotonic() + PATIENCE_SECONDS
            while not _try_lock(handle):
                if clock.monotonic() > end:
                    raise StorageError(
                        f"another process has been writing notes in {str(self.path)!r} for "
                        "a minute; nothing was changed",
                        remedy=Remedy.WAIT,
                    )
                clock.sleep(PAUSE_SECONDS)
            self._unlink(self._new)  # of a process that was killed
            yield
        finally:
            if handle != self._handle:
                os.close(handle)
            elif sys.platform != "win32":
                with suppress(OSError):
                    fcntl.flock(handle, fcntl.LOCK_UN)

    def read(self, name: str) -> bytes | None:
        """Return what a file holds; ``OTHER`` if it is no readable file, ``None`` if nothing."""
        flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
        flags |= getattr(os, "O_NONBLOCK", 0)  # a pipe would wait for a writer
        try:
            if stat.S_ISLNK(os.stat(self._named(name), follow_symlinks=False, **self._at).st_mode):
                return OTHER
            with open(os.open(self._named(name), flags, **self._at), "rb") as file:
                found = os.fstat(file.fileno())
                if not stat.S_ISREG(found.st_mode) or found.st_size > MAX_BYTES:
                    return OTHER
                return file.read(MAX_BYTES + 1)
        except FileNotFoundError:
            return None
        except OSError:
            return OTHER

    def create(self, name: str, content: bytes, *, sync: bool = False) -> bool:
        """Write a file as a whole; return false if something is at its place."""
        self._write(content, sync)
        return self._place(self._new, name)

    def overwrite(self, name: str, content: bytes) -> None:
        """Put a file at a place, whatever is there; it survives a power cut."""
        self._write(content, sync=True)
        os.replace(self._named(self._new), self._named(name), **self._of_two)

    def replace(self, name: str, content: bytes | None, expected: Callable[[bytes], bool]) -> bool:
        """Replace or (``None``) remove a file that is as expected; return whether it was."""
        if content is not None:
            self._write(content)
        aside = self._aside + name
        try:
            self._rename(name, aside)
        except FileNotFoundError:
            return content is None or self._place(self._new, name)
        taken = self.read(aside)
        if taken is None or not expected(taken):
            self._unlink(self._new)
            self.put_back(name)
            return False
        if content is not None and not self._place(self._new, name):
            self._unlink(aside)
            return False
        self._unlink(aside)
        return True

    def left_aside(self) -> list[str]:
        """Return the names of files that a killed process had moved aside."""
        names = os.listdir(self.path if self._handle is None else self._handle)
        return sorted(one.removeprefix(self._aside) for one in names if self._is_aside(one))

    def names(self) -> list[str]:
        """Return the names of what is in the folder, but of none that begins with a dot."""
        names = os.listdir(self.path if self._handle is None else self._handle)
        return sorted(name for name in names if not name.startswith("."))

    def put_back(self, name: str, expected: Callable[[bytes], bool] | None = None) -> None:
        """Put back what was moved aside; beside it, if something else is there by now.

        Args:
            expected: what need not be kept then.
        """
        aside = self._aside + name
        if self._place(aside, name):
            return
        taken = self.read(aside)
        if taken is not None and expected is not None and expected(taken):
            self._unlink(aside)
            return
        number = 1
        while not self._place(aside, f"{name.removesuffix('.md')} (kept {number}).md"):
            number += 1

    def _is_aside(self, name: str) -> bool:
        return name.startswith(self._aside) and len(name) > len(self._aside)

    def _named(self, name: str) -> str:
        return name if self._handle is not None else os.path.join(self.path, name)

    def _write(self, content: bytes, sync: bool = False) -> None:
        """Write the file that is about to get a place; only its owner can read it."""
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
        try:
            with open(os.open(self._named(self._new), flags, 0o600, **self._at), "wb") as file:
                file.write(content)
                file.flush()
                if sync:
                    os.fsync(file.fileno())
        except BaseException:
            self._unlink(self._new)
            raise

    def _place(self, written: str, name: str) -> bool:
        """Give a file a free name; return false, and leave it, if that name is taken."""
        try:
            if os.name == "nt":
                os.rename(self._named(written), self._named(name))
                return True
            os.link(self._named(written), self._named(name), follow_symlinks=False, **self._of_two)
        except FileExistsError:
            if written == self._new:
                self._unlink(written)
            return False
        except OSError as error:
            if error.errno not in _WITHOUT_LINKS:
                raise
            return self._place_without_links(written, name)
        self._unlink(written)
        return True

    def _place_without_links(self, written: str, name: str) -> bool:
        """Do the same with a look first: a folder, and some file systems, have no hard links."""
        try:
            os.stat(self._named(name), follow_symlinks=False, **self._at)
        except FileNotFoundError:
            self._rename(written, name)
            return True
        if written == self._new:
            self._unlink(written)
        return False

    def _rename(self, name: str, to: str) -> None:
        os.rename(self._named(name), self._named(to), **self._of_two)

    def _unlink(self, name: str) -> None:
        with suppress(FileNotFoundError):
            os.unlink(self._named(name), **self._at)


_WITHOUT_LINKS: Final = {
    errno.EPERM, errno.EACCES, errno.ENOSYS, errno.EOPNOTSUPP, errno.ENOTSUP, errno.EMLINK,
    errno.EINVAL,
}  # fmt: skip


def _try_lock(handle: int) -> bool:
    """Lock a folder or a file; true also where the file system has no such locks."""
    try:
        if sys.platform == "win32":
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        else:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        return False
    except OSError:
        return sys.platform != "win32"
    return True
