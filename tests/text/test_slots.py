"""Slots: what a model named in a claim is kept only where the text says it, but the attribute."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from memstore.errors import InvalidArgument, InvalidArgumentType
from memstore.text.judging.compared import Slots
from memstore.text.judging.slots import began, checked, ends, found, slots_of, told_at

HOME = "Ana has lived in Lisbon since 2026-05"


@pytest.mark.parametrize(
    ("content", "subject", "given", "kept"),
    [
        (HOME, "ana", {"holder": "Ana"}, {"holder": "Ana"}),
        (HOME, "ana", {"holder": "Ben"}, {}),
        ("lives in Rome", "ana reed", {"holder": "Ana Reed"}, {"holder": "Ana Reed"}),
        (HOME, "ana", {"attribute": "home"}, {"attribute": "home"}),
        (HOME, "ana", {"attribute": "Home"}, {"attribute": "home"}),
        (HOME, "ana", {"attribute": "lived"}, {"attribute": "lived"}),
        (HOME, "ana", {"attribute": "domicile"}, {"attribute": "domicile"}),
        ("店のキューはNATSだ", "店", {"value": "NATS"}, {"value": "NATS"}),
        ("店のキューはNATS2だ", "店", {"value": "NATS"}, {}),
        ("its log level is 3", "x", {"attribute": "log level"}, {"attribute": "log level"}),
        (HOME, "ana", {"value": "lisbon"}, {"value": "lisbon"}),
        (HOME, "ana", {"value": "Lis"}, {}),
        ("a category", "x", {"value": "cat"}, {}),
        ("C++ is used", "x", {"value": "C++"}, {"value": "C++"}),
        ("田中さんは緑茶が好き", "田中", {"holder": "田中さん"}, {"holder": "田中さん"}),
        ("田中さんは緑茶が好き", "田中", {"value": "緑茶"}, {"value": "緑茶"}),
        (HOME, "ana", {"cardinality": "one"}, {}),
        (
            HOME,
            "ana",
            {"attribute": "home", "value": "Lisbon", "cardinality": "one"},
            {"attribute": "home", "value": "Lisbon", "cardinality": "one"},
        ),
        (
            HOME,
            "ana",
            {"attribute": "home", "value": "Lisbon", "cardinality": "two"},
            {"attribute": "home", "value": "Lisbon"},
        ),
        (HOME, "ana", {"holds_from": "2026-05"}, {"holds_from": "2026-05"}),
        (HOME, "ana", {"holds_from": "2026"}, {"holds_from": "2026"}),
        (HOME, "ana", {"holds_until": "2027"}, {}),
        (HOME, "ana", {"holder": None, "value": 5, "attribute": [], "holds_from": ""}, {}),
        (HOME, "ana", {"value": "x" * 5000, "holder": " ", "said_at": "2026-05"}, {}),
    ],
)  # fmt: skip
def test_slot_other_than_the_attribute_is_kept_only_if_the_text_says_it(
    content: str, subject: str, given: dict[str, Any], kept: dict[str, str]
) -> None:
    assert found(given, content, subject) == kept


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("2026-05-03", datetime(2026, 5, 3, tzinfo=UTC), datetime(2026, 5, 4, tzinfo=UTC)),
        ("2026-05", datetime(2026, 5, 1, tzinfo=UTC), datetime(2026, 6, 1, tzinfo=UTC)),
        ("2026-12", datetime(2026, 12, 1, tzinfo=UTC), datetime(2027, 1, 1, tzinfo=UTC)),
        ("2026", datetime(2026, 1, 1, tzinfo=UTC), datetime(2027, 1, 1, tzinfo=UTC)),
        ("9999", None, None),
        ("2026-13", None, None),
        ("0000", None, None),
        ("May", None, None),
        ("", None, None),
    ],
)
def test_day_month_and_year_are_read_as_periods(
    text: str, first: datetime | None, last: datetime | None
) -> None:
    assert began({"holds_from": text}) == first
    assert ends({"holds_until": text}) == last


def test_unknown_or_wrong_slots_cannot_be_stored() -> None:
    assert checked({}) is None
    assert checked({"value": "tea"}) == {"value": "tea"}
    for wrong in ({"colour": "red"}, {"value": " "}, {"cardinality": "two"}):
        with pytest.raises(InvalidArgument, match=r"slot|cardinality"):
            checked(wrong)
    for odd in ({"value": 5}, ["value"], "value"):
        with pytest.raises(InvalidArgumentType):
            checked(odd)  # type: ignore[arg-type]


def test_stored_slots_are_given_to_a_judge() -> None:
    assert slots_of(None) is None
    assert slots_of({}) is None
    given = {"holder": "Ana", "value": "tea", "cardinality": "many", "said_at": "2026-01-01"}
    assert slots_of(given) == Slots(holder="Ana", value="tea", cardinality="many")
    assert slots_of({"_raw": "damaged", "value": 5}) == Slots()


def test_fact_was_said_when_it_says_and_not_since_when_it_holds() -> None:
    at = datetime(2026, 5, 3, tzinfo=UTC)
    assert told_at(None, at) == at
    assert told_at({"holds_from": "2020"}, datetime(2020, 1, 1, tzinfo=UTC)) is None
    given = {"holds_from": "2020", "said_at": "2026-05-03T00:00:00Z"}
    assert told_at(given, datetime(2020, 1, 1, tzinfo=UTC)) == at
