"""What hangs on facts and episodes, in an export: proposals, readings, model replies, decisions.

Their lines stand behind those of everything they name. Model replies are in an export because what
was derived cannot be derived again without them but by asking, and a model may answer otherwise.
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
from memstore.database.tables.readings import CLOSED, EXTRACT, MEMORY, ReadingRow
from memstore.database.tables.replies import ReplyRow
from memstore.domain import clock
from memstore.domain.arguments import MAX_NUMBER, checked_text, stored_text
from memstore.domain.entities import EntityDecision
from memstore.domain.records import ProposalState
from memstore.transfer import lines

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from memstore.database.engine import Transaction


@dataclass(slots=True)
class Attached:
    """What hangs on the facts and episodes of an export; ids are those of the export."""

    proposals: list[ProposalRow] = field(default_factory=list)
    readings: list[ReadingRow] = field(default_factory=list)
    replies: list[ReplyRow] = field(default_factory=list)
    decisions: list[tuple[str, EntityDecision]] = field(default_factory=list)
    """Each with its namespace."""

    def counts(self) -> dict[str, int]:
        """Return how many there are of each, as the first line of an export has it."""
        return {name: len(getattr(self, name)) for name in self.__slots__}


def counted(transaction: Transaction, namespaces: Sequence[str] | None) -> dict[str, int]:
    """Return how many lines :func:`written` will yield of each kind."""
    return {
        "proposals": proposal_table.count_all(transaction, namespaces),
        "readings": reading_table.count_all(transaction, namespaces),
        "replies": reply_table.count_all(transaction, namespaces),
        "decisions": sum(1 for _ in decision_table.everything(transaction, namespaces)),
    }


def written(transaction: Transaction, namespaces: Sequence[str] | None) -> Iterator[str]:
    """Yield the lines of everything that hangs on what some namespaces hold."""
    for proposal in proposal_table.everything(transaction, namespaces):
        yield _proposal_out(proposal)
    for reading in reading_table.everything(transaction, namespaces):
        yield lines.line(
            reading={"episode": reading.episode_id, "kind": reading.kind, "asked": reading.asked}
        )
    for reply in reply_table.everything(transaction, namespaces):
        values = reply._asdict()
        yield lines.line(reply={"episode": values.pop("episode_id"), **values})
    for namespace, decision in decision_table.everything(transaction, namespaces):
        yield lines.line(
            decision={
                "namespace": namespace,
                "left": decision.left,
                "right": decision.right,
                "same": decision.same,
                "actor": decision.actor,
                "at": clock.to_text(decision.at),
            }
        )


def _proposal_out(row: ProposalRow) -> str:
    values = {
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


def take(attached: Attached, number: int, value: Mapping[str, Any], seen: Collection[Any]) -> bool:
    """Read a line of an export, checked; false if it is none of these.

    Args:
        attached: where it goes.
        number: of the line.
        value: what it holds.
        seen: ``("fact", id)`` and ``("episode", id)`` of everything that came before.

    Raises:
        TransferError: it is wrong.
    """
    try:
        match value:
            case {"proposal": dict(values)}:
                attached.proposals.append(_proposal_in(values, seen))
            case {"reading": dict(values)}:
                attached.readings.append(_reading_in(values, seen))
            case {"reply": dict(values)}:
                attached.replies.append(_reply_in(values, seen))
            case {"decision": dict(values)}:
                attached.decisions.append(_decision_in(values))
            case _:
                return False
    except (KeyError, ValueError, TypeError, RecursionError) as error:
        what = f"lacks {error}" if isinstance(error, KeyError) else f"is refused: {error}"
        raise lines.bad(number, what) from None
    return True


def _proposal_in(values: Mapping[str, Any], seen: Collection[Any]) -> ProposalRow:
    sources = values.get("sources") or []
    if not isinstance(sources, list):
        raise TypeError("sources is no list")
    named = [values["old"], *sources, *([values["new"]] if values.get("new") is not None else [])]
    for fact_id in named:
        _refuse_unseen("fact", fact_id, seen)
    similarity, evidence = values.get("similarity"), values.get("evidence")
    if evidence is not None and not isinstance(evidence, dict):
        raise TypeError("evidence is no object")
    if not sources and (values.get("new") is None or similarity is None):
        raise ValueError("a supersession names its new fact and a similarity")
    return ProposalRow(
        id=0,
        at=_moment(values, "at"),
        old_id=values["old"],
        new_id=values.get("new"),
        similarity=None if similarity is None else _share(similarity),
        evidence=None
        if evidence is None
        else json.dumps(evidence, ensure_ascii=False, allow_nan=False),
        state=ProposalState(values["state"]),
        decided_at=None if values.get("decided_at") is None else _moment(values, "decided_at"),
        sources=tuple(sources),
        content=stored_text(values.get("content", ""), "content") if sources else None,
    )


def _moment(values: Mapping[str, Any], name: str) -> str:
    return clock.to_text(clock.from_text(stored_text(values[name], name)))


def _share(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not -1.01 <= value <= 1.01:
        raise ValueError(f"similarity is a cosine, not {value!r}")
    return float(value)


def _reading_in(values: Mapping[str, Any], seen: Collection[Any]) -> ReadingRow:
    _refuse_unseen("episode", values["episode"], seen)
    if values["kind"] not in (EXTRACT, MEMORY, CLOSED):
        raise ValueError(f"there is no kind of reading {values['kind']!r}")
    asked = stored_text(values["asked"], "asked")
    if not isinstance(json.loads(asked), dict):
        raise TypeError("asked is no JSON object")
    return ReadingRow(values["episode"], values["kind"], asked)


def _reply_in(values: Mapping[str, Any], seen: Collection[Any]) -> ReplyRow:
    _refuse_unseen("episode", values["episode"], seen)
    # In the form in which a text that is erased will be looked for.
    reply = reply_table.written(json.loads(stored_text(values["reply"], "reply")))
    return ReplyRow(
        episode_id=values["episode"],
        key=checked_text(values["key"], "key", MAX_NUMBER),
        model=stored_text(values["model"], "model"),
        reply=reply,
        created_at=_moment(values, "created_at"),
    )


def _decision_in(values: Mapping[str, Any]) -> tuple[str, EntityDecision]:
    if not isinstance(values["same"], bool):
        raise TypeError("same is neither true nor false")
    decision = EntityDecision(
        left=checked_text(values["left"], "left", MAX_NUMBER),
        right=checked_text(values["right"], "right", MAX_NUMBER),
        same=values["same"],
        actor=checked_text(values["actor"], "actor", MAX_NUMBER),
        at=clock.from_text(_moment(values, "at")),
    )
    return checked_text(values["namespace"], "namespace", MAX_NUMBER), decision


def _refuse_unseen(kind: str, id_: object, seen: Collection[Any]) -> None:
    if not lines.is_whole(id_) or (kind, id_) not in seen:
        raise ValueError(f"it names {kind} {id_!r}, which no line before it holds")
