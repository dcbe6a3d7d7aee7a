"""Spoil a pair whose older claim was retired, so that it must not be retired any more."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

Pair = dict[str, Any]

QUALIFIERS = {
    "en": (
        "in staging", "on weekends", "when travelling", "for guests", "at her brother's place",
        "until Friday", "for the second account", "after 6 pm", "according to Bob",
        "in most cases", "during the holidays", "except in winter",
    ),
    "de": (
        "in der Testumgebung", "am Wochenende", "auf Reisen", "für Gäste", "bis Freitag",
        "nach 18 Uhr", "laut Bernd", "in den meisten Fällen", "außer im Winter", "mit Kollegen",
    ),
    "es": (
        "en pruebas", "los fines de semana", "cuando viaja", "para los invitados",
        "hasta el viernes", "según Pedro", "en la mayoría de los casos", "después de las 18",
        "salvo en invierno", "con colegas",
    ),
    "fr": (
        "en test", "le week-end", "en voyage", "pour les invités", "jusqu'à vendredi",
        "selon Paul", "dans la plupart des cas", "après 18 h", "sauf en hiver",
        "avec des collègues",
    ),
    "zh": (
        "在测试环境中", "在周末", "对客人来说", "据小王说", "有时", "直到周五", "出差时",
        "多数情况下",
    ),
    "ja": (
        "テスト環境では", "週末は", "客のために", "田中によると", "時々", "金曜日まで", "出張中は",
        "夜だけ",
    ),
    "it": (
        "in fase di test", "nel fine settimana", "per gli ospiti", "fino a venerdì",
        "secondo Paolo", "con i colleghi", "salvo in inverno",
    ),
    "pt": (
        "em testes", "aos fins de semana", "para os convidados", "até sexta-feira",
        "segundo o Paulo", "com colegas", "exceto no inverno",
    ),
    "nl": (
        "in de testomgeving", "in het weekend", "voor gasten", "tot vrijdag", "volgens Bert",
        "met collega's", "behalve in de winter",
    ),
}  # fmt: skip
"""Conditions, cases and sources. In scripts without blanks they stand at the beginning."""

HEDGES = {
    "en": (
        "Maybe {}", "If all goes well, {}", "Ben claims that {}", "It is rumoured that {}",
        "User would be glad if {}", "Not only Bob but also {}", "Apparently {}", "I doubt that {}",
    ),
    "de": (
        "Vielleicht {}", "Wenn alles klappt, {}", "Ben behauptet, dass {}",
        "Es heißt angeblich, {}", "Möglicherweise {}", "Ob {}, ist unklar",
    ),
    "es": ("Quizás {}", "Si todo va bien, {}", "Pedro dice que {}", "Al parecer {}", "Ojalá {}"),
    "fr": (
        "Peut-être que {}", "Si tout va bien, {}", "Paul dit que {}", "Apparemment {}",
        "Il paraît que {}",
    ),
    "zh": ("也许{}", "如果顺利，{}", "小王说{}", "听说{}", "希望{}"),
    "ja": (
        "もしかすると{}かもしれない", "もし順調なら{}", "{}らしい", "おそらく{}", "{}と言っていた",
    ),
    "it": ("Forse {}", "Se tutto va bene, {}", "Paolo dice che {}"),
    "pt": ("Talvez {}", "Se tudo correr bem, {}", "O Paulo diz que {}"),
    "nl": ("Misschien {}", "Als alles goed gaat, {}", "Bert zegt dat {}"),
}  # fmt: skip

ADDITIONS = {
    "en": " as well", "de": ", und das zusätzlich", "es": " también", "fr": " aussi",
    "zh": "，另外也是", "ja": "、また別のも", "it": " anche", "pt": " também", "nl": " ook",
}  # fmt: skip

KIN = {
    "en": "{}'s cousin", "de": "Cousin von {}", "es": "El primo de {}", "fr": "Le cousin de {}",
    "zh": "{}的表弟", "ja": "{}の従兄弟",
    "it": "Il cugino di {}", "pt": "O primo de {}", "nl": "De neef van {}",
}  # fmt: skip

UNSPACED = ("zh", "ja")
HEADS = {"The ": ("The other ", "The second ", "The old ", "Ben's ")}


class Spoilt(NamedTuple):
    """A pair after it was spoilt, and how."""

    how: str
    older: str
    newer: str


def spoilt(pair: Pair) -> Iterator[Spoilt]:
    """Yield the pair in every way in which it is spoilt."""
    language, old, subject = pair["lang"], pair["older"], pair["subject"]
    new = pair["newer"].rstrip(".。!")
    for qualifier in QUALIFIERS[language]:
        if language in UNSPACED:
            yield Spoilt("new qualified", old, qualifier + new)
            yield Spoilt("old qualified", qualifier + old, pair["newer"])
        else:
            yield Spoilt("new qualified", old, f"{new} {qualifier}.")
            yield Spoilt("old qualified", f"{old.rstrip('.')} {qualifier}.", pair["newer"])
    for hedge in HEDGES[language]:
        yield Spoilt("hedged", old, hedge.format(new))
    if subject and subject in new:
        yield Spoilt("another holder", old, new.replace(subject, KIN[language].format(subject), 1))
        if language == "en":
            neighbour = new.replace(subject, f"{subject}'s neighbour", 1)
            yield Spoilt("another holder", old, neighbour)
    if new.startswith("User "):
        yield Spoilt("another holder", old, f"User's neighbour {new[5:]}")
        yield Spoilt("another holder", old, f"Bob, unlike user, {new[5:]}")
    for head, others in HEADS.items():
        if new.startswith(head):
            for other in others:
                if new.startswith(other):
                    continue  # it is that holder already
                yield Spoilt("another holder", old, other + new[len(head) :])
    yield Spoilt("added", old, new + ADDITIONS[language])
    yield Spoilt("asked", old, new + "?")
    yield Spoilt("asked", old + "?", pair["newer"])
    for sign in ("*", "++", "#", " 🙃", " (?)", " <"):
        yield Spoilt("signed", old, new + sign)
        yield Spoilt("signed", old.rstrip(".。") + sign, pair["newer"])
