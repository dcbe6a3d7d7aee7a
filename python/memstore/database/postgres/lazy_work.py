"""Reads and writes that begin on the server with their first query (decisions 135 and 151).

A write locks its tenant with this query, or is one statement.
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any, Final

from memstore.database import acts
from memstore.database.engine import NO_PARAMETERS, Outdated
from memstore.database.postgres import statements
from memstore.database.postgres.connection import Sent
from memstore.database.postgres.failures import PostgresErrors
from memstore.database.postgres.tenant_cache import TenantRow, is_same
from memstore.database.postgres.transaction import (
    COMMIT,
    PostgresTransaction,
    bindable,
    columns_of,
)
from memstore.lazy import lazy_import
from memstore.named import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from memstore.database.engine import Given, LastWrite, Row, Statement
    from memstore.database.postgres import parallel
    from memstore.database.postgres.connection import Connection, StatementResult
    from memstore.database.postgres.parallel import ParallelQueries
    from memstore.database.postgres.statements import Joined, Place
    from memstore.database.postgres.tenant_cache import TenantCache
    from memstore.database.writes import Form

    Begun = tuple[TenantRow | None, list[StatementResult]]
    """The tenant's row, and the answers to the first queries of a read."""
else:
    parallel = lazy_import("memstore.database.postgres.parallel")


READ: Final = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"

READ_STATE: Final = (
    "SELECT version, epoch, '{}'::jsonb, line, at, hash FROM memstore_tenants WHERE tenant = $1"
)


class LazyRead(PostgresTransaction):
    """A read that begins on the server with its first query, in the same round trip.

    Until then it may rely on the tenant's row as it was seen last. If the first query finds another
    row, in which what was relied on may be different, the work has to be done again.

    Args:
        begin_on: calls a function with a connection that is alive.
        give_back: takes a connection back whose transaction is of no use.
        ask_in_parallel: has another connection answer queries, after what is sent before them.
        state: the tenant's row as it was seen last; ``None`` to rely on nothing.
        naming: the statement that names the tenant, for row-level security.
        is_named: whether it is needed, as far as is known.
    """

    def __init__(
        self,
        begin_on: Callable[[Callable[[Connection], Begun]], Begun],
        give_back: Callable[[Connection], None],
        ask_in_parallel: Callable[[Sequence[Sent], Sequence[Sent]], ParallelQueries],
        tenant: str,
        admit: Callable[[PostgresTransaction, Collection[str]], None],
        state: TenantRow | None,
        remembered: TenantCache,
        naming: Sent,
        *,
        is_named: bool,
    ) -> None:
        super().__init__(None, tenant, admit, state, remembered)
        self._begin_on = begin_on
        self._give_back = give_back
        self._ask_in_parallel = ask_in_parallel
        self._naming = naming
        self.is_named = is_named
        self._needs_version = self._needs_epoch = False
        """Whether the tenant's row has to be as it was seen last, or its epoch."""

    @property
    def _has_tables(self) -> bool:
        return True  # without them, no read is lazy

    @property
    def is_unchecked(self) -> bool:
        """Whether it relies on what the server was not asked about yet."""
        return not self.holds_connection and (self._needs_version or self._needs_epoch)

    @property
    def connection(self) -> Connection:
        self.begin()
        return super().connection

    @property
    def last_write(self) -> LastWrite | None:
        if self._state is None:
            self.begin()
        self._relied()
        return super().last_write

    def ask_in_parallel(self, queries: Sequence[Statement]) -> None:
        if self._parallel is not None or not queries:
            return
        asked = [self._query(*query) for query in queries]
        with PostgresErrors():
            sharing = parallel.sharing(self.connection)
        naming = [self._naming] if self.is_named else []
        self._parallel = self._ask_in_parallel([Sent(READ), sharing, *naming], asked)

    def begin(self) -> None:
        """Begin, if nothing has been read yet.

        Raises:
            Outdated: the tenant's row is not the one that was relied on.
        """
        if not self.holds_connection:
            self._begin()

    def _relied(self, *, only_epoch: bool = False) -> None:
        if not self.holds_connection:
            self._needs_epoch = True
            self._needs_version |= not only_epoch

    def _fetched_together(self, queries: Sequence[tuple[str, Given]]) -> list[list[Row]]:
        return super()._fetched_together(queries) if self.holds_connection else self._begin(queries)

    def _begin(self, queries: Sequence[tuple[str, Given]] = ()) -> list[list[Row]]:
        state, found = self._begun(queries)
        if state is None and not self.is_named:
            # There is no such tenant, or its rows are only shown to who names it.
            self._give_back(self.connection)
            self.is_named = True
            state, found = self._begun(queries)
        known, self._state, self.state_before = self._state, state, state
        self._head = None if state is None else state.end
        if (self._needs_version and not is_same(state, known)) or (
            self._needs_epoch and (state is None or known is None or state.epoch != known.epoch)
        ):
            raise Outdated
        if found:
            self._last = found[-1]
        return [answer.rows for answer in found]

    def _begun(self, queries: Sequence[tuple[str, Given]]) -> Begun:
        """Begin, and ask, on a connection that is alive; return the tenant's row, and answers."""
        try:
            return self._begin_on(lambda connection: self._sent(connection, queries))
        except BaseException:
            self._connection = None  # it was given back
            raise

    def _sent(self, connection: Connection, queries: Sequence[tuple[str, Given]]) -> Begun:
        self._connection = connection
        beginning = [Sent(READ), self._naming] if self.is_named else [Sent(READ)]
        made = [self._query(*query) for query in queries]
        answers = connection.together(*beginning, Sent(READ_STATE, [self.tenant]), *made)
        row = answers[len(beginning)].row
        return None if row is None else TenantRow(*row), answers[len(beginning) + 1 :]


class Outrun(Exception):
    """Another process wrote since; what relied on the tenant's row has to be done again."""


class Locked(NamedTuple):
    """A transaction that has begun, and locked its tenant."""

    connection: Connection
    state: TenantRow | None
    """The tenant's row; ``None`` if there is none yet."""
    number: str | None
    """The number of the transaction on the server, if the tenant has a row."""
    answers: Sequence[StatementResult]
    """To what was sent in the same round trip."""


class LazyWrite(PostgresTransaction):
    """A write that takes the lock of its tenant with its first query, in the same round trip.

    Until then it may rely on what is remembered of the tenant. If nothing has to be read, it is one
    statement, which writes nothing if the tenant was written since.

    Args:
        locked: takes the lock, then sends statements.
        state: what is remembered; ``None`` to rely on nothing.
    """

    def __init__(
        self,
        locked: Callable[[Sequence[Sent]], Locked],
        tenant: str,
        admit: Callable[[PostgresTransaction, Collection[str]], None],
        state: TenantRow | None,
        remembered: TenantCache,
    ) -> None:
        super().__init__(None, tenant, admit, state, remembered)
        self._locked = locked
        self._has_relied = False
        self.number: str | None = None

    @property
    def connection(self) -> Connection:
        if self._connection is None:
            self._lock()
        return super().connection

    def _lock(self, *asked: Sent) -> Sequence[StatementResult]:
        """Take the lock, then send statements; return their answers.

        Raises:
            Outrun: the tenant's row is not the one that was relied on.
        """
        self._connection, found, self.number, answers = self._locked(asked)
        if self._state is None or found is None or found.version != self._state.version:
            if self._has_relied:
                raise Outrun
            self._state = self.state_before = found
            self._counters = dict(found.counters if found else {})
            self._head = None if found is None else found.end
        return answers

    def begin(self) -> None:
        """Take the lock, if nothing has taken it yet."""
        _ = self.connection

    def _know(self) -> None:
        """Take the lock if nothing is remembered of the tenant."""
        if self._state is None:
            self.begin()

    @property
    def _has_tables(self) -> bool:
        self._know()
        return super()._has_tables

    @property
    def last_write(self) -> LastWrite | None:
        self._know()
        return super().last_write

    def one(self, sql: str, parameters: Given = NO_PARAMETERS) -> Row | None:
        if self._state is None and sql == acts.LAST:
            self.begin()
        return super().one(sql, parameters)

    def _read(self, sql: str, parameters: Given) -> list[Row]:
        if self._state is None and statements.query(sql).is_remembered:
            self.begin()
        return super()._read(sql, parameters)

    def _fetched_together(self, queries: Sequence[tuple[str, Given]]) -> list[list[Row]]:
        if self.holds_connection or self._pending or self._queued.rows:
            return super()._fetched_together(queries)
        asked = [self._query(*query) for query in queries]
        if self.holds_connection:  # it was taken to check a namespace
            return super()._fetched_together(queries)
        answers = self._lock(*asked)
        self._last = answers[-1]
        return [answer.rows for answer in answers]

    # These note ids and lines. Taking the lock may replace the state, so it comes before them.

    def _sent_now(self, make: Callable[[], list[Sent]]) -> list[StatementResult]:
        self.begin()
        return super()._sent_now(make)

    def run_later(self, form: Form, values: Given = NO_PARAMETERS) -> None:
        self.begin()
        super().run_later(form, values)

    def flush(self) -> None:
        self.begin()
        super().flush()

    def finish(self) -> None:
        joined = None if self._written else self.joined()
        if joined is None:
            super().finish()
            return
        self.connection.together(Sent(*joined), COMMIT)

    def _relied(self, *, only_epoch: bool = False) -> None:
        self._know()
        self._has_relied = True

    def joined(self) -> tuple[str, Sequence[object]] | None:
        """Return all that is queued as one statement with its values; ``None`` if it cannot be.

        It returns the number 1, or 0 if another process wrote since.
        """
        waiting = self._queued.rows
        if not waiting or self._pending or any(len(rows) > 1 for rows in waiting.values()):
            return None
        statement = self._joining()
        if statement is None or self._state is None:
            return None
        completed = [self._queued.completed(form, rows) for form, rows in waiting.items()]
        values: list[Any] = [*chain.from_iterable(chain.from_iterable(completed))]
        if bool in map(type, values):
            values = [*map(bindable, values)]
        self._written |= statement.fed
        self.effects |= statement.effects
        for table, place in statement.ids:
            self._note_id(table, values[place])
        if statement.line is not None:
            id_, at, hash_ = statement.line
            self._head = (values[id_], values[at], values[hash_])
        known = self._state.version
        self._state = self._next_state()
        values += (*columns_of(self._state), known, self.tenant)
        return statement.text, statement.bound(values)

    def _joining(self) -> Joined | None:
        """Return the statement that writes the queued rows, one of each form, if there is one."""
        forms = (*self._queued.rows,)
        rows = [row for (row,) in self._queued.rows.values()]

        def value(place: Place) -> object:
            row, column = place
            return rows[row][column]

        metadata, fact, owner, pending = statements.clues(forms)
        if any(len({*map(value, places)}) > 1 for places in pending):
            return None
        return statements.joined(
            forms,
            lacks_metadata=metadata is not None and value(metadata) is None,
            is_fed=fact is not None and owner is not None and value(fact) == value(owner),
        )
