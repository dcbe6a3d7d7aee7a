"""Every write, sync, truncation, opening and removal of a file fails once, and memory runs out.

What was acknowledged stays, the file stays whole, and only documented errors are raised. Each
n-th call is tried with `--all-faults`, else one in some.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.support.disk import Kind, run

pytestmark = pytest.mark.process

WORKLOAD = """
import ctypes, errno, json, os, shutil, sys
import apsw
import memstore
from memstore.database.sqlite import writer

writer.COPIED_PAGES, writer.BOUND_PAGES = 20, 40
writer.PATIENCE_SECONDS = (0.001, 0.001)
path = os.path.join(sys.argv[1], "folder", "memory.db")

def workload(acked):
    with memstore.open(path, embedder=None, wait_seconds=0.2) as store:
        for turn in range(6):
            fact = store.add(f"fact {turn} " + "x" * 3000, subject="a")
            acked[fact.id] = fact.content
            episode = store.episodes.add(f"episode {turn}", source="test")
            acked[-episode.id] = episode.content
        new = store.add("newer", subject="a", supersedes=1)
        acked[new.id] = new.content
        many = store.add_many([{"content": f"many {n}", "subject": "b"} for n in range(5)])
        acked.update((fact.id, fact.content) for fact in many)
        store.search("fact", limit=3)
        store.list(limit=5)
        store.delete(2)
        acked.pop(2)  # a call that raises may have taken effect
        store.erase(2)

def check(acked):
    with memstore.open(path, embedder=None) as store:
        found = store.file.doctor()
        assert not found, found
        for number, content in acked.items():
            record = store.get(number) if number > 0 else store.episodes.get(-number)
            assert record.content == content, number
    shutil.rmtree(os.path.dirname(path))

def attempt(acked):
    # Every failure is reported as one of our own errors.
    try:
        workload(acked)
    except memstore.StorageError as error:
        return str(error)
    return None
"""

FAULTS = (
    WORKLOAD
    + """
kinds, step, error, lasting = int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]), sys.argv[5]
faults = ctypes.CDLL(None)
faults.faults_disarm.restype = ctypes.c_uint64
faults.faults_arm.argtypes = [ctypes.c_uint32, ctypes.c_uint64, ctypes.c_int, ctypes.c_bool]
faults.faults_watch(os.fsencode(sys.argv[1]), -1)
said, place = [], 0
while True:
    acked = {}
    faults.faults_arm(kinds, place, error, lasting == "lasting")
    said.append(attempt(acked))
    counted = faults.faults_disarm()
    if counted <= place:
        break
    if os.path.exists(path):
        check(acked)
    else:
        assert not acked
        shutil.rmtree(os.path.dirname(path), ignore_errors=True)
    place += step
assert said[-1] is None
check(acked)
print(json.dumps({"calls": counted, "said": said[:-1]}))
"""
)

MEMORY = (
    WORKLOAD
    + """
step = int(sys.argv[2])
said = []
for extra in range(0, 600, step):
    acked = {}
    apsw.hard_heap_limit(apsw.memory_used() + 4096 * extra)
    said.append(attempt(acked))
    apsw.hard_heap_limit(0)
    if os.path.exists(path):
        check(acked)
print(json.dumps({"said": said}))
"""
)

EIO, ENOSPC = 5, 28


@pytest.mark.parametrize("lasting", ["once", "lasting"])
@pytest.mark.parametrize("kind", [kind for kind in Kind if kind is not Kind.RENAME])
def test_disk_faults_lose_nothing(
    tmp_path: Path,
    kind: Kind,
    lasting: str,
    pytestconfig: pytest.Config,
    record_property: Callable[[str, object], None],
) -> None:
    some = {Kind.WRITE: 41, Kind.SYNC: 7}.get(kind, 3)
    step = 1 if pytestconfig.getoption("--all-faults") else some
    error = ENOSPC if kind is Kind.WRITE else EIO
    told = json.loads(run(FAULTS, tmp_path, 1 << kind, step, error, lasting))
    assert told["calls"] > 0
    record_property("counts", f"{len(told['said'])} faults, nothing acknowledged lost")
    if kind in (Kind.WRITE, Kind.OPEN):
        assert any(told["said"])


def test_running_out_of_memory_loses_nothing(
    tmp_path: Path,
    pytestconfig: pytest.Config,
    record_property: Callable[[str, object], None],
) -> None:
    step = 1 if pytestconfig.getoption("--all-faults") else 20
    said = json.loads(run(MEMORY, tmp_path, step))["said"]
    record_property("counts", f"{len(said)} limits of memory, nothing acknowledged lost")
    assert any(said)
    assert said[-1] is None
