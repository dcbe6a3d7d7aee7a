"""Power cuts at random points, `--power-cuts` times: acknowledged writes survive.

A process writes as agents do, and every change of its files is recorded. From the record a folder
is made as a disk may hold it after a cut: what was synced, and of the rest any part, torn within
its sectors.
"""

from __future__ import annotations

import json
import random
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.support.disk import SECTOR, Call, Disk, Kind, read_record, run
from tests.support.raw import raw

import memstore

pytestmark = pytest.mark.process

# Low limits, so that the log is copied and restarted many times.
PROGRAM = """
import ctypes, json, os, random, sys, threading
import memstore
from memstore.database.sqlite import writer

writer.COPIED_PAGES, writer.BOUND_PAGES = 30, 60
writer.PATIENCE_SECONDS = (0.001, 0.001)
folder, record, durability, seed = sys.argv[1:]
faults = ctypes.CDLL(None)
told = os.open(record, os.O_WRONLY | os.O_CREAT)
faults.faults_watch(os.fsencode(folder), told)
acks = os.open(os.path.join(folder, "acks"), os.O_WRONLY | os.O_CREAT | os.O_APPEND)
path = os.path.join(folder, "memory.db")

def note(**what):
    os.write(acks, json.dumps(what).encode() + b"\\n")

def work(store, number):
    chance = random.Random(f"{seed} {number}")
    held = []
    for turn in range(25):
        text = f"{number}.{turn} " + "x" * chance.choice([10, 100, 9000])
        what = chance.random()
        if what < 0.5 or not held:
            held.append(store.add(text, subject=f"s{number}"))
            note(fact=text, state="active")
        elif what < 0.7:
            old = held.pop(chance.randrange(len(held)))
            held.append(store.add(text, subject=f"s{number}", supersedes=old.id))
            note(fact=old.content, state="superseded")
            note(fact=text, state="active")
        elif what < 0.8:
            old = held.pop(chance.randrange(len(held)))
            store.delete(old.id)
            note(fact=old.content, state="deleted")
        elif what < 0.9:
            store.episodes.add(text, source="test")
            note(episode=text)
        else:
            texts = [f"{text} {n}" for n in range(3)]
            held += store.add_many([{"content": t, "subject": "many"} for t in texts])
            for t in texts:
                note(fact=t, state="active")

for opening in range(2):
    store = memstore.open(path, embedder=None, durability=durability)
    threads = [threading.Thread(target=work, args=(store, 4 * opening + n)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if opening == 0:
        store.close()
os._exit(0)
"""


def recorded(tmp_path: Path, durability: str, seed: int) -> list[Call]:
    folder = (tmp_path / f"{durability}-{seed}").resolve()
    folder.mkdir()
    run(PROGRAM, folder, tmp_path / f"record-{seed}", durability, seed)
    calls = list(read_record(tmp_path / f"record-{seed}"))
    shutil.rmtree(folder)
    return calls


def acknowledged(calls: list[Call]) -> tuple[dict[str, str], set[str]]:
    """Return the last acknowledged state of each fact, and the episodes."""
    facts: dict[str, str] = {}
    episodes: set[str] = set()
    for call in calls:
        if call.kind is Kind.WRITE and call.path.endswith("/acks"):
            noted: dict[str, Any] = json.loads(call.data)
            if "episode" in noted:
                episodes.add(noted["episode"])
            else:
                facts[noted["fact"]] = noted["state"]
    return facts, episodes


def cut(calls: list[Call], folder: Path, target: Path, chance: random.Random) -> None:
    disk = Disk(folder)
    for call in calls:
        if not call.path.endswith("/acks"):
            disk.do(call)
    disk.cut_power(target, chance)


def held(path: Path) -> tuple[dict[str, str], set[str]]:
    with raw(path) as there:
        facts = dict(
            there.execute(
                "SELECT content, CASE WHEN superseded_by IS NOT NULL THEN 'superseded'"
                " WHEN deleted_at IS NOT NULL THEN 'deleted' ELSE 'active' END FROM memstore_facts"
            )
        )
        return facts, {text for (text,) in there.execute("SELECT content FROM memstore_episodes")}


@pytest.mark.parametrize("durability", ["full", "normal"])
def test_acknowledged_writes_survive_a_power_cut(
    tmp_path: Path,
    durability: str,
    pytestconfig: pytest.Config,
    record_property: Callable[[str, object], None],
) -> None:
    cuts = pytestconfig.getoption("--power-cuts")
    lost = acks = 0
    for turn in range(cuts):
        if turn % 50 == 0:
            calls = recorded(tmp_path, durability, turn)
            folder = (tmp_path / f"{durability}-{turn}").resolve()
        chance = random.Random(turn)
        point = chance.randrange(len(calls))
        facts, episodes = acknowledged(calls[:point])
        target = tmp_path / f"after-{turn}"
        cut(calls[:point], folder, target, chance)
        with memstore.open(target / "memory.db", embedder=None) as store:
            assert store.file.doctor() == [], f"cut {turn}"
        there, told = held(target / "memory.db")
        wrong = {text for text, state in facts.items() if not holds(there.get(text), state)}
        wrong |= episodes - told
        lost += len(wrong)
        acks += len(facts) + len(episodes)
        assert durability == "normal" or not wrong, f"cut {turn}"
        shutil.rmtree(target)
    record_property("counts", f"{cuts} power cuts, {acks} acknowledged, {lost} lost")


def test_a_disk_is_guaranteed_to_keep_only_synced_data(tmp_path: Path) -> None:
    folder = str(tmp_path)
    file = f"{folder}/file"

    def left(*calls: Call) -> set[bytes | None]:
        contents = set()
        for seed in range(200):
            disk = Disk(tmp_path)
            for call in calls:
                disk.do(call)
            target = Path(tempfile.mkdtemp(dir=tmp_path)) / "left"
            disk.cut_power(target, random.Random(seed))
            kept = target / "file"
            contents.add(kept.read_bytes() if kept.exists() else None)
        return contents

    create, named = Call(Kind.OPEN, file, 0, b""), Call(Kind.SYNC, folder, 0, b"")
    synced = Call(Kind.SYNC, file, 0, b"")
    write = Call(Kind.WRITE, file, 0, b"a" * SECTOR + b"b" * SECTOR)
    whole = write.data
    assert left(create, write, synced) == {None, whole}
    assert left(create, named, write) == {
        b"",
        whole,
        b"a" * SECTOR,
        bytes(SECTOR) + b"b" * SECTOR,
    }
    assert left(create, write, synced, named) == {whole}
    assert left(create, named, write, synced, Call(Kind.TRUNCATE, file, 5, b"")) == {
        whole,
        b"aaaaa",
    }
    assert left(create, named, write, synced, Call(Kind.REMOVE, file, 0, b"")) == {whole, None}


def holds(now: str | None, acknowledged: str) -> bool:
    """Whether a state is acceptable: a change may be on disk before it is recorded here."""
    return now is not None and (now == acknowledged or acknowledged == "active")
