"""Merging an export, or another program's memories, into this file.

Records are identified by their UUID. New ones keep their times, counters and history, and get a
journal line with their state here. Known ones are superseded, deleted, restored or erased as at the
source; one that was superseded or erased here never becomes active again. What else happened to
them there is taken by the rules by which devices are merged, which the caller passes: of two
changes of one thing the later, whichever export is imported first. What was erased here, and is
quoted in records of the source, is not taken back.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from enum import StrEnum
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Generic, Protocol, TypeVar

from memstore.database import journal
from memstore.database import meta as meta_table
from memstore.database.changes import Adoption, Changes, Line
from memstore.database.journal import UNCHANGED, Author, Kind
from memstore.database.short_transactions import SLOW, in_steps
from memstore.database.tables import episodes as episode_table
from memstore.database.tables import facts as fact_table
from memstore.database.tables import imports as imports_table
from memstore.database.tables import proposals as proposal_table
from memstore.database.tables import readings as reading_table
from memstore.database.tables import replies as reply_table
from memstore.database.tables.readings import CLOSED
from memstore.database.tables.taken import TracedLine
from memstore.domain import clock
from memstore.episodes import changes as episode_changes
from memstore.episodes import parts
from memstore.frozen import field as frozen_field
from memstore.frozen import frozen, replace
from memstore.history import past
from memstore.history.erasing import remove_episode, remove_fact
from memstore.history.erasure import UNFINISHED, finish
from memstore.history.reasons import FACTS
from memstore.named import NamedTuple
from memstore.transfer import batches, quotes

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
    from datetime import datetime

    from memstore.database.changes import Dependents
    from memstore.database.engine import Engine, Progress, Transaction
    from memstore.database.short_transactions import Slow
    from memstore.database.tables.proposals import ProposalRow
    from memstore.domain.episodes import Episode
    from memstore.domain.records import Fact, JournalLine
    from memstore.transfer.attachments import Attached
    from memstore.transfer.parsing import Incoming

    Record = TypeVar("Record", Fact, Episode)


class Settle(Protocol):
    """Takes what lines of another journal, with ids as here, say of records that both have.

    It also decides who has a key of which each of some new records has one that is in use.
    """

    def __call__(
        self,
        transaction: Transaction,
        dependents: Dependents,
        lines: Sequence[TracedLine],
        facts: Collection[int] = (),
        episodes: Collection[int] = (),
        /,
    ) -> None: ...


class Left(StrEnum):
    """What of a known record was not taken over."""

    ERASED = "erased_here"
    """It was erased here; its text there is not taken back."""
    ERASURE = "erasure"
    """It was erased there; the caller takes no erasures."""
    ANOTHER = "another_record"
    """It was erased there, but what is here was created at another time."""
    RESTORED = "restored_here"
    """It was deleted there, and restored here later."""
    DELETED = "deleted_here"
    """It was restored there, and deleted here later."""
    SUPERSEDED = "superseded_here"
    """There it is superseded by another fact, or is current again."""
    SUPERSESSION = "supersession"
    """It was superseded there; here that was taken back later, or it is the other way round."""
    METADATA = "metadata"
    PIN = "pin"
    EXPIRY = "expiry"
    CONFIRMATIONS = "confirmations"
    EXTERNAL_KEY = "external_key"
    OTHER = "other"


OF_FIELD: Final = {
    "metadata": Left.METADATA,
    "pinned_at": Left.PIN,
    "expired_at": Left.EXPIRY,
    "confirmed_count": Left.CONFIRMATIONS,
    "last_confirmed_at": Left.CONFIRMATIONS,
    "external_key": Left.EXTERNAL_KEY,
}
"""What the fields are that a line may change; any other field is :attr:`Left.OTHER`."""

OWN: Final = frozenset(
    {"id", "namespace", "superseded_by", "superseded_at", "deleted_at", "episode_id"}
    | {"idempotency_key", "user_id", "agent_id", "run_id"}
)
"""Fields that are compared in another way, or may differ between two files."""


class RecordOutcome(NamedTuple):
    """What becomes of a known record."""

    change: Kind | None = None
    at: datetime | None = None
    """When it was deleted or restored there."""
    left: Left | None = None


NOTHING: Final = RecordOutcome()


def of_erasure(known: Record, there: Record, *, erasures: bool) -> RecordOutcome | None:
    """Return the outcome if either record is erased; ``None`` if neither is."""
    if known.status == "erased":
        return NOTHING if there.status == "erased" else RecordOutcome(left=Left.ERASED)
    if there.status != "erased":
        return None
    if known.created_at != there.created_at:
        return RecordOutcome(left=Left.ANOTHER)
    return RecordOutcome(Kind.ERASE) if erasures else RecordOutcome(left=Left.ERASURE)


def of_deletion(
    known: Fact,
    there: Fact,
    operations: Iterable[JournalLine],
    restored_here: Callable[[], datetime | None],
) -> RecordOutcome:
    """Return whether a fact that nobody erased is deleted or restored as there: the later wins."""
    if known.deleted_at == there.deleted_at:
        return NOTHING
    deleted_here = known.deleted_at
    if there.deleted_at is not None:
        here = deleted_here or restored_here()
        if here is None or here < there.deleted_at:
            return RecordOutcome(Kind.DELETE, there.deleted_at)
        return NOTHING if deleted_here is not None else RecordOutcome(left=Left.RESTORED)
    restored = max((one.moment for one in operations if one.kind == Kind.RESTORE), default=None)
    if restored is None or deleted_here is None:
        return NOTHING
    if restored > deleted_here:
        return RecordOutcome(Kind.RESTORE, restored)
    return RecordOutcome(left=Left.DELETED)


def of_supersession(
    known: Fact, there: Fact, successor: int | None, operations: Iterable[JournalLine]
) -> Left | None:
    """Return what is left of a fact that is superseded here, by the id here of its successor."""
    if known.superseded_by is None or known.superseded_by == successor:
        return None
    if there.superseded_by is not None:
        return Left.SUPERSEDED
    back = max((one.moment for one in operations if one.kind == Kind.UNSUPERSEDE), default=None)
    since = known.superseded_at
    return None if back is None or (since is not None and back <= since) else Left.SUPERSEDED


def differences(
    transaction: Transaction,
    known: Record,
    there: Record,
    operations: Sequence[JournalLine],
    fields: Collection[str],
) -> set[Left]:
    """Return what was changed there, and is different here.

    A change is known by its line, which an import repeats. Without lines, any difference counts.
    """
    differing = {
        name
        for name in fields
        if name not in OWN and getattr(known, name, None) != getattr(there, name, None)
    }
    if getattr(known, "pinned_at", None) and getattr(there, "pinned_at", None):
        differing.discard("pinned_at")  # since when is of no account
    if not differing:
        return set()
    if operations:
        differing &= {*_changed(_lines(transaction, known), operations)}
    return {OF_FIELD.get(name, Left.OTHER) for name in differing}


SETTLED: Final = (
    *("metadata", "pinned_at", "expired_at", "confirmed_count", "last_confirmed_at", "tags"),
)
"""The fields whose changes there are taken."""


def _differ(here: Record, there: Record) -> bool:
    return any(getattr(here, name, None) != getattr(there, name, None) for name in SETTLED)


def _traced(
    line: JournalLine, *, fact_id: int | None = None, episode_id: int | None = None
) -> TracedLine:
    before, after, evidence = map(_encoded, (line.before, line.after, line.evidence))
    at, said_at = (
        clock.to_text(line.at),
        None if line.said_at is None else clock.to_text(line.said_at),
    )
    return TracedLine(
        *(line.id, line.txn, at, said_at, line.actor, line.source, line.kind, fact_id, episode_id),
        *(before, after, evidence, None, None, None, None, None, None),
    )


def _lines(transaction: Transaction, known: Fact | Episode) -> list[JournalLine]:
    if hasattr(known, "superseded_by"):
        return journal.of_fact(transaction, known.id)
    return journal.of_episode(transaction, known.id)


def _changed(here: Iterable[JournalLine], there: Iterable[JournalLine]) -> Iterator[str]:
    """Yield the fields that lines of another journal changed which this one does not have."""
    had = {_identity(one) for one in here}
    for line in there:
        if _identity(line) not in had and _is_change(line):
            yield from line.after or ()


def _is_change(line: JournalLine) -> bool:
    return line.kind not in {*past.BEGINS, *UNCHANGED}


def _identity(line: JournalLine) -> tuple[Any, ...]:
    return line.moment, line.kind, line.actor, line.source


STEP: Final = 1000
"""Records looked up in one transaction."""


@dataclass(slots=True)
class Ids:
    """The local ids, by the ids at the source."""

    facts: dict[int, int] = field(default_factory=dict)
    proposals: dict[int, int] = field(default_factory=dict)


def known_ids(engine: Engine, incoming: Incoming, namespace: str | None) -> Ids:
    """Return the ids of records that already exist here."""
    ids = Ids()
    facts, proposals = incoming.facts, incoming.attached.proposals
    for start in range(0, len(facts), STEP):
        some = facts[start : start + STEP]
        with engine.read() as transaction:
            for home in {namespace or fact.namespace for fact in some}:
                those = {f.uuid: f.id for f in some if (namespace or f.namespace) == home}
                found = fact_table.ids_of(transaction, home, [*those])
                ids.facts.update((those[uuid], here) for uuid, here in found.items())
    for start in range(0, len(proposals), STEP):
        with engine.read() as transaction:
            for row in proposals[start : start + STEP]:
                here = _proposal_here(transaction, row, ids)
                if here is not None:
                    ids.proposals[row.id] = here
    return ids


def reserve(transaction: Transaction, mark: str, incoming: Incoming, ids: Ids) -> None:
    """Assign an id to every record that is new, or that an earlier run of this import added."""
    noted = imports_table.numbers(transaction, mark)
    for table, records, here in (
        ("memstore_facts", incoming.facts, ids.facts),
        ("memstore_proposals", incoming.attached.proposals, ids.proposals),
    ):
        sources = [record.id for record in records]
        noted[table] = _assigned(transaction, table, sources, here, noted.get(table))
    imports_table.note_numbers(transaction, mark, noted)


def _assigned(
    transaction: Transaction,
    table: str,
    sources: Sequence[int],
    here: dict[int, int],
    before: Sequence[int] | None,
) -> tuple[int, int]:
    """Assign ids to the records without one; return the first id and their number."""
    first, count = before or (0, 0)
    new = [one for one in sources if one not in here or first <= here[one] < first + count]
    if len(new) != count:  # the first run, or another import has added some of them
        new = [one for one in sources if one not in here]
        first, count = transaction.reserve_ids(table, len(new)), len(new)
    here.update((one, first + place) for place, one in enumerate(new))
    return first, count


def _proposal_here(transaction: Transaction, row: ProposalRow, ids: Ids) -> int | None:
    named = (row.old_id, *row.sources, *(() if row.new_id is None else (row.new_id,)))
    if not ids.facts.keys() >= {*named}:
        return None
    return proposal_table.same(transaction, row.renumbered(row.id, ids.facts))


EPISODES: Final = ("episode_id", "episode")
PROPOSALS: Final = ("proposal",)
"""The top-level keys of journal lines and evidence that hold an id or a list of ids."""

LINES: Final = ("reverts",)
"""Those that hold ids of journal lines, which another file does not know; they become empty."""


def replaced(
    part: Mapping[str, Any] | None,
    fact: Callable[[int], int | None],
    episode: Callable[[int], int | None],
    proposal: Callable[[int], int | None],
) -> dict[str, Any] | None:
    """Return a part of a line with its ids replaced; an unknown id becomes ``None``."""
    if part is None:
        return None
    result = {name: [] if name in LINES else value for name, value in part.items()}
    for names, local in ((FACTS, fact), (EPISODES, episode), (PROPOSALS, proposal)):
        for name in names:
            if ids := _ids(value := result.get(name)):
                here = [local(id_) for id_ in ids]
                result[name] = [*filter(None, here)] if isinstance(value, list) else here[0]
    return result


def _ids(value: object) -> list[int]:
    ids: list[Any] = value if isinstance(value, list) else [value]
    return ids if all(type(id_) is int for id_ in ids) else []


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
    changed: int = 0
    """Known facts that are now pinned, confirmed, with other metadata or another expiry, as at the
    source."""
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
    :class:`Left`."""
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
    settle: Settle | None = None,
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
        settle: takes what the source's journal says of known records; ``None`` to leave that.
        rewrite: removes what was erased from the files beside the database; returns whether it is
            gone.
    """
    incoming.episodes = [part for one in incoming.episodes for part in parts.of_episode(one)]
    ids = known_ids(engine, incoming, namespace)
    merge = _Merge(author, namespace, dependents, ids, erasures=erasures, settle=settle)
    total = len(incoming.episodes) + len(incoming.facts)
    mark = incoming.mark(namespace)
    with engine.read() as transaction:
        merge.look_up(transaction, incoming)

    def begin(batch: Incoming, transaction: Transaction) -> None:
        imports_table.begin(transaction, mark, namespace)
        reserve(transaction, mark, incoming, ids)
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
    settle: Settle | None = None,
) -> ImportReport:
    """Return what :func:`write` would report, and write nothing."""
    ids = known_ids(engine, incoming, namespace)
    merge = _Merge(author, namespace, dependents, ids, erasures=erasures, settle=settle)
    with engine.trial() as transaction:
        merge.look_up(transaction, incoming)
        reserve(transaction, incoming.mark(namespace), incoming, ids)
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
        settle: Settle | None = None,
    ) -> None:
        self._author = author
        self._erased = quotes.ErasedHere()
        self._log = _Episodes(namespace, dependents, erasures, self._erased, settle)
        self._facts = _Facts(
            namespace, dependents, ids, self._log.here, erasures, self._erased, settle
        )
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
            changed=facts.changed,
            episodes=log.new,
            episodes_known=len(log.here) - log.new,
            episodes_removed=log.erased,
            erased=facts.updates[Kind.ERASE],
            left={str(what): number for what, number in sorted(facts.left.items()) if number},
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
    dependents: Dependents
    erasures: bool
    gone: quotes.ErasedHere
    settle: Settle | None
    changes: Changes = field(init=False)
    here: dict[int, Episode] = field(default_factory=dict)
    """The local episodes, by their ids at the source."""
    new: int = 0
    erased: int = 0
    left: Counter[Left] = field(default_factory=Counter)
    existing: _Existing[Episode] = field(init=False)
    rivals: set[int] = field(default_factory=set)
    """The new ones of a batch whose idempotency key another one has."""

    @property
    def transaction(self) -> Transaction:
        return self.changes.transaction

    def take(
        self, episodes: Sequence[Episode], operations: Mapping[int, list[JournalLine]]
    ) -> None:
        """Import new episodes, and change or erase known ones as at the source."""
        self.existing = _existing(episode_table, self.transaction, episodes, self.namespace)
        self.rivals = set()
        both = [one for one in episodes if self._take(one, operations.get(one.id, ()))]
        lines = [
            _traced(line, episode_id=self.here[episode.id].id)
            for episode in both
            if _differ(self.here[episode.id], episode)
            for line in operations.get(episode.id, ())
        ]
        if self.settle is not None and (lines or self.rivals):
            self.settle(self.transaction, self.dependents, lines, (), self.rivals)
        ids = {self.here[episode.id].id: episode for episode in both}
        for id_, here in episode_table.get_many(self.transaction, [*ids]).items():
            there = ids[id_]
            self.here[there.id] = here
            fields = episode_table.journalled(there).keys() | episode_table.journalled(here)
            said = operations.get(there.id, ())
            self.left.update(differences(self.transaction, here, there, said, fields))

    def _take(self, episode: Episode, operations: Sequence[JournalLine]) -> bool:
        """Take an episode; return whether it is here, and nobody erased it."""
        home = self.namespace or episode.namespace
        here = self.existing.records.get((home, episode.uuid))
        if here is None:
            self.here[episode.id] = self._bring_in(episode, home, operations)
            self.new += 1
            return False
        self.here[episode.id] = here
        outcome = of_erasure(here, episode, erasures=self.erasures)
        if outcome is None:
            return True
        if outcome.left is not None:
            self.left[outcome.left] += 1
            if outcome.left is Left.ERASED:
                self.gone.episodes[episode.id] = episode
        elif outcome.change is not None:
            remove_episode(self.changes, here)
            self.here[episode.id] = replace(here, content="")
            self.existing.keys.discard((home, here.idempotency_key))
            self.erased += 1
        return False

    def _bring_in(self, episode: Episode, home: str, operations: Iterable[JournalLine]) -> Episode:
        key, salt = episode.idempotency_key, episode.salt
        if episode.content and not salt:  # from another program
            salt = episode_changes.new_salt()
        id_ = episode_table.new_id(self.transaction)
        if key and (home, key) in self.existing.keys:
            key = None  # another episode here has it
            self.rivals.add(id_)
        self.existing.keys.add((home, key))
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
    gone: quotes.ErasedHere
    settle: Settle | None
    adoption: Adoption = field(init=False)
    here: dict[int, Fact] = field(default_factory=dict)
    """The local facts, by their ids at the source."""
    new: set[int] = field(default_factory=set)
    """The ids at the source of those that were not here."""
    updates: Counter[Kind | None] = field(default_factory=Counter)
    left: Counter[Left] = field(default_factory=Counter)
    retired: int = 0
    changed: int = 0
    existing: _Existing[Fact] = field(init=False)
    keyed: set[tuple[str, str | None]] = field(default_factory=set)
    """The external keys in use before the batch, with their namespaces."""
    local_ids: set[int] = field(default_factory=set)
    """The ids here of the facts of the import."""
    rivals: set[int] = field(default_factory=set)
    """The new ones of a batch of which another fact has a key."""

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
        self.rivals = set()
        with self.adoption:
            both = [fact for fact in facts if self._take(fact, operations.get(fact.id, ()))]
            settled = {fact.id for fact in both if self._is_settled(operations.get(fact.id, ()))}
            for fact in facts:
                if fact.id not in settled:
                    self._supersede(fact, operations.get(fact.id, ()))
        self._settle(facts, both, operations)

    def _settle(
        self,
        facts: Sequence[Fact],
        both: Sequence[Fact],
        operations: Mapping[int, list[JournalLine]],
    ) -> None:
        """Take further changes of known facts, and count what is different here after that."""
        transaction = self.adoption.transaction
        changed = self._changed(both, operations)
        lines = [
            _traced(line, fact_id=self.here[fact.id].id)
            for fact in changed
            for line in self._localised(operations.get(fact.id, ()), keep_lines=True)
        ]
        if self.settle is not None and (lines or self.rivals):
            held = {one.id for one in self._keyed_here(facts) if one.id not in self.local_ids}
            self.settle(transaction, self.dependents, lines, self.rivals)
            left = {one.id for one in self._keyed_here(facts)}
            self.retired += len(held - left)
        ids = {self.here[fact.id].id: fact for fact in both}
        fields = fact_table.JOURNALLED
        for id_, here in fact_table.get_many(transaction, [*ids]).items():
            fact, said = ids[id_], operations.get(ids[id_].id, ())
            before, self.here[fact.id] = self.here[fact.id], here
            self.changed += _differ(before, here)
            self.left.update(differences(transaction, here, fact, said, fields))
            if self._is_settled(said):
                self._count(before, here, fact, said)

    def _is_settled(self, operations: Sequence[JournalLine]) -> bool:
        """Return whether what became of a known fact follows from the lines of both files."""
        return self.settle is not None and bool(operations)

    def _changed(
        self, both: Sequence[Fact], operations: Mapping[int, list[JournalLine]]
    ) -> list[Fact]:
        """Return the known facts of which the source has lines that this file has not."""
        acts = {
            fact.id: {_identity(one) for one in operations.get(fact.id, ()) if _is_change(one)}
            for fact in both
        }
        ids = [self.here[id_].id for id_, said in acts.items() if said]
        here: dict[int | None, set[tuple[Any, ...]]] = {}
        for line in journal.of_facts(self.adoption.transaction, ids) if ids else ():
            here.setdefault(line.fact_id, set()).add(_identity(line))
        return [fact for fact in both if acts[fact.id] - here.get(self.here[fact.id].id, set())]

    def _count(
        self, before: Fact, here: Fact, there: Fact, operations: Sequence[JournalLine]
    ) -> None:
        """Count what became of a known fact, and what became of it there alone."""
        self.retired += before.superseded_by is None and here.superseded_by is not None
        if (before.deleted_at is None) != (here.deleted_at is None):
            self.updates[Kind.DELETE if before.deleted_at is None else Kind.RESTORE] += 1
        if there.deleted_at is not None and here.deleted_at is None:
            self.left[Left.RESTORED] += 1
        elif there.deleted_at is None and here.deleted_at is not None:
            self.left[Left.DELETED] += any(one.kind == Kind.RESTORE for one in operations)
        successor = None if there.superseded_by is None else self.here[there.superseded_by].id
        if here.superseded_by is None:
            self.left[Left.SUPERSESSION] += successor is not None
        elif (left := of_supersession(here, there, successor, operations)) is not None:
            self.left[left] += 1

    def _take(self, fact: Fact, operations: Sequence[JournalLine]) -> bool:
        """Take a fact; return whether it is here, and nobody erased it."""
        home = self.namespace or fact.namespace
        here = self.existing.records.get((home, fact.uuid))
        if here is None:
            self.here[fact.id] = self._bring_in(fact, home, operations)
            self.new.add(fact.id)
            return False
        self.here[fact.id] = here
        self.ids.facts[fact.id] = here.id
        outcome = of_erasure(here, fact, erasures=self.erasures)
        is_nowhere_erased = outcome is None
        if outcome is None:
            outcome = NOTHING
            if not self._is_settled(operations):
                outcome = of_deletion(
                    here, fact, operations, lambda: self._last(here, Kind.RESTORE)
                )
        elif outcome.left is Left.ERASED:
            self.gone.facts[fact.id] = fact
        if outcome.left is not None:
            self.left[outcome.left] += 1
        if outcome.change is not None:
            self.updates[outcome.change] += 1
            self._update(here, fact, outcome)
        return is_nowhere_erased

    def _supersede(self, fact: Fact, operations: Sequence[JournalLine]) -> None:
        """Let a fact be superseded as at the source, unless what happened here is against it."""
        here = self.here[fact.id]
        successor = None if fact.superseded_by is None else self.here[fact.superseded_by].id
        if here.superseded_by is not None:
            left = of_supersession(here, fact, successor, operations)
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
        id_ = self.ids.facts.get(fact.id) or fact_table.new_id(self.adoption.transaction)
        if key and (home, key) in self.existing.keys:
            key = None  # another fact here has it
            self.rivals.add(id_)
        self.existing.keys.add((home, key))
        if (home, fact.external_key) in self.keyed:
            self.rivals.add(id_)
        here = replace(
            fact,
            id=id_,
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
        """Return the external key of a new fact, unless a current one here has it for good.

        Facts of the import do not count: what superseded them at the source is about to do so here.
        """
        if self.settle is not None:
            return fact.external_key
        if (home, fact.external_key) not in self.keyed or fact.status in ("superseded", "deleted"):
            return fact.external_key
        held = fact_table.of_external_key(self.adoption.transaction, fact, home)
        others = [one for one in held if one.id not in self.local_ids]
        return None if others else fact.external_key

    def _keyed_here(self, facts: Iterable[Fact]) -> Iterator[Fact]:
        """Yield the current facts here that have an external key and the owners of one of these."""
        for fact in facts:
            if (home := self.namespace or fact.namespace, fact.external_key) in self.keyed:
                yield from fact_table.of_external_key(self.adoption.transaction, fact, home)

    def _localised(
        self, operations: Iterable[JournalLine], *, keep_lines: bool = False
    ) -> Iterator[JournalLine]:
        """Yield lines of the source's journal with local ids, without quotes of what is erased.

        Args:
            operations: the lines.
            keep_lines: leave the ids of other lines as they are there.
        """
        for line in operations:
            before, after, evidence = map(
                self.with_ids, (line.before, line.after, self.gone.unquoted(line.evidence))
            )
            if keep_lines and evidence is not None:
                evidence |= {
                    name: (line.evidence or {})[name] for name in LINES if name in evidence
                }
            yield line._replace(before=before, after=after, evidence=evidence)

    def with_ids(self, part: Mapping[str, Any] | None) -> dict[str, Any] | None:
        def episode(id_: int) -> int | None:
            return self.logged[id_].id if id_ in self.logged else None

        return replaced(part, self.ids.facts.get, episode, self.ids.proposals.get)

    def _update(self, here: Fact, fact: Fact, outcome: RecordOutcome) -> None:
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
    attached: Attached, facts: _Facts, log: _Episodes, gone: quotes.ErasedHere
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
