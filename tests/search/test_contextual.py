"""The contextual ranking: scores equal the documented formulas, and their documented effects."""

from __future__ import annotations

import random
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from tests.support.contextual import AGE, Contextual
from tests.support.embedders import WordEmbedder
from tests.support.examples import examples

import memstore
from memstore import NewFact, Store
from memstore._kernel import ranking
from memstore.domain import clock
from memstore.providers.local import LocalEmbedder
from memstore.settings import MIN_RELEVANCE
from memstore.text.judging import judge as judging

VOCABULARY = ["tea", "harbour", "violin", "went to Berlin", "yesterday", "my sister", "rain",
              "saw Otto", "a long walk along the quiet shore"]  # fmt: skip
texts = st.lists(st.sampled_from(VOCABULARY), min_size=1, max_size=4).map(", we ".join)
spoken = st.tuples(texts, st.sampled_from(["", "", "?"])).map(lambda said: f"we {said[0]}{said[1]}")
rows = st.lists(
    st.tuples(
        st.one_of(spoken, spoken, st.just("we agreed")),
        st.sampled_from(["Ana", "user", "assistant", "note"]),
        st.sampled_from([None, "one", "two", "three"]),
        st.integers(0, 5),
        st.sampled_from([None, "2023-05-08T10:00:00Z", "2024-06-01T10:00:00Z"]),
        st.sampled_from(["note", "event"]),
        st.sampled_from([False, False, True]),
    ),
    min_size=1,
    max_size=14,
)
QUERIES = {
    "When did Ana see the harbour?": ["Ana", "see", "harbour"],
    "Where did we play violin in May 2023?": ["play", "violin", "May", "2023"],
    "Who had tea with Otto": ["tea", "Otto"],
    "rain": ["rain"],
}


class Letters(WordEmbedder):
    model = "letters"


@settings(deadline=None, max_examples=examples(40),
          suppress_health_check=[HealthCheck.function_scoped_fixture])  # fmt: skip
@given(rows=rows, query=st.sampled_from([*QUERIES]), is_embedded=st.booleans())
def test_scores_equal_the_documented_formulas(
    rows: list[tuple[Any, ...]],
    query: str,
    is_embedded: bool,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    path = tmp_path_factory.mktemp("stage") / "memory.db"
    other = None if is_embedded else Letters()

    def embed(text: str) -> NDArray[np.float64]:
        assert other is not None
        return other.embed([text])[0].astype(np.float64)

    now = datetime.now(UTC)
    # What a rule calls newer has a place of its own.
    without = [*judging.Rule.__members__]
    with memstore.open(path, embedder=other or LocalEmbedder(), without_rules=without) as store:
        store.add_many(
            NewFact(content=content, subject=subject, thread=thread, seq=seq if thread else None,
                    valid_at=valid_at, category=category, created_at=now - timedelta(days=seq))
            for content, subject, thread, seq, valid_at, category, _ in rows
        )  # fmt: skip
        for fact_id, (*_, is_confirmed) in enumerate(rows, 1):
            if is_confirmed:
                store.confirm(fact_id)
        hits = store.search(query, limit=50, min_relevance=0, touch=False)
        twin = Contextual(str(path), now.timestamp(), embed if other else None)
        expected = twin.scores(query, QUERIES[query])
        found = {hit.fact.id: own_score(hit, twin.scale) for hit in hits}
        order = twin.order(found)
    assert hits.ranking == "contextual"
    assert found == pytest.approx(expected, abs=2e-4)
    assert [*found] == order
    # Those that compete exchange their scores with their places.
    assert [hit.score for hit in hits] == pytest.approx(sorted(found.values())[::-1], abs=1e-6)
    for hit in hits:
        *sums, decay = hit.parts
        assert hit.score == pytest.approx(max(0.0, sum(sums)), abs=1e-6)
        assert decay == hit.decay
        assert 0 <= hit.score <= 1


def own_score(hit: memstore.SearchHit, scale: float) -> float:
    """Return the score that a hit had before it was exchanged."""
    return round(hit.score - hit.parts.age + AGE * (hit.decay - 1) / scale, 13)


def contents(hits: Any) -> list[str]:
    return [hit.fact.content for hit in hits]


@pytest.fixture
def local(open_store: Callable[..., Store]) -> Store:
    return open_store(embedder=LocalEmbedder())


def test_the_order_of_insertion_among_unrelated_facts_does_not_matter(
    open_store: Callable[..., Store], tmp_path: Any
) -> None:
    said = ["Where did you put the key?", "In the blue drawer.", "It rains.", "Tea is ready."]
    scores = []
    for order in (said, said[::-1], said[2:] + said[:2]):
        with memstore.open(tmp_path / f"{len(scores)}.db", embedder=LocalEmbedder()) as store:
            for content in order:
                store.add(content, subject="Ana", category="event")  # which does not age
            hits = store.search("Where is the key?", min_relevance=0, touch=False)
            scores.append({hit.fact.content: round(hit.score, 6) for hit in hits})
    assert scores[0] == scores[1] == scores[2]


def test_questions_are_embedded_once_by_the_index(
    local: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> object:
        raise memstore.EmbedderRejected("asked without need")

    local.add("The physician moved to Lisbon", subject="Ana", category="event")
    expected = local.search("doctor relocates", touch=False)
    monkeypatch.setattr("memstore.providers.local.LocalEmbedder.embed_bytes", fail)
    assert local.search("doctor relocates", touch=False) == expected
    assert expected[0].vector_score > 0.2
    classic = local.search("doctor relocates", ranking="classic")
    assert classic.words_only is not None
    assert classic.words_only.code == "embedder_rejected"


def test_answer_scores_higher_after_its_question(local: Store) -> None:
    for thread in ("t", None):
        local.add("Where did you put the key?", subject="Ana", thread=thread)
        local.add(f"In the drawer {thread}.", subject="Otto", thread=thread)
    hits = local.search("Where is the key?", min_relevance=0)
    by_content = {hit.fact.content: hit for hit in hits}
    assert by_content["In the drawer t."].parts.thread > 0
    assert by_content["In the drawer None."].parts.thread == 0


@pytest.mark.parametrize("asker", ["Ana", "user"])
def test_nobody_answers_their_own_question(local: Store, asker: str) -> None:
    for thread, speaker in (("own", asker), ("other", "assistant")):
        local.add("Where is the key?", subject=asker, thread=thread)
        local.add(f"In the drawer {thread}.", subject=speaker, thread=thread)
    gains = {
        hit.fact.content: hit.parts.thread
        for hit in local.search("Where is the key?", min_relevance=0)
    }
    assert gains["In the drawer other."] > gains["In the drawer own."] + 0.1


def test_question_without_a_speaker_can_be_answered_by_anyone(local: Store) -> None:
    for asker in ("note", "Ana"):
        local.add("Where is the key?", subject=asker, thread=asker)
        local.add(f"In the drawer {asker}.", subject="note", thread=asker)
    gains = {
        hit.fact.content: hit.parts.thread
        for hit in local.search("Where is the key?", min_relevance=0)
    }
    assert gains["In the drawer note."] == pytest.approx(gains["In the drawer Ana."], abs=0.05)


@pytest.mark.parametrize("conversations", [2, 3])
def test_what_is_said_anywhere_has_nothing_of_the_turns_beside_it(
    local: Store, conversations: int
) -> None:
    for number in range(conversations):
        local.add("Where is the spare key kept?", subject="Ben", thread=f"{number}", seq=0)
        local.add("That is not written down here.", subject="Ana", thread=f"{number}", seq=1)
    local.add("The blue drawer has the spare key.", subject="Ben", thread="other", seq=0)
    hits = local.search("Where is the spare key kept?", min_relevance=0)
    beside = [hit.parts for hit in hits if "written" in hit.fact.content]
    assert len(beside) == conversations
    for parts in beside:
        is_common = conversations > 2
        assert ((parts.thread, parts.session) == (0, 0)) == is_common
        assert (parts.thread > 0) != is_common
    answer = next(hit for hit in hits if "drawer" in hit.fact.content)
    assert (answer.score > max(sum(parts[:-1]) for parts in beside)) == (conversations > 2)


def test_neighbours_of_another_namespace_or_owner_do_not_count(local: Store) -> None:
    local.add("Where is the key?", subject="Ana", thread="t", user_id="ana")
    with memstore.open(local.path, namespace="other", embedder=LocalEmbedder()) as other:
        other.add("Where is the key?", subject="Ana", thread="t")
    local.add("In the drawer.", subject="Otto", thread="t")
    [hit] = local.search("Where is the key?", min_relevance=0)
    assert hit.parts.thread == hit.parts.session == 0


def test_hidden_neighbours_do_not_count(local: Store) -> None:
    gone = local.add("Where is the key?", subject="Ana", thread="t", seq=1)
    local.add("In the drawer.", subject="Otto", thread="t", seq=2)
    local.delete(gone.id)
    assert all(hit.parts.thread == 0 for hit in local.search("Where is the key?", min_relevance=0))


def test_newest_wins_ties_on_one_subject(local: Store) -> None:
    for day, city in ((1, "Oslo"), (3, "Rome"), (2, "Bonn")):
        local.add(f"lives in {city}", subject="Ana", valid_at=f"2024-01-0{day}T00:00:00Z")
    found = local.search("Where does Ana live?")
    assert contents(found) == ["lives in Rome", "lives in Bonn", "lives in Oslo"]
    scores = [hit.score for hit in found]
    own = [hit.score - hit.parts.age for hit in found]
    assert max(scores) - min(scores) <= 0.02
    assert own != sorted(own, reverse=True), "their scores alone put them so"
    assert scores == sorted(scores, reverse=True)


def test_score_decides_between_different_statements(local: Store) -> None:
    local.add("repairs old bicycles downtown", subject="Ana", valid_at="2024-01-01")
    local.add("writes poems about trains", subject="Ana", valid_at="2024-01-02")
    older, newer = local.search("What does Ana do?")
    assert (older.fact.id, newer.fact.id) == (1, 2)
    assert 0 < older.score - newer.score <= 0.02


@pytest.mark.parametrize(
    ("asked", "first"),
    [
        ("Which theme does Alice like?", "Alice prefers dark mode in every editor"),
        ("When is the review?", "The review was moved to Monday morning"),
    ],
)
def test_answers_rank_above_similar_texts(local: Store, asked: str, first: str) -> None:
    for content in (
        "Alice works at Globex",
        "Alice prefers dark mode in every editor",
        "The review of the budget covers travel",
        "The review was moved to Monday morning",
    ):
        local.add(content, subject=content.split()[0])
    assert contents(local.search(asked))[0] == first


def test_weights_select_the_classic_formula(local: Store) -> None:
    local.add("tea in the harbour", subject="Ana", category="event")
    [hit] = local.search("tea", word_weight=2.0)
    classic = local.search("tea", word_weight=2.0, ranking="classic")
    assert classic.ranking == "classic"
    assert classic[0].score == pytest.approx(2 * hit.word_score + 0.4 * hit.vector_score)
    assert hit.parts.words == pytest.approx(2 * hit.word_score)


def test_weights_are_refused_with_the_contextual_ranking(store: Store) -> None:
    says = "ranking 'contextual' does not take word_weight"
    with pytest.raises(memstore.InvalidArgument, match=says):
        store.search("tea", word_weight=1.0, ranking="contextual")
    with pytest.raises(memstore.InvalidArgument, match="alpha"):
        store.episodes.search("tea", alpha=0.1, ranking="contextual")
    with pytest.raises(memstore.InvalidArgument, match="ranking must be"):
        store.search("tea", ranking="best")


SEVEN = ["Alice prefers dark mode in every editor", "Alice works at Globex", "Bob plays the violin",
         "The deploy runs on Fridays", "Our API is written in Rust", "Carol lives in Lisbon",
         "Tea is better than coffee"]  # fmt: skip


def test_query_without_a_relevant_fact_finds_nothing(local: Store) -> None:
    for content in SEVEN:
        local.add(content, subject=content.split()[0])
    for name in ("contextual", "classic"):
        assert local.search("zzzz qqqq", ranking=name, min_relevance=0)
        assert not local.search("zzzz qqqq", ranking=name, min_relevance=0.075)
        assert local.search("dark mode", ranking=name, min_relevance=0.075)
    with pytest.raises(memstore.InvalidArgument, match="min_relevance"):
        local.search("tea", min_relevance=2)


def test_relevance_equals_the_documented_formula(local: Store) -> None:
    for content in SEVEN:
        local.add(content, subject=content.split()[0])
    local.search("tea")
    features = local.file.searches.facts.index._current.features
    twin = Contextual(str(local.path), 0.0)
    for query, telling in (
        ("Which theme does she like?", ["theme", "like"]),
        ("where does she live", ["live"]),
        ("zzzz qqqq", ["zzzz", "qqqq"]),
    ):
        expected = twin.relevance(query, telling)
        found = ranking.relevances(features, query, " ".join(telling), [*expected])
        assert found == pytest.approx([*expected.values()], abs=1e-4)
    assert ranking.relevances(features, "tea", "tea", [99]) == [None]


def test_relevance_that_the_ranking_tells_is_that_of_the_hits(local: Store) -> None:
    chance = random.Random(5)
    said_words = "tea rain theme Lisbon blue lives coffee office".split()
    for place in range(120):
        said = " ".join(chance.choices(said_words, k=5))
        local.add(said, subject=f"subject {place % 7}")
    local.search("tea")
    index = local.file.searches.facts.index._current
    features, words = index.features, index.words
    ids, query, asked = [*range(1, 121)], "Which tea does she like in Lisbon?", ["tea", "Lisbon"]
    telling, terms = " ".join(asked), [(one, [[one.lower()]]) for one in asked]
    rows, _ = ranking.contextual(
        features, words, [["tea"], ["lisbon"]], query, telling, [(id_, None) for id_ in ids],
        limit=120, compares=True,
    )  # fmt: skip
    told = {row[0]: row[-1] for row in rows}
    alone = ranking.relevances(features, query, telling, ids)
    assert [told[id_] for id_ in ids] == alone
    bearings = ranking.bearings(features, words, query, terms, [], ids)
    held = words.parts([["tea"], ["lisbon"]], ids)
    whole = [one.is_enough or all(parts) for one, parts in zip(bearings, held, strict=True)]
    expected = [1.0 if is_whole else one for is_whole, one in zip(whole, alone, strict=True)]
    given = features, words, query, terms, [], telling
    assert ranking.relevances_of_hits(*given, ids, [None] * 120) == expected
    assert ranking.relevances_of_hits(*given, ids, alone) == expected
    assert 0 < sum(whole) < 120
    assert ranking.relevances_of_hits(*given, [999], [0.5]) == [None]
    with pytest.raises(ValueError, match="known"):
        ranking.relevances_of_hits(*given, ids, [])
    condition = None, None, "newest", [], [], None, (0.4, 0.8)
    rows, _ = ranking.contextual(
        features, words, [["tea"]], query, telling, [(1, None)], limit=1, condition=condition
    )
    assert rows[0][-1] is None


def test_a_paraphrase_is_found_in_a_small_memory(local: Store) -> None:
    for content in SEVEN:
        local.add(content, subject="note")
    for query, first in (
        ("where does she live", "Carol lives in Lisbon"),
        ("Who is in Portugal?", "Carol lives in Lisbon"),
        ("which instrument does anybody play?", "Bob plays the violin"),
        ("what editor settings are liked", "Alice prefers dark mode in every editor"),
    ):
        assert contents(local.search(query, min_relevance=MIN_RELEVANCE))[0] == first
    for query in ("zzzz qqqq", "how do I bake bread", "what is the weather today"):
        assert not local.search(query, min_relevance=MIN_RELEVANCE)


def test_a_fact_is_no_answer_for_being_stored_on_a_day(local: Store) -> None:
    now = clock.utc_now()
    for content in SEVEN:
        local.add(content, subject="note")
    asked = ("what is the weather today", "wie ist das Wetter heute", "quantum gravity today?")
    for query in asked:
        assert not local.search(query), query
        assert not local.remind(query).text
    local.add("The ferry is late", subject="harbour", valid_at=now)
    local.episodes.add("We met at the harbour", source="chat", valid_at=now)
    for query in asked:
        assert contents(local.search(query)) == ["The ferry is late"], query
        assert [hit.episode.id for hit in local.episodes.search(query)] == [1]


def test_relevance_uses_the_built_in_model_with_any_embedder(
    open_store: Callable[..., Store], embedder: WordEmbedder
) -> None:
    store = open_store(embedder=embedder)
    for content in SEVEN:
        store.add(content, subject=content.split()[0])
    embedder.failure = memstore.EmbedderUnavailable("away")
    store.add("the ferry leaves at noon", subject="pending")
    assert store.search("when does the ferry leave", min_relevance=0.075)
    assert not store.search("zzzz qqqq", min_relevance=0.075)


def test_ranking_without_an_index_uses_the_classic_formula(local: Store) -> None:
    local.add("tea in the harbour", subject="Ana")
    local.file.searches.facts.index._unfit = True
    hits = local.search("tea")
    assert hits.ranking == "classic"
    assert hits[0].parts.terms == 0


def test_completed_task_decays(local: Store) -> None:
    created = datetime.now(UTC) - timedelta(days=30)
    task = local.add("water the plants", subject="todo", created_at=created,
                     metadata={"kind": "task", "status": "pending"})  # fmt: skip
    assert local.search("plants", tasks=True)[0].decay == 1
    local.tasks.update(task.id, status="completed")
    assert local.search("plants", tasks=True)[0].decay == pytest.approx(0.5, abs=1e-3)


def test_erasing_a_text_erases_its_chunks(local: Store) -> None:
    fact = local.add("xylophone", subject="Ana")
    local.add("tea", subject="Ana")
    local.search("tea")
    features = local.file.searches.facts.index._current.features
    before = dict(features.idf("xylophone"))
    local.erase(fact.id)
    local.search("tea")
    features = local.file.searches.facts.index._current.features
    after = dict(features.idf("xylophone"))
    assert all(after[piece] > before[piece] for piece in before)


def test_episodes_have_threads_too(local: Store) -> None:
    local.episodes.add("Where did you put the key?", source="s", thread="t", speaker="Ana")
    local.episodes.add("In the blue drawer.", source="s", thread="t", speaker="Otto")
    hits = local.episodes.search("Where is the key that Ana lost?")
    assert hits.ranking == "contextual"
    assert hits[0].parts.subject > 0
    assert hits[1].parts.thread > 0


def test_episodes_score_like_the_same_facts_except_for_words(local: Store) -> None:
    day = "2023-05-08"
    for speaker, thread, content in (
        ("Ana", "t", "Ana: Where did you put the key?"),
        ("Otto", "t", "Otto: In the blue drawer."),
        ("Ana", "t", "Ana: Tea is ready."),
        ("Otto", None, "Otto went to Berlin yesterday"),
    ):
        local.add(content, subject=speaker, thread=thread, category="event", valid_at=day)
        local.episodes.add(content, source="s", speaker=speaker, thread=thread, valid_at=day)
    local.file.embed_pending()
    for query in ("Where is the key that Ana lost?", "What of Berlin in 2022?", "When is tea?"):
        facts = {hit.fact.content: hit for hit in local.search(query)}
        episodes = {hit.episode.content: hit for hit in local.episodes.search(query)}
        assert facts.keys() == episodes.keys()
        for content, fact in facts.items():
            expected, found = fact.parts._asdict(), episodes[content].parts._asdict()
            for part in ("meaning", "terms", "subject", "date", "kind"):
                assert found[part] == pytest.approx(expected[part], abs=1e-5), (content, part)
            # BM25 counts the subject of a fact as words of it.
            assert episodes[content].score == pytest.approx(fact.score, abs=0.01)
