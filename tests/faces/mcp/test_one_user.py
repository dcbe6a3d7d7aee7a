"""A server for one user: no call reaches the memories of another, whatever tool it uses."""

from __future__ import annotations

from typing import Any, Final

import pytest

from memstore import Scope, Store
from memstore.faces.mcp import catalogue, distilling
from memstore.faces.mcp.protocol import Refused
from memstore.faces.mcp.tool import Tool, ToolError
from memstore.faces.mcp.tools import Tools

EVERY: Final = "facts,tasks,episodes,graph,learn"
TOOLS: Final = catalogue.offered(EVERY).tools
ANA: Final = Scope(user_id="ana")


def tool(name: str) -> Tool:
    return Tools(lambda: None)[TOOLS[name]]


def filled(schema: dict[str, Any]) -> object:
    """Return a value of a schema."""
    if choices := schema.get("enum"):
        return choices[0]
    kind = schema.get("type") or next((one["type"] for one in schema.get("anyOf", ())), "string")
    values: dict[str, object] = {
        "integer": 1, "number": 1.0, "boolean": False, "object": {}, "array": ["1"], "string": "1",
    }  # fmt: skip
    return values[kind]


def required(name: str) -> dict[str, Any]:
    schema = TOOLS[name].declaration["inputSchema"]
    return {one: filled(schema["properties"][one]) for one in schema.get("required", ())}


@pytest.mark.parametrize("name", TOOLS)
def test_every_tool_refuses_another_user(store: Store, name: str) -> None:
    with pytest.raises(ToolError, match="this access is one user's"):
        tool(name).call(
            lambda: store, required(name) | {"user_id": "bob"}, owner=ANA, confined=True
        )


def test_calls_for_an_agent_or_a_run_are_those_of_the_user(store: Store) -> None:
    store.add("Bob's gate code is 7714", subject="gate", user_id="bob", agent_id="x")
    search, keep = tool("memory_search"), tool("memory_store")
    given = {"content": "Ana's gate code is 1234", "subject": "gate", "agent_id": "x"}
    keep.call(lambda: store, given, owner=ANA, confined=True)
    asked = {"query": "gate code", "agent_id": "x"}
    answer = search.call(lambda: store, asked, owner=ANA, confined=True)
    assert [one["content"] for one in answer["facts"]] == ["Ana's gate code is 1234"]
    assert store.of(user_id="ana", agent_id="x").list()


def test_ids_of_other_users_are_not_found(store: Store) -> None:
    fact = store.add("Bob's gate code is 7714", subject="gate", user_id="bob")
    for name in ("memory_delete", "memory_history", "memory_confirm"):
        if name in TOOLS:
            with pytest.raises(ToolError):
                tool(name).call(lambda: store, {"id": fact.id}, owner=ANA, confined=True)
    assert store.get(fact.id).status == "active"


def test_the_prompt_that_distils_is_bound_too(store: Store) -> None:
    bound = catalogue.offered(EVERY)._replace(owners=ANA.ids, confined=True)
    with pytest.raises(Refused, match="another user"):
        distilling.text(bound, lambda: store, "", {"user_id": "bob"})
    assert "nothing to do" in distilling.text(bound, lambda: store, "", {"agent_id": "x"})
