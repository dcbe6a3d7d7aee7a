"""Episodes: what was said or done, word for word, before anything is made of it."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

from memstore import clock, metadata
from memstore.arguments import MAX_CONTENT, MAX_NAME, checked_limit, checked_text
from memstore.database import episode_table, journal
from memstore.database.journal import Author, Kind
from memstore.errors import NotFound
from memstore.model import Episode, Scope

if TYPE_CHECKING:
    import builtins
    from collections.abc import Mapping
    from datetime import datetime

    from memstore.database.engine import Engine, Transaction


class Episodes:
    """The episodes of one namespace."""

    def __init__(self, engine: Engine, author: Author, namespace: str) -> None:
        self._engine = engine
        self._author = author
        self._namespace = namespace

    def record(
        self,
        content: str,
        *,
        source: str | None = None,
        name: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        valid_at: datetime | str | None = None,
        scope: Scope | None = None,
        once: bool = True,
    ) -> Episode:
        """Record a text; it is on disk when this returns.

        Args:
            content: the words, kept as they are.
            source: where they come from.
            name: what to call the episode.
            metadata: a JSON object of your own.
            valid_at: when it was said or done, if not now.
            scope: whose it is.
            once: the same text of the same scope is the same episode: the one recorded last is
                returned as it is, so that whatever failed after it can simply be done again.

        Raises:
            ValueError: an empty or over-long text, a bad time, metadata that is no JSON.
        """
        values = _checked(content, source, name, metadata, valid_at)
        owner = scope or Scope()
        content_hash = hash_of(content)
        with self._engine.write() as transaction:
            if once:
                known = episode_table.find(transaction, self._namespace, content_hash, owner)
                if known is not None:
                    return known
            created_at = clock.utc_now()
            values |= {
                "uuid": clock.new_uuid(created_at),
                "namespace": self._namespace,
                "created_at": created_at,
                "content_hash": content_hash,
                **owner.ids,
            }
            episode = episode_table.insert(transaction, values)
            journal.append(
                transaction,
                self._author,
                Kind.EPISODE,
                None,
                after=journalled(episode),
                episode_id=episode.id,
            )
            return episode

    def get(self, episode_id: int) -> Episode:
        """Return one episode.

        Raises:
            NotFound: no such episode in this namespace, or it was erased.
        """
        with self._engine.read() as transaction:
            return self._known(transaction, episode_id)

    def list(
        self,
        *,
        scope: Scope | None = None,
        limit: int | None = None,
        newest_first: bool = False,
    ) -> builtins.list[Episode]:
        """Return episodes by id; a ``scope`` for those of just these owners."""
        checked_limit(limit)
        with self._engine.read() as transaction:
            return [
                *episode_table.select(
                    transaction, self._namespace, scope, limit=limit, newest_first=newest_first
                )
            ]

    def erase(self, episode_id: int) -> bool:
        """Remove an episode's bytes from the file. There is no way back.

        The facts drawn from it stay: each is erased by itself.

        Returns:
            Whether the bytes have left the files already; see :meth:`memstore.Store.erase`.

        Raises:
            NotFound: no such episode.
        """
        with self._engine.write() as transaction:
            self._known(transaction, episode_id)
            episode_table.blank(transaction, episode_id)
            journal.forget_episode(transaction, episode_id)
            journal.forget_said(transaction, episode_id)
            journal.append(
                transaction, self._author, Kind.ERASE_EPISODE, None, episode_id=episode_id
            )
        return self._engine.compact()

    def _known(self, transaction: Transaction, episode_id: int) -> Episode:
        if isinstance(episode_id, bool) or not isinstance(episode_id, int):
            raise TypeError(f"an episode's id is a whole number, not {episode_id!r}")
        episode = episode_table.get(transaction, episode_id, self._namespace)
        if episode is None or not episode.content:
            raise NotFound(f"there is no episode {episode_id} in namespace {self._namespace!r}")
        return episode


def hash_of(content: str) -> str:
    """Return the SHA-256 of a text, in hexadecimal digits."""
    return hashlib.sha256(content.encode("utf-8")).hexdigest()


def journalled(episode: Episode) -> dict[str, Any]:
    """Return what the journal keeps of an episode: all but its words, which its hash vouches for.

    They are kept once, being long, and can be erased at one place.
    """
    return {k: v for k, v in episode.to_dict().items() if k not in ("id", "content")}


def _checked(
    content: str,
    source: str | None,
    name: str | None,
    given: Mapping[str, Any] | None,
    valid_at: datetime | str | None,
) -> dict[str, Any]:
    metadata.encode(given)
    return {
        "content": checked_text(content, "the text", MAX_CONTENT),
        "source": source if source is None else checked_text(source, "source", MAX_NAME),
        "name": name if name is None else checked_text(name, "name", MAX_NAME),
        "metadata": None if given is None else dict(given),
        "valid_at": clock.moment(valid_at, "valid_at"),
    }
