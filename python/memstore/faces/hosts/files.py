"""Reads and replaces the settings files of hosts, which other programs use at the same time."""

from __future__ import annotations

import os
import re
import stat
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

from memstore.errors import MemstoreError
from memstore.lazy import lazy_import

if TYPE_CHECKING:
    import difflib
    import tempfile
    from collections.abc import Sequence
else:  # hooks only sync a folder
    difflib = lazy_import("difflib")
    tempfile = lazy_import("tempfile")

MAX_BYTES: Final = 64 << 20
"""Claude Code's file, which also holds history, is the largest: some megabytes."""
SECRET: Final = re.compile(r"Bearer [\w.~+/=-]+")
TEMPORARY: Final = ".memstore"
"""How the name of a file ends that is about to replace another one."""


class SettingsUnreadable(MemstoreError):
    """A host's settings file cannot be read or written; it was not changed."""


class SettingsChanged(SettingsUnreadable):
    """Another program changed the file after it was read."""


def read(file: Path) -> str | None:
    """Return a file's text with its original line ends; ``None`` if the file is missing."""
    try:
        # Without waiting for a writer if the file is a pipe.
        flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
        with open(os.open(file, flags), "rb") as held:
            status = os.fstat(held.fileno())
            if not stat.S_ISREG(status.st_mode):
                raise SettingsUnreadable(f"{str(file)!r} is not a regular file")
            if status.st_size > MAX_BYTES:
                size = f"{status.st_size / 2**20:,.0f} MB"
                raise SettingsUnreadable(f"{str(file)!r} is too large for settings: {size}")
            return held.read(MAX_BYTES + 1).decode("utf-8")
    except FileNotFoundError:
        return None
    except OSError as error:
        raise SettingsUnreadable(f"{str(file)!r} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise SettingsUnreadable(f"{str(file)!r} is not UTF-8: {error}") from None


def target(file: Path) -> Path:
    """Return the file that a path leads to: settings are often links into a repository."""
    return Path(os.path.realpath(file))


def missing_folders(file: Path) -> list[str]:
    """Return the folders that must be created for a file, innermost first."""
    return [str(folder) for folder in target(file).parents if not folder.exists()]


def write(file: Path, text: str | None, *, over: str | None, private: bool = False) -> None:
    """Replace a file's text; ``None`` means that there is no file.

    Args:
        over: the text that is replaced.
        private: let nobody else read the file from now on.

    Raises:
        SettingsChanged: its text is not ``over``.
    """
    try:
        if text is None:
            _check(file, over)
            target(file).unlink(missing_ok=True)
            sync_folder(target(file).parent)
        else:
            target(file).parent.mkdir(parents=True, exist_ok=True)
            _replace(file, text, over, private)
    except OSError as error:
        raise SettingsUnreadable(f"{str(file)!r} cannot be written: {error.strerror}") from None


def _replace(file: Path, text: str, over: str | None, private: bool) -> None:
    place = target(file)
    handle, name = tempfile.mkstemp(TEMPORARY, f".{place.name}.", place.parent)
    try:
        with open(handle, "wb") as new:
            new.write(text.encode())
            new.flush()
            os.fsync(new.fileno())
        if place.exists() and not private:
            os.chmod(name, stat.S_IMODE(place.stat().st_mode))
        _check(file, over)  # last, so that little can happen before the next line
        os.replace(name, place)
    except BaseException:
        with suppress(OSError):
            os.unlink(name)
        raise
    sync_folder(place.parent)


def _check(file: Path, over: str | None) -> None:
    if read(file) != over:
        raise SettingsChanged(f"{str(file)!r} was changed by another program in the meantime")


def sync_folder(folder: str | Path) -> None:
    """Make the names of a folder's files last through a power failure, where that is possible."""
    with suppress(OSError):  # on Windows a folder cannot be opened
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def sweep(file: Path) -> None:
    """Remove what a killed process left beside a file while replacing it."""
    place = target(file)
    left = re.compile(rf"\.{re.escape(place.name)}\.[a-z0-9_]{{8}}{re.escape(TEMPORARY)}")
    with suppress(OSError):
        for other in os.listdir(place.parent):
            if left.fullmatch(other) and stat.S_ISREG(os.lstat(place.parent / other).st_mode):
                os.unlink(place.parent / other)


def remove_folders(folders: Sequence[str], file: Path) -> None:
    """Remove those folders created for a file that are empty and above it, innermost first."""
    above = {*map(str, target(file).parents)}
    for folder in folders:
        if folder in above:
            with suppress(OSError):
                os.rmdir(folder)


def difference(file: str, old: str | None, new: str | None) -> list[str]:
    """Return a diff without context lines, which may contain private settings, and tokens."""
    lines = difflib.unified_diff(
        (old or "").splitlines(),
        (new or "").splitlines(),
        f"{file}{' (no such file)' if old is None else ''}",
        f"{file}{' (removed)' if new is None else ''}",
        n=0,
        lineterm="",
    )
    return [SECRET.sub("Bearer …", line) for line in lines if not line.startswith("@@")]
