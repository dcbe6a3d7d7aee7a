"""What pages over the memory read: each call beside a naive twin, over random memories."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.examples import examples
from tests.support.random_memories import ACTS, BOB, OWNERS, Memory, paged

from memstore import Fact, InvalidArgument, InvalidArgumentType, Owner, Scope, Store, Subject
from memstore.domain import clock
from memstore.facts import subjects as subject_lists
from memstore.text.folding import subject_key

# -- subjects and owners --------------------------------------------------------------------


def by_hand(memory: Memory, owner: str) -> list[Subject]:
    """Return the subjects by reading every fact and every line."""
    facts = memory.facts(owner)
    active = [fact for fact in facts if fact.status == "active"]
    found = []
    for key in {subject_key(fact.subject) for fact in active}:
        newest = max((f for f in active if subject_key(f.subject) == key), key=lambda f: f.id)
        lines = [
            line
            for fact in facts
            if subject_key(fact.subject) == key
            for line in memory.store.journal(fact.id)
            if line.fact_id == fact.id and line.kind not in ("embed", "quarantine")
        ]
        last = max(lines, key=lambda line: line.id)
        found.append(
            Subject(
                name=newest.subject,
                facts=sum(subject_key(fact.subject) == key for fact in active),
                newest=newest.id,
                line=last.id,
                changed_at=last.at,
            )
        )
    return sorted(found, key=lambda one: subject_key(one.name))


@settings(max_examples=examples(30))
@given(ACTS, st.sampled_from(sorted(OWNERS)), st.integers(1, 3), st.booleans())
def test_subjects_are_those_found_by_hand(
    fresh: Callable[[], Store], acts: list[tuple[int, ...]], owner: str, limit: int, many: bool
) -> None:
    orders: dict[str, Callable[[Subject], Any]] = {
        "name": lambda one: subject_key(one.name),
        "size": lambda one: (-one.facts, subject_key(one.name)),
        "changed": lambda one: -one.line,
    }
    memory = Memory(fresh(), acts)
    store = memory.store
    with pytest.MonkeyPatch.context() as patch:
        if many:  # as if there were too many to look at each of them
            patch.setattr(subject_lists, "FEW", 0)
        right = by_hand(memory, owner)
        for order, key in orders.items():
            found = paged(
                lambda after, order=order: store.subjects(
                    order=order, scope=OWNERS[owner], after=after, limit=limit
                )
            )
            assert found == sorted(right, key=key), order
        began = [one for one in right if subject_key(one.name).startswith("b")]
        for order in orders:
            found = store.subjects("B", order=order, scope=OWNERS[owner])
            assert sorted(found, key=lambda one: one.newest) == sorted(
                began, key=lambda one: one.newest
            )


@settings(max_examples=examples(50))
@given(
    st.lists(st.text(st.sampled_from("aé\ud7ff\ue000\U0010ffff"), min_size=1, max_size=3)),
    st.text(st.sampled_from("aé\ud7ff\ue000\U0010ffff"), max_size=2),
)
def test_subjects_with_a_prefix_are_those_that_begin_with_it(
    fresh: Callable[[], Store], names: list[str], prefix: str
) -> None:
    store = fresh()
    for name in names:
        store.add("a fact", subject=name)
    right = {key for name in names if (key := subject_key(name)).startswith(subject_key(prefix))}
    assert [subject_key(one.name) for one in store.subjects(prefix)] == sorted(right)


def test_a_subject_that_changes_is_on_the_first_page_again(store: Store) -> None:
    for name in ("a", "b", "c"):
        store.add(f"a fact about {name}", subject=name)
    (first,) = store.subjects(order="changed", limit=1)
    assert (first.name, str(first), first.facts) == ("c", "c", 1)
    store.add("another fact", subject="a")
    rest = store.subjects(order="changed", after=first)
    assert [one.name for one in rest] == ["b"]
    assert [one.name for one in store.subjects(order="changed")] == ["a", "c", "b"]
    assert [one.name for one in store.subjects(order="size")] == ["a", "b", "c"]


def test_a_subject_of_a_project_counts_with_the_shared_namespace(
    open_store: Callable[..., Store],
) -> None:
    store = open_store()
    project = type(store)(store.file, "project", shared="default")
    store.add("likes tea", subject="Ana", category="preference")
    project.add("owns the build", subject="ana")
    assert [(one.name, one.facts) for one in project.subjects()] == [("ana", 2)]
    assert [(one.name, one.facts) for one in project.subjects(order="size")] == [("ana", 2)]
    assert [one.total for one in project.owners()] == [2]


@pytest.mark.parametrize(
    ("asked", "error"),
    [
        ({"order": "age"}, InvalidArgument),
        ({"limit": 0}, InvalidArgument),
        ({"after": "ana"}, InvalidArgumentType),
    ],
)
def test_wrong_arguments_of_subjects_are_refused(
    store: Store, asked: dict[str, Any], error: type[Exception]
) -> None:
    with pytest.raises(error):
        store.subjects(**asked)


@settings(max_examples=examples(30))
@given(ACTS)
def test_owners_are_those_found_by_hand(
    fresh: Callable[[], Store], acts: list[tuple[int, ...]]
) -> None:
    memory = Memory(fresh(), acts)
    store = memory.store
    store.episodes.add("Bob's words", source="chat", scope=BOB)
    found: dict[Scope, Counter[str]] = {Scope(): Counter(), BOB: Counter()}
    for fact in memory.facts():
        held = found.setdefault(fact.scope, Counter())
        held["total"] += 1
        held["facts"] += fact.superseded_by is None and fact.deleted_at is None
    found[Scope()]["total"] += len(memory.ids) - len(memory.facts())  # erased
    found[Scope()]["episodes"] += store.episodes.count()
    found[BOB]["episodes"] += 1
    right = [
        Owner(scope=scope, facts=n["facts"], total=n["total"], episodes=n["episodes"])
        for scope, n in found.items()
        if n.total()
    ]
    owners = paged(lambda after: store.owners(limit=1, after=after))
    sizes = [one.facts + one.episodes for one in owners]
    assert sizes == sorted(sizes, reverse=True)
    assert {str(one) for one in owners} == {str(one) for one in right}
    assert len(owners) == len(right)


# -- counts, and many at once ---------------------------------------------------------------


@settings(max_examples=examples(30))
@given(ACTS, st.sampled_from(sorted(OWNERS)))
def test_counts_and_reads_of_many_are_those_of_one_at_a_time(
    fresh: Callable[[], Store], acts: list[tuple[int, ...]], owner: str
) -> None:
    memory, owners = Memory(fresh(), acts), OWNERS[owner]
    store, facts = memory.store, memory.facts(owner)
    whole, counted = store.status(scope=owners).to_dict(), store.counts(scope=owners).to_dict()
    assert counted.items() <= whole.items()
    states = Counter(fact.status for fact in facts)
    if owner != "ana":  # an erased fact counts as a deleted one of nobody
        states["deleted"] += len(memory.ids) - len(memory.facts())
    for name in ("active", "superseded", "deleted", "expired", "distrusted"):
        assert counted[name] == states[name]
    ids = [memory.last + 1, *memory.ids[::-1], memory.last, -5, 2**70]
    assert store.get_many(ids, scope=owners) == facts[::-1]
    assert store.histories(ids, scope=owners) == {
        fact.id: store.history(fact.id, scope=None if owner == "all" else fact.scope)
        for fact in facts
    }


def test_facts_of_another_namespace_are_not_read(store: Store) -> None:
    other = store.within("other")
    ours, theirs = store.add("ours", subject="s"), other.add("theirs", subject="s")
    ids = [theirs.id, ours.id, ours.id]
    assert [fact.id for fact in store.get_many(ids)] == [ours.id]
    assert [*store.histories(ids)] == [ours.id]
    assert store.get_many([]) == []
    with pytest.raises(InvalidArgumentType):
        store.get_many(["1"])  # type: ignore[list-item]


# -- lists --------------------------------------------------------------------------------------

NARROWED: tuple[dict[str, Any], ...] = (
    {},
    {"source": "chat"},
    {"thread": "a thread"},
    {"subject": "BOB"},
    {"category": "event"},
    {"states": ["deleted"]},
    {"states": ["superseded", "active"], "subject": "ana"},
    {"states": ("expired", "distrusted"), "source": "web:x"},
    {"states": ["active"]},
    {"states": []},
    {"states": ["superseded"], "tasks": False},
    {"states": ["active", "superseded"], "valid_on": "today"},
)


TASK = ("task", "todo")


def passes(fact: Fact, asked: dict[str, Any]) -> bool:
    """Return whether a fact is one of those asked for, by its attributes."""
    now = clock.utc_now()
    held = fact.holds_until is None or fact.holds_until > now - timedelta(days=1)
    return (
        fact.status in asked.get("states", ["active"])
        and asked.get("source", fact.source) == fact.source
        and asked.get("thread", fact.thread) == fact.thread
        and asked.get("category", fact.category) == fact.category
        and asked.get("episode", fact.episode_id) == fact.episode_id
        and subject_key(asked.get("subject", fact.subject)) == subject_key(fact.subject)
        and (
            asked.get("tasks", True)
            or fact.metadata.get("kind") != "task"
            or fact.subject != "todo"
        )
        and ("valid_on" not in asked or held)
    )


@settings(max_examples=examples(30))
@given(ACTS, st.sampled_from(sorted(OWNERS)), st.integers(1, 3), st.booleans())
def test_lists_and_counts_are_what_passes_one_by_one(
    fresh: Callable[[], Store], acts: list[tuple[int, ...]], owner: str, limit: int, newest: bool
) -> None:
    memory = Memory(fresh(), acts)
    store, facts = memory.store, memory.facts(owner)
    drawn = [fact.episode_id for fact in facts if fact.episode_id is not None]
    view = store.as_of("now")
    for narrowed in (*NARROWED, {"episode": drawn[0] if drawn else 10**6}):
        asked = {**narrowed, "scope": OWNERS[owner]}
        right = [fact.id for fact in facts if passes(fact, narrowed)]
        assert [fact.id for fact in store.list(**asked)] == right, narrowed
        assert store.count(**asked) == view.count(**asked) == len(right), narrowed
        cursor = "before_id" if newest else "after_id"
        for one in (store, view):
            found = paged(
                lambda last, one=one, asked=asked, cursor=cursor: one.list(
                    **asked,
                    limit=limit,
                    newest_first=newest,
                    **({} if last is None else {cursor: last.id}),
                )
            )
            assert [fact.id for fact in found] == (right[::-1] if newest else right), narrowed


def test_facts_in_a_state_of_then(store: Store) -> None:
    old = store.add("likes tea", subject="ana")
    gone = store.add("likes milk", subject="bob")
    bad = store.within(source="web:x").add("likes rain", subject="zoe", source="web:x")
    new = store.add("likes cocoa", subject="ana", supersedes=old.id)
    store.delete(gone.id)
    store.distrust("web:x")
    then = store.as_of("now")
    store.restore(gone.id)
    store.delete(new.id)
    store.trust("web:x")

    def ids(one: Any, *states: str) -> list[int]:
        return [fact.id for fact in one.list(states=states)]

    assert ids(then, "active") == [new.id]
    assert ids(then, "deleted") == [gone.id]
    assert ids(then, "superseded", "distrusted") == [old.id, bad.id]
    assert ids(store, "active") == [gone.id, bad.id]
    assert ids(store, "deleted") == [new.id]
    assert ids(store, "distrusted") == []


def test_a_page_of_episodes_begins_after_the_one_before(store: Store) -> None:
    said = [store.episodes.add(f"said {n}", source="chat").id for n in range(5)]
    pages = paged(
        lambda last: store.episodes.list(
            limit=2, newest_first=True, before_id=None if last is None else last.id
        )
    )
    assert [one.id for one in pages] == said[::-1]
    assert [one.id for one in store.episodes.list(after_id=said[2])] == said[3:]
    assert store.episodes.list(before_id=10**6) == []
    store.episodes.erase(said[2])
    assert [one.id for one in store.episodes.list(after_id=said[2])] == said[3:]


@pytest.mark.parametrize(
    "asked",
    [
        {"states": ["erased"]},
        {"states": ["activ"]},
        {"before_id": -1},
        {"after_id": True},
        {"episode": "1"},
        {"thread": " "},
        {"source": ""},
    ],
)
def test_wrong_arguments_of_lists_are_refused(store: Store, asked: dict[str, Any]) -> None:
    with pytest.raises(InvalidArgument):
        store.list(**asked)
