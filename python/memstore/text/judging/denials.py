"""What a newer claim says itself, by which it replaces nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memstore._kernel.claims import (
    ADDS,
    ATTRIBUTE,
    CHANGES,
    CORRECTS,
    FORMER,
    NOW,
    HEDGES,
    KIN,
    MARRIAGE,
    MEASURES,
    NAME,
    TEMPORARY,
    USER,
)
from memstore.text.judging.pair import OVER, head, is_value, keys, roles, telling

if TYPE_CHECKING:
    from memstore.text.judging.pair import Pair


def is_hedged(pair: Pair) -> bool:
    """It asks, or may not be so, or somebody else says so."""
    return pair.new.asks or bool(pair.marks & HEDGES)


def adds(pair: Pair) -> bool:
    # The second Thursday instead of the first Tuesday.
    ordinal = pair.old.roles & FORMER and pair.marks & (NOW | CHANGES)
    return bool(pair.marks & ADDS) and not ordinal


def is_for_a_time(pair: Pair) -> bool:
    return bool(pair.marks & TEMPORARY) and not pair.marks & (OVER | CORRECTS)


def names_another_holder(pair: Pair) -> bool:
    """It is about a person, or an animal, of whom the older claim says nothing; or the reverse."""
    if pair.old.roles & pair.new.roles & MARRIAGE and not roles(head(pair.new)) & KIN:
        return False
    old, new = pair.old.words[: pair.old.head], pair.new.words[: pair.new.head]
    before, after = keys(pair.old.words), keys(pair.new.words)
    if any(word.roles & KIN and word.key not in before for word in new):
        return True
    if any(word.roles & KIN and word.key not in after for word in old):
        return True
    gained = [word for word in head(pair.new) if word.key not in before]
    if any(word.kind == NAME and not word.roles & ATTRIBUTE for word in gained):
        return True
    # "Bob knows": the subject is not what the newer claim is about.
    subject = any(word.roles & USER for word in old)
    if not subject or not gained or any(word.roles & USER for word in new):
        return False
    # "The vet replaced Kim's pills" changes what is said of Kim.
    return not (pair.marks & (CHANGES | OVER) and pair.keeps_words and pair.new.roles & USER)


def is_about_another_thing(pair: Pair) -> bool:
    """Before its verb stands a word that the older claim does not have: the gym's pool.

    Or a word has another sense, such as "turkey", or another owner.
    """
    if not pair.side_by_side.same_owners or not pair.side_by_side.same_case:
        return True
    before = keys(pair.old.words)
    gained = [word for word in head(pair.new) if pair.forms[id(word)] not in before and not is_value(word)]
    if not gained or (pair.marks & (CHANGES | OVER) and pair.keeps_words):
        return False
    # "earns 2400" and "the salary rose to 2650" have one attribute.
    measured = bool(roles(telling(pair.old)) & MEASURES)
    return not (measured and all(word.roles & ATTRIBUTE for word in gained))
