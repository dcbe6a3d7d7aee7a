"""The inverted index."""

from collections.abc import Iterable, Sequence
from os import PathLike
from typing import final

from memstore._kernel.ids import Ids

__all__ = ["Words", "edits", "near_words"]

@final
class Words:
    """An inverted index of rows' tokens, ranked exactly as FTS5's `bm25()` ranks them.

    The tokens are those of FTS5's tokenizer, so that the index finds the same words. A phrase is a
    list of consecutive tokens within a column; a phrase of one token is a word. Statistics cover
    all rows, visible or not, and are always exact: their number, their mean length, and the number
    of rows with a phrase.

    Merging, which can take a second or more, is done by the
    `put` that makes it necessary and does not block readers.
    """

    def __new__(cls) -> Words: ...
    @staticmethod
    def open(path: str | PathLike[str], database: bytes) -> Words:
        """Map a file written by `save`."""

    def save(self, path: str | PathLike[str], database: bytes, position: int) -> None:
        """Write all rows to a file that exists."""

    def is_intact(self, *, compare: bool = False) -> bool:
        """Whether the opened file is what was written."""

    @property
    def position(self) -> int: ...
    @property
    def nbytes(self) -> int: ...
    def __len__(self) -> int:
        """The number of rows, including those without tokens."""

    def put(self, ids: Iterable[int], texts: Iterable[Iterable[str]]) -> None:
        """Add rows, or replace those with the same id.

        If an id occurs twice, the last row counts. All or nothing. Load many rows in batches of
        some tens of thousands.

        Args:
            ids: `n` row ids. The largest allowed is 2**24 plus 64 for each row.
            texts: the tokens of each row in order, at most 2**24; an empty token separates two
                columns.

        Raises:
            ValueError: unequal lengths, an id that is too large, too many tokens.
            TypeError: not iterables of integers and of iterables of strings.
        """

    def drop(self, ids: Iterable[int]) -> int:
        """Remove rows; returns how many existed."""

    def search(
        self,
        phrases: Sequence[Sequence[str]],
        limit: int,
        visible: Ids | None = None,
        *,
        until: int | None = None,
    ) -> list[tuple[int, float]]:
        """Find the rows with any of the phrases, best first, ties by the larger id.

        Args:
            phrases: a phrase given twice counts twice.
            limit: the most rows to find; 0 finds none.
            visible: the only rows that may be found; `None` is all.
            until: an id: the statistics are those of the rows up to it, as they were when there
                were no others. `visible` must have no later ones then.

        Returns:
            Ids and scores; a score is `-bm25()`, so higher is better.

        Raises:
            ValueError: a negative limit.
        """

    def bm25(
        self,
        phrases: Sequence[Sequence[str]],
        limit: int,
        visible: Ids | None = None,
        *,
        until: int | None = None,
    ) -> dict[int, float]:
        """What `search` finds, by id in the same order, with SQLite's `bm25()`: lower is better."""

    def parts(
        self,
        phrases: Sequence[Sequence[str]],
        ids: Iterable[int],
        *,
        until: int | None = None,
    ) -> list[list[float]]:
        """The contribution of each phrase to each row's score; 0.0 if the row does not exist."""

    def similar(self, word: str, most: int, limit: int) -> list[tuple[str, int]]:
        """The terms that a misspelt word may stand for, nearest first, with their edits.

        A term is near if it begins the word but for `most` edits: a letter more or less, another
        letter, or two neighbours in the other order. Terms of other characters than letters are
        left out. Terms of rows that were dropped may be among them. Every term is compared, most
        of them by their letters alone; the GIL is released. Searches ask for :meth:`similar_rows`;
        this shows which terms those are of.

        Args:
            word: in the letters of terms: lower case, without accents.
            most: edits.
            limit: the most terms to return.
        """

    def similar_rows(
        self,
        word: str,
        most: int,
        *,
        terms: int,
        letters: int,
        rows: int,
        visible: Ids | None = None,
        until: int | None = None,
    ) -> list[int]:
        """The best rows with each of the terms that `similar` finds, each row once.

        Args:
            word: as for `similar`.
            most: edits.
            terms: the most terms.
            letters: the fewest letters of a term that counts.
            rows: the most rows with each term.
            visible: as for `search`.
            until: as for `search`.
        """

    def frequencies(
        self, phrases: Sequence[Sequence[str]], *, until: int | None = None
    ) -> list[int]:
        """The number of rows with each phrase, among those up to the id `until`."""

def near_words(word: str, texts: Sequence[str], most: int) -> list[tuple[str, int]]:
    """The words of ASCII texts that are at most so many edits from a word, with their edits.

    A word is a run of letters. Each spelling comes once, in the order of the texts.

    Args:
        word: in small letters; the letter case of the texts does not count.
        texts: of ASCII characters alone.
        most: edits, as for :func:`edits`.
    """

def edits(word: str, others: Sequence[str], most: int) -> list[int]:
    """The edits between a word and each of others, or `most + 1` where there are more.

    An edit is a letter more, less or another, or two neighbours in the other order (optimal string
    alignment). The GIL is released.
    """
