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
