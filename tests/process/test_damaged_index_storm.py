"""Index files are damaged under running searches, `--inputs` times: no answer is wrong."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.support.clock import wait_until
from tests.support.programs import LETTERS, Letters

import memstore
from memstore.domain import clock

PARTS = ("columns", "words", "features", "codes")
TICK_SECONDS = 0.02
"""No file system's clock is coarser where this runs: a change within a tick shows no other time."""

pytestmark = [
    pytest.mark.process,
    pytest.mark.slow,
    pytest.mark.skipif(os.name == "nt", reason="Windows keeps others from changing a mapped file"),
]

# Threads compare each answer with the first one. For each line, says how many they got since, and
# what was wrong; by then the index is in new files, unless it has not been damaged.
PROGRAM = (
    LETTERS
    + """
import sys, threading
import memstore
from memstore.search.index import index as module
module.SAVED_FROM = 1
store = memstore.open(sys.argv[1], embedder=Letters())
QUERIES = ["harbour number7", "abc tea", "rain", "violin number12"]
def ask(query):
    return [hit.fact.id for hit in store.search(query, touch=False, ranking="classic")]
expected = {query: ask(query) for query in QUERIES}
wrong, answered, ended = [], [0, 0], threading.Event()
def search(thread):
    while not ended.is_set():
        for query in QUERIES:
            try:
                got = ask(query)
                if got != expected[query]:
                    wrong.append(f"{query}: {got}")
            except BaseException as error:
                wrong.append(repr(error))
            answered[thread] += 1
threads = [threading.Thread(target=search, args=(n,)) for n in range(2)]
for thread in threads:
    thread.start()
index = store.file.searches.facts.index
def settle():
    before = list(answered)
    while any(now < was + 8 for now, was in zip(answered, before)):
        index.finish()
    while index._current is None or index._current.identity is None:
        ask("tea")
        index.finish()
    return sum(answered) - sum(before)
try:
    for line in sys.stdin:
        print(settle(), index._current.identity, wrong[:3], sep="\\t", flush=True)
finally:
    ended.set()
"""
)


def damage(file: Path, chance: random.Random) -> str:
    """Change a file as another program or a failing disk might."""
    size = file.stat().st_size
    what = chance.choice(["scrambled", "cleared", "cut", "emptied"])
    with file.open("r+b") as opened:
        if what == "scrambled":
            for _ in range(chance.randrange(1, 400)):
                opened.seek(chance.randrange(size))
                opened.write(chance.randbytes(1))
        elif what == "cleared":
            opened.seek(chance.randrange(size))
            opened.write(bytes(size - opened.tell()))
        else:
            opened.truncate(chance.randrange(size) if what == "cut" else 0)
    return what


def test_answers_stay_right_while_files_are_damaged(
    path: Path, pytestconfig: pytest.Config, record_property: Callable[[str, object], None]
) -> None:
    inputs = pytestconfig.getoption("inputs")
    chance = random.Random(2026)
    with memstore.open(path, embedder=Letters()) as store:
        store.add_many(
            [
                {"content": f"{chance.choice(['tea', 'rain', 'violin'])} number{n}", "subject": "s"}
                for n in range(400)
            ]
        )
        store.file.embed_pending()
    answers = 0
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None

        def settled() -> str:
            process.stdin.write("\n")
            process.stdin.flush()
            line = process.stdout.readline()
            assert line, f"the process ended: {process.wait()}"
            nonlocal answers
            count, identity, wrong = line.rstrip("\n").split("\t")
            answers += int(count)
            assert wrong == "[]", f"after {done}: {wrong}"
            return identity

        done = "nothing"
        for number in range(inputs):
            identity = settled()
            [file] = path.parent.glob(f"*.facts-{identity}.{PARTS[number % len(PARTS)]}")
            ticked = file.stat().st_mtime + TICK_SECONDS
            assert wait_until(lambda at=ticked: clock.utc_now().timestamp() > at)
            done = f"{number}: {damage(file, chance)} {file.suffix}"
        settled()
        process.stdin.close()
        assert process.wait(timeout=30) == 0
    with memstore.open(path, embedder=Letters()) as store:
        assert store.file.doctor() == []
    record_property("counts", f"{inputs} damaged files, {answers} answers, 0 wrong")
