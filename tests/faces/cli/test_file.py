"""The commands that maintain the file."""

from __future__ import annotations

import json
import os
import shutil
import stat
import sys
from pathlib import Path
from typing import Any

import apsw
import pytest
from tests.support.command_line import CommandLine, cli_fixture  # noqa: F401

import memstore
from memstore import Remedy, providers
from memstore.errors import Reason


@pytest.fixture
def words(monkeypatch: pytest.MonkeyPatch, embedder: Any) -> Any:
    """Make every command use an embedder that can be made to fail."""
    monkeypatch.setattr(
        providers, "embedder", lambda name, **_: None if name == "none" else embedder
    )
    monkeypatch.setenv("MEMSTORE_EMBEDDER", "local")
    return embedder


@pytest.fixture
def story(cli: CommandLine, monkeypatch: pytest.MonkeyPatch) -> CommandLine:
    """A file with a chain, a deleted fact, a task and a second namespace."""
    monkeypatch.setenv("MEMSTORE_EMBEDDER", "none")
    cli.add("one \u2028 緑茶 \x1b[31m", "alice", "-m", "n=1")
    cli.add("two", "alice", "--supersedes", "1")
    cli.add("gone")
    cli("delete", 3)
    cli.json("task", "add", "to do")
    cli.add("elsewhere", "bob", "--namespace", "other")
    return cli


def test_status_counts(story: CommandLine) -> None:
    status = story.json("status")
    assert (status["active"], status["superseded"], status["deleted"]) == (2, 1, 1)
    assert (status["namespace"], status["namespaces"]) == ("default", {"default": 4, "other": 1})
    assert status["subjects"] == {"alice": 1, "todo": 1}
    plain = dict(line.split(": ", 1) for line in story("status").out.splitlines() if ": " in line)
    assert plain["active"] == "2"
    assert plain["subjects.alice"] == "1"
    assert plain["namespaces.other"] == "1"
    assert plain["path"] == str(story.db)


def test_status_works_when_the_models_do_not_match(cli: CommandLine, words: Any) -> None:
    cli.add("text")
    words.model = "another"
    answer = cli("status")
    assert answer.code == 0
    assert "words-64" in answer.err
    assert "another" in answer.err
    code, error = cli.error("search", "text")
    assert code == 4
    assert "--embedder none" in error
    assert cli("list").code == 0


@pytest.mark.skipif(os.name == "nt", reason="Windows has no permission bits")
def test_the_doctor_reports_a_file_readable_by_others(cli: CommandLine, path: Path) -> None:
    cli("add", "a fact", "--subject", "s")
    path.chmod(0o640)
    told = cli("doctor")
    assert told.code == 0
    exposed = f"other users of this machine can open {path} (0640); chmod 600 prevents that"
    assert exposed in told.err
    path.chmod(0o600)
    assert "chmod" not in cli("doctor").err
    path.parent.chmod(0o777)
    assert f"can open {path.parent} (0777); chmod 700 prevents that" in cli("doctor").err


def test_the_doctor_reports_which_locks_are_in_use(cli: CommandLine, path: Path) -> None:
    with memstore.open(path, embedder=None) as store:
        locks = store.status().locks
    assert f"locks: {locks}\n" in cli("doctor").out
    assert cli.json("doctor")["locks"] == locks


def test_export_and_import_between_files(story: CommandLine, tmp_path: Path) -> None:
    file = tmp_path / "all.jsonl"
    told = story.json("export", file)
    assert told == {"file": str(file), "facts": 5, "episodes": 0}
    if os.name == "posix":
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
    other = tmp_path / "other.db"
    code, error = story.error("import", file, "--db", other, "--namespace", "one")
    assert code == 2
    assert "--keep-namespaces" in error
    done = story("import", file, "--db", other)
    assert (done.code, done.out) == (0, "imported 5 facts\n")
    assert done.err == "each in its own namespace: default, other\n"
    assert story.json("import", file, "--keep-namespaces", "--db", other)["known"] == 5
    everything = ("list", "--all", "--deleted")
    assert story.json(*everything, "--db", other) == story.json(*everything)
    assert story.json("doctor", "--db", other)["healthy"]


def test_export_works_through_a_pipe(story: CommandLine, tmp_path: Path) -> None:
    exported = story("export", "--namespace", "default")
    assert exported.code == 0
    assert exported.err.startswith("not exported: 1 other namespace holds more: other (1 fact)")
    lines = [json.loads(line) for line in exported.out.split("\n")[:-1]]
    assert lines[0]["facts"] == 4
    other = tmp_path / "other.db"
    assert story("import", "-", "--db", other, stdin=exported.out).out == "imported 4 facts\n"
    assert story("export", "-", "--db", other).out.split("\n")[1:2] == exported.out.split("\n")[1:2]


def test_export_replaces_a_file_atomically(
    story: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "out.jsonl"
    file.write_text("before")

    def broken(*_: object, **__: object) -> object:
        yield "{}"
        raise memstore.StorageError("the disk is gone")

    with monkeypatch.context() as patch:
        patch.setattr(memstore.File, "export", broken)
        assert story("export", file).code == 3
    assert file.read_text() == "before"
    assert sorted(p.name for p in tmp_path.iterdir() if "out" in p.name) == ["out.jsonl"]
    assert story("export", file).code == 0
    assert file.read_text(encoding="utf-8").count("\n") > 4


def test_export_does_not_replace_what_is_not_a_regular_file(
    story: CommandLine, tmp_path: Path
) -> None:
    code, error = story.error("export", tmp_path / "nowhere" / "x.jsonl")
    assert code == 3
    assert "nowhere" in error
    assert story.error("export", tmp_path)[0] == 3
    if os.name == "posix":
        assert story("export", os.devnull).code == 0
        assert stat.S_ISCHR(os.stat(os.devnull).st_mode)
        link = tmp_path / "link"
        link.symlink_to(tmp_path / "real")
        assert story("export", link).code == 0
        assert link.is_symlink()


@pytest.mark.parametrize(
    ("damage", "told"),
    [
        (lambda lines: [*lines[:-1], lines[-1][:20]], "not JSON"),
        (lambda lines: [lines[0], '{"fact": {"id": 1}}', *lines[2:]], "line 2: lacks uuid"),
        (lambda lines: lines[1:], "line 1: not the first line"),
        (lambda lines: [], "empty"),
    ],
)
def test_import_of_a_damaged_file_names_the_line(
    story: CommandLine, tmp_path: Path, damage: object, told: str
) -> None:
    file, other = tmp_path / "x.jsonl", tmp_path / "other.db"
    lines = story("export").out.split("\n")[:-1]
    file.write_text("\n".join(damage(lines)), encoding="utf-8")  # type: ignore[operator]
    code, error = story.error("import", file, "--db", other)
    assert code == 1
    assert told in error
    assert "nothing was imported" in error
    assert story.json("list", "--db", other) == []


def test_import_of_something_that_is_not_an_export(story: CommandLine, tmp_path: Path) -> None:
    file = tmp_path / "x.jsonl"
    file.write_bytes(b"\xff\xfe\x00")
    assert story.error("import", file) == (1, f"{file} is not UTF-8 text; nothing was imported")
    code, error = story.error("import", tmp_path / "missing.jsonl")
    assert code == 3
    assert "missing.jsonl" in error


def test_import_embeds_unless_told_not_to(cli: CommandLine, words: Any, tmp_path: Path) -> None:
    cli.add("some text")
    file = tmp_path / "x.jsonl"
    cli("export", file)
    done = cli.json("import", file, "--no-embed", "--db", tmp_path / "a.db")
    assert done["imported"] == 1
    assert (done["known"], done["episodes"], done["namespaces"]) == (0, 0, ["default"])
    assert "embedded" not in done
    done = cli.json("import", file, "--db", tmp_path / "b.db")
    assert (done["embedded"], done["left"]) == (1, 0)
    words.failure = memstore.EmbedderUnavailable("nobody answers")
    answer = cli("import", file, "--db", tmp_path / "c.db")
    assert (answer.code, answer.out) == (0, "imported 1 fact\n")
    assert answer.err == "1 fact still without an embedding: nobody answers\n"


def test_backups_on_a_schedule(
    story: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Any] = []

    def keep_backups(file: memstore.File, *schedule: Any, tell: Any) -> None:
        asked.append(schedule)
        tell(Reason("the disk is full", Remedy.NAME_FILE))
        tell(file.backup(tmp_path / f"{len(asked)}.db"))
        raise KeyboardInterrupt

    monkeypatch.setattr(memstore.File, "keep_backups", keep_backups)
    told = story("backup", "--every", "1h")
    assert (told.code, f"to {tmp_path / '1.db'}" in told.out) == (0, True)
    assert "no backup was made: the disk is full. Name another file with --db." in told.err
    story("backup", "--every", "90s", "--keep", "3", tmp_path / "copies")
    assert asked == [(3600.0, 24, None), (90.0, 3, str(tmp_path / "copies"))]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("backup",), "name the backup file"),
        (("backup", "copy.db", "--keep", "3"), "--keep goes with --every"),
        (("backup", "--every", "soon"), "--every is a time such as 30m, 1h or 7d, not 'soon'"),
        (("backup", "--every", "5s"), "--every must be 60"),
    ],
)
def test_invalid_schedule_is_refused(
    story: CommandLine, words: tuple[str, ...], message: str
) -> None:
    code, error = story.error(*words)
    assert (code, message in error) == (2, True), error


def test_recover_restores_a_backup(story: CommandLine, tmp_path: Path) -> None:
    copy = tmp_path / "copy.db"
    story("backup", copy)
    story.add("after the backup")
    told = story.json("recover", copy)
    assert told["path"] == str(story.db)
    assert story.json("list", "--limit", "9") != []
    assert "after the backup" not in story("list").out
    with memstore.open(told["kept"], embedder=None) as kept:
        assert kept.search("after the backup")
    told = story("recover", copy)
    assert (told.code, f"the previous file is kept as {story.db}.before-recover-" in told.err) == (
        0,
        True,
    )
    code, error = story.error("recover", tmp_path / "nothing.db")
    assert (code, "is not a file. Name another backup." in error) == (3, True)


def test_damaged_file_suggests_recover(story: CommandLine, tmp_path: Path) -> None:
    copy = tmp_path / "copy.db"
    story("backup", copy)
    story.db.write_bytes(story.db.read_bytes()[:100] + b"no database" * 999)
    code, error = story.error("list")
    assert (code, "Bring a backup back: memstore recover BACKUP." in error) == (3, True)
    story("recover", copy)
    assert "two" in story("list").out


def test_backup_of_a_live_file(story: CommandLine, tmp_path: Path) -> None:
    copy = tmp_path / "copy.db"
    with memstore.open(story.db, embedder=None) as store:
        store.add("written while open", subject="live")
        told = story.json("backup", copy)
        head = str(store.file.head())
    assert told == {"file": str(copy), "size_bytes": copy.stat().st_size, "head": head}
    assert story.json("list", "--db", copy) == story.json("list")
    assert story.json("doctor", "--db", copy)["healthy"]
    code, error = story.error("backup", copy)
    assert code == 3
    assert "exists" in error


def test_embed_pending(cli: CommandLine, words: Any) -> None:
    words.failure = memstore.EmbedderUnavailable("nobody answers")
    for number in range(3):
        cli("add", f"text {number}", "--subject", "x")
    answer = cli("embed-pending")
    assert (answer.code, answer.out) == (4, "embedded 0 facts, 3 left\n")
    assert answer.err == "stopped early: nobody answers\n"
    words.failure = None
    assert cli.json("embed-pending", "--limit", "2")["left"] == 1
    assert cli("embed-pending").out == "embedded 1 fact, 0 left\n"
    assert cli.error("embed-pending", "--embedder", "none")[0] == 4


def test_embed_pending_tries_quarantined_facts_again(cli: CommandLine, words: Any) -> None:
    words.poison = "bad"
    cli("add", "bad text", "--subject", "x")
    for _ in range(4):
        cli("embed-pending")
    assert cli.json("status")["quarantined"] == 1
    words.poison = None
    assert cli.json("embed-pending")["embedded"] == 0
    assert cli.json("embed-pending", "--retry-quarantined")["embedded"] == 1


def test_doctor_finds_and_repairs_damage(cli: CommandLine, words: Any, tmp_path: Path) -> None:
    for number in range(3):
        cli.add(f"text {number}")
    assert cli("doctor").out.startswith("healthy")
    copy = tmp_path / "damaged.db"
    shutil.copy(cli.db, copy)
    connection = apsw.Connection(str(copy))
    connection.execute("INSERT INTO memstore_facts_fts(memstore_facts_fts) VALUES ('delete-all')")
    connection.execute("UPDATE memstore_fact_vectors SET embedding = x'0000803f' WHERE fact_id = 2")
    connection.close()

    found = cli("doctor", "--db", copy, "--json")
    assert found.code == 1
    report = json.loads(found.out)
    assert not report["healthy"]
    assert {(f["check"], f["repairable"]) for f in report["findings"]} == {
        ("words", True),
        ("embeddings", True),
    }
    plain = cli("doctor", "--db", copy)
    assert plain.code == 1
    assert "embeddings\trepairable\t" in plain.out
    assert "--rebuild" in plain.err

    mended = cli("doctor", "--db", copy, "--rebuild")
    assert mended.code == 0
    assert "rebuilt the full-text index" in mended.out
    assert "embed-pending" in mended.err
    assert cli.json("embed-pending", "--db", copy)["embedded"] == 1
    assert cli.json("doctor", "--db", copy)["healthy"]
    assert len(cli.json("search", "text", "--db", copy)) == 3


def test_doctor_does_not_touch_irreparable_damage(cli: CommandLine) -> None:
    cli.add("text")
    connection = apsw.Connection(str(cli.db))
    connection.execute("UPDATE memstore_facts SET category = 'forged'")
    connection.close()
    answer = cli("doctor", "--rebuild")
    assert answer.code == 1
    assert "not repairable" in answer.out


def test_file_that_is_not_a_database_is_a_storage_error(cli: CommandLine) -> None:
    cli.db.write_bytes(b"not a database at all, but long enough to be looked at" * 50)
    for command in ("list", "doctor"):
        assert cli.error(command) == (
            3,
            f"{str(cli.db)!r} is not a SQLite database. Name another file with --db.",
        )


@pytest.mark.skipif(sys.platform == "win32", reason="permissions of POSIX")
@pytest.mark.skipif(os.name == "posix" and os.geteuid() == 0, reason="root may write anywhere")
def test_unwritable_folder_is_a_storage_error(cli: CommandLine, tmp_path: Path) -> None:
    folder = tmp_path / "closed"
    folder.mkdir(mode=0o500)
    assert cli.error("add", "x", "--subject", "x", "--db", folder / "memory.db")[0] == 3


@pytest.mark.parametrize("command", [["status"], ["add", "x", "--subject", "s"]])
def test_a_url_of_another_database_is_refused(
    cli: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: list[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    code, text = cli.error(*command, "--db", "mysql://host/db")
    assert code == 2
    assert text == (
        "--db is a URL with the scheme 'mysql', and only files and postgresql:// can be opened. "
        "Name another file with --db."
    )
    assert [*tmp_path.iterdir()] == [cli.db]


def test_verify_names_what_differs_from_a_head(cli: CommandLine) -> None:
    cli.add("fact")
    head = cli.json("status")["head"]
    verified = {"verified": True, "findings": [], "head": head}
    assert cli.json("verify", "--head", head) == verified
    forged = cli("verify", "--head", "1:" + "0" * 64, "--json")
    assert forged.code != 0
    [finding] = json.loads(forged.out)["findings"]
    assert "line 1 has another hash than the head that was given" in finding["message"]
    _, told = cli.error("verify", "--head", "1")
    assert "--head must be a number of lines, a colon and 64 hexadecimal digits" in told


def test_backup_prints_the_head_of_the_journal(cli: CommandLine, tmp_path: Path) -> None:
    cli.add("fact")
    done = cli.json("backup", tmp_path / "backup.db")
    assert done["head"] == cli.json("status")["head"]
    cli.add("later")
    assert cli.json("verify", "--head", done["head"], "--db", tmp_path / "backup.db")["verified"]
