"""The append-only log of episodes: what was said or done, word for word."""

from __future__ import annotations

from functools import partial
from types import EllipsisType
from typing import TYPE_CHECKING, Any, Final

from memstore.database import acts, journal
from memstore.database.changes import Changes
from memstore.database.filters import EpisodeFilter
from memstore.database.short_transactions import pause
from memstore.database.tables import episodes as episode_table
from memstore.database.tables import sessions as session_table
from memstore.database.tables import threads as thread_table
from memstore.domain import clock, moments, zones
from memstore.domain.arguments import (
    MAX_NAME,
    MAX_NUMBER,
    checked_items,
    checked_limit,
    checked_name,
    checked_number,
    checked_page,
    checked_records,
    checked_text,
    nfc,
    shown,
    stored_text,
)
from memstore.domain.episodes import Episode, NewEpisode, SessionSummary, ThreadSummary
from memstore.domain.metadata import checked_mapping, parse_filters
from memstore.domain.queries import EpisodeNarrowing, EpisodeSearch, Page, as_given, times
from memstore.domain.records import SCOPE_FIELDS, Scope, is_among
from memstore.episodes import changes, parts, passages
from memstore.episodes.checks import checked, checked_tags
from memstore.errors import (
    IdempotencyConflict,
    InvalidArgument,
    InvalidArgumentType,
    NotFound,
    Remedy,
)
from memstore.frozen import from_arguments, replace
from memstore.lazy import lazy_import
from memstore.search import requests
from memstore.text.secrets import Screen

if TYPE_CHECKING:
    import builtins
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import datetime

    from memstore.database.engine import Engine, Transaction
    from memstore.database.journal import Author
    from memstore.database.tables.episodes import DerivedTexts, Expiring
    from memstore.domain import turns
    from memstore.domain.episodes import EpisodeHits
    from memstore.domain.metadata import Filters
    from memstore.domain.records import JournalLine
    from memstore.domain.standing import Namespaces, Standing
    from memstore.episodes import copies
    from memstore.episodes.parts import TextPart
    from memstore.history import erasing, trust
    from memstore.search.lookups.sequel import Sequel
    from memstore.search.past import Past
    from memstore.search.searches import Searches
else:
    copies = lazy_import("memstore.episodes.copies")  # only the turns of sessions need them
    erasing = lazy_import("memstore.history.erasing")
    trust = lazy_import("memstore.history.trust")
    turns = lazy_import("memstore.domain.turns")

MAX_REACH: Final = 100
"""The most neighbours of an episode that are returned, on either side."""


class Episodes(zones.Zoned):
    """The log of one namespace: ``episodes`` of a :class:`memstore.Store`.

    Given a ``past``, :meth:`search` finds the episodes of that moment.
    """

    def __init__(
        self,
        engine: Engine,
        author: Author,
        standing: Standing,
        searches: Searches,
        screen: Screen = Screen(),  # noqa: B008 (frozen)
        past: Past | None = None,
    ) -> None:
        self._past = past
        self.screen = screen
        self._engine = engine
        self._author = author
        self._standing = standing
        self._namespace = standing.namespace
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
    ) -> Episode:
        """Record an episode; it is on disk when this returns, and found by words at once.

        No model is used. The episode is embedded later, in the background or by
        :meth:`memstore.File.embed_pending`.

        A text of more than 1,000,000 characters is kept as several episodes, its parts: at one
        place of the thread (without a thread: of one of its own), each with the member ``part`` in
        its metadata. The first stands for the text: it is returned with all of it, here and by
        :meth:`get`. What ends one is done to all: expiry and erasure.

        Args:
            content: the text, stored unchanged; up to 450 MB.
            source: the program, person or file it comes from, always under the same name.
            name: a name for the episode.
            source_model: the model that wrote it.
            source_description: more about where it comes from; searches by words find this too.
            tags: labels to find it by, up to 1,000.
            thread: the conversation it is part of. Threads are separate for each set of owners.
            seq: its place in the thread, 0 or more; by default after the last one.
            speaker: who said it.
            valid_at: when it was said or done, if not now.
            metadata: a JSON object of your own, up to 64 KiB.
            idempotency_key: adding again with the same key returns the same episode.

        Raises:
            IdempotencyConflict: the key was already used with different content.
            ValueError: an empty text, a bad time, metadata that is not JSON.
        """
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
                )
            ]
        )[0]

    def add_many(
        self, new_episodes: Iterable[NewEpisode | Mapping[str, Any]], *, keep_known: bool = False
    ) -> builtins.list[Episode]:
        """Record several episodes: all of them, or none.

        Those of one thread follow each other there, whatever other threads and processes add. Of
        more than 1,500,000 bytes (and 1,000 for each episode), as many as fit are recorded in each
        transaction, so that others need not wait long: then all are checked before the first, and
        if the machine or the disk fails, those up to some place are recorded. With idempotency
        keys, adding them again records the others.

        Args:
            new_episodes: :class:`NewEpisode` objects, or mappings of their fields.
            keep_known: an episode with a known idempotency key stays as it is, and is returned,
                even if the new one has different content.

        Raises:
            IdempotencyConflict: a key belongs to an episode of other owners or, without
                ``keep_known``, with different content.
        """
        return self._add_many(new_episodes, keep_known=keep_known)

    def _add_many(
        self,
        new_episodes: Iterable[NewEpisode | Mapping[str, Any]],
        *,
        keep_known: bool = False,
        in_the_past: bool = False,
    ) -> builtins.list[Episode]:
        prepared: builtins.list[TextPart] = []
        number = 0
        for number, one in enumerate(checked_records(NewEpisode, new_episodes, "new_episodes"), 1):
            checked_text(one.source, "source", MAX_NAME)
            values = checked(self.screen.record(self._standing.owned(one)))
            values["created_at"] = values["valid_at"] if in_the_past else None
            prepared += parts.of_text(number, values)
        steps = [*parts.steps(prepared)]
        if len(steps) > 1:
            self._check_keys(prepared, keep_known=keep_known)
        recorded: dict[int, Episode] = {}
        for done, step in enumerate(steps):
            if done and not self._engine.is_remote:
                pause()
            derived = [parts.derived_of(one.values) for one in step]
            recorded = self._engine.perform(
                partial(
                    self._add_parts,
                    step=step,
                    derived=derived,
                    before=recorded,
                    keep_known=keep_known,
                )
            )
        firsts = [recorded[text] for text in range(1, number + 1)]
        return [self.get(one.id) if parts.mark_of(one) else one for one in firsts]

    def _check_keys(self, prepared: Sequence[TextPart], *, keep_known: bool) -> None:
        """Check what is known by its key, before the first of several transactions."""
        firsts = {key: one for one in prepared if (key := parts.given_key(one)) is not None}
        with self._engine.read() as transaction:
            known = episode_table.with_keys(transaction, self._namespace, [*firsts])
        for key, episode in known.items():
            _check_same(episode, firsts[key].values, firsts[key].of, keep_known=keep_known)

    def _add_parts(
        self,
        transaction: Transaction,
        step: Sequence[TextPart],
        derived: Sequence[DerivedTexts],
        before: Mapping[int, Episode],
        *,
        keep_known: bool,
    ) -> dict[int, Episode]:
        """Record what is not known of these; return the first part of each text so far."""
        counter = thread_table.Counter(thread_table.EPISODES)
        firsts = dict(before)
        known = self._known_parts(transaction, step, firsts)
        for one, found in zip(step, derived, strict=True):
            first = firsts.get(one.text)
            if first is None:
                values = one.values
            elif first.content_hash == one.first_hash:
                values = parts.following(one, first)
            else:
                continue  # the first one was kept, and is of another text
            key = values["idempotency_key"]
            same = None if key is None else known.get(key)
            if same is None:
                same = self._record(transaction, values, counter, found)
            else:
                _check_same(same, values, one.of, keep_known=keep_known)
            firsts.setdefault(one.text, same)
            known |= {} if key is None else {key: same}
        return firsts

    def _known_parts(
        self, transaction: Transaction, step: Sequence[TextPart], firsts: Mapping[int, Episode]
    ) -> dict[str, Episode]:
        """Return those that were recorded before, by key."""
        keys = {one.text: key for one in step if (key := parts.given_key(one)) is not None}
        known = episode_table.with_keys(transaction, self._namespace, [*keys.values()])
        first_ones = {**{text: known.get(key) for text, key in keys.items()}, **firsts}
        more = [
            parts.key_of(first.uuid, one.number)
            for one in step
            if one.number > 1 and (first := first_ones.get(one.text)) is not None
        ]
        return known | episode_table.with_keys(transaction, self._namespace, more)

    def replace(self, new: NewEpisode | Mapping[str, Any], tag: str) -> Episode:
        """Record an episode, and expire those of its thread that have a tag.

        If the newest of them says the same, it is returned and nothing changes.

        Args:
            new: an episode with a thread and this tag.
            tag: marks the episodes that replace one another.

        Raises:
            ValueError: it has no thread, or another tag.
        """
        return self._replace(new, tag, in_the_past=False)

    def _replace(
        self, new: NewEpisode | Mapping[str, Any], tag: str, *, in_the_past: bool
    ) -> Episode:
        [given] = checked_records(NewEpisode, [new], "new")
        checked_text(given.source, "source", MAX_NAME)
        given = self._standing.owned(given)
        values, now = parts.checked_whole(checked(self.screen.record(given))), clock.utc_now()
        derived = parts.derived_of(values)
        if values["thread"] is None or tag not in values["tags"]:
            raise InvalidArgument("needs a thread and the tag", argument="new")
        wanted = EpisodeFilter(
            namespaces=(self._namespace,),
            now=now,
            scope=Scope(**{name: values[name] for name in SCOPE_FIELDS}),
        )
        with self._engine.write() as transaction:
            held = episode_table.tagged_in_thread(transaction, wanted, values["thread"], tag)
            same = [one for one in held if one.content_hash == values["content_hash"]]
            for old in held:
                if old not in same[-1:]:
                    at = min(clock.utc_now(), acts.of(transaction).moment)
                    changes.change(transaction, self._author, old, {"expired_at": at})
            counter = thread_table.Counter(thread_table.EPISODES)
            values["created_at"] = values["valid_at"] if in_the_past else None
            return same[-1] if same else self._record(transaction, values, counter, derived)

    def record(
        self,
        content: str,
        *,
        source: str | None = None,
        name: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        valid_at: datetime | str | None = None,
        thread: str | None = None,
        once: bool = True,
    ) -> Episode:
        """Record a text that facts will be extracted from; like :meth:`add`, except for ``once``.

        Args:
            content: the text, stored unchanged; up to 1,000,000 characters.
            source: where it comes from.
            name: a name for the episode.
            metadata: a JSON object of your own.
            valid_at: when it was said or done, if not now.
            thread: the conversation it is part of; it is placed at the end.
            once: if the same text was already recorded for the same owners (and in the thread, if
                one is given), return that episode, so that a failed extraction can be repeated.

        Raises:
            ValueError: an empty text, a bad time, metadata that is not JSON.
        """
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
        new = self._standing.placed(new)
        owner = self._standing.written
        values = parts.checked_whole(checked(self.screen.record(new))) | owner.ids
        derived = parts.derived_of(values)
        with self._engine.write() as transaction:
            known = None
            if once:
                known = episode_table.find(
                    transaction, self._namespace, values["content_hash"], owner, values["thread"]
                )
            return known or self._record(
                transaction, values, thread_table.Counter(thread_table.EPISODES), derived
            )

    def get(self, episode_id: int | str) -> Episode:
        """Return one episode, by its id or its UUID; the first part of a text with all of it.

        Raises:
            NotFound: no such episode in this namespace, or it was erased.
        """
        with self._engine.read() as transaction:
            episode = self._known(transaction, episode_id)
            mark = parts.mark_of(episode)
            if mark is None or mark.number > 1:
                return episode
            return parts.joined(self._whole(transaction, episode))[0]

    def namespace_of(self, uuid: str) -> str | None:
        """Return the namespace of an episode; ``None`` unless exactly one namespace has it.

        Raises:
            AccessDenied: the store is confined to one namespace.
        """
        self._standing.check_all()
        uuid = stored_text(uuid, "uuid").lower()
        with self._engine.read() as transaction:
            namespace = episode_table.namespace_of(transaction, uuid)
            if namespace is None or self._standing.bound is None:
                return namespace
            found = episode_table.find_uuid(transaction, namespace, uuid)
            return None if found is None or not self._standing.reaches(found) else namespace

    def by_keys(self, idempotency_keys: Iterable[str]) -> dict[str, Episode]:
        """Return the episodes with these idempotency keys, by key, even expired ones.

        Args:
            idempotency_keys: the keys, as they were given.
        """
        given = checked_items(idempotency_keys, "idempotency_keys")
        stored = {checked_text(key, "idempotency_keys", MAX_NAME).strip(): key for key in given}
        owners = self._standing.selected
        with self._engine.read() as transaction:
            found = episode_table.with_keys(transaction, self._namespace, [*stored])
        return {
            stored[key]: episode
            for key, episode in found.items()
            if is_among(episode.scope, owners)
        }

    def unerased(self, new_episodes: Iterable[NewEpisode]) -> builtins.list[NewEpisode]:
        """Return those of these turns of sessions that were not erased; what has no key is none.

        A turn that was erased stays away, whichever session repeats it.
        """
        given = checked_records(NewEpisode, new_episodes, "new_episodes")
        owner = self._standing.written
        tags = {}
        for new in given:
            key = turns.TurnKey.parse(new.source, new.idempotency_key, owner)
            tags[id(new)] = None if key is None else key.erased
        wanted = [tag for tag in tags.values() if tag is not None]
        with self._engine.read() as transaction:
            erased = episode_table.erased_turns(transaction, self._namespace, wanted)
        return [new for new in given if tags[id(new)] not in erased]

    def fold_turns(self) -> int:
        """Let turns of sessions expire that earlier versions recorded more than once.

        The copies keep their ids, their texts and the facts that were drawn from them; they are
        erased with the turn. Only what was recorded since the last time is examined.

        Returns:
            How many have expired.
        """
        return copies.fold(self._engine, self._author, self._standing)

    def threads(
        self,
        prefix: str = "",
        *,
        after: ThreadSummary | None = None,
        limit: int = 100,
    ) -> builtins.list[ThreadSummary]:
        """Return the threads of active episodes by name, each with its size and its times.

        Args:
            prefix: how their names begin.
            after: the last one of the page before; the next page begins after its name and owners.
            limit: the maximum number.
        """
        checked_number(limit, "limit", 1, MAX_NUMBER)
        if after is not None and not isinstance(after, ThreadSummary):
            raise InvalidArgumentType(
                f"must be a ThreadSummary, not {type(after).__name__}", argument="after"
            )
        owners = self._standing.selected
        wanted = EpisodeFilter(namespaces=(self._namespace,), now=clock.utc_now(), scope=owners)
        beginning = nfc(stored_text(prefix, "prefix"))
        with self._engine.read() as transaction:
            return episode_table.summaries(transaction, wanted, beginning, after, limit)

    def sessions(
        self,
        *,
        since: datetime | str | None = None,
        before: int | None = None,
        limit: int = 50,
    ) -> builtins.list[SessionSummary]:
        """Return the threads of active episodes by their last turn, the latest first.

        Each has its first request, its turns, the facts that were drawn from it, and the files that
        its trace names.

        Args:
            since: only those with a turn that was recorded since this time.
            before: the ``last_id`` of the last one of the page before.
            limit: the maximum number.
        """
        checked_number(limit, "limit", 1, MAX_NUMBER)
        if before is not None:
            checked_number(before, "before", 1, MAX_NUMBER)
        wanted = EpisodeFilter(
            namespaces=(self._namespace,),
            now=clock.utc_now(),
            scope=self._standing.selected,
            created_after=None if since is None else moments.after(since, "since"),
        )
        with self._engine.read() as transaction:
            return session_table.latest(transaction, wanted, before, limit)

    def last_turns(self, created_after: datetime | str) -> builtins.list[datetime]:
        """Return when each thread with a turn after a time had its last one, the latest first."""
        wanted = EpisodeFilter(
            namespaces=(self._namespace,),
            now=clock.utc_now(),
            scope=self._standing.selected,
            created_after=moments.after(created_after, "created_after"),
        )
        with self._engine.read() as transaction:
            found = session_table.last_turns(transaction, wanted)
        return [clock.from_text(at) for at in sorted(found, reverse=True)]

    def around(self, episode_id: int | str, reach: int = 5) -> builtins.list[Episode]:
        """Return an episode among those before and after it in its thread, in order.

        Args:
            episode_id: its id or its UUID.
            reach: how many to return at most on either side, 0 to 100. Expired ones are left out.

        Raises:
            NotFound: no such episode in this namespace, or it was erased.
        """
        checked_number(reach, "reach", 0, MAX_REACH)
        with self._engine.read() as transaction:
            episode = self._known(transaction, episode_id)
            before, after = passages.neighbours(transaction, episode, reach)
            return [*before, episode, *after]

    def list(
        self,
        *,
        source: str | None = None,
        tags: Iterable[str] = (),
        thread: str | None = None,
        speaker: str | None = None,
        filters: Filters = None,
        expired_after: datetime | str | None = None,
        expired_before: datetime | str | None = None,
        include_expired: bool = False,
        namespaces: Namespaces = None,
        limit: int | None = None,
        offset: int = 0,
        newest_first: bool = False,
        before_id: int | None = None,
        after_id: int | None = None,
        created_after: datetime | str | None = None,
        created_before: datetime | str | None = None,
        valid_after: datetime | str | None = None,
        valid_before: datetime | str | None = None,
    ) -> builtins.list[Episode]:
        """Return episodes in the order in which they were recorded. All bounds are exclusive.

        Those of one thread are in its order.

        Args:
            source: only episodes from this source.
            tags: only episodes with all of these.
            thread: only episodes of the conversation with this name.
            speaker: only what this speaker said.
            filters: conditions on metadata, as for facts: ``{"key": value}`` or a list of
                conditions.
            created_after: only episodes recorded after this time.
            created_before: only episodes recorded before this time.
            valid_after: only episodes said or done after this time: ``valid_at``, or else
                ``created_at``.
            valid_before: only episodes said or done before this time.
            expired_after: only episodes with an expiry after this time, even if it has passed.
            expired_before: only episodes with an expiry before this time, even if it has passed.
            include_expired: also return expired episodes.
            namespaces: list these instead of the store's own; ``"all"`` for all.
            limit: the maximum number; ``None`` for all.
            offset: how many to skip.
            newest_first: return the newest first.
            before_id: only episodes recorded before this one. With the last one of a page, the next
                page: unlike an ``offset``, it stays right while others are recorded, and costs the
                same everywhere.
            after_id: only episodes recorded after this one.
        """
        given = locals()
        wanted = self._wanted(from_arguments(EpisodeNarrowing, given))
        checked_page(limit, offset, before_id, after_id)
        with self._engine.read() as transaction:
            return [*episode_table.select(transaction, wanted, from_arguments(Page, given))]

    def count(
        self,
        *,
        source: str | None = None,
        tags: Iterable[str] = (),
        thread: str | None = None,
        speaker: str | None = None,
        filters: Filters = None,
        expired_after: datetime | str | None = None,
        expired_before: datetime | str | None = None,
        include_expired: bool = False,
        namespaces: Namespaces = None,
        created_after: datetime | str | None = None,
        created_before: datetime | str | None = None,
        valid_after: datetime | str | None = None,
        valid_before: datetime | str | None = None,
    ) -> int:
        """Return how many episodes :meth:`list` would return without a limit."""
        return self._searches.count_episodes(
            self._wanted(from_arguments(EpisodeNarrowing, locals()))
        )

    def search(
        self,
        query: str | None = None,
        *,
        limit: int = 10,
        offset: int | None = None,
        source: str | None = None,
        tags: Iterable[str] = (),
        thread: str | None = None,
        speaker: str | None = None,
        filters: Filters = None,
        context: int = 0,
        mode: str = "hybrid",
        alpha: float | None = None,
        tag_boost: float = 0.0,
        min_similarity: float | None = None,
        ranking: str | None = None,
        min_relevance: float | None = None,
        expired_after: datetime | str | None = None,
        expired_before: datetime | str | None = None,
        include_expired: bool = False,
        namespaces: Namespaces = None,
        created_after: datetime | str | None = None,
        created_before: datetime | str | None = None,
        valid_after: datetime | str | None = None,
        valid_before: datetime | str | None = None,
    ) -> EpisodeHits:
        """Find episodes by words and by meaning, best first. The filters are those of `list`.

        Any text is a query; its words have no special syntax. All filters apply before ranking. A
        long episode is found through any of its pieces and returned once.

        Args:
            query: a question or some words; without one, the newest episodes are returned.
            mode: ``hybrid``, ``words`` (no model is used) or ``meaning``.
            alpha: the weight of the meaning in a hybrid search, 0 to 1, 0.4 by default; the words
                have the rest.
            tags: only episodes that have all of these, unless ``tag_boost`` is given.
            tag_boost: do not filter by tags, but add this to the score (otherwise 0 to 1) of
                episodes that have all of them.
            min_similarity: leave out episodes that are less similar, -1 to 1. Episodes without an
                embedding are kept.
            ranking: ``"contextual"`` (the default) also uses conversations, names, dates and the
                kind of answer that the question asks for; ``"classic"`` uses only words and
                meaning. A call with ``mode`` or ``alpha`` is classic.
            min_relevance: leave out what is less relevant, 0 to 1, unless it has a rare word, name
                or identifier of the query, or ranks near a hit that is relevant. 0.075 by default,
                in the classic ranking 0. A search by words alone leaves nothing out.
            limit: the maximum number of episodes, 1 to 1000.
            offset: skip this many, to read an answer in pages: the first page has ``offset=0``. All
                pages are parts of one order of at most 1,000 episodes.
            context: the number of neighbours to return on either side of each hit in its thread, 0
                to 10. They have the same owners; expired ones are left out unless requested. Each
                is returned once, and hits are not repeated as neighbours.

        Returns:
            The hits. If the query could not be embedded, ``words_only`` says why, and after the
            episodes found by words the newest ones follow, up to the limit.

        Raises:
            ValueError: an unknown mode, a number out of range, a bad time.
        """
        return self._find("" if query is None else query, from_arguments(EpisodeSearch, locals()))

    def _find(
        self,
        query: str,
        asked: EpisodeSearch,
        *,
        fills: bool = False,
        sequel: Sequel | None = None,
    ) -> EpisodeHits:
        wanted = self._wanted(asked)
        boosted = wanted.tags if asked.tag_boost else ()
        if boosted:
            wanted = replace(wanted, tags=())
        request = requests.for_episodes(wanted, asked, boosted)
        project = self._standing.project
        if fills or sequel or self._past is not None or project is not None:
            request = replace(request, fills=fills, sequel=sequel, past=self._past, project=project)
        return self._searches.episodes.find(query, request)

    def update(
        self,
        episode_id: int | str,
        *,
        tags: Iterable[str] | EllipsisType = ...,
        metadata: Mapping[str, Any] | EllipsisType = ...,
        expired_at: datetime | str | EllipsisType | None = ...,
    ) -> Episode:
        """Change the tags, metadata or expiry of an episode; omitted ones stay as they are.

        Args:
            episode_id: its id or its UUID.
            tags: the new tags; an empty list removes all.
            metadata: a JSON merge patch (RFC 7396), as for facts: ``None`` removes a key.
            expired_at: when it expires; ``None`` for never.

        Raises:
            NotFound: no such episode, or it was erased.
            ValueError: nothing to change was given, a bad time, metadata that is not JSON.
        """
        columns: dict[str, Any] = {}
        if tags is not ...:
            columns["tags"] = self.screen.value(checked_tags(tags), "tags")
        if expired_at is not ...:
            columns["expired_at"] = moments.until(expired_at, "expired_at")
        if metadata is ... and not columns:
            raise InvalidArgument("neither tags nor metadata nor expired_at was given")
        patch = None if isinstance(metadata, EllipsisType) else checked_mapping(metadata)
        patch = self.screen.value(patch, "metadata")
        with self._engine.write() as transaction:
            episode = self._known(transaction, episode_id)
            trust.check_episodes(transaction, self._author, [episode.id])
            if not changes.change(transaction, self._author, episode, columns, patch):
                return episode
            return self._known(transaction, episode.id)

    def expire(self, episode_ids: Iterable[int | str]) -> builtins.list[int]:
        """Let episodes expire now, in one transaction; those that have expired stay as they are.

        Args:
            episode_ids: their ids or UUIDs.

        Returns:
            The ids of those that this call expired. Of any number of calls, in any threads and
            processes, exactly one expires an active episode.

        Raises:
            NotFound: there is no such episode, or it was erased; then none expires.
        """
        given = checked_items(episode_ids, "episode_ids")
        with self._engine.write() as transaction:
            found = [self._known(transaction, one) for one in given]
            ids = [every.id for one in found for every in self._whole(transaction, one)]
            wanted = EpisodeFilter(
                namespaces=(self._namespace,),
                now=clock.utc_now(),
                among=ids,
                include_distrusted=True,
            )
            return self._expire(transaction, wanted)

    def expire_all(
        self,
        *,
        limit: int | None = None,
        newest_first: bool = False,
        source: str | None = None,
        tags: Iterable[str] = (),
        thread: str | None = None,
        speaker: str | None = None,
        filters: Filters = None,
        created_after: datetime | str | None = None,
        created_before: datetime | str | None = None,
        valid_after: datetime | str | None = None,
        valid_before: datetime | str | None = None,
    ) -> builtins.list[int]:
        """Let the active episodes that pass filters expire now, in one transaction.

        The filters are those of :meth:`list`. Without any, every active episode of the store's own
        namespace that has no owners expires.

        Args:
            limit: the maximum number; ``None`` for all.
            newest_first: begin with the last ones, if there is a limit.

        Returns:
            The ids of those that this call expired, in order; see :meth:`expire`.
        """
        checked_limit(limit)
        wanted = self._wanted(from_arguments(EpisodeNarrowing, locals()))
        with self._engine.write() as transaction:
            return self._expire(transaction, wanted, limit=limit, newest_first=newest_first)

    def pop(
        self,
        *,
        oldest: bool = False,
        source: str | None = None,
        tags: Iterable[str] = (),
        thread: str | None = None,
        speaker: str | None = None,
        filters: Filters = None,
        created_after: datetime | str | None = None,
        created_before: datetime | str | None = None,
        valid_after: datetime | str | None = None,
        valid_before: datetime | str | None = None,
    ) -> Episode | None:
        """Let the last active episode that passes filters expire, and return it.

        The filters are those of :meth:`list`; of a thread, the last one in its order. Any number of
        threads and processes may pop: each active episode is returned to exactly one of them.

        Args:
            oldest: the first one, instead.

        Returns:
            The episode, which has expired now; ``None`` if none was active.
        """
        wanted = self._wanted(from_arguments(EpisodeNarrowing, locals()))
        with self._engine.write() as transaction:
            ids = self._expire(transaction, wanted, limit=1, newest_first=not oldest)
            found = parts.joined([self._known(transaction, one) for one in ids])
            return found[0 if oldest else -1] if found else None

    def journal(self, episode_id: int | str) -> builtins.list[JournalLine]:
        """Return the journal of an episode: every change, when it was made and by whom."""
        with self._engine.read() as transaction:
            return journal.of_episode(transaction, self._known(transaction, episode_id).id)

    def erase(self, episode_id: int | str) -> bool:
        """Permanently remove an episode's text from the file.

        The facts that were extracted from it stay; :meth:`memstore.Store.ledger.erasure` says
        which, and erases them with it. With a part of a long text, its other parts are erased.

        Returns:
            Whether the bytes are already gone from the files; see :meth:`memstore.Store.erase`.

        Raises:
            NotFound: no such episode.
        """
        with self._engine.read() as transaction:
            whole = self._whole(transaction, self._known(transaction, episode_id))
            trust.check_episodes(transaction, self._author, [one.id for one in whole])
        for one in reversed(whole):  # the first one last: what is left says what it was part of
            with self._engine.write() as transaction:
                trust.check_episodes(transaction, self._author, [one.id])
                erasing.erase_episode(
                    Changes(transaction, self._author), self._known(transaction, one.id)
                )
        is_gone = self._engine.compact()
        return self._searches.episodes.index.rewrite() and is_gone

    def _record(
        self,
        transaction: Transaction,
        values: Mapping[str, Any],
        counter: thread_table.Counter,
        derived: DerivedTexts,
    ) -> Episode:
        if values["thread"] is not None:
            thread = thread_table.Thread.of(self._namespace, values)
            values = {**values, "seq": counter.place(transaction, thread, values["seq"])}
        return changes.record(transaction, self._author, self._namespace, values, derived)

    def _expire(
        self,
        transaction: Transaction,
        wanted: EpisodeFilter,
        *,
        limit: int | None = None,
        newest_first: bool = False,
    ) -> builtins.list[int]:
        """Let the active episodes that pass a filter expire; return their ids, in order.

        Active means: at a moment later than every change before. So what one call expires is not
        active for the next one, even if the clocks of two machines differ.
        """
        moment = acts.of(transaction).moment
        active = episode_table.expiring(
            transaction, replace(wanted, now=moment), limit=limit, newest_first=newest_first
        )
        if limit is not None:
            active = self._with_parts(transaction, active, moment)
        trust.check_episodes(transaction, self._author, [one.id for one in active])
        changes.expire(transaction, self._author, active, min(clock.utc_now(), moment))
        return [one.id for one in active]

    def _with_parts(
        self, transaction: Transaction, active: builtins.list[Expiring], moment: datetime
    ) -> builtins.list[Expiring]:
        """Return active episodes with the active parts of the texts that they are parts of."""
        found = episode_table.get_many(transaction, [one.id for one in active])
        ids = [[every.id for every in self._whole(transaction, one)] for one in found.values()]
        more = sorted({id_ for whole in ids if len(whole) > 1 for id_ in whole})
        if not more:
            return active
        wanted = EpisodeFilter(
            namespaces=(self._namespace,), now=moment, among=more, include_distrusted=True
        )
        together = {one.id: one for one in episode_table.expiring(transaction, wanted)}
        return [*(one for one in active if one.id not in together), *together.values()]

    def _whole(self, transaction: Transaction, episode: Episode) -> builtins.list[Episode]:
        """Return the parts of the text that an episode is part of, in order; mostly itself."""
        mark = parts.mark_of(episode)
        if mark is None:
            return [episode]
        keys = [parts.key_of(mark.first, number) for number in range(2, mark.of + 1)]
        found = [
            episode_table.find_uuid(transaction, self._namespace, mark.first),
            *episode_table.with_keys(transaction, self._namespace, keys).values(),
        ]
        place = (episode.thread, episode.seq, episode.scope)
        whole = [
            one
            for one in found
            if one is not None and one.content and (one.thread, one.seq, one.scope) == place
        ]
        return sorted({one.id: one for one in (episode, *whole)}.values(), key=lambda one: one.id)

    def _known(self, transaction: Transaction, episode_id: int | str) -> Episode:
        if isinstance(episode_id, str) and len(episode_id) == clock.UUID_CHARACTERS:
            found = episode_table.find_uuid(transaction, self._namespace, episode_id.lower())
        elif isinstance(episode_id, bool) or not isinstance(episode_id, int):
            raise InvalidArgumentType(
                f"must be a whole number, or a UUID, not {episode_id!r}", argument="episode_id"
            )
        else:
            found = episode_table.get(transaction, episode_id, self._namespace)
        if found is None or not found.content or not self._standing.reaches(found):
            named = episode_id if isinstance(episode_id, str) else shown(episode_id)
            raise NotFound(
                f"there is no episode {named} in namespace {self._namespace!r}",
                remedy=Remedy.FIND_EPISODE,
            )
        return found

    def _wanted(self, asked: EpisodeNarrowing) -> EpisodeFilter:
        source, thread, speaker = asked.source, asked.thread, asked.speaker
        return EpisodeFilter(
            namespaces=self._standing.select(asked.namespaces),
            now=clock.utc_now() if self._past is None else self._past.moment.at,
            tags=tuple(checked_tags(asked.tags)),
            source=None if source is None else checked_text(source, "source", MAX_NAME).strip(),
            thread=None if thread is None else checked_name(thread, "thread"),
            speaker=None if speaker is None else checked_text(speaker, "speaker", MAX_NAME).strip(),
            metadata=parse_filters(asked.filters),
            scope=self._standing.selected,
            include_expired=asked.include_expired,
            given=as_given(asked),
            **times(asked),
        )


def found(
    episodes: Episodes, query: str, asked: EpisodeSearch, sequel: Sequel | None, *, fills: bool
) -> EpisodeHits:
    """Search like :meth:`Episodes.search`, as one of two searches for a question.

    Args:
        sequel: what both share.
        fills: what is found fills a budget: less is left out.
    """
    return episodes._find(query, asked, fills=fills, sequel=sequel)


def add_in_the_past(episodes: Episodes, new_episodes: Sequence[NewEpisode]) -> list[Episode]:
    """Record episodes like :meth:`Episodes.add_many`, as if that had been done at their times."""
    return episodes._add_many(new_episodes, in_the_past=True)


def replace_in_the_past(episodes: Episodes, new: NewEpisode, tag: str) -> Episode:
    """Record an episode like :meth:`Episodes.replace`, as if that had been done at its time."""
    return episodes._replace(new, tag, in_the_past=True)


def _check_same(known: Episode, values: Mapping[str, Any], of: int, *, keep_known: bool) -> None:
    """Check that a new episode may be answered by the one that has its idempotency key.

    Args:
        of: how many parts its text has.
    """
    key = known.idempotency_key
    if known.scope != Scope(**{name: values[name] for name in SCOPE_FIELDS}):
        raise IdempotencyConflict(
            f"the idempotency key {key!r} already belongs to an episode of other owners",
            remedy=Remedy.NEW_KEY,
        )
    mark = parts.mark_of(known)
    same = known.content_hash == values["content_hash"] and (1 if mark is None else mark.of) == of
    if not same and not keep_known:
        raise IdempotencyConflict(
            f"the idempotency key {key!r} already belongs to episode {known.id}, which has "
            "different content",
            remedy=Remedy.NEW_KEY,
        )
