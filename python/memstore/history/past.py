"""Facts and episodes as their lines leave them, and as they were at a moment.

A row of then is that of now, unless a later line changed it; then the lines up to the moment are
replayed. Texts, owners and times of origin never change.
"""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Any, Final

from memstore.database import journal
from memstore.database.journal import UNCHANGED, Kind
from memstore.database.tables import facts as fact_table
from memstore.domain import chains, clock
from memstore.domain.records import MOMENT_FIELDS, Fact
from memstore.frozen import replace
from memstore.history import trust
from memstore.lazy import lazy_import
from memstore.named import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from memstore.database.engine import Transaction
    from memstore.database.tables import episodes as episode_table
    from memstore.domain.episodes import Episode
    from memstore.domain.moments import Moment
    from memstore.domain.records import JournalLine
else:
    episode_table = lazy_import("memstore.database.tables.episodes")


BEGINS = (Kind.ADD, Kind.EPISODE, Kind.ADOPT)
ENDS = (Kind.ERASE, Kind.ERASE_EPISODE)


def state(lines: Iterable[JournalLine]) -> dict[str, Any] | None:
    """Return the state of a fact or an episode after its lines; ``None`` if it was erased."""
    values: dict[str, Any] | None = {}
    for line in lines:
        if line.kind in BEGINS:
            values = {"metadata": {}} | (line.after or {})
        elif line.kind in ENDS or values is None:
            values = None
        elif line.kind not in UNCHANGED:
            values |= line.after or {}
    return None if values is None else _set(values)


def remains(lines: Iterable[JournalLine]) -> dict[str, Any] | None:
    """Return what is left of an erased fact or episode; ``None`` if the journal does not say."""
    values: dict[str, Any] | None = None
    for line in lines:
        if line.kind in ENDS:
            values = dict(line.after) if line.after else None
        elif values is not None and line.kind not in UNCHANGED:
            values |= line.after or {}
    return None if values is None else _set(values)


def _set(values: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None and value != []}


FACT_STATE: Final[Mapping[str, Any]] = {
    "metadata": {},
    "superseded_by": None,
    "superseded_at": None,
    "confirmed_count": 0,
    "last_confirmed_at": None,
    "expired_at": None,
    "deleted_at": None,
    "pinned_at": None,
    "external_key": None,
}
"""What changes of a fact, and what it is unless the journal says otherwise."""

EPISODE_STATE: Final[Mapping[str, Any]] = {"tags": [], "metadata": {}, "expired_at": None}


class Switched(NamedTuple):
    """The facts of then that were superseded or reactivated, or deleted or restored, since."""

    facts: Collection[int]
    were: Collection[int]
    """Those that were superseded, or deleted, at the moment."""


class LaterChanges(NamedTuple):
    """The facts that existed at a moment, and whose state changed after it."""

    superseded: Switched
    deleted: Switched
    others: set[int]
    """Those whose metadata or pin changed."""
    updated: set[int]
    """Those whose expiry or external key changed."""
    unknown: Collection[int]
    """Facts with an id of then that were not in the journal yet: another program stored them."""

    @property
    def all(self) -> set[int]:
        return {*self.superseded.facts, *self.deleted.facts, *self.others, *self.updated}


def later_changes(transaction: Transaction, moment: Moment) -> LaterChanges:
    """Return what changed after a moment, from the kinds of lines alone."""

    def changed(kind: Kind) -> list[int]:
        return journal.changed_by(transaction, kind, moment.line, "fact_id", moment.last_fact)

    def switched(off: Kind, on: Kind) -> Switched:
        by_off, by_on = changed(off), {*changed(on)}
        both = by_on.intersection(by_off) if by_on else set()
        lines = journal.of_facts(transaction, [*both])
        pair = (line for line in lines if line.id > moment.line and line.kind in (off, on))
        first = {line.fact_id: line.kind for line in reversed([*pair])}
        were = {fact_id for fact_id in by_on if first.get(fact_id, on) == on}
        return Switched([*by_off, *by_on], were)

    return LaterChanges(
        switched(Kind.SUPERSEDE, Kind.UNSUPERSEDE),
        switched(Kind.DELETE, Kind.RESTORE),
        {*changed(Kind.METADATA), *changed(Kind.PIN), *changed(Kind.UNPIN)},
        {*changed(Kind.UPDATE)},
        changed(Kind.ADOPT),
    )


def changed_episodes(transaction: Transaction, moment: Moment) -> set[int]:
    """Return the episodes of then that were updated after a moment."""
    kind, last = Kind.UPDATE_EPISODE, moment.last_episode
    return {*journal.changed_by(transaction, kind, moment.line, "episode_id", last)}


def facts_at(transaction: Transaction, fact_ids: Sequence[int], moment: Moment) -> dict[int, Fact]:
    """Return facts as they were, by id, without those that did not exist.

    How often they were used is of now, and one that was erased since is as it is now.
    """
    now = fact_table.get_many(transaction, fact_ids)
    hidden = trust.distrusted_at(transaction, now, moment.line)
    found = {
        fact_id: replace(fact, as_of=moment.at, distrusted=fact_id in hidden)
        for fact_id, fact in now.items()
    }
    changed = journal.changed_after(transaction, [*found], moment.line)
    lines = journal.of_facts(transaction, changed)
    states = dict(_states(lines, "fact_id", moment.line))
    successors = [state["superseded_by"] for state in states.values() if state["superseded_by"]]
    began = fact_table.began(transaction, successors)
    for fact_id in changed:
        if fact_id in states and found[fact_id].status == "erased":
            found[fact_id] = replace(found[fact_id], **_links_at(lines, fact_id, moment.line))
        elif fact_id in states:
            state = states[fact_id]
            ends = [state["expired_at"], began.get(state["superseded_by"])]
            until = min((end for end in ends if end is not None), default=None)
            found[fact_id] = replace(found[fact_id], **state, holds_until=until)
        else:
            del found[fact_id]
    return found


def _links_at(lines: Sequence[JournalLine], fact_id: int, last: int) -> dict[str, Any]:
    """Return the links of an erased fact as far as they are known: kinds of lines stay."""
    pair = (Kind.SUPERSEDE, Kind.UNSUPERSEDE)
    later = (line.id > last and line.fact_id == fact_id and line.kind in pair for line in lines)
    return {"superseded_by": None, "superseded_at": None, "holds_until": None} if any(later) else {}


def chain_at(transaction: Transaction, fact_id: int, moment: Moment) -> list[Fact]:
    """Return the chain that a fact had, oldest first."""
    later = later_changes(transaction, moment)
    freed = facts_at(transaction, [*later.superseded.were], moment)
    found = new = facts_at(transaction, [fact_id], moment)
    while new:
        links = {*(fact.superseded_by for fact in new.values() if fact.superseded_by)}
        links |= {fact.id for fact in fact_table.all_superseded_by(transaction, [*new])}
        links |= {fact.id for fact in freed.values() if fact.superseded_by in new}
        successors = {fact.superseded_by for fact in found.values()}
        new = {
            id_: fact
            for id_, fact in facts_at(transaction, [*links - {*found}], moment).items()
            if fact.superseded_by in found or id_ in successors
        }
        found = found | new
    return chains.in_order(found.values())


def superseded_by(transaction: Transaction, fact_id: int, moment: Moment) -> list[Fact]:
    """Return the facts that one had superseded, by id."""
    ids = {fact.id for fact in fact_table.superseded_by(transaction, fact_id)}
    ids |= {*later_changes(transaction, moment).superseded.were}
    facts = facts_at(transaction, sorted(ids), moment)
    return [fact for _, fact in sorted(facts.items()) if fact.superseded_by == fact_id]


def episodes_at(
    transaction: Transaction, episode_ids: Sequence[int], moment: Moment
) -> dict[int, Episode]:
    """Return episodes as they were, by id, without those that did not exist."""
    ends = journal.ends_of_episodes(transaction, episode_ids)
    known = [id_ for id_, (first, _) in ends.items() if first <= moment.line]
    found = episode_table.get_many(transaction, known)
    changed = [
        id_
        for id_, episode in found.items()
        if ends[id_][1] > moment.line and episode.status != "erased"
    ]
    lines = journal.of_episodes(transaction, changed)
    states = _states(lines, "episode_id", moment.line)
    return found | {id_: replace(found[id_], **state) for id_, state in states}


def _states(
    lines: Sequence[JournalLine], column: str, last: int
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the ids of what existed at a line, each with what changes of it as it was then."""
    defaults = FACT_STATE if column == "fact_id" else EPISODE_STATE
    ids = sorted(lines, key=lambda line: getattr(line, column))
    for id_, its in groupby(ids, key=lambda line: getattr(line, column)):
        before = [line for line in its if line.id <= last]
        if before:
            held = state(before) or {}
            yield id_, {name: _read(name, held.get(name, defaults[name])) for name in defaults}


def _read(name: str, value: Any) -> Any:
    if name in MOMENT_FIELDS and isinstance(value, str):
        return clock.from_text(value)
    return value.copy() if isinstance(value, dict | list) else value
