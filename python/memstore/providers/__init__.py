"""The embedders and generators that come with memstore, by name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from memstore.domain.arguments import checked_choice
from memstore.errors import InvalidArgument
from memstore.providers.anthropic import AnthropicGenerator
from memstore.providers.local import LocalEmbedder
from memstore.providers.ollama import OllamaEmbedder, OllamaGenerator
from memstore.providers.openai import OpenAIEmbedder, OpenAIGenerator

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

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

_EMBEDDERS = {
    "local": LocalEmbedder,
    "ollama": OllamaEmbedder,
    "openai": OpenAIEmbedder,
    "none": None,
}
_GENERATORS = {
    "ollama": OllamaGenerator,
    "openai": OpenAIGenerator,
    "anthropic": AnthropicGenerator,
    "none": None,
}
NAMES = tuple(_EMBEDDERS)
GENERATORS = tuple(_GENERATORS)


def embedder(
    name: str, *, model: str | None = None, base_url: str | None = None, api_key: str | None = None
) -> Embedder | None:
    """Return the embedder of this name; ``None`` for ``"none"``, which means words only.

    Raises:
        ValueError: an unknown name, or an option that this embedder does not take.
    """
    made: Embedder | None = _made("embedder", _EMBEDDERS, name, api_key, model, base_url)
    return made


def generator(
    name: str, *, model: str | None = None, base_url: str | None = None, api_key: str | None = None
) -> JSONGenerator | None:
    """Return the generator of this name; ``None`` for ``"none"``. Errors as of :func:`embedder`."""
    made: JSONGenerator | None = _made("generator", _GENERATORS, name, api_key, model, base_url)
    return made


def _made(
    what: str,
    kinds: Mapping[str, Callable[..., Any] | None],
    name: str,
    api_key: str | None,
    model: str | None,
    base_url: str | None,
) -> Any:
    checked_choice(name, kinds, what)
    kind = kinds[name]
    given = {"model": model, "base_url": base_url}
    given = {key: value for key, value in given.items() if value is not None}
    if given and kind in (LocalEmbedder, None):
        raise InvalidArgument(f"does not go with the {what} {name!r}", argument=next(iter(given)))
    if kind in (OpenAIEmbedder, OpenAIGenerator, AnthropicGenerator):
        given["api_key"] = api_key
    return None if kind is None else kind(**given)
