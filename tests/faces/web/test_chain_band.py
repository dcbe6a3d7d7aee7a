"""The band of a chain: as wide as each value was held, with the words that changed."""

from __future__ import annotations

import re

import pytest
from tests.support.clock import ManualClock
from tests.support.pages import Pages, text_of

from memstore import Fact, Store
from memstore.faces.web import chain_band


def chain(store: Store, values: list[str], clock: ManualClock, days: list[float]) -> list[Fact]:
    """Store values of a port, each held for so many days."""
    last = None
    for value, held in zip(values, days, strict=True):
        fact = store.add(
            f"The port of staging is {value}",
            subject="staging",
            supersedes=None if last is None else last.id,
        )
        last = fact
        clock.advance(held * 86_400)
    assert last is not None
    return store.history(last.id)


def test_one_value_has_no_band(memory: Store) -> None:
    assert chain_band.of(memory.history(memory.add("It is blue", subject="door").id), 1) is None


def test_values_are_as_wide_as_they_were_held(memory: Store, manual_clock: ManualClock) -> None:
    facts = chain(memory, ["7591", "8560", "7054"], manual_clock, [10, 70, 20])
    band = chain_band.of(facts, facts[1].id)
    assert band is not None
    assert [value.label for value in band.values] == ["7591", "8560", "7054"]
    assert [value.lasted for value in band.values] == ["10 days", "70 days", "20 days"]
    assert [round(value.width) for value in band.values] == [10, 70, 20]
    assert [value.is_here for value in band.values] == [False, True, False]
    assert band.values[-1].until is None


@pytest.mark.parametrize(
    ("seconds", "told"),
    [
        (0, "less than a minute"),
        (60, "1 minute"),
        (7_000, "2 hours"),
        (86_399, "24 hours"),
        (86_400, "1 day"),
    ],
)
def test_a_value_of_today_is_held_for_minutes_or_hours(
    pages: Pages, memory: Store, manual_clock: ManualClock, seconds: int, told: str
) -> None:
    facts = chain(memory, ["7591", "8560"], manual_clock, [3, seconds / 86_400])
    band = chain_band.of(facts, facts[1].id)
    assert band is not None
    assert [value.lasted for value in band.values] == ["3 days", told]
    pages.enter()
    page = text_of(pages.read(f"fact/{facts[1].id}"))
    assert f"the last one for {told}" in page


@pytest.mark.parametrize("number", [2, 20, 200])
def test_the_whole_band_is_100_wide_also_for_values_of_one_moment(
    memory: Store, manual_clock: ManualClock, number: int
) -> None:
    facts = chain(memory, [f"{5000 + n}" for n in range(number)], manual_clock, [0] * number)
    band = chain_band.of(facts, 1)
    assert band is not None
    assert (band.number, len(band.values)) == (number, min(number, chain_band.SHOWN))
    assert band.earlier == max(0, number - chain_band.SHOWN)
    last = band.values[-1]
    assert last.x + last.width <= 100.1
    assert all(value.width >= chain_band.MIN_WIDTH for value in band.values)


def test_the_page_tells_how_often_and_what_it_was(
    pages: Pages, memory: Store, manual_clock: ManualClock
) -> None:
    facts = chain(memory, ["7591", "6084", "8560", "7054"], manual_clock, [9, 9, 9, 9])
    pages.enter()
    page = pages.read(f"fact/{facts[-1].id}")
    told = text_of(page)
    assert "It was something else 3 times" in told
    assert "7591 → 1 other → 8560 → 7054" in told
    assert "All 4 values" in told
    assert len(re.findall("<rect class", page)) == 4
    assert "Replaced by" in text_of(pages.read(f"fact/{facts[0].id}"))


def test_an_erased_value_leaves_its_place_empty(
    pages: Pages, memory: Store, manual_clock: ManualClock
) -> None:
    facts = chain(memory, ["7591", "6084", "8560"], manual_clock, [9, 9, 9])
    memory.erase(facts[1].id)
    pages.enter()
    page = pages.read(f"fact/{facts[-1].id}")
    assert "6084" not in page
    assert "8560" in page
