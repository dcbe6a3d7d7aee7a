"""A transaction on one connection, and the translation of the driver's errors.

Vectors are packed as they are written; ``database/tables/vectors.py: whole`` reads them.
"""

from __future__ import annotations

from contextlib import suppress
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Final, TypeVar, cast

import apsw

from memstore._kernel.vectors import pack
from memstore.database.dialect import Dialect, parameters_of
from memstore.database.engine import NO_PARAMETERS, Queued, Transaction
from memstore.database.writes import Insert, Update
from memstore.domain.metadata import json_writer
from memstore.errors import Remedy, StorageError, StoreBusy
from memstore.lazy import lazy_import
from memstore.named import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from memstore.database import acts
    from memstore.database.engine import Finish, FullTexts, Given, Row, Statement
    from memstore.database.sqlite import full_text as indexes
    from memstore.database.sqlite import together
    from memstore.database.writes import Form
else:
    acts = lazy_import("memstore.database.acts")
    indexes = lazy_import("memstore.database.sqlite.full_text")
    together = lazy_import("memstore.database.sqlite.together")


T = TypeVar("T")

MEMBERS: Final = (
    "{0}.key, {0}.type = 'null' AS is_null, CASE {0}.type WHEN 'text' THEN {0}.atom END AS text,"
    " CASE WHEN {0}.type IN ('integer', 'real') THEN {0}.atom END AS number,"
    " CASE WHEN {0}.type IN ('true', 'false') THEN {0}.atom END AS truth"
)


class SqliteDialect(Dialect):
    """A list parameter is bound as a JSON array."""

    tables = "SELECT name FROM sqlite_schema WHERE type IN ('table', 'view')"

    columns = "SELECT name FROM pragma_table_info(:table)"

    def listed(self, parameter: str) -> str:
        return f"(SELECT value FROM json_each(:{parameter}))"

    def among(self, query: str) -> str:
        return f"IN ({query})"

    def elements(self, column: str) -> str:
        return f"json_each({column}) AS element"

    def member(self, column: str, key: str) -> str:
        return f"CASE WHEN json_valid({column}) THEN CAST({column} ->> {key} AS TEXT) END"

    def has_member(self, column: str, key: str, test: str = "TRUE") -> str:
        # Other programs may have stored invalid JSON; it counts as an empty object.
        valid = f"CASE WHEN json_valid({column}) THEN {column} ELSE '{{}}' END"
        held = f"SELECT {MEMBERS.format('e')} FROM json_each({valid}) AS e"
        return f"EXISTS (SELECT 1 FROM ({held}) AS member WHERE member.key = {key} AND {test})"

    def at_path(self, column: str, keys: Sequence[str], test: str = "TRUE") -> str:
        sources = f"json_each(CASE WHEN json_valid({column}) THEN {column} ELSE '{{}}' END) AS m0"
        for place in range(1, len(keys)):
            outer = f"m{place - 1}"
            inner = f"CASE {outer}.type WHEN 'object' THEN {outer}.value ELSE '{{}}' END"
            sources += f", json_each({inner}) AS m{place}"
        # A path through a list would be one of numbers; keys are texts.
        where = " AND ".join(f"m{place}.key = {key}" for place, key in enumerate(keys))
        last = f"m{len(keys) - 1}"
        members = MEMBERS.format(last)
        held = f"SELECT {members}, CASE {last}.type WHEN 'array' THEN {last}.value END AS list"
        return (
            f"EXISTS (SELECT 1 FROM ({held} FROM {sources} WHERE {where}) AS member WHERE {test})"
        )

    def has_element(self, test: str) -> str:
        members = MEMBERS.format("e")
        source = "json_each(coalesce(member.list, '[]')) AS e"
        return f"EXISTS (SELECT 1 FROM (SELECT {members} FROM {source}) AS element WHERE {test})"

    def filed(self, kind: str) -> str:
        return "value"

    def contains(self, text: str, part: str) -> str:
        return f"instr({text}, {part}) > 0"

    def position(self, text: str, part: str) -> str:
        return f"instr({text}, {part})"

    def indexed_by(self, index: str | None) -> str:
        return f"INDEXED BY {index}" if index else "NOT INDEXED"

    def unordered(self, column: str) -> str:
        return f"+{column}"

    def unclaimed(self, alias: str, order: str = "") -> str:
        return order and f"ORDER BY {order}"


DIALECT: Final = SqliteDialect()


REPEATED: Final = 40
"""Texts up to this length, such as subjects and categories, often repeat; their tokens are kept."""

UNLOCKABLE: Final = (apsw.SQLITE_IOERR_LOCK, apsw.SQLITE_IOERR_RDLOCK)
"""What SQLite reports of a file system that refuses a lock, though nobody else has one."""

HEADER: Final = b"SQLite format 3\0"
"""How every SQLite database begins."""

LISTS: Final = frozenset((list, tuple))

to_json: Final = json_writer(allow_nan=False, ascii_only=True)

WITH_VECTORS: Final = frozenset(("memstore_fact_vectors", "memstore_piece_vectors"))

ADDED: Final = frozenset(("memstore_facts", "memstore_fact_vectors", "memstore_journal"))
"""The tables to which an added fact is written."""


class Left(NamedTuple):
    """What a write that only added rows leaves for the next one, which need not read it again."""

    epoch: object
    """Shared by all writes since the last one that did more than add facts."""
    line: Row
    """The answer to :data:`memstore.database.acts.LAST`."""


class SqliteTransaction(Transaction):
    """A transaction over one connection, with the driver's errors translated.

    Args:
        path: the file that errors name; by default the connection's.
        changed_by_others: what :meth:`stamp_of_others` returns.
        left: what the write before this one left, if nobody has written since.
    """

    dialect = DIALECT

    def __init__(
        self,
        connection: apsw.Connection,
        path: str | None = None,
        *,
        changed_by_others: object = None,
        left: Left | None = None,
    ) -> None:
        self.connection = connection
        self._changed_by_others = changed_by_others
        self._translated = Translated(path or connection.filename)
        self._queued = Queued()
        self._ids: dict[str, int] = {}
        """The last id of each table with queued rows."""
        self._left = left
        self._epoch: object = self if left is None else left.epoch
        self._only_adds = True
        """Whether all it wrote are facts, with their vectors and lines."""

    @property
    def full_text(self) -> FullTexts:
        return indexes.INDEXES

    def stamp_of_others(self) -> object:
        return self._changed_by_others

    @property
    def epoch(self) -> object:
        return self._epoch

    def leaves(self) -> Left | None:
        """Return what the next write need not read, once all of this one is flushed."""
        act = self.act
        if not self._only_adds or not isinstance(act, acts.ActLines) or act.last < act.txn:
            return None
        return Left(self._epoch, act.end())

    def _does_more(self) -> None:
        """Discard what the previous write left: this one changes more than new facts."""
        self._left, self._only_adds, self._epoch = None, False, self

    def admit(self, namespaces: Collection[str]) -> None:
        pass  # a file has every namespace

    def tokens(self, texts: Iterable[str]) -> list[list[str]]:
        tokenize = partial(
            self.connection.fts5_tokenizer(*indexes.TOKENIZER),
            flags=apsw.FTS5_TOKENIZE_DOCUMENT,
            locale=None,
            include_offsets=False,
            include_colocated=False,
        )
        known: dict[str, list[str]] = {}

        def tokens(text: str) -> list[str]:
            found = known.get(text)
            if found is None:
                found = cast("list[str]", tokenize(text.encode()))
                if len(text) <= REPEATED:
                    known[text] = found
            return found

        return [*map(tokens, texts)]

    def rows(self, sql: str, parameters: Given = NO_PARAMETERS) -> Iterator[Row]:
        self.flush()
        with self._translated:
            yield from self.connection.execute(sql, _bindings(sql, parameters))

    def ints(self, sql: str, parameters: Given = NO_PARAMETERS) -> list[int]:
        self.flush()
        with self._translated:
            found = self.connection.execute(sql, _bindings(sql, parameters))
            return [row[0] for row in found]  # without a generator, in half the time

    def one(self, sql: str, parameters: Given = NO_PARAMETERS) -> Row | None:
        if self._left is not None and sql is acts.LAST:
            return self._left.line
        self.flush()
        with self._translated:
            found = self.connection.execute(sql, _bindings(sql, parameters)).fetchall()
        return found[0] if found else None

    def prefetch(self, *queries: Statement) -> None:
        pass  # each is answered without a round trip

    def run(self, form: Form, values: Given = NO_PARAMETERS) -> int:
        return self.execute(form.text, _packed(form, values))

    def returned(self, form: Form, values: Given = NO_PARAMETERS) -> list[Row]:
        self._does_more()
        self.flush()
        values = _packed(form, values)
        with self._translated:
            # It takes effect only when its cursor is exhausted.
            return self.connection.execute(form.text, _bindings(form.text, values)).fetchall()

    def execute(self, sql: str, parameters: Given = NO_PARAMETERS) -> int:
        self._does_more()
        self.flush()
        with self._translated:
            # Fetch all, or the statements after one that returns a row would not run.
            self.connection.execute(sql, _bindings(sql, parameters)).fetchall()
            return self.connection.changes()

    def queue(self, form: Form, values: Given, finish: Finish | None = None) -> None:
        values = _packed(form, values)
        row = values if type(values) is tuple else (*_bindings(form.text, values),)
        self._queued.add(form, row, finish)

    def queue_all(self, form: Form, rows: list[Row], finish: Finish | None = None) -> None:
        if form.table in WITH_VECTORS and (name := _vector_of(form)) is not None:
            place = form.names.index(name)
            rows = [(*row[:place], _shortened(row[place]), *row[place + 1 :]) for row in rows]
        self._queued.add_all(form, rows, finish)

    def queue_ids(self, form: Form, first: int, last: int) -> None:
        self._queued.add_ids(form, first, last)

    def flush(self) -> None:
        """Run the queued statements."""
        if not self._queued.rows:
            return
        queued, execute = self._queued, self.connection.execute
        with self._translated:
            for form, rows in queued.take().items():
                completed = queued.completed(form, rows)
                if len(rows) == 1:
                    execute(form.text, *completed)
                else:
                    together.write(self.connection, form, completed)
                if self._only_adds and not (type(form) is Insert and form.table in ADDED):
                    self._does_more()

    def next_id(self, table: str) -> int:
        if table not in self._ids:
            # No flush: no row of this table is queued yet.
            sql = (
                f"SELECT max(coalesce((SELECT max(id) FROM {table}), 0),"
                " coalesce((SELECT seq FROM sqlite_sequence WHERE name = ?), 0))"
            )
            with self._translated:
                [(self._ids[table],)] = self.connection.execute(sql, (table,))
        self._ids[table] += 1
        return self._ids[table]

    def next_ids(self, table: str, count: int) -> range:
        first = self.next_id(table)
        self._ids[table] += count - 1
        return range(first, first + count)

    def reserve_ids(self, table: str, count: int) -> int:
        ids = self.next_ids(table, count)
        last = ids.stop - 1
        # SQLite's own counter; inserting a row with a lower id does not change it.
        if not self.execute("UPDATE sqlite_sequence SET seq = :last WHERE name = :table",
                        {"last": last, "table": table}):  # fmt: skip
            self.execute("INSERT INTO sqlite_sequence (name, seq) VALUES (:table, :last)",
                     {"last": last, "table": table})  # fmt: skip
        return ids.start


def _packed(form: Form, values: Given) -> Given:
    """Return the values of a form with the vector packed that it writes, if it writes one."""
    if form.table not in WITH_VECTORS or (name := _vector_of(form)) is None:
        return values
    if isinstance(values, tuple):
        place = form.names.index(name)
        return (*values[:place], _shortened(values[place]), *values[place + 1 :])
    return {**values, name: _shortened(values[name])}


@lru_cache(maxsize=64)
def _vector_of(form: Form) -> str | None:
    """Return the parameter of the vector that a form writes."""
    written = "NULL"
    if isinstance(form, Insert) and "embedding" in form.columns:
        written = form.values[form.columns.index("embedding")]
    elif isinstance(form, Update):
        written = form.settings.get("embedding", written)
    return next(iter(parameters_of(written)), None)


def _shortened(vector: T) -> T | bytes:
    return pack(vector) if isinstance(vector, bytes) else vector


def _bindings(sql: str, parameters: Given) -> Sequence[apsw.SQLiteValue]:
    """Return the values to bind, in order, with lists as JSON arrays for the dialect.

    Binding by name takes the driver three times as long.
    """
    if isinstance(parameters, tuple):
        return parameters
    if not parameters:
        return ()
    values = [parameters[name] for name in parameters_of(sql)]
    if LISTS.isdisjoint(map(type, values)):
        return values
    return [to_json(value) if type(value) in LISTS else value for value in values]


def roll_back(connection: apsw.Connection) -> None:
    """Roll back, unless SQLite has already done so, as it does after some errors."""
    with suppress(apsw.Error):
        if connection.in_transaction:
            connection.execute("ROLLBACK")


class Translated:
    """Translates the driver's errors. A class, because a generator costs as much as a statement.

    Args:
        path: the file that errors name; empty for a database in memory.
    """

    def __init__(self, path: str) -> None:
        self._path = path

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        if error is None:
            return
        if isinstance(error, apsw.Error):
            raise storage_error(error, self._path) from error
        if isinstance(error, UnicodeDecodeError):
            raise StorageError(
                f"a row of {_named(self._path)} holds text that is not UTF-8 ({error}), written by "
                "another program",
                remedy=Remedy.RESTORE_BACKUP,
            ) from error


def storage_error(error: apsw.Error, path: str) -> StorageError:
    if isinstance(error, apsw.BusyError):
        return StoreBusy(
            "another process has locked the file; nothing was stored", remedy=Remedy.WAIT
        )
    if refuses_locks(error):
        return StorageError(
            f"the file system of {_named(path)} refuses locks, so other processes could not be "
            "kept out; nothing was stored",
            remedy=Remedy.LOCAL_DISK,
        )
    if isinstance(error, apsw.FullError):
        return StorageError("the disk is full; nothing of this change was stored")
    if isinstance(error, apsw.ReadOnlyError):
        return StorageError(
            "the database is open read-only, or its file or folder is not writable; nothing was "
            "stored",
            remedy=Remedy.OPEN_WRITABLE,
        )
    if isinstance(error, apsw.CorruptError) and "fts5" in str(error):
        return StorageError(
            f"the full-text index of {_named(path)} is damaged: {error}", remedy=Remedy.REBUILD
        )
    if isinstance(error, apsw.NotADBError) and _lacks_header(path):
        return StorageError(f"{_named(path)} is not a SQLite database", remedy=Remedy.NAME_FILE)
    if isinstance(error, apsw.CorruptError | apsw.NotADBError):
        return StorageError(f"{_named(path)} is damaged: {error}", remedy=Remedy.RESTORE_BACKUP)
    return StorageError(f"the database reported an error: {error}")


def is_of_the_disk(error: BaseException) -> bool:
    """Whether the driver could not read, write or open a file: it may have been moved away."""
    return isinstance(error.__cause__ or error, apsw.IOError | apsw.CantOpenError)


def refuses_locks(error: apsw.Error) -> bool:
    code = getattr(error, "extendedresult", None)  # unknown to its types
    return isinstance(error, apsw.IOError) and code in UNLOCKABLE


def _named(path: str) -> str:
    return repr(path) if path else "the database in memory"


def _lacks_header(path: str) -> bool:
    """Return whether a file begins unlike any SQLite database, so that it was never one."""
    try:
        with open(path, "rb") as file:
            return file.read(len(HEADER)) != HEADER
    except OSError:
        return False


def busy(seconds: float) -> StoreBusy:
    return StoreBusy(
        f"another process or thread has been writing for {seconds:g} s; nothing was stored",
        remedy=Remedy.WAIT,
    )
