"""The half-lives of facts are chosen on every face."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.support.command_line import CommandLine, cli_fixture  # noqa: F401

import memstore
from memstore.faces import from_settings, options
from memstore.faces.cli import hosts
from memstore.faces.cli.render import JsonShow
from memstore.faces.hosts import hook
from memstore.faces.starting import every_flag, quick_start

DAY = 86_400.0


@pytest.mark.parametrize(
    ("written", "table"),
    [
        (None, None),
        ("off", {}),
        ("note=90d", {"note": 90 * DAY}),
        ("note=0d, project=12h", {"note": 0.0, "project": 12 * 3600}),
    ],
)
def test_tables_are_read(written: str | None, table: dict[str, float] | None) -> None:
    assert options.half_lives(written) == table


@pytest.mark.parametrize("written", ["note", "note=", "=3d", "note=ever", "note=3d,", "3d", "-1d"])
def test_a_wrong_table_is_an_error_with_an_example(written: str) -> None:
    with pytest.raises(ValueError, match="--half-lives is off or a table such as note=30d"):
        options.half_lives(written)


def chosen(path: Path, *flags: str) -> memstore.Store:
    parser = argparse.ArgumentParser()
    options.add_store_flags(parser)
    given = parser.parse_args(["--db", str(path), "--embedder", "none", *flags])
    return from_settings.open_store(options.chosen_settings(given), source="test")


@pytest.mark.parametrize(
    ("flags", "variable", "decay"),
    [
        ([], None, 0.5),
        ([], "off", 1.0),
        ([], "note=10d", 0.125),
        (["--half-lives", "off"], "note=10d", 1.0),
        (["--half-lives", "note=15d"], "off", 0.25),
    ],
)
def test_flag_or_variable_choose_them_for_a_store(
    path: Path,
    monkeypatch: pytest.MonkeyPatch,
    flags: list[str],
    variable: str | None,
    decay: float,
) -> None:
    monkeypatch.delenv("MEMSTORE_HALF_LIVES", raising=False)
    if variable is not None:
        monkeypatch.setenv("MEMSTORE_HALF_LIVES", variable)
    with chosen(path, *flags) as store:
        then = datetime.now(UTC) - timedelta(days=30)
        store.add("tea", subject="ana", created_at=then)
        assert store.search("tea")[0].decay == pytest.approx(decay, rel=1e-3)


def test_the_command_line_takes_them_and_refuses_a_wrong_table(
    cli: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    with memstore.open(cli.db, embedder=None) as store:
        store.add("tea", subject="ana", created_at="2020-01-01")
    assert cli.json("search", "tea")[0]["decay"] < 0.01
    assert cli.json("search", "tea", "--half-lives", "off")[0]["decay"] == 1
    monkeypatch.setenv("MEMSTORE_HALF_LIVES", "off")
    assert cli.json("search", "tea")[0]["decay"] == 1
    code, error = cli.error("search", "tea", "--half-lives", "soon")
    assert (code, "note=30d,project=7d, not 'soon'" in error) == (2, True)


@pytest.mark.parametrize("started", [quick_start.main, every_flag.main])
def test_a_server_refuses_a_wrong_table_when_it_starts(
    started: Callable[[list[str]], None],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("MEMSTORE_HALF_LIVES", "soon")
    with pytest.raises(SystemExit):
        started([])
    assert "--half-lives is off or a table" in capsys.readouterr().err


def test_setup_registers_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMSTORE_HALF_LIVES", "note=90d")
    given = argparse.Namespace(
        no_hooks=False,
        no_prompts=False,
        no_transcripts=False,
        server=None,
        user="ana",
        own_memory=None,
    )
    wanted = hosts._wanted(given, None, JsonShow())
    for words in (wanted.flags, wanted.server):
        assert words[words.index("--half-lives") + 1] == "note=90d"


def test_hooks_pass_them_on(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given = hook.parser().parse_args(["prompt", "--half-lives", "off", "--db", str(path)])
    assert hook.chosen_settings(given).half_lives == "off"
    passed: list[str] = []

    class Child:
        def __init__(self, command: list[str], **_: Any) -> None:
            passed.extend(command)
            self.stdin = open("/dev/null", "wb")  # noqa: SIM115 - closed by the hook

    monkeypatch.setattr("subprocess.Popen", Child)
    monkeypatch.setattr("memstore.faces.hosts.transcripts.file_of", lambda _: "a file")
    hook.keep_in_background(given, {"transcript_path": "session.jsonl"})
    assert "--half-lives=off" in passed
