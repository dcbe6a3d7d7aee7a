"""The tables as the server has them, compared with the schema."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from psycopg import sql

from memstore.database.postgres.failures import Translated
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


def troubles(transaction: PostgresTransaction) -> list[str]:
    """Return what is missing of the schema."""
    with Translated():
        return [f"the {what} is missing" for what in missing(transaction.connection)]


def missing(connection: psycopg.Connection[Any]) -> list[str]:
    """Return the tables, views and indexes that are not there, each with its kind."""
    present = {name for (name,) in connection.execute(PRESENT).fetchall()}
    return [
        f"{kind.lower()} {name}"
        for kind, name in ((m[1], m[2]) for m in CREATED.finditer(tables.text()))
        if name not in present
    ]


def mend(transaction: PostgresTransaction) -> int:
    """Create the indexes and views that are missing; return how many."""
    present = {name for (name,) in transaction.rows(PRESENT)}
    lacking = [
        found[0]
        for found in CREATED.finditer(tables.text())
        if found[1] != "TABLE" and found[2] not in present
    ]
    with Translated():
        for statement in lacking:
            transaction.connection.execute(statement)
    return len(lacking)


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
