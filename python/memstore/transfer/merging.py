"""Merging an export, or another program's memories, into this file.

Records are identified by their UUID. New ones keep their times, counters and history, and get a
journal line with their state here. Known ones are only superseded, deleted, restored or erased as
at the source (:mod:`memstore.transfer.known`); one that was superseded or erased here never becomes
active again. What was erased here, and is quoted in records of the source, is not taken back.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, Protocol, TypeVar

from memstore.database import journal
from memstore.database.changes import Adoption, Changes, Line
from memstore.database.journal import Author, Kind
from memstore.database.short_transactions import SLOW, in_steps
from memstore.database.tables import episodes as episode_table
from memstore.database.tables import facts as fact_table
from memstore.database.tables import imports as imports_table
from memstore.database.tables import meta as meta_table
from memstore.database.tables import proposals as proposal_table
from memstore.database.tables import readings as reading_table
from memstore.database.tables import replies as reply_table
from memstore.database.tables.readings import CLOSED
from memstore.domain import clock
from memstore.episodes import changes as episode_changes
from memstore.episodes import parts
from memstore.frozen import field as frozen_field
from memstore.frozen import frozen, replace
from memstore.history.erasing import remove_episode, remove_fact
from memstore.history.erasure import UNFINISHED, finish
from memstore.transfer import batches, known, numbering, quotes, references
from memstore.transfer.known import Left
from memstore.transfer.numbering import Ids

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from datetime import datetime

    from memstore.database.dependents import Dependents
    from memstore.database.engine import Engine, Progress, Transaction
    from memstore.database.short_transactions import Slow
    from memstore.domain.episodes import Episode
    from memstore.domain.records import Fact, JournalLine
    from memstore.transfer.attachments import Attached
    from memstore.transfer.parsing import Incoming

R = TypeVar("R", "Fact", "Episode")


@frozen
class ImportReport:
    """The result of an import. Counts are of new records, unless described otherwise."""

    imported: int
    known: int
    """Facts that were already here, by UUID."""
    retired: int
    """Known facts that are now superseded here because they were at the source."""
    removed: int
    """Known facts that are now deleted or erased here because they were at the source."""
    restored: int
    """Known facts that were deleted here and restored at the source later."""
    episodes: int = 0
    episodes_known: int = 0
    """Episodes that were already here, by UUID."""
    episodes_removed: int = 0
    """Known episodes that are now erased here because they were at the source."""
    proposals: int = 0
    readings: int = 0
    replies: int = 0
    decisions: int = 0
    erased: int = 0
    """How many of the removed facts were erased."""
    left: dict[str, int] = frozen_field(default_factory=dict)
    """What happened to known facts at the source and was not taken over: how many facts, by
    :class:`memstore.transfer.known.Left`."""
    episodes_left: dict[str, int] = frozen_field(default_factory=dict)
    """The same of known episodes."""
    proposals_left: int = 0
    """Known proposals that are decided otherwise at the source, and new ones about erased facts."""
    is_gone: bool = True
    """Whether the bytes of what was erased are gone from the files, as :meth:`Store.erase` says."""
    dry_run: bool = False
    """Whether nothing was written."""
    levels: int = 0
    """Sources whose level of trust was taken over, which only an empty memory does."""
    levels_left: tuple[str, ...] = ()
    """Sources that count differently here, and go on doing so."""
    namespaces: tuple[str, ...] = ()
    """Those that were imported into."""


def write(
    engine: Engine,
    author: Author,
    incoming: Incoming,
    namespace: str | None,
    dependents: Dependents,
    progress: Progress | None = None,
    *,
    erasures: bool = True,
    rewrite: Callable[[], bool] = lambda: True,
) -> ImportReport:
    """Import everything in short transactions. The embeddings are pending afterwards.

    Without a namespace, each record keeps its own. The dependents follow erasures and store
    decisions about entities. Progress counts the facts and episodes imported. Until the last
    transaction the import is marked as incomplete; repeating it completes it.

    Args:
        engine: the file.
        author: who imports.
        incoming: the records.
        namespace: where all of them go.
        dependents: what follows.
        progress: called with the number of facts and episodes done and the total.
        erasures: whether known records are erased that were erased at the source.
        rewrite: removes what was erased from the files beside the database; returns whether it is
            gone.
    """
    incoming.episodes = [part for one in incoming.episodes for part in parts.of_episode(one)]
    ids = numbering.known(engine, incoming, namespace)
    merge = _Merge(author, namespace, dependents, ids, erasures=erasures)
    total = len(incoming.episodes) + len(incoming.facts)
    mark = incoming.mark(namespace)
    with engine.read() as transaction:
        merge.look_up(transaction, incoming)

    def begin(batch: Incoming, transaction: Transaction) -> None:
        imports_table.begin(transaction, mark, namespace)
        numbering.reserve(transaction, mark, incoming, ids)
        merge.take(batch, transaction)

    def acts() -> Iterator[Callable[[Transaction], None] | Slow]:
        take = begin
        for batch in batches.of(incoming):
            items = batches.items_of(batch)
            if batches.is_long(items):
                yield SLOW
                batches.prepare(items)
            yield partial(take, batch)
            if batches.is_long(items):
                yield SLOW
            take = merge.take
        yield partial(imports_table.end, mark)

    for _ in in_steps(engine, acts()):
        if progress is not None:
            progress(merge.done, total)
    return replace(merge.report(), is_gone=_removed_bytes(engine, merge, rewrite))


def rehearse(
    engine: Engine,
    author: Author,
    incoming: Incoming,
    namespace: str | None,
    dependents: Dependents,
    *,
    erasures: bool = True,
) -> ImportReport:
    """Return what :func:`write` would report, and write nothing."""
    ids = numbering.known(engine, incoming, namespace)
    merge = _Merge(author, namespace, dependents, ids, erasures=erasures)
    with engine.trial() as transaction:
        merge.look_up(transaction, incoming)
        numbering.reserve(transaction, incoming.mark(namespace), incoming, ids)
        for batch in batches.of(incoming):
            merge.take(batch, transaction)
    return replace(merge.report(), dry_run=True)


def _removed_bytes(engine: Engine, merge: _Merge, rewrite: Callable[[], bool]) -> bool:
    """Rewrite the file if anything was erased, or an earlier import was interrupted before that."""
    if not merge.has_erased:
        return True
    if not merge.erased:
        with engine.read() as transaction:
            if not meta_table.is_set(transaction, UNFINISHED):
                return True
    return finish(engine, rewrite)


def bring_in(
    transaction: Transaction,
    author: Author,
    incoming: Incoming,
    namespace: str | None,
    dependents: Dependents,
) -> ImportReport:
    """Import everything in an open transaction."""
    merge = _Merge(author, namespace, dependents, Ids())
    merge.look_up(transaction, incoming)
    merge.take(incoming, transaction)
    return merge.report()


class _Merge:
    """The state of one import across its transactions."""

    def __init__(
        self,
        author: Author,
        namespace: str | None,
        dependents: Dependents,
        ids: Ids,
        *,
        erasures: bool = True,
    ) -> None:
        self._author = author
        self._erased = quotes.Erased()
        self._log = _Episodes(namespace, erasures, self._erased)
        self._facts = _Facts(namespace, dependents, ids, self._log.here, erasures, self._erased)
        self._attached: Counter[str] = Counter()
        self._is_noted = False
        self.has_erased = False
        """Whether the source has erased any record."""
        self.done = 0

    @property
    def erased(self) -> bool:
        """Whether any known record was erased."""
        return bool(self._log.erased or self._facts.updates[Kind.ERASE])

    def look_up(self, transaction: Transaction, incoming: Incoming) -> None:
        self._erased.look_up(transaction, incoming, self._log.namespace)

    def take(self, batch: Incoming, transaction: Transaction) -> None:
        self.has_erased = (
            self.has_erased
            or any(episode.status == "erased" for episode in batch.episodes)
            or any(fact.status == "erased" for fact in batch.facts)
        )
        self._log.changes = Changes(transaction, self._author)
        self._log.take(batch.episodes, batch.episode_operations)
        self._facts.adoption = Adoption(transaction, self._author)
        self._facts.take(batch.facts, batch.operations)
        self._attached.update(_attach(batch.attached, self._facts, self._log, self._erased))
        if self.erased and not self._is_noted:  # in the transaction that erases
            meta_table.put(transaction, UNFINISHED, "1")
            self._is_noted = True
        self.done += len(batch.episodes) + len(batch.facts)

    def report(self) -> ImportReport:
        log, facts = self._log, self._facts
        return ImportReport(
            imported=len(facts.new),
            known=len(facts.here) - len(facts.new),
            retired=facts.retired,
            removed=facts.updates[Kind.DELETE] + facts.updates[Kind.ERASE],
            restored=facts.updates[Kind.RESTORE],
            episodes=log.new,
            episodes_known=len(log.here) - log.new,
            episodes_removed=log.erased,
            erased=facts.updates[Kind.ERASE],
            left={str(what): number for what, number in sorted(facts.left.items())},
            episodes_left={str(what): number for what, number in sorted(log.left.items())},
            proposals=self._attached["proposals"],
            readings=self._attached["readings"],
            replies=self._attached["replies"],
            decisions=self._attached["decisions"],
            proposals_left=self._attached["proposals_left"],
        )


@dataclass(slots=True)
class _Episodes:
    namespace: str | None
    erasures: bool
    gone: quotes.Erased
    changes: Changes = field(init=False)
    here: dict[int, Episode] = field(default_factory=dict)
    """The local episodes, by their ids at the source."""
    new: int = 0
    erased: int = 0
    left: Counter[Left] = field(default_factory=Counter)
    existing: _Existing[Episode] = field(init=False)

    @property
    def transaction(self) -> Transaction:
        return self.changes.transaction

    def take(
        self, episodes: Sequence[Episode], operations: Mapping[int, list[JournalLine]]
    ) -> None:
        """Import new episodes, and erase known ones that were erased at the source."""
        self.existing = _existing(episode_table, self.transaction, episodes, self.namespace)
        for episode in episodes:
            self._take(episode, operations.get(episode.id, ()))

    def _take(self, episode: Episode, operations: Sequence[JournalLine]) -> None:
        home = self.namespace or episode.namespace
        here = self.existing.records.get((home, episode.uuid))
        if here is None:
            self.here[episode.id] = self._bring_in(episode, home, operations)
            self.new += 1
            return
        self.here[episode.id] = here
        outcome = known.of_erasure(here, episode, erasures=self.erasures)
        if outcome is None:
            fields = episode_table.journalled(episode).keys() | episode_table.journalled(here)
            self.left.update(known.differences(self.transaction, here, episode, operations, fields))
        elif outcome.left is not None:
            self.left[outcome.left] += 1
            if outcome.left is Left.ERASED:
                self.gone.episodes[episode.id] = episode
        elif outcome.change is not None:
            remove_episode(self.changes, here)
            self.here[episode.id] = replace(here, content="")
            self.existing.keys.discard((home, here.idempotency_key))
            self.erased += 1

    def _bring_in(self, episode: Episode, home: str, operations: Iterable[JournalLine]) -> Episode:
        key, salt = episode.idempotency_key, episode.salt
        if episode.content and not salt:  # from another program
            salt = episode_changes.new_salt()
        if key and (home, key) in self.existing.keys:
            key = None  # another episode here has it
        self.existing.keys.add((home, key))
        id_ = episode_table.new_id(self.transaction)
        here = replace(episode, id=id_, namespace=home, salt=salt, idempotency_key=key)
        lines = [Line.repeated(one, episode_id=id_) for one in operations]
        found = episode_table.derived(here.content, here.name, here.source_description)
        episode_table.insert(self.changes, here, [*lines, _adopted(here)], found)
        return here


def _adopted(episode: Episode) -> Line:
    """Return the line with an episode's state here; the lines before it are the source's."""
    if not episode.content:
        return episode_table.erasure(episode)
    after = episode_table.journalled(episode)
    return Line(Kind.ADOPT, episode_id=episode.id, after=after)


@dataclass(slots=True)
class _Facts:
    namespace: str | None
    dependents: Dependents
    ids: Ids
    logged: Mapping[int, Episode]
    erasures: bool
    gone: quotes.Erased
    adoption: Adoption = field(init=False)
    here: dict[int, Fact] = field(default_factory=dict)
    """The local facts, by their ids at the source."""
    new: set[int] = field(default_factory=set)
    """The ids at the source of those that were not here."""
    updates: Counter[Kind | None] = field(default_factory=Counter)
    left: Counter[Left] = field(default_factory=Counter)
    retired: int = 0
    existing: _Existing[Fact] = field(init=False)
    keyed: set[tuple[str, str | None]] = field(default_factory=set)
    """The external keys in use before the batch, with their namespaces."""
    local_ids: set[int] = field(default_factory=set)
    """The ids here of the facts of the import."""

    def take(
        self,
        facts: list[Fact],
        operations: Mapping[int, list[JournalLine]],
    ) -> None:
        """Import new facts, update known ones, and link them into their chains."""
        transaction = self.adoption.transaction
        self.existing = _existing(fact_table, transaction, facts, self.namespace)
        self.local_ids.update(known.id for known in self.existing.records.values())
        self.keyed = _keyed(transaction, facts, self.namespace)
        with self.adoption:
            for fact in facts:
                self._take(fact, operations.get(fact.id, ()))
            for fact in facts:
                self._supersede(fact, operations.get(fact.id, ()))

    def _take(self, fact: Fact, operations: Sequence[JournalLine]) -> None:
        home = self.namespace or fact.namespace
        here = self.existing.records.get((home, fact.uuid))
        if here is None:
            self.here[fact.id] = self._bring_in(fact, home, operations)
            self.new.add(fact.id)
            return
        self.here[fact.id] = here
        self.ids.facts[fact.id] = here.id
        outcome = known.of_erasure(here, fact, erasures=self.erasures)
        if outcome is None:
            outcome = known.of_deletion(
                here, fact, operations, lambda: self._last(here, Kind.RESTORE)
            )
            fields = fact_table.JOURNALLED
            self.left.update(
                known.differences(self.adoption.transaction, here, fact, operations, fields)
            )
        elif outcome.left is Left.ERASED:
            self.gone.facts[fact.id] = fact
        if outcome.left is not None:
            self.left[outcome.left] += 1
        if outcome.change is not None:
            self.updates[outcome.change] += 1
            self._update(here, fact, outcome)

    def _supersede(self, fact: Fact, operations: Sequence[JournalLine]) -> None:
        """Let a fact be superseded as at the source, unless what happened here is against it."""
        here = self.here[fact.id]
        successor = None if fact.superseded_by is None else self.here[fact.superseded_by].id
        if here.superseded_by is not None:
            left = known.of_supersession(here, fact, successor, operations)
            if left is not None and here.status != "erased":
                self.left[left] += 1
            return
        if successor is None:
            return
        # If here the supersession is the other way round, it stays.
        leads_back = len(self.new) < len(self.here) and self._leads_back(fact)
        if leads_back or (fact.id not in self.new and self._taken_back(fact)):
            self.left[Left.SUPERSESSION] += 1
            return
        self.retired += fact.id not in self.new and here.status != "erased"
        self._link(fact)

    def _bring_in(self, fact: Fact, home: str, operations: Sequence[JournalLine]) -> Fact:
        key = fact.idempotency_key
        if key and (home, key) in self.existing.keys:
            key = None  # another fact here has it
        self.existing.keys.add((home, key))
        here = replace(
            fact,
            id=self.ids.facts.get(fact.id) or fact_table.new_id(self.adoption.transaction),
            namespace=home,
            idempotency_key=key,
            external_key=self._key(fact, home),
            superseded_by=None,
            superseded_at=None,
            episode_id=None if fact.episode_id is None else self.logged[fact.episode_id].id,
            embed_error=None,
            embedded=False,
        )
        self.local_ids.add(here.id)
        fact_table.adopt(
            self.adoption,
            here,
            lambda linked: [
                *(Line.repeated(one, fact_id=linked.id) for one in self._localised(operations)),
                # The fact's state here.
                Line(Kind.ADOPT, linked.id, after=fact_table.journalled(linked)),
            ],
        )
        return here

    def _key(self, fact: Fact, home: str) -> str | None:
        """Return the external key of a new fact, unless a current one here has it already.

        Facts of the import do not count: what superseded them at the source is about to do so here.
        """
        if (home, fact.external_key) not in self.keyed or fact.status in ("superseded", "deleted"):
            return fact.external_key
        held = fact_table.of_external_key(self.adoption.transaction, fact, home)
        others = [one for one in held if one.id not in self.local_ids]
        return None if others else fact.external_key

    def _localised(self, operations: Iterable[JournalLine]) -> Iterator[JournalLine]:
        """Yield lines of the source's journal with local ids, without quotes of what is erased."""
        for line in operations:
            before, after, evidence = map(
                self.with_ids, (line.before, line.after, self.gone.unquoted(line.evidence))
            )
            yield line._replace(before=before, after=after, evidence=evidence)

    def with_ids(self, part: Mapping[str, Any] | None) -> dict[str, Any] | None:
        def episode(id_: int) -> int | None:
            return self.logged[id_].id if id_ in self.logged else None

        return references.replaced(part, self.ids.facts.get, episode, self.ids.proposals.get)

    def _update(self, here: Fact, fact: Fact, outcome: known.Outcome) -> None:
        """Delete, restore or erase a known fact as at the source."""
        if outcome.change is Kind.ERASE:
            remove_fact(self.adoption, here, self.dependents)
            self.here[fact.id] = replace(here, content="", deleted_at=here.deleted_at or outcome.at)
            self.existing.keys.discard((here.namespace, here.idempotency_key))
            return
        if outcome.change is Kind.DELETE and here.deleted_at is not None:
            # Deleted again there. The kinds of lines alone must say what was deleted when.
            self.adoption.write(Line(Kind.RESTORE, here.id, after={"deleted_at": None}))
        after = {"deleted_at": clock.to_text(fact.deleted_at) if fact.deleted_at else None}
        self.adoption.write(
            Line(str(outcome.change), here.id, after=after, said_at=outcome.at),
            fact_table.updating(here.id, deleted_at=fact.deleted_at),
        )

    def _taken_back(self, fact: Fact) -> bool:
        """Return whether the supersession was undone here after it was made at the source."""
        undone = self._last(self.here[fact.id], Kind.UNSUPERSEDE)
        return undone is not None and (fact.superseded_at or undone) <= undone

    def _last(self, known: Fact, kind: Kind) -> datetime | None:
        return journal.last_of_kind(self.adoption.transaction, known.id, kind)

    def _leads_back(self, fact: Fact) -> bool:
        chain = fact_table.chain(self.adoption.transaction, self.here[fact.superseded_by or 0].id)
        return chain[-1].id == self.here[fact.id].id

    def _link(self, fact: Fact) -> None:
        """Let the successor supersede the fact; a known fact gets a journal line."""
        old, successor = self.here[fact.id], self.here[fact.superseded_by or 0]
        at = fact.superseded_at  # not recorded before V4
        if fact.id not in self.new:
            at = at or self.adoption.moment
            line, statement = fact_table.retirement(old.id, successor.id, at)
            self.adoption.write(line, statement)
            return
        self.adoption.link(
            replace(old, superseded_by=successor.id, superseded_at=at),
            fact_table.updating(old.id, superseded_by=successor.id, superseded_at=at),
        )


class _Table(Protocol[R]):
    def with_uuids(
        self, transaction: Transaction, namespace: str, uuids: Sequence[str]
    ) -> list[R]: ...

    def used_keys(
        self, transaction: Transaction, namespace: str, keys: Sequence[str]
    ) -> set[str]: ...


class _Existing(NamedTuple, Generic[R]):
    """Records of a batch that already exist, read in advance so that new rows can be queued."""

    records: dict[tuple[str, str], R]
    """The records by namespace and UUID."""
    keys: set[tuple[str, str | None]]
    """The idempotency keys in use, with their namespaces."""


def _existing(
    table: _Table[R], transaction: Transaction, records: Sequence[R], namespace: str | None
) -> _Existing[R]:
    existing: _Existing[R] = _Existing({}, set())
    for home in {namespace or one.namespace for one in records}:
        those = [one for one in records if (namespace or one.namespace) == home]
        found = table.with_uuids(transaction, home, [one.uuid for one in those])
        existing.records.update({(home, one.uuid): one for one in found})
        keys = [one.idempotency_key for one in those if one.idempotency_key]
        existing.keys.update((home, key) for key in table.used_keys(transaction, home, keys))
    return existing


def _keyed(
    transaction: Transaction, facts: Sequence[Fact], namespace: str | None
) -> set[tuple[str, str | None]]:
    """Return which external keys of the facts are in use, with their namespaces."""
    named: dict[str, set[str]] = {}
    for fact in facts:
        if fact.external_key is not None:
            named.setdefault(namespace or fact.namespace, set()).add(fact.external_key)
    return {
        (home, key)
        for home, keys in named.items()
        for key in fact_table.used_external_keys(transaction, home, [*keys])
    }


def _attach(
    attached: Attached, facts: _Facts, log: _Episodes, gone: quotes.Erased
) -> dict[str, int]:
    """Import proposals, readings, replies and decisions; return how many of each were new."""
    changes, transaction = log.changes, log.transaction
    done = dict.fromkeys(attached.counts(), 0)
    done["proposals_left"] = 0
    for proposal in attached.proposals:
        here = proposal.renumbered(facts.ids.proposals[proposal.id], facts.ids.facts)._replace(
            evidence=_encoded(
                facts.with_ids(gone.unquoted(json.loads(proposal.evidence or "null")))
            ),
        )
        held = proposal_table.same(transaction, here)
        if held is not None:
            stored = proposal_table.with_ids(transaction, [held])[held]
            done["proposals_left"] += stored.state != here.state
        elif gone.facts.keys() & {proposal.old_id, proposal.new_id, *proposal.sources}:
            done["proposals_left"] += 1  # it is about a fact that was erased here
        else:
            done["proposals"] += proposal_table.place(changes, here) is not None
    for reading in attached.readings:
        row = reading._replace(episode_id=log.here[reading.episode_id].id)
        placed = reading_table.place(transaction, row)
        if placed and row.kind == CLOSED:
            # One of its facts was erased at the source, so its replies here must go too.
            reply_table.forget_episode(transaction, row.episode_id)
            reading_table.place(transaction, row)
        done["readings"] += placed
    for reply in attached.replies:
        one = reply._replace(episode_id=log.here[reply.episode_id].id)
        done["replies"] += not gone.quoted_in(one.reply) and reply_table.place(transaction, one)
    for home, decision in attached.decisions:
        into = log.namespace or home
        of_home = [
            fact for fact in gone.facts.values() if (log.namespace or fact.namespace) == into
        ]
        done["decisions"] += facts.dependents.bring_decision(changes, into, decision, of_home)
    return done


def _encoded(evidence: Mapping[str, Any] | None) -> str | None:
    return None if evidence is None else json.dumps(evidence, ensure_ascii=False)
