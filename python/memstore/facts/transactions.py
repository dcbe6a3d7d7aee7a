"""Opens the transactions that write facts, and prepares what they write."""

from __future__ import annotations

from contextlib import contextmanager
from copy import copy
from itertools import groupby
from typing import TYPE_CHECKING, Any, Final, TypeVar

from memstore.database import journal
from memstore.database.tables import facts as fact_table
from memstore.domain import metadata
from memstore.domain.arguments import checked_id
from memstore.domain.project_names import is_about_the_user
from memstore.domain.records import unchecked
from memstore.errors import EmbedderMismatch, FactChanged, Reason, Remedy
from memstore.facts import rules
from memstore.frozen import replace
from memstore.lazy import cached_property, lazy_import
from memstore.named import NamedTuple
from memstore.text.secrets import Screen

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from contextlib import AbstractContextManager
    from datetime import datetime

    from memstore.database.engine import Engine, Transaction
    from memstore.database.filters import FactFilter
    from memstore.database.journal import Author
    from memstore.database.tables import episodes as episode_table
    from memstore.domain.records import Fact, NewFact
    from memstore.domain.standing import Standing
    from memstore.embedding import compatibility
    from memstore.embedding.current import CurrentEmbedder
    from memstore.facts import adoption, checks, keyed, provenance
    from memstore.facts import writer as writing
    from memstore.facts.checks import Prepared
    from memstore.facts.writer import FactWriter
else:
    adoption = lazy_import("memstore.facts.adoption")
    checks = lazy_import("memstore.facts.checks")
    episode_table = lazy_import("memstore.database.tables.episodes")
    keyed = lazy_import("memstore.facts.keyed")
    provenance = lazy_import("memstore.facts.provenance")
    compatibility = lazy_import("memstore.embedding.compatibility")
    writing = lazy_import("memstore.facts.writer")

T = TypeVar("T")

CHANGED_AT_ONCE: Final = 200
"""Facts changed in one transaction, so that other writers need not wait long."""


class Unchanged(NamedTuple):
    """The requirement that facts are as they were at a line of the journal."""

    fact_ids: tuple[int, ...]
    since: int

    def check(self, transaction: Transaction) -> None:
        """Raise :class:`FactChanged` if one of the facts was changed since."""
        changed = journal.changed_after(transaction, self.fact_ids, self.since)
        if changed:
            raise FactChanged(
                f"fact {min(changed)} was changed in the meantime",
                fact_id=min(changed),
                since=self.since,
                remedy=Remedy.RETRY,
            )


class KnownOfFile:
    """What is known about the file; the stores for its owners share it."""

    def __init__(self, path: str, author: Author) -> None:
        self.adopted: object = None
        """The changes by others whose facts were all adopted."""
        self._path, self._author = path, author

    @cached_property
    def active(self) -> compatibility.ActiveGeneration:
        return compatibility.ActiveGeneration(self._path, self._author)


class FactTransactions:
    """The transactions that write facts of a namespace, and of a shared one beside it.

    Facts about the user are stored in the shared namespace, all others in the own one; a correction
    is stored where the corrected fact is.

    Args:
        engine: the open file.
        author: who makes the changes.
        standing: the namespaces and the owners.
        embedder: makes the embeddings; without one, every new fact is pending.
        screen: how secrets in new texts are handled.
        unchanged: what each change requires; ``None`` for nothing.
    """

    def __init__(
        self,
        engine: Engine,
        author: Author,
        standing: Standing,
        embedder: CurrentEmbedder | None,
        screen: Screen = Screen(),  # noqa: B008 (frozen)
        unchanged: Unchanged | None = None,
    ) -> None:
        self._engine = engine
        self._screen = screen
        self._author = author
        self.standing = standing
        self._embedder = embedder
        self._unchanged = unchanged
        self._known = KnownOfFile(engine.path, author)

    def of(self, standing: Standing) -> FactTransactions:
        """Return those of other owners, or of another namespace; both know the same file."""
        others = copy(self)
        others.standing = standing
        return others

    @property
    def namespace(self) -> str:
        return self.standing.namespace

    @property
    def namespaces(self) -> tuple[str, ...]:
        """The namespaces that are read if the caller names none."""
        return self.standing.namespaces

    @property
    def author(self) -> Author:
        """Who makes the changes."""
        return self._author

    def reading(self) -> AbstractContextManager[Transaction]:
        return self._engine.read()

    @contextmanager
    def writing(self) -> Iterator[Transaction]:
        """Begin a write; first it adopts all facts that other programs have inserted.

        So no fact gets a line before one with a smaller id. Many are adopted in transactions of
        their own.
        """
        all_adopted = False
        while not all_adopted:
            with self._engine.write() as transaction:
                all_adopted = self._has_adopted_all(transaction)
                if all_adopted:
                    yield transaction
                    changed = transaction.stamp_of_others()
        self._known.adopted = changed

    def _has_adopted_all(self, transaction: Transaction) -> bool:
        """Adopt facts of other programs; return whether all are, so that the write may begin."""
        is_known = transaction.stamp_of_others() == self._known.adopted
        if not is_known and adoption.adopt(transaction) >= adoption.AT_ONCE:
            return False
        if self._unchanged is not None:
            self._unchanged.check(transaction)
        return True

    def writer(self, transaction: Transaction, namespace: str | None = None) -> FactWriter:
        """Return what writes facts in a transaction, by default in the own namespace."""
        standing = self.standing.alone
        if namespace not in (None, self.namespace):
            standing = replace(standing, namespace=namespace)
        return writing.FactWriter(transaction, self._author, standing, self._admitted)

    def _admitted(self, transaction: Transaction, prepared: Prepared) -> bytes | None:
        """Return the embedding if it matches the file's vectors; else the fact is pending."""
        if prepared.blob is None or prepared.model is None:
            return None
        try:
            self._known.active.admit(transaction, prepared.model, prepared.blob)
        except EmbedderMismatch as error:  # store the fact without its embedding
            if self._embedder is not None and not self._embedder.follow(error.stored):
                self._embedder.current.note_trouble(Reason.of(error))
            return None
        return prepared.blob

    @contextmanager
    def changing(self, fact_id: int, *, acts: bool = True) -> Iterator[tuple[Fact, FactWriter]]:
        """Begin a write of one fact: yield it, and what writes in its namespace.

        Args:
            fact_id: its id.
            acts: refuse an author that counts less than the fact.
        """
        with self.writing() as transaction:
            yield self.found(transaction, fact_id, acts=acts)

    def found(
        self, transaction: Transaction, fact_id: int, *, acts: bool = True
    ) -> tuple[Fact, FactWriter]:
        """Return a fact, and what writes in its namespace."""
        fact = rules.known(transaction, self.standing, fact_id)
        writer = self.writer(transaction, fact.namespace)
        if acts:
            writer.check_acts(fact)
        return fact, writer

    # -- storing ---------------------------------------------------------------------------

    def prepare(self, new_facts: Iterable[NewFact]) -> list[Prepared]:
        """Check facts and embed them, before a transaction is opened."""
        every = self.checked(new_facts)
        return every if self._embedder is None else self._embedded(every, self._embedder)

    @staticmethod
    def _embedded(every: list[Prepared], embedder: CurrentEmbedder) -> list[Prepared]:
        """Return checked facts with the embeddings of those that are searched."""
        embedding = embedder.current
        found = [new for new in every if not new.unsearched]
        blobs = iter(embedding.for_writing([(new.subject, new.content) for new in found]))
        model = embedding.model
        return [
            new
            if new.unsearched
            else unchecked(checks.Prepared, {**new.__dict__, "blob": next(blobs), "model": model})
            for new in every
        ]

    def checked(self, new_facts: Iterable[NewFact]) -> list[Prepared]:
        """Return facts as they are stored, for the owners of the standing."""
        return checks.all_prepared([*map(self.standing.owned, new_facts)], self._screen)

    def add(self, new: NewFact, *, unless_known: bool = False) -> Fact:
        """Store one fact.

        With ``unless_known``, a fact that is already known is confirmed and returned instead.
        """
        prepared = checks.prepared(self.standing.owned(new), self._screen)
        if self._embedder is not None:
            (prepared,) = self._embedded([prepared], self._embedder)

        def store(transaction: Transaction) -> Fact:
            writer = self.writer(transaction, self.home(transaction, prepared))
            now = writer.changes.moment
            if writer.stands_alone(prepared, unless_known=unless_known):
                return writer.insert_all([prepared], now)[0]
            return self._stored(writer, prepared, unless_known, now)

        return self.perform(store)

    def add_many(self, new_facts: Iterable[NewFact], *, unless_known: bool = False) -> list[Fact]:
        """Store facts in one transaction, as :meth:`add` each: all of them, or none."""
        prepared = self.prepare(new_facts)
        if not prepared:
            return []

        def store(transaction: Transaction) -> list[Fact]:
            homes = [self.namespace] * len(prepared)
            if len(self.namespaces) > 1:
                homes = [self.home(transaction, new) for new in prepared]
            writers = {home: self.writer(transaction, home) for home in {*homes}}
            for home, writer in writers.items():
                ours = [new for new, its in zip(prepared, homes, strict=True) if its == home]
                writer.look_up(ours, claims=unless_known)
            now = next(iter(writers.values())).changes.moment

            def home_alone(item: tuple[Prepared, str]) -> str | None:
                new, home = item
                alone = writers[home].stands_alone(new, unless_known=unless_known)
                return home if alone else None

            stored: list[Fact] = []
            for together, items in groupby(zip(prepared, homes, strict=True), home_alone):
                if together is not None:
                    stored += writers[together].insert_all([new for new, _ in items], now)
                    continue
                for new, its in items:
                    stored.append(self._stored(writers[its], new, unless_known, now))
            return stored

        return self.perform(store)

    def perform(self, work: Callable[[Transaction], T]) -> T:
        """Do work in one transaction for writing."""
        if self._engine.is_remote and self._unchanged is None:
            return self._engine.perform(work)  # no other program inserts facts there
        while True:  # as in `writing`; a context manager around each takes as long as a statement
            with self._engine.write() as transaction:
                if not self._has_adopted_all(transaction):
                    continue
                changed, result = transaction.stamp_of_others(), work(transaction)
            self._known.adopted = changed
            return result

    def _stored(self, writer: FactWriter, new: Prepared, unless_known: bool, now: datetime) -> Fact:
        if new.episode_id is not None and writer.namespace != self.namespace:
            new = self._unlinked(writer.transaction, new, new.episode_id)
        if new.external_key is not None:
            return keyed.put(writer, writer.of_its_kind(new), now=now).fact
        if unless_known and writer.same_key(new) is None:
            held = writer.confirm_known(writer.of_its_kind(new), rules.equal)
            if held is not None:
                return held
        return writer.insert(new, now=now)

    def home(self, transaction: Transaction, new: Prepared) -> str:
        """Return the namespace in which a new fact belongs."""
        # A key names a fact of one namespace.
        if len(self.namespaces) == 1 or new.external_key is not None:
            return self.namespace
        shared = self.namespaces[-1]
        if new.supersedes is not None:
            checked_id(new.supersedes, "fact_id")
            is_shared = fact_table.get(transaction, new.supersedes, shared) is not None
            return shared if is_shared else self.namespace
        # Episodes belong to the project, and so do the facts extracted from them.
        about_the_user = is_about_the_user(new.category) and new.episode_id is None
        return shared if about_the_user else self.namespace

    def _unlinked(self, transaction: Transaction, new: Prepared, episode_id: int) -> Prepared:
        """Return a correction for the shared namespace.

        No fact there can refer to an episode of the project; it keeps the thread and the time.
        """
        episode = episode_table.origin(transaction, episode_id, self.namespace)
        if episode is None or not self.standing.reaches(episode):
            return new
        thread, seq = (new.thread, new.seq) if new.thread else provenance.thread_of(episode)
        at = new.valid_at or episode.valid_at
        return replace(new, episode_id=None, thread=thread, seq=seq, valid_at=at)

    def update_metadata(
        self,
        fact_id: int,
        patch: Mapping[str, Any],
        check: Callable[[Fact, Mapping[str, Any]], Mapping[str, Any]] | None = None,
    ) -> Fact:
        """Apply a merge patch to the metadata; null removes a key.

        ``check`` is called inside the transaction and returns the patch to apply, or raises.
        """
        patch = self._screen.value(metadata.checked_mapping(patch), "metadata")
        with self.changing(fact_id) as (fact, writer):
            rules.check_undeleted(fact)
            return writer.patch_metadata(fact, check(fact, patch) if check else patch)

    # -- many facts, some at a time ----------------------------------------------------------

    def delete_all(self, wanted: FactFilter) -> list[Fact]:
        """Delete the facts of a filter, all at the moment of the first transaction; return them.

        What is stored in the meantime stays.
        """
        with self.reading() as transaction:
            left = sorted(fact_table.select_ids(transaction, wanted))
        deleted: list[Fact] = []
        at = None
        for start in range(0, len(left), CHANGED_AT_ONCE):
            with self.writing() as transaction:
                among = replace(wanted, among=left[start : start + CHANGED_AT_ONCE])
                writer = self.writer(transaction)
                at = at or writer.changes.moment
                still = sorted(fact_table.select_ids(transaction, among))
                found = fact_table.get_many(transaction, still)
                writer.check_acts(*found.values())
                deleted += [writer.delete(found[id_], at=at) for id_ in still]
        return deleted

    def restore_deleted(self, at: datetime) -> int:
        """Restore every fact that was deleted at exactly this moment; return how many."""
        restored = 0
        with self.reading() as transaction:
            left = fact_table.deleted_at(transaction, self.namespace, at, self.standing.selected)
        for start in range(0, len(left), CHANGED_AT_ONCE):
            with self.writing() as transaction:
                writer = self.writer(transaction)
                found = fact_table.get_many(transaction, left[start : start + CHANGED_AT_ONCE])
                writer.check_acts(*found.values())
                for fact in found.values():
                    unchanged = fact.deleted_at == at and fact.content
                    if unchanged and writer.key_holder(fact) is None:
                        writer.restore(fact)
                        restored += 1
        return restored
