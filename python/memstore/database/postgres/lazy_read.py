"""A read that begins on the server with its first query (decision 135)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from memstore.database.engine import Outdated
from memstore.database.postgres.connection import Sent
from memstore.database.postgres.failures import PostgresErrors
from memstore.database.postgres.tenant_cache import TenantRow, is_same
from memstore.database.postgres.transaction import PostgresTransaction
from memstore.lazy import lazy_import

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from memstore.database.engine import Given, LastWrite, Row, Statement
    from memstore.database.postgres import parallel
    from memstore.database.postgres.connection import Connection, StatementResult
    from memstore.database.postgres.parallel import ParallelQueries
    from memstore.database.postgres.tenant_cache import TenantCache

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
