"""The timeline: acts, the chart, differences, undoing runs and sources."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.support.clock import ManualClock
from tests.support.pages import Pages, hidden, text_of
from tests.support.syncing import Shelf, device_of, sync

import memstore
from memstore.sync import status


def _undo(pages: Pages, page: str, number: str, **changed: object) -> str:
    answer = pages.post(f"timeline/undo/{number}", {"digest": hidden(page, "digest"), **changed})
    assert answer.status_code in (200, 409)
    return answer.text


def _selected(pages: Pages, page: str) -> tuple[str, str]:
    """Return the number of the plan that a page leads to, and the page of the plan."""
    number = page.split("timeline/undo/")[1].split('"')[0]
    return number, pages.read(f"timeline/undo/{number}")


def test_acts_are_listed_newest_first_under_their_run(pages: Pages) -> None:
    pages.store.add_many([{"content": f"It is {n}", "subject": "n"} for n in range(3)])
    pages.store.within(source="web:example.org").add("The gate is green", subject="gate")
    page = text_of(pages.read("timeline"))
    assert page.index("The gate is green") < page.index("It is 0")
    assert page.index("W example.org") < page.index("The gate is green")


def test_the_chart_has_a_table_that_leads_to_each_day(
    pages: Pages, manual_clock: ManualClock
) -> None:
    first = pages.store.add("The gate is green", subject="gate")
    manual_clock.advance(2 * 86_400)
    pages.enter()
    pages.store.add("The gate is red", subject="gate", supersedes=first.id)
    page = pages.read("timeline")
    assert page.count("<rect") == 3  # learnt; learnt and replaced
    rows = page.split("As a table")[1].split('<tbody role="rowgroup">')[1].split("</tbody>")[0]
    assert rows.count("<tr ") == 2
    before = rows.split("?before=")[2].split('"')[0]
    then = pages.read(f"timeline?before={before}")
    assert "The gate is green" in then
    assert "The gate is red" not in then.split('class="acts rows"')[1]


def test_pages_of_acts_go_back_to_the_first(pages: Pages) -> None:
    for n in range(120):
        pages.store.add(f"It is {n}", subject="n")
    seen: list[str] = []
    path = "timeline"
    while path:
        page = pages.read(path)
        seen += re.findall(r'class="claim" dir="auto"><a[^>]*>([^<]*)</a>', page)
        older = page.partition('rel="next" href="')[2].split('"')[0]
        last = page
        path = "timeline" + older.partition("timeline")[2] if older else ""
    assert seen == [f"It is {n}" for n in reversed(range(120))]
    back = last.partition('rel="prev" href="')[2].split('"')[0]
    assert "It is 119" in pages.read("timeline" + back.partition("timeline")[2])


def test_acts_stand_below_their_day_with_its_sum(pages: Pages, manual_clock: ManualClock) -> None:
    old = pages.store.add("The gate is green", subject="gate")
    manual_clock.advance(86_400)
    pages.enter()
    pages.store.add("The gate is red", subject="gate", supersedes=old.id)
    page = text_of(pages.read("timeline"))
    assert re.search(r"Today \w+ \d+ \w+ · 1 learnt, 1 replaced ", page)
    assert re.search(r"Yesterday \w+ \d+ \w+ · 1 learnt ", page)
    assert page.index("Yesterday") > page.index("Today")


def test_what_replaced_something_is_told_once_with_its_words(pages: Pages) -> None:
    old = pages.store.add("The gate is green", subject="gate")
    pages.store.add("The gate is red", subject="gate", supersedes=old.id)
    page = pages.read("timeline")
    assert "The gate is <del>green</del> <ins>red</ins>" in page
    assert page.count("<ins>red") == 1
    assert "learnt" in page  # the older one


def test_days_are_tabs_with_addresses(pages: Pages, manual_clock: ManualClock) -> None:
    pages.store.add("The gate is green", subject="gate")
    manual_clock.advance(10 * 86_400)
    pages.enter()
    pages.store.add("The cake is ready", subject="cake")
    for path, is_there in (("?days=1", False), ("?days=7", False), ("?days=28", True), ("", True)):
        page = pages.read(f"timeline{path}")
        assert "The cake is ready" in page
        assert ("The gate is green" in page) == is_there
        assert page.count('aria-current="true"') == 1
    for path in ("?days=0", "?days=999999999999999999", "?days=7&days=1"):
        assert "The cake is ready" in pages.read(f"timeline{path}")


def test_older_pages_of_some_days_have_these_days_alone(
    pages: Pages, manual_clock: ManualClock
) -> None:
    pages.store.add("The gate is green", subject="gate")
    manual_clock.advance(10 * 86_400)
    pages.enter()
    for n in range(60):
        pages.store.add(f"It is {n}", subject="n")
    older = re.search(r'rel="next" href="[^"]*/(timeline[^"]*)"', pages.read("timeline?days=7"))
    assert older is not None
    page = pages.read(older[1].replace("&amp;", "&"))
    assert "It is 0" in page
    assert "The gate is green" not in page


def test_a_run_is_named_by_the_first_request_of_its_session(pages: Pages) -> None:
    said = pages.store.episodes.add("Paint <the> gate", source="codex", thread="t", speaker="user")
    pages.store.add("The gate is red", subject="gate", episode_id=said.id)
    page = pages.read("timeline")
    assert re.search(rf'href="[^"]*/session/{said.id}">Paint &lt;the&gt; gate</a>', page)


def test_what_was_erased_is_told_without_its_words(pages: Pages) -> None:
    old = pages.store.add("The gate is green", subject="gate")
    pages.store.add("The gate is red", subject="gate", supersedes=old.id)
    pages.store.ledger.erasure(facts=[old.id]).apply()
    page = text_of(pages.read("timeline"))
    assert "green" not in page
    assert "The gate is red" in page


def test_of_many_facts_the_first_are_told(pages: Pages) -> None:
    pages.store.add_many([{"content": f"It is {n}", "subject": "n"} for n in range(9)])
    page = text_of(pages.read("timeline"))
    assert "It is 4" in page
    assert "It is 5" not in page
    assert "and 4 more" in page


def test_a_run_is_undone_by_its_plan(pages: Pages) -> None:
    fact = pages.store.add("The gate is green", subject="gate")
    number, plan = _selected(pages, pages.read("timeline"))
    assert "is deleted" in plan
    assert pages.store.count() == 1
    assert "Undone" in _undo(pages, plan, number)
    assert pages.store.get(fact.id).status == "deleted"


def test_a_source_is_undone_with_the_conflict_that_was_chosen(pages: Pages) -> None:
    web = pages.store.within(source="web:example.org")
    first = web.add("The gate is green", subject="gate")
    kept = web.add("The gate squeaks", subject="gate")
    pages.store.update_metadata(first.id, {"by": "hand"})
    page = pages.ask("timeline", {"source": "web:example.org"})
    number = page.split("timeline/undo/")[1].split('"')[0]
    plan = pages.read(f"timeline/undo/{number}")
    assert "undo it all the same" in plan
    assert "This is what would be done" in plan
    _undo(pages, plan, number, undo=str(first.id))
    assert not pages.store.list()
    assert pages.store.get(kept.id).status == "deleted"


def test_a_plan_of_conflicts_alone_does_nothing_by_itself(pages: Pages) -> None:
    fact = pages.store.within(source="web:example.org").add("The gate is green", subject="gate")
    pages.store.update_metadata(fact.id, {"by": "hand"})
    page = pages.ask("timeline", {"source": "web:example.org"})
    number = page.split("timeline/undo/")[1].split('"')[0]
    plan = pages.read(f"timeline/undo/{number}")
    assert "Nothing would be done unless you choose it" in plan
    assert "This is what would be done" not in plan


def test_a_plan_that_changed_is_shown_again_and_does_nothing(pages: Pages) -> None:
    fact = pages.store.add("The gate is green", subject="gate")
    number, plan = _selected(pages, pages.read("timeline"))
    pages.store.confirm(fact.id)
    assert "changed in the meantime" in _undo(pages, plan, number)
    assert pages.store.get(fact.id).status == "active"


def test_two_moments_are_compared(pages: Pages) -> None:
    old = pages.store.add("The gate is green", subject="gate")
    line = pages.store.file.head().line
    pages.store.add("The gate is red", subject="gate", supersedes=old.id)
    page = text_of(pages.ask("timeline/difference", {"a": f"op:{line}", "b": "now"}))
    assert "Added gate: The gate is red" in page
    assert "Retired gate: The gate is green replaced by fact 2" in page


@pytest.mark.parametrize("moment", ["last Tuesday", "op:0", "2999-01-01", "\x00"])
def test_a_moment_that_is_none_is_said_at_its_field(pages: Pages, moment: str) -> None:
    pages.store.add("The gate is green", subject="gate")
    answer = pages.post("timeline/difference", {"a": moment, "b": "now"})
    where = answer.headers["location"].rpartition("timeline")[2]
    page = pages.get(f"timeline{where}")
    assert page.status_code == 400
    assert 'aria-invalid="true"' in page.text


def test_a_filter_that_cannot_be_read_is_said_and_kept(pages: Pages) -> None:
    pages.store.add("The gate is green", subject="gate")
    page = pages.ask("timeline", {"since": "last Tuesday", "actor": "agent"})
    assert 'aria-invalid="true"' in page
    assert 'value="last Tuesday"' in page


def test_acts_until_a_moment_are_listed_and_cannot_be_undone_at_once(pages: Pages) -> None:
    pages.store.add("The gate is green", subject="gate")
    assert "The gate is green" in (today := pages.ask("timeline", {"until": "now"}))
    assert "Undo all of this" not in today
    assert "Undo all of this" in pages.ask("timeline", {"since": "2020-01-01"})
    assert "The gate is green" not in pages.ask("timeline", {"until": "2020-01-01"})


def test_an_empty_timeline_says_what_would_fill_it(pages: Pages) -> None:
    assert "Nothing was done yet" in pages.read("timeline")


def test_the_timeline_is_narrowed_to_an_owner_and_to_what_was_done(pages: Pages) -> None:
    mine = pages.store.add("The kettle is green", subject="kettle", user_id="ana")
    pages.store.add("The gate is red", subject="gate")
    pages.store.delete(mine.id)
    page = pages.ask("timeline", {"user": "ana", "source": "mcp"})
    assert "gate is red" not in page
    undoing = re.search(r"timeline/undo/[0-9]+(?=\">Undo all of this)", page)
    assert undoing is not None
    assert "gate is red" not in pages.read(undoing[0])  # nothing of others is undone
    page = pages.ask("timeline", {"kind": "learnt"})
    assert "gate is red" in page
    assert "Undo all of this" not in page
    assert "gate is red" not in pages.ask("timeline", {"kind": "removed"})
    assert "Nothing is like that" in pages.ask("timeline", {"kind": "no such"})


def test_what_another_device_did_is_told_with_its_name(pages: Pages, tmp_path: Path) -> None:
    shelf = Shelf()
    with memstore.open(tmp_path / "laptop.db", embedder=None, source="cli") as laptop:
        for _ in range(2):
            sync(laptop, shelf.view().own(device_of(laptop)))
            status.rename(laptop.file.engine, "ana's <laptop>")
        laptop.add("The gate is green", subject="gate")
        sync(laptop, shelf.view().own(device_of(laptop)))
    pages.store.add("The door is white", subject="door")
    sync(pages.store, shelf.view().own(device_of(pages.store)))
    page = text_of(pages.read("timeline"))
    assert page.count("on ana's <laptop>") == 2  # the sum of the day, and its act
    assert "2 learnt, 1 on ana's <laptop>" in page
    assert page.rindex("on ana's <laptop>") < page.index("The gate is green")
