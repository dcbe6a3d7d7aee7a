"""``memstore setup --sync``: two machines, each with its home, and the programs of a host."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.support.clock import wait_until
from tests.support.machines import Machine
from tests.support.places import git, repository

pytestmark = [
    pytest.mark.process,
    pytest.mark.skipif(sys.platform == "win32", reason="its programs are scripts"),
]


@pytest.fixture
def laptop(tmp_path: Path, programs: Path) -> Machine:
    return Machine(tmp_path / "laptop", programs)


@pytest.fixture
def desktop(tmp_path: Path, programs: Path) -> Machine:
    return Machine(tmp_path / "desktop", programs)


def settled(*machines: Machine) -> None:
    """Wait until nothing in the background is syncing."""
    for machine in machines:
        assert wait_until(lambda one=machine: "another process" not in one.run("sync").stderr)


def test_an_empty_machine_knows_in_its_next_session_what_the_other_one_knew(
    laptop: Machine, desktop: Machine, tmp_path: Path
) -> None:
    remote = repository(tmp_path / "remote.git")
    laptop.told("add", "Alice prefers tea", "--subject", "alice", "--category", "preference")
    for machine in (laptop, desktop):
        machine.told(
            "setup", "codex", "--sync", remote, "--yes", "--passphrase-file", machine.phrase
        )
    assert "Alice prefers tea" in desktop.hook("SessionStart")
    assert "tea" not in git(remote, "log", "-p", "--text", "memstore")

    settled(desktop)
    desktop.told("add", "Bob prefers coffee", "--subject", "bob")
    desktop.told("sync")
    laptop.hook("SessionStart")
    assert wait_until(lambda: laptop.knows("Bob prefers coffee"))
    settled(laptop)

    laptop.told("setup", "--uninstall")
    assert json.loads(laptop.told("sync", "--status", "--json"))["every_seconds"] is None
    desktop.told("add", "Carol sails", "--subject", "carol")
    desktop.told("sync")
    (begun,) = laptop.home.rglob("begun")
    os.utime(begun, (0, 0))
    laptop.hook("SessionStart")
    assert begun.stat().st_mtime == 0
    laptop.told("sync")
    assert laptop.knows("Carol sails")


def test_what_a_server_wrote_is_on_the_other_machine_after_it_ended(
    laptop: Machine, desktop: Machine, tmp_path: Path
) -> None:
    place = tmp_path / "carried"
    for machine in (laptop, desktop):
        machine.told("setup", "codex", "--sync", place, "--yes")
    served = subprocess.Popen(
        [laptop.programs / "memstore-mcp"],
        env=laptop.environment,
        cwd=laptop.home,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        encoding="utf-8",
    )

    def say(**message: Any) -> None:
        assert served.stdin is not None
        served.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        served.stdin.flush()

    def heard() -> str:
        assert served.stdout is not None
        return served.stdout.readline()

    about = {"clientInfo": {"name": "t", "version": "1"}, "capabilities": {}}
    say(id=1, method="initialize", params={"protocolVersion": "2025-06-18", **about})
    assert heard()
    say(method="notifications/initialized")
    fact = {"content": "Alice moved to Naxos", "subject": "alice"}
    say(id=2, method="tools/call", params={"name": "memory_store", "arguments": fact})
    assert "#1" in heard()
    served.communicate(timeout=60)
    assert served.returncode == 0

    def arrived() -> bool:
        desktop.told("sync")
        return desktop.knows("Alice moved to Naxos")

    assert wait_until(arrived)


def test_nothing_is_set_up_or_sent_unless_somebody_agrees(laptop: Machine, tmp_path: Path) -> None:
    remote = repository(tmp_path / "remote.git")
    laptop.told("add", "Alice prefers tea", "--subject", "alice")
    for words, code, said in (
        ((), 1, "--yes"),
        (("--yes",), 2, "--passphrase-file FILE, or --unsealed"),
    ):
        refused = laptop.run("setup", "codex", "--sync", remote, *words)
        assert (refused.returncode, said in refused.stderr) == (code, True)
    assert git(remote, "for-each-ref") == ""
    assert [*(laptop.home / ".codex").iterdir()] == []


def test_a_rehearsal_writes_nothing_anywhere(laptop: Machine, tmp_path: Path) -> None:
    place = tmp_path / "carried"
    place.mkdir()
    shown = laptop.run("setup", "codex", "--sync", place, "--dry-run")
    assert (shown.returncode, shown.stdout) == (0, "would change: Codex\n")
    assert not [*laptop.home.rglob("*.db")]
    laptop.told("add", "Alice prefers tea", "--subject", "alice")
    (database,) = laptop.home.rglob("*.db")
    before = database.read_bytes()
    shown = laptop.run("setup", "codex", "--sync", place, "--dry-run")
    assert "default\twould come 0\twould go 1" in shown.stdout
    assert database.read_bytes() == before
    assert [*place.iterdir()] == []
    told = laptop.told("setup", "codex", "--sync", place, "--dry-run", "--json")
    assert json.loads(told)["failed"] == {}
    assert [*(laptop.home / ".codex").iterdir()] == []
    assert not [*laptop.home.rglob("place.json")]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--sync-every", "5m"), "--sync-every goes with --sync"),
        (("--namespaces", "work"), "--namespaces goes with --sync"),
        (("--unsealed",), "--unsealed goes with --sync"),
        (("--sync", "/carried", "--uninstall"), "memstore sync --leave"),
        (("--sync", "/carried", "--server", "https://x.example/mcp"), "leave --sync out"),
        (("--sync", "/no/such/folder", "--yes"), "is not there"),
        (("--sync", "ext::sh -c x", "--yes"), "names no place"),
    ],
)
def test_what_does_not_go_together_is_refused(
    laptop: Machine, words: tuple[str, ...], said: str
) -> None:
    refused = laptop.run("setup", "codex", *words)
    assert refused.returncode != 0
    assert said in refused.stderr
    assert [*(laptop.home / ".codex").iterdir()] == []
