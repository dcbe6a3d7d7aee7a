"""How two facts about one subject differ, token by token, and what that suggests.

Similarity of meaning cannot tell a correction from a second fact: with another date, "the deadline
is 3 May" and "went to the gym on 3 May" both stay very similar to their old versions. The words
around the value can: an attribute has one value at a time, events and possessions accumulate.
"""

from __future__ import annotations

import re
import unicodedata
from difflib import SequenceMatcher
from enum import Enum
from typing import Final, NamedTuple

from memstore.frozen import frozen
from memstore.text import lexicon
from memstore.text.folding import folded

MAX_CHARACTERS: Final = 400
"""Longer texts are rarely one claim and are not compared, which would take quadratic time."""

TOKEN: Final = re.compile(
    r"\d{4}-\d{2}-\d{2}|\d{1,2}\.\d{1,2}\.\d{4}|\d{1,2}:\d{2}"  # dates, times
    r"|\d{1,3}(?:,\d{3})+(?![\d.])"  # 1,200
    r"|\d+(?:st|nd|rd|th)\b|\d+\.(?=\s)"  # ordinals
    r"|\w+(?:[.:/_-]\w+)*|[:=€$%]"
)
DATE: Final = re.compile(
    r"\d{4}-\d{2}-\d{2}|\d{1,2}\.\d{1,2}\.\d{4}|\d{1,2}:\d{2}|(?:19|20)\d{2}|q[1-4]"
)
VERSION: Final = re.compile(r"v?\d+(?:\.\d+)+|v\d+")
THOUSANDS: Final = re.compile(r"\d{1,3}(?:\.\d{3})+")
NUMBER: Final = re.compile(r"\d+")
PARTICIPLE: Final = re.compile(r"\w*ge\w{2,}(?:t|en)|\w+iert|(?:be|ver|er|zer|über)\w{2,}(?:t|en)")


class DifferenceKind(Enum):
    """What the difference between two facts suggests."""

    EQUAL = "the same text"
    SAME = "the same words, apart from signs and light words"
    CONTRADICTION = "the same claim, once affirmed and once denied"
    ENDED = "the new fact says that the old one has ended"
    NEW_VALUE = "another value of an attribute that has one at a time"
    EVENTS = "two events"
    SEVERAL = "two of several"
    OTHER_HOLDER = "the same said of another thing"
    OTHER_CLAIM = "one affirmed, something else denied"
    UNCLEAR = "nothing tells a correction from a second fact"
    TOO_LONG = "too long to compare"


STOPS: Final = ".,;'’‘\"“”„"
"""Symbols that do not change the meaning."""

ONLY_IF_ALIKE: Final = (DifferenceKind.CONTRADICTION, DifferenceKind.NEW_VALUE)
"""Kinds that are only concluded if both facts have the same symbols and prepositions."""


class TokenKind(Enum):
    NUMBER = "number"
    DATE = "date"
    VERSION = "version"
    NAME = "name"
    WORD = "word"


class Token(NamedTuple):
    """A word, a number or a symbol; compared by ``text`` alone."""

    text: str
    kind: TokenKind


class Region(NamedTuple):
    """One place where two facts differ."""

    old: tuple[Token, ...]
    new: tuple[Token, ...]
    place: int
    """How many tokens of the old fact come before it."""


@frozen
class Difference:
    kind: DifferenceKind
    regions: tuple[Region, ...] = ()
    negated: bool = False
    """Whether exactly one of the two is a denial."""


def compare(old: str, new: str) -> Difference:
    """Return how two facts about one subject differ, in English or German.

    Similar spelling proves nothing: if a sign or a preposition differs, both may be true.
    """
    if folded(old) == folded(new):
        return Difference(DifferenceKind.EQUAL)
    if max(len(old), len(new)) > MAX_CHARACTERS:
        return Difference(DifferenceKind.TOO_LONG)
    before, denied_before = claim(old)
    after, denied_after = claim(new)
    negated = denied_before != denied_after
    regions = _regions(before, after)
    kind = _difference_kind(before, regions, negated)
    if kind is not DifferenceKind.SAME and _ends(old, new):
        kind = DifferenceKind.ENDED
    elif kind in ONLY_IF_ALIKE and _relations(old) != _relations(new):
        kind = DifferenceKind.UNCLEAR
    return Difference(kind, tuple(regions), negated)


def claim(text: str) -> tuple[list[Token], bool]:
    """Return the tokens of a fact without its negations, and whether it had any."""
    plain = unicodedata.normalize("NFKC", text).replace("’", "'")
    plain = re.sub(r"\b(can)not\b|n't\b", r"\1 not", plain, flags=re.IGNORECASE)
    plain = re.sub(r"\b(no) longer\b|\b(nicht) mehr\b", r"\1\2", plain, flags=re.IGNORECASE)
    plain = re.sub(r"\bca not\b", "can not", plain, flags=re.IGNORECASE)
    plain = re.sub(r"\bwo not\b", "will not", plain, flags=re.IGNORECASE)
    tokens = _dated([_token(word, place) for place, word in enumerate(TOKEN.findall(plain))])
    denials = sum(token.text in lexicon.NEGATIONS for token in tokens)
    return [token for token in tokens if token.text not in lexicon.NEGATIONS], denials > 0


def _token(word: str, place: int) -> Token:
    text = word.casefold()
    text = lexicon.NUMBERS.get(text, text)
    if text.removesuffix("s") in lexicon.CALENDAR or DATE.fullmatch(text):
        return Token(text, TokenKind.DATE)
    if "," in text or THOUSANDS.fullmatch(text):
        return Token(re.sub("[.,]", "", text), TokenKind.NUMBER)
    if NUMBER.fullmatch(digits := re.sub(r"(?<=\d)(?:st|nd|rd|th|\.)$", "", text)):
        return Token(digits.lstrip("0") or "0", TokenKind.NUMBER)
    if VERSION.fullmatch(text):
        return Token(text, TokenKind.VERSION)
    if place and (word[0].isupper() or any(c.isdigit() for c in word)):
        return Token(text, TokenKind.NAME)
    return Token(text, TokenKind.WORD)


def _dated(tokens: list[Token]) -> list[Token]:
    """Turn numbers next to a month or an hour into dates: 3 May, 6 pm."""
    return [
        Token(token.text, TokenKind.DATE)
        if token.kind is TokenKind.NUMBER
        and any(near.text in lexicon.CALENDAR for near in tokens[max(0, i - 1) : i + 2])
        else token
        for i, token in enumerate(tokens)
    ]


def _regions(before: list[Token], after: list[Token]) -> list[Region]:
    """Return where the two differ in more than light words."""
    matcher = SequenceMatcher(None, _stems(before), _stems(after), autojunk=False)
    found: list[Region] = []
    for tag, i, j, k, m in matcher.get_opcodes():
        region = Region(tuple(before[i:j]), tuple(after[k:m]), i)
        if tag != "equal" and not all(t.text in lexicon.LIGHT for t in region.old + region.new):
            found.append(region)
    return found


def _stems(tokens: list[Token]) -> list[str]:
    return [
        t.text[:-1]
        if t.kind is TokenKind.WORD and len(t.text) > 3 and t.text[-1] == "s"
        else t.text
        for t in tokens
    ]


def _ends(old: str, new: str) -> bool:
    """Whether the new fact repeats the words of the old one and says that they have ended.

    If it adds anything, such as "in staging", only a part has ended.
    """
    said = _content(old)
    plain = f" {folded(new)} "
    for phrase in lexicon.ENDINGS:
        kept, found, rest = plain.partition(f" {phrase} ")
        if found and said == _content(f"{kept} {rest}"):
            return _relations(old) == _relations(f"{kept} {rest}")
    for phrase in lexicon.REPLACING:
        kept, found, gone = plain.partition(f" {phrase} ")
        ended = _content(gone) - _content(kept)
        if found and ended and _content(gone) <= said <= _content(f"{kept} {gone}"):
            return _relations(old) == _relations(f"{kept} {gone}")
    return False


def _content(text: str) -> set[str]:
    return {*_stems(claim(text)[0])} - lexicon.LIGHT - lexicon.NOW


def _relations(text: str) -> tuple[list[str], str]:
    """Return the prepositions of a text and its symbols, such as ``#``, ``<`` or an emoji."""
    words = (word.casefold() for word in TOKEN.findall(text))
    return sorted(word for word in words if word in lexicon.PREPOSITIONS), signs(text)


def signs(text: str) -> str:
    """Return the symbols of a text that change its meaning, in order."""
    left = TOKEN.sub("", text)
    return "".join(sign for sign in left if not sign.isspace() and sign not in STOPS)


def _difference_kind(before: list[Token], regions: list[Region], negated: bool) -> DifferenceKind:
    if not regions:
        return _same_words([token.text for token in before], negated)
    if negated:
        return DifferenceKind.OTHER_CLAIM
    first = regions[0]
    frame = [token.text for token in before[: first.place]]
    rest = [token.text for token in before[first.place + len(first.old) :]]
    if all(word in lexicon.LIGHT for word in frame):
        quantified = any(token.text in lexicon.QUANTIFIERS for token in first.old + first.new)
        return DifferenceKind.OTHER_HOLDER if rest and not quantified else DifferenceKind.UNCLEAR
    if len(regions) > 1:
        return DifferenceKind.UNCLEAR
    if _one_of_several(frame):
        return DifferenceKind.SEVERAL
    kinds = _token_kinds(first)
    if " ".join(frame[-2:]) in lexicon.PLACES and kinds == {TokenKind.NAME}:
        return DifferenceKind.NEW_VALUE
    if _event(frame, rest):
        return DifferenceKind.EVENTS
    return DifferenceKind.NEW_VALUE if _single(frame, rest, kinds) else DifferenceKind.UNCLEAR


def _same_words(words: list[str], negated: bool) -> DifferenceKind:
    if not negated:
        return DifferenceKind.SAME
    # "It was reachable" and "it was not reachable" may both be true of different days.
    return DifferenceKind.UNCLEAR if _event(words, []) else DifferenceKind.CONTRADICTION


def _event(frame: list[str], rest: list[str]) -> bool:
    """Whether the words describe an event, which can happen again: a past or perfect tense."""
    if any(word in lexicon.PAST for word in frame) or frame[0].endswith("ed"):
        return True
    if frame[0] in lexicon.PERFECT and any(w.endswith(("ed", "been")) for w in frame[1:]):
        return True
    last = rest[-1] if rest else ""
    participle = PARTICIPLE.fullmatch(last) is not None and last not in lexicon.STATES
    return participle and any(word in lexicon.PERFECT for word in frame)


def _one_of_several(frame: list[str]) -> bool:
    if any(word in lexicon.ONE_OF_SEVERAL for word in frame):
        return False
    return any(
        word in lexicon.INDEFINITE or part in lexicon.SEVERAL or part.endswith(lexicon.KIN)
        for word in frame
        for part in (word, word.removesuffix("s"), *word.split("-"))
    )


def _token_kinds(region: Region) -> set[TokenKind]:
    """Return the kinds of a region's tokens if both sides have the same, else none."""
    old, new = (
        {token.kind for token in side if token.text not in lexicon.LIGHT | lexicon.NOW}
        for side in (region.old, region.new)
    )
    if {TokenKind.NUMBER} in (old, new) and all(t.text.isdigit() for t in region.old + region.new):
        return {TokenKind.NUMBER}  # compared with 500, 2000 is not a year
    return old if old == new else set()


def _single(frame: list[str], rest: list[str], kinds: set[TokenKind]) -> bool:
    """Whether the frame is that of an attribute with one value at a time."""
    if any(word.startswith(lexicon.FAVOURITES) for word in frame):
        return any(word in lexicon.SINGULAR for word in frame[-2:])
    if frame[-1] in lexicon.PREFERENCES:
        return bool(rest)  # prefers tabs *for indentation*
    if len(kinds) != 1 or TokenKind.WORD in kinds:
        return False  # one garden may have "3 apple trees" and "2 cherry trees"
    if frame[0] in lexicon.IDENTITY:
        return bool(lexicon.AGE & set(rest))
    if kinds == {TokenKind.NAME}:
        return _without(frame, lexicon.TITLES)[-1] in lexicon.SINGULAR
    if not kinds <= {TokenKind.NUMBER} and not lexicon.AFTER.issuperset(rest):
        return False  # the words after it may change the sense: ist mit Version 3.2 kompatibel
    if _is_value(frame, may_name_product=kinds == {TokenKind.VERSION}):
        return True
    if TokenKind.DATE in kinds:
        return bool(lexicon.TIMES & set(frame[1:]))
    if bool(rest) and _without(frame, lexicon.LIMITS)[-1] in lexicon.HAVING:
        return True
    return bool(lexicon.MEASURES & set(frame)) or bool(lexicon.RATES & set(rest))


def _without(frame: list[str], words: frozenset[str]) -> list[str]:
    """Return the frame without such words at its end."""
    end = len(frame)
    while end > 1 and frame[end - 1] in words:
        end -= 1
    return frame[:end]


def _is_value(frame: list[str], *, may_name_product: bool) -> bool:
    """Whether the frame ends in "is", perhaps with a few words that only lead up to the value."""
    end = _without(frame, lexicon.BETWEEN | lexicon.CALENDAR)
    if may_name_product and end == frame and end[-1] not in lexicon.IDENTITY:
        end = _without(end[:-1] or end, lexicon.BETWEEN)  # is on *Django* 4.2
    return len(end) > 1 and end[-1] in lexicon.IDENTITY
