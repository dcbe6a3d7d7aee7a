"""Text from Anthropic's models."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from memstore.providers.http_generator import Answering, HttpGenerator

if TYPE_CHECKING:
    from collections.abc import Mapping

API_VERSION = "2023-06-01"
TOOL = "reply"


class AnthropicGenerator(HttpGenerator):
    """Asks ``POST {base_url}/v1/messages`` for text.

    For JSON the model is forced to call a tool whose input has the requested schema: every model
    and gateway supports that, while output formats need newer models.

    If a model rejects ``temperature``, the request and all later ones are sent without it.

    Args:
        base_url: the address with or without ``/v1``.
        api_key: sent as ``x-api-key``. It is shown in no error, ``repr`` or log, and white
            space around it is dropped.
        system: the system prompt.
        temperature: 0 for the likeliest words, at most 1; ``None`` leaves it to the service.
        max_tokens: the longest answer; this service requires it.
        timeout_seconds: the deadline of one call, attempts and pauses included.
    """

    _path = "/v1/messages"
    _hottest = 1
    _optional = {  # noqa: RUF012 - a constant of the class, typed in its parent
        "temperature": re.compile(r"temperature.*(deprecated|not support|unsupported)", re.I)
    }

    def __init__(
        self,
        model: str = "claude-haiku-4-5",
        *,
        base_url: str = "https://api.anthropic.com",
        api_key: str | None = None,
        system: str | None = None,
        temperature: float | None = 0.0,
        max_tokens: int | None = 4096,
        timeout_seconds: float = 120.0,
    ) -> None:
        key = (api_key or "").strip()
        headers = {"anthropic-version": API_VERSION, **({"x-api-key": key} if key else {})}
        host = base_url.strip().rstrip("/").removesuffix("/v1")
        answering = Answering(system, temperature, max_tokens, timeout_seconds)
        super().__init__(model, host, headers=headers, answering=answering)

    def _body(
        self, prompt: str, schema: Mapping[str, Any] | None, unknown: frozenset[str]
    ) -> dict[str, object]:
        body: dict[str, object] = {
            "model": self._model,
            "max_tokens": self._max_tokens,
            "messages": [{"role": "user", "content": prompt}],
        }
        if self._system:
            body["system"] = self._system
        if self._temperature is not None and "temperature" not in unknown:
            body["temperature"] = self._temperature
        if schema is not None:
            about = "Takes the answer. Call it once, with the whole answer."
            body["tools"] = [{"name": TOOL, "description": about, "input_schema": schema}]
            body["tool_choice"] = {"type": "tool", "name": TOOL}
        return body

    def _text_in(self, reply: Mapping[str, Any], schema: Mapping[str, Any] | None) -> str:
        reason = reply.get("stop_reason")
        if reason == "refusal":
            raise self._declined("stop_reason 'refusal'", _words_in(reply))
        if reason in {"max_tokens", "model_context_window_exceeded"}:
            raise self._cut_off(f"stop_reason {reason!r}")
        if schema is not None:
            for block in _blocks(reply, "tool_use"):
                return json.dumps(block.get("input"), ensure_ascii=False)
        return _words_in(reply)


def _words_in(reply: Mapping[str, Any]) -> str:
    texts = (block.get("text") for block in _blocks(reply, "text"))
    return "".join(text for text in texts if isinstance(text, str))


def _blocks(reply: Mapping[str, Any], kind: str) -> list[dict[str, Any]]:
    content = reply.get("content")
    blocks = content if isinstance(content, list) else []
    return [block for block in blocks if isinstance(block, dict) and block.get("type") == kind]
