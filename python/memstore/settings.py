"""What the environment may set, read here and nowhere else."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Final, NamedTuple

from memstore.lazy import lazy_import

if TYPE_CHECKING:
    from memstore import errors
else:
    errors = lazy_import("memstore.errors")

MIN_RELEVANCE: Final = 0.075
"""What the faces ask of the best of what a search finds. Asked of memories that do not hold the
answer it takes 30 to 50 % of what was found away, and 0 to 4 % of right answers."""

DEFAULT_NAMESPACE = "default"
EMBEDDERS = ("local", "ollama", "openai", "none")
"""What ``MEMSTORE_EMBEDDER`` may be."""

HOSTS_PROJECTS = ("CLAUDE_PROJECT_DIR", "GEMINI_PROJECT_DIR", "CURSOR_PROJECT_DIR")
"""Variables in which a host tells its hooks the folder it was started for."""

TRUE_WORDS = frozenset({"1", "true", "yes", "on"})
FALSE_WORDS = frozenset({"", "0", "false", "no", "off"})


class Settings(NamedTuple):
    """One value for each ``MEMSTORE_*`` variable; ``None`` where the environment says nothing.

    ``docs/cli.md`` and ``docs/mcp.md`` say what each of them is for.
    """

    db: str | None = None
    namespace: str | None = None
    embedder: str | None = None
    model: str | None = None
    ollama: str | None = None
    openai: str | None = None
    generator: str | None = None
    generator_model: str | None = None
    generator_url: str | None = None
    tools: str | None = None
    durability: str | None = None
    backup_every: str | None = None
    backup_keep: str | None = None
    backup_folder: str | None = None
    secrets: str | None = None
    read_only: bool = False


def from_environment() -> Settings:
    texts = {
        name: os.environ.get(f"MEMSTORE_{name.upper()}") or None
        for name in Settings._fields
        if name != "read_only"
    }
    return Settings(**texts, read_only=_flag("MEMSTORE_READ_ONLY"))


def _flag(name: str) -> bool:
    word = os.environ.get(name, "").strip().lower()
    if word not in TRUE_WORDS | FALSE_WORDS:
        raise errors.InvalidArgument(f"must be true or false, not {word!r}", argument=name)
    return word in TRUE_WORDS


def openai_key() -> str | None:
    """Return ``OPENAI_API_KEY``; a local OpenAI-compatible server needs none."""
    return os.environ.get("OPENAI_API_KEY") or None


def anthropic_key() -> str | None:
    """Return ``ANTHROPIC_API_KEY``; a gateway that holds the key itself needs none."""
    return os.environ.get("ANTHROPIC_API_KEY") or None


def default_path() -> str:
    """Return the file used when none is named, e.g. ``~/.local/share/memstore/memory.db``."""
    return os.path.join(data_folder(), "memory.db")


def project_folder() -> str:
    """Return the folder a host works in: what it says in a variable, else the current one."""
    for variable in ("MEMSTORE_PROJECT", *HOSTS_PROJECTS):
        folder = os.environ.get(variable, "")
        if folder and "${" not in folder:  # which a host did not fill in
            return folder
    try:
        return os.getcwd()
    except FileNotFoundError:  # removed meanwhile
        return os.path.expanduser("~")


def keeps_transcripts() -> bool:
    """Return whether hooks may store what was said; ``MEMSTORE_TRANSCRIPTS=off`` forbids it."""
    word = os.environ.get("MEMSTORE_TRANSCRIPTS", "").strip().lower()
    return word == "" or word not in FALSE_WORDS


def forces_color() -> bool:
    """Return whether output is to be coloured although it is no terminal."""
    return bool(os.environ.get("FORCE_COLOR")) and not os.environ.get("NO_COLOR")


def host_folder(variable: str) -> str | None:
    """Return the folder of a host's settings that its own variable names."""
    return os.environ.get(variable) or None


def poor_environment() -> dict[str, str]:
    """Return what little hosts leave of the environment to the programs they start."""
    kept = """APPDATA COMSPEC HOME LANG LOCALAPPDATA SYSTEMROOT TEMP TMP TMPDIR USERPROFILE
    XDG_CACHE_HOME XDG_CONFIG_HOME XDG_DATA_HOME""".split()
    found = {name: os.environ[name] for name in kept if name in os.environ}
    return {**found, "PATH": os.defpath}


def configuration_folder() -> str:
    """Return where programs of this user keep their settings, by the rules of the system."""
    variable, usual = {
        "win32": ("APPDATA", "~/AppData/Roaming"),
        "darwin": ("", "~/Library/Application Support"),
    }.get(sys.platform, ("XDG_CONFIG_HOME", "~/.config"))
    named = os.environ.get(variable, "")
    return named if os.path.isabs(named) else os.path.expanduser(usual)


def data_folder() -> str:
    """Return where this user's memories are kept, by the rules of the system."""
    return os.path.join(_data_root(), "memstore")


def data_environment() -> dict[str, str]:
    """Return the variable that says where memories are, for hosts that clear the environment."""
    named = os.environ.get("XDG_DATA_HOME", "")
    return {"XDG_DATA_HOME": named} if os.path.isabs(named) and _data_root() == named else {}


def _data_root() -> str:
    variable, usual = {
        "win32": ("LOCALAPPDATA", "~/AppData/Local"),
        "darwin": ("", "~/Library/Application Support"),
    }.get(sys.platform, ("XDG_DATA_HOME", "~/.local/share"))
    named = os.environ.get(variable, "")
    # One that is relative counts as none: it would name another file in each folder.
    return named if os.path.isabs(named) else os.path.expanduser(usual)
