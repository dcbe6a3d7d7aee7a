"""The answers that agents were given."""

from __future__ import annotations

import pytest
from tests.support.pages import Pages, text_of


def test_answers_are_listed_with_what_was_given(pages: Pages) -> None:
    fact = pages.store.add("The gate is green", subject="gate")
    pages.store.within(source="codex").searches.record(
        "which colour has the gate", facts=[fact.id], tokens=1234, milliseconds=3.25
    )
    page = text_of(pages.read("answers"))
    assert "which colour has the gate" in page
    assert "The gate is green Codex 1,234 3.2" in page


def test_prompts_of_hooks_are_told_apart(pages: Pages) -> None:
    fact = pages.store.add("The gate is green", subject="gate")
    own = pages.store.within(source="claude-code").searches
    own.record("which colour has the gate", facts=[fact.id], tool="memory_search")
    own.record("paint the gate", facts=[fact.id], episodes=[7, 8], tool="prompt", tokens=40)
    own.record("ok then", tool="prompt")
    page = text_of(pages.read("answers"))
    assert "paint the gate prompt The gate is green and 2 others e7 e8" in page
    assert "ok then prompt nothing" in page
    assert "colour has" not in pages.ask("answers", {"way": "prompt"})
    searches = pages.ask("answers", {"way": "memory_search"})
    assert "colour has" in searches
    assert "paint" not in searches
    assert "paint" in pages.ask("answers", {"way": "no such"})
    assert "Given to agents 3 answers, 2 to prompts" in text_of(pages.read())


def test_a_question_opens_search_as_of_then(pages: Pages) -> None:
    old = pages.store.add("The gate is green", subject="gate")
    pages.store.searches.record("gate", facts=[old.id])
    pages.store.add("The gate is red", subject="gate", supersedes=old.id)
    number = pages.read("answers").split("search/")[1].split('"')[0]
    then = pages.read(f"search/{number}")
    assert "The gate is green" in text_of(then).replace("<mark>", "")
    assert "The gate is red" not in text_of(then)


def test_what_was_erased_is_not_asked_again(pages: Pages) -> None:
    fact = pages.store.add("The code is 4711", subject="gate")
    pages.store.searches.record("what is the code", facts=[fact.id])
    pages.store.erase(fact.id)
    page = pages.read("answers")
    assert "what is the code" not in page
    assert "erased" in page


def test_answers_with_nothing_are_chosen(pages: Pages) -> None:
    fact = pages.store.add("The gate is green", subject="gate")
    pages.store.searches.record("gate", facts=[fact.id])
    pages.store.searches.record("zebra")
    page = pages.ask("answers", {"empty": "1"})
    assert "zebra" in page
    assert "data-open href" in page
    assert ">gate<" not in page
    assert "zebra" not in pages.ask("answers", {"fact": str(fact.id)})


@pytest.mark.parametrize(
    "fields", [{"since": "last Tuesday"}, {"run": "no uuid"}, {"fact": "zebra"}, {"client": "\x00"}]
)
def test_a_filter_that_cannot_be_read_is_said(pages: Pages, fields: dict[str, str]) -> None:
    pages.store.searches.record("zebra")
    page = pages.ask("answers", fields)
    assert "zebra</a>" not in page


def test_pages_of_answers_show_each_once(pages: Pages) -> None:
    for n in range(110):
        pages.store.searches.record(f"question {n:03}")
    every = [f"question {n:03}" for n in reversed(range(110))]
    seen: list[str] = []
    path = "answers"
    while path:
        page = pages.read(path)
        seen += [name for name in every if name in page]
        older = page.partition('rel="next" href="')[2].split('"')[0]
        last = page
        path = "answers" + older.partition("answers")[2] if older else ""
    assert seen == every
    back = last.partition('rel="prev" href="')[2].split('"')[0]
    assert "question 109" in pages.read("answers" + back.partition("answers")[2])


def test_facts_given_often_and_never_are_told(pages: Pages) -> None:
    often = pages.store.add("The gate is green", subject="gate")
    pages.store.add("The roof is red", subject="roof")
    for _ in range(3):
        pages.store.searches.record("gate", facts=[often.id])
    most, _, never = text_of(pages.read("answers/given")).partition("Never")
    assert "given in 3 answers" in most
    assert "The roof is red" in never


def test_the_record_is_removed(pages: Pages) -> None:
    pages.store.searches.record("zebra")
    assert "Nothing was asked yet" in pages.followed(pages.post("answers/forget"))
