"""Memories of other agents' programs: mcp-memory-service, claude-mem, Letta and LangGraph."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.support.raw import raw

from memstore import MemstoreError, NewFact, Store
from memstore.domain.arguments import MAX_NAME
from memstore.importing import likely_source


def written(path: Path, value: Any) -> Path:
    path.write_text(json.dumps(value), encoding="utf-8")
    return path


def database(path: Path, script: str, **rows: list[tuple[Any, ...]]) -> Path:
    with raw(path) as file:
        file.executescript(script)
        for table, values in rows.items():
            for one in values:
                file.execute(f"INSERT INTO {table} VALUES ({','.join('?' * len(one))})", one)
        file.commit()
    return path


def counts(report: Any) -> dict[str, int]:
    return {kind: left.count for kind, left in report.left_out.items()}


def twice(store: Store, source: str, path: Path, **more: Any) -> Any:
    """Import a file, check that it did not change and that a second time does nothing."""
    before = path.read_bytes()
    assert likely_source(path) == source
    report = store.transfer.import_from(source, path, **more)
    head = store.file.head()
    again = store.transfer.import_from(source, path, **more)
    assert (again.facts, again.episodes, again.known) == (0, 0, report.facts + report.episodes)
    assert store.file.head() == head
    assert path.read_bytes() == before
    assert store.file.doctor() == []
    return report


# -- mcp-memory-service ----------------------------------------------------------------------

MEMORIES = """CREATE TABLE memories (id INTEGER PRIMARY KEY, content_hash TEXT UNIQUE NOT NULL,
    content TEXT NOT NULL, tags TEXT, memory_type TEXT, metadata TEXT, created_at REAL,
    updated_at REAL, deleted_at REAL);"""
TEA = (1, "h1", "Ana likes tea", "food, drinks", "preference", '{"a": 1}', 1.7e9, None, None)
GONE = (2, "h2", "Ana hates tea", None, None, None, 1.6e9, None, 1.65e9)


def test_rows_of_mcp_memory_service_become_facts(store: Store, tmp_path: Path) -> None:
    file = database(tmp_path / "m.db", MEMORIES, memories=[TEA, GONE])
    assert twice(store, "mcp-memory-service", file).facts == 2
    [fact] = store.list()
    assert (fact.content, fact.subject, fact.category) == ("Ana likes tea", "food", "preference")
    assert fact.metadata["tags"] == ["food", "drinks"]
    assert (fact.metadata["a"], fact.created_at.year) == (1, 2023)
    deleted = store.get(2)
    assert deleted is not None
    assert deleted.deleted_at is not None
    assert deleted.deleted_at.year == 2022


def test_a_memory_that_was_deleted_there_since_is_deleted_here(
    store: Store, tmp_path: Path
) -> None:
    file = database(tmp_path / "m.db", MEMORIES, memories=[TEA])
    store.transfer.import_from("mcp-memory-service", file)
    with raw(file) as rows:
        rows.execute("UPDATE memories SET deleted_at = 1.75e9")
        rows.commit()
    assert store.transfer.import_from("mcp-memory-service", file).removed == 1
    assert store.list() == []


def test_the_export_of_mcp_memory_service_is_the_same(store: Store, tmp_path: Path) -> None:
    exported = {
        "export_metadata": {"total_memories": 1},
        "memories": [
            {
                "content": TEA[2],
                "content_hash": "h1",
                "tags": ["food", "drinks"],
                "memory_type": "preference",
                "metadata": {"a": 1},
                "created_at": 1.7e9,
            }
        ],
    }
    file = written(tmp_path / "e.json", exported)
    assert store.transfer.import_from("mcp-memory-service", file).facts == 1
    base = database(tmp_path / "m.db", MEMORIES, memories=[TEA])
    assert store.transfer.import_from("mcp-memory-service", base).known == 1


# -- claude-mem ------------------------------------------------------------------------------

OBSERVED = {
    "id": 1,
    "memory_session_id": "s1",
    "project": "shop",
    "type": "decision",
    "title": "Prices",
    "facts": json.dumps(["Prices are in euros", "Prices include tax"]),
    "narrative": "We decided on prices.",
    "concepts": "[]",
    "created_at_epoch": 1_700_000_000_000,
    "created_at": "2023-11-14T22:13:20Z",
}
SUMMARY = {
    "memory_session_id": "s1",
    "project": "shop",
    "request": "Fix the prices",
    "learned": "They were wrong",
    "created_at_epoch": 1_700_000_001_000,
}
PROMPT = {
    "content_session_id": "c1",
    "prompt_text": "Fix it",
    "created_at_epoch": 1_699_999_999_000,
}
SESSION = {"content_session_id": "c1", "memory_session_id": "s1", "project": "shop"}
EXPORT = {
    "observations": [OBSERVED],
    "summaries": [SUMMARY],
    "prompts": [PROMPT],
    "sessions": [SESSION],
}


def of_rows(path: Path, older: bool = False) -> Path:
    """Write the export as tables, also in the layout with the sessions' older names."""
    names = {"memory_session_id": "sdk_session_id", "content_session_id": "claude_session_id"}
    tables = {
        "observations": OBSERVED,
        "session_summaries": SUMMARY,
        "user_prompts": PROMPT,
        "sdk_sessions": SESSION,
    }
    with raw(path) as file:
        for table, row in tables.items():
            columns = [names.get(name, name) if older else name for name in row]
            file.execute(f"CREATE TABLE {table} ({', '.join(columns)})")
            marks = ", ".join("?" * len(row))
            file.execute(f"INSERT INTO {table} VALUES ({marks})", tuple(row.values()))
        file.commit()
    return path


@pytest.mark.parametrize("older", [False, True])
def test_claude_mem_s_tables_become_facts_and_episodes(
    store: Store, tmp_path: Path, older: bool
) -> None:
    report = twice(store, "claude-mem", of_rows(tmp_path / "c.db", older))
    assert (report.facts, report.episodes) == (2, 3)
    facts = store.list()
    assert {one.content for one in facts} == {"Prices are in euros", "Prices include tax"}
    assert {(one.subject, one.category, one.thread) for one in facts} == {
        ("shop", "decision", "s1")
    }
    episodes = {one.content: one for one in store.episodes.list()}
    assert {one.thread for one in episodes.values()} == {"s1"}
    assert episodes["Fix it"].speaker == "user"
    assert "Request: Fix the prices\nLearned: They were wrong" in episodes
    assert store.transfer.import_from("claude-mem", written(tmp_path / "e.json", EXPORT)).known == 5


def test_projects_are_namespaces_on_request(store: Store, tmp_path: Path) -> None:
    report = store.file.import_from("claude-mem", of_rows(tmp_path / "c.db"))
    assert report.namespaces == {"shop": 5}


# -- Letta -----------------------------------------------------------------------------------

PACKED = '{"type": "user_message", "message": "Hi"}'
AGENT_FILE = {
    "created_at": "2025-06-01T00:00:00Z",
    "agents": [
        {
            "id": "agent-0",
            "name": "Sam",
            "block_ids": ["block-0"],
            "secrets": {"KEY": "hunter2"},
            "tool_exec_environment_variables": {"TOKEN": "hunter2"},
            "messages": [
                {
                    "id": "message-0",
                    "role": "user",
                    "content": [
                        {"type": "text", "text": '{"type": "user_message", "message": "Hi"}'}
                    ],
                    "created_at": "2025-05-01T00:00:00Z",
                },
                {
                    "id": "message-1",
                    "role": "assistant",
                    "content": [{"type": "text", "text": "They said hi"}],
                    "tool_calls": [
                        {"function": {"name": "send_message", "arguments": '{"message": "Hello"}'}}
                    ],
                    "created_at": "2025-05-01T00:00:01Z",
                },
                {"id": "message-2", "role": "system", "content": "You are Sam"},
            ],
        }
    ],
    "blocks": [{"id": "block-0", "label": "human", "value": "Likes tea"}],
    "tools": [{"name": "t"}],
}


def test_an_agent_file_becomes_blocks_and_messages(store: Store, tmp_path: Path) -> None:
    file = written(tmp_path / "sam.af", AGENT_FILE)
    report = twice(store, "letta", file)
    assert counts(report) == {"hidden messages": 1, "reasoning": 1, "tools": 1}
    [fact] = store.list()
    assert (fact.content, fact.subject, fact.category) == ("Likes tea", "Sam", "human")
    said = {one.content: one.speaker for one in store.episodes.list()}
    assert said == {"Hi": "user", "Hello": "assistant"}
    assert "hunter2" not in "\n".join(store.transfer.export())


def test_an_older_agent_file_is_read(store: Store, tmp_path: Path) -> None:
    agent: dict[str, Any] = AGENT_FILE["agents"][0]  # type: ignore[index, assignment]
    older = {
        "agent_type": "memgpt_agent",
        "core_memory": AGENT_FILE["blocks"],
        "messages": agent["messages"],
        "name": "Sam",
        "tool_exec_environment_variables": [{"key": "TOKEN", "value": "hunter2"}],
    }
    report = twice(store, "letta", written(tmp_path / "sam.af", older))
    assert (report.facts, report.episodes) == (1, 2)
    assert "hunter2" not in "\n".join(store.transfer.export())


def test_a_block_that_changed_supersedes(store: Store, tmp_path: Path) -> None:
    file = written(tmp_path / "sam.af", AGENT_FILE)
    store.transfer.import_from("letta", file)
    block = {"id": "block-0", "label": "human", "value": "Likes coffee"}
    written(file, {**AGENT_FILE, "created_at": "2025-07-01T00:00:00Z", "blocks": [block]})
    store.transfer.import_from("letta", file)
    [fact] = store.list()
    assert fact.content == "Likes coffee"
    assert len(store.history(fact.id)) == 2


# -- LangGraph -------------------------------------------------------------------------------

STORE = """CREATE TABLE store (prefix text NOT NULL, key text NOT NULL, value text NOT NULL,
    created_at TIMESTAMP, updated_at TIMESTAMP, expires_at TIMESTAMP, ttl_minutes REAL,
    PRIMARY KEY (prefix, key)); CREATE TABLE store_migrations (v INTEGER PRIMARY KEY);"""
AT = "2025-01-01 00:00:00"


def items(*values: tuple[str, Any]) -> list[tuple[Any, ...]]:
    return [("users.ana", key, json.dumps(value), AT, AT, None, None) for key, value in values]


def test_items_of_langgraph_become_facts(store: Store, tmp_path: Path) -> None:
    rows = items(
        ("k1", {"kind": "Memory", "content": {"content": "Likes tea"}}),
        ("k2", {"content": "Lives in Lyon"}),
        ("k3", {"a": [1, "é"]}),
    )
    file = database(tmp_path / "s.db", STORE, store=rows, store_migrations=[(4,)])
    report = twice(store, "langgraph", file)
    assert (report.facts, report.left_out) == (3, {})
    found = {one.content: one for one in store.list()}
    assert set(found) == {"Likes tea", "Lives in Lyon", '{"a": [1, "é"]}'}
    fact = found["Likes tea"]
    assert (fact.subject, fact.category) == ("users/ana", "Memory")
    assert fact.external_key == "langgraph:users.ana..k1"  # by which the adapter finds it
    assert fact.metadata["imported"]["key"] == "k1"
    assert fact.metadata["imported"]["namespace"] == "users.ana"
    assert found['{"a": [1, "é"]}'].metadata["value"] == {"a": [1, "é"]}


def test_an_item_that_changed_supersedes(store: Store, tmp_path: Path) -> None:
    file = database(tmp_path / "s.db", STORE, store=items(("k", {"content": "Likes tea"})))
    store.transfer.import_from("langgraph", file)
    with raw(file) as rows:
        rows.execute(
            "UPDATE store SET value = ?, updated_at = '2025-02-01'",
            ('{"content": "Likes coffee"}',),
        )
        rows.commit()
    store.transfer.import_from("langgraph", file)
    [fact] = store.list()
    assert (fact.content, len(store.history(fact.id))) == ("Likes coffee", 2)
    assert fact.external_key == "langgraph:users.ana..k"
    store.keys.put(
        [NewFact(content="Likes milk", subject="users/ana", external_key=fact.external_key)]
    )
    assert store.transfer.import_from("langgraph", file).facts == 0
    assert [one.content for one in store.list()] == ["Likes milk"]


def test_what_the_adapter_cannot_name_gets_no_external_key(store: Store, tmp_path: Path) -> None:
    long = "x" * 600
    rows = [(prefix, key, json.dumps({"content": f"text of {key}"}), AT, AT, None, None)
            for prefix, key in (("a..b", "k1"), ("y" * 430, "k2"), ("a", long))]  # fmt: skip
    store.transfer.import_from("langgraph", database(tmp_path / "s.db", STORE, store=rows))
    keys = {fact.content: fact.external_key for fact in store.list()}
    assert keys["text of k1"] is keys["text of k2"] is None
    assert len(keys[f"text of {long}"]) <= MAX_NAME
    [hashed] = store.list(external_key_prefix="langgraph:a..")
    assert hashed.metadata["key"] == long


# -- damage ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("source", "value"),
    [("claude-mem", EXPORT), ("letta", AGENT_FILE)],
    ids=["claude-mem", "letta"],
)
def test_every_truncation_is_refused(store: Store, tmp_path: Path, source: str, value: Any) -> None:
    whole = json.dumps(value).encode()
    file = tmp_path / "export"
    head = store.file.head()
    for end in range(0, len(whole), 5):
        file.write_bytes(whole[:end])
        with pytest.raises(MemstoreError):
            store.transfer.import_from(source, file)
    assert store.file.head() == head


@pytest.mark.parametrize("source", ["mcp-memory-service", "langgraph", "claude-mem"])
def test_damaged_rows_are_named(store: Store, tmp_path: Path, source: str) -> None:
    file = tmp_path / "d.db"
    if source == "mcp-memory-service":
        bad = (3, "h3", b"\xff".decode("latin-1"), None, None, "{", 1e9, None, None)
        database(file, MEMORIES, memories=[TEA, bad])
    elif source == "langgraph":
        database(
            file, STORE, store=[*items(("k", {"content": "x"})), ("p", "q", "{", AT, AT, None, 1)]
        )
    else:
        of_rows(file)
        with raw(file) as rows:
            rows.execute("UPDATE observations SET facts = '[1'")
            rows.commit()
    with pytest.raises(MemstoreError, match="not JSON; nothing was imported"):
        store.transfer.import_from(source, file)
    assert store.list() == []
    assert (
        store.transfer.import_from(source, file, skip_damaged=True)
        .left_out["damaged records"]
        .count
        == 1
    )
