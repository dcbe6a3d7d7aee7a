"""Erasing recorded queries: of searches that were given what is erased, or that have its words.

A word counts as erased if no fact and no episode of the file has it any more.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from memstore.database.tables import searches as search_table
from memstore.text import words

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from memstore.database.engine import Transaction


class Queries:
    """The recorded queries by their words; read once for all that one plan erases."""

    def __init__(self) -> None:
        self._last = 0
        self._searches: dict[str, set[int]] = {}

    def forget(self, transaction: Transaction, kind: str, texts: Mapping[int, str]) -> None:
        """Blank queries, after rows of a kind, with these texts, were blanked."""
        if not texts or search_table.is_empty(transaction):
            return
        search_table.blank_given(transaction, kind, [*texts])
        self._read_more(transaction)
        going: set[int] = set()
        for text in texts.values():
            for form in self._shared(transaction, text):
                if not _is_held(transaction, form):
                    going |= self._searches.pop(form[0])
        if going:
            search_table.blank(transaction, going)

    def _read_more(self, transaction: Transaction) -> None:
        asked = search_table.queries(transaction, self._last)
        tokens = transaction.tokens(query for _, query in asked)
        for (id_, query), some in zip(asked, tokens, strict=True):
            for token in (*some, *words.pairs(query)):
                self._searches.setdefault(token, set()).add(id_)
            self._last = id_

    def _shared(self, transaction: Transaction, text: str) -> Iterator[tuple[str, str]]:
        """Yield the words of a text that queries have: as a token, and as it is written."""
        for pair in {*words.pairs(text)} & self._searches.keys():
            yield pair, pair
        (tokens,) = transaction.tokens([text])
        shared = {*tokens} & self._searches.keys()
        if not shared:
            return
        written = [*dict.fromkeys(words.split(text))]
        for word, some in zip(written, transaction.tokens(written), strict=True):
            for token in shared.intersection(some):
                shared.discard(token)
                yield token, word


def _is_held(transaction: Transaction, form: tuple[str, str]) -> bool:
    both = transaction.full_text
    return any(index.holds(transaction, form[1]) for index in (both.facts, both.episodes))
