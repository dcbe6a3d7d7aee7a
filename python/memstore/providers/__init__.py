"""The embedders and generators that come with memstore, by name."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Final, TypeVar, cast

from memstore import settings
from memstore.domain.arguments import checked_choice
from memstore.domain.protocols import Generator
from memstore.errors import InvalidArgument, InvalidArgumentType
from memstore.lazy import lazy_import

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from memstore.domain.protocols import Embedder, JSONGenerator
    from memstore.providers import anthropic, fetched, local, ollama, openai, own
else:
    anthropic = lazy_import("memstore.providers.anthropic")
    fetched = lazy_import("memstore.providers.fetched")
    local = lazy_import("memstore.providers.local")
    ollama = lazy_import("memstore.providers.ollama")
    openai = lazy_import("memstore.providers.openai")
    own = lazy_import("memstore.providers.own")

M = TypeVar("M")

_EMBEDDERS: Final[Mapping[str, Callable[..., Embedder | None]]] = {
    "local": lambda: local.LocalEmbedder(),
    "ollama": lambda **given: ollama.OllamaEmbedder(**given),
    "openai": lambda **given: openai.OpenAIEmbedder(**given),
    "fastembed": lambda **given: fetched.FastEmbedder(**given),
    "none": lambda: None,
}
_GENERATORS: Final[Mapping[str, Callable[..., JSONGenerator | None]]] = {
    "ollama": lambda **given: ollama.OllamaGenerator(**given),
    "openai": lambda **given: openai.OpenAIGenerator(**given),
    "anthropic": lambda **given: anthropic.AnthropicGenerator(**given),
    "none": lambda: None,
}
_TAKEN: Final[Mapping[str, Sequence[str]]] = {"local": (), "none": (), "fastembed": ("model",)}
"""The options of those that do not take all."""
_KEYS: Final = {"openai": settings.openai_key, "anthropic": settings.anthropic_key}
NAMES: Final = settings.EMBEDDERS
GENERATORS: Final = tuple(_GENERATORS)


def embedder(
    name: str,
    *,
    model: str | None = None,
    base_url: str | None = None,
    api_key: str | None = None,
    query_prompt: str | None = None,
    passage_prompt: str | None = None,
) -> Embedder | None:
    """Return the embedder of this name; ``None`` for ``"none"``, which means words only.

    Without a key, the one in the environment is used. ``fastembed:MODEL`` names a model as well,
    and ``MODULE:FACTORY`` a function that returns the embedder.

    Raises:
        ValueError: an unknown name or function, or an option that the embedder does not take.
        TypeError: the function returned something else.
    """
    prompts = {"query_prompt": query_prompt, "passage_prompt": passage_prompt}
    given = {name: text for name, text in prompts.items() if text is not None}
    kind, colon, rest = name.partition(":")
    if colon and kind == "fastembed" and model is None:
        name, model = kind, rest
    elif colon and kind not in _EMBEDDERS:
        options = {"model": model, "base_url": base_url, "api_key": api_key, **given}
        return own.embedder(name, options)
    return _from_maker("embedder", _EMBEDDERS, name, api_key, model, base_url, given)


def generator(
    name: str, *, model: str | None = None, base_url: str | None = None, api_key: str | None = None
) -> JSONGenerator | None:
    """Return the generator of this name; ``None`` for ``"none"``. Raises as :func:`embedder`."""
    return _from_maker("generator", _GENERATORS, name, api_key, model, base_url)


def given_generator(given: str | Generator) -> Generator:
    """Return a generator given as an object or by the name of its provider.

    Raises:
        ValueError: an unknown name.
        TypeError: neither a name nor a generator.
    """
    named = {name: make for name, make in _GENERATORS.items() if name != "none"}
    if isinstance(given, str):
        return cast("Generator", _from_maker("generator", named, given, None, None, None))
    if isinstance(given, type) or not isinstance(given, Generator):
        name = f"the class {given.__name__}" if isinstance(given, type) else type(given).__name__
        raise InvalidArgumentType(
            f"must be {', '.join(map(repr, named))}, or an object with a `model` and a "
            f"`generate(prompt)`, not {name}",
            argument="generator",
        )
    return given


def _from_maker(
    what: str,
    makers: Mapping[str, Callable[..., M]],
    name: str,
    api_key: str | None,
    model: str | None,
    base_url: str | None,
    prompts: Mapping[str, str] = MappingProxyType({}),
) -> M:
    checked_choice(name, makers, what)
    given = {"model": model, "base_url": base_url, **prompts}
    given = {key: value for key, value in given.items() if value is not None}
    taken = _TAKEN.get(name)
    if taken is not None and (stray := [key for key in given if key not in taken]):
        raise InvalidArgument(f"does not go with the {what} {name!r}", argument=stray[0])
    if name in _KEYS:
        given["api_key"] = api_key or _KEYS[name]()
    return makers[name](**given)
