"""The same tasks under two interpreters, each with its own version of the package.

    python -m benches.compare BASE_PYTHON NEW_PYTHON [--pairs 20] [WORD …]

Both hold the same stores open and do each task in turn, in alternating order. What counts is the
processor time of the whole process, so that other programs disturb little; reported are the median
of the ratios of the pairs, and the ratio of the best times. With words: only tasks named by one.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
import zlib
from collections.abc import Callable, Sequence
from itertools import count, cycle, islice
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .corpus import facts, questions

FACTS, SUPERSEDED, EPISODES = 10_000, 3_000, 2_000
TAGS = ("work", "home", "travel", "money", "health", "code")


class Hashed:
    """Counts words into 64 places: an embedder that takes almost no time."""

    model = "hashed-words"

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return ``float32[n, 64]``."""
        found = np.full((len(texts), 64), 0.01, dtype=np.float32)
        for row, text in zip(found, texts, strict=True):
            for word in text.casefold().split():
                row[zlib.crc32(word.encode()) % 64] += 1
        return found


def tasks(folder: Path) -> dict[str, tuple[int, Callable[[], object]]]:
    """Fill the stores; return the tasks, and how often each is repeated per measurement."""
    import memstore

    def opened(name: str, embedder: Any = None) -> Any:
        # The same durability for both, whatever their defaults.
        return memstore.open(folder / f"{name}.db", embedder=embedder, synchronous="NORMAL")

    store, plain, embedding, graph = (
        opened("facts", Hashed()), opened("plain"), opened("embedding", Hashed()), opened("graph")
    )  # fmt: skip
    given = list(facts(FACTS))
    retiring = [
        new | {"supersedes": 1 + n, "subject": given[n]["subject"]}
        for n, new in enumerate(given[-SUPERSEDED:])
    ]
    store.add_many(given[:-SUPERSEDED])
    store.add_many(retiring)
    store.episodes.add_many(
        {"content": fact["content"], "source": "bench", "tags": [TAGS[n % 6], TAGS[n * n % 5]]}
        for n, fact in enumerate(given[:EPISODES])
    )
    store.file.embed_pending()
    plain.add_many([new | {"subject": "ana"} for new in given[:5_000]])
    graph.add_many(given[:2_000])
    exported, numbers = list(plain.transfer.export()), count(1)
    asked, new = questions(10), cycle(given)

    def start(code: str) -> None:
        subprocess.run([sys.executable, "-c", f"import memstore\n{code}"], check=True)

    def supersede() -> None:
        old = next(numbers)
        plain.supersede(old, old + 1)

    def import_() -> None:
        with opened(f"import-{next(numbers)}") as target:
            target.transfer.import_(exported)

    def search(question: str = asked[0], **options: Any) -> Callable[[], object]:
        return lambda: store.search(question, touch=False, **options)

    return {
        "import memstore": (1, lambda: start("")),
        "new process to first answer": (
            1, lambda: start(f"memstore.open({str(folder / 'plain.db')!r}, embedder=None)"
                             f".search({asked[0]!r}, touch=False)")),
        "open and close": (5, lambda: opened("empty").close()),
        "add": (20, lambda: plain.add(**next(new))),
        "add, embedded": (20, lambda: embedding.add(**next(new))),
        "add_many 1,000": (1, lambda: plain.add_many(islice(new, 1_000))),
        "add_many 1,000, embedded": (1, lambda: embedding.add_many(islice(new, 1_000))),
        "supersede": (20, supersede),
        "get": (200, lambda: store.get(FACTS // 2)),
        "list 100": (5, lambda: store.list(limit=100)),
        "count": (10, lambda: store.count()),
        "count of a subject": (20, lambda: store.count(subject="alice")),
        "count by number": (1, lambda: store.count(filters=[("n", "<", 500)])),
        "count by text": (1, lambda: store.count(filters={"project": "garden"})),
        "search by words": (5, search(vector_weight=0.0)),
        "search by vectors": (5, search(word_weight=0.0)),
        "search hybrid": (5, search()),
        "search of a subject": (5, search(subject="alice")),
        "search, number filter": (2, search(filters=[("n", "<", 500)])),
        "search, text filter": (2, search(filters={"project": "garden"})),
        "search_batch of 10": (1, lambda: store.search_batch(asked, touch=False)),
        "episodes.add": (20, lambda: plain.episodes.add(next(new)["content"], source="bench")),
        "episodes.search hybrid": (3, lambda: store.episodes.search(asked[0])),
        "episodes.search with tags": (3, lambda: store.episodes.search(asked[0], tags=["work"])),
        "export 10,000": (1, lambda: sum(map(len, store.transfer.export()))),
        "import 5,000": (1, import_),
        "graph.build of 2,000": (1, lambda: graph.graph.build()),
        "doctor": (1, lambda: store.file.doctor()),
    }  # fmt: skip


def work() -> None:
    """Run the tasks named on standard input; print the seconds each took."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        every = tasks(Path(folder))
        print(json.dumps([*every]), flush=True)
        for line in sys.stdin:
            times, task = every[line.strip()]
            before = used()
            for _ in range(times):
                task()
            print((used() - before) / times, flush=True)


def used() -> float:
    """Return the seconds of processor time of this process, and of those it started."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def main() -> None:
    """Compare."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("python", nargs=2, help="the interpreters: base, new")
    parser.add_argument("words", nargs="*", help="only tasks whose name has one of these")
    parser.add_argument("--pairs", type=int, default=20)
    asked = parser.parse_intermixed_args()
    workers = [
        subprocess.Popen(
            [python, "-m", __spec__.name, "--work"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            text=True, env=os.environ | {"PYTHONHASHSEED": "0"},
        )
        for python in asked.python
    ]  # fmt: skip
    names, _ = (json.loads(worker.stdout.readline()) for worker in workers)

    def take(worker: Any, name: str) -> float:
        worker.stdin.write(f"{name}\n")
        worker.stdin.flush()
        return float(worker.stdout.readline())

    print(f"{'':30}{'base ms':>10}{'new ms':>10}{'best':>8}{'median':>8}")
    for name in names:
        if asked.words and not any(word in name for word in asked.words):
            continue
        pairs = []
        for turn in range(asked.pairs + 1):
            order = workers if turn % 2 else workers[::-1]
            taken = {worker.pid: take(worker, name) for worker in order}
            pairs += [[taken[worker.pid] for worker in workers]] if turn else []
        base, new = (min(column) for column in zip(*pairs, strict=True))
        middle = median(b / a for a, b in pairs)
        row = f"{name:30}{base * 1e3:10.3f}{new * 1e3:10.3f}{new / base:8.2f}{middle:8.2f}"
        print(row, flush=True)
    for worker in workers:
        worker.communicate()


if __name__ == "__main__":
    work() if "--work" in sys.argv else main()
