"""One order over facts and turns: what each rule does, and that nothing is lost or repeated."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.examples import examples

from memstore.telling import recall
from memstore.telling.recall import FoundText


def result(is_fact: bool, score: float, thread: str, words: str) -> FoundText:
    return FoundText(is_fact, 1, score, "2026-01-01", thread, (0, 1), "#1", words)


WORDS = ["tea", "port", "5499", "Marta", "staging", "x" * 300]

results = st.builds(
    result,
    st.booleans(),
    st.floats(0, 1),
    st.sampled_from("abc"),
    st.lists(
        st.sampled_from(["tea", "port", "5499", "Marta", "staging", "x" * 300]), max_size=8
    ).map(" ".join),
)


def words_of(found: list[FoundText]) -> list[str]:
    return [one.words for one in recall.in_order(found)]


@settings(max_examples=examples(60))
@given(st.lists(results, max_size=90))
def test_every_result_is_in_the_order_once(found: list[FoundText]) -> None:
    order = recall.in_order(found)
    assert len(order) == len(found)
    assert sorted(map(id, order)) == sorted(map(id, found))


def test_of_equal_results_the_fact_comes_first() -> None:
    turn = result(False, 0.5, "a", "the port is 5499")
    fact = result(True, 0.5, "b", "staging uses 5499")
    assert recall.in_order([turn, fact]) == [fact, turn]


def test_a_turn_that_answers_much_better_comes_before_a_fact() -> None:
    turn = result(False, 0.9, "a", "the port is 5499")
    fact = result(True, 0.4, "b", "Ana likes tea")
    assert recall.in_order([fact, turn]) == [turn, fact]


def test_a_fact_gains_from_a_matching_turn_of_its_thread() -> None:
    supported = result(True, 0.5, "a", "staging uses 5499")
    alone = result(True, 0.52, "b", "Marta owns the migration")
    turn = result(False, 0.6, "a", "so staging uses port 5499")
    assert words_of([alone, supported])[0] == alone.words
    assert words_of([alone, supported, turn])[0] == supported.words


def test_a_text_that_repeats_a_better_one_comes_after_one_that_adds_something() -> None:
    best = result(True, 0.6, "a", "staging uses port 5499 now")
    same = result(True, 0.5, "b", "staging uses port 5499")
    other = result(True, 0.48, "c", "Marta owns the migration")
    assert words_of([best, same, other]) == [best.words, other.words, same.words]


def test_a_long_text_comes_after_a_short_one_of_nearly_the_same_score() -> None:
    long = result(True, 0.6, "a", "tea " * 1000)
    short = result(True, 0.5, "b", "port 5499")
    assert words_of([long, short]) == [short.words, long.words]
