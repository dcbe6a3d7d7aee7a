"""Filters on the values of items: in Python, and what of them the database decides."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memstore import InvalidArgument
from memstore.adapters.langgraph_filters import COMPARISONS, ORDERS, comparisons
from memstore.errors import InvalidArgumentType

VALUE: dict[str, Any] = {
    "n": 2,
    "x": 2.5,
    "yes": True,
    "name": "Ana",
    "none": None,
    "o": {"a": {"b": 1}, "list": [1, {"c": 2, "d": 3}]},
    "list": [1, 2],
    "": 1,
}

PASSING: list[dict[str, Any]] = [
    {},
    {"n": 2, "name": "Ana"},
    {"n": 2.0},
    {"n": {"$gt": 1, "$lte": 2}},
    {"n": {"$gt": float("-inf"), "$lt": 10**100}},
    {"name": {"$gte": "Aa"}},
    {"none": None},
    {"missing": None},
    {"missing": {"$ne": 1}},
    {"n": {"$ne": None}},
    {"o.a.b": 1},
    {"o.a": {"b": 1}},
    {"o": {"a": {"b": {"$eq": 1}}}},
    {"o": {"list": [1, {"c": 2}]}},
    {"o.list": {"$eq": [1, {"c": 2, "d": 3}]}},
    {"list": (1, 2)},
    {"o": {}},
    {"": 1},
    {"n": {"$ne": float("nan")}},
]

FAILING: list[dict[str, Any]] = [
    {"n": True},
    {"yes": 1},
    {"n": "2"},
    {"n": {"$gt": 2}},
    {"name": {"$gt": 1}},
    {"missing": {"$lt": 1}},
    {"none": {"$ne": None}},
    {"list": [1]},
    {"list": [1, 2, 3]},
    {"o.list": {"$eq": [1, {"c": 2}]}},
    {"name.first": "Ana"},
    {"list": {}},
    {"n": {"$eq": float("nan")}},
]


@pytest.mark.parametrize("wanted", PASSING)
def test_what_passes(wanted: dict[str, Any]) -> None:
    assert all(test.passes(VALUE) for test in comparisons(wanted))


@pytest.mark.parametrize("wanted", FAILING)
def test_what_does_not_pass(wanted: dict[str, Any]) -> None:
    assert not all(test.passes(VALUE) for test in comparisons(wanted))


@pytest.mark.parametrize(
    ("wanted", "error"),
    [
        ({"n": {"$near": 1}}, r"'\$near' is none of \$eq"),
        ({"n": {"$gt": 1, "a": 2}}, "'a' is none of"),
        ({"n": {"$lt": None}}, r"number or text by \$lt, not None"),
        ({"n": {"$gt": True}}, "number or text"),
    ],
)
def test_what_makes_no_sense_is_refused(wanted: dict[str, Any], error: str) -> None:
    with pytest.raises(InvalidArgument, match=error):
        comparisons(wanted)


def test_filters_of_another_type_are_refused() -> None:
    for wanted in ([("n", 1)], {1: 2}):
        with pytest.raises(InvalidArgumentType, match="filter must"):
            comparisons(wanted)  # type: ignore[arg-type]


scalars = st.sampled_from(
    [None, True, False, 0, 1, 1.0, 2, -0.5, 2**60, "", "1", "a", "é", "a\x00"]
)
small = (
    scalars
    | st.lists(scalars, max_size=2)
    | st.dictionaries(st.sampled_from(["a", "b"]), scalars, max_size=2)
)
values = st.dictionaries(st.sampled_from(["a", "b"]), small, max_size=2)


@given(values, st.sampled_from(["a", "b", "a.b"]), st.sampled_from(["", *COMPARISONS]), scalars)
def test_the_database_decides_as_python_does(
    value: dict[str, Any], key: str, name: str, operand: Any
) -> None:
    if name in ORDERS and isinstance(operand, bool | None):
        return
    (test,) = comparisons({key: {name: operand} if name else operand})
    condition = test.condition("value")
    if condition is not None:
        assert condition.passes({"value": value}) == test.passes(value)
