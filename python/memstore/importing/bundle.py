"""Reads the files of an export: one file, a folder, or a ZIP archive, without unpacking it.

An archive comes from outside, so its entries are checked before any of them is read: a name that
leads out of the archive, a link, or an entry that grows far beyond its size is an error.
"""

from __future__ import annotations

import stat
import zipfile
import zlib
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Final, TextIO, cast

from memstore.errors import StorageError, TransferError
from memstore.frozen import frozen
from memstore.importing import texts
from memstore.importing.texts import Followed

if TYPE_CHECKING:
    import re
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from memstore.database.engine import Progress
    from memstore.importing.records import Found
    from memstore.importing.texts import Peeking

MAX_ENTRIES: Final = 200_000
MAX_RATIO: Final = 50
"""How many times larger than the archive all entries together may be; chats compress to a tenth."""
SMALL: Final = 1_000_000
"""Bytes of all entries together that may be compressed as much as they like."""
MAX_BYTES: Final = 50_000_000_000
"""Bytes of all entries of an archive together."""
ENCRYPTED: Final = 1
"""The bit of an entry's flags that says so."""
OF_SYSTEM: Final = "__MACOSX"


@frozen
class ExportFile:
    """A file of an export."""

    name: str
    """Its path in the export, with slashes."""
    size: int
    """Bytes."""
    written_at: datetime


class Bundle:
    """The files of an export. Links in a folder are not followed, but listed."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.links: list[str] = []
        self.archive: zipfile.ZipFile | None = None
        if path.is_dir():
            self.root, self.parts = path, self._of_folder()
        elif zipfile.is_zipfile(path):
            self.root, self.parts = path, self._of_archive()
        else:
            self.root, self.parts = path.parent, [part_of(path.name, path)]

    @contextmanager
    def bytes(self, part: ExportFile) -> Iterator[Peeking]:
        """Open a file of the export.

        Raises:
            TransferError: the archive is damaged, or an entry is larger than it says.
        """
        if self.archive is None:
            with open(self.root / part.name, "rb") as file:
                yield file
            return
        try:
            with (
                zipfile.ZipFile(self.path) as archive,
                archive.open(_named(archive, part.name)) as entry,
            ):
                yield cast("Peeking", entry)
        except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError) as error:
            raise TransferError(
                f"the ZIP archive is damaged ({error}); nothing was imported", place=part.name
            ) from error

    @contextmanager
    def text(self, part: ExportFile) -> Iterator[TextIO]:
        """Open a file as text (:mod:`memstore.importing.texts`)."""
        with self.bytes(part) as raw, texts.opened(raw) as file:
            yield file

    def chosen(self, names: re.Pattern[str], expected: str) -> list[ExportFile]:
        """Return the files of these names; a file that was given by itself may have any name.

        Raises:
            TransferError: there is none.
        """
        single = not self.path.is_dir() and self.archive is None
        chosen = [part for part in self.parts if single or names.fullmatch(part.name)]
        if not chosen:
            raise TransferError(
                f"{self.path} holds no {expected}; nothing was imported", place="the export"
            )
        return chosen

    def records(
        self,
        parts: Sequence[ExportFile],
        read: Callable[[str, TextIO], Iterator[Found]],
        progress: Progress | None,
    ) -> Iterator[Found]:
        """Read files one after the other.

        Args:
            read: yields the records of a file, given how the places in it begin.
        """
        total, before = sum(part.size for part in parts), 0
        for part in parts:
            with self.bytes(part) as raw:
                followed = raw if progress is None else Followed(raw, progress, before, total)
                inside = "" if len(parts) == 1 else f"{part.name}: "
                with texts.opened(followed) as file:
                    yield from read(inside, file)
            before += part.size
            if progress is not None:
                progress(before, total)

    def _of_folder(self) -> list[ExportFile]:
        found: list[ExportFile] = []
        waiting = [self.path]
        while waiting:
            for child in waiting.pop().iterdir():
                name = child.relative_to(self.path).as_posix()
                if child.is_symlink():
                    self.links.append(name)
                elif child.is_dir():
                    waiting.append(child)
                elif child.is_file():
                    found.append(part_of(name, child))
        self.links.sort()
        return sorted(found, key=lambda part: part.name)

    def _of_archive(self) -> list[ExportFile]:
        try:
            self.archive = zipfile.ZipFile(self.path)
        except (zipfile.BadZipFile, OSError) as error:
            raise StorageError(f"cannot read {str(self.path)!r}: {error}") from error
        with self.archive as archive:
            entries = archive.infolist()
        if len(entries) > MAX_ENTRIES:
            raise _refused(self.path.name, f"has more than {MAX_ENTRIES:,} entries")
        for entry in entries:
            _check_entry(entry)
        if sum(entry.compress_size for entry in entries) > self.path.stat().st_size:
            raise _refused(self.path.name, "has entries that overlap")
        unpacked = sum(entry.file_size for entry in entries)
        if unpacked > max(SMALL, MAX_RATIO * self.path.stat().st_size):
            raise _refused(
                self.path.name,
                f"grows to {unpacked:,} bytes, more than {MAX_RATIO} times its size, as a ZIP bomb"
                " does: if you trust it, unpack it, and import the folder",
            )
        if unpacked > MAX_BYTES:
            raise _refused(self.path.name, f"holds more than {MAX_BYTES:,} bytes")
        return sorted(
            (
                ExportFile(entry.filename, entry.file_size, _time_of(entry))
                for entry in entries
                if not entry.is_dir() and not entry.filename.startswith(f"{OF_SYSTEM}/")
            ),
            key=lambda part: part.name,
        )


def part_of(name: str, file: Path) -> ExportFile:
    """Return a file of a folder as a part of an export."""
    about = file.stat()
    return ExportFile(name, about.st_size, datetime.fromtimestamp(about.st_mtime, UTC))


def _named(archive: zipfile.ZipFile, name: str) -> zipfile.ZipInfo:
    try:
        return archive.getinfo(name)
    except KeyError:
        raise zipfile.BadZipFile("it was changed while it was being read") from None


def _time_of(entry: zipfile.ZipInfo) -> datetime:
    try:
        return datetime(*entry.date_time, tzinfo=UTC)
    except ValueError:
        return datetime(1980, 1, 1, tzinfo=UTC)  # the earliest that a ZIP archive can name


def _check_entry(entry: zipfile.ZipInfo) -> None:
    """Refuse an entry that no export has."""
    # The original name: zipfile itself cuts a name at NUL, and turns backslashes on Windows.
    name = entry.orig_filename
    parts = PurePosixPath(name.replace("\\", "/")).parts
    if not parts or parts[0] == "/" or ":" in parts[0] or ".." in parts or "\0" in name:
        raise _refused(name, "has a name that leads out of the archive")
    if stat.S_ISLNK(entry.external_attr >> 16):
        raise _refused(name, "is a link")
    if entry.flag_bits & ENCRYPTED:
        raise _refused(name, "is encrypted: unpack the archive, and import the folder")


def _refused(name: str, reason: str) -> TransferError:
    return TransferError(f"{reason}; nothing was imported", place=repr(name)[1:-1])
