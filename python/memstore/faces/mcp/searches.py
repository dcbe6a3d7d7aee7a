"""Records what a tool was asked and gave, as a search."""

from __future__ import annotations

from contextlib import contextmanager, suppress
from contextvars import ContextVar
from typing import TYPE_CHECKING, Final

from memstore.errors import MemstoreError
from memstore.named import NamedTuple
from memstore.providers.local import tokens_at_most

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from memstore.store.store import Store


class AskedQuestion(NamedTuple):
    """One question, and the ids of what was given."""

    store: Store
    query: str
    facts: tuple[int, ...]
    episodes: tuple[int, ...]

    def record(self, tool: str, text: str, milliseconds: float) -> None:
        """Record it; a record that cannot be kept does not make the call fail."""
        with suppress(MemstoreError):
            self.store.searches.record(
                self.query,
                facts=self.facts,
                episodes=self.episodes,
                tool=tool,
                tokens=tokens_at_most(text),
                milliseconds=milliseconds,
            )


_noting: Final[ContextVar[list[AskedQuestion] | None]] = ContextVar("_noting", default=None)


@contextmanager
def noted() -> Iterator[list[AskedQuestion]]:
    """Collect what is asked inside the ``with`` block."""
    asked: list[AskedQuestion] = []
    token = _noting.set(asked)
    try:
        yield asked
    finally:
        _noting.reset(token)


def note(store: Store, query: str, facts: Iterable[int] = (), episodes: Iterable[int] = ()) -> None:
    """Note a question and what is given, if it is to be recorded."""
    if (asked := _noting.get()) is not None:
        asked.append(AskedQuestion(store, query, tuple(facts), tuple(episodes)))
