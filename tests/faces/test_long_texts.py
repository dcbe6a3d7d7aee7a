"""Every text argument has a limit, in each interface; the error names the argument."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.support import mcp_tools

from memstore import Memory, NewFact, Store
from memstore.domain.arguments import MAX_QUERY
from memstore.errors import Explained, TransferError
from memstore.faces.mcp.tool import ToolError


class Silent:
    """A language model that must not be called."""

    model = "silent"

    def generate_json(self, *_: object, **__: object) -> Any:
        raise AssertionError("it was asked")


SETS = "facts,tasks,episodes,graph,learn"
OFFERED = mcp_tools.offered(SETS, generator=lambda: Silent())
HUGE = "word " * 800_000
UNBOUNDED = {("add_memory", "content"), ("memory_add", "content"), ("memory_extract", "text")}
"""Texts of any length: they are recorded or read in chunks."""

CALLS: dict[str, Callable[[Store], object]] = {
    "query": lambda store: store.search(HUGE),
    "query of a batch": lambda store: store.search_batch(["a", HUGE]),
    "query of episodes": lambda store: store.episodes.search(HUGE),
    "query of memories": lambda store: Memory(store).search(HUGE, user_id="u"),
    "subject": lambda store: store.search("a", subject=HUGE),
    "category": lambda store: store.list(category=HUGE),
    "content": lambda store: store.exists(HUGE, subject="s"),
    "subject of exists": lambda store: store.exists("a", subject=HUGE),
    "subject of history": lambda store: store.history(subject=HUGE),
    "key": lambda store: store.list(filters={HUGE: 1}),
    "value": lambda store: store.list(filters={"key": HUGE}),
    "namespaces": lambda store: store.search("a", namespaces=[HUGE]),
    "scope": lambda store: store.of(user_id=HUGE).list(),
    "created_after": lambda store: store.episodes.list(created_after=HUGE),
    "valid_at": lambda store: store.add("a", subject="s", valid_at=HUGE),
    "source": lambda store: store.episodes.list(source=HUGE),
    "tags": lambda store: store.episodes.list(tags=[HUGE]),
    "entity": lambda store: store.graph.get(HUGE),
    "note": lambda store: store.tasks.create("a", scope="user", project=HUGE),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS.keys())
def test_the_library_refuses_a_huge_text(
    open_store: Callable[..., Store], call: Callable[[Store], object]
) -> None:
    with pytest.raises(ValueError, match="4,000,000 characters long; the limit is") as caught:
        call(open_store())
    assert isinstance(caught.value, Explained)
    assert len(str(caught.value)) < 300


def test_the_longest_allowed_query_is_answered(open_store: Callable[..., Store]) -> None:
    store = open_store()
    fact = store.add("the kettle is blue", subject="kettle")
    query = ("kettle " * MAX_QUERY)[:MAX_QUERY]
    assert [hit.fact.id for hit in store.search(query)] == [fact.id]


def texts() -> list[tuple[str, str]]:
    """Every argument of every tool that takes a text."""
    found = []
    for tool in OFFERED.values():
        for name, schema in tool.declaration["inputSchema"]["properties"].items():
            kinds = [schema, *schema.get("anyOf", [])]
            if any(kind.get("type") == "string" and "enum" not in kind for kind in kinds):
                found.append((tool.name, name))
    return found


MINIMAL: dict[str, Any] = {
    "content": "c", "subject": "s", "query": "q", "source": "chat", "name": "n", "id": 1,
    "old_id": 1, "new_id": 2, "metadata": {"a": 1}, "scope": "user", "status": "completed",
}  # fmt: skip


def test_every_text_argument_of_every_tool_has_a_limit(open_store: Callable[..., Store]) -> None:
    store = open_store()
    store.episodes.add("said", source="chat")
    assert len(texts()) > 25
    for tool, name in texts():
        if (tool, name) in UNBOUNDED:
            continue
        needed = OFFERED[tool].declaration["inputSchema"].get("required", [])
        given = {key: MINIMAL[key] for key in needed if key in MINIMAL} | {name: HUGE}
        with pytest.raises(ToolError) as caught:
            OFFERED[tool].call(lambda: store, given)
        told = str(caught.value)
        assert name in told, (tool, name, told)
        assert len(told) < 700


WIDE = "茶" * 400_000
"""Fewer characters than a fact may have, and more bytes."""


def test_a_fact_has_a_limit_of_bytes_at_every_door(open_store: Callable[..., Store]) -> None:
    store = open_store()
    fact = store.add("tea", subject="ana")
    tool = OFFERED["memory_store"]
    doors: list[Callable[[], object]] = [
        lambda: store.add(WIDE, subject="ana"),
        lambda: store.add_many(
            [{"content": "ok", "subject": "b"}, {"content": WIDE, "subject": "b"}]
        ),
        lambda: store.add(WIDE, subject="ana", supersedes=fact.id),
        lambda: store.keys.put([NewFact(content=WIDE, subject="ana", external_key="k")]),
        lambda: store.tasks.create(WIDE, scope="user"),
        lambda: tool.call(lambda: store, {"content": WIDE, "subject": "ana"}),
    ]
    for door in doors:
        with pytest.raises(
            (ValueError, ToolError), match="1,200,000 bytes long in UTF-8; the limit"
        ):
            door()
    assert [one.content for one in store.list()] == ["tea"]
    assert store.add(WIDE, subject="ana", unsearched=True).content == WIDE
    assert store.episodes.add(WIDE, source="s").content in WIDE  # kept in parts


def test_an_import_refuses_a_fact_of_too_many_bytes(
    open_store: Callable[..., Store], tmp_path: Path
) -> None:
    store = open_store()
    store.add("tea", subject="ana")
    lines = [line.replace('"tea"', f'"{WIDE}"') for line in store.transfer.export()]
    with pytest.raises(TransferError, match="1,200,000 bytes long in UTF-8"):
        open_store(tmp_path / "other.db").transfer.import_(lines)
