"""Journalled data is only written together with its journal lines."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from tests.support.embedders import WordEmbedder
from tests.support.sources import parsed

from memstore import NewFact, Store
from memstore.database.changes import Adoption, Changes
from memstore.database.journal import Author
from memstore.database.sqlite.engine import SqliteTransaction
from memstore.database.tables import facts as fact_table
from memstore.database.writes import Form, Update
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
    "engine.create": {"a row"},  # the generation that every new database has
    "episodes.refile": {
        "segments",
        "tags",
    },  # sets tags to their current value, so that they are indexed
    "facts.key_categories": {"category_key"},
    "carrying.write": {"a row"},
    "facts.refile": set(),  # what is derived from a fact's text
    "facts.touch": {"last_used_at", "use_count"},
    "generations.record_model": {"dimension", "model"},  # of the first vector
    "graph.begin": {"a row", "state"},  # of a build that queries do not see yet
    "graph.remove_some": {"a row"},  # of a build that queries no longer see
    "graph.remove": {"a row"},
    "vectors.blank_some": {"embedding"},  # of a generation that is being dropped
    "vectors.note_failure": {"embed_attempts", "embed_error"},
    "vectors.place": {"a row"},  # of an owner that has just been stored
    "vectors.place_each": {"a row"},  # of an owner that has just been stored
    "vectors.place_all": {"a row"},  # without a vector
    "vectors.place_nothing": {"a row"},  # of an owner that is never embedded
    "vectors.release_quarantine": {"embed_attempts"},
    "vectors.remove_strays": {"a row"},  # of owners that do not exist
}
"""The functions that write a journalled table without a line, and which columns they set."""

STANDING_FOR = {
    "table.name": "memstore_fact_vectors",
    "self._table.name": "memstore_fact_vectors",
    "PIECES.name": "memstore_piece_vectors",
}
"""Expressions for tables."""

FORMS = ("Insert", "Update", "Delete")
VERBS = ("run", "run_later", "returned", "queue", "queue_all", "queue_ids")


def sources() -> Iterator[tuple[Path, list[ast.AST]]]:
    for file, nodes in parsed().items():
        if file.name != "migrations.py":  # it creates the tables
            yield file, nodes


def is_call(node: ast.AST, *names: str) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in names


def named(nodes: Iterable[ast.AST], *, local: bool = False) -> dict[str, list[ast.Call]]:
    """Return the forms by the names of the constants, attributes and functions that have them.

    Args:
        local: by those of variables, too.
    """
    found: dict[str, list[ast.Call]] = {}
    for node in nodes:
        if isinstance(node, ast.FunctionDef):
            names = [node.name]
            values = [one.value for one in ast.walk(node) if isinstance(one, ast.Return)]
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            written = [ast.unparse(one) for one in targets]
            names = [
                one.rpartition(".")[2] for one in written if local or one.isupper() or "." in one
            ]
            values = [node.value]
        else:
            continue
        forms = [one for one in values if one is not None and is_call(one, *FORMS)]
        for name in names if forms else ():
            found.setdefault(name, []).extend(one for one in forms if isinstance(one, ast.Call))
    return found


def forms_of(node: ast.expr, *scopes: dict[str, list[ast.Call]]) -> list[ast.Call]:
    """Return the forms that an expression stands for."""
    if isinstance(node, ast.Call):
        if is_call(node, *FORMS):
            return [node]
        node = node.func
    name = ast.unparse(node).rpartition(".")[2]
    return next((scope[name] for scope in scopes if name in scope), [])


def table_of(form: ast.Call) -> str:
    table = form.args[0]
    if isinstance(table, ast.Constant):
        return str(table.value)
    return STANDING_FOR.get(ast.unparse(table), ast.unparse(table))


def columns_of(form: ast.Call) -> set[str]:
    """Return the columns that an update sets, as far as they are named; else "a row"."""
    if not is_call(form, "Update"):
        return {"a row"}
    settings = form.args[1]
    given = settings.keys if isinstance(settings, ast.Dict) else getattr(settings, "args", [])
    return {str(one.value) for one in given if isinstance(one, ast.Constant)}


class Use(NamedTuple):
    """A place where a form is run, or given values as a part of a change."""

    place: str
    form: ast.Call
    is_direct: bool


def uses() -> Iterator[Use]:
    everywhere = named(node for _, nodes in sources() for node in nodes)
    for file, nodes in sources():
        here = named(nodes)
        for function in nodes:
            if not isinstance(function, ast.FunctionDef):
                continue
            inside = named(ast.walk(function), local=True)
            inside.pop(function.name, None)
            for call in ast.walk(function):
                if not isinstance(call, ast.Call) or not call.args:
                    continue
                is_direct = isinstance(call.func, ast.Attribute) and call.func.attr in VERBS
                if is_direct or is_call(call, "Write"):
                    for form in forms_of(call.args[0], inside, here, everywhere):
                        yield Use(f"{file.stem}.{function.name}", form, is_direct)


def test_journalled_tables_are_written_only_by_changes_or_listed_functions() -> None:
    found = [use for use in uses() if table_of(use.form) in JOURNALLED]
    # The scan works: every table is written somewhere.
    assert {table_of(use.form) for use in found} == JOURNALLED
    direct: dict[str, set[str]] = {}
    for place, form, is_direct in found:
        if is_direct and (place, table_of(form)) != ("acts.add", "memstore_journal"):
            direct.setdefault(place, set()).update(columns_of(form))
    assert direct == DIRECT


def test_every_form_in_the_package_is_seen() -> None:
    """A form that is made and run in different places would be overlooked."""
    seen = {id(use.form) for use in uses()}
    for file, nodes in sources():
        for node in nodes:
            if is_call(node, *FORMS) and file.parent.name != "postgres":
                assert id(node) in seen, (file, ast.unparse(node))


def test_only_changes_runs_writes() -> None:
    users = {
        file.as_posix()
        for file, nodes in parsed().items()
        for node in nodes
        if file.parent.name != "postgres"
        and isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in VERBS
        and any(isinstance(one, ast.Starred) for one in node.args)
    }
    # A repair stores what belongs to a vector, which stays as it is.
    assert users == {"database/changes.py", "embedding/repair.py"}


# -- at run time ---------------------------------------------------------------------------------


class Watch:
    """Records what each transaction writes."""

    def __init__(self) -> None:
        self.unsaid: list[Form] = []
        self._open: dict[SqliteTransaction, list[Form]] = {}

    def note(self, transaction: SqliteTransaction, form: Form) -> None:
        if form.table in JOURNALLED:
            self._open.setdefault(transaction, []).append(form)

    def forget(self) -> None:
        """Leave out what was written so far, such as the tables of a new file."""
        self._open.clear()

    def close(self) -> None:
        for forms in self._open.values():
            told = any(form.table == "memstore_journal" for form in forms)
            self.unsaid += [form for form in forms if not told and not is_free(form)]
        self._open.clear()


def is_free(form: Form) -> bool:
    """Whether a form may be written without a journal line."""
    columns = {*form.settings} if isinstance(form, Update) else {"a row"}
    free = set().union(*DIRECT.values()) - {"a row", "state", "embedding"}
    blanks_some = columns == {"embedding"} and form.where.startswith("id IN")
    return columns <= free or form.table == "memstore_graphs" or blanks_some


@pytest.fixture
def watch(monkeypatch: pytest.MonkeyPatch) -> Watch:
    watch = Watch()

    def watched(verb: Callable[..., Any]) -> Callable[..., Any]:
        def run(self: SqliteTransaction, form: Form, *values: Any) -> Any:
            watch.note(self, form)
            return verb(self, form, *values)

        return run

    for name in ("run", "returned", "queue", "queue_all", "queue_ids"):
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
    [done] = store.ledger.apply([AddFact(fact=new, precedence=MayReplace(old))])
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
        store.file.embed_pending()


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
    "touch": (lambda s: s.searches.note_use(two(s)), set()),
    "batch": (
        lambda s: s.ledger.apply([DeleteFact(fact_id=two(s)[0]), KeepFact(fact_id=two(s)[1])]),
        {"delete", "keep"},
    ),
    "batch supersede": (
        lambda s: s.ledger.apply(
            [SupersedeFact(old_id=one, new_id=other) for one, other in [two(s)]]
        ),
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
    "embed": (lambda s: (s.episodes.record("said"), s.file.embed_pending()), {"embed"}),
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
    there.transfer.import_(list(store.transfer.export()))
    watch.close()
    assert watch.unsaid == []
    assert kinds(there) >= {"adopt", "propose"}
    assert there.file.doctor() == []


def test_write_without_a_journal_line_is_found(store: Store, watch: Watch) -> None:
    form = Update("memstore_facts", {"content": "''"}, "id = 1")
    with store.file.engine.write() as transaction:
        transaction.run(form)
    watch.close()
    assert watch.unsaid == [form]


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
