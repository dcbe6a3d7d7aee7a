"""Keywords: defined once, shown in the signature with their defaults; others are refused."""

from __future__ import annotations

import inspect
from types import SimpleNamespace
from typing import Any, TypedDict, Unpack

import pytest

from memstore import Store
from memstore.episodes.episodes import Episodes
from memstore.keywords import keywords, part


class Asked(TypedDict, total=False):
    limit: int
    subject: str | None


@keywords(Asked, limit=10)
def find(query: str, place: int = 0, **asked: Unpack[Asked]) -> tuple[Any, ...]:
    """Find it."""
    return query, place, dict(asked)


def test_the_signature_shows_each_keyword_and_its_default() -> None:
    assert str(inspect.signature(find)) == (
        "(query: 'str', place: 'int' = 0, *, limit: 'int' = 10, subject: 'str | None' = None)"
        " -> 'tuple[Any, ...]'"
    )
    assert (find.__name__, find.__doc__) == ("find", "Find it.")


def test_a_function_gets_every_keyword() -> None:
    assert find("tea") == ("tea", 0, {"limit": 10, "subject": None})
    assert find("tea", place=2, limit=1) == ("tea", 2, {"limit": 1, "subject": None})


def test_other_keywords_are_refused_by_name() -> None:
    with pytest.raises(TypeError, match=r"find\(\) got an unexpected keyword argument 'limitt'"):
        find("tea", limitt=1)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="query"):
        find(limit=1)  # type: ignore[call-arg]


def test_a_part_of_the_keywords_leaves_the_others() -> None:
    asked = {"limit": 1, "subject": None, "other": 2}
    assert part(Asked, asked) == {"limit": 1, "subject": None}
    assert part(Asked, {"limit": 2}) == {"limit": 2}


@pytest.mark.parametrize(
    ("method", "defaults"),
    [
        (Store.search, {"limit": 10, "active_only": True, "touch": True, "word_weight": None}),
        (Store.search_batch, {"limit": 10, "namespaces": None}),
        (Store.list, {"limit": None, "offset": 0, "newest_first": False, "active_only": True}),
        (Store.count, {"subject": None, "include_deleted": False, "active_only": True}),
        (Episodes.search, {"limit": 10, "mode": "hybrid", "tags": (), "query": None}),
        (Episodes.list, {"limit": None, "tags": (), "include_expired": False}),
        (Episodes.count, {"source": None, "tags": (), "valid_before": None}),
    ],
)
def test_searching_and_listing_show_their_keywords(method: Any, defaults: dict[str, Any]) -> None:
    shown = inspect.signature(method).parameters
    assert {name: shown[name].default for name in defaults} == defaults
    assert all(p.kind is not p.VAR_KEYWORD for p in shown.values())
    with pytest.raises(TypeError, match="unexpected keyword argument 'colour'"):
        method(SimpleNamespace(_zone=None), "tea", colour="red")
