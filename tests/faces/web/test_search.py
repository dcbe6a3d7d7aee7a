"""Search: the answer that an agent gets, why each fact is in it, and why another is not."""

from __future__ import annotations

import re
from html import unescape
from typing import Any

import pytest
from tests.support.pages import BASE, Pages, text_of

from memstore import Store
from memstore.faces.mcp import catalogue
from memstore.faces.mcp.calls import Calls


@pytest.fixture(autouse=True)
def facts(memory: Store) -> list[int]:
    texts = (
        ("kettle", "The kettle in the kitchen is blue"),
        ("ana", "Ana likes green tea"),
        ("harbour", "The harbour is closed on Sundays"),
    )
    return [memory.add(content, subject=subject).id for subject, content in texts]


def given(page: str) -> str:
    found = re.search(r"<pre[^>]*>(.*?)</pre>", page, re.DOTALL)
    assert found is not None
    return unescape(found[1])


def tool(store: Store, **arguments: Any) -> str:
    call = {"name": "memory_search", "arguments": arguments}
    return Calls(catalogue.offered(), lambda: None).answer(lambda: store, call)["content"][0][
        "text"
    ]


@pytest.mark.parametrize(
    "query", ["which colour has the kettle?", "tea", "nothing fits this", "#2"]
)
def test_the_answer_is_exactly_what_the_tool_gives(pages: Pages, memory: Store, query: str) -> None:
    assert given(pages.ask("search", {"query": query})) == tool(memory, query=query)


def test_filters_are_arguments_of_the_tool(pages: Pages, memory: Store) -> None:
    memory.add("Ben likes black tea", subject="ben", category="preference", user_id="ben")
    page = pages.ask("search", {"query": "tea", "category": "preference", "user": "ben"})
    assert given(page) == tool(memory, query="tea", category="preference", user_id="ben")
    assert "Ben likes" in given(page)
    assert "2 in use" in page


def test_characters_and_tokens_are_those_of_the_answer(pages: Pages) -> None:
    page = pages.ask("search", {"query": "kettle"})
    assert f"{len(given(page))} characters" in text_of(page).replace("  ", " ")


def test_hits_say_what_matched_and_what_their_score_is_made_of(pages: Pages) -> None:
    page = pages.ask("search", {"query": "kettle"})
    assert "<mark>kettle</mark>" in page
    assert re.search(r'<rect class="d1" width="\d+"', page)
    assert "found by words" in text_of(page)
    assert "it has words of the question" in page


def test_a_person_who_looks_uses_no_fact(pages: Pages, memory: Store, facts: list[int]) -> None:
    pages.ask("search", {"query": "kettle"})
    assert memory.get(facts[0]).use_count == 0


def test_no_question_is_in_an_address(pages: Pages) -> None:
    answer = pages.post("search", {"query": "kettle & <secret>"})
    assert re.fullmatch(rf"{BASE}search/\d+", answer.headers["location"])


def test_a_question_that_is_not_kept_any_more_is_not_found(pages: Pages) -> None:
    assert pages.get("search/77").status_code == 404


def test_an_empty_question_leads_to_the_form(pages: Pages) -> None:
    assert pages.post("search", {"query": "  "}).headers["location"] == f"{BASE}search"


def test_a_bad_date_is_said_at_its_field_and_the_rest_is_kept(pages: Pages) -> None:
    page = pages.ask(
        "search", {"query": "tea", "from": "2026-99-99", "as_of": "sometime", "category": "note"}
    )
    assert "This is no date" in page
    assert re.search(r'id="about-as_of">[^<]+<', page)
    assert 'value="sometime"' in page
    assert 'value="note"' in page
    assert "Ana likes" in page


def test_as_of_searches_the_memory_of_then(pages: Pages, memory: Store, facts: list[int]) -> None:
    line = memory.file.head().line
    memory.delete(facts[1])
    now = given(pages.ask("search", {"query": "tea"}))
    then = given(pages.ask("search", {"query": "tea", "as_of": f"op:{line}"}))
    assert "Ana likes" not in now
    assert "Ana likes" in then


@pytest.mark.parametrize(
    ("missing", "said"),
    [
        ("#3", "none of the query's words"), ("harbour is closed", "fact 3 has none"),
        ("1", "found"), ("999", "No fact is like that"),
        ("zzzz qqqq", "No fact is like that"), ("", "No fact is like that"),
    ],
)  # fmt: skip
def test_why_not(pages: Pages, missing: str, said: str) -> None:
    where = pages.post("search", {"query": "kettle"}).headers["location"].removeprefix(BASE)
    page = pages.ask(f"{where}/why-not", {"missing": missing})
    panel = page[page.index('id="why-not"') :]
    assert said in text_of(panel)


def test_why_not_a_deleted_fact(pages: Pages, memory: Store, facts: list[int]) -> None:
    memory.delete(facts[0])
    where = pages.post("search", {"query": "kettle"}).headers["location"].removeprefix(BASE)
    assert "deleted" in text_of(pages.ask(f"{where}/why-not", {"missing": str(facts[0])}))


def test_nothing_fits(pages: Pages) -> None:
    page = text_of(pages.ask("search", {"query": "zzzz"}))
    assert "Nothing fits" in page


def test_turns_are_hits_like_facts(memory: Store, pages: Pages) -> None:
    said = memory.episodes.add("The saucer is chipped", source="codex", thread="t", speaker="user")
    page = pages.ask("search", {"query": "saucer"})
    assert f"e{said.id}" in given(page)
    words = text_of(page)
    assert "The agent is given 1 turn" in words
    assert "you said its session" in words
    assert "found by words" in words
    memory.add("The saucer is white", subject="saucer")
    assert "The agent is given 1 fact and 1 turn" in text_of(
        pages.ask("search", {"query": "saucer"})
    )


def test_turns_that_the_answer_leaves_out_are_no_hits(memory: Store, pages: Pages) -> None:
    for place in range(40):
        memory.episodes.add(f"The saucer {place} " + "is chipped " * 200, source="codex")
    page = pages.ask("search", {"query": "saucer"})
    shown = {f"e{one}" for one in re.findall(r'href="[^"]*/episode/(\d+)" data-open', page)}
    assert 0 < len(shown) < 40
    assert shown == set(re.findall(r"(?m)^(e\d+)\b", given(page)))


def test_polls_say_whether_anything_changed(memory: Store, pages: Pages) -> None:
    line = memory.file.head().line
    assert pages.read(f"pulse?since={line}").strip() == ""
    memory.add("The cake is ready", subject="cake")
    assert "1 new act by" in pages.read(f"pulse?since={line}")


def test_hits_say_how_much_they_count(memory: Store, pages: Pages) -> None:
    memory.add("The kettle should be sold", subject="kettle", source="web:shop.example")
    page = text_of(pages.ask("search", {"query": "kettle"}))
    assert "said by an agent" in page
    assert "text of others: web:" in page


def test_the_answer_is_for_the_owners_that_agents_use(memory: Store) -> None:
    memory.add("Ben likes black tea", subject="ben", user_id="ben")
    pages = Pages(memory, owners={"user_id": "ben"})
    pages.enter()
    page = pages.ask("search", {"query": "tea"})
    assert given(page) == tool(memory, query="tea", user_id="ben")
    assert "for ben" in text_of(page)
    where = pages.post("search", {"query": "kettle"}).headers["location"].removeprefix(BASE)
    assert "other owners" in text_of(pages.ask(f"{where}/why-not", {"missing": "1"}))
