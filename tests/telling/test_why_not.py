"""Why a search did not find a fact: the stage that lost it, and places that agree with searches."""

from __future__ import annotations

import asyncio
import inspect
import random
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st
from tests.search.test_both_ways import StoppedClock, without_index
from tests.support.embedders import WordEmbedder
from tests.support.examples import examples

import memstore
from memstore import AsyncStore, NotFound, Scope, SearchHit, Store
from memstore.domain import clock
from memstore.providers.local import MODEL
from memstore.telling.why_not import Stage, WhyNot

OpenStore = Callable[..., Store]

ORDER = [*Stage]
ANA, BEN = Scope(user_id="ana"), Scope(user_id="ben")


def stage(store: Store, query: str, fact_id: int, **asked: Any) -> str:
    return store.why_not(query, fact_id, **asked).stage


# -- each stage ------------------------------------------------------------------------------------


@pytest.fixture
def teas(store: Store) -> Store:
    """Twelve facts about tea, ``tea`` ever rarer in them."""
    for number in range(1, 13):
        store.add(f"tea {'rain ' * number}{number}", subject="s", category="event")
    return store


def test_found_fact_has_its_place(teas: Store) -> None:
    hits = teas.search("tea", limit=5)
    for place, hit in enumerate(hits, 1):
        outcome = teas.why_not("tea", hit.fact.id, limit=5)
        assert (outcome.stage, outcome.place) == ("found", place)
        assert outcome.fact is not None
        assert outcome.fact.score == hit.score
        assert outcome.fact.parts == hit.parts
    assert str(teas.why_not("tea", hits[2].fact.id, limit=5)) == (
        f"fact {hits[2].fact.id} is found, 3rd"
    )


def test_fact_behind_the_limit_is_compared_with_the_last_one(teas: Store) -> None:
    hits = teas.search("tea", limit=12)
    last, own = hits[9], hits[11]
    outcome = teas.why_not("tea", own.fact.id)
    assert (outcome.stage, outcome.place, outcome.limit) == ("rank", 12, 10)
    assert outcome.fact is not None
    assert outcome.last is not None
    assert (outcome.last.fact_id, outcome.last.place) == (last.fact.id, 10)
    assert outcome.fact.score == pytest.approx(own.score)
    text = str(outcome).splitlines()
    assert text[0] == f"fact {own.fact.id} is ranked 12th of 10"
    assert text[1].split() == [f"#{own.fact.id}", f"#{last.fact.id}"]
    assert text[2].split()[0] == "score"


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda store: store.add("new", subject="s", supersedes=1), "superseded"),
        (lambda store: store.delete(1), "deleted"),
        (lambda store: store.erase(1), "erased"),
    ],
)
def test_state_of_a_fact_is_the_first_reason(
    store: Store, change: Callable[[Store], object], told: str
) -> None:
    store.add("tea", subject="s")
    change(store)
    outcome = store.why_not("tea", 1, subject="other")
    assert outcome.stage == told
    assert f"was {told}" in outcome.text
    if told == "superseded":
        assert "by fact 2 " in outcome.text
        assert stage(store, "tea", 1, active_only=False) == "found"


def test_distrusted_fact_says_so(store: Store) -> None:
    page = store.episodes.record("tea", source="web:a.org")
    store.add("tea", subject="s", episode_id=page.id)
    store.sources.distrust("web:a.org")
    for asked in ({}, {"subject": "other"}, {"active_only": False}):
        outcome = store.why_not("tea", 1, **asked)
        assert outcome.stage == "distrusted"
    assert outcome.text == "fact 1 rests on sources that are not trusted"
    store.sources.trust("web:a.org")
    assert stage(store, "tea", 1) == "found"


def test_expired_fact_says_when(store: Store) -> None:
    store.add("tea", subject="s", expired_at="2020-01-02")
    assert store.why_not("tea", 1).text == "fact 1 expired 2020-01-02 23:59"
    assert stage(store, "tea", 1, active_only=False) == "found"


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ({"subject": "bob"}, "fact 1 has the subject 'ana', not 'bob'"),
        ({"category": "event"}, "fact 1 has the category 'note', not 'event'"),
        ({"filters": [("level", ">=", 3)]}, "fact 1 has level = 2, not level >= 3"),
        (
            {"filters": {"port": 80}},
            "fact 1 has no 'port' in its metadata, and port = 80 was asked for",
        ),
        (
            {"created_after": "2999-01-01"},
            "fact 1 was stored 2026-03-01 00:00, not after 2999-01-01",
        ),
        (
            {"valid_after": "2020-01-01", "valid_before": "2021-01-01"},
            "fact 1 is valid since 2026-02-01 00:00, not after 2020-01-01 and before 2021-01-01",
        ),
    ],
)
def test_condition_that_lost_it_is_told_with_both_sides(
    store: Store, asked: dict[str, Any], told: str
) -> None:
    store.add(
        "tea",
        subject="ana",
        metadata={"level": 2},
        created_at="2026-03-01",
        valid_at="2026-02-01",
    )
    assert store.why_not("tea", 1, **asked).text == told


def test_fact_that_did_not_hold_on_the_day_says_when_it_did(store: Store) -> None:
    store.add("tea", subject="s", valid_at="2026-01-01")
    store.add("more tea", subject="s", valid_at="2026-03-01", supersedes=1)
    assert store.why_not("tea", 1, valid_on="2026-02-01").stage == "found"
    assert store.why_not("tea", 1, valid_on="2026-04-01").text == (
        "fact 1 held from 2026-01-01 00:00 until 2026-03-01 00:00, not on 2026-04-01"
    )
    outcome = store.why_not("tea", 2, valid_on="2026-02-01")
    assert (outcome.stage, outcome.text) == (
        "valid",
        "fact 2 held from 2026-03-01 00:00, not on 2026-02-01",
    )
    assert store.why_not("tea", 1).stage == "superseded"


def test_task_is_left_out_unless_asked_for(store: Store) -> None:
    store.tasks.create("buy tea")
    assert stage(store, "tea", 1) == "tasks"
    assert stage(store, "tea", 1, tasks=True) == "found"


def test_pending_fact_without_the_words_says_so(store: Store, open_store: OpenStore) -> None:
    store.add("tea", subject="s")
    open_store(embedder=None).add("rain", subject="s")
    outcome = store.why_not("tea", 2)
    assert outcome.stage == "pending"
    assert outcome.text == "fact 2 has none of the query's words and is not embedded yet"
    assert stage(store, "rain", 2) == "found"


def test_pending_fact_with_the_words_is_judged_by_them(store: Store, open_store: OpenStore) -> None:
    store.add_many({"content": f"tea {n}", "subject": "s"} for n in range(60))
    open_store(embedder=None).add("tea " + "and rain " * 40, subject="s")
    outcome = store.why_not("tea", 61, limit=5)
    assert (outcome.stage, outcome.by_words) == ("candidates", 61)
    assert outcome.text == "fact 61 is 61st of 50 by words and is not embedded yet"


def test_search_by_words_alone_says_why(open_store: OpenStore) -> None:
    store = open_store(embedder=None)
    store.add("tea", subject="s")
    outcome = store.why_not("rain", 1)
    assert outcome.stage == "candidates"
    assert outcome.text == (
        "fact 1 has none of the query's words and was not compared by meaning "
        "(this store has no embedder)"
    )
    assert outcome.words_only is not None
    assert outcome.to_dict()["words_only"]["code"] == "no_embedder"


def test_fact_that_is_no_candidate_has_its_place_by_words_and_meaning(store: Store) -> None:
    store.add_many({"content": f"tea {n}", "subject": "s"} for n in range(60))
    store.add("tea " + "and rain " * 40, subject="s")
    store.file.embed_pending()
    asked = {"ranking": "classic", "half_lives_seconds": {}}
    outcome = store.why_not("tea", 61, limit=5, **asked)
    assert (outcome.stage, outcome.candidates) == ("candidates", 50)
    assert (outcome.by_words, outcome.by_meaning) == (61, 61)
    assert outcome.text == "fact 61 is 61st of 50 by words and is 61st of 50 by meaning"
    assert stage(store, "tea", 61, limit=61, **asked) == "found"


def test_blank_query_finds_nothing(store: Store) -> None:
    store.add("tea", subject="s")
    assert stage(store, "  ", 1) == "blank"


@pytest.mark.model
def test_relevance_is_told_with_what_was_asked_for(open_store: OpenStore) -> None:
    store = open_store(embedder="local")
    store.add_many(
        {"content": text, "subject": "s"}
        for text in ("Ana works at Globex", "The harbour is closed", "Violins need strings")
    )
    query = "how many litres does the tank of the lorry hold"
    hits = store.search(query, min_relevance=0.5)
    assert (hits, hits.hidden) == ([], 2)
    number = store.search(query, min_relevance=0)[0].fact.id
    outcome = store.why_not(query, number, min_relevance=0.5)
    assert (outcome.stage, outcome.min_relevance) == ("relevance", 0.5)
    assert outcome.relevance is not None
    assert 0 <= outcome.relevance < 0.5
    assert f"{outcome.relevance:.3f} of 0.5" in outcome.text
    found = store.why_not(query, number, min_relevance=0)
    assert (found.stage, found.place) == ("found", outcome.place)
    # Just what it has is enough.
    assert stage(store, query, number, min_relevance=outcome.relevance) == "found"


@pytest.mark.model
@pytest.mark.parametrize("seed", range(4))
def test_places_far_behind_are_those_of_the_longest_search(
    open_store: OpenStore, seed: int
) -> None:
    store, rnd = open_store(embedder="local"), random.Random(seed)
    words = "tea ferry harbour violin moon river stone lamp paper cat port deploy".split()
    store.add_many(
        {
            "content": " ".join(rnd.choices(words, k=rnd.randint(2, 9))),
            "subject": rnd.choice(words),
            "thread": rnd.choice([None, "a", "b"]),
        }
        for _ in range(300)
    )
    query = " ".join(rnd.sample(words, 3))
    given = [hit.fact.id for hit in store.search(query, limit=1000)]
    compared = 0
    for fact_id in given[8::7]:
        outcome = store.why_not(query, fact_id)
        if outcome.stage == "rank":
            compared += 1
            assert outcome.place == given.index(fact_id) + 1, str(outcome)
    assert compared >= 3
    pages = [hit.fact.id for at in range(0, 300, 50) for hit in paged(store, query, at)]
    assert pages == given


def paged(store: Store, query: str, offset: int) -> Sequence[SearchHit]:
    return store.search(query, limit=50, offset=offset)


# -- recalls ---------------------------------------------------------------------------------------


def test_fact_cut_by_the_budget_says_what_it_takes(teas: Store) -> None:
    recalled = teas.recall("tea", max_tokens=60)
    assert recalled.left_out
    for number in range(1, 13):
        outcome = teas.why_not("tea", number, max_tokens=60)
        if number in recalled.facts:
            assert (outcome.stage, outcome.place) == ("found", recalled.facts.index(number) + 1)
        else:
            assert outcome.stage == "budget"
            assert outcome.tokens is not None
            assert f"takes {outcome.tokens} tokens" in outcome.text
            assert stage(teas, "tea", number, max_tokens=2_000) == "found"
    assert teas.why_not("tea", 1, max_tokens=60).limit == 100


def test_recall_leaves_out_what_is_repeated(store: Store) -> None:
    store.add("Tea is hot", subject="tea")
    store.add("tea is HOT.", subject="tea", category="event")
    (shown,) = store.recall("tea", max_tokens=100).facts
    outcome = store.why_not("tea", 3 - shown, max_tokens=100)
    assert (outcome.stage, outcome.place) == ("repeated", None)
    assert outcome.text == (
        f"fact {3 - shown} is left out: #{shown} has the same words and is better"
    )
    assert stage(store, "tea", shown, max_tokens=100) == "found"


def test_fact_that_gives_way_to_a_newer_one_has_its_place_in_a_longer_search(
    open_store: Callable[..., Store],
) -> None:
    store = open_store(embedder="local")
    for n in range(0, 60, 3):
        store.add(f"The port of service {n} is {5000 + n}", subject=f"service {n}")
        store.add(f"The port of service {n} is now {6000 + n}", subject=f"service {n}")
    query, asked = "The port of service is 5030", {"limit": 5, "touch": False}
    outcomes = [store.why_not(query, fact.id, **asked) for fact in store.list(limit=None)]
    gave_way = [one for one in outcomes if "gives way to a newer one" in one.text]
    assert gave_way
    for outcome in gave_way:
        longest = [hit.fact.id for hit in store.search(query, limit=1000, touch=False)]
        assert outcome.place == longest.index(outcome.fact_id) + 1, outcome.text
        assert "of 1,000" in outcome.text
        assert outcome.last is not None


def test_fact_behind_all_places_says_so(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memstore.telling.why_not.MAX_PLACE", 50)
    store.add_many({"content": f"tea {n}", "subject": "s"} for n in range(60))
    store.add("tea " + "and rain " * 40, subject="s")
    outcome = store.why_not("tea", 61, limit=5)
    assert (outcome.by_words, outcome.by_meaning) == (None, None)
    assert outcome.text == (
        "fact 61 is behind the first 2,000 by words and is behind the first 2,000 by meaning"
    )


def test_budget_below_one_is_refused(store: Store) -> None:
    store.add("tea", subject="s")
    with pytest.raises(memstore.InvalidArgument, match="max_tokens"):
        store.why_not("tea", 1, max_tokens=0)


# -- who may see what ------------------------------------------------------------------------------


def test_other_owners_fact_is_not_found_with_a_scope(store: Store) -> None:
    store.add("tea", subject="s", user_id="ana")
    for scope in (BEN, Scope()):
        with pytest.raises(NotFound):
            store.of(scope).why_not("tea", 1)
    assert stage(store.of(ANA), "tea", 1) == "found"
    assert stage(store.of("all"), "tea", 1) == "found"
    outcome = store.why_not("tea", 1)
    assert (outcome.stage, outcome.text) == (
        "owners",
        "fact 1 belongs to other owners than those asked for",
    )
    store.erase(1)
    with pytest.raises(NotFound):
        store.of(ANA).why_not("tea", 1)


def test_successor_of_other_owners_is_not_named(store: Store) -> None:
    store.add("tea", subject="s")
    store.add("rain", subject="s", user_id="ben", supersedes=1)
    assert "superseded by another fact" in store.why_not("tea", 1).text
    assert "superseded by fact 2" in store.of("all").why_not("tea", 1).text


def test_other_namespaces_fact_is_seen_only_where_it_may_be(store: Store) -> None:
    other = store.within("other")
    fact = other.add("tea", subject="s")
    with pytest.raises(NotFound):
        store.why_not("tea", fact.id)
    assert stage(store, "tea", fact.id, namespaces="all") == "found"
    assert stage(other, "tea", fact.id, namespaces="default") == "namespace"
    confined = store.within("default", confined=True)
    with pytest.raises(NotFound):
        confined.why_not("tea", fact.id)
    with pytest.raises(memstore.AccessDenied):
        confined.why_not("tea", fact.id, namespaces="all")


def test_unknown_fact_and_bad_arguments_are_refused(store: Store) -> None:
    store.add("tea", subject="s")
    with pytest.raises(NotFound):
        store.why_not("tea", 2)
    with pytest.raises(memstore.InvalidArgument, match="limit"):
        store.why_not("tea", 1, limit=0)
    with pytest.raises(TypeError, match="unexpected keyword argument 'limits'"):
        store.why_not("tea", 1, limits=5)  # type: ignore[call-arg]


def test_it_takes_what_a_search_takes_and_counts_no_use(store: Store) -> None:
    store.add("tea", subject="s")
    asked = set(inspect.signature(Store.search).parameters)
    assert asked <= set(inspect.signature(Store.why_not).parameters)
    store.why_not("tea", 1, touch=True)
    assert store.get(1).use_count == 0
    assert asyncio.run(AsyncStore(store).why_not("tea", 1)).place == 1


# -- agreement with searches -----------------------------------------------------------------------

WORDS = ["tea", "rain", "harbour", "violin", "東京", "running"]
DATED = ["tea rain yesterday", "what happened today"]
QUERIES = ["tea rain", "rain tea tea", "東京", "violin", "run to the harbour", "nothing of it"]
QUERIES += DATED
TEXTS = st.lists(st.sampled_from(WORDS), min_size=1, max_size=5).map(" ".join)
DAY = 86_400

ROWS = st.lists(
    st.fixed_dictionaries(
        {
            "content": TEXTS,
            "copies": st.sampled_from([1, 1, 1, 2, 60]),
            "subject": st.sampled_from(["s", "t", "tea"]),
            "category": st.sampled_from(["note", "event"]),
            "age": st.sampled_from([0, 1, DAY, 40 * DAY]),
            "level": st.sampled_from([None, 1, 2]),
            "user_id": st.sampled_from([None, None, "ana"]),
            "thread": st.sampled_from([None, None, "x"]),
            "expires": st.sampled_from([None, None, None, -DAY, DAY]),
            "pending": st.booleans(),
            "fate": st.sampled_from([None, None, None, "delete", "supersede", "erase"]),
            "task": st.sampled_from([False, False, False, True]),
            "source": st.sampled_from([None, None, None, "web:x"]),
        }
    ),
    min_size=1,
    max_size=7,
)

REQUESTS = st.fixed_dictionaries(
    {},
    optional={
        "limit": st.sampled_from([1, 2, 10, 40]),
        "ranking": st.sampled_from(["classic", "contextual"]),
        "vector_weight": st.sampled_from([0, 1]),
        "subject": st.sampled_from(["s", "tea"]),
        "category": st.just("event"),
        "filters": st.sampled_from([{"level": 1}, [("level", ">=", 2)], {"level": None}]),
        "owners": st.sampled_from([None, "all"]),
        "active_only": st.booleans(),
        "tasks": st.booleans(),
        "created_after": st.just(2 * DAY),
        "valid_before": st.just(DAY // 2),
        "valid_on": st.sampled_from([0, DAY // 2, 2 * DAY, -2 * DAY]),
        "min_relevance": st.sampled_from([0.05, 0.9]),
    },
)

DROPPED: dict[str, dict[str, Any]] = {
    Stage.SUPERSEDED: {"active_only": False},
    Stage.EXPIRED: {"active_only": False},
    Stage.OWNERS: {"owners": "all"},
    Stage.SUBJECT: {"subject": None},
    Stage.CATEGORY: {"category": None},
    Stage.TASKS: {"tasks": True},
    Stage.METADATA: {"filters": ()},
    Stage.CREATED: {"created_after": None},
    Stage.VALID: {"valid_before": None, "valid_on": None, "active_only": False},
    Stage.RELEVANCE: {"min_relevance": 0},
}
"""What to ask for so that a stage loses nothing."""


def fill(store: Store, wordless: Store, rows: list[dict[str, Any]]) -> list[int]:
    now = clock.utc_now()
    made: list[int] = []
    for row in rows:
        expires = None if row["expires"] is None else now + timedelta(seconds=row["expires"])
        level, is_task = row["level"], row["task"]
        metadata = {} if level is None else {"level": level}
        new = {
            "content": row["content"],
            "subject": "todo" if is_task else row["subject"],
            "category": row["category"],
            "metadata": metadata | ({"kind": "task", "status": "pending"} if is_task else {}),
            "created_at": now - timedelta(seconds=row["age"]),
            "expired_at": expires,
            "user_id": row["user_id"],
            "thread": row["thread"],
            "source": None if is_task else row["source"],
        }
        writer = wordless if row["pending"] else store
        ids = [fact.id for fact in writer.add_many([new] * row["copies"])]
        made += ids
        if row["fate"] == "delete":
            store.delete(ids[0])
        elif row["fate"] == "erase":
            store.erase(ids[0])
        elif row["fate"] == "supersede":
            made.append(store.add("tea later", subject="s", supersedes=ids[0], any_subject=True).id)
    if len(rows) % 2:
        store.sources.distrust("web:x")
    return made


def search(store: Store, query: str, owners: Any = None, **asked: Any) -> memstore.SearchHits:
    return (store if owners is None else store.of(owners)).search(query, **asked)


def why_not(store: Store, query: str, fact_id: int, owners: Any = None, **asked: Any) -> WhyNot:
    return (store if owners is None else store.of(owners)).why_not(query, fact_id, **asked)


def asked_at(request: dict[str, Any]) -> dict[str, Any]:
    """Return the keywords of a request, whose times are seconds before now."""
    now, asked = clock.utc_now(), {"limit": 10, "tasks": None, **request}
    for name in ("created_after", "valid_before", "valid_on"):
        if asked.get(name) is not None:
            asked[name] = now - timedelta(seconds=asked[name])
    if "vector_weight" in asked:
        asked |= {"ranking": "classic", "word_weight": 1}
    return asked | {"touch": False}


def check(store: Store, query: str, asked: dict[str, Any], fact_ids: list[int]) -> set[str]:
    """Compare what is said of each fact with searches; return the stages that were met."""
    hits = [hit.fact.id for hit in search(store, query, **asked)]
    met = set()
    for fact_id in sorted({*fact_ids[:3], *fact_ids[-3:], *hits[-2:], *fact_ids[::17]}):
        outcome = why_not(store, query, fact_id, **asked)
        met.add(outcome.stage)
        if fact_id in hits:
            assert (outcome.stage, outcome.place) == (Stage.FOUND, hits.index(fact_id) + 1)
        else:
            assert outcome.stage != Stage.FOUND
            check_stage(store, query, asked, outcome)
    return met


def check_stage(store: Store, query: str, asked: dict[str, Any], outcome: WhyNot) -> None:
    """Drop what lost the fact: then it gets further."""
    number, lost = outcome.fact_id, outcome.stage
    if lost == Stage.ERASED:
        with pytest.raises(NotFound):
            store.get(number)
    elif lost in (Stage.DELETED, Stage.DISTRUSTED):
        fact = store.get(number)
        assert fact.status == lost or (fact.distrusted and lost == Stage.DISTRUSTED)
    elif lost in DROPPED:
        further = why_not(store, query, number, **asked | DROPPED[lost])
        assert ORDER.index(Stage(further.stage)) > ORDER.index(Stage(lost))
        if lost == Stage.RELEVANCE:
            assert (further.stage, further.place) == (Stage.FOUND, outcome.place)
    elif lost == Stage.RANK:
        check_rank(store, query, asked, outcome)
    else:
        assert lost in (Stage.CANDIDATES, Stage.PENDING)
        check_places(store, query, asked, outcome)


def check_rank(store: Store, query: str, asked: dict[str, Any], outcome: WhyNot) -> None:
    """The place that was named is the place that the longest search has it at."""
    limit = asked["limit"]
    hits = search(store, query, **asked | {"limit": 1000})
    given = [hit.fact.id for hit in hits]
    if outcome.place is None:
        assert outcome.fact_id not in given
        return
    assert given.index(outcome.fact_id) + 1 == outcome.place
    assert outcome.fact is not None
    assert outcome.fact.score == pytest.approx(hits[outcome.place - 1].score, abs=1e-4)
    if outcome.place > limit:
        assert outcome.last is not None
        assert hits[limit - 1].fact.id == outcome.last.fact_id


def check_places(store: Store, query: str, asked: dict[str, Any], outcome: WhyNot) -> None:
    """Words alone and meaning alone, without limits, have it at the places that were named."""
    alone = asked | {"limit": 1000, "half_lives_seconds": {}, "ranking": "classic"}
    alone |= {"min_relevance": 0}
    places = {"by_words": {"word_weight": 1, "vector_weight": 0}}
    places["by_meaning"] = {"word_weight": 0, "vector_weight": 1}
    is_weighed = store.status().embedder == MODEL and asked.get("ranking") != "classic"
    if asked.get("vector_weight") == 0 or outcome.words_only is not None or is_weighed:
        del places["by_meaning"]
    for name, weights in places.items():
        hits = search(store, query, **alone | weights)
        score = next((hit.score for hit in hits if hit.fact.id == outcome.fact_id), None)
        place = getattr(outcome, name)
        assert (place is None) == (score is None)
        if place is not None and score is not None:
            # Equal ones may stand in any order.
            better = sum(hit.score > score + 1e-6 for hit in hits)
            assert better < place <= sum(hit.score >= score - 1e-6 for hit in hits)
            assert place > (outcome.candidates or 0)
    if outcome.stage == Stage.PENDING:
        fact = store.get(outcome.fact_id)
        assert not fact.embedded
        assert outcome.by_words is None


@pytest.mark.hypothesis
@settings(deadline=None, max_examples=examples(15), suppress_health_check=[HealthCheck.too_slow,
          HealthCheck.function_scoped_fixture])  # fmt: skip
@given(
    rows=ROWS,
    query=st.sampled_from(QUERIES),
    turns=st.lists(TEXTS, max_size=3),
    max_tokens=st.sampled_from([10, 40, 200, 2_000]),
)
def test_budgets_agree_with_recalls(
    rows: list[dict[str, Any]],
    query: str,
    turns: list[str],
    max_tokens: int,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    path = tmp_path_factory.mktemp("whynot") / "memory.db"
    with (
        clock.use(StoppedClock()),
        memstore.open(path, embedder=WordEmbedder(), durability="normal") as store,
        memstore.open(path, embedder=None, durability="normal") as wordless,
    ):
        fact_ids = fill(store, wordless, rows)
        for turn in turns:
            store.episodes.add(turn, source="chat")
        recalled = store.recall(query, max_tokens=max_tokens, touch=False)
        for fact_id in {*fact_ids[::9], *fact_ids[-3:], *recalled.facts}:
            outcome = why_not(store, query, fact_id, max_tokens=max_tokens)
            event(outcome.stage)
            if fact_id in recalled.facts:
                assert outcome.stage == Stage.FOUND
                assert (outcome.place or 0) > [*recalled.facts].index(fact_id)
            else:
                assert outcome.stage != Stage.FOUND
            if outcome.stage == Stage.BUDGET:
                assert recalled.left_out
                assert stage(store, query, fact_id, max_tokens=1_000_000) == Stage.FOUND
            elif outcome.stage == Stage.REPEATED:
                whole = store.recall(query, max_tokens=1_000_000, touch=False)
                assert fact_id not in whole.facts


@pytest.mark.hypothesis
@pytest.mark.parametrize(
    "embedder", [WordEmbedder(), pytest.param("local", marks=pytest.mark.model)]
)
@settings(deadline=None, max_examples=examples(30), suppress_health_check=[HealthCheck.too_slow,
          HealthCheck.function_scoped_fixture])  # fmt: skip
@given(rows=ROWS, query=st.sampled_from(QUERIES), request=REQUESTS, indexed=st.booleans())
def test_places_and_stages_agree_with_searches(
    embedder: Any,
    rows: list[dict[str, Any]],
    query: str,
    request: dict[str, Any],
    indexed: bool,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    path = tmp_path_factory.mktemp("whynot") / "memory.db"
    with (
        clock.use(StoppedClock()),
        memstore.open(path, embedder=embedder, durability="normal") as store,
        memstore.open(path, embedder=None, durability="normal") as wordless,
    ):
        fact_ids = fill(store, wordless, rows)
        asked = asked_at(request)

        def compare(store: Store, _limit: int) -> set[str]:
            return check(store, query, asked, fact_ids)

        if indexed:
            store.file.warm()
            event(f"{sorted(compare(store, 0))}")
        else:
            without_index(store, compare, 0)
