"""Texts in other texts, compared with looking for each."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.examples import examples

from memstore.text import occurrences
from memstore.text.occurrences import Occurrences

TEXTS = st.text("ab\\", max_size=30)


@pytest.mark.hypothesis
@settings(max_examples=examples(200))
@given(st.lists(TEXTS, max_size=8), TEXTS, st.sampled_from([0, 3, 100]))
def test_texts_are_found_as_one_by_one(texts: list[str], text: str, few: int) -> None:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(occurrences, "BEGINNING", 4)
        patched.setattr(occurrences, "FEW", few)
        assert Occurrences(texts).found_in(text) == any(one and one in text for one in texts)
