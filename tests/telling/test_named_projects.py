"""Projects: a question that names one is answered from that one, where a memory holds several."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import memstore

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
