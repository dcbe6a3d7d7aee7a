"""``memstore hook EVENT``: run by a host at its events, so that an agent remembers automatically.

At the start of a session it prints the store's briefing, at a prompt what the memory has to say
about it; before a compaction and at the end it starts a process that stores the conversation. That
comes before anything else, with a note for the next hook in case that this one is killed
(:mod:`memstore.faces.hosts.unkept`). A hook must never disturb its host: it exits with 0 within a
few seconds, and writes only the host's JSON to standard output.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import zlib
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

from memstore import settings
from memstore.domain.arguments import AUTO
from memstore.errors import InvalidArgument
from memstore.faces import from_settings, options
from memstore.faces.hosts import tags
from memstore.file.paths import check_place, file_at, is_server
from memstore.lazy import lazy_import
from memstore.settings import Settings
from memstore.text.escaping import HIDDEN, spelt

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from memstore import plain_http
    from memstore.domain import clock, turns
    from memstore.faces import background, background_sync, caller_project
    from memstore.faces.hosts import (
        keeping,
        prompted,
        recalling,
        remote,
        servers,
        sessions,
        spool,
        transcripts,
        troubles,
        unkept,
    )
    from memstore.faces.hosts.sessions import HostSession
    from memstore.store.store import Store
else:
    clock = lazy_import("memstore.domain.clock")
    turns = lazy_import("memstore.domain.turns")
    background = lazy_import("memstore.faces.background")
    background_sync = lazy_import("memstore.faces.background_sync")
    caller_project = lazy_import("memstore.faces.caller_project")
    plain_http = lazy_import("memstore.plain_http")
    sessions = lazy_import("memstore.faces.hosts.sessions")
    keeping = lazy_import("memstore.faces.hosts.keeping")
    prompted = lazy_import("memstore.faces.hosts.prompted")
    recalling = lazy_import("memstore.faces.hosts.recalling")
    remote = lazy_import("memstore.faces.hosts.remote")
    servers = lazy_import("memstore.faces.hosts.servers")
    spool = lazy_import("memstore.faces.hosts.spool")
    transcripts = lazy_import("memstore.faces.hosts.transcripts")
    troubles = lazy_import("memstore.faces.hosts.troubles")
    unkept = lazy_import("memstore.faces.hosts.unkept")

TROUBLE: Final = "memstore hook: "
"""What the line on standard error begins with."""

PATIENCE_SECONDS: Final = 5.0
"""The longest time a host has to wait for a hook."""

NOTING_SECONDS: Final = 0.5
"""How long a hook that gives up may take to note it."""

ASKING_SECONDS: Final = 60.0
"""How often hooks ask whether a sync is due."""

START: Final = {"sessionstart"}
PROMPT: Final = {"userpromptsubmit", "beforeagent", "beforesubmitprompt"}
COMPACT: Final = {"precompact", "precompress"}
KEEP: Final = {*COMPACT, "sessionend"}
SEND: Final = "send"
"""Not of a host: sends what waits for a server, in the background."""
OF_HOSTS: Final = frozenset("stop subagentstop notification pretooluse posttooluse".split())
"""Events of hosts for which there is nothing to do."""
HEADERS: Final = "headers"
"""Asked by Claude Code for each connection to a server."""
AGAIN: Final = "again"
"""Not of a host: keeps the sessions that were not kept, in the background."""
FORKED: Final = "fork"
"""The source of a start with the context of another session."""
EVENTS: Final = (
    "SessionStart, UserPromptSubmit, PreCompact and SessionEnd (BeforeAgent and PreCompress in "
    "Gemini CLI, sessionStart, beforeSubmitPrompt, preCompact and sessionEnd in Cursor)"
)
"""What hosts call the events that a hook does something at."""
EMPTIED: Final = {"compact", "clear"}
"""The sources of a start with an empty context."""


def main(argv: Sequence[str]) -> int:
    """Handle one event of a host; returns 0 whatever happens."""
    try:
        arguments = parser().parse_args(argv)
    except SystemExit:  # argparse, of flags of another version; it says which
        return 0
    return respond(arguments)


def respond(arguments: argparse.Namespace) -> int:
    """Handle the event on standard input."""
    event: Any = None
    name = arguments.event.lower()
    watch = _watch(arguments, PATIENCE_SECONDS)
    if name not in (troubles.KEEP, SEND, HEADERS, AGAIN):  # for which no host waits so
        watch.start()
    try:
        if name in START | PROMPT:
            _keep_what_is_left()
            if arguments.server is not None:
                watch.cancel()
                watch = _watch(arguments, remote.seconds_left())
                watch.start()
        # Claude Code leaves the input of the command for headers open.
        reads = sys.stdin and arguments.event != HEADERS
        given = sys.stdin.buffer.read() if reads else b""
        event = json.loads(given or b"{}")
        answer = answered(arguments, event)
        if answer is not None:
            sys.stdout.write(json.dumps(answer) + "\n")
            sys.stdout.flush()
        if name in START | PROMPT:
            _sync(arguments)
        wrong = getattr(arguments, "wrong", "")
        if wrong or os.path.isdir(settings.troubles_folder()):
            _note(arguments, event, wrong)
    except Exception as error:  # noqa: BLE001 - no error may stop the host
        # A server that is away is not the host's affair; `memstore spool` shows it.
        if arguments.server is None or arguments.event == HEADERS:
            with suppress(Exception):  # closed, or nobody reads it
                sys.stderr.write(f"{TROUBLE}{error}\n")
        _note(arguments, event, str(error) or type(error).__name__)
    finally:
        watch.cancel()
    return 0


def _watch(arguments: argparse.Namespace, seconds: float) -> threading.Timer:
    watch = threading.Timer(seconds, _give_up, (arguments,))
    watch.daemon = True
    return watch


def _give_up(arguments: argparse.Namespace) -> None:
    """End the program, because the host has waited long enough."""
    # Even if the note waits for what the program hangs on.
    remotely = arguments.server is not None and arguments.event.lower() in START | PROMPT
    noting = remote.END_SECONDS if remotely else NOTING_SECONDS
    last = threading.Timer(noting, os._exit, (0,))
    last.daemon = True
    last.start()
    patience = remote.HOST_SECONDS if remotely else PATIENCE_SECONDS
    _note(arguments, None, f"it took longer than {patience:g} seconds")
    os._exit(0)


def _note(arguments: argparse.Namespace, event: object, error: str = "") -> None:
    """Remember that a hook failed, or that it did not, for the status of the file."""
    if not error and arguments.event == troubles.KEEP:
        return  # which has noted what it left out
    database, session = _memory(arguments), ""
    with suppress(Exception):
        session = transcripts.session_of(event) or ""  # type: ignore[arg-type]
    with suppress(Exception):
        about = troubles.Trouble(database, session, arguments.host, arguments.event)
        troubles.note(about, error=error)


def parser() -> argparse.ArgumentParser:
    made = options.RedactingParser(
        prog="memstore hook",
        add_help=False,
        allow_abbrev=False,
        formatter_class=options.HelpFormatter,  # argparse's own asks for the terminal's width
    )
    made.add_argument("event", nargs="?", default="")
    made.add_argument("--host", default="host")
    made.add_argument("--user")
    made.add_argument("--server")
    made.add_argument("--note")
    options.add_store_flags(made)
    return made


def answered(arguments: argparse.Namespace, event: dict[str, Any]) -> dict[str, Any] | None:
    """Return the JSON for the host; ``None`` for none."""
    name = arguments.event.lower()
    if name not in START | PROMPT | KEEP | OF_HOSTS | {troubles.KEEP, SEND, HEADERS, AGAIN}:
        wrong = f"{arguments.event!r} is no event" if name else "name the event"
        sys.stderr.write(f"{TROUBLE}{wrong} of a host: {EVENTS}\n")
        return None
    if name == AGAIN:
        unkept.try_again()
        return None
    if arguments.server is not None:
        plain_http.checked_url(arguments.server, "server")  # before anything that quotes it
    if name in KEEP:
        keep_in_background(arguments, event)
    elif name in START | PROMPT:
        _note_open(arguments, event)
    elif name == troubles.KEEP:
        _kept(arguments, event)
        return None
    if arguments.server is not None:
        return _answered_by_server(arguments, event, name)
    chosen = chosen_settings(arguments)
    options.check_host(chosen)
    if name in KEEP and name not in COMPACT:
        return None
    enter(event)
    database = file_at(chosen.db or settings.default_path())
    if not os.path.exists(database):  # only a conversation creates it
        return None
    if name in COMPACT or (name in START and event.get("source") in EMPTIED):
        sessions.HostSession.of(transcripts.session_of(event), database).emptied()
    if name not in START | PROMPT:
        return None
    given = options.chosen_settings(arguments)
    with _opened_to_tell(arguments) as store:
        store = _placed(store.of(**chosen.owners), chosen)
        session = running(event, name, database)
        if name in START:
            told = at_start(store, arguments.host, event, session)
        else:
            is_kept = settings.keeps_transcripts() and _can_keep(arguments)
            records = is_kept and not (given.no_record or given.read_only)
            told = at_prompt(store, prompt_of(event), session, arguments.host, records=records)
    return None if told is None else shaped(arguments.event, told)


def _placed(store: Store, chosen: Settings) -> Store:
    """Return the store for the project of the host's folder, if a namespace was named for all."""
    return caller_project.in_folder(store) if chosen.namespace not in (None, AUTO) else store


def _opened_to_tell(arguments: argparse.Namespace) -> Store:
    """Open the file to read: nothing that a prompt would wait for is asked for a vector.

    ``MODULE:FACTORY`` is, if setup wrote it as a flag: it measured that first. In the place of any
    other model, the built-in one compares.
    """
    given = options.chosen_settings(arguments)
    chosen = given._replace(read_only=True)
    flag = getattr(arguments, "embedder", None) or ""
    if given.embedder_name != "none" and not (":" in flag and not flag.startswith("fastembed")):
        chosen = chosen._replace(embedder=None, model=None, ollama=None, openai=None)
    return from_settings.open_store(chosen, source=arguments.host, by_words=True)


def _answered_by_server(
    arguments: argparse.Namespace, event: dict[str, Any], name: str
) -> dict[str, Any] | None:
    """Return the JSON for the host, by the memory of a server; ``None`` for none."""
    url, host, chosen = arguments.server, arguments.host, chosen_settings(arguments)
    if name == HEADERS:
        return {**servers.headers(url), **remote.timezone()}
    if name == SEND:
        remote.send_waiting(url)
        return None
    if name in KEEP and name not in COMPACT:
        return None
    enter(event)
    session = sessions.HostSession.of(transcripts.session_of(event), spool.folder_of(url))
    if name in COMPACT or (name in START and event.get("source") in EMPTIED):
        session.emptied()
    if name not in START | PROMPT:
        return None
    prompt = prompt_of(event)
    session = running(event, name, spool.folder_of(url))
    if name in START:
        told = remote.at_start(url, host, running_session(event), chosen.user, session.is_fork)
    elif is_asking(prompt):
        told = remote.at_prompt(url, host, prompt, session, chosen.user)
    else:
        return None
    if remote.has_waiting(url):  # the server is back
        background.start(["hook", SEND, "--server", url])
    text = _noted(session, recalling.Recollection.of(told))
    return None if text is None else shaped(arguments.event, text)


def chosen_settings(arguments: argparse.Namespace) -> Settings:
    """Return the settings, without an embedder if it would use the network.

    If the time zone is not known here, the machine's is used and the doctor says so: the hook still
    works, only its days may be wrong.
    """
    try:
        chosen = options.chosen_settings(arguments)
    except InvalidArgument as error:
        if error.argument != "timezone":
            raise
        arguments.timezone, arguments.wrong = "local", f"{error}; the machine's was used"
        chosen = options.chosen_settings(arguments)
    if chosen.embedder_name == "local":
        return chosen
    return chosen._replace(embedder="none", model=None)


def shaped(event: str, text: str) -> dict[str, Any]:
    """Return the text in the JSON form of the host, which is known by its event name."""
    text = HIDDEN.sub(spelt, tags.harmless(text))  # also of a server of another version
    if event[:1].islower():  # Cursor
        return {"additional_context": text}
    return {"hookSpecificOutput": {"hookEventName": event, "additionalContext": text}}


def enter(event: dict[str, Any]) -> None:
    """Change to the host's working folder, which determines the project."""
    roots = event.get("workspace_roots")
    folder = event.get("cwd") or (roots[0] if isinstance(roots, list) and roots else None)
    if isinstance(folder, str) and "\0" not in folder and os.path.isdir(folder):
        os.chdir(folder)


def prompt_of(event: dict[str, Any]) -> str:
    prompt = event.get("prompt")
    said = transcripts.mended(prompt) if isinstance(prompt, str) else ""
    return transcripts.OF_HOOKS.sub("", said).strip()


def at_start(store: Store, host: str, event: dict[str, Any], session: HostSession) -> str | None:
    """Return what a session begins with; its facts are not repeated at a prompt."""
    told = recalling.at_start(store, host, running_session(event), is_fork=session.is_fork)
    return _noted(session, told)


def running(event: dict[str, Any], name: str, database: str) -> HostSession:
    """Return a session at its start or at a prompt, with what it has of other sessions."""
    session = sessions.HostSession.of(transcripts.session_of(event), database)
    named = isinstance(event.get("transcript_path"), str)
    path = transcripts.file_of(event)
    if name in START:
        is_fork = event.get("source") == FORKED
        return session.began(is_fork=is_fork)
    if session.inherited is not None:
        return session
    if path is None:
        # A host starts each session but one that it forks, and writes what that one repeats later.
        return session.began(is_fork=named and session.began_at is None)
    session = session.began()
    found = transcripts.repeated(path, session.began_at)
    inherited = sessions.Inherited(
        tuple(
            f"{one.mark}:{turns.digest_of(one.text)}" for one in found.turns[-sessions.MAX_NAMES :]
        ),
        tuple(found.sessions.items()),
    )
    given = session.given
    for parent, _ in inherited.sessions:
        before = sessions.HostSession.of(parent, database)
        given += before.given
        inherited += before.inherited
    return session._replace(given=given).with_inherited(inherited)


def running_session(event: dict[str, Any]) -> str | None:
    """Return the session that begins again, if it does; after a compaction it is past, too."""
    return None if event.get("source") == "compact" else transcripts.session_of(event)


def at_prompt(
    store: Store, prompt: str, session: HostSession, host: str = "", *, records: bool = False
) -> str | None:
    """Return what the memory has to say about a prompt; ``None`` if it does not bear on it.

    Args:
        records: whether it is noted, to be recorded with the conversation.
    """
    if not is_asking(prompt):
        return None
    begun = clock.monotonic()
    told = recalling.at_prompt(
        store,
        prompt,
        session.name,
        session.emptied_at,
        session.given,
        host=host,
        inherited=session.inherited,
        turns=session.knows_its_context,
    )
    if records:
        prompted.note(session, prompt, told, 1000 * (clock.monotonic() - begun))
    return _noted(session, told)


def is_asking(prompt: str) -> bool:
    """Return whether a prompt is something that memory may have to say about; no command is."""
    return bool(prompt) and not prompt.startswith("/")


def _noted(session: HostSession, recollection: recalling.Recollection) -> str | None:
    """Return the text for a session, after remembering what it is given with it."""
    if recollection.given:
        session.with_given(recollection.given)
    return recollection.text


def keep_in_background(arguments: argparse.Namespace, event: dict[str, Any]) -> None:
    """Start a separate process that stores the conversation, so that the host need not wait.

    Before that, it is noted for the next hook, which does the same if this one is killed.
    """
    note = _noted_of(arguments, event)
    if note is None or transcripts.file_of(note.event) is None:
        return
    digest = unkept.remember(note)
    noted = [] if digest is None else [f"--note={digest}"]
    given = json.dumps(note.event).encode()
    background.start(["hook", troubles.KEEP, *noted, *note.words], given)


def _noted_of(arguments: argparse.Namespace, event: dict[str, Any]) -> unkept.UnkeptNote | None:
    """Return what is to be remembered of a session; ``None`` if it is not to be kept."""
    transcript = event.get("transcript_path")
    if not isinstance(transcript, str) or not transcript or "\0" in transcript:
        return None
    if not settings.keeps_transcripts() or not _can_keep(arguments):
        return None
    about: dict[str, Any] = {name: event[name] for name in unkept.EVENT if name in event}
    about["transcript_path"] = os.path.abspath(transcript)
    enter(event)
    flags = background.flags(arguments, ("host", "server", *Settings._fields))
    variables = settings.keeping_environment()
    return unkept.UnkeptNote(about, flags, variables, _memory(arguments), arguments.host)


def _note_open(arguments: argparse.Namespace, event: dict[str, Any]) -> None:
    """Remember a session that begins or goes on, because it may end without a hook."""
    with suppress(Exception):  # this hook has something else to do
        if _are_any_noted() and unkept.keeps_ends(arguments.host):
            note = _noted_of(arguments, event)
            if note is not None:
                unkept.remember_open(note)


def _can_keep(arguments: argparse.Namespace) -> bool:
    """Return whether a file or a server over HTTP is named, and no database on a server."""
    if arguments.server is not None:
        return True
    named = getattr(arguments, "db", None) or settings.keeping_environment().get("MEMSTORE_DB")
    with suppress(InvalidArgument):
        if named is not None:
            check_place(named)
        return not is_server(named)
    return False


def _are_any_noted() -> bool:
    """Return whether a session was ever noted; most hooks need no more than that."""
    return os.path.isdir(settings.unkept_folder())


def _keep_what_is_left() -> None:
    """Start a process that keeps what earlier hooks could not, if there is anything."""
    with suppress(Exception):  # this hook has something else to do
        if _are_any_noted() and unkept.are_due() and settings.keeps_transcripts():
            background.start(["hook", AGAIN])


def _kept(arguments: argparse.Namespace, event: dict[str, Any]) -> None:
    """Keep a conversation, and then others that are left."""
    digest: str | None = getattr(arguments, "note", None)
    noted, ends = unkept.of(digest)
    event = event if noted is None else noted
    if noted is not None and transcripts.file_of(noted) is None:
        unkept.gone(digest)
        return
    enter(event)
    try:
        if arguments.server is None:
            _keep_in_file(arguments, event)
        else:
            _keep_in_spool(arguments, event)
        unkept.kept(digest, ends)
        _sync(arguments, has_news=True)
        if arguments.server is not None:
            remote.send_waiting(arguments.server)
    finally:
        unkept.try_again()


def _keep_in_file(arguments: argparse.Namespace, event: dict[str, Any]) -> None:
    chosen = chosen_settings(arguments)
    options.check_host(chosen)
    database = file_at(chosen.db or settings.default_path())
    # Only a conversation creates a file: what it says may be asked for in the next.
    if not os.path.exists(database) and not keeping.is_worth_keeping(event):
        return
    with from_settings.open_store(chosen, actor="agent", source=arguments.host) as store:
        own = _placed(store.of(**chosen.owners), chosen)
        keeping.keep(own, arguments.host, event)
        store.file.warm()  # prepares the index here, because the other hooks only read
        store.file.save_index()


def _keep_in_spool(arguments: argparse.Namespace, event: dict[str, Any]) -> None:
    chosen = chosen_settings(arguments)
    policy: Any = chosen.secrets or "redact"  # checked where it is used
    remote.keep(arguments.server, arguments.host, event, chosen.user, policy)


def _sync(arguments: argparse.Namespace, *, has_news: bool = False) -> None:
    """Begin a sync in the background, if setup chose that and it is time for one."""
    if arguments.server is None and os.path.isdir(settings.sync_folder()):
        with suppress(Exception):  # the host must not hear of it; the next hook tries again
            chosen = chosen_settings(arguments)
            database = os.path.abspath(file_at(chosen.db or settings.default_path()))
            if not os.path.exists(database) or chosen.read_only:
                return
            if has_news or not _was_asked_lately(database):
                variables = background_sync.variables_of(chosen)
                background_sync.begin_if_due(database, variables, has_news=has_news)


def _was_asked_lately(database: str) -> bool:
    """Return whether a hook asked within a minute whether a sync is due; it does so from now on.

    Most hooks then import nothing for it, which would take a prompt a sixth longer.
    """
    name = f"asked-{zlib.crc32(database.encode()):08x}"
    file = os.path.join(settings.sync_folder(), name)
    now = clock.utc_now().timestamp()
    try:
        if 0 <= now - os.stat(file).st_mtime < ASKING_SECONDS:
            return True
    except FileNotFoundError:
        os.close(os.open(file, os.O_WRONLY | os.O_CREAT, 0o600))
    os.utime(file, (now, now))
    return False


def _memory(arguments: argparse.Namespace) -> str:
    """Return the server's address, or the file, that a hook is about; empty if that is unclear."""
    with suppress(Exception):  # the settings may be at fault
        if arguments.server is not None:
            return plain_http.checked_url(arguments.server, "server").geturl()
        return os.path.abspath(file_at(chosen_settings(arguments).db or settings.default_path()))
    return ""
