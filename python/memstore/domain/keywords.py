"""The keywords that several methods share, each written once.

A method takes them as ``**asked: Unpack[FactSearch]``, which type checkers understand; the
decorator :func:`keywords` adds the defaults and the signature for readers.
"""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, Any, ForwardRef, ParamSpec, TypedDict, TypeVar

from memstore.lazy import lazy_import

if TYPE_CHECKING:
    import inspect
    from collections.abc import Callable, Iterable, Mapping
    from datetime import datetime

    from memstore.domain.metadata import Filters
    from memstore.domain.namespaces import Namespaces
    from memstore.domain.records import AskedScope
else:
    inspect = lazy_import("inspect")

P = ParamSpec("P")
R = TypeVar("R")


class Periods(TypedDict, total=False):
    """When something was stored, and since when it is valid."""

    created_after: datetime | str | None
    created_before: datetime | str | None
    valid_after: datetime | str | None
    valid_before: datetime | str | None


class FactNarrowing(Periods, total=False):
    """Which facts to select."""

    subject: str | None
    category: str | None
    filters: Filters
    scope: AskedScope
    active_only: bool
    tasks: bool | None


class FactRanking(TypedDict, total=False):
    """How facts are ranked, and how many are returned."""

    limit: int
    context: int
    word_weight: float | None
    vector_weight: float | None
    half_lives_seconds: Mapping[str, float] | None
    ranking: str | None
    min_relevance: float | None


class FactSearch(FactNarrowing, FactRanking, total=False):
    namespaces: Namespaces
    touch: bool


class FactRecall(FactNarrowing, total=False):
    """The keywords of ``Store.recall`` and ``Store.said``."""

    namespaces: Namespaces
    half_lives_seconds: Mapping[str, float] | None
    min_relevance: float | None
    touch: bool


class FactCount(FactNarrowing, total=False):
    include_deleted: bool
    pinned: bool


class Page(TypedDict, total=False):
    """Which part of a list to return, and in what order."""

    limit: int | None
    offset: int
    newest_first: bool


class FactList(FactCount, Page, total=False):
    """The keywords of ``Store.list``."""


class EpisodeNarrowing(Periods, total=False):
    """Which episodes to select; the keywords of ``Episodes.count``."""

    source: str | None
    tags: Iterable[str]
    expired_after: datetime | str | None
    expired_before: datetime | str | None
    include_expired: bool
    namespaces: Namespaces
    scope: AskedScope


class EpisodeList(EpisodeNarrowing, Page, total=False):
    """The keywords of ``Episodes.list``."""


class EpisodeRanking(TypedDict, total=False):
    """How episodes are ranked, and how many are returned."""

    limit: int
    context: int
    mode: str
    alpha: float | None
    tag_boost: float
    min_similarity: float | None
    ranking: str | None
    min_relevance: float | None


class EpisodeSearch(EpisodeNarrowing, EpisodeRanking, total=False):
    """The keywords of ``Episodes.search``."""


class Owners(TypedDict, total=False):
    """The owners of memories; the keywords of every method of ``Memory``."""

    user_id: str | None
    agent_id: str | None
    run_id: str | None


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


def taken(asked: Any, kind: type) -> dict[str, Any]:
    """Move the keywords of a TypedDict out of ``asked`` and return them."""
    return {name: asked.pop(name) for name in kind.__annotations__ if name in asked}


def _written(annotation: object) -> object:
    """Return an annotation as it is written in the source, like those of other functions."""
    return annotation.__forward_arg__ if isinstance(annotation, ForwardRef) else annotation
