"""What tools say of an earlier moment."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from tests.support import mcp_tools

from memstore import Store
from memstore.faces.mcp.tool import ToolError

TOOLS = mcp_tools.offered()


@pytest.fixture
def words(open_store: Callable[..., Store]) -> Store:
    return open_store(embedder=None)


@pytest.fixture
def call(words: Store) -> Callable[..., Any]:
    old = words.add("The port is 5432", subject="staging")
    words.episodes.add("everybody was surprised by that port", source="chat")
    words.add("The port is 5499", subject="staging", supersedes=old.id)
    return lambda tool, **arguments: TOOLS[tool].call(lambda: words, arguments)


def ids(answer: Any) -> list[int]:
    return [fact["id"] for fact in answer["facts"]]


def test_search_list_and_history_answer_as_of_a_moment(call: Callable[..., Any]) -> None:
    found = call("memory_search", query="port", as_of="op:2")
    assert ids(found) == [1]
    assert found["facts"][0].get("status") != "superseded"
    assert found["hint"].startswith("as of 20")
    assert len(call("memory_search", query="port", as_of="op:2")["said"]) == 1
    assert "said" not in call("memory_search", query="port", as_of="op:1")
    assert ids(call("memory_list", as_of="op:1")) == [1]
    assert ids(call("memory_list")) == [2]
    assert ids(call("memory_history", id=1, as_of="op:1")) == [1]
    recalled = call("memory_search", query="port", max_tokens=100, as_of="op:1")["recalled"]
    assert "5432" in recalled
    assert "5499" not in recalled


@pytest.mark.parametrize("tool", ["memory_search", "memory_list", "memory_history"])
@pytest.mark.parametrize("moment", ["soon", "op:99", "2999-01-01"])
def test_a_moment_that_is_none_is_refused_by_its_name(
    call: Callable[..., Any], tool: str, moment: str
) -> None:
    needed = {"memory_search": {"query": "x"}, "memory_history": {"id": 1}}.get(tool, {})
    with pytest.raises(ToolError, match=r"as_of|there is no line 99"):
        call(tool, as_of=moment, **needed)


def test_before_the_first_line_the_memory_is_empty(call: Callable[..., Any]) -> None:
    found = call("memory_search", query="port", as_of="1999-01-01")
    assert (ids(found), "said" in found) == ([], False)
    assert ids(call("memory_list", as_of="1999-01-01")) == []
    with pytest.raises(ToolError, match="fact 1 was stored after 1999-01-01"):
        call("memory_history", id=1, as_of="1999-01-01")


def test_why_explains_a_fact_as_of_a_moment(call: Callable[..., Any]) -> None:
    then = call("memory_history", id=1, why=True, as_of="op:1")
    assert "fact 1 is active" in json.dumps(then)
    assert "superseded" not in json.dumps(then)
    assert "superseded by fact 2" in json.dumps(call("memory_history", id=1, why=True))
    with pytest.raises(ToolError, match="give its id"):
        call("memory_history", subject="staging", why=True)
