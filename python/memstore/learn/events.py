"""Decisions about new facts: the event of each, and refusals."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from memstore.domain.metadata import merge_patch
from memstore.domain.results import Results
from memstore.frozen import field, frozen, replace
from memstore.named import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

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
    """The memory's new text, for an ``UPDATE``; ``None`` if the fact itself replaces it."""
    also: tuple[Decision, ...] = ()
    """For an ``UPDATE`` without a text: those by which the fact replaces further memories."""
    against: Fact | None = None
    """For an ``ADD``: the memory that the model wanted to retire, without proof. A person is asked
    whether the fact replaces it."""
    wanted: str = "DELETE"
    """For an ``ADD`` with :attr:`against`: how the model wanted to retire it."""
    evidence: Mapping[str, Any] | None = None
    """What the words say about the memory, in JSON values."""
    proven: bool = False
    """For an ``UPDATE``: whether the words alone prove that the memory is replaced."""
    outranked: bool = False
    """For an ``ADD``: it is against a memory that counts more than what was said."""

    @property
    def memory_id(self) -> int | None:
        return None if self.memory is None else self.memory.id

    @property
    def memories(self) -> list[Fact]:
        """The memories that it changes, keeps or is against."""
        own = [self.memory, self.against, *(one.memory for one in self.also)]
        return [memory for memory in own if memory is not None]

    @property
    def replaces(self) -> bool:
        """Whether the fact itself replaces a memory, as it was extracted."""
        return self.event == "UPDATE" and self.text is None

    @property
    def stored(self) -> NewFact:
        """The fact to store; for an ``UPDATE`` it supersedes the memory."""
        if self.memory is None or self.event != "UPDATE":
            return self.fact
        replacing = replace(
            self.fact,
            metadata=merge_patch(self.memory.metadata, self.fact.metadata or {}),
            supersedes=self.memory.id,
        )
        if self.text is None:
            return replace(replacing, any_subject=True)
        return replace(
            replacing,
            content=self.text,
            subject=self.memory.subject,
            category=self.memory.category,
        )

    @property
    def stores(self) -> bool:
        return self.event in ("ADD", "UPDATE")

    def adding(self) -> Decision:
        """Return the decision to add the fact as it is, beside the memory."""
        return Decision("ADD", self.fact, self.place)


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
