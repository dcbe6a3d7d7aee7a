"""A connection that sends several statements at once, and reads their answers together.

It is the driver's connection, and its pipeline is libpq's. The driver's own pipeline writes to the
socket after each statement and looks for answers after each, which wakes the server as often:
seven statements took it 900 microseconds where these take 130.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

import psycopg
from psycopg import errors, pq
from psycopg.adapt import PyFormat, Transformer
from psycopg.waiting import Ready, Wait

from memstore.named import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from psycopg import abc

    from memstore.database.engine import Row

MAX_PREPARED: Final = 200
"""The most statements that a connection keeps prepared; each costs memory of the server."""

FORGOTTEN: Final = (errors.InvalidSqlStatementName, errors.FeatureNotSupported)
"""Errors after which statements are prepared anew: the server has them no longer, or the tables
were changed."""

ONE_PLAN: Final = b"SET plan_cache_mode = force_generic_plan"
"""Has the server plan a prepared statement once, whatever the values."""

OWN_PLANS: Final = b"SET plan_cache_mode = auto"

_Failed: Final = pq.ExecStatus.FATAL_ERROR
_Done: Final = pq.ExecStatus.COMMAND_OK
_Rows: Final = pq.ExecStatus.TUPLES_OK


class Sent(NamedTuple):
    """A statement and the values of its parameters ``$1``, ``$2``, …."""

    text: str
    values: Sequence[object] = ()
    is_binary: bool = False
    """Whether the answer comes in the binary format."""
    is_keyed: bool = True
    """Whether it names its rows, so that one plan fits all values."""


class StatementResult:
    """What the server answered to one statement."""

    __slots__ = ("_result", "rows")

    def __init__(self) -> None:
        self.rows: list[Row] = []
        self._result: pq.abc.PGresult | None = None

    @property
    def count(self) -> int:
        """How many rows were read or changed."""
        return 0 if self._result is None else self._result.command_tuples or 0

    @property
    def names(self) -> list[str]:
        """The names of the columns."""
        result = self._result
        if result is None:
            return []
        return [(result.fname(place) or b"").decode() for place in range(result.nfields)]

    @property
    def row(self) -> Row | None:
        """The first row."""
        return self.rows[0] if self.rows else None

    def fill(self, result: pq.abc.PGresult, values: abc.Transformer) -> None:
        self._result = result
        if result.status == _Rows:
            values.set_pgresult(result)
            self.rows = values.load_rows(0, result.ntuples, tuple)


class _Converted(NamedTuple):
    """A statement as it is sent; see libpq's ``PQsendQueryParams``."""

    text: bytes
    values: Sequence[Any]
    types: tuple[int, ...]
    formats: Sequence[pq.Format] | None
    wanted: pq.Format
    is_keyed: bool


class _Preparing(NamedTuple):
    """Stands among the answers for the one to a statement's preparation."""

    key: object


class Exchange:
    """What is sent over a connection, and what is not answered yet. One thread uses it at a time.

    Args:
        prepares_after: after how many uses a statement is prepared; ``None`` for never.
    """

    def __init__(self, connection: psycopg.Connection[Any], prepares_after: int | None) -> None:
        self.connection = connection
        self._prepares_after = prepares_after
        self._uses: OrderedDict[object, int] = OrderedDict()
        """How often each statement was sent that is not prepared."""
        self._prepared: OrderedDict[object, bytes] = OrderedDict()
        """The names of those that are, the one that was used last at the end."""
        self._number = 0
        self._values: abc.Transformer = Transformer(connection)
        self._waiting: deque[StatementResult | _Preparing | None] = deque()
        """What the server will answer, in order; ``None`` is the end of a pipeline."""
        self._unneeded = 0
        """How many of them, from the first, nobody waits for: their errors are ignored."""
        self._failure: psycopg.Error | None = None
        """The first error among the answers."""

    @property
    def _pgconn(self) -> pq.abc.PGconn:
        return self.connection.pgconn

    def together(self, *statements: Sent) -> list[StatementResult]:
        """Send statements, and return their answers, after one round trip.

        Outside of a transaction, they are one. After one that fails, none is run.

        Raises:
            psycopg.Error: that of the first that failed; or the connection was lost.
        """
        answers = self._send(statements)
        self._read()
        return answers

    def send_last(self, text: str) -> None:
        """Send a statement without waiting for its answer, which is read before the next ones."""
        with suppress(psycopg.Error):
            self._send([Sent(text)])
            self._pgconn.flush()

    def settle(self) -> None:
        """Read the outstanding answers; their errors are ignored."""
        if self._waiting:
            self._unneeded = len(self._waiting)
            with suppress(psycopg.Error):
                self._read()

    def _send(self, statements: Sequence[Sent]) -> list[StatementResult]:
        ready = [self._converted(statement) for statement in statements]  # or nothing is sent
        if not self._waiting:
            self._pgconn.enter_pipeline_mode()
        self._unneeded = len(self._waiting)
        try:
            answers = [self._put(statement) for statement in ready]
            self._pgconn.pipeline_sync()
        except psycopg.Error:  # the connection is lost
            self._waiting.clear()
            raise
        self._waiting.append(None)
        return answers

    def _converted(self, statement: Sent) -> _Converted:
        values = statement.values
        given = self._values.dump_sequence(values, [PyFormat.AUTO] * len(values))
        return _Converted(
            statement.text.encode(self._values.encoding),
            given,
            tuple(self._values.types or ()),
            self._values.formats,
            pq.Format.BINARY if statement.is_binary else pq.Format.TEXT,
            statement.is_keyed,
        )

    def _put(self, statement: _Converted) -> StatementResult:
        text, values, types, formats, wanted, is_keyed = statement
        has_own_plans = not (is_keyed or self._prepares_after is None)
        if has_own_plans:
            self._put_aside(OWN_PLANS)
        name = self._name_of(text, types)
        if name is None:
            self._pgconn.send_query_params(text, values, types, formats, wanted)
        else:
            self._pgconn.send_query_prepared(name, values, formats, wanted)
        answer = StatementResult()
        self._waiting.append(answer)
        if has_own_plans:
            self._put_aside(ONE_PLAN)
        return answer

    def _put_aside(self, text: bytes) -> None:
        """Send a statement whose answer says nothing."""
        self._pgconn.send_query_params(text, None)
        self._waiting.append(StatementResult())

    def _name_of(self, text: bytes, types: Sequence[int]) -> bytes | None:
        """Return the name of a prepared statement; ``None`` if it is not used often enough."""
        if self._prepares_after is None:
            return None
        key = (text, types)
        if (name := self._prepared.get(key)) is not None:
            self._prepared.move_to_end(key)
            return name
        uses = self._uses.pop(key, 0)
        if uses < self._prepares_after:
            self._uses[key] = uses + 1
            if len(self._uses) > MAX_PREPARED:
                self._uses.popitem(last=False)
            return None
        self._number += 1
        name = self._prepared[key] = b"memstore_%d" % self._number
        self._pgconn.send_prepare(name, text, types)
        self._waiting.append(_Preparing(key))
        if len(self._prepared) > MAX_PREPARED:
            _, oldest = self._prepared.popitem(last=False)
            self._put_aside(b"DEALLOCATE " + oldest)
        return name

    def _read(self) -> None:
        """Read all answers.

        Raises:
            psycopg.Error: see :meth:`together`.
        """
        self._failure = None
        try:
            self.connection.wait(self._answered())
        except BaseException as error:
            if self._waiting:  # what comes next is not known
                self._waiting.clear()
                self.connection.close()
            else:
                self._pgconn.exit_pipeline_mode()
            if self._failure is not None and isinstance(error, psycopg.Error):
                raise self._failure from None  # why the connection was lost
            raise
        self._pgconn.exit_pipeline_mode()
        if self._failure is not None:
            raise self._failure

    def _answered(self) -> abc.PQGen[None]:
        """Send what is not sent yet, and read the answers."""
        pgconn = self._pgconn
        while pgconn.flush():
            if (yield Wait.RW) & Ready.R:
                pgconn.consume_input()
        while self._waiting:
            while pgconn.is_busy():
                yield Wait.R
                pgconn.consume_input()
            result = pgconn.get_result()
            if result is None:
                if pgconn.status == pq.ConnStatus.BAD:
                    raise psycopg.OperationalError("the connection is lost")
                continue  # it ends each answer
            self._take(self._waiting.popleft(), result)
            self._unneeded -= 1

    def _take(self, waiting: StatementResult | _Preparing | None, result: pq.abc.PGresult) -> None:
        """Take what the server answered to what was sent first."""
        if result.status == _Failed and self._failure is None and self._unneeded <= 0:
            self._failure = errors.error_from_result(result, self._values.encoding)
        if isinstance(waiting, StatementResult):
            waiting.fill(result, self._values)
        elif isinstance(waiting, _Preparing) and result.status != _Done:
            self._prepared.pop(waiting.key, None)
        if isinstance(self._failure, FORGOTTEN):
            self._prepared.clear()


class Connection(psycopg.Connection[Any]):
    """The driver's connection, with :class:`Exchange` beside its cursors."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.exchange = Exchange(self, None)

    @property
    def is_idle(self) -> bool:
        """Whether it is alive and in no transaction; ``info`` says the same, ten times slower."""
        return self.pgconn.transaction_status == pq.TransactionStatus.IDLE

    def prepare_after(self, uses: int | None) -> None:
        """Have statements prepared that were sent so often; ``None`` for never.

        Raises:
            psycopg.Error: the connection is lost.
        """
        if uses is not None:
            self.execute(ONE_PLAN)
        self.exchange = Exchange(self, uses)

    def cursor(self, *args: Any, **options: Any) -> Any:
        self.exchange.settle()
        return super().cursor(*args, **options)

    def together(self, *statements: Sent) -> list[StatementResult]:
        """See :meth:`Exchange.together`."""
        return self.exchange.together(*statements)

    def run(self, text: str, *values: object) -> StatementResult:
        """Send one statement; see :meth:`Exchange.together`."""
        return self.exchange.together(Sent(text, values))[0]
