"""Random and crafted replies of a model, `--inputs` of them, through `Memory.add`.

Whatever the model replies: no memory is retired by a fact that has nothing to do with it, at most
one or half of them go, nobody else's memory changes, no fact is lost without a word, and one revert
takes all of it back.
"""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.support.engines import copied

import memstore
from memstore import Fact, Memory, MemstoreError
from memstore.domain.clock import uuid_text
from memstore.learn.conversation import MemoryEvents

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

SUGGESTED = RETRACTED | {("Alice lives in Berlin", "Alice moved")}
"""What the words suggest, or more, where a model says so too."""

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
        readable = [
            f"```json\n{told}\n```",
            f"<think>Delete [{{1}}]?</think>\n{told}",
            f"[thinking] all of it [/thinking]\nHere [1] it is: {told} Done.",
            told[: chance.randrange(len(told))],
        ]
        return chance.choice([*broken, *readable])

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


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a file with Alice's memories, and with some of others."""
    path = tmp_path_factory.mktemp("hostile") / "filled.db"
    with memstore.open(path, embedder=None) as store:
        for one in HELD:
            store.add(one, subject="alice", user_id="alice")
        for one in HELD[:3]:
            store.add(one, subject="alice", user_id="bob")
        store.add("nobody's", subject="alice")
    return path


@pytest.mark.parametrize("policy", ["judged", "trust-the-model"])
def test_no_reply_loses_a_fact_or_half_of_the_memories(
    pytestconfig: pytest.Config,
    record_property: Callable[[str, object], None],
    filled: Path,
    tmp_path: Path,
    policy: str,
) -> None:
    inputs = pytestconfig.getoption("inputs")
    chance = random.Random(4711)
    done: Counter[str] = Counter()
    path = tmp_path / "memory.db"
    for _ in range(inputs):
        copied(filled, path)
        _one(path, chance, policy, done)
        for left in tmp_path.iterdir():
            if left.is_file():
                left.unlink()
    record_property("counts", f"{inputs} replies, {dict(sorted(done.items()))}, 0 findings")


def _one(path: Path, chance: random.Random, policy: str, done: Counter[str]) -> None:
    said = chance.sample(SAID, chance.randint(1, 4))
    with memstore.open(path, embedder=None) as store:
        before = store.of("all").list()
        held = [fact for fact in before if fact.user_id == "alice"]
        memory = Memory(store, generator=Hostile(chance, said), policy=policy)
        try:
            events = memory.add("; ".join(said) or "x", user_id="alice")
        except MemstoreError as error:
            done[f"refused: {type(error).__name__}"] += 1
            assert store.of("all").list() == before
            return
        _check_nothing_is_lost(store, said, held, events)
        assert [fact for fact in store.of("all").list() if fact.user_id != "alice"] == [
            fact for fact in before if fact.user_id != "alice"
        ]
        for one in held:
            done[_fate(store, one.id, policy)] += 1
        gone = [one for one in held if store.get(one.id).status != "active"]
        assert len(gone) <= max(1, len(held) // 2)
        proposals = store.of("all").proposals.list()
        for proposal in proposals:
            assert any(f"proposal {proposal.id} " in one.reason for one in events.refused)
            done["proposed"] += 1
        assert len({one.content for one in proposals}) == len(proposals)  # one for each fact
        assert store.file.doctor(deep=True) == []
        _check_undone(store, before)


def _check_nothing_is_lost(
    store: memstore.Store, said: list[str], held: list[Fact], events: MemoryEvents
) -> None:
    """Each fact is stored, carried by an update, held by a memory that is named, or refused."""
    told = {fact.content for fact in store.of("all").list()}
    told |= {one.fact or "" for one in events.refused}
    lines = [line for one in held for line in store.ledger.journal(one.id)]
    told |= {line.evidence["said"] for line in lines if "said" in (line.evidence or {})}
    assert {one for one in said if one} <= told


def _check_undone(store: memstore.Store, before: list[Fact]) -> None:
    """One revert of the run takes all of it back."""
    store.of("all").ledger.revert(run=uuid_text(store.file.author.run or b"")).apply()
    after = {fact.id: fact.content for fact in store.of("all").list()}
    assert after == {fact.id: fact.content for fact in before}
    assert store.of("all").proposals.list() == []


def _fate(store: memstore.Store, fact_id: int, policy: str) -> str:
    """Return what became of a memory, after checking that it may have."""
    fact = store.get(fact_id)
    if fact.status == "active":
        return "kept"
    if fact.superseded_by is None:
        [line] = [one for one in store.ledger.journal(fact_id) if one.kind == "delete"]
        assert line.evidence is not None
        assert policy != "judged"
        assert (fact.content, line.evidence["said"]) in RETRACTED
        return "deleted"
    new = store.get(fact.superseded_by).content
    [line] = [one for one in store.ledger.journal(fact_id) if one.kind == "supersede"]
    assert line.evidence is not None
    if policy == "judged" and new == line.evidence["said"]:
        assert (fact.content, new) in SUGGESTED
        assert line.evidence["rule"]
        return "replaced"
    folded = new.casefold()
    assert {*re.findall(r"\d+|[A-Z]\w+", fact.content)} <= {
        word for word in re.findall(r"\w+", fact.content) if word.casefold() in folded
    }
    return "updated"
