"""What is decided is recorded where it is decided, by whom and in which run."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.history.test_causes import Model
from tests.learn.test_consolidation import BOTH, GREEN, Tidy, group
from tests.learn.test_consolidation import TEA as LIKES_TEA
from tests.learn.test_extraction import BRISTOL, OXFORD, TEA, Scripted, reply
from tests.support import mcp_tools
from tests.support.command_line import CommandLine, cli_fixture  # noqa: F401
from tests.support.conversing import Conversing
from tests.support.embedders import WordEmbedder
from tests.support.raw import sql

import memstore
from memstore import AddFact, Extractor, JournalLine, Memory, NewFact, Store
from memstore.database import journal
from memstore.history import trust

OpenStore = Callable[..., Store]


def lines(store: Store, after: int = 0) -> list[JournalLine]:
    with store.file.engine.read() as transaction:
        every = journal.matching(transaction, "id > :after", {"after": after})
    return [line for line in every if line.kind != "embed"]


def last(store: Store) -> int:
    return store.file.head().line


def proposed(store: Store) -> int:
    """Return the proposal of an extraction."""
    extractor = Extractor(store, Scripted(reply(OXFORD), reply(BRISTOL)))
    extractor.extract("text 1")
    extractor.extract("text 2")
    (proposal,) = store.proposals.list()
    return proposal.id


# -- decisions ---------------------------------------------------------------------------


@pytest.mark.parametrize("decision", ["accept", "reject"])
def test_deciding_a_proposal_is_recorded(open_store: OpenStore, decision: str) -> None:
    store = open_store(embedder=WordEmbedder())
    proposal, before = proposed(store), last(store)
    getattr(store.within(source="review").proposals, decision)(proposal)
    line, *done = lines(store, before)
    assert [one.kind for one in done] == ["supersede"] * (decision == "accept")
    assert line.kind == decision
    for one in (line, *done):
        named = one.evidence if one.kind == "supersede" else one.after
        assert named is not None
        assert named["proposal"] == proposal
        assert (one.fact_id, one.actor, one.source, one.episode_id) == (1, "user", "review", 2)
        assert one.run


def test_the_text_of_a_consolidation_is_recorded_where_it_is_accepted(store: Store) -> None:
    for text in (LIKES_TEA, GREEN):
        store.add(text, subject="ana")
    (done,) = memstore.consolidate(store, generator=Tidy(group()), subject="ana")
    before = last(store)
    proposals = [line for line in lines(store) if line.kind == "propose"]
    assert [line.fact_id for line in proposals] == [1, 2]
    store.within(source="review").proposals.accept(done.proposal_id)
    added, first, second, *retired = lines(store, before)
    assert added.after is not None
    assert (added.kind, added.after["content"]) == ("add", BOTH)
    assert [(line.kind, line.fact_id) for line in retired] == [("supersede", 1), ("supersede", 2)]
    assert [(line.kind, line.fact_id) for line in (first, second)] == [("accept", 1), ("accept", 2)]
    for line in (added, *retired):
        assert line.evidence is not None
        assert line.evidence["proposal"] == done.proposal_id
        assert line.evidence["consolidates"] == [1, 2]
        assert (line.txn, line.source) == (added.id, "review")


# -- heard again -------------------------------------------------------------------------


def by_add(store: Store) -> None:
    store.add(TEA, subject="ana", unless_known=True)


def by_apply(store: Store) -> None:
    store.ledger.apply([AddFact(fact=NewFact(content=TEA, subject="ana"), unless_known=True)])


def by_episode(store: Store) -> None:
    said = store.episodes.record(TEA, source="letters")
    store.add(TEA, subject="ana", episode_id=said.id, unless_known=True)


def by_extraction(store: Store) -> None:
    Extractor(store, Scripted(reply(TEA))).extract(f"She said: {TEA}.")


def by_tool(store: Store) -> None:
    tools = mcp_tools.offered()
    tools["memory_store"].call(lambda: store, {"content": TEA, "subject": "ana"})


def by_memory(store: Store) -> None:
    Memory(store, Model(Conversing({"drink": [("ana", TEA)]}))).add(f"What I drink: {TEA}.")


@pytest.mark.parametrize("again", [by_add, by_apply, by_episode, by_extraction, by_tool, by_memory])
def test_the_same_heard_again_adds_a_support_and_a_confirmation(
    open_store: OpenStore, again: Callable[[Store], None]
) -> None:
    store = open_store(embedder=WordEmbedder())
    store.add(TEA, subject="ana")
    before = last(store)
    again(store)
    assert [fact.id for fact in store.list()] == [1]
    assert store.get(1).confirmed_count == 1
    supports = store.ledger.support(1)
    assert [support.kind for support in supports] == ["said", "restated"]
    (line,) = [line for line in lines(store, before) if line.fact_id]
    assert (line.kind, line.id, line.episode_id) == (
        "confirm",
        supports[1].line,
        supports[1].episode_id,
    )
    assert line.evidence is not None
    assert line.run


def test_the_same_added_on_the_command_line_adds_a_support(cli: CommandLine) -> None:
    for _ in range(2):
        cli("add", TEA, "--subject", "ana")
    assert [support["kind"] for support in cli.json("support", 1)] == ["said", "restated"]
    assert cli.json("get", 1)["confirmed_count"] == 1


# -- supports follow their sources -----------------------------------------------------------


@pytest.fixture
def heard(store: Store) -> Store:
    """Fact 1 is read in the page 1 alone, fact 2 in it and in the letter 2."""
    page = store.episodes.record("Ana is tall. Bob is tall.", source="web:a.org")
    web = store.within(source="web:a.org")
    web.add("Ana is tall", subject="ana", episode_id=page.id)
    web.add("Bob is tall", subject="bob", episode_id=page.id)
    letter = store.episodes.record("Bob is tall.", source="letters")
    store.add("Bob is tall", subject="bob", episode_id=letter.id, unless_known=True)
    return store


def test_reverting_a_source_retires_what_has_no_other_support(heard: Store) -> None:
    plan = heard.ledger.revert(episode=1)
    assert [(step.fact_id, step.action) for step in plan.steps] == [(1, "delete"), (2, "unsupport")]
    assert plan.conflicts == ()
    assert plan.steps[1].text == "stays, it has other support"
    assert plan.steps[1].reason.endswith(
        "; it was also restated in episode 2 by user through library, in line 5"
    )
    plan.apply()
    assert [fact.id for fact in heard.list()] == [2]
    assert heard.get(1).status == "deleted"
    assert [support.episode_id for support in heard.ledger.support(2)] == [2]
    assert heard.get(2).confirmed_count == 1
    assert heard.ledger.verify() == []


def test_the_support_that_was_taken_back_is_told_and_counts_no_more(heard: Store) -> None:
    assert "web:a.org" in heard.ledger.explain(1).verdict
    heard.ledger.revert(source="web:a.org").apply()
    told = heard.ledger.explain(2)
    assert told.verdict == "fact 2 is active; a person said it"
    assert [entry.kind for entry in told.entries] == ["taken back", "restated", "unsupported"]
    assert "which was taken back" in told.entries[0].text
    heard.sources.distrust("letters")
    assert heard.get(2).status == "distrusted"


def test_a_fact_that_was_taken_back_counts_no_more_when_it_is_restored(heard: Store) -> None:
    before = heard.ledger.explain(1).verdict
    heard.ledger.revert(source="web:a.org").apply()
    assert heard.ledger.support(1) == []
    heard.restore(1)
    assert "nothing that it rests on is left" in heard.ledger.explain(1).verdict
    with heard.file.engine.read() as transaction:
        assert trust.of_facts(transaction, [1])[1].trust == "external"
    assert "from a text by others" in before


def test_a_plan_no_longer_holds_once_the_other_support_was_erased(heard: Store) -> None:
    plan = heard.ledger.revert(source="web:a.org")
    heard.episodes.erase(2)
    with pytest.raises(memstore.Conflict):
        plan.apply()
    assert [step.action for step in heard.ledger.revert(source="web:a.org").steps] == [
        "delete",
        "delete",
    ]


def test_erasing_an_episode_takes_its_confirmation(heard: Store) -> None:
    last = heard.confirm(2).last_confirmed_at
    plan = heard.ledger.erasure(episode=2)
    assert (plan.counts.supports, plan.counts.episodes, plan.counts.facts) == (1, 1, 0)
    assert plan.apply().counts == plan.counts
    fact = heard.get(2)
    assert (fact.confirmed_count, [support.kind for support in heard.ledger.support(2)]) == (
        1,
        ["said", "confirmed"],
    )
    line = heard.ledger.journal(2)[-1]
    assert (line.kind, line.after and line.after["confirmed_count"]) == ("unconfirm", 1)
    assert fact.last_confirmed_at == last
    assert heard.ledger.verify() == []
    assert heard.file.doctor(deep=True) == []
    assert not heard.ledger.revert(lines=[line.id])  # erasing cannot be undone
    heard.ledger.erasure(source="web:a.org").apply()
    assert heard.get(2).confirmed_count == 1


def test_reverting_the_other_source_takes_its_support(heard: Store) -> None:
    heard.ledger.revert(episode=2).apply()
    assert [fact.id for fact in heard.list()] == [1, 2]
    assert [support.episode_id for support in heard.ledger.support(2)] == [1]
    assert heard.get(2).confirmed_count == 0


def test_erasing_a_source_takes_its_supports_and_offers_the_fact(heard: Store) -> None:
    plan = heard.ledger.erasure(source="web:a.org")
    assert {(step.kind, step.id) for step in plan.steps} >= {("fact", 1), ("episode", 1)}
    assert ("fact", 2) not in {(step.kind, step.id) for step in plan.steps}
    plan.apply()
    assert [fact.id for fact in heard.list()] == [2]
    assert [support.episode_id for support in heard.ledger.support(2)] == [2]


def test_erasing_one_episode_takes_its_supports(heard: Store) -> None:
    heard.episodes.erase(1)
    assert heard.ledger.support(1) == []
    assert [support.episode_id for support in heard.ledger.support(2)] == [2]


# -- runs --------------------------------------------------------------------------------


def everything(store: Store) -> None:
    """Change something in every way that there is."""
    page = store.episodes.add("Ana is tall", source="web:a.org", thread="t", tags=["x"])
    store.episodes.update(page.id, tags=["y"])
    one = store.add("Ana is tall", subject="ana", episode_id=page.id)
    two = store.add("Ana is small", subject="ana", supersedes=one.id)
    store.confirm(two.id)
    store.pin(two.id)
    store.unpin(two.id)
    store.update_metadata(two.id, {"a": 1})
    store.delete(two.id)
    store.restore(two.id)
    store.add("x", subject="ana", source="web:c.org", supersedes=two.id)
    (proposal,) = store.proposals.list()
    store.proposals.reject(proposal.id)
    task = store.tasks.create("call")
    store.tasks.update(task.id, "completed")
    store.sources.trust("web:a.org", "tool")
    store.sources.distrust("web:b.org")
    store.graph.build()
    store.graph.merge("Ana", "Anna")
    store.graph.drop()
    token, _ = store.file.tokens.create(f"for {store.namespace}", namespace=store.namespace)
    store.file.tokens.revoke(token.id)
    done = store.ledger.revert(source="web:a.org").apply()
    store.ledger.revert(lines=done.lines).apply()
    store.episodes.erase(page.id)
    store.erase(one.id)
    store.file.embed_pending()


def test_every_line_names_its_run(open_store: OpenStore, tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    for namespace in ("one", "two"):
        store = open_store(path, embedder=WordEmbedder(), namespace=namespace)
        everything(store)
        store.close()
    runs: list[Any] = sql(path, "SELECT run, min(id), max(id) FROM memstore_journal GROUP BY run")
    assert len(runs) == 2
    assert all(run for run, *_ in runs)
    (_, _, first), (_, second, _) = sorted(runs, key=lambda row: row[1])
    assert first < second
    kinds = {kind for (kind,) in sql(path, "SELECT DISTINCT kind FROM memstore_journal")}
    assert kinds >= {"add", "confirm", "erase", "erase_episode", "trust", "distrust", "graph"}
