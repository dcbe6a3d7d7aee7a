"""Addresses of databases: what libpq understands, and what may be shown of it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

from psycopg import ProgrammingError
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from memstore.errors import InvalidArgument
from memstore.text import addresses

if TYPE_CHECKING:
    from collections.abc import Mapping

SCHEME: Final = re.compile(r"postgres(ql)?://", re.IGNORECASE)
"""libpq knows only small letters."""

OURS: Final = ("prepare_threshold", "pool_size")
"""Parameters of a URL that are for this program, not for libpq."""

POOL_SIZE: Final = 32
"""The most connections that a process has to a database whose URL names no ``pool_size``."""

MAX_POOL_SIZE: Final = 1000

NUMBER: Final = re.compile(r"\d+|none", re.IGNORECASE)


class DatabaseAddress:
    """A database, as a URL names it.

    Raises:
        InvalidArgument: libpq cannot read the URL. The error does not quote it: it may hold a
            password.
    """

    def __init__(self, url: str) -> None:
        self.url = url
        """As it was given; it may hold a password, so it is never shown."""
        if addresses.is_ambiguous(url):
            raise InvalidArgument(addresses.AMBIGUOUS, argument="path")
        own, rest = _own_parameters(SCHEME.sub("postgresql://", url, count=1))
        try:
            given: Mapping[str, Any] = conninfo_to_dict(rest)
        except ProgrammingError:
            raise _unreadable() from None
        if not _is_plain(given):
            raise _unreadable()
        self.conninfo = make_conninfo(
            "", **{"application_name": "memstore", "connect_timeout": "10", **given}
        )
        """What connections are opened with; it may hold a password, so it is never shown."""
        self.prepare_threshold = _threshold(own.get("prepare_threshold"))
        """After how many uses a statement is prepared; ``None`` for never, as PgBouncer needs."""
        self.pool_size = _pool_size(own.get("pool_size"))
        """The most connections that a process has to this database."""
        self.shown = _shown(given)
        """The URL without password and parameters, for errors, status and logs."""


def _unreadable() -> InvalidArgument:
    return InvalidArgument(
        "cannot be read as the address of a PostgreSQL database, such as"
        " postgresql://user@host:5432/database",
        argument="path",
    )


def _is_plain(given: Mapping[str, Any]) -> bool:
    """Return whether what is shown of an address is what it is named: no password is in its place.

    An unescaped ``/`` ends the name of the host, and ``user:password/database`` has no other.
    """
    ports = str(given.get("port", "")).split(",")
    hosts = str(given.get("host", "")).split(",")
    name = str(given.get("dbname", ""))
    return (
        all(port.isascii() and port.isdecimal() for port in ports if port)
        and not any("@" in host[1:] for host in hosts)
        and not addresses.resembles_address(name)
    )


def _own_parameters(url: str) -> tuple[dict[str, str], str]:
    """Take the parameters for this program out of a URL."""
    base, mark, query = url.partition("?")
    kept, own = [], {}
    for pair in query.split("&") if mark else ():
        name, _, value = pair.partition("=")
        if name in OURS:
            own[name] = value
        else:
            kept.append(pair)
    return own, f"{base}?{'&'.join(kept)}" if kept else base


def _threshold(text: str | None) -> int | None:
    if text is None:
        return 1
    if not NUMBER.fullmatch(text):
        raise InvalidArgument("prepare_threshold must be a number or none", argument="path")
    return None if text.lower() == "none" else int(text)


def _pool_size(text: str | None) -> int:
    if text is None:
        return POOL_SIZE
    if not re.fullmatch(r"[1-9]\d{0,3}", text, re.ASCII) or int(text) > MAX_POOL_SIZE:
        raise InvalidArgument(
            f"pool_size must be a number from 1 to {MAX_POOL_SIZE}", argument="path"
        )
    return int(text)


def _shown(given: Mapping[str, Any]) -> str:
    user = f"{quote(str(given['user']), safe='')}@" if given.get("user") else ""
    host = quote(str(given.get("host", "")), safe=".:,-[]")
    port = f":{given['port']}" if given.get("port") else ""
    service = f"?service={given['service']}" if given.get("service") else ""
    return f"postgresql://{user}{host}{port}/{given.get('dbname') or ''}{service}"
