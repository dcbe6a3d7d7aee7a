"""Reads a claim that goes on after the clause which says what changed: "…, Yuki is", "…, because".

The first clause is judged alone. What follows it has to be of a form that takes nothing back and
names no case: who or what comes instead, or why.
"""

from __future__ import annotations

import re
from itertools import takewhile
from typing import TYPE_CHECKING, Final

from memstore._kernel.claims import (
    CODE,
    CONTRASTS,
    CORRECTS,
    DENIES,
    ENDS,
    IDIOM,
    MONTH,
    NAME,
    PREPOSITION,
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

NOW_DOES: Final = frozenset(
    "that is X now|that's X now|it is X now|it's X now|now it is X|now it's X|now X is|now X does"
    "|now X does that|now X does it|that is now X|it is now X"
    "|das macht jetzt X|jetzt macht das X|das macht nun X|das übernimmt jetzt X|X macht das jetzt"
    "|jetzt ist es X|X ist es jetzt|das macht inzwischen X|das leitet jetzt X"
    "|c est maintenant X|c est désormais X|c est X maintenant|c est X désormais"
    "|maintenant c est X|désormais c est X"
    "|ahora lo es X|lo es ahora X|ahora es X|lo hace ahora X|ahora lo hace X|X lo es ahora"
    "|ora lo è X|lo è ora X|adesso lo è X|ora è X|adesso è X|lo fa ora X|ora lo fa X"
    "|agora é X|agora é a X|agora é o X|é agora X|é agora a X|é agora o X"
    "|dat is nu X|nu is dat X|dat doet X nu|dat doet nu X|nu doet X dat|X doet dat nu".split("|")
)
"""What may follow an ending and name with "now" who or what comes instead, X.

Behind "das macht jetzt" may stand any noun; what has ended is over all the same.
"""

TURNED: Final = frozenset("but sondern mais sino ma mas maar".split())
"""Words between what is no longer so and what is instead."""

HELD_BY: Final = frozenset(
    "in at on for bei im auf für à chez dans sur en para al alla nella presso em no na por"
    " bij op".split()
)
"""Prepositions before what one has instead. With whom something goes on is a case."""

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

WISHED: Final = re.compile(
    r"(?:at (?:the )?(?:customers?|clients?|users?)['’]s? request"
    r"|(?:at|on) the request of (?:the )?(?:customers?|clients?|users?)"
    r"|auf wunsch (?:der|des|von) (?:kund(?:en|innen|in)|nutzer[ns]?|team[s]?)"
    r"|à la demande (?:des|du) (?:clients?|utilisateurs?)"
    r"|(?:por acuerdo con|a petición de)(?:l| el| los| la| las)? (?:clientes?|usuarios?)"
    r"|su richiesta de(?:i|l|gli) (?:clienti|cliente|utenti)"
    r"|a pedido d(?:os|o|as|a) (?:clientes?|usuários?)"
    r"|op verzoek van de (?:klanten?|gebruikers?))[.!]?$",
    re.IGNORECASE,
)
"""Who asked for it."""

ALWAYS: Final = re.compile(
    r"(?:day and night|around the clock|24/7|at all times|everywhere|company-wide"
    r"|for (?:everyone|everybody|all (?:users|customers|teams))"
    r"|tag und nacht|rund um die uhr|jederzeit|überall|für alle"
    r"|jour et nuit|partout|pour tous|en tout temps|día y noche|en todas partes|para todos"
    r"|giorno e notte|ovunque|per tutti|dia e noite|em todo lado|para todos|dag en nacht|overal"
    r"|voor iedereen)[.!]?$",
    re.IGNORECASE,
)
"""That it holds without any case."""

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
    if _shape(words) in NOW_DOES or _turns_to_another(old, words):
        return True
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


def _shape(words: Sequence[Word]) -> str:
    """Return the words in lower case, with X for a name; "" if that is too long."""
    found: list[str] = []
    size = 0
    for word in words:
        if _may_be_name(word):
            size += 1
            if found[-1:] != ["X"]:
                found.append("X")
        else:
            found.append(word.text.lower())
    return " ".join(found) if size <= MAX_NAME else ""


def _turns_to_another(old: Reading, words: Sequence[Word]) -> bool:
    """Whether a tail names what is so instead, as the older claim ends: no longer in X but in Y."""
    if words[0].text.lower() not in TURNED:
        return False
    names = [*takewhile(_may_be_name, reversed(old.words))]
    size = min(len(names), len(old.words) - 1)
    before = old.words[len(old.words) - size - 1]
    leads = [before.text.lower()] if before.roles & PREPOSITION else []
    came = words[1 + len(leads) :]
    return (
        size > 0
        and {*leads} <= HELD_BY
        and [word.text.lower() for word in words[1 : 1 + len(leads)]] == leads
        and 0 < len(came) <= MAX_NAME
        and all(map(_may_be_name, came))
        and not {word.stem for word in came} & {word.stem for word in old.words}
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
    return any(form.match(text) is not None for form in (CAUSES, WISHED, ALWAYS))


def _may_be_name(word: Word) -> bool:
    """Whether a word is in no list, and is a name or has a capital letter."""
    return not word.roles and (word.kind in (NAME, CODE) or word.text[:1].isupper())
