"""The built-in model: tokens as the `tokenizers` package cuts them, and their mean."""

from __future__ import annotations

import json
import threading
from array import array
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.typing import NDArray
from tests.support.builds import skip_without_model

from memstore._kernel import model

skip_without_model(module=True)
MODEL = model.BuiltInModel()
GOLDEN: list[dict[str, Any]] = json.loads(
    (Path(__file__).parent / "golden_tokens.json").read_text("utf-8")
)
"""Output of the original packages, written by `rust/kernel/model/make.py`."""

TEXTS = [case["text"] for case in GOLDEN]
TABLE = Path(__file__).parents[2] / "rust/kernel/model/l2-supercat-256-int8.bin"

any_text = st.text(st.characters(exclude_categories=["Cs"]), max_size=80)


def ids(text: str) -> list[int]:
    (blob,) = MODEL.token_ids([text])
    return np.frombuffer(blob, "<u2").tolist()


@pytest.fixture(scope="module")
def table() -> NDArray[np.float64]:
    """The vectors as stored at the end of the file: scales, then rows of int8."""
    pieces, dimension = MODEL.token_count, MODEL.dimension
    content = TABLE.read_bytes()
    rows = np.frombuffer(content[-pieces * dimension :], "i1").reshape(pieces, dimension)
    before = len(content) - rows.nbytes
    scales = np.frombuffer(content[before - 4 * pieces : before], "<f4")
    return rows.astype(np.float64) * scales[:, None]


@pytest.mark.parametrize("case", GOLDEN, ids=lambda case: ascii(case["text"])[:30])
def test_token_ids_match_the_original_tokenizer(case: dict[str, Any]) -> None:
    assert ids(case["text"]) == case["ids"]


@pytest.mark.parametrize("case", GOLDEN, ids=lambda case: ascii(case["text"])[:30])
def test_vectors_match_the_original_up_to_rounding(case: dict[str, Any]) -> None:
    (row,) = MODEL.embed([case["text"]])
    assert row[:8] == pytest.approx(case["start"], abs=2e-3)


def test_a_vector_is_the_normalized_mean_of_its_tokens(table: NDArray[np.float64]) -> None:
    for text, row in zip(TEXTS, MODEL.embed(TEXTS), strict=True):
        total = table[ids(text)].sum(axis=0)
        assert row == pytest.approx(total / (np.linalg.norm(total) or 1), rel=2**-15, abs=1e-7)


@given(texts=st.lists(any_text, max_size=4))
def test_a_text_is_embedded_the_same_alone_and_in_a_batch(texts: list[str]) -> None:
    rows = MODEL.embed(texts)
    assert (rows.shape, rows.dtype) == ((len(texts), MODEL.dimension), np.float32)
    assert rows.flags.writeable
    assert rows.flags.c_contiguous
    assert MODEL.embed_bytes(texts) == [row.astype("<f4").tobytes() for row in rows]
    for text, row in zip(texts, rows, strict=True):
        assert np.array_equal(MODEL.embed([text])[0], row)


@given(first=any_text, second=any_text)
def test_words_are_tokenized_separately(first: str, second: str) -> None:
    first, second = first.strip(" ▁"), second.strip(" ▁")
    assume(first and second)
    assert ids(f"{first} {second}") == ids(first) + ids(second)


@given(text=any_text)
def test_spaces_are_replaced_by_the_space_marker(text: str) -> None:
    assert ids(text.replace(" ", "▁")) == ids(text)
    assert all(id < MODEL.token_count for id in ids(text))
    assert bool(text) == bool(ids(text))


@pytest.mark.parametrize("unit", ["a", "ab", " ", "=", "\0", "東", "🎉", "tea "])
def test_megabyte_of_one_character_is_tokenized(unit: str) -> None:
    text = unit * ((1 << 20) // len(unit.encode()))
    assert len(ids(text)) > len(ids(text[: len(text) // 2]))
    assert np.linalg.norm(MODEL.embed([text])[0]) == pytest.approx(1, abs=1e-5)


def test_a_large_batch_split_over_threads_gives_the_same_vectors() -> None:
    many = [f"{text} {number}" for number in range(200) for text in TEXTS]
    rows = MODEL.embed(many)
    some = range(0, len(many), 97)
    assert all(np.array_equal(rows[n], MODEL.embed([many[n]])[0]) for n in some)


def test_threads_share_one_model() -> None:
    expected = MODEL.embed(TEXTS)
    same: list[bool] = []

    def work() -> None:
        same.extend(np.array_equal(model.BuiltInModel().embed(TEXTS), expected) for _ in range(20))

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert same == [True] * 160


@pytest.mark.parametrize("verb", [MODEL.embed, MODEL.embed_bytes, MODEL.token_ids])
@pytest.mark.parametrize(
    ("texts", "error"),
    [
        ("tea", TypeError),
        (None, TypeError),
        (7, TypeError),
        ([b"tea"], TypeError),
        (["tea", None], TypeError),
        ({"tea"}, TypeError),
        (["tea", "\ud800"], UnicodeEncodeError),
    ],
    ids=ascii,
)
def test_invalid_list_of_texts_is_refused(verb: Any, texts: object, error: type[Exception]) -> None:
    with pytest.raises(error):
        verb(texts)


def test_token_ids_are_two_bytes_each() -> None:
    (blob,) = MODEL.token_ids(("Alice drinks tea",))
    assert isinstance(blob, bytes)
    assert len(blob) == 2 * len(array("H", ids("Alice drinks tea")))
    assert MODEL.token_ids([]) == MODEL.embed_bytes([]) == []
    assert MODEL.token_ids([""]) == [b""]
