"""Processes erase, write and search, and are killed in `--kills` rounds: what is erased is gone."""

from __future__ import annotations

import os
import random
import signal
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.process.test_kills import acknowledged, forking, kill_at_random

import memstore

PROCESSES = 4

pytestmark = [
    pytest.mark.process,
    pytest.mark.slow,
    pytest.mark.skipif(not hasattr(os, "fork"), reason="kills are those of POSIX"),
]

# Each worker writes index files at every chance, so that many are killed while they do.
PROGRAM = """
import os, random, sys, time
from contextlib import suppress
import memstore
import memstore.search.hybrid
from memstore.search.index import index as module
module.SAVED_FROM = 1

def work(path, acks, seed):
    chance = random.Random(seed)
    fd = os.open(acks, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    def note(word, is_gone):
        os.write(fd, f"{word}\\t{is_gone}\\n".encode())
    store = memstore.open(path, embedder=None)
    held, number = [], 0
    end = time.monotonic() + 60
    while time.monotonic() < end:
        number += 1
        what = chance.random()
        if what < 0.4 or not held:
            word = f"zqplugh{seed}q{number}q"
            if chance.random() < 0.5:
                held.append((word, store.add(f"the password is {word}", subject="card").id, store))
            else:
                episode = store.episodes.add(f"my password is {word}", source="chat")
                held.append((word, episode.id, store.episodes))
        elif what < 0.7:
            word, id_, of = held.pop(chance.randrange(len(held)))
            note(word, of.erase(id_))
        elif what < 0.85:
            store.search("password", limit=3)
            store.episodes.search("password", limit=3)
        else:
            searches = store.file.searches
            with suppress(OSError, memstore.StorageError):  # an erasure took the files away
                chance.choice([searches.facts, searches.episodes]).index.save()

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


def found(words: list[str], folder: Path) -> list[tuple[str, str]]:
    """Return the words that are in a byte of a file, whosever it is."""
    files = {file.name: file.read_bytes() for file in folder.iterdir()}
    return [(word, name) for word in words for name, held in files.items() if word.encode() in held]


def test_erased_words_are_in_no_file_after_kills(
    tmp_path: Path, pytestconfig: pytest.Config, record_property: Callable[[str, object], None]
) -> None:
    rounds = pytestconfig.getoption("kills")
    chance = random.Random(2026)
    folder, beside = tmp_path / "acknowledged", tmp_path / "store"
    folder.mkdir()
    beside.mkdir()
    path = beside / "memory.db"
    with memstore.open(path, embedder=None) as store:
        store.add_many([{"content": f"harbour {n}", "subject": "s"} for n in range(200)])
    erased: list[str] = []
    with forking(path, folder, PROGRAM) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for number in range(rounds):
            seeds = range(number * PROCESSES, (number + 1) * PROCESSES)
            process.stdin.write(" ".join(map(str, seeds)) + "\n")
            process.stdin.flush()
            pids = map(int, process.stdout.readline().split())
            notes_of = [folder / str(seed) for seed in seeds]
            kill_at_random(dict(zip(pids, notes_of, strict=True)), chance, max_bytes=300)
            ends = {int(end) for end in process.stdout.readline().split()}
            assert ends == {signal.SIGKILL}, f"round {number}: a worker ended by itself"
            notes = [note for seed in seeds for note in acknowledged(folder / str(seed))]
            erased += [word for word, is_gone in notes if is_gone == "True"]
            assert found(erased, beside) == [], f"round {number}"
    with memstore.open(path, embedder=None) as store:
        store.search("password")
        store.file.save_index()
        assert store.file.doctor() == []
    assert found(erased, beside) == []
    record_property("counts", f"{rounds * PROCESSES} kills, {len(erased)} erased, 0 found again")
    assert len(erased) > rounds, "the workers were killed before they could erase anything"
