"""What ADK knows about one user of one app: events of sessions, and memories added directly.

Events are episodes, each session a thread; memories are facts. An event that its session has no
more, or that was deleted, has expired, and a mark says which of the two it was. So what a person
expires stays so, and what was deleted is not taken up again.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any, Final, TypeVar

from memstore.adapters import adk_records as records
from memstore.domain import clock
from memstore.domain.arguments import MAX_QUERY
from memstore.domain.records import Fact, Scope
from memstore.errors import NotFound
from memstore.facts.keyed import DeleteKey
from memstore.telling.recall import FAR_BEHIND, best_once, matching

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from memstore.adapters.adk_records import Entry, Prepared
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

    def replace_session(self, session_id: str, events: Iterable[Entry]) -> None:
        """Record the events of a session; hide those that it has no more."""
        thread = records.exact_name(session_id, "session.id")
        kept = self._recorded(self._prepared(events, thread))
        ids = {episode.id for episode in kept}
        for episode in self._in_thread(thread):
            if episode.id not in ids and episode.status == "active":
                self._store.episodes.update(
                    episode.id, expired_at=clock.utc_now(), metadata={HIDDEN: True}
                )

    def add_events(self, session_id: str | None, events: Iterable[Entry]) -> None:
        """Record events of a session; those whose id it has stay as they are."""
        thread = records.exact_name(session_id, "session_id") if session_id else records.NO_SESSION
        prepared = self._prepared(events, thread)
        known = {
            records.event_id(episode)
            for episode in (self._in_thread(thread) if prepared else ())
            if episode.status == "active"
        }
        new: dict[str, Prepared] = {}
        for one in prepared:
            if one.id not in known:
                new.setdefault(one.id, one)
        self._recorded([*new.values()])

    def add(self, entries: Iterable[Entry]) -> None:
        """Store memories; one with the id of another replaces it."""
        prepared = [
            records.memory(entry, self._scope, f"memories[{place}]")
            for place, entry in enumerate(entries)
        ]
        facts = [fact for one in prepared for fact in (one.content, one.record) if fact is not None]
        self._store.keys.put(facts)  # type: ignore[arg-type]

    def delete(self, memory_id: str) -> None:
        """Delete every event and memory with this id, if there are any; they can be restored."""
        keys = [records.memory_key(memory_id)]
        for episode in self._with_event(memory_id):
            self._delete_event(episode)
            keys += filter(None, [records.content_key(episode)])
        if (fact := self._store.keys.get(keys[0])) is not None:
            keys += filter(None, [records.content_key(fact)])
        self._store.keys.put([DeleteKey(external_key=key) for key in keys])
        self._delete_other(memory_id)

    def search(self, query: str, limit: int, min_relevance: float) -> list[Entry]:
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
        order = best_once(facts, turns, words)
        least = FAR_BEHIND * max((item.score for item in order), default=0.0)
        near = (rows[item.is_fact, item.id] for item in order if item.score >= least)
        return self._entries([*islice(near, limit)])

    def _entries(self, rows: Sequence[Episode | Fact]) -> list[Entry]:
        keys = [key for row in rows if (key := records.content_key(row)) is not None]
        contents = self._store.keys.get_many(keys) if keys else {}
        return [
            records.of_fact(row, contents)
            if isinstance(row, Fact)
            else records.of_episode(row, contents)
            for row in rows
        ]

    def _prepared(self, events: Iterable[Entry], thread: str) -> list[Prepared]:
        """Return the events that a search could find and that were not deleted."""
        prepared = [
            records.event(entry, self._scope, thread) for entry in events if entry.text.strip()
        ]
        deleted = self._deleted_ids() if prepared else frozenset()
        return [one for one in prepared if one.id not in deleted]

    def _recorded(self, prepared: Sequence[Prepared]) -> list[Episode]:
        """Record events that are not known, and show those that were hidden."""
        if large := [one.content for one in prepared if one.content is not None]:
            self._store.keys.put(large)
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
