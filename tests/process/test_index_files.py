"""Several processes share one index: searches miss nothing, and kills leave no invalid file."""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path

import pytest
from tests.support.programs import LETTERS, Letters

import memstore
from memstore import Store
from memstore.search.index import index as module

ADDED = 150
KILLS = 8

pytestmark = pytest.mark.process

WRITER = (
    LETTERS
    + """
import sys
import memstore
store = memstore.open(sys.argv[1], embedder=Letters())
for number in range(int(sys.argv[2])):
    fact = store.add(f"number{number} " + "abcxyz"[number % 6] * 9, subject="x")
    print(fact.id, flush=True)
    sys.stdin.readline()
"""
)

SAVER = (
    LETTERS
    + """
import sys
import memstore
from memstore.search.index import index as module
module.SAVED_FROM = 1
store = memstore.open(sys.argv[1], embedder=Letters())
print("ready", flush=True)
number = 0
while True:
    number += 1
    store.add_many({"content": f"round{number} fact{n} tea", "subject": f"s{n}"} for n in range(20))
    store.search(f"round{number}")
    store.file.searches.facts.index.save()
"""
)


def start(program: str, *arguments: object) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", program, *map(str, arguments)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def test_a_search_finds_everything_another_process_stored(path: Path) -> None:
    with memstore.open(path, embedder=Letters()) as store:
        store.add("the first", subject="x")
        with start(WRITER, path, ADDED) as writer:
            for number in range(ADDED):
                fact_id = int(writer.stdout.readline())
                by_words = store.search(f"number{number}", vector_weight=0)
                assert [hit.fact.id for hit in by_words] == [fact_id]
                query = f"number{number} " + "abcxyz"[number % 6] * 9
                by_meaning = store.search(query, word_weight=0, limit=1000)
                assert fact_id in {hit.fact.id for hit in by_meaning}
                writer.stdin.write("\n")
                writer.stdin.flush()


def test_kill_while_writing_files_does_not_affect_answers(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "SAVED_FROM", 1)
    chance = random.Random(11)
    for _ in range(KILLS):
        with start(SAVER, path) as saver:
            assert saver.stdout.readline() == "ready\n"
            try:
                saver.wait(0.05 + chance.random())
            except subprocess.TimeoutExpired:
                saver.kill()
        with memstore.open(path, embedder=Letters()) as store:
            held = store.status().active
            if not held:
                continue
            facts = store.list()
            word = facts[-1].content.split()[0]
            expected = {fact.id for fact in facts if fact.content.split()[0] == word}
            found = store.search(word, vector_weight=0, limit=1000)
            assert {hit.fact.id for hit in found} == expected
            store.file.save_index()
            assert mapped(store) == held


def mapped(store: Store) -> int:
    held = store.file.searches.facts.index._current
    assert held is not None
    return len(held)
