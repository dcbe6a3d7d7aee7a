"""The least relevance: exact words pass it, questions of other topics do not."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from memstore import Store
from memstore._kernel.ranking import Bearing
from memstore.providers.local import LocalEmbedder
from memstore.search.requests import NEAR_THE_BEST
from memstore.settings import MIN_RELEVANCE

Open = Callable[..., Store]

FACTS = [
    "The migration script is undo.sh and lives in tools/db",
    "Rotating the logs needs logrotate with the option copytruncate",
    "The balancer reports an unbalanced partition after each restart",
    "Staging listens on 5499 and production on 6400",
    "We froze the parser at version 3.11 until the autumn",
    "The retry loop is in src/net/backoff.rs",
    "Marta owns the calendar, Ivo the invoices",
    "Builds run on k8s in the small cluster",
    "The colour of the header is teal",
    "max_open_files is raised on every host",
    "The violin lessons are on Thursdays",
    "Grandmother's recipe has nutmeg and lovage",
    "The bicycle was sold in Lisbon",
    "The landlord wants the deposit by cheque",
    "Ferries to the island leave from the old harbour",
    "The dentist moved to another street",
    "Our cat is afraid of the hoover",
    "parseTicket drops the trailing bracket",
    "The choir rehearses the requiem",
    "The greenhouse needs a new hinge",
]

EXACT = [
    ("unbalanced port", 2),
    ("undo.sh usage", 0),
    ("what did we ever decide about running undo.sh on the staging box after a deploy", 0),
    ("who listens at 5499", 3),
    ("did anybody upgrade or change something because of 3.11 over there", 4),
    ("where in the sources was src/net/backoff.rs mentioned by somebody", 5),
    ("why is /home/me/work/src/net/backoff.rs:17 so slow", 5),
    ("k8s meaning", 7),
    ("is max_open_files documented anywhere by those people", 9),
    ("what happens when parseTicket gets input that nobody expected", 17),
    ("lovage price", 11),
    ("price requiem", 18),
    ("copytruncate version", 1),
    ("hinge config", 19),
    ("teal again", 8),
]

ELSEWHERE = [
    "which enzymes repair double strand breaks in yeast",
    "is the boundary layer of a slender cone laminar",
    "how do I bake bread without yeast",
    "does vitamin D lower the risk of fractures in elderly women",
    "10% of patients were treated with 5 mg of the inhibitor",
    "continue",
    "fix the typo",
    "what is the capital of Mongolia",
]


def filled(store: Store, contents: list[str] = FACTS) -> Store:
    store.add_many({"content": content, "subject": "note"} for content in contents)
    return store


@pytest.fixture
def memory(open_store: Open) -> Store:
    return filled(open_store(embedder=LocalEmbedder()))


def contents(store: Store, query: str) -> list[str]:
    return [hit.fact.content for hit in store.search(query, min_relevance=MIN_RELEVANCE)]


@pytest.mark.parametrize(("query", "fact"), EXACT)
def test_exact_words_of_a_query_pass(memory: Store, query: str, fact: int) -> None:
    assert FACTS[fact] in contents(memory, query)


def test_exact_words_of_episodes_pass(open_store: Open) -> None:
    store = open_store(embedder=LocalEmbedder())
    store.episodes.add_many({"content": content, "source": "test"} for content in FACTS)
    store.file.embed_pending()
    for query, fact in EXACT:
        hits = store.episodes.search(query, min_relevance=MIN_RELEVANCE)
        assert FACTS[fact] in [hit.episode.content for hit in hits], query
    for query in ELSEWHERE:
        assert not store.episodes.search(query, min_relevance=MIN_RELEVANCE), query


@pytest.mark.parametrize("query", ELSEWHERE)
def test_questions_of_another_topic_find_nothing(memory: Store, query: str) -> None:
    assert contents(memory, query) == []


def test_every_rare_word_passes_beside_a_word_of_no_fact(memory: Store) -> None:
    rare = "logrotate copytruncate unbalanced balancer teal violin nutmeg lovage bicycle deposit"
    rare += " cheque dentist hoover requiem choir rehearses greenhouse hinge recipe parser 6400"
    hidden = [
        f"{pair}"
        for word in rare.split()
        for pair in (f"{word} port", f"usage {word}", f"{word} status")
        if not contents(memory, pair)
    ]
    assert hidden == []


def test_one_common_word_is_not_enough_in_a_small_memory(open_store: Open) -> None:
    three = ["John is running for office again", "Anna has a new desk", "We like the old house"]
    store = filled(open_store(embedder=LocalEmbedder()), three)
    for query in (
        "how do new enzymes repair strands",
        "does anyone run old experiments about vitamin fractures",
        "is the new theory of laminar cones complete",
    ):
        assert contents(store, query) == []


def test_a_word_of_half_the_facts_is_not_rare(open_store: Open) -> None:
    many = [f"The zeppelin {word} item {place}" for place, word in enumerate(["red", "blue"] * 80)]
    store = filled(open_store(embedder=LocalEmbedder()), [*many, "Undo is slow"])
    [bearing] = _bearings(store, "zeppelin enzymes", [1])
    assert bearing.weight < 1
    assert not bearing.is_enough


def _bearings(store: Store, query: str, ids: list[int]) -> list[Bearing]:
    texts = {id_: store.get(id_).content for id_ in ids}
    return [*store.file.searches.facts.about(query, texts, {}, asks=False).bearings]


def test_bearing_tells_names_identifiers_and_words(memory: Store) -> None:
    ids = [fact.id for fact in memory.list()]
    query = "does Ivo know why undo.sh left an unbalanced partition"
    found = dict(zip(ids, _bearings(memory, query, ids), strict=True))
    assert [id_ for id_ in ids if found[id_].identified] == [ids[0]]
    assert [id_ for id_ in ids if found[id_].named] == [ids[6]]
    assert found[ids[2]].rare >= 1
    assert 0.3 < found[ids[2]].coverage < 1
    none = found[ids[9]]
    assert [none.is_enough, none.named, none.dated, none.identified] == [False] * 4
    assert (none.weight, none.coverage, none.rare) == (0, 0, 0)


def test_search_by_words_alone_leaves_nothing_out(open_store: Open) -> None:
    store = filled(open_store(embedder=None))
    hits = store.search("again the old enzymes", min_relevance=0.9)
    assert [hit.fact.content for hit in hits] == [FACTS[14]]
    assert hits.is_relevant is False
    assert hits.hidden == 0
    store.episodes.add("the ferry is old", source="test")
    said = store.episodes.search("old enzymes of yeast in mice", min_relevance=0.9)
    assert [hit.episode.content for hit in said] == ["the ferry is old"]
    assert said.newest_first == 0  # it is not listed among those that do not match


@pytest.mark.parametrize("weights", [{"vector_weight": 0.0}, {"ranking": "classic"}])
def test_search_by_words_alone_is_a_choice(memory: Store, weights: dict[str, object]) -> None:
    hits = memory.search("old enzymes of yeast in mice", min_relevance=0.9, **weights)  # type: ignore[arg-type]
    assert bool(hits) == ("vector_weight" in weights)


def test_keyword_mode_leaves_nothing_out(open_store: Open) -> None:
    store = open_store(embedder=LocalEmbedder())
    store.episodes.add("the ferry is old", source="test")
    store.file.embed_pending()
    query = "old enzymes of yeast in mice"
    assert store.episodes.search(query, mode="words", min_relevance=0.9)
    assert not store.episodes.search(query, min_relevance=0.9)


def test_hits_tell_how_many_were_left_out(memory: Store) -> None:
    hits = memory.search(ELSEWHERE[0], min_relevance=MIN_RELEVANCE, limit=7)
    assert (list(hits), hits.is_relevant, hits.hidden) == ([], False, 7)
    every = memory.search(ELSEWHERE[0], limit=7, min_relevance=0)
    assert (len(every), every.is_relevant, every.hidden) == (7, None, 0)
    found = memory.search("unbalanced port", min_relevance=MIN_RELEVANCE)
    assert found.is_relevant is True
    assert memory.recall(ELSEWHERE[0], max_tokens=500, min_relevance=MIN_RELEVANCE).hidden >= 7
    assert memory.recall(ELSEWHERE[0], max_tokens=500, min_relevance=0).hidden == 0


def test_the_library_has_the_minimum_of_the_faces(memory: Store) -> None:
    hits = memory.search("quantum gravity")
    assert (list(hits), hits.is_relevant) == ([], False)
    assert hits.hidden
    assert memory.recall("quantum gravity", max_tokens=500).text == ""
    assert memory.as_of("now").search("quantum gravity") == []
    for query in (*ELSEWHERE, *(query for query, _ in EXACT)):
        assert [hit.fact.content for hit in memory.search(query)] == contents(memory, query)
    # What the original found, the classic ranking finds.
    assert memory.search("quantum gravity", ranking="classic")
    assert memory.search("quantum gravity", word_weight=0.6)
    assert not memory.search("quantum gravity", ranking="classic", min_relevance=MIN_RELEVANCE)


@pytest.mark.parametrize(("query", "place"), EXACT)
def test_what_follows_the_answer_is_counted(memory: Store, query: str, place: int) -> None:
    hits = memory.search(query, limit=20)
    every = memory.search(query, limit=20, min_relevance=0)
    assert hits[0].fact.content == FACTS[place]
    assert len(hits) + hits.hidden == len(every)
    assert len(hits) <= 4
    shown = [hit.fact.id for hit in hits]
    assert shown == [hit.fact.id for hit in every if hit.fact.id in shown]


def test_each_hit_is_relevant_or_near_the_best(memory: Store) -> None:
    for query in (*ELSEWHERE, *(query for query, _ in EXACT), *FACTS):
        hits = memory.search(query, limit=20)
        others = [
            hit
            for hit in memory.search(query, limit=20, min_relevance=0)
            if hit.fact.id not in {one.fact.id for one in hits}
        ]
        if hits:
            least = NEAR_THE_BEST * hits[0].score
            assert all(hit.score < least for hit in others)


def test_turns_that_follow_the_answer_are_counted(memory: Store) -> None:
    for text in FACTS:
        memory.episodes.add(text, source="chat")
    memory.file.embed_pending()
    hits = memory.episodes.search("who listens at 5499")
    assert hits[0].episode.content == FACTS[3]
    assert len(hits) <= 3
    assert hits.hidden >= 7
    told = memory.recall("who listens at 5499", max_tokens=2000)
    assert told.hidden >= 14
    assert len(told.text.splitlines()) <= 5


@pytest.mark.parametrize("ask", ["recall", "why_not"])
def test_a_rare_word_among_others_is_enough_to_fill_a_budget(memory: Store, ask: str) -> None:
    query = "lovage, thermodynamics, choreography and seismographs"
    assert not memory.search(query)
    if ask == "recall":
        assert "lovage" in memory.recall(query, max_tokens=200).text
    else:
        named = next(fact.id for fact in memory.list() if "lovage" in fact.content)
        assert memory.why_not(query, named, max_tokens=200).stage == "found"


def test_a_budget_is_not_filled_with_what_has_nothing_of_the_query(memory: Store) -> None:
    query = "thermodynamics, choreography and seismographs"
    told = memory.recall(query, max_tokens=200)
    assert (told.text, told.facts, told.episodes) == ("", (), ())
    assert told.hidden == len(memory.search(query, limit=100, min_relevance=0))
    assert memory.why_not(query, told.hidden, max_tokens=200).stage == "relevance"
    assert not memory.turns_for(query)


def test_a_relevant_fact_brings_the_turns_near_it(open_store: Open) -> None:
    store = open_store(embedder=LocalEmbedder())
    turn = store.episodes.add("Plants like rain.", source="chat", speaker="Ana")
    store.file.embed_pending()
    query = "how tall does the lovage grow"
    assert store.episodes.search(query, min_relevance=0)
    assert not store.turns_for(query)
    assert not store.recall(query, max_tokens=200).episodes
    fact = store.add("The lovage grows beside the shed", subject="garden")
    told = store.recall(query, max_tokens=200)
    assert (told.facts, told.episodes) == ((fact.id,), (turn.id,))
