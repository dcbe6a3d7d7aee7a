"""Which repository a folder is of, so that a project is the same project on several machines.

A repository is known by a hash of its first commit and of its remote's address: clones of one have
both in common, whatever their folders are called, and a fork has another remote. Where memories are
synced, a file beside them says which namespaces of other devices are of which repository. Without
that file nothing is asked of git.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from memstore import settings
from memstore.lazy import lazy_import

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Mapping
else:  # only a folder that was never looked at needs git
    subprocess = lazy_import("subprocess")

SECONDS: Final = 5.0
"""How long git may take."""

MAX_BYTES: Final = 4 * 2**20

MAX_FOLDERS: Final = 2_000
"""How many folders are remembered."""

SCHEME: Final = re.compile(
    r"^[a-z][a-z0-9+.-]*://(?:[^/@]*@)?(?P<host>[^/:]+)(?::\d+)?/+(?P<path>.*)$"
)
HOST_AND_PATH: Final = re.compile(r"^(?:[^/@:]*@)?(?P<host>[^/:]{2,}):/*(?P<path>[^/].*)$")


def namespace_of(folder: Path) -> str | None:
    """Return the namespace that other devices use for the repository of a folder, if any does."""
    kept = _kept()
    carried = kept.get("namespaces")
    if not isinstance(carried, dict) or not carried:
        return None
    identity = known_identity(folder, kept)
    named = carried.get(identity) if identity else None
    return named if isinstance(named, str) else None


def known_identity(folder: Path, kept: dict[str, Any] | None = None) -> str | None:
    """Return what a folder's repository is known by; git is asked once for each folder."""
    kept = _kept() if kept is None else kept
    folders = kept.setdefault("folders", {})
    place = str(folder)
    if place not in folders:
        folders[place] = identity_of(folder) or ""
        while len(folders) > MAX_FOLDERS:
            folders.pop(next(iter(folders)))
        with suppress(OSError):
            _write(kept)
    found = folders[place]
    return found if isinstance(found, str) and found else None


def remember(namespaces: Mapping[str, str]) -> None:
    """Keep which namespace is used for a repository here, by what the repository is known by."""
    kept = _kept()
    if kept.get("namespaces") != dict(namespaces):
        _write({**kept, "namespaces": dict(namespaces)})


def identity_of(folder: Path) -> str | None:
    """Return what the repository of a folder is known by.

    ``None`` if it is none, has no commit yet, or is a shallow clone, whose first commit is unknown.
    """
    if _git(folder, "rev-parse", "--is-shallow-repository") != "false":
        return None
    firsts = _git(folder, "rev-list", "--max-parents=0", "HEAD")
    if not firsts:
        return None
    remote = _git(folder, "config", "--get", "remote.origin.url") or ""
    known_by = f"{firsts.split()[-1]}\n{plain_address(remote)}"
    return hashlib.sha256(known_by.encode()).hexdigest()[:32]


def plain_address(remote: str) -> str:
    """Return the address of a remote without what differs between ways to reach it."""
    found = SCHEME.match(remote) or HOST_AND_PATH.match(remote)
    plain = f"{found['host'].lower()}/{found['path']}" if found else remote
    return plain.rstrip("/").removesuffix(".git")


def _git(folder: Path, *arguments: str) -> str | None:
    environment = {
        name: value
        for name, value in settings.environment().items()
        if name not in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR")
    }
    with suppress(OSError, subprocess.SubprocessError):
        done = subprocess.run(
            ["git", "-C", str(folder), *arguments],
            env=environment | {"GIT_TERMINAL_PROMPT": "0", "GIT_NO_LAZY_FETCH": "1"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=SECONDS,
            check=False,
        )
        if done.returncode == 0:
            return done.stdout.decode("utf-8", "replace").strip()
    return None


def _kept() -> dict[str, Any]:
    """Return what the file holds; nothing if it cannot be read, since it can be made again."""
    with suppress(OSError, ValueError, RecursionError):
        file = Path(settings.repositories_file())
        if file.stat().st_size <= MAX_BYTES:
            kept = json.loads(file.read_bytes())
            if isinstance(kept, dict) and isinstance(kept.get("folders", {}), dict):
                return kept
    return {}


def _write(kept: Mapping[str, Any]) -> None:
    file = Path(settings.repositories_file())
    file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    new = file.with_name(f".{file.name}.{os.getpid()}")
    new.write_text(json.dumps(kept, indent=1), encoding="utf-8")
    new.replace(file)
