"""Processes that open what is there, while others create it, and others mistype its name."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.support import postgres

import memstore
from memstore.errors import Remedy, StorageError

pytestmark = pytest.mark.process

PROCESSES = 3
"""That open what there is; one creates, and one mistypes."""

OPENING = """
import json, sys, time
import memstore
from memstore.errors import StorageError

what, rounds, seconds = sys.argv[1], json.loads(sys.argv[2]), float(sys.argv[3])
print("ready", flush=True)
sys.stdin.readline()
stored, refused = [], []
for place, given in enumerate(rounds):
    ends = time.monotonic() + seconds
    if what == "creates":
        time.sleep(seconds / 2)
        with memstore.open(**given, embedder=None) as store:
            stored.append([place, store.add("created", subject="s").id])
        continue
    while time.monotonic() < ends:
        try:
            with memstore.open(**given, create=False, embedder=None) as store:
                stored.append([place, store.add(f"{what} {len(stored)}", subject="s").id])
        except StorageError as error:
            refused.append(str(error.remedy))
print(json.dumps([what, stored, sorted(set(refused)), len(refused)]))
"""


def run(rounds: dict[str, list[dict[str, str]]], seconds: float) -> dict[str, Any]:
    """Return what each process stored and how it was refused; they go through rounds together."""
    running = {
        what: subprocess.Popen(
            [sys.executable, "-c", OPENING, what.split()[0], json.dumps(given), str(seconds)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for what, given in rounds.items()
    }
    for process in running.values():
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in running.values():
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()
    told = {what: process.communicate(timeout=120)[0] for what, process in running.items()}
    assert all(process.returncode == 0 for process in running.values())
    return {what: json.loads(line)[1:] for what, line in told.items()}


def places(engine: str, folder: Path, url: str, name: str) -> dict[str, str]:
    if engine == "file":
        return {"path": str(folder / f"{name}.db")}
    return {"path": url, "namespace": name}


@pytest.mark.parametrize("engine", ["file", "server"])
def test_only_who_creates_creates(
    engine: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    url = ""
    if engine == "server":
        url = request.getfixturevalue("an_url")
    names = [f"memory-{number}" for number in range(3)]
    there = [places(engine, tmp_path, url, name) for name in names]
    wrong = [places(engine, tmp_path, url, f"{name}-mistyped") for name in names]
    rounds = {"creates": there, "mistypes": wrong}
    rounds |= {f"opens {number}": there for number in range(PROCESSES)}
    told = run(rounds, 1.0)
    assert told["mistypes"][0] == []
    assert told["mistypes"][2]
    for place, (given, mistyped) in enumerate(zip(there, wrong, strict=True)):
        stored = {id_ for notes, *_ in told.values() for at, id_ in notes if at == place}
        with memstore.open(**given, create=False, embedder=None) as store:
            assert {fact.id for fact in store.list(limit=10_000)} == stored
            assert store.ledger.verify() == []
        with pytest.raises(StorageError):
            memstore.open(**mistyped, create=False, embedder=None)
    remedies = {remedy for _, kinds, _ in told.values() for remedy in kinds}
    assert remedies <= {str(Remedy.CREATE_FILE), str(Remedy.CREATE_MEMORY)}, remedies


@pytest.fixture
def an_url() -> Iterator[str]:
    with postgres.database() as url:
        yield url
