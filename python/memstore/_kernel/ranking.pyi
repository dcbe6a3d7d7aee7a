"""The order of results, and whether rows are about a query. Every function releases the GIL."""

from collections.abc import Iterable, Sequence
from typing import Final, TypeAlias, final

from memstore._kernel.features import Features
from memstore._kernel.ids import Ids
from memstore._kernel.words import Words

__all__ = [
    "REACH",
    "Bearing",
    "bearings",
    "classic",
    "contextual",
    "named",
    "relevances",
    "relevances_of_hits",
]

REACH: Final[int]
"""How many neighbours in its thread count for a row, on either side."""

def classic(
    words: Sequence[tuple[int, float]],
    vectors: Sequence[tuple[int, float]],
    decays: Sequence[tuple[int, float, float]],
    *,
    word_weight: float,
    vector_weight: float,
    limit: int,
) -> list[tuple[int, float, float, float, float]]:
    """Merge the results of the word search and the scan into one ranking.

    A candidate is an id of `words` or of `vectors`:

    - word score: `max(-bm25, 0)`, divided by the largest one of the call; 0 if none is positive
      (SQLite's `bm25()` is negative, the more negative the better), or the words did not find it;
    - vector score: the cosine clamped to 0..1; 0 if the scan did not find it;
    - decay: `0.5 ** (max(age, 0) / half_life)`; 1 for an id not in `decays` or with a half-life
      that is not positive;
    - score: `(word_weight * word + vector_weight * vector) * decay`.

    If a list has an id twice, the last entry counts. No result is ever NaN.

    Args:
        words: ids found by words, and their `bm25()` as SQLite gives it.
        vectors: ids found by the scan, and their cosines.
        decays: id, age and half-life in seconds of rows that age; other ids than the candidates are
            ignored.
        word_weight: finite, not negative.
        vector_weight: finite, not negative.
        limit: the most to return; 0 returns none.

    Returns:
        Id, score, word score, vector score and decay of each, by descending score, ties by the
        smaller id.

    Raises:
        ValueError: a number that is not finite, a negative weight or limit; the message names the
            argument.
        TypeError: not sequences of such tuples.
    """

_Calendar: TypeAlias = tuple[
    Sequence[tuple[int, int]],
    Sequence[tuple[tuple[int, int, int], tuple[int, int, int]]],
    bool,
]
"""As for :func:`contextual`."""
_Condition: TypeAlias = tuple[
    str | None,
    str | None,
    str | None,
    Sequence[Sequence[str]],
    Sequence[int],
    tuple[str, Sequence[Sequence[str]], str] | None,
    tuple[float, float],
]
"""As for :func:`contextual`."""

_Parts: TypeAlias = tuple[
    float, float, float, float, float, float, float, float, float, float, float
]
"""The parts of a contextual score, which is the sum of all but the last:

- words of the query that are in the row;
- the cosine;
- the similarity of the query's words to the most similar of the row's;
- from better matches of neighbours, and from a preceding question;
- from the thread's best rows;
- the query names the row's subject or speaker; its date; the kind of answer that the row has;
- 0.0;
- what the row loses by its age, and by the newest of equals coming first;
- how fresh it is, as in :data:`_Ranked`.
"""

_Ranked: TypeAlias = tuple[int, float, float, float, float, _Parts, float | None]
"""A row with its contextual score:

- its id, and its score, 0 to 1;
- its BM25, divided by the largest, and its cosine if positive, otherwise 0;
- how fresh it is since it was stored or last confirmed; 1 if it does not age;
- the parts of the score;
- what :func:`relevances` tells of it; `None` with a condition, or of fewer than 100 rows.
"""

def contextual(
    features: Features,
    words: Words,
    phrases: Sequence[Sequence[str]],
    query: str,
    telling: str,
    candidates: Sequence[tuple[int, float | None]],
    *,
    limit: int,
    visible: Ids | None = None,
    half_lives: Sequence[tuple[str, float]] = ...,
    now: str | None = None,
    compares: bool = False,
    joins: bool = False,
    until: int | None = None,
    ages: Sequence[tuple[int, str, str, str | None]] = ...,
    calendar: _Calendar = ...,
    condition: _Condition | None = None,
) -> tuple[list[_Ranked], tuple[int, int, float] | None]:
    """Rank candidates by how well they answer a query, best first.

    If rows on one subject share two thirds of their tokens and their scores differ by at most
    0.02, the newest comes first, and they exchange their scores.

    Args:
        features: of the rows.
        words: the inverted index of the same rows.
        phrases: the query's words, as `Words.search` takes them.
        query: the query.
        telling: its words without stop words.
        candidates: row ids with their vectors' cosines; `None` for a row without a vector. Rows
            that do not exist are left out.
        limit: the most rows to return.
        visible: the neighbours that may contribute.
        half_lives: seconds by the kind given to `Features.put`; all are above 0.
        now: the time that the ages of rows are relative to.
        compares: compute the cosines that are `None` by the built-in model.
        joins: the cosines are those of another model, above the cosine of two texts that have
            nothing in common; they count beside those of the built-in model, which are computed.
        until: as for `Words.search`.
        ages: of rows that had others at `now` than was given to `Features.put`: the id, when the
            row was stored or last confirmed, the same of the moment that it is about, and the kind
            that it ages as.
        calendar: from which minute since 1970 the user's clock is ahead of UTC by how many minutes,
            ascending; the first and last days of the periods that the query means, each day as
            year, month and number; and whether the dates in its words are conditions, so that
            only these periods are meant.
        condition: the times since and until which a row may be said; `newest` or `oldest`, if
            what matches is ordered by time; the words that say so, as tokens: there is no
            condition if a row has them that tells of the event, or is about what is asked; the
            ids of the rows that tell of an event at which the time begins or ends;
            what rows are compared with then, instead of the query: a text, its words, and the text
            without stop words; and what a row loses outside, and the share of the best score with
            which a row matches as well.

    Returns:
        The rows; and, if the query names exactly one speaker or subject of the visible rows, but
        the best row of others has a `terms` that is larger by more than 0.05, the best row of the
        one who is named, that of the others, and the difference of their `terms`. Rows that ask
        something, rows of roles such as `user` and rows of others that name the same one do not
        count.

    Raises:
        ValueError: an id out of range, a number that is not finite, a negative limit, no time.
    """

@final
class Bearing:
    """What a row has of the names, identifiers and words of a query."""

    @property
    def is_enough(self) -> bool:
        """Whether the row is about what the query asks, by that alone."""

    @property
    def named(self) -> bool:
        """It has or is about a name of the query."""

    @property
    def dated(self) -> bool:
        """Its moment is the day or month that the query names."""

    @property
    def identified(self) -> bool:
        """It has an identifier of the query that fewer than one row in twenty has."""

    @property
    def weight(self) -> float:
        """The sum of the weights of its words: `min(idf, rarity in any text)`."""

    @property
    def coverage(self) -> float:
        """Their share of the weights of all words of the query, 0 to 1."""

    @property
    def rare(self) -> int:
        """How many of its words are rare."""

def bearings(
    features: Features,
    words: Words,
    query: str,
    terms: Sequence[tuple[str, Sequence[Sequence[str]]]],
    identifiers: Sequence[Sequence[str]],
    ids: Iterable[int],
    *,
    until: int | None = None,
    calendar: _Calendar = ...,
) -> list[Bearing | None]:
    """What rows have of a query's names, identifiers and words; `None` without the row.

    Args:
        features: of the rows.
        words: the inverted index of the same rows.
        query: for the names in it.
        terms: each word of the query without stop words, and its spellings as tokens.
        identifiers: paths, versions, long numbers and the like, as tokens.
        ids: row ids.
        until: as for `Words.search`.
        calendar: as for :func:`contextual`.
    """

def relevances(
    features: Features, query: str, telling: str, ids: Iterable[int]
) -> list[float | None]:
    """How relevant rows are to a query, 0 to 1, in order; `None` for a row that does not exist.

    The mean, weighted as in :func:`contextual`, of the similarity of each query token to the
    nearest token of the row, times the cosine of query and row; by the built-in model.

    Args:
        features: of the rows.
        telling: the query without stop words.
        ids: row ids.
    """

def relevances_of_hits(
    features: Features,
    words: Words,
    query: str,
    terms: Sequence[tuple[str, Sequence[Sequence[str]]]],
    identifiers: Sequence[Sequence[str]],
    telling: str,
    ids: Iterable[int],
    known: Sequence[float | None],
    *,
    until: int | None = None,
    calendar: _Calendar = ...,
) -> list[float | None]:
    """How relevant rows are to a query by its words and by meaning, 0 to 1, in order.

    1 for a row that has all of the `terms`, or whose :func:`bearings` are enough; the others as
    :func:`relevances` tells; `None` for a row that does not exist. The arguments are those of both.

    Args:
        known: what :func:`relevances` tells of each row, where :func:`contextual` has told it.

    Raises:
        ValueError: not one of `known` for each row.
    """

def named(prompt: str, asks: bool, texts: Sequence[str]) -> list[bool]:
    """Whether each text has a name that a prompt has, wherever in its sentences.

    Args:
        asks: whether the prompt is a question; then the word that begins it may be a name.
    """
