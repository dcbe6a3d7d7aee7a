"""The log: conversations, episodes, what was drawn from them."""

from __future__ import annotations

import json
import re
import threading

import pytest
from tests.support.clock import wait_until
from tests.support.model_server import ModelServer
from tests.support.pages import Pages, hidden, text_of

from memstore import Store
from memstore.faces.web import rereading


def test_episodes_are_listed_newest_first_by_conversation(pages: Pages) -> None:
    for n, thread in enumerate(["monday", "monday", "tuesday", None]):
        pages.store.episodes.add(f"Turn {n}", source="chat", thread=thread, speaker="user")
    page = text_of(pages.read("log"))
    order = ["3", "2", "2", "0", "1", "0"]  # a session is named by its first request
    assert re.findall(r"Turn (\d)", page) == order
    assert "monday" not in page


def test_pages_of_episodes_show_each_once(pages: Pages) -> None:
    pages.store.episodes.add_many([{"content": f"Turn {n:03}.", "source": "s"} for n in range(120)])
    seen: list[str] = []
    path = "log"
    while path:
        page = pages.read(path)
        seen += [name for name in (f"Turn {n:03}." for n in reversed(range(120))) if name in page]
        older = page.partition('rel="next" href="')[2].split('"')[0]
        path = "log" + older.partition("log")[2] if older else ""
    assert seen == [f"Turn {n:03}." for n in reversed(range(120))]


def test_a_question_finds_episodes(pages: Pages) -> None:
    pages.store.episodes.add("The harbour is closed in winter", source="chat")
    pages.store.episodes.add("The gate is green", source="chat")
    page = text_of(pages.ask("log", {"query": "harbour"}))
    assert "1 turn found" in page
    assert "closed in winter" in page
    assert "The gate" not in page
    assert "Nothing fits" in pages.ask("log", {"query": "zebra"})


def test_episodes_are_filtered_by_source_and_owner(pages: Pages) -> None:
    pages.store.of(user_id="ana").episodes.add("The gate is green", source="chat")
    pages.store.episodes.add("The gate is red", source="mail")
    assert "The gate is red" not in pages.ask("log", {"user": "ana"})
    assert "The gate is green" not in pages.ask("log", {"source": "mail"})


def test_an_episode_shows_what_is_around_it_and_what_was_drawn(pages: Pages) -> None:
    turns = [
        pages.store.episodes.add(f"Turn {n}", source="chat", thread="monday") for n in range(3)
    ]
    old = pages.store.add("It is one", subject="n", episode_id=turns[1].id)
    pages.store.add("It is two", subject="n", supersedes=old.id)
    page = text_of(pages.read(f"episode/{turns[1].id}"))
    assert page.index("1 turn before it") < page.index("Turn 1") < page.index("1 turn after it")
    assert "It is one" in page  # in whatever state
    assert f"erase/episode/{turns[1].id}" in pages.read(f"episode/{turns[1].id}")


def test_an_expired_episode_is_listed_and_an_erased_one_is_not_found(pages: Pages) -> None:
    gone = pages.store.episodes.add("Turn 0", source="chat")
    kept = pages.store.episodes.add("Turn 1", source="chat")
    pages.store.episodes.update(kept.id, expired_at="2020-01-01")
    pages.store.episodes.erase(gone.id)
    assert "Turn 1" in pages.read("log")
    assert "expired" in pages.read(f"episode/{kept.id}")
    assert pages.get(f"episode/{gone.id}").status_code == pages.get("episode/99").status_code == 404


def test_an_empty_log_says_what_would_fill_it(pages: Pages) -> None:
    assert "memstore setup" in pages.read("log")


def test_a_long_episode_is_cut_and_shown_on_request(pages: Pages, memory: Store) -> None:
    episode = memory.episodes.add("harbour " * 125_000 + "the end", source="chat")
    page = pages.read(f"episode/{episode.id}")
    assert len(page) < 30_000
    assert "Show all 1,000,007 characters" in text_of(page)
    assert "the end" in pages.read(f"episode/{episode.id}/text")


def test_only_changes_of_facts_offer_an_undo(pages: Pages, memory: Store) -> None:
    episode = memory.episodes.add("The kettle is blue", source="chat")
    fact = memory.add("The kettle is blue", subject="kettle", episode_id=episode.id)
    assert "undo/" not in pages.read(f"episode/{episode.id}").partition("Journal")[2]
    assert "undo/" in pages.read(f"fact/{fact.id}").partition("Journal")[2]


# -- reading an episode again ----------------------------------------------------------------------


def said(*facts: str) -> str:
    return json.dumps(
        {"facts": [{"content": one, "subject": "kettle", "category": "note"} for one in facts]}
    )


def reading_pages(store: Store, model: ModelServer) -> Pages:
    pages = Pages(store, generator=model.generator)
    assert pages.enter().status_code == 303
    return pages


def result(pages: Pages, episode_id: int) -> str:
    """Return what the page says when the reading has ended."""
    wait_until(lambda: "pieces done" not in pages.read(f"episode/{episode_id}/reading"))
    return pages.read(f"episode/{episode_id}/reading")


def test_an_episode_is_read_again_and_that_is_undone_as_a_run(
    memory: Store, model_server: ModelServer
) -> None:
    model_server.replies = [said("The kettle is blue", "The kettle whistles")]
    episode = memory.episodes.add("The kettle is blue and whistles", source="chat")
    old = memory.add("The kettle is blue", subject="kettle")
    pages = reading_pages(memory, model_server)
    assert "Read it again" in pages.read(f"episode/{episode.id}")
    pages.followed(pages.post(f"episode/{episode.id}/reading"))
    page = result(pages, episode.id)
    assert "found 2 facts" in page
    assert "known already" in page
    (new,) = memory.list(episode=episode.id)
    assert f"fact/{new.id}" in page
    path = re.search(r"timeline/undo/\d+", page)
    assert path is not None
    plan = pages.read(path[0])
    assert "The kettle whistles" in plan
    done = pages.post(path[0], {"digest": hidden(plan, "digest")})
    assert done.status_code == 200
    assert [fact.id for fact in memory.list()] == [old.id]


def test_a_reading_that_fails_says_why_and_stores_nothing(
    memory: Store, model_server: ModelServer
) -> None:
    model_server.replies = ["no JSON at all"]
    episode = memory.episodes.add("The kettle is blue", source="chat")
    pages = reading_pages(memory, model_server)
    pages.post(f"episode/{episode.id}/reading")
    assert 'class="problem"' in result(pages, episode.id)
    assert memory.list() == []


def test_a_reading_is_stopped_between_two_pieces(memory: Store, model_server: ModelServer) -> None:
    episode = memory.episodes.add("The kettle is blue. " * 2000, source="chat")
    pages = reading_pages(memory, model_server)
    started = threading.Event()
    stopped = threading.Event()

    def reply(_prompt: str) -> str:
        started.set()
        stopped.wait(10)
        return said("The kettle is blue")

    model_server.replies = reply
    pages.post(f"episode/{episode.id}/reading")
    started.wait(10)
    running = pages.read(f"episode/{episode.id}")
    assert "0 of " in running
    pages.post(f"episode/{episode.id}/reading")  # it runs already
    pages.post(f"episode/{episode.id}/reading/stop")
    stopping = pages.read(f"episode/{episode.id}")
    assert "It ends when the model has answered" in stopping
    assert "reading/stop" not in stopping
    stopped.set()
    assert "It was stopped" in result(pages, episode.id)
    assert len(model_server.prompts) == 1
    assert memory.list() == []


@pytest.mark.parametrize("end", ["revoked", "signed out"])
def test_a_reading_ends_with_the_sign_in_of_who_started_it(
    memory: Store, model_server: ModelServer, end: str
) -> None:
    episode = memory.episodes.add("The kettle is blue", source="chat")
    token, secret = memory.file.tokens.create("laptop", namespace="default")
    pages = Pages(memory, takes_codes=False, generator=model_server.generator)
    assert pages.enter(token=secret).status_code == 303
    started, go_on = threading.Event(), threading.Event()

    def reply(_prompt: str) -> str:
        started.set()
        go_on.wait(10)
        return said("The kettle is blue")

    model_server.replies = reply
    pages.post(f"episode/{episode.id}/reading")
    assert started.wait(10)
    reading = rereading.last(memory, episode.id)
    assert reading is not None
    assert reading.is_running
    if end == "revoked":
        memory.file.tokens.revoke(token.id)
    else:
        pages.post("sign-out")
    go_on.set()
    assert wait_until(lambda: not reading.is_running)
    assert "sign-in" in reading.trouble
    assert memory.list() == []


def test_without_a_model_the_page_says_what_sets_one(pages: Pages, memory: Store) -> None:
    episode = memory.episodes.add("The kettle is blue", source="chat")
    page = pages.read(f"episode/{episode.id}")
    assert "MEMSTORE_GENERATOR" in page
    assert "Read it again</button>" not in page
    assert pages.post(f"episode/{episode.id}/reading").status_code == 409
