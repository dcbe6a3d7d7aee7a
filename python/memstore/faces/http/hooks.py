"""The hooks of hosts on other machines: what they ask and send, beside the protocol's endpoint.

``POST /mcp/hook`` takes one JSON object with the ``event`` and returns another. The server keeps
nothing of a session between requests: the hooks say what it was given, and give each turn an id by
which it is stored only once, however often it is sent.
"""

from __future__ import annotations

import json
import logging
from collections import Counter
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import anyio
import anyio.to_thread
from starlette.requests import Request
from starlette.responses import JSONResponse

from memstore import __version__
from memstore.domain import clock
from memstore.domain.records import Scope
from memstore.domain.tokens import Access
from memstore.episodes.traces import TRACE, new_trace
from memstore.errors import InvalidArgument, InvalidArgumentType, MemstoreError
from memstore.faces import wording
from memstore.faces.hosts import keeping, own_memory, prompted, recalling
from memstore.faces.hosts.sessions import Inherited
from memstore.faces.hosts.transcripts import MAX_MARK_CHARACTERS, TranscriptTurn
from memstore.faces.http.callers import Runs
from memstore.faces.http.endpoint import CALLER
from memstore.faces.mcp import clients
from memstore.faces.serving.readiness import RETRY_SECONDS
from memstore.faces.serving.stores import Confined
from memstore.importing.memory_files import FileFact
from memstore.providers.local import tokens_at_most
from memstore.store import store as stores

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from starlette.types import ASGIApp, Receive, Send
    from starlette.types import Scope as AsgiScope

    from memstore.faces.http.callers import Caller
    from memstore.faces.mcp.methods import StoreSource
    from memstore.faces.serving.stores import Stores
    from memstore.facts.following import Stated
    from memstore.store.store import Store

logger = logging.getLogger(__name__)

HOOK_PATH: Final = "/mcp/hook"

HOOKS_AT_ONCE: Final = 8
"""Threads for hooks, so that they do not wait behind calls of tools: a host waits 0.5 s."""

MAX_TURNS: Final = 1_000
"""Turns of one request."""

MAX_SESSIONS: Final = 100
"""Sessions that one may be forked from, each from the next."""

MAX_GIVEN: Final = 2_000
"""Names of what a session was given."""

MAX_PLACE: Final = 1_000
"""Characters of the path of a folder or a file."""

ROLES: Final = ("user", "assistant")

TRACED: Final = ("changed", "committed", "failed")


class HookRefused(Exception):
    """A request that is not of the form that hooks send, or not allowed."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status = status


def with_hooks(
    endpoint: ASGIApp,
    stores: Stores,
    owners: Mapping[str, str],
    *,
    is_bound: bool = False,
    records: bool = False,
) -> ASGIApp:
    """Return an application for accepted requests: hooks on their path, the endpoint elsewhere.

    Args:
        owners: those whose memories hooks use that name none.
        is_bound: whether hooks may name no other user.
        records: whether prompts and what they were given are recorded as searches are.
    """
    hooks = Hooks(stores, owners, is_bound=is_bound, records=records)

    async def divided(scope: AsgiScope, receive: Receive, send: Send) -> None:
        is_hook = scope["path"].rstrip("/") == HOOK_PATH
        await (hooks if is_hook else endpoint)(scope, receive, send)

    return divided


class Hooks:
    """Answers the hooks of hosts; each request is complete in itself."""

    def __init__(
        self,
        stores: Stores,
        owners: Mapping[str, str],
        *,
        is_bound: bool = False,
        records: bool = False,
    ) -> None:
        self._records = records
        self._stores = stores
        self._owners = owners
        self._is_bound = is_bound
        self._runs = Runs()
        self._threads = anyio.CapacityLimiter(HOOKS_AT_ONCE)

    async def __call__(self, scope: AsgiScope, receive: Receive, send: Send) -> None:
        caller: Caller | None = scope[CALLER]
        try:
            event = _read(await Request(scope, receive).body())
            # If the host has gone on without it, what has begun is completed.
            answer = await anyio.to_thread.run_sync(
                partial(self._answer, caller, event),
                limiter=self._threads,
                abandon_on_cancel=True,
            )
            response = JSONResponse(answer, headers={"Cache-Control": "no-store"})
        except HookRefused as error:
            response = JSONResponse({"error": str(error)}, error.status)
        except (InvalidArgument, InvalidArgumentType) as error:
            response = JSONResponse({"error": wording.in_server(error)}, 400)
        except MemstoreError as error:
            logger.warning("a hook was not answered: %s", wording.in_server(error))
            response = JSONResponse(
                {"error": "the memory cannot be used at the moment"},
                503,
                {"Retry-After": str(RETRY_SECONDS)},
            )
        await response(scope, receive, send)

    def _answer(self, caller: Caller | None, event: Mapping[str, Any]) -> dict[str, Any]:
        answers: Mapping[str, Callable[[Store, Mapping[str, Any]], dict[str, Any]]] = {
            "start": _start,
            "prompt": partial(_prompt, records=self._records),
            "keep": _keep,
        }
        name = _text(event, "event") or ""
        owner = self._owner(caller, event)
        if name == "check":
            return {"version": __version__, **_allowed(caller, self._stores, owner)}
        if name not in answers:
            raise HookRefused(400, "event is start, prompt, keep or check")
        if name == "keep" and caller is not None and caller.access == Access.READ:
            raise HookRefused(403, "the token is read-only, and keeping a conversation writes")
        store = self._store(caller, event).of(owner)
        return answers[name](_placed(store, event), event)

    def _owner(self, caller: Caller | None, event: Mapping[str, Any]) -> Scope:
        """Return whose memories a hook uses: the caller's, if it is bound to some."""
        named = _text(event, "user", optional=True)
        owners = self._owners if self._is_bound else None
        if caller is not None and caller.owners is not None:
            owners = caller.owners
        if owners is not None:
            bound = Scope(**owners)
            if named is not None and named != bound.user_id:
                raise HookRefused(403, "this access is another user's: leave --user out")
            return bound
        return Scope(user_id=named) if named is not None else Scope(**self._owners)

    def _store(self, caller: Caller | None, event: Mapping[str, Any]) -> Store:
        host = _host(event)
        source: StoreSource = self._stores
        if caller is not None:
            source = Confined(self._stores, caller.namespace, caller.owners)
        run = self._runs.of(None if caller is None else caller.name, host)
        return clients.Through(source, host, run).store()


def _allowed(caller: Caller | None, stores: Stores, owner: Scope) -> dict[str, Any]:
    """Return what a token gives access to."""
    store = stores.store() if caller is None else stores.confined(caller.namespace, caller.owners)
    access = Access.WRITE if caller is None else caller.access
    return {"namespace": store.namespace, "access": str(access), "user": owner.user_id}


def _placed(store: Store, event: Mapping[str, Any]) -> Store:
    """Return the store for the project that a hook names, if it names one."""
    return stores.working_in(store, _text(event, "project", optional=True, most=MAX_PLACE))


def _start(store: Store, event: Mapping[str, Any]) -> dict[str, Any]:
    session = _text(event, "session", optional=True)
    is_fork = event.get("is_fork") is True
    return recalling.at_start(store, _host(event), session, is_fork=is_fork)._asdict()


def _prompt(store: Store, event: Mapping[str, Any], *, records: bool) -> dict[str, Any]:
    prompt = _text(event, "prompt", most=None) or ""
    begun = clock.monotonic()
    told = recalling.at_prompt(
        store,
        prompt,
        _text(event, "session", optional=True),
        _text(event, "emptied_at", optional=True),
        _texts(event, "known", MAX_GIVEN),
        host=_host(event),
        inherited=_inherited(event),
        turns=event.get("turns") is not False,
    )
    if records:
        passed = 1000 * (clock.monotonic() - begun)
        tokens = 0 if told.text is None else tokens_at_most(told.text)
        with suppress(MemstoreError):  # what is not recorded is given all the same
            prompted.record_prompt(store, prompt, told.given, at=None, tokens=tokens, ms=passed)
    return told._asdict()


def _inherited(event: Mapping[str, Any]) -> Inherited | None:
    """Return what a session that was forked has in its context."""
    try:
        found = Inherited.of(event.get("inherited"))
        for _, until in found.sessions if found is not None else ():
            clock.moment(until, "until")
    except (TypeError, ValueError, LookupError):
        raise HookRefused(400, "inherited is turns and sessions") from None
    if found is not None and len(found.sessions) > MAX_SESSIONS:
        raise HookRefused(400, f"inherited has at most {MAX_SESSIONS} sessions")
    return found


def _keep(store: Store, event: Mapping[str, Any]) -> dict[str, Any]:
    """Store turns that are not stored yet, and what the session did so far."""
    host, session = _host(event), _text(event, "session") or ""
    left_out: Counter[str] = Counter()
    turns = [_turn(one) for one in _list(event, "turns", MAX_TURNS)]
    done = None if event.get("trace") is None else _trace(event["trace"])
    kept = 0
    for first in range(0, len(turns), keeping.AT_ONCE):
        some = turns[first : first + keeping.AT_ONCE]
        kept += keeping.add_turns(store, host, session, some, left_out)
    store.episodes.fold_turns()
    if done is not None:
        try:
            trace = new_trace(source=host, session=session, **done)
            if trace is not None:
                store.episodes.replace(trace, TRACE)
        except keeping.REFUSED:
            left_out[keeping.REASON] += 1
    if event.get("memory") is not None:
        followed = _follow(store, event["memory"], host)
        left_out[keeping.NOT_FOLLOWED] += followed
    return {"kept": kept, "left_out": +left_out}


def _follow(store: Store, given: Any, host: str) -> int:
    """Follow what a host remembers by itself; return how much of it was refused."""
    if not isinstance(given, dict):
        raise HookRefused(400, "memory is an object")
    done = own_memory.follow_told(
        store,
        _text(given, "place", most=MAX_PLACE) or "",
        [_stated(one, host) for one in _list(given, "memories", MAX_TURNS)],
        _texts(given, "unread", MAX_GIVEN),
        given.get("complete") is not False,
    )
    return done.refused


def _stated(given: Any, host: str) -> Stated:
    if not isinstance(given, dict) or not isinstance(given.get("metadata"), dict | None):
        raise HookRefused(400, "a memory is an object, and so is its metadata")
    source = _text(given, "source", most=MAX_PLACE) or ""
    if source.partition(":")[0] not in (host, own_memory.REPOSITORY):
        raise HookRefused(400, "the source of a memory begins with its host")
    line = given.get("line")
    one = FileFact(
        line if isinstance(line, int) else 1,
        _text(given, "content", most=None) or "",
        _text(given, "subject", most=None) or "",
        _text(given, "category") or "",
        given.get("metadata"),
    )
    name, at = _text(given, "file", most=MAX_PLACE) or "", _text(given, "at", optional=True)
    return own_memory.stated(source, name, one, given.get("whole") is True, at)


def _read(body: bytes) -> Mapping[str, Any]:
    try:
        event = json.loads(body)
    except (ValueError, RecursionError):
        event = None
    if not isinstance(event, dict):
        raise HookRefused(400, "the request is no JSON object")
    return event


def _host(event: Mapping[str, Any]) -> str:
    host = clients.named(event.get("host"))
    if host is None:
        raise HookRefused(400, "host is the name of a program, such as claude-code")
    return host


def _turn(given: Any) -> TranscriptTurn:
    if not isinstance(given, dict) or given.get("role") not in ROLES:
        raise HookRefused(400, f"a turn has a role: {' or '.join(ROLES)}")
    return TranscriptTurn(
        _text(given, "mark") or "",
        given["role"],
        _text(given, "text", most=None) or "",
        _text(given, "at", optional=True),
        _text(given, "copied_from", optional=True),
    )


def _trace(given: Any) -> dict[str, Any]:
    if not isinstance(given, dict):
        raise HookRefused(400, "trace is an object")
    times = {name: _text(given, name, optional=True) for name in ("began", "ended")}
    return {name: _texts(given, name, MAX_TURNS) for name in TRACED} | times


def _text(
    given: Mapping[str, Any],
    name: str,
    *,
    optional: bool = False,
    most: int | None = MAX_MARK_CHARACTERS,
) -> str | None:
    """Return a text of at most so many characters; ``None`` for the store to judge its length."""
    value = given.get(name)
    if value is None and optional:
        return None
    if not isinstance(value, str) or not value.strip() or (most and len(value) > most):
        raise HookRefused(
            400, f"{name} is a text" + (f" of 1 to {most} characters" if most else "")
        )
    return value


def _list(given: Mapping[str, Any], name: str, most: int) -> list[Any]:
    value = given.get(name, [])
    if not isinstance(value, list) or len(value) > most:
        raise HookRefused(400, f"{name} is a list of at most {most:,}")
    return value


def _texts(given: Mapping[str, Any], name: str, most: int) -> list[str]:
    found = _list(given, name, most)
    if not all(isinstance(one, str) for one in found):
        raise HookRefused(400, f"{name} is a list of texts")
    return found
