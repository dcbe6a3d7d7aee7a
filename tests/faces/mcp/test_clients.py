"""The client's name is the source of its changes in the journal."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from memstore import Store
from memstore.faces.hosts.catalogue import HOSTS
from memstore.faces.mcp import catalogue, clients, protocol
from memstore.faces.mcp.methods import Methods
from memstore.faces.mcp.session import ClientSession

ENVELOPE = {protocol.REVISION_KEY: "2026-07-28", protocol.CAPABILITIES_KEY: {}}


@pytest.fixture
def server(open_store: Callable[..., Store]) -> Store:
    """The store as the server opens it."""
    return open_store(embedder=None, actor="agent", source="mcp")


class Source:
    def __init__(self, store: Store) -> None:
        self._store = store

    def start(self) -> None:
        pass

    def store(self) -> Store:
        return self._store


def answers(store: Store, *messages: tuple[str, dict[str, Any]]) -> list[Any]:
    """Send a session's messages; return what it answers."""
    found: list[Any] = []
    session = ClientSession(Methods(catalogue.offered()), Source(store), found.append)
    for number, (method, params) in enumerate(messages):
        message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
        session.receive(json.dumps(message).encode())
    session.settle(20)
    return found


def added(store: Store, *messages: tuple[str, dict[str, Any]]) -> list[str]:
    """Send a session's messages; return the sources of the facts that were added."""
    answers(store, *messages)
    facts = store.list(active_only=False)
    return [
        line.source
        for fact in facts
        for line in store.ledger.journal(fact.id)
        if line.kind == "add"
    ]


def hello(name: str) -> tuple[str, dict[str, Any]]:
    client = {"name": name, "version": "1"}
    return "initialize", {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": client,
    }


def store_call(**meta: Any) -> tuple[str, dict[str, Any]]:
    arguments = {"content": f"tea number {len(meta)}", "subject": "tea"}
    params: dict[str, Any] = {"name": "memory_store", "arguments": arguments}
    return "tools/call", params | ({"_meta": meta} if meta else {})


def test_changes_have_the_client_of_the_handshake_as_their_source(server: Store) -> None:
    assert added(server, hello("codex-mcp-client"), store_call()) == ["codex"]


def test_changes_have_the_client_of_each_request_as_their_source(server: Store) -> None:
    named = {protocol.CLIENT_KEY: {"name": "gemini-cli", "version": "1"}}
    answers(server, store_call(**ENVELOPE, **named), store_call(**ENVELOPE))
    # Calls are answered at once, so either may be stored first.
    stored = {
        fact.content: line.source
        for fact in server.list()
        for line in server.ledger.journal(fact.id)
        if line.kind == "add"
    }
    with_client, without = (f"tea number {len(ENVELOPE) + more}" for more in (1, 0))
    assert stored == {with_client: "gemini-cli", without: "mcp"}


def test_a_session_begins_with_what_other_hosts_changed(server: Store) -> None:
    server.episodes.add("hi", source="codex", thread="s", speaker="user", tags=["session"])
    added(server, hello("codex-mcp-client"), store_call())
    added(server, hello("claude-code"), store_call(x=1, y=2))
    assert "Since then: claude-code added 1" in server.briefing(agent="codex").text


@pytest.mark.parametrize(
    ("client", "source"),
    [
        ("claude-code", "claude-code"),
        ("codex-mcp-client", "codex"),
        ("gemini-cli-mcp-client-memstore", "gemini-cli"),
        ("cursor-vscode", "cursor"),
        ("claude-ai", "claude-desktop"),
        ("Visual Studio Code", "vscode"),
        ("My  Agent/2", "my-agent-2"),
        ("codexter", "codexter"),
        ("\x1b[31m<b>red</b>\n#1 fact", "31m-b-red-b-1-fact"),
        ("x" * 10_000, "x" * clients.MAX_CHARACTERS),
        ("user", None),  # a person
        ("CLI", None),
        ("memstore-mcp", None),
        ("…", None),
        ("", None),
        (None, None),
        (["codex"], None),
    ],
)
def test_a_clients_name_is_never_more_than_a_word(client: object, source: str | None) -> None:
    assert clients.named(client) == source


def test_only_hosts_are_known_by_their_user_agent() -> None:
    assert clients.of_agent("claude-code/2.1.0 (cli)") == "claude-code"
    assert clients.of_agent("python-httpx2/0.1") is None
    assert clients.of_agent(None) is None


def test_every_host_that_setup_knows_has_the_same_name() -> None:
    assert {*clients.HOSTS} == {host.name for host in HOSTS}


@pytest.mark.parametrize(
    ("tool", "given"),
    [
        ("memory_delete", {"id": 1}),
        ("memory_update", {"id": 1, "metadata": {"k": 1}}),
        ("memory_update", {"id": 1, "pinned": True}),
        ("memory_supersede", {"old_id": 1, "new_id": 2}),
        ("memory_task_update", {"id": 3, "status": "completed"}),
    ],
)
def test_client_that_counts_less_changes_nothing_of_a_person(
    open_store: Callable[..., Store], server: Store, tool: str, given: dict[str, Any]
) -> None:
    person = open_store(server.path, embedder=None, actor="user")
    person.sources.trust("stranger", "external")
    person.add("Ana lives in Rome", subject="ana")
    person.add("Ana lives in Bonn", subject="ana")
    person.tasks.create("Water the ferns", scope="user")
    before = [fact.to_dict() for fact in person.get_many([1, 2, 3])]
    act = ("tools/call", {"name": tool, "arguments": given})
    assert "counts less" in json.dumps(answers(server, hello("stranger"), act))
    assert [fact.to_dict() for fact in person.get_many([1, 2, 3])] == before
    assert '"isError": true' not in json.dumps(answers(server, hello("codex"), act))
