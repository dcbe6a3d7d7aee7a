"""How long each kind of write blocks other writers, and the cost of durability.

    python -m benches.write_locks

The first table is of one file with 10,000 facts and as many episodes: the longest time that the
write lock was held, and how long the whole call took. What is marked with a star is one
transaction on purpose, because the caller chose its size or nothing else may run. The
second is of adds per second, by durability and number of threads, in turn in one run.
"""

from __future__ import annotations

import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median

import memstore
from benches.corpus import facts as made_facts
from memstore.database.sqlite.writer import Writer

FACTS = 10_000
ADDS = 800
ROUNDS = 5


@contextmanager
def held_locks() -> Iterator[list[float]]:
    """Collect how long each transaction held the write lock, in seconds."""
    held: list[float] = []
    began = 0.0
    begun, ended = Writer._begun, Writer._end

    def begin(self: Writer, *given: object, **named: object) -> object:
        nonlocal began
        group = begun(self, *given, **named)  # type: ignore[arg-type]
        began = time.perf_counter()
        return group

    def end(self: Writer, group: object) -> None:
        held.append(time.perf_counter() - began)
        ended(self, group)  # type: ignore[arg-type]

    Writer._begun, Writer._end = begin, end  # type: ignore[method-assign, assignment]
    try:
        yield held
    finally:
        Writer._begun, Writer._end = begun, ended  # type: ignore[method-assign]


def locks(folder: Path) -> None:
    told = [fact["content"] for fact in made_facts(FACTS)]
    with memstore.open(folder / "locks.db", embedder=None) as store:
        facts = [{"content": text, "subject": f"s{n % 50}"} for n, text in enumerate(told)]
        first = store.add_many(facts[:1000])
        export = folder / "export.jsonl"

        def all_facts() -> None:
            for start in range(1000, FACTS, 1000):
                store.add_many(facts[start : start + 1000])

        def all_episodes() -> None:
            for start in range(0, FACTS, 1000):
                store.episodes.add_many(
                    [{"content": text, "source": "bench"} for text in told[start : start + 1000]]
                )

        def write_export() -> None:
            with export.open("w", encoding="utf-8") as out:
                out.writelines(f"{line}\n" for line in store.transfer.export())

        def read_export() -> None:
            with (
                memstore.open(folder / "imported.db", embedder=None) as target,
                export.open(encoding="utf-8") as lines,
            ):
                target.transfer.import_(lines)

        def converse() -> None:
            messages = [{"role": "user", "content": text} for text in told]
            memstore.Memory(store).add(messages, user_id="ana", infer=False)

        def forget() -> None:
            memstore.Memory(store).delete_all(user_id="ana")

        tasks: dict[str, Callable[[], object]] = {
            "add": lambda: store.add(told[0], subject="one"),
            "add(…, supersedes=…)": lambda: store.add(
                told[1], subject="s0", supersedes=first[0].id
            ),
            "add_many of 1,000 *": all_facts,
            "episodes.add_many of 1,000 *": all_episodes,
            "search, use counts written": lambda: [store.search(text) for text in told[:50]],
            "Memory.add of 10,000 messages, direct": converse,
            "Memory.delete_all of these": forget,
            "export": write_export,
            "import of 20,000 records": read_export,
            "rebuild": store.file.rebuild,
            "doctor": store.file.doctor,
            "erase, with its rewriting *": lambda: store.erase(first[5].id),
        }
        print(f"{'':40}{'lock ms':>10}{'call s':>10}")
        for name, task in tasks.items():
            with held_locks() as held:
                start = time.perf_counter()
                task()
                seconds = time.perf_counter() - start
            print(f"{name:40}{max(held, default=0.0) * 1e3:10.1f}{seconds:10.2f}")


def adds_per_second(folder: Path, durability: str, threads: int) -> float:
    path = folder / f"{durability} {threads} {time.monotonic_ns()}.db"
    with memstore.open(path, embedder=None, durability=durability) as store:  # type: ignore[arg-type]
        store.add("before", subject="a")

        def add() -> None:
            for n in range(ADDS // threads):
                store.add(f"fact {n}", subject="a")

        working = [threading.Thread(target=add) for _ in range(threads)]
        start = time.perf_counter()
        for thread in working:
            thread.start()
        for thread in working:
            thread.join()
        return ADDS / (time.perf_counter() - start)


def durability(folder: Path) -> None:
    print(f"\n{'adds per second':20}{'normal':>10}{'full':>10}{'full / normal':>16}")
    for threads in (1, 8):
        rounds = [
            [adds_per_second(folder, each, threads) for each in ("normal", "full")]
            for _ in range(ROUNDS)
        ]
        normal, full = (median(column) for column in zip(*rounds, strict=True))
        ratio = median(full / normal for normal, full in rounds)
        print(f"{f'{threads} thread(s)':20}{normal:10,.0f}{full:10,.0f}{ratio:16.2f}")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        locks(Path(name))
        durability(Path(name))
