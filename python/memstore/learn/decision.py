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

The words are judged by :mod:`memstore.text.judge`. A fact retracts a memory if both have a word in
common and the fact denies the memory, says that it is over or gives another value of the same
attribute; else a person is asked whether the fact replaces the memory. A new text is faithful if it
has the numbers, names and denials of the memory and of the fact, no others, and half the words of
each. A memory holds a fact if it has the fact's numbers, names and denials and a word in common
with it, and does not give another value of the same attribute. The subject of both does not count
as a common word. So no fact is lost: it is stored, carried by an update, held by a memory that is
named, or refused.

"Refused" means: not carried out, and reported in ``refused``. Nothing is guessed. If a memory
already states a fact word for word, the memory is kept without asking the model.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final, NamedTuple

from memstore.domain import moments, zones
from memstore.domain.arguments import checked_text
from memstore.errors import InvalidArgument
from memstore.frozen import replace
from memstore.learn.conflicts import Allowance, resolved, same, same_claim
from memstore.learn.events import EVENTS, Decision, Decisions, Refusal
from memstore.learn.reading import MAX_FACT_CHARACTERS
from memstore.prompting.answers import ask
from memstore.prompting.prompts import fence, fill, numbered, template
from memstore.prompting.reply import CUT, Unusable, list_schema, parse_list, shown, unusable

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import datetime

    from memstore.domain.protocols import Generator
    from memstore.domain.records import Fact, NewFact, Scope
    from memstore.learn.witness import Witness

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
