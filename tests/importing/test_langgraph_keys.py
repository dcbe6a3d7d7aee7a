"""Items of nested namespaces as external keys."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memstore.domain.arguments import MAX_NAME, checked_key
from memstore.importing import langgraph_keys

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
labels = texts.filter(lambda text: bool(text) and not {".", "\x00"} & {*text})
namespaces = st.lists(labels, min_size=1, max_size=4).map(tuple)
keys = texts | st.sampled_from(["", ".", "..", "a..b", "\\", "\\h", "\\0", "\x00", " "])


@given(namespaces, keys)
def test_keys_come_back_as_they_were(namespace: tuple[str, ...], key: str) -> None:
    written = langgraph_keys.written(namespace, key)
    assert checked_key(written, "external_key") == written
    assert langgraph_keys.read(written) == (namespace, key)


@given(namespaces, namespaces, keys)
def test_keys_begin_as_the_namespaces_above(
    one: tuple[str, ...], other: tuple[str, ...], key: str
) -> None:
    written = langgraph_keys.written(one, key)
    assert written.startswith(langgraph_keys.within(other)) == (one == other)
    assert written.startswith(langgraph_keys.under(other)) == (one[: len(other)] == other)
    assert written.startswith(langgraph_keys.under(()))


@pytest.mark.parametrize("length", [1, langgraph_keys.MAX_NAMESPACE])
def test_long_keys_are_hashed_and_stay_different(length: int) -> None:
    namespace = ("n" * length,)
    one, other = (langgraph_keys.written(namespace, "k" * 2000 + end) for end in ("é", "e\u0301"))
    assert one != other
    assert len(one) <= MAX_NAME
    assert langgraph_keys.read(one) == (namespace, None)


def test_an_items_name_for_people() -> None:
    assert (
        langgraph_keys.label(langgraph_keys.written(("users", "ana"), "a..b")) == "users.ana/a..b"
    )
