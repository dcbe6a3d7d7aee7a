"""How many vectors each exact bound leaves to be compared: a bound that leaves most is no use.

    python -m benches.bounds DATA_FOLDER [--texts FILE] [--rows N]

Vectors are the built-in model's, of the sentences of the labelled sets in the folder (see
``finding/sets.py``) or of a file with a text on each line; queries are the sets' questions. A row
is left if its bound reaches the cosine of the tenth, or fiftieth, nearest row: no search that is
exact can skip it by this bound, even if it knew that cosine beforehand.
"""

from __future__ import annotations

import argparse
import random
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import memstore
from benches.finding.sets import labelled_units

Floats = NDArray[np.float32]

ASKED = 60
SHORTEST, LONGEST = 5, 40
"""Words of a sentence."""
CENTRES = (100, 1_000, 4_000)
ROUNDS = 6
SAMPLED = 100_000
LEADING = (16, 32, 64, 96, 128, 160, 192)
DISTANCES = (0.05, 0.11, 0.15, 0.2, 0.25)
NEAREST = (10, 50)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path)
    parser.add_argument("--texts", type=Path)
    parser.add_argument("--rows", type=int)
    asked = parser.parse_args()
    texts, questions = _sets(asked.data)
    if asked.texts:
        texts = asked.texts.read_text(encoding="utf-8").splitlines()
    embed = memstore.LocalEmbedder().embed
    chosen = random.Random(3).sample(questions, min(ASKED, len(questions)))
    rows, queries = np.asarray(embed(texts[: asked.rows])), np.asarray(embed(chosen))
    cosines = rows @ queries.T
    bars = {k: -np.partition(-cosines, k - 1, axis=0)[k - 1] for k in NEAREST}
    heads = " | ".join(f"left for {k}" for k in NEAREST)
    print(f"{len(rows):,} rows; cosines of the nearest:", end=" ")
    print(", ".join(f"{k}: {bar.mean():.3f}" for k, bar in bars.items()))
    print(f"| bound | {heads} |\n|---|{'---|' * len(NEAREST)}")
    for name, bound in _bounds(rows, queries, cosines):
        left = (f"{100 * (bound >= bar).mean():.2f} %" for bar in bars.values())
        print(f"| {name} | {' | '.join(left)} |", flush=True)


def _sets(folder: Path) -> tuple[list[str], list[str]]:
    """Return the sentences of the sets, each once, and their questions."""
    sentences: dict[str, None] = {}
    questions: list[str] = []
    for one in sorted(path.parent for path in folder.glob("*/units.jsonl")):
        units, asked = labelled_units(one)
        questions += [question.text for question in asked]
        for unit in (unit for each in units.values() for unit in each):
            for text in re.split(r"(?<=[.!?])\s+", unit["text"]):
                if SHORTEST <= len(text.split()) <= LONGEST:
                    sentences[text] = None
    texts = list(sentences)
    random.Random(1).shuffle(texts)
    return texts, questions


def _bounds(rows: Floats, queries: Floats, cosines: Floats) -> Iterator[tuple[str, Floats]]:
    """Yield the upper bounds of each row's cosine with each query, by several means."""
    for count in CENTRES:
        yield from _by_clusters(rows, queries, count)
    _, directions = np.linalg.eigh(rows[:SAMPLED].T @ rows[:SAMPLED])
    turned, asked = rows @ directions[:, ::-1], queries @ directions[:, ::-1]
    for count in LEADING:
        beyond = _rest(turned[:, :count])[:, None] * _rest(asked[:, :count])[None]
        bound = turned[:, :count] @ asked[:, :count].T + beyond
        yield f"the first {count} principal components, and the lengths of the rest", bound
    for distance in DISTANCES:
        yield f"a code at a distance of {distance}", cosines + np.float32(distance)


def _by_clusters(rows: Floats, queries: Floats, count: int) -> Iterator[tuple[str, Floats]]:
    centres = _centres(rows, count)
    nearest, near = np.empty(len(rows), dtype=np.intp), np.empty(len(rows), dtype=np.float32)
    for first in range(0, len(rows), SAMPLED):
        here = slice(first, first + SAMPLED)
        part = rows[here] @ centres.T
        nearest[here], near[here] = part.argmax(axis=1), part.max(axis=1)
    angles = np.arccos(np.clip(near, -1, 1))
    radii = np.zeros(count, dtype=np.float32)
    np.maximum.at(radii, nearest, angles)
    to_queries = np.arccos(np.clip(centres @ queries.T, -1, 1))[nearest]
    for name, reach in (
        ("the radius of its own", radii[nearest]),
        ("its distance from it", angles),
    ):
        bound = np.cos(np.maximum(0, to_queries - reach[:, None]))
        yield f"{count:,} centres, {name}", bound


def _centres(rows: Floats, count: int) -> Floats:
    chance = np.random.default_rng(0)
    sample = rows[chance.choice(len(rows), min(len(rows), SAMPLED), replace=False)]
    centres = sample[chance.choice(len(sample), count, replace=False)].copy()
    for _ in range(ROUNDS):
        nearest = (sample @ centres.T).argmax(axis=1)
        for centre in np.unique(nearest):
            mean = sample[nearest == centre].mean(axis=0)
            centres[centre] = mean / max(np.linalg.norm(mean), 1e-9)
    return centres


def _rest(leading: Floats) -> Floats:
    """Return how long the rest of each unit vector is."""
    rest: Floats = np.sqrt(np.maximum(0, 1 - (leading**2).sum(axis=1)))
    return rest


if __name__ == "__main__":
    main()
