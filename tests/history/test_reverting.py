"""Taking back: what is active then is what the journal without the selected lines says."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.clock import ManualClock

import memstore
from memstore import Conflict, InvalidArgument, JournalLine, Store
from memstore.database import journal, line_filters
from memstore.database.tables.facts import is_task
from memstore.domain import clock
from memstore.domain.plans import Selection
from memstore.history import past, reverting

OpenStore = Callable[..., Store]

WEB = "crawler"


@pytest.fixture
def web(store: Store) -> Store:
    """The same namespace, through another program."""
    return store.within(source=WEB)


def texts(store: Store) -> list[str]:
    return [fact.content for fact in store.list()]


def rows(store: Store) -> list[dict[str, Any]]:
    """Return everything about every fact, and the state of every proposal."""
    facts = store.of("all").list(active_only=False, include_deleted=True)
    proposals = store.of("all").proposals.list(None)
    return [fact.to_dict() for fact in facts] + [
        {"proposal": one.id, "state": one.state} for one in proposals
    ]


def without(store: Store, *sources: str) -> list[Any]:
    """Return the active facts according to the journal without the lines of sources.

    A fact with other support than theirs keeps its text, and what it replaced; it counts as often
    confirmed as there are confirmations left.
    """
    with store.file.engine.read() as transaction:
        every = {fact_id: [*lines] for fact_id, lines in journal.by_fact(transaction)}
    rest = {
        id_: [one for one in lines if one.source not in sources] for id_, lines in every.items()
    }
    supports = {
        fact_id: [one for one in lines if one.kind in (*past.BEGINS, "confirm")]
        for fact_id, lines in rest.items()
    }
    found = []
    for fact_id, lines in every.items():
        if not supports[fact_id]:
            continue
        kept = [
            one
            for one in lines
            if one in rest[fact_id]
            or one.kind in past.BEGINS
            or (one.kind == "supersede" and _is_kept(one, every, supports))
        ]
        state = past.state([one for one in kept if one.kind != "confirm"]) or {}
        times = [one.after or {} for one in supports[fact_id] if one.kind == "confirm"]
        state["confirmed_count"] = len(times)
        state["last_confirmed_at"] = times[-1]["last_confirmed_at"] if times else None
        if not {"superseded_by", "deleted_at"} & state.keys():
            found.append((fact_id, *_compared(state)))
    return found


def _is_kept(line: JournalLine, every: dict[int, Any], supports: dict[int, Any]) -> bool:
    """Return whether a supersession stays with the fact that replaced, which has other support."""
    newer = (line.after or {})["superseded_by"]
    return bool(supports[newer]) and every[newer][0] not in supports[newer]


def decided_without(store: Store, source: str) -> dict[int, str]:
    """Return the states of proposals according to the journal without the lines of a source."""
    found: dict[int, str] = {}
    with store.file.engine.read() as transaction:
        every = {fact_id: [*lines] for fact_id, lines in journal.by_fact(transaction)}
    states = {"propose": "open", "accept": "accepted", "reject": "rejected"}
    for line in sorted(itertools.chain(*every.values()), key=lambda one: one.id):
        if line.kind in states and line.after:
            proposal = line.after["proposal"]
            found.setdefault(proposal, "rejected")
            newer = every.get(line.after.get("superseded_by", 0), [line])
            stays = newer[0].source == source and any(
                one.kind == "confirm" and one.source != source for one in newer
            )
            if line.source != source or (line.kind == "accept" and stays):
                found[proposal] = states[line.kind]
    return found


def active(store: Store) -> list[Any]:
    return [(fact.id, *_compared(fact.to_dict())) for fact in store.list()]


def _compared(state: dict[str, Any]) -> list[Any]:
    names = ("subject", "content", "metadata", "last_confirmed_at", "pinned_at")
    return [*map(state.get, names), state.get("confirmed_count", 0)]


# -- single cases ------------------------------------------------------------------------


def test_a_period_is_taken_back_and_nothing_before_or_after_it(
    store: Store, manual_clock: ManualClock
) -> None:
    moments = []
    for content in ("first", "second", "third"):
        moments.append(store.add(content, subject="s").created_at)
        manual_clock.advance(86_400)
    done = store.ledger.revert(since=moments[1], until=moments[1]).apply()
    assert [(step.fact_id, step.text) for step in done.steps] == [(2, "is deleted")]
    assert texts(store) == ["first", "third"]
    before = store.ledger.revert(until=moments[0] - timedelta(microseconds=1))
    assert (before.steps, before.lines) == ((), ())


def test_a_plan_changes_nothing_and_says_what_it_would_do(store: Store, web: Store) -> None:
    old = store.add("Alice lives in Lisbon", subject="alice")
    new = web.add("Alice lives in Rome", subject="alice", supersedes=old.id)
    before = rows(store)
    plan = store.ledger.revert(source=WEB)
    assert [(step.fact_id, step.text, step.lines) for step in plan.steps] == [
        (old.id, "is active again", (3,)),
        (new.id, "is deleted", (2,)),
    ]
    assert plan.steps[0].reason == ("it was superseded by fact 2 in line 3 (user through crawler)")
    assert (plan.conflicts, rows(store)) == ((), before)


def test_applying_is_one_act_that_names_what_it_takes_back(store: Store, web: Store) -> None:
    old = store.add("Alice lives in Lisbon", subject="alice")
    new = web.add("Alice lives in Rome", subject="alice", supersedes=old.id)
    done = store.ledger.revert(source=WEB).apply()
    assert texts(store) == ["Alice lives in Lisbon"]
    lines = [line for line in store.ledger.journal(old.id) if line.id in done.lines]
    lines += [line for line in store.ledger.journal(new.id) if line.id in done.lines]
    told = {line.id: (line.kind, line.evidence, line.txn) for line in lines}
    assert sorted(told.values()) == [
        ("delete", {"reverts": [2]}, done.act),
        ("unsupersede", {"reverts": [3]}, done.act),
    ]
    assert store.search("Lisbon")[0].fact.id == old.id
    assert not store.search("Rome")
    assert store.file.doctor(deep=True) == []


def test_a_whole_act_is_taken_back_by_its_number_in_the_log(store: Store) -> None:
    store.add("first", subject="x")
    store.add_many([{"content": f"fact {n}", "subject": "x"} for n in range(3)])
    [act] = store.ledger.log(limit=1)
    done = store.ledger.revert(acts=[act.line]).apply()
    assert texts(store) == ["first"]
    store.ledger.revert(acts=[done.act or 0]).apply()
    assert texts(store) == ["first", "fact 0", "fact 1", "fact 2"]


def test_each_kind_of_change_goes_back(store: Store, web: Store) -> None:
    fact = store.add("Bob likes tea", subject="bob", metadata={"k": 1, "old": True})
    gone = store.add("Bob likes milk", subject="bob")
    back = store.add("Bob likes rain", subject="bob")
    task = store.tasks.create("water the plants")
    pinned = store.pin(store.add("Bob is tall", subject="bob").id)
    store.delete(back.id)
    store.confirm(fact.id)
    before = rows(store)
    web.update_metadata(fact.id, {"k": 2, "new": 1, "old": None})
    web.confirm(fact.id)
    web.confirm(fact.id)
    web.pin(fact.id)
    web.unpin(pinned.id)
    web.delete(gone.id)
    web.restore(back.id)
    web.tasks.update(task.id, "completed", note="done")
    plan = store.ledger.revert(source=WEB)
    assert not plan.conflicts
    plan.apply()
    assert rows(store) == before
    assert store.tasks.list()[0].status == "pending"


def test_what_was_changed_later_is_left_alone_unless_the_caller_decides(
    store: Store, web: Store
) -> None:
    first = web.add("Alice lives in Rome", subject="alice")
    newer = store.add("Alice lives in Oslo", subject="alice", supersedes=first.id)
    known = store.add("Bob likes tea", subject="bob", metadata={"a": 1})
    web.update_metadata(known.id, {"a": 2, "b": 1})
    store.update_metadata(known.id, {"c": 3})
    wrong = web.add("Carl is ill", subject="carl")
    plan = store.ledger.revert(source=WEB)
    assert [step.fact_id for step in plan.steps] == [wrong.id]
    assert [conflict.fact_id for conflict in plan.conflicts] == [first.id, known.id]
    assert plan.conflicts[0].reason == (
        f"it was superseded by fact {newer.id} in line 3 (user through library)"
    )
    plan.apply()
    assert store.get(known.id).metadata == {"a": 2, "b": 1, "c": 3}
    again = store.ledger.revert(source=WEB)
    assert not again.steps
    again.apply(decide={known.id: "undo", first.id: "leave"})
    assert store.get(known.id).metadata == {"a": 1, "c": 3}
    assert store.get(first.id).status == "superseded"
    assert texts(store) == ["Alice lives in Oslo", "Bob likes tea"]


def test_a_wrong_fact_that_a_later_one_relies_on_takes_its_chain_along(
    store: Store, web: Store
) -> None:
    old = store.add("Alice lives in Lisbon", subject="alice")
    wrong = web.add("Alice lives in Rome", subject="alice", supersedes=old.id)
    store.update_metadata(wrong.id, {"sure": True})
    plan = store.ledger.revert(source=WEB)
    assert (plan.steps, len(plan.conflicts)) == ((), 1)
    assert [step.action for step in plan.conflicts[0].steps] == ["delete", "reactivate"]
    plan.apply()
    assert texts(store) == ["Alice lives in Rome"]
    store.ledger.revert(source=WEB).apply(decide={wrong.id: "undo"})
    assert texts(store) == ["Alice lives in Lisbon"]


def test_decisions_are_checked(store: Store, web: Store) -> None:
    web.confirm(web.add("Alice lives in Rome", subject="alice").id)
    plan = store.ledger.revert(source=WEB)
    with pytest.raises(InvalidArgument, match="decide names fact 1, which has no conflict"):
        plan.apply(decide={1: "undo"})
    store.pin(1)
    plan = store.ledger.revert(source=WEB)
    with pytest.raises(InvalidArgument, match="must be one of leave, undo, not 'yes'"):
        plan.apply(decide={1: "yes"})
    assert texts(store) == ["Alice lives in Rome"]


def test_something_must_be_selected(store: Store) -> None:
    with pytest.raises(InvalidArgument, match="nothing is selected"):
        store.ledger.revert()
    with pytest.raises(InvalidArgument, match="is not the id of a run"):
        store.ledger.revert(run="yesterday")
    assert not store.ledger.revert(lines=[])


def test_a_line_that_does_not_exist_is_told(store: Store) -> None:
    fact = store.add("tea", subject="alice")
    store.episodes.add("hello", source="chat")
    lines = [fact.id]  # the first of both
    plan = store.ledger.revert(lines=[999, 999])
    assert (bool(plan), plan.missing) == (False, ("there is no line 999",))
    assert plan.to_dict()["missing"] == ["there is no line 999"]
    assert store.ledger.revert(acts=[998]).missing == ("there is no act 998",)
    both = store.ledger.revert(lines=[lines[0], 999])
    assert both.missing == ("there is no line 999",)
    assert both
    assert store.ledger.revert(lines=[lines[0]]).missing == ()
    narrowed = store.ledger.revert(lines=[lines[0]], source="web:x")
    assert narrowed.missing == (
        "line 1 is no change of a fact here that passes the other conditions",
    )
    of_episode = store.ledger.revert(lines=[2])
    assert of_episode.missing == ("line 2 is no change of a fact here",)
    foreign = store.within("other").ledger.revert(lines=[1])
    assert foreign.missing == ("line 1 is no change of a fact here",)
    assert store.ledger.revert(since="1h").missing == ()


def test_of_two_plans_for_the_same_facts_one_is_refused(store: Store, web: Store) -> None:
    web.add("Alice lives in Rome", subject="alice")
    first, second = store.ledger.revert(source=WEB), store.ledger.revert(source=WEB)
    assert first.digest == second.digest
    first.apply()
    after = rows(store)
    with pytest.raises(Conflict, match="changed after the plan was drawn up"):
        second.apply()
    assert rows(store) == after


def test_an_embedding_does_not_make_a_plan_outdated(open_store: OpenStore) -> None:
    store = open_store()
    store.within(source=WEB).add("Alice lives in Rome", subject="alice")
    plan = store.ledger.revert(source=WEB)
    store.file.embed_pending()
    assert plan.apply().steps


def test_a_failing_step_undoes_the_whole_act(
    store: Store, web: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(5):
        web.add(f"wrong {number}", subject="x")
    plan, before = store.ledger.revert(source=WEB), rows(store)
    take, calls = reverting._take, itertools.count()

    def failing(*arguments: Any) -> None:
        if next(calls) == 3:
            raise OSError("killed")
        take(*arguments)

    monkeypatch.setattr(reverting, "_take", failing)
    with pytest.raises(OSError, match="killed"):
        plan.apply()
    assert rows(store) == before
    monkeypatch.undo()
    assert len(plan.apply().lines) == 5


def test_a_run_and_a_time_select_what_was_done_then(open_store: OpenStore) -> None:
    store = open_store()
    store.add("first", subject="x")
    store.close()
    store = open_store()
    moment = clock.utc_now()
    second = store.add("second", subject="x")
    run = store.ledger.journal(second.id)[0].run
    assert [step.claim for step in store.ledger.revert(run=run).steps] == ["x: second"]
    assert [step.claim for step in store.ledger.revert(since=moment).steps] == ["x: second"]
    assert [step.claim for step in store.ledger.revert(since="2020-01-01").steps] == [
        "x: first",
        "x: second",
    ]
    assert not store.ledger.revert(since=clock.utc_now() + timedelta(hours=1))
    assert len(store.ledger.revert(actor="user").steps) == 2
    assert not store.ledger.revert(actor="user", source="nobody")


def test_a_run_is_found_although_the_clock_was_set_back(open_store: OpenStore) -> None:
    store = open_store()
    now = clock.utc_now()
    with clock.use(ManualClock(now - timedelta(hours=20))):
        fact = store.add("said in the past", subject="x")
    assert len(store.ledger.revert(run=store.ledger.journal(fact.id)[0].run).steps) == 1


def test_an_episode_and_a_source_select_the_facts_drawn_from_them(store: Store) -> None:
    episode = store.episodes.record("Rome, said the page", source="web:page")
    drawn = store.add("Alice lives in Rome", subject="alice", episode_id=episode.id)
    named = store.add("Alice likes ice", subject="alice", source="web:page")
    store.add("Alice is tall", subject="alice")
    assert [step.fact_id for step in store.ledger.revert(episode=episode.id).steps] == [drawn.id]
    assert [step.fact_id for step in store.ledger.revert(source="web:page").steps] == [
        drawn.id,
        named.id,
    ]
    store.ledger.revert(source="web:page").apply()
    assert texts(store) == ["Alice is tall"]
    assert store.episodes.get(episode.id).content == "Rome, said the page"


def test_other_owners_and_namespaces_are_left_alone(store: Store, web: Store) -> None:
    web.add("of nobody", subject="x")
    web.add("of ana", subject="x", user_id="ana")
    web.within("other").add("elsewhere", subject="x")
    old = web.add("before", subject="y", user_id="ana")
    web.add("after", subject="y", supersedes=old.id)
    claims = [step.claim for step in store.ledger.revert(source=WEB).steps]
    assert claims == ["x: of nobody", "y: after"]
    ana = store.of(user_id="ana").ledger.revert(source=WEB)
    assert "of nobody" not in str(ana.to_dict())
    assert len(store.of("all").ledger.revert(source=WEB).steps) == 4


def test_erased_facts_are_not_shown(store: Store, web: Store) -> None:
    fact = web.add("a secret", subject="x")
    web.add("no secret", subject="x")
    store.erase(fact.id)
    plan = store.ledger.revert(source=WEB)
    assert [step.claim for step in plan.steps] == ["x: no secret"]
    assert "a secret" not in str(plan.to_dict())
    plan.apply()
    assert texts(store) == []


def test_open_proposals_are_rejected_and_may_be_reopened(store: Store, web: Store) -> None:
    ids = [store.add(f"Bob likes {what}", subject="bob").id for what in ("tea", "green tea")]
    proposal = web.of().proposals.put_forward(ids, "Bob likes tea, green", {})
    done = store.ledger.revert(source=WEB).apply()
    assert store.proposals.get(proposal.id).state == "rejected"
    store.ledger.revert(lines=done.lines).apply()
    assert store.proposals.get(proposal.id).state == "open"


def test_an_accepted_consolidation_is_taken_apart(store: Store, web: Store) -> None:
    ids = [store.add(f"Bob likes {what}", subject="bob").id for what in ("tea", "green tea")]
    proposal = store.of().proposals.put_forward(ids, "Bob likes tea, green", {})
    web.proposals.accept(proposal.id)
    assert texts(store) == ["Bob likes tea, green"]
    accepted = store.proposals.get(proposal.id)
    done = store.ledger.revert(source=WEB).apply()
    assert texts(store) == ["Bob likes tea", "Bob likes green tea"]
    reopened = store.proposals.get(proposal.id)
    assert (reopened.state, reopened.new, reopened.content) == ("open", None, proposal.content)
    assert store.ledger.verify() == []
    store.ledger.revert(lines=done.lines).apply()
    again = store.proposals.get(proposal.id)
    assert (again.state, again.new, again.content) == ("accepted", accepted.new, accepted.content)
    assert texts(store) == ["Bob likes tea, green"]
    store.ledger.revert(source=WEB).apply()
    newest = store.proposals.accept(proposal.id).new
    assert newest is not None
    assert (newest.content, newest.id) == ("Bob likes tea, green", 4)
    assert store.ledger.verify() == []


def proposed(store: Store) -> tuple[int, int, int]:
    """Return a proposal to replace a fact by another, with both."""
    old = store.add("Ana lives in Rome", subject="ana")
    new = store.add("Ana lives in Oslo", subject="ana", source="web:z", supersedes=old.id)
    (proposal,) = store.proposals.list()
    return proposal.id, old.id, new.id


@pytest.mark.parametrize("by", ["source", "act", "supersede", "accept"])
def test_an_accepted_proposal_is_open_again(store: Store, web: Store, by: str) -> None:
    proposal, old, new = proposed(store)
    web.proposals.accept(proposal)
    lines = {line.kind: line.id for line in store.ledger.journal(old)}
    selecting: dict[str, Any] = {"source": WEB}
    if by == "act":
        selecting = {"acts": [lines["accept"]]}
    elif by != "source":
        selecting = {"lines": [lines[by]]}
    before = rows(store)
    plan = store.ledger.revert(**selecting)
    assert [(step.action, step.text) for step in plan.steps] == [
        ("reactivate", "is active again"),
        ("reopen", f"may be superseded: proposal {proposal} is open again"),
    ]
    done = plan.apply()
    assert [one.id for one in store.proposals.list()] == [proposal]
    assert {fact.id for fact in store.list()} == {old, new}
    assert store.proposals.get(proposal).decided_at is None
    assert store.ledger.verify() == []
    store.ledger.revert(lines=done.lines).apply()
    assert rows(store) == before
    assert store.proposals.get(proposal).state == "accepted"
    assert store.ledger.verify() == []


def test_a_proposal_stays_accepted_while_its_supersession_is_in_conflict(
    store: Store, web: Store
) -> None:
    proposal, old, new = proposed(store)
    web.proposals.accept(proposal)
    store.add("Ana lives in Bern", subject="ana", supersedes=new)
    plan = store.ledger.revert(source=WEB)
    assert (plan.steps, [one.fact_id for one in plan.conflicts]) == ((), [old])
    plan.apply()
    assert store.proposals.get(proposal).state == "accepted"
    store.ledger.revert(source=WEB).apply(decide={old: "undo"})
    assert store.proposals.get(proposal).state == "open"
    assert store.ledger.verify() == []


def test_a_proposal_that_was_made_and_accepted_by_the_selection_is_rejected(
    store: Store, web: Store
) -> None:
    ids = [store.add(f"Bob likes {what}", subject="bob").id for what in ("tea", "green tea")]
    proposal = web.of().proposals.put_forward(ids, "Bob likes tea, green", {})
    web.proposals.accept(proposal.id)
    before = rows(store)
    done = store.ledger.revert(source=WEB).apply()
    assert store.proposals.get(proposal.id).state == "rejected"
    assert store.ledger.verify() == []
    store.ledger.revert(lines=done.lines).apply()
    assert rows(store) == before
    assert store.ledger.verify() == []


def test_a_supersession_that_was_taken_back_does_not_return_with_an_import(
    store: Store, web: Store, open_store: OpenStore
) -> None:
    old = store.add("Alice lives in Lisbon", subject="alice")
    web.add("Alice lives in Rome", subject="alice", supersedes=old.id)
    export = [*store.transfer.export()]
    store.ledger.revert(source=WEB).apply()
    store.transfer.import_(export)
    assert texts(store) == ["Alice lives in Lisbon"]
    with memstore.open(":memory:", embedder=None) as other:
        other.transfer.import_(store.transfer.export())
        assert texts(other) == ["Alice lives in Lisbon"]
        (fact,) = other.list()
        assert not any(
            (line.evidence or {}).get("reverts") for line in other.ledger.journal(fact.id)
        )


def supports(store: Store) -> dict[int, list[tuple[str, str, str | None]]]:
    facts = store.of("all").list(active_only=False, include_deleted=True)
    return {
        fact.id: [
            (support.kind, support.through, support.source)
            for support in store.ledger.support(fact.id)
        ]
        for fact in facts
    }


@pytest.mark.parametrize("order", [[WEB, "web:y"], ["web:y", WEB], [None]])
def test_two_sources_of_one_fact_are_taken_back_in_any_order(
    store: Store, web: Store, order: list[str | None]
) -> None:
    old = store.add("Alice lives in Lisbon", subject="alice")
    web.add("Alice lives in Rome", subject="alice", supersedes=old.id)
    store.within(source="web:y").add("Alice lives in Rome", subject="alice", unless_known=True)
    web.update_metadata(2, {"seen": WEB})
    before = rows(store), supports(store)
    done = []
    for source in order:
        plan = (
            store.ledger.revert(source=source)
            if source
            else store.ledger.revert(lines=[2, 3, 4, 5])
        )
        assert not plan.conflicts
        done.append(plan.apply())
        if (source, len(done)) == (WEB, 1):  # the other one still says so
            assert texts(store) == ["Alice lives in Rome"]
            assert supports(store)[2] == [("restated", "web:y", None)]
            assert store.get(2).metadata == {}
    assert texts(store) == ["Alice lives in Lisbon"]
    assert (store.get(2).status, store.get(2).confirmed_count, supports(store)[2]) == (
        "deleted",
        0,
        [],
    )
    for one in reversed(done):
        store.ledger.revert(lines=one.lines).apply()
    assert (rows(store), supports(store)) == before
    assert store.ledger.verify() == []


def test_a_store_for_asyncio_takes_supports_back_too(store: Store, web: Store) -> None:
    web.add("Bob likes tea", subject="bob")
    store.add("Bob likes tea", subject="bob", unless_known=True)

    async def taken_back() -> list[str]:
        plan = await memstore.AsyncStore(store).ledger.revert(source=WEB)
        return [step.text for step in plan.steps]

    assert asyncio.run(taken_back()) == ["stays, it has other support"]


def test_a_confirmation_is_taken_back_whatever_came_later(store: Store, web: Store) -> None:
    fact = store.add("Bob likes tea", subject="bob")
    web.confirm(fact.id)
    last = store.within(source="chat").confirm(fact.id).last_confirmed_at
    plan = store.ledger.revert(source=WEB)
    assert ([step.text for step in plan.steps], plan.conflicts) == (["counts 1 confirmation"], ())
    plan.apply()
    assert (store.get(fact.id).confirmed_count, store.get(fact.id).last_confirmed_at) == (1, last)
    store.ledger.revert(source="chat").apply()
    assert (store.get(fact.id).confirmed_count, supports(store)[1]) == (
        0,
        [("said", "library", None)],
    )


def test_a_source_that_only_stored_the_same_again_is_taken_back(store: Store) -> None:
    store.add("Bob likes tea", subject="bob")
    store.add("Bob likes tea", subject="bob", source="web:z", unless_known=True)
    assert [step.action for step in store.ledger.revert(source="web:z").steps] == ["unconfirm"]
    store.ledger.revert(source="web:z").apply()
    assert (store.get(1).confirmed_count, supports(store)[1]) == (0, [("said", "library", None)])


def test_an_import_is_taken_back_whole(store: Store, open_store: OpenStore) -> None:
    old = store.add("Alice lives in Lisbon", subject="alice")
    store.add("Alice lives in Rome", subject="alice", supersedes=old.id)
    with memstore.open(":memory:", embedder=None) as other:
        mine = other.add("Bob is tall", subject="bob")
        start = clock.utc_now()
        other.transfer.import_(store.transfer.export())
        assert len(other.list()) == 2
        other.ledger.revert(since=start).apply()
        assert [fact.id for fact in other.list()] == [mine.id]


def test_the_selection_reads_no_json(store: Store, web: Store) -> None:
    web.add("x", subject="x")
    with store.file.engine.read() as transaction:
        where, values = line_filters.conditions(
            transaction, Selection(actor="user", episode=1, since=clock.utc_now())
        )
        of_source, _ = line_filters.conditions(transaction, Selection(source=WEB))
    assert "json" not in where.casefold()
    # Only confirmations name a source there, and a CASE keeps other lines from being parsed.
    assert of_source.count("json_valid") == 1
    assert values["first"] == 2


# -- properties --------------------------------------------------------------------------

ACTS = st.lists(
    st.tuples(
        st.sampled_from(
            "add again supersede replace confirm metadata pin unpin delete restore task "
            "status propose accept reject".split()
        ),
        st.sampled_from([None, WEB, "web:y"]),
        st.integers(0, 30),
        st.integers(0, 3),
    ),
    min_size=1,
    max_size=14,
)


def _act(store: Store, what: str, number: int, detail: int) -> None:
    """Do something to one of the facts, if its state allows it."""
    facts = store.list(active_only=False, include_deleted=True)
    if what == "add" or not facts:
        store.add(f"fact {len(facts)}", subject="x", metadata={"m": detail} if detail else None)
        return
    fact = facts[number % len(facts)]
    if what == "again":
        store.add(fact.content, subject="x", unless_known=True)
    is_plain = not is_task(fact.subject, fact.metadata)
    if what == "task":
        store.tasks.create(f"task {len(facts)}")
    elif what == "status" and not is_plain:
        store.tasks.update(fact.id, ("pending", "in_progress", "completed", "cancelled")[detail])
    elif what == "supersede" and is_plain:
        store.add(f"fact {len(facts)}", subject="x", supersedes=fact.id)
    elif what == "replace" and is_plain:
        store.supersede(fact.id, facts[(number + 1 + detail) % len(facts)].id)
    elif what == "metadata" and is_plain:
        store.update_metadata(fact.id, {"ab"[detail % 2]: detail or None})
    elif what == "propose":
        store.of().proposals.put_forward(
            [one.id for one in store.list(subject="x")][:2], f"both {len(facts)}", {}
        )
    elif what in ("accept", "reject"):
        for proposal in store.proposals.list():
            getattr(store.proposals, what)(proposal.id)
    elif what in ("confirm", "pin", "unpin", "delete", "restore"):
        getattr(store, what)(fact.id)


def run(store: Store, acts: list[Any]) -> None:
    for what, source, number, detail in acts:
        try:
            _act(store.within(source=source) if source else store, what, number, detail)
        except (memstore.MemstoreError, ValueError):
            continue  # its state does not allow it


@given(ACTS)
def test_without_conflicts_the_active_facts_are_those_of_the_journal_without_the_selection(
    acts: list[Any],
) -> None:
    with memstore.open(":memory:", embedder=None) as store:
        run(store, acts)
        plan = store.ledger.revert(source=WEB)
        if not plan.conflicts:
            expected = without(store, WEB), decided_without(store, WEB)
            plan.apply()
            states = {one.id: one.state for one in store.proposals.list(None)}
            assert (active(store), states) == expected
            assert store.ledger.verify() == []


@given(ACTS, st.data())
@settings(max_examples=60)
def test_taking_back_a_revert_gives_everything_back(acts: list[Any], data: st.DataObject) -> None:
    with memstore.open(":memory:", embedder=None) as store:
        run(store, acts)
        before, plan = rows(store), store.ledger.revert(source=WEB)
        chosen = {
            one.fact_id: data.draw(st.sampled_from(["undo", "leave"])) for one in plan.conflicts
        }
        done = plan.apply(decide=chosen)
        assert len(done.lines) == len(done.steps)
        again = store.ledger.revert(lines=done.lines)
        assert not again.conflicts
        again.apply()
        assert rows(store) == before
        assert store.file.doctor(deep=True) == []


SPEAKING = st.lists(
    st.tuples(
        st.sampled_from("add again again supersede confirm metadata pin propose reject".split()),
        st.sampled_from([None, WEB, "web:y"]),
        st.integers(0, 30),
        st.integers(0, 3),
    ),
    min_size=1,
    max_size=14,
)


@given(SPEAKING)
@settings(max_examples=40)
def test_two_sources_are_taken_back_in_any_order_or_at_once(acts: list[Any]) -> None:
    """As long as nothing is in conflict: then it is the caller who decides."""
    found = []
    for sources in ([WEB], ["web:y"], [WEB, "web:y"], ["web:y", WEB], []):
        with (
            clock.use(ManualClock(clock.from_text("2026-03-01T00:00:00.000000Z"))),
            memstore.open(":memory:", embedder=None) as store,
        ):
            run(store, acts)
            both = without(store, WEB, "web:y")
            lines = [
                line.id
                for fact in store.list(active_only=False, include_deleted=True)
                for line in store.ledger.journal(fact.id)
                if line.source in (WEB, "web:y")
            ]
            for source in sources or [None]:
                plan = (
                    store.ledger.revert(source=source)
                    if source
                    else store.ledger.revert(lines=lines)
                )
                if plan.conflicts:
                    return
                plan.apply()
            if len(sources) != 1:
                found.append((active(store), supports(store)))
                assert found[-1][0] == both
    assert found[0] == found[1] == found[2]
