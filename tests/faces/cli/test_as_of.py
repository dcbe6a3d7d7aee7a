"""The memory of an earlier moment on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.support.command_line import CommandLine, cli_fixture  # noqa: F401


@pytest.fixture
def moved(cli: CommandLine) -> CommandLine:
    """Alice lived in Rome, and lives in Oslo."""
    cli("add", "Alice lives in Rome", "--subject", "alice", "--valid-at", "2026-01-01")
    instead = ("--supersedes", 1, "--valid-at", "2026-02-10")
    cli("add", "Alice lives in Oslo", "--subject", "alice", *instead)
    return cli


def ids(answer: list[dict[str, int]]) -> list[int]:
    return [fact["id"] for fact in answer]


def test_every_command_that_reads_facts_takes_a_moment(moved: CommandLine, tmp_path: Path) -> None:
    then = ("--as-of", "op:1")
    assert ids(moved.json("list", *then)) == [1]
    assert ids(moved.json("list")) == [2]
    assert moved.json("get", 1, *then)["status"] == "active"
    assert ids(moved.json("history", 1, *then)) == [1]
    assert "Rome" in moved("recall", "Alice", *then).out
    answer = moved("search", "Alice", *then)
    assert "Rome" in answer.out
    assert "Oslo" not in answer.out
    assert "as of 20" in answer.err
    journal = moved("history", 1, "--journal", *then).out
    assert "supersede" not in journal
    assert moved("explain", 1, *then).out.startswith("fact 1 is active")
    assert "found, 1st" in moved("search", "Alice", "--why-not", 1, *then).out
    assert "found, 1st" not in moved("recall", "Alice", "--why-not", 2).out
    target = tmp_path / "then.jsonl"
    moved("export", target, *then)
    lines = [json.loads(line) for line in target.read_text("utf-8").splitlines()]
    assert [line["fact"]["id"] for line in lines if "fact" in line] == [1]


def test_a_day_selects_what_held(moved: CommandLine) -> None:
    assert ids(moved.json("list", "--valid-on", "2026-01-15")) == [1]
    assert ids(moved.json("list", "--valid-on", "2026-03-01")) == [2]
    assert "Rome" in moved("search", "Alice", "--valid-on", "2026-01-15").out


@pytest.mark.parametrize(
    ("moment", "told"),
    [
        ("soon", "--as-of is not a moment: 'soon'"),
        ("2999-01-01", "--as-of is in the future"),
        ("op:99", "there is no line 99"),
        ("episode:7", "there is no episode 7"),
    ],
)
def test_a_moment_that_is_none_is_refused(moved: CommandLine, moment: str, told: str) -> None:
    code, error = moved.error("list", "--as-of", moment)
    assert code != 0
    assert told in error


def test_what_does_not_go_together_is_refused(moved: CommandLine) -> None:
    for arguments in (
        ("history", "e1"),
        ("export", "--namespaces", "all"),
    ):
        code, error = moved.error(*arguments, "--as-of", "op:1")
        assert code == 2
        assert "--as-of" in error
