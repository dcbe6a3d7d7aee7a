"""Recognizes newer claims that say themselves that they replace nothing."""

from __future__ import annotations

from itertools import pairwise, takewhile
from typing import TYPE_CHECKING, Final

from memstore._kernel.claims import (
    ADDS,
    ATTRIBUTE,
    CHANGES,
    CORRECTS,
    FORMER,
    HAVE,
    HEDGES,
    KIN,
    MARRIAGE,
    MEASURES,
    NAME,
    NOW,
    NUMBERED,
    PREPOSITION,
    TEMPORARY,
    USER,
    VERSION,
)
from memstore.text.judging.pair import OVER, is_value, numbered, roles

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memstore._kernel.claims import Reading, Word
    from memstore.text.judging.pair import Pair


FALSE: Final = frozenset("true false wrong untrue incorrect case nicht wahr falsch".split())
"""The last words of phrases that take back what was said, or, before "that", what follows."""

THAT: Final = frozenset("that dass que che dat".split())

SINCE: Final = frozenset("since seit ab depuis desde".split())
"""Words before a time from which on something holds."""

LENGTHS: Final = frozenset("for für pendant durante por per voor".split())
"""Words before how long something is kept, where both claims say so."""


def is_hedged(pair: Pair) -> bool:
    """It asks, or may not be so, or somebody else says so, or it is said not to be so."""
    if pair.marks & CORRECTS and _says_false(pair.new):
        return True
    return pair.new.asks or (bool(pair.marks & HEDGES) and not _wishes_anew(pair))


def _says_false(reading: Reading) -> bool:
    """Whether it denies what follows: it is not true that …"""
    return any(
        one.roles & CORRECTS and one.text.lower() in FALSE and other.text.lower() in THAT
        for one, other in pairwise(reading.words)
    )


def _wishes_anew(pair: Pair) -> bool:
    """Whether both are wishes of the subject, and the newer one holds from now on."""
    wishes = pair.old.roles & HEDGES and pair.old.is_about_subject
    return bool(
        wishes and pair.marks & NOW and pair.new.roles & USER and (pair.shared or pair.families)
    )


def adds(pair: Pair) -> bool:
    # The second Thursday instead of the first Tuesday.
    ordinal = pair.old.roles & FORMER and pair.marks & (NOW | CHANGES)
    return bool(pair.marks & ADDS) and not ordinal


def is_for_a_time(pair: Pair) -> bool:
    if not pair.marks & TEMPORARY or pair.marks & (OVER | CORRECTS):
        return False
    return not all(_lasts(pair, place) for place in range(len(pair.new.words)))


def _lasts(pair: Pair, place: int) -> bool:
    """Whether a word is none for a time, or says how long something is kept, or since when."""
    words = pair.new.words
    if not words[place].roles & TEMPORARY:
        return True
    start = place
    while start and words[start - 1].roles & TEMPORARY:
        start -= 1
    before = words[start - 1 : start]
    if not before or before[0].roles & HAVE:
        return False
    if before[0].roles & NOW:
        return before[0].text.lower() in SINCE
    known = LENGTHS & {word.text.lower() for word in pair.old.words}
    length = any(word.text.lower() in known for word in (before[0], words[start]))
    return bool(before[0].roles & MEASURES) and length and not _says_now(words[start:])


def _says_now(words: Sequence[Word]) -> bool:
    """Whether the words for a time say "now": for now."""
    run = takewhile(lambda word: word.roles & TEMPORARY, words)
    return any(word.text.lower() == "now" for word in run)


def names_another_holder(pair: Pair) -> bool:
    """It is about a person, or an animal, of whom the older claim says nothing; or the reverse."""
    found = pair.side_by_side
    gained = found.new_head
    if not gained and not found.other_kin:
        return False
    # A wife is a state of the subject, not another holder.
    if pair.old.roles & pair.new.roles & MARRIAGE and not roles(gained) & KIN:
        return False
    if found.other_kin:
        return True
    if any(word.kind == NAME and not word.roles & ATTRIBUTE for word in gained):
        return True
    if not pair.old.is_about_subject or pair.new.is_about_subject:
        return False
    # "Bob knows": a name that nothing is known of begins the claim.
    first = pair.new.words[0]
    return first in gained and first.text[:1].isupper() and not first.roles


def is_about_another_thing(pair: Pair) -> bool:
    """Before its verb stands a word that the older claim does not have: the gym's pool.

    Or a word has another sense, such as "turkey", or another owner.
    """
    found = pair.side_by_side
    if not found.same_owners or not found.same_case or _differ_in_name(pair):
        return True
    gained = [word for word in found.new_head if not is_value(word)]
    if not gained or (pair.marks & (CHANGES | OVER) and pair.keeps_words):
        return False
    # "earns 2400" and "the salary rose to 2650" have one attribute.
    return not (pair.old.roles & MEASURES and all(word.roles & ATTRIBUTE for word in gained))


def _differ_in_name(pair: Pair) -> bool:
    """Whether what differs is which thing they are about: gate 14, gate 41."""
    if pair.values is None:
        return False
    heads = pair.old.words[: pair.old.head], pair.new.words[: pair.new.head]
    if pair.new.is_unspaced and pair.marks & NOW and _follow_prepositions(pair.values, heads):
        return False  # 现在在小米工作: where the verb stands last, its place stands before it
    return all(value[0] in head for value, head in zip(pair.values, heads, strict=True))


def _follow_prepositions(values: Sequence[Sequence[Word]], heads: Sequence[Sequence[Word]]) -> bool:
    """Whether both values stand in their heads, each right after a preposition."""
    return all(
        any(word == value[0] and before.roles & PREPOSITION for before, word in pairwise(head))
        for value, head in zip(values, heads, strict=True)
    )


def numbers_another_thing(pair: Pair) -> bool:
    """Whether both number a thing of one kind, and the numbers differ: ticket 17, ticket 18."""
    if pair.marks & (NOW | CORRECTS) or not (pair.old.roles & NUMBERED or _has_version(pair.old)):
        return False
    old, new = numbered(pair.old), numbered(pair.new)
    return any(not old[thing] & new[thing] for thing in old.keys() & new.keys())


def _has_version(reading: Reading) -> bool:
    return any(word.kind == VERSION for word in reading.words)
