"""Moments: a time, a line, a run or an episode leads to the place in the journal that it names."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.facts.test_query_plans import Explained
from tests.support.clock import ManualClock
from tests.support.examples import examples
from tests.support.raw import sql

import memstore
from memstore import InvalidArgument, NotFound, Scope, Store
from memstore.database.tables import compared_facts
from memstore.domain import clock
from memstore.domain.moments import Moment
from memstore.domain.standing import Standing
from memstore.file.paths import is_server
from memstore.history import moments

OpenStore = Callable[..., Store]
NewMemory = Callable[[], AbstractContextManager[Path | str]]

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
DAY = timedelta(days=1)


@pytest.fixture
def at_noon() -> Any:
    manual = ManualClock(NOON)
    with clock.use(manual):
        yield manual


def resolve(store: Store, moment: Any, namespace: str | None = None) -> Moment:
    standing = None if namespace is None else Standing(namespace, confined=True)
    with store.file.engine.read() as transaction:
        return moments.resolve(transaction, moment, standing)


def lines(store: Store) -> list[tuple[Any, ...]]:
    columns = "id, txn, at, kind, fact_id, episode_id, hex(run)"
    return sql(store.path, f"SELECT {columns} FROM memstore_journal ORDER BY id")


def naive(store: Store, line: int) -> tuple[int, int, int]:
    """Return what a scan of all lines up to one says existed."""
    before = [row for row in lines(store) if row[0] <= line]
    facts = [row[4] for row in before if row[4] and row[3] in ("add", "adopt")]
    episodes = [row[5] for row in before if not row[4] and row[3] in ("episode", "adopt")]
    return line, max(facts, default=0), max(episodes, default=0)


def seen(found: Moment) -> tuple[int, int, int]:
    return found.line, found.last_fact, found.last_episode


# -- times -------------------------------------------------------------------------------


def test_a_time_counts_the_last_act_at_or_before_it(open_store: OpenStore) -> None:
    store = open_store(embedder=None)
    store.add_many({"content": f"fact {n}", "subject": "s"} for n in range(3))
    store.delete(2)
    first, last = (datetime.fromisoformat(row[2]) for row in (lines(store)[0], lines(store)[-1]))
    assert seen(resolve(store, first)) == (3, 3, 0)
    assert resolve(store, first.isoformat()) == resolve(store, first)
    assert seen(resolve(store, last - timedelta(microseconds=1))) == (3, 3, 0)
    assert resolve(store, last).line == 4
    now = resolve(store, " NOW ")
    assert now.line == 4
    assert now.at > last


def test_a_date_is_the_end_of_its_day(open_store: OpenStore, at_noon: ManualClock) -> None:
    store = open_store(embedder=None)
    store.add("one", subject="s")
    at_noon.advance(DAY.total_seconds())
    store.add("two", subject="s")
    assert resolve(store, "2026-03-01").line == 1
    assert resolve(store, "2026-03-01").at == datetime(2026, 3, 1, 23, 59, 59, 999999, UTC)
    assert resolve(store, "yesterday") == resolve(store, "2026-03-01")
    today = resolve(store, "today")
    assert today.line == 2
    assert today.at < NOON + 2 * DAY  # not the end of a day that goes on
    assert resolve(store, "2026-03-02").line == 2


def test_an_age_is_read_as_it_is_by_the_command_line(
    open_store: OpenStore, at_noon: ManualClock
) -> None:
    store = open_store(embedder=None)
    store.add("one", subject="s")
    at_noon.advance(7200)
    store.add("two", subject="s")
    assert [resolve(store, age).line for age in ("1h", "90m", "119m")] == [1, 1, 1]
    assert resolve(store, "1d").line == 0  # nothing was there


def test_a_clock_set_back_does_not_hide_what_was_written_then(open_store: OpenStore) -> None:
    store = open_store(embedder=None)
    with clock.use(ManualClock(NOON + DAY)):
        store.add("one", subject="s")
    with clock.use(ManualClock(NOON)):
        store.add("two", subject="s")
        assert resolve(store, "now").line == 2
        assert resolve(store, resolve(store, "now").at).line == 2
        assert resolve(store, "op:1").line == 1


def test_an_empty_file_has_a_now_and_no_past(open_store: OpenStore) -> None:
    store = open_store(embedder=None)
    assert seen(resolve(store, "now")) == (0, 0, 0)
    assert seen(resolve(store, "1h")) == (0, 0, 0)


# -- lines, runs, episodes ---------------------------------------------------------------


def test_a_line_stands_for_its_whole_act(open_store: OpenStore) -> None:
    store = open_store(embedder=None)
    store.add_many({"content": f"fact {n}", "subject": "s"} for n in range(3))
    store.add("later", subject="s")
    found = resolve(store, "op:1")
    assert seen(found) == (3, 3, 0) == seen(resolve(store, "op:2"))
    assert clock.to_text(found.at) == lines(store)[0][2]
    assert resolve(store, "op:4").line == 4


def test_a_run_and_an_episode_mean_what_was_before_them(open_store: OpenStore) -> None:
    first = open_store(embedder=None)
    first.add("one", subject="s")
    first.close()
    store = open_store(embedder=None)
    episode = store.episodes.record("Hello", source="x")
    store.add("two", subject="s", episode_id=episode.id)
    run = store.ledger.journal(2)[0].run
    assert seen(resolve(store, f"run:{run}")) == (1, 1, 0) == seen(resolve(store, "episode:1"))
    assert resolve(store, f"RUN:{run}".lower()).at < store.ledger.journal(2)[0].at
    store.add("three", subject="s")
    assert resolve(store, f"run:{run}").line == 1
    store.episodes.erase(episode.id)
    assert resolve(store, "episode:1").line == 1


@pytest.mark.parametrize(
    ("moment", "error", "text"),
    [
        ("op:99", NotFound, "there is no line 99 in the journal; the last one is 2"),
        ("op:0", InvalidArgument, "moment is not a moment: 'op:0'; give a time such as"),
        ("op:x", InvalidArgument, "moment is not a moment: 'op:x'"),
        ("op:99999999999999999999", InvalidArgument, "is not a moment"),
        ("episode:7", NotFound, "there is no episode 7"),
        ("run:7", InvalidArgument, "moment is not the id of a run, a UUID"),
        (f"run:{'0' * 32}", NotFound, "no line of the journal was written in run 00000000-"),
        (f"run:{'f' * 32}", NotFound, "no line of the journal was written in run ffffffff-"),
        ("soon", InvalidArgument, "moment is not a moment: 'soon'"),
        ("", InvalidArgument, "is not a moment"),
        (None, InvalidArgument, "is not a moment"),
        ("9999-12-31", InvalidArgument, "moment is in the future: 9999-12-31"),
        ("9999-12-31T23:59:59.999999Z", InvalidArgument, "is in the future"),
        ("x" * 501, InvalidArgument, "the limit is 500"),
        (datetime(2026, 1, 1), InvalidArgument, "moment has no time zone"),
        (7, TypeError, "moment must be a datetime or text, not int"),
    ],
)
def test_a_moment_that_does_not_exist_is_refused(
    open_store: OpenStore, moment: Any, error: type[Exception], text: str
) -> None:
    store = open_store(embedder=None)
    store.add("one", subject="s")
    store.add("two", subject="s")
    with pytest.raises(error, match=text.replace("(", r"\(")):
        resolve(store, moment)


def test_the_first_run_has_nothing_before_it(open_store: OpenStore) -> None:
    store = open_store(embedder=None)
    store.add("one", subject="s")
    before = resolve(store, f"run:{store.ledger.journal(1)[0].run}")
    assert (before.line, before.last_fact, before.last_episode) == (0, 0, 0)


# -- who may name what -------------------------------------------------------------------


def test_a_line_of_another_namespace_is_unknown_to_one_that_may_not_see_it(
    open_store: OpenStore,
) -> None:
    store = open_store(embedder=None)
    with store.within(namespace="other") as other:
        other.add("secret", subject="s")
        other.episodes.record("secret")
    store.add("own", subject="s")
    store.episodes.record("own")
    own = "default"
    for hidden in ("op:1", "op:2", "episode:1"):
        with pytest.raises(NotFound) as caught:
            resolve(store, hidden, own)
        assert "last one" not in str(caught.value)
    assert resolve(store, "op:3", own).line == 3
    assert resolve(store, "episode:2", own).line == 3
    assert resolve(store, "op:1").line == 1
    for early in ("1999-01-01", lines(store)[0][2], f"run:{store.ledger.journal(2)[0].run}"):
        assert resolve(store, early, own).line < 3  # where nothing was that they may see


# -- the naive twin ----------------------------------------------------------------------


ACTS = ("add", "add_many", "episode", "delete", "confirm", "foreign", "erase")


@pytest.mark.hypothesis
@settings(max_examples=examples(25))
@given(acts=st.lists(st.tuples(st.sampled_from(ACTS), st.integers(-30, 30)), min_size=1))
def test_what_existed_is_what_a_scan_says(
    new_memory: NewMemory, acts: list[tuple[str, int]]
) -> None:
    with new_memory() as path, memstore.open(path, embedder=None) as store:
        for act, hours in acts:
            with clock.use(ManualClock(NOON + timedelta(hours=hours))):
                _do(store, act)
        _compare_with_scans(store)


def _compare_with_scans(store: Store) -> None:
    stored = lines(store)
    for row in stored:
        last = max(one[0] for one in stored if one[1] == row[1])
        assert seen(resolve(store, f"op:{row[0]}")) == naive(store, last)
        at = datetime.fromisoformat(row[2])
        assert seen(resolve(store, at)) == naive(store, last)
        if last < stored[-1][0]:  # nothing happens between two acts
            following = next(datetime.fromisoformat(one[2]) for one in stored if one[0] > last)
            assert resolve(store, following - timedelta(microseconds=1)).line == last
    assert seen(resolve(store, "now")) == naive(store, max((row[0] for row in stored), default=0))


def _do(store: Store, act: str) -> None:
    known = store.list()
    if act == "foreign":  # another program leaves a gap in the ids
        if is_server(store.path):  # where none can write
            return
        columns = "(id, content, subject, category, metadata, created_at)"
        last = sql(store.path, "SELECT coalesce(max(id), 0) FROM memstore_facts")[0][0]
        values = f"({last + 40}, 'theirs {last}', 's', 'note', '{{}}', '2026-01-01T00:00:00Z')"
        sql(store.path, f"INSERT INTO memstore_facts {columns} VALUES {values}")
    elif act == "add" or not known:
        store.add("one more", subject="s")
    elif act == "add_many":
        store.add_many({"content": f"fact {n}", "subject": "s"} for n in range(3))
    elif act == "episode":
        store.episodes.record(f"said {len(lines(store))}")
    else:
        getattr(store, act)(known[0].id)


# -- cost --------------------------------------------------------------------------------


def test_what_existed_is_found_by_an_index_not_by_scanning(open_store: OpenStore) -> None:
    store = open_store(embedder=None)
    store.add_many({"content": f"fact {n}", "subject": "s"} for n in range(100))
    store.episodes.add_many({"content": f"said {n}", "source": "x"} for n in range(100))
    with store.file.engine.read() as transaction:
        explained: Any = Explained(transaction)
        moments.resolve(explained, "op:1")
        assert 10 < len(explained.plans) < 60
        for plan in explained.plans:
            assert "SCAN memstore_journal" not in plan
            assert "TEMP B-TREE" not in plan


def test_the_facts_between_two_moments_are_found_by_their_lines(open_store: OpenStore) -> None:
    store = open_store(embedder=None)
    store.add_many({"content": f"fact {n}", "subject": "s"} for n in range(100))
    store.add("last", subject="s")
    a, b = resolve(store, "op:1"), resolve(store, "now")
    with store.file.engine.read() as transaction:
        explained: Any = Explained(transaction)
        which = compared_facts.DifferenceFilter(("default",), Scope(), subject="s")
        span = (a.line + 1, b.line)
        found = [*compared_facts.lines(explained, span, which, b)]
        assert compared_facts.expired(explained, a, b, which) == []
    assert found == [(101, 101, "add", 1)]
    _, lines, expired = explained.plans  # first, which line is the last
    assert "SEARCH j USING INTEGER PRIMARY KEY" in lines
    assert "SCAN j " not in lines
    assert "TEMP B-TREE" not in lines
    assert "SEARCH f USING INDEX idx_memstore_expired" in expired


# -- the same words wherever a time is asked for -----------------------------------------------


def spoken(store: Store, clock_: ManualClock) -> None:
    """Store a fact a day for three days, the last one now."""
    for number in (1, 2, 3):
        episode = store.episodes.record(f"day {number}", source="chat")
        store.add(f"fact {number}", subject="s", episode_id=episode.id)
        if number < 3:
            clock_.advance(24 * 3600)


@pytest.mark.parametrize(
    ("moment", "since", "until"),
    [
        ("25h", [2, 3], [1]),
        ("49h", [1, 2, 3], []),
        ("yesterday", [2, 3], [1, 2]),
        ("today", [3], [1, 2, 3]),
        ("now", [3], [1, 2, 3]),
        ("2026-03-02", [2, 3], [1, 2]),
        ("2026-03-02T13:00:00+01:00", [2, 3], [1, 2]),
        ("2026-03-02T13:00:00.000000+01:00", [2, 3], [1]),
        ("90w", [1, 2, 3], []),
        ("op:4", [3], [1, 2]),
        ("op:3", [2, 3], [1]),
        ("episode:2", [2, 3], [1]),
    ],
)
def test_a_log_and_a_revert_take_every_moment(
    open_store: OpenStore, at_noon: ManualClock, moment: str, since: list[int], until: list[int]
) -> None:
    store = open_store(embedder=None)
    spoken(store, at_noon)
    told = {"kinds": ["add"]}
    if moment == "now":  # the clock stands still, and acts are a microsecond apart
        at_noon.advance(-60)
    assert [
        one for act in store.ledger.log(since=moment, **told) for one in act.changes[0].facts
    ] == [*reversed(since)]
    if moment == "now":
        at_noon.advance(120)
    assert [
        one for act in store.ledger.log(until=moment, **told) for one in act.changes[0].facts
    ] == [*reversed(until)]
    if moment != "now":
        assert [step.fact_id for step in store.ledger.revert(since=moment).steps] == since


@pytest.mark.parametrize(
    ("verb", "name"), [("log", "since"), ("log", "until"), ("revert", "since")]
)
@pytest.mark.parametrize("moment", ["soon", "3y", "op:0", "run:x", datetime(2026, 1, 1)])
def test_a_moment_that_cannot_be_read_names_its_argument(
    store: Store, verb: str, name: str, moment: Any
) -> None:
    with pytest.raises(InvalidArgument) as raised:
        getattr(store.ledger, verb)(**{name: moment})
    assert raised.value.argument == name
    with pytest.raises(NotFound):
        getattr(store.ledger, verb)(**{name: "op:9"})


def test_a_confined_store_names_no_line_of_another_namespace(store: Store) -> None:
    store.add("elsewhere", subject="s")
    confined = store.within("mine", confined=True)
    with pytest.raises(NotFound, match="no line 1"):
        confined.ledger.log(since="op:1")
    with pytest.raises(NotFound, match="no line 1"):
        confined.ledger.revert(since="op:1")


def test_periods_take_ages_and_days(open_store: OpenStore, at_noon: ManualClock) -> None:
    store = open_store(embedder=None)
    spoken(store, at_noon)
    assert [fact.id for fact in store.list(created_after="yesterday")] == [2, 3]
    assert [fact.id for fact in store.list(created_before="25h")] == [1]
    assert [one.id for one in store.episodes.list(created_after="25h")] == [2, 3]
    assert store.count(valid_after="today") == 1
    assert [hit.fact.id for hit in store.search("fact", created_before="yesterday")] == [2, 1]
    assert [fact.id for fact in store.list(valid_on="1h")] == [1, 2]
    for name in ("created_after", "created_before", "valid_after", "valid_before"):
        with pytest.raises(InvalidArgument, match=f"{name} is not a time: 'soon'"):
            store.list(**{name: "soon"})  # type: ignore[arg-type]
    with pytest.raises(InvalidArgument, match="valid_on is not a time"):
        store.list(valid_on="soon")
