"""A token gives access to one namespace: every tool is tried on the contents of another."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from tests.support import mcp_tools
from tests.support.embedding_server import EmbeddingServer
from tests.support.http_server import Asked, serving
from tests.support.model_server import ModelServer
from tests.support.raw import raw
from tests.support.served import Served, request

import memstore

pytestmark = pytest.mark.process

SETS = "facts,tasks,episodes,graph,learn"
SECRET = "zanzibar"
"""Occurs in everything in the other namespace, and in no request."""

STRANGERS = "their-namespace"


@pytest.fixture
def ids(path: Path) -> dict[str, list[Any]]:
    """Fill a namespace with one of everything; return their ids and names."""
    with memstore.open(path, embedder=None, namespace=STRANGERS) as store:
        old = store.add(f"The harbour is {SECRET} one", subject=f"harbour {SECRET}")
        new = store.add(
            f"The harbour is {SECRET} two", subject=f"harbour {SECRET}", supersedes=old.id,
            idempotency_key="key", metadata={"where": SECRET}, user_id="ana",
        )  # fmt: skip
        gone = store.delete(store.add(f"gone {SECRET}", subject="harbour").id)
        task = store.tasks.create(f"Paint the {SECRET} boat", project="harbour")
        said = store.episodes.add(
            f"She said {SECRET}", source="chat", tags=["harbour"], idempotency_key="key",
            metadata={"where": SECRET},
        )  # fmt: skip
        pair = [store.add(f"It is {SECRET} {n}", subject="both").id for n in (1, 2)]
        proposal = store.of().proposals.put_forward(pair, f"It is {SECRET} 1 and 2", {})
        store.graph.build()
        return {
            "facts": [old.id, new.id, gone.id, task.id, *pair],
            "episodes": [said.id, str(said.id), said.uuid, said.uuid.upper()],
            "proposals": [proposal.id],
        }


@pytest.fixture
def model(model_server: ModelServer) -> ModelServer:
    """A model that repeats its prompt, so that everything in it comes back."""

    def answer(prompt: str) -> str:
        fact = {"content": prompt[-900:], "subject": "model", "category": "note"}
        return json.dumps({"facts": [fact], "operations": []})

    model_server.replies = answer
    return model_server


@pytest.fixture
def server(path: Path, ids: dict[str, list[Any]], model: ModelServer) -> Iterator[Served]:
    with ExitStack() as stack:
        embeddings = stack.enter_context(EmbeddingServer.running())
        flags = ("--tools", SETS, "--generator", "ollama", "--generator-url", model.url)
        served = Served(path, *flags, "--embedder", "ollama", "--ollama", embeddings.url)
        stack.callback(served.close)
        yield served


def attempts(ids: dict[str, list[Any]]) -> dict[str, list[dict[str, Any]]]:
    """Return calls of every tool with ids and names from the other namespace."""
    facts, episodes, proposals = ids["facts"], ids["episodes"], ids["proposals"]
    groups = [{"group_id": STRANGERS}, {"group_id": "all"}, {}]
    log = [{"query": "said harbour", "tags": ["harbour"], "source": "chat"}, {"query": "said"}, {}]
    return {
        "memory_store": [
            {"content": "mine", "subject": "mine", "supersedes": fact} for fact in facts
        ]
        + [{"content": "mine", "subject": "mine", "idempotency_key": "key"}],
        "memory_search": [
            {"query": query, "include_superseded": True} for query in ("harbour", "the is it")
        ]
        + [{"query": "harbour", "subject": "both"}, {"query": "harbour", "metadata": {"a": 1}}],
        "memory_list": [{}, {"subject": "both"}],
        "memory_delete": [{"id": fact} for fact in facts],
        "memory_supersede": [{"old_id": a, "new_id": b} for a in facts for b in facts],
        "memory_history": [{"id": fact} for fact in facts] + [{"subject": "both"}],
        "memory_confirm": [{"id": fact} for fact in facts],
        "memory_update": [{"id": fact, "metadata": {"mine": True}} for fact in facts],
        "memory_status": [{}],
        "memory_task_create": [{"content": "mine", "scope": "user", "project": "harbour"}],
        "memory_task_update": [{"id": fact, "status": "completed"} for fact in facts],
        "memory_task_list": [{"status": "all"}, {"project": "harbour"}],
        "add_memory": [{"content": "mine", "source": "chat"} | group for group in groups],
        "search": [{**asked, **group} for asked in log for group in groups],
        "get_episodes": groups,
        "update_episode": [{"id": one, "tags": ["mine"]} for one in episodes],
        "get_status": [{}],
        "memory_graph_entities": [{}, {"limit": 100}],
        "memory_graph_neighbours": [
            {"name": name, "depth": 5} for name in ("harbour", "both", f"Harbour {SECRET[:-1]}")
        ],
        "memory_add": [
            {"messages": "What of the harbour?", "user_id": user, "infer": infer}
            for user in ("ana", None)
            for infer in (True, False)
        ],
        "memory_extract": [{"text": "Ask about the harbour", "subject": "both"}],
        "memory_proposals": [{}]
        + [{"action": act, "id": one} for act in ("accept", "reject") for one in proposals],
    }


def held(path: Path) -> list[str]:
    """Return everything in the other namespace with its journal, except use counts.

    Nor what the server embedded in the meantime: it does so for the whole file, unasked.
    """
    with memstore.open(path, embedder=None, namespace=STRANGERS) as store:
        _, *lines = store.transfer.export()  # the first embedding determines the file's model
    return [
        re.sub(r'"use_count": \d+|"last_used_at": "[^"]*", ', "", line)
        for line in lines
        if '"kind": "embed"' not in line
    ]


def test_no_tool_reaches_another_namespace(
    server: Served, path: Path, ids: dict[str, list[Any]], model: ModelServer
) -> None:
    tried = attempts(ids)
    assert tried.keys() == set(mcp_tools.offered(SETS))  # add new tools here
    with memstore.open(path, embedder=None, namespace="mine") as store:
        store.add("The harbour and the boat are mine", subject="harbour")
        store.graph.build()
        _, secret = store.file.tokens.create("mine", namespace=store.namespace)
    before = held(path)
    assert any(SECRET in line for line in before)
    for tool, calls in tried.items():
        for arguments in calls:
            asked = request("tools/call", name=tool, arguments=arguments)
            answer = server.post(asked, secret)
            assert answer.status_code == 200, (tool, arguments, answer.text)
            assert SECRET not in answer.text, (tool, arguments)
            if STRANGERS not in str(arguments):
                assert STRANGERS not in answer.text, (tool, arguments)
    assert not [prompt for prompt in model.prompts if SECRET in prompt]
    assert held(path) == before


def test_read_only_token_changes_nothing_with_any_tool(
    server: Served, path: Path, ids: dict[str, list[Any]]
) -> None:
    with memstore.open(path, embedder=None, namespace=STRANGERS) as store:
        _, secret = store.file.tokens.create("reader", access="read", namespace=store.namespace)
    before = held(path)
    tools = mcp_tools.offered(SETS)
    shown = {tool["name"] for tool in server.ask("tools/list", secret)["tools"]}
    assert shown == {name for name, tool in tools.items() if tool.reads}
    for name, calls in attempts(ids).items():
        for arguments in calls:
            asked = request("tools/call", name=name, arguments=arguments)
            assert server.post(asked, secret).status_code == (200 if name in shown else 403)
    assert held(path) == before


def test_quoted_texts_in_errors_are_not_shown_to_other_clients(path: Path) -> None:
    def answer(asked: Asked) -> None:
        asked.answer({"error": f"out of memory at {asked.body['input']}"}, status=500)

    with memstore.open(path, embedder=None) as store:
        secrets = {
            name: store.file.tokens.create(name, namespace=name)[1] for name in ("ours", "theirs")
        }
    with serving(answer) as url:
        server = Served(path, "--tools", SETS, "--embedder", "ollama", "--ollama", url)
        try:
            server.call("memory_store", secrets["theirs"], content=SECRET, subject="boat")
            for tool, arguments in (
                ("memory_status", {}),
                ("memory_search", {"query": "boat"}),
                ("search", {"query": "boat"}),
                ("get_status", {}),
            ):
                told = str(server.call(tool, secrets["ours"], **arguments))
                assert "answered 500" in told, tool
                assert SECRET not in told, tool
        finally:
            server.close()


def test_a_chain_into_another_namespace_is_not_followed(store: memstore.Store) -> None:
    old = store.add("ours, once", subject="s")
    new = store.within("theirs").add(f"{SECRET}", subject="s")
    with raw(store.path) as file:  # as the original's files may contain it
        file.execute(
            "UPDATE memstore_facts SET superseded_by = ?, superseded_at = created_at WHERE id = ?",
            (new.id, old.id),
        )
        file.commit()
    assert [fact.id for fact in store.history(old.id)] == [old.id]
    assert {operation.fact_id for operation in store.ledger.journal(old.id)} == {old.id}
    assert [fact.id for fact in store.within("theirs").history(new.id)] == [new.id]
