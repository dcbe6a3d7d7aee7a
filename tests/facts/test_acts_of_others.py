"""Who counts less changes nothing that counts more: every act on a fact, at every door."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest
from tests.support.mcp_tools import offered

import memstore
from memstore import Conflict, DeleteFact, NewFact, Store, SupersedeFact
from memstore.domain.trust import Trust
from memstore.faces.mcp.learn import Learning
from memstore.faces.mcp.tool import ToolError
from memstore.faces.mcp.tools import SETS
from memstore.facts.keyed import DeleteKey

EVERY = offered(",".join(SETS))

(PROPOSALS,) = (one for one in Learning(lambda: None).tools() if one.name == "memory_proposals")

PROGRAMS = {
    Trust.PERSON: ("user", None),
    Trust.AGENT: ("agent", "mcp"),
    Trust.TOOL: ("agent", "tool:grep"),
    Trust.EXTERNAL: ("agent", "web:a.org"),
}
"""An actor and a program for each level."""

OWN = {"subject": "ana", "external_key": "home"}


def stand(store: Store, by: Trust, open_store: Callable[..., Store]) -> Store:
    """The same memory as somebody of this level uses it."""
    actor, source = PROGRAMS[by]
    same = open_store(store.path, actor=actor)
    return same if source is None else same.within(source=source)


def call(tool: str) -> Callable[..., Any]:
    return lambda store, **given: EVERY[tool].tool.call(lambda: store, given)


def deleted(person: Store) -> None:
    person.delete(1)


def superseded(person: Store) -> None:
    person.add("Ana lives in Bonn", subject="ana", supersedes=1)


def newer(person: Store) -> None:
    person.add("Ana lives in Bonn", subject="ana")


def pinned(person: Store) -> None:
    person.pin(1)


def proposed(person: Store) -> None:
    person.within(source="web:b.org").add("Ana lives in Bonn", subject="ana", supersedes=1)
    assert len(person.proposals.list()) == 1


def rejected(person: Store) -> None:
    proposed(person)
    person.proposals.reject(person.proposals.list()[0].id)


def tasked(person: Store) -> None:
    person.tasks.create("Water the ferns", scope="user")


def nothing(_: Store) -> None:
    pass


ACTS: dict[str, tuple[Callable[[Store], None], Callable[[Store], Any]]] = {
    "supersede": (newer, lambda s: s.supersede(1, 2)),
    "supersede in a batch": (newer, lambda s: s.ledger.apply([SupersedeFact(old_id=1, new_id=2)])),
    "supersede by a tool": (newer, lambda s: call("memory_supersede")(s, old_id=1, new_id=2)),
    "add": (nothing, lambda s: s.add("Ana lives in Bonn", subject="ana", supersedes=1)),
    "store by a tool": (
        nothing,
        lambda s: call("memory_store")(s, content="Ana lives in Bonn", subject="ana", supersedes=1),
    ),
    "accept": (proposed, lambda s: s.proposals.accept(s.proposals.list()[0].id)),
    "accept by a tool": (
        proposed,
        lambda s: PROPOSALS.call(lambda: s, {"action": "accept", "id": 1}),
    ),
    "decide": (proposed, lambda s: left(s.proposals.decide("accept", [1]))),
    "reject": (proposed, lambda s: s.proposals.reject(s.proposals.list()[0].id)),
    "reopen": (rejected, lambda s: s.proposals.reopen(1)),
    "delete": (nothing, lambda s: s.delete(1)),
    "delete in a batch": (nothing, lambda s: s.ledger.apply([DeleteFact(fact_id=1)])),
    "delete by a tool": (nothing, lambda s: call("memory_delete")(s, id=1)),
    "delete all": (nothing, lambda s: s.of().delete_all()),
    "restore": (deleted, lambda s: s.restore(1)),
    "restore an older one": (superseded, lambda s: s.restore(1)),
    "restore by a tool": (deleted, lambda s: call("memory_delete")(s, id=1, undo=True)),
    "restore what was deleted": (
        deleted,
        lambda s: s.ledger.restore_deleted(s.get(1).deleted_at or ""),
    ),
    "reinstate": (superseded, lambda s: s.reinstate(1)),
    "expire": (nothing, lambda s: s.set_expiry(1, "2030-01-01T00:00:00Z")),
    "metadata": (nothing, lambda s: s.update_metadata(1, {"k": 1})),
    "metadata by a tool": (nothing, lambda s: call("memory_update")(s, id=1, metadata={"k": 1})),
    "pin": (nothing, lambda s: s.pin(1)),
    "pin by a tool": (nothing, lambda s: call("memory_update")(s, id=1, pinned=True)),
    "unpin": (pinned, lambda s: s.unpin(1)),
    "task": (tasked, lambda s: s.tasks.update(2, "completed")),
    "task by a tool": (
        tasked,
        lambda s: call("memory_task_update")(s, id=2, status="completed"),
    ),
    "put": (nothing, lambda s: s.keys.put([NewFact(content="Ana lives in Bonn", **OWN)])),
    "put an expiry": (
        nothing,
        lambda s: s.keys.put(
            [NewFact(content="Ana lives in Rome", expired_at="2030-01-01T00:00:00Z", **OWN)]
        ),
    ),
    "delete a key": (nothing, lambda s: s.keys.put([DeleteKey(external_key="home")])),
    "delete keys": (nothing, lambda s: s.keys.delete(["home"])),
    "revert": (pinned, lambda s: s.ledger.revert(lines=[2]).apply()),
    "erase": (nothing, lambda s: s.erase(1)),
    "erase by a plan": (nothing, lambda s: s.ledger.erasure(facts=[1]).apply()),
}

PROPOSED = ("add", "store by a tool", "supersede in a batch")
"""Acts that put a proposal forward instead."""


class Deciding:
    """A model that finds one fact, and does one thing to the first memory that it is shown."""

    model = "deciding"

    def __init__(self, event: str) -> None:
        self._event = event

    def generate(self, prompt: str) -> str:
        if "The existing memories:" not in prompt:
            return json.dumps({"facts": [{"content": "Ana lives in Bonn", "subject": "ana"}]})
        text = "Ana lives in Bonn" if self._event == "UPDATE" else None
        told = {"fact": 1, "event": self._event, "memory": 1, "text": text}
        return json.dumps({"operations": [told]})


def learnt(event: str) -> Callable[[Store], Any]:
    def act(store: Store) -> None:
        memory = memstore.Memory(store, Deciding(event), policy="trust-the-model")
        memory.add("I live in Bonn", user_id="u")

    return act


def langgraph(operation: str) -> Callable[[Store], Any]:
    def act(store: Store) -> None:
        pytest.importorskip("langgraph")
        from memstore.adapters.langgraph import MemstoreStore

        items = MemstoreStore(store)
        if operation == "put":
            items.put(("a",), "k", {"text": "Bonn"})
        else:
            items.delete(("a",), "k")

    return act


def in_langgraph(person: Store) -> None:
    pytest.importorskip("langgraph")
    from memstore.adapters.langgraph import MemstoreStore

    MemstoreStore(person).put(("a",), "k", {"text": "Rome"})


def mem0(operation: str) -> Callable[[Store], Any]:
    def act(store: Store) -> None:
        from memstore.adapters.mem0 import Memory

        memory = Memory(store)
        (found,) = memory.get_all(filters={"user_id": "u"})["results"]
        match operation:
            case "update":
                memory.update(found["id"], "Ana lives in Bonn")
            case "delete":
                memory.delete(found["id"])
            case _:
                memory.delete_all(user_id="u")

    return act


def files(command: str, **given: Any) -> Callable[[Store], Any]:
    def act(store: Store) -> None:
        pytest.importorskip("anthropic")
        from memstore.adapters.anthropic import MemoryTool

        MemoryTool(store).call({"command": command, "path": "/memories/ana.txt", **given})

    return act


def owned(person: Store) -> None:
    person.add("Ana drinks tea", subject="ana", user_id="u")


DOORS: dict[str, tuple[Callable[[Store], Any], Callable[[Store], Any]]] = {
    "Memory.update": (
        owned,
        lambda s: memstore.Memory(s).update(2, "Ana drinks coffee", user_id="u"),
    ),
    "Memory.delete": (owned, lambda s: memstore.Memory(s).delete(2, user_id="u")),
    "Memory.delete_all": (owned, lambda s: memstore.Memory(s).delete_all(user_id="u")),
    "a model that updates": (owned, learnt("UPDATE")),
    "a model that deletes": (owned, learnt("DELETE")),
    "langgraph put": (in_langgraph, langgraph("put")),
    "langgraph delete": (in_langgraph, langgraph("delete")),
    "mem0 update": (owned, mem0("update")),
    "mem0 delete": (owned, mem0("delete")),
    "mem0 delete_all": (owned, mem0("delete_all")),
    "a line of a file inserted": (
        files("create", file_text="Rome"),
        files("insert", insert_line=1, insert_text="Bonn"),
    ),
    "a file edited": (
        files("create", file_text="Rome"),
        files("str_replace", old_str="Rome", new_str="Bonn"),
    ),
    "a file deleted": (files("create", file_text="Rome"), files("delete")),
    "a task updated": (tasked, lambda s: s.tasks.update(2, "cancelled", note="no")),
    "a version forgotten": (
        lambda p: p.keys.put([NewFact(content="Ana lives in Bonn", **OWN)]),
        lambda s: s.keys.forget_versions("", keep=0),
    ),
    "an undo by a tool": (deleted, lambda s: call("memory_delete")(s, id=1, undo=True)),
}
"""Other ways to the same acts: how it came about, and what is done."""

BEYOND: dict[str, Callable[[Store], Any]] = {
    "clear": lambda s: s.clear(),
    "trust": lambda s: s.sources.trust("web:a.org", "person"),
    "distrust": lambda s: s.sources.distrust("user"),
    "merge": lambda s: s.graph.merge("Ana", "Anna"),
    "keep apart": lambda s: s.graph.keep_apart("Ana", "Anna"),
    "withdraw a decision": lambda s: s.graph.forget("Ana", "Ann"),
}
"""Acts on more than a fact, which are not for external programs."""


def left(done: Any) -> None:
    if done.left:
        raise Conflict("left")


def facts(store: Store) -> list[Any]:
    """What the memory holds of a person, without what was added beside it."""
    return [store.get(1).to_dict(), *[task.to_dict() for task in store.tasks.list(status="all")]]


def everything(store: Store) -> list[dict[str, Any]]:
    """What the memory holds, deleted facts and all."""
    return [fact.to_dict() for fact in store.get_many(range(1, 10))]


@pytest.mark.parametrize("by", PROGRAMS)
@pytest.mark.parametrize("act", ACTS)
def test_what_counts_less_changes_no_fact_of_a_person(
    open_store: Callable[..., Store], tmp_path: Any, act: str, by: Trust
) -> None:
    person = open_store(tmp_path / "memory.db", actor="user")
    person.add("Ana lives in Rome", **OWN)
    prepare, do = ACTS[act]
    prepare(person)
    before, lines = facts(person), len(person.of("all").ledger.log())
    other = stand(person, by, open_store)
    if by.rank >= Trust.AGENT.rank:
        do(other)  # an agent acts for its person
        assert len(person.of("all").ledger.log()) > lines or act.startswith("erase")
    elif act in PROPOSED:
        do(other)
        assert [one.old.id for one in person.proposals.list()] == [1]
        assert facts(person) == before
    else:
        with pytest.raises((Conflict, ToolError), match=r"counts less|counts more|^left$"):
            do(other)
        assert facts(person) == before


@pytest.mark.parametrize("door", DOORS)
def test_no_other_door_lets_what_counts_less_change_a_fact_of_a_person(
    open_store: Callable[..., Store], tmp_path: Any, door: str
) -> None:
    person = open_store(tmp_path / "memory.db", actor="user")
    person.add("Ana lives in Rome", **OWN)
    prepare, do = DOORS[door]
    prepare(person)
    before = everything(person)
    with suppress(Conflict, ToolError):  # it may propose, or store its own beside it
        do(stand(person, Trust.EXTERNAL, open_store))
    assert [fact for fact in everything(person) if fact["id"] <= before[-1]["id"]] == before


@pytest.mark.parametrize("door", DOORS)
def test_every_door_is_open_to_a_person(
    open_store: Callable[..., Store], tmp_path: Any, door: str
) -> None:
    person = open_store(tmp_path / "memory.db", actor="user")
    person.add("Ana lives in Rome", **OWN)
    prepare, do = DOORS[door]
    prepare(person)
    line = len(person.of("all").ledger.log())
    do(person)
    assert len(person.of("all").ledger.log()) > line or door == "a version forgotten"


@pytest.mark.parametrize("act", ["delete", "expire", "metadata", "pin", "put", "erase"])
def test_an_external_program_may_change_its_own_facts(
    open_store: Callable[..., Store], tmp_path: Any, act: str
) -> None:
    web = open_store(tmp_path / "memory.db", actor="agent").within(source="web:a.org")
    web.add("Ana lives in Rome", **OWN)
    ACTS[act][1](web)


@pytest.mark.parametrize("act", BEYOND)
def test_an_external_program_decides_nothing_about_the_memory(store: Store, act: str) -> None:
    store.add("Ana lives in Rome", subject="ana")
    store.graph.merge("Ana", "Ann")
    web = store.within(source="web:a.org")
    with pytest.raises(Conflict, match="counts less"):
        BEYOND[act](web)
    assert store.get(1).status == "active"


def test_an_external_program_changes_no_words_of_a_person(store: Store) -> None:
    said = store.episodes.add("I live in Rome", source="chat", speaker="user")
    theirs = store.episodes.add("Rome is in Italy", source="web:a.org")
    web = store.within(source="web:a.org").episodes
    for act in (
        lambda: web.update(said.id, tags=["x"]),
        lambda: web.expire([said.id]),
        lambda: web.erase(said.id),
        lambda: web.pop(oldest=True),
    ):
        with pytest.raises(Conflict, match="counts less"):
            act()
    assert store.episodes.get(said.id) == said
    web.update(theirs.id, tags=["x"])
