"""The base of every model behind HTTP: its name, its endpoint, and closing it."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from memstore.errors import InvalidArgument, Remedy
from memstore.providers.http import EMBEDDING, Endpoint, Purpose

if TYPE_CHECKING:
    from collections.abc import Mapping


class HttpModel:
    """A model that answers over HTTP; safe to share between threads."""

    _purpose: ClassVar[Purpose] = EMBEDDING

    def __init__(
        self, model: str, base_url: str, *, headers: Mapping[str, str], timeout_seconds: float
    ) -> None:
        if not model:
            raise InvalidArgument("is empty", argument="model")
        self._model = model
        self._endpoint = Endpoint(
            base_url,
            headers=headers,
            timeout_seconds=timeout_seconds,
            purpose=self._purpose,
            advise=self._remedy,
        )

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._model!r}, base_url={self._endpoint.url!r})"

    @property
    def model(self) -> str:
        """The model's plain name."""
        return self._model

    def close(self) -> None:
        """Close the connections; a call still waiting fails as unavailable. Idempotent."""
        self._endpoint.close()

    def _remedy(self, status: int | None, words: str) -> Remedy | None:
        return None

    def _said(self, what: str) -> str:
        return f"{self._endpoint.url} {what} (model {self._model})"


def at_least_one(value: int | None, name: str) -> int | None:
    if value is not None and value < 1:
        raise InvalidArgument(f"must be at least 1, not {value!r}", argument=name)
    return value
