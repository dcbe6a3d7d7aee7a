"""What one call stores, and that the call which undoes it takes all of it back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from tests.support.mcp_tools import offered

from memstore import AddFact, Conflict, NewFact
from memstore.faces.mcp.tool import ToolError

if TYPE_CHECKING:
    from collections.abc import Callable

    from memstore import Store

TOOLS = offered("facts,tasks,episodes,learn")


@pytest.fixture
def call(store: Store) -> Callable[..., dict[str, Any]]:
    return lambda tool, **given: TOOLS[tool].call(lambda: store, given)


def test_a_correction_without_a_category_keeps_the_kind(
    store: Store, call: Callable[..., Any]
) -> None:
    first = store.add("Ana likes tea", subject="ana", category="preference")
    told = call("memory_store", content="Ana likes mate", subject="Ana", supersedes=first.id)
    assert store.get(told["id"]).category == "preference"
    by_library = store.add("Ana likes cocoa", subject="ana", supersedes=told["id"])
    assert by_library.category == "preference"
    new = NewFact(content="Ana likes milk", subject="ana", supersedes=by_library.id)
    (in_a_batch,) = store.ledger.apply([AddFact(fact=new)])
    assert in_a_batch.fact.category == "preference"
    (of_many,) = store.add_many(
        [NewFact(content="Ana likes cola", subject="ana", supersedes=in_a_batch.fact.id)]
    )
    assert of_many.category == "preference"
    said = store.add("Ana likes juice", subject="ana", category="note", supersedes=of_many.id)
    assert (said.category, store.add("Ana sings", subject="ana").category) == ("note", "note")


@pytest.mark.parametrize(
    "also",
    [
        [{"content": "x" * 1_000_000}, {"content": "y" * 500_000}],
        [{"content": "\u8336" * 500_000}],
        [{"content": f"Ana likes tea {n}"} for n in range(1_500)],
        [{"content": f"tea {n}", "metadata": {"notes": "z" * 60_000}} for n in range(30)],
        [{"content": "\ud800" * 900_000}, {"content": "\ud800" * 900_000}],
    ],
    ids=["long", "bytes", "many", "metadata", "surrogates"],
)
def test_more_than_one_act_may_store_is_refused_and_nothing_stored(
    store: Store, call: Callable[..., Any], also: list[dict[str, Any]]
) -> None:
    with pytest.raises(ToolError, match=r"one act stores at most 1,500,000.* several calls"):
        call("memory_store", content="Ana likes tea", subject="ana", also=also)
    assert store.count() == 0
    call("memory_store", content="x" * 1_000_000, subject="ana", also=[{"content": "y" * 490_000}])
    assert store.count() == 2


def test_several_facts_are_stored_in_one_act_each_with_its_state(
    store: Store, call: Callable[..., Any]
) -> None:
    old = store.add("Ana has a cat", subject="ana", category="identity")
    told = call(
        "memory_store",
        content="Ana likes tea",
        subject="ana",
        also=[
            {"content": "Ana has two cats", "supersedes": old.id, "category": ""},
            {"content": "Ana likes tea."},
            {"content": "Bo runs", "subject": "bo", "expired_at": "2030-05-01T00:00:00Z"},
        ],
    )
    states = [told["status"], *(one["status"] for one in told["also"])]
    assert states == ["active", "active", "duplicate", "active"]
    second, _, third = (store.get(one["id"]) for one in told["also"])
    assert (second.subject, second.category) == ("ana", "identity")
    assert store.get(old.id).superseded_by == second.id
    assert third.expired_at is not None
    assert (
        len({line.txn for one in told["also"] for line in store.ledger.journal(one["id"])[-1:]})
        == 1
    )


@pytest.mark.parametrize(
    "wrong", [{"content": " "}, {"subject": "x"}, {"content": "c", "tag": 1}, {"supersedes": 9}]
)
def test_none_of_several_facts_is_stored_if_one_is_wrong(
    store: Store, call: Callable[..., Any], wrong: dict[str, Any]
) -> None:
    with pytest.raises(ToolError):
        call("memory_store", content="Ana likes tea", subject="ana", also=[wrong])
    assert store.count() == 0


def test_a_fact_of_a_call_expires(store: Store, call: Callable[..., Any]) -> None:
    told = call("memory_store", content="x y", subject="s", expired_at="2030-05-01T00:00:00Z")
    assert str(store.get(told["id"]).expired_at).startswith("2030-05-01")


def given(undo: str) -> tuple[str, dict[str, Any]]:
    """The call that an answer names."""
    import json
    import re

    tool, _, rest = undo.removesuffix(", and both hold").partition(" ")
    pairs = re.findall(r"(\w+)=(\{.*\}|\[.*\]|\"[^\"]*\"|\S+)", rest)
    values = {}
    for name, value in pairs:
        try:
            values[name] = json.loads(value)
        except ValueError:
            values[name] = value
    return tool, values


def seen(store: Store) -> list[Any]:
    """What the memory holds, without what was added and deleted again, and without times."""
    facts = store.list(limit=None, tasks=True, active_only=False)
    episodes = store.episodes.list(limit=None, include_expired=True)
    proposals = [
        one
        for state in ("open", "accepted", "rejected")
        for one in store.of("all").proposals.list(state)
    ]
    return [
        sorted(
            f"{one.id} {one.status} {one.subject} {one.content} {one.category} {one.metadata}"
            f" {one.expired_at} {one.pinned_at is None} {one.confirmed_count} {one.superseded_by}"
            for one in facts
            if one.status != "deleted"
        ),
        [(one.id, one.state) for one in proposals],
        store.graph.decisions(),
        [(one.content, [*one.tags], one.metadata, one.expired_at) for one in episodes],
    ]


CHANGES: dict[str, tuple[str, dict[str, Any]]] = {
    "store": ("memory_store", {"content": "Bo runs", "subject": "bo", "metadata": {"a": 1}}),
    "correction": (
        "memory_store", {"content": "Ana lives in Bonn", "subject": "ana", "supersedes": 1}
    ),
    "supersession": ("memory_supersede", {"old_id": 4, "new_id": 5}),
    "supersession that a proposal named": ("memory_supersede", {"old_id": 6, "new_id": 7}),
    "confirmation": ("memory_confirm", {"id": 1}),
    "accepted": ("memory_proposals", {"action": "accept", "id": 1}),
    "rejected": ("memory_proposals", {"action": "reject", "id": 1}),
    "reopened": ("memory_proposals", {"action": "reopen", "id": 2}),
    "accepted consolidation": ("memory_proposals", {"action": "accept", "id": 3}),
    "expiry": (
        "memory_store",
        {"content": "Bo naps", "subject": "bo", "expired_at": "2030-05-01T00:00:00Z"},
    ),
    "delete": ("memory_delete", {"id": 1}),
    "metadata": ("memory_update", {"id": 1, "metadata": {"k": 2, "new": {"a": [1]}}}),
    "pin": ("memory_update", {"id": 1, "pinned": True}),
    "metadata and pin": ("memory_update", {"id": 1, "metadata": {"k": None}, "pinned": True}),
    "task": ("memory_task_create", {"content": "Sow", "scope": "user", "due": "2027-01-01"}),
    "status": ("memory_task_update", {"id": 2, "status": "completed"}),
    "status and note": (
        "memory_task_update", {"id": 2, "status": "completed", "note": "by Bo"}
    ),
    "note": ("memory_task_update", {"id": 2, "status": "pending", "note": "by Bo"}),
    "another note": ("memory_task_update", {"id": 3, "status": "cancelled", "note": "too late"}),
    "episode": (
        "update_episode",
        {"id": 1, "tags": ["b", "c"], "metadata": {"m": 1}, "expired_at": "2030-05-01T00:00:00Z"},
    ),
}  # fmt: skip


@pytest.mark.parametrize("change", CHANGES)
def test_undo_takes_all_of_a_change_back(
    store: Store, call: Callable[..., Any], change: str
) -> None:
    store.add("Ana lives in Rome", subject="ana", metadata={"k": 1})
    store.tasks.create("Water the ferns", scope="user")
    store.tasks.update(store.tasks.create("Mow", scope="user").id, "in_progress", note="half")
    for text in ("Cy has a cat", "Cy has a dog", "Cy runs a shop", "Cy runs a bar", "Cy ran"):
        store.add(text, subject="cy")
    web = store.within(source="web:a.org")
    for old, new in ((6, 7), (4, 8)):
        with pytest.raises(Conflict):
            web.supersede(old, new)
    store.proposals.reject(2)
    store.of().proposals.put_forward([4, 5], "Cy has a cat and a dog", {})
    store.episodes.add("hello", source="chat", tags=["a"], metadata={"m": 0})
    before = seen(store)
    tool, arguments = CHANGES[change]
    told = call(tool, **arguments)
    assert seen(store) != before
    back, values = given(told["undo"])
    call(back, **values)
    assert seen(store) == before


def test_undo_of_an_undone_change_does_nothing_more(store: Store, call: Callable[..., Any]) -> None:
    task = store.tasks.create("Sow", scope="user")
    call("memory_task_update", id=task.id, status="completed", note="done")
    call("memory_delete", id=task.id, undo=True)
    with pytest.raises(ToolError, match="nothing to restore"):
        call("memory_delete", id=task.id, undo=True)
    assert store.tasks.list()[0].id == task.id


def test_a_search_mentions_an_open_task_that_matches(
    store: Store, call: Callable[..., Any]
) -> None:
    store.add("Passports are in the blue drawer", subject="house")
    wanted = store.tasks.create("Renew the passport before the trip to Peru", scope="user")
    done = store.tasks.create("Renew the passport of the cat", scope="user")
    store.tasks.update(done.id, "completed")
    found = call("memory_search", query="renew the passport")
    assert [one["id"] for one in found["open_tasks"]] == [wanted.id]
    assert "open_tasks" not in call("memory_search", query="zebra crossings")
    assert "open_tasks" not in call("memory_search", query="passport", subject="house")
