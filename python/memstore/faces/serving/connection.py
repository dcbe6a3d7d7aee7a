"""Client connections, in front of the HTTP parser: strict heads, time limits, a limited number.

The parser accepts lines that end in a bare LF, headers folded over several lines, and a length
beside chunks. A proxy may interpret those differently, so that one client could hide a request in
another's (request smuggling). So they are refused here.
"""

from __future__ import annotations

import asyncio
import ipaddress
import re
import sys
from http import HTTPStatus
from typing import Final

import h11

MAX_HEAD_BYTES: Final = 16 * 1024
"""Bytes of a request's first line and headers."""

MAX_PAGE_HEAD_BYTES: Final = 64 * 1024
"""The same where there are pages: browsers send the cookies of all programs of this machine."""

LINGER_SECONDS: Final = 1.0
"""Time for a refused client to read the answer; closing at once would reset the connection."""

HEAD_END: Final = b"\r\n\r\n"
BARE_BREAK: Final = re.compile(rb"(?<!\r)\n|\r(?!\n|\Z)")
FOLD: Final = re.compile(rb"\r\n[ \t]")
LENGTH: Final = re.compile(rb"\d{1,18}")

UNTIL_CLOSED: Final = sys.maxsize
"""The length of a chunked body. Only the parser finds its end, so the connection ends with it."""


class Connections:
    """The open connections; above the limit, the longest silent ones are closed.

    A connection is trusted once a request on it was accepted. All clients of a proxy share one
    address, so only untrusted connections count towards the limit per peer.

    Args:
        most: the limit of all connections.
        most_untrusted: the limit of untrusted connections per peer.
    """

    def __init__(self, most: int, most_untrusted: int) -> None:
        self._most = most
        self._most_untrusted = most_untrusted
        self._open: dict[ClientConnection, None] = {}
        """The longest silent ones come first."""

    def add(self, new: ClientConnection) -> bool:
        """Add a connection; return False if there is no room and none can be made."""
        self._open[new] = None
        ours = [one for one in self._open if one.peer == new.peer and not one.trusted]
        if len(ours) > self._most_untrusted:
            self._drop(_most_silent(ours))
        if len(self._open) <= self._most:
            return True
        untrusted = [one for one in self._open if not one.trusted and one is not new]
        idle = [one for one in self._open if not one.answering and one is not new]
        if not (untrusted or idle):
            return False
        self._drop(_most_silent(untrusted or idle))
        return True

    def note_use(self, connection: ClientConnection) -> None:
        if connection in self._open:
            del self._open[connection]
            self._open[connection] = None

    def remove(self, connection: ClientConnection) -> None:
        self._open.pop(connection, None)

    def _drop(self, connection: ClientConnection) -> None:
        self.remove(connection)
        connection.abort()


def _most_silent(connections: list[ClientConnection]) -> ClientConnection:
    return next((one for one in connections if not one.answering), connections[0])


class ClientConnection(asyncio.Protocol):
    """Passes a client's bytes to the parser, each head once it is complete and unambiguous.

    Args:
        parser: parses requests and answers them on the same transport.
        connections: all connections of the server.
        head_seconds: the time limit for a request's head, from the connection or the first byte.
        max_head_bytes: the longest head that is read.
    """

    def __init__(
        self,
        parser: asyncio.Protocol,
        connections: Connections,
        head_seconds: float,
        max_head_bytes: int = MAX_HEAD_BYTES,
    ) -> None:
        self.peer = ""
        self.trusted = False
        self._parser = parser
        self._connections = connections
        self._head_seconds = head_seconds
        self._max_head_bytes = max_head_bytes
        self._head = bytearray()
        self._body_left = 0
        self._unanswered = 0
        self._giving_up: asyncio.TimerHandle | None = None
        self._refused = False

    @property
    def answering(self) -> bool:
        return self._unanswered > 0

    def abort(self) -> None:
        self._transport.abort()

    def answered(self) -> None:
        """Note that a request was answered; the connection may be idle now."""
        self._unanswered -= 1
        self._connections.note_use(self)
        if self._body_left and not self.answering:
            self._wait()  # for the rest of a body that was refused

    # -- called by asyncio -------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self.peer = _peer(transport.get_extra_info("peername"))
        self._parser.connection_made(transport)
        if self._connections.add(self):
            self._wait()
        else:
            self._refuse(503, "too many connections are open")

    def data_received(self, data: bytes) -> None:
        while data and not self._refused and not self._transport.is_closing():
            data = self._pass_body(data) if self._body_left else self._pass_head(data)

    def eof_received(self) -> bool | None:
        return self._parser.eof_received()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        self._connections.remove(self)
        self._parser.connection_lost(exc)

    def pause_writing(self) -> None:
        self._parser.pause_writing()

    def resume_writing(self) -> None:
        self._parser.resume_writing()

    # -- heads and bodies --------------------------------------------------------------------------

    def _pass_body(self, data: bytes) -> bytes:
        """Pass on the bytes of the body, and return those after it."""
        part, rest = data[: self._body_left], data[self._body_left :]
        if self._body_left != UNTIL_CLOSED:
            self._body_left -= len(part)
        if not self._body_left and not self.answering:
            self._stop_waiting()
        self._parse(part)
        return rest

    def _parse(self, data: bytes) -> None:
        try:
            self._parser.data_received(data)
        except h11.LocalProtocolError:
            # It has answered a bad HEAD request with 400, and then tried to send a text as well.
            self._transport.close()

    def _pass_head(self, data: bytes) -> bytes:
        """Pass on a complete head, and return the bytes after it."""
        searched = max(0, len(self._head) - len(HEAD_END) + 1)
        self._head += data
        while self._head.startswith(b"\r\n"):  # allowed between requests
            del self._head[:2]
        end = self._head.find(HEAD_END, searched)
        size = len(self._head) if end < 0 else end + len(HEAD_END)
        if fault := _fault(self._head, searched, size, self._max_head_bytes):
            self._refuse(*fault)
            return b""
        if end < 0:
            self._wait()
            return b""
        head, rest = bytes(self._head[:size]), bytes(self._head[size:])
        self._head.clear()
        try:
            self._body_left = _body_length(head)
        except ValueError as error:
            self._refuse(400, str(error))
            return b""
        self._stop_waiting()
        self._unanswered += 1
        self._parse(head)
        return rest

    def _refuse(self, status: int, reason: str) -> None:
        self._refused = True
        self._stop_waiting()
        if self.answering:  # an earlier request, which this would be mistaken for the answer to
            self._transport.close()
            return
        body = reason.encode()
        self._transport.write(
            b"HTTP/1.1 %d %s\r\nContent-Type: text/plain; charset=utf-8\r\n"
            b"Content-Length: %d\r\nConnection: close\r\n\r\n%s"
            % (status, HTTPStatus(status).phrase.encode(), len(body), body)
        )
        self._transport.write_eof()
        self._give_up_in(LINGER_SECONDS)

    # -- time --------------------------------------------------------------------------------------

    def _wait(self) -> None:
        if self._giving_up is None:
            self._give_up_in(self._head_seconds)

    def _give_up_in(self, seconds: float) -> None:
        self._giving_up = asyncio.get_running_loop().call_later(seconds, self._transport.close)

    def _stop_waiting(self) -> None:
        if self._giving_up is not None:
            self._giving_up.cancel()
            self._giving_up = None


def _fault(head: bytearray, start: int, end: int, most: int) -> tuple[int, str] | None:
    """Return the error in the lines of a head, which may be incomplete."""
    if BARE_BREAK.search(head, start, end):
        return 400, "a line of the head does not end in CRLF"
    if FOLD.search(head, start, end):
        return 400, "a header is folded over several lines"
    if end > most:
        return 431, f"the head of a request is limited to {most // 1024} KiB"
    return None


def _body_length(head: bytes) -> int:
    """Return the length of the body after a head; raise ValueError if it is ambiguous."""
    lengths: list[bytes] = []
    codings: list[bytes] = []
    for line in head.split(b"\r\n")[1:]:
        name, _, value = line.partition(b":")
        if name.strip().lower() == b"content-length":
            lengths.append(value.strip(b" \t"))
        elif name.strip().lower() == b"transfer-encoding":
            codings.append(value.strip(b" \t").lower())
    if lengths and codings:
        raise ValueError("Content-Length and Transfer-Encoding contradict each other")
    if codings:
        if codings != [b"chunked"]:
            raise ValueError("Transfer-Encoding may be chunked and nothing else")
        return UNTIL_CLOSED
    if not lengths:
        return 0
    if len(lengths) > 1 or LENGTH.fullmatch(lengths[0]) is None:
        raise ValueError("Content-Length must be one number")
    return int(lengths[0])


def _peer(name: object) -> str:
    """Return the peer that a connection counts for: an IPv4 address or an IPv6 /64 network."""
    if not isinstance(name, tuple):
        return ""
    host = str(name[0]).partition("%")[0]
    if ":" in host:
        return str(ipaddress.ip_network((host, 64), strict=False))
    return host
