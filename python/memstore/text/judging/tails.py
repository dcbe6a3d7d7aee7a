"""Reads a claim that goes on after the clause which says what changed: "…, Yuki is", "…, because".

The first clause is judged alone. What follows it has to be of a form that takes nothing back and
names no case: who or what comes instead, or why.
"""

from __future__ import annotations

import re
from itertools import takewhile
from typing import TYPE_CHECKING, Final

from memstore._kernel.claims import (
    CONTRASTS,
    CORRECTS,
    DENIES,
    ENDS,
    IDIOM,
    MONTH,
    NAME,
    REPLACES,
)
from memstore.text.judging.pair import limits

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

TURN_WORDS: Final = 2
"""But at."""

INSTEAD: Final = frozenset(
    "is|are|is now|are now|is instead|does|do|does now|does that|does this|does it|does that now"
    "|does this now|does it now|took over|takes over|has taken over".split("|")
)
"""What may follow the name of who or what comes instead.

Behind "that is" or "das macht" stands any noun: nonsense, Sinn.
"""

PLACES: Final = frozenset("in at on".split())
"""Prepositions of another place. With whom, or against what, something goes on is a case."""

SPEAKERS: Final = frozenset("i ich je".split())
"""Who takes back what was said before: I was wrong. "That is wrong" takes back the claim."""

AGREED: Final = re.compile(
    r"(?:as (?:agreed|decided|requested)|wie (?:vereinbart|abgesprochen|besprochen)"
    r"|comme convenu|como combinado|come concordato|zoals afgesproken)(?:$|[.!]$"
    r"|(?= (?:with|by|mit|avec|com|con|met) \w))",
    re.IGNORECASE,
)
"""That it was agreed, perhaps with somebody."""

CAUSES: Final = re.compile(
    r"(?:(?:because of|due to|owing to) (?:the )?(?:law|gdpr|regulations?|licen[cs]e|costs?"
    r"|prices?|merger|decision|agreement)"
    r"|(?:wegen|aufgrund) (?:de[sr] )?(?:gesetz(?:es)?|dsgvo|lizenz|kosten|preis(?:es|e)?"
    r"|fusion|entscheidung|beschluss(?:es)?|vereinbarung)"
    r"|(?:à cause|en raison) (?:du |de l['’]|de la |des )(?:loi|rgpd|licence|coûts?|prix"
    r"|fusion|décision|accord)"
    r"|(?:debido a(?:l| la| los)?|a causa de(?:l| la| los)?) (?:ley|rgpd|licencia|costes?"
    r"|costos?|precios?|fusión|decisión|acuerdo)"
    r"|a causa (?:del |della |dell['’]|dei )(?:legge|gdpr|licenza|cost[oi]|prezz[oi]"
    r"|fusione|decisione|accordo)"
    r"|(?:por causa d|devido a)(?:o|a|os|as|à|ao|aos) (?:lei|licença|custos?|preços?"
    r"|fusão|decisão|acordo)"
    r"|(?:vanwege|wegens) (?:de |het )?(?:wet|avg|licentie|kosten|prijs|fusie|beslissing"
    r"|overeenkomst))[.!]?$",
    re.IGNORECASE,
)
"""Causes that last. A strike, an audit or the snow passes; a clause with a verb may say any."""

EVENTS: Final = re.compile(
    r"(?:(?:after|following) the (?:migration|merger|sale|move)"
    r"|nach (?:dem|der) (?:migration|fusion|verkauf|umzug)"
    r"|après (?:la |le |l['’])(?:migration|fusion|vente|déménagement)"
    r"|después de(?:l| la) (?:migración|fusión|venta|mudanza)"
    r"|dopo (?:la |il |l['’])(?:migrazione|fusione|vendita|trasloco)"
    r"|(?:após |depois d)[ao] (?:migração|fusão|venda|mudança)"
    r"|na de (?:migratie|fusie|verkoop|verhuizing))(?: (?:in|im|en|em|a) (\w+))?[.!]?$",
    re.IGNORECASE,
)
"""What happened once, and is a reason that lasts, as an outage is not: the day of it is none on
which something else holds."""


def cuts(text: str) -> Iterator[tuple[str, str, str]]:
    """Yield a text's first clause, what ends it, and what follows: for each place to end it."""
    for found in list(CUT.finditer(text))[:MAX_CUTS]:
        yield text[: found.start()], found[0].strip(), text[found.end() :]


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


def names_successor(old: Reading, sign: str, words: Sequence[Word]) -> bool:
    """Whether a tail names, without any case, who or what is or does it instead.

    "Yuki is", "Valkey does that", and, where the older claim says a place, "but at Exoscale".

    Args:
        sign: what ends the clause before; behind a full stop or a colon, any word has a capital.
    """
    first = next((place for place, word in enumerate(words) if not _may_be_name(word)), len(words))
    if first:
        does = " ".join(word.text.lower() for word in words[first:])
        return sign in (",", ";", "–", "—", "-") and first <= MAX_NAME and does in INSTEAD
    turn = not sign and len(words) > TURN_WORDS and words[0].text.lower() == "but"
    name = words[TURN_WORDS:]
    return (
        turn
        and words[1].text.lower() in PLACES
        and len(name) <= MAX_NAME
        and all(map(_may_be_name, name))
        and not {word.stem for word in name} & {word.stem for word in old.words}
        and _says_where(old)
    )


def _says_where(reading: Reading) -> bool:
    """Whether a claim ends with a preposition of a place and a name."""
    names = list(takewhile(_may_be_name, reversed(reading.words)))
    before = reading.words[: len(reading.words) - len(names)]
    return bool(names and before) and before[-1].text.lower() in PLACES


def strikes_known(old: Reading, words: Sequence[Word]) -> bool:
    """Whether a tail says only what is no longer so, or that the speaker was wrong before.

    "Not Gatwick", "no longer to Sentry", where the older claim has Gatwick and Sentry.
    """
    if words[0].text.lower() in SPEAKERS:
        return all(word.roles & CORRECTS for word in words)
    known = {word.key for word in old.words}
    strikes = words[0].roles & (DENIES | ENDS | REPLACES | CONTRASTS)
    return bool(strikes) and all(word.key in known or not word.is_telling for word in words)


def gives_reason(text: str, words: Sequence[Word]) -> bool:
    """Whether a tail says why, and names no case: because of the audit, as agreed with Ole."""
    if AGREED.match(text):
        name = words[3:]  # as agreed with
        return len(name) <= MAX_NAME and all(map(_may_be_name, name))
    event = EVENTS.match(text)
    if event is not None:
        return not event[1] or bool(words[-1].roles & MONTH)
    return CAUSES.match(text) is not None


def _may_be_name(word: Word) -> bool:
    """Whether a word is in no list, and is a name or has a capital letter."""
    return not word.roles and (word.kind == NAME or word.text[:1].isupper())
