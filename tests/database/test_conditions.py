"""Conditions on nested metadata, lists and texts: SQL selects what the Python twin lets pass."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.examples import examples

import memstore
from memstore import AnyOf, InvalidArgument, InvalidArgumentType, MetadataFilter, Not, Store
from memstore.domain.metadata import Condition

KEYS = ("a", "b", 'a"b', "a.b", "$", "é")
SCALARS = st.sampled_from([None, True, False, 0, 1, 1.0, 2, -3, "", "1", "a", "ab", "é", "A"])
VALUES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=3)
    ),
    max_leaves=6,
)
OBJECTS = st.dictionaries(st.sampled_from(KEYS), VALUES, max_size=3)
PATHS = st.sampled_from(KEYS) | st.lists(st.sampled_from(KEYS), min_size=1, max_size=3).map(tuple)
LEAVES = st.one_of(
    st.builds(
        MetadataFilter, PATHS, st.sampled_from(["=", "!=", "contains"]), SCALARS, st.booleans()
    ),
    st.builds(
        MetadataFilter,
        PATHS,
        st.sampled_from(["<", "<=", ">", ">="]),
        st.sampled_from([0, 1, 1.5, "", "a", "é"]),
        st.booleans(),
    ),
    st.builds(MetadataFilter, PATHS, st.just("in"), st.lists(SCALARS, max_size=3), st.booleans()),
)
CONDITIONS: st.SearchStrategy[Condition] = st.recursive(
    LEAVES,
    lambda inner: (
        st.lists(inner, max_size=3).map(lambda some: AnyOf(tuple(some)))
        | st.lists(inner, min_size=1, max_size=2).map(lambda some: Not(tuple(some)))
    ),
    max_leaves=4,
)


@given(objects=st.lists(OBJECTS, min_size=1, max_size=4), asked=st.lists(CONDITIONS, max_size=4))
@settings(max_examples=examples(25), deadline=None)
def test_sql_selects_what_passes(objects: list[dict[str, Any]], asked: list[Condition]) -> None:
    with memstore.open(":memory:", embedder=None) as store:
        facts = [store.add(f"fact {n}", subject="s", metadata=m) for n, m in enumerate(objects)]
        for condition in asked:
            right = [fact.id for fact in facts if condition.passes(fact.metadata)]
            assert [fact.id for fact in store.list(filters=[condition])] == right, condition
            found = [hit.fact.id for hit in store.search("fact", filters=[condition])]
            assert sorted(found) == right, condition


@given(objects=st.lists(OBJECTS, min_size=1, max_size=4), asked=st.lists(CONDITIONS, max_size=4))
@settings(max_examples=examples(10), deadline=None)
def test_episodes_are_selected_by_the_same_conditions(
    objects: list[dict[str, Any]], asked: list[Condition]
) -> None:
    with memstore.open(":memory:", embedder=None) as store:
        log = store.episodes
        said = log.add_many(
            [{"content": f"turn {n}", "source": "s", "metadata": m} for n, m in enumerate(objects)]
        )
        for condition in asked:
            right = [episode.id for episode in said if condition.passes(episode.metadata)]
            assert [episode.id for episode in log.list(filters=[condition])] == right, condition
            assert log.count(filters=[condition]) == len(right)
            found = [hit.episode.id for hit in log.search("turn", filters=[condition])]
            assert sorted(found) == right, condition


HELD: Mapping[str, Any] = {"who": {"name": "Ana", "langs": ["de", "en", 1]}, "tags": ["x"], "n": 1}


@pytest.mark.parametrize(
    "condition",
    [
        (("who", "name"), "=", "Ana"),
        (["who", "langs"], "contains", "en"),
        (("who", "langs"), "contains", 1.0),
        (("who", "name"), "contains", "na"),
        ("n", "in", [3, 1]),
        ("missing", "in", [None]),
        AnyOf([("n", "=", 2), ("tags", "contains", "x")]),  # type: ignore[arg-type]
        Not(("n", "=", 2)),  # type: ignore[arg-type]
        Not([("n", "=", 2), ("missing", "!=", None)]),  # type: ignore[arg-type]
        MetadataFilter(("who", "missing"), "=", 1, include_missing=True),
    ],
)
def test_a_condition_passes(store: Store, condition: Any) -> None:
    fact = store.add("one", subject="s", metadata=HELD)
    assert store.list(filters=[condition]) == [fact]
    assert store.list(filters=[Not(condition)]) == []
    assert [hit.fact for hit in store.search("one", filters=[condition])] == [fact]


@pytest.mark.parametrize(
    "condition",
    [
        (("who", "langs"), "contains", "e"),  # part of an element
        (("who", "langs"), "contains", True),  # not 1
        (("who", "name"), "contains", "ana"),
        (("tags", "0"), "=", "x"),  # a list has no keys
        ("n", "in", []),
        ("n", "in", [True, "1"]),
        AnyOf([]),  # type: ignore[arg-type]
    ],
)
def test_a_condition_does_not_pass(store: Store, condition: Any) -> None:
    store.add("one", subject="s", metadata=HELD)
    assert store.list(filters=[condition]) == []
    assert "metadata" in str(store.why_not("one", 1, filters=[condition]))


@pytest.mark.parametrize(
    ("condition", "error"),
    [
        (((), "=", 1), InvalidArgumentType),
        ((("a", ""), "=", 1), InvalidArgumentType),
        ((("a", 1), "=", 1), InvalidArgumentType),
        (("a", "in", "text"), InvalidArgumentType),
        (("a", "in", [[1]]), InvalidArgumentType),
        (("a", "in", range(201)), InvalidArgument),
        (("a", "contains", [1]), InvalidArgumentType),
        ((("a",) * 101, "=", 1), InvalidArgument),
        (("a", "like", "x"), InvalidArgument),
    ],
)
def test_a_bad_condition_is_refused(
    store: Store, condition: Any, error: type[InvalidArgument]
) -> None:
    with pytest.raises(error, match=r"metadata filter|must be a list"):
        store.list(filters=[condition])
