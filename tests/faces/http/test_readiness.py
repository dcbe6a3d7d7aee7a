"""Liveness and readiness are apart; while the database is away, requests get 503 and come back."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

import anyio
import pytest
from tests.support.asgi import client
from tests.support.clock import ManualClock
from tests.support.raw import raw

import memstore
from memstore.domain import clock
from memstore.errors import StorageError
from memstore.faces.serving.opening import Opening
from memstore.faces.serving.readiness import FRESH_SECONDS, RETRY_SECONDS, Readiness
from memstore.faces.serving.stores import Stores


class Database:
    """Opens a store, or fails; counts the attempts."""

    def __init__(self, path: Path) -> None:
        self.path, self.is_away, self.openings = path, True, 0

    def open(self) -> memstore.Store:
        self.openings += 1
        if self.is_away:
            raise StorageError(f"cannot open {self.path}: secret-host refused")
        return memstore.open(self.path, embedder=None)


def test_requests_are_refused_while_the_database_is_away_and_served_when_it_is_back(
    path: Path,
) -> None:
    database = Database(path)

    async def ask() -> None:
        async with client(database.open) as server:
            assert await server.probes() == [200, 503]
            refused = await server.call("memory_status")
            assert refused.status_code == 503
            assert refused.headers["Retry-After"] == str(RETRY_SECONDS)
            for text in (refused.text, (await server.http.get("/readyz")).text):
                assert "secret-host" not in text
                assert str(path) not in text
            database.is_away = False
            assert (await server.call("memory_status")).status_code == 200
            assert await server.probes() == [200, 200]

    anyio.run(ask)


def test_probes_name_the_state_and_nothing_else(path: Path) -> None:
    async def ask() -> None:
        async with client(lambda: memstore.open(path, embedder=None)) as server:
            http = server.http
            assert (await http.get("/livez")).json() == {"status": "ok"}
            assert (await http.get("/readyz")).json() == {"status": "ok"}
            server.readiness.drain()
            drained = await http.get("/readyz", headers={"Host": "10.0.0.7:8765"})
            assert (drained.status_code, drained.json()) == (503, {"status": "draining"})
            assert drained.headers["Cache-Control"] == "no-store"
            assert (await http.get("/health")).status_code == 503
            assert (await http.get("/livez")).status_code == 200
            assert (await http.post("/readyz")).status_code == 405
            # Requests that a proxy sends before it has noticed are answered.
            assert (await server.call("memory_status")).status_code == 200

    anyio.run(ask)


def test_a_check_that_succeeded_is_believed_for_a_moment(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opening = Opening(lambda: memstore.open(path, embedder=None))
    readiness, looks = Readiness(Stores(opening)), []
    look = readiness._database_answers
    monkeypatch.setattr(readiness, "_database_answers", lambda: looks.append(1) or look())

    async def ask(times: int) -> set[str]:
        return {await readiness.state() for _ in range(times)}

    hands = ManualClock()
    with clock.use(hands):
        assert anyio.run(ask, 20) == {"ok"}
        assert len(looks) == 1
        hands.advance(FRESH_SECONDS)
        assert anyio.run(ask, 20) == {"ok"}
        assert len(looks) == 2
        readiness.note_failure()
        assert anyio.run(ask, 1) == {"ok"}
        assert len(looks) == 3
    opening.close()


def test_a_database_that_hangs_holds_one_thread_and_liveness_is_not_blocked(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memstore.faces.serving.readiness.CHECK_SECONDS", 0.05)
    monkeypatch.setattr("memstore.faces.http.gate.LOOK_SECONDS", 0.05)
    released = threading.Event()

    def hang() -> memstore.Store:
        released.wait(30)
        return memstore.open(path, embedder=None)

    async def ask() -> None:
        async with client(hang) as server:
            first = await server.call("memory_status")
            assert (first.status_code, "Retry-After" in first.headers) == (503, True)
            for _ in range(10):
                assert await server.probes() == [200, 503]
                assert (await server.call("memory_status")).status_code == 503
            waiting = [one for one in threading.enumerate() if "AnyIO" in one.name]
            assert len(waiting) <= 3  # one look-up, one check, and an idle one
            released.set()
            with anyio.fail_after(30):
                while (await server.call("memory_status")).status_code != 200:
                    await anyio.lowlevel.checkpoint()
            assert await server.probes() == [200, 200]

    try:
        anyio.run(ask)
    finally:
        released.set()


@pytest.mark.parametrize("lock", ["IMMEDIATE", "EXCLUSIVE"])
def test_a_writer_of_another_program_does_not_make_the_server_unready(
    path: Path, lock: str
) -> None:
    async def ask() -> None:
        async with client(lambda: memstore.open(path, embedder=None)) as server:
            assert await server.probes() == [200, 200]
            with raw(path, isolation_level=None) as other:
                other.execute(f"BEGIN {lock}")  # readers of a WAL go on
                server.readiness.note_failure()  # so that it is checked now
                assert await server.probes() == [200, 200]
                assert (await server.call("memory_list")).status_code == 200
                other.execute("ROLLBACK")

    anyio.run(ask)


def test_a_file_that_can_only_be_read_is_ready(
    path: Path, open_store: Callable[..., memstore.Store]
) -> None:
    open_store(embedder=None).close()

    async def ask() -> None:
        async with client(lambda: memstore.open(path, embedder=None, read_only=True)) as server:
            assert await server.probes() == [200, 200]
            assert (await server.call("memory_list")).status_code == 200
            stored = await server.call("memory_store", content="tea", subject="t")
            assert stored.json()["result"]["isError"]

    anyio.run(ask)
