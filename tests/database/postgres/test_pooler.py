"""Through PgBouncer in transaction mode, a client's next transaction has another connection."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from tests.support.programs import Letters

pgbouncer = pytest.importorskip("tests.support.pgbouncer", reason="needs psycopg")

from tests.support import postgres  # noqa: E402

import memstore  # noqa: E402
from memstore.database.postgres import checks  # noqa: E402
from memstore.database.postgres.address import DatabaseAddress  # noqa: E402
from memstore.store import servers  # noqa: E402

pytestmark = pytest.mark.process

few = pgbouncer.few

CLIENTS = 4
"""Twice as many as there are connections to the server."""


@pytest.fixture
def pooled(url: str) -> Iterator[str]:
    """The address of a database through PgBouncer."""
    with pgbouncer.before(url, size=CLIENTS // 2) as (host, port):
        yield pgbouncer.through(url, host, port)


def test_clients_share_connections(pooled: str) -> None:
    def work(number: int) -> None:
        # A pool of its own for each: the URLs differ.
        own = f"{pooled}&application_name=client{number}"
        with memstore.open(own, namespace=f"of {number % 2}", embedder=Letters()) as store:
            for round_ in range(10):
                name = f"c{number}r{round_}"
                fact = store.add(f"kept {name}", subject="s", idempotency_key=name)
                store.add(f"newer {name}", subject="s", supersedes=fact.id)
                store.episodes.add(f"said {name}", source="chat")
                found = {hit.fact.content for hit in store.search(f"newer {name}", limit=100)}
                assert f"newer {name}" in found
            store.add_many([{"content": f"many {number} {n}", "subject": "m"} for n in range(50)])

    with ThreadPoolExecutor(CLIENTS) as threads:
        list(threads.map(work, range(CLIENTS)))
    for namespace in ("of 0", "of 1"):
        with memstore.open(pooled, namespace=namespace, embedder=Letters()) as store:
            assert store.status().active == CLIENTS // 2 * 60
            assert store.ledger.verify() == []
            assert store.file.doctor(deep=True) == []


def test_threads_that_wait_for_a_connection_or_an_index_do_not_deadlock(url: str, few: str) -> None:
    with (
        memstore.open(url, embedder=Letters()) as other,
        memstore.open(few, embedder=Letters()) as store,
        ThreadPoolExecutor(CLIENTS + 2) as threads,
    ):
        other.add_many([{"content": f"thing {n}", "subject": "s"} for n in range(100)])

        def work(number: int) -> None:
            for turn in range(20):
                store.search(f"thing {number}")
                if turn % 5 == number:
                    store.add(f"kept {number} {turn}", subject="s")
                    store.episodes.add(f"said {number} {turn}", source="chat")
                    store.episodes.search("said")

        def write() -> None:
            for turn in range(60):
                other.add(f"new {turn}", subject="s")

        waiting = [threads.submit(work, number) for number in range(CLIENTS + 1)]
        waiting.append(threads.submit(write))
        for one in waiting:
            one.result(100)
        assert store.status().active == 100 + (CLIENTS + 1) * 4 + 60
        assert len(store.search("kept", limit=100)) >= (CLIENTS + 1) * 4
        assert store.file.doctor(deep=True) == []


def test_check_names_it(pooled: str) -> None:
    memstore.open(pooled, embedder=None).close()
    for text, state in ((pooled, "right"), (pooled.partition("?")[0], "weak")):
        (found,) = (one for one in checks.run(DatabaseAddress(text)) if one.name == "pooler")
        assert (found.state, "PgBouncer" in found.text) == (state, True)


def test_row_security_holds_on_a_shared_connection() -> None:
    with postgres.database() as url, postgres.a_role(url) as (owner, app):
        servers.init(url, roles=(owner, app), row_level_security=True)
        with pgbouncer.before(url, size=1, users=[app]) as (host, port):
            pooled = pgbouncer.through(url, host, port, app)
            with (
                memstore.open(pooled, namespace="a", embedder=None) as a,
                memstore.open(f"{pooled}&application_name=b", namespace="b", embedder=None) as b,
            ):
                for number in range(6):  # from the fourth on, without a transaction block
                    a.add(f"a {number}", subject="s")
                    b.add(f"b {number}", subject="s")
                for store in (a, b):
                    own = {f"{store.namespace} {number}" for number in range(6)}
                    assert {fact.content for fact in store.list()} == own
                    assert store.ledger.verify() == []
