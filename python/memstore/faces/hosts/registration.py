"""The commands that hosts run: this installation's programs, by paths that stay valid."""

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
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit
from urllib.request import url2pathname

from memstore import __version__, settings
from memstore.errors import MemstoreError
from memstore.named import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

PACKAGE: Final = "pymemstore"
UNQUOTED: Final = re.compile(r"[\w.:\\/=-]+")
"""A word that means the same in PowerShell and in cmd."""
UV_CACHE: Final = re.compile(r"(archive|environments|builds)-v\d+")


OF_UVX: Final = frozenset(
    """ALL_PROXY HTTPS_PROXY HTTP_PROXY NO_PROXY SSL_CERT_DIR SSL_CERT_FILE XDG_CACHE_HOME
    XDG_CONFIG_HOME XDG_DATA_HOME""".split()
)
"""The variables, besides ``UV_…``, that uvx needs to reach the package index and its cache."""


class NoProgram(MemstoreError):
    """This installation has no program that a host could start."""


class Programs(NamedTuple):
    """The commands for the server and for the hooks."""

    server: list[str]
    command_line: list[str]
    environment: dict[str, str]
    """What a server needs to be given, because hosts leave it out."""


def programs() -> Programs:
    """Return the programs of this installation; if uvx runs it, ``uvx`` with the version.

    Raises:
        NoProgram: there is none that will still exist later.
    """
    if any(UV_CACHE.fullmatch(part) for part in Path(sys.prefix).parts):
        uvx = shutil.which("uvx")
        if uvx is None:
            raise NoProgram("uvx is not on the PATH. Install with: uv tool install pymemstore")
        start = [str(Path(uvx).absolute()), "--from", _requirement()]
        environment = _uvx_environment()
        return Programs([*start, "memstore-mcp"], [*start, "memstore"], environment)
    folder = Path(sysconfig.get_path("scripts"))
    found = []
    for name in ("memstore-mcp", "memstore"):
        program = shutil.which(name, path=str(folder))
        if program is None or "cache" in (part.strip(".") for part in folder.parts):
            raise NoProgram(
                f"there is no permanent program {name} in {str(folder)!r}. Install with: "
                "uv tool install pymemstore, pipx install pymemstore or pip install pymemstore"
            )
        found.append([str(Path(program).absolute())])
    return Programs(found[0], found[1], {})


def _requirement() -> str:
    """Return the requirement that uvx runs: the file it came from, or the version on the index."""
    try:
        origin = json.loads(metadata.distribution(PACKAGE).read_text("direct_url.json") or "{}")
    except metadata.PackageNotFoundError:
        origin = {}
    url = str(origin.get("url", ""))
    if url.startswith("file:"):
        return url2pathname(urlsplit(url).path)
    return url or f"{PACKAGE}=={__version__}"


def shell_line(words: Sequence[str]) -> str:
    """Return a command quoted for the shell of hosts: on Windows, PowerShell or cmd."""
    if sys.platform != "win32":
        return shlex.join(words)
    line = subprocess.list2cmdline(words)
    # PowerShell would print a quoted path rather than run it, and cmd has no other quotes.
    return line if all(map(UNQUOTED.fullmatch, words)) else f"cmd /c {line}"


def _uvx_environment() -> dict[str, str]:
    """Return the variables that uvx needs, without those that hold a password."""
    return {
        name: value
        for name, value in settings.environment().items()
        if (name.upper() in OF_UVX or name.startswith("UV_"))
        and not any(secret in name for secret in ("PASSWORD", "TOKEN", "USERNAME"))
        and not ("://" in value and "@" in value)
    }


TIMED: Final = """
import sys, time
begun = time.perf_counter()
from memstore import providers
providers.embedder(sys.argv[1]).embed(["how long does this take?"])
print(time.perf_counter() - begun)
"""

A_PROMPT_WAITS_SECONDS: Final = 0.2
"""How long an embedder may take from the start of a hook to the vector of a question."""


def seconds_to_embed(embedder: str) -> float:
    """Return how long a new process takes to embed a question, in the better of two attempts.

    Raises:
        ValueError: it fails.
    """
    times = []
    for _ in range(2):
        command = [sys.executable, "-c", TIMED, embedder]
        done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - ours
        if done.returncode:
            raise ValueError(f"{embedder} fails: {done.stderr.strip().splitlines()[-1]}")
        times.append(float(done.stdout.split()[-1]))
    return min(times)
