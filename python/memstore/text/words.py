"""Words for the full-text index: queries as FTS5 expressions, and scripts without spaces.

FTS5's tokenizer treats a run of Chinese, Japanese, Korean or Thai as one word, so words inside it
would not be found. Such runs, with the words attached to them (``用Python写的``), are also indexed
as single characters in the column ``segments``, where a query looks for each pair of adjacent
characters. Full-width words (``Ｐｙ``) are indexed there in plain letters.
"""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING

from memstore.lazy import lazy_import, lazy_pattern

if TYPE_CHECKING:
    from memstore.text import stop_words
else:
    stop_words = lazy_import("memstore.text.stop_words")

MAX_TERMS = 200
"""The most distinct terms of a query; more would not change the ranking noticeably."""

# Han with its extensions, kana, Hangul, Thai, Lao, Myanmar, Khmer.
UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u3130-\u318f"
    "\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff"
    "\U00020000-\U0003ffff"
)
UNSPACED_RUN = f"[{UNSPACED}]+"
PIECE = f"[{UNSPACED}]|[^{UNSPACED}]+"
"""Not compiled on import, because that takes milliseconds."""

# Removed from questions: the index has an "s" for every "Bob's", so it would match anything.
CONTRACTION = lazy_pattern(r"(?<=\w)['’](?:s|t|re|ve|ll|d|m)\b", re.IGNORECASE)

# Removed as well: l'amico, d'Anne, qu'est-ce.
ELISION = lazy_pattern(
    r"\b(?:[cdjlmnst]|qu|(?:d|n)?ell|[dn]?all|sull|dov|cos)['’](?=\w)", re.IGNORECASE
)


def segments(*texts: str) -> str | None:
    """Return the runs of scripts without spaces as single characters; ``None`` if there are none.

    Words of other scripts stay whole: those attached to such a run, and full-width ones.
    """
    if all(map(str.isascii, texts)):
        return None
    cut = [word for text in texts for word in _words_to_cut(text)]
    return " ".join(" ".join(re.findall(PIECE, word)) for word in cut) or None


def match_expression(query: str) -> str | None:
    """Return a query as an FTS5 expression, every word quoted; ``None`` if it has no words.

    Words are joined by OR: a fact with only some of them is found too, and BM25 ranks it lower.
    """
    return " OR ".join(map(quoted, terms(query))) or None


def quoted(term: str) -> str:
    """Return a term as an FTS5 string."""
    return f'"{term}"'


def terms(query: str) -> list[str]:
    """Return the search terms of a query; in scripts without spaces, pairs of characters.

    A pair has a space between its characters, as in the index.
    """
    whole = query
    if "'" in query or "’" in query:
        whole = ELISION.sub(" ", CONTRACTION.sub("", query))
    spaced = _spaced_words(whole)
    common = stop_words.stop_words([word.casefold() for word in spaced])
    telling = {
        word: None
        for place, word in enumerate(spaced)
        if word.casefold() not in common or _is_name(word, place, query)
    }
    pairs = {
        " ".join(run[i : i + 2]): None
        for run in _unspaced_runs(query)
        for i in range(max(1, len(run) - 1))
    }
    chosen = telling | pairs or dict.fromkeys(spaced)
    return list({term.casefold(): term for term in chosen}.values())[:MAX_TERMS]


def _is_name(word: str, place: int, query: str) -> bool:
    """Whether a stop word is written like a name inside a sentence: Will, US, vitamin A."""
    return place > 0 and word != "I" and word[0].isupper() and not query.isupper()


def _spaced_words(query: str) -> list[str]:
    """Return the words as FTS5 splits them, so that quoting is all the escaping they need."""
    if query.isascii():
        return re.findall(r"[^\W_]+", query)
    forms = dict.fromkeys(unicodedata.normalize(form, query) for form in ("NFC", "NFKC"))
    return [word for form in forms for word in _words(re.sub(UNSPACED_RUN, " ", form))]


def _words_to_cut(text: str) -> list[str]:
    """Return the words that contain an unspaced run, without its marks, and full-width words."""
    if text.isascii():
        return []
    plain = unicodedata.normalize("NFKC", text)
    bare = re.sub(UNSPACED_RUN, lambda run: _without_marks(run[0]), plain)
    written = set(_words(unicodedata.normalize("NFC", text)))
    return [word for word in _words(bare) if re.search(UNSPACED_RUN, word) or word not in written]


def _words(text: str) -> list[str]:
    """Split a text as FTS5 does: words are letters, numbers and private-use characters."""
    cut = "".join(
        c if c.isalnum() or _is_mark(c) or unicodedata.category(c) == "Co" else " " for c in text
    )
    return [word for word in cut.split() if _without_marks(word)]


def _unspaced_runs(text: str) -> list[str]:
    """Return the unspaced runs without their marks, which are not in the index either."""
    if text.isascii():
        return []
    runs = re.findall(UNSPACED_RUN, unicodedata.normalize("NFKC", text))
    return [bare for run in runs if (bare := _without_marks(run))]


def _without_marks(run: str) -> str:
    return "".join(c for c in run if not _is_mark(c))


def _is_mark(character: str) -> bool:
    return unicodedata.category(character).startswith("M")
