"""A write that locks its tenant with its first query, or is one statement (decision 151)."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

from memstore.database import acts
from memstore.database.engine import NO_PARAMETERS
from memstore.database.postgres import statements
from memstore.database.postgres.connection import Sent
from memstore.database.postgres.transaction import (
    COMMIT,
    PostgresTransaction,
    bindable,
    columns_of,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from memstore.database.engine import Given, LastWrite, Row
    from memstore.database.postgres.connection import Connection, StatementResult
    from memstore.database.postgres.statements import Joined, Place
    from memstore.database.postgres.tenant_cache import TenantCache, TenantRow
    from memstore.database.writes import Form


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
