"""The forms of writes as the server gets them: for one tenant, and for many rows at once."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final

from memstore.database.dialect import parameters_of, with_parameters
from memstore.database.postgres.schema import tables
from memstore.database.postgres.schema.tables import TENANT
from memstore.database.writes import Delete, Insert, Update, given
from memstore.named import NamedTuple

if TYPE_CHECKING:
    from memstore.database.writes import Form

HASHED: Final = {"memstore_readings": {"asked": "asked_hash"}}
"""Columns that are unique by a hash, since their texts may be longer than an index takes."""


def body(form: Form) -> str:
    """Return a form as SQL, bound to the tenant, without what it returns."""
    if isinstance(form, Update):
        return f"UPDATE {form.named} SET {form.assignments()}{condition(form)}"
    if isinstance(form, Delete):
        return f"DELETE FROM {form.named}{condition(form)}"
    return _insert(form)


def condition(form: Update | Delete) -> str:
    """Return the WHERE clause of a form, bound to the tenant."""
    tests = [f"{form.called}.tenant = :{TENANT}"] if form.table in tables.scoped() else []
    if form.where:
        tests.append(f"({form.where})")
    return f" WHERE {' AND '.join(tests)}" if tests else ""


def _insert(form: Insert) -> str:
    columns, values, unique = form.columns, form.values, form.unique
    if form.table in tables.scoped():
        hashed = HASHED.get(form.table, {})
        columns = ("tenant", *columns)
        values = (f":{TENANT}{'::text' if form.source else ''}", *values)
        unique = unique and ("tenant", *(hashed.get(name, name) for name in unique))
    listed = ", ".join(values)
    what = f"SELECT {listed} FROM {form.source}" if form.source else f"VALUES ({listed})"
    into = f"INSERT INTO {form.named} ({', '.join(columns)})"
    return f"{into} {what}{form.conflict(unique)}"


class Batched(NamedTuple):
    """A form of one row as one of many rows."""

    form: Insert
    """Its parameters are arrays, except for the constant ones."""
    types: dict[str, str]
    """The types of its parameters, or of their elements."""


@lru_cache(maxsize=256)
def batched(form: Form, constant: frozenset[str] = frozenset()) -> Batched | None:
    """Return the form of a row as one of many, so that one statement writes all of them.

    ``None`` if there is none.

    Args:
        constant: the parameters that have the same value in all rows.
    """
    types = types_of(form)
    if types is None or not isinstance(form, Insert) or form.of_owners:
        return None

    def value(name: str) -> str:
        return f":{name}::{types[name]}" if name in constant else f"queued.{name}"

    listed = [name for name in form.names if name not in constant]
    arrays = ", ".join(f":{name}::{types[name]}[]" for name in listed)
    rows = f"unnest({arrays}) AS queued ({', '.join(listed)})"
    source = f"{form.source} CROSS JOIN {rows}" if form.source else rows
    values = tuple(with_parameters(one, value) for one in form.values)
    return Batched(Insert(form.table, form.columns, values, source), types)


def after_check(form: Form, place: int, into: frozenset[str]) -> Insert | None:
    """Return the form of a row that is inserted only if the tenant's version was found.

    Args:
        place: its place among the forms of a statement; its parameters are named after it.
        into: the tables that get a row. Each part of a statement sees them as they were before, so
            the id of a new row is given instead of looked up.
    """
    types = types_of(form)
    if types is None or not isinstance(form, Insert):
        return None

    def value(name: str) -> str:
        return f":{name_of(place, name)}::{types[name]}"

    source = f"{form.source} CROSS JOIN checked" if form.source else "checked"
    values = tuple(with_parameters(one, value) for one in form.values)
    if form.of_owners:
        if form.of_owners not in into:
            return None
        source = "memstore_generations g CROSS JOIN checked"
        values = (*form.values[:-1], value("first"))
    return Insert(form.table, form.columns, values, source)


def name_of(place: int, name: str) -> str:
    """Return the name of a parameter of one of several forms."""
    return f"of_{place}_{name}"


def types_of(form: Form) -> dict[str, str] | None:
    """Return the types of the parameters of a row: those of the columns whose values they are.

    ``None`` if the form is not that of a new row alone, or of one for each generation.
    """
    if not isinstance(form, Insert) or form.unique is not None or form.returning or form.alias:
        return None
    columns = tables.columns().get(form.table, {})
    if not {*form.columns} <= columns.keys():
        return None
    if form.of_owners:
        return dict.fromkeys(form.names, columns[form.columns[-1]])
    if form.source not in ("", "memstore_generations"):
        return None
    if not form.source and form.values != given(form.columns):
        return None
    return {
        name: columns[column]
        for column, value in zip(form.columns, form.values, strict=True)
        for name in parameters_of(value)
    }
