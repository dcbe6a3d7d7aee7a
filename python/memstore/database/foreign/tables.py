"""Rows of any table of another program, with the columns that it has in the file at hand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from memstore.database.foreign import sqlite_file

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from memstore.database.engine import Transaction


def rows(
    transaction: Transaction, table: str, wanted: Collection[str]
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the number and the wanted columns of each row; a column that is missing is left out.

    Text that is not UTF-8 has lone surrogates, for which a record is refused.
    """
    here = sqlite_file.columns(transaction, table)
    columns = [name for name in here if name in wanted]
    selected = ", ".join(
        f"typeof({quoted}), CASE typeof({quoted}) WHEN 'text' THEN CAST({quoted} AS BLOB)"
        f" ELSE {quoted} END"
        for quoted in map(_quoted, columns)
    )
    query = f"SELECT {selected} FROM {_quoted(table)}"
    for number, row in enumerate(transaction.rows(query) if columns else (), 1):
        values = zip(columns, row[::2], row[1::2], strict=True)
        yield number, {name: _value(kind, value) for name, kind, value in values}


def names(transaction: Transaction, table: str) -> frozenset[str]:
    """Return the names of a table's columns; empty if it does not exist."""
    return frozenset(sqlite_file.columns(transaction, table))


def _value(kind: object, value: Any) -> Any:
    if kind == "text" and isinstance(value, bytes):
        return value.decode("utf-8", "surrogateescape")
    return value


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
