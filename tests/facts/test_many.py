"""Facts that are written together are those that are written one by one."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import memstore
from memstore import NewFact, Store

texts = st.sampled_from(["tea", "Tea.", "tea  ", "café", "茶が好き", 'a "b"\\\n', "x" * 300])
names = st.sampled_from(["ana", "Ana", "ÄNA", "todo", "project"])
keys = st.sampled_from([None, None, "k", "l"])
times = st.sampled_from([None, None, "2026-01-02", "2026-05-06T07:08:09Z"])
metadata = st.sampled_from(
    [None, {}, {"n": 1, "x": None}, {"n": True}, {"s": "é\x01", "f": 1.5}, {"deep": {"a": [1]}},
     {"kind": "task", "status": "pending"}, {"n": 2**62}]
)  # fmt: skip
facts = st.builds(
    NewFact,
    content=texts,
    subject=names,
    category=st.sampled_from([None, "note", "Event", "preference"]),
    metadata=metadata,
    created_at=times,
    valid_at=st.sampled_from([None, "2025-01-01"]),
    expired_at=st.sampled_from([None, "2099-01-01"]),
    source=st.sampled_from([None, "chat"]),
    idempotency_key=keys,
    external_key=keys,
    user_id=st.sampled_from([None, "u"]),
    thread=st.sampled_from([None, None, "t"]),
    unsearched=st.sampled_from([None, None, True]),
    slots=st.sampled_from([None, None, {"holder": "ana"}]),
)

VARYING = ("id", "uuid", "namespace", "created_at", "superseded_by", "superseded_at", "holds_until")


def outcome(store: Store, parts: list[list[NewFact]], unless_known: bool) -> list[Any]:
    """Return what was stored, or the error of the first part that was refused."""
    stored: list[memstore.Fact] = []
    try:
        for part in parts:
            stored += store.add_many(part, unless_known=unless_known)
    except memstore.MemstoreError as error:
        return [type(error)]
    first = min((fact.id for fact in stored), default=0)
    return [told(store.get(fact.id), first) for fact in stored]


def told(fact: memstore.Fact, first: int) -> dict[str, Any]:
    known = {name: value for name, value in fact.to_dict().items() if name not in VARYING}
    newer = fact.superseded_by
    confirmed = fact.last_confirmed_at is not None
    known["last_confirmed_at"] = confirmed
    return known | {"place": fact.id - first, "newer": None if newer is None else newer - first}


numbers = count()


@given(st.lists(facts, max_size=9), st.booleans())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_facts_are_stored_together_as_one_by_one(
    open_store: Callable[..., Store], new: list[NewFact], unless_known: bool
) -> None:
    number = next(numbers)
    with open_store(namespace=f"alone-{number}") as store:
        one_by_one = outcome(store, [[one] for one in new], unless_known)
    with open_store(namespace=f"together-{number}") as store:
        assert outcome(store, [new], unless_known) == one_by_one


def test_many_facts_leave_a_file_without_findings(store: Store) -> None:
    new = [NewFact(content=f"tea {n}", subject=f"s{n % 7}", metadata={"n": n}) for n in range(700)]
    new[400:400] = [NewFact(content="Tea", subject="todo", metadata={"kind": "task"})]
    stored = store.add_many(new)
    assert [fact.content for fact in stored] == [one.content for one in new]
    assert [store.get(fact.id) for fact in stored] == stored
    assert store.file.doctor() == []
    assert store.ledger.verify() == []
