"""People's decisions about entities: that two names are one, or that they are not.

No decision overrides an earlier one. Names are compared by their keys. The journal records that a
decision was made and by whom, without the names.
"""

from __future__ import annotations

from collections import defaultdict, deque
from functools import partial
from typing import TYPE_CHECKING

from memstore.database.changes import Changes, Line
from memstore.database.filters import FactFilter
from memstore.database.journal import Kind
from memstore.database.tables import commitments
from memstore.database.tables import entity_decisions as decision_table
from memstore.database.tables import graph as graph_table
from memstore.domain import clock
from memstore.domain.arguments import MAX_NAME, checked_text
from memstore.domain.entities import EntityDecision
from memstore.errors import Conflict, InvalidArgument, NotFound, Remedy
from memstore.history import trust
from memstore.named import NamedTuple
from memstore.text.names import name_key, stands_in

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from memstore.database.engine import Transaction
    from memstore.database.tables.entity_decisions import Kept
    from memstore.domain.records import Fact


def decide(
    changes: Changes, namespace: str, left: str, right: str, *, same: bool
) -> EntityDecision:
    """Store that two names are one entity, or are not, and update the built graph."""
    trust.check_decides(changes.transaction, changes.author)
    names = (_checked(left, "left"), _checked(right, "right"))
    keys = (name_key(names[0]), name_key(names[1]))
    if keys[0] == keys[1]:
        raise InvalidArgument(
            f"{names[0]!r} and {names[1]!r} are one name: case and spaces do not matter"
        )
    ours, others = (_around(changes.transaction, namespace, key) for key in keys)
    known = _on(ours, keys[1])
    if known is not None and known.decision.same == same:
        return known.decision
    if against := _against(ours, others, keys[1], same=same):
        raise Conflict(
            f"{names[0]!r} and {names[1]!r} cannot be {'one' if same else 'kept apart'}, because "
            f"it was decided that {_chain_text(against, keys[0])}",
            remedy=Remedy.FORGET_DECISION,
        )
    first, second = (name for _, name in sorted(zip(keys, names, strict=True)))
    decision = EntityDecision(
        left=first, right=second, same=same, actor=changes.author.actor, at=changes.moment
    )
    _keep(changes, namespace, decision)
    return decision


def forget(changes: Changes, namespace: str, left: str, right: str) -> EntityDecision:
    """Withdraw a decision and return it; the built graph is updated."""
    trust.check_decides(changes.transaction, changes.author)
    key = name_key(_checked(left, "left"))
    other = name_key(_checked(right, "right"))
    known = _on(_around(changes.transaction, namespace, key), other)
    if known is None:
        raise NotFound(
            f"nothing was decided about {left!r} and {right!r} in namespace {namespace!r}",
            remedy=Remedy.LIST_DECISIONS,
        )
    _drop(changes, known)
    return known.decision


def bring_decision(
    changes: Changes, namespace: str, decision: EntityDecision, erased: Sequence[Fact] = ()
) -> bool:
    """Store a decision from another file, with its time and actor; return whether it is new.

    A decision that is stored already, or contradicts one here, changes nothing; nor does one with a
    name that, of all facts, only these have, whose texts were erased here.
    """
    keys = (name_key(decision.left), name_key(decision.right))
    if keys[0] == keys[1]:
        return False
    told = [name_key(text) for fact in erased for text in (fact.subject, fact.content)]
    lost = {key for key in keys if any(stands_in(key, text) for text in told)}
    if lost and _found_nowhere(changes.transaction, namespace, lost):
        return False
    ours, others = (_around(changes.transaction, namespace, key) for key in keys)
    if _on(ours, keys[1]) or _against(ours, others, keys[1], same=decision.same):
        return False
    _keep(changes, namespace, decision)
    return True


def entity_of(transaction: Transaction, namespace: str, key: str) -> list[str]:
    """Return the keys of every name decided to be the same as a key's, including that key."""
    return sorted(_around(transaction, namespace, key).chains)


def groups(kept: Iterable[Kept]) -> list[list[str]]:
    """Return the keys that have decisions, grouped by entity, in order."""
    links: defaultdict[str, list[Kept]] = defaultdict(list)
    for one in kept:
        links[one.left_key].append(one)
        links[one.right_key].append(one)
    found: dict[str, list[str]] = {}
    for key in links:
        if key not in found:
            keys = sorted(_walk(links.__getitem__, key).chains)
            found.update(dict.fromkeys(keys, keys))
    return [keys for key, keys in found.items() if key == keys[0]]


def parted(kept: Sequence[Kept]) -> Iterator[tuple[Kept, str, str]]:
    """Yield each decision to keep names apart, with the first key of the entity on either side."""
    first = {key: keys[0] for keys in groups(kept) for key in keys}
    for one in kept:
        if not one.decision.same:
            yield one, first[one.left_key], first[one.right_key]


def forget_fact(changes: Changes, fact: Fact) -> None:
    """Remove an erased fact from the graph, and its words from the decisions.

    A decision is removed if one of its names occurred in this fact and occurs in no other stored
    fact: otherwise the file would keep a name that should be erased.
    """
    transaction = changes.transaction
    graph_table.forget_fact(transaction, fact.namespace, fact.id)
    told = [name_key(text) for text in (fact.subject, fact.content)]
    touched = [
        (key, kept)
        for kept in decision_table.of_namespace(transaction, fact.namespace)
        for key in (kept.left_key, kept.right_key)
        if any(stands_in(key, text) for text in told)
    ]
    if not touched:
        return
    lost = _found_nowhere(transaction, fact.namespace, {key for key, _ in touched}, fact.id)
    for kept in {kept.id: kept for key, kept in touched if key in lost}.values():
        _drop(changes, kept)


def forget_build(changes: Changes, namespace: str) -> None:
    """Discard the graph of a namespace; decisions, and what a model read, stay."""
    changes.write(
        Line(Kind.CLEAR_GRAPH, after={"namespace": namespace}),
        graph_table.discarding_build(namespace),
    )


def forget_namespace(changes: Changes, namespace: str) -> None:
    """Delete the decisions and discard the graph, whose rows are to be removed in steps."""
    transaction = changes.transaction
    held = decision_table.of_namespace(transaction, namespace)
    if held or graph_table.exists(transaction, namespace):
        changes.write(
            Line(Kind.CLEAR_GRAPH, after={"namespace": namespace, "decisions": 0}),
            *(statement for kept in held for statement in decision_table.deleting(kept.id)),
            *graph_table.discarding(namespace),
        )


def _found_nowhere(
    transaction: Transaction, namespace: str, keys: set[str], besides: int | None = None
) -> set[str]:
    """Return the names that occur in no stored fact but this one, whatever its state."""
    there = FactFilter((namespace,), clock.utc_now(), active_only=False, include_deleted=True)
    for fact_id, *texts in graph_table.texts(transaction, there):
        if fact_id != besides:
            told = [name_key(text) for text in texts]
            keys = {key for key in keys if not any(stands_in(key, text) for text in told)}
            if not keys:
                break
    return keys


def _checked(name: str, what: str) -> str:
    return " ".join(checked_text(name, what, MAX_NAME).split())


class _Around(NamedTuple):
    """The decisions about a name and about every name that is the same."""

    chains: dict[str, list[Kept]]
    """Every key that is the same, with the shortest chain of decisions behind it."""
    apart: list[Kept]
    """Decisions to keep one of these apart from another name."""
    own: list[Kept]
    """Decisions about the name itself."""


def _around(transaction: Transaction, namespace: str, key: str) -> _Around:
    return _walk(partial(decision_table.about, transaction, namespace), key)


def _walk(about: Callable[[str], Iterable[Kept]], key: str) -> _Around:
    found = _Around({key: []}, [], [*about(key)])
    waiting = deque([key])
    while waiting:
        here = waiting.popleft()
        for one in about(here):
            if not one.decision.same:
                found.apart.append(one)
                continue
            there = one.right_key if one.left_key == here else one.left_key
            if there not in found.chains:
                found.chains[there] = [*found.chains[here], one]
                waiting.append(there)
    return found


def _on(ours: _Around, other: str) -> Kept | None:
    return next((one for one in ours.own if other in (one.left_key, one.right_key)), None)


def _against(ours: _Around, others: _Around, other: str, *, same: bool) -> list[Kept]:
    """Return a chain of decisions that a new one would contradict; empty if there is none."""
    if not same:
        return ours.chains.get(other, [])
    for one in ours.apart:
        for near, far in ((one.left_key, one.right_key), (one.right_key, one.left_key)):
            if near in ours.chains and far in others.chains:
                return [*ours.chains[near], one, *reversed(others.chains[far])]
    return []


def _chain_text(chain: Iterable[Kept], key: str) -> str:
    said = []
    for one in chain:
        names = [one.decision.left, one.decision.right]
        if name_key(names[0]) != key:
            names.reverse()
        key = name_key(names[1])
        said.append(f"{names[0]!r} {'is' if one.decision.same else 'is not'} {names[1]!r}")
    return ", and ".join(said)


def _keep(changes: Changes, namespace: str, decision: EntityDecision) -> None:
    keys = (name_key(decision.left), name_key(decision.right))
    kind = Kind.SAME_ENTITY if decision.same else Kind.OTHER_ENTITY
    decision_table.insert(
        changes,
        namespace,
        keys,
        decision,
        lambda kept: Line(
            kind,
            after={
                "namespace": namespace,
                "decision": kept.id,
                commitments.MEMBER: decision_table.commit(changes.transaction, kept),
            },
        ),
    )
    _regroup(changes.transaction, namespace, keys)


def _drop(changes: Changes, kept: Kept) -> None:
    before = {"namespace": kept.namespace, "decision": kept.id, "same": kept.decision.same}
    changes.write(Line(Kind.UNDECIDE, before=before), *decision_table.deleting(kept.id))
    _regroup(changes.transaction, kept.namespace, (kept.left_key, kept.right_key))


def _regroup(transaction: Transaction, namespace: str, keys: tuple[str, str]) -> None:
    graph = graph_table.current(transaction, namespace)
    if graph is not None:
        for key in keys:
            same = entity_of(transaction, namespace, key)
            graph_table.regroup(transaction, graph.id, same)
