"""The Rust kernel: float32 vectors as bytes, the index that searches use, and the ranking.

What holds for every function:

- An array must be a numpy array of exactly the dtype and number of dimensions given here,
  C-contiguous and aligned. Nothing is converted silently: a wrong type or dtype is a `TypeError`,
  a wrong number of dimensions or another memory layout a `ValueError`, and both say which
  `np.ascontiguousarray(...)` call helps.
- Arguments are copied before the GIL is released; the caller may change them as soon as the call
  returns. Results are new objects that the caller owns.
- What there is no memory for is a `MemoryError`; nothing was changed then.
- NaN and infinities are refused with a `ValueError` that names the argument and the position.
- On a free-threaded build every function may be called from any thread at any time.
"""

from collections.abc import Iterable, Iterator, Sequence
from os import PathLike
from typing import Literal, Self, final

import numpy as np
from numpy.typing import NDArray
from typing_extensions import Buffer

__all__ = [
    "Codes",
    "Columns",
    "Ids",
    "OpenFiles",
    "StaticModel",
    "Texts",
    "Words",
    "cosine",
    "cosines",
    "decode",
    "decode_many",
    "encode",
    "encode_many",
    "instruction_set",
    "lock_system_calls",
    "locks_held",
    "pretend_process_locks",
    "rank",
]

def encode(vector: NDArray[np.float32]) -> bytes:
    """Write a vector as a BLOB: `4 * d` bytes, float32, little-endian on every machine.

    Keeps the GIL: the work is shorter than giving it away.

    Args:
        vector: `float32[d]`.

    Raises:
        ValueError: a component is NaN or infinite; the message names its position.
        TypeError: not a numpy array of float32.
    """

def encode_many(matrix: NDArray[np.float32]) -> list[bytes]:
    """Write each row of a matrix as a BLOB.

    Releases the GIL while it looks for NaN, and holds it while it makes the `bytes`.

    Args:
        matrix: `float32[n, d]`.

    Raises:
        ValueError: a component is NaN or infinite; the message names its row and position.
        TypeError: not a numpy array of float32.
    """

def decode(blob: bytes) -> NDArray[np.float32]:
    """Read a BLOB as a new, writable `float32[d]`, `d = len(blob) / 4`.

    What the bytes say is returned as it is, also NaN. Keeps the GIL: the work is shorter than
    giving it away.

    Raises:
        ValueError: the length is no multiple of four.
        TypeError: not `bytes`.
    """

def decode_many(blobs: Sequence[bytes], dimension: int) -> NDArray[np.float32]:
    """Read BLOBs of one dimension as a new, writable `float32[n, dimension]`.

    What the bytes say is returned as it is, also NaN. Releases the GIL.

    Raises:
        ValueError: a BLOB is not `4 * dimension` bytes; the message names its index, its length
            and the expected one. Or the dimension is negative or absurd.
        TypeError: not a sequence of `bytes`.
    """

def cosine(a: NDArray[np.float32], b: NDArray[np.float32]) -> float:
    """The cosine of two vectors, in -1..1; 0.0 if one is all zeros or the lengths differ.

    Summed in float64, so that no magnitude overflows or vanishes. Keeps the GIL: the work is
    shorter than giving it away.

    Args:
        a: `float32[d]`.
        b: `float32[d]`.

    Raises:
        ValueError: a component is NaN or infinite; the message names its position.
        TypeError: not numpy arrays of float32.
    """

def cosines(query: Buffer, blobs: Sequence[bytes]) -> list[float]:
    """The cosine of a query with each vector, in order, in -1..1; 0.0 for a vector of zeros.

    In float32, as `Codes.scan` bounds it. Releases the GIL.

    Args:
        query: a C-contiguous buffer of `d` float32.
        blobs: vectors of `4 * d` bytes, float32, little-endian.

    Raises:
        ValueError: a BLOB of another size (its index, its length and the expected one are named),
            NaN or an infinity.
        TypeError: not a buffer of float32, or not a sequence of `bytes`.
    """

def instruction_set() -> str:
    """What a scan uses on this machine: `"avx512"`, `"avx2"`, `"neon"` or `"scalar"`."""

@final
class Codes:
    """Codes of vectors, a quarter of their size, that tell which can be among the nearest.

    The vectors themselves are not kept: `scan` returns a few more rows than were asked for, and
    `cosines` compares their vectors. No row that is among the nearest is left out. A row has an id,
    and an owner whose visibility counts: a fact is its own owner, a piece belongs to its episode.

    Rows are in a file that is mapped, so that processes share it, and those that came since are in
    memory. Every method releases the GIL and may be called from any thread: readers share, a writer
    waits for them and they for it. A reader sees all of a `put` or nothing of it.

    Args:
        dimension: components of a vector, at least one.

    Raises:
        ValueError: the dimension is not 1 to 65,536.
    """

    def __new__(cls, dimension: int) -> Codes: ...
    @staticmethod
    def open(path: str | PathLike[str], database: bytes, generation: int) -> Codes:
        """Map a file that `save` wrote. It is read in place; changes to the rows stay in memory.

        Args:
            path: the file.
            database: the 16 bytes that it was saved with.
            generation: that of the vectors, as it was saved with.

        Raises:
            OSError: it cannot be read.
            ValueError: it is damaged, or was derived from something else.
        """

    def save(
        self, path: str | PathLike[str], database: bytes, generation: int, position: int
    ) -> None:
        """Write all rows to a new file; writing more rows waits for it, reading does not.

        The rows in memory stay there: open the file to have them in it.

        Args:
            path: the file; there is nothing at it, or a whole file.
            database: 16 bytes that identify it.
            generation: that of the vectors.
            position: how far in the database's changes the rows go.

        Raises:
            OSError: it cannot be written.
        """

    @property
    def dimension(self) -> int:
        """Components of a vector."""

    @property
    def position(self) -> int:
        """How far in the database's changes the file went that was opened; 0 if there was none."""

    @property
    def nbytes(self) -> int:
        """Bytes in memory of this process' own; what is mapped is not counted."""

    def __len__(self) -> int:
        """How many rows there are."""

    def put(self, ids: Iterable[int], owners: Iterable[int], blobs: Sequence[bytes]) -> None:
        """Add rows, or replace those whose id is here. Of an id that occurs twice the last stays.

        All or nothing. Takes some microseconds a row, nearly all of them before it keeps any
        reader waiting.

        Args:
            ids: row ids, 0 to 2**32 - 1.
            owners: row ids, the owner of each row.
            blobs: vectors of `4 * d` bytes, float32, little-endian.

        Raises:
            ValueError: unequal lengths, an id that no row has, a BLOB of another size (its index,
                its length and the expected one are named), NaN or an infinity.
            TypeError: not integers, or not a sequence of `bytes`.
        """

    def drop(self, ids: Iterable[int]) -> int:
        """Remove rows; returns how many were here.

        Args:
            ids: row ids.

        Raises:
            ValueError: an id that no row has.
            TypeError: not integers.
        """

    def scan(self, queries: Buffer, limit: int, visible: Ids | None = None) -> list[list[int]]:
        """Find the rows that can be among the nearest to each query.

        Near are rows of positive cosine, as `cosines` computes it. All rows that may tie with the
        last of the nearest are among those returned; about as many more as lie within 0.02 of its
        cosine. All queries share one pass over the rows; where the work is worth it, several
        threads share it too.

        Args:
            queries: a C-contiguous buffer of `q * d` float32, one query after the other.
            limit: how many of the nearest are wanted; 0 finds none.
            visible: owners whose rows may be found; `None` is all. If they are few, only their
                rows are looked at.

        Returns:
            For each query row ids, ascending.

        Raises:
            ValueError: not a whole number of vectors, NaN or an infinity, a negative limit.
            TypeError: not a buffer of float32.
        """

@final
class Ids:
    """An immutable set of row ids, one bit each, so it takes an eighth of the largest in bytes.

    Args:
        ids: 0 to 2**32 - 1, in any order; equal ones count once.

    Raises:
        ValueError: an id that no row has.
        TypeError: not an iterable of integers.
    """

    def __new__(cls, ids: Iterable[int]) -> Ids: ...
    def __len__(self) -> int: ...
    def __contains__(self, row_id: int, /) -> bool: ...
    def __iter__(self) -> Iterator[int]:
        """Yield the ids, from the smallest."""

    def __and__(self, other: Ids, /) -> Ids: ...
    def __or__(self, other: Ids, /) -> Ids: ...
    def __sub__(self, other: Ids, /) -> Ids: ...
    def __rand__(self, other: Ids, /) -> Ids: ...
    def __ror__(self, other: Ids, /) -> Ids: ...
    def __rsub__(self, other: Ids, /) -> Ids: ...

@final
class Columns:
    """What decides which rows may be seen, by row id.

    Every method releases the GIL and may be called from any thread: readers share, a writer waits
    for them and they for it. Moments are texts, and their order is that of the texts; those written
    as `2026-01-31T23:59:59.000000Z` take eight bytes.
    """

    def __new__(cls) -> Columns: ...
    @staticmethod
    def open(path: str | PathLike[str], database: bytes) -> Columns:
        """Map what :meth:`save` wrote for the same database.

        Raises:
            OSError: there is no file, or it cannot be read.
            ValueError: it is another one's, or damaged.
        """

    def save(self, path: str | PathLike[str], database: bytes, position: int) -> None:
        """Write all of it to a file, under another name first.

        Args:
            path: replaced at once, and only if the file could be written.
            database: 16 bytes that :meth:`open` is to ask for.
            position: returned by :attr:`position` of what is opened.

        Raises:
            OSError: it cannot be written.
            ValueError: `database` is not 16 bytes.
        """

    @property
    def position(self) -> int:
        """What it was saved with; 0 if it was not opened from a file."""

    @property
    def nbytes(self) -> int:
        """Bytes of its own; those of a file that is mapped are not counted."""

    def __len__(self) -> int: ...
    def put(
        self,
        rows: Sequence[
            tuple[
                int,
                str | None,
                int,
                tuple[str | None, str | None],
                tuple[str | None, str | None, str | None],
            ]
        ],
    ) -> None:
        """Add rows, or replace those whose id is here.

        Args:
            rows: the row id; the namespace; flags, 0 to 255; two texts; three moments. `None` is
                equal to nothing, and neither before nor after anything.

        Raises:
            ValueError: an id that no row has; nothing was changed.
            TypeError, OverflowError: another type, or flags of more bits; nothing was changed.
        """

    def drop(self, ids: Iterable[int]) -> int:
        """Remove rows; returns how many were here."""

    def select(
        self,
        namespaces: Sequence[str] | None,
        *,
        without: int = 0,
        texts: tuple[str | None, str | None] = (None, None),
        periods: Sequence[tuple[int, str | None, str | None, bool]] = (),
    ) -> Ids:
        """Return the ids of the rows that are let through.

        Args:
            namespaces: where to look; `None` is everywhere.
            without: flags of which a row has none.
            texts: for each column of texts what a row has there; `None` for whatever.
            periods: each a column of moments, after and before what a row's moment is (the bounds
                are outside), and whether a row without one is let through.

        Raises:
            ValueError: no such column.
        """

@final
class StaticModel:
    """The embedded model: static token vectors, pooled by their mean and brought to length one.

    The table is part of the module, so making one opens nothing and costs nothing. Every method
    releases the GIL and may be called from any thread. The strings are read in place, and a text
    of any length is read whole. Results are the same on every machine, alone or in a batch, and
    however many threads share the work.

    Tokens are those of Llama 2's tokenizer without its special ones: `<s>` in a text is text.
    """

    def __new__(cls) -> Self: ...
    @property
    def dimension(self) -> int:
        """Components of a vector: 256."""

    @property
    def pieces(self) -> int:
        """Pieces of the vocabulary: every token id is smaller."""

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """The vector of each text as a new, writable `float32[n, 256]`.

        Rows have length one; that of the empty text is zeros. A large batch is shared by several
        threads.

        Raises:
            ValueError: a text holds a lone surrogate (`UnicodeEncodeError`).
            TypeError: not a sequence of `str`, or a single `str`.
        """

    def embed_bytes(self, texts: Sequence[str]) -> list[bytes]:
        """The same vectors, each as a BLOB of float32, little-endian; loads no numpy.

        Raises:
            ValueError: a text holds a lone surrogate (`UnicodeEncodeError`).
            TypeError: not a sequence of `str`, or a single `str`.
        """

    def token_ids(self, texts: Sequence[str]) -> list[bytes]:
        """The token ids of each text, in order, as uint16, little-endian.

        Raises:
            ValueError: a text holds a lone surrogate (`UnicodeEncodeError`).
            TypeError: not a sequence of `str`, or a single `str`.
        """

@final
class Texts:
    """What the second stage of a search knows of each row: its pieces, its place in a thread.

    Pieces are those of the embedded model's vocabulary. How many rows there are and how many have a
    piece is exact at any time. Every method releases the GIL and may be called from any thread:
    readers share, a writer waits for them and they for it.
    """

    def __new__(cls) -> Texts: ...
    @staticmethod
    def open(path: str | PathLike[str], database: bytes) -> Texts:
        """Map what :meth:`save` wrote for the same database. Changes to the rows stay in memory.

        Raises:
            OSError: there is no file, or it cannot be read.
            ValueError: it is another one's, or damaged.
        """

    def save(self, path: str | PathLike[str], database: bytes, position: int) -> None:
        """Write all of it to a file, under another name first.

        Args:
            path: replaced at once, and only if the file could be written.
            database: 16 bytes that :meth:`open` is to ask for.
            position: returned by :attr:`position` of what is opened.

        Raises:
            OSError: it cannot be written.
            ValueError: `database` is not 16 bytes.
        """

    @property
    def position(self) -> int:
        """What it was saved with; 0 if it was not opened from a file."""

    @property
    def nbytes(self) -> int:
        """Bytes of its own; those of a file that is mapped are not counted."""

    @property
    def mean_words(self) -> float:
        """How many words a row has on average; 0.0 without rows."""

    def __len__(self) -> int: ...
    def put(
        self,
        rows: Sequence[
            tuple[
                int,
                str,
                str | None,
                str | None,
                int | None,
                str | None,
                str | None,
                str | None,
            ]
        ],
    ) -> None:
        """Add rows, or replace those whose id is here.

        Args:
            rows: the row id; its text; who says it, or whom it is about; the thread, with all that
                tells it from others; the place there; the moment it speaks of; when it was stored;
                and what it ages as, `None` for not at all. A moment in another form than
                `2026-01-31T23:59:59.000000Z` counts as far as it can be read.

        Raises:
            ValueError: an id that no row has; nothing was changed.
        """

    def drop(self, ids: Iterable[int]) -> int:
        """Remove rows; returns how many were here."""

    def idf(self, text: str) -> list[tuple[int, float]]:
        """The pieces of a text, each once, by id, with how telling they are.

        `max(0, ln((n + 1) / (df + 0.5)))`, for `df` of `n` rows that have the piece.
        """

    def vector(self, query: str) -> bytes:
        """The mean of a query's pieces' vectors, weighed by :meth:`idf`, as 256 float32.

        Of length one. All count the same where none tells anything; zeros for the empty text.
        """

    def cosines(self, vector: Buffer, ids: Iterable[int]) -> list[float | None]:
        """The cosine of each row's vector, by the embedded model, with a vector.

        Args:
            vector: a C-contiguous buffer of 256 float32, of length one.
            ids: row ids.

        Returns:
            In order; `None` for what is not here.

        Raises:
            ValueError: another length, NaN or an infinity.
        """

    def relevances(self, query: str, ids: Iterable[int]) -> list[float | None]:
        """How likely rows answer a query at all, 0 to 1, in order; `None` for what is not here.

        The mean, weighed by :meth:`idf`, of how similar the query's pieces are to the row's
        nearest, times the cosine of both; by the embedded model.
        """

    def neighbours(self, ids: Iterable[int], reach: int, visible: Ids | None = None) -> list[int]:
        """The rows up to `reach` places beside these in their threads, each once, without these.

        Args:
            visible: what may be found, and what counts as a place; `None` is all.
        """

    def rank(
        self,
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
        newest_of_equals: bool = False,
    ) -> list[
        tuple[
            int,
            float,
            float,
            float,
            float,
            tuple[float, float, float, float, float, float, float, float],
        ]
    ]:
        """Put candidates into the order in which they answer a query, the best first.

        Args:
            words: the inverted index of the same rows.
            phrases: the query's words, as `Words.search` takes them.
            query: the query.
            telling: its words without stop words.
            candidates: row ids with their vectors' cosines; `None` where there is no vector. What
                is not here is left out.
            limit: how many at most.
            visible: which neighbours are looked at.
            half_lives: seconds by what rows age as; all are above 0.
            now: a moment, for the ages of rows.
            newest_of_equals: let the newest of rows on one subject come first whose scores differ
                by 0.02 at most.

        Returns:
            Tuples of the row id, its score (0 to 1), its decay, its BM25 divided by the largest,
            its cosine where positive, and what the score is the sum of before it decays: words,
            meaning, terms, thread, session, subject, date and type.

        Raises:
            ValueError: an id that no row has, a number that is not finite, a negative limit.
        """

@final
class Words:
    """An inverted index of rows' tokens, ranked exactly as FTS5's `bm25()` ranks them.

    The tokens are those of FTS5's tokenizer, so that the index knows the words that FTS5 knows. A
    phrase is a list of tokens that stand one behind the other within a column; a phrase of one
    token is a word. Statistics are over all rows, whatever may be seen: their number, their mean
    length and in how many a phrase is are exact at any time.

    Every method releases the GIL and may be called from any thread: readers share, and see all of
    a `put` or nothing of it. Merging, which can take a second or more, is done by the `put` that
    makes it necessary and keeps no reader waiting.
    """

    def __new__(cls) -> Words: ...
    @staticmethod
    def open(path: str | PathLike[str], database: bytes) -> Words:
        """Map a file that `save` wrote. It is read in place, and may be changed in memory.

        Args:
            path: the file.
            database: the 16 bytes that it was saved with.

        Raises:
            OSError: it cannot be read.
            ValueError: it is damaged, or was derived from something else.
        """

    def save(self, path: str | PathLike[str], database: bytes, position: int) -> None:
        """Write all rows to a new file; writing more rows waits for it, reading does not.

        Args:
            path: the file; there is nothing at it, or a whole file.
            database: 16 bytes that identify it.
            position: how far in the database's changes the rows go.

        Raises:
            OSError: it cannot be written.
        """

    @property
    def position(self) -> int:
        """The position in the file that was opened; 0 if none was."""

    @property
    def nbytes(self) -> int:
        """Bytes in the memory of this process, roughly; what is mapped is not counted."""

    def __len__(self) -> int:
        """How many rows there are, those without tokens too."""

    def put(self, ids: Iterable[int], texts: Iterable[Iterable[str]]) -> None:
        """Add rows, or replace those whose id is here.

        Of an id that occurs twice the last row stays. All or nothing. A large load is best put in
        batches of some tens of thousands of rows.

        Args:
            ids: `n` row ids. The largest is limited to 2**24 and 64 more for each row.
            texts: the tokens of each row in their order, at most 2**24; an empty one stands between
                two columns.

        Raises:
            ValueError: unequal lengths, an id that is too large, too many tokens.
            TypeError: not iterables of integers and of iterables of strings.
        """

    def drop(self, ids: Iterable[int]) -> int:
        """Remove rows; returns how many were here."""

    def search(
        self, phrases: Sequence[Sequence[str]], limit: int, visible: Ids | None = None
    ) -> list[tuple[int, float]]:
        """Find the rows that have any of the phrases, best first, ties by the larger id.

        Args:
            phrases: one that occurs twice counts twice.
            limit: how many rows to find at most; 0 finds none.
            visible: the only rows that may be found; `None` is all.

        Returns:
            Ids and scores; a score is `-bm25()`, so more is better.

        Raises:
            ValueError: a negative limit.
        """

    def parts(self, phrases: Sequence[Sequence[str]], ids: Iterable[int]) -> list[list[float]]:
        """What each phrase adds to the score of each row; 0.0 for a row that is not here."""

    def frequencies(self, phrases: Sequence[Sequence[str]]) -> list[int]:
        """How many rows have each phrase."""

def lock_system_calls() -> list[tuple[str, int]]:
    """Return stand-ins for SQLite's system calls: the name of each and its address.

    Empty on Windows. The functions live as long as the process. The first call registers what has
    to happen at a fork.
    """

def locks_held() -> tuple[int, int, int]:
    """Count the files locked through the stand-ins, and descriptors kept open.

    Returns:
        Files whose locks belong to an open file description; files whose locks belong to the
        process, for want of better ones; descriptors that stay open because another user of the
        file in this process may hold locks.
    """

@final
class OpenFiles:
    """The files of an open database, and which they were.

    Args:
        path: the database; its log and the log's index lie beside it.
    """

    def __new__(cls, path: str) -> Self: ...
    def remember(self) -> None:
        """Take the files that are there now for those that were opened."""

    def changed(
        self,
    ) -> list[tuple[Literal["file", "log", "index"], Literal["removed", "replaced"]]]:
        """Return what became of those that are no longer the ones remembered.

        Always empty on Windows, which neither removes nor renames a file that is open.
        """

def pretend_process_locks(pretend: bool) -> None:
    """Give files that are opened from now on locks of the process; for tests of the fallback."""

def rank(
    words: Sequence[tuple[int, float]],
    vectors: Sequence[tuple[int, float]],
    decays: Sequence[tuple[int, float, float]],
    *,
    word_weight: float,
    vector_weight: float,
    limit: int,
) -> list[tuple[int, float, float, float, float]]:
    """Merge what the word search and the scan found into one order. Releases the GIL.

    A candidate is an id of `words` or of `vectors`:

    - word score: `max(-bm25, 0)`, divided by the largest one of the call; 0 if none is positive
      (SQLite's `bm25()` is negative, the more negative the better), or the words did not find it;
    - vector score: the cosine held to 0..1; 0 if the scan did not find it;
    - decay: `0.5 ** (max(age, 0) / half_life)`; 1 for an id not in `decays` or with a half-life
      that is not positive;
    - score: `(word_weight * word + vector_weight * vector) * decay`.

    Of an id that a list holds twice the last entry counts. No result is ever NaN.

    Args:
        words: ids found by words, and their `bm25()` as SQLite gives it.
        vectors: ids found by the scan, and their cosines.
        decays: what ages: id, age and half-life in seconds; ids that are no candidates are passed
            over.
        word_weight: finite, not negative.
        vector_weight: finite, not negative.
        limit: how many to return at most; 0 returns none.

    Returns:
        Id, score, word score, vector score and decay of each, by falling score, ties by the
        smaller id.

    Raises:
        ValueError: a number that is not finite, a negative weight or limit; the message names the
            argument.
        TypeError: not sequences of such tuples.
    """
