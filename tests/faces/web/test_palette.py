"""The palette: what a few words may mean, as the list of a dialog and as a page."""

from __future__ import annotations

import re

import pytest
from tests.support.pages import BASE, Pages, text_of

from memstore import NewEpisode, Store

SWAP = {"HX-Request": "true"}


@pytest.fixture(autouse=True)
def _stored(memory: Store) -> None:
    said = memory.episodes.add_many(
        [
            NewEpisode(content="Paint the kettle", source="codex", thread="t", speaker="user"),
            NewEpisode(content="It is blue", source="codex", thread="t", speaker="assistant"),
        ]
    )
    memory.add("The kettle is blue", subject="kettle", episode_id=said[1].id)
    memory.add("The harbour is closed", subject="harbour")
    memory.within("kettles").add("Elsewhere", subject="there")


def listed(pages: Pages, text: str) -> str:
    answer = pages.post("go", {"query": text}, **SWAP)
    assert answer.status_code == 200
    return answer.text


def groups(page: str) -> list[str]:
    return re.findall(r'class="label"[^>]*>([^<]+)<', page)


def test_words_find_facts_sessions_subjects_projects_and_acts(pages: Pages) -> None:
    page = listed(pages, "kettle")
    assert groups(page) == ["Facts", "Sessions", "Subjects", "Projects", "Do"]
    assert "The <mark>kettle</mark> is blue" in page
    assert "Paint the <mark>kettle</mark>" in page  # by its first request
    assert "harbour" not in page


def test_beginning_of_a_page_names_it(pages: Pages) -> None:
    page = listed(pages, "sta")
    assert "Go to" in groups(page)
    assert f'href="{BASE}state"' in page
    assert "<mark>Sta</mark>te" in page


def test_without_words_it_has_what_was_opened_last(pages: Pages) -> None:
    assert groups(listed(pages, "")) == ["Go to"]
    for path in ("fact/1", "fact/2", "session/1", "fact/1"):
        pages.read(path)
    page = listed(pages, "")
    assert groups(page) == ["Opened last", "Go to"]
    assert re.findall(r'href="[^"]*/((?:fact|session)/\d+)"', page) == [
        "fact/1", "session/1", "fact/2",
    ]  # fmt: skip


def test_what_was_erased_is_not_offered_again(pages: Pages, memory: Store) -> None:
    pages.read("fact/2")
    memory.ledger.erasure(facts=[2]).apply()
    assert "harbour" not in listed(pages, "")


def test_what_was_opened_elsewhere_is_not_offered_here(pages: Pages) -> None:
    pages.read("fact/1")
    pages.post("owners/namespace", {"namespace": "kettles"})
    assert groups(listed(pages, "")) == ["Go to"]


def test_it_is_a_page_without_a_script(pages: Pages) -> None:
    page = pages.ask("go", {"query": "kettle"})
    assert "The <mark>kettle</mark> is blue" in page
    assert 'role="option"' not in page  # what the arrows of the script choose
    text = text_of(pages.read("go"))
    assert "Search, or go to" in text


def test_nothing_typed_is_in_an_address_or_title(pages: Pages) -> None:
    answer = pages.post("go", {"query": "secret words"})
    assert re.fullmatch(rf"{BASE}go\?q=\d+", answer.headers["location"])
    assert "<title>Search, or go to · memstore</title>" in pages.followed(answer)


def test_it_searches_and_tries_a_prompt(pages: Pages) -> None:
    page = listed(pages, "kettle")
    forms = dict(re.findall(r'action="/[^/]*/(search|prompt)".*?(name="(?:query|prompt)")', page))
    assert forms == {"search": 'name="query"', "prompt": 'name="prompt"'}


def test_it_undoes_what_was_done_last(pages: Pages, memory: Store) -> None:
    assert "Undo:" not in listed(pages, "kettle")
    pages.post("fact/1/delete")
    page = listed(pages, "kettle")
    act = re.search(r'action="[^"]*/(undo/\d+)"', page)
    assert act is not None
    pages.post(act[1])
    assert memory.get(1).status == "active"


@pytest.mark.parametrize("text", ["<b>", "\u202e", "x" * 5000, "\x00", "%s{{7*7}}", '"'])
def test_odd_words_are_shown_and_not_run(pages: Pages, text: str) -> None:
    page = pages.ask("go", {"query": text})
    assert "<b>" not in page
    assert "\u202e" not in page
    assert "7*7" in page or "{" not in text


def test_looking_counts_as_no_use(pages: Pages, memory: Store) -> None:
    listed(pages, "kettle")
    assert memory.get(1).use_count == 0
    assert memory.searches.list() == []


# -- new acts are offered --------------------------------------------------------------------------


def test_pulse_tells_of_acts_by_others(pages: Pages, memory: Store) -> None:
    seen = memory.line
    assert pages.read(f"pulse?since={seen}").strip() == ""
    memory.add("The kettle is full", subject="kettle")
    memory.within(source="codex").add("The kettle is hot", subject="kettle")
    page = pages.read(f"pulse?since={seen}")
    assert text_of(page).startswith("2 new acts by Codex , mcp . Show them")
    assert "hot" not in page


def test_pulse_tells_nothing_of_ones_own_acts(pages: Pages, memory: Store) -> None:
    seen = memory.line
    pages.post("fact/1/pin")
    assert memory.line > seen
    assert pages.read(f"pulse?since={seen}").strip() == ""


def test_pulse_carries_the_number_of_questions(pages: Pages, memory: Store) -> None:
    seen = memory.line
    memory.within(source="web").pin(1)
    memory.add("The kettle is red", subject="kettle", source="web:x.example", supersedes=1)
    page = pages.read(f"pulse?since={seen}")
    waiting = memory.proposals.count()
    assert f'id="waiting">{waiting}<' in page if waiting else 'id="waiting"' in page


def test_pulse_counts_no_further_than_it_says(pages: Pages, memory: Store) -> None:
    seen = memory.line
    for place in range(30):
        memory.add(f"Thing {place}", subject="things")
    assert "20+ new acts" in pages.read(f"pulse?since={seen}")
