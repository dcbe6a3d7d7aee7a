"""The connections of a process: a pool for each database, shared by its engines; what tidies it."""

from __future__ import annotations

import os
import threading
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

import psycopg
from psycopg.adapt import Loader
from psycopg.types.numeric import Int8Dumper
from psycopg_pool import ConnectionPool, PoolClosed, PoolTimeout

from memstore.database.postgres.arrays import (
    Array,
    ArrayDumper,
    Bits,
    BitsDumper,
    IdArray,
    IdsDumper,
)
from memstore.database.postgres.connection import Connection, Sent
from memstore.database.postgres.failures import PostgresErrors, storage_error
from memstore.database.postgres.tenant_cache import TenantCache
from memstore.errors import MemstoreError, Remedy, StorageError, StoreBusy
from memstore.lazy import lazy_import

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from psycopg.abc import Buffer

    from memstore.database.postgres import parallel
    from memstore.database.postgres.address import DatabaseAddress
    from memstore.database.postgres.parallel import ParallelQueries
else:
    parallel = lazy_import("memstore.database.postgres.parallel")


MIN_ROWS: Final = 500
"""How many rows are a large write, whatever the tables have."""

SHARE: Final = 20
"""It is due once the rows of large writes are one in so many of the table."""

COUNTED: Final = (
    "SELECT max(reltuples) FROM pg_catalog.pg_class WHERE oid IN"
    " (to_regclass('memstore_facts'), to_regclass('memstore_episodes'))"
)
"""The planner's estimate of the rows of the larger table; -1 if it was never analyzed."""

TABLES: Final = {
    "memstore_facts": "",
    "memstore_fact_members": "",
    "memstore_journal": " (tenant, id)",
    "memstore_fact_vectors": " (tenant, generation_id, fact_id, embed_attempts)",
    "memstore_episodes": "",
    "memstore_pieces": "",
    "memstore_piece_vectors": " (tenant, generation_id, piece_id, embed_attempts)",
}
"""What large writes fill, with the columns that plans depend on; of facts and episodes any column
may be filtered."""

VACUUM: Final = f"VACUUM (SKIP_LOCKED, TRUNCATE off) {', '.join(TABLES)}"
"""Waits for no lock, and takes none that others wait for."""

ROUGHLY: Final = "SELECT set_config('default_statistics_target', '30', true)"
"""Has ``ANALYZE`` sample a third of the usual number of rows, in a third of the time."""

ANALYZE: Final = f"ANALYZE (SKIP_LOCKED) {', '.join(map(''.join, TABLES.items()))}"


class Tidying:
    """Runs ``VACUUM`` and a rough ``ANALYZE`` after large writes, in a thread.

    Autovacuum does the same within a minute or two. Until then the planner knows no row counts, an
    index-only scan visits the table for every row, and new words are read from a list. There is one
    for each database of a process; any thread may use it.

    Args:
        take, give_back: of the pool whose connections it uses.
    """

    def __init__(
        self, take: Callable[[], Connection], give_back: Callable[[Connection], None]
    ) -> None:
        self._take, self._give_back = take, give_back
        self._lock = threading.Lock()
        self._inserted = 0
        """How many rows large writes have inserted since it was done last."""
        self._is_asked = self._is_running = False

    def note(self, inserted: int) -> None:
        """Note a committed write of so many rows; return at once."""
        if inserted < MIN_ROWS:
            return
        with self._lock:
            self._inserted += inserted
            self._is_asked = True
            if self._is_running:
                return
            self._is_running = True
        threading.Thread(target=self._run, name="memstore-tidying", daemon=True).start()

    def _run(self) -> None:
        while True:
            with self._lock:
                if not self._is_asked:
                    self._is_running = False
                    return
                self._is_asked, inserted = False, self._inserted
            # What was written is committed, and autovacuum does it later.
            with suppress(MemstoreError), PostgresErrors():
                if self._tidied_after(inserted):
                    with self._lock:
                        self._inserted -= inserted

    def _tidied_after(self, inserted: int) -> bool:
        """Vacuum and analyze if it is due; return whether it was."""
        connection = self._take()
        try:
            (counted,) = connection.run(COUNTED).row or (None,)
            is_due = inserted * SHARE > (counted or 0)
            if is_due:
                connection.execute(VACUUM)  # alone: what is sent together is a transaction
                connection.together(Sent(ROUGHLY), Sent(ANALYZE))
            return is_due
        finally:
            self._give_back(connection)


class NumberLoader(Loader):
    """Reads ``numeric``, which sums of integers are, as ``int`` if it is whole."""

    def load(self, data: Buffer) -> int | float:
        text = bytes(data)
        return int(text) if text.lstrip(b"-").isdigit() else float(text)


IDLE_SECONDS: Final = 300.0
"""After how long an unused connection is closed."""

MAX_RESTING: Final = 8
"""The most connections that are kept for the next use, without going through the pool."""

MIN_VERSION: Final = 160000
"""The oldest server, as the driver writes versions: 16 brought ``IS JSON``."""

WEAKER: Final = frozenset({"off", "local", "remote_write"})
"""Values of ``synchronous_commit`` with which a confirmed write may be lost."""

WAIT_SECONDS: Final = 30.0
"""How long a use waits for a connection."""

_lock = threading.Lock()
_pools: dict[tuple[str, int | None, int, int], SharedPool] = {}


class SharedPool:
    """A pool, and how many engines use it."""

    def __init__(self, address: DatabaseAddress) -> None:
        self.users = 0
        self._address = address
        self._pool: ConnectionPool[Connection] = ConnectionPool(
            address.conninfo,
            connection_class=Connection,
            kwargs={"autocommit": True, "prepare_threshold": None},
            min_size=0,
            max_size=address.pool_size,
            max_idle=IDLE_SECONDS,
            timeout=WAIT_SECONDS,
            reconnect_timeout=WAIT_SECONDS,
            num_workers=1,
            configure=self._configure,
            open=False,
        )
        self._has_connected = self._is_closed = False
        self._resting: list[Connection] = []
        """Connections for the next use, the last one first; their transaction may be ending."""
        self._fewest = 0
        """How many were unused all the time since the timer was started."""
        self._timer: threading.Timer | None = None
        self._waiting = 0
        """How many threads wait for a connection of the pool."""
        self._remembered: dict[str, TenantCache] = {}
        self.tidying = Tidying(self.take, self.give_back)

    def remembered(self, tenant: str) -> TenantCache:
        """Return what this process remembers of a tenant."""
        with _lock:
            return self._remembered.setdefault(tenant, TenantCache())

    def take(self, wait: float = WAIT_SECONDS) -> Connection:
        """Return a connection for one transaction.

        Args:
            wait: how many seconds to wait for one.

        Raises:
            StorageError: the server cannot be reached, or refuses this user.
            StoreBusy: every connection of this process stayed in use.
        """
        if not self._has_connected:
            self._connect_first()
        while (rested := self._rested_or_waiting()) is not None:
            if not rested.closed:
                return rested
            self._pool.putconn(rested)  # which replaces it
        try:
            return self._pool.getconn(wait)
        except PoolTimeout:
            raise StoreBusy(
                f"no connection to {self._address.shown} became free in {wait:g} s, of the"
                f" {self._address.pool_size} that this process may have (pool_size); nothing was"
                " stored",
                remedy=Remedy.WAIT,
            ) from None
        except (psycopg.Error, PoolClosed) as error:
            raise StorageError(f"{self._address.shown} cannot be used") from error
        finally:
            with _lock:
                self._waiting -= 1

    def give_back(self, connection: Connection) -> None:
        """Take a connection back; a transaction that is open is undone."""
        if not connection.is_idle:
            with suppress(psycopg.Error):
                connection.run("ROLLBACK")
        with _lock:
            rests = connection.is_idle and self._rest(connection)
        if not rests:
            self._pool.putconn(connection)

    def give_back_read(self, connection: Connection) -> None:
        """Take a connection back whose transaction has only read; nobody waits for its end."""
        status = psycopg.pq.TransactionStatus
        if connection.info.transaction_status == status.INTRANS:
            connection.exchange.send_last("COMMIT")
            with _lock:
                if self._rest(connection):
                    return
            connection.exchange.settle()
        if connection.info.transaction_status == status.INERROR:
            with suppress(psycopg.Error):
                connection.run("ROLLBACK")
        self._pool.putconn(connection)

    def ask_in_parallel(
        self, beginning: Sequence[Sent], queries: Sequence[Sent]
    ) -> ParallelQueries:
        """Have another connection answer the queries of a read."""
        return parallel.ParallelQueries(self.take, self.give_back_read, beginning, queries)

    def _configure(self, connection: Connection) -> None:
        connection.prepare_after(self._address.prepare_threshold)
        configure(connection)

    def figures(self) -> dict[str, int]:
        """Return how many connections are used and idle, and how many threads wait for one."""
        counted = self._pool.get_stats()
        with _lock:
            resting, waiting = len(self._resting), self._waiting
        idle = counted.get("pool_available", 0) + resting
        return {
            "used": max(0, counted.get("pool_size", 0) - idle),
            "idle": idle,
            "waiting": waiting,
        }

    def _rest(self, connection: Connection) -> bool:
        """Keep a connection for the next use, unless there are enough, or somebody waits."""
        if self._waiting or len(self._resting) >= MAX_RESTING or self._is_closed:
            return False
        self._resting.append(connection)
        if self._timer is None:
            self._timer = threading.Timer(IDLE_SECONDS, self._let_go)
            self._timer.daemon = True
            self._timer.start()
        return True

    def _rested_or_waiting(self) -> Connection | None:
        """Return a connection that rests; or ``None``, and the caller counts as waiting.

        In one step, because a connection that began to rest in between would not end the waiting.
        """
        with _lock:
            self._fewest = min(self._fewest, max(0, len(self._resting) - 1))
            if self._resting:
                return self._resting.pop()
            self._waiting += 1
            return None

    def _let_go(self) -> None:
        """Give those back that were not used for so long; the pool closes them in time."""
        with _lock:
            unused, self._resting = self._resting[: self._fewest], self._resting[self._fewest :]
            self._fewest = len(self._resting)
            self._timer = None
        for connection in unused:
            connection.exchange.settle()
            self._pool.putconn(connection)

    def close(self) -> None:
        with _lock:
            self._is_closed = True
            resting, self._resting = self._resting, []
            if self._timer is not None:
                self._timer.cancel()
        for connection in resting:
            connection.close()
        self._pool.close()

    def _connect_first(self) -> None:
        """Connect once without the pool, which would go on trying, and would not say why."""
        connection = connect(self._address)
        try:
            _check_server(connection, self._address.shown)
        finally:
            connection.close()
        with _lock:
            self._pool.open()
            self._has_connected = True


def connect(address: DatabaseAddress) -> psycopg.Connection[Any]:
    """Return a connection that is in no pool.

    Raises:
        StorageError: the server cannot be reached, or refuses this user. It shows no password.
    """
    try:
        return psycopg.connect(
            address.conninfo, autocommit=True, prepare_threshold=address.prepare_threshold
        )
    except psycopg.OperationalError as error:
        reason = str(error).strip().partition("\n")[0]
        raise StorageError(f"cannot open {address.shown}: {reason}") from None
    except psycopg.Error as error:
        raise storage_error(error) from error


def _check_server(connection: psycopg.Connection[Any], shown: str) -> None:
    if connection.info.server_version < MIN_VERSION:
        raise StorageError(
            f"{shown} is PostgreSQL {connection.info.server_version // 10000}; this needs "
            f"{MIN_VERSION // 10000} or newer"
        )
    encoding = connection.info.parameter_status("server_encoding")
    if encoding != "UTF8":
        raise StorageError(f"{shown} has the encoding {encoding}; this needs UTF8")


def configure(connection: psycopg.Connection[Any]) -> None:
    """Set how a connection reads and writes values."""
    # One type for all numbers, so that a statement is prepared once and not once for each size.
    connection.adapters.register_dumper(int, Int8Dumper)
    connection.adapters.register_loader("numeric", NumberLoader)
    connection.adapters.register_dumper(Array, ArrayDumper)
    connection.adapters.register_dumper(Bits, BitsDumper)
    connection.adapters.register_dumper(IdArray, IdsDumper)


def opened(address: DatabaseAddress) -> SharedPool:
    """Return the pool of a database, which the caller releases in the end."""
    key = (address.conninfo, address.prepare_threshold, address.pool_size, os.getpid())
    with _lock:
        if key not in _pools:
            _pools[key] = SharedPool(address)
        _pools[key].users += 1
        return _pools[key]


def release(pool: SharedPool) -> None:
    """Give up a pool; the last user closes it."""
    with _lock:
        pool.users -= 1
        if pool.users:
            return
        for key in [key for key, known in _pools.items() if known is pool]:
            del _pools[key]
    pool.close()
