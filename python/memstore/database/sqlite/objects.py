"""The triggers, views and indexes of a file, compared with those of the schema.

Another program may drop them, as some tools do to change a table. Rows written meanwhile are not
indexed, counted or listed in the feeds.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Final, NamedTuple

import apsw

from memstore.database.sqlite import migrations
from memstore.database.sqlite.transaction import SqliteTransaction

if TYPE_CHECKING:
    from memstore.database.engine import Transaction

KINDS: Final = ("index", "view", "trigger")
"""In the order of creation: some triggers are on views."""


class Object(NamedTuple):
    kind: str
    name: str
    sql: str


def troubles(transaction: Transaction) -> list[str]:
    """Return which triggers, views and indexes are missing or changed, each with its kind."""
    held = {one.name: one.sql for one in _objects(transaction)}
    return [
        f"{one.kind} {one.name} ({'changed' if one.name in held else 'missing'})"
        for one in _expected()
        if held.get(one.name) != one.sql
    ]


def mend(transaction: Transaction) -> int:
    """Create missing or changed triggers, views and indexes again; return how many."""
    held = {one.name: one for one in _objects(transaction)}
    wrong = [one for one in _expected() if held.get(one.name) != one]
    # Dropping a view drops its triggers.
    views = {one.name for one in wrong if one.kind == "view"}
    wrong += [one for one in _expected() if one not in wrong and _is_on(one, views)]
    for one in sorted(wrong, key=lambda one: KINDS.index(one.kind)):
        if one.name in held:
            transaction.run(f"DROP {held[one.name].kind} IF EXISTS {one.name}")
        transaction.run(one.sql)
    return len(wrong)


def _is_on(one: Object, views: set[str]) -> bool:
    return one.kind == "trigger" and any(f" ON {view} " in one.sql for view in views)


@cache
def _expected() -> tuple[Object, ...]:
    """Return those of a new file."""
    connection = apsw.Connection(":memory:")
    try:
        fresh = SqliteTransaction(connection)
        migrations.create(fresh)
        return _objects(fresh)
    finally:
        connection.close()


def _objects(transaction: Transaction) -> tuple[Object, ...]:
    rows = transaction.rows(
        "SELECT type, name, sql FROM sqlite_master WHERE type IN ('trigger', 'view', 'index')"
        " AND sql IS NOT NULL ORDER BY rowid"
    )
    return tuple(Object(str(kind), str(name), str(sql)) for kind, name, sql in rows)
