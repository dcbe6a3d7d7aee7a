"""What is missing of the schema is named, and made again."""

from __future__ import annotations

import pytest
from tests.support.postgres import psycopg

import memstore
from memstore import NewFact
from memstore.database.tables import newer as newer_table

pytestmark = pytest.mark.process


def test_a_missing_index_is_found_and_made_again(url: str) -> None:
    with memstore.open(url, embedder=None) as store:
        store.add("one", subject="s")
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("DROP INDEX idx_memstore_subject")
            connection.execute("DROP VIEW memstore_counts_read")
        assert any("idx_memstore_subject" in one.message for one in store.ledger.verify())
        store.file.rebuild()
        assert store.ledger.verify() == []


def test_tables_that_an_earlier_build_did_not_have_are_created(url: str) -> None:
    with memstore.open(url, embedder=None) as store:
        store.add("The timeout is 5 seconds.", subject="api")
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("DROP TABLE memstore_newer; DROP TABLE memstore_compared")
    with memstore.open(url, embedder=None) as store:
        store.add("The timeout is 9 seconds.", subject="api")
        store.file.searches.comparisons.run()
        assert store.ledger.verify() == []
        assert store.file.doctor(deep=True) == []
        with store.file.engine.read() as transaction:
            assert [*newer_table.every(transaction)] == [(1, 2, True)]


def test_a_vector_of_no_fact_is_found_and_removed(url: str) -> None:
    with memstore.open(url) as store:
        store.add_many([NewFact(content=f"thing {number}", subject="s") for number in range(3)])
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("UPDATE memstore_fact_vectors SET fact_id = 99 WHERE fact_id = 2")
        assert any("memstore_fact_vectors" in one.message for one in store.file.doctor())
        store.file.rebuild()
        assert store.file.doctor() == []


def test_tampering_with_the_journal_is_found(url: str) -> None:
    with memstore.open(url, embedder=None) as store:
        for number in range(4):
            store.add(f"fact {number}", subject="s")
        assert store.ledger.verify() == []
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("UPDATE memstore_journal SET actor = 'other' WHERE id = 2")
        assert any("2" in one.message for one in store.ledger.verify())


def test_a_removed_last_line_is_found(url: str) -> None:
    with memstore.open(url, embedder=None) as store:
        for number in range(4):
            store.add(f"fact {number}", subject="s")
        head = store.file.head()
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("DELETE FROM memstore_journal WHERE id > 2")
        assert store.ledger.verify() != []
        assert store.ledger.verify(head) != []


PLANTED = {
    "trigger evil on memstore_facts": (
        "CREATE FUNCTION evil() RETURNS trigger LANGUAGE plpgsql AS"
        " $$ BEGIN NEW.content = 'planted'; RETURN NEW; END $$;"
        "CREATE TRIGGER evil BEFORE INSERT ON memstore_facts FOR EACH ROW EXECUTE FUNCTION evil()"
    ),
    "rule evil on memstore_tokens": (
        "CREATE RULE evil AS ON DELETE TO memstore_tokens DO INSTEAD NOTHING"
    ),
    "policy evil on memstore_journal": "CREATE POLICY evil ON memstore_journal USING (FALSE)",
    "index evil on memstore_facts": "CREATE UNIQUE INDEX evil ON memstore_facts (lower(content))",
    "view memstore_evil on memstore_evil": "CREATE VIEW memstore_evil AS SELECT 1",
}


@pytest.mark.parametrize("what", PLANTED)
def test_what_another_program_put_on_the_tables_is_named_and_dropped(url: str, what: str) -> None:
    with memstore.open(url, embedder=None) as store:
        store.add("one", subject="s")
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute(PLANTED[what])
        [finding] = store.ledger.verify()
        assert what in finding.message
        assert finding.repairable
        assert any(what in done for done in store.file.rebuild())
        assert store.ledger.verify() == []
        assert store.add("two", subject="s").content == "two"


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ("ALTER TABLE memstore_facts ADD evil text", "memstore_facts (has evil)"),
        ("ALTER TABLE memstore_tokens DROP CONSTRAINT memstore_tokens_access_check", "0 instead"),
        ("ALTER TABLE memstore_facts ADD CHECK (id < 5)", "2 instead of 1 CHECK"),
        ("CREATE TABLE memstore_evil (x text)", "memstore_evil; rename or drop"),
    ],
)
def test_changed_tables_are_named(url: str, change: str, told: str) -> None:
    with memstore.open(url, embedder=None) as store:
        store.add("one", subject="s")
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute(change)
        found = [one for one in store.ledger.verify() if told in one.message]
        assert [one.repairable for one in found] == [False]
