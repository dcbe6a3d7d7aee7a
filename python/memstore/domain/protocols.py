"""The seams where a caller may put a part of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray


@runtime_checkable
class Embedder(Protocol):
    """Turns texts into vectors that are near each other when the texts mean similar things."""

    @property
    def model(self) -> str:
        """Names the model whose vectors these are; a file keeps to the first one it meets.

        Reading it must not load a model or touch the network.
        """

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return ``float32[n, d]``, one row a text, in order.

        Raises:
            EmbedderUnavailable: the failure may pass; the texts stay pending and are tried again.
            EmbedderRejected: the same texts would fail again; after repeated tries a text
                is quarantined with this error.
        """


@runtime_checkable
class Generator(Protocol):
    """Writes text in answer to a prompt: a language model."""

    @property
    def model(self) -> str:
        """Names the model; it is recorded with what was learned through it.

        Reading it must not load a model or touch the network.
        """

    def generate(self, prompt: str) -> str:
        """Return the whole answer, never an empty or a shortened one.

        Raises:
            GeneratorUnavailable: the failure may pass; the same prompt may be tried again.
            GeneratorRejected: the same prompt would fail again.
        """


@runtime_checkable
class JSONGenerator(Generator, Protocol):
    """A generator that can be held to a JSON Schema."""

    def generate_json(self, prompt: str, schema: Mapping[str, Any]) -> str:
        """Return the model's own text, which should be JSON that fits ``schema``.

        It is read and checked by the caller: a model's word is not taken for it.

        Args:
            schema: a JSON Schema whose root is an object, whose objects name every property
                as required and allow no other.

        Raises:
            GeneratorUnavailable: the failure may pass; the same prompt may be tried again.
            GeneratorRejected: the same prompt would fail again.
        """
