"""From flags and environment to an open store, the same for every command.

A flag wins over the variable of the same name; :mod:`memstore.settings` reads the variables.
"""

from __future__ import annotations

import argparse
from dataclasses import fields, replace
from typing import TYPE_CHECKING

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


def add_store_flags(parser: argparse._ActionsContainer) -> None:
    """Add ``--db --namespace --embedder --model --ollama``.

    A flag that is not given leaves no attribute, so a command and its subcommands may both have
    them without one undoing the other; :func:`chosen_settings` knows.
    """

    def flag(name: str, **details: object) -> None:
        parser.add_argument(name, default=argparse.SUPPRESS, **details)  # type: ignore[arg-type]

    default = str(settings.default_path()).replace("%", "%%")  # argparse formats its help
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
