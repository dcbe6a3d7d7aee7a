"""When a person last visited: the line of the journal up to which they may have seen changes."""

from __future__ import annotations

import hashlib
import json
import os
import threading
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from memstore.faces.web import kept_path

if TYPE_CHECKING:
    from memstore.store.store import Store

MAX_VISITS: Final = 500
"""Memories and persons that are remembered."""

NAME: Final = "visits.json"


class LastVisits:
    """The last visit of each person to each namespace, kept for the user of this machine.

    Nothing of a memory is in the file: its keys are hashes. If it cannot be written, visits are
    remembered until the server ends.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._lines: dict[str, int] = {}
        with suppress(OSError, ValueError):
            known = json.loads((kept_path.folder() / NAME).read_text("ascii"))
            if isinstance(known, dict):
                self._lines = {key: one for key, one in known.items() if isinstance(one, int)}

    def begin(self, store: Store, actor: str, line: int) -> int | None:
        """Note a visit at a line of the journal; return that of the last one, if there was one."""
        named = "\0".join((store.path, store.namespace, actor))
        key = hashlib.sha256(named.encode("utf-8", "surrogatepass")).hexdigest()
        with self._lock:
            last = self._lines.pop(key, None)
            self._lines[key] = line
            while len(self._lines) > MAX_VISITS:
                del self._lines[next(iter(self._lines))]
            self._write()
        return last if last is None or last <= line else None  # another file is in its place

    def _write(self) -> None:
        with suppress(OSError):
            file = kept_path.folder() / NAME
            draft = file.with_name(f"{NAME}.{os.getpid()}")
            flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
            with os.fdopen(os.open(draft, flags, 0o600), "w", encoding="ascii") as written:
                json.dump(self._lines, written)
            os.replace(draft, file)
