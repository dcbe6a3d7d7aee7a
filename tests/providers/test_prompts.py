"""What goes before a question and before a passage, and where it is recorded."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.examples import examples

import memstore
from memstore import OllamaEmbedder, OpenAIEmbedder, Store
from memstore.providers import prompts
from memstore.providers.prompts import NO_PROMPTS, Prompts

Open = Callable[..., Store]


@pytest.mark.parametrize(
    ("model", "query", "passage"),
    [
        ("embeddinggemma", "task: search result | query: ", "title: none | text: "),
        ("embeddinggemma:300m-qat-q8_0", "task: search result | query: ", "title: none | text: "),
        ("google/embeddinggemma-300m", "task: search result | query: ", "title: none | text: "),
        ("nomic-embed-text:v1.5", "search_query: ", "search_document: "),
        ("nomic-ai/nomic-embed-text-v1.5", "search_query: ", "search_document: "),
        ("intfloat/multilingual-e5-small", "query: ", "passage: "),
        ("intfloat/e5-large-v2", "query: ", "passage: "),
        ("BAAI/bge-small-en-v1.5", prompts._SENTENCE, ""),
        ("mixedbread-ai/mxbai-embed-large-v1", prompts._SENTENCE, ""),
        ("mxbai-embed-large", prompts._SENTENCE, ""),
        ("snowflake-arctic-embed2", "query: ", ""),
        ("snowflake-arctic-embed:33m", prompts._SENTENCE, ""),
        ("Snowflake/snowflake-arctic-embed-l-v2.0", "query: ", ""),
        ("qwen3-embedding:0.6b", prompts._INSTRUCTION, ""),
        ("BAAI/bge-m3", "", ""),
        ("all-minilm", "", ""),
        ("text-embedding-3-small", "", ""),
    ],
)
def test_models_get_the_prompts_of_their_cards(model: str, query: str, passage: str) -> None:
    assert prompts.of_model(model) == (query, passage)


@settings(max_examples=examples(200), deadline=None)
@given(model=st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=20),
       query=st.text(max_size=40), passage=st.text(max_size=40))  # fmt: skip
def test_a_recorded_name_says_the_model_and_its_prompts(
    model: str, query: str, passage: str
) -> None:
    told = Prompts(query, passage)
    recorded = told.recorded(model)
    if prompts.split(model)[1] is not None:
        return  # a model that is called like a recorded name
    expected = (model, None) if told == NO_PROMPTS else (model, told)
    assert prompts.split(recorded) == expected


@pytest.mark.parametrize("kind", [OllamaEmbedder, OpenAIEmbedder])
def test_questions_and_passages_are_sent_with_their_own_prompts(server: Any, kind: Any) -> None:
    ollama = kind is OllamaEmbedder
    one = {"embeddings": [[1.0, 2.0]]} if ollama else {"data": [{"index": 0, "embedding": [1, 2]}]}
    server.reply(one)
    embedder = kind("nomic-embed-text", base_url=server.url)
    try:
        embedder.embed(["tea"])
        embedder.embed_queries(["tea?"])
    finally:
        embedder.close()
    sent = [asked.body["input"] for asked in server.asked]
    assert sent == [["search_document: tea"], ["search_query: tea?"]]
    assert {asked.body["model"] for asked in server.asked} == {"nomic-embed-text"}


def test_prompts_that_are_given_win_over_those_known(server: Any) -> None:
    server.reply({"embeddings": [[1.0, 2.0]]})
    embedder = OllamaEmbedder("e5-small", base_url=server.url, query_prompt="", passage_prompt="> ")
    try:
        embedder.embed(["tea"])
        embedder.embed_queries(["tea?"])
    finally:
        embedder.close()
    assert [asked.body["input"] for asked in server.asked] == [["> tea"], ["tea?"]]
    assert embedder.model == 'e5-small [query "", passage "> "]'


def test_a_prompt_that_no_record_can_hold_is_refused() -> None:
    with pytest.raises(ValueError, match=r"query_prompt.*too long"):
        OllamaEmbedder("m", query_prompt="x" * 600)


class Recording:
    """An embedder that tells questions apart, with what it was asked."""

    model = "recording"

    def __init__(self) -> None:
        self.passages: list[str] = []
        self.questions: list[str] = []

    def embed(self, texts: Any) -> Any:
        self.passages += texts
        return [[1.0, 0.5]] * len(texts)

    def embed_queries(self, texts: Any) -> Any:
        self.questions += texts
        return [[0.5, 1.0]] * len(texts)


def test_searches_ask_for_questions_and_writes_for_passages(open_store: Open) -> None:
    embedder = Recording()
    store = open_store(embedder=embedder)
    store.add("tea at noon", subject="ana")
    store.episodes.add("we had tea", source="test")
    store.file.embed_pending()
    assert embedder.questions == []
    embedder.passages.clear()
    store.search("when is tea?")
    store.search_batch(["who had tea?"])
    store.episodes.search("tea?")
    store.recall("what about tea?", max_tokens=200)
    store.remind("tea at what time?")
    assert embedder.passages == []
    assert {"when is tea?", "who had tea?", "tea?", "what about tea?"} <= {*embedder.questions}


def test_other_prompts_are_another_model(open_store: Open) -> None:
    options = {"embedder": "ollama", "model": "m", "base_url": "http://127.0.0.1:1"}
    open_store(**options, query_prompt="q: ").add("tea", subject="ana")
    recorded = 'm [query "q: ", passage ""]'
    with memstore.open(open_store().path, embedder=None) as store:
        assert store.status().model in (None, recorded)


def test_a_file_keeps_the_prompts_that_it_was_begun_with(open_store: Open, embedder: Any) -> None:
    embedder.model = "embeddinggemma"  # as it was recorded before it had prompts
    open_store(embedder=embedder).add("tea", subject="ana")
    options = {"embedder": "ollama", "base_url": "http://127.0.0.1:1"}
    assert open_store(**options).status().embedder == "embeddinggemma"
    with pytest.raises(memstore.EmbedderMismatch, match="embeddinggemma"):
        open_store(**options, query_prompt="q: ")


def test_prompts_belong_to_embedders_that_are_named(open_store: Open, embedder: Any) -> None:
    for one in (embedder, "local", "none"):
        with pytest.raises(ValueError, match="query_prompt"):
            open_store(embedder=one, query_prompt="q: ")
