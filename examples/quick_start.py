"""Facts, corrections, filters, tasks and episodes: python examples/quick_start.py."""

from __future__ import annotations

import tempfile
from pathlib import Path

import memstore


def main(folder: Path) -> None:
    with memstore.open(folder / "memory.db") as store:
        berlin = store.add("Alice lives in Berlin", subject="alice", category="identity")
        store.add("Alice prefers small commits", subject="alice", category="preference")
        store.add("The build takes 14 minutes", subject="ci", metadata={"minutes": 14})

        # A correction retires the old fact in the same transaction, and keeps it.
        lisbon = store.add(
            "Alice moved to Lisbon", subject="alice", category="identity", supersedes=berlin.id
        )
        for hit in store.search("where does Alice live?", limit=1):
            print(f"found     {hit.fact.content}")
        for fact in store.history(lisbon.id):
            print(f"history   {fact.status:<10}  {fact.content}")

        # Conditions on metadata are typed, and apply before ranking.
        slow = store.search("build", filters=[("minutes", ">=", 10)])
        print(f"slow      {slow[0].fact.content}")

        task = store.tasks.create("Renew the certificate", priority="high", due="2026-12-01")
        print(f"open      {[task.content for task in store.tasks.list()]}")
        store.tasks.update(task.id, "completed")

        # The log keeps what was said word for word, without a model that could get it wrong.
        store.episodes.add("We agreed on blue-green deploys.", source="meeting", tags=["ops"])
        print(f"said      {store.episodes.search('how do we deploy?')[0].episode.content}")

        # A deletion can be undone.
        store.delete(lisbon.id)
        store.restore(lisbon.id)
        print(f"restored  {store.get(lisbon.id).content}")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        main(Path(name))
