"""Writes of several threads: in turn, and committed together."""

from __future__ import annotations

import linecache
import os
import sqlite3
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from types import FrameType

import apsw
import pytest
from tests.support.clock import wait_until
from tests.support.raw import raw

from memstore import NotFound, Store
from memstore.database.engine import Transaction
from memstore.database.sqlite import writer
from memstore.database.sqlite.engine import SqliteEngine
from memstore.database.sqlite.together import write
from memstore.database.sqlite.writer import WriteQueue, WriterTurn
from memstore.database.writes import Insert
from memstore.errors import FileMissing, StorageError, StoreBusy

Body = Callable[[Transaction], object]


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep a group open for as long as a test needs to fill it."""
    monkeypatch.setattr(writer, "GROUP_SECONDS", 60.0)


@pytest.fixture
def engine(path: Path) -> Iterator[SqliteEngine]:
    engine = SqliteEngine(path)
    with engine.write() as transaction:
        transaction.execute("CREATE TABLE items (name TEXT UNIQUE)")
        transaction.execute(
            "CREATE TABLE parts (item TEXT REFERENCES items(name) DEFERRABLE INITIALLY DEFERRED)"
        )
    yield engine
    engine.close()


def adding(name: str) -> Body:
    return lambda transaction: transaction.execute(f"INSERT INTO items VALUES ('{name}')")


def failing(transaction: Transaction) -> None:
    adding("undone")(transaction)
    raise KeyError("a fault of one member")


def dangling(transaction: Transaction) -> None:
    """Make a change that only the commit refuses."""
    transaction.execute("INSERT INTO parts VALUES ('of nothing')")


def names(path: Path) -> list[str]:
    with raw(path) as there:
        return [name for (name,) in there.execute("SELECT name FROM items ORDER BY rowid")]


def together(
    engine: SqliteEngine,
    *bodies: Body,
    before: Callable[[], object] = lambda: None,
    starting: Callable[[int], object] = lambda place: None,
) -> list[BaseException | None]:
    """Run bodies in separate threads so that they share one transaction, in this order.

    Args:
        before: called while the first waits for the others.
        starting: called in each thread, with its place.
    """
    outcomes: list[BaseException | None] = [None] * len(bodies)
    queue = engine._writer._queue._waiting
    begun, queued = threading.Event(), threading.Event()
    ended = [threading.Event() for _ in bodies]

    def run(place: int) -> None:
        try:
            starting(place)
            with engine.write() as transaction:
                if place == 0:
                    begun.set()
                    assert queued.wait(30)
                    before()
                bodies[place](transaction)
        except (StorageError, KeyError, KeyboardInterrupt) as error:
            outcomes[place] = error
        finally:
            sys.settrace(None)
            ended[place].set()
            begun.set()

    def is_waiting(place: int) -> bool:
        return ended[0].is_set() or len(queue) + sum(e.is_set() for e in ended[1:]) == place

    threads = [threading.Thread(target=run, args=(place,)) for place in range(len(bodies))]
    for place, thread in enumerate(threads):
        thread.start()
        assert begun.wait(30)
        assert wait_until(lambda place=place: is_waiting(place))  # type: ignore[misc]
    queued.set()
    for thread in threads:
        thread.join(30)
        assert not thread.is_alive()
    return outcomes


def commits(engine: SqliteEngine) -> list[str]:
    """Return a list that collects the statements run from now on."""
    told: list[str] = []
    engine._writer.connection.set_exec_trace(lambda _, sql, __: told.append(sql) or True)
    return told


def test_waiting_writes_share_a_commit(engine: SqliteEngine, path: Path) -> None:
    told = commits(engine)
    assert together(engine, adding("one"), adding("two"), adding("three")) == [None] * 3
    assert told.count("COMMIT") == 1
    assert names(path) == ["one", "two", "three"]


def test_nothing_is_acknowledged_before_the_shared_commit(engine: SqliteEngine, path: Path) -> None:
    seen: list[object] = []
    first = threading.Event()

    def second(transaction: Transaction) -> None:
        adding("two")(transaction)
        seen.append((first.is_set(), names(path)))

    def run() -> None:
        with engine.write() as transaction:
            assert wait_until(lambda: len(engine._writer._queue._waiting) == 1)
            adding("one")(transaction)
        first.set()
        seen.append(names(path))

    thread = threading.Thread(target=run)
    with ExitStack() as stack:
        stack.callback(thread.join, 30)
        thread.start()
        assert wait_until(lambda: engine._writer._queue._holder is not None)
        with engine.write() as transaction:
            second(transaction)
    assert seen == [(False, []), ["one", "two"]]


@pytest.mark.parametrize("place", range(3))
def test_a_failing_member_rolls_back_only_its_own_changes(
    engine: SqliteEngine, path: Path, place: int
) -> None:
    bodies = [adding("one"), adding("two"), adding("three")]
    bodies[place] = failing
    outcomes = together(engine, *bodies)
    assert isinstance(outcomes[place], KeyError)
    assert [outcome for outcome in outcomes if outcome is not outcomes[place]] == [None, None]
    assert names(path) == [n for at, n in enumerate(["one", "two", "three"]) if at != place]


@pytest.mark.parametrize("place", range(3))
def test_a_failed_commit_fails_every_member(engine: SqliteEngine, path: Path, place: int) -> None:
    bodies = [adding("one"), adding("two"), adding("three")]
    bodies[place] = dangling
    outcomes = together(engine, *bodies)
    assert [type(outcome) for outcome in outcomes] == [StorageError] * 3
    assert len({id(outcome) for outcome in outcomes}) == 3  # each has its own traceback
    assert names(path) == []
    with engine.write() as transaction:
        adding("after")(transaction)
    assert names(path) == ["after"]


def test_a_rollback_by_sqlite_fails_every_member(engine: SqliteEngine, path: Path) -> None:
    def given_up(transaction: Transaction) -> None:
        adding("two")(transaction)
        transaction.execute("INSERT OR ROLLBACK INTO items VALUES ('two')")

    outcomes = together(engine, adding("one"), given_up)
    assert [type(outcome) for outcome in outcomes] == [StorageError] * 2
    assert names(path) == []


@pytest.mark.skipif(sys.platform == "win32", reason="an open file is not renamed there")
def test_a_replaced_file_fails_every_member(engine: SqliteEngine, path: Path) -> None:
    outcomes = together(
        engine, adding("one"), adding("two"), before=lambda: path.rename(path.with_name("moved"))
    )
    assert [type(outcome) for outcome in outcomes] == [FileMissing] * 2


def test_write_without_link_checks_gets_its_own_transaction(engine: SqliteEngine) -> None:
    queue = engine._writer._queue._waiting
    told = commits(engine)

    def alone() -> None:
        with engine.write(check_links=False) as transaction:
            transaction.execute("INSERT INTO parts VALUES ('of nothing')")

    thread = threading.Thread(target=alone)
    with engine.write() as transaction:
        thread.start()
        assert wait_until(lambda: len(queue) == 1)
        adding("one")(transaction)
    thread.join(30)
    assert told.count("COMMIT") == 2
    with pytest.raises(StorageError), engine.write() as transaction:
        dangling(transaction)


def test_group_ends_within_its_time_limit(
    engine: SqliteEngine, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writer, "GROUP_SECONDS", 0.0)
    told = commits(engine)
    assert together(engine, adding("one"), adding("two")) == [None, None]
    assert told.count("COMMIT") == 2


def test_a_write_that_waits_too_long_leaves_the_queue(engine: SqliteEngine, path: Path) -> None:
    with engine.write() as transaction:
        adding("one")(transaction)
        with pytest.raises(StoreBusy), engine.write(wait_seconds=0.01):
            pass
        with pytest.raises(StoreBusy), engine.write(wait_seconds=0):
            pass
    assert names(path) == ["one"]


def test_busy_process_is_waited_for_and_then_reported(engine: SqliteEngine, path: Path) -> None:
    with raw(path, isolation_level=None) as there:
        there.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreBusy), engine.write(wait_seconds=0.01):
            pass
        there.execute("ROLLBACK")
        with engine.write() as transaction:
            adding("one")(transaction)
        with pytest.raises(sqlite3.IntegrityError):
            there.execute("INSERT INTO items VALUES ('one')")


def test_turns_come_in_the_order_they_were_asked_for() -> None:
    queue, first = WriteQueue(), WriterTurn(shares=True)
    assert queue.take(first, 0)
    order: list[int] = []

    def take(number: int) -> None:
        turn = WriterTurn(shares=True)
        assert queue.take(turn, 30)
        order.append(number)
        queue.give_back(turn)

    threads = [threading.Thread(target=take, args=(number,)) for number in range(5)]
    for number, thread in enumerate(threads, 1):
        thread.start()
        assert wait_until(lambda number=number: len(queue._waiting) == number)  # type: ignore[misc]
    queue.give_back(first)
    for thread in threads:
        thread.join(30)
    assert order == list(range(5))
    assert queue.take(WriterTurn(shares=False), 0)


def test_turn_is_handed_over_only_to_sharing_threads() -> None:
    queue, first, second = WriteQueue(), WriterTurn(shares=True), WriterTurn(shares=False)
    assert not queue.hand_over()
    assert queue.take(first, 0)
    second.thread = -1
    thread = threading.Thread(target=queue.take, args=(second, 30))
    thread.start()
    assert wait_until(lambda: len(queue._waiting) == 1)
    assert not queue.hand_over()
    queue.give_back(first)
    thread.join(30)
    assert queue.has(second)


def test_turn_can_be_released_repeatedly() -> None:
    queue, first, second = WriteQueue(), WriterTurn(shares=True), WriterTurn(shares=True)
    assert queue.take(first, 0)
    queue.give_back(first)
    assert queue.take(second, 0)
    queue.give_back(first)
    assert queue.has(second)


def test_a_nested_write_in_the_same_thread_is_refused_at_once(
    engine: SqliteEngine, path: Path
) -> None:
    uses: list[Callable[[], object]] = [
        lambda: engine.write(wait_seconds=1000).__enter__(),
        engine.close,
        engine.compact,
    ]
    with engine.write() as transaction:
        adding("one")(transaction)
        for use in uses:
            with pytest.raises(StoreBusy, match="this thread is in the middle of a write"):
                use()
    assert names(path) == ["one"]


class Interruption:
    """Ctrl-C before the n-th line that a thread runs in the modules of the writer."""

    def __init__(self, line: int) -> None:
        self.left = line

    def __call__(self, frame: FrameType, event: str, _: object) -> Interruption | None:
        if Path(frame.f_code.co_filename).name not in ("writer.py", "write_queue.py"):
            return None
        line = linecache.getline(frame.f_code.co_filename, frame.f_lineno)
        # No signal comes right before a block begins or its lock is released.
        if event == "line" and self.left >= 0 and not line.lstrip().startswith(("with ", "try:")):
            self.left -= 1
            if self.left < 0:
                raise KeyboardInterrupt
        return self


@pytest.mark.slow
@pytest.mark.parametrize("place", range(3))
def test_an_interruption_at_any_line_leaves_no_thread_waiting(
    engine: SqliteEngine, path: Path, place: int
) -> None:
    acknowledged: list[str] = []
    for line in range(1000):
        interruption = Interruption(line)

        def body(number: int, interruption: Interruption = interruption, line: int = line) -> Body:
            return adding(f"{line}.{number}")

        def tracing(number: int, interruption: Interruption = interruption) -> None:
            if number == place:
                sys.settrace(interruption)

        outcomes = together(engine, *map(body, range(3)), starting=tracing)
        for number, outcome in enumerate(outcomes):
            if outcome is None:
                acknowledged.append(f"{line}.{number}")
            else:
                assert isinstance(outcome, KeyboardInterrupt | StorageError)
        if interruption.left >= 0:
            break
        assert isinstance(outcomes[place], KeyboardInterrupt)
        with engine.write(wait_seconds=0):
            pass
    assert interruption.left >= 0
    assert line > 30
    assert set(acknowledged) <= set(names(path))


@pytest.mark.process
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_child_forked_during_a_write_does_not_block(engine: SqliteEngine) -> None:
    begun, ended = threading.Event(), threading.Event()

    def write() -> None:
        with engine.write():
            begun.set()
            assert ended.wait(30)

    thread = threading.Thread(target=write)
    thread.start()
    assert begun.wait(30)
    child = os.fork()
    if child == 0:
        refused = 0
        for use in (engine.compact, engine.write, lambda: engine.read().__enter__()):
            try:
                use()
            except StorageError:
                refused += 1
        engine.close()
        os._exit(refused)
    _, status = os.waitpid(child, 0)
    ended.set()
    thread.join(30)
    assert os.waitstatus_to_exitcode(status) == 3


def test_many_rows_that_are_indexed_are_inserted_together(store: Store) -> None:
    engine = store.file.engine
    assert isinstance(engine, SqliteEngine)
    store.add("first", subject="a")
    told = commits(engine)
    added = store.add_many([{"content": f"tea {n}", "subject": "a"} for n in range(150)])
    insertions = [sql for sql in told if sql.startswith("INSERT INTO memstore_facts (")]
    assert [sql.count("(?") for sql in insertions] == [64, 64, 22]
    assert [store.get(fact.id) for fact in added] == added
    assert store.file.doctor(deep=True) == []
    told.clear()
    store.add("one more", subject="a")
    (single,) = [sql for sql in told if sql.startswith("INSERT INTO memstore_facts (")]
    assert ", :content, " in single


def test_of_rows_inserted_together_none_is_kept_if_one_fails(store: Store) -> None:
    facts = [{"content": f"tea {n}", "subject": "a"} for n in range(100)]
    with pytest.raises(NotFound):
        store.add_many([*facts, {"content": "last", "subject": "a", "supersedes": 10**6}])
    assert store.count() == 0
    assert store.search("tea") == []
    assert store.file.doctor(deep=True) == []


def test_rows_that_no_statement_can_hold_together_are_inserted_one_by_one() -> None:
    connection = apsw.Connection(":memory:")
    connection.execute("CREATE TABLE t (a); CREATE TABLE g (id); INSERT INTO g VALUES (1), (2)")
    write(connection, Insert("t", ("a",), ("id",), "g"), [()] * 64)
    assert connection.execute("SELECT count(*), sum(a) FROM t").fetchone() == (128, 192)
    write(connection, Insert("g", ("id",), ("id + :n",), "g"), [(2,)] * 3)
    assert connection.execute("SELECT count(*), max(id) FROM g").fetchone() == (16, 8)
