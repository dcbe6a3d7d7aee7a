"""Where the programs ``memstore`` (also ``python -m memstore``) and ``memstore-mcp`` start.

The faces are imported inside these functions, so that Ctrl-C meanwhile ends the program without a
traceback.
"""

from __future__ import annotations

import gc
import os
import sys
from typing import TYPE_CHECKING, Final, NoReturn

from memstore.lazy import lazy_import

if TYPE_CHECKING:
    from memstore.faces.cli import main as cli
    from memstore.faces.hosts import hook
    from memstore.faces.mcp import start as mcp
else:
    cli = lazy_import("memstore.faces.cli.main")
    hook = lazy_import("memstore.faces.hosts.hook")
    mcp = lazy_import("memstore.faces.mcp.start")

INTERRUPTED: Final = 130

MANY_OBJECTS: Final = 100_000
"""After so many new ones garbage is looked for. What a command imports is none, and looking for it
meanwhile takes a tenth of its time."""


def command_line() -> NoReturn:
    """Run ``memstore``, and end the process."""
    gc.set_threshold(MANY_OBJECTS)
    try:
        is_hook = sys.argv[1:2] == ["hook"] and not {"-h", "--help"} & {*sys.argv}
        code = hook.main(sys.argv[2:]) if is_hook else cli.main()
    except KeyboardInterrupt:
        code = INTERRUPTED
    _end(code)


def _end(code: int) -> NoReturn:
    """End at once: taking the interpreter apart takes a fifth of the time of a short command."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (AttributeError, OSError, ValueError):  # closed, or nobody reads it
            code = code or cli.NOBODY_READS
    os._exit(code)


def mcp_server() -> int:
    """Run ``memstore-mcp``; returns only when it is interrupted before it serves."""
    gc.disable()  # until it serves
    try:
        mcp.main()
    except KeyboardInterrupt:
        return INTERRUPTED
    return 0


def mcp_server_or_help() -> int:
    """Run ``pymemstore``, which ``uvx pymemstore`` starts: the server, or its help for people."""
    if len(sys.argv) == 1 and sys.stdin is not None and sys.stdin.isatty():
        sys.argv.append("--help")
    return mcp_server()


if __name__ == "__main__":
    command_line()
