"""Age: it orders what matches equally well, and never hides an answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta

import pytest
from tests.support import ageing

import memstore
from memstore import Store
from memstore.providers.local import LocalEmbedder

DAY = 86_400.0


@pytest.fixture
def local(open_store: Callable[..., Store]) -> Store:
    return open_store(embedder=LocalEmbedder())


def days_ago(days: float) -> datetime:
    return datetime.now(UTC) - timedelta(days=days)


@pytest.mark.model
@pytest.mark.parametrize("embedder", ["local", None])
@pytest.mark.parametrize("age", ageing.AGES_DAYS)
def test_answers_are_among_the_first_three_at_every_age(
    open_store: Callable[..., Store], age: str, embedder: str | None
) -> None:
    store = open_store(embedder=embedder and LocalEmbedder())
    ageing.fill(store, ageing.AGES_DAYS[age])
    found = ageing.places(store)
    assert ageing.within(found, 3) == len(found), found
    assert ageing.within(found, 1) >= 9


def test_a_score_changes_little_with_age(local: Store) -> None:
    local.add("tea in the harbour", subject="Ana", created_at=days_ago(3650))
    [aged] = local.search("tea")
    [unaged] = local.search("tea", half_lives_seconds={})
    assert aged.decay < 1e-30
    assert aged.parts.age == pytest.approx(-0.005)
    assert unaged.score - aged.score == pytest.approx(0.005)
    assert unaged.parts._replace(age=aged.parts.age, decay=aged.decay) == aged.parts


def test_old_answer_is_before_new_text_that_matches_less(local: Store) -> None:
    answer = local.add("The ferry to Oslo leaves at noon", subject="note",
                       created_at=days_ago(3000))  # fmt: skip
    local.add("The bus to Oslo was full", subject="note")
    assert local.search("When does the ferry to Oslo leave?")[0].fact.id == answer.id


@pytest.mark.parametrize("category", ["note", "preference"])
def test_of_equal_matches_the_last_confirmed_is_first(local: Store, category: str) -> None:
    old, new = (
        local.add("tea in the harbour", subject="Ana", category=category,
                  created_at=days_ago(days))
        for days in (400, 200)
    )  # fmt: skip
    assert [hit.fact.id for hit in local.search("tea")] == [new.id, old.id]
    local.confirm(old.id)
    first, second = local.search("tea")
    assert (first.fact.id, second.fact.id) == (old.id, new.id)
    assert first.decay == pytest.approx(1)
    assert first.score >= second.score


def test_confirmation_does_not_count_in_the_classic_ranking(local: Store) -> None:
    fact = local.add("tea", subject="Ana", created_at=days_ago(30))
    local.confirm(fact.id)
    [hit] = local.search("tea", ranking="classic")
    assert hit.decay == pytest.approx(0.5, rel=1e-3)
    assert hit.score == pytest.approx((0.6 * hit.word_score + 0.4 * hit.vector_score) * hit.decay)
    *parts, _ = hit.parts
    assert sum(parts) == pytest.approx(hit.score)


@pytest.mark.parametrize("ranking", memstore.domain.results.RANKINGS)
@pytest.mark.parametrize(
    ("table", "note", "project"),
    [
        (None, 0.5, 1.0),
        ({}, 1.0, 1.0),
        ({"note": 0}, 1.0, 1.0),
        ({"note": float("inf")}, 1.0, 1.0),
        ({"project": 10 * DAY}, 1.0, 0.125),
    ],
)
def test_only_categories_of_the_table_age(
    local: Store, ranking: str, table: Mapping[str, float] | None, note: float, project: float
) -> None:
    for category in ("note", "project"):
        local.add("tea", subject=category, category=category, created_at=days_ago(30))
    hits = local.search("tea", half_lives_seconds=table, ranking=ranking)
    decays = {hit.fact.category: hit.decay for hit in hits}
    assert decays == pytest.approx({"note": note, "project": project}, rel=1e-3)
    assert all((hit.parts.age == 0) == (hit.decay == 1) for hit in hits)


def test_a_store_has_half_lives_of_its_own(open_store: Callable[..., Store]) -> None:
    store = open_store(half_lives_seconds={})
    store.add("tea", subject="Ana", created_at=days_ago(300))
    for answer in (store.search("tea"), *store.search_batch(["tea", "tea?"])):
        assert answer[0].decay == 1
    assert store.search("tea", half_lives_seconds={"note": 300 * DAY})[0].decay < 0.6
    assert "tea" in store.recall("tea", max_tokens=100).text
    with pytest.raises(memstore.InvalidArgument, match="half_lives_seconds of 'note' must be"):
        open_store(half_lives_seconds={"note": -1})


def test_recall_takes_half_lives(local: Store) -> None:
    # One text about two subjects, which scores the same: the one valid last is first, unless the
    # other was stored later.
    then, now = days_ago(400), days_ago(0)
    local.add("tea in the harbour", subject="tea", created_at=then, valid_at=now)
    local.add("tea in the harbour", subject="harbour", created_at=now, valid_at=then)

    def told(table: Mapping[str, float] | None) -> tuple[int, ...]:
        asked = {"half_lives_seconds": table, "min_relevance": 0}
        return local.recall("drinks by the sea", max_tokens=200, **asked).facts  # type: ignore[arg-type]

    assert (told({}), told(None)) == ((1,), (2,)), "the same line is shown once"
    with pytest.raises(memstore.InvalidArgument, match="half_lives_seconds"):
        told({"note": -1})


def test_episodes_do_not_age(local: Store) -> None:
    local.episodes.add("tea in the harbour", source="s", valid_at=days_ago(3000))
    [hit] = local.episodes.search("tea")
    assert (hit.parts.age, hit.parts.decay) == (0, 1)
