"""Settings from environment variables; no other module reads the environment."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Final

from memstore.lazy import lazy_import, lazy_pattern
from memstore.named import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

    from memstore import errors
else:
    errors = lazy_import("memstore.errors")

MIN_RELEVANCE: Final = 0.075
"""The faces drop a search's results unless one of the first ten is at least this relevant. If no
memory answers the question, that removes 30 to 50 % of what was found; it loses 0 to 4 % of right
answers."""

DEFAULT_NAMESPACE = "default"
NONE: Final = "none"
"""The value of a variable that chooses nothing, where no value means the default."""
EMBEDDERS = ("local", "ollama", "openai", "fastembed", "none")
"""The values of ``MEMSTORE_EMBEDDER``, beside ``MODULE:FACTORY``."""

HOSTS_PROJECTS = ("CLAUDE_PROJECT_DIR", "GEMINI_PROJECT_DIR", "CURSOR_PROJECT_DIR")
"""Variables in which hosts pass the project folder to their hooks."""

DEFAULT_FOLDERS: Final = {
    "APPDATA": "~/AppData/Roaming",
    "LOCALAPPDATA": "~/AppData/Local",
    "XDG_CONFIG_HOME": "~/.config",
    "XDG_CACHE_HOME": "~/.cache",
    "XDG_DATA_HOME": "~/.local/share",
    "": "~/Library/Application Support",
}
"""The default folders by the variable that overrides them; macOS has no such variable."""

OF_KEEPING: Final = (
    *HOSTS_PROJECTS,
    *(f"MEMSTORE_{name}" for name in ("DB", "NAMESPACE", "EMBEDDER", "MODEL", "USER", "PROJECT")),
    *(f"MEMSTORE_{name}" for name in ("DURABILITY", "SECRETS", "HALF_LIVES", "WITHOUT_RULES")),
    *(f"MEMSTORE_{name}" for name in ("TRANSCRIPTS", "TRACES", "READ_ONLY")),
)
"""Variables that decide where a hook keeps a conversation, and what of it."""

ADDRESSES: Final = ("db", "ollama", "openai", "generator_url", "identity")
"""Settings that may hold a password."""

OF_EMBEDDERS: Final = ("MEMSTORE_OLLAMA", "MEMSTORE_OPENAI")
"""Addresses, which may hold passwords. Hooks use no such embedder."""

FLAGS: Final = ("read_only", "no_record", "learn_unread", "any_user")
"""The settings that are true or false."""

LOCAL_TIME: Final = "/etc/localtime"
"""A link to the time zone of a machine."""

DEFAULT_INDEX_MEMORY: Final = "1GB"
UNITS: Final = {"B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9}
SIZE: Final = lazy_pattern(r"(\d{1,9}(?:\.\d{1,3})?)\s*([kKmMgG]?[bB])?")

TRUE_WORDS = frozenset({"1", "true", "yes", "on"})
FALSE_WORDS = frozenset({"", "0", "false", "no", "off"})


class Settings(NamedTuple):
    """One value for each ``MEMSTORE_*`` variable; ``None`` if it is not set.

    ``docs/cli.md`` and ``docs/mcp.md`` explain each of them.
    """

    db: str | None = None
    namespace: str | None = None
    embedder: str | None = None
    model: str | None = None
    ollama: str | None = None
    openai: str | None = None
    query_prompt: str | None = None
    passage_prompt: str | None = None
    generator: str | None = None
    generator_model: str | None = None
    generator_url: str | None = None
    tools: str | None = None
    answers: str | None = None
    durability: str | None = None
    backup_every: str | None = None
    backup_keep: str | None = None
    backup_folder: str | None = None
    sync_every: str | None = None
    secrets: str | None = None
    half_lives: str | None = None
    without_rules: str | None = None
    read_only: bool = False
    no_record: bool = False
    learn_unread: bool = False
    user: str | None = None
    any_user: bool = False
    identity: str | None = None
    timezone: str | None = None

    def __repr__(self) -> str:
        """Return the settings that are set, without addresses, which may hold passwords."""
        hidden = {name: "…" for name in ADDRESSES if getattr(self, name) is not None}
        given = {name: value for name, value in self._asdict().items() if value}
        told = ", ".join(f"{name}={value!r}" for name, value in (given | hidden).items())
        return f"Settings({told})"

    @property
    def prompts(self) -> dict[str, str]:
        """The prompts of the embedder's model that are set; ``none``: no prompt."""
        named = {"query_prompt": self.query_prompt, "passage_prompt": self.passage_prompt}
        return {name: "" if text == NONE else text for name, text in named.items() if text}

    @property
    def owners(self) -> dict[str, str]:
        """The owners that hooks and the MCP server use if a call names none; ``none``: no owner."""
        return {"user_id": self.user} if self.user and self.user != NONE else {}

    @property
    def is_bound(self) -> bool:
        """Whether calls of the MCP server may name no other user than that of :attr:`owners`."""
        return bool(self.owners) and not self.any_user

    @property
    def embedder_name(self) -> str:
        """The chosen embedder's name; a server's address implies that server.

        A model alone means Ollama at its default address, as in the original memstore.
        """
        if self.embedder:
            return self.embedder
        if self.openai and not self.ollama:
            return "openai"
        return "ollama" if self.ollama or self.model else "local"


def from_environment() -> Settings:
    texts = {
        name: os.environ.get(f"MEMSTORE_{name.upper()}") or None
        for name in Settings._fields
        if name not in FLAGS
    }
    return Settings(
        **texts,
        read_only=_flag("MEMSTORE_READ_ONLY"),
        no_record=_flag("MEMSTORE_NO_RECORD"),
        learn_unread=_flag("MEMSTORE_LEARN_UNREAD"),
        any_user=_flag("MEMSTORE_ANY_USER"),
    )


def timezone() -> str | None:
    """Return the name of the user's time zone; ``None`` for the machine's.

    Windows' C library reads no names such as ``Europe/Berlin`` in ``TZ``, so they are read here.
    """
    named = os.environ.get("MEMSTORE_TIMEZONE", "").strip()
    if not named and sys.platform == "win32" and "/" in os.environ.get("TZ", ""):
        named = os.environ["TZ"].strip()
    return named or None


def tz() -> str:
    """Return what the variable ``TZ`` says, without the sign for a name; empty if it is not set."""
    return os.environ.get("TZ", "").strip().lstrip(":")


def machine_zone() -> str | None:
    """Return the name of the machine's time zone, such as ``Europe/Berlin``, if it has one."""
    if named := tz():
        return named if "/" in named and not named.startswith("/") else None
    try:
        _, _, name = os.path.realpath(LOCAL_TIME).replace("\\", "/").partition("/zoneinfo/")
    except OSError:
        return None
    return name or None


def _flag(name: str) -> bool:
    word = os.environ.get(name, "").strip().lower()
    if word not in TRUE_WORDS | FALSE_WORDS:
        raise errors.InvalidArgument(f"must be true or false, not {word!r}", argument=name)
    return word in TRUE_WORDS


def openai_key() -> str | None:
    """Return ``OPENAI_API_KEY``; local OpenAI-compatible servers do not need one."""
    return os.environ.get("OPENAI_API_KEY") or None


def server_token() -> str | None:
    """Return ``MEMSTORE_TOKEN``, the token for the server that ``memstore setup`` registers."""
    return os.environ.get("MEMSTORE_TOKEN", "").strip() or None


def anthropic_key() -> str | None:
    """Return ``ANTHROPIC_API_KEY``; a gateway that adds the key itself does not need it."""
    return os.environ.get("ANTHROPIC_API_KEY") or None


def default_path() -> str:
    """Return the file used when none is named, e.g. ``~/.local/share/memstore/memory.db``."""
    return os.path.join(data_folder(), "memory.db")


def project_folder() -> str:
    """Return the project folder that the host names in a variable, else the current folder."""
    for variable in ("MEMSTORE_PROJECT", *HOSTS_PROJECTS):
        folder = os.environ.get(variable, "")
        if folder and "${" not in folder:  # a placeholder that the host did not expand
            return folder
    try:
        return os.getcwd()
    except FileNotFoundError:  # the current folder was deleted
        return os.path.expanduser("~")


def names_project() -> bool:
    """Return whether ``MEMSTORE_PROJECT`` names the project folder."""
    folder = os.environ.get("MEMSTORE_PROJECT", "")
    return bool(folder) and "${" not in folder


def keeps_transcripts() -> bool:
    """Return whether hooks may store conversations; ``MEMSTORE_TRANSCRIPTS=off`` forbids it."""
    return _is_allowed("MEMSTORE_TRANSCRIPTS")


def keeps_traces() -> bool:
    """Return whether hooks may store what a session did, and sessions begin with it.

    ``MEMSTORE_TRACES=off`` forbids it.
    """
    return _is_allowed("MEMSTORE_TRACES")


def _is_allowed(name: str) -> bool:
    return os.environ.get(name, "").strip().lower() not in FALSE_WORDS - {""}


def forces_color() -> bool:
    """Return whether to colour output even if it does not go to a terminal."""
    return bool(os.environ.get("FORCE_COLOR")) and not os.environ.get("NO_COLOR")


def terminal_width() -> int:
    """Return the width of the terminal, in columns.

    ``shutil`` returns the same, but importing it takes as long as half of argparse.
    """
    columns = os.environ.get("COLUMNS", "")
    if columns.isdecimal() and len(columns) < 10 and int(columns):
        return int(columns)
    try:
        return os.get_terminal_size(1).columns or 80
    except OSError:  # no terminal, or closed
        return 80


def host_folder(variable: str) -> str | None:
    """Return the folder of a host's settings, if the host's own variable names it."""
    return os.environ.get(variable) or None


def environment() -> dict[str, str]:
    """Return every variable, for a program that is started with some of them."""
    return dict(os.environ)


def keeping_environment() -> dict[str, str]:
    """Return the variables by which another process keeps a conversation as this one would."""
    found = {name: value for name in OF_KEEPING if (value := os.environ.get(name))}
    if any(os.environ.get(name) for name in OF_EMBEDDERS):
        found.setdefault("MEMSTORE_EMBEDDER", "none")
    if ":" in found.get("MEMSTORE_EMBEDDER", ""):  # what is remembered must name no module
        found["MEMSTORE_EMBEDDER"] = "none"
    return found | {"MEMSTORE_PROJECT": project_folder()}


def environment_with(keeping: Mapping[str, str]) -> dict[str, str]:
    """Return every variable, and of those that :func:`keeping_environment` returns only these.

    No other variable is set: what is remembered in a file must not choose what a program runs.
    """
    there = {n: v for n, v in environment().items() if n not in OF_KEEPING + OF_EMBEDDERS}
    return there | {n: v for n, v in keeping.items() if n in OF_KEEPING}


def configuration_folder() -> str:
    """Return the folder for this user's program settings on this operating system."""
    return _root(windows="APPDATA", xdg="XDG_CONFIG_HOME")


def data_folder() -> str:
    """Return the folder for this user's memories on this operating system."""
    return os.path.join(_data_root(), "memstore")


def models_folder() -> str:
    """Return the folder of the embedding models that were fetched."""
    return os.path.join(data_folder(), "models")


def troubles_folder() -> str:
    """Return the folder of what hooks could not do."""
    return os.path.join(data_folder(), "hooks")


def mounts_file() -> str:
    """Return the file that says which disks memories are on."""
    return os.path.join(data_folder(), "mounts.json")


def sync_folder() -> str:
    """Return the folder of what is known here of the places where devices meet."""
    return os.path.join(data_folder(), "sync")


def repositories_file() -> str:
    """Return the file that says of which repository the namespaces of other devices are."""
    return os.path.join(data_folder(), "repositories.json")


def spool_folder() -> str:
    """Return the folder of what waits to be sent to a server."""
    return os.path.join(data_folder(), "spool")


def unkept_folder() -> str:
    """Return the folder of the sessions whose conversations are still to be kept."""
    return os.path.join(data_folder(), "unkept")


def index_folder() -> str | None:
    """Return the folder for the index files of memories on servers; ``None`` for no files.

    ``MEMSTORE_INDEX_FOLDER`` names another one, or is ``off``.
    """
    named = os.environ.get("MEMSTORE_INDEX_FOLDER", "").strip()
    if named.lower() in FALSE_WORDS - {""}:
        return None
    if named:
        return os.path.abspath(os.path.expanduser(named))
    return os.path.join(_cache_root(), "memstore", "indexes")


def max_index_bytes() -> int:
    """Return ``MEMSTORE_INDEX_MEMORY``: how much memory the indexes of a process may take."""
    text = os.environ.get("MEMSTORE_INDEX_MEMORY", "").strip()
    found = SIZE.fullmatch(text or DEFAULT_INDEX_MEMORY)
    if found is None:
        raise errors.InvalidArgument(
            f"must be a size such as 500MB or 2GB, not {text!r}", argument="MEMSTORE_INDEX_MEMORY"
        )
    return int(float(found[1]) * UNITS[(found[2] or "B").upper()])


def data_environment() -> dict[str, str]:
    """Return ``XDG_DATA_HOME`` if it decides the data folder, for hosts that do not pass it on."""
    named = os.environ.get("XDG_DATA_HOME", "")
    return {"XDG_DATA_HOME": named} if os.path.isabs(named) and _data_root() == named else {}


def _data_root() -> str:
    return _root(windows="LOCALAPPDATA", xdg="XDG_DATA_HOME")


def _cache_root() -> str:
    if sys.platform == "darwin":
        return os.path.expanduser("~/Library/Caches")
    return _root(windows="LOCALAPPDATA", xdg="XDG_CACHE_HOME")


def _root(*, windows: str, xdg: str) -> str:
    """Return the folder that the system's variable names, or else the default."""
    variable = {"win32": windows, "darwin": ""}.get(sys.platform, xdg)
    named = os.environ.get(variable, "")
    # A relative path is ignored: it would mean a different file in each folder.
    return named if os.path.isabs(named) else os.path.expanduser(DEFAULT_FOLDERS[variable])


def pager() -> str:
    """Return the command by which long output is read on a terminal; empty for none."""
    chosen = os.environ.get("PAGER", "less").strip()
    return "" if chosen == "cat" else chosen


def pager_environment() -> dict[str, str]:
    """Return the environment of a pager: less shows colours, and ends at once if all fits."""
    return {"LESS": "FRX"} | os.environ
