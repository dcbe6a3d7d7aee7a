"""The commands for tasks."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from memstore.domain.records import EVERYBODY
from memstore.faces.cli import command as cli
from memstore.facts.tasks import SURFACE_STARTUP
from memstore.lazy import lazy_import

if TYPE_CHECKING:
    import argparse

    from memstore.store import answers
    from memstore.store.store import Store
else:
    answers = lazy_import("memstore.store.answers")

SCOPES = "user, agent or collaborative"


@cli.command(
    "task add",
    "memstore task add 'Renew the certificate' --due 2026-12-01 --priority high",
    cli.option("CONTENT", "what is to be done; - reads standard input", nargs="+"),
    cli.option("--scope WHO", f"who should do it: {SCOPES} (default: user)", default="user"),
    cli.option("--priority P", "high, normal or low (default: normal)", default="normal"),
    cli.option("--project NAME", "the project it belongs to"),
    cli.option("--due TEXT", "when it is due: 2026-12-01, tomorrow, end of month, any words"),
    *cli.OWNERS,
    embedder="required",
    file="create",
)
def _add(store: Store, arguments: argparse.Namespace, show: cli.Show) -> None:
    own = store.of(cli.scope_of(arguments))
    task = own.tasks.create(
        cli.content_of(arguments.content),
        **cli.given(arguments, "scope priority project due"),
    )
    show.done(f"task #{task.id} is {task.status}", task.to_dict())
    cli.draw(answers.of_pending(own, task.id), store, arguments, show)


@cli.command(
    "task update",
    "memstore task update 7 completed --note 'renewed until 2027'",
    cli.option("ID", "the task's id", type=cli.fact_id),
    cli.option("STATUS", "pending, in_progress, completed or cancelled"),
    cli.option("--note TEXT", "the reason, kept with the task"),
    *cli.WHOSE,
)
def _update(store: Store, arguments: argparse.Namespace, show: cli.Show) -> None:
    task = cli.owned(store, arguments).tasks.update(
        arguments.id,
        arguments.status.replace("-", "_"),
        note=arguments.note,
    )
    show.done(f"task #{task.id} is {task.status}", task.to_dict())


@cli.command(
    "task list",
    "memstore task list --scope agent\nmemstore task list --status all",
    cli.option("--scope WHO", f"only tasks for {SCOPES}; all: everybody's", dest="whose"),
    cli.option("--status STATUS", "only tasks with this status, or all (default: open)"),
    cli.option("--project NAME", "only tasks of this project"),
    cli.option(
        "--surface",
        "startup: only the tasks shown to an agent when it starts",
        choices=(SURFACE_STARTUP,),
    ),
    cli.limit(),
    *cli.OWNERS,
    shows_part=True,
)
def _list(store: Store, arguments: argparse.Namespace, show: cli.Show) -> None:
    status, store = arguments.status, cli.owned(store, arguments)
    wanted: dict[str, Any] = {
        "scope": None if arguments.whose == EVERYBODY else arguments.whose,
        "status": status and status.replace("-", "_"),
        **cli.given(arguments, "project surface"),
    }
    tasks = store.tasks.list(**wanted, limit=arguments.limit)
    show.tasks(tasks)
    total = len(tasks) if arguments.limit is None else len(store.tasks.list(**wanted))
    others = partial(
        answers.of_everybody, store, "task", lambda every: len(every.tasks.list(**wanted))
    )
    cli.draw_list(store, arguments, show, tasks, total, "task", "no tasks", others)
