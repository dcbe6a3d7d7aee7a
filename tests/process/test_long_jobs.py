"""SIGKILL of jobs that change many rows, before a random call on the file, `--kills` times each.

A job that was killed has lost nothing; run again, it ends as if it had not been killed.
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
import contextlib, random
import memstore
import memstore.embedding.embedding, memstore.search.hybrid, memstore.file.doctor
from memstore import Conflict, EmbedderMismatch, Extractor

job, kills = sys.argv[2], int(sys.argv[3])
SAID = [f"Ana likes tea number {n}" for n in range(12)]

class Pairs(Letters):
    model = "pairs-26"

    def embed(self, texts):
        return super().embed(texts)[:, ::-1].copy()

class Tidy:
    # Combines the first two facts that it is shown; nothing is left to do then.
    model = "tidy-1"

    def generate(self, prompt):
        both = SAID[0] in prompt and SAID[1] in prompt
        text = f"{SAID[0]} and tea number 1"
        return json.dumps({"groups": [{"memories": [1, 2], "text": text}] if both else []})

class Reader:
    def __init__(self, model, every):
        self.model = model
        self.every = every

    def generate(self, prompt):
        text = prompt.rsplit("The text:", 1)[1]
        found = [f"{said}, says {self.model}" for said in SAID[:: self.every] if f"{said}." in text]
        facts = [{"content": one, "subject": "ana", "category": "note"} for one in found]
        return json.dumps({"facts": facts})

def opened(path):
    try:
        return memstore.open(path, embedder=Letters(), actor="ana")
    except EmbedderMismatch:  # it is embedded again
        return memstore.open(path, embedder=Pairs(), actor="ana")

def prepare(path):
    with opened(path) as store:
        if job == "derive":
            extractor = Extractor(store, Reader("reader-1", 1), policy="auto")
            for said in SAID:
                extractor.extract(f"We talked. {said}. Then it rained.", source="chat")
        else:
            for said in SAID:
                store.add(said, subject="ana")
                store.episodes.add(f"they said {said}", source="chat")
        store.file.embed_pending()
        for seconds in range(5 if job == "compare" else 0):
            store.add(f"The timeout is {seconds} seconds.", subject="api")
        gone = store.add("Ana likes coffee", subject="ana")
        store.delete(gone.id)
        store.search("tea")
        store.file.save_index()

def run_job(path):
    with opened(path) as store:
        if job == "reembed":
            with contextlib.suppress(Conflict):  # it was done
                store.file.reembed(Pairs())
        elif job == "consolidate":
            memstore.consolidate(store, generator=Tidy(), subject="ana", policy="auto")
        elif job == "rebuild":
            store.file.rebuild()
        elif job == "compare":
            store.file.searches.comparisons.again()
        else:
            Extractor(store, Reader("reader-2", 2), policy="auto").rebuild()

def state(path):
    # All that a user sees, apart from times and ids.
    with opened(path) as store:
        facts = store.of("all").list(active_only=False, include_deleted=True, limit=1000)
        return {
            "facts": sorted([fact.content, fact.status] for fact in facts),
            "said": sorted(one.content for one in store.episodes.list(limit=1000)),
            "model": store.status().model,
            "open": len(store.proposals.list()),
        }

def check(path, before):
    # Straight after the kill.
    with opened(path) as store:
        findings = store.file.doctor(deep=True)
        assert not findings, findings
        found = {hit.fact.content for hit in store.search("number", limit=50)}
        held = {fact.content for fact in store.list(limit=1000)}
        assert {one for one in held if "number" in one} <= found, held - found
        newer = [hit.newer for hit in store.search("timeout", subject="api")]
        assert sum(map(bool, newer)) == max(0, len(newer) - 1), newer
    now = state(path)
    missing = [one for one in before["said"] if one not in now["said"]]
    assert not missing, missing
    texts = [content for content, _ in now["facts"]]
    missing = [content for content, _ in before["facts"] if content not in texts]
    assert not missing, missing

os.mkdir(f"{folder}/base")
in_child(lambda: prepare(f"{folder}/base/memory.db"))
before = in_child(lambda: state(fresh("before")))
whole = fresh("whole")
calls = in_child(lambda: counted(whole, 2**60))
after = in_child(lambda: state(whole))
chance = random.Random(f"{job} {kills}")
killed = 0
for place in (chance.randrange(calls) for _ in range(kills)):
    path = fresh("killed")
    killed += in_child(lambda: counted(path, place)) is None
    in_child(lambda: check(path, before))
    in_child(lambda: run_job(path))
    in_child(lambda: check(path, before))
    ended = in_child(lambda: state(path))
    assert ended == after, (place, ended, after)
    shutil.rmtree(os.path.dirname(path))
print(json.dumps({"killed": killed, "calls": calls, "changed": before != after}))
"""
)


@pytest.mark.parametrize("job", ["reembed", "consolidate", "rebuild", "compare", "derive"])
def test_a_killed_job_loses_nothing_and_is_completed_by_the_next(
    job: str,
    tmp_path: Path,
    pytestconfig: pytest.Config,
    record_property: Callable[[str, object], None],
) -> None:
    told = json.loads(run(PROGRAM, tmp_path, job, pytestconfig.getoption("--kills")))
    assert told["killed"] > 0
    assert told["changed"] == (job not in ("rebuild", "compare"))
    record_property("counts", f"{told['killed']} kills of {told['calls']} calls, 0 facts lost")
