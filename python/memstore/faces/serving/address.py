"""The server's address, the host names it accepts, and whether other machines can reach it."""

from __future__ import annotations

import errno
import os
import re
import socket
from typing import TYPE_CHECKING, Final

from memstore.frozen import frozen
from memstore.named import NamedTuple
from memstore.plain_http import is_local

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

WAITING_CONNECTIONS: Final = 512

HTTP_PORT: Final = 80
HTTPS_PORT: Final = 443

NAMED: Final = re.compile(r"(?P<host>\[[0-9a-fA-F:.]+\]|[^\s\[\]:/@?#,]+)(?::(?P<port>\d{1,5}))?")
"""A host with or without a port, as in a URL and in the header ``Host``."""

ORIGIN: Final = re.compile(r"https?://(?P<rest>[^\s/]+)", re.IGNORECASE)


class Address(NamedTuple):
    """A host and a port; an IPv6 address has no brackets here."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


def read_address(text: str, flag: str = "--http") -> Address:
    """Read ``HOST:PORT``; port 0 lets the system choose one. Errors name the flag."""
    found = NAMED.fullmatch(text.strip())
    if found is None or found["port"] is None or int(found["port"]) > 65535:
        raise ValueError(
            f"{flag}: {text!r} is not HOST:PORT: give one such as 127.0.0.1:8765, or "
            "[::1]:8765 for IPv6"
        )
    return Address(found["host"].strip("[]"), int(found["port"]))


def listen(address: Address) -> list[socket.socket]:
    """Open a listening socket for each IP address of a host name on this machine."""
    try:
        found = socket.getaddrinfo(
            address.host, address.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )
    except OSError as error:
        raise OSError(f"cannot listen on {address}: {error.strerror or error}") from error
    sockets: list[socket.socket] = []
    port = address.port
    try:
        for family, _, _, _, where in dict.fromkeys(found):
            try:
                sockets.append(_bound(family, (where[0], port, *where[2:])))
            except OSError as error:
                # localhost may stand for ::1 on a machine without IPv6
                if error.errno not in (errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT):
                    raise
                trouble = error
                continue
            port = sockets[0].getsockname()[1]  # if the system chose it, the others use it too
        if not sockets:
            raise trouble
    except OSError as error:
        for opened in sockets:
            opened.close()
        hint = "; another program has the port" if error.errno == errno.EADDRINUSE else ""
        raise OSError(
            f"cannot listen on {address}: {error.strerror or error}{hint}: choose another one"
        ) from error
    return sockets


def _bound(family: int, where: tuple[object, ...]) -> socket.socket:
    # With the protocol named: otherwise asyncio does not recognise TCP and leaves Nagle's algorithm
    # on, and each answer waits 40 ms for the acknowledgement of its headers.
    opened = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        if os.name == "posix":
            # A server that has just ended must not block the port for the next one.
            opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            opened.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        opened.bind(where)
        opened.listen(WAITING_CONNECTIONS)
    except OSError:
        opened.close()
        raise
    return opened


@frozen
class AcceptedNames:
    """The host names the server accepts, and the web origins that may call it.

    A foreign web page can point its own name at this machine (DNS rebinding). The browser then
    sends that name as ``Host``, which is not among these.
    """

    hosts: frozenset[str]
    """Each with a port, or for any."""
    origins: frozenset[str]
    """As browsers send them, such as ``https://app.example.com``."""

    @classmethod
    def of(cls, bound: str, hosts: Iterable[str], origins: Iterable[str]) -> AcceptedNames:
        """Return the names of a server: this machine's own, the bound one, and the allowed ones."""
        for host in hosts:
            if NAMED.fullmatch(host) is None:
                raise ValueError(
                    f"--allow-host {host!r} is not a name: give one such as memory.example.com, or "
                    "memory.example.com:8443 for one port alone"
                )
        for origin in origins:
            found = ORIGIN.fullmatch(origin)
            if found is None or NAMED.fullmatch(found["rest"]) is None:
                raise ValueError(
                    f"--allow-origin {origin!r} is not an origin: give one such as "
                    "https://app.example.com, without a path"
                )
        own = f"[{bound}]" if ":" in bound else bound
        return cls(
            frozenset(name.lower() for name in (own, *hosts)),
            frozenset(origin.lower() for origin in origins),
        )

    @property
    def local(self) -> bool:
        """Whether every name is this machine's own, so that no other machine is served."""
        pages = (origin.partition("://")[2] for origin in self.origins)
        return all(_is_local(_split(name)[0]) for name in (*self.hosts, *pages))

    def know_host(self, host: str | None) -> bool:
        name, port = _split((host or "").lower())
        return bool(name) and (
            _is_local(name) or name in self.hosts or f"{name}:{port}" in self.hosts
        )

    def are_site(self, host: str | None, ports: Collection[int]) -> bool:
        """Whether ``Host`` names this server with its port, as pages need: cookies ignore ports.

        Args:
            host: the header.
            ports: those that the server listens on. The name of another machine that was allowed
                without a port may also have the usual one of HTTP or HTTPS, for a proxy.
        """
        name, port = _split((host or "").lower())
        if f"{name}:{port}" in self.hosts:
            return True
        number = int(port or HTTP_PORT)
        if _is_local(name):
            return number in ports
        return name in self.hosts and (not port or number in (*ports, HTTP_PORT, HTTPS_PORT))

    def know_origin(self, origin: str | None) -> bool:
        """Whether a page of this origin may call; programs send no ``Origin``."""
        if origin is None or origin.lower() in self.origins:
            return True
        found = ORIGIN.fullmatch(origin)
        return found is not None and self.know_host(found["rest"])


def reachable(sockets: Iterable[socket.socket]) -> bool:
    return not all(_is_local(opened.getsockname()[0]) for opened in sockets)


def _split(host: str) -> tuple[str, str]:
    found = NAMED.fullmatch(host)
    return ("", "") if found is None else (found["host"], found["port"] or "")


def _is_local(name: str) -> bool:
    return is_local(name.strip("[]"))
