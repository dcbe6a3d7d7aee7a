"""Tasks: created, updated, and listed at start-up."""

from __future__ import annotations

import itertools
from datetime import UTC, datetime

import pytest

from memstore import Conflict, NotFound, Store

OPEN = ("pending", "in_progress")
CLOSED = ("completed", "cancelled")


def test_create_makes_a_fact_that_is_a_task(store: Store) -> None:
    task = store.tasks.create(
        "Renew the certificate", scope="agent", priority="high", project="web", due="2026-12-01"
    )
    assert (task.status, task.scope, task.priority, task.project, task.due, task.surface) == (
        "pending",
        "agent",
        "high",
        "web",
        "2026-12-01",
        "startup",
    )
    fact = store.get(task.id)
    assert (fact.subject, fact.metadata["kind"]) == ("todo", "task")
    assert store.search("certificate", tasks=True)[0].fact == fact


@pytest.mark.parametrize(
    ("given", "kept"),
    [("matthew", "user"), ("claude", "agent"), (" User ", "user"), ("collaborative",) * 2],
)
def test_scopes_have_aliases(store: Store, given: str, kept: str) -> None:
    task = store.tasks.create("Water the plants", scope=given)
    assert task.scope == kept
    assert store.tasks.list(scope=given) == [task]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"scope": "nobody"}, "scope must be user, agent or collaborative, not 'nobody'"),
        ({"priority": "urgent"}, "priority must be high, normal or low, not 'urgent'"),
        ({"due": " "}, "due is empty"),
        ({"project": " "}, "project is empty"),
        ({"content": ""}, "content is empty"),
    ],
)
def test_create_refuses_bad_values_by_name(
    store: Store, arguments: dict[str, str], says: str
) -> None:
    with pytest.raises(ValueError, match=says):
        store.tasks.create(**{"content": "x", **arguments})
    assert store.tasks.list(status="all") == []


@pytest.mark.parametrize(("start", "end"), [*itertools.product(OPEN + CLOSED, repeat=2)])
def test_any_status_may_follow_any_other(store: Store, start: str, end: str) -> None:
    task = store.tasks.create("Book the train")
    store.tasks.update(task.id, start)
    moved = store.tasks.update(task.id, end, note="because")
    assert (moved.status, moved.note) == (end, "because")
    assert moved.surface == ("startup" if end in OPEN else None)


def test_reopened_task_returns_to_the_startup_list(store: Store) -> None:
    task = store.tasks.create("Call the plumber")
    store.tasks.update(task.id, "completed")
    assert store.tasks.list(surface="startup") == []
    store.tasks.update(task.id, "pending")
    assert [t.id for t in store.tasks.list(surface="startup")] == [task.id]


def test_list_shows_open_tasks_most_urgent_first(store: Store) -> None:
    low = store.tasks.create("low", priority="low")
    late = store.tasks.create("late", due="2027-01-01")
    soon = store.tasks.create("soon", due="2026-12-01")
    undated = store.tasks.create("undated")
    high = store.tasks.create("high", priority="high")
    done = store.tasks.create("done", priority="high")
    store.tasks.update(done.id, "completed")
    assert [t.id for t in store.tasks.list()] == [high.id, soon.id, late.id, undated.id, low.id]
    assert [t.id for t in store.tasks.list(limit=1)] == [high.id]
    assert [t.id for t in store.tasks.list(status="completed")] == [done.id]
    assert len(store.tasks.list(status="all")) == 6


def test_list_filters_by_project(store: Store) -> None:
    web = store.tasks.create("web", project="web")
    store.tasks.create("other", project="other")
    assert store.tasks.list(project="web") == [web]


def test_update_refuses_a_fact_that_is_not_a_task(store: Store) -> None:
    fact = store.add("not a task", subject="todo")
    with pytest.raises(NotFound, match="is not a task"):
        store.tasks.update(fact.id, "completed")
    with pytest.raises(NotFound, match="no fact 99"):
        store.tasks.update(99, "completed")


def test_update_refuses_a_deleted_or_superseded_task(store: Store) -> None:
    task = store.tasks.create("old wording")
    new = store.tasks.create("new wording")
    store.supersede(task.id, new.id)
    with pytest.raises(Conflict, match="is superseded"):
        store.tasks.update(task.id, "completed")
    store.delete(new.id)
    with pytest.raises(Conflict, match="deleted"):
        store.tasks.update(new.id, "completed")
    assert store.tasks.list(status="all") == []


def test_tasks_of_the_original_program_are_read(store: Store) -> None:
    """Its scopes are names of people, and a due date may be any text."""
    store.add(
        "Send the invoice",
        subject="todo",
        metadata={"kind": "task", "scope": "matthew", "status": "pending", "due": "next week"},
    )
    (task,) = store.tasks.list(scope="user")
    assert (task.scope, task.due, task.priority) == ("user", "next week", "normal")
    assert store.tasks.update(task.id, "completed").status == "completed"


def test_invalid_metadata_of_a_task_does_not_hide_the_others(store: Store) -> None:
    store.add("odd", subject="todo", metadata={"kind": "task", "due": 5, "project": [1]})
    dated = store.tasks.create("dated", due="2026-12-01")
    assert [(task.content, task.due) for task in store.tasks.list()] == [
        ("dated", dated.due),
        ("odd", "5"),
    ]


def test_due_dates_are_compared_as_times(store: Store) -> None:
    later = store.tasks.create("later", due="2026-12-01T00:30:00-05:00")
    sooner = store.tasks.create("sooner", due="2026-12-01T01:00:00Z")
    assert [task.id for task in store.tasks.list()] == [sooner.id, later.id]


@pytest.mark.parametrize(
    ("due", "due_at"),
    [
        ("2026-12-01", datetime(2026, 12, 1, tzinfo=UTC)),
        (" 2026-12-01T00:30:00-05:00 ", datetime(2026, 12, 1, 5, 30, tzinfo=UTC)),
        ("after the holidays", None),
        ("2026-13-01", None),
    ],
)
def test_due_text_is_stored_verbatim_and_parsed_into_due_at(
    store: Store, due: str, due_at: datetime | None
) -> None:
    task = store.tasks.create("pack", due=due)
    assert (task.due, task.due_at) == (due, due_at)
    assert store.get(task.id).metadata["due"] == due
    assert ("due_at" in task.to_dict()) == (due_at is not None)


def test_metadata_patch_cannot_turn_a_fact_into_a_task(store: Store) -> None:
    fact = store.add("buy bread", subject="todo", metadata={"status": "pending"})
    with pytest.raises(Conflict, match=f"fact {fact.id} is not a task, and metadata cannot make"):
        store.update_metadata(fact.id, {"kind": "task"})
    assert store.tasks.list() == []
    assert store.update_metadata(fact.id, {"kind": "errand"}).metadata["kind"] == "errand"
    other = store.add("bread is sold out", subject="bread")
    assert store.update_metadata(other.id, {"kind": "task"}).metadata == {"kind": "task"}


@pytest.mark.parametrize("key", ["kind", "status", "scope", "priority", "surface", "due"])
def test_metadata_patch_cannot_move_a_task(store: Store, key: str) -> None:
    task = store.tasks.create("by the rules")
    with pytest.raises(Conflict, match=f"its {key} cannot be changed as metadata"):
        store.update_metadata(task.id, {key: None})
    assert store.update_metadata(task.id, {"colour": "red"}).metadata["colour"] == "red"


def test_surface_must_be_known(store: Store) -> None:
    with pytest.raises(ValueError, match="surface must be startup, not 'foo'"):
        store.tasks.list(surface="foo")


def test_tasks_are_left_out_on_request(store: Store) -> None:
    task = store.tasks.create("water the plants")
    fact = store.add("the plants like water", subject="plants")
    store.add("water is wet", subject="todo", metadata={"kind": "saying"})
    others = {fact.id, fact.id + 1}
    assert {one.id for one in store.list()} == others | {task.id}
    assert {one.id for one in store.list(tasks=False)} == others
    assert (store.count(), store.count(tasks=False)) == (3, 2)
    assert {hit.fact.id for hit in store.search("water plants", tasks=False)} == others
    assert store.list(subject="todo", tasks=False, active_only=False)[0].id == fact.id + 1


def test_days_within_due_texts_order_the_list(store: Store) -> None:
    for due in ("next year", "in 3 weeks", "bis übermorgen", "by 2099-11-30, at noon", "tomorrow"):
        store.tasks.create(due, due=due)
    assert [task.due for task in store.tasks.list()] == [
        *("tomorrow", "bis übermorgen", "in 3 weeks", "next year", "by 2099-11-30, at noon"),
    ]
