"""The commands that export memories and import them, also from other programs."""

from __future__ import annotations

import os
import shutil
import stat
import sys
import tempfile
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final, TextIO

from memstore.domain.arguments import ALL_NAMESPACES, AUTO
from memstore.domain.records import Scope
from memstore.errors import TransferError
from memstore.faces import wording
from memstore.faces.cli import command as cli
from memstore.faces.cli.flags import ways_to_see
from memstore.faces.escaping import counted
from memstore.frozen import asdict
from memstore.lazy import lazy_import

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable, Iterator

    from memstore import importing, notes, transfer
    from memstore.database.engine import Progress
    from memstore.embedding.pending import EmbedReport
    from memstore.faces import options
    from memstore.faces.hosts import past_sessions
    from memstore.importing import ImportFromReport
    from memstore.store import store as stores
    from memstore.store.store import Store
    from memstore.transfer import ImportReport
else:
    stores = lazy_import("memstore.store.store")
    importing = lazy_import("memstore.importing")
    options = lazy_import("memstore.faces.options")
    past_sessions = lazy_import("memstore.faces.hosts.past_sessions")
    notes = lazy_import("memstore.notes")
    transfer = lazy_import("memstore.transfer")

STANDARD: Final = "-"
NO_OWNER: Final = "none"
FILES_NAMED: Final = 100
LINES_A_LOOK: Final = 1000
NAMED: Final = 5
"""Namespaces that are named."""
BEGINNING: Final = 2**16
"""Bytes from which a program's file is told from a stream that may never end."""
SOURCES: Final = (
    "engram", "memstore", "mem0", "server-memory", "chatgpt", "claude", "markdown",
    "mcp-memory-service", "claude-mem", "letta", "langgraph",
)  # fmt: skip
HOSTS: Final = ("claude-code", "codex", "gemini")
"""Hosts whose sessions are imported, by default those of this user."""
ATTACHED: Final = {"proposals": "proposal", "replies": "model reply", "decisions": "decision"}


@cli.command(
    "export",
    "memstore export memories.jsonl\nmemstore export --namespace work | gzip > work.gz",
    cli.option("FILE", "- for standard output (default)", nargs="?", default=STANDARD),
    cli.option(
        "--namespaces A,B",
        "export only these namespaces (default: all, or that of --namespace)",
        type=cli.names,
    ),
    cli.option(
        "--markdown FOLDER", "write a note for each subject there instead, for people to read"
    ),
    cli.AS_OF,
    usage="[FILE | - | --markdown FOLDER] [options]",
)
def _export(store: Store, arguments: argparse.Namespace, show: cli.Show) -> None:
    if arguments.markdown is not None:
        _export_notes(store, arguments, show)
        return
    if arguments.file == STANDARD:
        _write(_lines_of(store, arguments), sys.stdout)
        _tell_not_exported(store, arguments, show)
        return
    target = Path(arguments.file).expanduser()
    with show.progress("exporting") as progress, _whole_file(target) as file:
        held = _write(_lines_of(store, arguments, progress), file)
    also = f" and {counted(held['episodes'], 'episode')}" if held["episodes"] else ""
    show.done(
        f"exported {counted(held['facts'])}{also} to {target}",
        {"file": str(target.absolute()), **held},
    )
    _tell_not_exported(store, arguments, show)


def _export_notes(store: Store, arguments: argparse.Namespace, show: cli.Show) -> None:
    if arguments.file != STANDARD or arguments.namespaces or arguments.as_of is not None:
        raise cli.UsageError("--markdown FOLDER takes no FILE, --namespaces or --as-of")
    folder = Path(arguments.markdown).expanduser()
    done = notes.write_notes(store, folder)
    show.done(
        f"wrote {counted(len(done.written), 'note')} to {folder}, removed {len(done.removed)}, "
        f"left {done.unchanged} as they were",
        {"folder": str(folder.absolute()), **done.to_dict()},
    )
    for name in done.edited:
        show.note(f"{name} has edits that were not imported: kept (import --from markdown)")
    for name in done.foreign[:FILES_NAMED]:
        other = f"; the note is {done.elsewhere[name]}" if name in done.elsewhere else ""
        show.note(f"{name} was not written by memstore: not touched{other}")
    if (more := len(done.foreign) - FILES_NAMED) > 0:
        show.note(f"{counted(more, 'more file')} were not written by memstore: not touched")
    for name in done.keeping_erased[:FILES_NAMED]:
        show.note(f"{name} may keep the text of an erased fact: remove the file, or the line")
    if (more := len(done.keeping_erased) - FILES_NAMED) > 0:
        show.note(f"{counted(more, 'more file')} may keep the text of erased facts")
    _tell_not_exported(store, arguments, show)


def _import_notes(store: Store, arguments: argparse.Namespace, show: cli.Show) -> None:
    """Show what people changed in the notes, and carry it out unless it is a dry run."""
    plan = notes.plan_edits(store, Path(arguments.file).expanduser())
    edits = [asdict(edit) for edit in plan.edits]
    for edit in plan.edits:
        which = "" if edit.fact_id is None else f" #{edit.fact_id}"
        why = "" if edit.reason is None else f" ({edit.reason})"
        show.note(f"{edit.kind}{which}: {edit.text} [{edit.place}]{why}")
    if arguments.dry_run:
        edited = counted(len(plan.edits), "edit")
        show.done(f"{edited} planned; nothing was changed", {"edits": edits})
        return
    done = plan.apply(delete=arguments.delete)
    told = ", ".join(f"{kind} {number}" for kind, number in done.items() if number)
    show.done(told or "no edits", {"edits": edits, **done})
    if not arguments.delete and any(edit.kind == "delete" for edit in plan.edits):
        show.note("lines that were removed delete facts only with --delete")


def _tell_not_exported(store: Store, arguments: argparse.Namespace, show: cli.Show) -> None:
    if _exports_all(arguments):
        return
    cli.draw_elsewhere(store, arguments, show, "not exported: ")


def _exports_all(arguments: argparse.Namespace) -> bool:
    """Whether everything is exported, as it is unless a part was asked for."""
    if arguments.namespaces is not None:
        return bool(arguments.namespaces == ALL_NAMESPACES)
    parts = (arguments.place.is_named, arguments.as_of is not None, arguments.markdown is not None)
    return not any(parts)


def _lines_of(
    store: Store, arguments: argparse.Namespace, progress: Progress | None = None
) -> Iterator[str]:
    if arguments.as_of is not None and arguments.namespaces is not None:
        raise cli.UsageError("--as-of exports one namespace: leave out --namespaces")
    if _exports_all(arguments):
        return store.file.export(progress=progress)
    if arguments.namespaces is None:
        then = store if arguments.as_of is None else store.as_of(arguments.as_of)
        return then.transfer.export(progress=progress)
    return store.file.export(arguments.namespaces, progress=progress)


def _write(lines: Iterable[str], file: TextIO) -> dict[str, int]:
    """Write an export; return the number of facts and episodes in it."""
    held = {"facts": 0, "episodes": 0}
    for line in lines:
        file.write(line + "\n")
        held["facts"] += line.startswith('{"fact"')
        held["episodes"] += line.startswith('{"episode"')
    return held


@contextmanager
def _whole_file(target: Path) -> Iterator[TextIO]:
    """Open a file for writing that replaces the target only when it is complete.

    A pipe or a device is written to directly.
    """
    importing.refuse_named_pipe(target)
    target = Path(os.path.realpath(target))
    if target.exists() and not stat.S_ISREG(target.stat().st_mode):
        with open(target, "w", encoding="utf-8", newline="\n") as file:
            yield file
        return

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


@cli.command(
    "import",
    "memstore import memories.jsonl --db other.db\nmemstore import --from mem0 memories.json\n"
    "memstore import --from claude-code --dry-run",
    cli.option(
        "FILE",
        "a file written by export, or a file, folder or ZIP of a program; - for standard input",
        nargs="?",
    ),
    cli.option(
        "--from PROGRAM",
        f"the program that wrote the file, if not this one: {', '.join((*SOURCES, *HOSTS))}; of "
        "the last three, the recorded sessions, by default those of this user",
        dest="source",
    ),
    cli.option("--keep-namespaces", "keep each record in the namespace or group it came from"),
    cli.option("--skip-damaged", "with --from: skip and report records that cannot be read"),
    cli.option("--dry-run", "check everything and count, without importing it"),
    cli.option("--delete", "with --from markdown, of notes of memstore: delete what was removed"),
    cli.option("--all-branches", "with --from chatgpt or claude: also the answers not chosen"),
    cli.option(
        "--include KINDS",
        "with --from chatgpt or claude: also hidden, reasoning, tools (separated by commas)",
        type=cli.names,
        default=[],
    ),
    cli.option("--unverified", "take an export that was changed after it was written"),
    cli.option("--no-erasures", "erase nothing here that was erased where the export comes from"),
    cli.option(
        "--user ID",
        "with --from: the user that everything belongs to, none for no owner "
        "(default: the owners in the file)",
        dest="user_id",
    ),
    cli.option("--agent ID", "with --from: the agent, likewise", dest="agent_id"),
    cli.option("--run ID", "with --from: the run, likewise", dest="run_id"),
    cli.option("--no-embed", "embed later (embed-pending)"),
    cli.option("--give-up", "without a FILE: abandon interrupted imports"),
    usage="FILE | - | --give-up [options]",
    embedder="required",
    file="create",
)
def _import(store: Store, arguments: argparse.Namespace, show: cli.Show) -> None:
    if arguments.source in (*HOSTS, "gemini-cli"):
        _import_sessions(store, arguments, show)
        return
    if (arguments.file is None) != arguments.give_up:
        raise cli.UsageError("give a FILE, - for standard input, or --give-up alone")
    if arguments.give_up:
        given_up = store.file.give_up_imports(store.namespace)
        show.done(
            f"abandoned {counted(given_up, 'import')}; the records already imported stay",
            {"given_up": given_up},
        )
        return
    scope = _owners(arguments)
    if arguments.source is None:
        if scope is not None:
            raise cli.UsageError(
                "--user, --agent and --run need --from: a memstore export keeps its owners"
            )
        _import_export(store, arguments, show)
        return
    if arguments.source == "markdown" and notes.is_notes_folder(Path(arguments.file).expanduser()):
        _import_notes(store, arguments, show)
        return
    if arguments.delete:
        raise cli.UsageError("--delete is for a folder that export --markdown wrote")
    with show.progress("importing") as progress, _seekable(arguments.file) as path:
        _check_source(arguments.source, path)
        done = store.file.import_from(
            arguments.source,
            path,
            namespace=_home(store, arguments),
            owners=scope,
            skip_damaged=arguments.skip_damaged,
            include=_included(arguments),
            dry_run=arguments.dry_run,
            progress=progress,
        )
    if done.dry_run:
        new = [counted(done.facts)] if done.facts or not done.episodes else []
        new += [counted(done.episodes, "episode")] if done.episodes else []
        show.done(f"{' and '.join(new)} can be imported; nothing was changed", done.to_dict())
        _tell_left_out(done, show)
        return
    report = _embed(store, arguments, show)
    new = [counted(done.facts)] if done.facts or not done.episodes else []
    new += [counted(done.episodes, "episode")] if done.episodes else []
    embedded = asdict(report) if report is not None else {}
    show.done(
        f"imported {' and '.join(new)}{_known(done.known)}{_ended(done)}",
        {**done.to_dict(), **embedded},
    )
    _tell_left_out(done, show)
    if len(done.namespaces) > 1 and not arguments.keep_namespaces:
        show.note(
            f"{len(done.namespaces)} namespaces were merged into {store.namespace}; use "
            "--keep-namespaces to keep them apart"
        )
    _tell_owners(store, done, scope, show)
    _tell_waiting(report, show)


def _import_sessions(store: Store, arguments: argparse.Namespace, show: cli.Show) -> None:
    """Import the sessions of a host, each into the namespace of its project."""
    if arguments.give_up or arguments.delete or _included(arguments) or arguments.unverified:
        raise cli.UsageError(
            "--give-up, --delete, --include, --all-branches and --unverified are not for sessions"
        )
    chosen = options.chosen_settings(arguments)
    named = None if chosen.namespace in (None, AUTO) else chosen.namespace
    root = None if arguments.file is None else Path(arguments.file).expanduser().absolute()
    own = store.of(_owners(arguments) or Scope(**chosen.owners))
    with show.progress("importing") as progress:
        done = past_sessions.bring_in(
            own, arguments.source, root,
            namespace=named, dry_run=arguments.dry_run, progress=progress,
        )  # fmt: skip
    told = (
        f"{counted(done.sessions, 'session')} with {counted(done.episodes, 'turn')} and "
        f"{counted(done.facts)} of the host's own memory"
    )
    if done.dry_run:
        show.done(f"{told} can be imported; nothing was changed", done.to_dict())
    else:
        new = f"{counted(done.episodes, 'turn')} of {counted(done.sessions, 'session')}"
        facts = f"{counted(done.facts)} of the host's own memory"
        report = None
        if not arguments.no_embed and store.status().embedder is not None:
            with show.progress("embedding") as progress:
                report = store.file.embed_pending(progress=progress)
        known = _known(done.known + done.facts_known)
        show.done(f"imported {new} and {facts}{known}", done.to_dict())
        _tell_waiting(report, show)
    if done.namespaces:
        most = sorted(done.namespaces.items(), key=lambda one: -one[1])[:NAMED]
        listed = ", ".join(f"{name} {number}" for name, number in most)
        more = ", …" if len(done.namespaces) > NAMED else ""
        show.note(f"{counted(len(done.namespaces), 'namespace')}: {listed}{more}")
    for kind, number in sorted(done.left_out.items()):
        show.note(f"not imported: {kind}: {number:,}")


def _included(arguments: argparse.Namespace) -> list[str]:
    kinds = arguments.include if isinstance(arguments.include, list) else [arguments.include]
    return [*kinds, *(["branches"] if arguments.all_branches else [])]


def _check_source(source: str, path: Path) -> None:
    """Refuse an unknown program, naming the one that seems to have written the file."""
    if source not in SOURCES:
        known = ", ".join((*SOURCES, *HOSTS))
        raise cli.UsageError(f"--from must be one of {known}, not {source!r}{_looks_like(path)}")


def _looks_like(path: Path) -> str:
    # A pipe cannot be read twice: opening it again might wait for ever.
    likely = importing.likely_source(path) if path.is_file() else None
    return "" if likely is None else f"; the file looks like one of {likely}: --from {likely}"


def _owners(arguments: argparse.Namespace) -> Scope | None:
    """Return the owners for everything imported; ``None`` keeps those in the file."""
    named = {name: owner for name, owner in cli.owners_of(arguments).items() if owner is not None}
    if not named:
        return None
    return Scope(**{name: None if owner == NO_OWNER else owner for name, owner in named.items()})


def _tell_owners(store: Store, done: ImportFromReport, scope: Scope | None, show: cli.Show) -> None:
    if scope is not None and done.known:
        show.note("what was already known keeps its owners")
    if scope is None and done.facts and (others := stores.others_of(store)).facts:
        show.note(
            f"{counted(others.facts)} with an owner, found only by commands that name it: "
            f"{ways_to_see(others.first)}; import --user none imports without owners"
        )


def _tell_left_out(done: ImportFromReport, show: cli.Show) -> None:
    for kind, left in sorted(done.left_out.items()):
        more = ", …" if left.count > len(left.first) else ""
        named = "" if kind == "embeddings" else f" ({', '.join(left.first)}{more})"
        show.note(f"not imported: {kind}: {left.count}{named}")


def _import_export(store: Store, arguments: argparse.Namespace, show: cli.Show) -> None:
    if arguments.skip_damaged:
        raise cli.UsageError("--skip-damaged needs --from: a damaged memstore export is refused")
    if arguments.delete or _included(arguments):
        raise cli.UsageError("--delete, --include and --all-branches need --from")
    try:
        with show.progress("importing") as progress, _lines(arguments.file, progress) as lines:
            done = store.file.import_(
                lines,
                namespace=_home(store, arguments),
                keep_several=not arguments.place.is_named,
                unverified=arguments.unverified,
                erasures=not arguments.no_erasures,
                dry_run=arguments.dry_run,
                progress=progress,
            )
    except TransferError as error:
        likely = _looks_like(Path(arguments.file).expanduser())
        if not likely:
            raise
        raise TransferError(f"{error.text}{likely}", place=error.place) from error
    told = f"{counted(done.imported)}{_known(done.known)}{_ended(done)}{_besides(done)}"
    if done.dry_run:
        show.done(f"would import {told}; nothing was changed", asdict(done))
        _tell_left(done, show)
        return
    report = _embed(store, arguments, show)
    embedded = asdict(report) if report is not None else {}
    show.done(f"imported {told}", {**asdict(done), **embedded})
    _tell_left(done, show)
    if not done.is_gone:
        show.note(
            "the erased text can no longer be read, but its bytes stay in the file while another "
            "process uses it; the same import again removes them"
        )
    _tell_waiting(report, show)


LEFT: Final = {
    "erased_here": "erased here, so the text there was not taken",
    "erasure": "erased there, and kept here as you asked",
    "another_record": "erased there, but created at another time here, so kept",
    "restored_here": "deleted there, but restored here later",
    "deleted_here": "restored there, but deleted here later",
    "superseded_here": "superseded here, but not by the same fact there",
    "supersession": "superseded there, but not here, where that was taken back or is reversed",
    "metadata": "the metadata was changed there, but here later",
    "pin": "pinned or unpinned there, but here later",
    "expiry": "the expiry was changed there, but here later",
    "confirmations": "confirmed there",
    "external_key": "the external key was changed there",
    "other": "changed there",
}
"""The sentence for each :class:`memstore.transfer.merging.Left`."""


def _tell_left(done: ImportReport, show: cli.Show) -> None:
    """Say where everything went, and what happened to known records there and was left."""
    if len(done.namespaces) > 1:
        show.note(f"each in its own namespace: {', '.join(done.namespaces)}")
    if done.levels:
        show.note(f"took over {counted(done.levels, 'level')} of trust, which memstore trust shows")
    if done.levels_left:
        named = ", ".join(done.levels_left[:3]) + ", …" * (len(done.levels_left) > 3)
        show.note(
            f"levels of trust that stay as they are here, because this memory is not empty: {named}"
        )
    for left, noun in ((done.left, "fact"), (done.episodes_left, "episode")):
        for what, number in left.items():
            show.note(f"not taken over, {counted(number, noun)}: {LEFT[what]}")
    if done.proposals_left:
        show.note(
            f"not taken over, {counted(done.proposals_left, 'proposal')}: decided otherwise there, "
            "or about a fact that was erased here"
        )


def _known(number: int) -> str:
    return f", {number} already known" if number else ""


def _ended(done: ImportReport | ImportFromReport) -> str:
    erased = getattr(done, "erased", 0)
    told = {"superseded": done.retired, "deleted": done.removed - erased, "erased": erased}
    told |= {how: getattr(done, how, 0) for how in ("restored", "changed")}
    return "".join(f", {number} of them now {how}" for how, number in told.items() if number)


def _besides(done: ImportReport) -> str:
    told = []
    if done.episodes or done.episodes_known:
        known = f" ({done.episodes_known} already known)" if done.episodes_known else ""
        told.append(counted(done.episodes, "episode") + known)
    if done.episodes_removed:
        told.append(f"{counted(done.episodes_removed, 'episode')} now erased")
    for name, noun in ATTACHED.items():
        if number := getattr(done, name):
            told.append(counted(number, noun) if noun != "model reply" else f"{number} {name}")
    return "; also " + ", ".join(told) if told else ""


@contextmanager
def _lines(name: str, progress: Progress | None) -> Iterator[Iterable[str]]:
    """Yield the lines of a file, reporting progress in bytes while they are checked."""
    try:
        if name == STANDARD:
            yield sys.stdin
        else:
            importing.refuse_named_pipe(Path(name).expanduser())
            with open(Path(name).expanduser(), encoding="utf-8") as file:
                size = os.fstat(file.fileno()).st_size
                yield file if progress is None or not size else _counted(file, size, progress)
    except UnicodeDecodeError:
        raise TransferError(f"{name} is not UTF-8 text; nothing was imported") from None


def _counted(file: TextIO, size: int, progress: Progress) -> Iterator[str]:
    read = 0
    for number, line in enumerate(transfer.lines_of(file)):
        read += len(line.encode())
        if number % LINES_A_LOOK == 0:
            progress(read, size)
        yield line


@contextmanager
def _seekable(name: str) -> Iterator[Path]:
    """Yield a file that can be read twice: a copy of standard input, of a pipe or a device."""
    path = Path(name).expanduser()
    if name != STANDARD and (path.is_file() or path.is_dir() or not path.exists()):
        yield path
        return
    importing.refuse_named_pipe(path)
    with ExitStack() as held:
        source = sys.stdin.buffer if name == STANDARD else held.enter_context(path.open("rb"))
        beginning = source.read(BEGINNING)
        if not importing.may_be_imported(beginning):
            what = "standard input" if name == STANDARD else name
            raise TransferError(f"{what} is neither JSON nor a database; nothing was imported")
        copy = Path(held.enter_context(tempfile.TemporaryDirectory(prefix="memstore-")), "input")
        with copy.open("wb") as file:
            file.write(beginning)
            shutil.copyfileobj(source, file)
        yield copy


def _embed(store: Store, arguments: argparse.Namespace, show: cli.Show) -> EmbedReport | None:
    """Embed what is pending; return ``None`` if that is not wanted or there is no embedder."""
    if arguments.no_embed or store.status().embedder is None:
        return None
    with show.progress("embedding") as progress:
        return store.file.embed_pending(_home(store, arguments), progress=progress)


def _home(store: Store, arguments: argparse.Namespace) -> str | None:
    """Return the namespace to import into; ``None`` if each record keeps its own."""
    return None if arguments.keep_namespaces else store.namespace


def _tell_waiting(report: EmbedReport | None, show: cli.Show) -> None:
    if report is not None and report.error:
        show.note(
            f"{counted(report.left)} still without an embedding: "
            f"{wording.on_command_line(report.error)}"
        )
