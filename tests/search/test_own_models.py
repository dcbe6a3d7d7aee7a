"""A model of the user's beside the built-in one: its cosines, their floor, and what it finds."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

import memstore
from memstore import NewFact, Store

pytestmark = pytest.mark.model

Open = Callable[..., Store]

SAME = [
    ("car", "automobile", "Wagen", "машина"),
    ("garage", "workshop", "Werkstatt", "мастерской"),
    ("buys", "purchases", "kauft", "покупает"),
    ("doctor", "physician", "Arzt", "врач"),
    ("Monday", "Mondays", "Montag", "понедельник"),
    ("bread", "loaf", "Brot", "хлеб"),
    ("teaches", "instructs", "unterrichtet", "преподаёт"),
    ("piano", "keyboard", "Klavier", "пианино"),
]
"""Words that mean the same."""
CONCEPTS = {word.casefold(): words[0] for words in SAME for word in words}
SAID = [
    "Ana purchases loaf after loaf", "the physician comes on Mondays", "Otto instructs keyboard",
    "an automobile stands in the workshop",
]  # fmt: skip
OTHERS = [
    f"{thing} number {number} is {color}"
    for number, color in enumerate(["red", "blue", "green", "white"], 10)
    for thing in ["the lamp", "a shelf", "this chair", "one table", "the rug", "a vase"]
]


class Concepts:
    """Knows which words mean the same. Its vectors have a part that is in all of them."""

    model = "concepts"

    def __init__(self, common: float = 0.0) -> None:
        self.common = common
        """The cosine of two texts without anything in common."""

    def embed(self, texts: Sequence[str]) -> NDArray[np.float64]:
        rows = np.stack([self._vector(text) for text in texts])
        shares = np.sqrt([1 - self.common, self.common])
        return np.hstack([shares[0] * rows, np.full((len(texts), 1), shares[1])])

    def _vector(self, text: str) -> NDArray[np.float64]:
        every = (word.strip(".,:?").casefold() for word in text.split())
        words = [word for word in every if len(word) > 3 or word in CONCEPTS]
        total = sum((_direction(CONCEPTS.get(word, word)) for word in words), np.zeros(300))
        return total / (np.linalg.norm(total) or 1.0)


class Chance(Concepts):
    """A model that knows nothing: its vectors are as good as random."""

    model = "chance"

    def _vector(self, text: str) -> NDArray[np.float64]:
        return _direction(text)


def _direction(name: str) -> NDArray[np.float64]:
    drawn = np.random.default_rng(zlib.crc32(name.encode())).normal(size=300)
    return drawn / np.linalg.norm(drawn)


def filled(store: Store, said: Sequence[str] = SAID) -> Store:
    store.add_many(NewFact(content=text, subject="house") for text in [*said, *OTHERS])
    return store


def found(store: Store, query: str, **options: object) -> list[str]:
    hits = store.search(query, limit=5, touch=False, **options)  # type: ignore[arg-type]
    return [hit.fact.content for hit in hits]


QUESTIONS = [
    ("is the car in the garage", SAID[3]),
    ("the doctor on a Monday", SAID[1]),
    ("who buys bread", SAID[0]),
    ("who teaches piano", SAID[2]),
]


@pytest.mark.parametrize("common", [0.0, 0.5, 0.75, 0.9])
def test_what_was_told_in_other_words_is_found(open_store: Open, common: float) -> None:
    store = filled(open_store(embedder=Concepts(common)))
    for question, answer in QUESTIONS:
        assert found(store, question)[0] == answer


def test_a_part_that_all_vectors_share_changes_no_order(open_store: Open) -> None:
    plain = filled(open_store("plain.db", embedder=Concepts()))
    shared = filled(open_store("shared.db", embedder=Concepts(0.75)))
    for question in [*dict(QUESTIONS), "the blue lamp", "table number 12"]:
        expected, scores = (
            {hit.fact.id: hit.score for hit in hits}
            for hits in (
                store.search(question, limit=20, touch=False, min_relevance=0)
                for store in (plain, shared)
            )
        )
        assert next(iter(scores)) == next(iter(expected))
        # Which of the unrelated texts are looked at beside it is left to chance.
        both = [id_ for id_ in expected if id_ in scores]
        assert len(both) > 10
        alike = pytest.approx([expected[id_] for id_ in both], abs=0.03)
        assert [scores[id_] for id_ in both] == alike


def test_a_model_that_knows_nothing_hides_nothing(open_store: Open) -> None:
    built_in = filled(open_store("built-in.db", embedder="local"))
    chance = filled(open_store("chance.db", embedder=Chance(0.75)))
    for question in ["the blue lamp", "which shelf is green", "chair number 11", "red vase"]:
        assert found(chance, question)[0] == found(built_in, question)[0]


@pytest.mark.parametrize("language", [2, 3])
def test_across_languages_its_cosine_alone_decides(open_store: Open, language: int) -> None:
    words = [each[language] for each in SAME]
    said = [f"{words[0]} {words[1]}", f"{words[3]} {words[4]}", f"{words[6]} {words[7]}"]
    store = filled(open_store(embedder=Concepts(0.5)), said)
    assert found(store, "car in the garage")[0] == said[0]
    assert found(store, "the doctor on Monday")[0] == said[1]
    assert found(store, "who teaches piano")[0] == said[2]


def test_a_score_shows_the_cosine_above_the_floor(open_store: Open) -> None:
    store = filled(open_store(embedder=Concepts(0.75)))
    first, *rest = store.search("automobile workshop", limit=5, min_relevance=0)
    assert first.fact.content == SAID[3]
    assert 0.3 < first.vector_score < 0.75
    assert all(hit.vector_score < 0.2 for hit in rest)


def test_a_floor_is_that_of_what_is_left(open_store: Open) -> None:
    store = filled(open_store(embedder=Concepts(0.75)))
    first = [fact.id for fact in store.list(limit=100)]
    filled(store)
    for id_ in range(1, max(first) + 1):
        store.erase(id_)
    hit = store.search("automobile workshop", limit=5, min_relevance=0)[0]
    assert hit.fact.content == SAID[3]
    assert 0.3 < hit.vector_score < 0.75


def test_few_vectors_have_no_floor(open_store: Open) -> None:
    store = open_store(embedder=Concepts(0.75))
    store.add_many(NewFact(content=text, subject="house") for text in SAID)
    hits = store.search("where is the lamp", min_relevance=0, touch=False)
    assert min(hit.vector_score for hit in hits) == pytest.approx(0.75, abs=0.05)


def test_the_built_in_model_stands_in_for_one_that_cannot_be_asked(open_store: Open) -> None:
    class Asleep(Concepts):
        is_awake = True

        def embed(self, texts: Sequence[str]) -> NDArray[np.float64]:
            if not self.is_awake:
                raise memstore.EmbedderUnavailable("asleep")
            return super().embed(texts)

    embedder = Asleep()
    store = filled(open_store("own.db", embedder=embedder), [*SAID, "a lamp for the desk"])
    built_in = filled(open_store("built-in.db", embedder="local"), [*SAID, "a lamp for the desk"])
    embedder.is_awake = False
    hits = store.search("which lamp is white", limit=3, touch=False)
    assert hits.words_only is not None
    assert hits.words_only.code == "embedder_unavailable"
    assert hits[0].fact.content == built_in.search("which lamp is white")[0].fact.content
    assert hits[0].parts.meaning > 0
    assert [hit.vector_score for hit in hits] == [0.0] * len(hits)


def test_min_similarity_is_compared_above_the_floor_but_for_the_classic_ranking(
    open_store: Open,
) -> None:
    store = open_store(embedder=Concepts(0.75))
    for text in [*SAID, *OTHERS]:
        store.episodes.add(text, source="test")
    store.file.embed_pending()
    hits = store.episodes.search("automobile workshop", limit=40, min_similarity=0.3)
    assert [hit.episode.content for hit in hits] == [SAID[3]]
    assert hits[0].similarity is not None
    assert 0.3 < hits[0].similarity < 0.9
    every = store.episodes.search(
        "automobile", limit=40, min_similarity=0.7, ranking="classic", min_relevance=0
    )
    assert len(every) == len(SAID) + len(OTHERS)
    assert min(hit.similarity or 0 for hit in every) > 0.7


def test_without_a_model_of_ones_own_no_floor_is_measured(
    open_store: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    from memstore.search.lookups import floor

    monkeypatch.delattr(floor, "measured")
    store = filled(open_store(embedder="local"))
    assert found(store, "the blue lamp")


def test_the_bar_of_reminders_sees_it(open_store: Open) -> None:
    store = filled(open_store(embedder=Concepts(0.75)))
    assert "purchases loaf" in store.remind("who buys bread?", max_tokens=200).text
    assert store.remind("how tall is the mountain?", max_tokens=200).text == ""
