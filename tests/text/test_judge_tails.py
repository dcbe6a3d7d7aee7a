"""A claim whose second clause goes on: what ends is seen, and no case is taken for an ending."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from memstore.text.judging.judge import Claim, Verdict, judge


def verdict(older: str, newer: str, subject: str = "shop") -> Verdict:
    return judge(Claim(older, subject), Claim(newer, subject)).verdict


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("Carts are cached in Redis.", "Carts are no longer cached in Redis, Valkey does that."),
        ("Rosa is the owner of Boreas.", "Rosa is no longer the owner of Boreas, Emil is."),
        ("The worker runs in Azure.", "The worker no longer runs in Azure but at Exoscale."),
        ("Rosa leitet Boreas.", "Rosa leitet Boreas nicht mehr, das macht Emil."),
        ("Rosa est la cheffe de Boreas.", "Rosa n'est plus la cheffe de Boreas, c'est Emil."),
    ],
)
def test_ending_with_another_clause_behind_it_is_asked_about(older: str, newer: str) -> None:
    assert verdict(older, newer) is Verdict.ASK


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        # The case stands in the clause that ends.
        (
            "Carts are cached in Redis.",
            "Carts are no longer cached in Redis on the edge nodes, Valkey does that there.",
        ),
        ("Rosa leads Boreas.", "Rosa no longer leads Boreas on Fridays, Emil does."),
        ("Rosa leads Boreas.", "Rosa might no longer lead Boreas, Emil says."),
        # What one may have several of.
        ("User has a passport of Malta.", "User has a passport of Chile."),
        ("User's favourite painters include Klee.", "User's favourite painters include Goya."),
        # Two numbers of another thing, or of another time.
        ("Hall 3 opens from 8 to 18.", "Hall 4 opens from 9 to 20."),
        ("Rosa swam 20 lengths in 15 minutes.", "Rosa swam 30 lengths in 21 minutes."),
    ],
)
def test_case_collection_and_other_thing_are_kept(older: str, newer: str) -> None:
    assert verdict(older, newer, "user" if "User" in older else "shop") is Verdict.KEEP


def test_one_of_several_ports_is_asked_about() -> None:
    older, newer = "The server listens on port 8080.", "The server listens on port 9090."
    assert verdict(older, newer, "server") is Verdict.ASK


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("Die Jobs laufen über RabbitMQ.", "Die Jobs laufen seit heute über NATS."),
        ("Las tareas pasan por RabbitMQ.", "Desde hoy las tareas pasan por NATS."),
    ],
)
def test_since_today_is_no_time_that_passes(older: str, newer: str) -> None:
    assert verdict(older, newer) is not Verdict.KEEP


PAIRS = [
    json.loads(line)
    for line in (Path(__file__).parents[2] / "benches" / "judge" / "told" / "tails.jsonl")
    .read_text(encoding="utf-8")
    .splitlines()
]
"""Tails, and what one may have several of, in seven languages; written before the rules."""


@pytest.mark.parametrize("pair", [one for one in PAIRS if one["hostile"]], ids=lambda p: p["newer"])
def test_what_both_may_hold_is_never_retired(pair: dict[str, Any]) -> None:
    assert verdict(pair["older"], pair["newer"], pair["subject"]) is not Verdict.RETIRE


def test_most_changes_with_a_tail_are_seen() -> None:
    changes = [one for one in PAIRS if not one["hostile"]]
    seen = sum(
        verdict(one["older"], one["newer"], one["subject"]) is not Verdict.KEEP for one in changes
    )
    assert seen >= 24, f"{seen} of {len(changes)}"


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("The vans' tyres are from Vergölst.", "The vans are repaired at Garage Lenz."),
        ("Payroll is done in Sage.", "Invoices are archived in S3 Glacier."),
    ],
)
def test_a_repair_or_an_archive_of_another_thing_is_no_question(older: str, newer: str) -> None:
    assert verdict(older, newer, "fleet" if "vans" in older else "books") is Verdict.KEEP
