"""Reads a claim that goes on after the clause which says what changed: "…, Yuki is", "…, because".

The first clause is judged alone. What follows it has to be of a form that takes nothing back and
names no case: who or what comes instead, or why.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from memstore._kernel.claims import (
    ADDS,
    ARTICLE,
    BE,
    CONTRASTS,
    CORRECTS,
    DATE,
    DENIES,
    FUNCTION,
    HEDGES,
    IDIOM,
    KIN,
    MONTH,
    NAME,
    NOW,
    PARTLY,
    PREPOSITION,
    QUALIFIER,
    REPLACES,
    SEASON,
    TEMPORARY,
)
from memstore.text.judging.pair import is_value, limits

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from memstore._kernel.claims import Reading, Word
    from memstore.text.judging.pair import Pair

CUT: Final = re.compile(r"[,;:.]\s+|\s[–—-]\s|\s(?=(?:but|sondern|mais|sino|ma|mas|maar|ale|но)\s)")
"""Where a clause may end, in scripts with blanks."""

MAX_CUTS: Final = 3
"""How many ends of clauses are tried."""

MAX_NAME: Final = 3
"""The most words of what comes instead."""

MAX_REASON: Final = 6
"""The most words of a reason."""

MONTH_WORDS: Final = 2
"""In March."""

DOES: Final = frozenset(
    "do does did took taken over has now that this macht machen tut übernimmt übernommen hat "
    "fait fera hace lo fa faz doet c".split()
)
"""Verbs that stand for the verb of the clause before, and words that go with them."""

REASONS: Final = re.compile(
    r"(?:because(?: of)?|due to|owing to|thanks to|as (?:agreed|decided|requested)(?: with| by)?"
    r"|at the request of|on request of"
    r"|weil|wegen|aufgrund|auf wunsch (?:von|der|des)|wie (?:vereinbart|abgesprochen|besprochen)"
    r"|parce qu(?:e\b|['’])|à cause d(?:e\b|u\b|es\b|['’])|en raison d(?:e\b|u\b|es\b|['’])"
    r"|comme convenu(?: avec)?|à la demande d(?:e\b|u\b|es\b|['’])"
    r"|porque|debido a|a causa del?|por acuerdo con|a petición del?|por petición del?"
    r"|perché|a causa d(?:i|el|ella|ei|elle)|come concordato(?: con)?"
    r"|por causa d(?:e|o|a|os|as)|devido a|como combinado(?: com)?"
    r"|omdat|vanwege|wegens|op verzoek van|zoals afgesproken(?: met)?"
    r"|ponieważ|z powodu|zgodnie z ustaleniami|потому что|из-за|по просьбе)(?!\w)",
    re.IGNORECASE,
)
"""What a reason begins with. Prepositions in it name no case."""

EVENTS: Final = re.compile(
    r"(?:(?:after|since|following) the (?:outage|incident|crash|migration|merger|sale|move|audit)"
    r"|nach (?:dem|der) (?:ausfall|vorfall|absturz|migration|fusion|verkauf|umzug|prüfung)"
    r"|(?:après|depuis) (?:la |le |l['’])(?:panne|incident|migration|fusion|vente|déménagement)"
    r"|(?:después de|desde) (?:la |el )(?:caída|incidente|migración|fusión|venta|mudanza|auditoría)"
    r"|dopo (?:la |il |l['’])(?:guasto|incidente|migrazione|fusione|vendita|trasloco)"
    r"|(?:após|depois d)[ao] (?:queda|incidente|migração|fusão|venda|mudança)"
    r"|na de (?:storing|migratie|fusie|verkoop|verhuizing))(?!\w)",
    re.IGNORECASE,
)
"""What happened once, and is a reason: the day of it is none on which something else holds."""

CASE: Final = (
    HEDGES
    | PARTLY
    | TEMPORARY
    | ADDS
    | QUALIFIER
    | SEASON
    | CORRECTS
    | REPLACES
    | CONTRASTS
    | IDIOM
)
"""Roles of words that may take something back, or name a case."""


def cuts(text: str) -> Iterator[tuple[str, str]]:
    """Yield a text's first clause and what follows it, for each place where it may end."""
    for found in list(CUT.finditer(text))[:MAX_CUTS]:
        yield text[: found.start()], text[found.end() :]


def following(whole: Reading, clause: Reading) -> Sequence[Word] | None:
    """Return the words of a text after its first clause; ``None`` if that is not read alike."""
    size = len(clause.words)
    first = zip(whole.words, clause.words, strict=False)
    if not 0 < size < len(whole.words) or any(one.text != other.text for one, other in first):
        return None
    return whole.words[size:]


def has_same_signs(pair: Pair) -> bool:
    """Whether symbols and words such as "only" are the same in both claims, tails included."""
    return (
        pair.side_by_side.same_symbols
        and limits(pair.old) == limits(pair.new)
        and not pair.old.asks
        and not (pair.old.roles | pair.new.roles) & IDIOM
    )


def names_successor(words: Sequence[Word]) -> bool:
    """Whether a tail names, without any case, who or what is or does it instead.

    "Yuki is", "that is Yuki now", "das macht Yuki", "but at Exoscale".
    """
    turn = bool(words[0].roles & CONTRASTS)
    rest = words[1:] if turn else words
    places = [place for place, word in enumerate(rest) if _may_be_name(word)]
    if not 0 < len(places) <= MAX_NAME or places[-1] - places[0] >= len(places):
        return False
    others = [word for place, word in enumerate(rest) if place not in places]
    if turn:
        before = rest[: places[0]]
        prepositions = [word for word in before if word.roles & PREPOSITION]
        return len(before) == len(others) and len(prepositions) <= 1 and all(map(_binds, before))
    does = [word for word in others if word.roles & BE or word.text.lower() in DOES]
    return bool(does) and all(
        word in does or word.roles & (NOW | ARTICLE) or _is_pronoun(word) for word in others
    )


def gives_reason(text: str, words: Sequence[Word]) -> bool:
    """Whether a tail says why, and names no case: because of the audit, as agreed with Ole."""
    found = REASONS.match(text) or EVENTS.match(text)
    if found is None or CUT.search(text):
        return False
    rest = words[len(re.findall(r"\w+", found[0])) :]
    if found.re is EVENTS:  # in March
        return not rest or (
            len(rest) == MONTH_WORDS
            and bool(rest[0].roles & PREPOSITION)
            and bool(rest[1].roles & MONTH)
        )
    return len(rest) <= MAX_REASON and not any(
        word.roles & (CASE | PREPOSITION) or word.kind == DATE for word in rest
    )


def _may_be_name(word: Word) -> bool:
    """Whether a word is in no list, and is a name or has a capital letter."""
    return not word.roles & ~KIN and (word.kind == NAME or word.text[:1].isupper())


def _binds(word: Word) -> bool:
    is_case = word.roles & (CASE | DENIES) or word.text.lower() in ("for", "für", "pour", "para")
    return bool(word.roles & (PREPOSITION | FUNCTION)) and not is_case and not is_value(word)


def _is_pronoun(word: Word) -> bool:
    bare = word.roles & FUNCTION and not word.roles & (CASE | DENIES | PREPOSITION)
    return bool(bare)
