"""The sentences of each face for the notes of an answer: once for each note."""

from __future__ import annotations

from argparse import Namespace
from datetime import UTC, datetime
from typing import Any, get_args

import pytest

from memstore import Scope
from memstore.domain import notes
from memstore.domain.notes import Note
from memstore.domain.records import Fact, unchecked
from memstore.domain.status import Contents
from memstore.errors import Reason, Remedy
from memstore.faces.cli import notes as command_line
from memstore.faces.cli.notes import Wording
from memstore.faces.hosts import recalling
from memstore.faces.mcp import answers as tools
from memstore.faces.web.pages import search as page
from memstore.store.answers import StoredFact

OLD = unchecked(Fact, {"id": 3, "subject": "Ana", "content": "Ana works at Initech"})
BROKEN = Reason("nobody answers", Remedy.ALLOW_TIME)
LOADING = "nobody answers. It may still be loading its model: try again."
MOMENT = datetime(2026, 3, 1, 12, tzinfo=UTC)
HELD = {"fact": 3, "episode": 1}
OTHERS = notes.OthersHold(HELD, (Scope(user_id="ana smith"),))
ELSEWHERE = notes.OtherNamespaces({"work": Contents(2, 2, 1)})

TABLE: list[tuple[Note, str, dict[str, Any]]] = [
    (notes.Duplicate(), "", {"status": "duplicate"}),
    (notes.Superseded(3), "", {"superseded": 3}),
    (
        notes.Proposed(3),
        "",
        {"hint": "#3 counts more than this source and stays: a proposal waits for the user"},
    ),
    (
        notes.Expired(7),
        "#7 has expired already, so that no search finds it (memstore expire 7 --never)",
        {"hint": "it has expired already, so that no search finds it"},
    ),
    (
        notes.Near(7, (OLD,)),
        "may replace #3 Ana works at Initech (memstore supersede 3 7)",
        {
            "note": tools.NOTE,
            "near": [{"id": 3, "says": "Ana works at Initech"}],
            "hint": "if it replaces one: memory_supersede old_id=ID new_id=7",
        },
    ),
    (
        notes.Pending(7, BROKEN),
        f"stored as #7; its embedding is pending: {LOADING} (searches by words find it; memstore "
        "embed-pending retries)",
        {"embedding": f"pending, found by words until then: {LOADING}"},
    ),
    (
        notes.WordsOnly("embedder_unavailable", BROKEN),
        f"searched by words only: {LOADING}",
        {"words_only": LOADING},
    ),
    (notes.WordsOnly("no_embedder", Reason("none")), "", {"words_only": "none"}),
    (
        notes.OnlyNewest(2),
        "the last 2 match no word and are only the newest",
        {"only_newest": 2, "hint": "the last 2 do not match; they are the newest"},
    ),
    (
        notes.LessRelevant(2, is_all=False),
        "2 less relevant left out, which --min-relevance 0 shows",
        {"hint": "2 less relevant left out: min_relevance=0 has no minimum"},
    ),
    (
        notes.LessRelevant(2, is_all=True),
        "nothing found but 2 less relevant, which --min-relevance 0 shows",
        {"hint": "2 less relevant left out: min_relevance=0 has no minimum"},
    ),
    (
        notes.Respelt("tee", "tea"),
        'searched for "tea" instead of "tee"',
        {"hint": 'searched for "tea" instead of "tee"'},
    ),
    (
        notes.Provisional(),
        "the order may still change: the index is being built; search again in seconds",
        {"provisional": "the index is being built; search again in seconds"},
    ),
    (
        notes.AboutOthers("ana", "ben", 4, -0.25),
        "about ben, not ana: e4 is nearer by 0.250 of terms",
        {"about": "ben, not ana"},
    ),
    (
        notes.AsOf(MOMENT),
        "as of 2026-03-01T12:00:00.000000Z; nearness is that of today's vectors",
        {"hint": "as of 2026-03-01T12:00:00Z; nearness is that of today's vectors"},
    ),
    (notes.PartOf(3, 8767, "fact"), "3 of 8,767 facts", {}),
    (notes.NothingFound(), "no such fact", {}),
    (
        notes.NothingStored(0, names_nobody=True),
        "the memory is empty; store a fact with memstore add",
        {"hint": "nothing is stored yet"},
    ),
    (
        notes.NothingStored(2, names_nobody=False),
        "no such fact",
        {"hint": "no fact is stored yet for these owners, and none of 2 turns fits"},
    ),
    (
        OTHERS,
        "other owners have 3 facts and 1 episode: use --scope all, or --user 'ana smith'",
        {
            "hint": "found nothing without an owner; owners have 3 facts and 1 episode: pass "
            "user_id, agent_id or run_id, exactly as they were stored"
        },
    ),
    (
        ELSEWHERE,
        "1 other namespace holds more: work (2 facts, 1 episode): use --namespace work or "
        "--namespaces all",
        {"hint": "1 other namespace of this memory has more"},
    ),
]

NOTES = [note for note, *_ in TABLE]


def test_every_kind_of_note_is_in_the_table() -> None:
    assert {type(note) for note in NOTES} == set(get_args(notes.Note))


@pytest.mark.parametrize(("note", "sentence", "_"), TABLE)
def test_the_command_line_has_a_sentence(note: Note, sentence: str, _: Any) -> None:
    asked = Wording(Namespace(explain=True, namespaces=None), "no such fact", "e")
    assert [*command_line.sentences(note, asked)] == ([sentence] if sentence else [])


@pytest.mark.parametrize(("note", "_", "members"), TABLE)
def test_an_answer_of_a_tool_has_members(note: Note, _: Any, members: dict[str, Any]) -> None:
    assert tools.noted({}, [note]) == members


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ((), "stored as #7"),
        ((notes.Near(7, (OLD,)),), "stored as #7"),
        ((notes.Superseded(3),), "stored as #7, superseding #3"),
        ((notes.Duplicate(),), "already stored, confirmed: #7"),
        (
            (notes.Duplicate(), notes.Proposed(3)),
            "already stored, confirmed: #7; superseding #3 is proposed, as that counts more",
        ),
    ],
)
def test_the_command_line_says_what_was_done(given: tuple[Note, ...], told: str) -> None:
    assert command_line.done(StoredFact(unchecked(Fact, {"id": 7}), given)) == told


def test_hints_of_an_answer_become_one() -> None:
    answer = tools.noted(
        {"hint": "full"},
        [notes.LessRelevant(2, is_all=False), notes.Respelt("tee", "tea")],
        "all=true",
    )
    assert answer == {
        "hint": "full; 2 less relevant left out: all=true has no minimum; "
        'searched for "tea" instead of "tee"'
    }


def test_only_the_command_line_names_other_owners() -> None:
    for note in NOTES:
        faces = (tools.noted({}, [note]), recalling.sentence(note), [*page.sentences([note])])
        assert "ana smith" not in str(faces)


def test_a_hook_only_says_that_others_hold_something() -> None:
    told = [sentence for note in NOTES if (sentence := recalling.sentence(note)) is not None]
    assert told == [
        "There are no facts without an owner; 3 facts with owners were not recalled. "
        "`memstore setup --user NAME` chooses whose facts are."
    ]


def test_a_page_says_what_its_hits_do_not_show() -> None:
    assert [*page.sentences(NOTES)] == [
        f"By words alone: {LOADING}",
        "By words alone: none",
        "2 less relevant facts left out.",
        "2 less relevant facts left out.",
        "Searched for “tea” instead of “tee”.",
    ]


def test_a_command_without_namespaces_names_no_flag_for_them() -> None:
    [sentence] = command_line.sentences(ELSEWHERE, Wording(Namespace()))
    assert sentence.endswith("use --namespace work")


def test_nearness_is_explained_only_on_request() -> None:
    about = notes.AboutOthers("ana", "ben", 4, -0.25)
    assert [*command_line.sentences(about, Wording(Namespace()))] == ["about ben, not ana"]
