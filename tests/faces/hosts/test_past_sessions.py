"""Importing the sessions that hosts have on the disk: as the hooks would have recorded them."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.support.command_line import CommandLine, cli_fixture  # noqa: F401

import memstore
from memstore import Store
from memstore.faces.hosts import keeping


def lines(file: Path, *records: Any) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join(json.dumps(one) + "\n" for one in records), encoding="utf-8")
    return file


def claude(home: Path, project: Path, session: str, *said: str, day: int = 1) -> Path:
    records = [
        {
            "type": "user" if number % 2 == 0 else "assistant",
            "uuid": f"{session}-{number}",
            "timestamp": f"2025-03-{day:02}T10:00:{number:02}Z",
            "cwd": str(project),
            "sessionId": session,
            "message": {"role": "assistant" if number % 2 else "user", "content": text},
        }
        for number, text in enumerate(said)
    ]
    return lines(of_claude(home, project) / f"{session}.jsonl", *records)


def of_claude(home: Path, project: Path) -> Path:
    return home / ".claude" / "projects" / re.sub(r"[^a-zA-Z0-9]", "-", str(project))


def codex(home: Path, project: Path, session: str, *said: str) -> Path:
    meta = {"id": session, "cwd": str(project), "source": "exec"}
    at = "2025-03-02T10:00:00Z"
    kinds = ("UserMessage", "AgentMessage")
    items = [
        {"type": kinds[number % 2], "id": f"{session}-{number}", "content": [{"text": text}]}
        for number, text in enumerate(said)
    ]
    return lines(
        home / f".codex/sessions/2025/03/02/rollout-{session}.jsonl",
        {"type": "session_meta", "timestamp": at, "payload": meta},
        *(
            {"type": "event_msg", "timestamp": at, "payload": {"type": "item_completed", "item": i}}
            for i in items
        ),
    )


def gemini(home: Path, project: Path, session: str, *said: str) -> Path:
    folder = home / ".gemini/tmp/api"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / ".project_root").write_text(str(project))
    records = [
        {
            "id": f"{session}-{number}",
            "timestamp": "2025-03-03T10:00:00Z",
            "type": "gemini" if number % 2 else "user",
            "content": text,
        }
        for number, text in enumerate(said)
    ]
    first = {"sessionId": session, "projectHash": "x", "kind": "main"}
    return lines(folder / f"chats/session-{session}.jsonl", first, *records)


WRITERS = {"claude-code": claude, "codex": codex, "gemini": gemini}
NAMES = {"claude-code": "claude-code", "codex": "codex", "gemini": "gemini-cli"}


@pytest.fixture
def project(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "GEMINI_CLI_HOME"):
        monkeypatch.delenv(name, raising=False)
    folder = home / "work" / "api"
    (folder / ".git").mkdir(parents=True)
    return folder


def opened(cli: CommandLine, namespace: str = "~/work/api") -> Store:
    return memstore.open(os.environ["MEMSTORE_DB"], namespace=namespace, embedder=None)


@pytest.mark.parametrize("host", WRITERS)
def test_a_session_is_a_thread_of_its_project_with_its_times(
    cli: CommandLine, home: Path, project: Path, host: str
) -> None:
    WRITERS[host](home, project, "s1", "which port?", "5499", "thanks")
    counted = cli.json("import", "--from", host, "--dry-run")
    assert (counted["sessions"], counted["episodes"], counted["dry_run"]) == (1, 3, True)
    done = cli.json("import", "--from", host)
    assert (done["sessions"], done["episodes"], done["known"]) == (1, 3, 0)
    assert done["namespaces"] == {"~/work/api": 1}
    with opened(cli) as store:
        turns = store.episodes.list()
        assert [(one.content, one.speaker) for one in turns] == [
            ("which port?", "user"),
            ("5499", "assistant"),
            ("thanks", "user"),
        ]
        assert {one.thread for one in turns} == {"s1"}
        assert {one.source for one in turns} == {NAMES[host]}
        assert {(one.valid_at or one.created_at).year for one in turns} == {2025}
        assert {one.created_at.year for one in turns} == {2025}
        assert store.file.doctor() == []
        head = store.file.head()
    again = cli.json("import", "--from", host)
    assert (again["episodes"], again["known"]) == (0, 3)
    with opened(cli) as store:
        assert store.file.head() == head


def prompt(session: str, number: int, text: str) -> dict[str, Any]:
    at = f"2025-03-01T10:00:{number:02}.000Z"
    return {
        "sessionId": session,
        "messageId": number,
        "type": "user",
        "message": text,
        "timestamp": at,
    }


def test_log_of_prompts_is_read_for_sessions_without_a_file(
    cli: CommandLine, home: Path, project: Path
) -> None:
    gemini(home, project, "s2", "in a file")
    log = [prompt("s1", 0, "which port?"), prompt("s2", 0, "in a file"), prompt("s1", 1, "thanks")]
    file = home / ".gemini/tmp/api/logs.json"
    file.write_text(json.dumps(log, indent=2))
    assert cli.json("import", "--from", "gemini", "--dry-run")["episodes"] == 3
    done = cli.json("import", "--from", "gemini")
    assert (done["sessions"], done["episodes"], done["left_out"]) == (2, 3, {})
    with opened(cli) as store:
        said = {one.content: one.thread for one in store.episodes.list()}
        assert said == {"which port?": "s1", "thanks": "s1", "in a file": "s2"}
    again = cli.json("import", "--from", "gemini", file)
    assert (again["episodes"], again["known"]) == (0, 2)


def test_file_that_no_host_wrote_is_an_error_that_says_so(
    cli: CommandLine, home: Path, project: Path, tmp_path: Path
) -> None:
    other = lines(tmp_path / "other.jsonl", {"id": 1, "memory": "likes tea"})
    told = cli.error("import", "--from", "codex", other)[1]
    assert "the file has no record that a host writes" in told
    assert "the recorded sessions of codex are expected; nothing was imported" in told
    session = claude(home, project, "s1", "which port?")
    told = cli.error("import", "--from", "codex", session)[1]
    assert "the file looks like one of claude-code" in told


@pytest.mark.parametrize("host", WRITERS)
@pytest.mark.parametrize("first", ["import", "hook"])
def test_import_and_hook_store_each_turn_once(
    cli: CommandLine, home: Path, project: Path, host: str, first: str
) -> None:
    file = WRITERS[host](home, project, "s1", "which port?", "5499")
    event = {"session_id": "s1", "transcript_path": str(file)}
    for how in (first, "import", "hook"):
        if how == "import":
            cli.json("import", "--from", host)
            continue
        os.chdir(project)
        with opened(cli) as store:
            keeping.keep(store, NAMES[host], event)
    with opened(cli) as store:
        assert [one.content for one in store.episodes.list()] == ["which port?", "5499"]


@pytest.mark.parametrize("first", ["import", "hook"])
@pytest.mark.parametrize("then", ["import", "hook"])
def test_a_turn_that_was_erased_does_not_come_back(
    cli: CommandLine, home: Path, project: Path, first: str, then: str
) -> None:
    file = claude(home, project, "s1", "my number is 5551234", "noted")
    event = {"session_id": "s1", "transcript_path": str(file)}
    for how in (first, then, then):
        if how == "import":
            cli.json("import", "--from", "claude-code")
        else:
            os.chdir(project)
            with opened(cli) as store:
                keeping.keep(store, "claude-code", event)
        with opened(cli) as store:
            for one in store.episodes.list():
                if "5551234" in one.content:
                    assert how == first
                    store.episodes.erase(one.id)
    with opened(cli) as store:
        assert [one.content for one in store.episodes.list()] == ["noted"]


def test_each_session_goes_to_its_project_and_subagents_to_none(
    cli: CommandLine, home: Path, project: Path
) -> None:
    other = home / "work" / "my.web_site"
    (other / "src").mkdir(parents=True)
    claude(home, project, "a1", "one")
    claude(home, other / "src", "b1", "two")  # no repository: the folder itself
    claude(home, project, "agent-1", "of a subagent")
    claude(home, project, "empty")
    nowhere = {"type": "user", "uuid": "n", "message": {"role": "user", "content": "nowhere"}}
    lines(home / ".claude/projects/-x/c1.jsonl", nowhere)
    done = cli.json("import", "--from", "claude-code")
    assert done["namespaces"] == {"default": 1, "~/work/api": 1, "~/work/my.web_site/src": 1}
    assert {kind.split(" (")[0]: number for kind, number in done["left_out"].items()} == {
        "sessions of subagents": 1,
        "sessions in which nothing was said": 1,
        "sessions without a folder": 1,
    }
    cli.json("import", "--from", "claude-code", "--namespace", "all-of-it")
    with opened(cli, "all-of-it") as store:
        assert len(store.episodes.list()) == 3


def test_the_sessions_of_another_folder_are_imported(
    cli: CommandLine, home: Path, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = claude(home, project, "s1", "one")
    moved = home / "backup"
    (home / ".claude").rename(moved)
    assert cli("import", "--from", "claude-code").code != 0  # there is nothing
    file = moved / file.relative_to(home / ".claude")
    for where in (moved, file, moved / "projects", file.parent):
        done = cli.json("import", "--from", "claude-code", str(where))
        assert (done["sessions"], done["namespaces"]) == (1, {"~/work/api": 1}), where
    with opened(cli) as store:
        assert len(store.episodes.list()) == 1
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(moved))
    assert cli.json("import", "--from", "claude-code")["known"] == 1
    code, text = cli.error("import", "--from", "claude-code", str(home / "nothing"))
    assert (code, "there is no" in text) == (3, True), (code, text)


MEMORY = "---\nname: {0}\ndescription: d\nmetadata:\n  type: {1}\n---\n\n{2}\n"


def test_what_a_host_remembers_is_imported_once_with_its_kinds(
    cli: CommandLine, home: Path, project: Path
) -> None:
    file = claude(home, project, "s1", "one")
    folder = file.parent / "memory"
    folder.mkdir()
    for name, kind, text in (
        ("role", "user", "Is a data engineer"),
        ("tests", "feedback", "Never mock the database"),
        ("port", "project", "Staging is on port 5499"),
    ):
        (folder / f"{name}.md").write_text(MEMORY.format(name, kind, text))
    alone = home / "work" / "web"  # its sessions are gone
    alone.mkdir()
    other = of_claude(home, alone) / "memory"
    other.mkdir(parents=True)
    (other / "MEMORY.md").write_text("- deploys on Fridays\n")
    assert cli.json("import", "--from", "claude-code", "--dry-run")["facts"] == 4
    assert cli.json("import", "--from", "claude-code")["facts"] == 4
    assert cli.json("import", "--from", "claude-code")["facts"] == 0
    os.chdir(project)
    with opened(cli, "auto") as store:
        event = {"session_id": "s1", "transcript_path": str(file)}
        keeping.keep(store, "claude-code", event)
        found = {one.content: (one.category, one.namespace) for one in store.list()}
    assert found == {
        "Is a data engineer": ("identity", "default"),
        "Never mock the database": ("preference", "default"),
        "Staging is on port 5499": ("project", "~/work/api"),
    }
    with opened(cli, "~/work/web") as store:
        assert [one.content for one in store.list()] == ["deploys on Fridays"]


def test_a_session_of_the_past_is_not_the_last_one(
    cli: CommandLine, home: Path, project: Path
) -> None:
    os.chdir(project)
    new = lines(
        home / "new.jsonl",
        {"type": "user", "uuid": "n", "message": {"role": "user", "content": "said today"}},
    )
    with opened(cli) as store:
        keeping.keep(store, "claude-code", {"session_id": "n", "transcript_path": str(new)})
    for day in range(1, 8):
        claude(home, project, f"s{day}", f"said on day {day}", day=day)
    cli.json("import", "--from", "claude-code")
    with opened(cli) as store:
        text = str(store.briefing())
    assert "said today" in text
    assert "said on day 7" in text
    assert "said on day 1" not in text


def test_damaged_and_hostile_files_harm_no_other(
    cli: CommandLine, home: Path, project: Path
) -> None:
    folder = claude(home, project, "s1", "one").parent
    (folder / "bad.jsonl").write_bytes(b"\xff\xfe{{{\n[1,2]\nnull\n" + b"[" * 5000 + b"\n")
    (folder / "empty.jsonl").write_bytes(b"")
    (folder / "list.jsonl").write_text('{"type":"user","cwd":["/x"],"message":{"role":5}}\n')
    done = cli.json("import", "--from", "claude-code")
    assert (done["sessions"], done["episodes"]) == (1, 1)


@pytest.mark.process
@pytest.mark.slow
def test_an_import_that_was_killed_is_completed_by_the_next(
    cli: CommandLine, home: Path, project: Path
) -> None:
    for number in range(60):
        file = claude(home, project, f"s{number}", *(f"turn {number} {n}" for n in range(40)))
    folder = file.parent / "memory"
    folder.mkdir()
    (folder / "MEMORY.md").write_text("".join(f"- fact number {n}\n" for n in range(120)))
    words = [sys.executable, "-m", "memstore", "import", "--from", "claude-code", "--no-embed"]
    for _ in range(4):
        process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        database = Path(os.environ["MEMSTORE_DB"])
        before = database.stat().st_size if database.exists() else 0
        while process.poll() is None:  # until it has written something
            if database.exists() and database.stat().st_size > before:
                process.send_signal(signal.SIGKILL)
                break
        process.wait()
    done = cli.json("import", "--from", "claude-code", "--no-embed")
    assert done["episodes"] + done["known"] == 2400
    with opened(cli) as store:
        assert store.episodes.count() == 2400
        assert store.count() == 120
        assert store.file.doctor() == []
    again = cli.json("import", "--from", "claude-code", "--no-embed")
    assert (again["episodes"], again["facts"]) == (0, 0)
