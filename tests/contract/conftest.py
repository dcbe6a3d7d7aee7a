"""The engines that must fulfil the contract; each test here runs on every one of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeAlias

import pytest

from memstore.database.engine import Engine
from memstore.database.sqlite.engine import SqliteEngine

OpenEngine: TypeAlias = Callable[[], Engine]

ENGINES: dict[str, Callable[[Path], Engine]] = {
    "sqlite": lambda folder: SqliteEngine(folder / "contract.db"),
}
"""How each engine opens the database of one test, by name."""

ITEMS = """CREATE TABLE items
    (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL, data TEXT)"""
PARTS = "CREATE TABLE parts (id INTEGER PRIMARY KEY, item_id INTEGER NOT NULL REFERENCES items(id))"


@pytest.fixture(params=ENGINES)
def open_engine(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[OpenEngine]:
    """Opens the same database repeatedly, and closes it at the end."""
    opened: list[Engine] = []

    def open_() -> Engine:
        opened.append(ENGINES[request.param](tmp_path))
        return opened[-1]

    yield open_
    for engine in opened:
        engine.close()


@pytest.fixture
def engine(open_engine: OpenEngine) -> Engine:
    """A database with two tables: ``items``, and ``parts`` that belong to items."""
    engine = open_engine()
    with engine.write() as transaction:
        transaction.run(ITEMS)
        transaction.run(PARTS)
    return engine
