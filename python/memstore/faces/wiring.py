"""From flags and environment to an open store, the same for every command.

A flag wins over the variable of the same name; :mod:`memstore.settings` reads the variables. The
way back is here too: where an error of the library names an argument, users read their flag.
"""

from __future__ import annotations

import argparse
import re
import textwrap
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Final

from memstore import providers, settings
from memstore.opening import open as open_file
from memstore.settings import Settings

if TYPE_CHECKING:
    from memstore.store import Store

ENVIRONMENT_HELP = """\
environment (a flag wins over it):
  MEMSTORE_DB, MEMSTORE_NAMESPACE, MEMSTORE_EMBEDDER, MEMSTORE_MODEL, MEMSTORE_OLLAMA
  MEMSTORE_OPENAI   base URL of an OpenAI-compatible server, for --embedder openai
  OPENAI_API_KEY    its key, where it wants one"""


WORDS: Final = (
    # the library's words, those of the command line, those of the MCP server
    (r"\bwith db=", "with --db", "with --db"),
    (r"\bembedder=None\b", "--embedder none", "--embedder none"),
    (r"\bopen it with one$", "choose one with --embedder", "start it with --embedder"),
    (
        r"\bwithout read_only\b",
        "without MEMSTORE_READ_ONLY",
        "without --read-only or MEMSTORE_READ_ONLY",
    ),
    (r"\bkeep_namespaces=True\b", "--keep-namespaces", "--keep-namespaces"),
    (r"\b(word|vector)_weight\b", r"--\1-weight", r"\1_weight"),
    (r"^valid_at\b|(?<=not after )valid_at\b", "--valid-at", "valid_at"),
    (r"^expired_at\b", "--expires-at", "expired_at"),
    (r"\bcall supersede\((\d+), (\d+)\)", r"memstore supersede \1 \2", "call memory_supersede"),
    (r"\bupdate the task instead$", "use memstore task update", "use memory_task_update"),
    (r"\bmemory_task_update / tasks\.update\b", "memstore task update", "memory_task_update"),
    (
        r"\bAllow more time with timeout_seconds, or send less at once",
        "It may still be loading its model: try again",
        "It may still be loading its model: try again",
    ),
    (r"(?<!\w)api_key\b", "OPENAI_API_KEY", "OPENAI_API_KEY"),
    (r"(?<!\w)base_url\b", "--ollama or MEMSTORE_OPENAI", "--ollama or MEMSTORE_OPENAI"),
)
"""How error texts of the library name its arguments, and how its users do."""


class HelpFormatter(argparse.RawDescriptionHelpFormatter):
    """Keeps the lines of examples, and paths and flags in one piece."""

    def _split_lines(self, text: str, width: int) -> list[str]:
        whole = textwrap.wrap(text, width, break_on_hyphens=False, break_long_words=False)
        return [line.replace(BLANK, " ") for line in whole]


BLANK: Final = "\x00"
"""Stands for a blank of a path while help is wrapped."""


def for_command_line(text: str) -> str:
    """Return an error text of the library in words of the command line."""
    return _in_words(text, 1)


def for_server(text: str) -> str:
    """Return an error text of the library in words of the MCP server."""
    return _in_words(text, 2)


def _in_words(text: str, whose: int) -> str:
    for row in WORDS:
        text = re.sub(row[0], row[whose], text)
    return text


def add_store_flags(parser: argparse._ActionsContainer) -> None:
    """Add ``--db --namespace --embedder --model --ollama``.

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
        help=f"the partition to read and write (default: {settings.DEFAULT_NAMESPACE})",
    )
    flag(
        "--embedder",
        choices=providers.NAMES,
        help="what finds facts by meaning: local works offline and is the default, "
        "ollama and openai ask a server, none means words only",
    )
    flag("--model", metavar="NAME", help="the embedding model of ollama or openai")
    flag(
        "--ollama",
        metavar="URL",
        help="where Ollama listens; implies --embedder ollama",
    )


def chosen_settings(arguments: argparse.Namespace) -> Settings:
    """Merge parsed flags over the environment.

    Any attribute named like a field of :class:`Settings` counts as its flag.

    Raises:
        ValueError: two flags contradict each other, or a variable makes no sense.
    """
    environment = settings.from_environment()
    flags = {
        f.name: value
        for f in fields(Settings)
        if (value := getattr(arguments, f.name, None)) is not None
    }
    for name, value in flags.items():
        if isinstance(value, str) and not value.strip():
            raise ValueError(f"--{name} is empty: give it a value, or leave it out")
    if "ollama" in flags and flags.setdefault("embedder", "ollama") != "ollama":
        raise ValueError(
            f"--ollama names an Ollama server, and --embedder is {flags['embedder']}: "
            "leave one of them out"
        )
    merged = replace(environment, **flags)
    if "model" not in flags and embedder_name(merged) != embedder_name(environment):
        # The environment's model is that of the environment's embedder.
        merged = replace(merged, model=None)
    return merged


def embedder_name(chosen: Settings) -> str:
    """Return the embedder that is meant; the address of a server means that server."""
    if chosen.embedder:
        return chosen.embedder
    if chosen.ollama:
        return "ollama"
    return "openai" if chosen.openai else "local"


def open_store(chosen: Settings, *, actor: str = "user", source: str) -> Store:
    """Open the store that the settings describe.

    Args:
        chosen: from :func:`chosen_settings`.
        actor: who makes the changes, for the journal: ``user`` or ``agent``.
        source: through what: ``cli`` or ``mcp``.

    Raises:
        MemstoreError: as :func:`memstore.open`; the text is fit for the user as it is.
        ValueError: the same.
    """
    name = embedder_name(chosen)
    return open_file(
        chosen.db,
        namespace=chosen.namespace or settings.DEFAULT_NAMESPACE,
        embedder=name,
        model=chosen.model,
        base_url={"ollama": chosen.ollama, "openai": chosen.openai}.get(name),
        actor=actor,
        source=source,
        read_only=chosen.read_only,
    )
