"""The page of a fact, and what can be done with it: at once, undoably, and only as it was shown."""

from __future__ import annotations

import re

import pytest
from tests.support.pages import BASE, Pages, hidden, text_of

from memstore import Store


@pytest.fixture
def kettle(memory: Store) -> int:
    old = memory.add("The kettle is red", subject="kettle", category="project")
    return memory.add("The kettle is blue now", subject="kettle", supersedes=old.id).id


def test_a_fact_has_its_reasons_chain_and_journal(pages: Pages, memory: Store, kettle: int) -> None:
    said = memory.episodes.add(
        "Ana: the lid of the kettle is loose, and it drips", source="slack", speaker="ana"
    )
    fact = memory.add("the lid of the kettle is loose", subject="kettle", episode_id=said.id)
    told = text_of(pages.read(f"fact/{fact.id}"))
    assert "believed" in told
    assert "ana said it , and mcp wrote it down on" in told
    assert "Ana: the lid of the kettle is loose , and it drips" in told  # the words are marked
    page = pages.read(f"fact/{fact.id}")
    assert "<mark>the lid of the kettle is loose</mark>" in page
    chain = pages.read(f"fact/{kettle}")
    assert "<del>red</del>" in chain
    assert re.search(r"<h1[^>]*>The kettle is blue now</h1>", chain)
    assert "replaced" in text_of(chain)
    assert "Replaced by" in pages.read(f"fact/{kettle - 1}")


def test_reasons_are_sentences_by_whom(pages: Pages, memory: Store) -> None:
    said = memory.episodes.add("The gate is green", source="codex", thread="t", speaker="user")
    old = memory.within(source="codex").add("The gate is green", subject="gate", episode_id=said.id)
    memory.confirm(old.id)
    memory.within(source="claude-code").pin(old.id)
    page = text_of(pages.read(f"fact/{old.id}"))
    for sentence in (
        "You said it , and Codex wrote it down on",
        "mcp confirmed it on",
        "Claude Code pinned it on",
    ):
        assert sentence in page
    new = memory.add("The gate is red", subject="gate", supersedes=old.id)
    assert f"mcp replaced #{old.id} : The gate is green on" in text_of(pages.read(f"fact/{new.id}"))
    assert "What became of it" in pages.read(f"fact/{old.id}")
    page = text_of(pages.read(f"fact/{memory.add('No', subject='n', source='web:x.example').id}"))
    assert "x.example says so on" in page


def test_a_fact_says_how_often_it_was_given(pages: Pages, memory: Store) -> None:
    fact = memory.add("The gate is green", subject="gate")
    assert "Not in the last 30 days" in pages.read(f"fact/{fact.id}")
    memory.searches.record("which gate", facts=[fact.id])
    memory.searches.record("paint the gate", facts=[fact.id], tool="prompt")
    page = pages.read(f"fact/{fact.id}")
    assert "Given to agents 2×" in page
    assert "for “ paint the gate ”" in text_of(page)
    number = re.search(r"answers\?q=\d+", page)
    assert number is not None
    assert "which gate" in pages.read(number[0])


def test_neighbours_of_a_conversation_and_open_questions(pages: Pages, memory: Store) -> None:
    first, middle, last = (
        memory.add(f"The {what} is ready", subject=what, thread="kitchen")
        for what in ("tea", "cake", "jam")
    )
    told = text_of(pages.read(f"fact/{middle.id}"))
    places = [told.index(one) for one in (first.content, "before it", last.content, "after it")]
    assert places == sorted(places)


@pytest.mark.parametrize("path", ["", "/text", "/said", "/correct", "/metadata"])
def test_unknown_foreign_and_erased_facts_are_the_same(
    pages: Pages, memory: Store, path: str
) -> None:
    foreign = memory.within("other").add("The harbour is closed", subject="harbour")
    erased = memory.add("The door code is 4711", subject="door")
    memory.erase(erased.id)
    answers = [pages.get(f"fact/{one}{path}") for one in (999, foreign.id, erased.id)]
    assert [one.status_code for one in answers] == [404] * 3
    bodies = {re.sub(r'value="[^"]*"', "", one.text) for one in answers}
    assert len(bodies) == 1


@pytest.mark.parametrize(
    ("action", "status", "undone"),
    [("delete", "deleted", "active"), ("confirm", "active", "active"), ("pin", "active", "active")],
)
def test_what_is_done_at_once_can_be_undone(
    pages: Pages, memory: Store, kettle: int, action: str, status: str, undone: str
) -> None:
    before = memory.get(kettle)
    page = pages.followed(pages.post(f"fact/{kettle}/{action}", {"back": "subjects"}))
    assert memory.get(kettle).status == status
    act = re.search(rf'action="{BASE}undo/(\d+)"', page)
    assert act is not None
    assert pages.post(f"undo/{act[1]}", {"back": "subjects"}).headers["location"] == (
        f"{BASE}subjects"
    )
    after = memory.get(kettle)
    assert (after.status, after.confirmed_count, after.pinned_at) == (
        undone, before.confirmed_count, before.pinned_at,
    )  # fmt: skip
    assert f"undo/{act[1]}" not in pages.read()


def test_several_undos_stand_side_by_side(pages: Pages, memory: Store) -> None:
    ids = [memory.add(f"Cup {n} is clean", subject="cups").id for n in range(3)]
    for one in ids:
        pages.post(f"fact/{one}/delete")
    page = pages.read()
    assert [f"Deleted: #{one}" in page for one in ids] == [True] * 3
    acts = re.findall(rf'action="{BASE}undo/(\d+)"', page)
    pages.post(f"undo/{acts[1]}")
    assert [memory.get(one).status for one in ids] == ["deleted", "active", "deleted"]


def test_a_swap_puts_undo_in_the_place_of_the_fact(
    pages: Pages, memory: Store, kettle: int
) -> None:
    part = pages.post(f"fact/{kettle}/delete", HX_Request="true")
    assert part.status_code == 200
    assert "<html" not in part.text
    act = re.search(r"undo/(\d+)", part.text)
    assert act is not None
    back = pages.post(f"undo/{act[1]}", {"fact": str(kettle)}, HX_Request="true")
    assert f'id="fact-{kettle}"' in back.text
    assert memory.get(kettle).status == "active"
    # The forms of the part are of now: the next change is not refused because of our own.
    own = {name: hidden(back.text, name) for name in ("ticket", "seen")}
    assert pages.post(f"fact/{kettle}/confirm", own).status_code == 303


def test_a_superseded_fact_is_restored_or_reinstated(
    pages: Pages, memory: Store, kettle: int
) -> None:
    red = kettle - 1
    assert pages.post(f"fact/{red}/reinstate").status_code == 303
    active = [fact.content for fact in memory.list()]
    assert sorted(active) == ["The kettle is blue now", "The kettle is red"]


def test_a_correction_supersedes(pages: Pages, memory: Store, kettle: int) -> None:
    form = pages.read(f"fact/{kettle}/correct")
    assert ">The kettle is blue now</textarea>" in form
    page = pages.followed(
        pages.post(f"fact/{kettle}/correct", {"content": "The kettle is green\r\nand new"})
    )
    old = memory.get(kettle)
    assert old.superseded_by is not None
    new = memory.get(old.superseded_by)
    assert (new.content, new.subject, new.category) == (
        "The kettle is green\nand new", "kettle", "project",
    )  # fmt: skip
    assert f"Corrected: #{kettle}" in page


def test_a_correction_that_says_nothing_new_keeps_the_form(pages: Pages, kettle: int) -> None:
    for content in ("", "  ", "The kettle is blue now"):
        answer = pages.post(f"fact/{kettle}/correct", {"content": content})
        assert answer.status_code == 400
        assert 'aria-invalid="true"' in answer.text
    long = pages.post(f"fact/{kettle}/correct", {"content": "x" * 20_000})
    assert long.status_code in (303, 400)


def test_metadata_is_edited_as_json(pages: Pages, memory: Store, kettle: int) -> None:
    memory.update_metadata(kettle, {"room": "kitchen", "size": {"l": 1, "w": 2}, "mark": "\u202e"})
    form = text_of(pages.read(f"fact/{kettle}/metadata"))
    assert '"mark": "\\u202e"' in form
    pages.post(
        f"fact/{kettle}/metadata", {"metadata": '{"size": {"l": 3}, "mark": "\\u202e", "new": 1}'}
    )
    assert memory.get(kettle).metadata == {"size": {"l": 3}, "mark": "\u202e", "new": 1}
    for wrong in ("", "{", "[1]", "1", '{"a": 1e999}', "[" * 100_000):
        answer = pages.post(f"fact/{kettle}/metadata", {"metadata": wrong})
        assert answer.status_code == 400, wrong[:20]
        assert memory.get(kettle).metadata["new"] == 1


# -- as it was shown -------------------------------------------------------------------------------


@pytest.mark.parametrize("action", ["delete", "confirm", "pin", "correct", "metadata"])
def test_a_fact_that_changed_since_is_left_alone(
    pages: Pages, memory: Store, kettle: int, action: str
) -> None:
    page = pages.read(f"fact/{kettle}")
    own = {name: hidden(page, name) for name in ("ticket", "seen")}
    memory.update_metadata(kettle, {"room": "kitchen"})  # an agent, meanwhile
    before = memory.file.head()
    fields = {**own, "content": "The kettle is gone", "metadata": "{}"}
    answer = pages.post(f"fact/{kettle}/{action}", fields)
    assert answer.status_code == 409
    told = text_of(answer.text)
    assert "Nothing was changed" in told
    assert "metadata changed by agent through mcp" in told
    assert memory.file.head() == before
    part = pages.post(f"fact/{kettle}/{action}", fields, HX_Request="true")
    assert (part.status_code, "<html" in part.text) == (409, False)


def test_a_form_that_does_not_say_when_it_was_made_does_nothing(
    pages: Pages, memory: Store, kettle: int
) -> None:
    for seen in ("", "x", "-1"):
        assert pages.post(f"fact/{kettle}/delete", {"seen": seen}).status_code == 409
    assert memory.get(kettle).status == "active"


def test_another_tab_does_not_repeat_a_change(pages: Pages, memory: Store, kettle: int) -> None:
    page = pages.read(f"fact/{kettle}")
    own = {name: hidden(page, name) for name in ("ticket", "seen")}
    assert pages.post(f"fact/{kettle}/delete", own).status_code == 303
    assert pages.post(f"fact/{kettle}/delete", own).status_code == 409


def test_an_undo_with_conflicts_shows_them_and_does_nothing(
    pages: Pages, memory: Store, kettle: int
) -> None:
    pages.post(f"fact/{kettle}/correct", {"content": "The kettle is green"})
    new = memory.get(kettle).superseded_by
    assert new is not None
    act = memory.ledger.journal(new)[-1].txn
    memory.add("The kettle is grey", subject="kettle", supersedes=new)
    before = memory.file.head()
    answer = pages.post(f"undo/{act}")
    assert "conflict" in text_of(answer.text)
    assert memory.file.head() == before
    page = pages.read(f"undo/{act}")
    fields = {"digest": hidden(page, "digest")}
    assert pages.post(f"undo/{act}/apply", {**fields, "digest": "x"}).status_code == 409
    assert memory.file.head() == before


@pytest.mark.parametrize(
    "back", ["https://evil.example", "//evil", "/x", "\\evil", "a b", "x" * 300, "É"]
)
def test_forms_lead_back_to_our_own_pages_only(pages: Pages, kettle: int, back: str) -> None:
    answer = pages.post(f"fact/{kettle}/confirm", {"back": back})
    assert answer.headers["location"] == f"{BASE}fact/{kettle}"


def test_a_long_text_is_cut_and_shown_whole_on_request(pages: Pages, memory: Store) -> None:
    fact = memory.add("tea " * 250_000, subject="long")
    page = pages.read(f"fact/{fact.id}")
    assert "Show all 999,999 characters" in text_of(page) or "Show all 1,000,000" in text_of(page)
    assert len(page) < 100_000
    assert pages.read(f"fact/{fact.id}/text").count("tea ") > 240_000


def test_a_read_only_store_shows_and_does_nothing(memory: Store, kettle: int) -> None:
    import memstore

    with memstore.open(memory.path, embedder=None, read_only=True) as store:
        pages = Pages(store)
        pages.enter()
        page = pages.read(f"fact/{kettle}")
        assert "read-only" in page
        assert "Correct…" not in page
        assert pages.post(f"fact/{kettle}/delete").status_code == 403


def test_a_very_long_text_is_not_put_into_the_form_that_corrects_it(pages: Pages) -> None:
    fact = pages.store.add("The tower is tall. " * 3_000, subject="tower")
    page = pages.read(f"fact/{fact.id}/correct")
    assert re.search(r"<textarea[^>]*></textarea>", page)
    assert len(page) < 20_000
