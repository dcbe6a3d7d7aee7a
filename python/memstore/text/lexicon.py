"""Words that tell what kind of thing a word is, in English and German.

Facts in other languages are compared by their numbers, dates and order of words alone; what these
lists do not know is never a reason to retire a fact.
"""

from __future__ import annotations

from typing import Final


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


MONTHS: Final = _words(
    "january february march april may june july august september october november december "
    "januar februar märz mai juni juli oktober dezember"
)
DAYS: Final = _words(
    "monday tuesday wednesday thursday friday saturday sunday "
    "montag dienstag mittwoch donnerstag freitag samstag sonnabend sonntag"
)
SEASONS: Final = _words("spring summer autumn winter frühling frühjahr sommer herbst")
CALENDAR: Final = MONTHS | DAYS | SEASONS | _words("am pm uhr today tomorrow heute morgen")

NEGATIONS: Final = _words(
    "not no never neither nor without nicht kein keine keinen keinem keiner keines nie niemals "
    "weder ohne"
)

LIGHT: Final = _words(
    "a an the to of and do does any some gern gerne schon "
    "ein eine einen einem einer eines der die das den dem des und sich zu"
)
"""Words that may differ between two wordings of one claim."""

QUANTIFIERS: Final = _words(
    "all every each both most some few many several alle jede jeder jedes viele einige manche beide"
)
"""Which of them a fact speaks of; two that differ may contradict each other, or not."""

INDEFINITE: Final = _words("a an one another ein eine einen einem einer eines also too auch")
"""Before the value these say "one of several": a cat named Tom, another named Kim."""

IDENTITY: Final = _words("is are : = ist sind heißt lautet")
"""Between a thing and its value; the past tenses are left out, for they tell events."""

SINGULAR: Final = _words("is ist heißt lautet")
"""Those of one name; "the guests are Anna" leaves room for Ben."""

BETWEEN: Final = LIGHT | _words(
    "on in at by until from for about around set pinned limited due planned scheduled valid "
    "$ € % version port currently now always dr mr mrs ms prof herr frau herrn "
    "am im um ab bis bei auf für vom seit gültig derzeit immer stand protokoll"
)
"""What may stand between ``IDENTITY`` and a value. Others change the sense: "is available for"."""

TITLES: Final = _words("dr mr mrs ms prof herr frau")

MEASURES: Final = _words(
    "weighs costs has holds listens requires needs targets allows set pinned built "
    "beträgt kostet wiegt hat fasst liegt lauscht läuft muss basiert steht setzt"
)
"""Verbs whose number or version is one at a time, when somebody or something definite has it."""

HAVING: Final = _words("has hat runs fasst holds")
"""Right before a number with its unit: has 5 members."""

LIMITS: Final = _words("most to least höchstens mindestens")
RATES: Final = _words("per pro")

TIMES: Final = _words(
    "begins starts ends expires due planned scheduled valid "
    "beginnt startet endet gilt geplant gültig läuft"
)
"""Verbs whose date or time is one at a time; a shop opens, and closes, at several."""

PLACES: Final = (
    ("lives", "in"),
    ("reports", "to"),
    ("works", "for"),
    ("born", "in"),
    ("lebt", "in"),
    ("wohnt", "in"),
    ("arbeitet", "für"),
)
"""Verb and preposition before a name, of which there is one at a time."""

FAVOURITES: Final = ("favourite", "favorite", "liebling")

PREFERENCES: Final = _words("prefers bevorzugt")

AGE: Final = _words("old alt")

SEVERAL: Final = _words(
    "brother sister son daughter child friend colleague cousin uncle aunt niece nephew cat dog pet "
    "customer client member language hobby bruder schwester sohn tochter kind freund freundin "
    "kollege kollegin nichte neffe katze hund kunde kundin mitglied sprache "
    "neighbour neighbor roommate teammate teacher author guest speaker participant supplier "
    "nachbar nachbarin mitbewohner enkel enkelin tante onkel gast autor autorin lieferant "
    "schwager schwägerin teilnehmer teilnehmerin sprecher kollegen freunde kinder "
    "godson grandson stepson course class lesson session lecture shift bus train "
    "kurs stunde vorlesung sitzung schicht zug "
    "meeting appointment call flight trip visit termin treffen besuch flug reise anruf"
)
"""What one may have several of, so that two names or two dates are no contradiction."""

KIN: Final = tuple(
    "author child daughter brother sister friend mate "
    "autor autorin kind tochter sohn bruder schwester freund freundin".split()
)
"""Ends of longer words for what one may have several of: godchild, Stiefsohn."""

ONE_OF_SEVERAL: Final = _words("next weekly regular nächster nächste nächstes immer")
"""Before a word of ``SEVERAL`` these single one out."""

PAST: Final = _words(
    "was were had went saw met took ran paid bought read won spent sent gave came called "
    "war waren hatte hatten traf ging sah hielt fiel stieg kam gab wurde wurden"
)

STATES: Final = _words("geplant eingestellt vorgesehen angesetzt festgelegt begrenzt")
"""Participles that tell how things stand, and not what happened."""

AFTER: Final = STATES | BETWEEN | CALENDAR | _words("ab voraus")
"""What may follow a date or a version without changing what it is the value of."""

PERFECT: Final = _words("hat haben ist sind has have had been")

NUMBERS: Final = {
    word: str(number)
    for number, words in enumerate(
        (
            "two zwei",
            "three drei",
            "four vier",
            "five fünf",
            "six sechs",
            "seven sieben",
            "eight acht",
            "nine neun",
            "ten zehn",
            "eleven elf",
            "twelve zwölf",
        ),
        start=2,
    )
    for word in words.split()
}

CHANGES: Final = (
    "no longer",
    "any more",
    "anymore",
    "instead of",
    "switched from",
    "renamed",
    "stopped",
    "nicht mehr",
    "statt",
    "umbenannt",
    "aufgehört",
)
"""Phrases with which a new fact says itself that an older one has ended."""
