"""The twins of pages: the same as JSON, with the same checks, rights and places in lists."""

from __future__ import annotations

import json
from typing import Any

import pytest
from starlette.testclient import TestClient
from tests.support.pages import BASE, ORIGIN, Pages

from memstore import Store
from memstore.faces.web import twin
from memstore.faces.web.routes import Route
from memstore.faces.web.server.sections import SECTIONS

FILES = ("subject/{id}/export", "owners/{owner}/export", "owners/export")
"""Addresses that are files to be saved, not pages."""

SHOWN = [
    route
    for section in SECTIONS
    for route in section.routes
    if route.method == "GET" and route.pattern not in FILES
]


@pytest.fixture
def whole(memory: Store, pages: Pages) -> dict[str, int]:
    """A memory with something for every page; the numbers that stand for it in addresses."""
    said = memory.episodes.add("The kettle is blue", source="codex", thread="t", speaker="user")
    old = memory.add("The kettle is blue", subject="kettle", episode_id=said.id)
    new = memory.add("The kettle is green", subject="kettle", supersedes=old.id)
    memory.add("The kettle is red", subject="kettle", source="web:x.example", supersedes=new.id)
    memory.tasks.create("Buy a kettle")
    memory.searches.record("kettle", facts=[new.id])
    asked = pages.post("search", {"query": "kettle"}).headers["location"].rpartition("/")[2]
    moments = pages.post("timeline/difference", {"a": "yesterday", "b": "now"})
    return {
        "id": old.id,
        "act": memory.ledger.log(limit=1)[0].line,
        "number": int(asked),
        "differs": int(moments.headers["location"].rpartition("/")[2]),
        "selected": int(
            pages.post("timeline", {"actor": "agent"}).headers["location"].rpartition("=")[2]
        ),
    }


def path_of(route: Route, numbers: dict[str, int]) -> str:
    if "difference" in route.pattern:
        numbers = {**numbers, "number": numbers["differs"]}
    return route.pattern.format_map(numbers)


def twin_of(pages: Pages, path: str, status: int = 200) -> dict[str, Any]:
    answer = pages.get(twin.address_of(path))
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/json"
    assert answer.content.isascii()
    found: dict[str, Any] = answer.json()
    return found


@pytest.mark.parametrize("route", SHOWN, ids=[route.pattern or "home" for route in SHOWN])
def test_every_page_has_a_twin(pages: Pages, whole: dict[str, int], route: Route) -> None:
    path = path_of(route, whole)
    page, found = pages.get(path), pages.get(twin.address_of(path))
    assert found.status_code == page.status_code
    if page.status_code == 303:
        where = page.headers["location"].removeprefix(BASE)
        assert found.headers["location"] == BASE + twin.address_of(where)
        return
    values = found.json()
    assert values["namespace"] == pages.store.namespace
    if not route.pattern.startswith("pulse"):
        assert len(values) > 3


def test_twin_has_what_the_page_shows(pages: Pages, whole: dict[str, int]) -> None:
    found = twin_of(pages, f"fact/{whole['id']}")
    assert found["fact"]["content"] == "The kettle is blue"
    assert [value["fact"]["id"] for value in found["band"]["values"]] == [1, 2]
    assert twin_of(pages, "")["start"]["text"].startswith("Recalled by memstore")
    assert [day["name"] for day in twin_of(pages, "sessions")["days"]] == ["Today"]


def test_page_names_its_twin_with_its_place_in_a_list(pages: Pages, whole: dict[str, int]) -> None:
    assert f'href="{BASE}home.json" type="application/json"' in pages.read()
    assert f'href="{BASE}log.json?before=2" type=' in pages.read("log?before=2")
    assert twin_of(pages, "log?before=1")["conversations"] == []


def test_twin_has_the_text_whole_and_hidden_characters_as_escapes(
    pages: Pages, memory: Store
) -> None:
    text = "\u202e<script>" + "x" * 5000
    fact = memory.add(text, subject="s\u2066")
    answer = pages.get(f"fact/{fact.id}.json")
    assert "\\u202e" in answer.text
    assert answer.json()["fact"]["content"] == text


def test_problem_is_told_as_json(pages: Pages) -> None:
    assert twin_of(pages, "fact/999", 404)["problem"]["status"] == 404
    assert twin_of(pages, "nowhere", 404)["problem"]["title"] == "Nothing here"


@pytest.mark.parametrize("path", [path.replace("{id}", "1") for path in FILES[::2]])
def test_files_have_no_twin(pages: Pages, whole: dict[str, int], path: str) -> None:
    assert pages.get(path).status_code == 200
    assert pages.get(f"{path}.json").status_code == 404


def test_nothing_is_posted_to_a_twin(pages: Pages, whole: dict[str, int]) -> None:
    assert pages.post(f"fact/{whole['id']}/delete.json").status_code == 404
    assert pages.store.get(2).status == "active"


def test_twin_needs_the_sign_in(pages: Pages, whole: dict[str, int]) -> None:
    stranger: TestClient = pages.browser()
    answer = stranger.get(f"{BASE}fact/{whole['id']}.json")
    assert (answer.status_code, answer.headers["location"]) == (303, "/enter")


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
@pytest.mark.parametrize("destination", ["script", "empty", "object", "style", "image"])
def test_other_pages_may_not_load_a_twin(
    pages: Pages, whole: dict[str, int], site: str, destination: str
) -> None:
    sent = {"Sec-Fetch-Site": site, "Sec-Fetch-Mode": "no-cors", "Sec-Fetch-Dest": destination}
    answer = pages.http.get(f"{BASE}fact/1.json", headers={**sent, "Referer": ORIGIN})
    assert answer.status_code == 403
    assert "kettle" not in answer.text


def test_headers_of_a_twin_are_those_of_a_page(pages: Pages, whole: dict[str, int]) -> None:
    page, found = pages.get("fact/1"), pages.get("fact/1.json")
    for name in ("content-security-policy", "x-content-type-options", "cache-control"):
        assert found.headers[name] == page.headers[name]
    assert json.loads(found.content)["fact"]["id"] == 1


def test_twin_of_a_confined_sign_in_shows_no_other_namespace(
    memory: Store, whole: dict[str, int]
) -> None:
    memory.within("other").add("Elsewhere", subject="there")
    token, secret = memory.file.tokens.create("reader", namespace="other", access="read")
    assert token.access == "read"
    pages = Pages(memory, takes_codes=False)
    assert pages.enter(token=secret).status_code == 303
    assert pages.get("fact/1.json").status_code == 404
    found = twin_of(pages, "state")
    assert (found["namespace"], found["whole"]) == ("other", None)
