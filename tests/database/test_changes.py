"""Journalled data is only written together with its journal lines."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.support.embedders import WordEmbedder
from tests.support.sources import parsed

from memstore import NewFact, Store
from memstore.database.changes import Adoption, Changes
from memstore.database.journal import Author
from memstore.database.sqlite.engine import SqliteTransaction
from memstore.database.tables import facts as fact_table
from memstore.facts.batch import AddFact, DeleteFact, KeepFact, MayReplace, SupersedeFact

JOURNALLED = {
    "memstore_entity_decisions",
    "memstore_episodes",
    "memstore_fact_vectors",
    "memstore_facts",
    "memstore_generations",
    "memstore_graphs",
    "memstore_journal",
    "memstore_piece_vectors",
    "memstore_proposals",
    "memstore_tokens",
}

DIRECT = {
    "access_tokens.note_use": {"last_used_at"},
    "access_tokens.put_back": set(),  # of what the journal holds, which verify found changed
    "carrying.carry": {"a row"},  # the generation that every new memory has
    "carrying._carry_table": {"a row", "superseded_by"},  # of a memory that is copied whole
    "carrying._follow_table": {"superseded_by"},  # of a copy that follows its source, as the rest
    "carrying._remove_gone": {"a row"},
    "carrying._retire_generations": {"state"},
    "episodes.refile": {
        "segments",
        "tags",
    },  # sets tags to their current value, so that a trigger indexes them
    "facts.key_categories": {"category_key"},
    "facts.refile": {"category_key", "claim_hash", "segments", "subject_key"},
    "facts.touch": {"last_used_at", "use_count"},
    "generations.record_model": {"dimension", "model"},  # of the first vector
    "graph.begin": {"a row", "state"},  # of a build that queries do not see yet
    "graph.remove_some": {"a row"},  # of a build that queries no longer see
    "graph_integrity.remove": {"a row"},
    "vectors.blank_some": {"embedding"},  # of a generation that is being dropped
    "vectors.note_failure": {"embed_attempts", "embed_error"},
    "vectors.place": {"a row"},  # of an owner that has just been stored
    "vectors.place_all": {"a row"},  # without a vector
    "vectors.place_nothing": {"a row"},  # of an owner that is never embedded
    "vectors.release_quarantine": {"embed_attempts"},
    "vectors.remove_strays": {"a row"},  # of owners that do not exist
}
"""The functions that write a journalled table without a line, and which columns they set."""

WRITE = re.compile(r"(INSERT INTO|UPDATE|DELETE FROM)\s+(\S+)")
STANDING_FOR = {
    "{table.name}": "memstore_fact_vectors",
    "{PIECES.name}": "memstore_piece_vectors",
}
"""Table names that the code inserts into statements."""


def text_of(node: ast.expr, named: Mapping[str, ast.expr | None]) -> str | None:
    """Return a string, or the named constant, as written, with ``{...}`` for what is filled in."""
    if isinstance(node, ast.Name):
        found = named.get(node.id)
        return None if found is None else text_of(found, {})
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else None
    if isinstance(node, ast.JoinedStr):
        return "".join(
            str(part.value) if isinstance(part, ast.Constant) else ast.unparse(part)
            for part in node.values
        )
    return None


def written_columns(sql: str) -> set[str]:
    """Return the columns that an UPDATE sets; for other statements, "row"."""
    found = re.search(r" SET (.*?)(?: WHERE | RETURNING |$)", sql, re.DOTALL)
    if not sql.startswith("UPDATE") or found is None:
        return {"a row"}
    return set(re.findall(r"(\w+) = ", found[1]))


def sources() -> Iterator[tuple[Path, list[ast.AST]]]:
    for file, nodes in parsed().items():
        if file.name != "migrations.py":  # it creates the tables
            yield file, nodes


def writes() -> Iterator[tuple[str, str, str, bool]]:
    """Yield each write of a journalled table: place, table, SQL, and whether it is a Statement."""
    for file, nodes in sources():
        named = {
            one.target.id: one.value
            for one in nodes
            if isinstance(one, ast.AnnAssign) and isinstance(one.target, ast.Name)
        }
        for function in nodes:
            if not isinstance(function, ast.FunctionDef):
                continue
            for call in ast.walk(function):
                if not isinstance(call, ast.Call) or not call.args:
                    continue
                sql = text_of(call.args[0], named)
                if sql is None or (found := WRITE.match(sql)) is None:
                    continue
                table = STANDING_FOR.get(found[2], found[2])
                if table in JOURNALLED:
                    stated = isinstance(call.func, ast.Name) and call.func.id == "Statement"
                    yield f"{file.stem}.{function.name}", table, sql, stated


def test_journalled_tables_are_written_only_by_statements_or_listed_functions() -> None:
    found = list(writes())
    # The scan works: every table is written somewhere, most by statements.
    assert {table for _, table, *_ in found} >= JOURNALLED
    direct: dict[str, set[str]] = {}
    for where, table, sql, stated in found:
        if not stated and (where, table) != ("acts.add", "memstore_journal"):
            direct.setdefault(where, set()).update(written_columns(sql))
    assert direct == DIRECT


def test_every_write_in_the_package_is_seen() -> None:
    """A statement that is built and run in different places would be overlooked."""
    seen = {sql for *_, sql, _ in writes()}
    for file, nodes in sources():
        for node in nodes:
            sql = text_of(node, {}) if isinstance(node, ast.expr) else None
            for _, table in WRITE.findall(sql or ""):
                if STANDING_FOR.get(table, table) in JOURNALLED:
                    assert any(str(sql) in whole for whole in seen), (file, sql)


def test_only_changes_runs_statements() -> None:
    users = {
        file.as_posix()
        for file, nodes in parsed().items()
        for node in nodes
        if isinstance(node, ast.Attribute) and node.attr == "sql_text"
    }
    assert users == {"database/changes.py"}


# -- at run time ---------------------------------------------------------------------------------


class Watch:
    """Records what each transaction writes."""

    def __init__(self) -> None:
        self.unsaid: list[str] = []
        self._open: dict[SqliteTransaction, list[str]] = {}

    def note(self, transaction: SqliteTransaction, sql: str) -> None:
        found = WRITE.match(sql.strip())
        if found is not None and found[2] in JOURNALLED:
            self._open.setdefault(transaction, []).append(sql)

    def forget(self) -> None:
        """Leave out what was written so far, such as the tables of a new file."""
        self._open.clear()

    def close(self) -> None:
        for statements in self._open.values():
            told = any("INTO memstore_journal" in sql for sql in statements)
            self.unsaid += [sql for sql in statements if not told and not is_free(sql)]
        self._open.clear()


def is_free(sql: str) -> bool:
    """Whether a statement may write without a journal line."""
    columns = written_columns(sql)
    free = set().union(*DIRECT.values()) - {"a row", "state", "embedding"}
    return columns <= free or "memstore_graphs" in sql or "SET embedding = NULL WHERE id IN" in sql


@pytest.fixture
def watch(monkeypatch: pytest.MonkeyPatch) -> Watch:
    watch = Watch()

    def watched(verb: Callable[..., Any]) -> Callable[..., Any]:
        def run(self: SqliteTransaction, sql: str, *parameters: Any) -> Any:
            watch.note(self, sql)
            return verb(self, sql, *parameters)

        return run

    for name in ("rows", "one", "run", "queue", "queue_id"):
        monkeypatch.setattr(SqliteTransaction, name, watched(getattr(SqliteTransaction, name)))
    return watch


def two(store: Store) -> tuple[int, int]:
    return (
        store.add("Alice lives in Leipzig", subject="alice").id,
        store.add("Alice lives in Dresden", subject="alice").id,
    )


def proposed(store: Store) -> int:
    old, _ = two(store)
    new = NewFact(content="Alice lives in Bonn", subject="alice")
    [done] = store.apply([AddFact(fact=new, precedence=MayReplace(old))])
    assert done.proposal_id is not None
    return done.proposal_id


def summed_up(store: Store) -> int:
    return store.of().proposals.put_forward(two(store), "Alice moved", {}).id


def erased(store: Store) -> None:
    store.erase(two(store)[0])


def other_model() -> Any:
    class Other:
        model = "ones-3"

        def embed(self, texts: Sequence[str]) -> np.ndarray[Any, Any]:
            return np.ones((len(texts), 3), dtype=np.float32)

    return Other()


def quarantined(store: Store) -> None:
    store.add("refused", subject="x")
    for _ in range(3):
        store.embed_pending()


def graph_of(store: Store) -> Store:
    store.add("Alice Smith works at Acme", subject="Alice Smith")
    store.graph.build()
    store.graph.merge("Alice", "Alice Smith")
    return store


def round_trip(store: Store) -> None:
    old, new = two(store)
    store.supersede(old, new)
    proposed(store)
    store.episodes.record("what was said", source="user")


PUBLIC: dict[str, tuple[Callable[[Store], object], set[str]]] = {
    "add": (two, {"add"}),
    "supersede": (lambda s: s.supersede(*two(s)), {"supersede"}),
    "confirm": (lambda s: s.confirm(two(s)[0]), {"confirm"}),
    "metadata": (lambda s: s.update_metadata(two(s)[0], {"a": 1}), {"metadata"}),
    "delete": (lambda s: s.delete(two(s)[0]), {"delete"}),
    "restore": (lambda s: s.restore(s.delete(two(s)[0]).id), {"delete", "restore"}),
    "reinstate": (
        lambda s: s.reinstate(s.supersede(*two(s)).id),
        {"add", "supersede"},
    ),
    "erase": (erased, {"erase"}),
    "clear": (lambda s: (two(s), s.episodes.record("x"), s.clear()), {"erase", "erase_episode"}),
    "touch": (lambda s: s.touch(two(s)), set()),
    "batch": (
        lambda s: s.apply([DeleteFact(fact_id=two(s)[0]), KeepFact(fact_id=two(s)[1])]),
        {"delete", "keep"},
    ),
    "batch supersede": (
        lambda s: s.apply([SupersedeFact(old_id=one, new_id=other) for one, other in [two(s)]]),
        {"supersede"},
    ),
    "propose": (proposed, {"propose"}),
    "accept": (lambda s: s.proposals.accept(proposed(s)), {"propose", "supersede"}),
    "reject": (lambda s: s.proposals.reject(proposed(s)), {"propose", "reject"}),
    "consolidate": (
        lambda s: s.proposals.accept(summed_up(s)),
        {"propose", "add", "supersede"},
    ),
    "consolidate not": (lambda s: s.proposals.reject(summed_up(s)), {"propose", "reject"}),
    "task": (lambda s: s.tasks.update(s.tasks.create("x").id, status="completed"), {"metadata"}),
    "episode": (lambda s: s.episodes.record("said"), {"episode"}),
    "update episode": (
        lambda s: s.episodes.update(s.episodes.record("said").id, tags=["a"]),
        {"update_episode"},
    ),
    "erase episode": (
        lambda s: s.episodes.erase(s.episodes.record("said").id),
        {"erase_episode"},
    ),
    "embed": (lambda s: (s.episodes.record("said"), s.embed_pending()), {"embed"}),
    "quarantine": (quarantined, {"quarantine"}),
    "reembed": (
        lambda s: (two(s), s.file.reembed(other_model())),
        {"stage_generation", "embed", "switch_generation"},
    ),
    "go back": (
        lambda s: (two(s), s.file.reembed(other_model()), s.file.generations.switch(1)),
        {"switch_generation"},
    ),
    "drop": (
        lambda s: (two(s), s.file.reembed(other_model()), s.file.generations.drop(1)),
        {"drop_generation"},
    ),
    "token": (
        lambda s: s.file.tokens.revoke(s.file.tokens.create("laptop", namespace="default")[0].id),
        {"token"},
    ),
    "graph": (graph_of, {"graph", "same_entity"}),
    "graph undecided": (
        lambda s: graph_of(s).graph.forget("Alice", "Alice Smith"),
        {"undecide"},
    ),
    "graph dropped": (lambda s: graph_of(s).graph.drop(), {"clear_graph"}),
}


def kinds(store: Store) -> set[str]:
    with store.file.engine.read() as transaction:
        return {str(row[0]) for row in transaction.rows("SELECT kind FROM memstore_journal")}


@pytest.mark.parametrize("name", PUBLIC)
def test_a_public_write_journals_in_the_same_transaction(
    name: str, store: Store, embedder: WordEmbedder, watch: Watch
) -> None:
    embedder.poison = "refused"
    write, told = PUBLIC[name]
    write(store)
    watch.close()
    assert watch.unsaid == []
    assert kinds(store) >= told


def test_an_import_journals_everything_it_writes(
    store: Store, open_store: Callable[..., Store], tmp_path: Path, watch: Watch
) -> None:
    round_trip(store)
    there = open_store(tmp_path / "there.db")
    watch.forget()
    there.import_(list(store.export()))
    watch.close()
    assert watch.unsaid == []
    assert kinds(there) >= {"adopt", "propose"}
    assert there.file.doctor() == []


def test_write_without_a_journal_line_is_found(store: Store, watch: Watch) -> None:
    sql = "UPDATE memstore_facts SET content = '' WHERE id = 1"
    with store.file.engine.write() as transaction:
        transaction.run(sql)
    watch.close()
    assert watch.unsaid == [sql]


def test_a_change_without_a_line_is_refused(store: Store) -> None:
    fact = store.add("kept", subject="x")
    statement = fact_table.updating(fact.id, category="lost")
    with (
        pytest.raises(ValueError, match="needs a line"),
        store.file.engine.write() as transaction,
    ):
        Changes(transaction, Author("ben", "test")).write([], statement)
    assert store.get(fact.id) == fact


def test_an_adoption_cannot_change_other_rows(store: Store) -> None:
    fact = store.add("kept", subject="x")
    with (
        pytest.raises(KeyError),
        store.file.engine.write() as transaction,
        Adoption(transaction, Author("ben", "test")) as adoption,
    ):
        adoption.link(fact, fact_table.updating(fact.id, category="lost"))
    assert store.get(fact.id) == fact
