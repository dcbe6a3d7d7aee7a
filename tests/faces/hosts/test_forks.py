"""A session that was forked from another: its turns are stored once, and told to nobody twice."""

from __future__ import annotations

import io
import json
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import memstore
from memstore.domain.records import NOBODY, Scope
from memstore.domain.turns import digest_of
from memstore.faces.hosts import hook, keeping, sessions
from memstore.store.store import Store

SAID = "the ferry timetable moves to table 7714"
LATER = "the ferry stops at pier 9 from Monday"
ASKED = "where does the ferry timetable move to, which table?"
TIME = "2026-11-20T10:00:00Z"


def turn(role: str, text: str, session: str, at: str = TIME, **values: Any) -> dict[str, Any]:
    content = text if role == "user" else [{"type": "text", "text": text}]
    return {
        "type": role,
        "uuid": str(uuid.uuid4()),
        "sessionId": session,
        "timestamp": at,
        "message": {"role": role, "content": content},
        **values,
    }


def forked(records: list[dict[str, Any]], session: str, **by: Any) -> list[dict[str, Any]]:
    """Return the copies that Claude Code makes: with the same ids."""
    return [one | {"sessionId": session} | by for one in records]


def branched(records: list[dict[str, Any]], session: str) -> list[dict[str, Any]]:
    """Return the copies that ``/branch`` makes, which say where they are from."""
    return [
        one
        | {"sessionId": session}
        | {"forkedFrom": {"sessionId": one["sessionId"], "messageUuid": one["uuid"]}}
        for one in records
    ]


Write = Callable[[str, list[dict[str, Any]]], dict[str, Any]]


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Write:
    """Write a transcript, and return the event that names it."""
    for name in ("XDG_DATA_HOME", "LOCALAPPDATA"):
        monkeypatch.setenv(name, str(tmp_path / "data"))

    def write(session: str, records: list[dict[str, Any]]) -> dict[str, Any]:
        path = tmp_path / f"{session}.jsonl"
        path.write_text("".join(json.dumps(one) + "\n" for one in records))
        return {"transcript_path": str(path), "session_id": session}

    return write


@pytest.fixture
def store(tmp_path: Path, write: Write) -> Iterator[Store]:
    with memstore.open(tmp_path / "m.db", embedder=None) as store:
        yield store


def held(store: Store, **asked: Any) -> list[tuple[str, str | None]]:
    return [(one.content, one.thread) for one in store.episodes.list(limit=None, **asked)]


def in_file(store: Store, text: str) -> bool:
    """Return whether a file has a text; of a database on a server it cannot be said."""
    file = Path(store.path)
    return file.exists() and text.encode() in file.read_bytes()


PARENT = [turn("user", SAID, "s1"), turn("assistant", "Noted.", "s1")]
OWN = [turn("user", "Now draft the notice", "s2", at="2026-11-20T11:00:00Z")]


@pytest.mark.parametrize("copy", [forked, branched])
@pytest.mark.parametrize("child_first", [False, True])
def test_turn_is_stored_once_whichever_session_is_kept_first(
    store: Store, write: Write, copy: Callable[..., Any], child_first: bool
) -> None:
    events = [write("s1", PARENT), write("s2", copy(PARENT, "s2") + OWN)]
    for event in (*reversed(events), *events) if child_first else (*events, *events):
        keeping.keep(store, "claude-code", event)
    told = held(store)
    assert [text for text, _ in told] == [SAID, "Noted.", OWN[0]["message"]["content"]]
    own = "s2" if child_first and copy is forked else "s1"
    assert [thread for _, thread in told] == [own, own, "s2"]
    assert store.file.doctor(deep=True) == []


def test_forks_of_forks_add_only_what_they_say(store: Store, write: Write) -> None:
    first = branched(PARENT, "s2") + OWN
    second = [*branched(first, "s3"), turn("user", "And send it", "s3")]
    for session, records in (("s3", second), ("s1", PARENT), ("s2", first)):
        keeping.keep(store, "claude-code", write(session, records))
    assert sorted(text for text, _ in held(store)) == sorted(
        [SAID, "Noted.", "Now draft the notice", "And send it"]
    )


def test_same_words_said_again_are_another_turn(store: Store, write: Write) -> None:
    again = [turn("user", SAID, "s2")]
    keeping.keep(store, "claude-code", write("s1", PARENT))
    keeping.keep(store, "claude-code", write("s2", forked(PARENT, "s2") + again))
    assert [text for text, _ in held(store)].count(SAID) == 2


def test_turn_without_an_id_belongs_to_its_session(store: Store, write: Write) -> None:
    said = {"role": "user", "message": {"content": [{"type": "text", "text": "go on"}]}}
    for session in ("s1", "s2"):
        keeping.keep(store, "cursor", write(session, [said]))
    assert held(store) == [("go on", "s1"), ("go on", "s2")]


def test_incomplete_turn_is_followed_by_the_complete_one(store: Store, write: Write) -> None:
    [first, *_] = PARENT
    keeping.keep(store, "claude-code", write("s1", [first]))
    whole = first | {"message": {"role": "user", "content": f"{SAID}, and stays there"}}
    keeping.keep(store, "claude-code", write("s1", [whole]))
    assert [text for text, _ in held(store)] == [SAID, f"{SAID}, and stays there"]


def test_erased_turn_does_not_come_back_by_any_session(store: Store, write: Write) -> None:
    events = [write("s1", PARENT), write("s2", branched(PARENT, "s2") + OWN)]
    keeping.keep(store, "claude-code", events[0])
    store.episodes.erase(1)
    for event in events * 2:
        keeping.keep(store, "claude-code", event)
    assert [text for text, _ in held(store)] == ["Noted.", "Now draft the notice"]
    assert not in_file(store, SAID)
    assert not in_file(store, digest_of(SAID))
    assert store.file.doctor(deep=True) == []


def test_expired_turn_does_not_come_back(store: Store, write: Write) -> None:
    keeping.keep(store, "claude-code", write("s1", PARENT))
    store.episodes.expire([1])
    keeping.keep(store, "claude-code", write("s2", forked(PARENT, "s2")))
    assert [text for text, _ in held(store)] == ["Noted."]


def test_same_ids_in_other_hands_are_other_turns(store: Store, write: Write) -> None:
    event = write("s1", PARENT)
    bob, other = Scope(user_id="bob"), store.within("other")
    keeping.keep(store, "claude-code", event)
    keeping.keep(store.of(bob), "claude-code", event)
    keeping.keep(other, "claude-code", event)
    keeping.keep(store, "another-host", event)
    assert len(held(store.of(bob))) == len(held(other)) == 2
    assert len(held(store)) == 4
    store.episodes.erase(1)
    for owner in (NOBODY, bob):
        keeping.keep(store.of(owner), "claude-code", event)
    assert SAID in {text for text, _ in held(store.of(bob))}
    assert SAID in {text for text, _ in held(other)}


def test_foreign_text_under_a_known_id_hides_nothing(store: Store, write: Write) -> None:
    keeping.keep(store, "claude-code", write("s2", [PARENT[0] | {"message": {"content": "x"}}]))
    keeping.keep(store, "claude-code", write("s1", PARENT))
    assert [text for text, _ in held(store)] == ["x", SAID, "Noted."]


# -- what earlier versions recorded ----------------------------------------------------------------


def recorded(store: Store, text: str, session: str, mark: str, **values: Any) -> int:
    """Record a turn as earlier versions did."""
    return store.episodes.add(
        text,
        source="claude-code",
        thread=session,
        **{"speaker": "user", "tags": ["session"], "valid_at": TIME} | values,
        idempotency_key=f"claude-code:{session}:{mark}:{digest_of(text)}",
    ).id


def test_copies_of_requests_and_forks_expire_and_keep_what_refers_to_them(
    store: Store, write: Write
) -> None:
    first = PARENT[0]["uuid"]
    turns = recorded(store, SAID, "s1", first), recorded(store, "second", "s1", str(uuid.uuid4()))
    request = recorded(store, SAID, "s1", "17", valid_at=None)
    both = recorded(store, f"{SAID}\n\nsecond", "s1", "44", valid_at=None)
    fork = recorded(store, SAID, "s2", first)
    others = (
        recorded(store, "what no turn says", "s1", "45", valid_at=None),
        recorded(store, SAID, "s3", str(uuid.uuid4())),
        recorded(store, SAID, "s4", "17", valid_at=None),
        recorded(store, SAID, "s1", "18", valid_at=None, speaker="assistant"),
    )
    keeping.keep(store, "claude-code", write("s1", PARENT))
    active = {one.id for one in store.episodes.list(limit=None)}
    assert active >= {*turns, *others}
    assert not active & {request, both, fork}
    assert {store.episodes.get(one).status for one in (request, both, fork)} == {"expired"}
    assert store.episodes.fold_turns() == 0
    assert store.file.doctor(deep=True) == []
    assert sum(text == SAID for text, _ in held(store, thread="s1")) == 2  # of either speaker


def test_fact_drawn_from_a_copy_stays_and_the_record_that_it_names(store: Store) -> None:
    mark = str(uuid.uuid4())
    recorded(store, SAID, "s1", mark)
    copy = recorded(store, SAID, "s2", mark)
    fact = store.add("The ferry timetable is table 7714", subject="ferry", episode_id=copy)
    assert store.episodes.fold_turns() == 1
    assert [one.id for one in store.episodes.list()] == [copy]
    assert store.get(fact.id).status == "active"
    assert store.get(fact.id).episode_id == copy


@pytest.mark.parametrize("named", [1, 2])
def test_turn_is_erased_with_its_copies(store: Store, write: Write, named: int) -> None:
    mark = PARENT[0]["uuid"]
    for session in ("s1", "s2"):
        recorded(store, SAID, session, mark)
    store.episodes.fold_turns()
    assert store.ledger.erasure(episode=named).episode_ids == (1, 2)
    store.episodes.erase(named)
    keeping.keep(store, "claude-code", write("s3", forked(PARENT, "s3")))
    assert [text for text, _ in held(store, include_expired=True)] == ["Noted."]
    assert not in_file(store, SAID)


def test_turn_and_copies_that_were_erased_elsewhere_are_erased_here(
    store: Store, tmp_path: Path
) -> None:
    mark = PARENT[0]["uuid"]
    for session in ("s1", "s2"):
        recorded(store, SAID, session, mark)
    store.episodes.fold_turns()
    with memstore.open(tmp_path / "other.db", embedder=None) as other:
        other.file.import_([*store.file.export()])
        assert len(held(other, include_expired=True)) == 2
        store.episodes.erase(1)
        other.file.import_([*store.file.export()])
        assert held(other, include_expired=True) == []
        assert other.file.doctor(deep=True) == []


# -- what a session is told ------------------------------------------------------------------------

Run = Callable[..., str]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    monkeypatch.setenv("MEMSTORE_DB", str(tmp_path / "m.db"))

    def run(name: str, **event: Any) -> str:
        given = io.BytesIO(json.dumps({"cwd": str(tmp_path), **event}).encode())
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(given))
        capsys.readouterr()
        assert hook.main([name, "--host", "claude-code", "--embedder", "none"]) == 0
        return capsys.readouterr().out

    return run


def test_fork_is_not_told_what_it_has_of_its_parent(
    store: Store, write: Write, run: Run, tmp_path: Path
) -> None:
    keeping.keep(store, "claude-code", write("s1", PARENT))
    absent = {"session_id": "s2", "transcript_path": str(tmp_path / "s2.jsonl")}
    assert SAID in run("UserPromptSubmit", session_id="s9", prompt=ASKED)
    assert SAID not in run("SessionStart", **absent, source="fork")
    assert SAID not in run("UserPromptSubmit", **absent, prompt=ASKED)
    there = write("s2", forked(PARENT, "s2") + OWN)
    assert SAID not in run("UserPromptSubmit", **there, prompt=ASKED)
    other = [turn("user", LATER, "s5")]
    keeping.keep(store, "claude-code", write("s5", other))
    told = run("UserPromptSubmit", **there, prompt="which pier does the ferry stop at, Monday?")
    assert LATER in told
    assert SAID not in told


def test_fork_that_its_host_does_not_start_is_told_facts_until_its_turns_are_known(
    store: Store, write: Write, run: Run, tmp_path: Path
) -> None:
    keeping.keep(store, "claude-code", write("s1", PARENT))
    store.add("The ferry timetable is printed in Oslo", subject="ferry")
    absent = {"session_id": "s2", "transcript_path": str(tmp_path / "s2.jsonl")}
    told = run("UserPromptSubmit", **absent, prompt="where is the ferry timetable printed?")
    assert "Oslo" in told
    assert SAID not in told
    assert SAID not in run("UserPromptSubmit", **write("s2", forked(PARENT, "s2")), prompt=ASKED)


def test_new_session_is_told_what_was_said_before_its_transcript_exists(
    store: Store, write: Write, run: Run, tmp_path: Path
) -> None:
    keeping.keep(store, "claude-code", write("s1", PARENT))
    absent = {"session_id": "s2", "transcript_path": str(tmp_path / "s2.jsonl")}
    run("SessionStart", **absent, source="startup")
    assert SAID in run("UserPromptSubmit", **absent, prompt=ASKED)


def test_parent_kept_after_its_fork_asked_is_not_told_either(
    store: Store, write: Write, run: Run
) -> None:
    there = write("s2", branched(PARENT, "s2"))
    run("SessionStart", **there, source="resume")
    assert run("UserPromptSubmit", **there, prompt=ASKED) == ""
    keeping.keep(store, "claude-code", write("s1", PARENT))
    assert SAID not in run("UserPromptSubmit", **there, prompt=ASKED)
    run("SessionStart", **there, source="compact")
    assert SAID in run("UserPromptSubmit", **there, prompt=ASKED)


def test_what_the_parent_says_after_the_fork_is_told(store: Store, write: Write, run: Run) -> None:
    there = write("s2", branched(PARENT, "s2"))
    run("SessionStart", **there, source="fork")
    run("UserPromptSubmit", **there, prompt=ASKED)
    after = [turn("user", LATER, "s1", at="2026-11-20T12:00:00Z")]
    keeping.keep(store, "claude-code", write("s1", PARENT + after))
    told = run("UserPromptSubmit", **there, prompt="which pier does the ferry stop at, Monday?")
    assert LATER in told


def test_fork_of_codex_goes_on_from_the_others_transcript(
    store: Store, write: Write, run: Run
) -> None:
    item = {"type": "UserMessage", "id": str(uuid.uuid4()), "content": [{"text": SAID}]}
    said = {"type": "item_completed", "item": item}
    parent = write("s1", [{"type": "event_msg", "timestamp": TIME, "payload": said}])
    keeping.keep(store, "claude-code", parent)
    for child, of in (("s2", "s1"), ("s3", "s2")):
        meta = {"type": "session_meta", "timestamp": "2026-11-20T11:00:00Z"}
        there = write(child, [meta | {"payload": {"id": child, "forked_from_id": of}}])
        assert SAID not in run("UserPromptSubmit", **there, prompt=ASKED), child


@pytest.mark.parametrize("damage", [5, {}, {"turns": 5, "sessions": []}, {"sessions": [["a"]]}])
def test_damaged_file_of_a_session_is_replaced(write: Write, damage: object) -> None:
    file = Path(sessions.HostSession.of("s1", "m.db").began().file or "")
    file.write_text(json.dumps({"given": [], "emptied_at": None, "inherited": damage}))
    assert sessions.HostSession.of("s1", "m.db").inherited is None
    assert sessions.HostSession.of("s1", "m.db").began().began_at is not None
