"""Embeddings from Ollama, on this machine or another one."""

from __future__ import annotations

from memstore.providers.http import Endpoint
from memstore.providers.http_embedder import HttpEmbedder


class OllamaEmbedder(HttpEmbedder):
    """Asks Ollama's ``POST /api/embed`` (0.3 or newer) for vectors.

    A text longer than the model's context is cut by Ollama, not refused.

    Args:
        model: an embedding model that was pulled; a file keeps to the name as given here.
        base_url: where Ollama listens, without ``/api``.
        timeout_seconds: the deadline of one ``embed``, attempts and pauses included. The first
            call loads the model, which can take many seconds.
        batch_size: how many texts go into one request.

    Raises:
        ValueError: an argument is out of range or ``base_url`` is no HTTP address.
    """

    def __init__(
        self,
        model: str = "nomic-embed-text",
        *,
        base_url: str = "http://localhost:11434",
        timeout_seconds: float = 30.0,
        batch_size: int = 64,
    ) -> None:
        endpoint = Endpoint(base_url, timeout_seconds=timeout_seconds, advise=self._advice)
        super().__init__(model, endpoint, batch_size)

    def _ask(self, texts: list[str], seconds: float) -> list[object]:
        body = {"model": self._model, "input": texts, "truncate": True}
        reply = self._endpoint.post_json("/api/embed", body, timeout_seconds=seconds)
        vectors = reply.get("embeddings")
        if not isinstance(vectors, list):
            raise self._without_vectors(reply, "embeddings")
        return vectors

    def _advice(self, status: int | None, words: str) -> str:
        if status is None:
            return "Is Ollama running? Start it with `ollama serve`, or set base_url"
        if status == 404 and "model" in words:
            return f"Pull the model: `ollama pull {self._model}`"
        if status == 404:
            return "Check base_url; /api/embed needs Ollama 0.3 or newer"
        if "does not support embeddings" in words:
            return "Choose an embedding model, such as nomic-embed-text"
        return ""
