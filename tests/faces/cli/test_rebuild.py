"""The commands rebuild and consolidate, against a scripted model behind real HTTP."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.support.command_line import CommandLine, cli_fixture  # noqa: F401
from tests.support.model_server import ModelServer, Reply

TEA, GREEN = "Ana likes tea", "Ana likes green tea with honey"
BOTH = "Ana likes tea, green tea with honey too"


def facts(*contents: str) -> str:
    return json.dumps(
        {"facts": [{"content": c, "subject": "ana", "category": "note"} for c in contents]}
    )


def groups(*found: tuple[list[int], str]) -> str:
    return json.dumps({"groups": [{"memories": ids, "text": text} for ids, text in found]})


@pytest.fixture(autouse=True)
def _no_generator(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("GENERATOR", "GENERATOR_MODEL", "GENERATOR_URL"):
        monkeypatch.delenv(f"MEMSTORE_{name}", raising=False)


@pytest.fixture
def model(model_server: ModelServer, monkeypatch: pytest.MonkeyPatch) -> ModelServer:
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("MEMSTORE_GENERATOR", "openai")
    monkeypatch.setenv("MEMSTORE_GENERATOR_URL", model_server.url)
    return model_server


def test_rebuild_recreates_indexes_without_a_model(cli: CommandLine, model: ModelServer) -> None:
    cli("add", TEA, "--subject", "ana")
    assert "rebuilt the full-text index" in cli("rebuild").out
    assert model.prompts == []


def test_rebuild_with_a_generator_extracts_unread_episodes(
    cli: CommandLine, model: ModelServer
) -> None:
    cli("episode", "add", "I am Ana, and I like tea", "--source", "notes")
    model.replies = [facts(TEA)]
    done = cli("rebuild", "--generator", "openai", "--generator-url", model.url)
    assert done.code == 0
    assert "facts added 1," in done.out
    assert [fact["content"] for fact in cli.json("list")] == [TEA]
    again = cli.json("rebuild", "--facts", "--generator-url", model.url)
    assert any("questions to the model 0," in told for told in again["done"])
    assert len(model.prompts) == 1


def test_rebuild_reports_which_episode_could_not_be_read(
    cli: CommandLine, model: ModelServer
) -> None:
    cli("episode", "add", "I like tea", "--source", "notes")
    model.replies = [Reply(status=400, words="no such model")]
    code, told = cli.error("rebuild", "--facts")
    assert code == 4
    assert "episodes 1 could not be read" in told
    assert "no such model" in told


@pytest.mark.parametrize("command", [("rebuild", "--facts"), ("consolidate", "ana")])
def test_without_a_generator_nothing_is_done_and_a_remedy_is_shown(
    cli: CommandLine, command: tuple[str, ...]
) -> None:
    cli("add", TEA, "--subject", "ana")
    code, told = cli.error(*command)
    assert code == 2
    assert "--generator" in told


def test_consolidation_is_proposed_accepted_and_undone(
    cli: CommandLine, model: ModelServer
) -> None:
    for content in (TEA, GREEN):
        cli("add", content, "--subject", "ana")
    model.replies = [groups(([1, 2], BOTH))]
    done = cli("consolidate", "ana")
    assert done.out == f"proposed\t\tproposal 1\t#1, #2\t{BOTH}\t\n"
    (one,) = cli.json("proposals", "list")
    assert (one["kind"], [fact["id"] for fact in one["sources"]]) == ("consolidation", [1, 2])
    assert one["content"] == BOTH
    row = cli("proposals", "list").out.rstrip("\n").split("\t")
    assert row == ["1", "open", "", "ana", "#1, #2", f"{TEA} · {GREEN}", "", BOTH]
    told = cli("proposals", "accept", 1).out
    assert told.startswith("#1, #2 are superseded by #3; memstore reinstate 1")
    assert [fact["content"] for fact in cli.json("list")] == [BOTH]
    done = cli("reinstate", 1)
    assert done.out == "reinstated #1 as #4, beside the newer fact; active now: #4, #5, #3\n"
    assert cli("consolidate", "ana").code == 0


def test_rejected_consolidation_stays_rejected(cli: CommandLine, model: ModelServer) -> None:
    for content in (TEA, GREEN):
        cli("add", content, "--subject", "ana")
    model.replies = [groups(([1, 2], BOTH))]
    cli("consolidate", "ana")
    assert cli("proposals", "reject", 1).out == "#1, #2 remain active\n"
    (again,) = cli.json("consolidate", "ana")
    assert again["outcome"] == "refused"
    assert "rejected" in again["reason"]


def test_consolidating_unrelated_facts_reports_nothing_to_do(
    cli: CommandLine, model: ModelServer, tmp_path: Path
) -> None:
    cli("add", TEA, "--subject", "ana")
    done = cli("consolidate", "ana", "--policy", "auto")
    assert (done.code, done.err) == (0, "nothing to consolidate\n")
    assert model.prompts == []
