"""What a decision can be: add, update, delete or keep, and what was refused and why."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from memstore.domain.records import Fact, NewFact


@dataclass(frozen=True, slots=True)
class Add:
    """Store a new fact as a memory of its own."""

    fact: NewFact


@dataclass(frozen=True, slots=True)
class Update:
    """Let a new text supersede a memory; the old text stays in its chain."""

    memory: Fact
    fact: NewFact
    """The superseding fact: subject and category are the memory's, the text is the new one."""
    said: NewFact
    """The fact that says so."""


@dataclass(frozen=True, slots=True)
class Delete:
    """Put a tombstone on a memory that no longer holds and that nothing takes the place of."""

    memory: Fact
    fact: NewFact
    """The fact that says so."""


@dataclass(frozen=True, slots=True)
class Keep:
    """Change nothing."""

    memory: Fact | None
    """The memory that says it already; ``None``: it is not worth remembering."""
    fact: NewFact


MemoryOperation: TypeAlias = Add | Update | Delete | Keep


@dataclass(frozen=True, slots=True)
class Refusal:
    """Something a model wanted, or left out, that was not carried out."""

    event: str
    """``ADD``, ``UPDATE``, ``DELETE`` or ``NONE``; ``""`` where there was no telling."""
    reason: str
    fact: str | None = None
    """The text of the new fact it was about, if that is known."""
    memory_id: int | None = None
    """The memory it was about, if that is known."""


class Decisions(list[MemoryOperation]):
    """The operations of one decision, in the order of the facts, free of conflicts."""

    def __init__(self) -> None:
        super().__init__()
        self.refused: list[Refusal] = []
        """What was not carried out, and why; empty when the reply was in order."""
