"""The table of readings: how a model read an episode, so that this can be repeated."""

from __future__ import annotations

from itertools import starmap
from typing import TYPE_CHECKING, Final

from memstore.database.tables.rows import Rows
from memstore.database.writes import Delete, Insert
from memstore.named import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from memstore.database.engine import Transaction
    from memstore.database.filters import EpisodeFilter

EXTRACT = "extract"
MEMORY = "memory"
CLOSED = "closed"
"""A fact of the episode was erased: no facts are extracted from it again, and no replies kept."""

NOT_LEARNED = "unlearnt"  # as files and exports have it
"""A conversation was recorded, but nothing was learned from it yet; with options, a text from which
no facts were extracted yet."""

NO_OPTIONS = "{}"


ROWS: Final = Rows(
    "memstore_readings r JOIN memstore_episodes e ON e.id = r.episode_id",
    "e.namespace",
    "r.episode_id, r.id",
)
count_all = ROWS.count_all


class ReadingRow(NamedTuple):
    episode_id: int
    kind: str
    asked: str
    """JSON: together with the episode, everything that determines the prompts."""


def place(transaction: Transaction, row: ReadingRow) -> bool:
    """Store a reading; return false if it exists, or the episode is erased or missing."""
    return bool(
        transaction.run(
            Insert(
                "memstore_readings",
                ("episode_id", "kind", "asked"),
                ("id", ":kind", ":asked"),
                "memstore_episodes WHERE id = :episode_id AND content <> ''",
                unique=("episode_id", "kind", "asked"),
            ),
            row._asdict(),
        )
    )


def of_episode(transaction: Transaction, episode_id: int) -> list[ReadingRow]:
    rows = transaction.rows(
        "SELECT episode_id, kind, asked FROM memstore_readings"
        " WHERE episode_id = :episode_id ORDER BY id",
        {"episode_id": episode_id},
    )
    return [ReadingRow(*row) for row in rows]


def forget(transaction: Transaction, episode_id: int) -> None:
    """Delete the readings of an episode, because they may quote it."""
    transaction.run(
        Delete("memstore_readings", "episode_id = :episode_id"), {"episode_id": episode_id}
    )


def not_learned(transaction: Transaction, wanted: EpisodeFilter) -> list[int]:
    """Return the ids of conversations that nothing was learned from yet, oldest first."""
    return [row.episode_id for row in waiting(transaction, wanted) if row.asked == NO_OPTIONS]


def not_extracted(transaction: Transaction, wanted: EpisodeFilter) -> list[ReadingRow]:
    """Return how the texts were to be read that no facts were extracted from yet, oldest first."""
    return [row for row in waiting(transaction, wanted) if row.asked != NO_OPTIONS]


def waiting(transaction: Transaction, wanted: EpisodeFilter) -> list[ReadingRow]:
    """Return what a model was to read and has not, oldest first."""
    seen, values = wanted.of("e", transaction.dialect)
    rows = transaction.rows(
        # CROSS JOIN: the planner would begin with the episodes.
        "SELECT r.episode_id, r.kind, r.asked FROM memstore_readings r"
        " CROSS JOIN memstore_episodes e"
        f" WHERE r.kind = '{NOT_LEARNED}' AND e.id = r.episode_id AND {seen}"
        " ORDER BY r.episode_id, r.id",
        values,
    )
    return [*starmap(ReadingRow, rows)]


def count_waiting(transaction: Transaction, wanted: EpisodeFilter) -> int:
    """Return how many episodes a model was to read and has not."""
    return len({row.episode_id for row in waiting(transaction, wanted)})


def forget_not_learned(transaction: Transaction, episode_id: int) -> None:
    """Record that a model has read an episode."""
    transaction.run(
        Delete("memstore_readings", f"episode_id = :episode_id AND kind = '{NOT_LEARNED}'"),
        {"episode_id": episode_id},
    )


def mark_read(transaction: Transaction, episode_ids: Sequence[int]) -> None:
    """Record that a model has read these episodes, and how is not known."""
    for episode_id in episode_ids:
        place(transaction, ReadingRow(episode_id, MEMORY, NO_OPTIONS))
        forget_not_learned(transaction, episode_id)


def everything(
    transaction: Transaction, namespaces: Sequence[str] | None = None
) -> Iterator[ReadingRow]:
    columns = "r.episode_id, r.kind, r.asked"
    return starmap(ReadingRow, ROWS.everything(transaction, columns, namespaces))
