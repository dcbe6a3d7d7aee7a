"""docs/learning.md shows the prompts and the journal of its conversation."""

from __future__ import annotations

import re
from pathlib import Path

from tests.support.conversing import Conversing

from memstore import Memory, Store

PAGE = (Path(__file__).parents[2] / "docs" / "learning.md").read_text("utf-8")

MONDAY = {
    "role": "user",
    "content": "I'm Ana. I drink coffee, plan a trip to Rome on Friday, have a cat and play chess.",
    "at": "2026-03-02T09:00:00Z",
}
WEDNESDAY = {
    "role": "user",
    "content": "I switched from coffee to tea. Rome is off. Met Tom Hall, he's a pilot.",
    "at": "2026-03-04T11:00:00Z",
}
MODEL = Conversing(
    {
        "I drink coffee, plan": [
            ("ana", "Ana drinks coffee"),
            ("ana", "Ana plans a trip to Rome on 2026-03-06"),
            ("ana", "Ana has a cat"),
            ("ana", "Ana plays chess"),
        ],
        "I switched from coffee": [
            ("ana", "Ana switched from coffee to tea"),
            ("ana", "Ana's trip to Rome is off"),
            ("tom hall", "Tom Hall is a pilot"),
        ],
    },
    {
        "Ana switched from coffee to tea": (
            "UPDATE",
            "Ana drinks coffee",
            "Ana drinks tea, previously coffee",
        ),
        "Ana's trip to Rome is off": ("DELETE", "Ana plans a trip to Rome on 2026-03-06", None),
    },
)


class Asked:
    """Gives scripted answers and records its prompts."""

    model = "scripted"

    def __init__(self) -> None:
        self.prompts: list[str] = []

    def generate(self, prompt: str) -> str:
        self.prompts.append(prompt)
        return MODEL(prompt)


def test_page_shows_the_prompts_and_the_journal_of_this_conversation(store: Store) -> None:
    asked = Asked()
    memory = Memory(store, asked)
    memory.add([MONDAY], user_id="ana")
    memory.add([WEDNESDAY], user_id="ana")
    blocks = [block.split("```")[0] for block in PAGE.split("```text\n")[1:]]
    assert len(blocks) == 2
    for block, prompt in zip(blocks, asked.prompts[1:], strict=True):
        assert block in prompt
    told = re.findall(r"^\| (\d+) \| (\w+) \| (\d+) \|", PAGE, re.MULTILINE)
    lines = {
        line.id: (line.id, line.kind, line.fact_id)
        for fact in range(1, 8)
        for line in store.ledger.journal(fact)
    }
    assert [(int(n), kind, int(fact)) for n, kind, fact in told] == [
        lines[n] for n in sorted(lines) if n > 6
    ]
