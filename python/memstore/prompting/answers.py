"""Answers of a model about one episode: asked for once, and kept as they were read."""

from __future__ import annotations

import hashlib
import json
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from memstore.domain.protocols import JSONGenerator
from memstore.errors import GeneratorError, GeneratorUnavailable

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from memstore.domain.protocols import Generator
    from memstore.prompting.reading_log import Readings


class Replies:
    """What a model answers about an episode; what is kept is not asked again.

    Only answers that could be read are kept, so that asking again after one that could not is
    worth while. They are kept as they come, so that a failure at a later piece loses none.

    Args:
        readings: where they are kept; ``None`` to keep none.
        episode_id: the episode it is about.
        generator: the model.
        only_kept: do not ask the model.
    """

    def __init__(
        self,
        generator: Generator,
        readings: Readings | None = None,
        episode_id: int = 0,
        *,
        only_kept: bool = False,
    ) -> None:
        self._generator = generator
        self._readings = readings
        self._episode_id = episode_id
        self._only_kept = only_kept
        self.asked = 0
        """How often the model was asked."""

    def entries(
        self,
        prompt: str,
        schema: Mapping[str, Any],
        read: Callable[[str], list[object]],
    ) -> list[object]:
        """Return the list in the model's answer, kept or asked for.

        Args:
            prompt: the question.
            schema: what a model that can is held to.
            read: takes the list from the model's text.

        Raises:
            GeneratorError: no usable answer.
        """
        key = self._key(prompt, schema)
        if self._readings is not None:
            known = self._readings.reply(self._episode_id, key)
            if known is not None:
                return list(json.loads(known))
        if self._only_kept:
            raise GeneratorUnavailable("the model is not asked again while it does not answer")
        self.asked += 1
        found = read(ask(self._generator, prompt, schema))
        if self._readings is not None:
            # What is nested too deeply to be written is no list of facts, and need not be kept.
            with suppress(RecursionError):
                self._readings.keep_reply(self._episode_id, key, self._generator.model, found)
        return found

    def _key(self, prompt: str, schema: Mapping[str, Any]) -> str:
        held_to = schema if isinstance(self._generator, JSONGenerator) else None
        question = json.dumps([self._generator.model, prompt, held_to], sort_keys=True)
        return hashlib.sha256(question.encode()).hexdigest()


def ask(generator: Generator, prompt: str, schema: Mapping[str, Any]) -> str:
    """Return a model's answer; one that can is held to the schema.

    Raises:
        GeneratorError: it failed, in whatever way.
    """
    try:
        if isinstance(generator, JSONGenerator):
            return generator.generate_json(prompt, schema)
        return generator.generate(prompt)
    except GeneratorError:
        raise
    # A generator may be anybody's code, and callers are promised one tree of errors.
    except Exception as error:
        raise GeneratorError(f"the generator failed: {type(error).__name__}: {error}") from error
