"""SIGKILL of an erasure, before a random call on the file, `--kills` times.

What is left is whole, and the same selection again completes it: no byte of what it names remains.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.support.disk import run
from tests.support.programs import KILLING, LETTERS

pytestmark = [pytest.mark.process, pytest.mark.slow]

PROGRAM = (
    LETTERS
    + KILLING
    + """
import random
import memstore
import memstore.embedding.embedding, memstore.search.hybrid, memstore.file.doctor
from memstore.database import short_transactions
from memstore.history import erasure
from memstore.search.index import index
index.SAVED_FROM = 1
short_transactions.SECONDS = 0.0
erasure.ERASED_AT_ONCE = 2
erasure.GRAPH_DROPPED_FROM = 5

kills = int(sys.argv[2])
SECRET = b"zqplugh"

def opened(path):
    return memstore.open(path, embedder=Letters(), actor="ana")

def prepare(path):
    with opened(path) as store:
        for n in range(6):
            word = f"zqplugh{n}zq"
            page = store.episodes.add(f"Page {n} says {word}", source="web:x", tags=[word])
            store.add(f"Ana Silva heard {word}", subject="Ana Silva", episode_id=page.id)
            kept = store.add(f"Ana Silva saw page {n}", subject="Ana Silva", episode_id=page.id)
            store.confirm(kept.id)
            store.add(f"Bob Marsh likes tea {n}", subject="Bob Marsh")
        store.file.embed_pending()
        store.graph.build()
        store.search("tea")
        store.episodes.search("page")
        store.file.save_index()

def run_job(path):
    with opened(path) as store:
        try:
            done = store.of("all").ledger.erasure(source="web:x").apply()
        except memstore.NotFound:  # it was completed
            return True
        return done.is_gone

def state(path):
    with opened(path) as store:
        facts = store.of("all").list(active_only=False, include_deleted=True, limit=1000)
        return {
            "facts": sorted(fact.content for fact in facts),
            "said": sorted(one.content for one in store.episodes.list(limit=1000)),
        }

def check(path, before, after):
    # Straight after the kill.
    with opened(path) as store:
        findings = [*store.file.doctor(deep=True), *store.ledger.verify()]
        assert not findings, findings
        held = {fact.content for fact in store.list(limit=1000)}
        found = {hit.fact.content for hit in store.search("Ana Bob tea heard saw", limit=50)}
        assert held <= found, held - found
    now = state(path)
    for name in ("facts", "said"):
        assert {*after[name]} <= {*now[name]} <= {*before[name]}, (name, now)
    # A page goes only after what was drawn from it.
    assert now["said"] or now["facts"] == after["facts"], now

def left(path):
    folder = os.path.dirname(path)
    files = {one: open(f"{folder}/{one}", "rb").read().lower() for one in os.listdir(folder)}
    return [one for one, content in files.items() if SECRET in content]

os.mkdir(f"{folder}/base")
in_child(lambda: prepare(f"{folder}/base/memory.db"))
before = in_child(lambda: state(fresh("before")))
whole = fresh("whole")
calls = in_child(lambda: counted(whole, 2**60))
after = in_child(lambda: state(whole))
assert not left(whole), left(whole)
chance = random.Random(kills)
killed = 0
for place in (chance.randrange(calls) for _ in range(kills)):
    path = fresh("killed")
    killed += in_child(lambda: counted(path, place)) is None
    in_child(lambda: check(path, before, after))
    assert in_child(lambda: run_job(path)), place
    in_child(lambda: check(path, before, after))
    assert in_child(lambda: state(path)) == after, place
    assert not left(path), (place, left(path))
    shutil.rmtree(os.path.dirname(path))
print(json.dumps({"killed": killed, "calls": calls, "changed": before != after}))
"""
)


def test_a_killed_erasure_leaves_whole_rows_and_is_completed_by_the_next(
    tmp_path: Path,
    pytestconfig: pytest.Config,
    record_property: Callable[[str, object], None],
) -> None:
    counts = json.loads(run(PROGRAM, tmp_path, pytestconfig.getoption("--kills")))
    assert counts["killed"] > 0
    assert counts["changed"]
    record_property("counts", f"{counts['killed']} kills of {counts['calls']} calls, 0 bytes left")
