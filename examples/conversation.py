"""Memory that learns from a conversation: python examples/conversation.py.

A stub takes the place of the language model, so that this runs offline. With a real one, pass
``memstore.OllamaGenerator("llama3.1")`` or another generator instead.
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import memstore

MONDAY = [{"role": "user", "content": "I drink coffee, and I have a cat named Miso."}]
FRIDAY = [{"role": "user", "content": "What do you know about me?"}]
LEARNT = {
    "facts": [
        {"content": "Ana drinks coffee", "subject": "ana"},
        {"content": "Ana has a cat named Miso", "subject": "ana"},
    ],
    "groups": [],
}


class Stub:
    """Any object with a ``model`` and a ``generate(prompt)`` that returns text."""

    model = "stub"

    def generate(self, prompt: str) -> str:
        return json.dumps(LEARNT if "coffee" in prompt else {"facts": [], "groups": []})


def main(folder: Path) -> None:
    with memstore.open(folder / "memory.db") as store:
        memory = memstore.Memory(store, Stub())
        for event in memory.add(MONDAY, user_id="ana"):
            print(f"{event['event']:<8} {event['memory']}")

        # What was said is kept word for word, whatever the model made of it.
        print(f"said     {store.of(user_id='ana').episodes.list()[0].content}")

        for found in memory.search("what is her cat called?", user_id="ana", limit=1):
            print(f"found    {found['memory']}")
        print(f"others   {[*memory.search('cat', user_id='bob')]}")
        print(f"nothing  {[*memory.add(FRIDAY, user_id='ana')]}")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        main(Path(name))
