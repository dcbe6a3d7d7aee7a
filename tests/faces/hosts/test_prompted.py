"""Prompts that hooks answered are recorded as searches are, when the conversation is kept."""

from __future__ import annotations

import io
import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import memstore
from memstore.faces.hosts import hook, prompted, sessions

PROMPT = ["UserPromptSubmit", "--namespace", "api", "--host", "claude-code"]
KEEP = ["keep", "--namespace", "api", "--host", "claude-code"]
ASKED = "What does Ana drink?"


@pytest.fixture
def store(home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[memstore.Store]:
    monkeypatch.setenv("MEMSTORE_DB", str(home / "memory.db"))
    with memstore.open(home / "memory.db", namespace="api", source="test") as store:
        store.add("Ana drinks tea", subject="ana")
        yield store


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Callable[..., str]:
    """Run a hook of one session in this process, and return what it prints."""

    def run(argv: list[str], **event: Any) -> str:
        given = json.dumps({"session_id": "s1", **event}).encode()
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(given)))
        capsys.readouterr()
        assert hook.main(argv) == 0
        return capsys.readouterr().out

    return run


def written(folder: Path, *texts: str) -> str:
    """Write the transcript of a session in which the user said these."""
    lines = [
        json.dumps({"type": "user", "uuid": f"u{place}", "message": {"role": "user", "content": t}})
        for place, t in enumerate(texts)
    ]
    path = folder / "transcript.jsonl"
    path.write_text("\n".join([*lines, ""]), encoding="utf-8")
    return str(path)


def notes() -> list[Path]:
    return [*Path(sessions.folder()).glob("*-prompts.json")]


def test_prompt_is_recorded_with_what_it_was_given(
    run: Callable[..., str], store: memstore.Store, home: Path
) -> None:
    assert "Ana drinks tea" in run(PROMPT, prompt=ASKED)
    assert store.searches.list() == []  # the hook only reads the file
    run(KEEP, transcript_path=written(home, ASKED))
    (found,) = store.searches.list()
    assert (found.query, found.tool, found.facts) == (ASKED, "prompt", (1,))
    assert found.client == "claude-code"
    assert 0 < (found.tokens or 0) <= 500
    assert (found.milliseconds or 0) > 0
    assert notes() == []


def test_what_added_nothing_is_recorded_as_empty(
    run: Callable[..., str], store: memstore.Store, home: Path
) -> None:
    assert run(PROMPT, prompt="How tall is the tower?") == ""
    run(KEEP, transcript_path=written(home, "How tall is the tower?"))
    (found,) = store.searches.list(tool="prompt", is_empty=True)
    assert (found.tokens, found.facts) == (0, ())
    assert store.searches.list(tool="memory_search") == []


def test_notes_have_no_text(run: Callable[..., str], store: memstore.Store) -> None:
    run(PROMPT, prompt=ASKED)
    (file,) = notes()
    assert "Ana" not in file.read_text()
    assert "#1" in file.read_text()
    if os.name == "posix":
        assert file.stat().st_mode & 0o777 == 0o600


def test_notes_push_out_no_session(
    run: Callable[..., str], store: memstore.Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sessions, "MAX_FILES", 3)
    for name in ("s1", "s2", "s3", "s4", "s5"):
        run(PROMPT, session_id=name, prompt=ASKED)
    files = [file.name for file in Path(sessions.folder()).iterdir()]
    assert len(files) == 6
    assert {name[9:11] for name in files} == {"s3", "s4", "s5"}


def test_each_prompt_is_recorded_once(
    run: Callable[..., str], store: memstore.Store, home: Path
) -> None:
    path = written(home, ASKED)
    run(PROMPT, prompt=ASKED)
    for _ in range(3):
        run(KEEP, transcript_path=path)
    assert len(store.searches.list()) == 1


def test_a_command_is_not_recorded(
    run: Callable[..., str], store: memstore.Store, home: Path
) -> None:
    run(PROMPT, prompt="/clear")
    assert notes() == []


@pytest.mark.parametrize(
    ("name", "value"),
    [("MEMSTORE_NO_RECORD", "1"), ("MEMSTORE_READ_ONLY", "1"), ("MEMSTORE_TRANSCRIPTS", "off")],
)
def test_nothing_is_noted_if_recording_is_off(
    run: Callable[..., str],
    store: memstore.Store,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    value: str,
) -> None:
    monkeypatch.setenv(name, value)
    assert "Ana drinks tea" in run(PROMPT, prompt=ASKED)
    assert notes() == []


def test_what_was_erased_meanwhile_is_not_recorded(
    run: Callable[..., str], store: memstore.Store, home: Path
) -> None:
    run(PROMPT, prompt=ASKED)
    store.ledger.erasure(facts=[1]).apply()
    run(KEEP, transcript_path=written(home, ASKED))
    assert store.searches.list() == []


def test_a_turn_that_was_erased_is_not_recorded_again(
    run: Callable[..., str], store: memstore.Store, home: Path
) -> None:
    path = written(home, ASKED)
    run(KEEP, transcript_path=path)
    store.ledger.erasure(episode=store.episodes.list()[0].id).apply()
    run(PROMPT, prompt=ASKED)
    run(KEEP, transcript_path=path)
    assert store.searches.list() == []


def test_secrets_in_a_prompt_are_redacted(
    run: Callable[..., str], store: memstore.Store, home: Path
) -> None:
    text = "Does Ana use password=hunter2hunter2 for tea?"
    run(PROMPT, prompt=text)
    run(KEEP, transcript_path=written(home, text))
    (found,) = store.searches.list()
    assert "hunter2" not in (found.query or "")


@pytest.mark.parametrize(
    "damage",
    [
        "",
        "null",
        "[]",
        '{"at": 3}',
        "\x00\xff",
        "{" * 10_000,
        '{"at": "2026-01-01T00:00:00Z", "digest": "x", "given": ["#x"], "tokens": "a"}',
    ],
)
def test_damaged_notes_are_passed_over(
    run: Callable[..., str], store: memstore.Store, home: Path, damage: str
) -> None:
    run(PROMPT, prompt=ASKED)
    (file,) = notes()
    file.write_text(f"{damage}\n{file.read_text()}", encoding="utf-8")
    run(KEEP, transcript_path=written(home, ASKED))
    assert [one.query for one in store.searches.list()] == [ASKED]


def test_notes_end_at_their_limit(
    run: Callable[..., str], store: memstore.Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(prompted, "MAX_BYTES", 300)
    for _ in range(9):
        run(PROMPT, prompt=ASKED)
    assert notes()[0].stat().st_size < 600


def test_a_link_in_the_place_of_the_notes_is_not_followed(
    run: Callable[..., str], store: memstore.Store, home: Path
) -> None:
    run(PROMPT, prompt=ASKED)
    (file,) = notes()
    file.unlink()
    mine = home / "mine"
    mine.write_text("mine")
    file.symlink_to(mine)
    assert run(PROMPT, prompt="What does Ana drink in the morning?") is not None
    assert mine.read_text() == "mine"
