"""Export and import of episodes, and of records attached to facts and episodes."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.support.embedders import WordEmbedder
from tests.support.raw import raw

import memstore
from memstore import (
    AccessDenied,
    Extractor,
    GeneratorUnavailable,
    NewFact,
    Store,
    TransferError,
)
from memstore.database.changes import Changes
from memstore.database.journal import Author
from memstore.database.tables import proposals as proposal_table
from memstore.database.tables import readings as reading_table
from memstore.database.tables import replies as reply_table
from memstore.database.tables.readings import CLOSED, EXTRACT, ReadingRow
from memstore.facts.batch import AddFact, MayReplace


@pytest.fixture
def target(tmp_path: Path, open_store: Callable[..., Store]) -> Store:
    return open_store(tmp_path / "target.db")


def fill(store: Store) -> dict[str, int]:
    """Write one episode of every kind down, facts drawn from them, and what hangs on both."""
    talk = store.of(user_id="alice", run_id="r1").episodes.add(
        "Alice: we moved to Lyon",
        source="chat",
        name="the move",
        source_model="m",
        source_description="a talk in the kitchen",
        tags=["home", "lyon"],
        metadata={"n": 1, "deep": {"list": [1, None, "日本"]}},
        valid_at="2026-01-01",
        idempotency_key="talk-1",
    )
    store.episodes.update(talk.id, tags=["home"], metadata={"n": None, "checked": True})
    store.episodes.update(talk.id, expired_at="2026-06-01T00:00:00Z")
    gone = store.episodes.add("the secret is 555-0199", source="chat", tags=["secret"])
    plain = store.episodes.add("Bob: tea is fine", source="mail")
    held = store.add("Alice lives in Paris", subject="alice", category="identity")
    drawn = store.add("Alice lives in Lyon", subject="alice", episode_id=talk.id)
    store.confirm(drawn.id)
    tea = store.add("Bob likes tea", subject="bob", episode_id=plain.id)
    orphan = store.add("Carol has a number", subject="carol", episode_id=gone.id)
    store.episodes.erase(gone.id)
    store.ledger.apply(
        [
            AddFact(
                fact=NewFact(content="Bob likes coffee", subject="bob"),
                precedence=MayReplace(tea.id, 0.75),
                evidence={"finding": "new value"},
            )
        ]
    )
    with store.file.engine.write() as transaction:
        reading_table.place(transaction, ReadingRow(talk.id, EXTRACT, '{"hint":null}'))
        reply_table.insert(transaction, talk.id, "k" * 64, "model", {"facts": ["Łyon"]})
        reply_table.insert(transaction, plain.id, "p" * 64, "model", {"facts": []})
        sources = [held.id, drawn.id]
        changes = Changes(transaction, Author("ben", "test"))
        proposal_table.insert_consolidation(changes, sources, "Alice lives there", {"a": 1})
    store.graph.merge("Alice", "Alice Smith")
    store.graph.keep_apart("Bob", "Bobby")
    return {"talk": talk.id, "gone": gone.id, "plain": plain.id, "orphan": orphan.id}


@pytest.fixture(scope="module")
def exported() -> list[str]:
    """The lines of an export of all that; damage is done to a copy."""
    with memstore.open(":memory:", embedder=WordEmbedder()) as store:
        fill(store)
        return list(store.transfer.export())


TABLES = {
    "memstore_episodes": "ORDER BY uuid",
    "memstore_episode_tags": "ORDER BY tag",
    "memstore_replies": "ORDER BY key",
    "memstore_readings": "ORDER BY asked",
    "memstore_entity_decisions": "ORDER BY left_key, right_key",
}


def held(store: Store) -> dict[str, list[dict[str, Any]]]:
    """All that the tables hold, ids of episodes by their UUID; from the rows."""
    found: dict[str, list[dict[str, Any]]] = {}
    with raw(store.path) as file:
        file.row_factory = sqlite3.Row
        uuids = dict(file.execute("SELECT id, uuid FROM memstore_episodes").fetchall())
        for table, order in TABLES.items():
            rows = [dict(row) for row in file.execute(f"SELECT * FROM {table} {order}")]
            for row in rows:
                row.pop("id", None)
                if "episode_id" in row:
                    row["episode_id"] = uuids[row["episode_id"]]
            found[table] = rows
        found["links"] = [
            dict(row)
            for row in file.execute(
                "SELECT f.uuid, e.uuid AS episode FROM memstore_facts f"
                " LEFT JOIN memstore_episodes e ON e.id = f.episode_id ORDER BY f.uuid"
            )
        ]
        found["proposals"] = [
            dict(row)
            for row in file.execute(
                "SELECT p.at, o.uuid AS old, n.uuid AS new, p.similarity, p.evidence, p.state,"
                " p.decided_at, p.content, (SELECT group_concat(f.uuid) FROM json_each(p.sources) s"
                " JOIN memstore_facts f ON f.id = s.value) AS sources FROM memstore_proposals p"
                " JOIN memstore_facts o ON o.id = p.old_id"
                " LEFT JOIN memstore_facts n ON n.id = p.new_id ORDER BY p.at"
            )
        ]
    return found


def kinds(store: Store, episode_id: int) -> list[tuple[Any, ...]]:
    with store.file.engine.read() as transaction:
        from memstore.database import journal

        found = journal.of_episode(transaction, episode_id)
    return [(line.moment, line.actor, line.kind) for line in found]


def test_round_trip_keeps_episodes_and_everything_attached(store: Store, target: Store) -> None:
    ids = fill(store)
    target.episodes.add("another episode, so that ids differ", source="x")
    target.add("another fact", subject="x")
    before = kinds(store, ids["talk"])
    report = target.transfer.import_(store.transfer.export())
    assert (report.episodes, report.episodes_known) == (3, 0)
    assert (report.proposals, report.readings, report.replies, report.decisions) == (2, 1, 2, 2)
    expected, found = held(store), held(target)
    for table, rows in expected.items():
        assert [row for row in found[table] if row in rows] == rows, table
    talk = target.episodes.get(store.episodes.get(ids["talk"]).uuid)
    after = kinds(target, talk.id)
    assert after[: len(before)] == before
    assert [kind for *_, kind in after[len(before) :]] == ["adopt"]
    assert target.file.doctor() == []
    assert target.episodes.search("tea", mode="words")[0].episode.content == "Bob: tea is fine"
    proposal, summed = target.proposals.list()
    assert proposal.old.content == "Bob likes tea"
    assert summed.content == "Alice lives there"
    assert {(one.left, one.same) for one in target.graph.decisions()} == {
        (one.left, one.same) for one in store.graph.decisions()
    }


def test_importing_episodes_again_changes_nothing(store: Store, target: Store) -> None:
    fill(store)
    lines = list(store.transfer.export())
    target.transfer.import_(lines)
    before = list(target.transfer.export())
    report = target.transfer.import_(lines)
    assert (report.imported, report.episodes, report.episodes_known) == (0, 0, 3)
    assert (report.proposals, report.readings, report.replies, report.decisions) == (0, 0, 0, 0)
    assert list(target.transfer.export()) == before
    assert store.transfer.import_(target.transfer.export()).episodes == 0


def test_export_is_deterministic(
    store: Store, path: Path, open_store: Callable[..., Store]
) -> None:
    fill(store)
    lines = list(store.transfer.export())
    assert list(store.transfer.export()) == lines
    assert list(open_store(path).transfer.export()) == lines
    store.episodes.update(1, tags=["other"])
    assert next(store.transfer.export()) != lines[0]


def test_export_counts_every_kind_in_its_first_line(store: Store) -> None:
    fill(store)
    header, *rest = [json.loads(line) for line in store.transfer.export()]
    counts = {"facts": "fact", "episodes": "episode", "operations": "operation"}
    counts |= {"proposals": "proposal", "readings": "reading", "replies": "reply"}
    for name, key in (counts | {"decisions": "decision"}).items():
        assert header[name] == sum(key in one for one in rest) > 0, name


def test_export_of_one_namespace_contains_nothing_of_another(
    path: Path, open_store: Callable[..., Store]
) -> None:
    red, blue = open_store(namespace="red"), open_store(namespace="blue")
    fill(red)
    blue.episodes.add("only blue", source="s")
    lines = list(blue.transfer.export())
    assert len(lines) == 3
    assert "Alice" not in "".join(lines)
    header = json.loads(lines[0])
    assert (header["episodes"], header["operations"]) == (1, 1)
    assert (header["proposals"], header["replies"], header["decisions"]) == (0, 0, 0)


@pytest.mark.parametrize("what", ["episodes", "decisions"])
def test_import_of_several_namespaces_must_be_requested(
    what: str, path: Path, open_store: Callable[..., Store], target: Store
) -> None:
    for name in ("red", "blue"):
        store = open_store(namespace=name)
        if what == "episodes":
            store.episodes.add(f"an episode of {name}", source="s")
        else:
            store.graph.merge("Alice", f"Alice of {name}")
    lines = list(store.file.export())
    with pytest.raises(ValueError, match=r"store\.file\.import_"):
        target.transfer.import_(lines)
    report = target.file.import_(lines)
    assert (report.episodes, report.decisions) == ((2, 0) if what == "episodes" else (0, 2))
    assert target.file.doctor() == []


def test_erased_episode_is_imported_as_an_empty_row(store: Store, target: Store) -> None:
    fill(store)
    lines = list(store.transfer.export())
    assert "555-0199" not in "".join(lines)
    assert "secret" not in "".join(lines)
    target.transfer.import_(lines)
    assert target.of("all").episodes.count(include_expired=True) == 2
    assert target.file.doctor() == []


def test_import_erases_what_was_later_erased_at_the_source(store: Store, target: Store) -> None:
    ids = fill(store)
    target.transfer.import_(store.transfer.export())
    store.episodes.erase(ids["plain"])
    report = target.transfer.import_(store.transfer.export())
    assert (report.episodes_known, report.episodes_removed) == (3, 1)
    assert "tea is fine" not in "".join(target.transfer.export())
    assert target.episodes.search("fine", mode="words") == []
    assert target.file.doctor() == []
    assert target.transfer.import_(store.transfer.export()).episodes_removed == 0
    folder = Path(target.path).parent
    assert not [one for one in folder.glob("target.db*") if b"tea is fine" in one.read_bytes()]


class Reader:
    """A model that returns the text as one fact."""

    model = "reader-1"

    def __init__(self) -> None:
        self.silent = False

    def generate(self, prompt: str) -> str:
        if self.silent:
            raise GeneratorUnavailable("nobody is asked")
        content = prompt.rsplit("The text:", 1)[1].strip()[:60]
        return json.dumps({"facts": [{"content": content, "subject": "s", "category": "note"}]})


def test_rebuild_from_an_import_calls_no_model(store: Store, target: Store) -> None:
    """Exports contain the replies for this."""
    reader = Reader()
    for text in ("Ana has a cat", "Ben owns a boat"):
        Extractor(store, reader).extract(text)
    target.transfer.import_(store.transfer.export())
    before = list(target.transfer.export())
    reader.silent = True
    Extractor(target, reader).rebuild()
    assert list(target.transfer.export()) == before
    assert sorted(f.uuid for f in target.list()) == sorted(f.uuid for f in store.list())
    assert target.count() == 2


def test_import_does_not_restore_an_erased_episode(store: Store, target: Store) -> None:
    ids = fill(store)
    lines = list(store.transfer.export())
    target.transfer.import_(lines)
    target.episodes.erase(store.episodes.get(ids["plain"]).uuid)
    report = target.transfer.import_(lines)
    assert (report.episodes, report.replies) == (0, 0)
    assert "tea is fine" not in "".join(target.transfer.export())
    assert target.file.doctor() == []


def test_import_closes_an_episode_of_which_a_fact_was_erased(store: Store, target: Store) -> None:
    ids = fill(store)
    target.transfer.import_(store.transfer.export())
    with store.file.engine.write() as transaction:
        reply_table.forget_episode(transaction, ids["talk"])
        reading_table.place(transaction, ReadingRow(ids["talk"], CLOSED, "{}"))
    target.transfer.import_(store.transfer.export())
    assert held(target)["memstore_replies"] == held(store)["memstore_replies"]
    assert held(target)["memstore_readings"] == held(store)["memstore_readings"]
    assert target.file.doctor() == []


def test_import_keeps_local_changes(store: Store, target: Store) -> None:
    ids = fill(store)
    lines = list(store.transfer.export())
    target.transfer.import_(lines)
    there = store.episodes.get(ids["plain"]).uuid
    target.episodes.update(there, tags=["mine"])
    target.graph.forget("Bob", "Bobby")
    target.graph.merge("Bob", "Bobby")
    target.proposals.reject(target.proposals.list()[0].id)
    report = target.transfer.import_(lines)
    assert (report.decisions, report.proposals) == (0, 0)
    assert target.episodes.get(there).tags == ["mine"]
    assert len(target.proposals.list()) == 1
    assert target.file.doctor() == []


@pytest.mark.parametrize("is_here", [False, True])
def test_the_episode_recorded_first_has_an_idempotency_key_after_an_import(
    store: Store, target: Store, is_here: bool
) -> None:
    first, second = (target, store) if is_here else (store, target)
    first.episodes.add("first", source="s", idempotency_key="talk-1")
    second.episodes.add("second", source="s", idempotency_key="talk-1")
    target.transfer.import_(store.transfer.export())
    assert target.episodes.by_keys(["talk-1"])["talk-1"].content == "first"
    assert target.episodes.count() == 2
    assert target.file.doctor() == target.ledger.verify() == []


def test_import_refuses_facts_whose_episode_is_elsewhere(
    exported: list[str], target: Store
) -> None:
    header, *rest = [json.loads(line) for line in exported]
    facts = [one for one in rest if "fact" in one]
    for name in ("episodes", "operations", "proposals", "readings", "replies", "decisions"):
        header[name] = 0
    with pytest.raises(TransferError, match=r"^line \d: refers to episode 1, which is not"):
        target.transfer.import_([json.dumps(one) for one in (header, *facts)])
    assert target.count(active_only=False) == 0


@pytest.mark.parametrize("episode_id", [-1, 2**63, 2**63 - 1, True, "1", 1.0])
def test_import_refuses_a_missing_episode(
    exported: list[str], target: Store, episode_id: object
) -> None:
    lines, place = damaged(exported, "fact", "episode_id", episode_id)
    with pytest.raises(TransferError, match=rf"^line {place}: .*episode.*; nothing was import"):
        target.transfer.import_(lines)


def test_import_refuses_an_episode_of_another_namespace(store: Store, target: Store) -> None:
    store.episodes.add("said", source="chat")
    store.within("other").add("tea", subject="ana")
    lines = list(store.file.export())
    place = next(n for n, line in enumerate(lines) if '"fact": {' in line)
    one = json.loads(lines[place])
    one["fact"]["episode_id"] = 1
    lines[place] = json.dumps(one)
    with pytest.raises(TransferError, match=r"episode 1.* of another namespace"):
        target.file.import_(lines)


def damaged(exported: list[str], kind: str, name: str, value: Any) -> tuple[list[str], int]:
    lines = [*exported]
    place = next(n for n, line in enumerate(lines) if kind in json.loads(line))
    one = json.loads(lines[place])
    one[kind][name] = value
    if value is ...:
        del one[kind][name]
    lines[place] = json.dumps(one)
    return lines, place + 1


BAD: list[tuple[str, str, Any]] = [
    ("episode", "id", "1"),
    ("episode", "uuid", ""),
    ("episode", "content", 5),
    ("episode", "content", "half \ud800"),
    ("episode", "created_at", ...),
    ("episode", "created_at", "soon"),
    ("episode", "expired_at", 5),
    ("episode", "tags", "home"),
    ("episode", "tags", [5]),
    ("episode", "metadata", []),
    ("episode", "source", ["x"]),
    ("proposal", "id", "1"),
    ("proposal", "id", ...),
    ("proposal", "old", 999),
    ("proposal", "old", ...),
    ("proposal", "new", "2"),
    ("proposal", "similarity", "near"),
    ("proposal", "similarity", float("nan")),
    ("proposal", "state", "perhaps"),
    ("proposal", "at", None),
    ("proposal", "decided_at", "soon"),
    ("proposal", "evidence", []),
    ("proposal", "sources", 5),
    ("proposal", "sources", [999]),
    ("reading", "episode", 999),
    ("reading", "kind", "glance"),
    ("reading", "asked", "no json"),
    ("reading", "asked", "[]"),
    ("reply", "episode", None),
    ("reply", "reply", "{"),
    ("reply", "reply", "[" * 100_000),
    ("reply", "key", ""),
    ("reply", "created_at", 5),
    ("decision", "same", 1),
    ("decision", "left", ...),
    ("decision", "at", "soon"),
    ("decision", "namespace", None),
]


@pytest.mark.parametrize(("kind", "name", "value"), BAD)
def test_import_bad_line_is_named_and_nothing_is_imported(
    kind: str, name: str, value: Any, exported: list[str], target: Store
) -> None:
    lines, number = damaged(exported, kind, name, value)
    with pytest.raises(TransferError, match=f"^line {number}: .*nothing was imported"):
        target.transfer.import_(lines)
    assert (target.count(), target.episodes.count(include_expired=True)) == (0, 0)


def test_import_normalizes_the_json_of_replies(exported: list[str], target: Store) -> None:
    """Erasing searches it for a text, whatever the JSON form in the export."""
    lines, _ = damaged(exported, "reply", "reply", '{ "facts" : ["Łyon"] }')
    target.transfer.import_(lines, unverified=True)
    replies = [row["reply"] for row in held(target)["memstore_replies"]]
    assert replies[0] == '{"facts":["\\u0141yon"]}'


@pytest.mark.parametrize("kind", ["episode", "proposal", "reading", "reply", "decision"])
def test_import_with_a_missing_line_is_refused(
    kind: str, exported: list[str], target: Store
) -> None:
    lines = [*exported]
    last = max(n for n, line in enumerate(lines) if kind in json.loads(line))
    del lines[last]
    with pytest.raises(TransferError, match="nothing was imported"):
        target.transfer.import_(lines)


def test_import_of_the_same_episode_twice_in_a_file_is_refused(
    exported: list[str], target: Store
) -> None:
    lines = [*exported]
    episodes = [n for n, line in enumerate(lines) if "episode" in json.loads(line)]
    lines[episodes[1]] = lines[episodes[0]]
    with pytest.raises(TransferError, match="the same id as an episode before it"):
        target.transfer.import_(lines)


def test_confined_store_stays_in_its_namespace(store: Store, tmp_path: Path) -> None:
    fill(store)
    lines = list(store.transfer.export())
    confined = store.within("theirs", confined=True)
    with pytest.raises(AccessDenied):
        confined.file.import_(lines)
    with pytest.raises(AccessDenied):
        confined.file.import_from("engram", tmp_path / "x.jsonl")
    assert confined.transfer.import_(lines).episodes == 3
