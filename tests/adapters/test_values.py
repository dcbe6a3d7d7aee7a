"""Values come back equal, or are refused with the place of what is not JSON."""

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memstore.adapters.values import from_json, to_json
from memstore.errors import InvalidArgument, InvalidArgumentType

scalars = (
    st.none()
    | st.booleans()
    | st.integers(-(2**63) + 1, 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"]))
)
keys = st.text(st.characters(exclude_categories=["Cs"]), max_size=5)
json_values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=3)
)


@given(value=json_values)
def test_a_value_comes_back_as_it_was(value: Any) -> None:
    back = from_json(to_json(value, "value"))
    assert back == value
    assert repr(back) == repr(value)  # True is not 1, and 1 is not 1.0


def test_tuples_are_lists_nul_and_blanks_are_kept() -> None:
    assert from_json(to_json({"a": ("\0", " ", "")}, "value")) == {"a": ["\0", " ", ""]}


@pytest.mark.parametrize(
    ("value", "error", "text"),
    [
        ({"a": [1, math.nan]}, InvalidArgument, 'value["a"][1]: is nan, which JSON cannot keep'),
        ({"a": {1, 2}}, InvalidArgumentType, 'value["a"]: is a set, which JSON cannot keep'),
        ({"a": {1: 2}}, InvalidArgumentType, 'value["a"]: must have text keys, not 1'),
        ({"a": "x\ud800"}, InvalidArgument, 'value["a"]: contains half of a character'),
        ({"a\ud800": 1}, InvalidArgument, "a key of value: contains half of a character"),
        ([2**63], InvalidArgument, "value[0]: must fit in 64 bits"),
        (b"x", InvalidArgumentType, "value: is a bytes, which JSON cannot keep"),
    ],
)
def test_what_json_cannot_keep_is_refused_by_name(
    value: object, error: type[Exception], text: str
) -> None:
    with pytest.raises(error) as raised:
        to_json(value, "value")
    assert text.replace(": ", " ", 1) in str(raised.value).replace(": ", " ", 1)


def test_what_holds_itself_is_refused() -> None:
    value: list[Any] = []
    value.append(value)
    with pytest.raises(InvalidArgument, match="nested deeper than 100 levels"):
        to_json(value, "value")
