"""Sets of row ids."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memstore._kernel.ids import Ids
from memstore.search.index import visibility

SETS = st.sets(st.integers(0, 300))


@given(SETS, SETS)
def test_ids_behave_like_sets(left: set[int], right: set[int]) -> None:
    a, b = Ids(left), Ids(right)
    assert [*a] == sorted(left)
    assert len(a) == len(left)
    assert a.ends() == ((min(left), max(left)) if left else None)
    assert all((id_ in a) == (id_ in left) for id_ in range(-1, 302))
    assert [*(a & b)] == sorted(left & right)
    assert [*(a | b)] == sorted(left | right)
    assert [*(a - b)] == sorted(left - right)
    assert (a == b) == (left == right)


@given(SETS, st.integers(0, 320), st.integers(0, 320), st.integers(-5, 2**40))
def test_a_part_of_a_set_is_that_of_its_list(
    ids: set[int], start: int, stop: int, last: int
) -> None:
    every = sorted(ids)
    assert [*visibility.part(Ids(ids), start, stop)] == every[start:stop]
    assert [*visibility.until(Ids(ids), last)] == [id_ for id_ in every if id_ <= last]


def test_an_impossible_row_id_is_refused() -> None:
    for wrong in (-1, 2**32, 2**63 - 1):
        with pytest.raises(ValueError, match="a row id is 0 to"):
            Ids([1, wrong])
    with pytest.raises(TypeError):
        Ids(["1"])  # type: ignore[list-item]
