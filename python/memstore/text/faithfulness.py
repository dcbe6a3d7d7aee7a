"""Check from the words, in English or German, whether one text says what several texts say.

Words show what was lost or added, but not an error made with the same words. So this check can
reject a text, but passing it is not by itself a reason to accept one.
"""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING, Final

from memstore.text import lexicon
from memstore.text.words import UNSPACED_RUN

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

NUMBER: Final = re.compile(r"\d+(?:[.,:/-]\d+)*")
THOUSANDS: Final = re.compile(r"(?<=\d),(?=\d{3}\b)")
MINUS: Final = re.compile(r"(?<!\w)-(?=\d)")
WORD: Final = re.compile(r"[^\W\d_]+")
SHORTENED: Final = re.compile(r"(?<=can)not\b|n't\b", re.IGNORECASE)
ENDED: Final = re.compile(r"\bno longer\b|\bnicht mehr\b", re.IGNORECASE)
"""Says that something has ended, and does not deny that it was so."""

VALUES: Final = "=€$"
"""Symbols beside a value, which may be written as words."""

# Not after "Dr." or "No.", which do not end a sentence.
SENTENCE_END: Final = re.compile(r"(?<=\w\w\w\w[.!?])\s+")

ENDING: Final = 2
"""How many letters longer one form of a word may be than another: meeting, meetings."""

MIN_STEM: Final = 4


def unfaithful(sources: Sequence[str], text: str, subject: str = "") -> str | None:
    """Return why a text cannot replace all of its sources; ``None`` if no reason is found.

    The text may also name their common subject.
    """
    before = {number for source in sources for number in _numbers(source)}
    after = set(_numbers(text))
    if lost := sorted(before - after):
        return f"it lost {', '.join(lost)}"
    if invented := sorted(after - before):
        return f"none of the facts says {', '.join(invented)}"
    if lost := sorted(
        {sign for source in sources for sign in _symbols(source)} - {*_symbols(text)}
    ):
        return f"it lost {', '.join(lost)}"
    said = [word for source in sources for word in _words(source)]
    if lost := _absent((name for source in sources for name in _names(source)), _words(text)):
        return f"it lost {', '.join(lost)}"
    if invented := _absent(_names(text), [*said, *_words(subject)]):
        return f"none of the facts names {', '.join(invented)}"
    if _denies(text) != any(_denies(source) for source in sources):
        return "it denies what the facts affirm, or the other way round"
    return None


def missing(
    source: str, text: str, subject: str = "", *, least: float = 0, denials: bool = True
) -> str | None:
    """Return what part of a source is missing from a text; ``None`` if none is found.

    The words of their subject may be left out, and do not count as common words. The text must have
    at least one of the source's words, and the share ``least`` of them.
    """
    if lost := sorted({*_numbers(source)} - {*_numbers(text)}):
        return f"it does not say {', '.join(lost)}"
    if lost := _absent(_names(source), [*_words(text), *_words(subject)]):
        return f"it does not name {', '.join(lost)}"
    if lost := sorted({*_symbols(source)} - {*_symbols(text)}):
        return f"it does not say {', '.join(lost)}"
    if denials and _denies(source) != _denies(text):
        return "one of them denies and the other affirms"
    own = _absent(_telling(source), _telling(subject))
    lost = _absent(own, _telling(text))
    if len(own) - len(lost) < max(1, least * len(own)):
        return f"it does not say {', '.join(lost) or 'anything of it'}"
    return None


def shared(one: str, other: str, subject: str = "") -> list[str]:
    """Return the telling words and numbers that two texts share, each once.

    The subject's words do not count, nor a word with which both texts begin, nor a single letter
    unless it is a digit.
    """
    first = [words[0] for words in (_words(one), _words(other)) if words]
    about = [*_words(subject), *(first[:1] if len({*first}) == 1 else ())]
    own = [word for word in dict.fromkeys(_telling(one)) if word.isdigit() or word[1:]]
    theirs = _telling(other)
    return [word for word in _absent(own, about) if not _absent([word], theirs)]


def lost_words(values: Iterable[str], text: str) -> list[str]:
    """Return the telling words and numbers of some values that a text has in no form."""
    return _absent((word for value in values for word in _telling(value)), _telling(text))


def added_words(sources: Sequence[str], text: str) -> list[str]:
    """Return the telling words of a text that no source has in any form.

    Words that only order two values in time, such as "previously", do not count.
    """
    said = [word for source in sources for word in _telling(source)]
    added = _absent(_telling(text), said)
    return [word for word in added if word not in lexicon.ORDERING]


def _symbols(text: str) -> Iterator[str]:
    """Yield the symbols that are not punctuation: C# is not C, < not >, and -5 not 5."""
    for sign in _plain(text):
        if sign in "#@*\\" or (sign not in VALUES and unicodedata.category(sign).startswith("S")):
            yield sign
    if MINUS.search(text):
        yield "-"


def _denies(text: str) -> bool:
    plain = ENDED.sub(" ", SHORTENED.sub(" not", _plain(text).replace("’", "'")))
    return not lexicon.NEGATIONS.isdisjoint(_words(plain))


def _telling(text: str) -> list[str]:
    """Return the words of a text that carry meaning, and its numbers.

    Scripts without spaces are split into pairs of characters.
    """
    spaced = re.sub(UNSPACED_RUN, " ", _plain(text))
    pairs = [
        run[place : place + 2]
        for run in re.findall(UNSPACED_RUN, _plain(text))
        for place in range(max(1, len(run) - 1))
    ]
    words = [word for word in _words(spaced) if word not in lexicon.FUNCTION_WORDS]
    return [*words, *_numbers(text), *pairs]


def is_plain(sources: Sequence[str], text: str) -> bool:
    """Whether a text merely joins the words of its sources, each in its own order.

    Then no word was lost, added or swapped. A text that mixes affirmed and denied claims, contains
    several numbers or is written without spaces is never plain.
    """
    if any(re.search(UNSPACED_RUN, one) for one in (*sources, text)):
        return False
    if len({_denies(source) for source in sources}) > 1:
        return False
    if len({number for source in sources for number in _numbers(source)}) > 1:
        return False
    said = [word for source in sources for word in _words(source)]
    if any(
        word not in said and word not in lexicon.JOINING | lexicon.LIGHT for word in _words(text)
    ):
        return False
    return all(_in_order(_words(source), _words(text)) for source in sources)


def _in_order(words: Sequence[str], text: Sequence[str]) -> bool:
    """Whether the text has the words in their order, apart from light ones."""
    rest = iter(text)
    return all(word in rest for word in words if word not in lexicon.LIGHT)


def _plain(text: str) -> str:
    return unicodedata.normalize("NFKC", text)


def _words(text: str) -> list[str]:
    return [word.casefold() for word in WORD.findall(_plain(text))]


def _numbers(text: str) -> Iterator[str]:
    """Yield the numbers in a text as digits, including dates and versions."""
    plain = THOUSANDS.sub("", _plain(text))
    yield from NUMBER.findall(plain)
    for word in _words(plain):
        if word in lexicon.NUMBERS:
            yield lexicon.NUMBERS[word]


def _names(text: str) -> Iterator[str]:
    """Yield the names in a text: capitalised words, and days, months and seasons."""
    for sentence in SENTENCE_END.split(_plain(text)):
        words = WORD.findall(sentence)
        for place, word in enumerate(words):
            folded = word.casefold()
            if folded in lexicon.CALENDAR or (
                word[0].isupper() and not (place == 0 and folded in lexicon.FUNCTION_WORDS)
            ):
                yield folded


def _absent(names: Iterable[str], words: Sequence[str]) -> list[str]:
    """Return the names that occur among the words in no form, each once, in order."""
    return [
        name for name in dict.fromkeys(names) if not any(_same_word(name, word) for word in words)
    ]


def _same_word(one: str, other: str) -> bool:
    if one == other:
        return True
    short, long = sorted((one, other), key=len)
    return len(short) >= MIN_STEM and len(long) - len(short) <= ENDING and long.startswith(short)
