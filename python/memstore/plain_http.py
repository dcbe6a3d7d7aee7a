"""One HTTP request to a server whose address the user or the operator chose.

For requests that must start fast or that no model answers: hooks, the keys of an identity provider,
and the files of a place where devices meet. Only over TLS, or to this machine; redirects are not
followed, so that a token reaches nobody else.
"""

from __future__ import annotations

import ipaddress
from typing import TYPE_CHECKING, Final
from urllib.parse import SplitResult, urlsplit

from memstore.errors import InvalidArgument, MemstoreError
from memstore.lazy import lazy_import
from memstore.named import NamedTuple

if TYPE_CHECKING:
    import http.client as client
    import ssl
    from collections.abc import Mapping
else:  # a command that sends nothing does not need them
    client = lazy_import("http.client")
    ssl = lazy_import("ssl")

LOCAL_NAME: Final = "localhost"

TIMEZONE: Final = "Memstore-Timezone"
"""The header in which a client names its user's time zones, the first known one of which counts."""


class Unreachable(MemstoreError):
    """The server gave no answer, or none that can be read."""


class Answer(NamedTuple):
    status: int
    body: bytes


def checked_url(text: str, argument: str) -> SplitResult:
    """Read an address that a token or a key may be sent to.

    Raises:
        InvalidArgument: it is not ``https://…``, or ``http://…`` on this machine; or it has a name
            and password, a query or a fragment.
    """
    try:
        url = urlsplit(text)
        usable = bool(url.hostname) and url.port != 0 and text.isascii() and text.isprintable()
    except ValueError:
        usable = False
    if not usable or " " in text or url.scheme not in ("http", "https"):
        raise InvalidArgument("must look like https://memory.example.com/mcp", argument=argument)
    if url.username is not None or url.query or url.fragment:
        raise InvalidArgument("must have no name, password, query or fragment", argument=argument)
    if url.scheme == "http" and not is_local(url.hostname or ""):
        raise InvalidArgument(
            "must begin with https://, because anyone on the way could read what is sent; http:// "
            "is for this machine alone",
            argument=argument,
        )
    return url


def is_local(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == LOCAL_NAME


def send(
    url: SplitResult,
    body: bytes | None = None,
    headers: Mapping[str, str] | None = None,
    *,
    method: str = "",
    seconds: float,
    most: int,
) -> Answer:
    """Send a request, and return the answer.

    Args:
        method: by default GET, or with a body POST.
        seconds: the longest that each step may take: connecting, sending, each part of the answer.
            A caller with a limit for all of it has to keep that itself.
        most: the most bytes of an answer that are read.

    Raises:
        Unreachable: there was no whole answer of at most so many bytes.
    """
    path, verb = url.path or "/", method or ("GET" if body is None else "POST")
    try:
        wire = _connection(url, seconds)
        try:
            wire.request(verb, path, body, dict(headers or {}))
            answer = wire.getresponse()
            text = answer.read(most + 1)
        finally:
            wire.close()
    except ssl.SSLCertVerificationError as error:
        raise Unreachable(
            f"the certificate of {url.netloc} is not accepted: {error.verify_message}"
        ) from None
    except TimeoutError:
        raise Unreachable(f"{url.netloc} did not answer within {seconds:g} s") from None
    except (OSError, client.HTTPException) as error:
        reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
        raise Unreachable(f"{url.netloc} did not answer: {reason}") from None
    if len(text) > most:
        raise Unreachable(f"{url.netloc} sent more than {most:,} bytes")
    return Answer(answer.status, text)


def _connection(url: SplitResult, seconds: float) -> client.HTTPConnection:
    assert url.hostname is not None
    if url.scheme == "http":
        return client.HTTPConnection(url.hostname, url.port, timeout=seconds)
    return client.HTTPSConnection(
        url.hostname, url.port, timeout=seconds, context=ssl.create_default_context()
    )
