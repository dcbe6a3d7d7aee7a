"""A search that is asked like one before it: nothing of that one's time or conditions is left."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from tests.support.clock import ManualClock

from memstore import InvalidArgument, Store
from memstore.domain import clock
from memstore.store.view import MAX_REQUESTS


def found(store: Store, **asked: Any) -> list[str]:
    return [hit.fact.content for hit in store.search("tea", touch=False, **asked)]


def test_each_search_is_of_its_own_time(store: Store, manual_clock: ManualClock) -> None:
    store.add("tea for now", subject="ana", expired_at=clock.utc_now() + timedelta(seconds=60))
    assert found(store) == found(store) == ["tea for now"]
    manual_clock.advance(61)
    assert found(store) == []


def test_more_kinds_of_searches_than_are_remembered(store: Store) -> None:
    subjects = [f"subject {number}" for number in range(MAX_REQUESTS + 2)]
    for subject in subjects:
        store.add(f"tea of {subject}", subject=subject)
    for subject in [*subjects, *subjects]:
        assert found(store, subject=subject) == [f"tea of {subject}"]


class Names:
    """Names that change between two reads."""

    def __init__(self, *names: str) -> None:
        self.names = names

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)


def test_namespaces_are_read_at_each_search(store: Store) -> None:
    for name in ("one", "two"):
        store.within(name).add(f"tea in {name}", subject="ana")
    names = Names("one")
    assert found(store, namespaces=names) == ["tea in one"]
    names.names = ("two",)
    assert found(store, namespaces=names) == ["tea in two"]
    used = iter(["one"])
    assert found(store, namespaces=used) == ["tea in one"]
    with pytest.raises(InvalidArgument, match="namespaces"):
        found(store, namespaces=used)


def test_filters_are_read_at_each_search(store: Store) -> None:
    for name in ("one", "two"):
        store.add(f"tea of {name}", subject="ana", metadata={"of": name})
    filters = {"of": "one"}
    assert found(store, filters=filters) == ["tea of one"]
    filters["of"] = "two"
    assert found(store, filters=filters) == ["tea of two"]
