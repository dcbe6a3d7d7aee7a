"""Finds which of many texts occur in another text, in one walk through it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

BEGINNING: Final = 16
"""How many characters of a text are looked up; the rest is compared where they occur."""


FEW: Final = 32
"""So many texts are looked for one by one, which is faster."""


class Occurrences:
    """Finds texts in others. The time does not depend on how many texts there are."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._texts = {text for text in texts if text}
        self._by_beginning: dict[str, list[str]] = {}
        for text in self._texts:
            self._by_beginning.setdefault(text[:BEGINNING], []).append(text)
        self._lengths = sorted({*map(len, self._by_beginning)})

    def found_in(self, text: str) -> bool:
        """Return whether any of the texts occurs in another."""
        if len(self._texts) <= FEW:
            return any(one in text for one in self._texts)
        return next(self._found(text), None) is not None

    def _found(self, text: str) -> Iterator[str]:
        for length in self._lengths:
            for start in range(len(text) - length + 1):
                for one in self._by_beginning.get(text[start : start + length], ()):
                    if text.startswith(one, start):
                        yield one
