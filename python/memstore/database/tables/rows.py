"""What tables have in common: reads of some namespaces, and times stored as text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from memstore.database.dialect import within
from memstore.domain import clock
from memstore.errors import StorageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from memstore.database.engine import Row, Transaction


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


def read_moments(what: str, values: dict[str, Any], names: Iterable[str]) -> None:
    """Parse the times under these names in place; an error names the row and the column."""
    for name in names:
        if (text := values[name]) is not None:
            try:
                values[name] = clock.from_text(text)
            except (ValueError, TypeError, AttributeError) as error:
                message = f"{what} {values['id']}: {name} cannot be read: {error}"
                raise StorageError(message) from error
