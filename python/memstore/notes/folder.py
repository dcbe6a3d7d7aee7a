"""Writing the notes: only files that changed, and none that was not written here."""

from __future__ import annotations

import hashlib
import json
import os
import re
import tempfile
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from memstore.errors import NotFound, StorageError
from memstore.notes import page
from memstore.text.folding import folded, subject_key

if TYPE_CHECKING:
    from collections.abc import Iterable

    from memstore.domain.records import Fact, ScopeSelection
    from memstore.store.store import Store

MANIFEST: Final = ".memstore-notes.json"
"""The list of the files that were written here, with the hash of each."""
FORBIDDEN: Final = re.compile(r'[\\/:*?"<>|#^\[\]\x00-\x1f\x7f]')
RESERVED: Final = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?", re.IGNORECASE)
MAX_STEM: Final = 100
MAX_WORDS: Final = 5
"""Words of a subject that is linked to from texts."""
MIN_LINKED: Final = 3
"""Characters of a subject that is linked to from texts."""
WORD: Final = re.compile(r"\w+")


@dataclass(slots=True)
class Written:
    """What was done to the files of a folder."""

    written: list[str] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    unchanged: int = 0
    edited: list[str] = field(default_factory=list)
    """Files with edits that were not imported yet: kept, without what was erased."""
    foreign: list[str] = field(default_factory=list)
    """Files of somebody else where a note would be: not touched."""

    def to_dict(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__slots__}


def is_notes_folder(folder: Path) -> bool:
    return (folder / MANIFEST).is_file()


def write_notes(store: Store, folder: Path, *, scope: ScopeSelection = "all") -> Written:
    """Write a note for each subject of the namespace.

    Raises:
        StorageError: the folder cannot be written, or holds the notes of another namespace.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        known = read_manifest(folder, store.namespace)
        return _write(store, folder, known, scope)
    except OSError as error:
        raise StorageError(f"cannot write notes in {str(folder)!r}: {error}") from error


def read_manifest(folder: Path, namespace: str) -> dict[str, str]:
    """Return the files written here, with their hashes."""
    file = folder / MANIFEST
    if not file.is_file():
        return {}
    try:
        value = json.loads(file.read_text("utf-8"))
        files, home = dict(value["files"]), value["namespace"]
    except (ValueError, KeyError, TypeError, OSError) as error:
        raise StorageError(f"{str(file)!r} is damaged; remove it, and name a new folder") from error
    if home != namespace:
        raise StorageError(f"{str(folder)!r} holds the notes of the namespace {home!r}")
    return {str(name): str(known) for name, known in files.items() if Path(name).name == name}


def hash_of(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _write(store: Store, folder: Path, known: dict[str, str], scope: ScopeSelection) -> Written:
    done = Written()
    files: dict[str, str] = {}
    pages = _pages(store, scope)
    for name in sorted({*known, *pages}):
        here = _text_of(folder / name)
        wanted = pages.get(name)
        if here is not None and name not in known:
            done.foreign.append(name)
        elif here is not None and hash_of(here) != known[name]:
            kept = page.without(here, _erased(store, here))
            if kept != here:
                _replace(folder / name, kept)
            files[name] = known[name]
            done.edited.append(name)
        elif wanted is None:
            with suppress(FileNotFoundError):
                (folder / name).unlink()
            done.removed.append(name)
        else:
            files[name] = hash_of(wanted)
            if here == wanted:
                done.unchanged += 1
            else:
                _replace(folder / name, wanted)
                done.written.append(name)
    manifest = json.dumps({"files": files, "namespace": store.namespace}, indent=1, sort_keys=True)
    if _text_of(folder / MANIFEST) != manifest + "\n":
        _replace(folder / MANIFEST, manifest + "\n")
    return done


def _pages(store: Store, scope: ScopeSelection) -> dict[str, str]:
    subjects: dict[str, list[Fact]] = {}
    for fact in store.list(scope=scope, limit=None):
        subjects.setdefault(subject_key(fact.subject), []).append(fact)
    names: dict[str, str] = {}
    for subject, facts in sorted(subjects.items()):
        names[subject] = _file_name(facts[-1].subject, subject, names.values())
    found = {}
    for subject, facts in subjects.items():
        shown = min(facts, key=lambda fact: fact.id).subject
        earlier = [
            fact
            for fact in store.history(subject=shown, scope=scope)
            if fact.status not in ("active", "erased") and fact.content
        ]
        linked = _linked(subject, facts, names)
        found[names[subject]] = page.render(shown, facts, earlier, linked, _sentences(store, facts))
    return found


def _linked(own: str, facts: Iterable[Fact], names: dict[str, str]) -> set[str]:
    """Return the notes of other subjects that the facts name."""
    found = set()
    for fact in facts:
        words = WORD.findall(folded(fact.content))
        for length in range(1, MAX_WORDS + 1):
            for start in range(len(words) - length + 1):
                subject = " ".join(words[start : start + length])
                if subject != own and subject in names and len(subject) >= MIN_LINKED:
                    found.add(names[subject].removesuffix(".md"))
    return found


def _sentences(store: Store, facts: Iterable[Fact]) -> dict[int, str]:
    found = {}
    for fact in facts:
        if fact.episode_id is None:
            continue
        for leg in store.support(fact.id):
            if leg.episode_id is None or leg.start is None or leg.stop is None:
                continue
            episode = store.episodes.get(leg.episode_id)
            if episode is not None and episode.content:
                found[fact.id] = page.sentence(episode.content, leg.start, leg.stop)
                break
    return found


def _file_name(subject: str, key: str, taken: Iterable[str]) -> str:
    stem = " ".join(FORBIDDEN.sub("-", subject).split()).strip(". ")[:MAX_STEM].strip(". ")
    used = {name.casefold() for name in taken}
    changed = not stem or RESERVED.fullmatch(stem) or len(stem.encode()) > 2 * MAX_STEM
    if changed or f"{stem}.md".casefold() in used or stem.startswith("-"):
        stem = f"{stem[:40].strip('. -')} {hash_of(key)[:8]}".strip()
    return f"{stem}.md"


def _erased(store: Store, text: str) -> frozenset[int]:
    named = {int(one) for one in page.MARK.findall(text)}
    return frozenset(one for one in named if fact_of(store, one) is None)


def fact_of(store: Store, fact_id: int) -> Fact | None:
    """Return a fact; ``None`` if it was erased, or never was."""
    try:
        fact = store.get(fact_id)
    except NotFound:
        return None
    return fact if fact.content else None


def _text_of(file: Path) -> str | None:
    """Return what is there; a link or a folder counts as somebody else's text."""
    if file.is_symlink() or (file.exists() and not file.is_file()):
        return "\0"
    try:
        return file.read_bytes().decode("utf-8", "replace")
    except FileNotFoundError:
        return None


def _replace(file: Path, text: str) -> None:
    """Replace a file as a whole; readable by its owner alone, as the database is."""
    handle, name = tempfile.mkstemp(prefix=".memstore-", dir=file.parent)
    try:
        with open(handle, "w", encoding="utf-8", newline="\n") as opened:
            opened.write(text)
        os.replace(name, file)
    except BaseException:
        with suppress(OSError):
            os.unlink(name)
        raise
