"""The commands that hosts run: this installation's programs, by paths that stay."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple
from urllib.parse import urlsplit
from urllib.request import url2pathname

from memstore import __version__
from memstore.errors import MemstoreError

if TYPE_CHECKING:
    from collections.abc import Sequence

PACKAGE: Final = "pymemstore"
UV_CACHE: Final = re.compile(r"(archive|environments|builds)-v\d+")


class NoProgram(MemstoreError):
    """This installation has no program that a host could start."""


class Programs(NamedTuple):
    """How a host starts the server, and the command line that answers its hooks."""

    server: list[str]
    command_line: list[str]


def programs() -> Programs:
    """Return the programs of this installation; from uvx, ``uvx`` and the version.

    Raises:
        NoProgram: there is none that would be there tomorrow.
    """
    if any(UV_CACHE.fullmatch(part) for part in Path(sys.prefix).parts):
        uvx = shutil.which("uvx")
        if uvx is None:
            raise NoProgram("uvx is not on the PATH. Install with: uv tool install pymemstore")
        start = [str(Path(uvx).absolute()), "--from", _requirement()]
        return Programs([*start, "memstore-mcp"], [*start, "memstore"])
    folder = Path(sysconfig.get_path("scripts"))
    found = []
    for name in ("memstore-mcp", "memstore"):
        program = shutil.which(name, path=str(folder))
        if program is None or "cache" in (part.strip(".") for part in folder.parts):
            raise NoProgram(
                f"there is no program {name} that stays, in {str(folder)!r}. Install with: "
                "uv tool install pymemstore, pipx install pymemstore or pip install pymemstore"
            )
        found.append([str(Path(program).absolute())])
    return Programs(*found)


def _requirement() -> str:
    """Return what uvx was told to run: the file it came from, or the version of the index."""
    try:
        origin = json.loads(metadata.distribution(PACKAGE).read_text("direct_url.json") or "{}")
    except metadata.PackageNotFoundError:
        origin = {}
    url = str(origin.get("url", ""))
    if url.startswith("file:"):
        return url2pathname(urlsplit(url).path)
    return url or f"{PACKAGE}=={__version__}"


def shell_line(words: Sequence[str]) -> str:
    """Return a command as hosts give it to the system's shell."""
    return subprocess.list2cmdline(words) if sys.platform == "win32" else shlex.join(words)
