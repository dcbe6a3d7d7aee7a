"""Facts and turns of the same conversations in one memory: is an answer of either kind found?"""

from __future__ import annotations

import re
import statistics
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import memstore
from benches.finding import sets
from memstore import Store

TURNS, FACTS = "locomo-dev", "locomofact-dev"
"""Sets about the same conversations, with the same questions; the first of turns."""

BUDGETS = (250, 500, 1000)

WAYS: dict[str, dict[str, Any]] = {"both": {}, "facts alone": {"episodes": False}}


class Asked(NamedTuple):
    store: str
    text: str
    answers: frozenset[str]
    """Keys of the facts and of the turns that answer it."""


def table(data: Path, made: Path) -> None:
    """Print the share of questions with an answer shown whole, of all and by conversations."""
    turns, facts = (sets.read(data / name, made) for name in (TURNS, FACTS))
    questions = [*_questions(turns, facts)]
    file = made / f"{TURNS}+{FACTS}.db"
    if not file.exists():
        _fill(file, turns, facts)
    with memstore.open(file) as whole:
        whole.file.warm()
        for way, options in WAYS.items():
            for budget in BUDGETS:
                found = [_told(whole.within(one.store), one, budget, options) for one in questions]
                hits, shares = zip(*found, strict=True)
                halves = [*_halves(questions, hits)]
                print(
                    f"{way:12} {budget:>6,} tokens: {statistics.mean(hits):.3f}"
                    f"  (halves of the conversations {halves[0]:.3f}, {halves[1]:.3f};"
                    f" {statistics.mean(shares):.0%} of the text are facts)",
                    flush=True,
                )


def _halves(questions: Sequence[Asked], hits: Sequence[bool]) -> Iterator[float]:
    """Yield the share of questions about every other conversation, and about the rest."""
    stores = sorted({one.store for one in questions})
    for half in (0, 1):
        own = {*stores[half::2]}
        yield statistics.mean(
            hit for one, hit in zip(questions, hits, strict=True) if one.store in own
        )


def _questions(turns: sets.Labelled, facts: sets.Labelled) -> Iterator[Asked]:
    """Yield the questions that a fact answers, with the turns that answer them too."""
    said = {(one.store, one.text): one.grades for one in turns.questions}
    for one in facts.questions:
        also = said.get((one.store, one.text), {})
        yield Asked(one.store, one.text, frozenset({*one.grades, *also}))


def _told(store: Store, asked: Asked, budget: int, options: dict[str, Any]) -> tuple[bool, float]:
    """Return whether an answer is shown whole, and how much of the text are facts."""
    told = store.recall(asked.text, max_tokens=budget, touch=False, **options)
    lines = {re.split(r"[ \[]", line, maxsplit=1)[0]: line for line in told.text.split("\n")}
    rows = {f"#{id_}": store.get(id_).idempotency_key for id_ in told.facts}
    of_facts = sum(len(lines[name]) for name in rows)
    rows |= {f"e{id_}": store.episodes.get(id_).idempotency_key for id_ in told.episodes}
    whole = {key for name, key in rows.items() if not lines[name].endswith("…")}
    size = sum(len(lines[name]) for name in rows)
    return bool(whole & asked.answers), of_facts / size if size else 0.0


def _fill(file: Path, turns: sets.Labelled, facts: sets.Labelled) -> None:
    unfinished = file.with_suffix(".unfinished")
    unfinished.unlink(missing_ok=True)
    units: dict[str, tuple[list[Any], list[Any]]] = defaultdict(lambda: ([], []))
    for place, labelled in enumerate((turns, facts)):
        for namespace, own in labelled.units.items():
            units[namespace][place].extend(own)
    with memstore.open(unfinished) as whole:
        for namespace, (said, noted) in units.items():
            store = whole.within(namespace)
            store.episodes.add_many(sets.as_episode(unit, TURNS) for unit in said)
            store.add_many(sets.as_fact(unit, FACTS) for unit in noted)
        whole.file.embed_pending()
        whole.file.save_index()
    unfinished.rename(file)
