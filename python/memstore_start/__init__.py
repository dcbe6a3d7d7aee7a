"""Where the programs ``memstore`` and ``memstore-mcp`` start.

Outside the package ``memstore``, whose import takes a tenth of a second: Ctrl-C during it should
end the program, and not in a traceback.
"""

from __future__ import annotations

INTERRUPTED = 130


def command_line() -> int:
    """Run ``memstore`` and return its exit code."""
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
