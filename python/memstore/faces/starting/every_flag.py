"""The command ``memstore-mcp``: the memory for any MCP client, over pipes or HTTP."""

from __future__ import annotations

import argparse
import re
import sys
from functools import partial
from typing import TYPE_CHECKING, Final

from memstore import __version__
from memstore.faces import from_settings, options, wording
from memstore.lazy import lazy_import

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from memstore.domain.protocols import JSONGenerator
    from memstore.faces.http import identity, metrics, server
    from memstore.faces.http import pages as web_pages
    from memstore.faces.http.identity import Identity
    from memstore.faces.mcp import catalogue, session
    from memstore.faces.serving import address, draining, opening
    from memstore.learn import server_learning
    from memstore.learn.background import BackgroundLearning
    from memstore.settings import Settings
    from memstore.store.store import Store
else:
    address = lazy_import("memstore.faces.serving.address")
    draining = lazy_import("memstore.faces.serving.draining")
    identity = lazy_import("memstore.faces.http.identity")
    metrics = lazy_import("memstore.faces.http.metrics")
    catalogue = lazy_import("memstore.faces.mcp.catalogue")
    opening = lazy_import("memstore.faces.serving.opening")
    server = lazy_import("memstore.faces.http.server")
    server_learning = lazy_import("memstore.learn.server_learning")
    session = lazy_import("memstore.faces.mcp.session")
    web_pages = lazy_import("memstore.faces.http.pages")

WITH_HTTP: Final = (
    "allow_host",
    "allow_origin",
    "drain",
    "identity",
    "metrics",
    "no_token",
    "pages",
)
"""Flags that mean something only over HTTP."""

LEFT_OUT: Final = re.compile(r"-[a-z]\w+(,|$)")
"""A tool or set to leave out, unlike ``-h``."""

NO_HTTP: Final = (
    "--http needs packages that are not installed ({error}): pip install 'pymemstore[http]', "
    "or in the sources of memstore pip install '.[http]'"
)

NO_METRICS: Final = (
    "--metrics needs a package that is not installed ({error}): pip install 'pymemstore[metrics]'"
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

If the client does not use your PATH, give the full path that `which memstore-mcp` prints.

With --http it serves many clients at http://HOST:PORT/mcp instead, each with a token: the first
start on a file prints one, and `memstore token create` makes others. GET /livez and GET /readyz are
checks for whoever runs it.

{options.ENVIRONMENT_HELP}
  MEMSTORE_TOOLS, MEMSTORE_ANSWERS, MEMSTORE_READ_ONLY, MEMSTORE_NO_RECORD, MEMSTORE_LEARN_UNREAD
  MEMSTORE_USER, MEMSTORE_ANY_USER, MEMSTORE_IDENTITY
  MEMSTORE_BACKUP_EVERY, MEMSTORE_BACKUP_KEEP, MEMSTORE_BACKUP_FOLDER, MEMSTORE_SYNC_EVERY"""


def main(argv: Sequence[str] | None = None) -> None:
    parser = _parser()
    arguments = parser.parse_args(_joined(sys.argv[1:] if argv is None else argv))
    try:
        chosen = options.chosen_settings(arguments)
        offered = catalogue.offered(
            chosen.tools or catalogue.DEFAULT_TOOLS,
            read_only=chosen.read_only,
            answers=chosen.answers,
        )._replace(
            owners=chosen.owners,
            confined=chosen.is_bound,
            records=not (chosen.no_record or chosen.read_only),
        )
        served = _http(arguments)
        provider = _provider(arguments, chosen)
        drain_seconds = draining.read_drain_seconds(arguments.drain or "0")
        metrics_at = _metrics_address(arguments)
        schedule = options.backup_schedule(chosen)
        options.check_served(chosen)
        options.check_sync(chosen)
        options.check_learning(chosen)
    except ValueError as error:
        parser.error(wording.in_server(error))
    make_generator = partial(from_settings.make_generator, chosen)
    opened = opening.Opening(
        partial(opening.open_store, chosen, schedule),
        arguments.heads,
        partial(_learn, make_generator, served is not None) if chosen.learn_unread else None,
        chosen,
    )
    if served is None:
        is_named = chosen.namespace is not None
        session.run(offered, opened, make_generator, is_named=is_named)
    try:
        serve = server.run
        with_pages = (
            partial(web_pages.with_pages, generator=make_generator) if arguments.pages else None
        )
    except ImportError as error:
        parser.error(NO_HTTP.format(error=error))
    try:
        with_metrics = None if metrics_at is None else (metrics_at, metrics.Metrics)
    except ImportError as error:
        parser.error(NO_METRICS.format(error=error))
    opening.log_to_standard_error()
    serve(
        offered,
        opened,
        *served,
        generator=make_generator,
        no_token=arguments.no_token,
        with_pages=with_pages,
        identity=provider,
        with_metrics=with_metrics,
        drain_seconds=drain_seconds,
    )


def _learn(
    make_generator: Callable[[], JSONGenerator | None], everywhere: bool, store: Store
) -> BackgroundLearning:
    return server_learning.learn_in_background(store, make_generator, everywhere=everywhere)


def _joined(argv: Sequence[str]) -> list[str]:
    """Join ``--tools -NAME`` with =, as argparse would take the name for a flag."""
    joined: list[str] = []
    for word in argv:
        if joined and joined[-1] == "--tools" and LEFT_OUT.match(word):
            joined[-1] += f"={word}"
        else:
            joined.append(word)
    return joined


def _http(arguments: argparse.Namespace) -> tuple[address.Address, address.AcceptedNames] | None:
    """Return the address and the allowed names; ``None`` for standard input and output."""
    if arguments.http is None:
        if any(getattr(arguments, name) for name in WITH_HTTP):
            raise ValueError(f"{', '.join(map(_flag, WITH_HTTP))} go with --http")
        return None
    where = address.read_address(arguments.http)
    names = address.AcceptedNames.of(where.host, arguments.allow_host, arguments.allow_origin)
    return where, names


def _provider(arguments: argparse.Namespace, chosen: Settings) -> Identity | None:
    """Return the settings of the identity provider; ``None`` for none."""
    if chosen.identity is None or arguments.http is None:
        return None
    if arguments.no_token:
        raise ValueError("--no-token lets everyone in, and --identity says who may: omit one")
    return identity.read(chosen.identity)


def _metrics_address(arguments: argparse.Namespace) -> address.Address | None:
    if arguments.metrics is None:
        return None
    where = address.read_address(arguments.metrics, "--metrics")
    if where.port and where.port == address.read_address(arguments.http).port:
        raise ValueError("--metrics needs another port than --http: whoever reaches it sees all")
    return where


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _parser() -> argparse.ArgumentParser:
    parser = options.RedactingParser(
        prog="memstore-mcp",
        description="Serve a durable memory to an AI agent as an MCP server.",
        epilog=EPILOG,
        formatter_class=options.HelpFormatter,
    )
    options.add_store_flags(parser)
    options.add_generator_flags(parser)
    flag = partial(options.add_option, parser)
    flag(
        "--tools NAMES",
        "the tool sets and single tools to offer, separated by commas, -NAME to leave one out "
        f"(default: {catalogue.DEFAULT_TOOLS}); "
        "fewer tools take less of the model's context; episodes is the log of what was said, graph "
        "relates what facts mention, learn reads conversations with --generator",
    )
    flag(
        "--answers FORM",
        "lines (the default) answers in short lines for a model; json in JSON, as text and as "
        "structured content, with a schema for each tool, for programs",
    )
    flag(
        "--user ID",
        "the user whose memories calls use; a call that names another one is refused (default: "
        "memories without owners, or those of the owners that a call names)",
    )
    flag(
        "--any-user",
        "with --user: let calls name other users, too",
        default=argparse.SUPPRESS,
    )
    flag(
        "--backup-every TIME",
        "make a backup of the file whenever the newest is this old, e.g. 1h; if several "
        "servers share the file, one of them makes it",
    )
    flag(
        "--backup-keep N",
        f"how many backups to keep (default: {options.KEPT_BACKUPS})",
    )
    flag(
        "--backup-folder FOLDER",
        "the folder of the backups (default: the file's name with .backups)",
    )
    flag(
        "--sync-every TIME",
        "sync the file in the background this often and after writes, with the place that memstore "
        "sync was given, e.g. 5m; off never does (default: as memstore setup --sync chose); of "
        "several servers, one at a time does",
    )
    flag(
        "--heads FILE",
        "append the end of the journal to this file when the server opens the memory and when it "
        "ends; memstore verify --head compares it with the memory later",
    )
    flag(
        "--no-record",
        "do not record what agents ask and are given (memstore searches shows it)",
        default=argparse.SUPPRESS,
    )
    flag(
        "--learn-unread",
        "read in the background, with the model of --generator, the conversations that no model "
        "has read; over HTTP, those of every namespace",
        default=argparse.SUPPRESS,
    )
    flag("--read-only", "offer only the tools that change nothing", default=argparse.SUPPRESS)
    flag = partial(options.add_option, parser.add_argument_group("over HTTP"))
    flag(
        "--http HOST:PORT",
        "listen on this address, e.g. 127.0.0.1:8765; every request needs a token, and the "
        "first one is created and printed",
    )
    flag(
        "--pages",
        "serve the pages of memstore web as well, at http://HOST:PORT/; a person signs in with a "
        "token, and sees its namespace",
    )
    flag(
        "--no-token",
        "serve every user of this machine without a token; refused on an address that other "
        "machines can reach, and if the file has a token",
    )
    flag(
        "--identity FILE",
        "also accept the tokens of an identity provider, by the settings in this TOML file: whose, "
        "and what each gives access to",
    )
    flag(
        "--allow-host NAME",
        "also accept this host name, e.g. that of a reverse proxy; may be repeated",
        action="append",
        default=[],
    )
    flag(
        "--allow-origin ORIGIN",
        "also accept requests from web pages of this origin, e.g. https://app.example.com; "
        "may be repeated",
        action="append",
        default=[],
    )
    flag(
        "--metrics HOST:PORT",
        "show metrics for Prometheus at http://HOST:PORT/metrics, without a token; they are "
        "numbers alone, of the whole memory",
    )
    flag(
        "--drain SECONDS",
        "at the signal to end, fail /readyz at once and accept requests for so long, until proxies "
        "have noticed (default: 0)",
    )
    parser.add_argument("--version", action="version", version=f"%(prog)s {__version__}")
    return parser


if __name__ == "__main__":
    main()
