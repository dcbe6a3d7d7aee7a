"""Helpers of all tables: reads of some namespaces, and times stored as text."""

from __future__ import annotations

from functools import partial
from itertools import compress
from operator import is_not
from typing import TYPE_CHECKING, Any, Final

from memstore.database.dialect import within
from memstore.domain import clock
from memstore.errors import StorageError
from memstore.named import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

    from memstore.database.engine import Row, Transaction

IS_GIVEN: Final = partial(is_not, None)


class Rows(NamedTuple):
    """The rows of a table, erased ones too, in the namespaces asked for (``None``: all)."""

    source: str
    """The table, joined to what has the namespace if it has none."""
    namespace: str
    order: str

    def everything(
        self, transaction: Transaction, columns: str, namespaces: Sequence[str] | None
    ) -> Iterator[Row]:
        return transaction.rows(
            f"SELECT {columns} FROM {self._within(transaction, namespaces)} ORDER BY {self.order}",
            {"namespaces": namespaces},
        )

    def all_ids(
        self, transaction: Transaction, namespaces: Sequence[str] | None = None
    ) -> list[int]:
        """Return the ids, in order; for tables that are ordered by them."""
        rows = self._within(transaction, namespaces)
        return transaction.ints(
            f"SELECT {self.order} FROM {rows} ORDER BY {self.order}", {"namespaces": namespaces}
        )

    def count_all(self, transaction: Transaction, namespaces: Sequence[str] | None = None) -> int:
        return transaction.scalar(
            f"SELECT count(*) FROM {self._within(transaction, namespaces)}",
            {"namespaces": namespaces},
        )

    def first_at(self, transaction: Transaction, namespace: str) -> str | None:
        """Return when the first row of a namespace was stored."""
        row = transaction.one(
            f"SELECT min(created_at) FROM {self.source} WHERE {self.namespace} = :namespace",
            {"namespace": namespace},
        )
        return None if row is None or row[0] is None else str(row[0])

    def used_keys(self, transaction: Transaction, namespace: str, keys: Sequence[str]) -> set[str]:
        """Return which of these idempotency keys rows of the namespace have."""
        rows = transaction.rows(
            f"SELECT idempotency_key FROM {self.source} WHERE {self.namespace} = :namespace"
            f" AND idempotency_key IN {transaction.dialect.listed('keys')}",
            {"namespace": namespace, "keys": keys},
        )
        return {key for (key,) in rows}

    def _within(self, transaction: Transaction, namespaces: Sequence[str] | None) -> str:
        return self.source + within(transaction.dialect, self.namespace, namespaces)


def read_moments(what: str, values: dict[str, Any], names: Collection[str]) -> None:
    """Parse the times under these names in place; an error names the row and the column."""
    for name in compress(names, map(IS_GIVEN, map(values.__getitem__, names))):
        try:
            values[name] = clock.from_text(values[name])
        except (ValueError, TypeError, AttributeError) as error:
            message = f"{what} {values['id']}: {name} cannot be read: {error}"
            raise StorageError(message) from error


def rewritten_moment(text: str) -> str:
    """Return a time as it is stored."""
    return clock.to_text(clock.from_text(text))


def misformed_rows(
    transaction: Transaction, source: str, forms: Mapping[str, Callable[[str], str | None]]
) -> Iterator[str]:
    """Yield the ids of rows with a value in another form than it is written, and the columns.

    Such a value may mean the same: a space in JSON, a time with an offset.
    """
    names = [*forms]
    rows = transaction.rows(f"SELECT id, {', '.join(names)} FROM {source} ORDER BY id")
    for id_, *values in rows:
        if wrong := [n for n, v in zip(names, values, strict=True) if not _is_in(forms[n], v)]:
            yield f"{id_} ({', '.join(wrong)})"


def _is_in(form: Callable[[str], str | None], value: Any) -> bool:
    try:
        return value is None or form(value) == value
    except (ValueError, TypeError, AttributeError, StorageError):
        return False
