"""Erasing: the plan, what has to be typed, and the proof."""

from __future__ import annotations

import re

import pytest
from tests.support.pages import Pages, hidden, text_of

from memstore.faces.web.visit import Visit


def _erase(pages: Pages, page: str, count: object, **changed: str) -> str:
    number = page.split("erase/plan/")[1].split('"')[0]
    fields = {"digest": hidden(page, "digest"), "count": str(count), **changed}
    answer = pages.post(f"erase/plan/{number}", fields)
    assert answer.status_code in (200, 400, 409)
    return answer.text


def test_a_fact_is_erased_once_its_number_is_typed(pages: Pages) -> None:
    fact = pages.store.add("The code of the gate is 4711", subject="gate")
    page = pages.read(f"erase/fact/{fact.id}")
    assert "cannot be undone" in page
    assert "Type 1 to erase 1 fact" in text_of(page)
    assert "type 1" in _erase(pages, page, 2)
    assert pages.store.get(fact.id).content
    assert "Erased" in _erase(pages, page, 1)
    assert pages.get(f"fact/{fact.id}").status_code == 404 or not pages.store.list()


def test_a_plan_that_changed_is_shown_again_and_erases_nothing(pages: Pages) -> None:
    fact = pages.store.add("The gate is green", subject="gate")
    page = pages.read(f"erase/subject/{fact.id}")
    other = pages.store.add("The gate squeaks", subject="gate")
    assert "has changed since" in _erase(pages, page, 1)
    assert {one.id for one in pages.store.list()} == {fact.id, other.id}


def test_an_episode_goes_with_what_rests_on_it_alone_and_says_what_stays(pages: Pages) -> None:
    said = pages.store.episodes.add("The gate is green. It squeaks.", source="chat")
    only = pages.store.add("The gate is green", subject="gate", episode_id=said.id)
    kept = pages.store.add("The gate squeaks", subject="gate", episode_id=said.id)
    pages.store.confirm(kept.id)
    page = pages.read(f"erase/episode/{said.id}")
    goes, _, stays = text_of(page).partition("What stays")
    assert f"#{only.id}" in goes
    assert f"#{kept.id}" in stays
    _erase(pages, page, 2)
    assert [one.id for one in pages.store.list()] == [kept.id]


def test_an_owner_is_erased_with_a_plan_and_a_proof(pages: Pages) -> None:
    pages.store.add("Zarathustra likes figs", subject="z", user_id="zoe")
    other = pages.store.add("Ben likes tea", subject="ben", user_id="ben")
    page = pages.ask("erase", {"user": "zoe"})
    answer = _erase(pages, page, 1)
    assert "Erased" in answer
    assert [one.id for one in pages.store.of("all").list()] == [other.id]
    proof = pages.post("erase/proof", {"words": "Zarathustra\r\nfigs\r\n"})
    assert "None of 2 words is left" in text_of(proof.text)
    assert "The word is not left" in pages.post("erase/proof", {"words": "figs"}).text
    assert "Some are left" in pages.post("erase/proof", {"words": "tea"}).text


@pytest.mark.parametrize("words", ["", " \n ", "\n".join(map(str, range(30)))])
def test_a_proof_of_nothing_or_of_too_much_says_what_to_give(pages: Pages, words: str) -> None:
    answer = pages.post("erase/proof", {"words": words})
    assert answer.status_code == 400
    assert "Give 1 to 20 words" in answer.text


def test_pages_of_a_server_offer_no_proof_and_say_who_decides(
    pages: Pages, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Visit, "is_on_server", True)
    pages.store.add("The gate is red", subject="gate")
    page = pages.ask("erase", {"subject": "gate"})
    assert "Search every byte" not in pages.read("erase")
    assert "Check the database" in pages.read("state")
    assert "cannot be searched from here" in text_of(_erase(pages, page, 1))


def test_what_is_unknown_foreign_or_erased_is_not_found(pages: Pages) -> None:
    foreign = pages.store.within("other").add("The gate is red", subject="gate")
    erased = pages.store.add("The gate is blue", subject="gate")
    pages.store.erase(erased.id)
    texts = set()
    for fact_id in (foreign.id, erased.id, 999):
        answer = pages.get(f"erase/subject/{fact_id}")
        assert answer.status_code == 404
        texts.add(
            re.sub(
                rf"\b{fact_id}\b",
                "N",
                text_of(answer.text.partition("<h1")[2].partition("</main>")[0]),
            )
        )
    assert len(texts) == 1


def test_a_page_without_a_selection_asks_what_is_to_go(pages: Pages) -> None:
    assert "Choose what is to go" in pages.read("erase")
    assert pages.post("erase", {}).headers["location"].endswith("/erase")
