"""Rejecting a proposal and deleting its newer fact are one act: only the older one is true."""

from __future__ import annotations

import pytest

from memstore import Conflict, Store


@pytest.fixture
def proposals(store: Store) -> list[int]:
    """Two proposals, each with an older and a newer fact."""
    for room in ("hall", "attic"):
        old = store.add(f"The {room} is green", subject=room)
        store.add(f"The {room} is red", subject=room, source="web:example.org", supersedes=old.id)
    return [one.id for one in store.proposals.list()]


def texts(store: Store) -> list[str]:
    return [fact.content for fact in store.list()]


def test_the_newer_fact_is_deleted_in_the_same_act(store: Store, proposals: list[int]) -> None:
    done = store.proposals.reject(proposals[0], remove=True)
    assert done.state == "rejected"
    assert texts(store) == ["The hall is green", "The attic is green", "The attic is red"]
    [act] = store.ledger.log(limit=1)
    assert {change.kind for change in act.changes} == {"reject", "delete"}
    store.of("all").ledger.revert(acts=[act.line]).apply()
    assert store.proposals.get(proposals[0]).state == "open"
    assert texts(store).count("The hall is red") == 1


def test_several_are_rejected_and_removed_in_one_act(store: Store, proposals: list[int]) -> None:
    done = store.proposals.decide("reject", [*proposals, 99], remove=True)
    assert [one.id for one in done.proposals] == proposals
    assert done.left == (99,)
    assert texts(store) == ["The hall is green", "The attic is green"]
    acts = {line.txn for fact in store.list() for line in store.ledger.journal(fact.id)}
    [last] = store.ledger.log(limit=1)
    assert last.line in acts


def test_a_consolidation_has_no_newer_fact_to_delete(store: Store) -> None:
    ids = [store.add(f"Ana likes {one}", subject="ana").id for one in ("tea", "figs")]
    proposal = store.proposals.put_forward(ids, "Ana likes tea and figs", {})
    with pytest.raises(Conflict, match="no newer fact"):
        store.proposals.reject(proposal.id, remove=True)
    assert store.proposals.decide("reject", [proposal.id], remove=True).left == (proposal.id,)
    assert store.proposals.get(proposal.id).state == "open"


def test_one_that_was_decided_is_left_alone(store: Store, proposals: list[int]) -> None:
    store.proposals.accept(proposals[0])
    with pytest.raises(Conflict):
        store.proposals.reject(proposals[0], remove=True)
    assert "The hall is red" in texts(store)
