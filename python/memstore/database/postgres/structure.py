"""The tables as the server has them, compared with the schema."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Any, Final

from psycopg import sql

from memstore.database.engine import Mended, SchemaTroubles
from memstore.database.postgres import row_security
from memstore.database.postgres.failures import PostgresErrors
from memstore.database.postgres.schema import tables

if TYPE_CHECKING:
    import psycopg

    from memstore.database.postgres.transaction import PostgresTransaction

CREATED: Final = re.compile(
    r"^CREATE (TABLE|VIEW|(?:UNIQUE )?INDEX) (\w+).*?;$", re.MULTILINE | re.DOTALL
)

PRESENT: Final = (
    "SELECT c.relname FROM pg_catalog.pg_class c WHERE pg_catalog.pg_table_is_visible(c.oid)"
    " AND c.relname LIKE '%memstore%'"
)

LINKS: Final = (
    "SELECT c.conrelid::regclass::text, c.confrelid::regclass::text,"
    " (SELECT array_agg(a.attname::text ORDER BY k.place) FROM unnest(c.conkey) WITH ORDINALITY"
    "  AS k (number, place) JOIN pg_catalog.pg_attribute a"
    "  ON a.attrelid = c.conrelid AND a.attnum = k.number),"
    " (SELECT array_agg(a.attname::text ORDER BY k.place) FROM unnest(c.confkey) WITH ORDINALITY"
    "  AS k (number, place) JOIN pg_catalog.pg_attribute a"
    "  ON a.attrelid = c.confrelid AND a.attnum = k.number)"
    " FROM pg_catalog.pg_constraint c"
    " WHERE c.contype = 'f' AND c.conparentid = 0"
    " AND pg_catalog.pg_table_is_visible(c.conrelid)"
    " UNION ALL SELECT v.own, v.other, ARRAY['tenant', v.key], ARRAY['tenant', 'id'] FROM (VALUES"
    " ('memstore_fact_vectors', 'memstore_facts', 'fact_id'),"
    " ('memstore_fact_vectors', 'memstore_generations', 'generation_id'),"
    " ('memstore_piece_vectors', 'memstore_pieces', 'piece_id'),"
    " ('memstore_piece_vectors', 'memstore_generations', 'generation_id')"
    ") AS v (own, other, key) WHERE to_regclass(v.own) IS NOT NULL ORDER BY 1"
)
"""The foreign keys, and those that vectors would have (decision 141): the table, the one that it
refers to, and the columns of both."""


PLANTED: Final = (
    "SELECT 'trigger', t.tgname, c.relname, pg_catalog.pg_get_triggerdef(t.oid)"
    " FROM pg_catalog.pg_trigger t JOIN pg_catalog.pg_class c ON c.oid = t.tgrelid"
    " WHERE NOT t.tgisinternal AND {own}"
    " UNION ALL SELECT 'rule', r.rulename, c.relname, pg_catalog.pg_get_ruledef(r.oid)"
    " FROM pg_catalog.pg_rewrite r JOIN pg_catalog.pg_class c ON c.oid = r.ev_class"
    " WHERE r.rulename <> '_RETURN' AND {own}"
    " UNION ALL SELECT 'policy', p.polname, c.relname,"
    " coalesce(pg_catalog.pg_get_expr(p.polqual, p.polrelid), '')"
    " FROM pg_catalog.pg_policy p JOIN pg_catalog.pg_class c ON c.oid = p.polrelid"
    " WHERE p.polname NOT IN ('memstore_tenant', 'memstore_lookup') AND {own}"
    " UNION ALL SELECT 'index', i.relname, c.relname, pg_catalog.pg_get_indexdef(i.oid)"
    " FROM pg_catalog.pg_index x JOIN pg_catalog.pg_class i ON i.oid = x.indexrelid"
    " JOIN pg_catalog.pg_class c ON c.oid = x.indrelid"
    " WHERE {own} AND NOT (i.relname = ANY($2)) AND NOT EXISTS"
    "  (SELECT 1 FROM pg_catalog.pg_constraint k WHERE k.conindid = i.oid)"
    " UNION ALL SELECT 'view', c.relname, c.relname, pg_catalog.pg_get_viewdef(c.oid)"
    " FROM pg_catalog.pg_class c WHERE c.relkind IN ('v', 'm') AND c.relname LIKE 'memstore\\_%'"
    " AND pg_catalog.pg_table_is_visible(c.oid) AND NOT (c.relname = ANY($1))"
    " ORDER BY 1, 2"
).format(own="c.relname = ANY($1) AND pg_catalog.pg_table_is_visible(c.oid)")
"""What others put on our tables and views. A constraint's index is told with the constraint."""

CONSTRAINTS: Final = (
    "SELECT c.relname, k.contype::text, pg_catalog.pg_get_constraintdef(k.oid)"
    " FROM pg_catalog.pg_constraint k JOIN pg_catalog.pg_class c ON c.oid = k.conrelid"
    " WHERE k.contype IN ('c', 'p', 'u', 'x') AND c.relname = ANY($1)"
    " AND pg_catalog.pg_table_is_visible(c.oid)"
)

COLUMNS: Final = (
    "SELECT c.relname, a.attname FROM pg_catalog.pg_attribute a"
    " JOIN pg_catalog.pg_class c ON c.oid = a.attrelid"
    " WHERE a.attnum > 0 AND NOT a.attisdropped AND c.relname = ANY($1)"
    " AND c.relkind IN ('r', 'p') AND pg_catalog.pg_table_is_visible(c.oid)"
)

OTHERS: Final = (
    "SELECT c.relname FROM pg_catalog.pg_class c WHERE c.relkind IN ('r', 'p', 'f')"
    " AND NOT c.relispartition AND c.relname LIKE 'memstore\\_%'"
    " AND pg_catalog.pg_table_is_visible(c.oid) AND NOT (c.relname = ANY($1)) ORDER BY 1"
)


def troubles(transaction: PostgresTransaction) -> SchemaTroubles:
    """Return what is missing of the schema, and what others put on its tables.

    Columns, and how many constraints of a kind each table has, are compared; the server writes
    their conditions in words of its own.
    """
    with PostgresErrors():
        connection = transaction.connection
        lacking = missing(connection)
        absent = [what for what in lacking if what.startswith("table ")]
        return SchemaTroubles(
            own=[f"{what} (missing)" for what in lacking if what not in absent],
            planted=[f"{kind} {name} on {on}" for kind, name, on, _ in _planted(connection)],
            tables=[f"{what.removeprefix('table ')} (missing)" for what in absent]
            + _changed(connection),
            strangers=[name for (name,) in _queried(connection, OTHERS, [*tables.columns()])],
        )


def _planted(connection: psycopg.Connection[Any]) -> list[tuple[str, str, str, str]]:
    created = [found[2] for found in CREATED.finditer(tables.text())]
    return [
        (str(kind), str(name), str(on), str(text))
        for kind, name, on, text in _queried(connection, PLANTED, [*tables.columns()], created)
    ]


def _queried(connection: psycopg.Connection[Any], query: str, *values: object) -> list[Any]:
    text = re.sub(r"\$(\d)", lambda found: f"%(v{found[1]})s", query.replace("%", "%%"))
    return connection.execute(
        text, {f"v{place}": value for place, value in enumerate(values, 1)}
    ).fetchall()


def _changed(connection: psycopg.Connection[Any]) -> list[str]:
    """Return the tables with other columns or constraints than they were created with."""
    held: dict[str, set[str]] = {}
    for table, column in _queried(connection, COLUMNS, [*tables.rows()]):
        held.setdefault(str(table), set()).add(str(column))
    constraints = Counter(
        (str(table), str(kind))
        for table, kind, _ in _queried(connection, CONSTRAINTS, [*tables.rows()])
    )
    found = []
    for table, body in _bodies().items():
        if table not in held:
            continue
        right = set(re.findall(r"^\s{4}([a-z]\w*)\s", body, re.MULTILINE))
        what = [f"lacks {name}" for name in sorted(right - held[table])]
        what += [f"has {name}" for name in sorted(held[table] - right)]
        for kind, word in KINDS.items():
            number = len(re.findall(rf"\b{word}\b", body))
            if (there := constraints[table, kind]) != number:
                what.append(f"{there} instead of {number} {word} constraints")
        if what:
            found.append(f"{table} ({'; '.join(what)})")
    return found


KINDS: Final = {"c": "CHECK", "p": "PRIMARY KEY", "u": "UNIQUE"}


def _bodies() -> dict[str, str]:
    """Return, by table, what creates its columns and constraints, without comments."""
    text = re.sub(r"--[^\n]*", "", tables.text())
    bodies = dict(re.findall(r"^CREATE TABLE (memstore_\w+) \((.*?)^\)", text, re.M | re.S))
    for name, added in re.findall(r"^ALTER TABLE (memstore_\w+)\s+(ADD .*?);", text, re.M | re.S):
        bodies[name] += added
    return bodies


def missing(connection: psycopg.Connection[Any]) -> list[str]:
    """Return the tables, views and indexes that are not there, each with its kind."""
    present = {name for (name,) in connection.execute(PRESENT).fetchall()}
    return [
        f"{kind.lower()} {name}"
        for kind, name in ((m[1], m[2]) for m in CREATED.finditer(tables.text()))
        if name not in present
    ]


def mend(transaction: PostgresTransaction) -> Mended:
    """Drop what others put on our tables, and create the indexes and views that are missing."""
    with PostgresErrors():
        planted = _planted(transaction.connection)
        for kind, name, on, _ in planted:
            place = sql.SQL("" if kind in ("index", "view") else " ON {}").format(
                sql.Identifier(on)
            )
            transaction.connection.execute(
                sql.SQL("DROP {} IF EXISTS {}{}").format(
                    sql.SQL(kind.upper()), sql.Identifier(name), place
                )
            )
    present = {name for (name,) in transaction.rows(PRESENT)}
    lacking = [
        found[0]
        for found in CREATED.finditer(tables.text())
        if found[1] != "TABLE" and found[2] not in present
    ]
    with PostgresErrors():
        for statement in lacking:
            transaction.connection.execute(statement)
    return Mended(
        len(lacking), [f"{kind} {name} on {on}: {text}" for kind, name, on, text in planted]
    )


LOCK: Final = "SELECT pg_advisory_xact_lock(hashtext('memstore_tenants'))"


def complete(transaction: PostgresTransaction) -> None:
    """Create the tables that an earlier build did not have, with their indexes and policies."""
    connection = transaction.connection
    with PostgresErrors():
        connection.execute(LOCK)  # another tenant's program may be doing the same
        present = {name for (name,) in connection.execute(PRESENT).fetchall()}
        lacking = [one for one in CREATED.finditer(tables.text()) if one[2] not in present]
        for found in lacking:
            connection.execute(found[0])
        created = [found[2] for found in lacking if found[1] == "TABLE"]
        is_secured = connection.execute(row_security.IS_ON).fetchone()
        if created and is_secured is not None and is_secured[0]:
            connection.execute("\n".join(row_security.policies_of(created)))


def dangling_rows(transaction: PostgresTransaction) -> dict[str, list[int]]:
    """Return, by table, the rows that refer to rows which are not there."""
    found: dict[str, set[int]] = {}
    for table, other, columns, keys in list(transaction.rows(LINKS)):
        pairs = [*zip(columns, keys, strict=True)]
        query = sql.SQL(
            "SELECT (to_json(l) ->> 'id')::bigint FROM {table} l WHERE {given} AND {own}"
            " AND NOT EXISTS (SELECT 1 FROM {other} r WHERE {link})"
        ).format(
            table=sql.Identifier(table),
            other=sql.Identifier(other),
            given=sql.SQL(" AND ").join(
                sql.SQL("l.{} IS NOT NULL").format(sql.Identifier(own)) for own, _ in pairs
            ),
            own=sql.SQL("l.tenant = {}").format(transaction.tenant)
            if "tenant" in columns
            else sql.SQL("TRUE"),
            link=sql.SQL(" AND ").join(
                sql.SQL("r.{} = l.{}").format(sql.Identifier(key), sql.Identifier(own))
                for own, key in pairs
            ),
        )
        for (id_,) in transaction.connection.execute(query).fetchall():
            found.setdefault(table, set()).add(id_ or 0)
    return {table: sorted(ids) for table, ids in found.items()}


def size_bytes(transaction: PostgresTransaction) -> int:
    """Return the size of all tables with their indexes."""
    return transaction.scalar(
        "SELECT sum(pg_total_relation_size(c.oid)) FROM pg_catalog.pg_class c"
        " WHERE c.relkind IN ('r', 'p') AND pg_catalog.pg_table_is_visible(c.oid)"
        " AND c.relnamespace <> 'pg_catalog'::regnamespace"
    )
