"""Models behind HTTP: posting JSON within a deadline, with errors that say what to do.

The only importer of ``httpx``. The client is asynchronous and runs on an event loop in its own
thread, because only a cancellable wait can keep a deadline: a blocking client restarts its timeout
at every byte, so slow headers, a slow upload or a slow name lookup could exceed any limit.
"""

from __future__ import annotations

import base64
import json
import math
import random
import re
import threading
import weakref
from concurrent.futures import CancelledError
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any, ClassVar
from urllib.parse import quote, unquote, urlsplit

from memstore.domain import clock
from memstore.errors import (
    EmbedderRejected,
    EmbedderUnavailable,
    GeneratorRejected,
    GeneratorUnavailable,
    InvalidArgument,
    MemstoreError,
    Remedy,
)
from memstore.frozen import frozen
from memstore.lazy import lazy_import

if TYPE_CHECKING:
    import asyncio
    import ssl
    from collections.abc import Callable, Mapping, Sequence

    import httpx
else:  # slow to import, and a store without an HTTP model does not need it
    asyncio = lazy_import("asyncio")
    httpx = lazy_import("httpx")
    ssl = lazy_import("ssl")

RETRIED_STATUSES = frozenset({408, 425, 429, 500, 502, 503, 504, 529})  # 529: overloaded
BACKOFF_SECONDS = 0.5
CONNECT_SECONDS = 5.0  # so that a lost handshake is retried early; the answer may take long
REPLY_CAP_BYTES = 64 * 2**20
QUOTED_CAP_BYTES = 64 * 2**10  # how much of an error body is read to quote from it
QUOTED_CAP_CHARS = 300
CLOSE_SECONDS = 5.0


@dataclass(eq=False)
class _AttemptError(Exception):
    """One attempt failed; ``again`` allows another, ``lasting`` means the request is at fault."""

    what: str
    status: int | None = None
    words: str = ""
    remedy: Remedy | None = None
    again: bool = False
    lasting: bool = False
    wait_seconds: float = 0.0


@frozen
class Purpose:
    """The kind of request (embedding, generating): its error classes and their remedies."""

    unavailable: type[MemstoreError]
    """Raised for a temporary failure."""
    rejected: type[MemstoreError]
    """Raised for a permanent one."""
    check_service: Remedy
    check_key: Remedy
    check_model: Remedy

    def remedy(self, status: int | None) -> Remedy | None:
        if status is None or 300 <= status < 400:
            return self.check_service
        return {
            401: self.check_key,
            403: self.check_key,
            404: self.check_model,
            429: Remedy.CHECK_PLAN,
            529: Remedy.WAIT,
        }.get(status)


EMBEDDING = Purpose(
    EmbedderUnavailable,
    EmbedderRejected,
    Remedy.CHECK_SERVICE,
    Remedy.CHECK_KEY,
    Remedy.CHECK_MODEL,
)
GENERATION = Purpose(
    GeneratorUnavailable,
    GeneratorRejected,
    Remedy.CHECK_GENERATOR,
    Remedy.CHECK_GENERATOR_KEY,
    Remedy.CHECK_GENERATOR_MODEL,
)


@frozen
class _Answer:
    status: int
    headers: Mapping[str, str]
    body: bytes


class ModelEndpoint:
    """An HTTP service that takes and returns JSON objects; safe to share between threads.

    A name and password in ``base_url`` are sent as Basic authorization and never shown; a query
    is refused, because URLs end up in logs. The values of ``headers`` are removed from every error
    text. ``advise`` returns the provider's remedy for a status (``None``: no answer) and message.
    """

    def __init__(
        self,
        base_url: str,
        *,
        headers: Mapping[str, str] | None = None,
        timeout_seconds: float = 30.0,
        retries: int = 2,
        purpose: Purpose = EMBEDDING,
        advise: Callable[[int | None, str], Remedy | None] = lambda _status, _words: None,
        sleep: Callable[[float], object] = clock.sleep,
    ) -> None:
        if not (math.isfinite(timeout_seconds) and timeout_seconds > 0):
            raise InvalidArgument(
                f"must be above zero, not {timeout_seconds!r}", argument="timeout_seconds"
            )
        self.url, authorization, password = _split_credentials(base_url)
        self.timeout_seconds = timeout_seconds
        self._headers = {**authorization, **(headers or {})}
        for name, value in self._headers.items():
            if not (value.isascii() and value.isprintable()):
                raise InvalidArgument(
                    f"the header {name} contains characters that HTTP cannot carry",
                    remedy=purpose.check_key,
                )
        self._secrets = _secrets_pattern([*self._headers.values(), password])
        self._retries = retries
        self._purpose = purpose
        self._advise = advise
        self._sleep = sleep
        self._lock = threading.Lock()  # held only while the wire is opened or removed
        self._wire: _Wire | None = None
        self._closed = False

    def __repr__(self) -> str:
        return f"ModelEndpoint({self.url!r})"

    def post_json(
        self, path: str, body: Mapping[str, object], *, timeout_seconds: float | None = None
    ) -> dict[str, Any]:
        """Post ``body`` to ``base_url + path`` and return the JSON object of the reply.

        Failed or broken connections, truncated replies and the statuses 408, 425, 429, 500, 502,
        503, 504 and 529 are retried, after an exponential pause with jitter and no sooner than
        ``Retry-After`` asks. If the pause does not fit into the deadline, the call fails at once.
        Other failures are not retried, because they would fail again.

        The deadline covers everything: attempts, pauses, slow bodies.

        Raises:
            MemstoreError: the purpose's ``unavailable`` if there was no answer or it was not a
                JSON object; its ``rejected`` if the service refused this request with a 4xx.
        """
        url = self.url + path
        content = json.dumps(body).encode("ascii")
        given = self.timeout_seconds if timeout_seconds is None else timeout_seconds
        if not math.isfinite(given):
            raise InvalidArgument(
                f"must be a number of seconds, not {given!r}", argument="timeout_seconds"
            )
        deadline = clock.monotonic() + given
        for attempt in range(self._retries + 1):
            try:
                return self._attempt(url, content, deadline, given)
            except _AttemptError as error:
                failure = error.with_traceback(None)  # else it and this frame form a cycle
            # Full jitter would allow a pause of zero, so only half of it is random.
            pause = BACKOFF_SECONDS * 2**attempt * random.uniform(0.5, 1.0)
            pause = max(pause, failure.wait_seconds)
            last = attempt == self._retries or clock.monotonic() + pause >= deadline
            if last or not failure.again:
                break
            self._sleep(pause)
        # Raised outside ``except``, so that httpx's error is neither cause nor context: it
        # carries the request and may quote a header. Its message is in the text.
        raise self._error(failure, url, attempt + 1)

    def words_of(self, reply: object) -> str:
        """Return the provider's own message in a reply: one line, capped, without secrets."""
        return self._one_line(_message_in(reply))

    def close(self) -> None:
        """Close the connections; a call still waiting fails as ``unavailable``. Idempotent."""
        with self._lock:
            wire, self._wire, self._closed = self._wire, None, True
        if wire is not None:
            wire.close()

    def _attempt(self, url: str, content: bytes, deadline: float, given: float) -> dict[str, Any]:
        try:
            answer = self._open().post(url, content, deadline - clock.monotonic())
        except TimeoutError:
            what = f"did not answer in time ({given:.3g} s)"
            raise _AttemptError(what, remedy=Remedy.ALLOW_TIME) from None
        except CancelledError:
            raise _AttemptError("cannot be called: this client was closed", 0) from None
        if answer.status >= 300:
            raise _refusal(answer)
        return _object_in(answer.body)

    def _open(self) -> _Wire:
        with self._lock:
            if self._closed:
                raise CancelledError
            if self._wire is None:
                self._wire = _Wire(self._headers, encrypted=self.url.startswith("https:"))
                weakref.finalize(self, self._wire.forgotten)
            return self._wire

    def _error(self, failure: _AttemptError, url: str, attempts: int) -> MemstoreError:
        kind = self._purpose.rejected if failure.lasting else self._purpose.unavailable
        words = self._one_line(failure.words)
        remedy = (
            failure.remedy
            or self._advise(failure.status, words)
            or self._purpose.remedy(failure.status)
        )
        unquoted = f"{url} {failure.what}"
        unquoted += f" ({attempts} attempts)" if attempts > 1 else ""
        told = kind(f"{unquoted}: {words}" if words else unquoted, remedy=remedy)
        if isinstance(told, EmbedderUnavailable) and failure.status is not None:
            told.unquoted = unquoted
        return told

    def _one_line(self, text: str) -> str:
        begun = text[:QUOTED_CAP_BYTES]
        printable = "".join(char if char.isprintable() else " " for char in begun)
        line = self._secrets.sub("[redacted]", " ".join(printable.split()))
        return line if len(line) <= QUOTED_CAP_CHARS else line[: QUOTED_CAP_CHARS - 1] + "…"


class HttpModel:
    """A model that answers over HTTP; safe to share between threads."""

    _purpose: ClassVar[Purpose] = EMBEDDING

    def __init__(
        self, model: str, base_url: str, *, headers: Mapping[str, str], timeout_seconds: float
    ) -> None:
        if not model:
            raise InvalidArgument("is empty", argument="model")
        self._model = model
        self._endpoint = ModelEndpoint(
            base_url,
            headers=headers,
            timeout_seconds=timeout_seconds,
            purpose=self._purpose,
            advise=self._remedy,
        )

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._model!r}, base_url={self._endpoint.url!r})"

    @property
    def model(self) -> str:
        """The model's plain name."""
        return self._model

    def close(self) -> None:
        """Close the connections; a call still waiting fails as unavailable. Idempotent."""
        self._endpoint.close()

    def _remedy(self, status: int | None, words: str) -> Remedy | None:
        return None

    def _said(self, what: str) -> str:
        return f"{self._endpoint.url} {what} (model {self._model})"


class _Wire:
    """An asynchronous client on its own event loop; any thread may call ``post``."""

    def __init__(self, headers: Mapping[str, str], *, encrypted: bool) -> None:
        try:
            # Reading all certificates takes 25 ms, and plain HTTP does not need them. A context
            # without certificates trusts nobody.
            trusted = True if encrypted else ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
            client = httpx.AsyncClient(headers=dict(headers), verify=trusted)
        except (ValueError, ImportError, OSError, httpx.InvalidURL) as error:
            # Without the error's message, which may quote the password of a proxy.
            what = f"cannot be called: no HTTP client could be set up ({type(error).__name__})"
            raise _AttemptError(what, remedy=Remedy.CHECK_PROXY) from None
        self._client = client
        self._failures = (httpx.HTTPError, httpx.InvalidURL)
        self._timeouts = httpx.Timeout
        self._deadline = asyncio.timeout
        self._submit = asyncio.run_coroutine_threadsafe
        self._stop = asyncio.Event()
        runner = asyncio.Runner(loop_factory=asyncio.new_event_loop)
        self._loop = runner.get_loop()
        self._lock = threading.Lock()  # so that nothing is submitted to a stopped loop
        self._closing = False
        self._thread = threading.Thread(
            target=_keep_open, args=(runner, client, self._stop), name="memstore-http", daemon=True
        )
        self._thread.start()

    def post(self, url: str, content: bytes, seconds: float) -> _Answer:
        """Send one request; ``TimeoutError`` at the deadline, ``_AttemptError`` otherwise."""
        if seconds <= 0:
            raise TimeoutError
        with self._lock:
            if self._closing:
                raise CancelledError
            asked = self._submit(self._exchange(url, content, seconds), self._loop)
        try:
            # The loop keeps the deadline; the slack is in case it is gone, as after a fork.
            return asked.result(seconds + CLOSE_SECONDS)
        finally:
            asked.cancel()  # matters only if the wait was interrupted, for example by Ctrl-C

    async def _exchange(self, url: str, content: bytes, seconds: float) -> _Answer:
        headers = {"content-type": "application/json", "accept": "application/json"}
        # A third each for the connection and for TLS, so that neither reaches the deadline: a
        # handshake that is cancelled instead of timing out leaves its socket open.
        timeouts = self._timeouts(None, connect=min(CONNECT_SECONDS, seconds / 3))
        body = bytearray()
        what = "did not reply"
        try:
            async with (
                self._deadline(seconds),
                self._client.stream(
                    "POST", url, content=content, headers=headers, timeout=timeouts
                ) as response,
            ):
                what = "closed the connection in the middle of its reply"
                async for chunk in response.aiter_bytes():
                    body += chunk
                    if len(body) > REPLY_CAP_BYTES:
                        size = f"{REPLY_CAP_BYTES / 2**20:.3g} MiB"
                        raise _AttemptError(f"sent a reply of more than {size}", status=200)
                return _Answer(response.status_code, response.headers, bytes(body))
        except self._failures as error:
            words = str(error) or type(error).__name__
            raise _AttemptError(what, words=words, again=True) from None

    def close(self) -> None:
        self._end()
        if threading.current_thread() is not self._thread:
            self._thread.join(CLOSE_SECONDS)

    def forgotten(self) -> None:
        """Close, but wait for the thread only when the interpreter exits.

        The garbage collector may call this inside an import, and the thread needs the import lock
        to close the connections.
        """
        self._end()
        if not threading.main_thread().is_alive():
            self._thread.join(CLOSE_SECONDS)

    def _end(self) -> None:
        with self._lock:
            if not self._closing:
                self._closing = True
                self._loop.call_soon_threadsafe(self._stop.set)


def _keep_open(runner: asyncio.Runner, client: httpx.AsyncClient, stop: asyncio.Event) -> None:
    async def until_stopped() -> None:
        async with client:
            await stop.wait()

    with runner:  # cancels waiting requests when it ends
        runner.run(until_stopped())


def _split_credentials(base_url: str) -> tuple[str, dict[str, str], str]:
    """Return the address to show, the header for its name and password, and the password."""
    address = base_url.strip()
    try:
        parts = urlsplit(address)
        usable = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:  # its message may quote the password
        usable = False
    if not usable or not address.isprintable() or " " in address:
        raise InvalidArgument(
            "must look like http://localhost:11434 or https://host/path", argument="base_url"
        )
    if parts.query or parts.fragment:
        raise InvalidArgument(
            "must end with its path: a key belongs in a header, not a query", argument="base_url"
        )
    url = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path.rstrip('/')}"
    if parts.username is None:
        return url, {}, ""
    name, password = unquote(parts.username), unquote(parts.password or "")
    token = base64.b64encode(f"{name}:{password}".encode()).decode("ascii")
    return url, {"Authorization": f"Basic {token}"}, password or name


def _secrets_pattern(values: Sequence[str]) -> re.Pattern[str]:
    """Match each secret, whole, without its ``Bearer``, and percent-encoded."""
    secrets = {part for value in values for part in (value, value.partition(" ")[2]) if part}
    secrets |= {quote(secret, safe="") for secret in secrets}
    longest_first = sorted(secrets, key=len, reverse=True)
    return re.compile("|".join(map(re.escape, longest_first)) or r"(?!)")


def _refusal(answer: _Answer) -> _AttemptError:
    status = answer.status
    if status < 400:
        what = f"answered {status}, a redirect, which is not followed"
        return _AttemptError(what, status)
    body = answer.body[:QUOTED_CAP_BYTES]
    try:
        words = _message_in(json.loads(body))
    except (ValueError, RecursionError):
        words = body.decode("utf-8", "replace")
    again = status in RETRIED_STATUSES
    return _AttemptError(
        f"answered {status}",
        status,
        words,
        again=again,
        lasting=status < 500 and not again,
        wait_seconds=_retry_after(answer.headers),
    )


def _object_in(body: bytes) -> dict[str, Any]:
    try:
        reply = json.loads(body)
    except (ValueError, RecursionError):
        # An unclosed brace means a reply that was cut off; anything else is another program's
        # page, which would be the same on a retry.
        cut = body.lstrip().startswith(b"{") and not body.rstrip().endswith(b"}")
        what = "sent a reply that was cut off" if cut else "sent a reply that is not JSON"
        words = body[:QUOTED_CAP_BYTES].decode("utf-8", "replace")
        raise _AttemptError(what, 200, words, again=cut) from None
    if not isinstance(reply, dict):
        raise _AttemptError("sent JSON that is not an object", 200)
    return reply


def _message_in(reply: object) -> str:
    """Find the provider's message: ``error``, ``message`` or ``detail``, nested or not."""
    found = reply
    while isinstance(found, dict):
        found = next((found[key] for key in ("error", "message", "detail") if found.get(key)), "")
    return found if isinstance(found, str) else json.dumps(found)


def _retry_after(headers: Mapping[str, str]) -> float:
    """Read ``Retry-After``, in seconds or as a date relative to the server's own."""
    asked = headers.get("retry-after", "")
    try:
        return max(0.0, float(asked))
    except ValueError:
        pass
    try:
        # Relative to the reply's own Date header, so that clock differences do not matter.
        pause = parsedate_to_datetime(asked) - parsedate_to_datetime(headers.get("date", ""))
    except (ValueError, TypeError, OverflowError):
        return 0.0
    return max(0.0, pause.total_seconds())


def at_least_one(value: int | None, name: str) -> int | None:
    if value is not None and value < 1:
        raise InvalidArgument(f"must be at least 1, not {value!r}", argument=name)
    return value
