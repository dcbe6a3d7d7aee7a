"""Erased text is in no index file, whoever writes one at the same time."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import WordEmbedder
from tests.search.test_index import files_of, filled, holders, index_of, saved_at_once

import memstore
from memstore import Store
from memstore.database.writes import Delete
from memstore.search.index.contents import FeedContents

__all__ = ["filled", "saved_at_once"]  # fixtures

SECRET = "xylophagous"


@pytest.fixture
def other(filled: Store) -> Store:
    """Another store of the file, as a second process opens it."""
    store = memstore.open(filled.path, embedder=WordEmbedder())
    store.search("tea")
    return store


def during_save(
    monkeypatch: pytest.MonkeyPatch, act: Callable[[], object], *, before: bool
) -> None:
    """Do something once, before or after a process has written its files."""
    write, left = FeedContents.save, [act]

    def save(contents: FeedContents, *arguments: Any) -> None:
        if before and left:
            left.pop()()
        write(contents, *arguments)
        if left:
            left.pop()()

    monkeypatch.setattr(FeedContents, "save", save)


@pytest.mark.parametrize("before", [False, True])
@pytest.mark.parametrize("recorded", [False, True])
def test_erasing_while_another_process_writes_its_files(
    filled: Store, other: Store, monkeypatch: pytest.MonkeyPatch, *, before: bool, recorded: bool
) -> None:
    fact = filled.add(f"a {SECRET} beetle", subject="x")
    if not recorded:  # the first index of the file is being written
        with filled.file.engine.write() as transaction:
            transaction.run(Delete("memstore_derived_files"))
        for file in files_of(filled):
            file.unlink()
    erased: list[bool] = []
    during_save(monkeypatch, lambda: erased.append(other.erase(fact.id)), before=before)
    index = index_of(filled)
    filled.search(SECRET)
    index._current.identity = None  # type: ignore[union-attr]
    try:
        index.save()
    except OSError:  # the files were taken away
        assert before
    assert erased == [True]
    assert not holders(filled, SECRET.encode())
    filled.file.save_index()
    other.file.save_index()
    assert not holders(filled, SECRET.encode())
    assert not filled.search(SECRET, vector_weight=0)


def test_erasing_removes_what_a_killed_process_left(filled: Store, other: Store) -> None:
    fact = filled.add(f"a {SECRET} beetle", subject="x")
    filled.search(SECRET)
    held, files = index_of(filled)._current, index_of(filled)._files
    assert held is not None
    assert files is not None
    files.claim("0" * 32, held.parts)
    held.save(files, "0" * 32)  # and killed before it could record them
    assert holders(filled, SECRET.encode())
    assert other.erase(fact.id)
    assert not holders(filled, SECRET.encode())
    assert len(files_of(filled)) in (0, 4)


def test_both_of_two_processes_erase_at_once(filled: Store, other: Store) -> None:
    words = []
    for n in range(6):
        for store in (filled, other):
            fact = store.add(f"the word {SECRET}{n}", subject="x")
            store.search("word")
            words.append((store, fact.id))
        for store, fact_id in words[-2:]:
            assert store.erase(fact_id)
        assert not holders(filled, SECRET.encode())


def test_files_of_a_state_before_an_erasure_are_not_recorded(filled: Store, other: Store) -> None:
    fact = filled.add(f"a {SECRET} beetle", subject="x")
    other.search(SECRET)
    old = index_of(other)._current
    assert filled.erase(fact.id)
    index_of(other)._current = old
    files = index_of(other)._files
    assert files is not None
    index_of(other)._write(files)
    assert not holders(filled, SECRET.encode())
    index_of(other).save()
    assert index_of(other)._current is not old
    assert not holders(filled, SECRET.encode())


def test_an_import_that_erases_leaves_no_text_in_the_files(filled: Store, tmp_path: Path) -> None:
    with memstore.open(tmp_path / "source.db", embedder=None) as source:
        fact = source.add(f"a {SECRET} beetle", subject="x")
        filled.transfer.import_([*source.file.export()])
        filled.search(SECRET)
        index_of(filled)._current.identity = None  # type: ignore[union-attr]
        index_of(filled).save()
        assert holders(filled, SECRET.encode())
        source.erase(fact.id)
        filled.transfer.import_([*source.file.export()])
    filled.file.save_index()
    indexes = [name for name in holders(filled, SECRET.encode()) if ".facts-" in name]
    assert not indexes


def test_files_that_no_record_names_are_removed_by_the_next_save(filled: Store) -> None:
    files = index_of(filled)._files
    assert files is not None
    files.claim("0" * 32, ["words"])
    filled.add("more", subject="x")
    filled.search("more")
    index_of(filled).save()
    assert len(files_of(filled)) == 4


def test_files_of_such_names_that_are_no_index_files_stay(filled: Store) -> None:
    fact = filled.add(f"a {SECRET} beetle", subject="x")
    filled.file.save_index()
    own = {file.name for file in files_of(filled)}
    stem = f"{filled.path}.facts-{'0123456789abcdef' * 2}"
    foreign = {Path(f"{stem}.words"): b"a diary", Path(f"{stem}.codes-7.part"): b"another"}
    for file, text in foreign.items():
        file.write_bytes(text)
    linked = Path(f"{stem}.columns")
    linked.symlink_to(filled.path)
    left = Path(f"{filled.path}.facts-{'f' * 32}.words")
    left.write_bytes(b"memstore" + SECRET.encode())
    damaged = Path(f"{filled.path}.facts-{'e' * 32}.words")
    damaged.write_bytes(b"dumaged!" + bytes(24) + b"\xee" * 16 + SECRET.encode())
    assert filled.erase(fact.id)
    filled.file.save_index()
    assert {file: file.read_bytes() for file in foreign} == foreign
    assert linked.is_symlink()
    assert not left.exists()
    assert not damaged.exists()
    assert not holders(filled, SECRET.encode())
    assert own.isdisjoint(file.name for file in files_of(filled))
