"""Addresses of servers: which texts are meant as one, and what may be shown of them.

Whoever mistypes an address has written a password in it all the same. What looks like an address is
therefore neither quoted nor taken for the name of a file.
"""

from __future__ import annotations

import re
from typing import Final

from memstore.lazy import lazy_pattern

SECRETS: Final = frozenset(
    {"password", "sslpassword", "oauth_client_secret", "scram_client_key", "scram_server_key"}
)
"""libpq's parameters that nobody may see."""

CREDENTIALS: Final = lazy_pattern(r"[^/@]*@")
"""What libpq takes for a name and a password, after the scheme."""

DRIVE: Final = lazy_pattern(r"[a-z]:[/\\]", re.IGNORECASE)

KEYWORD: Final = lazy_pattern(
    r"\s*(host|hostaddr|port|dbname|user|password|passfile|service|servicefile|sslmode"
    r"|sslpassword|sslkey|sslcert|sslrootcert|application_name|options|connect_timeout)\s*=",
    re.IGNORECASE,
)
"""How an address in libpq's other form begins: ``host=… dbname=…``."""

SECRET: Final = lazy_pattern(
    rf"(?:^|[\s?&;,'\"])(?:{'|'.join(sorted(SECRETS))}|passwd|pwd)\s*=", re.IGNORECASE
)

MISTYPED: Final = lazy_pattern(
    r"[^/@:]*:[^@]*@"  # ana:secret@host/db, postgresl:/ana:secret@host
    r"|[^/@]*//[^/@]*:[^@]*@"  # //ana:secret@host, postgresql//ana:secret@host
    r"|['\"<(\s]*postg\w*\W[^@]*:[^@]*@"  # postgresql/ana:secret@host
    r"|['\"<(\s]*postgres(ql)?:",  # postgresql:ana@host
    re.IGNORECASE,
)

FILE: Final = lazy_pattern(r"[^/\\\s]+\.(db|sqlite3?)", re.IGNORECASE)
"""A name that is a file's, whatever signs are in it."""

AMBIGUOUS: Final = (
    "has an @ or a / in its name or password that is not escaped: write %40 for @ and %2F for /"
)

MASKED: Final = (
    lazy_pattern(r"([\w+.-]+:/{0,3}[^\s/:@'\"]*):\S*@"),
    lazy_pattern(r"(\b[\w.%+-]+):(?!/)\S*@"),
    lazy_pattern(rf"(\b(?:{'|'.join(sorted(SECRETS))})\s*=\s*)('[^']*'|[^\s&'\"]+)", re.IGNORECASE),
)


def is_ambiguous(url: str) -> bool:
    """Return whether a database's URL has an ``@`` where libpq does not take it as its user does.

    libpq ends the name and the password at the first ``@``, and has none of them after a ``/``: the
    rest of a password with one of these would be the host or the database, which are shown.
    """
    rest = url.partition("://")[2]
    credentials = CREDENTIALS.match(rest)
    place, _, query = (rest[credentials.end() :] if credentials else rest).partition("?")
    return "@" in place or any("@" in one.partition("=")[0] for one in query.split("&"))


def resembles_address(name: str) -> bool:
    """Return whether the name of a file is rather a mistyped address of a server.

    Any file can still be named: by its whole path, or with ``./`` before it.
    """
    if DRIVE.match(name):
        return False
    head, slashes, _ = name.partition("://")
    if slashes and not any(sign in head for sign in "/\\"):
        return True
    is_whole = name.startswith(("./", "../", ".\\", "..\\", "~", "/", "\\"))
    if is_whole and not name.startswith("//"):
        return False
    if SECRET.search(name):
        return True
    if FILE.fullmatch(name):
        return False
    return KEYWORD.match(name) is not None or MISTYPED.match(name) is not None


def has_secret(name: str) -> bool:
    """Return whether a text has a password by name, as in ``password=…``."""
    return SECRET.search(name) is not None


def masked(text: str) -> str:
    """Return a text about a command's words without the passwords of addresses among them."""
    if not any(sign in text for sign in "@="):
        return text
    for pattern in MASKED:
        text = pattern.sub(r"\1:…@" if pattern is not MASKED[2] else r"\1…", text)
    return text
