"""Two exports of one memory that went on in two files: in any order, any number of times."""

from __future__ import annotations

import random
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
from tests.support.syncing import (
    KINDS,
    Shelf,
    Ticking,
    act,
    device_of,
    differences,
    state,
    sync,
)

from memstore import Store
from memstore.database import journal
from memstore.domain import clock
from memstore.domain.records import Head

BEFORE = "add add add same task episode pin metadata confirm expiry".split()
SINCE = KINDS
SKEWS = (0, 0, 600, -90_000)


def head(store: Store) -> Head:
    with store.file.engine.read() as transaction:
        return journal.head(transaction)


@pytest.mark.parametrize("seed", range(25))
def test_the_order_of_two_exports_does_not_matter(
    seed: int, open_store: Callable[..., Store], tmp_path: Path
) -> None:
    rnd, tick = random.Random(seed), Ticking()
    with clock.use(tick):
        base, one, other, *targets = (
            open_store(tmp_path / f"{name}.db", embedder=None) for name in "abcdef"
        )
        for _ in range(12):
            act(rnd, base, BEFORE)
        first = [*base.transfer.export()]
        for store in (one, other, *targets):
            store.transfer.import_(first)
        for _ in range(12):
            place = rnd.randrange(2)
            tick.skew = timedelta(seconds=SKEWS[(seed + place) % len(SKEWS)])
            act(rnd, (one, other)[place], SINCE)
        exports = [[*store.transfer.export()] for store in (one, other)]
        for target, order in zip(targets, ((0, 1), (1, 0), (1, 0, 1, 0)), strict=True):
            for number in order:
                target.transfer.import_(exports[number])
        states = [state(target) for target in targets]
        assert states[0] == states[1] == states[2]
        changed = sum(state(store) != state(base) for store in (one, other))
        assert not changed or states[0] != state(base)
        for target in targets:
            before = head(target)
            assert target.transfer.import_(exports[0]).changed == 0
            assert head(target) == before
            assert target.ledger.verify() == []
            assert target.file.doctor(deep=True) == []
        one.transfer.import_(exports[1])
        other.transfer.import_(exports[0])
        assert state(one) == state(other) == states[0]


@pytest.mark.parametrize("seed", range(15))
def test_what_an_import_brought_goes_on_to_other_devices(
    seed: int, open_store: Callable[..., Store], tmp_path: Path
) -> None:
    rnd, tick, shelf = random.Random(seed), Ticking(), Shelf()
    with clock.use(tick):
        one, apart, device = (open_store(tmp_path / f"{name}.db", embedder=None) for name in "abc")
        for _ in range(12):
            act(rnd, one, BEFORE)
        sync(one, shelf.view())
        sync(device, shelf.view())
        apart.transfer.import_([*one.transfer.export()])
        for _ in range(14):
            act(rnd, rnd.choice((one, apart, device)), SINCE)
        one.transfer.import_([*apart.transfer.export()])
        for store in (one, device, one, device):
            done = sync(store, shelf.view().own(device_of(store)))
            assert (done.ignored, done.waits) == ((), {})
        assert [*differences([one, device])] == []
        assert one.ledger.verify() == device.ledger.verify() == []
