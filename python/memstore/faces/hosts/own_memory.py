"""Finds and reads the Markdown files in which hosts remember, and follows them as facts.

Claude Code has a folder for each project, ``projects/NAME/memory`` in its own; Gemini CLI one for
each project and ``GEMINI.md`` for all of them; Codex one for everything. The files in a repository
(``CLAUDE.md``, ``AGENTS.md``, ``GEMINI.md``) are not among them: those are instructions, which
others share. What agents do to the files is followed when a session is kept
(:mod:`memstore.faces.hosts.keeping`); memstore never writes them.
"""

from __future__ import annotations

import json
import os
import re
import stat
from collections import Counter
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING, Any, Final

from memstore import projects, settings
from memstore.domain import clock
from memstore.domain.arguments import MAX_NAME
from memstore.domain.records import NewFact
from memstore.errors import MemstoreError
from memstore.faces.escaping import counted
from memstore.faces.hosts import catalogue, placing, transcripts
from memstore.facts import following
from memstore.facts.following import FilesReading, Stated
from memstore.importing import memory_files
from memstore.importing.memory_files import PREFERENCE, PROJECT
from memstore.lazy import lazy_import
from memstore.named import NamedTuple
from memstore.store.store import follow_files
from memstore.text import notes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from memstore.faces.hosts import toml
    from memstore.facts.following import Followed
    from memstore.store.store import Store
else:
    toml = lazy_import("memstore.faces.hosts.toml")

MAX_BYTES: Final = 1_000_000
"""Bytes of a file that is read."""
MAX_FILES: Final = 1_000
"""Files of a folder that are read."""
MAX_CHARACTERS: Final = 20_000
"""Characters of a text that becomes a fact."""

CLAUDE, CODEX, GEMINI = "claude-code", "codex", "gemini-cli"
FOLDER: Final = "memory"
REPOSITORY: Final = "repository"
"""The source of files in a project's own folder, which others may have written: external text."""

CHARACTERS: Final = re.compile(r"[^a-zA-Z0-9]")
"""What Claude Code replaces in the path of a project."""

WRITING: Final = frozenset({"write", "write_file"})
EDITING: Final = frozenset({"edit", "multiedit", "replace"})


class MemoryFolder(NamedTuple):
    """A folder in which a host remembers."""

    host: str
    folder: Path
    files: tuple[str, ...] = ()
    """The files that are read; all Markdown if there are none."""
    category: str = PROJECT
    """Of what has no type of its own."""
    is_of_user: bool = False
    """Whether it is for every project."""

    @property
    def name(self) -> str:
        """Its path, from the home folder on."""
        return shown(self.folder)


class FilesContent(NamedTuple):
    """What the files of a place say."""

    place: MemoryFolder
    memories: list[tuple[str, memory_files.FileFact, bool]]
    """Each with its file, and whether it is all that the file says."""
    unread: frozenset[str]
    at: dict[str, str]
    """When each file was last written."""
    left_out: int
    is_complete: bool = True
    """Whether files that are not named are gone."""


def shown(path: Path) -> str:
    """Return a path as people write it, with ``~`` for the home folder."""
    home = Path.home()
    return f"~/{path.relative_to(home).as_posix()}" if path.is_relative_to(home) else str(path)


# -- where -------------------------------------------------------------------------------------


def gemini_folder() -> Path:
    return Path(settings.host_folder("GEMINI_CLI_HOME") or Path.home(), ".gemini")


def places(host: str, project: Path, transcript: Path | None = None) -> list[MemoryFolder]:
    """Return the places of a host for a project, whether they exist or not.

    Args:
        project: the root of the project.
        transcript: of a session in it, beside which Claude Code remembers.
    """
    if host == CLAUDE:
        return _of_claude(project, transcript)
    if host == CODEX:
        return [MemoryFolder(CODEX, catalogue.codex_folder() / "memories", (memory_files.INDEX,))]
    if host == GEMINI:
        folder = gemini_folder()
        found = [MemoryFolder(GEMINI, folder, ("GEMINI.md",), PREFERENCE, is_of_user=True)]
        if name := gemini_names().get(str(project)):
            found.append(MemoryFolder(GEMINI, folder / "tmp" / name / FOLDER))
        return found
    return []


def every_place(host: str, root: Path | None = None) -> Iterator[MemoryFolder]:
    """Yield the places of a host that exist, for all projects.

    Args:
        root: the host's folder; by default, that of this user.
    """
    folder = folder_of(host) if root is None else root
    inside = {CLAUDE: "projects", GEMINI: "tmp"}.get(host)
    if inside is not None:
        for found in sorted((folder / inside).glob(f"*/{FOLDER}")):
            if found.is_dir() and not found.is_symlink():
                yield MemoryFolder(host, found)
    whole = MemoryFolder(host, folder, ("GEMINI.md",), PREFERENCE, is_of_user=True)
    if host == CODEX:
        whole = MemoryFolder(host, folder / "memories", (memory_files.INDEX,))
    if host != CLAUDE and any((whole.folder / name).is_file() for name in whole.files):
        yield whole


def folder_of(host: str) -> Path:
    """Return the folder of a host that has a memory of its own."""
    folders = {CLAUDE: catalogue.claude_folder, CODEX: catalogue.codex_folder}
    return folders.get(host, gemini_folder)()


def _of_claude(project: Path, transcript: Path | None) -> list[MemoryFolder]:
    folder = catalogue.claude_folder()
    chosen = _settings_of(folder / "settings.json").get("autoMemoryDirectory")
    if isinstance(chosen, str) and chosen.strip():
        return [MemoryFolder(CLAUDE, Path(chosen).expanduser())]
    found = [folder / "projects" / CHARACTERS.sub("-", str(project)) / FOLDER]
    if transcript is not None and transcript.parent.parent.name == "projects":
        found.insert(0, transcript.parent / FOLDER)
    return [MemoryFolder(CLAUDE, one) for one in dict.fromkeys(found)]


def project_named(name: str) -> str | None:
    """Return the folder that Claude Code calls so; ``None`` unless there is one.

    It replaces all but letters and digits, so the folders on this disk are tried.
    """
    waiting = [(Path(os.sep), "-")]
    while waiting:
        folder, written = waiting.pop()
        try:
            inside = [one for one in os.scandir(folder) if one.is_dir(follow_symlinks=False)]
        except OSError:
            continue
        for one in inside:
            here = written + CHARACTERS.sub("-", one.name)
            if here == name:
                return one.path
            if name.startswith(f"{here}-"):
                waiting.append((Path(one.path), f"{here}-"))
    return None


def gemini_names() -> dict[str, str]:
    """Return the names that Gemini CLI gave to projects, by their folders."""
    named = _settings_of(gemini_folder() / "projects.json").get("projects")
    pairs = named.items() if isinstance(named, dict) else ()
    return {str(path): str(name) for path, name in pairs if "/" not in str(name)}


def _settings_of(file: Path) -> Mapping[str, Any]:
    try:
        stored = json.loads(file.read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}
    return stored if isinstance(stored, dict) else {}


# -- whether it is on ------------------------------------------------------------------------------


class HostMemory(NamedTuple):
    """What is known of a host's own memory."""

    host: str
    is_on: bool
    files: int
    """Files that are there, on or off."""
    places: int
    """The folders that they are in."""
    may_be_off: bool
    """Whether the host has a setting that turns it off."""

    @property
    def sentence(self) -> str:
        title = catalogue.by_name()[self.host].title
        there = f"{counted(self.files, 'file')} in {counted(self.places, 'folder')}"
        state = "on" if self.is_on else "off"
        return f"{title} has a memory of its own, which is {state}: {there}"


def state(host: str, project: Path | None = None) -> HostMemory | None:
    """Return what is known of a host's own memory; ``None`` if it has none.

    Args:
        project: the folder of a project, whose settings count too.
    """
    if host not in (CLAUDE, CODEX, GEMINI):
        return None
    found = [*every_place(host)]
    files = sum(len([*filter(None, map(_is_there(one), _names(one)))]) for one in found)
    is_on = {CLAUDE: _is_claude_on, CODEX: _is_codex_on}.get(host, lambda _: True)(project)
    return HostMemory(host, is_on, files, len(found), may_be_off=host != GEMINI)


def _is_there(place: MemoryFolder) -> Callable[[str], bool]:
    return lambda name: (place.folder / name).is_file()


def _is_claude_on(project: Path | None) -> bool:
    if (chosen := settings.host_folder("CLAUDE_CODE_DISABLE_AUTO_MEMORY")) is not None:
        return chosen.strip().lower() not in ("1", "true", "yes", "on")
    files = [catalogue.claude_folder() / "settings.json"]
    if project is not None:
        folder = project / ".claude"
        files = [folder / "settings.local.json", folder / "settings.json", *files]
    for file in files:
        said = _settings_of(file).get("autoMemoryEnabled")
        if isinstance(said, bool):
            return said
    return True


def _is_codex_on(project: Path | None) -> bool:
    folders = [catalogue.codex_folder(), *([project / ".codex"] if project is not None else [])]
    for folder in reversed(folders):
        try:
            stored = toml.value((folder / "config.toml").read_text("utf-8"))
            said = placing.at(stored or {}, ("features", "memories"))
        except (OSError, ValueError, KeyError):
            continue
        if isinstance(said, bool):
            return said
    return False


# -- reading -----------------------------------------------------------------------------------


def read(
    place: MemoryFolder, is_wanted: Callable[[str], bool] = lambda _: True
) -> FilesContent | None:
    """Read the files of a place; ``None`` if there is no such folder.

    Links are not followed, so that nothing outside of the folder is read. What cannot be read, or
    is too large, is named as unread.

    Args:
        is_wanted: whether the working folder that a memory names belongs here.
    """
    if not place.folder.is_dir() or place.folder.is_symlink():
        return None
    texts: dict[str, str] = {}
    unread: set[str] = set()
    at: dict[str, str] = {}
    for name in _names(place):
        if len(texts) == MAX_FILES:
            unread.add(name)
            continue
        try:
            texts[name], at[name] = _text(place.folder / name)
        except FileNotFoundError:
            continue
        except (OSError, ValueError):
            unread.add(name)
    return said(place, texts, at, frozenset(unread), is_wanted=is_wanted)


def said(
    place: MemoryFolder,
    texts: Mapping[str, str],
    at: dict[str, str],
    unread: frozenset[str] = frozenset(),
    *,
    is_wanted: Callable[[str], bool] = lambda _: True,
    is_complete: bool = True,
) -> FilesContent:
    """Return what texts of a place's files say."""
    memories: list[tuple[str, memory_files.FileFact, bool]] = []
    left_out = len(unread)
    for name, text in texts.items():
        note = notes.read(text, Path(name).stem)
        found = memory_files.read(note, Path(name).name, place.category)
        for one in found.memories:
            if one.folder is not None and not is_wanted(one.folder):
                continue
            if len(one.content) > MAX_CHARACTERS:
                left_out += 1
                continue
            memories.append((name, one, found.is_single))
    return FilesContent(place, memories, unread, at, left_out, is_complete)


def _names(place: MemoryFolder) -> list[str]:
    if place.files:
        return [*place.files]
    found: list[str] = []
    for folder, folders, files in os.walk(place.folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        inside = Path(folder).relative_to(place.folder)
        found += [
            (inside / name).as_posix()
            for name in sorted(files)
            if name.lower().endswith(".md") and not name.startswith(".")
        ]
    return found


def _text(file: Path) -> tuple[str, str]:
    """Return the text of a regular file, and when it was written."""
    opened = os.open(
        file, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    )
    with os.fdopen(opened, "rb") as handle:
        status = os.fstat(handle.fileno())
        if not stat.S_ISREG(status.st_mode) or status.st_size > MAX_BYTES:
            raise ValueError("it is no small regular file")
        text = handle.read(MAX_BYTES + 1).decode("utf-8-sig", "replace")
    written = datetime.fromtimestamp(status.st_mtime, UTC)
    return transcripts.mended(text), clock.to_text(min(written, clock.utc_now()))


# -- what a transcript says ------------------------------------------------------------------------


def written(host: str, transcript: Path) -> list[FilesContent]:
    """Return what a session wrote into places that are not on this disk, by its transcript.

    So what an agent remembered in a container that is gone is known. Where the folder exists, it
    says more than the transcript does.
    """
    texts: dict[Path, dict[str, str]] = {}
    at: dict[str, str] = {}
    for file, change, when in _written(transcript):
        found = _place_of(host, file)
        if found is None or found[0].is_dir():
            continue
        folder, name = found
        text = change(texts.get(folder, {}).get(name))
        if text is not None and len(text) <= MAX_BYTES:
            texts.setdefault(folder, {})[name] = transcripts.mended(text)
            if when is not None:
                at[name] = when
    return [
        said(MemoryFolder(host, folder), held, at, is_complete=False)
        for folder, held in texts.items()
    ]


def _place_of(host: str, file: str) -> tuple[Path, str] | None:
    """Return the folder of a host's memory that a path is in, and its name there."""
    path = Path(os.path.normpath(file))
    roots = {CLAUDE: catalogue.claude_folder() / "projects", GEMINI: gemini_folder() / "tmp"}
    root = roots.get(host)
    if root is None or not path.is_relative_to(root) or path.suffix.lower() != ".md":
        return None
    parts = path.relative_to(root).parts
    if len(parts) < 3 or parts[1] != FOLDER:
        return None
    return root.joinpath(*parts[:2]), "/".join(parts[2:])


def _written(
    transcript: Path,
) -> Iterator[tuple[str, Callable[[str | None], str | None], str | None]]:
    """Yield each file that a session wrote, what that made of its text, and when."""
    pending: dict[str, tuple[str, Callable[[str | None], str | None]]] = {}
    for _, record in transcripts.records(transcript, Counter()):
        at = record.get("timestamp")
        when = at if isinstance(at, str) else None
        for call in _calls(record):
            change = _change(call.name, call.arguments)
            if change is not None and call.is_done:
                yield *change, when
            elif change is not None:
                pending[call.mark] = change
        for mark, is_error in _results(record):
            if (begun := pending.pop(mark, None)) is not None and not is_error:
                yield *begun, when


class _HostCall(NamedTuple):
    mark: str
    name: str
    arguments: Mapping[str, Any]
    is_done: bool


def _parts(record: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    message = record.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    for part in content if isinstance(content, list) else ():
        if isinstance(part, dict):
            yield part


def _calls(record: Mapping[str, Any]) -> Iterator[_HostCall]:
    for part in _parts(record):  # Claude Code
        given = part.get("input")
        if part.get("type") == "tool_use" and isinstance(given, dict):
            yield _HostCall(str(part.get("id")), str(part.get("name")), given, is_done=False)
    calls = record.get("toolCalls")
    for call in calls if isinstance(calls, list) else ():  # Gemini CLI
        given = call.get("args") if isinstance(call, dict) else None
        if isinstance(given, dict) and call.get("status") == "success":
            yield _HostCall(str(call.get("id")), str(call.get("name")), given, is_done=True)


def _results(record: Mapping[str, Any]) -> Iterator[tuple[str, bool]]:
    for part in _parts(record):
        if part.get("type") == "tool_result":
            yield str(part.get("tool_use_id")), part.get("is_error") is True


def _change(
    tool: str, given: Mapping[str, Any]
) -> tuple[str, Callable[[str | None], str | None]] | None:
    """Return the file that a call changes, and its text after it, given the one before."""
    file, name = given.get("file_path"), tool.lower()
    if not isinstance(file, str) or "\0" in file:
        return None
    if name in WRITING and isinstance(text := given.get("content"), str):
        return file, lambda _: text
    if name in EDITING:
        several = given.get("edits")
        edits = several if isinstance(several, list) else [given]
        return file, lambda before: _edited(before, edits)
    return None


def _edited(text: str | None, edits: Iterable[Any]) -> str | None:
    """Apply edits to a text that is known; a text before the session is not."""
    for edit in edits:
        old, new = (edit.get(name) if isinstance(edit, dict) else None for name in EDIT)
        if text is None or not isinstance(old, str) or not isinstance(new, str) or not old:
            return text
        text = text.replace(old, new, -1 if edit.get("replace_all") else 1)
    return text


EDIT: Final = ("old_string", "new_string")


# -- following ---------------------------------------------------------------------------------


def of_session(
    host: str, project: Path, namespace: str, transcript: Path | None
) -> Iterator[FilesContent]:
    """Yield what a host remembers for a project, after a session in it."""

    def is_wanted(folder: str) -> bool:
        return namespace_of(folder) == namespace

    for place in places(host, project, transcript):
        found = read(place, is_wanted)
        if found is not None:
            yield found
    if transcript is not None:
        yield from written(host, transcript)


def namespace_of(folder: str) -> str | None:
    """Return the namespace of the project that a working folder belongs to."""
    try:
        return projects.project_of(Path(folder).expanduser()).namespace
    except (MemstoreError, OSError, ValueError):
        return None


def follow(store: Store, found: FilesContent) -> Followed:
    """Bring the facts of a place up to date with what its files say."""
    home = store.within(settings.DEFAULT_NAMESPACE) if found.place.is_of_user else store
    reading = FilesReading(found.place.name, [*_stated(found)], found.unread, found.is_complete)
    return follow_files(home, reading)


def _stated(found: FilesContent) -> Iterator[Stated]:
    for name, one, is_whole in found.memories:
        yield stated(source_of(found.place, name), name, one, is_whole, found.at.get(name))


def source_of(place: MemoryFolder, name: str) -> str:
    """Return the source of the facts of a file."""
    inside = place.folder.is_relative_to(projects.project_of().folder) and not any(
        place.folder.is_relative_to(one)
        for one in (catalogue.claude_folder(), catalogue.codex_folder(), gemini_folder())
    )
    return f"{REPOSITORY if inside else place.host}:{place.name}/{name}"[:MAX_NAME]


def stated(
    source: str,
    name: str,
    one: memory_files.FileFact,
    is_whole: bool,
    at: str | None,
) -> Stated:
    """Return a text of a host's memory as a fact to follow."""
    new = NewFact(
        content=one.content,
        subject=one.subject,
        category=one.category,
        metadata=following.about(source.partition(":")[2], one.line, one.metadata),
        valid_at=at,
        source=source,
    )
    return Stated(name, new, is_whole)


# -- for a server ------------------------------------------------------------------------------


def requests(found: FilesContent) -> Iterator[dict[str, Any]]:
    """Yield what a server is told of a place, in requests of whole files."""
    by_file: dict[str, list[dict[str, Any]]] = {}
    for name, one, is_whole in found.memories:
        by_file.setdefault(name, []).append(
            {
                "file": name,
                "source": source_of(found.place, name),
                "whole": is_whole,
                "at": found.at.get(name),
                **one._asdict(),
            }
        )
    batches: list[list[str]] = [[]]
    for name, listed in by_file.items():
        held = sum(len(by_file[other]) for other in batches[-1])
        if batches[-1] and held + len(listed) > MAX_FILES // 2:
            batches.append([])
        batches[-1].append(name)
    for names in batches:
        yield {
            "place": f"{_machine()}:{found.place.name}",
            "memories": [one for name in names for one in by_file[name]],
            # What is in another request was not removed.
            "unread": sorted({*found.unread, *by_file} - {*names}),
            "complete": found.is_complete,
        }


def _machine() -> str:
    """Return a random name of this machine: another one's folder of the same name is another."""
    file = Path(settings.data_folder(), "machine")
    with suppress(FileExistsError):
        file.parent.mkdir(parents=True, exist_ok=True)
        with open(file, "x", encoding="ascii") as handle:
            handle.write(token_hex(8))
    return file.read_text("ascii").strip()


def follow_told(
    store: Store,
    place: str,
    texts: Sequence[Stated],
    unread: Iterable[str],
    complete: bool,
) -> Followed:
    """Bring the facts of a place of another machine up to date."""
    return follow_files(store, FilesReading(place, texts, frozenset(unread), complete))
