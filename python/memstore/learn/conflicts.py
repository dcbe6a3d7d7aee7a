"""Resolving conflicts between the decisions of one reply, before anything is written.

The rules are the second table of :mod:`memstore.learn.decision`, one method each.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from memstore.domain import clock, moments
from memstore.frozen import frozen
from memstore.learn.events import Decision, Decisions, Refusal
from memstore.learn.supersession import not_retracted
from memstore.text.faithfulness import added_words, lost_words, missing, shared, unfaithful
from memstore.text.folding import claim, spaced
from memstore.text.judge import Claim, Rule, Verdict, judge
from memstore.text.slots import told_at

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from datetime import datetime

    from memstore.domain.records import Fact, NewFact
    from memstore.learn.witness import Testimony, Witness

KEPT: Final = 0.5
"""An update must contain this share of the words of the memory, and of the fact."""


def same(one: str, other: str) -> bool:
    """Whether two texts are equal apart from blanks and a full stop at the end."""
    return spaced(one) == spaced(other)


def same_claim(one: Fact | NewFact, other: Fact | NewFact) -> bool:
    return claim(one.subject, one.content) == claim(other.subject, other.content)


@frozen(kw_only=True)
class Allowance:
    """How many memories may be updated or deleted in one call; a single one always may."""

    shown: int
    """How many memories the model was shown."""
    share: float
    """The share of them that may change."""
    changed: int = 0
    """How many earlier replies of the call change."""

    @property
    def most(self) -> int:
        """How many may still change."""
        return max(0, max(1, int(self.share * self.shown)) - self.changed)


def resolved(
    wanted: Iterable[Decision], allowance: Allowance, witness: Witness | None = None
) -> Decisions:
    """Return the remaining decisions, in the order of the facts, and the refused ones.

    With a ``witness`` a memory is retired only where the words see a change too; without one, the
    model is trusted to know.
    """
    conflicts = _Conflicts(wanted)
    conflicts.refuse_older_facts()
    if witness is None:
        conflicts.propose_what_is_unproven()
    else:
        conflicts.hear(witness)
        conflicts.ask_once()
    conflicts.add_what_would_be_lost()
    conflicts.keep_one_update_per_memory()
    conflicts.keep_one_change_per_memory()
    conflicts.leave_enough(allowance)
    if witness is not None:
        conflicts.let_one_fact_replace_several()
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
                and _said_at(d)
                < (told_at(d.memory.slots, d.memory.valid_at) or d.memory.created_at)
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

    def hear(self, witness: Witness) -> None:
        """Retire memories where the words see a change too; elsewhere add the facts.

        Where the words see nothing, the fact is :attr:`Decision.against` the memory; where they
        show that both hold, the operation is refused.
        """
        self.left = [
            self._heard(d, witness.about(d.memory, d.fact))
            if d.memory is not None and d.event in ("UPDATE", "DELETE")
            else d
            for d in self.left
        ]

    def _heard(self, d: Decision, testimony: Testimony) -> Decision:
        judgement = testimony.judgement
        if judgement.rule is Rule.SAME:
            return d._replace(event="NONE", text=None)
        if judgement.denies:
            self.refused.append(
                _refusal(d, f"the fact {judgement.rule.value}: both hold, and the fact is added")
            )
            return d.adding()
        if judgement.verdict is Verdict.KEEP:
            return d.adding()._replace(
                against=d.memory, wanted=d.event, evidence=testimony.evidence
            )
        text = d.text
        if text is not None and (why := _not_kept(d, testimony)):
            text = None
            if not same(d.text or "", d.fact.content):
                self.refused.append(
                    _refusal(d, f"{why}; the fact itself replaces the memory instead")
                )
        return d._replace(
            event="UPDATE",
            text=text,
            evidence=testimony.evidence,
            proven=judgement.verdict is Verdict.RETIRE,
        )

    def ask_once(self) -> None:
        """Ask about one memory for each fact, and about none if it replaces another one.

        It is the memory that the fact has most words in common with, then the nearest.
        """
        replacing = {d.place for d in self._of("UPDATE")}
        best: dict[int, Decision] = {}
        for d in self.left:
            if d.against is not None and d.place not in replacing:
                best[d.place] = max(best.get(d.place, d), d, key=_likeness)
        asked = [*best.values()]
        for d in self.left:
            if d not in asked:
                self._report(d, "nothing in the fact speaks against the memory")
        self.left = [d if d in asked or d.against is None else d.adding() for d in self.left]

    def let_one_fact_replace_several(self) -> None:
        """Join the updates by one fact: the fact itself replaces all of these memories."""
        updates = sorted(self._of("UPDATE"), key=lambda d: not d.proven)
        for place in {d.place for d in updates}:
            first, *others = (d for d in updates if d.place == place)
            if others:
                joined = first._replace(text=None, also=tuple(others))
                self.left = [joined if d is first else d for d in self.left if d not in others]

    def propose_nothing_decided(self) -> None:
        """Drop the proposals against memories that another operation changes or confirms."""
        decided = {one.memory_id for d in self.left for one in (d, *d.also) if one.memory}
        for place, d in enumerate(self.left):
            if d.against is not None and d.against.id in decided:
                self._report(d, "another operation is about the same memory")
                self.left[place] = d._replace(against=None)

    def _report(self, proposing: Decision, reason: str) -> None:
        memory = proposing.against
        if memory is not None:
            self.refused.append(
                Refusal(proposing.wanted, reason, proposing.fact.content, memory.id)
            )

    def add_what_would_be_lost(self) -> None:
        """Add each fact that its operation on a memory would lose."""
        for decision in self.left:
            if (why := _lost(decision)) is None:
                continue
            if decision.event == "DELETE":
                self.left = [*self.left, decision.adding()]
            else:
                self._add_instead(decision, why)

    def _add_instead(self, decision: Decision, reason: str) -> None:
        """Refuse an operation, and add its fact."""
        self.refused.append(_refusal(decision, f"{reason}; the fact is added"))
        self.left = [decision.adding() if d is decision else d for d in self.left]

    def keep_one_update_per_memory(self) -> None:
        """If several updates would change one memory, keep the one said last.

        One said at the same time is not a correction, because extraction would have left out the
        corrected claim; its fact is added as a separate memory, so that it is not lost.
        """
        last: dict[int | None, Decision] = {}
        for update in sorted(self._of("UPDATE"), key=_order):
            last[update.memory_id] = update
        self.left = [d.adding() if _simultaneous(d, last) else d for d in self.left]
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

    def leave_enough(self, allowance: Allowance) -> None:
        """Refuse changes to more than a share of the memories shown; one is always allowed.

        Updates have priority, because they lose nothing, and of these the ones that the words
        prove; if one is refused, its fact is added. Deletions are carried out together or not at
        all.
        """
        most = allowance.most
        updates = sorted(self._of("UPDATE"), key=lambda d: not d.proven)
        wanted = len(updates) + len(self._of("DELETE"))
        if wanted <= most:
            return
        reason = (
            f"the model wants to change {allowance.changed + wanted} of the {allowance.shown} "
            f"memories it was shown; at most {allowance.changed + most} may change"
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
        as_it_is = {d.place for d in self._of("UPDATE") if d.text is None}
        self.left = [d for d in self.left if d.event != "ADD" or d.place not in as_it_is]
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
                left[place] = left[place]._replace(
                    against=decision.against, wanted=decision.wanted, evidence=decision.evidence
                )
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
    if decision.event == "UPDATE":
        return None if decision.text is None else _unfaithful(decision.text, memory, fact)
    if same_claim(memory, fact):
        return None
    judged = judge(Claim(memory.content, about), Claim(fact.content, about))
    if decision.event == "NONE" and judged.verdict is Verdict.RETIRE:
        return f"memory {memory.id} does not hold the fact, which {judged.rule.value}"
    why = missing(fact.content, memory.content, about, denials=decision.event == "NONE")
    return why and f"memory {memory.id} does not hold the fact: {why}"


def _unfaithful(text: str, memory: Fact, fact: NewFact) -> str | None:
    """Return why a text does not say what a memory and a fact say."""
    about = _common_words(memory.subject, fact.subject)
    why = unfaithful([memory.content, fact.content], text, about)
    for source in (memory.content, fact.content):
        why = why or missing(source, text, about, least=KEPT, denials=False)
    return why and f"the new text is not faithful: {why}"


def _not_kept(update: Decision, testimony: Testimony) -> str | None:
    """Return what the text of an update loses or adds; ``None`` if it says just what both say.

    The values are the words in which memory and fact differ, and those of their slots.
    """
    memory, fact, text = update.memory, update.fact, update.text
    if memory is None or text is None:
        return None
    if why := _unfaithful(text, memory, fact):
        return why
    differing = [word for change in testimony.judgement.changes for word in change]
    slots = [one.get("value", "") for one in (memory.slots, fact.slots) if one]
    if lost := lost_words([*differing, *slots], text):
        return f"the new text is not faithful: it lost {', '.join(lost)}"
    if added := added_words([memory.content, fact.content, fact.subject, memory.subject], text):
        return f"the new text is not faithful: neither says {', '.join(added)}"
    return None


def _likeness(d: Decision) -> tuple[int, float]:
    """Return how much a fact has in common with the memory that it is against."""
    if d.against is None:
        return 0, 0.0
    about = _common_words(d.against.subject, d.fact.subject)
    similarity = (d.evidence or {}).get("similarity", 0.0)
    return len(shared(d.fact.content, d.against.content, about)), similarity


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
    fact = decision.fact
    return told_at(fact.slots, moments.instant(fact.valid_at, "valid_at")) or clock.LATEST


def _order(decision: Decision) -> tuple[datetime, int]:
    return _said_at(decision), decision.place


def _simultaneous(decision: Decision, last: Mapping[int | None, Decision]) -> bool:
    """Whether a fact said at the same time updates the same memory instead."""
    if decision.event != "UPDATE":
        return False
    kept = last[decision.memory_id]
    return decision.place != kept.place and _said_at(decision) == _said_at(kept)
