"""Damage anywhere in a file leads to a correct answer, an error, or a finding."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.support.raw import raw

import memstore
from memstore import StorageError, Store

OpenStore = Callable[..., Store]

COPIES = 300


@pytest.fixture
def healthy(path: Path, open_store: OpenStore) -> Path:
    """A file with facts, a chain, an episode, vectors and a history."""
    with open_store() as store:
        store.add_many(
            {"content": f"fact {n} of the {n % 7} kind", "subject": f"s{n % 5}"} for n in range(60)
        )
        store.add("fact 1 corrected", subject="s1", supersedes=2)
        store.delete(7)
        store.episodes.record("what was said once, and is long enough to be embedded")
        store.file.embed_pending()
        assert store.file.doctor(deep=True) == []
    return path


def answers(store: Store) -> list[Any]:
    """Return the answers that a user gets from a file."""
    facts = store.list(active_only=False, include_deleted=True)
    return [
        [(f.id, f.content, f.subject, f.category, f.metadata, f.status) for f in facts],
        [f.id for f in store.history(2)],
        [line[:9] for id_ in (2, 7, 30) for line in store.ledger.journal(id_)],
        [e.content for e in store.episodes.list()],
        [(h.fact.id, round(h.vector_score or 0, 5)) for h in store.search("fact 9", touch=False)],
    ]


def flipped(healthy: bytes, chance: random.Random) -> bytes:
    damaged = bytearray(healthy)
    for place in chance.sample(range(100, len(damaged)), chance.choice((1, 2, 8))):
        damaged[place] ^= 1 << chance.randrange(8)
    return bytes(damaged)


def test_a_corrupted_vector_is_found_and_repaired(healthy: Path, open_store: OpenStore) -> None:
    with raw(healthy) as file:
        [(blob,)] = file.execute("SELECT embedding FROM memstore_fact_vectors WHERE fact_id = 5")
        other = bytearray(blob)
        other[2] ^= 0x10
        file.execute(
            "UPDATE memstore_fact_vectors SET embedding = ? WHERE fact_id = 5", (bytes(other),)
        )
        file.commit()
    store = open_store()
    [finding] = store.file.doctor()
    assert (finding.check, finding.repairable) == ("embeddings", True)
    assert "5 (not what was stored)" in finding.message
    store.file.rebuild()
    store.file.embed_pending()
    assert store.file.doctor(deep=True) == []


def test_swapped_vectors_are_found(healthy: Path, open_store: OpenStore) -> None:
    with raw(healthy) as file:
        file.execute("""
            UPDATE memstore_fact_vectors SET (embedding, checksum) = (
                SELECT embedding, checksum FROM memstore_fact_vectors WHERE fact_id = 6)
            WHERE fact_id = 5""")
        file.commit()
    [finding] = open_store().file.doctor()
    assert "5 (not what was stored)" in finding.message


def test_a_changed_line_of_the_journal_is_found(healthy: Path, open_store: OpenStore) -> None:
    with raw(healthy) as file:
        made = "SELECT sql FROM sqlite_master WHERE name = 'memstore_journal_fixed'"
        [(trigger,)] = file.execute(made).fetchall()
        file.execute("DROP TRIGGER memstore_journal_fixed")
        file.execute("UPDATE memstore_journal SET actor = 'forged' WHERE id = 3")
        file.execute(trigger)
        file.commit()
    store = open_store()
    assert store.file.doctor() == []
    [finding] = store.file.doctor(deep=True)
    assert (finding.check, finding.repairable) == ("journal", False)
    assert finding.message == "the journal: line 3 does not follow from the line before it"


def test_an_erased_fact_leaves_no_damage(healthy: Path, open_store: OpenStore) -> None:
    store = open_store()
    store.erase(4)
    store.episodes.erase(1)
    assert store.file.doctor(deep=True) == []


@pytest.mark.slow
def test_flipped_bytes_never_give_wrong_answers_undetected(
    healthy: Path, open_store: OpenStore, embedder: Any, tmp_path: Path
) -> None:
    with open_store() as store:
        right = answers(store)
    original = healthy.read_bytes()
    chance = random.Random(20260301)
    unnoticed: list[str] = []
    for number in range(COPIES):
        copy = tmp_path / "copy.db"
        copy.write_bytes(flipped(original, chance))
        try:
            with memstore.open(copy, embedder=embedder) as store:
                if store.file.doctor(deep=True):
                    continue
                if (got := answers(store)) != right:
                    wrong = [(a, b) for a, b in zip(got, right, strict=True) if a != b]
                    unnoticed.append(f"{number}: {wrong[0]}"[:400])
        except StorageError:
            continue
        finally:
            for left in tmp_path.glob("copy.db*"):
                left.unlink()
    assert unnoticed == []
