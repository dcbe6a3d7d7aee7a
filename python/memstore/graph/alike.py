"""Names that may mean the same entity, compared with each other."""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from typing import TYPE_CHECKING, Final

from memstore.graph import decisions
from memstore.named import NamedTuple
from memstore.text.names import words_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from memstore.database.tables.entity_decisions import Kept

MAX_WHOLE: Final = 5
"""A name that may be short for more than this many others is not paired with any of them."""

_SMALL: Final = frozenset(("of", "the", "and", "for", "de", "der", "und", "für"))
"""Words that an abbreviation skips."""


def undecided_pairs(entity: Mapping[str, int], kept: Sequence[Kept]) -> dict[tuple[int, int], str]:
    """Return pairs of entities that may be the same and have no decision, with the reason.

    ``entity`` has the entity of each name, by the name's key.
    """
    first = {key: keys[0] for keys in decisions.groups(kept) for key in keys}
    apart = {frozenset(ends) for _, *ends in decisions.parted(kept)}
    found: dict[tuple[int, int], str] = {}
    for left, right, reason in likely_pairs(entity):
        ends = (min(entity[left], entity[right]), max(entity[left], entity[right]))
        decided = frozenset((first.get(left, left), first.get(right, right))) in apart
        if ends[0] != ends[1] and not decided:
            found.setdefault(ends, reason)
    return found


class DuplicatePair(NamedTuple):
    left: str
    right: str
    reason: str


def likely_pairs(keys: Iterable[str]) -> list[DuplicatePair]:
    """Return pairs of names, by key, that may mean one entity; each once, with one reason."""
    found: dict[tuple[str, str], DuplicatePair] = {}
    for pair in _pairs(keys, MAX_WHOLE):
        ends = (min(pair[:2]), max(pair[:2]))
        found.setdefault(ends, DuplicatePair(*ends, pair.reason))
    return [*found.values()]


def alike_keys(keys: Iterable[str]) -> set[str]:
    """Return the names that may mean the same as another one, by key.

    Whatever some of the names are, all pairs of them are pairs of these: that two are one depends
    on no third name, except that a name which may be short for many is paired with none.
    """
    return {end for pair in _pairs(keys, None) for end in pair[:2]}


def _pairs(keys: Iterable[str], most: int | None) -> Iterator[DuplicatePair]:
    """Yield pairs of names; a name is paired with no more than ``most`` of which it is short."""
    words = {key: words_of(key) for key in sorted(set(keys))}
    yield from _written_alike(words)
    for pairs in (_abbreviated, _initials, _parts):
        yield from pairs(words, most)


def _bare(key: str) -> str:
    """Return the letters and digits of a name, without accents."""
    letters = key if key.isascii() else unicodedata.normalize("NFKD", key)
    return "".join(filter(str.isalnum, letters.casefold()))


def _written_alike(words: Iterable[str]) -> Iterator[DuplicatePair]:
    alike: defaultdict[str, list[str]] = defaultdict(list)
    for key in words:
        if bare := _bare(key):
            alike[bare].append(key)
    for keys in alike.values():
        for other in keys[1:]:
            yield DuplicatePair(keys[0], other, "the same letters")


def _abbreviated(words: Mapping[str, Sequence[str]], most: int | None) -> Iterator[DuplicatePair]:
    """Yield names and their abbreviations: NYC and New York City; U.S. and United States."""
    letters = {key: key.replace(".", "") for key, parts in words.items() if len(parts) == 1}
    # In the order of the names, each once.
    whole: dict[str, dict[str, None]] = {initials: {} for initials in letters.values()}
    for key, parts in words.items():
        if len(parts) > 1:
            for left_out in (frozenset[str](), _SMALL):
                initials = "".join([part[0] for part in parts if part not in left_out])
                if len(initials) > 1 and initials in whole:
                    whole[initials][key] = None
    for key, initials in letters.items():
        yield from _short_for(key, [*whole[initials]], "an abbreviation", most)


def _initials(words: Mapping[str, Sequence[str]], most: int | None) -> Iterator[DuplicatePair]:
    """Yield names and the same with an initial: A. Smith and Alice Smith."""
    short = {
        key: (parts[0], parts[-1])
        for key, parts in words.items()
        if len(parts) > 1 and len(parts[0]) == 1
    }
    whole: dict[tuple[str, str], list[str]] = {ends: [] for ends in short.values()}
    for key, parts in words.items() if short else ():
        ends = parts[0][0], parts[-1]
        if len(parts) > 1 and len(parts[0]) > 1 and ends in whole:
            whole[ends].append(key)
    for key, ends in short.items():
        yield from _short_for(key, whole[ends], "an initial", most)


def _parts(words: Mapping[str, Sequence[str]], most: int | None) -> Iterator[DuplicatePair]:
    """Yield names and their parts: Alice and Alice Smith; Smith and Dr. Smith."""
    extended: dict[Sequence[str], list[str]] = {parts: [] for parts in words.values()}
    for key, parts in words.items():
        for length in range(1, len(parts)):
            if (beginning := parts[:length]) in extended:
                extended[beginning].append(key)
            if length == 1 and (end := parts[-1:]) in extended:
                extended[end].append(key)
    for key, parts in words.items():
        longer = [other for other in dict.fromkeys(extended[parts]) if other != key]
        yield from _short_for(key, longer, "a part of the name", most)


def _short_for(
    key: str, whole: Sequence[str], reason: str, most: int | None
) -> Iterator[DuplicatePair]:
    if most is None or len(whole) <= most:
        for other in whole:
            yield DuplicatePair(key, other, reason)
