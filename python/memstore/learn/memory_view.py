"""Shows facts as Memory does: as a memory, as an event, and as the history of a memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, TypedDict

from memstore.database.journal import Kind
from memstore.domain import clock

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from memstore.domain.records import Fact, JournalLine

EVENTS: Final = {
    Kind.ADOPT: "ADD",
    Kind.SUPERSEDE: "UPDATE",
    Kind.UNSUPERSEDE: "RESTORE",
    Kind.KEEP: "NONE",
} | {
    Kind(name.lower()): name
    for name in "ADD DELETE RESTORE METADATA CONFIRM PROPOSE REJECT ERASE".split()
}
"""The event name of each kind of journal line; other kinds do not change a memory."""

HIDDEN: Final = (
    "uuid", "content", "embedded", "embed_error", "idempotency_key", "namespace", "derivation",
)  # fmt: skip


class MemoryEvent(TypedDict):
    """What one call did to a memory; every key is always present."""

    id: int | None
    """The current memory, or the last one; ``None`` if there is none."""
    memory: str
    """Its text."""
    event: str
    """``ADD``, ``UPDATE``, ``DELETE`` or ``NONE``."""
    previous_id: int | None
    """The memory that an UPDATE superseded."""
    previous: str | None
    """Its text, or for a DELETE the text that was deleted."""


class PastMemoryEvent(TypedDict):
    """An event in the history of a memory; every key is always present."""

    id: int
    """The memory it happened to; for an UPDATE, the new one."""
    event: str
    memory: str | None
    """The text afterwards; ``None`` after a DELETE or ERASE."""
    previous: str | None
    """The text before, if it changed."""
    at: str
    actor: str
    source: str
    evidence: dict[str, Any] | None
    """The reasons, if a program decided it."""


def memory_event(event: str, fact: Fact, previous: Fact | None = None) -> MemoryEvent:
    return {
        "id": fact.id,
        "memory": fact.content,
        "event": event,
        "previous_id": None if previous is None else previous.id,
        "previous": None if previous is None else previous.content,
    }


def deleted(fact: Fact) -> MemoryEvent:
    return memory_event("DELETE", fact) | {"previous": fact.content}


def no_event(text: str) -> MemoryEvent:
    return {"id": None, "memory": text, "event": "NONE", "previous_id": None, "previous": None}


def as_memory(fact: Fact) -> dict[str, Any]:
    """Return a fact as a memory: its set fields as JSON values, its text under ``memory``."""
    values = {name: value for name, value in fact.to_dict().items() if name not in HIDDEN}
    return {"id": fact.id, "memory": fact.content} | values


def history(chain: Sequence[Fact], lines: Sequence[JournalLine]) -> list[PastMemoryEvent]:
    """Return what happened to a chain of facts, oldest first."""
    texts = {fact.id: fact.content or None for fact in chain}
    born = {
        (line.after or {}).get("superseded_by"): line.id
        for line in lines
        if line.kind == Kind.SUPERSEDE
    }
    return [
        event
        for line in lines
        for event in _event(line, texts)
        # Adding a fact that supersedes another is one event, an UPDATE: its two lines are
        # adjacent, because they were written in one transaction.
        if not (line.kind == Kind.ADD and born.get(line.fact_id) == line.id + 1)
    ]


def _event(line: JournalLine, texts: dict[int, str | None]) -> Iterator[PastMemoryEvent]:
    if line.kind not in EVENTS or line.fact_id is None:
        return
    kind, fact_id = Kind(line.kind), line.fact_id
    text = texts.get(fact_id)
    before = None
    if kind is Kind.SUPERSEDE:
        fact_id = (line.after or {}).get("superseded_by", fact_id)
        before, text = text, texts.get(fact_id)
    elif kind in (Kind.DELETE, Kind.ERASE):
        before, text = text, None
    yield {
        "id": fact_id,
        "event": EVENTS[kind],
        "memory": text,
        "previous": before,
        "at": clock.to_text(line.at),
        "actor": line.actor,
        "source": line.source,
        "evidence": line.evidence,
    }
