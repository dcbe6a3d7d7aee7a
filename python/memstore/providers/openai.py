"""Embeddings and text from OpenAI, or from any service that speaks its protocol."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from memstore.errors import Remedy
from memstore.providers.http import at_least_one
from memstore.providers.http_embedder import HttpEmbedder
from memstore.providers.http_generator import Answering, HttpGenerator

if TYPE_CHECKING:
    from collections.abc import Mapping


class OpenAIEmbedder(HttpEmbedder):
    """Asks ``POST {base_url}/embeddings`` for vectors: OpenAI, vLLM, LM Studio and others.

    Args:
        model: the embedding model's name; a file records it with its prompts.
        base_url: the address with or without ``/v1``: a host alone gets ``/v1``, an address
            with a path is used unchanged.
        api_key: sent as a bearer token; ``None`` for a local service that needs none. It
            is shown in no error, ``repr`` or log, and white space around it is dropped.
        dimensions: asks for shorter vectors, from models that can; a reply of any other length
            is refused. The model's name stays the same.
        query_prompt: what the model wants before a question, and
        passage_prompt: before any other text; ``None`` for what is known of it. A file records
            them with the model, since they belong to its vectors.
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
        query_prompt: str | None = None,
        passage_prompt: str | None = None,
        timeout_seconds: float = 30.0,
        batch_size: int = 128,
    ) -> None:
        super().__init__(
            model,
            _with_version(base_url),
            headers=_bearer(api_key),
            query_prompt=query_prompt,
            passage_prompt=passage_prompt,
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
            raise self._misfit(f"did not number its {len(data)} vectors 0, 1, 2 and so on")
        return [self._of_chosen_length(by_index[index]) for index in order]

    def _of_chosen_length(self, vector: object) -> object:
        if self._dimensions is None or not isinstance(vector, list):
            return vector
        if len(vector) != self._dimensions:
            raise self._misfit(f"sent {len(vector)} dimensions instead of {self._dimensions}")
        return vector


SCHEMA_IN_WORDS = (
    "\n\nAnswer with one JSON value and nothing else. It must fit this JSON Schema:\n{schema}\n"
)


class OpenAIGenerator(HttpGenerator):
    """Asks ``POST {base_url}/chat/completions`` for text: OpenAI, vLLM, LM Studio and others.

    If the service does not support ``response_format``, ``max_tokens`` or ``temperature``, this
    and all later requests are sent without it: the schema goes into the prompt, the limit is sent
    as ``max_completion_tokens``, the temperature is left to the model.

    Args:
        base_url: the address with or without ``/v1``: a host alone gets ``/v1``, an address
            with a path is used unchanged.
        api_key: sent as a bearer token; ``None`` for a local service that needs none. It
            is shown in no error, ``repr`` or log, and white space around it is dropped.
        system: the system prompt.
        temperature: 0 for the likeliest words; ``None`` leaves it to the service.
        max_tokens: the longest answer; ``None`` leaves it to the service.
        timeout_seconds: the deadline of one call, attempts and pauses included.
    """

    _path = "/chat/completions"
    _optional = {  # noqa: RUF012 - a constant of the class, typed in its parent
        # "Invalid schema for response_format" is the caller's fault, and must be an error.
        "response_format": re.compile(
            r"^(?!.*invalid schema).*(response[_ ]format|json_schema)", re.IGNORECASE
        ),
        "max_tokens": re.compile(r"max_completion_tokens"),
        "temperature": re.compile(
            r"temperature.*(not support|unsupported)|(not support|unsupported).*temperature",
            re.IGNORECASE,
        ),
    }

    def __init__(
        self,
        model: str = "gpt-4.1-mini",
        *,
        base_url: str = "https://api.openai.com/v1",
        api_key: str | None = None,
        system: str | None = None,
        temperature: float | None = 0.0,
        max_tokens: int | None = None,
        timeout_seconds: float = 120.0,
    ) -> None:
        answering = Answering(system, temperature, max_tokens, timeout_seconds)
        super().__init__(
            model, _with_version(base_url), headers=_bearer(api_key), answering=answering
        )

    def _body(
        self, prompt: str, schema: Mapping[str, Any] | None, unknown: frozenset[str]
    ) -> dict[str, object]:
        body: dict[str, object] = {"model": self._model}
        if schema is not None and "response_format" in unknown:
            prompt += SCHEMA_IN_WORDS.format(schema=json.dumps(schema, ensure_ascii=False))
        elif schema is not None:
            wanted = {"name": "reply", "strict": True, "schema": schema}
            body["response_format"] = {"type": "json_schema", "json_schema": wanted}
        if self._temperature is not None and "temperature" not in unknown:
            body["temperature"] = self._temperature
        if self._max_tokens is not None:
            name = "max_completion_tokens" if "max_tokens" in unknown else "max_tokens"
            body[name] = self._max_tokens
        return {**body, "messages": self._messages(prompt)}

    def _text_in(self, reply: Mapping[str, Any], schema: Mapping[str, Any] | None) -> str:
        choices = reply.get("choices")
        first = choices[0] if isinstance(choices, list) and choices else None
        message = first.get("message") if isinstance(first, dict) else None
        if not isinstance(first, dict) or not isinstance(message, dict):
            return ""
        if refusal := message.get("refusal"):
            raise self._declined("refusal", refusal)
        reason = first.get("finish_reason")
        if reason == "content_filter":
            raise self._declined("finish_reason 'content_filter'")
        if reason in {"length", "model_length"}:
            raise self._cut_off(f"finish_reason {reason!r}")
        text = message.get("content")
        return text if isinstance(text, str) else ""

    def _remedy(self, status: int | None, words: str) -> Remedy | None:
        faulty = status == 400 and "invalid schema" in words.lower()
        return Remedy.CHECK_SCHEMA if faulty else None


def _bearer(api_key: str | None) -> dict[str, str]:
    key = (api_key or "").strip()
    return {"Authorization": f"Bearer {key}"} if key else {}


def _with_version(base_url: str) -> str:
    """Return the address, with ``/v1`` added if it is only a host."""
    bare = base_url.strip().rstrip("/")
    has_path = "/" in bare.partition("://")[2]
    return bare if has_path else f"{bare}/v1"
