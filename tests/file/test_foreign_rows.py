"""Rows that other programs write with plain SQL: taken in, found, embedded, journalled, mended."""

from __future__ import annotations

import random
import re
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.support.raw import IntegrityError, raw, sql

import memstore
from memstore import Store
from memstore.facts import adoption
from memstore.settings import DEFAULT_NAMESPACE

from tests.support.embedders import WordEmbedder  # isort: skip

FACT: dict[str, Any] = {
    "content": "Alice works at Globex",
    "subject": "Alice",
    "category": "note",
    "metadata": '{"team": "red"}',
    "created_at": "2026-01-02T03:04:05Z",
}
"""The columns of the original's first version; its later ones have defaults."""

LATER = {
    3: {"namespace": ""},
    4: {"superseded_at": None},
    5: {"confirmed_count": 2, "last_confirmed_at": "2026-01-03 04:05:06"},
    6: {"use_count": 3, "last_used_at": "2026-01-04T05:06:07.5+02:00"},
}


def insert(path: Path, verb: str = "INSERT", **values: Any) -> None:
    row = FACT | values
    names = ", ".join(row)
    marks = ", ".join("?" for _ in row)
    sql(path, f"{verb} INTO memstore_facts ({names}) VALUES ({marks})", *row.values())


@pytest.fixture
def file(path: Path) -> Path:
    with memstore.open(path, embedder=WordEmbedder()) as store:
        store.add("Bob lives in Rome", subject="bob")
    return path


def opened(path: Path) -> Store:
    return memstore.open(path, embedder=WordEmbedder())


def messages(store: Store) -> list[str]:
    return [finding.message for finding in store.file.doctor(deep=True)]


@pytest.mark.parametrize("version", [1, 3, 4, 5, 6])
def test_row_with_the_columns_of_the_original_is_taken_in(file: Path, version: int) -> None:
    values: dict[str, Any] = {}
    for one, columns in LATER.items():
        values |= columns if one <= version else {}
    insert(file, **values)
    with opened(file) as store:
        fact = store.get(2)
        assert (fact.content, fact.namespace, fact.embedded) == (FACT["content"], "default", False)
        assert [one.id for one in store.list(subject="alice")] == [2]
        assert [hit.fact.id for hit in store.search("Globex", word_weight=1, vector_weight=0)] == [
            2
        ]
        assert [one.id for one in store.list(filters={"team": "red"})] == [2]
        assert (store.count(), store.status().pending) == (2, 1)
        assert messages(store) == ["facts that another program inserted: 2"]
        assert store.file.embed_pending().embedded == 1
        assert store.get(2).embedded
        assert messages(store) == []


def test_many_rows_are_all_adopted_before_a_newer_fact(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(adoption, "AT_ONCE", 3)
    for number in range(8):
        insert(file, content=f"row {number}")
    with opened(file) as store:
        new = store.add("Carol skis", subject="carol")
        for number in range(4):
            insert(file, content=f"more {number}")
        with memstore.open(":memory:", embedder=None) as other:
            other.add("Bob is tall", subject="bob")
            store.transfer.import_([*other.transfer.export()])
        facts = store.list(active_only=False)
        lines = [store.ledger.journal(fact.id)[0].id for fact in facts]
        assert [fact.id for fact in facts] == sorted(fact.id for fact in facts)
        assert lines == sorted(lines)
        assert (
            store.ledger.journal(new.id)[0].txn
            > max(store.ledger.journal(fact.id)[0].id for fact in facts if fact.id < new.id)
            - adoption.AT_ONCE
        )
        # So a moment is a beginning of the ids.
        for fact in facts:
            moment = f"op:{store.ledger.journal(fact.id)[0].id}"
            seen = [one.id for one in store.as_of(moment).list(active_only=False)]
            assert seen == [one.id for one in facts if one.id <= max(seen)]
            assert fact.id in seen
        assert store.ledger.verify() == []


def test_inserted_row_is_journalled_by_the_next_write(file: Path) -> None:
    insert(file)
    with opened(file) as store:
        store.add("Carol skis", subject="carol")
        [line] = store.ledger.journal(2)
        assert (line.kind, line.actor, line.source) == ("adopt", "memstore", "adoption")
        assert line.after is not None
        assert line.after["content"] == FACT["content"]
        assert line.evidence == {"found": "inserted by another program"}
        assert messages(store) == []


def test_inserted_row_is_completed_by_a_rebuild(file: Path) -> None:
    insert(file, subject="Ärger", content="東京都は日本の首都です")
    with opened(file) as store:
        assert "journalled 1 facts that another program inserted" in store.file.rebuild()
        assert [one.id for one in store.list(subject="ärger")] == [2]
        assert [h.fact.id for h in store.search("首都", word_weight=1, vector_weight=0)] == [2]
        assert messages(store) == []


def test_inserted_row_has_a_uuid_of_its_time(file: Path) -> None:
    for _ in range(50):
        insert(file)
    with opened(file) as store:
        own, *others = (uuid.UUID(fact.uuid) for fact in store.list())
    assert len({*others}) == 50
    for one in others:
        assert (one.version, one.variant) == (7, uuid.RFC_4122)
        # Within two minutes: both are of this test.
        assert abs((one.int >> 80) - (own.int >> 80)) < 120_000


def test_namespace_of_rows_that_name_none_is_the_default(file: Path) -> None:
    insert(file)
    insert(file, namespace="")
    assert sql(file, "SELECT DISTINCT namespace FROM memstore_facts") == [(DEFAULT_NAMESPACE,)]


@pytest.mark.parametrize(
    ("given", "held"),
    [
        ("2026-01-02 03:04:05", "2026-01-02T03:04:05.000000Z"),
        ("2026-01-02T03:04:05.123456Z", "2026-01-02T03:04:05.123456Z"),
        ("2026-01-02T05:04:05+02:00", "2026-01-02T03:04:05.000000Z"),
        ("2026-01-02", "2026-01-02T00:00:00.000000Z"),
    ],
)
def test_time_of_an_inserted_row_gets_the_form_of_ours(file: Path, given: str, held: str) -> None:
    insert(file, created_at=given, last_used_at=given)
    [row] = sql(file, "SELECT created_at, last_used_at FROM memstore_facts WHERE id = 2")
    assert row == (held, held)


def test_time_of_an_inserted_row_that_is_none_is_now(file: Path) -> None:
    insert(file, created_at="yesterday", last_confirmed_at="never")
    with opened(file) as store:
        fact = store.get(2)
        assert fact.last_confirmed_at is None
        assert abs((fact.created_at - store.get(1).created_at).total_seconds()) < 120


def test_row_that_cannot_be_read_stops_no_write(file: Path) -> None:
    with raw(file) as other:
        names = "content, subject, category, created_at"
        values = "CAST(x'ff41' AS TEXT), 'x', 'note', '2026-01-01'"
        other.execute(f"INSERT INTO memstore_facts ({names}) VALUES ({values})")
        other.commit()
    insert(file)
    with opened(file) as store:
        store.add("Carol skis", subject="carol")
        assert store.ledger.journal(3)[0].kind == "adopt"
        assert "facts that another program inserted: 2" in messages(store)


@pytest.mark.parametrize(
    "values", [{"content": ""}, {"content": "", "subject": ""}, {"content": b"Alice"}]
)
def test_row_without_a_text_is_refused(file: Path, values: dict[str, Any]) -> None:
    with pytest.raises(IntegrityError, match="a fact needs a text"):
        insert(file, **values)


def test_replaced_row_is_counted_once(file: Path) -> None:
    insert(file, id=2)
    for n in range(3):
        insert(file, "INSERT OR REPLACE", id=2, subject=f"s{n}")
    with opened(file) as store:
        store.file.rebuild()
        assert store.count() == 2
        assert messages(store) == []


def test_vectors_without_a_fact_are_removed_by_a_rebuild(file: Path) -> None:
    insert(file)
    with opened(file) as store:
        store.file.embed_pending()
    sql(file, "DELETE FROM memstore_facts WHERE id = 2")
    with opened(file) as store:
        found = {finding.message: finding.repairable for finding in store.file.doctor()}
        assert found.pop("facts that differ from the journal: 2 (only in the journal)") is False
        assert list(found.values()) == [True]
        assert "removed the embeddings of 1 facts that do not exist" in store.file.rebuild()
        assert len(store.file.doctor()) == 1
    assert sql(file, "SELECT fact_id FROM memstore_fact_vectors") == [(1,)]


def objects(path: Path) -> list[Any]:
    which = "type IN ('trigger', 'view', 'index') AND sql IS NOT NULL"
    return sql(path, f"SELECT type, name, sql FROM sqlite_master WHERE {which} ORDER BY name")


def drop(path: Path, kinds: tuple[str, ...]) -> list[str]:
    dropped = [(kind, name) for kind, name, _ in objects(path) if kind in kinds]
    with raw(path) as file:
        for kind, name in dropped:
            file.execute(f"DROP {kind} IF EXISTS {name}")
        file.commit()
    return [name for _, name in dropped]


@pytest.mark.parametrize("kinds", [("trigger",), ("view",), ("trigger", "view", "index")])
def test_dropped_parts_of_the_schema_are_noticed_and_restored(
    file: Path, kinds: tuple[str, ...]
) -> None:
    before = objects(file)
    assert drop(file, kinds)
    with opened(file) as store:
        [finding] = [one for one in store.file.doctor() if one.check == "schema"]
        assert finding.repairable
        assert re.search(rf"{kinds[-1]} \w+ \(missing\)", finding.message)
        store.file.rebuild()
        assert messages(store) == []
    assert objects(file) == before


def test_changed_trigger_is_noticed_and_restored(file: Path) -> None:
    before = objects(file)
    with raw(file) as other:
        other.execute("DROP TRIGGER memstore_journal_keep")
        other.execute(
            "CREATE TRIGGER memstore_journal_keep BEFORE DELETE ON memstore_journal"
            " BEGIN SELECT 1; END"
        )
        other.commit()
    with opened(file) as store:
        [message] = messages(store)
        assert "trigger memstore_journal_keep (changed)" in message
        store.file.rebuild()
        assert messages(store) == []
    assert objects(file) == before


def test_rows_written_without_triggers_are_found_after_a_rebuild(file: Path) -> None:
    with opened(file) as store:
        store.search("Rome")
        drop(file, ("trigger",))
        insert(file, uuid=str(uuid.uuid4()), subject_key="alice")
        store.add("Carol skis in Davos", subject="carol")
        store.file.rebuild()
        store.file.embed_pending()
        assert messages(store) == []
        for query, id_ in (("Globex", 2), ("Davos", 3), ("Rome", 1)):
            assert [hit.fact.id for hit in store.search(query)][:1] == [id_]


TEXTS = ["Alice", "", " ", "ÄRGER", "東京", "\U0001f600", "a\0b", "x" * 5000, "todo", 5, 1.5]
TIMES = ["2026-01-01", "", "yesterday", "9999-12-31T23:59:59Z", "0000-00-00", 5, "now", "12:00"]
METADATA = [
    None,
    "",
    "{}",
    "[]",
    "5",
    '{"a": {"b": 1}}',
    '{"kind": "task"}',
    "{broken",
    '{"a":1,"a":2}',
]


def some_row(chance: random.Random) -> dict[str, Any]:
    row = {
        "content": chance.choice(TEXTS),
        "subject": chance.choice(TEXTS),
        "category": chance.choice(TEXTS),
        "created_at": chance.choice(TIMES),
        "metadata": chance.choice(METADATA),
        "namespace": chance.choice(["", "default", "other", "all"]),
        "superseded_by": chance.choice([None, None, 1]),
        "superseded_at": chance.choice([None, *TIMES]),
        "confirmed_count": chance.choice([0, 1, -1, "x"]),
        "last_confirmed_at": chance.choice([None, *TIMES]),
        "use_count": chance.choice([0, 7]),
        "last_used_at": chance.choice([None, *TIMES]),
    }
    row = {n: v for n, v in row.items() if n in FACT or chance.random() < 0.6}
    if row.get("namespace") not in (None, "", "default"):
        row.pop("superseded_by", None)  # a chain over two namespaces is an error of that program
    return row


def test_random_rows_of_other_programs_leave_a_file_that_works(
    file: Path, pytestconfig: pytest.Config, record_property: Callable[[str, object], None]
) -> None:
    inputs, chance = pytestconfig.getoption("inputs"), random.Random(7)
    taken = refused = 0
    with opened(file) as store:
        for number in range(inputs):
            try:
                insert(file, chance.choice(["INSERT", "INSERT OR REPLACE"]), **some_row(chance))
                taken += 1
            except IntegrityError:
                refused += 1
            if number % 20 == 0 or number == inputs - 1:
                store.search("Alice", namespaces="all")
                store.add(f"Carol skis {number}", subject="carol")
                store.file.embed_pending()
                assert messages(store) == [], (number, sql(file, "SELECT * FROM memstore_facts"))
        store.file.rebuild()
        assert messages(store) == []

        assert [*store.file.export()]
    record_property("counts", f"{taken} rows taken, {refused} refused, 0 findings")
