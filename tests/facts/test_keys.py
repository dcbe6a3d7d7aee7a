"""Facts under external keys: put, read, deleted, undone, exported, as of a moment, and at once."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.clock import ManualClock
from tests.support.examples import examples

import memstore
from memstore import Conflict, InvalidArgument, NewFact, Scope, Store
from memstore.domain import clock
from memstore.facts.batch import AddFact
from memstore.facts.keyed import DeleteKey

KEYS = ("k", "K", "k ", "é", "e\u0301", " ")
"""Texts that a reader may take for the same; all are different keys."""


def put(store: Store, key: str, text: str, **columns: object) -> memstore.Fact:
    return store.add(text, subject="s", external_key=key, **columns)  # type: ignore[arg-type]


def contents(store: Store, key: str) -> list[tuple[str, str]]:
    return [(fact.content, fact.status) for fact in store.history(external_key=key)]


def test_putting_again_supersedes_or_changes_nothing(store: Store) -> None:
    first = put(store, "k", "one", metadata={"n": 1})
    assert put(store, "k", "one", metadata={"n": 1}) == first
    second = put(store, "k", "one", metadata={"n": True})  # equal in Python, not in JSON
    third = store.add("two", subject="another", external_key="k")
    assert store.keys.get("k") == third
    assert contents(store, "k") == [
        ("one", "superseded"),
        ("one", "superseded"),
        ("two", "active"),
    ]
    assert [fact.id for fact in store.history(first.id)] == [first.id, second.id, third.id]
    assert store.file.doctor() == []


def test_only_a_new_expiry_is_a_change_of_the_fact(store: Store) -> None:
    first = put(store, "k", "one")
    later = put(store, "k", "one", expired_at="2999-01-01T00:00:00Z")
    assert later.id == first.id
    assert later.expired_at is not None
    assert [line.kind for line in store.ledger.journal(first.id)] == ["add", "update"]


def test_an_expired_fact_is_superseded_even_by_an_equal_one(store: Store) -> None:
    first = put(store, "k", "one", expired_at="2001-01-01T00:00:00Z")
    assert store.keys.get("k") is None
    assert put(store, "k", "one", expired_at="2001-01-01T00:00:00Z").id != first.id


@pytest.mark.parametrize("key", KEYS)
def test_keys_are_exact(store: Store, key: str) -> None:
    for other in KEYS:
        if other != key:
            put(store, other, f"under {other!r}")
    assert store.keys.get(key) is None
    put(store, key, "here")
    assert store.keys.get_many(KEYS).keys() == {*KEYS}
    assert store.keys.get(key).content == "here"  # type: ignore[union-attr]


def test_keys_belong_to_their_owners_and_namespace(store: Store) -> None:
    scope = Scope(user_id="ann")
    hers = put(store, "k", "hers", user_id="ann")
    ours = put(store, "k", "ours")
    there = put(store.within("other"), "k", "there")
    assert store.keys.get("k") == ours
    assert store.of(scope).keys.get("k") == hers
    assert store.within("other").keys.get("k") == there
    assert store.of(scope).keys.delete(["k", "missing"])[0].id == hers.id
    assert store.keys.get("k") == ours
    assert len(store.of("all").history(external_key="k")) == 2


def test_put_and_delete_are_one_transaction_in_order(store: Store) -> None:
    put(store, "old", "goes")
    done = store.keys.put(
        [
            NewFact(content="one", subject="s", external_key="k"),
            {"content": "two", "subject": "s", "external_key": "k"},
            DeleteKey(external_key="old"),
            DeleteKey(external_key="missing"),
        ]
    )
    assert [fact and fact.content for fact in done] == ["one", "two", "goes", None]
    assert next(act.changes for act in store.ledger.log(limit=1))
    assert (
        len({line.txn for fact in done if fact for line in store.ledger.journal(fact.id)[-1:]}) == 1
    )
    with pytest.raises(InvalidArgument, match="none was stored"):
        store.keys.put(
            [NewFact(content=text, subject="s", external_key="k") for text in ("x", " ")]
        )
    with pytest.raises(InvalidArgument, match="external_key is required"):
        store.keys.put([NewFact(content="x", subject="s")])
    assert store.keys.get("k").content == "two"  # type: ignore[union-attr]


def test_a_deleted_key_begins_a_new_chain_and_is_not_restored_beside_it(store: Store) -> None:
    first = put(store, "k", "one")
    store.keys.delete(["k"])
    assert store.keys.get("k") is None
    second = put(store, "k", "one")
    assert second.id != first.id
    with pytest.raises(Conflict, match=f"belongs to fact {second.id} now"):
        store.restore(first.id)
    assert store.ledger.restore_deleted(store.get(first.id).deleted_at or "") == 0
    store.keys.delete(["k"])
    store.restore(first.id)
    assert store.keys.get("k") == first


def test_the_key_passes_on_to_what_supersedes_in_any_way(store: Store) -> None:
    first = put(store, "k", "one")
    second = store.add("two", subject="s", supersedes=first.id)
    assert store.keys.get("k") == second
    third = store.add("three", subject="s")
    store.supersede(second.id, third.id)
    assert store.keys.get("k").id == third.id  # type: ignore[union-attr]
    store.ledger.revert(acts=[store.ledger.log(limit=1)[0].line]).apply()
    assert store.keys.get("k") == second
    assert store.get(third.id).external_key is None
    store.restore(first.id)
    assert store.keys.get("k").content == "one"  # type: ignore[union-attr]
    assert store.file.doctor() == []
    assert store.ledger.verify() == []


def test_undoing_a_put_brings_the_fact_before_back(store: Store) -> None:
    first = put(store, "k", "one")
    put(store, "k", "two")
    undone = store.ledger.revert(acts=[store.ledger.log(limit=1)[0].line]).apply()
    assert store.keys.get("k") == store.get(first.id)
    put(store, "k", "three")
    again = store.ledger.revert(lines=undone.lines)  # "two" may not come back beside "three"
    assert any("its external key is that of fact" in one.reason for one in again.conflicts)
    again.apply()
    assert contents(store, "k")[-1] == ("three", "active")


def test_keys_as_of_a_moment(store: Store) -> None:
    put(store, "k", "one")
    line = store.file.head().line
    put(store, "k", "two")
    put(store, "later", "three")
    store.keys.delete(["k"])
    then = store.as_of(f"op:{line}")
    assert then.keys.get_many(["k", "later"]).keys() == {"k"}
    assert then.keys.get("k").content == "one"  # type: ignore[union-attr]
    assert [fact.content for fact in then.list(external_key_prefix="k")] == ["one"]
    assert then.count(external_key_prefix="l") == 0
    assert store.as_of("op:1").keys.get("later") is None


def test_facts_are_listed_by_the_beginning_of_their_keys(store: Store) -> None:
    for key in ("a/1", "a/2", "b/1", "a", "a\U0010ffff"):
        put(store, key, key)
    store.add("without", subject="s")
    found = {fact.external_key for fact in store.list(external_key_prefix="a/")}
    assert found == {"a/1", "a/2"}
    assert store.count(external_key_prefix="a") == 4
    assert store.count(external_key_prefix="") == 5
    assert store.count() == 6


def test_an_erased_fact_has_no_key(store: Store) -> None:
    fact = put(store, "secret", "one")
    store.erase(fact.id)
    assert store.keys.get("secret") is None
    assert store.history(external_key="secret") == []
    assert "secret" not in "".join(store.transfer.export())
    assert store.file.doctor() == []


def test_keys_are_imported_with_their_chains(
    store: Store, open_store: Callable[..., Store], tmp_path: Path
) -> None:
    put(store, "k", "one")
    other = open_store(tmp_path / "other.db")
    other.transfer.import_([*store.transfer.export()])
    put(store, "k", "two")
    for _ in range(2):
        other.transfer.import_([*store.transfer.export()])
    assert contents(other, "k") == contents(store, "k")
    put(other, "k", "theirs")
    stranger = open_store(tmp_path / "stranger.db")
    put(stranger, "k", "of a stranger")
    other.transfer.import_([*stranger.transfer.export()])  # the later born has the key
    assert other.keys.get("k").content == "of a stranger"  # type: ignore[union-attr]
    before = next(fact for fact in other.list(active_only=False) if fact.content == "theirs")
    assert before.status == "superseded"
    assert other.file.doctor() == []


def test_what_counts_less_replaces_what_its_key_names(store: Store) -> None:
    put(store, "k", "one")
    store.sources.trust("web", "external")
    assert put(store, "k", "two", source="web").status == "active"
    assert store.keys.get("k").content == "two"  # type: ignore[union-attr]
    assert store.proposals.list() == []


def test_a_key_in_a_batch_of_changes(store: Store) -> None:
    first = put(store, "k", "one")
    new = NewFact(content="two", subject="s", external_key="k")
    applied, again = store.ledger.apply([AddFact(fact=new), AddFact(fact=new)])
    assert applied.previous == first
    assert (again.known, again.fact.id) == (True, applied.fact.id)
    with pytest.raises(InvalidArgument, match="external_key"):
        store.ledger.apply([AddFact(fact=new, unless_known=True)])


@pytest.mark.parametrize("key", ["", "a\x00b", "k" * 501, "\ud800"])
def test_a_bad_key_is_refused(store: Store, key: str) -> None:
    with pytest.raises(InvalidArgument, match="external_key"):
        put(store, key, "one")
    with pytest.raises(InvalidArgument, match="external_key"):
        store.keys.get(key)
    assert store.count() == 0


def test_a_key_and_supersedes_exclude_each_other(store: Store) -> None:
    first = put(store, "k", "one")
    with pytest.raises(InvalidArgument, match="supersedes"):
        put(store, "k", "two", supersedes=first.id)


def test_four_threads_put_one_key_and_none_gives_up(store: Store) -> None:
    failures: list[Exception] = []

    def work(name: int) -> None:
        try:
            for number in range(5):
                put(store, "k", f"{name}-{number}")
        except Exception as error:  # noqa: BLE001 - shown below
            failures.append(error)

    threads = [threading.Thread(target=work, args=(name,)) for name in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    chain = store.history(external_key="k")
    assert len(chain) == 20
    assert [fact.status for fact in chain].count("active") == 1
    assert len(store.history(chain[0].id)) == 20


# -- changing what is there ------------------------------------------------------------------


def longer(key: str) -> Callable[[dict[str, memstore.Fact]], list[NewFact]]:
    """Return what puts a text under a key that is one letter longer than what is there."""

    def decide(facts: dict[str, memstore.Fact]) -> list[NewFact]:
        text = facts[key].content if key in facts else ""
        return [NewFact(content=text + "x", subject="s", external_key=key)]

    return decide


def test_what_is_put_depends_on_what_is_there(store: Store) -> None:
    for _ in range(2):
        (fact,) = store.keys.change(longer("k"), external_keys=["k"])
    assert fact == store.keys.get("k")
    assert contents(store, "k") == [("x", "superseded"), ("xx", "active")]
    line = store.file.head()
    assert store.keys.change(lambda _: [], external_keys=["k"]) == []
    assert store.file.head() == line


def test_it_gets_the_facts_of_keys_prefixes_and_owners(store: Store) -> None:
    for key in ("a", "dir/b", "dir/c", "directory", "d"):
        put(store, key, key)
        put(store, key, f"hers {key}", user_id="ann")
    store.keys.delete(["dir/c"])
    seen: list[dict[str, str]] = []

    def look(facts: dict[str, memstore.Fact]) -> list[NewFact]:
        seen.append({key: fact.content for key, fact in facts.items()})
        return []

    store.keys.change(look, external_keys=["a", "no"], external_key_prefix="dir/")
    store.of(user_id="ann").keys.change(look, external_key_prefix="dir/")
    assert seen == [
        {"a": "a", "dir/b": "dir/b"},
        {"dir/b": "hers dir/b", "dir/c": "hers dir/c"},
    ]


def test_it_decides_again_if_others_write_in_the_meantime(store: Store) -> None:
    calls: list[dict[str, memstore.Fact]] = []

    def decide(facts: dict[str, memstore.Fact]) -> list[NewFact]:
        calls.append(facts)
        if len(calls) == 1:
            put(store, "k", "theirs ")
        return longer("k")(facts)

    store.keys.change(decide, external_keys=["k"])
    assert [sorted(facts) for facts in calls] == [[], ["k"]]
    assert contents(store, "k")[-1] == ("theirs x", "active")


def test_nothing_is_done_if_deciding_fails(store: Store) -> None:
    def wrong(_: dict[str, memstore.Fact]) -> list[NewFact]:
        return [
            NewFact(content="x", subject="s", external_key="k"),
            NewFact(content="x", subject="s"),
        ]

    with pytest.raises(InvalidArgument, match="is required"):
        store.keys.change(wrong)
    with pytest.raises(KeyError):
        store.keys.change(lambda facts: [DeleteKey(external_key=facts["no"].content)])
    assert store.count() == 0


def test_threads_that_change_one_fact_lose_nothing(store: Store) -> None:
    def work() -> None:
        for _ in range(5):
            store.keys.change(longer("k"), external_keys=["k"])

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    fact = store.keys.get("k")
    assert fact is not None
    assert fact.content == "x" * 20
    assert store.file.doctor() == []


STEPS = st.lists(
    st.tuples(
        st.sampled_from(["put", "put", "delete", "undo", "carry"]),
        st.sampled_from(KEYS[:3]),
        st.sampled_from(["one", "two", "three"]),
    ),
    max_size=10,
)


@given(steps=STEPS)
@settings(max_examples=examples(20), deadline=None)
def test_any_steps_are_those_of_a_dictionary(steps: list[tuple[str, str, str]]) -> None:
    model: dict[str, str] = {}
    before: dict[str, str] | None = None
    store = memstore.open(":memory:", embedder=None)
    for step, key, text in steps:
        line = store.file.head().line
        old = dict(model)
        if step == "put":
            put(store, key, text)
            model[key] = text
        elif step == "delete":
            store.keys.delete([key])
            model.pop(key, None)
        elif step == "undo" and before is not None:
            store.ledger.revert(acts=[store.ledger.log(limit=1)[0].line]).apply()
            model, before = before, None
            continue
        elif step == "carry":
            lines = [*store.transfer.export()]
            store.close()
            store = memstore.open(":memory:", embedder=None)
            store.transfer.import_(lines)
            before = None
            continue
        if store.file.head().line != line:
            before = old
        held = {name: fact.content for name, fact in store.keys.get_many(KEYS).items()}
        assert held == model
    assert {name: fact.content for name, fact in store.keys.get_many(KEYS).items()} == model
    assert store.ledger.verify() == []
    store.close()


def test_searches_find_by_the_beginning_of_keys(store: Store) -> None:
    for key in ("a/1", "a/2", "ab", "b"):
        put(store, key, f"port {key}", metadata={"in": {"n": len(key)}})
    store.add("port without a key", subject="s")

    def found(prefix: str, **asked: object) -> set[str | None]:
        hits = store.search("port", external_key_prefix=prefix, **asked)  # type: ignore[arg-type]
        return {hit.fact.external_key for hit in hits}

    assert found("a/") == {"a/1", "a/2"}
    assert found("") == {"a/1", "a/2", "ab", "b"}
    assert found("a", filters=[(("in", "n"), "=", 2)]) == {"ab"}
    assert found("c") == set()
    then = store.as_of(f"op:{store.file.head().line}")
    put(store, "a/3", "port 3")
    store.keys.delete(["a/1"])
    assert found("a/") == {"a/2", "a/3"}
    hits = then.search("port", external_key_prefix="a/")
    assert {hit.fact.external_key for hit in hits} == {"a/1", "a/2"}


def test_a_short_list_of_many_keys_is_the_same_as_of_few(store: Store) -> None:
    store.keys.put(
        [NewFact(content=f"{n}", subject="s", external_key=f"{'ab'[n % 2]}/{n}") for n in range(60)]
    )
    for prefix, last in (("a/", 58), ("b/59", 59)):
        newest = store.list(external_key_prefix=prefix, limit=1, newest_first=True)
        assert [fact.content for fact in newest] == [str(last)]


def test_folders_of_keys_count_active_facts(store: Store) -> None:
    for key in ("a/b/1", "a/b/2", "a/é/1", "a/1", "b/1", "c"):
        put(store, key, key)
    put(store, "d/1", "expired", expired_at="2001-01-01T00:00:00Z")
    put(store, "a/b/1", "again")
    store.keys.delete(["b/1"])
    put(store, "e/1", "of Ana", user_id="ana")
    store.within("other").add("there", subject="s", external_key="f/1")
    assert store.keys.folders() == {"a/": 4}
    assert store.keys.folders("a/") == {"a/b/": 2, "a/é/": 1}
    assert store.keys.folders("a/b", delimiter="/1") == {"a/b/1": 1}
    assert store.of("all").keys.folders() == {"a/": 4, "e/": 1}
    store.sources.distrust("bad")
    put(store, "g/1", "bad", source="bad")
    assert store.keys.folders("g") == {}


def test_a_key_is_deleted_only_if_its_fact_has_expired(store: Store) -> None:
    put(store, "old", "one", expired_at="2001-01-01T00:00:00Z")
    put(store, "new", "two", expired_at="2999-01-01T00:00:00Z")
    gone = store.keys.put([DeleteKey(external_key=key, if_expired=True) for key in ("old", "new")])
    assert [fact and fact.content for fact in gone] == ["one", None]
    assert store.keys.get("new") is not None


def test_when_a_key_was_first_stored_survives_putting_but_not_deleting(store: Store) -> None:
    first = put(store, "k", "one")
    put(store, "k", "two")
    put(store, "other", "one", user_id="ana")
    assert store.keys.first_stored(["k", "other", "none"]) == {"k": first.created_at}
    store.keys.delete(["k"])
    assert store.keys.first_stored(["k"]) == {}
    again = put(store, "k", "three")
    assert store.keys.first_stored(["k"]) == {"k": again.created_at}


def test_old_versions_are_erased_by_number(store: Store) -> None:
    for number in range(5):
        for key in ("a/1", "a/2", "b"):
            store.add(f"{key} has {number}", subject="s", external_key=key)
    store.add("a/1 of Ana", subject="s", external_key="a/1", user_id="ana")
    assert store.keys.forget_versions("a/", keep=2) == 4
    left = [fact.content for fact in store.history(external_key="a/1") if fact.content]
    assert left == ["a/1 has 2", "a/1 has 3", "a/1 has 4"]
    assert len(store.history(external_key="b")) == 5
    assert store.keys.get("a/1").content == "a/1 has 4"  # type: ignore[union-attr]
    assert store.keys.forget_versions("a/", keep=2) == 0
    assert store.keys.forget_versions("", keep=0) == 2 + 2 + 4
    assert store.of("all").count() == 4
    assert "a/1 has 0" not in "".join(store.transfer.export())


def test_old_versions_are_erased_only_of_the_owners_of_the_store(store: Store) -> None:
    ana, ben = store.of(user_id="ana"), store.of(user_id="ben")
    for owned in (ana, ben):
        for number in range(3):
            owned.add(f"number {number}", subject="s", external_key="k")
    assert ana.keys.forget_versions("", keep=0) == 2
    assert [fact.content for fact in ana.history(external_key="k") if fact.content] == ["number 2"]
    assert len(ben.history(external_key="k")) == 3
    assert store.keys.forget_versions("", keep=1) == 1


def test_old_versions_are_erased_by_age(store: Store) -> None:
    now = ManualClock()
    with clock.use(now):
        for number in range(4):
            store.add(f"number {number}", subject="s", external_key="k")
            now.advance(10 * 86_400)
        assert store.keys.forget_versions("k", superseded_before="25d") == 1
        kept = [fact.content for fact in store.history(external_key="k") if fact.content]
        assert kept == ["number 1", "number 2", "number 3"]


@pytest.mark.parametrize("asked", [{}, {"keep": -1}, {"superseded_before": "when?"}])
def test_old_versions_need_a_bound(store: Store, asked: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"keep|superseded_before"):
        store.keys.forget_versions("k", **asked)
