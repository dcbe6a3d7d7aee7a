"""Embeddings from Ollama, on this machine or another one."""

from __future__ import annotations

from memstore.errors import Remedy
from memstore.providers.http_embedder import HttpEmbedder
from memstore.providers.http_model import ollama_remedy


class OllamaEmbedder(HttpEmbedder):
    """Asks Ollama's ``POST /api/embed`` (0.3 or newer) for vectors.

    A text longer than the model's context is cut by Ollama, not refused.

    Args:
        model: an embedding model that was pulled; a file keeps to the name as given here.
        base_url: where Ollama listens, without ``/api``.
        timeout_seconds: the deadline of one ``embed``, attempts and pauses included. The first
            call loads the model, which can take many seconds.
        batch_size: how many texts go into one request.
    """

    def __init__(
        self,
        model: str = "nomic-embed-text",
        *,
        base_url: str = "http://localhost:11434",
        timeout_seconds: float = 30.0,
        batch_size: int = 64,
    ) -> None:
        super().__init__(
            model, base_url, headers={}, timeout_seconds=timeout_seconds, batch_size=batch_size
        )

    def _ask(self, texts: list[str], seconds: float) -> list[object]:
        body = {"model": self._model, "input": texts, "truncate": True}
        reply = self._endpoint.post_json("/api/embed", body, timeout_seconds=seconds)
        vectors = reply.get("embeddings")
        if not isinstance(vectors, list):
            raise self._without_vectors(reply, "embeddings")
        return vectors

    def _remedy(self, status: int | None, words: str) -> Remedy | None:
        return ollama_remedy(status, words, unsuitable=Remedy.CHOOSE_EMBEDDING_MODEL)
