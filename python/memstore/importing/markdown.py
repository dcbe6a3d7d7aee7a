"""Folders of Markdown: basic-memory, Obsidian, what agents are told by ``CLAUDE.md``, and the files
in which hosts remember."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, Final

from memstore.domain.clock import to_text
from memstore.errors import TransferError
from memstore.importing import memory_files, texts, values
from memstore.importing.bundle import Bundle, part_of
from memstore.importing.records import (
    Damaged,
    Dump,
    Imported,
    Skipped,
    identity,
    key,
    time_given,
)
from memstore.text import notes
from memstore.text.notes import NoteRelation

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from datetime import datetime
    from pathlib import Path

    from memstore.database.engine import Progress
    from memstore.importing.bundle import ExportFile
    from memstore.importing.records import Found
    from memstore.text.notes import Note

NAME: Final = "markdown"
SUFFIXES: Final = (".md", ".markdown")
INSTRUCTIONS: Final = frozenset({"claude.md", "claude.local.md", "agents.md", "gemini.md"})
"""Files that tell an agent what to do, in lower case."""
SEEN: Final = frozenset({".claude", ".github"})
"""Folders with a dot whose notes are read; ``.obsidian`` and others are not."""
TIMES: Final = ("created", "created_at", "date")
MAX_BYTES: Final = 10_000_000
LONG: Final = f"longer than {MAX_BYTES:,} bytes"
EXPECTED: Final = "a note in Markdown is expected, or a folder of them"
DEPTH: Final = 5
"""How far files are followed that instruction files name, as their hosts do."""


def found(path: Path, progress: Progress | None = None) -> Iterator[Found]:
    bundle = Bundle(path)
    parts = [part for part in bundle.parts if _is_note(part.name)]
    if not parts:
        place = "the folder" if path.is_dir() else "the file"
        raise TransferError(
            f"{path} holds no Markdown: {EXPECTED}, whose name ends with .md or .markdown; nothing "
            "was imported",
            place=place,
        )
    yield from _Folder(bundle, parts, path).read(progress)
    for link in bundle.links:
        yield Skipped("links", link, is_known=False)


def _instructs(name: str) -> bool:
    return PurePosixPath(name).name.lower() in INSTRUCTIONS


def _is_note(name: str) -> bool:
    *folders, file = PurePosixPath(name).parts
    hidden = any(one.startswith(".") and one not in SEEN for one in folders)
    return file.lower().endswith(SUFFIXES) and not hidden and not file.startswith(".")


class _Folder:
    def __init__(self, bundle: Bundle, parts: list[ExportFile], path: Path) -> None:
        self._bundle = bundle
        self._parts = {part.name: part for part in parts}
        self._single = not path.is_dir() and bundle.archive is None
        self._path = path
        self._number = 0
        self._memory: set[PurePosixPath] = set()
        """The folders in which a host remembers."""

    def read(self, progress: Progress | None) -> Iterator[Found]:
        # Files that instruction files name are instructions, too: name and how far they are.
        followed = {
            name: 0 for name in self._parts if PurePosixPath(name).name.lower() in INSTRUCTIONS
        }
        waiting = list(followed)
        while waiting:
            name = waiting.pop()
            for target, reason in self._imports(name):
                if reason:
                    yield Skipped(reason, f"{name}: @{target}")
                elif target not in followed and followed[name] < DEPTH:
                    followed[target] = followed[name] + 1
                    waiting.append(target)
        self._memory = self._memory_folders()
        total = len(self._parts)
        for number, (name, part) in enumerate(sorted(self._parts.items()), 1):
            try:
                yield from list(self._file(part, name in followed))
            except (ValueError, TypeError) as error:
                yield Damaged(name, self._damage(part) or str(error))
            if progress is not None:
                progress(number, total)

    def _imports(self, name: str) -> Iterator[tuple[str, str | None]]:
        """Yield the files that one names, and why one is not read."""
        note = self._note(self._parts[name])
        for _, given in () if isinstance(note, str) else notes.imports(note):
            target = _inside(PurePosixPath(name).parent, given)
            if target is None:
                yield given, "files outside of the folder"
                continue
            if target not in self._parts and self._single and target.lower().endswith(SUFFIXES):
                file = self._path.parent / target
                beside = file.resolve().is_relative_to(self._path.parent.resolve())
                if file.is_file() and not file.is_symlink() and beside:
                    self._parts[target] = part_of(target, file)
            missing = None if target in self._parts else "files that instructions name"
            yield target, missing

    def _note(self, part: ExportFile) -> Note | str:
        """Return a note, or what the file is if it cannot be read as one."""
        if part.size > MAX_BYTES:
            return LONG
        with self._bundle.bytes(part) as file:
            raw = file.read(MAX_BYTES + 1)
        if why := texts.why_no_text(raw):
            return f"files {why}"
        return notes.read(texts.decoded(raw), PurePosixPath(part.name).stem)

    def _damage(self, part: ExportFile) -> str | None:
        with self._bundle.bytes(part) as file:
            return texts.damage(file.read(MAX_BYTES + 1))

    def _file(self, part: ExportFile, instructing: bool) -> Iterator[Found]:
        note = self._note(part)
        if isinstance(note, str):
            yield Damaged(part.name, note) if note == LONG else Skipped(note, part.name)
            return
        if not note.body.strip():
            yield Skipped("empty notes", part.name)
            return
        dump = Dump(NAME, _time_of(note) or part.written_at)
        if PurePosixPath(part.name).parent in self._memory or memory_files.is_memory(note):
            yield from self._memories(dump, part, note)
            return
        for line in notes.too_long(note):
            yield Skipped("items and paragraphs that are too long", f"{part.name}, line {line}")
        tags = values.tags(note.front.get("tags"))
        yield self._record(
            dump, part, "note", note.body,
            {"name": values.name(note.title), "tags": [tag.lstrip("#") for tag in tags],
             "metadata": {"front": note.front} if note.front else None},
        )  # fmt: skip
        yield from (
            self._instructions(dump, part, note) if instructing else self._claims(dump, part, note)
        )

    def _memory_folders(self) -> set[PurePosixPath]:
        found: set[PurePosixPath] = set()
        for name, part in self._parts.items():
            if PurePosixPath(name).parent not in found:
                note = self._note(part)
                if not isinstance(note, str) and memory_files.is_memory(note):
                    found.add(PurePosixPath(name).parent)
        return found

    def _memories(self, dump: Dump, part: ExportFile, note: Note) -> Iterator[Found]:
        """Yield what a host remembers in a file; it is no note of a person's."""
        read = memory_files.read(note, PurePosixPath(part.name).name)
        for line, reason in read.left_out:
            yield Skipped(reason, f"{part.name}, line {line}")
        for one in read.memories:
            columns = {
                "subject": one.subject,
                "category": one.category,
                "metadata": one.metadata,
                "valid_at": to_text(dump.written_at),
            }
            yield self._record(dump, part, "fact", one.content, columns, one.line)

    def _claims(self, dump: Dump, part: ExportFile, note: Note) -> Iterator[Found]:
        for one in notes.claims(note):
            about: dict[str, Any] = {"context": one.context} if one.context else {}
            if isinstance(one, NoteRelation):
                content = f"{note.title} {one.kind.replace('_', ' ')} {one.target}"
                category = "relation"
                about["relation"] = {"from": note.title, "type": one.kind, "to": one.target}
            else:
                content, category = one.text, one.category
                about |= {"tags": list(one.tags)} if one.tags else {}
            columns = {"subject": note.title, "category": category, "metadata": about}
            yield self._record(dump, part, "fact", content, columns, one.line)

    def _instructions(self, dump: Dump, part: ExportFile, note: Note) -> Iterator[Found]:
        for one in notes.instructions(note):
            headings = [name for name in one.headings if name != note.title]
            columns = {
                "subject": note.title,
                "category": "instruction",
                "metadata": {"headings": list(one.headings)} if one.headings else None,
            }
            content = ": ".join([*headings, one.text])
            yield self._record(dump, part, "fact", content, columns, one.line)

    def _record(
        self,
        dump: Dump,
        part: ExportFile,
        kind: str,
        content: str,
        columns: Mapping[str, Any],
        line: int | None = None,
    ) -> Imported:
        self._number += 1
        known = identity(NAME, kind, part.name, str(columns.get("subject", "")), content)
        whole = {
            "content": content,
            "source": NAME,
            "idempotency_key": key(NAME, known),
            **columns,
        }
        make = dump.episode if kind == "note" else dump.fact
        origin = {"id": part.name, "line": line}
        place = part.name if line is None else f"{part.name}, line {line}"
        return Imported(place, make(self._number, known, whole, origin))


def _inside(folder: PurePosixPath, given: str) -> str | None:
    """Return the path of a file in the folder; ``None`` if it leads out of it."""
    if given.startswith(("~", "/")) or ":" in given or "\\" in given:
        return None
    found: list[str] = list(folder.parts)
    for part in PurePosixPath(given).parts:
        if part == "..":
            if not found:
                return None
            found.pop()
        elif part != ".":
            found.append(part)
    return "/".join(found)


def _time_of(note: Note) -> datetime | None:
    for name in TIMES:
        given = note.front.get(name)
        if isinstance(given, str) and given:
            try:
                return time_given(given, name)
            except ValueError:
                continue
    return None
