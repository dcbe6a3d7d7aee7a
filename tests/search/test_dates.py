"""The dates that a query names, and finding rows from them."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

import pytest
from tests.support.clock import ManualClock

import memstore
from memstore import NewEpisode, NewFact, Store
from memstore.domain import clock
from memstore.search.lookups import dates

NOW = datetime(2026, 11, 22, tzinfo=UTC)


def days(query: str) -> list[tuple[str, str]]:
    """Return the first and the last moment of each period."""
    found = dates.read(query, NOW).periods
    return [(f"{one.after:%Y-%m-%d %H:%M}", f"{one.before:%Y-%m-%d %H:%M}") for one in found]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("What happened on 2 July 2023?", [("2023-07-01 23:59", "2023-07-03 00:00")]),
        ("in December 2022", [("2022-11-30 23:59", "2023-01-01 00:00")]),
        ("in 2022", [("2021-12-31 23:59", "2023-01-01 00:00")]),
        ("in November", [("2026-10-31 23:59", "2026-12-01 00:00")]),
        ("in December", [("2025-11-30 23:59", "2026-01-01 00:00")]),
        ("on 3 May", [("2026-05-02 23:59", "2026-05-04 00:00")]),
        ("on 31 June 2023", []),
        ("What happened?", []),
    ],
)
def test_dates_in_a_query_are_parsed(query: str, expected: list[tuple[str, str]]) -> None:
    assert days(query) == expected


def test_an_ambiguous_date_matches_both_readings() -> None:
    assert ("2023-05-07 23:59", "2023-05-09 00:00") in days("What did we do on 5/8/2023?")
    assert ("2023-08-04 23:59", "2023-08-06 00:00") in days("What did we do on 5/8/2023?")


@pytest.fixture
def many(open_store: Callable[..., Store]) -> Store:
    """Rows of some days, and many others that match the query better."""
    store = open_store(embedder=memstore.LocalEmbedder())
    said = [
        (f"what happened was that day {number} happened", "2021-01-01") for number in range(150)
    ]
    said += [("Oscar came to us", "2023-07-02"), ("the boiler was mended", "2023-07-19")]
    store.add_many(NewFact(content=text, subject="home", valid_at=at) for text, at in said)
    store.episodes.add_many(
        NewEpisode(content=text, source="chat", valid_at=at) for text, at in said
    )
    store.file.embed_pending()
    return store


def test_rows_matching_only_the_date_are_found(many: Store) -> None:
    assert many.search("What happened on 2 July 2023?")[0].fact.content == "Oscar came to us"
    in_july = [hit.fact.content for hit in many.search("What happened in July 2023?", limit=2)]
    assert sorted(in_july) == ["Oscar came to us", "the boiler was mended"]
    assert many.episodes.search("What happened on 2 July 2023?")[0].episode.content == (
        "Oscar came to us"
    )


def test_a_query_with_more_than_a_date_gets_few_rows_by_date(many: Store) -> None:
    days = [
        NewFact(content=f"{n} o'clock", subject="home", valid_at="2023-07-02") for n in range(9)
    ]
    many.add_many(days)
    many.file.embed_pending()

    def dated(query: str) -> int:
        hits = many.search(query, limit=10)
        return sum(hit.fact.valid_at == datetime(2023, 7, 2, tzinfo=UTC) for hit in hits)

    assert dated("What happened on 2 July 2023?") == 10
    assert dated("Which day was number 77 of all those days, 2 July 2023?") == 3


def test_the_best_of_many_rows_of_a_date_are_found(many: Store) -> None:
    assert many.search("Which day was number 77 in 2021?")[0].fact.content.count("77") == 1


def test_date_matches_respect_filters(many: Store) -> None:
    hidden = many.search(
        "What happened on 2 July 2023?", valid_before=datetime(2023, 1, 1, tzinfo=UTC)
    )
    assert all(hit.fact.valid_at and hit.fact.valid_at.year == 2021 for hit in hidden)
    with memstore.open(many.path, namespace="other") as other:
        assert not other.search("What happened on 2 July 2023?")


def test_month_without_a_year_means_the_most_recent(many: Store) -> None:
    with clock.use(ManualClock(datetime(2024, 3, 1, tzinfo=UTC))):
        found = many.search("What happened in July?", limit=2)
    assert {hit.fact.content for hit in found} == {"Oscar came to us", "the boiler was mended"}
