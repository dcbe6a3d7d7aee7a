"""A file system whose locks are refused, or have no effect: as of another machine's disk."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.support.disk import run

import memstore

pytestmark = pytest.mark.process

PROGRAM = """
import ctypes, json, os, sys
import memstore

folder, locks = sys.argv[1], int(sys.argv[2])
faults = ctypes.CDLL(None)
faults.faults_watch(os.fsencode(folder), -1)
faults.faults_locks(locks)
said = {}
try:
    with memstore.open(folder + "/memory.db", embedder=None, wait_seconds=0.2) as store:
        try:
            store.add("written there", subject="a")
        except memstore.MemstoreError as error:
            said["add"] = [type(error).__name__, error.text, error.remedy.value]
        said["read"] = [fact.content for fact in store.list()]
        said["found"] = [hit.fact.content for hit in store.search("here")]
except memstore.MemstoreError as error:
    said["open"] = [type(error).__name__, error.text, error.remedy.value]
print(json.dumps(said))
"""
WORK, PRETEND, REFUSED = range(3)


@pytest.fixture
def held(tmp_path: Path) -> Path:
    with memstore.open(tmp_path / "memory.db", embedder=None) as store:
        store.add("here before", subject="a")
    return tmp_path


def said(folder: Path, locks: int) -> dict[str, list[str]]:
    answer: dict[str, list[str]] = json.loads(run(PROGRAM, folder, locks))
    return answer


def contents(folder: Path) -> list[str]:
    with memstore.open(folder / "memory.db", embedder=None) as store:
        assert store.file.doctor(deep=True) == []
        return [fact.content for fact in store.list()]


def test_locks_without_effect_refuse_every_write(held: Path) -> None:
    told = said(held, PRETEND)
    kind, text, remedy = told["add"]
    assert kind == "StorageError"
    assert "locks have no effect" in text
    assert "HTTP" in remedy
    assert told["read"] == told["found"] == ["here before"]
    assert contents(held) == ["here before"]


def test_refused_locks_are_reported_at_once_and_not_waited_for(held: Path) -> None:
    kind, text, remedy = said(held, REFUSED)["open"]
    assert kind == "StorageError"
    assert "refuses locks" in text
    assert "HTTP" in remedy
    assert contents(held) == ["here before"]


@pytest.mark.parametrize("locks", [PRETEND, REFUSED])
def test_no_file_is_made_where_locks_do_not_work(tmp_path: Path, locks: int) -> None:
    assert said(tmp_path, locks)["open"][0] == "StorageError"
    assert said(tmp_path, WORK)["read"] == ["written there"]
