"""An answer says by itself that its order is provisional, while the index is being built."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from tests.support.command_line import CommandLine, cli_fixture  # noqa: F401
from tests.support.mcp_tools import offered

from memstore import Store
from memstore.faces.mcp.calls import CallStyle
from memstore.faces.mcp.calls import drawn as written
from memstore.learn.memory import Memory
from memstore.search.index import index as module
from memstore.search.index.index import Index


@pytest.fixture
def building(
    open_store: Callable[..., Store], monkeypatch: pytest.MonkeyPatch
) -> Callable[[], Store]:
    """Opens a store whose indexes are never finished."""
    with open_store(embedder=None) as store:
        store.add("The quay is open", subject="quay")
        store.episodes.add("We met at the quay", source="chat")
    monkeypatch.setattr(module, "AT_ONCE", 0)
    monkeypatch.setattr(Index, "_work_behind", lambda _: None)
    return lambda: open_store(embedder=None)


def answers(store: Store) -> dict[str, bool]:
    return {
        "search": store.search("quay").provisional,
        "classic": store.search("quay", ranking="classic").provisional,
        "episodes": store.episodes.search("quay").provisional,
        "newest": store.episodes.search(None).provisional,
        "recall": store.recall("quay", max_tokens=100).provisional,
        "memory": Memory(store, None).search("quay").provisional,  # type: ignore[arg-type]
    }


def test_an_answer_is_provisional_while_the_index_is_built(building: Callable[[], Store]) -> None:
    with building() as store:
        remote = store.file.engine.is_remote
        assert answers(store) == {
            "search": True,
            "classic": remote,  # the words of a file are found and ranked alike
            "episodes": True,
            "newest": False,
            "recall": True,
            "memory": True,
        }


def test_an_answer_with_the_index_is_not(open_store: Callable[..., Store]) -> None:
    with open_store(embedder=None) as store:
        store.add("The quay is open", subject="quay")
        assert not any(answers(store).values())


def test_tools_say_so(building: Callable[[], Store]) -> None:
    tools = offered("facts,episodes")
    told = "the order may still change: the index is being built"
    calls: list[tuple[str, dict[str, Any]]] = [
        ("memory_search", {"query": "quay"}),
        ("memory_search", {"query": "quay", "max_tokens": 100}),
        ("search", {"query": "quay"}),
    ]
    for name, given in calls:
        answer = tools[name].call(building, given)
        assert "the index is being built" in answer["provisional"]
        assert told in written(answer, CallStyle(given)), name
