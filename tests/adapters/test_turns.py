"""JSON values as episodes: each comes back equal, and its texts can be searched."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.examples import examples

from memstore.adapters.turns import MAX_REST, SPOKEN, Turn, Unreadable, turn_of, value_of
from memstore.adapters.values import to_json
from memstore.errors import InvalidArgument, InvalidArgumentType
from memstore.text.secrets import Screen

TOKEN = "ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a"

KEYS = st.sampled_from([*sorted(SPOKEN), "id", "rest", ""])
TEXTS = st.sampled_from(["", " ", "a", "\n\n", "a\n\nb", "é", "\x00", '"\\', "😀"])
LEAVES = (
    st.none() | st.booleans() | st.integers(-9, 9) | st.sampled_from([0.5, -0.0, 1e300]) | TEXTS
)
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=8,
)


@given(value=VALUES)
@settings(max_examples=examples(25), deadline=None)
def test_a_value_comes_back_as_it_was(value: Any) -> None:
    turn = turn_of(value, "item", Screen())
    assert turn.content.strip()
    assert "\x00" not in turn.content
    assert to_json(value_of(turn), "item") == to_json(value, "item")


def test_texts_are_the_content_and_stand_there_alone() -> None:
    item = {"role": "user", "content": [{"type": "input_text", "text": "Hi"}, {"text": "you"}]}
    turn = turn_of(item, "item", Screen())
    assert turn.content == "Hi\n\nyou"
    assert "Hi" not in str(turn.metadata)
    assert value_of(turn) == item


def test_a_long_rest_is_in_the_content() -> None:
    item = {"content": "a picture", "image": "A" * MAX_REST}
    turn = turn_of(item, "item", Screen())
    assert turn.content.startswith("a picture\n\n")
    assert turn.metadata == {"rest": 11}
    assert value_of(turn) == item


def test_secrets_are_redacted_or_refused_in_texts_and_elsewhere() -> None:
    item = {"content": f"my token is {TOKEN} ok", "call": {"key": TOKEN}, "text": "and more"}
    turn = turn_of(item, "item", Screen("redact"))
    assert TOKEN not in f"{turn}"
    kept = value_of(turn)
    assert (kept["text"], kept["content"][-3:]) == ("and more", " ok")
    with pytest.raises(InvalidArgument, match="secret"):
        turn_of(item, "item", Screen("refuse"))


@pytest.mark.parametrize(
    ("value", "name"),
    [
        ({"a": [float("nan")]}, r'item\["a"\]\[0\]'),
        ({"content": "\ud800"}, r'item\["content"\]'),
        ({1: 2}, "item"),
        ({"a": {1, 2}}, r'item\["a"\]'),
    ],
)
def test_what_json_cannot_keep_is_refused_by_name(value: object, name: str) -> None:
    with pytest.raises((InvalidArgument, InvalidArgumentType)) as caught:
        turn_of(value, "item", Screen())
    assert caught.match(name)


@pytest.mark.parametrize(
    "metadata", [{}, {"rest": "{"}, {"rest": 99}, {"rest": -1}, {"rest": '[{}, [["a", 0, 1]]]'}]
)
def test_an_episode_of_another_program_is_unreadable(metadata: dict[str, Any]) -> None:
    with pytest.raises(Unreadable):
        value_of(Turn("said by a person", metadata))
