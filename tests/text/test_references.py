"""Ids as a query, and queries with numbers that are none."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memstore.text.references import NONE, References, references

UUID = "01a222e4-ec10-7b79-99ad-f85c40da98af"


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("#7", References(facts=(7,))),
        (" #7. ", References(facts=(7,))),
        ("(#7)", References(facts=(7,))),
        ("\uff03\uff17", References(facts=(7,))),
        ("7", References(facts=(7,), turns=(7,))),
        ("e12", References(turns=(12,))),
        ("E12", References(turns=(12,))),
        ("e#12", References(turns=(12,))),
        ("fact 7", References(facts=(7,))),
        ("Fact #7", References(facts=(7,))),
        ("Fakt 7", References(facts=(7,))),
        ("факт 7", References(facts=(7,))),
        ("turn 12", References(turns=(12,))),
        ("episode #12", References(turns=(12,))),
        ("#7 and #9", References(facts=(7, 9))),
        ("#9,#7, #9", References(facts=(9, 7))),
        ("facts 7 and 9", References(facts=(7, 9))),
        ("#7 und e3", References(facts=(7,), turns=(3,))),
        ("what does fact 7 say?", References(facts=(7,))),
        ("show me #7", References(facts=(7,))),
        (UUID, References(uuids=(UUID,))),
        (UUID.upper(), References(uuids=(UUID,))),
        (f"{UUID} #7", References(facts=(7,), uuids=(UUID,))),
    ],
)
def test_ids_that_a_query_consists_of(query: str, expected: References) -> None:
    assert references(query) == expected


@pytest.mark.parametrize(
    "query",
    [
        "",
        "fact",
        "port 5432",
        "PR #7",
        "is issue #7 fixed",
        "7.5",
        "-7",
        "7:30",
        "1,234",
        "v7",
        "f7",
        "deadbeef",
        "7 days",
        "top 10 books",
        "#seven",
        "#",
        f"#{2**63}",
        "e12 engine",
        "12/24",
        " ".join(map(str, range(60))),
        "7 " * 5000,
        UUID[:-1],
    ],
)
def test_other_queries_name_no_row(query: str) -> None:
    assert not any(references(query))


@given(st.text(max_size=60))
def test_any_text_is_read(query: str) -> None:
    found = references(query)
    assert all(0 <= number < 2**63 for number in (*found.facts, *found.turns))
    assert found == NONE or any(map(str.isdigit, query))
