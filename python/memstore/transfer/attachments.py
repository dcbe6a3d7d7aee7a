"""The records that refer to facts and episodes: proposals, readings, replies, decisions.

In an export their lines follow those of everything they refer to. Model replies are exported
because rebuilding facts needs them: asked again, a model may answer differently.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from memstore.database.tables import entity_decisions as decision_table
from memstore.database.tables import proposals as proposal_table
from memstore.database.tables import readings as reading_table
from memstore.database.tables import replies as reply_table
from memstore.database.tables.proposals import ProposalRow
from memstore.database.tables.readings import CLOSED, EXTRACT, MEMORY, NOT_LEARNED, ReadingRow
from memstore.database.tables.replies import ReplyRow
from memstore.domain import clock
from memstore.domain.arguments import (
    MAX_NAME,
    MAX_NUMBER,
    checked_choice,
    checked_text,
    nfc,
    stored_text,
)
from memstore.domain.entities import EntityDecision
from memstore.domain.proposals import ProposalState
from memstore.domain.trust import ORDER
from memstore.history import proposals as past_proposals
from memstore.history import trust
from memstore.transfer import lines

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from memstore.database.engine import Transaction
    from memstore.domain.moments import Moment


@dataclass(slots=True)
class Attached:
    """The proposals, readings, replies and decisions of an export, with its ids."""

    proposals: list[ProposalRow] = field(default_factory=list)
    readings: list[ReadingRow] = field(default_factory=list)
    replies: list[ReplyRow] = field(default_factory=list)
    decisions: list[tuple[str, EntityDecision]] = field(default_factory=list)
    """Each with its namespace."""
    levels: list[tuple[str, str]] = field(default_factory=list)
    """What sources count, by the beginning of their names; see :mod:`memstore.domain.trust`."""

    def counts(self) -> dict[str, int]:
        """Return the number of each kind, as in the first line of an export."""
        return {name: len(getattr(self, name)) for name in self.__slots__}


def counted(
    transaction: Transaction, namespaces: Sequence[str] | None, *, levels: bool
) -> dict[str, int]:
    """Return the number of lines of each kind that :func:`written` will yield."""
    trusted = {"levels": len(trust.table(transaction).chosen)} if levels else {}
    return trusted | {
        "proposals": proposal_table.count_all(transaction, namespaces),
        "readings": reading_table.count_all(transaction, namespaces),
        "replies": reply_table.count_all(transaction, namespaces),
        "decisions": sum(1 for _ in decision_table.everything(transaction, namespaces)),
    }


def written(
    transaction: Transaction, namespaces: Sequence[str] | None, *, levels: bool
) -> Iterator[str]:
    """Yield the lines of all proposals, readings, replies and decisions of some namespaces.

    With ``levels``, which are the whole file's, also those of what sources count.
    """
    return _out(
        trust.table(transaction).chosen.items() if levels else (),
        proposal_table.everything(transaction, namespaces),
        reading_table.everything(transaction, namespaces),
        reply_table.everything(transaction, namespaces),
        decision_table.everything(transaction, namespaces),
    )


def as_of(
    transaction: Transaction,
    namespaces: Sequence[str] | None,
    moment: Moment,
    episode_ids: Collection[int],
    *,
    levels: bool,
) -> Attached:
    """Return the records that refer to facts and episodes, as far as they were there at a moment.

    Proposals are as the journal tells. Replies and decisions are known by their times, and those
    that were removed since are not known any more. A reading has no time, so it counts if there is
    a reply of then; that an episode is closed counts always.

    Args:
        transaction: the state to read.
        namespaces: of the records; ``None`` for all.
        moment: the moment.
        episode_ids: the episodes that existed then.
        levels: also what sources counted, in the whole file.
    """
    at = clock.to_text(moment.at)
    replies = [
        reply
        for reply in reply_table.everything(transaction, namespaces)
        if reply.created_at <= at and reply.episode_id in episode_ids
    ]
    replied = {reply.episode_id for reply in replies}
    readings = [
        one
        for one in reading_table.everything(transaction, namespaces)
        if one.episode_id in replied or (one.kind == CLOSED and one.episode_id in episode_ids)
    ]
    decisions = [
        (namespace, one)
        for namespace, one in decision_table.everything(transaction, namespaces)
        if one.at <= moment.at
    ]
    proposals = past_proposals.at(transaction, namespaces, moment)
    trusted = trust.table_at(transaction, moment.line).chosen if levels else {}
    return Attached(proposals, readings, replies, decisions, [*trusted.items()])


def out(attached: Attached) -> Iterator[str]:
    """Yield the lines of these records."""
    return _out(
        attached.levels,
        attached.proposals,
        attached.readings,
        attached.replies,
        attached.decisions,
    )


def _out(
    levels: Iterable[tuple[str, str]],
    proposals: Iterable[ProposalRow],
    readings: Iterable[ReadingRow],
    replies: Iterable[ReplyRow],
    decisions: Iterable[tuple[str, EntityDecision]],
) -> Iterator[str]:
    for source, level in levels:
        yield lines.line(trust={"source": source, "level": level})
    for proposal in proposals:
        yield _proposal_out(proposal)
    for reading in readings:
        yield lines.line(
            reading={"episode": reading.episode_id, "kind": reading.kind, "asked": reading.asked}
        )
    for reply in replies:
        values = reply._asdict()
        yield lines.line(reply={"episode": values.pop("episode_id"), **values})
    for namespace, decision in decisions:
        yield lines.line(decision={"namespace": namespace, **decision.to_dict()})


def _proposal_out(row: ProposalRow) -> str:
    values = {
        "id": row.id,
        "old": row.old_id,
        "new": row.new_id,
        "similarity": row.similarity,
        "evidence": None if row.evidence is None else json.loads(row.evidence),
        "state": row.state,
        "at": row.at,
        "decided_at": row.decided_at,
        "sources": list(row.sources) or None,
        "content": row.content,
    }
    return lines.line(proposal={k: v for k, v in values.items() if v is not None})


def proposal_in(values: Mapping[str, Any], seen: Collection[Any]) -> ProposalRow:
    """Read a proposal; ``seen`` holds ``("fact", id)`` for every earlier fact."""
    if not lines.is_whole(values["id"]):
        raise ValueError("id is not a whole number")
    sources = lines.of_type(list, values.get("sources") or [], "sources")
    new_id, similarity, evidence = (values.get(n) for n in ("new", "similarity", "evidence"))
    for fact_id in (values["old"], *sources, *([] if new_id is None else [new_id])):
        known_id("fact", fact_id, seen)
    if not sources and (new_id is None or similarity is None):
        raise ValueError("a supersession needs a new fact and a similarity")
    if evidence is not None:
        evidence = json.dumps(
            lines.of_type(dict, evidence, "evidence"), ensure_ascii=False, allow_nan=False
        )
    decided_at = values.get("decided_at")
    return ProposalRow(
        id=values["id"],
        at=lines.moment_in(values, "at"),
        old_id=values["old"],
        new_id=new_id,
        similarity=None if similarity is None else _cosine(similarity),
        evidence=evidence,
        state=ProposalState(values["state"]),
        decided_at=None if decided_at is None else lines.moment_in(values, "decided_at"),
        sources=tuple(sources),
        content=stored_text(values.get("content", ""), "content") if sources else None,
    )


def _cosine(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not -1.01 <= value <= 1.01:
        raise ValueError(f"similarity is not a cosine: {value!r}")
    return float(value)


def reading_in(values: Mapping[str, Any], seen: Collection[Any]) -> ReadingRow:
    known_id("episode", values["episode"], seen)
    if values["kind"] not in (EXTRACT, MEMORY, CLOSED, NOT_LEARNED):
        raise ValueError(f"unknown kind of reading {values['kind']!r}")
    asked = stored_text(values["asked"], "asked")
    lines.of_type(dict, json.loads(asked), "asked")
    return ReadingRow(values["episode"], values["kind"], asked)


def reply_in(values: Mapping[str, Any], seen: Collection[Any]) -> ReplyRow:
    known_id("episode", values["episode"], seen)
    # Written in the form in which erasing searches replies for a text.
    reply = reply_table.written(json.loads(stored_text(values["reply"], "reply")))
    return ReplyRow(
        episode_id=values["episode"],
        key=checked_text(values["key"], "key", MAX_NUMBER),
        model=stored_text(values["model"], "model"),
        reply=reply,
        created_at=lines.moment_in(values, "created_at"),
    )


def decision_in(values: Mapping[str, Any]) -> tuple[str, EntityDecision]:
    namespace, left, right, actor = (
        checked_text(values[name], name, MAX_NUMBER)
        for name in ("namespace", "left", "right", "actor")
    )
    same = lines.of_type(bool, values["same"], "same")
    at = clock.from_text(lines.moment_in(values, "at"))
    return nfc(namespace), EntityDecision(left=left, right=right, same=same, actor=actor, at=at)


def level_in(values: Mapping[str, Any]) -> tuple[str, str]:
    source = checked_text(values["source"], "source", MAX_NAME)
    return source.strip().casefold(), checked_choice(values["level"], ORDER, "level")


def known_id(kind: str, id_: Any, seen: Collection[Any]) -> int:
    """Return an id after checking that an earlier line holds its fact or episode."""
    if not lines.is_whole(id_) or (kind, id_) not in seen:
        raise ValueError(f"refers to {kind} {id_!r}, which is not in an earlier line")
    return int(id_)
