"""Whose store an adapter works on, and the framework's name in the journal."""

from pathlib import Path

import pytest

import memstore
from memstore import AccessDenied, StoreClosed
from memstore.adapters.frameworks import Framework
from memstore.adapters.opened import Opened
from memstore.errors import InvalidArgumentType


def test_a_callers_store_stays_open_and_the_journal_names_the_framework() -> None:
    with memstore.open(":memory:", embedder=None) as store:
        opened = Opened(store, "framework")
        opened.store.add("Ana lives in Porto.", subject="ana")
        opened.close()
        assert [act.source for act in store.ledger.log()] == ["framework"]


def test_a_store_opened_from_a_path_is_closed(tmp_path: Path) -> None:
    opened = Opened(tmp_path / "memory.db", "framework", "team")
    assert opened.store.namespace == "team"
    opened.close()
    with pytest.raises(StoreClosed):
        opened.store.count()


def test_a_confined_store_stays_confined() -> None:
    with memstore.open(":memory:", embedder=None) as store:
        confined = store.within("team", confined=True)
        with pytest.raises(AccessDenied):
            Opened(confined, "framework", "others")
        with pytest.raises(AccessDenied):
            Opened(confined, "framework").store.within("others")


def test_anything_else_is_refused() -> None:
    with pytest.raises(InvalidArgumentType, match=r"must be an open memstore\.Store or the path"):
        Opened(7, "framework")  # type: ignore[arg-type]


def test_a_missing_framework_is_named_with_its_versions() -> None:
    error = Framework("langgraph", "0.4", "1.0").missing("memstore.adapters.langgraph")
    assert str(error) == (
        "memstore.adapters.langgraph needs langgraph: pip install langgraph "
        "(tested with 0.4 to 1.0)"
    )
