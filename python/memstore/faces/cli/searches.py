"""The command that shows what agents asked, and what they and their prompts were given."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memstore.faces.cli import command as cli
from memstore.faces.cli.usage import UsageError

if TYPE_CHECKING:
    import argparse

    from memstore.store.store import Store


@cli.command(
    "searches",
    "memstore searches\nmemstore searches --since 2h --client claude-code\n"
    "memstore searches --fact 12\nmemstore searches --never",
    cli.option("--since TIME", "searches from then on: 90m, 2h, 3d, 1w, or a time"),
    cli.option("--until TIME", "searches up to then"),
    cli.option("--client NAME", "searches of this program"),
    cli.option("--run-uuid UUID", "searches of one session of a server", dest="run"),
    cli.option("--tool NAME", "searches by this tool; prompt: what hooks added to prompts"),
    cli.option("--fact ID", "searches that were given this fact", type=cli.fact_id),
    cli.option("--nothing", "searches that were given nothing"),
    cli.option("--most", "instead: the facts that were given most often"),
    cli.option("--never", "instead: the active facts that were never given, newest first"),
    cli.option("--before ID", "searches (or, with --never, facts) before this one", type=cli.count),
    cli.option("--clear", "remove the record of these owners' searches"),
    cli.limit(50),
    *cli.WHOSE,
    usage="[--since TIME] [--client NAME] [--fact ID] [--most | --never] [options]",
    shows_part=True,
)
def _searches(store: Store, arguments: argparse.Namespace, show: cli.Show) -> None:
    store = cli.owned(store, arguments)
    if arguments.most + arguments.never + arguments.clear > 1:
        raise UsageError("--most, --never and --clear are alternatives: give one of them")
    if arguments.clear:
        number = store.searches.clear()
        show.text(f"removed {number:,} searches", {"removed": number})
        return
    if arguments.most or arguments.never:
        _given(store, arguments, show)
        return
    found = store.searches.list(
        **cli.given(arguments, "since until client run tool fact before limit"),
        is_empty=True if arguments.nothing else None,
    )
    show.searches(found)
    if not found:
        none = "no such search is recorded; servers and hooks record them unless that is off"
        cli.draw_nothing(store, arguments, show, none)
    elif len(found) == arguments.limit:
        show.note(f"the newest {len(found):,}; --before {found[-1].id} shows older ones")


def _given(store: Store, arguments: argparse.Namespace, show: cli.Show) -> None:
    limit = min(arguments.limit, 1000)
    if arguments.never:
        found = store.searches.never_used(before_id=arguments.before, limit=limit)
    else:
        found = store.searches.most_used(limit=limit)
    show.given(found)
    if not found:
        cli.draw_nothing(store, arguments, show, "no such fact", "fact")
