"""Statements that are sent together, over libpq's pipeline."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from tests.support import postgres
from tests.support.postgres import psycopg

from memstore.database.postgres import connection as module
from memstore.database.postgres import pools
from memstore.database.postgres.connection import Connection, Sent

pytestmark = pytest.mark.process

IDLE, INTRANS, INERROR = (
    psycopg.pq.TransactionStatus.IDLE,
    psycopg.pq.TransactionStatus.INTRANS,
    psycopg.pq.TransactionStatus.INERROR,
)


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with postgres.database() as found:
        yield found


@pytest.fixture
def connection(url: str) -> Iterator[Connection]:
    with Connection.connect(url, autocommit=True, prepare_threshold=None) as connection:
        pools.configure(connection)
        connection.prepare_after(1)
        yield connection


def add(number: int) -> Sent:
    return Sent(f"SELECT $1::bigint + {number}", [1])


def prepared(connection: Connection) -> list[str]:
    rows = connection.execute("SELECT statement FROM pg_prepared_statements ORDER BY prepare_time")
    return [text for (text,) in rows.fetchall()]


def test_answers_come_in_the_order_of_their_statements(connection: Connection) -> None:
    first, nothing, last = connection.together(
        add(1), Sent("SELECT 1 WHERE false"), Sent("SELECT 'ü' AS a, NULL AS b, $1::bytea", [b"x"])
    )
    assert (first.rows, first.row, first.count) == ([(2,)], (2,), 1)
    assert (nothing.rows, nothing.row, nothing.count) == ([], None, 0)
    assert (last.row, last.names) == (("ü", None, b"x"), ["a", "b", "bytea"])
    assert connection.run("SELECT $1::bytea", b"\0\n").row == (b"\0\n",)


def test_after_a_statement_that_fails_none_is_run(connection: Connection) -> None:
    connection.run("CREATE TEMP TABLE kept (id bigint)")
    with pytest.raises(psycopg.errors.DivisionByZero):
        connection.together(
            Sent("INSERT INTO kept VALUES (1)"),
            Sent("SELECT 1 / $1::bigint", [0]),
            Sent("INSERT INTO kept VALUES (2)"),
        )
    assert connection.info.transaction_status == IDLE
    assert connection.run("SELECT * FROM kept").rows == []


@pytest.mark.parametrize("value", ["a\0b", "\ud800", object()], ids=["nul", "surrogate", "type"])
def test_a_value_that_cannot_be_sent_keeps_all_from_being_sent(
    connection: Connection, value: object
) -> None:
    connection.run("CREATE TEMP TABLE kept (id bigint)")
    wrong = Sent("SELECT $1::text", [value])
    connection.exchange.send_last("SELECT 1")
    for statements in ([Sent("INSERT INTO kept VALUES (1)"), wrong], [wrong]):
        with pytest.raises((psycopg.Error, UnicodeEncodeError)):
            connection.together(*statements)
    assert connection.run("SELECT * FROM kept").rows == []
    assert connection.info.transaction_status == IDLE


def test_a_transaction_goes_over_several_round_trips(connection: Connection) -> None:
    connection.together(Sent("BEGIN"), add(1))
    assert connection.info.transaction_status == INTRANS
    with pytest.raises(psycopg.errors.UndefinedTable):
        connection.run("SELECT * FROM missing")
    assert connection.info.transaction_status == INERROR
    connection.run("ROLLBACK")
    assert connection.info.transaction_status == IDLE


def test_the_last_statement_is_answered_before_the_next(connection: Connection) -> None:
    connection.together(Sent("BEGIN"), add(1))
    connection.exchange.send_last("COMMIT")
    assert connection.run("SELECT 1").row == (1,)
    connection.exchange.send_last("SELECT 1 / 0")  # nobody waits for it, so nobody hears of it
    assert connection.together(add(1), add(2))[1].row == (3,)
    connection.exchange.send_last("SELECT 1 / 0")
    assert connection.execute("SELECT 2").fetchone() == (2,)
    connection.exchange.send_last("SELECT 1 / 0")
    connection.exchange.settle()
    assert connection.info.transaction_status == IDLE


def test_a_statement_is_prepared_at_its_second_use(connection: Connection) -> None:
    connection.run("SELECT $1::bigint", 1)
    assert prepared(connection) == []
    assert connection.run("SELECT $1::bigint", 2).row == (2,)
    assert connection.run("SELECT $1::bigint", 3).row == (3,)
    assert prepared(connection) == ["SELECT $1::bigint"]
    connection.prepare_after(None)
    for _ in range(3):
        connection.run("SELECT $1::text", "x")
    assert len(prepared(connection)) == 1


def test_one_plan_fits_all_values_of_what_names_its_rows(connection: Connection) -> None:
    mode = "SELECT current_setting('plan_cache_mode')"
    own = Sent(mode, is_keyed=False)
    answers = connection.together(Sent(mode), own, Sent(mode), Sent("BEGIN"), own, Sent(mode))
    modes = ["force_generic_plan", "auto", "force_generic_plan", "auto", "force_generic_plan"]
    assert [answer.rows[0][0] for answer in answers if answer.rows] == modes
    with pytest.raises(psycopg.errors.DivisionByZero):
        connection.together(Sent("SELECT 1 / 0", is_keyed=False))
    connection.run("ROLLBACK")
    assert connection.run(mode).row == ("force_generic_plan",)


def test_a_connection_that_prepares_nothing_plans_as_it_was_set_to(url: str) -> None:
    options = "-c plan_cache_mode=force_custom_plan"
    with Connection.connect(url, autocommit=True, options=options) as connection:
        connection.prepare_after(None)
        for is_keyed in (True, False, True):
            mode = Sent("SELECT current_setting('plan_cache_mode')", is_keyed=is_keyed)
            assert connection.together(mode)[0].row == ("force_custom_plan",)


def test_what_names_its_rows_is_planned_once(connection: Connection) -> None:
    connection.run("CREATE TABLE IF NOT EXISTS planned (id bigint)")
    for value in range(8):
        connection.together(
            Sent("SELECT 1 FROM planned WHERE id = $1", [value]),
            Sent("SELECT 2 FROM planned WHERE id < $1", [value], is_keyed=False),
        )
    plans = connection.execute(
        "SELECT generic_plans > 0, custom_plans > 0 FROM pg_prepared_statements"
        " WHERE statement LIKE '%planned%' ORDER BY statement"
    ).fetchall()
    assert plans[0] == (True, False)
    assert plans[1][1]


def test_those_that_were_used_long_ago_are_prepared_no_longer(
    connection: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MAX_PREPARED", 2)
    for number in (1, 1, 2, 2, 1, 3, 3):
        assert connection.run(*add(number)[:1], 1).row == (number + 1,)
    assert prepared(connection) == [add(1).text, add(3).text]
    assert connection.together(add(2), add(2), add(1))[1].row == (3,)


def test_one_that_could_not_be_prepared_is_tried_again(connection: Connection) -> None:
    text = "SELECT id FROM later"
    for _ in range(3):
        with pytest.raises(psycopg.errors.UndefinedTable):
            connection.run(text)
    connection.run("CREATE TEMP TABLE later (id bigint)")
    assert [connection.run(text).rows for _ in range(3)] == [[], [], []]


@pytest.mark.parametrize(
    "change", ["DEALLOCATE ALL", "ALTER TABLE altered ALTER id TYPE text"], ids=["gone", "changed"]
)
def test_what_the_server_no_longer_runs_is_prepared_anew(
    connection: Connection, change: str
) -> None:
    connection.run("CREATE TEMP TABLE altered (id bigint)")
    for _ in range(3):
        connection.run("SELECT * FROM altered")
    connection.run(change)
    with pytest.raises(psycopg.Error):
        connection.run("SELECT * FROM altered")
    assert connection.run("SELECT * FROM altered").rows == []


def test_a_lost_connection_is_an_error_and_nothing_is_waited_for(
    connection: Connection, url: str
) -> None:
    with psycopg.connect(url, autocommit=True) as other:
        other.execute("SELECT pg_terminate_backend(%s, 5000)", [connection.info.backend_pid])
    for _ in range(2):
        with pytest.raises(psycopg.OperationalError):
            connection.together(add(1), add(2))
    assert connection.closed
    connection.exchange.send_last("COMMIT")
    connection.exchange.settle()


def test_texts_that_fit_no_buffer_go_both_ways(connection: Connection) -> None:
    long = "x" * 3_000_000
    answers = connection.together(*[Sent("SELECT $1::text", [long])] * 4)
    assert [answer.row == (long,) for answer in answers] == [True] * 4


def test_an_interrupted_wait_cancels_the_statement(connection: Connection) -> None:
    def interrupt(*_: Any) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGUSR1, interrupt)
    main = threading.main_thread().ident
    assert main is not None
    timer = threading.Timer(0.2, signal.pthread_kill, (main, signal.SIGUSR1))
    try:
        timer.start()
        with pytest.raises(KeyboardInterrupt):
            connection.together(Sent("SELECT pg_sleep(60)"), add(1))
    finally:
        timer.cancel()
        signal.signal(signal.SIGUSR1, before)
    assert connection.info.transaction_status == IDLE
    assert connection.run("SELECT 1").row == (1,)
