"""Registers the server and the hooks with a host, and undoes exactly that.

``setup.json`` beside the user's memories records the changes, with a copy of each original file.
Registering again starts from the file without our changes, so nothing is added twice.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memstore import settings
from memstore.faces.hosts import catalogue, claude_code, files
from memstore.faces.hosts.files import MISSING, Changed, Edit, SettingsUnreadable

if TYPE_CHECKING:
    from memstore.faces.hosts.catalogue import Host, Wanted


@dataclass
class Done:
    """The changes made for a host, for the user or for one project."""

    host: str
    project: str | None = None
    files: list[Changed] = field(default_factory=list)
    command: dict[str, Any] | None = None
    """The entry registered by the host's own command, and the one it replaced."""


@dataclass
class Step:
    """A file to change: its present text, its text without our changes, and its new text."""

    file: str
    text: str | None
    base: str | None
    new: str | None
    edits: list[dict[str, Any]]
    folders: list[str]


def install(host: Host, wanted: Wanted, *, dry_run: bool = False) -> list[str]:
    """Register with a host; return the diff, empty if everything is registered already."""
    done = _done(host, wanted.project)
    steps = [_step(file, edits, done) for file, edits in _by_file(host, wanted).items()]
    wanted_files = {step.file for step in steps}
    steps += [_back(change) for change in done.files if change.file not in wanted_files]
    told: list[str] = []
    if host.name == "claude-code":
        told += _register_claude(wanted, done, dry_run=dry_run)
    for step in steps:
        if step.new != step.text:
            told += files.difference(step.file, step.text, step.new)
            if not dry_run:
                _write(step, done)
    return told


def uninstall(host: Host, project: Path | None, *, dry_run: bool = False) -> list[str]:
    """Undo :func:`install` and nothing else; return the diff."""
    done = _done(host, project)
    told = []
    for change in done.files[::-1]:  # two files may be in the same new folder
        step = _back(change)
        told += files.difference(step.file, step.text, step.new)
        if not dry_run:
            _write(step, done)
    if done.command is not None:
        ours = claude_code.registered(project) == done.command["server"]
        told += _command_lines(done.command["server"], done.command["before"]) if ours else []
        if not dry_run:
            if ours:
                claude_code.register(done.command["before"], project)
            done.command = None
            _keep(done)
    return told


def everything() -> list[Done]:
    """Return the recorded changes of every host and project."""
    try:
        return [
            Done(**{**one, "files": [Changed(**change) for change in one["files"]]})
            for one in _held()["hosts"]
        ]
    except (TypeError, KeyError) as error:
        raise SettingsUnreadable(f"{str(_file())!r} cannot be read: {error}") from None


def _held() -> dict[str, Any]:
    """Return the contents of ``setup.json``, with the folders that were created for it."""
    text = files.read(_file())
    if text is None:
        return {"hosts": [], "folders": files.missing_folders(_file())}
    try:
        return dict(json.loads(text))
    except (ValueError, TypeError) as error:
        raise SettingsUnreadable(f"{str(_file())!r} cannot be read: {error}") from None


def _done(host: Host, project: Path | None) -> Done:
    name = str(project) if project else None
    for one in everything():
        if (one.host, one.project) == (host.name, name):
            return one
    return Done(host.name, name)


def _keep(done: Done) -> None:
    folders = _held()["folders"]
    hosts = [x for x in everything() if (x.host, x.project) != (done.host, done.project)]
    if done.files or done.command is not None:
        hosts.append(done)
    if hosts:
        held = {"hosts": [asdict(one) for one in hosts], "folders": folders}
        files.write(_file(), json.dumps(held, indent=2, ensure_ascii=False) + "\n")
    else:
        files.write(_file(), None)
        files.remove_folders([str(_copies()), *folders])


def _file() -> Path:
    return Path(settings.data_folder(), "setup.json")


def _copies() -> Path:
    return Path(settings.data_folder(), "setup")


def _by_file(host: Host, wanted: Wanted) -> dict[Path, list[Edit]]:
    found: dict[Path, list[Edit]] = {}
    for file, edit in [*host.server(wanted), *host.hooks(wanted)]:
        found.setdefault(file, []).append(edit)
    return found


def _step(file: Path, edits: list[Edit], done: Done) -> Step:
    text = files.read(file)
    before = next((change for change in done.files if change.file == str(file)), None)
    base = text if before is None else files.undone(before, text)
    new, made = files.edited(file, base, edits)
    return Step(str(file), text, base, new, made, before.folders if before else [])


def _back(change: Changed) -> Step:
    text = files.read(Path(change.file))
    base = files.undone(change, text)
    return Step(change.file, text, base, base, [], change.folders)


def _write(step: Step, done: Done) -> None:
    """Write a file and a copy of the original; recorded first, so that a crash can be undone."""
    earlier = [change for change in done.files if change.file == step.file]
    done.files = [change for change in done.files if change.file != step.file]
    if step.edits and step.new is not None:
        folders = [*dict.fromkeys([*step.folders, *files.missing_folders(Path(step.file))])]
        copy = None
        if step.base is not None:
            copy = str(_copies() / f"{files.digest(step.file)[:8]}-{Path(step.file).name}")
        done.files.append(Changed(step.file, step.edits, files.digest(step.new), copy, folders))
        _keep(done)
        if copy is not None and step.base is not None:
            files.write(Path(copy), step.base)
        files.write(Path(step.file), step.new)
        return
    files.write(Path(step.file), step.new)
    if step.new is None:
        files.remove_folders(step.folders)
    for change in earlier:
        if change.copy is not None:
            Path(change.copy).unlink(missing_ok=True)
    _keep(done)


def _register_claude(wanted: Wanted, done: Done, *, dry_run: bool) -> list[str]:
    server = {"type": "stdio", **catalogue.stdio(wanted)}
    there = claude_code.registered(wanted.project)
    if there == server:
        return []
    if not dry_run:
        ours = done.command is not None and there == done.command["server"]
        before = done.command["before"] if ours and done.command else there
        claude_code.register(server, wanted.project)
        done.command = {"server": claude_code.registered(wanted.project), "before": before}
        _keep(done)
    return _command_lines(there, server)


def _command_lines(old: Any, new: Any) -> list[str]:
    """Return the change made by the host's own command, as a diff."""
    lines = ["--- claude mcp", "+++ claude mcp"]
    for sign, server in (("-", old), ("+", new)):
        if server != MISSING:
            shown = {name: server.get(name) for name in ("command", "args")}
            lines.append(f"{sign}{json.dumps(shown, ensure_ascii=False)}")
    return lines
