"""Changes to a host's settings file that can be undone exactly."""

from __future__ import annotations

import difflib
import hashlib
import os
import tempfile
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

from memstore.errors import MemstoreError
from memstore.faces.hosts import jsonc
from memstore.frozen import frozen
from memstore.lazy import lazy_import

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from types import ModuleType

    from memstore.faces.hosts import toml
else:
    toml = lazy_import("memstore.faces.hosts.toml")

MISSING: Final = "(missing)"


class SettingsUnreadable(MemstoreError):
    """A host's settings file cannot be read or written; it was not changed."""


@frozen
class Edit:
    """A value to set in a file: a member, or an element to append to an array."""

    path: tuple[str, ...]
    value: Any
    how: Literal["put", "append"] = "put"


@dataclass
class Changed:
    """The changes made to a file: enough to undo them, even if it was changed since."""

    file: str
    edits: list[dict[str, Any]]
    """Each with ``before``, the previous value."""
    digest: str
    """Of the file after the change."""
    copy: str | None = None
    """The path of a copy of the original file; ``None`` if there was none."""
    folders: list[str] = field(default_factory=list)
    """The folders that were created for it."""


def language_of(file: Path) -> ModuleType:
    return toml if file.suffix == ".toml" else jsonc


def read(file: Path) -> str | None:
    """Return a file's text with its original line ends; ``None`` if the file is missing."""
    try:
        return file.read_bytes().decode("utf-8")
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsUnreadable(f"{str(file)!r} cannot be read: {error}") from None


def edited(file: Path, text: str | None, edits: Iterable[Edit]) -> tuple[str, list[dict[str, Any]]]:
    """Return a file's text with the edits applied, and the edits with the previous values."""
    language = language_of(file)
    text = text or ""
    done = []
    try:
        for edit in edits:
            if edit.how == "append" and _is_there(language, text, edit):
                continue
            done.append({**asdict(edit), "path": [*edit.path], "before": _value(file, text, edit)})
            change = language.append if edit.how == "append" else language.put
            text = change(text, edit.path, edit.value)
    except ValueError as error:
        raise SettingsUnreadable(f"{str(file)!r}: {error}") from None
    return text, done


def _is_there(language: ModuleType, text: str, edit: Edit) -> bool:
    try:
        return edit.value in language.value_at(text, edit.path)
    except (KeyError, TypeError, ValueError):
        return False


def _value(file: Path, text: str, edit: Edit) -> Any:
    if edit.how == "append" or not text.strip():
        return MISSING
    try:
        return language_of(file).value_at(text, edit.path)
    except (KeyError, TypeError):
        return MISSING


def undone(changed: Changed, text: str | None) -> str | None:
    """Return a file's text without our changes; ``None`` if the file was created for them.

    If the file was not changed since, that is the copy, byte for byte.
    """
    if text is None:
        return None
    if digest(text) == changed.digest:
        return None if changed.copy is None else read(Path(changed.copy))
    file = Path(changed.file)
    language = language_of(file)
    try:
        for edit in reversed(changed.edits):
            text = _without(language, text, edit)
    except ValueError as error:
        raise SettingsUnreadable(f"{changed.file!r}: {error}") from None
    return text


def _without(language: ModuleType, text: str, edit: dict[str, Any]) -> str:
    path: list[str | int] = [*edit["path"]]
    try:
        there = language.value_at(text, path)
        if edit["how"] == "append":
            path.append(there.index(edit["value"]))
        elif there != edit["value"]:
            return text  # our value was changed, so it stays
        elif edit["before"] != MISSING:
            return str(language.put(text, path, edit["before"]))
    except (KeyError, ValueError, AttributeError, TypeError):
        return text
    text = language.cut(text, path)
    while len(path) > 1 and _is_empty(language, text, path := path[:-1]):
        text = language.cut(text, path)
    return text


def _is_empty(language: ModuleType, text: str, path: Sequence[str | int]) -> bool:
    try:
        return not language.value_at(text, path)
    except KeyError:  # a table that only existed as the parent of others
        return False


def missing_folders(file: Path) -> list[str]:
    """Return the folders that must be created for a file, innermost first."""
    return [str(folder) for folder in file.parents if not folder.exists()]


def write(file: Path, text: str | None) -> None:
    """Write a text to a file; ``None`` removes the file."""
    if text is None:
        file.unlink(missing_ok=True)
        return
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        target = Path(os.path.realpath(file))  # settings are often links into a repository
        mode = target.stat().st_mode & 0o777 if target.exists() else 0o600
        handle, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
        try:
            with open(handle, "wb") as new:
                new.write(text.encode())
            os.chmod(name, mode)
            os.replace(name, target)
        except BaseException:
            with suppress(OSError):
                os.unlink(name)
            raise
    except OSError as error:
        raise SettingsUnreadable(f"{str(file)!r} cannot be written: {error.strerror}") from None


def remove_folders(folders: Sequence[str]) -> None:
    """Remove those folders created for a file that are empty, innermost first."""
    for folder in folders:
        with suppress(OSError):
            os.rmdir(folder)


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def difference(file: str, old: str | None, new: str | None) -> list[str]:
    """Return a diff without context lines, which may contain private settings."""
    lines = difflib.unified_diff(
        (old or "").splitlines(),
        (new or "").splitlines(),
        f"{file}{' (no such file)' if old is None else ''}",
        f"{file}{' (removed)' if new is None else ''}",
        n=0,
        lineterm="",
    )
    return [line for line in lines if not line.startswith("@@")]
