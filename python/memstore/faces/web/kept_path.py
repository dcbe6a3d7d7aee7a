"""The path that the pages live below: unguessable, and kept for the user of this machine.

Cookies ignore ports: another program on this machine gets the cookies of its whole host. So the
cookie is confined to this path, which the other program does not know.
"""

from __future__ import annotations

import os
import re
import secrets
from pathlib import Path
from typing import Final

from memstore import settings

SECRET_BYTES: Final = 16
FORM: Final = re.compile(r"[A-Za-z0-9_-]{22}")


def folder() -> Path:
    """Return the folder of what only the user may read, creating it if needed."""
    place = Path(settings.data_folder()) / "web"
    place.mkdir(mode=0o700, parents=True, exist_ok=True)
    return place


def kept_path() -> str:
    """Return the path, such as ``/k3J…/``; the first call makes it.

    If the folder cannot be written, it is new each time, so that bookmarks do not last.
    """
    try:
        file = folder() / "path"
        known = _read(file)
        if known is None:
            known = secrets.token_urlsafe(SECRET_BYTES)
            _write(file, known)
            known = _read(file) or known  # another process may have been first
    except OSError:
        known = secrets.token_urlsafe(SECRET_BYTES)
    return f"/{known}/"


def _read(file: Path) -> str | None:
    try:
        text = file.read_text("ascii").strip()
    except (FileNotFoundError, UnicodeDecodeError):
        return None
    return text if FORM.fullmatch(text) else None


def _write(file: Path, text: str) -> None:
    """Put a file in its place, readable by the user alone, unless a good one is there."""
    draft = file.with_name(f"{file.name}.{os.getpid()}")
    with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as written:
        written.write(text)
    if _read(file) is None:
        os.replace(draft, file)
    else:
        draft.unlink()
