"""The command ``memstore-mcp``: the memory for any MCP client, over standard input and output."""

from __future__ import annotations

import argparse
import logging
from functools import partial
from typing import TYPE_CHECKING, Final

from memstore import __version__
from memstore.faces.wiring import (
    ENVIRONMENT_HELP,
    HelpFormatter,
    add_generator_flags,
    add_store_flags,
    chosen_settings,
    make_generator,
    open_store,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

DEFAULT_TOOLS: Final = "facts,tasks"

EPILOG: Final = f"""\
The server speaks the Model Context Protocol on standard input and output: a client starts it.
Most clients read a JSON file that lists their servers:

  {{"mcpServers": {{"memstore": {{"command": "memstore-mcp"}}}}}}

with flags, here for one project's own memory, found by meaning through Ollama:

  {{"mcpServers": {{"memstore": {{
     "command": "memstore-mcp",
     "args": ["--namespace", "my-project", "--ollama", "http://localhost:11434"]}}}}}}

Claude Code: claude mcp add memstore -- "$(which memstore-mcp)"

A client may not know your PATH: then "command" is the full path that `which memstore-mcp` prints.

{ENVIRONMENT_HELP}
  MEMSTORE_TOOLS, MEMSTORE_READ_ONLY"""


def main(argv: Sequence[str] | None = None) -> None:
    """Run the server; ends with the process."""
    parser = _parser()
    arguments = parser.parse_args(argv)
    # The SDK takes half a second to import; --help and --version do without it.
    from memstore.faces import mcp_opening, mcp_session, mcp_tools

    try:
        chosen = chosen_settings(arguments)
        tools = mcp_tools.offered(
            chosen.tools or DEFAULT_TOOLS,
            read_only=chosen.read_only,
            generator=partial(make_generator, chosen),
        )
    except ValueError as error:
        parser.error(str(error))
    # Standard output belongs to the protocol; what is wrong goes to the host's log.
    logging.basicConfig(level=logging.WARNING, format="memstore-mcp: %(message)s")
    opening = mcp_opening.Opening(partial(open_store, chosen, actor="agent", source="mcp"))
    mcp_session.run(tools, opening)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="memstore-mcp",
        description="Serve a durable memory to an AI agent as an MCP server.",
        epilog=EPILOG,
        formatter_class=HelpFormatter,
    )
    add_store_flags(parser)
    add_generator_flags(parser)
    parser.add_argument(
        "--tools",
        metavar="SETS",
        help=f"the tool sets to offer, separated by commas (default: {DEFAULT_TOOLS}); "
        "fewer leave more of the context to the work; learn reads conversations with --generator",
    )
    parser.add_argument(
        "--read-only",
        action="store_true",
        default=argparse.SUPPRESS,
        help="offer only the tools that change nothing",
    )
    parser.add_argument("--version", action="version", version=f"%(prog)s {__version__}")
    return parser


if __name__ == "__main__":
    main()
