"""The table of facts; the only module that knows its columns. It contains no policy."""

from __future__ import annotations

from datetime import datetime
from functools import cache
from math import isqrt
from operator import attrgetter, itemgetter
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, Protocol

from memstore._kernel.json import Members
from memstore.database import journal
from memstore.database.dialect import SAME_OWNERS, owned_by
from memstore.database.engine import NO_LIMIT, Statement, Write
from memstore.database.filters import (
    BEGAN,
    CURRENT,
    DISTRUSTED,
    HOLDS_UNTIL,
    IN_STATE,
    SUPERSEDED_BUT_VALID,
    Conditions,
    having,
    having_key,
    read_clause,
)
from memstore.database.journal import Kind
from memstore.database.tables import vectors as vector_table
from memstore.database.tables.rows import Rows, misformed_rows, read_moments, rewritten_moment
from memstore.database.writes import BY_ID, Delete, Insert, Update, settings
from memstore.domain import clock, metadata
from memstore.domain.arguments import MAX_NUMBER
from memstore.domain.records import (
    FACT_FIELDS,
    MOMENT_FIELDS,
    SCOPE_FIELDS,
    TODO,
    Fact,
    set_fields,
    unchecked,
)
from memstore.frozen import fields, replace
from memstore.lazy import lazy_import
from memstore.named import NamedTuple
from memstore.text import folding

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from memstore.database import acts, derivations
    from memstore.database import changes as writing
    from memstore.database.changes import Adoption, Changes, Line, Lines
    from memstore.database.dialect import Dialect
    from memstore.database.engine import InOrder, Parameters, Row, Transaction, Value
    from memstore.database.filters import FactFilter
    from memstore.database.tables import threads
    from memstore.domain import chains, tasks
    from memstore.domain.metadata import Condition, MetadataFilter
    from memstore.domain.queries import Page
    from memstore.domain.records import AtLeast, Scope
    from memstore.text import words
else:
    acts = lazy_import("memstore.database.acts")
    derivations = lazy_import("memstore.database.derivations")
    chains = lazy_import("memstore.domain.chains")
    tasks = lazy_import("memstore.domain.tasks")
    threads = lazy_import("memstore.database.tables.threads")
    words = lazy_import("memstore.text.words")
    writing = lazy_import("memstore.database.changes")


BLANK: Final[Mapping[str, Any]] = MappingProxyType(
    dict.fromkeys(("content", "subject", "category"), "")
    | dict.fromkeys(
        ("source", "idempotency_key", *SCOPE_FIELDS, "thread", "seq", "pinned_at", "slots"), None
    )
    | {"external_key": None}
)
"""What erasing makes of the columns of a fact, besides its metadata."""


class FoundBy(NamedTuple):
    """The columns derived from a fact's text, by which it is found."""

    segments: str | None
    subject_key: str
    claim_hash: int | None
    """``None`` for an erased fact, so that a guess at its text cannot be checked."""
    category_key: str


class Encoded(NamedTuple):
    """What a fact's row holds in another form than the fact."""

    metadata: str | None
    found_by: FoundBy

    def with_category(self, category: str) -> Encoded:
        """Return it for the fact in another category."""
        key = folding.subject_key(category)
        return self._replace(found_by=self.found_by._replace(category_key=key))


STORED = tuple(f.name for f in fields(Fact) if not f.metadata.get("computed"))
COLUMNS = (*STORED, *FoundBy._fields)
INSERTION: Final = Insert("memstore_facts", COLUMNS)
stored_values = attrgetter(*STORED)
METADATA_PLACE = STORED.index("metadata")
SLOTS_PLACE = STORED.index("slots")
UNSEARCHED_PLACE = STORED.index("unsearched")
THREAD_INDEX = "idx_memstore_threads"
KEY_INDEX: Final = "idx_memstore_external_key"
RARE: Final = {
    "thread": THREAD_INDEX,
    "source": "idx_memstore_source",
    "subject_key": "idx_memstore_subject",
    "category_key": "idx_memstore_category",
}
"""Columns whose values may be rare, each with its index."""
PINNED_INDEX: Final = "idx_memstore_pinned"
USED_INDEX: Final = "idx_memstore_used"
USED_BY_ANY_INDEX: Final = "idx_memstore_most_used"
MANY: Final = 20_000
"""Of more facts of several owners, the newest is rather met by id than found by an index."""

SUPERSEDED_INDEX: Final = "idx_memstore_superseded_by"
"""Of facts in any namespace."""
STATE_INDEXES: Final = {
    "superseded": SUPERSEDED_INDEX,
    "deleted": "idx_memstore_deleted",
    "expired": "idx_memstore_expiring",
}
"""The indexes that have only the facts in one state."""
CREATED_PLACE: Final = STORED.index("created_at")
OTHER_MOMENT_PLACES: Final = tuple(
    place for place, name in enumerate(STORED) if name in MOMENT_FIELDS and place != CREATED_PLACE
)
other_moments = itemgetter(*OTHER_MOMENT_PLACES)
NO_OTHER_MOMENTS: Final = (None,) * len(OTHER_MOMENT_PLACES)

JOURNALLED: Final = tuple(
    name
    for name in STORED
    if name not in ("id", "use_count", "last_used_at")  # use is not journalled
)
AT_THE_END: Final = ("slots", "unsearched", "metadata")
IN_ORDER: Final = (*(n for n in JOURNALLED if n not in AT_THE_END), *AT_THE_END)
"""What the journal tells of a fact, in the order in which its line does."""
NO_MEMBERS: Final = "{}"


def _telling(names: Collection[str], implied: Mapping[str, Any]) -> Members:
    """Return what writes as JSON what is journalled of a fact's row, without what is implied."""
    members = [
        (STORED.index(name), name, [implied[name]] if name in implied else []) for name in names
    ]
    return Members(members, json=[METADATA_PLACE, SLOTS_PLACE])


MEMBERS: Final = _telling(IN_ORDER, {})
MEMBERS_OF_NEW: Final = _telling(
    [name for name in IN_ORDER if name != "created_at"],
    {**journal.IMPLIED, "metadata": NO_MEMBERS},
)
"""Of a fact that was created as its line was written."""

# A chain is every fact that leads to its newest one; a fact may supersede several.
CHAIN = """
    WITH RECURSIVE
    up (id, next) AS (
        SELECT id, superseded_by FROM memstore_facts WHERE id = :id
        UNION
        SELECT f.id, f.superseded_by FROM memstore_facts f JOIN up ON f.id = up.next
    ),
    chain (id) AS (
        SELECT id FROM up
        WHERE next IS NULL OR next NOT IN (SELECT id FROM memstore_facts)
           -- In a circle, every fact counts as the end.
           OR NOT EXISTS (SELECT 1 FROM up WHERE next IS NULL
                          OR next NOT IN (SELECT id FROM memstore_facts))
        UNION
        SELECT f.id FROM memstore_facts f JOIN chain ON f.superseded_by = chain.id
    )
    SELECT id FROM chain
"""


ROWS: Final = Rows("memstore_facts f", "f.namespace", "f.id")
all_ids, count_all, used_keys = ROWS.all_ids, ROWS.count_all, ROWS.used_keys
first_at = ROWS.first_at


@cache
def _columns(dialect: Dialect) -> str:
    # The fact's row in the index of rows without a vector, so that reading facts reads no vectors.
    queued = (
        f"FROM memstore_fact_vectors v {dialect.indexed_by(vector_table.FACTS.queue)}"
        " WHERE v.fact_id = f.id AND v.embedding IS NULL AND v.generation_id ="
        " (SELECT id FROM memstore_generations WHERE state = 'active')"
    )
    computed = {
        "embed_error": f"(SELECT v.embed_error {queued})",
        "embedded": f"NOT EXISTS (SELECT 1 {queued})",
        "distrusted": "f.id IN (SELECT fact_id FROM memstore_distrusted)",
        "holds_until": HOLDS_UNTIL,
        "as_of": "NULL",
    }
    return ", ".join(computed.get(name, f"f.{name}") for name in FACT_FIELDS)


@cache
def _select(dialect: Dialect) -> str:
    return f"SELECT {_columns(dialect)} FROM memstore_facts f"


def decode(row: Row) -> Fact:
    values = dict(zip(FACT_FIELDS, row, strict=True))
    fact = unchecked(Fact, values)
    read_moments("fact", values, MOMENT_FIELDS)
    values["metadata"] = metadata.decode(values["metadata"])
    if values["slots"] is not None:
        values["slots"] = metadata.decode(values["slots"])
    if values["unsearched"] is not None:
        values["unsearched"] = bool(values["unsearched"])
    values["embedded"] = bool(values["embedded"])
    values["distrusted"] = bool(values["distrusted"])
    return fact


def new_id(transaction: Transaction) -> int:
    return transaction.next_id("memstore_facts")


def new_ids(transaction: Transaction, count: int) -> Sequence[int]:
    return transaction.next_ids("memstore_facts", count)


def insert(
    changes: Changes,
    fact: Fact,
    encoded: Encoded,
    embedding: bytes | None,
    *,
    evidence: Mapping[str, Any] | None = None,
) -> None:
    """Insert a fact with a new id, its embedding, and its line in the journal."""
    row = row_of(fact, encoded)
    told = journalled_text(row, acts.of(changes.transaction).at)
    line = writing.Line(Kind.ADD, fact.id, fact.episode_id, after=told, evidence=evidence)
    changes.insert(Write(INSERTION, row), line)
    _place_vector(changes.transaction, fact, embedding)


def insert_all(
    changes: Changes, facts: Sequence[Fact], encoded: Iterable[Encoded], blobs: list[bytes | None]
) -> None:
    """Insert facts of no episode with new ids, their embeddings, and a line for each."""
    rows = [*map(row_of, facts, encoded)]
    at = acts.of(changes.transaction).at
    changes.add_all(INSERTION, rows, [journalled_text(row, at) for row in rows])
    if not any(fact.unsearched for fact in facts):
        vector_table.place_each(
            changes.transaction, vector_table.FACTS, [fact.id for fact in facts], blobs
        )
        return
    for fact, blob in zip(facts, blobs, strict=True):
        _place_vector(changes.transaction, fact, blob)


def adopt(adoption: Adoption, fact: Fact, lines: Callable[[Fact], Lines]) -> None:
    """Insert a fact of another file with a new id; its embedding is pending."""
    adoption.adopt(fact, Write(INSERTION, row_of(fact, encoded(fact))), lines)
    _place_vector(adoption.transaction, fact, None)


def _place_vector(transaction: Transaction, fact: Fact, embedding: bytes | None) -> None:
    if fact.unsearched:
        vector_table.place_nothing(transaction, vector_table.FACTS, fact.id)
    else:
        vector_table.place(transaction, vector_table.FACTS, fact.id, embedding)


def row_of(fact: Fact, encoded: Encoded) -> InOrder:
    """Return the row of a fact: the columns :data:`STORED`, then those by which it is found."""
    row = [*stored_values(fact), *encoded.found_by]
    row[METADATA_PLACE] = encoded.metadata
    if fact.slots is not None:
        row[SLOTS_PLACE] = metadata.text_of(fact.slots)
    if fact.unsearched:
        row[UNSEARCHED_PLACE] = 1  # no engine's column holds a truth
    row[CREATED_PLACE] = clock.to_text(fact.created_at)
    if other_moments(row) != NO_OTHER_MOMENTS:  # few facts have one
        for place in OTHER_MOMENT_PLACES:
            if row[place] is not None:
                row[place] = clock.to_text(row[place])
    return tuple(row)


def journalled(fact: Fact) -> dict[str, Any]:
    """Return the values of a fact that the journal keeps."""
    return set_fields(fact, JOURNALLED)


def journalled_text(row: Row, at: str) -> str:
    """Return what a line of this time tells of a new fact, as JSON text, from the fact's row.

    It is :func:`journalled`, without what :func:`memstore.database.journal.with_implied` adds.
    """
    if row[UNSEARCHED_PLACE]:
        row = (*row[:UNSEARCHED_PLACE], True, *row[UNSEARCHED_PLACE + 1 :])
    if row[CREATED_PLACE] == at:
        return MEMBERS_OF_NEW.text(row)
    if row[METADATA_PLACE] is None:
        row = (*row[:METADATA_PLACE], NO_MEMBERS, *row[METADATA_PLACE + 1 :])
    return MEMBERS.text(row)


def retirement(
    fact_id: int,
    new_id: int,
    at: datetime,
    evidence: Mapping[str, Any] | None = None,
    episode_id: int | None = None,
) -> tuple[Line, Write]:
    """Return the journal line and the write for a supersession, perhaps by an episode."""
    after = {"superseded_by": new_id, "superseded_at": clock.to_text(at)}
    return (
        writing.Line(Kind.SUPERSEDE, fact_id, episode_id, after=after, evidence=evidence),
        updating(fact_id, superseded_by=new_id, superseded_at=at),
    )


def release(fact_id: int) -> tuple[Line, Write]:
    """Return the journal line and the write that end a supersession."""
    after = {"superseded_by": None, "superseded_at": None}
    return writing.Line(Kind.UNSUPERSEDE, fact_id, after=after), updating(fact_id, **after)


def encoded(fact: Fact) -> Encoded:
    found = found_by(fact.content, fact.subject, fact.category)
    return Encoded(metadata.text_of(fact.metadata), found)


def found_by(content: str, subject: str, category: str) -> FoundBy:
    return keyed(content, subject, folding.subject_key(subject), folding.subject_key(category))


def keyed(content: str, subject: str, key: str, category_key: str) -> FoundBy:
    """Return by what a fact is found whose keys are known."""
    if content and content.isascii() and subject.isascii():
        return FoundBy(None, key, folding.claim_hash(key, content), category_key)
    composed = folding.composed(content)  # once, because it takes long: both need it
    claim = folding.claim_hash(key, composed) if content else None
    return FoundBy(words.segments(composed, subject), key, claim, category_key)


def _encode(name: str, value: Any) -> Value:
    if isinstance(value, datetime):
        return clock.to_text(value)
    if name in ("metadata", "slots"):
        return metadata.encode(value)
    return value  # type: ignore[no-any-return]


def get(transaction: Transaction, fact_id: int, namespace: str) -> Fact | None:
    """Return one fact of a namespace, in any state."""
    return find(transaction, namespace, id=fact_id) if abs(fact_id) <= MAX_NUMBER else None


def get_many(transaction: Transaction, fact_ids: Sequence[int]) -> dict[int, Fact]:
    """Return facts by id, without those that do not exist. The caller has filtered the ids."""
    rows = transaction.rows(*selecting(transaction, fact_ids))
    return {fact.id: fact for fact in map(decode, rows)}


def selecting(transaction: Transaction, fact_ids: Sequence[int]) -> Statement:
    """Return the query of :func:`get_many`."""
    listed = transaction.dialect.listed("ids")
    return Statement(f"{_select(transaction.dialect)} WHERE f.id IN {listed}", {"ids": fact_ids})


class Claimed(NamedTuple):
    """What a fact says, and since when."""

    id: int
    subject: str
    content: str
    since: tuple[str, str]
    """Since when it is valid, by its ``valid_at`` or else ``created_at``, and when it was stored:
    the later of two facts has the larger one."""
    slots: str | None = None
    """What an extractor found in it, as JSON."""


CLAIM: Final = f"f.id, f.subject, f.content, {BEGAN.format('f')}, f.created_at, f.slots"
"""What is read of ``memstore_facts f`` for a :class:`Claimed`."""


def claims(transaction: Transaction, fact_ids: Sequence[int]) -> dict[int, Claimed]:
    """Return what facts say, by id. The caller has filtered the ids."""
    rows = transaction.rows(
        f"SELECT {CLAIM} FROM memstore_facts f WHERE f.id IN {transaction.dialect.listed('ids')}",
        {"ids": fact_ids},
    )
    return {row[0]: claimed(row) for row in rows}


def claimed(row: Row) -> Claimed:
    id_, subject, content, began, created, slots = row
    return Claimed(id_, subject, content, (began, created), slots)


def _where(transaction: Transaction, test: str, values: Parameters) -> Iterator[Fact]:
    return map(decode, transaction.rows(f"{_select(transaction.dialect)} WHERE {test}", values))


def find(transaction: Transaction, namespace: str, **equals: Value) -> Fact | None:
    """Return the first fact whose columns have these values, in any state."""
    tests = " AND ".join(f"f.{name} = :{name}" for name in ("namespace", *equals))
    row = transaction.one(
        f"{_select(transaction.dialect)} WHERE {tests} ORDER BY f.id LIMIT 1",
        {"namespace": namespace, **equals},
    )
    return None if row is None else decode(row)


class Keyed(Protocol):
    """A fact, or one that is about to be stored."""

    @property
    def external_key(self) -> str | None: ...
    @property
    def scope(self) -> Scope: ...


def of_external_key(transaction: Transaction, keyed: Keyed, namespace: str) -> list[Fact]:
    """Return the current facts with the external key and the owners of a fact, newest first.

    There is at most one, unless an import or a revert brought another. Nothing without a key.

    Args:
        keyed: the fact, or one that is about to be stored.
        namespace: where it is, or will be.
    """
    if keyed.external_key is None:
        return []
    return [*of_external_keys(transaction, namespace, [keyed.external_key], keyed.scope)]


def of_external_keys(
    transaction: Transaction,
    namespace: str,
    external_keys: Sequence[str],
    owners: Scope | AtLeast | None,
    *,
    current: bool = True,
) -> Iterator[Fact]:
    """Yield the facts of these owners (``None``: any) with external keys, newest first.

    Args:
        current: only those that are neither superseded nor deleted; they may have expired.
    """
    state = f" AND {CURRENT}" if current else ""
    test = (
        f"f.namespace = :namespace AND f.external_key IN {transaction.dialect.listed('keys')}"
        f" AND {owned_by(owners)}{state} ORDER BY f.id DESC"
    )
    # In the order of ids, the planner would read the whole namespace.
    select = f"{_select(transaction.dialect)} {transaction.dialect.indexed_by(KEY_INDEX)}"
    values = {"namespace": namespace, "keys": external_keys, **(owners.ids if owners else {})}
    return map(decode, transaction.rows(f"{select} WHERE {test}", values))


def used_external_keys(
    transaction: Transaction, namespace: str, external_keys: Sequence[str]
) -> set[str]:
    """Return which of these external keys facts of the namespace have, in any state."""
    rows = transaction.rows(
        "SELECT DISTINCT external_key FROM memstore_facts WHERE namespace = :namespace"
        f" AND external_key IN {transaction.dialect.listed('keys')}",
        {"namespace": namespace, "keys": external_keys},
    )
    return {str(key) for (key,) in rows}


def select(
    transaction: Transaction,
    wanted: FactFilter,
    page: Page,
) -> Iterator[Fact]:
    """Yield the facts that pass a filter, by id; those between two ids, which are left out."""
    where, values = wanted.where(transaction.dialect)
    order = "DESC" if page.newest_first else "ASC"
    limit, offset = page.limit, page.offset
    where += "" if page.before_id is None else " AND f.id < :before_id"
    where += "" if page.after_id is None else " AND f.id > :after_id"
    index = _narrowest(transaction, wanted, None if limit is None else limit + offset)
    ordered = f"WHERE {where} ORDER BY f.id {order} LIMIT :limit OFFSET :offset"
    if index and limit is not None:  # sort ids, and read only the rows that are wanted
        few = f"SELECT f.id FROM memstore_facts f {index} {ordered}"
        index, ordered = "", f"WHERE f.id IN ({few}) ORDER BY f.id {order}"
    given = {
        **values,
        "limit": NO_LIMIT if limit is None else limit,
        "offset": offset,
        "before_id": page.before_id,
        "after_id": page.after_id,
    }
    return map(decode, transaction.rows(f"{_select(transaction.dialect)} {index} {ordered}", given))


class Said(NamedTuple):
    """What a fact says, and since when it is stored."""

    id: int
    content: str
    metadata: Mapping[str, Any]
    created_at: datetime


def said(transaction: Transaction, wanted: FactFilter) -> list[Said]:
    """Return the facts that pass a filter, by id, with only the columns of :class:`Said`."""
    where, values = wanted.where(transaction.dialect)
    rows = transaction.rows(
        "SELECT f.id, f.content, f.metadata, f.created_at FROM memstore_facts f"
        f" {_narrowest(transaction, wanted, None)} WHERE {where} ORDER BY f.id",
        values,
    )
    found = []
    for id_, content, told, created_at in rows:
        born = {"id": id_, "created_at": created_at}
        read_moments("fact", born, ("created_at",))
        found.append(Said(id_, content, metadata.decode(told), born["created_at"]))
    return found


def _narrowest(transaction: Transaction, wanted: FactFilter, limit: int | None) -> str:
    """Return the hint by which to read a list: an index of what is rare, or nothing."""
    if wanted.namespaces is None or wanted.is_among:
        return ""
    dialect = transaction.dialect
    if wanted.episode_id is not None:
        return dialect.indexed_by("idx_memstore_fact_episode")
    most = NO_LIMIT if limit is None else _few(transaction, limit)
    if wanted.is_keyed:
        is_few = limit is None or len(with_key_prefix(transaction, wanted, most + 1)) <= most
        return dialect.indexed_by(KEY_INDEX if is_few else None)
    for index, test, value in _indexes_of_few(wanted):
        values: dict[str, Any] = {"namespaces": wanted.namespaces, "value": value, "most": most + 1}
        if index == THREAD_INDEX and wanted.scope is not None:
            test, values = f"{test} AND {owned_by(wanted.scope)}", values | wanted.scope.ids
        if index == SUPERSEDED_INDEX:  # those in a row were often superseded together
            values["most"] = 4 * most + 1
        else:
            test += f" AND f.namespace IN {dialect.listed('namespaces')}"
        number = (
            0
            if limit is None
            else transaction.scalar(
                f"SELECT count(*) FROM (SELECT 1 FROM memstore_facts f {dialect.indexed_by(index)}"
                f" WHERE {test} LIMIT :most) t",
                {**values, "now": clock.to_text(wanted.now)},
            )
        )
        if number < values["most"]:
            return dialect.indexed_by(index)
    return ""


def _indexes_of_few(wanted: FactFilter) -> Iterator[tuple[str, str, str | None]]:
    """Yield the indexes that may have few of the facts, with a test of all these, and its value."""
    if wanted.pinned and wanted.active_only and wanted.states is None and wanted.valid_on is None:
        yield PINNED_INDEX, f"f.pinned_at IS NOT NULL AND {CURRENT}", None
    if wanted.states is not None and len(wanted.states) == 1:
        [state] = wanted.states
        if (index := STATE_INDEXES.get(state)) is not None:
            test = "f.superseded_by IS NOT NULL" if state == "superseded" else IN_STATE[state]
            yield index, test, None
    for column, index in RARE.items():
        value = getattr(wanted, column.removesuffix("_key"))
        # Those of one set of owners are in the order of their ids, but in a thread of their places.
        if value is None or (wanted.is_exact and column != "thread"):
            continue
        value = folding.subject_key(value) if column.endswith("_key") else value.strip()
        yield index, f"f.{column} = :value", value


def _few(transaction: Transaction, limit: int) -> int:
    """Return how many rows are few: rather found by an index and sorted than met by id.

    Of ``n`` rows among ``all``, the first ``limit`` are met after about ``all * limit / n``.
    """
    return isqrt(newest_id(transaction) * limit)


def most_used(
    transaction: Transaction, wanted: FactFilter, categories: Sequence[str], limit: int
) -> Iterator[Fact]:
    """Yield the facts of these categories that were confirmed and used most."""
    query, values = _by_uses(transaction, wanted, categories, limit, "IN")
    return map(decode, transaction.rows(f"{_select(transaction.dialect)} {query}", values))


class Uses(NamedTuple):
    """How often a fact was confirmed and used, and when it last was or else was stored."""

    id: int
    number: int
    last: datetime


def uses(
    transaction: Transaction, wanted: FactFilter, categories: Sequence[str], limit: int
) -> list[Uses]:
    """Return the facts of all categories but these that were confirmed and used most."""
    query, values = _by_uses(transaction, wanted, categories, limit, "NOT IN")
    last = ("f.last_used_at", "f.last_confirmed_at", "f.created_at")
    rows = transaction.rows(
        f"SELECT f.id, {USES}, {', '.join(last)} FROM memstore_facts f {query}", values
    )
    return [
        Uses(id_, number, max(map(clock.from_text, filter(None, times))))
        for id_, number, *times in rows
    ]


USES: Final = "f.confirmed_count + f.use_count"


def _by_uses(
    transaction: Transaction,
    wanted: FactFilter,
    categories: Sequence[str],
    limit: int,
    among: str,
) -> tuple[str, dict[str, Any]]:
    """Return the end of a query for used facts, most used first, after its table."""
    where, values = wanted.where(transaction.dialect)
    index = transaction.dialect.indexed_by(
        USED_BY_ANY_INDEX if wanted.scope is None else USED_INDEX
    )
    listed = transaction.dialect.listed("categories")
    return (
        f"{index} WHERE {where} AND f.category_key {among} {listed} AND {USES} > 0"
        f" ORDER BY {USES} DESC, f.id DESC LIMIT :limit",
        {**values, "categories": categories, "limit": limit},
    )


def newest_without(
    transaction: Transaction, wanted: FactFilter, categories: Sequence[str], limit: int
) -> Iterator[Fact]:
    """Yield the newest facts that are in none of these categories."""
    where, values = wanted.where(transaction.dialect)
    among = f"f.category_key NOT IN {transaction.dialect.listed('categories')}"
    test = f"{where} AND {among} ORDER BY f.id DESC LIMIT :limit"
    return _where(transaction, test, {**values, "categories": categories, "limit": limit})


def everything(transaction: Transaction, namespaces: Sequence[str] | None = None) -> Iterator[Fact]:
    """Yield every fact by id, including erased ones."""
    columns = _columns(transaction.dialect)
    return map(decode, ROWS.everything(transaction, columns, namespaces))


def newest_id(transaction: Transaction) -> int:
    return transaction.scalar("SELECT max(id) FROM memstore_facts")


def newer(transaction: Transaction, fact_id: int, wanted: FactFilter) -> int | None:
    """Return the id of a fact that is newer than another and passes a filter."""
    where, values = wanted.where(transaction.dialect)
    row = transaction.one(
        f"SELECT f.id FROM memstore_facts f WHERE f.id > :after AND {where} LIMIT 1",
        {**values, "after": fact_id},
    )
    return None if row is None else int(row[0])


def select_ids(transaction: Transaction, wanted: FactFilter) -> list[int]:
    where, values = wanted.where(transaction.dialect)
    # Unordered: with ORDER BY id, the planner would read the whole namespace.
    return transaction.ints(f"SELECT f.id FROM memstore_facts f WHERE {where}", values)


def ids_of_owners(transaction: Transaction, wanted: FactFilter) -> list[int]:
    """Return the ids of the facts of a filter's namespaces and owners; of active ones, or of all.

    An index has all that is tested, so that no row is read.
    """
    where, values = replace(wanted, among=None).of("f", transaction.dialect)
    retired = wanted.include_deleted or wanted.include_superseded or wanted.valid_on is not None
    state = f" AND {CURRENT}" if wanted.active_only and not retired else ""
    return transaction.ints(f"SELECT f.id FROM memstore_facts f WHERE {where}{state}", values)


def superseded_but_valid(transaction: Transaction, wanted: FactFilter) -> list[int]:
    """Return the ids of superseded facts that pass a filter with :attr:`FactFilter.valid_on`."""
    start, stop = map(clock.to_text, wanted.valid_on or ())
    where, values = replace(wanted, valid_on=None, active_only=False).where(transaction.dialect)
    return transaction.ints(
        "SELECT f.id FROM memstore_facts f"
        f" {transaction.dialect.indexed_by(SUPERSEDED_INDEX)} CROSS JOIN memstore_facts n"
        " WHERE f.superseded_by IS NOT NULL AND n.id = f.superseded_by"
        f" AND {where} AND {SUPERSEDED_BUT_VALID}",
        {**values, "valid_from": start, "valid_to": stop},
    )


def reading_metadata(
    transaction: Transaction, condition: Condition, among: Collection[int]
) -> list[int]:
    """Return the ids of those of the facts that pass a condition that no index finds."""
    clause, values = read_clause(transaction.dialect, condition, "0")
    return transaction.ints(
        f"SELECT f.id FROM memstore_facts f {transaction.dialect.indexed_by(None)}"
        f" WHERE f.id IN {transaction.dialect.listed('among')} AND {clause}",
        {**values, "among": [*among]},
    )


def with_key_prefix(
    transaction: Transaction, wanted: FactFilter, limit: int | None = None
) -> list[int]:
    """Return the ids of facts whose external keys begin as a filter says, in any state."""
    where, values = wanted.keyed(transaction.dialect)
    index = transaction.dialect.indexed_by(KEY_INDEX)
    return transaction.ints(
        f"SELECT f.id FROM memstore_facts f {index} WHERE {where} LIMIT :most",
        {**values, "most": NO_LIMIT if limit is None else limit},
    )


def key_folders(transaction: Transaction, wanted: FactFilter, delimiter: str) -> dict[str, int]:
    """Return the beginnings of current facts' external keys, each with how many facts have it.

    Args:
        wanted: the namespaces, owners and prefix of the keys.
        delimiter: a beginning ends with the first one after the prefix; keys without are left out.
    """
    dialect = transaction.dialect
    where, values = wanted.keyed(dialect)
    rest = "substr(f.external_key, CAST(:length AS INTEGER) + 1)"
    # Expired and distrusted ones have indexes of their own, so that no rows are read.
    expired = (
        f"SELECT id FROM memstore_facts {dialect.indexed_by('idx_memstore_expiring')}"
        " WHERE expired_at <= :now AND superseded_by IS NULL AND deleted_at IS NULL"
    )
    rows = transaction.rows(
        f"SELECT substr({rest}, 1, {dialect.position(rest, ':delimiter')} - 1) AS folder, count(*)"
        f" FROM memstore_facts f {dialect.indexed_by(KEY_INDEX)}"
        f" WHERE {where} AND {CURRENT} AND {dialect.position(rest, ':delimiter')} > 0"
        f" AND f.id NOT IN ({expired}) AND f.id NOT IN {DISTRUSTED} GROUP BY 1",
        {
            **values,
            "length": len(wanted.external_key_prefix or ""),
            "delimiter": delimiter,
            "now": clock.to_text(wanted.now),
        },
    )
    prefix = wanted.external_key_prefix or ""
    return {f"{prefix}{folder}{delimiter}": number for folder, number in sorted(rows)}


def first_stored(
    transaction: Transaction,
    namespace: str,
    external_keys: Sequence[str],
    owners: Scope | AtLeast | None,
) -> dict[str, datetime]:
    """Return when facts with external keys were first stored, since they were last deleted."""
    index = transaction.dialect.indexed_by(KEY_INDEX)
    same = f"namespace = :namespace AND {owned_by(owners)}"
    rows = transaction.rows(
        "SELECT b.external_key, b.created_at FROM memstore_facts b WHERE b.id IN ("
        f"SELECT min(f.id) FROM memstore_facts f {index} WHERE {same}"
        f" AND f.external_key IN {transaction.dialect.listed('keys')} AND f.deleted_at IS NULL"
        f" AND f.id > coalesce((SELECT max(d.id) FROM memstore_facts d {index} WHERE"
        f" {same.replace('namespace =', 'd.namespace =')} AND d.external_key = f.external_key"
        " AND d.deleted_at IS NOT NULL), 0) GROUP BY f.external_key)",
        {"namespace": namespace, "keys": external_keys, **(owners.ids if owners else {})},
    )
    return {str(key): clock.from_text(str(at)) for key, at in rows}


def old_versions(
    transaction: Transaction,
    namespace: str,
    prefix: str,
    owners: Scope | AtLeast | None,
    keep: int | None,
    before: datetime | None,
) -> list[int]:
    """Return the superseded facts under keys with a prefix that are not to be kept.

    Args:
        owners: whose they are; ``None``: anybody's.
        keep: of each key, this many of the newest superseded facts are kept; ``None``: any number.
        before: those superseded before this are not kept.
    """
    found = Conditions("f")
    found.add_equal("namespace", namespace)
    found.add_prefix("external_key", prefix)
    where, values = found.sql
    tests = {
        "place > :keep": keep,
        "since < :before": None if before is None else clock.to_text(before),
    }
    return transaction.ints(
        "SELECT t.id FROM (SELECT f.id, row_number() OVER"
        " (PARTITION BY f.external_key, f.user_id, f.agent_id, f.run_id ORDER BY f.id DESC)"
        " AS place, (SELECT n.created_at FROM memstore_facts n WHERE n.id = f.superseded_by)"
        f" AS since FROM memstore_facts f {transaction.dialect.indexed_by(KEY_INDEX)}"
        f" WHERE {where} AND {owned_by(owners)}"
        " AND f.superseded_by IS NOT NULL AND f.content <> '') t"
        f" WHERE {' OR '.join(test for test, given in tests.items() if given is not None)}"
        " ORDER BY t.id",
        {
            **values,
            **(owners.ids if owners else {}),
            "keep": keep,
            "before": tests["since < :before"],
        },
    )


def with_metadata(transaction: Transaction, condition: MetadataFilter) -> list[int]:
    """Return the ids of facts that pass a filter; for ``= None``, of those that do not."""
    return transaction.ints(*having(transaction.dialect, condition))


def with_key(transaction: Transaction, key: str) -> list[int]:
    """Return the ids of the facts whose metadata has a key."""
    return transaction.ints(*having_key(transaction.dialect, key))


def visible(transaction: Transaction, fact_ids: Sequence[int], wanted: FactFilter) -> set[int]:
    where, values = wanted.where(transaction.dialect, by_id=True)
    return {
        *transaction.ints(
            # By id: the planner would prefer to read the whole namespace.
            f"SELECT f.id FROM memstore_facts f {transaction.dialect.indexed_by(None)}"
            f" WHERE f.id IN {transaction.dialect.listed('ids')} AND {where}",
            {**values, "ids": fact_ids},
        )
    }


def neighbours(
    transaction: Transaction, fact: Fact, wanted: FactFilter, limit: int
) -> tuple[list[Fact], list[Fact]]:
    """Return up to ``limit`` facts before and after one in its thread, in order.

    ``wanted`` must select the fact's namespace and owners.
    """
    select = f"{_select(transaction.dialect)} {transaction.dialect.indexed_by(THREAD_INDEX)}"
    return threads.neighbours(transaction, select, decode, fact, wanted, limit)


def is_task(subject: str, metadata: Mapping[str, Any] | None) -> bool:
    """Return whether a fact is a task, as :func:`memstore.database.filters.is_task` says in SQL."""
    return (metadata or {}).get("kind") == "task" and folding.subject_key(subject) == TODO


def open_task(dialect: Dialect) -> str:
    """Return the condition that a fact is an open task."""
    kind, status = (dialect.member("f.metadata", f"'{key}'") for key in ("kind", "status"))
    return (
        f"f.subject_key = '{TODO}' AND {kind} = 'task'"
        f" AND {status} IN {tuple(map(str, tasks.OPEN_STATUSES))}"
    )


def births(
    transaction: Transaction, fact_ids: Sequence[int], categories: Sequence[str]
) -> list[tuple[int, str, datetime]]:
    """Return ``(id, category key, created_at)`` of facts in these categories that can decay.

    Open tasks do not decay: they are as urgent after a month as on the first day.
    """
    dialect = transaction.dialect
    rows = transaction.rows(
        "SELECT f.id, f.category_key, f.created_at FROM memstore_facts f"
        f" WHERE f.id IN {dialect.listed('ids')}"
        f" AND f.category_key IN {dialect.listed('categories')}"
        f" AND ({open_task(dialect)}) IS NOT TRUE",
        {"ids": fact_ids, "categories": categories},
    )
    return [(fact_id, category, clock.from_text(at)) for fact_id, category, at in rows]


def count(transaction: Transaction, wanted: FactFilter) -> int:
    where, values = wanted.where(transaction.dialect)
    few = next((index for index, _, value in _indexes_of_few(wanted) if value is None), None)
    if wanted.thread is not None and wanted.namespaces is not None:
        few = THREAD_INDEX  # the planner would prefer to read the rows of all active facts
    index = "" if few is None else transaction.dialect.indexed_by(few)
    return transaction.scalar(
        f"SELECT count(*) FROM memstore_facts f {index} WHERE {where}", values
    )


def count_in(transaction: Transaction, namespace: str, fact_ids: Sequence[int]) -> int:
    """Return how many of these facts are in a namespace."""
    return transaction.scalar(
        "SELECT count(*) FROM memstore_facts WHERE namespace = :namespace"
        f" AND id IN {transaction.dialect.listed('ids')}",
        {"namespace": namespace, "ids": fact_ids},
    )


def newest_of(
    transaction: Transaction, wanted: FactFilter, name: str, key: str, number: int
) -> tuple[int, str]:
    """Return the id of the newest fact of a subject that passes a filter, and the subject in it.

    Args:
        name: ``subject``, or ``category`` for that of a category.
        number: about how many facts pass.
    """
    where, values = wanted.where(transaction.dialect)
    # The index has all that is tested; in the order of ids, rows would be read until one is met.
    by_key = _by_key(wanted, number)
    index = transaction.dialect.indexed_by(RARE[f"{name}_key"]) if by_key else ""
    row = transaction.one(
        f"SELECT f.id, f.{name} FROM memstore_facts f WHERE f.id = (SELECT max(f.id)"
        f" FROM memstore_facts f {index} WHERE {where} AND f.{name}_key = :key)",
        {**values, "key": key},
    )
    return (0, key) if row is None else (int(row[0]), str(row[1]))


def spelled(transaction: Transaction, name: str, ids: Sequence[int]) -> dict[int, str]:
    """Return the ``subject`` or the ``category`` of facts, by id."""
    rows = transaction.rows(
        f"SELECT f.id, f.{name} FROM memstore_facts f"
        f" WHERE f.id IN {transaction.dialect.listed('ids')}",
        {"ids": ids},
    )
    return {int(id_): str(told) for id_, told in rows}


def newest_of_each(
    transaction: Transaction, wanted: FactFilter, name: str, numbers: Mapping[str, int]
) -> dict[str, tuple[int, str]]:
    """Return what :func:`newest_of` does for each of these keys.

    Args:
        numbers: about how many facts of each pass.
    """
    where, values = wanted.where(transaction.dialect)
    # Of one set of owners, the index has the newest one of each key at once.
    together = not wanted.is_exact
    few = [key for key, number in numbers.items() if together and _by_key(wanted, number)]
    rows = transaction.rows(
        f"SELECT n.{name}_key, n.id, n.{name} FROM memstore_facts n WHERE n.id IN"
        " (SELECT max(f.id) FROM memstore_facts f"
        f" {transaction.dialect.indexed_by(RARE[f'{name}_key'])} WHERE {where} AND f.{name}_key"
        f" IN {transaction.dialect.listed('keys')} GROUP BY f.{name}_key)",
        {**values, "keys": few},
    )
    found = {str(key): (int(id_), str(told)) for key, id_, told in rows}
    return {
        key: found.get(key) or newest_of(transaction, wanted, name, key, number)
        for key, number in numbers.items()
    }


def _by_key(wanted: FactFilter, number: int) -> bool:
    """Whether the newest fact of a key is found by its key, and not among all facts."""
    return wanted.namespaces is not None and (wanted.is_exact or number <= MANY)


def chain(transaction: Transaction, fact_id: int) -> list[Fact]:
    """Return the whole chain of a fact, oldest first; nothing if there is no such fact."""
    ids = ids_of_chain(transaction, fact_id)
    return chains.in_order(get_many(transaction, ids).values())


def ids_of_chain(transaction: Transaction, fact_id: int) -> list[int]:
    """Return the facts of a whole chain, in no order; nothing if there is no such fact."""
    return transaction.ints(CHAIN, {"id": fact_id}) if abs(fact_id) <= MAX_NUMBER else []


def chains_of(transaction: Transaction, fact_ids: Sequence[int]) -> dict[int, list[Fact]]:
    """Return the whole chain of each of these facts that exist, oldest first."""
    known = [id_ for id_ in dict.fromkeys(fact_ids) if abs(id_) <= MAX_NUMBER]
    members = {id_: transaction.ints(CHAIN, {"id": id_}) for id_ in known}
    facts = get_many(transaction, [*{one for chain in members.values() for one in chain}])
    return {
        id_: chains.in_order(facts[one] for one in chain) for id_, chain in members.items() if chain
    }


class Supersession(NamedTuple):
    fact_id: int
    superseded_by: int
    same_namespace: bool


def links(transaction: Transaction) -> list[Supersession]:
    rows = transaction.rows(
        "SELECT f.id, f.superseded_by, f.namespace = s.namespace"
        " FROM memstore_facts f JOIN memstore_facts s ON s.id = f.superseded_by ORDER BY f.id"
    )
    return [Supersession(fact_id, by, bool(same)) for fact_id, by, same in rows]


def without_episode(transaction: Transaction) -> list[int]:
    """Return the facts whose episode is not in their namespace."""
    return transaction.ints(
        "SELECT id FROM memstore_facts f WHERE episode_id IS NOT NULL AND NOT EXISTS"
        " (SELECT 1 FROM memstore_episodes e WHERE e.id = f.episode_id"
        "  AND e.namespace = f.namespace) ORDER BY id"
    )


def circles(transaction: Transaction) -> list[list[int]]:
    return chains.circles(
        dict(
            transaction.rows(
                "SELECT id, superseded_by FROM memstore_facts WHERE superseded_by IS NOT NULL"
            )
        )
    )


def foreign(transaction: Transaction, limit: int) -> list[int]:
    """Return the first facts that another program inserted and nobody has adopted yet.

    A fact that the journal knows is none of them, such as an erased one whose text is back.
    """
    return transaction.ints(
        "SELECT id FROM memstore_facts f WHERE claim_hash IS NULL AND content <> ''"
        " AND NOT EXISTS (SELECT 1 FROM memstore_journal WHERE fact_id = f.id"
        "  AND kind IN ('add', 'adopt', 'erase')) ORDER BY id LIMIT :limit",
        {"limit": limit},
    )


def of_subject(transaction: Transaction, namespace: str, subject: str) -> list[Fact]:
    """Return all facts of a subject, including superseded and deleted ones, oldest first."""
    test = "f.namespace = :namespace AND f.subject_key = :subject ORDER BY f.created_at, f.id"
    return [
        *_where(
            transaction, test, {"namespace": namespace, "subject": folding.subject_key(subject)}
        )
    ]


def updating(fact_id: int, **columns: Any) -> Write:
    values = {name: _encode(name, value) for name, value in columns.items()}
    return Write(_setting(*columns), {**values, "id": fact_id})


@cache
def _setting(*columns: str) -> Update:
    return Update("memstore_facts", settings(*columns), BY_ID)


def erasure(fact: Fact, at: datetime) -> Line:
    """Return the line of a fact that is erased, with what is left of it: its place in its chain."""
    left = replace(fact, **BLANK, metadata={}, deleted_at=at)
    return writing.Line(Kind.ERASE, fact.id, after=journalled(left))


def blanking(fact_id: int, at: datetime) -> list[Write]:
    """Return the writes that blank a fact; its empty row keeps the chain complete."""
    columns = {**BLANK, **found_by("", "", "")._asdict(), "metadata": None, "deleted_at": at}
    return [updating(fact_id, **columns), vector_table.forgetting(vector_table.FACTS, fact_id)]


def lengths(transaction: Transaction, ids: Sequence[int]) -> dict[int, int]:
    """Return the bytes of each text."""
    listed = transaction.dialect.listed("ids")
    sql = f"SELECT id, octet_length(content) FROM memstore_facts WHERE id IN {listed}"
    return dict(transaction.rows(sql, {"ids": ids}))


def refile(fact_ids: Sequence[int], transaction: Transaction) -> None:
    """Correct the derived columns and the table of metadata members for these facts."""
    for fact_id, held, right in [*all_found_by(transaction, fact_ids)]:
        if held != right:
            transaction.run(_setting(*FoundBy._fields), {**right._asdict(), "id": fact_id})
    these = f"fact_id IN {transaction.dialect.listed('ids')}"
    table, columns = derivations.MEMBERS.table, derivations.MEMBERS.columns
    members = f"SELECT DISTINCT * FROM memstore_fact_members_read WHERE {these}"
    transaction.run(Delete(table, these), {"ids": fact_ids})
    transaction.run(Insert(table, columns, columns, f"({members}) AS held"), {"ids": fact_ids})


def key_categories(transaction: Transaction) -> None:
    """Derive the keys of all categories, in a file that lacked them."""
    for (category,) in [*transaction.rows("SELECT DISTINCT category FROM memstore_facts")]:
        transaction.run(
            Update("memstore_facts", {"category_key": ":key"}, "category = :category"),
            {"key": folding.subject_key(str(category or "")), "category": category},
        )


def touch(
    transaction: Transaction, uses: Mapping[int, int], namespace: str | None, at: datetime
) -> int:
    """Add to the use counts; a ``namespace`` is only needed for ids that a caller named."""
    bound = "" if namespace is None else " AND namespace = :namespace"
    values = {"namespace": namespace, "at": clock.to_text(at)}
    ids: dict[int, list[int]] = {}
    for fact_id, number in uses.items():
        if abs(fact_id) <= MAX_NUMBER:
            ids.setdefault(number, []).append(fact_id)
    return sum(
        transaction.run(
            Update(
                "memstore_facts",
                {"use_count": "use_count + :number", "last_used_at": ":at"},
                f"id IN {transaction.dialect.listed('ids')}{bound}",
            ),
            {**values, "number": number, "ids": those},
        )
        for number, those in ids.items()
    )


def texts(transaction: Transaction, fact_ids: Sequence[int]) -> list[Row]:
    """Return ``(id, subject, content, category)`` of facts, by id."""
    rows = transaction.rows(
        "SELECT id, subject, content, category FROM memstore_facts"
        f" WHERE id IN {transaction.dialect.listed('ids')} ORDER BY id",
        {"ids": fact_ids},
    )
    return [*rows]


def all_found_by(
    transaction: Transaction, fact_ids: Sequence[int] | None = None
) -> Iterator[tuple[int, FoundBy, FoundBy]]:
    """Yield ``(id, stored, correct)`` derived columns of these facts (``None``: all), by id."""
    these = "" if fact_ids is None else f" WHERE id IN {transaction.dialect.listed('ids')}"
    rows = transaction.rows(
        f"SELECT id, content, subject, category, {', '.join(FoundBy._fields)}"
        f" FROM memstore_facts{these} ORDER BY id",
        {"ids": fact_ids},
    )
    for fact_id, content, subject, category, *held in rows:
        # A damaged page may return NULL for a NOT NULL column.
        yield fact_id, FoundBy(*held), found_by(content or "", subject or "", category or "")


def misfiled_members(transaction: Transaction) -> list[int]:
    """Return the ids of the facts whose metadata differs from the table of members."""
    members = derivations.MEMBERS
    right = f"SELECT {', '.join(members.columns)} FROM memstore_fact_members_read"
    return transaction.ints(members.misfiled(right))


def misformed(transaction: Transaction) -> Iterator[str]:
    """Yield the ids of facts with values in another form than written, and the columns.

    What the original memstore or another program wrote keeps the form that they gave it.
    """
    forms = dict.fromkeys(sorted(MOMENT_FIELDS.intersection(STORED)), rewritten_moment)
    added = f"SELECT fact_id FROM memstore_journal WHERE kind = '{Kind.ADD}'"
    ours = f"memstore_facts WHERE id IN ({added})"
    return misformed_rows(transaction, ours, {**forms, "metadata": _rewritten, "slots": _rewritten})


def _rewritten(text: str) -> str | None:
    return metadata.text_of(metadata.decode(text))


class ErasedFact(NamedTuple):
    """The remains of an erased fact that was extracted from an episode."""

    uuid: str
    erased_at: datetime
    salt: str
    episode_uuid: str
    episode_created_at: datetime


def of_episode(transaction: Transaction, namespace: str, episode_id: int) -> list[Fact]:
    test = "f.namespace = :namespace AND f.episode_id = :episode_id ORDER BY f.id"
    return [*_where(transaction, test, {"namespace": namespace, "episode_id": episode_id})]


def saying(
    transaction: Transaction, namespace: str, subject: str, content: str, scope: Scope
) -> list[Fact]:
    """Return the facts of exactly these owners that say this, in any state, by id.

    Spacing and a final full stop are ignored; letter case is not.
    """
    claim = folding.claim(subject, content)
    return [
        fact
        for fact in _spelt_alike(transaction, namespace, subject, content, scope)
        if folding.claim(fact.subject, fact.content) == claim
    ]


def in_other_case(transaction: Transaction, fact: Fact) -> list[Fact]:
    """Return the facts of a fact's owners that differ from it in letter case alone, by id."""
    claim = folding.claim(fact.subject, fact.content)
    key, said = claim[0], folding.folded(fact.content)
    alike = _spelt_alike(transaction, fact.namespace, fact.subject, fact.content, fact.scope)
    return [
        other
        for other in alike
        if folding.claim(other.subject, other.content) != claim
        and (folding.subject_key(other.subject), folding.folded(other.content)) == (key, said)
    ]


def _spelt_alike(
    transaction: Transaction, namespace: str, subject: str, content: str, scope: Scope
) -> Iterator[Fact]:
    """Yield the facts with the hash of a claim, which ignores case; others may share it."""
    test = f"f.claim_hash = :claim AND f.namespace = :namespace AND {SAME_OWNERS} ORDER BY f.id"
    hashed = folding.claim_hash(folding.subject_key(subject), content)
    return _where(transaction, test, {"claim": hashed, "namespace": namespace, **scope.ids})


def used_claims(transaction: Transaction, namespace: str, claims: Sequence[int]) -> set[int]:
    """Return which of these claim hashes facts of the namespace have."""
    return {
        *transaction.ints(
            "SELECT claim_hash FROM memstore_facts"
            f" WHERE claim_hash IN {transaction.dialect.listed('claims')}"
            " AND namespace = :namespace",
            {"claims": claims, "namespace": namespace},
        )
    }


def with_uuids(transaction: Transaction, namespace: str, uuids: Sequence[str]) -> list[Fact]:
    test = f"f.namespace = :namespace AND f.uuid IN {transaction.dialect.listed('uuids')}"
    return [*_where(transaction, test, {"namespace": namespace, "uuids": uuids})]


def erased_among(transaction: Transaction, namespace: str, uuids: Sequence[str]) -> set[str]:
    """Return those of these UUIDs that erased facts have."""
    rows = transaction.rows(
        "SELECT uuid FROM memstore_facts WHERE namespace = :namespace"
        f" AND uuid IN {transaction.dialect.listed('uuids')}"
        " AND content = '' AND deleted_at IS NOT NULL",
        {"namespace": namespace, "uuids": uuids},
    )
    return {str(uuid) for (uuid,) in rows}


def ids_of(transaction: Transaction, namespace: str, uuids: Sequence[str]) -> dict[str, int]:
    """Return the ids of the facts with these UUIDs."""
    rows = transaction.rows(
        "SELECT uuid, id FROM memstore_facts"
        f" WHERE namespace = :namespace AND uuid IN {transaction.dialect.listed('uuids')}",
        {"namespace": namespace, "uuids": uuids},
    )
    return {str(uuid): int(id_) for uuid, id_ in rows}


def uuids_of(transaction: Transaction, namespace: str, ids: Sequence[int]) -> dict[int, str]:
    """Return the UUIDs of the facts with these ids, also of erased ones."""
    rows = transaction.rows(
        # By id: the planner would prefer to read the UUIDs of the whole namespace.
        f"SELECT id, uuid FROM memstore_facts {transaction.dialect.indexed_by(None)}"
        f" WHERE namespace = :namespace AND id IN {transaction.dialect.listed('ids')}",
        {"namespace": namespace, "ids": ids},
    )
    return {int(id_): str(uuid) for id_, uuid in rows}


def deleted_at(
    transaction: Transaction, namespace: str, at: datetime, owners: Scope | AtLeast | None
) -> list[int]:
    """Return the ids of the facts of these owners (``None``: any) deleted at one moment."""
    return transaction.ints(
        "SELECT id FROM memstore_facts WHERE namespace = :namespace AND deleted_at = :at"
        f" AND content <> '' AND {owned_by(owners)} ORDER BY id",
        {"namespace": namespace, "at": clock.to_text(at), **(owners.ids if owners else {})},
    )


def began(transaction: Transaction, fact_ids: Sequence[int]) -> dict[int, datetime]:
    """Return since when facts are valid, by id."""
    rows = transaction.rows(
        f"SELECT f.id, {BEGAN.format('f')} FROM memstore_facts f"
        f" WHERE f.id IN {transaction.dialect.listed('ids')}",
        {"ids": fact_ids},
    )
    return {int(fact_id): clock.from_text(at) for fact_id, at in rows}


def superseded_by(transaction: Transaction, fact_id: int) -> list[Fact]:
    return [*_where(transaction, "f.superseded_by = :id ORDER BY f.id", {"id": fact_id})]


def all_superseded_by(transaction: Transaction, fact_ids: Sequence[int]) -> list[Fact]:
    """Return the facts that any of these superseded, by id."""
    test = f"f.superseded_by IN {transaction.dialect.listed('ids')} ORDER BY f.id"
    return [*_where(transaction, test, {"ids": fact_ids})]


def erased(transaction: Transaction, namespace: str) -> list[ErasedFact]:
    """Return the erased facts of a namespace whose episode is not erased."""
    rows = transaction.rows(
        "SELECT f.uuid, f.deleted_at, e.salt, e.uuid, e.created_at FROM memstore_facts f"
        " JOIN memstore_episodes e ON e.id = f.episode_id"
        " WHERE f.namespace = :namespace AND f.deleted_at IS NOT NULL AND f.content = ''"
        " AND e.salt IS NOT NULL",
        {"namespace": namespace},
    )
    return [
        ErasedFact(uuid, clock.from_text(at), salt, episode, clock.from_text(recorded_at))
        for uuid, at, salt, episode, recorded_at in rows
    ]


def drawn_from(transaction: Transaction, episode_ids: Sequence[int]) -> set[int]:
    """Return those of these episodes that facts were drawn from."""
    return {
        *transaction.ints(
            "SELECT DISTINCT episode_id FROM memstore_facts"
            f" WHERE episode_id IN {transaction.dialect.listed('ids')}",
            {"ids": episode_ids},
        )
    }


def ids_in(transaction: Transaction, namespace: str) -> list[int]:
    """Return the ids of a namespace's facts that were not erased, in order."""
    return transaction.ints(
        "SELECT id FROM memstore_facts WHERE namespace = :namespace AND content <> '' ORDER BY id",
        {"namespace": namespace},
    )
