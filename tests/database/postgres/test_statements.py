"""Each table that a statement names is bound to the tenant, and a write writes what is derived."""

from __future__ import annotations

import pytest
from tests.support.postgres import psycopg as psycopg  # skips without a driver

from memstore.database.postgres.statements import TENANT, compiled

FACTS = f"(SELECT * FROM memstore_facts WHERE tenant = :{TENANT})"


def text(sql: str, returns: bool = True) -> str:
    """Return a compiled statement with the names of its parameters."""
    found = compiled(sql, returns)
    for place in reversed(range(len(found.names))):
        found = found._replace(text=found.text.replace(f"${place + 1}", f":{found.names[place]}"))
    return found.text


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("SELECT 1 FROM memstore_facts", f"SELECT 1 FROM {FACTS} AS memstore_facts"),
        ("SELECT 1 FROM memstore_facts f", f"SELECT 1 FROM {FACTS} f"),
        ("SELECT 1 FROM memstore_facts AS f", f"SELECT 1 FROM {FACTS} AS f"),
        (
            "SELECT 1 FROM memstore_facts WHERE memstore_facts.id = :id",
            f"SELECT 1 FROM {FACTS} AS memstore_facts WHERE memstore_facts.id = :id",
        ),
        (
            "SELECT 1 FROM memstore_facts f, memstore_facts g",
            f"SELECT 1 FROM {FACTS} f, {FACTS} g",
        ),
        (
            "SELECT (SELECT 1 FROM memstore_facts n WHERE n.id = f.superseded_by), 2"
            " FROM memstore_facts f CROSS JOIN memstore_facts g",
            f"SELECT (SELECT 1 FROM {FACTS} n WHERE n.id = f.superseded_by), 2"
            f" FROM {FACTS} f CROSS JOIN {FACTS} g",
        ),
        (
            "UPDATE memstore_tokens SET name = :name",
            f"UPDATE memstore_tokens SET name = :name WHERE memstore_tokens.tenant = :{TENANT}",
        ),
        (
            "UPDATE memstore_tokens AS t SET name = :name WHERE t.id = :id OR TRUE RETURNING id",
            f"UPDATE memstore_tokens AS t SET name = :name WHERE t.tenant = :{TENANT} AND ("
            " t.id = :id OR TRUE) RETURNING id",
        ),
        (
            "DELETE FROM memstore_meta WHERE key = :key",
            f"DELETE FROM memstore_meta WHERE memstore_meta.tenant = :{TENANT} AND ( key = :key)",
        ),
        (
            "INSERT INTO memstore_meta (key, value) VALUES (:key, :value)"
            " ON CONFLICT (key) DO UPDATE SET value = excluded.value",
            f"INSERT INTO memstore_meta (tenant, key, value) VALUES (:{TENANT}, :key, :value)"
            " ON CONFLICT (tenant, key) DO UPDATE SET value = excluded.value",
        ),
        (
            "INSERT INTO memstore_meta (key, value) SELECT DISTINCT content, 'x' FROM"
            " memstore_facts WHERE id = :id ON CONFLICT DO NOTHING",
            f"INSERT INTO memstore_meta (tenant, key, value) SELECT DISTINCT :{TENANT}::text,"
            f" content, 'x' FROM {FACTS} AS memstore_facts WHERE id = :id ON CONFLICT DO NOTHING",
        ),
        ("SELECT 'FROM memstore_facts'", "SELECT 'FROM memstore_facts'"),
        ("SELECT 1 WHERE id IN (LISTED :ids)", "SELECT 1 WHERE id = ANY (:ids)"),
        ("SELECT 1 WHERE id NOT IN (LISTED :ids)", "SELECT 1 WHERE id <> ALL (:ids)"),
    ],
)
def test_tables_are_bound_to_the_tenant(sql: str, expected: str) -> None:
    assert text(sql) == expected


def test_a_table_in_an_unknown_place_is_refused() -> None:
    with pytest.raises(ValueError, match="cannot be bound"):
        compiled("TABLE memstore_facts", True)


def test_parameters_are_numbered_in_the_order_of_their_names() -> None:
    found = compiled("SELECT :b, :a, ':c', :b, x::text FROM memstore_meta", True)
    assert found.names == ("b", "a", TENANT)
    assert found.text.startswith("SELECT $1, $2, ':c', $1, x::text")


@pytest.mark.parametrize(
    ("sql", "parts"),
    [
        ("UPDATE memstore_facts SET content = '' WHERE id = :id", {"fed"}),
        ("UPDATE memstore_facts SET deleted_at = :at WHERE id = :id", {"fed", "counted"}),
        ("UPDATE memstore_facts SET metadata = :m WHERE id = :id", {"fed", "unfiled", "members"}),
        ("UPDATE memstore_facts SET use_count = 1 WHERE id = :id", set()),
        ("INSERT INTO memstore_facts (id) VALUES (:id)", {"fed", "counted", "members"}),
        ("UPDATE memstore_episodes SET tags = :t WHERE id = :id", {"untagged", "tagged"}),
        ("INSERT INTO memstore_distrusted (fact_id) VALUES (:id)", {"fed"}),
        ("DELETE FROM memstore_pieces WHERE episode_id = :id", {"fed"}),
        ("UPDATE memstore_fact_vectors SET embed_error = NULL", set()),
        ("DELETE FROM memstore_fact_vectors", {"fed"}),
    ],
)
def test_a_write_writes_what_is_derived(sql: str, parts: set[str]) -> None:
    found = text(sql, returns=False)
    all_parts = ("fed", "counted", "members", "unfiled", "tagged", "untagged")
    assert {part for part in all_parts if f" {part} AS (" in found} == parts


@pytest.mark.parametrize(
    ("sql", "is_keyed"),
    [
        ("SELECT content FROM memstore_facts WHERE id = :id", True),
        ("SELECT content FROM memstore_facts f WHERE f.id IN (LISTED :ids)", True),
        ("SELECT 1 FROM memstore_fact_vectors v WHERE v.fact_id IN (LISTED :ids)", True),
        ("UPDATE memstore_facts SET content = :content WHERE id = :id", True),
        ("INSERT INTO memstore_meta (key, value) VALUES (:key, :value)", True),
        ("SELECT value FROM memstore_meta WHERE key = :key", True),
        ("SELECT content FROM memstore_facts", False),
        ("SELECT content FROM memstore_facts WHERE uuid <> :id", False),
        ("SELECT content FROM memstore_facts WHERE id > :id", False),
        ("SELECT count(*) FROM memstore_facts f WHERE f.user_id = :id", False),
        ("SELECT count(*) FROM memstore_facts WHERE agent_id = :a AND run_id = :r", False),
        ("SELECT count(*) FROM memstore_fact_vectors WHERE generation_id = :id", False),
        ("SELECT count(*) FROM memstore_entity_names WHERE graph_id = :id", False),
        ("SELECT content FROM memstore_facts WHERE namespace IN (LISTED :names)", False),
        ("SELECT id FROM memstore_facts WHERE episode_id = :id LIMIT :limit", False),
        ("INSERT INTO memstore_leases (job) SELECT content FROM memstore_facts", False),
        ("DELETE FROM memstore_facts WHERE namespace = :namespace", False),
    ],
)
def test_a_statement_that_names_its_rows_is_known(sql: str, is_keyed: bool) -> None:
    assert compiled(sql, True).is_keyed is is_keyed


def test_lists_are_known_unless_they_are_read_like_a_table() -> None:
    statement = compiled("SELECT id FROM memstore_facts WHERE id IN (LISTED :ids)", True)
    assert statement.lists == {"ids"}
    read_like_a_table = "SELECT value FROM (LISTED :ids) l"
    assert not compiled(read_like_a_table, True).lists
