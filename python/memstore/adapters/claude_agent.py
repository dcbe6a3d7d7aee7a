"""Sessions of the Claude Agent SDK in memstore.

:class:`MemstoreSessionStore` has the methods of the SDK's ``SessionStore`` protocol; the SDK is
imported only to fold summaries. A transcript is a thread of episodes, an entry is one of them: its
texts are the content. Deleted transcripts expire, so that they are kept but hidden.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from memstore.adapters.frameworks import FRAMEWORKS
from memstore.adapters.opened import Opened
from memstore.adapters.turns import turn_of, values
from memstore.adapters.waiting import in_thread
from memstore.domain.arguments import MAX_NAME, check_length, checked_items, stored_text
from memstore.domain.episodes import NewEpisode
from memstore.errors import InvalidArgument, InvalidArgumentType
from memstore.lazy import lazy_import
from memstore.named import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import datetime

    import claude_agent_sdk

    from memstore.adapters.opened import StoreOrPath
    from memstore.domain.episodes import Episode, ThreadSummary
    from memstore.domain.records import Scope
else:
    claude_agent_sdk = lazy_import("claude_agent_sdk")

SOURCE: Final = "claude-agent"
"""The source of the episodes, and of the changes in the journal."""

PAGE: Final = 1000
"""How many threads are listed at once."""


class _Folded(NamedTuple):
    """The summary of a session up to an entry."""

    first_at: datetime
    """When its first entry was recorded: a session that was deleted and written again differs."""
    last_id: int
    summary: dict[str, Any] | None


class MemstoreSessionStore:
    """A session store of the Claude Agent SDK: pass it as ``session_store=`` in its options.

    Its methods work under asyncio and trio.

    Args:
        store: an open store, which stays open, or the path of a memory, which :meth:`close` closes.
        namespace: the namespace of the episodes; by default the store's.
        scope: the owners of the episodes; by default those of the store, which may be none.

    Raises:
        AccessDenied: the store is confined to another namespace.
    """

    def __init__(
        self, store: StoreOrPath, *, namespace: str | None = None, scope: Scope | None = None
    ) -> None:
        self._opened = Opened(store, SOURCE, namespace, scope=scope)
        self._log = self._opened.owned.episodes
        self._folded: dict[str, _Folded] = {}

    async def append(self, key: Mapping[str, Any], entries: Sequence[Mapping[str, Any]]) -> None:
        """Add entries at the end of a transcript, in one transaction.

        An entry with a ``uuid`` that the transcript has already is left out.

        Raises:
            InvalidArgument: an entry that JSON cannot keep; nothing was added.
        """
        thread = _thread(key)
        given = checked_items(entries, "entries")
        turns = [
            (turn_of(entry, f"entries[{place}]", self._log.screen), entry)
            for place, entry in enumerate(given)
        ]
        if not turns:
            return

        def add() -> None:
            life = self._life(thread)
            self._log.add_many(
                [
                    NewEpisode(
                        content=turn.content,
                        source=SOURCE,
                        thread=thread,
                        speaker=_type_of(entry),
                        metadata=turn.metadata,
                        idempotency_key=_key(thread, life, entry, self._opened.scope),
                    )
                    for turn, entry in turns
                ],
                keep_known=True,
            )

        await in_thread(add)

    async def load(self, key: Mapping[str, Any]) -> list[Any] | None:
        """Return the entries of a transcript in order; ``None`` if it has none."""
        return await in_thread(self._load, _thread(key))

    async def list_sessions(self, project_key: str) -> list[dict[str, Any]]:
        """Return the sessions of a project; ``mtime`` is when the last entry came, in ms."""
        return await in_thread(self._sessions, project_key)

    async def list_session_summaries(self, project_key: str) -> list[dict[str, Any]]:
        """Return the SDK's summaries of the sessions of a project.

        They are folded from the entries: from all of them at first, then from the new ones.

        Raises:
            ImportError: the SDK is not installed, or has no summaries yet.
        """
        try:
            fold = claude_agent_sdk.fold_session_summary
        except (ImportError, AttributeError) as error:
            raise FRAMEWORKS["claude_agent"].missing("memstore.adapters.claude_agent") from error
        return await in_thread(self._summaries, project_key, fold)

    async def delete(self, key: Mapping[str, Any]) -> None:
        """Delete a transcript; that of a session with those of its subagents.

        They are hidden, and kept. What is appended afterwards, with known ``uuid`` too, is new.
        """
        thread = _thread(key)
        await in_thread(self._delete, thread, cascades=key.get("subpath") is None)

    async def list_subkeys(self, key: Mapping[str, Any]) -> list[str]:
        """Return the subpaths of a session's other transcripts."""
        prefix = _prefix(_text(key, "project_key"), _text(key, "session_id"))
        return await in_thread(lambda: [_parts(one.thread)[2] for one in self._threads(prefix)])

    def close(self) -> None:
        """Close the store, if it was opened from a path."""
        self._opened.close()

    def _episodes(self, thread: str, after_id: int | None = None) -> list[Episode]:
        return self._log.list(thread=thread, source=SOURCE, after_id=after_id)

    def _load(self, thread: str) -> list[Any] | None:
        episodes = self._episodes(thread)
        return values(episodes) if episodes else None

    def _life(self, thread: str) -> int:
        """Return the last entry that was deleted; 0 if none was."""
        gone = self._log.list(
            thread=thread,
            source=SOURCE,
            expired_after="0001-01-01T00:00:00Z",
            newest_first=True,
            limit=1,
        )
        return gone[0].id if gone else 0

    def _threads(self, prefix: str) -> Iterator[ThreadSummary]:
        last: ThreadSummary | None = None
        while page := self._log.threads(prefix, after=last, limit=PAGE):
            yield from page
            last = page[-1]

    def _sessions_of(self, project_key: str) -> Iterator[tuple[str, ThreadSummary]]:
        for one in self._threads(_prefix(stored_text(project_key, "project_key"))):
            _, session_id, *subpath = _parts(one.thread)
            if not subpath:
                yield session_id, one

    def _sessions(self, project_key: str) -> list[dict[str, Any]]:
        return [
            {"session_id": session_id, "mtime": _milliseconds(one.last_at)}
            for session_id, one in self._sessions_of(project_key)
        ]

    def _summaries(self, project_key: str, fold: Any) -> list[dict[str, Any]]:
        found = []
        for session_id, one in self._sessions_of(project_key):
            key = {"project_key": project_key, "session_id": session_id}
            known = self._folded.get(one.thread)
            if known is None or known.first_at != one.first_at:
                known = _Folded(one.first_at, 0, None)
            new = self._episodes(one.thread, known.last_id or None)
            if new:
                summary = fold(known.summary, key, values(new))
                known = self._folded[one.thread] = _Folded(one.first_at, new[-1].id, summary)
            found.append({**(known.summary or {}), "mtime": _milliseconds(one.last_at)})
        return found

    def _delete(self, thread: str, *, cascades: bool) -> None:
        gone = [thread]
        if cascades:
            project_key, session_id = _parts(thread)
            gone += [one.thread for one in self._threads(_prefix(project_key, session_id))]
        self._log.expire([episode.id for name in gone for episode in self._episodes(name)])


def _text(key: Mapping[str, Any], name: str) -> str:
    if not isinstance(key, Mapping):
        raise InvalidArgumentType(f"must be a mapping, not {type(key).__name__}", argument="key")
    text = stored_text(key.get(name), name)
    if not text:
        raise InvalidArgument("is empty", argument=name)
    return text


def _thread(key: Mapping[str, Any]) -> str:
    """Return the name of a transcript's thread: its parts as JSON, in ASCII."""
    names = ["project_key", "session_id"]
    if isinstance(key, Mapping) and key.get("subpath") is not None:
        names.append("subpath")
    thread = json.dumps([_text(key, name) for name in names], separators=(",", ":"))
    check_length(thread, "key", MAX_NAME)
    return thread


def _prefix(*parts: str) -> str:
    """Return how the threads begin whose first parts are these, and that have more of them."""
    return json.dumps(parts, separators=(",", ":"))[:-1] + ","


def _parts(thread: str) -> list[str]:
    parts: list[str] = json.loads(thread)
    return parts


def _key(thread: str, life: int, entry: Mapping[str, Any], scope: Scope) -> str | None:
    """Return the idempotency key of an entry with a ``uuid``."""
    uuid = entry.get("uuid") if isinstance(entry, Mapping) else None
    if not isinstance(uuid, str) or not uuid:
        return None
    named = json.dumps([thread, life, uuid, *scope.ids.values()])
    return f"{SOURCE}:{hashlib.sha256(named.encode()).hexdigest()}"


def _type_of(entry: object) -> str | None:
    kind = entry.get("type") if isinstance(entry, Mapping) else None
    if not isinstance(kind, str) or not kind.strip() or len(kind) > MAX_NAME or "\x00" in kind:
        return None
    return kind


def _milliseconds(moment: datetime) -> int:
    return int(moment.timestamp() * 1000)
