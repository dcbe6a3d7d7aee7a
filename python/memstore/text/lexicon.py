"""Function words, and words that may not be lost, in English and German.

The kernel's lexicon has what searches need in ten languages: stop words, months, and words that
tell the kind of a question. It also has the words by which two claims are judged, in six.
"""

from __future__ import annotations

from typing import Final

from memstore._kernel import language


def word_set(text: str) -> frozenset[str]:
    return frozenset(text.split())


def phrases(text: str) -> tuple[str, ...]:
    return tuple(text.split("|"))


MONTHS: Final = frozenset((*language.months("en"), *language.months("de")))
DAYS: Final = word_set(
    "monday tuesday wednesday thursday friday saturday sunday "
    "montag dienstag mittwoch donnerstag freitag samstag sonnabend sonntag"
)
SEASONS: Final = word_set("spring summer autumn winter frühling frühjahr sommer herbst")
CALENDAR: Final = MONTHS | DAYS | SEASONS | word_set("am pm uhr today tomorrow heute morgen")

NEGATIONS: Final = word_set(
    "not no never neither nor without nicht kein keine keinen keinem keiner keines nie niemals "
    "weder ohne"
)

LIGHT: Final = word_set(
    "a an the to of and do does any some gern gerne schon "
    "ein eine einen einem einer eines der die das den dem des und sich zu"
)
"""Words in which two wordings of one claim may differ."""

QUANTIFIERS: Final = word_set(
    "all every each both most some few many several alle jede jeder jedes viele einige manche beide"
)
"""Quantities; two facts that differ in one may or may not contradict each other."""

INDEFINITE: Final = word_set("a an one another ein eine einen einem einer eines also too auch")
"""Before the value these say "one of several": a cat named Tom, another named Kim."""

IDENTITY: Final = word_set("is are : = ist sind heißt lautet")
"""Between a thing and its value; not the past tenses, which describe events."""

BETWEEN: Final = LIGHT | word_set(
    "on in at by until from for about around set pinned limited due planned scheduled valid "
    "$ € % version port currently now always dr mr mrs ms prof herr frau herrn "
    "am im um ab bis bei auf für vom seit gültig derzeit immer stand protokoll"
)
"""Allowed between ``IDENTITY`` and a value. Others change the meaning: "is available for"."""

NUMBERS: Final = {
    word: str(number)
    for number, words in enumerate(
        phrases(
            "two zwei|three drei|four vier|five fünf|six sechs|seven sieben|eight acht|nine neun|"
            "ten zehn|eleven elf|twelve zwölf"
        ),
        start=2,
    )
    for word in words.split()
}

# Function words, by their use. Where texts are compared, quantities and "is" are among them; in the
# graph these are relations, but words that join clauses are among them.

PRONOUNS: Final = word_set(
    "i you he she it we they this that these those there his her its their my our your "
    "ich du er sie es wir ihr dies dieser diese dieses sein seine ihre mein meine unser"
)
JOINING: Final = word_set("and or but as well too und oder aber sowie auch sowohl")

FUNCTION_WORDS: Final = (
    LIGHT | QUANTIFIERS | INDEFINITE | IDENTITY | BETWEEN | NEGATIONS | PRONOUNS | JOINING
)
"""Words that can begin a sentence without naming anything."""

PERSONAL: Final = word_set("i he she it they we you ich er sie es wir ihr du")
"""At the beginning of a sentence they refer to the subject of the fact."""

_PRONOUNS: Final = PERSONAL | word_set(
    "me him her us them who someone somebody everyone everybody nobody anyone man jemand niemand "
    "alle"
)
ARTICLES: Final = word_set(
    "the a an this that these those my your his her its our their der die das dem den des ein "
    "eine einen einem einer eines mein meine sein seine ihr ihre unser unsere dieser diese "
    "dieses"
)
_PREPOSITIONS: Final = word_set(
    "in on at by with from to of for about into over under after before between during "
    "without within near since until as than via per like off up down out against through "
    "across behind mit von zu bei aus auf für über unter nach vor zwischen während ohne seit "
    "bis als an am im um zum zur beim vom ins gegen durch hinter neben"
)
BREAKS: Final = word_set(
    "and or but nor because while whereas if when which who whom whose that so though "
    "although then und oder aber weil während wenn dass ob sondern denn obwohl welche welcher "
    "welches"
)
"""Words after which a new thought may begin: no relation extends across them."""

FUNCTION: Final = _PRONOUNS | ARTICLES | _PREPOSITIONS | BREAKS
"""Words that are neither a name nor a relation by themselves."""
