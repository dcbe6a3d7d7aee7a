"""Registers the server and the hooks with a host, and undoes exactly that.

Registering again starts from the file without our changes, so nothing is added twice.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from memstore.errors import MemstoreError
from memstore.faces.hosts import (
    catalogue,
    claude_code,
    edits,
    files,
    record,
    remote_entries,
    unkept,
)
from memstore.faces.hosts.claude_code import MISSING
from memstore.faces.hosts.edits import AppliedEdit, ChangedFile, Edit
from memstore.faces.hosts.files import SettingsChanged, SettingsUnreadable
from memstore.faces.hosts.record import HostCommand
from memstore.named import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

    from memstore.faces.hosts.catalogue import Host, Registration
    from memstore.faces.hosts.record import Done, SetupRecord

ATTEMPTS: Final = 10
"""How often a file is read again that another program changed in the meantime."""


class SetupFailed(MemstoreError):
    """A host was not set up, or not completely."""


class FileChange(NamedTuple):
    """A file that was changed, with the lines that were removed and added."""

    file: str
    lines: list[str]
    """A diff without context lines."""

    @property
    def summary(self) -> str:
        """The file, and how many lines were added and removed."""
        signs = [line[0] for line in self.lines[2:]]
        return f"{self.file} (+{signs.count('+')} -{signs.count('-')} lines)"


@dataclass
class FileStep:
    """A file to change: its present text, its new text, and our edits in that."""

    file: Path
    text: str | None
    new: str | None
    applied: list[AppliedEdit]
    earlier: ChangedFile | None
    is_current: bool = False
    """Whether the file and the record are as wanted."""

    @property
    def is_change(self) -> bool:
        return self.new != self.text


class _Work:
    """The work for one host; without a record, nothing is changed."""

    def __init__(
        self,
        done: Done,
        record: SetupRecord | None,
        changes: list[FileChange],
        *,
        private: bool = False,
    ) -> None:
        self.done = done
        self.record = record
        self.changes = changes
        self.private = private
        """Whether the files hold a token from now on."""

    def keep(self, changed: ChangedFile | None = None) -> None:
        """Record what was done, with the changes to one file."""
        if changed is not None:
            others = [one for one in self.done.files if one.file != changed.file]
            self.done.files = [*others, changed] if changed.states else others
        if self.record is not None:
            self.record.keep(self.done)


def install(host: Host, wanted: Registration, *, dry_run: bool = False) -> list[FileChange]:
    """Register with a host; return the changes, none if everything is registered already."""
    if not dry_run and (wanted.hook is None or not wanted.keeps):
        unkept.keep_no_ends(host.name)
    return _run(
        host,
        wanted.project,
        lambda work: _install(host, wanted, work),
        dry_run=dry_run,
        private=wanted.secret is not None,
    )


def uninstall(host: Host, project: Path | None, *, dry_run: bool = False) -> list[FileChange]:
    """Undo :func:`install` and nothing else; return the changes."""
    if not dry_run:
        unkept.keep_no_ends(host.name)
    return _run(host, project, lambda work: _uninstall(host, project, work), dry_run=dry_run)


def _run(
    host: Host,
    project: Path | None,
    work: Callable[[_Work], None],
    *,
    dry_run: bool,
    private: bool = False,
) -> list[FileChange]:
    if dry_run:
        planned = _Work(record.of(host.name, project), None, [])
        work(planned)
        return planned.changes
    changes: list[FileChange] = []
    try:
        with record.locked() as held:
            for attempt in range(ATTEMPTS):
                doing = _Work(record.of(host.name, project), held, changes, private=private)
                try:
                    work(doing)
                    break
                except SettingsChanged:
                    if attempt + 1 == ATTEMPTS:
                        raise
    except (MemstoreError, OSError) as error:
        before = ", ".join(one.file for one in changes)
        rest = f"before that, {before} was changed" if changes else "nothing was changed there"
        raise SetupFailed(f"{error}; {rest}") from error
    return changes


def _install(host: Host, wanted: Registration, work: _Work) -> None:
    ours, foreign = _divided(host, wanted.project, work.done.files)
    steps = [_step(file, edits, ours) for file, edits in _by_file(host, wanted).items()]
    wanted_files = {str(step.file) for step in steps}
    steps += [_back(change) for change in ours if change.file not in wanted_files]
    if host.name == "claude-code":
        _register_claude(wanted, work)
    for step in steps:
        _take(step, work)
    memory = wanted.memory if host.in_folder or wanted.project else None
    if work.done.memory != memory:
        work.done.memory = memory
        work.keep()
    _refuse(foreign)


def _uninstall(host: Host, project: Path | None, work: _Work) -> None:
    ours, foreign = _divided(host, project, work.done.files)
    for step in [_back(change) for change in ours[::-1]]:
        _take(step, work)  # backwards, because two files may be in the same new folder
    command = work.done.command
    if command is not None:
        there = claude_code.registered(project)
        if there in command.ours:
            work.changes.append(_command_change(there, command.before))
            if work.record is not None:
                claude_code.register(command.before, project)
        work.done.command = None
        work.keep()
    _refuse(foreign)


def _divided(
    host: Host, project: Path | None, changes: list[ChangedFile]
) -> tuple[list[ChangedFile], list[ChangedFile]]:
    """Return the recorded changes that setup makes for a host, and others.

    A record may have come with a copied home folder, or somebody may have written into it. So a
    change is undone only in a file where this host has its settings, at a place where setup puts
    something, and if it is an entry of memstore.
    """
    places = _places(host, project)

    def is_ours(change: ChangedFile) -> bool:
        known = places.get(change.file, [])
        applied = (one.edit for state in change.states for one in state)
        return all(any(_is_like(edit, other) for other in known) for edit in applied)

    ours = [change for change in changes if change.file in places and is_ours(change)]
    return ours, [change for change in changes if change not in ours]


def _places(host: Host, project: Path | None) -> dict[str, list[Edit]]:
    """Return what setup may put into the files of a host."""
    programs = ["memstore-mcp"], ["memstore"]
    wanted = catalogue.Registration(*programs, [], "auto", True, project, {})
    found: dict[str, list[Edit]] = {}
    for file, edit in [
        *host.server(wanted),
        *host.hooks(wanted),
        *host.own_memory_off(wanted),
    ]:
        found.setdefault(str(file), []).append(edit)
    return found


def _is_like(edit: Edit, known: Edit) -> bool:
    """Return whether an edit is one that setup makes, perhaps with other flags or by a version."""
    if (edit.path, edit.how) != (known.path, known.how):
        return False
    names_us = catalogue.NAME in (edit.path[-1] if edit.how == "put" else json.dumps(edit.value))
    return names_us or edit.value == known.value


def _refuse(foreign: list[ChangedFile]) -> None:
    if foreign:
        names = ", ".join(repr(one.file) for one in foreign)
        raise SettingsUnreadable(
            f"the record of setup names changes that setup does not make, in {names}: left as they "
            "are"
        )


def _by_file(host: Host, wanted: Registration) -> dict[Path, list[Edit]]:
    found: dict[Path, list[Edit]] = {}
    server = host.server(wanted) if wanted.url is None else remote_entries.edits_of(host, wanted)
    memory = host.own_memory_off(wanted) if wanted.own_memory == "off" else []
    for file, edit in [*server, *host.hooks(wanted), *memory]:
        found.setdefault(file, []).append(edit)
    return found


def _step(file: Path, wanted: list[Edit], done: list[ChangedFile]) -> FileStep:
    text = files.read(file)
    earlier = next((change for change in done if change.file == str(file)), None)
    if earlier is not None and text is not None and _is_current(earlier, wanted, text):
        return FileStep(file, text, text, earlier.applied, earlier, is_current=True)
    base = text if earlier is None else edits.undone(earlier, text)
    new, made = edits.edited(file, base or "", wanted)
    return FileStep(file, text, new, made, earlier)


def _is_current(earlier: ChangedFile, wanted: list[Edit], text: str) -> bool:
    """Return whether a file has everything that is wanted, and nothing else of ours."""
    file = Path(earlier.file)
    try:
        value = edits.language_of(file).value(text)
    except ValueError as error:
        raise SettingsUnreadable(f"{earlier.file!r}: {error}") from None
    if not all(edits.stands(value, edit) for edit in wanted):
        return False
    return all(made.edit in wanted for state in earlier.states for made in state)


def _back(change: ChangedFile) -> FileStep:
    file = Path(change.file)
    text = files.read(file)
    return FileStep(file, text, edits.undone(change, text), [], change)


def _take(step: FileStep, work: _Work) -> None:
    """Change a file. What will be in it is recorded first, beside what may be in it now."""
    changes = FileChange(str(step.file), files.difference(str(step.file), step.text, step.new))
    if work.record is None:
        work.changes += [changes] if step.is_change else []
        return
    files.sweep(step.file)
    if step.is_current:
        return
    now = _recorded(step)
    work.keep(now)
    if step.is_change:
        files.write(step.file, step.new, over=step.text, private=work.private)
        work.changes.append(changes)
    if step.new is None:
        files.remove_folders(now.folders, step.file)
    now.states = [step.applied] if step.applied else []
    work.keep(now)


def _recorded(step: FileStep) -> ChangedFile:
    earlier = step.earlier or ChangedFile(str(step.file), [])
    states = [state for state in [step.applied, *earlier.states] if state]
    folders = dict.fromkeys([*earlier.folders, *files.missing_folders(step.file)])
    return ChangedFile(str(step.file), states, step.text is None or earlier.created, [*folders])


def _register_claude(wanted: Registration, work: _Work) -> None:
    server = {"type": "stdio", **catalogue.stdio(wanted), **catalogue.SHOWN}
    if wanted.url is not None:
        server = remote_entries.of_claude(wanted)
    there = claude_code.registered(wanted.project)
    if there == server:
        return
    earlier = work.done.command
    if work.record is not None:
        ours = earlier.ours if earlier is not None else []
        before = earlier.before if earlier is not None and there in ours else there
        work.done.command = HostCommand([server, *ours], before)
        work.keep()
        claude_code.register(server, wanted.project)
        # Claude Code may write it in another way.
        work.done.command = HostCommand([claude_code.registered(wanted.project)], before)
        work.keep()
    work.changes.append(_command_change(there, server))


def _command_change(old: Any, new: Any) -> FileChange:
    name = "claude mcp"
    lines = [f"--- {name}", f"+++ {name}"]
    for sign, server in (("-", old), ("+", new)):
        if server != MISSING:
            names = ("command", "args") if "url" not in server else ("url", "headersHelper")
            shown = {key: server.get(key) for key in (*names, *catalogue.SHOWN)}
            lines.append(f"{sign}{json.dumps(shown, ensure_ascii=False)}")
    return FileChange(name, lines)
