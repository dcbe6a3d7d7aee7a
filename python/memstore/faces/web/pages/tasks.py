"""The tasks as a board: a column for each status, and a button for each step on."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

from memstore.domain import clock
from memstore.domain.tasks import OPEN_STATUSES, TaskStatus
from memstore.faces.web import acting, filters
from memstore.faces.web.routes import asks, changes, shows
from memstore.named import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memstore.domain.tasks import Task
    from memstore.faces.web.reply import Reply
    from memstore.faces.web.visit import Visit

TITLES: Final = {
    TaskStatus.PENDING: "To do",
    TaskStatus.IN_PROGRESS: "In progress",
    TaskStatus.COMPLETED: "Done",
    TaskStatus.CANCELLED: "Cancelled",
}

STEPS: Final = {
    TaskStatus.PENDING: (("start", "Start"), ("complete", "Done"), ("cancel", "Cancel")),
    TaskStatus.IN_PROGRESS: (("complete", "Done"), ("put-back", "Put back"), ("cancel", "Cancel")),
    TaskStatus.COMPLETED: (("put-back", "Reopen"),),
    TaskStatus.CANCELLED: (("put-back", "Reopen"),),
}
"""The buttons of a task by its status: the last part of the address, and the text."""

OWNERS: Final = ("user", "agent", "run")

SHOWN: Final = 50
"""Tasks of a column; open ones are shown by urgency, closed ones newest first."""


class Column(NamedTuple):
    status: TaskStatus
    title: str
    tasks: Sequence[Task]
    total: int


def show(visit: Visit) -> Reply:
    chosen = filters.of(visit)
    every = visit.store.of(chosen.owners).tasks.list(status="all")
    return visit.page(
        "tasks.html",
        columns=[_column(status, every) for status in TaskStatus],
        any_task=bool(every),
        steps=STEPS,
        chosen=chosen,
        names=OWNERS,
        now=clock.utc_now(),
    )


def _column(status: TaskStatus, every: Sequence[Task]) -> Column:
    own = [task for task in every if task.status == status]
    if status not in OPEN_STATUSES:
        own.sort(key=lambda task: task.id, reverse=True)
    return Column(status, TITLES[status], own[:SHOWN], len(own))


def narrow(visit: Visit) -> Reply:
    return visit.to(filters.keep(visit, "tasks"))


def _move(status: TaskStatus, visit: Visit) -> Reply:
    task_id = visit.numbers["id"]
    visit.store.get(task_id)  # else there is nothing here, whatever the form says
    undo = acting.act(
        visit,
        [task_id],
        f"{TITLES[status]}: #{task_id}",
        lambda store: store.tasks.update(task_id, status),
    )
    if visit.swaps and undo is not None:
        return visit.page("parts/done.html", undo=undo)
    return visit.to(visit.back or "tasks")


ROUTES: Final = (
    shows("tasks", show),
    asks("tasks", narrow),
    changes("tasks/{id}/start", partial(_move, TaskStatus.IN_PROGRESS)),
    changes("tasks/{id}/complete", partial(_move, TaskStatus.COMPLETED)),
    changes("tasks/{id}/cancel", partial(_move, TaskStatus.CANCELLED)),
    changes("tasks/{id}/put-back", partial(_move, TaskStatus.PENDING)),
)
