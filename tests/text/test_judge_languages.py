"""Corrections in further languages, numbered things, and things of which one may own several."""

from __future__ import annotations

from typing import Any

import pytest
from tests.support import labelled

from memstore.text.judging.judge import Claim, Rule, Verdict, judge

PAIRS = {language: labelled.of(language) for language in labelled.LANGUAGES}


def verdict(older: str, newer: str, subject: str = "it") -> Verdict:
    return judge(Claim(older, subject), Claim(newer, subject)).verdict


def verdicts(pairs: list[dict[str, Any]]) -> list[Verdict]:
    return [verdict(pair["older"], pair["newer"], pair["subject"]) for pair in pairs]


@pytest.mark.parametrize("language", labelled.LANGUAGES)
def test_most_corrections_are_noticed(language: str) -> None:
    must = [pair for pair in PAIRS[language] if pair["label"] == "supersedes"]
    assert len(must) >= 15
    assert verdicts(must).count(Verdict.KEEP) <= 0.2 * len(must)


@pytest.mark.parametrize("language", labelled.LANGUAGES)
def test_nothing_that_coexists_is_retired(language: str) -> None:
    stay = [pair for pair in PAIRS[language] if pair["label"] == "coexists"]
    assert len(PAIRS[language]) >= 40
    found = verdicts(stay)
    assert Verdict.RETIRE not in found
    plain = [pair for pair in stay if pair["kind"] != "hostile"]
    assert verdicts(plain).count(Verdict.ASK) <= 1


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("Таймаут 30 секунд", "Таймаут 60 секунд"),
        ("타임아웃은 30초", "타임아웃은 60초"),
        ("المهلة 30 ثانية", "المهلة 60 ثانية"),
        ("टाइमआउट ३० सेकंड है", "टाइमआउट ६० सेकंड है"),
        ("Zaman aşımı 30 saniye", "Zaman aşımı 60 saniye"),
        ("Limit czasu to 30 sekund", "Limit czasu to 60 sekund"),
        ("Χρονικό όριο 30 δευτερόλεπτα", "Χρονικό όριο 60 δευτερόλεπτα"),
        ("זמן קצוב 30 שניות", "זמן קצוב 60 שניות"),
        ("Időkorlát: 30 másodperc", "Időkorlát: 60 másodperc"),
        ("Tiden är 30 sekunder", "Tiden är 60 sekunder"),
        ("গড় সময় ৩০ সেকেন্ড", "গড় সময় ৬০ সেকেন্ড"),
        ("Il timeout è 30 secondi", "Il timeout è 60 secondi"),
        ("超时为30秒", "超时为60秒"),
        ("提交前要运行格式化工具", "提交前不要运行格式化工具"),
    ],
)
def test_value_that_changes_in_its_frame_is_near_in_any_script(older: str, newer: str) -> None:
    assert verdict(older, newer) is not Verdict.KEEP


THINGS = (
    "camera bike guitar laptop watch phone tablet boat desk drone piano monitor keyboard mouse "
    "router printer car house flat jacket clock speaker mattress bed bag ring kettle"
).split()


@pytest.mark.parametrize("thing", THINGS)
@pytest.mark.parametrize(
    "frame",
    ["owns a {}", "has a {}", "now has a {}", "owns an old {}", "uses a {}", "keeps a {} at work",
     "bought a {}", "drives a {}"],
)  # fmt: skip
def test_one_of_several_things_is_not_replaced_by_another(thing: str, frame: str) -> None:
    old = frame.replace("now ", "").format(f"Nikon {thing}")
    assert verdict(f"Mara {old}", f"Mara {frame.format(f'Leica {thing}')}", "Mara") != "retire"


@pytest.mark.parametrize(
    "claim",
    [
        "Mara besitzt eine {} Kamera", "Mara hat ein {} Fahrrad", "Mara tiene una cámara {}",
        "Mara posee un coche {}", "Mara a un appareil {}", "Mara possède une voiture {}",
        "小安有一台{}相机", "奈々は{}の車を持っている", "Mara ha una macchina {}",
        "Mara tem uma câmera {}", "У Мары есть камера {}", "Mara ma rower {}",
        "Mara'nın bir {} kamerası var", "مارا لديها كاميرا {}", "मारा के पास {} कैमरा है",
        "마라는 {} 카메라를 가지고 있다",
    ],
)  # fmt: skip
def test_one_of_several_things_is_not_replaced_in_other_languages(claim: str) -> None:
    assert verdict(claim.format("Nikon"), claim.format("Leica"), "Mara") is not Verdict.RETIRE


def test_the_one_thing_of_a_holder_is_replaced() -> None:
    assert verdict("Mara's camera is a Nikon", "Mara's camera is now a Leica", "Mara") != "keep"
    assert verdict("The server has a limit of 5", "The server has a limit of 9") == "retire"


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("Release notes for v2.4: faster start", "Release notes for v2.6: fixed a rounding bug"),
        ("Ticket 17 is about login", "Ticket 18 is about logout"),
        ("Sprint 12 ends on Friday", "Sprint 13 ends on Monday"),
        ("Chapter 4 covers tides", "Chapter 5 covers winds"),
        ("PR #88 adds retries", "PR #91 adds timeouts"),
        ("RFC 2616 defines HTTP", "RFC 9110 defines HTTP"),
        ("Floor 3 has a kitchen", "Floor 4 has a kitchen"),
        ("Q3 revenue was 4 million", "Q4 revenue was 5 million"),
        ("Python 3.11 support was added", "Python 3.12 support was added"),
        ("The budget for sprint 12 is 400 euros", "The budget for sprint 13 is 500 euros"),
        ("Kapitel 4 behandelt Ebbe", "Kapitel 5 behandelt Flut"),
        ("Notas de la versión v2.4", "Notas de la versión v2.6"),
        ("Le ticket 17 concerne la connexion", "Le ticket 18 concerne la sortie"),
        ("第3章讲潮汐", "第4章讲风"),
        ("リリースノート v2.4：起動が速い", "リリースノート v2.6：丸めの修正"),
        ("Тикет 17 про вход", "Тикет 18 про выход"),
        ("티켓 17은 로그인에 관한 것이다", "티켓 18은 로그아웃에 관한 것이다"),
    ],
)
def test_numbered_things_are_not_newer_values_of_each_other(older: str, newer: str) -> None:
    assert verdict(older, newer) is Verdict.KEEP


def test_what_is_said_of_one_number_is_corrected() -> None:
    assert verdict("Sprint 12 ends on Friday", "Sprint 12 now ends on Monday") == "retire"
    assert verdict("The latest release is 2.4", "The latest release is 2.6") == "retire"


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("The project is called Falcon", "Falcon was renamed to Eagle"),
        ("The project's codename is Falcon", "Falcon was renamed to Eagle"),
        ("The tag is Falcon", "The tag was renamed to Eagle"),
    ],
)
def test_another_name_is_proved(older: str, newer: str) -> None:
    found = judge(Claim(older, "project"), Claim(newer, "project"))
    assert (found.verdict, found.rule) == (Verdict.RETIRE, Rule.RENAMED)


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("Falcon uses Go", "Falcon was renamed to Eagle"),
        ("The project is called Falcon", "Falcon might be renamed to Eagle"),
        ("The project is called Falcon", "Falcon was not renamed to Eagle"),
        ("The project is called Falcon", "Falcon Beta was renamed to Eagle"),
        ("The project is called Falcon Beta", "Falcon was renamed to Eagle"),
        ("Kim's dog is called Falcon", "Falcon was renamed to Eagle"),
        ("The staging tag is Falcon", "The tag was renamed to Eagle"),
    ],
)
def test_another_name_of_something_else_is_not_proved(older: str, newer: str) -> None:
    assert verdict(older, newer, "project") is not Verdict.RETIRE


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("mailer answers within 80 ms", "auth answers within 80 ms"),
        ("The mailer runs on port 80", "The auth service runs on port 80"),
        ("provision runs nightly", "cleanup runs nightly"),
    ],
)
def test_nothing_is_asked_where_only_the_holders_differ(older: str, newer: str) -> None:
    assert verdict(older, newer, "infra") is Verdict.KEEP
