"""Export and import: nothing is lost or revived, and damaged files are refused."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.embedders import WordEmbedder
from tests.support.examples import examples
from tests.support.raw import raw

import memstore
from memstore import Store, TransferError

DAY = datetime(2026, 3, 1, 9, 30, 0, 123456, tzinfo=UTC)


@pytest.fixture
def target(tmp_path: Path, open_store: Callable[..., Store]) -> Store:
    return open_store(tmp_path / "target.db")


def fill(store: Store) -> dict[str, int]:
    """Store one fact of every kind there is, and return their ids by name."""
    first = store.add(
        "Alice lives in Lyon",
        subject="alice",
        category="identity",
        metadata={"source": "chat", "n": 1.5, "deep": {"list": [1, None, "日本"]}, "no": None},
        created_at=DAY,
        valid_at=DAY - timedelta(days=400),
        source="conversation 12",
        idempotency_key="alice-lives-1",
        thread="standup",
        seq=4,
    )
    second = store.add("Alice lives in Turin", subject="alice", supersedes=first.id)
    third = store.add("Alice lives in Turin, Italy", subject="alice", supersedes=second.id)
    store.confirm(third.id)
    store.confirm(third.id)
    store.update_metadata(third.id, {"checked": True})
    store.searches.note_use([third.id])
    store.searches.note_use([third.id, first.id])
    deleted = store.add("Bob owns a kayak", subject="bob")
    store.delete(deleted.id)
    erased = store.add("Carol's number is 555-0199", subject="carol")
    after = store.add("Carol has no telephone", subject="carol", supersedes=erased.id)
    store.erase(erased.id)
    expired = store.add("The sale is on", subject="shop", expired_at=DAY)
    back = store.restore(first.id)
    task = store.tasks.create("water the plants", priority="high")
    store.tasks.update(task.id, "in_progress", note="half done")
    names = ("first", "second", "third", "deleted", "erased", "after", "expired", "back", "task")
    facts = (first, second, third, deleted, erased, after, expired, back, task)
    return {name: fact.id for name, fact in zip(names, facts, strict=True)}


def everything(store: Store) -> dict[str, dict[str, Any]]:
    """All that an export holds of each fact, by UUID, links by UUID too; from the rows."""
    with raw(store.path) as file:
        cursor = file.execute("SELECT * FROM memstore_facts ORDER BY id")
        names = [column[0] for column in cursor.description]
        rows = [dict(zip(names, row, strict=True)) for row in cursor]
    uuids = {row["id"]: row["uuid"] for row in rows}
    for row in rows:
        row["superseded_by"] = uuids.get(row["superseded_by"])
        del row["id"]
    return {row["uuid"]: row for row in rows}


def operations(store: Store, fact_id: int) -> list[tuple[Any, ...]]:
    found = [op for op in store.ledger.journal(fact_id) if op.fact_id == fact_id]
    return [(op.moment, op.actor, op.source, op.kind) for op in found]


def test_round_trip_into_empty_store_keeps_everything(store: Store, target: Store) -> None:
    ids = fill(store)
    target.add("another fact, so that ids differ", subject="other")
    report = target.transfer.import_(store.transfer.export())
    count = len(everything(store))
    assert (report.imported, report.known, report.retired) == (count, 0, 0)
    expected, found = everything(store), everything(target)
    assert {uuid: found.get(uuid) for uuid in expected} == expected
    assert len(found) == count + 1
    assert target.file.doctor() == []
    assert [f.content for f in target.history(subject="alice")] == [
        f.content for f in store.history(subject="alice")
    ]
    assert target.tasks.list()[0].note == "half done"
    there = {f.uuid: f.id for f in target.list(active_only=False, include_deleted=True)}
    for name in ("first", "third", "deleted", "task"):
        before = operations(store, ids[name])
        after = operations(target, there[store.get(ids[name]).uuid])
        assert after[: len(before)] == before, name
        assert [kind for *_, kind in after[len(before) :]] == ["adopt"]


def test_import_twice_changes_nothing(store: Store, target: Store) -> None:
    fill(store)
    lines = list(store.transfer.export())
    target.transfer.import_(lines)
    before = everything(target)
    with raw(target.path) as file:
        journal = file.execute("SELECT count(*) FROM memstore_journal").fetchone()
        report = target.transfer.import_(lines)
        assert file.execute("SELECT count(*) FROM memstore_journal").fetchone() == journal
    assert (report.imported, report.known, report.retired) == (0, len(before), 0)
    assert everything(target) == before
    assert store.transfer.import_(target.transfer.export()).imported == 0


def test_export_of_an_import_equals_the_export(store: Store, target: Store) -> None:
    fill(store)
    target.transfer.import_(store.transfer.export())

    def facts(lines: Iterator[str]) -> list[Any]:
        return [fact for line in lines if (fact := json.loads(line).get("fact"))]

    assert facts(target.transfer.export()) == facts(store.transfer.export())


def test_import_retires_facts_superseded_in_the_export(store: Store, target: Store) -> None:
    old = store.add("Dan drives a van", subject="dan")
    target.add("something of its own", subject="x")
    target.transfer.import_(store.transfer.export())
    new = store.add("Dan rides a bicycle", subject="dan", supersedes=old.id)
    report = target.transfer.import_(store.transfer.export())
    assert (report.imported, report.known, report.retired) == (1, 1, 1)
    [active] = target.list(subject="dan")
    assert active.uuid == new.uuid
    retired, _ = target.history(active.id)
    assert (retired.uuid, retired.status) == (old.uuid, "superseded")
    assert retired.superseded_at == store.get(old.id).superseded_at
    assert target.file.doctor() == []


def test_import_never_resurrects(store: Store, target: Store) -> None:
    """The export is older than what happened here since."""
    kept, deleted, erased = (store.add(f"fact {n}", subject=f"s{n}") for n in range(3))
    lines = list(store.transfer.export())
    target.transfer.import_(lines)
    by_uuid = {fact.uuid: fact.id for fact in target.list()}
    target.add("newer", subject="s0", supersedes=by_uuid[kept.uuid])
    target.delete(by_uuid[deleted.uuid])
    target.erase(by_uuid[erased.uuid])
    target.transfer.import_(lines)
    assert [fact.content for fact in target.list()] == ["newer"]
    assert target.file.doctor() == []


def test_import_of_a_contradictory_supersession_creates_no_cycle(
    store: Store, target: Store
) -> None:
    """Two files have opposite supersessions of the same facts; one fact must stay active."""
    one, two = store.add("tea", subject="drink"), store.add("coffee", subject="drink")
    target.transfer.import_(store.transfer.export())
    there = {fact.uuid: fact.id for fact in target.list()}
    store.supersede(one.id, two.id)
    target.supersede(there[two.uuid], there[one.uuid])
    report = target.transfer.import_(store.transfer.export())
    assert report.retired == 0
    assert [fact.content for fact in target.list()] == ["tea"]
    assert target.file.doctor() == []


def test_import_into_several_namespaces_keeps_each(
    path: Path, open_store: Callable[..., Store], target: Store
) -> None:
    for name in ("red", "blue"):
        one = open_store(namespace=name)
        one.add(f"{name} fact", subject="s", supersedes=one.add(f"old {name}", subject="s").id)
    blue = open_store(namespace="blue")
    everything_there = list(blue.file.export())
    assert len([line for line in blue.transfer.export() if "red" in line]) == 0
    with pytest.raises(ValueError, match=r"store\.file\.import_"):
        target.transfer.import_(everything_there)
    assert target.status().namespaces == {}
    assert target.file.import_(everything_there).imported == 4
    assert everything(target) == everything(blue)
    assert target.list(active_only=False) == []
    assert (
        target.transfer.import_(blue.transfer.export()).imported == 2
    )  # under its own name, besides
    assert {fact.content for fact in target.list()} == {"blue fact"}
    assert target.file.doctor() == []


@pytest.mark.parametrize("is_here", [False, True])
def test_the_fact_stored_first_has_an_idempotency_key_after_an_import(
    store: Store, target: Store, is_here: bool
) -> None:
    first, second = (target, store) if is_here else (store, target)
    first.add("first", subject="key", idempotency_key="k")
    second.add("second", subject="key", idempotency_key="k")
    target.transfer.import_(store.transfer.export())
    assert target.add("first", subject="key", idempotency_key="k").content == "first"
    assert target.count() == 2
    assert target.file.doctor() == target.ledger.verify() == []


@pytest.mark.parametrize("is_here", [False, True])
def test_the_fact_stored_last_has_an_external_key_after_an_import(
    store: Store, target: Store, is_here: bool
) -> None:
    last, first = (target, store) if is_here else (store, target)
    first.keys.put([{"content": "first", "subject": "key", "external_key": "k"}])
    last.keys.put([{"content": "last", "subject": "key", "external_key": "k"}])
    report = target.transfer.import_(store.transfer.export())
    assert report.retired == (not is_here)
    assert [fact.content for fact in target.list()] == ["last"]
    assert target.keys.get("k").content == "last"  # type: ignore[union-attr]
    assert target.file.doctor() == target.ledger.verify() == []


def test_imported_facts_are_pending_then_embedded(
    store: Store, target: Store, embedder: Any
) -> None:
    fill(store)
    embedder.calls.clear()
    target.transfer.import_(store.transfer.export())
    assert embedder.calls == [], "an import asks no embedder"
    waiting = target.status().pending
    assert waiting > 0
    found = target.search("who waters plants?", tasks=True)
    assert found[0].fact.content == "water the plants"
    assert target.file.embed_pending().embedded == waiting
    assert target.status().pending == 0
    found = target.search("water plants", word_weight=0, tasks=True)
    assert found[0].fact.content == "water the plants"
    assert target.file.doctor() == []


def test_export_while_another_connection_writes_is_consistent(
    path: Path, open_store: Callable[..., Store], target: Store
) -> None:
    store, other = open_store(), open_store()
    ids = [store.add(f"fact {number}", subject="s").id for number in range(50)]
    lines = store.transfer.export()
    exported = [next(lines), next(lines)]
    other.add("too late", subject="s", supersedes=ids[-1])
    other.delete(ids[-2])
    exported += list(lines)
    assert target.transfer.import_(exported).imported == 50
    assert len(target.list()) == 50


def test_round_trip_of_huge_and_unusual_content(store: Store, target: Store) -> None:
    texts = [
        "x" * 1_000_000,
        "line\nbreak\r\n\u2028\u2029\x85 tab\t",
        "\x1b[31m\x7f\ufeff",
        "👩‍👩‍👧 ü é",
    ]
    for text in texts:
        store.add(text, subject="strange\u2028subject", metadata={"text": text[:1000]})
    target.transfer.import_(store.transfer.export())
    assert [fact.content for fact in target.list()] == texts
    assert everything(target) == everything(store)


@pytest.mark.slow
@settings(deadline=None, max_examples=examples(25))
@given(
    content=st.text(
        st.characters(exclude_categories=("Cs",), exclude_characters="\x00"), min_size=1
    ).filter(str.strip),
    metadata=st.dictionaries(
        st.text(st.characters(exclude_categories=("Cs",))),
        st.recursive(
            st.none()
            | st.booleans()
            | st.integers(-(2**60), 2**60)
            | st.floats(allow_nan=False, allow_infinity=False)
            | st.text(st.characters(exclude_categories=("Cs",))),
            lambda inner: st.lists(inner, max_size=3),
            max_leaves=5,
        ),
        max_size=4,
    ),
)
def test_round_trip_of_any_text_and_metadata(content: str, metadata: dict[str, Any]) -> None:
    with (
        memstore.open(":memory:", embedder=None, wait_seconds=1) as source,
        memstore.open(":memory:", embedder=None, wait_seconds=1) as target,
    ):
        fact = source.add(content, subject="any", metadata=metadata)
        # Through a file, split into its lines.
        text = "".join(line + "\n" for line in source.transfer.export())
        target.transfer.import_(text.encode().decode().split("\n"))
        [found] = target.list()
        assert (found.content, found.metadata, found.uuid) == (content, metadata, fact.uuid)


def test_import_of_an_upgraded_files_export(
    tmp_path: Path, open_store: Callable[..., Store], target: Store
) -> None:
    old = tmp_path / "v6.db"
    with raw(old) as file:
        file.executescript(V6)
    upgraded = open_store(old)
    assert target.transfer.import_(upgraded.transfer.export()).imported == 3
    expected = everything(upgraded)
    [odd] = [row for row in expected.values() if row["metadata"] == "odd"]
    odd["metadata"] = '{"_raw": "odd"}'
    assert everything(target) == expected
    active, *_ = target.list()
    assert (active.content, active.use_count, active.confirmed_count) == ("new job", 9, 2)
    assert target.file.doctor() == []


V6 = """
CREATE TABLE memstore_facts (
    id INTEGER PRIMARY KEY AUTOINCREMENT, content TEXT NOT NULL, subject TEXT NOT NULL,
    category TEXT NOT NULL, metadata TEXT, superseded_by INTEGER REFERENCES memstore_facts(id),
    embedding BLOB, created_at TEXT NOT NULL, namespace TEXT NOT NULL DEFAULT '',
    superseded_at TEXT, confirmed_count INTEGER NOT NULL DEFAULT 0, last_confirmed_at TEXT,
    use_count INTEGER NOT NULL DEFAULT 0, last_used_at TEXT);
CREATE VIRTUAL TABLE memstore_facts_fts USING fts5(
    content, subject, category, content='memstore_facts', content_rowid='id');
CREATE TABLE memstore_meta (key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE memstore_version (version INTEGER NOT NULL);
INSERT INTO memstore_version VALUES (6);
INSERT INTO memstore_facts (id, content, subject, category, metadata, created_at, confirmed_count,
    last_confirmed_at, use_count, last_used_at)
VALUES (7, 'new job', 'eve', 'identity', '{"a": 1}', '2025-05-01T10:00:00+02:00', 2,
    '2025-05-02T00:00:00Z', 9, '2025-05-03T00:00:00Z');
INSERT INTO memstore_facts (id, content, subject, category, metadata, created_at, superseded_by,
    superseded_at)
VALUES (3, 'old job', 'eve', 'identity', 'odd', '2025-04-01T10:00:00Z', 7, '2025-05-01T08:00:00Z'),
       (8, 'older job', 'eve', 'identity', NULL, 'who knows', 3, NULL);
"""


# -- damage ------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def sound() -> list[str]:
    with memstore.open(":memory:", embedder=WordEmbedder()) as store:
        old = store.add("the old text", subject="s", metadata={"k": 1})
        store.add("the new text", subject="s", supersedes=old.id)
        store.confirm(old.id + 1)
        return list(store.transfer.export())


@pytest.fixture
def exported(sound: list[str]) -> list[str]:
    """The lines of an export, for a test to damage."""
    return [*sound]


def line_of(lines: list[str], kind: str) -> int:
    return next(place for place, line in enumerate(lines) if kind in json.loads(line))


def refused(target: Store, lines: list[str], match: str) -> None:
    before = everything(target)
    with pytest.raises(TransferError, match=match) as caught:
        target.transfer.import_(lines)
    assert "nothing was imported" in str(caught.value)
    assert everything(target) == before


DAMAGED = ["{", "no json", "[]", "5", "null", '"text"', "{}", '{"fact": 5}', '{"thing": {}}']
TOO_MUCH = ["[" * 100_000, '{"fact": {"id": 1' + "0" * 5000 + "}}"]


@pytest.mark.parametrize("line", DAMAGED + TOO_MUCH)
@pytest.mark.parametrize("place", [0, 1, 2, -1])
def test_import_damaged_line_is_named(
    line: str, place: int, exported: list[str], target: Store
) -> None:
    exported[place] = line
    number = place + 1 if place >= 0 else len(exported)
    refused(target, exported, rf"^line {number}: ")


BAD_FACTS: list[tuple[str, Any]] = [
    ("id", None),
    ("id", "1"),
    ("id", True),
    ("id", 2**70),
    ("uuid", None),
    ("uuid", 5),
    ("uuid", ""),
    ("namespace", 7),
    ("namespace", ""),
    ("content", None),
    ("content", ["a"]),
    ("content", "half \ud800 a character"),
    ("subject", 5),
    ("category", {}),
    ("metadata", []),
    ("metadata", "text"),
    ("metadata", {"nan": float("nan")}),
    ("created_at", "yesterday"),
    ("created_at", 5),
    ("created_at", "0001-01-01T00:00:00+05:00"),
    ("last_used_at", "soon"),
    ("superseded_by", "2"),
    ("superseded_by", 1.5),
    ("confirmed_count", "many"),
    ("confirmed_count", -1),
    ("use_count", 2**64),
    ("source", {"a": 1}),
    ("idempotency_key", ["k"]),
    ("user_id", {"a": 1}),
    ("episode_id", "x"),
]


@pytest.mark.parametrize(("name", "value"), BAD_FACTS)
def test_import_bad_field_is_named_with_its_line(
    name: str, value: Any, exported: list[str], target: Store
) -> None:
    place = line_of(exported, "fact")
    fact = json.loads(exported[place])
    fact["fact"][name] = value
    exported[place] = json.dumps(fact)
    refused(target, exported, rf"^line {place + 1}: .*{name.split('_')[0]}")


@pytest.mark.parametrize("name", ["id", "uuid", "namespace", "content", "subject", "created_at"])
def test_import_missing_field_is_named(name: str, exported: list[str], target: Store) -> None:
    place = line_of(exported, "fact")
    fact = json.loads(exported[place])
    del fact["fact"][name]
    exported[place] = json.dumps(fact)
    refused(target, exported, rf"^line {place + 1}: lacks {name}")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("at", "never"),
        ("at", 5),
        ("at", None),
        ("kind", None),
        ("kind", "explode"),
        ("kind", 5),
        ("before", "text"),
        ("after", [1]),
        ("after", 5),
        ("fact", None),
        ("fact", "a fact the export does not hold"),
    ],
)
def test_import_bad_operation_is_named_with_its_line(
    name: str, value: Any, exported: list[str], target: Store
) -> None:
    place = line_of(exported, "operation")
    operation = json.loads(exported[place])
    operation["operation"][name] = value
    exported[place] = json.dumps(operation)
    refused(target, exported, rf"^line {place + 1}: ")


def test_import_uses_the_fact_rather_than_its_journal(exported: list[str], target: Store) -> None:
    """The journal lines are imported as history; the state comes from the fact's own line."""
    place = line_of(exported, "operation")
    operation = json.loads(exported[place])
    operation["operation"] |= {"kind": "erase", "after": {"content": "another"}}
    exported[place] = json.dumps(operation)
    assert target.transfer.import_(exported, unverified=True).imported == 2
    assert target.get(1).content == "the old text"
    assert target.file.doctor() == []


def with_facts(lines: list[str], change: Callable[[list[dict[str, Any]]], object]) -> list[str]:
    """Change the facts of an export together."""
    values = [json.loads(line) for line in lines]
    change([value["fact"] for value in values if "fact" in value])
    return [json.dumps(value) for value in values]


def test_import_cycle_is_refused(exported: list[str], target: Store) -> None:
    lines = with_facts(exported, lambda facts: facts[1].update(superseded_by=facts[0]["id"]))
    refused(target, lines, "circle")


def test_import_fact_superseded_by_itself_is_refused(exported: list[str], target: Store) -> None:
    lines = with_facts(exported, lambda facts: facts[1].update(superseded_by=facts[1]["id"]))
    refused(target, lines, "circle")


def test_import_unknown_successor_is_refused(exported: list[str], target: Store) -> None:
    lines = with_facts(exported, lambda facts: facts[1].update(superseded_by=999))
    refused(target, lines, r"fact 2 is superseded by fact 999")


@pytest.mark.parametrize("name", ["id", "uuid"])
def test_import_same_identity_twice_is_refused(
    name: str, exported: list[str], target: Store
) -> None:
    def double(facts: list[dict[str, Any]]) -> None:
        del facts[0]["superseded_by"], facts[0]["superseded_at"]
        facts[1][name] = facts[0][name]

    refused(target, with_facts(exported, double), rf"the same {name} as a fact before it")


def test_import_chain_across_namespaces_is_refused(exported: list[str], target: Store) -> None:
    lines = with_facts(exported, lambda facts: facts[0].update(namespace="elsewhere"))
    before = everything(target)
    with pytest.raises(TransferError, match="namespace"):
        target.file.import_(lines)
    assert everything(target) == before


@pytest.mark.parametrize("lines", [[], [""], ["", "  "]])
def test_empty_import_is_refused(lines: list[str], target: Store) -> None:
    refused(target, lines, "empty")


def test_import_of_another_format_is_refused(exported: list[str], target: Store) -> None:
    header = json.loads(exported[0])
    exported[0] = json.dumps(header | {"format": 2})
    refused(target, exported, "format 2")


def test_import_treats_null_as_omitted(exported: list[str], target: Store) -> None:
    """Other programs write what is not set as null."""
    names = ("superseded_at", "expired_at", "source", "metadata", "use_count")
    lines = with_facts(
        exported,
        lambda facts: facts[1].update(dict.fromkeys(names), superseded_by=None),
    )
    assert target.transfer.import_(lines, unverified=True).imported == 2
    assert target.list()[0].content == "the new text"


@pytest.fixture(scope="module")
def an_export(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    with memstore.open(tmp_path_factory.mktemp("x") / "source.db", embedder=None) as store:
        fill(store)
        store.add("zuletzt: 東京都", subject="ü")
        return "".join(line + "\n" for line in store.transfer.export()).encode()


@pytest.fixture(scope="module")
def empty() -> Iterator[Store]:
    """A store that must stay empty, because every import is refused."""
    with memstore.open(":memory:", embedder=None, wait_seconds=1) as store:
        yield store


@settings(deadline=None, max_examples=examples(60))
@given(data=st.data())
def test_import_truncated_anywhere_is_refused(
    data: st.DataObject, an_export: bytes, empty: Store
) -> None:
    """Truncated by a full disk or a broken pipe, also between two lines."""
    ends = [place for place, byte in enumerate(an_export) if byte == 10]
    cuts = st.integers(0, len(an_export) - 2) | st.sampled_from(ends[:-1]).map(lambda at: at + 1)
    cut = data.draw(cuts)
    with pytest.raises(TransferError, match="nothing was imported"):
        empty.transfer.import_(an_export[:cut].decode(errors="replace").split("\n"))
    assert len(list(empty.file.export())) == 1, "the first line alone"


@pytest.mark.slow
@settings(deadline=None, max_examples=examples(60))
@given(data=st.data())
def test_import_with_a_flipped_byte_is_refused_or_valid(
    data: st.DataObject, an_export: bytes
) -> None:
    place = data.draw(st.integers(0, len(an_export) - 1))
    byte = data.draw(st.integers(1, 255))
    damaged = bytearray(an_export)
    damaged[place] ^= byte
    with memstore.open(":memory:", embedder=None, wait_seconds=1) as target:
        try:
            target.file.import_(damaged.decode(errors="replace").split("\n"))
        except TransferError:
            assert len(list(target.file.export())) == 1, "the first line alone"
        else:
            assert target.file.doctor() == []


def test_import_transfers_tombstones_and_erasures(store: Store, target: Store) -> None:
    deleted, erased, kept = (store.add(f"fact {n}", subject="s") for n in range(3))
    target.transfer.import_(list(store.transfer.export()))
    store.delete(deleted.id)
    store.erase(erased.id)
    report = target.transfer.import_(list(store.transfer.export()))
    assert (report.imported, report.known, report.removed) == (0, 3, 2)
    assert [fact.content for fact in target.list(active_only=False)] == [kept.content]
    assert "fact 1" not in "".join(target.transfer.export())
    assert target.file.doctor() == []
    assert target.transfer.import_(list(store.transfer.export())).removed == 0


def test_import_keeps_what_was_restored_locally(store: Store, target: Store) -> None:
    fact = store.add("true after all", subject="s")
    store.delete(fact.id)
    export = list(store.transfer.export())
    target.transfer.import_(export)
    target.restore(target.list(include_deleted=True)[0].id)
    assert target.transfer.import_(export).removed == 0
    assert [fact.content for fact in target.list()] == ["true after all"]


def test_import_restores_what_was_restored_at_the_source(store: Store, target: Store) -> None:
    fact = store.add("true after all", subject="s")
    store.delete(fact.id)
    target.transfer.import_(list(store.transfer.export()))
    store.restore(fact.id)
    assert target.transfer.import_(list(store.transfer.export())).restored == 1
    assert [fact.content for fact in target.list()] == ["true after all"]
    assert target.transfer.import_(list(store.transfer.export())).restored == 0
    assert target.file.doctor() == []
