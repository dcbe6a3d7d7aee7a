"""A scripted model: which facts each sentence contains, and what each fact changes."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

MEMORY_LINE = re.compile(r'^(\d+)\. (\{"about": .*\})$', re.MULTILINE)


@dataclass
class Conversing:
    """Called with a prompt, answers it; ``replies`` of a model server."""

    means: Mapping[str, list[tuple[str, str]]]
    """What is learned where a sentence is said: (subject, fact) pairs."""
    changes: Mapping[str, tuple[str, str, str | None]] = field(default_factory=dict)
    """What a fact does to a memory: (event, the memory's text, the new text)."""
    steps: list[str] = field(default_factory=list)
    """``extract`` and ``decide``, in the order of the calls."""

    def __call__(self, prompt: str) -> str:
        if "The existing memories:" in prompt:
            self.steps.append("decide")
            return self.decide(prompt.split("The existing memories:")[1])
        self.steps.append("extract")
        return self.extract(prompt.rsplit("The text:", 1)[1])

    def extract(self, text: str) -> str:
        found = [
            {"content": content, "subject": subject, "category": "identity"}
            for sentence, facts in self.means.items()
            if sentence in text
            for subject, content in facts
        ]
        return json.dumps({"facts": found})

    def decide(self, data: str) -> str:
        held, new = data.split("The new facts:")
        memories = {json.loads(line)["says"]: int(n) for n, line in MEMORY_LINE.findall(held)}
        operations = []
        for number, line in MEMORY_LINE.findall(new):
            fact = json.loads(line)["says"]
            event, memory, text = self.changes.get(fact, ("ADD", "", None))
            if event != "ADD" and memory and memory not in memories:
                event = "ADD"  # like a model that has not seen it
            operations.append(
                {
                    "fact": int(number),
                    "event": event,
                    "memory": memories.get(memory),
                    "text": text,
                }
            )
        return json.dumps({"operations": operations})
