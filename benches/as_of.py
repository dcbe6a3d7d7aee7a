"""The memory as of a moment, beside the memory of now and a copy of the file made at that moment.

    python -m benches.as_of [--facts 100000] [--changed 50000]

Half of the facts are stored and half of the changes made; then the file is copied, and the rest
follows. Times are medians of rounds in which all take turns; the questions are new in each round.
The hits of the copy are compared with those of the view.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable, Iterable
from itertools import islice
from pathlib import Path
from statistics import median
from typing import Any

import memstore
from memstore.domain import clock

from .corpus import facts as made_facts
from .corpus import questions

AT_ONCE = 2_000
ROUNDS = 30
RANKINGS = ("classic", "contextual")


def add(store: memstore.Store, given: Iterable[dict[str, Any]]) -> None:
    rest = iter(given)
    while some := list(islice(rest, AT_ONCE)):
        store.add_many(some)


def replace(store: memstore.Store, new: list[dict[str, Any]], first: int) -> None:
    """Let new facts supersede those from an id on."""
    old = range(first, first + len(new))
    replacing = {"any_subject": True}
    add(store, [one | replacing | {"supersedes": id_} for one, id_ in zip(new, old, strict=True)])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--facts", type=int, default=100_000)
    parser.add_argument("--changed", type=int, default=50_000)
    asked = parser.parse_args()
    half, changed = asked.facts // 2, asked.changed // 2
    given = list(made_facts(asked.facts))
    with tempfile.TemporaryDirectory() as name:
        path, copied = Path(name, "now.db"), Path(name, "then.db")
        with memstore.open(path) as store:
            add(store, given[: half - changed])
            replace(store, given[half - changed : half], 1)
            store.file.embed_pending()
            store.file.save_index()
            store.file.backup(copied)
            moment = f"op:{store.file.head().line}"
            at = store.as_of(moment).at
            add(store, given[half:-changed])
            replace(store, given[-changed:], changed + 1)
            store.file.embed_pending()
            store.file.save_index()
        measure(path, copied, moment, at)


def found(one: Any, question: str, ranking: str) -> Any:
    return one.search(question, ranking=ranking, touch=False)


def measure(path: Path, copied: Path, moment: str, at: Any) -> None:
    class Stopped(clock.Clock):
        def utc_now(self) -> Any:
            return at

    with (
        memstore.open(path, read_only=True) as store,
        memstore.open(copied, read_only=True) as copy,
    ):
        lines = store.file.head().line
        print(f"{store.count():,} active facts, {lines:,} lines; as of line {moment[3:]}")
        for one in (store, copy):
            one.file.warm()
            one.search("harbour")
        times: dict[str, list[float]] = {}
        same = dict.fromkeys(RANKINGS, 0)

        def note(name: str, call: Callable[..., object], *asked: Any, **more: Any) -> None:
            began = time.perf_counter()
            call(*asked, **more)
            times.setdefault(name, []).append((time.perf_counter() - began) * 1000)

        for question in questions(ROUNDS):
            note("the set of then", store.as_of(moment).count)
            view = store.as_of(moment)
            note("search of then, first", view.search, question)
            note("search of then, again", view.search, question)
            note("search of now", store.search, question, touch=False)
            note("search of the copy", copy.search, question, touch=False)
            note("list of then", view.list, limit=20)
            note("list of now", store.list, limit=20)
            with clock.use(Stopped()):
                for ranking in RANKINGS:
                    here, there = (
                        [(hit.fact.id, hit.word_score) for hit in found(one, question, ranking)]
                        for one in (view, copy)
                    )
                    same[ranking] += here == there
        now = median(times["search of now"])
        print(f"{'':24}{'median ms':>10}{'x of now':>10}")
        for name, every in times.items():
            print(f"{name:24}{median(every):10.2f}{median(every) / now:10.2f}")
        print(f"the same hits and word scores as the copy: {same} of {ROUNDS}")
        print(
            f"the file {path.stat().st_size >> 20} MiB, the copy {copied.stat().st_size >> 20} MiB"
        )


if __name__ == "__main__":
    main()
