"""Keywords that several functions share, each written once, as a ``TypedDict``.

A function takes them as ``**asked: Unpack[FactSearch]``, which type checkers understand; the
decorator :func:`keywords` adds the defaults and the signature for readers.
"""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, Any, ForwardRef, ParamSpec, TypeVar, cast

from memstore.lazy import lazy_import

if TYPE_CHECKING:
    import inspect
    from collections.abc import Callable, Mapping
else:
    inspect = lazy_import("inspect")

K = TypeVar("K")
P = ParamSpec("P")
R = TypeVar("R")


def keywords(kind: type, **defaults: Any) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Give a function's ``**asked`` the names of a TypedDict; the default is ``None``.

    The function receives every keyword; an unknown one raises ``TypeError``.
    """
    every = dict.fromkeys(kind.__annotations__) | defaults

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        code = function.__code__
        known = {*every, *code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]}

        @wraps(function)
        def call(*args: P.args, **kwargs: P.kwargs) -> R:
            if unknown := kwargs.keys() - known:
                raise TypeError(
                    f"{function.__qualname__}() got an unexpected keyword argument {min(unknown)!r}"
                )
            return function(*args, **every | kwargs)  # type: ignore[arg-type]

        call.__wrapped__ = _Described(function, kind, every)  # type: ignore[assignment]
        return call

    return decorate


class _Described:
    """What ``inspect.signature`` finds behind a function of :func:`keywords`."""

    def __init__(
        self, function: Callable[..., object], kind: type, every: Mapping[str, object]
    ) -> None:
        self.__wrapped__ = function
        self._kind = kind
        self._every = every

    @property
    def __signature__(self) -> inspect.Signature:
        signature = inspect.signature(self.__wrapped__)
        own = [p for p in signature.parameters.values() if p.kind is not p.VAR_KEYWORD]
        of_kind = [
            inspect.Parameter(
                name,
                inspect.Parameter.KEYWORD_ONLY,
                default=default,
                annotation=_written(self._kind.__annotations__[name]),
            )
            for name, default in self._every.items()
        ]
        return signature.replace(parameters=own + of_kind)


def part(kind: type[K], asked: Mapping[str, object]) -> K:
    """Return those of a function's keywords that a smaller TypedDict has."""
    names = (name for name in kind.__annotations__ if name in asked)
    return cast("K", {name: asked[name] for name in names})


def _written(annotation: object) -> object:
    """Return an annotation as it is written in the source, like those of other functions."""
    return annotation.__forward_arg__ if isinstance(annotation, ForwardRef) else annotation
