"""Stores in memory: nothing is written to files, and threads take turns."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import memstore
from memstore import Remedy, Store, StoreBusy

OpenStore = Callable[..., Store]

# Records every file that Python opens for writing, and all open files at the end.
WATCHED = """
import os, sys, tempfile
made = []
def note(event, arguments):
    if event in ("os.mkdir", "tempfile.mkdtemp", "tempfile.mkstemp"):
        made.append(str(arguments[0]))
sys.addaudithook(note)
import memstore
with memstore.open(":memory:", embedder=None) as store:
    store.add_many({"content": f"the watchword is xylophagous {n} " * 50, "subject": "a"}
                   for n in range(1000))
    store.episodes.add("what was said of xylophagous", source="test")
    assert store.search("xylophagous")
    for number in range(1, 50):
        store.delete(number)
    store.erase(500)
    store.file.rebuild()
    assert sum("xylophagous" in line for line in store.transfer.export()) > 900
    assert store.file.doctor() == [], store.file.doctor()
    opened = [os.readlink(f"/proc/self/fd/{fd}") for fd in os.listdir("/proc/self/fd")
              if os.path.islink(f"/proc/self/fd/{fd}")]
    print(*made, *(name for name in opened if name.startswith("/")), sep="\\n")
"""


@pytest.mark.process
@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="needs /proc/self/fd")
def test_no_file_is_opened_or_created(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    done = subprocess.run(
        [sys.executable, "-c", WATCHED],
        cwd=home,
        env={**os.environ, "TMPDIR": str(home), "SQLITE_TMPDIR": str(home)},
        capture_output=True,
        text=True,
        check=True,
    )
    opened = [name for name in done.stdout.splitlines() if name.startswith(str(tmp_path))]
    assert opened == []
    assert not [name for name in done.stdout.splitlines() if "memstore" in Path(name).name]
    assert list(home.iterdir()) == []


def test_two_stores_in_memory_are_separate(open_store: OpenStore) -> None:
    one, other = (open_store(Path(":memory:"), embedder=None) for _ in range(2))
    one.add("mine", subject="a")
    assert (one.count(), other.count(), one.path) == (1, 0, ":memory:")
    assert one.status().size_bytes > 100_000
    assert not Path(":memory:").exists()


def test_a_backup_of_a_store_in_memory_is_a_file(open_store: OpenStore, tmp_path: Path) -> None:
    store = open_store(Path(":memory:"), embedder=None)
    store.add("kept", subject="a")
    with memstore.open(store.file.backup(tmp_path / "copy.db"), embedder=None) as copy:
        assert [fact.content for fact in copy.list()] == ["kept"]


def test_a_thread_that_reads_is_refused_a_write_at_once(open_store: OpenStore) -> None:
    store = open_store(Path(":memory:"), embedder=None)
    store.add_many({"content": f"fact {n}", "subject": "a"} for n in range(20))
    with store.file.engine.read() as transaction:
        assert transaction.scalar("SELECT count(*) FROM memstore_facts") == 20
        with pytest.raises(StoreBusy, match="is still reading") as caught:
            store.add("meanwhile", subject="a")
        assert caught.value.remedy is Remedy.END_READING
    store.add("afterwards", subject="a")
    lines = store.transfer.export()
    exported = [next(lines)]
    store.add("while an export is read", subject="a")
    exported += lines
    assert sum("while an export" in line for line in exported) == 0
    assert store.count() == 22


def test_readers_and_writers_take_turns(open_store: OpenStore) -> None:
    store = open_store(Path(":memory:"), embedder=None)
    ended = threading.Event()
    written: list[int] = []

    def write() -> None:
        while not ended.is_set():
            written.append(store.add(f"fact {len(written)}", subject="a").id)

    with ThreadPoolExecutor(4) as pool:
        writers = [pool.submit(write) for _ in range(4)]
        try:
            seen = [store.count() for _ in range(50)]
        finally:
            ended.set()
        for writer in writers:
            writer.result()
    assert seen == sorted(seen)
    assert store.count() == len(written)
    assert store.file.doctor() == []
