"""The commands that look after the file: what it holds, copies of it, and its health."""

from __future__ import annotations

import os
import stat
import sys
from contextlib import contextmanager, suppress
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from memstore.errors import TransferError
from memstore.faces.commands import EMBEDDER_TROUBLE, REFUSED, Command, count, names
from memstore.faces.spelling import counted
from memstore.faces.wiring import for_command_line

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable, Iterator

    from memstore.embedding import EmbedReport
    from memstore.faces.render import Show
    from memstore.store import Store

STANDARD = "-"


def _status(store: Store, arguments: argparse.Namespace, show: Show) -> None:
    show.status(store.status())


def _fill_export(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "file", metavar="FILE", nargs="?", default=STANDARD, help="- for standard output (default)"
    )
    parser.add_argument(
        "--namespaces", metavar="A,B", type=names, help="export these instead; all for every one"
    )


def _export(store: Store, arguments: argparse.Namespace, show: Show) -> None:
    if arguments.file == STANDARD:
        _write(store.export(namespaces=arguments.namespaces), sys.stdout)
        return
    target = Path(arguments.file).expanduser()
    with show.progress("exporting") as progress, _whole_file(target) as file:
        facts = _write(store.export(namespaces=arguments.namespaces, progress=progress), file)
    show.done(
        f"exported {counted(facts)} to {target}", {"file": str(target.absolute()), "facts": facts}
    )


def _write(lines: Iterable[str], file: TextIO) -> int:
    """Write an export and return how many facts it holds."""
    facts = 0
    for line in lines:
        file.write(line + "\n")
        facts += line.startswith('{"fact"')
    return facts


@contextmanager
def _whole_file(target: Path) -> Iterator[TextIO]:
    """Open a file that is there whole in the end, or as it was before.

    What is no ordinary file (a pipe, a device) is written to directly.
    """
    target = Path(os.path.realpath(target))
    if target.exists() and not stat.S_ISREG(target.stat().st_mode):
        with open(target, "w", encoding="utf-8", newline="\n") as file:
            yield file
        return
    import tempfile  # slow to import, and no other command needs it

    # Readable by its owner alone, as the database is.
    try:
        handle, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(target)) from None
    try:
        with open(handle, "w", encoding="utf-8", newline="\n") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(name, target)
    except BaseException:
        with suppress(OSError):
            os.unlink(name)
        raise


def _fill_import(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="what export wrote; - for standard input")
    parser.add_argument(
        "--keep-namespaces",
        action="store_true",
        help="leave each fact in the namespace it came from",
    )
    parser.add_argument(
        "--no-embed", action="store_true", help="leave the embedding for later (embed-pending)"
    )


def _import(store: Store, arguments: argparse.Namespace, show: Show) -> None:
    with show.progress("importing") as progress, _lines(arguments.file) as lines:
        done = store.import_(lines, keep_namespaces=arguments.keep_namespaces, progress=progress)
    everywhere = arguments.keep_namespaces
    report = None if arguments.no_embed else _embed(store, show, everywhere=everywhere)
    known = f", {done.known} known already" if done.known else ""
    retired = f", {done.retired} of them superseded now" if done.retired else ""
    removed = f", {done.removed} of them deleted or erased now" if done.removed else ""
    restored = f", {done.restored} of them restored now" if done.restored else ""
    embedded = asdict(report) if report is not None else {}
    show.done(
        f"imported {counted(done.imported)}{known}{retired}{removed}{restored}",
        {**asdict(done), **embedded},
    )
    if report is not None and report.error:
        show.note(
            f"{counted(report.left)} without an embedding so far: {for_command_line(report.error)}"
        )


@contextmanager
def _lines(name: str) -> Iterator[Iterable[str]]:
    try:
        if name == STANDARD:
            yield sys.stdin
        else:
            with open(Path(name).expanduser(), encoding="utf-8") as file:
                yield file
    except UnicodeDecodeError:
        raise TransferError(f"{name} is no UTF-8 text; nothing was imported") from None


def _embed(store: Store, show: Show, *, everywhere: bool) -> EmbedReport | None:
    """Embed what is pending; ``None`` where there is no embedder, which is no trouble here."""
    if store.status().embedder is None:
        return None
    with show.progress("embedding") as progress:
        return store.embed_pending(everywhere=everywhere, progress=progress)


def _fill_backup(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="a new file")


def _backup(store: Store, arguments: argparse.Namespace, show: Show) -> None:
    with show.progress("copying") as progress:
        file = store.backup(arguments.file, progress=progress)
    size = file.stat().st_size
    show.done(f"copied {size / 1024:,.0f} KiB to {file}", {"file": str(file), "size_bytes": size})


def _fill_embed(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--limit", metavar="N", type=count, help="how many facts at most")
    parser.add_argument(
        "--retry-quarantined",
        action="store_true",
        help="try those again whose embedding was given up",
    )
    parser.add_argument(
        "--everywhere",
        action="store_true",
        help="those of every namespace, whose texts then go to this embedder",
    )


def _embed_pending(store: Store, arguments: argparse.Namespace, show: Show) -> int | None:
    with show.progress("embedding") as progress:
        report = store.embed_pending(
            limit=arguments.limit,
            everywhere=arguments.everywhere,
            retry_quarantined=arguments.retry_quarantined,
            progress=progress,
        )
    refused = f", {report.failed} refused" if report.failed else ""
    show.done(f"embedded {counted(report.embedded)}{refused}, {report.left} left", asdict(report))
    if report.error:
        show.note(f"stopped early: {for_command_line(report.error)}")
        return EMBEDDER_TROUBLE
    return None


def _fill_doctor(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--rebuild",
        action="store_true",
        help="make anew what is derived: the word index, and embeddings that do not fit",
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
    Command(
        name="export",
        usage="[FILE | -] [options]",
        summary="Write all facts as JSON Lines: everything but the embeddings.",
        example="memstore export memories.jsonl\nmemstore export --namespaces all | gzip > all.gz",
        fill=_fill_export,
        run=_export,
        file="there",
    ),
    Command(
        name="import",
        usage="FILE | - [options]",
        summary="Bring an export in: all of it, or nothing.",
        example="memstore import memories.jsonl --db other.db",
        fill=_fill_import,
        run=_import,
        embedder="needed",
    ),
    Command(
        name="backup",
        usage="FILE [options]",
        summary="Write a consistent copy of the file while others use it.",
        example="memstore backup memories-2026-03-01.db",
        fill=_fill_backup,
        run=_backup,
        file="there",
    ),
    Command(
        name="embed-pending",
        summary="Embed the facts that were stored while the embedder was away.",
        example="memstore embed-pending --embedder ollama",
        fill=_fill_embed,
        run=_embed_pending,
        file="there",
        embedder="needed",
    ),
    Command(
        name="doctor",
        summary="Prove that indexes and embeddings agree with the facts.",
        example="memstore doctor\nmemstore doctor --rebuild",
        fill=_fill_doctor,
        run=_doctor,
        file="there",
    ),
)
