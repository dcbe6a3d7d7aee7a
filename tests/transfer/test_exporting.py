"""Exports are read in steps, and show one state whatever is written between them."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from tests.support.raw import raw

from memstore import NewFact, StorageError, Store
from memstore.database.engine import Transaction
from memstore.facts.batch import AddFact, MayReplace
from memstore.transfer import exporting

Write = Callable[[Store, int], object]

WRITES: tuple[Write, ...] = (
    lambda store, n: store.add(f"more {n}", subject="a"),
    lambda store, n: store.add(f"newer {n}", subject="a", supersedes=store.list()[0].id),
    lambda store, n: store.delete(store.list()[-1].id),
    lambda store, n: store.update_metadata(1 + n % 8, {"n": n}),
    lambda store, n: store.episodes.add(f"said {n}", source="test"),
    lambda store, n: store.episodes.update(1 + n % 3, metadata={"n": n}),
    lambda store, n: store.ledger.apply(
        [AddFact(fact=NewFact(content=f"maybe {n}", subject="a"),
                 precedence=MayReplace(store.list()[0].id, 0.5))]
    ),
    lambda store, n: store.graph.merge(f"name {n}", f"other {n}"),
)  # fmt: skip


class Written:
    """An engine that writes something after each read."""

    def __init__(self, store: Store, writes: Iterator[Callable[[], object]]) -> None:
        self.engine = store.file.engine
        self.scratch = self.engine.scratch
        self.store, self.writes = store, writes
        self.states: list[list[str]] = []
        """What each read could see."""

    @contextmanager
    def read(self) -> Iterator[Transaction]:
        self.states.append(list(self.store.transfer.export()))
        with self.engine.read() as transaction:
            yield transaction
        next(self.writes, int)()


@pytest.fixture
def filled(store: Store) -> Store:
    for n in range(1, 4):
        store.episodes.add(f"episode {n}", source="test")
    for n in range(1, 13):
        store.add(f"fact {n}", subject="a", episode_id=1 + n % 3)
    return store


@pytest.fixture
def small_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exporting, "STEP", 3)


def exported(engine: Written) -> list[str]:
    reader: Any = engine
    return list(exporting.export(reader, None))


@pytest.mark.usefixtures("small_steps")
@pytest.mark.parametrize("each", [1, 5])
@pytest.mark.parametrize("number", [1, 4, 9, 25])
def test_rows_written_between_steps_are_in_the_export(
    filled: Store, open_store: Callable[..., Store], number: int, each: int
) -> None:
    def write(n: int) -> Callable[[], object]:
        return lambda: [
            WRITES[(n + more) % len(WRITES)](filled, 10 * n + more) for more in range(each)
        ]

    engine = Written(filled, map(write, range(number)))
    lines = exported(engine)
    assert lines == engine.states[-1]
    target = open_store(":memory:", embedder=None)
    target.transfer.import_(lines)
    assert target.file.doctor() == []
    assert len(engine.states) > 6


@pytest.mark.usefixtures("small_steps")
@pytest.mark.parametrize(
    "erase",
    [
        lambda store: store.erase(2),
        lambda store: store.episodes.erase(1),
        lambda store: store.clear(),
    ],
)
@pytest.mark.parametrize("place", range(6))
def test_text_erased_between_steps_is_not_in_the_export(
    filled: Store, erase: Callable[[Store], object], place: int
) -> None:
    steps = [lambda: None] * place
    engine = Written(filled, iter([*steps, lambda: erase(filled)]))
    lines = exported(engine)
    assert lines == engine.states[-1] == list(filled.transfer.export())


def test_log_can_be_truncated_while_an_export_is_consumed(filled: Store) -> None:
    lines = filled.transfer.export()
    next(lines)
    filled.add("meanwhile", subject="a")
    with raw(filled.path) as file:
        assert file.execute("SELECT count(*) FROM memstore_facts").fetchone() == (13,)
        assert file.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone() == (0, 0, 0)
    assert not [line for line in lines if "meanwhile" in line]


def test_export_that_does_not_fit_on_disk_is_an_error(
    filled: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Full(io.BytesIO):
        def write(self, _: Any) -> int:
            raise OSError(28, "No space left on device")

        writelines = write  # type: ignore[assignment]

    monkeypatch.setattr(filled.file.engine, "scratch", Full)
    with pytest.raises(
        StorageError, match="cannot write the temporary file of an export: No space left"
    ):
        list(filled.transfer.export())
