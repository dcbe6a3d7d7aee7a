"""Processes that take the last episode of a thread: each episode is given to one of them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import memstore
from memstore import NewEpisode

pytestmark = pytest.mark.process

POP = """
import sys
import memstore
with memstore.open(sys.argv[1], embedder=None) as store:
    print("ready", flush=True)
    sys.stdin.readline()
    while (popped := store.episodes.pop(thread="talk")) is not None:
        print(popped.content)
"""


def popper(path: Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-W", "error", "-c", POP, str(path)]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True)


def test_four_processes_pop_each_episode_once(path: Path) -> None:
    with memstore.open(path, embedder=None) as store:
        store.episodes.add_many(
            [NewEpisode(content=str(n), source="chat", thread="talk") for n in range(40)]
        )
    poppers = [popper(path) for _ in range(4)]
    for process in poppers:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    popped = []
    for process in poppers:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    for process in poppers:
        output, errors = process.communicate(timeout=120)
        assert errors == ""
        mine = [int(line) for line in output.split()]
        assert mine == sorted(mine, reverse=True)
        popped += mine
    assert sorted(popped) == [*range(40)]
