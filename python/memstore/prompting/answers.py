"""Answers of a language model: requesting one, and storing those about an episode."""

from __future__ import annotations

import hashlib
import json
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from memstore.domain.protocols import JSONGenerator
from memstore.errors import GeneratorError, GeneratorUnavailable

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from memstore.domain.protocols import Generator
    from memstore.prompting.reading_log import Readings


@dataclass(slots=True)
class Replies:
    """A model's replies about an episode; a stored reply is not requested again.

    Only readable replies are stored, so that a retry can help. Each is stored as it arrives, so
    that a failure at a later piece loses none. With ``only_kept`` the model is never asked.
    """

    generator: Generator
    readings: Readings | None = None
    episode_id: int = 0
    only_kept: bool = False
    questions: int = 0
    """How many questions the model was asked."""

    def entries(
        self, prompt: str, schema: Mapping[str, Any], read: Callable[[str], list[object]]
    ) -> list[object]:
        """Return the list that ``read`` finds in the stored reply, or else in a new one.

        Raises:
            GeneratorError: no usable reply.
        """
        key = self._key(prompt, schema)
        if self.readings is not None:
            known = self.readings.reply(self.episode_id, key)
            if known is not None:
                return list(json.loads(known))
        if self.only_kept:
            raise GeneratorUnavailable("the model does not answer and was not called again")
        self.questions += 1
        found = read(ask(self.generator, prompt, schema))
        if self.readings is not None:
            # A list nested too deeply to be written is not a list of facts and is not stored.
            with suppress(RecursionError):
                self.readings.keep_reply(self.episode_id, key, self.generator.model, found)
        return found

    def _key(self, prompt: str, schema: Mapping[str, Any]) -> str:
        held_to = schema if isinstance(self.generator, JSONGenerator) else None
        question = json.dumps([self.generator.model, prompt, held_to], sort_keys=True)
        return hashlib.sha256(question.encode()).hexdigest()


def ask(generator: Generator, prompt: str, schema: Mapping[str, Any]) -> str:
    """Return a model's answer, requesting the schema if the generator accepts one.

    Raises:
        GeneratorError: any failure.
    """
    try:
        if isinstance(generator, JSONGenerator):
            return generator.generate_json(prompt, schema)
        return generator.generate(prompt)
    except GeneratorError:
        raise
    # A generator may be the caller's own code, which can raise anything.
    except Exception as error:
        raise GeneratorError(f"the generator failed: {type(error).__name__}: {error}") from error
