"""Entities that may be duplicates: proposed to people, never merged automatically."""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from typing import TYPE_CHECKING, Final, NamedTuple

from memstore.graph import decisions
from memstore.text.names import word_spans

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


class Pair(NamedTuple):
    left: str
    right: str
    reason: str


def likely_pairs(keys: Iterable[str]) -> list[Pair]:
    """Return pairs of names, by key, that may mean one entity; each once, with one reason."""
    words = {key: _words(key) for key in sorted(set(keys))}
    found: dict[tuple[str, str], Pair] = {}
    for pair in (*_written_alike(words), *_abbreviated(words), *_initials(words), *_parts(words)):
        ends = (min(pair[:2]), max(pair[:2]))
        found.setdefault(ends, Pair(*ends, pair.reason))
    return [*found.values()]


def _words(key: str) -> tuple[str, ...]:
    return tuple(key[start:end] for start, end in word_spans(key))


def _bare(key: str) -> str:
    """Return the letters and digits of a name, without accents."""
    letters = unicodedata.normalize("NFKD", key).casefold()
    return "".join(letter for letter in letters if letter.isalnum())


def _written_alike(words: Iterable[str]) -> Iterator[Pair]:
    alike: defaultdict[str, list[str]] = defaultdict(list)
    for key in words:
        if bare := _bare(key):
            alike[bare].append(key)
    for keys in alike.values():
        for other in keys[1:]:
            yield Pair(keys[0], other, "the same letters")


def _abbreviated(words: Mapping[str, Sequence[str]]) -> Iterator[Pair]:
    """Yield names and their abbreviations: NYC and New York City; U.S. and United States."""
    short: defaultdict[str, list[str]] = defaultdict(list)
    for key, parts in words.items():
        if len(parts) > 1:
            for left_out in (frozenset[str](), _SMALL):
                initials = "".join(part[0] for part in parts if part not in left_out)
                if len(initials) > 1 and key not in short[initials]:
                    short[initials].append(key)
    for key, parts in words.items():
        letters = key.replace(".", "")
        if len(parts) == 1:
            yield from _short_for(key, short.get(letters, ()), "an abbreviation")


def _initials(words: Mapping[str, Sequence[str]]) -> Iterator[Pair]:
    """Yield names and the same with an initial: A. Smith and Alice Smith."""
    whole: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    for key, parts in words.items():
        if len(parts) > 1 and len(parts[0]) > 1:
            whole[parts[0][0], parts[-1]].append(key)
    for key, parts in words.items():
        if len(parts) > 1 and len(parts[0]) == 1:
            yield from _short_for(key, whole.get((parts[0], parts[-1]), ()), "an initial")


def _parts(words: Mapping[str, Sequence[str]]) -> Iterator[Pair]:
    """Yield names and their parts: Alice and Alice Smith; Smith and Dr. Smith."""
    extended: defaultdict[tuple[str, ...], list[str]] = defaultdict(list)
    for key, parts in words.items():
        for length in range(1, len(parts)):
            extended[tuple(parts[:length])].append(key)
            if length == 1:
                extended[tuple(parts[-1:])].append(key)
    for key, parts in words.items():
        longer = [other for other in dict.fromkeys(extended.get(tuple(parts), ())) if other != key]
        yield from _short_for(key, longer, "a part of the name")


def _short_for(key: str, whole: Sequence[str], reason: str) -> Iterator[Pair]:
    if len(whole) <= MAX_WHOLE:
        for other in whole:
            yield Pair(key, other, reason)
