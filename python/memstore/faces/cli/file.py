"""The commands that maintain the file: its status, copies of it, and its health."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from memstore.domain.records import EVERYBODY
from memstore.faces import wording
from memstore.faces.cli import command as cli
from memstore.faces.options import KEPT_BACKUPS, chosen_settings, duration
from memstore.lazy import lazy_import

if TYPE_CHECKING:
    import argparse
    from pathlib import Path

    from memstore.errors import Reason
    from memstore.store import recovery
    from memstore.store.store import Store
else:
    recovery = lazy_import("memstore.store.recovery")


@cli.command(
    "status",
    "memstore status\nmemstore status --scope all",
    *cli.WHOSE,
    embedder="optional",
)
def _status(store: Store, arguments: argparse.Namespace, show: cli.Show) -> None:
    show.status(store.status(scope=cli.whose(arguments)))


@cli.command(
    "backup",
    "memstore backup memories-2026-03-01.db\nmemstore backup --every 1h --keep 24",
    cli.option(
        "FILE",
        "a new file; with --every the folder of the backups (default: the file's name with "
        ".backups)",
        nargs="?",
    ),
    cli.option(
        "--every TIME",
        "go on until Ctrl-C: make a backup whenever the newest is so old, e.g. 30m, 1h or 7d",
    ),
    cli.option(
        "--keep N",
        f"how many backups are kept with --every (default: {KEPT_BACKUPS}); only files that it "
        "has named are removed",
        type=cli.count,
    ),
)
def _backup(store: Store, arguments: argparse.Namespace, show: cli.Show) -> None:
    if arguments.every is not None:
        _keep_backups(store, arguments, show)
        return
    if arguments.file is None or arguments.keep is not None:
        raise cli.UsageError("name the new file; --keep goes with --every")
    with show.progress("copying") as progress:
        file = store.backup(arguments.file, progress=progress)
    _tell_backup(file, show)


def _tell_backup(file: Path, show: cli.Show) -> None:
    size = file.stat().st_size
    show.done(f"copied {size / 1024:,.0f} KiB to {file}", {"file": str(file), "size_bytes": size})


def _keep_backups(store: Store, arguments: argparse.Namespace, show: cli.Show) -> None:
    def tell(done: Path | Reason) -> None:
        if isinstance(done, str):
            show.note(f"no backup was made: {wording.on_command_line(done)}")
        else:
            _tell_backup(done, show)

    try:
        every_seconds = duration(arguments.every)
    except ValueError as error:
        raise cli.UsageError(f"--every is {error}") from None
    try:
        store.keep_backups(every_seconds, arguments.keep or KEPT_BACKUPS, arguments.file, tell=tell)
    except KeyboardInterrupt:  # the way it is meant to end
        show.note("stopped")


@cli.command(
    "recover",
    "memstore recover memories-2026-03-01.db",
    cli.option("BACKUP", "what memstore backup wrote; it is left as it is"),
    file="closed",
)
def _recover(_: None, arguments: argparse.Namespace, show: cli.Show) -> None:
    with show.progress("copying") as progress:
        done = recovery.recover(arguments.backup, chosen_settings(arguments).db, progress=progress)
    show.done(f"{done.path} holds what {arguments.backup} holds", asdict(done))
    if done.kept is not None:
        show.note(f"what was there is kept: {done.kept}")


@cli.command(
    "doctor",
    "memstore doctor --deep\nmemstore doctor --rebuild",
    cli.option("--deep", "compare every line of the journal with its checksum, too"),
    cli.option(
        "--rebuild", "rebuild what is derived: the word index, and embeddings that do not fit"
    ),
)
def _doctor(store: Store, arguments: argparse.Namespace, show: cli.Show) -> int | None:
    rebuilt: list[str] = []
    if arguments.rebuild:
        with show.progress("rebuilding") as progress:
            rebuilt = store.rebuild(progress=progress)
    with show.progress("examining") as progress:
        findings = store.examine(deep=arguments.deep, progress=progress)
    show.findings(findings, rebuilt)
    if any(finding.repairable for finding in findings):
        show.note("memstore doctor --rebuild mends what is marked as repairable")
    status = store.status(scope=EVERYBODY)
    for file, mode in status.exposed.items():
        show.note(
            f"{file} is open to other users of this machine ({mode:04o}): chmod 600 closes it"
        )
    if rebuilt and status.pending:
        show.note("memstore embed-pending embeds what is pending now")
    return cli.REFUSED if findings else None


COMMANDS = (_status, _backup, _recover, _doctor)
