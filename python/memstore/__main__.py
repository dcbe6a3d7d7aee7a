"""Entry points of the programs ``memstore`` (also ``python -m memstore``) and ``memstore-mcp``.

The faces are imported inside these functions, so that Ctrl-C during the import ends the program
without a traceback.
"""

from __future__ import annotations

import gc
import os
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Final, NoReturn

from memstore.lazy import lazy_import

if TYPE_CHECKING:
    from memstore.faces.cli import main as cli
    from memstore.faces.hosts import hook
    from memstore.faces.starting import quick_start as mcp
else:
    cli = lazy_import("memstore.faces.cli.main")
    hook = lazy_import("memstore.faces.hosts.hook")
    mcp = lazy_import("memstore.faces.starting.quick_start")

INTERRUPTED: Final = 130

MANY_OBJECTS: Final = 100_000
"""The garbage collector's threshold. Imports create many objects but no garbage, and collecting
during them takes a tenth of a command's time."""


def command_line() -> NoReturn:
    """Run ``memstore``, then exit the process."""
    gc.set_threshold(MANY_OBJECTS)
    if sys.argv[1:2] == ["hook"] and not {"-h", "--help"} & {*sys.argv}:
        _answer_host()
    try:
        code = cli.main()
    except KeyboardInterrupt:
        code = INTERRUPTED
    _end(code)


def _answer_host() -> NoReturn:
    """Run a hook; it never fails, so that the host continues even if the installation is broken."""
    try:
        hook.main(sys.argv[2:])
    except BaseException as error:  # noqa: BLE001 - an interrupt as well
        with suppress(Exception):  # stderr or its reader is closed
            sys.stderr.write(f"memstore hook: {error}\n")
    os._exit(0)


def _end(code: int) -> NoReturn:
    """Exit at once: interpreter shutdown takes a fifth of a short command's time."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (AttributeError, OSError, ValueError):  # the stream or its reader is closed
            code = code or cli.NOBODY_READS
    os._exit(code)


def mcp_server() -> int:
    """Run ``memstore-mcp``; returns only if it is interrupted before it starts serving."""
    gc.disable()  # during start-up
    try:
        mcp.main()
    except KeyboardInterrupt:
        return INTERRUPTED
    return 0


def mcp_server_or_help() -> int:
    """Run ``pymemstore`` (``uvx pymemstore``): the server, or on a terminal its help."""
    if len(sys.argv) == 1 and sys.stdin is not None and sys.stdin.isatty():
        sys.argv.append("--help")
    return mcp_server()


if __name__ == "__main__":
    command_line()
