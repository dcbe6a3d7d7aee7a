"""Changes of episodes with their journal lines, inside the caller's transaction."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from memstore.database.changes import Changes, Line
from memstore.database.journal import Author, Kind
from memstore.database.tables import episodes as episode_table
from memstore.domain import clock, metadata
from memstore.domain.episodes import Episode
from memstore.domain.records import json_value
from memstore.lazy import lazy_import

if TYPE_CHECKING:
    import secrets
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from memstore.database.engine import Transaction
else:
    secrets = lazy_import("secrets")


def record(
    transaction: Transaction,
    author: Author,
    namespace: str,
    values: Mapping[str, Any],
    found: episode_table.DerivedTexts,
) -> Episode:
    """Record an episode; without a time of its own it is recorded now."""
    changes = Changes(transaction, author)
    created_at = values.get("created_at") or changes.moment
    given = {"uuid": clock.new_uuid(created_at), **values, "created_at": created_at}
    episode = Episode(
        id=episode_table.new_id(transaction),
        namespace=namespace,
        salt=new_salt(),
        **given,
    )
    episode_table.insert(
        changes,
        episode,
        Line(Kind.EPISODE, episode_id=episode.id, after=episode_table.journalled(episode)),
        found,
    )
    return episode


def new_salt() -> str:
    return secrets.token_hex(16)


def change(
    transaction: Transaction,
    author: Author,
    episode: Episode,
    columns: Mapping[str, Any],
    patch: Mapping[str, Any] | None = None,
) -> bool:
    """Update an episode; return whether anything changed."""
    values = dict(columns)
    if patch is not None:
        values["metadata"] = _patched(episode.metadata, patch)
    new = {n: v for n, v in values.items() if _json(v) != _json(getattr(episode, n))}
    if not new:
        return False
    line = Line(
        Kind.UPDATE_EPISODE,
        episode_id=episode.id,
        before={name: json_value(getattr(episode, name)) for name in new},
        after={name: json_value(value) for name, value in new.items()},
    )
    Changes(transaction, author).write(line, episode_table.updating(episode.id, **new))
    return True


def expire(
    transaction: Transaction,
    author: Author,
    expiring: Sequence[episode_table.Expiring],
    at: datetime,
) -> None:
    """Let episodes expire at a time; each change has a line of its own."""
    if not expiring:
        return
    after = {"expired_at": json_value(at)}
    lines = [
        Line(
            Kind.UPDATE_EPISODE,
            episode_id=one.id,
            before={"expired_at": json_value(one.expired_at)},
            after=after,
        )
        for one in expiring
    ]
    ids = [one.id for one in expiring]
    Changes(transaction, author).write(lines, episode_table.expiry(transaction.dialect, ids, at))


def _patched(before: Mapping[str, Any], patch: Mapping[str, Any]) -> dict[str, Any]:
    merged = metadata.merge_patch(before, patch)
    if len(metadata.encode(merged) or "") > len(metadata.encode(before) or ""):
        metadata.checked_new(merged)
    return merged


def _json(value: Any) -> str:
    """Return a value as text, because 1, 1.0 and true are equal in Python but not in JSON."""
    return json.dumps(json_value(value), ensure_ascii=False)
