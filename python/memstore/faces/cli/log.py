"""The commands that show what was done to the memory, and what that changed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from memstore.domain import clock
from memstore.faces.cli import command as cli
from memstore.faces.escaping import counted

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from memstore.domain.log import Act
    from memstore.store.store import Store

POLL_SECONDS: Final = 0.5
"""How often ``--follow`` looks for new acts: one read by the id of a line."""

AT_ONCE: Final = 1000
"""Acts that ``--follow`` shows at a time."""


@cli.command(
    "log",
    "memstore log\nmemstore log --since 2h --source web:example.org\nmemstore log --follow",
    cli.option("--since TIME", "acts from then on: a time, a day, yesterday, 2h, op:LINE"),
    cli.option("--until TIME", "acts up to then"),
    cli.option("--run-uuid UUID", "acts of one opening of the file or one session", dest="run"),
    cli.option("--source NAME", "acts through a program, or from a source such as web:x"),
    cli.option("--actor NAME", "acts by this person or program"),
    cli.option("--fact ID", "what was done to this fact", type=cli.fact_id),
    cli.option(
        "--kind KIND",
        "a kind of line of the journal, such as delete; may be repeated",
        dest="kinds",
        action="append",
    ),
    cli.option("--before LINE", "acts before that of this line", type=cli.count),
    cli.option("--follow", "then print new acts as they come, oldest first"),
    cli.limit(50),
    *cli.WHOSE,
    usage="[--since TIME] [--source NAME] [--fact ID] [--follow] [options]",
    shows_part=True,
)
def _log(store: Store, arguments: argparse.Namespace, show: cli.Show) -> None:
    found = _acts(store, arguments, arguments.limit, before=arguments.before)
    if arguments.follow:
        show.acts([*reversed(found)])
        _follow(store, arguments, show, found[0].line if found else None)
        return
    show.acts(found, paged=True)
    if not found:
        cli.draw_nothing(store, arguments, show, "no such act", "fact", "episode")
    elif len(found) == arguments.limit:
        more = f"--before {found[-1].line}"
        if _acts(store, arguments, 1, before=found[-1].line):
            show.note(f"the newest {counted(len(found), 'act')}; {more} shows older ones")


@cli.command(
    "diff",
    "memstore diff yesterday now\nmemstore diff 2026-03-01 2026-03-08 --subject alice\n"
    "memstore diff op:1234",
    cli.option(
        "EARLIER",
        "a time, yesterday, an age such as 2h, op:LINE (after that act), or run:UUID or episode:ID "
        "(before them)",
    ),
    cli.option("LATER", "the later moment (default: now)", nargs="?", default="now"),
    cli.option("--subject NAME", "only facts about this subject"),
    cli.option("--category NAME", "only facts in this category"),
    cli.limit(),
    cli.OFFSET,
    *cli.WHOSE,
    usage="EARLIER [LATER] [options]",
    shows_part=True,
)
def _diff(store: Store, arguments: argparse.Namespace, show: cli.Show) -> None:
    found = cli.owned(store, arguments).ledger.diff(
        arguments.earlier,
        arguments.later,
        **cli.given(arguments, "subject category limit offset"),
    )
    show.differences(found)
    cli.draw_list(store, arguments, show, found, found.total, "difference", "nothing changed")
    if found.passed:
        show.note(f"{counted(found.passed)} came and went in between")


def _acts(
    store: Store,
    arguments: argparse.Namespace,
    limit: int,
    *,
    before: int | None = None,
    after: int | None = None,
) -> Sequence[Act]:
    return cli.owned(store, arguments).ledger.log(
        **cli.given(arguments, "since until run source actor fact kinds"),
        limit=limit,
        before=before,
        after=after,
    )


def _follow(store: Store, arguments: argparse.Namespace, show: cli.Show, last: int | None) -> None:
    """Print new acts, also those of other processes, until it is interrupted."""
    try:
        while True:
            found = _acts(store, arguments, AT_ONCE, after=last or 0)
            if found:
                show.acts([*reversed(found)])
                last = found[0].line
            clock.sleep(POLL_SECONDS)
    except KeyboardInterrupt:  # how a user ends it
        show.note("stopped")
