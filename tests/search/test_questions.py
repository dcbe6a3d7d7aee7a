"""Realistic questions in ten languages, each with the fact that answers it.

The questions are in ``questions/``, one file a language: a small memory, what must be the first
hit (``first``), what counts only in the share that must be reached (``asked``), and queries that
nothing there answers (``nothing``). Of several answers to a question any may come first.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from tests.support.clock import ManualClock

import memstore
from memstore import NewFact, Store
from memstore.domain import clock
from memstore.settings import MIN_RELEVANCE

FILES = sorted((Path(__file__).parent / "questions").glob("*.toml"))


class Memory:
    """The facts of one file in a store, and its questions."""

    def __init__(self, path: Path, store: Store) -> None:
        read: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))
        self.share: float = read["share"]
        self.first: dict[str, str | list[str]] = read["first"]
        self.asked: dict[str, str | list[str]] = read["asked"]
        self.nothing: list[str] = read["nothing"]["queries"]
        self.store = store
        facts = store.add_many([NewFact(**fact) for fact in read["facts"].values()])
        self._names = dict(zip([fact.id for fact in facts], read["facts"], strict=True))

    def missed(self, questions: dict[str, str | list[str]]) -> dict[str, str]:
        """The questions with another fact first, and that fact."""
        found = self.store.search_batch(list(questions), limit=1, min_relevance=0)
        hits = [self._names[hits[0].fact.id] for hits in found]
        return {
            question: hit
            for (question, answers), hit in zip(questions.items(), hits, strict=True)
            if hit != answers and hit not in answers
        }


@pytest.fixture(params=FILES, ids=lambda path: path.stem)
def memory(request: pytest.FixtureRequest) -> Iterator[Memory]:
    stored = ManualClock(datetime(2026, 11, 22, tzinfo=UTC))  # a date that no question names
    with clock.use(stored), memstore.open(":memory:") as store:
        yield Memory(request.param, store)


@pytest.mark.model
def test_first_hit_is_the_answer(memory: Memory) -> None:
    assert memory.missed(memory.first) == {}


@pytest.mark.model
def test_the_share_of_answers_ranked_first(memory: Memory) -> None:
    questions = memory.first | memory.asked
    missed = memory.missed(questions)
    assert len(questions) - len(missed) >= memory.share * len(questions), missed


@pytest.mark.model
def test_query_without_a_relevant_fact_finds_nothing(memory: Memory) -> None:
    found = memory.store.search_batch(memory.nothing, min_relevance=MIN_RELEVANCE)
    assert [list(hits) for hits in found] == [[] for _ in memory.nothing]


@pytest.mark.model
def test_minimum_relevance_drops_few_answers(memory: Memory) -> None:
    questions = list(memory.first | memory.asked)
    found = memory.store.search_batch(questions, min_relevance=MIN_RELEVANCE)
    hidden = [query for query, hits in zip(questions, found, strict=True) if not hits]
    assert len(hidden) <= len(questions) / 20, hidden


def test_questions_exist_in_many_languages() -> None:
    files = [tomllib.loads(path.read_text(encoding="utf-8")) for path in FILES]
    assert len(files) >= 8
    assert sum(len(file["first"]) + len(file["asked"]) for file in files) >= 100
