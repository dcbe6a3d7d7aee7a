"""The log: conversations, episodes, what was drawn from them."""

from __future__ import annotations

from tests.support.pages import Pages, text_of

from memstore import Scope


def test_episodes_are_listed_newest_first_by_conversation(pages: Pages) -> None:
    for n, thread in enumerate(["monday", "monday", "tuesday", None]):
        pages.store.episodes.add(f"Turn {n}", source="chat", thread=thread, speaker="user")
    page = text_of(pages.read("log"))
    order = ["Turn 3", "Conversation tuesday", "Turn 2", "Conversation monday", "Turn 1", "Turn 0"]
    assert sorted(order, key=page.index) == order


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
    assert "1 episode found" in page
    assert "closed in winter" in page
    assert "The gate" not in page
    assert "Nothing fits" in pages.ask("log", {"query": "zebra"})


def test_episodes_are_filtered_by_source_and_owner(pages: Pages) -> None:
    pages.store.episodes.add("The gate is green", source="chat", scope=Scope(user_id="ana"))
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
