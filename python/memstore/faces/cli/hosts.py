"""The commands for the programs that agents run in: their set-up, and a project's namespace."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from memstore import settings
from memstore.faces.cli import command as cli
from memstore.lazy import lazy_import

if TYPE_CHECKING:
    import argparse

    from memstore.faces.hosts import hook
    from memstore.store import projects
else:
    hook = lazy_import("memstore.faces.hosts.hook")
    projects = lazy_import("memstore.store.projects")

WHY: Final = {
    "named": "{folder} has this name",
    "repository": "{folder} is the top of a repository",
    "folder": "{folder} is in no repository",
    "none": "{folder} is no project",
}


@cli.command(
    "hook",
    "memstore hook SessionStart --namespace auto < event.json",
    cli.option("EVENT", "the event, as the host calls it"),
    cli.option("--host NAME", "the source of what is kept of a session", default="host"),
    file="closed",
)
def _hook(store: None, arguments: argparse.Namespace, show: cli.Show) -> int:
    return hook.respond(arguments)


@cli.command(
    "where",
    "memstore where\nmemstore where ~/work/api\nmemstore where ~/work/acme --set acme",
    cli.option("FOLDER", "a folder of the project (default: the current one)", nargs="?"),
    cli.one_of(
        cli.option("--set NAME", "keep the memories of FOLDER, and of all in it, there", dest="to"),
        cli.option("--unset", "take the name of FOLDER away"),
    ),
    file="closed",
    usage="[FOLDER] [--set NAME | --unset] [options]",
)
def _where(store: None, arguments: argparse.Namespace, show: cli.Show) -> None:
    folder = Path(arguments.folder or settings.project_folder()).expanduser().resolve()
    if not folder.is_dir():
        raise cli.UsageError(f"{str(folder)!r} is no folder")
    if arguments.to is not None or arguments.unset:
        projects.set_name(folder, arguments.to)
    found = projects.project_of(folder)
    show.done(
        f"{found.namespace}: {WHY[found.rule].format(folder=found.folder)}",
        {**found._asdict(), "folder": str(found.folder)},
    )


COMMANDS = (_hook, _where)
