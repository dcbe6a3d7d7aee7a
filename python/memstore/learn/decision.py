"""Deciding what new facts do to existing memories: a model proposes, fixed rules decide.

The model sees memories numbered from 1, so it cannot refer to any other by an invented id. Its
reply is checked:

| the reply | the outcome |
|---|---|
| no JSON, or without a list of operations | ``ReplyError``; nothing is done |
| cut short, before every fact is decided | ``ReplyError``; nothing is done |
| cut short later | what is whole counts, and the cut is reported as refused |
| no usable operation for any fact | ``ReplyError``; nothing is done |
| an operation that is not an object, or names a fact that was not offered | refused |
| an unknown operation | refused |
| UPDATE, DELETE or NONE with a memory number that was not shown | refused |
| UPDATE or DELETE without a memory number | refused |
| NONE without a memory number | the fact is reported as not worth remembering |
| ADD with a memory number or a text | the fact is added as extracted; both are ignored |
| UPDATE without a text, or with one that is blank or cannot be stored | refused |
| UPDATE to a text longer than the memory by more than 1,000 characters | refused |
| UPDATE to the text the memory already has | NONE |
| UPDATE to a text that another memory with the same subject has | refused |
| ADD of what a memory already says (subject and text equal apart from case and blanks) | NONE |
| a fact without any usable operation | refused: it is undecided, and not stored |
| the same operation twice | counts once |

Then the words of each fact are heard, unless the policy is to trust the model:

| the words of a fact that is to UPDATE or DELETE | the outcome |
|---|---|
| prove or suggest a change | the memory goes: a new text or the fact replaces it |
| hedge, say "also", or name another holder | refused, and the fact is added |
| say the same as the memory | NONE: the memory is confirmed |
| say nothing about it | the fact is added, and proposed to replace the memory |
| agree, but the new text loses a value, or adds one | the fact itself replaces it |
| agree on several memories | the fact replaces all of them |
| say nothing about several memories | one is proposed, the most similar |
| agree on one and say nothing about others | nothing is proposed |

Then conflicts are resolved, one rule after another. Those about a DELETE concern a model that is
trusted: where the words are heard, the fact takes the memory's place.

| conflict | the outcome |
|---|---|
| UPDATE or DELETE by a fact that is older than the memory | refused |
| DELETE by a fact that does not retract the memory | the fact is added, the rest proposed |
| such DELETEs of several memories by one fact | the one with most common words is proposed |
| such a DELETE of a memory that another operation is about | refused |
| UPDATE to a text that is not faithful | refused, and its fact is added |
| NONE of a memory that does not hold the fact | refused, and its fact is added |
| DELETE of a memory that does not hold the fact, apart from denials | the fact is added too |
| several UPDATEs of one memory | the latest fact wins, then the one said last |
| of those, one said at the same time as the winner | its fact is added as extracted |
| UPDATE and DELETE of one memory | the UPDATE wins: it loses nothing |
| DELETE of a memory that a fact said later confirms (NONE) | the DELETE is refused |
| otherwise UPDATE or DELETE, and NONE, of one memory | the change wins; NONE adds nothing |
| ADD and UPDATE for one fact | the UPDATE wins: it stores the fact |
| NONE and another operation for one fact | the other wins |
| two ADDs that say the same, or an ADD and an UPDATE | once |
| UPDATEs of two memories to one text | the first wins; the other memory stays as it is |
| several DELETEs of one memory | the first; the others are refused |
| more UPDATEs and DELETEs than a share of what was shown, and more than one | DELETEs refused |
| and still more UPDATEs than that | those beyond are refused, and their facts are added |

The words are judged by :mod:`memstore.text.judging.judge`. A fact retracts a memory if both have a
word in common and the fact denies the memory, says that it is over or gives another value of the
same attribute; else a person is asked whether the fact replaces the memory. A new text is faithful
if it has the numbers, names and denials of the memory and of the fact, no others, and half the
words of each. A memory holds a fact if it has the fact's numbers, names and denials and a word in
common with it, and does not give another value of the same attribute. The subject of both does not
count as a common word. So no fact is lost: it is stored, carried by an update, held by a memory
that is named, or refused.

"Refused" means: not carried out, and reported in ``refused``. Nothing is guessed. If a memory
already states a fact word for word, the memory is kept without asking the model.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from memstore.domain import clock, moments, zones
from memstore.domain.arguments import checked_text
from memstore.errors import InvalidArgument
from memstore.frozen import frozen, replace
from memstore.learn.events import EVENTS, Decision, Decisions, Refusal
from memstore.learn.reading import MAX_FACT_CHARACTERS
from memstore.learn.witness import not_retracted
from memstore.named import NamedTuple
from memstore.prompting.messages import fence, fill, numbered, template
from memstore.prompting.reply import CUT, Unusable, ask, list_schema, parse_list, shown, unusable
from memstore.text.faithfulness import added_words, lost_words, missing, shared, unfaithful
from memstore.text.folding import claim, spaced
from memstore.text.judging.judge import Claim, Rule, Verdict, judge
from memstore.text.judging.slots import told_at

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from datetime import datetime

    from memstore.domain.protocols import Generator
    from memstore.domain.records import Fact, NewFact, Scope
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
        self.refused += [_refused(d, reason) for d in self.left if losing(d)]
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
                _refused(d, f"the fact {judgement.rule.value}: both hold, and the fact is added")
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
                    _refused(d, f"{why}; the fact itself replaces the memory instead")
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
        self.refused.append(_refused(decision, f"{reason}; the fact is added"))
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
            _refused(d, "the model found it not worth remembering")
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
                self.refused.append(_refused(decision, "another operation stores the same text"))
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


def _refused(decision: Decision, reason: str) -> Refusal:
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


CHANGE_SHARE: Final = 0.5
"""The share of the memories shown to a model that may be updated or deleted at once; one always
may."""

EXCERPT: Final = 80
"""How many characters of a model's reply a refusal quotes."""

SCHEMA: Final = list_schema(
    "operations",
    fact={"type": "integer"},
    event={"type": "string", "enum": list(EVENTS)},
    memory={"type": ["integer", "null"]},
    text={"type": ["string", "null"]},
)


class Before(NamedTuple):
    """What earlier replies of the same call were shown, and what they change."""

    shown: frozenset[int] = frozenset()
    """The ids of memories."""
    changed: int = 0
    """How many memories are updated or deleted."""

    def and_then(self, existing: Iterable[Fact], decisions: Iterable[Decision]) -> Before:
        """Return this with a further reply."""
        changes = (d for d in decisions if d.event in ("UPDATE", "DELETE"))
        return Before(
            self.shown.union(memory.id for memory in existing),
            self.changed + sum(len(d.memories) for d in changes),
        )


NOTHING: Final = Before()


def decide(
    facts: Sequence[NewFact],
    existing: Sequence[Fact],
    scope: Scope,
    generator: Generator,
    *,
    change_share: float = CHANGE_SHARE,
    before: Before = NOTHING,
    witness: Witness | None = None,
) -> Decisions:
    """Decide what new facts do to the active memories of a scope; nothing is written.

    The model is asked at most once: not about facts that a memory states word for word, and not if
    there are no memories to compare with.

    Args:
        change_share: the share of the memories shown that may be updated or deleted.
        before: what earlier replies of the same call were shown and changed.
        witness: what the words say, without which no memory is retired; ``None`` trusts the model.

    Raises:
        GeneratorError: the model did not answer, or its reply cannot be used.
        ValueError: a memory of another scope, or a share out of range.
    """
    check_share(change_share)
    if strangers := [memory.id for memory in existing if memory.scope != scope]:
        raise InvalidArgument(f"has memories of another scope: {strangers}", argument="existing")
    holders = [next((one for one in existing if same_claim(one, fact)), None) for fact in facts]
    # These take part in resolving conflicts, so that such a memory is not deleted.
    held = [
        Decision("NONE", facts[place], place, memory)
        for place, memory in enumerate(holders)
        if memory is not None
    ]
    open_places = [place for place, memory in enumerate(holders) if memory is None]
    undecided = [facts[place] for place in open_places]
    if undecided and existing:
        wanted, refused = read(
            ask(generator, prompt(undecided, existing, scope), SCHEMA), undecided, existing
        )
    else:
        wanted, refused = [Decision("ADD", fact, n) for n, fact in enumerate(undecided)], []
    wanted = [decision._replace(place=open_places[decision.place]) for decision in wanted]
    shown_ids = before.shown | {memory.id for memory in existing}
    allowance = Allowance(shown=len(shown_ids), share=change_share, changed=before.changed)
    decisions = resolved([*held, *wanted], allowance, witness)
    return replace(decisions, items=decisions, refused=refused + decisions.refused)


def check_share(change_share: float) -> None:
    if not 0 <= change_share <= 1:
        raise InvalidArgument(f"must be 0 to 1, not {change_share}", argument="change_share")


def prompt(facts: Sequence[NewFact], existing: Sequence[Fact], scope: Scope) -> str:
    """Return the prompt: owners, and memories and facts numbered from 1, as data."""
    owners = {name.removesuffix("_id"): value or "unknown" for name, value in scope.ids.items()}
    memories = [_claim(m.subject, m.content, m.valid_at or m.created_at) for m in existing]
    claims = [_claim(f.subject, f.content, moments.instant(f.valid_at, "valid_at")) for f in facts]
    return fill(
        template("memstore.learn", "decide"),
        owners=fence(json.dumps(owners, ensure_ascii=False), "owners"),
        memories=fence(numbered(memories), "memories"),
        facts=fence(numbered(claims), "facts"),
    )


def _claim(subject: str, content: str, at: datetime | None) -> dict[str, str]:
    since = {} if at is None else {"since": zones.day(at)}
    return {"about": subject, "says": content} | since


def read(
    reply: str, facts: Sequence[NewFact], existing: Sequence[Fact]
) -> tuple[list[Decision], list[Refusal]]:
    """Return a reply's decisions about the facts, and what was refused.

    Raises:
        ReplyError: it has no list of operations, or no usable operation for any fact; or it breaks
            off and leaves a fact undecided.
    """
    decisions: list[Decision] = []
    refused: list[Refusal] = []
    entries = parse_list(reply, "operations", may_break_off=True)
    for entry in entries:
        try:
            decisions.append(_decision(entry, facts, existing))
        except Unusable as error:
            refused.append(_refusal(entry, facts, existing, str(error)))
    decided = {decision.place for decision in decisions}
    if CUT in entries and len(decided) < len(facts):
        raise unusable("the model's reply breaks off before it decides about every fact")
    if not decided:
        reasons = "; ".join(refusal.reason for refusal in refused[:3]) or "it is empty"
        raise unusable(f"the model's reply has no operation that can be carried out: {reasons}")
    refused += [
        Refusal("", "the model did not decide about this fact", fact=fact.content)
        for place, fact in enumerate(facts)
        if place not in decided
    ]
    return decisions, refused


def _decision(entry: object, facts: Sequence[NewFact], existing: Sequence[Fact]) -> Decision:
    if entry == CUT:
        raise Unusable(CUT)
    if not isinstance(entry, dict):
        raise Unusable(f"an operation must be an object, not {_excerpt(entry)}")
    event = _event(entry)
    if event not in EVENTS:
        raise Unusable(f"there is no operation {_excerpt(entry.get('event'))}")
    if (fact := shown(entry.get("fact"), facts)) is None:
        raise Unusable(f"there is no fact {_excerpt(entry.get('fact'))}")
    number = entry.get("memory")
    decision = Decision(event, fact, entry["fact"] - 1)
    if event == "ADD" or (event == "NONE" and number is None):
        return decision
    if (memory := shown(number, existing)) is None:
        raise Unusable(
            f"{event} names no memory"
            if number is None
            else f"there is no memory {_excerpt(number)}"
        )
    decision = decision._replace(memory=memory)
    return decision if event != "UPDATE" else _update(decision, memory, entry.get("text"), existing)


def _event(entry: Mapping[str, object]) -> str:
    """Return the operation that an entry names, in any letter case."""
    event = entry.get("event")
    return event.strip().upper() if isinstance(event, str) else ""


def _update(decision: Decision, memory: Fact, text: object, existing: Sequence[Fact]) -> Decision:
    try:
        # An update adds a fact to a memory; a longer text must have another source.
        limit = len(memory.content) + MAX_FACT_CHARACTERS
        new = checked_text(text, "the new text", limit).strip()
    except (TypeError, ValueError) as error:
        raise Unusable(f"UPDATE cannot be carried out: {error}") from None
    if same(new, memory.content):
        return decision._replace(event="NONE")
    for other in existing:
        if other is not memory and same(new, other.content) and same(memory.subject, other.subject):
            raise Unusable(f"memory {other.id} already has the text that UPDATE gives")
    return decision._replace(text=new)


def _refusal(
    entry: object, facts: Sequence[NewFact], existing: Sequence[Fact], reason: str
) -> Refusal:
    """Return a refusal with everything known about an unusable operation."""
    given = entry if isinstance(entry, dict) else {}
    event = _event(given)
    fact, memory = shown(given.get("fact"), facts), shown(given.get("memory"), existing)
    return Refusal(
        event if event in EVENTS else "",
        reason,
        fact=None if fact is None else fact.content,
        memory_id=None if memory is None else memory.id,
    )


def _excerpt(value: object) -> str:
    text = ascii(value)
    return text if len(text) <= EXCERPT else text[:EXCERPT] + "…"
