"""What pages over the memory read: each call beside a naive twin, over random memories."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone
from functools import partial
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.clock import ManualClock
from tests.support.examples import examples
from tests.support.random_memories import ACTS, BOB, OWNERS, SUBJECTS, Memory, paged

import memstore
from memstore import (
    AddFact,
    Fact,
    InvalidArgument,
    InvalidArgumentType,
    MayReplace,
    NewFact,
    Owner,
    Proposal,
    Scope,
    Store,
    Subject,
)
from memstore.database import journal
from memstore.database.tables import facts as fact_table
from memstore.domain import clock
from memstore.domain.standing import Standing
from memstore.facts import subjects as subject_lists
from memstore.store.store import file_of
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
            for line in memory.store.ledger.journal(fact.id)
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
                lambda after, order=order: store.of(OWNERS[owner]).subjects(
                    order=order, after=after, limit=limit
                )
            )
            assert found == sorted(right, key=key), order
        began = [one for one in right if subject_key(one.name).startswith("b")]
        for order in orders:
            found = store.of(OWNERS[owner]).subjects("B", order=order)
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


@pytest.mark.parametrize("few", [0, 500])
def test_subjects_are_narrowed_by_their_last_change(
    store: Store, few: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(subject_lists, "FEW", few)
    first, *_ = [store.add("a fact", subject=name) for name in ("a", "b", "c", "d")]
    store.confirm(first.id)
    b, c, d, a = reversed(store.subjects(order="changed"))
    for asked, right in (
        ({"changed_after": b.changed_at}, [a, d, c]),  # exclusive
        ({"changed_before": d.changed_at}, [c, b]),  # a changed again after that
        ({"changed_after": b.changed_at, "changed_before": a.changed_at}, [d, c]),
        ({"changed_after": a.changed_at}, []),
        ({"changed_before": b.changed_at}, []),
    ):
        assert store.subjects(order="changed", **asked) == right
        found = paged(
            lambda after, asked=asked: store.subjects(
                order="changed", after=after, limit=1, **asked
            )
        )
        assert found == right
    with pytest.raises(ValueError, match="order"):
        store.subjects(changed_after=a.changed_at)


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
    project = type(store)(store.file, Standing("project", shared="default"))
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
    store.of(BOB).episodes.add("Bob's words", source="chat")
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
    whole, counted = store.of(owners).status().to_dict(), store.of(owners).counts().to_dict()
    assert counted.items() <= whole.items()
    states = Counter(fact.status for fact in facts)
    if owner != "ana":  # an erased fact counts as a deleted one of nobody
        states["deleted"] += len(memory.ids) - len(memory.facts())
    for name in ("active", "superseded", "deleted", "expired", "distrusted"):
        assert counted[name] == states[name]
    ids = [memory.last + 1, *memory.ids[::-1], memory.last, -5, 2**70]
    assert store.of(owners).get_many(ids) == facts[::-1]
    assert store.of(owners).ledger.histories(ids) == {
        fact.id: (store if owner == "all" else store.of(fact.scope)).history(fact.id)
        for fact in facts
    }


def test_facts_of_another_namespace_are_not_read(store: Store) -> None:
    other = store.within("other")
    ours, theirs = store.add("ours", subject="s"), other.add("theirs", subject="s")
    ids = [theirs.id, ours.id, ours.id]
    assert [fact.id for fact in store.get_many(ids)] == [ours.id]
    assert [*store.ledger.histories(ids)] == [ours.id]
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
    ends, began = fact.holds_until, fact.valid_at or fact.created_at
    held = ends is None or (
        ends > now - timedelta(days=1) and (fact.superseded_by is None or ends > began)
    )
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
    store, facts = memory.store.of(OWNERS[owner]), memory.facts(owner)
    drawn = [fact.episode_id for fact in facts if fact.episode_id is not None]
    view = store.as_of("now")
    for narrowed in (*NARROWED, {"episode": drawn[0] if drawn else 10**6}):
        asked = narrowed
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


def test_lists_of_a_period_are_the_same_with_an_open_index(
    open_file: Callable[[], Store],
) -> None:
    now = ManualClock(datetime(2026, 3, 1, 12, tzinfo=UTC))
    with clock.use(now), open_file() as store:
        for hours in (0, 30, -10, 50, 1, -60, 5):  # ids are not in the order of times
            now.advance(hours * 3600)
            stored = store.add(f"kettle at {now.utc_now()}", subject="kettle")
            if hours in (1, 5):
                store.delete(stored.id)
        days = [datetime(2026, 2, 28, tzinfo=UTC) + timedelta(days=n) for n in range(7)]
        asked: list[dict[str, Any]] = [
            {"created_after": start, "created_before": stop, "limit": 2, **page}
            for start in (None, *days[:2])
            for stop in (None, *days[3:5])
            for page in ({}, {"newest_first": True}, {"before_id": 5}, {"after_id": 2})
        ]
        asked += [{**one, "states": ["deleted"]} for one in asked]
        asked.append({"valid_after": days[-1]})
        index = file_of(store).searches.facts.index
        assert not index.is_open
        right = [store.list(**one) for one in asked]
        store.search("kettle", touch=False)
        assert index.is_open
        assert [store.list(**one) for one in asked] == right
        assert len({tuple(one.id for one in found) for found in right}) > 7


def test_facts_in_a_state_of_then(store: Store) -> None:
    old = store.add("likes tea", subject="ana")
    gone = store.add("likes milk", subject="bob")
    bad = store.within(source="web:x").add("likes rain", subject="zoe", source="web:x")
    new = store.add("likes cocoa", subject="ana", supersedes=old.id)
    store.delete(gone.id)
    store.sources.distrust("web:x")
    then = store.as_of("now")
    store.restore(gone.id)
    store.delete(new.id)
    store.sources.trust("web:x")

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


# -- changes and activity -----------------------------------------------------------------------


def lines_by_hand(memory: Memory, owner: str) -> list[Any]:
    """Return the lines about facts and episodes that these owners may see, newest first."""
    store = memory.store
    found = []
    for fact_id in memory.ids:
        with file_of(store).engine.read() as transaction:
            (fact,) = fact_table.get_many(transaction, [fact_id]).values()
            lines = journal.of_fact(transaction, fact_id)
        if owner == "all" or fact.scope == (OWNERS[owner] or Scope()):
            found += lines
    for episode in store.of(OWNERS[owner]).episodes.list(include_expired=True):
        found += store.episodes.journal(episode.id)
    return sorted((one for one in found if one.kind != "embed"), key=lambda line: -line.id)


@settings(max_examples=examples(30))
@given(ACTS, st.sampled_from(sorted(OWNERS)), st.integers(1, 5))
def test_changes_are_the_lines_of_the_journal_in_words(
    fresh: Callable[[], Store], acts: list[tuple[int, ...]], owner: str, limit: int
) -> None:
    memory = Memory(fresh().within(confined=True), acts)
    store = memory.store.of(OWNERS[owner])
    right = lines_by_hand(memory, owner)
    found = paged(lambda last: store.ledger.changes(limit=limit, before=last and last.line))
    assert [(one.line, one.at, one.act) for one in found] == [
        (one.id, one.at, one.txn) for one in right
    ]
    for line, change in zip(right, found, strict=True):
        assert change.kind == line.kind
        assert line.fact_id is None or line.fact_id in change.facts
        assert (change.run, change.actor, change.source) == (line.run, line.actor, line.source)
    onwards = paged(
        lambda last: store.ledger.changes(limit=limit, newest_first=False, after=last and last.line)
    )
    assert onwards == found[::-1]
    for act in store.ledger.log(limit=None):
        if len(act.changes) == len(act.changes[0].lines) == 1:  # told in the same words
            (one,) = (one for one in found if one.line == act.changes[0].lines[0])
            assert (one.text, one.claims) == (act.changes[0].text, act.changes[0].claims)
    for kind in {one.kind for one in right}:
        of_kind = store.ledger.changes(kinds=[kind], limit=None)
        assert [one.line for one in of_kind] == [one.id for one in right if one.kind == kind]


def test_changes_are_narrowed_as_the_log_is(store: Store) -> None:
    first = store.add("one", subject="s")
    web = store.within(source="web")
    second = web.add("two", subject="s", supersedes=first.id)
    store.within("other").add("elsewhere", subject="s")
    lines = store.ledger.changes()
    assert [one.text for one in lines] == [
        "replaced fact 1 by 2", "added fact 2", "added fact 1",
    ]  # fmt: skip
    assert str(lines[0]).endswith("user through web  replaced fact 1 by 2: s: two")
    assert lines[0].to_dict()["facts"] == [first.id, second.id]
    assert [one.line for one in store.ledger.changes(source="web")] == [3, 2]
    assert [one.line for one in store.ledger.changes(fact=first.id)] == [3, 1]
    assert len(store.ledger.changes(run=lines[0].run)) == 3
    assert store.ledger.changes(actor="nobody") == store.ledger.changes(until="2020-01-01") == []
    assert [one.line for one in store.ledger.changes(after=1, before=3)] == [2]
    with pytest.raises(InvalidArgument, match="has no 'drink'"):
        store.ledger.changes(kinds=["drink"])


@settings(max_examples=examples(30))
@given(
    st.lists(st.integers(0, 400_000), min_size=1, max_size=20),
    st.sampled_from(["UTC", "Europe/Berlin", "Pacific/Chatham", "America/Santiago"]),
    st.integers(1, 9),
    st.sampled_from([3, 9]),
)
def test_activity_counts_the_changes_of_each_local_day(
    open_file: Callable[[], Store], pauses: list[int], zone: str, days: int, month: int
) -> None:
    now = ManualClock(datetime(2026, month, 27, 20, tzinfo=UTC))  # clocks are changed soon
    with clock.use(now), open_file() as store:
        for n, seconds in enumerate(pauses):
            now.advance(seconds)
            fact = store.add(f"fact {n}", subject="s", user_id=(None, "ana")[n % 2])
            if n % 3 == 0:
                store.delete(fact.id)
        for owner, scope in OWNERS.items():
            found = store.of(scope).ledger.activity(days, zone)
            today = now.utc_now().astimezone(ZoneInfo(zone)).date()
            assert [one.day for one in found] == [
                today - timedelta(days=ago) for ago in range(days - 1, -1, -1)
            ]
            right = Counter(
                (one.at.astimezone(ZoneInfo(zone)).date(), one.kind)
                for one in store.of(scope).ledger.changes(limit=None)
            )
            shown = {one.day for one in found}
            assert {
                (one.day, kind): number for one in found for kind, number in one.kinds.items()
            } == {key: number for key, number in right.items() if key[0] in shown}, owner
            for one in found:
                lines = store.of(scope).ledger.changes(
                    after=one.first - 1, before=one.last + 1, limit=None
                )
                assert sum(one.kinds.values()) == len(lines)


@pytest.fixture(scope="module")
def open_file() -> Callable[[], Store]:
    return partial(memstore.open, ":memory:", embedder=None)


@pytest.mark.parametrize(
    ("asked", "error"),
    [
        ({"days": 0}, InvalidArgument),
        ({"zone": "Europe/Atlantis"}, InvalidArgument),
        ({"zone": "../etc/passwd"}, InvalidArgument),
        ({"zone": 2}, InvalidArgumentType),
        ({"until": "today"}, InvalidArgumentType),
    ],
)
def test_wrong_arguments_of_activity_are_refused(
    store: Store, asked: dict[str, Any], error: type[Exception]
) -> None:
    with pytest.raises(error):
        store.ledger.activity(**asked)


def test_activity_of_an_earlier_week(store: Store) -> None:
    store.add("one", subject="s")
    (today,) = store.ledger.activity(1)
    assert (today.kinds, today.first, today.last) == ({"add": 1}, 1, 1)
    assert today.to_dict()["day"] == today.day.isoformat()
    (before,) = store.ledger.activity(
        1, timezone(timedelta(hours=2)), until=today.day - timedelta(days=7)
    )
    assert (before.kinds, before.first, before.last) == ({}, 1, 0)


def test_activity_of_days_that_are_over_is_the_same_again(
    open_file: Callable[[], Store],
) -> None:
    now = ManualClock(datetime(2026, 3, 1, 12, tzinfo=UTC))
    with clock.use(now), open_file() as store:
        first = store.add("the kettle is blue", subject="kettle", user_id="ana")
        store.within("other").add("a pan", subject="pan")
        now.advance(86_400)
        store.add("the kettle is red", subject="kettle")
        assert [one.kinds for one in store.of("all").ledger.activity(2)] == [{"add": 1}, {"add": 1}]
        store.erase(first.id)
        today = {"add": 1, "erase": 1}
        for zone in ("UTC", "Asia/Tokyo", "UTC"):
            found = store.of("all").ledger.activity(2, zone)
            assert [one.kinds for one in found] == [{"add": 1}, today]
            hers = store.of(user_id="ana").ledger.activity(2, zone)
            assert [one.kinds for one in hers] == [{}, {}]
        found[0].kinds.clear()  # the caller's own
        assert store.of("all").ledger.activity(2)[0].kinds == {"add": 1}


# -- proposals ----------------------------------------------------------------------------------


@settings(max_examples=examples(20))
@given(st.lists(st.tuples(*[st.integers(0, 9)] * 4), max_size=8), st.integers(1, 3), st.booleans())
def test_proposals_are_paged_and_counted(
    fresh: Callable[[], Store], made: list[tuple[int, ...]], limit: int, retires: bool
) -> None:
    store = fresh()
    for n, (subject, owner, decided, kind) in enumerate(made):
        names = {"subject": SUBJECTS[subject % 3], "user_id": (None, "ana")[owner % 2]}
        first, second = (store.add(f"{n} {word}", **names) for word in ("old", "new"))
        if kind % 3:
            newer = NewFact(content=f"{n} newer", **names)
            store.ledger.apply([AddFact(fact=newer, precedence=MayReplace(first.id, 0.9))])
        else:
            scope = Scope(user_id=names["user_id"])
            store.of(scope).proposals.put_forward([first.id, second.id], "both", {})
        (last,) = store.of("all").proposals.list()[-1:]
        if decided < 5:
            [store.proposals.accept, store.proposals.reject][decided % 2](last.id)
        elif retires:
            store.delete(first.id)
    every = store.of("all").proposals.list(None)
    assert len(every) == len(made)
    for state in ("open", "accepted", "rejected", None):
        for owner in OWNERS:
            for subject in (None, "BOB"):
                proposals = store.of(OWNERS[owner]).proposals
                found = paged(
                    lambda last, one=proposals, state=state, subject=subject: one.list(
                        state, subject=subject, limit=limit, after_id=last and last.id
                    )
                )
                right = [
                    one
                    for one in every
                    if (state is None or one.state == state)
                    and (state != "open" or _is_active(one))
                    and (owner == "all" or _owners(one) == {OWNERS[owner] or Scope()})
                    and (subject is None or subject_key(one.sources[0].subject) == "bob")
                ]
                assert [one.id for one in found] == [one.id for one in right]
                assert proposals.count(state, subject=subject) == len(right)


def test_proposals_are_narrowed_by_category_source_and_time(store: Store) -> None:
    def propose(source: str, category: str) -> int:
        old = store.add(f"{source} {category} old", subject="s", category=category)
        store.add(f"{source} {category} new", subject="s", source=source, supersedes=old.id)
        return store.proposals.list()[-1].id

    first = propose("web:a", "tool")
    second = propose("web:b", "place")
    ids = [store.add(f"part {n}", subject="t", category="tool").id for n in range(2)]
    both = store.of().proposals.put_forward(ids, "parts", {}).id
    asked_at = {one.id: one.at for one in store.proposals.list()}
    for asked, right in (
        ({"category": "tool"}, [first, both]),  # one of a consolidation, too
        ({"category": "place"}, [second]),
        ({"category": "other"}, []),
        ({"source": "web:a"}, [first]),  # the newer fact's
        ({"source": "web:a", "category": "place"}, []),
        ({"created_after": asked_at[first]}, [second, both]),  # exclusive
        ({"created_before": asked_at[both]}, [first, second]),
        ({"created_after": asked_at[first], "created_before": asked_at[both]}, [second]),
    ):
        assert [one.id for one in store.proposals.list(**asked)] == right, asked
        assert [one.proposal.id for one in store.proposals.questions(**asked)] == right
        assert store.proposals.count(**asked) == len(right)
    with pytest.raises(ValueError, match="source"):
        store.proposals.count(source=" ")


def _facts_of(proposal: Proposal) -> list[Fact]:
    return [*proposal.sources, *([] if proposal.new is None else [proposal.new])]


def _is_active(proposal: Proposal) -> bool:
    return all(fact.status == "active" for fact in _facts_of(proposal))


def _owners(proposal: Proposal) -> set[Scope]:
    return {fact.scope for fact in _facts_of(proposal)}


def test_activity_counts_the_lines_that_changes_shows(store: Store) -> None:
    def counted(one: Store) -> int:
        return sum(sum(day.kinds.values()) for day in one.of("all").ledger.activity(2))

    def shown(one: Store) -> int:
        return len(one.of("all").ledger.changes(limit=None))

    other = store.within("other")
    facts = [store.add(f"kettle {n}", subject="kettle") for n in range(3)]
    assert counted(store) == shown(store) == 3  # every fact of the file is in this namespace
    other.add("pan", subject="pan")
    store.delete(facts[0].id)
    assert (counted(store), counted(other)) == (shown(store), shown(other)) == (4, 1)
    store.clear()  # the newest row that is left is not the first
    assert (counted(store), counted(other)) == (shown(store), shown(other))
    other.clear()
    assert (counted(store), counted(other)) == (shown(store), shown(other))


@pytest.mark.parametrize("tense", [None, "2026-02-01"])
def test_what_held_on_a_day_is_listed_alike_with_an_index_that_is_open(
    store: Store, tense: str | None
) -> None:
    old = store.add("the gate is green", subject="gate", valid_at="2026-01-01")
    store.add("the gate is red", subject="gate", valid_at="2026-03-01", supersedes=old.id)
    store.add("the gate is tall", subject="gate", valid_at="2026-01-15", expired_at="2026-01-20")
    store.add("the gate is new", subject="gate")
    asked = [
        {"valid_on": day, "valid_before": tense, "newest_first": newest_first}
        for day in ("2026-01-10", "2026-01-16", "2026-02-01", "2026-03-02", "2020-01-01")
        for newest_first in (False, True)
    ]
    plain = [[one.id for one in store.list(**one)] for one in asked]  # type: ignore[arg-type]
    store.file.warm()
    assert [[one.id for one in store.list(**one)] for one in asked] == plain  # type: ignore[arg-type]
    assert plain[0] == [1]
    assert plain[-1] == []


@pytest.mark.parametrize("scope", [None, "all", Scope(user_id="ana")])
def test_an_index_that_is_open_counts_the_same(store: Store, scope: Any) -> None:
    for number in range(12):
        store.add(
            f"kettle {number}",
            subject=("kettle", "todo")[number % 2],
            category=("note", "preference")[number % 3 == 0],
            metadata={"n": number % 4} if number % 5 else None,
            user_id="ana" if number % 4 == 1 else None,
            expired_at="2020-01-01" if number == 7 else None,
            unsearched=True if number == 8 else None,
        )
    store.delete(1)
    store.supersede(3, 5, any_subject=True)
    asked: list[dict[str, Any]] = [
        {"filters": {"n": 2}},
        {"filters": {"n": None}},
        {"active_only": False},
        {"active_only": False, "include_deleted": True},
        {"subject": "kettle", "category": "note"},
        {"created_after": store.get(4).created_at},
        {"valid_on": "2026-01-01"},
        {"tasks": False},
        {"namespaces": "all", "active_only": False},
    ]
    seen = store if scope is None else store.of(scope)
    plain = [seen.count(**one) for one in asked]
    assert plain == [len(seen.list(**one)) for one in asked]
    store.file.warm()
    assert [seen.count(**one) for one in asked] == plain
