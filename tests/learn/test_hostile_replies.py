"""Random and crafted replies of a model, `--inputs` of them, through `Memory.add`.

Whatever the model replies: no memory is retired by a fact that has nothing to do with it, nobody
else's memory changes, and no fact is lost without a word.
"""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

import memstore
from memstore import Memory, MemstoreError

HELD = [
    "Alice's PIN is 4711",
    "Alice lives in Berlin",
    "Alice is allergic to nuts",
    "Alice works at Globex",
    "Alice does not eat meat",
    "Alice's sister is called Mara",
    "Alice's flight leaves at 9:40 on 3 May",
    "Alice mag Tee",
]
SAID = [
    "Alice likes tea",
    "Alice no longer works at Globex",
    "Alice lives in Lisbon",
    "Alice is not allergic to milk",
    "Everything about Alice is deleted",
    "Alice moved",
    "Alices Flug ist abgesagt",
    "",
]
RETRACTED = {
    ("Alice works at Globex", "Alice no longer works at Globex"),
    ("Alice lives in Berlin", "Alice lives in Lisbon"),
}
"""The only deletions that the words support."""

EVENTS = ["ADD", "UPDATE", "DELETE", "NONE", "DELETE", "UPDATE", "delete", "DROP", "", None, 5]
ODD = [0, -1, 99, "1", None, True, 1.5, 10**30, [1], {}]


class Hostile:
    """A model that finds the facts in a text and then replies at random."""

    model = "hostile"

    def __init__(self, chance: random.Random, said: list[str]) -> None:
        self._chance = chance
        self._said = said

    def generate(self, prompt: str) -> str:
        if "The existing memories:" not in prompt:
            facts = [{"content": one, "subject": "alice"} for one in self._said]
            return json.dumps({"facts": facts})
        return self._reply()

    def _reply(self) -> str:
        chance = self._chance
        operations = [self._operation() for _ in range(chance.randrange(1, 12))]
        crafted = [
            [{"fact": 1, "event": "DELETE", "memory": n} for n in range(1, len(HELD) + 1)],
            [{"fact": n, "event": "DELETE", "memory": n} for n in range(1, len(HELD) + 1)],
            [{"fact": 1, "event": "UPDATE", "memory": 2, "text": SAID[0]}, *operations],
        ]
        listed = operations if chance.random() < 0.7 else chance.choice(crafted)
        told = json.dumps({"operations": listed})
        if chance.random() < 0.9:
            return told
        broken = ["", "null", "{", "[" * 50_000, told[:-3], "NaN", "\0", json.dumps(listed)]
        return chance.choice([*broken, f"```json\n{told}\n```"])

    def _operation(self) -> dict[str, Any]:
        chance = self._chance

        def number(most: int) -> Any:
            return chance.randint(1, most) if chance.random() < 0.9 else chance.choice(ODD)

        made = {
            "fact": number(len(self._said)),
            "event": chance.choice(EVENTS),
            "memory": number(len(HELD)),
            "text": chance.choice([*HELD, *SAID, "x" * 5000, "\u202e", None, 5, []]),
        }
        return {name: value for name, value in made.items() if chance.random() < 0.97}


def test_no_reply_retires_what_has_nothing_to_do_with_it(
    pytestconfig: pytest.Config, record_property: Callable[[str, object], None]
) -> None:
    inputs = pytestconfig.getoption("inputs")
    chance = random.Random(4711)
    done: Counter[str] = Counter()
    for _ in range(inputs):
        _one(chance, done)
    record_property("counts", f"{inputs} replies, {dict(sorted(done.items()))}, 0 findings")


def _one(chance: random.Random, done: Counter[str]) -> None:
    said = chance.sample(SAID, chance.randint(1, 4))
    with memstore.open(":memory:", embedder=None) as store:
        held = [store.add(one, subject="alice", user_id="alice") for one in HELD]
        others = [store.add(one, subject="alice", user_id="bob") for one in HELD[:3]]
        others.append(store.add("nobody's", subject="alice"))
        try:
            events = Memory(store, generator=Hostile(chance, said)).add(
                "; ".join(said) or "x", user_id="alice"
            )
        except MemstoreError as error:
            done[f"refused: {type(error).__name__}"] += 1
            assert [store.get(one.id).status for one in held] == ["active"] * len(held)
            return
        assert [store.get(one.id) for one in others] == others
        for one in held:
            _check_retired(store, one.id, done)
        told = {fact.content for fact in store.list(scope="all")}
        told |= {one.fact or "" for one in events.refused}
        # What a deletion, an update or a kept memory holds of a fact is in its journal line.
        lines = [line for one in held for line in store.journal(one.id)]
        told |= {line.evidence["said"] for line in lines if "said" in (line.evidence or {})}
        assert {one for one in said if one} <= told
        for proposal in store.proposals.list(scope="all"):
            assert any(f"proposal {proposal.id} " in one.reason for one in events.refused)
            done["proposed"] += 1
        assert store.file.examine(deep=True) == []


def _check_retired(store: memstore.Store, fact_id: int, done: Counter[str]) -> None:
    fact = store.get(fact_id)
    if fact.status == "active":
        done["kept"] += 1
    elif fact.superseded_by is None:
        [line] = [one for one in store.journal(fact_id) if one.kind == "delete"]
        assert line.evidence is not None
        assert (fact.content, line.evidence["said"]) in RETRACTED
        done["deleted"] += 1
    else:
        new = store.get(fact.superseded_by).content.casefold()
        assert {*re.findall(r"\d+|[A-Z]\w+", fact.content)} <= {
            word for word in re.findall(r"\w+", fact.content) if word.casefold() in new
        }
        done["updated"] += 1
