"""Facts that no search finds: kept, listed, exported, and larger than others."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.support.embedders import WordEmbedder

from memstore import InvalidArgument, Store
from memstore.domain.arguments import MAX_UNSEARCHED

FILE = "the zeppelin of file contents"


@pytest.mark.parametrize("ranking", ["contextual", "classic"])
def test_no_search_finds_it_but_lists_do(store: Store, ranking: str) -> None:
    kept = store.add(FILE, subject="zeppelin", unsearched=True, external_key="/f")
    store.add("zeppelins float", subject="airship")
    for query in ("zeppelin file contents", FILE, "zeppelin", "…"):
        found = [hit.fact.id for hit in store.search(query, ranking=ranking, limit=50)]
        assert kept.id not in found
    assert kept in store.list()
    assert store.count() == 2
    assert store.keys.get("/f") == kept
    assert (kept.unsearched, kept.embedded) == (True, False)
    assert store.list(filters={"a": 1}) == []
    assert store.counts().pending == 0
    assert store.file.embed_pending().embedded == 0
    assert store.file.doctor() == []


def test_a_rebuilt_index_has_no_words_of_it(store: Store) -> None:
    kept = store.add(FILE, subject="zeppelin", unsearched=True)
    store.add("zeppelins float", subject="airship")
    store.file.rebuild()
    assert kept.id not in [hit.fact.id for hit in store.search("zeppelin contents")]
    other = WordEmbedder()
    other.model = "another"
    store.file.reembed(other)
    assert store.counts().pending == 0
    store.erase(kept.id)
    assert store.file.doctor() == []


def test_it_stays_unsearched_when_imported_and_restored(
    store: Store, open_store: Callable[..., Store], tmp_path: Path
) -> None:
    first = store.add(FILE, subject="f", unsearched=True)
    store.add("other words", subject="f", supersedes=first.id)
    assert store.get(store.restore(first.id).id).unsearched
    other = open_store(tmp_path / "other.db")
    other.transfer.import_([*store.transfer.export()])
    assert [fact.unsearched for fact in other.list(active_only=False)] == [True, None, True]
    assert [hit.fact.content for hit in other.search("zeppelin")] == []
    assert other.ledger.verify() == []


def test_it_may_be_larger_than_others(store: Store) -> None:
    text = "x" * 1_100_000
    with pytest.raises(InvalidArgument, match="1,000,000"):
        store.add(text, subject="f")
    with pytest.raises(InvalidArgument, match="over the limit of 65,536"):
        store.add("f", subject="f", metadata={"value": text})
    kept = store.add(text, subject="f", unsearched=True, metadata={"value": text})
    assert store.get(kept.id) == kept
    assert store.update_metadata(kept.id, {"more": "y" * 70_000}).metadata["value"] == text
    with pytest.raises(InvalidArgument, match="16,777,216"):
        store.add("x" * (MAX_UNSEARCHED + 1), subject="f", unsearched=True)


def test_expiry_is_changed_and_undone(store: Store) -> None:
    fact = store.add("one", subject="s")
    line = store.file.head().line
    expired = store.set_expiry(fact.id, "2001-01-01T00:00:00Z")
    assert expired.status == "expired"
    assert store.list() == []
    assert store.as_of(f"op:{line}").list()[0].id == fact.id
    assert store.as_of(f"op:{line}").search("one")[0].fact.expired_at is None
    assert store.set_expiry(fact.id, "2001-01-01T00:00:00Z") == expired
    store.ledger.revert(acts=[store.ledger.log(limit=1)[0].line]).apply()
    assert store.list() == [fact]
    with pytest.raises(InvalidArgument, match="expired_at"):
        store.set_expiry(store.add("two", subject="s", valid_at="2020-01-01").id, "2019-01-01")
    assert store.ledger.verify() == []
