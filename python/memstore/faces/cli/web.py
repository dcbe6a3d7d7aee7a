"""The command that shows the memory in the browser."""

from __future__ import annotations

import argparse
import os
from typing import TYPE_CHECKING

from memstore.errors import Remedy, StorageError
from memstore.faces import options
from memstore.faces.cli import command as cli
from memstore.file import paths
from memstore.lazy import lazy_import

if TYPE_CHECKING:
    from memstore.faces.hosts import served
    from memstore.faces.web.server import run as server
    from memstore.settings import Settings
else:
    served = lazy_import("memstore.faces.hosts.served")
    server = lazy_import("memstore.faces.web.server.run")


def port(text: str) -> int:
    """Parse a port; 0 lets the system choose one."""
    if not (text.isascii() and text.isdigit() and len(text) < 6 and int(text) < 65536):
        raise argparse.ArgumentTypeError(f"a port is a number up to 65535, not {text!r}")
    return int(text)


@cli.command(
    "web",
    "memstore web\nmemstore web --port 9000 --read-only\nmemstore web --no-browser",
    cli.option("--port N", "the port on 127.0.0.1 (default: 8766, or any that is free)", type=port),
    cli.option("--no-browser", "print a one-time code instead of opening the browser"),
    cli.option("--read-only", "show the memory, and change nothing", default=argparse.SUPPRESS),
    options.add_generator_flags,
    usage="[--port N] [--no-browser] [--read-only] [options]",
    file="none",
)
def _web(_store: None, arguments: argparse.Namespace, _show: cli.Show) -> None:
    chosen = served.memory_here(options.chosen_settings(arguments)).chosen
    _check_there(chosen)
    try:
        serve = server.run
    except ImportError as error:
        raise cli.UsageError(cli.NO_PAGES.format(error=error)) from error
    serve(chosen, arguments.port, opens_browser=not arguments.no_browser)


def _check_there(chosen: Settings) -> None:
    """Refuse a missing file at once; other troubles with it, or with a server, are shown on pages.

    Raises:
        StorageError: it does not exist.
    """
    if chosen.db in (None, ":memory:") or paths.is_server(chosen.db):
        return
    if not os.path.exists(paths.file_at(chosen.db)):
        raise StorageError(f"{chosen.db!r} does not exist", remedy=Remedy.CREATE_FILE)
