"""``memstore sync``: what it asks before the first time, what it says, and what it remembers."""

from __future__ import annotations

import os
import shutil
import stat
from pathlib import Path
from typing import Any

import pytest
from tests.support.command_line import CommandLine, cli_fixture  # noqa: F401
from tests.support.gated import listening
from tests.support.places import git, repository
from tests.support.raw import sql

import memstore
from memstore import settings
from memstore.faces.cli import command
from memstore.faces.cli.usage import REFUSED
from memstore.sync import sealing


@pytest.fixture(autouse=True)
def _own_data_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "data_folder", lambda: str(tmp_path / "data"))
    monkeypatch.setattr(sealing, "COST", sealing.Cost(memory_kib=64, passes=1, lanes=1))


@pytest.fixture
def of_files(databases: Any) -> None:
    if databases is not None:
        pytest.skip("on a server, each namespace is a memory of its own, and no file")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "place"
    made.mkdir()
    return made


@pytest.fixture
def other(tmp_path: Path) -> str:
    return str(tmp_path / "other.db")


def test_what_one_device_learns_another_one_knows(
    cli: CommandLine, folder: Path, other: str
) -> None:
    cli.add("Alice prefers tea")
    first = cli.json("sync", folder, "--yes")
    assert first["went"] == {"default": 1}
    second = cli.json("sync", folder, "--yes", "--db", other)
    assert second["came"] == {"default": 1}
    assert [one["content"] for one in cli.json("list", "--db", other)] == ["Alice prefers tea"]
    cli("add", "Alice moved to Naxos", "--subject", "alice", "--db", other)
    assert cli.json("sync", "--db", other)["went"] == {"default": 1}
    assert cli.json("sync")["came"] == {"default": 1}
    assert cli("sync").err.startswith("nothing new, here or there")


def test_nothing_is_sent_before_somebody_agreed(cli: CommandLine, folder: Path) -> None:
    cli.add("Alice prefers tea")
    refused = cli("sync", folder)
    assert (refused.code, "confirm it with --yes" in refused.err) == (1, True)
    assert list(folder.iterdir()) == []
    assert cli("sync").code == 2


def test_the_namespaces_that_travel_are_shown_before(
    cli: CommandLine, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cli.add("Alice prefers tea")
    cli.add("the key is under the mat", "home", "--namespace", "private")
    monkeypatch.setattr(command, "agreed", lambda question, _reason: bool(question()) and False)
    shown = cli("sync", folder, "--namespaces", "default")
    assert (shown.code, shown.out) == (command.REFUSED, "default\t1 fact\n")
    assert "nothing was sent" in shown.err
    assert list(folder.iterdir()) == []


@pytest.mark.usefixtures("of_files")
def test_only_the_chosen_namespaces_travel(cli: CommandLine, folder: Path, other: str) -> None:
    cli.add("Alice prefers tea")
    cli.add("the key is under the mat", "home", "--namespace", "private")
    cli("sync", folder, "--yes", "--namespaces", "default")
    cli("sync", folder, "--yes", "--db", other)
    assert "no facts" in cli("list", "--namespace", "private", "--db", other).err
    cli("sync", "--namespaces", "all")
    cli("sync", "--db", other)
    assert "under the mat" in cli("list", "--namespace", "private", "--db", other).out


def test_a_dry_run_writes_nothing(cli: CommandLine, folder: Path) -> None:
    cli.add("Alice prefers tea")
    told = cli.json("sync", folder, "--dry-run")
    assert (told["went"], told["dry_run"]) == ({"default": 1}, True)
    assert list(folder.iterdir()) == []
    assert cli("sync").code == 2


def test_an_empty_folder_without_its_file_system_is_filled_only_if_that_is_said(
    cli: CommandLine, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mounted = {str(folder), "/"}
    monkeypatch.setattr(os.path, "ismount", lambda path: os.fspath(path) in mounted)
    cli.add("Alice prefers tea")
    cli("sync", folder, "--yes")
    for file in [*folder.iterdir()]:
        shutil.rmtree(file)
    assert cli.json("sync")["went"] == {"default": 1}  # somebody emptied it
    for file in [*folder.iterdir()]:
        shutil.rmtree(file)
    mounted.remove(str(folder))
    for arguments in ((), (folder,), ("--dry-run",)):
        refused = cli("sync", *arguments)
        assert refused.code == REFUSED
        assert f"it was on that of {str(folder)!r}, which seems to be away" in refused.err
        assert "memstore sync --refill" in refused.err
    assert cli.json("sync", "--refill", "--dry-run")["went"] == {"default": 1}
    assert "not sealed" in cli("sync", "--refill", "--trust").err  # it failed, and allowed nothing
    assert cli("sync", "--background").code == REFUSED
    assert "which seems to be away" in cli("status").err
    assert [*folder.iterdir()] == []
    assert cli.json("sync", "--refill")["went"] == {"default": 1}
    assert "nothing new" in cli("sync").err
    cli("sync", "--leave")
    assert not [*folder.parent.rglob("mount.json")]


def test_a_sealed_place_needs_the_passphrase_once(
    cli: CommandLine, folder: Path, other: str, tmp_path: Path
) -> None:
    right, wrong = tmp_path / "right", tmp_path / "wrong"
    right.write_text("correct horse\n")
    wrong.write_text("battery staple\n")
    cli.add("Alice prefers tea")
    cli("sync", folder, "--yes", "--passphrase-file", right)
    assert not any(b"tea" in file.read_bytes() for file in folder.rglob("*") if file.is_file())
    before = sorted(folder.rglob("*"))
    for words in ((), ("--passphrase-file", str(wrong))):
        refused = cli("sync", folder, "--yes", "--db", other, *words)
        assert refused.code == command.REFUSED
        assert sorted(folder.rglob("*")) == before
    assert "no facts" in cli("list", "--db", other).err
    cli("sync", folder, "--yes", "--db", other, "--passphrase-file", right)
    assert "tea" in cli("list", "--db", other).out
    assert cli("sync", "--db", other).code == 0
    kept = [
        file for name in ("key", "place.json") for file in (tmp_path / "data" / "sync").rglob(name)
    ]
    assert len(kept) == 4
    if os.name == "posix":
        assert {stat.S_IMODE(file.stat().st_mode) for file in kept} == {0o600}


def test_a_new_key_closes_what_was_sealed_before(
    cli: CommandLine, folder: Path, other: str, tmp_path: Path
) -> None:
    old, new = tmp_path / "old", tmp_path / "new"
    old.write_text("correct horse\n")
    new.write_text("battery staple\n")
    cli.add("Alice prefers tea")
    cli("sync", folder, "--yes", "--passphrase-file", old)
    cli("sync", folder, "--yes", "--db", other, "--passphrase-file", old)
    cli("sync")
    before = {file.name: file.read_bytes() for file in folder.rglob("*.lines")}
    assert cli("sync", "--new-key", "--passphrase-file", new).code == 0
    after = {file.name: file.read_bytes() for file in folder.rglob("*.lines")}
    assert before.keys() == after.keys()
    assert all(before[name] != after[name] for name in before)
    refused = cli("sync", "--db", other)
    assert (refused.code, "a new key" in refused.err) == (command.REFUSED, True)
    cli.add("Bob prefers coffee", "bob")
    cli("sync")
    assert cli("sync", "--db", other, "--passphrase-file", new).code == 0
    assert "coffee" in cli("list", "--db", other).out


@pytest.mark.parametrize(
    "address",
    [
        "https://me:hunter2@127.0.0.1:9/memory.git",
        "git+https://me:hunter2@127.0.0.1:9/memory",
        "https://me:hunter2@127.0.0.1:9/mcp",
        "https://:hunter2@127.0.0.1:9/memory.git",
        "https://ghp_hunter2hunter2hunter2hunter2@127.0.0.1:9/memory.git",
    ],
)
def test_an_address_with_a_password_is_refused_and_kept_nowhere(
    cli: CommandLine, address: str, tmp_path: Path
) -> None:
    cli.add("Alice prefers tea")
    refused = cli("sync", address, "--yes", "--unsealed")
    assert (refused.code, "hunter2" in refused.err) == (2, False)
    assert "credential helper" in refused.err
    kept = [one for one in (tmp_path / "data").rglob("*") if one.is_file()]
    assert not any(b"hunter2" in one.read_bytes() for one in kept)


def test_a_place_that_is_none_is_refused_before_anything_is_made(
    cli: CommandLine, tmp_path: Path
) -> None:
    cli.add("Alice prefers tea")
    project = tmp_path / "project"
    (project / ".git").mkdir(parents=True)
    (tmp_path / "file").write_text("")
    for place, said in (
        (project / "memories", "is in the repository"),
        (tmp_path / "file", "is no folder"),
        (tmp_path / "no" / "such", "is not there"),
        (tmp_path / "data" / "place", "memstore itself keeps its files"),
        ("~nobody-is-called-so/place", "a user who is not there"),
        ("", "names no place"),
        ("ext::sh -c true", "names no place"),
        ("ftp://example.com/place", "is no place"),
    ):
        refused = cli("sync", place, "--yes")
        assert (refused.code in (1, 2), said in refused.err) == (True, True), refused.err
    assert [one.name for one in project.iterdir()] == [".git"]
    assert not (tmp_path / "data" / "place").exists()
    assert "does not sync" in cli("sync", "--status").err


@pytest.mark.skipif(os.name != "posix", reason="these are paths there")
@pytest.mark.parametrize("place", ["C:\\Users\\me\\Sync", "c:/Users/me", "\\\\nas\\share"])
def test_a_path_of_windows_is_no_folder_elsewhere(
    cli: CommandLine, place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    before = {*tmp_path.iterdir()}
    refused = cli("sync", place, "--yes")
    assert (refused.code, "path of Windows" in refused.err) == (2, True)
    assert {*tmp_path.iterdir()} - before <= {tmp_path / "data"}


def test_a_namespace_that_is_not_here_is_said(cli: CommandLine, folder: Path) -> None:
    cli.add("Alice prefers tea")
    assert (
        "wrok holds nothing here yet"
        in cli("sync", folder, "--yes", "--namespaces", "wrok,default").err
    )


def test_devices_of_one_name_are_told_apart(cli: CommandLine, folder: Path, other: str) -> None:
    for words in ((), ("--db", other)):
        cli("sync", folder, "--yes", *words)
        cli("sync", "--rename", "box", *words)
        cli("sync", *words)
    cli("sync")
    cli.add("Bob sails", "bob")
    cli("sync")
    here = next(one for one in cli.json("sync", "--status")["devices"] if one["is_here"])
    assert f"of box {here['id'][:4]}" in cli("sync", "--status").out


class Asked:
    """Answers what is asked at a terminal."""

    def __init__(self, *answers: str) -> None:
        self.answers = [*answers]
        self.questions: list[str] = []

    def yes(self, question: Any, _reason: str, *, is_likely: bool = False) -> bool:
        self.questions.append(question())
        answer = self.answers.pop(0)
        return is_likely if answer == "" else answer == "y"

    def text(self, question: str) -> str:
        self.questions.append(question)
        return self.answers.pop(0)

    def at(self, monkeypatch: pytest.MonkeyPatch) -> Asked:
        monkeypatch.setattr(command, "can_ask", lambda: True)
        monkeypatch.setattr(command, "agreed", self.yes)
        monkeypatch.setattr(command, "answer_to", self.text)
        monkeypatch.setattr("getpass.getpass", self.text)
        return self


@pytest.mark.usefixtures("of_files")
def test_a_person_chooses_namespaces_and_a_passphrase(
    cli: CommandLine, folder: Path, monkeypatch: pytest.MonkeyPatch, other: str, tmp_path: Path
) -> None:
    cli.add("Alice prefers tea")
    cli.add("the key is under the mat", "home", "--namespace", "private")
    asked = Asked("default", "y", "y", "correct horse", "correct horse").at(monkeypatch)
    shown = cli("sync", folder)
    assert (shown.code, asked.answers) == (0, [])
    assert shown.out.startswith("default\t1 fact\nprivate\t1 fact\n")
    assert asked.questions[1].startswith("Let what is in default travel")
    assert "speak as you" in asked.questions[2]
    held = [file.read_bytes() for file in folder.rglob("*") if file.is_file()]
    assert not any(b"tea" in one or b"default" in one for one in held)
    Asked("y", "correct horse").at(monkeypatch)
    assert cli("sync", folder, "--db", other).code == 0
    assert "tea" in cli("list", "--db", other).out
    assert "no facts" in cli("list", "--namespace", "private", "--db", other).err


@pytest.mark.parametrize(
    ("answers", "code"),
    [
        (("n",), command.REFUSED),
        (("y", "y", "", "nothing was asked twice"), 2),
        (("y", "y", "one", "another"), 2),
    ],
)
def test_a_person_who_does_not_agree_sends_nothing(
    cli: CommandLine, folder: Path, monkeypatch: pytest.MonkeyPatch, answers: Any, code: int
) -> None:
    cli.add("Alice prefers tea")
    Asked(*answers).at(monkeypatch)
    assert cli("sync", folder).code == code
    assert not any(one.is_file() for one in folder.rglob("*"))
    assert cli.json("sync", "--status")["address"] is None


@pytest.mark.process
def test_enter_seals_a_repository_and_leaves_a_folder_open(
    cli: CommandLine, folder: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    cli.add("Alice prefers tea")
    Asked("y", "").at(monkeypatch)
    assert "is not sealed" in cli("sync", folder).err
    monkeypatch.setenv("HOME", str(tmp_path))
    remote = repository(tmp_path / "remote.git")
    Asked("y", "", "correct horse", "correct horse").at(monkeypatch)
    assert "is not sealed" not in cli("sync", remote).err
    assert "tea" not in git(remote, "log", "-p", "--text", "memstore")


@pytest.mark.process
def test_a_repository_is_sealed_unless_somebody_says_otherwise(
    cli: CommandLine, tmp_path: Path, other: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    remote = repository(tmp_path / "remote.git")
    cli.add("Alice prefers tea")
    refused = cli("sync", remote, "--yes")
    assert (refused.code, "--unsealed" in refused.err) == (2, True)
    assert git(remote, "for-each-ref") == ""
    phrase = tmp_path / "phrase"
    phrase.write_text("correct horse")
    assert cli("sync", remote, "--yes", "--passphrase-file", phrase).code == 0
    assert git(remote, "rev-list", "--count", "memstore") == "1\n"
    assert "tea" not in git(remote, "log", "-p", "--text", "memstore")
    cli("sync", remote, "--yes", "--passphrase-file", phrase, "--db", other)
    assert "tea" in cli("list", "--db", other).out


@pytest.mark.process
def test_a_text_erased_on_one_device_is_in_no_clone_of_a_repository(
    cli: CommandLine, tmp_path: Path, other: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    remote = repository(tmp_path / "remote.git")
    id_ = cli.add("the code is 4711")
    cli("sync", remote, "--yes", "--unsealed")
    cli("sync", remote, "--yes", "--unsealed", "--db", other)
    listed = git(remote, "ls-tree", "-r", "--name-only", "memstore").split()
    (name,) = [one for one in listed if one.endswith(".lines")]
    blob = git(remote, "rev-parse", f"memstore:{name}").strip()
    clones = [*(tmp_path / "data" / "sync").glob("*/clone")]
    assert len(clones) == 2
    assert all(blob in objects(clone) for clone in clones)
    cli("erase", id_, "--yes")
    for _ in range(2):
        cli("sync")
        cli("sync", "--db", other)
    assert not any(blob in objects(clone) for clone in clones)
    git(remote, "gc", "-q", "--prune=now")
    assert blob not in objects(remote)


def objects(clone: Path) -> str:
    return git(clone, "cat-file", "--batch-all-objects", "--batch-check")


def test_the_status_says_who_has_not_taken_what(cli: CommandLine, folder: Path, other: str) -> None:
    assert "does not sync" in cli("sync", "--status").err
    assert "syncs with" not in cli("status").err
    cli.add("Alice prefers tea")
    cli("sync", folder, "--yes")
    cli("sync", "--rename", "laptop")
    cli("sync")
    cli("sync", folder, "--yes", "--db", other)
    cli("sync", "--rename", "desktop", "--db", other)
    cli("sync", "--db", other)
    cli.add("Bob prefers coffee", "bob")
    shown = cli("sync", "--status")
    assert "laptop (here)" in shown.out
    assert "1 change not sent yet" in shown.out
    cli("sync")
    shown = cli("sync", "--status")
    assert "; desktop (" in (told := cli("status").err)
    assert told.endswith(") has not taken 1 change of laptop\n")
    (line,) = [one for one in shown.out.splitlines() if one.startswith("desktop")]
    assert line.endswith("has not taken 1 change of laptop")
    assert "last synced" in shown.err
    told = cli.json("sync", "--status")
    assert [one["name"] for one in told["devices"]] == ["laptop", "desktop"]
    cli("sync", "--db", other)
    cli("sync")
    assert "has not taken" not in cli("sync", "--status").out + cli("status").err


@pytest.mark.usefixtures("of_files")
def test_an_erasure_that_a_device_has_not_taken_is_said(
    cli: CommandLine, folder: Path, other: str
) -> None:
    id_ = cli.add("the code is 4711")
    cli("sync", folder, "--yes")
    cli("sync", folder, "--yes", "--db", other)
    cli("sync")
    cli("erase", id_, "--yes")
    cli("sync")
    assert "may still lie" in cli("sync", "--status").out
    assert not any(b"4711" in file.read_bytes() for file in folder.rglob("*") if file.is_file())
    assert "another device erased" in cli("sync", "--db", other).err
    cli("sync")
    assert "may still lie" not in cli("sync", "--status").out
    assert b"4711" not in Path(other).read_bytes()


def test_a_dismissed_device_leaves_what_it_sent(cli: CommandLine, folder: Path, other: str) -> None:
    cli("add", "Carol sails", "--subject", "carol", "--db", other)
    cli("sync", folder, "--yes", "--db", other)
    cli("sync", "--rename", "old", "--db", other)
    cli("sync", "--db", other)
    cli("sync", folder, "--yes")
    assert "no other device is called" in cli.error("sync", "--dismiss", "none", "--yes")[1]
    refused = cli("sync", "--dismiss", "old")
    assert (refused.code, "--yes" in refused.err) == (REFUSED, True)
    device = cli.json("sync", "--dismiss", "old", "--yes")["dismissed"]
    assert "sails" in cli("list").out
    assert not any(one.name == device for one in folder.iterdir() if list(one.iterdir()))
    third = str(Path(other).with_name("third.db"))
    cli("sync", folder, "--yes", "--db", third)
    assert "sails" in cli("list", "--db", third).out


def test_leaving_forgets_the_place_and_nothing_else(cli: CommandLine, folder: Path) -> None:
    cli.add("Alice prefers tea")
    cli("sync", folder, "--yes")
    before = {file: file.read_bytes() for file in folder.rglob("*") if file.is_file()}
    assert cli("sync", "--leave").code == 0
    assert cli("sync").code == 2
    assert {file: file.read_bytes() for file in folder.rglob("*") if file.is_file()} == before
    assert "tea" in cli("list").out


def test_a_folder_that_is_gone_leaves_the_memory_as_it_is(cli: CommandLine, folder: Path) -> None:
    cli.add("Alice prefers tea")
    cli("sync", folder, "--yes")
    folder.rename(folder.with_name("away"))
    code, error = cli.error("sync")
    assert (code, "is not there" in error) == (command.REFUSED, True)
    assert not folder.exists()
    cli.add("Bob prefers coffee", "bob")
    folder.with_name("away").rename(folder)
    assert cli.json("sync")["went"] == {"default": 1}


@pytest.mark.usefixtures("of_files")
@pytest.mark.parametrize(
    "kind", ["file", pytest.param("database", marks=[pytest.mark.slow, pytest.mark.process])]
)
def test_a_server_is_a_place(
    cli: CommandLine, other: str, tmp_path: Path, request: pytest.FixtureRequest, kind: str
) -> None:
    from_server = tmp_path / "server.db" if kind == "file" else request.getfixturevalue("url")
    with memstore.open(from_server, embedder=None) as store:
        secrets = [store.file.tokens.create(name, namespace="x")[1] for name in ("a", "b")]
    files = [tmp_path / "a", tmp_path / "b"]
    for file, secret in zip(files, secrets, strict=True):
        file.write_text(secret)
    cli.add("Alice prefers tea")
    with listening(from_server) as address:
        done = cli("sync", address, "--yes", "--unsealed", "--token-file", files[0])
        assert (done.code, done.out) == (0, "default\tcome 0\tgo 1\n")
        told = cli.json(
            "sync", address, "--yes", "--unsealed", "--token-file", files[1], "--db", other
        )
        assert told["came"] == {"default": 1}
        assert cli("sync", "--db", other).code == 0
    assert cli("sync").code == command.REFUSED


HOSTILE = "\x1b[31mlap\u202etop\u200b</script><b>"


def test_what_another_device_calls_itself_is_data(
    cli: CommandLine, folder: Path, other: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    cli.add("Alice prefers tea")
    for words in ((), ("--db", other)):
        cli("sync", folder, "--yes", *words)
    cli("sync", "--rename", HOSTILE, "--db", other)
    cli("add", "Bob sails", "--subject", "bob", "--db", other)
    cli("sync", "--db", other)
    cli("sync")
    cli.add("Carol paints", "carol")
    cli("sync")
    shown = [
        cli(*words)
        for words in (
            ("sync", "--status"),
            ("status",),
            ("log",),
            ("diff", "op:1"),
            ("explain", 2),
            ("get", 2),
        )
    ]
    monkeypatch.setenv("FORCE_COLOR", "1")
    coloured = [cli(*words) for words in (("log",), ("explain", 2), ("get", 2))]
    for answer in (*shown, *coloured):
        assert answer.code == 0
        for sign in ("\u202e", "\u200b", "\x1b[31mlap"):
            assert sign not in answer.out + answer.err
    for answer in shown:
        assert "lap" in answer.out + answer.err


@pytest.mark.usefixtures("of_files")
@pytest.mark.process
def test_a_rehearsal_with_a_repository_leaves_no_clone(
    cli: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: Path
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    remote = repository(tmp_path / "remote.git")
    cli.add("Alice prefers tea")
    before = path.read_bytes()
    assert cli.json("sync", remote, "--dry-run")["went"] == {"default": 1}
    assert path.read_bytes() == before
    assert git(remote, "for-each-ref") == ""
    assert not [*(tmp_path / "data").rglob("clone")]


def test_levels_of_trust_travel_if_they_are_chosen_and_the_place_is_sealed(
    cli: CommandLine, folder: Path, other: str, tmp_path: Path
) -> None:
    (phrase := tmp_path / "phrase").write_text("correct horse")
    cli.add("Alice prefers tea")
    assert cli("distrust", "mail").code == 0
    refused = cli("sync", folder, "--yes", "--trust").err
    assert "not sealed" in refused
    assert "--no-trust" in refused
    assert [*folder.iterdir()] == []
    assert "only if it is sealed" in cli("sync", folder, "--trust", "--dry-run").err
    sealed = ("--yes", "--trust", "--passphrase-file", phrase)
    assert "levels of trust went: 1 source" in cli("sync", folder, *sealed).err
    assert "syncs memories and levels of trust with" in cli("sync", "--status").err
    cli("sync", "--namespaces", "default")
    assert "syncs default and levels of trust with" in cli("sync", "--status").err
    cli("sync", "--namespaces", "all")
    told = cli("sync", folder, *sealed, "--dry-run", "--db", other).err
    assert "levels of trust would come: 1 source" in told
    assert cli.json("sync", folder, *sealed, "--db", other)["trust"] == {"came": 1, "went": 1}
    assert "mail" in cli("trust", "--db", other).out
    assert cli.json("sync", "--no-trust")["trust"] is None
    assert cli.json("sync", "--status")["trust"] is False


def test_levels_of_trust_are_shown_before_they_travel(
    cli: CommandLine, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cli.add("Alice prefers tea")
    assert cli("distrust", "mail").code == 0
    asked = Asked("n").at(monkeypatch)
    shown = cli("sync", folder, "--trust")
    assert (shown.code, [*folder.iterdir()]) == (command.REFUSED, [])
    assert shown.out == "default\t1 fact\n(levels of trust)\t1 source\n"
    assert "and how much sources count, travel through" in asked.questions[0]


def test_a_rehearsal_with_a_new_folder_makes_none(cli: CommandLine, tmp_path: Path) -> None:
    cli.add("Alice prefers tea")
    new = tmp_path / "new"
    done = cli("sync", new, "--dry-run")
    assert (done.code, done.out) == (0, "default\twould come 0\twould go 1\n")
    assert "would be made" in done.err
    assert not new.exists()
    assert cli("sync", tmp_path / "no" / "such", "--dry-run").code == command.REFUSED


def test_a_sync_in_the_background_says_nothing_and_status_says_why_it_failed(
    cli: CommandLine, folder: Path
) -> None:
    cli.add("Alice prefers tea")
    assert cli("sync", folder, "--yes").code == 0
    folder.rename(folder.with_name("away"))
    failed = cli("sync", "--background")
    assert (failed.code, failed.out, failed.err) == (command.REFUSED, "", "")
    assert "is not there" in cli.json("sync", "--status")["failed"]
    folder.with_name("away").rename(folder)
    assert cli("sync").code == 0
    assert cli.json("sync", "--status")["failed"] is None
    folder.rename(folder.with_name("away"))
    assert cli("sync").code == command.REFUSED
    assert "is not there" in cli.json("sync", "--status")["failed"]


def test_a_device_keeps_its_name_when_it_comes_back_and_says_why_it_is_another(
    cli: CommandLine, folder: Path, other: str
) -> None:
    cli.add("Alice prefers tea")
    cli("sync", folder, "--yes")
    cli("sync", "--rename", "laptop")
    cli("sync")
    cli("sync", folder, "--yes", "--db", other)
    cli("sync", "--leave")
    assert cli("sync", folder, "--yes").code == 0
    [here, *_] = cli.json("sync", "--status")["devices"]
    assert (here["name"], here["is_here"]) == ("laptop", True)
    cli("sync", "--db", other)
    asked = cli("sync", "--dismiss", "nobody", "--db", other)
    assert "no other device is called 'nobody'" in asked.err
    done = cli("sync", "--dismiss", here["id"][:5], "--yes", "--db", other)
    assert done.out == f"dismissed laptop ({here['id']})\n"
    assert "another device had dismissed it" in cli("sync").err


def test_a_new_key_names_the_devices_that_have_to_sync_again(
    cli: CommandLine, folder: Path, other: str, tmp_path: Path
) -> None:
    (phrase := tmp_path / "phrase").write_text("correct horse")
    (new := tmp_path / "new").write_text("another horse")
    no_place = cli("sync", "--new-key", "--passphrase-file", new)
    assert (no_place.code, "has no place" in no_place.err) == (command.REFUSED, True)
    cli.add("Alice prefers tea")
    cli("sync", folder, "--yes", "--passphrase-file", phrase)
    cli("sync", folder, "--yes", "--passphrase-file", phrase, "--db", other)
    cli("sync", "--rename", "desktop", "--db", other)
    cli("sync", "--db", other)
    cli("sync")
    told = cli("sync", "--new-key", "--passphrase-file", new).err
    assert told.count("another key") == 0
    assert "device desktop has not synced since the key was changed" in told
    told = cli("sync", "--passphrase-file", new, "--db", other).err
    assert "key" not in told
    assert "key" not in cli("sync").err


def test_the_status_counts_the_changes_that_a_device_has_not_taken(
    cli: CommandLine, folder: Path, other: str
) -> None:
    cli.add("Alice prefers tea")
    cli("sync", folder, "--yes")
    cli("sync", folder, "--yes", "--db", other)
    cli("add", "Bob prefers rum", "--subject", "bob", "--db", other)
    cli("sync", "--db", other)
    [_, laptop] = cli.json("sync", "--status", "--db", other)["devices"]
    assert [*laptop["behind"].values()] == [1]


def test_files_of_a_dismissed_device_stay_until_its_token_is_revoked(
    cli: CommandLine, other: str, tmp_path: Path
) -> None:
    database = tmp_path / "server.db"
    with memstore.open(database, embedder=None) as store:
        for name in ("a", "b"):
            (tmp_path / name).write_text(store.file.tokens.create(name, namespace="x")[1])
    cli.add("Alice prefers tea")
    with listening(database) as address:
        begin = ("sync", address, "--yes", "--unsealed", "--token-file")
        assert cli(*begin, tmp_path / "a").code == 0
        assert cli(*begin, tmp_path / "b", "--db", other).code == 0
        [_, gone] = cli.json("sync", "--status", "--db", other)["devices"]
        told = cli("sync", "--dismiss", gone["id"], "--yes", "--db", other)
        assert "another token began this device" in told.err
        again = cli("sync", "--db", other)
        assert (again.code, again.out, "token" in again.err) == (0, "", False)
        with memstore.open(database, embedder=None) as store:
            store.file.tokens.revoke("a")
        refused = cli("sync")
        assert (refused.code, refused.err.count("memstore token create")) == (command.REFUSED, 1)
        assert "does not accept the token: the token is revoked" in refused.err
        assert cli("sync", "--db", other).code == 0
    assert (
        sql(
            database,
            f"SELECT name FROM memstore_device_files WHERE name < '{gone['id']}~'"
            f" AND name >= '{gone['id']}'",
        )
        == []
    )
