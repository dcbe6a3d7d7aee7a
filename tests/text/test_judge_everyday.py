"""Everyday corrections in sixteen languages, which were written before the rules met them."""

from __future__ import annotations

from collections import Counter

import pytest
from tests.support import labelled

from memstore.text.judging.judge import Claim, Verdict, judge

PAIRS = labelled.everyday()

LANGUAGES = [*dict.fromkeys(pair["lang"] for pair in PAIRS)]


def verdicts(language: str, label: str) -> Counter[Verdict]:
    return Counter(
        judge(Claim(pair["older"], pair["subject"]), Claim(pair["newer"], pair["subject"])).verdict
        for pair in PAIRS
        if (pair["lang"], pair["label"]) == (language, label)
    )


@pytest.mark.parametrize("language", LANGUAGES)
def test_most_corrections_are_noticed(language: str) -> None:
    found = verdicts(language, "supersedes")
    assert found.total() == 12
    assert found[Verdict.KEEP] <= 3


@pytest.mark.parametrize("language", LANGUAGES)
def test_nothing_that_coexists_is_retired(language: str) -> None:
    found = verdicts(language, "coexists")
    assert found.total() == 8
    assert found[Verdict.RETIRE] == 0
    assert found[Verdict.ASK] <= 1


@pytest.mark.parametrize(
    ("older", "newer", "subject"),
    [
        ("Das Projekt heißt Falke.", "Falke wurde in Adler umbenannt.", "Projekt"),
        ("Il progetto si chiama Falco.", "Falco è stato rinominato in Aquila.", "progetto"),
        ("Het project heet Valk.", "Valk is hernoemd naar Adelaar.", "project"),
        ("项目名叫猎鹰。", "猎鹰改名为雄鹰。", "项目"),
        ("The project is called Falcon.", "Falcon was renamed to Eagle.", "Falcon"),
    ],
)
def test_a_name_that_was_changed_is_proved(older: str, newer: str, subject: str) -> None:
    assert judge(Claim(older, subject), Claim(newer, subject)).verdict is Verdict.RETIRE


@pytest.mark.parametrize(
    ("older", "newer", "subject"),
    [
        ("Das Projekt heißt Falke.", "Falke Beta wurde in Adler umbenannt.", "Projekt"),
        ("Das Projekt heißt Falke.", "Falke wurde nicht in Adler umbenannt.", "Projekt"),
        ("Das Projekt heißt Falke.", "Falke wird vielleicht in Adler umbenannt.", "Projekt"),
        ("项目名叫猎鹰。", "猎鹰没有改名为雄鹰。", "项目"),
        ("项目名叫猎鹰。", "猎鹰可能改名为雄鹰。", "项目"),
        ("The project is called Falcon.", "Falcon Beta was renamed to Eagle.", "Falcon"),
        ("The project is called Falcon.", "Falcon was renamed from Eagle.", "Falcon"),
        ("The project is called Falcon.", "Falcon's branch was renamed to Eagle.", "Falcon"),
        ("The project is called Falcon.", "The Falcon team was renamed to Eagle.", "project"),
        ("Il progetto si chiama Falco.", "Forse Falco verrà rinominato in Aquila.", "progetto"),
    ],
)
def test_another_name_is_not_taken_for_a_changed_one(older: str, newer: str, subject: str) -> None:
    assert judge(Claim(older, subject), Claim(newer, subject)).verdict is not Verdict.RETIRE
