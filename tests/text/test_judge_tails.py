"""A claim whose second clause goes on: what ends is seen, and no case is taken for an ending."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from memstore.text.judging.judge import Claim, Verdict, judge
from memstore.text.judging.judge import verdict as quick_verdict
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
        # what is so no longer, after what is;
        (
            "The shop reports errors to Sentry.",
            "The shop reports errors to Bugsink, no longer to Sentry.",
        ),
        # or why.
        (
            "Uploads are limited to 20 MB.",
            "Uploads are limited to 50 MB now, because of the costs.",
        ),
        (
            "Das Portal speichert in MySQL.",
            "Das Portal speichert jetzt in Rook, nach der Migration.",
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
        "because Emil is ill this week", "because of the tests in staging", "Emil was",
        "that is Gossip", "that is WIP", "is that OK", "this is Nonsense", "that is wrong",
        "that is not true", "because of the strike", "due to illness", "due to the snow",
        "because of a broken build", "because Emil lied", "as agreed once", "is Emil",
        "but with Emil", "but in Italy", "that was a joke", "Emil has that", "each", "then",
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
        # What was, may be, or is liked; what alone is left;
        ("Rosa fuma.", "Rosa ya no fumaba."),
        ("Rosa dirige Boreas.", "Rosa ne dirigeait plus Boreas."),
        ("Rosa wohnt in Bonn.", "Rosa wohnte jetzt in Kiel."),
        ("Rosa raucht.", "Rosa raucht nicht mehr gern."),
        ("Rosa lives in Berlin.", "Rosa can now live in Kiel."),
        ("Rosa isst Fleisch.", "Rosa isst gern Tofu statt Fleisch."),
        ("Rosa boit du vin.", "Rosa ne boit plus que du vin."),
        ("Rosa parle allemand.", "Rosa ne parle plus qu'allemand."),
        # how, not where; what is done to a thing, not a change of its price;
        ("Rosa works in Berlin.", "Rosa now works in peace."),
        ("Rosa lives with Emil.", "Rosa now lives with asthma."),
        ("Rosa vive en Madrid.", "Rosa vive ahora en paz."),
        ("Rosa arbeitet in Bonn.", "Rosa arbeitet jetzt in Teilzeit."),
        ("Rosa wohnt in Bonn.", "Rosa wohnt jetzt in Miete."),
        ("The kit costs 20 euros.", "The kit costs 40 euros painted."),
        ("Das Rad kostet 20 Euro.", "Das Rad kostet 40 Euro lackiert."),
        # another one, or another day;
        ("Rosa is insured against theft.", "Rosa is insured against fire now."),
        ("Rosa is licensed in Ohio.", "Rosa is now licensed in Iowa."),
        ("The kids are taught by Emil.", "The kids are taught by Uwe now."),
        ("The clinic opens Mondays at 8:00.", "The clinic now opens Saturdays at 9:00."),
        # and what passes.
        ("Uploads are limited to 20 MB.", "Uploads are limited to 9 MB now, because of the audit."),
        ("Das Portal speichert in MySQL.", "Das Portal speichert jetzt in Rook, nach dem Ausfall."),
    ],
)
def test_what_may_hold_at_once_is_not_retired(older: str, newer: str) -> None:
    assert verdict(older, newer) is not Verdict.RETIRE


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        # A German noun has a capital letter; behind a pronoun, anything may stand.
        ("Rosa leitet Boreas.", "Rosa leitet Boreas nicht mehr, das macht Emil."),
        ("Rosa leitet Boreas.", "Rosa leitet Boreas nicht mehr, das macht Sinn."),
        ("Rosa leitet Boreas.", "Rosa leitet Boreas nicht mehr, das ist Quatsch."),
        ("Rosa leitet Boreas.", "Rosa leitet Boreas nicht mehr, Mutter macht das."),
        ("Rosa leitet Boreas.", "Rosa leitet Boreas nicht mehr, sondern mit Uwe."),
        ("Rosa dirige Boreas.", "Rosa ne dirige plus Boreas, c'est Faux."),
        ("Rosa dirige Boreas.", "Rosa ya no dirige Boreas, es Mentira."),
        # A case may follow "but" where no place is said before;
        ("Rosa plays chess.", "Rosa no longer plays chess but with Emil."),
        ("Rosa leads Boreas.", "Rosa no longer leads Boreas but in Berlin."),
        ("Rosa swims in Italy.", "Rosa no longer swims in Italy, but in Rome."),
        # reasons pass, and a clause with a verb says any;
        ("Rosa leitet Boreas.", "Rosa leitet Boreas nicht mehr, weil Emil krank ist."),
        ("Rosa leitet Boreas.", "Rosa leitet Boreas nicht mehr, wegen der Grippe."),
        ("Der Laden öffnet um 9 Uhr.", "Der Laden öffnet jetzt um 11 Uhr, wegen Karneval."),
        ("La boutique ouvre à 9h.", "La boutique ouvre maintenant à 11h, à cause des fêtes."),
        ("La tienda abre a las 9.", "La tienda abre ahora a las 11, porque nieva."),
        # and what takes back the claim may follow any proof.
        (
            "Java 17 is the runtime of the shop.",
            "Java 21 is the runtime of the shop now, that is Gossip.",
        ),
        ("The team meets in Bonn.", "The team meets in Kiel instead of Bonn, that is Fiction."),
        ("Rosa reports to Emil.", "Rosa reports sales to Uwe, no longer to Emil."),
    ],
)
def test_tail_that_may_take_it_back_proves_nothing(older: str, newer: str) -> None:
    assert verdict(older, newer, newer.split()[0]) is not Verdict.RETIRE


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("Drafts are kept for 30 days.", "Drafts were kept for 14 days."),
        ("Drafts are kept for 30 days.", "Drafts had been kept for 14 days."),
        ("Drafts are kept for 30 days.", "Drafts are archived for 14 days."),
        ("Drafts are kept for 30 days.", "Drafts are kept for 14 days each."),
        ("Drafts are kept for 30 days.", "Drafts are then kept for 14 days."),
        ("The timeout is 5 seconds.", "The timeout was 9 seconds."),
        ("Entwürfe werden 30 Tage aufbewahrt.", "Entwürfe wurden 14 Tage aufbewahrt."),
        ("The pool has 5 to 20 workers.", "The pool can hold 10 to 50 workers."),
        ("The pool has 5 to 20 workers.", "The pool has 10 to 50 workers each."),
    ],
)
def test_what_was_and_other_words_prove_nothing(older: str, newer: str) -> None:
    subject = "pool" if "pool" in older else "timeout" if "timeout" in older else newer.split()[0]
    assert verdict(older, newer, subject) is not Verdict.RETIRE


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("The course costs 5 euros.", "The course costs this week 3 euros."),
        ("The course costs 5 euros.", "The course costs today 3 euros."),
        ("The course costs 5 euros.", "The course costs for a week 3 euros."),
        ("The pool holds 20 workers.", "The pool holds for now 50 workers."),
        ("Rosa lives in Berlin.", "Rosa now temporarily lives in Kiel."),
        ("Der Kurs kostet 5 Euro.", "Der Kurs kostet diese Woche 3 Euro."),
    ],
)
def test_what_holds_for_a_time_is_kept_and_not_asked(older: str, newer: str) -> None:
    assert verdict(older, newer, newer.split()[1]) is Verdict.KEEP


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("Rosa has a basic plan.", "Rosa has a premium plan now."),
        ("Rosa has a part-time job.", "Rosa has a full-time job now."),
        ("Rosa has a German surname.", "Rosa has a French surname now."),
        ("Rosa plays in the B team.", "Rosa plays in the A team now."),
        ("The app has a Postgres database.", "The app has a MySQL database now."),
        ("node-3 is part of the staging cluster.", "node-3 is part of the production cluster now."),
        ("The shop delivers to Austria.", "The shop only delivers to Denmark now."),
        ("The shop delivers to Austria.", "The shop delivers exclusively to Denmark now."),
        ("Der Laden liefert nach Österreich.", "Der Laden liefert jetzt nur noch nach Dänemark."),
    ],
)
def test_another_plan_job_or_team_is_asked_about(older: str, newer: str) -> None:
    subject = newer.split()[0] if newer[0] in "Rn" else newer.split()[1]
    assert verdict(older, newer, subject) is Verdict.ASK


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
    ],
)
def test_numbers_and_days_of_one_thing_are_replaced(older: str, newer: str) -> None:
    subject = older.split()[0] if older[0] == "D" else older.split()[1]
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


def claims(pair: dict[str, Any]) -> tuple[Claim, Claim]:
    """Return both claims of a pair, with slots that say "one"."""
    subject = pair["subject"]
    old, new = (
        Claim(pair[side], subject, slots_of(found(pair[slots], pair[side], subject)))
        for side, slots in (("older", "slots_old"), ("newer", "slots_new"))
    )
    return old, new


def one_value(text: str, value: str, subject: str, attribute: str) -> Claim:
    slots = found({"attribute": attribute, "value": value, "cardinality": "one"}, text, subject)
    return Claim(text, subject, slots_of(slots))


def test_quick_verdict_is_that_of_the_whole_judgement() -> None:
    older = one_value("The shop delivers to Austria.", "Austria", "shop", "country")
    newer = ("Temporarily the shop delivers to Denmark.", "The shop delivers to Denmark now.")
    pairs = [
        *map(claims, PAIRS),
        *((older, one_value(text, "Denmark", "shop", "country")) for text in newer),
    ]
    for old, new in pairs:
        assert quick_verdict(old, new) is judge(old, new).verdict, new.text


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
    old, new = claims(pair)
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
