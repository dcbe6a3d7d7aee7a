"""Random pairs one step from a correction, of which none may be retired."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from itertools import takewhile
from typing import Any, Final

from tests.support.spoiling import Pair, Spoilt

from memstore._kernel.claims import CHANGES, CORRECTS, DENIES, LEAVES, RENAMES, REPLACES, Reading

WRAPPED: Final = {
    "en": (
        'The poster says "{}".', '"{}" is what Ben dreamt.', "It is not true that {}.",
        "Nobody said that {}.", "Before the war {}.", "In 2019 {}.", "Next year {}.",
        "Tomorrow {}.", "On Fridays {}.", "In staging {}.", "For guests {}.", "At night {}.",
        "As long as it rains, {}.", "Should Ben agree, {}.", "For the demo {}.", "In the novel {}.",
        "Ben wrote that {}.", "According to the old wiki, {}.", "Only on paper {}.",
    ),
    "de": (
        "Auf dem Plakat steht: „{}“.", "Es stimmt nicht, dass {}.", "Niemand sagt, dass {}.",
        "Vor dem Krieg: {}.", "2019: {}.", "Freitags: {}.", "Im Roman: {}.", "Nachts: {}.",
        "Nur auf dem Papier: {}.", "Falls Ben zustimmt: {}.", "Laut Ben: {}.", "Für Gäste: {}.",
    ),
    "fr": (
        "Sur l'affiche : « {} ».", "Il n'est pas vrai que {}.", "Personne ne dit que {}.",
        "Avant la guerre, {}.", "En 2019, {}.", "Le vendredi, {}.", "La nuit, {}.",
        "Pour les invités, {}.", "Selon Ben, {}.", "Dans le roman, {}.",
    ),
    "es": (
        "En el cartel pone: «{}».", "No es verdad que {}.", "Nadie dice que {}.",
        "Antes de la guerra, {}.", "En 2019, {}.", "Los viernes, {}.", "De noche, {}.",
        "Para los invitados, {}.", "Según Ben, {}.", "En la novela, {}.",
    ),
}  # fmt: skip
"""What a claim stands in that is no claim of now: quotations, denials, other times, and cases."""

TAILS: Final = {
    "en": (
        "but only on Fridays", "says Ben", "Ben hopes", "if Ben agrees", "except in winter",
        "on Fridays Ben does", "Ben does on Fridays", "at least in staging", "for guests",
        "because of the scans in staging", "because it is Friday", "as agreed for guests",
        "Ben said so in jest", "until Ben is back", "his sister does that at night",
        "after 6 pm", "when the tests run", "in theory", "as a trial", "most of the time",
        "because Ben is ill this week", "but for guests", "but not on Fridays",
        "Ben was", "that is Fiction", "that is Gossip", "this is Nonsense", "that is WIP",
        "is that OK", "is Ben", "does Ben", "that has Potential", "that is wrong",
        "that is not true", "because of the strike", "because of the lunch break",
        "because of a broken build", "because of Easter", "because of the holidays",
        "due to illness", "due to the snow", "because Ben lied", "because Ben dreamt so",
        "because nobody tests it tonight", "because of maintenance tonight", "as agreed once",
        "as requested weekly", "but with Ben", "but against Ben", "but to Ben", "but in Italy",
        "but at Christmas", "after the move before March", "for now", "Ben has",
    ),
    "de": (
        "aber nur freitags", "sagt Ben", "hofft Ben", "falls Ben zustimmt", "außer im Winter",
        "freitags macht das Ben", "das macht Ben freitags", "jedenfalls nachts", "für Gäste",
        "wegen der Prüfung im Winter", "weil heute Freitag ist", "bis Ben wieder da ist",
        "auf Wunsch der Kunden am Wochenende", "zur Probe", "meistens", "laut Ben",
        "das ist Unsinn", "das ist Quatsch", "das ist Gerede", "das hat Zeit", "das macht Sinn",
        "das ist Absicht", "Mutter macht das", "das ist Theorie", "das ist falsch",
        "das stimmt nicht", "wegen Karneval", "wegen der Inventur", "wegen der Grippe",
        "weil geputzt wird", "weil Ben krank ist", "aber mit Ben",
        "aber in Italien", "aber an Silvester",
    ),
    "fr": (
        "mais seulement le vendredi", "dit Ben", "espère Ben", "si Ben accepte", "sauf en hiver",
        "c'est Ben le vendredi", "pour les invités", "à cause des tests en hiver",
        "jusqu'au retour de Ben", "à titre d'essai", "selon Ben", "la plupart du temps",
        "c'est Faux", "c'est faux", "c'est Ben", "à cause du carnaval", "à cause des vacances",
        "à cause des fêtes", "à cause des travaux", "parce que Ben ment", "mais avec Ben",
        "mais en Italie", "mais à Noël",
    ),
    "es": (
        "pero solo los viernes", "dice Ben", "espera Ben", "si Ben acepta", "salvo en invierno",
        "lo hace Ben los viernes", "para los invitados", "porque hoy es viernes",
        "hasta que vuelva Ben", "a modo de prueba", "según Ben", "la mayoría de las veces",
        "es Mentira", "es mentira", "es falso", "lo hace Difícil", "porque Ben miente",
        "porque nieva", "debido a la huelga", "debido a vacaciones", "a causa del carnaval",
        "pero con Ben", "pero en Navidad",
    ),
}  # fmt: skip
"""What may follow a claim after a comma, after which it proves nothing."""

ANOTHER: Final = {
    "en": ("sister's ", "second ", "old ", "neighbour's "),
    "de": ("zweite ", "alte "),
    "fr": ("deuxième ", "ancien "),
    "es": ("segundo ", "antiguo "),
}
"""What makes another thing of the thing that a word names."""

PAST: Final = {
    "en": {"is": "was", "are": "were", "has": "had", "have": "had"},
    "de": {"ist": "war", "sind": "waren", "wird": "wurde", "werden": "wurden", "hat": "hatte"},
    "fr": {"est": "était", "sont": "étaient", "a": "avait"},
    "es": {"es": "era", "son": "eran", "está": "estaba", "están": "estaban", "tiene": "tenía"},
}
"""Verbs and their past: what was so replaces nothing."""

REPLACING: Final = CHANGES | CORRECTS | DENIES | LEAVES | RENAMES | REPLACES
"""Roles of words with which a past tense replaces something: was moved, was not X but Y."""

SMALL: Final = {
    "en": ("each", "then", "temporarily", "only"),
    "de": ("jeweils", "damals", "vorübergehend", "nur"),
    "fr": ("chacun", "alors", "temporairement", "seulement"),
    "es": ("cada uno", "entonces", "temporalmente", "solo"),
}
"""Small words that make of a claim another one."""

ARTICLE: Final = re.compile(r"\b(?:the|der|die|das|le|la|el)\s(?=\w)", re.IGNORECASE)

WORD: Final = re.compile(r"[^\W\d_]+")

MIN_WORD: Final = 4
"""The fewest letters of a word that is put in the place of another one."""


def wrapped(pair: Pair) -> Iterator[Spoilt]:
    """Yield a pair whose newer claim is quoted, denied, of another time, a case, or has a tail."""
    language, new = pair["lang"], pair["newer"].rstrip(".。!")
    for frame in WRAPPED.get(language, ()):
        yield Spoilt("wrapped", pair["older"], frame.format(new))
    for tail in TAILS.get(language, ()):
        yield Spoilt("tail", pair["older"], f"{new}, {tail}.")


def words_of(pairs: Sequence[Pair]) -> dict[str, list[str]]:
    """Return the longer words of all pairs that no list has, by language."""
    found: dict[str, set[str]] = {}
    for pair in pairs:
        text = f"{pair['older']} {pair['newer']}"
        found.setdefault(pair["lang"], set()).update(
            word for word in WORD.findall(text) if len(word) >= MIN_WORD
        )
    return {
        language: sorted(word for word in words if not Reading(word, "").roles)
        for language, words in found.items()
    }


def common_beginning(pair: Pair) -> str:
    """Return the whole words with which both claims begin."""
    both = zip(pair["older"].split(" "), pair["newer"].split(" "), strict=False)
    return " ".join(one for one, other in takewhile(lambda two: two[0] == two[1], both))


def exchanged(pair: Pair, words: Sequence[str], chance: random.Random) -> Spoilt | None:
    """Return a pair whose newer claim has another word before what differs: of another thing."""
    begins = common_beginning(pair)
    shared = [found for found in WORD.finditer(begins) if len(found[0]) >= MIN_WORD]
    others = [word for word in words if word.islower()]
    if not shared or not others:
        return None
    place, other = chance.choice(shared), chance.choice(others)
    if place[0].istitle():
        other = other.title()
    newer = pair["newer"][: place.start()] + other + pair["newer"][place.end() :]
    if other.lower() == place[0].lower() or place[0].lower() in newer.lower():
        return None
    return Spoilt("exchanged", pair["older"], newer)


def inserted(pair: Pair, chance: random.Random) -> Spoilt | None:
    """Return a pair in which a word that both claims have is of another thing in the newer one."""
    adjectives = ANOTHER.get(pair["lang"], ())
    places = list(ARTICLE.finditer(common_beginning(pair)))
    if not adjectives or not places:
        return None
    place, other = chance.choice(places), chance.choice(adjectives)
    newer = pair["newer"][: place.end()] + other + pair["newer"][place.end() :]
    return Spoilt("another", pair["older"], newer)


def past(pair: Pair) -> Spoilt | None:
    """Return a pair whose newer claim tells what was, where its verb is one of the list."""
    forms = PAST.get(pair["lang"], {})
    places = [found for found in WORD.finditer(pair["newer"]) if found[0] in forms]
    if Reading(pair["newer"], "").roles & (
        CHANGES | CORRECTS | DENIES | LEAVES | RENAMES | REPLACES
    ):
        return None
    if not places or pair["newer"][: places[0].start()].endswith(("'", "’")):
        return None
    first = places[0]
    newer = pair["newer"][: first.start()] + forms[first[0]] + pair["newer"][first.end() :]
    return Spoilt("past", pair["older"], newer)


def with_word(pair: Pair, chance: random.Random) -> Spoilt | None:
    """Return a pair with one small word more, at the end of the newer claim or before a word."""
    small = SMALL.get(pair["lang"])
    if small is None:
        return None
    words = pair["newer"].rstrip(".。!").split(" ")
    words.insert(chance.randint(1, len(words)), chance.choice(small))
    return Spoilt("word", pair["older"], " ".join(words) + ".")


def crossed(pairs: Sequence[Pair]) -> Iterator[tuple[Pair, Spoilt]]:
    """Yield the older claim of each pair with the newer ones of other kinds about its subject."""
    groups: dict[tuple[Any, ...], list[Pair]] = {}
    for pair in pairs:
        groups.setdefault((pair["lang"], pair["subject"]), []).append(pair)
    for group in groups.values():
        for one in group:
            for other in group:
                first = one["older"].split()[:2], other["older"].split()[:2]
                if one["kind"] != other["kind"] and first[0] != first[1]:
                    yield one, Spoilt("crossed", one["older"], other["newer"])


def attacks(
    retired: Sequence[Pair], pairs: Sequence[Pair], chance: random.Random, rounds: int
) -> Iterator[tuple[Pair, Spoilt]]:
    """Yield pairs of which none may be retired.

    Args:
        retired: pairs that are retired, one step from which each is.
        pairs: those with whose words, and with whose claims about the same subject, they are mixed.
        rounds: how many words of each are exchanged.
    """
    words = words_of(pairs)
    for pair in retired:
        for case in wrapped(pair):
            yield pair, case
        if (told := past(pair)) is not None:
            yield pair, told
        for _ in range(rounds):
            for found in (
                exchanged(pair, words[pair["lang"]], chance),
                inserted(pair, chance),
                with_word(pair, chance),
            ):
                if found is not None:
                    yield pair, found
    yield from crossed([pair for pair in pairs if pair["label"] == "supersedes"])
