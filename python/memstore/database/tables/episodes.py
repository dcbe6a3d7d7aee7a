"""The append-only table of episodes; the only module that knows its columns."""

from __future__ import annotations

import json
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from memstore.database.changes import Line
from memstore.database.dialect import SAME_OWNERS, owned_by
from memstore.database.engine import NO_LIMIT, Write
from memstore.database.filters import SEEN_INDEX, TAGGED, THREAD_INDEX, Conditions
from memstore.database.journal import Kind
from memstore.database.tables import pieces as piece_table
from memstore.database.tables.rows import Rows, misformed_rows, read_moments, rewritten_moment
from memstore.database.writes import BY_ID, Insert, Update, settings
from memstore.domain import clock, metadata
from memstore.domain.arguments import MAX_NUMBER
from memstore.domain.episodes import EPISODE_FIELDS, EPISODE_MOMENTS, Episode, ThreadSummary
from memstore.domain.records import Scope, unchecked
from memstore.domain.unread import UnreadThread
from memstore.errors import StorageError
from memstore.frozen import replace
from memstore.lazy import lazy_import
from memstore.named import NamedTuple
from memstore.text import words

if TYPE_CHECKING:
    import hashlib
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from datetime import datetime

    from memstore.database import derivations
    from memstore.database.changes import Changes, Lines
    from memstore.database.dialect import Dialect
    from memstore.database.engine import Parameters, Row, Transaction, Value
    from memstore.database.filters import EpisodeFilter
    from memstore.database.tables import threads, unread
    from memstore.domain import turns
    from memstore.domain.queries import Page
    from memstore.domain.records import AtLeast
else:
    derivations = lazy_import("memstore.database.derivations")
    hashlib = lazy_import("hashlib")
    threads = lazy_import("memstore.database.tables.threads")
    turns = lazy_import("memstore.domain.turns")
    unread = lazy_import("memstore.database.tables.unread")

SELECT_LIST = ", ".join(f"e.{name}" for name in EPISODE_FIELDS)
INSERTION: Final = Insert("memstore_episodes", (*EPISODE_FIELDS, "segments"))
SELECT = f"SELECT {SELECT_LIST} FROM memstore_episodes e"
ROWS: Final = Rows("memstore_episodes e", "e.namespace", "e.id")
all_ids, count_all, used_keys = ROWS.all_ids, ROWS.count_all, ROWS.used_keys
first_at = ROWS.first_at

BLANK: Final[Mapping[str, Any]] = MappingProxyType(
    {name: None for name in EPISODE_FIELDS if name not in ("id", "uuid", "namespace", "created_at")}
    | {"content": "", "content_hash": "", "tags": (), "metadata": {}}
)
"""What erasing makes of the columns of an episode, but for the tags of a turn."""


def new_id(transaction: Transaction) -> int:
    return transaction.next_id("memstore_episodes")


class DerivedTexts(NamedTuple):
    """What is derived from the texts of an episode; it takes as long as they are long."""

    segments: str | None
    pieces: list[tuple[int, int]]


def derived(content: str, name: str | None, source_description: str | None) -> DerivedTexts:
    return DerivedTexts(segments(content, name, source_description), piece_table.cut(content))


def insert(changes: Changes, episode: Episode, lines: Lines, found: DerivedTexts) -> None:
    """Insert an episode with a new id, and its pieces, whose embeddings are pending."""
    row = [_encode(name, getattr(episode, name)) for name in EPISODE_FIELDS]
    changes.insert(Write(INSERTION, (*row, found.segments)), lines)
    piece_table.place(changes.transaction, episode.id, found.pieces)


def journalled(episode: Episode) -> dict[str, Any]:
    """Return the values of an episode that the journal keeps: all but the text.

    The text is long, and is kept in one place so that it can be erased there; its hash is kept, and
    so is that of the salt, which nobody can guess.
    """
    values = {k: v for k, v in episode.to_dict().items() if k not in ("id", "content")}
    if episode.salt is not None:
        values["salt_hash"] = hashlib.sha256(episode.salt.encode()).hexdigest()
    return values


def erasure(episode: Episode) -> Line:
    """Return the line of an episode that is erased, with what is left of it."""
    after = journalled(replace(episode, **_left(episode)))
    return Line(Kind.ERASE_EPISODE, episode_id=episode.id, after=after)


def _left(episode: Episode) -> dict[str, Any]:
    """Return the columns of an episode that is erased."""
    return {**BLANK, "tags": turns.left_of(episode)}


def segments(content: str, *more: str | None) -> str | None:
    return words.segments(content, *(text for text in more if text))


def get(transaction: Transaction, episode_id: int, namespace: str) -> Episode | None:
    """Return one episode of a namespace, even if it was erased."""
    if abs(episode_id) > MAX_NUMBER:
        return None
    return _one(
        transaction, "e.id = :id AND e.namespace = :namespace", id=episode_id, namespace=namespace
    )


class Origin(NamedTuple):
    """The columns of an episode that facts extracted from it need."""

    uuid: str
    created_at: datetime
    valid_at: datetime | None
    thread: str | None
    seq: int | None
    salt: str | None
    """``None`` after it was erased."""
    user_id: str | None
    agent_id: str | None
    run_id: str | None

    @property
    def scope(self) -> Scope:
        """The owners it belongs to."""
        return Scope(user_id=self.user_id, agent_id=self.agent_id, run_id=self.run_id)


def origin(transaction: Transaction, episode_id: int, namespace: str) -> Origin | None:
    """Return what facts need from an episode, even an erased one, without reading its text."""
    if abs(episode_id) > MAX_NUMBER:
        return None
    row = transaction.one(
        f"SELECT {', '.join(Origin._fields)} FROM memstore_episodes"
        " WHERE id = :id AND namespace = :namespace",
        {"id": episode_id, "namespace": namespace},
    )
    if row is None:
        return None
    values = {"id": episode_id, **dict(zip(Origin._fields, row, strict=True))}
    read_moments("episode", values, ("created_at", "valid_at"))
    del values["id"]
    return Origin(**values)


def get_many(transaction: Transaction, episode_ids: Sequence[int]) -> dict[int, Episode]:
    """Return episodes by id, from any namespace."""
    rows = transaction.rows(
        f"{SELECT} WHERE e.id IN {transaction.dialect.listed('ids')}", {"ids": episode_ids}
    )
    return {episode.id: episode for episode in map(_decode, rows)}


def find_uuid(transaction: Transaction, namespace: str, uuid: str) -> Episode | None:
    return _one(
        transaction, "e.namespace = :namespace AND e.uuid = :uuid", namespace=namespace, uuid=uuid
    )


def with_uuids(transaction: Transaction, namespace: str, uuids: Sequence[str]) -> list[Episode]:
    rows = transaction.rows(
        f"{SELECT} WHERE e.namespace = :namespace"
        f" AND e.uuid IN {transaction.dialect.listed('uuids')}",
        {"namespace": namespace, "uuids": uuids},
    )
    return [*map(_decode, rows)]


def namespace_of(transaction: Transaction, uuid: str) -> str | None:
    """Return the namespace of an episode with this UUID; ``None`` unless there is exactly one."""
    row = transaction.one(
        "SELECT min(namespace) FROM memstore_episodes WHERE uuid = :uuid HAVING count(*) = 1",
        {"uuid": uuid},
    )
    return None if row is None else str(row[0])


def with_keys(
    transaction: Transaction, namespace: str, idempotency_keys: Sequence[str]
) -> dict[str, Episode]:
    """Return the episodes of a namespace with these idempotency keys, by key."""
    if not idempotency_keys:
        return {}
    rows = transaction.rows(
        f"{SELECT} WHERE e.namespace = :namespace"
        f" AND e.idempotency_key IN {transaction.dialect.listed('keys')}",
        {"namespace": namespace, "keys": idempotency_keys},
    )
    return {str(episode.idempotency_key): episode for episode in map(_decode, rows)}


def erased_turns(transaction: Transaction, namespace: str, tags: Sequence[str]) -> set[str]:
    """Return those of these tags that erased turns of a namespace have."""
    rows = transaction.rows(
        "SELECT t.tag FROM memstore_episode_tags t JOIN memstore_episodes e ON e.id = t.episode_id"
        f" WHERE t.tag IN {transaction.dialect.listed('tags')} AND e.namespace = :namespace"
        " AND e.content_hash = ''",
        {"namespace": namespace, "tags": tags},
    )
    return {str(tag) for (tag,) in rows}


def copies(transaction: Transaction, episode_ids: Sequence[int]) -> set[int]:
    """Return the other records of the turns that these episodes are; usually there are none."""
    listed = transaction.dialect.listed
    originals = {
        (str(namespace), turns.COPY + str(uuid))
        for namespace, uuid in transaction.rows(
            f"SELECT namespace, uuid FROM memstore_episodes WHERE id IN {listed('ids')}",
            {"ids": episode_ids},
        )
    }
    originals |= {
        (str(namespace), str(tag))
        for namespace, tag in transaction.rows(
            "SELECT e.namespace, t.tag FROM memstore_episode_tags t"
            " JOIN memstore_episodes e ON e.id = t.episode_id"
            f" WHERE t.episode_id IN {listed('ids')}",
            {"ids": episode_ids},
        )
        if str(tag).startswith(turns.COPY)
    }
    found = transaction.rows(
        "SELECT e.namespace, t.tag, e.id FROM memstore_episode_tags t"
        " JOIN memstore_episodes e ON e.id = t.episode_id"
        f" WHERE t.tag IN {listed('tags')} AND e.content_hash <> ''",
        {"tags": [tag for _, tag in originals]},
    )
    known = [(key, int(id_)) for *key, id_ in found if (key[0], key[1]) in originals]
    if not known:
        return set()
    held = transaction.rows(
        "SELECT namespace, uuid, id FROM memstore_episodes"
        f" WHERE uuid IN {listed('uuids')} AND content_hash <> ''",
        {"uuids": [str(tag).removeprefix(turns.COPY) for (_, tag), _ in known]},
    )
    ids = {id_ for _, id_ in known}
    ids |= {int(i) for space, uuid, i in held if (space, f"{turns.COPY}{uuid}") in originals}
    return ids - {*episode_ids}


def repeated(transaction: Transaction, namespace: str, after: int) -> Iterator[Episode]:
    """Yield the keyed episodes that share their text with another, one of them newer than an id.

    Those with the same text follow each other, by id.
    """
    new = (
        f"SELECT content_hash FROM memstore_episodes {transaction.dialect.indexed_by(None)}"
        " WHERE id > :after AND namespace = :namespace AND content_hash <> ''"
        " AND idempotency_key IS NOT NULL"
    )
    several = (
        "SELECT content_hash FROM memstore_episodes WHERE namespace = :namespace"
        f" AND content_hash IN ({new}) GROUP BY content_hash HAVING count(*) > 1"
    )
    rows = transaction.rows(
        f"{SELECT} WHERE e.namespace = :namespace AND e.idempotency_key IS NOT NULL"
        f" AND e.content_hash IN ({several}) ORDER BY e.content_hash, e.id",
        {"namespace": namespace, "after": after},
    )
    return map(_decode, rows)


def untimed(transaction: Transaction, namespace: str, after: int) -> list[Episode]:
    """Return the keyed episodes of threads newer than an id that say not when they were said."""
    rows = transaction.rows(
        f"{SELECT} {transaction.dialect.indexed_by(None)} WHERE e.id > :after"
        " AND e.namespace = :namespace AND e.content_hash <> '' AND e.valid_at IS NULL"
        " AND e.idempotency_key IS NOT NULL AND e.thread IS NOT NULL ORDER BY e.id",
        {"namespace": namespace, "after": after},
    )
    return [*map(_decode, rows)]


def timed(transaction: Transaction, namespace: str, thread: str) -> list[Episode]:
    """Return the episodes of a thread that say when they were said, whosever they are."""
    rows = transaction.rows(
        f"{SELECT} WHERE e.namespace = :namespace AND e.thread = :thread"
        " AND e.valid_at IS NOT NULL AND e.content_hash <> '' ORDER BY e.seq, e.id",
        {"namespace": namespace, "thread": thread},
    )
    return [*map(_decode, rows)]


def newest(transaction: Transaction, namespace: str) -> int:
    """Return the highest id of the episodes of a namespace; 0 if there is none."""
    row = transaction.one(
        f"SELECT id FROM memstore_episodes {transaction.dialect.indexed_by(None)}"
        " WHERE namespace = :namespace ORDER BY id DESC LIMIT 1",
        {"namespace": namespace},
    )
    return 0 if row is None else int(row[0])


def find(
    transaction: Transaction,
    namespace: str,
    content_hash: str,
    scope: Scope,
    thread: str | None = None,
) -> Episode | None:
    """Return the latest episode with this content in a namespace, scope and thread (if given)."""
    within = "" if thread is None else " AND e.thread = :thread"
    return _one(
        transaction,
        f"e.namespace = :namespace AND e.content_hash = :hash AND {SAME_OWNERS}{within}",
        latest=True,
        namespace=namespace,
        hash=content_hash,
        thread=thread,
        **scope.ids,
    )


def select(
    transaction: Transaction,
    wanted: EpisodeFilter,
    page: Page,
) -> Iterator[Episode]:
    """Yield the episodes that pass a filter, in order: that of a thread, or of recording.

    With ``before_id`` or ``after_id`` of the page, those before or after one in this order.
    """
    where, values = wanted.where(transaction.dialect)
    way = "DESC" if page.newest_first else "ASC"
    column = _order(wanted)
    beyond = ""
    for name, id_, compared in (("before", page.before_id, "<"), ("after", page.after_id, ">")):
        if id_ is not None:
            values = {**values, name: _place(transaction, column, id_), f"{name}_id": id_}
            beyond += f" AND (e.{column}, e.id) {compared} (:{name}, :{name}_id)"
    source, order = _seen(transaction, wanted), f"ORDER BY e.{column} {way}, e.id {way}"
    values = {
        **values,
        "limit": NO_LIMIT if page.limit is None else page.limit,
        "offset": page.offset,
    }
    query = (
        f"SELECT {SELECT_LIST} FROM {source} WHERE {where}{beyond} {order}"
        " LIMIT :limit OFFSET :offset"
    )
    if wanted.thread is not None and not wanted.is_exact:
        # The thread of each owner is in order: sort ids, and read only the rows that are wanted.
        if page.limit is not None and replace(wanted, thread=None).is_plain:
            listed = transaction.dialect.listed("ids")
            most = page.offset + page.limit
            ids = _first_of_thread(transaction, wanted, f"{beyond} {order}", values, most)
            values = {**values, "ids": ids}
            source = f"{listed} AS one CROSS JOIN memstore_episodes e"
            where = f"e.id = one.value AND {where}"
        page_of = f"SELECT e.id FROM {source} WHERE {where}{beyond} {order}"
        query = f"{SELECT} WHERE e.id IN ({page_of} LIMIT :limit OFFSET :offset) {order}"
    return map(_decode, transaction.rows(query, values))


SPARE: Final = 50
"""So many more are looked at than are wanted, in case that some are not shown."""


def _first_of_thread(
    transaction: Transaction, wanted: EpisodeFilter, order: str, values: Parameters, number: int
) -> list[int]:
    """Return ids of a thread in order, among which are the first ones that pass a filter.

    An index has the order; whether an episode was erased or has expired is in its row.
    """
    own, _ = wanted.of("e", transaction.dialect)
    ids = f"SELECT e.id FROM {_seen(transaction, wanted)} WHERE e.thread = :thread AND {own}"
    where, its = wanted.where(transaction.dialect, by_id=True)
    most = min(number + SPARE, MAX_NUMBER)
    while True:
        found = transaction.ints(f"{ids}{order} LIMIT :most", {**values, "most": most})
        passing = transaction.scalar(
            f"SELECT count(*) FROM {transaction.dialect.listed('ids')} AS one"
            f" CROSS JOIN memstore_episodes e WHERE e.id = one.value AND {where}",
            {**its, "ids": found},
        )
        if passing >= number or len(found) < most:
            return found
        most = min(8 * most, MAX_NUMBER)


def _order(wanted: EpisodeFilter) -> str:
    """Return the column by which episodes are in order: the clock may go back within a thread."""
    return "created_at" if wanted.thread is None else "seq"


def _place(transaction: Transaction, column: str, episode_id: int) -> Value:
    """Return an episode's place in an order; ``None`` if there is no such episode."""
    row = transaction.one(
        f"SELECT {column} FROM memstore_episodes WHERE id = :id", {"id": episode_id}
    )
    return None if row is None else row[0]


class Expiring(NamedTuple):
    """An episode that is to expire, and when it expires as yet."""

    id: int
    expired_at: datetime | None


def expiring(
    transaction: Transaction,
    wanted: EpisodeFilter,
    *,
    limit: int | None = None,
    newest_first: bool = False,
) -> list[Expiring]:
    """Return the episodes that pass a filter, in order, without reading their texts."""
    where, values = wanted.where(transaction.dialect, by_id=wanted.is_among)
    way, column = "DESC" if newest_first else "ASC", _order(wanted)
    source = "memstore_episodes e" if wanted.is_among else _seen(transaction, wanted)
    rows = transaction.rows(
        f"SELECT e.id, e.expired_at FROM {source} WHERE {where}"
        f" ORDER BY e.{column} {way}, e.id {way} LIMIT :limit",
        {**values, "limit": NO_LIMIT if limit is None else limit},
    )
    return [Expiring(id_, None if at is None else clock.from_text(str(at))) for id_, at in rows]


def expiry(dialect: Dialect, episode_ids: Sequence[int], at: datetime) -> Write:
    """Return the write that lets episodes expire at a time."""
    form = Update("memstore_episodes", {"expired_at": ":at"}, f"id IN {dialect.listed('ids')}")
    return Write(form, {"at": clock.to_text(at), "ids": episode_ids})


OWNERS: Final = ("user_id", "agent_id", "run_id")
IN_ORDER: Final = ", ".join(f"coalesce(e.{name}, '')" for name in OWNERS)
AFTER_THREAD: Final = (
    "e.thread >= :after AND (e.thread > :after"
    f" OR ({IN_ORDER}) > ({', '.join(f':after_{name}' for name in OWNERS)}))"
)


def summaries(
    transaction: Transaction,
    wanted: EpisodeFilter,
    prefix: str,
    after: ThreadSummary | None,
    limit: int,
) -> list[ThreadSummary]:
    """Return the threads of the episodes that pass a filter, by name and owners.

    Args:
        prefix: how their names begin.
        after: only those that come after this one.
    """
    where, values = wanted.where(transaction.dialect, by_id=True)
    named = Conditions("e")
    named.add_prefix("thread", prefix)
    if after is not None:
        owners = {f"after_{name}": owner or "" for name, owner in after.scope.ids.items()}
        named.add(AFTER_THREAD, after=after.thread, **owners)
    which, its = named.sql
    columns = ", ".join(f"e.{name}" for name in ("thread", *OWNERS))
    by = ", ".join(f"e.{name} NULLS FIRST" for name in OWNERS)
    rows = transaction.rows(
        f"SELECT {columns}, count(*), min(e.created_at), max(e.created_at)"
        f" FROM memstore_episodes e {transaction.dialect.indexed_by(THREAD_INDEX)}"
        f" WHERE e.thread IS NOT NULL AND {which} AND {where}"
        f" GROUP BY {columns} ORDER BY e.thread, {by} LIMIT :limit",
        {**values, **its, "limit": limit},
    )
    return [
        ThreadSummary(
            thread=str(thread),
            scope=Scope(user_id=user, agent_id=agent, run_id=run),
            episodes=int(number),
            first_at=clock.from_text(str(first)),
            last_at=clock.from_text(str(last)),
        )
        for thread, user, agent, run, number, first, last in rows
    ]


def unread_ids(
    transaction: Transaction,
    wanted: EpisodeFilter,
    after: int = 0,
    last: int = MAX_NUMBER,
    *,
    untried: bool = False,
) -> list[int]:
    """Return the ids above ``after``, up to ``last``, of turns that no model has read, in order.

    Args:
        untried: only those that no model was to read.
    """
    where, values = wanted.where(transaction.dialect, by_id=True)
    return transaction.ints(
        f"SELECT e.id FROM memstore_episodes e WHERE {where} AND e.id > :after AND e.id <= :last"
        f" AND {unread.UNTRIED if untried else unread.UNREAD} ORDER BY e.id",
        {**values, "after": after, "last": last},
    )


def unread_threads(transaction: Transaction, wanted: EpisodeFilter) -> Iterator[UnreadThread]:
    """Yield the conversations with turns that no model has read, by the first of these."""
    where, values = wanted.where(transaction.dialect, by_id=True)
    rows = transaction.rows(
        "SELECT e.thread, min(e.source), count(*), sum(length(e.content)), min(e.id), max(e.id),"
        " min(coalesce(e.valid_at, e.created_at)), max(coalesce(e.valid_at, e.created_at))"
        f" FROM memstore_episodes e WHERE {where} AND {unread.UNREAD}"
        " GROUP BY e.thread, e.user_id, e.agent_id, e.run_id,"
        " CASE WHEN e.thread IS NULL THEN e.id END ORDER BY min(e.id)",
        values,
    )
    names = UnreadThread.__annotations__
    for row in rows:
        told: dict[str, Any] = dict(zip(names, row, strict=True))
        told |= {name: clock.from_text(told[name]) for name in ("began", "ended")}
        yield UnreadThread(**told)


def untried_scopes(transaction: Transaction, wanted: EpisodeFilter) -> list[Scope]:
    """Return the owners of turns that were only kept, by the first of these."""
    where, values = wanted.where(transaction.dialect, by_id=True)
    rows = transaction.rows(
        f"SELECT e.user_id, e.agent_id, e.run_id FROM memstore_episodes e WHERE {where}"
        f" AND {unread.UNTRIED} GROUP BY e.user_id, e.agent_id, e.run_id ORDER BY min(e.id)",
        values,
    )
    return [Scope(user_id=user, agent_id=agent, run_id=run) for user, agent, run in rows]


def newest_ids(transaction: Transaction, wanted: EpisodeFilter, limit: int) -> list[int]:
    where, values = wanted.where(transaction.dialect)
    return transaction.ints(
        f"SELECT e.id FROM {_seen(transaction, wanted)} WHERE {where}"
        f" ORDER BY e.{_order(wanted)} DESC, e.id DESC LIMIT :limit",
        {**values, "limit": limit},
    )


def select_ids(transaction: Transaction, wanted: EpisodeFilter) -> list[int]:
    where, values = wanted.where(transaction.dialect)
    return transaction.ints(f"SELECT e.id FROM {_seen(transaction, wanted)} WHERE {where}", values)


def of_thread(transaction: Transaction, wanted: EpisodeFilter) -> list[int]:
    """Return the ids of the episodes of a filter's thread, namespaces and owners, in any state."""
    where, values = replace(wanted, among=None).of("e", transaction.dialect)
    index = transaction.dialect.indexed_by(THREAD_INDEX)
    query = f"SELECT e.id FROM memstore_episodes e {index} WHERE e.thread = :thread AND {where}"
    return transaction.ints(query, {**values, "thread": wanted.thread})


def count_thread(transaction: Transaction, wanted: EpisodeFilter, without: Sequence[int]) -> int:
    """Count the episodes of a filter's thread, namespaces and owners but these, in any state."""
    own, values = wanted.of("e", transaction.dialect)
    index = transaction.dialect.indexed_by(THREAD_INDEX)
    among = f"e.thread = :thread AND {own}"
    values = {**values, "thread": wanted.thread, "ids": without}
    every = transaction.scalar(
        f"SELECT count(*) FROM memstore_episodes e {index} WHERE {among}", values
    )
    return every - transaction.scalar(
        f"SELECT count(*) FROM {transaction.dialect.listed('ids')} AS one"
        f" CROSS JOIN memstore_episodes e WHERE e.id = one.value AND {among}",
        values,
    )


def ids_of_owners(transaction: Transaction, wanted: EpisodeFilter) -> list[int]:
    """Return the ids of the episodes of a filter's namespaces and owners."""
    where, values = replace(wanted, among=None).of("e", transaction.dialect)
    index = transaction.dialect.indexed_by(SEEN_INDEX)
    query = f"SELECT e.id FROM memstore_episodes e {index} WHERE e.content_hash <> '' AND {where}"
    return transaction.ints(query, values)


def neighbours(
    transaction: Transaction, episode: Episode, wanted: EpisodeFilter, limit: int
) -> tuple[list[Episode], list[Episode]]:
    """Return up to ``limit`` episodes before and after one in its thread, in order.

    ``wanted`` must select the episode's namespace and owners.
    """
    select = f"{SELECT} {transaction.dialect.indexed_by(THREAD_INDEX)}"
    return threads.neighbours(transaction, select, _decode, episode, wanted, limit)


def following(
    transaction: Transaction, episode: Episode, wanted: EpisodeFilter, limit: int
) -> list[Episode]:
    """Return up to ``limit`` episodes after one in its thread, in order; as :func:`neighbours`."""
    select = f"{SELECT} {transaction.dialect.indexed_by(THREAD_INDEX)}"
    return threads.on_one_side(transaction, select, _decode, episode, wanted, limit, threads.AFTER)


def newest_threads(
    transaction: Transaction, wanted: EpisodeFilter, tag: str, among: int
) -> Iterator[str]:
    """Yield the thread of each episode with a tag, newest first; a thread is yielded repeatedly.

    Args:
        among: how many of the newest episodes are read.
    """
    where, values = wanted.where(transaction.dialect)
    rows = transaction.rows(
        "SELECT e.thread FROM"
        f" (SELECT e.id FROM {_seen(transaction, wanted)} WHERE {where}"
        "   ORDER BY e.created_at DESC, e.id DESC LIMIT :among) AS newest"
        " JOIN memstore_episodes e ON e.id = newest.id"
        f" WHERE e.thread IS NOT NULL AND {TAGGED.format('tag')}"
        " ORDER BY e.created_at DESC, e.id DESC",
        {**values, "tag": tag, "among": among},
    )
    return (str(thread) for (thread,) in rows)


def ends(transaction: Transaction, wanted: EpisodeFilter, thread: str, limit: int) -> list[Episode]:
    """Return so many episodes at the beginning and at the end of a thread, in order."""
    where, values = wanted.where(transaction.dialect, by_id=True)
    select = f"{SELECT} {transaction.dialect.indexed_by(THREAD_INDEX)}"
    found = {
        episode.id: episode
        for way in ("ASC", "DESC")
        for episode in map(
            _decode,
            transaction.rows(
                f"{select} WHERE e.thread = :thread AND {where}"
                f" ORDER BY e.seq {way}, e.id {way} LIMIT :limit",
                {**values, "thread": thread, "limit": limit},
            ),
        )
    }
    return sorted(found.values(), key=lambda episode: (episode.seq or 0, episode.id))


def tagged_in_thread(
    transaction: Transaction, wanted: EpisodeFilter, thread: str, tag: str
) -> list[Episode]:
    """Return the episodes of a thread that have a tag, in order."""
    where, values = wanted.where(transaction.dialect, by_id=True)
    rows = transaction.rows(
        f"{SELECT} {transaction.dialect.indexed_by(THREAD_INDEX)}"
        f" WHERE e.thread = :thread AND {TAGGED.format('tag')} AND {where} ORDER BY e.seq, e.id",
        {**values, "thread": thread, "tag": tag},
    )
    return [*map(_decode, rows)]


def tagged(transaction: Transaction, tag: str) -> list[int]:
    """Return the ids of the episodes with a tag, of every namespace."""
    return transaction.ints(
        "SELECT episode_id FROM memstore_episode_tags WHERE tag = :tag", {"tag": tag}
    )


def count(transaction: Transaction, wanted: EpisodeFilter) -> int:
    where, values = wanted.where(transaction.dialect)
    source = _seen(transaction, wanted)
    return transaction.scalar(f"SELECT count(*) FROM {source} WHERE {where}", values)


def everything(
    transaction: Transaction, namespaces: Sequence[str] | None = None
) -> Iterator[Episode]:
    """Yield the episodes of these namespaces (``None``: all) by id, including erased ones."""
    return map(_decode, ROWS.everything(transaction, SELECT_LIST, namespaces))


def ids(transaction: Transaction, namespace: str, owners: Scope | AtLeast | None) -> list[int]:
    """Return the ids of the episodes of a namespace that are not erased, oldest first."""
    return transaction.ints(
        "SELECT id FROM memstore_episodes WHERE namespace = :namespace AND content <> ''"
        f" AND {owned_by(owners)} ORDER BY created_at, id",
        {"namespace": namespace, **(owners.ids if owners else {})},
    )


def visible(
    transaction: Transaction, episode_ids: Sequence[int], wanted: EpisodeFilter
) -> set[int]:
    where, values = wanted.where(transaction.dialect, by_id=True)
    dialect = transaction.dialect
    return {
        *transaction.ints(
            # By id: the planner would prefer to read the whole namespace.
            f"SELECT e.id FROM memstore_episodes e {dialect.indexed_by(None)}"
            f" WHERE e.id IN {dialect.listed('ids')} AND {where}",
            {**values, "ids": episode_ids},
        )
    }


def updating(episode_id: int, **columns: Any) -> Write:
    values = {name: _encode(name, value) for name, value in columns.items()}
    form = Update("memstore_episodes", settings(*columns), BY_ID)
    return Write(form, {**values, "id": episode_id})


def all_segments(transaction: Transaction) -> Iterator[tuple[int, str | None, str | None]]:
    """Yield ``(id, stored segments, correct segments)`` of every episode, by id."""
    rows = transaction.rows(
        "SELECT id, segments, content, name, source_description FROM memstore_episodes ORDER BY id"
    )
    for episode_id, held, *texts in rows:
        yield episode_id, held, segments(*texts)


def blanking(transaction: Transaction, episode: Episode) -> list[Write]:
    """Return the writes that blank an episode; its empty row stays."""
    row = updating(episode.id, **_left(episode), segments=None)
    return [row, *piece_table.forgetting(transaction, episode.id)]


def erased_among(transaction: Transaction, namespace: str, uuids: Sequence[str]) -> set[str]:
    """Return those of these UUIDs that erased episodes have."""
    rows = transaction.rows(
        "SELECT uuid FROM memstore_episodes WHERE namespace = :namespace"
        f" AND uuid IN {transaction.dialect.listed('uuids')} AND content = ''",
        {"namespace": namespace, "uuids": uuids},
    )
    return {str(uuid) for (uuid,) in rows}


def misfiled_tags(transaction: Transaction) -> list[int]:
    """Return the ids of the episodes whose tags differ from those in the table of tags."""
    elements = transaction.dialect.elements("e.tags")
    right = f"SELECT element.value AS tag, e.id AS episode_id FROM memstore_episodes e, {elements}"
    return transaction.ints(derivations.TAGS.misfiled(right))


def misformed(transaction: Transaction) -> Iterator[str]:
    """Yield the ids of episodes with values in another form than written, and the columns."""
    forms: dict[str, Callable[[str], str | None]] = dict.fromkeys(EPISODE_MOMENTS, rewritten_moment)
    forms["metadata"] = lambda text: metadata.encode(metadata.decode(text))
    forms["tags"] = lambda text: str(_encode("tags", json.loads(text)))
    return misformed_rows(transaction, "memstore_episodes", forms)


def lengths(transaction: Transaction, ids: Sequence[int]) -> dict[int, int]:
    """Return the bytes of each text."""
    listed = transaction.dialect.listed("ids")
    sql = f"SELECT id, octet_length(content) FROM memstore_episodes WHERE id IN {listed}"
    return dict(transaction.rows(sql, {"ids": ids}))


def refile(episode_ids: Sequence[int], transaction: Transaction) -> None:
    """Correct the segments and the table of tags for these episodes."""
    for episode in get_many(transaction, episode_ids).values():
        right = segments(episode.content, episode.name, episode.source_description)
        # The table of tags is derived from them again.
        transaction.run(
            Update("memstore_episodes", {"segments": ":right", "tags": "tags"}, BY_ID),
            {"right": right, "id": episode.id},
        )


def _one(
    transaction: Transaction, where: str, *, latest: bool = False, **values: Value
) -> Episode | None:
    order = "DESC" if latest else "ASC"
    row = transaction.one(f"{SELECT} WHERE {where} ORDER BY e.id {order} LIMIT 1", values)
    return None if row is None else _decode(row)


def _seen(transaction: Transaction, wanted: EpisodeFilter) -> str:
    is_thread = wanted.thread is not None and wanted.namespaces is not None
    index = THREAD_INDEX if is_thread else SEEN_INDEX
    return f"memstore_episodes e {transaction.dialect.indexed_by(index)}"


def _encode(name: str, value: Any) -> Any:
    if name == "metadata":
        return metadata.encode(value)
    if name == "tags":
        return json.dumps(list(value or ()), ensure_ascii=False)
    return clock.to_text(value) if name in EPISODE_MOMENTS and value is not None else value


def _decode(row: Row) -> Episode:
    values: dict[str, Any] = dict(zip(EPISODE_FIELDS, row, strict=True))
    read_moments("episode", values, EPISODE_MOMENTS)
    try:
        values["tags"] = [str(tag) for tag in json.loads(values["tags"])]
    except (ValueError, TypeError) as error:
        raise StorageError(f"episode {values['id']}: tags cannot be read: {error}") from error
    values["metadata"] = metadata.decode(values["metadata"])
    return unchecked(Episode, values)


def ids_in(transaction: Transaction, namespace: str) -> list[int]:
    """Return the ids of a namespace's episodes that were not erased, in order."""
    return transaction.ints(
        "SELECT id FROM memstore_episodes WHERE namespace = :namespace AND content_hash <> ''"
        " ORDER BY id",
        {"namespace": namespace},
    )
