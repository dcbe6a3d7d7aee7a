"""A name decides nothing: whatever words it is, what is said of another holder is not retired."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.holders import FRAMES, HOLDERS, NEUTRAL, filled, names, others, said

from memstore.text.judging.judge import Claim, Slots, Verdict, judge

LANGUAGES = tuple(HOLDERS)

WITH_NOUN = {
    "en": ("The {} service", "The order {} service", "The {} export service", "Our {} team"),
    "de": ("Der {} Dienst", "Der Dienst {Name}"),
    "es": ("El servicio {}",),
    "fr": ("Le service {}",),
    "zh": ("{}服务", "订单{}服务"),
    "ja": ("{}サービス", "注文{}サービス"),
}
"""Forms that name a holder without the name, too."""

WORDS = (
    "export import report search build test train serve transfer call support run stop work plan "
    "answer pay cook drive start monitor archive print scan order change review match rank design "
    "sold moved closed new old free open live single retired second minute march spring user guest"
).split()


def verdict(older: str, newer: str, subject: str = "infra") -> Verdict:
    return judge(Claim(older, subject), Claim(newer, subject)).verdict


@pytest.mark.parametrize("name", WORDS)
def test_english_name_that_is_another_word_is_another_holder(name: str) -> None:
    for other in ("payments", *random.Random(name).sample(WORDS, 2)):
        if other != name:
            for pair in (*others("en", other, name), *others("en", name, other)):
                assert verdict(*pair) is not Verdict.RETIRE, pair


@pytest.mark.parametrize("language", LANGUAGES)
def test_each_word_that_the_judge_knows_is_another_holder_as_a_name(language: str) -> None:
    """Each word meets four of the forms and frames, chosen at random but always the same."""
    chance = random.Random(0)
    for name in names(language):
        other = chance.choice((NEUTRAL[language], chance.choice(names(language))))
        if {name[:4].lower()} != {other[:4].lower()}:
            for pair in chance.sample([*others(language, name, other)], 4):
                assert verdict(*pair) is not Verdict.RETIRE, pair


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_holder_without_the_name_is_another_one(language: str) -> None:
    chance = random.Random(1)
    for name in chance.sample(names(language), 200):
        form = chance.choice(WITH_NOUN[language])
        holders = [filled(form, name), filled(form, "").replace("  ", " ").strip()]
        for older, newer in FRAMES[language]:
            pairs = [(holders[0], holders[1]), (holders[1], holders[0])]
            for one, two in pairs:
                claims = said(language, one, older), said(language, two, newer)
                assert verdict(*claims) is not Verdict.RETIRE, claims


@pytest.mark.parametrize("name", [*WORDS, "zorblat", "on call", "now", "once", "still", "not"])
def test_the_same_holder_is_corrected_whatever_its_name(name: str) -> None:
    for older, newer in (("uses Go", "now uses Rust"), ("timeout is 5 s", "timeout is 9 s")):
        claims = (f"The {name} service {older}", f"The {name} service {newer}")
        assert verdict(*claims) is not Verdict.KEEP, claims


@pytest.mark.parametrize("name", "export report search build run stop plan cook".split())
def test_correction_of_a_service_with_the_name_of_a_verb_is_proved(name: str) -> None:
    assert verdict(f"The {name} service uses Go", f"The {name} service now uses Rust") == "retire"


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("The service uses Go", "The now service uses Rust"),
        ("The rota starts at 9", "The on call rota starts at 10"),
        ("The service uses Go", "The no longer service uses Go"),
        ("The service uses Go", "The user service no longer uses Go"),
        ("The surgery's team has a canoe", "The surgeon's team sold the canoe"),
        ("The run report service deploys to Lyon", "The run export service now deploys to Lille"),
        ("The import, run and build tools use Go", "The import, run and test tools now use Go"),
        ("Call timeout: 5 seconds", "Transfer timeout: now 9 seconds"),
        ("The node of Kim costs 5 euros", "The page of Kim costs 7 euros"),
        ("The mail service uses Redis", "The service moved from Redis to Kafka"),
        ("Ana lives in Porto", "Export moved to Braga"),
        ("Ana lives in Porto", "Design moved to Braga"),
        ("管理服务使用Go", "支持服务现在使用Go"),
        ("订单管理服务部署到法兰克福", "订单支持服务现在部署到法兰克福"),
        ("書くサービスはGoを使っている", "読むサービスは現在Goを使っている"),
        ("El servicio compra usa Go", "El servicio venta ahora usa Go"),
        ("Le service commande utilise Go", "Le service vente utilise maintenant Go"),
        ("Der Waren Dienst nutzt Go", "Der Kauf Dienst nutzt jetzt Go"),
    ],
)
@pytest.mark.parametrize("subject", ["infra", "", "service", "Ana"])
def test_other_holder_is_not_retired(older: str, newer: str, subject: str) -> None:
    assert verdict(older, newer, subject) is not Verdict.RETIRE


SAYS = Slots("infra", "language", "Go", "one"), Slots("infra", "language", "Rust", "one")


@pytest.mark.parametrize("name", WORDS)
def test_slots_whose_holder_no_text_names_prove_nothing(name: str) -> None:
    old = Claim("The payments service uses Go", "infra", SAYS[0])
    new = Claim(f"The {name} service now uses Rust", "infra", SAYS[1])
    assert judge(old, new).verdict is not Verdict.RETIRE


@given(st.sampled_from(LANGUAGES), st.data())
def test_any_two_names_are_two_holders(language: str, data: st.DataObject) -> None:
    known = names(language)
    one, other = data.draw(st.sampled_from(known)), data.draw(st.sampled_from(known))
    pair = data.draw(st.sampled_from([*others(language, one, other)]))
    if one[:4].lower() != other[:4].lower():
        assert verdict(*pair) is not Verdict.RETIRE
