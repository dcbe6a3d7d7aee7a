"""The commands that set a PostgreSQL database up for memories, and check it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from memstore.faces.cli import command as cli
from memstore.faces.options import chosen_settings
from memstore.frozen import asdict
from memstore.lazy import lazy_import
from memstore.settings import DEFAULT_NAMESPACE

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping, Sequence

    from memstore.store import servers
else:
    servers = lazy_import("memstore.store.servers")

OWNER: Final = "memstore_owner"
APP: Final = "memstore_app"

REMEDIES: Final[Mapping[str, str]] = {
    "address": "Check the URL, that the server runs and lets this machine in (pg_hba.conf), and the"
    " password in PGPASSFILE.",
    "version": "Upgrade the server.",
    "encoding": "Create another database with ENCODING 'UTF8' TEMPLATE template0.",
    "schema": "Run memstore postgres init as a user who may create tables here.",
    "migrations": "Install the newest pymemstore that has written here on every machine.",
    "writing": "Run memstore postgres roles, and have an administrator run what it prints; or name"
    " the primary server.",
    "rights": "Run memstore postgres init --roles once, and have programs connect as memstore_app.",
    "clock": "Have both machines set their clocks by NTP.",
    "durability": "Set synchronous_commit = on for this user or database: ALTER DATABASE … SET.",
    "disk": "Set fsync = on.",
    "connections": "Raise max_connections, put PgBouncer between, or add a smaller ?pool_size=… to"
    " the URL.",
    "row_security": "Connect as memstore_app, which does not own the tables.",
    "pooler": "Add ?prepare_threshold=none to the URL.",
}
"""What to do if a check finds something weak or wrong."""

ROLE_NAMES: Final = (
    cli.option("--owner NAME", f"the role that owns the tables (default: {OWNER})", default=OWNER),
    cli.option("--app NAME", f"the role that programs use (default: {APP})", default=APP),
)
ROW_LEVEL_SECURITY: Final = cli.option(
    "--row-level-security",
    "policies by which the server shows each transaction the rows of one memory only",
)


def _names(arguments: argparse.Namespace) -> Sequence[str]:
    return arguments.owner, arguments.app


@cli.command(
    "postgres init",
    "memstore postgres init --db postgresql://admin@db.example.com/memories --roles",
    cli.option("--roles", "also create the two roles, and give each its rights"),
    *ROLE_NAMES,
    ROW_LEVEL_SECURITY,
    file="none",
)
def _init(_: None, arguments: argparse.Namespace, show: cli.Show) -> None:
    chosen = chosen_settings(arguments)
    namespace = chosen.namespace or DEFAULT_NAMESPACE
    servers.init(
        chosen.db,
        namespace=namespace,
        roles=_names(arguments) if arguments.roles else None,
        row_level_security=arguments.row_level_security,
    )
    done = ["the tables"]
    done += [f"the roles {' and '.join(_names(arguments))}"] * arguments.roles
    done += ["row-level security"] * arguments.row_level_security
    show.done(f"set up: {', '.join(done)}", {"done": done, "namespace": namespace})


@cli.command(
    "postgres check",
    "memstore postgres check --db postgresql://memstore_app@db.example.com/memories",
    file="none",
)
def _check(_: None, arguments: argparse.Namespace, show: cli.Show) -> int | None:
    found = servers.check(chosen_settings(arguments).db)
    told = [
        asdict(one) | {"remedy": None if one.state == "right" else REMEDIES[one.name]}
        for one in found
    ]
    is_ready = all(one.state != "wrong" for one in found)
    rows = [[one["name"], one["state"], one["text"], one["remedy"]] for one in told]
    show.rows(rows, {"ready": is_ready, "checks": told})
    return None if is_ready else cli.REFUSED


@cli.command(
    "postgres roles",
    "memstore postgres roles | psql memories",
    *ROLE_NAMES,
    ROW_LEVEL_SECURITY,
    file="none",
)
def _roles(_: None, arguments: argparse.Namespace, show: cli.Show) -> None:
    text = servers.setup_sql(_names(arguments), row_level_security=arguments.row_level_security)
    show.text(text, {"sql": text})


@cli.command(
    "postgres distribute",
    "memstore postgres distribute --dry-run\n"
    "memstore postgres distribute --db postgresql://admin@coordinator.example.com/memories",
    cli.option("--dry-run", "print the statements, and run nothing", dest="dry_run"),
    file="none",
)
def _distribute(_: None, arguments: argparse.Namespace, show: cli.Show) -> None:
    text = servers.distribution_sql()
    if arguments.dry_run:
        show.text(text, {"sql": text})
        return
    servers.distribute(chosen_settings(arguments).db)
    show.done("the tables are distributed by tenant", {"sql": text})
