"""No face says "nothing" where other owners have something, and each says how to see it."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import pytest
from tests.support import mcp_tools
from tests.support.command_line import CommandLine, cli_fixture  # noqa: F401 - a fixture

import memstore
from memstore import Memory, Scope, Store
from memstore.faces.mcp import resources
from memstore.store.store import others_of

ANA = Scope(user_id="ana smith")


@pytest.fixture(name="owned")
def owned_fixture(cli: CommandLine) -> CommandLine:
    """A file in which every memory has an owner."""
    with memstore.open(cli.db, embedder="none") as store:
        store.add("Alice likes tea", subject="Alice", **ANA.ids)
        store.add("Alice knows Bob Jones", subject="Alice", **ANA.ids)
        store.of(ANA).tasks.create("buy tea")
        store.of(ANA).episodes.add("we drank tea", source="test")
        store.graph.build()
    return cli


@pytest.mark.parametrize(
    ("command", "held"),
    [
        (("search", "tea"), "3 facts"),
        (("recall", "tea"), "3 facts and 1 episode"),
        (("list",), "3 facts"),
        (("episode", "search", "tea"), "1 episode"),
        (("episode", "list"), "1 episode"),
        (("task", "list"), "1 task"),
        (("history", "--subject", "alice"), "2 facts"),
        (("graph", "entities"), "2 entities"),
        (("graph", "neighbours", "alice"), "facts of other owners mention it"),
        (("briefing",), "3 facts and 1 episode"),
    ],
)
def test_a_command_that_finds_nothing_tells_what_other_owners_have(
    owned: CommandLine, command: tuple[str, ...], held: str
) -> None:
    told = owned(*command).err
    assert held in told
    assert "--scope all" in told
    assert held not in owned(*command, "--scope", "all").err


def test_owners_whose_memories_are_all_gone_are_not_named(owned: CommandLine) -> None:
    with memstore.open(owned.db, embedder="none") as store:
        for number in range(5):
            store.delete(store.add(f"Bob likes {number}", subject="Bob", user_id="bob").id)
        said = store.of(user_id="bob").episodes.add("hi", source="test")
        store.episodes.erase(said.id)
        named = others_of(store).first
    assert named == (ANA,)


def test_a_command_names_the_owners_in_words_of_a_shell(owned: CommandLine) -> None:
    assert "--user 'ana smith'" in owned("list").err
    assert "3 facts" not in owned("list", "--user", "ana smith").err


def test_status_tells_what_other_owners_have(owned: CommandLine) -> None:
    assert owned.json("status")["others"] == {
        "facts": 3, "episodes": 1, "first": [{"user_id": "ana smith"}]
    }  # fmt: skip
    assert owned.json("status", "--scope", "all")["others"]["facts"] == 0


def test_a_list_tells_of_how_many_facts_it_shows_a_part(owned: CommandLine) -> None:
    whole = ("--scope", "all")
    assert "1 of 3 facts" in owned("list", "--limit", "1", *whole).err
    assert "2 of 3 facts" in owned("list", "--offset", "1", *whole).err
    assert owned("list", *whole).err == owned("list", "--limit", "9", *whole).err == ""


@pytest.mark.parametrize(
    ("tool", "arguments", "held"),
    [
        ("memory_search", {"query": "tea"}, "3 facts and 1 episode"),
        ("memory_search", {"query": "tea", "max_tokens": 100}, "3 facts and 1 episode"),
        ("memory_list", {}, "3 facts and 1 episode"),
        ("memory_history", {"subject": "Alice"}, "3 facts and 1 episode"),
        ("memory_task_list", {}, "1 task"),
        ("search", {"query": "tea"}, "3 facts and 1 episode"),
        ("get_episodes", {}, "3 facts and 1 episode"),
        ("memory_graph_entities", {}, "2 entities"),
    ],
)
def test_a_tool_that_finds_nothing_tells_only_whoever_named_no_owner(
    owned: CommandLine, tool: str, arguments: dict[str, Any], held: str
) -> None:
    with memstore.open(owned.db, embedder="none") as store:
        hint = called(store, tool, arguments)["hint"]
        assert held in hint
        assert "user_id" in hint
        assert "ana" not in hint
        asked = called(store, tool, arguments | {"user_id": "ben"})
        assert held not in str(asked)
        confined = store.within("elsewhere", confined=True)
        assert held not in str(called(confined, tool, arguments))


def test_a_status_tool_counts_others_for_whoever_named_no_owner(owned: CommandLine) -> None:
    with memstore.open(owned.db, embedder="none") as store:
        for tool in ("memory_status", "get_status"):
            told = called(store, tool, {})
            assert told["others"] == {"facts": 3, "episodes": 1}
            assert "others" not in called(store, tool, {"user_id": "ben"})


def test_an_unknown_entity_is_not_said_to_be_of_others(owned: CommandLine) -> None:
    assert "other owners" not in owned("graph", "neighbours", "Zoe").err


def test_the_startup_resource_tells_only_a_server_without_a_user(owned: CommandLine) -> None:
    with memstore.open(owned.db, embedder="none") as store:
        told = str(resources.read(store, resources.STARTUP, {}, {}))
        assert "3 facts and 1 episode" in told
        ben = resources.read(store, resources.STARTUP, {}, {"user_id": "ben"})
        assert ben == "nothing is stored yet for these owners"


def test_forget_all_asks_first(owned: CommandLine) -> None:
    answer = owned("forget", "--all", "--user", "ana smith")
    assert (answer.code, "--yes" in answer.err) == (1, True)
    assert len(owned.json("list", "--scope", "all")) == 3


@pytest.mark.parametrize(("reply", "left"), [("n\n", 3), ("\n", 3), ("", 3), ("y\n", 1)])
def test_forget_all_does_what_was_answered(
    owned: CommandLine, monkeypatch: pytest.MonkeyPatch, reply: str, left: int
) -> None:
    monkeypatch.setattr("memstore.faces.cli.command.can_ask", lambda: True)
    answer = owned("forget", "--all", "--user", "ana smith", stdin=reply)
    assert "Forget 2 memories of --user 'ana smith' in the namespace default?" in answer.err
    assert (answer.code, "nothing was forgotten" in answer.err) == (left == 3, left == 3)
    assert len(owned.json("list", "--scope", "all")) == left


@pytest.mark.parametrize("command", ["delete", "forget"])
def test_the_command_that_brings_a_fact_back_names_the_same_place(
    cli: CommandLine, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    place = ("--db", str(cli.db), "--namespace", "my notes")
    monkeypatch.delenv("MEMSTORE_DB")
    fact = cli.json("add", "tea", "--subject", "ana", "--user", "ana smith", *place)["id"]
    told = cli(command, fact, "--user", "ana smith", *place).out
    back = told.partition("memstore ")[2].partition(" brings")[0]
    assert cli(*shlex.split(back)).code == 0


def test_what_forget_all_removed_comes_back_by_one_command(owned: CommandLine) -> None:
    before = owned.json("list", "--user", "ana smith")
    owned("delete", before[1]["id"], "--user", "ana smith")
    told = owned("forget", "--all", "--user", "ana smith", "--yes").out
    assert "forgot 1 memory" in told
    back = told.partition("memstore ")[2].partition(" brings")[0]
    assert owned(*shlex.split(back)).code == 0
    after = owned.json("list", "--user", "ana smith")
    assert [fact["id"] for fact in after] == [before[0]["id"], before[2]["id"]]


def test_deletions_of_several_transactions_are_restored_together(tmp_path: Path) -> None:
    with memstore.open(tmp_path / "memory.db", embedder="none") as store:
        fill(store, 450)
        gone = Memory(store).delete_all(user_id="ana smith")
        assert (len(gone), store.of("all").count()) == (450, 1)
        at = store.get(gone[0]["id"] or 0).deleted_at
        assert at is not None
        assert store.of(user_id="ben").ledger.restore_deleted(at) == 0
        assert store.of(ANA).ledger.restore_deleted(at) == 450
        assert store.of(ANA).ledger.restore_deleted(at) == 0
        assert store.of(ANA).count() == 450
        assert store.file.doctor() == []


def called(store: Store, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
    return mcp_tools.offered("facts,tasks,episodes,graph")[tool].call(lambda: store, arguments)


def fill(store: Store, number: int) -> None:
    store.add("of nobody", subject="x")
    store.add_many(memstore.NewFact(content=f"{n}", subject="x", **ANA.ids) for n in range(number))
