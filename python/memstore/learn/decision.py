"""The decision engine: what each new fact means for the memories that are held already.

A model proposes, rules dispose. Memories are numbered from 1 for the model and mapped back, so an
id that it makes up leads nowhere. What a reply says, and what comes of it:

| the reply | the outcome |
|---|---|
| no JSON, cut short, or without a list of operations | ``ReplyError``; nothing is done |
| no usable operation for any fact | ``ReplyError``; nothing is done |
| an operation that is no object, or names a fact that was not offered | refused |
| an unknown operation | refused |
| UPDATE, DELETE or NONE with a memory number that was not shown | refused |
| UPDATE or DELETE without a memory number | refused |
| NONE without a memory number | nothing is done: not worth remembering |
| ADD with a memory number or a text | the fact is added as it was extracted; both are ignored |
| UPDATE without a text, or with a blank one or one that cannot be stored | refused |
| UPDATE to a text longer than the memory by more than 1,000 characters | refused |
| UPDATE to the text the memory has already | ``Keep`` |
| UPDATE to a text that another memory about the same has | refused |
| ADD of what a memory says already (subject and text the same but for case and blanks) | ``Keep`` |
| a fact without any usable operation | refused: it is undecided, and not stored |
| the same operation twice | counts once |

Then conflicts are resolved, each rule before the next:

| conflict | the outcome |
|---|---|
| UPDATE or DELETE by a fact that is older than the memory | refused |
| several UPDATEs of one memory | the fact of the latest time, then the last said, stands |
| of those, one said at the same time as that which stands | its fact is added as it was extracted |
| UPDATE and DELETE of one memory | the UPDATE stands: it loses nothing |
| DELETE of a memory that a fact said later has again (NONE) | the DELETE is refused |
| else UPDATE or DELETE, and NONE, of one memory | the change stands; the NONE adds nothing |
| ADD and UPDATE for one fact | the UPDATE stands: it carries the fact |
| NONE and another operation for one fact | the other stands |
| two ADDs that say the same, or an ADD and an UPDATE | once |
| UPDATEs of two memories to one text | the first stands; the other memory stays as it is |
| several DELETEs of one memory | once |
| DELETE of more than a share of what was shown, and of more than one | every DELETE refused |

"Refused" means: not carried out, and reported in ``Decisions.refused``. Nothing is guessed.
A fact that a memory says already, word for word, is kept without asking the model.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple, TypeGuard

from memstore.domain import clock
from memstore.domain.arguments import checked_text
from memstore.learn.conflicts import Proposal, resolved, same, same_claim
from memstore.learn.items import LONGEST_FACT
from memstore.learn.operations import Decisions, Refusal
from memstore.prompting.answers import ask
from memstore.prompting.prompts import fence, fill, numbered, template
from memstore.prompting.reply import list_schema, parse_list, unusable

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from memstore.domain.protocols import Generator
    from memstore.domain.records import Fact, NewFact, Scope

EVENTS: Final = ("ADD", "UPDATE", "DELETE", "NONE")

DELETE_SHARE: Final = 0.5
"""Of the memories shown, how many one decision may delete; a single one may always go."""

EXCERPT: Final = 80
"""Characters of what a model wrote that a refusal shows."""

SCHEMA: Final = list_schema(
    "operations",
    fact={"type": "integer"},
    event={"type": "string", "enum": list(EVENTS)},
    memory={"type": ["integer", "null"]},
    text={"type": ["string", "null"]},
)


def decide(
    facts: Sequence[NewFact],
    existing: Sequence[Fact],
    scope: Scope,
    generator: Generator,
    *,
    delete_share: float = DELETE_SHARE,
) -> Decisions:
    """Return what is to be done about new facts, free of conflicts; nothing is written.

    The model is asked only where there is something to decide: not for facts that are held word
    for word, and not while there are no memories to compare with.

    Args:
        facts: what was learnt, in the order it was said.
        existing: active memories of the same scope that may be about the same.
        scope: whose memories these are.
        generator: the model that is asked, once.
        delete_share: see ``DELETE_SHARE``, 0 to 1.

    Raises:
        GeneratorError: the model did not answer, or its reply cannot be used.
        ValueError: a memory of another scope, or a share out of range.
    """
    if not 0 <= delete_share <= 1:
        raise ValueError(f"delete_share must be 0 to 1, not {delete_share}")
    if strangers := [memory.id for memory in existing if owners(memory) != owners(scope)]:
        raise ValueError(f"memories of another scope cannot be compared: {strangers}")
    holders = {place: _holder(fact, existing) for place, fact in enumerate(facts)}
    held = [Proposal("NONE", place, memory) for place, memory in holders.items() if memory]
    undecided = [place for place, memory in holders.items() if memory is None]
    if undecided and existing:
        reading = _ask([facts[place] for place in undecided], existing, generator)
    else:
        reading = Reading([Proposal("ADD", number) for number in range(len(undecided))], [])
    # What is held word for word takes part in the conflicts: it speaks against a deletion.
    wanted = [p._replace(place=undecided[p.place]) for p in reading.proposals]
    decisions = resolved(facts, existing, [*held, *wanted], delete_share)
    decisions.refused[:0] = reading.refused
    return decisions


def owners(of: Fact | Scope) -> tuple[str | None, str | None, str | None]:
    """Return whose a memory or a scope is."""
    return of.user_id, of.agent_id, of.run_id


def prompt(facts: Sequence[NewFact], existing: Sequence[Fact]) -> str:
    """Return what the model is asked: memories and facts numbered from 1, fenced as data."""
    memories = [_claim(m.subject, m.content, m.valid_at or m.created_at) for m in existing]
    claims = [_claim(f.subject, f.content, clock.moment(f.valid_at, "valid_at")) for f in facts]
    return fill(
        template("memstore.learn", "decide"),
        memories=fence(numbered(memories), "memories"),
        facts=fence(numbered(claims), "facts"),
    )


def _claim(subject: str, content: str, at: datetime | None) -> dict[str, str]:
    since = {} if at is None else {"since": clock.to_text(at)[:10]}
    return {"about": subject, "says": content} | since


def _holder(fact: NewFact, existing: Sequence[Fact]) -> Fact | None:
    return next((memory for memory in existing if same_claim(memory, fact)), None)


class Reading(NamedTuple):
    """What a reply says, as far as it can be used."""

    proposals: list[Proposal]
    refused: list[Refusal]


class _Unusable(ValueError):
    """Why one operation of a reply is not carried out."""


def _ask(facts: Sequence[NewFact], existing: Sequence[Fact], generator: Generator) -> Reading:
    return read(ask(generator, prompt(facts, existing), SCHEMA), facts, existing)


def read(reply: str, facts: Sequence[NewFact], existing: Sequence[Fact]) -> Reading:
    """Return what a reply proposes, and what of it is refused.

    Raises:
        ReplyError: it is no JSON object with a list of operations, or no fact has a usable one.
    """
    reading = Reading([], [])
    for entry in parse_list(reply, "operations"):
        try:
            reading.proposals.append(_proposal(entry, facts, existing))
        except _Unusable as error:
            reading.refused.append(_refusal(entry, facts, existing, str(error)))
    decided = {proposal.place for proposal in reading.proposals}
    if not decided:
        reasons = "; ".join(refusal.reason for refusal in reading.refused[:3]) or "it is empty"
        raise unusable(f"the model's reply has no operation that can be carried out: {reasons}")
    reading.refused.extend(
        Refusal("", "the model did not decide about this fact", fact=fact.content)
        for place, fact in enumerate(facts)
        if place not in decided
    )
    return reading


def _proposal(entry: object, facts: Sequence[NewFact], existing: Sequence[Fact]) -> Proposal:
    if not isinstance(entry, dict):
        raise _Unusable(f"an operation must be an object, not {_shown(entry)}")
    event = entry.get("event")
    if not isinstance(event, str) or event not in EVENTS:
        raise _Unusable(f"there is no operation {_shown(event)}")
    if not _is_number(entry.get("fact"), facts):
        raise _Unusable(f"there is no fact {_shown(entry.get('fact'))}")
    place = entry["fact"] - 1
    if event == "ADD":
        return Proposal("ADD", place)
    number = entry.get("memory")
    if number is None and event == "NONE":
        return Proposal("NONE", place)
    if not _is_number(number, existing):
        raise _Unusable(
            f"{event} names no memory" if number is None else f"there is no memory {_shown(number)}"
        )
    memory = existing[number - 1]
    if event != "UPDATE":
        return Proposal(event, place, memory)
    return _update(place, memory, entry.get("text"), existing)


def _update(place: int, memory: Fact, text: object, existing: Sequence[Fact]) -> Proposal:
    try:
        # A fact completes a memory; what is longer still is nothing that was extracted.
        limit = len(memory.content) + LONGEST_FACT
        new = checked_text(text, "the new text", limit).strip()
    except (TypeError, ValueError) as error:
        raise _Unusable(f"UPDATE cannot be carried out: {error}") from None
    if same(new, memory.content):
        return Proposal("NONE", place, memory)
    for other in existing:
        if other is not memory and same(new, other.content) and same(memory.subject, other.subject):
            raise _Unusable(f"memory {other.id} says already what UPDATE would make of this one")
    return Proposal("UPDATE", place, memory, new)


def _is_number(value: object, of: Sequence[object]) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= len(of)


def _refusal(
    entry: object, facts: Sequence[NewFact], existing: Sequence[Fact], reason: str
) -> Refusal:
    """Say as much as can be said about an operation that cannot be used."""
    given = entry if isinstance(entry, dict) else {}
    event, place, number = given.get("event"), given.get("fact"), given.get("memory")
    return Refusal(
        event if isinstance(event, str) and event in EVENTS else "",
        reason,
        fact=facts[place - 1].content if _is_number(place, facts) else None,
        memory_id=existing[number - 1].id if _is_number(number, existing) else None,
    )


def _shown(value: object) -> str:
    text = ascii(value)
    return text if len(text) <= EXCERPT else text[:EXCERPT] + "…"
