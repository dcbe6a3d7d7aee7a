"""The subjects, and the page of one: what is believed, what was, pages that stay right."""

from __future__ import annotations

import json
import re
from datetime import timedelta

import pytest
from tests.support.clock import ManualClock
from tests.support.pages import Pages, text_of

from memstore import Store


def ids(page: str) -> list[int]:
    return [int(one) for one in re.findall(r'<article class="row fact" id="fact-(\d+)"', page)]


def link(page: str, rel: str) -> str | None:
    found = re.search(rf'rel="{rel}" href="/[^/]+/([^"]+)"', page)
    return None if found is None else found[1].replace("&amp;", "&")


def test_subjects_by_name_size_and_last_change(pages: Pages, memory: Store) -> None:
    for subject, number in (("tea", 3), ("ana", 1), ("rain", 2)):
        for n in range(number):
            memory.add(f"{subject} is {n}", subject=subject)
    orders = {
        order: re.findall(r"data-open href=[^>]*>(\w+)<", pages.ask("subjects", {"order": order}))
        for order in ("name", "size", "changed")
    }
    assert orders == {
        "name": ["ana", "rain", "tea"],
        "size": ["tea", "rain", "ana"],
        "changed": ["rain", "ana", "tea"],
    }
    assert "rain" not in text_of(pages.ask("subjects", {"prefix": "te"}))
    assert "No subject is like that" in pages.ask("subjects", {"prefix": "zz"})


def test_a_subject_has_its_number_and_its_newest_fact(pages: Pages, memory: Store) -> None:
    memory.add("Tea is hot", subject="tea")
    memory.add("Tea is green", subject="tea")
    memory.tasks.create("Buy tea")  # has a page of its own
    page = text_of(pages.read("subjects"))
    assert "tea 2 believed Tea is green" in page
    assert "todo" not in page


def test_a_subject_is_seen_as_it_was_on_a_day(
    pages: Pages, memory: Store, manual_clock: ManualClock
) -> None:
    old = memory.add("Tea is hot", subject="tea")
    manual_clock.advance(3 * 86_400)
    pages.enter()
    memory.add("Tea is cold", subject="tea", supersedes=old.id)
    page = pages.read("subject/2")
    assert f"first heard of {old.created_at.day} " in text_of(page)
    assert 'id="seen-on" name="as_of" type="date"' in page
    day = (old.created_at + timedelta(days=1)).date().isoformat()
    then = text_of(pages.ask("subject/2", {"as_of": day}))
    assert "Tea is hot" in then
    assert "Tea is cold" not in then.split("As it was at")[1]


def test_subjects_have_pages(pages: Pages, memory: Store) -> None:
    memory.add_many([{"content": f"It is {n}", "subject": f"thing {n:03}"} for n in range(120)])
    page, seen = pages.ask("subjects", {"order": "name"}), []
    while True:
        seen += re.findall(r">(thing \d+)<", page)
        following = link(page, "next")
        if following is None:
            break
        page = pages.read(following)
    assert seen == [f"thing {n:03}" for n in range(120)]


def test_a_subject_has_pages_that_stay_right_while_agents_write(
    pages: Pages, memory: Store
) -> None:
    facts = memory.add_many(
        [{"content": f"Cup {n} is clean", "subject": "cups"} for n in range(120)]
    )
    first = facts[0].id
    page = pages.read(f"subject/{first}")
    newest = ids(page)
    memory.add_many([{"content": f"Mug {n} is clean", "subject": "cups"} for n in range(30)])
    older = link(page, "next")
    assert older is not None
    second = pages.read(older)
    assert sorted(newest + ids(second)) == [fact.id for fact in facts[20:]]
    newer = link(second, "prev")
    assert newer is not None
    assert ids(pages.read(newer)) == newest


def test_a_page_of_2000_facts_is_a_page(pages: Pages, memory: Store) -> None:
    memory.add_many([{"content": f"Cup {n} is clean", "subject": "cups"} for n in range(2000)])
    assert len(ids(pages.read("subject/1"))) == 50


def test_what_was_removed_is_shown_apart(pages: Pages, memory: Store) -> None:
    old = memory.add("The kettle is red", subject="kettle")
    memory.add("The kettle is blue", subject="kettle", supersedes=old.id)
    gone = memory.add("The kettle is full", subject="kettle")
    memory.delete(gone.id)
    page = text_of(pages.read(f"subject/{old.id}"))
    assert "1 fact believed now" in page
    assert "2 replaced or removed" in page
    assert "The kettle is full" not in page
    removed = pages.read(f"subject/{old.id}/removed")
    assert ids(removed) == [gone.id, old.id]
    assert "Restore" in removed


def test_a_subject_is_filtered(pages: Pages, memory: Store) -> None:
    blue = memory.add("The kettle is blue", subject="kettle", category="colour", source="ana")
    full = memory.add("The kettle is full", subject="kettle", user_id="ben")

    def shown(**fields: str) -> list[int]:
        return ids(pages.ask(f"subject/{blue.id}", fields))

    assert shown(category="colour") == [blue.id]
    assert shown(source="ana") == [blue.id]
    assert shown(user="ben") == [full.id]
    assert shown(state="deleted") == []
    memory.delete(full.id)
    assert shown(state="deleted") == [full.id]
    assert set(shown(state="every")) == {blue.id, full.id}
    assert shown(until="2001-01-01") == []
    assert shown(state="nonsense", **{"from": "tomorrow"}) == [blue.id]


def test_a_subject_as_of_then(pages: Pages, memory: Store) -> None:
    fact = memory.add("The kettle is blue", subject="kettle")
    line = memory.file.head().line
    later = memory.add("The kettle is full", subject="kettle")
    page = pages.ask(f"subject/{fact.id}", {"as_of": f"op:{line}"})
    assert ids(page) == [fact.id]
    assert "As it was at" in page
    assert ids(pages.ask(f"subject/{fact.id}", {"as_of": "rubbish"})) == [later.id, fact.id]


def test_a_subject_is_exported_under_a_name_without_its_text(pages: Pages, memory: Store) -> None:
    old = memory.add("The kettle is red", subject="my secret kettle")
    memory.add("The kettle is blue", subject="my secret kettle", supersedes=old.id)
    answer = pages.get(f"subject/{old.id}/export")
    assert "kettle" not in answer.headers["content-disposition"]
    lines = [json.loads(line) for line in answer.text.splitlines()]
    assert [one["content"] for one in lines] == ["The kettle is red", "The kettle is blue"]


def test_an_empty_memory_says_what_subjects_are(pages: Pages) -> None:
    assert "No subject yet" in pages.read("subjects")


@pytest.mark.parametrize("path", ["subject/99", "subject/99/removed", "subject/99/export"])
def test_an_unknown_subject_is_not_found(pages: Pages, path: str) -> None:
    assert pages.get(path).status_code == 404


def test_relations_are_a_list_where_a_graph_is_built(pages: Pages, memory: Store) -> None:
    fact = memory.add("Mira leads Lighthouse", subject="mira")
    memory.add("Lighthouse runs on nginx", subject="lighthouse")
    assert "Related to" not in pages.read(f"subject/{fact.id}")
    memory.graph.build()
    told = text_of(pages.read(f"subject/{fact.id}"))
    assert "Related to" in told
    assert "lighthouse" in told[told.index("Related to") :].lower()


def test_what_was_removed_is_filtered_as_the_subject_is(pages: Pages) -> None:
    kept, gone = (
        pages.store.add(f"The kettle is {one}", subject="kettle", category=one, source=f"web:{one}")
        for one in ("green", "blue")
    )
    pages.store.delete(kept.id)
    pages.store.add("The kettle is red", subject="kettle", supersedes=gone.id)
    path = f"subject/{kept.id}/removed"
    for fields, seen in (
        ({}, [True, True]),
        ({"category": "green"}, [True, False]),
        ({"source": "web:blue"}, [False, True]),
        ({"state": "deleted"}, [True, False]),
        ({"state": "superseded"}, [False, True]),
        ({"user": "ana"}, [False, False]),
        ({"until": "2020-01-01"}, [False, False]),
        ({"from": "2020-01-01"}, [True, True]),
    ):
        page = text_of(pages.ask(path, fields))
        assert [f"The kettle is {one}" in page for one in ("green", "blue")] == seen, fields
        assert ("Nothing is like that" in page) == (not any(seen))


def test_subjects_are_filtered_by_the_day_of_their_last_change(pages: Pages) -> None:
    pages.store.add("The kettle is green", subject="kettle")
    assert "kettle" in text_of(pages.ask("subjects", {"from": "2020-01-01", "order": "name"}))
    assert "No subject is like that" in pages.ask("subjects", {"from": "2999-01-01"})
    assert "no date" in pages.ask("subjects", {"from": "soon"})
