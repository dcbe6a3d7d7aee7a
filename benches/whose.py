"""How often a search notices that its answer is about somebody else than the one asked about.

``python -m benches.whose DATA_FOLDER``, with the folder that ``finding/sets.py`` describes. Sets of
conversations between two people are read, each conversation into a memory of its own, as facts or
as turns.

Questions with one of the two names are asked as they are (``right``), and with the other name
instead (``swapped``); so are the questions that the set itself asks about the wrong person
(``adversarial``). AUC is the chance that a question about the wrong person has a smaller difference
of ``terms`` than a right one. ``noted`` is the share of answers that carry the line. A person may
have done what only the other is asked about, so not every question about the wrong one should.
"""

from __future__ import annotations

import argparse
import json
import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import memstore
from benches.finding import sets
from memstore import Store
from memstore.search.lookups.base import Order
from memstore.search.lookups.indexed import IndexLookup

SETS = ("locomofact-dev", "locomo-dev")


def auc(wrong: Sequence[float], right: Sequence[float]) -> float:
    ordered = sorted(right)
    above = len(ordered)

    def chance(value: float) -> float:
        equal = bisect_right(ordered, value) - bisect_left(ordered, value)
        return (above - bisect_right(ordered, value) + equal / 2) / above

    return sum(map(chance, wrong)) / len(wrong)


def asked(
    conversation: str, people: Sequence[str], questions: Sequence[dict[str, Any]]
) -> Iterator[tuple[str, str]]:
    """Yield questions that name exactly one of the two, each with its kind."""
    one, other = people
    names = re.compile(rf"\b({one}|{other})\b")
    for question in questions:
        text = question["query"]
        if question["store"] != conversation or len({*names.findall(text)}) != 1:
            continue
        if question.get("type") == sets.LEFT_OUT:
            yield "adversarial", text
        elif question["gold"]:
            yield "right", text
            yield "swapped", names.sub(lambda name: other if name[0] == one else one, text)


def filled(units: Sequence[dict[str, Any]], name: str, *, as_turns: bool) -> Store:
    store = memstore.open(":memory:")
    if as_turns:
        store.episodes.add_many(sets.as_episode(unit, name) for unit in units)
    else:
        store.add_many(sets.as_fact(unit, name) for unit in units)
    store.file.embed_pending()
    return store


@contextmanager
def every_row() -> Iterator[dict[int, float]]:
    """Have searches leave the ``terms`` of all of their candidates, by id, in a dictionary."""
    terms: dict[int, float] = {}
    in_context = IndexLookup.in_context

    def all_in_context(
        self: Any, query: str, candidates: Any, wanted: Any, *, limit: int, **more: Any
    ) -> Order:
        order = in_context(self, query, candidates, wanted, limit=len(candidates), **more)
        terms.clear()
        terms.update({row.id: row.parts.terms for row in order.rows})
        return Order(order.rows[:limit], order.elsewhere)

    IndexLookup.in_context = all_in_context  # type: ignore[method-assign]
    try:
        yield terms
    finally:
        IndexLookup.in_context = in_context  # type: ignore[method-assign]


def measured(folder: Path, *, as_turns: bool) -> tuple[dict[str, list[float]], dict[str, int]]:
    """Return the differences by the kind of question, and how many answers carry the line."""
    differences: dict[str, list[float]] = defaultdict(list)
    noted: dict[str, int] = defaultdict(int)
    units, _ = sets.labelled_units(folder)
    with (folder / "queries.jsonl").open(encoding="utf-8") as lines:
        questions = [json.loads(line) for line in lines]
    for conversation, each in units.items():
        people = sorted({unit["speaker"] for unit in each})
        with filled(each, folder.name, as_turns=as_turns) as store, every_row() as terms:
            answers = _speakers(store, as_turns=as_turns)
            searched = store.episodes if as_turns else store
            for kind, question in asked(conversation, people, questions):
                noted[kind] += searched.search(question).about is not None
                best = {
                    name: max((terms[id_] for id_ in terms.keys() & ids), default=0.0)
                    for name, ids in answers.items()
                }
                named = next(name for name in people if name in question)
                other = next(name for name in people if name != named)
                differences[kind].append(best.get(named, 0.0) - best.get(other, 0.0))
    return differences, noted


def _speakers(store: Store, *, as_turns: bool) -> dict[str, set[int]]:
    """Return the rows of each person that ask nothing."""
    rows: dict[str, set[int]] = defaultdict(set)
    for one in store.episodes.list() if as_turns else store.list():
        if not one.content.strip().endswith("?"):
            name = one.speaker if isinstance(one, memstore.Episode) else one.subject
            rows[name or ""].add(one.id)
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("data", type=Path)
    folder: Path = parser.parse_args().data
    print(f"{'':28}{'questions':>10}{'AUC':>8}{'noted':>8}")
    for name in SETS:
        for as_turns in (False, True) if name == "locomo-dev" else (False,):
            differences, noted = measured(folder / name, as_turns=as_turns)
            for kind, each in differences.items():
                area = "" if kind == "right" else f"{auc(each, differences['right']):.3f}"
                share = noted[kind] / len(each)
                told = f"{name}, {'turns' if as_turns else 'facts'}, {kind}"
                print(f"{told:40}{len(each):6}{area:>8}{share:8.3f}")


if __name__ == "__main__":
    main()
