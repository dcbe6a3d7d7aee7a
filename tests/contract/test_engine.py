"""What every engine does: transactions, locks, snapshots, copies."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from memstore.database.engine import Engine, Transaction, waiting_at_most
from memstore.database.migrations import VERSION, migrate, usable_version
from memstore.database.tables import generations
from memstore.database.writes import Delete, Insert, Update
from memstore.errors import Remedy, StorageError, StoreBusy, StoreClosed

OpenEngine = Callable[[], Engine]

NAMED = Insert("items", ("name",))


def add(transaction: Transaction, *names: str) -> None:
    for name in names:
        transaction.run(NAMED, {"name": name})


def names(engine: Engine) -> list[str]:
    with engine.read() as transaction:
        return names_in(transaction)


def names_in(transaction: Transaction) -> list[str]:
    return [name for (name,) in transaction.rows("SELECT name FROM items ORDER BY id")]


def test_a_write_is_committed_at_the_end(engine: Engine, open_engine: OpenEngine) -> None:
    other = open_engine()
    with engine.write() as transaction:
        add(transaction, "one")
        assert names(other) == []
    assert names(other) == ["one"]


def test_a_write_is_rolled_back_on_an_error(engine: Engine) -> None:
    def fail() -> None:
        with engine.write() as transaction:
            add(transaction, "one")
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    assert names(engine) == []
    with engine.write() as transaction:
        add(transaction, "two")
    assert names(engine) == ["two"]


def test_work_is_performed_in_a_write_and_its_result_returned(
    engine: Engine, open_engine: OpenEngine
) -> None:
    def work(transaction: Transaction) -> int:
        add(transaction, "one")
        return transaction.scalar("SELECT count(*) FROM items")

    assert engine.perform(work) == 1
    assert names(open_engine()) == ["one"]
    assert engine.perform(work) == 2

    def fail(transaction: Transaction) -> None:
        add(transaction, "two")
        raise KeyError

    with pytest.raises(KeyError):
        engine.perform(fail)
    assert names(engine) == ["one", "one"]


def test_a_write_is_rolled_back_when_a_statement_fails(engine: Engine) -> None:
    with pytest.raises(StorageError), engine.write() as transaction:
        transaction.execute("INSERT INTO items (name) SELECT 'one' UNION ALL SELECT NULL")
    assert names(engine) == []


def test_a_transaction_reads_what_it_wrote(engine: Engine) -> None:
    with engine.write() as transaction:
        add(transaction, "one", "two")
        assert transaction.scalar("SELECT count(*) FROM items") == 2


def test_a_read_sees_one_snapshot(engine: Engine, open_engine: OpenEngine) -> None:
    other = open_engine()
    with engine.read() as transaction:
        assert transaction.scalar("SELECT count(*) FROM items") == 0
        with other.write() as writing:
            add(writing, "one")
        assert transaction.scalar("SELECT count(*) FROM items") == 0
    assert names(engine) == ["one"]


def test_a_read_does_not_wait_for_a_writer(engine: Engine, open_engine: OpenEngine) -> None:
    other = open_engine()
    with engine.write() as transaction:
        add(transaction, "one")
        assert names(other) == []
        assert names(engine) == []


@pytest.mark.parametrize("same", [True, False])
def test_second_writer_gets_store_busy(engine: Engine, open_engine: OpenEngine, same: bool) -> None:
    other = engine if same else open_engine()
    with engine.write() as transaction:
        add(transaction, "one")
        with pytest.raises(StoreBusy) as caught, other.write(wait_seconds=0):
            pytest.fail("two writers at once")
    assert caught.value.remedy is Remedy.WAIT
    with other.write(wait_seconds=0) as transaction:
        add(transaction, "two")
    assert names(engine) == ["one", "two"]


def test_a_thread_can_wait_less_than_its_store_was_opened_to(
    engine: Engine, open_engine: OpenEngine
) -> None:
    other = open_engine()
    with engine.write() as transaction:
        add(transaction, "one")
        with waiting_at_most(0):
            with pytest.raises(StoreBusy), other.write():
                pytest.fail("two writers at once")
            with pytest.raises(StoreBusy):
                other.perform(lambda writing: add(writing, "two"))
            assert names(other) == []
    other.perform(lambda writing: add(writing, "two"))
    assert names(engine) == ["one", "two"]


def test_rows_yields_every_row(engine: Engine) -> None:
    with engine.write() as transaction:
        add(transaction, "one", "two")
        rows = transaction.rows("SELECT id, name FROM items ORDER BY id")
        assert list(rows) == [(1, "one"), (2, "two")]


def test_one_returns_the_first_row_or_none(engine: Engine) -> None:
    with engine.write() as transaction:
        assert transaction.one("SELECT name FROM items ORDER BY id") is None
        add(transaction, "one", "two")
        assert transaction.one("SELECT name FROM items ORDER BY id") == ("one",)


def test_a_write_returns_rows_and_takes_effect(engine: Engine) -> None:
    with engine.write() as transaction:
        form = Insert("items", ("name",), returning="id, name")
        assert transaction.returned(form, {"name": "one"}) == [(1, "one")]
    assert names(engine) == ["one"]


def test_run_returns_how_many_rows_changed(engine: Engine) -> None:
    with engine.write() as transaction:
        add(transaction, "one", "two")
        assert transaction.run(Update("items", {"data": "name"})) == 2
        assert transaction.run(Delete("items", "id = :id"), {"id": 3}) == 0


@pytest.mark.parametrize(
    ("sql", "number"),
    [
        ("SELECT 7", 7),
        ("SELECT max(id) FROM items", 0),
        ("SELECT id FROM items", 0),
    ],
)
def test_scalar_is_zero_without_a_number(engine: Engine, sql: str, number: int) -> None:
    with engine.read() as transaction:
        assert transaction.scalar(sql) == number


def test_ints_returns_the_first_column(engine: Engine) -> None:
    with engine.write() as transaction:
        add(transaction, "one", "two")
        assert transaction.ints("SELECT id, name FROM items ORDER BY id DESC") == [2, 1]


def test_a_statement_need_not_name_every_parameter(engine: Engine) -> None:
    with engine.write() as transaction:
        add(transaction, "one")
        sql = "SELECT name FROM items WHERE id = :id"
        assert transaction.one(sql, {"id": 1, "namespace": "work"}) == ("one",)


@pytest.mark.parametrize("value", ["", "O'Neil :name %s %(name)s", "\u4f60\u597d", None])
def test_text_round_trips_unchanged(engine: Engine, value: str | None) -> None:
    with engine.write() as transaction:
        form = Insert("items", ("name", "data"), ("':x'", ":data"), returning="name, data")
        rows = transaction.returned(form, {"data": value})
    assert rows == [(":x", value)]


def test_foreign_keys_are_enforced_unless_checks_are_off(engine: Engine) -> None:
    dangling = Insert("parts", ("item_id",), ("99",))
    with pytest.raises(StorageError), engine.write() as transaction:
        transaction.run(dangling)
    with engine.write(check_links=False) as transaction:
        transaction.run(dangling)
    with pytest.raises(StorageError), engine.write() as transaction:
        transaction.run(dangling)


def test_invalid_statement_is_an_error(engine: Engine) -> None:
    with engine.read() as transaction, pytest.raises(StorageError, match="nonsense"):
        transaction.one("SELECT nonsense FROM items")


def test_closed_engine_raises(engine: Engine) -> None:
    engine.close()
    engine.close()
    with pytest.raises(StoreClosed) as caught, engine.read():
        pytest.fail("read after closing")
    assert caught.value.remedy is Remedy.OPEN_AGAIN
    with pytest.raises(StoreClosed), engine.write():
        pytest.fail("written after closing")


def test_writes_survive_reopening(engine: Engine, open_engine: OpenEngine) -> None:
    with engine.write() as transaction:
        add(transaction, "one")
    engine.close()
    assert names(open_engine()) == ["one"]


def test_dangling_references_are_found(engine: Engine) -> None:
    with engine.write(check_links=False) as transaction:
        add(transaction, "one")
        transaction.execute("INSERT INTO parts (item_id) VALUES (1), (99)")
    with engine.read() as transaction:
        assert engine.dangling_rows(transaction) == {"parts": [2]}
        assert engine.damage(transaction) == []


def test_an_empty_database_gets_the_latest_schema_once(open_engine: OpenEngine) -> None:
    first, second = open_engine(), open_engine()
    assert migrate(first) == migrate(second) == migrate(first) == VERSION
    with second.read() as transaction:
        assert usable_version(transaction, second.path) == VERSION
        known = {name for (name,) in transaction.rows(transaction.dialect.tables)}
        assert {"memstore_facts", "memstore_episodes", "memstore_journal"} <= known
        assert generations.active(transaction).model is None
        assert second.damage(transaction) == []
        assert second.dangling_rows(transaction) == {}


def listed(transaction: Transaction, values: Sequence[int] | Sequence[str], column: str) -> int:
    sql = f"SELECT count(*) FROM items WHERE {column} IN {transaction.dialect.listed('values')}"
    return transaction.scalar(sql, {"values": values})


def test_a_list_is_one_parameter(engine: Engine) -> None:
    with engine.write() as transaction:
        add(transaction, *(str(number) for number in range(2000)))
        assert listed(transaction, [], "id") == 0
        assert listed(transaction, [2, 3, 9999], "id") == 2
        assert listed(transaction, (4,), "id") == 1
        assert listed(transaction, list(range(1, 2001)), "id") == 2000
        assert listed(transaction, ["7", "it's", '"8"'], "name") == 1


def queue(transaction: Transaction, *names: str) -> list[int]:
    ids = [transaction.next_id("items") for _ in names]
    for id_, name in zip(ids, names, strict=True):
        transaction.queue(Insert("items", ("id", "name")), (id_, name))
    return ids


def test_queued_rows_are_visible_to_later_statements_and_committed(
    engine: Engine, open_engine: OpenEngine
) -> None:
    with engine.write() as transaction:
        add(transaction, "one")
        first = queue(transaction, "two", "three")
        assert transaction.ints("SELECT id FROM items ORDER BY id")[1:] == first
        transaction.run(Update("items", {"name": "upper(name)"}))
        queue(transaction, "four")
    assert names(open_engine()) == ["ONE", "TWO", "THREE", "four"]


def test_a_statement_that_runs_later_runs_between_what_is_queued_before_and_after(
    engine: Engine, open_engine: OpenEngine
) -> None:
    upper = Update("items", {"name": "upper(name)"}, "name <> :kept")
    with engine.write() as transaction:
        queue(transaction, "one", "kept")
        transaction.run_later(upper, {"kept": "kept"})
        queue(transaction, "two")
        assert names_in(transaction) == ["ONE", "kept", "two"]
        queue(transaction, "three")
        transaction.run_later(upper, {"kept": "kept"})
        transaction.run(Update("items", {"name": "lower(name)"}, "name = 'TWO'"))
        queue(transaction, "four")
        transaction.run_later(upper, {"kept": "kept"})
        queue(transaction, "five")
    assert names(open_engine()) == ["ONE", "kept", "TWO", "THREE", "FOUR", "five"]


def test_a_statement_that_runs_later_and_fails_undoes_the_write(engine: Engine) -> None:
    def fail() -> None:
        with engine.write() as transaction:
            queue(transaction, "one")
            transaction.run_later(Update("items", {"name": ":name"}), {"name": None})

    with pytest.raises(StorageError):
        fail()
    assert names(engine) == []


def test_queued_ids_are_merged_into_consecutive_ranges(engine: Engine) -> None:
    runs = Insert("items", ("name",), (":first || '-' || :last",))
    with engine.write() as transaction:
        for id_ in (3, 4, 5, 7, 9, 8, 9):
            transaction.queue_ids(runs, id_, id_)
        held = "SELECT name FROM items ORDER BY id"
        assert [*transaction.rows(held)] == [("3-5",), ("7-7",), ("9-9",), ("8-9",)]
        transaction.queue_ids(runs, 10, 10)
    assert names(engine) == ["3-5", "7-7", "9-9", "8-9", "10-10"]


def test_queued_rows_are_rolled_back_when_one_of_them_fails(engine: Engine) -> None:
    def fail() -> None:
        with engine.write() as transaction:
            queue(transaction, "one")
            transaction.queue(NAMED, {"name": None})

    with pytest.raises(StorageError):
        fail()
    assert names(engine) == []
    with engine.write() as transaction:
        queue(transaction, "two")
    assert names(engine) == ["two"]


def test_ids_are_never_reused(engine: Engine) -> None:
    with engine.write() as transaction:
        queue(transaction, "one", "two")
        [newest] = queue(transaction, "three")
        transaction.run(Delete("items"))
    with engine.write() as transaction:
        assert queue(transaction, "four") == [newest + 1]


def test_reserved_ids_are_not_given_to_other_rows(engine: Engine, kind: str) -> None:
    with engine.write() as transaction:
        first = transaction.reserve_ids("items", 3)
        assert queue(transaction, "after") == [first + 3]
    with engine.write() as transaction:
        transaction.run(Delete("items"))
        assert transaction.reserve_ids("items", 0) == first + 4
        assert transaction.reserve_ids("items", 2) == first + 4
        if kind == "sqlite":
            add(transaction, "by itself")
        transaction.run(Insert("items", ("id", "name"), (":id", "'reserved'")), {"id": first})
    with engine.write() as transaction:
        by_itself = [first + 6] if kind == "sqlite" else []  # elsewhere no row of ours has no id
        assert transaction.ints("SELECT id FROM items ORDER BY id") == [first, *by_itself]
        assert queue(transaction, "last") == [first + 6 + len(by_itself)]
