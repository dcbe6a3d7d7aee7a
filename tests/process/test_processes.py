"""One file with many processes and threads, forks and kills, and the files left afterwards."""

from __future__ import annotations

import gc
import os
import random
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.support.clock import wait_until
from tests.support.programs import LETTERS, Letters
from tests.support.raw import raw

import memstore
from memstore import NotFound, StorageError, Store, StoreBusy, StoreClosed

pytestmark = pytest.mark.process

PREAMBLE = f"""{LETTERS}
import sys, time
import memstore

path = sys.argv[1]
def ready():
    print("ready", flush=True)
    sys.stdin.readline()
"""

ADD_500 = """
store = memstore.open(path, embedder=Letters(), actor=sys.argv[2])
ready()
for number in range(500):
    store.add(f"writer {sys.argv[2]} counted the number {number}", subject=sys.argv[2])
store.close()
"""

SEARCH_UNTIL_TOLD = """
import threading
store = memstore.open(path, embedder=Letters())
ready()
ended = threading.Event()
threading.Thread(target=lambda: (sys.stdin.readline(), ended.set())).start()
searches = 0
while not ended.is_set():
    hits = store.search("which number did the writer count?")
    assert hits.words_only is None or hits.words_only.code == "nothing_embedded", hits
    assert len({hit.fact.id for hit in hits}) == len(hits)
    searches += 1
store.close()
print(searches)
"""

ADD_UNTIL_KILLED = """
store = memstore.open(path, embedder=Letters())
number = 0
while True:
    fact = store.add(f"acknowledged {sys.argv[2]} {number}", subject="kill")
    print(fact.id, fact.content, flush=True)
    if number % 5 == 4:
        newer = store.add(f"correction {sys.argv[2]} {number}", subject="kill", supersedes=fact.id)
        print(newer.id, newer.content, flush=True)
    number += 1
"""

OPEN_AND_ADD = """
ready()
with memstore.open(path, embedder=None) as store:
    print(store.add("here I am: " + sys.argv[2], subject="opener").id)
"""

ADD_UNTIL_FULL = """
import resource
store = memstore.open(path, embedder=None)
resource.setrlimit(resource.RLIMIT_FSIZE, (2_000_000, 2_000_000))
number = refused = 0
while refused < 3:
    try:
        print(store.add(f"{number} " + "x" * 3000, subject="full").id, flush=True)
        number += 1
    except memstore.StorageError as error:
        refused += 1
assert len(store.search("x", limit=5)) >= 0
assert len(store.list()) == number
"""

HOLD_WRITE_LOCK = """
import apsw
connection = apsw.Connection(path)
connection.pragma("cache_size", 5)  # so that much of it is in the file before it is committed
connection.execute("BEGIN IMMEDIATE")
for number in range(300):
    connection.execute("INSERT INTO memstore_meta VALUES (?, ?)", (f"held-{number}", "x" * 5000))
ready()
connection.execute("ROLLBACK")
"""

HOLD = """
import apsw
connection = apsw.Connection(path)
connection.execute(sys.argv[2]).fetchall()
ready()
"""


class Process(subprocess.Popen[str]):
    """A Python process on the test's file."""

    def __init__(self, program: str, path: Path, *arguments: object) -> None:
        super().__init__(
            [sys.executable, "-W", "error", "-c", PREAMBLE + program, str(path)]
            + [str(argument) for argument in arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def wait_ready(self) -> None:
        assert self.stdout is not None
        line = self.stdout.readline()
        if line != "ready\n":
            pytest.fail(f"the process did not get ready: {line}{self.communicate()[1]}")

    def say_go(self) -> None:
        assert self.stdin is not None
        self.stdin.write("go\n")
        self.stdin.flush()

    def result(self) -> str:
        """Wait for the end and return the output; anything on stderr is a failure."""
        out, err = self.communicate(timeout=120)
        assert (err, self.returncode) == ("", 0)
        return out


@contextmanager
def running(program: str, path: Path, *arguments: object) -> Iterator[Process]:
    """A process that waits for a signal to start; it ends with the block."""
    with Process(program, path, *arguments) as process:
        try:
            process.wait_ready()
            yield process
        finally:
            if process.poll() is None:
                process.kill()


def leftovers(path: Path) -> list[str]:
    """Return the files beside a file, without the derived ones, which stay."""
    beside = (file.name for file in path.parent.iterdir() if file.name != path.name)
    return sorted(name for name in beside if not re.search(r"\.facts-[0-9a-f]{32}\.\w+$", name))


def test_four_processes_add_while_two_search(path: Path) -> None:
    writers = [Process(ADD_500, path, f"w{number}") for number in range(4)]
    searchers = [Process(SEARCH_UNTIL_TOLD, path) for _ in range(2)]
    for process in (*writers, *searchers):
        process.wait_ready()
    for process in (*writers, *searchers):
        process.say_go()
    for writer in writers:
        writer.result()
    for searcher in searchers:
        searcher.say_go()
        assert int(searcher.result()) > 0
    assert leftovers(path) == []
    with memstore.open(path, embedder=Letters()) as store:
        status = store.status()
        assert status.subjects == {f"w{number}": 500 for number in range(4)}
        assert status.pending == 0
        contents = {fact.content for fact in store.list()}
        assert len(contents) == 2000
        assert sum(fact.use_count for fact in store.list()) > 0
        assert store.file.doctor() == []


def test_kill_while_writing_loses_nothing_acknowledged(path: Path) -> None:
    chance = random.Random(7)
    acknowledged: dict[int, str] = {}
    for turn in range(6):
        with Process(ADD_UNTIL_KILLED, path, turn) as process:
            assert process.stdout is not None
            assert process.stderr is not None
            first = [process.stdout.readline() for _ in range(chance.randrange(1, 30))]
            process.kill()
            # Not communicate(): it would skip what readline() has buffered.
            said = [*first, *process.stdout]
            assert process.stderr.read() == ""
            lines = [line for line in said if line.endswith("\n")]
        before = len(acknowledged)
        acknowledged |= {int(id_): text for id_, text in (line.split(" ", 1) for line in lines)}
        assert len(acknowledged) > before
        with memstore.open(path, embedder=Letters()) as store:
            held = {fact.id: fact.content for fact in store.list(active_only=False)}
            assert {id_: held.get(id_, "") + "\n" for id_ in acknowledged} == acknowledged
            retired = [fact for fact in store.list(active_only=False) if fact.superseded_by]
            corrections = [text for text in held.values() if text.startswith("correction")]
            assert len(retired) == len(corrections), "a supersession was cut in half"
            assert store.file.doctor() == []


@pytest.mark.skipif(sys.platform == "win32", reason="no limit on file sizes on this system")
def test_full_disk_refuses_writes_and_loses_nothing(path: Path) -> None:
    with Process(ADD_UNTIL_FULL, path) as process:
        acknowledged = {int(line) for line in process.result().splitlines()}
    assert len(acknowledged) > 10
    with memstore.open(path, embedder=None) as store:
        assert {fact.id for fact in store.list()} == acknowledged
        assert store.file.doctor() == []
        store.add("there is room again", subject="full")


def test_open_new_file_by_many_processes_at_once(path: Path) -> None:
    openers = [Process(OPEN_AND_ADD, path, number) for number in range(6)]
    for opener in openers:
        opener.wait_ready()
    for opener in openers:
        opener.say_go()
    assert sorted(int(opener.result()) for opener in openers) == [1, 2, 3, 4, 5, 6]
    with memstore.open(path, embedder=None) as store:
        assert store.file.doctor() == []


def test_open_new_file_by_many_threads_at_once(tmp_path: Path) -> None:
    for turn in range(10):
        file = tmp_path / f"{turn}.db"
        gate = threading.Barrier(8)

        def open_and_add(number: int, file: Path = file, gate: threading.Barrier = gate) -> int:
            gate.wait()
            with memstore.open(file, embedder=None) as store:
                return store.add(f"thread {number}", subject="opener").id

        with ThreadPoolExecutor(8) as threads:
            assert sorted(threads.map(open_and_add, range(8))) == list(range(1, 9))


def test_read_during_long_write_does_not_wait(path: Path, open_store: Callable[..., Store]) -> None:
    store = open_store(wait_seconds=15)
    fact = store.add("readers go on", subject="reader")
    with running(HOLD_WRITE_LOCK, path):
        assert [hit.fact.id for hit in store.search("readers")] == [fact.id]
        assert store.get(fact.id).content == "readers go on"
        assert store.status().active == 1
        assert len(list(store.transfer.export())) > 1
        with memstore.open(path, embedder=None) as other:
            assert other.list()[0].id == fact.id


def test_write_waits_for_a_writer_in_another_process(
    path: Path, open_store: Callable[..., Store]
) -> None:
    store = open_store()
    with running(HOLD_WRITE_LOCK, path) as holder:
        threading.Timer(0.3, holder.say_go).start()
        assert store.add("patience", subject="writer").id == 1


@pytest.mark.parametrize("lock", ["IMMEDIATE", "EXCLUSIVE"])
def test_open_of_a_locked_file_without_log_is_busy(
    lock: str, path: Path, open_store: Callable[..., Store]
) -> None:
    """An older file: without a write-ahead log a writer blocks readers too."""
    with raw(path) as file:
        file.execute("CREATE TABLE memstore_version (version INTEGER NOT NULL)")
    with (
        running(HOLD, path, f"BEGIN {lock}"),
        pytest.raises(StoreBusy, match=r"nothing was stored\nTry again later"),
    ):
        open_store(wait_seconds=0.3)
    assert open_store(wait_seconds=0.3).file.doctor() == []


def test_write_after_waiting_too_long_is_refused_and_stores_nothing(
    path: Path, open_store: Callable[..., Store]
) -> None:
    store = open_store(wait_seconds=0.3)
    kept = store.add("was here", subject="busy")
    with running(HOLD_WRITE_LOCK, path):
        for write in (
            lambda: store.add("not stored", subject="busy", supersedes=kept.id),
            lambda: store.delete(kept.id),
            lambda: store.searches.note_use([kept.id]),
        ):
            with pytest.raises(StoreBusy, match=r"0\.3 s; nothing was stored\nTry again later"):
                write()
    assert [fact.content for fact in store.list(active_only=False)] == ["was here"]
    assert store.delete(kept.id).status == "deleted"
    assert store.file.doctor() == []


@pytest.mark.parametrize("seconds", [-1, -0.5, float("nan"), float("inf"), 1e15])
def test_open_with_impossible_wait_is_refused(seconds: float, path: Path) -> None:
    with pytest.raises(ValueError, match="wait_seconds"):
        memstore.open(path, embedder=None, wait_seconds=seconds)
    assert not path.exists()


@pytest.mark.parametrize("wrong", [b"memory.db", 5, 1.5])
def test_open_invalid_path_is_refused(
    wrong: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(TypeError):
        memstore.open(wrong, embedder=None)
    assert list(tmp_path.iterdir()) == []


def test_store_used_by_eight_threads(open_store: Callable[..., Store]) -> None:
    store = open_store()

    def work(number: int) -> None:
        for turn in range(25):
            fact = store.add(f"thread {number} turn {turn}", subject=f"t{number}")
            assert store.get(fact.id).content == fact.content
            found = store.search(f"thread {number} turn {turn}", limit=200)
            assert fact.id in [hit.fact.id for hit in found]

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(work, range(8)))
    status = store.status()
    assert (status.active, status.pending) == (200, 0)
    assert store.file.doctor() == []


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_fork_child_is_refused_and_parent_continues(
    path: Path, open_store: Callable[..., Store]
) -> None:
    store = memstore.open(path, embedder=None)
    store.add("before the fork", subject="fork")
    store.search("fork")  # a use is waiting to be written, and a reader is open
    child = os.fork()
    if child == 0:
        verdict = 4
        try:
            for use in (lambda: store.add("child", subject="fork"), lambda: store.search("fork")):
                with pytest.raises(StorageError, match="fork"):
                    use()
            store.close()
            del store
            gc.collect()
            with memstore.open(path, embedder=None) as own:
                own.add("the child's own", subject="fork")
            verdict = 0
        finally:
            os._exit(verdict)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    store.add("after the fork", subject="fork")
    assert {fact.content for fact in store.list()} == {
        "before the fork",
        "the child's own",
        "after the fork",
    }
    assert store.file.doctor() == []
    store.close()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_fork_while_a_thread_writes_child_does_not_hang(path: Path) -> None:
    """A lock held by another thread stays held in the child for ever."""
    store = memstore.open(path, embedder=None)
    with store.file.engine.write():
        child = os.fork()
        if child == 0:
            signal.alarm(10)
            try:
                store.close()
            finally:
                os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert store.add("the parent goes on", subject="fork").id == 1
    store.close()


USES: list[Callable[[Store], object]] = [
    lambda store: store.add("x", subject="x"),
    lambda store: store.search("x"),
    lambda store: store.get(1),
    lambda store: store.list(),
    lambda store: store.exists("x", subject="x"),
    lambda store: store.history(1),
    lambda store: store.status(),
    lambda store: store.delete(1),
    lambda store: store.searches.note_use([1]),
    lambda store: store.tasks.list(),
    lambda store: list(store.transfer.export()),
    lambda store: store.file.backup(Path(store.path).with_name("copy.db")),
    lambda store: store.file.doctor(),
    lambda store: store.file.rebuild(),
    lambda store: store.file.embed_pending(),
    lambda store: store.file.warm(),
]


@pytest.mark.parametrize("use", USES)
def test_use_after_close_is_refused(
    use: Callable[[Store], object], path: Path, open_store: Callable[..., Store]
) -> None:
    store = open_store()
    store.add("closed soon", subject="close")
    store.close()
    with pytest.raises(StoreClosed, match=r"is closed\nOpen it again"):
        use(store)
    store.close()
    assert leftovers(path) == []


def test_close_leaves_only_the_file_and_saves_use_counts(
    path: Path, open_store: Callable[..., Store]
) -> None:
    with open_store() as store:
        fact = store.add("counted", subject="close")
        store.search("counted")
        assert leftovers(path) != []
    assert leftovers(path) == []
    assert open_store().get(fact.id).use_count == 1


def test_close_with_abandoned_export_leaves_only_the_file(
    path: Path, open_store: Callable[..., Store]
) -> None:
    store = open_store()
    for number in range(20):
        store.add(f"fact {number}", subject="export")
    lines = store.transfer.export()
    next(lines)
    store.close()
    del lines
    gc.collect()
    assert leftovers(path) == []


def test_close_while_threads_work_ends_them_cleanly(
    path: Path, open_store: Callable[..., Store]
) -> None:
    store = open_store()
    acknowledged: list[int] = []

    def work(number: int) -> None:
        while True:
            acknowledged.append(store.add(f"thread {number}", subject="close").id)
            store.search("thread")

    with ThreadPoolExecutor(4) as threads:
        workers = [threads.submit(work, number) for number in range(4)]
        assert wait_until(lambda: len(acknowledged) > 20)
        store.close()
        for worker in workers:
            with pytest.raises(StorageError):
                worker.result(timeout=30)
    assert leftovers(path) == []
    again = open_store()
    assert {fact.id for fact in again.list()} >= set(acknowledged)
    assert again.file.doctor() == []


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="needs /proc/self/fd")
def test_open_and_close_1000_times_leaks_no_descriptor(
    path: Path, open_store: Callable[..., Store]
) -> None:
    def cycle() -> None:
        with open_store() as store:
            store.search("anything")
            store.list()

    cycle()
    gc.collect()
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(1000):
        cycle()
    assert leftovers(path) == []
    with pytest.raises(StorageError):
        open_store(path.parent)
    assert len(os.listdir("/proc/self/fd")) <= before


def test_backup_while_another_process_writes_is_consistent(
    path: Path, tmp_path: Path, open_store: Callable[..., Store]
) -> None:
    store = open_store(embedder=Letters())
    store.add_many({"content": "x" * 5000 + f" {n}", "subject": "bulk"} for n in range(1500))
    seen: list[tuple[int, int]] = []
    with Process(ADD_UNTIL_KILLED, path, "live") as writer:
        assert writer.stdout is not None
        writer.stdout.readline()
        for number in range(3):
            before = store.status().active
            copy = store.file.backup(
                tmp_path / f"copy{number}.db", progress=lambda *at: seen.append(at)
            )
            after = store.status().active
            with memstore.open(copy, embedder=Letters()) as backup:
                assert before <= backup.status().active <= after
                assert backup.file.doctor() == []
            assert sorted(p.name for p in tmp_path.glob(f"copy{number}*")) == [copy.name]
        writer.kill()
        writer.communicate()
    assert seen[-1][0] == seen[-1][1] > 1024


def test_backup_during_writes_completes_and_is_consistent(
    tmp_path: Path, open_store: Callable[..., Store]
) -> None:
    store, other = open_store(embedder=None), open_store(embedder=None)
    store.add_many({"content": "x" * 5000 + f" {n}", "subject": "bulk"} for n in range(1500))
    steps: list[int] = []

    def write_in_between(done: int, total: int) -> None:
        steps.append(done)
        assert len(steps) < 20, "the copy begins anew whenever somebody writes"
        other.add("too late for the copy", subject="bulk")

    copy = store.file.backup(tmp_path / "copy.db", progress=write_in_between)
    assert len(steps) > 1
    with memstore.open(copy, embedder=None) as backup:
        assert backup.status().active == 1500
        assert backup.file.doctor() == []


def test_backup_existing_target_or_missing_folder_is_refused(
    path: Path, tmp_path: Path, store: Store
) -> None:
    taken = tmp_path / "taken"
    taken.write_bytes(b"mine")
    with pytest.raises(StorageError, match="exists"):
        store.file.backup(taken)
    assert taken.read_bytes() == b"mine"
    with pytest.raises(StorageError, match="not a folder"):
        store.file.backup(tmp_path / "nowhere" / "copy.db")


@pytest.mark.skipif(os.name == "nt", reason="Windows has no permission bits")
def test_backup_is_private_to_its_user(tmp_path: Path, store: Store) -> None:
    store.add("secret", subject="backup")
    assert store.file.backup(tmp_path / "copy.db").stat().st_mode & 0o077 == 0


def test_interrupted_backup_leaves_no_partial_file(tmp_path: Path, store: Store) -> None:
    store.add("whole or not at all", subject="backup")

    def interrupt(done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        store.file.backup(tmp_path / "copy.db", progress=interrupt)
    assert list(tmp_path.glob("copy.db*")) == []
    assert store.file.backup(tmp_path / "copy.db").exists()


WRITES: list[Callable[[Store], object]] = [
    lambda store: store.add("x", subject="x"),
    lambda store: store.supersede(1, 2),
    lambda store: store.confirm(1),
    lambda store: store.update_metadata(1, {"a": 1}),
    lambda store: store.delete(1),
    lambda store: store.restore(3),
    lambda store: store.erase(1),
    lambda store: store.searches.note_use([1]),
    lambda store: store.tasks.create("x"),
    lambda store: store.file.embed_pending(),
    lambda store: store.transfer.import_(store.transfer.export()),
    lambda store: store.file.rebuild(),
]


@pytest.fixture
def read_only(path: Path, open_store: Callable[..., Store]) -> Store:
    with open_store() as store:
        store.add("reading is fine", subject="r")
        store.add("reading goes on", subject="r")
        store.delete(store.add("gone", subject="r").id)
        store.add("pending as yet", subject="r")
    with raw(path) as file:
        file.execute("UPDATE memstore_fact_vectors SET embedding = NULL WHERE fact_id = 4")
        file.commit()
    return open_store(read_only=True, wait_seconds=5)


@pytest.mark.parametrize("write", WRITES)
def test_read_only_store_refuses_writes(
    write: Callable[[Store], object], path: Path, read_only: Store
) -> None:
    with pytest.raises(StorageError, match="open read-only"):
        write(read_only)
    read_only.close()
    with raw(path) as file:
        assert file.execute("SELECT max(id), sum(use_count) FROM memstore_facts").fetchone() == (
            4,
            0,
        )


def test_read_only_store_refuses_writes_at_once_while_another_process_writes(
    path: Path, read_only: Store
) -> None:
    # Not StoreBusy, which waiting for the lock would cause.
    with (
        running(HOLD_WRITE_LOCK, path),
        pytest.raises(StorageError, match="open read-only"),
    ):
        read_only.add("x", subject="x")


def test_read_only_store_reads(path: Path, tmp_path: Path, read_only: Store) -> None:
    hits = read_only.search("reading")
    assert {hit.fact.id for hit in hits} == {1, 2}
    assert hits.words_only is None
    assert read_only.get(1).use_count == 0
    assert read_only.status().active == 3
    assert len(list(read_only.transfer.export())) > 3
    assert read_only.file.backup(tmp_path / "copy.db").exists()
    with memstore.open(path, embedder=None) as writer:
        writer.add("reading sees what others write", subject="read")
    assert len(read_only.search("reading")) == 3


def test_read_only_missing_file_is_refused_and_not_created(
    path: Path, open_store: Callable[..., Store]
) -> None:
    with pytest.raises(StorageError, match="does not exist"):
        open_store(read_only=True)
    assert not path.exists()


def bytes_on_disk(path: Path) -> bytes:
    return b"".join(file.read_bytes() for file in path.parent.glob(path.name + "*")).lower()


SECRET = "Xylophagous-Quetzal"
SECRETS = (b"xylophag", b"quetzal", b"hushhush", b"codename", b"vaultkey")


def test_erase_leaves_no_bytes_of_the_text(path: Path, open_store: Callable[..., Store]) -> None:
    store = open_store(embedder=None)
    other = open_store(embedder=None)
    for number in range(200):
        store.add(f"ordinary fact {number} about the weather", subject="weather")
    erased = store.add(
        f"{SECRET} {'hushhush ' * 2000}",
        subject="codename",
        category="codename-category",
        metadata={"vaultkey": "vaultkey-1"},
        source="vaultkey-source",
        idempotency_key="vaultkey-key",
    )
    store.update_metadata(erased.id, {"vaultkey": "vaultkey-2", "more": "hushhush " * 3000})
    newer = store.add(
        "replaced by something harmless",
        subject="x",
        category="note",  # else it keeps that of the fact that it corrects
        supersedes=erased.id,
        any_subject=True,
    )
    for number in range(50):
        store.add(f"later fact {number} about the weather", subject="weather")
    assert other.search(SECRET, active_only=False)
    assert all(secret in bytes_on_disk(path) for secret in SECRETS)
    store.erase(erased.id)
    with pytest.raises(NotFound):
        other.get(erased.id)
    assert not other.search(SECRET, active_only=False)
    assert [secret for secret in SECRETS if secret in bytes_on_disk(path)] == []
    assert [fact.id for fact in store.history(newer.id)][-1] == newer.id
    assert store.file.doctor() == []


def test_erase_while_another_process_reads_eventually_leaves_no_bytes(
    path: Path, open_store: Callable[..., Store]
) -> None:
    store = open_store(embedder=None)
    fact = store.add(SECRET, subject="codename")
    with running(HOLD, path, "BEGIN; SELECT count(*) FROM memstore_facts"):
        store.erase(fact.id)
    store.close()
    assert b"quetzal" not in bytes_on_disk(path)


def test_read_only_store_can_be_examined(read_only: Store) -> None:
    assert read_only.file.doctor() == []
