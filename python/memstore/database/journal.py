"""The journal: a line for every change, written in the same transaction."""

from __future__ import annotations

import json
import zlib
from enum import StrEnum
from itertools import groupby
from typing import TYPE_CHECKING, Final, NamedTuple

from memstore.database.dialect import within
from memstore.database.engine import NO_PARAMETERS, Statement
from memstore.domain import clock
from memstore.domain.records import JournalLine
from memstore.errors import StorageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from datetime import datetime

    from memstore.database.dialect import Dialect
    from memstore.database.engine import Parameters, Row, Transaction, Value
    from memstore.database.filters import FactFilter

COLUMNS = "id, at, actor, source, kind, fact_id, before, after, evidence, episode_id"


class Kind(StrEnum):
    """The kind of change that a line of the journal records."""

    ADD = "add"
    ADOPT = "adopt"
    """The fact is older than the journal, or was imported; the line holds the whole fact."""
    SUPERSEDE = "supersede"
    CONFIRM = "confirm"
    METADATA = "metadata"
    PIN = "pin"
    UNPIN = "unpin"
    DELETE = "delete"
    RESTORE = "restore"
    ERASE = "erase"
    EMBED = "embed"
    QUARANTINE = "quarantine"
    KEEP = "keep"
    """Something newly learned was compared with the fact, and the fact was kept as it is."""
    PROPOSE = "propose"
    """Another fact was proposed to supersede it; nothing was changed."""
    REJECT = "reject"
    EPISODE = "episode"
    """An episode was recorded; the line holds everything but its text."""
    UPDATE_EPISODE = "update_episode"
    ERASE_EPISODE = "erase_episode"
    STAGE = "stage_generation"
    """A generation was staged; the line names it and its model."""
    SWITCH = "switch_generation"
    """Another generation became active."""
    DROP = "drop_generation"
    TOKEN = "token"  # noqa: S105 - a kind of line
    REVOKE_TOKEN = "revoke_token"  # noqa: S105

    GRAPH = "graph"
    """The graph of a namespace was built; the line holds its counts."""
    CLEAR_GRAPH = "clear_graph"
    SAME_ENTITY = "same_entity"
    """Two names were declared one entity; the line holds the decision's id, but no names."""
    OTHER_ENTITY = "other_entity"
    UNDECIDE = "undecide"
    """A decision about two names was undone."""


UNCHANGED = frozenset({Kind.EMBED, Kind.QUARANTINE, Kind.KEEP, Kind.PROPOSE, Kind.REJECT})
"""Kinds that change neither the text nor the state of a fact."""


class Author(NamedTuple):
    """The person or program that makes a change, and the interface it uses."""

    actor: str
    source: str


def of_facts(transaction: Transaction, fact_ids: Sequence[int]) -> list[JournalLine]:
    listed = transaction.dialect.listed("ids")
    return [*_lines(transaction, f"fact_id IN {listed} ORDER BY id", {"ids": fact_ids})]


def of_fact(transaction: Transaction, fact_id: int) -> list[JournalLine]:
    """Return every line about one fact, oldest first; an export does this for each fact."""
    return [*_lines(transaction, "fact_id = :id ORDER BY id", {"id": fact_id})]


def count(transaction: Transaction, namespaces: Sequence[str] | None = None) -> int:
    """Return the number of lines about facts and episodes of these namespaces (``None``: all)."""
    about = _about(transaction.dialect, namespaces)
    return transaction.scalar(f"SELECT count(*) {about}", {"namespaces": namespaces})


def last_change(
    transaction: Transaction, namespaces: Sequence[str] | None = None
) -> datetime | None:
    """Return when a fact or episode of these namespaces (``None``: all) last changed."""
    about = _about(transaction.dialect, namespaces)
    row = transaction.one(f"SELECT max(at) {about}", {"namespaces": namespaces})
    return clock.from_text(str(row[0])) if row and row[0] is not None else None


def _about(dialect: Dialect, namespaces: Sequence[str] | None) -> str:
    where = within(dialect, "namespace", namespaces)
    return (
        f"FROM memstore_journal WHERE fact_id IN (SELECT id FROM memstore_facts{where})"
        f" OR (fact_id IS NULL AND episode_id IN (SELECT id FROM memstore_episodes{where}))"
    )


def by_fact(transaction: Transaction) -> Iterator[tuple[int, Iterator[JournalLine]]]:
    """Yield each fact's id and its lines, oldest first; ordered by id."""
    lines = _lines(transaction, "fact_id IS NOT NULL ORDER BY fact_id, id")
    return groupby(lines, key=lambda line: line.fact_id or 0)


def by_episode(transaction: Transaction) -> Iterator[tuple[int, Iterator[JournalLine]]]:
    about = "episode_id IS NOT NULL AND fact_id IS NULL ORDER BY episode_id, id"
    return groupby(_lines(transaction, about), key=lambda line: line.episode_id or 0)


def of_episode(transaction: Transaction, episode_id: int) -> list[JournalLine]:
    """Return every line about an episode, but not about its facts, oldest first."""
    about = "episode_id = :id AND fact_id IS NULL ORDER BY id"
    return [*_lines(transaction, about, {"id": episode_id})]


def of_kinds(transaction: Transaction, kinds: Sequence[str]) -> list[JournalLine]:
    listed = transaction.dialect.listed("kinds")
    return [*_lines(transaction, f"kind IN {listed} ORDER BY id", {"kinds": kinds})]


def _lines(
    transaction: Transaction, about: str, parameters: Parameters = NO_PARAMETERS
) -> Iterator[JournalLine]:
    query = f"SELECT {COLUMNS} FROM memstore_journal WHERE {about}"
    return map(_decode, transaction.rows(query, parameters))


CHECKED = "at, actor, source, kind, fact_id, episode_id, before, after"


CHECKSUMMED: Final = "\0".join("%s" for _ in CHECKED.split(", "))


def checksum(line: Iterable[Value]) -> int:
    """Return the checksum of a line, from the stored values of its columns :data:`CHECKED`."""
    return zlib.crc32((CHECKSUMMED % tuple(line)).encode())


def damaged(transaction: Transaction) -> Iterator[int]:
    """Yield the ids of lines whose checksum does not match."""
    rows = transaction.rows(f"SELECT id, checksum, {CHECKED} FROM memstore_journal ORDER BY id")
    for id_, stored, *line in rows:
        is_erased = stored is None and line[-2:] == [None, None]
        if not is_erased and stored != checksum(line):
            yield id_


def last_id(transaction: Transaction) -> int:
    """Return the id of the newest line; 0 if there is none."""
    return transaction.scalar("SELECT max(id) FROM memstore_journal")


def changed_since(transaction: Transaction, line_id: int, column: str) -> list[int]:
    """Return the ids in ``fact_id`` or ``episode_id`` of the lines after this one."""
    if column not in ("fact_id", "episode_id"):
        raise ValueError(f"the journal has no ids in {column}")
    return transaction.ints(
        # The plus keeps SQLite from scanning the index on this column, which covers every line.
        f"SELECT DISTINCT +{column} FROM memstore_journal"
        f" WHERE id > :after AND +{column} IS NOT NULL"
        # A fact's line may name the episode that the fact was extracted from.
        + (" AND +fact_id IS NULL" if column == "episode_id" else ""),
        {"after": line_id},
    )


def authors_since(
    transaction: Transaction,
    wanted: FactFilter,
    episode_id: int,
    kinds: Sequence[str],
    most: int,
) -> list[tuple[str, str, str, int]]:
    """Count the changes of facts since an episode was recorded, by actor, source and kind.

    Lines that an import took over from another file are older than the episode, and not counted.

    Args:
        most: how many of the newest lines are read.
    """
    row = transaction.one(
        "SELECT max(id), max(at) FROM memstore_journal WHERE episode_id = :id AND fact_id IS NULL"
        " AND kind = :kind",
        {"id": episode_id, "kind": Kind.EPISODE},
    )
    if row is None or row[0] is None:
        return []
    seen, values = wanted.of("f", transaction.dialect)
    rows = transaction.rows(
        "SELECT j.actor, j.source, j.kind, count(*)"
        # CROSS: SQLite then reads the few lines first, and not every fact of the namespace.
        " FROM memstore_journal j CROSS JOIN memstore_facts f"
        f" WHERE f.id = j.fact_id AND j.id > :after AND j.at >= :since AND {seen}"
        f" AND j.kind IN {transaction.dialect.listed('kinds')}"
        " GROUP BY j.actor, j.source, j.kind ORDER BY 1, 2, 3",
        {
            **values,
            "after": max(int(row[0]), last_id(transaction) - most),
            "since": row[1],
            "kinds": kinds,
        },
    )
    return [(actor, source, kind, number) for actor, source, kind, number in rows]


def erased_since(transaction: Transaction, line_id: int) -> bool:
    """Return whether the text of any fact or episode was erased after this line."""
    return bool(
        transaction.scalar(
            "SELECT count(*) FROM memstore_journal WHERE id > :after"
            f" AND kind IN ('{Kind.ERASE}', '{Kind.ERASE_EPISODE}')",
            {"after": line_id},
        )
    )


def last_restored(transaction: Transaction, fact_id: int) -> datetime | None:
    row = transaction.one(
        "SELECT max(at) FROM memstore_journal WHERE fact_id = :id AND kind = :kind",
        {"id": fact_id, "kind": Kind.RESTORE},
    )
    return clock.from_text(str(row[0])) if row and row[0] is not None else None


def forgetting_fact(fact_id: int) -> list[Statement]:
    """Return statements that erase a fact's text from the journal but keep the lines.

    The evidence of facts that were compared with it quotes it too.
    """
    return [
        Statement(
            "UPDATE memstore_journal SET before = NULL, after = NULL, evidence = NULL,"
            " checksum = NULL"
            " WHERE fact_id = :id",
            {"id": fact_id},
        ),
        Statement(
            "UPDATE memstore_journal SET evidence = NULL"
            " WHERE evidence IS NOT NULL AND fact_id IN ("
            " SELECT id FROM memstore_facts WHERE superseded_by = :id"
            " UNION SELECT superseded_by FROM memstore_facts WHERE id = :id"
            " UNION SELECT old_id FROM memstore_proposals WHERE new_id = :id"
            " UNION SELECT new_id FROM memstore_proposals WHERE old_id = :id)",
            {"id": fact_id},
        ),
    ]


def forgetting_episode(episode_id: int) -> Statement:
    """Return a statement that erases an episode from the journal but keeps the lines."""
    return Statement(
        "UPDATE memstore_journal SET before = NULL, after = NULL, evidence = NULL, checksum = NULL"
        " WHERE episode_id = :id AND fact_id IS NULL",
        {"id": episode_id},
    )


def forgetting_said(transaction: Transaction, episode_id: int) -> list[Statement]:
    """Return statements that remove quotes of an episode from evidence; scans the whole journal.

    A quoted statement that changed or confirmed a fact need not be a fact itself, so erasing the
    facts does not remove it.
    """
    episode = transaction.dialect.member("evidence", "'episode'")
    rows = transaction.rows(
        f"SELECT id, evidence FROM memstore_journal WHERE {episode} = :episode",
        {"episode": str(episode_id)},
    )
    quoting = ((line, json.loads(evidence)) for line, evidence in rows)
    return [
        Statement(
            "UPDATE memstore_journal SET evidence = :evidence WHERE id = :id",
            {"id": line, "evidence": json.dumps(evidence, ensure_ascii=False)},
        )
        for line, evidence in quoting
        if evidence.pop("said", None) is not None
    ]


def _decode(row: Row) -> JournalLine:
    id_, at, actor, source, kind, fact_id, *texts, episode_id = row
    try:
        parts = (None if text is None else json.loads(str(text)) for text in texts)
        return JournalLine._make(
            (id_, clock.from_text(str(at)), actor, source, kind, fact_id, *parts, episode_id)
        )
    except ValueError as error:
        raise StorageError(
            f"line {id_!r} of the journal, on fact {fact_id!r}, cannot be read: {error}"
        ) from error
