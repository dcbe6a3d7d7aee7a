"""What is missing of the schema is named, and made again."""

from __future__ import annotations

import pytest
from tests.support.postgres import psycopg

import memstore
from memstore import NewFact

pytestmark = pytest.mark.process


def test_a_missing_index_is_found_and_made_again(url: str) -> None:
    with memstore.open(url, embedder=None) as store:
        store.add("one", subject="s")
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("DROP INDEX idx_memstore_subject")
            connection.execute("DROP VIEW memstore_counts_read")
        assert any("idx_memstore_subject" in one.message for one in store.verify())
        store.file.rebuild()
        assert store.verify() == []


def test_a_vector_of_no_fact_is_found_and_removed(url: str) -> None:
    with memstore.open(url) as store:
        store.add_many([NewFact(content=f"thing {number}", subject="s") for number in range(3)])
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("UPDATE memstore_fact_vectors SET fact_id = 99 WHERE fact_id = 2")
        assert any("memstore_fact_vectors" in one.message for one in store.file.examine())
        store.file.rebuild()
        assert store.file.examine() == []


def test_tampering_with_the_journal_is_found(url: str) -> None:
    with memstore.open(url, embedder=None) as store:
        for number in range(4):
            store.add(f"fact {number}", subject="s")
        assert store.verify() == []
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("UPDATE memstore_journal SET actor = 'other' WHERE id = 2")
        assert any("2" in one.message for one in store.verify())


def test_a_removed_last_line_is_found(url: str) -> None:
    with memstore.open(url, embedder=None) as store:
        for number in range(4):
            store.add(f"fact {number}", subject="s")
        head = store.file.head()
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("DELETE FROM memstore_journal WHERE id > 2")
        assert store.verify() != []
        assert store.verify(head) != []
