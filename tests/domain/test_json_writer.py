from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memstore.domain.metadata import json_writer

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(VALUES, st.booleans())
def test_a_value_is_written_as_the_standard_library_writes_it(
    value: object, ascii_only: bool
) -> None:
    write = json_writer(allow_nan=True, ascii_only=ascii_only)
    assert write(value) == json.dumps(value, ensure_ascii=ascii_only)


@pytest.mark.parametrize("value", [float("nan"), {"a": [float("-inf")]}])
def test_invalid_json_number_is_refused(value: object) -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        json_writer(allow_nan=False)(value)


def test_refused_value_is_written_once_it_is_corrected() -> None:
    write = json_writer(allow_nan=False)
    held: dict[str, object] = {"a": object()}
    with pytest.raises(TypeError, match="not JSON serializable"):
        write({"outer": held})
    held["a"] = 1
    assert write({"outer": held}) == '{"outer": {"a": 1}}'
