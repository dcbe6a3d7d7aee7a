"""Undo takes back all of a change: on the pages, on the command line and by tools.

Each act changes more than one thing; afterwards the memory is what it was, but for the journal.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from tests.support.command_line import CommandLine, cli_fixture  # noqa: F401
from tests.support.mcp_tools import offered
from tests.support.pages import BASE, Pages

import memstore
from memstore import NewFact, Store

TOOLS = offered("facts,tasks,episodes,learn")


@pytest.fixture
def memory(cli: CommandLine) -> Iterator[Store]:
    """A memory with a chain, a proposal, a pinned fact, a key and a task with a note."""
    with memstore.open(cli.db, embedder=None, actor="user", source="app") as store:
        store.add("Ana lives in Rome", subject="ana", category="identity")  # 1
        store.add("Ana lives in Bonn", subject="ana", supersedes=1)  # 2
        store.add("Ana lives in Oslo", subject="ana", source="web:a.org", supersedes=2)  # 3
        store.pin(2)
        store.keys.put([NewFact(content="Bob sings", subject="bob", external_key="bob")])  # 4
        store.update_metadata(4, {"level": 3})
        store.tasks.create("Water the ferns", scope="user", due="tomorrow")  # 5
        store.tasks.update(5, "in_progress", note="half of them")
        yield store


def held(store: Store) -> tuple[object, ...]:
    """What the memory holds, without the times of acts."""

    def plain(value: dict[str, Any]) -> dict[str, Any]:
        return {k: v for k, v in value.items() if k not in ("confirmed_at", "last_used_at")}

    facts = [plain(fact.to_dict()) for fact in store.list(active_only=False, limit=None)]
    tasks = [task.to_dict() for task in store.tasks.list(status="all")]
    asked = [(one.id, one.state) for one in store.proposals.list(None)]
    subjects = [(one.name, one.facts) for one in store.subjects()]
    chains = [[one.id for one in store.history(fact["id"])] for fact in facts]
    return facts, tasks, asked, subjects, chains


POSTS: dict[str, tuple[str, dict[str, str]]] = {
    "confirm": ("fact/2/confirm", {}),
    "pin": ("fact/4/pin", {}),
    "unpin": ("fact/2/unpin", {}),
    "delete": ("fact/2/delete", {}),
    "delete what has a key": ("fact/4/delete", {}),
    "restore an older one": ("fact/1/restore", {}),
    "reinstate": ("fact/1/reinstate", {}),
    "correct": ("fact/2/correct", {"content": "Ana lives in Lima", "category": "note"}),
    "correct what has a key": ("fact/4/correct", {"content": "Bob hums"}),
    "metadata": ("fact/4/metadata", {"metadata": '{"a": 1, "b": [2]}'}),
    "accept": ("inbox/1/accept", {}),
    "reject": ("inbox/1/reject", {}),
    "several": ("inbox/several", {"verdict": "accept", "one": "1"}),
    "complete": ("tasks/5/complete", {}),
    "cancel": ("tasks/5/cancel", {}),
    "put back": ("tasks/5/put-back", {}),
}

COMMANDS = {
    "supersede": "add Lima --subject ana --supersedes 2 --category note -m a=1",
    "confirm": "confirm 2",
    "pin": "pin 4",
    "unpin": "unpin 2",
    "metadata": "update 4 -m a=1 --unset level",
    "delete": "delete 2",
    "restore an older one": "restore 1",
    "reinstate": "reinstate 1",
    "accept": "proposals accept 1",
    "reject": "proposals reject 1",
    "complete": "task update 5 completed --note done",
    "add a task": "task add Wash --due tomorrow --priority high",
}

CALLS: dict[str, tuple[str, dict[str, Any]]] = {
    "store several": (
        "memory_store",
        {"content": "Lima", "subject": "ana", "supersedes": 2, "also": [{"content": "Cusco"}]},
    ),
    "supersede": ("memory_supersede", {"old_id": 2, "new_id": 3}),
    "delete": ("memory_delete", {"id": 2}),
    "update": ("memory_update", {"id": 4, "metadata": {"a": 1}, "pinned": True}),
    "confirm": ("memory_confirm", {"id": 2}),
    "task": ("memory_task_update", {"id": 5, "status": "completed", "note": "all"}),
}


def undone(store: Store, line: int, undo: Callable[[int], object]) -> None:
    """Undo the acts after a line of the journal, the latest first, as the log numbers them."""
    acts = [act.line for act in store.ledger.log(limit=20) if act.line > line]
    assert acts
    for act in acts:
        undo(act)


def last(store: Store) -> int:
    return store.ledger.log(limit=1)[0].line


@pytest.mark.parametrize("post", POSTS)
def test_undo_on_the_pages_takes_back_all_of_a_change(memory: Store, post: str) -> None:
    pages = Pages(memory)
    pages.enter()
    before, line = held(memory), last(memory)
    path, fields = POSTS[post]
    page = pages.followed(pages.post(path, fields))
    assert held(memory) != before
    (offered,) = re.findall(rf'action="{BASE}undo/(\d+)"', page)
    assert int(offered) > line
    pages.followed(pages.post(f"undo/{offered}", {"back": "subjects"}))
    assert without_new(memory, held(memory), before) == before


@pytest.mark.parametrize("command", COMMANDS)
def test_undo_on_the_command_line_takes_back_all_of_a_change(
    cli: CommandLine, memory: Store, command: str
) -> None:
    before, line = held(memory), last(memory)
    assert cli(*COMMANDS[command].split()).code == 0
    assert held(memory) != before
    undone(memory, line, lambda act: cli.json("revert", "--act", act, "--yes"))
    assert without_new(memory, held(memory), before) == before


@pytest.mark.parametrize("call", CALLS)
def test_undo_takes_back_all_of_what_a_tool_did(memory: Store, call: str) -> None:
    before, line = held(memory), last(memory)
    tool, arguments = CALLS[call]
    TOOLS[tool].call(lambda: memory, arguments)
    assert held(memory) != before
    undone(memory, line, lambda act: memory.ledger.revert(acts=[act]).apply())
    assert without_new(memory, held(memory), before) == before


def without_new(store: Store, now: tuple[Any, ...], before: tuple[Any, ...]) -> tuple[object, ...]:
    """What is held, without facts that the change added, which are deleted now."""
    ids = {fact["id"] for fact in before[0]}
    added = [fact for fact in now[0] if fact["id"] not in ids]
    assert all(store.get(fact["id"]).status == "deleted" for fact in added)
    facts = [fact for fact in now[0] if fact["id"] in ids]
    tasks = [task for task in now[1] if task["id"] in ids]
    chains = [[one for one in chain if one in ids] for chain in now[4]]
    return facts, tasks, now[2], now[3], [chain for chain in chains if chain]
