"""Shell completion: a script that shtab generates from the parser."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any, Final

from memstore.faces.cli import command as cli
from memstore.lazy import lazy_import

if TYPE_CHECKING:
    import shtab
else:
    shtab = lazy_import("shtab")

SHELLS: Final = ("bash", "zsh", "fish")
FILES: Final = {"FILE", "BACKUP"}
FOLDERS: Final = {"FOLDER"}


@cli.command(
    "completion",
    "memstore completion bash > ~/.local/share/bash-completion/completions/memstore\n"
    "memstore completion zsh > ~/.zfunc/_memstore\n"
    "memstore completion fish > ~/.config/fish/completions/memstore.fish",
    cli.option("SHELL", "bash, zsh or fish", choices=SHELLS, metavar="SHELL"),
    file="none",
)
def _completion(store: None, arguments: argparse.Namespace, show: cli.Show) -> None:
    parser = arguments.whole()
    _mark(parser)
    script = shtab.complete(parser, arguments.shell)
    show.text(script, {"script": script})


def _mark(parser: argparse.ArgumentParser) -> None:
    """Mark the arguments that are files, in all subparsers, and list the commands for shtab."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            action.help = "commands"
            for inner in action.choices.values():
                _mark(inner)
        marked: Any = action
        if action.metavar in FILES:
            marked.complete = shtab.FILE
        elif action.metavar in FOLDERS:
            marked.complete = shtab.DIRECTORY
