"""Long texts: kept in parts, as one turn, in transactions of a bounded size."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from memstore import Episode, IdempotencyConflict, NewEpisode, NotFound, Store
from memstore.database import short_transactions
from memstore.database.tables.episodes import DerivedTexts
from memstore.episodes import episodes, parts

LIMIT = 2_000


@pytest.fixture(autouse=True)
def _short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make long texts short, and nobody wait."""
    monkeypatch.setattr(parts, "MAX_BYTES", LIMIT)
    monkeypatch.setattr(parts._cut, "__defaults__", (LIMIT,))
    monkeypatch.setattr(short_transactions, "BYTES_AT_ONCE", LIMIT + 2_000)
    monkeypatch.setattr(episodes, "pause", lambda: None)


def words(start: str, size: int) -> str:
    return (f"{start} harbour of Rotterdam is closed. " * (size // 20))[:size]


SCRIPTS = {
    "words": words("the", 9 * LIMIT),
    "one word": "x" * (3 * LIMIT + 1),
    "blank before a letter": " " * (3 * LIMIT) + "a",
    "accents": "größe déjà vu " * LIMIT,
    "Cyrillic": "порт закрыт. " * LIMIT,
    "Chinese": "鹿特丹港今天关闭。" * LIMIT,
    "emoji": "👨\u200d👩\u200d👧👍🏽 " * LIMIT,
    "letters, then emoji": "a" * (2 * LIMIT) + "🍵" * LIMIT,
}


def turn(text: str, **fields: Any) -> NewEpisode:
    return NewEpisode(content=text, source="chat", thread="talk", **fields)


def held(store: Store, **asked: Any) -> list[Episode]:
    return store.of("all").episodes.list(**asked)


@pytest.mark.parametrize("name", SCRIPTS)
def test_joined_parts_are_the_text_and_none_is_too_long(store: Store, name: str) -> None:
    text = SCRIPTS[name]
    first = store.episodes.add(text, source="chat", thread="talk", metadata={"n": 1, "part": "own"})
    found = held(store)
    assert len(found) > 1
    assert max(len(one.content.encode()) for one in found) <= LIMIT
    assert [parts.mark_of(one) for one in found] == [
        parts.Mark(number, len(found), first.uuid) for number in range(1, len(found) + 1)
    ]
    [whole] = parts.joined(found)
    assert (whole.content, whole.metadata) == (text, {"n": 1, "part": "own"})
    assert whole == first == store.episodes.get(first.id) == store.episodes.get(first.uuid)
    assert store.episodes.get(found[-1].id) == found[-1]


def test_text_up_to_the_limit_is_one_episode(store: Store) -> None:
    for text in ("x" * LIMIT, "港" * (LIMIT // 3)):
        assert parts.mark_of(store.episodes.add(text, source="chat")) is None
    assert len(held(store)) == 2


def test_parts_stand_at_one_place_whatever_is_added_between(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another writer has its turn between the transactions of a long text."""
    text = words("a", 5 * LIMIT)
    derive = parts.derived_of

    def interrupted(values: Mapping[str, Any]) -> DerivedTexts:
        if len(values["content"]) > 100:
            monkeypatch.setattr(parts, "derived_of", derive)
            store.episodes.add("between", source="chat", thread="talk")
            monkeypatch.setattr(parts, "derived_of", interrupted)
        return derive(values)

    store.episodes.add("before", source="chat", thread="talk")
    monkeypatch.setattr(parts, "derived_of", interrupted)
    store.episodes.add_many([turn(text), turn("after")])
    monkeypatch.undo()
    found = parts.joined(held(store, thread="talk"))
    said = [one.content for one in found if one.content != "between"]
    assert said == ["before", text, "after"]
    assert [one.seq for one in found] == sorted(one.seq or 0 for one in found)


def test_text_without_a_thread_gets_one_of_its_own(store: Store) -> None:
    text = words("a", 3 * LIMIT)
    first, second = (store.episodes.add(text, source="chat") for _ in range(2))
    assert first.thread != second.thread
    assert [one.content for one in parts.joined(held(store, thread=first.thread))] == [text]


@pytest.mark.parametrize("steps", range(1, 5))
def test_what_was_cut_off_is_completed_by_adding_again(
    store: Store, monkeypatch: pytest.MonkeyPatch, steps: int
) -> None:
    """After so many transactions the process ends; then the same is sent again."""
    text = words("a", 5 * LIMIT)
    given = [turn("before", idempotency_key="b"), turn(text, idempotency_key="k")]
    given.append(turn("after", idempotency_key="a"))
    derive, done = parts.derived_of, 0

    def failing(values: Mapping[str, Any]) -> DerivedTexts:
        nonlocal done
        done += 1
        if done > steps:
            raise KeyboardInterrupt
        return derive(values)

    monkeypatch.setattr(parts, "derived_of", failing)
    with pytest.raises(KeyboardInterrupt):
        store.episodes.add_many(given)
    monkeypatch.setattr(parts, "derived_of", derive)
    partial = parts.joined(held(store))
    assert text not in [one.content for one in partial], "nothing claims to be whole"
    for _ in range(2):
        recorded = store.episodes.add_many(given)
        assert [one.content for one in parts.joined(held(store, thread="talk"))] == [
            "before",
            text,
            "after",
        ]
        assert [one.idempotency_key for one in recorded] == ["b", "k", "a"]


def test_key_of_a_long_text_stands_for_all_of_it(store: Store) -> None:
    text = words("a", 5 * LIMIT)
    first = store.episodes.add(text, source="chat", idempotency_key="k")
    number, beginning = len(held(store)), held(store)[0].content
    for other in (text + "!", text[:-1], beginning, "short"):
        with pytest.raises(IdempotencyConflict):
            store.episodes.add(other, source="chat", idempotency_key="k")
        [kept] = store.episodes.add_many([turn(other, idempotency_key="k")], keep_known=True)
        assert kept.id == first.id
    assert len(held(store)) == number
    store.episodes.add("short", source="chat", idempotency_key="s")
    with pytest.raises(IdempotencyConflict):
        store.episodes.add_many([turn("new"), turn(text, idempotency_key="s")])
    assert len(held(store)) == number + 1, "what is known is checked before the first is recorded"


def test_each_part_is_found_by_its_words(store: Store) -> None:
    text = words("a", 2 * LIMIT) + " the zebra sleeps " + words("b", 2 * LIMIT)
    store.episodes.add(text, source="chat", thread="talk")
    [best, *_] = store.episodes.search("zebra", mode="words")
    assert "zebra" in best.episode.content
    assert best.episode.thread == "talk"


@pytest.mark.parametrize("number", [0, 1, -1])
def test_what_ends_a_part_ends_all_of_the_text(store: Store, number: int) -> None:
    text, other = words("a", 4 * LIMIT), words("b", 4 * LIMIT)
    for said in (text, other, text):
        store.episodes.add_many([turn(said)])
    first, *_ = found = held(store)
    own = [one.id for one in found if (one.metadata["part"]["first"]) == first.uuid]
    assert sorted(store.episodes.expire([own[number]])) == own
    assert [one.content for one in parts.joined(held(store))] == [other, text]
    assert store.episodes.pop(thread="talk") is not None
    assert [one.content for one in parts.joined(held(store))] == [other]
    whole = store.episodes.pop(thread="talk", oldest=True)
    assert whole is not None
    assert whole.content == other
    assert held(store) == []
    store.episodes.erase(own[number])
    for one in own:
        with pytest.raises(NotFound):
            store.episodes.get(one)
    assert [one.content for one in parts.joined(held(store, include_expired=True))] == [other, text]


def test_forged_mark_reaches_nothing_of_other_owners(store: Store) -> None:
    theirs = store.of(user_id="ana").episodes.add("theirs", source="chat", thread="talk")
    mark = {"part": {"number": 2, "of": 3, "first": theirs.uuid}}
    own = store.episodes.add("own", source="chat", thread="talk", metadata=mark)
    store.episodes.erase(own.id)
    assert store.episodes.get(theirs.id).content == "theirs"


@pytest.mark.parametrize(
    "mark",
    [7, {}, {"number": 1}, {"number": True, "of": True, "first": "x"}, {"number": 2, "of": 1},
     {"number": 1, "of": 10**9, "first": "x"}, {"number": 1, "of": 2, "first": 7}],
)  # fmt: skip
def test_metadata_of_that_name_that_is_no_mark_is_left_alone(store: Store, mark: object) -> None:
    one = store.episodes.add("own", source="chat", metadata={"part": mark})
    assert parts.mark_of(one) is None
    assert parts.joined([one]) == [one]
    assert store.episodes.expire([one.id]) == [one.id]


def test_many_episodes_are_recorded_in_order_by_several_transactions(store: Store) -> None:
    texts = [f"turn {number} {words('a', 300)}" for number in range(40)]
    assert len([*parts.steps(parts.of_text(1, _values(text))[0] for text in texts)]) > 5
    recorded = store.episodes.add_many([turn(text) for text in texts])
    assert [one.content for one in recorded] == texts
    assert [one.content for one in held(store, thread="talk")] == texts


def test_metadata_and_tags_count_as_text() -> None:
    plain, rich = (
        parts.of_text(1, {**_values("a"), **more})[0]
        for more in ({}, {"metadata": {"a": "b" * 5_000}, "tags": ["c" * 500] * 10})
    )
    assert rich.bytes > plain.bytes + 10_000


def _values(text: str) -> dict[str, Any]:
    return {
        "content": text,
        "content_hash": "",
        "metadata": {},
        "tags": [],
        "thread": "talk",
        "idempotency_key": None,
    }
