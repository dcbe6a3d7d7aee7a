"""The keywords that several methods take, each written once.

A method takes them as ``**asked: Unpack[FactSearch]``, which is what type checkers read; the
decorator :func:`keywords` gives it the defaults and the signature that people read.
"""

from __future__ import annotations

import inspect
from functools import wraps
from typing import TYPE_CHECKING, Any, ForwardRef, ParamSpec, TypedDict, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from datetime import datetime

    from memstore.domain.metadata import Filters
    from memstore.domain.namespaces import Namespaces
    from memstore.domain.records import AskedScope

P = ParamSpec("P")
R = TypeVar("R")


class Periods(TypedDict, total=False):
    """When it was written down, and since when it holds."""

    created_after: datetime | str | None
    created_before: datetime | str | None
    valid_after: datetime | str | None
    valid_before: datetime | str | None


class FactNarrowing(Periods, total=False):
    """Which facts are meant."""

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
    """The keywords of ``Store.recall``."""

    namespaces: Namespaces
    min_relevance: float | None
    touch: bool


class FactCount(FactNarrowing, total=False):
    include_deleted: bool


class Page(TypedDict, total=False):
    """Which part of a list is meant, and in what order."""

    limit: int | None
    offset: int
    newest_first: bool


class FactList(FactCount, Page, total=False):
    """The keywords of ``Store.list``."""


class EpisodeNarrowing(Periods, total=False):
    """Which episodes are meant; the keywords of ``Episodes.count``."""

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
    """Whose memories are meant; the keywords of every call of ``Memory``."""

    user_id: str | None
    agent_id: str | None
    run_id: str | None


def keywords(kind: type, **defaults: Any) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Give a function's ``**asked`` the names of a TypedDict; defaults not given are ``None``.

    The function is called with every keyword there is, and refuses others with a ``TypeError``.
    """
    every = dict.fromkeys(kind.__annotations__) | defaults

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        signature = inspect.signature(function)
        own = [p for p in signature.parameters.values() if p.kind is not p.VAR_KEYWORD]
        known = every.keys() | {p.name for p in own}

        @wraps(function)
        def call(*args: P.args, **kwargs: P.kwargs) -> R:
            if unknown := kwargs.keys() - known:
                raise TypeError(
                    f"{function.__qualname__}() got an unexpected keyword argument {min(unknown)!r}"
                )
            return function(*args, **every | kwargs)  # type: ignore[arg-type]

        call.__signature__ = signature.replace(  # type: ignore[attr-defined]
            parameters=own
            + [
                inspect.Parameter(
                    name,
                    inspect.Parameter.KEYWORD_ONLY,
                    default=default,
                    annotation=_written(kind.__annotations__[name]),
                )
                for name, default in every.items()
            ]
        )
        return call

    return decorate


def taken(asked: Any, kind: type) -> dict[str, Any]:
    return {name: asked.pop(name) for name in kind.__annotations__ if name in asked}


def _written(annotation: object) -> object:
    """Return an annotation as it is written in the source, like those of other functions."""
    return annotation.__forward_arg__ if isinstance(annotation, ForwardRef) else annotation
