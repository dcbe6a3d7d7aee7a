"""Filters on metadata: typed operators that never mix types, in lists and in searches."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from tests.support.examples import examples

from memstore import InvalidArgument, MetadataFilter, NewFact, Store

COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
ORDERING = ("<", "<=", ">", ">=")


# -- the reference implementation ------------------------------------------------------------


def kind(value: Any) -> str:
    """The JSON type of a value."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int | float):
        return "number"
    return {str: "text", list: "array", dict: "object"}[type(value)]


def matches(condition: MetadataFilter, metadata: dict[str, Any]) -> bool:
    """The meaning of a filter, in plain Python."""
    if condition.include_missing and condition.key not in metadata:
        return True
    if condition.value is None:
        has_value = metadata.get(condition.key) is not None
        return has_value if condition.op == "!=" else not has_value
    if condition.key not in metadata:
        return False
    value = metadata[condition.key]
    if kind(value) != kind(condition.value):
        return condition.op == "!="
    return COMPARE[condition.op](value, condition.value)


def found_by(store: Store, conditions: Sequence[MetadataFilter]) -> list[int]:
    """The facts that list finds; a search must find the same ones."""
    listed = [fact.metadata["n"] for fact in store.list(filters=conditions)]
    hits = store.search("tea", limit=1000, filters=conditions)
    assert sorted(hit.fact.metadata["n"] for hit in hits) == listed
    return listed


KEYS = ["a", "b.c", '"', "$", "é"]
numbers = st.one_of(
    st.integers(-3, 3),
    st.sampled_from([0.0, -0.0, 0.5, 1.0, 2.5, -1.5, 0.1, 0.1 + 0.2, 1e300, -1e300, 5e-324]),
    st.sampled_from([2**53, 2**53 + 1, float(2**53), 2**63 - 1, 1 - 2**63, 10**18, 1e18]),
    st.floats(allow_nan=False, allow_infinity=False),
    st.integers(1 - 2**63, 2**63 - 1),
)
scalars = st.one_of(
    st.none(),
    st.booleans(),
    numbers,
    st.sampled_from(["", "a", "A", "b", "1", "true", "null", "é", "z", "\U0001f389", "\uffff"]),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=4),
)
stored = st.one_of(scalars, st.lists(scalars, max_size=2), st.just({"a": 1}))
objects = st.dictionaries(st.sampled_from(KEYS), stored, max_size=3)


@st.composite
def conditions(draw: st.DrawFn, values: st.SearchStrategy[Any] = scalars) -> MetadataFilter:
    value = draw(values)
    ordered = isinstance(value, int | float | str) and not isinstance(value, bool)
    op = draw(st.sampled_from(list(COMPARE) if ordered else ["=", "!="]))
    return MetadataFilter(draw(st.sampled_from(KEYS)), op, value, draw(st.booleans()))


@settings(deadline=None, max_examples=examples(150), suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data(), many=st.lists(objects, min_size=1, max_size=8))
def test_filters_agree_with_the_reference_implementation(
    fresh: Callable[[], Store], data: st.DataObject, many: list[dict[str, Any]]
) -> None:
    # Mostly filter by values that exist.
    there = [v for metadata in many for v in metadata.values() if not isinstance(v, list | dict)]
    values = st.one_of(scalars, st.sampled_from(there)) if there else scalars
    asked = data.draw(st.lists(conditions(values), min_size=1, max_size=2))
    store = fresh()
    store.add_many(
        NewFact(content="tea", subject="x", metadata={**metadata, "n": n})
        for n, metadata in enumerate(many)
    )
    expected = [n for n, m in enumerate(many) if all(matches(c, m) for c in asked)]
    assert found_by(store, asked) == expected


@settings(deadline=None, max_examples=examples(200))
@given(value=st.one_of(numbers, st.text(st.characters(exclude_categories=["Cs"]))))
@example(value=0.1 + 0.2)
@example(value=1.7976931348623157e308)
@example(value=2.2250738585072014e-308)
@example(value="\0")
@example(value="a\0b")
def test_a_value_equals_itself(fresh: Callable[[], Store], value: Any) -> None:
    store = fresh()
    store.add("tea", subject="x", metadata={"a": value, "n": 0})
    for op, expected in [("=", [0]), ("<=", [0]), (">=", [0]), ("!=", []), ("<", [])]:
        assert found_by(store, [MetadataFilter("a", op, value)]) == expected, op


def test_a_nul_character_and_its_escape_are_two_texts(store: Store) -> None:
    texts = ["a\0b", "a\\u0000b", "a\\\0b", "a\\\\u0000b"]
    for n, text in enumerate(texts):
        store.add("tea", subject="x", metadata={"a": text, "in": [{text: text}], "n": n})
    for n, text in enumerate(texts):
        assert found_by(store, [MetadataFilter("a", "=", text)]) == [n]
        assert found_by(store, [MetadataFilter("a", "=", text, include_missing=True)]) == [n]
        assert found_by(store, [MetadataFilter("a", "in", [text])]) == [n]


@settings(deadline=None, max_examples=examples(150))
@given(
    key=st.text(st.characters(exclude_categories=["Cs"]), min_size=1).filter(
        lambda key: key not in ("a", "n")
    )
)
@example(key='"')
@example(key="\\")
@example(key="a.b")
@example(key="$")
@example(key="$.a")
@example(key="[0]")
@example(key="0")
@example(key="a\0b")
@example(key="\n")
@example(key="' OR 1=1 --")
@example(key="{}")
@example(key="f.metadata")
@example(key="?")
def test_any_key_is_taken_literally(fresh: Callable[[], Store], key: str) -> None:
    store = fresh()
    store.add("tea", subject="x", metadata={"n": 0, "a": {"b": 1}} | {key: 1})
    store.add("tea", subject="x", metadata={"n": 1, "a": [1], f"{key}_": 1})
    found = store.list(filters=[(key, "=", 1)])
    assert [fact.metadata.get(key) for fact in found] == [1]
    missing = store.list(filters=[(key, "=", None)])
    assert [fact.metadata["n"] for fact in missing] == [1]


# -- examples --------------------------------------------------------------------------------

HELD: list[dict[str, Any]] = [
    {},
    {"a": None},
    {"a": 1},
    {"a": 1.0},
    {"a": 1.5},
    {"a": "1"},
    {"a": True},
    {"a": False},
    {"a": [1]},
    {"a": {"b": 1}},
    {"a": "b"},
    {"a": 0},
]


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        (("a", "=", 1), [2, 3]),
        (("a", "=", 1.0), [2, 3]),
        (("a", "=", "1"), [5]),
        (("a", "=", True), [6]),
        (("a", "=", False), [7]),
        (("a", "=", None), [0, 1]),
        (("a", "!=", None), [2, 3, 4, 5, 6, 7, 8, 9, 10, 11]),
        (("a", "!=", 1), [1, 4, 5, 6, 7, 8, 9, 10, 11]),
        (("a", "!=", True), [1, 2, 3, 4, 5, 7, 8, 9, 10, 11]),
        (("a", "<", 1.5), [2, 3, 11]),
        (("a", ">", 0), [2, 3, 4]),
        (("a", ">=", 1), [2, 3, 4]),
        (("a", "<=", -1), []),
        (("a", ">", "0"), [5, 10]),
        (("a", "<", "b"), [5]),
        (("A", "=", 1), []),
        (MetadataFilter("a", "=", 1, include_missing=True), [0, 2, 3]),
        (MetadataFilter("a", "!=", 1, include_missing=True), [0, 1, 4, 5, 6, 7, 8, 9, 10, 11]),
        (MetadataFilter("a", ">", 1, include_missing=True), [0, 4]),
        (MetadataFilter("a", "!=", None, include_missing=True), [0, *range(2, 12)]),
    ],
    ids=str,
)
def test_operators_compare_as_documented(store: Store, condition: Any, expected: list[int]) -> None:
    store.add_many(
        NewFact(content="tea", subject="x", metadata={**metadata, "n": n})
        for n, metadata in enumerate(HELD)
    )
    assert found_by(store, [condition]) == expected


def test_facts_without_any_metadata_count_as_missing_the_key(store: Store) -> None:
    bare = store.add("tea", subject="x")
    for condition, is_found in [
        (MetadataFilter("a", "=", 1), False),
        (MetadataFilter("a", "!=", 1), False),
        (MetadataFilter("a", "=", None), True),
        (MetadataFilter("a", "!=", None), False),
        (MetadataFilter("a", "=", 1, include_missing=True), True),
    ]:
        expected = [bare.id] if is_found else []
        assert [fact.id for fact in store.list(filters=[condition])] == expected
        assert [hit.fact.id for hit in store.search("tea", filters=[condition])] == expected


@pytest.mark.parametrize("value", [2**63 - 1, 1 - 2**63, 1e308, -1e308, float(2**63)])
@pytest.mark.parametrize("op", COMPARE)
def test_stored_numbers_beyond_64_bits_are_compared(store: Store, op: str, value: float) -> None:
    held = [10**30, -(10**30), 5]
    for n, number in enumerate(held):
        store.add("tea", subject="x", metadata={"n": n, "a": number})
    expected = [n for n, number in enumerate(held) if COMPARE[op](number, value)]
    assert found_by(store, [MetadataFilter("a", op, value)]) == expected


def test_a_mapping_requires_equality_of_every_key(store: Store) -> None:
    for n, metadata in enumerate([{"a": 1, "b": 2}, {"a": 1}, {"b": 2}]):
        store.add("tea", subject="x", metadata={**metadata, "n": n})
    assert [fact.metadata["n"] for fact in store.list(filters={"a": 1, "b": 2})] == [0]
    assert [fact.metadata["n"] for fact in store.list(filters={})] == [0, 1, 2]


def test_several_conditions_on_one_key_make_a_range(store: Store) -> None:
    store.add_many(NewFact(content="tea", subject="x", metadata={"n": n}) for n in range(10))
    condition = [("n", ">=", 3), ("n", "<", 6), MetadataFilter("n", "!=", 4)]
    assert found_by(store, condition) == [3, 5]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("bad", "error", "words"),
    [
        ([("", "=", 1)], TypeError, "non-empty"),
        ({"": 1}, TypeError, "non-empty"),
        ([(5, "=", 1)], TypeError, "key"),
        ([("a", "==", 1)], ValueError, "= != < <= > >="),
        ([("a", "LIKE", "x")], ValueError, "LIKE"),
        ([("a", "= 1 OR 1", 1)], ValueError, "op must be one of"),
        ([("a", "<", None)], ValueError, "null"),
        ([("a", ">=", True)], ValueError, "order"),
        ([("a", "=", [1])], TypeError, "list"),
        ([("a", "=", {"b": 1})], TypeError, "dict"),
        ([("a", "=", float("nan"))], ValueError, "nan"),
        ([("a", "<", float("inf"))], ValueError, "inf"),
        ([("a", "=")], TypeError, "filters must hold"),
        (["a"], TypeError, "filters must hold"),
        ("a=1", TypeError, "not text"),
        ([("a", "<", 2**63)], ValueError, "64 bits"),
        ([("a", "=", -(10**400))], ValueError, "64 bits"),
        ([("\ud800", "=", 1)], InvalidArgument, "a lone surrogate"),
        ([("a", "=", "\ud800")], InvalidArgument, "a lone surrogate"),
    ],
)
def test_invalid_filters_are_refused(
    store: Store, bad: Any, error: type[Exception], words: str
) -> None:
    store.add("tea", subject="x", metadata={"a": 1})
    with pytest.raises(error, match=words):
        store.list(filters=bad)
    with pytest.raises(error, match=words):
        store.search("tea", filters=bad)
