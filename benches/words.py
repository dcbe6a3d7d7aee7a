"""The inverted index compared with FTS5's `bm25()`: natural questions, the best 50 rows.

    python -m benches.words [--rows 100000 1000000] [--questions 200]

FTS5 answers every tenth question, and its answers must be the index', ids and scores. Times are the
processor's, which other programs disturb little; each search runs on one thread.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median, quantiles

import apsw

from benches.language import Language
from memstore._kernel.ids import Ids
from memstore._kernel.words import Words
from memstore.text.words import match_expression, terms

LIMIT, BATCH = 50, 50_000
CREATE = (
    "CREATE VIRTUAL TABLE texts USING fts5("
    "text, content='', tokenize='porter unicode61 remove_diacritics 2')"
)
BEST = (
    "SELECT rowid, -bm25(texts) AS score FROM texts WHERE texts MATCH ?"
    f" ORDER BY score DESC, rowid DESC LIMIT {LIMIT}"
)


def main() -> None:
    """Print a table for each number of rows."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, nargs="+", default=[100_000, 1_000_000])
    parser.add_argument("--questions", type=int, default=200)
    arguments = parser.parse_args()
    for rows in arguments.rows:
        with tempfile.TemporaryDirectory() as folder:
            measure(Path(folder), rows, arguments.questions)


def measure(folder: Path, rows: int, count: int) -> None:
    """Fill both, query both, compare."""
    language, words = Language(seed=5), Words()
    connection = apsw.Connection(str(folder / "texts.db"))
    connection.execute("PRAGMA journal_mode=OFF").fetchall()
    connection.execute(CREATE)
    tokenizer = connection.fts5_tokenizer("porter", ["unicode61", "remove_diacritics", "2"])

    def tokens(text: str) -> list[str]:
        return tokenizer(
            text.encode(),
            apsw.FTS5_TOKENIZE_DOCUMENT,
            None,
            include_offsets=False,
            include_colocated=False,
        )

    spent = dict.fromkeys(("FTS5", "tokens", "put"), 0.0)
    for start in range(1, rows + 1, BATCH):
        ids = range(start, min(start + BATCH, rows + 1))
        texts = [language.text(5, 25) for _ in ids]
        with Stopwatch(spent, "FTS5"), connection:
            connection.executemany(
                "INSERT INTO texts (rowid, text) VALUES (?, ?)", zip(ids, texts, strict=True)
            )
        with Stopwatch(spent, "tokens"):
            split = [tokens(text) for text in texts]
        with Stopwatch(spent, "put"):
            words.put(ids, split)
    with Stopwatch(spent, "save"):
        (folder / "words").touch()
        words.save(folder / "words", bytes(16), 1)
    with Stopwatch(spent, "open"):
        words = Words.open(folder / "words", bytes(16))
    print(f"\n{rows:,} rows; seconds: " + ", ".join(f"{k} {v:.3f}" for k, v in spent.items()))
    size = (folder / "words").stat().st_size
    print(f"file {size / 1e6:.1f} MB, FTS5 {(folder / 'texts.db').stat().st_size / 1e6:.1f} MB")

    questions = [language.question() for _ in range(count)]
    phrases = [[tokens(term) for term in terms(question)] for question in questions]
    matching = [sum(words.frequencies(asked)) for asked in phrases]
    print(f"rows of all words together: median {median(matching):,.0f}, most {max(matching):,}")
    most = Ids(id_ for id_ in range(rows) if id_ % 10 < 7)
    few = Ids(range(0, rows, 1000))
    found = report("words", [lambda a=a: words.search(a, LIMIT) for a in phrases])
    report("words, 70 % visible", [lambda a=a: words.search(a, LIMIT, most) for a in phrases])
    report("words, 0.1 % visible", [lambda a=a: words.search(a, LIMIT, few) for a in phrases])
    asked = [match_expression(question) for question in questions[::10]]
    truth = report("FTS5", [lambda e=e: connection.execute(BEST, (e,)).fetchall() for e in asked])
    assert found[::10] == truth
    connection.close()


def report(name: str, searches: list[Callable[[], list[tuple[int, float]]]]) -> list[object]:
    """Run every search, after a warm-up; print the times."""
    for search in searches:
        search()
    seconds, answers = [], []
    for search in searches:
        start = time.thread_time()
        answers.append(search())
        seconds.append(time.thread_time() - start)
    p95 = quantiles(seconds, n=20)[-1]
    print(f"  {name:22} p50 {median(seconds) * 1e3:9.3f} ms   p95 {p95 * 1e3:9.3f} ms")
    return answers


class Stopwatch:
    """Adds the time of a block to an entry."""

    def __init__(self, spent: dict[str, float], name: str) -> None:
        self._spent, self._name = spent, name

    def __enter__(self) -> None:
        self._start = time.thread_time()

    def __exit__(self, *_: object) -> None:
        took = time.thread_time() - self._start
        self._spent[self._name] = self._spent.get(self._name, 0.0) + took


if __name__ == "__main__":
    main()
