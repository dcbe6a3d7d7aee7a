"""The journal: a line for every change, written in the same transaction."""

from __future__ import annotations

import json
from enum import StrEnum
from functools import lru_cache
from itertools import groupby, islice
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from memstore._kernel.chain import seal
from memstore.database.dialect import within
from memstore.database.engine import NO_PARAMETERS, Statement, Write
from memstore.database.writes import BY_ID, Update, settings
from memstore.domain import clock
from memstore.domain.records import DEFAULT_CATEGORY, Head, JournalLine
from memstore.errors import StorageError
from memstore.lazy import lazy_import
from memstore.named import NamedTuple
from memstore.settings import DEFAULT_NAMESPACE

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence
    from datetime import datetime

    from memstore.database import acts
    from memstore.database.dialect import Dialect
    from memstore.database.engine import Parameters, Row, Transaction
else:
    acts = lazy_import("memstore.database.acts")

COLUMNS = (
    "id, at, actor, source, kind, fact_id, before, after, evidence, episode_id, txn, run, said_at"
)

TEXTS: Final = ("before", "after", "evidence")
"""The columns that erasing empties."""


class Kind(StrEnum):
    """The kind of change that a line of the journal records."""

    ADD = "add"
    ADOPT = "adopt"
    """The fact is older than the journal, or was imported; the line holds the whole fact."""
    SUPERSEDE = "supersede"
    CONFIRM = "confirm"
    METADATA = "metadata"
    UPDATE = "update"
    """The expiry of the fact was changed, or its external key."""
    PIN = "pin"
    UNPIN = "unpin"
    DELETE = "delete"
    RESTORE = "restore"
    UNSUPERSEDE = "unsupersede"
    """A supersession was taken back: the fact is active again."""
    UNCONFIRM = "unconfirm"
    """Confirmations were taken back."""
    UNSUPPORT = "unsupport"
    """What the fact began with speaks for it no longer; the fact is as it was."""
    SUPPORT = "support"
    """It does again."""
    ERASE = "erase"
    EMBED = "embed"
    QUARANTINE = "quarantine"
    KEEP = "keep"
    """Something newly learned was compared with the fact, and the fact was kept as it is."""
    PROPOSE = "propose"
    """Another fact was proposed to supersede it; nothing was changed."""
    ACCEPT = "accept"
    """A proposal was accepted; another line of the act says what it did to the fact."""
    REJECT = "reject"
    REOPEN = "reopen"
    """The decision on a proposal was taken back."""
    REDACT = "redact"
    """A quote was erased from the evidence of an earlier line; this line holds the rest of it."""
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
    TRUST = "trust"
    """A source was given a level of trust, or is no longer distrusted; the line holds the table."""
    OVERTAKEN = "overtaken"
    """Another device's change, which something later had replaced before it came; nothing was
    changed."""
    DISTRUST = "distrust"
    """A source was distrusted. About a fact: the last episode that it rested on, of such a source,
    is being erased."""


LINE: Final = "line"
"""The member of a ``redact`` line that names the line whose evidence was erased."""

UNCHANGED = frozenset(
    {
        Kind.EMBED,
        Kind.QUARANTINE,
        Kind.KEEP,
        Kind.PROPOSE,
        Kind.ACCEPT,
        Kind.REJECT,
        Kind.REOPEN,
        Kind.REDACT,
        Kind.DISTRUST,
        Kind.OVERTAKEN,
        Kind.SUPPORT,
        Kind.UNSUPPORT,
    }
)
"""Kinds that change neither the text nor the state of a fact."""

DECIDING: Final = (Kind.PROPOSE, Kind.ACCEPT, Kind.REJECT, Kind.REOPEN)
"""Kinds about a proposal. Their ``after`` quotes nothing, so that it outlives the fact: a proposal
can be replayed although one of its facts was erased."""

WEIGHING: Final = frozenset({Kind.SUPPORT, Kind.UNSUPPORT})
"""Those of them that change what speaks for a fact."""

STATE_KINDS: Final = (
    Kind.SUPERSEDE,
    Kind.UNSUPERSEDE,
    Kind.DELETE,
    Kind.RESTORE,
    Kind.METADATA,
    Kind.PIN,
    Kind.UNPIN,
    Kind.ADOPT,
    Kind.UPDATE,
    Kind.UPDATE_EPISODE,
)
"""Kinds after which other filters pass, in the order of the index of their lines."""

OF_STATE: Final = f"kind IN {tuple(map(str, STATE_KINDS))}"


OF_SOURCES: Final = f"kind IN ('{Kind.TRUST}', '{Kind.DISTRUST}') AND fact_id IS NULL"


IMPLIED: Final[Mapping[str, Any]] = MappingProxyType(
    {"namespace": DEFAULT_NAMESPACE, "category": DEFAULT_CATEGORY, "confirmed_count": 0}
)
"""What most facts have when they are stored; their lines leave it out, as they do what is created
at the time of its line, and without metadata."""


def with_implied(added: dict[str, Any], at: str) -> dict[str, Any]:
    """Return all that a line of this time tells of the fact that it adds.

    One that names the time when its fact was created leaves nothing out.
    """
    if "created_at" in added:
        return added
    return {**IMPLIED, "created_at": at, "metadata": {}, **added}


class Author(NamedTuple):
    """The person or program that makes a change, and the interface it uses."""

    actor: str
    source: str
    run: bytes | None = None
    """The opening of the file, or the session of a server: a UUIDv7 as bytes."""


def of_facts(transaction: Transaction, fact_ids: Sequence[int]) -> list[JournalLine]:
    listed = transaction.dialect.listed("ids")
    return [*_lines(transaction, f"fact_id IN {listed} ORDER BY id", {"ids": fact_ids})]


def changing(transaction: Transaction, fact_ids: Sequence[int], last: int) -> Iterator[JournalLine]:
    """Yield the lines that changed these facts, up to a line; by fact, oldest first."""
    listed = transaction.dialect.listed
    about = (
        f"fact_id IN {listed('ids')} AND id <= :last AND kind NOT IN {listed('unchanged')}"
        " ORDER BY fact_id, id"
    )
    values: Parameters = {"ids": fact_ids, "last": last, "unchanged": sorted(UNCHANGED)}
    return _lines(transaction, about, values)


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


def of_episodes(transaction: Transaction, episode_ids: Sequence[int]) -> list[JournalLine]:
    """Return every line about these episodes, but not about their facts, oldest first."""
    about = f"episode_id IN {transaction.dialect.listed('ids')} AND fact_id IS NULL ORDER BY +id"
    return [*_lines(transaction, about, {"ids": episode_ids})]


def ends_of_episodes(
    transaction: Transaction, episode_ids: Sequence[int]
) -> dict[int, tuple[int, int]]:
    """Return the first and the last line that stored or changed each of these episodes."""
    listed = transaction.dialect.listed
    rows = transaction.rows(
        "SELECT episode_id, min(id), max(id) FROM memstore_journal"
        f" WHERE episode_id IN {listed('ids')} AND fact_id IS NULL"
        f" AND kind NOT IN {listed('kinds')} GROUP BY episode_id",
        {"ids": episode_ids, "kinds": [*UNCHANGED]},
    )
    return {episode_id: (first, last) for episode_id, first, last in rows}


def of_kinds(transaction: Transaction, kinds: Sequence[str]) -> list[JournalLine]:
    listed = transaction.dialect.listed("kinds")
    return [*_lines(transaction, f"kind IN {listed} ORDER BY id", {"kinds": kinds})]


def of_sources(transaction: Transaction, until: int) -> list[JournalLine]:
    """Return the lines up to one that changed how much sources count."""
    return [*_lines(transaction, f"{OF_SOURCES} AND id <= :until ORDER BY id", {"until": until})]


def matching(transaction: Transaction, condition: str, parameters: Parameters) -> list[JournalLine]:
    """Return the lines that match an SQL condition, oldest first."""
    return [*_lines(transaction, f"{condition} ORDER BY id", parameters)]


def outlined(
    transaction: Transaction, condition: str, parameters: Parameters, order: str = "id"
) -> list[JournalLine]:
    """Return lines that match, oldest first, without the texts of the kinds that add or embed.

    Args:
        order: another order, and a limit.
    """
    columns = COLUMNS
    for name in TEXTS:
        shown = f"CASE WHEN kind IN {OUTLINED} THEN NULL ELSE {name} END"
        columns = columns.replace(f" {name},", f" {shown},")
    query = f"SELECT {columns} FROM memstore_journal WHERE {condition} ORDER BY {order}"
    return [*map(_decode, transaction.rows(query, parameters))]


class About(NamedTuple):
    """A line by its id, and what it is about."""

    id: int
    fact_id: int | None
    episode_id: int | None


def abouts(
    transaction: Transaction, condition: str, parameters: Parameters, order: str = "id"
) -> list[About]:
    """Return what lines that match are about, as :func:`outlined` returns the lines."""
    rows = transaction.rows(
        f"SELECT id, fact_id, episode_id FROM memstore_journal WHERE {condition} ORDER BY {order}",
        parameters,
    )
    return [About(*row) for row in rows]


OUTLINED: Final = f"('{Kind.ADD}', '{Kind.ADOPT}', '{Kind.EPISODE}', '{Kind.EMBED}')"


def _lines(
    transaction: Transaction, about: str, parameters: Parameters = NO_PARAMETERS
) -> Iterator[JournalLine]:
    query = f"SELECT {COLUMNS} FROM memstore_journal WHERE {about}"
    return map(_decode, transaction.rows(query, parameters))


class ChainedLine(NamedTuple):
    """A line as it is stored, for checking its hash."""

    id: int
    txn: int
    at: str
    fact_id: int | None
    episode_id: int | None
    columns: Row
    """Its columns before the texts."""
    texts: Row
    salt: bytes | None
    erased: bytes | None
    """The commitments to texts that were erased."""
    hash: bytes


def chained(transaction: Transaction, batch: int) -> Iterator[list[ChainedLine]]:
    """Yield all lines in order, some at a time."""
    sql = f"SELECT {acts.CHAINED}, salt, erased, hash FROM memstore_journal ORDER BY id"
    rows = transaction.rows(sql)
    while some := [*islice(rows, batch)]:
        yield [
            ChainedLine(
                row[0],
                row[1],
                row[2],
                row[8],
                row[9],
                row[:10],
                row[10:13],
                row[13],
                row[14],
                row[15],
            )
            for row in some
        ]


def head(transaction: Transaction, line: int | None = None) -> Head:
    """Return the end of the chain as it is stored, or as it was at a line."""
    row = transaction.one(*selecting_head(line))
    line, hash_ = row or (0, acts.BEGINNING)
    return Head(line, hash_.hex() if isinstance(hash_, bytes) else "")


def selecting_head(line: int | None = None) -> Statement:
    """Return the query of :func:`head`."""
    where = "" if line is None else " WHERE id <= :line"
    return Statement(
        f"SELECT id, hash FROM memstore_journal{where} ORDER BY id DESC LIMIT 1", {"line": line}
    )


def beginning(transaction: Transaction) -> str | None:
    """Return the hash of the first line, which no other memory has; ``None`` before it."""
    row = transaction.one("SELECT hash FROM memstore_journal ORDER BY id LIMIT 1")
    return None if row is None else bytes(row[0]).hex()


def last_id(transaction: Transaction) -> int:
    """Return the id of the newest line; 0 if there is none."""
    return transaction.scalar("SELECT max(id) FROM memstore_journal")


def times_of(transaction: Transaction, lines: Sequence[int]) -> dict[int, datetime]:
    """Return when lines were written, by line; those that there are not are left out."""
    rows = transaction.rows(
        f"SELECT id, at FROM memstore_journal WHERE id IN {transaction.dialect.listed('lines')}",
        {"lines": lines},
    )
    return {int(id_): clock.from_text(str(at)) for id_, at in rows}


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


def changed_by(
    transaction: Transaction, kind: Kind, after: int, column: str, until: int
) -> list[int]:
    """Return the facts or episodes up to an id that a kind of line after another one changed.

    In the order of the lines; one that was changed several times is there several times.

    Args:
        kind: one of :data:`STATE_KINDS`.
        column: ``fact_id`` or ``episode_id``.
    """
    if column not in ("fact_id", "episode_id"):
        raise ValueError(f"the journal has no ids in {column}")
    return transaction.ints(
        f"SELECT {column} FROM memstore_journal"
        f" WHERE kind = '{kind}' AND {OF_STATE} AND id > :after AND +{column} <= :until"
        " ORDER BY id",
        {"after": after, "until": until},
    )


def changed_state(transaction: Transaction, fact_ids: Sequence[int], line_id: int) -> set[int]:
    """Return those of the facts whose state was changed up to a line, by the kinds of lines."""
    return {
        *transaction.ints(
            f"SELECT DISTINCT fact_id FROM memstore_journal WHERE {OF_STATE}"
            f" AND fact_id IN {transaction.dialect.listed('ids')} AND +id <= :line",
            {"ids": fact_ids, "line": line_id},
        )
    }


def changed_after(transaction: Transaction, fact_ids: Sequence[int], line_id: int) -> list[int]:
    """Return those of the facts that were changed after a line."""
    return _with_lines(transaction, fact_ids, line_id, "kind NOT IN", UNCHANGED)


def aged_after(transaction: Transaction, fact_ids: Sequence[int], line_id: int) -> list[int]:
    """Return those of the facts whose age may have changed after a line."""
    return _with_lines(transaction, fact_ids, line_id, "kind IN", AGEING)


AGEING: Final = (Kind.CONFIRM, Kind.UNCONFIRM, Kind.METADATA, Kind.ADOPT)
"""Kinds that change when a fact was last confirmed, or whether it is an open task."""


def _with_lines(
    transaction: Transaction,
    fact_ids: Sequence[int],
    line_id: int,
    test: str,
    kinds: Collection[str],
) -> list[int]:
    return transaction.ints(
        "SELECT DISTINCT fact_id FROM memstore_journal"
        f" WHERE fact_id IN {transaction.dialect.listed('ids')} AND +id > :line"
        f" AND {test} {transaction.dialect.listed('kinds')}",
        {"ids": fact_ids, "line": line_id, "kinds": [*kinds]},
    )


def erased_since(transaction: Transaction, line_id: int) -> bool:
    """Return whether the text of any fact or episode was erased after this line."""
    return bool(
        transaction.scalar(
            "SELECT count(*) FROM memstore_journal WHERE id > :after"
            f" AND kind IN ('{Kind.ERASE}', '{Kind.ERASE_EPISODE}')",
            {"after": line_id},
        )
    )


def last_of_kind(transaction: Transaction, fact_id: int, kind: Kind) -> datetime | None:
    """Return when a fact was last changed in this way, in the file where that was done."""
    row = transaction.one(
        "SELECT max(coalesce(said_at, at)) FROM memstore_journal"
        " WHERE fact_id = :id AND kind = :kind",
        {"id": fact_id, "kind": kind},
    )
    return clock.from_text(str(row[0])) if row and row[0] is not None else None


ERASURE: Final = Update("memstore_journal", settings(*TEXTS, "salt", "erased"), BY_ID)


def forgetting(
    transaction: Transaction, about: str, parameters: Parameters, texts: Collection[str] = TEXTS
) -> list[Write]:
    """Return the writes that erase texts of the lines that match a condition.

    Their salts go, too, but the commitments stay, so that the chain still holds.
    """
    columns = f"id, {', '.join(TEXTS)}, salt, erased"
    rows = transaction.rows(f"SELECT {columns} FROM memstore_journal WHERE {about}", parameters)
    places = [name in texts for name in TEXTS]
    writes = []
    for id_, *line, erased in list(rows):
        if not any(text for text, goes in zip(line, places, strict=False) if goes):
            continue
        salt, erased = seal(tuple(line), erased, places)
        left = dict(zip(TEXTS, line, strict=False)) | dict.fromkeys(texts)
        values = {**left, "salt": salt, "erased": erased, "id": id_}
        writes.append(Write(ERASURE, values))
    return writes


def forgetting_fact(transaction: Transaction, fact_id: int) -> list[Write]:
    """Return the writes that erase a fact's text from the journal but keep the lines."""
    listed = transaction.dialect.listed("deciding")
    values: Parameters = {"id": fact_id, "deciding": DECIDING}
    about = f"fact_id = :id AND kind {{}}IN {listed}"
    return [
        *forgetting(transaction, about.format("NOT "), values),
        *forgetting(transaction, about.format(""), values, ("before", "evidence")),
    ]


def comparing(transaction: Transaction, fact_id: int) -> list[JournalLine]:
    """Return the lines about other facts whose evidence may quote a fact, as they were compared."""
    elements = transaction.dialect.elements
    about = (
        "evidence IS NOT NULL AND fact_id IN ("
        " SELECT id FROM memstore_facts WHERE superseded_by = :id"
        " UNION SELECT superseded_by FROM memstore_facts WHERE id = :id"
        " UNION SELECT old_id FROM memstore_proposals WHERE new_id = :id"
        " UNION SELECT new_id FROM memstore_proposals WHERE old_id = :id"
        f" UNION SELECT CAST(element.value AS BIGINT) FROM memstore_proposals p,"
        f" {elements('p.sources')} WHERE p.sources IS NOT NULL AND EXISTS"
        f" (SELECT 1 FROM {elements('p.sources')} WHERE CAST(element.value AS BIGINT) = :id))"
        " AND fact_id <> :id ORDER BY id"
    )
    return [*_lines(transaction, about, {"id": fact_id})]


def forgetting_evidence(transaction: Transaction, line_id: int) -> list[Write]:
    """Return the writes that erase the evidence of a line."""
    return forgetting(transaction, "id = :id", {"id": line_id}, ["evidence"])


def forgetting_episode(transaction: Transaction, episode_id: int) -> list[Write]:
    """Return the writes that erase an episode from the journal but keep the lines."""
    return forgetting(transaction, "episode_id = :id AND fact_id IS NULL", {"id": episode_id})


def caused_by(transaction: Transaction, episode_id: int) -> list[JournalLine]:
    """Return the lines about facts that an episode caused and whose evidence may quote it.

    A quoted statement that changed or confirmed a fact need not be a fact itself, so erasing the
    facts does not remove it.
    """
    about = "episode_id = :id AND fact_id IS NOT NULL AND evidence IS NOT NULL ORDER BY id"
    return [*_lines(transaction, about, {"id": episode_id})]


def confirmed_by(transaction: Transaction, episode_id: int) -> list[JournalLine]:
    """Return the lines of the confirmations of facts by an episode."""
    about = f"episode_id = :id AND kind = '{Kind.CONFIRM}' AND fact_id IS NOT NULL ORDER BY id"
    return [*_lines(transaction, about, {"id": episode_id})]


NO_TEXTS: Final = [None, None, None]

_run_text: Final = lru_cache(maxsize=16)(clock.uuid_text)
"""Cached, since neighbouring lines usually have the same run."""


def _decode(row: Row) -> JournalLine:
    id_, at, actor, source, kind, fact_id, *texts, episode_id, txn, run, said_at = row
    try:
        before = after = evidence = None
        if texts != NO_TEXTS:
            before, after, evidence = (None if t is None else json.loads(str(t)) for t in texts)
        if kind == Kind.ADD and after and said_at is None:
            after = with_implied(after, str(at))
        moment = clock.from_text(str(at))
        said = None if said_at is None else clock.from_text(str(said_at))
        began = None if run is None else _run_text(run)
        return JournalLine(
            id_,
            moment,
            actor,
            source,
            kind,
            fact_id,
            before,
            after,
            evidence,
            episode_id,
            txn,
            began,
            said,
        )
    except ValueError as error:
        raise StorageError(
            f"line {id_!r} of the journal, on fact {fact_id!r}, cannot be read: {error}"
        ) from error
