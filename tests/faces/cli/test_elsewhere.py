"""What a command opens in a folder whose hooks `setup` serves, and what it says of the rest."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.support.command_line import CommandLine, cli_fixture  # noqa: F401

import memstore

READING = (
    ("list",),
    ("search", "zeppelin"),
    ("recall", "zeppelin"),
    ("briefing",),
    ("log",),
    ("diff", "op:1"),
    ("status",),
    ("episode", "list"),
    ("episode", "search", "zeppelin"),
    ("task", "list"),
    ("searches",),
    ("inbox",),
    ("proposals", "list"),
)
"""Every command that shows what a namespace holds."""

HOLDS = "other namespaces hold more: "


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, a project of a user whose home is empty."""
    home = tmp_path / "home"
    for name in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(name, str(home))
    for name in ("XDG_DATA_HOME", "LOCALAPPDATA"):
        monkeypatch.setenv(name, str(home / "data"))
    for name in ("MEMSTORE_PROJECT", "CLAUDE_PROJECT_DIR"):
        monkeypatch.delenv(name, raising=False)
    project = home / "work" / "api"
    (project / ".git").mkdir(parents=True)
    monkeypatch.chdir(project)
    return project


@pytest.fixture(autouse=True)
def held(path: Path, cli: CommandLine) -> None:
    """The project's memories, what is about the user, and another project's conversation."""
    with memstore.open(path, embedder=None, namespace="~/work/api", source="test") as store:
        store.add("Releases go through the canary", subject="api")
        store.episodes.add("The canary it is", source="chat")
        store.within("default").add("Ana drinks tea", subject="ana")
        store.within("~/work/web").episodes.add("Use rye", source="chat")


def set_up(project: Path, memory: dict[str, str], of: Path | None = None) -> None:
    """Write the record of a ``setup`` for the user, or for one project."""
    file = project.parents[1] / "data" / "memstore" / "setup.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    hosts = json.loads(file.read_text())["hosts"] if file.exists() else []
    more = {"host": "codex", "project": of and str(of), "files": [], "command": None}
    file.write_text(json.dumps({"hosts": [*hosts, {**more, "memory": memory}], "folders": []}))


def served(cli: CommandLine, project: Path, path: Path) -> None:
    set_up(project, {"db": str(path), "namespace": "auto"})


@pytest.mark.parametrize("command", READING, ids=" ".join)
def test_who_chose_no_namespace_is_told_of_the_others(
    cli: CommandLine, command: tuple[str, ...]
) -> None:
    answer = cli(*command)
    assert answer.code == 0
    assert answer.err.count(HOLDS) == 1
    assert "~/work/api (1 fact, 1 episode)" in answer.err
    assert "--namespace '~/work/api'" in answer.err
    notes = [json.loads(line)["note"] for line in cli(*command, "--json").err.splitlines()]
    assert sum(HOLDS in note for note in notes) == 1


@pytest.mark.parametrize("command", READING, ids=" ".join)
def test_who_chose_a_namespace_is_told_only_if_it_has_nothing(
    cli: CommandLine, command: tuple[str, ...]
) -> None:
    answer = cli(*command, "--namespace", "none-such")
    has_answer = command[0] in ("status",)
    assert answer.err.count(HOLDS) == (not has_answer)
    assert HOLDS not in cli("list", "--namespace", "default").err


@pytest.mark.parametrize("command", READING, ids=" ".join)
def test_a_project_that_setup_serves_opens_what_its_hooks_write_to(
    cli: CommandLine, project: Path, path: Path, command: tuple[str, ...]
) -> None:
    served(cli, project, path)
    assert cli(*command).out == cli(*command, "--namespace", "auto").out


def test_commands_in_a_served_project_read_and_write_as_its_agents_do(
    cli: CommandLine, project: Path, path: Path
) -> None:
    served(cli, project, path)
    assert [fact["namespace"] for fact in cli.json("list")] == ["~/work/api", "default"]
    assert cli("list").err == ""
    assert "The canary it is" in cli("episode", "list").out
    stored = cli.json("add", "Deploys are on Tuesday", "--subject", "api")
    assert stored["namespace"] == "~/work/api"
    assert cli.json("status")["namespace"] == "~/work/api"
    found = cli("search", "rye")
    assert "1 other namespace holds more: ~/work/web (1 episode)" in found.err
    assert [fact["namespace"] for fact in cli.json("list", "--namespace", "default")] == ["default"]


def test_the_record_of_a_project_counts_before_that_of_the_user(
    cli: CommandLine, project: Path, path: Path
) -> None:
    served(cli, project, path)
    set_up(project, {"db": str(path), "namespace": "~/work/web"}, of=project)
    set_up(project, {"db": str(path), "namespace": "default"}, of=project.parent)
    assert cli.json("status")["namespace"] == "~/work/web"


@pytest.mark.parametrize(
    "memory",
    [
        pytest.param({"db": "/another.db", "namespace": "auto"}, id="another file"),
        pytest.param({"namespace": "auto"}, id="the user's own file"),
    ],
)
def test_a_file_that_the_user_names_is_opened_as_it_is(
    cli: CommandLine, project: Path, memory: dict[str, str]
) -> None:
    set_up(project, memory)
    assert cli.json("status")["namespace"] == "default"


def test_the_file_that_setup_registered_is_opened_if_none_is_named(
    cli: CommandLine, project: Path, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("MEMSTORE_DB")
    served(cli, project, path)
    assert cli.json("status")["path"] == str(path)


def test_hooks_that_write_to_a_server_are_named(
    cli: CommandLine, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("MEMSTORE_DB")
    set_up(project, {"server": "https://memory.example.com/mcp"})
    assert "the hooks here write to https://memory.example.com/mcp" in cli("list").err


@pytest.mark.parametrize(
    "record", ["", "{", "[]", '{"hosts": 7}', '{"hosts": [1, {}]}', "[" * 9999]
)
def test_a_damaged_record_changes_nothing(cli: CommandLine, project: Path, record: str) -> None:
    set_up(project, {})
    (project.parents[1] / "data" / "memstore" / "setup.json").write_text(record)
    assert cli.json("status")["namespace"] == "default"


def test_an_export_takes_everything_unless_a_part_is_asked_for(
    cli: CommandLine, project: Path, path: Path
) -> None:
    def exported(*flags: str) -> tuple[int, int, str]:
        answer = cli("export", *flags)
        header: dict[str, Any] = json.loads(answer.out.splitlines()[0])
        return header["facts"], header["episodes"], answer.err

    assert exported() == (2, 2, "")
    facts, episodes, told = exported("--namespace", "default")
    assert (facts, episodes) == (1, 0)
    assert told.startswith("not exported: 2 other namespaces hold more: ~/work/api (1 fact, 1 ep")
    facts, episodes, told = exported("--as-of", "now")
    assert (facts, episodes, told[:12]) == (1, 0, "not exported")
    facts, episodes, told = exported("--namespaces", "~/work/api,~/work/web")
    assert (facts, episodes) == (1, 2)
    assert "1 other namespace holds more: default (1 fact)" in told
    served(cli, project, path)
    assert exported() == (2, 2, "")
