"""A language model over real HTTP with scripted replies, in any of three chat protocols.

    def test_something(model_server):
        model_server.replies = ['{"facts": []}', Reply(status=503), "the third answer"]
        with_a_model(model_server.generator("anthropic"))
        assert "fenced text" in model_server.prompts[0]

``replies`` is a list, played in order and its last one again and again, or a callable of the
prompt. A reply is the model's text, or a ``Reply`` that says how it goes wrong.
"""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from tests.support.http_server import Asked, serving

from memstore import AnthropicGenerator, OllamaGenerator, OpenAIGenerator

Dialect = Literal["ollama", "openai", "anthropic"]
DIALECTS: dict[str, Dialect] = {
    "/api/chat": "ollama",
    "/v1/chat/completions": "openai",
    "/v1/messages": "anthropic",
}
HttpGenerator = OllamaGenerator | OpenAIGenerator | AnthropicGenerator
GENERATORS: dict[Dialect, type[HttpGenerator]] = {
    "ollama": OllamaGenerator,
    "openai": OpenAIGenerator,
    "anthropic": AnthropicGenerator,
}


@dataclass(frozen=True)
class Reply:
    """One reply of the model, and how its transmission fails."""

    text: str = ""
    end: Literal["stop", "cut", "declined", "filtered"] = "stop"
    """Why the model stopped; ``cut`` is the limit of tokens."""
    status: int = 200
    words: str = "scripted failure"
    """The service's own words where ``status`` is an error."""
    headers: Mapping[str, str] = field(default_factory=dict)
    body: object = None
    """Sent unchanged instead of all the above: bytes raw, anything else as JSON."""
    delay_seconds: float = 0.0
    drip_seconds: float = 0.0
    """Pause after each byte of the body."""
    keep_bytes: int | None = None
    """Break the connection after this many bytes of the body."""


Script = Sequence[str | Reply] | Callable[[str], "str | Reply"]


def fenced(text: str) -> str:
    """Wrap a text as chatty models do: in a Markdown fence."""
    return f"```json\n{text}\n```"


def in_prose(text: str) -> str:
    """Put prose with brackets before and after a text."""
    return f"Sure! Here is what I found (in JSON):\n\n{text}\n\nLet me know [if you need more]."


@dataclass
class ModelServer:
    """Implements Ollama's, OpenAI's and Anthropic's chat protocol; refuses what they would refuse.

    ``replies`` can be replaced at any time; a new list starts at its beginning.
    """

    url: str = ""
    key: str | None = None
    """The key required from OpenAI's and Anthropic's clients, if set; a wrong one is echoed."""
    unknown: Mapping[str, str] = field(default_factory=dict)
    """Top-level parts of a request that are refused with 400 and these words."""
    prompts: list[str] = field(default_factory=list)
    """The last message of each request that reached the model, attempts included."""
    asked: list[Asked] = field(default_factory=list)
    """Every request, including refused ones."""
    errors: list[Exception] = field(default_factory=list)
    """Errors raised by scripts; raised again at the end of the test."""
    _script: Script = ()
    _played: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _stopped: threading.Event = field(default_factory=threading.Event)
    _made: list[HttpGenerator] = field(default_factory=list)

    @classmethod
    @contextlib.contextmanager
    def running(cls) -> Iterator[ModelServer]:
        server = cls()
        with serving(server._answer) as server.url:
            try:
                yield server
            finally:
                server._stopped.set()
                for made in server._made:
                    made.close()
        if server.errors:
            raise server.errors[0]

    @property
    def replies(self) -> Script:
        return self._script

    @replies.setter
    def replies(self, script: Script) -> None:
        with self._lock:
            self._script, self._played = script, 0

    def generator(self, dialect: Dialect = "openai", **options: Any) -> HttpGenerator:
        """Return a generator that asks this server; it is closed when the test is over."""
        options = {"base_url": self.url, "timeout_seconds": 10.0, **options}
        self._made.append(GENERATORS[dialect](**options))
        return self._made[-1]

    def _answer(self, asked: Asked) -> None:
        self.asked.append(asked)
        dialect = DIALECTS.get(asked.target)
        if dialect is None:
            asked.answer({"error": f"no such path: {asked.target}"}, status=404)
            return
        refused = self._refusal(dialect, asked)
        if refused is not None:
            self._send(asked, dialect, refused)
            return
        prompt = asked.body["messages"][-1]["content"]
        try:
            reply = self._next(prompt)
        except Exception as error:  # noqa: BLE001 - told to the test when it is over
            self.errors.append(error)
            reply = Reply(status=400, words=f"the script failed: {error!r}")
        self._send(asked, dialect, reply)

    def _next(self, prompt: str) -> Reply:
        with self._lock:
            self.prompts.append(prompt)
            script = self._script
            if callable(script):
                reply = script(prompt)
            elif script:
                reply = script[min(self._played, len(script) - 1)]
                self._played += 1
            else:
                raise AssertionError("the model was asked, and the test scripts no replies")
        return Reply(reply) if isinstance(reply, str) else reply

    def _send(self, asked: Asked, dialect: Dialect, reply: Reply) -> None:
        self._stopped.wait(reply.delay_seconds)
        raw = spoken(dialect, reply, as_json=wants_json(asked.body))
        asked.begin(reply.status, {"Content-Length": str(len(raw)), **reply.headers})
        if reply.drip_seconds:
            for at in range(len(raw)):
                if self._stopped.wait(reply.drip_seconds) or not asked.send(raw[at : at + 1]):
                    break
        else:
            asked.send(raw[: reply.keep_bytes])
        if reply.keep_bytes is not None or reply.drip_seconds:
            asked.hang_up()

    def _refusal(self, dialect: Dialect, asked: Asked) -> Reply | None:
        name = {"openai": "authorization", "anthropic": "x-api-key"}.get(dialect)
        if self.key is not None and name is not None:
            sent = asked.headers.get(name, "nothing").removeprefix("Bearer ")
            if sent != self.key:
                return Reply(status=401, words=f"invalid key: {sent}")
        for part, words in self.unknown.items():
            if part in asked.body:
                return Reply(status=400, words=words)
        faults = [fault for fault, found in _faults(dialect, asked) if found]
        return Reply(status=400, words="; ".join(faults)) if faults else None


def spoken(dialect: Dialect, reply: Reply, *, as_json: bool = False) -> bytes:
    """Return the body that carries a reply in a dialect; ``as_json``: a schema was asked for."""
    if isinstance(reply.body, bytes):
        return reply.body
    if reply.body is not None:
        said = reply.body
    elif reply.status >= 300:
        said = _error(dialect, reply.words)
    else:
        speak = {"ollama": _ollama, "openai": _openai, "anthropic": _anthropic}[dialect]
        said = speak(reply, as_json)
    return json.dumps(said).encode()


def wants_json(body: Mapping[str, Any]) -> bool:
    return any(body.get(part) for part in ("format", "response_format", "tools"))


def _error(dialect: Dialect, words: str) -> object:
    if dialect == "ollama":
        return {"error": words}
    error = {"type": "invalid_request_error", "message": words}
    return {"error": error} if dialect == "openai" else {"type": "error", "error": error}


def _ollama(reply: Reply, _as_json: bool) -> object:
    return {
        "model": "m",
        "created_at": "2025-01-01T00:00:00Z",
        "message": {"role": "assistant", "content": reply.text},
        "done": True,
        "done_reason": "length" if reply.end == "cut" else "stop",
        "prompt_eval_count": 26,
        "eval_count": 9,
    }


def _openai(reply: Reply, _as_json: bool) -> object:
    declined = reply.end == "declined"
    message = {
        "role": "assistant",
        "content": None if declined else reply.text,
        "refusal": reply.text if declined else None,
    }
    reasons = {"cut": "length", "filtered": "content_filter"}
    choice = {"index": 0, "message": message, "finish_reason": reasons.get(reply.end, "stop")}
    return {"id": "c", "object": "chat.completion", "model": "m", "choices": [choice]}


def _anthropic(reply: Reply, as_json: bool) -> object:
    reasons = {"cut": "max_tokens", "declined": "refusal", "filtered": "refusal"}
    block: dict[str, object] = {"type": "text", "text": reply.text}
    reason = reasons.get(reply.end, "end_turn")
    if as_json and reply.end == "stop":
        # Prose instead of a call is what some models send.
        with contextlib.suppress(ValueError, RecursionError):
            given = json.loads(reply.text)
            block = {"type": "tool_use", "id": "t", "name": "reply", "input": given}
            reason = "tool_use"
    content = [block] if reply.text else []
    return {
        "id": "m",
        "type": "message",
        "role": "assistant",
        "content": content,
        "stop_reason": reason,
    }


def _faults(dialect: Dialect, asked: Asked) -> Iterator[tuple[str, bool]]:
    """Return the faults that the real service would refuse, and whether each is present."""
    body = asked.body
    messages = body.get("messages")
    yield "model must be a name", not isinstance(body.get("model"), str)
    yield "messages must be a list", not isinstance(messages, list) or not messages
    roles = {"user"} if dialect == "anthropic" else {"user", "system"}
    yield (
        "a message must have a known role and text",
        any(m.get("role") not in roles or not m.get("content") for m in messages or ()),
    )
    yield "streaming is not spoken here", bool(body.get("stream", dialect == "ollama"))
    if dialect == "openai" and (wanted := body.get("response_format")):
        inner = wanted.get("json_schema", {})
        yield "response_format must name a schema", not (inner.get("name") and inner.get("schema"))
    if dialect == "anthropic":
        yield "anthropic-version is missing", "anthropic-version" not in asked.headers
        yield "max_tokens is missing", not isinstance(body.get("max_tokens"), int)
        names = [tool.get("name") for tool in body.get("tools", ())]
        chosen = body.get("tool_choice", {}).get("name")
        yield "tool_choice names no tool", chosen is not None and chosen not in names
