"""Word lists that the graph's rules use to tell names from other words, in English and German."""

from __future__ import annotations

from typing import Final

from memstore.text.lexicon import CALENDAR, DAYS, FUNCTION, word_set

COPULAS: Final = word_set("is are was were ist sind war waren")

PERSON_VERBS: Final = word_set(
    "works worked lives lived likes liked loves hates dislikes enjoys prefers wants owns "
    "speaks knows met married studies studied teaches taught plays drinks eats reads moved "
    "joined graduated retired thinks believes said told asked decided mentioned arbeitet "
    "wohnt lebt mag liebt hasst bevorzugt trinkt isst spricht kennt heißt studiert spielt "
    "möchte sagte findet"
)
"""Verbs whose subject is usually a person: a capitalised word before one of them counts as a name,
even at the beginning of a sentence."""

VERBS: Final = (
    PERSON_VERBS
    | COPULAS
    | word_set(
        "has had have uses used needs needed requires required runs supports contains built "
        "bought sold created wrote visited called founded leads led manages managed reports hired "
        "hosts depends deployed switched started stopped plans planned keeps takes took gets got "
        "gave gives makes made goes went comes came writes drives drove travels does did can will "
        "would should must may might could learned learnt learns tracks stores serves belongs "
        "born hat hatte nutzt verwendet benutzt braucht läuft kauft baut leitet gehört fährt "
        "kommt geht macht kann soll muss darf plant liest schreibt lernt besucht wurde wird"
    )
)

STARTERS: Final = word_set(
    "yes no not never always often sometimes usually currently now today yesterday tomorrow "
    "recently maybe perhaps also only just please note remember here there what where when "
    "why how all some many most every each both either neither other another once later soon "
    "still according instead however therefore moreover everything nothing something see ask "
    "call email meet tell send buy fix add use update check read write make run review "
    "prepare plan finish start stop schedule book remind contact talk give get let keep try "
    "ja nein nicht nie immer oft manchmal derzeit heute gestern morgen vielleicht auch nur "
    "bitte hier dort was wo wann warum wie jeder jede jedes viele einige manche"
)
"""Other words that often begin a sentence or a task and are not names."""

SHORT: Final = word_set(
    "ceo cto cfo coo cio vp svp hr pr qa pm am ok todo faq id ids url urls pdf cv phd msc bsc "
    "mba it tv diy asap fyi eta tbd utc gmt cet est usd eur gbp n/a"
)
"""Written in capitals, but not names."""

COMMON: Final = FUNCTION | VERBS | STARTERS | CALENDAR | {f"{day}s" for day in DAYS} | SHORT
"""Words that are never a name on their own."""

TITLES: Final = word_set("dr mr mrs ms prof st jr sr mt")
"""A full stop after one of them does not end a sentence."""

CONNECTORS: Final = word_set("de da di del della van von bin ibn al")
WHOLE_BEFORE_OF: Final = word_set(
    "bank university universities college institute school academy museum library ministry "
    "department office board court council house republic kingdom states city church cathedral "
    "association society federation union league bay cape gulf isle lake king queen prince duke"
)
"""Part of the name if ``of`` and a name follow: Bank of America, but Alice of Initech."""

AFTER_CONNECTOR: Final = word_set("der den de la")
"""Allowed after a connector inside a name: Hans van der Berg, Oscar de la Renta."""

GERMAN: Final = word_set(
    "und ist nicht ein eine einen einem mit für auf bei aus seit sich dem zum zur beim vom "
    "wird wurde auch aber oder arbeitet wohnt lebt mag liebt hasst bevorzugt trinkt isst "
    "spricht kennt heißt studiert spielt möchte nutzt verwendet benutzt braucht läuft kauft "
    "fährt kommt geht macht liest schreibt lernt besucht gehört sind waren haben kann muss"
)
"""Any of them in lower case marks a fact as German, where every noun has a capital."""

ROMANCE: Final = word_set(
    "el los las una que por para les dans avec pour une che il gli della sono uma não het een "
    "niet voor"
)
"""Any of them marks a fact as in a language where words like ``de`` do not join names."""
