"""Reads what a session did from the tool calls in the host's transcript.

Paths of changed files, first lines of commit messages, first words of commands that failed: never
the contents of files, the output of commands or the arguments that follow. A record that has
another form than expected is skipped; it does not affect the others.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

from memstore.domain import clock
from memstore.faces.hosts import transcripts
from memstore.named import NamedTuple
from memstore.text import secrets
from memstore.text.escaping import visible

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

MAX_COMMAND_CHARACTERS: Final = 8_000
MAX_WORD_CHARACTERS: Final = 40
MAX_MESSAGE_CHARACTERS: Final = 120
MAX_PATH_CHARACTERS: Final = 200
MAX_WORDS: Final = 4
"""Words of a failed command that are kept."""

MAX_KEPT: Final = 50
"""Files, commits or failed commands of a session that are kept, the latest ones."""

FILE_KEYS: Final = ("file_path", "notebook_path", "absolute_path", "path")
WRITING: Final = frozenset(
    "write edit multiedit notebookedit write_file replace search_replace edit_file".split()
)
"""The tools of hosts that change one file."""

RUNNING: Final = frozenset("bash run_shell_command run_terminal_cmd shell".split())
"""The tools of hosts that run a command."""

COMMIT: Final = re.compile(r"\bgit(?:\s+-{1,2}[^\n;|&]{1,100}?)?\s+commit\b(?!-)")
MESSAGE: Final = re.compile(
    r"\s(?:-[a-zA-Z]*m|--message)(?:\s+|=|(?=[\"']))"
    r"(?:\"\$\(cat\s+<<-?\s*['\"]?\w+['\"]?\n(?P<here>[^\n]*)"
    r"|\"(?P<double>(?:[^\"\\]|\\.)*)\"|'(?P<single>[^']*)'|(?P<bare>[^\s\"']+))"
)
ASSIGNMENT: Final = re.compile(r"[A-Za-z_]\w*=")
PLAIN: Final = re.compile(r"[\w./+,-]+")
"""A word that may be kept: no quotes, addresses, assignments or substitutions."""

FAILED_IN_TEXT: Final = re.compile(r"^Exit Code: [1-9]\d*\s*$", re.MULTILINE)
"""How Gemini CLI reports that a command failed; the call itself succeeds."""


class Deed(NamedTuple):
    """One tool call: the files it was to change or the command it was to run."""

    files: tuple[str, ...]
    command: str
    failed: bool


class Trace(NamedTuple):
    """What a session did, each list from first to last."""

    changed: list[str]
    committed: list[str]
    failed: list[str]
    began: str | None
    """The time of the first record that has one."""
    ended: str | None


def trace(path: Path, root: str) -> Trace:
    """Return what the session of a transcript did; paths are relative to the project's root."""
    changed: dict[str, None] = {}
    committed: dict[str, None] = {}
    failed: dict[str, None] = {}
    pending: dict[str, Deed] = {}
    times: list[Any] = []
    for _, record in transcripts.records(path, Counter()):
        if _is_time(at := record.get("timestamp")):
            times = [*times[:1], at]
        for deed in _done(record, pending):
            if deed.failed:
                _last(failed, filter(None, [_first_words(deed.command)]))
            else:
                _last(changed, (_relative(file, root) for file in deed.files))
                _last(committed, _messages(deed.command))
    return Trace(
        changed=_kept(changed),
        committed=_kept(committed),
        failed=_kept(failed),
        began=times[0] if times else None,
        ended=times[-1] if times else None,
    )


def _kept(texts: Iterable[str]) -> list[str]:
    """Return the latest texts, without secrets."""
    return [secrets.redacted(text, secrets.find(text)) for text in [*texts][-MAX_KEPT:]]


def _is_time(value: Any) -> bool:
    try:
        clock.from_text(value)
    except (ValueError, TypeError, AttributeError):
        return False
    return True


def _last(kept: dict[str, None], new: Iterable[str]) -> None:
    for text in new:
        kept.pop(text, None)
        kept[text] = None


def _done(record: Mapping[str, Any], pending: dict[str, Deed]) -> Iterator[Deed]:
    """Yield the tool calls that a record completes; those that it only begins become pending."""
    payload = record.get("payload")
    if isinstance(payload, dict):  # Codex
        yield from _of_codex(payload)
    calls = record.get("toolCalls")
    if isinstance(calls, list):  # Gemini CLI
        for call in calls:
            if isinstance(call, dict):
                yield from _of_gemini(call)
    for one in transcripts.together(record) or ():  # Gemini CLI, several at once
        if isinstance(one, dict) and transcripts.together(one) is None:
            yield from _done(one, pending)
    message = record.get("message")
    parts = message.get("content") if isinstance(message, dict) else None
    for part in parts if isinstance(parts, list) else ():  # Claude Code
        if isinstance(part, dict):
            yield from _of_claude(part, pending)


def _of_claude(part: Mapping[str, Any], pending: dict[str, Deed]) -> Iterator[Deed]:
    if part.get("type") == "tool_use":
        deed = _called(part.get("name"), part.get("input"), failed=False)
        pending[str(part.get("id"))] = deed
    elif part.get("type") == "tool_result":
        found = pending.pop(str(part.get("tool_use_id")), None)
        if found is not None:
            yield found._replace(failed=part.get("is_error") is True)


def _of_codex(payload: Mapping[str, Any]) -> Iterator[Deed]:
    item = payload.get("item") if payload.get("type") == "item_completed" else payload
    if not isinstance(item, dict) or item.get("status") == "declined":
        return
    kind, changes = item.get("type"), item.get("changes")
    if kind in ("CommandExecution", "exec_command_end"):
        code = item.get("exit_code")
        yield Deed((), _shell_line(item.get("command")), isinstance(code, int) and code != 0)
    elif kind in ("FileChange", "patch_apply_end") and isinstance(changes, dict):
        failed = item.get("status") == "failed" or item.get("success") is False
        yield Deed(tuple(map(str, changes)), "", failed)


def _of_gemini(call: Mapping[str, Any]) -> Iterator[Deed]:
    status = call.get("status")
    if status in ("success", "error"):  # else it is not finished, or was refused
        failed = status == "error" or FAILED_IN_TEXT.search(_output(call.get("result"))) is not None
        yield _called(call.get("name"), call.get("args"), failed)


def _output(result: Any) -> str:
    """Return the text that a tool of Gemini CLI gave to the model."""
    for part in result if isinstance(result, list) else ():
        response = part.get("functionResponse") if isinstance(part, dict) else None
        answer = response.get("response") if isinstance(response, dict) else None
        if isinstance(answer, dict) and isinstance(answer.get("output"), str):
            return str(answer["output"])
    return ""


def _called(name: Any, given: Any, failed: bool) -> Deed:
    tool = str(name).lower()
    arguments = given if isinstance(given, dict) else {}
    if tool in WRITING:
        files = (arguments.get(key) for key in FILE_KEYS)
        return Deed(tuple(file for file in files if isinstance(file, str)), "", failed)
    if tool in RUNNING:
        return Deed((), _shell_line(arguments.get("command")), failed)
    return Deed((), "", failed)


def _shell_line(command: Any) -> str:
    """Return a command as one text; hosts wrap it as ``bash -lc TEXT``."""
    if isinstance(command, list):
        words = [str(word) for word in command]
        wrapped = len(words) == 3 and words[1].startswith("-")
        command = words[2] if wrapped else " ".join(words)
    return command[:MAX_COMMAND_CHARACTERS] if isinstance(command, str) else ""


def _relative(file: str, root: str) -> str:
    for top in (root, os.path.realpath(root)) if os.path.isabs(file) else ():
        # The file's own links are not resolved: it may be gone, and its name may be no valid text.
        inside = os.path.relpath(os.path.normpath(file), top)
        if not inside.startswith(".."):
            return _one_line(inside, MAX_PATH_CHARACTERS)
    return _one_line(file, MAX_PATH_CHARACTERS)


def _messages(command: str) -> Iterator[str]:
    """Yield the first line of the message of each ``git commit`` in a command."""
    starts = [match.end() for match in COMMIT.finditer(command)]
    for start, stop in pairwise([*starts, len(command)]):
        found = MESSAGE.search(command, start, stop)
        message = "" if found is None else next(filter(None, found.groups()), "")
        if message := _one_line(message.strip().split("\n")[0], MAX_MESSAGE_CHARACTERS):
            yield message


def _first_words(command: str) -> str:
    """Return the program and the first plain words of a command, without values set before it."""
    told: list[str] = []
    for word in command.strip().split("\n")[0].split():
        if not told and ASSIGNMENT.match(word):
            continue
        if not PLAIN.fullmatch(word) or len(told) == MAX_WORDS:
            break
        told.append(word[:MAX_WORD_CHARACTERS])
    return " ".join(told)


def _one_line(text: str, most: int) -> str:
    line = visible(" ".join(text[: 2 * MAX_PATH_CHARACTERS].split()))
    return line if len(line) <= most else f"{line[:most]}…"
