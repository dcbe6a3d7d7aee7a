"""The record of searches: kept in bounds, blanked by erasure, never another owner's."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from random import Random
from typing import Any

import pytest
from tests.support.clock import ManualClock, wait_until
from tests.support.raw import raw

from memstore import InvalidArgument, NewFact, RecordedSearch, Scope, Store
from memstore.domain import clock
from memstore.search import record
from memstore.store.store import searches_since

OpenStore = Callable[..., Store]
ANA = Scope(user_id="ana")


def asked(store: Store, **wanted: Any) -> list[str | None]:
    return [one.query for one in store.searches.list(**wanted)]


def test_a_search_is_recorded_only_if_a_program_does_so(store: Store) -> None:
    fact = store.add("likes tea", subject="ana")
    said = store.episodes.add("tea again", source="chat")
    store.search("tea")
    store.recall("tea", max_tokens=99)
    assert store.searches.list() == []
    store.searches.record(
        "tea?", facts=[fact.id], episodes=[said.id], tool="recall", tokens=12, milliseconds=3.5
    )
    (found,) = store.searches.list()
    assert (found.query, found.facts, found.episodes) == ("tea?", (fact.id,), (said.id,))
    assert (found.tool, found.tokens, found.milliseconds) == ("recall", 12, 3.5)
    assert (found.actor, found.client, found.scope) == ("user", "library", Scope())
    assert found.run == store.ledger.journal(fact.id)[0].run
    assert not found.is_empty
    assert found.to_dict()["facts"] == [fact.id]


def test_searches_are_narrowed(store: Store, manual_clock: ManualClock) -> None:
    fact = store.add("likes tea", subject="ana")
    web = store.within(source="codex")
    store.searches.record("one", facts=[fact.id])
    manual_clock.advance(60)
    web.searches.record("two")
    web.of(ANA).searches.record("three")
    assert asked(store) == ["two", "one"]
    assert asked(store.of(ANA)) == ["three"]
    assert asked(store.of("all"), limit=2) == ["three", "two"]
    last = store.of("all").searches.list(limit=2)[-1]
    assert asked(store.of("all"), before=last.id) == ["one"]
    assert asked(store, client="codex") == ["two"]
    assert asked(store, fact=fact.id) == ["one"]
    assert asked(store, is_empty=True) == ["two"]
    assert asked(store, is_empty=False) == ["one"]
    at = store.searches.list(fact=fact.id)[0].at
    assert asked(store, until=at) == ["one"]
    assert asked(store, since=at + timedelta(seconds=1)) == ["two"]
    assert asked(store, run=last.run) == ["two", "one"]
    assert asked(store.within("other")) == []
    assert asked(store.within(confined=True).of("all")) == ["three", "two", "one"]
    for wrong in ({"run": "x"}, {"limit": 0}, {"since": "soon"}):
        with pytest.raises(InvalidArgument):
            store.searches.list(**wrong)


def test_prompts_are_told_apart_and_may_be_recorded_later(
    store: Store, manual_clock: ManualClock
) -> None:
    then = clock.utc_now()
    manual_clock.advance(3600)
    store.searches.record("search", tool="memory_search", tokens=10)
    store.searches.record("prompt", tool="prompt", tokens=30, at=then)
    store.of(ANA).searches.record("silent", tool="prompt", tokens=0)
    assert asked(store, tool="prompt") == ["prompt"]
    assert asked(store.of("all"), tool="memory_search") == ["search"]
    assert asked(store, tool="no such") == []
    (late,) = store.searches.list(tool="prompt")
    assert late.at == then
    assert asked(store, since=then + timedelta(minutes=1)) == ["search"]
    found = searches_since(store, then)
    assert (found.searches, found.prompts, found.tokens, found.answers) == (3, 2, 40, 2)
    assert searches_since(store, then + timedelta(minutes=1)).searches == 2
    assert searches_since(store.within("other"), then).searches == 0
    with pytest.raises(InvalidArgument):
        store.searches.record("x", at="soon")


def test_only_the_newest_searches_of_some_days_are_kept(
    store: Store, manual_clock: ManualClock, monkeypatch: pytest.MonkeyPatch, path: Path
) -> None:
    monkeypatch.setattr(record, "MAX_SEARCHES", 3)
    for n in range(5):
        store.searches.record(f"query {n}", facts=[n + 1])
    assert asked(store) == ["query 4", "query 3", "query 2"]
    manual_clock.advance(20 * 86_400)
    store.searches.record("later")
    assert asked(store) == ["later", "query 4", "query 3"]
    manual_clock.advance(11 * 86_400)
    store.searches.record("last")
    assert asked(store) == ["last", "later"]
    with raw(path) as file:
        assert file.execute("SELECT count(*) FROM memstore_given").fetchone() == (0,)


def test_searches_are_written_when_many_have_gathered_or_the_oldest_is_old(
    store: Store, manual_clock: ManualClock, monkeypatch: pytest.MonkeyPatch, path: Path
) -> None:
    monkeypatch.setattr(record, "MAX_WAITING", 3)

    def written() -> int:
        with raw(path) as file:
            return int(file.execute("SELECT count(*) FROM memstore_searches").fetchone()[0])

    store.searches.record("one")
    store.searches.record("two")
    assert written() == 0
    store.searches.record("three")
    assert wait_until(lambda: written() == 3)  # on a server, a thread writes
    store.searches.record("four")
    manual_clock.advance(record.MAX_WAIT_SECONDS)
    store.searches.record("five")
    assert wait_until(lambda: written() == 5)
    store.searches.record("six")
    store.close()
    assert written() == 6


def test_a_busy_writer_does_not_make_a_search_wait(
    store: Store, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(record, "MAX_WAITING", 1)
    with raw(path) as other:
        other.execute("BEGIN IMMEDIATE")
        store.searches.record("one")
        other.execute("ROLLBACK")
    store.searches.record("two")
    assert asked(store) == ["two", "one"]


def test_a_read_only_file_records_nothing(store: Store, open_store: OpenStore) -> None:
    store.add("likes tea", subject="ana")
    reader = open_store(read_only=True)
    reader.searches.record("tea")
    assert reader.searches.list() == []


def test_secrets_are_redacted_even_where_texts_with_them_are_refused(open_store: OpenStore) -> None:
    key = "ghp_" + "a1B2c3D4" * 4 + "e5F6"
    for policy, kept in (("redact", False), ("refuse", False), ("keep", True)):
        store = open_store(secrets=policy)
        store.searches.record(f"what is {key}?")
        assert (key in str(asked(store)[0])) == kept


@pytest.mark.parametrize("where", ["fact", "subject", "metadata", "episode", "scripts"])
def test_erasing_blanks_what_was_given_and_what_has_the_words(
    store: Store, path: Path, where: str
) -> None:
    kept = store.add("The harbour is open", subject="harbour")
    text = "東京の秘密" if where == "scripts" else "The wombats are hiding"
    words = "秘密" if where == "scripts" else "wombat"
    if where == "episode":
        row = store.episodes.add(text, source="chat").id
    else:
        row = store.add(
            "hidden" if where in ("subject", "metadata") else text,
            subject=text if where == "subject" else "x",
            metadata={"k": text} if where == "metadata" else None,
        ).id
    given = {"episodes" if where == "episode" else "facts": [row]}
    store.searches.record("what is hidden there", **given)
    store.searches.record(f"is the harbour {words} open", facts=[kept.id])
    store.searches.record("is the harbour open", facts=[kept.id])
    assert len(asked(store)) == 3
    (store.episodes.erase if where == "episode" else store.erase)(row)
    assert asked(store) == ["is the harbour open", None, None]
    assert store.searches.list()[1].facts == (kept.id,)
    assert store.file.remains([words if len(words) > 2 else "の秘密"]) == []


def test_a_word_that_something_else_has_is_not_erased(store: Store) -> None:
    first = store.add("likes tea", subject="ana")
    store.add("grows tea", subject="bob")
    store.searches.record("who grows tea")
    assert len(asked(store)) == 1
    store.erase(first.id)
    assert asked(store) == ["who grows tea"]


def test_what_waits_while_something_is_erased_is_blanked(
    store: Store, open_store: OpenStore
) -> None:
    fact = store.add("The wombats are hiding", subject="x")
    other = open_store()
    store.searches.record("wombats?", facts=[fact.id])
    other.erase(fact.id)
    store.searches.record("later")
    assert asked(store) == [None, None]
    store.searches.record("again")
    assert asked(store) == ["again", None, None]


def test_erasing_a_person_or_a_run_removes_their_searches(store: Store) -> None:
    store.add("likes tea", subject="ana", user_id="ana")
    store.add("likes rain", subject="x")
    for scope in (ANA, Scope(user_id="ana", run_id="1"), Scope()):
        store.of(scope).searches.record("what does she like")
    assert len(asked(store.of("all"))) == 3
    store.ledger.erasure(owner="ana").apply()
    assert asked(store.of("all")) == ["what does she like"]
    store.ledger.erasure(run=store.searches.list()[0].run).apply()
    assert asked(store.of("all")) == []


def test_erasing_many_facts_blanks_their_queries(store: Store, path: Path) -> None:
    facts = store.add_many(NewFact(content=f"secret{n} code", subject="vault") for n in range(500))
    store.add("The harbour is open", subject="harbour")
    for n in (3, 250, 499):
        store.searches.record(f"what is SECRET{n}", facts=[1])
    store.searches.record("harbour", facts=[501])
    assert len(asked(store)) == 4
    store.ledger.erasure(subject="vault").apply()
    assert asked(store) == ["harbour", None, None, None]
    assert store.file.remains(["secret250"]) == []
    assert facts[0].id == 1


def test_clearing_a_namespace_removes_its_searches(store: Store) -> None:
    other = store.within("other")
    store.add("The wombats are hiding", subject="x")
    other.add("likes tea", subject="ana")
    store.searches.record("wombat")
    other.searches.record("tea")
    other.searches.record("any wombat?")
    assert len(asked(other)) == 2
    store.clear()
    assert asked(store) == []
    assert asked(other) == [None, "tea"]


def test_clearing_the_record_takes_that_of_the_owners_named(store: Store) -> None:
    for scope in (None, ANA):
        store.of(scope).searches.record("tea")
    assert store.of(ANA).searches.clear() == 1
    assert asked(store.of("all")) == ["tea"]
    assert store.of("all").searches.clear() == 1
    assert asked(store.of("all")) == []


def test_neither_the_journal_nor_an_export_has_the_searches(store: Store) -> None:
    store.add("likes tea", subject="ana")
    line = store.file.head()
    store.searches.record("a question about wombats")
    assert asked(store) == ["a question about wombats"]
    assert store.file.head() == line
    assert "wombats" not in "".join(store.transfer.export())
    assert store.ledger.verify() == store.file.doctor(deep=True) == []


def test_facts_given_most_often_and_never(store: Store) -> None:
    ids = [store.add(f"fact {n}", subject="s").id for n in range(5)]
    store.add("Ana's", subject="s", user_id="ana")
    store.delete(ids[3])
    for given in ([ids[0], ids[1]], [ids[1]], [ids[1], ids[3], ids[1]]):
        store.searches.record("x", facts=given)
    most = store.searches.most_used()
    assert [(one.fact.id, one.searches) for one in most] == [(ids[1], 3), (ids[0], 1)]
    assert [one.fact.id for one in store.searches.most_used(limit=1)] == [ids[1]]
    never = store.searches.never_used()
    assert [(one.fact.id, one.searches) for one in never] == [(ids[4], 0), (ids[2], 0)]
    assert [one.fact.id for one in store.searches.never_used(before_id=ids[4])] == [ids[2]]
    assert [one.fact.user_id for one in store.of(ANA).searches.never_used()] == ["ana"]
    assert most[0].to_dict()["searches"] == 3


@pytest.mark.parametrize("few", [0, 2_000])
def test_facts_given_most_often_are_the_same_with_an_index(
    store: Store, monkeypatch: pytest.MonkeyPatch, few: int
) -> None:
    monkeypatch.setattr("memstore.database.tables.searches.FEW_FACTS", few)
    chance = Random(8)
    users = [None, None, "ana"]
    ids = [
        store.of(user_id=chance.choice(users)).add(f"fact {n}", subject="s").id for n in range(40)
    ]
    for _ in range(60):
        store.searches.record("x", facts=chance.sample(ids, 3))
    for fact_id in chance.sample(ids, 15):
        store.of("all").delete(fact_id)
    numbers: dict[str, Counter[int]] = {}
    for one in store.of("all").searches.list(limit=None):
        for fact_id in one.facts:
            fact = store.of("all").get_many([fact_id])[0]
            if fact.deleted_at is None:
                owner = fact.user_id or "nobody"
                numbers.setdefault(owner, Counter())[fact_id] += 1
                numbers.setdefault("all", Counter())[fact_id] += 1
    for warm in (False, True):
        if warm:
            store.file.warm()
        for name, one in (("nobody", store), ("ana", store.of(ANA)), ("all", store.of("all"))):
            expected = sorted(numbers[name].items(), key=lambda pair: (-pair[1], -pair[0]))
            for limit in (1, 4, 50):
                found = one.searches.most_used(limit=limit)
                assert [(each.fact.id, each.searches) for each in found] == expected[:limit]


def test_a_recorded_search_is_a_value() -> None:
    one = RecordedSearch(
        id=1,
        at=None,
        namespace="d",
        actor="a",
        client="c",
        tool="t",
        query=None,  # type: ignore[arg-type]
    )
    assert one.is_empty
