"""The meaning of every dialect's members, whatever SQL they return."""

from __future__ import annotations

import pytest

from memstore.database.dialect import within
from memstore.database.engine import Engine
from memstore.database.writes import Insert

OBJECT = (
    '{"text": "tea", "number": 7, "real": 0.5, "yes": true, "no": false, "none": null,'
    ' "list": [1], "kind": "task"}'
)


@pytest.fixture
def filled(engine: Engine) -> Engine:
    """Four items: an object, an array, text that is not JSON, and NULL."""
    with engine.write() as transaction:
        for name, data in (
            ("object", OBJECT),
            ("array", '["tea", "it\'s", "tea"]'),
            ("damaged", '{"kind": "task"'),
            ("nothing", None),
        ):
            transaction.run(Insert("items", ("name", "data")), {"name": name, "data": data})
    return engine


def test_tables_are_named(filled: Engine) -> None:
    with filled.read() as transaction:
        names = {name for (name,) in transaction.rows(transaction.dialect.tables)}
    assert {"items", "parts"} <= names


def test_columns_are_named_in_order(filled: Engine) -> None:
    with filled.read() as transaction:
        rows = transaction.rows(transaction.dialect.columns, {"table": "items"})
        assert [name for (name,) in rows] == ["id", "name", "data"]


def test_elements_of_an_array_are_rows(filled: Engine) -> None:
    with filled.read() as transaction:
        elements = transaction.dialect.elements("i.data")
        rows = transaction.rows(
            f"SELECT i.name, element.value FROM items i, {elements} WHERE i.name = 'array'"
        )
        assert list(rows) == [("array", "tea"), ("array", "it's"), ("array", "tea")]


def test_elements_work_in_a_subquery(filled: Engine) -> None:
    with filled.read() as transaction:
        elements = transaction.dialect.elements("i.data")
        sql = (
            "SELECT count(*) FROM items i WHERE i.name = 'array'"
            f" AND EXISTS (SELECT 1 FROM {elements} WHERE element.value = :value)"
        )
        assert transaction.scalar(sql, {"value": "it's"}) == 1
        assert transaction.scalar(sql, {"value": "its"}) == 0


def test_a_member_is_read_as_text(filled: Engine) -> None:
    with filled.read() as transaction:
        for key, expected in (
            ("text", "tea"),
            ("number", "7"),
            ("kind", "task"),
            ("none", None),
            ("other", None),
        ):
            member = transaction.dialect.member("i.data", f"'{key}'")
            row = transaction.one(f"SELECT {member} FROM items i WHERE i.name = 'object'")
            assert row == (expected,)


def test_non_object_has_no_members(filled: Engine) -> None:
    with filled.read() as transaction:
        member = transaction.dialect.member("i.data", "'kind'")
        rows = transaction.rows(f"SELECT i.name FROM items i WHERE {member} = 'task'")
        assert list(rows) == [("object",)]
        has = transaction.dialect.has_member("i.data", "'kind'")
        assert list(transaction.rows(f"SELECT i.name FROM items i WHERE {has}")) == [("object",)]


@pytest.mark.parametrize(
    ("key", "test", "value", "passes"),
    [
        ("text", "member.text = :value", "tea", True),
        ("text", "member.text = :value", "Tea", False),
        ("text", "member.number IS NULL AND member.truth IS NULL", None, True),
        ("number", "member.number > :value", 6, True),
        ("number", "member.number > :value", 7.5, False),
        ("number", "member.text IS DISTINCT FROM :value", "7", True),
        ("real", "member.number = :value", 0.5, True),
        ("yes", "member.truth = :value", 1, True),
        ("no", "member.truth = :value", 0, True),
        ("no", "member.number IS NULL", None, True),
        ("none", "member.is_null", None, True),
        ("list", "NOT member.is_null AND member.text IS NULL", None, True),
        ("other", "TRUE", None, False),
        ("text' OR '1' = '1", "TRUE", None, False),
    ],
)
def test_a_member_is_tested_by_its_type(
    filled: Engine, key: str, test: str, value: object, passes: bool
) -> None:
    with filled.read() as transaction:
        has = transaction.dialect.has_member("i.data", ":key", test)
        found = transaction.scalar(
            f"SELECT count(*) FROM items i WHERE i.name = 'object' AND {has}",
            {"key": key, "value": value},  # type: ignore[dict-item]
        )
    assert found == passes


@pytest.mark.parametrize(
    ("part", "found"), [("tea", True), ("TEA", False), ("t_a", False), ("%", False), ("it's", True)]
)
def test_contains_matches_substrings_literally(filled: Engine, part: str, found: bool) -> None:
    with filled.read() as transaction:
        contains = transaction.dialect.contains("data", ":part")
        sql = f"SELECT count(*) FROM items WHERE name = 'array' AND {contains}"
        assert transaction.scalar(sql, {"part": part}) == found


def test_an_index_hint_does_not_change_results(filled: Engine) -> None:
    with filled.write() as transaction:
        transaction.execute("CREATE INDEX idx_items_name ON items (name)")
        hint = transaction.dialect.indexed_by("idx_items_name")
        sql = f"SELECT i.id FROM items i {hint} WHERE i.name = :name"
        assert transaction.ints(sql, {"name": "array"}) == [2]


def test_rows_are_bound_to_namespaces(filled: Engine) -> None:
    with filled.read() as transaction:
        for namespaces, number in ((None, 4), ([], 0), (["array", "nothing", "other"], 2)):
            where = within(transaction.dialect, "name", namespaces)
            sql = f"SELECT count(*) FROM items{where}"
            assert transaction.scalar(sql, {"namespaces": namespaces}) == number
