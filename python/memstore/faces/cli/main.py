"""The command line, ``memstore``: parse, make one call, render. Errors become exit codes here."""

from __future__ import annotations

import argparse
import os
import sys
from contextlib import contextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING, Final

from memstore import __version__, errors, settings
from memstore.faces import options
from memstore.faces.cli import usage
from memstore.lazy import lazy_import
from memstore.named import NamedTuple
from memstore.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from memstore.domain import zones
    from memstore.faces import from_settings, wording
    from memstore.faces.cli import command, demo, ids, render, render_terminal
    from memstore.faces.cli import command as commands
    from memstore.faces.cli.command import Command, Show
    from memstore.faces.hosts import served
    from memstore.store.store import Store
    from memstore.text import addresses, escaping, secrets
else:
    zones = lazy_import("memstore.domain.zones")
    commands = lazy_import("memstore.faces.cli.command")
    served = lazy_import("memstore.faces.hosts.served")
    addresses = lazy_import("memstore.text.addresses")
    demo = lazy_import("memstore.faces.cli.demo")
    escaping = lazy_import("memstore.text.escaping")
    ids = lazy_import("memstore.faces.cli.ids")
    from_settings = lazy_import("memstore.faces.from_settings")
    render = lazy_import("memstore.faces.cli.render")
    render_terminal = lazy_import("memstore.faces.cli.render_terminal")
    secrets = lazy_import("memstore.text.secrets")
    wording = lazy_import("memstore.faces.wording")
    command = lazy_import("memstore.faces.cli.command")


class Entry(NamedTuple):
    """A command whose module is not imported yet."""

    module: str
    """Its name in this package."""
    summary: str


GROUPS: Final = {
    "store and correct": {
        "add": Entry("facts", "Store a fact: one claim about one subject."),
        "supersede": Entry("facts", "Mark a fact as superseded by a newer one already stored."),
        "confirm": Entry("facts", "Record that a fact was confirmed once more."),
        "pin": Entry("facts", "Let every session of the project begin with a fact."),
        "unpin": Entry("facts", "Remove the pin of a fact."),
        "update": Entry("facts", "Change a fact's metadata; its text never changes."),
        "expire": Entry("facts", "End a fact now or at a time; it is kept and can be seen."),
        "delete": Entry("facts", "Delete a fact; restore brings it back."),
        "restore": Entry("facts", "Bring a fact back; it replaces any newer version."),
        "revert": Entry("undo", "Take back what an episode, a source, a run or an hour did."),
        "erase": Entry("erasing", "Permanently remove facts and episodes from the file."),
    },
    "find": {
        "search": Entry("search", "Find facts by words and by meaning, best first."),
        "recall": Entry("search", "Print what answers a question, within a token budget."),
        "briefing": Entry("search", "Show what a session of the project begins with."),
        "list": Entry("search", "List facts, oldest first."),
        "get": Entry("search", "Show one fact with all its fields."),
        "history": Entry("search", "Show the versions of a fact, oldest first."),
        "log": Entry("log", "Show what was done to the memory, newest first."),
        "diff": Entry("log", "Show what changed between two moments."),
        "searches": Entry("searches", "Show what agents and prompts asked, and were given."),
        "support": Entry("ledger", "Show why a fact is believed: who said it, and where."),
        "explain": Entry("ledger", "Explain a fact: what speaks for it, what changed it, why."),
    },
    "learn from text": {
        "extract": Entry("learn", "Extract facts from a text with a language model."),
        "remember": Entry("learn", "Learn from a conversation: add, update, delete memories."),
        "distil": Entry("distil", "Show conversations no model has read, for an agent."),
        "learn": Entry("distil", "Let a language model read the conversations none has read."),
        "forget": Entry("learn", "Delete one memory, or all of a user, agent or run."),
        "inbox": Entry("inbox", "Answer which of two facts is true, one key each."),
        "proposals list": Entry("learn", "List the proposals waiting for a decision."),
        "proposals accept": Entry("learn", "Accept a proposal: the new fact supersedes the old."),
        "proposals reject": Entry("learn", "Reject a proposal: the facts stay as they are."),
        "proposals reopen": Entry("learn", "Open a rejected proposal again."),
        "reinstate": Entry("learn", "Undo a supersession: both facts hold."),
        "rebuild": Entry("learn", "Rebuild derived data: indexes, and facts from episodes."),
        "consolidate": Entry("learn", "Propose one fact to replace several that overlap."),
    },
    "entities and relations in the facts": {
        "graph build": Entry("graph", "Build the graph of entities and relations."),
        "graph status": Entry("graph", "Show when the graph was built and what changed since."),
        "graph entities": Entry("graph", "List entities, most mentioned first."),
        "graph neighbours": Entry("graph", "Show an entity's relations and the facts behind them."),
        "graph likely": Entry("graph", "List names that may mean the same entity."),
        "graph merge": Entry("graph", "Record that two names mean the same entity."),
        "graph apart": Entry("graph", "Record that two names mean different entities."),
        "graph forget": Entry("graph", "Undo merge or apart for two names."),
        "graph decisions": Entry("graph", "List the merge and apart decisions."),
        "graph drop": Entry("graph", "Remove the graph; merge and apart decisions stay."),
    },
    "the log of episodes": {
        "episode add": Entry("episodes", "Record what was said or done, verbatim, at any length."),
        "episode search": Entry("episodes", "Find episodes by words and by meaning, best first."),
        "episode list": Entry("episodes", "List episodes, oldest first."),
        "episode get": Entry("episodes", "Show one episode in full, with all its fields."),
        "episode update": Entry("episodes", "Change an episode's tags, expiry or metadata."),
        "episode erase": Entry("episodes", "Permanently remove an episode's text from the file."),
    },
    "tasks": {
        "task add": Entry("tasks", "Add a task."),
        "task update": Entry("tasks", "Change a task's status."),
        "task list": Entry("tasks", "List open tasks, most urgent first."),
    },
    "maintain the file": {
        "trust": Entry("ledger", "Show how much sources count, or set it for one."),
        "distrust": Entry("ledger", "Hide what rests on a source alone, until it is trusted."),
        "status": Entry("file", "Show what the store holds, where it is and its settings."),
        "export": Entry("transfer", "Export everything but the embeddings as JSON Lines."),
        "import": Entry("transfer", "Import an export, or another program's memories."),
        "backup": Entry("file", "Back up the file while in use, once or on a schedule."),
        "sync": Entry("sync", "Keep the memories of several machines equal."),
        "copy": Entry("file", "Copy a whole memory to a server, or back to a file."),
        "recover": Entry("file", "Restore a backup; the current file is kept beside it."),
        "embed-pending": Entry(
            "embedding", "Embed what was stored while no embedder was available."
        ),
        "reembed": Entry("embedding", "Move the file to another embedding model."),
        "fetch-model": Entry("models", "Fetch a model for --embedder fastembed, or list them."),
        "verify": Entry("file", "Check that nobody rewrote the journal, or a row past it."),
        "doctor": Entry("file", "Check the file: indexes, embeddings, journal and links."),
    },
    "keep memories on a PostgreSQL server": {
        "postgres init": Entry(
            "postgres", "Create the tables in a database, and roles on request."
        ),
        "postgres check": Entry(
            "postgres", "Check what a database needs, and say what is missing."
        ),
        "postgres roles": Entry("postgres", "Print the SQL that makes the roles and their rights."),
        "postgres distribute": Entry("postgres", "Divide the tables over a Citus cluster."),
    },
    "connect a host (Claude Code, Codex, Gemini CLI, Cursor, …)": {
        "setup": Entry("hosts", "Register the server and hooks with the installed hosts."),
        "hook": Entry("hosts", "Handle a host's event; setup registers this."),
        "spool": Entry("hosts", "Show what waits to be sent to a server, or send it."),
        "where": Entry("hosts", "Show or set the namespace of a project."),
    },
    "see it in the browser": {
        "web": Entry("web", "See what the agent knows, and why, and put it right."),
    },
    "serve over HTTP (memstore-mcp --http)": {
        "token create": Entry("tokens", "Create an access token for the HTTP server."),
        "token list": Entry("tokens", "List the tokens of every namespace."),
        "token revoke": Entry("tokens", "Revoke a token immediately."),
    },
    "try it": {
        "completion": Entry("completion", "Print the completion script for bash, zsh or fish."),
        "demo": Entry("demo", "See memstore at work in a temporary file."),
    },
}

COMMANDS: Final = {name: entry for group in GROUPS.values() for name, entry in group.items()}


def load(name: str) -> Command:
    """Import a command's module and return the command."""
    module = f"{__package__}.{COMMANDS[name].module}"
    __import__(module)
    defined = vars(sys.modules[module]).values()
    return next(one for one in defined if isinstance(one, command.Command) and one.name == name)


WIDEST_NAME: Final = max(map(len, COMMANDS))

INTERRUPTED: Final = 130
WHICH_WHEN: Final = (
    "which when:",
    "  add              You know the fact and its subject.",
    "  remember         A language model should learn facts from a conversation.",
    "  episode add      You want to keep the exact words.",
    "  search           You want facts; episode search: what was said.",
    "  recall           A prompt needs what is known, within a token budget.",
)

NOBODY_READS: Final = 141
"""What a shell reports for a program ended by SIGPIPE."""


def main(argv: Sequence[str] | None = None) -> int:
    arguments = list(sys.argv[1:] if argv is None else argv)
    _have_streams()
    _speak_utf8()
    try:
        return _answered(arguments)
    finally:
        if any(word.startswith("--timezone") for word in arguments):
            zones.prefer(None)  # a later command of the same process may name none


def _answered(arguments: Sequence[str]) -> int:
    try:
        code = _run(arguments)
        sys.stdout.flush()
        return code
    except SystemExit as ended:  # argparse ends so after --help and --version
        return int(ended.code or 0)
    except BrokenPipeError:
        _stop_writing()
        return NOBODY_READS
    except KeyboardInterrupt:
        return INTERRUPTED
    except (errors.Explained, OSError, ValueError, OverflowError) as error:
        _complain(_in_words(error), type(error).__name__, exit_code(error), arguments)
        return exit_code(error)


def exit_code(error: Exception) -> int:
    match error:
        case errors.StorageError():
            return usage.STORAGE_TROUBLE
        case errors.EmbedderError() | errors.GeneratorError():
            return usage.EMBEDDER_TROUBLE
        case errors.LearningError(__cause__=errors.MemstoreError() as cause):
            return exit_code(cause)
        case errors.MemstoreError() | usage.Unconfirmed():
            return usage.REFUSED
        case OSError():
            return usage.STORAGE_TROUBLE
        case _:
            return usage.WRONG_USAGE


def parser(words: Sequence[str] | None = None) -> argparse.ArgumentParser:
    """Return the parser of the command line, or only of the commands that these words name.

    Building all parsers takes longer than running most commands.
    """
    top = usage.Parser(
        prog="memstore",
        usage="memstore COMMAND …",
        description=_description(),
        epilog=f"{usage.EXIT_CODES}\n\n{options.ENVIRONMENT_HELP}\n"
        "  NO_COLOR          turns colours off;  FORCE_COLOR: on, also in pipes",
    )
    top.add_argument("--version", action="version", version=f"memstore {__version__}")
    _add_common(top)
    top.set_defaults(json=False, whole=parser)
    commands = top.add_subparsers(
        metavar="COMMAND", help=argparse.SUPPRESS, parser_class=usage.Parser, prog="memstore"
    )
    top.commands = [name.partition(" ")[0] for name in COMMANDS]
    families: dict[str, argparse._SubParsersAction[usage.Parser]] = {}
    for name, entry in COMMANDS.items():
        if words is not None and name.partition(" ")[0] not in words:
            continue
        family, _, rest = name.rpartition(" ")
        if family and family not in families:
            parent = commands.add_parser(
                family,
                usage=f"memstore {family} COMMAND …",
                description=_family(family),
                help=f"commands for {family}",
            )
            parent.set_defaults(family=parent)
            families[family] = parent.add_subparsers(
                metavar="COMMAND",
                help=argparse.SUPPRESS,
                parser_class=usage.Parser,
                prog=f"memstore {family}",
            )
        to = families[family] if family else commands
        _add_command(to.add_parser(rest, description=entry.summary, help=entry.summary), load(name))
    return top


def _add_command(added: usage.Parser, command: Command) -> None:
    example = "\n".join(f"  {line}" for line in command.example.splitlines())
    added.epilog = f"example:\n{example}"
    for option in command.options:
        option(added)
    positional = [str(action.metavar) for action in added._get_positional_actions()]
    what_follows = command.usage or " ".join([*positional, "[options]"])
    added.usage = f"memstore {command.name} {what_follows}"
    if command.file != "temporary":
        _add_common(added)
    added.set_defaults(command=command)


def _add_common(to: argparse.ArgumentParser) -> None:
    group = to.add_argument_group("options of every command")
    options.add_store_flags(group)
    group.add_argument(
        "--json",
        action="store_true",
        default=argparse.SUPPRESS,
        help="print one JSON document (except demo; export and log print JSON Lines); "
        "errors and notes are JSON lines on standard error",
    )


def _description() -> str:
    lines = ["Durable memory for AI agents: facts in one file, found by words and by meaning,"]
    lines.append("superseded and never silently overwritten.")
    for title, group in GROUPS.items():
        lines += ["", f"{title}:", *_listed(group)]
    lines += ["", *WHICH_WHEN]
    lines += ["", "Run memstore COMMAND --help for details. Start with: memstore demo"]
    return "\n".join(lines)


def _family(name: str) -> str:
    members = {one: entry for one, entry in COMMANDS.items() if one.startswith(f"{name} ")}
    title = next(title for title, group in GROUPS.items() if members.keys() <= group.keys())
    return "\n".join([f"{title[0].upper()}{title[1:]}:", "", *_listed(members)])


def _listed(commands: Mapping[str, Entry]) -> Iterator[str]:
    return (f"  {name:<{WIDEST_NAME}} {entry.summary}" for name, entry in commands.items())


def _expanded(argv: list[str]) -> list[str]:
    """Return what ``help COMMAND`` and ``version`` stand for."""
    match argv:
        case ["help", *command]:
            return [*command, "--help"]
        case ["version"]:
            return ["--version"]
    return argv


def _run(argv: Sequence[str]) -> int:
    argv = _expanded([*argv])
    top = parser(argv)
    arguments = top.parse_args(argv)
    command: Command | None = getattr(arguments, "command", None)
    if command is None:
        getattr(arguments, "family", top).print_help()
        return 0
    if command.file == "temporary":
        _refuse_common(command, arguments)
    show = _show(arguments.json)
    if command.file == "none":
        return command.run(None, arguments, show) or 0
    with _opened(command, arguments) as (store, trouble):
        for note in (store.file.upgraded, trouble):
            if note is not None:
                show.note(note)
        ids.resolve(store, arguments)
        with secrets.noted() as redacted:
            status = command.run(store, arguments, show) or 0
        if command.shows_part and not (arguments.place.is_named or arguments.place.is_served):
            commands.draw_elsewhere(store, arguments, show)
        if redacted:
            show.note(f"redacted text that looks like a secret: {', '.join(sorted(redacted))}")
        return status


def _refuse_common(command: Command, arguments: argparse.Namespace) -> None:
    """Refuse common options, given before the command's name, that it would ignore."""
    common = ["json"] * arguments.json + [*Settings._fields]
    if given := [name for name in common if getattr(arguments, name, None) is not None]:
        flag = f"--{given[0].replace('_', '-')}"
        raise usage.UsageError(
            f"{command.name} uses a temporary file and has no JSON output: leave {flag} out"
        )


def _show(as_json: bool) -> Show:
    if as_json:
        return render.JsonShow()
    if sys.stdout.isatty() or settings.forces_color():
        return render_terminal.TerminalShow()
    return render.PlainShow()


@contextmanager
def _opened(command: Command, arguments: argparse.Namespace) -> Iterator[tuple[Store, str | None]]:
    """Open the command's file; yield with it the reason if its embedder could not be used."""
    if command.file == "temporary":
        arguments.place = served.ServedMemory(Settings(), is_named=True)
        with (
            demo.temporary_file() as file,
            from_settings.open_store(Settings(db=file), source="demo") as store,
        ):
            yield store, None
        return
    arguments.place = served.memory_here(options.chosen_settings(arguments))
    chosen = arguments.place.chosen
    looks = command.name == "sync" and (arguments.background or arguments.status)
    if command.file == "create" and (looks or getattr(arguments, "dry_run", False)):
        chosen = from_settings.rehearsing(chosen)
    wordless = chosen._replace(embedder="none", model=None)
    open_store = partial(from_settings.open_store, source="cli", create=command.file != "existing")
    trouble = None
    try:
        store = open_store(wordless if command.embedder == "unused" else chosen)
    except errors.EmbedderMismatch as error:
        if command.embedder != "optional":
            raise
        trouble = _in_words(error)
        store = open_store(wordless)
    if command.embedder == "optional" and store.file.embedder_trouble is not None:
        trouble = wording.on_command_line(store.file.embedder_trouble)
    with store:
        yield store, trouble


def _in_words(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        named = addresses.masked(str(error.filename)) if error.filename else ""
        return f"{named}: {error.strerror}" if named else error.strerror
    return wording.on_command_line(error)


def _complain(text: str, kind: str, code: int, argv: Sequence[str]) -> None:
    if "--json" in argv:
        print(render.to_json({"error": text, "kind": kind, "exit_code": code}), file=sys.stderr)
    else:
        print(f"memstore: {escaping.visible(text)}", file=sys.stderr)


def _have_streams() -> None:
    """Open the null device for streams that the caller closed, which Python sets to ``None``."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115


def _speak_utf8() -> None:
    """Use UTF-8 for pipes, and never fail on a character that the terminal cannot show."""
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is None:
            continue
        if stream is sys.stdin:
            if not stream.isatty():
                reconfigure(encoding="utf-8")
        elif stream.isatty():
            reconfigure(errors="replace")
        else:
            reconfigure(encoding="utf-8", errors="backslashreplace")


def _stop_writing() -> None:
    """Redirect output to the null device, so that the final flush does not fail again."""
    with open(os.devnull, "w") as nowhere:
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError, ValueError):  # a stream without a file has nothing to flush
                os.dup2(nowhere.fileno(), stream.fileno())


if __name__ == "__main__":
    sys.exit(main())
