"""Embeddings from OpenAI, or from any service that speaks its protocol."""

from __future__ import annotations

from memstore.providers.http_embedder import HttpEmbedder
from memstore.providers.http_model import at_least_one, bearer, with_version


class OpenAIEmbedder(HttpEmbedder):
    """Asks ``POST {base_url}/embeddings`` for vectors, as OpenAI, vLLM or LM Studio answer it.

    Args:
        model: the embedding model's name; a file keeps to it.
        base_url: the address with or without ``/v1``: a host alone gets ``/v1``, an address
            with a path of its own is used unchanged.
        api_key: sent as a bearer token, or ``None`` for a local service that asks for none. It
            is shown in no error, ``repr`` or log, and white space around it is dropped.
        dimensions: asks for shorter vectors, from models that can; a reply of any other length
            is refused. The model's name stays the same.
        timeout_seconds: the deadline of one ``embed``, attempts and pauses included.
        batch_size: how many texts go into one request.
    """

    def __init__(
        self,
        model: str = "text-embedding-3-small",
        *,
        base_url: str = "https://api.openai.com/v1",
        api_key: str | None = None,
        dimensions: int | None = None,
        timeout_seconds: float = 30.0,
        batch_size: int = 128,
    ) -> None:
        super().__init__(
            model,
            with_version(base_url),
            headers=bearer(api_key),
            timeout_seconds=timeout_seconds,
            batch_size=batch_size,
        )
        self._dimensions = at_least_one(dimensions, "dimensions")

    def _ask(self, texts: list[str], seconds: float) -> list[object]:
        body: dict[str, object] = {"model": self._model, "input": texts, "encoding_format": "float"}
        if self._dimensions is not None:
            body["dimensions"] = self._dimensions
        reply = self._endpoint.post_json("/embeddings", body, timeout_seconds=seconds)
        data = reply.get("data")
        if not isinstance(data, list) or not all(isinstance(item, dict) for item in data):
            raise self._without_vectors(reply, "data")
        by_index = {str(item.get("index")): item.get("embedding") for item in data}
        order = [str(index) for index in range(len(data))]
        if by_index.keys() != set(order):
            raise self._misfit(f"numbered {len(data)} vectors otherwise than 0, 1, 2 and so on")
        return [self._of_asked_length(by_index[index]) for index in order]

    def _of_asked_length(self, vector: object) -> object:
        if self._dimensions is None or not isinstance(vector, list):
            return vector
        if len(vector) != self._dimensions:
            raise self._misfit(f"sent {len(vector)} dimensions where {self._dimensions} were asked")
        return vector
