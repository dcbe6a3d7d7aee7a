"""What syncing costs, beside an export and an import of the same memory.

    python -m benches.sync [--facts 100000] [--devices 5]

One memory of facts, a tenth of them superseded, with confirmations, keys and episodes, goes to an
empty device: by sync over a folder, and by export and import. Then come runs with 100 new changes,
and runs with none while several devices meet. Times are of the processor, in seconds. In the end
some keys are changed many times, because a fact's chain must not be read whole for each change.
"""

from __future__ import annotations

import argparse
import random
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median

import memstore
from benches.corpus import facts as made_facts
from memstore import Store
from memstore.domain.records import NewFact

BATCH = 1000


def filled(path: Path, number: int) -> Store:
    """Return a memory with so many facts, and changes of a fifth of them."""
    store = memstore.open(path, embedder=None)
    rnd = random.Random(7)
    texts = [str(fact["content"]) for fact in made_facts(number)]
    for start in range(0, number, BATCH):
        facts = [
            NewFact(content=f"{text} ({start + place})", subject=f"s{place % 50}")
            for place, text in enumerate(texts[start : start + BATCH])
        ]
        ids = [fact.id for fact in store.add_many(facts)]
        for id_ in rnd.sample(ids, len(ids) // 10):
            store.confirm(id_)
        for place in range(len(ids) // 50):
            store.add(
                f"newer than {ids[place]}", subject="s", supersedes=ids[place], any_subject=True
            )
            store.episodes.add(f"said in {start + place}", source="bench", thread=f"t{start}")
    return store


def timed(act: Callable[[], object]) -> float:
    begun = time.process_time()
    act()
    return time.process_time() - begun


def size(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())


def first_time(folder: Path, source: Store) -> Store:
    """Tell what the first exchange costs, and return the device that got everything."""
    place, export = folder / "place", folder / "export.jsonl"
    place.mkdir()
    target = memstore.open(folder / "1.db", embedder=None)
    imported = memstore.open(folder / "imported.db", embedder=None)

    def write() -> None:
        with export.open("w", encoding="utf-8") as out:
            out.writelines(f"{line}\n" for line in source.file.export())

    def read() -> None:
        with export.open(encoding="utf-8") as lines:
            imported.file.import_(lines)

    rows = [
        ("out", timed(lambda: source.file.sync(place)), timed(write)),
        ("in", timed(lambda: target.file.sync(place)), timed(read)),
    ]
    print("| the first time, s of processor | sync | export and import |\n|---|---|---|")
    for name, synced, exported in rows:
        print(f"| {name} | {synced:.1f} | {exported:.1f} |")
    print(f"| bytes | {size(place):,} | {export.stat().st_size:,} |", flush=True)
    imported.close()
    return target


def later(folder: Path, stores: list[Store]) -> None:
    """Tell what later runs cost, on devices that all meet."""
    place = folder / "place"
    for _ in range(3):
        for store in stores:
            store.file.sync(place)
    none = median(timed(partial(store.file.sync, place)) for _ in range(5) for store in stores)
    sent, taken = [], []
    for number in range(5):
        for place_ in range(100):
            stores[0].add(f"new {number} {place_}", subject="s")
        sent.append(timed(lambda: stores[0].file.sync(place)))
        taken.append(timed(lambda: stores[1].file.sync(place)))
    print(f"\n| later runs, s of processor | {len(stores)} devices |\n|---|---|")
    print(f"| nothing new | {none:.3f} |")
    print(f"| 100 changes go | {median(sent):.3f} |")
    print(f"| 100 changes come | {median(taken):.3f} |", flush=True)


def chains(folder: Path, number: int) -> None:
    """Tell what a change costs whose key had many values before."""
    place = folder / "keys"
    place.mkdir()
    one, other = (memstore.open(folder / f"keys {name}.db", embedder=None) for name in "ab")
    print("\n| values of one key | all come | one more comes |\n|---|---|---|")
    for _ in range(2):
        for value in range(number):
            fact = NewFact(content=f"value {value}", subject="s", external_key="k")
            one.keys.put([fact])
        one.file.sync(place)
        whole = timed(lambda: other.file.sync(place))
        one.keys.put([NewFact(content="one more", subject="s", external_key="k")])
        one.file.sync(place)
        more = timed(lambda: other.file.sync(place))
        print(f"| {len(one.list(active_only=False, limit=None)):,} | {whole:.2f} | {more:.3f} |")
    one.close()
    other.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--facts", type=int, default=100_000)
    parser.add_argument("--devices", type=int, default=5)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        stores = [filled(folder / "0.db", chosen.facts)]
        stores.append(first_time(folder, stores[0]))
        for number in range(2, chosen.devices):  # backups, which go on as further devices
            copy = stores[1].file.backup(folder / f"{number}.db")
            stores.append(memstore.open(copy, embedder=None))
        later(folder, stores)
        for store in stores:
            store.close()
        chains(folder, chosen.facts // 50)


if __name__ == "__main__":
    main()
