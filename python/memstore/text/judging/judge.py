"""Judging which of two claims about one subject replaces the other, by their words.

A pure function of two texts, their subject, and the slots that an extractor found in them.
Nearness cannot tell a correction from a second fact; the words around the value that differs often
can.
"""

from __future__ import annotations

import unicodedata
from enum import StrEnum
from itertools import takewhile
from typing import TYPE_CHECKING, Final

from memstore._kernel.claims import (
    ADDS,
    CORRECTS,
    FORMER,
    HEDGES,
    MAX_CHARACTERS,
    PARTLY,
    RENAMES,
    REPLACES,
    Reading,
    bearing,
)
from memstore.domain.arguments import checked_choice, checked_items
from memstore.frozen import frozen
from memstore.lazy import cached_property
from memstore.named import NamedTuple
from memstore.text.folding import folded, spaced
from memstore.text.judging import denials, proofs, signs, tails
from memstore.text.judging.compared import Compared, Slots, may_prove
from memstore.text.judging.pair import OVER, Pair

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
    from typing import Any

    from memstore._kernel.claims import Word


class Verdict(StrEnum):
    """What a newer claim does to an older one."""

    RETIRE = "retire"
    """The words prove that it replaces the older one."""
    ASK = "ask"
    """The words show that it may; a person decides."""
    KEEP = "keep"
    """Both stay."""


class Rule(StrEnum):
    """The rule that decided; its value is what evidence quotes, and a person reads: "the newer one
    …"."""

    SAME = "says the same"
    OTHER_CASE = "differs in letter case alone"
    HEDGED = "is not sure, or asks"
    ADDED = "adds to the other"
    TOLD_OTHERWISE = "may tell a change with other words"
    FOR_A_TIME = "holds for a time only"
    OTHER_NUMBER = "is about a thing with another number"
    OTHER_HOLDER = "is about somebody or something else"
    STORY = "has little in common with the other"
    STRUCK = "takes back the old value"
    ENDED = "says in the same words that it has ended"
    DISPOSED = "says that it is no longer had"
    FROM_TO = "names the old value and the new one"
    MOVED = "names the move to another place"
    LEFT = "names what was left"
    TRANSFERRED = "changes the value of the same noun"
    RENAMED = "changes the name of the same noun"
    NOW = "says that it is otherwise now"
    VALUE = "gives an attribute another value"
    OTHER_THING = "is about another thing"
    EVENT = "tells of another event"
    FORMER = "leaves standing what was before"
    OTHER_CLAIM = "denies something else"
    SEVERAL = "names one of several that may hold at once"
    OTHER_PREDICATE = "says something else about it"
    ACT = "tells of the same act with something else"
    CONTRADICTED = "says that the same is not so"
    PARTLY_STRUCK = "takes back a part of it"
    ALIGNED = "says the same but for one value"
    VALUES = "says the same but for its numbers and days"
    CASE = "speaks of a special case"
    ENDED_MAYBE = "may end it"
    STATE_ENDED = "says that something is over"
    CHANGED_MAYBE = "may tell a change of it"
    VALUE_MAYBE = "may change the value"
    ATTRIBUTE_MAYBE = "may change the same thing about it"
    FAMILY_MAYBE = "may change what both are about"
    THING_MAYBE = "may change the thing that both name"
    SAME_ATTRIBUTE = "is about the same property"
    NOTHING_ALIGNED = "shows no sign of a change of the other"
    SAME_SLOT = "gives the same property another value"
    OTHER_SLOT = "is about another property"


DENYING: Final = frozenset({Rule.HEDGED, Rule.ADDED, Rule.FOR_A_TIME, Rule.OTHER_HOLDER})
"""Rules that see in the words of the newer claim that it replaces nothing, whoever says so.
:attr:`Rule.NOTHING_ALIGNED` and others merely see no sign of a change."""


ENDING: Final = frozenset({Rule.ENDED_MAYBE, Rule.STATE_ENDED, Rule.CONTRADICTED})
"""Questions whether the older claim has ended."""


FAMILIAR: Final = frozenset({Rule.FAMILY_MAYBE, Rule.THING_MAYBE, Rule.TOLD_OTHERWISE})
"""Questions that look past cases and other holders."""


@frozen
class Claim:
    """One side of a comparison: a fact's text and subject. It is read once."""

    text: str
    subject: str = ""
    slots: Slots | None = None

    @cached_property
    def folded(self) -> str:
        return folded(self.text)

    @cached_property
    def reading(self) -> Reading:
        text, subject = self.text[: MAX_CHARACTERS + 1], self.subject[:MAX_CHARACTERS]
        return Reading(_plain(text), _plain(subject))


def _plain(text: str) -> str:
    return text if text.isascii() else unicodedata.normalize("NFKC", text)


@frozen
class Judgement:
    verdict: Verdict
    rule: Rule
    changes: tuple[tuple[str, str], ...] = ()
    """The words that differ, as (old, new)."""

    @property
    def as_question(self) -> Judgement:
        """The same, as a question."""
        return Judgement(Verdict.ASK, self.rule, self.changes)

    @property
    def denies(self) -> bool:
        """Whether the newer claim says itself that it replaces nothing: a hedge, "also", …"""
        return self.rule in DENYING

    def evidence(self, similarity: float) -> dict[str, Any]:
        """Return it as JSON for the journal: ``rule``, ``changes``, ``similarity``."""
        return {
            "similarity": round(float(similarity), 4),
            "rule": self.rule.value,
            "changes": [list(change) for change in self.changes],
        }


class Law(NamedTuple):
    """A rule, when it applies, and what follows."""

    rule: Rule
    applies: Callable[[Pair], bool]
    verdict: Verdict


LAWS: Final = (
    Law(Rule.HEDGED, denials.is_hedged, Verdict.KEEP),
    Law(Rule.ADDED, denials.adds, Verdict.KEEP),
    Law(Rule.OTHER_NUMBER, denials.numbers_another_thing, Verdict.KEEP),
    Law(Rule.SEVERAL, signs.names_one_of_several, Verdict.KEEP),
    Law(Rule.TOLD_OTHERWISE, signs.is_told_otherwise, Verdict.ASK),
    Law(Rule.FOR_A_TIME, denials.is_for_a_time, Verdict.KEEP),
    Law(Rule.OTHER_HOLDER, denials.names_another_holder, Verdict.KEEP),
    Law(Rule.NOTHING_ALIGNED, signs.shares_nothing, Verdict.KEEP),
    Law(Rule.STORY, signs.tells_another_story, Verdict.KEEP),
    Law(Rule.STRUCK, proofs.strikes, Verdict.RETIRE),
    Law(Rule.OTHER_THING, denials.is_about_another_thing, Verdict.KEEP),
    Law(Rule.ENDED, proofs.ends, Verdict.RETIRE),
    Law(Rule.DISPOSED, proofs.disposes, Verdict.RETIRE),
    Law(Rule.FROM_TO, proofs.moves_from_to, Verdict.RETIRE),
    Law(Rule.MOVED, proofs.moves_home, Verdict.RETIRE),
    Law(Rule.LEFT, proofs.leaves, Verdict.RETIRE),
    Law(Rule.TRANSFERRED, proofs.transfers, Verdict.RETIRE),
    Law(Rule.RENAMED, proofs.renames, Verdict.RETIRE),
    Law(Rule.NOW, proofs.says_now, Verdict.RETIRE),
    Law(Rule.VALUE, proofs.gives_attribute_another_value, Verdict.RETIRE),
    Law(Rule.PARTLY_STRUCK, proofs.touches_struck, Verdict.ASK),
    Law(Rule.EVENT, signs.tells_another_event, Verdict.KEEP),
    Law(Rule.FORMER, signs.was_before, Verdict.KEEP),
    Law(Rule.CONTRADICTED, signs.contradicts, Verdict.ASK),
    Law(Rule.FAMILY_MAYBE, signs.changes_a_family, Verdict.ASK),
    Law(Rule.THING_MAYBE, signs.changes_a_thing, Verdict.ASK),
    Law(Rule.OTHER_CLAIM, signs.denies_other_words, Verdict.KEEP),
    Law(Rule.SEVERAL, signs.accumulates, Verdict.KEEP),
    Law(Rule.OTHER_PREDICATE, signs.is_another_predicate, Verdict.KEEP),
    Law(Rule.ACT, signs.is_an_act, Verdict.KEEP),
    Law(Rule.CASE, signs.adds_a_case, Verdict.KEEP),
    Law(Rule.STATE_ENDED, signs.ends_a_state, Verdict.ASK),
    Law(Rule.ENDED_MAYBE, signs.ends_what_is_shared, Verdict.ASK),
    Law(Rule.ALIGNED, signs.has_one_other_value, Verdict.ASK),
    Law(Rule.VALUES, proofs.has_other_values, Verdict.ASK),
    Law(Rule.CHANGED_MAYBE, signs.changes_what_is_shared, Verdict.ASK),
    Law(Rule.VALUE_MAYBE, signs.changes_the_value, Verdict.ASK),
    Law(Rule.ATTRIBUTE_MAYBE, signs.changes_the_attribute, Verdict.ASK),
    Law(Rule.SAME_ATTRIBUTE, signs.has_the_same_attribute, Verdict.ASK),
)
"""The rules in order: the first that applies decides. Both stay if none does."""


PROOFS: Final = frozenset(law.rule for law in LAWS if law.verdict is Verdict.RETIRE)

OF_VALUES: Final = frozenset({Rule.TRANSFERRED, Rule.NOW, Rule.VALUE, Rule.SAME_SLOT})
"""Proofs by another value of the same thing, which do not say that the old one is over."""

DECISIVE: Final = frozenset(law.rule for law in LAWS if law.verdict is not Verdict.KEEP) | {
    Rule.OTHER_CASE,
    Rule.SAME_SLOT,
}
"""The rules without which both claims always stay."""


QUICK: Final = frozenset(
    {Rule.HEDGED, Rule.ADDED, Rule.TOLD_OTHERWISE}
    | {Rule.FOR_A_TIME, Rule.NOTHING_ALIGNED, Rule.STORY}
)
"""Rules that need no alignment, at least for pairs that have little to do with each other."""

_FIRST: Final = tuple(
    law
    for law in takewhile(lambda law: law.verdict is not Verdict.RETIRE, LAWS)
    if law.rule in QUICK
)
"""Those before the first proof. What is left out here lets both stay, too, if it applies."""


def verdict(old: Claim, new: Claim, *, without: Collection[Rule] = ()) -> Verdict:
    """Return the verdict of :func:`judge`, quickly if the two have little to do with each other."""
    if old.folded == new.folded:
        return _spelt_alike(old, new, without).verdict
    pair = Pair(old.reading, new.reading)
    is_slotted = old.slots is not None and new.slots is not None
    for law in _FIRST:
        if law.rule not in without and law.applies(pair):
            if law.verdict is Verdict.ASK or (is_slotted and law.rule not in DENYING):
                break  # it needs a closer look, or the slots may ask
            return Verdict.KEEP
    return judge(old, new, without=without).verdict


def worth_judging(claim: Claim, others: Sequence[Claim], *, is_newer: bool) -> list[int]:
    """Return the places of claims, in order; with all the others, both stay.

    It is :func:`verdict` for one claim and many, as far as that looks at no single words.

    Args:
        is_newer: whether the claim is newer than the others, or older.
    """
    readings = [other.reading for other in others]
    found = {
        *bearing(
            claim.reading,
            readings,
            is_newer=is_newer,
            turned=signs.TURNED | RENAMES,
            topics=signs.TOPICS,
            denied=DENIED,
            long=signs.LONG,
        )
    }
    if is_newer and claim.reading.asks:
        found = set()
    for place, other in enumerate(others):
        if other.folded == claim.folded or (claim.slots is not None and other.slots is not None):
            found.add(place)
    return sorted(found)


DENIED: Final = ((HEDGES, HEDGES), (ADDS, FORMER))
"""Marks of a newer claim that replaces nothing, unless the older one has roles of these: see
:func:`denials.is_hedged` and :func:`denials.adds`."""


def judge(old: Claim, new: Claim, *, without: Collection[Rule] = ()) -> Judgement:
    """Judge whether the newer claim replaces the older one.

    How near their vectors are decides nothing: it does not tell a correction from a second fact.

    Args:
        without: rules that are switched off.
    """
    if old.folded == new.folded:
        return _spelt_alike(old, new, without)
    pair = Pair(old.reading, new.reading)
    judged = _by_words(pair, without)
    if judged.verdict is Verdict.RETIRE and _goes_on(old, new, pair, without):
        judged = judged.as_question
    if judged.verdict is Verdict.ASK and (proof := _by_first_clause(old, new, pair, without)):
        return proof
    slots = None
    if old.slots is not None and new.slots is not None:
        slots = Compared(old.slots, new.slots, (old.folded, new.folded))
        values = (old.slots.value, new.slots.value)
        judged = _by_slots(judged, pair, slots, values, without)
    if (
        judged.verdict is Verdict.RETIRE
        and judged.rule in OF_VALUES
        and signs.may_be_one_of_several(pair)
    ):
        judged = judged.as_question
    if judged.verdict is Verdict.RETIRE and not _one_holder(judged, pair, slots):
        # A name may be a verb: the more careful of both readings counts.
        return _by_words(pair.widest, {*without, *PROOFS})
    return judged


def _one_holder(judged: Judgement, pair: Pair, slots: Compared | None) -> bool:
    """Whether a proof is about one holder, wherever the verbs stand, or an extractor names it."""
    old, new = pair.side_by_side.other_names
    if judged.rule is Rule.SAME_SLOT and slots is not None and slots.name_holder(pair):
        return True
    if judged.rule is Rule.RENAMED and proofs.renames_by_name(pair):
        return not new  # the name itself says what it is about
    if judged.rule is Rule.FROM_TO:
        by_whom = proofs.agent(pair)
        new = tuple(word for word in new if word not in by_whom)
    return not old and not new


def _spelt_alike(old: Claim, new: Claim, without: Collection[Rule]) -> Judgement:
    """Judge two claims that differ in letter case at most: a name may have been misspelt."""
    one, other = spaced(old.text), spaced(new.text)
    if one == other or Rule.OTHER_CASE in without:
        return Judgement(Verdict.KEEP, Rule.SAME)
    words = zip(one.split(), other.split(), strict=False)
    return Judgement(Verdict.ASK, Rule.OTHER_CASE, tuple(two for two in words if two[0] != two[1]))


def _by_words(pair: Pair, without: Collection[Rule]) -> Judgement:
    for law in LAWS:
        if law.rule not in without and law.applies(pair):
            return Judgement(law.verdict, law.rule, _changes(pair))
    return Judgement(Verdict.KEEP, Rule.NOTHING_ALIGNED)


def _by_first_clause(
    old: Claim, new: Claim, pair: Pair, without: Collection[Rule]
) -> Judgement | None:
    """Return the proof by the first clause of a claim whose tail takes nothing back, if any."""
    if pair.new.is_cut or not tails.has_same_signs(pair):
        return None
    found = _proofs_of_clauses(old, new, pair, without)
    return next((judged for judged, holds, _ in found if holds), None)


def _goes_on(old: Claim, new: Claim, pair: Pair, without: Collection[Rule]) -> bool:
    """Whether a proof stands in a clause before one that may take it back: that is Gossip."""
    return not all(
        holds or tails.strikes_known(pair.old, words)
        for _, holds, words in _proofs_of_clauses(old, new, pair, without)
    )


def _proofs_of_clauses(
    old: Claim, new: Claim, pair: Pair, without: Collection[Rule]
) -> Iterator[tuple[Judgement, bool, Sequence[Word]]]:
    """Yield each proof by the first clauses of a claim, whether it holds, and what follows them.

    It holds where the words after it say what comes instead of what ended, or why.
    """
    if pair.new.is_unspaced:
        return
    for text, sign, tail in tails.cuts(new.text):
        clause = Claim(text, new.subject)
        words = tails.following(pair.new, clause.reading)
        judged = judge(old, clause, without=without) if words else None
        if not words or judged is None or judged.verdict is not Verdict.RETIRE:
            continue
        ended = judged.rule is Rule.ENDED and tails.names_successor(pair.old, sign, words)
        yield judged, ended or tails.gives_reason(tail, words), words


def _by_slots(
    judged: Judgement,
    pair: Pair,
    slots: Compared,
    values: tuple[str | None, str | None],
    without: Collection[Rule],
) -> Judgement:
    """Return the verdict of the words together with that of the slots.

    Where both see a change, it is proved; an attribute that the texts do not name proves it only if
    the claims differ in nothing but their values. Slots alone only ask, if all else of the older
    claim stands in the newer one, and other slots withdraw a question unless the words end or
    correct something.
    """
    if judged.verdict is Verdict.RETIRE or judged.denies:
        return judged
    asks = judged.verdict is Verdict.ASK
    ended = slots.end and asks and (judged.rule in ENDING or bool(pair.marks & OVER))
    sees = (
        asks
        or slots.keep_all_else(pair)
        or (slots.is_named and judged.rule is not Rule.OTHER_THING)
    )
    if (slots.replace or ended) and sees and Rule.SAME_SLOT not in without:
        seen = asks and not (
            judged.rule in FAMILIAR and _names_a_case(pair, ended=ended or slots.names(pair))
        )
        verdict = (
            Verdict.RETIRE
            if seen
            and (ended or judged.rule is not Rule.TOLD_OTHERWISE)
            and (slots.is_named or ended or slots.are_all_that_differs(pair))
            and may_prove(pair, None if ended else values[1], values[0])
            else Verdict.ASK
        )
        return Judgement(verdict, Rule.SAME_SLOT, judged.changes)
    over = bool(pair.marks & (OVER | CORRECTS | REPLACES))
    if slots.differ and asks and not over and Rule.OTHER_SLOT not in without:
        return Judgement(Verdict.KEEP, Rule.OTHER_SLOT, judged.changes)
    return judged


def _names_a_case(pair: Pair, *, ended: bool) -> bool:
    """Whether the words may hold for a case only.

    They may say to whom it was given away, and what comes instead.
    """
    if ended:
        return bool(pair.marks & PARTLY) or signs.qualifies(pair)
    return signs.names_a_case(pair)


def speaks_against(old: Claim, new: Claim) -> bool:
    """Whether the newer claim ends, corrects or denies something, or may replace the older one.

    Weaker than a question: it supports what somebody else wants, and is no reason by itself.
    """
    judged = judge(old, new)
    if judged.verdict is not Verdict.KEEP or judged.denies:
        return not judged.denies
    return signs.speaks_against(Pair(old.reading, new.reading))


def _changes(pair: Pair) -> tuple[tuple[str, str], ...]:
    return tuple(
        (" ".join(word.text for word in old), " ".join(word.text for word in new))
        for old, new in pair.regions
    )


def named_rules(given: Iterable[str]) -> frozenset[Rule]:
    """Return the rules that are named: each a :class:`Rule`, its text, or its name in any case.

    Raises:
        InvalidArgument: there is no such rule.
    """
    return frozenset(map(_rule, checked_items(given, "without_rules")))


def _rule(name: str) -> Rule:
    if isinstance(name, str) and (by_name := name.strip().upper()) in Rule.__members__:
        return Rule[by_name]
    return Rule(checked_choice(name, Rule, "without_rules"))
