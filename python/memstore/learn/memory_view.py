"""Facts as Memory shows them: a memory, a change to one, and everything that happened to it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, TypedDict

from memstore.database.journal import Kind
from memstore.domain import clock

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from memstore.domain.records import Fact, Operation

EVENTS: Final = {
    Kind.ADD: "ADD",
    Kind.ADOPT: "ADD",
    Kind.SUPERSEDE: "UPDATE",
    Kind.DELETE: "DELETE",
    Kind.KEEP: "NONE",
    Kind.RESTORE: "RESTORE",
    Kind.METADATA: "METADATA",
    Kind.CONFIRM: "CONFIRM",
    Kind.PROPOSE: "PROPOSE",
    Kind.REJECT: "REJECT",
    Kind.ERASE: "ERASE",
}
"""What each kind of operation is called in a history; the rest changes nothing that is held."""

UNSEEN: Final = (
    "uuid", "content", "embedded", "embed_error", "idempotency_key", "namespace", "derivation",
)  # fmt: skip


class MemoryChange(TypedDict):
    """What became of one memory; every key is always there."""

    id: int | None
    """The memory that holds now, or held last; ``None`` where none was made."""
    memory: str
    """Its text."""
    event: str
    """``ADD``, ``UPDATE``, ``DELETE`` or ``NONE``."""
    previous_id: int | None
    """The memory that an UPDATE superseded."""
    previous: str | None
    """Its text, or for a DELETE the text that was deleted."""


class MemoryEvent(TypedDict):
    """One thing that happened to a memory; every key is always there."""

    id: int
    """The memory it happened to; of an UPDATE, the new one."""
    event: str
    memory: str | None
    """The text afterwards; ``None`` after a DELETE or ERASE."""
    previous: str | None
    """The text before, where there was one and it changed."""
    at: str
    actor: str
    source: str
    evidence: dict[str, Any] | None
    """Why, where no person decided it."""


def changed(event: str, fact: Fact, previous: Fact | None = None) -> MemoryChange:
    """Return a change as it is told to a caller."""
    return {
        "id": fact.id,
        "memory": fact.content,
        "event": event,
        "previous_id": None if previous is None else previous.id,
        "previous": None if previous is None else previous.content,
    }


def unchanged(text: str) -> MemoryChange:
    """Return the change for a text of which no memory was made."""
    return {"id": None, "memory": text, "event": "NONE", "previous_id": None, "previous": None}


def shown(fact: Fact) -> dict[str, Any]:
    """Return a fact as a memory: JSON values, its text under ``memory``, what is unset left out."""
    values = {name: value for name, value in fact.to_dict().items() if name not in UNSEEN}
    return {"id": fact.id, "memory": fact.content} | values


def past(chain: Sequence[Fact], operations: Sequence[Operation]) -> list[MemoryEvent]:
    """Return what happened to a chain of facts, oldest first."""
    texts = {fact.id: fact.content or None for fact in chain}
    born = {
        (operation.after or {}).get("superseded_by"): operation.id
        for operation in operations
        if operation.kind == Kind.SUPERSEDE
    }
    return [
        event
        for operation in operations
        for event in _event(operation, texts)
        # A fact born to supersede is one event, an UPDATE: its two lines follow each other,
        # since they were written in one transaction.
        if not (operation.kind == Kind.ADD and born.get(operation.fact_id) == operation.id + 1)
    ]


def _event(operation: Operation, texts: dict[int, str | None]) -> Iterator[MemoryEvent]:
    if operation.kind not in EVENTS or operation.fact_id is None:
        return
    kind, fact_id = Kind(operation.kind), operation.fact_id
    text = texts.get(fact_id)
    before = None
    if kind is Kind.SUPERSEDE:
        fact_id = (operation.after or {}).get("superseded_by", fact_id)
        before, text = text, texts.get(fact_id)
    elif kind in (Kind.DELETE, Kind.ERASE):
        before, text = text, None
    yield {
        "id": fact_id,
        "event": EVENTS[kind],
        "memory": text,
        "previous": before,
        "at": clock.to_text(operation.at),
        "actor": operation.actor,
        "source": operation.source,
        "evidence": operation.evidence,
    }
