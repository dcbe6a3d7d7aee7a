"""Large answers of the tools: limits, and how to get what was cut."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from tests.support import mcp_tools

import memstore
from memstore import Store
from memstore.errors import Remedy
from memstore.faces.mcp import answers
from memstore.faces.mcp.answers import EACH_CHARACTERS, WHOLE_CHARACTERS, to_text

TOOLS = mcp_tools.offered("facts,tasks")

ROOM = WHOLE_CHARACTERS + 2_500
"""An answer of one fact that takes all the room: its names and the note come on top."""

HIDDEN = '\U000e0041\u202e\x1b\n"'
"""Characters that take several each, spelt out."""


@pytest.fixture
def words(open_store: Callable[..., Store]) -> Store:
    return open_store(embedder=None)


@pytest.fixture
def call(words: Store) -> Callable[..., Any]:
    return lambda tool, **arguments: TOOLS[tool].call(lambda: words, arguments)


def chain(store: Store, versions: int, characters: int) -> list[int]:
    ids: list[int] = []
    for number in range(versions):
        text = f"version {number} ".ljust(characters, "x")
        ids.append(store.add(text, subject="s", supersedes=ids[-1] if ids else None).id)
    return ids


@pytest.mark.parametrize("asked", [0, 5, 11])
def test_history_shows_the_requested_fact_whole_and_names_what_is_left_out(
    call: Callable[..., Any], words: Store, asked: int
) -> None:
    ids = chain(words, 12, 5_000)
    answer = call("memory_history", id=ids[asked])
    shown = {fact["id"]: fact for fact in answer["facts"]}
    assert shown[ids[asked]]["content"] == words.get(ids[asked]).content
    assert list(shown) == sorted(shown)
    assert len(shown) > 4
    assert sorted([*shown, *answer["left_out"]]) == ids
    assert len(to_text(answer)) < ROOM
    # The answer names how to get what was cut or left out, and that works.
    for other in (*answer["left_out"], *(n for n, fact in shown.items() if "cut" in fact)):
        reached = {fact["id"]: fact for fact in call("memory_history", id=other)["facts"]}
        assert reached[other]["content"] == words.get(other).content
        assert "cut" not in reached[other]


def test_history_of_huge_versions_shows_each_by_its_own_id(
    call: Callable[..., Any], words: Store
) -> None:
    ids = chain(words, 12, 19_900)
    for asked in ids:
        answer = call("memory_history", id=asked)
        (fact,) = answer["facts"]
        assert (fact["id"], len(fact["content"])) == (asked, 19_900)
        assert answer["left_out"] == [n for n in ids if n != asked]
        assert "memory_history" in answer["hint"]


def test_history_beyond_the_cap_names_the_command(call: Callable[..., Any], words: Store) -> None:
    fact = words.add("x" * 30_000, subject="s")
    (shown,) = call("memory_history", id=fact.id)["facts"]
    assert len(shown["content"]) == WHOLE_CHARACTERS
    assert f"memstore get {fact.id}" in shown["cut"]


def test_history_of_many_facts_names_some_and_counts_the_rest(
    call: Callable[..., Any], words: Store
) -> None:
    words.add_many({"content": f"{n} " + "x" * 1_990, "subject": "s"} for n in range(100))
    answer = call("memory_history", subject="s")
    assert answer["facts"][-1]["id"] == 100
    assert len(answer["facts"]) + len(answer["left_out"]) + answer["more_left_out"] == 100
    assert len(to_text(answer)) < ROOM


def test_caps_cover_content_and_metadata_together(call: Callable[..., Any], words: Store) -> None:
    words.add("x" * 1_900, subject="s", metadata={"m": "y" * 1_900})
    (fact,) = (
        call("memory_search", query="x" * 1_900, subject="s")["facts"]
        or call("memory_list")["facts"]
    )
    assert "metadata" not in fact
    assert len(to_text(fact)) < EACH_CHARACTERS + 500
    assert "memory_history id=1" in fact["cut"]
    assert call("memory_history", id=1)["facts"][0]["metadata"] == {"m": "y" * 1_900}


@pytest.mark.parametrize("tool", ["memory_list", "memory_search", "memory_history"])
def test_caps_count_escaped_characters(call: Callable[..., Any], words: Store, tool: str) -> None:
    for _ in range(3):
        words.add(
            "word " + HIDDEN * 4_000, subject="s", category=HIDDEN * 90, metadata={"m": HIDDEN * 90}
        )
    arguments = {
        "memory_list": {},
        "memory_search": {"query": "word"},
        "memory_history": {"subject": "s"},
    }
    assert len(to_text(call(tool, **arguments[tool]))) < ROOM
    assert len(to_text(call("memory_history", id=1))) < ROOM


def test_status_names_the_most_and_counts_the_rest(call: Callable[..., Any], words: Store) -> None:
    words.add_many(
        {"content": "c", "subject": f"s{n}", "category": f"{n} ".ljust(490, "c")} for n in range(40)
    )
    status = call("memory_status")
    assert len(status["subjects"]) == answers.TOP_NAMES
    assert status["more_subjects"] == 20
    assert len(status["categories"]) + status["more_categories"] == 40
    assert len(to_text(status)) < 10_000


def test_status_is_silent_about_other_namespaces(
    call: Callable[..., Any], words: Store, open_store: Callable[..., Store]
) -> None:
    open_store(embedder=None, namespace="secret-client").add("c", subject="s")
    words.add("c", subject="s")
    assert "secret" not in to_text(call("memory_status"))
    assert "namespaces" not in call("memory_status")


def test_answers_to_changes_omit_stored_text(call: Callable[..., Any], words: Store) -> None:
    said = "stored text of somebody"
    task = call("memory_task_create", content=said, scope="user", project=said)
    assert task == {"id": 1, "status": "pending", "undo": "memory_delete id=1"}
    moved = call("memory_task_update", id=1, status="completed", note=said)
    undo = "memory_delete id=1 undo=true"
    assert moved == {"id": 1, "status": "completed", "undo": undo}
    fact = words.add("c", subject="s", metadata={f"{said} {n}": n for n in range(500)})
    undo = f'memory_update id={fact.id} metadata={{"k": null}}'
    changed = call("memory_update", id=fact.id, metadata={"k": said})
    assert changed == {"id": fact.id, "keys": 501, "note": answers.NOTE, "undo": undo}


def test_hints_name_only_filters_that_would_narrow(call: Callable[..., Any], words: Store) -> None:
    words.add_many(
        {"content": "word " * 390 + str(n), "subject": "s", "category": "c"} for n in range(20)
    )
    narrow = {"query": "word", "limit": 20}
    assert "subject or category" in call("memory_search", **narrow)["hint"]
    assert call("memory_search", **narrow, subject="s")["hint"].endswith("by category")
    full = call("memory_search", **narrow, subject="s", category="c")
    assert full["left_out"]
    assert "hint" not in full
    for number in range(20):
        words.tasks.create("do " * 600 + str(number), project="p")
    assert call("memory_task_list")["hint"].endswith("scope or project")
    assert "hint" not in call("memory_task_list", scope="user", project="p")


def test_an_embedders_advice_names_flags(open_store: Callable[..., Store], embedder: Any) -> None:
    embedder.failure = memstore.EmbedderUnavailable("nobody answers", remedy=Remedy.CHECK_SERVICE)
    store = open_store()
    store.add("some text", subject="s")
    found = TOOLS["memory_search"].call(lambda: store, {"query": "text"})
    status = TOOLS["memory_status"].call(lambda: store, {})
    for told in (found["words_only"], status["embedder_trouble"]):
        assert "--ollama" in told
        assert "base_url" not in told
