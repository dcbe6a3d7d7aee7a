"""Sessions that a killed hook, or a process that failed, did not keep: a later hook does."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.support.clock import ManualClock, wait_until
from tests.support.command_line import CommandLine, cli_fixture  # noqa: F401

import memstore
from memstore import settings
from memstore.faces import background
from memstore.faces.hosts import hook, remote, servers, spool, troubles, unkept

posix_only = pytest.mark.skipif(sys.platform == "win32", reason="kills are those of POSIX")
HOOK = [sys.executable, "-m", "memstore", "hook"]
LONG_AGO = unkept.IDLE_SECONDS + 60


@pytest.fixture
def db(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MEMSTORE_EMBEDDER", "none")
    return home / "memory.db"


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """The commands that hooks started in the background, instead of starting them."""
    found: list[list[str]] = []
    monkeypatch.setattr(background, "start", lambda words, given=b"": found.append(list(words)))
    return found


def conversation(home: Path, name: str, *, turns: int = 2) -> dict[str, Any]:
    """Write a transcript; return the event at its end."""
    file = home / f"{name}.jsonl"
    roles = ("user", "assistant")
    file.write_text(
        "".join(
            json.dumps(
                {
                    "type": roles[n % 2],
                    "uuid": f"{name}{n}",
                    "message": {"role": roles[n % 2], "content": f"{name} said {n}"},
                }
            )
            + "\n"
            for n in range(turns)
        )
    )
    return {"session_id": name, "transcript_path": str(file), "cwd": str(home)}


def handle(name: str, event: dict[str, Any], *flags: str) -> Any:
    """Handle an event in this process."""
    words = [name, "--host", "claude-code", *flags]
    return hook.answered(hook.parser().parse_args(words), event)


def run(name: str, event: dict[str, Any], *flags: str) -> None:
    """Handle an event in a process of its own, as a host does."""
    words = [*HOOK, name, "--host", "claude-code", *flags]
    subprocess.run(words, input=json.dumps(event).encode(), timeout=60, check=True)


def notes() -> list[str]:
    folder = Path(unkept.folder())
    return sorted(file.name for file in folder.glob("*.json")) if folder.exists() else []


def aged(seconds: float, event: dict[str, Any] | None = None) -> None:
    """Make all notes, and a transcript, so much older."""
    files = [Path(unkept.folder()) / name for name in notes()]
    for file in [*files, *([Path(event["transcript_path"])] if event else [])]:
        at = file.stat().st_mtime - seconds
        os.utime(file, (at, at))


def said(db: Path, namespace: str = "default") -> list[str]:
    if not db.exists():
        return []
    with memstore.open(db, namespace=namespace, embedder=None, read_only=True) as store:
        return sorted(one.content for one in store.episodes.list(limit=None))


def told(database: object) -> str:
    return " ".join(troubles.sentences(str(database)))


def test_a_session_is_noted_before_its_process_starts(
    home: Path, db: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def start(words: list[str], given: bytes = b"") -> None:
        assert len(notes()) == 1
        raise OSError("no process can be started")

    monkeypatch.setattr(background, "start", start)
    with pytest.raises(OSError, match="no process"):
        handle("SessionEnd", conversation(home, "a"), "--db", str(db))
    assert len(notes()) == 1


@pytest.mark.parametrize("event", ["SessionEnd", "sessionEnd", "PreCompact", "PreCompress"])
def test_what_is_kept_is_no_longer_noted(
    home: Path, db: Path, started: list[list[str]], event: str
) -> None:
    ended = conversation(home, "a")
    handle(event, ended, "--db", str(db))
    [words] = started
    assert words[1] == "keep"
    handle("keep", ended, *words[2:])
    assert notes() == []
    assert said(db) == ["a said 0", "a said 1"]


def test_a_process_that_was_not_given_the_event_reads_it(
    home: Path, db: Path, started: list[list[str]]
) -> None:
    handle("SessionEnd", conversation(home, "a"), "--db", str(db))
    handle("keep", {}, *started[0][2:])
    assert said(db) == ["a said 0", "a said 1"]


def test_a_note_of_a_later_end_is_not_removed(
    home: Path, db: Path, started: list[list[str]], manual_clock: ManualClock
) -> None:
    """What was said after the first process had read the transcript is in no memory yet."""
    handle("PreCompact", conversation(home, "a"), "--db", str(db))
    digest = started[0][2].partition("=")[2]
    ends = unkept.of(digest)[1]
    manual_clock.advance(1)
    handle("SessionEnd", conversation(home, "a", turns=4), "--db", str(db))
    unkept.kept(digest, ends)
    assert len(notes()) == 1


@pytest.mark.process
@pytest.mark.parametrize("later", ["SessionStart", "UserPromptSubmit", "SessionEnd"])
def test_the_next_hook_of_any_session_keeps_what_was_left(
    home: Path,
    db: Path,
    started: list[list[str]],
    monkeypatch: pytest.MonkeyPatch,
    later: str,
) -> None:
    for n in range(3):
        handle("SessionEnd", conversation(home, f"left{n}"), "--db", str(db))
    assert said(db) == []
    started.clear()
    event = conversation(home, "later")
    given = io.TextIOWrapper(io.BytesIO(json.dumps(event).encode()))
    monkeypatch.setattr(sys, "stdin", given)
    hook.main([later, "--host", "codex", "--db", str(db)])
    [words] = started
    if later == "SessionEnd":
        handle("keep", event, *words[2:])
    else:
        assert words == ["hook", "again"]
        handle("again", {})
    left = [f"left{n} said {m}" for n in range(3) for m in range(2)]
    assert [one for one in said(db) if one.startswith("left")] == left
    assert notes() == []
    assert not unkept.are_due()


@pytest.mark.process
def test_a_session_is_kept_where_its_own_hook_would_have_kept_it(
    home: Path, db: Path, started: list[list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The hook of another project runs with other variables, in another folder."""
    ours, theirs = home / "ours", home / "theirs"
    for folder in (ours, theirs):
        (folder / ".git").mkdir(parents=True)
    event = {**conversation(home, "a"), "cwd": str(ours)}
    with monkeypatch.context() as there:
        there.setenv("MEMSTORE_DB", str(db))
        there.setenv("MEMSTORE_USER", "ana")
        there.setenv("CLAUDE_PROJECT_DIR", str(ours))
        handle("SessionEnd", event, "--namespace", "auto")
    monkeypatch.setenv("CLAUDE_PROJECT_DIR", str(theirs))
    monkeypatch.setenv("MEMSTORE_DB", str(home / "another.db"))
    monkeypatch.setenv("MEMSTORE_TRACES", "off")
    monkeypatch.chdir(theirs)
    unkept.try_again(at_once=True)
    with memstore.open(db, namespace="~/ours", embedder=None, read_only=True) as store:
        assert [one.user_id for one in store.of("all").episodes.list()] == ["ana", "ana"]
    assert not (home / "another.db").exists()


@pytest.mark.process
def test_a_file_that_cannot_be_opened_now_is_tried_again(home: Path, db: Path) -> None:
    db.write_bytes(b"no database" * 1000)
    event = conversation(home, "a")
    run("SessionEnd", event, "--db", str(db))
    unkept.try_again(at_once=True)
    [name] = notes()
    assert name.endswith("-2.json")
    db.unlink()
    unkept.try_again(at_once=True)
    assert notes() == []
    assert said(db) == ["a said 0", "a said 1"]


def test_the_pauses_between_tries_grow_to_six_hours(
    home: Path, db: Path, started: list[list[str]], manual_clock: ManualClock
) -> None:
    handle("SessionEnd", conversation(home, "a"), "--db", str(db))
    pauses = []
    for n in range(1, 10):
        [name] = notes()
        one = unkept._named(name)
        assert one is not None
        now = Path(unkept.folder(), name).stat().st_mtime
        pauses.append(unkept._next_try(one) - now)
        os.rename(Path(unkept.folder(), name), Path(unkept.folder(), f"{name[:50]}-{n + 1}.json"))
    assert [round(pause) for pause in pauses] == [
        *(5, 20, 80, 320, 1280, 5120, 20480),
        *[int(unkept.MAX_PAUSE_SECONDS)] * 2,
    ]


def test_a_transcript_that_is_gone_is_counted(
    home: Path, db: Path, started: list[list[str]]
) -> None:
    for name in ("a", "b"):
        event = conversation(home, name)
        handle("SessionEnd", event, "--db", str(db))
        os.unlink(event["transcript_path"])
    handle("keep", {}, *started[0][2:])  # its own process finds it gone
    unkept.try_again(at_once=True)
    assert notes() == []
    assert "did not keep the end of 2 sessions: 2 whose transcript was gone" in told(db)


def test_a_session_of_two_weeks_ago_is_given_up(
    home: Path, db: Path, started: list[list[str]], manual_clock: ManualClock
) -> None:
    handle("SessionEnd", conversation(home, "a"), "--db", str(db))
    manual_clock.advance(unkept.KEPT_SECONDS + 60)
    unkept.try_again(at_once=True)
    assert notes() == []
    assert "1 that could not be kept for two weeks" in told(db)


def test_the_oldest_of_too_many_are_given_up(
    home: Path,
    db: Path,
    started: list[list[str]],
    monkeypatch: pytest.MonkeyPatch,
    manual_clock: ManualClock,
) -> None:
    monkeypatch.setattr(unkept, "MAX_FILES", 3)
    for n in range(5):
        handle("SessionEnd", conversation(home, f"s{n}"), "--db", str(db))
        manual_clock.advance(1)
    assert len(notes()) == 3
    assert "2 because too many waited" in told(db)


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b'{"event": 1}', b"\xff" * 9])
def test_a_damaged_note_is_counted_and_no_reason_to_fail(
    home: Path, db: Path, started: list[list[str]], body: bytes
) -> None:
    handle("SessionEnd", conversation(home, "a"), "--db", str(db))
    Path(unkept.folder(), notes()[0]).write_bytes(body)
    Path(unkept.folder(), "x.json").write_text("not ours")
    unkept.try_again(at_once=True)
    assert notes() == ["x.json"]
    assert "whose note was damaged" in " ".join(troubles.sentences_of(""))


@pytest.mark.parametrize("form", ["link", "folder", "pipe"])
def test_what_is_no_file_is_not_followed_waited_for_or_removed(
    home: Path, db: Path, started: list[list[str]], form: str
) -> None:
    handle("SessionEnd", conversation(home, "a"), "--db", str(db))
    place = Path(unkept.folder(), notes()[0])
    other = home / "other.json"
    place.rename(other)
    if form == "link":
        place.symlink_to(other)
    elif form == "folder":
        place.mkdir()
    elif hasattr(os, "mkfifo"):
        os.mkfifo(place)
    assert not unkept.are_due()
    unkept.try_again(at_once=True)
    assert unkept.sentences() == []
    assert (len(notes()), other.exists(), said(db)) == (1, True, [])


@pytest.mark.parametrize(
    "changed",
    [
        {"host": 5},
        {"database": ["x"]},
        {"words": ["--server", "http://127.0.0.1:9"]},
        {"event": {"session_id": "b", "transcript_path": "/etc/passwd"}},
        {"event": {"session_id": "x" * 2_000_000}},
        {"more": 1},
    ],
)
def test_a_note_of_another_session_is_not_believed(
    home: Path, db: Path, started: list[list[str]], changed: dict[str, Any]
) -> None:
    handle("SessionEnd", conversation(home, "a"), "--db", str(db))
    place = Path(unkept.folder(), notes()[0])
    place.write_text(json.dumps(json.loads(place.read_bytes()) | changed))
    unkept.try_again(at_once=True)
    assert (notes(), said(db)) == ([], [])
    assert "whose note was damaged" in " ".join(troubles.sentences_of(""))


@pytest.mark.process
@pytest.mark.skipif(not hasattr(os, "getuid"), reason="no owners of files")
def test_a_folder_that_others_can_write_is_not_believed(
    home: Path, db: Path, started: list[list[str]]
) -> None:
    handle("SessionEnd", conversation(home, "a"), "--db", str(db))
    Path(unkept.folder()).chmod(0o777)
    assert not unkept.are_due()
    unkept.try_again(at_once=True)
    assert (len(notes()), said(db)) == (1, [])
    handle("SessionEnd", conversation(home, "b"), "--db", str(db))  # makes it private again
    unkept.try_again(at_once=True)
    assert said(db) == ["a said 0", "a said 1", "b said 0", "b said 1"]


def test_a_note_sets_no_variable_that_is_not_of_keeping(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LD_PRELOAD", raising=False)
    given = {"LD_PRELOAD": "/tmp/x.so", "PYTHONPATH": "/tmp", "MEMSTORE_NAMESPACE": "n"}
    made = settings.environment_with(given)
    assert made["MEMSTORE_NAMESPACE"] == "n"
    assert "LD_PRELOAD" not in made
    assert made.get("PYTHONPATH") == settings.environment().get("PYTHONPATH")


@pytest.mark.parametrize("given", ["", "../../x", "0" * 32, "é" * 32])
def test_a_digest_that_is_none_is_no_file(home: Path, db: Path, given: str) -> None:
    handle("keep", conversation(home, "a"), "--db", str(db), f"--note={given}")
    assert said(db) == ["a said 0", "a said 1"]


def test_a_conversation_is_kept_where_no_note_can_be_written(
    home: Path, db: Path, started: list[list[str]]
) -> None:
    Path(settings.data_folder()).parent.mkdir(parents=True)
    Path(settings.data_folder()).write_text("no folder")
    event = conversation(home, "a")
    handle("SessionEnd", event, "--db", str(db))
    [words] = started
    assert not any(word.startswith("--note") for word in words)
    handle("keep", event, *words[2:])
    assert said(db) == ["a said 0", "a said 1"]


def test_nothing_is_noted_or_tried_where_recording_is_off(
    home: Path, db: Path, started: list[list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    event = conversation(home, "a")
    handle("SessionEnd", event, "--db", str(db))
    started.clear()
    monkeypatch.setenv("MEMSTORE_TRANSCRIPTS", "off")
    hook._keep_what_is_left()
    handle("SessionEnd", conversation(home, "b"), "--db", str(db))
    assert started == []
    assert len(notes()) == 1


@pytest.mark.parametrize("place", ["ana:hunter2@host/db", "host=h password=hunter2"])
def test_no_note_has_the_password_of_an_address(
    home: Path, started: list[list[str]], monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    event = conversation(home, "a")
    with pytest.raises(ValueError, match="looks like the address"):
        handle("SessionEnd", event, "--db", place)
    monkeypatch.setenv("MEMSTORE_DB", place)
    with pytest.raises(ValueError, match="looks like the address"):
        handle("SessionEnd", event)
    with pytest.raises(ValueError, match="must have no name"):
        handle("SessionEnd", event, "--server", "https://ana:hunter2@host/mcp")
    assert started == []
    assert notes() == []


def test_what_waits_is_said(
    home: Path, db: Path, cli: CommandLine, started: list[list[str]]
) -> None:
    cli.add("tea", "ana")
    for name in ("a", "b"):
        handle("SessionEnd", conversation(home, name), "--db", str(cli.db))
    assert "2 sessions wait to be kept since" in cli("status").err
    assert "2 sessions wait to be kept since" in cli("spool").err
    assert "wait to be kept" not in " ".join(unkept.sentences(str(db)))


# -- a server --------------------------------------------------------------------------------------


def test_a_server_gets_what_cannot_be_spooled(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    url = "https://memory.example.com/mcp"
    servers.keep(url, "mst_abc")
    Path(settings.spool_folder()).write_text("no folder")
    sent: list[bytes] = []
    monkeypatch.setattr(remote, "_sent", lambda url, body, **_: sent.append(body) or {})
    remote.keep(url, "codex", conversation(home, "a"), None, "redact")
    assert [one["text"] for one in json.loads(sent[0])["turns"]] == ["a said 0", "a said 1"]


def test_a_server_that_is_away_leaves_no_note(
    home: Path, db: Path, started: list[list[str]]
) -> None:
    """What is in the spool waits there."""
    url = "http://127.0.0.1:9/mcp"
    servers.keep(url, "mst_abc")
    event = conversation(home, "a")
    handle("SessionEnd", event, "--server", url)
    with pytest.raises(memstore.MemstoreError, match="did not answer"):
        handle("keep", event, *started[0][2:])
    assert notes() == []
    assert not spool.Spool(url).is_empty()


def test_a_hook_that_keeps_has_the_patience_of_files(monkeypatch: pytest.MonkeyPatch) -> None:
    """It does not ask the server, so a slow start of its process is no reason to give up."""
    seen: list[float] = []
    monkeypatch.setattr(remote, "seconds_left", lambda: 0.25)
    monkeypatch.setattr(hook, "answered", lambda *_: None)
    real = hook._watch

    def watch(arguments: Any, seconds: float) -> Any:
        seen.append(seconds)
        return real(arguments, seconds)

    monkeypatch.setattr(hook, "_watch", watch)
    for event in ("SessionEnd", "preCompact", "SessionStart"):
        monkeypatch.setattr(sys, "stdin", None)
        words = [event, "--server", "http://127.0.0.1:9/mcp"]
        hook.respond(hook.parser().parse_args(words))
    assert seen == [hook.PATIENCE_SECONDS] * 3 + [0.25]


# -- sessions that end without a hook --------------------------------------------------------------


@pytest.mark.process
def test_a_session_whose_terminal_was_closed_is_kept(
    home: Path, db: Path, started: list[list[str]]
) -> None:
    event = conversation(home, "closed")
    handle("SessionStart", event, "--db", str(db))
    assert notes() == []  # nothing says that ends are kept here
    handle("SessionEnd", conversation(home, "first"), "--db", str(db))
    handle("keep", {}, *started[0][2:])
    handle("SessionStart", event, "--db", str(db))
    handle("UserPromptSubmit", {**event, "prompt": "tea?"}, "--db", str(db))
    assert [name.endswith("-0.json") for name in notes()] == [True]
    assert not unkept.are_due()
    aged(LONG_AGO)  # the last prompt, but not the last turn
    assert unkept.are_due()
    unkept.try_again()
    assert len(notes()) == 1
    aged(LONG_AGO, event)
    unkept.try_again()
    assert notes() == []
    assert said(db) == ["closed said 0", "closed said 1", "first said 0", "first said 1"]


def test_an_open_session_is_not_kept_where_ends_are_not_kept_any_more(
    home: Path, db: Path, started: list[list[str]]
) -> None:
    event = conversation(home, "closed")
    handle("SessionEnd", conversation(home, "first"), "--db", str(db))
    handle("keep", {}, *started[0][2:])
    handle("SessionStart", event, "--db", str(db))
    aged(LONG_AGO, event)
    unkept.keep_no_ends("claude-code")  # as `setup --no-transcripts` and `--uninstall` do
    unkept.try_again()
    assert notes() == []
    assert said(db) == ["first said 0", "first said 1"]
    handle("SessionStart", event, "--db", str(db))
    assert notes() == []


def test_setup_without_transcripts_forgets_that_ends_were_kept(
    home: Path, cli: CommandLine, programs: Path
) -> None:
    host = "codex"
    for flags in (("--no-transcripts",), ("--no-hooks",), ("--uninstall",)):
        unkept.remember(unkept.UnkeptNote({}, [], {}, "", host))
        assert unkept.keeps_ends(host)
        cli("setup", host, *flags)
        assert not unkept.keeps_ends(host)


# -- kills -----------------------------------------------------------------------------------------

# A hook that kills itself at one of its steps; 0 for none.
DYING = """
import os, signal, subprocess, sys
from memstore.faces.hosts import hook

kill_at, seen = int(sys.argv[1]), 0

def counted(real):
    def call(*given, **named):
        global seen
        for after in (False, True):
            if after:
                value = real(*given, **named)
            seen += 1
            if seen == kill_at:
                os.kill(os.getpid(), signal.SIGKILL)
        return value
    return call

for module, names in ((os, "open replace utime unlink mkdir read"), (subprocess, "Popen")):
    for name in names.split():
        setattr(module, name, counted(getattr(module, name)))
hook.main(sys.argv[2:])
print(seen)
"""


@posix_only
@pytest.mark.process
@pytest.mark.slow
def test_each_session_is_kept_once_wherever_its_hook_is_killed(home: Path, db: Path) -> None:
    run("SessionEnd", conversation(home, "first"), "--db", str(db))

    def end(name: str, kill_at: int) -> subprocess.CompletedProcess[bytes]:
        event = conversation(home, name)
        run("SessionStart", event, "--db", str(db))
        words = [sys.executable, "-c", DYING, str(kill_at), "SessionEnd"]
        words += ["--host", "claude-code", "--db", str(db)]
        done = subprocess.run(words, input=json.dumps(event).encode(), capture_output=True)
        aged(LONG_AGO, event)
        return done

    steps = int(end("whole", 0).stdout)
    assert steps > 8
    for kill_at in range(1, steps + 1):
        assert end(f"s{kill_at}", kill_at).returncode == -signal.SIGKILL
    unkept.try_again(at_once=True)
    names = ["first", "whole", *(f"s{n}" for n in range(1, steps + 1))]
    expected = sorted(f"{name} said {n}" for name in names for n in range(2))

    def all_are_kept() -> bool:
        unkept.try_again(at_once=True)  # a process that a hook started may still be at it
        return said(db) == expected

    assert wait_until(all_are_kept), said(db)
    assert notes() == []
