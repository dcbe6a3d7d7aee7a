"""The table of episodes: append-only; the one place that knows its columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from memstore import clock, metadata
from memstore.arguments import MAX_NUMBER
from memstore.errors import StorageError
from memstore.model import EPISODE_FIELDS, Episode

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from memstore.database.engine import Row, Transaction
    from memstore.model import Scope

SELECT_LIST = ", ".join(EPISODE_FIELDS)
INSERT_LIST = tuple(name for name in EPISODE_FIELDS if name != "id")
MOMENTS = ("valid_at", "created_at")


def insert(transaction: Transaction, values: Mapping[str, Any]) -> Episode:
    """Insert an episode from its fields (all but ``id``; those left out are empty)."""
    row = transaction.one(
        f"INSERT INTO memstore_episodes ({', '.join(INSERT_LIST)})"
        f" VALUES ({', '.join('?' * len(INSERT_LIST))}) RETURNING {SELECT_LIST}",
        [_encode(name, values.get(name)) for name in INSERT_LIST],
    )
    if row is None:  # pragma: no cover - RETURNING always returns the row it inserted
        raise StorageError("the database did not return the episode it stored")
    return _decode(row)


def get(transaction: Transaction, episode_id: int, namespace: str) -> Episode | None:
    """Return one episode of a namespace, also an erased one."""
    if abs(episode_id) > MAX_NUMBER:
        return None
    row = transaction.one(
        f"SELECT {SELECT_LIST} FROM memstore_episodes WHERE id = ? AND namespace = ?",
        (episode_id, namespace),
    )
    return None if row is None else _decode(row)


def find(
    transaction: Transaction, namespace: str, content_hash: str, scope: Scope
) -> Episode | None:
    """Return the latest episode of a namespace and scope with this content."""
    row = transaction.one(
        f"SELECT {SELECT_LIST} FROM memstore_episodes WHERE namespace = ? AND content_hash = ?"
        " AND user_id IS ? AND agent_id IS ? AND run_id IS ? ORDER BY id DESC LIMIT 1",
        (namespace, content_hash, *scope.ids.values()),
    )
    return None if row is None else _decode(row)


def select(
    transaction: Transaction,
    namespace: str,
    scope: Scope | None,
    *,
    limit: int | None,
    newest_first: bool,
) -> Iterator[Episode]:
    """Yield the episodes of a namespace by id, but no erased ones; ``None``: of every scope."""
    bound, owners = "", list[str | None]()
    if scope is not None:
        bound, owners = " AND user_id IS ? AND agent_id IS ? AND run_id IS ?", [*scope.ids.values()]
    rows = transaction.rows(
        f"SELECT {SELECT_LIST} FROM memstore_episodes WHERE namespace = ? AND content <> ''{bound}"
        f" ORDER BY id {'DESC' if newest_first else 'ASC'} LIMIT ?",
        (namespace, *owners, -1 if limit is None else limit),
    )
    return map(_decode, rows)


def everything(transaction: Transaction) -> Iterator[Episode]:
    """Yield every episode of the file, erased ones too, by id."""
    return map(
        _decode, transaction.rows(f"SELECT {SELECT_LIST} FROM memstore_episodes ORDER BY id")
    )


def blank(transaction: Transaction, episode_id: int) -> None:
    """Overwrite everything an episode says; facts go on naming its place."""
    transaction.run(
        "UPDATE memstore_episodes SET content = '', content_hash = '', source = NULL, name = NULL,"
        " metadata = NULL, user_id = NULL, agent_id = NULL, run_id = NULL WHERE id = ?",
        (episode_id,),
    )


def _encode(name: str, value: Any) -> Any:
    if name == "metadata":
        return metadata.encode(value)
    return clock.to_text(value) if name in MOMENTS and value is not None else value


def _decode(row: Row) -> Episode:
    values: dict[str, Any] = dict(zip(EPISODE_FIELDS, row, strict=True))
    try:
        for name in MOMENTS:
            if values[name] is not None:
                values[name] = clock.from_text(values[name])
    except (ValueError, AttributeError) as error:
        raise StorageError(f"episode {values['id']}: {name} cannot be read: {error}") from error
    values["metadata"] = metadata.decode(values["metadata"])
    return Episode(**values)
