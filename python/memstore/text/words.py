"""Words for the full-text index: queries as FTS5 expressions, and scripts without spaces.

FTS5's tokenizer treats a run of Chinese, Japanese, Korean or Thai as one word, so words inside it
would not be found. Such runs, with the words attached to them (``用Python写的``), are also indexed
as single characters in the column ``segments``, where a query looks for each pair of adjacent
characters. Full-width words (``Ｐｙ``) are indexed there in plain letters.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from itertools import chain
from typing import TYPE_CHECKING, Final

from memstore.lazy import lazy_import, lazy_pattern

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from memstore._kernel import language
    from memstore.text import stop_words
else:
    language = lazy_import("memstore._kernel.language")
    stop_words = lazy_import("memstore.text.stop_words")

MAX_TERMS = 200
"""The most distinct terms of a query; more would not change the ranking noticeably."""

MAX_READ: Final = 20_000
"""Characters of a text that its terms are taken from: more than enough for so many of them, unless
it repeats itself."""

LONG: Final = 100_000
"""Characters of a text whose segments take hundredths of a second to make."""

LONG_REMEMBERED: Final = 2
"""The segments of so many long texts are remembered."""

LIGATURES: Final = (("ß", "ss"), ("æ", "ae"), ("œ", "oe"))
"""Letters that stand for two. Unlike accents, FTS5's tokenizer does not fold them, so queries are
searched for in both spellings (decision 57)."""

PAIR: Final = lazy_pattern("|".join(pair for _, pair in LIGATURES))

# Han with its extensions, kana, Hangul, Thai, Lao, Myanmar, Khmer.
UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u3130-\u318f"
    "\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff"
    "\U00020000-\U0003ffff"
)
UNSPACED_RUN = f"[{UNSPACED}]+"
RUN = f"[{UNSPACED}]|[^{UNSPACED}]+"
"""Not compiled on import, because that takes milliseconds."""

# Removed from questions: the index has an "s" for every "Bob's", so it would match anything.
CONTRACTION = lazy_pattern(r"(?<=\w)['’](?:s|t|re|ve|ll|d|m)\b", re.IGNORECASE)

# Removed as well: l'amico, d'Anne, qu'est-ce.
ELISION = lazy_pattern(
    r"\b(?:[cdjlmnst]|qu|(?:d|n)?ell|[dn]?all|sull|dov|cos)['’](?=\w)", re.IGNORECASE
)


# What stands between blanks, quotation marks and brackets.
CHUNK = lazy_pattern(r"[^\s,;!?()\[\]{}<>\"'`´‘’“”„«»=|*&]+")

ENDS: Final = ".:-/\\#@+~%"

# Of one word: 5499, k8s, 2b, parseConfig.
IDENTIFYING = lazy_pattern(r"\d{3,}|(?=.*\d)(?=.*[^\W\d]).+|.*[a-z][A-Z].*")

# Of several: src/app.py, 3.11, max_tokens, x-15; not well-known.
JOINED = lazy_pattern(r"[._/\\:@#+]|\d")

# Years, and numbers with a unit or an ending: 2024, 3rd, 10am, 1990s.
COUNTED = lazy_pattern(
    r"(?:19|20)\d\d|\d+(?:st|nd|rd|th|s|am|pm|h|hrs?|m|min|mins|sec|d|k|km|kg|g|cm|mm|x|%)",
    re.IGNORECASE,
)


def segments(*texts: str) -> str | None:
    """Return the runs of scripts without spaces as single characters; ``None`` if there are none.

    Words of other scripts stay whole: those attached to such a run, and full-width ones. The last
    long ones are remembered, so that they can be made before the transaction that asks for them.
    """
    if all(map(str.isascii, texts)):
        return None
    return (_segments if sum(map(len, texts)) <= LONG else _long_segments)(*texts)


def _segments(*texts: str) -> str | None:
    return " ".join(filter(None, map(_segments_of_one, texts))) or None


def _segments_of_one(text: str) -> str:
    """Return the words that contain an unspaced run, without its marks, and full-width words.

    What Unicode says of a character is asked once for each that occurs: a text may be long.
    """
    if text.isascii():
        return ""
    composed = unicodedata.normalize("NFC", text)
    plain = unicodedata.normalize("NFKC", composed)  # as of the text, and sooner
    if plain == composed and not has_unspaced(plain):
        return ""
    each = language.characters(plain if plain == composed else plain + composed)
    marks = "".join(filter(is_mark, each))
    between = "".join(character for character in each if not is_of_word(character))
    unspaced = "".join(re.findall(UNSPACED_RUN, each))
    same = plain == composed and not has_unspaced(marks)
    return language.segments(plain, None if same else composed, between, marks, unspaced)


_long_segments = lru_cache(LONG_REMEMBERED)(_segments)


def has_unspaced(text: str) -> bool:
    """Return whether a text has words of a script without spaces."""
    return not text.isascii() and re.search(UNSPACED_RUN, text) is not None


def match_expression(query: str) -> str | None:
    """Return a query as an FTS5 expression, every word quoted; ``None`` if it has no words.

    Words are joined by OR: a fact with only some of them is found too, and BM25 ranks it lower.
    """
    return " OR ".join(map(any_of, spelled(query))) or None


def any_of(spellings: Sequence[str]) -> str:
    """Return an FTS5 expression for any spelling of a term."""
    return " OR ".join(map(quoted, spellings))


def quoted(term: str) -> str:
    """Return a term as an FTS5 string."""
    return f'"{term}"'


def terms(query: str) -> list[str]:
    """Return the search terms of a query; in scripts without spaces, pairs of characters.

    A pair has a space between its characters, as in the index. Of a very long text, the beginning
    is read.
    """
    if len(query) > MAX_READ:
        query = query[:MAX_READ].rpartition(" ")[0] or query[:MAX_READ]
    whole = query
    if "'" in query or "’" in query:
        whole = ELISION.sub(" ", CONTRACTION.sub("", query))
    spaced = _spaced_words(whole)
    if query.isascii() and query.islower():  # no names, and no scripts without spaces
        common = stop_words.stop_words(spaced)
        told = dict.fromkeys(word for word in spaced if word not in common)
        return [*(told or dict.fromkeys(spaced))][:MAX_TERMS]
    plain = [word.casefold() for word in spaced]
    common = stop_words.stop_words(plain)
    telling = {
        word: None
        for place, word in enumerate(spaced)
        if plain[place] not in common or _is_name(word, place, query)
    }
    chosen = telling | dict.fromkeys(pairs(query)) or dict.fromkeys(spaced)
    return list({term.casefold(): term for term in chosen}.values())[:MAX_TERMS]


def pairs(text: str) -> list[str]:
    """Return the pairs of characters in runs of scripts without spaces."""
    return [
        " ".join(run[i : i + 2])
        for run in _unspaced_runs(text)
        for i in range(max(1, len(run) - 1))
    ]


REMEMBERED: Final = 4
"""Of so many queries it is remembered what they consist of: one answer asks several times."""


@lru_cache(REMEMBERED)
def spelled(query: str) -> Sequence[Sequence[str]]:
    """Return each term of a query with its other spellings."""
    asked = terms(query)
    room = MAX_TERMS - len(asked)
    found = []
    for term in asked:
        others = _other_spellings(term)[:room]
        room -= len(others)
        found.append((term, *others))
    return (*found,)


def _other_spellings(term: str) -> list[str]:
    """Return ``straße`` for ``strasse``, and the other way round."""
    plain = term.casefold()
    if not plain.isascii():
        for letter, pair in LIGATURES:
            plain = plain.replace(letter, pair)
    if PAIR.search(plain) is None:
        return [] if plain == term.lower() else [plain]  # like most words
    spellings = dict.fromkeys([plain, *chain(*(_ligated(plain, *pair) for pair in LIGATURES))])
    return [other for other in spellings if other != term.lower()]


def _ligated(word: str, letter: str, pair: str) -> Iterator[str]:
    """Yield a word with the letter in place of each pair, and of all of them."""
    places = [at for at in range(len(word)) if word.startswith(pair, at)]
    for at in places:
        yield f"{word[:at]}{letter}{word[at + len(pair) :]}"
    if len(places) > 1:
        yield word.replace(pair, letter)


@lru_cache(REMEMBERED)
def identifiers(query: str) -> Sequence[str]:
    """Return the paths, versions, long numbers and names of programs in a query.

    ``undo.sh``, ``3.11``, ``5499``, ``k8s``, ``max_tokens``, ``parseConfig``; of a path also its
    last part, without the number of a line.
    """
    chunks = (chunk.strip(ENDS) for chunk in CHUNK.findall(query))
    # Most are words of a text: letters alone, of which the first at most is a capital.
    found = (form for one in chunks if not _is_plain(one) for form in _forms(one))
    return (*dict.fromkeys(form for form in found if _is_identifier(form)),)[:MAX_TERMS]


def identifiers_of_several_words(query: str) -> list[str]:
    """Return the identifiers of a query that have parts: ``SHOP-1042``, ``src/cart.ts``."""
    return [one for one in identifiers(query) if len(re.findall(r"[^\W_]+", one)) > 1]


def parts_of_identifiers(query: str) -> frozenset[str]:
    """Return the words that stand in the identifiers of a query, but identify nothing alone.

    Of ``src/util/slug.ts``, another path has ``src`` and ``ts`` too.
    """
    words = (word for one in identifiers(query) for word in re.findall(r"[^\W_]+", one))
    return frozenset(word.casefold() for word in words if not IDENTIFYING.fullmatch(word))


def _is_plain(chunk: str) -> bool:
    return chunk.isalpha() and chunk.isascii() and (chunk[1:].islower() or len(chunk) == 1)


def _forms(chunk: str) -> tuple[str, str, str]:
    last = re.split(r"[/\\]", chunk)[-1]
    return chunk, last, re.sub(r":\d+$", "", last)


def _is_identifier(written: str) -> bool:
    words = re.findall(r"[^\W_]+", written)
    if len(words) == 1:
        return bool(IDENTIFYING.fullmatch(words[0])) and not COUNTED.fullmatch(words[0])
    if not JOINED.search(written):
        return False
    common = stop_words.ENGLISH
    return all(map(str.isdecimal, words)) or any(
        len(word) > 1 and word.casefold() not in common for word in words
    )


def _is_name(word: str, place: int, query: str) -> bool:
    """Whether a stop word is written like a name inside a sentence: Will, US, vitamin A."""
    return place > 0 and word != "I" and word[0].isupper() and not query.isupper()


def _spaced_words(query: str) -> list[str]:
    """Return the words as FTS5 splits them, so that quoting is all the escaping they need."""
    if query.isascii():
        return re.findall(r"[^\W_]+", query)
    forms = dict.fromkeys(unicodedata.normalize(form, query) for form in ("NFC", "NFKC"))
    return [word for form in forms for word in split(re.sub(UNSPACED_RUN, " ", form))]


def split(text: str) -> list[str]:
    """Split a text as FTS5 does: words are letters, numbers and private-use characters."""
    if text.isascii():
        return re.findall(r"[^\W_]+", text)
    cut = apart(text).split()
    marks = "".join(filter(is_mark, set(text)))
    return [word for word in cut if word.strip(marks)] if marks else cut


def apart(text: str) -> str:
    """Return a text with a space in place of each character that FTS5 counts to no word."""
    return text.translate({ord(c): c if is_of_word(c) else " " for c in set(text)})


def is_of_word(character: str) -> bool:
    """Return whether FTS5 counts a character to a word."""
    return character.isalnum() or is_mark(character) or unicodedata.category(character) == "Co"


def _unspaced_runs(text: str) -> list[str]:
    """Return the unspaced runs without their marks, which are not in the index either."""
    if text.isascii():
        return []
    runs = re.findall(UNSPACED_RUN, unicodedata.normalize("NFKC", text))
    return [bare for run in runs if (bare := _without_marks(run))]


def _without_marks(run: str) -> str:
    return "".join(c for c in run if not is_mark(c))


def is_mark(character: str) -> bool:
    """Return whether a character is combined with the one before it, such as an accent."""
    return unicodedata.category(character).startswith("M")
