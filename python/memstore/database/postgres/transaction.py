"""A transaction on one connection for one tenant, and the translation of the driver's errors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, cast

import psycopg
from psycopg import errors
from psycopg.types.json import Jsonb

from memstore.database.engine import NO_PARAMETERS, Transaction
from memstore.database.postgres import statements
from memstore.database.postgres.derived import TENANT
from memstore.database.postgres.dialect import DIALECT
from memstore.domain.arguments import MAX_NUMBER
from memstore.errors import Remedy, StorageError, StoreBusy
from memstore.lazy import lazy_import

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from memstore.database.engine import Finish, FullTexts, Given, Row, Value
    from memstore.database.postgres import full_text as indexes
    from memstore.database.postgres.statements import Compiled
    from memstore.database.sqlite import tokens as tokenizer
else:
    indexes = lazy_import("memstore.database.postgres.full_text")
    tokenizer = lazy_import("memstore.database.sqlite.tokens")

COUNTERS: Final = "UPDATE memstore_tenants SET counters = %s WHERE tenant = %s"

NO_ZEROS: Final = "DELETE FROM memstore_counts WHERE tenant = %s AND number = 0"
"""Removes the counts of what is gone, so that no name of erased facts stays."""

BATCH: Final = 5000
"""The most rows that one statement inserts; its parameters are held in memory on both sides."""

WITH_NAMESPACE: Final = frozenset({"memstore_facts", "memstore_episodes"})


class PostgresTransaction(Transaction):
    """The three verbs over one connection, with the driver's errors translated.

    Args:
        tenant: the tenant whose rows it reads and writes.
        admit: checks that namespaces which a statement names are the tenant's.
        counters: of a transaction for writing, the last ids by table.
    """

    dialect = DIALECT

    def __init__(
        self,
        connection: psycopg.Connection[Any],
        tenant: str,
        admit: Callable[[PostgresTransaction, Collection[str]], None],
        counters: Mapping[str, int] | None = None,
    ) -> None:
        self.connection = connection
        self.tenant = tenant
        self._admit = admit
        self._admitted: set[str] = set()
        """The namespaces that were checked."""
        self._cursor = psycopg.RawCursor(connection)
        self._queued: dict[str, list[Row]] = {}
        """The queued rows of each statement."""
        self._finishing: dict[str, Finish] = {}
        """What completes the queued rows of a statement."""
        self._counters = dict(counters or {})
        self._counted = dict(self._counters)
        """The counters as they are stored."""
        self.namespaces: set[str] = set()
        """The namespaces of the rows that were added."""
        self.effects: set[str] = set()
        """What its statements changed besides their rows."""

    @property
    def full_text(self) -> FullTexts:
        return indexes.INDEXES

    def admit(self, namespaces: Collection[str]) -> None:
        if unknown := {*namespaces} - self._admitted:
            with Translated():
                self._admit(self, unknown)
            self._admitted |= unknown

    def stamp_of_others(self) -> object:
        return "ours"  # other programs do not write there, so nothing of theirs is to be adopted

    def tokens(self, texts: Iterable[str]) -> list[list[str]]:
        return tokenizer.tokens(tokenizer.scratch(), texts)

    def rows(self, sql: str, parameters: Given = NO_PARAMETERS) -> Iterator[Row]:
        self.flush()
        with Translated():
            return iter(self._execute(sql, parameters, returns=True).fetchall())

    def one(self, sql: str, parameters: Given = NO_PARAMETERS) -> Row | None:
        self.flush()
        with Translated():
            return cast("Row | None", self._execute(sql, parameters, returns=True).fetchone())

    def run(self, sql: str, parameters: Given = NO_PARAMETERS) -> int:
        self.flush()
        with Translated():
            statement = statements.compiled(sql, False)
            cursor = self._execute(sql, parameters, returns=False)
            if statement.counts:
                row = cursor.fetchone()
                return int(row[0]) if row else 0
            return max(cursor.rowcount, 0)

    def queue(self, sql: str, parameters: Given, finish: Finish | None = None) -> None:
        row = parameters
        if not isinstance(row, tuple):
            row = tuple(cast("Value", row[name]) for name in statements.named(sql))
        if sql in self._queued:
            self._queued[sql].append(row)
        else:
            self._queued[sql] = [row]
            if finish is not None:
                self._finishing[sql] = finish

    def queue_id(self, sql: str, row_id: int) -> None:
        runs = self._queued.setdefault(sql, [])
        if runs and runs[-1][1] == row_id - 1:
            runs[-1] = (runs[-1][0], row_id)
        else:
            runs.append((row_id, row_id))

    def flush(self) -> None:
        """Run the queued statements."""
        if self._queued:
            with Translated(), self.connection.pipeline():
                self._run_queued()

    def _run_queued(self) -> None:
        self.note_namespaces()
        queued, self._queued = self._queued, {}
        for text, rows in queued.items():
            finish = self._finishing.get(text)
            self._run_many(text, rows if finish is None else [*finish(rows)])

    def note_namespaces(self) -> None:
        """Note the namespaces of the queued rows."""
        for text, rows in self._queued.items():
            names = statements.named(text)
            if statements.compiled(text, False).table in WITH_NAMESPACE and "namespace" in names:
                self.namespaces |= {str(row[names.index("namespace")]) for row in rows}

    def _run_many(self, text: str, rows: Sequence[Row]) -> None:
        names = statements.named(text)
        many = statements.batched(text) if len(rows) > 1 else None
        statement = statements.compiled(many or text, False)
        self.effects |= statement.effects
        if many is not None:
            for start in range(0, len(rows), BATCH):
                some = rows[start : start + BATCH]
                lists = [[_value(row[place]) for row in some] for place in range(len(names))]
                self._cursor.execute(statement.text, self._bound(statement, names, lists))
        else:
            bound = [self._bound(statement, names, [*map(_value, row)]) for row in rows]
            if len(bound) == 1:
                self._cursor.execute(statement.text, bound[0])
            else:
                self._cursor.executemany(statement.text, bound)
        if statement.table and "id" in names:
            self._note_id(statement.table, max(row[names.index("id")] for row in rows))

    def _bound(
        self, statement: Compiled, names: Sequence[str], values: Sequence[object]
    ) -> list[object]:
        """Return values in the order in which a statement names them."""
        given = dict(zip(names, values, strict=True))
        given[TENANT] = self.tenant
        return [given[name] for name in statement.names]

    def _execute(self, text: str, parameters: Given, *, returns: bool) -> psycopg.RawCursor[Any]:
        statement = statements.compiled(text, returns)
        self.effects |= statement.effects
        given: Mapping[str, Any]
        if isinstance(parameters, tuple):
            given = dict(zip(statements.named(text), parameters, strict=True))
        else:
            given = parameters
        self._check_namespaces(statement, given)
        bound = [self.tenant if name == TENANT else _value(given[name]) for name in statement.names]
        id_, namespace = given.get("id"), given.get("namespace")
        if statement.table and isinstance(id_, int):
            self._note_id(statement.table, id_)
        if statement.table in WITH_NAMESPACE and isinstance(namespace, str):
            self.namespaces.add(namespace)
        return self._cursor.execute(statement.text, bound or None)

    def _check_namespaces(self, statement: Compiled, given: Mapping[str, Any]) -> None:
        if TENANT not in statement.names:
            return
        if "namespace" in statement.names and given["namespace"] is not None:
            self.admit([given["namespace"]])
        if "namespaces" in statement.names:
            self.admit(given["namespaces"] or ())

    def columns(self) -> list[str]:
        """Return the names of the columns of the rows that were read last."""
        return [column.name for column in self._cursor.description or ()]

    # -- ids ----------------------------------------------------------------------------------

    def next_id(self, table: str) -> int:
        # No flush: no row of this table is queued yet.
        return self._reserve(table, 1)

    def reserve_ids(self, table: str, count: int) -> int:
        return self._reserve(table, count)

    def _reserve(self, table: str, count: int) -> int:
        if table not in self._counters:
            statement = statements.compiled(f"SELECT max(id) FROM {table}", True)
            with Translated():
                bound = [self.tenant for _ in statement.names]
                row = self._cursor.execute(statement.text, bound or None).fetchone()
            self._counters[table] = (row[0] if row else None) or 0
        first = self._counters[table] + 1
        self._counters[table] += count
        return first

    def _note_id(self, table: str, id_: int) -> None:
        """Keep an id that a statement chose itself from being given to another row."""
        if self._counters.get(table, id_) < id_:
            self._counters[table] = id_

    def finish(self) -> None:
        """Run what is queued and what is due before a commit, and commit, in one round trip.

        Raises:
            psycopg.Error: not translated, because the answer to the commit may be lost.
        """
        with self.connection.pipeline():
            self._run_queued()
            if "uncounted" in self.effects:
                self.connection.execute(NO_ZEROS, [self.tenant])
            if self._counters != self._counted:
                self.connection.execute(COUNTERS, [Jsonb(self._counters), self.tenant])
            self.connection.execute("COMMIT")


def _value(value: object) -> object:
    """Return a value as the driver binds it: truths are numbers here.

    What is too large for a number of the server equals none of its rows', so lists lose it.
    """
    if value is True or value is False:
        return int(value)
    if type(value) in (list, tuple):
        return [one for one in cast("list[object]", value) if not _is_too_large(one)]
    return value


def _is_too_large(value: object) -> bool:
    return type(value) is int and not -MAX_NUMBER - 1 <= value <= MAX_NUMBER


class Translated:
    """Translates the driver's errors."""

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        if isinstance(error, psycopg.Error):
            raise storage_error(error) from error


def storage_error(error: psycopg.Error) -> StorageError:
    if isinstance(error, errors.LockNotAvailable | errors.DeadlockDetected):
        return StoreBusy(
            "another process is writing to this memory; nothing was stored", remedy=Remedy.WAIT
        )
    if isinstance(error, errors.SerializationFailure):
        return StoreBusy(
            "another process changed the same rows; nothing was stored", remedy=Remedy.WAIT
        )
    if isinstance(error, errors.DiskFull):
        return StorageError("the server's disk is full; nothing of this change was stored")
    if isinstance(error, errors.ReadOnlySqlTransaction):
        return StorageError(
            "the database is open read-only; nothing was stored", remedy=Remedy.OPEN_WRITABLE
        )
    if isinstance(error, errors.InsufficientPrivilege):
        return StorageError(f"the database user lacks a right: {_said(error)}")
    if isinstance(error, psycopg.OperationalError):
        return StorageError(f"the connection to the server failed: {_said(error)}")
    return StorageError(f"the database reported an error: {_said(error)}")


def _said(error: psycopg.Error) -> str:
    """Return what the server said; its details may quote rows, so they are left out."""
    return (error.diag.message_primary or str(error)).strip().partition("\n")[0]
