"""Random histories on several devices: whatever the carrier does, their memories end equal."""

from __future__ import annotations

import random
from contextlib import ExitStack
from datetime import timedelta
from pathlib import Path

import pytest
from tests.support.syncing import KINDS, Shelf, Ticking, act, device_of, differences, sync

import memstore
from memstore import Store
from memstore.domain import clock

SKEWS = [0, 0, 600, -90_000, 4 * 365 * 86_400]
"""What clocks are wrong by, in seconds."""


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "seed" in metafunc.fixturenames:
        metafunc.parametrize("seed", range(metafunc.config.getoption("--histories")))


def test_histories_end_equal(seed: int, tmp_path: Path) -> None:
    rnd = random.Random(seed)
    tick = Ticking()
    with clock.use(tick), ExitStack() as stack:
        number = 2 + seed % 4
        stores = [
            stack.enter_context(
                memstore.open(tmp_path / f"{i}.db", embedder=None, durability="normal")
            )
            for i in range(number)
        ]
        skews = [timedelta(seconds=rnd.choice(SKEWS)) for _ in stores]
        shelf = Shelf()

        def meet(store: Store, *, whole: bool) -> None:
            sync(store, shelf.view(None if whole else rnd).own(device_of(store)))

        for _ in range(14):
            i = rnd.randrange(number)
            tick.skew = skews[i]
            for _ in range(rnd.randrange(1, 5)):
                act(rnd, stores[i], KINDS)
            if rnd.random() < 0.5:
                meet(stores[i], whole=False)
        for _ in range(number + 2):
            for store, skew in zip(stores, skews, strict=True):
                tick.skew = skew
                meet(store, whole=True)
        assert [*differences(stores)] == []
        assert [finding for store in stores for finding in store.ledger.verify()] == []
