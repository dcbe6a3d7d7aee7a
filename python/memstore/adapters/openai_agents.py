"""Sessions of the OpenAI Agents SDK in memstore.

:class:`MemstoreSession` has the methods of the SDK's ``Session`` protocol; nothing of the SDK is
imported. A session is a thread of episodes, an item is one of them: its texts are the content, its
role the speaker. What is popped or cleared expires, so that it is kept but hidden.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

from memstore.adapters.opened import Opened
from memstore.adapters.turns import Unreadable, turn_of, value_of, values
from memstore.adapters.waiting import in_thread
from memstore.domain.arguments import (
    MAX_NAME,
    MAX_NUMBER,
    check_length,
    checked_items,
    checked_number,
    stored_text,
)
from memstore.domain.episodes import NewEpisode
from memstore.episodes import parts
from memstore.errors import InvalidArgument, InvalidArgumentType, StoreClosed
from memstore.frozen import frozen

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Self

    from memstore.adapters.opened import StoreOrPath
    from memstore.domain.episodes import Episode
    from memstore.domain.records import Scope

SOURCE: Final = "openai-agents"
"""The source of the episodes, and of the changes in the journal."""

PAGE: Final = 200
"""How many episodes are read at once, if there is a limit."""


@frozen
class Settings:
    """What the SDK's ``SessionSettings`` say about a session.

    Args:
        limit: how many of the latest items ``get_items`` returns; ``None`` for all.
    """

    limit: int | None = None

    def resolve(self, override: Any) -> Any:
        """Return the settings of one run: those given there, else these."""
        limit = override.get("limit") if isinstance(override, Mapping) else _limit_of(override)
        return self if limit is None else Settings(limit)


class MemstoreSession:
    """A session of the OpenAI Agents SDK: pass it as ``session=`` to the runner.

    Args:
        session_id: the name of the conversation. Two sessions with one name, in any processes, are
            the same conversation.
        store: an open store, which stays open, or the path of a memory, which :meth:`close` closes.
        session_settings: the SDK's ``SessionSettings``, or ``{"limit": 20}``.
        namespace: the namespace of the episodes; by default the store's.
        scope: the owners of the episodes; by default those of the store, which may be none.

    Raises:
        AccessDenied: the store is confined to another namespace.
        InvalidArgument: an empty or too long ``session_id``, an unknown setting.
    """

    def __init__(
        self,
        session_id: str,
        store: StoreOrPath,
        *,
        session_settings: Any = None,
        namespace: str | None = None,
        scope: Scope | None = None,
    ) -> None:
        self.session_id = session_id
        self.session_settings = _settings(session_settings)
        self._thread = _thread_of(session_id)
        self._opened = Opened(store, SOURCE, namespace, scope=scope)
        self._log = self._opened.owned.episodes
        self._is_closed = False

    async def get_items(self, limit: int | None = None) -> list[Any]:
        """Return the latest items, oldest first; those that cannot be read are left out.

        Args:
            limit: how many; by default the one of the settings, else all. 0 is none, and a negative
                number is all, as in the SDK's own sessions.
        """
        chosen = _limit_of(self.session_settings) if limit is None else limit
        if chosen is not None:
            checked_number(chosen, "limit", -MAX_NUMBER, MAX_NUMBER)
        self._check_open()
        return await in_thread(self._latest, None if chosen is None or chosen < 0 else chosen)

    async def add_items(self, items: list[Any]) -> None:
        """Add items at the end, all in one transaction: they stay together.

        Raises:
            InvalidArgument: an item that JSON cannot keep; nothing was added.
        """
        self._check_open()
        episodes = [
            self._episode(item, f"items[{place}]")
            for place, item in enumerate(checked_items(items, "items"))
        ]
        if episodes:
            await in_thread(self._log.add_many, episodes)

    async def pop_item(self) -> Any:
        """Remove and return the last item that can be read; ``None`` if there is none.

        Of any number of callers, exactly one gets each item. It is hidden, and kept.
        """
        self._check_open()
        return await in_thread(self._pop)

    async def clear_session(self) -> None:
        """Remove every item: they are hidden, and kept."""
        self._check_open()
        await in_thread(self._log.expire_all, thread=self._thread, source=SOURCE)

    def close(self) -> None:
        """End the use of the session; a store opened from a path is closed."""
        self._is_closed = True
        self._opened.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _check_open(self) -> None:
        if self._is_closed:
            raise StoreClosed("the session is closed")

    def _latest(self, limit: int | None) -> list[Any]:
        if limit is None:
            return values(self._page(None, None))
        found: list[Any] = []
        begun: list[Episode] = []
        last: int | None = None
        while len(found) < limit:
            page = self._page(min(limit, PAGE), last)
            begun, whole = parts.from_first([*reversed(page), *begun])
            found = [*values(whole), *found]
            if len(page) < min(limit, PAGE):
                break
            last = page[-1].id
        return found[-limit:]

    def _page(self, limit: int | None, before_id: int | None) -> Sequence[Episode]:
        return self._log.list(
            thread=self._thread,
            source=SOURCE,
            newest_first=limit is not None,
            limit=limit,
            before_id=before_id,
        )

    def _pop(self) -> Any:
        while True:
            last = self._log.pop(thread=self._thread, source=SOURCE)
            if last is None:
                return None
            with suppress(Unreadable):
                return value_of(last)

    def _episode(self, item: object, name: str) -> NewEpisode:
        turn = turn_of(item, name, self._log.screen)
        return NewEpisode(
            content=turn.content,
            source=SOURCE,
            thread=self._thread,
            speaker=_speaker(item),
            metadata=turn.metadata,
        )


def _speaker(item: object) -> str | None:
    """Return the role of a message, or the type of another item."""
    for name in ("role", "type"):
        role = item.get(name) if isinstance(item, Mapping) else None
        if isinstance(role, str) and role.strip() and len(role) <= MAX_NAME and "\x00" not in role:
            return role
    return None


def _thread_of(session_id: object) -> str:
    """Return the name of a session's thread: its own, unless a thread cannot have just that."""
    text = stored_text(session_id, "session_id")
    if not text:
        raise InvalidArgument("is empty", argument="session_id")
    is_plain = text.isascii() and text.isprintable() and not text.isspace() and text[0] != '"'
    thread = text if is_plain else json.dumps(text)  # in ASCII: composed letters stay different
    check_length(thread, "session_id", MAX_NAME)
    return thread


def _settings(given: Any) -> Any:
    if given is None:
        return Settings()
    if isinstance(given, Mapping):
        if unknown := [key for key in given if key != "limit"]:
            raise InvalidArgument(f"have no field {unknown[0]!r}", argument="session_settings")
        return Settings(given.get("limit"))
    if not callable(getattr(given, "resolve", None)):
        raise InvalidArgumentType(
            f"must be SessionSettings or a mapping, not {type(given).__name__}",
            argument="session_settings",
        )
    return given


def _limit_of(settings: Any) -> int | None:
    limit = settings.get("limit") if isinstance(settings, Mapping) else None
    return getattr(settings, "limit", limit)
