"""One order over facts and turns: what each rule does, and that nothing is lost or repeated."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.examples import examples

from memstore.telling import covering, recall
from memstore.telling.recall import FoundText
from memstore.text.words import terms


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


def test_a_text_with_a_word_that_is_missing_comes_before_one_that_is_a_little_better() -> None:
    question = "which port does staging use, and what does Marta drink?"
    best = result(True, 0.6, "a", "the port of staging is 5499")
    better = result(True, 0.5, "b", "the staging port was changed once")
    missing = result(True, 0.48, "c", "Marta drinks tea")
    found = [best, better, missing]
    assert [one.words for one in recall.in_order(found)] == words_of(found)
    assert recall.in_order(found, question) == [best, missing, better]


@settings(max_examples=examples(60))
@given(st.lists(results, max_size=90), st.lists(st.sampled_from(WORDS), max_size=4).map(" ".join))
def test_every_result_is_in_the_order_of_a_question_once(
    found: list[FoundText], question: str
) -> None:
    order = recall.in_order(found, question)
    assert sorted(map(id, order)) == sorted(map(id, found))


def test_what_was_done_comes_last_unless_it_has_a_word_of_the_question() -> None:
    done = result(False, 0.9, "a", "What was done: Changed files: port.py")._replace(is_trace=True)
    said = result(False, 0.3, "b", "so staging it is")
    assert recall.in_order([done, said], "where is Marta?") == [said, done]
    assert recall.in_order([done, said], "which files were changed?") == [done, said]
    assert recall.in_order([done, said]) == [done, said]


def test_the_covered_part_is_what_one_pass_over_all_texts_gives() -> None:
    texts = ["Tea and ports", "the port", "nothing", "teas"]
    found = covering.covered("the tea, the port, the harbour", [*map(terms, map(str.lower, texts))])
    tea, port = (
        {place for place, part in enumerate(found.parts) if part >> word & 1} for word in (0, 1)
    )
    assert (tea, port) == ({0}, {0, 1})
    assert found.weights[2] == 0.0  # no text has it
    assert found.weights[0] > found.weights[1] > 0.0
    assert abs(found.weight(found.whole) - 1.0) < 1e-9


def test_of_a_question_of_stop_words_nothing_is_covered() -> None:
    assert covering.covered("what is it?", [["it", "is"]]).whole == 0
    assert covering.covered("", [["it", "is"]]).parts == [0]
