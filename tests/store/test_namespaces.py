"""Lists and counts of several namespaces, and which ones there are."""

from __future__ import annotations

import pytest

from memstore import AccessDenied, Store
from memstore.store.store import elsewhere


def test_lists_counts_and_searches_of_several_namespaces(store: Store) -> None:
    for name in ("a/1", "a/2", "b"):
        store.within(name).add(f"port {name}", subject="s", metadata={"n": 1})
    store.add("port here", subject="s")
    names = [*store.namespaces("a/")]
    assert [fact.namespace for fact in store.list(namespaces=names)] == ["a/1", "a/2"]
    assert store.count(namespaces=names) == 2
    assert store.count(namespaces=["a/1", "none"], filters={"n": 1}) == 1
    assert store.count(namespaces="all") == len(store.list(namespaces="all")) == 4
    assert {hit.fact.namespace for hit in store.search("port", namespaces=names)} == {*names}
    moment = f"op:{store.file.head().line}"
    store.within("a/1").add("port 2", subject="s")
    then = store.as_of(moment)
    assert then.count(namespaces=names) == 2
    assert store.count(namespaces=names) == 3


def test_namespaces_count_active_facts(store: Store) -> None:
    for name in ("team/é", "team/x", "teams", "z"):
        store.within(name).add("one", subject="s", user_id="ana" if name == "z" else None)
    inside = store.within("team/x")
    one = inside.add("two", subject="s")
    inside.add("three", subject="s", supersedes=one.id)
    inside.add("gone", subject="s", expired_at="2001-01-01T00:00:00Z")
    only = store.within("team/old")
    only.delete(only.add("deleted", subject="s").id)
    assert store.namespaces() == {"team/x": 2, "team/é": 1, "teams": 1, "z": 1}
    assert store.namespaces("team/") == {"team/x": 2, "team/é": 1}
    assert store.of().namespaces().keys() == {"team/x", "team/é", "teams"}
    assert store.namespaces("no") == {}


def test_namespaces_that_hold_only_conversations_are_known(store: Store) -> None:
    store.add("here", subject="s")
    for name, user in (("team/chat", None), ("team/of-ana", "ana")):
        store.within(name).of(user_id=user).episodes.add("Rotterdam it is", source="chat")
    assert store.namespaces() == {store.namespace: 1, "team/chat": 0, "team/of-ana": 0}
    assert store.of().namespaces("team/") == {"team/chat": 0}
    assert store.file.namespaces() == store.status().namespaces == store.namespaces()
    assert elsewhere(store) == {"team/chat": (0, 0, 1), "team/of-ana": (0, 0, 1)}
    assert elsewhere(store, namespaces=["team/chat"]).keys() == {store.namespace, "team/of-ana"}
    assert elsewhere(store, namespaces="all") == {}
    confined = store.within("team/chat", confined=True)
    assert confined.namespaces() == {"team/chat": 0}
    assert confined.status().namespaces == {"team/chat": 0}
    assert elsewhere(confined) == {}


def test_a_confined_store_has_only_its_own_namespace(store: Store) -> None:
    store.add("elsewhere", subject="s")
    confined = store.within("team", confined=True)
    assert confined.namespaces() == {}
    confined.add("here", subject="s")
    assert confined.namespaces() == {"team": 1}
    assert confined.namespaces("tea") == {"team": 1}
    assert confined.namespaces("default") == {}
    for asked in (["default"], "all"):
        with pytest.raises(AccessDenied):
            confined.list(namespaces=asked)
        with pytest.raises(AccessDenied):
            confined.count(namespaces=asked)
