"""The commands that maintain the file: its status, copies of it, and its health."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memstore.faces.cli import embedding, transfer
from memstore.faces.cli.command import REFUSED, Command

if TYPE_CHECKING:
    import argparse

    from memstore.faces.cli.render import Show
    from memstore.store.store import Store


def _status(store: Store, arguments: argparse.Namespace, show: Show) -> None:
    show.status(store.status())


def _fill_backup(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="a new file")


def _backup(store: Store, arguments: argparse.Namespace, show: Show) -> None:
    with show.progress("copying") as progress:
        file = store.backup(arguments.file, progress=progress)
    size = file.stat().st_size
    show.done(f"copied {size / 1024:,.0f} KiB to {file}", {"file": str(file), "size_bytes": size})


def _fill_doctor(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--rebuild",
        action="store_true",
        help="rebuild what is derived: the word index, and embeddings that do not fit",
    )


def _doctor(store: Store, arguments: argparse.Namespace, show: Show) -> int | None:
    rebuilt: list[str] = []
    if arguments.rebuild:
        with show.progress("rebuilding") as progress:
            rebuilt = store.rebuild(progress=progress)
    with show.progress("examining") as progress:
        findings = store.examine(progress=progress)
    show.findings(findings, rebuilt)
    if any(finding.repairable for finding in findings):
        show.note("memstore doctor --rebuild mends what is marked as repairable")
    if rebuilt and store.status().pending:
        show.note("memstore embed-pending embeds what is pending now")
    return REFUSED if findings else None


COMMANDS = (
    Command(
        name="status",
        summary="Say what the store holds, and where and how it is kept.",
        example="memstore status",
        run=_status,
        file="there",
        embedder="optional",
    ),
    *transfer.COMMANDS,
    Command(
        name="backup",
        usage="FILE [options]",
        summary="Write a consistent copy of the file while others use it.",
        example="memstore backup memories-2026-03-01.db",
        fill=_fill_backup,
        run=_backup,
        file="there",
    ),
    *embedding.COMMANDS,
    Command(
        name="doctor",
        summary="Prove that indexes and embeddings agree with the facts.",
        example="memstore doctor\nmemstore doctor --rebuild",
        fill=_fill_doctor,
        run=_doctor,
        file="there",
    ),
)
