"""Storing and correcting facts, each change in a transaction of its own."""

from __future__ import annotations

from contextlib import contextmanager
from copy import copy
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar

from memstore.database import journal
from memstore.database.filters import FactFilter
from memstore.database.tables import facts as fact_table
from memstore.domain import clock, metadata
from memstore.domain.arguments import (
    MAX_QUERY,
    checked_id,
    checked_ids,
    checked_text,
    stored_text,
)
from memstore.domain.records import is_among
from memstore.errors import Conflict, EmbedderMismatch, FactChanged, Reason, Remedy
from memstore.facts import rules
from memstore.facts.rules import known
from memstore.frozen import derived, replace
from memstore.lazy import cached_property, lazy_import
from memstore.text.folding import subject_key
from memstore.text.secrets import Screen

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from contextlib import AbstractContextManager
    from datetime import datetime

    from memstore.database.changes import Dependents
    from memstore.database.engine import Engine, Transaction
    from memstore.database.journal import Author
    from memstore.database.tables import episodes as episode_table
    from memstore.domain.explanations import Explanation
    from memstore.domain.log import Act
    from memstore.domain.records import Fact, JournalLine, NewFact
    from memstore.domain.repairs import RepairedFact
    from memstore.domain.standing import Standing
    from memstore.domain.status import Subject, SubjectOrder
    from memstore.domain.support import Leg
    from memstore.embedding import compatibility
    from memstore.embedding.current import CurrentEmbedder
    from memstore.facts import (
        adoption,
        checks,
        explaining,
        keyed,
        provenance,
        rehearsing,
        repairs,
        subjects,
        support,
    )
    from memstore.facts import writer as writing
    from memstore.facts.checks import Prepared
    from memstore.facts.keyed import DeleteKey
    from memstore.facts.writer import FactWriter
    from memstore.history import erasing, trust
else:
    adoption = lazy_import("memstore.facts.adoption")
    checks = lazy_import("memstore.facts.checks")
    episode_table = lazy_import("memstore.database.tables.episodes")
    erasing = lazy_import("memstore.history.erasing")
    explaining = lazy_import("memstore.facts.explaining")
    keyed = lazy_import("memstore.facts.keyed")
    provenance = lazy_import("memstore.facts.provenance")
    rehearsing = lazy_import("memstore.facts.rehearsing")
    repairs = lazy_import("memstore.facts.repairs")
    subjects = lazy_import("memstore.facts.subjects")
    support = lazy_import("memstore.facts.support")
    trust = lazy_import("memstore.history.trust")
    compatibility = lazy_import("memstore.embedding.compatibility")
    writing = lazy_import("memstore.facts.writer")

T = TypeVar("T")

CHANGED_AT_ONCE: Final = 200
"""Facts restored in one transaction, so that other writers need not wait long."""

ABOUT_THE_USER: Final = frozenset({"preference", "identity"})
"""Categories of facts that apply to every project."""


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


class Facts:
    """The facts of a namespace; those of a project, together with those of a shared namespace.

    Facts about the user are stored in the shared namespace, all others in the own one; a correction
    is stored where the corrected fact is.

    Args:
        engine: the open file.
        author: who makes the changes.
        standing: the namespaces and the owners.
        embedder: makes the embeddings; without one, every new fact is pending.
        dependents: the derived data that follows every erasure (the graph).
        screen: how secrets in new texts are handled.
        unchanged: what each change requires; ``None`` for nothing.
    """

    def __init__(
        self,
        engine: Engine,
        author: Author,
        standing: Standing,
        embedder: CurrentEmbedder | None,
        dependents: Dependents,
        screen: Screen = Screen(),  # noqa: B008 (frozen)
        unchanged: Unchanged | None = None,
    ) -> None:
        self._engine = engine
        self._screen = screen
        self._author = author
        self.standing = standing
        self.namespace = standing.namespace
        self.namespaces = standing.namespaces
        """The namespaces that are read if the caller names none."""
        self._embedder = embedder
        self._dependents = dependents
        self._unchanged = unchanged
        self._known = KnownOfFile(engine.path, author)

    def of(self, standing: Standing) -> Facts:
        """Return the facts of other owners, or of another namespace; both know the same file."""
        others = copy(self)
        others.standing = standing
        others.namespace, others.namespaces = standing.namespace, standing.namespaces
        return others

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
                changed = transaction.stamp_of_others()
                adopted = 0 if changed == self._known.adopted else adoption.adopt(transaction)
                all_adopted = adopted < adoption.AT_ONCE
                if all_adopted:
                    if self._unchanged is not None:
                        self._unchanged.check(transaction)
                    yield transaction
        self._known.adopted = changed

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

    def _found(self, transaction: Transaction, fact_id: int) -> tuple[Fact, FactWriter]:
        """Return a fact, and what writes in its namespace."""
        fact = known(transaction, self.standing, fact_id)
        return fact, self.writer(transaction, fact.namespace)

    def _to_change(self, transaction: Transaction, fact_id: int) -> tuple[Fact, FactWriter]:
        """Return a fact that whoever asks may change, and what writes in its namespace."""
        fact, writer = self._found(transaction, fact_id)
        writer.check_acts(fact)
        return fact, writer

    # -- storing ---------------------------------------------------------------------------

    def prepare(self, new_facts: Iterable[NewFact]) -> list[Prepared]:
        """Check facts and embed them, before a transaction is opened."""
        every = self._checked(new_facts)
        if self._embedder is None or not every:
            return every
        embedding = self._embedder.current
        found = [new for new in every if not new.unsearched]
        blobs = iter(embedding.for_writing([(new.subject, new.content) for new in found]))
        return [
            new
            if new.unsearched
            else derived(checks.Prepared, new, blob=next(blobs), model=embedding.model)
            for new in every
        ]

    def _checked(self, new_facts: Iterable[NewFact]) -> list[Prepared]:
        """Return facts as they are stored, for the owners of the standing."""
        return checks.all_prepared([*map(self.standing.owned, new_facts)], self._screen)

    def add_many(self, new_facts: Iterable[NewFact], *, unless_known: bool = False) -> list[Fact]:
        """Store facts in one transaction: all of them, or none.

        With ``unless_known``, a fact that is already known is confirmed and returned instead.
        """
        prepared = self.prepare(new_facts)
        if not prepared:
            return []

        def store(transaction: Transaction) -> list[Fact]:
            homes = [self.home(transaction, new) for new in prepared]
            writers = {home: self.writer(transaction, home) for home in {*homes}}
            for home, writer in writers.items():
                ours = [new for new, its in zip(prepared, homes, strict=True) if its == home]
                writer.look_up(ours, claims=unless_known)
            now = next(iter(writers.values())).changes.moment
            return [
                self._stored(writers[home], new, unless_known, now)
                for new, home in zip(prepared, homes, strict=True)
            ]

        return self.perform(store)

    def put(self, items: Sequence[NewFact | DeleteKey]) -> list[Fact | None]:
        """Put facts under their keys and delete keys, in one transaction: all of them, or none."""
        prepared = self.prepare(keyed.facts_among(items))
        if not items:
            return []
        return self.perform(
            lambda transaction: keyed.put_all(self.writer(transaction), items, prepared)
        )

    def change_keys(
        self,
        read: Callable[[Transaction], dict[str, Fact]],
        decide: Callable[[dict[str, Fact]], Sequence[NewFact | DeleteKey]],
    ) -> list[Fact | None]:
        """Put and delete what a decision on the facts that are read says, in one transaction.

        It is made before the transaction, and again in it if the facts are others by then. Models
        are not called there: the new facts wait for their embeddings.
        """
        with self._engine.read() as transaction:
            seen = read(transaction)
        items = decide(seen)
        prepared = self.prepare(keyed.facts_among(items))
        if not items:
            return []
        with self.writing() as transaction:
            held = read(transaction)
            if held != seen:
                items = decide(held)
                prepared = self._checked(keyed.facts_among(items))
            return keyed.put_all(self.writer(transaction), items, prepared)

    def perform(self, work: Callable[[Transaction], T]) -> T:
        """Do work in one transaction for writing."""
        if self._engine.is_remote and self._unchanged is None:
            return self._engine.perform(work)  # no other program inserts facts there
        with self.writing() as transaction:
            return work(transaction)

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
        if len(self.namespaces) == 1:
            return self.namespace
        if new.external_key is not None:  # a key names a fact of one namespace
            return self.namespace
        shared = self.namespaces[-1]
        if new.supersedes is not None:
            checked_id(new.supersedes, "fact_id")
            is_shared = fact_table.get(transaction, new.supersedes, shared) is not None
            return shared if is_shared else self.namespace
        # Episodes belong to the project, and so do the facts extracted from them.
        about_the_user = subject_key(new.category) in ABOUT_THE_USER and new.episode_id is None
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

    # -- reading ---------------------------------------------------------------------------

    def get(self, fact_id: int) -> Fact:
        with self._engine.read() as transaction:
            return known(transaction, self.standing, fact_id)

    def find(self, fact_id: int, namespaces: Sequence[str] | None) -> Fact:
        """Return a fact of these namespaces (``None``: all) in any state, even if it was erased.

        Of an erased one the owners are not known, so whoever asks for owners does not get it.
        """
        checked_id(fact_id, "fact_id")
        with self._engine.read() as transaction:
            fact = fact_table.get_many(transaction, checked_ids([fact_id])).get(fact_id)
        if fact is None or (namespaces is not None and fact.namespace not in namespaces):
            raise rules.not_found(fact_id, self.namespace)
        if self.standing.bound is not None and fact.status == "erased":
            raise rules.not_found(fact_id, self.namespace)
        return rules.of_owners(fact, self.standing)

    def exists(self, content: str, subject: str) -> bool:
        """Return whether an active fact of the owners has exactly this text and subject.

        Superseded facts do not count: what was once true may become true again.
        """
        wanted = FactFilter(
            self.namespaces,
            clock.utc_now(),
            subject=stored_text(subject, "subject"),
            content=stored_text(content, "content"),
            scope=self.standing.selected,
        )
        with self._engine.read() as transaction:
            return fact_table.count(transaction, wanted) > 0

    def subjects(
        self,
        prefix: str,
        order: SubjectOrder,
        after: Subject | None,
        limit: int,
        changed: subjects.Changed,
    ) -> list[Subject]:
        """Return subjects of active facts; see :mod:`memstore.facts.subjects`."""
        wanted = FactFilter(self.namespaces, clock.utc_now(), scope=self.standing.selected)
        with self._engine.read() as transaction:
            return subjects.subjects(
                transaction, wanted, subject_key(prefix), order, after, limit, changed
            )

    def get_many(self, fact_ids: Sequence[int]) -> list[Fact]:
        """Return those of the facts that exist and were not erased, in the order of the ids."""
        with self._engine.read() as transaction:
            found = fact_table.get_many(transaction, checked_ids(fact_ids))
        facts = (found[id_] for id_ in dict.fromkeys(fact_ids) if id_ in found)
        return [fact for fact in facts if rules.is_seen(fact, self.standing)]

    def by_keys(self, external_keys: Sequence[str]) -> dict[str, Fact]:
        """Return the active facts of the own namespace with external keys, by key."""
        with self._engine.read() as transaction:
            return keyed.by_keys(transaction, self.standing, external_keys)

    def history_of_key(self, external_key: str) -> list[Fact]:
        """Return every fact that has an external key, in any state, oldest first."""
        with self._engine.read() as transaction:
            return keyed.history(transaction, self.standing, external_key)

    def histories(self, fact_ids: Sequence[int]) -> dict[int, list[Fact]]:
        """Return the whole chain of each fact, oldest first, without facts that do not exist."""
        with self._engine.read() as transaction:
            chains = fact_table.chains_of(transaction, checked_ids(fact_ids))
        return {
            id_: _seen(chain, first, self.standing)
            for id_, chain in chains.items()
            for first in chain
            if first.id == id_ and rules.is_seen(first, self.standing)
        }

    def history(self, fact_id: int) -> list[Fact]:
        """Return the whole chain of any of its facts, oldest first."""
        with self._engine.read() as transaction:
            return self._chain(transaction, fact_id)

    def history_of_subject(self, subject: str) -> list[Fact]:
        """Return every fact there ever was about a subject, oldest first."""
        name, owners = checked_text(subject, "subject", MAX_QUERY), self.standing.selected
        with self._engine.read() as transaction:
            found = [
                fact
                for namespace in self.namespaces
                for fact in fact_table.of_subject(transaction, namespace, name)
                if is_among(fact.scope, owners)
            ]
        # In one namespace they are in the order of their times, which an import keeps.
        return found if len(self.namespaces) == 1 else sorted(found, key=lambda fact: fact.id)

    def support(self, fact_id: int) -> list[Leg]:
        """Return what speaks for a fact, and against it, oldest first."""
        with self._engine.read() as transaction:
            known(transaction, self.standing, fact_id)
            return support.legs(transaction, [fact_id])[fact_id]

    def explain(self, fact_id: int) -> Explanation:
        """Explain a fact; one that was erased belongs to nobody any more."""
        with self._engine.read() as transaction:
            fact = rules.reached(transaction, self.standing, fact_id)
            return explaining.explained(transaction, fact, self.standing)

    def journal(self, fact_id: int) -> list[JournalLine]:
        with self._engine.read() as transaction:
            ids = [fact.id for fact in self._chain(transaction, fact_id)]
            return journal.of_facts(transaction, ids)

    def _chain(self, transaction: Transaction, fact_id: int) -> list[Fact]:
        checked_id(fact_id, "fact_id")
        chain = fact_table.chain(transaction, fact_id)
        first = next((fact for fact in chain if fact.id == fact_id), None)
        if first is None:
            raise rules.not_found(fact_id, self.namespace)
        return _seen(chain, rules.checked(first, self.standing), self.standing)

    # -- correcting ------------------------------------------------------------------------

    def rehearsed(self, work: Callable[[Transaction], object]) -> Act:
        """Return the act that some work in a transaction would be; nothing is written."""
        return rehearsing.rehearse(self.writing(), work, self._author, self.namespaces)

    def supersede(self, old_id: int, new_id: int, *, any_subject: bool = False) -> Fact:
        with self.writing() as transaction:
            superseded = self.superseded(transaction, old_id, new_id, any_subject=any_subject)
        if superseded is not None:
            return superseded
        raise Conflict(
            f"fact {new_id} counts less than fact {old_id}, so replacing it was only proposed",
            remedy=Remedy.ACCEPT,
        )

    def superseded(
        self, transaction: Transaction, old_id: int, new_id: int, *, any_subject: bool
    ) -> Fact | None:
        """Let a fact supersede another; ``None`` if that was only proposed."""
        if old_id == new_id:
            raise Conflict(f"fact {old_id} cannot supersede itself")
        _, writer = self._found(transaction, old_id)
        old = writer.retirable(old_id)
        new = writer.known(new_id)
        if new.status != "active":
            raise Conflict(
                f"fact {new_id} is {rules.standing(new)}, so it cannot supersede fact {old_id}",
                remedy=rules.way_out(new),
            )
        if not any_subject:
            rules.check_alike(old, new)
        is_person = trust.is_person(transaction, self._author)
        return writer.known(old_id) if writer.retire(old, new_id, decided=is_person) else None

    def confirm(self, fact_id: int) -> Fact:
        with self.writing() as transaction:
            fact, writer = self._found(transaction, fact_id)
            rules.check_unretired(fact)
            return writer.confirm(fact)

    def pin(self, fact_id: int) -> Fact:
        with self.writing() as transaction:
            fact, writer = self._to_change(transaction, fact_id)
            rules.check_unretired(fact)
            return writer.pin(fact)

    def unpin(self, fact_id: int) -> Fact:
        with self.writing() as transaction:
            fact, writer = self._to_change(transaction, fact_id)
            rules.check_unretired(fact)
            return writer.unpin(fact)

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
        with self.writing() as transaction:
            fact, writer = self._to_change(transaction, fact_id)
            rules.check_undeleted(fact)
            return writer.patch_metadata(fact, check(fact, patch) if check else patch)

    def set_expiry(self, fact_id: int, expired_at: datetime | None) -> Fact:
        """Change when a fact expires; one that has expired may hold again."""
        with self.writing() as transaction:
            fact, writer = self._to_change(transaction, fact_id)
            rules.check_unretired(fact)
            rules.check_holds(fact.valid_at, expired_at)
            return writer.set_expiry(fact, expired_at)

    def delete(self, fact_id: int) -> Fact:
        with self.writing() as transaction:
            return self.deleted(transaction, fact_id)

    def deleted(self, transaction: Transaction, fact_id: int) -> Fact:
        """Delete a fact in a transaction; one that is deleted stays as it is."""
        fact, writer = self._to_change(transaction, fact_id)
        return fact if fact.deleted_at is not None else writer.delete(fact)

    def delete_all(self, wanted: FactFilter) -> list[Fact]:
        """Delete the facts that pass a filter, some per transaction; return them by id.

        All of them are deleted at the moment of the first transaction. What is stored in the
        meantime stays.
        """
        with self._engine.read() as transaction:
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

    def restore(self, fact_id: int) -> RepairedFact:
        """Restore a deleted fact, or the text of a superseded one as the newest of its chain."""
        with self.writing() as transaction:
            fact, writer = self._to_change(transaction, fact_id)
            return repairs.restore(writer, fact)

    def restore_deleted(self, at: datetime) -> int:
        """Restore the facts deleted at one moment, some per transaction; return how many."""
        with self._engine.read() as transaction:
            left = fact_table.deleted_at(transaction, self.namespace, at, self.standing.selected)
        restored = 0
        for start in range(0, len(left), CHANGED_AT_ONCE):
            with self.writing() as transaction:
                writer = self.writer(transaction)
                ids = left[start : start + CHANGED_AT_ONCE]
                found = fact_table.get_many(transaction, ids)
                writer.check_acts(*found.values())
                for fact in found.values():
                    unchanged = fact.deleted_at == at and fact.content
                    if unchanged and writer.key_holder(fact) is None:
                        writer.restore(fact)
                        restored += 1
        return restored

    def reinstate(self, fact_id: int) -> RepairedFact:
        """Store the text of a superseded fact again, next to the fact that superseded it."""
        with self.writing() as transaction:
            fact, writer = self._to_change(transaction, fact_id)
            return repairs.reinstate(writer, fact)

    def erase(self, fact_id: int) -> bool:
        with self.writing() as transaction:
            fact = rules.reached(transaction, self.standing, fact_id)
            writer = self.writer(transaction, fact.namespace)
            writer.check_acts(fact)
            erasing.erase_fact(writer.changes, fact, self._dependents)
        return self._engine.compact()


def _seen(chain: Iterable[Fact], first: Fact, standing: Standing) -> list[Fact]:
    """Return the facts of a chain that may be seen by whoever may see one of them.

    A chain may contain facts of other owners, and in files of the original of other namespaces:
    those are left out. Erased facts have no owners any more.
    """
    return [
        fact
        for fact in chain
        if fact.namespace == first.namespace and (standing.reaches(fact) or fact.status == "erased")
    ]
