"""The table of proposals: supersessions and consolidations that a person has to decide."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from memstore.database.changes import Line
from memstore.database.dialect import owned_by
from memstore.database.engine import NO_LIMIT, Write
from memstore.database.journal import Kind
from memstore.database.tables import facts as fact_table
from memstore.database.tables.rows import Rows
from memstore.database.writes import BY_ID, Insert, Update
from memstore.domain import clock
from memstore.domain.arguments import MAX_NUMBER
from memstore.domain.proposals import Proposal, ProposalState
from memstore.errors import StorageError
from memstore.frozen import frozen
from memstore.named import NamedTuple
from memstore.text import folding

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from datetime import datetime

    from memstore.database.changes import Changes
    from memstore.database.dialect import Dialect
    from memstore.database.engine import Row, Transaction
    from memstore.domain.records import AtLeast, JournalLine, Scope

COLUMNS = (
    "p.id, p.at, p.old_id, p.new_id, p.similarity, p.evidence, p.state, p.decided_at, p.sources,"
    " p.content"
)
ROWS: Final = Rows(
    "memstore_proposals p JOIN memstore_facts o ON o.id = p.old_id", "o.namespace", "p.id"
)
count_all = ROWS.count_all

IN_ORDER: Final = "memstore_proposals p CROSS JOIN memstore_facts o"
"""Read by the proposals: the planner would begin with every fact."""


@frozen(kw_only=True)
class ProposalFilter:
    """Which proposals of a namespace are meant; ``None`` narrows nothing."""

    state: str | None = None
    """Open ones are only those that can still be decided: none of their facts is superseded or
    deleted."""
    owners: Scope | AtLeast | None = None
    """Only those of which every fact has these owners."""
    subject: str | None = None
    """Only those about facts of this subject."""
    category: str | None = None
    """Only those of which a fact is in this category."""
    source: str | None = None
    """Only those of which a fact, the older or the newer, came from this source."""
    created_after: datetime | None = None
    created_before: datetime | None = None
    """Only those put forward between these times (exclusive)."""

    def where(self, dialect: Dialect, namespace: str) -> tuple[str, dict[str, Any]]:
        """Return the condition on :data:`IN_ORDER`, and its parameters."""
        tests = ["o.id = p.old_id AND o.namespace = :namespace"]
        values: dict[str, Any] = {"namespace": namespace}
        if self.state is not None:
            # No parameter: SQLite uses the partial index only if the statement contains the state.
            tests.append(f"p.state = '{ProposalState(self.state)}'")
        if self.state == ProposalState.OPEN:
            tests.append(_decidable(dialect))
        if self.subject is not None:
            tests.append("o.subject_key = :subject")
            values["subject"] = folding.subject_key(self.subject)
        if self.owners is not None:
            tests.append(f"NOT {_has_fact(dialect, f'NOT ({owned_by(self.owners)})')}")
            values |= self.owners.ids
        if self.category is not None:
            tests.append(_has_fact(dialect, "category_key = :category"))
            values["category"] = folding.subject_key(self.category)
        if self.source is not None:
            tests.append(_has_fact(dialect, "source = :source"))
            values["source"] = self.source
        for name, sign in (("created_after", ">"), ("created_before", "<")):
            if (moment := getattr(self, name)) is not None:
                tests.append(f"p.at {sign} :{name}")
                values[name] = clock.to_text(moment)
        return " AND ".join(tests), values


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
    episode_id: int | None = None,
) -> int | None:
    """Store a proposed supersession; return ``None`` if the pair was proposed before.

    Args:
        changes: the changes of a transaction.
        old_id: the fact to be superseded.
        new_id: the fact that would supersede it.
        similarity: how near they are, as a cosine.
        evidence: the reasons.
        episode_id: the episode that caused it.
    """
    at, reason = clock.to_text(changes.moment), _encode(evidence)
    id_ = changes.transaction.next_id("memstore_proposals")
    near = float(similarity)
    row = ProposalRow(id_, at, old_id, new_id, near, reason, ProposalState.OPEN, None, (), None)
    return place(changes, row, episode_id)


def insert_consolidation(
    changes: Changes, sources: Sequence[int], content: str, evidence: Mapping[str, Any] | None
) -> int | None:
    """Store a proposed consolidation; return ``None`` if one of the same facts exists."""
    at, reason, facts = clock.to_text(changes.moment), _encode(evidence), tuple(sources)
    id_ = changes.transaction.next_id("memstore_proposals")
    row = ProposalRow(id_, at, 0, None, None, reason, ProposalState.OPEN, None, facts, content)
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
    transaction: Transaction,
    namespace: str,
    wanted: ProposalFilter,
    *,
    after_id: int | None = None,
    limit: int | None = None,
) -> list[Proposal]:
    """Return proposals of a namespace by id.

    Args:
        after_id: only those with larger ids.
        limit: the maximum number; ``None`` for all.
    """
    where, values = wanted.where(transaction.dialect, namespace)
    if after_id is not None:
        where += " AND p.id > :after_id"
    rows = transaction.rows(
        f"SELECT {COLUMNS} FROM {IN_ORDER} WHERE {where} ORDER BY p.id LIMIT :limit",
        {**values, "after_id": after_id, "limit": NO_LIMIT if limit is None else limit},
    )
    return _decode_all(transaction, rows)


def count(transaction: Transaction, namespace: str, wanted: ProposalFilter) -> int:
    """Count the proposals that :func:`select` would return without a limit."""
    where, values = wanted.where(transaction.dialect, namespace)
    return transaction.scalar(f"SELECT count(*) FROM {IN_ORDER} WHERE {where}", values)


def open_by_namespace(transaction: Transaction) -> dict[str, int]:
    """Return how many proposals can still be decided in each namespace of the file."""
    rows = transaction.rows(
        f"SELECT o.namespace, count(*) FROM {IN_ORDER} WHERE o.id = p.old_id"
        f" AND p.state = '{ProposalState.OPEN}' AND {_decidable(transaction.dialect)}"
        " GROUP BY o.namespace"
    )
    return {str(namespace): int(number) for namespace, number in rows}


def _has_fact(dialect: Dialect, test: str) -> str:
    """Return the condition that a fact of a proposal passes a test."""
    return (
        "(EXISTS (SELECT 1 FROM memstore_facts"
        f" WHERE (id = p.old_id OR id = p.new_id) AND {test})"
        f" OR EXISTS (SELECT 1 FROM {dialect.elements('p.sources')}"
        f" JOIN memstore_facts f ON f.id = CAST(element.value AS BIGINT) WHERE {test}))"
    )


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


class ProposalDecision(NamedTuple):
    """What becomes of a proposal."""

    proposal_id: int
    kind: Kind
    """``accept``, ``reject`` or ``reopen``."""
    facts: Sequence[int]
    """The facts that get a line: those that it would retire."""
    new_id: int | None = None
    """The fact that supersedes them, or would."""
    content: str | None = None
    """The text of a consolidation that is open again; ``None`` for a supersession."""
    evidence: Mapping[str, Any] | None = None
    episode_id: int | None = None


def decide(changes: Changes, decision: ProposalDecision) -> None:
    """Write a decision, with a line for each of its facts."""
    at = clock.to_text(changes.moment)
    after: dict[str, Any] = {PROPOSAL: decision.proposal_id}
    if decision.new_id is not None:
        after["superseded_by"] = decision.new_id
    if decision.kind != Kind.REOPEN:
        after["decided_at"] = at
    changes.write(
        [
            Line(decision.kind, one, decision.episode_id, None, after, decision.evidence)
            for one in decision.facts
        ],
        _decided(decision, at),
    )


def _decided(decision: ProposalDecision, at: str) -> Write:
    is_accepted = decision.kind == Kind.ACCEPT
    changed = {"state": ":state", "decided_at": ":at"}
    if is_accepted or decision.content is not None:  # a consolidation's text becomes a fact
        changed["new_id"] = "CASE WHEN sources IS NULL THEN new_id ELSE :new_id END"
        changed["content"] = "CASE WHEN sources IS NULL THEN content ELSE :content END"
    return Write(
        Update("memstore_proposals", changed, BY_ID),
        {
            "state": STATES[decision.kind],
            "at": None if decision.kind == Kind.REOPEN else at,
            "new_id": decision.new_id,
            "content": "" if is_accepted else decision.content,
            "id": decision.proposal_id,
        },
    )


STATES: Final[Mapping[str, ProposalState]] = {
    Kind.PROPOSE: ProposalState.OPEN,
    Kind.ACCEPT: ProposalState.ACCEPTED,
    Kind.REJECT: ProposalState.REJECTED,
    Kind.REOPEN: ProposalState.OPEN,
}
"""The state of a proposal after a line."""


def with_ids(transaction: Transaction, proposal_ids: Sequence[int]) -> dict[int, ProposalRow]:
    """Return these proposals as they are stored, by id."""
    listed = transaction.dialect.listed("ids")
    rows = transaction.rows(
        f"SELECT {COLUMNS} FROM memstore_proposals p WHERE p.id IN {listed} ORDER BY p.id",
        {"ids": proposal_ids},
    )
    return {row.id: row for row in map(_row, rows)}


def stored(transaction: Transaction) -> Iterator[Row]:
    """Yield the columns of :class:`ProposalRow` of every proposal as the file has them, by id."""
    return iter(
        transaction.rows(
            f"SELECT {', '.join(ProposalRow._fields)} FROM memstore_proposals ORDER BY id"
        )
    )


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


def forgetting(transaction: Transaction, fact_id: int) -> list[Write]:
    """Return the writes that blank everything in proposals that quotes a fact."""
    compared = Update("memstore_proposals", {"evidence": "NULL"}, "old_id = :id OR new_id = :id")
    summed_up = Update(
        "memstore_proposals",
        {"evidence": "NULL", "content": "''"},
        _sums_up(transaction.dialect),
        alias="p",
    )
    return [Write(compared, {"id": fact_id}), Write(summed_up, {"id": fact_id})]


def forgetting_evidence(proposal_id: int, rest: Mapping[str, Any]) -> list[Write]:
    """Return the writes that leave only this of the evidence in a proposal's line."""
    content, reasons = split(rest)
    kept = Update("memstore_proposals", {"evidence": ":rest"}, "id = :id AND evidence IS NOT NULL")
    writes = [Write(kept, {"rest": _encode(reasons), "id": proposal_id})]
    if content is None:
        blanked = Update("memstore_proposals", {"content": "''"}, "id = :id AND content <> ''")
        writes.append(Write(blanked, {"id": proposal_id}))
    return writes


def split(evidence: Mapping[str, Any] | None) -> tuple[str | None, dict[str, Any]]:
    """Return the text of a consolidation, if it is there, and the reasons, of a line's evidence."""
    reasons = dict(evidence or {})
    return reasons.pop(TEXT, None), reasons


def everything(
    transaction: Transaction, namespaces: Sequence[str] | None = None
) -> Iterator[ProposalRow]:
    """Yield the rows of proposals of some namespaces (``None``: all), by id."""
    return map(_row, ROWS.everything(transaction, COLUMNS, namespaces))


INSERTION: Final = Insert(
    "memstore_proposals",
    (
        *("id", "at", "old_id", "new_id", "similarity", "evidence", "state", "decided_at"),
        *("sources", "content"),
    ),
    unique=(),
    returning="id",
)


def place(changes: Changes, row: ProposalRow, episode_id: int | None = None) -> int | None:
    """Store a proposal and return its id; ``None`` if its facts were proposed before.

    Each fact that it would retire gets a journal line from which the row can be replayed. The
    reasons and the text of a consolidation are its evidence, which goes with what they quote.
    """
    sources = sorted(row.sources)
    old_id = min(sources, default=row.old_id)
    _, reasons = split(None if row.evidence is None else json.loads(row.evidence))
    evidence = {**reasons, TEXT: row.content} if sources and row.content else reasons
    write = Write(
        INSERTION,
        row._asdict()
        | {
            "old_id": old_id,
            "evidence": _encode(reasons),
            "sources": json.dumps(sources) if sources else None,
            "content": row.content or "" if sources else None,
        },
    )

    def lines(rows: list[Row]) -> list[Line]:
        after = {PROPOSAL: rows[0][0], **_proposed(row, sources)}
        return [
            Line(Kind.PROPOSE, id_, episode_id, None, after, evidence or None)
            for id_ in sources or [old_id]
        ]

    rows = changes.write_some([write], lines)
    return int(rows[0][0]) if rows else None


PROPOSAL: Final = "proposal"
"""The member of a line that names its proposal."""

TEXT: Final = "proposed_text"
"""The member of a line's evidence that has the text of a consolidation."""


def _proposed(row: ProposalRow, sources: Sequence[int]) -> dict[str, Any]:
    """Return what a line says of a new proposal; it may have been decided in another file."""
    about: dict[str, Any] = {"superseded_by": row.new_id}
    if sources:
        about = {"consolidates": sources, "became": row.new_id}
    about |= {"similarity": row.similarity, "at": row.at}
    if row.state != ProposalState.OPEN:
        about |= {"state": str(row.state), "decided_at": row.decided_at}
    return {name: value for name, value in about.items() if value is not None}


def replayed(lines: Sequence[JournalLine], evidence: Mapping[str, Any] | None) -> Row | None:
    """Return the columns of a proposal as its lines say; ``None`` if none of them begins it.

    Args:
        lines: its lines, oldest first.
        evidence: what is left of the evidence of the first.
    """
    first = lines[0]
    if first.kind != Kind.PROPOSE:
        return None
    said: Mapping[str, Any] = first.after or {}
    text, reasons = split(evidence)
    sources = said.get("consolidates")
    new_id = said.get("became" if sources else "superseded_by")
    state, decided_at = said.get("state", ProposalState.OPEN), said.get("decided_at")
    for line in lines[1:]:
        if line.kind == Kind.PROPOSE:
            continue  # of another of its facts
        after = line.after or {}
        state, decided_at = STATES[line.kind], after.get("decided_at")
        if sources:
            new_id = after.get("superseded_by") if line.kind == Kind.ACCEPT else None
    content = None
    if sources:
        content = "" if state == ProposalState.ACCEPTED else text or ""
    return (
        said.get(PROPOSAL),
        said.get("at"),
        min(sources) if sources else first.fact_id,
        new_id,
        said.get("similarity"),
        _encode(reasons),
        str(state),
        decided_at,
        json.dumps(sources) if sources else None,
        content,
    )


DISTRUSTED: Final = "(SELECT fact_id FROM memstore_distrusted)"


def _decidable(dialect: Dialect) -> str:
    # A proposal cannot be decided if one of its facts was retired, deleted, erased or distrusted.
    return (
        "o.superseded_by IS NULL AND o.deleted_at IS NULL"
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
    return json.dumps(evidence, ensure_ascii=False) if evidence else None


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
