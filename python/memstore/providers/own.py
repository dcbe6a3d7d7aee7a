"""A program's own embedder, named as ``MODULE:FACTORY``."""

from __future__ import annotations

from functools import reduce
from importlib import import_module
from typing import TYPE_CHECKING

from memstore.domain.protocols import Embedder
from memstore.errors import InvalidArgument, InvalidArgumentType

if TYPE_CHECKING:
    from collections.abc import Mapping


def embedder(name: str, options: Mapping[str, str | None]) -> Embedder:
    """Return what a function without arguments returns, once it is an embedder.

    Args:
        name: the module and, after a colon, the function in it: ``my_package.models:embedder``.
        options: those of other embedders; this one takes none.

    Raises:
        ValueError: there is no such module or function, or it failed; or an option is given.
        TypeError: it is no function, or what it returned is no embedder.
    """
    if stray := [option for option, value in options.items() if value is not None]:
        raise InvalidArgument(f"does not go with the embedder {name!r}", argument=stray[0])
    module, _, path = name.partition(":")
    try:
        factory = reduce(getattr, path.split("."), import_module(module))
    except (ImportError, AttributeError, ValueError) as error:
        raise InvalidArgument(
            f"must be one that comes with memstore, or MODULE:FACTORY; {name!r} cannot be "
            f"imported: {error}",
            argument="embedder",
        ) from error
    if not callable(factory):
        raise InvalidArgumentType(f"{name!r} is no function", argument="embedder")
    try:
        made = factory()
    except Exception as error:  # somebody else's code
        raise InvalidArgument(
            f"{name!r} failed: {type(error).__name__}: {error}", argument="embedder"
        ) from error
    if isinstance(made, type) or not isinstance(made, Embedder):
        raise InvalidArgumentType(
            f"{name!r} must return an object with a `model` and an `embed(texts)`, not "
            f"{type(made).__name__}",
            argument="embedder",
        )
    return made
