"""The ranked results of questions on a PostgreSQL server, compared with the file's.

    python -m benches.postgres_ranking DATA_FOLDER [--questions 500]

Each namespace of the labelled sets (``finding/sets.py``) is stored in a file and on the server of
the tests, with the same times. Equal are results whose scores are the same, place by place, and
whose facts are, where no other fact has the same score.
"""

from __future__ import annotations

import argparse
import random
import tempfile
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tests.support import postgres

import memstore
from benches.finding import sets
from memstore import SearchHit, Store

LIMIT = 10
TIE = 1e-6
"""How much scores differ at most that are called the same."""


def filled(url: str, namespace: str, units: Sequence[dict[str, Any]], name: str) -> Store:
    at = datetime(2026, 1, 1, tzinfo=UTC)
    store = memstore.open(url, namespace=namespace)
    store.add_many(sets.as_fact(unit, name) | {"created_at": at} for unit in units)
    store.file.embed_pending()
    store.file.warm()  # before, the server answers, in an order of its own
    return store


def difference(own: Sequence[SearchHit], other: Sequence[SearchHit]) -> str:
    """Say how two results differ; empty if they do not, but for the order of ties."""
    if len(own) != len(other):
        return "length"
    pairs = list(zip(own, other, strict=True))
    if any(abs(a.score - b.score) > TIE for a, b in pairs):
        return "score"
    scores = [hit.score for hit in own]
    last = min(scores, default=0.0)  # its ties may have been cut off
    for a, b in pairs:
        is_tied = sum(abs(score - a.score) <= TIE for score in scores) > 1 or a.score - last <= TIE
        if a.fact.content != b.fact.content and not is_tied:
            return "order"
    return ""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--questions", type=int, default=500)
    arguments = parser.parse_args()
    read = {one.parent.name: sets.labelled_units(one.parent)
            for one in sorted(arguments.data.glob("*/units.jsonl"))}  # fmt: skip
    asked = [(name, question) for name, (_, all_) in read.items() for question in all_]
    chosen = random.Random(28).sample(asked, min(arguments.questions, len(asked)))
    memories = sorted({(name, question.store) for name, question in chosen})
    found = Counter[str]()
    with tempfile.TemporaryDirectory() as folder, postgres.database() as url:
        for place, (name, namespace) in enumerate(memories):
            units = read[name][0][namespace]
            with (
                filled(str(Path(folder, f"{place}.db")), namespace, units, name) as file,
                filled(url, f"{name}/{namespace}", units, name) as server,
            ):
                for text in [q.text for n, q in chosen if (n, q.store) == (name, namespace)]:
                    results = [store.search(text, limit=LIMIT) for store in (file, server)]
                    what = difference(*results)
                    found[what or "equal"] += 1
                    if what:
                        print(f"{name} {namespace}: {what}: {text}")
    print(", ".join(f"{number} {what}" for what, number in sorted(found.items())))


if __name__ == "__main__":
    main()
