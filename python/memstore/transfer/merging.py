"""Bringing things in that come from another file: what is known stays, nothing comes back to life.

Everything is known by its UUID. What is new keeps its times, counters and history, and gets a line
in the journal that says where it stands now; of what is known, only endings are carried over.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from memstore.database import journal
from memstore.database.changes import Adoption, Changes, Line
from memstore.database.journal import Author, Kind
from memstore.database.tables import episodes as episode_table
from memstore.database.tables import facts as fact_table
from memstore.domain import clock
from memstore.episodes import changes as episode_changes
from memstore.facts.facts import journalled, retirement
from memstore.history.erasing import erase_episode, erase_fact
from memstore.transfer.attaching import attach

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from memstore.database.engine import Engine, Progress, Transaction
    from memstore.database.satellite import Satellite
    from memstore.domain.records import Episode, Fact, JournalLine
    from memstore.transfer.parsing import Incoming

PROGRESS_EVERY: Final = 500


@dataclass(frozen=True, slots=True)
class ImportReport:
    """What an import did."""

    imported: int
    """Facts that are new here."""
    known: int
    """Facts that were here already, by UUID."""
    retired: int
    """Known facts that the export knew to be superseded, and that now are."""
    removed: int
    """Known facts that the export knew to be deleted or erased, and that now are."""
    restored: int
    """Known facts that were deleted here, and restored at the source since."""
    episodes: int = 0
    """Episodes that are new here."""
    episodes_known: int = 0
    """Episodes that were here already, by UUID."""
    episodes_removed: int = 0
    """Known episodes that the export knew to be erased, and that now are."""
    unlinked: int = 0
    """New facts whose episode is not in the export."""
    proposals: int = 0
    """Proposals that are new here."""
    readings: int = 0
    """Ways in which an episode was read that are new here."""
    replies: int = 0
    """Model replies that are new here."""
    decisions: int = 0
    """Decisions on entities that are new here."""


def write(
    engine: Engine,
    author: Author,
    incoming: Incoming,
    namespace: str | None,
    satellite: Satellite,
    progress: Progress | None = None,
) -> ImportReport:
    """Bring everything in, in one transaction. Embeddings are pending afterwards.

    Args:
        engine: the database.
        author: who imports.
        incoming: what :func:`memstore.transfer.read` returned.
        namespace: where it goes; ``None`` to keep each thing in its own.
        satellite: what is told of erasures, and keeps decisions on entities.
        progress: called with how many facts and episodes are in, and of how many.
    """
    with engine.write() as transaction:
        report, erased = bring_in(transaction, author, incoming, namespace, satellite, progress)
    if erased:
        engine.compact()
    return report


def bring_in(
    transaction: Transaction,
    author: Author,
    incoming: Incoming,
    namespace: str | None,
    satellite: Satellite,
    progress: Progress | None = None,
) -> tuple[ImportReport, bool]:
    """Bring everything in, and return what was done and whether something known was erased."""
    total = len(incoming.episodes) + len(incoming.facts)
    done = 0

    def tell() -> None:
        nonlocal done
        done += 1
        if progress is not None and (done % PROGRESS_EVERY == 0 or done == total):
            progress(done, total)

    log = _Episodes(transaction, author, namespace)
    for episode in incoming.episodes:
        log.take(episode, incoming.episode_operations.get(episode.id, ()))
        tell()
    facts = _Facts(transaction, author, namespace, satellite, log.here)
    facts.take(incoming.facts, incoming.operations, tell)
    changes = facts.changes
    attached = attach(
        transaction, author, incoming.attached, facts.here, log.here, namespace, satellite
    )
    report = ImportReport(
        imported=len(facts.new),
        known=len(facts.here) - len(facts.new),
        retired=facts.retired,
        removed=changes[Kind.DELETE] + changes[Kind.ERASE],
        restored=changes[Kind.RESTORE],
        episodes=log.new,
        episodes_known=len(log.here) - log.new,
        episodes_removed=log.erased,
        unlinked=facts.unlinked,
        **attached,
    )
    return report, bool(changes[Kind.ERASE] or log.erased)


class _Episodes:
    """The episodes of one import."""

    def __init__(self, transaction: Transaction, author: Author, namespace: str | None) -> None:
        self._transaction = transaction
        self._author = author
        self._namespace = namespace
        self.here: dict[int, Episode] = {}
        """What stands here for each, by the id it has where it comes from."""
        self.new = 0
        self.erased = 0

    def take(self, episode: Episode, operations: Iterable[JournalLine]) -> None:
        """Bring an episode in, or erase a known one that was erased where it comes from."""
        home = self._namespace or episode.namespace
        known = episode_table.find_uuid(self._transaction, home, episode.uuid)
        if known is None:
            self.here[episode.id] = self._bring_in(episode, home, operations)
            self.new += 1
            return
        self.here[episode.id] = known
        if known.content and not episode.content:
            erase_episode(self._transaction, self._author, known)
            self.erased += 1

    def _bring_in(self, episode: Episode, home: str, operations: Iterable[JournalLine]) -> Episode:
        values = {name: getattr(episode, name) for name in episode_table.INSERT_LIST}
        values["namespace"] = home
        key = episode.idempotency_key
        if key and episode_table.find_key(self._transaction, home, key) is not None:
            values["idempotency_key"] = None  # another episode answers to it here
        changes = Changes(self._transaction, self._author)
        return episode_table.insert(
            changes,
            values,
            lambda placed: [
                *(Line.repeated(one, episode_id=placed.id) for one in operations),
                _adopted(placed),
            ],
        )


def _adopted(episode: Episode) -> Line:
    """Return the line on how an episode is here; those before it tell of where it was."""
    if not episode.content:
        return Line(Kind.ERASE_EPISODE, episode_id=episode.id)
    after = episode_changes.journalled(episode)
    return Line(Kind.ADOPT, episode_id=episode.id, after=after)


class _Facts:
    """The facts of one import."""

    def __init__(
        self,
        transaction: Transaction,
        author: Author,
        namespace: str | None,
        satellite: Satellite,
        logged: Mapping[int, Episode],
    ) -> None:
        self._transaction = transaction
        self._author = author
        self._adoption = Adoption(transaction, author)
        self._namespace = namespace
        self._satellite = satellite
        self._logged = logged
        self.here: dict[int, Fact] = {}
        """What stands here for each, by the id it has where it comes from."""
        self.new: dict[int, Fact] = {}
        self.changes: Counter[Kind | None] = Counter()
        self.retired = 0
        self.unlinked = 0

    def take(
        self,
        facts: list[Fact],
        operations: Mapping[int, list[JournalLine]],
        tell: Callable[[], None],
    ) -> None:
        """Bring facts in, settle those that are known, and link them into their chains."""
        with self._adoption:
            for fact in facts:
                self._take(fact, operations.get(fact.id, ()))
                tell()
            for fact in facts:
                if fact.superseded_by is None or self.here[fact.id].superseded_by is not None:
                    continue
                if len(self.new) < len(self.here) and self._leads_back(fact):
                    continue  # here the two were settled the other way round, and that stays
                self.retired += fact.id not in self.new
                self._link(fact)

    def _take(self, fact: Fact, operations: Sequence[JournalLine]) -> None:
        home = self._namespace or fact.namespace
        known = fact_table.find(self._transaction, home, uuid=fact.uuid)
        if known is None:
            self.here[fact.id] = self.new[fact.id] = self._bring_in(fact, home, operations)
        else:
            self.here[fact.id] = known
            self.changes[self._settle(known, fact, operations)] += 1

    def _bring_in(self, fact: Fact, home: str, operations: Sequence[JournalLine]) -> Fact:
        values = {name: getattr(fact, name) for name in fact_table.INSERT_LIST}
        key = fact.idempotency_key
        if key and fact_table.find(self._transaction, home, idempotency_key=key):
            values["idempotency_key"] = None  # another fact answers to it here
        values |= {"namespace": home, "superseded_by": None, "superseded_at": None}
        episode = self._logged.get(fact.episode_id or 0)
        if episode is not None and episode.namespace != home:
            episode = None
        self.unlinked += fact.episode_id is not None and episode is None
        values["episode_id"] = None if episode is None else episode.id
        return fact_table.insert(
            self._adoption,
            values,
            lambda linked: [
                *(Line.repeated(one, fact_id=linked.id) for one in operations),
                # The lines before tell of other ids; this one says how the fact is here.
                Line(Kind.ADOPT, linked.id, after=journalled(linked)),
            ],
        )

    def _settle(self, known: Fact, fact: Fact, operations: Iterable[JournalLine]) -> Kind | None:
        """Delete, restore or erase a known fact as the source did, if it did so later than we.

        Returns:
            What was done; ``None`` for nothing.
        """
        if known.status == "erased" or fact.deleted_at == known.deleted_at:
            return None
        if fact.status == "erased":
            erase_fact(self._transaction, self._author, known, self._satellite)
            return Kind.ERASE
        there = fact.deleted_at or max(
            (operation.at for operation in operations if operation.kind == Kind.RESTORE),
            default=None,
        )
        here = known.deleted_at or journal.last_restored(self._transaction, known.id)
        if there is None or (here is not None and there <= here):
            return None
        kind = Kind.RESTORE if fact.deleted_at is None else Kind.DELETE
        after = {"deleted_at": clock.to_text(fact.deleted_at) if fact.deleted_at else None}
        self._adoption.write(
            Line(kind, known.id, after=after),
            fact_table.updating(known.id, deleted_at=fact.deleted_at),
        )
        return kind

    def _leads_back(self, fact: Fact) -> bool:
        """Whether the fact is the one that supersedes its successor in the end."""
        chain = fact_table.chain(self._transaction, self.here[fact.superseded_by or 0].id)
        return chain[-1].id == self.here[fact.id].id

    def _link(self, fact: Fact) -> None:
        """Let the successor supersede the fact; one that was here before gets a journal line."""
        old, successor = self.here[fact.id], self.here[fact.superseded_by or 0]
        at = fact.superseded_at  # a file of before V4 does not say, and nobody can know any more
        if fact.id not in self.new:
            line, statement = retirement(old.id, successor.id, at or clock.utc_now())
            self._adoption.write(line, statement)
            return
        self._adoption.link(
            replace(old, superseded_by=successor.id, superseded_at=at),
            fact_table.updating(old.id, superseded_by=successor.id, superseded_at=at),
        )
