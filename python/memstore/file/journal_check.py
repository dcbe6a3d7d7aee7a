"""Comparing facts, episodes and proposals with their state according to the replayed journal."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, TypeVar

from memstore.database import journal
from memstore.database.engine import NO_LIMIT
from memstore.database.journal import DECIDING, Kind
from memstore.database.tables import commitments
from memstore.database.tables import entity_decisions as decision_table
from memstore.database.tables import episodes as episode_table
from memstore.database.tables import facts as fact_table
from memstore.database.tables import generations as generation_table
from memstore.database.tables import proposals as proposal_table
from memstore.database.tables.proposals import ProposalRow
from memstore.domain.episodes import Episode
from memstore.domain.records import Fact
from memstore.episodes.checks import hash_of
from memstore.history import past
from memstore.history import proposals as told

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from memstore.database.engine import Row, Transaction
    from memstore.domain.records import JournalLine

T = TypeVar("T", Fact, Episode)


def facts(transaction: Transaction) -> Iterator[str]:
    """Yield the ids of facts that differ from the journal, with the differing fields.

    Those of other programs that are not journalled yet are left out.
    """
    others = {*fact_table.foreign(transaction, NO_LIMIT)}
    own = (fact for fact in fact_table.everything(transaction) if fact.id not in others)
    lines = (one for one in journal.by_fact(transaction) if one[0] not in others)
    return _compared(own, lines, _fact)


def episodes(transaction: Transaction) -> Iterator[str]:
    """Yield the ids of episodes that differ from the journal, with the differing fields."""
    return _compared(
        episode_table.everything(transaction), journal.by_episode(transaction), _episode
    )


def proposals(transaction: Transaction) -> Iterator[str]:
    """Yield the ids of proposals that differ from the journal, with the differing columns."""
    lines, left = told.grouped(journal.of_kinds(transaction, (*DECIDING, Kind.REDACT)))
    stored = {row[0]: row for row in proposal_table.stored(transaction)}
    for id_ in sorted({*stored, *lines}, key=str):
        own = lines.get(id_)
        if id_ not in stored:
            yield f"{id_} (only in the journal)"
            continue
        right = None if own is None else _replayed(own, left)
        if right is None:
            yield f"{id_} (not in the journal)"
            continue
        wrong = [
            name
            for name, found, expected in zip(ProposalRow._fields, stored[id_], right, strict=True)
            if type(found) is not type(expected) or found != expected
        ]
        if wrong:
            yield f"{id_} ({', '.join(sorted(wrong))})"


def _replayed(lines: Sequence[JournalLine], left: Mapping[int, Mapping[str, Any]]) -> Row | None:
    return proposal_table.replayed(lines, told.evidence_of(lines[0], left))


def decisions(transaction: Transaction) -> Iterator[str]:
    """Yield the ids of decisions about entities that differ from the journal, and how.

    The journal has no names. It has a commitment to them, since decisions have one.
    """
    told = _decisions_told(transaction)
    for kept in decision_table.everywhere(transaction):
        line = told.pop(kept.id, None)
        if line is None:
            yield f"{kept.id} (not in the journal)"
            continue
        after = line.after or {}
        wrong = []
        if after.get("namespace") != kept.namespace:
            wrong.append("namespace")
        if (line.kind == Kind.SAME_ENTITY) != kept.decision.same:
            wrong.append("same")
        commitment = after.get(commitments.MEMBER)
        if commitment is not None and not decision_table.is_committed(
            transaction, kept, commitment
        ):
            wrong.append("names, actor or time")
        if wrong:
            yield f"{kept.id} ({', '.join(wrong)})"
    yield from (f"{id_} (only in the journal)" for id_ in told)


def _decisions_told(transaction: Transaction) -> dict[int, JournalLine]:
    """Return the line of each decision that nobody has withdrawn, by the decision's id."""
    told: dict[int, JournalLine] = {}
    kinds = (Kind.SAME_ENTITY, Kind.OTHER_ENTITY, Kind.UNDECIDE, Kind.CLEAR_GRAPH)
    for line in journal.of_kinds(transaction, kinds):
        if line.kind == Kind.UNDECIDE:
            told.pop((line.before or {}).get("decision", 0), None)
        elif line.kind != Kind.CLEAR_GRAPH:
            told[(line.after or {}).get("decision", 0)] = line
        elif "decisions" in (after := line.after or {}):  # those of the namespace went with it
            for id_, one in [*told.items()]:
                if (one.after or {}).get("namespace") == after.get("namespace"):
                    del told[id_]
    return told


def generations(transaction: Transaction) -> Iterator[str]:
    """Yield the ids of generations of vectors that differ from the journal, and how.

    The first one is as old as the file, and the model of a new one is recorded with its first
    vector, so neither is in the journal.
    """
    states, models = {1: "active"}, dict[int, str]()
    for line in journal.of_kinds(transaction, (Kind.STAGE, Kind.SWITCH, Kind.DROP)):
        after = line.after or {}
        id_, model = int(after.get("generation", 0)), after.get("model")
        if model is not None:
            models[id_] = model
        if line.kind == Kind.DROP:
            states.pop(id_, None)
        elif line.kind == Kind.STAGE:
            states[id_] = "staged"
        else:
            states = {
                one: "retired" if state == "active" else state for one, state in states.items()
            }
            states[id_] = "active"
    for generation in generation_table.every(transaction):
        state = states.pop(generation.id, None)
        if state is None:
            yield f"{generation.id} (not in the journal)"
        elif state != generation.state:
            yield f"{generation.id} (state)"
        elif models.get(generation.id, generation.model) != generation.model:
            yield f"{generation.id} (model)"
    yield from (f"{id_} (only in the journal)" for id_ in states)


def differs(transaction: Transaction, fact_id: int) -> bool:
    """Return whether one fact differs from the journal."""
    fact = fact_table.get_many(transaction, [fact_id])[fact_id]
    return bool(_fact(fact, journal.of_fact(transaction, fact_id)))


def _compared(
    stored: Iterable[T],
    journalled: Iterator[tuple[int, Iterable[JournalLine]]],
    differences: Callable[[T, Iterable[JournalLine]], set[str]],
) -> Iterator[str]:
    """Compare two iterators that are both ordered by id."""
    nothing: tuple[None, tuple[JournalLine, ...]] = (None, ())
    id_, operations = next(journalled, nothing)
    for one in stored:
        while id_ is not None and id_ < one.id:
            yield f"{id_} (only in the journal)"
            id_, operations = next(journalled, nothing)
        if id_ != one.id:
            yield f"{one.id} (not in the journal)"
            continue
        if names := differences(one, operations):
            yield f"{one.id} ({', '.join(sorted(names))})"
        id_, operations = next(journalled, nothing)
    while id_ is not None:
        yield f"{id_} (only in the journal)"
        id_, operations = next(journalled, nothing)


def _fact(fact: Fact, operations: Iterable[JournalLine]) -> set[str]:
    operations = [*operations]
    expected = past.state(operations)
    if expected is not None:
        return _unequal(fact_table.journalled(fact), expected)
    if fact.status != "erased":
        return {"erased"}
    left = past.remains(operations)
    return set() if left is None else _unequal(fact_table.journalled(fact), left)


def _episode(episode: Episode, operations: Iterable[JournalLine]) -> set[str]:
    operations = [*operations]
    expected = past.state(operations)
    if expected is None:
        if episode.content:
            return {"erased"}
        left = past.remains(operations)
        return set() if left is None else _unequal(episode_table.journalled(episode), left)
    names = _unequal(episode_table.journalled(episode), expected)
    if not episode.content or hash_of(episode.content) != episode.content_hash:
        names.add("content")
    return names


def _unequal(found: Mapping[str, Any], expected: Mapping[str, Any]) -> set[str]:
    names = found.keys() | expected.keys()
    return {name for name in names if not _same(found.get(name), expected.get(name))}


def _same(found: Any, expected: Any) -> bool:
    """Compare two values as JSON: in Python, 1, 1.0 and true are equal, and so are all orders."""
    if found != expected or type(found) is not type(expected):
        return False
    return not isinstance(found, dict | list) or json.dumps(found) == json.dumps(expected)
