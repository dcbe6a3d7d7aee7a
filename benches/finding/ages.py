"""What age does to answers: the sets with facts of up to three years, and ten facts as they age."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from pathlib import Path

from tests.support import ageing

import memstore
from benches.finding import sets
from benches.finding.measures import recall
from benches.finding.ways import FACTS, unit_of

STORED = ("now", "spread", "answers")
"""See :attr:`benches.finding.sets.Labelled.age`."""

WAYS = ("facts", "facts, classic")


def show(folders: Sequence[Path], made: Path) -> None:
    _row("R@10, stored", *STORED)
    for folder in folders:
        found = [_recalls(folder, made, age) for age in STORED]
        for way, recalls in zip(WAYS, zip(*found, strict=True), strict=True):
            _row(f"{folder.name}, {way}", *(f"{one:.3f}" for one in recalls))
    print()
    _row("first / in three of 10", *ageing.AGES_DAYS)
    for name, options in (("contextual", {}), ("classic", {"ranking": "classic"})):
        _row(name, *(_of_ten(days, options) for days in ageing.AGES_DAYS.values()))


def _recalls(folder: Path, made: Path, age: str) -> list[float]:
    """Return the recall at 10 of each way, with the facts stored at such times."""
    labelled = sets.read(folder, made, age)
    with labelled.open() as store:
        store.file.warm()
        stores = {name: store.within(name) for name in labelled.units}
        return [
            statistics.mean(
                recall([*map(unit_of, FACTS[way](stores[one.store], one.text, 10))], one.grades)
                for one in labelled.questions
            )
            for way in WAYS
        ]


def _of_ten(days: float, options: dict[str, str]) -> str:
    with memstore.open(":memory:") as store:
        ageing.fill(store, days)
        found = ageing.places(store, **options)
    return f"{ageing.within(found, 1)} / {ageing.within(found, 3)}"


def _row(name: str, *cells: str) -> None:
    print(f"{name:36}", *(f"{cell:>9}" for cell in cells), flush=True)
