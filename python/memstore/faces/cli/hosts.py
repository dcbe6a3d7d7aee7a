"""The commands for the programs that agents run in: their set-up, and a project's namespace."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from memstore import settings
from memstore.faces.cli import command as cli
from memstore.lazy import lazy_import

if TYPE_CHECKING:
    import argparse

    from memstore.store import projects
else:
    projects = lazy_import("memstore.store.projects")

WHY: Final = {
    "named": "{folder} has this name",
    "repository": "{folder} is the top of a repository",
    "folder": "{folder} is in no repository",
    "none": "{folder} is no project",
}


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


COMMANDS = (_where,)
