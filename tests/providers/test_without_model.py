"""A build without the built-in model: what it says, and what it does instead.

The rest of its behaviour is that of a store without an embedder; ``rust/kernel`` tests its ranking.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.command_line import CommandLine, cli_fixture  # noqa: F401

import memstore
from memstore.providers import local
from memstore.providers.local import tokens_at_most

COUNTS = Path(__file__).parents[1] / "telling" / "token_counts.json"
CASES = json.loads(COUNTS.read_text("utf-8"))


@pytest.fixture(autouse=True)
def no_model(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local, "HAS_MODEL", False)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[memstore.Store]:
    with memstore.open(tmp_path / "memory.db") as opened:
        yield opened


def test_the_default_searches_by_words_and_says_why(store: memstore.Store) -> None:
    store.add("Alice lives in Lisbon", subject="alice")
    hits = store.search("where does Alice live?")
    assert [hit.fact.content for hit in hits] == ["Alice lives in Lisbon"]
    assert hits.words_only == ("no_model", "this build of memstore has no embedding model")
    assert hits.words_only.reason.remedy is memstore.Remedy.NAME_EMBEDDER
    store.episodes.add("We met in Porto", source="chat")
    assert store.episodes.search("Porto").words_only == hits.words_only


def test_the_built_in_embedder_is_refused_with_the_way_out(tmp_path: Path) -> None:
    for ask in (
        lambda: memstore.open(tmp_path / "memory.db", embedder="local"),
        memstore.LocalEmbedder,
    ):
        with pytest.raises(memstore.InvalidArgument, match="has no embedding model") as caught:
            ask()
        assert str(caught.value).startswith("embedder cannot be 'local': this build of memstore")
        assert caught.value.remedy is memstore.Remedy.NAME_EMBEDDER
    assert not (tmp_path / "memory.db").exists()


def test_facts_are_pending_and_another_embedder_takes_them(
    store: memstore.Store, embedder: Any
) -> None:
    store.add("Alice lives in Lisbon", subject="alice")
    assert store.status().pending == 1
    with pytest.raises(memstore.EmbedderError, match="has no embedding model"):
        store.file.embed_pending()
    with memstore.open(store.path, embedder=embedder) as other:
        assert other.file.embed_pending().embedded == 1


def test_the_command_line_says_it_once_per_search(
    cli: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("MEMSTORE_EMBEDDER")
    cli("add", "Alice lives in Lisbon", "--subject", "alice")
    found = cli("search", "where", "does", "Alice", "live")
    assert "Alice lives in Lisbon" in found.out
    assert found.err.count("searched by words only: this build of memstore has no embedding") == 1
    refused = cli(
        "search",
        "Lisbon",
        "--embedder",
        "local",
    )
    assert "--embedder cannot be 'local': this build of memstore has no embedding" in refused.err
    assert "--embedder, or none for words only" in refused.err


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["what"])
def test_tokens_are_counted_no_lower_than_by_other_tokenizers(case: dict[str, Any]) -> None:
    assert tokens_at_most(case["text"]) >= max(case["tokens"].values())


@given(st.text(), st.text())
def test_a_longer_text_never_counts_less(one: str, other: str) -> None:
    assert tokens_at_most(f"{one}\n{other}") >= tokens_at_most(one)
