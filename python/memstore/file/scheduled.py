"""Scheduled backups; the newest are kept."""

from __future__ import annotations

import re
import threading
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Final

from memstore.database.engine import PART
from memstore.domain import clock
from memstore.domain.arguments import MAX_NUMBER, checked_number, checked_real
from memstore.embedding.leases import Lease
from memstore.errors import Reason, StorageError

if TYPE_CHECKING:
    from collections.abc import Callable

    from memstore.database.engine import Engine

JOB: Final = "backup"
"""The name of the lease that lets one process at a time make a file's backups."""

MIN_SECONDS: Final = 60.0
MAX_SECONDS: Final = 366 * 86_400.0
RETRY_SECONDS: Final = 60.0
"""The pause after a failed backup."""

TIME: Final = "%Y%m%dT%H%M%SZ"


def usual_folder(path: str) -> Path:
    """Return where the scheduled backups of a file are, if no other folder was named."""
    return Path(f"{path}.backups")


def name_of_backups(path: str) -> re.Pattern[str]:
    """Return the form of the names of a file's scheduled backups; group 1 is their time."""
    return re.compile(rf"{re.escape(Path(path).stem)}-(\d{{8}}T\d{{6}}Z)\.db")


class ScheduledBackups:
    """Makes a backup whenever the newest one is old enough, and removes the oldest ones.

    Args:
        engine: the engine of the database to copy.
        every_seconds: the age of the newest backup at which another is made.
        keep: how many backups to keep; only files with names of this form are removed, and only
            if they are backups of this memory: another one may use the same folder.
        folder: where to put them; beside the file by default.
        tell: called with the path of each backup, or with the reason for a failure.
    """

    def __init__(
        self,
        engine: Engine,
        every_seconds: float,
        keep: int,
        folder: Path | None = None,
        *,
        tell: Callable[[Path | Reason], object] = lambda _: None,
    ) -> None:
        checked_real(every_seconds, "every_seconds", MIN_SECONDS, MAX_SECONDS)
        checked_number(keep, "keep", 1, MAX_NUMBER)
        self._engine = engine
        self._every = timedelta(seconds=every_seconds)
        self._keep = keep
        self._folder = usual_folder(engine.path) if folder is None else folder
        self._stem = Path(engine.path).stem
        self._name = name_of_backups(engine.path)
        self._tell = tell
        self._looked_at: dict[tuple[str, int, int, int], bool] = {}
        """Which files are backups of this memory, by their names and states."""
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self.run, name="memstore-backups", daemon=True)

    @property
    def folder(self) -> Path:
        return self._folder

    def start(self) -> None:
        self._thread.start()

    def stop(self, wait_seconds: float) -> None:
        """Stop, and wait for a backup in progress."""
        self._ended.set()
        if self._thread.is_alive():
            self._thread.join(timeout=wait_seconds)

    def run(self) -> None:
        """Make backups in this thread until another thread calls :meth:`stop`."""
        while not self._ended.is_set():
            try:
                pause = self._once()
            except (StorageError, OSError) as error:
                self._tell(Reason.of(error))
                pause = RETRY_SECONDS
            clock.wait(self._ended, pause)

    def _once(self) -> float:
        """Make a backup if one is due, and return the seconds until the next one."""
        if self._due_in() <= 0:
            lease = Lease(self._engine, JOB)
            with lease:
                if not lease.is_held:
                    return RETRY_SECONDS
                if self._due_in() <= 0:  # no other process made it in the meantime
                    self._tell(self._make())
        return max(self._due_in(), 0.0)

    def _due_in(self) -> float:
        now = clock.utc_now()
        # Ignore backups from the future, which a wrong clock made.
        times = [at for at in self._existing() if at <= now]
        return (max(times) + self._every - now).total_seconds() if times else 0.0

    def _make(self) -> Path:
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        for part in self._folder.glob(f"*{PART}"):
            if self._name.fullmatch(part.name.removesuffix(PART)):
                self._engine.remove_unfinished_backup(part)
        backup = self._folder / f"{self._stem}-{clock.utc_now():{TIME}}.db"
        self._engine.backup(backup)
        for _, old in sorted(self._existing().items())[: -self._keep]:
            old.unlink()
        return backup

    def _existing(self) -> dict[datetime, Path]:
        found: dict[datetime, Path] = {}
        if self._folder.is_dir():
            for file in self._folder.iterdir():
                if (name := self._name.fullmatch(file.name)) and self._is_ours(file):
                    with suppress(ValueError):  # no time has such digits
                        found[datetime.strptime(name[1], TIME).replace(tzinfo=UTC)] = file
        return found

    def _is_ours(self, file: Path) -> bool:
        try:
            there = file.lstat()
        except OSError:
            return False
        seen = (file.name, there.st_ino, there.st_mtime_ns, there.st_size)
        if seen not in self._looked_at:
            self._looked_at[seen] = self._engine.is_backup(file)
        return self._looked_at[seen]
