"""Signs that a newer claim may replace an older one, and what speaks against it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from memstore._kernel.claims import (
    ATTRIBUTE,
    BE,
    BEGINS,
    CHANGES,
    CLOSES,
    CODE,
    CORRECTS,
    DATE,
    DENIES,
    DIET,
    ENDS,
    FORMER,
    HAVE,
    HEALTH,
    HOME,
    INDEFINITE,
    LEAVES,
    MANY,
    MARRIAGE,
    MEASURES,
    NAME,
    NOW,
    NUMERIC,
    ONE,
    PAST,
    PREPOSITION,
    QUALIFIER,
    SEVERAL,
    STATE,
    UNIQUE,
    UNSPACED,
    USER,
    VERB,
    WORK,
    WORD,
)
from memstore.text.judging.pair import (
    OVER,
    TURNS,
    TYPED,
    is_value,
    keys,
    kinds,
    of_one_type,
    roles,
    telling,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memstore._kernel.claims import Word
    from memstore.text.judging.pair import Pair

LONG: Final = 8
"""The telling words of a claim that tells a story."""

TOPICS: Final = HOME | WORK | MARRIAGE | DIET | HEALTH
VERBS: Final = MANY | ONE | MEASURES | PAST | VERB
STRONG: Final = NOW | CHANGES | CORRECTS | ENDS | LEAVES


def tells_another_story(pair: Pair) -> bool:
    """Whether one of the two is long, and they share less than half."""
    before, after = pair.size
    if pair.old.is_cut or pair.new.is_cut:
        return True
    return max(before, after) > LONG and 2 * pair.shared < min(before, after)


def tells_another_event(pair: Pair) -> bool:
    """Whether the older claim tells an event, and the newer one does not correct it."""
    if not pair.old.roles & PAST:
        return False
    moved = pair.old.roles & pair.new.roles & CHANGES
    return not pair.marks & CORRECTS and not (moved and pair.shared > 1)


def was_before(pair: Pair) -> bool:
    """Whether the older claim speaks of what was before: the first car, the old phone."""
    return bool(pair.old.roles & FORMER) and not pair.new.roles & FORMER


def denies_other_words(pair: Pair) -> bool:
    """Whether one affirms and the other denies something else."""
    if not pair.denied or pair.marks & TURNS:
        return False
    return bool(pair.lost or pair.gained) or not pair.same_prepositions


def contradicts(pair: Pair) -> bool:
    """Whether the same words are once affirmed and once denied."""
    return (
        pair.denied
        and not pair.lost
        and not pair.gained
        and not pair.regions
        and pair.shared > 0
        and pair.same_signs
        and pair.same_prepositions
    )


def ends_what_is_shared(pair: Pair) -> bool:
    """Whether something is over, beside a word of the older claim."""
    return bool(pair.marks & OVER) and is_close(pair) and not adds_a_case(pair)


def adds_a_case(pair: Pair) -> bool:
    """Whether it holds in a case only that the older claim does not speak of."""
    return bool(roles(pair.gained) & QUALIFIER) or any(
        word.kind in TYPED and not word.roles for word in pair.gained if not pair.lost
    )


def is_close(pair: Pair) -> bool:
    """Whether they share enough: half of the shorter, or a noun if both are short."""
    before, after = pair.size
    least = min(before, after)
    if not pair.shared:
        return False
    return 2 * pair.shared >= least or (least <= 4 and bool(pair.marks & STRONG))


def accumulates(pair: Pair) -> bool:
    """Whether the frame is that of one of several: likes, speaks, a friend."""
    if pair.values is None or pair.marks & (TURNS & ~OVER & ~BEGINS):
        return False
    old, new = pair.values
    frame = roles(pair.frame)
    counted = of_one_type(old, new) == NUMERIC
    if frame & SEVERAL and not (frame & ATTRIBUTE and not pair.old.roles & INDEFINITE):
        return True
    return bool(frame & MANY) and not counted


def is_another_predicate(pair: Pair) -> bool:
    """Whether what differs is the verb, the type of the value, or a case."""
    if pair.values is None:
        return False
    old, new = pair.values
    if pair.marks & (NOW | CORRECTS | CHANGES):
        return False
    if roles(old) & QUALIFIER or roles(new) & QUALIFIER:
        return True
    both = roles(old) & VERBS and roles(new) & VERBS
    topics = roles(old) & TOPICS, roles(new) & TOPICS
    if both and not topics[0] & topics[1]:
        return True
    return not _fits(pair, old, new)


def _fits(pair: Pair, old: Sequence[Word], new: Sequence[Word]) -> bool:
    if _states(old) & _states(new):
        return True
    before, after = kinds(old), kinds(new)
    if before & TYPED or after & TYPED:
        return of_one_type(old, new) is not None
    return bool(before & after) or bool(pair.frame)


def _states(words: Sequence[Word]) -> int:
    found = 0
    for word in words:
        found |= word.groups
    return found


def is_an_act(pair: Pair) -> bool:
    """Whether an unknown verb has another object: recommends X, recommends Y."""
    if pair.values is None or pair.marks & TURNS:
        return False
    tell = [word for word in pair.frame if not is_value(word)]
    if len(tell) != 1:
        return False
    verb = tell[0]
    known = ATTRIBUTE | ONE | MEASURES | UNIQUE | STATE | SEVERAL | TOPICS
    words = pair.old.words
    place = next((i for i, word in enumerate(words) if word.key == verb.key), 0)
    after = words[place + 1].roles if place + 1 < len(words) else 0
    before = words[place - 1].roles if place else 0
    return not verb.roles & known and not after & (PREPOSITION | BE) and not before & BE


def has_one_other_value(pair: Pair) -> bool:
    """Whether exactly one value differs in a frame that tells something."""
    if pair.values is None or pair.denied:
        return False
    old, new = pair.values
    if len(old) > 4 or len(new) > 4:
        return False
    if not pair.frame:
        return bool(_states(old) & _states(new) or roles(old) & roles(new) & TOPICS)
    return pair.same_prepositions or bool(roles(pair.frame) & (ATTRIBUTE | ONE))


def changes_what_is_shared(pair: Pair) -> bool:
    """Whether a word of change stands beside a word of the older claim."""
    turned = pair.marks & (NOW | CHANGES | BEGINS | CORRECTS)
    return bool(turned) and is_close(pair)


def changes_the_attribute(pair: Pair) -> bool:
    """Whether a word of change stands beside the same attribute: home, work, marriage, diet."""
    topic = pair.old.roles & pair.new.roles & TOPICS
    before, after = pair.size
    return bool(topic and pair.marks & TURNS) and before <= 6 and after <= 8


def has_the_same_attribute(pair: Pair) -> bool:
    """Whether two short claims state the same attribute of a person."""
    topic = pair.old.roles & pair.new.roles & (MARRIAGE | DIET | HEALTH | HOME)
    before, after = pair.size
    return bool(topic) and before <= 4 and after <= 4 and not pair.new.roles & MANY


__all__ = [
    "accumulates", "changes_the_attribute", "changes_what_is_shared", "contradicts",
    "denies_other_words", "ends_what_is_shared", "has_one_other_value", "has_the_same_attribute",
    "is_an_act", "is_another_predicate", "tells_another_event", "tells_another_story", "was_before",
]  # fmt: skip
_ = (CLOSES, CODE, DATE, DENIES, HAVE, NAME, UNSPACED, USER, WORD, telling, keys)
