"""SIGKILL of a program that does random things, before a random call on its files, `--kills` times.

What the reopened file says of each earlier moment is what the program saw then, and every line and
row is as the journal says.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.support.disk import run
from tests.support.programs import KILLING

pytestmark = [pytest.mark.process, pytest.mark.slow]

ROOT = Path(__file__).parents[2]

PROGRAM = (
    KILLING
    + """
import pickle, random
from datetime import UTC, datetime
from pathlib import Path

sys.path.insert(0, sys.argv[2])
kills = int(sys.argv[3])

import memstore
import memstore.embedding.embedding, memstore.search.hybrid, memstore.file.doctor
from memstore.database import short_transactions
from memstore.domain import clock
from memstore.history import erasure
from tests.history.test_as_of import Life, Told
from tests.support.clock import ManualClock

short_transactions.SECONDS = 0.0
erasure.ERASED_AT_ONCE = 1
ACTS = 14
PER_LIFE = 10

class Noted(set):
    # What is about to be erased: noted before anything is written.
    def add(self, one):
        self.update([one])

    def update(self, some):
        super().update(some)
        with open(notes, "ab") as file:
            pickle.dump(("erased", frozenset(self)), file)

def run_job(path):
    chance = random.Random(seed)
    # What is done in a file that is left is done in a later year.
    now = ManualClock(datetime(2026 + os.path.exists(notes), 1, 1, tzinfo=UTC))
    with clock.use(now):
        life = Life(Path(path), now)
        life.seen.append((life.store.file.head().line, None))  # of which nothing is noted
        life.erased = Noted(noted()[1])
        for _ in range(ACTS):
            told = len(life.seen)
            life.act(*(chance.randrange(200) for _ in range(3)))
            with open(notes, "ab") as file:
                for line, seen in life.seen[told:]:
                    pickle.dump((line, vars(seen)), file)
        life.close()

def noted():
    seen, erased = [], frozenset()
    if os.path.exists(notes):
        with open(notes, "rb") as file:
            while True:
                try:
                    what, value = pickle.load(file)
                except EOFError:
                    break
                if what == "erased":
                    erased |= value
                else:
                    seen.append((what, value))
    return seen, erased

def check(path):
    seen, erased = noted()
    later = ManualClock(datetime(2030, 1, 1, tzinfo=UTC))
    with clock.use(later), memstore.open(path, embedder=None) as store:
        findings = [*store.ledger.verify(), *store.file.doctor(deep=True)]
        assert not findings, findings
        last = store.file.head().line
        for line, values in seen:
            assert line <= last, (line, last)
            before = object.__new__(Told)
            vars(before).update(values)
            then = Told(store.as_of(f"op:{line}"), erased)
            if erased:
                before.without(erased)
                then.without(erased)
            for name in vars(then):
                assert vars(then)[name] == vars(before)[name], (line, name)
    return len(seen)

os.mkdir(f"{folder}/base")
def prepare():
    memstore.open(f"{folder}/base/memory.db", embedder=None).close()
in_child(prepare)

chance = random.Random(kills)
killed = moments = acts = 0
for number in range(kills):
    if number % PER_LIFE == 0:
        seed = chance.randrange(2**32)
        path, notes = fresh("whole"), f"{folder}/notes"
        calls = in_child(lambda: counted(path, 2**60))
        in_child(lambda: check(path))
        acts += ACTS
        shutil.rmtree(os.path.dirname(path))
        os.remove(notes)
    path, notes = fresh("killed"), f"{folder}/notes"
    killed += in_child(lambda: counted(path, chance.randrange(calls))) is None
    moments += in_child(lambda: check(path))
    # Life goes on in the file that is left.
    seed += 1
    in_child(lambda: run_job(path))
    in_child(lambda: check(path))
    seed -= 1
    shutil.rmtree(os.path.dirname(path))
    os.remove(notes)
print(json.dumps({"killed": killed, "moments": moments}))
"""
)


def test_after_a_kill_every_moment_is_what_was_seen_then(
    tmp_path: Path,
    pytestconfig: pytest.Config,
    record_property: Callable[[str, object], None],
) -> None:
    counts = json.loads(run(PROGRAM, tmp_path, ROOT, pytestconfig.getoption("--kills")))
    assert counts["killed"] > 0
    assert counts["moments"] > 0
    record_property("counts", f"{counts['killed']} kills, {counts['moments']} moments compared")
