"""Git repositories on bad days: hostile, diverged, replaced, locked, unreachable."""

from __future__ import annotations

import os
import random
import shutil
from contextlib import suppress
from pathlib import Path

import pytest
from tests.support.places import git, git_reach, repository

import memstore
from memstore.errors import Remedy
from memstore.sync.places import git as git_place
from memstore.sync.places import names
from memstore.sync.places.git import GitPlace

pytestmark = pytest.mark.process

ONE, TWO = "a" * 16, "b" * 16
STATE = names.of_state(ONE)
LINES = names.of_lines(ONE, ONE, 1, 9)
TEXT = b"the key is under the mat"


@pytest.fixture
def remote(tmp_path: Path) -> Path:
    return repository(tmp_path / "remote.git")


@pytest.fixture
def place(remote: Path, tmp_path: Path) -> GitPlace:
    made = git_reach(remote, tmp_path)("here")
    assert isinstance(made, GitPlace)
    return made


@pytest.fixture
def other(remote: Path, tmp_path: Path) -> GitPlace:
    made = git_reach(remote, tmp_path)("there")
    assert isinstance(made, GitPlace)
    return made


def filled(place: GitPlace) -> GitPlace:
    place.put(STATE, b"one")
    place.publish()
    return place


def commits(remote: Path) -> int:
    return int(git(remote, "rev-list", "--count", "memstore"))


def holds(folder: Path, text: bytes) -> bool:
    """Return whether any object of a repository has a text."""
    ids = git(folder, "cat-file", "--batch-all-objects", "--batch-check=%(objectname)").split()
    return any(text in git(folder, "cat-file", "-p", id_).encode() for id_ in ids)


def worked_on(remote: Path, folder: Path) -> Path:
    """Return a working tree of the repository, as a person would have it."""
    git(folder.parent, "clone", "-q", "-b", "memstore", str(remote), folder.name)
    return folder


def pushed(tree: Path) -> None:
    git(tree, "add", "-A", "-f")
    git(tree, "commit", "-q", "-m", "mine")
    git(tree, "push", "-q")


def test_who_was_outrun_pushes_again_on_top(place: GitPlace, other: GitPlace) -> None:
    filled(place)
    other.list()
    place.put(STATE, b"two")
    other.put(names.of_state(TWO), b"three")
    place.publish()
    other.publish()
    assert place.list().keys() == {STATE, names.of_state(TWO)}
    assert (other.get(STATE, most=9), place.get(names.of_state(TWO), most=9)) == (b"two", b"three")


def test_a_run_without_news_makes_no_commit(place: GitPlace, remote: Path) -> None:
    filled(place)
    place.put(STATE, b"one")
    place.publish()
    assert commits(remote) == 1


def test_after_an_erasure_no_object_of_a_clone_has_the_text(
    place: GitPlace, other: GitPlace, remote: Path, tmp_path: Path
) -> None:
    place.put(LINES, TEXT)
    filled(place)
    other.put(names.of_state(TWO), b"two")
    other.list()
    other.publish()
    place.list()
    place.put(LINES, b"erased")
    place.publish(anew=True)
    assert commits(remote) == 1
    other.put(names.of_state(TWO), b"not published yet")
    other.list()
    assert not holds(tmp_path / "here" / "clone", TEXT)
    assert not holds(tmp_path / "there" / "clone", TEXT)
    assert holds(remote, TEXT)  # until the host tidies up, as `status` says
    other.publish()
    git(remote, "gc", "-q", "--prune=now")
    assert not holds(remote, TEXT)
    assert place.list().keys() == {LINES, STATE, names.of_state(TWO)}
    assert place.get(names.of_state(TWO), most=99) == b"not published yet"


def test_two_erasures_at_once_leave_neither_text(
    place: GitPlace, other: GitPlace, remote: Path
) -> None:
    place.put(LINES, TEXT)
    place.publish()
    other.list()
    other.put(names.of_lines(TWO, TWO, 1, 1), b"another text")
    other.publish()
    place.list()
    place.put(LINES, b"")
    other.put(names.of_lines(TWO, TWO, 1, 1), b"")
    place.publish(anew=True)
    other.publish(anew=True)
    git(remote, "gc", "-q", "--prune=now")
    assert not holds(remote, TEXT)
    assert not holds(remote, b"another text")
    assert commits(remote) == 1


def test_a_long_history_is_begun_again(
    place: GitPlace, remote: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(git_place, "MAX_COMMITS", 3)
    counted = []
    for number in range(5):
        place.put(STATE, str(number).encode())
        place.publish()
        counted.append(commits(remote))
    assert counted == [1, 2, 3, 1, 2]


def test_a_history_that_is_much_larger_than_the_files_is_begun_again(
    place: GitPlace, remote: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(git_place, "MIN_BYTES", 0)
    counted = []
    for number in range(12):
        place.put(STATE, bytes([number]) * 10_000)
        place.publish()
        counted.append(commits(remote))
    assert counted == [1, 2, 3, 4, 5, 1, 2, 3, 4, 5, 1, 2]


@pytest.mark.parametrize("seed", range(2))
def test_no_push_is_lost_while_histories_are_begun_again(
    seed: int, place: GitPlace, other: GitPlace, remote: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(git_place, "MIN_BYTES", 0)
    monkeypatch.setattr(git_place, "MAX_COMMITS", 4)
    monkeypatch.setattr(git_place, "PAUSE_SECONDS", 0)
    rnd = random.Random(seed)
    wanted: dict[str, bytes] = {}
    counted = []
    for number in range(1, 16):
        pushing, device = rnd.choice([(place, ONE), (other, TWO)])
        if rnd.random() < 0.3:  # else it does not know what the other one pushed
            pushing.list()
        name = names.of_lines(device, device, number, number)
        wanted[name] = rnd.randbytes(rnd.randrange(3000))
        pushing.put(name, wanted[name])
        own = [name for name in wanted if name.startswith(device)]
        if len(own) > 3:
            gone = rnd.choice(own)
            pushing.delete(gone)
            del wanted[gone]
        pushing.publish(anew=rnd.random() < 0.1)
        counted.append(commits(remote))
    assert counted.count(1) > 2
    for there in (place, other):
        assert {name: there.get(name, most=4000) for name in there.list()} == wanted


def test_a_branch_that_somebody_replaced_is_taken_as_it_is(
    place: GitPlace, other: GitPlace, remote: Path
) -> None:
    filled(place)
    git(remote, "update-ref", "-d", "refs/heads/memstore")
    assert place.list() == {}
    other.put(names.of_state(TWO), b"two")
    other.publish()
    assert list(place.list()) == [names.of_state(TWO)]
    assert list(filled(place).list()) == [STATE, names.of_state(TWO)]


def test_a_commit_by_somebody_else_is_kept_and_its_files_are_ignored(
    place: GitPlace, remote: Path, tmp_path: Path
) -> None:
    filled(place)
    tree = worked_on(remote, tmp_path / "tree")
    (tree / "README.md").write_text("mine")
    (tree / ONE / "link").symlink_to("/etc/passwd")
    (tree / TWO).symlink_to("/etc")
    pushed(tree)
    assert list(place.list()) == [STATE]
    assert "README.md" in place.ignored[0]
    place.put(STATE, b"two")
    place.publish()
    git(tree, "fetch", "-q")
    kept = git(tree, "ls-tree", "-r", "--name-only", "origin/memstore").split()
    assert kept == ["README.md", f"{ONE}/link", STATE, TWO]


def test_a_device_that_is_a_link_there_is_replaced_by_its_folder(
    place: GitPlace, remote: Path, tmp_path: Path
) -> None:
    filled(place)
    tree = worked_on(remote, tmp_path / "tree")
    (tree / TWO).symlink_to("/etc")
    pushed(tree)
    place.list()
    place.put(names.of_state(TWO), b"ours")
    with pytest.raises(memstore.SyncError):
        place.publish()
    assert not (Path("/etc") / "state").exists()


def test_hooks_and_filters_of_the_repository_do_not_run(
    place: GitPlace, remote: Path, tmp_path: Path
) -> None:
    filled(place)
    marks = tmp_path / "ran"
    home = tmp_path / ".gitconfig"
    home.write_text(
        f'[filter "x"]\n\tsmudge = touch {marks}\n\tclean = touch {marks}\n'
        f"[core]\n\thooksPath = {tmp_path}/hooks\n"
    )
    hook = tmp_path / "hooks" / "pre-push"
    hook.parent.mkdir()
    hook.write_text(f"#!/bin/sh\ntouch {marks}\n")
    hook.chmod(0o755)
    tree = worked_on(remote, tmp_path / "tree")
    (tree / ".gitattributes").write_text("* filter=x\n")
    git(tree, "add", "-A")
    git(tree, "-c", "core.hooksPath=/dev/null", "commit", "-q", "-m", "mine")
    git(tree, "push", "-q", "--no-verify")
    marks.unlink(missing_ok=True)
    place.list()
    place.put(STATE, b"two")
    place.publish()
    assert place.get(STATE, most=9) == b"two"
    assert not marks.exists()


def test_a_lock_that_was_left_behind_ends_nothing(
    place: GitPlace, other: GitPlace, tmp_path: Path
) -> None:
    filled(place)
    filled(other)
    clone = tmp_path / "here" / "clone"
    other.put(STATE, b"two")
    other.publish()
    for lock in ("shallow.lock", "packed-refs.lock", "refs/memstore/place.lock", "config.lock"):
        (clone / lock).parent.mkdir(parents=True, exist_ok=True)
        (clone / lock).write_bytes(b"")
    place.list()
    assert place.get(STATE, most=9) == b"two"


@pytest.mark.parametrize("spoiled", ["HEAD", "objects", "config"])
def test_a_damaged_clone_is_made_again(
    place: GitPlace, remote: Path, tmp_path: Path, spoiled: str
) -> None:
    filled(place)
    clone = tmp_path / "here" / "clone"
    path = clone / spoiled
    if path.is_dir():
        shutil.rmtree(path)
        path.mkdir()
    else:
        path.write_bytes(b"\0garbage")
    with suppress(memstore.SyncError):  # a clone that fails is removed
        git_reach(remote, tmp_path)("here").get(STATE, most=9)
    again = git_reach(remote, tmp_path)("here")
    assert list(again.list()) == [STATE]
    assert again.get(STATE, most=9) == b"one"


def test_a_repository_that_is_not_there_says_so(tmp_path: Path) -> None:
    place = GitPlace(str(tmp_path / "none.git"), tmp_path / "clone")
    with pytest.raises(memstore.SyncError, match="no such repository") as raised:
        place.list()
    assert raised.value.remedy is Remedy.CHECK_GIT


def test_a_machine_without_a_network_says_so(tmp_path: Path) -> None:
    place = GitPlace("https://127.0.0.1:9/memory.git", tmp_path / "clone")
    with pytest.raises(memstore.SyncError, match="cannot be reached from here"):
        place.list()


def test_missing_credentials_are_not_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ssh = tmp_path / "ssh"
    ssh.write_text(
        f"#!/bin/sh\necho \"$@\" > {tmp_path}/said\necho 'Permission denied (publickey).' >&2\n"
        "exit 255\n"
    )
    ssh.chmod(0o755)
    monkeypatch.setenv("GIT_SSH_COMMAND", str(ssh))
    place = GitPlace("git@example.invalid:me/memory.git", tmp_path / "clone")
    with pytest.raises(memstore.SyncError, match="no credentials"):
        place.list()
    assert "BatchMode=yes" in (tmp_path / "said").read_text()


def test_a_password_in_an_address_is_not_shown(tmp_path: Path) -> None:
    place = GitPlace("https://me:hunter2@127.0.0.1:9/memory.git", tmp_path / "clone")
    with pytest.raises(memstore.SyncError) as raised:
        place.list()
    assert "hunter2" not in f"{raised.value}{place.address}"


def test_the_repository_of_a_project_is_refused_until_told_twice(
    remote: Path, tmp_path: Path
) -> None:
    git(tmp_path, "clone", "-q", str(remote), "project")
    tree = tmp_path / "project"
    (tree / "main.py").write_text("")
    git(tree, "checkout", "-q", "-b", "main")
    git(tree, "add", "-A")
    git(tree, "commit", "-q", "-m", "code")
    git(tree, "push", "-q", "origin", "main")
    with pytest.raises(memstore.SyncError, match=r"other branches \(main\)"):
        GitPlace(str(remote), tmp_path / "clone").list()
    place = GitPlace(str(remote), tmp_path / "clone", may_be_shared=True)
    filled(place)
    assert list(GitPlace(str(remote), tmp_path / "clone").list()) == [STATE]
    assert git(remote, "ls-tree", "--name-only", "main").split() == ["main.py"]


def test_a_branch_that_may_not_be_forced_keeps_its_history_and_says_so(
    place: GitPlace, remote: Path
) -> None:
    filled(place)
    git(remote, "config", "receive.denyNonFastForwards", "true")
    place.put(STATE, b"two")
    with pytest.raises(memstore.SyncError, match="texts that were erased stay") as raised:
        place.publish(anew=True)
    assert raised.value.remedy is Remedy.ALLOW_FORCE
    assert commits(remote) == 2
    assert place.list()[STATE].size == 3


def test_a_long_history_that_may_not_be_forced_goes_on(
    place: GitPlace, remote: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(git_place, "MAX_COMMITS", 1)
    filled(place)
    git(remote, "config", "receive.denyNonFastForwards", "true")
    place.put(STATE, b"two")
    place.publish()
    assert commits(remote) == 2


def test_the_environment_of_a_hook_does_not_lead_elsewhere(
    place: GitPlace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    git(tmp_path, "init", "-q", "project")
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "project" / ".git"))
    monkeypatch.setenv("GIT_INDEX_FILE", str(tmp_path / "project" / ".git" / "index"))
    filled(place)
    monkeypatch.delenv("GIT_DIR")
    monkeypatch.delenv("GIT_INDEX_FILE")
    assert git(tmp_path / "project", "for-each-ref") == ""


def test_the_commits_say_nothing_of_the_user(
    place: GitPlace, remote: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_AUTHOR_EMAIL", "alice@example.com")
    filled(place)
    assert "alice" not in git(remote, "cat-file", "commit", "memstore")


def test_a_machine_without_git_says_so(
    place: GitPlace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(os, "defpath", str(tmp_path))
    with pytest.raises(memstore.SyncError, match="git is not installed"):
        place.list()
