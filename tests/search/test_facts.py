"""Searching facts: results, their order, and when changes by others are visible."""

from __future__ import annotations

import inspect
import json
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import apsw
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.clock import ManualClock
from tests.support.embedders import WordEmbedder
from tests.support.engines import copied
from tests.support.examples import examples
from tests.support.raw import sql

import memstore
from memstore import AddFact, MayReplace, NewFact, Store
from memstore.domain import clock

Open = Callable[..., Store]

DAY = 86_400.0
MEANING_ONLY = {"word_weight": 0.0, "vector_weight": 1.0}
WORDS_ONLY = {"word_weight": 1.0, "vector_weight": 0.0}
CLASSIC = {"ranking": "classic"}
WAYS = {"hybrid": {}, "words": WORDS_ONLY, "meaning": MEANING_ONLY}
each_way = pytest.mark.parametrize("weights", WAYS.values(), ids=WAYS)


def ids(hits: Sequence[memstore.SearchHit]) -> list[int]:
    return [hit.fact.id for hit in hits]


def days_ago(days: float) -> datetime:
    return datetime.now(UTC) - timedelta(days=days)


# -- the score -------------------------------------------------------------------------------

VOCABULARY = ["tea", "rain", "paris", "violin", "garden", "pasta"]
texts = st.lists(st.sampled_from(VOCABULARY), min_size=1, max_size=6).map(" ".join)
new_facts = st.lists(
    st.tuples(texts, st.sampled_from(["note", "preference"]), st.floats(0, 400)),
    min_size=1,
    max_size=12,
)
weights = st.floats(0, 5, width=16)


def scores_by_the_formula(
    path: Path,
    embedder: Any,
    query: str,
    word_weight: float,
    vector_weight: float,
    half_lives: Mapping[str, float],
) -> dict[int, float]:
    """The documented formula in plain Python, with the scores of SQLite and the embedder."""
    expression = " OR ".join(f'"{word}"' for word in dict.fromkeys(query.split()))
    bm25 = {
        fact_id: -nearness
        for fact_id, nearness in sql(
            path,
            "SELECT rowid, bm25(memstore_facts_fts) FROM memstore_facts_fts"
            " WHERE memstore_facts_fts MATCH ?",
            expression,
        )
    }
    best = max(bm25.values(), default=1.0)
    asked = embedder.embed([query])[0].astype(np.float64)
    scores = {}
    for fact_id, content, subject, category, created_at in sql(
        path, "SELECT id, content, subject, category, created_at FROM memstore_facts"
    ):
        row = embedder.embed([f"{subject}: {content}"])[0].astype(np.float64)
        cosine = asked @ row / (np.linalg.norm(asked) * np.linalg.norm(row))
        word = bm25.get(fact_id, 0.0) / best
        if not (fact_id in bm25 and word_weight) and not (cosine > 0 and vector_weight):
            continue
        age = (datetime.now(UTC) - datetime.fromisoformat(created_at)).total_seconds()
        life = half_lives.get(category, 0)
        decay = 0.5 ** (max(age, 0) / life) if life else 1.0
        scores[fact_id] = (word_weight * word + vector_weight * max(cosine, 0)) * decay
    return scores


@settings(deadline=None, max_examples=examples(40))
@given(facts=new_facts, query=texts, word_weight=weights, vector_weight=weights, data=st.data())
def test_scores_equal_the_documented_formula(
    facts: list[tuple[str, str, float]],
    query: str,
    word_weight: float,
    vector_weight: float,
    data: st.DataObject,
) -> None:
    if not word_weight + vector_weight:
        word_weight, vector_weight = 0.6, 0.4
    life = data.draw(st.sampled_from([None, 0.0, 10 * DAY]))
    embedder = conftest_embedder()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "memory.db"
        with memstore.open(path, embedder=embedder) as store:
            store.add_many(
                NewFact(content=text, subject="sue", category=kind, created_at=days_ago(age))
                for text, kind, age in facts
            )
            hits = store.search(
                query,
                limit=50,
                word_weight=word_weight,
                vector_weight=vector_weight,
                half_lives_seconds=None if life is None else {"preference": life},
            )
            expected = scores_by_the_formula(
                path,
                embedder,
                query,
                word_weight,
                vector_weight,
                {"note": 30 * DAY} if life is None else {"preference": life},
            )
    assert {h.fact.id: h.score for h in hits} == pytest.approx(expected, rel=1e-4, abs=1e-6)
    assert ids(hits) == [
        fact_id for _, fact_id in sorted((-hit.score, hit.fact.id) for hit in hits)
    ]
    for hit in hits:
        parts = word_weight * hit.word_score + vector_weight * hit.vector_score
        assert hit.score == pytest.approx(parts * hit.decay)
        assert 0 <= hit.word_score <= 1
        assert 0 <= hit.vector_score <= 1


def conftest_embedder() -> Any:
    """An embedder like the fixture's; Hypothesis needs a fresh one for each example."""

    class Letters:
        model = "letters"

        def embed(self, texts: Sequence[str]) -> Any:
            rows = np.full((len(texts), 28), 0.1, dtype=np.float32)
            for row, text in zip(rows, texts, strict=True):
                for letter in text:
                    row[ord(letter) % 28] += 1
            row = rows[:, :1]
            row[:] = -0.2
            return rows

    return Letters()


def test_default_weights_are_six_to_four(store: Store) -> None:
    store.add("tea in the garden", subject="sue", category="preference")
    store.add("rain over paris", subject="sue", category="preference")
    for hit in store.search("tea rain garden", ranking="classic"):
        assert hit.score == pytest.approx(0.6 * hit.word_score + 0.4 * hit.vector_score)


@pytest.mark.parametrize("weights", [CLASSIC, WORDS_ONLY, MEANING_ONLY])
def test_ties_are_ordered_by_id(store: Store, weights: dict[str, Any]) -> None:
    at = days_ago(1)
    facts = store.add_many(
        NewFact(content="tea", subject="sue", created_at=at, category="preference")
        for _ in range(9)
    )
    hits = store.search("tea", limit=5, **weights)
    assert ids(hits) == [fact.id for fact in facts[:5]]
    assert len({hit.score for hit in hits}) == 1


def test_query_weights_change_the_order(store: Store) -> None:
    # The embedder counts words as written, the index counts their stems.
    by_words = store.add("painted painted", subject="x", category="preference")
    by_meaning = store.add(
        "painting painting of a house in some far away land", subject="x", category="preference"
    )
    found = {
        name: ids(store.search("painting", word_weight=word, vector_weight=vector))
        for name, word, vector in [("words", 1.0, 0.01), ("meaning", 0.01, 1.0)]
    }
    assert found == {
        "words": [by_words.id, by_meaning.id],
        "meaning": [by_meaning.id, by_words.id],
    }


def test_meaning_alone_finds_facts_without_common_stems(open_store: Open) -> None:
    class Topics:
        model = "topics"

        def embed(self, texts: Sequence[str]) -> Any:
            near = [[1.0, 0.0] if "beverage" in t or "tea" in t else [0.0, 1.0] for t in texts]
            return np.array(near, dtype=np.float32)

    store = open_store(embedder=Topics())
    tea = store.add("Sue drinks tea", subject="sue")
    store.add("Sue plays the violin", subject="sue")
    hits = store.search("beverage")
    assert ids(hits) == [tea.id]
    assert (hits[0].word_score, hits[0].vector_score) == (0.0, 1.0)


def test_fact_found_by_words_only_has_its_cosine(open_store: Open) -> None:
    class Directions:
        model = "directions"

        def embed(self, texts: Sequence[str]) -> Any:
            rows = [[1.0, 1.0] if "tea in" in t else [1.0, 0.1] for t in texts]
            return np.array(rows, dtype=np.float32)

    store = open_store(embedder=Directions())
    store.add_many(NewFact(content=f"violin {n}", subject="sue") for n in range(200))
    tea = store.add("tea in the garden", subject="sue")
    hit = store.search("tea", limit=5, ranking="classic")[0]
    assert hit.fact.id == tea.id
    assert hit.vector_score == pytest.approx(1.1 / (2 * 1.01) ** 0.5, rel=1e-5)


@pytest.mark.parametrize(
    "bad",
    [
        {"limit": 0},
        {"limit": -1},
        {"limit": 1001},
        {"word_weight": -0.1},
        {"vector_weight": -0.1},
        {"word_weight": float("nan")},
        {"vector_weight": float("inf")},
        {"word_weight": 0, "vector_weight": 0},
        {"half_lives_seconds": {"note": -1.0}},
        {"half_lives_seconds": {"note": float("nan")}},
        {"namespaces": []},
        {"namespaces": [" "]},
    ],
    ids=str,
)
def test_arguments_out_of_range_are_refused(store: Store, bad: dict[str, Any]) -> None:
    store.add("tea", subject="sue")
    with pytest.raises(ValueError, match=next(iter(bad)).removesuffix("s")):
        store.search("tea", **bad)


@pytest.mark.parametrize("query", [None, 5, b"tea"])
def test_queries_that_are_not_text_are_refused(store: Store, query: Any) -> None:
    with pytest.raises(TypeError, match="query"):
        store.search(query)


@pytest.mark.parametrize("name", ["subject", "category"])
@pytest.mark.parametrize("value", [5, ["sue"], b"sue"])
def test_subjects_and_categories_that_are_not_text_are_refused(
    store: Store, name: str, value: Any
) -> None:
    for find in (store.list, lambda **asked: store.search("tea", **asked)):
        with pytest.raises(TypeError, match=f"{name} must be text"):
            find(**{name: value})


def test_an_infinite_half_life_never_decays(store: Store) -> None:
    store.add("tea", subject="sue", created_at=days_ago(1000))
    (hit,) = store.search("tea", half_lives_seconds={"note": float("inf")})
    assert hit.decay == 1


# -- limits and filters ----------------------------------------------------------------------


@each_way
def test_limit_is_honoured(store: Store, weights: dict[str, float]) -> None:
    store.add_many(NewFact(content=f"tea number {i}", subject="sue") for i in range(80))
    for limit in (1, 7, 49, 60, 1000):
        assert len(store.search("tea", limit=limit, **weights)) == min(limit, 80)


MANY, FEW = 2500, 12
BETTER, WORSE = "tea garden", "the garden where we had tea with rain and pasta by the violin"


@pytest.fixture(scope="module")
def crowd(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a file with thousands of facts that match better than the few wanted ones."""
    path = tmp_path_factory.mktemp("crowd") / "memory.db"
    with memstore.open(path, embedder=WordEmbedder()) as store:
        store.add_many(
            NewFact(content=BETTER, subject="bob", category="x", metadata={"level": i % 7})
            for i in range(MANY)
        )
    return path


def of_another_subject(store: Store, crowd: list[int]) -> dict[str, Any]:
    return {"subject": "sue"}


def of_another_category(store: Store, crowd: list[int]) -> dict[str, Any]:
    return {"category": "note"}


def of_other_metadata(store: Store, crowd: list[int]) -> dict[str, Any]:
    return {"filters": [("level", ">=", 7)]}


def superseded(store: Store, crowd: list[int]) -> dict[str, Any]:
    newest = store.add("pasta", subject="bob", category="x").id
    store.ledger.apply([memstore.SupersedeFact(old_id=old, new_id=newest) for old in crowd])
    return {}


def deleted(store: Store, crowd: list[int]) -> dict[str, Any]:
    store.ledger.apply([memstore.DeleteFact(fact_id=fact_id) for fact_id in crowd])
    return {}


def checked_file_with_a_crowd(store: Store, **filters: Any) -> None:
    inside = store.add_many(
        NewFact(content=WORSE, subject="sue", metadata={"level": 7}) for _ in range(FEW)
    )
    for name, weights in WAYS.items():
        hits = store.search("tea garden", limit=10, **weights, **filters)
        assert len(hits) == 10, name
        assert set(ids(hits)) <= {fact.id for fact in inside}, name


@pytest.mark.parametrize(
    "passed_over", [of_another_subject, of_another_category, of_other_metadata, superseded, deleted]
)
def test_filters_apply_before_ranking_with_thousands_of_better_facts_outside(
    crowd: Path,
    path: Path,
    open_store: Open,
    passed_over: Callable[[Store, list[int]], dict[str, Any]],
) -> None:
    copied(crowd, path)
    store = open_store()
    filters = passed_over(store, [*range(1, MANY + 1)])
    checked_file_with_a_crowd(store, **filters)


def test_thousands_in_another_namespace_do_not_displace_hits(
    crowd: Path, path: Path, open_store: Open
) -> None:
    copied(crowd, path)
    checked_file_with_a_crowd(open_store(namespace="other"))


def test_thousands_of_expired_facts_do_not_displace_hits(store: Store) -> None:
    store.add_many(
        NewFact(content=BETTER, subject="sue", expired_at=days_ago(1)) for _ in range(MANY)
    )
    checked_file_with_a_crowd(store)


@each_way
def test_filters_are_combined(store: Store, weights: dict[str, float]) -> None:
    facts = {
        (subject, category, level): store.add(
            "tea", subject=subject, category=category, metadata={"level": level}
        ).id
        for subject in ("sue", "bob")
        for category in ("note", "preference")
        for level in (1, 2)
    }
    hits = store.search("tea", subject="sue", category="note", filters={"level": 2}, **weights)
    assert ids(hits) == [facts["sue", "note", 2]]


# -- words -----------------------------------------------------------------------------------

KNOWN = {
    "coffee": "Alice drinks her coffee black, without sugar",
    "train": "The train to Lyon leaves at 7:40 from platform 3",
    "deploy": "Deployments run on Fridays only after Maria approves them",
    "dog": "Bob adopted a dog called Rufus in March",
    "wifi": "The wifi password in the office is on the blue card",
}


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("How does Alice take her coffee?", "coffee"),
        ("when is the train leaving for Lyon", "train"),
        ("Who has to approve a deployment before it can run?", "deploy"),
        ("What's the name of Bob's dog?", "dog"),
        ("where did we write down the wifi password again, please?", "wifi"),
        ("I forgot: is there anything I should know about deploying on a friday?", "deploy"),
    ],
)
def test_natural_questions_find_their_answer_first(
    open_store: Open, question: str, answer: str
) -> None:
    store = open_store(embedder=None)
    facts = {name: store.add(text, subject="x").id for name, text in KNOWN.items()}
    assert ids(store.search(question))[:1] == [facts[answer]]


def test_facts_matching_all_words_rank_above_partial_matches(open_store: Open) -> None:
    store = open_store(embedder=None)
    some = [store.add(f"the {word} of somebody", subject="x").id for word in ("green", "bicycle")]
    both = store.add("somebody keeps a green bicycle in the hall", subject="x").id
    store.add("nothing of the kind", subject="x")
    hits = ids(store.search("green bicycle"))
    assert hits[0] == both
    assert sorted(hits[1:]) == some


def test_subject_and_category_are_searched_too(open_store: Open) -> None:
    store = open_store(embedder=None)
    by_subject = store.add("likes tea", subject="Wilhelmina")
    by_category = store.add("likes rain", subject="x", category="allergy")
    assert ids(store.search("wilhelmina")) == [by_subject.id]
    assert ids(store.search("allergies")) == [by_category.id]


@pytest.mark.parametrize("query", ["", "   ", "\n\t", "\x00", "\u2003"])
def test_blank_queries_find_nothing_and_call_no_embedder(
    store: Store, embedder: Any, query: str
) -> None:
    store.add("tea", subject="sue")
    embedder.calls.clear()
    assert store.search(query) == []
    assert embedder.calls == []


def test_blank_queries_in_a_batch_leave_the_others_alone(store: Store, embedder: Any) -> None:
    tea = store.add("tea", subject="sue")
    embedder.calls.clear()
    assert [ids(hits) for hits in store.search_batch(["", "tea", " "])] == [[], [tea.id], []]
    assert embedder.calls == [["tea"]]


# -- status of facts -------------------------------------------------------------------------


@each_way
def test_superseded_facts_are_found_only_on_request(
    store: Store, weights: dict[str, float]
) -> None:
    old = store.add("Sue drinks tea", subject="sue")
    new = store.add("Sue drinks green tea", subject="sue", supersedes=old.id)
    assert ids(store.search("tea", **weights)) == [new.id]
    everything = store.search("tea", active_only=False, **weights)
    assert {hit.fact.id: hit.fact.status for hit in everything} == {
        old.id: "superseded",
        new.id: "active",
    }


@each_way
def test_deleted_and_erased_facts_are_never_found(store: Store, weights: dict[str, float]) -> None:
    deleted = store.add("Sue drinks tea", subject="sue")
    erased = store.add("Sue drinks tea", subject="sue")
    store.delete(deleted.id)
    store.erase(erased.id)
    assert store.search("tea", active_only=False, **weights) == []
    assert store.search("tea", active_only=False, subject="sue", **weights) == []


@each_way
@pytest.mark.parametrize("subject", [None, "sue"])
def test_facts_expire_while_the_store_is_open(
    store: Store, weights: dict[str, float], subject: str | None, manual_clock: ManualClock
) -> None:
    soon = manual_clock.utc_now() + timedelta(hours=1)
    fact = store.add("tea", subject="sue", expired_at=soon)
    assert ids(store.search("tea", subject=subject, **weights)) == [fact.id]
    manual_clock.advance(3600)
    assert store.search("tea", subject=subject, **weights) == []
    assert ids(store.search("tea", subject=subject, active_only=False, **weights)) == [fact.id]


# -- decay -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("category", "age_days", "half_lives", "decay"),
    [
        ("note", 30, None, 0.5),
        ("note", 60, None, 0.25),
        ("note", 0, None, 1.0),
        ("note", -10, None, 1.0),  # in the future: it does not decay yet
        ("note", 300, {"note": 0}, 1.0),
        ("note", 10, {"note": 10 * DAY}, 0.5),
        ("preference", 3000, None, 1.0),
        ("identity", 3000, None, 1.0),
        ("project", 300, None, 1.0),
        ("project", 30, {"project": 10 * DAY}, 0.125),
        ("note", 30, {"project": 10 * DAY}, 1.0),
        ("note", 3000, {}, 1.0),
    ],
)
def test_decay_depends_on_category_and_age(
    store: Store,
    category: str,
    age_days: float,
    half_lives: Mapping[str, float] | None,
    decay: float,
) -> None:
    store.add("tea", subject="sue", category=category, created_at=days_ago(age_days))
    (hit,) = store.search("tea", half_lives_seconds=half_lives)
    assert hit.decay == pytest.approx(decay, rel=1e-4)


@pytest.mark.parametrize(
    ("metadata", "decay"),
    [
        ({"kind": "task", "status": "pending"}, 1.0),
        ({"kind": "task", "status": "in_progress"}, 1.0),
        ({"kind": "task", "status": "completed"}, 0.5),
        ({"kind": "task", "status": "cancelled"}, 0.5),
        ({"kind": "list"}, 0.5),
        ({"status": "pending"}, 0.5),
        (None, 0.5),
    ],
    ids=str,
)
def test_open_tasks_never_decay_but_other_todo_facts_do(
    store: Store, metadata: dict[str, Any] | None, decay: float
) -> None:
    store.add("tea", subject="todo", metadata=metadata, created_at=days_ago(30))
    (hit,) = store.search("tea", tasks=True)
    assert hit.decay == pytest.approx(decay, rel=1e-4)


def test_newer_of_equal_notes_ranks_first(store: Store) -> None:
    old = store.add("tea", subject="sue", created_at=days_ago(90))
    new = store.add("tea", subject="sue")
    assert ids(store.search("tea")) == [new.id, old.id]


def test_tasks_are_found_on_request(store: Store) -> None:
    task, fact = store.tasks.create("buy green tea"), store.add("likes green tea", subject="ana")
    assert ids(store.search("green tea")) == [fact.id]
    assert ids(store.search("green tea", tasks=False)) == [fact.id]
    assert {*ids(store.search("green tea", tasks=True))} == {fact.id, task.id}
    assert ids(store.search("green tea", subject="TODO")) == [task.id]
    assert ids(store.search("green tea", subject="todo", tasks=False)) == []


def test_time_filters_apply_to_searches_lists_and_counts(
    store: Store, manual_clock: ManualClock
) -> None:
    begin = clock.utc_now()

    def day(number: float) -> datetime:
        return begin + timedelta(days=number)

    for number, holds_since in enumerate((None, day(-10), None, day(-30))):
        store.add(f"tea {number}", subject="sue", valid_at=holds_since)
        manual_clock.advance(86_400)
    for periods, found in (
        ({"created_after": day(1.5)}, [3, 4]),
        ({"created_before": clock.to_text(day(0.5))}, [1]),
        ({"created_after": day(0.5), "created_before": day(2.5)}, [2, 3]),
        ({"created_after": store.get(1).created_at}, [2, 3, 4]),  # outside itself
        ({"valid_after": day(-1)}, [1, 3]),
        ({"valid_before": day(-9)}, [2, 4]),
        ({"valid_before": day(-9), "created_after": day(1.5)}, [4]),
    ):
        asked: Any = periods
        assert [fact.id for fact in store.list(**asked)] == found
        assert store.count(**asked) == len(found)
        assert sorted(ids(store.search("tea", **asked))) == found
    with pytest.raises(ValueError, match=r"created_after .* is not earlier"):
        store.list(created_after=day(2), created_before=day(1))
    with pytest.raises(ValueError, match="valid_before"):
        store.search("tea", valid_before="soon")


def test_empty_store_does_not_report_words_only(store: Store) -> None:
    assert store.search("tea").words_only is None
    other = store.within("other")
    store.add("tea", subject="sue")
    assert other.search("tea").words_only is None


# -- words only ------------------------------------------------------------------------------


def test_words_only_is_none_when_vectors_were_used(store: Store) -> None:
    store.add("tea", subject="sue")
    assert store.search("tea").words_only is None
    assert store.search("tea", vector_weight=0).words_only is None  # as asked for


def test_words_only_reports_a_missing_embedder(open_store: Open) -> None:
    store = open_store(embedder=None)
    tea = store.add("tea", subject="sue")
    hits = store.search("tea")
    assert ids(hits) == [tea.id]
    assert "no embedder" in str(hits.words_only)


@pytest.mark.parametrize(
    "failure",
    [
        memstore.EmbedderUnavailable("the server is asleep"),
        memstore.EmbedderRejected("the server is asleep"),
        RuntimeError("the server is asleep"),
    ],
)
def test_words_only_reports_why_the_embedder_failed(
    store: Store, embedder: Any, failure: Exception
) -> None:
    tea = store.add("tea", subject="sue")
    embedder.failure = failure
    for hits in (store.search("tea"), *store.search_batch(["tea", "tea"])):
        assert ids(hits) == [tea.id]
        assert "the server is asleep" in str(hits.words_only)


def test_words_only_reports_that_nothing_is_embedded(open_store: Open) -> None:
    tea = open_store(embedder=None).add("tea", subject="sue")
    hits = open_store().search("tea")
    assert ids(hits) == [tea.id]
    assert "nothing is embedded" in str(hits.words_only)


def test_words_only_names_both_models_on_a_mismatch(open_store: Open, embedder: Any) -> None:
    late = type(embedder)()
    late.model = "another-64"
    second = open_store(embedder=late)
    first = open_store()
    tea = first.add("tea", subject="sue")
    far = first.add("rain", subject="sue")
    hits = second.search("tea")
    assert ids(hits) == [tea.id], f"{far.id} can be near only by comparing two models' vectors"
    assert hits[0].vector_score == 0
    assert "words-64" in str(hits.words_only)
    assert "another-64" in str(hits.words_only)


def test_pending_facts_are_found_by_words_at_once(store: Store, embedder: Any) -> None:
    store.add("rain", subject="sue")
    embedder.failure = memstore.EmbedderUnavailable("asleep")
    tea = store.add("tea", subject="sue")
    embedder.failure = None
    assert not tea.embedded
    assert tea.id in ids(store.search("tea"))


# -- batches ---------------------------------------------------------------------------------


def test_a_batch_equals_its_searches_one_by_one_with_one_call_to_the_embedder(
    store: Store, embedder: Any
) -> None:
    store.add_many(
        NewFact(content=f"{a} {b}", subject="sue", category=category, metadata={"n": i})
        for i, (a, b) in enumerate((a, b) for a in VOCABULARY for b in VOCABULARY)
        for category in ("note", "preference")
    )
    queries = ["tea rain", "violin", "no such thing", "tea rain", "what about paris?"]
    more: dict[str, Any] = {"limit": 7, "filters": [("n", "<", 30)], "word_weight": 1.0}
    one_by_one = [store.search(query, **more) for query in queries]
    embedder.calls.clear()
    batch = store.search_batch(queries, **more)
    assert embedder.calls == [list(dict.fromkeys(queries))]
    assert [ids(hits) for hits in batch] == [ids(hits) for hits in one_by_one]
    for together, alone in zip(batch, one_by_one, strict=True):
        assert [h.score for h in together] == pytest.approx([h.score for h in alone])


def test_empty_batch_calls_no_embedder(store: Store, embedder: Any) -> None:
    assert store.search_batch([]) == []
    assert embedder.calls == []


def test_a_batch_of_one_text_is_refused(store: Store) -> None:
    with pytest.raises(TypeError, match="queries must be a list of texts"):
        store.search_batch("tea")


# -- changes by others -----------------------------------------------------------------------


def add(other: Store, old: int, deleted: int) -> set[int]:
    return {old, other.add("tea with milk", subject="sue").id}


def supersede(other: Store, old: int, deleted: int) -> set[int]:
    return {other.add("tea with milk", subject="sue", supersedes=old).id}


def delete(other: Store, old: int, deleted: int) -> set[int]:
    other.delete(old)
    return set()


def restore(other: Store, old: int, deleted: int) -> set[int]:
    return {old, other.restore(deleted).id}


def erase(other: Store, old: int, deleted: int) -> set[int]:
    other.erase(old)
    return set()


def bring_in(other: Store, old: int, deleted: int) -> set[int]:
    with memstore.open(":memory:", embedder=None) as elsewhere:
        elsewhere.add("tea from elsewhere", subject="sue")
        other.transfer.import_(list(elsewhere.transfer.export()))
    other.file.embed_pending()
    return {fact.id for fact in other.list()}


def embed(other: Store, old: int, deleted: int) -> set[int]:
    with memstore.open(other.path, embedder=None) as words_only:
        pending = words_only.add("tea, pending", subject="sue")
    assert other.file.embed_pending().embedded == 1
    return {old, pending.id}


@each_way
@pytest.mark.parametrize("change", [add, supersede, delete, restore, erase, bring_in, embed])
def test_changes_by_another_store_are_seen_at_the_next_search(
    store: Store,
    open_store: Open,
    change: Callable[[Store, int, int], set[int]],
    weights: dict[str, float],
) -> None:
    old = store.add("tea", subject="sue").id
    deleted = store.add("tea and cake", subject="sue").id
    store.delete(deleted)
    assert ids(store.search("tea", **weights)) == [old]
    expected = change(open_store(), old, deleted)
    assert set(ids(store.search("tea", **weights))) == expected


@pytest.mark.process
def test_changes_by_another_process_are_seen_at_the_next_search(store: Store) -> None:
    # its vectors must be the same
    class_text = inspect.getsource(type(store.file.embedder.embedder))
    script = (
        "from __future__ import annotations\nimport sys, zlib, numpy as np, memstore\n"
        f"{class_text}\n"
        "with memstore.open(sys.argv[1], embedder=WordEmbedder()) as store:\n"
        "    print(store.add('violin tea', subject='sue', supersedes=int(sys.argv[2])).id)\n"
    )
    old = store.add("tea", subject="sue").id
    assert ids(store.search("tea", **MEANING_ONLY)) == [old]
    done = subprocess.run(
        [sys.executable, "-c", script, store.path, str(old)],
        capture_output=True,
        text=True,
        check=True,
    )
    for weights in WAYS.values():
        assert ids(store.search("tea", **weights)) == [int(done.stdout)]


# -- namespaces ------------------------------------------------------------------------------


@each_way
def test_other_namespaces_are_searched_only_on_request(
    open_store: Open, weights: dict[str, float]
) -> None:
    stores = {name: open_store(namespace=name) for name in ("a", "b", "c")}
    found = {name: store.add("tea", subject="sue").id for name, store in stores.items()}

    def search(namespaces: str | list[str] | None) -> set[int]:
        return set(ids(stores["a"].search("tea", namespaces=namespaces, **weights)))

    assert search(None) == {found["a"]}
    assert search("b") == {found["b"]}
    assert search(["a", "c"]) == {found["a"], found["c"]}
    assert search("all") == set(found.values())
    assert search("nowhere") == set()
    in_subject = stores["a"].search("tea", namespaces="all", subject="sue", **weights)
    assert set(ids(in_subject)) == set(found.values())


BY_ID: dict[str, Callable[[Store, int, int], Any]] = {
    "get": lambda store, other, own: store.get(other),
    "history": lambda store, other, own: store.history(other),
    "journal": lambda store, other, own: store.ledger.journal(other),
    "may_replace": lambda store, other, own: store.may_replace(other),
    "confirm": lambda store, other, own: store.confirm(other),
    "pin": lambda store, other, own: store.pin(other),
    "unpin": lambda store, other, own: store.unpin(other),
    "update_metadata": lambda store, other, own: store.update_metadata(other, {"a": 1}),
    "set_expiry": lambda store, other, own: store.set_expiry(other, "2030-01-01"),
    "delete": lambda store, other, own: store.delete(other),
    "reinstate": lambda store, other, own: store.reinstate(other),
    "apply supersede": lambda store, other, own: store.ledger.apply(
        [memstore.SupersedeFact(old_id=other, new_id=own)]
    ),
    "apply supersede by": lambda store, other, own: store.ledger.apply(
        [memstore.SupersedeFact(old_id=own, new_id=other)]
    ),
    "apply delete": lambda store, other, own: store.ledger.apply(
        [memstore.DeleteFact(fact_id=other)]
    ),
    "apply keep": lambda store, other, own: store.ledger.apply([memstore.KeepFact(fact_id=other)]),
    "apply add": lambda store, other, own: store.ledger.apply(
        [AddFact(fact=NewFact(content="x", subject="x", supersedes=other))]
    ),
    "apply propose": lambda store, other, own: store.ledger.apply(
        [AddFact(fact=NewFact(content="x", subject="x"), precedence=MayReplace(other))]
    ),
    "restore": lambda store, other, own: store.restore(other),
    "support": lambda store, other, own: store.ledger.support(other),
    "explain": lambda store, other, own: store.ledger.explain(other),
    "why_not": lambda store, other, own: store.why_not("x", other),
    "erase": lambda store, other, own: store.erase(other),
    "supersede": lambda store, other, own: store.supersede(other, own),
    "supersede by": lambda store, other, own: store.supersede(own, other),
    "add": lambda store, other, own: store.add("x", subject="x", supersedes=other),
    "add_many": lambda store, other, own: store.add_many(
        [NewFact(content="x", subject="x", supersedes=other)]
    ),
    "tasks.update": lambda store, other, own: store.tasks.update(other, "completed"),
}


def test_every_method_that_takes_an_id_is_tested() -> None:
    ids = {"fact_id", "old_id", "new_id", "supersedes"}
    taking = {
        name
        for name, method in inspect.getmembers(Store, inspect.isfunction)
        if not name.startswith("_") and ids & inspect.signature(method).parameters.keys()
    }
    assert taking <= BY_ID.keys()


def dump(path: Path) -> list[Any]:
    return [
        sql(path, f"SELECT * FROM {table} ORDER BY id")
        for table in ("memstore_facts", "memstore_journal")
    ]


@pytest.mark.parametrize("call", BY_ID.values(), ids=BY_ID)
def test_methods_by_id_never_reach_into_another_namespace(
    open_store: Open, path: Path, call: Callable[[Store, int, int], Any]
) -> None:
    elsewhere, store = open_store(namespace="other"), open_store()
    active, deleted, superseded = (elsewhere.tasks.create("tea").id for _ in range(3))
    elsewhere.delete(deleted)
    elsewhere.add("tea", subject="todo", supersedes=superseded, any_subject=True)
    own = store.add("own", subject="x").id
    before = dump(path)
    for other in (active, deleted, superseded):
        with pytest.raises(memstore.NotFound, match=str(other)):
            call(store, other, own)
        assert dump(path) == before


@pytest.mark.parametrize("call", BY_ID.values(), ids=BY_ID)
def test_missing_ids_are_not_found(store: Store, call: Callable[[Store, int, int], Any]) -> None:
    own = store.add("own", subject="x").id
    for wanted in (0, -1, 999, 2**63 - 1, 2**63, -(2**63) - 1, 10**30):
        with pytest.raises(memstore.NotFound, match=str(wanted)):
            call(store, wanted, own)


@pytest.mark.parametrize("call", BY_ID.values(), ids=BY_ID)
def test_ids_of_another_type_are_refused(
    store: Store, path: Path, call: Callable[[Store, int, int], Any]
) -> None:
    store.tasks.create("tea")
    own = store.add("own", subject="x").id
    before = dump(path)
    wrong: list[Any] = [True, 1.0, "1"]
    for wanted in wrong:
        with pytest.raises(TypeError, match="fact_id must be a whole number"):
            call(store, wanted, own)
        assert dump(path) == before


def test_touch_counts_only_facts_of_its_own_namespace(open_store: Open) -> None:
    elsewhere, store = open_store(namespace="other"), open_store()
    other, own = elsewhere.add("tea", subject="x").id, store.add("tea", subject="x").id
    assert store.searches.note_use([other, own, 999, 10**30]) == 1
    assert elsewhere.get(other).use_count == 0
    assert store.get(own).use_count == 1


def test_lists_histories_and_counts_stay_in_their_namespace(open_store: Open) -> None:
    elsewhere, store = open_store(namespace="other"), open_store()
    elsewhere.add("tea", subject="sue", idempotency_key="k")
    elsewhere.tasks.create("water the garden")
    assert store.list(active_only=False, include_deleted=True) == []
    assert store.history(subject="sue") == []
    assert store.tasks.list(status="all") == []
    assert not store.exists("tea", subject="sue")
    assert (store.status().active, store.status().subjects) == (0, {})
    assert [json.loads(line).get("fact") for line in store.transfer.export()] == [None]
    assert store.add("rain", subject="sue", idempotency_key="k").namespace == "default"


# -- use counts ------------------------------------------------------------------------------


def use_counts(path: Path) -> list[int]:
    return [row[0] for row in sql(path, "SELECT use_count FROM memstore_facts ORDER BY id")]


def test_touches_are_batched_and_visible_through_get(store: Store, path: Path) -> None:
    tea, rain = store.add("tea", subject="sue"), store.add("rain", subject="sue")
    for _ in range(3):
        store.search("tea", vector_weight=0)
    assert use_counts(path) == [0, 0], "a search writes nothing"
    assert store.get(tea.id).use_count == 3
    assert store.get(tea.id).last_used_at is not None
    assert (store.get(rain.id).use_count, store.get(rain.id).last_used_at) == (0, None)


def test_touches_are_visible_through_list_and_survive_closing(
    store: Store, open_store: Open, path: Path
) -> None:
    store.add("tea", subject="sue")
    store.search("tea")
    assert [fact.use_count for fact in store.list()] == [1]
    store.search("tea")
    store.close()
    assert use_counts(path) == [2]
    assert [fact.use_count for fact in open_store().list()] == [2]


def test_touches_are_written_once_many_are_batched(store: Store, path: Path) -> None:
    store.add_many(NewFact(content="tea", subject="sue") for _ in range(600))
    store.search("tea", limit=600)
    for thread in threading.enumerate():
        if thread.name == "memstore-use-counts":  # on a server
            thread.join()
    assert sum(use_counts(path)) == 600


def test_touch_false_leaves_the_counts_alone(store: Store) -> None:
    tea = store.add("tea", subject="sue")
    store.search("tea", touch=False)
    assert store.get(tea.id).use_count == 0


def test_reads_neither_fail_nor_wait_while_another_process_holds_the_write_lock(
    store: Store, path: Path
) -> None:
    tea = store.add("tea", subject="sue")
    writer = apsw.Connection(str(path))
    writer.execute("BEGIN IMMEDIATE")
    try:
        for _ in range(3):
            assert ids(store.search("tea")) == [tea.id]
            assert store.get(tea.id).use_count == 0
            assert len(store.list()) == 1
            assert store.status().active == 1
    finally:
        writer.close()
    assert store.get(tea.id).use_count == 3, "what could not be written was kept"


def test_searching_changes_only_usage_fields(store: Store) -> None:
    tea = store.add("tea", subject="sue", metadata={"a": 1})
    store.search("tea")
    after = store.get(tea.id)
    assert after.to_dict() | {"use_count": 0} == {
        **tea.to_dict(),
        "last_used_at": after.to_dict()["last_used_at"],
    }
    assert len(store.ledger.journal(tea.id)) == 1, "use is not journalled"


# -- damage ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "embedding",
    [
        np.full(64, np.nan, dtype="<f4").tobytes(),
        np.full(64, np.inf, dtype="<f4").tobytes(),
        b"\x00" * 255,
        b"",
        "x" * 256,
    ],
    ids=["nan", "inf", "short", "empty", "text"],
)
def test_a_damaged_embedding_does_not_break_the_search(
    store: Store, open_store: Open, path: Path, embedding: bytes | str
) -> None:
    tea, rain = store.add("tea", subject="sue"), store.add("tea and rain", subject="sue")
    sql(path, "UPDATE memstore_fact_vectors SET embedding = ? WHERE fact_id = ?", embedding, tea.id)
    fresh = open_store()
    assert set(ids(fresh.search("tea"))) == {tea.id, rain.id}
    assert ids(fresh.search("tea", **MEANING_ONLY)) == [rain.id]


def test_facts_with_zero_vectors_are_found_by_words(store: Store, embedder: Any) -> None:
    class Zeros(type(embedder)):  # type: ignore[misc]
        def embed(self, texts: Sequence[str]) -> Any:
            return np.zeros((len(texts), 64), dtype=np.float32)

    with memstore.open(store.path, embedder=Zeros()) as zeros:
        tea = zeros.add("tea", subject="sue")
        hits = zeros.search("tea")
    assert (ids(hits), hits[0].vector_score, hits.words_only) == ([tea.id], 0.0, None)


def test_new_note_is_found_among_many_decayed_ones(store: Store) -> None:
    faded = datetime.now(UTC) - timedelta(days=1000)
    store.add_many(
        {"content": "the kettle is broken", "subject": "kettle", "created_at": faded}
        for _ in range(1200)
    )
    fresh = store.add("the kettle is broken", subject="kettle")
    assert store.search("broken kettle", limit=1)[0].fact == fresh
