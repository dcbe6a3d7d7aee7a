"""The commands for what is to be done."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memstore.faces.cli.command import Command, add_id, content_of, count
from memstore.faces.cli.facts import tell_pending
from memstore.facts.tasks import SURFACE_STARTUP

if TYPE_CHECKING:
    import argparse

    from memstore.faces.cli.render import Show
    from memstore.store.store import Store

SCOPES = "user, agent or collaborative"


def _fill_add(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "content", metavar="CONTENT", help="what is to be done; - reads it from standard input"
    )
    parser.add_argument(
        "--scope", metavar="WHO", default="user", help=f"who does it: {SCOPES} (default: user)"
    )
    parser.add_argument(
        "--priority", metavar="P", default="normal", help="high, normal or low (default: normal)"
    )
    parser.add_argument("--project", metavar="NAME", help="what it belongs to")
    parser.add_argument("--due", metavar="TIME", help="a date, or a time with its offset")


def _add(store: Store, arguments: argparse.Namespace, show: Show) -> None:
    task = store.tasks.create(
        content_of(arguments.content),
        scope=arguments.scope,
        priority=arguments.priority,
        project=arguments.project,
        due=arguments.due,
    )
    show.done(f"task #{task.id} is {task.status}", task.to_dict())
    tell_pending(store, task.id, embedded=False, show=show)


def _fill_update(parser: argparse.ArgumentParser) -> None:
    add_id(parser, meaning="the task's id")
    parser.add_argument(
        "status", metavar="STATUS", help="pending, in_progress, completed or cancelled"
    )
    parser.add_argument("--note", metavar="TEXT", help="why; kept with the task")


def _update(store: Store, arguments: argparse.Namespace, show: Show) -> None:
    task = store.tasks.update(arguments.id, arguments.status.replace("-", "_"), note=arguments.note)
    show.done(f"task #{task.id} is {task.status}", task.to_dict())


def _fill_list(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--scope", metavar="WHO", help=f"only those of {SCOPES}")
    parser.add_argument(
        "--status",
        metavar="STATUS",
        help="only those with this status; all for every status (default: open)",
    )
    parser.add_argument("--project", metavar="NAME", help="only those of this project")
    parser.add_argument(
        "--surface",
        choices=(SURFACE_STARTUP,),
        help="startup: only those an agent is shown when it starts",
    )
    parser.add_argument("--limit", metavar="N", type=count, help="how many at most")


def _list(store: Store, arguments: argparse.Namespace, show: Show) -> None:
    status = arguments.status
    tasks = store.tasks.list(
        scope=arguments.scope,
        status=status and status.replace("-", "_"),
        project=arguments.project,
        surface=arguments.surface,
        limit=arguments.limit,
    )
    show.tasks(tasks)
    if not tasks:
        show.note("no tasks here")


COMMANDS = (
    Command(
        name="task add",
        usage="CONTENT [options]",
        summary="Store a task that waits to be done.",
        example="memstore task add 'Renew the certificate' --due 2026-12-01 --priority high",
        fill=_fill_add,
        run=_add,
        embedder="needed",
    ),
    Command(
        name="task update",
        usage="ID STATUS [options]",
        summary="Move a task to another status.",
        example="memstore task update 7 completed --note 'renewed until 2027'",
        fill=_fill_update,
        run=_update,
    ),
    Command(
        name="task list",
        summary="List open tasks, the most pressing first.",
        example="memstore task list --scope agent\nmemstore task list --status all",
        fill=_fill_list,
        run=_list,
        file="there",
    ),
)
