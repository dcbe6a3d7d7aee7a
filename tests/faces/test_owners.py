"""Data of an owner is found by naming exactly that owner, and never otherwise.

Every combination of the data's owner, the requested owner, face and operation.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from tests.support import mcp_tools
from tests.support.command_line import CommandLine, cli_fixture  # noqa: F401 - a fixture
from tests.support.embedders import WordEmbedder
from tests.support.engines import copied

import memstore
from memstore import NewFact, NotFound, Scope, Store
from memstore.domain.records import OwnersSelection
from memstore.faces.mcp.tool import ToolError

OWNERS = {
    "nobody": Scope(),
    "ana": Scope(user_id="ana"),
    "ana in a run": Scope(user_id="ana", run_id="r1"),
    "ana with an agent": Scope(user_id="ana", agent_id="bot"),
    "ben": Scope(user_id="ben"),
    "an agent": Scope(agent_id="bot"),
    "a run": Scope(run_id="r1"),
}
NAMES = dict(enumerate(OWNERS, 1))
"""The owners of the facts, episodes and tasks, in storage order."""

ASKED: dict[str, OwnersSelection] = {**OWNERS, "everybody": "all", "Ana": Scope(user_id="Ana")}
FLAGS = {"user_id": "--user", "agent_id": "--agent", "run_id": "--run"}

Found: TypeAlias = "set[str]"
Call: TypeAlias = Callable[..., Any]


def expected(asked: str) -> Found:
    if asked == "everybody":
        return {*OWNERS}
    return {asked} & {*OWNERS}


@pytest.fixture(scope="module")
def filled_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("filled") / "memory.db"
    with memstore.open(path, embedder=WordEmbedder()) as store:
        for name, scope in OWNERS.items():
            store.add(f"kayak {name}", subject="Thing", **scope.ids)
        for name, scope in OWNERS.items():
            store.of(scope).tasks.create(f"kayak {name}")
        for name, scope in OWNERS.items():
            store.of(scope).episodes.add(f"kayak {name}", source="log")
        store.file.embed_pending()
    return path


@pytest.fixture
def filled(filled_file: Path, path: Path, open_store: Callable[..., Store]) -> Store:
    """Facts 1 to 7, tasks 8 to 14, episodes 1 to 7, and proposals about facts 15 and more."""
    copied(filled_file, path)
    return open_store()


def named(texts: list[str]) -> Found:
    return {text.removeprefix("kayak ") for text in texts}


def facts(found: Any) -> Found:
    return named([getattr(one, "fact", one).content for one in found])


def episodes(found: Any) -> Found:
    return named([getattr(one, "episode", one).content for one in found])


# -- the library ---------------------------------------------------------------------------------

READS: dict[str, Callable[[Store, OwnersSelection], Found]] = {
    "search": lambda s, a: facts(s.of(a).search("kayak", subject="thing", limit=20)),
    "search without a subject": lambda s, a: {
        name
        for name in facts(s.of(a).search("kayak", limit=20))
        if name in facts(s.of("all").list(subject="thing"))
    },
    "search by words": lambda s, a: facts(s.of(a).search("kayak", vector_weight=0, limit=20)),
    "search by meaning": lambda s, a: facts(s.of(a).search("kayak", word_weight=0, limit=20)),
    "search_batch": lambda s, a: facts(s.of(a).search_batch(["kayak"], limit=20)[0]),
    "list": lambda s, a: facts(s.of(a).list()),
    "list of everything": lambda s, a: facts(s.of(a).list(active_only=False)),
    "list of a category": lambda s, a: facts(s.of(a).list(category="note", subject="thing")),
    "history of a subject": lambda s, a: facts(s.of(a).history(subject="thing")),
    "exists": lambda s, a: {
        name for name in OWNERS if s.of(a).exists(f"kayak {name}", subject="thing")
    },
    "tasks.list": lambda s, a: named([task.content for task in s.of(a).tasks.list()]),
    "episodes.search": lambda s, a: episodes(s.of(a).episodes.search("kayak", limit=20)),
    "episodes.search, newest": lambda s, a: episodes(s.of(a).episodes.search()),
    "episodes.search by meaning": lambda s, a: episodes(
        s.of(a).episodes.search("kayak", mode="meaning")
    ),
    "episodes.list": lambda s, a: episodes(s.of(a).episodes.list()),
}


@pytest.mark.parametrize("asked", ASKED)
def test_the_library_reads_only_facts_of_the_named_owners(filled: Store, asked: str) -> None:
    scope = ASKED[asked]
    for verb, read in READS.items():
        assert read(filled, scope) == expected(asked), verb
    number = len(expected(asked))
    assert filled.of(scope).count() == 2 * number
    assert filled.of(scope).episodes.count() == number
    status = filled.of(scope).status()
    assert (status.active, status.episodes) == (2 * number, number)
    assert status.subjects == ({"Thing": number, "todo": number} if number else {})
    assert (status.pending, status.episodes_pending) == (0, 0)


def test_no_owner_selects_facts_without_owners(filled: Store) -> None:
    for verb, read in READS.items():
        assert read(filled, None) == {"nobody"}, verb
    assert filled.status().active == filled.count() == 2


def test_pending_items_are_counted_per_owner(open_store: Callable[..., Store]) -> None:
    store = open_store(embedder=None)
    store.add("tea", subject="s", user_id="ana")
    store.delete(store.add("coffee", subject="s", user_id="ana").id)
    store.add("water", subject="s", user_id="ana", expired_at="2020-01-01")
    store.supersede(store.add("milk", subject="s", user_id="ana").id, 1)
    store.of(user_id="ana").episodes.add("words", source="s")
    store.add("wine", subject="s")

    def counted(scope: OwnersSelection) -> tuple[int, ...]:
        s = store.of(scope).status()
        of_facts = (s.active, s.superseded, s.deleted, s.expired, s.pending)
        return (*of_facts, s.episodes, s.episodes_pending)

    assert counted(None) == (1, 0, 0, 0, 1, 0, 0)
    assert counted(Scope(user_id="ana")) == (1, 1, 1, 1, 3, 1, 1)
    assert counted("all") == (2, 1, 1, 1, 4, 1, 1)


@pytest.mark.parametrize("owner", OWNERS)
def test_library_finds_ids_of_any_owner(filled: Store, owner: str) -> None:
    fact = next(one for one in filled.of("all").list() if one.content == f"kayak {owner}")
    assert filled.get(fact.id) == fact
    assert [one.id for one in filled.history(fact.id)] == [fact.id]
    filled.delete(fact.id)
    assert filled.restore(fact.id).id == fact.id
    for asked, scope in ASKED.items():
        if owner in expected(asked):
            filled.of(scope).get(fact.id)
            filled.of(scope).episodes.get(fact.id)
        else:
            with pytest.raises(NotFound, match=f"no fact {fact.id} in"):
                filled.of(scope).get(fact.id)
            with pytest.raises(NotFound, match=f"no episode {fact.id} in"):
                filled.of(scope).episodes.get(fact.id)
            if isinstance(scope, Scope):
                with pytest.raises(NotFound):
                    filled.of(scope).history(fact.id)


def test_a_history_hides_facts_of_other_owners(store: Store) -> None:
    old = store.add("Ana's PIN is 1234", subject="pin", user_id="ana")
    new = store.add("there is no PIN", subject="pin")
    store.supersede(old.id, new.id)
    assert [one.id for one in store.of().history(new.id)] == [new.id]
    assert [one.id for one in store.history(new.id)] == [old.id, new.id]


def test_proposals_are_listed_for_their_owners(store: Store) -> None:
    for name, scope in OWNERS.items():
        ids = [store.add(f"{name} {n}", subject="s", **scope.ids).id for n in range(2)]
        store.of(scope).proposals.put_forward(ids, f"kayak {name}", {})

    def found(scope: OwnersSelection) -> Found:
        return named([one.content for one in store.of(scope).proposals.list()])

    for asked, scope in ASKED.items():
        assert found(scope) == expected(asked)
    assert found(None) == {"nobody"}


def test_the_graph_is_read_for_its_owners(store: Store) -> None:
    for name, scope in OWNERS.items():
        store.add("Carol works at Initech", subject=f"Person {name}", **scope.ids)
    store.graph.build()

    def found(scope: OwnersSelection) -> Found:
        names = {one.name for one in store.of(scope).graph.entities()}
        return {name.removeprefix("Person ") for name in names if name.startswith("Person ")}

    for asked, scope in ASKED.items():
        assert found(scope) == expected(asked)
    assert found(None) == {"nobody"}
    relations = {
        fact.subject
        for one in store.graph.neighbours("Initech")
        for step in one.path
        for relation in step
        for fact in relation.facts
    }
    assert relations == {"Person nobody"}


def test_an_idempotency_key_of_other_owners_is_a_conflict(store: Store) -> None:
    ana = Scope(user_id="ana")
    store.add("tea", subject="s", idempotency_key="k", user_id="ana")
    store.of(ana).episodes.add("tea", source="s", idempotency_key="k")
    with pytest.raises(memstore.IdempotencyConflict, match="a fact of other owners"):
        store.add("tea", subject="s", idempotency_key="k")
    with pytest.raises(memstore.IdempotencyConflict, match="an episode of other owners"):
        store.episodes.add("tea", source="s", idempotency_key="k")
    assert store.of(ana).episodes.add("tea", source="s", idempotency_key="k").id == 1
    assert store.list() == store.episodes.list() == []


@pytest.mark.parametrize("owners", ["ana", "All", 3, ["all"]])
def test_owners_are_a_scope_or_all(store: Store, owners: Any) -> None:
    for one in (store, store.of(user_id="ana"), store.as_of("now")):
        with pytest.raises(TypeError, match='owners must be a Scope, AtLeast or "all", not'):
            one.of(owners)
    with pytest.raises(ValueError, match="owners cannot be combined with ids"):
        store.of("all", user_id="ana")


# -- the command line ----------------------------------------------------------------------------


def flags(asked: str) -> list[str]:
    scope = ASKED[asked]
    if not isinstance(scope, Scope):
        return ["--scope", "all"]
    return [part for n, id_ in scope.ids.items() if id_ is not None for part in (FLAGS[n], id_)]


SOME = ("nobody", "ana", "ana in a run")
"""Whose ids the commands are asked about: each command opens the file again."""

LISTS = (
    "search kayak --subject thing",
    "list --subject thing",
    "history --subject thing",
    "task list",
    "episode search kayak",
    "episode list",
)


def contents(told: Any) -> Found:
    values = [one.get("fact") or one.get("episode") or one for one in told]
    return named([one["content"] for one in values])


@pytest.mark.parametrize("asked", ASKED)
def test_commands_find_only_facts_of_the_named_owners(
    filled: Store, cli: CommandLine, asked: str
) -> None:
    for words in LISTS:
        assert contents(cli.json(*words.split(), *flags(asked))) == expected(asked), words
    number = len(expected(asked))
    assert cli.json("status", *flags(asked))["active"] == 2 * number


FACT_VERBS = {
    "get": ("get", "{}"),
    "history": ("history", "{}"),
    "journal": ("history", "{}", "--journal"),
    "confirm": ("confirm", "{}"),
    "update": ("update", "{}", "-m", "a=1"),
    "delete": ("delete", "{}"),
    "restore": ("restore", "{}"),
    "reinstate": ("reinstate", "{}"),
    "supersede": ("supersede", "{0}", "{1}"),
    "erase": ("erase", "{}", "--yes"),
}
REACHED = {
    "restore": "is active, so there is nothing",
    "reinstate": "not superseded, so there is nothing",
}
"""What is said where the id was known and the state was another."""


@pytest.mark.parametrize("asked", [*SOME, "everybody"])
@pytest.mark.parametrize("verb", FACT_VERBS)
def test_commands_accept_only_ids_of_the_named_owners(
    filled: Store, cli: CommandLine, asked: str, verb: str
) -> None:
    ids = {fact.content.removeprefix("kayak "): fact.id for fact in filled.of("all").list()[:7]}
    for owner in SOME:
        fact_id = ids[owner]
        other = filled.add("another", subject="thing", **OWNERS[owner].ids).id
        parts = [part.format(fact_id, other) for part in FACT_VERBS[verb]]
        answer = cli(*parts, *flags(asked))
        if owner in expected(asked):
            assert answer.code == 0 or REACHED[verb] in answer.err, answer.err
        else:
            assert answer.code == 1, owner
            assert re.search(f"there is no (fact|memory) {fact_id} ", answer.err)


@pytest.mark.parametrize("asked", [*SOME, "everybody"])
@pytest.mark.parametrize("verb", ["get {}", "update {} --tag x", "erase {} --yes", "task"])
def test_commands_accept_only_episodes_and_tasks_of_the_named_owners(
    filled: Store, cli: CommandLine, asked: str, verb: str
) -> None:
    for number, owner in [*NAMES.items()][: len(SOME)]:
        words = f"episode {verb}".format(number).split()
        if verb == "task":
            words = ["task", "update", str(number + 7), "completed"]
        answer = cli(*words, *flags(asked))
        assert answer.code == (0 if owner in expected(asked) else 1)
        assert ("there is no " in answer.err) == (owner not in expected(asked))


def test_the_command_line_stores_for_owners(cli: CommandLine) -> None:
    cli.add("tea", "s", "--user", "ana", "--run", "r")
    cli.json("task", "add", "brew", "--user", "ana")
    assert cli.json("list") == cli.json("task", "list") == []
    assert [one["content"] for one in cli.json("list", "--user", "ana", "--run", "r")] == ["tea"]
    assert [one["content"] for one in cli.json("task", "list", "--user", "ana")] == ["brew"]
    code, said = cli.error("add", "coffee", "--subject", "s", "--supersedes", "1")
    assert (code, "there is no fact 1" in said) == (1, True)
    assert cli("list", "--scope", "all", "--user", "ana").code == 2


# -- the tools -----------------------------------------------------------------------------------

TOOLS = mcp_tools.offered("facts,tasks,episodes,graph")


@pytest.fixture
def call(filled: Store) -> Call:
    return lambda tool, **arguments: TOOLS[tool].call(lambda: filled, arguments)


def said(asked: str) -> dict[str, Any]:
    scope = ASKED[asked]
    assert isinstance(scope, Scope)
    return {name: id_ for name, id_ in scope.ids.items() if id_ is not None}


TOOL_ASKED = [asked for asked in ASKED if asked != "everybody"]
TOOL_LISTS: dict[str, tuple[str, dict[str, Any]]] = {
    "memory_search": ("facts", {"query": "kayak", "subject": "thing", "limit": 50}),
    "memory_list": ("facts", {"subject": "thing"}),
    "memory_history": ("facts", {"subject": "thing"}),
    "memory_task_list": ("tasks", {}),
    "search": ("episodes", {"query": "kayak"}),
    "get_episodes": ("episodes", {}),
}


@pytest.mark.parametrize("asked", TOOL_ASKED)
def test_tools_find_only_facts_of_the_named_owners(call: Call, asked: str) -> None:
    for tool, (key, arguments) in TOOL_LISTS.items():
        answer = call(tool, **arguments, **said(asked))
        assert named([one["content"] for one in answer[key]]) == expected(asked), tool
    assert call("memory_status", **said(asked)).get("active", 0) == 2 * len(expected(asked))


TOOL_VERBS: dict[str, Callable[[int], dict[str, Any]]] = {
    "memory_history": lambda n: {"id": n},
    "memory_confirm": lambda n: {"id": n},
    "memory_update": lambda n: {"id": n, "metadata": {"a": 1}},
    "memory_supersede": lambda n: {"old_id": n, "new_id": n + 14},
    "memory_delete": lambda n: {"id": n},
    "memory_task_update": lambda n: {"id": n + 7, "status": "completed"},
    "update_episode": lambda n: {"id": n, "tags": ["x"]},
}


@pytest.mark.parametrize("asked", TOOL_ASKED)
@pytest.mark.parametrize("tool", TOOL_VERBS)
def test_tools_accept_only_ids_of_the_named_owners(
    call: Call, filled: Store, asked: str, tool: str
) -> None:
    filled.add_many(
        NewFact(content="another", subject="thing", **scope.ids) for scope in OWNERS.values()
    )
    for number, owner in NAMES.items():
        arguments = TOOL_VERBS[tool](number) | said(asked)
        if owner not in expected(asked):
            with pytest.raises(ToolError, match=r"there is no (fact|episode) \d+ in"):
                call(tool, **arguments)
        else:
            call(tool, **arguments)


def test_no_tool_selects_all_owners(call: Call) -> None:
    for tool, (_, arguments) in TOOL_LISTS.items():
        if tool != "memory_task_list":  # there it says who does it
            with pytest.raises(ToolError, match="there is no argument 'scope'"):
                call(tool, **arguments, scope="all")
    assert call("memory_list", subject="thing", user_id="all")["facts"] == []


def test_tools_store_for_owners(call: Call, filled: Store) -> None:
    for tool, arguments in {
        "memory_store": {"content": "tea", "subject": "s"},
        "memory_task_create": {"content": "brew", "scope": "user"},
        "add_memory": {"content": "we drank tea", "source": "s"},
    }.items():
        call(tool, **arguments, user_id="dora")
    dora = Scope(user_id="dora")
    assert [fact.content for fact in filled.of(dora).list()] == ["tea", "brew"]
    assert [one.content for one in filled.of(dora).episodes.list()] == ["we drank tea"]
    with pytest.raises(ToolError, match="there is no fact"):
        call("memory_store", content="x", subject="s", supersedes=2)
    for left_out in ("", " "):
        assert call("memory_list", user_id=left_out) == call("memory_list")


def test_owner_arguments_are_offered_only_with_the_learning_tools(filled: Store) -> None:
    every = "facts,tasks,episodes,graph"
    for told in (False, True):
        offered = mcp_tools.offered(f"{every},learn" if told else every)
        for tool in offered.values():
            shown = tool.declaration["inputSchema"]["properties"]
            assert ({"user_id", "agent_id", "run_id"} <= shown.keys()) == told, tool.name
        assert ("user_id" in mcp_tools.instructions(offered)) == told


# -- names ---------------------------------------------------------------------------------------


def test_owners_and_namespaces_are_case_sensitive_and_normalized(
    open_store: Callable[..., Store],
) -> None:
    composed, split = "Zo\u00eb", "Zoe\u0308"
    store = open_store(namespace=split)
    store.add("tea", subject="s", user_id=split)
    store.of(user_id=split).episodes.add("words", source="s")
    same = open_store(namespace=composed)
    assert same.namespace == composed
    assert len(same.of(user_id=composed).list()) == 1
    assert len(same.of(user_id=composed).episodes.list(namespaces=split)) == 1
    assert same.of(user_id=composed.lower()).list() == []
    assert open_store(namespace=composed.lower()).of("all").list() == []
    confined = same.within(split, confined=True)
    assert len(confined.of("all").search("tea", namespaces=split)) == 1


def test_the_entities_of_an_owner_can_be_paged_to_the_end(call: Call, filled: Store) -> None:
    for name in ("Alice", "Bob", "Carol"):
        filled.add(f"{name} met Dave in Paris", subject=name, user_id="ana")
    filled.add("Erin owns a boat", subject="Erin")
    filled.graph.build()
    answer = call("memory_graph_entities", limit=100)
    assert "more" not in answer
    assert "Alice" not in {one["name"] for one in answer["entities"]}
    first = call("memory_graph_entities", limit=1, user_id="ana")
    every = call("memory_graph_entities", limit=100, user_id="ana")["entities"]
    assert first["more"] == len(every) - 1
