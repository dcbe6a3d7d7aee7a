"""The nearest vectors by codes, beside resident rows, numpy and reading the vectors once.

    python -m benches.codes [SENTENCES]

With a file of sentences, one a line, the 256-dimensional vectors are those that the embedded model
gives to them, with stretches of two joined until there are a million. Without it, and with 768
dimensions always, they are made up: a direction shared by all, topics, and what is one's own.
The comparison itself is a Rust program, `rust/kernel/examples/nearest.rs`, which takes turns; it is
built with cargo.
"""

from __future__ import annotations

import argparse
import random
import subprocess
import tempfile
import time
from pathlib import Path
from statistics import median

import numpy as np
from numpy.typing import NDArray

from memstore.providers.local import LocalEmbedder

from .test_scan import embeddings

ROOT = Path(__file__).parent.parent
QUERIES = 60
SIZES = {256: 1_000_000, 768: 100_000}
LIMITS = (1, 10, 50, 200)


def of_sentences(path: Path, count: int) -> NDArray[np.float32]:
    """Vectors of sentences, and of stretches of two of them joined."""
    chosen = random.Random(1)
    sentences = sorted({*path.read_text(encoding="utf-8").splitlines()} - {""})
    texts = dict.fromkeys(chosen.sample(sentences, min(len(sentences), count)))
    words = [sentence.split() for sentence in sentences]
    while len(texts) < count:
        one, other = chosen.choice(words), chosen.choice(words)
        texts[" ".join(stretch(one, chosen) + stretch(other, chosen))] = None
    embedder, all_texts = LocalEmbedder(), [*texts]
    chosen.shuffle(all_texts)
    parts = [embedder.embed(all_texts[at : at + 5000]) for at in range(0, count, 5000)]
    return np.concatenate(parts)


def stretch(words: list[str], chosen: random.Random) -> list[str]:
    start = chosen.randrange(max(1, len(words) - 5))
    return words[start : start + chosen.randint(3, 12)]


def by_numpy(matrix: NDArray[np.float32], queries: NDArray[np.float32], limit: int) -> float:
    """Milliseconds that numpy takes for one query."""
    seconds = []
    for query in queries[:10]:
        start = time.perf_counter()
        cosines = matrix @ query
        best = np.argpartition(-cosines, limit)[:limit]
        best[np.argsort(-cosines[best])]
        seconds.append(time.perf_counter() - start)
    return 1000 * median(seconds)


def compare(matrix: NDArray[np.float32], queries: NDArray[np.float32]) -> None:
    dimension = matrix.shape[1]
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder, name) for name in ("vectors", "queries")]
        for path, array in zip(paths, (matrix, queries), strict=True):
            array.astype("<f4").tofile(path)
        command = ["cargo", "run", "-q", "--release", "-p", "memstore-kernel"]
        command += ["--example", "nearest", "--", *map(str, paths), str(dimension)]
        subprocess.run(command, cwd=ROOT, check=True)
    for limit in LIMITS:
        print(f"numpy, k = {limit}: {by_numpy(matrix, queries, limit):.3f} ms")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sentences", nargs="?", type=Path, help="a text file, one sentence a line")
    sentences: Path | None = parser.parse_args().sentences
    for dimension, count in SIZES.items():
        if sentences is not None and dimension == 256:
            matrix = of_sentences(sentences, count + QUERIES)
        else:
            matrix = embeddings(count + QUERIES, dimension, seed=2)
        compare(matrix[QUERIES:], matrix[:QUERIES])


if __name__ == "__main__":
    main()
