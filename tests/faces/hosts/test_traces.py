"""Traces: what a session did, read from the tool calls of each host's transcript."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memstore import Scope, Store
from memstore.faces.hosts import keeping
from memstore.faces.hosts.traces import Trace, trace

ROOT = "/home/ana/api"
COMMIT = "cd x && git add -A && git -c user.name=a commit -qam 'Fix the parser'"
HEREDOC = "git commit -m \"$(cat <<'EOF'\nRewrite the lexer\n\nCo-Authored-By: x\nEOF\n)\""
FAILING = "TOKEN=hunter2 python -m pytest -q --password=hunter3 tests"


def claude(number: int, name: str, failed: bool = False, **given: str) -> list[dict[str, Any]]:
    call = {"type": "tool_use", "id": f"t{number}", "name": name, "input": given}
    result = {"type": "tool_result", "tool_use_id": f"t{number}", "content": "secret output"}
    result |= {"is_error": True} if failed else {}
    at = f"2026-11-22T21:0{number}:00Z"
    return [
        {"type": "assistant", "timestamp": at, "message": {"role": "assistant", "content": [call]}},
        {"type": "user", "timestamp": at, "message": {"role": "user", "content": [result]}},
    ]


CLAUDE = [
    *claude(0, "Write", file_path=f"{ROOT}/src/parser.py", content="secret contents"),
    *claude(1, "Edit", file_path="/etc/hosts", old_string="secret", new_string="secret"),
    *claude(2, "Edit", failed=True, file_path=f"{ROOT}/src/untouched.py"),
    *claude(3, "Bash", command=COMMIT),
    *claude(4, "Bash", command=HEREDOC),
    *claude(5, "Bash", failed=True, command=FAILING),
    *claude(6, "Bash", failed=True, command="git commit -m 'never made'"),
    *claude(7, "Read", file_path=f"{ROOT}/src/read.py"),
    *claude(8, "Bash", command="grep -rn secret ."),
    claude(9, "Write", file_path=f"{ROOT}/src/pending.py")[0],
]


def codex(kind: str, **item: Any) -> dict[str, Any]:
    payload = {"type": "item_completed", "item": {"type": kind, **item}}
    return {"type": "event_msg", "timestamp": "2026-11-22T21:00:00Z", "payload": payload}


def shell(text: str, code: int) -> dict[str, Any]:
    command = ["/bin/bash", "-lc", text]
    return codex("CommandExecution", command=command, exit_code=code, aggregated_output="secret")


CODEX = [
    codex("FileChange", status="completed", changes={
        f"{ROOT}/src/parser.py": {"type": "add", "content": "secret contents"}}),
    codex("FileChange", status="completed", changes={"/etc/hosts": {"type": "update"}}),
    codex("FileChange", status="failed", changes={f"{ROOT}/src/untouched.py": {}}),
    shell(COMMIT, 0),
    shell(HEREDOC, 0),
    shell(FAILING, 1),
    shell("git commit -m 'never made'", 128),
    codex("CommandExecution", command=["ls"], status="declined", exit_code=None),
]  # fmt: skip
OLDER_CODEX = [
    {"type": "event_msg", "payload": {"type": "patch_apply_end", "success": True, "changes": {
        f"{ROOT}/src/parser.py": {}}}},
    {"type": "event_msg", "payload": {"type": "patch_apply_end", "success": True, "changes": {
        "/etc/hosts": {}}}},
    *({"type": "event_msg", "payload": {"type": "exec_command_end", "exit_code": code, "command": [
        "bash", "-lc", text]}} for text, code in
      ((COMMIT, 0), (HEREDOC, 0), (FAILING, 2), ("git commit -m 'never made'", 1))),
]  # fmt: skip


def gemini(name: str, status: str = "success", output: str = "secret", **given: str) -> Any:
    answer = {"functionResponse": {"name": name, "response": {"output": output}}}
    return {"name": name, "args": given, "status": status, "result": [answer]}


GEMINI = [
    {"sessionId": "x", "kind": "main"},
    {"$set": {"messages": [{"id": "1", "type": "gemini", "toolCalls": [
        gemini("write_file", file_path=f"{ROOT}/src/parser.py", content="secret contents"),
        gemini("replace", file_path="/etc/hosts", new_string="secret"),
        gemini("replace", "executing", file_path=f"{ROOT}/src/pending.py")]}]}},
    {"id": "2", "type": "gemini", "timestamp": "2026-11-22T21:00:00Z", "toolCalls": [
        gemini("run_shell_command", command=COMMIT),
        gemini("run_shell_command", command=HEREDOC),
        gemini("run_shell_command", output="Output: x\nExit Code: 1\nSignal: 0", command=FAILING),
        gemini("run_shell_command", "error", command="git commit -m 'never made'"),
        gemini("replace", "cancelled", file_path=f"{ROOT}/src/untouched.py")]},
]  # fmt: skip
HOSTS = {"claude-code": CLAUDE, "codex": CODEX, "older codex": OLDER_CODEX, "gemini-cli": GEMINI}
BROKEN = ["", "null", "[1]", '{"type": "us', "\x00", "[" * 5000, '{"message": {"content": [7]}}']


def written(folder: Path, records: list[Any]) -> Path:
    path = folder / "transcript.jsonl"
    lines = [line for record in records for line in (json.dumps(record), *BROKEN)]
    path.write_text("\n".join([*BROKEN, *lines]), encoding="utf-8")
    return path


@pytest.mark.parametrize("host", HOSTS)
def test_files_commits_and_failures_are_read_from_the_tool_calls(tmp_path: Path, host: str) -> None:
    done = trace(written(tmp_path, HOSTS[host]), ROOT)
    assert done.changed == [str(Path("src/parser.py")), "/etc/hosts"]
    assert done.committed == ["Fix the parser", "Rewrite the lexer"]
    assert done.failed == ["python -m pytest -q", "git commit -m"]
    assert not any(word in str(done) for word in ("secret", "hunter", "never made"))


@pytest.mark.parametrize(
    ("command", "messages"),
    [
        ('git commit -m "Say \\"no\\"" -m "body"', ['Say \\"no\\"']),
        ("git commit --message=plain", ["plain"]),
        ("git commit -am'close'", ["close"]),
        ("git commit -m a && git commit -m b", ["a", "b"]),
        ("git commit --amend --no-edit", []),
        ("git commit -F notes.txt", []),
        ("git log --grep commit -m x", []),
        ("echo 'git commitment -m x'", []),
        ('git commit -m "first line\nsecond line"', ["first line"]),
    ],
)
def test_commit_messages_are_first_lines(tmp_path: Path, command: str, messages: list[str]) -> None:
    path = written(tmp_path, claude(1, "Bash", command=command))
    assert trace(path, ROOT).committed == messages


def test_secrets_are_redacted_and_hidden_characters_spelt(tmp_path: Path) -> None:
    key = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    records = [
        *claude(1, "Bash", command=f"git commit -m 'Use {key}'"),
        *claude(2, "Write", file_path=f"{ROOT}/a\n- forged\u202e\ud800.py"),
    ]
    done = trace(written(tmp_path, records), ROOT)
    assert key not in str(done)
    assert "redacted" in done.committed[0]
    assert done.changed == ["a - forged\\u202e\\ud800.py"]


def test_only_the_latest_deeds_of_a_long_session_are_kept(tmp_path: Path) -> None:
    records = [
        record for n in range(70) for record in claude(1, "Write", file_path=f"{ROOT}/{n % 60}.py")
    ]
    changed = trace(written(tmp_path, records), ROOT).changed
    assert changed == [f"{n}.py" for n in (*range(20, 60), *range(10))]


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                "type message content payload item toolCalls $set messages name input args id"
                " command tool_use_id changes status result timestamp exit_code is_error"
                " file_path".split()
            ),
            inner | st.sampled_from(["tool_use", "tool_result", "Bash", "item_completed", "Write"]),
            max_size=5,
        )
    ),
    max_leaves=12,
)


@given(st.lists(json_values, max_size=4))
def test_any_record_leaves_the_others_readable(
    tmp_path_factory: pytest.TempPathFactory, records: list[Any]
) -> None:
    folder = tmp_path_factory.mktemp("t")
    known = claude(1, "Write", file_path=f"{ROOT}/known.py")
    path = folder / "t.jsonl"
    path.write_text("\n".join(map(json.dumps, [*records, known[0], *records, known[1], *records])))
    done = trace(path, ROOT)
    assert isinstance(done, Trace)
    assert "known.py" in done.changed or "t1" in json.dumps(records)


def kept_traces(store: Store) -> list[tuple[str, str]]:
    found = store.episodes.list(tags=["trace"], include_expired=True)
    return [(one.status, one.content.partition("\n")[2]) for one in found]


def test_the_trace_of_a_session_is_kept_once_and_replaced(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMSTORE_PROJECT", ROOT)
    first, second = CLAUDE[:2], [*CLAUDE[:2], *CLAUDE[6:8]]
    for records in (first, first, second, second):
        event = {"session_id": "s1", "transcript_path": str(written(tmp_path, records))}
        keeping.keep(store, "claude-code", event)
    assert kept_traces(store) == [
        ("expired", "Changed files: src/parser.py"),
        ("active", "Changed files: src/parser.py\nCommits: Fix the parser"),
    ]
    [hit, *_] = store.episodes.search("when did we last touch the parser?")
    assert hit.episode.thread == "s1"
    assert hit.episode.valid_at is not None
    assert hit.episode.speaker is None
    assert "changed: src/parser.py" not in store.briefing().text  # no turn was recorded
    assert store.file.doctor() == []


def test_a_trace_has_the_owner_of_its_session(store: Store, tmp_path: Path) -> None:
    event = {"session_id": "s1", "transcript_path": str(written(tmp_path, CLAUDE))}
    ana = Scope(user_id="ana")
    for _ in range(2):
        keeping.keep(store.of(ana), "claude-code", event)
    [one] = store.of("all").episodes.list(tags=["trace"], include_expired=True)
    assert one.scope == ana


def test_traces_can_be_switched_off(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMSTORE_TRACES", "off")
    event = {"session_id": "s1", "transcript_path": str(written(tmp_path, CLAUDE))}
    keeping.keep(store, "claude-code", event)
    assert kept_traces(store) == []
