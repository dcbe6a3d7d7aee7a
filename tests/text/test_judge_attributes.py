"""Slots whose attribute is the extractor's own word: it may be coarse, so all else must agree."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from memstore.text.judging.judge import Claim, Judgement, Rule, Slots, Verdict, judge

if TYPE_CHECKING:
    from typing import Literal


def judged(
    older: tuple[str, str],
    newer: tuple[str, str],
    attribute: str,
    cardinality: Literal["one", "many"] = "one",
) -> Judgement:
    """Judge two claims with their values, of one attribute of one holder."""
    old, new = (
        Claim(text, "shop", Slots("shop", attribute, value, cardinality))
        for text, value in (older, newer)
    )
    return judge(old, new)


@pytest.mark.parametrize(
    ("attribute", "older", "newer"),
    [
        (
            "hosting",
            ("The status page is hosted on Render.", "Render"),
            ("The status page is hosted on Railway.", "Railway"),
        ),
        (
            "queue",
            ("The shop hands its orders to SQS.", "SQS"),
            ("The shop hands its orders to Kafka now.", "Kafka"),
        ),
        (
            "retention",
            ("Access logs are kept for 21 days.", "21 days"),
            ("Access logs are kept for 7 days.", "7 days"),
        ),
        (
            "slot",
            ("The retro is on Mondays at 9.", "Mondays at 9"),
            ("The retro is on Thursdays at 15:30.", "Thursdays at 15:30"),
        ),
        (
            "Hosting",
            ("Der Laden wird bei Render gehostet.", "Render"),
            ("Der Laden wird bei Railway gehostet.", "Railway"),
        ),
        (
            "キュー",
            ("店のジョブキューはRabbitMQだ。", "RabbitMQ"),
            ("店のジョブキューは今はNATSだ。", "NATS"),
        ),
    ],
)
def test_attribute_that_no_text_names_proves_a_change_of_its_value_alone(
    attribute: str, older: tuple[str, str], newer: tuple[str, str]
) -> None:
    assert judge(Claim(older[0], "shop"), Claim(newer[0], "shop")).verdict is Verdict.ASK
    found = judged(older, newer, attribute)
    assert (found.verdict, found.rule) == (Verdict.RETIRE, Rule.SAME_SLOT)


@pytest.mark.parametrize(
    ("attribute", "older", "newer"),
    [
        (
            "deadline",
            ("The draft is due on 3 May.", "3 May"),
            ("The index is due on 9 June.", "9 June"),
        ),
        (
            "retention",
            ("Access logs are kept for 21 days on disk.", "21 days"),
            ("Access logs are kept for 90 days in the vault.", "90 days"),
        ),
        (
            "retention",
            ("The shop keeps its carts for 21 days.", "21 days"),
            ("The shop keeps its invoices for 90 days now.", "90 days"),
        ),
        (
            "database",
            ("The shop stores its carts in Redis.", "Redis"),
            ("The shop stores its invoices in Oracle now.", "Oracle"),
        ),
        (
            "queue",
            ("The shop hands its orders to SQS.", "SQS"),
            ("The shop hands its mails to Kafka from today.", "Kafka"),
        ),
        (
            "budget",
            ("The shop spends 900 euros on servers.", "900 euros"),
            ("The shop spends 400 euros on adverts.", "400 euros"),
        ),
        (
            "budget",
            ("The shop spends 900 euros on servers.", "900 euros"),
            ("The shop spent 400 euros on servers in May.", "400 euros"),
        ),
        (
            "login",
            ("Customers sign in with passkeys.", "passkeys"),
            ("Drivers sign in with Keycloak now.", "Keycloak"),
        ),
        (
            "limit",
            ("An upload may have 5 MB.", "5 MB"),
            ("An upload of a partner may have 50 MB.", "50 MB"),
        ),
        (
            "format",
            ("The shop exports its orders as CSV.", "CSV"),
            ("The shop exports its labels as PDF now.", "PDF"),
        ),
        (
            "Budget",
            ("Das Serverbudget ist 900 Euro.", "900 Euro"),
            ("Das Werbebudget ist 400 Euro.", "400 Euro"),
        ),
        (
            "base",
            ("La tienda guarda pedidos en Redis.", "Redis"),
            ("La tienda guarda facturas en Oracle ahora.", "Oracle"),
        ),
        (
            "预算",
            ("商店的服务器预算是900欧元。", "900欧元"),
            ("商店的广告预算是400欧元。", "400欧元"),
        ),
    ],
)  # fmt: skip
def test_coarse_attribute_retires_nothing_if_more_than_the_value_differs(
    attribute: str, older: tuple[str, str], newer: tuple[str, str]
) -> None:
    assert judged(older, newer, attribute).verdict is not Verdict.RETIRE


@pytest.mark.parametrize(
    ("attribute", "older", "newer"),
    [
        (
            "deadline",
            ("The draft is due on 3 May.", "3 May"),
            ("The index is due on 9 June.", "9 June"),
        ),
        (
            "queue",
            ("The order queue of the shop is SQS.", "SQS"),
            ("The mail queue of the shop is Kafka.", "Kafka"),
        ),
        (
            "retention",
            ("Access logs are kept for 21 days on disk.", "21 days"),
            ("Access logs are kept for 90 days in the vault.", "90 days"),
        ),
    ],
)
def test_coarse_attribute_asks_nothing_where_another_thing_has_the_value(
    attribute: str, older: tuple[str, str], newer: tuple[str, str]
) -> None:
    assert judged(older, newer, attribute).verdict is Verdict.KEEP


@pytest.mark.parametrize(
    ("attribute", "older", "newer"),
    [
        (
            "retries",
            ("The worker retries four times.", "four times"),
            ("The worker retries six times with a growing pause.", "six times"),
        ),
        (
            "slot",
            ("The retro is on Mondays at 9.", "Mondays at 9"),
            ("The retro is on Thursdays at 15:30 in the attic.", "Thursdays at 15:30"),
        ),
    ],
)
def test_tail_and_several_values_are_asked_about(
    attribute: str, older: tuple[str, str], newer: tuple[str, str]
) -> None:
    assert judged(older, newer, attribute).verdict is Verdict.ASK


def test_other_words_for_an_attribute_withdraw_no_question() -> None:
    """Two extractions may name one thing twice: the words of the claims decide."""
    old = Claim("Carts are kept in Redis.", "shop", Slots("shop", "cart store", "Redis", "one"))
    new = Claim("Carts are kept in Valkey.", "shop", Slots("shop", "engine", "Valkey", "one"))
    assert judge(old, new).verdict is Verdict.ASK
    assert judge(old, Claim(new.text, "shop")).verdict is Verdict.ASK


def test_attribute_of_several_values_withdraws_a_question() -> None:
    older, newer = ("The shop ships to Malta.", "Malta"), ("The shop ships to Cyprus.", "Cyprus")
    assert judged(older, newer, "country", "many").verdict is Verdict.KEEP
