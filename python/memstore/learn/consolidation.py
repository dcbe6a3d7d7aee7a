"""Consolidation: proposing one fact that says what several say.

A model names groups of the facts it is shown and writes a sentence for each; rules check both
before anything is proposed:

| the reply | the outcome |
|---|---|
| no JSON, cut short, or without a list of groups | ``ReplyError``; nothing is done |
| a group that is not an object, or whose memories are not numbers that were shown | refused |
| a group of fewer than two memories, or with one that an earlier group has | refused |
| a text that is missing, blank or longer than a fact (1,000 characters) | refused |
| facts whose metadata contradicts each other | refused |
| a text that lost a number, name or sign of its facts, or added a number or name | refused |
| a text that denies what the facts affirm, or the other way round | refused |
| a group that was proposed before, whether accepted or not | refused |
| anything else | proposed; with the policy ``auto`` accepted if it merely joins the words |
"""

from __future__ import annotations

from enum import StrEnum
from itertools import combinations
from typing import TYPE_CHECKING, Final

from memstore.domain.arguments import MAX_NAME, checked_choice, checked_text
from memstore.domain.records import EVERYBODY
from memstore.errors import Conflict, NotFound
from memstore.frozen import frozen, replace
from memstore.learn.reading import MAX_FACT_CHARACTERS
from memstore.learn.witness import metadata_conflicts
from memstore.prompting.messages import fence, fill, numbered, template
from memstore.prompting.reply import Unusable, ask, list_schema, parse_list
from memstore.providers import given_generator
from memstore.store.store import given_store, standing_of
from memstore.text.faithfulness import is_plain, unfaithful

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from memstore.domain.protocols import Generator
    from memstore.domain.records import Fact, Scope
    from memstore.store.store import Store

POLICIES: Final = ("propose", "auto")

MAX_SHOWN: Final = 40
"""How many facts a model is shown at once; more are split into several prompts."""

SCHEMA: Final = list_schema(
    "groups", memories={"type": "array", "items": {"type": "integer"}}, text={"type": "string"}
)


class ConsolidationOutcome(StrEnum):
    """The outcome for a group of facts."""

    PROPOSED = "proposed"
    ACCEPTED = "accepted"
    """One new fact has superseded all of them."""
    REFUSED = "refused"


@frozen(kw_only=True)
class Consolidated:
    """A group of facts that a model combined into one sentence, with the outcome and the reason."""

    outcome: ConsolidationOutcome
    fact_ids: tuple[int, ...] = ()
    """The known facts that the model named for the group."""
    content: str = ""
    """The sentence."""
    proposal_id: int | None = None
    fact_id: int | None = None
    """The new fact, if it was accepted."""
    reason: str | None = None
    """Why it was refused, or only proposed with the policy ``auto``."""


def consolidate(
    store: Store,
    *,
    subject: str,
    generator: str | Generator,
    policy: str = "propose",
) -> list[Consolidated]:
    """Ask a model to combine facts about a subject into single facts, and propose those.

    A proposal in ``store.proposals`` becomes a fact when it is accepted; then it supersedes all
    facts it combines, and ``store.reinstate`` undoes that. Facts of different owners are never
    combined.

    Args:
        store: of some owners; or as it was opened, for each owner's facts separately.
        generator: the model, or the name of its provider, such as ``"ollama"``.
        subject: the subject of the facts; only active ones that do not expire, and no tasks.
        policy: ``propose``, or ``auto`` to accept at once a text that merely joins the words of its
            facts.

    Returns:
        The outcome for each group that the model named, with the reason.

    Raises:
        GeneratorError: no usable reply.
    """
    subject = checked_text(subject, "subject", MAX_NAME).strip()
    checked_choice(policy, POLICIES, "policy")
    generator = given_generator(generator)
    store = given_store(store)
    whose = store if standing_of(store).owners else store.of(EVERYBODY)
    by_owner: dict[Scope, list[Fact]] = {}
    for fact in whose.list(subject=subject, tasks=False):
        if fact.expired_at is None:
            by_owner.setdefault(fact.scope, []).append(fact)
    found: list[Consolidated] = []
    for facts in by_owner.values():
        for start in range(0, len(facts), MAX_SHOWN):
            shown = facts[start : start + MAX_SHOWN]
            if len(shown) > 1:
                groups = parse_list(ask(generator, prompt(subject, shown), SCHEMA), "groups")
                found += _propose(store, shown, groups, generator.model, policy)
    return found


def prompt(subject: str, facts: Sequence[Fact]) -> str:
    """Return the prompt: the facts, numbered from 1 and marked as data."""
    return fill(
        template("memstore.learn", "consolidate"),
        subject=fence(subject, "subject"),
        memories=fence(numbered({"says": fact.content} for fact in facts), "memories"),
    )


def _propose(
    store: Store, shown: Sequence[Fact], groups: Sequence[object], model: str, policy: str
) -> Iterator[Consolidated]:
    taken: set[int] = set()
    for group in groups:
        facts = _named(group, shown)
        ids = tuple(fact.id for fact in facts)
        text = group.get("text") if isinstance(group, dict) else None
        content = text.strip() if isinstance(text, str) else ""
        told = Consolidated(
            outcome=ConsolidationOutcome.REFUSED,
            fact_ids=ids,
            content=content[:MAX_FACT_CHARACTERS],
        )
        try:
            _check(facts, group, text, taken)
            taken.update(ids)
            yield _propose_one(store, facts, told, model, policy)
        except Unusable as error:
            yield replace(told, reason=str(error))


def _named(group: object, facts: Sequence[Fact]) -> list[Fact]:
    """Return the facts a group names, each once, in order; unknown numbers are ignored."""
    numbers = group.get("memories") if isinstance(group, dict) else None
    if not isinstance(numbers, list):
        return []
    known = {n for n in numbers if type(n) is int and 1 <= n <= len(facts)}
    return [facts[n - 1] for n in sorted(known)]


def _check(facts: Sequence[Fact], group: object, text: object, taken: set[int]) -> None:
    if not isinstance(group, dict):
        raise Unusable(f"a group must be an object, not {type(group).__name__}")
    numbers = group.get("memories")
    if not isinstance(numbers, list) or any(type(n) is not int for n in numbers):
        raise Unusable("its memories are not a list of numbers")
    if len(set(numbers)) != len(facts):
        raise Unusable("it names a memory that was not shown")
    if len(facts) < 2:
        raise Unusable("it names fewer than two memories")
    if twice := taken.intersection(fact.id for fact in facts):
        raise Unusable(f"an earlier group has fact {min(twice)}")
    try:
        content = checked_text(text, "its text", MAX_FACT_CHARACTERS).strip()
    except (ValueError, TypeError) as error:
        raise Unusable(str(error)) from None
    if any(metadata_conflicts(a.metadata, b.metadata) for a, b in combinations(facts, 2)):
        raise Unusable("the metadata of its facts contradicts each other")
    if why := unfaithful([fact.content for fact in facts], content, facts[0].subject):
        raise Unusable(why)


def _propose_one(
    store: Store, facts: Sequence[Fact], consolidated: Consolidated, model: str, policy: str
) -> Consolidated:
    evidence = {"model": model, "policy": policy}
    try:
        proposal = store.of(facts[0].scope).proposals.put_forward(
            consolidated.fact_ids, consolidated.content, evidence
        )
    except (Conflict, NotFound) as error:  # proposed before, or changed in the meantime
        raise Unusable(str(error)) from None
    proposed = replace(consolidated, outcome=ConsolidationOutcome.PROPOSED, proposal_id=proposal.id)
    if policy != "auto":
        return proposed
    if not is_plain([fact.content for fact in facts], consolidated.content):
        return replace(proposed, reason="it is more than the words of its facts joined: review it")
    try:
        done = store.proposals.accept(proposal.id)
    except Conflict as error:
        return replace(proposed, reason=str(error))
    new_id = None if done.new is None else done.new.id
    return replace(proposed, outcome=ConsolidationOutcome.ACCEPTED, fact_id=new_id)
