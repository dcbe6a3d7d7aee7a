"""The Markdown files in which hosts remember by themselves, read as facts.

Claude Code writes a file for each fact, with a ``type`` in its front matter, and an index of them;
Gemini CLI writes lists, and Codex groups of tasks with sections. A file of a single fact is that
fact, whatever is in it; of any other, each item, paragraph and row is one.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from memstore.named import NamedTuple
from memstore.text import notes

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from memstore.text.notes import Note

INDEX: Final = "MEMORY.md"

USER, FEEDBACK, PROJECT, REFERENCE = "user", "feedback", "project", "reference"
TYPES: Final = (USER, FEEDBACK, PROJECT, REFERENCE)
NAMED: Final = frozenset({"name", "description"})
OF_MEMORIES: Final = NAMED | {"type"}
PREFERENCE, IDENTITY = "preference", "identity"
CATEGORIES: Final[Mapping[str, str]] = {
    FEEDBACK: PREFERENCE,
    PROJECT: PROJECT,
    REFERENCE: REFERENCE,
}
"""Of a type; what is about the user is a preference or says who they are."""

LIKES: Final = re.compile(
    r"\b(prefer|like|want|love|favou?r|dislike|hate|avoid|rather|enjoy)|\b(always|never)\b",
    re.IGNORECASE,
)
"""What a preference of a user is known by."""

ABOUT_USER: Final = "user"
"""The subject of what is about the user."""

POINTER: Final = re.compile(r"\[[^\]]*\]\((?!\w+://)[^)\s]+\.md(?:#[^)]*)?\)", re.IGNORECASE)
"""A line of an index, such as ``[Title](file.md) — hook``."""

TASK_GROUP: Final = "Task Group:"
OF_CODEX: Final[Mapping[str, str]] = {
    "user preferences": PREFERENCE,
    "reusable knowledge": PROJECT,
    "failures and how to do differently": PROJECT,
}
"""The sections of Codex' ``MEMORY.md`` that say something; the others lead to its sources."""
TASK_NUMBERS: Final = re.compile(r"(?:\s*\[Task[^\]]*\])+$")
APPLIES: Final = re.compile(r"(?:^|\s)applies_to:\s*cwd=([^;\s][^;]*)")

EVERYWHERE: Final = "~"
"""The folder of what names none: the home folder is no project."""

MAX_WHOLE: Final = 4_000
"""Characters of a file without a type that is one fact; a longer one is read by items."""


class FileFact(NamedTuple):
    """A fact in a file of a host."""

    line: int
    content: str
    subject: str
    category: str
    metadata: dict[str, Any] | None = None
    folder: str | None = None
    """The working folder that it is about, if it names one: only Codex keeps all in one file."""


class ReadFile(NamedTuple):
    memories: list[FileFact]
    left_out: list[tuple[int, str]]
    """The lines of what is no fact, with the reasons."""
    is_single: bool = False
    """Whether the whole file is one fact."""


def type_of(note: Note) -> str | None:
    """Return the type that a host gave a memory; ``None`` if the note is none."""
    about = note.front.get("metadata")
    if isinstance(about, dict):
        given = about.get("type")
    else:  # as Claude Code wrote it at first; a person's note may have a type, and more
        given = note.front.get("type") if note.front.keys() <= OF_MEMORIES else None
    kind = given.strip().lower() if isinstance(given, str) else ""
    return kind if kind in TYPES and note.front.keys() >= NAMED else None


def is_memory(note: Note) -> bool:
    """Return whether a note is a file that a host keeps one fact in."""
    return type_of(note) is not None


def read(note: Note, name: str, category: str = PROJECT) -> ReadFile:
    """Read a file of a host's memory.

    Args:
        name: its name, without folders.
        category: of what has no type.
    """
    kind = type_of(note)
    if kind is None and name != INDEX and _is_short_note(note, name):
        kind = ""
    if kind is not None:
        return _single(note, kind, category)
    found: list[FileFact] = []
    left_out = [(line, "items and paragraphs that are too long") for line in notes.too_long(note)]
    is_of_codex = any(_is_group(block.headings) for block in note.blocks)
    folder, group = None, ""
    for one in notes.instructions(note):
        if is_of_codex:
            if one.headings[:1] != (group,):
                folder, group = EVERYWHERE, (one.headings or ("",))[0]
            if applies := APPLIES.search(one.text):
                folder = applies[1].strip()
            section = one.headings[-1].casefold() if one.headings else ""
            if section not in OF_CODEX:
                left_out.append((one.line, "sources and keywords of Codex"))
                continue
            text = TASK_NUMBERS.sub("", one.text)
            found.append(_item(one.line, one.headings[:1], text, OF_CODEX[section], folder))
        elif POINTER.match(one.text):
            left_out.append((one.line, "lines of an index"))
        else:
            found.append(_item(one.line, one.headings, one.text, category))
    return ReadFile(found, left_out)


def _is_group(headings: tuple[str, ...]) -> bool:
    return bool(headings) and headings[0].startswith(TASK_GROUP)


def _is_short_note(note: Note, name: str) -> bool:
    """Return whether a note beside the index is about one thing: instructions have another name."""
    return name.lower() != "gemini.md" and len(note.body) <= MAX_WHOLE


def _single(note: Note, kind: str, category: str) -> ReadFile:
    given = note.front.get("name")
    name = given.strip() if isinstance(given, str) and given.strip() else note.title
    description = note.front.get("description")
    said = description.strip() if isinstance(description, str) else ""
    content = note.body.strip() or said
    if not content:
        return ReadFile([], [(note.first_line, "memories without a text")], is_single=True)
    if kind == USER:
        category = PREFERENCE if LIKES.search(f"{name} {said} {note.body}") else IDENTITY
    elif kind:
        category = CATEGORIES[kind]
    about = {"name": name, "description": said, "type": kind}
    subject = ABOUT_USER if kind in (USER, FEEDBACK) else name
    metadata = {key: value for key, value in about.items() if value and value != subject}
    one = FileFact(note.first_line, content, subject, category, metadata or None)
    return ReadFile([one], [], is_single=True)


def _item(
    line: int,
    headings: tuple[str, ...],
    text: str,
    category: str,
    folder: str | None = None,
) -> FileFact:
    above = [*_without(headings)]
    subject = ABOUT_USER if category == PREFERENCE else (above[-1] if above else PROJECT)
    metadata = {"headings": above} if above else None
    return FileFact(line, text, subject, category, metadata, folder)


def _without(headings: tuple[str, ...]) -> Iterator[str]:
    """Yield the headings that say something."""
    for name in headings:
        bare = name.removeprefix(TASK_GROUP).strip()
        if bare and bare.casefold() not in ("memory", "memories", "gemini added memories"):
            yield bare
