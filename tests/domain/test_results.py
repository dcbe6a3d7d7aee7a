"""Results: frozen, equal to lists, with their attributes when sliced."""

from __future__ import annotations

import copy
import json
import operator
import pickle
from collections.abc import Callable
from dataclasses import FrozenInstanceError
from itertools import permutations

import pytest

from memstore.domain.results import Results, WordsOnly
from memstore.frozen import field, frozen


@frozen
class Words(Results[str]):
    language: str = field(kw_only=True)
    note: str | None = None


def through_pickle(words: Words) -> Words:
    return pickle.loads(pickle.dumps(words))  # type: ignore[no-any-return]


WORDS = Words(iter(["a", "b", "c"]), language="en", note="few")


def test_results_are_a_sequence_of_their_items() -> None:
    assert len(WORDS) == 3
    assert (WORDS[0], WORDS[-1], [*WORDS], "b" in WORDS) == ("a", "c", ["a", "b", "c"], True)
    assert not Words(language="en")


@pytest.mark.parametrize("same", [list, tuple, lambda items: Words(items, language="de")])
def test_results_equal_sequences_of_the_same_items(same: type[list[str]]) -> None:
    alike, others = same("abc"), same("ab")
    for one, other in permutations([alike, WORDS]):
        assert one == other
        assert not operator.ne(one, other)
    for one, other in permutations([others, WORDS]):
        assert one != other
        assert not operator.eq(one, other)


def test_a_slice_keeps_the_attributes() -> None:
    part = WORDS[1:]
    assert part == ["b", "c"]
    assert (type(part), part.language, part.note) == (Words, "en", "few")


def test_results_cannot_be_changed() -> None:
    with pytest.raises(FrozenInstanceError):
        WORDS.note = "many"  # type: ignore[misc]
    with pytest.raises(TypeError):
        WORDS[0] = "z"  # type: ignore[index]
    with pytest.raises(TypeError, match="unhashable"):
        hash(WORDS)


def test_results_show_their_items_and_attributes() -> None:
    assert repr(WORDS) == "Words(['a', 'b', 'c'], language='en', note='few')"


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, through_pickle])
def test_copy_is_complete(copied: Callable[[Words], Words]) -> None:
    again = copied(WORDS)
    assert (again, again.language, again.note) == (WORDS, "en", "few")


def test_results_of_plain_items_serialize_to_json() -> None:
    assert json.dumps(WORDS) == '["a", "b", "c"]'


def test_words_only_unpacks_to_a_code_and_a_reason() -> None:
    code, reason = WordsOnly("no_embedder", "this store has no embedder")
    assert (code, reason) == ("no_embedder", "this store has no embedder")
