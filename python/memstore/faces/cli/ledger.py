"""The commands that ask what the journal knows."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from memstore import settings
from memstore.faces.cli import command as cli
from memstore.faces.cli import ids
from memstore.faces.escaping import counted, minute

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from memstore.domain.support import Support
    from memstore.domain.trust import TrustChange
    from memstore.store.store import Store


@cli.command(
    "support",
    "memstore support 12",
    cli.ID,
    *cli.WHOSE,
)
def _support(store: Store, arguments: argparse.Namespace, show: cli.Show) -> None:
    supports = cli.owned(store, arguments).ledger.support(arguments.id)
    show.rows(
        [[*_cells(support)] for support in supports], [support.to_dict() for support in supports]
    )
    if not supports:
        show.note("nothing that it rests on is left: the episode was erased")


def _cells(support: Support) -> Iterator[str | None]:
    yield minute(support.at)
    yield support.kind
    yield f"{support.actor} through {support.through}"
    yield support.source
    if support.episode_id is None:
        yield None
    elif support.start is None:
        yield f"e{support.episode_id}"
    else:
        yield f"e{support.episode_id}, characters {support.start} to {support.stop}"


@cli.command(
    "explain",
    "memstore explain 12\nmemstore explain 12 --as-of yesterday",
    cli.ID,
    *cli.WHOSE,
    cli.AS_OF,
)
def _explain(store: Store, arguments: argparse.Namespace, show: cli.Show) -> None:
    seen = cli.seen(store, arguments)
    explanation = seen.ledger.explain(arguments.id)
    told, values = str(explanation), explanation.to_dict()
    if os.path.isdir(settings.sync_folder()):
        for uuid in seen.transfer.uuids([arguments.id]).values():
            told += f"\non every device, its UUID ends with {ids.end_of(uuid)}"
            values["uuid"] = uuid
    show.text(told, values)


@cli.command(
    "trust",
    "memstore trust\nmemstore trust web:intranet.example --level person",
    cli.option("SOURCE", "a source, or how it begins, such as web:", nargs="?"),
    cli.option("--level LEVEL", "person, agent, tool or external; default: what held before"),
    file="create",
)
def _trust(store: Store, arguments: argparse.Namespace, show: cli.Show) -> None:
    if arguments.source is None and arguments.level is not None:
        raise cli.UsageError("name the source that gets this level")
    if arguments.source is None:
        found = store.sources.levels()
        show.rows([*found.items()], found)
    else:
        _show(show, store.sources.trust(arguments.source, arguments.level))


@cli.command(
    "distrust",
    "memstore distrust web:a.org",
    cli.option("SOURCE", "a source, or how it begins, such as web:"),
    file="create",
)
def _distrust(store: Store, arguments: argparse.Namespace, show: cli.Show) -> None:
    _show(show, store.sources.distrust(arguments.source))


def _show(show: cli.Show, change: TrustChange) -> None:
    rows: list[tuple[str, ...]] = [*change.sources.items()]
    for done, facts, episodes in (
        ("hidden", change.hidden_facts, change.hidden_episodes),
        ("back", change.shown_facts, change.shown_episodes),
    ):
        if facts or episodes:
            rows.append((done, f"{counted(facts)}, {counted(episodes, 'episode')}"))
    show.rows(rows, change.to_dict())
