"""The record of what ``setup`` changed: ``setup.json``, beside the user's memories.

A change is recorded before it is made, so that what a killed process did can be undone. One process
at a time changes settings; a file with a lock, which exists only meanwhile, sees to that.
"""

from __future__ import annotations

import json
import os
import sys
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from memstore import settings
from memstore.domain import clock
from memstore.domain.arguments import why_no_json
from memstore.faces.hosts import files, locking
from memstore.faces.hosts.edits import AppliedEdit, ChangedFile
from memstore.faces.hosts.files import SettingsUnreadable

if TYPE_CHECKING:
    from collections.abc import Iterator

PATIENCE_SECONDS: Final = 120
"""A host's own command may take a minute."""
PAUSE_SECONDS: Final = 0.05


@dataclass
class HostCommand:
    """What was registered by the host's own command."""

    ours: list[Any]
    """The entries that are ours; several only if a change was interrupted."""
    before: Any
    """The entry that was there."""


@dataclass
class Done:
    """The changes made for a host, for the user or for one project."""

    host: str
    project: str | None = None
    files: list[ChangedFile] = field(default_factory=list)
    command: HostCommand | None = None
    memory: dict[str, str] | None = None
    """The settings of the memory that its hooks write to, or ``server``: its address."""


def everything() -> list[Done]:
    """Return the recorded changes of every host and project."""
    try:
        return [_done(one) for one in _contents()["hosts"]]
    except (TypeError, KeyError) as error:
        raise SettingsUnreadable(f"{str(_file())!r} cannot be read: {error}") from None


def of(host: str, project: Path | None) -> Done:
    """Return what was done for a host, which may be nothing."""
    name = str(project) if project else None
    for one in everything():
        if (one.host, one.project) == (host, name):
            return one
    return Done(host, name)


class SetupRecord:
    """The record, while no other process may change it."""

    def __init__(self, folders: list[str]) -> None:
        self._folders = folders
        """The folders that were created for it."""

    def keep(self, done: Done) -> None:
        """Record what was done for a host."""
        hosts = [x for x in everything() if (x.host, x.project) != (done.host, done.project)]
        if done.files or done.command is not None:
            hosts.append(done)
        text = None
        if hosts:
            held = {"hosts": [asdict(one) for one in hosts], "folders": self._folders}
            text = json.dumps(held, indent=2, ensure_ascii=False) + "\n"
        there = files.read(_file())
        if text != there:
            files.write(_file(), text, over=there)


@contextmanager
def locked() -> Iterator[SetupRecord]:
    """Let no other process change settings or the record.

    Raises:
        SettingsUnreadable: another one has been doing so for two minutes.
    """
    created = files.missing_folders(_file())
    lock = _file().with_suffix(".lock")
    with _lock(lock):
        files.sweep(_file())
        folders = _contents().get("folders", created)
        yield SetupRecord(folders)
        keep_folders = _file().exists()
    if not keep_folders:
        files.remove_folders(folders, _file())


def tidy() -> None:
    """Remove what was left by a process that was killed before it recorded anything."""
    if _file().parent.exists():
        with locked():
            pass


@contextmanager
def _lock(file: Path) -> Iterator[None]:
    handle = _taken(file)
    try:
        yield
    finally:
        if sys.platform == "win32":
            os.close(handle)  # first: a file that is open cannot be removed
        with suppress(OSError):
            file.unlink()
        if sys.platform != "win32":
            os.close(handle)


def _taken(file: Path) -> int:
    """Return a descriptor of a file that nobody else has locked."""
    end = clock.monotonic() + PATIENCE_SECONDS
    while True:
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            handle = os.open(file, os.O_RDWR | os.O_CREAT, 0o600)
        except FileNotFoundError:  # whoever had the lock removed the folder
            continue
        except OSError as error:
            raise SettingsUnreadable(f"{str(file)!r} cannot be opened: {error.strerror}") from None
        if locking.try_lock(handle) and _is_at(handle, file):
            return handle
        os.close(handle)
        if clock.monotonic() > end:
            raise SettingsUnreadable(f"another setup has held {str(file)!r} for too long")
        clock.sleep(PAUSE_SECONDS)


def _is_at(handle: int, file: Path) -> bool:
    """Return whether a file is still the one at its path; whoever had the lock removed it."""
    try:
        return os.path.samestat(os.fstat(handle), file.stat())
    except OSError:
        return False


def _contents() -> dict[str, Any]:
    text = files.read(_file())
    if text is None:
        return {"hosts": []}
    try:
        return dict(json.loads(text))
    except (ValueError, TypeError, RecursionError) as error:
        why = why_no_json(error) if not isinstance(error, TypeError) else error
        raise SettingsUnreadable(f"{str(_file())!r} cannot be read: {why}") from None


def _done(contents: dict[str, Any]) -> Done:
    changed = [
        ChangedFile(
            one["file"],
            [[AppliedEdit(**made) for made in state] for state in one["states"]],
            one["created"],
            one["folders"],
        )
        for one in contents["files"]
    ]
    command = contents["command"]
    return Done(
        contents["host"],
        contents["project"],
        changed,
        HostCommand(**command) if command else None,
        contents.get("memory"),
    )


def _file() -> Path:
    return Path(settings.data_folder(), "setup.json")
