"""Facts that follow files which others write: the memories of hosts.

What is new in a file becomes a fact, a text that was changed there supersedes the fact that it was,
and what was removed ends its fact. It goes one way only: nothing is written into the files.

What a place (a folder of such files) held when it was last read is kept as the digests of its texts
with the UUIDs of their facts, in the file's own settings. So a fact that was deleted, superseded or
erased here does not come back from a file that still has its text. A digest has a secret of its own
and goes as soon as the text is gone from the file.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from functools import partial
from hashlib import blake2b
from secrets import token_hex
from typing import TYPE_CHECKING, Any, Final

from memstore.database import meta as meta_table
from memstore.database.tables import facts as fact_table
from memstore.domain import clock
from memstore.errors import InvalidArgument, InvalidArgumentType
from memstore.frozen import replace
from memstore.named import NamedTuple
from memstore.text.folding import folded

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from memstore.database.engine import Transaction
    from memstore.domain.records import Fact, NewFact
    from memstore.facts.checks import Prepared
    from memstore.facts.transactions import FactTransactions

SETTING: Final = "followed:"
"""The beginning of the settings' keys."""

AT_ONCE: Final = 50
"""Changes in one transaction, so that other writers need not wait long."""

ALIKE: Final = 0.5
"""The share of common words from which a new text is a correction of one that is gone."""

MAX_COMPARED: Final = 2_500
"""Pairs of texts of a file that are compared; of more, nothing counts as corrected."""


class Stated(NamedTuple):
    """A text of a file, as a fact."""

    file: str
    fact: NewFact
    is_whole: bool = False
    """Whether it is all that the file says: then a change of the file is a correction."""


class FilesReading(NamedTuple):
    """What the files of a place say now."""

    place: str
    """Names the place; another machine's folder is another place."""
    stated: Sequence[Stated]
    unread: frozenset[str] = frozenset()
    """Files that are there and were not read: nothing of them is removed."""
    is_complete: bool = True
    """Whether files that are not named are gone."""


@dataclass(slots=True)
class Followed:
    """What following a place did."""

    added: int = 0
    corrected: int = 0
    ended: int = 0
    known: int = 0
    """Texts that were new in the files, and known here."""
    refused: int = 0
    """Texts that the store did not take, such as one with a secret."""

    def __bool__(self) -> bool:
        return bool(self.added or self.corrected or self.ended or self.known or self.refused)


class KnownText(NamedTuple):
    """A text that a file had when it was last read."""

    file: str
    digest: str
    namespace: str
    uuid: str


@dataclass(slots=True)
class _PlaceState:
    """What a place held when it was last read."""

    salt: str
    texts: list[KnownText] = field(default_factory=list)

    @classmethod
    def of(cls, transaction: Transaction, key: str, salt: str) -> _PlaceState:
        """Read it; the salt is for a place that was never read."""
        stored = meta_table.get(transaction, key)
        if stored is None:
            return cls(salt)
        values = json.loads(stored)
        return cls(values["salt"], [KnownText(*one) for one in values["texts"]])

    def digest(self, content: str) -> str:
        said = " ".join(content.split()).encode()
        return blake2b(said, key=bytes.fromhex(self.salt), digest_size=16).hexdigest()

    def write(self, transaction: Transaction, key: str) -> None:
        value = {"salt": self.salt, "texts": self.texts}
        meta_table.put(transaction, key, json.dumps(value, separators=(",", ":")))


def follow(
    facts: FactTransactions, reading: FilesReading, alike: Callable[[str], Sequence[int]]
) -> Followed:
    """Bring the facts of a place up to date with its files; doing so again changes nothing.

    Args:
        facts: of the owners, and of the namespace that the place belongs to; what is about the user
            goes into the shared one.
        alike: returns the ids of facts that may say the same as a text.
    """
    done = Followed()
    refused: set[str] = set()
    whose = facts.standing.written
    key, salt = f"{SETTING}{_named(facts.namespace, reading.place, whose)}", token_hex(16)
    while True:
        with facts.reading() as transaction:
            state = _PlaceState.of(transaction, key, salt)
            change = _Change.between(transaction, state, reading, refused)
        if not change:
            return done
        prepared = _prepared(facts, change, refused, done)
        near = {digest: [*alike(new.content)] for digest, new in prepared.items()}
        follower = _Follower(facts, reading, prepared, near, refused, done)
        facts.perform(partial(follower.work, key, salt))


def _named(*parts: object) -> str:
    return blake2b("\0".join(map(str, parts)).encode(), digest_size=16).hexdigest()


def _prepared(
    facts: FactTransactions, change: _Change, refused: set[str], done: Followed
) -> dict[str, Prepared]:
    """Check and embed the first texts that are new; those that are refused are left out."""
    found: dict[str, Prepared] = {}
    for digest, stated in [*change.new.items()][:AT_ONCE]:
        try:
            [found[digest]] = facts.prepare([stated.fact])
        except (InvalidArgument, InvalidArgumentType):
            refused.add(digest)
            done.refused += 1
    return found


class _Change(NamedTuple):
    """What differs between the files and their state."""

    new: dict[str, Stated]
    """By their digests."""
    gone: list[KnownText]
    moved: dict[str, str]
    """The new files of texts that stand in another one, by their digests."""

    def __bool__(self) -> bool:
        return bool(self.new or self.gone or self.moved)

    @classmethod
    def between(
        cls, transaction: Transaction, state: _PlaceState, reading: FilesReading, refused: set[str]
    ) -> _Change:
        _forget_unknown(transaction, state)
        there = {state.digest(one.fact.content): one for one in reversed(reading.stated)}
        known = {one.digest: one for one in state.texts}
        new = {
            digest: one
            for digest, one in reversed(there.items())
            if digest not in known and digest not in refused
        }
        read = {one.file for one in reading.stated}
        kept = reading.unread - read
        gone = [
            one
            for one in state.texts
            if one.digest not in there
            and one.file not in kept
            and (reading.is_complete or one.file in read)
        ]
        moved = {
            digest: one.file
            for digest, one in there.items()
            if digest in known and known[digest].file != one.file
        }
        return cls(new, gone, moved)


def _forget_unknown(transaction: Transaction, state: _PlaceState) -> None:
    """Forget the texts whose facts do not exist any more, not even as erased ones."""
    homes: dict[str, list[str]] = {}
    for one in state.texts:
        homes.setdefault(one.namespace, []).append(one.uuid)
    known: set[str] = set()
    for home, uuids in homes.items():
        known |= fact_table.ids_of(transaction, home, uuids).keys()
    state.texts = [one for one in state.texts if one.uuid in known]


class _Follower:
    """Follows a place in one transaction, as far as the texts are prepared."""

    def __init__(
        self,
        facts: FactTransactions,
        reading: FilesReading,
        prepared: Mapping[str, Prepared],
        near: Mapping[str, Sequence[int]],
        refused: set[str],
        done: Followed,
    ) -> None:
        self._facts = facts
        self._reading = reading
        self._prepared = prepared
        self._near = near
        self._refused = refused
        self._done = done
        self._left = AT_ONCE
        self._transaction: Transaction
        self._is_first = False
        """Whether the place was never read, or held nothing."""

    def work(self, key: str, salt: str, transaction: Transaction) -> None:
        self._transaction = transaction
        # Another process may have followed the place in the meantime.
        state = _PlaceState.of(transaction, key, salt)
        self._is_first = not state.texts
        change = _Change.between(transaction, state, self._reading, self._refused)
        corrections = {new: old for old, new in self._corrections(change)}
        for digest, stated in change.new.items():
            new = self._prepared.get(digest)
            if new is None or not self._left:
                continue
            old = corrections.get(digest)
            known = self._store(stated, new, digest, old)
            if old is not None:
                state.texts.remove(old)
            state.texts.append(KnownText(stated.file, digest, known.namespace, known.uuid))
        waiting = {one for digest, one in corrections.items() if digest not in self._prepared}
        for one in change.gone:
            if one in state.texts and one not in waiting and self._left:
                state.texts.remove(one)
                self._end(one, key)
        state.texts = [
            one._replace(file=change.moved.get(one.digest, one.file)) for one in state.texts
        ]
        state.write(transaction, key)

    def _find(self, text: KnownText) -> Fact | None:
        return fact_table.find(self._transaction, text.namespace, uuid=text.uuid)

    def _corrections(self, change: _Change) -> Iterator[tuple[KnownText, str]]:
        """Yield what is gone with the digest of what stands in its place."""
        for file in dict.fromkeys(one.file for one in change.gone):
            old = [one for one in change.gone if one.file == file]
            new = {digest: one for digest, one in change.new.items() if one.file == file}
            if len(old) == len(new) == 1 and all(one.is_whole for one in new.values()):
                yield old[0], next(iter(new))
            elif len(old) * len(new) <= MAX_COMPARED:
                yield from self._alike(old, new)

    def _alike(
        self, old: Sequence[KnownText], new: Mapping[str, Stated]
    ) -> Iterator[tuple[KnownText, str]]:
        rated: list[tuple[float, int, str]] = []
        for place, text in enumerate(old):
            fact = self._find(text)
            was = "" if fact is None else fact.content
            for digest, stated in new.items() if was else ():
                share = _share(was, stated.fact.content)
                if share >= ALIKE:
                    rated.append((share, -place, digest))
        taken: set[int | str] = set()
        for _, place, digest in sorted(rated, reverse=True):
            if place not in taken and digest not in taken:
                taken |= {place, digest}
                yield old[-place], digest

    def _store(self, stated: Stated, new: Prepared, digest: str, old: KnownText | None) -> Fact:
        """Store a text that is new in a file, unless it is known; return its fact."""
        self._left -= 1
        before = None if old is None else self._find(old)
        newest = None
        if before is not None:
            newest = fact_table.chain(self._transaction, before.id)[-1]
        same = self._saying_the_same(new, digest, newest)
        if same is not None:
            self._done.known += 1
            return same
        if newest is None or newest.status not in ("active", "distrusted"):
            self._done.added += 1
            home = self._facts.home(self._transaction, new)
            return self._facts.writer(self._transaction, home).insert(new)
        self._done.corrected += 1
        writer = self._facts.writer(self._transaction, newest.namespace)
        # What was said here since is not what the file corrects: a person's word stays.
        evidence = (
            None if before is not None and newest.id == before.id else {FOLLOWED: stated.file}
        )
        return writer.insert(replace(new, supersedes=newest.id, any_subject=True), evidence)

    def _saying_the_same(self, new: Prepared, digest: str, newest: Fact | None) -> Fact | None:
        """Return an active fact that says the same, by whomever."""
        found = fact_table.get_many(self._transaction, self._near.get(digest, ()))
        others = [newest] if newest is not None else []
        for fact in [*others, *found.values()]:
            if (
                fact.status == "active"
                and fact.namespace in self._facts.namespaces
                and fact.scope == new.scope
                and folded(fact.content) == folded(new.content)
                and not fact_table.is_task(fact.subject, fact.metadata)
            ):
                return fact
        home = self._facts.home(self._transaction, new)
        said = fact_table.saying(self._transaction, home, new.subject, new.content, new.scope)
        # In a file that was imported, what is retired here may have been followed elsewhere.
        states = ("active", "superseded", "deleted") if self._is_first else ("active",)
        known = [one for one in said if one.status in states]
        return next((one for one in known if one.status == "active" or _is_followed(one)), None)

    def _end(self, text: KnownText, key: str) -> None:
        """End the fact of a text that is gone, unless it is there for another reason."""
        self._left -= 1
        fact = self._find(text)
        if fact is None or fact.status not in ("active", "distrusted"):
            return
        if not _is_followed(fact) or self._is_held_elsewhere(text, key):
            return
        self._done.ended += 1
        self._facts.writer(self._transaction, fact.namespace).set_expiry(fact, clock.utc_now())

    def _is_held_elsewhere(self, text: KnownText, key: str) -> bool:
        settings = meta_table.beginning_with(self._transaction, SETTING)
        return any(text.uuid in value for name, value in settings.items() if name != key)


FOLLOWED: Final = "file"
"""The member of a fact's metadata that names the file, and its line."""


def about(file: str, line: int, more: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return the metadata of a fact that follows a file."""
    return {**(more or {}), FOLLOWED: {"name": file, "line": line}}


def _is_followed(fact: Fact) -> bool:
    return isinstance(fact.metadata.get(FOLLOWED), dict)


def _share(one: str, other: str) -> float:
    """Return the share of the words that two texts have in common, in order."""
    words = (folded(one).split(), folded(other).split())
    return SequenceMatcher(None, *words, autojunk=False).ratio()
