"""Interfaces that callers may implement."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    Vector: TypeAlias = NDArray[np.floating[Any]] | Sequence[float]
    Vectors: TypeAlias = NDArray[np.floating[Any]] | Sequence[Vector]


@runtime_checkable
class Embedder(Protocol):
    """Turns texts into vectors that are close to each other if the texts mean similar things."""

    @property
    def model(self) -> str:
        """The name of the embedding model; a file is bound to the first one that it is used with.

        Reading it must not load a model or touch the network.
        """

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return one vector for each text, in order: ``float[n, d]``, or lists of numbers.

        The texts are those that searches find. See :class:`QueryEmbedder` for questions.

        Raises:
            EmbedderUnavailable: a temporary failure; the texts stay pending and are retried.
            EmbedderRejected: the same texts would fail again; after several attempts a text is
                quarantined with this error.
        """


@runtime_checkable
class QueryEmbedder(Embedder, Protocol):
    """An embedder that tells questions from the texts that answer them.

    Of an embedder without this method, ``embed`` is asked for both.
    """

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """Return one vector for each question, in order, as ``embed`` does for passages."""


@runtime_checkable
class Generator(Protocol):
    """Writes text in answer to a prompt: a language model."""

    @property
    def model(self) -> str:
        """The name of the model; it is recorded with everything learned from its answers.

        Reading it must not load a model or touch the network.
        """

    def generate(self, prompt: str) -> str:
        """Return the complete answer, never an empty or truncated one.

        Raises:
            GeneratorUnavailable: a temporary failure; the same prompt may be retried.
            GeneratorRejected: the same prompt would fail again.
        """


@runtime_checkable
class JSONGenerator(Generator, Protocol):
    """A generator that supports JSON Schema."""

    def generate_json(self, prompt: str, schema: Mapping[str, Any]) -> str:
        """Return the model's answer as text, which should be JSON that matches ``schema``.

        The caller parses and validates it.

        Args:
            schema: a JSON Schema whose root is an object; every object requires all of its
                properties and allows no others.

        Raises:
            GeneratorUnavailable: a temporary failure; the same prompt may be retried.
            GeneratorRejected: the same prompt would fail again.
        """
