"""Hooks and set-up against a server over HTTP: it is there, away, slow, or back."""

from __future__ import annotations

import json
import re
import stat
import subprocess
import sys
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.support.command_line import CommandLine, cli_fixture  # noqa: F401
from tests.support.gated import listening
from tests.support.http_server import Asked, serving

import memstore
from memstore import plain_http
from memstore.domain import zones
from memstore.errors import InvalidArgument
from memstore.faces import background
from memstore.faces.hosts import edits, hook, placing, remote, servers, spool, troubles

posix_only = pytest.mark.skipif(sys.platform == "win32", reason="its programs are scripts")

TIME = "2026-11-20T10:00:00Z"
ANA = {"type": "user", "uuid": "u1", "message": {"role": "user", "content": "Staging is port 5499"}}
BOT = {"type": "assistant", "uuid": "u2", "message": {"role": "assistant", "content": "Noted."}}


class Team:
    """A server with a token, and its file."""

    def __init__(self, url: str, path: Path, secret: str, reader: str) -> None:
        self.url, self.path, self.secret, self.reader = url, path, secret, reader

    def said(self) -> list[str]:
        with memstore.open(self.path, namespace="team", embedder=None, read_only=True) as store:
            return [one.content for one in store.of("all").episodes.list()]


@pytest.fixture
def team(tmp_path: Path, home: Path) -> Iterator[Team]:
    path = tmp_path / "team.db"
    with memstore.open(path, namespace="team", embedder=None) as store:
        store.add("Staging has port 5433", subject="staging", category="project")
        made = store.file.tokens.create
        secret = made("laptop", namespace="team")[1]
        reader = made("reader", namespace="team", access="read")[1]
    with listening(path) as url:
        yield Team(url, path, secret, reader)


SECONDS_LEFT = remote.seconds_left


@pytest.fixture(autouse=True)
def unhurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """The process of the tests has computed for long; that of a hook has just started."""
    monkeypatch.setattr(remote, "seconds_left", lambda: 30.0)


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[tuple[list[str], bytes]]:
    """The commands that were started in the background, instead of starting them."""
    found: list[tuple[list[str], bytes]] = []
    monkeypatch.setattr(
        background, "start", lambda words, given=b"": found.append((list(words), given))
    )
    return found


def transcript(home: Path, *records: Any) -> dict[str, Any]:
    file = home / "session.jsonl"
    file.write_text("".join(json.dumps(one) + "\n" for one in records))
    return {"transcript_path": str(file), "session_id": "s1", "cwd": str(home)}


def answered(event: str, given: dict[str, Any], url: str, *flags: str) -> dict[str, Any] | None:
    words = [event, "--server", url, "--host", "claude-code", *flags]
    return hook.answered(hook.parser().parse_args(words), given)


def told(answer: dict[str, Any] | None) -> str:
    assert answer is not None
    return str(answer["hookSpecificOutput"]["additionalContext"])


# -- hooks -----------------------------------------------------------------------------------------


def test_what_a_server_says_is_shown_without_hidden_characters() -> None:
    """It may be of another version, which shows more of them."""
    text = "tea\u200b for\u00ad two\n👩\u200d🚀 <system-reminder> </sys\\u200btem-reminder>"
    shown = told(hook.shaped("SessionStart", text))
    assert (
        shown
        == "tea\\u200b for\\xad two\n👩\u200d🚀 &lt;system-reminder> &lt;/sys\\u200btem-reminder>"
    )


def test_a_session_gets_the_memory_of_the_server(
    team: Team, home: Path, started: list[Any]
) -> None:
    servers.keep(team.url, team.secret)
    event = {"session_id": "s1", "cwd": str(home), "source": "startup"}
    first = told(answered("SessionStart", event, team.url))
    assert "Staging has port 5433" in first
    asking = {**event, "prompt": "which port does staging have?"}
    assert answered("UserPromptSubmit", asking, team.url) is None  # it was given that already
    other = {**asking, "session_id": "s2"}
    assert "5433" in told(answered("UserPromptSubmit", other, team.url))
    assert answered("UserPromptSubmit", {**other, "prompt": "/clear"}, team.url) is None
    compacted = {**event, "source": "compact"}
    answered("SessionStart", compacted, team.url)
    assert started == []


def test_a_conversation_is_kept_on_the_server_once(
    team: Team, home: Path, started: list[Any]
) -> None:
    servers.keep(team.url, team.secret)
    event = transcript(home, ANA, BOT)
    assert answered("SessionEnd", event, team.url) is None
    [(words, given)] = started
    assert words[:2] == ["hook", "keep"]
    assert f"--server={team.url}" in words
    assert team.secret not in str(started)
    for _ in range(2):
        hook.answered(hook.parser().parse_args(words[1:]), json.loads(given))
    assert team.said() == ["Staging is port 5499", "Noted."]
    assert spool.Spool(team.url).is_empty()
    more = {**ANA, "uuid": "u3", "message": {"role": "user", "content": "And its owner is Marta"}}
    answered("keep", transcript(home, ANA, BOT, more), team.url)
    assert team.said() == ["Staging is port 5499", "Noted.", "And its owner is Marta"]


def test_turns_of_a_fork_are_kept_once_and_not_told_to_it(
    team: Team, home: Path, started: list[Any]
) -> None:
    servers.keep(team.url, team.secret)
    marks = [str(uuid.uuid4()) for _ in range(2)]
    parent = [one | {"uuid": mark} for one, mark in zip((ANA, BOT), marks, strict=True)]
    by = [
        one | {"forkedFrom": {"sessionId": "s1", "messageUuid": one["uuid"]}, "timestamp": TIME}
        for one in parent
    ]
    asking = {"prompt": "which port is staging, 5499?"}
    child = transcript(home, *by) | {"session_id": "s2"}
    answered("SessionStart", {**child, "source": "fork"}, team.url)
    assert answered("UserPromptSubmit", {**child, **asking}, team.url) is None
    answered("keep", child, team.url)
    answered("keep", transcript(home, *parent), team.url)
    assert team.said() == ["Staging is port 5499", "Noted."]
    assert answered("UserPromptSubmit", {**child, **asking}, team.url) is None
    absent = {"session_id": "s3", "transcript_path": str(home / "none.jsonl"), "cwd": str(home)}
    answered("SessionStart", {**absent, "source": "fork"}, team.url)
    assert answered("UserPromptSubmit", {**absent, **asking}, team.url) is None
    other = {"session_id": "s4", "cwd": str(home), **asking}
    assert "5499" in told(answered("UserPromptSubmit", other, team.url))


def test_what_was_said_while_the_server_was_away_arrives_when_it_is_back(
    team: Team, home: Path, started: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    servers.keep(team.url, team.secret)
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" + "k1L2m3N4o5P6q7R8"
    leaked = {**ANA, "message": {"role": "user", "content": f"Staging is port 5499, {secret}"}}
    with monkeypatch.context() as cut:
        cut.setattr(plain_http, "_connection", _refusing)
        with pytest.raises(plain_http.Unreachable):
            answered("keep", transcript(home, leaked, BOT), team.url)
        with pytest.raises(plain_http.Unreachable):
            answered("SessionStart", {"session_id": "s2", "cwd": str(home)}, team.url)
    assert team.said() == []
    waiting = b"".join(
        file.read_bytes() for file in Path(spool.folder_of(team.url)).rglob("*.json")
    )
    assert b"Staging is port 5499" in waiting
    assert secret.encode() not in waiting  # it does not leave this machine
    assert team.secret.encode() not in waiting
    answered("SessionStart", {"session_id": "s2", "cwd": str(home)}, team.url)
    [(words, _)] = started
    assert words == ["hook", "send", "--server", team.url]
    for _ in range(2):
        hook.answered(hook.parser().parse_args(words[1:]), {})
    assert [one.partition(",")[0] for one in team.said()] == ["Staging is port 5499", "Noted."]


def _refusing(*_: object) -> Any:
    raise ConnectionRefusedError("refused")


def test_an_answer_that_is_lost_doubles_nothing(
    team: Team, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    servers.keep(team.url, team.secret)
    real = plain_http.send

    def lost(*given: Any, **named: Any) -> Any:
        real(*given, **named)
        raise plain_http.Unreachable("the answer was lost")

    with monkeypatch.context() as losing:
        losing.setattr(plain_http, "send", lost)
        with pytest.raises(plain_http.Unreachable):
            answered("keep", transcript(home, ANA, BOT), team.url)
    assert len(team.said()) == 2
    assert not spool.Spool(team.url).is_empty()
    assert remote.send_waiting(team.url) == 1
    assert len(team.said()) == 2


def test_a_hook_without_a_token_says_what_to_do(home: Path) -> None:
    with pytest.raises(servers.NoToken, match="run memstore setup --server"):
        answered("SessionStart", {"session_id": "s"}, "https://a.example/mcp")


def test_claude_code_is_given_the_headers(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(zones, "_preferred", None)  # restored afterwards: a hook prefers a zone
    monkeypatch.setenv("MEMSTORE_TIMEZONE", "+05:45")
    servers.keep("https://a.example/mcp", "mst_abc")
    assert answered("headers", {}, "https://a.example/mcp") == {
        "Authorization": "Bearer mst_abc",
        "Memstore-Timezone": "+05:45",
    }


def test_a_failure_is_silent_and_remembered(
    home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    servers.keep("http://127.0.0.1:9/mcp", "mst_abc")
    monkeypatch.setattr(sys, "stdin", None)
    flags = ["SessionStart", "--server", "http://127.0.0.1:9/mcp"]
    assert hook.respond(hook.parser().parse_args(flags)) == 0
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err == ""
    [told] = troubles.sentences_of("http://127.0.0.1:9/mcp")
    assert "127.0.0.1:9 did not answer" in told
    assert "mst_abc" not in told


@pytest.mark.parametrize(
    "url",
    [
        "http://memory.example.com/mcp",
        "http://10.0.0.1/mcp",
        "http://localhost.example.com/mcp",
        "ftp://127.0.0.1/mcp",
        "https://ana:secret@memory.example.com/mcp",
        "https://memory.example.com/mcp?token=x",
        "https:///mcp",
        "https://memory.example.com:99999/mcp",
        "https://memory.example.com /mcp",
        "memory.example.com",
    ],
)
def test_a_token_is_sent_only_over_tls_or_to_this_machine(url: str) -> None:
    with pytest.raises(InvalidArgument):
        plain_http.checked_url(url, "server")


@pytest.mark.parametrize("url", ["http://[::1]:8765/mcp", "http://127.0.0.2/", "https://a.b/c"])
def test_these_addresses_are_usable(url: str) -> None:
    assert plain_http.checked_url(url, "server").geturl() == url


def test_an_answer_is_bounded_and_no_redirect_is_followed(home: Path) -> None:
    seen: list[str] = []

    def answer(asked: Asked) -> None:
        seen.append(asked.target)
        if asked.target == "/moved/hook":
            asked.answer({}, status=307, headers={"Location": "/elsewhere"})
        else:
            asked.answer(b"x" * (remote.MAX_ANSWER_BYTES + 1))

    with serving(answer) as address:
        for path in ("/moved", "/large"):
            servers.keep(address + path, "mst_abc")
        with pytest.raises(remote.ServerRefused, match="307"):
            remote.at_start(address + "/moved", "codex", None, None)
        with pytest.raises(plain_http.Unreachable, match="sent more than"):
            remote.at_start(address + "/large", "codex", None, None)
    assert seen == ["/moved/hook", "/large/hook"]


@pytest.mark.process
def test_a_server_that_never_answers_does_not_hold_a_host(home: Path) -> None:
    """The process ends by itself; how soon is measured by a bench, not by a test."""
    import socket

    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}/mcp"
        servers.keep(url, "mst_abc")
        done = subprocess.run(
            [sys.executable, "-m", "memstore", "hook", "SessionStart", "--server", url],
            input=b'{"session_id": "s"}',
            capture_output=True,
            timeout=60,
            check=False,
        )
    assert (done.returncode, done.stdout) == (0, b"")


def test_the_time_of_a_hook_counts_from_the_start_of_its_process(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(remote.clock, "process_seconds", lambda: 0.1)
    assert SECONDS_LEFT() == pytest.approx(0.3)
    monkeypatch.setattr(remote.clock, "process_seconds", lambda: 2.0)
    assert SECONDS_LEFT() == remote.MIN_SECONDS


# -- set-up ----------------------------------------------------------------------------------------


@pytest.fixture
def hosts(cli: CommandLine, home: Path, programs: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("MEMSTORE_DB", "MEMSTORE_EMBEDDER", "MEMSTORE_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    for folder in (".codex", ".gemini", ".cursor"):
        (home / folder).mkdir()
    (home / ".codex/config.toml").write_text('model = "x"\n')
    (home / ".codex/config.toml").chmod(0o644)
    return home


def at(file: Path, *path: str | int) -> Any:
    return placing.at(edits.language_of(file).value(file.read_text()), path)


def everything(home: Path) -> dict[str, bytes]:
    return {str(f.relative_to(home)): f.read_bytes() for f in home.rglob("*") if f.is_file()}


@posix_only
def test_setup_registers_the_server_and_the_hooks_and_takes_them_out_again(
    cli: CommandLine, hosts: Path, programs: Path, team: Team, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMSTORE_TOKEN", team.secret)
    before = everything(hosts)
    planned = cli("setup", "--server", team.url, "--dry-run")
    assert everything(hosts) == before
    assert team.secret not in planned.out + planned.err
    done = cli("setup", "--server", team.url)
    assert done.code == 0, done.err
    assert team.secret not in done.out + done.err
    assert "reads and writes in the namespace team" in done.err
    header = {"Authorization": f"Bearer {team.secret}"}
    codex = at(hosts / ".codex/config.toml", "mcp_servers", "memstore")
    assert codex == {"url": team.url, "http_headers": header}
    gemini = at(hosts / ".gemini/settings.json", "mcpServers", "memstore")
    assert gemini == {"httpUrl": team.url, "headers": header}
    cursor = at(hosts / ".cursor/mcp.json", "mcpServers", "memstore")
    assert cursor == {"url": team.url, "headers": header}
    hook_line = at(hosts / ".codex/hooks.json", "hooks", "SessionStart", 0, "hooks", 0, "command")
    assert hook_line == (
        f"{programs / 'memstore'} hook SessionStart --server {team.url} --host codex"
    )
    secret = team.secret.encode()
    for name, text in everything(hosts).items():
        if secret in text:
            assert stat.S_IMODE((hosts / name).stat().st_mode) == 0o600, name
    assert secret not in (hosts / ".codex/hooks.json").read_bytes()
    again = cli("setup", "--server", team.url)
    assert "nothing to do" in again.out
    assert cli("setup", "--uninstall").code == 0
    assert everything(hosts) == before
    assert servers.known() == {}


@posix_only
def test_a_check_asks_the_server(
    cli: CommandLine, hosts: Path, team: Team, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMSTORE_TOKEN", team.reader)
    assert cli("setup", "codex", "--server", team.url, "--no-hooks").code == 0
    checked = cli("setup", "--check", "codex")
    assert (checked.code, "the token reads in team" in checked.out) == (0, True)
    servers.keep(team.url, "mst_" + "x" * 43)
    checked = cli("setup", "--check", "codex")
    assert checked.code != 0
    assert "answered 401" in checked.out


def test_what_a_host_remembers_follows_on_the_server(
    team: Team, home: Path, started: list[Any]
) -> None:
    servers.keep(team.url, team.secret)
    project = home / "api"
    (project / ".git").mkdir(parents=True)
    name = re.sub(r"[^a-zA-Z0-9]", "-", str(project))
    folder = home / ".claude" / "projects" / name / "memory"
    folder.mkdir(parents=True)
    key = "AKIA" + "Z7QHX2LMNB4WKTRD"

    def keep(*lines: str) -> list[tuple[str, str | None]]:
        (folder / "MEMORY.md").write_text("\n".join(f"- {line}" for line in lines))
        event = transcript(home, ANA) | {"cwd": str(project)}
        hook.answered(
            hook.parser().parse_args(["keep", "--server", team.url, "--host", "claude-code"]), event
        )
        with memstore.open(team.path, namespace="team", embedder=None, read_only=True) as store:
            return [(one.content, one.source) for one in store.list() if one.subject == "project"]

    source = f"claude-code:~/.claude/projects/{folder.parent.name}/memory/MEMORY.md"
    assert keep("the port is 5432", "x is y", f"the key is {key}")[:2] == [
        ("the port is 5432", source), ("x is y", source),
    ]  # fmt: skip
    assert len(keep("the port is 5433")) == 1
    assert keep("the port is 5432") == [("the port is 5432", source)]  # and back again
    assert keep("the port is 5432") == [("the port is 5432", source)]
    assert key.encode() not in team.path.read_bytes()


@pytest.mark.parametrize(
    "memory",
    [
        [],
        {"place": "x", "memories": [1]},
        {"place": "x", "memories": [{"file": "a", "content": "b"}]},
        {"place": "x", "memories": [], "unread": [1]},
        {"place": "x" * 2_000, "memories": []},
        {
            "place": "x",
            "memories": [
                {"file": "a", "content": "b", "subject": "c", "category": "d", "source": "web:x"}
            ],
        },
    ],
)
def test_a_memory_of_another_form_is_refused(team: Team, memory: Any) -> None:
    request = {"event": "keep", "host": "claude-code", "session": "s", "memory": memory}
    with pytest.raises(remote.ServerRefused, match="400"):
        remote.ask(team.url, request, seconds=30, secret=team.secret)


@posix_only
def test_a_token_comes_from_a_file_or_from_the_last_time(
    cli: CommandLine, hosts: Path, team: Team
) -> None:
    file = hosts / "token.txt"
    file.write_text(team.secret + "\n")
    assert cli("setup", "codex", "--server", team.url, "--token-file", str(file)).code == 0
    file.unlink()
    assert cli("setup", "codex", "--server", team.url + "/").code == 0
    assert servers.known() == {team.url: team.secret}


@posix_only
@pytest.mark.parametrize(
    ("token", "flags", "words"),
    [
        (None, [], "there is no token for the hooks"),
        ("mst_" + "x" * 43, [], "answered 401: the token is unknown"),
        ("reader", [], "the token is read-only"),
    ],
)
def test_setup_says_what_is_wrong_with_a_token_and_changes_nothing(
    cli: CommandLine,
    hosts: Path,
    team: Team,
    monkeypatch: pytest.MonkeyPatch,
    token: str | None,
    flags: list[str],
    words: str,
) -> None:
    if token is not None:
        monkeypatch.setenv("MEMSTORE_TOKEN", team.reader if token == "reader" else token)
    before = everything(hosts)
    done = cli("setup", "codex", "--server", team.url, *flags)
    assert done.code != 0
    assert words in done.err
    assert everything(hosts) == before


@posix_only
def test_setup_says_what_is_wrong_with_an_address(
    cli: CommandLine, hosts: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMSTORE_TOKEN", "mst_" + "x" * 43)
    for url, words in {
        "http://memory.example.com/mcp": "must begin with https://",
        "http://127.0.0.1:9/mcp": "127.0.0.1:9 did not answer",
    }.items():
        done = cli("setup", "codex", "--server", url)
        assert done.code != 0
        assert words in done.err


@posix_only
def test_a_project_is_given_no_token(
    cli: CommandLine, hosts: Path, team: Team, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMSTORE_TOKEN", team.secret)
    (hosts / "work").mkdir()
    monkeypatch.chdir(hosts / "work")
    done = cli("setup", "codex", "--server", team.url, "--project")
    assert "often shared" in done.err
    assert done.code != 0
    for name, text in everything(hosts).items():
        assert team.secret.encode() not in text or name.endswith("servers.json")


@posix_only
def test_a_host_signs_in_itself_without_a_token_and_without_hooks(
    cli: CommandLine, hosts: Path, team: Team
) -> None:
    assert cli("setup", "codex", "--server", team.url, "--no-hooks").code == 0
    assert at(hosts / ".codex/config.toml", "mcp_servers", "memstore") == {"url": team.url}


@posix_only
def test_other_hosts_are_not_set_up_with_a_server(
    cli: CommandLine, hosts: Path, team: Team, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMSTORE_TOKEN", team.secret)
    done = cli("setup", "zed", "--server", team.url)
    assert "Zed cannot be set up with a server" in done.err


def test_spool_shows_what_waits_and_sends_it(
    cli: CommandLine, team: Team, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "nothing waits for a server" in cli("spool").err
    servers.keep(team.url, team.secret)
    with monkeypatch.context() as cut:
        cut.setattr(plain_http, "_connection", _refusing)
        with pytest.raises(plain_http.Unreachable):
            answered("keep", transcript(home, ANA, BOT), team.url)
        failed = cli("spool", "--send")
        assert failed.code != 0
        assert "did not answer" in failed.err
    shown = cli("spool")
    assert "2 turns" in shown.out
    assert f"2 turns wait for {team.url} since" in shown.err
    assert f"2 turns wait for {team.url}" in cli("status").err
    assert cli("spool", "--send").code == 0
    assert len(team.said()) == 2


def test_an_address_without_its_path_is_named(
    cli: CommandLine, home: Path, team: Team, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMSTORE_TOKEN", team.secret)
    bare = team.url.removesuffix("/mcp")
    code, error = cli.error("setup", "codex", "--server", bare)
    assert code == 2
    assert f"the address of a server ends with /mcp: {bare}/mcp?" in error
    code, error = cli.error("setup", "codex", "--server", f"{bare}/memory")
    assert code == 2
    assert f"{bare}/memory/mcp?" in error
