"""SIGKILL at random points, `--kills` times: every episode that was acknowledged is there."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest
from tests.support.clock import wait_until
from tests.support.programs import LETTERS, Letters

import memstore

PROCESSES = 8
ROUNDS_BETWEEN_EXAMINATIONS = 10
MAX_NOTED_BYTES = 3000
"""How much a worker has recorded when it is killed at the latest: about forty actions."""

pytestmark = [
    pytest.mark.process,
    pytest.mark.skipif(not hasattr(os, "fork"), reason="kills are those of POSIX"),
]

# Imports once and forks the workers, so that no round waits for eight starts. Each opens the
# file itself, and does at random what agents do. What a call returned is acknowledged: recorded
# in the worker's own file, with one write that the kernel keeps.
PROGRAM = (
    LETTERS
    + """
import os, random, sqlite3, sys, threading, time
import memstore
import memstore.embedding.embedding, memstore.search.hybrid

def disturb(path):
    # Another SQLite in the process, and programs that only read bytes: locks of the process
    # would be dropped with each close.
    while True:
        there = sqlite3.connect(path, timeout=1.0)
        try:
            there.execute("SELECT count(*) FROM memstore_meta").fetchone()
            there.execute("UPDATE memstore_meta SET value = value WHERE key = 'no such key'")
            there.commit()
        except sqlite3.OperationalError:
            pass  # a writer took longer
        finally:
            there.close()
        open(path, "rb").close()
        open(path + "-wal", "rb").close()
        time.sleep(0.005)

def work(path, acks, seed):
    chance = random.Random(seed)
    fd = os.open(acks, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    def note(*words):
        os.write(fd, ("\\t".join(map(str, words)) + "\\n").encode())
    store = memstore.open(path, embedder=Letters(), actor=f"worker {seed}")
    if seed % 4 == 1:
        threading.Thread(target=disturb, args=(path,), daemon=True).start()
    if seed % 2:
        store.file.embed_in_background(interval_seconds=0.02)
    episodes, facts, number = [], [], 0
    end = time.monotonic() + 60
    while time.monotonic() < end:
        number += 1
        name = f"{seed}-{number}"
        what = chance.random()
        if what < 0.45:
            episode = store.episodes.add(f"said {name} " + "so " * chance.randrange(900),
                                         source="kills", tags=["new"])
            note("episode", episode.id, episode.content_hash)
            episodes.append(episode.id)
        elif what < 0.55:
            made = store.episodes.add_many(
                [{"content": f"batch {name} {n}", "source": "kills"} for n in range(5)])
            for episode in made:
                note("episode", episode.id, episode.content_hash)
        elif what < 0.65:
            facts.append(store.add(f"fact {name}", subject="kills").id)
            note("fact", facts[-1], f"fact {name}")
        elif what < 0.72 and facts:
            newer = store.add(f"newer {name}", subject="kills", supersedes=facts.pop())
            note("fact", newer.id, f"newer {name}")
        elif what < 0.80 and episodes:
            store.episodes.update(chance.choice(episodes), tags=["old", str(number)])
        elif what < 0.88:
            store.file.embed_pending(limit=20)
        elif what < 0.94:
            store.episodes.search(f"said {seed}", limit=5)
        else:
            store.search("fact", limit=5)

path, folder = sys.argv[1:]
for line in sys.stdin:
    pids = []
    for seed in map(int, line.split()):
        pid = os.fork()
        if pid == 0:
            try:
                work(path, f"{folder}/{seed}", seed)
            finally:
                os._exit(1)  # must not be reached
        pids.append(pid)
    print(*pids, flush=True)
    ended = [os.waitpid(pid, 0)[1] for pid in pids]
    print(*(os.WTERMSIG(status) if os.WIFSIGNALED(status) else -1 for status in ended), flush=True)
"""
)


@contextlib.contextmanager
def forking(path: Path, folder: Path, program: str = PROGRAM) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        [sys.executable, "-c", program, str(path), str(folder)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        # A library's threads would not survive the fork.
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},
    )
    with process:
        yield process
        assert process.stdin is not None
        process.stdin.close()


def acknowledged(file: Path) -> list[list[str]]:
    """Return a worker's notes; an incomplete line is not an acknowledgement."""
    raw = file.read_bytes() if file.exists() else b""
    return [line.split("\t") for line in raw[: raw.rfind(b"\n") + 1].decode().splitlines()]


def kill_at_random(
    workers: Mapping[int, Path], chance: random.Random, *, max_bytes: int = MAX_NOTED_BYTES
) -> None:
    """Kill each worker once it has recorded a given number of calls."""
    left = {pid: chance.randrange(1, max_bytes) for pid in workers}

    def all_killed() -> bool:
        for pid, noted_bytes in list(left.items()):
            if workers[pid].exists() and workers[pid].stat().st_size >= noted_bytes:
                os.kill(pid, signal.SIGKILL)
                del left[pid]
        return not left

    assert wait_until(all_killed)


def check(store: memstore.Store, notes: list[list[str]]) -> None:
    for kind, id_, text in notes:
        if kind == "episode":
            assert store.episodes.get(int(id_)).content_hash == text
        else:
            assert store.get(int(id_)).content == text


def test_acknowledged_writes_survive_kills(
    path: Path,
    tmp_path: Path,
    pytestconfig: pytest.Config,
    record_property: Callable[[str, object], None],
) -> None:
    rounds = pytestconfig.getoption("kills")
    chance = random.Random(2026)
    folder = tmp_path / "acknowledged"
    folder.mkdir()
    memstore.open(path, embedder=None).close()
    every: list[list[str]] = []
    with forking(path, folder) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for number in range(rounds):
            seeds = range(number * PROCESSES, (number + 1) * PROCESSES)
            process.stdin.write(" ".join(map(str, seeds)) + "\n")
            process.stdin.flush()
            pids = map(int, process.stdout.readline().split())
            notes_of = [folder / str(seed) for seed in seeds]
            kill_at_random(dict(zip(pids, notes_of, strict=True)), chance)
            ends = {int(end) for end in process.stdout.readline().split()}
            assert ends == {signal.SIGKILL}, f"round {number}: a worker ended by itself"
            notes = [n for seed in seeds for n in acknowledged(folder / str(seed))]
            every += notes
            with memstore.open(path, embedder=None) as store:
                check(store, notes)
                if number % ROUNDS_BETWEEN_EXAMINATIONS == ROUNDS_BETWEEN_EXAMINATIONS - 1:
                    assert store.file.doctor(deep=True) == []
    record_property("counts", f"{rounds * PROCESSES} kills, {len(every)} acknowledged, 0 lost")
    assert len(every) > rounds * PROCESSES, "the workers were killed before they could do anything"

    # A dead worker's lease and unfinished batch do not prevent embedding the rest.
    with memstore.open(path, embedder=Letters()) as store:
        check(store, every)
        assert store.file.embed_pending().left == 0
        status = store.status()
        assert (status.episodes_pending, status.pending) == (0, 0)
        assert status.episodes >= sum(kind == "episode" for kind, *_ in every)
        assert store.file.doctor(deep=True) == []
