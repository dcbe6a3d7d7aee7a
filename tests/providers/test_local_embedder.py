"""The built-in embedder: offline, the same everywhere, and useful."""

from __future__ import annotations

import hashlib
import socket
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from tests.support.builds import skip_without_model
from tests.support.examples import examples

import memstore
from memstore import LocalEmbedder
from memstore.providers import local

skip_without_model(module=True)
DIMENSION = 256
TABLE = Path(__file__).parents[2] / "rust/kernel/model/l2-supercat-256-int8.bin"


@pytest.fixture(scope="module")
def embedder() -> LocalEmbedder:
    return LocalEmbedder()


def one(embedder: LocalEmbedder, text: str) -> NDArray[np.float32]:
    row: NDArray[np.float32] = embedder.embed([text])[0]
    return row


# -- the answer ------------------------------------------------------------------------------


def test_vectors_have_unit_length_and_the_documented_shape(embedder: LocalEmbedder) -> None:
    rows = embedder.embed(["tea", "the rain in Paris", "东京", "🎉", "a" * 500, "naïve café"])
    assert (rows.shape, rows.dtype) == ((6, DIMENSION), np.float32)
    assert rows.flags.c_contiguous
    assert np.linalg.norm(rows, axis=1) == pytest.approx(np.ones(6), abs=8e-6)


def test_no_texts_return_no_rows(embedder: LocalEmbedder) -> None:
    rows = embedder.embed([])
    assert (rows.shape, rows.dtype) == ((0, DIMENSION), np.float32)


def test_text_without_tokens_gives_a_zero_row_and_affects_no_other(
    embedder: LocalEmbedder,
) -> None:
    rows = embedder.embed(["tea", "", "rain"])
    assert not rows[1].any()
    assert np.array_equal(rows[0], one(embedder, "tea"))
    assert np.array_equal(rows[2], one(embedder, "rain"))


TEXTS = ["tea", "Alice drinks tea", "the rain in Paris", "東京", "<s>", "v1.2.3", "", "x" * 5000]


def test_vectors_are_deterministic_alone_or_in_a_batch(embedder: LocalEmbedder) -> None:
    together = embedder.embed(TEXTS)
    assert np.array_equal(together, embedder.embed(TEXTS))
    assert np.array_equal(together, LocalEmbedder().embed(TEXTS))
    for row, text in zip(together, TEXTS, strict=True):
        assert np.array_equal(row, one(embedder, text))


def test_vectors_match_the_first_release(embedder: LocalEmbedder) -> None:
    # A change here means that stored files no longer fit: the model needs another name.
    row = one(embedder, "Alice drinks green tea in the morning")
    assert row[:6] == pytest.approx(FIRST_RELEASE, abs=1e-6)


@settings(deadline=None, max_examples=examples(60))
@given(texts=st.lists(st.text(st.characters(exclude_categories=["Cs"])), max_size=5))
def test_any_text_has_a_finite_vector(texts: list[str]) -> None:
    rows = SHARED.embed(texts)
    assert rows.shape == (len(texts), DIMENSION)
    assert np.isfinite(rows).all()
    lengths = np.linalg.norm(rows.astype(np.float64), axis=1)
    assert all(length == pytest.approx(1, abs=1e-5) or length == 0 for length in lengths)


@pytest.mark.parametrize("literal", ["<s>", "</s>", "<unk>", "<pad>"])
def test_special_tokens_in_a_text_are_plain_text(embedder: LocalEmbedder, literal: str) -> None:
    alone = one(embedder, literal)
    assert alone.any()
    assert not np.array_equal(one(embedder, f"{literal} tea"), one(embedder, "tea"))
    spelled = one(embedder, f"a {literal[1:-1]} b")
    assert float(alone @ spelled) > 0, "it is cut like other text, not one token of its own"


def test_very_long_text_is_tokenized_completely(embedder: LocalEmbedder) -> None:
    start = "tea " * 50_000
    row = one(embedder, start + "violin " * 50_000)
    assert np.linalg.norm(row) == pytest.approx(1, abs=1e-5)
    assert float(row @ one(embedder, "violin")) > float(
        one(embedder, start) @ one(embedder, "violin")
    )


def test_a_lone_surrogate_is_an_error_not_a_crash(embedder: LocalEmbedder) -> None:
    with pytest.raises((ValueError, TypeError)):
        embedder.embed(["\ud800"])


def test_the_order_of_the_texts_is_kept(embedder: LocalEmbedder) -> None:
    texts = [f"fact number {n} of many" for n in range(300)]
    rows = embedder.embed(texts)
    back = embedder.embed(texts[::-1])
    assert np.array_equal(rows, back[::-1])


def test_threads_share_one_embedder() -> None:
    fresh = LocalEmbedder()
    expected = SHARED.embed(TEXTS)
    barrier = threading.Barrier(8)
    same: list[bool] = []

    def work() -> None:
        barrier.wait()
        same.extend(np.array_equal(fresh.embed(TEXTS), expected) for _ in range(20))

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert same == [True] * 160


# -- the table -------------------------------------------------------------------------------


def test_the_model_id_names_the_content() -> None:
    assert hashlib.sha256(TABLE.read_bytes()).hexdigest() == local.DIGEST
    assert local.DIGEST[:8] in LocalEmbedder().model


@pytest.mark.process
def test_vectors_as_bytes_are_the_same_and_load_no_numpy(embedder: LocalEmbedder) -> None:
    script = """
import sys, memstore
blobs = memstore.LocalEmbedder().embed_bytes(sys.argv[1:])
print("numpy" in sys.modules, *(blob.hex() for blob in blobs))
"""
    done = subprocess.run(
        [sys.executable, "-c", script, "tea", "", "東京"],
        capture_output=True, encoding="utf-8", check=True,
    )  # fmt: skip
    loaded, *blobs = done.stdout.split()
    assert loaded == "False"
    rows = embedder.embed(["tea", "", "東京"])
    assert [bytes.fromhex(blob) for blob in blobs] == [row.astype("<f4").tobytes() for row in rows]


def test_local_embedder_does_not_use_the_network(
    monkeypatch: pytest.MonkeyPatch, path: Path
) -> None:
    def refuse(*_: object, **__: object) -> Any:
        raise AssertionError("tried the network")

    for name in ("socket", "create_connection", "getaddrinfo"):
        monkeypatch.setattr(socket, name, refuse)
    with memstore.open(path) as store:
        assert store.add("Sue drinks tea", subject="sue").embedded
        assert store.search("beverages").words_only is None


# -- meaning ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "paraphrase", "unrelated"),
    [
        ("Alice prefers tea over coffee", "Alice likes tea more", "The server runs Linux"),
        ("The car broke down", "the vehicle stopped working", "She plays the violin"),
        (
            "He is a physician in Boston",
            "a doctor who works at a hospital",
            "the recipe needs salt",
        ),
        ("Deploy on Friday evening", "release at the end of the week", "her cat is grey"),
        ("My daughter turned five", "my child's birthday", "the invoice was paid"),
        ("We moved to Berlin last year", "they live in Germany", "the battery is empty"),
    ],
)
def test_paraphrase_has_a_higher_cosine_than_an_unrelated_sentence(
    embedder: LocalEmbedder, text: str, paraphrase: str, unrelated: str
) -> None:
    asked, near, far = embedder.embed([text, paraphrase, unrelated])
    assert float(asked @ near) > float(asked @ far) + 0.05


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("automobile", "Sue drives an old Volvo car to work"),
        ("physician", "Her doctor is called Miller"),
        ("beverages", "She drinks tea and coffee"),
        ("pets", "They have a cat and two dogs"),
    ],
)
def test_store_finds_by_meaning_without_common_words(
    path: Path, question: str, answer: str
) -> None:
    others = ["The invoice was paid in March", "The meeting moved to room 3", "Backups run nightly"]
    with memstore.open(path) as store:
        for text in [*others, answer]:
            store.add(text, subject="sue")
        assert store.search(question, min_relevance=0)[0].fact.content == answer
        assert store.search(question, vector_weight=0, min_relevance=0) == []


SHARED = LocalEmbedder()
FIRST_RELEASE: Sequence[float] = [
    -0.0057507,
    0.1216189,
    -0.0025389,
    -0.0574687,
    -0.0685498,
    -0.0550370,
]
