"""The half year, the questions about times and the pairs say what their labels claim."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import benches.judge
import pytest
from benches.finding import time_words, times
from benches.finding.halfyear import life, questions, stock
from benches.judge.__main__ import pairs_of

TOLD = Path(benches.judge.__file__).parent / "told"

HALVES = pytest.mark.parametrize("half", stock.HALVES)


def test_each_wording_of_a_decision_has_its_key_and_no_later_one() -> None:
    for topic in stock.topics():
        for place, decision in enumerate(topic.decisions):
            texts = (*decision.told, decision.noted)
            assert all(questions.has(text, decision.key) for text in texts), decision
            later = [other.key for other in topic.decisions[place + 1 :]]
            assert not any(questions.has(text, key) for text in texts for key in later), decision
            assert not any(questions.has(text, decision.key) for text in topic.asked), decision


def test_tickets_and_rules_have_their_keys() -> None:
    for ticket in stock.tickets():
        assert questions.has(ticket.cause, ticket.key)
        assert not questions.has(f"{ticket.problem} {ticket.look} {ticket.asked}", ticket.key)
    for rule in stock.rules():
        assert all(questions.has(text, rule.key) for text in rule.told), rule


def test_no_topic_and_no_way_of_asking_is_in_both_halves() -> None:
    first, second = ({topic.label for topic in stock.topics_of(half)} for half in stock.HALVES)
    assert not first & second
    assert first | second == {topic.label for topic in stock.topics()}
    ways = [stock.asked(half) for half in stock.HALVES]
    assert all(not {*ways[0][kind]} & {*ways[1][kind]} for kind in ways[0])
    assert all(some for half in ways for some in half.values())
    assert not {*stock.orders(stock.HALVES[0])} & {*stock.orders(stock.HALVES[1])}


def test_other_words_are_nowhere_in_the_halves() -> None:
    known = [stock.asked(half) for half in stock.HALVES]
    others = stock.asked(stock.HALVES[0], otherwise=True)
    assert {*known[0]} == {*others}
    assert all(not {*ways} & {*known[0][kind], *known[1][kind]} for kind, ways in others.items())
    for given in (stock.orders, stock.unknown):
        halves = {text for half in stock.HALVES for text in given(half)}
        assert not halves & {*given(stock.HALVES[0], otherwise=True)}


@HALVES
@pytest.mark.parametrize("seed", range(3))
def test_a_life_follows_from_its_seed_and_answers_its_questions(half: str, seed: int) -> None:
    lived = life.lived(half, seed)
    asked = questions.asked(lived, seed)
    assert asked == questions.asked(life.lived(half, seed), seed)
    assert len(lived.sessions) >= 120
    turns = [turn for session in lived.sessions for turn in session.turns]
    assert turns == [turn for one in life.lived(half, seed).sessions for turn in one.turns]
    assert all(turn.at < life.NOW for turn in turns)
    count = Counter(one.kind for one in asked)
    assert count["order"] == questions.ORDERS
    assert sum(one.is_answerable for one in asked) >= 400
    held = {turn.about for turn in turns}
    for one in asked:
        if one.is_answerable and one.kind != "last touched":
            assert one.about & held, one


@HALVES
def test_the_decisions_of_a_topic_follow_each_other(half: str) -> None:
    lived = life.lived(half, 0)
    for told in lived.told.values():
        assert [one.place for one in told] == [*range(len(told))]
        assert [one.at for one in told] == sorted(one.at for one in told)


def test_questions_about_times_name_rows_of_their_memory() -> None:
    memories = times.read()
    assert len({memory.language for memory in memories}) >= 6
    assert sum(len(memory.asked) for memory in memories) >= 240
    for memory in memories:
        names = [row.name for row in memory.rows]
        assert len({*names}) == len(names) >= 3
        assert all(row.at <= memory.now for row in memory.rows), memory.rows
        texts = [one.text for one in memory.asked]
        assert len({*texts}) == len(texts)
        assert all(one.right <= {*names} for one in memory.asked)


def test_pairs_come_with_slots_that_their_texts_say_and_in_one_half_only() -> None:
    halves = [labelled_pairs(half) for half in ("development", "held_out")]
    assert sum(map(len, halves)) >= 200
    assert not {key(pair) for pair in halves[0]} & {key(pair) for pair in halves[1]}
    for pair in (pair for half in halves for pair in half):
        assert pair["label"] in ("supersedes", "asks", "coexists")
        assert pair["hostile"] is (pair["label"] == "coexists")
        for text, slots in ((pair["older"], "slots_old"), (pair["newer"], "slots_new")):
            assert pair[slots]["value"].casefold() in text.casefold(), pair


def labelled_pairs(half: str) -> list[dict[str, Any]]:
    return pairs_of([TOLD / f"{half}.jsonl"])


def key(pair: dict[str, Any]) -> tuple[str, str]:
    return pair["older"], pair["newer"]


def test_words_of_time_are_read_as_what_they_mean() -> None:
    asked = time_words.read()
    assert len(asked) == len({one.text for one in asked}) > 200
    missed = [one.text for one in asked if not one.is_read]
    assert len(missed) <= len(asked) // 10, missed
    assert not any(one.meaning == "-" and not one.is_read for one in asked)
    told = "What was the queue of the jobs when we settled on Redis?"
    meanings = {
        meaning: time_words.Meant("en", "", told, meaning).is_read
        for meaning in ("while Redis", "before Redis", "while jobs", "last", "-")
    }
    assert [meaning for meaning, is_read in meanings.items() if is_read] == ["while Redis"]
