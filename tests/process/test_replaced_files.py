"""A backup is put in the place of a file that a program is writing to, which may then be killed."""

from __future__ import annotations

import random
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.support.clock import wait_until

import memstore

pytestmark = [
    pytest.mark.process,
    pytest.mark.skipif(sys.platform == "win32", reason="there, an open file is not renamed"),
]

WRITING = """
import sys
import memstore

path, first = sys.argv[1], int(sys.argv[2])
store = memstore.open(path, embedder=None, durability="normal")
try:
    for number in range(first, first + 100_000):
        store.add(f"fact {number}", subject=f"s{number % 7}")
        print(number, flush=True)
except memstore.FileReplaced:
    store.close()
    print("replaced", flush=True)
"""


class Writer:
    """A program that adds facts, and says which are acknowledged."""

    def __init__(self, path: Path, first: int) -> None:
        command = [sys.executable, "-c", WRITING, str(path), str(first)]
        self._program = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        self.told: list[str] = []
        self._reader = threading.Thread(target=self.told.extend, args=(self._program.stdout,))
        self._reader.start()

    def end(self, *, kill: bool) -> None:
        if kill:
            self._program.kill()
        with self._program:
            self._reader.join()


def facts_of(path: Path) -> set[str]:
    with memstore.open(path, embedder=None) as store:
        assert store.file.doctor(deep=True) == []
        return {fact.content for fact in store.list(limit=None)}


def test_neither_the_backup_nor_an_acknowledged_write_is_lost(
    tmp_path: Path,
    pytestconfig: pytest.Config,
    record_property: Callable[[str, object], None],
) -> None:
    dice = random.Random(7)
    rounds = pytestconfig.getoption("--kills")
    acknowledged = killed = 0
    for number in range(rounds):
        folder = tmp_path / str(number)
        folder.mkdir()
        path, former = folder / "memory.db", folder / "former.db"
        with memstore.open(path, embedder=None) as store:
            store.add("in the backup", subject="backup")
            store.file.backup(folder / "backup.db")
        writers = [Writer(path, first * 1_000_000) for first in range(dice.choice([1, 1, 2]))]
        enough = dice.randrange(1, 200)
        assert wait_until(lambda: all(len(one.told) >= enough for one in writers))  # noqa: B023
        path.rename(former)
        (folder / "backup.db").rename(path)
        kills = dice.random() < 0.4
        if kills or dice.random() < 0.5:
            # A killed program cannot take its log along, and nothing tells whose a log without
            # users is: this is promised only if somebody opens the backup before the kill.
            assert facts_of(path) == {"in the backup"}, folder
        for one in writers:
            one.end(kill=kills)
        killed += kills
        if not (log := folder / "former.db-wal").exists():
            for aside in folder.glob("memory.db-wal.former-*"):
                aside.rename(log)
        assert facts_of(path) == {"in the backup"}, folder
        numbers = {line.strip() for one in writers for line in one.told} - {"replaced"}
        assert {f"fact {one}" for one in numbers} <= facts_of(former), folder
        acknowledged += len(numbers)
        shutil.rmtree(folder)
    record_property(
        "counts", f"{rounds} replaced, {killed} kills, {acknowledged} acknowledged, 0 lost"
    )
