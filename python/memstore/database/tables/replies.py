"""The table of replies: a model's answers about an episode, kept so as not to ask again.

A reply quotes the episode, so it is deleted with it, and with any fact whose text it contains.
"""

from __future__ import annotations

import json
from itertools import starmap
from typing import TYPE_CHECKING, Any, Final

from memstore.database.tables import readings as reading_table
from memstore.database.tables.readings import CLOSED, NO_OPTIONS, ReadingRow
from memstore.database.tables.rows import Rows
from memstore.database.writes import Delete, Insert
from memstore.domain import clock
from memstore.named import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from memstore.database.engine import Transaction


ROWS: Final = Rows(
    "memstore_replies r JOIN memstore_episodes e ON e.id = r.episode_id",
    "e.namespace",
    "r.episode_id, r.key",
)
count_all = ROWS.count_all


class ReplyRow(NamedTuple):
    episode_id: int
    key: str
    """SHA-256 of the model, the prompt and the schema."""
    model: str
    reply: str
    """As :func:`written` writes it."""
    created_at: str


def written(reply: Any) -> str:
    """Return a parsed reply as JSON in the one form in which texts can be searched for."""
    return json.dumps(reply, ensure_ascii=True, separators=(",", ":"))


def get(transaction: Transaction, episode_id: int, key: str) -> str | None:
    row = transaction.one(
        "SELECT reply FROM memstore_replies WHERE episode_id = :episode_id AND key = :key",
        {"episode_id": episode_id, "key": key},
    )
    return None if row is None else str(row[0])


def insert(transaction: Transaction, episode_id: int, key: str, model: str, reply: Any) -> bool:
    """Store a reply with the current time; see :func:`place`."""
    at = clock.to_text(clock.utc_now())
    return place(transaction, ReplyRow(episode_id, key, model, written(reply), at))


def place(transaction: Transaction, row: ReplyRow) -> bool:
    """Store a reply; return false if one exists, or the episode is erased, closed or missing."""
    return bool(
        transaction.run(
            Insert(
                "memstore_replies",
                ("episode_id", "key", "model", "reply", "created_at"),
                ("id", ":key", ":model", ":reply", ":created_at"),
                "memstore_episodes WHERE id = :episode_id AND content <> ''"
                " AND NOT EXISTS (SELECT 1 FROM memstore_readings"
                f" WHERE episode_id = :episode_id AND kind = '{CLOSED}')",
                unique=("episode_id", "key"),
            ),
            row._asdict(),
        )
    )


def forget_episode(transaction: Transaction, episode_id: int) -> None:
    transaction.run(
        Delete("memstore_replies", "episode_id = :episode_id"), {"episode_id": episode_id}
    )
    reading_table.forget(transaction, episode_id)


def close_episodes(
    transaction: Transaction, namespace: str, content: str, episode_id: int | None
) -> None:
    """Delete the replies about all episodes that contain a fact, and close these episodes.

    Replies that quote the fact are found by its text, which is empty if it was already erased.
    """
    found = {episode_id} if episode_id is not None else set[int]()
    if content:
        quoted = transaction.ints(
            "SELECT DISTINCT r.episode_id FROM memstore_replies r"
            " JOIN memstore_episodes e ON e.id = r.episode_id WHERE e.namespace = :namespace"
            f" AND {transaction.dialect.contains('r.reply', ':content')}",
            {"namespace": namespace, "content": quoted_as(content)},
        )
        found.update(quoted)
    for one in sorted(found):
        close(transaction, one)


def close(transaction: Transaction, episode_id: int) -> None:
    """Delete the replies about an episode, and let nothing be extracted from it again."""
    forget_episode(transaction, episode_id)
    reading_table.place(transaction, ReadingRow(episode_id, CLOSED, NO_OPTIONS))


def quoted_as(content: str) -> str:
    """Return how a reply contains a text."""
    return written(content)[1:-1]


def newest_id(transaction: Transaction) -> int:
    return transaction.scalar("SELECT max(id) FROM memstore_replies")


def texts(
    transaction: Transaction, namespaces: Sequence[str], after: int = 0
) -> Iterator[tuple[int, str]]:
    """Yield the episode and the text of the replies that were stored after this one."""
    rows = transaction.rows(
        "SELECT r.episode_id, r.reply FROM memstore_replies r"
        " JOIN memstore_episodes e ON e.id = r.episode_id WHERE r.id > :after"
        f" AND e.namespace IN {transaction.dialect.listed('namespaces')} ORDER BY r.id",
        {"after": after, "namespaces": namespaces},
    )
    return ((episode_id, reply) for episode_id, reply in rows)


def misplaced(transaction: Transaction) -> list[int]:
    """Return the ids of episodes with replies or readings that should have been deleted."""
    return transaction.ints(
        "SELECT episode_id FROM memstore_replies r WHERE EXISTS"
        " (SELECT 1 FROM memstore_readings c WHERE c.episode_id = r.episode_id"
        f" AND c.kind = '{CLOSED}')"
        " UNION SELECT episode_id FROM memstore_replies WHERE episode_id NOT IN"
        " (SELECT id FROM memstore_episodes WHERE content <> '')"
        " UNION SELECT episode_id FROM memstore_readings WHERE episode_id NOT IN"
        " (SELECT id FROM memstore_episodes WHERE content <> '') ORDER BY 1"
    )


def forget_misplaced(transaction: Transaction) -> int:
    """Delete what :func:`misplaced` finds; return the number of episodes."""
    found = misplaced(transaction)
    for episode_id in found:
        closed = any(
            row.kind == CLOSED for row in reading_table.of_episode(transaction, episode_id)
        )
        forget_episode(transaction, episode_id)
        if closed:
            reading_table.place(transaction, ReadingRow(episode_id, CLOSED, NO_OPTIONS))
    return len(found)


def everything(
    transaction: Transaction, namespaces: Sequence[str] | None = None
) -> Iterator[ReplyRow]:
    columns = "r.episode_id, r.key, r.model, r.reply, r.created_at"
    return starmap(ReplyRow, ROWS.everything(transaction, columns, namespaces))
