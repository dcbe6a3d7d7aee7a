"""Backups: complete or absent, whatever happens while they are written."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import apsw
import pytest
from tests.support.raw import raw

import memstore
from memstore import Remedy, SchemaError, StorageError, Store

OpenStore = Callable[..., Store]

KILLED_AT = """
import os, signal, sys
import memstore
path, target, fatal = sys.argv[1:]
steps = 0
def step(done, total):
    global steps
    steps += 1
    if steps == int(fatal):
        os.kill(os.getpid(), signal.SIGKILL)
memstore.open(path, embedder=None).file.backup(target, progress=step)
"""


@pytest.fixture
def large(open_store: OpenStore) -> Store:
    store = open_store(embedder=None)
    store.add_many({"content": "x" * 5000 + f" {n}", "subject": "bulk"} for n in range(1500))
    return store


@pytest.mark.process
@pytest.mark.skipif(sys.platform == "win32", reason="kills are those of POSIX")
@pytest.mark.parametrize("step", [1, 2, 3])
def test_a_backup_that_is_killed_leaves_nothing_that_opens(
    large: Store, tmp_path: Path, step: int
) -> None:
    target, part = tmp_path / "copy.db", tmp_path / "copy.db.part"
    done = subprocess.run([sys.executable, "-c", KILLED_AT, large.path, target, str(step)])
    assert done.returncode == -signal.SIGKILL
    assert not target.exists()
    with pytest.raises(StorageError):
        memstore.open(part, embedder=None)
    assert large.file.backup(target) == target
    assert [file.name for file in tmp_path.glob("copy.db*")] == ["copy.db"]
    with memstore.open(target, embedder=None) as copy:
        assert copy.count() == 1500
        assert copy.file.doctor() == []


def test_a_backup_has_no_name_before_it_is_verified(large: Store, tmp_path: Path) -> None:
    target, part = tmp_path / "copy.db", tmp_path / "copy.db.part"
    found: list[tuple[bool, bool]] = []
    large.file.backup(target, progress=lambda *_: found.append((target.exists(), part.exists())))
    assert set(found) == {(False, True)}
    assert (target.exists(), part.exists()) == (True, False)


def test_unfinished_backup_is_refused_and_replaced_by_the_next(
    store: Store, tmp_path: Path
) -> None:
    part = tmp_path / "copy.db.part"
    with raw(part) as file:
        file.execute("CREATE TABLE unfinished_copy (x)")
    with pytest.raises(SchemaError, match="another program"):
        memstore.open(part, embedder=None)
    store.file.backup(tmp_path / "copy.db")
    assert not part.exists()


@pytest.mark.skipif(not Path("/proc/self").is_dir(), reason="there is no folder that takes no file")
def test_backup_that_cannot_be_created_suggests_another_target(store: Store) -> None:
    with pytest.raises(StorageError, match="cannot create '/proc/") as caught:
        store.file.backup("/proc/copy.db")
    assert caught.value.remedy is Remedy.NEW_TARGET


def test_backup_in_progress_is_not_overwritten(store: Store, tmp_path: Path) -> None:
    part = tmp_path / "copy.db.part"
    other = apsw.Connection(str(part))
    other.execute("CREATE TABLE unfinished_copy (x); BEGIN EXCLUSIVE")
    with pytest.raises(StorageError, match="another backup is being written") as caught:
        store.file.backup(tmp_path / "copy.db")
    assert caught.value.remedy is Remedy.NEW_TARGET
    assert part.exists()
    other.close()


def test_a_damaged_file_is_not_backed_up(path: Path, open_store: OpenStore, tmp_path: Path) -> None:
    with open_store(embedder=None) as store:
        store.add_many({"content": f"fact {n}", "subject": "s"} for n in range(500))
    with raw(path) as file:
        [(root, size)] = file.execute(
            "SELECT s.rootpage, p.page_size FROM sqlite_schema s, pragma_page_size p"
            " WHERE s.name = 'memstore_journal'"
        )
    damaged = bytearray(path.read_bytes())
    damaged[(root - 1) * size + 8 : root * size] = b"\xff" * (size - 8)
    path.write_bytes(damaged)
    with pytest.raises(StorageError, match="damaged") as caught:
        open_store(embedder=None).file.backup(tmp_path / "copy.db")
    assert caught.value.remedy is Remedy.RESTORE_BACKUP
    assert list(tmp_path.glob("copy.db*")) == []
