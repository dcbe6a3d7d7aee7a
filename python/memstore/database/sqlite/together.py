"""Several rows of one form, written together (decision 246)."""

from __future__ import annotations

from functools import lru_cache
from itertools import chain, islice
from typing import TYPE_CHECKING, Final

from memstore.database.dialect import with_parameters
from memstore.database.writes import Insert, given

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import TypeGuard

    import apsw

    from memstore.database.engine import Row
    from memstore.database.writes import Form

INDEXED: Final = frozenset(("memstore_facts", "memstore_episodes"))
"""The tables whose new rows triggers put into a full-text index."""

ROWS_TOGETHER: Final = 64
"""Rows that one statement inserts: some 2,000 parameters, of 32,766 that SQLite allows."""


def write(connection: apsw.Connection, form: Form, rows: Iterable[Row]) -> None:
    """Write rows of a form, many with each statement if it inserts them.

    A statement of its own for each row takes longer. For a row that triggers index it is a hundred
    times as long: a statement with triggers begins with a savepoint, and FTS5 then writes what it
    holds to its index. Of other tables, a few rows are not worth a statement that has to be
    prepared for their number.
    """
    if not _inserts_alone(form):
        connection.executemany(form.text, rows)
        return
    waiting = iter(rows)
    while some := [*islice(waiting, ROWS_TOGETHER)]:
        if len(some) == ROWS_TOGETHER or form.table in INDEXED:
            connection.execute(_of_rows(form, len(some)), [*chain.from_iterable(some)])
        else:
            connection.executemany(form.text, some)


def _inserts_alone(form: Form) -> TypeGuard[Insert]:
    """Whether each row is inserted of its parameters, or of these and each row of another table.

    Several rows of such a form can be inserted by one statement.
    """
    if not isinstance(form, Insert) or form.unique is not None or form.returning or form.alias:
        return False
    if not form.names or form.source == form.table:
        return False
    return form.source.isidentifier() or (not form.source and form.values == given(form.columns))


@lru_cache(maxsize=64)
def _of_rows(form: Insert, count: int) -> str:
    """Return a form as the statement that inserts so many rows, given one after the other."""
    into = f"INSERT INTO {form.table} ({', '.join(form.columns)})"
    rows = ", ".join([f"({', '.join('?' * len(form.names))})"] * count)
    if not form.source:
        return f"{into} VALUES {rows}"
    place = {name: f"column{number}" for number, name in enumerate(form.names, 1)}
    chosen = with_parameters(", ".join(form.values), place.__getitem__)
    return f"{into} SELECT {chosen} FROM (VALUES {rows}) CROSS JOIN {form.source}"
