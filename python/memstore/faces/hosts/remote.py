"""Hooks against a server: what they ask of it, and what they send.

A server that is away or slow must not be felt: a hook that asks ends within half a second, from the
start of its process, and says nothing. Conversations go through the spool, in a process that
outlives the hook.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from typing import TYPE_CHECKING, Any, Final

from memstore import __version__, plain_http, settings
from memstore.domain import clock, zones
from memstore.domain.arguments import MAX_CONTENT
from memstore.errors import InvalidArgument, MemstoreError
from memstore.faces.hosts import servers, spool
from memstore.lazy import lazy_import

if TYPE_CHECKING:
    import hashlib
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from memstore import projects
    from memstore.faces import caller_project
    from memstore.faces.hosts import own_memory, traces, transcripts, troubles
    from memstore.faces.hosts.sessions import HostSession
    from memstore.faces.hosts.transcripts import TranscriptTurn
    from memstore.text import chunks, secrets
    from memstore.text.secrets import SecretsPolicy
else:  # a start and a prompt need none of them
    hashlib = lazy_import("hashlib")
    chunks = lazy_import("memstore.text.chunks")
    own_memory = lazy_import("memstore.faces.hosts.own_memory")
    projects = lazy_import("memstore.projects")
    secrets = lazy_import("memstore.text.secrets")
    traces = lazy_import("memstore.faces.hosts.traces")
    transcripts = lazy_import("memstore.faces.hosts.transcripts")
    troubles = lazy_import("memstore.faces.hosts.troubles")
    caller_project = lazy_import("memstore.faces.caller_project")

HOST_SECONDS: Final = 0.5
"""The longest time a host waits for a hook, from the start of its process to the end."""

END_SECONDS: Final = 0.1
"""Of which the end takes so long: to note that there was no answer, and to exit."""

MIN_SECONDS: Final = 0.01
"""What is left to a process that was slow to start, so that it ends as one that was not."""

SENDING_SECONDS: Final = 30.0
"""How long a step may take in the background."""

MAX_ANSWER_BYTES: Final = 1024 * 1024

MAX_PROMPT_CHARACTERS: Final = 100_000
"""Of a longer prompt, the beginning and the end are sent: only they count."""

BATCH_TURNS: Final = 100
BATCH_BYTES: Final = 4 * 1024 * 1024

LASTING: Final = frozenset({400, 413, 422})
"""The statuses that say that a request will never be accepted, whoever sends it."""


class ServerRefused(MemstoreError):
    """The server answered, and not with what was asked for."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(f"the server answered {status}: {reason}")
        self.status = status


def seconds_left() -> float:
    """Return how long a hook that asks may still take, counted from the start of its process."""
    return max(MIN_SECONDS, HOST_SECONDS - END_SECONDS - clock.process_seconds())


def ask(
    url: str, request: Mapping[str, Any], *, seconds: float, secret: str | None = None
) -> dict[str, Any]:
    """Send a request of a hook and return the server's answer.

    Args:
        secret: the token; ``None`` for the one that was kept.

    Raises:
        Unreachable: there was no answer.
        ServerRefused: there was, but not the one wanted.
        NoToken: there is no token for the server.
    """
    body = json.dumps(request, ensure_ascii=False).encode("utf-8", "replace")
    return _sent(url, body, seconds=seconds, secret=secret)


def _sent(url: str, body: bytes, *, seconds: float, secret: str | None = None) -> dict[str, Any]:
    place = plain_http.checked_url(url, "server")
    authorization = servers.headers(url) if secret is None else _bearer(secret)
    answer = plain_http.send(
        place._replace(path=f"{place.path.rstrip('/')}/hook"),
        body,
        {
            **authorization,
            **timezone(),
            "Content-Type": "application/json",
            "User-Agent": f"memstore/{__version__}",
        },
        seconds=seconds,
        most=MAX_ANSWER_BYTES,
    )
    try:
        found = json.loads(answer.body)
    except (ValueError, RecursionError):
        found = None
    if answer.status != 200 or not isinstance(found, dict):
        raise ServerRefused(answer.status, _reason(found))
    return found


def timezone() -> dict[str, str]:
    """Return the header that tells a server the user's time zone."""
    return {plain_http.TIMEZONE: zones.names_of(zones.user())}


def _bearer(secret: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {secret}"}


def _reason(found: Any) -> str:
    """Return what a server says about a refusal: of hooks, or of the gate before them."""
    error = found.get("error") if isinstance(found, dict) else None
    message = error.get("message") if isinstance(error, dict) else error
    return message[:300] if isinstance(message, str) else "no reason"


def check(url: str, secret: str, user: str | None) -> dict[str, Any]:
    """Return what a token gives access to: ``namespace``, ``access``, ``user``, ``version``."""
    request = {"event": "check", **_user(user)}
    return ask(url, request, seconds=SENDING_SECONDS, secret=secret)


def at_start(
    url: str, host: str, session: str | None, user: str | None, is_fork: bool = False
) -> dict[str, Any]:
    """Return the text that a session begins with and the names in it."""
    request: dict[str, Any] = {
        "event": "start",
        "host": host,
        "session": session,
        **_user(user),
        **_project(),
    }
    if is_fork:
        request["is_fork"] = True
    return ask(url, request, seconds=seconds_left())


def at_prompt(
    url: str, host: str, prompt: str, session: HostSession, user: str | None
) -> dict[str, Any]:
    """Return the text for a prompt, which may be none, and the names in it."""
    if len(prompt) > MAX_PROMPT_CHARACTERS:
        half = MAX_PROMPT_CHARACTERS // 2
        prompt = f"{prompt[:half]}\n{prompt[-half:]}"
    request: dict[str, Any] = {
        "event": "prompt",
        "host": host,
        "prompt": prompt,
        "session": session.name,
        "emptied_at": None if session.emptied_at is None else clock.to_text(session.emptied_at),
        "known": session.given,
        **_user(user),
        **_project(),
    }
    if session.inherited is not None and any(session.inherited):
        request["inherited"] = session.inherited._asdict()
    if not session.knows_its_context:
        request["turns"] = False
    return ask(url, request, seconds=seconds_left())


def keep(
    url: str, host: str, event: dict[str, Any], user: str | None, policy: SecretsPolicy
) -> None:
    """Spool the turns of a session that were not spooled yet, to be sent next.

    Where nothing can be written, they are sent at once.

    Args:
        policy: what to do with secrets in them, as ``--secrets``; they do not leave this machine.
    """
    path = transcripts.file_of(event)
    if path is None:
        return
    waiting = spool.Spool(url)
    session = transcripts.session_of(event) or path.stem
    left_out: Counter[str] = Counter()
    name = f"{host}\0{session}"
    marks = waiting.marks(name)
    about = {"event": "keep", "host": host, "session": session, **_user(user), **_project()}
    for request, new in _requests(path, marks, left_out, policy):
        try:
            waiting.put({**about, **request})
        except spool.SpoolUnusable:
            body = json.dumps({**about, **request}, ensure_ascii=False).encode()
            _sent(url, body, seconds=SENDING_SECONDS)
        marks |= new
        waiting.note(name, marks)
    for place, memory in _own_memory(host, path, left_out, policy):
        mark = _mark("memory", json.dumps(memory))
        if waiting.marks(place) != {mark}:  # what was sent before it does not count
            waiting.put({**about, "turns": [], "memory": memory})
            waiting.note(place, {mark})
    if left_out:
        troubles.note(troubles.Trouble(url, session, host, troubles.KEEP), left_out=left_out)


def _requests(
    path: Path, known: set[str], left_out: Counter[str], policy: SecretsPolicy
) -> Iterator[tuple[dict[str, Any], set[str]]]:
    """Yield requests with the turns of a transcript whose marks are not known; then its trace."""
    screen = secrets.Screen(policy)
    turns: list[dict[str, Any]] = []
    new: set[str] = set()
    size = 0
    for turn in transcripts.turns(path, left_out):
        mark = _mark(turn.mark, turn.text)
        if mark in known or mark in new:
            continue
        try:
            text = screen.value(turn.text, "turn")
        except InvalidArgument:
            left_out["refused because of a secret"] += 1
            continue
        for part in _sent_forms(turn, text):
            more = len(part["text"].encode())
            if turns and (len(turns) == BATCH_TURNS or size + more > BATCH_BYTES):
                yield {"turns": turns}, new
                turns, new, size = [], set(), 0
            turns.append(part)
            size += more
        new.add(mark)
    if turns:
        yield {"turns": turns}, new
    if settings.keeps_traces():
        done = traces.trace(path, settings.project_folder())._asdict()
        mark = _mark("trace", json.dumps(done))
        if mark not in known and any(done[kind] for kind in ("changed", "committed", "failed")):
            yield {"turns": [], "trace": done}, {mark}


def _sent_forms(turn: TranscriptTurn, text: str) -> Iterator[dict[str, Any]]:
    """Yield a turn as it is sent: a long one as several, which fit into a request."""
    for number, part in enumerate(chunks.chunks(text, MAX_CONTENT)):
        if not part.isspace():  # no turn can be blank
            mark = f"{turn.mark}#{number}" if number else turn.mark
            yield _sent_form(turn._replace(mark=transcripts.shortened(mark)), part)


def _own_memory(
    host: str, path: Path, left_out: Counter[str], policy: SecretsPolicy
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield what the host remembers by itself for this project, each with a name for its marks."""
    screen = secrets.Screen(policy)
    project = projects.project_of()
    try:
        for said in own_memory.of_session(host, project.folder, project.namespace, path):
            left_out["in the host's own memory, and not taken"] += said.left_out
            for number, request in enumerate(own_memory.requests(said)):
                request["memories"] = [*_screened(request["memories"], screen, left_out)]
                yield f"{request['place']}\0{number}", request
    except (MemstoreError, OSError):  # the conversation is sent
        left_out["in the host's own memory, and not taken"] += 1


def _screened(
    memories: Iterable[dict[str, Any]], screen: secrets.Screen, left_out: Counter[str]
) -> Iterator[dict[str, Any]]:
    for one in memories:
        try:
            yield one | {"content": screen.value(one["content"], "memory")}
        except InvalidArgument:
            left_out["refused because of a secret"] += 1


def _sent_form(turn: TranscriptTurn, text: str) -> dict[str, Any]:
    sent = {"mark": turn.mark, "role": turn.role, "text": text, "at": turn.at}
    return sent if turn.copied_from is None else {**sent, "copied_from": turn.copied_from}


def _mark(name: str, text: str) -> str:
    return hashlib.sha256(f"{name}\0{text}".encode("utf-8", "replace")).hexdigest()[:16]


def send_waiting(url: str) -> int:
    """Send what waits for a server, oldest first; return how many requests have arrived.

    Raises:
        Unreachable: it did not answer; the rest waits on.
        ServerRefused: it does not let us in, or cannot store anything; the rest waits on.
    """
    waiting = spool.Spool(url)
    arrived = 0
    while not waiting.is_empty():  # what is written while it is sent, too
        with waiting.sending():
            for name, body in waiting.requests():
                arrived += _send(waiting, url, name, body)
    return arrived


def _send(waiting: spool.Spool, url: str, name: str, body: bytes) -> int:
    try:
        answer = _sent(url, body, seconds=SENDING_SECONDS)
    except ServerRefused as error:
        if error.status not in LASTING:
            raise
        waiting.drop(name, spool.REFUSED)
        return 0
    waiting.remove(name)
    left_out = answer.get("left_out")
    if isinstance(left_out, dict) and left_out:
        request = json.loads(body)
        about = troubles.Trouble(url, request["session"], request["host"], troubles.KEEP)
        troubles.note(about, left_out={str(k): int(v) for k, v in left_out.items()})
    return 1


def has_waiting(url: str) -> bool:
    """Return whether anything waits for a server; cheap, because each hook asks."""
    return os.path.isdir(spool.folder_of(url)) and not spool.Spool(url).is_empty()


def _project() -> dict[str, str]:
    """Return the project of the host's folder: a token's memory holds those of several."""
    name = caller_project.name_of()
    return {} if name is None else {"project": name}


def _user(user: str | None) -> dict[str, str]:
    return {"user": user} if user and user != settings.NONE else {}
