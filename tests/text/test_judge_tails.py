"""A claim whose second clause goes on: what ends is seen, and no case is taken for an ending."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from memstore.text.judging.judge import Claim, Verdict, judge
from memstore.text.judging.slots import found, slots_of


def verdict(older: str, newer: str, subject: str = "shop") -> Verdict:
    return judge(Claim(older, subject), Claim(newer, subject)).verdict


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        # Who or what comes instead;
        ("Carts are cached in Redis.", "Carts are no longer cached in Redis, Valkey does that."),
        ("Rosa is the owner of Boreas.", "Rosa is no longer the owner of Boreas, Emil is."),
        ("Rosa is the owner of Boreas.", "Rosa is no longer the owner of Boreas; Emil took over."),
        ("The worker runs in Azure.", "The worker no longer runs in Azure but at Exoscale."),
        ("Rosa leitet Boreas.", "Rosa leitet Boreas nicht mehr, das macht Emil."),
        ("Rosa est la cheffe de Boreas.", "Rosa n'est plus la cheffe de Boreas, c'est Emil."),
        ("Rosa es la jefa de Boreas.", "Rosa ya no es la jefa de Boreas, lo es Emil."),
        # what is so no longer, after what is;
        (
            "The shop reports errors to Sentry.",
            "The shop reports errors to Bugsink, no longer to Sentry.",
        ),
        # or why.
        (
            "Uploads are limited to 20 MB.",
            "Uploads are limited to 50 MB now, because of scans.",
        ),
        (
            "Das Portal speichert in MySQL.",
            "Das Portal speichert jetzt in Rook, nach dem Ausfall.",
        ),
    ],
)
def test_tail_that_takes_nothing_back_leaves_a_proof(older: str, newer: str) -> None:
    assert verdict(older, newer) is Verdict.RETIRE


@pytest.mark.parametrize(
    "tail",
    [
        "says Emil", "Emil hopes", "if Emil agrees", "on Fridays Emil is", "Emil is on Fridays",
        "Emil is until May", "as Emil is", "except on Fridays", "but only on paper",
        "but on Fridays", "but for Emil", "but still on Fridays", "his sister is", "in theory",
        "when Emil is there", "Emil is in Berlin", "that is the plan", "nor is Emil", "Emil fears",
        "Emil would be", "Emil is as well", "because it is Friday", "for guests", "in staging",
        "because Emil is ill this week", "because of the tests in staging",
    ],
)  # fmt: skip
def test_tail_that_names_a_case_or_takes_something_back_leaves_none(tail: str) -> None:
    for older, newer in (
        ("Rosa is the owner of Boreas.", "Rosa is no longer the owner of Boreas"),
        ("Uploads are limited to 20 MB.", "Uploads are limited to 50 MB now"),
        ("The worker is hosted on Netlify.", "The worker is hosted on Hetzner now"),
    ):
        assert verdict(older, newer) is Verdict.RETIRE
        assert verdict(older, f"{newer}, {tail}.") is not Verdict.RETIRE


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("Rosa owns a red kayak.", "Rosa owns a blue kayak now."),
        (
            "Rosa's favourite authors include Le Guin.",
            "Rosa's favourite authors now include Borges.",
        ),
        ("The shop delivers to Austria.", "The shop delivers to Denmark now."),
        ("node-3 is part of the cluster.", "node-7 is part of the cluster now."),
        ("Rosa hat einen maltesischen Pass.", "Rosa hat jetzt einen türkischen Pass."),
        ("La boutique livre en Autriche.", "La boutique livre maintenant au Danemark."),
    ],
)
def test_another_one_of_several_is_no_question(older: str, newer: str) -> None:
    assert verdict(older, newer, "Rosa" if "Rosa" in older else "shop") is Verdict.KEEP


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        (
            "The choir rehearses on Mondays at 19:00.",
            "The choir now rehearses on Fridays at 20:00.",
        ),
        ("The pool has 5 to 20 connections.", "The pool has 10 to 50 connections."),
        ("Drafts are kept for 30 days.", "Drafts are kept for 14 days."),
        ("Visits take 20 minutes.", "Visits were stretched to 25 minutes."),
    ],
)
def test_numbers_and_days_of_one_thing_are_replaced(older: str, newer: str) -> None:
    subject = older.split()[0] if older[0] in "DV" else older.split()[1]
    assert verdict(older, newer, subject) is Verdict.RETIRE
    for case in (" in staging", " for guests", " on Sundays", " in most cases", " as a trial"):
        assert verdict(older, newer.rstrip(".") + case + ".", subject) is not Verdict.RETIRE
    assert verdict(older, f"It is not true that {newer}", subject) is not Verdict.RETIRE


@pytest.mark.parametrize(
    "newer",
    ["Drafts are now compressed for 14 days.", "Drafts will be kept for 14 days now."],
)
def test_another_verb_or_a_later_time_proves_nothing(newer: str) -> None:
    assert verdict("Drafts are kept for 30 days.", newer, "drafts") is not Verdict.RETIRE


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
    old, new = (
        Claim(
            pair[side], pair["subject"], slots_of(found(pair[slots], pair[side], pair["subject"]))
        )
        for side, slots in (("older", "slots_old"), ("newer", "slots_new"))
    )
    assert judge(old, new).verdict is not Verdict.RETIRE  # though all slots say "one"


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
