"""The embedders and generators that come with memstore, by name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from memstore import settings
from memstore.domain.arguments import checked_choice
from memstore.domain.protocols import Generator
from memstore.errors import InvalidArgument, InvalidArgumentType
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
    "given_generator",
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
_NAMED_GENERATORS = {name: kind for name, kind in _GENERATORS.items() if kind is not None}
_KEYS = {
    OpenAIEmbedder: settings.openai_key,
    OpenAIGenerator: settings.openai_key,
    AnthropicGenerator: settings.anthropic_key,
}
NAMES = tuple(_EMBEDDERS)
GENERATORS = tuple(_GENERATORS)


def embedder(
    name: str, *, model: str | None = None, base_url: str | None = None, api_key: str | None = None
) -> Embedder | None:
    """Return the embedder of this name; ``None`` for ``"none"``, which means words only.

    A key that is not given is that of the environment.

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


def given_generator(given: str | Generator) -> Generator:
    """Return a generator that is given as one, or by the name of its provider.

    Raises:
        ValueError: an unknown name.
        TypeError: neither a name nor a generator.
    """
    if isinstance(given, str):
        made: Generator = _made("generator", _NAMED_GENERATORS, given, None, None, None)
        return made
    if isinstance(given, type) or not isinstance(given, Generator):
        name = f"the class {given.__name__}" if isinstance(given, type) else type(given).__name__
        raise InvalidArgumentType(
            f"must be {', '.join(map(repr, _NAMED_GENERATORS))}, or an object with a `model` and a "
            f"`generate(prompt)`, not {name}",
            argument="generator",
        )
    return given


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
    if kind in _KEYS:
        given["api_key"] = api_key or _KEYS[kind]()
    return None if kind is None else kind(**given)
