"""Owners chosen once: for an import, for the hooks and for the server."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import pytest
from tests.support.command_line import CommandLine, cli_fixture  # noqa: F401 - a fixture

import memstore
from memstore import Scope
from memstore.domain.records import NOBODY
from memstore.faces.cli import hosts as host_commands
from memstore.faces.hosts import hook, keeping, sessions
from memstore.faces.mcp import calls, catalogue, resources
from memstore.settings import Settings

MEMORIES: list[dict[str, Any]] = [
    {"id": "m1", "memory": "Likes tea", "user_id": "alice", "created_at": "2026-01-01T00:00:00Z"},
    {"id": "m2", "memory": "Has a dog", "user_id": "alice", "run_id": "r1", "agent_id": "bot",
     "created_at": "2026-01-02T00:00:00Z"},
]  # fmt: skip


@pytest.fixture(name="memories")
def memories_fixture(tmp_path: Path) -> Path:
    file = tmp_path / "memories.json"
    file.write_text(json.dumps(MEMORIES), encoding="utf-8")
    return file


@pytest.mark.parametrize(
    ("flags", "owners"),
    [
        (("--user", "none"), {}),
        (("--user", "ana"), {"user_id": "ana"}),
        (("--agent", "coder"), {"agent_id": "coder"}),
        (("--user", "ana", "--run", "r9"), {"user_id": "ana", "run_id": "r9"}),
    ],
)
def test_an_import_gives_everything_to_the_owners_named(
    cli: CommandLine, memories: Path, flags: tuple[str, ...], owners: dict[str, str]
) -> None:
    assert cli.json("import", "--from", "mem0", memories, *flags)["facts"] == 2
    facts = cli.json("list", "--scope", "all")
    of_theirs = ("user_id", "agent_id", "run_id")
    assert [{k: f[k] for k in of_theirs if k in f} for f in facts] == [owners, owners]
    assert facts[1]["metadata"]["imported"]["agent_id"] == "bot"
    assert facts[1]["thread"] == "r1"
    again = cli("import", "--from", "mem0", memories, *flags)
    assert "2 already known" in again.out
    assert "keeps its owners" in again.err


def test_importing_again_for_another_owner_changes_nothing(
    cli: CommandLine, memories: Path
) -> None:
    told = cli("import", "--from", "mem0", memories).err
    assert "2 facts with an owner" in told
    assert "--user alice" in told
    before = cli.json("list", "--scope", "all")
    assert cli.json("import", "--from", "mem0", memories, "--user", "none")["known"] == 2
    assert cli.json("list", "--scope", "all") == before


def test_a_memory_that_changed_in_mem0_keeps_the_owners_it_has_here(
    cli: CommandLine, memories: Path
) -> None:
    cli("import", "--from", "mem0", memories, "--user", "ana")
    changed = {**MEMORIES[0], "memory": "Likes coffee", "updated_at": "2026-02-01T00:00:00Z"}
    memories.write_text(json.dumps([changed]), encoding="utf-8")
    assert cli.json("import", "--from", "mem0", memories)["facts"] == 1
    active = {fact["content"] for fact in cli.json("list", "--user", "ana")}
    assert active == {"Likes coffee", "Has a dog"}


def test_an_import_of_an_export_refuses_owners(cli: CommandLine, tmp_path: Path) -> None:
    cli("add", "a", "--subject", "b")
    cli("export", tmp_path / "e.jsonl")
    code, told = cli.error("import", tmp_path / "e.jsonl", "--user", "ana")
    assert code == 2
    assert "need --from" in told


def test_hooks_recall_and_record_for_the_user_chosen(cli: CommandLine, tmp_path: Path) -> None:
    cli("add", "Ana likes tea", "--subject", "Ana", "--user", "ana")
    ana = Scope(user_id="ana")
    with memstore.open(cli.db, embedder="none") as store:
        session = sessions.HostSession(None, None)
        said = hook.at_start(store.of(NOBODY), "host", {}, session) or ""
        assert "1 fact with owners" in said
        assert "setup --user" in said
        assert "Ana likes tea" in (hook.at_start(store.of(ana), "host", {}, session) or "")
        asked = "What tea does Ana like?"
        assert hook.at_prompt(store.of(NOBODY), asked, session) is None
        assert "Ana likes tea" in (hook.at_prompt(store.of(ana), asked, session) or "")
        transcript = tmp_path / "t.jsonl"
        turn = {"type": "user", "uuid": "u", "message": {"role": "user", "content": "hello"}}
        transcript.write_text(json.dumps(turn) + "\n", encoding="utf-8")
        event = {"session_id": "s", "transcript_path": str(transcript)}
        kept = keeping.keep(store.of(ana), "claude-code", event)
        assert kept == store.of(ana).episodes.count()
        assert store.episodes.count() == 0


def test_calls_that_name_no_owner_use_the_servers_user(cli: CommandLine) -> None:
    cli("add", "Ana likes tea", "--subject", "Ana", "--user", "ana")
    cli("add", "Ben likes tea", "--subject", "Ben", "--user", "ben")
    offered = catalogue.offered(answers="json")._replace(owners=Settings(user="ana").owners)
    with memstore.open(cli.db, embedder="none") as store:
        server = calls.Calls(offered, lambda: None)

        def found(**arguments: str) -> list[str]:
            answer = server.answer(lambda: store, {"name": "memory_list", "arguments": arguments})
            return [fact["content"] for fact in answer["structuredContent"]["facts"]]

        assert found() == ["Ana likes tea"]
        assert found(user_id="ben") == ["Ben likes tea"]
        told = str(resources.read(store, resources.STARTUP, offered.shown, offered.owners))
        assert "Ana likes tea" in told


class Notes:
    def __init__(self) -> None:
        self.told: list[str] = []

    def note(self, sentence: str) -> None:
        self.told.append(sentence)


@pytest.mark.parametrize(
    ("owners", "chosen", "told"),
    [
        ([{"user_id": "ana"}, {"user_id": "ana"}], "ana", "every memory belongs to the user ana"),
        ([{"user_id": "ana"}, {"user_id": "ben"}], None, "every memory has an owner (2 facts)"),
        ([{"user_id": "ana", "run_id": "r"}], None, "every memory has an owner (1 fact)"),
        ([{"user_id": "ana"}, {}], None, None),
        ([], None, None),
    ],
)
def test_setup_chooses_the_only_user_or_says_so(
    tmp_path: Path, owners: list[dict[str, str]], chosen: str | None, told: str | None
) -> None:
    path = tmp_path / "memory.db"
    with memstore.open(path, embedder="none") as store:
        for number, owner in enumerate(owners):
            store.add(f"fact {number}", subject="x", **owner)  # type: ignore[arg-type]
    notes = Notes()
    settings = Settings(db=str(path), namespace="auto")
    assert host_commands._only_user(settings, notes) == chosen  # type: ignore[arg-type]
    assert [told in one for one in notes.told] == [True] if told else not notes.told


def test_a_hook_takes_the_user_from_its_flag() -> None:
    arguments = hook.parser().parse_args(["SessionStart", "--user", "ana"])
    assert isinstance(arguments, argparse.Namespace)
    assert hook.chosen_settings(arguments).owners == {"user_id": "ana"}
    assert Settings(user="none").owners == {}
