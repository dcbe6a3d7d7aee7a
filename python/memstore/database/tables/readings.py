"""The table of readings: how an episode was read, so that it can be read just so again."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from memstore.database.engine import Transaction

EXTRACT = "extract"
MEMORY = "memory"
CLOSED = "closed"
"""A fact of the episode was erased: nothing is drawn from it again, and no reply about it kept."""

NOTHING_ASKED = "{}"


class ReadingRow(NamedTuple):
    """One way in which an episode was read."""

    episode_id: int
    kind: str
    asked: str
    """JSON: with the episode all that the prompts follow from."""


def place(transaction: Transaction, row: ReadingRow) -> bool:
    """Keep a reading; false if it is known already, or the episode is erased or not there."""
    return bool(
        transaction.run(
            "INSERT INTO memstore_readings (episode_id, kind, asked)"
            " SELECT id, ?2, ?3 FROM memstore_episodes WHERE id = ?1 AND content <> ''"
            " ON CONFLICT (episode_id, kind, asked) DO NOTHING",
            tuple(row),
        )
    )


def of_episode(transaction: Transaction, episode_id: int) -> list[ReadingRow]:
    """Return how an episode was read, in the order it was."""
    rows = transaction.rows(
        "SELECT kind, asked FROM memstore_readings WHERE episode_id = ? ORDER BY id", (episode_id,)
    )
    return [ReadingRow(episode_id, str(kind), str(asked)) for kind, asked in rows]


def forget(transaction: Transaction, episode_id: int) -> None:
    """Delete how an episode was read: what was asked may quote it."""
    transaction.run("DELETE FROM memstore_readings WHERE episode_id = ?", (episode_id,))


def everything(
    transaction: Transaction, namespaces: Sequence[str] | None = None
) -> Iterator[ReadingRow]:
    """Yield the readings of some namespaces (``None``: of all), by episode."""
    rows = transaction.rows(
        "SELECT r.episode_id, r.kind, r.asked FROM memstore_readings r"
        f" JOIN memstore_episodes e ON e.id = r.episode_id {_bound(namespaces)}"
        " ORDER BY r.episode_id, r.id",
        namespaces or (),
    )
    for episode_id, kind, asked in rows:
        yield ReadingRow(int(episode_id or 0), str(kind), str(asked))


def count_all(transaction: Transaction, namespaces: Sequence[str] | None = None) -> int:
    """Return how many readings :func:`everything` yields."""
    row = transaction.one(
        "SELECT count(*) FROM memstore_readings r"
        f" JOIN memstore_episodes e ON e.id = r.episode_id {_bound(namespaces)}",
        namespaces or (),
    )
    return int(row[0] or 0) if row else 0


def _bound(namespaces: Sequence[str] | None) -> str:
    if namespaces is None:
        return ""
    return f"WHERE e.namespace IN ({', '.join('?' * len(namespaces))})"
