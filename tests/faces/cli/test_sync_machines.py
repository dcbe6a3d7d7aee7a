"""The set-ups of docs/sync.md, as their user walks them: two machines, and what lies between."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.support.gated import listening
from tests.support.machines import Machine, install
from tests.support.places import git, repository

import memstore
from memstore.domain.tokens import Access

pytestmark = [
    pytest.mark.process,
    pytest.mark.skipif(sys.platform == "win32", reason="its programs are scripts"),
]


@pytest.fixture
def programs(tmp_path: Path) -> Path:
    folder = tmp_path / "bin"
    folder.mkdir()
    install(folder, "memstore", "command_line")
    return folder


@pytest.fixture
def laptop(tmp_path: Path, programs: Path) -> Machine:
    return Machine(tmp_path / "laptop", programs)


@pytest.fixture
def desktop(tmp_path: Path, programs: Path) -> Machine:
    return Machine(tmp_path / "desktop", programs)


def cloned(machine: Machine, code: Path, where: str) -> Path:
    folder = machine.home / where
    folder.parent.mkdir(parents=True)
    git(machine.home, "clone", "-q", str(code), str(folder))
    return folder


@pytest.fixture
def code(tmp_path: Path) -> Path:
    """A project's repository with one commit."""
    remote = repository(tmp_path / "code.git")
    git(tmp_path, "clone", "-q", str(remote), "first")
    git(tmp_path / "first", "commit", "-q", "--allow-empty", "-m", "first")
    git(tmp_path / "first", "push", "-q", "origin", "HEAD")
    return remote


def test_two_namespaces_of_one_project_are_joined_by_the_commands_that_sync_names(
    laptop: Machine, desktop: Machine, code: Path, tmp_path: Path
) -> None:
    work, src = cloned(laptop, code, "work/api"), cloned(desktop, code, "src/api")
    place = tmp_path / "place"
    for machine, folder, claim in (
        (laptop, work, "The API speaks gRPC"),
        (desktop, src, "The port is 8000"),
    ):
        machine.told("add", claim, "--subject", "api", "--namespace", "auto", folder=folder)
        told = machine.run("sync", place, "--yes").stderr
    assert "~/src/api here and ~/work/api of another device are one repository" in told
    assert "are one repository" in desktop.run("sync", "--status").stderr
    assert "one repository: memstore sync there names the commands" in laptop.run("sync").stderr
    commands = told.partition("one repository: ")[2]
    where, _, rest = commands.partition(" uses that from now on, ")
    bring, _, rest = rest.partition(" brings along what is here, and ")
    forget, _, _ = rest.partition(" deletes the facts")
    for command in (where, bring, f"{forget} --yes"):
        subprocess.run(
            ["/bin/sh", "-c", command], env=desktop.environment, cwd=desktop.home, check=True
        )
    both = {"The API speaks gRPC", "The port is 8000"}
    assert "are one repository" not in desktop.run("sync").stderr
    assert "are one repository" not in laptop.run("sync").stderr
    for machine, folder in ((desktop, src), (laptop, work)):
        found = json.loads(machine.told("list", "--namespace", "auto", "--json", folder=folder))
        assert {one["content"] for one in found} == both
        assert "no facts" in machine.run("list", "--namespace", "~/src/api").stderr


def test_a_folder_without_memories_uses_the_project_of_the_other_machine(
    laptop: Machine, desktop: Machine, code: Path, tmp_path: Path
) -> None:
    work, src = cloned(laptop, code, "work/api"), cloned(desktop, code, "src/api")
    laptop.told(
        "add", "The API speaks gRPC", "--subject", "api", "--namespace", "auto", folder=work
    )
    for machine in (laptop, desktop):
        machine.told("sync", tmp_path / "place", "--yes")
    assert desktop.told("where", folder=src).startswith("~/work/api: ")
    assert "gRPC" in desktop.told("list", "--namespace", "auto", folder=src)


def over_ssh(folder: Path, home: Path) -> str:
    """Return a program that git takes for ssh: it runs the command here, in another home."""
    script = folder / "ssh"
    script.write_text(
        f'#!/bin/sh\necho "$@" >> {folder}/asked\nfor last; do :; done\ncd {home}\n'
        'exec /bin/sh -c "$last"\n'
    )
    script.chmod(0o755)
    return str(script)


def test_a_private_repository_over_ssh(tmp_path: Path, programs: Path) -> None:
    host = tmp_path / "host"
    (host / "me").mkdir(parents=True)
    repository(host / "me" / "memory.git")
    ssh = over_ssh(tmp_path, host)
    laptop, desktop = (
        Machine(tmp_path / name, programs, GIT_SSH_COMMAND=ssh) for name in ("laptop", "desktop")
    )
    laptop.told("add", "Alice prefers tea", "--subject", "alice")
    for machine in (laptop, desktop):
        machine.told(
            "sync", "git@github.com:me/memory.git", "--yes", "--passphrase-file", machine.phrase
        )
    assert desktop.knows("Alice prefers tea")
    assert "BatchMode=yes" in (tmp_path / "asked").read_text()
    assert git(host / "me" / "memory.git", "for-each-ref", "--format=%(refname)") == (
        "refs/heads/memstore\n"
    )
    wrong = desktop.home / "wrong"
    wrong.write_text("battery staple")
    third = Machine(tmp_path / "third", programs, GIT_SSH_COMMAND=ssh)
    refused = third.run("sync", "git@github.com:me/memory.git", "--yes", "--passphrase-file", wrong)
    assert (refused.returncode, "passphrase" in refused.stderr) == (1, True)
    assert not third.knows("tea")


def test_a_folder_that_is_copied_by_hand(laptop: Machine, desktop: Machine) -> None:
    """As the two lines for rsync do, in which each machine sends only its own files."""
    server = laptop.home.parent / "server"
    for machine in (laptop, desktop):
        (machine.home / "memories").mkdir()
    server.mkdir()
    laptop.told("add", "Alice prefers tea", "--subject", "alice")
    desktop.told("add", "Bob prefers coffee", "--subject", "bob")

    def round_of(machine: Machine) -> None:
        here = machine.home / "memories"
        shutil.copytree(server, here, dirs_exist_ok=True)
        machine.told("sync", here, "--yes")
        status = json.loads(machine.told("sync", "--status", "--json"))
        own = status["devices"][0]
        assert own["is_here"]
        shutil.rmtree(server / own["id"], ignore_errors=True)
        shutil.copytree(here / own["id"], server / own["id"])

    for machine in (laptop, desktop, laptop, desktop):
        round_of(machine)
    for machine in (laptop, desktop):
        assert machine.knows("Alice prefers tea")
        assert machine.knows("Bob prefers coffee")


def test_a_folder_with_spaces_and_foreign_files(laptop: Machine, desktop: Machine) -> None:
    place = laptop.home.parent / "Mobile Documents" / "com~apple~CloudDocs"
    place.mkdir(parents=True)
    laptop.told("add", "Alice prefers tea", "--subject", "alice")
    laptop.told("sync", place, "--yes")
    (place / ".DS_Store").write_bytes(b"x")
    own = next(one for one in place.iterdir() if one.is_dir())
    (own / ".1-1.lines.icloud").write_bytes(b"x")
    shutil.copy(own / "state", own / "state (laptop's conflicted copy 2026-03-01)")
    (own / "state.sync-conflict-20260301-120000-ABCDEFG").write_bytes(b"{")
    (place / "CON").mkdir()
    (place / "aux.lines").write_bytes(b"x")
    done = desktop.run("sync", place, "--yes")
    assert done.returncode == 0
    assert desktop.knows("Alice prefers tea")


def test_a_program_that_reads_the_processes_sees_no_secret(
    laptop: Machine, tmp_path: Path, programs: Path
) -> None:
    seen = tmp_path / "seen"
    wrapper = programs / "git"
    real = shutil.which("git")
    wrapper.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" >> {seen}\nexec {real} "$@"\n')
    wrapper.chmod(0o755)
    remote = repository(tmp_path / "remote.git")
    laptop.told("add", "Alice prefers tea", "--subject", "alice")
    laptop.told("sync", remote, "--yes", "--passphrase-file", laptop.phrase)
    laptop.told("sync", "--background")
    said = seen.read_text()
    assert "push" in said.splitlines()
    assert "correct horse" not in said
    assert "tea" not in said
    kept = [file for file in (laptop.home / "data").rglob("*") if file.is_file()]
    assert not any(b"correct horse" in file.read_bytes() for file in kept)


def test_a_token_that_only_reads_sends_nothing(laptop: Machine, tmp_path: Path) -> None:
    database = tmp_path / "server.db"
    with memstore.open(database, embedder=None) as store:
        secret = store.file.tokens.create("reader", namespace="x", access=Access.READ)[1]
        writer = store.file.tokens.create("writer", namespace="x")[1]
    token = laptop.home / "token"
    token.write_text(secret)
    laptop.told("add", "Alice prefers tea", "--subject", "alice")
    with listening(database) as address:
        refused = laptop.run("sync", address, "--yes", "--unsealed", "--token-file", token)
        token.write_text(writer)
        done = laptop.run("sync", address, "--yes", "--unsealed", "--token-file", token)
    assert (done.returncode, "new device" in done.stderr) == (0, False)
    assert refused.returncode == 1
    assert "only read" in refused.stderr or "read-only" in refused.stderr
    assert secret not in refused.stderr + refused.stdout
    assert laptop.knows("Alice prefers tea")
