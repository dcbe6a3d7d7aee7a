"""Starts the registered server and a hook as the host would, and reports the results."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
import threading
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final

from memstore import settings
from memstore.domain import clock
from memstore.errors import MemstoreError
from memstore.faces.hosts import catalogue, claude_code, edits, files, hook, remote, servers
from memstore.faces.hosts.claude_code import MISSING
from memstore.faces.hosts.placing import at
from memstore.named import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from memstore.faces.hosts.record import Done

PATIENCE_SECONDS: Final = 30
PROTOCOL: Final = "2025-06-18"


LEFT_BY_HOSTS: Final = frozenset(
    """HOME LANG LC_ALL LOGNAME SHELL TERM TMPDIR TZ USER
    APPDATA COMSPEC HOMEDRIVE HOMEPATH LOCALAPPDATA PATHEXT PROGRAMFILES SYSTEMDRIVE SYSTEMROOT TEMP
    TMP USERNAME USERPROFILE""".split()
)
"""The variables that Codex, the most restrictive host, passes to servers; the second half is for
Windows."""


class CheckedProgram(NamedTuple):
    """A program that was started, and the result."""

    what: str
    command: str
    works: bool
    answer: str


def seen(done: Done) -> Iterator[CheckedProgram]:
    """Start a host's server and one of its hooks.

    As in a real host, the server gets a minimal environment and the hook the full one.
    """
    project = Path(done.project) if done.project else None
    registered = claude_code.registered(project) if done.command is not None else None
    hook = None
    for change in done.files:
        for made in change.applied:
            if made.how == "append":
                hook = hook or made.value
            elif made.how == "put" and isinstance(made.value, dict):  # no switch
                registered = _value(Path(change.file), made.path)
    if registered is not None:
        yield _server(registered, project)
    if done.command is not None and registered != MISSING and not _shows_tools(registered):
        yield CheckedProgram("tools", "", False, HIDDEN)
    if hook is not None:
        yield _hook(hook, project, catalogue.by_name()[done.host].note)
    here = project or Path(settings.project_folder())
    if done.host == "claude-code" and (plugin := claude_code.plugin(here)) is not None:
        yield CheckedProgram("plugin", "", False, TWICE.format(plugin=plugin))


TWICE: Final = (
    "the plugin {plugin} is enabled beside setup, so that each hook runs twice: disable it with "
    "claude plugin disable {plugin}, or run memstore setup claude-code --uninstall"
)
HIDDEN: Final = (
    "newer versions of Claude Code show the model only some of the tools, because the entry has no "
    '"alwaysLoad": true: run memstore setup again'
)


def _shows_tools(registered: Any) -> bool:
    return all(registered.get(name) == value for name, value in catalogue.SHOWN.items())


def _value(file: Path, path: Sequence[str]) -> Any:
    try:
        return at(edits.language_of(file).value(files.read(file) or ""), path)
    except (KeyError, ValueError, files.SettingsUnreadable):
        return MISSING


def _server(registered: Any, project: Path | None) -> CheckedProgram:
    if registered == MISSING:
        return CheckedProgram("server", "", False, "it is no longer registered")
    if url := registered.get("url") or registered.get("httpUrl"):
        return _remote(url)
    command = registered["command"]
    environment = {**registered.get("env", {}), **registered.get("environment", {})}
    words = command if isinstance(command, list) else [command, *registered.get("args", [])]
    began = clock.monotonic()
    try:
        answers, said = _answers_of(words, environment, project)
    except OSError as error:
        return CheckedProgram("server", words[0], False, f"it does not start: {error.strerror}")
    took = clock.monotonic() - began
    if len(answers) < 2:
        return CheckedProgram(
            "server", words[0], False, f"no answer after {took:.1f} s{_last_line(said)}"
        )
    program = answers[0]["result"]["serverInfo"]
    tools = len(answers[1]["result"]["tools"])
    told = f"{program['name']} {program['version']} offered {tools} tools after {took:.1f} s"
    return CheckedProgram("server", words[0], True, told)


def _remote(url: str) -> CheckedProgram:
    began = clock.monotonic()
    try:
        told = remote.check(url, servers.token(url), None)
    except MemstoreError as error:
        return CheckedProgram("server", url, False, str(error))
    took = clock.monotonic() - began
    access = "reads and writes" if told.get("access") == "write" else "reads"
    return CheckedProgram(
        "server",
        url,
        True,
        f"memstore {told.get('version')} answered after {took:.1f} s: the "
        f"token {access} in {told.get('namespace')}",
    )


def _last_line(said: str) -> str:
    lines = said.strip().splitlines()
    return f": {lines[-1].strip()}" if lines else ""


def _answers_of(
    words: list[str], environment: dict[str, str], project: Path | None
) -> tuple[list[dict[str, Any]], str]:
    with tempfile.TemporaryFile() as errors:
        answers = _conversation(words, environment, project, errors)
        errors.seek(0)
        return answers, errors.read().decode(errors="replace")


def _conversation(
    words: list[str], environment: dict[str, str], project: Path | None, errors: IO[bytes]
) -> list[dict[str, Any]]:
    client = {"protocolVersion": PROTOCOL, "capabilities": {}}
    client["clientInfo"] = {"name": "memstore setup", "version": "1"}
    server = subprocess.Popen(  # noqa: S603 - the command that we registered
        words,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=errors,
        cwd=project or tempfile.gettempdir(),
        env={**_poor_environment(), **environment},
        encoding="utf-8",
    )
    assert server.stdin is not None
    assert server.stdout is not None
    watch = threading.Timer(PATIENCE_SECONDS, server.kill)
    watch.start()
    answers = []
    try:
        with server.stdin as said, server.stdout as heard:
            for message in (
                {"id": 1, "method": "initialize", "params": client},
                {"method": "notifications/initialized"},
                {"id": 2, "method": "tools/list"},
            ):
                said.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
                said.flush()
                if "id" in message and (line := heard.readline()):
                    answers.append(json.loads(line))
    except (OSError, ValueError):  # it ended, or did not answer with JSON
        pass
    finally:
        watch.cancel()
        server.kill()
        server.wait()
    return [answer for answer in answers if "result" in answer]


def _hook(registered: dict[str, Any], project: Path | None, note: str) -> CheckedProgram:
    inner = registered["hooks"][0] if "hooks" in registered else registered
    words = [inner["command"], *inner.get("args", [])]
    in_shell = "args" not in inner
    line: str = words[0] if in_shell else subprocess.list2cmdline(words)
    # Where it was called, as the host's next session there would.
    folder = str(project or settings.project_folder())
    began = clock.monotonic()
    try:
        done = subprocess.run(  # noqa: S603 - as the host runs it
            line if in_shell else words,
            shell=in_shell,
            input=json.dumps({"cwd": folder}),  # of no session, so that nothing is remembered
            cwd=folder,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=PATIENCE_SECONDS,
            check=False,
        )
        answer = json.loads(done.stdout or "{}")
    except (subprocess.TimeoutExpired, ValueError) as error:
        return CheckedProgram("hooks", line, False, f"no answer from the hook: {error}")
    took = clock.monotonic() - began
    # Messages of uvx about its own work are not errors.
    if done.returncode or not isinstance(answer, dict) or hook.TROUBLE in done.stderr:
        said = f"exit code {done.returncode}{_last_line(done.stderr)}"
        return CheckedProgram("hooks", line, False, said)
    told = "added context at session start" if answer else "had no context to add at session start"
    told = f"{told} after {took:.1f} s"
    return CheckedProgram("hooks", line, True, f"{told}; {note}" if note else told)


def _poor_environment() -> dict[str, str]:
    """Return the minimal environment that hosts pass to the servers they start."""
    found = {
        name: value
        for name, value in settings.environment().items()
        if name.upper() in LEFT_BY_HOSTS
    }
    return {**found, "PATH": os.defpath}
