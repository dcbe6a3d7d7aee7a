"""What rests on distrusted sources, as tools show it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from tests.support import mcp_tools

from memstore import Store

TOOLS = mcp_tools.offered()


@pytest.fixture
def words(open_store: Callable[..., Store]) -> Store:
    store = open_store(embedder=None)
    store.add("The port is 5432", subject="staging", source="web:a.org/x")
    store.sources.distrust("web:a.org")
    return store


@pytest.fixture
def call(words: Store) -> Callable[..., Any]:
    return lambda tool, **arguments: TOOLS[tool].call(lambda: words, arguments)


def test_tools_leave_it_out(call: Callable[..., Any]) -> None:
    assert call("memory_search", query="port staging").get("facts", []) == []
    assert call("memory_list").get("facts", []) == []
    assert call("memory_status")["distrusted"] == 1


def test_the_history_says_that_a_fact_is_distrusted(call: Callable[..., Any], words: Store) -> None:
    (fact,) = call("memory_history", id=1)["facts"]
    assert (fact["status"], fact["from"]) == ("distrusted", "web:a.org/x")
    words.add("The port is 5499", subject="staging", supersedes=1)
    first, second = call("memory_history", id=1)["facts"]
    assert (first["status"], "status" in second) == ("superseded, distrusted", False)


def test_a_tool_that_repeats_it_brings_it_back(call: Callable[..., Any], words: Store) -> None:
    done = call("memory_store", content="The port is 5432", subject="staging")
    assert done["id"] == 1
    assert words.get(1).status == "active"


def test_no_tool_changes_whom_the_file_trusts() -> None:
    assert not [name for name in TOOLS if "trust" in name]
