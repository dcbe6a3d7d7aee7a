"""Numbers of thousands of digits, and others that no row has, are answered in the library's words.

Python writes no number of more than 4,300 digits, and SQLite stores none of more than 64 bits.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from memstore import DeleteFact, InvalidArgument, KeepFact, MetadataFilter, NotFound, Store

NUMBERS = [10**5000, -(10**5000), 2**63, -(2**64)]
Call = Callable[[Store, int], object]

MISSING: dict[str, Call] = {
    "get": lambda s, n: s.get(n),
    "delete": lambda s, n: s.delete(n),
    "rehearsed": lambda s, n: s.delete(n, dry_run=True),
    "restore": lambda s, n: s.restore(n),
    "reinstate": lambda s, n: s.reinstate(n),
    "history": lambda s, n: s.history(n),
    "erase": lambda s, n: s.erase(n),
    "old": lambda s, n: s.supersede(n, 1),
    "new": lambda s, n: s.supersede(1, n),
    "supersedes": lambda s, n: s.add("tea", subject="a", supersedes=n),
    "episode of a fact": lambda s, n: s.add("tea", subject="a", episode_id=n),
    "metadata": lambda s, n: s.update_metadata(n, {"a": 1}),
    "pin": lambda s, n: s.pin(n),
    "confirm": lambda s, n: s.confirm(n),
    "support": lambda s, n: s.ledger.support(n),
    "explain": lambda s, n: s.ledger.explain(n),
    "why not": lambda s, n: s.why_not("tea", n),
    "owners": lambda s, n: s.of().get(n),
    "episode": lambda s, n: s.episodes.get(n),
    "around": lambda s, n: s.episodes.around(n),
    "episode's owners": lambda s, n: s.of().episodes.get(n),
    "episode erased": lambda s, n: s.episodes.erase(n),
    "task": lambda s, n: s.tasks.update(n, "completed"),
    "accept": lambda s, n: s.proposals.accept(n),
    "reject": lambda s, n: s.proposals.reject(n),
    "proposal": lambda s, n: s.proposals.get(n),
    "apply delete": lambda s, n: s.ledger.apply([DeleteFact(fact_id=n)]),
    "apply keep": lambda s, n: s.ledger.apply([KeepFact(fact_id=n)]),
}

REFUSED: dict[str, Call] = {
    "limit": lambda s, n: s.search("tea", limit=n),
    "list limit": lambda s, n: s.list(limit=n),
    "offset": lambda s, n: s.list(limit=1, offset=n),
    "context": lambda s, n: s.search("tea", context=n),
    "relevance": lambda s, n: s.search("tea", min_relevance=n),
    "filter": lambda s, n: s.list(filters={"a": n}),
    "comparison": lambda s, n: s.list(filters=[MetadataFilter("a", ">=", n)]),
    "choice": lambda s, n: s.list(filters=[MetadataFilter("a", "in", [1, n])]),
    "place": lambda s, n: s.add("tea", subject="a", thread="t", seq=n),
    "lines": lambda s, n: s.ledger.revert(lines=[n]),
    "acts": lambda s, n: s.ledger.revert(acts=[n]),
    "since": lambda s, n: s.ledger.apply([], since=n),
    "log": lambda s, n: s.ledger.log(limit=n),
    "log before": lambda s, n: s.ledger.log(before=n),
}


@pytest.fixture
def filled(store: Store) -> Store:
    store.add("tea", subject="a")
    store.episodes.add("tea", source="chat")
    return store


@pytest.mark.parametrize("number", NUMBERS, ids=["huge", "negative", "64 bits", "-65 bits"])
@pytest.mark.parametrize("call", MISSING.values(), ids=MISSING)
def test_nothing_has_such_an_id(filled: Store, call: Call, number: int) -> None:
    with pytest.raises(NotFound, match=r"there is no (fact|episode|proposal)") as raised:
        call(filled, number)
    assert "sys." not in str(raised.value)


@pytest.mark.parametrize("number", NUMBERS, ids=["huge", "negative", "64 bits", "-65 bits"])
@pytest.mark.parametrize("call", REFUSED.values(), ids=REFUSED)
def test_such_an_argument_is_refused(filled: Store, call: Call, number: int) -> None:
    with pytest.raises(InvalidArgument) as raised:
        call(filled, number)
    assert "sys." not in str(raised.value)


def test_such_ids_are_left_out_of_several(filled: Store) -> None:
    assert [fact.id for fact in filled.get_many([1, *NUMBERS])] == [1]
    assert [*filled.transfer.uuids([1, *NUMBERS])] == [1]


@pytest.mark.parametrize("values", [{"a": 10**5000}, {"a": [{"b": -(10**5000)}]}])
def test_metadata_with_such_a_number_is_refused(filled: Store, values: dict[str, Any]) -> None:
    for call in (
        lambda: filled.add("tea", subject="a", metadata=values),
        lambda: filled.update_metadata(1, values),
        lambda: filled.episodes.add("tea", source="chat", metadata=values),
    ):
        with pytest.raises(InvalidArgument, match="a number has too many digits"):
            call()


def test_a_half_life_that_no_float_holds_is_refused(filled: Store) -> None:
    with pytest.raises(InvalidArgument, match="thousands of digits"):
        filled.search("tea", half_lives_seconds={"note": 10**5000})
    assert filled.search("tea", half_lives_seconds={"note": float("inf")})
