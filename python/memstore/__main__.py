"""Where the programs ``memstore`` (also ``python -m memstore``) and ``memstore-mcp`` start.

The faces are imported inside these functions, so that Ctrl-C meanwhile ends the program without a
traceback.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from memstore.lazy import lazy_import

if TYPE_CHECKING:
    from memstore.faces.cli import main as cli
    from memstore.faces.mcp import main as mcp
else:
    cli = lazy_import("memstore.faces.cli.main")
    mcp = lazy_import("memstore.faces.mcp.main")

INTERRUPTED = 130


def command_line() -> int:
    try:
        return cli.main()
    except KeyboardInterrupt:
        return INTERRUPTED


def mcp_server() -> int:
    """Run ``memstore-mcp``; returns only when it is interrupted before it serves."""
    try:
        mcp.main()
    except KeyboardInterrupt:
        return INTERRUPTED
    return 0


if __name__ == "__main__":
    sys.exit(command_line())
