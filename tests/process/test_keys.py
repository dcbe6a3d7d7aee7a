"""Many processes that put facts under one external key, and one that is killed meanwhile."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import memstore

pytestmark = pytest.mark.process

PUT = """
import sys
import memstore
store = memstore.open(sys.argv[1], embedder=None)
print("ready", flush=True)
sys.stdin.readline()
number = 0
while number < int(sys.argv[3]):
    store.add(f"{sys.argv[2]} {number}", subject="s", external_key="k")
    print(number, flush=True)
    number += 1
store.close()
"""


def writer(path: Path, name: str, times: int) -> subprocess.Popen[str]:
    command = [sys.executable, "-W", "error", "-c", PUT, str(path), name, str(times)]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True)


def test_four_processes_put_one_key_and_a_kill_loses_nothing(path: Path) -> None:
    memstore.open(path, embedder=None).close()
    times = 30
    steady = [writer(path, f"w{number}", times) for number in range(3)]
    killed = writer(path, "killed", 10_000)
    for process in (*steady, killed):
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in (*steady, killed):
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    assert killed.stdout is not None
    said = [killed.stdout.readline() for _ in range(10)]
    killed.kill()
    said += [line for line in killed.stdout if line.endswith("\n")]
    killed.communicate()
    for process in steady:
        assert process.communicate(timeout=120)[1] == ""
        assert process.returncode == 0
    with memstore.open(path, embedder=None) as store:
        chain = store.history(external_key="k")
        assert len(chain) in (3 * times + len(said), 3 * times + len(said) + 1)
        assert [fact.status for fact in chain].count("active") == 1
        assert store.history(chain[0].id)[-1] == store.keys.get("k")
        assert len(store.history(chain[0].id)) == len(chain)
        assert store.file.doctor() == []
