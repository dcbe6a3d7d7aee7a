"""Episodes: what was said or done, word for word, before anything is made of it."""

from __future__ import annotations

from types import EllipsisType
from typing import TYPE_CHECKING, Any, Unpack

from memstore.database import journal
from memstore.database.changes import Changes
from memstore.database.filters import EpisodeFilter
from memstore.database.tables import episodes as episode_table
from memstore.database.tables import threads
from memstore.domain import clock
from memstore.domain.arguments import (
    MAX_NAME,
    checked_page,
    checked_records,
    checked_text,
    stored_text,
)
from memstore.domain.episodes import Episode, NewEpisode
from memstore.domain.keywords import (
    EpisodeList,
    EpisodeNarrowing,
    EpisodeRanking,
    EpisodeSearch,
    Page,
    keywords,
    taken,
)
from memstore.domain.metadata import checked_mapping
from memstore.domain.records import SCOPE_FIELDS, Scope, asked_scope, checked_scope
from memstore.episodes import changes
from memstore.episodes.new import checked, checked_tags
from memstore.errors import (
    IdempotencyConflict,
    InvalidArgument,
    InvalidArgumentType,
    NotFound,
    Remedy,
)
from memstore.history.erasing import erase_episode
from memstore.search import requests
from memstore.text.secrets import Screen

if TYPE_CHECKING:
    import builtins
    from collections.abc import Iterable, Mapping
    from datetime import datetime

    from memstore.database.engine import Engine, Transaction
    from memstore.database.journal import Author
    from memstore.domain.episodes import EpisodeHits
    from memstore.domain.namespaces import Reach
    from memstore.domain.records import AskedScope, JournalLine
    from memstore.search.searches import Searches


class Episodes:
    """The log of one namespace. Made by :class:`memstore.Store` as its ``episodes``."""

    def __init__(
        self,
        engine: Engine,
        author: Author,
        reach: Reach,
        searches: Searches,
        screen: Screen = Screen(),  # noqa: B008 (frozen)
    ) -> None:
        self._screen = screen
        self._engine = engine
        self._author = author
        self._reach = reach
        self._namespace = reach.namespace
        self._searches = searches

    def add(
        self,
        content: str,
        *,
        source: str,
        name: str | None = None,
        source_model: str | None = None,
        source_description: str | None = None,
        tags: Iterable[str] = (),
        thread: str | None = None,
        seq: int | None = None,
        speaker: str | None = None,
        valid_at: datetime | str | None = None,
        metadata: Mapping[str, Any] | None = None,
        idempotency_key: str | None = None,
        scope: Scope | None = None,
    ) -> Episode:
        """Write an episode down; it is on disk when this returns, and words find it at once.

        No model is asked. The embedding follows in the background, or by
        :meth:`memstore.Store.embed_pending`, whatever the embedder does in the meantime.

        Args:
            content: the words, of whatever length, kept as they are.
            source: what it comes from, always called the same: a program, a person, a file.
            name: what to call it.
            source_model: the model that wrote it.
            source_description: more about where it comes from; words find this too.
            tags: for finding it again, up to 1,000.
            thread: the conversation it is part of. Each owner has threads of its own.
            seq: its place there, 0 or more; behind the last one if it is not given.
            speaker: who said it.
            valid_at: when it was said or done, if not now.
            metadata: a JSON object of your own, up to 64 KiB.
            idempotency_key: adding again with the same key returns the same episode.
            scope: whose it is.

        Raises:
            IdempotencyConflict: the key stands for other words.
            ValueError: an empty text, a bad time, metadata that is no JSON.
        """
        owners = checked_scope(scope).ids
        return self.add_many(
            [
                NewEpisode(
                    content=content,
                    source=source,
                    name=name,
                    source_model=source_model,
                    source_description=source_description,
                    tags=tags,
                    thread=thread,
                    seq=seq,
                    speaker=speaker,
                    valid_at=valid_at,
                    metadata=metadata,
                    idempotency_key=idempotency_key,
                    **owners,
                )
            ]
        )[0]

    def add_many(
        self, new_episodes: Iterable[NewEpisode | Mapping[str, Any]]
    ) -> builtins.list[Episode]:
        """Write many episodes down in one transaction: all of them, or none.

        Args:
            new_episodes: :class:`NewEpisode` objects, or mappings of their fields.
        """
        prepared = []
        for one in checked_records(NewEpisode, new_episodes, "new_episodes"):
            checked_text(one.source, "source", MAX_NAME)
            prepared.append(checked(self._screen.record(one)))
        if not prepared:
            return []
        counter = threads.Counter(threads.EPISODES)
        with self._engine.write() as transaction:
            return [
                self._same_key(transaction, values) or self._record(transaction, values, counter)
                for values in prepared
            ]

    def record(
        self,
        content: str,
        *,
        source: str | None = None,
        name: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        valid_at: datetime | str | None = None,
        thread: str | None = None,
        scope: Scope | None = None,
        once: bool = True,
    ) -> Episode:
        """Write down a text that facts will be extracted from; as :meth:`add`, but for ``once``.

        Args:
            content: the words, kept as they are.
            source: where they come from.
            name: what to call the episode.
            metadata: a JSON object of your own.
            valid_at: when it was said or done, if not now.
            thread: the conversation it is part of, behind what is there.
            scope: whose it is.
            once: the same text of the same scope, and of that thread if one is given, is the same
                episode: the one recorded last is returned as it is, so that whatever failed after
                it can simply be done again.

        Raises:
            ValueError: an empty text, a bad time, metadata that is no JSON.
        """
        owner = checked_scope(scope)
        if source is not None:
            checked_text(source, "source", MAX_NAME)
        new = NewEpisode(
            content=content,
            source=source or "",
            name=name,
            metadata=metadata,
            valid_at=valid_at,
            thread=thread,
        )
        values = checked(self._screen.record(new)) | owner.ids
        with self._engine.write() as transaction:
            known = None
            if once:
                known = episode_table.find(
                    transaction, self._namespace, values["content_hash"], owner, values["thread"]
                )
            return known or self._record(transaction, values, threads.Counter(threads.EPISODES))

    def get(self, episode_id: int | str) -> Episode:
        """Return one episode, by its id or its UUID.

        Raises:
            NotFound: no such episode in this namespace, or it was erased.
        """
        with self._engine.read() as transaction:
            return self._known(transaction, episode_id)

    def check_owners(self, scope: AskedScope, episode_id: int | str) -> None:
        """Refuse an episode of other owners than these; no other method looks at whose an id is.

        Raises:
            NotFound: there is no such episode, or it has other owners.
        """
        owners = asked_scope(scope)
        with self._engine.read() as transaction:
            self._known(transaction, episode_id, owners)

    def namespace_of(self, uuid: str) -> str | None:
        """Return which namespace of the file holds an episode; ``None`` if not just one does.

        Raises:
            AccessDenied: the store is confined to one namespace.
        """
        self._reach.check_all()
        uuid = stored_text(uuid, "uuid").lower()
        with self._engine.read() as transaction:
            return episode_table.namespace_of(transaction, uuid)

    @keywords(EpisodeList, tags=(), include_expired=False, offset=0, newest_first=False)
    def list(self, **asked: Unpack[EpisodeList]) -> builtins.list[Episode]:
        """Return episodes in the order they were written down.

        Args:
            source: only from this source.
            tags: only with all of these.
            created_after: only written down after this moment; it is outside itself.
            created_before: only written down before this one.
            valid_after: only said or done after this moment; without ``valid_at`` that is when
                it was written down.
            valid_before: only said or done before this one.
            expired_after: only what expired, or will, after this moment; also what has expired.
            expired_before: only what expired, or will, before this one; also what has expired.
            include_expired: also those whose time has passed.
            namespaces: of these instead of the store's own; ``"all"`` for all.
            scope: what belongs to just these owners, or to nobody; ``"all"`` for all.
            limit: how many at most; ``None`` for all.
            offset: how many to pass over first.
            newest_first: the newest first.
        """
        page = taken(asked, Page)
        checked_page(page["limit"], page["offset"])
        wanted = self._filter(asked)
        with self._engine.read() as transaction:
            return [*episode_table.select(transaction, wanted, **page)]

    @keywords(EpisodeNarrowing, tags=(), include_expired=False)
    def count(self, **asked: Unpack[EpisodeNarrowing]) -> int:
        """Return how many episodes :meth:`list` would return without a limit."""
        wanted = self._filter(asked)
        with self._engine.read() as transaction:
            return episode_table.count(transaction, wanted)

    @keywords(
        EpisodeSearch,
        tags=(),
        include_expired=False,
        limit=10,
        context=0,
        mode="hybrid",
        tag_boost=0.0,
    )
    def search(self, query: str | None = None, **asked: Unpack[EpisodeSearch]) -> EpisodeHits:
        """Find episodes by words and by meaning, best first; what narrows them is as in `list`.

        Any text is a query; its words are literals. All filters apply together, and before
        anything is ranked. A long episode is found through any piece of it and counts once.

        Args:
            query: a question or some words; without one, the newest episodes come first.
            mode: ``hybrid``, ``words`` (no model is asked) or ``meaning``.
            alpha: what the meaning counts in a hybrid search, 0 to 1, 0.4 by default; the words
                count the rest.
            tags: only episodes that have all of these, unless ``tag_boost`` is given.
            tag_boost: let tags not filter: an episode that has all of them gets this much added
                to its score, which is otherwise 0 to 1.
            min_similarity: leave out what is less similar, -1 to 1. What waits for its embedding
                cannot be judged and stays.
            ranking: ``"threads"`` (the default) looks at conversations, names, dates and what the
                question asks for, too; ``"classic"`` at words and meaning alone. A call that gives
                a ``mode`` or ``alpha`` is classic.
            min_relevance: find nothing if none of the first ten hits is so relevant, 0 to 1.
            limit: how many at most, 1 to 1000.
            context: how many neighbours each hit gets on either side of it in its thread, 0 to 10.
                They have its owners, and are found only if they have not expired or such are
                asked for; each is there once, and none that is a hit itself.

        Returns:
            The hits. If the query could not be embedded, ``words_only`` says why, and the newest
            episodes come after those that the words found, until the limit is full.

        Raises:
            ValueError: an unknown mode, a number out of range, a bad time.
        """
        ranking = taken(asked, EpisodeRanking)
        tags = checked_tags(asked["tags"])
        boosted, asked["tags"] = (tags, ()) if ranking["tag_boost"] else ((), tags)
        request = requests.for_episodes(self._filter(asked), boosted_tags=boosted, **ranking)
        return self._searches.episodes.find("" if query is None else query, request)

    def update(
        self,
        episode_id: int | str,
        *,
        tags: Iterable[str] | EllipsisType = ...,
        metadata: Mapping[str, Any] | EllipsisType = ...,
        expired_at: datetime | str | EllipsisType | None = ...,
    ) -> Episode:
        """Change what may change of an episode; what is left out stays as it is.

        Args:
            episode_id: its id or its UUID.
            tags: the tags it has from now on; an empty list clears them.
            metadata: a JSON merge patch (RFC 7396), as for facts: ``None`` removes a key.
            expired_at: from when on it no longer counts; ``None`` lets it count again.

        Raises:
            NotFound: no such episode, or it was erased.
            ValueError: nothing to change was given, a bad time, metadata that is no JSON.
        """
        columns: dict[str, Any] = {}
        if tags is not ...:
            columns["tags"] = self._screen.value(checked_tags(tags), "tags")
        if expired_at is not ...:
            columns["expired_at"] = clock.moment(expired_at, "expired_at")
        if metadata is ... and not columns:
            raise InvalidArgument("neither tags nor metadata nor expired_at was given")
        patch = None if isinstance(metadata, EllipsisType) else checked_mapping(metadata)
        patch = self._screen.value(patch, "metadata")
        with self._engine.write() as transaction:
            episode = self._known(transaction, episode_id)
            if not changes.change(transaction, self._author, episode, columns, patch):
                return episode
            return self._known(transaction, episode.id)

    def journal(self, episode_id: int | str) -> builtins.list[JournalLine]:
        """Return what the journal holds of an episode: every change, when and by whom."""
        with self._engine.read() as transaction:
            return journal.of_episode(transaction, self._known(transaction, episode_id).id)

    def erase(self, episode_id: int | str) -> bool:
        """Remove an episode's bytes from the file. There is no way back.

        The facts drawn from it stay: each is erased by itself.

        Returns:
            Whether the bytes have left the files already; see :meth:`memstore.Store.erase`.

        Raises:
            NotFound: no such episode.
        """
        with self._engine.write() as transaction:
            episode = self._known(transaction, episode_id)
            erase_episode(Changes(transaction, self._author), episode)
        is_gone = self._engine.compact()
        return self._searches.episodes.index.rewrite() and is_gone

    def _record(
        self, transaction: Transaction, values: dict[str, Any], counter: threads.Counter
    ) -> Episode:
        if values["thread"] is not None:
            thread = threads.Thread.of(self._namespace, values)
            values["seq"] = counter.place(transaction, thread, values["seq"])
        return changes.record(transaction, self._author, self._namespace, values)

    def _same_key(self, transaction: Transaction, values: Mapping[str, Any]) -> Episode | None:
        key = values.get("idempotency_key")
        if key is None:
            return None
        known = episode_table.find_key(transaction, self._namespace, key)
        if known is not None and known.scope != Scope(**{n: values[n] for n in SCOPE_FIELDS}):
            raise IdempotencyConflict(
                f"the idempotency key {key!r} already stands for an episode of other owners",
                remedy=Remedy.NEW_KEY,
            )
        if known is not None and known.content_hash != values["content_hash"]:
            raise IdempotencyConflict(
                f"the idempotency key {key!r} already stands for episode {known.id}, whose content "
                "is another",
                remedy=Remedy.NEW_KEY,
            )
        return known

    def _known(
        self, transaction: Transaction, episode_id: int | str, scope: Scope | None = None
    ) -> Episode:
        if isinstance(episode_id, str) and len(episode_id) == clock.UUID_CHARACTERS:
            found = episode_table.find_uuid(transaction, self._namespace, episode_id.lower())
        elif isinstance(episode_id, bool) or not isinstance(episode_id, int):
            raise InvalidArgumentType(
                f"must be a whole number, or a UUID, not {episode_id!r}", argument="episode_id"
            )
        else:
            found = episode_table.get(transaction, episode_id, self._namespace)
        if found is None or not found.content or (scope is not None and found.scope != scope):
            raise NotFound(
                f"there is no episode {episode_id} in namespace {self._namespace!r}",
                remedy=Remedy.FIND_ID,
            )
        return found

    def _filter(self, asked: Any) -> EpisodeFilter:
        source = asked.pop("source")
        return EpisodeFilter(
            namespaces=self._reach.select(asked.pop("namespaces")),
            now=clock.utc_now(),
            tags=tuple(checked_tags(asked.pop("tags"))),
            source=None if source is None else checked_text(source, "source", MAX_NAME).strip(),
            scope=asked_scope(asked.pop("scope")),
            include_expired=asked.pop("include_expired"),
            **{bound: clock.moment(at, bound) for bound, at in asked.items()},
        )
