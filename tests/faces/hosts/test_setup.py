"""Registering with hosts: what is written, only once, and that uninstalling removes all of it."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tests.support.command_line import CommandLine, cli_fixture  # noqa: F401

import memstore
from memstore import __version__
from memstore.faces.hosts import (
    catalogue,
    check,
    claude_code,
    edits,
    placing,
    record,
    registration,
)
from memstore.faces.hosts.files import SettingsUnreadable

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="its programs are scripts")

ZED = '// mine\n{\n  "theme": "One", // nice\n}\n'
CODEX = '# mine\nmodel = "x"\n\n[tui]\na = 1\n'
EDITED = [host.name for host in catalogue.HOSTS if host.name != "claude-code"]


@pytest.fixture
def hosts(cli: CommandLine, home: Path, programs: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home in which some hosts have been used."""
    monkeypatch.delenv("MEMSTORE_DB")
    monkeypatch.delenv("MEMSTORE_EMBEDDER")
    for folder in (".codex", ".gemini", ".cursor", ".config/zed", ".codeium/windsurf"):
        (home / folder).mkdir(parents=True)
    (home / ".codex/config.toml").write_text(CODEX)
    (home / ".config/zed/settings.json").write_text(ZED)
    (home / ".gemini/settings.json").write_bytes(b'{\r\n\t"hooks": {}\r\n}\r\n')
    return home


def contents(home: Path) -> dict[str, bytes]:
    return {str(f.relative_to(home)): f.read_bytes() for f in home.rglob("*") if f.is_file()}


def all_of(home: Path) -> set[str]:
    return {str(path.relative_to(home)) for path in home.rglob("*")}


def at(file: Path, *path: str | int) -> Any:
    return placing.at(edits.language_of(file).value(file.read_text()), path)


def commands(value: Any) -> Iterator[str]:
    """Yield every command of hooks, whatever their shape."""
    if isinstance(value, dict):
        if isinstance(value.get("command"), str):
            yield value["command"]
        value = [*value.values()]
    if isinstance(value, list):
        for inner in value:
            yield from commands(inner)


def test_installed_hosts_get_the_server(cli: CommandLine, hosts: Path, programs: Path) -> None:
    told = cli.json("setup")
    assert (list(told["changed"]), told["failed"]) == (
        ["codex", "gemini-cli", "cursor", "zed", "windsurf"],
        {},
    )
    # Codex, for example, clears the variable that names the file.
    data = {"XDG_DATA_HOME": str(hosts / "data")}
    command = str(programs / "memstore-mcp")
    server = {"command": command, "args": ["--namespace", "auto"], "env": data}
    codex = at(hosts / ".codex/config.toml", "mcp_servers", "memstore")
    assert codex == {**server, "required": True, "startup_timeout_sec": 30}
    assert at(hosts / ".gemini/settings.json", "mcpServers", "memstore") == server
    cursor = at(hosts / ".cursor/mcp.json", "mcpServers", "memstore")
    assert cursor == {**server, "env": {**data, "MEMSTORE_PROJECT": "${workspaceFolder}"}}
    zed = at(hosts / ".config/zed/settings.json", "context_servers", "memstore")
    assert zed == {"source": "custom", **server}
    windsurf = at(hosts / ".codeium/windsurf/mcp_config.json", "mcpServers", "memstore")
    assert windsurf["args"] == ["--namespace", "default"]
    assert (hosts / ".config/zed/settings.json").read_text().startswith(ZED[:-3])
    assert (hosts / ".codex/config.toml").read_text().startswith(CODEX)


@pytest.mark.parametrize(
    ("host", "file", "events"),
    [
        ("codex", ".codex/hooks.json", "SessionStart UserPromptSubmit PreCompact SessionEnd"),
        ("gemini-cli", ".gemini/settings.json", "SessionStart BeforeAgent PreCompress SessionEnd"),
        ("cursor", ".cursor/hooks.json", "sessionStart preCompact sessionEnd"),
    ],
)
def test_only_the_requested_hooks_are_registered(
    cli: CommandLine, hosts: Path, programs: Path, host: str, file: str, events: str
) -> None:
    names = events.split()
    cli.json("setup", host)
    hooks = at(hosts / file, "hooks")
    assert [*hooks] == names
    for event in names:
        [line] = commands(hooks[event])
        start = [str(programs / "memstore"), "hook", event]
        assert shlex.split(line) == [*start, "--namespace", "auto", "--host", host]
    cli.json("setup", host, "--no-transcripts")
    assert [*at(hosts / file, "hooks")] == names[: names.index(names[-2])]
    cli.json("setup", host, "--no-prompts")
    assert [*at(hosts / file, "hooks")] == [
        one for one in names if one not in ("UserPromptSubmit", "BeforeAgent")
    ]
    cli.json("setup", host, "--no-hooks")
    assert not [*commands(at(hosts / file, "hooks") if (hosts / file).exists() else {})]


def test_toml_keeps_the_line_ends_of_windows(cli: CommandLine, hosts: Path) -> None:
    file = hosts / ".codex/config.toml"
    before = CODEX.replace("\n", "\r\n").encode()
    file.write_bytes(before)
    cli.json("setup", "codex")
    assert file.read_bytes().startswith(before[:30])
    assert b"memstore" in file.read_bytes()
    assert file.read_bytes().count(b"\n") == file.read_bytes().count(b"\r\n")
    cli.json("setup", "--uninstall")
    assert file.read_bytes() == before


def test_running_setup_again_changes_nothing(cli: CommandLine, hosts: Path) -> None:
    cli.json("setup")
    before = contents(hosts)
    assert not any(cli.json("setup")["changed"].values())
    assert contents(hosts) == before


def test_a_dry_run_shows_the_difference_and_changes_nothing(cli: CommandLine, hosts: Path) -> None:
    before = contents(hosts)
    shown = cli.json("setup", "--dry-run")["changed"]["codex"]
    assert contents(hosts) == before
    assert cli.json("setup")["changed"]["codex"] == shown
    assert "+[mcp_servers.memstore]" in shown
    assert not any("tui" in line or "model" in line for line in shown)


def test_uninstall_restores_files_byte_for_byte(cli: CommandLine, hosts: Path) -> None:
    files, everything = contents(hosts), all_of(hosts)
    cli.json("setup")
    cli.json("setup", "--no-transcripts", "--db", "other.db")
    shown = cli.json("setup", "--uninstall", "--dry-run")
    assert cli.json("setup", "--uninstall") == shown
    assert (contents(hosts), all_of(hosts)) == (files, everything)
    assert cli.json("setup", "--uninstall") == {"changed": {}, "failed": {}}


@pytest.mark.parametrize("host", EDITED)
def test_an_unused_host_is_set_up_and_uninstall_leaves_nothing(
    cli: CommandLine, home: Path, programs: Path, host: str
) -> None:
    cli.json("setup", host)
    assert contents(home)
    cli.json("setup", host, "--uninstall")
    assert all_of(home) == set()


@pytest.mark.parametrize("host", EDITED)
def test_uninstall_keeps_later_changes_by_the_user(
    cli: CommandLine, home: Path, programs: Path, host: str
) -> None:
    cli.json("setup", host)
    for file in home.rglob("*"):
        if file.is_file() and "data" not in file.parts:
            mark = "# theirs\n" if file.suffix == ".toml" else "// theirs\n"
            file.write_text(mark + file.read_text())
    cli.json("setup", host, "--uninstall")
    assert [text.split() for text in contents(home).values()]
    for name, text in contents(home).items():
        assert text.decode().replace("\n", "") in ("# theirs", "// theirs{}"), name


def hostile(file: Path, path: list[str], value: Any, **also: Any) -> dict[str, Any]:
    made = {"path": path, "value": value, "how": "put", "placed": [0, "", "", None], "beside": []}
    return {"file": str(file), "states": [[made | also]], "created": True, "folders": []}


@pytest.mark.parametrize("act", [["--uninstall"], ["codex"]])
def test_a_record_that_names_what_setup_does_not_make_changes_nothing(
    cli: CommandLine, hosts: Path, act: list[str]
) -> None:
    cli.json("setup", "codex")
    record = hosts / "data/memstore/setup.json"
    held = json.loads(record.read_text())
    mine = {
        hosts / "package.json": b'{"scripts": {"test": "x"}}',
        hosts / "only.json": b'{"mcpServers": {"memstore": 1}}',
        hosts / ".bashrc": b"alias l=ls\n",
        hosts / ".codex/auth.json": b'{"token": "t"}',
    }
    for file, text in mine.items():
        file.write_bytes(text)
    (hosts / "empty").mkdir()
    codex = hosts / ".codex/config.toml"
    codex.write_text(codex.read_text() + "[other]\nb = 2\n")
    held["hosts"][0]["files"] += [
        hostile(hosts / "package.json", ["scripts"], {"test": "x"}),
        hostile(hosts / "only.json", ["mcpServers", "memstore"], 1),
        hostile(hosts / ".bashrc", ["x"], 1),
        hostile(hosts / ".codex/auth.json", ["token"], "t"),
        hostile(codex, ["other"], {"b": 2}),
        hostile(hosts / ".codex/hooks.json", ["hooks", "Stop"], {"command": "x"}, how="append"),
    ]
    for one in held["hosts"][0]["files"]:
        one["folders"] = [str(hosts / "empty")]
    held["folders"] = [str(hosts / "empty")]
    record.write_text(json.dumps(held))
    told = cli("setup", *act)
    assert "the record of setup names changes that setup does not make" in told.err
    assert {file: file.read_bytes() for file in mine} == mine
    assert "[other]\nb = 2" in codex.read_text()
    assert (hosts / "empty").is_dir()


def test_a_record_of_a_copied_home_leaves_the_original_alone(
    cli: CommandLine, hosts: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    cli.json("setup", "codex")
    before = contents(hosts)
    copied = tmp_path / "copied home"
    shutil.copytree(hosts, copied)
    monkeypatch.setenv("HOME", str(copied))
    monkeypatch.setenv("XDG_DATA_HOME", str(copied / "data"))
    monkeypatch.delenv("CODEX_HOME", raising=False)
    told = cli("setup", "--uninstall")
    assert "left as they are" in told.err
    assert contents(hosts) == before


def test_what_a_killed_setup_left_is_told_from_other_files(cli: CommandLine, hosts: Path) -> None:
    folder = hosts / ".codex"
    left = folder / ".config.toml.ab12_x9z.memstore"
    others = [folder / name for name in (".config.toml.bak.memstore", ".config.toml..memstore")]
    for file in (left, *others):
        file.write_text("x")
    cli.json("setup", "codex")
    assert not left.exists()
    assert all(file.exists() for file in others)


def test_uninstall_restores_a_server_of_the_same_name(
    cli: CommandLine, home: Path, programs: Path
) -> None:
    file = home / ".cursor/mcp.json"
    file.parent.mkdir()
    theirs = '{"mcpServers": {"memstore": {"command": "mine"}, "b": {}}}'
    file.write_text(theirs)
    cli.json("setup", "cursor")
    cli.json("setup", "cursor", "--uninstall")
    assert file.read_text() == theirs
    cli.json("setup", "cursor")
    file.write_text(file.read_text().replace('"b": {}', '"c": {}'))
    cli.json("setup", "cursor", "--uninstall")
    assert json.loads(file.read_text()) == {
        "mcpServers": {"memstore": {"command": "mine"}, "c": {}}
    }


def test_uninstall_keeps_a_server_that_was_changed(
    cli: CommandLine, home: Path, programs: Path
) -> None:
    cli.json("setup", "cursor")
    file = home / ".cursor/mcp.json"
    file.write_text(file.read_text().replace("auto", "mine"))
    cli.json("setup", "cursor", "--uninstall")
    assert at(file, "mcpServers", "memstore", "args")[-2:] == ["--namespace", "mine"]


def test_an_unreadable_file_is_skipped_and_the_others_are_set_up(
    cli: CommandLine, hosts: Path
) -> None:
    broken = hosts / ".gemini/settings.json"
    broken.write_text('{"hooks": ')
    answer = cli("setup", "--json")
    told = json.loads(answer.out)
    assert answer.code == 1
    assert [*told["failed"]] == ["gemini-cli"]
    assert "line 1" in told["failed"]["gemini-cli"]
    assert "zed" in told["changed"]
    assert broken.read_text() == '{"hooks": '


def test_a_symlink_stays_a_symlink(cli: CommandLine, hosts: Path) -> None:
    real = hosts / "dotfiles.json"
    real.write_text("{}")
    link = hosts / ".cursor/mcp.json"
    link.symlink_to(real)
    cli.json("setup", "cursor")
    assert link.is_symlink()
    assert at(real, "mcpServers", "memstore")
    cli.json("setup", "cursor", "--uninstall")
    assert (link.is_symlink(), real.read_text()) == (True, "{}")


@pytest.mark.parametrize("made", ["", "dotfiles"])
def test_dangling_link_is_followed_and_stays(cli: CommandLine, hosts: Path, made: str) -> None:
    link = hosts / ".cursor/mcp.json"
    if made:
        (hosts / made).mkdir()
    link.symlink_to(hosts / "dotfiles/mcp.json")
    before = all_of(hosts)
    cli.json("setup", "cursor")
    assert at(hosts / "dotfiles/mcp.json", "mcpServers", "memstore")
    cli.json("setup", "cursor", "--uninstall")
    assert (link.is_symlink(), all_of(hosts)) == (True, before)


def pipe(file: Path) -> None:
    os.mkfifo(file)


def sparse(file: Path) -> None:
    with file.open("wb") as held:
        held.truncate(200 << 30)


@pytest.mark.parametrize(
    ("make", "what"),
    [(pipe, "regular file"), (sparse, "too large"), (Path.mkdir, "directory")],
)
def test_implausible_file_is_refused_in_a_sentence(
    cli: CommandLine, hosts: Path, make: Callable[[Path], None], what: str
) -> None:
    make(hosts / ".cursor/mcp.json")
    answer = cli("setup", "cursor", "codex", "--json")
    told = json.loads(answer.out)
    assert what in told["failed"]["cursor"]
    assert told["failed"]["cursor"].endswith("nothing was changed there")
    assert (answer.code, [*told["changed"]]) == (1, ["codex"])


def test_edit_of_another_program_during_setup_is_kept(
    cli: CommandLine, hosts: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = hosts / ".cursor/mcp.json"
    file.write_text('{"n": 0}')
    real = tempfile.mkstemp

    def edited_meanwhile(suffix: str, prefix: str, folder: Path) -> tuple[int, str]:
        if prefix == ".mcp.json." and '"n": 3' not in file.read_text():
            file.write_text(json.dumps({"n": json.loads(file.read_text())["n"] + 1}))
        return real(suffix, prefix, folder)

    monkeypatch.setattr(tempfile, "mkstemp", edited_meanwhile)
    cli.json("setup", "cursor")
    assert (at(file, "n"), bool(at(file, "mcpServers", "memstore"))) == (3, True)
    cli.json("setup", "--uninstall")
    assert json.loads(file.read_text()) == {"n": 3}


def test_second_setup_leaves_a_file_that_was_edited_since(cli: CommandLine, hosts: Path) -> None:
    cli.json("setup", "codex")
    file = hosts / ".codex/config.toml"
    file.write_text(file.read_text() + '\n# mine too\n[projects."/u"]\ntrust_level = "trusted"\n')
    before = contents(hosts)
    assert not any(cli.json("setup", "codex")["changed"].values())
    assert contents(hosts) == before


def test_setup_tells_one_line_for_a_file(cli: CommandLine, hosts: Path) -> None:
    told = cli("setup", "cursor").err.splitlines()
    assert [line.split("(")[-1] for line in told[:2]] == ["+15 -0 lines)", "+20 -0 lines)"]
    assert "command" not in "".join(told)
    assert '"command"' in cli("setup", "gemini-cli", "--dry-run").err


def test_current_settings_are_registered(
    cli: CommandLine, hosts: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMSTORE_EMBEDDER", "none")
    cli.json("setup", "codex", "--db", "work.db", "--namespace", "mine")
    flags = ["--db", str(hosts / "work.db"), "--embedder", "none", "--namespace", "mine"]
    assert at(hosts / ".codex/config.toml", "mcp_servers", "memstore", "args") == flags
    [line] = commands(at(hosts / ".codex/hooks.json", "hooks", "SessionStart"))
    assert shlex.split(line)[3:] == [*flags, "--host", "codex"]


def test_project_setup_writes_project_files(cli: CommandLine, hosts: Path) -> None:
    (hosts / "api/.git").mkdir(parents=True)
    (hosts / "api/src").mkdir()
    before = contents(hosts)
    with pytest.MonkeyPatch.context() as there:
        there.chdir(hosts / "api/src")
        changed = cli.json("setup", "codex", "gemini-cli", "cursor", "vscode", "--project")
        assert all(changed["changed"].values())
        new = {name for name in contents(hosts) if name not in before and "data" not in name}
        assert new == {
            "api/.codex/config.toml",
            "api/.codex/hooks.json",
            "api/.cursor/hooks.json",
            "api/.cursor/mcp.json",
            "api/.gemini/settings.json",
            "api/.vscode/mcp.json",
        }
        vscode = at(hosts / "api/.vscode/mcp.json", "servers", "memstore")
        assert (vscode["type"], vscode["args"]) == ("stdio", ["--namespace", "auto"])
        assert cli.error("setup", "windsurf", "--project")[0] == 2
        cli.json("setup", "--uninstall", "--project")
    assert contents(hosts) == before


def test_wrong_usage_shows_the_correct_form(cli: CommandLine, home: Path, programs: Path) -> None:
    code, text = cli.error("setup", "emacs")
    assert (code, "no host 'emacs' is known: claude-code, codex" in text) == (2, True)
    code, text = cli.error("setup")
    assert (code, "no supported host is installed" in text) == (2, True)
    code, text = cli.error("setup", "--check")
    assert (code, "nothing is registered" in text) == (2, True)


def test_setup_reports_whether_conversations_are_recorded(cli: CommandLine, hosts: Path) -> None:
    assert "are recorded as episodes" in cli("setup", "codex").err
    assert "are not recorded" in cli("setup", "codex", "--no-transcripts").err
    assert "enter /hooks" in cli("setup", "codex").err


def test_setup_from_uvx_registers_uvx_with_the_version(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    uvx = tmp_path / "bin" / "uvx"
    uvx.parent.mkdir()
    uvx.write_text("#!/bin/sh\n")
    uvx.chmod(0o755)
    monkeypatch.setattr(sys, "prefix", str(home / ".cache/uv/archive-v0/Ab3_x"))
    monkeypatch.setattr(registration.metadata, "distribution", lambda _: Installed(None))
    for name in [*os.environ]:
        if name.upper() in registration.OF_UVX or name.startswith("UV_"):
            monkeypatch.delenv(name)
    start = [str(uvx), "--from", f"pymemstore=={__version__}"]
    assert registration.programs() == ([*start, "memstore-mcp"], [*start, "memstore"], {})
    needed = {"SSL_CERT_FILE": "/ca.pem", "UV_DEFAULT_INDEX": "https://index", "https_proxy": "p:1"}
    secret = {
        "UV_INDEX": "https://me:pass@index",
        "UV_INDEX_X_PASSWORD": "p",
        "UV_PUBLISH_TOKEN": "t",
    }
    for name, value in {**needed, **secret}.items():
        monkeypatch.setenv(name, value)
    assert registration.programs().environment == needed
    wheel = Installed('{"url": "file:///tmp/a%20b/pymemstore.whl"}')
    monkeypatch.setattr(registration.metadata, "distribution", lambda _: wheel)
    assert registration.programs().server[2] == "/tmp/a b/pymemstore.whl"
    uvx.unlink()
    with pytest.raises(registration.NoProgram, match="uvx is not on the PATH"):
        registration.programs()


class Installed:
    def __init__(self, origin: str | None) -> None:
        self._origin = origin

    def read_text(self, name: str) -> str | None:
        assert name == "direct_url.json"
        return self._origin


def test_installation_without_a_permanent_program_is_refused(
    home: Path, tmp_path: Path, programs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (programs / "memstore-mcp").unlink()
    with pytest.raises(registration.NoProgram, match="no permanent program memstore-mcp"):
        registration.programs()


@pytest.mark.process
def test_the_check_starts_what_is_registered(cli: CommandLine, hosts: Path, programs: Path) -> None:
    cli.json("setup", "codex")
    server, hooks = cli.json("setup", "--check")
    assert (server["host"], server["what"], server["works"]) == ("codex", "server", True)
    assert "offered 12 tools" in server["answer"]
    assert (hooks["what"], hooks["works"]) == ("hooks", True)
    assert "Codex runs hooks once you have trusted them" in hooks["answer"]
    started = (programs / "memstore").read_text()
    (programs / "memstore-mcp").write_text("#!/bin/sh\necho no certificate >&2\nexit 2\n")
    (programs / "memstore").write_text("#!/bin/sh\necho Installed 6 packages >&2\n")
    server, hooks = json.loads(cli("setup", "--check", "--json").out)
    assert (server["works"], hooks["works"]) == (False, True)
    assert server["answer"].endswith(" s: no certificate")
    (programs / "memstore-mcp").unlink()
    (programs / "memstore").write_text(started.replace("import sys", "import sys; sys.path = []"))
    answer = cli("setup", "--check", "--json")
    assert answer.code == 1
    assert [one["works"] for one in json.loads(answer.out)] == [False, False]


@pytest.mark.process
def test_the_check_runs_the_hook_in_the_project_where_it_is_called(
    cli: CommandLine,
    home: Path,
    hosts: Path,
    programs: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (home / "work" / "api" / ".git").mkdir(parents=True)
    with memstore.open(embedder=None, namespace="~/work/api", source="test") as store:
        store.pin(store.add("Releases go through the canary", subject="api").id)
    assert cli("setup", "codex").code == 0
    assert "had no context to add" in cli("setup", "--check").out
    monkeypatch.chdir(home / "work" / "api")
    assert "added context at session start" in cli("setup", "--check").out


@pytest.mark.parametrize("where", ["home", "project"])
def test_a_plugin_beside_setup_is_found_where_it_is_enabled(home: Path, where: str) -> None:
    project = home / "work"
    folder = (home if where == "home" else project) / ".claude"
    folder.mkdir(parents=True)
    assert claude_code.plugin(project) is None
    file = folder / "settings.json"
    for text in ("{", "[]", '{"enabledPlugins": 7}', '{"enabledPlugins": {"memstore@x": false}}'):
        file.write_text(text)
        assert claude_code.plugin(project) is None
    file.write_text('{"enabledPlugins": {"other@memstore": true, "memstore@somewhere": true}}')
    assert claude_code.plugin(project) == "memstore@somewhere"


def test_the_check_notices_the_plugin_beside_setup(home: Path) -> None:
    (home / ".claude").mkdir()
    (home / ".claude" / "settings.json").write_text('{"enabledPlugins": {"memstore@x": true}}')
    [seen] = check.seen(record.Done("claude-code"))
    assert (seen.what, seen.works) == ("plugin", False)
    assert "the plugin memstore@x is enabled beside setup" in seen.answer
    assert [*check.seen(record.Done("codex"))] == []


@pytest.mark.process
def test_the_check_uses_the_environment_that_hosts_use(
    cli: CommandLine, hosts: Path, programs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cli.json("setup", "codex")
    monkeypatch.setenv("SOME_VARIABLE", "of the shell")
    monkeypatch.setenv("LANG", "C.UTF-8")
    for name, answer in (("memstore-mcp", ""), ("memstore", "{}")):
        (programs / name).write_text(
            f"#!/bin/sh\n/usr/bin/env > {hosts}/seen-{name}\necho '{answer}'\n"
        )
    cli("setup", "--check")
    of_server = (hosts / "seen-memstore-mcp").read_text().splitlines()
    of_hook = (hosts / "seen-memstore").read_text().splitlines()
    assert {"LANG=C.UTF-8", f"HOME={hosts}", f"XDG_DATA_HOME={hosts / 'data'}"} <= {*of_server}
    assert "SOME_VARIABLE=of the shell" in of_hook
    assert "SOME_VARIABLE=of the shell" not in of_server


@pytest.mark.process
def test_claude_code_is_registered_by_its_own_command(
    cli: CommandLine, home: Path, programs: Path
) -> None:
    claude = programs / "claude"
    claude.write_text(CLAUDE.format(python=sys.executable))
    claude.chmod(0o755)
    mine = {"mcpServers": {"memstore": {"command": "mine"}}}
    (home / ".claude.json").write_text(json.dumps(mine))
    before = contents(home)
    cli.json("setup")
    server = at(home / ".claude.json", "mcpServers", "memstore")
    assert server["command"] == str(programs / "memstore-mcp")
    assert "SessionStart" in at(home / ".claude/settings.json", "hooks")
    assert not any(cli.json("setup")["changed"].values())
    cli.json("setup", "--uninstall")
    assert contents(home) == before
    claude.unlink()
    answer = cli("setup", "claude-code")
    assert answer.code == 1
    assert "claude is not on the PATH" in answer.err


@pytest.mark.process
def test_registration_of_an_earlier_version_is_told_to_show_the_tools(
    cli: CommandLine, home: Path, programs: Path
) -> None:
    claude = programs / "claude"
    claude.write_text(CLAUDE.format(python=sys.executable))
    claude.chmod(0o755)
    file = home / ".claude.json"
    file.write_text(json.dumps({"mcpServers": {}}))
    before = contents(home)
    cli.json("setup", "claude-code")
    assert at(file, "mcpServers", "memstore", "alwaysLoad") is True
    record = home / "data" / "memstore" / "setup.json"
    for written in (file, record):  # as an earlier version left it
        text, number = re.subn(r',\s*"alwaysLoad": true', "", written.read_text())
        assert number == 1
        written.write_text(text)
    answer = cli("setup", "--check", "--json")
    assert answer.code == 1
    [seen] = [one for one in json.loads(answer.out) if one["what"] == "tools"]
    assert '"alwaysLoad": true: run memstore setup again' in seen["answer"]
    assert any("alwaysLoad" in line for line in cli.json("setup")["changed"]["claude-code"])
    assert at(file, "mcpServers", "memstore", "alwaysLoad") is True
    assert all(one["works"] for one in cli.json("setup", "--check"))
    assert not any(cli.json("setup")["changed"].values())
    cli.json("setup", "--uninstall")
    assert contents(home) == before


CLAUDE = """\
#!{python}
import json, pathlib, sys
mcp, verb, scope, which, name, *server = sys.argv[1:]
assert (mcp, scope, which) == ("mcp", "--scope", "user")
file = pathlib.Path.home() / ".claude.json"
held = json.loads(file.read_text())
if verb == "remove":
    del held["mcpServers"][name]
else:
    assert verb == "add-json" and name not in held["mcpServers"]
    held["mcpServers"][name] = json.loads(server[0])
file.write_text(json.dumps(held))
"""


# -- on Windows ----------------------------------------------------------------------------------


@pytest.fixture
def windows(monkeypatch: pytest.MonkeyPatch) -> None:
    """The commands are written as on Windows."""
    for module in (catalogue, registration):
        monkeypatch.setattr(module, "sys", SimpleNamespace(platform="win32"))


@pytest.mark.parametrize(
    ("program", "line"),
    [
        (r"C:\Users\ana\bin\memstore.exe", r"C:\Users\ana\bin\memstore.exe hook"),
        (r"C:\Users\Ana B\memstore.exe", r'cmd /c "C:\Users\Ana B\memstore.exe" hook'),
    ],
)
def test_line_is_a_command_in_powershell_and_in_cmd(windows: None, program: str, line: str) -> None:
    assert registration.shell_line([program, "hook"]) == line


def test_claude_code_starts_its_hooks_without_a_shell_on_windows(windows: None) -> None:
    program = r"C:\Users\Ana B\memstore.exe"
    wanted = catalogue.Registration([], [program, "hook"], [], "auto", True, None, {})
    [_, edit] = catalogue.by_name()["claude-code"].hooks(wanted)[0]
    [hook] = edit.value["hooks"]
    arguments = ["hook", "SessionStart", "--namespace", "auto", "--host", "claude-code"]
    assert (hook["command"], hook["args"]) == (program, arguments)


@pytest.mark.process
def test_the_check_starts_a_hook_without_a_shell(
    cli: CommandLine, home: Path, programs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    claude = programs / "claude"
    claude.write_text(CLAUDE.format(python=sys.executable))
    claude.chmod(0o755)
    (home / ".claude.json").write_text('{"mcpServers": {}}')
    with monkeypatch.context() as patch:
        patch.setattr(catalogue, "sys", SimpleNamespace(platform="win32"))
        cli.json("setup", "claude-code")
    _, hooks = cli.json("setup", "--check")
    assert hooks["works"], hooks
    assert hooks["command"].startswith(f"{programs / 'memstore'} hook SessionStart")


TOMLS = [
    "",
    "# mine\n",
    'model = "x"\n\n[tui]\na = 1\n',
    "[features]\nmemories = true # nice\nweb = true\n",
    "[features]\r\nweb = true\r\n\r\n[tui]\r\na = 1\r\n",
    "[features]",
    "features.memories = true\n[tui]\na = 1\n",
    "[features]\n\n# about x\n[features.x]\na = 1\n",
]


@pytest.mark.parametrize("text", TOMLS)
def test_a_switch_is_put_into_toml_and_taken_out_again(text: str, tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    wanted = edits.Edit(("features", "memories"), False)
    new, made = edits.edited(file, text, [wanted])
    assert at_text(new, "features", "memories") is False
    assert edits.undone(edits.ChangedFile(str(file), [made]), new) == text
    assert edits.edited(file, new, [wanted]) == (new, [])


@pytest.mark.parametrize(
    "text", ["features = { memories = true }\n", "features.web = true\n", "[features.x]\na = 1\n"]
)
def test_a_switch_that_would_change_other_settings_is_refused(text: str, tmp_path: Path) -> None:
    wanted = edits.Edit(("features", "memories"), False)
    with pytest.raises(SettingsUnreadable):
        edits.edited(tmp_path / "config.toml", text, [wanted])


def at_text(text: str, *path: str) -> Any:
    return placing.at(edits.toml.value(text), path)


def test_setup_says_what_hosts_remember_and_how_many_sessions_there_are(
    cli: CommandLine, hosts: Path, programs: Path
) -> None:
    memory = hosts / ".gemini/tmp/api/memory"
    memory.mkdir(parents=True)
    (memory / "MEMORY.md").write_text("- x\n")
    chats = hosts / ".gemini/tmp/api/chats"
    chats.mkdir()
    (chats / "session-1.jsonl").write_text("{}\n")
    told = cli("setup", "codex", "gemini-cli").err.splitlines()
    of = [line for line in told if "memory of its own" in line or "can be imported" in line]
    assert of == [
        "Codex has a memory of its own, which is off: 0 files in 0 folders; what it says becomes "
        "facts when a session ends",
        "Gemini CLI has a memory of its own, which is on: 1 file in 1 folder; what it says becomes "
        "facts when a session ends",
        "1 recorded session of Gemini CLI can be imported: memstore import --from gemini",
    ]


@pytest.mark.process
def test_the_memory_of_hosts_is_turned_off_and_on_again(
    cli: CommandLine, hosts: Path, programs: Path
) -> None:
    config = hosts / ".codex/config.toml"
    config.write_text("[features]\nmemories = true # nice\n")
    before = contents(hosts)
    told = cli("setup", "codex", "gemini-cli", "--own-memory", "off").err
    assert "turned off until setup --uninstall" in told
    assert "no setting that turns it off" in told
    assert at(config, "features", "memories") is False
    assert "Codex has a memory of its own, which is off" in cli("setup", "--check").err
    cli("setup", "codex")  # keep
    assert at(config, "features", "memories") is True
    cli("setup", "codex", "--own-memory", "off")
    cli("setup", "--uninstall")
    assert {name: text for name, text in contents(hosts).items() if name in before} == before
    assert cli("setup", "codex", "--own-memory", "half").code == 2
