"""The base of HTTP generators, which leave out what a service refuses and check each answer."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar

from memstore.domain import clock
from memstore.errors import GeneratorRejected, GeneratorUnavailable, InvalidArgument, Remedy
from memstore.frozen import frozen
from memstore.providers.http import GENERATION, HttpModel, at_least_one

if TYPE_CHECKING:
    import re
    from collections.abc import Mapping


@frozen
class Answering:
    """How a model is to answer: the options that every generator has."""

    system: str | None
    temperature: float | None
    max_tokens: int | None
    timeout_seconds: float


class HttpGenerator(HttpModel, ABC):
    """A generator whose model answers over HTTP; subclasses document the arguments."""

    _purpose = GENERATION
    _path: ClassVar[str]
    _hottest: ClassVar[float] = 2
    """The highest temperature the service accepts."""
    _optional: ClassVar[Mapping[str, re.Pattern[str]]] = {}
    """Parts of a request that some services do not support, with the error message they send."""

    def __init__(
        self,
        model: str,
        base_url: str,
        *,
        headers: Mapping[str, str],
        answering: Answering,
    ) -> None:
        temperature = answering.temperature
        if temperature is not None and not 0 <= temperature <= self._hottest:
            raise InvalidArgument(
                f"must be between 0 and {self._hottest}, not {temperature!r}",
                argument="temperature",
            )
        self._system = answering.system
        self._temperature = temperature
        self._max_tokens = at_least_one(answering.max_tokens, "max_tokens")
        self._unknown: frozenset[str] = frozenset()  # parts that this service does not support
        super().__init__(
            model, base_url, headers=headers, timeout_seconds=answering.timeout_seconds
        )

    def generate(self, prompt: str, *, timeout_seconds: float | None = None) -> str:
        """Return the model's complete answer to ``prompt``, which is never empty.

        Args:
            timeout_seconds: the deadline of the whole call; by default the generator's own.
                Zero or less fails as unavailable at once.

        Raises:
            ValueError: ``prompt`` is blank, or ``timeout_seconds`` is infinite or NaN.
            GeneratorUnavailable: no answer in time, or one without any text; the prompt itself
                may be fine.
            GeneratorRejected: the service refused the request, the model declined, or the
                answer was cut off. The same prompt would fail again.
        """
        return self._ask(prompt, None, timeout_seconds)

    def generate_json(
        self, prompt: str, schema: Mapping[str, Any], *, timeout_seconds: float | None = None
    ) -> str:
        """Return the model's answer to ``prompt``, which should be JSON that fits ``schema``.

        The service is asked to restrict the model to the schema. Not every service does, and the
        answer is not checked here.

        Args:
            schema: a JSON Schema whose root is an object. Services support different parts; all
                accept one whose objects require every property and allow no other.

        Raises:
            GeneratorError: as for ``generate``, and ``ValueError`` as well.
        """
        return self._ask(prompt, schema, timeout_seconds)

    def _ask(self, prompt: str, schema: Mapping[str, Any] | None, seconds: float | None) -> str:
        if not prompt.strip():
            raise InvalidArgument("is empty", argument="prompt")
        given = self._endpoint.timeout_seconds if seconds is None else seconds
        deadline = clock.monotonic() + given
        while True:
            unknown = self._unknown
            body = self._body(prompt, schema, unknown)
            try:
                reply = self._endpoint.post_json(self._path, body, timeout_seconds=given)
                break
            except GeneratorRejected as error:
                refused = self._turned_down(str(error)) & body.keys() - unknown
                if not refused:
                    raise
            # Each round drops at least one part, so the loop ends. Two threads may overwrite each
            # other's update; then the next call repeats it.
            self._unknown |= refused
            given = max(0.0, deadline - clock.monotonic())
        text = self._text_in(reply, schema)
        if not text.strip():
            raise self._without_text(reply)
        # A model's reply may contain a lone surrogate, which cannot be stored as UTF-8.
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")

    def _turned_down(self, text: str) -> set[str]:
        if " answered 400" not in text and " answered 422" not in text:
            return set()
        return {part for part, words in self._optional.items() if words.search(text)}

    def _messages(self, prompt: str) -> list[dict[str, str]]:
        told = [{"role": "system", "content": self._system}] if self._system else []
        return [*told, {"role": "user", "content": prompt}]

    @abstractmethod
    def _body(
        self, prompt: str, schema: Mapping[str, Any] | None, unknown: frozenset[str]
    ) -> dict[str, object]:
        """Return the request, without the parts that the service does not support."""

    @abstractmethod
    def _text_in(self, reply: Mapping[str, Any], schema: Mapping[str, Any] | None) -> str:
        """Return the text in a reply, '' if it has none; raise if the text is not complete."""

    def _cut_off(self, reason: str) -> GeneratorRejected:
        limit = "the service's own limit" if self._max_tokens is None else self._max_tokens
        return self._rejected(
            f"cut its answer off ({reason}; max_tokens: {limit})", Remedy.SEND_LESS
        )

    def _declined(self, reason: str, words: object = None) -> GeneratorRejected:
        said = f": {self._endpoint.words_of(words)}" if words else ""
        return self._rejected(f"declined to answer ({reason}){said}", Remedy.CHOOSE_ANOTHER_MODEL)

    def _rejected(self, what: str, remedy: Remedy) -> GeneratorRejected:
        return GeneratorRejected(self._said(what), remedy=remedy)

    def _without_text(self, reply: Mapping[str, Any]) -> GeneratorUnavailable:
        words = self._endpoint.words_of(reply)
        text = self._said("sent no text") + (f": {words}" if words else "")
        return GeneratorUnavailable(text, remedy=Remedy.CHECK_GENERATOR_MODEL)
