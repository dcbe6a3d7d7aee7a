"""The tables, triggers, views and indexes of a file, compared with those of the schema.

Another program may drop or change them, as some tools do to change a table: rows written meanwhile
are not indexed, counted or listed in the feeds. Or it may add its own to our tables: a trigger runs
with every write and can store something else, and an index can refuse a write.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Final

import apsw

from memstore.database.engine import Mended, SchemaTroubles
from memstore.database.sqlite import full_text, migrations
from memstore.database.sqlite.transaction import SqliteTransaction
from memstore.named import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memstore.database.engine import Transaction

KINDS: Final = ("index", "view", "trigger")
"""In the order of creation: some triggers are on views."""

OURS: Final = re.compile(r"(idx_)?memstore_", re.IGNORECASE)
"""How the names of tables, views and indexes begin that are this program's."""

FULL_TEXTS: Final = (full_text.FACTS.name, full_text.EPISODES.name)
"""Tables that are derived, with tables of their own, and can be created again."""

COMMENT: Final = re.compile(r"--[^\n]*|/\*.*?\*/|('(?:[^']|'')*'|\"(?:[^\"]|\"\")*\")", re.DOTALL)
PIECE: Final = re.compile(r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|[(),]|[^'\"(),]+")


class Object(NamedTuple):
    kind: str
    name: str
    table: str
    sql: str

    @property
    def is_own(self) -> bool:
        """Whether it is one of those that a rebuild creates again."""
        return self.kind in KINDS or self.name in FULL_TEXTS

    def equals(self, other: Object) -> bool:
        if self.kind != other.kind:
            return False
        return self.sql == other.sql or (
            self.kind == "table" and _parts(self.sql) == _parts(other.sql)
        )


def troubles(transaction: Transaction) -> SchemaTroubles:
    """Return what differs from the schema, each object with its kind."""
    stored = {one.name: one for one in _objects(transaction)}
    wrong = [
        one for one in _expected() if one.name not in stored or not stored[one.name].equals(one)
    ]
    own = [
        f"{one.kind} {one.name} ({'changed' if one.name in stored else 'missing'})"
        for one in wrong
        if one.is_own
    ]
    own += [f"settings of {name} (changed)" for name in _misset(transaction, stored)]
    return SchemaTroubles(
        own=own,
        planted=[f"{one.kind} {one.name} on {one.table}" for one in _planted(transaction)],
        tables=[_difference(one, stored.get(one.name)) for one in wrong if not one.is_own],
        strangers=[one.name for one in _strangers(transaction)],
    )


def mend(transaction: Transaction) -> Mended:
    """Drop what others put on our tables, and create what is missing or changed again.

    An index of texts that is created again is empty, until it is rebuilt.
    """
    planted = [*_planted(transaction)]
    for one in planted:
        transaction.execute(f"DROP {one.kind} IF EXISTS {_quoted(one.name)}")
    stored = {one.name: one for one in _objects(transaction)}
    own = [one for one in _expected() if one.is_own]
    wrong = [one for one in own if one.name not in stored or not stored[one.name].equals(one)]
    # Dropping a view drops its triggers.
    views = {one.name for one in wrong if one.kind == "view"}
    wrong += [one for one in own if one not in wrong and _is_on(one, views)]
    for one in sorted(wrong, key=lambda one: ("table", *KINDS).index(one.kind)):
        if one.name in stored:
            transaction.execute(f"DROP {stored[one.name].kind} IF EXISTS {one.name}")
        transaction.execute(one.sql)
    return Mended(
        len(wrong), [f"{one.kind} {one.name} on {one.table}: {one.sql}" for one in planted]
    )


def _is_on(one: Object, views: set[str]) -> bool:
    return one.kind == "trigger" and any(f" ON {view} " in one.sql for view in views)


def _planted(transaction: Transaction) -> Iterator[Object]:
    """Yield the triggers and indexes on our tables and views, and the views, of other programs."""
    expected = {one.name for one in _expected()}
    tables = {one.name for one in _expected() if one.kind in ("table", "view")}
    rebuilt = full_text.unfinished(transaction)
    for one in _objects(transaction):
        if one.name in expected or rebuilt.get(one.name) == one.sql:
            continue
        on = one.table.lower()
        if one.kind == "view":
            is_planted = bool(OURS.match(one.name))
        else:
            is_planted = one.kind != "table" and (on in tables or on in rebuilt)
        if is_planted:
            yield one._replace(table=one.table if one.kind == "view" else on)


def _strangers(transaction: Transaction) -> Iterator[Object]:
    """Yield the tables with names like ours that are not of the schema."""
    expected = {one.name for one in _expected()}
    rebuilt = full_text.unfinished(transaction)
    for one in _objects(transaction):
        is_rebuilt = any(one.name == new or one.name.startswith(f"{new}_") for new in rebuilt)
        named = one.kind == "table" and OURS.match(one.name) and one.name not in expected
        if named and not is_rebuilt:
            yield one


def _misset(transaction: Transaction, stored: dict[str, Object]) -> Iterator[str]:
    """Yield the indexes of texts with other settings than FTS5 gives them, as for ranking."""
    for name in FULL_TEXTS:
        if name in stored and f"{name}_config" in stored:
            rows = transaction.rows(f"SELECT k, v FROM {name}_config WHERE k <> 'version'")
            if any(True for _ in rows):
                yield name


def _difference(expected: Object, stored: Object | None) -> str:
    """Return in what a table differs."""
    if stored is None:
        return f"{expected.name} (missing)"
    there, right = _parts(stored.sql), _parts(expected.sql)
    what = [f"lacks {part}" for part in sorted(right - there)]
    what += [f"has {part}" for part in sorted(there - right)]
    return f"{expected.name} ({'; '.join(what) or 'changed'})"


def _parts(sql: str) -> frozenset[str]:
    """Return the columns and constraints of a CREATE TABLE, whatever their order and spacing.

    A column that was added to a table is the last of its text.
    """
    text = COMMENT.sub(lambda found: found[1] or " ", sql)
    start, end = text.find("("), text.rfind(")")
    parts, depth = [""], 0
    for piece in PIECE.findall(text[start + 1 : end]):
        depth += (piece == "(") - (piece == ")")
        if piece == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += piece if piece[0] in "'\"" else re.sub(r"\s+", " ", piece)
    using = re.search(r"\bUSING\s+(\w+)\s*$", text[:start], re.IGNORECASE)
    tail = " ".join((*(using.groups() if using else ()), text[end + 1 :].strip()))
    cleaned = (re.sub(r"\s*([(),])\s*", r"\1", part).strip() for part in parts)
    return frozenset(filter(None, (*cleaned, tail.strip())))


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


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
        "SELECT type, name, tbl_name, sql FROM sqlite_master"
        " WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite!_%' ESCAPE '!' ORDER BY rowid"
    )
    return tuple(Object(*map(str, row)) for row in rows)
