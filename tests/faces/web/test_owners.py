"""Owners and namespaces: counts, the choice of a namespace, exports, emptying."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.support.pages import Pages, text_of

import memstore


def test_owners_are_listed_with_what_they_have(pages: Pages) -> None:
    pages.store.add("Ana likes tea", subject="ana", user_id="ana", agent_id="cook")
    pages.store.add("The gate is green", subject="gate")
    page = text_of(pages.read("owners"))
    assert "user ana agent cook" in page
    assert "nobody in particular" in page


def test_more_owners_than_a_page_has_follow_on_the_next(pages: Pages) -> None:
    pages.store.add_many(
        {"content": f"It is {n}", "subject": "number", "user_id": f"user {n:03}"} for n in range(60)
    )
    first = pages.read("owners")
    number = first.split("owners?q=")[1].split('"')[0]
    second = pages.read(f"owners?q={number}")
    every = [f"user {n:03}" for n in range(60)]
    assert sorted(name for page in (first, second) for name in every if name in page) == every


def test_an_owner_is_exported_with_facts_in_any_state_and_episodes(pages: Pages) -> None:
    old = pages.store.add("Ana likes tea", subject="ana", user_id="ana")
    pages.store.add("Ana likes mate", subject="ana", user_id="ana", supersedes=old.id)
    pages.store.of(user_id="ana").episodes.add("I like mate", source="chat")
    pages.store.add("Ben likes milk", subject="ben", user_id="ben")
    page = pages.read("owners")
    rows = page.split('<tr role="row" data-row>')[1:]
    links = [row.split("owners/")[1].split("/export")[0] for row in rows]
    texts = [pages.get(f"owners/{link}/export").text for link in links]
    own = next(text for text in texts if "mate" in text)
    assert [json.loads(line)["content"] for line in own.splitlines()] == [
        "Ana likes tea",
        "Ana likes mate",
        "I like mate",
    ]
    assert "milk" not in own


def test_the_namespace_is_exported_and_imports_again(pages: Pages) -> None:
    pages.store.add("The gate is green", subject="gate")
    with memstore.open(":memory:", embedder=None) as other:
        other.transfer.import_(pages.read("owners/export").splitlines())
        assert [one.content for one in other.list()] == ["The gate is green"]


def test_another_namespace_is_chosen_by_a_form(pages: Pages) -> None:
    pages.store.within("garden").add("The gate is red", subject="gate")
    page = pages.ask("owners/namespace", {"namespace": "garden"})
    assert "Owners in garden" in text_of(page)
    assert "The gate is red" in pages.read(f"fact/{pages.store.within('garden').list()[0].id}")


def test_a_namespace_that_is_not_there_is_not_found(pages: Pages) -> None:
    assert pages.post("owners/namespace", {"namespace": "nowhere"}).status_code == 404


def test_a_namespace_is_emptied_once_its_name_is_typed(pages: Pages) -> None:
    pages.store.add("The gate is green", subject="gate")
    kept = pages.store.within("garden").add("The gate is red", subject="gate")
    assert "Facts, believed 1" in text_of(pages.read("owners/empty"))
    wrong = pages.post("owners/empty", {"name": "defaul"})
    assert wrong.status_code == 400
    assert pages.store.count() == 1
    assert "is empty" in pages.post("owners/empty", {"name": "default"}).text
    assert pages.store.count() == 0
    assert pages.store.within("garden").get(kept.id).content == "The gate is red"


def test_a_page_of_an_empty_namespace_names_those_that_hold_something(pages: Pages) -> None:
    pages.store.within("garden").episodes.add("The gate is red", source="chat")
    for path in ("", "subjects", "tasks", "log"):
        page = text_of(pages.read(path))
        assert "1 other project holds more: garden (0 facts, 1 turn): choose one" in page
    pages.store.add("The gate is green", subject="gate")
    assert "garden 1 turn 0 facts" in text_of(pages.read(""))
    assert "holds more" not in text_of(pages.read("subjects"))
    assert "garden 0 0 1 Show it" in text_of(pages.read("owners"))


def test_pages_of_a_project_show_what_is_about_the_user_and_offer_the_rest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "api").mkdir()
    monkeypatch.chdir(tmp_path / "api")
    with memstore.open(tmp_path / "m.db", namespace="auto", embedder=None, source="t") as store:
        store.add("Releases go through the canary", subject="api")
        store.within("default").add("Ana likes tea", subject="ana")
        pages = Pages(store)
        pages.enter()
        assert "ana" in text_of(pages.read("subjects"))
        assert "api" in text_of(pages.read("subjects"))
        assert "holds more" not in text_of(pages.read(""))
        page = pages.ask("owners/namespace", {"namespace": "default"})
        assert "Owners in default" in text_of(page)


def test_a_token_shows_nothing_of_other_namespaces(store: memstore.Store) -> None:
    store.within("garden").add("The gate is red", subject="gate")
    _, secret = store.file.tokens.create("ana", namespace="team")
    pages = Pages(store, takes_codes=False)
    pages.enter(token=secret)
    for path in ("", "owners", "subjects"):
        assert "garden" not in pages.read(path)
