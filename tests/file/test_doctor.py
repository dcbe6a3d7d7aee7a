"""The doctor finds inconsistencies, repairs derived data, and changes nothing else."""

from __future__ import annotations

import json
import re
import sqlite3
import tempfile
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, invariant, rule
from tests.support.engines import copied
from tests.support.examples import examples
from tests.support.raw import raw, unguarded

import memstore
from memstore import Conflict, NotFound, Remedy, Store
from memstore.database.sqlite import copying
from memstore.errors import Reason
from memstore.file import findings

from tests.support.embedders import WordEmbedder  # isort: skip

DERIVED = ("embedding", "segments", "subject_key", "claim_hash")


@pytest.fixture(scope="module")
def healthy_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("healthy") / "memory.db"
    with memstore.open(path, embedder=WordEmbedder()) as store:
        old = store.add("Alice works at the bakery", subject="alice", metadata={"n": 1})
        store.add("Alice works at the brewery", subject="alice", supersedes=old.id)
        store.delete(store.add("Bob owns a kayak", subject="bob").id)
        store.erase(store.add("the secret", subject="carol").id)
        store.add("東京都は日本の首都です", subject="geography")
        store.confirm(2)
        for fact_id in (2, 5):
            store.update_metadata(fact_id, {"checked": True})
        assert store.file.doctor() == []
    return path


@pytest.fixture
def healthy(healthy_file: Path, path: Path) -> Path:
    """A file with a chain, a tombstone, an erased place and metadata; closed."""
    return copied(healthy_file, path)


def surgery(path: Path) -> AbstractContextManager[sqlite3.Connection]:
    """The file, opened without the store, foreign keys or journal triggers."""
    return unguarded(path, *(f"memstore_journal_{name}" for name in ("keep", "fixed", "erased")))


def rows(path: Path, *, derived: bool = False) -> list[dict[str, Any]]:
    with raw(path) as file:
        cursor = file.execute(
            "SELECT f.*, v.embedding FROM memstore_facts f LEFT JOIN memstore_fact_vectors v"
            " ON v.fact_id = f.id ORDER BY f.id"
        )
        names = [column[0] for column in cursor.description]
        return [
            {n: v for n, v in zip(names, row, strict=True) if derived or n not in DERIVED}
            for row in cursor
        ]


FTS = "INSERT INTO memstore_facts_fts (memstore_facts_fts, rowid, content, subject, category"
WITHOUT_FACT_2 = (
    f"{FTS}, segments) SELECT 'delete', id, content, subject, category, segments"
    " FROM memstore_facts WHERE id = 2"
)

# The damage, the check that finds it, and the text of the finding.
DERIVED_DAMAGE = {
    "index lacks a fact": (WITHOUT_FACT_2, "words", "full-text index"),
    "index holds another text": (
        f"{WITHOUT_FACT_2}; INSERT INTO memstore_facts_fts"
        " (rowid, content, subject, category) VALUES (2, 'something else', 'alice', 'note')",
        "words",
        "full-text index",
    ),
    "index holds a fact that is not there": (
        "INSERT INTO memstore_facts_fts (rowid, content, subject, category)"
        " VALUES (99, 'a ghost', 'ghost', 'note')",
        "words",
        "full-text index",
    ),
    "index pages are gone": (
        "DELETE FROM memstore_facts_fts_data WHERE id > 10",
        "words",
        "full-text index",
    ),
    "index pages are garbage": (
        "UPDATE memstore_facts_fts_data SET block = x'0102030405060708' WHERE id > 10",
        "words",
        "full-text index",
    ),
    "index records no structure": (
        "DELETE FROM memstore_facts_fts_data",
        "words",
        "full-text index",
    ),
    "embedding too short": (
        "UPDATE memstore_fact_vectors SET embedding = x'00000000' WHERE fact_id = 2",
        "embeddings",
        r"2 \(4 bytes for 64 numbers\)",
    ),
    "embedding of odd length": (
        "UPDATE memstore_fact_vectors SET embedding = x'000000' WHERE fact_id = 2",
        "embeddings",
        r"2 \(3 bytes",
    ),
    "embedding is text": (
        "UPDATE memstore_fact_vectors SET embedding = 'a vector' WHERE fact_id = 2",
        "embeddings",
        r"2 \(8 bytes",
    ),
    "embedding holds NaN": (
        f"UPDATE memstore_fact_vectors SET embedding = x'{'0000c07f' * 64}' WHERE fact_id = 2",
        "embeddings",
        r"2 \(NaN or infinity\)",
    ),
    "embedding of an unknown model": (
        "UPDATE memstore_generations SET model = NULL, dimension = NULL",
        "embeddings",
        r"2 \(no model is recorded\)",
    ),
    "no place for an embedding": (
        "DELETE FROM memstore_fact_vectors WHERE fact_id = 2",
        "embeddings",
        r"missing rows for embeddings, facts of generation 1: 2$",
    ),
    "segments are stale": (
        "UPDATE memstore_facts SET segments = NULL WHERE id = 5;",
        "words",
        "claims or segments: 5",
    ),
    "metadata is not found": (
        "DELETE FROM memstore_fact_members WHERE fact_id = 2",
        "words",
        "not find by their metadata: 2$",
    ),
    "metadata is found that no fact has": (
        "INSERT INTO memstore_fact_members (key, kind, value, fact_id)"
        " VALUES ('n', 'number', 7, 2)",
        "words",
        "not find by their metadata: 2$",
    ),
    "the subject is compared by another one": (
        "UPDATE memstore_facts SET subject_key = 'geology' WHERE id = 5;",
        "words",
        "claims or segments: 5",
    ),
    "the claim is another one": (
        "UPDATE memstore_facts SET claim_hash = claim_hash + 1 WHERE id = 5;",
        "words",
        "claims or segments: 5",
    ),
    "an erased fact's claim could be guessed": (
        "UPDATE memstore_facts SET claim_hash = 7 WHERE content = '';",
        "words",
        "claims or segments: 4",
    ),
}


@pytest.mark.parametrize("damage", DERIVED_DAMAGE)
def test_damage_to_derived_data_is_found_and_repaired(
    damage: str, healthy: Path, open_store: Callable[..., Store]
) -> None:
    script, check, says = DERIVED_DAMAGE[damage]
    with unguarded(healthy, "memstore_facts_au" if "segments" in damage else "none") as file:
        file.executescript(script)
    before = rows(healthy)
    store = open_store()
    findings = store.file.doctor()
    assert [f.check for f in findings if not f.repairable] == []
    assert {f.check for f in findings} == {check}
    assert [f for f in findings if re.search(says, f.message)], findings
    assert store.file.rebuild()
    if check == "embeddings":
        assert store.status().pending > 0
        store.file.embed_pending()
    assert store.file.doctor() == []
    assert rows(healthy) == before
    assert store.search("brewery")[0].fact.id == 2
    assert [hit.fact.id for hit in store.search("首都")] == [5]


def change_journal(file: sqlite3.Connection, fact_id: int, kind: str, **after: Any) -> None:
    """Change a journal line."""
    where = (fact_id, kind)
    [(line, text)] = file.execute(
        "SELECT id, after FROM memstore_journal WHERE fact_id = ? AND kind = ?", where
    )
    values = json.loads(text or "{}") | after
    file.execute("UPDATE memstore_journal SET after = ? WHERE id = ?", (json.dumps(values), line))


def break_line(file: sqlite3.Connection) -> None:
    file.execute("UPDATE memstore_journal SET after = '{oops' WHERE fact_id = 5 AND kind = 'add'")


Damage = Callable[[sqlite3.Connection], object]

LASTING_DAMAGE: dict[str, tuple[Damage, str, str]] = {
    "superseded by a fact that is not there": (
        lambda file: file.execute("UPDATE memstore_facts SET superseded_by = 77 WHERE id = 1"),
        "chains",
        r"do not exist: 1$",
    ),
    "circle": (
        lambda file: file.execute("UPDATE memstore_facts SET superseded_by = 1 WHERE id = 2"),
        "chains",
        r"circle: 1, 2$",
    ),
    "superseded by itself": (
        lambda file: file.execute("UPDATE memstore_facts SET superseded_by = 5 WHERE id = 5"),
        "chains",
        r"circle: 5$",
    ),
    "chain across namespaces": (
        lambda file: file.execute("UPDATE memstore_facts SET namespace = 'else' WHERE id = 2"),
        "chains",
        r"another namespace: 1$",
    ),
    "content changed": (
        lambda file: file.execute(
            "UPDATE memstore_facts SET content = 'Alice is idle' WHERE id = 2"
        ),
        "journal",
        r"differ from the journal: 2 \(content\)$",
    ),
    "metadata changed": (
        lambda file: file.execute("UPDATE memstore_facts SET metadata = '{}' WHERE id = 5"),
        "journal",
        r"differ from the journal: 5 \(metadata\)$",
    ),
    "tombstone taken away": (
        lambda file: file.execute("UPDATE memstore_facts SET deleted_at = NULL WHERE id = 3"),
        "journal",
        r"differ from the journal: 3 \(deleted_at\)$",
    ),
    "confirmation counted in secret": (
        lambda file: file.execute("UPDATE memstore_facts SET confirmed_count = 9 WHERE id = 2"),
        "journal",
        r"differ from the journal: 2 \(confirmed_count\)$",
    ),
    "erased text is back": (
        lambda file: file.execute("UPDATE memstore_facts SET content = 'secret' WHERE id = 4"),
        "journal",
        r"differ from the journal: 4 \(erased\)$",
    ),
    "fact removed": (
        lambda file: file.executescript(
            "DELETE FROM memstore_facts WHERE id = 5;"
            "DELETE FROM memstore_fact_vectors WHERE fact_id = 5"
        ),
        "journal",
        r": 5 \(only in the journal\)$",
    ),
    "first and last fact removed": (
        lambda file: file.executescript(
            "DELETE FROM memstore_facts WHERE id IN (1, 5);"
            "DELETE FROM memstore_fact_vectors WHERE fact_id IN (1, 5)"
        ),
        "journal",
        r": 1 \(only in the journal\), 5 \(only in the journal\)$",
    ),
    "journal lines of a fact removed": (
        lambda file: file.execute("DELETE FROM memstore_journal WHERE fact_id = 5"),
        "journal",
        r"5 \(not in the journal\)$",
    ),
    "one journal line removed": (
        lambda file: file.execute("DELETE FROM memstore_journal WHERE kind = 'confirm'"),
        "journal",
        r"differ from the journal: 2 \(confirmed_count, last_confirmed_at\)$",
    ),
    "journal line changed": (
        lambda file: change_journal(file, 5, "add", content="another"),
        "journal",
        r"differ from the journal: 5 \(content\)$",
    ),
    "fact of no episode": (
        lambda file: file.execute("UPDATE memstore_facts SET episode_id = -1 WHERE id = 5"),
        "links",
        "facts of episodes that are not in their namespace: 5$",
    ),
    "proposal about two namespaces": (
        lambda file: file.executescript(
            "UPDATE memstore_facts SET namespace = 'other' WHERE id = 2;"
            "INSERT INTO memstore_proposals (id, at, old_id, new_id, similarity, state)"
            " VALUES (8, '2026-01-01T00:00:00.000000Z', 5, 2, 0.5, 'open')"
        ),
        "links",
        "proposals about facts that are not in one namespace: 8$",
    ),
    "proposal that sums up no fact": (
        lambda file: file.execute(
            "INSERT INTO memstore_proposals (id, at, old_id, sources, content, state)"
            " VALUES (8, '2026-01-01T00:00:00.000000Z', 5, '[5, 77]', 'sum', 'open')"
        ),
        "links",
        "proposals about facts that are not in one namespace: 8$",
    ),
    "journal line is no JSON": (
        break_line,
        "journal",
        r"fact 5|: 5",
    ),
    "time that cannot be read": (
        lambda file: file.execute("UPDATE memstore_facts SET created_at = 'noon' WHERE id = 5"),
        "journal",
        r"fact 5: created_at cannot be read",
    ),
}


@pytest.mark.parametrize("damage", LASTING_DAMAGE)
def test_damage_to_rows_is_found_but_not_repaired(
    damage: str, healthy: Path, open_store: Callable[..., Store]
) -> None:
    change, check, says = LASTING_DAMAGE[damage]
    with surgery(healthy) as file:
        change(file)
    before = rows(healthy)
    store = open_store()
    findings = store.file.doctor()
    assert [f for f in findings if f.check == check and re.search(says, f.message)], findings
    assert not any(f.repairable for f in findings)
    store.file.rebuild()
    assert rows(healthy) == before
    assert store.file.doctor() == findings


def test_fact_with_an_episode_of_another_namespace_is_found(
    healthy: Path, open_store: Callable[..., Store]
) -> None:
    store = open_store()
    store.within("other").episodes.add("said", source="chat")
    with surgery(healthy) as file:
        file.execute("UPDATE memstore_facts SET episode_id = 1 WHERE id = 5")
    assert [finding.message for finding in store.file.doctor() if finding.check == "links"] == [
        "facts of episodes that are not in their namespace: 5"
    ]


def test_damaged_pages_are_found(healthy: Path, open_store: Callable[..., Store]) -> None:
    with raw(healthy) as file:
        [(root, size)] = file.execute(
            "SELECT s.rootpage, p.page_size FROM sqlite_schema s, pragma_page_size p"
            " WHERE s.name = 'idx_memstore_subject'"
        )
    damaged = bytearray(healthy.read_bytes())
    damaged[(root - 1) * size : root * size] = b"\xff" * size
    healthy.write_bytes(bytes(damaged))
    findings = open_store().file.doctor()
    assert any(f.check == "pages" and not f.repairable for f in findings)
    assert any(
        isinstance(f.message, Reason) and f.message.remedy is Remedy.RESTORE_BACKUP
        for f in findings
    )


@pytest.mark.parametrize("blob", ["00000000", "0000c07f" * 64, "000080ff" * 64])
def test_damaged_embedding_does_not_affect_searches(
    blob: str, healthy: Path, open_store: Callable[..., Store]
) -> None:
    with raw(healthy) as file:
        file.execute(f"UPDATE memstore_fact_vectors SET embedding = x'{blob}' WHERE fact_id = 5")
        file.commit()
    store = open_store()
    [hit] = store.search("Where does Alice work at the brewery?")
    assert hit.fact.id == 2
    assert hit.vector_score > 0
    assert [hit.fact.id for hit in store.search("首都")] == [5]


def test_finding_names_some_and_counts_the_rest(
    path: Path, open_store: Callable[..., Store]
) -> None:
    with open_store() as store:
        store.add_many({"content": f"fact {n}", "subject": "s"} for n in range(25))
    with raw(path) as file:
        file.execute("UPDATE memstore_facts SET content = content || '!'")
        file.commit()
    [finding] = open_store().file.doctor()
    assert "1 (content), 2 (content)" in finding.message
    assert finding.message.endswith("10 (content) and 15 more")


def test_rebuild_of_a_healthy_file_changes_no_row(
    healthy: Path, open_store: Callable[..., Store]
) -> None:
    before = rows(healthy, derived=True)
    store = open_store()
    store.file.rebuild()
    assert store.file.doctor() == []
    store.close()
    assert rows(healthy, derived=True) == before


# -- a long life -------------------------------------------------------------------------------

WORDS = st.sampled_from("tea coffee kayak 東京 Zürich don't NEAR -> 👍 a.b null".split())
TEXTS = st.lists(WORDS, min_size=1, max_size=4).map(" ".join)
PATCHES = st.dictionaries(
    st.sampled_from(["a", "b"]), st.none() | st.integers(0, 9) | st.text(max_size=2), max_size=2
)


@dataclass
class Known:
    """The expected state of a fact."""

    content: str
    metadata: dict[str, Any] = field(default_factory=dict)
    superseded_by: int | None = None
    confirmed: int = 0
    uses: int = 0
    deleted: bool = False
    erased: bool = False

    @property
    def status(self) -> str:
        if self.deleted:
            return "deleted"
        return "active" if self.superseded_by is None else "superseded"


class LongLife(RuleBasedStateMachine):
    """All operations on a file, in any order, compared with a dictionary."""

    facts = Bundle("facts")

    def __init__(self) -> None:
        super().__init__()
        self.embedder = WordEmbedder()
        self.folder = tempfile.TemporaryDirectory()
        self.store = self.open()
        self.known: dict[int, Known] = {}

    def open(self) -> Store:
        path = Path(self.folder.name) / "memory.db"
        return memstore.open(path, embedder=self.embedder, wait_seconds=1)

    def newest(self, fact_id: int) -> int:
        while (successor := self.known[fact_id].superseded_by) is not None:
            fact_id = successor
        return fact_id

    @rule(target=facts, content=TEXTS, metadata=PATCHES, embeds=st.booleans())
    def add(self, content: str, metadata: dict[str, Any], embeds: bool) -> int:
        self.embedder.failure = None if embeds else memstore.EmbedderUnavailable("down")
        fact = self.store.add(content, subject="s", metadata=metadata)
        self.embedder.failure = None
        assert fact.id not in self.known
        self.known[fact.id] = Known(content, metadata)
        return fact.id

    @rule(target=facts, content=TEXTS, old=facts)
    def correct(self, content: str, old: int) -> int:
        known = self.known[old]
        try:
            fact = self.store.add(content, subject="s", supersedes=old)
        except (Conflict, NotFound):
            assert known.status != "active"
            return old
        assert known.status == "active"
        known.superseded_by = fact.id
        self.known[fact.id] = Known(content)
        return fact.id

    @rule(old=facts, new=facts)
    def supersede(self, old: int, new: int) -> None:
        possible = old != new and (self.known[old].status, self.known[new].status) == (
            "active",
            "active",
        )
        try:
            self.store.supersede(old, new)
        except (Conflict, NotFound):
            assert not possible
        else:
            assert possible
            self.known[old].superseded_by = new

    @rule(target=facts, fact=facts)
    def reinstate(self, fact: int) -> int:
        known = self.known[fact]
        try:
            back = self.store.reinstate(fact)
        except (Conflict, NotFound):
            says_so = any(
                other.status == "active" and other.content == known.content
                for other in self.known.values()
            )
            assert known.status != "superseded" or says_so
            return fact
        assert known.status == "superseded"
        self.known[back.id] = Known(known.content, dict(known.metadata))
        return back.id

    @rule(target=facts, content=TEXTS, old=facts, kept=facts, gone=facts, propose=st.booleans())
    def apply(self, content: str, old: int, kept: int, gone: int, propose: bool) -> int:
        new = memstore.NewFact(content=content, subject="s", supersedes=None if propose else old)
        changes = [
            memstore.KeepFact(fact_id=kept, evidence={"content": content}),
            memstore.AddFact(
                fact=new,
                precedence=memstore.MayReplace(old) if propose else None,
                evidence={"deleted_at": content},
            ),
            memstore.DeleteFact(fact_id=gone),
        ]
        states = [self.known[one].status for one in (old, kept, gone)]
        possible = set(states) == {"active"} and (propose or old != gone)
        try:
            _, added, _ = self.store.ledger.apply(changes)
        except (Conflict, NotFound):
            assert not possible
            return old
        assert possible
        self.known[added.fact.id] = Known(content)
        if not propose:
            self.known[old].superseded_by = added.fact.id
        self.known[gone].deleted = True
        return added.fact.id

    @rule()
    def decide(self) -> None:
        for number, proposal in enumerate(self.store.proposals.list()):
            if number % 2:
                self.store.proposals.reject(proposal.id)
            else:
                try:
                    self.store.proposals.accept(proposal.id)
                except Conflict:  # accepting the previous one retired a fact of this one
                    continue
                self.known[proposal.old.id].superseded_by = proposal.new.id

    @rule(text=TEXTS)
    def record(self, text: str) -> None:
        assert self.store.episodes.record(text).content == text

    @rule(fact=facts)
    def confirm(self, fact: int) -> None:
        known = self.known[fact]
        try:
            self.store.confirm(fact)
        except (Conflict, NotFound):
            assert known.status != "active"
        else:
            assert known.status == "active"
            known.confirmed += 1

    @rule(fact=facts, patch=PATCHES)
    def patch(self, fact: int, patch: dict[str, Any]) -> None:
        known = self.known[fact]
        try:
            self.store.update_metadata(fact, patch)
        except (Conflict, NotFound):
            assert known.deleted
        else:
            assert not known.deleted
            merged = known.metadata | patch
            known.metadata = {k: v for k, v in merged.items() if k not in patch or v is not None}

    @rule(fact=facts)
    def delete(self, fact: int) -> None:
        known = self.known[fact]
        try:
            self.store.delete(fact)
        except NotFound:
            assert known.erased
        else:
            known.deleted = True

    @rule(target=facts, fact=facts)
    def restore(self, fact: int) -> int:
        known = self.known[fact]
        newest = self.known[self.newest(fact)]
        try:
            back = self.store.restore(fact)
        except NotFound:
            assert known.erased
            return fact
        except Conflict:
            assert known.status == "active" or (known.status, newest.deleted) == (
                "superseded",
                True,
            )
            return fact
        if known.deleted:
            assert back.id == fact
            known.deleted = False
        else:
            newest.superseded_by = back.id
            self.known[back.id] = Known(known.content, dict(known.metadata))
        return back.id

    @rule(fact=consumes(facts))
    def erase(self, fact: int) -> None:
        known = self.known[fact]
        try:
            self.store.erase(fact)
        except NotFound:
            assert known.erased
        known.erased = known.deleted = True
        known.content, known.metadata = "", {}

    @rule(fact=facts)
    def touch(self, fact: int) -> None:
        self.store.searches.note_use([fact])
        self.known[fact].uses += 1

    @rule()
    def embed(self) -> None:
        assert self.store.file.embed_pending().left == 0

    @rule(query=TEXTS)
    def search(self, query: str) -> None:
        for hit in self.store.search(query, touch=False):
            assert self.known[hit.fact.id].status == "active"
            assert hit.fact.content == self.known[hit.fact.id].content

    @rule()
    def transfer(self) -> None:
        lines = list(self.store.transfer.export())
        assert self.store.transfer.import_(lines).imported == 0
        with memstore.open(":memory:", embedder=None, wait_seconds=1) as other:
            assert other.transfer.import_(lines).imported == len(self.known)
            assert other.file.doctor() == []
            count = len(self.store.list(active_only=False, include_deleted=True))
            assert len(other.list(active_only=False, include_deleted=True)) == count

    @rule()
    def rebuild(self) -> None:
        self.store.file.rebuild()

    @rule()
    def reopen(self) -> None:
        self.store.close()
        self.store = self.open()

    @invariant()
    def agrees(self) -> None:
        held = {f.id: f for f in self.store.list(active_only=False, include_deleted=True)}
        assert held.keys() == {id_ for id_, known in self.known.items() if not known.erased}
        for id_, fact in held.items():
            known = self.known[id_]
            assert (
                fact.content,
                fact.metadata,
                fact.superseded_by,
                fact.confirmed_count,
                fact.use_count,
                fact.status,
            ) == (
                known.content,
                known.metadata,
                known.superseded_by,
                known.confirmed,
                known.uses,
                known.status,
            )

    def teardown(self) -> None:
        findings = self.store.file.doctor()
        self.store.close()
        self.folder.cleanup()
        assert findings == []


LongLife.TestCase.settings = settings(
    deadline=None, max_examples=examples(60), stateful_step_count=40
)
TestLongLife = pytest.mark.slow(LongLife.TestCase)


def test_doctor_blocks_nobody_and_lets_the_log_restart(
    path: Path, open_store: Callable[..., Store], monkeypatch: pytest.MonkeyPatch
) -> None:
    store, other = open_store(), open_store()
    store.add("before", subject="a")
    run, written = findings._run, []

    def write_between(*given: Any) -> Any:
        found = [*run(*given)]
        written.append(other.add(f"meanwhile {len(written)}", subject="a"))
        with raw(path) as file:
            assert file.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0] == 0
        return found

    monkeypatch.setattr(findings, "_run", write_between)
    assert store.file.doctor(deep=True) == []
    assert len(written) > 10


@pytest.mark.parametrize("has_room", [True, False])
@pytest.mark.parametrize("read_only", [True, False])
def test_file_is_examined_in_place_without_space_for_a_copy(
    path: Path,
    open_store: Callable[..., Store],
    monkeypatch: pytest.MonkeyPatch,
    has_room: bool,
    read_only: bool,
) -> None:
    if not has_room:
        monkeypatch.setattr(copying, "private_copy", lambda *_: None)
    open_store().add("tea", subject="a")
    store = open_store(read_only=read_only)
    assert store.file.doctor() == []
    with raw(path) as file:
        file.execute("INSERT INTO memstore_facts_fts (rowid, content) VALUES (9, 'stray')")
        file.commit()
    told = [finding.check for finding in store.file.doctor()]
    assert told == ([] if read_only and not has_room else ["words"])
