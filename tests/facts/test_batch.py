"""Several changes at once, owners, proposals, and undoing a supersession."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.support.raw import raw

import memstore
from memstore import (
    AddFact,
    Conflict,
    DeleteFact,
    KeepFact,
    MayReplace,
    NewFact,
    NotFound,
    Scope,
    Store,
    SupersedeFact,
)
from memstore.database import journal
from memstore.database.sqlite.engine import SqliteEngine
from memstore.history import past

ANA = Scope(user_id="ana")
BEN = Scope(user_id="ben", agent_id="a1")


def new(content: str, **options: Any) -> NewFact:
    return NewFact(content=content, subject=options.pop("subject", "ana"), **options)


def everything(store: Store) -> list[memstore.Fact]:
    return store.list(active_only=False, include_deleted=True)


def lines(store: Store, fact_id: int) -> list[tuple[str, Any]]:
    return [(line.kind, line.evidence) for line in store.ledger.journal(fact_id)]


def test_apply_makes_all_changes_in_order(store: Store) -> None:
    old, gone, kept, a, b = (store.add(f"fact {n}", subject="ana").id for n in range(5))
    done = store.ledger.apply(
        [
            AddFact(fact=new("fact new", supersedes=old), evidence={"why": "corrected"}),
            DeleteFact(fact_id=gone, evidence={"why": "cancelled"}),
            KeepFact(fact_id=kept, evidence={"why": "says so"}),
            SupersedeFact(old_id=a, new_id=b, evidence={"why": "same"}),
        ]
    )
    added, deleted, same, retired = done
    assert (added.fact.content, added.previous and added.previous.id) == ("fact new", old)
    assert (deleted.fact.status, same.fact.status) == ("deleted", "active")
    assert (retired.fact.id, retired.fact.superseded_by) == (a, b)
    assert ("supersede", {"why": "corrected"}) in lines(store, old)
    assert ("delete", {"why": "cancelled"}) in lines(store, gone)
    assert lines(store, kept) == [("add", None), ("keep", {"why": "says so"})]
    assert ("supersede", {"why": "same"}) in lines(store, a)
    assert store.file.doctor() == []


FAILING = {
    "not there": (KeepFact(fact_id=99), NotFound),
    "deleted": (DeleteFact(fact_id=3), Conflict),
    "superseded": (AddFact(fact=new("x", supersedes=1)), Conflict),
    "superseded, proposed": (AddFact(fact=new("x"), precedence=MayReplace(1)), Conflict),
    "itself": (SupersedeFact(old_id=2, new_id=2), Conflict),
    "blank": (AddFact(fact=new(" ")), ValueError),
    "evidence that is no JSON": (KeepFact(fact_id=2, evidence={"x": float("nan")}), ValueError),
    "twice": (DeleteFact(fact_id=2), Conflict),
}


@pytest.mark.parametrize("case", FAILING)
def test_apply_rolls_back_when_one_change_fails(store: Store, case: str) -> None:
    store.add("one", subject="ana")
    store.add("two", subject="ana", supersedes=1)
    store.delete(store.add("three", subject="ana").id)
    before = everything(store), [store.ledger.journal(n) for n in (1, 3)]
    change, error = FAILING[case]
    with pytest.raises(error):
        store.ledger.apply([AddFact(fact=new("four")), DeleteFact(fact_id=2), change])
    assert (everything(store), [store.ledger.journal(n) for n in (1, 3)]) == before
    assert store.ledger.apply([]) == []


def test_apply_stores_known_facts_only_once(store: Store) -> None:
    same = [AddFact(fact=new("tea"), unless_known=True) for _ in range(3)]
    done = store.ledger.apply(same)
    assert [one.known for one in done] == [False, True, True]
    assert len({one.fact.id for one in done}) == 1
    # A fact of another owner or subject, or an inactive one, is another fact.
    others = [
        AddFact(fact=new("tea", subject="ben"), unless_known=True),
        AddFact(fact=new("tea", user_id="ana"), unless_known=True),
        AddFact(fact=new("coffee", supersedes=done[0].fact.id)),
        AddFact(fact=new("tea"), unless_known=True),
    ]
    assert [one.known for one in store.ledger.apply(others)] == [False] * 4


def test_apply_with_a_used_key_returns_the_earlier_result(store: Store) -> None:
    old = store.add("tea", subject="ana")
    change = AddFact(fact=new("coffee", supersedes=old.id, idempotency_key="k"))
    first, again = store.ledger.apply([change])[0], store.ledger.apply([change])[0]
    assert (first.known, again.known) == (False, True)
    assert first.fact == again.fact


def test_apply_with_a_scope_reaches_only_exactly_these_owners(store: Store) -> None:
    own = store.of(ANA).ledger.apply([AddFact(fact=new("tea"))])[0].fact
    assert own.scope == ANA
    hers = [
        store.add("tea", subject="ana").id,
        store.add("tea", subject="ana", user_id="ana", run_id="r").id,
        store.add("tea", subject="ana", user_id="ben").id,
    ]
    for other in hers:
        for change in (
            KeepFact(fact_id=other),
            DeleteFact(fact_id=other),
            SupersedeFact(old_id=own.id, new_id=other),
            SupersedeFact(old_id=other, new_id=own.id),
            AddFact(fact=new("x", supersedes=other)),
            AddFact(fact=new("x"), precedence=MayReplace(other)),
        ):
            with pytest.raises(NotFound, match=f"no fact {other} in"):
                store.of(ANA).ledger.apply([change])
    with pytest.raises(ValueError, match="owners contradict"):
        store.of(ANA).ledger.apply([AddFact(fact=new("tea", user_id="x"))])
    assert store.of(ANA).ledger.apply([KeepFact(fact_id=own.id)])[0].fact.id == own.id


# -- owners --------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["user_id", "agent_id", "run_id"])
@pytest.mark.parametrize("value", ["", "  ", "a\x00b", "x" * 501, 7])
def test_invalid_owners_are_refused(store: Store, name: str, value: Any) -> None:
    with pytest.raises((ValueError, TypeError), match=name):
        Scope(**{name: value})
    with pytest.raises((ValueError, TypeError), match=name):
        store.add("tea", subject="ana", **{name: value})


def test_scope_finds_exactly_its_own_facts(store: Store) -> None:
    owners: list[dict[str, str]] = [
        {},
        {"user_id": "ana"},
        {"agent_id": "a1"},
        {"run_id": "r1"},
        {"user_id": "ana", "agent_id": "a1"},
        {"user_id": "ana", "agent_id": "a1", "run_id": "r1"},
        {"user_id": "ben"},
    ]
    held = {store.add("tea", subject="s", **own).id: Scope(**own) for own in owners}
    for fact_id, scope in held.items():
        assert [fact.id for fact in store.of(scope).list()] == [fact_id]
        assert store.of(scope).count() == 1
        for weights in ({"word_weight": 0}, {"vector_weight": 0}, {}):
            assert [h.fact.id for h in store.of(scope).search("tea", **weights)] == [fact_id]
        assert store.get(fact_id).scope == scope
    found = [store.of("all").list(), store.of("all").search("tea")]
    assert [len(one) for one in found] == [len(owners)] * 2
    assert [fact.id for fact in store.list()] == [1]
    assert store.of(user_id="nobody").list() == []
    with pytest.raises(TypeError, match="owners must be a Scope"):
        store.of("ana").list()  # type: ignore[arg-type]


def test_restoring_and_reinstating_keep_the_owners(store: Store) -> None:
    old = store.add("tea", subject="s", user_id="ana", agent_id="a", episode_id=None)
    store.add("coffee", subject="s", user_id="ana", agent_id="a", supersedes=old.id)
    assert store.reinstate(old.id).scope == old.scope
    assert store.restore(old.id).scope == old.scope


# -- undoing ---------------------------------------------------------------------------------------


def test_reinstate_restores_the_text_alongside_its_replacement(store: Store) -> None:
    old = store.add("tea", subject="ana", category="preference", metadata={"n": 1})
    newer = store.add("coffee", subject="ana", supersedes=old.id)
    back = store.reinstate(old.id)
    assert (back.content, back.category, back.metadata) == ("tea", "preference", {"n": 1})
    assert {fact.id for fact in store.list()} == {newer.id, back.id}
    assert store.get(old.id).superseded_by == newer.id  # the chain is as it was
    assert [fact.id for fact in store.history(back.id)] == [back.id]
    assert lines(store, back.id)[0] == ("add", {"reinstates": old.id})
    assert back.embedded
    with pytest.raises(Conflict, match=f"fact {back.id} already says the same"):
        store.reinstate(old.id)
    assert store.file.doctor() == []


@pytest.mark.parametrize("state", ["active", "deleted"])
def test_reinstate_refuses_a_fact_that_was_not_superseded(store: Store, state: str) -> None:
    fact = store.add("tea", subject="ana")
    if state == "deleted":
        store.delete(fact.id)
    with pytest.raises(Conflict, match=f"fact {fact.id} is {state}, not superseded"):
        store.reinstate(fact.id)


# -- proposals -------------------------------------------------------------------------------------


@pytest.fixture
def proposed(store: Store) -> memstore.Proposal:
    old = store.add("Ana lives in Berlin", subject="ana")
    change = AddFact(
        fact=new("Ana lives in Lisbon"),
        precedence=MayReplace(old.id, 0.9),
        evidence={"finding": "new value"},
    )
    [done] = store.ledger.apply([change])
    assert done.proposal_id is not None
    return store.proposals.get(done.proposal_id)


def test_proposal_is_recorded_and_retires_nothing(
    store: Store, proposed: memstore.Proposal
) -> None:
    assert [fact.status for fact in (proposed.old, proposed.new)] == ["active"] * 2
    assert (proposed.similarity, proposed.state) == (0.9, "open")
    assert store.proposals.list() == [proposed]
    assert ("propose", {"finding": "new value"}) in lines(store, proposed.old.id)
    assert proposed.to_dict()["old"]["content"] == "Ana lives in Berlin"
    assert store.file.doctor() == []


def test_accepting_a_proposal_supersedes(store: Store, proposed: memstore.Proposal) -> None:
    done = store.proposals.accept(proposed.id)
    assert (done.state, done.old.superseded_by) == ("accepted", proposed.new.id)
    assert done.decided_at is not None
    evidence = {"proposal": proposed.id, "similarity": 0.9, "finding": "new value"}
    assert ("supersede", evidence) in lines(store, proposed.old.id)
    assert store.proposals.list() == []
    assert store.proposals.list("accepted") == store.proposals.list(None) == [done]
    assert store.reinstate(proposed.old.id).content == "Ana lives in Berlin"
    assert store.file.doctor() == []


def test_rejecting_a_proposal_leaves_both(store: Store, proposed: memstore.Proposal) -> None:
    assert store.proposals.reject(proposed.id).state == "rejected"
    assert len(store.list()) == 2
    assert store.proposals.list() == []
    assert lines(store, proposed.old.id)[-1][0] == "reject"
    for decide in (store.proposals.accept, store.proposals.reject):
        with pytest.raises(Conflict, match="was already rejected"):
            decide(proposed.id)
    assert store.file.doctor() == []


def test_proposal_about_a_fact_that_changed_can_only_be_rejected(
    store: Store, proposed: memstore.Proposal
) -> None:
    store.delete(proposed.old.id)
    assert store.proposals.list() == []
    with pytest.raises(Conflict, match=f"{proposed.old.id}.* is deleted\nReject the proposal"):
        store.proposals.accept(proposed.id)
    store.proposals.reject(proposed.id)


def test_proposals_belong_to_one_namespace_and_scope(
    open_store: Callable[..., Store], store: Store, proposed: memstore.Proposal
) -> None:
    other = open_store(namespace="other")
    assert other.proposals.list(None) == []
    for wanted in (proposed.id, 99, 10**30):
        for reach in (other.proposals.get, other.proposals.accept, other.proposals.reject):
            with pytest.raises(NotFound, match=f"no proposal {wanted} in namespace 'other'"):
                reach(wanted)
    with pytest.raises(TypeError, match="whole number"):
        store.proposals.accept("1")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="state must be open"):
        store.proposals.list("closed")
    assert store.of(ANA).proposals.list() == []
    assert store.of().proposals.list() == [proposed]


@pytest.mark.parametrize("which", ["old", "new"])
@pytest.mark.parametrize("accepted", [False, True])
def test_erasing_a_fact_removes_its_text_from_the_evidence(
    store: Store, path: Path, proposed: memstore.Proposal, which: str, accepted: bool
) -> None:
    secret = {"changes": [["Berlin-secret", "Lisbon-secret"]]}
    with raw(path) as file:
        file.execute("UPDATE memstore_proposals SET evidence = ?", (str(secret).replace("'", '"'),))
        file.commit()
    if accepted:
        store.proposals.accept(proposed.id)
    store.erase(getattr(proposed, which).id)
    store.close()
    assert b"-secret" not in path.read_bytes()


# -- episodes --------------------------------------------------------------------------------------


def test_episode_is_kept_verbatim(store: Store) -> None:
    text = "  two  spaces,\r\n\ttab 東京 👍 "
    episode = store.of(ANA).episodes.record(
        text, source="chat", name="n", metadata={"a": 1}, valid_at="2026-03-01"
    )
    assert store.episodes.get(episode.id) == episode
    assert (episode.content, episode.source, episode.metadata) == (text, "chat", {"a": 1})
    assert episode.scope == ANA
    assert store.file.doctor() == []


def test_episodes_are_deduplicated_within_their_scope_only(
    store: Store, open_store: Callable[..., Store]
) -> None:
    first = store.episodes.record("hello")
    assert store.episodes.record("hello", source="other") == first
    others = [
        store.of(ANA).episodes.record("hello"),
        store.episodes.record("hello", once=False),
        store.episodes.record("hello "),
        open_store(namespace="other").episodes.record("hello"),
    ]
    assert len({first.id, *(other.id for other in others)}) == 5
    assert [e.id for e in store.of(ANA).episodes.list()] == [others[0].id]
    assert len(store.of("all").episodes.list()) == 4
    assert len(store.episodes.list()) == 3
    assert store.episodes.list(limit=1, newest_first=True) == [others[2]]


@pytest.mark.parametrize(
    "sql",
    [
        "UPDATE memstore_episodes SET content = 'forged'",
        "UPDATE memstore_episodes SET source = 'forged'",
        "UPDATE memstore_episodes SET created_at = '2020-01-01T00:00:00.000000Z'",
        "UPDATE memstore_episodes SET content = '', source = NULL, uuid = 'x'",
        "DELETE FROM memstore_episodes",
    ],
)
def test_episodes_are_append_only(store: Store, path: Path, sql: str) -> None:
    store.episodes.record("hello", source="chat")
    with raw(path) as file, pytest.raises(sqlite3.Error, match="append-only"):
        file.execute(sql)


def test_erasing_an_episode_removes_its_bytes(store: Store, path: Path) -> None:
    episode = store.episodes.record("the-secret text", metadata={"k": "the-secret"})
    fact = store.add("stays", subject="s", episode_id=episode.id)
    assert store.episodes.erase(episode.id)
    with pytest.raises(NotFound, match=f"no episode {episode.id}"):
        store.episodes.get(episode.id)
    assert store.episodes.list() == []
    assert store.get(fact.id).episode_id == episode.id
    assert store.file.doctor() == []
    store.close()
    assert b"the-secret" not in path.read_bytes()


def test_doctor_finds_an_episode_that_was_changed(store: Store, path: Path) -> None:
    store.episodes.record("hello")
    with raw(path) as file:
        file.execute("DROP TRIGGER memstore_episodes_lasting")
        file.execute("UPDATE memstore_episodes SET content = 'forged'")
        file.commit()
    assert ("episodes", False) in [(f.check, f.repairable) for f in store.file.doctor()]


@pytest.mark.parametrize("text", ["", "  \n", "a\x00b", "\ud800"])
def test_episode_refuses_content_that_is_not_text(store: Store, text: str) -> None:
    with pytest.raises(ValueError, match="content"):
        store.episodes.record(text)
    with pytest.raises(TypeError, match="whole number"):
        store.episodes.get("1")  # type: ignore[arg-type]


def test_journal_replay_reproduces_the_state(
    store: Store, path: Path, proposed: memstore.Proposal
) -> None:
    store.proposals.accept(proposed.id)
    store.ledger.apply([KeepFact(fact_id=proposed.new.id, evidence={"content": "not a column"})])
    store.reinstate(proposed.old.id)
    engine = SqliteEngine(path)
    with engine.read() as transaction:
        states = {id_: past.state(ops) for id_, ops in journal.by_fact(transaction)}
    engine.close()
    assert states.keys() == {fact.id for fact in everything(store)}
    for fact in everything(store):
        state = states[fact.id]
        assert state is not None
        assert (state["content"], state.get("superseded_by")) == (fact.content, fact.superseded_by)


def test_export_carries_evidence_and_the_link_to_its_episode(
    store: Store, open_store: Callable[..., Store], tmp_path: Path
) -> None:
    episode = store.episodes.record("hello")
    old = store.add("tea", subject="ana", episode_id=episode.id, user_id="ana")
    store.ledger.apply(
        [AddFact(fact=new("coffee", supersedes=old.id), evidence={"why": "because"})]
    )
    other = open_store(tmp_path / "other.db")
    other.transfer.import_(store.transfer.export())
    assert ("supersede", {"why": "because"}) in lines(other, 1)
    linked = other.episodes.get(other.get(1).episode_id or 0)
    assert (linked.content, other.get(1).user_id) == ("hello", "ana")
    assert other.file.doctor() == []
