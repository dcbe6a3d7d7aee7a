"""The Rust kernel: float32 vectors as bytes, the index that searches use, and the ranking.

The following holds for every function:

- An array must be a numpy array of exactly the dtype and number of dimensions given here,
  C-contiguous and aligned. Nothing is converted silently: a wrong type or dtype is a `TypeError`,
  a wrong number of dimensions or another memory layout a `ValueError`, and both say which
  `np.ascontiguousarray(...)` call helps.
- Arguments are copied before the GIL is released; the caller may change them as soon as the call
  returns. Results are new objects that the caller owns.
- If there is not enough memory, a `MemoryError` is raised and nothing is changed.
- NaN and infinities are refused with a `ValueError` that names the argument and the position.
- On a free-threaded build every function may be called from any thread at any time.
"""

from collections.abc import Iterable, Iterator, Sequence
from os import PathLike
from typing import Final, Literal, Self, final

import numpy as np
from numpy.typing import NDArray
from typing_extensions import Buffer

__all__ = [
    "HAS_MODEL",
    "Codes",
    "Columns",
    "Ids",
    "OpenFiles",
    "PanicException",
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
    "lock_is_seen",
    "lock_system_calls",
    "locks_held",
    "named_dates",
    "pretend_process_locks",
    "rank",
]

HAS_MODEL: Final[bool]
"""Whether the built-in model is part of this build. Without it there are no `StaticModel`,
`Texts.vector`, `Texts.cosines` and `Texts.nearest`, and the tokens of :class:`Texts` are words."""

def encode(vector: NDArray[np.float32]) -> bytes:
    """Return a vector as a BLOB: `4 * d` bytes, float32, little-endian on every machine.

    Keeps the GIL: releasing it would take longer than the work.

    Args:
        vector: `float32[d]`.

    Raises:
        ValueError: a component is NaN or infinite; the message names its position.
        TypeError: not a numpy array of float32.
    """

def encode_many(matrix: NDArray[np.float32]) -> list[bytes]:
    """Return each row of a matrix as a BLOB.

    Releases the GIL while it checks for NaN, and holds it while it creates the `bytes`.

    Args:
        matrix: `float32[n, d]`.

    Raises:
        ValueError: a component is NaN or infinite; the message names its row and position.
        TypeError: not a numpy array of float32.
    """

def decode(blob: bytes) -> NDArray[np.float32]:
    """Read a BLOB as a new, writable `float32[d]`, `d = len(blob) / 4`.

    The values are not checked and may be NaN. Keeps the GIL: releasing it would take longer than
    the work.

    Raises:
        ValueError: the length is not a multiple of four.
        TypeError: not `bytes`.
    """

def decode_many(blobs: Sequence[bytes], dimension: int) -> NDArray[np.float32]:
    """Read BLOBs of one dimension as a new, writable `float32[n, dimension]`.

    The values are not checked and may be NaN. Releases the GIL.

    Raises:
        ValueError: a BLOB is not `4 * dimension` bytes; the message names its index, its length
            and the expected one. Or the dimension is negative or too large.
        TypeError: not a sequence of `bytes`.
    """

def cosine(a: NDArray[np.float32], b: NDArray[np.float32]) -> float:
    """The cosine of two vectors, in -1..1; 0.0 if one is all zeros or the lengths differ.

    Summed in float64, so that no magnitude overflows or vanishes. Keeps the GIL: releasing it would
    take longer than the work.

    Args:
        a: `float32[d]`.
        b: `float32[d]`.

    Raises:
        ValueError: a component is NaN or infinite; the message names its position.
        TypeError: not numpy arrays of float32.
    """

def cosines(query: Buffer, blobs: Sequence[bytes]) -> list[float]:
    """The cosine of a query with each vector, in order, in -1..1; 0.0 for a vector of zeros.

    Computed in float32; `Codes.scan` bounds this value. Releases the GIL.

    Args:
        query: a C-contiguous buffer of `d` float32.
        blobs: vectors of `4 * d` bytes, float32, little-endian.

    Raises:
        ValueError: a BLOB of another size (its index, its length and the expected one are named),
            NaN or an infinity.
        TypeError: not a buffer of float32, or not a sequence of `bytes`.
    """

def instruction_set() -> str:
    """The instruction set that scans use here: `"avx512"`, `"avx2"`, `"neon"` or `"scalar"`."""

def named_dates(query: str) -> tuple[list[int], list[int], list[int]]:
    """Return the years (1900 to 2099), months and days that a query names, each once.

    Days are named beside a month only. A date that can be read in two ways names both readings.
    """

@final
class Codes:
    """Quantised vectors, a quarter of their size, for finding candidates for the nearest rows.

    The vectors themselves are not stored: `scan` returns a few more rows than requested, and the
    caller compares their vectors with `cosines`. No row among the nearest is left out. A row has an
    id, and an owner whose visibility counts: a fact is its own owner, a piece belongs to its
    episode.

    Rows of a saved file are mapped, so that processes share them; later ones are in memory. Every
    method releases the GIL and may be called from any thread: readers run in parallel, and a writer
    runs alone. A reader sees all of a `put` or nothing of it.

    Args:
        dimension: components of a vector, at least one.

    Raises:
        ValueError: the dimension is not 1 to 65,536.
    """

    def __new__(cls, dimension: int) -> Codes: ...
    @staticmethod
    def open(path: str | PathLike[str], database: bytes, generation: int) -> Codes:
        """Map a file written by `save`. It is read in place; changes to the rows stay in memory.

        Args:
            path: the file.
            database: the 16 bytes that it was saved with.
            generation: the vectors' generation that it was saved with.

        Raises:
            OSError: it cannot be read.
            ValueError: it is damaged, or was derived from something else.
        """

    def save(
        self, path: str | PathLike[str], database: bytes, generation: int, position: int
    ) -> None:
        """Write all rows to a file that exists; meanwhile other writers wait, but readers do not.

        The rows in memory stay there; open the file to use it instead.

        Args:
            path: the file, which must exist: one that was removed does not come back.
            database: 16 bytes that identify it.
            generation: the generation of the vectors.
            position: the position in the database's changes that the rows are current for.

        Raises:
            OSError: it cannot be written.
        """

    @property
    def dimension(self) -> int:
        """Components of a vector."""

    def is_intact(self, *, compare: bool = False) -> bool:
        """Whether the opened file is what was written; always true if none was opened.

        False if a part of it could not be read: its mapping then shows zeros. False, too, if its
        contents do not have their checksum, which is compared if the file's length or time differ,
        or if `compare` asks for it: 50 ms for 400 MB. Rows and scores that were returned before a
        false may be wrong.
        """

    @property
    def position(self) -> int:
        """The position that the opened file was saved with; 0 if none was opened."""

    @property
    def nbytes(self) -> int:
        """Bytes in this process's own memory, without mapped files."""

    def __len__(self) -> int:
        """How many rows there are."""

    def put(self, ids: Iterable[int], owners: Iterable[int], blobs: Sequence[bytes]) -> None:
        """Add rows, or replace those with the same id; if an id occurs twice, the last one counts.

        All or nothing. Takes some microseconds per row, nearly all of it before readers have to
        wait.

        Args:
            ids: row ids, 0 to 2**32 - 1.
            owners: row ids, the owner of each row.
            blobs: vectors of `4 * d` bytes, float32, little-endian.

        Raises:
            ValueError: unequal lengths, an id out of range, a BLOB of another size (its index,
                its length and the expected one are named), NaN or an infinity.
            TypeError: not integers, or not a sequence of `bytes`.
        """

    def drop(self, ids: Iterable[int]) -> int:
        """Remove rows; returns how many existed.

        Args:
            ids: row ids.

        Raises:
            ValueError: an id out of range.
            TypeError: not integers.
        """

    def scan(self, queries: Buffer, limit: int, visible: Ids | None = None) -> list[list[int]]:
        """Find the rows that can be among the nearest to each query.

        Only rows with a positive cosine, as `cosines` computes it, count as near. All rows that may
        tie with the last of the nearest are returned, and roughly those within 0.02 of its cosine.
        All queries share one pass over the rows, with several threads if there is enough work.

        Args:
            queries: a C-contiguous buffer of `q * d` float32, one query after the other.
            limit: how many of the nearest to find; 0 finds none.
            visible: owners whose rows may be found; `None` is all. If they are few, only their
                rows are read.

        Returns:
            For each query row ids, ascending.

        Raises:
            ValueError: not a whole number of vectors, NaN or an infinity, a negative limit.
            TypeError: not a buffer of float32.
        """

@final
class Ids:
    """An immutable set of row ids: a bit set, of as many bytes as an eighth of the largest id.

    Args:
        ids: 0 to 2**32 - 1, in any order; equal ones count once.

    Raises:
        ValueError: an id out of range.
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
    """The columns that decide which rows may be seen, by row id.

    Every method releases the GIL and may be called from any thread: readers run in parallel, and a
    writer runs alone. Times are texts and are ordered as texts; those of the form
    `2026-01-31T23:59:59.000000Z` take eight bytes.
    """

    def __new__(cls) -> Columns: ...
    @staticmethod
    def open(path: str | PathLike[str], database: bytes) -> Columns:
        """Map a file that :meth:`save` wrote for the same database.

        Raises:
            OSError: there is no file, or it cannot be read.
            ValueError: it is another database's, or damaged.
        """

    def save(self, path: str | PathLike[str], database: bytes, position: int) -> None:
        """Write everything to a file that exists.

        Args:
            path: the file, which must exist: one that was removed does not come back.
            database: the 16 bytes that :meth:`open` has to be given.
            position: what :attr:`position` returns after opening.

        Raises:
            OSError: it cannot be written.
            ValueError: `database` is not 16 bytes.
        """

    def is_intact(self, *, compare: bool = False) -> bool:
        """Whether the opened file is what was written; always true if none was opened.

        False if a part of it could not be read: its mapping then shows zeros. False, too, if its
        contents do not have their checksum, which is compared if the file's length or time differ,
        or if `compare` asks for it: 50 ms for 400 MB. Rows and scores that were returned before a
        false may be wrong.
        """

    @property
    def position(self) -> int:
        """The position it was saved with; 0 if it was not opened from a file."""

    @property
    def nbytes(self) -> int:
        """Bytes in this process's own memory, without mapped files."""

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
        """Add rows, or replace those with the same id.

        Args:
            rows: the row id; the namespace; flags, 0 to 255; two texts; three times. `None` is
                equal to nothing, and neither before nor after anything.

        Raises:
            ValueError: an id out of range; nothing was changed.
            TypeError, OverflowError: another type, or flags of more bits; nothing was changed.
        """

    def drop(self, ids: Iterable[int]) -> int:
        """Remove rows; returns how many existed."""

    def select(
        self,
        namespaces: Sequence[str] | None,
        *,
        without: int = 0,
        texts: tuple[str | None, str | None] = (None, None),
        periods: Sequence[tuple[int, str | None, str | None, bool]] = (),
        among: Ids | None = None,
    ) -> Ids:
        """Return the ids of the rows that match all conditions.

        Args:
            namespaces: the namespaces of the rows; `None` is all.
            without: flags that a row must not have.
            texts: for each text column the required value; `None` for any.
            periods: each a time column, an exclusive lower and upper bound, and whether a row
                without a time matches.
            among: only rows with these ids are looked at; `None` is all.

        Raises:
            ValueError: no such column.
        """

@final
class StaticModel:
    """The built-in model: static token vectors, pooled by their mean and scaled to length one.

    The table is part of the module, so creating an instance is free. Every method releases the GIL
    and may be called from any thread. The strings are read in place, and a text of any length is
    read whole. Results are the same on every machine, alone or in a batch, and for any number of
    threads.

    Tokens are those of Llama 2's tokenizer without its special ones: `<s>` in a text is text.
    """

    def __new__(cls) -> Self: ...
    @property
    def dimension(self) -> int:
        """Components of a vector: 256."""

    @property
    def pieces(self) -> int:
        """The size of the vocabulary: every token id is smaller."""

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """The vector of each text as a new, writable `float32[n, 256]`.

        Rows have length one; that of the empty text is zeros. A large batch uses several threads.

        Raises:
            ValueError: a text contains a lone surrogate (`UnicodeEncodeError`).
            TypeError: not a sequence of `str`, or a single `str`.
        """

    def embed_bytes(self, texts: Sequence[str]) -> list[bytes]:
        """The same vectors as BLOBs of float32, little-endian; does not import numpy.

        Raises:
            ValueError: a text contains a lone surrogate (`UnicodeEncodeError`).
            TypeError: not a sequence of `str`, or a single `str`.
        """

    def token_ids(self, texts: Sequence[str]) -> list[bytes]:
        """The token ids of each text, in order, as uint16, little-endian.

        Raises:
            ValueError: a text contains a lone surrogate (`UnicodeEncodeError`).
            TypeError: not a sequence of `str`, or a single `str`.
        """

@final
class Texts:
    """The data of each row for the second stage of a search: its tokens, its place in a thread.

    Tokens are those of the built-in model. The number of rows, and of rows with a token, is always
    exact. Every method releases the GIL and may be called from any thread: readers run in parallel,
    and a writer runs alone.
    """

    def __new__(cls) -> Texts: ...
    @staticmethod
    def open(path: str | PathLike[str], database: bytes) -> Texts:
        """Map a file that :meth:`save` wrote for the same database; changes stay in memory.

        Raises:
            OSError: there is no file, or it cannot be read.
            ValueError: it is another database's, or damaged.
        """

    def save(self, path: str | PathLike[str], database: bytes, position: int) -> None:
        """Write everything to a file that exists.

        Args:
            path: the file, which must exist: one that was removed does not come back.
            database: the 16 bytes that :meth:`open` has to be given.
            position: what :attr:`position` returns after opening.

        Raises:
            OSError: it cannot be written.
            ValueError: `database` is not 16 bytes.
        """

    def is_intact(self, *, compare: bool = False) -> bool:
        """Whether the opened file is what was written; always true if none was opened.

        False if a part of it could not be read: its mapping then shows zeros. False, too, if its
        contents do not have their checksum, which is compared if the file's length or time differ,
        or if `compare` asks for it: 50 ms for 400 MB. Rows and scores that were returned before a
        false may be wrong.
        """

    @property
    def position(self) -> int:
        """The position it was saved with; 0 if it was not opened from a file."""

    @property
    def nbytes(self) -> int:
        """Bytes in this process's own memory, without mapped files."""

    @property
    def mean_words(self) -> float:
        """The average number of words per row; 0.0 without rows."""

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
                str | None,
            ]
        ],
    ) -> None:
        """Add rows, or replace those with the same id.

        Args:
            rows: the row id; its text; its speaker or subject; the unique name of its thread; its
                place there; the time it is about; when it was stored; when it was last confirmed;
                and the kind that determines its half-life, `None` if it does not age. A time not of
                the form `2026-01-31T23:59:59.000000Z` is used as far as it can be parsed.

        Raises:
            ValueError: an id out of range; nothing was changed.
        """

    def drop(self, ids: Iterable[int]) -> int:
        """Remove rows; returns how many existed."""

    def idf(self, text: str) -> list[tuple[int, float]]:
        """The distinct tokens of a text, by id, with their inverse document frequency.

        That is `max(0, ln((n + 1) / (df + 0.5)))` for a token that `df` of `n` rows have.
        """

    def vector(self, query: str) -> bytes:
        """The mean of a query's token vectors, weighted by :meth:`idf`, as 256 float32.

        Its length is one. If all weights are 0, all tokens count the same; zeros for the empty
        text.
        """

    def cosines(self, vector: Buffer, ids: Iterable[int]) -> list[float | None]:
        """The cosine of each row's vector by the built-in model with a given vector.

        Args:
            vector: a C-contiguous buffer of 256 float32, of length one.
            ids: row ids.

        Returns:
            In order; `None` for a row that does not exist.

        Raises:
            ValueError: another length, NaN or an infinity.
        """

    def nearest(
        self, codes: Codes, queries: Buffer, limit: int, visible: Ids | None = None
    ) -> list[list[tuple[int, float]]]:
        """The rows nearest to each query, compared by their vectors by the built-in model.

        Args:
            codes: of the rows' vectors by the built-in model; each row is its own owner.
            queries: a C-contiguous buffer of `q * 256` float32, one query after the other, each of
                length one.
            limit: the most rows for each query; 0 finds none.
            visible: the rows that may be found; `None` is all.

        Returns:
            For each query the row ids with their cosines, all positive, best first, ties by the
            smaller id.

        Raises:
            ValueError: codes of another dimension, not a whole number of vectors, NaN or an
                infinity, a negative limit.
            TypeError: not a buffer of float32.
        """

    def relevances(self, query: str, telling: str, ids: Iterable[int]) -> list[float | None]:
        """How relevant rows are to a query, 0 to 1, in order; `None` for a row that does not exist.

        The mean, weighted as in :meth:`rank`, of the similarity of each query token to the nearest
        token of the row, times the cosine of query and row; by the built-in model.

        Args:
            telling: the query without stop words.
        """

    def bearings(
        self,
        words: Words,
        query: str,
        terms: Sequence[tuple[str, Sequence[Sequence[str]]]],
        identifiers: Sequence[Sequence[str]],
        ids: Iterable[int],
    ) -> list[tuple[bool, bool, bool, bool, float, float, int] | None]:
        """What rows have of a query's names, identifiers and words; `None` without the row.

        Args:
            words: the index of the same rows.
            query: for the names in it.
            terms: each word of the query without stop words, and its spellings as tokens.
            identifiers: paths, versions, long numbers and the like, as tokens.

        Returns:
            Whether it is enough to be relevant; has or is about a name of the query; is of a day or
            month that the query names; has an identifier that fewer than one row in twenty has; the
            sum of the weights of the words it has, `min(idf, rarity in any text)`; that divided by
            the sum of all; how many are rare.
        """

    @staticmethod
    def named(prompt: str, asks: bool, texts: Sequence[str]) -> list[bool]:
        """Whether each text has a name that a prompt has, wherever in its sentences.

        Args:
            asks: whether the prompt is a question; then the word that begins it may be a name.
        """

    def neighbours(self, ids: Iterable[int], reach: int, visible: Ids | None = None) -> list[int]:
        """The rows up to `reach` places before or after these in their threads, without these.

        Args:
            visible: the rows that may be found and that count as places; `None` is all.
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
        compares: bool = False,
    ) -> list[
        tuple[
            int,
            float,
            float,
            float,
            float,
            tuple[float, float, float, float, float, float, float, float, float],
        ]
    ]:
        """Rank candidates by how well they answer a query, best first.

        If rows on one subject share two thirds of their tokens and their scores differ by at most
        0.02, the newest comes first, and they exchange their scores.

        Args:
            words: the inverted index of the same rows.
            phrases: the query's words, as `Words.search` takes them.
            query: the query.
            telling: its words without stop words.
            candidates: row ids with their vectors' cosines; `None` for a row without a vector. Rows
                that do not exist are left out.
            limit: the most rows to return.
            visible: the neighbours that may contribute.
            half_lives: seconds by the kind given to :meth:`put`; all are above 0.
            now: the time that the ages of rows are relative to.
            compares: compute the cosines that are `None` by the embedded model.

        Returns:
            Tuples of the row id, its score (0 to 1), its decay since it was stored or last
            confirmed, its BM25 divided by the largest, its cosine if positive, and the parts whose
            sum is the score: words, meaning, terms, thread, session, subject, date, type and age.

        Raises:
            ValueError: an id out of range, a number that is not finite, a negative limit.
        """

@final
class Words:
    """An inverted index of rows' tokens, ranked exactly as FTS5's `bm25()` ranks them.

    The tokens are those of FTS5's tokenizer, so that the index finds the same words. A phrase is a
    list of consecutive tokens within a column; a phrase of one token is a word. Statistics cover
    all rows, visible or not, and are always exact: their number, their mean length, and the number
    of rows with a phrase.

    Every method releases the GIL and may be called from any thread: readers run in parallel, and
    see all of a `put` or nothing of it. Merging, which can take a second or more, is done by the
    `put` that makes it necessary and does not block readers.
    """

    def __new__(cls) -> Words: ...
    @staticmethod
    def open(path: str | PathLike[str], database: bytes) -> Words:
        """Map a file written by `save`. It is read in place; changes stay in memory.

        Args:
            path: the file.
            database: the 16 bytes that it was saved with.

        Raises:
            OSError: it cannot be read.
            ValueError: it is damaged, or was derived from something else.
        """

    def save(self, path: str | PathLike[str], database: bytes, position: int) -> None:
        """Write all rows to a file that exists; meanwhile other writers wait, but readers do not.

        Args:
            path: the file, which must exist: one that was removed does not come back.
            database: 16 bytes that identify it.
            position: the position in the database's changes that the rows are current for.

        Raises:
            OSError: it cannot be written.
        """

    def is_intact(self, *, compare: bool = False) -> bool:
        """Whether the opened file is what was written; always true if none was opened.

        False if a part of it could not be read: its mapping then shows zeros. False, too, if its
        contents do not have their checksum, which is compared if the file's length or time differ,
        or if `compare` asks for it: 50 ms for 400 MB. Rows and scores that were returned before a
        false may be wrong.
        """

    @property
    def position(self) -> int:
        """The position that the opened file was saved with; 0 if none was opened."""

    @property
    def nbytes(self) -> int:
        """Approximate bytes in this process's own memory, without mapped files."""

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
        self, phrases: Sequence[Sequence[str]], limit: int, visible: Ids | None = None
    ) -> list[tuple[int, float]]:
        """Find the rows with any of the phrases, best first, ties by the larger id.

        Args:
            phrases: a phrase given twice counts twice.
            limit: the most rows to find; 0 finds none.
            visible: the only rows that may be found; `None` is all.

        Returns:
            Ids and scores; a score is `-bm25()`, so higher is better.

        Raises:
            ValueError: a negative limit.
        """

    def parts(self, phrases: Sequence[Sequence[str]], ids: Iterable[int]) -> list[list[float]]:
        """The contribution of each phrase to each row's score; 0.0 if the row does not exist."""

    def frequencies(self, phrases: Sequence[Sequence[str]]) -> list[int]:
        """The number of rows with each phrase."""

def lock_system_calls() -> list[tuple[str, int]]:
    """Return replacements for SQLite's system calls, each with its name and address.

    Empty on Windows. The functions live as long as the process. The first call registers a fork
    handler.
    """

def lock_is_seen(path: str) -> bool | None:
    """Return whether others would see a lock held on a file by its open file description.

    ``None`` if that cannot be found out. False means that locks have no effect there, as on some
    network file systems.
    """

def locks_held() -> tuple[int, int, int]:
    """Count the files locked through the replacements, and descriptors kept open.

    Returns:
        Files whose locks belong to an open file description; files whose locks belong to the
        process, because the system offers nothing better; descriptors that stay open because other
        code in this process may hold locks on the file.
    """

class PanicException(BaseException):
    """A panic in the kernel: a damaged file is mapped, or there is an error in it."""

@final
class OpenFiles:
    """Detects whether the files of an open database were removed or replaced.

    Args:
        path: the database; its log and the log's index are beside it.
    """

    def __new__(cls, path: str) -> Self: ...
    def remember(self) -> None:
        """Record the present files as the ones that were opened."""

    def changed(
        self,
    ) -> list[tuple[Literal["file", "log", "index"], Literal["removed", "replaced"]]]:
        """Return the files that are no longer the remembered ones, and why.

        Always empty on Windows, which neither removes nor renames a file that is open.
        """

def pretend_process_locks(pretend: bool) -> None:
    """Use process locks for files opened from now on, to test the fallback."""

def rank(
    words: Sequence[tuple[int, float]],
    vectors: Sequence[tuple[int, float]],
    decays: Sequence[tuple[int, float, float]],
    *,
    word_weight: float,
    vector_weight: float,
    limit: int,
) -> list[tuple[int, float, float, float, float]]:
    """Merge the results of the word search and the scan into one ranking. Releases the GIL.

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
