"""Corrections as people write them, each beside a pair that looks the same and is none."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Final

import pytest

from memstore.text.judging import since
from memstore.text.judging.judge import Claim, Rule, Verdict, judge, verdict

JUDGED: Final = Path(__file__).parent / "judged"

CORRECTED: Final = [
    line.split(" | ")
    for line in (JUDGED / "corrected.txt").read_text(encoding="utf-8").splitlines()
    if not line.startswith("#")
]
"""Language, subject, older claim, a correction of it, and a claim that corrects nothing."""

NOW: Final = (JUDGED / "now.txt").read_text(encoding="utf-8").splitlines()
"""Pairs of which the older claim may hold still: subject, older and newer claim."""


def test_most_corrections_are_retired_or_asked_about() -> None:
    found = Counter(judge(Claim(old, about), Claim(new, about)).verdict
                    for _, about, old, new, _ in CORRECTED)  # fmt: skip
    assert found.total() == 157
    assert found[Verdict.RETIRE] >= 92
    assert found[Verdict.KEEP] <= 16


def test_what_looks_like_a_correction_is_never_retired_and_seldom_asked_about() -> None:
    pairs = [(Claim(old, about), Claim(new, about)) for _, about, old, _, new in CORRECTED]
    found = Counter(judge(*pair).verdict for pair in pairs)
    assert not [pair for pair in pairs if judge(*pair).verdict is Verdict.RETIRE]
    assert found[Verdict.ASK] <= 44


@pytest.mark.parametrize("line", NOW)
def test_what_may_hold_beside_what_is_now_is_not_retired(line: str) -> None:
    subject, older, newer = line.split("|")
    old, new = Claim(older, subject), Claim(newer, subject)
    assert judge(old, new).verdict is not Verdict.RETIRE
    assert verdict(old, new) is judge(old, new).verdict


@pytest.mark.parametrize(
    ("rule", "subject", "older", "newer"),
    [
        (Rule.NOW, "shop", "The orders go through RabbitMQ.", "The orders go through NATS now."),
        (Rule.NOW, "Server", "Der Server steht bei Hetzner.", "Der Server steht jetzt bei OVH."),
        (
            Rule.NOW,
            "shop",
            "Les tâches passent par Redis.",
            "Les tâches passent désormais par NATS.",
        ),
        (Rule.NOW, "web", "La web está en Azure.", "La web está ahora en Scaleway."),
        (
            Rule.NOW,
            "shop",
            "The emblem of the shop is Felix.",
            "The emblem of the shop is now Rex.",
        ),
        (Rule.NOW, "商店", "商店的任务队列是RabbitMQ。", "商店的任务队列现在是NATS。"),
        (Rule.NOW, "api", "The API is hosted in Oslo.", "The API is hosted in Bergen now."),
        (Rule.SUCCEEDED, "Atlas", "Eva leads Atlas.", "Ben leads Atlas now."),
        (Rule.SUCCEEDED, "Eva", "Eva is the head of sales.", "Now Ben is the head of sales."),
        (Rule.SUCCEEDED, "team", "Eva leads the team.", "Since May, Ben leads the team."),
        (
            Rule.NOW,
            "docs",
            "The docs are built with Sphinx.",
            "Since May the docs are built with MkDocs.",
        ),
        (Rule.NOW, "web", "La web está en Azure.", "La web está en Scaleway desde mayo."),
        (
            Rule.FROM_TO,
            "shop",
            "The shop uses Stripe.",
            "Stripe was replaced by Adyen in the shop.",
        ),
        (Rule.FROM_TO, "shop", "The shop uses Stripe.", "The shop replaced Stripe with Adyen."),
        (
            Rule.FROM_TO,
            "Laden",
            "Der Laden nutzt Stripe.",
            "Im Laden wurde Stripe durch Adyen ersetzt.",
        ),
        (
            Rule.FROM_TO,
            "alquiler",
            "El alquiler es de 700 euros.",
            "El alquiler subió de 700 a 750 euros.",
        ),
        (
            Rule.ENDED,
            "Jana",
            "Jana wohnt in Kiel.",
            "Jana wohnt nicht mehr in Kiel, sondern in Lübeck.",
        ),
        (Rule.ENDED, "shop", "The shop uses Stripe.", "The shop no longer uses Stripe but Adyen."),
        (
            Rule.ENDED,
            "Iker",
            "Iker trabaja en Seat.",
            "Iker ya no trabaja en Seat, sino en Repsol.",
        ),
        (
            Rule.ENDED,
            "Atlas",
            "Eva leitet Atlas.",
            "Eva leitet Atlas nicht mehr, das macht jetzt Ben.",
        ),
    ],
)
def test_it_is_proved_by(rule: Rule, subject: str, older: str, newer: str) -> None:
    found = judge(Claim(older, subject), Claim(newer, subject))
    assert (found.verdict, found.rule) == (Verdict.RETIRE, rule)


@pytest.mark.parametrize(
    ("text", "now"),
    [
        ("The office is rented from Brix since May.", "The office is rented from Brix now."),
        ("Since 3 March 2026, Ben leads the team.", "Now, Ben leads the team."),
        ("Die Abrechnung läuft seit März über Adyen.", "Die Abrechnung läuft jetzt über Adyen."),
        ("Depuis aujourd'hui, elle habite à Lyon.", "Maintenant, elle habite à Lyon."),
        ("It is built with Hugo since version 2.", "It is built with Hugo now."),
        ("It is kept for 90 days since the audit.", "It is kept for 90 days now."),
        ("It is hosted at OVH since Ben is away.", None),
        ("It is hosted at OVH as of May.", None),
        ("It is slower since 5 people joined.", None),
        ("It is hosted at OVH since.", None),
    ],
)
def test_since_when_is_read_as_now(text: str, now: str | None) -> None:
    assert since.as_now(text, Claim(text).reading) == now
