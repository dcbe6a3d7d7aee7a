"""Retrieval quality and speed over labelled sets.

    python -m benches.finding DATA_FOLDER [SET …] [--budgets|--ablation|--both|--aged] [--folder F]

Recall, MRR, NDCG and the time of a search for each set in the data folder, as facts and episodes,
with the classic ranking and FTS5's BM25 beside them. --budgets: recall within so many tokens, 8 a
hit for its id and date, and through Store.recall. --ablation: what is lost without each part of
the score. --both: facts and turns in one memory, within so many tokens. --aged: with facts of up
to three years, and ten answers by their age. Stores are made once and kept in the folder. The
format: :mod:`benches.finding.sets`.
"""

from __future__ import annotations

import argparse
import re
import statistics
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from benches.finding import ages, both, sets
from benches.finding.measures import chance, judge, recall, tokens_of, within
from benches.finding.sets import Labelled, Question
from benches.finding.ways import EPISODES, FACTS, Ask, Hit, unit_of
from memstore import Store
from memstore.search.requests import MAX_LIMIT, MIN_CANDIDATES, Request

BUDGETS = (250, 500, 1000, 2000)
DEEP = 100
"""Hits for a budget."""

LEFT_OUT = ("terms", "thread", "session", "subject", "date", "kind")


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path)
    parser.add_argument("sets", nargs="*")
    parser.add_argument("--budgets", action="store_true")
    parser.add_argument("--ablation", action="store_true")
    parser.add_argument("--both", action="store_true")
    parser.add_argument("--aged", action="store_true")
    parser.add_argument("--folder", type=Path, default=Path("benches/.made/finding"))
    asked = parser.parse_args()
    names = asked.sets or sorted(file.parent.name for file in asked.data.glob("*/units.jsonl"))
    if not names:
        print(f"skipped: there are no data sets in {asked.data}", file=sys.stderr)
        return 0
    asked.folder.mkdir(parents=True, exist_ok=True)
    if asked.both:
        both.table(asked.data, asked.folder)
        return 0
    if asked.aged:
        ages.show([asked.data / name for name in names], asked.folder)
        return 0
    table = budgets if asked.budgets else ablation if asked.ablation else quality
    for name in names:
        labelled = sets.read(asked.data / name, asked.folder)
        with labelled.open() as store:
            store.file.warm()
            table(labelled, store)
    return 0


def quality(labelled: Labelled, store: Store) -> None:
    _head(labelled, "R@5", "R@10", "MRR", "NDCG@10", "p50 ms", "p95 ms")
    for way, ask in _ways(labelled).items():
        found, times = [], []
        for question, own in _asked(labelled, store):
            start = time.perf_counter()
            hits = ask(own, question.text, 10)
            times.append((time.perf_counter() - start) * 1000)
            found.append(judge([*map(unit_of, hits)], question.grades))
        means = [statistics.mean(one[name] for one in found) for name in found[0]]
        late = statistics.quantiles(times, n=20)[-1]
        _row(
            way,
            *(f"{mean:.3f}" for mean in means),
            f"{statistics.median(times):.2f}",
            f"{late:.2f}",
        )


def budgets(labelled: Labelled, store: Store) -> None:
    _head(labelled, *(f"{budget:,}" for budget in BUDGETS))
    units = [unit for own in labelled.units.values() for unit in own]
    counts = tokens_of([unit["text"] for unit in units])
    tokens = {unit["id"]: count for unit, count in zip(units, counts, strict=True)}
    for way, ask in _ways(labelled).items():
        held: list[list[float]] = [[] for _ in BUDGETS]
        for question, own in _asked(labelled, store):
            found = [*map(unit_of, ask(own, question.text, DEEP))]
            for values, budget in zip(held, BUDGETS, strict=True):
                values.append(recall(within(found, tokens, budget), question.grades))
        _row(way, *(f"{statistics.mean(values):.3f}" for values in held))
    _row("Store.recall", *(f"{_recalled(labelled, store, budget):.3f}" for budget in BUDGETS))


def _recalled(labelled: Labelled, store: Store, budget: int) -> float:
    """Return the recall of what Store.recall shows whole, by its own token counter."""
    held = []
    for question, own in _asked(labelled, store):
        told = own.recall(question.text, max_tokens=budget, episodes=False, touch=False)
        cut = {line for line in told.text.split("\n") if line.endswith("…")}
        parts = {int(name[1]) for line in cut if (name := re.match(r"#(\d+)\b", line))}
        whole = [fact_id for fact_id in told.facts if fact_id not in parts]
        found = [own.get(fact_id).idempotency_key or "" for fact_id in whole]
        held.append(recall(found, question.grades))
    return statistics.mean(held)


def ablation(labelled: Labelled, store: Store) -> None:
    """Print recall at 10 without each part of the score, among a search's candidates."""
    Request.candidates = property(lambda _: MIN_CANDIDATES)  # type: ignore[assignment,method-assign]
    _head(labelled, "R@10", "lost", "no loss")
    ways = {way: ask for way, ask in _ways(labelled).items() if "," not in way}
    for way, ask in ways.items():
        found = [
            (question, ask(own, question.text, MAX_LIMIT))
            for question, own in _asked(labelled, store)
        ]
        whole = [recall(_best(hits, ""), question.grades) for question, hits in found]
        _row(way, f"{statistics.mean(whole):.3f}")
        for part in LEFT_OUT:
            without = [recall(_best(hits, part), question.grades) for question, hits in found]
            lost = [one - other for one, other in zip(whole, without, strict=True)]
            _row(
                f"  without {part}",
                f"{statistics.mean(without):.3f}",
                f"{statistics.mean(lost):+.4f}",
                f"{chance(lost):.3f}",
            )


def _best(hits: Sequence[Hit], part: str) -> list[str]:
    """Return the ten best by the score without a part of it."""

    def score(hit: Hit) -> float:
        return hit.score - (getattr(hit.parts, part) if part else 0.0)

    return [unit_of(hit) for hit in sorted(hits, key=lambda hit: -score(hit))[:10]]


def _ways(labelled: Labelled) -> dict[str, Ask]:
    return FACTS | EPISODES if labelled.has_turns else FACTS


def _asked(labelled: Labelled, store: Store) -> Iterator[tuple[Question, Store]]:
    stores = {name: store.within(name) for name in labelled.units}
    for question in labelled.questions:
        yield question, stores[question.store]


def _head(labelled: Labelled, *columns: str) -> None:
    _row(f"{labelled.name} ({len(labelled.questions)})", *columns)


def _row(name: str, *cells: str) -> None:
    print(f"{name:24}", *(f"{cell:>8}" for cell in cells), flush=True)


if __name__ == "__main__":
    sys.exit(main())
