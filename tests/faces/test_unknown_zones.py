"""A time zone that is not known here: an error that helps, or the machine's, and that is said."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.clock import read_tz
from tests.support.command_line import CommandLine, cli_fixture  # noqa: F401

import memstore
from memstore.domain import zones
from memstore.faces.hosts import hook

KNOWN_TZ = [
    *("", "UTC", "Europe/Paris", ":Europe/Paris", "EST5EDT", "CET-1CEST,M3.5.0,M10.5.0/3"),
    *("<+0545>-5:45", "UTC+5", "/usr/share/zoneinfo/Asia/Tokyo", "Japan"),
]
UNKNOWN_TZ = ["Foo/Bar", "Europe/Berln", "Europe/", "../../etc/passwd", "gibberish!", "XYZ"]


@pytest.fixture(autouse=True)
def _zone_of_the_machine(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.delenv("MEMSTORE_TIMEZONE", raising=False)
    yield
    zones.prefer(None)
    monkeypatch.undo()
    read_tz()


@pytest.mark.parametrize("named", KNOWN_TZ)
def test_nothing_is_said_of_a_zone_that_is_known(
    cli: CommandLine, monkeypatch: pytest.MonkeyPatch, named: str
) -> None:
    monkeypatch.setenv("TZ", named)
    read_tz()
    assert zones.unknown_tz() is None
    cli.add("Ana likes tea", "ana")
    assert "TZ" not in cli("status").err


@pytest.mark.parametrize("named", UNKNOWN_TZ)
def test_an_unknown_tz_is_utc_and_the_status_and_the_doctor_say_so(
    cli: CommandLine, monkeypatch: pytest.MonkeyPatch, named: str
) -> None:
    monkeypatch.setenv("TZ", named)
    read_tz()
    cli.add("Ana likes tea", "ana")
    with memstore.open(cli.db, embedder=None) as store:
        assert store.ledger.log()[0].at.utcoffset().total_seconds() == 0
    for command in ("status", "doctor"):
        answer = cli(command)
        assert answer.code == 0
        assert f"TZ={named} is no time zone known here, so days are those of UTC" in answer.err
    assert "Ana likes tea" in cli("search", "tea").out


@pytest.mark.parametrize("named", [*UNKNOWN_TZ, "12", "+15:00", "Mars/Base"])
def test_a_setting_that_names_no_zone_is_an_error_that_helps(
    cli: CommandLine, monkeypatch: pytest.MonkeyPatch, named: str
) -> None:
    cli.add("Ana likes tea", "ana")
    for words in (["search", "tea"], ["log"], ["status"], ["task", "list"]):
        code, told = cli.error(*words, "--timezone", named)
        assert code == 2
        assert "is no time zone known here" in told
        assert "Europe/Berlin" in told
    monkeypatch.setenv("MEMSTORE_TIMEZONE", named)
    code, told = cli.error("log")
    assert (code, "Europe/Berlin" in told) == (2, True)


@pytest.mark.parametrize("by", ["flag", "variable"])
def test_a_hook_with_an_unknown_zone_uses_the_machine_s_and_the_doctor_says_so(
    cli: CommandLine,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    by: str,
) -> None:
    for name in ("HOME", "XDG_DATA_HOME", "LOCALAPPDATA"):
        monkeypatch.setenv(name, str(tmp_path / "home"))
    cli.add("Ana likes tea", "ana")
    words = ["--timezone", "Foo/Bar"] if by == "flag" else []
    if by == "variable":
        monkeypatch.setenv("MEMSTORE_TIMEZONE", "Foo/Bar")
    event = json.dumps({"cwd": str(tmp_path)}).encode()
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(event)))
    assert hook.main(["SessionStart", "--host", "codex", *words]) == 0
    assert "Ana likes tea" in capsys.readouterr().out
    monkeypatch.delenv("MEMSTORE_TIMEZONE", raising=False)
    told = cli("doctor").err
    assert "SessionStart of codex" in told
    assert "'Foo/Bar'" in told
    assert "the machine's was used" in told
