"""Two claims about one subject, side by side: what the rules look at."""

from __future__ import annotations

from itertools import zip_longest
from typing import TYPE_CHECKING, Final

from memstore._kernel import claims
from memstore._kernel.claims import (
    ARTICLE,
    ATTRIBUTE,
    BE,
    BEGINS,
    CHANGES,
    CLOSES,
    CODE,
    CONTRASTS,
    CORRECTS,
    DATE,
    DENIES,
    DISPOSES,
    ENDS,
    FUNCTION,
    HAVE,
    HEDGES,
    IDIOM,
    INDEFINITE,
    KIN,
    LEAVES,
    MANY,
    MONTH,
    NAME,
    NOW,
    NUMBERED,
    NUMERIC,
    ONE,
    OWNER,
    PARTLY,
    PREPOSITION,
    RECENT,
    REPLACES,
    TEMPORARY,
    TITLE,
    UNIT,
    USER,
    VERSION,
)
from memstore.lazy import cached_property

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from memstore._kernel.claims import Reading, Word

OVER: Final = ENDS | DISPOSES | CLOSES | LEAVES
"""Marks of what is no longer so."""

TURNS: Final = OVER | NOW | CHANGES | BEGINS | CORRECTS | REPLACES
"""Marks by which a claim may say that it replaces another one."""

NUMBERS: Final = frozenset({NUMERIC, VERSION, CODE})
"""Kinds of words that number a thing."""

TYPED: Final = frozenset({NUMERIC, DATE, VERSION})
"""Kinds of words that are values by themselves."""


CALLED: Final = frozenset(
    "called named dubbed heißt genannt llama llamado llamada appelle appelé appelée nommé "
    "chiama chama chama-se heet nazywa называется 叫 名叫 ชื่อ".split()
)
"""Verbs before a name."""


class Pair:
    """An older and a newer claim, with what they share and where they differ."""

    def __init__(self, old: Reading, new: Reading) -> None:
        self.old = old
        self.new = new
        self.side_by_side = claims.align(old, new)
        self.marks = self.side_by_side.marks
        """The roles of words that only the newer claim has."""

    @cached_property
    def widest(self) -> Pair:
        """The same claims, read so that the verb of each comes as late as it may."""
        return Pair(self.old.widest(), self.new.widest())

    @cached_property
    def regions(self) -> list[tuple[tuple[Word, ...], tuple[Word, ...]]]:
        return self.side_by_side.regions

    @cached_property
    def lost(self) -> tuple[Word, ...]:
        return self.side_by_side.lost

    @cached_property
    def gained(self) -> tuple[Word, ...]:
        return self.side_by_side.gained

    @cached_property
    def common(self) -> tuple[Word, ...]:
        return self.side_by_side.common

    @property
    def shared(self) -> int:
        return self.side_by_side.shared

    @cached_property
    def values(self) -> tuple[tuple[Word, ...], tuple[Word, ...]] | None:
        """The words of the one place where they differ, if both have some there."""
        if len(self.regions) == 1 and all(self.regions[0]):
            return self.regions[0]
        return None

    @cached_property
    def forms(self) -> dict[int, int]:
        """By the identity of each newer word, its key as it counts in the older claim."""
        return {
            id(word): key for word, key in zip(self.new.words, self.side_by_side.keys, strict=True)
        }

    def new_keys(self, words: Iterable[Word]) -> set[int]:
        """Return the keys of newer words; another form of an older word has that word's key."""
        return {self.forms[id(word)] for word in words}

    @cached_property
    def frame(self) -> tuple[Word, ...]:
        """The telling words of the older claim around the value that differs."""
        inside = {word.text for word in self.values[0]} if self.values else set()
        return tuple(word for word in telling(self.old) if word.text not in inside)

    @cached_property
    def frame_roles(self) -> int:
        """The roles of the frame; before the verb, "export" is the name of a service."""
        before = {word.text for word in head(self.old)}
        found = 0
        for word in self.frame:
            found |= word.roles & ~MANY if word.text in before else word.roles
        return found

    @cached_property
    def is_one_of_several(self) -> bool:
        """Whether the value belongs to a thing of which one may have several: owns a Nikon camera.

        "Her camera is a Nikon" speaks of the one that she has.
        """
        if self.values is None or of_one_type(*self.values) == NUMERIC:
            return False
        words, old = self.old.words, self.old
        before = words[old.head : words.index(self.values[0][0])]
        has = roles(words[old.head : old.head + 1]) & HAVE
        is_any = any(word.roles & (INDEFINITE | BEGINS) for word in before)  # owns a, bought a
        without_article = has and not any(w.roles & (ARTICLE | OWNER) for w in before)
        states_one = roles(words[: old.head]) & ATTRIBUTE and old.roles & BE
        is_called = any(word.stem in CALLED for word in before)
        return bool((is_any or without_article) and not states_one and not is_called)

    @cached_property
    def same_prepositions(self) -> bool:
        found = self.side_by_side
        return not found.lost_prepositions and not found.gained_prepositions

    @cached_property
    def same_signs(self) -> bool:
        """Whether symbols, capitals, possessives and words such as "only" are the same."""
        found = self.side_by_side
        either = self.old.roles | self.new.roles
        return (
            found.same_symbols
            and not found.is_loose
            and found.same_case
            and found.same_owners
            and limits(self.old) == limits(self.new)
            and not either & IDIOM
            and not self.old.asks
        )

    @cached_property
    def about_subject(self) -> bool:
        """Whether the older claim is about the subject or something of it; not about its kin."""
        return self.old.head == 0 or self.old.is_about_subject

    @cached_property
    def about_own(self) -> bool:
        """Whether both speak of the same kin, if any, and neither is about one of them."""
        return _kin(self.old.words) == _kin(self.new.words)

    @cached_property
    def heads_own(self) -> bool:
        """Whether both name the same kin, if any, before the verb."""
        heads = (side.words[: side.head] for side in (self.old, self.new))
        return len({frozenset(_kin(head)) for head in heads}) == 1

    @cached_property
    def narrows(self) -> bool:
        """Whether the newer claim is about a part or a kind of what the older one is about.

        The deposit, the deposit for the key; the orders service, the catalog service.
        """
        before = self.old.words[: self.old.head]
        after = self.new.words[: self.new.head]
        known = {word.text.lower() for word in before if not word.is_dropped}
        shared = [word for word in after if word.text.lower() in known and not _binds(word)]
        if not shared or all(map(self._may_be_person, shared)):
            return False
        owner = self.new.words[len(after) : len(after) + 1]
        if len(after) > 1 and after[-1] is shared[-1] and any(w.text == "'s" for w in owner):
            return True  # the clinic's branch
        gained = [word for word in self.side_by_side.new_head if not is_value(word)]
        last = after.index(shared[-1])
        between = after[after.index(shared[0]) : last + 1]
        if any(word in between for word in gained):
            return True
        follows = bool(gained) and after.index(gained[0]) > last
        replaces = any(
            (word.is_telling or word.roles & USER)
            and word.text.lower() not in {other.text.lower() for other in after}
            for word in before
        )
        return follows or (replaces and any(word in after[:last] for word in gained))

    def _may_be_person(self, word: Word) -> bool:
        """Whether it has a capital letter and no article before it."""
        place = self.new.words.index(word)
        article = place and self.new.words[place - 1].roles & FUNCTION
        return word.text[:1].isupper() and not article

    @cached_property
    def says_again(self) -> bool:
        """Whether the newer claim says a word of the older one twice: no longer, but of Y."""
        said = [self.forms[id(word)] for word in self.new.words if word.is_telling]
        known = {word.key for word in self.common if not is_value(word)}
        return any(said.count(key) > 1 for key in known)

    @cached_property
    def keeps_words(self) -> bool:
        """Whether the newer claim has words that the older one says of what it is about."""
        before = {word.key for word in head(self.old)}
        return any(word.key not in before for word in self.common)

    @cached_property
    def clauses(self) -> list[tuple[Word, int]]:
        """The words of the newer claim, each with the number of its clause."""
        found = []
        clause = 0
        for place, word in enumerate(self.new.words):
            clause += place in self.new.breaks or bool(word.roles & CONTRASTS)
            found.append((word, clause))
        return found

    @cached_property
    def denied(self) -> bool:
        """Whether exactly one of the two is a denial."""
        return bool((self.old.roles ^ self.new.roles) & DENIES)

    @cached_property
    def families(self) -> int:
        """The families of attributes that both are about."""
        if not self.old.families & self.new.families:
            return 0
        return families(self.old) & families(self.new)

    @cached_property
    def holds_on(self) -> bool:
        """Whether no word of the newer claim says that it holds for a time only.

        Last week something happened, and may still be so.
        """
        return all(word.roles & RECENT for word in self.new.words if word.roles & TEMPORARY)

    @property
    def size(self) -> tuple[int, int]:
        """How many words of each tell something."""
        return self.old.size, self.new.size


def numbered(reading: Reading) -> dict[int, set[str]]:
    """Return the numbers of numbered things before the verb, by the thing: ticket 17, v2.4.

    After a verb they may be the value of something: is in sprint 12, runs on v2.4.
    """
    words = reading.words
    end = reading.head if reading.has_verb and reading.head else len(words)
    if not reading.has_verb:
        verb = (i for i, word in enumerate(words) if word.roles & (BE | ONE))
        end = next(verb, end)
    found: dict[int, set[str]] = {}
    for place, word in enumerate(words[:end]):
        before = words[place - 1] if place else None
        if word.kind in NUMBERS and before is not None and before.roles & NUMBERED:
            found.setdefault(before.key, set()).add(word.stem)
        elif word.kind == VERSION and word.text[:1] == "v":
            found.setdefault(0, set()).add(word.stem)
    return found


def _binds(word: Word) -> bool:
    return bool(word.is_dropped or word.roles & (PREPOSITION | OWNER))


def _kin(words: Sequence[Word]) -> set[int]:
    """Return the keys of the words for kin; before a name, "Frau" is none."""
    return {
        word.key
        for word, after in zip_longest(words, words[1:])
        if word.roles & KIN
        and not (word.roles & TITLE and after and after.text[:1].isupper() and not after.roles)
    }


def limits(reading: Reading) -> set[str]:
    """Return the words by which a claim is hedged, or holds only partly."""
    if not reading.roles & (PARTLY | HEDGES):
        return set()
    return {word.stem for word in reading.words if word.roles & (PARTLY | HEDGES)}


def families(reading: Reading) -> int:
    """Return the families of attributes that a claim is about, apart from its subject."""
    found = 0
    if reading.families:
        for word in reading.words:
            if not word.roles & USER:
                found |= word.families
    return found


def telling(reading: Reading) -> list[Word]:
    return [word for word in reading.words if word.is_telling]


def head(reading: Reading) -> list[Word]:
    """Return the telling words before the first verb."""
    return [word for word in reading.words[: reading.head] if word.is_telling]


def roles(words: Iterable[Word]) -> int:
    found = 0
    for word in words:
        found |= word.roles
    return found


def kinds(words: Iterable[Word]) -> set[int]:
    return {word.kind for word in words}


def keys(words: Iterable[Word]) -> set[int]:
    return {word.key for word in words}


def of_one_type(old: Sequence[Word], new: Sequence[Word]) -> int | None:
    """Return the kind of two values if it is one and the same, numbers with equal units."""
    before, after = kinds(old), kinds(new)
    if NAME in before & after and old[0].kind == new[0].kind == NAME:
        # iPhone 12, Pixel 9
        return NAME if (before | after) <= {NAME, NUMERIC, CODE, VERSION} else None
    if before | after == {NUMERIC, DATE} and all(word.stem.isdigit() for word in (*old, *new)):
        before = after = {NUMERIC}  # compared with 500, 2000 is not a year
    if before != after or len(before) != 1:
        return None
    kind = next(iter(before))
    if kind == NUMERIC and old[0].unit != new[0].unit:
        return None
    return kind


def is_value(word: Word) -> bool:
    """Whether a word is a number, a date or a version, or belongs to one."""
    return word.kind in TYPED or bool(word.roles & (UNIT | MONTH))
