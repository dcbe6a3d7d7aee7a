"""Connections that are cut at each message of a call: it is done once, or not at all, as it says.

With ``--kills 100`` or more, at every message; otherwise at every few of them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import TypeAlias, get_args

import pytest

psycopg = pytest.importorskip("psycopg", reason="needs psycopg")

from tests.support.cutting import Proxy, Where, proxy  # noqa: E402
from tests.support.embedders import WordEmbedder  # noqa: E402

import memstore  # noqa: E402
from memstore import Extractor, Store  # noqa: E402
from memstore.errors import Remedy, StorageError  # noqa: E402

pytestmark = pytest.mark.process

EVERYTHING_KILLS = 100
STEP = 15
"""At every which message a connection is cut in the short form."""

Call: TypeAlias = Callable[[], object]
Check: TypeAlias = Callable[[Store], int]
Prepared: TypeAlias = tuple[Call, Check]
"""A call, and what counts how often it was done; what was done in part fails."""


class Reader:
    """A model that finds one fact in every text."""

    model = "reader-1"

    def generate(self, prompt: str) -> str:
        text = prompt.rpartition("please read ")[2].split()[0]
        return json.dumps({"facts": [{"content": text, "subject": "s", "category": "note"}]})


def facts(store: Store, *contents: str) -> int:
    """Return how often some facts are stored, which are all there or none."""
    numbers = {store.count(subject=content) for content in contents}
    assert len(numbers) == 1
    return numbers.pop()


def add(store: Store, name: str) -> Prepared:
    return lambda: store.add(f"fact {name}", subject=name), lambda seen: facts(seen, name)


def add_many(store: Store, name: str) -> Prepared:
    names = [f"{name} {number}" for number in range(20)]
    new = [{"content": f"fact {one}", "subject": one} for one in names]
    return lambda: store.add_many(new), lambda seen: facts(seen, *names)


def supersede(store: Store, name: str) -> Prepared:
    old = store.add(f"old {name}", subject=name)

    def check(seen: Store) -> int:
        now = [fact.content for fact in seen.list(subject=name)]
        assert now in ([f"old {name}"], [f"new {name}"])
        assert (seen.get(old.id).superseded_by is not None) == (now == [f"new {name}"])
        return int(now == [f"new {name}"])

    return lambda: store.add(f"new {name}", subject=name, supersedes=old.id), check


def delete(store: Store, name: str) -> Prepared:
    fact = store.add(f"fact {name}", subject=name)
    return lambda: store.delete(fact.id), lambda seen: 1 - facts(seen, name)


def finish_task(store: Store, name: str) -> Prepared:
    task = store.tasks.create(f"do {name}")

    def check(seen: Store) -> int:
        return int((seen.get(task.id).metadata or {})["status"] == "completed")

    return lambda: store.tasks.update(task.id, "completed"), check


def add_episode(store: Store, name: str) -> Prepared:
    def check(seen: Store) -> int:
        return seen.episodes.count(source=name)

    return (
        lambda: store.episodes.add(f"said {name}", source=name, thread="cuts", tags=["new"]),
        check,
    )


def update_episode(store: Store, name: str) -> Prepared:
    episode = store.episodes.add(f"said {name}", source=name)
    return (
        lambda: store.episodes.update(episode.id, tags=["later"]),
        lambda seen: int([*seen.episodes.get(episode.id).tags] == ["later"]),
    )


CALLS = [add, add_many, supersede, delete, finish_task, add_episode, update_episode]


@pytest.fixture
def cutting(url: str) -> Iterator[Proxy]:
    with proxy(url) as made:
        yield made


def said(call: Call) -> bool | None:
    """Return whether a call said that it was done; ``None`` if it said that it does not know."""
    try:
        call()
    except StorageError as error:
        if "nothing was stored" in str(error):
            return False
        if error.remedy is Remedy.READ_AGAIN:
            return None
        raise
    return True


@pytest.mark.parametrize("prepare", CALLS, ids=lambda call: call.__name__)
def test_a_cut_call_is_done_as_it_says(
    prepare: Callable[[Store, str], Prepared],
    url: str,
    cutting: Proxy,
    pytestconfig: pytest.Config,
    record_property: Callable[[str, object], None],
) -> None:
    step = 1 if pytestconfig.getoption("kills") >= EVERYTHING_KILLS else STEP
    counts = {True: 0, False: 0, None: 0}
    with (
        memstore.open(cutting.url, embedder=WordEmbedder()) as store,
        memstore.open(url, embedder=None) as seen,
    ):
        store.add("the first", subject="s")
        for where in get_args(Where):
            cutting.was_cut = True
            number = 0
            while cutting.was_cut:
                call, check = prepare(store, f"{where} {number}")
                cutting.arm(number, where)
                done = said(call)
                cutting.disarm()
                times = check(seen)
                assert times in ((0, 1) if done is None else (int(done),)), (where, number)
                counts[done] += cutting.was_cut
                number += step
        assert seen.ledger.verify() == []
        assert seen.file.doctor() == []
    record_property(
        "counts",
        f"{sum(counts.values())} cuts: {counts[True]} done, {counts[False]} not done,"
        f" {counts[None]} said that it is not known",
    )
    assert sum(counts.values()) > 1


def test_an_extraction_that_is_called_until_it_succeeds_is_done_once(
    url: str,
    cutting: Proxy,
    pytestconfig: pytest.Config,
    record_property: Callable[[str, object], None],
) -> None:
    step = 1 if pytestconfig.getoption("kills") >= EVERYTHING_KILLS else 3 * STEP
    cuts = 0
    with (
        memstore.open(cutting.url, embedder=WordEmbedder()) as store,
        memstore.open(url, embedder=None) as seen,
    ):
        extractor = Extractor(store, Reader())
        for where in get_args(Where):
            cutting.was_cut = True
            number = 0
            while cutting.was_cut:
                text = f"please read {where}-{number}"
                cutting.arm(number, where)
                while said(lambda text=text: extractor.extract(text)) is not True:
                    pass
                cutting.disarm()
                assert [one.content for one in seen.episodes.list(limit=1000)].count(text) == 1
                found = [one.content for one in seen.list(limit=1000)]
                assert found.count(f"{where}-{number}") == 1
                cuts += cutting.was_cut
                number += step
        contents = [one.content for one in seen.episodes.list(limit=1000)]
        assert len(set(contents)) == len(contents)
        assert seen.ledger.verify() == []
        assert seen.file.doctor() == []
    record_property("counts", f"{cuts} cuts")
    assert cuts > 1
