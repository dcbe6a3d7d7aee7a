"""What was said, beside the facts: which turns are shown, and what is around them."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import memstore
from memstore import Memory, NotFound, Store

ANA = memstore.Scope(user_id="ana")

TALK = (
    ("user", "Where does staging run after the migration?"),
    ("assistant", "Staging moves to port 5499, and Marta owns the migration."),
    ("user", "Good. What is for lunch?"),
    ("assistant", "Noodles."),
)


def say(store: Store, *turns: tuple[str, str], thread: str = "monday", **more: object) -> list[int]:
    return [
        store.episodes.add(
            text,
            source="host",
            thread=thread,
            speaker=speaker,
            **more,  # type: ignore[arg-type]
        ).id
        for speaker, text in turns
    ]


def shown(hits: memstore.EpisodeHits) -> list[str]:
    return [hit.episode.content for hit in hits]


@pytest.fixture
def words(open_store: Callable[..., Store]) -> Store:
    return open_store(embedder=None)


def test_a_turn_answers_where_no_fact_was_stored(words: Store) -> None:
    say(words, *TALK)
    query = "which port does staging move to?"
    hits = words.search(query)
    assert not hits
    assert shown(words.turns_for(query, hits))[0] == TALK[1][1]


def test_a_turn_that_repeats_a_fact_is_left_out(words: Store) -> None:
    say(words, ("user", "Remember: Ana likes green tea."), ("user", "Ana's tea is from Uji."))
    words.add("Ana likes green tea", subject="ana")
    hits = words.search("Ana tea")
    assert shown(words.turns_for("Ana tea", hits)) == ["Ana's tea is from Uji."]


def test_the_turn_that_a_fact_was_extracted_from_is_left_out(words: Store) -> None:
    (source,) = say(words, ("user", "we will go with port 5499 for staging"))
    words.add("staging: port 5499", subject="staging", episode_id=source)
    hits = words.search("staging port")
    assert [hit.fact.episode_id for hit in hits] == [source]
    assert not words.turns_for("staging port", hits)


@pytest.mark.parametrize(
    "narrowing",
    [{"subject": "ana"}, {"category": "note"}, {"filters": {"a": 1}}, {"active_only": False}],
    ids=lambda given: next(iter(given)),
)
def test_a_filter_that_only_facts_have_leaves_no_turns(
    words: Store, narrowing: dict[str, object]
) -> None:
    say(words, *TALK)
    assert words.turns_for("staging port")
    assert not words.turns_for("staging port", **narrowing)  # type: ignore[arg-type]


def test_an_answer_comes_with_its_question_and_a_question_with_its_answer(words: Store) -> None:
    say(words, *TALK)
    (answer,) = words.turns_for("who owns it: Marta", limit=1)
    assert [turn.content for turn in answer.before] == [TALK[0][1]]
    assert not answer.after
    (lunch,) = words.turns_for("what is for lunch", limit=1)
    exchange = [*lunch.before, lunch.episode, *lunch.after]
    assert [turn.content for turn in exchange] == [TALK[2][1], TALK[3][1]]


def test_no_turn_is_shown_twice(words: Store) -> None:
    say(words, *TALK)
    hits = words.turns_for("staging migration Marta port")
    ids = [turn.id for hit in hits for turn in (*hit.before, hit.episode, *hit.after)]
    assert len(ids) == len(set(ids))


def test_turns_of_other_owners_and_namespaces_are_not_shown(words: Store) -> None:
    say(words.of(ANA), *TALK)
    say(words.within("other"), *TALK)
    assert not words.turns_for("staging port")
    assert words.of(ANA).turns_for("staging port")


def test_an_erased_or_expired_turn_is_not_shown(words: Store) -> None:
    first, second, *_ = say(words, *TALK)
    words.episodes.erase(second)
    words.episodes.update(first, expired_at="2020-01-01")
    texts = shown(words.turns_for("staging port Marta"))
    assert not any("staging" in text.lower() for text in texts)
    with pytest.raises(NotFound):
        words.episodes.around(second)


def test_around_returns_the_turns_beside_one_in_their_order(words: Store) -> None:
    ids = say(words, *TALK)
    say(words, ("user", "elsewhere"), thread="tuesday")
    assert [turn.id for turn in words.episodes.around(ids[1], 1)] == ids[:3]
    assert [turn.id for turn in words.episodes.around(ids[2])] == ids
    alone = words.episodes.add("no thread", source="host")
    assert words.episodes.around(alone.id) == [alone]
    with pytest.raises(ValueError, match="reach"):
        words.episodes.around(ids[0], -1)


def test_memory_search_returns_turns_of_its_scope_on_request(words: Store) -> None:
    say(words.of(ANA), *TALK)
    memory = Memory(words)
    assert memory.search("staging port", user_id="ana").said == ()
    found = memory.search("staging port", said=True, user_id="ana")
    assert found.said[0].episode.content == TALK[1][1]
    assert not memory.search("staging port", said=True, user_id="ben").said


def test_more_turns_are_shown_while_all_fit(words: Store) -> None:
    said = [("user", f"Staging port {number} is open") for number in range(5400, 5420)]
    say(words, *said)
    few = words.turns_for("staging port", limit=2)
    more = words.turns_for("staging port", limit=2, max_tokens=100)
    assert len(few) == 2
    assert 2 < len(more) < len(said)
    assert shown(more)[:2] == shown(few)
    assert len(words.turns_for("staging port", limit=2, max_tokens=1)) == 2
