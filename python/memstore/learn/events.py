"""Decisions about new facts: the event of each, and refusals."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from memstore.domain.metadata import merge_patch
from memstore.domain.results import Results
from memstore.frozen import field, frozen, replace

if TYPE_CHECKING:
    from memstore.domain.records import Fact, NewFact

EVENTS: Final = ("ADD", "UPDATE", "DELETE", "NONE")


class Decision(NamedTuple):
    """What a new fact does to the memories.

    ``ADD`` stores it as a new memory, ``UPDATE`` supersedes a memory with a new text, ``DELETE``
    puts a tombstone on a memory that is no longer true, ``NONE`` changes nothing.
    """

    event: str
    fact: NewFact
    place: int
    """The fact's place among the new facts, from 0."""
    memory: Fact | None = None
    """The memory it is about; ``None`` for an ``ADD``, and for a fact not worth remembering."""
    text: str | None = None
    """The memory's new text, for an ``UPDATE``."""
    against: Fact | None = None
    """For an ``ADD``: the memory that the model wanted to delete, without proof. A person is asked
    whether the fact replaces it."""
    outranked: bool = False
    """For an ``ADD``: it is against a memory that counts more than what was said."""

    @property
    def memory_id(self) -> int | None:
        return None if self.memory is None else self.memory.id

    @property
    def stored(self) -> NewFact:
        """The fact to store; for an ``UPDATE`` it supersedes the memory."""
        if self.memory is None or self.text is None:
            return self.fact
        return replace(
            self.fact,
            content=self.text,
            subject=self.memory.subject,
            category=self.memory.category,
            metadata=merge_patch(self.memory.metadata, self.fact.metadata or {}),
            supersedes=self.memory.id,
        )

    @property
    def stores(self) -> bool:
        return self.event in ("ADD", "UPDATE")


@frozen
class Refusal:
    """An operation that was refused, or a fact that the model did not decide."""

    event: str
    """``ADD``, ``UPDATE``, ``DELETE`` or ``NONE``; ``""`` if unknown."""
    reason: str
    fact: str | None = None
    """The text of the new fact it was about, if known."""
    memory_id: int | None = None
    """The memory it was about, if known."""


@frozen
class Decisions(Results[Decision]):
    """Decisions about new facts, in the order of the facts and free of conflicts."""

    refused: list[Refusal] = field(default_factory=list)
    """What was not carried out, and why; empty if the reply was valid."""
