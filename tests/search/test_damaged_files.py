"""Index files that change while they are mapped: no answer is wrong, and no process ends."""

from __future__ import annotations

import logging
import os
import random
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.conftest import WordEmbedder
from tests.search.test_index import compare, files_of, filled, index_of, is_mapped, saved_at_once
from tests.support.clock import ManualClock

import memstore
from memstore import Store
from memstore._kernel import PanicException
from memstore.search.index import index as module
from memstore.search.lookups.indexed import IndexLookup

__all__ = ["filled", "saved_at_once"]  # fixtures

QUERIES = ["tea number5", "a violin in the morning", "harbour", "rain"]
PARTS = ["columns", "words", "features", "codes"]


@pytest.fixture
def mapped(filled: Store) -> Store:
    """A store that uses its files, as every process does that starts after they were written."""
    filled.search("tea")
    assert is_mapped(filled)
    return filled


def file_of(store: Store, part: str) -> Path:
    [file] = [file for file in files_of(store) if file.suffix == f".{part}"]
    return file


def scramble(file: Path) -> None:
    chance = random.Random(7)
    with file.open("r+b") as opened:
        for _ in range(400):
            opened.seek(chance.randrange(100, file.stat().st_size))
            opened.write(chance.randbytes(1))


def clear(file: Path) -> None:
    with file.open("r+b") as opened:
        opened.seek(file.stat().st_size // 2)
        opened.write(bytes(file.stat().st_size // 2))


DAMAGE: dict[str, Callable[[Path], object]] = {
    "scrambled": scramble,
    "cleared": clear,
    "emptied": lambda file: os.truncate(file, 0),
    "halved": lambda file: os.truncate(file, file.stat().st_size // 2),
}


def answers(store: Store, ranking: str = "classic") -> list[list[tuple[int, str]]]:
    """The facts found; the classic ranking is the same without an index."""
    asked = (store.search(query, touch=False, ranking=ranking) for query in QUERIES)
    return [[(hit.fact.id, hit.fact.content) for hit in hits] for hits in asked]


def damage_unseen(file: Path) -> None:
    """Change bytes as a failing disk does: without another time."""
    before = file.stat()
    scramble(file)
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))


@pytest.mark.skipif(os.name == "nt", reason="Windows keeps others from changing a mapped file")
@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("damage", DAMAGE)
def test_answers_stay_right_after_damage_in_place(
    mapped: Store, damage: str, part: str, caplog: pytest.LogCaptureFixture
) -> None:
    before, old, ranked = answers(mapped), files_of(mapped), answers(mapped, "contextual")
    found = mapped.episodes.search("tea")[0].episode.id
    DAMAGE[damage](file_of(mapped, part))
    with caplog.at_level(logging.WARNING):
        assert answers(mapped) == before
        mapped.file.save_index()
        assert answers(mapped) == before
        mapped.file.save_index()
    assert [record.name for record in caplog.records] == [module.__name__], "told once"
    assert mapped.episodes.search("tea")[0].episode.id == found
    assert is_mapped(mapped)
    assert not {*old} & {*files_of(mapped)}, "written anew"
    assert answers(mapped, "contextual") == ranked
    assert mapped.file.doctor() == []
    compare(mapped, "tea rain")


@pytest.mark.parametrize("part", PARTS)
def test_doctor_finds_damage_that_shows_no_time(mapped: Store, part: str) -> None:
    before = answers(mapped)
    damage_unseen(file_of(mapped, part))
    [finding] = mapped.file.doctor()
    assert (finding.check, finding.repairable) == ("index", True)
    assert answers(mapped) == before
    mapped.file.save_index()
    assert mapped.file.doctor() == []


def test_doctor_of_another_process_finds_damage_and_repairs_it(mapped: Store) -> None:
    path, file = mapped.path, file_of(mapped, "words")
    mapped.close()
    damage_unseen(file)
    with memstore.open(path, embedder=None) as store:
        assert [finding.check for finding in store.file.doctor()] == ["index"]
        assert "removed the damaged index of facts" in store.file.rebuild()
        assert not file.exists()
        assert store.file.doctor() == []


def test_long_lived_process_compares_its_files(mapped: Store, manual_clock: ManualClock) -> None:
    with memstore.open(mapped.path, embedder=WordEmbedder()) as store:
        before = answers(store)
        assert is_mapped(store)
        old = file_of(store, "features")
        damage_unseen(old)
        manual_clock.advance(module.COMPARED_EVERY_SECONDS + 1)
        store.search("tea")  # starts the comparison
        store.file.save_index()
        assert answers(store) == before
        store.file.save_index()
        assert file_of(store, "features") != old


def test_damaged_files_are_not_copied_into_new_ones(mapped: Store) -> None:
    damage_unseen(file_of(mapped, "words"))
    mapped.add("a lighthouse", subject="x")
    mapped.file.embed_pending()
    index_of(mapped)._current.loose += 10_000  # type: ignore[union-attr]
    mapped.search("lighthouse")
    mapped.file.save_index()
    mapped.search("lighthouse")
    mapped.file.save_index()
    compare(mapped, "tea rain")
    assert mapped.file.doctor() == []


def test_panic_in_the_kernel_is_answered_from_the_file(
    mapped: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    def panic(*_: object) -> None:
        raise PanicException("index out of bounds")

    monkeypatch.setattr(IndexLookup, "words", panic)
    for _ in range(3):
        assert mapped.search("number7", ranking="classic")[0].fact.content.endswith("number7")
        mapped.file.save_index()


def test_panic_while_following_changes_is_answered_from_the_file(
    mapped: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    def panic(*_: object, **__: object) -> None:
        raise PanicException("index out of bounds")

    new = mapped.add("a lighthouse", subject="x")
    with monkeypatch.context() as patch:
        patch.setattr("memstore.search.index.contents.FeedContents.follow", panic)
        assert mapped.search("lighthouse")[0].fact.id == new.id
    mapped.file.save_index()
    compare(mapped, "lighthouse")


@pytest.mark.parametrize("part", PARTS)
def test_sparse_file_is_not_read(mapped: Store, part: str) -> None:
    path, file = mapped.path, file_of(mapped, part)
    before = answers(mapped)
    mapped.close()
    os.truncate(file, 1 << 40)  # an hour, if all of it were read
    with memstore.open(path, embedder=WordEmbedder()) as store:
        assert answers(store) == before
        store.file.save_index()
        assert is_mapped(store)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes with names are those of POSIX")
@pytest.mark.parametrize("part", PARTS)
def test_pipe_in_the_place_of_a_file_blocks_nothing(mapped: Store, part: str) -> None:
    path, file = mapped.path, file_of(mapped, part)
    before = answers(mapped)
    mapped.close()
    file.unlink()
    os.mkfifo(file)
    with memstore.open(path, embedder=WordEmbedder()) as store:
        assert answers(store) == before
        store.file.save_index()
        assert is_mapped(store)
