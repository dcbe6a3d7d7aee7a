"""BM25 word by word, against a naive one that reads every row."""

from __future__ import annotations

import math
import random
import re
from collections.abc import Callable

import pytest

from memstore import NewEpisode, NewFact, Store
from memstore.database.engine import FullText
from memstore.database.filters import EpisodeFilter, FactFilter, Filter
from memstore.database.sqlite.full_text import BM25_OF_TEXT, INDEXES
from memstore.domain import clock
from memstore.text.words import terms

K1, B, MIN_IDF = 1.2, 0.75, 1e-6
"""FTS5's constants."""

WORDS = ["tea", "rain", "violin", "harbour", "the", "pier", "ice", "b12", "42"]


class NaiveBM25:
    """Naive BM25, written from the formula; each text is a list of words."""

    def __init__(self, texts: dict[int, str]) -> None:
        self._words = {id_: re.findall(r"\w+", text.lower()) for id_, text in texts.items()}
        self._average = sum(map(len, self._words.values())) / len(texts)

    def part(self, word: str, id_: int) -> float:
        holding = sum(word in words for words in self._words.values())
        idf = math.log((len(self._words) - holding + 0.5) / (holding + 0.5))
        words = self._words[id_]
        count = words.count(word)
        length = 1 - B + B * len(words) / self._average
        return -max(idf, MIN_IDF) * count * (K1 + 1) / (count + K1 * length)


def made_up(seed: int, count: int = 60) -> list[str]:
    chance = random.Random(seed)
    return [" ".join(chance.choices(WORDS, k=chance.randint(1, 30))) for _ in range(count)]


def facts_of(store: Store) -> tuple[FullText, Filter, dict[int, str]]:
    facts = store.add_many(NewFact(content=text, subject="sue") for text in made_up(1))
    wanted = FactFilter((store.namespace,), clock.utc_now())
    return (
        INDEXES.facts,
        wanted,
        {fact.id: f"{fact.content} {fact.subject} {fact.category}" for fact in facts},
    )


def episodes_of(store: Store) -> tuple[FullText, Filter, dict[int, str]]:
    told = store.episodes.add_many(
        NewEpisode(content=text, source="t", name="rain at sea", source_description="by mail")
        for text in made_up(2)
    )
    wanted = EpisodeFilter(namespaces=(store.namespace,), now=clock.utc_now())
    return INDEXES.episodes, wanted, {one.id: f"{one.content} rain at sea by mail" for one in told}


MADE = pytest.mark.parametrize("made", [facts_of, episodes_of])
Made = Callable[[Store], tuple[FullText, "FactFilter | EpisodeFilter", dict[int, str]]]


@MADE
@pytest.mark.parametrize("query", ["tea", "violin harbour", "Tea, RAIN and b12?", "42 ice absent"])
def test_parts_are_the_bm25_score_of_each_word(store: Store, made: Made, query: str) -> None:
    index, wanted, texts = made(store)
    naive = NaiveBM25(texts)
    with store.file.engine.read() as transaction:
        found = index.search(transaction, query, wanted, len(texts))
        parts = index.parts(transaction, query, [*texts])
    assert found
    assert parts.keys() == texts.keys()
    for id_, words in parts.items():
        asked = [word for word in terms(query) if word.lower() in texts[id_].split()]
        assert words == {
            word: pytest.approx(naive.part(word.lower(), id_), rel=1e-9) for word in asked
        }
        assert sum(words.values()) == pytest.approx(found.get(id_, 0.0), rel=1e-9)


@MADE
def test_parts_cover_only_the_requested_rows(store: Store, made: Made) -> None:
    index, _, texts = made(store)
    some = [*texts][::7]
    with store.file.engine.read() as transaction:
        every = index.parts(transaction, "tea rain", [*texts])
        assert index.parts(transaction, "tea rain", some) == {id_: every[id_] for id_ in some}
        assert index.parts(transaction, "tea rain", []) == {}
        assert index.parts(transaction, " ", some) == {id_: {} for id_ in some}


def test_parts_are_found_for_more_rows_than_one_statement_can_bind(store: Store) -> None:
    facts = store.add_many(NewFact(content=f"tea {n}", subject="sue") for n in range(1100))
    with store.file.engine.read() as transaction:
        parts = INDEXES.facts.parts(transaction, "tea", [fact.id for fact in facts])
    assert all([*words] == ["tea"] for words in parts.values())
    assert len(parts) == 1100


def test_parts_in_scripts_without_spaces_are_character_pairs(store: Store) -> None:
    ids = [store.add(text, subject="sue").id for text in ("東京都に住む", "京都に住む", "tea")]
    wanted = FactFilter((store.namespace,), clock.utc_now())
    with store.file.engine.read() as transaction:
        parts = INDEXES.facts.parts(transaction, "東京都", ids)
        found = INDEXES.facts.search(transaction, "東京都", wanted, 9)
    assert [[*words] for words in parts.values()] == [["東 京", "京 都"], ["京 都"], []]
    assert {id_: sum(parts[id_].values()) for id_ in found} == pytest.approx(found)


def test_a_query_without_words_has_one_part(store: Store) -> None:
    ids = [store.add(text, subject="sue").id for text in ("a -> b", "a to b")]
    with store.file.engine.read() as transaction:
        assert INDEXES.facts.parts(transaction, " -> ", ids) == {
            ids[0]: {"->": BM25_OF_TEXT},
            ids[1]: {},
        }
