"""The commands that maintain the file: status, backups and health."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from memstore import settings
from memstore.domain import clock, zones
from memstore.domain.records import EVERYBODY
from memstore.faces import wording
from memstore.faces.cli import command as cli
from memstore.faces.escaping import counted
from memstore.faces.options import KEPT_BACKUPS, chosen_settings, duration
from memstore.frozen import asdict
from memstore.lazy import lazy_import
from memstore.settings import DEFAULT_NAMESPACE
from memstore.text.escaping import visible

if TYPE_CHECKING:
    import argparse
    import pathlib

    from memstore.domain.status import StoreStatus
    from memstore.errors import Reason
    from memstore.faces import syncing_words
    from memstore.faces.hosts import spool, troubles, unkept
    from memstore.file import syncing
    from memstore.store import copying, recovery
    from memstore.store.store import Store
else:
    copying = lazy_import("memstore.store.copying")
    recovery = lazy_import("memstore.store.recovery")
    syncing = lazy_import("memstore.file.syncing")
    syncing_words = lazy_import("memstore.faces.syncing_words")
    spool = lazy_import("memstore.faces.hosts.spool")
    troubles = lazy_import("memstore.faces.hosts.troubles")
    unkept = lazy_import("memstore.faces.hosts.unkept")


@cli.command(
    "status",
    "memstore status\nmemstore status --scope all",
    *cli.WHOSE,
    embedder="optional",
    shows_part=True,
)
def _status(store: Store, arguments: argparse.Namespace, show: cli.Show) -> None:
    status = cli.owned(store, arguments).status()
    show.status(status)
    _tell_weakness(status, show)
    _tell_devices(store, show)
    _tell_troubles(store, show)


def _tell_devices(store: Store, show: cli.Show) -> None:
    if not os.path.isdir(settings.sync_folder()):
        return
    found = syncing.status_of(store.file)
    if found.address is not None:
        show.note(syncing_words.status_sentence(found))


def _tell_weakness(status: StoreStatus, show: cli.Show) -> None:
    if status.weakened_by is not None:
        show.note(f"the server has {status.weakened_by}: it may lose writes that it has confirmed")


def _tell_troubles(store: Store, show: cli.Show) -> None:
    waiting = spool.sentences() if os.path.isdir(settings.spool_folder()) else []
    noted = os.path.isdir(settings.unkept_folder())
    left = unkept.sentences(os.path.abspath(store.path), "") if noted else []
    for sentence in [*troubles.sentences(store.path), *left, *waiting]:
        show.note(sentence)
    if (named := zones.unknown_tz()) is not None:
        show.note(f"TZ={visible(named)} is no time zone known here, so days are those of UTC")


@cli.command(
    "backup",
    "memstore backup memories-2026-03-01.db\nmemstore backup --every 1h --keep 24",
    cli.option(
        "FILE",
        "the backup file, which must not exist; with --every, the folder for backups "
        "(default: the file's name plus .backups)",
        nargs="?",
    ),
    cli.option(
        "--every TIME",
        "keep running until Ctrl-C and back up whenever the newest backup is older than "
        "this, e.g. 30m, 1h or 7d",
    ),
    cli.option(
        "--keep N",
        f"how many backups to keep with --every (default: {KEPT_BACKUPS})",
        type=cli.count,
    ),
)
def _backup(store: Store, arguments: argparse.Namespace, show: cli.Show) -> None:
    if arguments.every is not None:
        _keep_backups(store, arguments, show)
        return
    if arguments.keep is not None:
        raise cli.UsageError("--keep goes with --every")
    if arguments.file is None:
        raise cli.UsageError(
            "name the backup file, which must not exist yet: memstore backup "
            f"memory-{clock.utc_now():%Y-%m-%d}.db; --every 1h makes backups by itself"
        )
    head = store.file.head()  # before the copy, which therefore has every line of it
    with show.progress("copying") as progress:
        file = store.file.backup(arguments.file, progress=progress)
    _tell_backup(file, show, head=str(head))


def _tell_backup(file: pathlib.Path, show: cli.Show, **more: str) -> None:
    size = file.stat().st_size
    told = {"file": str(file), "size_bytes": size, **more}
    show.done(f"copied {size / 1024:,.0f} KiB to {file}", told)
    for name, value in more.items():
        show.note(f"{name}: {value}")


def _keep_backups(store: Store, arguments: argparse.Namespace, show: cli.Show) -> None:
    def tell(done: pathlib.Path | Reason) -> None:
        if isinstance(done, str):
            show.note(f"no backup was made: {wording.on_command_line(done)}")
        else:
            _tell_backup(done, show)

    try:
        every_seconds = duration(arguments.every)
    except ValueError as error:
        raise cli.UsageError(f"--every is {error}") from None
    try:
        keep = arguments.keep or KEPT_BACKUPS
        store.file.keep_backups(every_seconds, keep, arguments.file, tell=tell)
    except KeyboardInterrupt:  # how a user ends it
        show.note("stopped")


@cli.command(
    "recover",
    "memstore recover memories-2026-03-01.db",
    cli.option("BACKUP", "a file written by memstore backup; it is not changed"),
    file="none",
)
def _recover(_: None, arguments: argparse.Namespace, show: cli.Show) -> None:
    with show.progress("copying") as progress:
        done = recovery.recover(arguments.backup, chosen_settings(arguments).db, progress=progress)
    show.done(f"restored {arguments.backup} to {done.path}", asdict(done))
    if done.kept is not None:
        show.note(f"the previous file is kept as {done.kept}")


@cli.command(
    "copy",
    "memstore copy ~/.local/share/memstore/memory.db postgresql://agent@db/memories",
    cli.option("SOURCE", "a file, or the URL of a database"),
    cli.option("TARGET", "a new file, or a database in which the namespace is new"),
    file="none",
)
def _copy(_: None, arguments: argparse.Namespace, show: cli.Show) -> None:
    chosen = chosen_settings(arguments)
    with show.progress("copying") as progress:
        done = copying.copy(
            arguments.source,
            arguments.target,
            namespace=chosen.namespace or DEFAULT_NAMESPACE,
            progress=progress,
        )
    show.done(
        f"copied {counted(done.changed, 'row')}; the copy has {counted(done.facts)}, "
        f"{counted(done.episodes, 'episode')}, {counted(done.vectors, 'vector')} and "
        f"{counted(done.lines, 'line')} of the journal, whose head is {done.head}",
        done._asdict() | {"head": str(done.head)},
    )


@cli.command(
    "verify",
    "memstore verify\nmemstore verify --head 1204:9f86d081…",
    cli.option(
        "--head COUNT:HASH",
        "a head kept elsewhere, as status and backup print it; it shows whether what was written "
        "before it is still there",
    ),
)
def _verify(store: Store, arguments: argparse.Namespace, show: cli.Show) -> int | None:
    with show.progress("verifying") as progress:
        findings = store.ledger.verify(arguments.head, progress=progress)
    show.verified(findings, store.file.head())
    return cli.REFUSED if findings else None


@cli.command(
    "doctor",
    "memstore doctor --deep\nmemstore doctor --rebuild",
    cli.option("--deep", "also verify the hash of every journal line"),
    cli.option("--rebuild --fix", "rebuild the word index and embeddings that do not match"),
)
def _doctor(store: Store, arguments: argparse.Namespace, show: cli.Show) -> int | None:
    rebuilt: list[str] = []
    if arguments.rebuild:
        with show.progress("rebuilding") as progress:
            rebuilt = store.file.rebuild(progress=progress)
    with show.progress("examining") as progress:
        findings = store.file.doctor(deep=arguments.deep, progress=progress)
    status = store.of(EVERYBODY).status()
    show.findings(findings, rebuilt, status.locks)
    if any(finding.repairable for finding in findings):
        show.note("memstore doctor --rebuild repairs the findings marked as repairable")
    for file, mode in status.exposed.items():
        private = 700 if os.path.isdir(file) else 600
        show.note(
            f"other users of this machine can open {file} ({mode:04o}); "
            f"chmod {private} prevents that"
        )
    _tell_weakness(status, show)
    _tell_troubles(store, show)
    if rebuilt and status.pending:
        show.note("run memstore embed-pending to embed what is pending")
    return cli.REFUSED if findings else None
