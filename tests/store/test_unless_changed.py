"""Changes that rest on what was read: done only while the facts are as they were."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable

import pytest

from memstore import AsyncStore, FactChanged, NotFound, Store

CHANGES: dict[str, Callable[[Store, int], object]] = {
    "confirm": lambda store, one: store.confirm(one),
    "pin": lambda store, one: store.pin(one),
    "metadata": lambda store, one: store.update_metadata(one, {"room": "attic"}),
    "delete": lambda store, one: store.delete(one),
    "add": lambda store, one: store.add("it is green", subject="kettle", supersedes=one),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_change_is_refused_if_the_fact_was_changed_since(store: Store, name: str) -> None:
    fact = store.add("it is blue", subject="kettle")
    seen = store.file.head().line
    store.update_metadata(fact.id, {"room": "kitchen"})
    before = store.file.head()
    with pytest.raises(FactChanged) as caught:
        CHANGES[name](store.unless_changed([fact.id], seen), fact.id)
    assert (caught.value.fact_id, caught.value.since) == (fact.id, seen)
    assert store.file.head() == before
    CHANGES[name](store.unless_changed([fact.id], before.line), fact.id)
    assert store.file.head() != before


def test_a_fact_that_the_change_only_rests_on_counts(store: Store) -> None:
    one, other = (store.add(text, subject="kettle") for text in ("it is blue", "it whistles"))
    seen = store.file.head().line
    store.delete(other.id)
    with pytest.raises(FactChanged):
        store.unless_changed([one.id, other.id], seen).pin(one.id)
    store.unless_changed([one.id], seen).pin(one.id)


def test_what_changes_no_fact_does_not_count(store: Store) -> None:
    old = store.add("it is blue", subject="kettle", source="user")
    new = store.add("it is red", subject="kettle", source="web:example.org", supersedes=old.id)
    (proposal,) = store.proposals.list()
    seen = store.file.head().line
    store.proposals.reject(proposal.id)
    store.add("the pan is new", subject="pan")
    store.unless_changed([old.id, new.id], seen).confirm(old.id)


def test_tasks_and_the_same_store_for_others_are_bound_too(store: Store) -> None:
    task = store.tasks.create("paint the fence")
    seen = store.file.head().line
    store.tasks.update(task.id, "in_progress")
    bound = store.unless_changed([task.id], seen)
    for one in (bound, bound.within(source="web")):
        with pytest.raises(FactChanged):
            one.tasks.update(task.id, "completed")
    with pytest.raises(NotFound):
        bound.get(99_999)


def test_of_writers_that_read_the_same_only_one_changes_it(store: Store) -> None:
    fact = store.add("it is blue", subject="kettle")
    seen = store.file.head().line
    start = threading.Barrier(8)
    done: list[str] = []

    def work(number: int) -> None:
        bound = store.unless_changed([fact.id], seen)
        start.wait()
        try:
            bound.update_metadata(fact.id, {f"writer {number}": True})
            done.append("done")
        except FactChanged:
            done.append("refused")

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert sorted(done) == ["done"] + ["refused"] * 7
    assert len(store.get(fact.id).metadata) == 1


def test_it_works_for_asyncio(store: Store) -> None:
    shared = AsyncStore(store)

    async def work() -> None:
        fact = await shared.add("it is blue", subject="kettle")
        seen = (await shared.file.head()).line
        await shared.pin(fact.id)
        with pytest.raises(FactChanged):
            await shared.unless_changed([fact.id], seen).delete(fact.id)

    asyncio.run(work())


# -- several proposals at once ---------------------------------------------------------------------


def questions(store: Store) -> list[int]:
    """Store three questions, two of them about the same old fact."""
    kettle, pan = (store.add(f"the {one} is blue", subject=one) for one in ("kettle", "pan"))
    for old, text in ((kettle, "red"), (kettle, "green"), (pan, "new")):
        store.add(
            f"the {old.subject} is {text}",
            subject=old.subject,
            source="web:example.org",
            supersedes=old.id,
        )
    return [one.id for one in store.proposals.list()]


def test_several_proposals_are_one_act(store: Store) -> None:
    first, second, third = questions(store)
    before = store.file.head()
    decided = store.proposals.decide("accept", [first, second, third, third, 999])
    assert [one.id for one in decided.proposals] == [first, third]
    assert decided.left == (second, 999)  # the first has superseded its old fact
    assert [one.state for one in decided.proposals] == ["accepted", "accepted"]
    (act,) = store.ledger.log(after=before.line)
    store.ledger.revert(acts=[act.line]).apply()
    assert [one.id for one in store.proposals.list()] == [first, second, third]
    assert store.proposals.decide("reject", [first, second]).left == ()
    assert store.proposals.decide("reject", [first, third]).left == (first,)
    assert store.proposals.count() == 0


def test_several_proposals_are_decided_only_as_they_were_read(store: Store) -> None:
    first, _, third = questions(store)
    proposal = store.proposals.get(first)
    seen = store.file.head().line
    store.pin(proposal.old.id)
    bound = store.unless_changed([proposal.old.id], seen).proposals
    with pytest.raises(FactChanged):
        bound.decide("accept", [third, first])
    assert store.proposals.count() == 3
    with pytest.raises(ValueError, match="accept or reject"):
        store.proposals.decide("maybe", [first])
