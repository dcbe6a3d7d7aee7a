"""What people decide about entities: two names are one, or are not, and no decision is undone
by another one. Names are compared by their keys; the journal says that and by whom something was
decided, and leaves the names out."""

from __future__ import annotations

from collections import defaultdict, deque
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from memstore.database import journal
from memstore.database.filters import FactFilter
from memstore.database.journal import Author, Kind
from memstore.database.tables import entity_decisions as decision_table
from memstore.database.tables import graph as graph_table
from memstore.domain import clock
from memstore.domain.arguments import MAX_NAME, checked_text
from memstore.domain.entities import EntityDecision
from memstore.errors import Conflict, NotFound
from memstore.text.names import name_key, stands_in

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from memstore.database.engine import Transaction
    from memstore.database.tables.entity_decisions import Kept
    from memstore.domain.records import Fact


def decide(
    transaction: Transaction, author: Author, namespace: str, left: str, right: str, *, same: bool
) -> EntityDecision:
    """Keep that two names are one entity, or are not, and let the built graph follow.

    Raises:
        Conflict: what was decided before says otherwise; the message names the chain.
        ValueError: the two are one name already, whatever case or spaces it is written with.
    """
    names = (_checked(left, "the first name"), _checked(right, "the second name"))
    keys = (name_key(names[0]), name_key(names[1]))
    if keys[0] == keys[1]:
        raise ValueError(
            f"{names[0]!r} and {names[1]!r} are one name, whatever case and spaces it is written "
            "with: give two names"
        )
    ours, others = (_around(transaction, namespace, key) for key in keys)
    known = _on(ours, keys[1])
    if known is not None and known.decision.same == same:
        return known.decision
    if against := _against(ours, others, keys[1], same=same):
        raise Conflict(
            f"{names[0]!r} and {names[1]!r} cannot be {'one' if same else 'kept apart'}, because "
            f"{_told(against, keys[0])}: forget one of these decisions first"
        )
    first, second = (name for _, name in sorted(zip(keys, names, strict=True)))
    decision = EntityDecision(
        left=first, right=second, same=same, actor=author.actor, at=clock.utc_now()
    )
    _keep(transaction, author, namespace, decision)
    return decision


def forget(
    transaction: Transaction, author: Author, namespace: str, left: str, right: str
) -> EntityDecision:
    """Take a decision back and return it; the built graph follows.

    Raises:
        NotFound: nothing was decided about just these two names.
    """
    key = name_key(_checked(left, "the first name"))
    other = name_key(_checked(right, "the second name"))
    known = _on(_around(transaction, namespace, key), other)
    if known is None:
        raise NotFound(
            f"nothing was decided about {left!r} and {right!r} in namespace {namespace!r}: "
            "graph.decisions() lists what was"
        )
    _drop(transaction, author, known)
    return known.decision


def bring_decision(
    transaction: Transaction, author: Author, namespace: str, decision: EntityDecision
) -> bool:
    """Keep a decision of another file, with its own time and actor.

    Returns:
        Whether it is new; one that is known, or against what was decided here, changes nothing.
    """
    keys = (name_key(decision.left), name_key(decision.right))
    if keys[0] == keys[1]:
        return False
    ours, others = (_around(transaction, namespace, key) for key in keys)
    if _on(ours, keys[1]) or _against(ours, others, keys[1], same=decision.same):
        return False
    _keep(transaction, author, namespace, decision)
    return True


def entity_of(transaction: Transaction, namespace: str, key: str) -> list[str]:
    """Return every key that was decided to be one with a key, in order, itself among them."""
    return sorted(_around(transaction, namespace, key).chains)


def groups(held: Iterable[Kept]) -> list[list[str]]:
    """Return the keys that were decided on, those of each entity together, in order."""
    links: defaultdict[str, list[Kept]] = defaultdict(list)
    for one in held:
        links[one.left_key].append(one)
        links[one.right_key].append(one)
    found: dict[str, list[str]] = {}
    for key in links:
        if key not in found:
            keys = sorted(_walk(links.__getitem__, key).chains)
            found.update(dict.fromkeys(keys, keys))
    return [keys for key, keys in found.items() if key == keys[0]]


def parted(held: Sequence[Kept]) -> Iterator[tuple[Kept, str, str]]:
    """Yield each decision to keep apart, and for either side the first key of its entity."""
    first = {key: keys[0] for keys in groups(held) for key in keys}
    for one in held:
        if not one.decision.same:
            yield one, first[one.left_key], first[one.right_key]


def forget_fact(transaction: Transaction, author: Author, fact: Fact) -> None:
    """Take a fact that was erased out of the graph, and its words out of the decisions.

    A decision goes with it when one of its names stood in this fact and stands in no other that
    is stored: else the file would keep a name that it should not.
    """
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
    lost = _found_nowhere(transaction, fact, {key for key, _ in touched})
    for kept in {kept.id: kept for key, kept in touched if key in lost}.values():
        _drop(transaction, author, kept)


def forget_namespace(transaction: Transaction, author: Author, namespace: str) -> None:
    """Remove a namespace's graph and every decision on it."""
    held = decision_table.of_namespace(transaction, namespace)
    for kept in held:
        decision_table.delete(transaction, kept.id)
    if graph_table.clear(transaction, namespace) or held:
        after = {"namespace": namespace, "decisions": 0}
        journal.append(transaction, author, Kind.CLEAR_GRAPH, None, after=after)


def _found_nowhere(transaction: Transaction, erased: Fact, keys: set[str]) -> set[str]:
    """Return those of the names that stand in no fact there still is, in whatever state."""
    there = FactFilter(
        (erased.namespace,), clock.utc_now(), active_only=False, include_deleted=True
    )
    for fact_id, *texts in graph_table.texts(transaction, there):
        if fact_id != erased.id:
            told = [name_key(text) for text in texts]
            keys = {key for key in keys if not any(stands_in(key, text) for text in told)}
            if not keys:
                break
    return keys


def _checked(name: str, what: str) -> str:
    return " ".join(checked_text(name, what, MAX_NAME).split())


class _Around(NamedTuple):
    """What was decided about a name, and about all that are one with it."""

    chains: dict[str, list[Kept]]
    """Every key that is one with it, and by which decisions, a shortest chain each."""
    apart: list[Kept]
    """Decisions that keep one of these apart from another name."""
    own: list[Kept]
    """Decisions about just this name."""


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
    """Return what was decided about just these two."""
    return next((one for one in ours.own if other in (one.left_key, one.right_key)), None)


def _against(ours: _Around, others: _Around, other: str, *, same: bool) -> list[Kept]:
    """Return a chain of decisions that a new one would contradict; empty if none is."""
    if not same:
        return ours.chains.get(other, [])
    for one in ours.apart:
        for near, far in ((one.left_key, one.right_key), (one.right_key, one.left_key)):
            if near in ours.chains and far in others.chains:
                return [*ours.chains[near], one, *reversed(others.chains[far])]
    return []


def _told(chain: Iterable[Kept], key: str) -> str:
    """Say a chain of decisions, beginning with a key."""
    said = []
    for one in chain:
        names = [one.decision.left, one.decision.right]
        if name_key(names[0]) != key:
            names.reverse()
        key = name_key(names[1])
        said.append(f"{names[0]!r} {'is' if one.decision.same else 'is not'} {names[1]!r}")
    return ", and ".join(said)


def _keep(
    transaction: Transaction, author: Author, namespace: str, decision: EntityDecision
) -> None:
    keys = (name_key(decision.left), name_key(decision.right))
    decision_id = decision_table.insert(transaction, namespace, keys, decision)
    kind = Kind.SAME_ENTITY if decision.same else Kind.OTHER_ENTITY
    after = {"namespace": namespace, "decision": decision_id}
    journal.append(transaction, author, kind, None, after=after)
    _regroup(transaction, namespace, keys)


def _drop(transaction: Transaction, author: Author, kept: Kept) -> None:
    decision_table.delete(transaction, kept.id)
    before = {"namespace": kept.namespace, "decision": kept.id, "same": kept.decision.same}
    journal.append(transaction, author, Kind.UNDECIDE, None, before=before)
    _regroup(transaction, kept.namespace, (kept.left_key, kept.right_key))


def _regroup(transaction: Transaction, namespace: str, keys: tuple[str, str]) -> None:
    graph = graph_table.current(transaction, namespace)
    if graph is not None:
        for key in keys:
            same = entity_of(transaction, namespace, key)
            graph_table.regroup(transaction, graph.id, same)
