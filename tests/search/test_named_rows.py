"""Ids as queries: the fact or turn that they name comes first."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import memstore
from memstore import Store

OpenStore = Callable[..., Store]


@pytest.fixture
def rules(open_store: OpenStore) -> Store:
    """Forty facts on numbered rules, whose ids are other numbers, and three turns."""
    store = open_store(embedder="local")
    store.add_many(
        {"content": f"Rule {place} concerns widget {place * 13}", "subject": f"w{place}"}
        for place in range(40)
    )
    store.add("The database listens on port 5432", subject="db")
    for text in ("The invoices go to Lisbon", "Rule 7 is old", "Nobody uses widget 26"):
        store.episodes.add(text, source="chat", thread="t")
    return store


def found(store: Store, query: str, **asked: object) -> list[int]:
    return [hit.fact.id for hit in store.search(query, **asked)]  # type: ignore[arg-type]


@pytest.mark.parametrize("query", ["#7", "7", "fact 7", "Show me #7!", "#7 and #9", "7 9", "#9 #7"])
@pytest.mark.parametrize("ranking", ["contextual", "classic"])
def test_named_facts_come_first(rules: Store, query: str, ranking: str) -> None:
    named = [7, 9] if "9" in query else [7]
    if query.startswith("#9"):
        named.reverse()
    assert found(rules, query, ranking=ranking)[: len(named)] == named
    assert found(rules, query, limit=1) == named[:1]
    lines = rules.recall(query, max_tokens=400).text.splitlines()
    assert lines[1].startswith(f"#{named[0]} ")


def test_facts_that_have_the_number_follow(rules: Store) -> None:
    contents = [hit.fact.content for hit in rules.search("#7")]
    assert contents == ["Rule 6 concerns widget 78", "Rule 7 concerns widget 91"]
    assert rules.search("#7").hidden
    assert found(rules, "port 5432")[0] == 41
    assert found(rules, "5432") == [41]
    assert found(rules, "#5432") == [41]


@pytest.mark.parametrize("query", ["e2", "2", "turn 2", "episode #2", "E2"])
def test_named_turns_come_first(rules: Store, query: str) -> None:
    assert [hit.episode.id for hit in rules.episodes.search(query)][:1] == [2]
    assert [hit.episode.id for hit in rules.turns_for(query)][:1] == [2]


def test_a_uuid_names_a_row(rules: Store) -> None:
    assert found(rules, rules.get(5).uuid)[:1] == [5]
    uuid = rules.episodes.get(3).uuid
    assert [hit.episode.id for hit in rules.episodes.search(uuid)][:1] == [3]
    assert found(rules, uuid) == []


def test_what_may_not_be_seen_is_not_named(rules: Store) -> None:
    foreign = rules.within("other").add("Something else", subject="x")
    owned = rules.add("Something owned", subject="x", user_id="ana")
    gone = rules.add("Something gone", subject="x")
    rules.delete(gone.id)
    for fact in (foreign, owned, gone):
        for query in (f"#{fact.id}", str(fact.id), fact.uuid):
            assert fact.id not in found(rules, query)
    assert found(rules.of(user_id="ana"), f"#{owned.id}") == [owned.id]
    assert found(rules, f"#{foreign.id}", namespaces="all")[0] == foreign.id
    assert found(rules, "#7", subject="w9") == []


def test_pages_have_a_named_fact_once(rules: Store) -> None:
    pages = [found(rules, "7 concerns widget rule", limit=9, offset=at) for at in (0, 9, 18)]
    named = [found(rules, "#7", limit=1, offset=at) for at in (0, 1, 2)]
    assert named == [[7], [8], []]
    assert len({id_ for page in pages for id_ in page}) == sum(map(len, pages))


def test_why_not_finds_a_named_fact(rules: Store) -> None:
    assert rules.why_not("#7", 7).place == 1
    assert rules.why_not("#7", 8).place == 2
    assert rules.why_not("#7", 18).stage == "relevance"


def test_a_view_names_what_there_was(rules: Store) -> None:
    moment = rules.ledger.log(limit=1)[0].at
    later = rules.add("Later", subject="x")
    view = rules.as_of(moment)
    assert [hit.fact.id for hit in view.search("#7")][:1] == [7]
    assert later.id not in [hit.fact.id for hit in view.search(f"#{later.id}")]


def test_without_an_embedder(tmp_path: object) -> None:
    with memstore.open(":memory:", embedder=None) as store:
        store.add_many({"content": f"note {place}", "subject": "s"} for place in (2, 3, 1))
        assert found(store, "#1")[0] == 1
        assert found(store, "fact 1")[0] == 1
