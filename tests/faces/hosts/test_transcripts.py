"""Which records of a host's transcript are turns, and what of them is the user's words."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import memstore
from memstore.faces.hosts import keeping, record_kinds, transcripts, troubles
from memstore.faces.hosts.record_kinds import UNKNOWN, Use

TIME = "2026-11-20T10:00:00Z"


def read(folder: Path, *records: Any) -> tuple[list[tuple[str, str]], dict[str, int]]:
    """Return the turns of a transcript, and what was left out of it."""
    path = folder / "t.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in records))
    left_out: Counter[str] = Counter()
    return [(turn.role, turn.text) for turn in transcripts.turns(path, left_out)], dict(left_out)


def queued(**values: Any) -> dict[str, Any]:
    attachment = {"type": "queued_command", "prompt": "no, port 5500", "commandMode": "prompt"}
    return {
        "type": "attachment",
        "uuid": "u1",
        "timestamp": TIME,
        "attachment": attachment | values,
    }


def codex(item: dict[str, Any]) -> dict[str, Any]:
    return {"type": "event_msg", "payload": {"type": "item_completed", "item": item}}


@pytest.mark.parametrize("host", ["claude-code", "codex", "gemini-cli", "cursor"])
def test_each_kind_of_record_has_one_use_and_a_reason(host: str) -> None:
    rows = [row for row in record_kinds.TABLE if row.host == host]
    names = [name for row in rows for name in row.names]
    assert len(names) == len({*names})
    assert all(row.reason and row.names for row in rows)
    assert any(row.use is Use.TURN for row in rows)


def with_message(host: str, name: str) -> dict[str, Any]:
    """Return a record of a kind that has a message wherever one could be."""
    said = {"message": {"role": "user", "content": "x"}}
    kind, _, inner = name.rpartition("/")
    if host == "cursor":
        return {"role": name, "message": {"content": "x"}}
    if host == "gemini-cli":
        return {"type": name, "id": "i", "content": "x"}
    if kind == "attachment":
        return {"type": kind, "attachment": {"type": inner, "prompt": "x", **said}, **said}
    if "item_completed" in name:
        return codex({"type": inner, "text": "x", **said}) | said
    if host == "codex":
        return {"type": kind or name, "payload": {"type": inner, **said}, **said}
    return {"type": name, **said}


@pytest.mark.parametrize("host", ["claude-code", "codex", "gemini-cli", "cursor"])
def test_record_that_is_no_turn_is_none_whatever_message_it_has(tmp_path: Path, host: str) -> None:
    for (of, name), use in record_kinds.USES.items():
        if of == host and use is not Use.TURN:
            assert read(tmp_path, with_message(host, name)) == ([], {}), name


@pytest.mark.parametrize(
    ("record", "name"),
    [
        ({"type": "telepathy", "message": {"role": "user", "content": "x"}}, "telepathy"),
        ({"type": "attachment", "attachment": {"type": "smell"}}, "attachment/smell"),
        ({"type": "event_msg", "payload": {"type": "user_sang"}}, "event_msg/user_sang"),
        (codex({"type": "Song", "text": "x"}), "event_msg/item_completed/Song"),
        ({"type": "new_line", "payload": {}}, "new_line"),
        ({"role": "narrator", "message": {"content": "x"}}, "narrator"),
        ({"type": "my secret\nwords", "message": {}}, record_kinds.OTHER),
        ({"type": "x" * 500, "message": {}}, record_kinds.OTHER),
    ],
)
def test_record_of_an_unknown_kind_is_counted_and_not_kept(
    tmp_path: Path, record: dict[str, Any], name: str
) -> None:
    assert read(tmp_path, record, record) == ([], {UNKNOWN + name: 2})


def test_names_of_unknown_kinds_are_few(tmp_path: Path) -> None:
    told = read(tmp_path, *({"type": f"kind{n}"} for n in range(200)))[1]
    assert len(told) == record_kinds.MAX_UNKNOWN + 1
    assert sum(told.values()) == 200


@pytest.mark.parametrize(
    ("values", "turns"),
    [
        ({}, ["no, port 5500"]),
        ({"prompt": [{"type": "text", "text": "see"}, {"type": "image"}]}, ["see"]),
        ({"origin": {"kind": "human"}}, ["no, port 5500"]),
        ({"commandMode": None}, ["no, port 5500"]),
        ({"commandMode": "task-notification"}, []),
        ({"commandMode": "bash"}, []),
        ({"origin": {"kind": "peer", "name": "other"}}, []),
        ({"isMeta": True}, []),
        ({"prompt": "<task-notification>done</task-notification>"}, []),
    ],
)
def test_prompt_typed_while_the_agent_works_is_the_users(
    tmp_path: Path, values: dict[str, Any], turns: list[str]
) -> None:
    assert read(tmp_path, queued(**values)) == ([("user", text) for text in turns], {})


def test_prompt_of_another_agent_or_a_task_is_not_the_users(tmp_path: Path) -> None:
    said = {"type": "user", "message": {"role": "user", "content": "x"}}
    for kind in ("peer", "task-notification", "plugin", "auto-continuation"):
        assert read(tmp_path, said | {"origin": {"kind": kind}}) == ([], {})
    assert read(tmp_path, said | {"origin": {"kind": "human"}}) == ([("user", "x")], {})
    assert read(tmp_path, said | {"origin": "odd"}) == ([("user", "x")], {})


def test_plan_and_review_of_codex_are_the_assistants(tmp_path: Path) -> None:
    turns, left_out = read(
        tmp_path,
        codex({"type": "Plan", "id": "p", "text": "# Plan\n1. Move the port"}),
        codex({"type": "ExitedReviewMode", "id": "r", "review": "One bug in parse()"}),
    )
    assert turns == [("assistant", "# Plan\n1. Move the port"), ("assistant", "One bug in parse()")]
    assert left_out == {}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("<user_query>\nhi\nthere\n</user_query>", "hi\nthere"),
        ("<user_query>hi</user_query>", "hi"),
        ("<attached_files>\nx\n</attached_files>\n<user_query>\nhi\n</user_query>\n<t>", "hi"),
        ("<user_query>\n  indented\n\n  code\n</user_query>", "  indented\n\n  code"),
        ("<user_query>\nwhat is <user_query> in </user_query>?\n</user_query>",
         "what is <user_query> in </user_query>?"),
        ("<user_query>\na\n</user_query>\n<user_query>\nb\n</user_query>", "a\n\nb"),
        ("<user_query>\ncut off", "cut off"),
        ("what does <user_query> do?", "what does <user_query> do?"),
        ("plain", "plain"),
        ("<user_query>\n</user_query>", None),
    ],
)  # fmt: skip
def test_words_in_cursor_are_those_that_the_user_typed(
    tmp_path: Path, text: str, said: str | None
) -> None:
    parts = [{"type": "text", "text": text}]
    turns, _ = read(tmp_path, {"role": "user", "message": {"content": parts}})
    assert turns == ([] if said is None else [("user", said)])
    assistants = {"role": "assistant", "message": {"content": parts}}
    assert read(tmp_path, assistants)[0] == [("assistant", text)]


def test_what_codex_puts_before_the_users_words_is_left_out(tmp_path: Path) -> None:
    before = "# Context from my IDE setup:\n\n## Active file: a.py\n\n## My request for Codex:\n"
    item = {"type": "UserMessage", "content": [{"type": "text", "text": f"{before}fix it\n# now"}]}
    assert read(tmp_path, codex(item))[0] == [("user", "fix it\n# now")]
    item["content"] = [{"type": "text", "text": "what is\n## My request for Codex:\nin a file?"}]
    assert "in a file?" in read(tmp_path, codex(item))[0][0][1]
    assert "what is" in read(tmp_path, codex(item))[0][0][1]


def test_record_without_a_role_is_read_by_its_type(tmp_path: Path) -> None:
    records = [{"type": kind, "message": {"content": kind}} for kind in ("user", "assistant")]
    assert read(tmp_path, *records)[0] == [("user", "user"), ("assistant", "assistant")]


def test_session_of_gemini_cli_as_one_indented_object_is_read(tmp_path: Path) -> None:
    messages = [
        {"id": "a", "timestamp": TIME, "type": "user", "content": "hi"},
        {"type": "info", "content": "a notice"},
        {"type": "gemini", "content": "yes"},
        {"type": "gemini", "content": "yes"},
    ]
    path = tmp_path / "session.json"
    session = {"sessionId": "s", "projectHash": "p", "messages": messages}
    path.write_text(json.dumps(session, indent=2))
    left_out: Counter[str] = Counter()
    turns = [*transcripts.turns(path, left_out)]
    assert [turn.text for turn in turns] == ["hi", "yes", "yes"]
    assert len({turn.mark for turn in turns}) == 3
    assert not left_out
    path.write_text(json.dumps(session, indent=2)[:-20])  # still being written
    assert [*transcripts.turns(path, left_out)] == []


def test_turn_is_known_by_the_id_it_had_first(tmp_path: Path) -> None:
    said = {"type": "user", "uuid": "new", "message": {"role": "user", "content": "x"}}
    made = [
        said | {"forkedFrom": {"sessionId": "s1", "messageUuid": "old"}},
        said | {"sentAsUuid": "old"},
        queued(source_uuid="old"),
        said,
    ]
    path = tmp_path / "t.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in made))
    turns = [*transcripts.turns(path, Counter())]
    assert [turn.mark for turn in turns] == ["old", "old", "old", "new"]
    assert [turn.copied_from for turn in turns] == ["s1", None, None, None]


def test_records_of_unknown_kinds_are_told_apart_from_turns_that_were_not_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("XDG_DATA_HOME", "LOCALAPPDATA"):
        monkeypatch.setenv(name, str(tmp_path))
    path = tmp_path / "t.jsonl"
    made = [{"type": "telepathy"}, {"type": "telepathy"}, {"type": "user", "message": 5}]
    path.write_text("".join(json.dumps(one) + "\n" for one in made))
    with memstore.open(tmp_path / "m.db", embedder=None) as store:
        keeping.keep(store, "claude-code", {"transcript_path": str(path), "session_id": "s"})
        assert troubles.sentences(store.path) == [
            "hooks did not keep 1 turn of 1 session: 1 of another form",
            "transcripts of claude-code have records of kinds that this version does not know, and "
            "that were not kept: 2 telepathy; a newer version may know them",
        ]
