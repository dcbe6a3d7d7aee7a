"""Sessions: listed by their first request, opened in reading order, and what they learnt undone."""

from __future__ import annotations

import re

import pytest
from tests.faces.web.test_hostile_texts import TEXTS, checked
from tests.support.clock import ManualClock
from tests.support.pages import BASE, Pages, text_of

from memstore import Store
from memstore.episodes.traces import new_trace


def say(store: Store, speaker: str, text: str, thread: str = "s1", source: str = "codex") -> int:
    said = store.episodes.add(
        text, source=source, thread=thread, speaker=speaker, tags=("session",)
    )
    return said.id


@pytest.fixture
def session(memory: Store) -> int:
    """A session in which one fact was learnt; the id of its last turn."""
    say(memory, "user", "Why is the kettle cold?")
    said = say(memory, "assistant", "Found it: the fuse is broken. I ordered one.")
    memory.add("the fuse is broken", subject="kettle", episode_id=said)
    done = new_trace(
        source="codex",
        session="s1",
        changed=["order.txt"],
        committed=[],
        failed=["make tea"],
        began=None,
        ended=None,
    )
    assert done is not None
    memory.episodes.replace(done, "trace")
    return say(memory, "user", "Thank you")


def test_a_session_is_a_row_with_its_request_and_sums(pages: Pages, session: int) -> None:
    page = pages.read("sessions")
    told = text_of(page)
    assert "Today" in told
    assert "1 session, 1 learnt" in told
    row = told.split("Why is the kettle cold?")[1]
    assert re.match(r" X Codex going on 3 turns 1 file 1 learnt", row)
    assert f'href="{BASE}session/{session}"' in page
    assert "s1" not in told  # its name is for programs


def test_sessions_stand_below_their_days_and_periods(
    pages: Pages, memory: Store, manual_clock: ManualClock
) -> None:
    for days, text in ((0, "Long ago"), (30, "Today's")):
        manual_clock.advance(86_400 * days)
        say(memory, "user", text, thread=text)
    pages.enter()
    told = text_of(pages.read("sessions"))
    assert told.index("Today's") < told.index("Long ago")
    assert "Long ago" not in pages.read("sessions?days=7")
    assert "Today" in pages.read("sessions?days=7")


def test_sessions_that_left_a_fact_are_a_tab(pages: Pages, memory: Store) -> None:
    for place in range(130):
        said = say(memory, "user", f"Request {place} please", thread=f"t{place}")
        if place % 4 == 0:
            memory.add(f"Fact {place}", subject="f", episode_id=said)
    page = pages.read("sessions?learnt=1")
    found = re.findall(r"Request (\d+) please", page)
    following = re.search(rf'href="{BASE}sessions\?learnt=1&amp;before=(\d+)"', page)
    assert following is not None
    path = f"sessions?learnt=1&before={following[1]}"
    found += re.findall(r"Request (\d+) please", pages.read(path))
    assert [*map(int, found)] == [place for place in range(129, -1, -1) if place % 4 == 0]


def test_pages_of_sessions_have_each_once(pages: Pages, memory: Store) -> None:
    for place in range(70):
        say(memory, "user", f"Request {place} please", thread=f"t{place}")
    found: list[str] = []
    path = "sessions"
    for _ in range(3):
        page = pages.read(path)
        found += re.findall(r"Request \d+ please", page)
        following = re.search(rf'href="{BASE}(sessions\?before=\d+)"', page)
        path = following[1] if following else ""
    assert found == [f"Request {place} please" for place in range(69, -1, -1)]
    assert path == ""


def test_a_session_is_read_in_order_with_what_was_learnt_beside_its_turn(
    pages: Pages, session: int
) -> None:
    page = pages.read(f"session/{session}")
    told = text_of(page)
    order = ["Why is the kettle cold?", "Found it", "Learnt", "Thank you"]
    places = [told.rindex(one) for one in order]
    assert places == sorted(places)
    assert "<mark>the fuse is broken</mark>" in page
    assert "Changed files order.txt Failed commands make tea" in told
    assert "What was done in a session" not in told  # the trace is no turn
    assert re.search(r"<h1[^>]*>Why is the kettle cold\?</h1>", page)
    assert "<title>Session" in page
    assert "kettle" not in page.split("</title>")[0]


def test_what_was_done_twice_is_told_once_and_many_files_are_folded(
    pages: Pages, memory: Store
) -> None:
    last = say(memory, "user", "Clean up")
    done = new_trace(
        source="codex",
        session="s1",
        changed=[f"file{n}.py" for n in range(30)],
        committed=[],
        failed=["make", "make", "make tea", "make"],
        began=None,
        ended=None,
    )
    assert done is not None
    memory.episodes.replace(done, "trace")
    told = text_of(pages.read(f"session/{last}"))
    assert "make 3 times make tea" in told
    assert "and 22 more file8.py" in told
    assert "file29.py" in told


def test_what_a_turn_replaced_is_told_with_the_words_that_were_lost(
    pages: Pages, memory: Store
) -> None:
    old = memory.add("The gate is green", subject="gate")
    said = say(memory, "user", "The gate is red")
    memory.add("The gate is red", subject="gate", episode_id=said, supersedes=old.id)
    assert "The gate is <del>green</del> <ins>red</ins>" in pages.read(f"session/{said}")


def test_what_a_session_learnt_is_undone_by_its_plan(
    pages: Pages, memory: Store, session: int
) -> None:
    other = memory.add("The harbour is closed", subject="harbour")
    page = pages.read(f"session/{session}/undo")
    assert "deleted" in text_of(page)
    digest = page.split('name="digest" value="')[1].split('"')[0]
    refused = pages.post(f"session/{session}/undo", {"digest": "another"})
    assert refused.status_code == 409
    assert memory.get(1).status == "active"
    assert pages.post(f"session/{session}/undo", {"digest": digest}).status_code == 200
    assert memory.get(1).status == "deleted"
    assert memory.get(other.id).status == "active"


def test_what_was_replaced_in_a_session_holds_again_after_undoing_it(
    pages: Pages, memory: Store
) -> None:
    old = memory.add("The gate is red", subject="gate")
    said = say(memory, "user", "The gate is green now")
    memory.add("The gate is green now", subject="gate", episode_id=said, supersedes=old.id)
    page = pages.read(f"session/{said}/undo")
    digest = page.split('name="digest" value="')[1].split('"')[0]
    pages.post(f"session/{said}/undo", {"digest": digest})
    assert memory.get(old.id).status == "active"


def test_a_long_session_shows_its_ends_and_leads_through_the_rest(
    pages: Pages, memory: Store
) -> None:
    memory.episodes.add_many(
        {"content": f"turn {n}.", "source": "codex", "thread": "long", "speaker": "user"}
        for n in range(130)
    )
    shown = re.findall(r"turn (\d+)\.</p>", page := pages.read("session/1"))
    assert [*map(int, shown)] == [*range(20), *range(110, 130)]
    assert "90 turns between" in text_of(page)
    after = 0
    found = shown[:20]
    while following := re.search(r'href="[^"]*session/1\?after=(\d+)', page):
        assert int(following[1]) > after
        after = int(following[1])
        page = pages.read(f"session/1?after={after}")
        found += re.findall(r"turn (\d+)\.</p>", page)
    assert [*map(int, found)] == [*range(130)]


def test_sessions_that_do_not_exist_or_are_of_another_namespace_are_not_found(
    pages: Pages, memory: Store
) -> None:
    foreign = say(memory.within("other"), "user", "hello")
    for path in (f"session/{foreign}", "session/999", "session/999/undo"):
        assert pages.get(path).status_code == 404
    alone = memory.episodes.add("A note", source="chat")
    assert pages.get(f"session/{alone.id}").headers["location"] == f"{BASE}episode/{alone.id}"


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS.keys())
def test_a_hostile_session_does_nothing(memory: Store, text: str) -> None:
    name = text.replace("\x00", "")[:60]
    done = new_trace(
        source=name,
        session=name,
        changed=[name],
        committed=[name],
        failed=[],
        began=None,
        ended=None,
    )
    said = say(memory, name, f"{name} please", thread=name, source=name)
    memory.add(f"{name} please", subject=name, episode_id=said)
    assert done is not None
    memory.episodes.replace(done, "trace")
    pages = Pages(memory)
    pages.enter()
    for path in ("sessions", f"session/{said}", f"session/{said}/undo"):
        checked(pages.read(path))


def test_a_reader_is_offered_no_undo_that_does_anything(memory: Store, session: int) -> None:
    _, secret = memory.file.tokens.create("reader", namespace=memory.namespace, access="read")
    pages = Pages(memory, takes_codes=False)
    pages.enter(token=secret)
    page = pages.read(f"session/{session}/undo")
    assert "<button" not in page.split("<main")[1].split("</main>")[0]
    digest = page.split('name="digest" value="')[1].split('"')[0]
    assert pages.post(f"session/{session}/undo", {"digest": digest}).status_code == 403
    assert memory.get(1).status == "active"
