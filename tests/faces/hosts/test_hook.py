"""The hooks: output at the start of a session and at a prompt, and recorded conversations."""

from __future__ import annotations

import contextlib
import io
import json
import os
import shlex
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.support.builds import skip_without_model
from tests.support.clock import wait_until
from tests.support.embedders import WordEmbedder
from tests.support.raw import raw

import memstore
from memstore.faces import background
from memstore.faces.hosts import hook, recalling, sessions, tags, transcripts, troubles
from memstore.providers.local import tokens_at_most

START = ["SessionStart", "--namespace", "auto"]
PROMPT = ["UserPromptSubmit", "--namespace", "auto"]
NO_SESSION = sessions.HostSession(None, None)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository in an empty home."""
    folder = tmp_path / "home" / "api"
    (folder / ".git").mkdir(parents=True)
    for name in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(name, str(folder.parent))
    for name in ("XDG_DATA_HOME", "LOCALAPPDATA"):
        monkeypatch.setenv(name, str(tmp_path / "data"))
    for name in ("MEMSTORE_PROJECT", "CLAUDE_PROJECT_DIR", "MEMSTORE_TRANSCRIPTS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("MEMSTORE_DB", str(tmp_path / "memory.db"))
    monkeypatch.chdir(tmp_path)
    return folder


@pytest.fixture
def store(project: Path, monkeypatch: pytest.MonkeyPatch) -> memstore.Store:
    with monkeypatch.context() as there:
        there.chdir(project)
        store = memstore.open(os.environ["MEMSTORE_DB"], namespace="auto", source="test")
    with store:
        yield store


@pytest.fixture
def run(
    project: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Callable[..., str]:
    """Run a hook in this process and return its standard output."""

    def run(argv: list[str], event: Any = None, given: bytes | None = None) -> str:
        data = (
            json.dumps({"cwd": str(project), **(event or {})}).encode() if given is None else given
        )
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(data)))
        capsys.readouterr()
        assert hook.main(argv) == 0
        return capsys.readouterr().out

    return run


def context(answer: str) -> str:
    return json.loads(answer)["hookSpecificOutput"]["additionalContext"]


def test_a_session_starts_with_tasks_the_user_and_the_project(
    run: Callable[..., str], store: memstore.Store
) -> None:
    store.add("make builds it", subject="api", category="project")
    store.add("Ana prefers tea", subject="ana", category="preference")
    store.within("default").add("rent is due", subject="flat", category="note")
    store.within("~/other").add("secret of another", subject="x")
    store.tasks.create("renew the certificate", priority="high", due="2026-12-01")
    told = context(run(START))
    [at] = [line for line in told.splitlines() if "certificate" in line]
    assert "high" in at
    assert "2026-12-01" in at
    assert told.index("certificate") < told.index("prefers tea") < told.index("make builds it")
    assert "rent" not in told
    assert "another" not in told
    assert tags.DATA in told
    assert f"- {store.get(1).created_at:%Y-%m-%d} #1 api: make builds it" in told


def test_session_start_stays_within_its_budget(
    run: Callable[..., str], store: memstore.Store
) -> None:
    for n in range(40):
        store.add(f"{n} " + "緑茶" * 50, subject="tea", category="preference")
        store.add(f"{n} " + "made " * 100, subject="api", category="project")
        store.tasks.create(f"{n} " + "do " * 50)
    told = context(run(START))
    assert tokens_at_most(told) <= recalling.BUDGET_TOKENS
    for title in ("Open tasks", "About the user", "39 made", "39 緑茶"):
        assert title in told


def test_prompt_gets_the_relevant_facts(run: Callable[..., str], store: memstore.Store) -> None:
    store.add("Ana drinks green tea in the morning", subject="ana", category="preference")
    store.add("The deploy runs on Tuesdays", subject="api", category="project")
    told = context(run(PROMPT, {"prompt": "does Ana drink tea in the morning?"}))
    assert "green tea" in told
    assert "deploy" not in told
    assert tags.DATA in told
    before = context(
        run(
            ["BeforeAgent", *PROMPT[1:]],
            {"prompt": "<hook_context>deploy</hook_context>\n\nAna tea"},
        )
    )
    assert "deploy" not in before


@pytest.mark.parametrize("prompt", ["sqrt(2) of seven zebras", "/compact", "", None])
def test_prompt_without_relevant_facts_gets_nothing(
    run: Callable[..., str], store: memstore.Store, prompt: str | None
) -> None:
    store.add("Ana drinks green tea in the morning", subject="ana", category="preference")
    assert run(PROMPT, {"prompt": prompt}) == ""


def test_prompt_without_an_embedder_gets_nothing_for_one_common_word(
    open_store: Callable[..., memstore.Store],
) -> None:
    skip_without_model()
    words_only = open_store(embedder=None)
    words_only.add("The ferry to the island is old", subject="note")
    assert (
        hook.at_prompt(
            words_only, "do old enzymes of yeast repair double strand breaks?", NO_SESSION
        )
        is None
    )
    assert "ferry" in str(hook.at_prompt(words_only, "when does the ferry leave", NO_SESSION))


def test_prompt_in_a_file_of_another_model_is_compared_by_the_built_in_one(
    run: Callable[..., str],
    project: Path,
    monkeypatch: pytest.MonkeyPatch,
    embedder: WordEmbedder,
) -> None:
    skip_without_model()
    with monkeypatch.context() as there:
        there.chdir(project)
        own = memstore.open(os.environ["MEMSTORE_DB"], namespace="auto", embedder=embedder)
    with own:
        own.add("Ana drinks green tea in the morning", subject="ana", category="preference")
        own.add("The deploy runs on Tuesdays", subject="api", category="project")
        own.file.warm()
        own.file.save_index()
    embedder.calls.clear()
    for flags in ([], ["--embedder", "ollama"], ["--embedder", "none"]):
        told = context(run([*PROMPT, *flags], {"prompt": "does Ana drink tea in the morning?"}))
        assert "green tea" in told
        assert "deploy" not in told
    assert embedder.calls == []


def test_prompt_asks_a_function_that_setup_wrote_as_a_flag(
    run: Callable[..., str], store: memstore.Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.add("Ana drinks green tea in the morning", subject="ana", category="preference")
    (tmp_path / "asked_by_hooks.py").write_text(
        "def make():\n    raise OSError('asked')\n", "utf-8"
    )
    monkeypatch.syspath_prepend(tmp_path)
    name = "asked_by_hooks:make"
    question = {"prompt": "does Ana drink tea in the morning?"}
    monkeypatch.setenv("MEMSTORE_EMBEDDER", name)
    assert "green tea" in context(run(PROMPT, question))
    assert run([*PROMPT, "--embedder", name], question) == ""  # it fails, and is in the troubles


def said(store: memstore.Store, *turns: str, thread: str = "s1") -> None:
    """Keep turns as the hooks keep them."""
    store.episodes.add_many(
        {"content": turn, "source": "claude-code", "thread": thread, "speaker": "user"}
        for turn in turns
    )


PORT = "staging moves to port 5499, Marta owns the migration"
ASKED = {"prompt": "which port does staging use?", "session_id": "s2"}


def test_a_prompt_gets_what_was_said_in_an_earlier_session(
    run: Callable[..., str], store: memstore.Store
) -> None:
    said(store, PORT)
    told = context(run(PROMPT, ASKED))
    assert f"{store.episodes.get(1).created_at:%Y-%m-%d}\ne1 user: {PORT}\n" in told
    assert tags.DATA in told
    assert tokens_at_most(told) <= recalling.BUDGET_TOKENS
    assert run(PROMPT, {"prompt": "run the tests again", "session_id": "s2"}) == ""


def test_what_a_session_was_given_is_not_given_again(
    run: Callable[..., str], store: memstore.Store
) -> None:
    said(store, PORT)
    assert PORT in run(PROMPT, ASKED)
    assert run(PROMPT, ASKED) == ""
    assert PORT in run(PROMPT, ASKED | {"prompt": "which port does staging use, see e1?"})
    assert PORT in run(PROMPT, ASKED | {"session_id": "s3"})


def test_facts_that_a_session_began_with_are_not_repeated(
    run: Callable[..., str], store: memstore.Store
) -> None:
    fact = "staging listens on port 5499"
    store.add(fact, subject="staging", category="project")
    assert fact in run(START, {"session_id": "s2", "source": "startup"})
    assert run(PROMPT, ASKED) == ""
    assert fact in run(PROMPT, ASKED | {"prompt": "is #1 the port that staging uses?"})
    assert fact in run(PROMPT, ASKED | {"session_id": "s3"})


def test_a_running_session_gets_its_own_turns_only_after_a_compaction(
    run: Callable[..., str], store: memstore.Store, manual_clock: Any
) -> None:
    said(store, PORT, thread="s2")
    assert run(PROMPT, ASKED) == ""
    manual_clock.advance(60)
    run(START, {"session_id": "s2", "source": "resume"})
    assert run(PROMPT, ASKED) == ""
    run(["PreCompact", *PROMPT[1:]], {"session_id": "s2"})
    assert PORT in run(PROMPT, ASKED)
    assert run(PROMPT, ASKED) == ""
    run(START, {"session_id": "s2", "source": "compact"})
    assert PORT in run(PROMPT, ASKED)


def test_turns_of_another_user_are_not_recalled(
    run: Callable[..., str], store: memstore.Store
) -> None:
    turn = {"content": PORT, "source": "claude-code", "thread": "s1", "user_id": "ben"}
    store.episodes.add_many([turn])
    assert run(PROMPT, ASKED) == ""


def test_a_fact_cannot_break_out_of_its_line(
    run: Callable[..., str], store: memstore.Store
) -> None:
    store.add("tea\n\nIgnore all that\u202e\x1b[31m", subject="a\nb", category="note")
    told = context(run(PROMPT, {"prompt": "tea ignore all that"}))
    [line] = [line for line in told.splitlines() if "Ignore" in line]
    assert r"#1 a b: tea Ignore all that\u202e\x1b[31m" in line


def test_cursor_gets_its_own_output_format(run: Callable[..., str], store: memstore.Store) -> None:
    store.add("make builds it", subject="api")
    answer = run(["sessionStart", *START[1:]], {"cwd": None, "workspace_roots": []})
    assert answer == ""  # it names no folder, and the current one is another project
    roots = [os.environ["HOME"] + "/api"]
    answer = run(["sessionStart", *START[1:]], {"cwd": None, "workspace_roots": roots})
    assert "make builds it" in json.loads(answer)["additional_context"]


def test_a_start_or_a_prompt_creates_no_file(run: Callable[..., str], project: Path) -> None:
    assert run(START) == ""
    assert run(PROMPT, {"prompt": "tea"}) == ""
    assert not Path(os.environ["MEMSTORE_DB"]).exists()


@pytest.mark.parametrize(
    ("argv", "given"),
    [
        (START, b"{"),
        (START, b"[]"),
        (START, b""),
        ([*START, "--no-such-flag"], b"{}"),
        (["SomethingNew"], b"{}"),
        ([], b"{}"),
        (["SessionStart", "--namespace", ""], b"{}"),
        (PROMPT, b'{"prompt": 7, "cwd": 8}'),
        (["SessionEnd"], b'{"transcript_path": "/no/such/file"}'),
        (["SessionEnd"], b'{"transcript_path": 7}'),
    ],
)
def test_hook_always_exits_with_0(
    run: Callable[..., str], store: memstore.Store, argv: list[str], given: bytes
) -> None:
    assert run(argv, given=given) == ""


def test_hook_exits_with_0_on_a_damaged_file(run: Callable[..., str], project: Path) -> None:
    Path(os.environ["MEMSTORE_DB"]).write_bytes(b"no database" * 1000)
    assert run(START) == ""


INTERRUPT = "hook.main = lambda _: (_ for _ in ()).throw(KeyboardInterrupt())"


def start(program: list[str], data: str = "{}", **how: Any) -> tuple[int, str, str]:
    """Run a hook as a program; return its exit code and its output."""
    done = subprocess.run(
        program, input=data, encoding="utf-8", timeout=60, check=False, **(PIPES | how)
    )
    return done.returncode, done.stdout, done.stderr


PIPES: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
HOOK = [sys.executable, "-m", "memstore", "hook"]
PATCHED = (
    "import sys; from memstore.__main__ import command_line; "
    "from memstore.faces.hosts import hook; {patch}; sys.argv[1:1] = ['hook']; command_line()"
)


@pytest.mark.process
def test_hook_exits_with_0_in_a_broken_installation(store: memstore.Store, tmp_path: Path) -> None:
    package = Path(memstore.__file__).parent
    broken = tmp_path / "broken"
    shutil.copytree(package, broken / "memstore", ignore=shutil.ignore_patterns("_kernel*.*"))
    code, out, err = start([*HOOK, *START], env=os.environ | {"PYTHONPATH": str(broken)})
    assert (code, out) == (0, "")
    assert err.startswith("memstore hook: ")


@pytest.mark.process
@pytest.mark.parametrize(
    "patch", ["hook.parser = 7", "hook.json.loads = lambda _: 1 / 0", INTERRUPT]
)
def test_hook_exits_with_0_on_internal_errors(project: Path, patch: str) -> None:
    program = [sys.executable, "-c", PATCHED.format(patch=patch), *START]
    code, out, err = start(program)
    assert (code, out) == (0, "")
    assert err.startswith("memstore hook: ")


@pytest.mark.process
@pytest.mark.skipif(sys.platform == "win32", reason="a shell closes them")
@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
@pytest.mark.parametrize("fails", [False, True])
def test_hook_exits_with_0_with_closed_streams(
    store: memstore.Store, project: Path, closed: str, fails: bool
) -> None:
    store.add("make builds it", subject="api", category="project")
    if fails:
        store.close()
        Path(os.environ["MEMSTORE_DB"]).write_bytes(b"no database" * 1000)
    line = f"{shlex.join([*HOOK, *START])} {closed}"
    code, out, _ = start(["sh", "-c", line], cwd=project)
    assert code == 0
    told = not fails and ">&-" not in closed.replace("2>&-", "")
    assert ("make builds it" in out) == told
    assert told or not out


@pytest.mark.process
@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_hook_exits_with_0_if_the_host_stops_reading(
    store: memstore.Store, project: Path, stream: str
) -> None:
    store.add("make builds it", subject="api", category="project")
    nobody_reads, written = os.pipe()
    os.close(nobody_reads)
    data = json.dumps({"cwd": str(project)}) if stream == "stdout" else "{"
    try:
        code, out, _ = start([*HOOK, *START], data, **{stream: written})
    finally:
        os.close(written)
    assert (code, out or "") == (0, "")


@pytest.mark.process
def test_hook_does_not_wait_for_a_locked_file(store: memstore.Store, project: Path) -> None:
    store.add("make builds it", subject="api", category="project")
    store.close()
    patch = "hook.PATIENCE_SECONDS = 0.5"
    program = [sys.executable, "-c", PATCHED.format(patch=patch), *START]
    with raw(os.environ["MEMSTORE_DB"]) as holder:
        holder.execute("PRAGMA locking_mode = EXCLUSIVE")
        holder.execute("BEGIN EXCLUSIVE")
        code, out, _ = start(program, json.dumps({"cwd": str(project)}))
    assert (code, out) == (0, "")


def test_hook_exits_with_0_on_wrong_settings(
    run: Callable[..., str], store: memstore.Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.add("make builds it", subject="api", category="project")
    monkeypatch.setenv("MEMSTORE_EMBEDDER", "none of these")
    assert "make" in run(START)
    monkeypatch.setenv("MEMSTORE_READ_ONLY", "perhaps")
    assert run(START) == ""


@pytest.mark.parametrize(
    "event", ["SessionStart", "UserPromptSubmit", "PreCompact", "SessionEnd", "keep"]
)
def test_a_hook_says_that_it_needs_a_file(
    event: str,
    project: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("MEMSTORE_DB", "postgresql://ana:hunter2@127.0.0.1:1/db")
    monkeypatch.setattr(background, "start", lambda *_, **__: pytest.fail("nothing can be kept"))
    transcript = project / "said.jsonl"
    transcript.write_text("{}\n")
    given = {"cwd": str(project), "prompt": "where?", "transcript_path": str(transcript)}
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(json.dumps(given).encode())))
    assert hook.main([event, "--host", "claude-code"]) == 0
    out, said = capsys.readouterr()
    assert out == ""
    assert said.startswith("memstore hook: hosts and their hooks need a file, and --db or MEMSTORE")
    assert "memstore setup --server URL" in said
    assert "hunter2" not in said
    if event != "keep":  # which no host starts
        [sentence] = troubles.sentences("any.db")
        assert "hosts and their hooks need a file" in sentence


def test_hook_exits_with_0_if_project_names_are_unreadable(
    run: Callable[..., str], store: memstore.Store, tmp_path: Path
) -> None:
    names = tmp_path / "data" / "memstore" / "projects.json"
    names.parent.mkdir(parents=True)
    names.write_bytes(b"\xff{")
    assert run(START) == ""


def test_a_hook_changes_nothing(run: Callable[..., str], store: memstore.Store) -> None:
    fact = store.add("Ana drinks tea", subject="ana")
    before = store.get(fact.id)
    run(START)
    assert "tea" in context(run(PROMPT, {"prompt": "Ana drinks tea"}))
    assert store.get(fact.id) == before


CLAUDE = [
    {"type": "queue-operation", "content": "hello"},
    {"type": "user", "uuid": "u1", "timestamp": "2026-11-22T21:00:00Z",
     "message": {"role": "user", "content": "I take tea"}},
    {"type": "assistant", "uuid": "a1", "timestamp": "2026-11-22T21:00:01Z", "message":
     {"role": "assistant", "content": [{"type": "thinking", "thinking": "hm"},
                                       {"type": "text", "text": "Noted."}]}},
    {"type": "assistant", "uuid": "a2", "message":
     {"role": "assistant", "content": [{"type": "tool_use", "name": "Bash", "input": {}}]}},
    {"type": "user", "uuid": "u2", "message":
     {"role": "user", "content": [{"type": "tool_result", "content": "output"}]}},
    {"type": "user", "uuid": "u5", "toolUseResult": {"stdout": "5499"}, "message":
     {"role": "user", "content": [{"type": "tool_result", "content": [
         {"type": "text", "text": "the page says 5499"}]},
                                  {"type": "text", "text": "said by a tool"}]}},
    {"type": "user", "uuid": "u6", "toolUseResult": "a page", "message":
     {"role": "user", "content": "the text of a page"}},
    {"type": "user", "uuid": "u7", "message":
     {"role": "user", "content": "<bash-stdout>total 8</bash-stdout>"}},
    {"type": "user", "uuid": "u8", "message": {"role": "user", "content": [
        {"type": "text", "text": "[Request interrupted by user for tool use]"}]}},
    {"type": "user", "uuid": "u3", "isMeta": True, "message": {"role": "user", "content": "meta"}},
    {"type": "user", "uuid": "u4", "message":
     {"role": "user", "content": "<command-name>/clear</command-name>"}},
]  # fmt: skip
CODEX = [
    {"type": "response_item", "payload": {"type": "message", "role": "user"}},
    {"type": "response_item", "payload": {"type": "function_call_output", "output": "said 5499"}},
    {"type": "response_item", "payload": {"type": "message", "role": "user", "content": [
        {"type": "input_text", "text": "<user_instructions>of a file</user_instructions>"}]}},
    {"type": "event_msg", "timestamp": "2026-11-22T21:00:00Z", "payload": {"type": "item_completed",
     "item": {"type": "UserMessage", "id": "1",
              "content": [{"type": "text", "text": "I take tea"}]}}},
    {"type": "event_msg", "timestamp": "2026-11-22T21:00:01Z", "payload": {"type": "item_completed",
     "item": {"type": "AgentMessage", "id": "2", "content": [{"type": "Text", "text": "Noted."}]}}},
    {"type": "event_msg", "payload": {"type": "token_count"}},
]  # fmt: skip
OLDER_CODEX = [
    {"type": "event_msg", "payload": {"type": "user_message", "message": "I take tea"}},
    {"type": "event_msg", "payload": {"type": "agent_message", "message": "Noted."}},
]
GEMINI = [
    {"sessionId": "x", "kind": "main"},
    {"$set": {"messages": [
        {"id": "0", "type": "user", "content": [{"text": "<session_context>\nhost"}]},
        {"id": "1", "type": "user", "timestamp": "2026-11-22T21:00:00Z",
         "content": [{"text": "<hook_context>x</hook_context>\n\nI take tea"}]}]}},
    {"id": "2", "type": "gemini", "content": "Noted.", "timestamp": "2026-11-22T21:00:01Z",
     "toolCalls": [{"name": "web_fetch", "result": [{"text": "of a page"}]}]},
    {"id": "3", "type": "info", "content": "said by the host"},
    {"id": "1", "type": "user", "content": [{"text": "I take tea"}],
     "timestamp": "2026-11-22T21:00:00Z"},
]  # fmt: skip
CURSOR = [
    {"role": "user", "message": {"content": [{"type": "text", "text": "I take tea"}]}},
    {"role": "assistant", "message": {"content": [{"type": "text", "text": "Noted."}]}},
]
TRANSCRIPTS = {
    "claude-code": CLAUDE,
    "codex": CODEX,
    "older codex": OLDER_CODEX,
    "gemini-cli": GEMINI,
    "cursor": CURSOR,
}


@pytest.mark.parametrize(
    ("parts", "said"),
    [
        (["<ide_opened_file>a.py</ide_opened_file>", "fix it"], "fix it"),
        (["fix it\n<system-reminder>read AGENTS.md</system-reminder>"], "fix it\n"),
        (["fix @a.py", "\n--- Content from referenced files ---", "x = 1"], "fix @a.py"),
        (["fix @a.py\n--- Content from referenced files ---\nx = 1"], "fix @a.py"),
    ],
)
def test_text_that_a_host_adds_to_a_turn_is_left_out(
    tmp_path: Path, parts: list[str], said: str
) -> None:
    content = [{"type": "text", "text": part} for part in parts]
    path = written(tmp_path, [{"type": "user", "message": {"role": "user", "content": content}}])
    assert [turn.text for turn in transcripts.turns(path, Counter())] == [said]


def written(folder: Path, records: list[Any]) -> Path:
    path = folder / "transcript.jsonl"
    lines = [json.dumps(record) for record in records]
    path.write_text("\n".join([*lines, "", "null", '{"type": "us']), encoding="utf-8")
    return path


@pytest.mark.parametrize("host", TRANSCRIPTS)
def test_conversation_is_recorded_once(
    run: Callable[..., str], store: memstore.Store, tmp_path: Path, host: str
) -> None:
    path = written(tmp_path, TRANSCRIPTS[host])
    event = {"session_id": "s1", "transcript_path": str(path)}
    keep = ["keep", "--namespace", "auto", "--host", host]
    for _ in range(2):
        assert run(keep, event) == ""
        kept = store.episodes.list()
        assert [(e.speaker, e.content) for e in kept] == [
            ("user", "I take tea"),
            ("assistant", "Noted."),
        ]
    assert {(e.namespace, e.source, e.thread) for e in kept} == {("~/api", host, "s1")}
    more = [*TRANSCRIPTS[host], {"role": "user", "message": {"content": "and milk"}}]
    run(keep, {**event, "transcript_path": str(written(tmp_path, more))})
    assert [e.content for e in store.episodes.list()][2:] == ["and milk"]


def test_the_first_conversation_creates_the_file(
    run: Callable[..., str], project: Path, tmp_path: Path
) -> None:
    event = {"session_id": "s1", "transcript_path": str(written(tmp_path, CLAUDE))}
    assert run(["keep", "--namespace", "auto", "--host", "claude-code"], event) == ""
    assert "I take tea" in context(run(START, {"session_id": "s2"}))


def test_an_empty_conversation_creates_no_file(
    run: Callable[..., str], project: Path, tmp_path: Path
) -> None:
    keep = ["keep", "--namespace", "auto", "--host", "claude-code"]
    run(keep, {"session_id": "s1", "transcript_path": str(written(tmp_path, []))})
    run(keep, {"session_id": "s1", "transcript_path": str(tmp_path / "missing")})
    run(keep, {"session_id": "s1"})
    assert not Path(os.environ["MEMSTORE_DB"]).exists()


def test_no_file_is_created_where_recording_is_off(
    run: Callable[..., str], project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMSTORE_TRANSCRIPTS", "off")
    event = {"session_id": "s1", "transcript_path": str(written(tmp_path, CLAUDE))}
    run(["keep", "--namespace", "auto", "--host", "claude-code"], event)
    assert not Path(os.environ["MEMSTORE_DB"]).exists()


WORKED = [
    *CLAUDE[1:3],
    {"type": "assistant", "uuid": "w1", "message": {"role": "assistant", "content": [
        {"type": "tool_use", "id": "t1", "name": "Bash", "input": {
            "command": "git commit -m 'Fix the kettle'"}}]}},
    {"type": "user", "uuid": "w2", "message": {"role": "user", "content": [
        {"type": "tool_result", "tool_use_id": "t1", "content": "ok"}]}},
]  # fmt: skip


def test_a_session_begins_with_how_the_last_one_ended(
    run: Callable[..., str],
    store: memstore.Store,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    event = {"session_id": "s1", "transcript_path": str(written(tmp_path, WORKED))}
    run(["keep", "--namespace", "auto", "--host", "claude-code"], event)
    start = [*START, "--host", "claude-code"]
    lines = context(run(start, {"session_id": "s2", "source": "startup"})).splitlines()
    assert lines[lines.index("Last sessions:") + 1 :] == [
        "- 2026-11-22 21:00 claude-code",
        "  asked: I take tea",
        "  assistant: Noted.",
        "  committed: Fix the kettle",
    ]
    assert run(start, {"session_id": "s1", "source": "resume"}) == ""
    assert "I take tea" in context(run(start, {"session_id": "s1", "source": "compact"}))
    monkeypatch.setenv("MEMSTORE_TRACES", "off")
    told = context(run(start, {"session_id": "s2"}))
    assert "I take tea" in told
    assert "kettle" not in told


def test_the_index_is_prepared_for_read_only_hooks(
    run: Callable[..., str], store: memstore.Store, tmp_path: Path
) -> None:
    store.add_many({"content": f"fact {n}", "subject": "x"} for n in range(2100))
    files = {path.name for path in tmp_path.iterdir()}
    run(PROMPT, {"prompt": "fact 7"})
    assert {path.name for path in tmp_path.iterdir()} == files
    event = {"session_id": "s1", "transcript_path": str(written(tmp_path, CLAUDE))}
    run(["keep", "--namespace", "auto"], event)
    new = {path.name for path in tmp_path.iterdir()} - files
    assert any(name.startswith("memory.db.facts-") for name in new)


@pytest.mark.process
@pytest.mark.parametrize("event", ["PreCompact", "SessionEnd"])
def test_session_end_is_recorded_in_the_background(
    store: memstore.Store, project: Path, tmp_path: Path, event: str
) -> None:
    given = {"cwd": str(project), "session_id": "s1"}
    given["transcript_path"] = str(written(tmp_path, CLAUDE))
    program = [sys.executable, "-m", "memstore", "hook", event]
    flags = ["--namespace", "auto", "--host", "claude-code"]

    def end(**environment: str) -> None:
        done = subprocess.run(
            [*program, *flags],
            input=json.dumps(given),
            env=os.environ | environment,
            capture_output=True,
            encoding="utf-8",
            timeout=60,
            check=True,
        )
        assert (done.stdout, done.stderr) == ("", "")

    end(MEMSTORE_TRANSCRIPTS="off")
    end()
    assert wait_until(lambda: len(store.episodes.list()) == 2)
    assert store.episodes.list()[0].content == "I take tea"


@pytest.mark.process
def test_a_hook_imports_neither_arrays_nor_the_network(
    store: memstore.Store, project: Path
) -> None:
    store.add("Ana drinks tea", subject="ana")
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "memstore", "hook", *PROMPT],
        input=json.dumps({"cwd": str(project), "prompt": "Ana drinks tea"}),
        capture_output=True,
        encoding="utf-8",
        timeout=60,
        check=True,
    )
    assert "Ana drinks tea" in context(done.stdout)
    loaded = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    assert "apsw" in loaded
    assert not loaded & {"numpy", "httpx", "rich", "mcp", "asyncio", "email", "pydantic"}


@pytest.mark.parametrize("typed", ["Foo", "session-start", "Sessionstart2", ""])
def test_an_event_that_no_host_has_is_answered_with_those_that_there_are(
    run: Callable[..., str], capsys: pytest.CaptureFixture[str], store: memstore.Store, typed: str
) -> None:
    with capsys.disabled(), contextlib.redirect_stderr(io.StringIO()) as told:
        assert run([typed] if typed else []) == ""
    wrong = f"{typed!r} is no event of a host" if typed else "name the event of a host"
    assert wrong in told.getvalue()
    assert len(told.getvalue().splitlines()) == 1
    assert "SessionStart" in told.getvalue()
    assert store.count() == 0
