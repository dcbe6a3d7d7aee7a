"""Categories are compared as subjects are at every door: command line, tools, pages."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from itertools import pairwise

import pytest
from tests.support.command_line import CommandLine, cli_fixture  # noqa: F401
from tests.support.mcp_tools import offered
from tests.support.pages import Pages, text_of

import memstore
from memstore import Store

SPELLINGS = ("Préférence", "préférence", "PRÉFÉRENCE", unicodedata.normalize("NFD", "préférence"))
TOOLS = offered("facts,tasks,episodes,learn")
EVERY = [1, 2, 3, 4]


@pytest.fixture
def memory(cli: CommandLine) -> Iterator[Store]:
    """Four facts of one category in four spellings, and a fact of another one."""
    with memstore.open(cli.db, embedder=None, actor="user") as store:
        for place, category in enumerate((*SPELLINGS, "note"), 1):
            store.add(f"tea number {place}", subject="ana", category=category)
        yield store


@pytest.mark.parametrize("asked", SPELLINGS)
def test_the_command_line_finds_every_spelling(cli: CommandLine, memory: Store, asked: str) -> None:
    assert sorted(fact["id"] for fact in cli.json("list", "--category", asked)) == EVERY
    found = cli.json("search", "tea", "--category", asked)
    assert sorted(hit["fact"]["id"] for hit in found) == EVERY
    diff = cli("diff", "yesterday", "now", "--category", asked).out
    assert all(f"tea number {place}" in diff for place in EVERY)
    assert "tea number 5" not in diff
    assert cli.json("status")["categories"] == {SPELLINGS[3]: 4, "note": 1}


@pytest.mark.parametrize("asked", SPELLINGS)
def test_tools_find_every_spelling(memory: Store, asked: str) -> None:
    for tool, given in (("memory_list", {}), ("memory_search", {"query": "tea"})):
        told = str(TOOLS[tool].call(lambda: memory, {**given, "category": asked}))
        found = {place for place in (*EVERY, 5) if f"tea number {place}" in told}
        assert found == {*EVERY}, tool


@pytest.mark.parametrize("asked", SPELLINGS)
def test_pages_find_every_spelling_under_one_heading(memory: Store, asked: str) -> None:
    pages = Pages(memory)
    pages.enter()
    subject = pages.read("subject/1")
    headings = re.findall(r"<h[23][^>]*>(.*?)</h[23]>", subject, re.DOTALL)
    named = [one for one in headings if "f" in one.lower() and "rence" in one.lower()]
    assert len(named) == 1, headings
    told = text_of(pages.ask("subject/1", {"category": asked}))
    assert all(f"tea number {place}" in told for place in EVERY)
    assert "tea number 5" not in told
    told = text_of(pages.ask("search", {"query": "tea", "category": asked}))
    assert all(f"number {place}" in told for place in EVERY)
    assert "number 5" not in told


@pytest.mark.parametrize("asked", SPELLINGS)
def test_the_inbox_narrows_to_every_spelling(memory: Store, asked: str) -> None:
    for old, new in pairwise(EVERY):
        memory.add(
            f"tea number {new} b", subject="ana", category=SPELLINGS[old - 1],
            source="web:a.org", supersedes=old,
        )  # fmt: skip
    assert len(memory.proposals.list()) == 3
    assert len(memory.proposals.list(category=asked)) == 3
    pages = Pages(memory)
    pages.enter()
    assert "3 questions to decide" in text_of(pages.ask("inbox", {"category": asked}))


def test_a_consolidation_takes_the_category_of_most_in_any_spelling(memory: Store) -> None:
    memory.add("tea number 6", subject="ana", category="note")
    ids = [1, 2, 3, 5, 6]  # no spelling has as many as "note"
    proposal = memory.proposals.put_forward(ids, "Ana knows all teas", {})
    accepted = memory.proposals.accept(proposal.id)
    assert accepted.new is not None
    assert accepted.new.category == SPELLINGS[2]
