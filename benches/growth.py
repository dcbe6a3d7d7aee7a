"""The index at one, three and ten million facts: words, vectors, columns.

    python -m benches.growth [--folder FOLDER] [--millions 1,3,10]

The kernel's parts alone, without a database: ten million facts would take some 40 GB. Texts and
vectors are those of a million facts, again and again; each copy of a vector is moved a little, so
that no two are equal. The index is saved and mapped, as a process finds it; 40 % of the rows may be
seen, as in the largest namespace of the other benchmark.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median
from time import perf_counter

import numpy as np

from benches.engine import made
from benches.language import Language, questions
from memstore._kernel.codes import Codes
from memstore._kernel.columns import Columns
from memstore._kernel.words import Words
from memstore.text.words import terms

MILLION = 1_000_000
BATCH = 20_000
MOVED = 0.02
"""How far, in each of the components of a vector of length 1."""
SEEN = 0.4


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--folder", type=Path, default=Path("benches/.made"))
    parser.add_argument("--millions", default="1,3,10")
    asked = parser.parse_args()
    print("| million facts | words, ms | 50 nearest, ms | columns, ms | on disk, MB |")
    print("|---|---|---|---|---|")
    for millions in map(int, asked.millions.split(",")):
        print(_measured(asked.folder, millions), flush=True)


def _measured(folder: Path, millions: int) -> str:
    paths = [folder / f"growth.{part}" for part in ("words", "codes", "columns")]
    try:
        _write(paths, folder, millions)
        words, codes = Words.open(paths[0], made.DATABASE), Codes.open(paths[1], made.DATABASE, 0)
        columns = Columns.open(paths[2], made.DATABASE)
        seen = columns.select(["seen"])
        vectors = made.asked_vectors(101, codes.dimension)
        phrases = [[[word.casefold()] for word in terms(one)] for one in questions(101)]
        found = (
            [_seconds(partial(words.search, one, 50, seen)) for one in phrases],
            [_seconds(partial(codes.scan, one, 50, seen)) for one in vectors],
            [_seconds(partial(columns.select, ["seen"])) for _ in range(20)],
        )
        size = sum(path.stat().st_size for path in paths) / 1e6
    finally:
        for path in paths:
            path.unlink(missing_ok=True)
    times = " | ".join(f"{1e3 * median(times[1:]):.1f}" for times in found)
    return f"| {millions} | {times} | {size:,.0f} |"


def _write(paths: list[Path], folder: Path, millions: int) -> None:
    language, chance = Language(seed=7), np.random.default_rng(7)
    texts = [language.text(5, 25).split() for _ in range(MILLION)]
    matrix = made.matrix(folder, MILLION, made.MODEL_DIMENSION)
    words, codes, columns = Words(), Codes(matrix.shape[1]), Columns()
    for first in range(0, millions * MILLION, BATCH):
        start = first % MILLION
        ids = range(first + 1, first + BATCH + 1)
        words.put(ids, texts[start : start + BATCH])
        shift = chance.standard_normal((BATCH, matrix.shape[1]), dtype=np.float32) * MOVED
        codes.put(ids, ids, [row.tobytes() for row in matrix[start : start + BATCH] + shift])
        seen = chance.random(BATCH) < SEEN
        names = ["seen" if one else "other" for one in seen]
        columns.put([(i, n, 0, (None,) * 2, (None,) * 3) for i, n in zip(ids, names, strict=True)])
    for path in paths:
        path.touch()
    words.save(paths[0], made.DATABASE, 0)
    codes.save(paths[1], made.DATABASE, 0, 0)
    columns.save(paths[2], made.DATABASE, 0)


def _seconds(work: Callable[[], object]) -> float:
    start = perf_counter()
    work()
    return perf_counter() - start


if __name__ == "__main__":
    main()
