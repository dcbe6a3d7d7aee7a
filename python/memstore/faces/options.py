"""Flags and environment variables shared by all commands.

A flag overrides its environment variable; :mod:`memstore.settings` reads the variables.
"""

from __future__ import annotations

import argparse
from functools import partial
from typing import TYPE_CHECKING, Any, Final, NoReturn

from memstore import providers, settings
from memstore.lazy import lazy_import
from memstore.named import NamedTuple
from memstore.settings import Settings

if TYPE_CHECKING:
    import textwrap

    from memstore.domain import zones
    from memstore.file import paths
    from memstore.text import addresses
    from memstore.text.judging import judge
else:
    addresses = lazy_import("memstore.text.addresses")
    zones = lazy_import("memstore.domain.zones")
    paths = lazy_import("memstore.file.paths")
    judge = lazy_import("memstore.text.judging.judge")
    textwrap = lazy_import("textwrap")

ENVIRONMENT_HELP = """\
environment variables (a flag overrides its variable):
  MEMSTORE_DB, MEMSTORE_NAMESPACE, MEMSTORE_EMBEDDER, MEMSTORE_MODEL, MEMSTORE_OLLAMA
  MEMSTORE_OPENAI   base URL of an OpenAI-compatible server, for --embedder openai
  OPENAI_API_KEY    the API key for it, if needed
  MEMSTORE_GENERATOR, MEMSTORE_GENERATOR_MODEL, MEMSTORE_GENERATOR_URL
                    the language model for extract, remember and the MCP tools "learn"
  ANTHROPIC_API_KEY the API key for --generator anthropic
  MEMSTORE_DURABILITY, MEMSTORE_SECRETS, MEMSTORE_HALF_LIVES, MEMSTORE_WITHOUT_RULES,
  MEMSTORE_TIMEZONE"""

KEPT_BACKUPS: Final = 24
MIN_SYNC_SECONDS: Final = 60.0

# Looking for translations of argparse's own words takes 4 ms, and ours are English.
vars(argparse)["_"] = str


class HelpFormatter(argparse.RawDescriptionHelpFormatter):
    """Keeps the line breaks of examples, and never breaks a path or flag."""

    def __init__(self, prog: str, **details: Any) -> None:
        super().__init__(prog, width=settings.terminal_width() - 2, **details)

    def _split_lines(self, text: str, width: int) -> list[str]:
        whole = textwrap.wrap(text, width, break_on_hyphens=False, break_long_words=False)
        return [line.replace(BLANK, " ") for line in whole]


class RedactingParser(argparse.ArgumentParser):
    """An argument parser whose errors quote no password of an address."""

    def error(self, message: str) -> NoReturn:
        super().error(addresses.masked(message))


BLANK: Final = "\x00"
"""Stands for a space in a path while help is wrapped."""


def add_option(
    parser: argparse._ActionsContainer, names: str, meaning: str, **details: Any
) -> None:
    """Add an argument (``ID``, ``left NAME``, ``--limit N``) or a switch (``--all``)."""
    words = names.split()
    called = [word for word in words if word.startswith("-")]
    if len(words) > len(called):
        details["metavar"] = words[-1]
    elif not details.keys() & {"choices", "action"}:
        details["action"] = "store_true"
    parser.add_argument(*(called or [words[0].lower()]), help=meaning, **details)


def add_store_flags(parser: argparse._ActionsContainer) -> None:
    """Add ``--db --namespace --embedder --model --ollama --durability --secrets --half-lives
    --without-rules --timezone``.

    A flag that is not given leaves no attribute, so a command and its subcommands may both have
    them without one undoing the other; :func:`chosen_settings` knows.
    """
    flag = partial(add_option, parser, default=argparse.SUPPRESS)
    # argparse formats its help
    default = str(settings.default_path()).replace("%", "%%").replace(" ", BLANK)
    flag(
        "--db FILE",
        f"the memory file, created if missing (default: {default}), or a database: "
        "postgresql://USER@HOST/NAME",
    )
    flag(
        "--namespace NAME",
        "the namespace to read and write (default: "
        f"{settings.DEFAULT_NAMESPACE}); auto: the project's (see memstore where)",
    )
    flag(
        "--embedder NAME",
        "the embedding model for search by meaning: local (the default) works offline, ollama and "
        "openai call a server, fastembed[:MODEL] runs a model here, MODULE:FACTORY calls a "
        "function, none searches by words only",
        type=_embedder,
    )
    flag(
        "--model NAME",
        "the name of the embedding model; without --embedder it means Ollama's",
    )
    flag(
        "--durability",
        "what a confirmed write survives: full (the default) a power failure; normal, "
        "which is faster, a crash of the process",
        choices=("full", "normal"),
    )
    flag(
        "--secrets",
        "API keys, private keys and tokens in stored text: redact (the default) replaces "
        "each with its kind, refuse rejects the text, keep stores it unchanged",
        choices=("redact", "refuse", "keep"),
    )
    flag(
        "--half-lives TABLE",
        "how fast facts age, by category, so that newer ones come first among equals: "
        "note=30d (the default), note=90d,project=7d, or off",
    )
    flag(
        "--without-rules NAMES",
        "rules by which a newer fact replaces an older one that are switched off, e.g. VALUE,NOW "
        "(default: none; docs/learning.md lists them)",
    )
    flag(
        "--timezone ZONE",
        "the time zone in which days begin and end, such as Europe/Berlin or +05:30 (default: the "
        "machine's; docs/days.md)",
    )
    flag("--ollama URL", "the address of the Ollama server; implies --embedder ollama")


def chosen_settings(arguments: argparse.Namespace) -> Settings:
    """Merge parsed flags over the environment; ValueError if two contradict each other.

    Any attribute named like a field of :class:`Settings` counts as its flag. A time zone that is
    chosen is the user's in this process.
    """
    environment = settings.from_environment()
    flags = {
        name: value
        for name in Settings._fields
        if (value := getattr(arguments, name, None)) is not None
    }
    for name, value in flags.items():
        if isinstance(value, str) and not value.strip():
            raise ValueError(
                f"--{name.replace('_', '-')} is empty: give it a value, or leave it out"
            )
    if "ollama" in flags and flags.setdefault("embedder", "ollama") != "ollama":
        raise ValueError(
            f"--ollama names an Ollama server, and --embedder is {flags['embedder']}: "
            "leave one of them out"
        )
    merged = environment._replace(**flags)
    if merged.db is not None:
        paths.check_place(merged.db)
    half_lives(merged.half_lives)
    if merged.timezone is not None:
        zones.prefer(zones.checked(merged.timezone))
    if merged.without_rules is not None:
        judge.named_rules(names(merged.without_rules))
    if "model" not in flags and merged.embedder_name != environment.embedder_name:
        # The environment's model is that of the environment's embedder.
        merged = merged._replace(model=None)
    if "generator" in flags and flags["generator"] != environment.generator:
        # So are its generator's model and address.
        merged = merged._replace(
            generator_model=flags.get("generator_model"),
            generator_url=flags.get("generator_url"),
        )
    return merged


def _embedder(name: str) -> str:
    if name not in providers.NAMES and ":" not in name:
        known = ", ".join(providers.NAMES)
        raise argparse.ArgumentTypeError(f"{name!r} is not one of {known}, nor MODULE:FACTORY")
    return name


def duration(text: str) -> float:
    """Parse ``90s``, ``30m``, ``1h`` or ``7d`` into seconds."""
    units = {"s": 1, "m": 60, "h": 3600, "d": 86_400}
    number, unit = text.strip()[:-1], text.strip()[-1:]
    if unit not in units or not (number.isascii() and number.isdigit() and len(number) < 9):
        raise ValueError(f"a time such as 30m, 1h or 7d, not {text!r}")
    return float(int(number) * units[unit])


def names(text: str | None) -> list[str]:
    """Split names that commas separate."""
    return [name.strip() for name in (text or "").split(",") if name.strip()]


def half_lives(text: str | None) -> dict[str, float] | None:
    """Parse ``note=30d,project=7d`` into seconds by category; ``off`` into an empty table."""
    if text is None or text.strip().lower() == "off":
        return None if text is None else {}
    found = {}
    for part in text.split(","):
        category, _, life = part.partition("=")
        try:
            found[category.strip()] = duration(life)
        except ValueError:
            found[""] = 0.0
    if "" in found:
        raise ValueError(
            f"--half-lives is off or a table such as note=30d,project=7d, not {text!r}"
        )
    return found


class BackupSchedule(NamedTuple):
    """The arguments of :meth:`memstore.File.backup_in_background`."""

    every_seconds: float
    keep: int
    folder: str | None


def backup_schedule(chosen: Settings) -> BackupSchedule | None:
    """Return a server's backup schedule; ``None`` for no backups."""
    if chosen.backup_every is None:
        if chosen.backup_keep or chosen.backup_folder:
            raise ValueError("--backup-keep and --backup-folder go with --backup-every")
        return None
    if chosen.read_only:
        raise ValueError("--backup-every needs a file that may be written: leave --read-only out")
    keep = chosen.backup_keep or str(KEPT_BACKUPS)
    if not (keep.isascii() and keep.isdigit() and len(keep) < 9 and int(keep)):
        raise ValueError(f"--backup-keep is a whole number, 1 or more, not {keep!r}")
    try:
        seconds = duration(chosen.backup_every)
    except ValueError as error:
        raise ValueError(f"--backup-every is {error}") from None
    return BackupSchedule(seconds, int(keep), chosen.backup_folder)


def sync_every(text: str, flag: str = "--sync-every") -> float:
    """Return how many seconds are between two syncs in the background."""
    try:
        seconds = duration(text)
    except ValueError as error:
        raise ValueError(f"{flag} is {error}") from None
    if seconds < MIN_SYNC_SECONDS:
        raise ValueError(f"{flag} is a minute or more, not {text!r}")
    return seconds


def check_sync(chosen: Settings) -> None:
    """Raise ValueError if a server could not sync as it was told."""
    if chosen.sync_every in (None, "off"):
        return
    sync_every(str(chosen.sync_every))
    if chosen.read_only:
        raise ValueError("--sync-every needs a file that may be written: leave --read-only out")


def check_served(chosen: Settings) -> None:
    """Raise ValueError if a setting is for files, and the memory is on a server."""
    if not paths.is_server(chosen.db):
        return
    if chosen.backup_every is not None:
        raise ValueError(
            "--backup-every copies a file, and --db or MEMSTORE_DB names a database on a server: "
            "leave it out, and back the server up with pg_dump"
        )
    if chosen.durability is not None:
        raise ValueError(
            "--durability is for files, and --db or MEMSTORE_DB names a database on a server: "
            "leave it out; the server's setting synchronous_commit applies"
        )


def check_host(chosen: Settings) -> None:
    """Raise ValueError if the memory is on a server: hosts and their hooks need a file."""
    if paths.is_server(chosen.db):
        raise ValueError(
            "hosts and their hooks need a file, and --db or MEMSTORE_DB names a database on a "
            "server: serve it with memstore-mcp --http, and register that server with memstore "
            "setup --server URL"
        )


def check_learning(chosen: Settings) -> None:
    """Raise ValueError if a server cannot learn in the background as it should."""
    if not chosen.learn_unread:
        return
    if (chosen.generator or "none") == "none":
        raise ValueError("--learn-unread needs a language model: name it with --generator")
    if chosen.read_only:
        raise ValueError("--learn-unread needs a file that may be written: leave --read-only out")


def add_generator_flags(parser: argparse._ActionsContainer) -> None:
    """Add ``--generator --generator-model --generator-url``."""
    flag = partial(add_option, parser)
    flag(
        "--generator",
        "the language model that reads the text (default: none); ollama runs on your own "
        "machine, openai (or a compatible server) and anthropic receive the text",
        choices=providers.GENERATORS,
    )
    flag("--generator-model NAME", "the name of the language model")
    flag("--generator-url URL", "the address of its service")
