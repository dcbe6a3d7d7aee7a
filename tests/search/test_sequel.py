"""What a question's two searches share: both answer as each would alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest

import memstore
from memstore._kernel.ids import Ids
from memstore.domain import clock
from memstore.embedding.vectors import numbers
from memstore.providers.local import LocalEmbedder
from memstore.search.hybrid import MAX_ASKERS, MAX_NAMES, NamesAsked
from memstore.search.lookups.indexed import IndexLookup
from memstore.search.lookups.sequel import Sequel

if TYPE_CHECKING:
    from memstore.embedding.vectors import Vector
    from memstore.search.index.contents import FeedContents

Open = Callable[..., memstore.Store]

QUESTION = "radio: what do background jobs go through?"


class Fixed(clock.Clock):
    def utc_now(self) -> datetime:
        return datetime(2026, 11, 30, 12, tzinfo=UTC)


@pytest.fixture
def store(open_store: Open) -> memstore.Store:
    store = open_store(embedder=LocalEmbedder())
    for project, queue in {"fleet": "NATS", "books": "RabbitMQ", "radio": "Redis"}.items():
        texts = [
            f"Background jobs go through {queue}.",
            f"A note on {project}.",
            "Ships on Monday.",
        ]
        turns = store.episodes.add_many(
            {"content": text, "source": "host", "thread": f"{project} {day}", "speaker": "user"}
            for day in range(3)
            for text in texts
        )
        for turn in turns:
            text = f"{turn.content} It is so since day {turn.id}"
            store.add(text, subject=project, category="decision", episode_id=turn.id)
    store.file.warm()
    return store


def ask(store: memstore.Store) -> list[object]:
    hits = store.search(QUESTION, touch=False)
    return [
        store.recall(QUESTION, max_tokens=300, touch=False),
        store.remind(QUESTION),
        [*store.turns_for(QUESTION, hits, touch=False)],
    ]


@pytest.fixture
def passes(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many vectors each pass over the index was for."""
    counts: list[int] = []
    look = IndexLookup._nearest_to

    def counted(self: Any, vectors: Sequence[Vector], visible: Ids, k: int) -> Any:
        counts.append(len(vectors))
        return look(self, vectors, visible, k)

    monkeypatch.setattr(IndexLookup, "_nearest_to", counted)
    return counts


def test_the_second_question_about_a_project_takes_half_of_the_passes(
    store: memstore.Store, passes: list[int]
) -> None:
    with clock.use(Fixed()):
        first = ask(store)
        alone = [*passes]
        passes.clear()
        assert ask(store) == first
    assert 2 not in alone[:4]  # nothing was known before the first recall
    assert passes.count(2) == 5  # of a recall and a reminder both kinds, of the turns one
    assert len(passes) <= len(alone) - 2


def test_what_was_stored_between_both_searches_is_found(
    store: memstore.Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.recall(QUESTION, max_tokens=300)
    text = "Background jobs of the radio go through Kafka now."
    near = Sequel.near

    def interrupted(self: Sequel, *given: Any) -> Any:
        if self._foreseen is not None and not store.exists(text, subject="radio"):
            store.add(text, subject="radio")
            store.episodes.add(text, source="host", speaker="user")
        return near(self, *given)

    monkeypatch.setattr(Sequel, "near", interrupted)
    store.recall(QUESTION, max_tokens=300)
    assert store.exists(text, subject="radio")
    assert "Kafka" in store.recall(QUESTION, max_tokens=300).text


@pytest.fixture
def contents(store: memstore.Store) -> FeedContents:
    found = store.file.searches.facts.index._current
    assert found is not None
    return found


ONE, OTHER = (numbers(bytes([n, 0, 0, 0])) for n in (1, 2))
AMONG = Ids([1, 2, 3])


def foreseen(contents: FeedContents) -> Sequel:
    sequel = Sequel("a text")
    sequel.foresee(contents, ONE, 10, AMONG, {1: 0.5})
    assert sequel.text is None
    return sequel


def test_what_was_foreseen_is_given_once(contents: FeedContents) -> None:
    sequel = foreseen(contents)
    assert sequel.near(contents, ONE, 10, Ids([3, 2, 1])) == {1: 0.5}
    assert sequel.near(contents, ONE, 10, AMONG) is None


@pytest.mark.parametrize(
    "asked",
    [
        (OTHER, 10, AMONG),
        (ONE, 11, AMONG),
        (ONE, 10, Ids([1, 2])),
        (ONE, 10, Ids([1, 2, 4])),
        (ONE, 10, Ids([1, 2, 3, 4])),
    ],
)
def test_what_was_foreseen_for_another_search_is_not_given(
    contents: FeedContents, asked: tuple[Vector, int, Ids]
) -> None:
    assert foreseen(contents).near(contents, *asked) is None


@pytest.mark.parametrize("name", ["position", "generation"])
def test_another_state_of_the_index_knows_nothing_of_the_one_before(
    contents: FeedContents, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    sequel, reads = foreseen(contents), []

    def read(ids: Sequence[int]) -> list[tuple[int, bytes]]:
        reads.append([*ids])
        return [(id_, b"%d" % id_) for id_ in ids if id_ != 2]

    assert sequel.vectors(contents, [1, 2], read) == [(1, b"1")]
    assert sequel.vectors(contents, [3, 2, 1], read) == [(1, b"1"), (3, b"3")]
    assert sequel.vectors(contents, [3], read) == [(3, b"3")]
    assert reads == [[1, 2], [3]]
    changed = {"position": contents.position + 1, "generation": None}
    monkeypatch.setattr(contents, name, changed[name])
    assert sequel.vectors(contents, [1], read) == [(1, b"1")]
    assert reads[2:] == [[1]]
    assert sequel.near(contents, ONE, 10, AMONG) is None


def test_names_are_those_of_the_asker() -> None:
    known = NamesAsked()
    known.add((("one",), None), {"radio"})
    assert known.of((("one",), None)) == {"radio"}
    assert known.of((("two",), None)) == frozenset()
    for number in range(2 * max(MAX_ASKERS, MAX_NAMES)):
        known.add((("one",), None), {f"name {number}"})
        known.add(((f"asker {number}",), None), {"a"})
    assert len(known.of((("one",), None))) <= MAX_NAMES
    assert len(known._names) <= MAX_ASKERS


def test_a_new_name_of_a_known_asker_forgets_nobody() -> None:
    known = NamesAsked()
    for number in range(MAX_ASKERS):
        known.add(((f"asker {number}",), None), {"a"})
    known.add((("asker 0",), None), {"b"})
    assert known.of((("asker 0",), None)) == {"a", "b"}
    assert known.of((("asker 1",), None)) == {"a"}


def test_no_more_names_are_known_than_allowed() -> None:
    known, asker = NamesAsked(), (("one",), None)
    known.add(asker, {f"old {number}" for number in range(MAX_NAMES - 1)})
    known.add(asker, {f"new {number}" for number in range(500)})
    assert len(known.of(asker)) == MAX_NAMES
