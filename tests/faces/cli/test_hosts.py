"""The commands for hosts: the namespace of a project."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.support.command_line import CommandLine, cli_fixture  # noqa: F401


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository in an empty home, which is the current folder."""
    home = tmp_path / "home"
    (home / "api" / ".git").mkdir(parents=True)
    for name in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(name, str(home))
    for name in ("XDG_DATA_HOME", "LOCALAPPDATA"):
        monkeypatch.setenv(name, str(tmp_path / "data"))
    for name in ("MEMSTORE_PROJECT", "CLAUDE_PROJECT_DIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(home / "api")
    return home / "api"


def test_where_reports_the_namespace_and_the_reason(cli: CommandLine, project: Path) -> None:
    assert cli("where").out == f"~/api: {project} is the top of a repository\n"
    assert cli.json("where", project / ".git") == {
        "folder": str(project),
        "namespace": "~/api",
        "rule": "repository",
    }


def test_where_sets_and_removes_a_name(cli: CommandLine, project: Path) -> None:
    assert cli.json("where", "--set", "acme")["namespace"] == "acme"
    cli.add("built by make", "api", "--namespace", "auto")
    assert cli.json("list", "--namespace", "acme")[0]["content"] == "built by make"
    assert cli.json("where", "--unset")["rule"] == "repository"
    assert cli.json("list", "--namespace", "auto") == []


def test_where_refuses_a_path_that_is_not_a_folder(cli: CommandLine, project: Path) -> None:
    missing = str(project / "no")
    assert cli.error("where", missing) == (
        2,
        f"there is no folder {missing!r}: name one, or none for the current folder",
    )
    code, text = cli.error("where", "--set", "all")
    assert (code, text) == (2, "--namespace cannot be 'all'")
