"""What the environment may set, read here and nowhere else."""

from __future__ import annotations

import os
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

from platformdirs import user_data_path

from memstore.errors import InvalidArgument

if TYPE_CHECKING:
    from pathlib import Path

DEFAULT_NAMESPACE = "default"
TRUE_WORDS = frozenset({"1", "true", "yes", "on"})
FALSE_WORDS = frozenset({"", "0", "false", "no", "off"})


@dataclass(frozen=True, slots=True)
class Settings:
    """One value for each variable; ``None`` where the environment says nothing."""

    db: str | None = None
    """``MEMSTORE_DB``: the file."""
    namespace: str | None = None
    """``MEMSTORE_NAMESPACE``: the partition everything is bound to."""
    embedder: str | None = None
    """``MEMSTORE_EMBEDDER``: local, ollama, openai or none."""
    model: str | None = None
    """``MEMSTORE_MODEL``: the embedding model of Ollama or the OpenAI-compatible server."""
    ollama: str | None = None
    """``MEMSTORE_OLLAMA``: the URL of the Ollama server."""
    openai: str | None = None
    """``MEMSTORE_OPENAI``: the base URL of the OpenAI-compatible server."""
    generator: str | None = None
    """``MEMSTORE_GENERATOR``: ollama, openai, anthropic or none."""
    generator_model: str | None = None
    """``MEMSTORE_GENERATOR_MODEL``: the model that writes text."""
    generator_url: str | None = None
    """``MEMSTORE_GENERATOR_URL``: where the generator's service is."""
    tools: str | None = None
    """``MEMSTORE_TOOLS``: the tool sets of the MCP server, separated by commas."""
    read_only: bool = False
    """``MEMSTORE_READ_ONLY``: offer and do nothing that writes."""


def from_environment() -> Settings:
    """Read the ``MEMSTORE_*`` variables.

    Raises:
        ValueError: a variable that is true or false is neither.
    """
    texts = {
        f.name: os.environ.get(f"MEMSTORE_{f.name.upper()}") or None
        for f in fields(Settings)
        if f.name != "read_only"
    }
    return Settings(**texts, read_only=_flag("MEMSTORE_READ_ONLY"))


def _flag(name: str) -> bool:
    word = os.environ.get(name, "").strip().lower()
    if word not in TRUE_WORDS | FALSE_WORDS:
        raise InvalidArgument(f"must be true or false, not {word!r}", argument=name)
    return word in TRUE_WORDS


def openai_key() -> str | None:
    """Return ``OPENAI_API_KEY``; a local OpenAI-compatible server needs none."""
    return os.environ.get("OPENAI_API_KEY") or None


def anthropic_key() -> str | None:
    """Return ``ANTHROPIC_API_KEY``; a gateway that holds the key itself needs none."""
    return os.environ.get("ANTHROPIC_API_KEY") or None


def default_path() -> Path:
    """Return the file used when none is named, e.g. ``~/.local/share/memstore/memory.db``."""
    return user_data_path("memstore", appauthor=False) / "memory.db"
