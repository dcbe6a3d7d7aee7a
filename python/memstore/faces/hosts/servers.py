"""The servers that hosts of this user were set up with, and their tokens.

They are in ``servers.json`` beside the user's memories, which nobody else may read: so a token is
in no command line, and in the settings of a host only if the host has no other way.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

from memstore import settings
from memstore.errors import MemstoreError
from memstore.lazy import lazy_import

if TYPE_CHECKING:
    import pathlib
    from collections.abc import Iterable

    from memstore.faces.hosts import files
else:  # a hook only reads
    files = lazy_import("memstore.faces.hosts.files")
    pathlib = lazy_import("pathlib")


class NoToken(MemstoreError):
    """There is no token for a server."""


def token(url: str) -> str:
    """Return the token for a server.

    Raises:
        NoToken: there is none.
    """
    found = known().get(url)
    if found is None:
        raise NoToken(f"there is no token for {url}: run memstore setup --server {url}")
    return found


def headers(url: str) -> dict[str, str]:
    """Return the header that a host sends to a server with each request."""
    return {"Authorization": f"Bearer {token(url)}"}


def known() -> dict[str, str]:
    """Return the tokens by the addresses of their servers."""
    try:
        with open(_file(), "rb") as file:
            stored = json.load(file)["servers"]
        return {str(url): str(one["token"]) for url, one in stored.items()}
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, LookupError, TypeError, AttributeError) as error:
        raise NoToken(f"{_file()!r} cannot be read: {error}") from None


def keep(url: str, secret: str) -> None:
    """Keep the token of a server."""
    _write(known() | {url: secret})


def forget_all_but(urls: Iterable[str]) -> None:
    """Forget the tokens of servers that no host uses any more."""
    wanted = set(urls)
    stored = known()
    if left := stored.keys() - wanted:
        _write({url: secret for url, secret in stored.items() if url not in left})


def _write(tokens: dict[str, str]) -> None:
    file = pathlib.Path(_file())
    text = None
    if tokens:
        stored: dict[str, Any] = {url: {"token": secret} for url, secret in tokens.items()}
        text = json.dumps({"servers": stored}, indent=2) + "\n"
    there = files.read(file)
    if text != there:
        files.write(file, text, over=there, private=True)


def _file() -> str:
    return os.path.join(settings.data_folder(), "servers.json")
