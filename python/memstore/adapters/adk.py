"""The memory service of Google's Agent Development Kit (ADK) in one namespace of memstore.

A session is a thread of episodes, one for each event with text; a memory that is added directly is
a fact (:mod:`memstore.adapters.adk_memories`). The owners of both are the user and the app.
"""

from __future__ import annotations

import math
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, unquote, urlsplit

from memstore.adapters import adk_records as records
from memstore.adapters.adk_memories import FOUND, Memories
from memstore.adapters.adk_records import NAME, Entry
from memstore.adapters.frameworks import FRAMEWORKS
from memstore.adapters.opened import Opened
from memstore.adapters.values import to_json
from memstore.adapters.waiting import in_thread
from memstore.domain import clock
from memstore.domain.arguments import checked_number, checked_real
from memstore.errors import InvalidArgument, InvalidArgumentType
from memstore.search.requests import MAX_LIMIT
from memstore.settings import MIN_RELEVANCE

try:
    from google.adk.memory.base_memory_service import BaseMemoryService, SearchMemoryResponse
    from google.adk.memory.memory_entry import MemoryEntry
    from google.genai.types import Content
except ImportError as error:
    raise FRAMEWORKS[NAME].missing(__name__) from error

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from types import TracebackType
    from typing import Self

    from google.adk.events.event import Event
    from google.adk.sessions.session import Session

    from memstore.adapters.opened import StoreOrPath

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
                Entry(
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


def _events(events: Sequence[Event], name: str, custom: dict[str, Any]) -> Iterator[Entry]:
    for place, event in enumerate(events):
        if event.content is None or not event.content.parts:
            continue
        where = f"{name}[{place}]"
        yield records.checked(
            Entry(
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


def _memory_entry(entry: Entry) -> MemoryEntry:
    return MemoryEntry(
        id=entry.id,
        author=entry.author,
        timestamp=entry.timestamp,
        content=Content.model_validate_json(to_json(entry.content, "content")),  # bytes as base64
        custom_metadata=entry.custom,
    )
