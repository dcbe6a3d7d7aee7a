"""Processes use one file for `--soak` seconds: no errors, and no growth."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.support.programs import LETTERS

import memstore
from memstore.file.doctor import LONG_LOG_BYTES

pytestmark = [
    pytest.mark.process,
    pytest.mark.skipif(sys.platform != "linux", reason="reads /proc"),
]

PROCESSES = 8
FACTS = 10_000
FIRST_SECONDS = 60.0
"""Until then caches fill; only later growth counts."""

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
    store.file.embed_in_background(interval_seconds=0.1)
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


# Commits without a sync make the log grow fastest.
WRITER = """
import os, sys, time
import memstore

path, seconds, name = sys.argv[1], float(sys.argv[2]), sys.argv[3]
ends = time.monotonic() + seconds
longest = count = 0
with memstore.open(path, embedder=None, durability="normal") as store:
    while time.monotonic() < ends:
        store.add(f"{name} writes {count}" + " and more" * 20, subject=name)
        count += 1
        longest = max(longest, os.stat(path + "-wal").st_size)
print([count, longest])
"""

DOCTOR = """
import sys, time
import memstore

path, seconds = sys.argv[1], float(sys.argv[2])
ends = time.monotonic() + seconds
count = 0
with memstore.open(path, embedder=None) as store:
    while count == 0 or time.monotonic() < ends:
        found = store.file.doctor(deep=True)
        assert found == [], found
        count += 1
print(count)
"""


def fill(path: Path, facts: int) -> None:
    with memstore.open(path, embedder=None) as store:
        for start in range(0, facts, 1000):
            store.add_many(
                {"content": f"fact {start + n} of many", "subject": f"old {n % 50}"}
                for n in range(1000)
            )


def outputs_of(programs: Sequence[Sequence[object]]) -> list[list[Any]]:
    """Return the output of programs that run at the same time, each line parsed as JSON."""
    running = [
        subprocess.Popen(
            [sys.executable, "-c", *map(str, program)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for program in programs
    ]
    told = [one.communicate() for one in running]
    assert [(one.returncode, errors) for one, (_, errors) in zip(running, told, strict=True)] == [
        (0, "")
    ] * len(running)
    return [[json.loads(line) for line in out.splitlines()] for out, _ in told]


def test_the_log_stays_short_while_the_doctor_runs(
    path: Path, pytestconfig: pytest.Config, record_property: Callable[[str, object], None]
) -> None:
    seconds = pytestconfig.getoption("--soak")
    facts = FACTS * 10 if seconds >= FIRST_SECONDS else FACTS
    fill(path, facts)
    *writers, [examined] = outputs_of(
        [[WRITER, path, seconds, "ana"], [WRITER, path, seconds, "bob"], [DOCTOR, path, seconds]]
    )
    written = sum(count for [(count, _)] in writers)
    longest = max(longest for [(_, longest)] in writers)
    record_property(
        "counts",
        f"{facts:,} facts, {written} more written, {examined} examinations in {seconds:g} s,"
        f" log at most {longest / 1e6:.0f} MB",
    )
    assert longest < LONG_LOG_BYTES


def test_eight_processes_use_one_file(
    path: Path, pytestconfig: pytest.Config, record_property: Callable[[str, object], None]
) -> None:
    seconds = pytestconfig.getoption("--soak")
    fill(path, FACTS)
    looks = outputs_of([[PROGRAM, path, seconds, seed] for seed in range(PROCESSES)])
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
    assert longest < LONG_LOG_BYTES
    assert grown < 1.2
    with memstore.open(path, embedder=None) as store:
        assert store.file.doctor() == []
        assert store.status().active >= FACTS
