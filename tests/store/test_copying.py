"""A memory copied from a file to a server and back has every row, vector and line it had."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.support.embedders import WordEmbedder

import memstore
from memstore import Conflict, StorageError, Store
from memstore.database import carrying
from memstore.store.copying import copy

pytestmark = pytest.mark.process


def fill(store: Store) -> None:
    """Store something in nearly every table."""
    old = store.add("The quay is closed", subject="quay", metadata={"n": 1.5, "ok": True})
    store.add("The quay is open", subject="quay", supersedes=old.id)
    store.episodes.add("We met at the quay. It rained.", source="web:a.org", tags=["a", "b"])
    store.within("notes").add("ours", subject="s", user_id="ana")
    gone = store.add("erased words", subject="gone")
    store.erase(gone.id)
    store.tasks.create("paint the boat")
    store.sources.distrust("web:a.org")
    store.file.tokens.create("t", namespace="notes", access="read")
    store.graph.build()


def test_a_file_goes_to_a_server_and_back(tmp_path: Path, url: str) -> None:
    embedder = WordEmbedder()
    there, back = tmp_path / "a.db", tmp_path / "b.db"
    with memstore.open(there, embedder=embedder) as store:
        fill(store)
        head = store.file.head()
        found = [hit.fact.uuid for hit in store.search("quay boat", limit=10)]
        store.file.write_use_counts()
        before = list(store.file.export())[1:]
    report = copy(there, url)
    assert report.head == head
    assert (report.facts, report.episodes) == (5, 1)
    with memstore.open(url, embedder=embedder) as store:
        assert store.ledger.verify(head) == []
        assert store.file.doctor(deep=True) == []
        assert [hit.fact.uuid for hit in store.search("quay boat", limit=10)] == found
        store.file.write_use_counts()
        assert len(store.within("notes").of("all").list()) == 1
    assert copy(url, back).head == head
    with memstore.open(back, embedder=embedder) as store:
        assert store.ledger.verify(head) == []
        assert store.file.doctor(deep=True) == []
        assert len(list(store.file.export())[1:]) == len(before)
        newer = store.add("after the journey", subject="s")
        assert newer.id == 6


def test_what_waits_for_a_vector_is_no_vector(tmp_path: Path, url: str) -> None:
    with memstore.open(tmp_path / "a.db", embedder=None) as store:
        store.add("The quay is closed", subject="quay")
        store.episodes.add("We met at the quay.", source="web:a.org")
    assert copy(tmp_path / "a.db", url).vectors == 0
    with memstore.open(tmp_path / "b.db", embedder=WordEmbedder()) as store:
        store.add("The quay is closed", subject="quay")
    assert copy(tmp_path / "b.db", tmp_path / "c.db").vectors == 1


def test_what_is_not_empty_is_not_copied_into(tmp_path: Path, url: str) -> None:
    with memstore.open(tmp_path / "a.db", embedder=None) as store:
        store.add("one", subject="s")
    with memstore.open(url, embedder=None) as store:
        store.add("two", subject="s")
    with pytest.raises(Conflict, match="is not empty"):
        copy(tmp_path / "a.db", url)
    with memstore.open(url, embedder=None) as store:
        assert [fact.content for fact in store.list()] == ["two"]


def test_a_namespace_of_another_memory_is_not_copied_into(tmp_path: Path, url: str) -> None:
    with memstore.open(tmp_path / "a.db", embedder=None) as store:
        store.within("notes").add("one", subject="s")
    with memstore.open(url, namespace="notes", embedder=None) as store:
        store.add("two", subject="s")
    with pytest.raises(Conflict, match="belongs to the memory 'notes'"):
        copy(tmp_path / "a.db", url)
    with memstore.open(url, embedder=None) as store:
        assert store.file.head().line == 0


def test_a_copy_that_differs_is_not_stored(
    tmp_path: Path, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with memstore.open(tmp_path / "a.db", embedder=None) as store:
        store.add("one", subject="s")
    carried = carrying.carry

    def spoiled(source: object, target: object, progress: object) -> dict[str, int]:
        counts = carried(source, target, progress)  # type: ignore[arg-type]
        target.execute("UPDATE memstore_facts SET content = 'other'")  # type: ignore[attr-defined]
        return counts

    monkeypatch.setattr(carrying, "carry", spoiled)
    with pytest.raises(StorageError, match=r"differs from .* in memstore_facts"):
        copy(tmp_path / "a.db", url)
    monkeypatch.undo()
    assert copy(tmp_path / "a.db", url).facts == 1


# -- what came since -------------------------------------------------------------------------------


class Another(WordEmbedder):
    model = "another"


def go_on(store: Store, round_: int) -> None:
    """Change something of nearly everything."""
    facts = store.of("all").list()
    fresh = store.add(f"The quay has lamps {round_}", subject="quay", idempotency_key="k")
    store.add("newest", subject="quay", supersedes=fresh.id, metadata={"r": round_})
    store.erase(fresh.id)  # its key is free again
    store.confirm(facts[0].id)
    store.update_metadata(facts[0].id, {"n": round_})
    store.delete(facts[1].id)
    store.restore(facts[1].id)
    episode = store.episodes.add(f"said in round {round_}", source="web:b.org", tags=["c"])
    store.episodes.add("what stays", source="web:a.org")
    store.episodes.erase(episode.id)
    store.sources.trust("web:a.org") if round_ == 1 else store.sources.distrust("web:b.org")
    store.graph.build()
    store.search("quay")
    store.file.write_use_counts()


@pytest.mark.parametrize("back", [False, True], ids=["to a server", "to a file"])
def test_a_second_run_brings_what_came_since(tmp_path: Path, url: str, back: bool) -> None:
    source, target = (url, str(tmp_path / "a.db")) if back else (str(tmp_path / "a.db"), url)
    with memstore.open(source, embedder=WordEmbedder()) as store:
        fill(store)
        copy(source, target)
        for round_ in (1, 2):
            go_on(store, round_)
            done = copy(source, target)
            assert done.head == store.file.head()
            assert done.changed > 10
            with memstore.open(target, embedder=WordEmbedder()) as copied:
                assert copied.ledger.verify(done.head) == []
                assert copied.file.doctor(deep=True) == []
                assert list(copied.file.export())[1:] == list(store.file.export())[1:]
                assert {hit.fact.uuid for hit in copied.search("newest", touch=False)} == {
                    hit.fact.uuid for hit in store.search("newest", touch=False)
                }
        assert copy(source, target).changed == 0


def test_another_model_comes_along(tmp_path: Path, url: str) -> None:
    source = tmp_path / "a.db"
    with memstore.open(source, embedder=WordEmbedder()) as store:
        store.add("The quay is open", subject="quay")
        copy(source, url)
        store.file.reembed(Another())
        copy(source, url)
        with memstore.open(url, embedder=Another()) as copied:
            assert copied.status().model == "another"
            assert copied.file.doctor(deep=True) == []


def test_a_copy_that_others_wrote_to_is_left_alone(tmp_path: Path, url: str) -> None:
    source = tmp_path / "a.db"
    with memstore.open(source, embedder=None) as store:
        store.add("one", subject="s")
    copy(source, url)
    with memstore.open(url, embedder=None) as store:
        store.add("of others", subject="s")
    with memstore.open(source, embedder=None) as store:
        store.add("two", subject="s")
    with pytest.raises(Conflict, match="no earlier copy to which nobody else wrote"):
        copy(source, url)
    with pytest.raises(Conflict, match="no earlier copy"):
        copy(url, source)
    with memstore.open(url, embedder=None) as store:
        assert {fact.content for fact in store.list()} == {"one", "of others"}


def test_a_run_that_is_interrupted_changes_nothing_and_is_made_again(
    tmp_path: Path, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = tmp_path / "a.db"
    with memstore.open(source, embedder=None) as store:
        store.add("one", subject="s")
    copy(source, url)
    with memstore.open(source, embedder=None) as store:
        store.add("two", subject="s")

    def interrupted(done: int, _: int) -> None:
        if done == len(carrying.TABLES) - 1:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        copy(source, url, progress=interrupted)
    with memstore.open(url, embedder=None) as store:
        assert [fact.content for fact in store.list()] == ["one"]
    assert copy(source, url).facts == 2
