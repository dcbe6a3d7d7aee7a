"""The kernel's JSON, compared with Python's."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memstore._kernel.json import Members, flat

texts = st.text(st.characters() | st.sampled_from('"\\/\n\x00\x1f\x7f\ud800é'), max_size=8)
scalars = texts | st.none() | st.booleans() | st.integers() | st.floats()
in_a_row = st.text(st.characters(codec="utf-8")) | st.integers(-(2**63), 2**63 - 1) | st.none()


def is_small(value: Any) -> bool:
    """Return whether the kernel leaves no such value to Python."""
    if isinstance(value, float):
        return value == value and abs(value) != float("inf")
    if isinstance(value, str):
        return value.isascii() or not any("\ud800" <= one <= "\udfff" for one in value)
    return not isinstance(value, int) or -(2**63) <= value < 2**63


@given(st.dictionaries(texts, scalars))
def test_a_flat_object_is_written_as_python_does(value: dict[str, Any]) -> None:
    if all(map(is_small, (*value, *value.values()))):
        assert flat(value) == json.dumps(value, ensure_ascii=False)
    else:
        assert flat(value) is None


class Text(str):
    __slots__ = ()


class Mapping(dict[str, Any]):
    pass


@pytest.mark.parametrize(
    "value",
    [None, [], Mapping(), {1: 2}, {Text("a"): 1}, {"a": Text()}, {"a": []}, {"a": {}}, {"a": b""}],
)
def test_other_values_are_left_to_python(value: object) -> None:
    assert flat(value) is None


@given(st.lists(in_a_row, min_size=4, max_size=4), st.lists(in_a_row.filter(bool), max_size=2))
def test_members_are_those_that_are_not_left_out(row: list[Any], left_out: list[Any]) -> None:
    keys = ["id", 'a "key"', "é", "d"]
    members = Members([(place, key, left_out) for place, key in enumerate(keys)], json=[])
    kept = {
        key: value
        for key, value in zip(keys, row, strict=True)
        if value is not None and value not in left_out
    }
    assert members.text(tuple(row)) == json.dumps(kept, ensure_ascii=False)


def test_members_that_are_json_are_not_quoted() -> None:
    members = Members([(0, "metadata", ["{}"]), (1, "unsearched", [])], json=[0])
    assert members.text(('{"a": 1}', True)) == '{"metadata": {"a": 1}, "unsearched": true}'
    assert members.text(("{}", None)) == "{}"


def test_a_row_without_a_member_s_place_or_with_another_value_is_refused() -> None:
    members = Members([(1, "a", [])], json=[])
    with pytest.raises(IndexError):
        members.text(("x",))
    for value in (1.5, b"x", 2**64):
        with pytest.raises((ValueError, OverflowError)):
            members.text((None, value))
