"""The data that a search index holds: what filters use, words and vectors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from memstore.database import dialect
from memstore.database.engine import Statement
from memstore.database.filters import is_task
from memstore.database.tables import vectors as vector_table
from memstore.database.tables.facts import open_task
from memstore.database.tables.vectors import whole
from memstore.lazy import lazy_import
from memstore.named import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from memstore.database.dialect import Dialect
    from memstore.database.engine import Parameters, Row, Transaction
    from memstore.database.tables.vectors import VectorTable
    from memstore.domain import project_names
else:
    project_names = lazy_import("memstore.domain.project_names")

SUPERSEDED, DELETED, ERASED, OWNED, TASK, DISTRUSTED = 1, 2, 4, 8, 16, 32
"""Bits of a row's flags."""

EXPIRES, CREATED, VALID = range(3)
"""The positions in a row's ``moments``."""


class RowOrigin(NamedTuple):
    """The speaker of a row, its place in a conversation, and its times."""

    speaker: str | None
    """For a fact, its subject."""
    thread: str | None
    """Includes the namespace and owners, which distinguish threads of the same name."""
    seq: int | None
    valid_at: str | None
    created_at: str | None
    confirmed_at: str | None
    """When a fact was last confirmed."""
    ages_as: str | None
    """The key of the category of a fact that can age."""


class IndexedRow(NamedTuple):
    id: int
    namespace: str
    flags: int
    texts: tuple[str | None, str | None]
    """Texts that filters use: the keys of subject and category, or the source."""
    moments: tuple[str | None, str | None, str | None]
    said: RowOrigin
    words: tuple[str | None, ...]
    """The columns of the full-text index; the first is the content."""

    @property
    def has_words(self) -> bool:
        """Whether a search can find it by words: not if it was erased, or is not searched."""
        return bool(self.words[0])


class Range(NamedTuple):
    """The rows after an id, ordered by id."""

    after: int
    limit: int


class RowsSince(NamedTuple):
    """The rows that changed since a position of their feed; any of them if there are too many."""

    position: int
    limit: int


class Source(NamedTuple):
    """The table and columns for rows of one kind."""

    table: str
    key: str
    """The column of their id."""
    columns: str
    """The columns that :func:`_row` reads."""
    vectors: VectorTable
    changed: str
    """A query for ids of rows that changed since a ``:position``, at most ``:limit``."""
    changed_vectors: str
    """The same for vectors."""


CHANGED_FACTS: Final = (
    "SELECT DISTINCT id FROM memstore_fact_changes WHERE seq > :position LIMIT :limit"
)
CHANGED_EPISODES: Final = (
    "SELECT DISTINCT {0} FROM memstore_episode_changes WHERE seq > :position AND {1} LIMIT :limit"
)

FACTS: Final = Source(
    table="memstore_facts f",
    key="f.id",
    columns="f.id, f.namespace, f.superseded_by IS NOT NULL, f.deleted_at IS NOT NULL,"
    " f.content = '', coalesce(f.user_id, f.agent_id, f.run_id) IS NOT NULL, {is_task},"
    " f.id IN (SELECT fact_id FROM memstore_distrusted),"
    " f.subject_key, f.category_key,"
    " f.expired_at, f.created_at, coalesce(f.valid_at, f.created_at),"
    " f.subject, f.thread, f.user_id, f.agent_id, f.run_id, f.seq, f.valid_at, f.created_at,"
    " f.last_confirmed_at,"
    " CASE WHEN {is_open_task} THEN NULL ELSE f.category_key END,"
    # What no search finds has no words, and no vector either.
    " CASE WHEN f.unsearched IS NULL THEN f.content END,"
    " CASE WHEN f.unsearched IS NULL THEN f.subject END,"
    " CASE WHEN f.unsearched IS NULL THEN f.category END,"
    " CASE WHEN f.unsearched IS NULL THEN f.segments END",
    vectors=vector_table.FACTS,
    changed=CHANGED_FACTS,
    changed_vectors=CHANGED_FACTS,
)

EPISODES: Final = Source(
    table="memstore_episodes e",
    key="e.id",
    columns="e.id, e.namespace, FALSE, FALSE,"
    " e.content_hash = '', coalesce(e.user_id, e.agent_id, e.run_id) IS NOT NULL, FALSE,"
    " e.id IN (SELECT episode_id FROM memstore_distrusted_episodes),"
    " e.source, NULL, e.expired_at, e.created_at, coalesce(e.valid_at, e.created_at),"
    " e.speaker, e.thread, e.user_id, e.agent_id, e.run_id, e.seq, e.valid_at, e.created_at,"
    " NULL, NULL,"
    " e.content, e.name, e.source_description, e.segments",
    vectors=vector_table.PIECES,
    changed=CHANGED_EPISODES.format("id", "piece_id IS NULL"),
    changed_vectors=CHANGED_EPISODES.format("piece_id", "piece_id IS NOT NULL"),
)


def projects(transaction: Transaction, source: Source, ids: Sequence[int]) -> dict[int, str]:
    """Return the projects that rows come from, by id, of those that name one.

    What is about the user is of none.
    """
    alias = source.key.partition(".")[0]
    project = transaction.dialect.member(f"{alias}.metadata", f"'{project_names.MEMBER}'")
    of_user = ", ".join(f"'{one}'" for one in sorted(project_names.ABOUT_THE_USER))
    only = f" AND f.category_key NOT IN ({of_user})" if alias == "f" else ""
    among = transaction.dialect.listed("ids")
    found = transaction.rows(
        f"SELECT {source.key}, {project} FROM {source.table} WHERE {source.key} IN {among}{only}",
        {"ids": [*ids]},
    )
    return {id_: str(named) for id_, named in found if named is not None}


def rows(
    transaction: Transaction, source: Source, which: Sequence[int] | Range | RowsSince
) -> Iterator[IndexedRow]:
    """Yield the existing rows with these ids."""
    return map(_row, transaction.rows(*selecting(transaction.dialect, source, which)))


def selecting(
    of_engine: Dialect, source: Source, which: Sequence[int] | Range | RowsSince
) -> Statement:
    """Return the query of :func:`rows`."""
    test, values = _which(of_engine, source.key, source.changed, which)
    of_tasks = {
        "is_task": f"({is_task(of_engine)}) IS TRUE",
        "is_open_task": open_task(of_engine),
    }
    columns = source.columns.format(**of_tasks)
    return Statement(f"SELECT {columns} FROM {source.table} WHERE {test}", values)


def _row(row: Row) -> IndexedRow:
    id_, namespace, superseded, deleted, erased, owned, task, distrusted, *rest = row
    flags = SUPERSEDED * superseded + DELETED * deleted + ERASED * erased + OWNED * owned
    flags += TASK * task + DISTRUSTED * distrusted
    first, second, expires, created, valid, *rest = rest
    speaker, thread, user_id, agent_id, run_id, seq, *rest = rest
    valid_at, created_at, confirmed_at, ages_as, *words = rest
    if thread is not None:
        thread = repr((namespace, user_id, agent_id, run_id, thread))
    return IndexedRow(
        id_,
        namespace,
        flags,
        (first, second),
        (expires, created, valid),
        RowOrigin(speaker, thread, seq, valid_at, created_at, confirmed_at, ages_as),
        tuple(words),
    )


class IndexedVector(NamedTuple):
    id: int
    """The id of the fact, or of the piece of an episode."""
    row_id: int
    """Zero if the row is deleted or erased."""
    blob: bytes | None
    """``None`` if the row is deleted or erased, or has no vector of the right length."""


def vectors(
    transaction: Transaction,
    source: Source,
    generation_id: int,
    size_bytes: int,
    which: Sequence[int] | Range | RowsSince,
) -> Iterator[IndexedVector]:
    """Yield the vectors of facts or pieces.

    Vectors whose length is not ``size_bytes`` are left out; the doctor reports them.
    """
    query = selecting_vectors(transaction.dialect, source, generation_id, which)
    for id_, row_id, stored in transaction.rows(*query):
        vector = None if row_id is None else whole(stored)
        is_there = vector is not None and len(vector) == size_bytes
        yield IndexedVector(id_, row_id or 0, vector if is_there else None)


def selecting_vectors(
    of_engine: Dialect,
    source: Source,
    generation_id: int,
    which: Sequence[int] | Range | RowsSince,
) -> Statement:
    """Return the query of :func:`vectors`."""
    table = source.vectors
    test, values = _which(of_engine, f"v.{table.owner}", source.changed_vectors, which)
    # The row is no join: a server that expects few rows of a memory pairs each with each.
    return Statement(
        f"SELECT v.{table.owner}, (SELECT {table.row} FROM {table.owners} {table.alias}"
        f" WHERE {table.link} AND {table.living}), v.embedding"
        f" FROM {table.name} v WHERE v.generation_id = :generation AND {test}",
        {**values, "generation": generation_id},
    )


def extent(transaction: Transaction, source: Source) -> tuple[int, int]:
    """Return the number of rows and the largest id."""
    row = transaction.one(f"SELECT count(*), max({source.key}) FROM {source.table}")
    return (0, 0) if row is None else (int(row[0]), int(row[1] or 0))


def has_any(transaction: Transaction, source: Source, namespaces: Sequence[str] | None) -> bool:
    """Return whether namespaces (``None``: all) hold any row, in any state."""
    within = dialect.within(transaction.dialect, "namespace", namespaces)
    query = f"SELECT EXISTS (SELECT 1 FROM {source.table}{within})"
    return bool(transaction.scalar(query, {"namespaces": namespaces}))


def ids_with_uuids(
    transaction: Transaction,
    source: Source,
    uuids: Sequence[str],
    namespaces: Sequence[str] | None,
) -> dict[str, int]:
    """Return the ids of the rows of some namespaces (``None``: all) with these UUIDs."""
    if not uuids:
        return {}
    within = dialect.within(transaction.dialect, "namespace", namespaces)
    condition = f"{within} AND" if within else " WHERE"
    rows = transaction.rows(
        f"SELECT uuid, {source.key} FROM {source.table}{condition}"
        f" uuid IN {transaction.dialect.listed('uuids')}",
        {"namespaces": namespaces, "uuids": uuids},
    )
    return {str(uuid): int(id_) for uuid, id_ in rows}


def largest_id(transaction: Transaction, source: Source) -> int:
    """Return the largest id of a row: a quick estimate of their number."""
    return transaction.scalar(f"SELECT max({source.key}) FROM {source.table}")


def _which(
    of_engine: Dialect, key: str, changed: str, which: Sequence[int] | Range | RowsSince
) -> tuple[str, Parameters]:
    if isinstance(which, Range):
        return f"{key} > :after ORDER BY {key} LIMIT :limit", which._asdict()
    if isinstance(which, RowsSince):
        return f"{key} {of_engine.among(changed)}", which._asdict()
    return f"{key} IN {of_engine.listed('ids')}", {"ids": which}
