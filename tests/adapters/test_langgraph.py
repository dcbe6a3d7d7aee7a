"""The store of LangGraph: what its own stores do, and what is better than theirs."""

from __future__ import annotations

import asyncio
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.support.clock import ManualClock, wait_until
from tests.support.examples import examples
from tests.support.raw import raw

import memstore
from memstore import AccessDenied, InvalidArgument, StoreClosed
from memstore.domain import clock
from memstore.errors import InvalidArgumentType

base = pytest.importorskip("langgraph.store.base", reason="LangGraph is not installed")
from langgraph.store.memory import InMemoryStore  # noqa: E402

from memstore.adapters.langgraph import MemstoreStore  # noqa: E402

GetOp, PutOp, SearchOp = base.GetOp, base.PutOp, base.SearchOp
ListNamespacesOp, MatchCondition = base.ListNamespacesOp, base.MatchCondition

USERS = ("users", "ana")
MANY = 10**6


@pytest.fixture
def store() -> Iterator[MemstoreStore]:
    with MemstoreStore(":memory:") as opened:
        yield opened


def keys(items: list[Any]) -> list[str]:
    return [item.key for item in items]


# -- batches ---------------------------------------------------------------------------------


def test_reads_see_the_state_before_the_batch_and_the_last_put_counts(store: MemstoreStore) -> None:
    store.put(USERS, "a", {"n": 0})
    results = store.batch(
        [
            PutOp(USERS, "a", {"n": 1}),
            GetOp(USERS, "a"),
            PutOp(USERS, "a", {"n": 2}),
            PutOp(USERS, "b", {"n": 3}),
            SearchOp(("users",)),
            PutOp(USERS, "b", None),
            ListNamespacesOp(),
        ]
    )
    assert [results[place] for place in (0, 2, 3, 5)] == [None] * 4
    assert results[1].value == {"n": 0}
    assert keys(results[4]) == ["a"]
    assert results[6] == [USERS]
    assert store.get(USERS, "a").value == {"n": 2}
    assert store.get(USERS, "b") is None
    assert [version.value["n"] for version in store.history(USERS, "a")] == [0, 2]


REFUSED = [
    (PutOp(USERS, "b", {"n": float("nan")}), ValueError, r'value\["n"\] is nan'),
    (PutOp(USERS, "b", {"s": {1}}), TypeError, r'value\["s"\] is a set'),
    (PutOp(USERS, "b", {1: 2}), TypeError, "text keys, not 1"),
    (PutOp(USERS, "b", {"t": "\ud800"}), ValueError, "lone surrogate"),
    (PutOp(USERS, "b", {"n": 2**70}), ValueError, "64 bits"),
    (PutOp(USERS, "b", [1]), TypeError, "value must be a mapping, not list"),
    (PutOp(USERS, "\ud800", {}), ValueError, "lone surrogate"),
    (PutOp(USERS, 5, {}), TypeError, "key must be text"),
    (PutOp(USERS, "b", {}, ttl=float("nan")), ValueError, "ttl must be 0 minutes or more"),
    (PutOp(USERS, "b", {}, ttl="1"), TypeError, "ttl must be minutes"),
    (PutOp(USERS, "b", {}, index="a"), TypeError, "index must be a list of paths"),
    (PutOp(USERS, "b", {"t": "x" * (16 * 1024 * 1024)}), ValueError, "over the limit"),
    (PutOp((), "b", {}), base.InvalidNamespaceError, "cannot be empty"),
    (PutOp(("a.b",), "b", {}), base.InvalidNamespaceError, "periods"),
    (PutOp(("",), "b", {}), base.InvalidNamespaceError, "empty strings"),
    (PutOp(("a\x00",), "b", {}), base.InvalidNamespaceError, "NUL"),
    (PutOp(("a\ud800",), "b", {}), base.InvalidNamespaceError, "lone surrogate"),
    (PutOp((1,), "b", {}), base.InvalidNamespaceError, "must be strings"),
    (PutOp(("x" * 500,), "b", {}), base.InvalidNamespaceError, "longer than"),
    (PutOp(("langgraph",), "b", {}), base.InvalidNamespaceError, "Root label"),
    (GetOp(("a.b",), "b"), base.InvalidNamespaceError, "periods"),
    (SearchOp(("a.b",)), base.InvalidNamespaceError, "periods"),
    (SearchOp((), limit=-1), ValueError, "limit"),
    (SearchOp((), query=1), TypeError, "query must be text"),
    (SearchOp((), filter={"n": {"$near": 1}}), ValueError, "operator"),
    (ListNamespacesOp((MatchCondition("prefix", ("a.b",)),)), base.InvalidNamespaceError, "period"),
    (ListNamespacesOp((MatchCondition("middle", ("a",)),)), ValueError, "prefix or suffix"),
    (ListNamespacesOp(max_depth=0), ValueError, "max_depth"),
    ("no operation", TypeError, "is no operation: str"),
]


@pytest.mark.parametrize(("op", "error", "text"), REFUSED, ids=range(len(REFUSED)))
def test_everything_is_checked_before_anything_is_written(
    store: MemstoreStore, op: Any, error: type[Exception], text: str
) -> None:
    with pytest.raises(error, match=text):
        store.batch([PutOp(USERS, "a", {"n": 1}), op])
    assert store.search(()) == []


@pytest.mark.parametrize("key", ["", " ", "a", "A", "é", "e\u0301", "a..b", "n\x00\\", "k" * 3000])
def test_keys_and_values_come_back_as_they_were(store: MemstoreStore, key: str) -> None:
    value = {
        "": "",
        "blank": " \n",
        "nul": "a\x00b",
        "n": [1, 1.5, True, None, {"é": {}}],
        "big": 2**62,
    }
    store.put(USERS, key, value)
    store.put(USERS, f"{key}2", {})
    item = store.get(USERS, key)
    assert (item.namespace, item.key, item.value) == (USERS, key, value)
    assert {one.key for one in store.search(USERS)} == {key, f"{key}2"}
    store.delete(USERS, key)
    assert store.get(USERS, key) is None
    assert store.get(USERS, f"{key}2").value == {}


def test_large_values_are_kept_but_not_searched(store: MemstoreStore) -> None:
    text = "zebra " * 50_000
    store.put(("files",), "large", {"text": text, "n": 1})
    store.put(("files",), "small", {"text": "a zebra", "n": 2})
    assert store.get(("files",), "large").value["text"] == text
    found = store.search(("files",), query="zebra")
    assert keys(found) == ["small", "large"]
    assert found[1].score is None
    assert keys(store.search(("files",), filter={"n": 1})) == ["large"]


def test_created_at_survives_overwriting_but_not_deletion(store: MemstoreStore) -> None:
    store.put(USERS, "a", {"n": 1})
    first = store.get(USERS, "a")
    store.put(USERS, "a", {"n": 2})
    second = store.get(USERS, "a")
    assert second.created_at == first.created_at
    assert second.updated_at > first.updated_at
    store.delete(USERS, "a")
    store.put(USERS, "a", {"n": 3})
    assert store.search(USERS)[0].created_at > second.updated_at


# -- searches --------------------------------------------------------------------------------


def test_the_newest_come_first_and_pages_are_full_under_filters(store: MemstoreStore) -> None:
    for number in range(60):
        store.put(("docs", str(number % 3)), str(number), {"tags": [number % 2], "n": number})
    store.put(("docs", "0"), "0", {"tags": [0], "n": 100})
    even = [0, *range(58, 0, -2)]
    for offset in (0, 25):
        page = store.search(("docs",), filter={"tags": [0]}, limit=10, offset=offset)
        assert keys(page) == [str(one) for one in even[offset : offset + 10]]
    found = store.search(("docs",), query="n 7", filter={"tags": [0]}, limit=30)
    assert {int(item.key) for item in found} == {*even}
    assert len(store.search((), query="tags", limit=61)) == 60
    assert store.search((), limit=0) == store.search((), query="n", limit=0) == []


def test_what_is_indexed_is_found_first(store: MemstoreStore) -> None:
    store.put(USERS, "all", {"text": "pizza with olives", "n": 1})
    store.put(
        USERS,
        "part",
        {"text": "pizza", "o": {"list": [{"t": "tea"}, {"t": "milk"}]}},
        index=["o.list[*].t"],
    )
    store.put(USERS, "none", {"text": "pizza with olives"}, index=False)
    store.put(USERS, "no text", {"text": "pizza"}, index=["missing"])
    found = store.search(USERS, query="pizza with olives")
    assert keys(found) == ["all", "part", "no text", "none"]
    assert found[0].score > 0.3
    assert [item.score for item in found[2:]] == [None, None]
    assert keys(store.search(USERS, query="milk", limit=1)) == ["part"]
    with MemstoreStore(":memory:", fields=["title"]) as titles:
        titles.put(USERS, "a", {"title": "tea", "text": "pizza"})
        titles.put(USERS, "b", {"title": "pizza", "text": "tea"})
        assert keys(titles.search(USERS, query="tea", limit=1)) == ["a"]


def test_prefixes_end_at_labels_and_stars_are_any_label(store: MemstoreStore) -> None:
    for namespace in (("a",), ("a", "b"), ("a", "b", "c"), ("ab",), ("x", "b"), ("*", "b")):
        store.put(namespace, "k", {})
    store.delete(("x", "b"), "k")
    assert {item.namespace for item in store.search(("a",))} == {
        ("a",),
        ("a", "b"),
        ("a", "b", "c"),
    }
    assert [item.namespace for item in store.search(("*",))] == [("*", "b")]
    assert store.list_namespaces(prefix=("a",)) == [("a",), ("a", "b"), ("a", "b", "c")]
    assert store.list_namespaces(prefix=("*", "b")) == [("*", "b"), ("a", "b"), ("a", "b", "c")]
    assert store.list_namespaces(suffix=("b",)) == [("*", "b"), ("a", "b")]
    assert store.list_namespaces(suffix=("*", "c")) == [("a", "b", "c")]
    assert store.list_namespaces(max_depth=1) == [("*",), ("a",), ("ab",)]
    assert store.list_namespaces(max_depth=1, limit=1, offset=1) == [("a",)]


def test_other_facts_of_the_namespace_are_no_items() -> None:
    with memstore.open(":memory:") as memory:
        store = MemstoreStore(memory)
        memory.add("pizza", subject="s")
        memory.add("pizza", subject="s", external_key="langgraphs")
        store.put(USERS, "a", {"text": "pizza", "kind": "task"})
        store.put(("todo",), "a", {"text": "pizza", "kind": "task"})
        assert len(store.search((), query="pizza")) == len(store.search(())) == 2
        assert memory.tasks.list() == []


# -- times to live ---------------------------------------------------------------------------


@pytest.fixture
def manual() -> Iterator[ManualClock]:
    ticking = ManualClock()
    with clock.use(ticking):
        yield ticking


def test_what_has_lived_its_minutes_is_not_read_and_is_swept(manual: ManualClock) -> None:
    with MemstoreStore(":memory:", ttl={"default_ttl": 10}) as store:
        store.put(USERS, "default", {"n": 1})
        store.put(("short",), "short", {"n": 2}, ttl=1)
        store.put(USERS, "ever", {"n": 3}, ttl=None)
        store.put(USERS, "ages", {"n": 4}, ttl=1e300)
        assert store.sweep_ttl() == 0
        manual.advance(61)
        assert store.get(("short",), "short") is None
        assert keys(store.search(())) == ["ages", "ever", "default"]
        assert store.list_namespaces() == [USERS]
        assert store.sweep_ttl() == 1
        assert store.sweep_ttl() == 0
        manual.advance(600)
        assert keys(store.search((), query="n"))
        assert store.get(USERS, "default") is None
        assert asyncio.run(store.asweep_ttl()) == 1
        assert [one.status for one in store.history(USERS, "default")] == ["deleted"]


def test_reads_renew_a_life_if_they_are_to(manual: ManualClock) -> None:
    with MemstoreStore(":memory:", ttl={"default_ttl": 10, "refresh_on_read": True}) as store:
        for key in ("got", "searched", "left"):
            store.put(USERS, key, {"key": key})
        manual.advance(540)
        store.get(USERS, "got")
        store.search(USERS, filter={"key": "searched"})
        store.get(USERS, "left", refresh_ttl=False)
        manual.advance(120)
        assert {*keys(store.search(USERS, refresh_ttl=False))} == {"got", "searched"}
        store.put(USERS, "got", {"key": "got"})  # equal: it lives on
        manual.advance(540)
        assert keys(store.search(USERS)) == ["got"]


def test_reading_again_at_once_writes_nothing(manual: ManualClock) -> None:
    with memstore.open(":memory:") as memory:
        store = MemstoreStore(memory)
        store.put(USERS, "a", {}, ttl=10)
        for _ in range(3):
            store.batch([GetOp(USERS, "a"), SearchOp(USERS)])
        assert memory.file.head().line == 1
        manual.advance(30)
        store.batch([GetOp(USERS, "a")])
        assert memory.file.head().line == 2


def test_the_sweeper_sweeps_until_it_is_stopped(manual: ManualClock) -> None:
    with MemstoreStore(":memory:") as store:
        store.put(USERS, "a", {}, ttl=1)
        sweeping = store.start_ttl_sweeper(sweep_interval_minutes=2)
        assert store.start_ttl_sweeper() is sweeping
        manual.advance(121)
        assert wait_until(lambda: store.history(USERS, "a")[0].status == "deleted")
        assert store.stop_ttl_sweeper(timeout=60)
        assert sweeping.result(0) is None


# -- whose store it is -----------------------------------------------------------------------


def test_history_tells_every_value(store: MemstoreStore) -> None:
    assert store.history(USERS, "a") == []
    store.put(USERS, "a", {"n": 1})
    store.put(USERS, "a", {"n": 2}, index=False)
    store.delete(USERS, "a")
    store.put(USERS, "a", {"n": 3})
    told = asyncio.run(store.ahistory(USERS, "a"))
    assert [(one.value["n"], one.status) for one in told] == [
        (1, "superseded"),
        (2, "deleted"),
        (3, "active"),
    ]
    assert told[0].ended_at is not None
    assert told[0].ended_at >= told[0].stored_at
    assert told[2].ended_at is None


def test_a_callers_store_stays_open_and_confined_and_the_journal_names_langgraph() -> None:
    with memstore.open(":memory:") as memory:
        confined = memory.within("team", confined=True)
        with MemstoreStore(confined) as store:
            store.put(USERS, "a", {"text": "pizza"})
            assert keys(store.search((), query="pizza")) == ["a"]
            assert store.list_namespaces() == [USERS]
        with pytest.raises(AccessDenied):
            MemstoreStore(confined, namespace="others")
        assert memory.namespaces() == {"team": 1}
        assert [act.source for act in confined.ledger.log()] == ["langgraph"]
        assert MemstoreStore(memory).search(()) == []
        assert len(MemstoreStore(memory, namespace="team").search(())) == 1


def test_a_store_from_a_path_is_closed(tmp_path: Path) -> None:
    with MemstoreStore(tmp_path / "memory.db", namespace="team") as store:
        store.put(USERS, "a", {"n": 1})
    with pytest.raises(StoreClosed):
        store.get(USERS, "a")
    with MemstoreStore(str(tmp_path / "memory.db"), namespace="team") as store:
        assert store.get(USERS, "a").value == {"n": 1}


def test_what_it_is_given_is_checked() -> None:
    with pytest.raises(InvalidArgumentType, match=r"memstore\.Store or the path"):
        MemstoreStore(5)  # type: ignore[arg-type]
    with pytest.raises(InvalidArgumentType, match="fields must be a list"):
        MemstoreStore(":memory:", fields="text")
    with pytest.raises(InvalidArgument):
        MemstoreStore(":memory:", namespace="all")


def test_async_methods_block_no_loop_and_a_cancelled_write_ends_first() -> None:
    async def run(memory: memstore.Store) -> None:
        store = MemstoreStore(memory)
        await store.aput(USERS, "a", {"text": "pizza"})
        assert (await store.aget(USERS, "a")).value == {"text": "pizza"}
        assert keys(await store.asearch(USERS, query="pizza")) == ["a"]
        assert await store.alist_namespaces() == [USERS]
        writing = asyncio.create_task(store.abatch([PutOp(USERS, str(n), {}) for n in range(50)]))
        await asyncio.sleep(0)
        writing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await writing
        assert len(await store.asearch(USERS, limit=100)) in (1, 51)
        await store.adelete(USERS, "a")
        assert await store.aget(USERS, "a") is None

    with memstore.open(":memory:") as memory:
        asyncio.run(run(memory))


def test_store_is_closed_after_async_with(tmp_path: Path) -> None:
    async def run() -> MemstoreStore:
        async with MemstoreStore(tmp_path / "memory.db") as store:
            await store.aput(USERS, "a", {"text": "pizza"})
            store.start_ttl_sweeper()
        return store

    closed = asyncio.run(run())
    assert closed._sweeper is not None
    assert closed._sweeper.done()
    with pytest.raises(StoreClosed):
        closed.get(USERS, "a")
    with MemstoreStore(tmp_path / "memory.db") as again:
        assert again.get(USERS, "a").value == {"text": "pizza"}


def test_threads_put_one_key_at_will(store: MemstoreStore) -> None:
    def work(number: int) -> None:
        for turn in range(5):
            store.batch(
                [
                    PutOp(USERS, "shared", {"by": number, "turn": turn}),
                    PutOp(("own", str(number)), str(turn), {}),
                ]
            )

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    told = store.history(USERS, "shared")
    assert len({(one.value["by"], one.value["turn"]) for one in told}) == len(told) == 20
    assert [one.status for one in told] == ["superseded"] * 19 + ["active"]
    assert len(store.search(("own",), limit=100)) == 20


# -- beside LangGraph's own store ------------------------------------------------------------

labels = st.sampled_from(["a", "b", "é", "a b"])
paths = st.lists(labels, min_size=1, max_size=3).map(tuple)
langgraph_keys = st.sampled_from(["k", "K", "k.", "", "\\"])
scalars = st.sampled_from([None, "x", "1", "", 0, 1, 2.5, -3])
shallow = scalars | st.lists(scalars, max_size=2)
inner = shallow | st.dictionaries(st.sampled_from(["p", "q"]), shallow, max_size=2)
values = st.fixed_dictionaries({"n": st.integers(-2, 2)}, optional={"v": inner, "w": inner})
orders = st.sampled_from(["$gt", "$gte", "$lt", "$lte"])
filters = st.none() | st.fixed_dictionaries(
    {},
    optional={
        "n": st.integers(-2, 2)
        | st.dictionaries(orders, st.sampled_from([-1, 0, 1.5]), max_size=2),
        "v": inner | st.fixed_dictionaries({"$ne": inner}) | st.fixed_dictionaries({"$eq": inner}),
        "w": st.fixed_dictionaries({"p": inner}),
    },
)
conditions = st.lists(
    st.builds(
        MatchCondition,
        st.sampled_from(["prefix", "suffix"]),
        st.lists(labels | st.just("*"), min_size=1, max_size=2).map(tuple),
    ),
    max_size=2,
).map(tuple)
puts = st.builds(
    lambda *given: PutOp(*given),
    paths,
    langgraph_keys,
    st.none() | values,
    st.sampled_from([None, False, ["v"], ["w.p"]]),
)
reads = (
    st.builds(lambda *given: GetOp(*given), paths, langgraph_keys)
    | st.builds(
        lambda *given: SearchOp(*given),
        st.lists(labels, max_size=2).map(tuple),
        filters,
        st.sampled_from([1, 3, 20]),
        st.sampled_from([0, 1, 4]),
    )
    | st.builds(
        lambda *given: ListNamespacesOp(*given),
        conditions,
        st.none() | st.integers(1, 3),
        st.sampled_from([1, 20]),
        st.sampled_from([0, 1]),
    )
)
operations = st.lists(puts | reads, min_size=1, max_size=12)


class Reference:
    """LangGraph's store in memory, in the order and with the namespaces that ours has."""

    def __init__(self) -> None:
        self._store = InMemoryStore()
        self._order: dict[tuple[tuple[str, ...], str], int] = {}
        self._indexes: dict[tuple[tuple[str, ...], str], Any] = {}
        self._numbers = count()

    def batch(self, ops: list[Any]) -> list[Any]:
        read = [None if isinstance(op, PutOp) else self._read(op) for op in ops]
        last = {(op.namespace, op.key): op for op in ops if isinstance(op, PutOp)}
        moved = {}
        for op in ops:
            if isinstance(op, PutOp) and last[op.namespace, op.key] is op:
                moved[op.namespace, op.key] = op
        for place, op in moved.items():
            known = self._store.get(*place)
            before = None if known is None else known.value
            if (before, self._indexes.get(place)) != (
                op.value,
                op.index,
            ):  # what is equal stays where it is
                self._order[place] = next(self._numbers)
            self._indexes[place] = op.index
        self._store.batch([op for op in ops if isinstance(op, PutOp)])
        return read

    def _read(self, op: Any) -> Any:
        if isinstance(op, GetOp):
            return told(self._store.batch([op])[0])
        if isinstance(op, SearchOp):
            found = self._store.search(op.namespace_prefix, filter=op.filter, limit=MANY)
            found.sort(key=lambda item: -self._order[item.namespace, item.key])
            return [*map(told, found[op.offset : op.offset + op.limit])]
        (every,) = self._store.batch([op._replace(max_depth=None, limit=MANY, offset=0)])
        held = {item.namespace for item in self._store.search((), limit=MANY)}
        names = sorted({name[: op.max_depth] for name in every if name in held})
        return names[op.offset : op.offset + op.limit]


def told(item: Any) -> Any:
    return item and (item.namespace, item.key, item.value)


@given(st.lists(operations, min_size=1, max_size=6))
@settings(
    max_examples=examples(20),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
def test_any_operations_are_those_of_the_store_in_memory(batches: list[list[Any]]) -> None:
    reference = Reference()
    with MemstoreStore(":memory:") as ours:
        for ops in batches:
            expected = reference.batch(ops)
            for op, mine, theirs in zip(ops, ours.batch(ops), expected, strict=True):
                if isinstance(op, SearchOp):
                    mine = [*map(told, mine)]
                elif isinstance(op, GetOp):
                    mine = told(mine)
                assert mine == theirs, op


def test_the_sample_of_its_page_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("langgraph.graph", reason="only LangGraph's store is installed")
    page = Path(__file__).parents[2] / "docs" / "adapters" / "langgraph.md"
    (sample,) = re.findall(r"```python\n(.*?)```", page.read_text("utf-8"), re.DOTALL)
    monkeypatch.chdir(tmp_path)
    exec(sample, {"__name__": "sample"})
    assert capsys.readouterr().out.splitlines() == [
        "{'text': 'I moved to Lisbon.'}",
        "[{'text': 'I moved to Lisbon.'}, {'text': 'Where do I live?'}]",
    ]


def test_a_store_of_langgraph_that_was_imported_is_read_and_goes_on(tmp_path: Path) -> None:
    file = tmp_path / "store.db"
    with raw(file) as rows:
        rows.execute("CREATE TABLE store (prefix TEXT, key TEXT, value TEXT)")
        rows.executemany(
            "INSERT INTO store VALUES (?, ?, ?)",
            [("users.ana", "a", '{"text": "tea"}'), ("users.ana", "b", '{"content": "rain"}')],
        )
        rows.commit()
    with memstore.open(tmp_path / "memory.db", embedder=None) as memory:
        assert memory.transfer.import_from("langgraph", file).facts == 2
        store = MemstoreStore(memory)
        assert sorted(keys(store.search(("users",)))) == ["a", "b"]
        assert store.get(USERS, "a").value == {"text": "tea"}
        store.put(USERS, "a", {"text": "coffee"})
        store.delete(USERS, "b")
        assert memory.transfer.import_from("langgraph", file).facts == 0
        assert keys(store.search(("users",))) == ["a"]
        assert [one.value for one in store.history(USERS, "a")] == [
            {"text": "tea"},
            {"text": "coffee"},
        ]


# -- processes -------------------------------------------------------------------------------

WRITING = """
import sys
from langgraph.store.base import PutOp
from memstore.adapters.langgraph import MemstoreStore

name, rounds = sys.argv[2], int(sys.argv[3])
with MemstoreStore(sys.argv[1]) as store:
    for number in range(rounds):
        store.batch([PutOp(("shared",), str(n), {"by": name, "n": number}) for n in range(3)])
        print(number, flush=True)
"""


def started(path: Path, name: str, rounds: int) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", WRITING, str(path), name, str(rounds)],
        stdout=subprocess.PIPE,
        text=True,
    )


@pytest.mark.process
def test_four_processes_write_at_once(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    MemstoreStore(path).close()
    programs = [started(path, name, 10) for name in "abcd"]
    assert [program.communicate()[0].split()[-1] for program in programs] == ["9"] * 4
    with MemstoreStore(path) as store:
        told = [store.history(("shared",), str(n)) for n in range(3)]
        each = [[(one.value["by"], one.value["n"]) for one in versions] for versions in told]
        assert each[0] == each[1] == each[2]  # whole batches, one after another
        assert sorted(each[0]) == [(name, n) for name in "abcd" for n in range(10)]


@pytest.mark.process
def test_a_killed_process_leaves_whole_batches(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    MemstoreStore(path).close()
    program = started(path, "a", 100_000)
    assert program.stdout is not None
    printed = [program.stdout.readline() for _ in range(20)]
    program.kill()
    program.communicate()
    with MemstoreStore(path) as store:
        (number,) = {item.value["n"] for item in store.search(("shared",))}
        assert number >= int(printed[-1])
        store.put(("shared",), "0", {"n": "after"})
        assert store.get(("shared",), "0").value == {"n": "after"}
