"""Cut connections, lost answers, contending writers: nothing is lost or doubled."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import count
from typing import Any

import pytest
from tests.support.embedders import WordEmbedder
from tests.support.postgres import psycopg
from tests.support.sent import watched

import memstore
from memstore import NewFact, Store
from memstore.database.postgres import engine, pools
from memstore.database.postgres.connection import Connection, Sent
from memstore.errors import Remedy, StorageError, StoreBusy

pytestmark = pytest.mark.process


@pytest.fixture
def store(url: str) -> Iterator[Store]:
    with memstore.open(url, embedder=None) as store:
        yield store


@pytest.fixture
def embedding(url: str) -> Iterator[Store]:
    """With vectors at once, an addition has nothing to read; the first ones learn the model."""
    with memstore.open(url, embedder=WordEmbedder()) as store:
        store.add("first", subject="s")
        store.add("second", subject="s")
        yield store


class Cutter:
    """Counts the statements of this process, and does something before or after one of them."""

    def __init__(self) -> None:
        self.before: Callable[[Any, str], None] = lambda *_: None
        self.after: Callable[[Any, str], None] = lambda *_: None

    @contextmanager
    def at_work(self) -> Iterator[None]:
        with watched(
            before=lambda connection, sent: [self.before(connection, one.text) for one in sent],
            after=lambda connection, sent: [self.after(connection, one.text) for one in sent],
        ):
            yield


@pytest.fixture
def cutter() -> Iterator[Cutter]:
    cutter = Cutter()
    with cutter.at_work():
        yield cutter


def cut(url: str, connection: Any) -> None:
    """End a connection on the server, as a restart does."""
    with psycopg.connect(url, autocommit=True) as other:
        other.cursor().connection.pgconn.exec_(
            f"SELECT pg_terminate_backend({connection.info.backend_pid}, 5000)".encode()
        )


def test_a_connection_cut_at_any_statement_stores_all_or_nothing(
    store: Store, url: str, cutter: Cutter
) -> None:
    cuts = 0
    for number in count():
        places = count()

        def before(connection: Any, _: str, places: Any = places, number: int = number) -> None:
            nonlocal cuts
            if next(places) == number:
                cuts += 1
                cut(url, connection)

        cutter.before = before
        reached = cuts
        try:
            fact = store.add(f"fact {number}", subject="cuts", idempotency_key=str(number))
            was_stored = True
        except StorageError:
            was_stored = False
        cutter.before = lambda *_: None
        held = [fact.content for fact in store.list(subject="cuts", limit=1000)]
        assert (f"fact {number}" in held) == was_stored
        again = store.add(f"fact {number}", subject="cuts", idempotency_key=str(number))
        assert again.content == f"fact {number}"
        if cuts == reached:
            break
    assert cuts > 5
    assert len(store.list(subject="cuts", limit=1000)) == number + 1
    assert store.ledger.verify() == []
    assert fact.id == again.id


def test_a_lost_answer_to_a_commit_is_looked_up(store: Store, cutter: Cutter) -> None:

    def lose(_: Any, text: str) -> None:
        if text == "COMMIT":
            cutter.after = lambda *_: None
            raise psycopg.OperationalError("the answer was lost")

    cutter.after = lose
    fact = store.add("kept", subject="s")
    assert store.get(fact.id).content == "kept"
    assert len(store.list()) == 1


def test_a_commit_that_did_not_arrive_is_an_error_and_stores_nothing(
    store: Store, url: str, cutter: Cutter
) -> None:

    def kill(connection: Any, text: str) -> None:
        if text == "COMMIT":
            cutter.before = lambda *_: None
            cut(url, connection)

    cutter.before = kill
    with pytest.raises(StorageError, match="nothing was stored") as caught:
        store.add("lost", subject="s")
    assert caught.value.remedy is Remedy.RETRY
    assert store.list() == []
    store.add("lost", subject="s")
    assert store.ledger.verify() == []


def test_a_number_that_another_transaction_got_confirms_nothing(
    store: Store, url: str, cutter: Cutter, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After a crash or a failover, the server gives the numbers of lost transactions again."""
    monkeypatch.setattr(engine, "OUTCOME", "SELECT 'committed' WHERE $1 <> ''")
    store.add("first", subject="s")
    store.delete(1)

    def kill(connection: Any, text: str) -> None:
        if text == "COMMIT":
            cutter.before = lambda *_: None
            cut(url, connection)
            with psycopg.connect(url, autocommit=True) as other:  # as a write of another process
                other.execute("UPDATE memstore_tenants SET version = version + 1")

    cutter.before = kill
    with pytest.raises(StorageError, match="nothing was stored"):
        store.add_many([NewFact(content="lost", subject="s"), NewFact(content="too", subject="s")])
    assert store.list() == []


JOINED = "WITH checked AS (UPDATE memstore_tenants"
"""How a write begins that is one statement."""


def test_a_fact_is_one_statement_and_others_writes_are_noticed(
    embedding: Store, url: str, cutter: Cutter
) -> None:
    sent: list[str] = []
    cutter.before = lambda _, text: sent.append(text)
    embedding.add("third", subject="s")
    assert [text.startswith(JOINED) for text in sent] == [True]
    with psycopg.connect(url, autocommit=True) as other:  # as a write of another process does
        other.execute("UPDATE memstore_tenants SET version = version + 1")
    sent.clear()
    embedding.add("fourth", subject="s")
    assert sent[0].startswith(JOINED)
    assert sent[-1] == "COMMIT"
    assert [fact.id for fact in embedding.list()] == [1, 2, 3, 4]
    assert embedding.ledger.verify() == []


def test_a_lost_answer_to_a_single_statement_is_looked_up(embedding: Store, cutter: Cutter) -> None:

    def lose(_: Any, text: str) -> None:
        if text.startswith(JOINED):
            cutter.after = lambda *_: None
            raise psycopg.OperationalError("the answer was lost")

    cutter.after = lose
    fact = embedding.add("kept", subject="s")
    assert embedding.get(fact.id).content == "kept"
    assert len(embedding.list()) == 3
    assert cutter.after is not lose
    assert embedding.ledger.verify() == []


def test_a_single_statement_that_arrives_late_stores_nothing(embedding: Store, url: str) -> None:
    """It was sent, and its connection was lost; the server reads it after it was looked up."""
    late: list[Sent] = []

    def lose(_: Any, sent: Sequence[Sent]) -> None:
        if sent[0].text.startswith(JOINED) and not late:
            late.extend(sent)
            raise psycopg.OperationalError("the connection was lost")

    with watched(before=lose), pytest.raises(StorageError, match="nothing was stored"):
        embedding.add("lost", subject="s")
    with Connection.connect(url, autocommit=True) as other:
        pools.configure(other)
        assert other.exchange.together(*late)[0].row == (0,)
    assert [fact.content for fact in embedding.list()] == ["first", "second"]
    embedding.add("third", subject="s")
    assert embedding.ledger.verify() == []


def in_threads(number: int, work: Callable[[int], object]) -> None:
    errors: list[BaseException] = []

    def run(place: int) -> None:
        try:
            work(place)
        except Exception as error:  # noqa: BLE001 - reported below
            errors.append(error)

    threads = [threading.Thread(target=run, args=(place,)) for place in range(number)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []


def test_contending_writers_keep_one_chain(url: str) -> None:
    stores = [memstore.open(url, embedder=None) for _ in range(3)]
    in_threads(
        6,
        lambda place: [
            stores[place % 3].add(f"fact {place}.{number}", subject="s") for number in range(5)
        ],
    )
    facts = stores[0].list(limit=1000)
    assert sorted(fact.id for fact in facts) == list(range(1, 31))
    assert stores[0].ledger.verify() == []
    for store in stores:
        store.close()


def test_one_key_given_by_many_at_once_makes_one_fact(url: str) -> None:
    with memstore.open(url, embedder=None) as store:
        ids: list[int] = []
        in_threads(5, lambda _: ids.append(store.add("same", subject="s", idempotency_key="k").id))
        assert len(set(ids)) == 1
        assert len(store.list()) == 1


def test_only_one_of_many_supersedes_a_fact(url: str) -> None:
    with memstore.open(url, embedder=None) as store:
        old = store.add("old", subject="s")
        won: list[int] = []

        def supersede(place: int) -> None:
            with suppress(memstore.Conflict):
                won.append(store.add(f"new {place}", subject="s", supersedes=old.id).id)

        in_threads(4, supersede)
        assert len(won) == 1
        assert [fact.id for fact in store.list()] == won


def test_namespaces_do_not_wait_for_each_other(url: str) -> None:
    with (
        memstore.open(url, namespace="a", embedder=None) as a,
        memstore.open(url, namespace="b", embedder=None, wait_seconds=0.01) as b,
    ):
        a.add("a", subject="s")
        with a.file.engine.write():
            b.add("b", subject="s")
            with (
                memstore.open(url, namespace="a", embedder=None, wait_seconds=0.01) as other,
                pytest.raises(StoreBusy),
            ):
                other.add("waits", subject="s")
        assert [fact.content for fact in b.list()] == ["b"]


def test_what_another_process_adds_is_found_by_the_next_search(url: str) -> None:
    with (
        memstore.open(url, embedder=None) as here,
        memstore.open(url, embedder=None) as there,
    ):
        there.add("the harbour freezes", subject="harbour")
        assert [hit.fact.content for hit in here.search("harbour")] == ["the harbour freezes"]
        there.add("the harbour thaws in May", subject="harbour")
        assert len(here.search("harbour")) == 2


LONG = "".join(map(chr, range(0x4E00, 0x4E00 + 333)))
"""A name of 999 bytes that does not compress."""


def test_names_too_long_for_an_index_are_refused(store: Store) -> None:
    with pytest.raises(StorageError, match="too long"):
        store.add("x", subject="s", user_id=f"1{LONG}", agent_id=f"2{LONG}", run_id=f"3{LONG}")
    store.add("stored", subject="s")
    assert [fact.content for fact in store.list()] == ["stored"]


def test_rows_sent_ahead_follow_what_they_refer_to(
    embedding: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memstore.database.postgres.transaction.AHEAD", 5)
    book = "tea with milk. " * 2000  # of some pieces, so they are sent amid an episode
    embedding.episodes.add_many({"content": book, "source": "book"} for _ in range(6))
    assert len(embedding.episodes.list()) == 6
    assert embedding.file.doctor() == []
