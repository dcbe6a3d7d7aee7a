"""What a page over the memory reads: each call beside the way that it took before.

    python -m benches.pages [--folder FOLDER] [--facts 100000]

One file with 20,000 subjects, one of them with a fifth of all facts, over a year: a tenth of the
facts with an owner, a tenth superseded, some deleted, an episode for every ten facts. Times are
medians of rounds in which both ways take turns. Every fact counts as embedded. Then the tool for
searches, with and without the record of what was asked.
"""

from __future__ import annotations

import argparse
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path
from statistics import median
from typing import Any

import memstore
from memstore import Cancelled, NewEpisode, NewFact, Store
from memstore.database.tables import facts as fact_table
from memstore.domain import clock
from memstore.domain.records import CATEGORIES
from memstore.faces.mcp import catalogue
from memstore.faces.mcp.calls import Calls
from memstore.store.store import facts_of

FACTS = 100_000
SUBJECTS = 20_000
BATCH = 1_000
DAYS = 365
ROUNDS = 15
SEARCHES = 400
LARGE = "the large one"
RARE = "subject 17"


class Moving(clock.Clock):
    """A clock that is moved by hand, so that the journal covers a year."""

    def __init__(self, at: datetime) -> None:
        self.at = at

    def utc_now(self) -> datetime:
        return self.at


def fact(place: int) -> NewFact:
    return NewFact(
        content=f"fact {place} about the harbour and thing {place % 997}",
        subject=LARGE if place % 5 == 0 else f"subject {place * 7919 % SUBJECTS}",
        category=CATEGORIES[place % len(CATEGORIES)],
        user_id="ana" if place % 10 == 3 else None,
        source="web:example.org" if place % 1_000 == 1 else None,
    )


def fill(path: Path, number: int) -> None:
    moving = Moving(datetime.now(clock.EPOCH.tzinfo) - timedelta(days=DAYS))
    step = timedelta(days=DAYS) / (number / BATCH + 1)
    with clock.use(moving), memstore.open(path, embedder="none") as store:
        for first in range(0, number, BATCH):
            added = store.add_many(fact(place) for place in range(first, first + BATCH))
            places = range(first, first + BATCH, 10)
            store.episodes.add_many(
                NewEpisode(content=f"said {place}", source="bench") for place in places
            )
            for old, new in zip(added[10:200:2], added[11:201:2], strict=False):
                if old.scope == new.scope:
                    store.supersede(old.id, new.id, any_subject=True)
            for one in added[-5:]:
                store.delete(one.id)
            moving.at += step
    with sqlite3.connect(path) as file:  # the vectors are never read
        for rows in ("fact", "piece"):
            file.execute(f"UPDATE memstore_{rows}_vectors SET embedding = zeroblob(4)")
    file.close()


def milliseconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return 1000 * (time.perf_counter() - start)


def compare(name: str, now: Callable[[], object], before: Callable[[], object] | None) -> None:
    """Print the medians of two ways that take turns, and their ratio."""
    times: list[tuple[float, float]] = [
        (milliseconds(now), milliseconds(before) if before else 0.0) for _ in range(ROUNDS)
    ]
    new, old = (median(one) for one in zip(*times, strict=True))
    told = f"{old:9.2f} | {old / new:6.1f}" if before else "        – |      –"
    print(f"| {name:52} | {new:9.2f} | {told} |", flush=True)


@contextmanager
def without_choice() -> Iterator[None]:
    """Read lists as the planner would."""
    chosen, fact_table._narrowest = fact_table._narrowest, lambda *_: ""
    try:
        yield
    finally:
        fact_table._narrowest = chosen


def planned(store: Store, **asked: Any) -> Callable[[], object]:
    def work() -> object:
        with without_choice():
            return store.list(**asked)

    return work


def pages(store: Store) -> None:
    newest = {"limit": 50, "newest_first": True}
    deep = store.file.newest_id() // 20
    every = store.of("all").list(limit=50, newest_first=True)
    ids = [one.id for one in every]
    large = {"subject": LARGE, **newest}
    rare = {"subject": RARE, **newest}
    print(f"| {'':52} | now, ms | before, ms | ratio |\n|---|---|---|---|")
    compare("counts, beside status", store.counts, store.status)
    compare(
        "counts of all owners, beside status",
        lambda: store.of("all").counts(),
        lambda: store.of("all").status(),
    )
    for order in ("name", "size", "changed"):
        for scope in (None, "all"):
            compare(
                f"50 subjects by {order}, scope {scope}",
                lambda order=order, scope=scope: store.of(scope).subjects(order=order, limit=50),
                None,
            )
    middle = store.of("all").subjects(order="changed", limit=200)[-1]
    compare(
        "the page after 200 subjects by change",
        lambda: store.of("all").subjects(order="changed", after=middle, limit=50),
        None,
    )
    compare("owners", store.owners, None)
    compare(
        "50 facts at once, beside one by one",
        lambda: store.get_many(ids),
        lambda: [*map(store.get, ids)],
    )
    compare(
        "50 histories at once, beside one by one",
        lambda: store.ledger.histories(ids),
        lambda: [*map(store.history, ids)],
    )
    compare(
        "a deep page by before_id, beside offset",
        lambda: store.of("all").list(active_only=False, before_id=deep, **newest),
        lambda: store.of("all").list(active_only=False, offset=95_000, **newest),
    )
    compare("a rare subject, newest first", lambda: store.list(**rare), planned(store, **rare))
    compare("a large subject, newest first", lambda: store.list(**large), planned(store, **large))
    compare(
        "a rare source, newest first",
        lambda: store.list(source="web:example.org", **newest),
        None,
    )
    compare("deleted facts, newest first", lambda: store.list(states=["deleted"], **newest), None)
    compare(
        "50 changes, beside 50 acts of the log",
        store.ledger.changes,
        lambda: store.ledger.log(limit=50),
    )
    compare("50 changes, deep", lambda: store.ledger.changes(before=20_000), None)
    compare("50 changes by an actor without any", lambda: store.ledger.changes(actor="x"), None)
    with facts_of(store).reading() as transaction:
        scan = (
            "SELECT substr(at, 1, 10), kind, count(*) FROM memstore_journal WHERE EXISTS (SELECT 1"
            " FROM memstore_facts f WHERE f.id = fact_id AND namespace = 'default') GROUP BY 1, 2"
        )
        compare(
            "activity of 28 days, beside scanning",
            lambda: store.of("all").ledger.activity(28, "Europe/Berlin"),
            lambda: list(transaction.rows(scan)),
        )
    compare("activity of a year", lambda: store.of("all").ledger.activity(365), None)
    compare(
        "proposals: a page and the count",
        lambda: (store.proposals.list(limit=50), store.proposals.count()),
        None,
    )
    compare("50 recorded searches", store.searches.list, None)
    compare("facts given most", store.searches.most_used, None)
    compare("facts never given", lambda: store.searches.never_used(), None)
    fact_id = ids[0]
    compare("a dry run of delete", lambda: store.delete(fact_id, dry_run=True), None)


def examined(store: Store) -> None:
    took = milliseconds(store.file.doctor)
    start = time.perf_counter()
    late: list[float] = []

    def cancelled() -> bool:
        is_due = time.perf_counter() - start > took / 3000
        if is_due and not late:
            late.append(time.perf_counter())
        return is_due

    try:
        store.file.doctor(cancelled=cancelled)
    except Cancelled:
        ended = 1000 * (time.perf_counter() - late[0])
        print(f"\nexamine: {took / 1000:.1f} s; cancelled amid it, it ends after {ended:.0f} ms")


def searched(store: Store) -> None:
    """Compare the tool for searches with and without the record, and hits with their words."""
    calls = [
        Calls(catalogue.offered()._replace(records=records), lambda: None)
        for records in (True, False)
    ]
    times: list[list[float]] = [[], []]
    for place in range(SEARCHES):
        asked = {"name": "memory_search", "arguments": {"query": f"thing {place} of the harbour"}}
        for number in (0, 1) if place % 2 else (1, 0):
            work = calls[number]
            times[number].append(milliseconds(lambda w=work, a=asked: w.answer(lambda: store, a)))
    with_record, without = (sum(one) / SEARCHES for one in times)
    print(
        f"\n{SEARCHES} searches by the tool, mean ms: {with_record:.3f} with the record, "
        f"{without:.3f} without: {with_record / without:.3f} times; medians "
        f"{median(times[0]):.3f} and {median(times[1]):.3f}"
    )
    compare(
        "ten hits with the words that matched, beside without",
        lambda: store.search("the harbour and things", matched=True, touch=False),
        lambda: store.search("the harbour and things", touch=False),
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--folder", type=Path, default=Path("benches/.made"))
    parser.add_argument("--facts", type=int, default=FACTS)
    asked = parser.parse_args()
    asked.folder.mkdir(exist_ok=True)
    path = asked.folder / f"pages-{asked.facts}.db"
    if not path.exists():
        fill(path, asked.facts)
    with memstore.open(path, embedder="none") as store:
        print(f"{asked.facts:,} facts, {store.file.head().line:,} lines of the journal\n")
        store.file.warm()
        searched(store)
        pages(store)
        examined(store)


if __name__ == "__main__":
    main()
