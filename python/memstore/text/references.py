"""Ids as a query: ``#7``, ``7``, ``e12``, a UUID, "fact 7", "#7 and #9".

Only a query that consists of them, and of words that belong to them, is one: in "port 5432" or "PR
#7" the number is of something else.
"""

from __future__ import annotations

import unicodedata
from typing import Final

from memstore.domain.arguments import MAX_NUMBER
from memstore.lazy import lazy_pattern
from memstore.named import NamedTuple

MAX_NAMED: Final = 50
"""More ids than this are a list of numbers."""

MAX_READ: Final = 2_000
"""Characters; a longer query is a text."""

REFERENCE: Final = lazy_pattern(
    r"(?P<uuid>[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})"
    r"|#(?P<fact>[0-9]+)|e#?(?P<turn>[0-9]+)|(?P<number>[0-9]+)"
)
SEPARATOR: Final = lazy_pattern(r"\s+|№|[,;&+](?=[\s#]|e#?[0-9]|$)")
UNPUNCTUATED: Final = ".:!?()[]{}<>\"'`´‘’“”„«»…。！？"

FACTS: Final = frozenset(
    "fact facts memory memories note notes task tasks todo todos fakt fakten notiz fait faits "
    "hecho hechos fato fatos fatto fatti feit feiten факт факты 事实 事実 ファクト 사실".split()
)
TURNS: Final = frozenset(
    "episode episodes turn turns message messages episode episoden épisode épisodes episodio "
    "episodios episodi episódio episódios эпизод".split()
)
AROUND: Final = frozenset(
    "show me get give find open see read look up at what is was are were does do did say says said "
    "about the and or with vs compare between of id ids uuid no nr nos number numbers please tell "
    "zeige zeig mir was ist sagt über und oder nummer montre affiche et ou numéro muestra y o e "
    "número mostra numero toon en и или номер".split()
)
"""Words that may stand around an id and ask for nothing else."""


class References(NamedTuple):
    """What a query names by ids, in its order. A bare number may be of either kind."""

    facts: tuple[int, ...] = ()
    turns: tuple[int, ...] = ()
    uuids: tuple[str, ...] = ()


NONE: Final = References()


def references(query: str) -> References:
    """Return the ids that a query consists of; none if it says anything else."""
    if len(query) > MAX_READ or not any(map(str.isdigit, query)):
        return NONE
    plain = unicodedata.normalize("NFKC", query).casefold()
    facts: dict[int, None] = {}
    turns: dict[int, None] = {}
    uuids: dict[str, None] = {}
    noun: frozenset[str] = frozenset()
    for part in SEPARATOR.split(plain):
        word = part.strip(UNPUNCTUATED)
        found = REFERENCE.fullmatch(word)
        if found is None:
            if word in FACTS or word in TURNS:
                noun = FACTS if word in FACTS else TURNS
            elif word and word not in AROUND:
                return NONE
            continue
        kind, value = found.lastgroup, found[found.lastgroup or 0]
        if kind == "uuid":
            uuids[value] = None
        elif int(value) <= MAX_NUMBER:
            is_fact = kind == "fact" or (kind == "number" and noun is not TURNS)
            is_turn = kind == "turn" or (kind == "number" and noun is not FACTS)
            if kind == "fact" and noun is TURNS:
                is_fact, is_turn = False, True
            facts |= {int(value): None} if is_fact else {}
            turns |= {int(value): None} if is_turn else {}
    if len(facts) + len(turns) + len(uuids) > MAX_NAMED:
        return NONE
    return References(tuple(facts), tuple(turns), tuple(uuids))
