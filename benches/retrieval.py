"""Retrieval quality of a store over labelled data sets: recall, MRR and NDCG.

    python benches/retrieval.py DATA_FOLDER [SET …] [--limit 20]

Each set is a folder with ``units.jsonl`` (``store``, ``id``, ``text``, perhaps ``speaker``) and
``queries.jsonl`` (``store``, ``query``, ``gold``, ``type``, perhaps ``grades``). Units of one
``store`` become one namespace; a query is asked of its own. The data are not part of the project:
their licences differ.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import memstore

MODES = {
    "words": {"word_weight": 1.0, "vector_weight": 0.0},
    "vectors": {"word_weight": 0.0, "vector_weight": 1.0},
    "hybrid": {},
}
LEFT_OUT = "5-adversarial"
"""Questions of this type have no answer in the conversation."""

MEASURES = ("R@5", "R@10", "R@20", "MRR", "NDCG@10")


def lines(file: Path) -> Iterator[dict[str, Any]]:
    """Yield the objects of a JSON Lines file."""
    with file.open(encoding="utf-8") as handle:
        yield from map(json.loads, handle)


def judge(found: Sequence[str], grades: dict[str, float]) -> dict[str, float]:
    """Return each measure for one query."""
    places = [grades.get(unit, 0.0) for unit in found]
    relevant = len(grades)
    ideal = sorted(grades.values(), reverse=True)[:10]
    first = next((place for place, grade in enumerate(places, 1) if grade), None)
    scores = {f"R@{k}": sum(map(bool, places[:k])) / relevant for k in (5, 10, 20)}
    scores["MRR"] = 0.0 if first is None else 1 / first
    scores["NDCG@10"] = gain(places[:10]) / gain(ideal)
    return scores


def gain(grades: Sequence[float]) -> float:
    """Return the discounted cumulative gain, ``sum(grade / log2(place + 1))``."""
    return sum(grade / math.log2(place + 1) for place, grade in enumerate(grades, 1))


def measure(folder: Path, limit: int, work: Path) -> dict[str, dict[str, float]]:
    """Store a set's units, ask its questions in each mode, and return the mean of each measure."""
    queries = [q for q in lines(folder / "queries.jsonl") if q.get("type") != LEFT_OUT]
    by_store: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for unit in lines(folder / "units.jsonl"):
        if unit["text"].strip():
            by_store[unit["store"]].append(unit)
    sums: dict[str, dict[str, float]] = {mode: dict.fromkeys(MEASURES, 0.0) for mode in MODES}
    asked = 0
    for namespace, units in by_store.items():
        with memstore.open(work / f"{folder.name}.db", namespace=namespace) as store:
            facts = store.add_many(
                {"content": unit["text"], "subject": unit.get("speaker") or folder.name}
                for unit in units
            )
            names = {fact.id: unit["id"] for fact, unit in zip(facts, units, strict=True)}
            own = [q for q in queries if q["store"] == namespace and q["gold"]]
            asked += len(own)
            for mode, weights in MODES.items():
                found = store.search_batch([q["query"] for q in own], limit=limit, **weights)
                for query, hits in zip(own, found, strict=True):
                    grades = query.get("grades") or dict.fromkeys(query["gold"], 1.0)
                    units_found = [names[hit.fact.id] for hit in hits]
                    for name, value in judge(units_found, grades).items():
                        sums[mode][name] += value
    return {
        mode: {name: value / asked for name, value in values.items()}
        for mode, values in sums.items()
    }


def main() -> int:
    """Print one table over all sets."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path, help="the folder that holds the sets")
    parser.add_argument("sets", nargs="*", help="which sets; all of them by default")
    parser.add_argument("--limit", type=int, default=20, help="results asked for")
    arguments = parser.parse_args()
    names = arguments.sets or sorted(f.parent.name for f in arguments.data.glob("*/units.jsonl"))
    if not names:
        print(f"no data sets in {arguments.data}: nothing was measured", file=sys.stderr)
        return 1
    print(f"{'set':20} {'mode':8}", *(f"{name:>8}" for name in MEASURES))
    with tempfile.TemporaryDirectory() as work:
        for name in names:
            for mode, values in measure(arguments.data / name, arguments.limit, Path(work)).items():
                print(f"{name:20} {mode:8}", *(f"{values[m]:8.3f}" for m in MEASURES))
    return 0


if __name__ == "__main__":
    sys.exit(main())
