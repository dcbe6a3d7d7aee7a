"""Why a fact is believed, as a tool tells it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from tests.support import mcp_tools

from memstore import Store
from memstore.faces.mcp import answers
from memstore.faces.mcp.calls import CallStyle
from memstore.faces.mcp.calls import drawn as written
from memstore.faces.mcp.tool import ToolError

TOOLS = mcp_tools.offered()


@pytest.fixture
def words(open_store: Callable[..., Store]) -> Store:
    return open_store(embedder=None)


@pytest.fixture
def call(words: Store) -> Callable[..., Any]:
    return lambda tool, **arguments: TOOLS[tool].call(lambda: words, arguments)


def test_history_with_why_explains_the_fact(call: Callable[..., Any], words: Store) -> None:
    old = words.add("The port is 5432", subject="staging")
    words.add("The port is 5499", subject="staging", supersedes=old.id)
    answer = call("memory_history", id=2, why=True)
    assert [fact["id"] for fact in answer["facts"]] == [1, 2]
    assert answer["why"] == str(words.ledger.explain(2)).splitlines()
    text = written(answer, CallStyle({"id": 2, "why": True}))
    assert "\n".join(answer["why"]) in text
    assert "why" not in call("memory_history", id=2)


@pytest.mark.parametrize("arguments", [{"subject": "staging"}, {"id": "e1"}])
def test_why_needs_the_id_of_a_fact(
    call: Callable[..., Any], words: Store, arguments: dict[str, Any]
) -> None:
    words.add("The port is 5432", subject="staging")
    words.episodes.record("The port is 5432")
    with pytest.raises(ToolError, match="why explains one fact"):
        call("memory_history", why=True, **arguments)


def test_why_of_other_owners_facts_is_not_found(call: Callable[..., Any], words: Store) -> None:
    words.add("Ana's", subject="s", user_id="ana")
    with pytest.raises(ToolError, match="there is no fact 1"):
        call("memory_history", id=1, why=True)
    assert call("memory_history", id=1, why=True, user_id="ana")["why"]


def test_long_explanations_are_cut_in_the_middle(call: Callable[..., Any], words: Store) -> None:
    words.add("A fact", subject="s")
    for _ in range(100):
        words.pin(1)
        words.unpin(1)
    lines = call("memory_history", id=1, why=True)["why"]
    whole = str(words.ledger.explain(1)).splitlines()
    assert (lines[:2], lines[-1]) == (whole[:2], whole[-1])
    assert lines[2] == f"({len(whole) - len(lines) + 1} more left out)"
    assert len(answers.to_text(lines)) < answers.EXPLANATION_CHARACTERS + 1_000
