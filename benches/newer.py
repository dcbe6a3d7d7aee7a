"""How often a search for an old belief shows the new one, and what that costs.

``python -m benches.newer [PAIRS] [--data DATA_FOLDER] [--no-price | --only-price]``. ``PAIRS`` is
a file of pairs of an older and a newer fact, each with its ``subject`` and a ``label`` (by default
the published ones, ``tests/text/judged/pairs.jsonl``); the folder is the one that
``finding/sets.py`` describes.

The memory holds the facts of the conversations in ``locomofact-dev``, if there is a folder, and one
pair at a time. The query is the wording of the older fact. A pair counts as ``shown`` if the first
hit is the newer fact or names it. Of facts that coexist, and of the conversations' facts, each
searched for by its own text, the share that carries any flag counts (``flagged``). Both are counted
without slots and with those of the pairs (``slots_old``, ``slots_new``).

The price is the time of a search with flags and without, in turns in one run, for texts that were
not compared before in this process and for those that were: of the processor, and by the clock. All
that is stored was compared before; what that took of the processor is told for each fact.

    python -m benches.newer --only-price --sizes 100000 1000000 --subjects 500
"""

from __future__ import annotations

import argparse
import json
import random
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

import memstore
from benches import language, side_by_side
from benches.finding import sets
from memstore import NewFact, Store
from memstore.search import newer

PUBLISHED = Path(__file__).parents[1] / "tests" / "text" / "judged" / "pairs.jsonl"
CONVERSATIONS = "locomofact-dev"
OF_A_PAIR = datetime(2024, 1, 1, tzinfo=UTC)
DAY = timedelta(days=1)

SIZES = (20_000, 100_000)
SUBJECTS = (1, 10, 500)
ROUNDS = 40
AT_ONCE = 5_000
OF_ONE_SUBJECT = 50
"""Facts on each subject, where the price is measured."""


def lines(file: Path) -> list[dict[str, Any]]:
    with file.open(encoding="utf-8") as handle:
        return [json.loads(line) for line in handle]


def conversations(folder: Path | None) -> list[dict[str, Any]]:
    if folder is None:
        return []
    units, _ = sets.labelled_units(folder / CONVERSATIONS)
    return [unit for each in units.values() for unit in each]


def filled(units: Sequence[dict[str, Any]]) -> Store:
    """Return a memory of conversations; people of one name in two of them are two."""
    store = memstore.open(":memory:")
    store.add_many(
        sets.as_fact(unit, CONVERSATIONS)
        | {"subject": f"{unit['speaker']} of {unit['store']}", "thread": None, "seq": None}
        for unit in units
    )
    return store


def outcome(store: Store, pair: dict[str, Any], *, slotted: bool) -> tuple[bool, bool]:
    """Return whether the first hit is the newer fact or names it, and whether the old one does."""
    old, new = (
        store.add(
            pair[name],
            subject=pair["subject"],
            created_at=OF_A_PAIR + days * DAY,
            slots=slots_of(pair, days) if slotted else None,
        ).id
        for days, name in enumerate(("older", "newer"))
    )
    hits = store.search(pair["older"], touch=False)
    for fact_id in (old, new):
        store.delete(fact_id)
    first = hits[0] if hits else None
    shown = first is not None and (first.fact.id == new or new in first.newer)
    return shown, any(new in hit.newer for hit in hits if hit.fact.id == old)


def slots_of(pair: dict[str, Any], side: int) -> dict[str, str] | None:
    given = pair.get(("slots_old", "slots_new")[side]) or {}
    return {name: one for name, one in given.items() if one} or None


def pairs_shown(store: Store, pairs: Sequence[dict[str, Any]], *, slotted: bool) -> Iterator[str]:
    counts: Counter[tuple[str, str]] = Counter()
    for pair in pairs:
        shown, flagged = outcome(store, pair, slotted=slotted)
        for kind in (pair["label"], f"{pair['label']}, {pair.get('lang', '')}"):
            counts[kind, "all"] += 1
            counts[kind, "shown"] += shown
            counts[kind, "flagged"] += flagged
    for kind, of in sorted(counts):
        if of == "all":
            all_, shown, flagged = (counts[kind, name] for name in ("all", "shown", "flagged"))
            yield f"{kind:28}{all_:6}{shown / all_:9.3f}{flagged / all_:9.3f}"


def conversations_flagged(store: Store) -> str:
    facts = store.list()
    flagged = 0
    for fact in facts:
        hits = store.search(fact.content, touch=False)
        flagged += any(hit.newer for hit in hits if hit.fact.id == fact.id)
    return f"{'conversations':28}{len(facts):6}{'':9}{flagged / max(len(facts), 1):9.3f}"


@contextmanager
def without_flags() -> Iterator[None]:
    compared = newer.newer
    newer.newer = lambda *_, **__: {}
    try:
        yield
    finally:
        newer.newer = compared


@contextmanager
def made(size: int, subjects: int) -> Iterator[Store]:
    """Make a memory of texts of 5 to 25 words, in a file, because a million need more than 1 GB."""
    facts = (
        NewFact(
            content=fact["content"],
            subject=f"s{place % subjects}",
            created_at=OF_A_PAIR + place * timedelta(minutes=1),
        )
        for place, fact in enumerate(language.facts(size))
    )
    with (
        TemporaryDirectory() as folder,
        memstore.open(Path(folder) / "newer.db", durability="normal") as store,
    ):
        while some := [*islice(facts, AT_ONCE)]:
            store.add_many(some)
        store.file.embed_pending()
        yield store


def comparing_price(store: Store) -> float:
    """Compare all facts of a memory; return the processor's milliseconds for each."""
    begun = time.thread_time()
    store.file.searches.comparisons.run()
    return 1e3 * (time.thread_time() - begun) / store.count()


def price(title: str, store: Store) -> str:
    """Measure searches by the texts of facts, each once, and each again."""
    rnd = random.Random(7)
    facts = store.list()
    queries = [fact.content for fact in rnd.choices(facts, k=ROUNDS + 1)]
    store.file.warm()
    while store.search(queries[0]).ranking != "contextual":
        side_by_side.pause(0.2)
    rows = []
    for when in ("first time", "again"):
        taken: dict[str, list[tuple[float, float]]] = {"with": [], "without": []}
        for place, query in enumerate(queries[1:]):
            # In turns: what is searched for again is in the processor's caches.
            for flags in ("with", "without") if place % 2 else ("without", "with"):
                with nullcontext() if flags == "with" else without_flags():
                    taken[flags].append(times(store, query))
        row = f"{f'{title}, {when}':58}"
        for clock in (0, 1):
            flagged, plain = ([each[clock] * 1e3 for each in of] for of in taken.values())
            extra = median(a - b for a, b in zip(flagged, plain, strict=True))
            row += f"{median(flagged):9.2f}{median(plain):9.2f}{extra:9.2f}"
        rows.append(row)
    return "\n".join(rows)


def times(store: Store, query: str) -> tuple[float, float]:
    """Return the seconds that a search takes: of the processor, and by the clock."""
    processor, clock = time.process_time(), time.perf_counter()
    store.search(query, touch=False)
    return time.process_time() - processor, time.perf_counter() - clock


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("pairs", type=Path, nargs="?", default=PUBLISHED)
    parser.add_argument("--data", type=Path)
    only = parser.add_mutually_exclusive_group()
    only.add_argument("--no-price", action="store_true")
    only.add_argument("--only-price", action="store_true")
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    parser.add_argument("--subjects", type=int, nargs="+", default=SUBJECTS)
    arguments = parser.parse_args()
    pairs, units = lines(arguments.pairs), conversations(arguments.data)
    with filled(units) as store:
        for slotted in () if arguments.only_price else (False, True):
            print(f"{'with slots' if slotted else '':28}{'facts':>6}{'shown':>9}{'flagged':>9}")
            if units and not slotted:
                print(conversations_flagged(store))
            print(*pairs_shown(store, pairs, slotted=slotted), sep="\n")
        if arguments.no_price:
            return
        print(f"\n{'milliseconds':58}{'of the processor':>27}{'by the clock':>27}")
        print(f"{'':58}" + 2 * f"{'with':>9}{'without':>9}{'flags':>9}")
        if units:
            print(price(f"{len(units):,} facts of conversations on 10 subjects", store))
    for size in arguments.sizes:
        for subjects in (*arguments.subjects, size // OF_ONE_SUBJECT):
            with made(size, subjects) as store:
                title = f"{size:,} facts on {subjects:,} subjects"
                print(f"{title}, compared: {comparing_price(store):.2f} ms of each fact")
                print(price(title, store), flush=True)


if __name__ == "__main__":
    main()
