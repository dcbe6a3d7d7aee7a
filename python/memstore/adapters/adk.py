"""The memory service of Google's Agent Development Kit (ADK) in one namespace of memstore.

A session is a thread of episodes, one for each event with text; a memory that is added directly is
a fact. The owners of both are the user and the app.
"""

from __future__ import annotations

import math
from datetime import UTC, datetime
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, TypeVar
from urllib.parse import parse_qsl, unquote, urlsplit

from memstore.adapters import adk_records as records
from memstore.adapters.adk_records import NAME, AdkEntry
from memstore.adapters.frameworks import FRAMEWORKS
from memstore.adapters.opened import Opened
from memstore.adapters.values import to_json
from memstore.adapters.waiting import in_thread
from memstore.domain import clock
from memstore.domain.arguments import MAX_QUERY, checked_number, checked_real
from memstore.domain.records import Fact, Scope
from memstore.errors import InvalidArgument, InvalidArgumentType, NotFound
from memstore.facts.keyed import DeleteKey
from memstore.search.recall import FAR_BEHIND, best_once, matching
from memstore.search.requests import MAX_LIMIT
from memstore.settings import MIN_RELEVANCE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from types import TracebackType
    from typing import Self

    from google.adk.events.event import Event
    from google.adk.sessions.session import Session

    from memstore.adapters.adk_records import PreparedEntry
    from memstore.adapters.opened import StoreOrPath
    from memstore.domain.episodes import Episode, EpisodeHit
    from memstore.domain.records import SearchHit
    from memstore.store.store import Store


H = TypeVar("H", "SearchHit", "EpisodeHit")

HIDDEN: Final = "hidden"
"""Is true in the metadata of an event that its session has no more."""

DELETED: Final = "adk:deleted"
"""The tag of a deleted event. Nothing else changes tags, so that nobody takes it away who has read
the event before."""

FOUND: Final = 5
"""How many times as many memories are searched as are returned: texts that say the same are
returned once."""


class Memories:
    """What is stored for a user of an app. Blocking calls."""

    def __init__(self, store: Store, app_name: str, user_id: str) -> None:
        self._scope = Scope(
            user_id=records.exact_name(user_id, "user_id"),
            agent_id=records.exact_name(app_name, "app_name"),
        )
        self._store = store.of(self._scope)

    def replace_session(self, session_id: str, events: Iterable[AdkEntry]) -> None:
        """Record the events of a session; hide those that it has no more."""
        thread = records.exact_name(session_id, "session.id")
        kept = self._recorded(self._prepared(events, thread))
        ids = {episode.id for episode in kept}
        for episode in self._in_thread(thread):
            if episode.id not in ids and episode.status == "active":
                self._store.episodes.update(
                    episode.id, expired_at=clock.utc_now(), metadata={HIDDEN: True}
                )

    def add_events(self, session_id: str | None, events: Iterable[AdkEntry]) -> None:
        """Record events of a session; those whose id it has stay as they are."""
        thread = records.exact_name(session_id, "session_id") if session_id else records.NO_SESSION
        prepared = self._prepared(events, thread)
        known = {
            records.event_id(episode)
            for episode in (self._in_thread(thread) if prepared else ())
            if episode.status == "active"
        }
        new: dict[str, PreparedEntry] = {}
        for one in prepared:
            if one.id not in known:
                new.setdefault(one.id, one)
        self._recorded([*new.values()])

    def add(self, entries: Iterable[AdkEntry]) -> None:
        """Store memories; one with the id of another replaces it."""
        prepared = [
            records.memory(entry, self._scope, f"memories[{place}]")
            for place, entry in enumerate(entries)
        ]
        facts = [fact for one in prepared for fact in (one.content, one.record) if fact is not None]
        self._store.put(facts)  # type: ignore[arg-type]

    def delete(self, memory_id: str) -> None:
        """Delete every event and memory with this id, if there are any; they can be restored."""
        keys = [records.memory_key(memory_id)]
        for episode in self._with_event(memory_id):
            self._delete_event(episode)
            keys += filter(None, [records.content_key(episode)])
        if (fact := self._store.by_key(keys[0])) is not None:
            keys += filter(None, [records.content_key(fact)])
        self._store.put([DeleteKey(external_key=key) for key in keys])
        self._delete_other(memory_id)

    def search(self, query: str, limit: int, min_relevance: float) -> list[AdkEntry]:
        """Return what is about a query, best first, each text once."""
        words = "".join(_searchable(character) for character in query)[:MAX_QUERY]
        if not words.strip():
            return []
        asked: dict[str, Any] = {
            "limit": limit * FOUND,
            "min_relevance": min_relevance,
        }
        found, said = (
            self._store.search(words, **asked),
            self._store.episodes.search(words, **asked),
        )
        facts = _about(found, by_meaning=found.words_only is None)
        turns = [
            hit
            for hit in _about(matching(said), by_meaning=said.words_only is None)
            if DELETED not in hit.episode.tags
        ]
        rows: dict[tuple[bool, int], Episode | Fact] = {}
        rows |= {(True, hit.fact.id): hit.fact for hit in facts}
        rows |= {(False, hit.episode.id): hit.episode for hit in turns}
        order = best_once(facts, turns)
        least = FAR_BEHIND * max((item.score for item in order), default=0.0)
        near = (rows[item.is_fact, item.id] for item in order if item.score >= least)
        return self._entries([*islice(near, limit)])

    def _entries(self, rows: Sequence[Episode | Fact]) -> list[AdkEntry]:
        keys = [key for row in rows if (key := records.content_key(row)) is not None]
        contents = self._store.by_keys(keys) if keys else {}
        return [
            records.of_fact(row, contents)
            if isinstance(row, Fact)
            else records.of_episode(row, contents)
            for row in rows
        ]

    def _prepared(self, events: Iterable[AdkEntry], thread: str) -> list[PreparedEntry]:
        """Return the events that a search could find and that were not deleted."""
        prepared = [
            records.event(entry, self._scope, thread) for entry in events if entry.text.strip()
        ]
        deleted = self._deleted_ids() if prepared else frozenset()
        return [one for one in prepared if one.id not in deleted]

    def _recorded(self, prepared: Sequence[PreparedEntry]) -> list[Episode]:
        """Record events that are not known, and show those that were hidden."""
        if large := [one.content for one in prepared if one.content is not None]:
            self._store.put(large)
        episodes = self._store.episodes.add_many([one.record for one in prepared])  # type: ignore[misc]
        for episode in episodes:
            if episode.status == "expired" and episode.metadata.get(HIDDEN):
                self._store.episodes.update(episode.id, expired_at=None, metadata={HIDDEN: None})
        return episodes

    def _delete_event(self, episode: Episode) -> None:
        expired_at = episode.expired_at if episode.status == "expired" else clock.utc_now()
        tags = {*episode.tags, DELETED}
        self._store.episodes.update(episode.id, expired_at=expired_at, tags=sorted(tags))

    def _in_thread(self, thread: str) -> list[Episode]:
        """Return the active episodes of a session."""
        return self._store.episodes.list(source=records.NAME, thread=thread)

    def _with_event(self, event_id: str) -> list[Episode]:
        """Return the episodes of the events with an id, hidden ones too."""
        return self._store.episodes.list(
            source=records.NAME,
            filters={records.ID: event_id},
            include_expired=True,
        )

    def _deleted_ids(self) -> frozenset[str | None]:
        deleted = self._store.episodes.list(
            source=records.NAME, tags=[DELETED], include_expired=True
        )
        return frozenset(records.event_id(episode) for episode in deleted)

    def _delete_other(self, memory_id: str) -> None:
        """Delete what was stored in another way for the same user and app."""
        for beginning in (records.FACT_ID, records.EPISODE_ID):
            number = memory_id.removeprefix(beginning)
            is_number = number.isascii() and number.isdigit() and len(number) < 20
            if number == memory_id or not is_number:
                continue
            try:
                if beginning == records.FACT_ID:
                    self._store.delete(int(number))
                else:
                    self._delete_event(self._store.episodes.get(int(number)))
            except NotFound:
                continue


def _about(hits: Sequence[H], *, by_meaning: bool) -> list[H]:
    """Return the hits that are about the query themselves, not by what was said beside them.

    They have a word of it, or, if meaning was searched, are near the best.
    """
    least = FAR_BEHIND * max(map(_own_score, hits), default=0.0)
    return [hit for hit in hits if hit.word_score > 0 or (by_meaning and _own_score(hit) >= least)]


def _own_score(hit: SearchHit | EpisodeHit) -> float:
    return hit.score - hit.parts.thread - hit.parts.session


def _searchable(character: str) -> str:
    """Return a character of a query, or a blank for one that no text has."""
    return " " if character == "\x00" or "\ud800" <= character <= "\udfff" else character


try:
    from google.adk.memory.base_memory_service import BaseMemoryService, SearchMemoryResponse
    from google.adk.memory.memory_entry import MemoryEntry
    from google.genai.types import Content
except ImportError as error:
    raise FRAMEWORKS[NAME].missing(__name__) from error

DEFAULT_LIMIT = 10


class MemstoreMemoryService(BaseMemoryService):
    """A memory service of ADK in a memstore.

    Safe for any number of threads and processes. Calls run in threads; a cancelled one ends first.

    Args:
        store: an open :class:`memstore.Store`, which stays open, or the path or URL of a memory,
            which :meth:`close` closes.
        uri: instead of a store, ``memstore:///memory.db`` (a path in the current folder),
            ``memstore:////srv/memory.db`` (from the root), or ``memstore+postgresql://…``; with
            ``?namespace=NAME`` if it is not the default one. ADK gives it to what ``services.yaml``
            names.
        namespace: the namespace of all memories; by default the store's.
        limit: how many memories a search returns at most.
        min_relevance: a search returns nothing unless one of the first ten hits is at least this
            relevant, 0 to 1, or has a rare word, name or identifier of the query.
        agents_dir: the folder of the agents, which ADK gives along with a ``uri``; not used.

    Raises:
        AccessDenied: the store is confined to another namespace.
        ValueError: neither a store nor a URI is given, or both are, or a number is out of range.
    """

    def __init__(
        self,
        store: StoreOrPath | None = None,
        *,
        uri: str | None = None,
        namespace: str | None = None,
        limit: int = DEFAULT_LIMIT,
        min_relevance: float = MIN_RELEVANCE,
        agents_dir: object = None,
    ) -> None:
        del agents_dir
        checked_number(limit, "limit", 1, MAX_LIMIT // FOUND)
        checked_real(min_relevance, "min_relevance", 0, 1)
        self._limit, self._min_relevance = limit, min_relevance
        if uri is not None:
            if store is not None or namespace is not None:
                raise InvalidArgument("stands in place of store and namespace", argument="uri")
            store, namespace = _located(uri)
        elif store is None:
            raise InvalidArgument("is required, or a uri", argument="store")
        self._opened = Opened(store, NAME, namespace)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the store, if it was opened from a path or a URI."""
        await in_thread(self._opened.close)

    async def add_session_to_memory(self, session: Session) -> None:
        """Add all events of a session; those that it has no more are hidden.

        Raises:
            ValueError: an event has what JSON cannot keep; nothing was written.
        """
        memories = self._of(session.app_name, session.user_id)
        events = [*_events(session.events, "session.events", {})]
        await in_thread(memories.replace_session, session.id, events)

    async def add_events_to_memory(
        self,
        *,
        app_name: str,
        user_id: str,
        events: Sequence[Event],
        session_id: str | None = None,
        custom_metadata: Mapping[str, object] | None = None,
    ) -> None:
        """Add some events of a session; those whose ids are known stay as they are.

        Args:
            app_name: the app.
            user_id: the user.
            events: the events, in order.
            session_id: their session, if they are of one.
            custom_metadata: JSON values that searches return with each of them.

        Raises:
            ValueError: an event has what JSON cannot keep; nothing was written.
        """
        memories = self._of(app_name, user_id)
        entries = [*_events(events, "events", dict(custom_metadata or {}))]
        await in_thread(memories.add_events, session_id, entries)

    async def add_memory(
        self,
        *,
        app_name: str,
        user_id: str,
        memories: Sequence[MemoryEntry],
        custom_metadata: Mapping[str, object] | None = None,
    ) -> None:
        """Add memories directly, all in one transaction; one with a known id replaces the old one.

        Args:
            app_name: the app.
            user_id: the user.
            memories: what to remember; each has a text.
            custom_metadata: JSON values that searches return with each memory, which its own
                values precede.

        Raises:
            ValueError: a memory has no text, or what JSON cannot keep; nothing was written.
        """
        shared = dict(custom_metadata or {})
        entries = [
            records.checked(
                AdkEntry(
                    id=memory.id,
                    author=memory.author,
                    timestamp=memory.timestamp,
                    content=_dumped(memory.content),
                    custom=shared | memory.custom_metadata,
                ),
                f"memories[{place}]",
            )
            for place, memory in enumerate(memories)
        ]
        await in_thread(self._of(app_name, user_id).add, entries)

    async def search_memory(
        self, *, app_name: str, user_id: str, query: str
    ) -> SearchMemoryResponse:
        """Return what is about a query, best first; nothing if nothing is."""
        found = await in_thread(
            self._of(app_name, user_id).search, query, self._limit, self._min_relevance
        )
        return SearchMemoryResponse(memories=[_memory_entry(entry) for entry in found])

    async def delete_memory(
        self, *, app_name: str, user_id: str, memory_id: str | None = None
    ) -> None:
        """Delete a memory by the id that a search returned; an unknown one changes nothing.

        An event stays deleted when its session is added again. The text stays in the file, so that
        a person can restore it.
        """
        if memory_id:
            await in_thread(self._of(app_name, user_id).delete, memory_id)

    def _of(self, app_name: str, user_id: str) -> Memories:
        return Memories(self._opened.store, app_name, user_id)


def _located(uri: str) -> tuple[str, str | None]:
    """Return the path or URL of a memory, and the namespace if it is named."""
    if not isinstance(uri, str):
        raise InvalidArgumentType(f"must be text, not {type(uri).__name__}", argument="uri")
    parts = urlsplit(uri)
    _, _, server = parts.scheme.partition("+")
    if server:
        options = dict(parse_qsl(parts.query, keep_blank_values=True))
        namespace = options.pop("namespace", None)
        query = "&".join(one for one in parts.query.split("&") if not one.startswith("namespace="))
        return parts._replace(scheme=server, query=query).geturl(), namespace
    options = dict(parse_qsl(parts.query, keep_blank_values=True))
    namespace = options.pop("namespace", None)
    path = unquote(parts.path)[1:]
    if parts.netloc or not path or options:
        raise InvalidArgument(
            "must be memstore:///PATH, with four slashes for a path from the root, and at most"
            f" ?namespace=NAME, not {uri!r}",
            argument="uri",
        )
    return path, namespace


def _events(events: Sequence[Event], name: str, custom: dict[str, Any]) -> Iterator[AdkEntry]:
    for place, event in enumerate(events):
        if event.content is None or not event.content.parts:
            continue
        where = f"{name}[{place}]"
        yield records.checked(
            AdkEntry(
                id=event.id or None,
                author=event.author,
                timestamp=_time(event.timestamp, f"{where}.timestamp"),
                content=_dumped(event.content),
                custom=custom,
            ),
            where,
        )


def _time(timestamp: float, name: str) -> str:
    """Return seconds since 1970 as text."""
    try:
        if math.isfinite(timestamp):
            return clock.to_text(datetime.fromtimestamp(timestamp, UTC))
    except (OverflowError, ValueError, OSError):
        pass
    raise InvalidArgument(f"is no time: {timestamp!r}", argument=name)


def _dumped(content: Content) -> dict[str, Any]:
    dumped: dict[str, Any] = content.model_dump(mode="json", exclude_none=True)
    return dumped


def _memory_entry(entry: AdkEntry) -> MemoryEntry:
    return MemoryEntry(
        id=entry.id,
        author=entry.author,
        timestamp=entry.timestamp,
        content=Content.model_validate_json(to_json(entry.content, "content")),  # bytes as base64
        custom_metadata=entry.custom,
    )
