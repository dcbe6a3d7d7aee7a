"""What is known, as text within a budget for a prompt: python examples/prompt.py."""

from __future__ import annotations

import tempfile
from pathlib import Path

import memstore

SAID = (
    ("alice", "When does the ferry to Capri leave?"),
    ("assistant", "At 9:10 from Molo Beverello."),
    ("alice", "Then we meet there at half past eight."),
)


def main(folder: Path) -> None:
    with memstore.open(folder / "memory.db") as store:
        store.add("Alice gets seasick", subject="alice", category="preference")
        store.add("The office has a new desk", subject="office")
        for speaker, text in SAID:
            store.episodes.add(text, source="chat", thread="trip", speaker=speaker)

        recalled = store.recall("when is the ferry to Capri?", max_tokens=120)
        prompt = f"Known:\n{recalled.text}\n\nQuestion: when do we meet for the ferry?"
        print(prompt)
        print(f"({recalled.left_out} left out)")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        main(Path(name))
