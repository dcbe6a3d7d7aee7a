"""A file has vectors packed; every reader sees their very bits, packed or not."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.support.raw import raw

import memstore
from memstore import Store
from memstore._kernel.vectors import pack, unpack
from memstore.store.copying import copy

Open = Callable[..., Store]

SEED = 7


class Hostile:
    """Vectors whose numbers are of every size; of some, packing them would not be shorter."""

    model = "hostile"

    def __init__(self) -> None:
        self.given: dict[str, bytes] = {}

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        made = np.stack([self._vector(text) for text in texts])
        self.given |= zip(texts, (row.tobytes() for row in made), strict=True)
        return made

    def _vector(self, text: str) -> NDArray[np.float32]:
        chance = np.random.default_rng([SEED, *text.encode()])
        vector = chance.standard_normal(64).astype(np.float32)
        if len(text) % 3 == 0:
            vector *= np.float32(2) ** chance.integers(-120, 120, 64)
        elif len(text) % 3 == 1:
            vector[::2] = chance.choice([0.0, -0.0, 1e-45, 3e38], 32)
        return vector


TEXTS = [f"{'x' * n} is fact {n}" for n in range(1, 40)]


def fill(store: Store) -> None:
    for text in TEXTS[:20]:
        store.add(text, subject="s")
    store.add_many({"content": text, "subject": "s"} for text in TEXTS[20:])
    store.episodes.add("what was said", source="test")
    store.file.embed_pending()


def stored(path: Path) -> list[bytes]:
    with raw(path) as file:
        rows = file.execute("SELECT embedding FROM memstore_fact_vectors ORDER BY fact_id")
        return [blob for (blob,) in rows]


def cosines(store: Store) -> list[tuple[int, float | None]]:
    found = store.search(TEXTS[5], limit=100, min_relevance=0, touch=False)
    return [(hit.fact.id, hit.vector_score) for hit in found]


def test_every_bit_of_what_an_embedder_gave_is_read(path: Path, open_store: Open) -> None:
    embedder = Hostile()
    with open_store(embedder=embedder) as store:
        fill(store)
        assert store.file.doctor(deep=True) == []
    blobs = stored(path)
    assert {unpack(blob) for blob in blobs} <= {*embedder.given.values()}
    assert any(len(blob) % 4 == 1 for blob in blobs)
    assert any(len(blob) == 4 * 64 for blob in blobs)


def test_vectors_that_are_not_packed_are_read_as_before(path: Path, open_store: Open) -> None:
    with open_store(embedder=Hostile()) as store:
        fill(store)
        before = cosines(store)
    with raw(path) as file:
        for table, owner in (("fact", "fact_id"), ("piece", "piece_id")):
            name = f"memstore_{table}_vectors"
            for id_, blob in file.execute(f"SELECT {owner}, embedding FROM {name}").fetchall():
                change = f"UPDATE {name} SET embedding = ? WHERE {owner} = ?"
                file.execute(change, (unpack(blob), id_))
        file.commit()
    with open_store(embedder=Hostile()) as store:
        assert cosines(store) == before
        assert store.file.doctor(deep=True) == []
        store.file.rebuild()
        assert cosines(store) == before
        store.add("another fact, beside those", subject="s")
        assert store.file.doctor(deep=True) == []


@pytest.mark.parametrize("place", [0, 1, 2, 3, 9, -1])
def test_a_damaged_vector_is_found_and_made_again(path: Path, open_store: Open, place: int) -> None:
    with open_store(embedder=memstore.LocalEmbedder()) as store:
        fill(store)
    blob = bytearray(stored(path)[4])
    assert len(blob) % 4 == 1
    blob[place] ^= 0x41
    with raw(path) as file:
        change = "UPDATE memstore_fact_vectors SET embedding = ? WHERE fact_id = 5"
        file.execute(change, (bytes(blob),))
        file.commit()
    with open_store(embedder=memstore.LocalEmbedder()) as store:
        assert len(store.search("fact 5", touch=False)) > 0
        [finding] = store.file.doctor()
        assert finding.check == "embeddings"
        assert "5 (" in finding.message
        store.file.rebuild()
        store.file.embed_pending()
        assert store.file.doctor(deep=True) == []


def test_an_erased_vector_leaves_no_bytes(path: Path, open_store: Open) -> None:
    with open_store(embedder=memstore.LocalEmbedder()) as store:
        fill(store)
        [gone, *_] = stored(path)
        store.erase(1)
    assert gone[40:200] not in path.read_bytes()


@pytest.mark.process
def test_a_copy_on_a_server_and_back_has_the_same_vectors(tmp_path: Path, url: str) -> None:
    there, back = tmp_path / "a.db", tmp_path / "b.db"
    with memstore.open(there, embedder=Hostile()) as store:
        fill(store)
        before = cosines(store)
    assert copy(there, url).vectors == len(TEXTS) + 1
    with memstore.open(url, embedder=Hostile()) as store:
        assert cosines(store) == before
        assert store.file.doctor(deep=True) == []
    copy(url, back)
    assert stored(back) == stored(there)
    with memstore.open(back, embedder=Hostile()) as store:
        assert cosines(store) == before
        assert store.file.doctor(deep=True) == []


def test_packing_is_undone_by_unpacking() -> None:
    chance = np.random.default_rng(SEED)
    for dimension in (0, 1, 7, 8, 9, 256, 384, 1536):
        blob = chance.standard_normal(dimension).astype("<f4").tobytes()
        assert unpack(pack(blob)) == blob
        assert unpack(blob) == blob
