"""Checks of paths: files are accepted, URLs are not, except for those of a PostgreSQL server."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Final

from memstore.domain.arguments import MAX_NUMBER, checked_text
from memstore.errors import InvalidArgument, Remedy
from memstore.lazy import lazy_import, lazy_pattern

if TYPE_CHECKING:
    from typing import TypeGuard
    from urllib import parse

    from memstore.text import addresses
else:  # few names look like an address
    parse = lazy_import("urllib.parse")
    addresses = lazy_import("memstore.text.addresses")


SERVER: Final = re.compile(r"postgres(ql)?://", re.IGNORECASE)

PASSWORD: Final = lazy_pattern(r"^([^:]+://[^:/@]*):[^/@]*(?=@)")
"""Where libpq takes a password from, after a user's name."""


def is_server(path: str | os.PathLike[str] | None) -> TypeGuard[str]:
    """Whether a path is the URL of a PostgreSQL database."""
    return isinstance(path, str) and SERVER.match(path) is not None


def without_secrets(url: str) -> str:
    """Return the URL of a database without passwords and keys, so that it can be shown."""
    if addresses.is_ambiguous(url):
        return f"{url.partition('://')[0]}://…"
    base, mark, query = PASSWORD.sub(r"\1", url).partition("?")
    kept = [one for one in query.split("&") if _is_shown(*one.partition("=")[::2])]
    return f"{base}{mark}{'&'.join(kept)}" if kept else base


def _is_shown(name: str, value: str) -> bool:
    """Return whether a parameter may be shown; an ``@`` may be the end of a password."""
    named = parse.unquote(name)
    return named not in addresses.SECRETS and ("@" not in value or named == "user")


def check_place(path: str) -> None:
    """Check that what names a memory is a file or the address of a database, without opening it.

    The error quotes nothing, because there may be a password in it.

    Raises:
        InvalidArgument: it is neither, or its password is not set apart.
    """
    if not is_server(path):
        _check_name(path, path, "path")
    elif addresses.is_ambiguous(path):
        raise InvalidArgument(addresses.AMBIGUOUS, argument="path")


def _check_name(path: str | os.PathLike[str], text: str, name: str) -> None:
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
    if not any(sign in text for sign in ":@=") or not addresses.resembles_address(text):
        return
    if addresses.has_secret(text) or "://" in text or not os.path.lexists(text):
        raise InvalidArgument(
            "looks like the address of a server, which must begin with postgresql://; a file of "
            "such a name is named by its whole path",
            argument=name,
            remedy=Remedy.NAME_FILE,
        )


def file_at(path: str | os.PathLike[str], name: str = "path") -> str:
    """Return a path that may name a file; ``~`` is expanded.

    Raises:
        InvalidArgument: a URL of any scheme, what looks like the address of a server, or a name
            that the system refuses.
        InvalidArgumentType: not a path.
    """
    given = os.fspath(path) if isinstance(path, os.PathLike) else path
    text = checked_text(given, name, MAX_NUMBER)
    _check_name(path, text, name)
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


def mount_of(path: str) -> str:
    """Return the folder at which the disk of a path is mounted, whether or not the path exists."""
    place = os.path.realpath(path)
    while not os.path.ismount(place):
        place = os.path.dirname(place)
    return place


def has_own_disk(path: str) -> bool:
    """Whether a path is on another disk than the root."""
    place = mount_of(path)
    return place != os.path.dirname(place)


def _unusable(reason: str | None, name: str) -> InvalidArgument:
    return InvalidArgument(f"cannot be used: {reason}", argument=name, remedy=Remedy.NAME_FILE)
