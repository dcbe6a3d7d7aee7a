"""Exports of ChatGPT and Claude: what was said, in its order, and nothing twice."""

from __future__ import annotations

import contextlib
import json
import sys
import zipfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from memstore import InvalidArgument, MemstoreError, Store, TransferError
from memstore.database import short_transactions
from memstore.episodes import parts
from memstore.importing import long_json
from memstore.importing.records import Damaged


def message(name: str, role: str, text: Any, **more: Any) -> dict[str, Any]:
    parts = text if isinstance(text, list) else [text]
    return {
        "id": name,
        "author": {"role": role},
        "create_time": 1_700_000_000.5,
        "content": {"content_type": "text", "parts": parts},
        **more,
    }


def node(parent: str | None, said: dict[str, Any] | None = None) -> dict[str, Any]:
    return {"parent": parent, "message": said}


def conversation(**more: Any) -> dict[str, Any]:
    return {
        "title": "Tea",
        "create_time": 1_690_000_000,
        "conversation_id": "c1",
        "current_node": "answer",
        "mapping": {
            "root": node(None),
            "system": node("root", message("system", "system", "Be kind", weight=0)),
            "ask": node("system", message("ask", "user", "Which tea?")),
            "first": node("ask", message("first", "assistant", "Black tea")),
            "answer": node("ask", message("answer", "assistant", "Green tea")),
        },
        **more,
    }


def written(path: Path, value: Any) -> Path:
    path.write_text(json.dumps(value), encoding="utf-8")
    return path


def zipped(path: Path, **files: Any) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, value in files.items():
            archive.writestr(f"{name}.json", json.dumps(value))
    return path


def contents(store: Store) -> list[str]:
    return [one.content for one in store.of("all").episodes.list()][::-1]


def counts(report: Any) -> dict[str, int]:
    return {kind: left.count for kind, left in report.left_out.items()}


# -- ChatGPT ---------------------------------------------------------------------------------


def test_the_path_to_the_current_message_is_imported(store: Store, tmp_path: Path) -> None:
    file = written(tmp_path / "conversations.json", [conversation()])
    before = file.read_bytes()
    report = store.transfer.import_from("chatgpt", file)
    assert (report.episodes, report.facts) == (2, 0)
    assert counts(report) == {"hidden messages": 1, "messages on other branches": 1}
    ask, answer = store.of("all").episodes.list()[::-1]
    if ask.content != "Which tea?":
        ask, answer = answer, ask
    assert (ask.content, ask.speaker, ask.thread, ask.seq) == ("Which tea?", "user", "c1", 2)
    assert (answer.content, answer.speaker, answer.seq) == ("Green tea", "assistant", 3)
    assert ask.created_at.isoformat() == "2023-11-14T22:13:20.500000+00:00"
    assert ask.name == "Tea"
    assert ask.idempotency_key == "chatgpt:ask"
    assert store.transfer.import_from("chatgpt", file).known == 2
    assert file.read_bytes() == before
    assert store.file.doctor() == []


def test_branches_and_hidden_messages_come_if_asked_for(store: Store, tmp_path: Path) -> None:
    file = written(tmp_path / "conversations.json", [conversation()])
    store.transfer.import_from("chatgpt", file)
    report = store.transfer.import_from("chatgpt", file, include=["branches", "hidden"])
    assert (report.episodes, report.known, counts(report)) == (2, 2, {})
    places = {one.content: one.seq for one in store.of("all").episodes.list()}
    assert places == {"Be kind": 1, "Which tea?": 2, "Black tea": 3, "Green tea": 3}


def test_a_dry_run_counts_and_changes_nothing(store: Store, tmp_path: Path) -> None:
    file = written(tmp_path / "conversations.json", [conversation()])
    head = store.file.head()
    report = store.transfer.import_from("chatgpt", file, dry_run=True)
    assert (report.dry_run, report.episodes) == (True, 2)
    assert store.file.head() == head


def test_numbered_files_in_an_archive_or_a_folder_are_one_export(
    store: Store, tmp_path: Path
) -> None:
    second = conversation(
        conversation_id="c2", mapping={"x": node(None, message("x", "user", "Hi"))}
    )
    files = {"conversations-000": [conversation()], "conversations-001": [second], "user": {}}
    archive = zipped(tmp_path / "export.zip", **files)
    assert store.transfer.import_from("chatgpt", archive).episodes == 3
    folder = tmp_path / "folder"
    folder.mkdir()
    for name, value in files.items():
        written(folder / f"{name}.json", value)
    assert store.transfer.import_from("chatgpt", folder).known == 3


@pytest.mark.parametrize("missing", ["create_time", "title", "current_node", "conversation_id"])
def test_what_may_be_missing_is_done_without(store: Store, tmp_path: Path, missing: str) -> None:
    value = conversation()
    del value[missing]
    for one in value["mapping"].values():
        if one["message"]:
            one["message"].pop(missing, None)
    value["mapping"]["answer"]["message"]["create_time"] = 1_800_000_000
    assert (
        store.transfer.import_from("chatgpt", written(tmp_path / "c.json", [value])).episodes == 2
    )
    assert sorted(contents(store)) == ["Green tea", "Which tea?"]


@pytest.mark.parametrize("include", [[], ["branches"]])
def test_parents_in_a_circle_end(store: Store, tmp_path: Path, include: list[str]) -> None:
    value = conversation()
    value["mapping"]["system"]["parent"] = "answer"
    report = store.transfer.import_from(
        "chatgpt", written(tmp_path / "c.json", [value]), include=include
    )
    assert report.left_out["parents in a circle"].count >= 1
    assert {"Which tea?", "Green tea"} <= set(contents(store))


def test_parts_that_are_no_text_are_named(store: Store, tmp_path: Path) -> None:
    image = {"content_type": "image_asset_pointer", "asset_pointer": "file-service://abc"}
    spoken = {"content_type": "audio_transcription", "text": "said aloud"}
    said = message(
        "ask", "user", ["See", image, spoken], metadata={"attachments": [{"name": "a.pdf"}]}
    )
    value = conversation(mapping={"ask": node(None, said)}, current_node="ask")
    store.transfer.import_from("chatgpt", written(tmp_path / "c.json", [value]))
    assert contents(store) == ["See\n\n[image: file-service://abc]\n\nsaid aloud\n\n[file: a.pdf]"]


def test_reasoning_and_tools_are_left_out_and_counted(store: Store, tmp_path: Path) -> None:
    thought = message("t", "assistant", "")
    thought["content"] = {
        "content_type": "thoughts",
        "thoughts": [{"summary": "S", "content": "C"}],
    }
    call = message("k", "assistant", "print(1)", recipient="python")
    output = message("o", "tool", "1")
    value = conversation(
        current_node="o",
        mapping={"t": node(None, thought), "k": node("t", call), "o": node("k", output)},
    )
    file = written(tmp_path / "c.json", [value])
    assert counts(store.transfer.import_from("chatgpt", file)) == {
        "reasoning": 1,
        "calls and output of tools": 2,
    }
    assert store.transfer.import_from("chatgpt", file, include=["reasoning", "tools"]).episodes == 3
    assert sorted(contents(store)) == ["1", "S\nC", "print(1)"]


def test_damaged_conversations_are_named(store: Store, tmp_path: Path) -> None:
    wrong = conversation(conversation_id="c9")
    wrong["mapping"]["ask"]["message"]["create_time"] = "yesterday"
    file = written(tmp_path / "c.json", [conversation(), 7, wrong])
    with pytest.raises(TransferError, match=r"record 2: .*nothing was imported"):
        store.transfer.import_from("chatgpt", file)
    assert store.of("all").episodes.count() == 0
    report = store.transfer.import_from("chatgpt", file, skip_damaged=True)
    assert (report.episodes, report.known) == (2, 1), "they share a message"
    assert report.left_out["damaged records"].count == 2


def test_include_is_refused_where_it_means_nothing(store: Store, tmp_path: Path) -> None:
    file = written(tmp_path / "c.json", [conversation()])
    with pytest.raises(InvalidArgument, match="include must be branches, hidden, reasoning or"):
        store.transfer.import_from("chatgpt", file, include=["all"])
    with pytest.raises(InvalidArgument, match="include is for conversations, not for mem0"):
        store.transfer.import_from("mem0", file, include=["tools"])


# -- Claude ----------------------------------------------------------------------------------

SAID = {
    "uuid": "m1",
    "sender": "human",
    "text": "flat text",
    "content": [{"type": "text", "text": "Read this"}, {"type": "thinking", "thinking": "Hmm"}],
    "created_at": "2025-02-01T10:00:00Z",
    "attachments": [{"file_name": "a.txt", "extracted_content": "the attached text"}],
    "files": [{"file_name": "b.png"}],
}
ANSWER = {"uuid": "m2", "sender": "assistant", "text": "An answer", "content": []}
CHAT = {
    "uuid": "u1",
    "name": "Plans",
    "created_at": "2025-02-01T09:00:00Z",
    "chat_messages": [SAID, ANSWER],
}
PROJECT = {
    "uuid": "p1",
    "name": "Shop",
    "prompt_template": "Be brief",
    "created_at": "2025-01-01T00:00:00Z",
    "docs": [{"uuid": "d1", "filename": "plan.md", "content": "The plan"}, {"uuid": "d2"}],
}
REMEMBERED = {
    "account_uuid": "a1",
    "conversations_memory": "Ana likes tea",
    "project_memories": {"p1": "The shop is in Lyon"},
}


def test_an_archive_of_claude_becomes_episodes(store: Store, tmp_path: Path) -> None:
    archive = zipped(
        tmp_path / "c.zip",
        conversations=[CHAT],
        projects=[PROJECT],
        memories=[REMEMBERED],
        users=[{"email_address": "ana@example.org"}],
    )
    report = store.transfer.import_from("claude", archive)
    assert report.episodes == 7
    assert counts(report) == {"reasoning": 1, "documents without text": 1}
    assert sorted(contents(store)) == [
        "An answer",
        "Ana likes tea",
        "Be brief",
        "Read this\n\n[file: b.png]",
        "The plan",
        "The shop is in Lyon",
        "the attached text",
    ]
    first = next(one for one in store.of("all").episodes.list() if one.seq == 0 and not one.tags)
    assert (first.speaker, first.thread, first.name) == ("user", "u1", "Plans")
    assert not any("example.org" in text for text in contents(store)), "users.json is not read"
    assert store.transfer.import_from("claude", archive).known == 7


def test_remembered_prose_that_changed_is_another_episode(store: Store, tmp_path: Path) -> None:
    file = written(tmp_path / "memories.json", REMEMBERED)
    assert store.transfer.import_from("claude", file).episodes == 2
    written(file, {**REMEMBERED, "conversations_memory": "Ana likes coffee"})
    report = store.transfer.import_from("claude", file)
    assert (report.episodes, report.known) == (1, 1)


def test_claude_s_branches_follow_parents(store: Store, tmp_path: Path) -> None:
    root = "00000000-0000-4000-8000-000000000000"
    one = {"uuid": "1", "sender": "human", "text": "one", "parent_message_uuid": root}
    two = {"uuid": "2", "sender": "assistant", "text": "two", "parent_message_uuid": "1"}
    again = {"uuid": "3", "sender": "assistant", "text": "again", "parent_message_uuid": "1"}
    chat = {**CHAT, "chat_messages": [one, two, again]}
    report = store.transfer.import_from("claude", written(tmp_path / "conversations.json", [chat]))
    assert (report.episodes, counts(report)) == (2, {"messages on other branches": 1})
    assert sorted(contents(store)) == ["again", "one"]


# -- damage ----------------------------------------------------------------------------------


@pytest.mark.parametrize("source", ["chatgpt", "claude"])
def test_a_truncation_is_refused_with_its_place(store: Store, tmp_path: Path, source: str) -> None:
    value = conversation() if source == "chatgpt" else CHAT
    whole = json.dumps([value, value]).encode()
    file = tmp_path / "conversations.json"
    head = store.file.head()
    for end in (*range(0, len(whole) // 2, 3), *range(len(whole) // 2, len(whole), 2)):
        file.write_bytes(whole[:end])
        with pytest.raises(MemstoreError) as caught:
            store.transfer.import_from(source, file)
        assert "nothing was imported" in str(caught.value), end
    assert store.file.head() == head


def test_bytes_changed_at_random_are_refused_or_imported_whole(
    store: Store, tmp_path: Path
) -> None:
    whole = json.dumps([conversation()]).encode()
    file = tmp_path / "conversations.json"
    for place in range(0, len(whole), 5):
        for byte in b'"{\\\xff\x00':
            damaged = bytes(whole[:place]) + bytes([byte]) + bytes(whole[place + 1 :])
            file.write_bytes(damaged)
            with contextlib.suppress(TransferError):  # any other error fails
                assert store.transfer.import_from("chatgpt", file, dry_run=True).episodes in (
                    1,
                    2,
                    3,
                )


@pytest.mark.parametrize(
    "name", ["../conversations.json", "/conversations.json", "a/../../b", "C:/b"]
)
def test_names_that_lead_out_of_an_archive_are_refused(
    store: Store, tmp_path: Path, name: str
) -> None:
    file = tmp_path / "e.zip"
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr(name, json.dumps([conversation()]))
    with pytest.raises(TransferError, match="leads out of the archive; nothing was imported"):
        store.transfer.import_from("chatgpt", file)


def test_links_and_bombs_in_an_archive_are_refused(store: Store, tmp_path: Path) -> None:
    linked, bomb = tmp_path / "l.zip", tmp_path / "b.zip"
    link = zipfile.ZipInfo("conversations.json")
    link.external_attr = 0o120777 << 16
    with zipfile.ZipFile(linked, "w") as archive:
        archive.writestr(link, "/etc/passwd")
    with pytest.raises(TransferError, match="is a link; nothing was imported"):
        store.transfer.import_from("chatgpt", linked)
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("conversations.json", " " * 20_000_000)
    with pytest.raises(TransferError, match=r"as a ZIP bomb does: .*; nothing was imported"):
        store.transfer.import_from("chatgpt", bomb)


def test_a_truncated_or_changed_archive_is_refused(store: Store, tmp_path: Path) -> None:
    whole = zipped(tmp_path / "e.zip", conversations=[conversation()]).read_bytes()
    file = tmp_path / "x.zip"
    for end in range(0, len(whole), 7):
        for damaged in (whole[:end], whole[:end] + b"\xa5" + whole[end + 1 :]):
            file.write_bytes(damaged)
            try:
                report = store.transfer.import_from("chatgpt", file, dry_run=True)
            except MemstoreError:
                continue
            assert report.episodes == 2, "what was changed is not its text"


def test_links_in_a_folder_are_named_and_not_followed(store: Store, tmp_path: Path) -> None:
    folder = tmp_path / "f"
    folder.mkdir()
    written(folder / "conversations.json", [conversation()])
    (folder / "conversations-001.json").symlink_to(written(tmp_path / "other.json", [7]))
    assert counts(store.transfer.import_from("chatgpt", folder))["links"] == 1


def many(path: Path) -> Path:
    nodes = {str(n): node(str(n - 1), message(str(n), "user", f"said {n}")) for n in range(200)}
    return written(path, [conversation(mapping=nodes, current_node="199")])


def test_an_import_that_was_interrupted_between_batches_is_completed(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(short_transactions, "SECONDS", 0.0)  # each batch in its own
    file = many(tmp_path / "c.json")
    batches = []

    def interrupt(done: int, total: int) -> None:
        batches.append((done, total))
        if len(batches) == 3:  # the first call is of the check
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        store.transfer.import_from("chatgpt", file, progress=interrupt)
    before = store.of("all").episodes.count()
    assert 0 < before < 200
    report = store.transfer.import_from("chatgpt", file)
    assert (report.episodes, report.known) == (200 - before, before)
    assert store.file.doctor() == []


def test_two_imports_at_once_add_each_message_once(
    open_store: Callable[..., Store], tmp_path: Path
) -> None:
    file = many(tmp_path / "c.json")
    stores = [open_store() for _ in range(2)]
    with ThreadPoolExecutor(2) as pool:
        reports = list(pool.map(lambda store: store.transfer.import_from("chatgpt", file), stores))
    assert sum(one.episodes for one in reports) == 200
    assert sum(one.known for one in reports) == 200
    assert stores[0].of("all").episodes.count() == 200


# -- the reader ------------------------------------------------------------------------------


@pytest.mark.parametrize("chunk", [1, 2, 3, 7])
def test_items_are_those_of_json_wherever_the_text_is_cut(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, chunk: int
) -> None:
    monkeypatch.setattr(long_json, "CHUNK", chunk)
    values: list[Any] = [
        'a\\"b]',
        {"x": ["{", "\\"]},
        [],
        {},
        1.5,
        None,
        True,
        "",
        "é\u2028",
        [[1], {"": {}}],
    ]
    marked = [{"id": value} for value in values]
    form = long_json.JsonForm("a record", lambda value: "id" in value)
    for text, expected in (
        (json.dumps(marked), marked),
        (json.dumps(marked, indent=1), marked),
        (" [ ] ", []),
        (json.dumps({"one": marked, "two": 3}), marked),
        (json.dumps({"id": 1, "one": values}), [{"id": 1, "one": values}]),
    ):
        file = tmp_path / "t.json"
        file.write_text(text, encoding="utf-8")
        with open(file, encoding="utf-8") as opened:
            found = [*long_json.records(opened, form)]
        held = [one.value for one in found if isinstance(one, long_json.JsonItem)]
        assert held == expected


def test_a_long_item_is_named_and_the_next_one_read(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(long_json, "MAX_ITEM", 20)
    monkeypatch.setattr(long_json, "CHUNK", 10)
    file = tmp_path / "t.json"
    file.write_text(json.dumps([{"id": "x" * 50}, {"id": "short"}]))
    form = long_json.JsonForm("a record", lambda value: "id" in value)
    with open(file) as opened:
        long, short = long_json.records(opened, form)
    assert long == Damaged("record 1", "longer than 20 characters")
    assert short == long_json.JsonItem("", "record 2", {"id": "short"})


@pytest.mark.parametrize("entries", [1, 30])
def test_archive_is_refused_by_all_that_it_grows_to(
    store: Store, tmp_path: Path, entries: int
) -> None:
    file = tmp_path / "e.zip"
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for number in range(entries):
            archive.writestr(f"conversations-{number:03}.json", f"[{' ' * 9_900_000}]")
    with pytest.raises(TransferError, match=r"more than 50 times its size.*unpack it") as refused:
        store.transfer.import_from("chatgpt", file)
    assert refused.value.place == "e.zip"


def test_blanks_between_values_are_skipped_at_once(store: Store, tmp_path: Path) -> None:
    """No step for each blank: so many would take minutes."""
    blanks, steps = " \t\r\n" * 500_000, 0
    file = tmp_path / "c.json"
    file.write_text(f"{blanks}[{blanks}{json.dumps(conversation())}{blanks}]{blanks}")

    def counted(*_: object) -> None:
        nonlocal steps
        steps += 1

    sys.setprofile(counted)
    try:
        report = store.transfer.import_from("chatgpt", file)
    finally:
        sys.setprofile(None)
    assert report.episodes == 2
    assert steps < 400_000


def test_progress_is_told_while_nothing_is_a_record(store: Store, tmp_path: Path) -> None:
    told: list[tuple[int, int]] = []
    folder = tmp_path / "f"
    folder.mkdir()
    (folder / "conversations.json").write_text(
        json.dumps([conversation()])[:-1] + " " * 5_000_000 + "]"
    )
    store.transfer.import_from(
        "chatgpt", folder, progress=lambda done, total: told.append((done, total))
    )
    assert len({done for done, total in told if total > 5_000_000}) > 3


def test_message_longer_than_an_episode_is_imported_in_parts_once(
    store: Store, tmp_path: Path
) -> None:
    text = "鹿特丹港今天关闭。" * 80_000
    long = conversation()
    long["mapping"]["ask"]["message"]["content"]["parts"] = [text]
    file = tmp_path / "c.json"
    file.write_text(json.dumps([long]))
    assert store.transfer.import_from("chatgpt", file).episodes > 2
    held = store.of("all").episodes.list()
    assert text in [one.content for one in parts.joined(held)]
    assert store.transfer.import_from("chatgpt", file).episodes == 0
    assert len(store.of("all").episodes.list()) == len(held)
