"""The calls of one client over HTTP are a run of the journal until it pauses."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from tests.support.clock import ManualClock
from tests.support.raw import sql

from memstore import Store
from memstore.domain import clock
from memstore.faces.http.callers import MAX_RUNS, PAUSE, Runs
from memstore.faces.mcp.clients import Through

START = datetime(2026, 3, 1, tzinfo=UTC)


class Source:
    def __init__(self, store: Store) -> None:
        self._store = store

    def start(self) -> None: ...

    def store(self) -> Store:
        return self._store


def test_a_client_keeps_its_run_until_it_pauses() -> None:
    runs, second = Runs(), timedelta(seconds=1)
    with clock.use(ManualClock(START)):
        first = runs.of("t", "codex")
        assert runs.of("t", "cursor") != first
        assert runs.of("u", "codex") != first
        assert runs.of(None, None) == runs.of(None, None)
    with clock.use(ManualClock(START + PAUSE - second)):
        assert runs.of("t", "codex") == first
    with clock.use(ManualClock(START + 2 * PAUSE - 2 * second)):
        assert runs.of("t", "codex") == first
    with clock.use(ManualClock(START + 3 * PAUSE)):
        assert runs.of("t", "codex") != first


def test_only_so_many_clients_are_remembered() -> None:
    runs = Runs()
    first = runs.of("0", None)
    for n in range(1, MAX_RUNS + 1):
        runs.of(str(n), None)
    assert runs.of("0", None) != first


def test_changes_of_a_client_are_journalled_in_its_run(store: Store) -> None:
    runs = [clock.new_run(), clock.new_run()]
    for run in runs:
        through = Through(Source(store), "codex", run).store()
        through.add(f"fact of {run.hex()}", subject="x")
        assert through.ledger.journal(through.list()[-1].id)[0].run == clock.uuid_text(run)
    own = sql(
        store.path, "SELECT run, source FROM memstore_journal GROUP BY run, source ORDER BY min(id)"
    )
    assert own == [(run, "codex") for run in runs]
