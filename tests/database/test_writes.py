"""Writes as values."""

from __future__ import annotations

import dataclasses

import pytest

from memstore.database.dialect import parameters_of, tables_of, with_parameters
from memstore.database.writes import Delete, Form, Insert, Update, settings


@pytest.mark.parametrize(
    ("form", "text", "names"),
    [
        (Insert("t", ("a", "b")), "INSERT INTO t (a, b) VALUES (:a, :b)", ("a", "b")),
        (
            Insert("t", ("a",), (":x || 'y:z'",), returning="a"),
            "INSERT INTO t (a) VALUES (:x || 'y:z') RETURNING a",
            ("x",),
        ),
        (
            Insert("t", ("a",), ("o.id",), "o WHERE o.id = :id", unique=()),
            "INSERT INTO t (a) SELECT o.id FROM o WHERE o.id = :id ON CONFLICT DO NOTHING",
            ("id",),
        ),
        (
            Insert("t", ("a", "b"), unique=("a",), instead="b = excluded.b", alias="held"),
            "INSERT INTO t AS held (a, b) VALUES (:a, :b)"
            " ON CONFLICT (a) DO UPDATE SET b = excluded.b",
            ("a", "b"),
        ),
        (
            Update("t", settings("a", "b"), "id = :id"),
            "UPDATE t SET a = :a, b = :b WHERE id = :id",
            ("a", "b", "id"),
        ),
        (
            Update("t", {"a": "a + :n"}, alias="x", returning="x.a"),
            "UPDATE t AS x SET a = a + :n RETURNING x.a",
            ("n",),
        ),
        (Delete("t", "id = :id"), "DELETE FROM t WHERE id = :id", ("id",)),
        (Delete("t"), "DELETE FROM t", ()),
    ],
)
def test_a_form_is_sql_of_one_memory(form: Form, text: str, names: tuple[str, ...]) -> None:
    assert form.text == text
    assert form.names == names


def test_forms_are_values() -> None:
    one, same = Delete("t", "id = :id"), Delete("t", "id = :id")
    assert one == same
    assert hash(one) == hash(same)
    assert one != Delete("t")
    assert one != one.text
    with pytest.raises(dataclasses.FrozenInstanceError):
        one.table = "other"  # type: ignore[misc]
    with pytest.raises(TypeError):
        Update("t", {"a": "1"}).settings["a"] = "2"  # type: ignore[index]


def test_marks_are_parameters_and_tables() -> None:
    text = "SELECT ':no', 'it''s :no', :a::text, x.b FROM memstore_facts x WHERE x.c IN (:b, :a)"
    assert parameters_of(text) == ("a", "b")
    assert tables_of(text) == {"memstore_facts"}
    assert with_parameters(text, str.upper).endswith(
        "A::text, x.b FROM memstore_facts x WHERE x.c IN (B, A)"
    )
    assert tables_of("SELECT 'memstore_facts', :memstore_tenant, my_memstore_x") == set()
