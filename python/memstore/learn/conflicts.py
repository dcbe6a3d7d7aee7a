"""Resolving conflicts between the decisions of one reply, before anything is written.

The rules are the second table of :mod:`memstore.learn.decision`, one method each.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from memstore.domain import clock
from memstore.learn.events import Decision, Decisions, Refusal
from memstore.learn.supersession import not_retracted
from memstore.text.faithfulness import missing, shared, unfaithful
from memstore.text.folding import claim, folded
from memstore.text.judge import Claim, Verdict, judge

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from datetime import datetime

    from memstore.domain.records import Fact, NewFact


KEPT: Final = 0.5
"""An update must contain this share of the words of the memory, and of the fact."""


def same(one: str, other: str) -> bool:
    """Whether two texts are equal apart from case, blanks and a full stop at the end."""
    return folded(one) == folded(other)


def same_claim(one: Fact | NewFact, other: Fact | NewFact) -> bool:
    return claim(one.subject, one.content) == claim(other.subject, other.content)


def resolved(wanted: Iterable[Decision], shown: int, change_share: float) -> Decisions:
    """Return the remaining decisions, in the order of the facts, and the refused ones.

    ``shown`` is how many memories the model was shown, and ``change_share`` the share of them that
    may be updated or deleted; one always may.
    """
    conflicts = _Conflicts(wanted)
    conflicts.refuse_older_facts()
    conflicts.propose_what_is_unproven()
    conflicts.add_what_would_be_lost()
    conflicts.keep_one_update_per_memory()
    conflicts.keep_one_change_per_memory()
    conflicts.leave_enough(shown, change_share)
    conflicts.keep_one_place_per_fact()
    conflicts.store_each_claim_once()
    conflicts.propose_nothing_decided()
    return Decisions(conflicts.left, refused=conflicts.refused)


class _Conflicts:
    """The remaining decisions while one rule after another is applied."""

    def __init__(self, wanted: Iterable[Decision]) -> None:
        self.left = list({(d.event, d.place, d.memory_id, d.text): d for d in wanted}.values())
        self.refused: list[Refusal] = []

    def _refuse(self, reason: str, losing: Callable[[Decision], bool]) -> None:
        self.refused += [_refusal(d, reason) for d in self.left if losing(d)]
        self.left = [d for d in self.left if not losing(d)]

    def _of(self, event: str) -> list[Decision]:
        return [d for d in self.left if d.event == event]

    def refuse_older_facts(self) -> None:
        """Refuse to let an older fact change a newer memory."""
        self._refuse(
            "the memory is newer than the fact",
            lambda d: (
                d.event in ("UPDATE", "DELETE")
                and d.memory is not None
                and _said_at(d) < (d.memory.valid_at or d.memory.created_at)
            ),
        )

    def propose_what_is_unproven(self) -> None:
        """Add the fact of each deletion that it does not prove, and ask about the memory.

        A fact can be proposed in place of one memory: the one it has most words in common with.
        """
        unproven = [d for d in self._of("DELETE") if not_retracted(*_texts(d))]
        asked: dict[int, Decision] = {}
        for deletion in unproven:
            best = asked.setdefault(deletion.place, deletion)
            if len(shared(*_texts(deletion))) > len(shared(*_texts(best))):
                asked[deletion.place] = deletion
        chosen = [*asked.values()]
        self._refuse(
            "nothing in the fact speaks against the memory",
            lambda d: d in unproven and d not in chosen,
        )
        self.left = [
            d._replace(event="ADD", memory=None, against=d.memory) if d in chosen else d
            for d in self.left
        ]

    def propose_nothing_decided(self) -> None:
        """Drop the proposals against memories that another operation changes or confirms."""
        decided = {d.memory_id for d in self.left if d.memory is not None}
        for place, d in enumerate(self.left):
            if d.against is not None and d.against.id in decided:
                self._report(d, "another operation is about the same memory")
                self.left[place] = d._replace(against=None)

    def _report(self, proposing: Decision, reason: str) -> None:
        memory = proposing.against
        if memory is not None:
            self.refused.append(Refusal("DELETE", reason, proposing.fact.content, memory.id))

    def add_what_would_be_lost(self) -> None:
        """Add each fact that its operation on a memory would lose."""
        for decision in self.left:
            if (why := _lost(decision)) is None:
                continue
            if decision.event == "DELETE":
                self.left = [*self.left, decision._replace(event="ADD", memory=None)]
            else:
                self._add_instead(decision, why)

    def _add_instead(self, decision: Decision, reason: str) -> None:
        """Refuse an operation, and add its fact."""
        self.refused.append(_refusal(decision, f"{reason}; the fact is added"))
        added = decision._replace(event="ADD", memory=None, text=None)
        self.left = [added if d is decision else d for d in self.left]

    def keep_one_update_per_memory(self) -> None:
        """If several updates would change one memory, keep the one said last.

        One said at the same time is not a correction, because extraction would have left out the
        corrected claim; its fact is added as a separate memory, so that it is not lost.
        """
        last: dict[int | None, Decision] = {}
        for update in sorted(self._of("UPDATE"), key=_order):
            last[update.memory_id] = update
        self.left = [
            d._replace(event="ADD", memory=None, text=None) if _simultaneous(d, last) else d
            for d in self.left
        ]
        self._refuse(
            "a later fact updates the same memory",
            lambda d: d.event == "UPDATE" and d is not last[d.memory_id],
        )

    def keep_one_change_per_memory(self) -> None:
        """Prefer an update to a deletion, and either of them to NONE; delete a memory once.

        A memory is not deleted if a later fact still confirms it.
        """
        updated = {d.memory_id for d in self._of("UPDATE")}
        self._refuse(
            "another fact updates the same memory",
            lambda d: d.event == "DELETE" and d.memory_id in updated,
        )
        confirmed = {d.memory_id: d for d in sorted(self._of("NONE"), key=_order)}
        self._refuse(
            "a fact said later confirms the same memory",
            lambda d: (
                d.event == "DELETE"
                and d.memory_id in confirmed
                and _order(d) < _order(confirmed[d.memory_id])
            ),
        )
        changed = updated | {d.memory_id for d in self._of("DELETE")}
        self._refuse(
            "another operation changes the same memory",
            lambda d: d.event == "NONE" and d.memory_id in changed,
        )
        deleted = {d.memory_id: d for d in reversed(self._of("DELETE"))}
        self._refuse(
            "another fact deletes the same memory",
            lambda d: d.event == "DELETE" and d is not deleted[d.memory_id],
        )

    def leave_enough(self, shown: int, share: float) -> None:
        """Refuse changes to more than a share of the memories shown; one is always allowed.

        Updates have priority, because they lose nothing; if one is refused, its fact is added.
        Deletions are carried out together or not at all.
        """
        most = max(1, int(share * shown))
        updates, deletions = self._of("UPDATE"), self._of("DELETE")
        wanted = len(updates) + len(deletions)
        if wanted <= most:
            return
        reason = (
            f"the model wants to change {wanted} of the {shown} memories it was shown; "
            f"at most {most} may change"
        )
        self._refuse(f"{reason}: delete them by id if intended", lambda d: d.event == "DELETE")
        for update in updates[most:]:
            self._add_instead(update, reason)

    def keep_one_place_per_fact(self) -> None:
        """Refuse to add a fact that an update stores; drop a NONE if there is another decision."""
        updating = {d.place for d in self._of("UPDATE")}
        for d in self._of("ADD"):
            if d.place in updating:
                self._report(d, "an update of another memory stores the fact")
        self._refuse(
            "an update stores the fact", lambda d: d.event == "ADD" and d.place in updating
        )
        busy = {d.place for d in self.left if d.event != "NONE"}
        self.left = [d for d in self.left if d.event != "NONE" or d.place not in busy]
        named = {d.place for d in self.left if d.memory is not None}
        self.refused += [
            _refusal(d, "the model found it not worth remembering")
            for d in self._of("NONE")
            if d.place not in named
        ]

    def store_each_claim_once(self) -> None:
        """If several store the same claim, keep the first update, or else the first addition."""
        left: list[Decision] = []
        for decision in sorted(self.left, key=lambda d: d.place):
            place = next((i for i, d in enumerate(left) if _store_the_same(d, decision)), None)
            if place is None:
                left.append(decision)
            elif decision.event == "UPDATE" and left[place].event == "ADD":
                self._report(left[place], "an update stores the same text")
                left[place] = decision
            elif decision.event == "UPDATE":
                self.refused.append(_refusal(decision, "another operation stores the same text"))
            elif left[place].against is None and left[place].event == "ADD":
                left[place] = left[place]._replace(against=decision.against)
            else:
                self._report(decision, "another operation stores the same text")
        self.left = left


def _lost(decision: Decision) -> str | None:
    """Return why a fact would be lost by its operation; ``None`` if it would not.

    An update must say what the memory and the fact say. A memory that is deleted because of a
    fact, or that supposedly holds it already, must be about the same thing.
    """
    memory, fact = decision.memory, decision.fact
    if memory is None:
        return None
    about = _common_words(memory.subject, fact.subject)
    if decision.text is not None:
        text = decision.text
        if why := unfaithful([memory.content, fact.content], text, about):
            return f"the new text is not faithful: {why}"
        for source in (memory.content, fact.content):
            if why := missing(source, text, about, least=KEPT, denials=False):
                return f"the new text is not faithful: {why}"
        return None
    if same_claim(memory, fact):
        return None
    judged = judge(Claim(memory.content, about), Claim(fact.content, about), 1.0)
    if decision.event == "NONE" and judged.verdict is Verdict.RETIRE:
        return f"memory {memory.id} does not hold the fact, which {judged.rule.value}"
    why = missing(fact.content, memory.content, about, denials=decision.event == "NONE")
    return why and f"memory {memory.id} does not hold the fact: {why}"


def _texts(deletion: Decision) -> tuple[str, str, str]:
    """Return the texts of the memory and the fact, and the words that both subjects have."""
    memory, fact = deletion.memory, deletion.fact
    if memory is None:
        return "", fact.content, ""
    return memory.content, fact.content, _common_words(memory.subject, fact.subject)


def _common_words(one: str, other: str) -> str:
    words = set(other.casefold().split())
    return " ".join(word for word in one.casefold().split() if word in words)


def _refusal(decision: Decision, reason: str) -> Refusal:
    return Refusal(decision.event, reason, decision.fact.content, decision.memory_id)


def _store_the_same(one: Decision, other: Decision) -> bool:
    return one.stores and other.stores and same_claim(one.stored, other.stored)


def _said_at(decision: Decision) -> datetime:
    return clock.moment(decision.fact.valid_at, "valid_at") or clock.LATEST


def _order(decision: Decision) -> tuple[datetime, int]:
    return _said_at(decision), decision.place


def _simultaneous(decision: Decision, last: Mapping[int | None, Decision]) -> bool:
    """Whether a fact said at the same time updates the same memory instead."""
    if decision.event != "UPDATE":
        return False
    kept = last[decision.memory_id]
    return decision.place != kept.place and _said_at(decision) == _said_at(kept)
