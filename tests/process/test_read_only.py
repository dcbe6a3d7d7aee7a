"""Reading a file without permission to write: everything that is stored, or a clear refusal."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from memstore import Store

pytestmark = [
    pytest.mark.process,
    pytest.mark.skipif(not hasattr(os, "setuid"), reason="Windows has no such permissions"),
]

NOBODY = 65534

# Imports first: another user may not have access to the library. Root becomes another user;
# for anybody else the permissions of the folder are enough. Paths become addresses with urllib.
READ = """
import json, os, sys, urllib.parse
import memstore, memstore.store.opening, memstore.database.sqlite.engine
path, user = sys.argv[1], int(sys.argv[2])
memstore.open(":memory:", embedder=None).close()
if os.getuid() == 0:
    os.setgroups([]); os.setgid(user); os.setuid(user)
try:
    with memstore.open(path, embedder=None, read_only=True) as store:
        print(json.dumps({"count": store.count()}), flush=True)
        sys.stdin.readline()
        print(json.dumps({"count": store.count()}))
except memstore.StorageError as error:
    print(json.dumps({"error": str(error), "remedy": error.remedy and error.remedy.name}))
"""


def readable(folder: Path, *, index: bool = True) -> None:
    """Make a folder and its files readable by everybody and writable by nobody."""
    for file in folder.iterdir():
        file.chmod(0o444 if index or not file.name.endswith("-shm") else 0o000)
    folder.chmod(0o555)


def read(path: Path, between: Callable[[], object] = lambda: None) -> list[dict[str, Any]]:
    """Return what another user reads, before and after a change."""
    with subprocess.Popen(
        [sys.executable, "-c", READ, str(path), str(NOBODY)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as reader:
        assert reader.stdout is not None
        assert reader.stderr is not None
        first = reader.stdout.readline()
        assert first, reader.stderr.read()
        between()
        rest, _ = reader.communicate("\n")
    return [json.loads(line) for line in (first + rest).splitlines()]


@pytest.fixture
def shown() -> Iterator[Path]:
    """A folder that another user can read.

    The one of all temporary folders of pytest is closed to others whenever a pytest starts.
    """
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


@pytest.fixture
def kept(shown: Path, open_store: Callable[..., Store]) -> Store:
    """A store with 50 facts in the file and 605 more in its log, which stays open."""
    path = shown / "kept" / "memory.db"
    store = open_store(path, embedder=None)
    store.add_many({"content": f"fact {n}", "subject": "s"} for n in range(50))
    store.close()
    store = open_store(path, embedder=None)
    store.add_many({"content": f"more {n}", "subject": "s"} for n in range(605))
    return store


def test_rows_only_in_the_log_are_read(kept: Store) -> None:
    path = Path(kept.path)
    readable(path.parent)
    assert read(path) == [{"count": 655}] * 2


@pytest.mark.skipif(
    hasattr(os, "getuid") and os.getuid() != 0, reason="writing goes on as another user than reads"
)
def test_rows_written_by_another_process_are_read(kept: Store) -> None:
    path = Path(kept.path)
    readable(path.parent)
    written = read(path, lambda: kept.add("written meanwhile", subject="s"))
    assert written == [{"count": 655}, {"count": 656}]


@pytest.mark.parametrize("log", ["missing", "empty"])
def test_a_file_without_a_log_is_read(kept: Store, log: str) -> None:
    path = Path(kept.path)
    kept.close()
    if log == "empty":
        Path(f"{path}-wal").touch()
    readable(path.parent)
    assert read(path) == [{"count": 655}] * 2


def test_log_created_during_reading_is_noticed(
    kept: Store, open_store: Callable[..., Store]
) -> None:
    path = Path(kept.path)
    kept.close()
    readable(path.parent)

    def write() -> None:
        path.parent.chmod(0o755)
        path.chmod(0o644)
        open_store(path, embedder=None).add("written meanwhile", subject="s")

    assert read(path, write) == [{"count": 655}, {"count": 656}]


@pytest.mark.parametrize("index", ["missing", "secret"])
def test_a_log_that_cannot_be_read_is_refused(kept: Store, shown: Path, index: str) -> None:
    path = Path(kept.path)
    if index == "missing":  # as a kill on another machine leaves it
        path = shown / "killed" / "memory.db"
        path.parent.mkdir()
        for suffix in ("", "-wal"):
            shutil.copy(f"{kept.path}{suffix}", f"{path}{suffix}")
    readable(path.parent, index=index == "missing")
    [answer] = read(path)
    assert "its write-ahead log has" in answer["error"]
    assert "not in the file yet" in answer["error"]
    assert answer["remedy"] == "RELEASE_FILE"
