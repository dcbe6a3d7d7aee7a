"""A full-text index (FTS5) over a table's own rows: asking it, checking it, rebuilding it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from memstore.errors import StorageError

if TYPE_CHECKING:
    from memstore.database.engine import Transaction


@dataclass(frozen=True, slots=True)
class FullText:
    """One index, by the name of its table."""

    name: str

    @property
    def nearness(self) -> str:
        """BM25 as SQL; more negative is nearer; all columns weigh the same."""
        return f"bm25({self.name})"

    def best(
        self, transaction: Transaction, expression: str, limit: int
    ) -> list[tuple[int, float]]:
        """Ask the index alone, whoever may see what it finds: a quarter of the time of a join."""
        rows = transaction.rows(
            f"SELECT rowid, {self.nearness} AS nearness FROM {self.name}"
            f" WHERE {self.name} MATCH ? ORDER BY nearness, rowid DESC LIMIT ?",
            (expression, limit),
        )
        return [(int(row[0] or 0), float(row[1] or 0.0)) for row in rows]

    def refresh(self, transaction: Transaction) -> None:
        """Let this connection see how the index lies now.

        FTS5 remembers the layout, looks anew when it is searched, and takes a merge made by another
        process for damage when it is checked without having been searched.
        """
        transaction.one(f"SELECT 1 FROM {self.name} WHERE {self.name} MATCH 'memstore'")

    def check(self, transaction: Transaction) -> str | None:
        """Compare the index with the rows, entry by entry; return what is wrong, or ``None``."""
        try:
            self.refresh(transaction)
            transaction.run(
                f"INSERT INTO {self.name} ({self.name}, rank) VALUES ('integrity-check', 1)"
            )
        except StorageError as error:
            return str(error)
        return None

    def forget_deleted(self, transaction: Transaction) -> None:
        """Merge the index into one segment, so that nothing of what was deleted is left in it.

        FTS5's own ``secure-delete`` would do it at each delete, and make the file unreadable to
        programs with a SQLite before 3.42.
        """
        transaction.run(f"INSERT INTO {self.name} ({self.name}) VALUES ('optimize')")

    def rebuild(self, transaction: Transaction) -> None:
        """Make the index anew from the rows."""
        transaction.run(f"INSERT INTO {self.name} ({self.name}) VALUES ('rebuild')")
