"""Compares what an extractor found in two claims."""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING, Final, Literal

from memstore._kernel.claims import (
    ADDS,
    ATTRIBUTE,
    CHANGES,
    CORRECTS,
    DAY,
    FUNCTION,
    HAVE,
    HOME,
    KIN,
    MANY,
    MEASURES,
    NAME,
    NOW,
    ONE,
    OWNER,
    REGION,
    REPLACES,
    TEMPORARY,
    UNSPACED,
    USER,
    VERB,
    WORK,
    Reading,
)
from memstore.frozen import frozen
from memstore.text.folding import folded
from memstore.text.judging.pair import OVER, TURNS, is_value

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memstore._kernel.claims import Word
    from memstore.text.judging.pair import Pair

STRONG = OVER | CHANGES | CORRECTS | REPLACES
"""Marks after which even a verb that accumulates has another value."""


ATTRIBUTES: Final = frozenset(
    "name age birthday home address email phone work employer role salary marriage partner diet "
    "allergy health language nationality pet vehicle hobby preference plan location owner status "
    "version port price deadline schedule".split()
)
"""Names that an extractor is given: two of them are never one attribute in other words."""


@frozen
class Slots:
    """What an extractor found in a claim, each word of it found in the text."""

    holder: str | None = None
    attribute: str | None = None
    value: str | None = None
    cardinality: Literal["one", "many"] | None = None
    holds_from: str | None = None
    holds_until: str | None = None


class Compared:
    """The slots of an older and a newer claim, with their folded texts.

    Attributes:
        replace: one attribute of one holder, which has one value, has another one, or has ended.
        end: both speak of one value of one attribute.
        differ: the attributes or the holders differ, or the attribute has several values.
        is_named: each text says the attribute, or it is one of :data:`ATTRIBUTES`. Any other one
            is the extractor's word, and may be a coarse one: two budgets, two deadlines.
    """

    def __init__(self, old: Slots, new: Slots, texts: tuple[str, str]) -> None:
        known = bool(old.attribute and new.attribute)
        one_attribute = known and _same(old.attribute, new.attribute)
        one_holder = not (old.holder and new.holder) or _same(old.holder, new.holder)
        same = one_attribute and one_holder
        valued = _stands(old.value, texts[0]) and _stands(new.value, texts[1])
        one = old.cardinality == new.cardinality == "one"
        ended = bool(new.holds_until) and not old.holds_until
        self.end = same and (ended or (valued and _same(old.value, new.value)))
        self.replace = same and one and (ended or (valued and not self.end))
        self._values = folded(old.value or ""), folded(new.value or "")
        self._value = {*_keys(new.value or "")}
        self._holders = (old.holder, new.holder) if same else (None, None)
        self.is_named = known and all(
            _is_named(slots.attribute, text) for slots, text in zip((old, new), texts, strict=True)
        )
        other = self.is_named and not one_attribute
        several = "many" in (old.cardinality, new.cardinality)
        self.differ = known and (other or several or not one_holder)

    def name_holder(self, pair: Pair) -> bool:
        """Whether the one holder of both stands in each text."""
        sides = zip(self._holders, (pair.old, pair.new), strict=True)
        return all(holder and _names(reading, holder) for holder, reading in sides)

    def keep_all_else(self, pair: Pair) -> bool:
        """Whether the newer claim says all that the older one says, apart from its value.

        Another verb may say it: takes 20 minutes, was stretched to 25. What the newer one says
        beyond that is a detail.
        """
        verbs = ONE | MEASURES | HAVE | VERB
        lost = [word for word in pair.lost if not word.roles & verbs or word.roles & ATTRIBUTE]
        return _within(lost, self._values[0])

    def are_all_that_differs(self, pair: Pair) -> bool:
        """Whether the claims differ in their values alone, and in marks such as "now"."""
        return _within(pair.lost, self._values[0]) and _within(pair.gained, self._values[1])

    def names(self, pair: Pair) -> bool:
        """Whether the newer value is all that the words add, where they end or correct."""
        gained = {word.key for word in pair.gained}
        return bool(pair.marks & STRONG and self._value & gained)


def _same(one: str | None, other: str | None) -> bool:
    """Whether two slots have the same words, apart from articles; "I" and "my" are one."""
    return _keys(one or "") == _keys(other or "")


def _within(words: Sequence[Word], value: str) -> bool:
    """Whether all of some words stand in a value."""
    said = {*value.split()}
    return all(folded(word.text) in (value if word.kind == UNSPACED else said) for word in words)


def _is_named(attribute: str | None, text: str) -> bool:
    """Whether a text says an attribute, or has no need to."""
    name = folded(attribute or "")
    return name in ATTRIBUTES or all(word in text for word in name.split())


def _names(reading: Reading, holder: str) -> bool:
    words = Reading(unicodedata.normalize("NFKC", holder), "").words
    return {word.stem for word in words if word.is_telling or len(words) == 1} <= {
        word.stem for word in reading.words
    }


def _stands(value: str | None, text: str) -> bool:
    """Whether a value stands in the folded text; one that an extractor made up tells nothing."""
    return bool(value) and folded(value or "") in text


def _keys(text: str) -> list[int | str]:
    words = Reading(unicodedata.normalize("NFKC", text), "").words
    named: list[int | str] = [word.key for word in words if not word.is_dropped]
    if named or (text and all(word.roles & (FUNCTION | OWNER) for word in words)):
        return named
    return [folded(text)]


PURPOSES: Final = frozenset("for für pour para per voor dla для".split())
"""Prepositions before those for whom something holds, or what for."""


def _names_purpose(pair: Pair, value: str | None) -> bool:
    """Whether only the newer claim says for whom, or what for, before words beyond its value."""
    said = folded(value or "")
    words = pair.new.words
    gained = {id(word) for word in pair.side_by_side.gained_prepositions}
    return any(
        one.stem in PURPOSES and id(one) in gained and folded(one.text) not in said.split()
        for one in words
    )


def _names_another_subject(pair: Pair, value: str | None) -> bool:
    """Whether a name stands where the older claim has its subject: of Atlas, of Boreas."""
    if not any(word.roles & USER for word in pair.old.words) or pair.new.roles & USER:
        return False
    said = folded(value or "")
    return any(
        (word.kind == NAME or word.text[:1].isupper())
        and not word.roles
        and folded(word.text) not in said
        for word in pair.gained
    )


def may_prove(pair: Pair, value: str | None = None, former: str | None = None) -> bool:
    """Whether the words allow what slots and signs say together.

    An extractor drops conditions, so a proof still needs the same signs and no other condition.

    Args:
        value: of the newer claim, which may stand where a holder does: "Wen is the lead now".
        former: the value of the older claim. Words that both texts have are no other value.
    """
    either = pair.old.roles | pair.new.roles
    named = {*_keys(value or "")}
    other = (word for word in pair.side_by_side.new_head if word.key not in named)
    return (
        pair.same_signs
        and pair.heads_own
        and not pair.narrows
        and not (pair.denied and pair.marks & CHANGES)  # "was not moved to"
        and not _may_lie_within(pair)
        and not _names_purpose(pair, value)
        and not _names_another_subject(pair, value)
        and _is_new(value, pair.new, pair.old)
        and (_is_new(former, pair.old, pair.new) or bool(pair.marks & STRONG))
        and not either & ADDS
        and (not pair.old.roles & TEMPORARY or bool(pair.marks & (OVER | NOW)))
        and pair.holds_on
        and not (pair.old.roles & MANY and not pair.marks & STRONG and pair.marks & NOW)
        and (bool(pair.marks & STRONG) or not _gains_day(pair))
        and not any(_is_another(word, pair) for word in other)
    )


def _may_lie_within(pair: Pair) -> bool:
    """Whether one of two places may lie in the other, as a town lies in its region."""
    if pair.marks & TURNS:
        return False
    regions = [any(word.roles & REGION for word in side) for side in (pair.lost, pair.gained)]
    if regions[0] != regions[1]:
        return True
    both = pair.old.roles & pair.new.roles
    if both & WORK:  # a firm is no part of another firm, but a district of a town
        named = [word.kind == NAME for word in (*pair.lost, *pair.gained)]
        return any(named) and not all(named)
    return bool(both & HOME)


def _gains_day(pair: Pair) -> bool:
    """Whether only the newer claim speaks of days: at 9 on Sundays."""
    return any(word.roles & DAY for word in pair.gained) and not pair.old.roles & DAY


def _is_new(value: str | None, this: Reading, other: Reading) -> bool:
    """Whether a value has a word that the other text does not have; no value may have any."""
    known = {word.stem for word in other.words}
    said = folded(value or "")
    return not said or any(
        folded(word.text) in said and word.stem not in known
        for word in this.words
        if not word.is_dropped
    )


def _is_another(word: Word, pair: Pair) -> bool:
    """Whether a word before the verb, which only the newer claim has, may name another holder."""
    if is_value(word) or word.roles & ATTRIBUTE or word.families & pair.families:
        return False
    if word.kind == NAME or word.roles & KIN or (word.text[:1].isupper() and not word.roles):
        return True
    following = pair.new.words[pair.new.words.index(word) + 1 :]
    # "The old app" is another one than the app.
    return not pair.new.roles & USER or any(next_one.roles & USER for next_one in following[:1])
