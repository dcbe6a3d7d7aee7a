"""Values that models and proxies fill in for optional arguments mean that they are left out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from tests.support.mcp_tools import offered

from memstore.faces.mcp.learn import Learning
from memstore.faces.mcp.tool import TIMES
from memstore.faces.mcp.tools import SETS

if TYPE_CHECKING:
    from memstore import Store

EVERY: dict[str, Any] = {name: one.tool for name, one in offered(",".join(SETS)).items()}
EVERY |= {one.name: one for one in Learning(lambda: None).tools()}

EMPTY: tuple[Any, ...] = ("", "  ", "\n", 0, 0.0, "0", [], {}, "[]", "{}")

WORDS = ("null", "None", "undefined", "NULL")

MEANT = {
    ("offset", int): (0, 0.0, "0"),
    ("context", int): (0, 0.0, "0"),
    ("min_relevance", float): (0, 0.0, "0"),
    ("min_similarity", float): (0, 0.0, "0"),
    ("search_alpha", float): (0, 0.0, "0"),
    ("tag_boost", float): (0, 0.0, "0"),
}
"""Numbers of which 0 is one."""

KEPT = {
    ("update_episode", "tags"): ([], "[]"),  # clears
    ("update_episode", "expired_at"): ("", "  ", "\n"),  # removes the expiry
}
"""Arguments of which an empty value has a meaning."""

OPTIONAL = [
    (tool, name)
    for tool in EVERY.values()
    for name, one in tool._arguments.items()
    if not one.required
]


def required(tool: Any) -> dict[str, Any]:
    """Values for the arguments that a tool must be given."""
    given = {"id": 1, "old_id": 1, "new_id": 2, "messages": "hi", "status": "completed"}
    return {name: given.get(name, "user") for name, one in tool._arguments.items() if one.required}


def is_meant(tool: Any, name: str, value: Any) -> bool:
    """Whether this argument takes the value, and something else than its default comes of it."""
    if any(value == one and name == number for (number, _), ones in MEANT.items() for one in ones):
        return not isinstance(value, list | dict)
    kept = KEPT.get((tool.name, name), ())
    if any(value == one and type(value) is type(one) for one in kept):
        return True
    one = tool._arguments[name]
    if one.is_text:
        return isinstance(value, str) and bool(value.strip())
    if bool in one.kind.types:
        return value in (0, "0") and not isinstance(value, list | dict)
    return (dict in one.kind.types and value in ({}, "{}")) or (
        list in one.kind.types and value in ([], "[]")
    )


def test_the_table_is_about_every_tool_and_owner() -> None:
    assert len(EVERY) >= 19
    assert {"user_id", "agent_id", "run_id"} <= {name for _, name in OPTIONAL}
    assert len(OPTIONAL) > 100


@pytest.mark.parametrize(("tool", "name"), OPTIONAL, ids=lambda one: getattr(one, "name", one))
def test_an_empty_value_is_as_if_left_out(tool: Any, name: str) -> None:
    given = required(tool)
    plain = tool.read(given)
    for value in EMPTY:
        read = tool.read(given | {name: value})
        if is_meant(tool, name, value):
            # An empty object or list, false, and 0 are what the argument says.
            assert read[name] is not None or plain[name] is None
        else:
            assert read == plain, (tool.name, name, value)


@pytest.mark.parametrize(("tool", "name"), OPTIONAL, ids=lambda one: getattr(one, "name", one))
def test_a_word_for_nothing_is_left_out_where_no_text_is_taken(tool: Any, name: str) -> None:
    given, one = required(tool), tool._arguments[name]
    plain = tool.read(given)
    for word in WORDS:
        if one.is_text and not one.is_choice and name not in TIMES:
            assert tool.read(given | {name: word})[name] == word  # may be a name
        else:
            assert tool.read(given | {name: word}) == plain


def test_schemas_say_nothing_of_it() -> None:
    for tool in EVERY.values():
        assert "null" not in str(tool.declaration["inputSchema"].get("required", ""))


def filled(tool: Any, **given: Any) -> dict[str, Any]:
    """A call in which every optional argument that is not given has an empty value of its type."""
    empties: dict[str, Any] = {}
    for name, one in tool._arguments.items():
        if one.required or name in given:
            continue
        types = one.kind.types
        if (tool.name, name) in KEPT:
            continue
        if bool in types:
            empties[name] = one.default
        elif list in types:
            empties[name] = []
        elif dict in types:
            empties[name] = {}
        elif str in types:
            empties[name] = ""
        elif one.default not in (None, 0) or name not in {number for number, _ in MEANT}:
            empties[name] = 0
    return empties | given


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("memory_store", {"content": "Kim likes sushi", "subject": "kim"}),
        ("memory_search", {"query": "sushi"}),
        ("memory_list", {}),
        ("memory_history", {"id": 1}),
        ("memory_status", {}),
        ("memory_task_create", {"content": "Buy tea", "scope": "user"}),
        ("memory_task_list", {}),
        ("memory_task_update", {"id": 2, "status": "completed"}),
        ("add_memory", {"content": "hello", "source": "chat"}),
        ("search", {"query": "hello"}),
        ("get_episodes", {}),
        ("memory_graph_entities", {}),
        ("memory_graph_neighbours", {"name": "Kim"}),
    ],
)
def test_a_call_with_every_argument_filled_in_does_what_the_short_one_does(
    store: Store, name: str, given: dict[str, Any]
) -> None:
    store.add("Kim likes sushi", subject="kim")
    store.tasks.create("Buy rice", scope="user")
    store.episodes.add("hello there", source="chat")
    store.graph.build()
    tool = EVERY[name]
    with_all = tool.call(lambda: store, filled(tool, **given))
    assert "error" not in with_all
    if tool.reads:
        assert with_all == tool.call(lambda: store, given)


def test_an_empty_value_that_has_a_meaning_keeps_it(store: Store) -> None:
    said = store.episodes.add("hello", source="chat", tags=["a"])
    store.episodes.update(said.id, expired_at="2030-01-01T00:00:00Z")
    update = EVERY["update_episode"]
    update.call(lambda: store, {"id": said.id, "tags": "", "metadata": {"k": 1}})
    kept = store.episodes.get(said.id)
    assert ([*kept.tags], kept.metadata) == (["a"], {"k": 1})
    update.call(lambda: store, {"id": said.id, "tags": [], "expired_at": ""})
    changed = store.episodes.get(said.id)
    assert ([*changed.tags], changed.expired_at) == ([], None)
