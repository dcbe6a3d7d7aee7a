"""One session over standard input and output: reading requests, running and answering them.

The reading thread answers at once every request that needs no store. Calls run in other threads. A
call that its client cancels still runs to the end, because a write that has begun is completed, but
it is not answered.
"""

from __future__ import annotations

import os
import threading
from functools import partial
from typing import TYPE_CHECKING, Any, Final, NoReturn

from memstore.faces.mcp import protocol
from memstore.faces.mcp.methods import Methods
from memstore.faces.mcp.protocol import Refused
from memstore.faces.mcp.wire import Outgoing, lines, read_json, room_of, take_over
from memstore.faces.serving.opening import end, end_on_signals
from memstore.lazy import lazy_import

if TYPE_CHECKING:
    import logging
    import queue
    from collections.abc import Callable, Iterable, Mapping

    from memstore.domain.protocols import JSONGenerator
    from memstore.faces.mcp import client_log, clients, roots
    from memstore.faces.mcp.catalogue import Catalogue
    from memstore.faces.mcp.methods import StoreSource
    from memstore.faces.mcp.protocol import Message, Params
    from memstore.faces.serving.opening import Opening
else:
    client_log = lazy_import("memstore.faces.mcp.client_log")
    clients = lazy_import("memstore.faces.mcp.clients")
    roots = lazy_import("memstore.faces.mcp.roots")
    logging = lazy_import("logging")
    queue = lazy_import("queue")

CALLS_AT_ONCE: Final = 8
"""Threads for calls; further calls queue."""

GRACE_SECONDS: Final = 4.0
"""The longest wait for the next answer, and for the client to read on, after the input has ended:
the store may still be opening. A host that does not want to wait sends a signal."""

LISTING_SECONDS: Final = 0.5
"""The pause between the handshake and opening the store, in which the client asks for the tools:
the imports for opening would delay that answer."""

PROGRESS_SECONDS: Final = 5.0
"""The interval of progress notifications for a call, if the client asks for them."""

CACHEABLE: Final = (
    *("server/discover", "tools/list", "prompts/list"),
    *("resources/list", "resources/templates/list", "resources/read"),
)


class Call:
    """A request that is answered by another thread."""

    def __init__(self, number: str | int, method: str, params: Params) -> None:
        meta = params.get("_meta") or {}
        self.number = number
        self.method = method
        self.params = params
        self.level: str | None = meta.get(protocol.LEVEL_KEY)
        self.progress_token: str | int | None = meta.get("progressToken")
        self.signs_of_life = 0
        self.cancelled = False


class ClientSession:
    """Answers one client.

    Args:
        send: sends a message to the client.
        source: opens the store.
        is_named: whether a namespace was named, which may hold several projects: then the folder
            of the server counts, unless the client tells its own.
    """

    def __init__(
        self,
        methods: Methods,
        source: StoreSource,
        send: Callable[[Message], object],
        *,
        progress_seconds: float = PROGRESS_SECONDS,
        is_named: bool = False,
    ) -> None:
        self._methods = methods
        self._source = source
        self._is_named = is_named
        self._rooted: roots.Rooted | None = None
        self._send = send
        self._progress_seconds = progress_seconds
        self._by_envelope: bool | None = None  # until the first request
        self._greeted = False
        self._client: Any = None  # as it introduced itself in the handshake
        self._level: str | None = None
        self._complained = False
        self._changed = threading.Condition()
        self._running: dict[str | int, Call] = {}
        self._unanswered: set[Call] = set()
        self._pool: ThreadPool | None = None
        self._telling = False
        self._current = threading.local()

    def receive(self, line: bytes) -> None:
        """Handle one line from the client."""
        try:
            received = read_json(line)
        except (ValueError, RecursionError) as error:
            self._refuse(None, protocol.unreadable(error))
            return
        several = isinstance(received, list) and received
        for message in received if several else [received]:
            self._take(message)

    def settle(self, seconds: float) -> None:
        """Wait until every request is answered, or until ``seconds`` pass without an answer."""
        with self._changed:
            while self._unanswered and self._changed.wait(seconds):
                pass

    def log(self, level: str, logger: str, text: str) -> None:
        """Send a log message to the client if it asked for this level."""
        call: Call | None = getattr(self._current, "call", None)
        least = self._level if not self._by_envelope else call and call.level
        if least is not None and protocol.LEVELS.index(level) >= protocol.LEVELS.index(least):
            params = {"level": level, "logger": logger, "data": text}
            self._send({"method": "notifications/message", "params": params})

    # -- messages ----------------------------------------------------------------------------------

    def _take(self, message: Any) -> None:
        if not isinstance(message, dict):
            self._refuse(None, protocol.not_a_request())
            return
        if "method" not in message and message.keys() & {"result", "error"}:
            if self._rooted is not None:  # else it answers nothing that was asked
                self._rooted.receive(message)
            return
        method, params = message.get("method"), message.get("params")
        number = protocol.request_id(message.get("id"))
        whole = isinstance(params, dict | None) and message.get("jsonrpc") == "2.0"
        if not (isinstance(method, str) and whole):
            self._refuse(number, protocol.not_a_request())
        elif number is None:
            self._notice(method, params or {})
        else:
            self._request(number, method, params)

    def _notice(self, method: str, params: Params) -> None:
        if method == "notifications/cancelled":
            self._cancel(protocol.request_id(params.get("requestId")))
        elif method == "notifications/initialized" and not self._by_envelope:
            self._greeted = True
            soon = threading.Timer(LISTING_SECONDS, self._source.start)
            soon.daemon = True
            soon.start()
            if self._rooted is not None:
                self._rooted.ask()
        elif method == "notifications/roots/list_changed" and self._rooted is not None:
            self._rooted.ask()

    def _request(self, number: str | int, method: str, params: Params | None) -> None:
        if self._by_envelope is None:
            self._by_envelope = method != "initialize" and protocol.has_envelope(params)
        try:
            self._check(method, params)
            if method in WITH_STORE:
                self._begin(Call(number, method, params or {}))
                return
            result = self._whole(method, AT_ONCE[method](self, params or {}))
        except Refused as refused:
            self._send({"id": number, "error": refused.error})
            return
        self._send({"id": number, "result": result})
        if method == "tools/list":
            self._source.start()

    def _check(self, method: str, params: Params | None) -> None:
        """Raise :class:`Refused` for a request that is invalid, or invalid in this era."""
        if self._by_envelope:
            if method == "initialize":
                raise protocol.refused_handshake(params)
            protocol.check_envelope(params)
        elif method != "initialize" and protocol.has_envelope(params):
            raise protocol.refused_envelope()
        foreign = protocol.HANDSHAKE_ONLY if self._by_envelope else protocol.ENVELOPE_ONLY
        if method not in protocol.REQUESTS or method in foreign:
            raise protocol.method_not_found(method)
        protocol.check(method, params or {})
        if self._by_envelope and not protocol.fits(params, protocol.ENVELOPE):
            raise protocol.invalid_params()
        if not (self._by_envelope or self._greeted or method in ("initialize", "ping")):
            raise protocol.invalid_params()

    def _whole(self, method: str, result: dict[str, Any]) -> dict[str, Any]:
        """Return a result with the members that the newer era adds."""
        if not self._by_envelope:
            return result
        fresh = {"ttlMs": 0, "cacheScope": "private"} if method in CACHEABLE else {}
        meta = {protocol.SERVER_KEY: self._methods.server_info}
        return {**result, **fresh, "resultType": "complete", "_meta": meta}

    def _refuse(self, number: str | int | None, refused: Refused) -> None:
        """Answer what is not a request. Without its id, the client can only log the answer."""
        self._send({"id": number, "error": refused.error})
        if number is None and not self._complained:  # once, so as not to flood the host's log
            self._complained = True
            logging.getLogger(__name__).warning("the client sent a line that is not a message")

    # -- answered at once --------------------------------------------------------------------------

    def initialize(self, params: Params) -> dict[str, Any]:
        self._greeted = True
        self._client = params["clientInfo"]
        if "roots" in params["capabilities"]:
            asks = roots.follows(params["capabilities"])
            self._source = self._rooted = roots.Rooted(self._source, self._send, asks=asks)
        asked = params["protocolVersion"]
        known = asked in protocol.HANDSHAKE_REVISIONS
        return {
            "protocolVersion": asked if known else protocol.HANDSHAKE_REVISIONS[-1],
            "capabilities": self._methods.capabilities,
            "serverInfo": self._methods.server_info,
            "instructions": self._methods.instructions,
        }

    def discover(self, _params: Params) -> dict[str, Any]:
        return {
            "supportedVersions": list(protocol.ENVELOPE_REVISIONS),
            "capabilities": self._methods.capabilities,
            "instructions": self._methods.instructions,
        }

    def set_level(self, params: Params) -> dict[str, Any]:
        self._level = params["level"]
        client_log.attach(self.log, self._level)
        return {}

    def ping(self, _params: Params) -> dict[str, Any]:
        return {}

    def list_tools(self, _params: Params) -> dict[str, Any]:
        return self._methods.list_tools()

    def list_prompts(self, _params: Params) -> dict[str, Any]:
        return self._methods.list_prompts()

    def list_resources(self, _params: Params) -> dict[str, Any]:
        return self._methods.list_resources()

    def list_templates(self, _params: Params) -> dict[str, Any]:
        return self._methods.list_templates()

    # -- calls -------------------------------------------------------------------------------------

    def _begin(self, call: Call) -> None:
        if self._pool is None:
            self._pool = ThreadPool(CALLS_AT_ONCE)
        if self._by_envelope and call.level is not None:
            client_log.attach(self.log, call.level)
        with self._changed:
            if call.progress_token is not None and not self._telling:
                self._telling = True
                threading.Thread(target=self._tell_progress, daemon=True).start()
            self._running[protocol.same_id(call.number)] = call
            self._unanswered.add(call)
        self._pool.submit(partial(self._run, call))

    def _run(self, call: Call) -> None:
        if not call.cancelled:
            self._current.call = call
            answer = self._answer(call)
        with self._changed:
            if not call.cancelled:
                self._send({"id": call.number, **answer})
            self._unanswered.discard(call)
            if self._running.get(protocol.same_id(call.number)) is call:
                del self._running[protocol.same_id(call.number)]
            self._changed.notify_all()

    def _answer(self, call: Call) -> dict[str, Any]:
        try:
            result = WITH_STORE[call.method](self, call.params)
            return {"result": self._whole(call.method, result)}
        except Refused as refused:
            return {"error": refused.error}
        except BaseException:  # noqa: BLE001 - logged; every request gets an answer
            logging.getLogger(__name__).exception("%s failed", call.method)
            return {
                "error": Refused(
                    protocol.INTERNAL_ERROR,
                    "the request failed unexpectedly; the server's log says why",
                ).error
            }

    def call_tool(self, params: Params) -> dict[str, Any]:
        return self._methods.tool_calls.answer(self._through(params).store, params)

    def read_resource(self, params: Params) -> dict[str, Any]:
        source = self._through(params)
        return self._methods.read_resource(source, params, older=not self._by_envelope)

    def get_prompt(self, params: Params) -> dict[str, Any]:
        return self._methods.get_prompt(self._through(params), params)

    def complete(self, params: Params) -> dict[str, Any]:
        return self._methods.complete(self._source, params)

    def _through(self, params: Params) -> StoreSource:
        """Return the source of the store for the client, which may name itself in each request."""
        named = (params.get("_meta") or {}).get(protocol.CLIENT_KEY)
        client = named if self._by_envelope else self._client
        # Imported for a call, not before the tools are listed.
        if self._is_named and self._rooted is None:
            self._source = self._rooted = roots.Rooted(self._source, self._send, asks=False)
        return clients.Through(self._source, clients.of_info(client))

    def _cancel(self, number: str | int | None) -> None:
        with self._changed:
            call = None if number is None else self._running.get(protocol.same_id(number))
            if call is not None:
                call.cancelled = True
                self._unanswered.discard(call)
                self._changed.notify_all()

    def _tell_progress(self) -> None:
        """Send progress notifications until no call that wants them is left."""
        while True:
            with self._changed:
                self._changed.wait_for(lambda: not self._watched(), self._progress_seconds)
                watched = self._watched()
                for call in watched:
                    call.signs_of_life += 1
                    params = {"progressToken": call.progress_token, "progress": call.signs_of_life}
                    self._send({"method": "notifications/progress", "params": params})
                self._telling = bool(watched)
            if not watched:
                return

    def _watched(self) -> list[Call]:
        return [call for call in self._unanswered if call.progress_token is not None]


AT_ONCE: Final[Mapping[str, Callable[[ClientSession, Params], dict[str, Any]]]] = {
    "initialize": ClientSession.initialize,
    "server/discover": ClientSession.discover,
    "ping": ClientSession.ping,
    "logging/setLevel": ClientSession.set_level,
    "tools/list": ClientSession.list_tools,
    "prompts/list": ClientSession.list_prompts,
    "resources/list": ClientSession.list_resources,
    "resources/templates/list": ClientSession.list_templates,
}

WITH_STORE: Final[Mapping[str, Callable[[ClientSession, Params], dict[str, Any]]]] = {
    "tools/call": ClientSession.call_tool,
    "prompts/get": ClientSession.get_prompt,
    "resources/read": ClientSession.read_resource,
    "completion/complete": ClientSession.complete,
}


class ThreadPool:
    """A limited number of threads, started as needed; they end with the process."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._threads = 0
        self._idle = threading.Semaphore(0)
        self._work: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()

    def submit(self, work: Callable[[], None]) -> None:
        self._work.put(work)
        if not self._idle.acquire(blocking=False) and self._threads < self._most:
            self._threads += 1
            threading.Thread(target=self._run, name="memstore-call", daemon=True).start()

    def _run(self) -> None:
        while True:
            try:
                self._work.get()()
            finally:
                self._idle.release()


def run(
    catalogue: Catalogue,
    opening: Opening,
    generator: Callable[[], JSONGenerator | None],
    *,
    is_named: bool = False,
) -> NoReturn:
    """Serve until the input ends or a signal comes, close the store, and end the process.

    ``is_named`` is as for :class:`ClientSession`.
    """
    end_on_signals(opening)
    status = 1
    try:
        incoming, outgoing = take_over()
        wire = Outgoing(
            partial(os.write, outgoing), lambda: end(opening, 0), has_room=room_of(outgoing)
        )
        serve(
            Methods(catalogue, generator, logging=True),
            opening,
            lines(incoming),
            wire,
            is_named=is_named,
        )
        status = 0
    except Exception:  # noqa: BLE001 - logged
        logging.getLogger(__name__).exception("the session failed")
    finally:
        end(opening, status)


def serve(
    methods: Methods,
    opening: Opening,
    received: Iterable[bytes],
    wire: Outgoing,
    *,
    is_named: bool = False,
) -> None:
    """Answer one client until its input ends and every request is answered."""
    session = ClientSession(methods, opening, wire.send, is_named=is_named)
    for line in received:
        session.receive(line)
        wire.wait_for_room()
    session.settle(GRACE_SECONDS)
    wire.flush(GRACE_SECONDS)
