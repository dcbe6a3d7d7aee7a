"""Pages of a small memory, with somebody signed in."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.pages import Pages

import memstore
from memstore import Store


@pytest.fixture(autouse=True)
def _own_data_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("XDG_DATA_HOME", "LOCALAPPDATA"):
        monkeypatch.setenv(name, str(tmp_path / "data"))


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Store]:
    """A store for words only, written by an agent."""
    with memstore.open(tmp_path / "memory.db", embedder=None, actor="agent", source="mcp") as store:
        yield store


@pytest.fixture
def pages(memory: Store) -> Pages:
    """The pages of the store, with its user signed in by a code."""
    pages = Pages(memory)
    assert pages.enter().status_code == 303
    return pages
