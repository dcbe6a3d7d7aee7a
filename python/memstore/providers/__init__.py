"""The embedders and generators that come with memstore, by name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from memstore.errors import InvalidArgument
from memstore.providers.anthropic import AnthropicGenerator
from memstore.providers.local import LocalEmbedder
from memstore.providers.ollama import OllamaEmbedder
from memstore.providers.ollama_chat import OllamaGenerator
from memstore.providers.openai import OpenAIEmbedder
from memstore.providers.openai_chat import OpenAIGenerator

if TYPE_CHECKING:
    from memstore.domain.protocols import Embedder, JSONGenerator

__all__ = [
    "GENERATORS",
    "NAMES",
    "AnthropicGenerator",
    "LocalEmbedder",
    "OllamaEmbedder",
    "OllamaGenerator",
    "OpenAIEmbedder",
    "OpenAIGenerator",
    "embedder",
    "generator",
]

NAMES = ("local", "ollama", "openai", "none")
GENERATORS = ("ollama", "openai", "anthropic", "none")


def embedder(
    name: str, *, model: str | None = None, base_url: str | None = None, api_key: str | None = None
) -> Embedder | None:
    """Return the embedder of this name; ``None`` for ``"none"``, which means words only.

    Args:
        name: ``local``, ``ollama``, ``openai`` or ``none``.
        model: the model to ask the server for; its own default when ``None``.
        base_url: where the server is; its usual address when ``None``.
        api_key: for an OpenAI-compatible server that needs one.

    Raises:
        ValueError: an unknown name, or an option that this embedder does not take.
    """
    given: dict[str, Any] = {"model": model, "base_url": base_url}
    given = {key: value for key, value in given.items() if value is not None}
    if name == "ollama":
        return OllamaEmbedder(**given)
    if name == "openai":
        return OpenAIEmbedder(**given, api_key=api_key)
    if name not in NAMES:
        raise InvalidArgument(
            f"must be one of {', '.join(NAMES)}, not {name!r}", argument="embedder"
        )
    if given:
        raise InvalidArgument(f"does not go with the embedder {name!r}", argument=next(iter(given)))
    return LocalEmbedder() if name == "local" else None


def generator(
    name: str, *, model: str | None = None, base_url: str | None = None, api_key: str | None = None
) -> JSONGenerator | None:
    """Return the generator of this name; ``None`` for ``"none"``.

    Args:
        name: ``ollama``, ``openai``, ``anthropic`` or ``none``.
        model: the model to ask the service for; its own default when ``None``.
        base_url: where the service is; its usual address when ``None``.
        api_key: for OpenAI, services with its protocol, and Anthropic, where they need one.

    Raises:
        ValueError: an unknown name, or an option that this generator does not take.
    """
    given: dict[str, Any] = {"model": model, "base_url": base_url}
    given = {key: value for key, value in given.items() if value is not None}
    if name == "ollama":
        return OllamaGenerator(**given)
    if name == "openai":
        return OpenAIGenerator(**given, api_key=api_key)
    if name == "anthropic":
        return AnthropicGenerator(**given, api_key=api_key)
    if name not in GENERATORS:
        raise InvalidArgument(
            f"must be one of {', '.join(GENERATORS)}, not {name!r}", argument="generator"
        )
    if given:
        raise InvalidArgument(
            f"does not go with the generator {name!r}", argument=next(iter(given))
        )
    return None
