"""What generators behind HTTP share: one question, what the service cannot take, a whole answer."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar

from memstore.errors import GeneratorRejected, GeneratorUnavailable
from memstore.providers.http import Endpoint

if TYPE_CHECKING:
    import re
    from collections.abc import Mapping


class HttpGenerator(ABC):
    """A generator whose model answers over HTTP; safe to share between threads.

    Args:
        model: as the service names it.
        base_url: where the service is.
        path: what is posted to.
        headers: sent with each request, shown nowhere.
        system: what the model is told before each prompt.
        temperature: 0 for the likeliest words; ``None`` leaves it to the service.
        max_tokens: how long an answer may be; ``None`` leaves it to the service.
        timeout_seconds: the deadline of one call, attempts and pauses included.
    """

    _path: ClassVar[str]
    _optional: ClassVar[Mapping[str, re.Pattern[str]]] = {}
    """Parts of a request that some services do not know, each with the words that say so."""

    def __init__(
        self,
        model: str,
        base_url: str,
        *,
        headers: Mapping[str, str],
        system: str | None,
        temperature: float | None,
        max_tokens: int | None,
        timeout_seconds: float,
    ) -> None:
        if not model:
            raise ValueError("model must name a model that writes text")
        if temperature is not None and not 0 <= temperature <= 2:
            raise ValueError(f"temperature must be between 0 and 2, not {temperature!r}")
        if max_tokens is not None and max_tokens < 1:
            raise ValueError(f"max_tokens must be one or more, not {max_tokens!r}")
        self._model = model
        self._system = system
        self._temperature = temperature
        self._max_tokens = max_tokens
        self._unknown: frozenset[str] = frozenset()  # parts that this service turned down
        self._endpoint = Endpoint(
            base_url,
            headers=headers,
            timeout_seconds=timeout_seconds,
            unavailable=GeneratorUnavailable,
            rejected=GeneratorRejected,
            advise=self._advice,
        )

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._model!r}, base_url={self._endpoint.url!r})"

    @property
    def model(self) -> str:
        """The model's plain name."""
        return self._model

    def generate(self, prompt: str, *, timeout_seconds: float | None = None) -> str:
        """Return the model's whole answer to ``prompt``, never an empty one.

        Args:
            timeout_seconds: the deadline of the whole call; by default the generator's own.
                One that is already past, zero or less, is unavailable at once.

        Raises:
            ValueError: ``prompt`` is blank, or ``timeout_seconds`` is infinite or NaN.
            GeneratorUnavailable: no answer in time, or one that holds no text at all: nothing
                is known against the prompt.
            GeneratorRejected: the service refused the request, the model declined, or the
                answer was cut off, which the same prompt would meet again.
        """
        return self._ask(prompt, None, timeout_seconds)

    def generate_json(
        self, prompt: str, schema: Mapping[str, Any], *, timeout_seconds: float | None = None
    ) -> str:
        """Return the model's answer to ``prompt``, which should be JSON that fits ``schema``.

        The service is asked to hold the model to the schema. What comes back is not checked
        here: not every service keeps its word.

        Args:
            schema: a JSON Schema whose root is an object. Services differ in what they know;
                all take one whose objects name every property as required and allow no other.
            timeout_seconds: as for ``generate``.

        Raises:
            ValueError: as for ``generate``.
            GeneratorUnavailable: as for ``generate``.
            GeneratorRejected: as for ``generate``.
        """
        return self._ask(prompt, schema, timeout_seconds)

    def close(self) -> None:
        """Close the connections; a call still waiting fails as unavailable. Idempotent."""
        self._endpoint.close()

    def _ask(self, prompt: str, schema: Mapping[str, Any] | None, seconds: float | None) -> str:
        if not prompt.strip():
            raise ValueError("prompt is empty")
        given = self._endpoint.timeout_seconds if seconds is None else seconds
        deadline = time.monotonic() + given
        while True:
            unknown = self._unknown
            body = self._body(prompt, schema, unknown)
            try:
                reply = self._endpoint.post_json(self._path, body, timeout_seconds=given)
                break
            except GeneratorRejected as error:
                learnt = self._turned_down(str(error)) & body.keys() - unknown
                if not learnt:
                    raise
            # Each round knows one part more, so the rounds end. Two threads may overwrite each
            # other's lesson; it is learnt again then.
            self._unknown |= learnt
            given = max(0.0, deadline - time.monotonic())
        text = self._text_in(reply, schema)
        if not text.strip():
            raise self._without_text(reply)
        # A model's bytes may spell half a character, which no file or database would take.
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")

    def _turned_down(self, told: str) -> set[str]:
        if " answered 400" not in told and " answered 422" not in told:
            return set()
        return {part for part, words in self._optional.items() if words.search(told)}

    def _messages(self, prompt: str) -> list[dict[str, str]]:
        told = [{"role": "system", "content": self._system}] if self._system else []
        return [*told, {"role": "user", "content": prompt}]

    @abstractmethod
    def _body(
        self, prompt: str, schema: Mapping[str, Any] | None, unknown: frozenset[str]
    ) -> dict[str, object]:
        """Return the request, without the parts that are unknown to the service."""

    @abstractmethod
    def _text_in(self, reply: Mapping[str, Any], schema: Mapping[str, Any] | None) -> str:
        """Return the answer in a reply, or raise for one that is not whole; '' if none is there."""

    @abstractmethod
    def _advice(self, status: int | None, words: str) -> str:
        """Say what to do about a status; ``None``: nobody answered."""

    def _cut_off(self, reason: str) -> GeneratorRejected:
        limit = "the service's own limit" if self._max_tokens is None else self._max_tokens
        return self._rejected(
            f"cut its answer off ({reason}; max_tokens: {limit})",
            "Raise max_tokens, or send a shorter text",
        )

    def _declined(self, reason: str, words: object = None) -> GeneratorRejected:
        said = f": {self._endpoint.words_of(words)}" if words else ""
        return self._rejected(
            f"declined to answer ({reason}){said}", "Leave the text out, or choose another model"
        )

    def _rejected(self, what: str, advice: str) -> GeneratorRejected:
        text = f"{self._endpoint.url} {what} (model {self._model})"
        return GeneratorRejected(f"{text}. {advice}.")

    def _without_text(self, reply: Mapping[str, Any]) -> GeneratorUnavailable:
        words = self._endpoint.words_of(reply)
        text = f"{self._endpoint.url} sent no text (model {self._model})"
        text += f": {words.rstrip('.')}" if words else ""
        return GeneratorUnavailable(
            f"{text}. Try again; if it stays so, check that base_url leads to a chat service "
            "and choose another model."
        )
