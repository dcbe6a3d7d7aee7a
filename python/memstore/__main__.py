"""Where the programs ``memstore`` (also ``python -m memstore``) and ``memstore-mcp`` start.

Importing the faces takes a tenth of a second. They are imported inside these functions, so that
Ctrl-C during it ends the program without a traceback.
"""

from __future__ import annotations

import sys

INTERRUPTED = 130


def command_line() -> int:
    try:
        from memstore.faces.cli.main import main

        return main()
    except KeyboardInterrupt:
        return INTERRUPTED


def mcp_server() -> int:
    """Run ``memstore-mcp``; returns only when it is interrupted before it serves."""
    try:
        from memstore.faces.mcp.main import main

        main()
    except KeyboardInterrupt:
        return INTERRUPTED
    return 0


if __name__ == "__main__":
    sys.exit(command_line())
