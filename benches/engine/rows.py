"""The rows of the table: each measures memstore and its rivals, and returns the figures."""

from __future__ import annotations

import compileall
import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any, Final, NamedTuple

import memstore
from benches import start, writes
from benches.engine import made
from benches.engine.peers import FACT_PEERS, VECTOR_PEERS, plain_product
from benches.engine.turns import Answer, Way, table, take_turns
from benches.language import Language, questions
from memstore._kernel.codes import Codes
from memstore._kernel.features import Features
from memstore._kernel.ranking import contextual
from memstore._kernel.vectors import cosines, instruction_set
from memstore._kernel.words import Words
from memstore.text.words import terms

ASKED: Final = 101
NARROW: Final = "subject 7"
PROJECT: Final = "garden"
CANDIDATES: Final = 200
PRODUCT: Final = "numpy's plain product"
"""Not a search of the same kind: what every exact one by vectors would cost without an index."""
SHAPES: Final = {1_000_000: 256, 100_000: 768}
"""Vectors are searched in these shapes; fewer facts, fewer vectors of 256 numbers."""

PRIVATE = """
import sys, memstore
from benches.language import questions
with memstore.open(sys.argv[1]) as store:
    for question in questions(20):
        store.search(question, touch=False)
    lines = [line.split() for line in open("/proc/self/smaps_rollup")]
    # Pages of a mapped file count as private and clean while no other process maps it.
    print(*(int(line[1]) / 1000 for line in lines if line[0] == "Private_Dirty:"))
"""


class Figure(NamedTuple):
    """A line of the table: the measured value, and ``limit``, the target."""

    work: str
    value: float
    unit: str
    limit: float | None = None
    at_least: bool = False

    @property
    def holds(self) -> str:
        if self.limit is None:
            return ""
        return "yes" if (self.value >= self.limit) == self.at_least else "no"


Told = Callable[[str], None]


def searches(folder: Path, count: int, told: Told) -> list[Figure]:
    """Natural questions: hybrid, by words, with a filter on metadata, within a narrow subject.

    Those of memstore say what is newer than each hit; the others have nothing of the kind.
    """
    path, asked = made.facts_file(folder, count), questions(ASKED)
    embed = memstore.LocalEmbedder().embed
    limits = {10_000: (2, None, None), 100_000: (1.5, None, 0.3), 1_000_000: (15, 5, 0.1)}
    most, words_most, to_product = limits.get(count, (None, None, None))
    product = partial(plain_product, made.matrix(folder, count, made.MODEL_DIMENSION))
    with ExitStack() as stack:
        store = stack.enter_context(memstore.open(path))
        store.file.warm()
        peers = [*_made(FACT_PEERS, count, path, folder / f"facts-{count}", told)]

        def ask(question: str, **options: Any) -> list[int]:
            return [hit.fact.id for hit in store.search(question, touch=False, **options)]

        def hybrid(name: str, options: dict[str, Any], where: dict[str, str]) -> tuple[Way, float]:
            where = {"namespace": "default", **where}
            answers = {"memstore": partial(ask, **options)} | {
                peer.name: lambda question, peer=peer: peer.hybrid(
                    question, embed([question])[0], where
                )
                for peer in peers
                if peer.has_vectors
            }
            answers[PRODUCT] = lambda question: product(embed([question])[0])
            ways = take_turns(answers, asked)
            told(table(f"{name}, {count:,} facts", ways, "memstore"))
            return ways["memstore"], ways["memstore"].to(ways[PRODUCT])

        found, to_it = hybrid("hybrid", {}, {})
        figures = [
            Figure(f"hybrid search, {count:,} facts, p50", 1e3 * found.p50, "ms", most),
            Figure(f"hybrid search, {count:,} facts, to the product", to_it, "x", to_product),
        ]
        answers: dict[str, Answer] = {
            "memstore": partial(ask, vector_weight=0.0, half_lives_seconds={"note": 0})
        }
        answers |= {p.name: partial(p.words, where={"namespace": "default"}) for p in peers}
        ways = take_turns(answers, asked, truth="FTS5, sqlite-vec")
        told(table(f"words, {count:,} facts; recall is agreement with FTS5", ways, "memstore"))
        words, late = (1e3 * seconds for seconds in (ways["memstore"].p50, ways["memstore"].p95))
        figures.append(Figure(f"words, {count:,} facts, p50", words, "ms", words_most))
        figures.append(Figure(f"words, {count:,} facts, p95", late, "ms", words_most and 15))
        project = {"project": PROJECT}
        found, _ = hybrid("filter of metadata", {"filters": project}, project)
        figures.append(
            Figure(f"filter of metadata, {count:,} facts, p50", 1e3 * found.p50, "ms", 20)
        )
        found, _ = hybrid("narrow subject", {"subject": NARROW}, {"subject": NARROW})
        figures.append(Figure(f"narrow subject, {count:,} facts, p50", 1e3 * found.p50, "ms", 5))
    return figures


def scan(folder: Path, count: int, told: Told) -> list[Figure]:
    """The ten nearest of real vectors, exactly, and their bytes in memory."""
    dimension = SHAPES.get(count, 256)
    matrix = made.matrix(folder, count, dimension)
    queries = made.asked_vectors(ASKED, dimension)
    connection = made.vectors_file(folder, matrix)
    path = made.codes_file(folder, matrix)
    codes = Codes.open(path, made.DATABASE, 0)  # mapped, as a process that searches has them

    def nearest(query: Any) -> list[int]:
        [ids] = codes.scan(query, 10)
        listed = ",".join(map(str, ids))
        rows = connection.execute(f"SELECT id, embedding FROM vectors WHERE id IN ({listed})")
        found, blobs = zip(*rows, strict=True)
        best = sorted(zip(cosines(query, blobs), found, strict=True), reverse=True)
        return [id_ - 1 for _, id_ in best[:10]]

    read = made.plain_read(folder)
    place = folder / f"vectors-{count}x{dimension}"
    answers: dict[str, Answer] = {
        "memstore": nearest,
        "plain read": lambda _: read(matrix),
    }
    answers |= {p.name: p.nearest for p in _made(VECTOR_PEERS, count, matrix, place, told)}
    ways = take_turns(answers, queries, truth="numpy")
    shape = f"{count:,} x {dimension}"
    told(table(f"ten nearest, {shape}, {instruction_set()}", ways, "memstore"))
    limit, most = {256: (0.25, 320), 768: (0.1, 900)}[dimension]
    if count < 100_000:
        limit = None
    to_read = ways["memstore"].to(ways["plain read"])
    return [
        Figure(f"ten nearest, {shape}, to the plain read", to_read, "x", limit),
        Figure(f"resident, {shape}, a vector", path.stat().st_size / count, "bytes", most),
    ]


def ranking(told: Told) -> list[Figure]:
    """The contextual ranking alone, for texts of 30 words in conversations of twenty."""
    language, features, words = Language(seed=5), Features(), Words()
    said = {id_: language.text(30, 30) for id_ in range(1, CANDIDATES + 1)}
    features.put(
        [
            (id_, text, "Alice", f"thread {id_ // 20}", id_, None, None, None, None)
            for id_, text in said.items()
        ]
    )
    words.put([*said], [[*text.casefold().split(), ""] for text in said.values()])
    candidates = [(id_, 0.5) for id_ in said]

    def order(question: str) -> list[int]:
        asked = terms(question)
        tokens = [[word.casefold()] for word in asked]
        telling = " ".join(asked)
        ranked = contextual(features, words, tokens, question, telling, candidates, limit=10)
        return [found.id for found in ranked]

    ways = take_turns({"rank": order}, questions(ASKED))
    told(table(f"contextual ranking, {CANDIDATES} candidates of 30 words", ways, "rank"))
    return [
        Figure("contextual ranking, 200 candidates of 30 words", 1e3 * ways["rank"].p50, "ms", 1)
    ]


def programs(folder: Path, count: int, told: Told) -> list[Figure]:
    """Whole processes up to their first answer, and the private memory of one."""
    path = made.facts_file(folder, count)
    tasks = ("python, argparse and json", "memstore --help", "memstore search --json",
             "memstore-mcp, first search")  # fmt: skip
    compileall.compile_dir(Path(memstore.__file__).parent, quiet=2)  # as pip does
    figures = []
    for task in tasks:
        start.TASKS[task](path)
        took = median(start.TASKS[task](path).clock_ms for _ in range(9))
        figures.append(Figure(f"{task}, {count:,} facts", took, "ms", start.reach(task, count)))
    command = [sys.executable, "-c", PRIVATE, str(path)]
    private = float(subprocess.run(command, check=True, capture_output=True).stdout)
    limit = 120 if count == 1_000_000 else None
    return [*figures, Figure(f"memory of a process, {count:,} facts", private, "MB", limit)]


def written(told: Told) -> list[Figure]:
    """Writing, compared with the driver writing the same rows; rivals wait for embedders too."""
    figures = []
    for name, way in writes.WAYS.items():
        rounds = writes.measured(way, rounds=5)
        ratio = median((theirs + alone) / mine for mine, theirs, alone in rounds)
        figures.append(Figure(f"{name}, to the driver alone", ratio, "x", way.reach, True))
    return figures


def _made(peers: Sequence[Any], count: int, given: Any, place: Path, told: Told) -> Any:
    """Yield the peers that are installed and can handle this many rows; print the others."""
    for peer in peers:
        if count > peer.largest:
            told(f"left out at {count:,}: {peer.name} takes too long to build")
            continue
        try:
            yield peer(given, place.with_name(f"{place.name}-{peer.__name__}"))
        except ImportError as error:
            told(f"left out: {peer.name}: {error}")
