"""The contents of an index, in memory or mapped: columns, words, features, and codes of vectors."""

from __future__ import annotations

import threading
from functools import partial
from typing import TYPE_CHECKING, Final, Generic, TypeAlias, TypeVar

from memstore._kernel.codes import Codes
from memstore._kernel.columns import Columns
from memstore._kernel.features import Features
from memstore._kernel.words import Words
from memstore.database.tables import indexed
from memstore.database.tables.indexed import Range, RowsSince
from memstore.domain.records import BYTES_PER_NUMBER
from memstore.named import NamedTuple
from memstore.search.index.files import PARTS
from memstore.search.index.residents import BYTES_PER_ROW
from memstore.search.index.visibility import IndexState, OwnersRows, UnexpiredRows
from memstore.text.folding import text_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from memstore.database.dialect import Dialect
    from memstore.database.engine import LastWrite, Statement, Transaction
    from memstore.database.tables.feeds import DerivedFiles, FeedChanges
    from memstore.database.tables.indexed import IndexedRow, IndexedVector, Source
    from memstore.domain.generations import Generation
    from memstore.search.index.files import Files

BATCH: Final = 2000
"""Rows read at once. Between two batches of a large load no transaction is open."""

T = TypeVar("T")


class ThreadedCall(Generic[T]):
    """A call in a separate thread."""

    def __init__(self, work: Callable[[], T]) -> None:
        self._work = work
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def result(self) -> T:
        """Wait for the call; return its result or raise its error."""
        self._thread.join()
        if self._error is not None:
            raise self._error
        return self._value

    def _run(self) -> None:
        try:
            self._value = self._work()
        except BaseException as error:  # noqa: BLE001 - raised by result
            self._error = error


class RowBatch(NamedTuple):
    """Some of the rows or vectors, read but not indexed yet."""

    last: int
    """The last one's id."""
    put: Callable[[], None]
    """Indexes them; it needs no transaction."""


class _Rows(NamedTuple):
    ids: list[int]
    rows: list[IndexedRow]
    tokens: list[list[str]]
    """Each row's tokens."""


class FeedContents:
    """The rows of one kind in one file as they were at a position of their feed."""

    def __init__(
        self,
        source: Source,
        generation: Generation,
        position: int,
        *,
        columns: Columns | None = None,
        words: Words | None = None,
        features: Features | None = None,
        codes: Codes | None = None,
    ) -> None:
        self.columns = Columns() if columns is None else columns
        self.words = Words() if words is None else words
        self.features = Features() if features is None else features
        self.codes = codes
        self.generation = generation
        self.position = position
        self._owners = OwnersRows()
        self._unexpired = UnexpiredRows()
        self.identity: str | None = None
        """The identity of the mapped files; ``None`` if there are none."""
        self.file_bytes = 0
        """The bytes of the mapped files."""
        self.last_write: LastWrite | None = None
        """The last write of a server's memory when this was its state, or later; its head is
        known. Another history does not have it."""
        self.floors: dict[tuple[int, int], float] = {}
        """Measured for a generation and the size of the memory (``search/lookups/floor.py``)."""
        self.loose = 0
        """The number of rows or vectors put since the files were written, including repetitions."""
        self._source = source
        self.compare_with(generation)

    @classmethod
    def open(
        cls, source: Source, files: Files, saved: DerivedFiles, generation: Generation
    ) -> FeedContents:
        """Map what :meth:`save` wrote.

        Raises:
            OSError: a file does not exist, or cannot be read.
            ValueError: a file is damaged, belongs to another set, or has another position.
        """
        database = bytes.fromhex(saved.identity)

        def open_codes() -> Codes | None:
            if saved.generation_id is None:
                return None
            return Codes.open(files.path(saved.identity, "codes"), database, generation.id)

        # Opening compares the checksum of every byte; half of them are the codes.
        opening_codes = ThreadedCall(open_codes)
        columns = Columns.open(files.path(saved.identity, "columns"), database)
        words = Words.open(files.path(saved.identity, "words"), database)
        features = Features.open(files.path(saved.identity, "features"), database)
        codes = opening_codes.result()
        parts = (columns, words, features, codes)
        if {part.position for part in parts if part is not None} != {saved.position}:
            raise ValueError("the files were saved at different positions")
        made = cls(
            source,
            generation,
            saved.position,
            columns=columns,
            words=words,
            features=features,
            codes=codes,
        )
        made.identity = saved.identity
        made.file_bytes = files.size(saved.identity, made.parts)
        return made

    def compare_with(self, generation: Generation) -> bool:
        """Use the active generation; return false if the vectors here are from another one.

        A generation has no dimension, and so no codes, before its first vector.
        """
        if self.codes is None and generation.dimension is not None:
            self.codes = Codes(generation.dimension)
        is_same = self.generation.id == generation.id
        self.generation = generation
        return is_same and (self.codes is None or self.codes.dimension == generation.dimension)

    def save(self, files: Files, identity: str) -> None:
        """Write all of it to files that were claimed.

        Raises:
            OSError: they cannot be written, or were removed.
        """
        database = bytes.fromhex(identity)
        self.columns.save(files.path(identity, "columns"), database, self.position)
        self.words.save(files.path(identity, "words"), database, self.position)
        self.features.save(files.path(identity, "features"), database, self.position)
        if self.codes is not None:
            path = files.path(identity, "codes")
            self.codes.save(path, database, self.generation.id, self.position)

    @property
    def state(self) -> IndexState:
        """What filters are answered by, at its position."""
        return IndexState(self.columns, self.position, self._owners, self._unexpired)

    @property
    def parts(self) -> Sequence[str]:
        """The files that :meth:`save` writes."""
        return [part for part in PARTS if part != "codes" or self.codes is not None]

    def is_intact(self, *, compare: bool = False) -> bool:
        """Whether the mapped files are what was written; ``compare`` reads all of them."""
        parts = (self.columns, self.words, self.features, self.codes)
        return all(part is None or part.is_intact(compare=compare) for part in parts)

    @property
    def size(self) -> int:
        """The memory that it takes, in bytes, estimated."""
        unsaved = self.loose if self.file_bytes else len(self)
        return self.file_bytes + unsaved * BYTES_PER_ROW

    def __len__(self) -> int:
        return len(self.columns)

    def following(self, of_engine: Dialect) -> Iterator[Statement]:
        """Yield the queries of :meth:`follow`, for an engine that can be asked beforehand."""
        since = RowsSince(self.position, BATCH)
        yield indexed.selecting(of_engine, self._source, since)
        if self.codes is not None:
            yield indexed.selecting_vectors(of_engine, self._source, self.generation.id, since)

    def follow(
        self,
        transaction: Transaction,
        changed: FeedChanges,
        position: int,
        *,
        is_prefetched: bool = False,
    ) -> None:
        """Apply the changes up to a position: the newest that the transaction sees.

        Args:
            is_prefetched: whether the queries of :meth:`following` were asked.
        """
        most = BATCH if is_prefetched else 0
        since = RowsSince(self.position, BATCH)
        for ids in _batches(changed.rows):
            which = since if len(changed.rows) <= most else ids
            rows = self._rows(transaction, which)
            self._put_rows(rows)
            self.columns.drop(set(ids).difference(rows.ids))
            wordless = set(ids).difference(row.id for row in rows.rows if row.has_words)
            self.words.drop(wordless)
            self.features.drop(wordless)
        for ids in _batches(changed.vectors):
            which = since if len(changed.vectors) <= most else ids
            found = self._vectors(transaction, which)
            self._put_vectors(found)
            if self.codes is not None:
                self.codes.drop(set(ids).difference(one.id for one in found if one.blob))
        self.loose += max(len(changed.rows), len(changed.vectors))
        self.position = position

    def rows_after(self, transaction: Transaction, after: int) -> RowBatch | None:
        """Read the next rows after an id; ``None`` if there are no more."""
        rows = self._rows(transaction, Range(after, BATCH))
        return RowBatch(rows.ids[-1], partial(self._put_rows, rows)) if rows.ids else None

    def vectors_after(self, transaction: Transaction, after: int) -> RowBatch | None:
        """Do the same for vectors, by the ids of facts or pieces."""
        found = self._vectors(transaction, Range(after, BATCH))
        return RowBatch(found[-1].id, partial(self._put_vectors, found)) if found else None

    def _rows(self, transaction: Transaction, which: Sequence[int] | Range | RowsSince) -> _Rows:
        rows = list(indexed.rows(transaction, self._source, which))
        return _Rows([row.id for row in rows], rows, list(_tokens(transaction, rows)))

    def _put_rows(self, rows: _Rows) -> None:
        self.columns.put([row[:5] for row in rows.rows])
        tokens = zip(rows.rows, rows.tokens, strict=True)
        # What was erased, or is not searched, counts in no weight of a word.
        put = [(row, words) for row, words in tokens if row.has_words]
        self.words.put([row.id for row, _ in put], [words for _, words in put])
        self.features.put([_text(row) for row, _ in put])

    def _vectors(
        self, transaction: Transaction, which: Sequence[int] | Range | RowsSince
    ) -> list[IndexedVector]:
        if self.codes is None:
            return []
        size = self.codes.dimension * BYTES_PER_NUMBER
        return list(indexed.vectors(transaction, self._source, self.generation.id, size, which))

    def _put_vectors(self, found: Sequence[IndexedVector]) -> None:
        if self.codes is None:
            return
        try:
            _put(self.codes, found)
        except ValueError:  # one has NaN: skip it, the doctor reports it
            for one in found:
                self.codes.drop([one.id])
                _try_to_put(self.codes, one)


def words_until(transaction: Transaction, source: Source, last: int) -> Words:
    """Return an inverted index of the rows up to an id, which reads all of them."""
    words, after = Words(), 0
    while rows := [*indexed.rows(transaction, source, Range(after, BATCH))]:
        until = [row for row in rows if row.id <= last and row.has_words]
        words.put([row.id for row in until], _tokens(transaction, until))
        after = rows[-1].id
        if after >= last:
            break
    return words


def _put(codes: Codes, found: Sequence[IndexedVector]) -> None:
    ids, row_ids, blobs = [], [], []
    for id_, row_id, blob in found:
        if blob is not None:
            ids.append(id_)
            row_ids.append(row_id)
            blobs.append(blob)
    codes.put(ids, row_ids, blobs)


def _try_to_put(codes: Codes, one: IndexedVector) -> None:
    try:
        _put(codes, [one])
    except ValueError:
        if not 0 <= one.id < 2**32:
            raise


Text: TypeAlias = tuple[
    int, str, str | None, str | None, int | None, str | None, str | None, str | None, str | None
]
"""A row as ``Features.put`` takes it."""


def _text(row: IndexedRow) -> Text:
    content, speaker = row.words[0], row.said.speaker
    text = text_of(speaker, content) if content and speaker else content
    return row.id, text or "", *row.said


def _tokens(transaction: Transaction, rows: Sequence[IndexedRow]) -> Iterator[list[str]]:
    """Yield each row's tokens, an empty one between two columns."""
    texts = [text for row in rows for text in row.words if text]
    tokens = iter(transaction.tokens(texts))
    for row in rows:
        joined: list[str] = []
        for text in row.words:
            if text:
                joined += next(tokens)
                joined.append("")
        yield joined


def _batches(items: Sequence[T]) -> Iterator[Sequence[T]]:
    for start in range(0, len(items), BATCH):
        yield items[start : start + BATCH]
