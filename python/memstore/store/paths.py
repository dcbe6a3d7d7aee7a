"""What names a file: paths, and no addresses."""

from __future__ import annotations

import os
import re
from pathlib import Path

from memstore.domain.arguments import MAX_NUMBER, checked_text
from memstore.errors import InvalidArgument, Remedy


def file_at(path: str | os.PathLike[str], name: str = "path") -> Path:
    """Return a path that may name a file; ``~`` is expanded.

    Raises:
        InvalidArgument: an address, whatever its scheme, or a name that the system refuses.
        InvalidArgumentType: no path.
    """
    given = os.fspath(path) if isinstance(path, os.PathLike) else path
    text = checked_text(given, name, MAX_NUMBER)
    # A Path has folded the slashes. One letter is a drive.
    slashes = "//" if isinstance(path, str) else "/"
    if scheme := re.match(f"([a-z][a-z0-9+.-]+):{slashes}", text, re.IGNORECASE):
        raise InvalidArgument(
            f"is an address of {scheme[1].lower()!r}, and only files can be opened",
            argument=name,
            remedy=Remedy.NAME_FILE,
        )
    try:
        file = Path(text).expanduser()
        file.exists()
    except (OSError, RuntimeError) as error:  # too long a name, or nobody's home
        why = error.strerror if isinstance(error, OSError) else error
        raise InvalidArgument(
            f"cannot be used: {why}", argument=name, remedy=Remedy.NAME_FILE
        ) from None
    return file
