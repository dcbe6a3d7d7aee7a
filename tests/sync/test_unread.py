"""Which device's model reads a conversation: the one that recorded it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tests.support.syncing import Shelf, device_of, sync

from memstore import Memory, Store


def test_a_turn_is_read_where_it_was_recorded_whatever_others_did_to_it(
    open_store: Callable[..., Store], tmp_path: Path
) -> None:
    laptop, desktop = (open_store(tmp_path / f"{name}.db", embedder=None) for name in "ab")
    shelf = Shelf()

    def meet() -> None:
        for store in (laptop, desktop, laptop):
            sync(store, shelf.view().own(device_of(store)))

    turn = laptop.episodes.add("We moved to Naxos.", source="chat", thread="talk")
    meet()
    [there] = desktop.episodes.list()
    desktop.episodes.update(there.id, metadata={"room": "kitchen"}, tags=["home"])
    meet()
    assert laptop.episodes.get(turn.id).metadata == {"room": "kitchen"}
    assert Memory(laptop).portion().turns == (turn.id,)
    assert (Memory(desktop).portion().turns, desktop.status().unread) == ((), 0)
    Memory(laptop).mark_read(turn.id)
    meet()
    assert Memory(laptop).portion().turns == Memory(desktop).portion().turns == ()
