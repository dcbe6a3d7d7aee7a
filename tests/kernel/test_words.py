"""The inverted index against FTS5 and against a naive BM25."""

from __future__ import annotations

import contextlib
import os
import random
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.examples import examples
from tests.support.naive_words import Fts5, bm25, seen

from memstore._kernel import PanicException
from memstore._kernel.ids import Ids
from memstore._kernel.words import Words

DATABASE = bytes(range(16))

# Few words, so that texts share them: stems, accents, both cases, scripts without spaces.
WORDS = "run running runs café CAFE naïve straße the a 中 文 字 中文 す し ก ข 😀 x1 ǅ".split()
texts = st.lists(st.sampled_from(WORDS), max_size=9).map(" ".join)
phrases = st.lists(st.sampled_from(WORDS), min_size=1, max_size=3).map(" ".join)
ids = st.integers(0, 25)
changes = st.lists(
    st.one_of(
        st.tuples(st.just("put"), ids, texts, texts),
        st.tuples(st.just("drop"), ids),
        st.just(("save",)),
    ),
    max_size=30,
)


class Twins:
    """The index, FTS5 and a plain dictionary with the same rows."""

    def __init__(self) -> None:
        self.words, self.fts5 = Words(), Fts5()
        self.rows: dict[int, list[str]] = {}

    def put(self, rows: dict[int, tuple[str, str]]) -> None:
        tokens = {id_: self.fts5.put(id_, *columns) for id_, columns in rows.items()}
        self.words.put([*tokens], [*tokens.values()])
        self.rows |= tokens

    def drop(self, *dropped: int) -> None:
        assert self.words.drop(dropped) == len(self.rows.keys() & {*dropped})
        for id_ in dropped:
            self.fts5.drop(id_)
            self.rows.pop(id_, None)

    def save(self, path: Path) -> None:
        path.touch()
        self.words.save(path, DATABASE, 7)
        self.words = Words.open(path, DATABASE)

    def phrases(self, asked: list[str]) -> list[list[str]]:
        return [self.fts5.tokens(text) for text in asked]

    def check(self, asked: list[str], limit: int, visible: set[int]) -> None:
        phrases, every = self.phrases(asked), self.fts5.all(asked)
        assert self.words.search(phrases, limit) == every[:limit]
        assert self.words.search(phrases, limit, Ids(visible)) == seen(every, visible)[:limit]
        assert self.words.frequencies(phrases) == [self.fts5.frequency(text) for text in asked]
        assert len(self.words) == len(self.rows)


@given(changes, st.lists(phrases, min_size=1, max_size=5), st.integers(0, 12), st.sets(ids))
def test_index_equals_fts5(
    tmp_path_factory: pytest.TempPathFactory,
    changes: list[tuple[Any, ...]],
    asked: list[str],
    limit: int,
    visible: set[int],
) -> None:
    twins = Twins()
    for what, *arguments in changes:
        if what == "put":
            twins.put({arguments[0]: (arguments[1], arguments[2])})
        elif what == "drop":
            twins.drop(*arguments)
        else:
            twins.save(tmp_path_factory.mktemp("words") / "file")
    twins.check(asked, limit, visible)
    phrases = twins.phrases(asked)
    for id_, parts in zip(twins.rows, twins.words.parts(phrases, [*twins.rows]), strict=True):
        assert parts == pytest.approx(bm25(twins.rows, phrases, id_), rel=1e-9, abs=1e-15)
    assert twins.words.parts(phrases, [99]) == [[0.0] * len(phrases)]


class Zipf:
    """Texts with the word frequencies of a language."""

    def __init__(self, seed: int, vocabulary: int) -> None:
        self.random = random.Random(seed)
        self.words = [f"word{number}" for number in range(vocabulary)]
        self.words[3:40:9] = ["中 文", "字 典", "日 本", "語 文", "文 中"]
        self.weights = [1 / (rank + 3) for rank in range(vocabulary)]

    def text(self, longest: int) -> str:
        size = self.random.randrange(longest)
        return " ".join(self.random.choices(self.words, self.weights, k=size))

    def question(self) -> list[str]:
        size = self.random.randrange(1, 9)
        flatter = [weight**0.5 for weight in self.weights]
        words = self.random.choices(self.words, flatter, k=size)
        return [
            f"{word} {self.random.choice(self.words[:9])}" if self.random.random() < 0.2 else word
            for word in words
        ]


def compare_on_a_zipf_corpus(folder: Path, rounds: int, rows: int, questions: int) -> None:
    """Replace and drop rows in each round; beyond some thousand there are several segments."""
    zipf, twins = Zipf(rounds, 4_000), Twins()
    for turn in range(rounds):
        numbers = {zipf.random.randrange(rounds * rows // 2) for _ in range(rows)}
        twins.put({id_: (zipf.text(30), zipf.text(20)) for id_ in numbers})
        twins.drop(*zipf.random.sample(sorted(twins.rows), rows // 20))
        if turn % 4 == 1:
            twins.save(folder / f"words-{turn}")
        for _ in range(questions):
            part = zipf.random.choice([3, 40, len(twins.rows) // 3])
            visible = {*zipf.random.sample(sorted(twins.rows), part)}
            twins.check(zipf.question(), zipf.random.choice([1, 10, 50, 1000]), visible)


def test_index_equals_fts5_on_a_zipf_corpus(tmp_path: Path) -> None:
    compare_on_a_zipf_corpus(tmp_path, rounds=2, rows=2_000, questions=10)


@pytest.mark.slow
def test_index_equals_fts5_while_a_zipf_corpus_grows(tmp_path: Path) -> None:
    compare_on_a_zipf_corpus(tmp_path, rounds=5, rows=2_000, questions=examples(1_000))


def test_index_equals_fts5_for_any_rows() -> None:
    twins = Twins()
    twins.put(
        {
            **dict.fromkeys(range(1, 2000), ("everywhere", "")),
            **{id_: ("everywhere " + "twice " * (id_ % 3), "x") for id_ in range(2_000, 4_000)},
            **dict.fromkeys(range(4000, 4500), ("", "")),
            5_000: ("again " * 10_000, "everywhere"),
            5_001: (" ".join(f"t{number % 9_000}" for number in range(60_000)), "again"),
            5_002: ("中 " * 3_000, "中 文 中 文"),
            5_003: ("y" * 40_000, "y" * 32_768),
        }
    )
    for asked in (
        ["everywhere"],
        ["everywhere", "twice"],
        ["again", "everywhere", "t17"],
        ["again again", "t1 t2 t3", "again everywhere"],
        ["中", "中 中", "中 文 中", "文 中"],
        ["y" * 32_768],
        ["nowhere", "x"],
        ["twice"] * 5 + ["everywhere"] * 3,
    ):
        for limit in (1, 50, 4_000):
            twins.check(asked, limit, {*range(1_990, 2_010), 5_000, 5_002})


def test_a_phrase_does_not_cross_columns() -> None:
    words = Words()
    words.put([1, 2], [["left", "", "right"], ["left", "right"]])
    assert [id_ for id_, _ in words.search([["left", "right"]], 5)] == [2]
    assert words.frequencies([["left", "right"], ["right"], []]) == [1, 2, 0]


def test_larger_id_wins_ties() -> None:
    words = Words()
    words.put(range(100), [["same"]] * 100)
    words.put([3, 200], [["other"]] * 2)
    assert [id_ for id_, _ in words.search([["same"]], 3)] == [99, 98, 97]


def test_last_row_of_a_repeated_id_is_kept() -> None:
    words = Words()
    words.put([1, 1], [["first"], ["last"]])
    assert len(words) == 1
    assert words.frequencies([["first"], ["last"]]) == [0, 1]


def test_empty_index_finds_nothing() -> None:
    words = Words()
    assert words.search([["a"]], 5) == []
    assert words.frequencies([["a"]]) == [0]
    assert words.parts([["a"], ["b"]], [1]) == [[0.0, 0.0]]
    words.put([1], [["a"]])
    assert words.search([], 5) == words.search([["a"]], 0) == words.search([[""]], 5) == []
    assert words.drop([1, 2]) == 1
    assert words.search([["a"]], 5) == []


def test_rows_that_cannot_be_indexed_are_refused() -> None:
    words = Words()
    words.put([1], [["kept"]])
    for wrong in ([-1], [2**32], [2**64]):
        with pytest.raises((ValueError, OverflowError)):
            words.put(wrong, [["a"]])
    with pytest.raises(ValueError, match=r"id 4294967295 is too large for so few rows"):
        words.put([2, 2**32 - 1], [["a"], ["a"]])
    with pytest.raises(ValueError, match=r"row 2 has 16777217 tokens, 16777216 at most"):
        words.put([2], [["a"] * (2**24 + 1)])
    with pytest.raises(ValueError, match="ids and texts must have the same length, got 2 and 1"):
        words.put([2, 3], [["a"]])
    with pytest.raises(ValueError, match="limit must not be negative, got -1"):
        words.search([["a"]], -1)
    for text in ("abc", b"abc", 3, [1]):
        with pytest.raises(TypeError):
            words.search([text], 1)  # type: ignore[list-item]
    with pytest.raises(TypeError):
        words.put([2], [[b"a"]])  # type: ignore[list-item]
    with pytest.raises(UnicodeEncodeError):
        words.put([2], [["\ud800"]])
    assert words.search([["a"], ["kept"]], 2**62) == words.search([["kept"]], 1)
    assert len(words) == 1


def saved(path: Path) -> Words:
    words = Words()
    words.put(range(500), [["common", f"rare{id_}", "中", "文"] for id_ in range(500)])
    words.drop([7])
    path.touch()
    words.save(path, DATABASE, 41)
    return words


def test_opened_file_gives_the_same_results(tmp_path: Path) -> None:
    words = saved(tmp_path / "words")
    opened = Words.open(tmp_path / "words", DATABASE)
    query = [["common"], ["rare7"], ["rare8"], ["中", "文"], ["文", "中"]]
    assert (opened.position, len(opened), opened.nbytes) == (41, 499, 0)
    assert opened.search(query, 20) == words.search(query, 20)
    assert opened.frequencies(query) == words.frequencies(query) == [499, 0, 1, 499, 0]
    opened.put([8, 9, 900], [["common"], ["rare7"], ["rare8"]])
    assert opened.frequencies(query) == [498, 1, 1, 497, 0]


def test_a_file_that_does_not_match_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "words"
    saved(path)
    with pytest.raises(ValueError, match="derived from something else"):
        Words.open(path, bytes(16))
    with pytest.raises(FileNotFoundError):
        Words.open(tmp_path / "none", DATABASE)
    whole = path.read_bytes()
    for at in (0, 20, 400, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
        with pytest.raises(ValueError, match=r"damaged|something else"):
            Words.open(path, DATABASE)
    with pytest.raises(FileNotFoundError):
        Words().save(tmp_path / "removed", DATABASE, 1)
    assert not (tmp_path / "removed").exists()


def test_changed_file_is_not_intact(tmp_path: Path) -> None:
    assert Words().is_intact(compare=True)  # there is no file
    saved(tmp_path / "words")
    opened = Words.open(tmp_path / "words", DATABASE)
    assert opened.is_intact()
    assert opened.is_intact(compare=True)
    with (tmp_path / "words").open("r+b") as file:
        file.seek(300)
        file.write(b"damage")
    assert not opened.is_intact(compare=True)
    os.utime(tmp_path / "words", (1, 1))  # the file system's clock may be coarse
    assert not opened.is_intact()


def test_change_after_a_comparison_is_seen_though_the_time_stays(tmp_path: Path) -> None:
    path = tmp_path / "words"
    saved(path)
    opened = Words.open(path, DATABASE)
    now = path.stat().st_mtime_ns + 1_000_000
    os.utime(path, ns=(now, now))  # a write begins: its time comes before its data
    assert opened.is_intact()
    with path.open("r+b") as file:
        file.seek(300)
        file.write(b"damage")
    os.utime(path, ns=(now, now))
    assert not opened.is_intact()


@pytest.mark.skipif(os.name == "nt", reason="Windows truncates no mapped file")
def test_truncated_file_does_not_end_the_process(tmp_path: Path) -> None:
    saved(tmp_path / "words")
    opened = Words.open(tmp_path / "words", DATABASE)
    os.truncate(tmp_path / "words", 0)
    with contextlib.suppress(PanicException):
        opened.search([["common"], ["rare8"]], 20)
    assert not opened.is_intact()
    assert not opened.is_intact(compare=True)


def test_a_put_is_atomic_for_readers_while_segments_are_merged() -> None:
    words, stop = Words(), threading.Event()
    batch = [["both", f"own{number % 50}"] * 20 for number in range(1_000)]

    def write() -> None:
        for turn in range(30):
            words.put(range(turn * 1_000, turn * 1_000 + 1_000), batch)
        stop.set()

    def read() -> set[int]:
        sizes = set()
        while not stop.is_set():
            sizes.add(words.frequencies([["both"]])[0] % 1_000)
            found = words.search([["own7"], ["both"]], 30)
            assert len(found) in (0, 20, 30)
        return sizes

    with ThreadPoolExecutor() as pool:
        readers = [pool.submit(read) for _ in range(3)]
        pool.submit(write).result()
    assert [reader.result() for reader in readers] == [{0}] * 3
    assert len(words) == 30_000
