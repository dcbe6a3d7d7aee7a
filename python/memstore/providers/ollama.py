"""Embeddings and text from models that Ollama runs, on this machine or another one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from memstore.errors import Remedy
from memstore.providers.http import at_least_one
from memstore.providers.http_embedder import HttpEmbedder
from memstore.providers.http_generator import Answering, HttpGenerator

if TYPE_CHECKING:
    from collections.abc import Mapping


class OllamaEmbedder(HttpEmbedder):
    """Asks Ollama's ``POST /api/embed`` (0.3 or newer) for vectors.

    Ollama truncates a text that is longer than the model's context.

    Args:
        model: a pulled embedding model; a file records the name as given here, with its prompts.
        base_url: where Ollama listens, without ``/api``.
        query_prompt: what the model wants before a question, and
        passage_prompt: before any other text; ``None`` for what is known of it. A file records
            them with the model, since they belong to its vectors.
        timeout_seconds: the deadline of one ``embed``, attempts and pauses included. The first
            call loads the model, which can take many seconds.
        batch_size: how many texts go into one request.
    """

    def __init__(
        self,
        model: str = "embeddinggemma",
        *,
        base_url: str = "http://localhost:11434",
        query_prompt: str | None = None,
        passage_prompt: str | None = None,
        timeout_seconds: float = 30.0,
        batch_size: int = 64,
    ) -> None:
        super().__init__(
            model,
            base_url,
            headers={},
            query_prompt=query_prompt,
            passage_prompt=passage_prompt,
            timeout_seconds=timeout_seconds,
            batch_size=batch_size,
        )

    def _ask(self, texts: list[str], seconds: float) -> list[object]:
        body = {"model": self._model, "input": texts, "truncate": True}
        reply = self._endpoint.post_json("/api/embed", body, timeout_seconds=seconds)
        vectors = reply.get("embeddings")
        if not isinstance(vectors, list):
            raise self._without_vectors(reply, "embeddings")
        return vectors

    def _remedy(self, status: int | None, words: str) -> Remedy | None:
        return _ollama_remedy(status, words, unsuitable=Remedy.CHOOSE_EMBEDDING_MODEL)


class OllamaGenerator(HttpGenerator):
    """Asks Ollama's ``POST /api/chat`` (0.5 or newer, for JSON Schema) for text.

    By default Ollama drops the beginning of a prompt that is longer than the context. The request
    turns that off, and a reply whose prompt filled the context is refused.

    Args:
        model: a pulled model.
        base_url: where Ollama listens, without ``/api``.
        system: the system prompt.
        temperature: 0 for the likeliest words; ``None`` leaves it to the model's settings.
        max_tokens: the longest answer; by default limited only by the context.
        context_tokens: the size of the context, for prompt and answer together. A larger one
            needs more memory on the machine that runs the model.
        timeout_seconds: the deadline of one call, attempts and pauses included. The first call
            loads the model, which can take many seconds.
    """

    _path = "/api/chat"

    def __init__(
        self,
        model: str = "llama3.1",
        *,
        base_url: str = "http://localhost:11434",
        context_tokens: int = 8192,
        system: str | None = None,
        temperature: float | None = 0.0,
        max_tokens: int | None = None,
        timeout_seconds: float = 120.0,
    ) -> None:
        at_least_one(context_tokens, "context_tokens")
        answering = Answering(system, temperature, max_tokens, timeout_seconds)
        super().__init__(model, base_url, headers={}, answering=answering)
        self._context_tokens = context_tokens

    def _body(
        self, prompt: str, schema: Mapping[str, Any] | None, unknown: frozenset[str]
    ) -> dict[str, object]:
        options: dict[str, object] = {"num_ctx": self._context_tokens}
        if self._temperature is not None:
            options["temperature"] = self._temperature
        if self._max_tokens is not None:
            options["num_predict"] = self._max_tokens
        body: dict[str, object] = {
            "model": self._model,
            "messages": self._messages(prompt),
            "stream": False,
            "options": options,
            # Ask for an error instead of a truncated prompt; older servers ignore both options.
            "truncate": False,
            "shift": False,
        }
        return body if schema is None else {**body, "format": schema}

    def _text_in(self, reply: Mapping[str, Any], schema: Mapping[str, Any] | None) -> str:
        seen = reply.get("prompt_eval_count")
        if isinstance(seen, int) and seen >= self._context_tokens:
            raise self._rejected(
                f"filled the context with the prompt alone ({seen} tokens)", Remedy.SEND_LESS
            )
        if reply.get("done_reason") == "length":
            raise self._cut_off(f"done_reason 'length'; context_tokens: {self._context_tokens}")
        if reply.get("done") is False:
            raise self._without_text(reply)  # part of a stream, which was not requested
        message = reply.get("message")
        text = message.get("content") if isinstance(message, dict) else None
        return text if isinstance(text, str) else ""

    def _remedy(self, status: int | None, words: str) -> Remedy | None:
        if status == 400 and "context" in words:
            return Remedy.SEND_LESS
        return _ollama_remedy(status, words, unsuitable=Remedy.CHOOSE_CHAT_MODEL)


def _ollama_remedy(status: int | None, words: str, *, unsuitable: Remedy) -> Remedy | None:
    """Return the remedy for Ollama's error; ``None`` as status means that it did not answer.

    ``unsuitable`` is the remedy for a model of the wrong kind.
    """
    if status == 404:
        return Remedy.PULL_MODEL if "model" in words else Remedy.UPGRADE_OLLAMA
    return unsuitable if "does not support" in words else None
