"""The inbox: questions, verdicts, several at once, and what changed meanwhile."""

from __future__ import annotations

import re

import pytest
from tests.support.pages import BASE, Pages, hidden, text_of

from memstore.domain.records import NOBODY

OLD, NEW = "The port of staging is 5432", "The port of staging is 5499"


def _ask(pages: Pages, old: str = OLD, new: str = NEW, subject: str = "staging") -> int:
    """Store two facts of which one may replace the other, and return the proposal."""
    first = pages.store.add(old, subject=subject)
    pages.store.add(new, subject=subject, source="web:example.org", supersedes=first.id)
    return pages.store.proposals.list()[-1].id


def _states(pages: Pages) -> list[str]:
    return [one.state for one in pages.store.proposals.list(None)]


def test_a_question_shows_both_texts_and_what_each_answer_does(pages: Pages) -> None:
    _ask(pages)
    page = pages.read("inbox")
    assert "<mark>5432</mark>" in page
    assert "<mark>5499</mark>" in page
    main = page.split("<main")[1].split("</main>")[0]
    assert "<del>" not in main  # nothing is struck before a verdict
    text = text_of(main)
    assert "1 question to decide" in text
    assert "Question 1 of 1 Is this still true?" in text
    assert "W example.org text of others" in text
    assert "The new one a It replaces the old one" in text
    assert "The old one x The new one is deleted" in text
    assert "waiting" in text_of(page)  # beside the entry of the menu


@pytest.mark.parametrize(
    ("verdict", "state", "active"),
    [("accept", "accepted", [2]), ("reject", "rejected", [1, 2]), ("remove", "rejected", [1])],
)
def test_a_verdict_is_carried_out_and_can_be_undone(
    pages: Pages, verdict: str, state: str, active: list[int]
) -> None:
    proposal = _ask(pages)
    page = pages.followed(pages.post(f"inbox/{proposal}/{verdict}"))
    assert "Nothing to decide" in page
    assert _states(pages) == [state]
    assert [fact.id for fact in pages.store.list()] == active
    undo = re.search(r"undo/(\d+)\"", page.split('class="undos"')[1])
    assert undo is not None
    pages.followed(pages.post(f"undo/{undo[1]}", {"back": "inbox"}))
    assert _states(pages) == ["open"]
    assert [fact.id for fact in pages.store.list()] == [1, 2]


def test_one_question_is_in_focus_and_the_others_wait_in_a_queue(pages: Pages) -> None:
    ids = [_ask(pages, f"Room {n} is green", f"Room {n} is red", f"room {n}") for n in range(3)]
    for place, number in enumerate(ids):
        page = pages.read(f"inbox?one={number}")
        focus = text_of(page.split('class="card question"')[1].split("</section>")[0])
        assert f"Question {place + 1} of 3" in focus
        assert f"Room {place} is red" in focus
        following = re.search(r'data-key="j" href="[^"]*one=(\d+)"', page)
        assert following is not None
        assert int(following[1]) == ids[(place + 1) % 3]
        assert all(f"Room {n} is red" in text_of(page) for n in range(3))
    assert "Question 1 of 3" in text_of(pages.read("inbox?one=99"))


def test_a_question_whose_facts_changed_is_not_decided(pages: Pages) -> None:
    proposal = _ask(pages)
    pages.store.confirm(2)
    answer = pages.post(f"inbox/{proposal}/accept", {"seen": "3"})
    assert answer.status_code == 409
    assert "Nothing was changed" in answer.text
    assert _states(pages) == ["open"]


@pytest.mark.parametrize(
    ("verdict", "state"),
    [
        ("accept", "accepted"),
        ("reject", "rejected"),
        ("remove", "rejected"),
    ],
)
def test_several_are_decided_at_once(pages: Pages, verdict: str, state: str) -> None:
    ids = [_ask(pages, f"Room {n} is green", f"Room {n} is red", f"room {n}") for n in range(3)]
    pages.followed(pages.post("inbox/several", {"one": ids[:2], "verdict": verdict}))
    assert _states(pages) == [state, state, "open"]
    deleted = pages.store.list(states=["deleted"])
    assert len(deleted) == (2 if verdict == "remove" else 0)


def test_what_cannot_be_decided_with_the_others_is_named(pages: Pages) -> None:
    ids = [_ask(pages, f"Room {n} is green", f"Room {n} is red", f"room {n}") for n in range(2)]
    pages.store.proposals.reject(ids[0])
    answer = pages.post("inbox/several", {"one": [*ids, "99", "zebra"], "verdict": "accept"})
    assert answer.status_code == 409
    text = text_of(answer.text)
    assert "1 question decided" in text
    assert "2 questions were left" in text
    assert _states(pages) == ["rejected", "accepted"]


def test_questions_of_a_subject_or_a_run_stand_together(pages: Pages) -> None:
    for n in range(2):
        _ask(pages, f"Room {n} is green", f"Room {n} is red", "rooms")
    _ask(pages)
    assert "The old one in all 2" in text_of(pages.read("inbox"))
    last = pages.store.proposals.list()[-1].id
    assert "in all" not in text_of(pages.read(f"inbox?one={last}"))  # alone with its subject
    assert "The old one in all 3" in text_of(pages.ask("inbox", {"by": "run"}))


def test_a_question_that_was_decided_is_decided_again(pages: Pages) -> None:
    proposal = _ask(pages)
    pages.store.proposals.reject(proposal)
    assert "Decide it again" in pages.ask("inbox", {"asked": "rejected"})
    pages.followed(pages.post(f"inbox/{proposal}/reopen"))
    assert _states(pages) == ["open"]


def test_a_consolidation_is_decided_too(pages: Pages) -> None:
    facts = [pages.store.add(f"Ana likes {one}", subject="ana") for one in ("tea", "figs")]
    ids = [fact.id for fact in facts]
    proposal = pages.store.of(NOBODY).proposals.put_forward(ids, "Ana likes tea and figs", {})
    page = pages.read("inbox")
    assert "It replaces the others" in text_of(page)
    refused = pages.post(f"inbox/{proposal.id}/remove")
    assert refused.status_code == 409
    assert _states(pages) == ["open"]
    pages.followed(pages.post(f"inbox/{proposal.id}/accept"))
    assert [one.content for one in pages.store.list()] == ["Ana likes tea and figs"]


def test_pages_of_questions_show_each_once(pages: Pages) -> None:
    for n in range(60):
        _ask(pages, f"Room {n:02} is green", f"Room {n:02} is red", f"room {n:02}")
    seen: list[str] = []
    path = "inbox"
    while path:
        page = pages.read(path)
        seen += [name for name in (f"Room {n:02}" for n in range(60)) if f"{name} is red" in page]
        more = page.partition('rel="next" href="')[2].split('"')[0]
        path = "inbox" + more.partition("inbox")[2] if more else ""
    assert seen == [f"Room {n:02}" for n in range(60)]


def test_the_inbox_is_filtered_and_stays_so_after_a_decision(pages: Pages) -> None:
    for n, source in enumerate(("web:a.org", "web:b.org", "web:b.org")):
        old = pages.store.add(f"Room {n} is green", subject=f"room {n}", category="tool")
        new = f"Room {n} is red"
        pages.store.add(new, subject=f"room {n}", source=source, supersedes=old.id)
    first, second, third = pages.store.proposals.list()
    filtered = pages.post(
        "inbox", {"source": "web:b.org", "category": "tool", "from": "2020-01-01"}
    )
    where = filtered.headers["location"].removeprefix(BASE)
    page = text_of(pages.read(where))
    assert "2 questions to decide" in page
    assert "Room 0" not in page
    for path, fields in (
        (f"inbox/{second.id}/accept", {}),
        ("inbox/several", {"one": [third.id], "verdict": "reject"}),
    ):
        back = hidden(pages.read(where), "back")
        assert back == where
        decided = pages.post(path, {**fields, "back": back})
        assert decided.headers["location"] == BASE + where
    assert "Nothing is like that" in pages.read(where)
    assert [one.id for one in pages.store.proposals.list()] == [first.id]
    assert "no date" in pages.ask("inbox", {"until": "soon"})
    assert "Nothing is like that" in pages.ask("inbox", {"until": "2020-01-01"})


def test_unknown_questions_are_not_found(pages: Pages) -> None:
    foreign = pages.store.within("other")
    first = foreign.add(OLD, subject="s")
    foreign.add(NEW, subject="s", source="web:example.org", supersedes=first.id)
    [proposal] = foreign.proposals.list()
    for number in (proposal.id, 99):
        assert pages.post(f"inbox/{number}/accept").status_code == 404
