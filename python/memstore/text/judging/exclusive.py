"""Frames that hold one value at a time, though no list has their verb or their noun.

They prove a change only beside "now": the server stands at X, the orders go through X, the queue
of the shop is X, X leads the team.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from memstore._kernel.claims import (
    ARTICLE,
    BE,
    CODE,
    INDEFINITE,
    JOINS,
    KIN,
    MANY,
    NAME,
    NOW,
    OWNER,
    PREPOSITION,
    QUALIFIER,
    SEVERAL,
    TITLE,
    UNIQUE,
    USER,
    WORK,
)
from memstore.text.judging.pair import roles

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memstore._kernel.claims import Reading, Word
    from memstore.text.judging.pair import Pair


def _by_preposition(text: str) -> dict[str, frozenset[str]]:
    lines = (line.split(":") for line in text.split("|"))
    return {
        preposition: frozenset(verbs.split())
        for names, verbs in lines
        for preposition in names.split()
    }


PLACES: Final = _by_preposition(
    "through: goes go runs run is are"
    "|via: goes go runs run is are gaat gaan loopt lopen"
    "|from: is are comes come"
    "|in: queues queue queued caches cache cached archives archive archived"
    " steht stehen liegt liegen staat staan ligt liggen está están fica ficam"
    "|bei: steht stehen liegt liegen läuft laufen"
    "|über: läuft laufen geht gehen"
    "|von aus: kommt kommen"
    "|bij: staat staan ligt liggen loopt lopen"
    "|van uit: komt komen"
    "|par: passe passent"
    "|por: pasa pasan passa passam"
    "|pelo pela: passa passam"
    "|per da dal: passa passano"
    "|en: está están"
    "|em no na: está estão fica ficam"
)
"""Verbs that say with a preposition where a thing is, where it comes from, or what it goes through.

What is on, runs on, works with or is available in something may be so in several.
"""

PROCESSED: Final = frozenset(
    "processed handled routed printed hashed compressed packed packaged resized converted invoiced"
    " collected sorted filed kept saved drafted proofread transcribed cleaned queued cached"
    " archived"
    " traités traitées imprimés imprimées gérés gérées conservés conservées archivés archivées"
    " traité traitée imprimé imprimée géré gérée conservé conservée archivé archivée".split()
)
"""Participles behind "is" of what is done with a thing in one place, by one hand, in one way.

What is sold, used, tested, mirrored or signed somewhere may be so in several places.
"""

BY_MEANS: Final = frozenset("with in by as at via over using avec chez dans par sur".split())
"""Prepositions before that place, hand or way."""

PASSIVES: Final = frozenset("hosted stored built written run deployed".split())
"""Participles behind "is" of which a thing has one value, though a person uses several."""

PURPOSES: Final = frozenset("for für pour para per voor".split())
"""Prepositions before what one thing may serve several of."""

WITH: Final = frozenset("with mit avec con com met".split())
"""Prepositions before those with whom somebody works, of whom there may be several."""

LEADS: Final = frozenset(
    "leads heads chairs manages owns directs leitet verantwortet dirige gère gestiona lidera"
    " gestisce leidt".split()
)
"""Verbs of what one person does alone: who leads a team now is its leader."""

IS: Final = frozenset("is ist est es è é jest".split())
"""Verbs of one, not of several: is, not are."""

UNSPACED_IS: Final = frozenset("是 は だ です".split())

FILE: Final = re.compile(r"[\w./-]*\w[./]\w+")
"""A file, in which a thing is that is in no other one: config.yaml."""

OF: Final = frozenset("的 の".split())

MAX_NAME: Final = 3
"""The most words of a person's name."""


def is_passive(pair: Pair) -> bool:
    """Whether something is hosted or built somewhere; what it serves may be several things."""
    words, place = _value_place(pair)
    if place < 2 or words[place - 1].stem in PURPOSES:
        return False
    verbs = [i for i, word in enumerate(words[:place]) if word.text.lower() in PASSIVES]
    return bool(verbs) and bool(words[verbs[-1] - 1].roles & BE)


def has_company(pair: Pair) -> bool:
    """Whether it says with what somebody or something works, or of one of several: one partner."""
    words, place = _value_place(pair)
    before = words[place - 1] if place else None
    works = before is not None and before.text.lower() in WITH and pair.frame_roles & WORK
    return bool(works) or any(word.text.lower() == "one" for word in words[: pair.old.head])


def has_one_place(pair: Pair) -> bool:
    """Whether a definite thing is said to be at, to come from or to go through its value."""
    words, place = _value_place(pair)
    if place < 2 or not (_is_definite(pair.old) and _is_definite(pair.new)):
        return False
    if pair.values is None or words[-1] is not pair.values[0][-1]:
        return False
    values = [word for side in pair.values for word in side]
    if all(FILE.fullmatch(word.text) for word in values) and words[place - 1].text == "in":
        return place - 1 - pair.old.head == 1 and words[place - 2].text.lower() in IS
    if any(word.text.islower() and word.kind != CODE for word in values):
        return False  # in French, in the recipe
    before = words[place - 1]
    if before.roles & ARTICLE and place > 2:
        place -= 1
        before = words[place - 1]
    verbs = PLACES.get(before.text.lower(), ())
    said = [word.text.lower() for word in words[pair.old.head : place - 1]]
    if not before.roles & PREPOSITION or not said:
        return False
    is_done = said[-1] in PROCESSED and bool(words[place - 3].roles & BE)
    if is_done and before.text.lower() in BY_MEANS:
        return True
    return said[-1] in verbs or (said[0] in verbs and not words[pair.old.head].roles & BE)


def identifies(pair: Pair) -> bool:
    """Whether it says which one the only such thing is: the queue of the shop is X."""
    words, place = _value_place(pair)
    head = words[: pair.old.head]
    between = words[pair.old.head : place]
    named = roles(word for word in head if not word.roles & USER)
    if not head or len(between) != 1 or named & (SEVERAL | MANY | KIN | JOINS):
        return False
    if not all(word.kind in (NAME, CODE) for side in pair.values or () for word in side):
        return False
    if roles(word for side in pair.values or () for word in side) & QUALIFIER:
        return False
    verb = between[0].text.lower()
    if pair.old.is_unspaced:
        return verb in UNSPACED_IS and any(word.text in OF for word in head)
    return verb in IS and _is_definite(pair.old) and _is_definite(pair.new)


def succeeds(pair: Pair) -> bool:
    """Whether it says of somebody else, with "now", what one is or does alone: Ben leads the team.

    All else is said in the same words.
    """
    size = _name_of_another(pair)
    return bool(size) and _is_done_alone([w for w in pair.old.words if not w.roles & NOW][size:])


def says_of_another(pair: Pair) -> bool:
    """Whether it says of somebody else, with "now", what several may be or do: Ben is in Kiel."""
    return bool(_name_of_another(pair)) and not succeeds(pair)


def _name_of_another(pair: Pair) -> int:
    """Return how many words of a name begin the older claim, if only another name differs."""
    if not pair.marks & NOW or pair.new.is_unspaced or pair.old.breaks:
        return 0
    old = [word for word in pair.old.words if not word.roles & NOW]
    new = [word for word in pair.new.words if not word.roles & NOW]
    before, after = _after_name(old), _after_name(new)
    if not before or not after:
        return 0
    rest = [word.text.lower() for word in old[before:]]
    names = [
        {w.text.lower() for w in side[:size] if not w.roles & TITLE}
        for side, size in ((old, before), (new, after))
    ]
    is_same = rest == [word.text.lower() for word in new[after:]] and not names[0] & names[1]
    beside = all(_is_beside_now(pair.new.words, place) for place in pair.new.breaks)
    return before if is_same and beside else 0


def _is_beside_now(words: Sequence[Word], place: int) -> bool:
    return bool(roles(words[max(0, place - 1) : place + 1]) & NOW)


def _after_name(words: Sequence[Word]) -> int:
    """Return how many words of a name begin a claim, before its verb; 0 if none do."""
    size = next((i for i, word in enumerate(words) if not _is_named(word, is_first=not i)), 0)
    return size if size <= MAX_NAME else 0


def _is_named(word: Word, *, is_first: bool) -> bool:
    """Whether it may be of a name; the first word of a claim says nothing by its capital."""
    return (is_first or word.text[:1].isupper()) and not word.roles & ~(TITLE | USER)


def _is_done_alone(rest: Sequence[Word]) -> bool:
    """Whether a verb and what follows it say what one person is or does alone."""
    verb, what = rest[0].text.lower(), rest[1:]
    if not what or (verb not in IS and verb not in LEADS) or roles(what) & JOINS:
        return False
    phrase = what[: next((i for i, w in enumerate(what) if w.roles & PREPOSITION), len(what))]
    if roles(phrase) & (SEVERAL | KIN | INDEFINITE) and not roles(phrase) & UNIQUE:
        return False
    first = phrase[0] if phrase else what[0]
    is_owned = len(phrase) > 1 and phrase[1].text == "'s"
    if verb in LEADS and all(word.roles & USER or word.kind == NAME for word in phrase):
        return True
    return bool(first.roles & ARTICLE) or (is_owned and verb in IS)


def _is_definite(reading: Reading) -> bool:
    """Whether a claim begins with "the", "its" or a name with 's."""
    head = reading.words[: reading.head]
    first = next((word for word in head if not word.roles & NOW), None)
    if first is None or roles(head) & INDEFINITE:
        return False
    is_owned = any(word.text == "'s" for word in head)
    return bool(first.roles & (ARTICLE | OWNER)) or is_owned


def _value_place(pair: Pair) -> tuple[Sequence[Word], int]:
    """Return the words of the older claim, and where its value begins."""
    words = pair.old.words
    return words, words.index(pair.values[0][0]) if pair.values else 0
