"""The board of tasks."""

from __future__ import annotations

from datetime import timedelta

from tests.support.pages import Pages, text_of

from memstore.domain import clock


def test_tasks_stand_in_the_column_of_their_status(pages: Pages) -> None:
    pages.store.tasks.create("Water the plants", priority="high")
    done = pages.store.tasks.create("Pay the rent", project="flat")
    pages.store.tasks.update(done.id, "completed", note="by card")
    page = text_of(pages.read("tasks"))
    to_do, _, rest = page.partition("In progress")
    assert "Water the plants" in to_do
    assert "Pay the rent" in rest
    assert "by card" in rest
    assert "None." in rest


def test_an_overdue_task_says_so_while_it_is_open(pages: Pages) -> None:
    day = (clock.utc_now() - timedelta(days=2)).date().isoformat()
    task = pages.store.tasks.create("Renew the certificate", due=day)
    assert "(overdue)" in pages.read("tasks")
    pages.store.tasks.update(task.id, "completed")
    assert "(overdue)" not in pages.read("tasks")


def test_each_button_moves_a_task_and_can_be_undone(pages: Pages) -> None:
    task = pages.store.tasks.create("Water the plants")
    for path, status in (
        ("start", "in_progress"),
        ("put-back", "pending"),
        ("complete", "completed"),
        ("put-back", "pending"),
        ("cancel", "cancelled"),
    ):
        page = pages.followed(pages.post(f"tasks/{task.id}/{path}"))
        assert f"#{task.id}" in page
        assert pages.store.tasks.list(status="all")[0].status == status
    undo = pages.store.ledger.log(limit=1)[0].line
    pages.followed(pages.post(f"undo/{undo}", {"back": "tasks"}))
    assert pages.store.tasks.list(status="all")[0].status == "pending"


def test_a_task_that_an_agent_changed_meanwhile_is_not_moved(pages: Pages) -> None:
    task = pages.store.tasks.create("Water the plants")
    pages.store.tasks.update(task.id, "in_progress")
    answer = pages.post(f"tasks/{task.id}/complete", {"seen": "1"})
    assert answer.status_code == 409
    assert "Nothing was changed" in answer.text
    assert pages.store.tasks.list()[0].status == "in_progress"


def test_tasks_are_narrowed_to_an_owner(pages: Pages) -> None:
    pages.store.of({"user_id": "ana"}).tasks.create("Water the plants") if False else None
    pages.store.within().tasks.create("Pay the rent")
    page = pages.ask("tasks", {"user": "ana"})
    assert "Pay the rent" not in page
    assert "Nothing is like that" in page


def test_without_tasks_the_board_says_what_would_fill_it(pages: Pages) -> None:
    assert "memstore task add" in pages.read("tasks")
