"""Edits of a settings text that can be undone exactly, also after edits by somebody else.

Every edit is checked before it is used: the new text says what the old one said except for the
edit, and undoing it gives the old text.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from memstore.faces.hosts import jsonc
from memstore.faces.hosts.files import SettingsUnreadable
from memstore.faces.hosts.placing import PlacedValue, at, with_value
from memstore.frozen import frozen
from memstore.lazy import lazy_import

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from types import ModuleType

    from memstore.faces.hosts import toml
else:
    toml = lazy_import("memstore.faces.hosts.toml")

How = Literal["put", "append", "require"]


@frozen
class Edit:
    """A value to put in a file, or an element to append to an array.

    A required value is put if there is none, and stays as long as others need it.
    """

    path: tuple[str, ...]
    value: Any
    how: How = "put"


@dataclass
class AppliedEdit:
    """An edit that was carried out."""

    path: list[str]
    value: Any
    how: How
    placed: PlacedValue
    beside: list[str] = field(default_factory=list)
    """For a required value, the members that were beside it."""

    def __post_init__(self) -> None:
        self.placed = PlacedValue(*self.placed)

    @property
    def edit(self) -> Edit:
        return Edit(tuple(self.path), self.value, self.how)


@dataclass
class ChangedFile:
    """The changes to a file: enough to undo them, even if it was changed since."""

    file: str
    states: list[list[AppliedEdit]]
    """What may be in the file, newest first: several only if a change was interrupted."""
    created: bool = False
    """Whether there was no such file."""
    folders: list[str] = field(default_factory=list)
    """The folders that were created for it."""

    @property
    def applied(self) -> list[AppliedEdit]:
        return self.states[0]


def language_of(file: Path) -> ModuleType:
    return toml if file.suffix == ".toml" else jsonc


def edited(file: Path, text: str, edits: Iterable[Edit]) -> tuple[str, list[AppliedEdit]]:
    """Return a file's text with the edits, and those that were necessary."""
    language = language_of(file)
    made = []
    try:
        for edit in edits:
            if not stands(language.value(text), edit):
                text, done = _with(language, text, edit)
                made.append(done)
    except ValueError as error:
        raise SettingsUnreadable(f"{str(file)!r}: {error}") from None
    return text, made


def stands(value: Any, edit: Edit) -> bool:
    """Return whether settings say what an edit wants."""
    try:
        there = at(value, edit.path)
    except KeyError:
        return False
    if edit.how == "append":
        return isinstance(there, list) and edit.value in there
    return edit.how == "require" or bool(there == edit.value)


def undone(changed: ChangedFile, text: str | None) -> str | None:
    """Return a file's text without our changes; ``None`` if the file was created for them."""
    if text is None:
        return None
    language = language_of(Path(changed.file))
    try:
        value = language.value(text)

        def standing(state: Sequence[AppliedEdit]) -> int:
            return sum(stands(value, made.edit) for made in state)

        for state in sorted(changed.states, key=standing, reverse=True):
            for made in reversed(state):
                text = _without(language, text, made)
    except ValueError as error:
        raise SettingsUnreadable(f"{changed.file!r}: {error}") from None
    return None if changed.created and not text.strip("\ufeff \t\r\n") else text


def _with(language: ModuleType, text: str, edit: Edit) -> tuple[str, AppliedEdit]:
    before = language.value(text)
    element = {"element": True} if edit.how == "append" else {}
    new, placed = language.put(text, edit.path, edit.value, **element)
    made = AppliedEdit([*edit.path], edit.value, edit.how, placed)
    if edit.how == "require" and isinstance(before, dict):
        made.beside = [*before]
    if language.value(new) != _value_with(before, edit) or _without(language, new, made) != text:
        name = ".".join(edit.path)
        raise ValueError(f"{name} cannot be added without changing other settings")
    return new, made


def _value_with(value: Any, edit: Edit) -> Any:
    if edit.how != "append":
        return with_value(value, edit.path, edit.value)
    try:
        held = at(value, edit.path)
    except KeyError:
        held = []
    return with_value(value, edit.path, [*held, edit.value])


def _without(language: ModuleType, text: str, applied: AppliedEdit) -> str:
    """Return the text without an edit, which is checked unless somebody changed our value."""
    if applied.how == "require" and {*(language.value(text) or {})} - {
        *applied.beside,
        applied.path[0],
    }:
        return text
    whole = applied.how == "append"
    return str(language.without(text, applied.path, applied.value, applied.placed, element=whole))
