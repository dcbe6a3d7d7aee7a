"""Eight processes use one file for `--soak` seconds: no error, and nothing that grows."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.support.programs import LETTERS

import memstore

pytestmark = [
    pytest.mark.process,
    pytest.mark.skipif(sys.platform != "linux", reason="reads /proc"),
]

PROCESSES = 8
FACTS = 10_000
FIRST_SECONDS = 60.0
"""Until then caches fill; what counts is how it goes on."""

PROGRAM = (
    LETTERS
    + """
import json, os, random, sys, time
import memstore

WORDS = [f"{a}{b}" for a in "bdfgklmnprst" for b in ("ada", "elo", "iru", "ona", "usi")]
path, seconds, seed = sys.argv[1], float(sys.argv[2]), int(sys.argv[3])
chance = random.Random(seed)
say = lambda count: " ".join(chance.choices(WORDS, k=count))

def resident_bytes():
    return int(open("/proc/self/statm").read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

store = memstore.open(path, embedder=Letters())
if seed == 0:
    store.embed_in_background(interval_seconds=0.1)
own, acts, next_look = [], 0, 0.0
began = time.monotonic()
while (passed := time.monotonic() - began) < seconds:
    what = chance.random()
    if what < 0.25:
        own.append(store.add(say(12), subject=f"s{seed}").id)
        if len(own) > 20:
            store.delete(own.pop(0))
    elif what < 0.35 and own:
        own.append(store.add(say(12), subject=f"s{seed}", supersedes=own.pop(0)).id)
    elif what < 0.45:
        store.episodes.add(say(40), source="soak")
    elif what < 0.8:
        store.search(say(5), limit=10)
    elif what < 0.9:
        store.list(limit=20)
    else:
        store.count(subject=f"s{seed}")
    acts += 1
    if passed >= next_look:
        next_look = passed + max(seconds / 50, 0.1)
        print(json.dumps({"at": passed, "descriptors": len(os.listdir("/proc/self/fd")),
                          "resident": resident_bytes(), "log": store.status().log_bytes}),
              flush=True)
store.close()
print(json.dumps({"acts": acts}))
"""
)


def test_eight_processes_use_one_file(
    path: Path, pytestconfig: pytest.Config, record_property: Callable[[str, object], None]
) -> None:
    seconds = pytestconfig.getoption("--soak")
    with memstore.open(path, embedder=None) as store:
        for start in range(0, FACTS, 1000):
            store.add_many(
                [
                    {"content": f"fact {start + n} of many", "subject": f"old {n % 50}"}
                    for n in range(1000)
                ]
            )
    workers = [
        subprocess.Popen(
            [sys.executable, "-c", PROGRAM, str(path), str(seconds), str(seed)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for seed in range(PROCESSES)
    ]
    told = [worker.communicate() for worker in workers]
    assert [
        (worker.returncode, errors) for worker, (_, errors) in zip(workers, told, strict=True)
    ] == [(0, "")] * PROCESSES
    looks = [[json.loads(line) for line in out.splitlines()] for out, _ in told]
    acts = sum(each.pop()["acts"] for each in looks)
    longest = max(look["log"] for each in looks for look in each)
    grown = 1.0
    for each in looks:
        settled = [look for look in each if look["at"] >= FIRST_SECONDS]
        if settled:
            grown = max(grown, settled[-1]["resident"] / settled[0]["resident"])
            assert settled[-1]["descriptors"] <= settled[0]["descriptors"] + 4
    record_property(
        "counts",
        f"{acts} acts in {seconds:g} s, 0 errors, log at most {longest / 1e6:.0f} MB, resident"
        f" memory x {grown:.2f}",
    )
    assert longest < 64 * 1024 * 1024
    assert grown < 1.2
    with memstore.open(path, embedder=None) as store:
        assert store.examine() == []
        assert store.status().active >= FACTS
