"""What `memstore.open` takes."""

from __future__ import annotations

from pathlib import Path

import pytest

import memstore

PRAGMA = {1: "normal", 2: "full"}


@pytest.mark.parametrize(
    ("given", "durability"),
    [
        ({}, "full"),
        ({"durability": "full"}, "full"),
        ({"durability": "normal"}, "normal"),
        ({"synchronous": "FULL"}, "full"),
        ({"synchronous": "NORMAL"}, "normal"),
        ({"synchronous": "NORMAL", "durability": "normal"}, "normal"),
    ],
)
def test_durability_has_two_names(path: Path, given: dict[str, str], durability: str) -> None:
    with memstore.open(path, embedder=None, **given) as store:  # type: ignore[arg-type]
        assert store.status().durability == durability
        with store._file.engine.write() as transaction:
            assert PRAGMA[transaction.scalar("PRAGMA synchronous")] == durability


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"durability": "FULL"}, "durability must be full or normal, not 'FULL'"),
        ({"synchronous": "full"}, "synchronous must be FULL or NORMAL, not 'full'"),
        (
            {"synchronous": "FULL", "durability": "normal"},
            "synchronous 'FULL' contradicts durability 'normal'",
        ),
    ],
)
def test_what_makes_no_sense_is_refused(path: Path, given: dict[str, str], message: str) -> None:
    with pytest.raises(memstore.InvalidArgument) as caught:
        memstore.open(path, embedder=None, **given)  # type: ignore[arg-type]
    assert str(caught.value) == message
    assert not path.exists()
