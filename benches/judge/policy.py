"""What `Memory` does with a scripted model over labelled pairs, and whether one revert undoes it.

    python -m benches.judge.policy [FILE …] [--slots] [--policy trust-the-model] [--embedder local]

One model always decides as labelled, the other always wants the older fact replaced. Printed for
each: how many corrections were carried out, and how many coexisting and hostile pairs were retired
or asked about. By default the published pairs, without slots.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

import memstore
from memstore import Memory, Store

PUBLISHED: Final = Path(__file__).parents[2] / "tests" / "text" / "judged" / "pairs.jsonl"

Pair = dict[str, Any]


class Scripted:
    """Finds the newer fact, and decides as the label says, or always wants the older one gone."""

    model = "scripted"

    def __init__(self, pair: Pair, *, always: bool, slots: bool) -> None:
        self._pair = pair
        self._slots = slots
        self._retires = always or pair["label"] == "supersedes"

    def generate(self, prompt: str) -> str:
        pair = self._pair
        if "The existing memories:" not in prompt:
            found = {"content": pair["newer"], "subject": pair["subject"]}
            return json.dumps({"facts": [found | _slots(pair, "new", given=self._slots)]})
        event, text = ("UPDATE", pair["newer"]) if self._retires else ("ADD", None)
        memory = 1 if self._retires else None
        told = [{"fact": 1, "event": event, "memory": memory, "text": text}]
        return json.dumps({"operations": told})


def _slots(pair: Pair, side: str, *, given: bool) -> dict[str, Any]:
    found = pair.get(f"slots_{side}") if given else None
    return {name: value for name, value in (found or {}).items() if value is not None}


def outcome(store: Store, pair: Pair, *, always: bool, slots: bool, policy: str) -> str:
    """Return ``retired``, ``asked`` or ``kept``; raise if a revert does not undo it."""
    named = memstore.NewFact(
        content=pair["older"],
        subject=pair["subject"],
        user_id="x",
        slots=_slots(pair, "old", given=slots) or None,
    )
    [old] = store.add_many([named])
    newest = store.ledger.journal(old.id)[-1].id
    memory = Memory(store, Scripted(pair, always=always, slots=slots), policy=policy)
    memory.add(pair["newer"], user_id="x")
    state = store.get(old.id).status
    asked = bool(store.of("all").proposals.list())
    lines = range(newest + 1, int(store.of("all").status().head.partition(":")[0]) + 1)
    store.of("all").ledger.revert(lines=lines).apply()
    left = [fact.content for fact in store.of("all").list()]
    if left != [pair["older"]] or store.of("all").proposals.list():
        raise AssertionError(f"not undone: {pair}, {left}")
    return "retired" if state != "active" else "asked" if asked else "kept"


def kind_of(pair: Pair) -> str:
    """Return what a pair counts as: a correction, a question, a hostile pair, or coexisting."""
    if pair["label"] == "supersedes":
        return "corrections"
    if pair["label"] == "asks":
        return "questions"
    hostile = pair["kind"] == "hostile" or pair.get("hostile")
    return "hostile" if hostile else "coexisting"


def table(
    pairs: Iterable[Pair], *, always: bool, slots: bool, policy: str, embedder: str | None
) -> dict[str, Counter[str]]:
    """Return how often each kind of pair had each outcome."""
    found: dict[str, Counter[str]] = {}
    with memstore.open(":memory:", embedder=embedder) as whole:
        for place, pair in enumerate(pairs):
            store = whole.within(f"pair {place}")
            end = outcome(store, pair, always=always, slots=slots, policy=policy)
            found.setdefault(kind_of(pair), Counter())[end] += 1
    return found


def main() -> int:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="*", type=Path, default=[PUBLISHED])
    parser.add_argument("--slots", action="store_true", help="with the slots of the file")
    parser.add_argument("--policy", default="judged")
    parser.add_argument("--embedder", default=None)
    given = parser.parse_args()
    lines = [line for file in given.files for line in file.read_text("utf-8").splitlines()]
    pairs = [json.loads(line) for line in lines]
    for always, name in ((False, "decides as labelled"), (True, "always wants to retire")):
        print(f"a model that {name}, {given.policy}{', with slots' * given.slots}")
        found = table(
            pairs,
            always=always,
            slots=given.slots,
            policy=given.policy,
            embedder=given.embedder,
        )
        for kind, counts in sorted(found.items()):
            total = counts.total()
            shares = ", ".join(
                f"{end} {counts[end]} ({counts[end] / total:.0%})"
                for end in ("retired", "asked", "kept")
            )
            print(f"  {kind:12} {total:4}: {shares}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
