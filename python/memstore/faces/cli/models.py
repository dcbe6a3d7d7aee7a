"""The command that fetches an embedding model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memstore.faces.cli import command as cli
from memstore.providers import fetched

if TYPE_CHECKING:
    import argparse


@cli.command(
    "fetch-model",
    "memstore fetch-model\nmemstore fetch-model BAAI/bge-small-en-v1.5",
    cli.option("MODEL", "its name; without one, those that can be fetched are listed", nargs="?"),
    cli.YES,
    file="none",
    usage="[MODEL] [--yes] [options]",
)
def _fetch_model(_: None, arguments: argparse.Namespace, show: cli.Show) -> int | None:
    if arguments.model is None:
        every = fetched.offered()
        rows = [(one.model, *_details(one)) for one in every]
        show.rows(rows, [one._asdict() for one in every])
        return None
    found = fetched.find(arguments.model)
    size, licence, numbers = _details(found)
    ended = cli.settled(
        show,
        lambda: [(found.model, size, licence, numbers)],
        found._asdict(),
        lambda: f"Download {size} of {found.model}, licence {licence}?",
        is_agreed=arguments.yes,
    )
    if ended is not None:
        return ended
    place = fetched.fetch(found.model)
    show.done(
        f"fetched {found.model}; use it with --embedder fastembed:{found.model}",
        {"model": found.model, "folder": str(place)},
    )
    return None


def _details(one: fetched.Offered) -> tuple[str, str, str]:
    return f"{one.megabytes} MB", one.licence, f"{one.dimension} numbers"
