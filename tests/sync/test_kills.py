"""A sync that is killed at any of its writes: memories stay whole, and the next run carries on."""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.support.syncing import all_facts, differences

import memstore
from memstore import Store
from memstore.sync import segments
from memstore.sync.places import Place, names
from memstore.sync.places.folder import FolderPlace
from memstore.sync.places.git import GitPlace

SECRET = "the safe opens with 8431"

RUN = """
import os, signal, subprocess, sys
import memstore
from memstore.database.sqlite.writer import Writer
from memstore.sync import run
from memstore.sync.places.folder import FolderPlace
from memstore.sync.places.git import GitPlace

path, place, clone, fatal = sys.argv[1:]
left = int(fatal)

def counted(act):
    def acting(*given, **named):
        global left
        left -= 1
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return act(*given, **named)
    return acting

run.LEASE_SECONDS = 0.01
store = memstore.open(path, embedder=None)
for owner, name in ((os, "replace"), (os, "unlink"), (os, "fsync"), (Writer, "_end")):
    setattr(owner, name, counted(getattr(owner, name)))
if clone:
    class Counted(subprocess.Popen):
        __init__ = counted(subprocess.Popen.__init__)
    subprocess.Popen = Counted
store.file.sync(GitPlace(place, clone) if clone else FolderPlace(place))
store.close()
"""


@pytest.mark.process
@pytest.mark.skipif(sys.platform == "win32", reason="kills are those of POSIX")
@pytest.mark.parametrize("kind", ["folder", "git"])
def test_a_run_that_is_killed_at_any_write_is_carried_on(
    kind: str, open_store: Callable[..., Store], tmp_path: Path
) -> None:
    place = tmp_path / "place"
    if kind == "git":
        if shutil.which("git") is None:
            pytest.skip("git is not installed")
        subprocess.run(["git", "init", "-q", "--bare", str(place)], check=True)
    else:
        place.mkdir()

    def of(store: Store) -> Place:
        clone = tmp_path / f"clone of {Path(store.path).name}"
        return GitPlace(str(place), clone) if kind == "git" else FolderPlace(place)

    def meet(store: Store) -> None:
        store.file.sync(of(store))

    a, b = (open_store(tmp_path / f"{name}.db", embedder=None) for name in "ab")
    if a.file.engine.is_remote:
        pytest.skip("the kills are of writers to a file")
    safe = a.add(SECRET, subject="safe")
    a.add("tea", subject="alice")
    for store in (a, b, a, b):
        meet(store)
    b.add("rum", subject="ben")
    b.update_metadata(b.list(subject="alice")[0].id, {"n": 1})
    meet(b)
    a.erase(safe.id)
    a.add("gin", subject="cy")
    a.close()

    kills = 0
    clone = str(tmp_path / "clone of a.db") if kind == "git" else ""
    while True:
        command = [sys.executable, "-c", RUN, a.path, str(place), clone, str(kills + 1)]
        done = subprocess.run(command, capture_output=True, encoding="utf-8", check=False)
        if done.returncode != -signal.SIGKILL:
            break
        kills += 1
        with memstore.open(a.path, embedder=None) as again:
            assert again.ledger.verify() == []
            assert {"tea", "gin"} <= {fact.content for fact in again.list()}
    assert done.returncode == 0, done.stderr
    assert kills > 5

    with memstore.open(a.path, embedder=None) as again:
        for store in (b, again, b):
            meet(store)
        assert [*differences([again, b])] == []
        for store in (again, b):
            assert len(all_facts(store)) == 4
            assert store.ledger.verify() == []
            assert store.file.doctor() == []
            there = of(store)
            for name in there.list():
                named = names.read(name)
                assert named is not None
                if not named.is_state:
                    segment = segments.read(there.get(name, most=2**20), named)
                    assert SECRET not in repr(segment)
            found = Path(store.path).parent.glob(f"{Path(store.path).name}*")
            assert not any(SECRET.encode() in one.read_bytes() for one in found if one.is_file())
