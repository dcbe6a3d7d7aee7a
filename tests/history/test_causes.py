"""Every line says which episode caused it, and which run: both can be selected by plain SQL."""

from __future__ import annotations

from typing import Any

from tests.learn.test_extraction import BRISTOL, COFFEE, MONDAY, OXFORD, TEA, Scripted, reply
from tests.support.conversing import Conversing
from tests.support.embedders import WordEmbedder
from tests.support.raw import sql

import memstore
from memstore import Extractor, Memory, Store


class Model:
    model = "conversing"

    def __init__(self, conversing: Conversing) -> None:
        self._conversing = conversing

    def generate(self, prompt: str) -> str:
        return self._conversing(prompt)


def caused(store: Store, episode_id: int) -> set[tuple[str, int]]:
    rows = sql(
        store.path,
        "SELECT kind, fact_id FROM memstore_journal WHERE episode_id = ? AND fact_id IS NOT NULL",
        episode_id,
    )
    return {*rows}


def without_cause(store: Store) -> list[Any]:
    """Return the lines of facts that name no episode, but for those of embedding."""
    return sql(
        store.path,
        "SELECT id, kind, fact_id, evidence FROM memstore_journal WHERE fact_id IS NOT NULL"
        " AND episode_id IS NULL AND kind NOT IN ('embed', 'quarantine')",
    )


def test_lines_of_an_extraction_name_its_episode(open_store: Any) -> None:
    store = open_store(embedder=WordEmbedder())
    extractor = Extractor(
        store,
        Scripted(reply(TEA, OXFORD), reply(COFFEE, BRISTOL), reply(MONDAY, COFFEE)),
        policy="auto",
    )
    first, second, third = [extractor.extract(f"text {n}") for n in range(3)]
    assert without_cause(store) == []
    assert {("add", 1), ("add", 2)} <= caused(store, first.episode.id)
    assert ("supersede", 1) in caused(store, second.episode.id)
    kinds = {kind for kind, _ in caused(store, third.episode.id)}
    assert {"add", "confirm"} <= kinds


def test_lines_of_a_decided_proposal_name_the_episode_that_led_to_it(open_store: Any) -> None:
    store = open_store(embedder=WordEmbedder())
    extractor = Extractor(store, Scripted(reply(OXFORD), reply(BRISTOL)))
    _, second = [extractor.extract(f"text {n}") for n in range(2)]
    [proposal] = store.proposals.list()
    store.proposals.accept(proposal.id)
    assert {("propose", 1), ("supersede", 1), ("add", 2)} <= caused(store, second.episode.id)
    assert without_cause(store) == []


def test_a_proposal_of_what_counts_less_names_its_episode(store: Store) -> None:
    mine = store.add("Ana lives in Rome", subject="ana")
    page = store.episodes.record("Ana lives in Oslo", source="web:a.org/ana")
    store.add("Ana lives in Oslo", subject="ana", episode_id=page.id, supersedes=mine.id)
    assert caused(store, page.id) == {("add", 2), ("propose", 1)}
    store.proposals.accept(1)
    assert caused(store, page.id) == {
        ("add", 2),
        ("propose", 1),
        ("supersede", 1),
        ("accept", 1),
    }


def test_lines_of_a_batch_name_the_episode_of_the_new_fact(store: Store) -> None:
    said = store.episodes.record("tea and coffee", source="chat")
    one = store.add("Ana drinks tea", subject="ana")
    two = store.add("Ana drinks milk", subject="ana")
    for precedence in (
        memstore.MayReplace(fact_id=one.id, similarity=0.5),
        memstore.MayYieldTo(fact_id=two.id, similarity=0.5),
        memstore.YieldsTo(fact_id=two.id),
    ):
        text = f"Ana drinks {type(precedence).__name__}"
        new = memstore.NewFact(content=text, subject="ana", episode_id=said.id)
        store.ledger.apply([memstore.AddFact(fact=new, precedence=precedence)])
    assert caused(store, said.id) == {
        ("add", 3),
        ("propose", 1),
        ("add", 4),
        ("propose", 4),
        ("add", 5),
        ("supersede", 5),
    }


def test_a_rejected_proposal_names_its_episode(open_store: Any) -> None:
    store = open_store(embedder=WordEmbedder())
    extractor = Extractor(store, Scripted(reply(OXFORD), reply(BRISTOL)))
    _, second = [extractor.extract(f"text {n}") for n in range(2)]
    [proposal] = store.proposals.list()
    store.proposals.reject(proposal.id)
    assert ("reject", 1) in caused(store, second.episode.id)
    assert without_cause(store) == []


def test_lines_of_a_memory_name_their_conversation(open_store: Any) -> None:
    store = open_store(embedder=WordEmbedder())
    model = Conversing(
        {"tea": [("ana", TEA)], "coffee": [("ana", COFFEE)]},
        {COFFEE: ("UPDATE", TEA, COFFEE)},
    )
    memory = Memory(store, Model(model))
    first = memory.add("I drink tea", user_id="ana")
    second = memory.add("I drink coffee now", user_id="ana")
    assert without_cause(store) == []
    assert ("add", 1) in caused(store, first.episode_id)
    assert {("add", 2), ("supersede", 1)} <= caused(store, second.episode_id)
    store.file.doctor(deep=True)


def test_a_pin_that_passes_on_names_the_episode(store: Store) -> None:
    episode = store.episodes.record("it moved")
    old = store.add("the port is 1", subject="x")
    store.pin(old.id)
    store.add("the port is 2", subject="x")
    store.add(
        "the port is 2", subject="x", supersedes=old.id, episode_id=episode.id, unless_known=True
    )
    assert caused(store, episode.id) == {("supersede", 1), ("pin", 2), ("confirm", 2)}
