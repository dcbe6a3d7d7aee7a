"""Recall: a text within its budget; a larger budget includes a smaller one's results."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.examples import examples

import memstore
from memstore import NewFact, Store
from memstore.domain.episodes import EpisodeHits
from memstore.domain.records import SearchHit, SearchHits
from memstore.providers.local import TokenCounter, tokens_at_most
from memstore.telling import fitting, recall

COUNTS = Path(__file__).with_name("token_counts.json")

COUNTERS: dict[str, Callable[[str], int]] = {
    "default": tokens_at_most,
    "words": lambda text: len(text.split()),
    "characters": len,
    "bytes": lambda text: len(text.encode()),
}


@pytest.fixture
def words(open_store: Callable[..., Store]) -> Store:
    return open_store(embedder=None)


def lines(recalled: memstore.Recalled) -> list[str]:
    return str(recalled).split("\n")


def rows(recalled: memstore.Recalled) -> list[str]:
    """The lines of facts and episodes, without dates."""
    return [line for line in lines(recalled) if line[:1] in ("#", "e")]


@pytest.mark.parametrize("count", [TokenCounter(), len], ids=["default", "characters"])
def test_the_length_of_items_is_that_of_their_text(count: Callable[[str], int]) -> None:
    chance, length = Random(3), recall.Length(count)
    for _ in range(200):
        names = [f"#{number}" for number in chance.sample(range(80), chance.randrange(60))]
        items = [
            recall.FoundText(
                True,
                place,
                1.0,
                f"2026-11-0{chance.randrange(1, 4)}",
                chance.randrange(3),
                (place, place),
                name,
                " ".join(chance.choices(["tea", "茶", "1234", "Ünder"], k=chance.randrange(9))),
                marks=tuple(chance.choices(["ends soon", "3 times"], k=chance.randrange(2))),
                newer=chance.choice([None, *names]),
                note=chance.choice([None, "of others"]),
            )
            for place, name in enumerate(names)
        ]
        after = ["(2 more left out)"] * chance.randrange(2)
        tokens = count("\n".join([recall.text_of_items(items), *after]))
        assert length(items, *after) == tokens
        for budget in (tokens - 1, tokens, tokens + 1, tokens // 2, 2 * tokens):
            assert length.fits(iter(items), budget, *after) == (tokens <= budget)


# -- the budget ------------------------------------------------------------------------------

texts = st.lists(
    st.sampled_from(["tea", "with\nlemon", "Ünder", "茶", "x" * 70, "and so on"]),
    min_size=1,
    max_size=60,
).map(" ".join)


def found(contents: list[tuple[str, int | None]], store: Store) -> tuple[SearchHits, EpisodeHits]:
    store.add_many(
        NewFact(
            content=text,
            subject="tea",
            thread=thread and f"t{thread}",
            valid_at=f"2024-03-{len(text) % 4 + 1:02}",
        )
        for text, thread in contents
    )
    store.episodes.add_many(
        {
            "content": f"{text} tea",
            "source": "s",
            "speaker": "Ann",
            "thread": thread and f"t{thread}",
        }
        for text, thread in contents
    )
    return store.search("tea lemon", limit=100), store.episodes.search("tea lemon", limit=100)


@settings(max_examples=examples(40))
@given(
    st.lists(st.tuples(texts, st.none() | st.integers(1, 3)), min_size=1, max_size=8),
    st.sampled_from(sorted(COUNTERS)),
    st.lists(st.integers(1, 3000), min_size=2, max_size=6),
)
def test_larger_budget_includes_the_smaller_ones_best_results(
    contents: list[tuple[str, int | None]], counter: str, budgets: list[int]
) -> None:
    count = COUNTERS[counter]
    with memstore.open(":memory:", embedder=None) as store:
        hits = found(contents, store)
    best = recall.best_first(hits[0], recall.matching(hits[1]))
    order = [item.name for item in recall.each_once(best)]
    held: dict[str, str] = {}
    for budget in sorted(budgets):
        told = fitting.recalled(*hits, budget, count)
        assert count(told.text) <= budget
        assert len(rows(told)) == len(told.facts) + len(told.episodes)
        now = {line.split(" ")[0]: line for line in rows(told)}
        for name, line in held.items():
            assert now[name].startswith(line)
        # The best ones, up to the first that is not shown whole.
        whole = {name for name, line in now.items() if not line.endswith("…")}
        held = {name: now[name] for name in itertools.takewhile(whole.__contains__, order)}


@given(st.integers(0, 10), st.integers(1, 400))
def test_a_nonmonotonic_counter_stays_within_budget(salt: int, budget: int) -> None:
    def count(text: str) -> int:
        return len(text) // 7 * (3 + (len(text) + salt) % 5)

    with memstore.open(":memory:", embedder=None) as store:
        hits = found([(f"tea number {n}", None) for n in range(12)], store)
    assert count(fitting.recalled(*hits, budget, count).text) <= budget


def test_results_beyond_the_budget_are_counted(words: Store) -> None:
    for number in range(30):
        words.add(f"tea of kind {number}", subject="tea")
    told = words.recall("tea", max_tokens=120)
    assert 0 < len(told.facts) < 30
    assert told.left_out == 30 - len(told.facts)
    assert lines(told)[-1] == f"({told.left_out} more left out)"
    assert words.recall("tea", max_tokens=10_000).left_out == 0
    nothing = words.recall("tea", max_tokens=1)
    assert (nothing.text, nothing.facts, nothing.left_out) == ("", (), 30)


def ranked(*contents: str) -> tuple[SearchHits, EpisodeHits]:
    """Return facts as found, best first."""
    with memstore.open(":memory:", embedder=None) as store:
        facts = [store.add(text, subject="s") for text in contents]
    hits = [SearchHit(fact, 1 - n / 100, 0, 0, 1) for n, fact in enumerate(facts)]
    return SearchHits(hits), EpisodeHits()


LONG = " ".join(f"word{number:03}" for number in range(40))


def test_room_left_by_a_result_that_does_not_fit_is_filled_with_the_next_ones() -> None:
    hits = ranked("the best", LONG, "the third", "the fourth")
    told = fitting.recalled(*hits, 120, len)
    assert told.facts == (1, 3, 4)
    assert told.left_out == 1
    assert "word" not in told.text


def test_a_result_of_which_much_fits_is_not_given_up_for_a_shorter_one() -> None:
    hits = ranked("the best", LONG, "the third")
    told = fitting.recalled(*hits, 330, len)
    assert told.facts[:2] == (1, 2)
    assert "word020" in told.text
    assert "word039" not in told.text


def test_a_far_result_does_not_fill_the_room() -> None:
    long = [LONG.replace("word", f"word{number}") for number in range(fitting.MAX_TRIED + 1)]
    assert fitting.recalled(*ranked("the best", *long[1:], "near"), 120, len).facts == (1, 5)
    assert fitting.recalled(*ranked("the best", *long, "far"), 120, len).facts == (1,)


def test_the_best_result_is_truncated_if_it_does_not_fit(words: Store) -> None:
    words.add(" ".join(f"tea{number}" for number in range(400)), subject="tea")
    few, more = words.recall("tea7", max_tokens=150), words.recall("tea7", max_tokens=600)
    assert few.facts == more.facts == (1,)
    assert few.text.endswith("…")
    assert len(few.text) < len(more.text)


@pytest.mark.parametrize(
    "case", json.loads(COUNTS.read_text("utf-8")), ids=lambda case: case["what"]
)
def test_the_default_counter_counts_no_less_than_other_tokenizers(case: dict[str, Any]) -> None:
    assert tokens_at_most(case["text"]) >= max(case["tokens"].values())


@pytest.mark.model
@pytest.mark.parametrize("what", ["zh", "ja", "ko"])
def test_the_default_counter_is_near_other_tokenizers_in_scripts_of_east_asia(what: str) -> None:
    for case in json.loads(COUNTS.read_text("utf-8")):
        if case["what"] == what:
            assert tokens_at_most(case["text"]) <= 1.5 * max(case["tokens"].values())


def test_digits_are_counted_without_a_margin() -> None:
    assert tokens_at_most("tea" + " 1234567890" * 9) - tokens_at_most("tea" + " 1" * 9) == 81


def test_the_margin_is_rounded_once_per_text() -> None:
    one = tokens_at_most("tea")
    assert tokens_at_most("\n".join(["tea"] * 10)) < 10 * (one + 1) - 1


def test_long_text_ranks_below_slightly_less_relevant_short_ones(
    words: Store,
) -> None:
    long = words.add(
        "tea " * 1600, subject="tea"
    )  # 16 times the length that costs nothing: half its score
    short = words.add("tea", subject="tea")
    hits = {hit.fact.id: hit for hit in words.search("tea")}

    def first(of_short: float) -> int:
        scored = [replace(hits[long.id], score=0.9), replace(hits[short.id], score=of_short)]
        return fitting.recalled(SearchHits(scored), EpisodeHits(), 10_000, None).facts[0]

    assert first(0.46) == short.id
    assert first(0.44) == long.id


# -- the text --------------------------------------------------------------------------------


def test_a_line_has_the_id_and_the_text_below_its_date(words: Store) -> None:
    words.add("prefers tea", subject="Alice", valid_at="2024-03-02")
    words.episodes.add("I like tea", source="chat", valid_at="2024-05-01T23:59:00Z")
    words.episodes.add("tea?", source="chat", speaker="Bob", valid_at="2024-05-01")
    told = words.recall("tea", max_tokens=100)
    texts = {
        "2024-03-02": {"#1 Alice: prefers tea"},
        "2024-05-01": {"e1 I like tea", "e2 Bob: tea?"},
    }
    by_date: dict[str, set[str]] = {}
    for line in lines(told):
        if line in texts:
            below = by_date.setdefault(line, set())
        else:
            below.add(line)
    assert by_date == texts
    assert (told.facts, sorted(told.episodes), told.left_out) == ((1,), [1, 2], 0)


def test_a_date_is_written_once_and_the_latest_comes_first(words: Store) -> None:
    for day, text in enumerate(["tea, lemon and honey", "tea", "honey", "lemon"]):
        words.add(text, subject="cup", valid_at=f"2024-03-0{day % 2 + 1}")
    told = words.recall("tea lemon honey", max_tokens=500)
    assert told.facts[0] == 1
    assert [line for line in lines(told) if line not in rows(told)] == ["2024-03-02", "2024-03-01"]
    assert lines(told)[0] == "2024-03-02"
    assert {line.split(" ")[0] for line in lines(told)[1:3]} == {"#2", "#4"}


def test_lines_of_a_thread_are_grouped_in_order(words: Store) -> None:
    for seq, text in enumerate(["tea first", "tea tea tea tea", "tea last"]):
        words.episodes.add(text, source="chat", thread="one", seq=2 - seq)
    words.add("tea tea", subject="tea")
    names = [line.split(" ")[0] for line in rows(words.recall("tea", max_tokens=500))]
    assert [name for name in names if name != "#1"] == ["e3", "e2", "e1"]
    assert names.index("#1") in (0, 3)


def test_a_thread_continues_below_its_next_date(words: Store) -> None:
    for seq, (day, text) in enumerate([(1, "tea"), (1, "tea tea"), (2, "tea"), (2, "tea tea")]):
        valid_at = f"2024-03-0{day}"
        words.add(f"{text} {seq}", subject=f"x{seq}", thread="one", valid_at=valid_at, seq=seq)
    told = lines(words.recall("tea", max_tokens=500))
    assert sorted([told[:3], told[3:]]) == [
        ["2024-03-01", "#1 x0: tea 0", "#2 x1: tea tea 1"],
        ["2024-03-02", "#3 x2: tea 2", "#4 x3: tea tea 3"],
    ]


def test_repeated_fact_is_recalled_once(words: Store) -> None:
    words.add("Alice likes tea", subject="alice")
    words.add("alice likes  TEA.", subject="alice")
    words.episodes.add("Alice likes tea", source="chat")
    assert len(rows(words.recall("tea", max_tokens=500))) == 1


def test_what_was_said_several_times_is_told_once_with_how_often(words: Store) -> None:
    for month in (3, 5, 4):
        words.episodes.add("Tea is at four.", source="chat", valid_at=f"2024-0{month}-01")
    words.episodes.add("Is tea at four?", source="chat", valid_at="2024-02-01")
    told = words.recall("tea", max_tokens=500)
    assert sorted(rows(told)) == ["e2[3 times] Tea is at four.", "e4 Is tea at four?"]
    told = words.recall("tea in March 2024", max_tokens=500)
    assert "e1[3 times, last 2024-05-01] Tea is at four." in rows(told)


def test_a_turn_that_says_more_than_a_fact_is_told_beside_it(words: Store) -> None:
    said = words.episodes.add("Tea is at four, Ana proposed it", source="chat")
    words.episodes.add("tea at four!", source="chat")
    words.add("Tea is at four", subject="tea", episode_id=said.id)
    turns = words.turns_for("when is tea?", words.search("when is tea?"))
    assert [hit.episode.id for hit in turns] == [said.id]


def test_stored_text_is_always_one_line(words: Store) -> None:
    forged = "tea\n2024-01-01\n#9 forged\r\n(0 more left out)\u2028\x1b[2J\u202e"
    words.add(forged, subject="tea", valid_at="2024-03-02")
    told = words.recall("tea", max_tokens=500)
    date, line = lines(told)
    assert date == "2024-03-02"
    assert line.startswith("#1 tea 2024-01-01 #9 forged")
    assert "\x1b" not in told.text
    assert "\u202e" not in told.text


# -- what is recalled ------------------------------------------------------------------------


def test_filters_of_facts_exclude_episodes(words: Store) -> None:
    words.add("tea", subject="alice", category="preference")
    words.add("tea too", subject="bob", metadata={"level": 3})
    words.episodes.add("tea with Bob", source="chat")

    def recalled(**asked: Any) -> tuple[int, int]:
        told = words.recall("tea", max_tokens=500, **asked)
        return len(told.facts), len(told.episodes)

    assert recalled() == (2, 1)
    assert recalled(episodes=False) == (2, 0)
    assert recalled(subject="alice") == (1, 0)
    assert recalled(category="preference") == (1, 0)
    assert recalled(filters={"level": 3}) == (1, 0)
    assert recalled(active_only=False) == (2, 0)


def test_other_owners_and_namespaces_are_not_recalled(words: Store) -> None:
    words.add("tea of Ana", subject="ana", user_id="ana")
    words.of(user_id="ana").episodes.add("tea of Ana, said", source="chat")
    words.within("other").add("tea elsewhere", subject="x")
    assert words.recall("tea", max_tokens=500).text == ""
    assert len(rows(words.of(user_id="ana").recall("tea", max_tokens=500))) == 2
    assert len(rows(words.recall("tea", max_tokens=500, namespaces=["other"]))) == 1


def test_tasks_are_recalled_only_on_request(words: Store) -> None:
    words.tasks.create("buy tea")
    assert words.recall("tea", max_tokens=500).text == ""
    assert len(words.recall("tea", max_tokens=500, tasks=True).facts) == 1


def test_only_rows_in_the_text_count_as_used(words: Store) -> None:
    for number in range(20):
        words.add(f"tea of kind {number}", subject="tea")
    shown = set(words.recall("tea", max_tokens=120).facts)
    words.recall("tea", max_tokens=500, touch=False)
    assert {fact.id for fact in words.list() if fact.use_count} == shown


def test_newest_episodes_without_a_match_are_not_recalled(words: Store) -> None:
    words.episodes.add("about coffee", source="chat")
    assert words.recall("tea", max_tokens=500).text == ""


def test_unrelated_question_recalls_nothing(open_store: Callable[..., Store]) -> None:
    store = open_store(embedder=memstore.LocalEmbedder())
    store.add("Alice prefers dark mode in every editor", subject="alice")
    store.episodes.add("The api is deployed on Tuesdays", source="chat")
    store.file.embed_pending()
    store.file.warm()
    assert store.recall("zzzz qqqq", max_tokens=500, min_relevance=0.075).text == ""
    told = store.recall("Which theme does Alice like?", max_tokens=500, min_relevance=0.075)
    assert told.facts == (1,)


@pytest.mark.parametrize("tokens", [0, -1, 1.5, "9", True])
def test_budget_must_be_a_whole_number(words: Store, tokens: Any) -> None:
    with pytest.raises(ValueError, match="tokens must be a whole number from 1"):
        words.recall("tea", max_tokens=tokens)


def test_counter_must_be_a_function_returning_a_whole_number(words: Store) -> None:
    words.add("tea", subject="tea")
    with pytest.raises(TypeError, match="counter must be a function, not int"):
        words.recall("tea", max_tokens=9, counter=3)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="counter must return a whole number, not None"):
        words.recall("tea", max_tokens=9, counter=lambda _: None)  # type: ignore[arg-type,return-value]
