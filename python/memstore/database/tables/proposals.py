"""The table of proposals: supersessions and consolidations that a person has to decide."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from memstore.database.changes import Line
from memstore.database.engine import Statement
from memstore.database.journal import Kind
from memstore.database.tables import facts as fact_table
from memstore.database.tables.rows import Rows
from memstore.domain import clock
from memstore.domain.arguments import MAX_NUMBER
from memstore.domain.proposals import Proposal, ProposalState
from memstore.errors import StorageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from datetime import datetime

    from memstore.database.changes import Changes
    from memstore.database.dialect import Dialect
    from memstore.database.engine import Row, Transaction

COLUMNS = (
    "p.id, p.at, p.old_id, p.new_id, p.similarity, p.evidence, p.state, p.decided_at, p.sources,"
    " p.content"
)
ROWS: Final = Rows(
    "memstore_proposals p JOIN memstore_facts o ON o.id = p.old_id", "o.namespace", "p.id"
)
count_all = ROWS.count_all


class ProposalRow(NamedTuple):
    id: int
    at: str
    old_id: int
    new_id: int | None
    """``None`` for a consolidation until it is accepted."""
    similarity: float | None
    evidence: str | None
    """JSON."""
    state: str
    decided_at: str | None
    sources: tuple[int, ...]
    """The facts that a consolidation replaces, in order; empty for a supersession."""
    content: str | None
    """The text of a consolidation, blank once it is accepted."""

    def renumbered(self, id_: int, facts: Mapping[int, int]) -> ProposalRow:
        """Return the proposal with another id, and its fact ids replaced according to ``facts``."""
        return self._replace(
            id=id_,
            old_id=facts[self.old_id],
            new_id=None if self.new_id is None else facts[self.new_id],
            sources=tuple(sorted(facts[fact_id] for fact_id in self.sources)),
        )


def insert(
    changes: Changes,
    old_id: int,
    new_id: int,
    similarity: float,
    evidence: Mapping[str, Any] | None,
) -> int | None:
    """Store a proposed supersession; return ``None`` if the pair was proposed before."""
    at, why = clock.to_text(clock.utc_now()), _encode(evidence)
    id_ = changes.transaction.next_id("memstore_proposals")
    row = ProposalRow(id_, at, old_id, new_id, similarity, why, ProposalState.OPEN, None, (), None)
    return place(changes, row, evidence)


def insert_consolidation(
    changes: Changes, sources: Sequence[int], content: str, evidence: Mapping[str, Any] | None
) -> int | None:
    """Store a proposed consolidation; return ``None`` if one of the same facts exists."""
    at, why, facts = clock.to_text(clock.utc_now()), _encode(evidence), tuple(sources)
    id_ = changes.transaction.next_id("memstore_proposals")
    row = ProposalRow(id_, at, 0, None, None, why, ProposalState.OPEN, None, facts, content)
    return place(changes, row)


def consolidating(
    transaction: Transaction, sources: Sequence[int], namespace: str
) -> Proposal | None:
    """Return the consolidation of exactly these facts, in any state."""
    rows = transaction.rows(
        f"SELECT {COLUMNS} FROM {ROWS.source}"
        " WHERE o.namespace = :namespace AND p.sources = :sources",
        {"namespace": namespace, "sources": json.dumps(sorted(sources))},
    )
    return next(iter(_decode_all(transaction, rows)), None)


def same(transaction: Transaction, row: ProposalRow) -> int | None:
    """Return the id of the proposal about the same facts."""
    same = "sources = :sources" if row.sources else "old_id = :old_id AND new_id = :new_id"
    found = transaction.one(
        f"SELECT id FROM memstore_proposals WHERE {same}",
        {"sources": json.dumps(row.sources), "old_id": row.old_id, "new_id": row.new_id},
    )
    return int(found[0]) if found else None


def pairs(transaction: Transaction, old_id: int, new_id: int) -> bool:
    """Return whether one fact was ever proposed in the place of another."""
    return bool(
        transaction.scalar(
            "SELECT count(*) FROM memstore_proposals WHERE old_id = :old_id AND new_id = :new_id",
            {"old_id": old_id, "new_id": new_id},
        )
    )


def get(transaction: Transaction, proposal_id: int, namespace: str) -> Proposal | None:
    """Return one proposal of a namespace, in any state."""
    if abs(proposal_id) > MAX_NUMBER:
        return None
    rows = transaction.rows(
        f"SELECT {COLUMNS} FROM {ROWS.source} WHERE o.namespace = :namespace AND p.id = :id",
        {"namespace": namespace, "id": proposal_id},
    )
    return next(iter(_decode_all(transaction, rows)), None)


def select(
    transaction: Transaction, namespace: str, state: str | None, *, newest_first: bool = False
) -> list[Proposal]:
    """Return the proposals of a namespace by id; ``None`` for every state.

    Open ones are only those that can still be decided: none of their facts is superseded or
    deleted.
    """
    # Not a parameter: SQLite uses the partial index only if the statement contains the state.
    bound = "" if state is None else f" AND p.state = '{ProposalState(state)}'"
    if state == ProposalState.OPEN:
        bound += _decidable(transaction.dialect)
    rows = transaction.rows(
        f"SELECT {COLUMNS} FROM {ROWS.source} WHERE o.namespace = :namespace{bound}"
        f" ORDER BY p.id {'DESC' if newest_first else 'ASC'}",
        {"namespace": namespace},
    )
    return _decode_all(transaction, rows)


def about(transaction: Transaction, fact_id: int) -> list[Proposal]:
    """Return the proposals to supersede a fact, or to supersede others by it, in any state."""
    rows = transaction.rows(
        f"SELECT {COLUMNS} FROM {ROWS.source} WHERE p.id IN ("
        " SELECT id FROM memstore_proposals WHERE old_id = :id"
        " UNION SELECT id FROM memstore_proposals WHERE new_id = :id"
        f" UNION SELECT p.id FROM memstore_proposals p WHERE {_sums_up(transaction.dialect)})"
        " ORDER BY p.id",
        {"id": fact_id},
    )
    return _decode_all(transaction, rows)


def deciding(
    proposal_id: int, state: str, at: datetime, *, new_id: int | None = None
) -> list[Statement]:
    """Return statements that close a proposal; ``new_id`` is the fact of a consolidation."""
    closed = Statement(
        "UPDATE memstore_proposals SET state = :state, decided_at = :at WHERE id = :id",
        {"state": state, "at": clock.to_text(at), "id": proposal_id},
    )
    if new_id is None:
        return [closed]
    moved = Statement(
        "UPDATE memstore_proposals SET new_id = :new_id, content = '' WHERE id = :id",
        {"new_id": new_id, "id": proposal_id},
    )
    return [closed, moved]


def reopening(proposal_id: int) -> Statement:
    """Return the statement that opens a rejected proposal again."""
    return Statement(
        f"UPDATE memstore_proposals SET state = '{ProposalState.OPEN}', decided_at = NULL"
        " WHERE id = :id",
        {"id": proposal_id},
    )


def states(transaction: Transaction, proposal_ids: Sequence[int]) -> dict[int, str]:
    """Return the state of proposals, by id."""
    listed = transaction.dialect.listed("ids")
    rows = transaction.rows(
        f"SELECT id, state FROM memstore_proposals WHERE id IN {listed}", {"ids": proposal_ids}
    )
    return {int(id_): str(state) for id_, state in rows}


def scattered(transaction: Transaction) -> list[int]:
    """Return the proposals whose facts are missing or in different namespaces."""
    sources = transaction.dialect.elements("p.sources")
    return transaction.ints(
        "WITH about (proposal_id, fact_id) AS (SELECT id, old_id FROM memstore_proposals"
        "  UNION SELECT id, new_id FROM memstore_proposals WHERE new_id IS NOT NULL"
        f"  UNION SELECT p.id, CAST(element.value AS BIGINT) FROM memstore_proposals p, {sources})"
        " SELECT proposal_id FROM about LEFT JOIN memstore_facts f ON f.id = fact_id"
        " GROUP BY proposal_id HAVING count(*) > count(f.id) OR min(namespace) <> max(namespace)"
        " ORDER BY proposal_id"
    )


def decided_about(transaction: Transaction, fact_id: int) -> bool:
    """Return whether any proposal about the fact was decided."""
    row = transaction.one(
        "SELECT EXISTS (SELECT 1 FROM memstore_proposals WHERE old_id = :id AND state <> 'open')"
        " OR EXISTS (SELECT 1 FROM memstore_proposals WHERE new_id = :id AND state <> 'open')"
        " OR EXISTS (SELECT 1 FROM memstore_proposals p"
        f" WHERE p.state <> 'open' AND {_sums_up(transaction.dialect)})",
        {"id": fact_id},
    )
    return bool(row and row[0])


def forgetting(transaction: Transaction, fact_id: int) -> list[Statement]:
    """Return statements that blank everything in proposals that quotes a fact."""
    return [
        Statement(
            "UPDATE memstore_proposals SET evidence = NULL WHERE old_id = :id OR new_id = :id",
            {"id": fact_id},
        ),
        Statement(
            "UPDATE memstore_proposals AS p SET evidence = NULL, content = ''"
            f" WHERE {_sums_up(transaction.dialect)}",
            {"id": fact_id},
        ),
    ]


def forgetting_evidence(proposal_id: int, rest: Mapping[str, Any]) -> Statement:
    """Return the statement that leaves only this of a proposal's evidence."""
    return Statement(
        "UPDATE memstore_proposals SET evidence = :rest WHERE id = :id AND evidence IS NOT NULL",
        {"rest": _encode(rest or None), "id": proposal_id},
    )


def everything(
    transaction: Transaction, namespaces: Sequence[str] | None = None
) -> Iterator[ProposalRow]:
    """Yield the rows of proposals of some namespaces (``None``: all), by id."""
    return map(_row, ROWS.everything(transaction, COLUMNS, namespaces))


def place(
    changes: Changes, row: ProposalRow, evidence: Mapping[str, Any] | None = None
) -> int | None:
    """Store a proposal and return its id; ``None`` if its facts were proposed before.

    Each fact that it would retire gets a journal line with the evidence.
    """
    sources = sorted(row.sources)
    old_id = min(sources, default=row.old_id)
    statement = Statement(
        "INSERT INTO memstore_proposals"
        " (id, at, old_id, new_id, similarity, evidence, state, decided_at, sources, content)"
        " VALUES (:id, :at, :old_id, :new_id, :similarity, :evidence, :state, :decided_at,"
        " :sources, :content) ON CONFLICT DO NOTHING RETURNING id",
        row._asdict()
        | {
            "old_id": old_id,
            "sources": json.dumps(sources) if sources else None,
            "content": row.content if sources else None,
        },
    )
    proposed = {"consolidates": sources} if sources else {"superseded_by": row.new_id}

    def lines(rows: list[Row]) -> list[Line]:
        after = {"proposal": rows[0][0], **proposed}
        return [
            Line(Kind.PROPOSE, id_, after=after, evidence=evidence) for id_ in sources or [old_id]
        ]

    rows = changes.write_some([statement], lines)
    return int(rows[0][0]) if rows else None


DISTRUSTED: Final = "(SELECT fact_id FROM memstore_distrusted)"


def _decidable(dialect: Dialect) -> str:
    # A proposal cannot be decided if one of its facts was retired, deleted, erased or distrusted.
    return (
        " AND o.superseded_by IS NULL AND o.deleted_at IS NULL"
        f" AND o.id NOT IN {DISTRUSTED}"
        " AND NOT EXISTS (SELECT 1 FROM memstore_facts n WHERE n.id = p.new_id"
        f" AND (n.superseded_by IS NOT NULL OR n.deleted_at IS NOT NULL OR n.id IN {DISTRUSTED}))"
        f" AND NOT EXISTS (SELECT 1 FROM {dialect.elements('p.sources')}"
        " JOIN memstore_facts f ON f.id = CAST(element.value AS BIGINT)"
        " WHERE f.superseded_by IS NOT NULL OR f.deleted_at IS NOT NULL"
        f" OR f.id IN {DISTRUSTED})"
    )


def _sums_up(dialect: Dialect) -> str:
    return (
        f"p.sources IS NOT NULL AND EXISTS (SELECT 1 FROM {dialect.elements('p.sources')}"
        " WHERE CAST(element.value AS BIGINT) = :id)"
    )


def _encode(evidence: Mapping[str, Any] | None) -> str | None:
    return None if evidence is None else json.dumps(evidence, ensure_ascii=False)


def _row(row: Row) -> ProposalRow:
    *columns, sources, content = row
    try:
        facts = () if sources is None else tuple(map(int, json.loads(sources)))
    except (ValueError, TypeError) as error:
        raise StorageError(f"proposal {row[0]} cannot be read: {error}") from error
    return ProposalRow._make((*columns, facts, content))


def _decode_all(transaction: Transaction, rows: Iterable[Row]) -> list[Proposal]:
    found = [_row(row) for row in rows]
    ids = {fact_id for row in found for fact_id in (row.old_id, row.new_id, *row.sources)}
    facts = fact_table.get_many(transaction, sorted(one for one in ids if one is not None))
    return [_decode(row, facts) for row in found]


def _decode(row: ProposalRow, facts: Mapping[int, Any]) -> Proposal:
    try:
        new = None if row.new_id is None else facts[row.new_id]
        return Proposal(
            id=row.id,
            at=clock.from_text(row.at),
            sources=tuple(facts[fact_id] for fact_id in row.sources or (row.old_id,)),
            new=new,
            content=row.content or "" if new is None else new.content,
            similarity=row.similarity,
            evidence=json.loads(row.evidence) if row.evidence is not None else {},
            state=row.state,
            decided_at=None if row.decided_at is None else clock.from_text(row.decided_at),
        )
    except (ValueError, KeyError) as error:
        raise StorageError(f"proposal {row.id!r} cannot be read: {error}") from error
