"""The embedders and generators that come with memstore, by name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeVar, cast

from memstore import settings
from memstore.domain.arguments import checked_choice
from memstore.domain.protocols import Generator
from memstore.errors import InvalidArgument, InvalidArgumentType
from memstore.lazy import lazy_import

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from memstore.domain.protocols import Embedder, JSONGenerator
    from memstore.providers import anthropic, local, ollama, openai
else:
    anthropic = lazy_import("memstore.providers.anthropic")
    local = lazy_import("memstore.providers.local")
    ollama = lazy_import("memstore.providers.ollama")
    openai = lazy_import("memstore.providers.openai")

M = TypeVar("M")

_EMBEDDERS: Final[Mapping[str, Callable[..., Embedder | None]]] = {
    "local": lambda: local.LocalEmbedder(),
    "ollama": lambda **given: ollama.OllamaEmbedder(**given),
    "openai": lambda **given: openai.OpenAIEmbedder(**given),
    "none": lambda: None,
}
_GENERATORS: Final[Mapping[str, Callable[..., JSONGenerator | None]]] = {
    "ollama": lambda **given: ollama.OllamaGenerator(**given),
    "openai": lambda **given: openai.OpenAIGenerator(**given),
    "anthropic": lambda **given: anthropic.AnthropicGenerator(**given),
    "none": lambda: None,
}
_WITHOUT_SERVICE: Final = ("local", "none")
_KEYS: Final = {"openai": settings.openai_key, "anthropic": settings.anthropic_key}
NAMES: Final = settings.EMBEDDERS
GENERATORS: Final = tuple(_GENERATORS)


def embedder(
    name: str, *, model: str | None = None, base_url: str | None = None, api_key: str | None = None
) -> Embedder | None:
    """Return the embedder of this name; ``None`` for ``"none"``, which means words only.

    Without a key, the one in the environment is used.

    Raises:
        ValueError: an unknown name, or an option that this embedder does not take.
    """
    return _from_maker("embedder", _EMBEDDERS, name, api_key, model, base_url)


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
) -> M:
    checked_choice(name, makers, what)
    given = {"model": model, "base_url": base_url}
    given = {key: value for key, value in given.items() if value is not None}
    if given and name in _WITHOUT_SERVICE:
        raise InvalidArgument(f"does not go with the {what} {name!r}", argument=next(iter(given)))
    if name in _KEYS:
        given["api_key"] = api_key or _KEYS[name]()
    return makers[name](**given)
