"""The engine for PostgreSQL, for one tenant of a database.

A read sees one snapshot. A write locks its tenant's row with its first query, so that writes of one
tenant take turns, over all processes and machines, and what a write reads does not change until it
commits. Tenants do not wait for each other.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
import threading
from contextlib import contextmanager, suppress
from typing import IO, TYPE_CHECKING, Any, Final, TypeVar

import psycopg
from psycopg.errors import LockNotAvailable

from memstore import settings
from memstore.database import meta as meta_table
from memstore.database.engine import Outdated, Statement, longest_wait, taken_back
from memstore.database.postgres import pools, row_security, structure
from memstore.database.postgres import tenant_cache as remembering
from memstore.database.postgres.address import DatabaseAddress
from memstore.database.postgres.connection import Sent
from memstore.database.postgres.failures import PostgresErrors, is_lost, storage_error
from memstore.database.postgres.lazy_work import READ, LazyRead, LazyWrite, Locked, Outrun
from memstore.database.postgres.schema import tables
from memstore.database.postgres.tenant_cache import TenantRow, WriteTurn, is_same
from memstore.database.postgres.transaction import COMMIT, PostgresTransaction
from memstore.database.writes import Insert
from memstore.domain import clock
from memstore.domain.arguments import checked_real
from memstore.errors import (
    Conflict,
    MemstoreError,
    Remedy,
    SchemaError,
    StorageError,
    StoreBusy,
    StoreClosed,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
    from contextlib import AbstractContextManager
    from pathlib import Path

    from memstore.database.engine import (
        Cancelled,
        Durability,
        Mended,
        Progress,
        Row,
        SchemaTroubles,
        Transaction,
    )
    from memstore.database.postgres.connection import Connection, StatementResult


SCHEMA_LOCK: Final = 0x6D656D73746F7265
"""The advisory lock of the schema: "memstore"."""


NAMESPACE: Final = Insert("memstore_namespaces", ("namespace", "tenant"), unique=("namespace",))


def create(transaction: PostgresTransaction) -> None:
    """Create the tables, unless they are there, and the transaction's tenant."""
    tenant = {"tenant": transaction.tenant}
    if not transaction.scalar("SELECT count(to_regclass('memstore_tenants'))"):
        transaction.connection.execute(tables.text())
    transaction.run(Insert("memstore_tenants", ("tenant",)), tenant)
    transaction.run(NAMESPACE, {**tenant, "namespace": transaction.tenant})
    meta_table.put(transaction, "schema_family", meta_table.FAMILY)
    transaction.run(
        Insert("memstore_generations", ("id", "state", "created_at"), ("1", "'active'", ":at")),
        {"at": clock.to_text(clock.utc_now())},
    )


T = TypeVar("T")

WAIT_SECONDS: Final = 30.0
"""How long a write waits for other writes of the same tenant."""

MAX_WAIT_SECONDS: Final = 86_400

TRIMMED_EVERY: Final = 1000
"""After how many writes that fed an index the feeds are shortened."""

OUTCOME_SECONDS: Final = 30.0
"""How long the server is asked what became of a commit whose answer was lost."""

OUTCOME_PAUSE_SECONDS: Final = 0.2

OUTCOME: Final = "SELECT pg_xact_status($1::xid8)"

COMPLETE: Final = Statement(
    "SELECT count(to_regclass('memstore_compared')) + count(to_regclass('memstore_line_counts'))"
    " + count(to_regclass('memstore_taken')) + count(to_regclass('memstore_device_files'))"
    " + count(to_regclass('memstore_mention_blocks'))"
    " + count(to_regclass('idx_memstore_journal_confirmed'))"
)
"""How many of the tables and indexes that came last are there."""

LOCK: Final = (
    f"SELECT {remembering.COLUMNS}, pg_current_xact_id()::text FROM memstore_tenants"
    " WHERE tenant = $1 FOR UPDATE"
)

PRESENT: Final = "SELECT DISTINCT tenant FROM memstore_namespaces ORDER BY tenant LIMIT $1"
"""Some of the tenants that this user may see."""

MAX_NAMED: Final = 10
"""How many tenants an error names."""

HAS_SCHEMA: Final = f"SELECT ({row_security.IS_ON})"

TENANTS: Final = "SELECT namespace, tenant FROM memstore_namespaces WHERE namespace = ANY ($1)"

BEGINNING: Final = (
    f"SELECT set_config('lock_timeout', $1, true), set_config('{row_security.TENANT}', $2, true)"
)
"""Sets how many milliseconds a write waits for a lock, and its tenant, for row-level security."""

TRIM: Final = (
    "DELETE FROM {0} WHERE tenant = $1 AND seq <= (SELECT seq FROM {0}"
    " WHERE tenant = $1 ORDER BY seq DESC OFFSET 200000 LIMIT 1)"
)


def _unchanged(_: Transaction) -> None:
    pass


class PostgresEngine:
    """See the module.

    Args:
        url: a ``postgresql://`` URL, or whatever else libpq takes.
        namespace: the namespace that the caller is bound to.
        shared: another one that it also uses, which is of the same tenant.
        create: whether the caller creates a missing tenant, if it may write.
    """

    def __init__(
        self,
        url: str,
        namespace: str,
        shared: str | None = None,
        *,
        wait_seconds: float = WAIT_SECONDS,
        read_only: bool = False,
        create: bool = True,
    ) -> None:
        checked_real(wait_seconds, "wait_seconds", 0, MAX_WAIT_SECONDS)
        self._opened_to_wait = wait_seconds
        self._address = DatabaseAddress(url)
        self._read_only = read_only
        self._creates = create and not read_only
        self._process = os.getpid()
        self._closed = False
        self._pool = pools.opened(self._address)
        self._writing = threading.local()
        self._has_tenant = False
        self._has_tables = False
        """Whether the schema is known to be there."""
        self._has_policies = False
        """Whether the server shows a transaction only the rows of the tenant that it names."""
        self._namespaces: set[str] = set()
        """The namespaces that are known to be the tenant's."""
        self._fed = 0
        """How many writes have fed an index since the feeds were shortened."""
        self.before_commit: Callable[[Transaction], object] = _unchanged
        try:
            self.tenant = self._tenant_of(namespace, shared)
            self._naming = row_security.naming(self.tenant)
            self._locking = Sent(LOCK, [self.tenant])
            self._remembered = self._pool.remembered(self.tenant)
        except BaseException:
            self.close()
            raise

    @property
    def _wait_seconds(self) -> float:
        return longest_wait(self._opened_to_wait)

    @property
    def path(self) -> str:
        return self._address.shown

    @property
    def derived_path(self) -> str | None:
        folder = settings.index_folder()
        named = hashlib.sha256(f"{self.path}\0{self.tenant}".encode()).hexdigest()
        return None if folder is None else os.path.join(folder, named[:32])

    @property
    def is_remote(self) -> bool:
        return True

    @property
    def locks(self) -> str:
        return "server"

    @property
    def durability(self) -> Durability:
        return "full" if self.weakened_by is None else "normal"

    @property
    def weakened_by(self) -> str | None:
        with self.read() as transaction:
            row = transaction.one("SELECT current_setting('synchronous_commit')")
        if row is None or row[0] not in pools.WEAKER:
            return None
        return f"synchronous_commit = {row[0]}"

    @property
    def connections(self) -> Mapping[str, int]:
        return self._pool.figures()

    @property
    def is_lost(self) -> bool:
        return False

    def check_file(self) -> None:
        pass  # there is none

    # -- transactions -------------------------------------------------------------------------

    @contextmanager
    def read(self, *, may_repeat: bool = False) -> Iterator[PostgresTransaction]:
        self._check_usable()
        if not self._has_tables:
            connection, _ = self._began(Sent(READ), self._naming)
            try:
                yield PostgresTransaction(
                    connection, self.tenant, self._admit, None, self._remembered
                )
            finally:
                self._pool.give_back_read(connection)
            return
        seen, reads = self._remembered.seen, self._remembered.reads
        read = LazyRead(
            self._begin_on,
            self._pool.give_back,
            self._pool.ask_in_parallel,
            self.tenant,
            self._admit,
            seen if may_repeat and reads.pays() else None,
            self._remembered,
            self._naming,
            is_named=self._has_policies,
        )
        try:
            try:
                yield read
            except Outdated:
                raise
            except Exception:
                if not read.is_unchecked:
                    raise
                raise Outdated from None  # what was remembered may be why
            if read.is_unchecked:
                read.begin()
        finally:
            if read.holds_connection:
                self._note_read(seen, read)

    def _note_read(self, seen: TenantRow | None, read: LazyRead) -> None:
        """Note what a read found of the tenant's row, and take its connection back."""
        if seen is not None:
            self._remembered.reads.note(was_right=is_same(read.state, seen))
        self._remembered.seen = read.state
        self._has_policies |= read.is_named and read.state is not None
        self._pool.give_back_read(read.connection)

    @contextmanager
    def write(
        self, *, wait_seconds: float | None = None, check_links: bool = True
    ) -> Iterator[PostgresTransaction]:
        wait = self._wait_seconds if wait_seconds is None else wait_seconds
        self._check_usable()
        self._check_writable()
        began = clock.monotonic()
        with self._turn(wait):
            left = max(0.0, wait - (clock.monotonic() - began))
            write = self._write(None, left)
            try:
                if not check_links:
                    with PostgresErrors():
                        write.connection.run("SET LOCAL session_replication_role = replica")
                yield write
                self._finish(write)
            finally:
                self._end(write)

    @contextmanager
    def claim(self, *, wait_seconds: float | None = None) -> Iterator[PostgresTransaction]:
        self._check_writable()
        wait = self._wait_seconds if wait_seconds is None else wait_seconds
        connection, _ = self._begun(wait)
        try:
            yield PostgresTransaction(connection, self.tenant, self._admit)
            with (
                PostgresErrors()
            ):  # the tenant's row stays as it is, and so does what is remembered
                connection.together(COMMIT)
        finally:
            self._pool.give_back(connection)

    def perform(self, work: Callable[[Transaction], T]) -> T:
        if self._read_only or not self._has_tenant:
            return self._performed_locked(work)
        wait = self._wait_seconds
        with self._turn(wait):
            state = self._remembered.state
            if state is not None and self._remembered.writes.pays():
                try:
                    return self._attempted(work, state, wait)
                except Outrun:
                    self._remembered.note(None)
                    self._remembered.writes.note(was_right=False)
            return self._attempted(work, None, wait)

    def _write(self, state: TenantRow | None, wait: float) -> LazyWrite:
        """Return a write that relies on a state of the tenant's row.

        Args:
            wait: how many seconds to wait for the lock.
        """
        return LazyWrite(
            lambda asked: self._locked(wait, asked),
            self.tenant,
            self._admit,
            state,
            self._remembered,
        )

    def _end(self, write: LazyWrite) -> None:
        if write.holds_connection:
            write.abandon()
            self._pool.give_back(write.connection)

    def _performed_locked(self, work: Callable[[Transaction], T]) -> T:
        with self.write() as transaction:
            return work(transaction)

    def _attempted(
        self, work: Callable[[Transaction], T], state: TenantRow | None, wait: float
    ) -> T:
        """Do work as one statement if it reads nothing.

        Args:
            state: the tenant's row as it is remembered; ``None`` to rely on nothing.
            wait: how many seconds to wait for the lock.

        Raises:
            Outrun: another process wrote since; nothing was stored.
        """
        attempt = self._write(state, wait)
        try:
            try:
                result = work(attempt)
                self.before_commit(attempt)
                claimed = self._claimed(attempt)
            except StoreBusy:
                raise
            except MemstoreError:
                if attempt.holds_connection or state is None:
                    raise
                raise Outrun from None  # what was remembered may be why
            joined = None
            if state is not None and not (attempt.holds_connection or self._is_trimming_due()):
                joined = attempt.joined()
            if state is None or joined is None:
                self._finish(attempt, is_settled=True)
            else:
                self._send(attempt, state, *joined)
                self._remembered.writes.note(was_right=True)
            self._namespaces |= claimed
        finally:
            self._end(attempt)
        return result

    def _send(
        self, attempt: LazyWrite, known: TenantRow, text: str, values: Sequence[object]
    ) -> None:
        """Send a write that is one statement."""
        after = attempt.state
        self._remembered.note(None)
        connection = self._taken()
        try:
            row = self._sent(connection, text, values)
        except psycopg.OperationalError as error:
            if not is_lost(error):
                raise storage_error(error) from error
            if not self._is_written(known, after, error):
                raise _not_stored() from error
            row = (1,)
        except psycopg.Error as error:
            raise storage_error(error) from error
        finally:
            self._pool.give_back(connection)
        if row is None or not row[0]:
            raise Outrun
        self._fed += "fed" in attempt.effects
        self._remembered.note(after)

    def _sent(self, connection: Connection, text: str, values: Sequence[object]) -> Row | None:
        if self._has_policies:
            return connection.together(self._naming, Sent(text, values))[1].row
        return connection.run(text, *values).row

    def _is_written(
        self,
        before: TenantRow | None,
        after: TenantRow | None,
        lost: psycopg.Error,
        number: str | None = None,
    ) -> bool:
        """Return whether a write is stored, and keep it from being stored later.

        Args:
            before, after: the tenant's row without it and with it.
            number: of its transaction, if it had one.

        Raises:
            StorageError: the server does not answer, or others wrote since and it has no line.
        """
        if after is before:
            return False  # the change of the row was not sent yet, and so neither was the commit
        deadline = clock.monotonic() + OUTCOME_SECONDS
        pause = threading.Event()
        while clock.monotonic() < deadline:
            with suppress(psycopg.Error, StorageError):
                found = self._outcome_of(before, after, number)
                if found is not None:
                    return found
                break
            pause.wait(OUTCOME_PAUSE_SECONDS)
        raise StorageError(
            "the connection to the server was lost during the commit, and the server does not "
            "say whether the change was stored",
            remedy=Remedy.READ_AGAIN,
        ) from lost

    def _outcome_of(
        self, before: TenantRow | None, after: TenantRow | None, number: str | None
    ) -> bool | None:
        """Look a write up by what it left; its transaction has ended when the lock is there."""
        connection, state, *_ = self._locked(self._opened_to_wait)
        try:
            if state is None or after is None:
                return None if after is None else False  # it would have made the tenant
            if state.version == after.version:
                return True
            if before is not None and state.version == before.version:
                # It may still arrive, and then finds another one.
                renewing = "UPDATE memstore_tenants SET version = $1 WHERE tenant = $2"
                connection.together(Sent(renewing, [remembering.another(), self.tenant]), COMMIT)
                return False
            if after.line is None or (before is not None and after.line == before.line):
                return _unless_aborted(connection, number)
            row = connection.run(
                "SELECT hash FROM memstore_journal WHERE tenant = $1 AND id = $2",
                self.tenant,
                after.line,
            ).row
            return row is not None and row[0] == after.hash
        finally:
            self._pool.give_back(connection)

    def _turn(self, wait: float) -> WriteTurn:
        return WriteTurn(self._remembered.turn, self._writing, wait, self._busy)

    def _finish(self, transaction: LazyWrite, *, is_settled: bool = False) -> None:
        """Do what is due before a commit, and commit."""
        transaction.begin()
        claimed = set[str]()
        if not is_settled:
            self.before_commit(transaction)
            claimed = self._claimed(transaction)
        self._trim(transaction)
        self._remembered.note(None)
        self._commit(transaction)
        self._fed += "fed" in transaction.effects
        self._remembered.note(transaction.state)
        self._pool.tidying.note(transaction.inserted)
        self._namespaces |= claimed

    def _taken(self) -> Connection:
        self._check_usable()
        return self._pool.take()

    def _began(self, *beginning: Sent) -> tuple[Connection, list[StatementResult]]:
        """Return a connection in a new transaction."""
        return self._begin_on(lambda connection: (connection, connection.together(*beginning)))

    def _begin_on(self, begin: Callable[[Connection], T]) -> T:
        """Begin a transaction; a connection that died is replaced.

        Args:
            begin: sends the first statements; it is called again if the connection was dead.
        """
        for _ in range(self._address.pool_size + 1):  # all that a process has may have died
            connection = self._taken()
            try:
                return begin(connection)
            except psycopg.Error as error:
                self._pool.give_back(connection)
                if not is_lost(error):
                    raise storage_error(error) from error
                failure = error
            except BaseException:
                self._pool.give_back(connection)
                raise
        raise storage_error(failure) from failure

    def _commit(self, transaction: LazyWrite) -> None:
        """Commit; if the answer is lost, ask the server what became of the transaction."""
        try:
            transaction.finish()
        except psycopg.OperationalError as error:
            if not is_lost(error):
                raise storage_error(error) from error
            before, after = transaction.state_before, transaction.state
            if not self._is_written(before, after, error, transaction.number):
                raise _not_stored() from error
        except psycopg.Error as error:
            raise storage_error(error) from error

    def _locked(self, wait: float, asked: Sequence[Sent] = ()) -> Locked:
        """Begin a write with its tenant locked, then send statements."""
        known = self._has_tenant  # read once: another thread may find the tenant meanwhile
        connection, answers = self._begun(wait, *((self._locking, *asked) if known else ()))
        try:
            if known:
                _, _, locked, *found = answers
                row = locked.row
            else:
                row = self._first_locked(connection)
                found = connection.together(*asked) if asked else []
        except BaseException as error:
            self._pool.give_back(connection)
            if isinstance(error, LockNotAvailable):
                raise self._busy(wait) from None
            if isinstance(error, psycopg.Error):
                raise storage_error(error) from error
            raise
        if row is None:
            if not known:
                return Locked(connection, None, None, found)
            self._pool.give_back(connection)
            raise StorageError(f"the memory {self.tenant!r} is no longer in {self.path}")
        self._has_tenant = self._has_tables = True
        *state, number = row
        return Locked(connection, TenantRow(*state), str(number), found)

    def _begun(self, wait: float, *next_: Sent) -> tuple[Connection, list[StatementResult]]:
        """Begin a write that waits so many seconds for a lock."""
        beginning = Sent(BEGINNING, [str(max(1, int(wait * 1000))), self.tenant])
        try:
            return self._began(Sent("BEGIN"), beginning, *next_)
        except StoreBusy as error:
            if not isinstance(error.__cause__, psycopg.Error):  # no connection became free
                raise
            raise self._busy(wait) from None

    def _first_locked(self, connection: Connection) -> Row | None:
        """Lock the tenant if it exists, or else the schema: the tenant may be about to be made."""
        if self._notes_schema(connection.run(HAS_SCHEMA).row):
            (found,) = connection.together(self._locking)
            if found.row is not None:
                return found.row
        connection.run("SELECT pg_advisory_xact_lock($1)", SCHEMA_LOCK)
        return None

    def _notes_schema(self, row: Row | None) -> bool:
        """Note the answer to :data:`HAS_SCHEMA`; return whether the schema is there."""
        self._has_policies = bool(row and row[0])
        return row is not None and row[0] is not None

    def _busy(self, seconds: float) -> StoreBusy:
        return StoreBusy(
            f"another process or thread has been writing for {seconds:g} s; nothing was stored",
            remedy=Remedy.WAIT,
        )

    def _trim(self, transaction: PostgresTransaction) -> None:
        """Keep the feeds at their length, every so many writes."""
        if self._is_trimming_due():
            self._fed = 0
            transaction.flush()
            for feed in ("memstore_fact_changes", "memstore_episode_changes"):
                transaction.connection.run(TRIM.format(feed), self.tenant)

    def _is_trimming_due(self) -> bool:
        return self._fed >= TRIMMED_EVERY

    # -- namespaces ---------------------------------------------------------------------------

    def _tenant_of(self, namespace: str, shared: str | None) -> str:
        """Return the tenant of a namespace: its own, unless it was stored beside another."""
        looked_up = row_security.looking_up([namespace, shared or namespace])
        connection, answers = self._began(Sent(READ), looked_up, Sent(HAS_SCHEMA))
        try:
            if not self._notes_schema(answers[-1].row):
                if not self._creates:
                    raise self._missing(shared or namespace, [])
                return shared or namespace
            self._has_tables = True
            rows = connection.run(TENANTS, [namespace, shared or namespace]).rows
            tenants: dict[str, str] = dict(rows)
            if not (self._creates or (shared or namespace) in tenants):
                present = connection.run(PRESENT, MAX_NAMED + 1).rows
                raise self._missing(shared or namespace, [name for (name,) in present])
        except psycopg.Error as error:
            raise storage_error(error) from error
        finally:
            self._pool.give_back_read(connection)
        tenant = str(tenants.get(shared or namespace, shared or namespace))
        if tenants.get(namespace, tenant) != tenant:
            raise self._elsewhere(namespace, str(tenants[namespace]), tenant)
        self._namespaces.update(tenants)
        return tenant

    def _missing(self, namespace: str, present: Sequence[str]) -> SchemaError:
        """Return the error for a namespace that no memory has.

        Args:
            present: the memories of the database, as far as this user may see them.
        """
        named = ", ".join(map(repr, present[:MAX_NAMED]))
        more = ", and others" if len(present) > MAX_NAMED else ""
        has = f"; the namespaces of its memories are {named}{more}" if named else ""
        return SchemaError(
            f"{self.path!r} holds no memory of the namespace {namespace!r}{has}",
            remedy=Remedy.OPEN_WRITABLE if self._read_only else Remedy.CREATE_MEMORY,
        )

    def _admit(self, transaction: PostgresTransaction, namespaces: Collection[str]) -> None:
        """Check that namespaces are the tenant's, or nobody's yet.

        Raises:
            Conflict: one belongs to another tenant, so nothing would be found of it.
        """
        if unknown := {*namespaces} - self._namespaces:
            looking_up = row_security.looking_up(unknown)
            asking = Sent(TENANTS, [[*unknown]])
            _, found = transaction.connection.together(looking_up, asking)
            for namespace, tenant in found.rows:
                if tenant != self.tenant:
                    raise self._elsewhere(namespace, tenant, self.tenant)
                self._namespaces.add(namespace)

    def _claimed(self, transaction: PostgresTransaction) -> set[str]:
        """Make the namespaces that rows were added to the tenant's, for good; return the new ones.

        Raises:
            Conflict: one belongs to another tenant.
        """
        transaction.note_namespaces()
        new = transaction.namespaces - self._namespaces
        if new:
            transaction.connection.together(row_security.looking_up(new))
        for namespace in new:
            transaction.run(NAMESPACE, {"namespace": namespace, "tenant": self.tenant})
            row = transaction.one(
                "SELECT tenant FROM memstore_namespaces WHERE namespace = :namespace",
                {"namespace": namespace},
            )
            if row is not None and row[0] != self.tenant:
                raise self._elsewhere(namespace, str(row[0]), self.tenant)
        return new

    def _elsewhere(self, namespace: str, owner: str, tenant: str) -> Conflict:
        return Conflict(
            f"the namespace {namespace!r} belongs to the memory {owner!r} of this database, not to "
            f"{tenant!r}",
            remedy=Remedy.OPEN_NAMESPACE,
        )

    # -- the schema ---------------------------------------------------------------------------

    def create_schema(self, transaction: Transaction) -> None:
        create(_ours(transaction))

    def take_step(self, transaction: Transaction, version: int) -> None:
        raise StorageError(
            f"the database has schema version {version - 1}, which was never released"
        )

    @property
    def parts_to_ask(self) -> Sequence[Statement]:
        return (COMPLETE,)

    def is_complete(self, transaction: Transaction) -> bool:
        return transaction.scalar(*COMPLETE) == 6

    def complete(self, transaction: Transaction) -> None:
        structure.complete(_ours(transaction))

    def schema_troubles(self, transaction: Transaction) -> SchemaTroubles:
        return structure.troubles(_ours(transaction))

    def mend_schema(self, transaction: Transaction) -> Mended:
        return structure.mend(_ours(transaction))

    def damage(self, transaction: Transaction) -> list[str]:
        return []

    def dangling_rows(self, transaction: Transaction) -> dict[str, list[int]]:
        return structure.dangling_rows(_ours(transaction))

    # -- copies and sizes -----------------------------------------------------------------------

    def backup(self, target: Path, progress: Progress | None = None) -> None:
        raise StorageError(
            f"{self.path} is a database of a server, which pg_dump backs up, and not a file; "
            f"nothing was written to {target}",
            remedy=Remedy.BACK_UP_SERVER,
        )

    def is_backup(self, file: Path) -> bool:
        return False

    def remove_unfinished_backup(self, part: Path) -> None:
        pass

    @contextmanager
    def aside(self, cancelled: Cancelled | None = None) -> Iterator[Transaction]:
        with self.read() as transaction:  # readers block nobody, however long they read
            if cancelled is None:
                yield transaction
                return
            with _cancelling(transaction.connection, cancelled):
                yield transaction

    def trial(self) -> AbstractContextManager[Transaction]:
        return taken_back(self.write())

    def empty_log(self) -> bool:
        return True

    def compact(self) -> bool:
        return False  # the server's vacuum and the retention of its log decide when bytes are gone

    def scratch(self) -> AbstractContextManager[IO[bytes]]:
        return tempfile.TemporaryFile()

    def divided(self, file: IO[bytes], texts: Collection[bytes]) -> Iterator[tuple[bytes, int]]:
        raise StorageError("the files of a server cannot be searched from here")

    def exposed(self) -> dict[str, int]:
        return {}

    def size_bytes(self) -> int:
        """Return the size of all tables, those of other tenants included."""
        with self.read() as transaction:
            return structure.size_bytes(transaction)

    def log_bytes(self) -> int:
        return 0

    def close(self, *, untouched: bool = False) -> None:
        """Give the connections back. A second call does nothing."""
        if self._closed or self._process != os.getpid():
            return
        self._closed = True
        pools.release(self._pool)

    def _check_writable(self) -> None:
        if self._read_only:
            raise StorageError(
                "the database is open read-only; nothing was stored", remedy=Remedy.OPEN_WRITABLE
            )

    def _check_usable(self) -> None:
        if self._closed:
            raise StoreClosed("the store is closed", remedy=Remedy.OPEN_AGAIN)
        if self._process != os.getpid():
            raise StorageError(
                "this store was opened before the process forked, and connections to a server "
                "cannot cross a fork; the child process needs a store of its own",
                remedy=Remedy.OPEN_AGAIN,
            )


def _unless_aborted(connection: Connection, number: str | None) -> bool | None:
    """Return false if a transaction was aborted; ``None`` if that is not known.

    After a crash or a failover the number may be another transaction's, so that it was committed
    proves nothing. One that was committed keeps its number.
    """
    if number is None:
        return None
    row = connection.run(OUTCOME, number).row
    return False if row is not None and row[0] == "aborted" else None


def _not_stored() -> StorageError:
    return StorageError(
        "the connection to the server was lost; nothing was stored", remedy=Remedy.RETRY
    )


CANCEL_SECONDS: Final = 0.2
"""How often a caller is asked whether a long read is to end."""


@contextmanager
def _cancelling(connection: psycopg.Connection[Any], cancelled: Cancelled) -> Iterator[None]:
    """Let a statement end when the caller cancels: another thread asks, and tells the server."""
    done = threading.Event()

    def watch() -> None:
        while not done.wait(CANCEL_SECONDS):
            if cancelled():
                with suppress(psycopg.Error):
                    connection.cancel_safe()

    watching = threading.Thread(target=watch, name="memstore-cancelling", daemon=True)
    watching.start()
    try:
        yield
    finally:
        done.set()
        watching.join()


def _ours(transaction: Transaction) -> PostgresTransaction:
    if not isinstance(transaction, PostgresTransaction):
        raise TypeError("a transaction of another engine")
    return transaction
