"""A transaction on one connection for one tenant."""

from __future__ import annotations

import struct
from contextlib import suppress
from functools import lru_cache
from struct import Struct
from typing import TYPE_CHECKING, Any, Final, cast

from memstore.database import acts
from memstore.database.dialect import parameters_of, with_parameters
from memstore.database.engine import NO_PARAMETERS, LastWrite, Queued, Transaction
from memstore.database.postgres import derived, forms, statements
from memstore.database.postgres import tenant_cache as remembering
from memstore.database.postgres.arrays import Bits, array, ids
from memstore.database.postgres.connection import Sent
from memstore.database.postgres.dialect import DIALECT
from memstore.database.postgres.failures import PostgresErrors
from memstore.database.postgres.schema import tables
from memstore.database.postgres.schema.tables import TENANT
from memstore.database.postgres.tenant_cache import TenantRow
from memstore.database.writes import Insert, Update
from memstore.domain.arguments import MAX_NUMBER
from memstore.domain.metadata import json_writer
from memstore.domain.records import BYTES_PER_NUMBER, Head
from memstore.frozen import replace
from memstore.lazy import lazy_import
from memstore.named import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from memstore.database.engine import Finish, FullTexts, Given, Row, Statement, Value
    from memstore.database.postgres import full_text as indexes
    from memstore.database.postgres import sending
    from memstore.database.postgres.connection import Connection, StatementResult
    from memstore.database.postgres.parallel import ParallelQueries
    from memstore.database.postgres.sending import Sender
    from memstore.database.postgres.statements import Compiled
    from memstore.database.postgres.tenant_cache import TenantCache
    from memstore.database.sqlite import marked
    from memstore.database.writes import Form

    Run = Callable[[str, list[object]], object]
    """Runs a statement with its values, or notes that it is to run."""
else:
    indexes = lazy_import("memstore.database.postgres.full_text")
    sending = lazy_import("memstore.database.postgres.sending")
    marked = lazy_import("memstore.database.sqlite.marked")


MAX_BITS: Final = 4096
"""Of a longer vector the first numbers count: an index takes no entry above 2,700 bytes."""

SIGNS: Final = b"0" * 128 + b"1" * 128
"""The digit that the highest byte of a number stands for."""

TABLES: Final = frozenset({"memstore_fact_vectors", "memstore_piece_vectors"})

_length: Final = Struct(">i").pack


def code(blob: bytes) -> Bits:
    """Return the code of a vector, float32, little-endian."""
    signs = blob[BYTES_PER_NUMBER - 1 : MAX_BITS * BYTES_PER_NUMBER : BYTES_PER_NUMBER]
    count = len(signs)
    number = int(signs.translate(SIGNS) or b"0", 2) << -count % 8
    return Bits(_length(count) + number.to_bytes((count + 7) // 8, "big"))


class Coded(NamedTuple):
    """A form that writes vectors, changed so that it writes their codes too."""

    form: Form
    vector: str | None
    """The parameter of the vector; ``None`` if the form removes vectors."""
    places: tuple[int | None, ...]
    """The place of each parameter in a row without the code; ``None`` for the code."""


@lru_cache(maxsize=512)
def coded(form: Form) -> Coded | None:
    """Return a form with codes; ``None`` if it writes no vectors."""
    if isinstance(form, Insert) and "embedding" in form.columns:
        value = form.values[form.columns.index("embedding")]
        made: Form = replace(
            form, columns=(*form.columns, "code"), values=(*form.values, _of_code(value))
        )
    elif isinstance(form, Update) and "embedding" in form.settings:
        value = form.settings["embedding"]
        made = replace(form, settings={**form.settings, "code": _of_code(value)})
    else:
        return None
    vector = next(iter(parameters_of(value)), None)
    places = tuple(None if name == "code" else form.names.index(name) for name in made.names)
    return Coded(made, vector, places)


def _of_code(value: str) -> str:
    """Return the expression of a code beside that of its vector."""
    return with_parameters(value, lambda _: ":code")


def with_code(form: Form, values: Given) -> tuple[Form, Given]:
    """Return a form, and its values, that writes the codes of the vectors it writes."""
    found = coded(form) if form.table in TABLES else None
    if found is None or found.vector is None:
        return form if found is None else found.form, values
    if isinstance(values, tuple):
        own = _code(values[form.names.index(found.vector)])
        row: Row = tuple(own if place is None else values[place] for place in found.places)
        return found.form, row
    return found.form, {**values, "code": _code(values[found.vector])}


def _code(blob: object) -> Bits | None:
    return code(blob) if isinstance(blob, bytes) else None


STATE: Final = (
    "UPDATE memstore_tenants SET version = $1, epoch = $2, counters = $3, line = $4, at = $5,"
    " hash = $6 WHERE tenant = $7"
)

_to_text: Final = json_writer(allow_nan=False)

HAS_LEVELS: Final = "SELECT 1 FROM memstore_meta WHERE key = :levels"

COMMIT: Final = Sent("COMMIT")

NO_ZEROS: Final = "DELETE FROM memstore_counts WHERE tenant = $1 AND number = 0"
"""Removes the counts of what is gone, so that no name of erased facts stays."""

ADVANCE: Final = (
    "WITH numbers AS (SELECT pg_get_serial_sequence($1, 'id')::regclass AS sequence)"
    " SELECT count(nextval(sequence)) FROM numbers"
    " CROSS JOIN generate_series(coalesce(pg_sequence_last_value(sequence), 0) + 1, $2)"
)

BATCH: Final = 5000
"""The most rows that one statement inserts; its parameters are held in memory on both sides."""

AHEAD: Final = 1000
"""After how many queued rows of a statement they are sent."""


class PostgresTransaction(Transaction):
    """Reads and writes over one connection, with the driver's errors translated.

    Args:
        tenant: the tenant whose rows it reads and writes.
        admit: checks that namespaces which a statement names are the tenant's.
        state: the tenant's row in this transaction; ``None`` before there is one.
        remembered: what was read before.
    """

    dialect = DIALECT

    def __init__(
        self,
        connection: Connection | None,
        tenant: str,
        admit: Callable[[PostgresTransaction, Collection[str]], None],
        state: TenantRow | None = None,
        remembered: TenantCache | None = None,
    ) -> None:
        self._connection = connection
        self.tenant = tenant
        self._state = state
        self.state_before = state
        """The tenant's row before this transaction."""
        self._remembered = remembered
        self._admit = admit
        self._admitted: set[str] = set()
        """The namespaces that were checked."""
        self._queued = Queued()
        self._pending: list[Sent] = []
        """Statements that run before what is queued."""
        self._sender: Sender | None = None
        """Sends rows while more are queued."""
        self._counters = dict(state.counters) if state is not None else {}
        self._head = None if state is None else state.end
        """The journal's last line, as far as it is known."""
        self._written: set[str] = set()
        """The tables that were written."""
        self._prefetched: list[tuple[tuple[str, list[object]], list[Row]]] = []
        """The answers to queries that will be asked, by their texts and values."""
        self._parallel: ParallelQueries | None = None
        """Queries that another connection answers."""
        self._last: StatementResult | None = None
        """The answer to the last query."""
        self._new_facts: set[object] = set()
        """The ids of facts that it inserted together, which the feed has."""
        self.inserted = 0
        """How many facts and episodes it inserted together."""
        self.namespaces: set[str] = set()
        """The namespaces of the rows that were added."""
        self.effects: set[str] = set()
        """What its statements changed besides their rows."""

    @property
    def connection(self) -> Connection:
        """Its connection, when what was sent before has run."""
        if self._connection is None:
            raise RuntimeError("the transaction has no connection")
        if self._sender is not None:
            with PostgresErrors():
                self._sender.wait()
        return self._connection

    @property
    def holds_connection(self) -> bool:
        return self._connection is not None

    @property
    def full_text(self) -> FullTexts:
        return indexes.INDEXES

    @property
    def last_write(self) -> LastWrite | None:
        state = self._state
        if state is None:
            return None
        if state.line is None or state.hash is None:
            return LastWrite(state.version, None)
        return LastWrite(state.version, Head(state.line, state.hash.hex()))

    def has_table(self, name: str) -> bool:
        return (self._has_tables and name in tables.scoped()) or super().has_table(name)

    @property
    def _has_tables(self) -> bool:
        """Whether the schema is known to be there."""
        return self._state is not None

    def expects(self, write: LastWrite | None) -> bool:
        state = self._state
        return write is not None and state is not None and write.version == state.version

    def admit(self, namespaces: Collection[str]) -> None:
        if unknown := {*namespaces} - self._admitted:
            with PostgresErrors():
                self._admit(self, unknown)
            self._admitted |= unknown

    def code(self, vector: bytes) -> Value:
        return code(vector)

    def stamp_of_others(self) -> object:
        return "ours"  # other programs do not write there, so nothing of theirs is to be adopted

    def tokens(self, texts: Iterable[str]) -> list[list[str]]:
        return marked.tokens(texts)

    def rows(self, sql: str, parameters: Given = NO_PARAMETERS) -> Iterator[Row]:
        return iter(self._read(sql, parameters))

    def one(self, sql: str, parameters: Given = NO_PARAMETERS) -> Row | None:
        if sql == acts.LAST and self._head is not None and self._head[2] is not None:
            self._relied()
            levels = self.one(HAS_LEVELS, parameters)
            return (*self._head, levels is not None)
        found = self._read(sql, parameters)
        return found[0] if found else None

    def _read(self, sql: str, parameters: Given) -> list[Row]:
        statement, memory = statements.query(sql), self._remembered
        if memory is None or not statement.is_remembered or self._changed(statement.reads):
            return self._fetched(sql, parameters)
        given = parameters if isinstance(parameters, tuple) else parameters.items()
        asked = (sql, *given)
        if (state := self._state) is not None:
            known = memory.rows(asked, state.epoch if statement.is_rare else state.version)
            if known is not None:
                self._relied(only_epoch=statement.is_rare)
                return known
        rows = self._fetched(sql, parameters)
        if (state := self._state) is not None:  # another one, if reading found it
            memory.keep(asked, state.epoch if statement.is_rare else state.version, rows)
        return rows

    def _fetched(self, sql: str, parameters: Given) -> list[Row]:
        if self._prefetched or self._parallel is not None:
            statement = statements.query(sql)
            bound = self._bound_of(statement, parameters_of(sql), parameters)
            for known, rows in self._prefetched:
                if known == (statement.text, bound):
                    return rows
            if self._parallel is not None:
                answered = self._parallel.rows(statement.text, bound)
                if answered is not None:
                    return answered
        return self._fetched_together([(sql, parameters)])[0]

    def _fetched_together(self, queries: Sequence[tuple[str, Given]]) -> list[list[Row]]:
        found = self._sent_now(lambda: [self._query(*query) for query in queries])
        self._last = found[-1]
        return [answer.rows for answer in found]

    def _sent_now(self, make: Callable[[], list[Sent]]) -> list[StatementResult]:
        """Send what is made after what waits; return the answers to it."""
        with PostgresErrors():
            self._pending = self._taken_statements()
            made = make()
            waiting, self._pending = self._pending, []
            return self.connection.together(*waiting, *made)[len(waiting) :]

    def prefetch(self, *queries: Statement) -> None:
        if self._written or self._queued.rows:
            return  # what is written next might change the answers
        keys = []
        for text, parameters in queries:
            statement = statements.query(text)
            bound = self._bound_of(statement, parameters_of(text), parameters)
            keys.append((statement.text, bound))
        self._prefetched = [*zip(keys, self._fetched_together(queries), strict=True)]

    def _changed(self, read: frozenset[str]) -> bool:
        """Return whether it wrote one of some tables, or will."""
        written = (statements.write(form, False).fed for form in self._queued.rows)
        return not (read.isdisjoint(self._written) and all(map(read.isdisjoint, written)))

    def _relied(self, *, only_epoch: bool = False) -> None:
        """Note that something was remembered, and not read.

        Args:
            only_epoch: whether it holds as long as the epoch is the same.
        """

    def run(self, form: Form, values: Given = NO_PARAMETERS) -> int:
        self._prefetched = []
        (answer,) = self._sent_now(lambda: [self._write(form, values, returns=False)])
        if statements.write(form, False).counts:
            return int(answer.row[0]) if answer.row else 0
        return answer.count

    def returned(self, form: Form, values: Given = NO_PARAMETERS) -> list[Row]:
        self._prefetched = []
        (answer,) = self._sent_now(lambda: [self._write(form, values, returns=True)])
        return answer.rows

    def execute(self, sql: str, parameters: Given = NO_PARAMETERS) -> int:
        text, names = statements.numbered(sql)
        given = _named(names, parameters)
        bound = [bindable(given[name]) for name in names]
        (answer,) = self._sent_now(lambda: [Sent(text, bound)])
        return answer.count

    def run_later(self, form: Form, values: Given = NO_PARAMETERS) -> None:
        self._prefetched = []
        with PostgresErrors():
            self._pending = self._taken_statements()
            self._pending.append(self._write(form, values, returns=False))

    def queue(self, form: Form, values: Given, finish: Finish | None = None) -> None:
        form, row = with_code(form, values)
        self._prefetched = []
        if not isinstance(row, tuple):
            row = tuple(cast("Value", row[name]) for name in form.names)
        if len(self._queued.rows.get(form, ())) >= AHEAD:
            self._send_ahead()
        self._queued.add(form, row, finish)

    def queue_ids(self, form: Form, first: int, last: int) -> None:
        self._queued.add_ids(form, first, last)

    def flush(self) -> None:
        """Write what is queued."""
        if made := self._taken_statements():
            with PostgresErrors():
                self.connection.together(*made)

    def _send_ahead(self) -> None:
        """Send what is queued; the server runs it while more is queued."""
        with PostgresErrors():
            if self._sender is None:
                self._sender = sending.Sender(self.connection)
            for statement in self._pending:
                self._sender.send(statement.text, statement.values)
            self._pending = []
            self._run_queued(self._sender.send, ahead=True)

    def abandon(self) -> None:
        """Run nothing more of what was sent; the connection is free afterwards."""
        if self._sender is not None:
            self._sender.close()
            self._sender = None

    def _taken_statements(self) -> list[Sent]:
        """Return what waits to be sent, in order, which waits no longer."""
        made, self._pending = self._pending, []
        self._run_queued(lambda text, values: made.append(Sent(text, values)))
        return made

    def _run_queued(self, run: Run, *, ahead: bool = False) -> None:
        self.note_namespaces()
        for form, rows in self._queued.take(ahead=ahead).items():
            self._run_many(form, [*self._queued.completed(form, rows)], run)

    def note_namespaces(self) -> None:
        """Note the namespaces of the queued rows."""
        for form, rows in self._queued.rows.items():
            place = statements.namespace_place(form)
            if place is not None:
                self.namespaces |= {str(row[place]) for row in rows}

    def _run_many(self, form: Form, rows: Sequence[Row], run: Run) -> None:
        names = form.names
        if len(rows) > 1 and forms.batched(form) is not None:
            for start in range(0, len(rows), BATCH):
                self._run_batch(form, rows[start : start + BATCH], run)
        else:
            statement = statements.write(form, False)
            self._note(statement)
            self._note_line(form, rows)
            for row in rows:
                run(statement.text, self._bound(statement, names, [*map(bindable, row)]))
        if isinstance(form, Insert) and "id" in names:
            self._note_id(form.table, max(row[names.index("id")] for row in rows))

    def _run_batch(self, form: Form, rows: Sequence[Row], run: Run) -> None:
        """Insert rows of a form with one statement."""
        names, table = form.names, form.table
        columns = [*zip(*rows, strict=True)]
        constant = {
            name: column[0]
            for name, column in zip(names, columns, strict=True)
            if column.count(column[0]) == len(column)
        }
        constant.pop(names[0], None)  # something has to say how many rows there are
        many = forms.batched(form, frozenset(constant))
        if many is None:
            raise ValueError(f"{form!r} cannot be written for many rows at once")
        needless = derived.needless(
            table,
            lacks_metadata=constant.get("metadata", "") is None,
            is_fed=self._are_fed(names, columns),
        )
        statement = statements.write(many.form, False, needless)
        self._note(statement)
        self._note_line(form, rows)
        values = [
            bindable(constant[name]) if name in constant else array(column, many.types[name])
            for name, column in zip(names, columns, strict=True)
        ]
        run(statement.text, self._bound(statement, names, values))
        if table in statements.WITH_NAMESPACE:
            self.inserted += len(rows)
        if table == "memstore_facts":
            self._new_facts.update(columns[names.index("id")])

    def _are_fed(self, names: Sequence[str], columns: Sequence[Row]) -> bool:
        """Whether all owners of vectors are facts that this transaction inserted."""
        return "owner" in names and self._new_facts.issuperset(columns[names.index("owner")])

    def _note(self, statement: Compiled) -> None:
        """Note what a statement changes."""
        self.effects |= statement.effects
        self._written |= statement.fed

    def _note_line(self, form: Form, rows: Sequence[Row]) -> None:
        """Note the journal's last line."""
        if form.table == acts.TABLE and isinstance(form, Insert):
            line, at, hash_ = (rows[-1][form.names.index(name)] for name in ("id", "at", "hash"))
            self._head = (line, at, hash_)

    def _bound(
        self, statement: Compiled, names: Sequence[str], values: Sequence[object]
    ) -> list[object]:
        """Return values in the order in which a statement names them."""
        given = dict(zip(names, values, strict=True))
        given[TENANT] = self.tenant
        return [given[name] for name in statement.names]

    def _bound_of(
        self, statement: Compiled, names: Sequence[str], parameters: Given
    ) -> list[object]:
        given = {**_named(names, parameters), TENANT: self.tenant}
        return [
            _listed(given[name]) if name in statement.lists else bindable(given[name])
            for name in statement.names
        ]

    def _query(self, text: str, parameters: Given) -> Sent:
        """Return a query as it is sent."""
        statement, names = statements.query(text), parameters_of(text)
        given = _named(names, parameters)
        self._check_namespaces(statement, given)
        bound = self._bound_of(statement, names, given)
        return Sent(statement.text, bound, statement.is_binary, statement.is_keyed)

    def _write(self, form: Form, values: Given, *, returns: bool) -> Sent:
        """Return a write as it is sent, and note what it changes."""
        form, values = with_code(form, values)
        statement = statements.write(form, returns)
        self._note(statement)
        given = _named(form.names, values)
        self._check_namespaces(statement, given)
        if isinstance(form, Insert):
            self._note_row(form, given)
        bound = self._bound_of(statement, form.names, given)
        return Sent(statement.text, bound, is_keyed=statement.is_keyed)

    def _note_row(self, form: Insert, given: Mapping[str, Any]) -> None:
        if form.table == acts.TABLE:
            self._head = None
        id_, namespace = given.get("id"), given.get("namespace")
        if isinstance(id_, int):
            self._note_id(form.table, id_)
        if form.table in statements.WITH_NAMESPACE and isinstance(namespace, str):
            self.namespaces.add(namespace)

    def _check_namespaces(self, statement: Compiled, given: Mapping[str, Any]) -> None:
        if TENANT not in statement.names:
            return
        if "namespace" in statement.names and given["namespace"] is not None:
            self.admit([given["namespace"]])
        if "namespaces" in statement.names:
            self.admit(given["namespaces"] or ())

    def columns(self) -> list[str]:
        """Return the names of the columns of the rows that were read last."""
        return [] if self._last is None else self._last.names

    # -- ids ----------------------------------------------------------------------------------

    def next_id(self, table: str) -> int:
        # No flush: no row of this table is queued yet.
        return self._reserve(table, 1)

    def pass_ids(self, table: str) -> None:
        if table not in tables.numbered():
            return
        last = self.scalar(f"SELECT max(id) FROM {table}")
        with PostgresErrors():  # only forwards, as other tenants' ids are of the same sequence
            self.connection.run(ADVANCE, table, last)

    def reserve_ids(self, table: str, count: int) -> int:
        return self._reserve(table, count)

    def _reserve(self, table: str, count: int) -> int:
        self._relied()
        if table not in self._counters:
            statement = statements.query(f"SELECT max(id) FROM {table}")
            with PostgresErrors():
                bound = [self.tenant for _ in statement.names]
                row = self.connection.run(statement.text, *bound).row
            last = (row[0] if row else None) or 0
            if table == acts.TABLE and self._head is not None:
                # Lines may have been removed from the end.
                last = max(last, self._head[0] or 0)
            self._counters[table] = last
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
        made = self._taken_statements()
        if "uncounted" in self.effects:
            made.append(Sent(NO_ZEROS, [self.tenant]))
        if self._written or self._state is None or self._counters != self._state.counters:
            self._state = self._next_state()
            made.append(Sent(STATE, [*columns_of(self._state), self.tenant]))
        self.connection.together(*made, COMMIT)

    @property
    def state(self) -> TenantRow | None:
        """The tenant's row, after :meth:`finish` as this transaction left it."""
        return self._state

    def _next_state(self) -> TenantRow:
        rarely = self._state is None or self._written & tables.RARE
        epoch = remembering.another() if rarely or self._state is None else self._state.epoch
        head = self._head or (None, None, None)
        return TenantRow(remembering.another(), epoch, dict(self._counters), *head)


def columns_of(state: TenantRow) -> list[object]:
    """Return the values of a tenant's row, in the order of :data:`STATE`."""
    version, epoch, counters, *line = state
    return [version, epoch, _to_text(counters), *line]


def _named(names: Sequence[str], parameters: Given) -> Mapping[str, Any]:
    if isinstance(parameters, tuple):
        return dict(zip(names, parameters, strict=True))
    return parameters


def bindable(value: object) -> object:
    """Return a value as the driver binds it: truths are numbers here.

    What is too large for a number of the server equals none of its rows', so lists lose it.
    """
    if value is True or value is False:
        return int(value)
    if type(value) in (list, tuple):
        return [one for one in cast("list[object]", value) if not _is_too_large(one)]
    return value


def _listed(value: object) -> object:
    """Return a list in which a value is looked for, as the driver binds it."""
    if isinstance(value, list) and value and type(value[0]) is int:
        with suppress(struct.error):
            return ids(cast("list[int]", value))
    return bindable(value)


def _is_too_large(value: object) -> bool:
    return type(value) is int and not -MAX_NUMBER - 1 <= value <= MAX_NUMBER
