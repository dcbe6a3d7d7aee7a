"""Tables are bound to the tenant, and a write writes what is derived."""

from __future__ import annotations

import pytest
from tests.support.postgres import psycopg as psycopg  # skips without a driver
from tests.support.written import form as written

from memstore.database.acts import INSERTION as LINE
from memstore.database.postgres import forms
from memstore.database.postgres.statements import TENANT, clues, joined, query, write
from memstore.database.postgres.transaction import with_code
from memstore.database.tables import vectors
from memstore.database.tables.facts import INSERTION as FACT
from memstore.database.writes import Delete, Form, Insert, Update

OWN = f"tenant = :{TENANT}"


def bound(table: str) -> str:
    return f"WITH {table} AS NOT MATERIALIZED (SELECT * FROM {table} WHERE {OWN}) "


def named(text: str, names: tuple[str, ...]) -> str:
    """Return a statement with the names of its parameters."""
    for place in reversed(range(len(names))):
        text = text.replace(f"${place + 1}", f":{names[place]}")
    return text


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("SELECT 1 FROM memstore_facts", "SELECT 1 FROM memstore_facts"),
        (
            "SELECT f.id FROM memstore_facts f, memstore_facts g",
            "SELECT f.id FROM memstore_facts f",
        ),
        (
            "SELECT (SELECT 1 FROM memstore_facts n WHERE n.id = f.superseded_by)",
            "SELECT (SELECT 1 FROM memstore_facts n",
        ),
        ("WITH x AS (SELECT 1 FROM memstore_facts) SELECT 2", "SELECT * FROM (WITH x AS (SELECT 1"),
        ("TABLE memstore_facts", "TABLE memstore_facts"),
    ],
)
def test_tables_of_queries_are_bound_to_the_tenant(sql: str, expected: str) -> None:
    found = query(sql)
    assert named(found.text, found.names).startswith(bound("memstore_facts") + expected)
    assert found.reads == {"memstore_facts"}


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("SELECT 'FROM memstore_facts'", "SELECT 'FROM memstore_facts'"),
        ("SELECT 1 FROM memstore_namespaces", "SELECT 1 FROM memstore_namespaces"),
        (f"SELECT 1 FROM memstore_facts WHERE {OWN}", f"SELECT 1 FROM memstore_facts WHERE {OWN}"),
        ("SELECT 1 WHERE id IN (LISTED :ids)", "SELECT 1 WHERE id = ANY (:ids)"),
        ("SELECT 1 WHERE id NOT IN (LISTED :ids)", "SELECT 1 WHERE id <> ALL (:ids)"),
    ],
)
def test_other_queries_stay_as_they_are(sql: str, expected: str) -> None:
    found = query(sql)
    assert named(found.text, found.names) == expected


@pytest.mark.parametrize(
    ("form", "expected"),
    [
        (
            Update("memstore_tokens", {"name": ":name"}),
            f"UPDATE memstore_tokens SET name = :name WHERE memstore_tokens.{OWN}",
        ),
        (
            Update("memstore_tokens", {"name": ":name"}, "t.id = :id OR TRUE", "t", "id"),
            f"UPDATE memstore_tokens AS t SET name = :name WHERE t.{OWN} AND (t.id = :id OR TRUE)"
            " RETURNING id",
        ),
        (
            Delete("memstore_meta", "key = :key"),
            f"DELETE FROM memstore_meta WHERE memstore_meta.{OWN} AND (key = :key)",
        ),
        (
            Insert(
                "memstore_meta",
                ("key", "value"),
                unique=("key",),
                instead="value = excluded.value",
            ),
            f"INSERT INTO memstore_meta (tenant, key, value) VALUES (:{TENANT}, :key, :value)"
            " ON CONFLICT (tenant, key) DO UPDATE SET value = excluded.value",
        ),
        (
            Insert("memstore_readings", ("kind", "asked"), unique=("kind", "asked")),
            f"INSERT INTO memstore_readings (tenant, kind, asked) VALUES (:{TENANT}, :kind, :asked)"
            " ON CONFLICT (tenant, kind, asked_hash) DO NOTHING",
        ),
        (
            Insert("memstore_meta", ("key",), ("content",), "memstore_facts", unique=()),
            bound("memstore_facts") + "INSERT INTO memstore_meta (tenant, key)"
            f" SELECT :{TENANT}::text, content FROM memstore_facts ON CONFLICT DO NOTHING",
        ),
        (
            Delete("memstore_meta", "key IN (SELECT key FROM memstore_meta LIMIT 1)"),
            bound("memstore_meta") + f"DELETE FROM memstore_meta WHERE memstore_meta.{OWN}"
            " AND (key IN (SELECT key FROM memstore_meta LIMIT 1))",
        ),
        (
            Insert("memstore_tenants", ("tenant",)),
            "INSERT INTO memstore_tenants (tenant) VALUES (:",
        ),
    ],
)
def test_writes_are_bound_to_the_tenant(form: Form, expected: str) -> None:
    found = write(form, returns=bool(form.returning))
    assert named(found.text, found.names).startswith(expected)


def test_parameters_are_numbered_in_the_order_of_their_names() -> None:
    found = query("SELECT :b, :a, ':c', :b, x::text FROM items")
    assert found.names == ("b", "a")
    assert found.text == "SELECT $1, $2, ':c', $1, x::text FROM items"


@pytest.mark.parametrize(
    ("sql", "parts"),
    [
        ("UPDATE memstore_facts SET content = '' WHERE id = :id", {"fed"}),
        ("UPDATE memstore_facts SET deleted_at = :at WHERE id = :id", {"fed", "counted"}),
        ("UPDATE memstore_facts SET metadata = :m WHERE id = :id", {"fed", "unmembers", "members"}),
        ("UPDATE memstore_facts SET use_count = 1 WHERE id = :id", set()),
        ("INSERT INTO memstore_facts (id) VALUES (:id)", {"fed", "counted", "members"}),
        ("DELETE FROM memstore_facts WHERE id = :id", {"fed", "counted", "unmembers"}),
        ("UPDATE memstore_episodes SET tags = :t WHERE id = :id", {"untagged", "tagged"}),
        ("INSERT INTO memstore_distrusted (fact_id) VALUES (:id)", {"fed"}),
        ("DELETE FROM memstore_pieces WHERE episode_id = :id", {"fed"}),
        ("INSERT INTO memstore_pieces (id) VALUES (:id)", set()),
        ("UPDATE memstore_fact_vectors SET embed_error = NULL", set()),
        ("DELETE FROM memstore_fact_vectors", {"fed"}),
    ],
)
def test_a_write_writes_what_is_derived(sql: str, parts: set[str]) -> None:
    found = write(written(sql), returns=False)
    all_parts = ("fed", "counted", "members", "unmembers", "tagged", "untagged")
    assert {part for part in all_parts if f" {part} AS (" in found.text} == parts
    assert found.counts is bool(parts)


@pytest.mark.parametrize(
    ("sql", "is_keyed"),
    [
        ("SELECT content FROM memstore_facts WHERE id = :id", True),
        ("SELECT content FROM memstore_facts f WHERE f.id IN (LISTED :ids)", True),
        ("SELECT 1 FROM memstore_fact_vectors v WHERE v.fact_id IN (LISTED :ids)", True),
        ("SELECT value FROM memstore_meta WHERE key = :key", True),
        ("SELECT content FROM memstore_facts", False),
        ("SELECT content FROM memstore_facts WHERE uuid <> :id", False),
        ("SELECT content FROM memstore_facts WHERE id > :id", False),
        ("SELECT count(*) FROM memstore_facts f WHERE f.user_id = :id", False),
        ("SELECT count(*) FROM memstore_fact_vectors WHERE generation_id = :id", False),
        ("SELECT content FROM memstore_facts WHERE namespace IN (LISTED :names)", False),
        ("SELECT id FROM memstore_facts WHERE episode_id = :id LIMIT :limit", False),
    ],
)
def test_a_query_that_names_its_rows_is_known(sql: str, is_keyed: bool) -> None:
    assert query(sql).is_keyed is is_keyed


@pytest.mark.parametrize(
    ("form", "is_keyed"),
    [
        (Update("memstore_facts", {"content": ":content"}, "id = :id"), True),
        (Insert("memstore_meta", ("key", "value")), True),
        (Insert("memstore_leases", ("job",), ("content",), "memstore_facts"), False),
        (Delete("memstore_facts", "namespace = :namespace"), False),
        (Delete("memstore_meta", "key = :key"), True),
    ],
)
def test_a_write_that_names_its_rows_is_known(form: Form, is_keyed: bool) -> None:
    assert write(form, returns=False).is_keyed is is_keyed


def test_lists_are_known_unless_they_are_read_like_a_table() -> None:
    assert query("SELECT id FROM memstore_facts WHERE id IN (LISTED :ids)").lists == {"ids"}
    assert not query("SELECT value FROM (LISTED :ids) l").lists


def test_a_row_of_one_form_becomes_many() -> None:
    many = forms.batched(Insert("memstore_meta", ("key", "value")), frozenset({"value"}))
    assert many is not None
    assert many.form.text == (
        "INSERT INTO memstore_meta (key, value) SELECT queued.key, :value::text"
        " FROM unnest(:key::text[]) AS queued (key)"
    )
    placed = forms.batched(vectors._placed(vectors.FACTS))
    assert placed is not None
    assert placed.types == {"owner": "bigint", "vector": "bytea", "checksum": "bigint"}
    assert placed.form.source.startswith("memstore_generations CROSS JOIN unnest(:owner::bigint[]")


@pytest.mark.parametrize(
    "form",
    [
        Update("memstore_meta", {"value": ":value"}),
        Insert("memstore_meta", ("key", "value"), unique=("key",)),
        Insert("memstore_meta", ("key",), ("upper(:key)",)),
        Insert("memstore_meta", ("key",), ("content",), "memstore_facts WHERE id = :id"),
        Insert("items", ("name",)),
        vectors._pending(vectors.FACTS),
    ],
)
def test_other_forms_are_written_row_by_row(form: Form) -> None:
    assert forms.batched(form) is None


def test_new_rows_are_joined_under_one_check() -> None:
    rows: tuple[Form, ...] = (FACT, vectors._pending(vectors.FACTS), LINE)
    found = joined(rows, lacks_metadata=True, is_fed=False)
    assert found is not None
    assert found.text.startswith("WITH checked AS (UPDATE memstore_tenants")
    assert "memstore_fact_members" not in found.text
    assert found.fed == {
        *("memstore_facts", "memstore_fact_changes", "memstore_counts"),
        *("memstore_fact_vectors", "memstore_journal"),
    }
    assert [table for table, _ in found.ids] == ["memstore_facts", "memstore_journal"]
    assert clues(rows).pending == [((1, 0), (1, 1), (0, FACT.names.index("id")))]
    assert joined((vectors._pending(vectors.FACTS),), lacks_metadata=True, is_fed=False) is None
    assert joined((Delete("memstore_meta"),), lacks_metadata=True, is_fed=False) is None


def test_a_code_is_written_with_its_vector() -> None:
    vector = b"\0\0\0\x80" * 8
    form, row = with_code(vectors._placed(vectors.FACTS), (1, vector, 2))
    assert isinstance(form, Insert)
    assert form.columns[-1] == "code"
    assert form.values[-1] == "CASE WHEN state = 'active' THEN :code END"
    assert dict(zip(form.names, row, strict=True))["code"] is not None
    gone, values = with_code(*vectors.forgetting(vectors.PIECES, 1))
    assert isinstance(gone, Update)
    assert gone.settings["code"] == "NULL"
    assert values == {"owner": 1}
