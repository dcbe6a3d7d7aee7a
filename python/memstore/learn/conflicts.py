"""Conflicts between the operations of one decision, resolved before anything is written.

The rules stand in the second table of :mod:`memstore.learn.decision`, and here one function each.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final, NamedTuple

from memstore.domain import clock
from memstore.learn.operations import Add, Decisions, Delete, Keep, Refusal, Update

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from memstore.domain.records import Fact, NewFact
    from memstore.learn.operations import MemoryOperation

LATEST: Final = datetime.max.replace(tzinfo=UTC)
"""When a fact without a time was said: now, which is after everything that is held."""


class Proposal(NamedTuple):
    """One usable operation of a model's reply."""

    event: str
    place: int
    """Which of the facts, from 0."""
    memory: Fact | None = None
    text: str | None = None
    """The memory's new text, for an UPDATE."""

    @property
    def memory_id(self) -> int:
        """The memory's id, 0 for none."""
        return 0 if self.memory is None else self.memory.id


def same(one: str, other: str) -> bool:
    """Whether two texts are the same but for case and blanks."""
    return _plain(one) == _plain(other)


def same_claim(one: Fact | NewFact, other: Fact | NewFact) -> bool:
    """Whether two facts say the same about the same."""
    return same(one.content, other.content) and same(one.subject, other.subject)


def _plain(text: str) -> str:
    return " ".join(text.split()).casefold()


def resolved(
    facts: Sequence[NewFact],
    shown: Sequence[Fact],
    proposals: Iterable[Proposal],
    delete_share: float,
) -> Decisions:
    """Return the operations that stand, in the order of the facts, and what was refused.

    Args:
        facts: the new facts.
        shown: the memories the model was shown.
        proposals: what it wants, every number in it known to be good.
        delete_share: of the shown memories, how many may be deleted when more than one is.
    """
    conflict = _Conflict(facts, list({_key(p): p for p in proposals}.values()))
    conflict.refuse_going_back()
    conflict.leave_one_update_a_memory()
    conflict.leave_one_change_a_memory()
    conflict.leave_one_place_a_fact()
    conflict.refuse_many_deletions(len(shown), delete_share)
    decisions = Decisions()
    decisions.refused = conflict.refused
    for proposal in sorted(conflict.left, key=lambda proposal: proposal.place):
        _append_new(decisions, _operation(proposal, facts[proposal.place]))
    return decisions


def _key(proposal: Proposal) -> tuple[str, int, int, str]:
    return proposal.event, proposal.place, proposal.memory_id, proposal.text or ""


class _Conflict:
    """What is left of the proposals while one rule after the other is applied."""

    def __init__(self, facts: Sequence[NewFact], proposals: list[Proposal]) -> None:
        self.left = proposals
        self.refused: list[Refusal] = []
        self._facts = facts

    def _drop(self, reason: str, losing: Callable[[Proposal], bool]) -> None:
        for proposal in filter(losing, self.left):
            text = self._facts[proposal.place].content
            self.refused.append(Refusal(proposal.event, reason, text, proposal.memory_id or None))
        self.left = [proposal for proposal in self.left if not losing(proposal)]

    def _said_at(self, proposal: Proposal) -> datetime:
        return clock.moment(self._facts[proposal.place].valid_at, "valid_at") or LATEST

    def refuse_going_back(self) -> None:
        """Refuse to let an older fact change what is known since later."""
        self._drop(
            "the memory is newer than the fact",
            lambda p: (
                p.event in ("UPDATE", "DELETE")
                and p.memory is not None
                and self._said_at(p) < (p.memory.valid_at or p.memory.created_at)
            ),
        )

    def leave_one_update_a_memory(self) -> None:
        """Let the update said last stand where several would change one memory.

        What was said at the same time is no correction of it, which extraction would have left
        out: such a fact becomes a memory of its own, or nothing would hold it.
        """
        last: dict[int, Proposal] = {}
        for proposal in self._of("UPDATE"):
            standing = last.get(proposal.memory_id)
            if standing is None or self._order(proposal) >= self._order(standing):
                last[proposal.memory_id] = proposal
        self.left = [
            Proposal("ADD", p.place) if p.event == "UPDATE" and self._beside(p, last) else p
            for p in self.left
        ]
        self._drop(
            "a later fact updates the same memory",
            lambda p: p.event == "UPDATE" and p is not last[p.memory_id],
        )

    def _beside(self, proposal: Proposal, last: Mapping[int, Proposal]) -> bool:
        """Whether an update gives way to that of another fact, said at the same time."""
        standing = last[proposal.memory_id]
        return proposal.place != standing.place and self._said_at(proposal) == self._said_at(
            standing
        )

    def _order(self, proposal: Proposal) -> tuple[datetime, int]:
        return self._said_at(proposal), proposal.place

    def leave_one_change_a_memory(self) -> None:
        """Let an update stand against a deletion, and either against keeping; delete once.

        A deletion gives way to a fact said later that has the memory again: in doubt it stays.
        """
        updated = {p.memory_id for p in self._of("UPDATE")}
        self._drop(
            "another fact updates the same memory",
            lambda p: p.event == "DELETE" and p.memory_id in updated,
        )
        kept: dict[int, Proposal] = {}
        for proposal in sorted(self._of("NONE"), key=self._order):
            kept[proposal.memory_id] = proposal
        self._drop(
            "a fact said later has the same memory again",
            lambda p: (
                p.event == "DELETE"
                and p.memory_id in kept
                and self._order(p) < self._order(kept[p.memory_id])
            ),
        )
        changed = updated | {p.memory_id for p in self._of("DELETE")}
        self._drop(
            "another operation changes the same memory",
            lambda p: p.event == "NONE" and p.memory_id in changed,
        )
        deleted: dict[int, Proposal] = {}
        for proposal in self._of("DELETE"):
            deleted.setdefault(proposal.memory_id, proposal)
        self.left = [p for p in self.left if p.event != "DELETE" or p is deleted[p.memory_id]]

    def leave_one_place_a_fact(self) -> None:
        """Do not add a fact that an update carries already, nor call nothing what is something."""
        carried = {p.place for p in self._of("UPDATE")}
        self._drop(
            "an update carries the fact already",
            lambda p: p.event == "ADD" and p.place in carried,
        )
        busy = {p.place for p in self.left if p.event != "NONE"}
        self.left = [p for p in self.left if p.event != "NONE" or p.place not in busy]

    def refuse_many_deletions(self, shown: int, share: float) -> None:
        """Refuse every deletion where there are more than one and more than a share."""
        number = len(self._of("DELETE"))
        if number > 1 and number > share * shown:
            self._drop(
                f"the model wants to delete {number} of the {shown} memories it was shown, and "
                f"{share:.0%} is the most: delete them by id if that is meant",
                lambda p: p.event == "DELETE",
            )

    def _of(self, event: str) -> list[Proposal]:
        return [proposal for proposal in self.left if proposal.event == event]


def _operation(proposal: Proposal, fact: NewFact) -> MemoryOperation:
    memory = proposal.memory
    if proposal.event == "UPDATE" and memory is not None and proposal.text is not None:
        new = replace(
            fact,
            content=proposal.text,
            subject=memory.subject,
            category=memory.category,
            supersedes=memory.id,
        )
        return Update(memory, new, fact)
    if proposal.event == "DELETE" and memory is not None:
        return Delete(memory, fact)
    return Add(fact) if proposal.event == "ADD" else Keep(memory, fact)


def _append_new(decisions: Decisions, operation: MemoryOperation) -> None:
    """Append an operation unless one of those before it stores the same claim."""
    if isinstance(operation, Add | Update):
        for place, other in enumerate(decisions):
            if isinstance(other, Add | Update) and same_claim(other.fact, operation.fact):
                if isinstance(operation, Update) and isinstance(other, Add):
                    decisions[place] = operation
                    return
                if isinstance(operation, Update):
                    decisions.refused.append(_doubling(operation))
                return
    decisions.append(operation)


def _doubling(update: Update) -> Refusal:
    reason = "another operation stores the same text"
    return Refusal("UPDATE", reason, update.said.content, update.memory.id)
