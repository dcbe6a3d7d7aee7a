"""What becomes of a proposal that one text should replace several facts, on another device."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
from tests.support.syncing import Shelf, Ticking, device_of, differences, sync

from memstore import Store
from memstore.domain import clock
from memstore.domain.records import NewFact
from memstore.facts.batch import AddFact, MayReplace


@pytest.mark.parametrize("is_accepted", [False, True])
@pytest.mark.parametrize("skew", [0, -7])
def test_what_is_taken_back_of_one_text_for_several_facts_is_taken_back_elsewhere(
    open_store: Callable[..., Store], tmp_path: Path, skew: int, is_accepted: bool
) -> None:
    a, b = (open_store(tmp_path / f"{name}.db", embedder=None) for name in "ab")
    shelf, tick = Shelf(), Ticking()

    def meet() -> None:
        for store in (a, b, a):
            sync(store, shelf.view().own(device_of(store)))
        assert [*differences([a, b])] == []

    with clock.use(tick):
        facts = [a.add("tea at four", subject="tea")]
        tick.skew = timedelta(seconds=skew)  # the id of the second is lower, if it was set back
        facts.append(a.add("tea at 4 pm", subject="tea"))
        tick.skew = timedelta(0)
        ids = [fact.id for fact in facts]
        proposal = a.proposals.put_forward(ids, "Tea is at four.", {"why": "the same"})
        meet()
        if is_accepted:
            a.proposals.accept(proposal.id)
            meet()
        a.ledger.revert(acts=[a.ledger.log(limit=1)[0].line]).apply()
        meet()
        [there] = b.proposals.list(state="open" if is_accepted else "rejected")
        assert (there.content, there.new) == ("Tea is at four.", None)
        if is_accepted:
            b.proposals.accept(there.id)
            meet()
            assert [fact.content for fact in a.list()] == ["Tea is at four."]
        assert a.ledger.verify() == b.ledger.verify() == []


def test_facts_of_a_decided_proposal_that_was_imported_go_on_changing(
    open_store: Callable[..., Store], tmp_path: Path
) -> None:
    origin, a, b = (open_store(tmp_path / f"{name}.db", embedder=None) for name in ("o", "a", "b"))
    shelf = Shelf()
    old = origin.add("tea at four", subject="tea")
    a.transfer.import_([*origin.transfer.export()])
    newer = NewFact(content="tea at five", subject="tea")
    origin.ledger.apply([AddFact(fact=newer, precedence=MayReplace(old.id))])
    origin.proposals.reject(origin.proposals.list()[0].id)
    a.transfer.import_([*origin.transfer.export()])
    for change in (a.pin, a.delete):
        for store in (a, b):
            done = sync(store, shelf.view().own(device_of(store)))
            assert (done.ignored, done.waits) == ((), {})
        assert [*differences([a, b])] == []
        change(next(one.id for one in a.list() if one.uuid == old.uuid))
    assert [one.state for one in b.proposals.list(state="rejected")] == ["rejected"]


def test_a_decision_holds_where_the_same_was_put_forward_later(
    open_store: Callable[..., Store], tmp_path: Path
) -> None:
    stores = [open_store(tmp_path / f"{name}.db", embedder=None) for name in "abcd"]
    shelf = Shelf()

    def meet(store: Store, *but: Store) -> None:
        view = shelf.view()
        for name in [*view.seen]:
            if name.partition("/")[0] in {device_of(one) for one in but}:
                del view.seen[name]
        sync(store, view.own(device_of(store)))

    with clock.use(Ticking()):
        one, other, decider, late = stores
        one.add("tea at four", subject="tea")
        for store in stores:
            meet(store)
        for store, hour in ((one, "five"), (other, "six")):
            store.add(f"tea at {hour}", subject="tea", supersedes=store.list()[0].id)
            meet(store, one, other)
        meet(decider)
        decider.proposals.reject(decider.proposals.list()[0].id)
        meet(late, decider)
        for store in (*stores, *stores):
            meet(store)
        assert [*differences(stores)] == []
        assert [len(store.proposals.list(state="rejected")) for store in stores] == [1] * 4
