"""What becomes of a proposal that one text should replace several facts, on another device."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
from tests.support.syncing import Shelf, Ticking, device_of, differences, sync

from memstore import Store
from memstore.domain import clock


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
