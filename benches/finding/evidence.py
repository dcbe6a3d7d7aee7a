"""All evidence of a question within so many tokens, by the kind of question.

    python -m benches.finding.evidence DATA_FOLDER

The turns of LoCoMo's conversations are kept as hosts keep them, without facts. A question counts if
every turn that its authors name as evidence is shown whole: by ``Store.recall``, and by BM25 and
plain cosine over the same turns, which show their best rows within as many tokens. Each turn begins
with its speaker's name.
"""

from __future__ import annotations

import argparse
import tempfile
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from statistics import mean
from typing import Final

import memstore
from benches.finding import sets
from benches.finding.both import TURNS
from benches.finding.halfyear.ways import Rivals
from memstore import Store

BUDGETS: Final = (250, 500, 1000, 2000)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path)
    given = parser.parse_args()
    units, questions = sets.labelled_units(given.data / TURNS)
    with tempfile.TemporaryDirectory() as folder, memstore.open(Path(folder, "said.db")) as whole:
        for namespace, own in units.items():
            said = (sets.as_episode(unit, TURNS) for unit in own)
            whole.within(namespace).episodes.add_many(said)
        whole.file.embed_pending()
        whole.file.warm()
        print("| | | " + " | ".join(f"{way} {budget:,}" for way in WAYS for budget in BUDGETS), "|")
        print("|---" * (2 + len(WAYS) * len(BUDGETS)) + "|")
        for kind, held in sorted(_held(whole, questions).items()):
            shares = (f"{mean(values):.2f}" for values in zip(*held, strict=True))
            print("|", kind, "|", len(held), "|", " | ".join(shares), "|")


def _held(whole: Store, questions: list[sets.Question]) -> dict[str, list[list[bool]]]:
    """Return by kind, for each question, whether each way within each budget has all evidence."""
    held: dict[str, list[list[bool]]] = defaultdict(list)
    stores = {one.store: whole.within(one.store) for one in questions}
    rivals = {name: Rivals(store) for name, store in stores.items()}
    keys = {
        name: {
            f"e{turn.id}": turn.idempotency_key or "" for turn in store.episodes.list(limit=None)
        }
        for name, store in stores.items()
    }
    for one in questions:
        row = []
        for way in WAYS.values():
            for budget in BUDGETS:
                lines = way(stores[one.store], rivals[one.store], one.text, budget).split("\n")
                shown = {line.split(" ")[0].split("[")[0] for line in lines if line[-1:] != "…"}
                found = {keys[one.store][name] for name in shown if name in keys[one.store]}
                row.append(found >= {*one.grades})
        for kind in ("all", one.kind):
            held[kind].append(row)
    return held


def _recall(store: Store, _rivals: Rivals, question: str, tokens: int) -> str:
    return store.recall(question, max_tokens=tokens, touch=False).text


WAYS: Final[dict[str, Callable[[Store, Rivals, str, int], str]]] = {
    "recall": _recall,
    "BM25": lambda _store, rivals, question, tokens: rivals.given("words", question, tokens),
    "cosine": lambda _store, rivals, question, tokens: rivals.given("meaning", question, tokens),
}


if __name__ == "__main__":
    main()
