"""From flags and environment to an open store, the same for every command.

A flag wins over the variable of the same name; :mod:`memstore.settings` reads the variables.
"""

from __future__ import annotations

import argparse
import textwrap
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from memstore import providers, settings
from memstore.errors import EmbedderMismatch, InvalidArgument, Reason
from memstore.lazy import lazy_import
from memstore.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memstore.domain.protocols import Embedder, JSONGenerator
    from memstore.providers import http_generator
    from memstore.store import opening
    from memstore.store.store import Store
else:
    http_generator = lazy_import("memstore.providers.http_generator")
    opening = lazy_import("memstore.store.opening")

ENVIRONMENT_HELP = """\
environment (a flag wins over it):
  MEMSTORE_DB, MEMSTORE_NAMESPACE, MEMSTORE_EMBEDDER, MEMSTORE_MODEL, MEMSTORE_OLLAMA
  MEMSTORE_OPENAI   base URL of an OpenAI-compatible server, for --embedder openai
  OPENAI_API_KEY    its key, if it needs one
  MEMSTORE_GENERATOR, MEMSTORE_GENERATOR_MODEL, MEMSTORE_GENERATOR_URL
                    what reads text for extract, remember and the MCP tools "learn"
  ANTHROPIC_API_KEY the key of --generator anthropic
  MEMSTORE_DURABILITY, MEMSTORE_SECRETS"""

KEPT_BACKUPS: Final = 24


class HelpFormatter(argparse.RawDescriptionHelpFormatter):
    """Keeps the lines of examples, and paths and flags in one piece."""

    def _split_lines(self, text: str, width: int) -> list[str]:
        whole = textwrap.wrap(text, width, break_on_hyphens=False, break_long_words=False)
        return [line.replace(BLANK, " ") for line in whole]


BLANK: Final = "\x00"
"""Stands for a blank of a path while help is wrapped."""


def add_store_flags(parser: argparse._ActionsContainer) -> None:
    """Add ``--db --namespace --embedder --model --ollama --durability --secrets``.

    A flag that is not given leaves no attribute, so a command and its subcommands may both have
    them without one undoing the other; :func:`chosen_settings` knows.
    """

    def flag(name: str, **details: object) -> None:
        parser.add_argument(name, default=argparse.SUPPRESS, **details)  # type: ignore[arg-type]

    # argparse formats its help
    default = str(settings.default_path()).replace("%", "%%").replace(" ", BLANK)
    flag(
        "--db",
        metavar="FILE",
        help=f"the file of memories, created if missing (default: {default})",
    )
    flag(
        "--namespace",
        metavar="NAME",
        help=f"the partition to read and write (default: {settings.DEFAULT_NAMESPACE}); auto: the "
        "project's, which memstore where tells of",
    )
    flag(
        "--embedder",
        choices=providers.NAMES,
        help="what finds facts by meaning: local works offline and is the default, "
        "ollama and openai ask a server, none means words only",
    )
    flag("--model", metavar="NAME", help="the embedding model of ollama (if alone) or openai")
    flag(
        "--durability",
        choices=("full", "normal"),
        help="what a write that was confirmed survives: full (the default) the loss of power, "
        "normal the end of the process, which is faster",
    )
    flag(
        "--secrets",
        choices=("redact", "refuse", "keep"),
        help="what becomes of API keys, private keys and tokens in what is stored: redact (the "
        "default) puts their kind in their place, refuse is an error, keep stores them",
    )
    flag(
        "--ollama",
        metavar="URL",
        help="where Ollama listens; implies --embedder ollama",
    )


def chosen_settings(arguments: argparse.Namespace) -> Settings:
    """Merge parsed flags over the environment; ValueError if two contradict each other.

    Any attribute named like a field of :class:`Settings` counts as its flag.
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
    if "model" not in flags and embedder_name(merged) != embedder_name(environment):
        # The environment's model is that of the environment's embedder.
        merged = merged._replace(model=None)
    if "generator" in flags and flags["generator"] != environment.generator:
        # So are its generator's model and address.
        merged = merged._replace(
            generator_model=flags.get("generator_model"),
            generator_url=flags.get("generator_url"),
        )
    return merged


def duration(text: str) -> float:
    """Read ``90s``, ``30m``, ``1h`` or ``7d`` as seconds."""
    units = {"s": 1, "m": 60, "h": 3600, "d": 86_400}
    number, unit = text.strip()[:-1], text.strip()[-1:]
    if unit not in units or not (number.isascii() and number.isdigit() and len(number) < 9):
        raise ValueError(f"a time such as 30m, 1h or 7d, not {text!r}")
    return float(int(number) * units[unit])


class BackupSchedule(NamedTuple):
    """What :meth:`memstore.Store.backup_in_background` takes."""

    every_seconds: float
    keep: int
    folder: str | None


def backup_schedule(chosen: Settings) -> BackupSchedule | None:
    """Return when a server makes backups; ``None`` for never."""
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


def add_generator_flags(parser: argparse._ActionsContainer) -> None:
    """Add ``--generator --generator-model --generator-url``, for what learns from text."""
    parser.add_argument(
        "--generator",
        choices=providers.GENERATORS,
        help="the language model that reads text: ollama on your own machine, openai (or a server "
        "of its kind) or anthropic, to which the text is sent; none by default",
    )
    parser.add_argument("--generator-model", metavar="NAME", help="which model of it")
    parser.add_argument("--generator-url", metavar="URL", help="where its service is")


def make_generator(chosen: Settings) -> JSONGenerator | None:
    """Return the generator that the settings name; ``None`` if they name none."""
    name = chosen.generator or "none"
    if name == "none" and (chosen.generator_model or chosen.generator_url):
        raise ValueError(
            "--generator-model and --generator-url belong to a generator: name it with "
            "--generator or MEMSTORE_GENERATOR"
        )
    try:
        return providers.generator(
            name,
            model=chosen.generator_model,
            base_url=chosen.generator_url,
        )
    except InvalidArgument as error:
        # An embedder's arguments have the same names, and other flags.
        error.argument = {"model": "generator_model", "base_url": "generator_url"}.get(
            error.argument or "", error.argument
        )
        raise


@contextmanager
def open_generator(chosen: Settings) -> Iterator[JSONGenerator | None]:
    """Make a generator as :func:`make_generator` does, and let go of its connections."""
    made = make_generator(chosen)
    try:
        yield made
    finally:
        if made is not None and isinstance(made, http_generator.HttpGenerator):
            made.close()


def embedder_name(chosen: Settings) -> str:
    """Return the embedder that is meant; the address of a server means that server.

    A model alone means Ollama at its usual address, as in the original memstore.
    """
    if chosen.embedder:
        return chosen.embedder
    if chosen.openai and not chosen.ollama:
        return "openai"
    return "ollama" if chosen.ollama or chosen.model else "local"


def make_embedder(chosen: Settings) -> Embedder | None:
    """Return the embedder that the settings name; ``None`` for words only."""
    name = embedder_name(chosen)
    return providers.embedder(
        name,
        model=chosen.model,
        base_url={"ollama": chosen.ollama, "openai": chosen.openai}.get(name),
    )


def open_store(chosen: Settings, *, actor: str = "user", source: str) -> Store:
    """Open the store that the settings describe; raises what :func:`memstore.open` does.

    The journal names who makes the changes (``user`` or ``agent``) and through what.
    """
    name = embedder_name(chosen)
    options: dict[str, Any] = {
        "path": chosen.db,
        "namespace": chosen.namespace or settings.DEFAULT_NAMESPACE,
        "actor": actor,
        "source": source,
        "read_only": chosen.read_only,
        "durability": chosen.durability,
        "secrets": chosen.secrets or "redact",
    }
    base_url = {"ollama": chosen.ollama, "openai": chosen.openai}.get(name)
    try:
        return opening.open(**options, embedder=name, model=chosen.model, base_url=base_url)
    except EmbedderMismatch as error:
        if chosen.db or chosen.embedder or chosen.model or base_url:
            raise
        # The usual file, as another program left it: nobody chose the model that does not fit.
        return opening.open_by_words(Reason.of(error), **options)
