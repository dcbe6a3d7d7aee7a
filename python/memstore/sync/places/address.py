"""Which kind of place an address names."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from memstore import settings
from memstore.errors import InvalidArgument, Remedy, SyncError
from memstore.lazy import lazy_import
from memstore.projects import repository_of

if TYPE_CHECKING:
    from memstore.sync.places import Place, folder, git, server
else:
    folder = lazy_import("memstore.sync.places.folder")
    git = lazy_import("memstore.sync.places.git")
    server = lazy_import("memstore.sync.places.server")

Kind: TypeAlias = Literal["folder", "git", "server"]

URL: Final = re.compile(r"(?P<scheme>[a-z][a-z0-9+.-]+)://", re.IGNORECASE)

PASSWORD: Final = re.compile(r"[a-z][a-z0-9+.-]+://(?:[^/@]*:[^/@]*|[^/@]{20,})@", re.IGNORECASE)
"""A password before the name of a host, or a token in the place of a name."""

OF_WINDOWS: Final = re.compile(r"[a-z]:[/\\]|\\\\", re.IGNORECASE)
"""How a path with a drive or a share begins."""

HELPER: Final = re.compile(r"[a-z][\w+.-]*::", re.IGNORECASE)
"""How git is told to run a program for an address, such as ``ext::``."""

HOST_AND_PATH: Final = re.compile(r"(?:[\w.-]+@[\w.-]+|[\w-]+(?:\.[\w-]+)+):(?![/\\]{2})\S+")
"""As ssh and git take it: ``git@host:me/memory.git``, ``host.example:memory.git``."""

GIT: Final = "git+"
"""Before an ``https://`` address that does not end with ``.git``, and is git's all the same."""


def kind_of(address: str) -> Kind:
    """Return what kind of place an address names.

    Raises:
        InvalidArgument: none.
    """
    if not address.strip() or address[0] == "-" or "\0" in address or HELPER.match(address):
        raise InvalidArgument("names no place", argument="place", remedy=Remedy.NAME_PLACE)
    if PASSWORD.match(address):
        raise InvalidArgument(
            "has a password or a token, which other users of this machine would see while git runs",
            argument="place",
            remedy=Remedy.KEEP_CREDENTIALS,
        )
    if (found := URL.match(address)) is not None:
        scheme = found["scheme"].lower()
        if scheme in ("ssh", "git", "file") or scheme.startswith(GIT):
            return "git"
        if scheme in ("http", "https"):
            return "git" if address.rstrip("/").endswith(".git") else "server"
        raise InvalidArgument(
            f"has the scheme {scheme!r}, which is no place", argument="place",
            remedy=Remedy.NAME_PLACE,
        )  # fmt: skip
    path = Path(os.path.expanduser(address))
    if address[0] == "~" and str(path)[0] == "~":
        raise InvalidArgument(
            "is in the home of a user who is not there",
            argument="place",
            remedy=Remedy.NAME_PLACE,
        )
    if not path.exists():
        is_bare = address.rstrip("/").endswith(".git")  # such as one on a share that is away
        return "git" if is_bare or HOST_AND_PATH.fullmatch(address) else "folder"
    return (
        "git" if all((path / name).exists() for name in ("HEAD", "objects", "refs")) else "folder"
    )


def place_at(
    address: str,
    *,
    state: str | os.PathLike[str],
    token: str | None = None,
    asks: bool = False,
    may_be_shared: bool = False,
    refill: bool = False,
) -> Place:
    """Return the place at an address; nothing is read or written yet.

    Args:
        state: a folder of this file of memories, for the clone of a git repository, and for what
            is remembered of a folder.
        token: for a server.
        asks: whether git may ask for a password; a background process has nobody to ask.
        may_be_shared: whether a project's own repository is taken all the same.
        refill: whether a folder is filled that is empty, and on another file system than before.

    Raises:
        InvalidArgument: it is the address of no place.
        SyncError: the folder is in the repository of a project.
    """
    kind = kind_of(address)
    if kind == "server":
        if not token:
            raise InvalidArgument("is missing: a server needs one", argument="token")
        return server.ServerPlace(address, token)
    if kind == "git":
        remote = address.removeprefix(GIT)
        if not URL.match(remote) and Path(os.path.expanduser(remote)).exists():
            remote = os.path.abspath(os.path.expanduser(remote))
        clone = Path(state, "clone")
        return git.GitPlace(remote, clone, asks=asks, may_be_shared=may_be_shared)
    if os.name == "posix" and OF_WINDOWS.match(address.removeprefix(f"{os.getcwd()}/")):
        raise InvalidArgument(
            "is a path of Windows, which is no folder here",
            argument="place",
            remedy=Remedy.NAME_PLACE,
        )
    if _is_own(address):
        raise SyncError(
            f"{address!r} is where memstore itself keeps its files", remedy=Remedy.NAME_PLACE
        )
    if not may_be_shared and (around := repository_of(address)) is not None:
        raise SyncError(
            f"{address!r} is in the repository {str(around)!r}: memories would be sent with it",
            remedy=Remedy.OWN_PLACE,
        )
    return folder.FolderPlace(address, state=Path(state), refill=refill)


def _is_own(folder: str) -> bool:
    """Return whether a folder is the one of memories and settings, or in it."""
    place = os.path.realpath(os.path.expanduser(folder))
    own = os.path.realpath(settings.data_folder())
    return place == own or place.startswith(f"{own}{os.sep}")
