"""What names facts and episodes by their ids means the same ones after an import."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from memstore import Memory, NewFact, Scope, Store
from memstore.domain.records import Fact
from memstore.facts.batch import AddFact
from memstore.transfer import references


@pytest.fixture
def target(tmp_path: Path, open_store: Callable[..., Store]) -> Store:
    """A store whose ids are not those of the source."""
    store = open_store(tmp_path / "target.db")
    for n in range(5):
        episode = store.episodes.add(f"said {n}", source="test")
        store.add(f"fact {n}", subject="theirs", episode_id=episode.id)
    return store


def here(store: Store, fact: Fact) -> int:
    held = store.list(active_only=False, include_deleted=True)
    return next(one.id for one in held if one.uuid == fact.uuid)


def test_a_consolidation_is_undone_whole(store: Store, target: Store) -> None:
    facts = [store.add(text, subject="ana") for text in ("likes tea", "likes rum", "likes gin")]
    ids = [fact.id for fact in facts]
    proposal = store.proposals.put_forward(ids, "likes drinks", {}, scope=Scope())
    store.proposals.accept(proposal.id)
    target.import_(store.export())
    target.reinstate(here(target, facts[1]))
    texts = {fact.content for fact in target.list(subject="ana")}
    assert texts == {"likes tea", "likes rum", "likes gin", "likes drinks"}


def test_an_episode_that_is_erased_leaves_no_words_in_the_journal(
    store: Store, target: Store
) -> None:
    old = store.add("Ana lives in Porto", subject="ana")
    episode = store.episodes.add("Ana: we moved to Braga", source="test")
    new = NewFact(content="Ana lives in Braga", subject="ana", supersedes=old.id)
    evidence = {"said": "we moved to Braga", "episode": episode.id}
    store.apply([AddFact(fact=new, evidence=evidence)])
    target.import_(store.export())
    (there,) = (e for e in target.episodes.list() if e.uuid == episode.uuid)
    assert "we moved" in str(target.journal(here(target, old)))
    target.episodes.erase(there.id)
    assert "we moved" not in str(target.journal(here(target, old)))
    assert target.examine() == []


def test_the_history_of_a_memory_is_its_own(store: Store, target: Store) -> None:
    memory = Memory(store)
    first = memory.add("I live in Porto", user_id="ana")[0]["id"]
    memory.update(first or 0, "I live in Braga", user_id="ana")
    target.import_(store.export())
    (now,) = Memory(target).get_all(user_id="ana")
    told = Memory(target).history(now["id"], user_id="ana")
    assert [(e["event"], e["previous"], e["memory"]) for e in told if e["event"] == "UPDATE"] == [
        ("UPDATE", "I live in Porto", "I live in Braga")
    ]
    assert now["id"] in {event["id"] for event in told}


@pytest.mark.parametrize("steps", [20, 1000])
def test_a_proposal_s_line_names_facts_of_another_batch(
    store: Store, target: Store, steps: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memstore.transfer.batches.LEAST", steps)
    monkeypatch.setattr("memstore.transfer.batches.MOST", steps)
    ids = [store.add(f"one {n}", subject="ana").id for n in (1, 2)]
    for n in range(60):
        store.add(f"between {n}", subject="b")
    ids.append(store.add("one 3", subject="ana").id)
    store.proposals.put_forward(ids, "all of it", {}, scope=Scope())
    target.import_(store.export())
    lines = [json.loads(line) for line in target.export()]
    named = next(
        line["operation"]["after"]
        for line in lines
        if line.get("operation", {}).get("kind") == "propose"
    )
    assert [target.get(id_).content for id_ in named["consolidates"]] == ["one 1", "one 2", "one 3"]


def test_ids_that_are_not_here_become_none_and_other_values_stay() -> None:
    part = {"superseded_by": 1, "reinstates": 2, "episode": 7, "episode_id": True,
            "consolidates": [1, 2], "id": 1, "metadata": {"episode": 7}}  # fmt: skip
    assert references.replaced(part, {1: 11}.get, {7: 77}.get) == {
        "superseded_by": 11, "reinstates": None, "episode": 77, "episode_id": True,
        "consolidates": [11], "id": 1, "metadata": {"episode": 7},
    }  # fmt: skip
    texts = {"episode": "the pilot", "consolidates": ["a", 1]}
    assert references.replaced(texts, {1: 11}.get, {}.get) == texts
