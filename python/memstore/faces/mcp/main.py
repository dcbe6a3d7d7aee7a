"""The command ``memstore-mcp``: the memory for any MCP client, over pipes or HTTP."""

from __future__ import annotations

import argparse
import gc
from functools import partial
from typing import TYPE_CHECKING, Final

from memstore import __version__
from memstore.faces import options, wording
from memstore.lazy import lazy_import

if TYPE_CHECKING:
    import logging
    from collections.abc import Sequence
    from pathlib import Path

    from memstore.domain.protocols import JSONGenerator
    from memstore.errors import Reason
    from memstore.faces.http import address, server
    from memstore.faces.mcp import catalogue, opening, session
    from memstore.settings import Settings
    from memstore.store.store import Store
else:
    logging = lazy_import("logging")
    address = lazy_import("memstore.faces.http.address")
    catalogue = lazy_import("memstore.faces.mcp.catalogue")
    opening = lazy_import("memstore.faces.mcp.opening")
    server = lazy_import("memstore.faces.http.server")
    session = lazy_import("memstore.faces.mcp.session")

NO_HTTP: Final = (
    "--http needs packages that are not installed ({error}): pip install 'pymemstore[http]'"
)

EPILOG: Final = f"""\
The server uses the Model Context Protocol on standard input and output; a client starts it.
Most clients read a JSON file that lists their servers:

  {{"mcpServers": {{"memstore": {{"command": "memstore-mcp"}}}}}}

with flags, here for one project's own memory, found by meaning through Ollama:

  {{"mcpServers": {{"memstore": {{
     "command": "memstore-mcp",
     "args": ["--namespace", "my-project", "--ollama", "http://localhost:11434"]}}}}}}

Claude Code: claude mcp add memstore -- "$(which memstore-mcp)"

A client may not know your PATH: then "command" is the full path that `which memstore-mcp` prints.

With --http it serves many clients at http://HOST:PORT/mcp instead, each with a token: the first
start on a file prints one, and `memstore token create` makes others. GET /health asks after its
health.

{options.ENVIRONMENT_HELP}
  MEMSTORE_TOOLS, MEMSTORE_READ_ONLY
  MEMSTORE_BACKUP_EVERY, MEMSTORE_BACKUP_KEEP, MEMSTORE_BACKUP_FOLDER"""


def main(argv: Sequence[str] | None = None) -> None:
    parser = _parser()
    arguments = parser.parse_args(argv)
    try:
        chosen = options.chosen_settings(arguments)
        offered = catalogue.offered(
            chosen.tools or catalogue.DEFAULT_TOOLS, read_only=chosen.read_only
        )
        served = _http(arguments)
        schedule = options.backup_schedule(chosen)
    except ValueError as error:
        parser.error(wording.in_server(error))
    opened = opening.Opening(partial(open_store, chosen, schedule))
    make_generator = partial(generator, chosen)
    if served is None:
        session.run(offered, opened, make_generator)
    try:
        serve = server.run
    except ImportError as error:
        parser.error(NO_HTTP.format(error=error))
    _log_to_standard_error()
    serve(offered, opened, *served, generator=make_generator, no_token=arguments.no_token)


def _log_to_standard_error() -> None:
    """Standard output belongs to the protocol; what is wrong goes to the host's log."""
    logging.basicConfig(format="memstore-mcp: %(message)s")
    for handler in logging.getLogger().handlers:
        handler.setLevel(logging.WARNING)  # a client may ask for more, and gets it by itself


def generator(chosen: Settings) -> JSONGenerator | None:
    return options.make_generator(chosen)


def open_store(chosen: Settings, schedule: options.BackupSchedule | None = None) -> Store:
    _log_to_standard_error()
    try:
        store = options.open_store(chosen, actor="agent", source="mcp")
    finally:
        gc.freeze()  # what was imported is never garbage
        gc.enable()
    if schedule is not None:
        try:
            store.backup_in_background(*schedule, tell=_tell_backup)
        except BaseException:
            store.close()
            raise
    return store


def _tell_backup(done: Path | Reason) -> None:
    if isinstance(done, str):
        logging.getLogger(__name__).warning("no backup was made: %s", wording.in_server(done))
    else:
        logging.getLogger(__name__).info("a backup was made: %s", done)


def _http(arguments: argparse.Namespace) -> tuple[address.Address, address.Names] | None:
    """Return where to listen and by which names; ``None`` for standard input and output."""
    if arguments.http is None:
        if arguments.allow_host or arguments.allow_origin or arguments.no_token:
            raise ValueError("--allow-host, --allow-origin and --no-token go with --http")
        return None
    where = address.read_address(arguments.http)
    names = address.Names.of(where.host, arguments.allow_host, arguments.allow_origin)
    return where, names


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="memstore-mcp",
        description="Serve a durable memory to an AI agent as an MCP server.",
        epilog=EPILOG,
        formatter_class=options.HelpFormatter,
    )
    options.add_store_flags(parser)
    options.add_generator_flags(parser)
    parser.add_argument(
        "--tools",
        metavar="NAMES",
        help="the tool sets and single tools to offer, separated by commas, -NAME to leave one out "
        f"(default: {catalogue.DEFAULT_TOOLS}); "
        "fewer leave more of the context to the work; episodes is the log of what was said, "
        "graph relates what facts mention, learn reads conversations with --generator",
    )
    parser.add_argument(
        "--backup-every",
        metavar="TIME",
        help="make a backup of the file whenever the newest is so old, e.g. 1h; of several servers "
        "of one file, one makes it",
    )
    parser.add_argument(
        "--backup-keep",
        metavar="N",
        help=f"how many of them are kept (default: {options.KEPT_BACKUPS})",
    )
    parser.add_argument(
        "--backup-folder",
        metavar="FOLDER",
        help="where they are (default: the file's name with .backups)",
    )
    parser.add_argument(
        "--read-only",
        action="store_true",
        default=argparse.SUPPRESS,
        help="offer only the tools that change nothing",
    )
    http = parser.add_argument_group("over HTTP")
    http.add_argument(
        "--http",
        metavar="HOST:PORT",
        help="listen there, e.g. on 127.0.0.1:8765; every request needs a token, and the first "
        "one is created and printed",
    )
    http.add_argument(
        "--no-token",
        action="store_true",
        help="let everybody on this machine in; not for other machines, and not once there is a "
        "token",
    )
    http.add_argument(
        "--allow-host",
        metavar="NAME",
        action="append",
        default=[],
        help="answer to this name as well, e.g. that of a reverse proxy; may be repeated",
    )
    http.add_argument(
        "--allow-origin",
        metavar="ORIGIN",
        action="append",
        default=[],
        help="let pages of this origin ask from a browser, e.g. https://app.example.com; may be "
        "repeated",
    )
    parser.add_argument("--version", action="version", version=f"%(prog)s {__version__}")
    return parser


if __name__ == "__main__":
    main()
