"""Writing the notes: only files that changed, and none that was not written by this memory."""

from __future__ import annotations

import os
import re
import unicodedata
from dataclasses import dataclass, field
from functools import partial
from itertools import chain, count
from typing import TYPE_CHECKING, Any, Final

from memstore.domain.records import EVERYBODY
from memstore.errors import NotFound, StorageError
from memstore.notes import manifest, page
from memstore.notes.manifest import FORBIDDEN, RESERVED, SUFFIX, Proofs, hash_of
from memstore.notes.shared_folder import OTHER, SharedFolder
from memstore.store.store import standing_of
from memstore.text.folding import folded, subject_key

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from memstore.domain.records import Fact
    from memstore.notes.manifest import WrittenNote
    from memstore.store.store import Store

MAX_STEM: Final = 100
MAX_WORDS: Final = 5
"""Words of a subject that is linked to from texts."""
MIN_LINKED: Final = 3
"""Characters of a subject that is linked to from texts."""
WORD: Final = re.compile(r"\w+")
DIGITS: Final = 8
"""Of a hash, in a name that the subject alone cannot give."""


@dataclass(slots=True)
class Written:
    """What was done to the files of a folder."""

    written: list[str] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    unchanged: int = 0
    edited: list[str] = field(default_factory=list)
    """Files with edits that were not imported yet: kept, without what was erased."""
    foreign: list[str] = field(default_factory=list)
    """Files that this memory did not write, where a note would be: not touched."""
    keeping_erased: list[str] = field(default_factory=list)
    """Files that this memory did not write, or not under this name, which are notes with lines of
    facts that were erased: not touched, and to be looked at by a person."""
    elsewhere: dict[str, str] = field(default_factory=dict)
    """The names of the notes that are elsewhere because of these."""

    def to_dict(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__slots__}


@dataclass(slots=True)
class _Subject:
    """A subject that has current facts, and what its note says besides them."""

    shown: str
    named: str
    """As its newest fact writes it."""
    facts: list[Fact]
    earlier: list[Fact]
    sentences: dict[int, str]


def is_notes_folder(folder: Path) -> bool:
    """Return whether there is a list of notes, even one that cannot be read."""
    return os.path.lexists(folder / manifest.NAME)


def write_notes(store: Store, folder: Path) -> Written:
    """Write a note for each subject of the namespace, or of the owners that a store is of.

    Only files are replaced or removed that this memory wrote and nobody has changed since.

    Raises:
        StorageError: the folder cannot be written, holds the notes of another memory or namespace,
            or another process has been writing there for a minute. No note was changed.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with SharedFolder(folder, manifest.mark_of(store)) as opened, opened.locked():
            whose = store if standing_of(store).owners else store.of(EVERYBODY)
            return _Export(whose, opened).run()
    except OSError as error:
        raise StorageError(f"cannot write notes in {str(folder)!r}: {error}") from error


class _Export:
    """One export into a folder that no other export writes into meanwhile."""

    def __init__(self, store: Store, folder: SharedFolder) -> None:
        self._store = store
        self._folder = folder
        self._listed = manifest.read(folder, store)
        self._done = Written()
        self._here: dict[str, bytes | None] = {}
        """What is in the files that were looked at."""

    def run(self) -> Written:
        subjects = _subjects(self._store)
        ids = (fact.id for one in subjects.values() for fact in one.facts)
        self._proofs = Proofs.of(self._store, self._listed, ids)
        self._ours = {
            name: proven
            for name, states in self._listed.notes.items()
            if (proven := self._proofs.proven(name, states))
        }
        self._put_back()
        names, pages = self._pages(subjects)
        wanted = {
            names[key]: self._proofs.state(
                names[key], pages[names[key]], (fact.id for fact in one.facts)
            )
            for key, one in subjects.items()
        }
        after = self._intended(pages, wanted)
        intended = manifest.write(self._folder, self._store, self._listed, after)
        for name in sorted({*self._ours, *pages}):
            self._settle(name, pages.get(name), wanted.get(name), after, names.values())
        self._look_at_others({*self._ours, *pages}, names.values())
        manifest.write(self._folder, self._store, intended, after)
        return self._done

    # -- what is where -----------------------------------------------------------------------

    def _at(self, name: str) -> bytes | None:
        if name not in self._here:
            self._here[name] = self._folder.read(name)
        return self._here[name]

    def _is_ours(self, name: str, content: bytes) -> bool:
        """Return whether a file is as this memory wrote it; an empty one lost what it had."""
        states = self._ours.get(name, ())
        return bool(states) and (not content or hash_of(content) in {one.text for one in states})

    def _is_edited(self, name: str, content: bytes) -> bool:
        """Return whether a file is a note of this memory that somebody has edited."""
        if name not in self._ours or content == OTHER or self._is_ours(name, content):
            return False
        text = _decoded(content)
        known = {one for state in self._ours[name] for one in state.facts}
        read = page.read(text)
        return not known.isdisjoint(page.marks(text)) or (
            read is not None and not known.isdisjoint(read.ids)
        )

    def _is_taken(self, name: str, one: _Subject) -> bool:
        """Return whether there is something else at a place than the note of this subject.

        Another subject's note does not count, unless it has edits.
        """
        here = self._at(name)
        if here is None or self._is_ours(name, here):
            return False
        if not self._is_edited(name, here):
            return True
        facts = {fact.id for fact in (*one.facts, *one.earlier)}
        if not facts.isdisjoint(chain.from_iterable(state.facts for state in self._ours[name])):
            return False
        read = page.read(_decoded(here))  # the facts that it had may have been erased
        return read is None or subject_key(read.subject) != subject_key(page.one_line(one.shown))

    def _put_back(self) -> None:
        for name in self._folder.left_aside():
            self._folder.put_back(name, partial(self._is_ours, name))

    # -- names -------------------------------------------------------------------------------

    def _pages(self, subjects: Mapping[str, _Subject]) -> tuple[dict[str, str], dict[str, bytes]]:
        """Return the name of each subject's note, and the notes.

        A file that is not in the list may still be what would be written there, after the list was
        lost; if it is not, its place is taken.
        """
        taken: set[str] = set()
        while True:
            names = self._names(subjects, taken)
            pages = {
                key: page.render(
                    one.shown, one.facts, one.earlier, _linked(key, one.facts, names), one.sentences
                ).encode()
                for key, one in subjects.items()
            }
            differing = {
                names[key]
                for key, one in subjects.items()
                if self._at(names[key]) != pages[key] and self._is_taken(names[key], one)
            }
            if not differing:
                return names, {names[key]: text for key, text in pages.items()}
            taken |= differing

    def _names(self, subjects: Mapping[str, _Subject], taken: Collection[str]) -> dict[str, str]:
        spelt = {_fold(name): name for name in self._ours}
        used: set[str] = set()
        names: dict[str, str] = {}
        passed: dict[str, str] = {}
        for key, one in sorted(subjects.items()):
            for name in _candidates(one.named, key):
                # Where letter case does not matter, another spelling is the same file.
                name = spelt.get(_fold(name), name)
                if _fold(name) in used:
                    continue
                if name not in taken:
                    break
                passed.setdefault(name, key)
            used.add(_fold(name))
            names[key] = name
        self._done.foreign = sorted(passed)
        self._done.elsewhere = {name: names[key] for name, key in passed.items()}
        return names

    # -- writing -----------------------------------------------------------------------------

    def _intended(
        self, pages: Mapping[str, bytes], wanted: Mapping[str, WrittenNote]
    ) -> dict[str, Sequence[WrittenNote]]:
        """Return the list that is right at any moment of this export."""
        after: dict[str, Sequence[WrittenNote]] = {}
        for name, states in self._listed.notes.items():
            if self._at(name) is not None:
                after[name] = self._ours.get(name, states)
                if name not in self._ours and name not in self._done.foreign:
                    self._done.foreign.append(name)
        for name in self._listed.unproven:
            here = self._at(name)
            if here not in (None, pages.get(name)) and name not in self._done.foreign:
                self._done.foreign.append(name)
        for name, state in wanted.items():
            here = self._at(name)
            if here is None or here == pages[name]:
                after[name] = [state]
            elif state not in after[name] and not self._is_edited(name, here):
                after[name] = [*after[name], state]
        self._done.foreign.sort()
        return after

    def _settle(
        self,
        name: str,
        wanted: bytes | None,
        state: WrittenNote | None,
        after: dict[str, Sequence[WrittenNote]],
        names: Collection[str],
    ) -> None:
        """Bring one file to what is wanted, if it is still what it was taken for."""
        here = self._at(name)
        done = self._done
        if here is not None and here == wanted:
            done.unchanged += 1
        elif here is None and wanted is not None:
            if self._folder.create(name, wanted):
                done.written.append(name)
            else:
                done.foreign.append(name)  # it has come in the meantime
        elif here is None:
            return
        elif self._is_edited(name, here):
            content = self._without_erased(here, names) or wanted
            if content != here and not self._folder.replace(name, content, here.__eq__):
                content = here  # edited again in the meantime: the next export looks again
            if content is None:
                done.removed.append(name)
                after.pop(name, None)
            elif content == wanted and state is not None:
                done.written.append(name)
                after[name] = [state]
            else:
                done.edited.append(name)
            return
        elif not self._is_ours(name, here):
            if name not in done.foreign:
                done.foreign.append(name)  # another text is in the place of our note
            if here != OTHER:
                after.pop(name, None)
            return
        elif not self._folder.replace(name, wanted, partial(self._is_ours, name)):
            done.edited.append(name)  # by somebody, in the meantime
            return
        elif wanted is None:
            done.removed.append(name)
            after.pop(name, None)
        else:
            done.written.append(name)
        if state is not None:
            after[name] = [state]

    def _look_at_others(self, looked_at: Collection[str], names: Collection[str]) -> None:
        """Take what was erased out of renamed and copied notes that this memory wrote.

        Only the very bytes of a note in the list prove that. Other notes with lines of erased facts
        may be ours, edited, or another memory's, whose facts have the same ids: they are named.
        """
        texts = {state.text for states in self._ours.values() for state in states}
        for name in self._folder.names():
            if name in looked_at or not name.casefold().endswith(SUFFIX):
                continue
            here = self._folder.read(name)
            if not here or not here.startswith(b"---") or page.read(_decoded(here)) is None:
                continue
            if not self._names_erased(here):
                continue
            if hash_of(here) not in texts:
                self._done.keeping_erased.append(name)
                continue
            content = self._without_erased(here, names)
            if not self._folder.replace(name, content, here.__eq__):
                self._done.keeping_erased.append(name)  # edited in the meantime
            else:
                (self._done.removed if content is None else self._done.edited).append(name)

    def _names_erased(self, here: bytes) -> bool:
        named = page.marks(_decoded(here))
        known = {fact.id for fact in self._store.get_many(named)}
        return bool(self._store.transfer.uuids(named - known))

    def _without_erased(self, here: bytes, names: Collection[str]) -> bytes | None:
        """Return a note with edits without what was erased; ``None`` if nothing is left of it."""
        text = _decoded(here)
        named = page.marks(text)
        facts = self._store.get_many(named)
        erased = self._store.transfer.uuids(named - {fact.id for fact in facts})
        gone = {one.removesuffix(SUFFIX) for one in {*self._ours} - {*names}}
        kept = page.without(text, erased.keys(), _sentences(self._store, facts).keys(), gone)
        is_bare = kept != text and page.is_bare(kept)
        return None if is_bare else kept.encode("utf-8", "surrogateescape")


def _decoded(content: bytes) -> str:
    return content.decode("utf-8", "surrogateescape")


def _subjects(store: Store) -> dict[str, _Subject]:
    found: dict[str, list[Fact]] = {}
    for fact in store.list(limit=None):
        found.setdefault(subject_key(fact.subject), []).append(fact)
    subjects = {}
    for key, facts in found.items():
        shown = min(facts, key=lambda fact: fact.id).subject
        earlier = [
            fact
            for fact in store.history(subject=shown)
            if fact.status not in ("active", "erased") and fact.content
        ]
        named = facts[-1].subject
        subjects[key] = _Subject(shown, named, facts, earlier, _sentences(store, facts))
    return subjects


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
        for support in store.ledger.support(fact.id):
            if support.episode_id is None or support.start is None or support.stop is None:
                continue
            episode = store.episodes.get(support.episode_id)
            if episode is not None and episode.content:
                found[fact.id] = page.sentence(episode.content, support.start, support.stop)
                break
    return found


def _candidates(subject: str, key: str) -> Iterator[str]:
    """Yield names for a subject's note, the plain one first."""
    normal = unicodedata.normalize("NFC", subject)
    stem = " ".join(FORBIDDEN.sub("-", normal).split()).strip(". ")[:MAX_STEM].strip(". ")
    if manifest.is_note_name(stem + SUFFIX) and len(stem.encode()) <= 2 * MAX_STEM:
        yield stem + SUFFIX
    stem = stem[:40].strip(". -")
    if RESERVED.fullmatch(stem):
        stem = stem.replace(".", "-")
    stem = f"{stem} {hash_of(key.encode())[:DIGITS]}".strip()
    yield stem + SUFFIX
    yield from (f"{stem} {number}{SUFFIX}" for number in count(2))


def _fold(name: str) -> str:
    """Return a name as file systems compare it that ignore letter case and normal forms."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFD", name).casefold())


def fact_of(store: Store, fact_id: int) -> Fact | None:
    """Return a fact; ``None`` if it was erased, or never was."""
    try:
        return store.get(fact_id)
    except NotFound:
        return None
