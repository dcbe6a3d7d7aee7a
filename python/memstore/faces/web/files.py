"""The files that pages are made of besides HTML: styles, scripts, the icon."""

from __future__ import annotations

import hashlib
import json
from functools import cache
from pathlib import Path
from typing import Any, Final

from memstore.faces.web.reply import Reply

FOLDER: Final = Path(__file__).parent / "static"
PREFIX: Final = "/static/"

KINDS: Final = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}
"""The types of the files that are served, by the ends of their names."""

FOREVER: Final = "public, max-age=31536000, immutable"
"""Their addresses hold a part of their hash, so a new version has a new address."""

HASH_CHARACTERS: Final = 12


@cache
def _files() -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in FOLDER.iterdir() if file.suffix in KINDS}


@cache
def address(name: str) -> str:
    """Return the address of a file, which changes with its content."""
    digest = hashlib.sha256(_files()[name]).hexdigest()
    return f"{PREFIX}{digest[:HASH_CHARACTERS]}/{name}"


def answer(path: str) -> Reply | None:
    """Return the file at an address; ``None`` if there is none."""
    name = path.rpartition("/")[2]
    if name not in _files() or path != address(name):
        return None
    return Reply(200, _files()[name], KINDS[Path(name).suffix], caching=FOREVER)


def vendored() -> list[dict[str, Any]]:
    """Return the files of others: name, version, licence, origin, SHA-256."""
    found: list[dict[str, Any]] = json.loads((FOLDER / "vendored.json").read_text("utf-8"))
    return found
