"""A search begins with what is remembered of the tenant, and is done again if that has changed."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager

import pytest
from tests.support import postgres
from tests.support.postgres import psycopg, with_option
from tests.support.sent import asked, watched

import memstore
from memstore import Store
from memstore.database.engine import Outdated, Transaction
from memstore.database.postgres.connection import Sent
from memstore.database.postgres.engine import PostgresEngine
from memstore.database.postgres.tenant_cache import Backoff, Confidence
from memstore.database.tables import feeds, indexed
from memstore.search import searches
from memstore.search.index.index import EPISODES, FACTS

pytestmark = pytest.mark.process


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with postgres.database() as found:
        yield found


@pytest.fixture(autouse=True)
def facts_are_compared_later(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a search asks for depends on whether facts were compared since they were stored."""
    monkeypatch.setattr(searches, "PAUSE_SECONDS", 600)


@pytest.fixture
def stores(url: str, request: pytest.FixtureRequest) -> Iterator[tuple[Store, Store]]:
    """Two stores of one memory, which share no connections and remember nothing of each other."""
    apart = with_option(url, "application_name=other")
    name = request.node.name
    with (
        memstore.open(url, namespace=name, embedder=None) as one,
        memstore.open(apart, namespace=name, embedder=None) as other,
    ):
        one.add("the quay is closed", subject="quay")
        yield one, other


def texts(store: Store, query: str) -> list[str]:
    return [hit.fact.content for hit in store.search(query)]


def test_what_another_process_committed_is_found_by_the_next_search(
    stores: tuple[Store, Store],
) -> None:
    one, other = stores
    for number in range(8):
        assert one.search("quay")
        other.add(f"boat {number} is at the quay", subject="boats")
        assert f"boat {number} is at the quay" in texts(one, f"boat {number}")


@pytest.mark.model
def test_a_warm_search_takes_two_round_trips(url: str) -> None:
    with memstore.open(url, namespace="warm") as one:
        one.add("the quay is closed", subject="quay")
        one.add("the quay is open", subject="quay")
        one.search("quay")
        assert round_trips(one) == ["BEGIN ISOLA", "SELECT f.id"]


@pytest.mark.model
def test_a_search_after_changes_reads_them_in_its_first_round_trip(url: str) -> None:
    apart = with_option(url, "application_name=other")
    with memstore.open(url, namespace="fed") as one, memstore.open(apart, namespace="fed") as other:
        one.add("the quay is closed", subject="quay")
        one.add("a boat", subject="quay")
        one.search("quay")
        other.erase(other.add("the quay is wet", subject="quay").id)
        gone = one.add("the quay is dry", subject="quay")
        other.delete(gone.id)
        other.add("the quay is open", subject="quay")
        found = ["BEGIN ISOLA", "SELECT f.id", "SELECT f.id"]
        assert round_trips(one, number=3) == found


def test_opening_takes_four_round_trips(url: str) -> None:
    with memstore.open(url, namespace="again", embedder=None) as one:
        one.add("the quay is closed", subject="quay")
        with waited_for() as sent, memstore.open(url, namespace="again", embedder=None):
            opened = [*sent]
    assert opened == ["BEGIN ISOLA", "SELECT name", "BEGIN ISOLA", "BEGIN ISOLA"]


def test_what_changed_is_read_by_its_ids_or_by_the_feed(url: str) -> None:
    with memstore.open(url, namespace="since", embedder=None) as store:
        store.add("the quay is closed", subject="quay")
        store.erase(store.add("the quay is wet", subject="quay").id)
        store.episodes.add("somebody said that the quay is open", source="test")
        with store.file.engine.read() as transaction:
            for kind in (FACTS, EPISODES):
                newest = feeds.span(transaction, kind.feed).newest
                position = feeds.span(transaction, kind.feed).oldest - 1
                ids = kind.changes(transaction, position).rows
                since = indexed.RowsSince(position, 100)
                by_ids, by_feed = (
                    sorted(indexed.rows(transaction, kind.source, which)) for which in (ids, since)
                )
                assert by_ids == by_feed
                assert len(by_ids) == (2 if kind is FACTS else 1)
                assert not [*indexed.rows(transaction, kind.source, indexed.RowsSince(newest, 100))]
                assert (
                    len([*indexed.rows(transaction, kind.source, indexed.RowsSince(position, 1))])
                    == 1
                )


def test_changes_of_other_tenants_do_not_count(url: str) -> None:
    with memstore.open(url, namespace="quiet", embedder=None) as store:
        store.add("the quay is closed", subject="quay")
        store.search("quay")
        with psycopg.connect(url) as connection:
            connection.execute("ALTER TABLE memstore_fact_changes ALTER seq RESTART WITH 1000000")
        store.add("the quay is open", subject="quay")
        assert len(store.search("quay")) == 2
        assert [
            one.builds for one in store.file.searches.index_figures() if one.name == "facts"
        ] == [1]


def round_trips(store: Store, number: int = 2) -> list[str]:
    """Return what a search waits for, which finds so many facts."""
    with waited_for() as sent:
        assert len(texts(store, "quay")) == number
    return sent


@contextmanager
def waited_for() -> Iterator[list[str]]:
    """Yield what begins each round trip of this thread: others compare facts meanwhile."""
    sent: list[str] = []
    waiting = threading.get_ident()

    def note(_: object, statements: Sequence[Sent]) -> None:
        if threading.get_ident() == waiting:
            sent.append(asked(statements[0].text)[:11])

    with watched(before=note):
        yield sent


def test_an_error_of_a_wrong_guess_is_not_told(url: str, stores: tuple[Store, Store]) -> None:
    _, other = stores
    with closing(PostgresEngine(url, other.namespace)) as engine:
        with engine.read() as transaction:
            assert transaction.last_write is not None
        other.add("the quay is open", subject="quay")
        with pytest.raises(Outdated), engine.read(may_repeat=True) as guess:
            raise_relying(guess)
        with engine.read() as transaction:
            assert transaction.scalar("SELECT count(*) FROM memstore_facts") == 2
        with pytest.raises(ValueError, match="sound"), engine.read(may_repeat=True) as guess:
            raise_after(guess)


def raise_relying(transaction: Transaction) -> None:
    raise ValueError(f"of what was remembered: {transaction.last_write}")


def raise_after(transaction: Transaction) -> None:
    transaction.scalar("SELECT count(*) FROM memstore_facts")
    raise ValueError("sound")


def test_after_each_wrong_guess_twice_as_many_are_left_out() -> None:
    guessing = Backoff()
    assert guessing.pays()
    for missed in range(1, 4):
        guessing.note(was_right=False)
        assert [guessing.pays() for _ in range(2**missed)] == [False] * (2**missed - 1) + [True]
    guessing.note(was_right=True)
    assert guessing.pays()


def test_after_each_wrong_guess_twice_as_many_have_to_be_right() -> None:
    streak = Confidence()
    assert streak.pays()
    for needed in (1, 3, 7):
        streak.note(was_right=False)
        assert [noted(streak) for _ in range(needed)] == [False] * (needed - 1) + [True]
    for _ in range(14 - 7):
        streak.note(was_right=True)
    streak.note(was_right=False)
    assert [noted(streak) for _ in range(7)] == [False] * 6 + [True]


def noted(streak: Confidence) -> bool:
    streak.note(was_right=True)
    return streak.pays()
