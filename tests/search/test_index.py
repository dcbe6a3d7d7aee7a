"""The index gives the same results as SQLite, after any change by any program."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.support.embedders import WordEmbedder
from tests.support.examples import examples
from tests.support.raw import raw

import memstore
from memstore import EpisodeHits, NewEpisode, SearchHits, Store
from memstore.search.index import index as module
from memstore.search.index.index import Index

WORDS = ["tea", "rain", "harbour", "violin", "morning", "東京", "running", "runs"]
texts = st.lists(st.sampled_from(WORDS), min_size=1, max_size=5).map(" ".join)
owners = st.sampled_from([{}, {}, {"user_id": "ana"}])
QUERIES = ["tea rain", "a violin in the morning", "東京", "->", "run"]


@pytest.fixture(autouse=True)
def saved_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files are written even for a few rows."""
    monkeypatch.setattr(module, "SAVED_FROM", 1)


def without_index(store: Store, search: Callable[[], Any]) -> Any:
    """The results of a search without the index."""
    store.file.save_index()  # no more background work
    indexes = [store.file.searches.facts.index, store.file.searches.episodes.index]
    held = [(index._current, index._unfit) for index in indexes]
    for index in indexes:
        index._current, index._unfit = None, True
    try:
        return search()
    finally:
        for index, (contents, unfit) in zip(indexes, held, strict=True):
            index._current, index._unfit = contents, unfit


def compare(store: Store, query: str, **asked: Any) -> None:
    def facts() -> SearchHits:
        return store.search(query, touch=False, ranking="classic", **asked)

    def episodes() -> EpisodeHits:
        return store.episodes.search(query, ranking="classic")

    for search in (facts, episodes):
        found, expected = search(), without_index(store, search)
        assert shown(found) == pytest.approx(shown(expected), abs=1e-5), (query, asked)


def shown(hits: Any) -> dict[int, float]:
    return {getattr(hit, "fact", getattr(hit, "episode", None)).id: hit.score for hit in hits}


def act(store: Store, data: st.DataObject) -> None:
    """Change something, through the library or with plain SQL."""
    what = data.draw(
        st.sampled_from(
            [
                "add",
                "add",
                "pending",
                "supersede",
                "delete",
                "restore",
                "erase",
                "expire",
                "metadata",
                "episode",
                "erase episode",
                "plain",
                "save",
            ]
        )
    )
    held = [fact.id for fact in store.list()]
    one = data.draw(st.sampled_from(held)) if held else None
    content = data.draw(texts)
    match what:
        case "add":
            store.add(content, subject=data.draw(texts), **data.draw(owners))
        case "pending":
            store.file.embed_pending()
        case "supersede" if one:
            store.supersede(one, store.add(content, subject="x").id, any_subject=True)
        case "delete" if one:
            store.delete(one)
        case "erase" if one:
            store.erase(one)
        case "metadata" if one:
            store.update_metadata(one, {"n": data.draw(st.integers(0, 2))})
        case "restore":
            for fact in store.list(include_deleted=True):
                if fact.status == "deleted":
                    store.restore(fact.id)
        case "episode":
            store.episodes.add(content * data.draw(st.integers(1, 200)), source="s")
        case "erase episode":
            for episode in store.episodes.list(limit=1):
                store.episodes.erase(episode.id)
        case "expire" | "plain" if one:
            with raw(store.path) as file:
                column, value = ("expired_at", "2020") if what == "expire" else ("content", content)
                file.execute(f"UPDATE memstore_facts SET {column} = ? WHERE id = ?", (value, one))
                file.commit()
        case "save":
            for search in (store.file.searches.facts, store.file.searches.episodes):
                with search.index.reading():
                    pass
                search.index.save()


@settings(deadline=None, max_examples=examples(40), suppress_health_check=[HealthCheck.too_slow,
          HealthCheck.function_scoped_fixture])  # fmt: skip
@given(data=st.data(), steps=st.integers(1, 12))
def test_search_equals_an_exhaustive_computation(
    data: st.DataObject, steps: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("index") / "memory.db"
    with memstore.open(path, embedder=WordEmbedder()) as store:
        for _ in range(steps):
            act(store, data)
            if data.draw(st.booleans()):
                query = data.draw(st.sampled_from(QUERIES))
                asked = data.draw(
                    st.sampled_from(
                        [{}, {"filters": {"n": 1}}, {"active_only": False}, {"subject": "tea"}]
                    )
                )
                compare(store, query, **asked)
    with memstore.open(path, embedder=WordEmbedder(), read_only=True) as store:
        compare(store, QUERIES[0])


# -- files ---------------------------------------------------------------------------------------


@pytest.fixture
def filled(open_store: Callable[..., Store]) -> Store:
    """A store whose index is in files."""
    store = open_store(embedder=WordEmbedder())
    for n in range(40):
        store.add(f"{WORDS[n % 5]} {WORDS[n % 7]} number{n}", subject=f"s{n % 3}")
    store.episodes.add("tea at the harbour", source="s")
    store.file.embed_pending()
    store.search("tea")
    store.file.save_index()
    assert files_of(store)
    return store


def files_of(store: Store) -> list[Path]:
    return sorted(Path(store.path).parent.glob("*.facts-*"))


def index_of(store: Store) -> Index:
    return store.file.searches.facts.index


def reopened(store: Store, **options: Any) -> Store:
    store.close()
    return memstore.open(store.path, embedder=WordEmbedder(), **options)


def is_mapped(store: Store) -> bool:
    held = index_of(store)._current
    return held is not None and held.identity is not None


def test_files_are_private_and_named_after_the_database(filled: Store) -> None:
    files = files_of(filled)
    assert {file.suffix for file in files} == {".columns", ".words", ".features", ".codes"}
    assert all(file.name.startswith(f"{Path(filled.path).name}.facts-") for file in files)
    if os.name == "posix":
        assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}


def test_next_process_maps_the_files(filled: Store) -> None:
    before = files_of(filled)
    with reopened(filled) as store:
        assert store.search("tea number5")[0].fact.content.endswith("number5")
        assert is_mapped(store)
        compare(store, "tea rain")
    assert files_of(filled) == before


DAMAGE: dict[str, Callable[[Path], object]] = {
    "truncated": lambda file: file.write_bytes(file.read_bytes()[:-20]),
    "empty": lambda file: file.write_bytes(b""),
    "flipped": lambda file: file.write_bytes(
        file.read_bytes()[:-9] + bytes([file.read_bytes()[-9] ^ 1]) + file.read_bytes()[-8:]
    ),
    "gone": lambda file: file.unlink(),
    "garbage": lambda file: file.write_bytes(b"x" * 5000),
}


@pytest.mark.parametrize("part", ["columns", "words", "features", "codes"])
@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_file_is_rebuilt(filled: Store, damage: str, part: str) -> None:
    filled.close()
    [file] = [file for file in files_of(filled) if file.suffix == f".{part}"]
    whole = file.stat().st_size
    DAMAGE[damage](file)
    with reopened(filled) as store:
        compare(store, "tea rain")
        assert store.search("number7")[0].fact.content.endswith("number7")
        store.file.save_index()
        assert is_mapped(store)
        [again] = [file for file in files_of(store) if file.suffix == f".{part}"]
        assert again.stat().st_size >= whole // 2
        assert again != file


def test_files_of_another_database_are_not_used(filled: Store, tmp_path: Path) -> None:
    other = memstore.open(tmp_path / "other.db", embedder=WordEmbedder())
    for n in range(40):
        other.add(f"violin {n}", subject="x")
    other.search("violin")
    other.file.save_index()
    theirs = {file.suffix: file for file in files_of(other) if "other.db" in file.name}
    other.close()
    filled.close()
    for file in files_of(filled):
        if "other.db" not in file.name:
            shutil.copyfile(theirs[file.suffix], file)
    with reopened(filled) as store:
        compare(store, "tea rain")
        assert not [hit for hit in store.search("violin 7") if hit.fact.content == "violin 7"]


def test_stale_files_are_caught_up(filled: Store) -> None:
    filled.close()
    copies = {file: file.read_bytes() for file in files_of(filled)}
    with reopened(filled) as store:
        new = store.add("a lighthouse", subject="x")
        store.delete(1)
    for file, content in copies.items():
        file.write_bytes(content)
    with reopened(filled) as store:
        assert store.search("lighthouse")[0].fact.id == new.id
        compare(store, "tea rain")


def test_vectors_that_come_later_are_written_too(filled: Store) -> None:
    filled.episodes.add_many(
        NewEpisode(content=f"rain {n} at the harbour", source="s") for n in range(200)
    )
    filled.episodes.search("rain")
    filled.file.save_index()
    with reopened(filled) as store:
        store.episodes.search("rain")
        assert store.file.embed_pending().pieces == 200
        store.episodes.search("rain")
        store.file.save_index()
    [file] = Path(filled.path).parent.glob("*.episodes-*.codes")
    assert file.stat().st_size > 200 * len(WordEmbedder().embed(["rain"])[0])


def test_files_older_than_the_feed_are_not_used(filled: Store) -> None:
    filled.add("a lighthouse", subject="x")
    filled.close()
    with raw(filled.path) as file:
        file.execute("DELETE FROM memstore_fact_changes WHERE seq < (SELECT max(seq) FROM"
                     " memstore_fact_changes)")  # fmt: skip
        file.commit()
    with reopened(filled) as store:
        assert store.search("lighthouse")
        compare(store, "tea rain")


def test_restored_backup_does_not_use_newer_derived_files(filled: Store, tmp_path: Path) -> None:
    backup = tmp_path / "backup.db"
    filled.file.backup(backup)
    for n in range(60):
        filled.add(f"later {n}", subject="x")
    filled.search("later")
    index_of(filled).save()
    filled.close()
    memstore.recover(backup, filled.path)
    with reopened(filled) as store:
        for n in range(60):
            store.add(f"otherwise {n}", subject="x")
        assert not [hit for hit in store.search("later 7") if "later" in hit.fact.content]
        compare(store, "otherwise 7")
    assert not list(tmp_path.glob("backup.db.*"))


def test_process_uses_files_written_by_another(filled: Store) -> None:
    with memstore.open(filled.path, embedder=WordEmbedder()) as other:
        other.search("tea")
        before = index_of(other)._current
        filled.erase(1)
        filled.search("tea")
        compare(other, "tea rain")
        after = index_of(other)._current
        assert before is not None
        assert after is not None
        assert after.identity not in (before.identity, None)


def test_only_one_set_of_files_is_kept(filled: Store) -> None:
    for n in range(3):
        filled.add(f"more {n}", subject="x")
        filled.search("more")
        index_of(filled).save()
    assert len(files_of(filled)) == 4


def test_switching_models_creates_new_files(filled: Store) -> None:
    class Other(WordEmbedder):
        model = "words-other"

        def embed(self, texts: Any) -> Any:
            return -super().embed(texts)

    filled.file.reembed(Other())
    compare(filled, "tea rain")
    filled.file.save_index()
    filled.close()
    with memstore.open(filled.path, embedder=Other()) as store:
        compare(store, "tea rain")


@pytest.mark.parametrize("mapped_elsewhere", [False, True])
def test_erasing_leaves_no_file_with_the_text_or_the_vector(
    filled: Store, mapped_elsewhere: bool
) -> None:
    fact = filled.add("a xylophagous beetle", subject="xyloteria", category="xylocat")
    told = filled.episodes.add("they said xylophagous", source="xylosource")
    filled.file.embed_pending()
    filled.search("xylophagous")
    filled.episodes.search("xylophagous")
    for search in (filled.file.searches.facts, filled.file.searches.episodes):
        search.index.save()
    vector = WordEmbedder().embed(["xyloteria: a xylophagous beetle"])
    assert vector.dtype == np.float32
    if mapped_elsewhere:
        filled = reopened(filled)  # it has not searched yet, and the files contain the text
    filled.file.save_index()  # nothing is written in the background any more
    assert holders(filled, b"xylo")
    assert filled.erase(fact.id)
    assert filled.episodes.erase(told.id)
    assert not holders(filled, b"xylo")
    compare(filled, "tea rain")
    filled.close()


def holders(store: Store, text: bytes) -> list[str]:
    found = []
    for file in Path(store.path).parent.iterdir():
        with suppress(FileNotFoundError):  # replaced in the background
            if text in file.read_bytes():
                found.append(file.name)
    return found


def test_clearing_a_namespace_leaves_no_file_with_its_text(filled: Store) -> None:
    assert holders(filled, b"harbour")
    assert filled.clear()
    assert not holders(filled, b"harbour")


def test_a_store_in_memory_and_a_read_only_one_write_no_files(filled: Store) -> None:
    filled.close()
    for file in files_of(filled):
        file.unlink()
    with reopened(filled, read_only=True) as store:
        compare(store, "tea rain")
        store.file.save_index()
        assert not files_of(store)
    with memstore.open(":memory:", embedder=WordEmbedder()) as store:
        store.add("tea", subject="x")
        assert store.search("tea")
        store.file.save_index()
        assert index_of(store)._current is not None


def test_unwritable_folder_does_not_affect_answers(
    filled: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    filled.close()
    for file in files_of(filled):
        file.unlink()

    def refuse(*_: object) -> None:
        raise PermissionError("read-only")

    monkeypatch.setattr("memstore.search.index.contents.FeedContents.save", refuse)
    with reopened(filled) as store:
        for _ in range(3):
            compare(store, "tea rain")
            store.file.save_index()
        assert not files_of(store)


def test_sparse_ids_are_searched_by_sqlite(filled: Store) -> None:
    filled.close()
    with raw(filled.path) as file:
        file.execute("UPDATE sqlite_sequence SET seq = 50000000 WHERE name = 'memstore_facts'")
        file.commit()
    with reopened(filled) as store:
        new = store.add("a lighthouse", subject="x")
        assert new.id > 50_000_000
        assert store.search("lighthouse")[0].fact.id == new.id
        compare(store, "tea rain")


def test_many_rows_are_indexed_in_the_background(
    filled: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    filled.close()
    for file in files_of(filled):
        file.unlink()
    monkeypatch.setattr(module, "AT_ONCE", 10)
    with reopened(filled) as store:
        assert store.search("number7")[0].fact.content.endswith("number7")
        store.file.save_index()
        assert index_of(store)._current is not None
        compare(store, "tea rain")
        for n in range(30):  # more changes than a search applies itself
            store.add(f"late {n}", subject="x")
        compare(store, "late 7")
