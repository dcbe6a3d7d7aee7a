"""Word lists by which two facts are compared, and function words, in English and German.

Facts in other languages are compared by numbers, dates and word order alone; a word that is in no
list is never a reason to supersede a fact. The kernel's lexicon has what searches need in ten
languages: stop words, months, and words that tell the kind of a question.
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

SINGULAR: Final = word_set("is ist heißt lautet")
"""The singular ones: "the guests are Anna" does not exclude Ben."""

BETWEEN: Final = LIGHT | word_set(
    "on in at by until from for about around set pinned limited due planned scheduled valid "
    "$ € % version port currently now always dr mr mrs ms prof herr frau herrn "
    "am im um ab bis bei auf für vom seit gültig derzeit immer stand protokoll"
)
"""Allowed between ``IDENTITY`` and a value. Others change the meaning: "is available for"."""

NOW: Final = word_set("now currently jetzt derzeit nun inzwischen mittlerweile aktuell")
"""A correction may add these to the words of the old fact."""

PREPOSITIONS: Final = word_set(
    "about above across after against along among around as at before behind below beneath beside "
    "between beyond by despite down during except for from in inside into near of off on onto out "
    "outside over past per since through throughout till to toward towards under until up upon via "
    "with within without "
    "ab abseits ans auf aufs aus außer außerhalb bei beim bis durch für gegen gegenüber hinter im "
    "innerhalb ins mit nach neben ohne pro seit trotz über um unter vom von vor vorm während wegen "
    "zu zum zur zwischen"
)
"""With another preposition a sentence makes another claim."""

TITLES: Final = word_set("dr mr mrs ms prof herr frau")

MEASURES: Final = word_set(
    "weighs costs has holds listens requires needs targets allows set pinned built "
    "beträgt kostet wiegt hat fasst liegt lauscht läuft muss basiert steht setzt"
)
"""Verbs that take one number or version at a time, for a definite subject."""

HAVING: Final = word_set("has hat runs fasst holds")
"""Right before a number with its unit: has 5 members."""

LIMITS: Final = word_set("most to least höchstens mindestens")
RATES: Final = word_set("per pro")

TIMES: Final = word_set(
    "begins starts ends expires due planned scheduled valid "
    "beginnt startet endet gilt geplant gültig läuft"
)
"""Verbs that take one date or time at a time; a shop opens and closes at several."""

PLACES: Final = phrases("lives in|reports to|works for|born in|lebt in|wohnt in|arbeitet für")
"""Verb and preposition before a name that can only have one value at a time."""

FAVOURITES: Final = ("favourite", "favorite", "liebling")

PREFERENCES: Final = word_set("prefers bevorzugt")

AGE: Final = word_set("old alt")

SEVERAL: Final = word_set(
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
"""Things one may have several of: two names or dates of them do not contradict each other."""

KIN: Final = tuple(
    "author child daughter brother sister friend mate "
    "autor autorin kind tochter sohn bruder schwester freund freundin".split()
)
"""The same as endings of longer words: godchild, Stiefsohn."""

ONE_OF_SEVERAL: Final = word_set("next weekly regular nächster nächste nächstes immer")
"""Before a word of ``SEVERAL`` these mean one of them."""

PAST: Final = word_set(
    "was were had went saw met took ran paid bought read won spent sent gave came called "
    "war waren hatte hatten traf ging sah hielt fiel stieg kam gab wurde wurden"
)

STATES: Final = word_set("geplant eingestellt vorgesehen angesetzt festgelegt begrenzt")
"""Participles that describe a state, not an event."""

AFTER: Final = STATES | BETWEEN | CALENDAR | word_set("ab voraus")
"""Allowed after a date or version without changing what it is the value of."""

PERFECT: Final = word_set("hat haben ist sind has have had been")

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

ENDINGS: Final = phrases("no longer|any more|anymore|stopped|nicht mehr|aufgehört")
"""Phrases by which a new fact says that an older one has ended."""

REPLACING: Final = phrases("instead of|statt")
"""Phrases before the thing that has ended, in a new fact."""

OVER: Final = phrases(
    "off|over|cancelled|canceled|called off|fell through|left|quit|ended|finished|sold|stopped|"
    "gone|closed|former|formerly|used to|resigned|retired|divorced|broke up|died|dead|dropped|"
    "abandoned|lost|removed|deleted|forget|gave up|given up|got rid of|moved away|moved out|"
    "moved from|switched from|wrong|false|untrue|incorrect|"
    "abgesagt|storniert|gekündigt|verkauft|beendet|vorbei|verlassen|ausgezogen|weggezogen|geschieden|"
    "gestorben|tot|aufgegeben|verloren|gelöscht|falsch|ehemals|früher"
)
"""Phrases that say that something named beside them no longer holds. Weaker than ``ENDINGS``: they
support a deletion that a model asks for, and retire nothing by themselves."""

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
