"""Hooks around midnight, from 11 hours behind UTC to 14 ahead, and where the clocks change."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterator
from datetime import date, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from tests.support.builds import skip_without_model

import memstore
from memstore.domain import clock, zones
from memstore.domain.clock import Clock
from memstore.faces.hosts import hook

SAID, TOLD = "We moved staging to port 5499", "The port of production is 5432"
DAYS = [
    *("Pacific/Pago_Pago 2026-11-20", "America/Los_Angeles 2026-11-20", "UTC 2026-11-20"),
    *("America/St_Johns 2026-02-28", "Asia/Kathmandu 2026-12-31", "Pacific/Kiritimati 2026-11-20"),
    *("America/Los_Angeles 2026-03-07", "America/Los_Angeles 2026-10-31"),  # summer time
    *("Europe/Berlin 2026-03-28", "Europe/Berlin 2026-10-24", "Australia/Lord_Howe 2026-10-03"),
    "America/Santiago 2026-09-05",  # whose next day begins at 01:00
]


class At(Clock):
    """Real seconds from a moment on: pauses of other threads do not set it forward."""

    def __init__(self, moment: datetime) -> None:
        self._ahead = moment - super().utc_now()

    def utc_now(self) -> datetime:
        return super().utc_now() + self._ahead


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository in an empty home, which is the current folder."""
    folder = tmp_path / "home" / "api"
    (folder / ".git").mkdir(parents=True)
    for name in ("HOME", "USERPROFILE", "XDG_DATA_HOME", "LOCALAPPDATA"):
        monkeypatch.setenv(name, str(folder.parent))
    for name in ("MEMSTORE_PROJECT", "CLAUDE_PROJECT_DIR", "MEMSTORE_NAMESPACE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("MEMSTORE_DB", str(tmp_path / "memory.db"))
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def run(
    project: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[..., str]]:
    """Run a hook in this process; return what the model is told."""

    def run(event: str, **given: str) -> str:
        data = json.dumps({"cwd": str(project), **given}).encode()
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(data)))
        capsys.readouterr()
        assert hook.main([event, "--namespace", "auto"]) == 0
        said = capsys.readouterr().out
        return str(json.loads(said)["hookSpecificOutput"]["additionalContext"]) if said else ""

    yield run
    zones.prefer(None)  # a hook is a process of its own


@pytest.mark.model
@pytest.mark.parametrize("case", DAYS)
def test_what_was_said_before_midnight_is_of_yesterday_after_it(
    run: Callable[..., str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    case: str,
) -> None:
    skip_without_model()
    name, text = case.split()
    zone, day = ZoneInfo(name), date.fromisoformat(text)
    next_day = day + timedelta(days=1)
    monkeypatch.setenv("MEMSTORE_TIMEZONE", name)

    def at(day: date, hour: int, minute: int) -> At:
        return At(datetime(day.year, day.month, day.day, hour, minute, tzinfo=zone))

    with (
        clock.use(at(day, 23, 40)),
        memstore.open(tmp_path / "memory.db", namespace="auto") as store,
    ):
        turn = {"source": "claude-code", "thread": "t", "tags": ["session"]}
        store.episodes.add(SAID, speaker="user", **turn)
        store.episodes.add("Noted.", speaker="assistant", **turn)
        store.tasks.create("renew the certificate", due="tomorrow")
        store.add(TOLD, subject="production", category="project")
    sessions = iter("abcdefgh")
    for hour, minute in ((1, 10), (12, 0), (23, 50)):
        with clock.use(at(next_day, hour, minute)):
            begun = run("SessionStart", session_id=next(sessions))
            assert f"{day} 23:40 claude-code" in begun
            assert f"due {next_day} (tomorrow)" in begun
            assert f"{day} #2 production: {TOLD}" in begun
            asked = "what was said yesterday about staging?"
            told = run("UserPromptSubmit", session_id=f"p{hour}", prompt=asked)
            assert f"{day}\ne1 user: {SAID}" in told
            named = f"{day:%B} {day.day}"
            asked = f"what was said on {named} about staging?"
            told = run("UserPromptSubmit", session_id=f"q{hour}", prompt=asked)
            assert f"{day}\n" in told
            assert SAID in told
            assert str(next_day) not in told
