"""What was erased has no part in an order: a memory ranks as one that never held it."""

from __future__ import annotations

import random
from typing import Any

import pytest

import memstore
from memstore import Store

WORDS = "tea coffee harbour ferry violin editor port deploy rust lisbon cat stage".split()
MEMORIES = 5


def _text(chance: random.Random) -> str:
    return " ".join(chance.choices(WORDS, k=chance.randrange(2, 9)))


def _filled(texts: list[str], gone: set[int], steps: list[tuple[str, int]], *, erases: bool) -> Any:
    """Return a memory in which some texts were erased, or were never there."""
    store = memstore.open(":memory:", embedder=None)
    facts: dict[int, int] = {}
    turns: dict[int, int] = {}
    for place, text in enumerate(texts):
        if erases or place not in gone:
            facts[place] = store.add(text, subject="note").id
            turns[place] = store.episodes.add(text, source="chat").id
    for act, place in steps:
        if act == "delete":
            store.delete(facts[place])
        elif act == "confirm":
            store.confirm(facts[place])
        else:
            store.add(f"{texts[place]} again", subject="note", supersedes=facts[place])
    if erases:
        for place in sorted(gone):
            store.erase(facts[place])
            store.episodes.erase(turns[place])
    return store


def _orders(store: Store, query: str) -> list[list[tuple[str, float]]]:
    facts = store.search(query, min_relevance=0, limit=40)
    turns = store.episodes.search(query, min_relevance=0, limit=40)
    return [
        [(hit.fact.content, hit.score) for hit in facts],
        [(hit.episode.content, hit.score) for hit in turns],
    ]


def test_random_memories_rank_as_if_the_erased_had_never_been() -> None:
    for seed in range(MEMORIES):
        chance = random.Random(seed)
        texts = [f"{_text(chance)} n{place}" for place in range(30)]
        gone = set(chance.sample(range(30), chance.randrange(1, 20)))
        kept = [place for place in range(30) if place not in gone]
        acts = ("delete", "supersede", "confirm")
        steps = [(chance.choice(acts), place) for place in chance.sample(kept, min(6, len(kept)))]
        held = _filled(texts, gone, steps, erases=True)
        never = _filled(texts, gone, steps, erases=False)
        for query in (*chance.sample(WORDS, 3), _text(chance)):
            for one, other in zip(_orders(held, query), _orders(never, query), strict=True):
                assert [text for text, _ in one] == [text for text, _ in other], (seed, query)
                scores = [score for _, score in other]
                # They are of different ages, by the time that the test takes.
                assert [score for _, score in one] == pytest.approx(scores, abs=1e-4)
            every = [hit.fact.id for hit in held.search(query, min_relevance=0, limit=1000)]
            for place, fact_id in enumerate(every[::5]):
                told = held.why_not(query, fact_id, limit=1, min_relevance=0)
                # What is shown only because it is newer than a hit has no place of its own.
                assert told.place in (5 * place + 1, None), (seed, query, fact_id)
                assert told.place or not every.index(fact_id) < 5, (seed, query, fact_id)
        held.close()
        never.close()
