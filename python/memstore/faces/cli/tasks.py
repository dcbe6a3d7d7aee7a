"""The commands for tasks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from memstore.domain.records import EVERYBODY
from memstore.faces.cli import command as cli
from memstore.faces.cli.facts import tell_pending
from memstore.faces.escaping import counted
from memstore.facts.tasks import SURFACE_STARTUP

if TYPE_CHECKING:
    import argparse

    from memstore.store.store import Store

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
    task = store.of(cli.scope_of(arguments)).tasks.create(
        cli.content_of(arguments.content),
        **cli.given(arguments, "scope priority project due"),
    )
    show.done(f"task #{task.id} is {task.status}", task.to_dict())
    tell_pending(store, task.id, embedded=False, show=show)


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
    if not tasks:
        others = store.of(EVERYBODY).tasks.list(**wanted)
        way = f"; other owners have {counted(len(others), 'task')}: use --scope all"
        none = f"no tasks{way if others else ''}"
        show.note(cli.nothing_here(store, arguments, none))
    elif arguments.limit is not None:
        total = len(store.tasks.list(**wanted))
        if total > len(tasks):
            show.note(cli.page_of(len(tasks), total, "task"))
