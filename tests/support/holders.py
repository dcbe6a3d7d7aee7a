"""Pairs of claims about different holders, whose names may be any word that the judge knows."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

LEXICON: Final = Path(__file__).parents[2] / "rust" / "kernel" / "src" / "language" / "lexicon"

UNSPACED: Final = ("zh", "ja")

FRAMES: Final = {
    "en": (
        ("uses Go", "now uses Rust"), ("uses Go", "now uses Go"), ("uses Go", "no longer uses Go"),
        ("uses Go", "uses Rust instead of Go"), ("uses Go", "switched from Go to Rust"),
        ("runs on Hetzner", "now runs on Linode"), ("is owned by Kim", "is now owned by Lee"),
        ("listens on port 8080", "listens on port 9090"), ("costs 5 euros", "costs 7 euros"),
        ("is written in Go", "is now written in Rust"), ("starts at 9", "now starts at 10"),
        ("deploys to Lyon", "now deploys to Lille"), ("reports to Kim", "now reports to Lee"),
        ("timeout is 5 seconds", "timeout was raised to 9 seconds"),
        ("has a canoe", "sold the canoe"), ("works at Nokia", "left Nokia"),
        ("lives in Porto", "moved to Braga"), ("talks to Redis", "now talks to Kafka"),
    ),
    "de": (
        ("nutzt Go", "nutzt jetzt Rust"), ("nutzt Go", "nutzt nicht mehr Go"),
        ("nutzt Go", "nutzt Rust statt Go"), ("läuft auf Hetzner", "läuft jetzt auf Linode"),
        ("gehört Kim", "gehört jetzt Lee"), ("kostet 5 Euro", "kostet 7 Euro"),
        ("hat ein Kanu", "hat das Kanu verkauft"), ("wohnt in Trier", "ist nach Mainz gezogen"),
        ("wird von Kim geleitet", "wird jetzt von Lee geleitet"),
    ),
    "es": (
        ("usa Go", "ahora usa Rust"), ("usa Go", "ya no usa Go"),
        ("usa Go", "usa Rust en lugar de Go"), ("corre en Hetzner", "ahora corre en Linode"),
        ("cuesta 5 euros", "cuesta 7 euros"), ("tiene una canoa", "vendió la canoa"),
        ("vive en Lima", "se mudó a Cusco"),
    ),
    "fr": (
        ("utilise Go", "utilise maintenant Rust"), ("utilise Go", "n'utilise plus Go"),
        ("utilise Go", "utilise Rust au lieu de Go"), ("coûte 5 euros", "coûte 7 euros"),
        ("tourne sur Hetzner", "tourne maintenant sur Linode"),
        ("a un canoë", "a vendu le canoë"), ("habite à Lyon", "a déménagé à Nantes"),
    ),
    "zh": (
        ("使用Go", "现在使用Rust"), ("使用Go", "不再使用Go"), ("的超时是5秒", "的超时改为9秒"),
        ("部署到法兰克福", "现在部署到都柏林"), ("的预算是400元", "的预算是500元"),
    ),
    "ja": (
        ("はGoを使っている", "は現在Rustを使っている"), ("の予算は400円です", "の予算は500円です"),
        ("はGoを使っている", "はもうGoを使っていない"),
        ("のタイムアウトは5秒です", "のタイムアウトは9秒に変更された"),
    ),
}  # fmt: skip
"""What is said of a holder, and how it is corrected."""

HOLDERS: Final = {
    "en": (
        "The {} service", "The order {} service", "The {} export service", "The {}-service",
        'The "{}" service', "The {} services", "The {}'s team", "The service of {}", "The {}",
        "the team for {}", "{Name} service", "{Name}", "Our {} team",
    ),
    "de": (
        "Der {} Dienst", "Der {Name}-Dienst", "Der Dienst {Name}", "Das Team für {Name}",
        "{Name}", "Das „{}“ Modul", "Der order {} Dienst",
    ),
    "es": ("El servicio de {}", "El servicio {}", "El servicio «{}»", "{Name}", "El {}"),
    "fr": ("Le service {}", "Le service de {}", "Le module « {} »", "{Name}", "L'équipe order {}"),
    "zh": ("{}服务", "订单{}服务", "{}团队", "“{}”服务"),
    "ja": ("{}サービス", "注文{}サービス", "{}チーム", "「{}」サービス"),
}  # fmt: skip
"""A holder with a name."""

AFTERWARDS: Final = {
    "en": (
        ("The timeout is 5 seconds for {}", "The timeout was raised to 9 seconds for {}"),
        ("The limit is 5 in the {} service", "The limit was moved to 9 in the {} service"),
        ("The budget is 400 euros for order {}", "The budget went up to 500 euros for order {}"),
        ("The owner of {} is Kim", "The owner of {} is now Lee"),
    ),
    "de": (("Das Limit beträgt 5 für {Name}", "Das Limit wurde auf 9 erhöht für {Name}"),),
    "es": (("El límite es de 5 segundos para {}", "El límite subió a 9 segundos para {}"),),
    "fr": (("Le délai est de 5 secondes pour {}", "Le délai est passé à 9 secondes pour {}"),),
    "zh": (("{}组的预算是400元", "{}组的预算增加到500元"),),
    "ja": (("{}用のタイムアウトは5秒です", "{}用のタイムアウトは9秒に変更された"),),
}
"""Claims whose holder stands after the verb, or around it."""

NEUTRAL: Final = {
    "en": "zorblat", "de": "zorblat", "es": "zorblat", "fr": "zorblat",
    "zh": "酷哔", "ja": "ズボリ",
}  # fmt: skip
"""A name that is no word."""

UNNAMING: Final = frozenset(
    "corrects now owners articles function finite denies to from user at_last recent be counting "
    "past_endings participles auxiliaries joins indefinite have prepositions".split()
)
"""Lists of words that are no names by themselves: a claim may begin with them, or end."""


@cache
def names(language: str, *, naming: bool = True) -> tuple[str, ...]:
    """Return every single word of a language's lists, in all its forms.

    Args:
        naming: leave out the words of :data:`UNNAMING`, whatever else they are.
    """
    text = (LEXICON / f"{language}.rs").read_text(encoding="utf-8")
    lists = re.findall(r'(\w+): "((?:[^"\\]|\\.)*)"', text[text.index("claims: Claims") :], re.S)
    found: dict[bool, set[str]] = {True: set(), False: set()}
    for name, entries in lists:
        for entry in re.sub(r"\\\n\s*|\|", " ", entries).split():
            if not re.search(r"[_…*:/&]", entry):
                stem, *endings = entry.split("+")
                forms = {stem, *(stem + ending for ending in endings)}
                found[name in UNNAMING] |= {form for form in forms if form[:1].isalpha()}
    return tuple(sorted(found[False] - found[True] if naming else found[False] | found[True]))


class OtherHolder(NamedTuple):
    """Two claims about different holders."""

    older: str
    newer: str


def filled(form: str, name: str) -> str:
    """Return a holder, or a claim, with this name."""
    return form.replace("{Name}", name[:1].upper() + name[1:]).replace("{}", name)


def said(language: str, holder: str, what: str) -> str:
    """Return the claim that says something of a holder."""
    return holder + ("" if language in UNSPACED else " ") + what


def others(language: str, name: str, other: str) -> Iterator[OtherHolder]:
    """Yield what is said of one name, and corrected for the other, in every form and frame."""
    for form in HOLDERS[language]:
        for older, newer in FRAMES[language]:
            one, two = filled(form, name), filled(form, other)
            yield OtherHolder(said(language, one, older), said(language, two, newer))
    for older, newer in AFTERWARDS[language]:
        yield OtherHolder(filled(older, name), filled(newer, other))
