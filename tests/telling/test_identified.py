"""Identifiers: a ticket's number or a path brings what was said of it, and what followed."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import memstore
from memstore.telling.identified import REPORTS

Open = Callable[..., memstore.Store]

CAUSE = "The cookie had no SameSite attribute."
TICKETS = [
    ("SHOP-1042: people lose their coupon.", "I reproduce it with two tabs first.", CAUSE),
    (
        "SHOP-1077: totals are a cent too low.",
        "Looking at the tax module.",
        "The rate was a float.",
    ),
    ("SHOP-1103: the button can be pressed twice.", "Reading the handler.", "It had no key."),
]


@pytest.fixture
def store(open_store: Open) -> memstore.Store:
    store = open_store()
    for place, (problem, *answers) in enumerate(TICKETS):
        store.episodes.add_many(
            {
                "content": text,
                "source": "host",
                "thread": f"t{place}",
                "speaker": "assistant" if number else "user",
                "valid_at": f"2024-03-0{place + 1}",
            }
            for number, text in enumerate([problem, *answers])
        )
    for text in ("The shop is hosted in Oslo", "The shop is released on Tuesday"):
        store.add(text, subject="shop")
    return store


def test_what_followed_a_ticket_answers_for_it(store: memstore.Store) -> None:
    question = "SHOP-1042: what was the cause?"
    assert CAUSE in store.remind(question).text
    assert CAUSE in store.recall(question, max_tokens=120).text
    found = store.turns_for(question, store.search(question), limit=3)
    assert CAUSE in [hit.episode.content for hit in found]


def test_other_tickets_come_after_the_one_that_is_named(store: memstore.Store) -> None:
    told = store.recall("what was behind shop-1077?", max_tokens=500)
    assert {*told.episodes[:3]} == {4, 5, 6}
    assert told.facts == () or told.text.index("#") > 0
    turns = store.turns_for("what was behind shop-1077?", limit=3)
    assert {hit.episode.id for hit in turns} == {4, 5, 6}
    assert [hit.score for hit in turns] == sorted((hit.score for hit in turns), reverse=True)


def test_a_number_that_begins_alike_is_another_one(store: memstore.Store) -> None:
    store.episodes.add("SHOP-10421: the mail is in Dutch.", source="host", thread="t9", seq=1)
    told = store.recall("what was behind SHOP-1042?", max_tokens=500)
    assert told.episodes[0] in (1, 2, 3)


def test_no_turn_of_another_time_is_added(store: memstore.Store) -> None:
    ticket, answer = "SHOP-2000: the mail is late.", "Postage was printed twice."
    for day, text in (("01", ticket), ("20", answer)):
        store.episodes.add(text, source="host", thread="late", valid_at=f"2024-05-{day}")
    question = "what was behind SHOP-2000?"
    assert answer in store.recall(question, max_tokens=500).text
    told = store.recall(question, max_tokens=500, valid_before="2024-05-10")
    assert (ticket in told.text, answer in told.text) == (True, False)
    past = store.as_of(f"episode:{len(TICKETS) * 3 + 2}").recall(question, max_tokens=500)
    assert (ticket in past.text, answer in past.text) == (True, False)


REPORT = "VAN-101: fuel use is far too high since the new boxes."
FOUND_OUT = "The boxes report gallons of fuel and we read litres."


def scores(store: memstore.Store, question: str) -> dict[str, float]:
    """Return the scores of the turns for a question, by their texts."""
    return {hit.episode.content: hit.score for hit in store.turns_for(question, limit=50)}


@pytest.mark.parametrize(
    ("text", "is_report"),
    [
        ("SHOP-1042: people lose their coupon", True),
        ("[BK-31] the sum differs", True),
        ("look at this\nVAN-101 fuel use is too high", True),
        ("can you look into #231: the login loops", True),
        ("files are stored as UTF-8", False),
        ("numbers look like RE-2026-00017: twelve characters", False),
        ("the ratio is 16-9", False),
        ("UTF-8 breaks the import", False),
        ("COVID-19: masks", False),
        ("GPT-4: too slow", False),
        ("port-80: closed", False),
        ("Step-1: unpack it", False),
        ("#1 priority is lunch", False),
        ("#12 the login loops", True),
    ],
)
def test_a_report_begins_with_a_number_or_a_colon_follows_it(text: str, is_report: bool) -> None:
    assert bool(REPORTS.search(text)) == is_report


@pytest.fixture
def vans(open_store: Open) -> memstore.Store:
    """Return a store with two reports in like words; one has a ticket's number."""
    store = open_store()
    for thread, report in (("a", REPORT), ("b", REPORT.removeprefix("VAN-101: "))):
        turns = [
            ("user", report),
            ("assistant", f"Comparing with the receipts. ({thread})"),
            ("assistant", f"{FOUND_OUT} ({thread})"),
            ("user", f"Is the car park full? ({thread})"),
            ("assistant", f"It has a gate. ({thread})"),
        ]
        store.episodes.add_many(
            {"content": text, "source": "host", "thread": thread, "speaker": speaker}
            for speaker, text in turns
        )
    for number in range(30):
        store.episodes.add(f"Shelf {number} is painted.", source="host", thread=f"c{number}")
    return store


def test_what_came_of_a_ticket_is_found_without_its_number(vans: memstore.Store) -> None:
    question = "Why was fuel use overstated?"
    found = scores(vans, question)
    cause = f"{FOUND_OUT} (a)"
    assert found["Comparing with the receipts. (a)"] == pytest.approx(0.9 * found[REPORT])
    assert found[cause] >= 0.9 * found[REPORT]
    assert cause in vans.remind(question).text
    assert cause in vans.recall(question, max_tokens=150).text
    # What is said of something else later has nothing of it, and neither have other turns.
    assert found.get("It has a gate. (a)", 0.0) < 0.5 * found[REPORT]
    assert found.get("Comparing with the receipts. (b)", 0.0) < 0.85 * found[REPORT]


def test_what_came_of_a_ticket_is_found_where_nobody_is_named(open_store: Open) -> None:
    """As after a turn with the number, the first turn may be of the same speaker, the next not."""
    store = open_store()
    for thread, speaker in (("a", None), ("b", "user")):
        for text in (REPORT, f"{FOUND_OUT} ({thread})", f"The gate is open. ({thread})"):
            store.episodes.add(text, source="host", thread=thread, speaker=speaker)
    for number in range(30):
        store.episodes.add(f"Shelf {number} is painted.", source="host", thread=f"c{number}")
    found = scores(store, "Why was fuel use too high?")
    for thread in ("a", "b"):
        assert found[f"{FOUND_OUT} ({thread})"] >= 0.9 * found[REPORT]
        assert found.get(f"The gate is open. ({thread})", 0.0) < 0.85 * found[REPORT]


def test_a_ticket_far_behind_the_best_adds_nothing(vans: memstore.Store) -> None:
    vans.episodes.add("Shelves are overstated.", source="host", thread="d")
    found = scores(vans, "Which shelves are overstated?")
    assert found.get(f"{FOUND_OUT} (a)", 0.0) == pytest.approx(
        found.get(f"{FOUND_OUT} (b)", 0.0), abs=0.05
    )


def test_an_unknown_ticket_changes_nothing(store: memstore.Store) -> None:
    found = store.recall("SHOP-9999: where is the shop hosted?", max_tokens=500)
    assert found.facts[0] == 1


def test_why_not_sees_the_same_order(store: memstore.Store) -> None:
    question, budget = "what did the shop say of SHOP-1042?", 60
    told = store.recall(question, max_tokens=budget, touch=False)
    for fact in (1, 2):
        outcome = store.why_not(question, fact, max_tokens=budget)
        assert (outcome.stage == "found") == (fact in told.facts)
