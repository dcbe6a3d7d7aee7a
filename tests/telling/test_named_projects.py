"""Projects: a question that names one is answered from that one, where a memory holds several."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import memstore
from memstore.database.filters import FactFilter
from memstore.database.tables.thread_subjects import subjects_of_threads
from memstore.domain.arguments import MAX_NUMBER
from memstore.domain.episodes import EpisodeHits
from memstore.domain.records import SearchHit, SearchHits
from memstore.frozen import replace
from memstore.telling.named_projects import _near_the_best, without
from memstore.telling.recall import Found
from memstore.text.folding import is_named_in

Open = Callable[..., memstore.Store]

QUEUES = {"fleet": "NATS", "books": "RabbitMQ", "radio": "Redis"}


def keep(store: memstore.Store, project: str, *, marked: bool = False) -> None:
    """Store two sessions of a project: by marks, or by facts on it, one can tell its project."""
    metadata = {"project": f"~/work/{project}"} if marked else None
    for number, text in enumerate(
        (f"Background jobs go through {QUEUES[project]}.", f"A note on {project}, nothing else.")
    ):
        turns = store.episodes.add_many(
            {
                "content": one,
                "source": "host",
                "speaker": "user",
                "thread": f"{project[:2]}{number}",
                "metadata": metadata,
            }
            for one in (text, f"Deploys are made on day {number}.")
        )
        if not marked:
            store.add(
                f"Deploys are made on day {number} of the week",
                subject=project,
                category="decision",
                episode_id=turns[1].id,
            )


@pytest.fixture(params=["facts", "marks"])
def store(open_store: Open, request: pytest.FixtureRequest) -> memstore.Store:
    store = open_store()
    for project in QUEUES:
        keep(store, project, marked=request.param == "marks")
    return store


def values(store: memstore.Store, episodes: tuple[int, ...]) -> list[str]:
    """Return what carries jobs, as the turns among these say, in their order."""
    texts = [store.episodes.get(id_).content for id_ in episodes]
    said = [text for text in texts if text.startswith("Background")]
    return [text.rstrip(".").rpartition(" ")[2] for text in said]


@pytest.mark.parametrize("project", QUEUES)
@pytest.mark.parametrize(
    "question",
    [
        "{}: what do background jobs go through?",
        "what do background jobs of {} go through?",
        "was benutzen die background jobs von {}?",
        "¿por dónde van los background jobs de {}?",
    ],
)
def test_the_project_that_is_named_comes_first(
    store: memstore.Store, question: str, project: str
) -> None:
    for name in (project, project.capitalize()):
        asked = question.format(name)
        assert values(store, store.recall(asked, max_tokens=500).episodes)[0] == QUEUES[project]
        assert values(store, store.remind(asked).episodes)[0] == QUEUES[project]
        turns = store.turns_for(asked, store.search(asked))
        assert values(store, tuple(hit.episode.id for hit in turns))[0] == QUEUES[project]


def test_a_project_that_nothing_else_is_asked_of_is_the_topic(store: memstore.Store) -> None:
    assert "A note on radio" in store.recall("radio", max_tokens=500).text
    assert "radio" in store.recall("what about radio?", max_tokens=500).text


def test_the_callers_project_counts_as_named(open_store: Open) -> None:
    store = open_store()
    for project in QUEUES:
        keep(store, project, marked=True)
    shown = store.within(project="~/work/books").recall(
        "what do background jobs of fleet use?", max_tokens=500
    )
    assert {*values(store, shown.episodes[:2])} <= {"NATS", "RabbitMQ"}
    assert "[from project fleet]" in shown.text


def test_a_search_in_a_project_lowers_no_other_that_is_named(open_store: Open) -> None:
    whole = open_store()
    for project, queue in QUEUES.items():
        whole.within(project=f"~/work/{project}").add(f"The queue is {queue}", subject="queue")
    own = whole.within(project="~/work/books")
    lowered = {
        hit.fact.content: hit.parts.project for hit in own.search("the queue of fleet", limit=3)
    }
    assert lowered["The queue is NATS"] == 0.0
    assert lowered["The queue is Redis"] < 0.0


def test_a_subject_of_mixed_conversations_is_no_project(open_store: Open) -> None:
    """The name of a part of one project stays what is asked about."""
    store = open_store()
    for number in range(3):
        turns = store.episodes.add_many(
            {"content": text, "source": "host", "thread": f"t{number}"}
            for text in (f"The worker has {number} retries.", f"Staging has {number} machines.")
        )
        for turn, subject in zip(turns, ("worker", "staging"), strict=True):
            store.add(f"{turn.content} As agreed", subject=subject, episode_id=turn.id)
    named = store.recall("how many retries has the worker?", max_tokens=500)
    parts = [hit.parts.project for hit in store.search("how many retries has the worker?")]
    assert named.facts
    assert {*parts} == {0.0}
    found = store.turns_for("how many retries has the worker?", limit=10)
    assert {hit.parts.project for hit in found} == {0.0}


def test_a_fact_that_is_lowered_says_so(open_store: Open) -> None:
    store = open_store()
    for project in QUEUES:
        keep(store, project)
    question = "radio: on which day of the week are deploys made?"
    for fact in store.list(subject="books"):
        told = store.why_not(question, fact.id, max_tokens=500)
        assert told.stage in {"found", "relevance", "budget", "repeated"}
    first = store.recall(question, max_tokens=500).facts[0]
    assert store.get(first).subject == "radio"


@pytest.mark.parametrize(
    "question", ["FLEET-7: what was the cause?", "why was src/fleet/map.ts changed?"]
)
def test_a_name_in_an_identifier_is_a_part_of_it(store: memstore.Store, question: str) -> None:
    cause = "Somebody had swapped latitude and longitude."
    for ticket, text in (
        ("FLEET-7: src/fleet/map.ts is broken", cause),
        ("FLEET-8: slow", "It ran"),
    ):
        store.episodes.add_many(
            {"content": one, "source": "host", "thread": ticket[:7], "speaker": speaker}
            for one, speaker in ((ticket, "user"), (text, "assistant"))
        )
    assert cause in store.recall(question, max_tokens=100).text
    assert cause in store.remind(question).text


JOBS = "fleet: what do background jobs go through?"


def is_project(store: memstore.Store) -> bool:
    """Return whether the name in the question counts as that of a project: others are left out."""
    turns = store.turns_for(JOBS, store.search(JOBS), limit=10)
    return values(store, tuple(hit.episode.id for hit in turns)) == [QUEUES["fleet"]]


def drawn(store: memstore.Store, project: str) -> list[int]:
    """Return the ids of the turns from which facts on a project were drawn."""
    return [fact.episode_id for fact in store.list(subject=project) if fact.episode_id is not None]


@pytest.mark.parametrize("state", ["erased", "deleted", "preference"])
def test_what_does_not_count_makes_no_conversation_mixed(open_store: Open, state: str) -> None:
    store = open_store()
    for project in QUEUES:
        keep(store, project)
    for turn in drawn(store, "fleet"):
        category = "preference" if state == "preference" else "decision"
        subject = "user" if state == "preference" else "books"
        fact = store.add("Likes short lines", subject=subject, category=category, episode_id=turn)
        if state == "deleted":
            store.delete(fact.id)
        elif state == "erased":
            store.erase(fact.id)
    assert is_project(store)


def test_facts_of_others_do_not_say_what_is_a_project(open_store: Open) -> None:
    whole = open_store()
    ana = whole.of(user_id="ana")
    for project in QUEUES:
        keep(ana, project)
    for turn in drawn(ana, "fleet"):
        whole.add("Likes short lines", subject="books", episode_id=turn)
    assert is_project(ana)


def test_conversations_of_two_users_with_one_name_are_two(open_store: Open) -> None:
    whole = open_store()
    turns = []
    for user, subject in (("ana", "radio"), ("ben", "books")):
        mine = whole.of(user_id=user)
        said = {"content": f"Jobs of {user}.", "source": "host", "thread": "one"}
        turns += [mine.episodes.add_many([said])[0].id]
        mine.add("Jobs run at night", subject=subject, category="decision", episode_id=turns[-1])
    wanted = FactFilter(("default",), whole.at)
    with whole._file.engine.read() as transaction:
        found = subjects_of_threads(transaction, turns, wanted, MAX_NUMBER)
    assert {key[1].user_id: subjects for key, subjects in found.items()} == {
        "ana": {"radio"},
        "ben": {"books"},
    }


@pytest.mark.parametrize(
    ("question", "name", "left"),
    [
        ("which port has Straße?", "strasse", "which port has ?"),
        ("what is fleet's queue?", "fleet", "what is queue?"),
        ("what is Fleet’s queue?", "fleet", "what is queue?"),
        ("fleet: which queue?", "fleet", "which queue?"),
        ("fleets: which queue?", "fleet", "fleets: which queue?"),
        ("radioのコーデックは", "radio", "のコーデックは"),
    ],
)
def test_a_question_without_a_name(question: str, name: str, left: str) -> None:
    assert without(question, [name]) == left


def test_scripts_without_spaces_part_names() -> None:
    assert is_named_in("radioのコーデックは", "radio")
    assert is_named_in("東京のradioは", "radio")
    assert not is_named_in("radiosのコーデックは", "radio")
    assert not is_named_in("src/radio/のコーデック", "radio")


def test_a_word_of_the_callers_own_texts_is_no_name_of_a_project(open_store: Open) -> None:
    whole = open_store()
    own, api = whole.within(project="~/work/shop"), whole.within(project="~/work/api")
    shop = own.add("The api of the shop listens on port 8080", subject="endpoint")
    own.add("The warehouse is in Kassel", subject="warehouse")
    for number in range(4):
        api.add(f"Release {number} listens on port 90{number}0 behind the proxy", subject="release")
    api.add("The port that it uses is 9999", subject="release")
    assert own.recall("which port does the api use?", max_tokens=500).facts[0] == shop.id


def test_a_stop_word_is_no_name_of_a_project(store: memstore.Store) -> None:
    for project, names in (("~/work/it", []), ("~/work/radio", ["radio"])):
        fact = store.within(project=project).add("Port 9999", subject="release")
        hit = SearchHit(fact=fact, score=1.0, word_score=0.0, vector_score=0.0, decay=1.0)
        found = Found(SearchHits([hit]), EpisodeHits())
        assert sorted(found.named_in("which port does it use, and radio?").projects) == names


def test_what_scores_below_nothing_is_not_left_out(store: memstore.Store) -> None:
    fact = store.add("Deploys are quick", subject="ops", category="decision")
    hits = [
        SearchHit(fact=fact, score=score, word_score=0.0, vector_score=0.0, decay=1.0)
        for score in (-0.2, -0.1)
    ]
    assert [hit.score for hit in _near_the_best(hits)] == [-0.1, -0.2]
    hits.append(SearchHit(fact=fact, score=1.0, word_score=0.0, vector_score=0.0, decay=1.0))
    assert [hit.score for hit in _near_the_best(hits)] == [1.0]


def test_no_turn_repeats_a_fact_that_is_shown_and_scores_low(open_store: Open) -> None:
    store = open_store()
    for project in QUEUES:
        keep(store, project, marked=True)
    text = "Background jobs go through a very old Kafka"
    fact = store.add(text, subject="books", metadata={"project": "~/work/books"})
    turn = store.episodes.add_many([{"content": text, "source": "host", "thread": "old"}])[0]
    shown = SearchHit(fact=fact, score=0.01, word_score=0.0, vector_score=0.0, decay=1.0)
    best = store.add("Background jobs of fleet go through NATS", subject="fleet")
    both = [replace(shown, fact=best, score=0.9), shown]
    assert turn.id not in {hit.episode.id for hit in store.turns_for(JOBS, both, limit=20)}
    assert turn.id in {hit.episode.id for hit in store.turns_for(JOBS, both[:1], limit=20)}
