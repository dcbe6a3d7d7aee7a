"""Checks of paths: files are accepted, URLs are not, except for those of a PostgreSQL server."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Final

from memstore.domain.arguments import MAX_NUMBER, checked_text
from memstore.errors import InvalidArgument, Remedy
from memstore.lazy import lazy_import

if TYPE_CHECKING:
    from typing import TypeGuard
    from urllib import parse
else:
    parse = lazy_import("urllib.parse")


SERVER: Final = re.compile(r"postgres(ql)?://", re.IGNORECASE)

PASSWORD: Final = re.compile(r"^([^:]+://[^:/@]*):[^/@]*(?=@)")
"""Where libpq takes a password from, after a user's name."""

SECRETS: Final = frozenset(
    {"password", "sslpassword", "oauth_client_secret", "scram_client_key", "scram_server_key"}
)
"""libpq's parameters that nobody may see."""


def is_server(path: str | os.PathLike[str] | None) -> TypeGuard[str]:
    """Whether a path is the URL of a PostgreSQL database."""
    return isinstance(path, str) and SERVER.match(path) is not None


def without_secrets(url: str) -> str:
    """Return the URL of a database without passwords and keys, so that it can be shown."""
    base, mark, query = PASSWORD.sub(r"\1", url).partition("?")
    kept = [one for one in query.split("&") if parse.unquote(one.partition("=")[0]) not in SECRETS]
    return f"{base}{mark}{'&'.join(kept)}" if kept else base


def file_at(path: str | os.PathLike[str], name: str = "path") -> str:
    """Return a path that may name a file; ``~`` is expanded.

    Raises:
        InvalidArgument: a URL of any scheme, or a name that the system refuses.
        InvalidArgumentType: not a path.
    """
    given = os.fspath(path) if isinstance(path, os.PathLike) else path
    text = checked_text(given, name, MAX_NUMBER)
    # A Path has one slash, or the system's separator, for two, and SQLite's own "file:" has none.
    # A single letter is a drive.
    slashes = "//" if isinstance(path, str) else f"[/{re.escape(os.sep)}]"
    scheme = f"(file(?=:)|[a-z][a-z0-9+.-]+(?=:{slashes}))"
    if ":" in text and (url := re.match(scheme, text, re.IGNORECASE)):
        if is_server(text):
            raise InvalidArgument(
                "is a database on a server, and a file is needed here",
                argument=name,
                remedy=Remedy.NAME_FILE,
            )
        raise InvalidArgument(
            f"is a URL with the scheme {url[1].lower()!r}, and only files and postgresql:// can "
            "be opened",
            argument=name,
            remedy=Remedy.NAME_FILE,
        )
    file = os.path.expanduser(text)
    if file[0] == "~":
        raise _unusable("could not determine home directory", name)
    try:
        os.stat(file)
    except (FileNotFoundError, NotADirectoryError):
        pass
    except OSError as error:  # for example, the name is too long
        raise _unusable(error.strerror, name) from None
    return file


def _unusable(reason: str | None, name: str) -> InvalidArgument:
    return InvalidArgument(f"cannot be used: {reason}", argument=name, remedy=Remedy.NAME_FILE)
