"""The tool set ``graph``: entities and relations for agents."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.support import mcp_tools

import memstore
from memstore.faces.mcp import answers
from memstore.faces.mcp.tool import ToolError

TOOLS = mcp_tools.offered("graph")
NAMES = {"memory_graph_entities", "memory_graph_neighbours"}

Call = Callable[..., Any]


@pytest.fixture
def store() -> Iterator[memstore.Store]:
    with memstore.open(":memory:", embedder=None) as opened:
        opened.add("Alice Smith works at Globex Corporation", subject="Alice Smith")
        opened.add("Bob Jones works at Globex Corporation", subject="Bob Jones")
        yield opened


@pytest.fixture
def call(store: memstore.Store) -> Call:
    return lambda tool, **given: TOOLS[tool].call(lambda: store, given)


def test_the_set_is_off_by_default_and_read_only() -> None:
    assert set(TOOLS) == NAMES == set(mcp_tools.offered("graph", read_only=True))
    assert NAMES.isdisjoint(mcp_tools.offered())
    assert "memory_graph_neighbours" in mcp_tools.instructions(TOOLS)
    assert all(tool.declaration["annotations"]["readOnlyHint"] for tool in TOOLS.values())


def test_the_documentation_lists_the_tools_with_their_arguments() -> None:
    page = (Path(__file__).parents[3] / "docs" / "mcp.md").read_text(encoding="utf-8")
    for name, tool in TOOLS.items():
        schema = tool.declaration["inputSchema"]
        takes = ", ".join(
            one if one in schema.get("required", ()) else f"{one}?" for one in schema["properties"]
        )
        assert re.search(rf"^\| `{name}` \| `{re.escape(takes)}` \|", page, re.MULTILINE)


def test_unbuilt_graph_names_the_command_that_builds_it(call: Call) -> None:
    assert call("memory_graph_entities") == {
        "note": answers.NOTE,
        "entities": [],
        "hint": "the graph was never built: `memstore graph build` builds it",
    }
    with pytest.raises(ToolError, match="Build the graph: memstore graph build"):
        call("memory_graph_neighbours", name="Alice Smith")


def test_entities_are_paged_and_dated(store: memstore.Store, call: Call) -> None:
    store.graph.build()
    whole = call("memory_graph_entities")
    assert whole["note"] == answers.NOTE
    assert {one["name"] for one in whole["entities"]} >= {"Alice Smith", "Globex Corporation"}
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", whole["built"])
    assert "changed_since" not in whole
    first = call("memory_graph_entities", limit=1)
    assert first["entities"] == whole["entities"][:1]
    assert (first["more"], first["next_offset"]) == (len(whole["entities"]) - 1, 1)
    rest = call("memory_graph_entities", offset=1)
    assert rest["entities"] == whole["entities"][1:]
    store.add("Carol Young works at Globex Corporation", subject="Carol Young")
    assert call("memory_graph_entities")["changed_since"] == 1


def test_neighbours_come_with_the_facts_behind_them(store: memstore.Store, call: Call) -> None:
    store.graph.build()
    near = call("memory_graph_neighbours", name="alice smith")
    assert near["entity"]["name"] == "Alice Smith"
    (globex,) = (one for one in near["neighbours"] if one["name"] == "Globex Corporation")
    assert globex["distance"] == 1
    (relation, *_) = globex["relations"]
    assert {relation["source"], relation["target"]} == {"Alice Smith", "Globex Corporation"}
    (fact,) = relation["facts"]
    assert (fact["id"], fact["content"]) == (1, "Alice Smith works at Globex Corporation")
    assert fact["created_at"].endswith("Z")
    far = call("memory_graph_neighbours", name="Alice Smith", depth=2)
    assert "Bob Jones" in {one["name"] for one in far["neighbours"] if one["distance"] == 2}


def test_an_unknown_name_is_quoted_as_typed(store: memstore.Store, call: Call) -> None:
    store.graph.build()
    told = r"no entity 'api_key'\. Use memory_graph_entities to find the name\."
    with pytest.raises(ToolError, match=told):
        call("memory_graph_neighbours", name="api_key")


def test_answers_are_capped(store: memstore.Store, call: Call) -> None:
    for number in range(60):
        store.add(f"Alice Smith works at Firm{number} Limited, {'x' * 900}", subject="Alice Smith")
    store.graph.build()
    answer = call("memory_graph_neighbours", name="Alice Smith", limit=60)
    assert answers.room_of(answer["neighbours"]) < answers.WHOLE_CHARACTERS * 1.2
    assert answer["left_out"] == 60 - len(answer["neighbours"])
    for one in answer["neighbours"]:
        for relation in one["relations"]:
            assert all(len(fact["content"]) <= 500 for fact in relation["facts"])
