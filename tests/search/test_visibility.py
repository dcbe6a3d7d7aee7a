"""Columns select exactly the same rows as the filters' SQL."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.support.examples import examples
from tests.support.written import form

import memstore
from memstore import MetadataFilter, NewEpisode, Scope, Store
from memstore._kernel.columns import Columns
from memstore._kernel.ids import Ids
from memstore.database.engine import Transaction
from memstore.database.filters import EpisodeFilter, FactFilter
from memstore.database.tables import episodes as episode_table
from memstore.database.tables import facts as fact_table
from memstore.database.tables import indexed
from memstore.database.tables.indexed import Source
from memstore.domain import clock
from memstore.errors import InvalidArgument
from memstore.frozen import replace
from memstore.search.index import visibility
from memstore.search.index.visibility import IndexState, OwnersRows, UnexpiredRows

START = datetime(2026, 1, 1, tzinfo=UTC)

moments = st.integers(-3, 3).map(lambda days: START + timedelta(days=days))
maybe_moments = st.none() | moments
namespaces = st.sampled_from(["default", "work", "é"])
owners = st.sampled_from([{}, {}, {"user_id": "ana"}, {"user_id": "ana", "run_id": "r"}])
words = st.sampled_from(["tea", "Tea", "rain", "ß", "todo"])
scopes = st.sampled_from([None, Scope(), Scope(user_id="ana"), Scope(run_id="r")])
among = st.none() | st.lists(namespaces, min_size=1, max_size=2, unique=True).map(tuple)
# Values that another program may have written.
texts_of_others = st.none() | st.sampled_from(["2026", "2026-01-01", "~", ""])


metadata = st.dictionaries(st.sampled_from("ab"), st.integers(0, 2) | st.none()) | st.just(
    {"kind": "task"}
)


@st.composite
def facts(draw: st.DrawFn) -> dict[str, Any]:
    return {
        "content": draw(words),
        "subject": draw(words),
        "category": draw(words),
        "metadata": draw(metadata),
        **draw(owners),
    }


metadata_filters = st.builds(
    MetadataFilter,
    st.sampled_from("ab"),
    st.sampled_from(["=", "!="]),
    st.integers(0, 2) | st.none(),
    st.booleans(),
)


@st.composite
def bounded(draw: st.DrawFn, make: Callable[..., Any], *kinds: str) -> Any:
    """A filter with periods, if their bounds are in order."""
    bounds = {
        f"{kind}_{end}": draw(st.none() | st.none() | moments)
        for kind in kinds
        for end in ("after", "before")
    }
    while True:
        try:
            return draw(make(**bounds))
        except InvalidArgument:
            bounds |= dict.fromkeys((f"{kind}_before" for kind in kinds), None)


def facts_wanted(**bounds: datetime | None) -> st.SearchStrategy[FactFilter]:
    return st.builds(
        FactFilter,
        among,
        moments,
        scope=scopes,
        subject=st.none() | words,
        category=st.none() | words,
        content=st.none() | words,
        metadata=st.lists(metadata_filters, max_size=2),
        active_only=st.booleans(),
        tasks=st.booleans(),
        include_deleted=st.booleans(),
        valid_on=st.none() | moments.map(lambda day: (day, day + timedelta(days=1))),
        **{name: st.just(bound) for name, bound in bounds.items()},
    )


def episodes_wanted(**bounds: datetime | None) -> st.SearchStrategy[EpisodeFilter]:
    return st.builds(
        EpisodeFilter,
        among,
        moments,
        scope=scopes,
        tags=st.lists(words, max_size=2).map(tuple),
        source=st.none() | words,
        thread=st.none() | st.none() | words,
        include_expired=st.booleans(),
        **{name: st.just(bound) for name, bound in bounds.items()},
    )


fact_filters = bounded(facts_wanted, "created", "valid")
episode_filters = bounded(episodes_wanted, "created", "valid", "expired")


@settings(deadline=None, max_examples=examples(60), suppress_health_check=[HealthCheck.too_slow])
@given(
    data=st.data(),
    many=st.lists(st.tuples(namespaces, facts()), min_size=1, max_size=8),
    filters=st.lists(fact_filters, min_size=1, max_size=6),
)
def test_facts_match_the_filters_sql(
    data: st.DataObject,
    many: list[tuple[str, dict[str, Any]]],
    filters: list[FactFilter],
) -> None:
    with memstore.open(":memory:", embedder=None) as store:
        fill_with_facts(store, data, many)
        compare(store, indexed.FACTS, visibility.of_facts, fact_table.select_ids, filters)


def fill_with_facts(
    store: Store, data: st.DataObject, many: list[tuple[str, dict[str, Any]]]
) -> None:
    for namespace, fact in many:
        place = store.within(namespace)
        held = [one.id for one in place.list()]
        change = data.draw(st.sampled_from(["add", "supersede", "delete", "erase"]))
        if change == "supersede" and held:
            place.supersede(
                data.draw(st.sampled_from(held)), place.add(**fact).id, any_subject=True
            )
            continue
        added = place.add(**fact)
        if change == "delete":
            place.delete(added.id)
        if change == "erase":
            place.erase(added.id)
    expire(store, data, "memstore_facts")


@settings(deadline=None, max_examples=examples(60), suppress_health_check=[HealthCheck.too_slow])
@given(
    data=st.data(),
    many=st.lists(
        st.tuples(namespaces, words, words, st.lists(words, max_size=2), maybe_moments, owners),
        min_size=1,
        max_size=8,
    ),
    filters=st.lists(episode_filters, min_size=1, max_size=6),
)
def test_episodes_match_the_filters_sql(
    data: st.DataObject, many: list[Any], filters: list[EpisodeFilter]
) -> None:
    with memstore.open(":memory:", embedder=None) as store:
        fill_with_episodes(store, data, many)
        compare(store, indexed.EPISODES, visibility.of_episodes, episode_table.select_ids, filters)


def fill_with_episodes(store: Store, data: st.DataObject, many: list[Any]) -> None:
    for namespace, content, source, tags, valid_at, owner in many:
        place = store.within(namespace)
        thread = data.draw(st.none() | words)
        episode = NewEpisode(
            content=content, source=source, tags=tags, valid_at=valid_at, thread=thread, **owner
        )
        [told] = place.episodes.add_many([episode])
        if data.draw(st.booleans()) and data.draw(st.booleans()):
            place.episodes.erase(told.id)
    expire(store, data, "memstore_episodes")


def expire(store: Store, data: st.DataObject, table: str) -> None:
    with store.file.engine.write() as transaction:
        for id_ in transaction.ints(f"SELECT id FROM {table}"):
            at = data.draw(maybe_moments.map(_text) | texts_of_others)
            transaction.run(
                form(f"UPDATE {table} SET expired_at = :at WHERE id = :id"), {"at": at, "id": id_}
            )
            if table == "memstore_facts":  # episodes are append-only
                times = {
                    "created": data.draw(moments.map(_text)),
                    "valid": data.draw(maybe_moments.map(_text) | texts_of_others),
                    "id": id_,
                }
                transaction.run(
                    form(
                        "UPDATE memstore_facts SET created_at = :created, valid_at = :valid"
                        " WHERE id = :id"
                    ),
                    times,
                )


def compare(
    store: Store,
    source: Source,
    seen: Callable[[Transaction, IndexState, Any], Ids],
    select: Callable[[Transaction, Any], list[int]],
    filters: list[Any],
) -> None:
    columns = Columns()
    state = IndexState(columns, 1, OwnersRows(), UnexpiredRows())
    with store.file.engine.read() as transaction:
        every = indexed.Range(0, 1000)
        columns.put([row[:5] for row in indexed.rows(transaction, source, every)])
        for wanted in filters:
            for seconds in (-40, -30, -20, 0, 0, 30, 59, 90, -1):
                then = replace(wanted, now=wanted.now + timedelta(seconds=seconds))
                found = seen(transaction, state, then)
                assert [*found] == sorted(select(transaction, then)), then


@given(
    expiries=st.lists(st.integers(0, 200), max_size=4),
    asked=st.lists(st.tuples(st.integers(1, 2), st.integers(0, 200)), max_size=12),
)
def test_rows_known_of_a_filter_are_those_that_have_not_expired(
    expiries: list[int], asked: list[tuple[int, int]]
) -> None:
    begun = datetime(2026, 1, 1, tzinfo=UTC)
    known = visibility.UnexpiredRows()

    def find(now: datetime) -> Ids:
        passed = (now - begun).total_seconds()
        return Ids([row for row, expiry in enumerate(expiries) if expiry > passed])

    for position, seconds in asked:
        now = begun + timedelta(seconds=seconds)
        assert [*known.ids(position, ("filter",), now, find)] == [*find(now)]


class Fixed(clock.Clock):
    """A clock that stands still, at a time that is set."""

    def __init__(self, now: datetime) -> None:
        self.now = now

    def utc_now(self) -> datetime:
        return self.now


def test_rows_of_a_filter_are_found_once_while_none_expires_or_is_written(
    open_store: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = open_store()
    finds: list[Any] = []
    find = visibility._facts
    monkeypatch.setattr(visibility, "_facts", lambda *given: finds.append(given) or find(*given))
    at = Fixed(START)
    with clock.use(at):
        ids = [store.add(f"a garden plan {n}", subject="garden").id for n in range(4)]
        store.file.warm()

        def found(of: Store = store) -> set[int]:
            return {hit.fact.id for hit in of.search("garden plan", touch=False)}

        assert found() == found() == {*ids}
        finds.clear()
        assert found() == {*ids}
        assert not finds
        assert found(store.within("another")) == found(store.of(user_id="ana")) == set()
        soon = store.add(
            "a garden plan of now", subject="garden", expired_at=START + timedelta(seconds=30)
        ).id
        assert found() == found() == found() == {*ids, soon}
        at.now = START + timedelta(seconds=31)
        assert found() == found() == {*ids}
        at.now = START + timedelta(seconds=29)
        assert found() == {*ids, soon}
        store.delete(ids[0])
        assert found() == {*ids[1:], soon}


def test_rows_of_owners_are_found_once_in_each_state(
    open_store: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = open_store()
    ana = store.of(user_id="ana")
    ana.add_many({"content": f"a garden plan {n}", "subject": f"s{n}"} for n in range(2100))
    store.file.warm()
    reads: list[Any] = []
    find = fact_table.ids_of_owners
    monkeypatch.setattr(
        fact_table, "ids_of_owners", lambda *given: reads.append(given) or find(*given)
    )
    first = [hit.fact.id for hit in ana.search("garden plan", limit=5)]
    assert [hit.fact.id for hit in ana.search("garden plan", limit=5)] == first
    assert len(reads) == 1
    ana.delete(first[0])
    assert first[0] not in [hit.fact.id for hit in ana.search("garden plan", limit=5)]
    assert len(reads) == 2
    ben = store.of(user_id="ben")
    ben.add("a garden plan", subject="his")
    assert [hit.fact.subject for hit in ben.search("garden plan")] == ["his"]


def _text(moment: datetime | None) -> str | None:
    return None if moment is None else moment.strftime("%Y-%m-%dT%H:%M:%S.%fZ")
