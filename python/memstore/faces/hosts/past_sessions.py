"""Imports the sessions that a host has on this disk, and what it remembers by itself.

A session becomes what the hooks would have made of it: the same namespace, thread and keys. So it
does not matter which of them comes first, nor how often: each turn is stored once.
"""

from __future__ import annotations

import os
from collections import Counter
from functools import partial
from hashlib import sha256
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from memstore import projects, settings
from memstore.errors import StorageError, TransferError
from memstore.faces import caller_project
from memstore.faces.hosts import keeping, own_memory, transcripts
from memstore.faces.hosts.own_memory import CLAUDE, CODEX, GEMINI
from memstore.frozen import asdict, field, frozen
from memstore.named import NamedTuple
from memstore.store.store import for_project

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from memstore.database.engine import Progress
    from memstore.facts.following import Followed
    from memstore.store.store import Store

NAMES: Final[Mapping[str, str]] = {
    "claude-code": CLAUDE,
    "codex": CODEX,
    "gemini": GEMINI,
    "gemini-cli": GEMINI,
}
"""The hosts whose sessions can be imported, by the names that ``--from`` takes."""

BEGINNING: Final = 200
"""Records of a transcript in which its folder is looked for."""

LOG: Final = "logs.json"
"""Gemini CLI's log of the prompts of a project; before 0.3, all that it recorded."""

SUBAGENTS: Final = "sessions of subagents"
EMPTY: Final = "sessions in which nothing was said"
NO_FOLDER: Final = "sessions without a folder (imported into default)"
COMPRESSED: Final = "compressed sessions"
MEMORIES: Final = "texts that the host remembers, and that were not taken"


class PastSession(NamedTuple):
    """A transcript, and where its session took place."""

    path: Path
    session: str
    folder: str | None


@frozen
class ImportedSessions:
    """What was imported of a host."""

    source: str
    dry_run: bool
    """Whether it was only counted."""
    sessions: int = 0
    """Those in which something was said."""
    episodes: int = 0
    """Turns that are new here; in a dry run, all."""
    known: int = 0
    """Turns that were here already."""
    facts: int = 0
    """What the host remembers by itself, and is new here; in a dry run, all."""
    corrected: int = 0
    ended: int = 0
    facts_known: int = 0
    namespaces: dict[str, int] = field(default_factory=dict)
    """The number of sessions in each."""
    left_out: dict[str, int] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def transcripts_of(host: str, root: Path | None = None) -> list[Path]:
    """Return the transcripts of a host's sessions, oldest first.

    Args:
        root: the host's folder, one of sessions, or a single one; by default, that of this user.
    """
    if root is not None and root.is_file():
        return [root]
    folder = own_memory.folder_of(host) if root is None else root
    patterns = {
        CLAUDE: ("projects", ("*/*.jsonl",)),
        CODEX: ("", ("sessions/**/*.jsonl*", "archived_sessions/**/*.jsonl*")),
        GEMINI: ("tmp", ("*/chats/*.json", "*/chats/*.jsonl", f"*/{LOG}")),
    }
    inside, names = patterns[host]
    top = folder / inside
    found = [file for name in names for file in top.glob(name) if top.is_dir()]
    if not found and root is not None:
        endings = (".json", ".jsonl") if host == GEMINI else (".jsonl", ".jsonl.zst")
        found = [file for file in folder.rglob("*") if file.name.endswith(endings)]
    # A log has the prompts of sessions that have a file of their own, too.
    ages = [(file.name == LOG, file.stat().st_mtime, file) for file in found if file.is_file()]
    return [file for *_, file in sorted(ages)]


def bring_in(
    store: Store,
    name: str,
    root: Path | None,
    *,
    namespace: str | None = None,
    dry_run: bool = False,
    progress: Progress | None = None,
) -> ImportedSessions:
    """Import a host's sessions and memories; after a kill, the same call continues.

    Args:
        name: one of :data:`NAMES`.
        root: the host's folder, one of sessions, or a single one; by default, that of this user.
        namespace: import everything into this one; by default, each into that of its project.

    Raises:
        StorageError: there is no such folder.
        TransferError: there is nothing of the host in it.
    """
    host = NAMES[name]
    if root is not None and not root.exists():
        raise StorageError(f"there is no {str(root)!r}")
    files = transcripts_of(host, root)
    importing = _Import(store, host, namespace, dry_run)
    sizes = [file.stat().st_size for file in files]
    total, done = sum(sizes), 0
    for file, size in zip(files, sizes, strict=True):
        importing.session(file)
        done += size
        if progress is not None:
            progress(done, total)
    if root is None or root.is_dir():
        for place in own_memory.every_place(host, root):
            importing.memory(place)
    if not files and not importing.places:
        where = own_memory.shown(own_memory.folder_of(host) if root is None else root)
        raise TransferError(f"{where} holds no sessions of {host}, and nothing that it remembers")
    if files and not importing.places and host not in importing.hosts:
        others = " and ".join(sorted(importing.hosts))
        seems = f"looks like one of {others}" if others else "has no record that a host writes"
        what = "the file" if len(files) == 1 else f"each of {len(files):,} files"
        raise TransferError(
            f"{what} {seems}: the recorded sessions of {host} are expected; nothing was imported"
        )
    return importing.done(name)


class _Import:
    def __init__(self, store: Store, host: str, namespace: str | None, dry_run: bool) -> None:
        self._store = store
        self._host = host
        self._namespace = namespace
        self._dry_run = dry_run
        self._counts: Counter[str] = Counter()
        self._homes: Counter[str] = Counter()
        self._left_out: Counter[str] = Counter()
        self._folders: dict[Path, str] = {}
        """The working folders of sessions, by those of their transcripts."""
        self._stores: dict[str, Store] = {}
        self.hosts: set[str] = set()
        """The hosts that wrote the records that were read."""
        self._seen: set[str] = set()
        """The sessions that have a file of their own."""
        self.places = 0

    def session(self, file: Path) -> None:
        """Import one session."""
        if file.suffix == ".zst":
            self._left_out[COMPRESSED] += 1
            self.hosts.add(self._host)
            return
        self.hosts |= _hosts(file)
        if logged := _logged(file):
            elsewhere = self._seen | _with_files(file.parent / "chats")
            for session in logged:
                if session not in elsewhere:
                    self._session(PastSession(file, session, self._of_gemini(file.parent, {})))
            return
        about = self._about(file)
        if about is None:
            self._left_out[SUBAGENTS] += 1
            return
        self._seen.add(about.session)
        self._session(about)

    def _session(self, about: PastSession) -> None:
        home = self._home(about.folder)
        turns = self._turns(about, home)
        if turns == (0, 0):
            self._left_out[EMPTY] += 1
            return
        if about.folder is None and self._namespace is None:
            self._left_out[NO_FOLDER] += 1
        elif about.folder is not None:
            self._folders.setdefault(about.path.parent, about.folder)
        self._homes[home] += 1
        self._counts["sessions"] += 1
        self._counts["episodes"] += turns.new
        self._counts["known"] += turns.known

    def _turns(self, about: PastSession, home: str) -> keeping.KeptTurns:
        """Import the turns of a session, or count them."""
        if self._dry_run:
            said = sum(1 for _ in transcripts.turns(about.path, self._left_out, about.session))
            return keeping.KeptTurns(said, 0)
        root = str(projects.project_of(about.folder).folder) if about.folder else os.sep
        store = (
            caller_project.in_folder(self._at(home), about.folder)
            if about.folder
            else self._at(home)
        )
        return keeping.import_session(
            store, self._host, about.session, about.path, self._left_out, root
        )

    def _at(self, namespace: str) -> Store:
        if namespace not in self._stores:
            self._stores[namespace] = for_project(
                self._store, namespace, settings.DEFAULT_NAMESPACE, self._host
            )
        return self._stores[namespace]

    def _home(self, folder: str | None) -> str:
        found = own_memory.namespace_of(folder) if folder else None
        return self._namespace or found or settings.DEFAULT_NAMESPACE

    def _is_home(self, namespace: str, folder: str) -> bool:
        return self._home(folder) == namespace

    def _about(self, file: Path) -> PastSession | None:
        """Return which session a transcript is of; ``None`` for one of a subagent."""
        beginning = [one for _, one in islice(transcripts.records(file, Counter()), BEGINNING)]
        first: Mapping[str, Any] = beginning[0] if beginning else {}
        if self._host == CLAUDE:
            if file.name.startswith("agent-") or file.parent.name == "subagents":
                return None
            folders = (one.get("cwd") for one in beginning)
            return PastSession(file, _session(file.stem), next(filter(_is_folder, folders), None))
        if self._host == CODEX:
            meta = first.get("payload") if first.get("type") == "session_meta" else None
            about = meta if isinstance(meta, dict) else {}
            if isinstance(about.get("source"), dict):
                return None
            folder = about.get("cwd")
            return PastSession(
                file, _session(about.get("id") or file.stem), folder if _is_folder(folder) else None
            )
        if first.get("kind") == "subagent":
            return None
        return PastSession(
            file,
            _session(first.get("sessionId") or file.stem),
            self._of_gemini(file.parent.parent, first),
        )

    def _of_gemini(self, top: Path, first: Mapping[str, Any]) -> str | None:
        """Return the folder of a session, which Gemini CLI keeps in its own, or only the hash."""
        if folder := _gemini_root(top):
            return folder
        known = own_memory.gemini_names()
        hashes = {sha256(folder.encode()).hexdigest(): folder for folder in known}
        return hashes.get(str(first.get("projectHash") or top.name))

    # -- what the host remembers -------------------------------------------------------------------

    def memory(self, place: own_memory.MemoryFolder) -> None:
        """Import what is in one place of a host's memory."""
        self.places += 1
        for home in self._homes_of(place):
            found = own_memory.read(place, partial(self._is_home, home))
            if found is None or (place.files and not found.memories):
                continue
            self._left_out[MEMORIES] += found.left_out
            if self._dry_run:
                self._counts["facts"] += len(found.memories)
                continue
            done = own_memory.follow(self._at(home), found)
            self._count(done)

    def _count(self, done: Followed) -> None:
        self._counts["facts"] += done.added + done.corrected
        self._counts["corrected"] += done.corrected
        self._counts["ended"] += done.ended
        self._counts["facts_known"] += done.known
        self._left_out[MEMORIES] += done.refused

    def _homes_of(self, place: own_memory.MemoryFolder) -> list[str]:
        """Return the namespaces of the projects that a place is for."""
        if self._host == CODEX:  # all projects in one file
            whole = own_memory.read(place)
            named = [one.folder for _, one, _ in whole.memories] if whole is not None else []
            return [*dict.fromkeys(map(self._home, named))]
        if place.is_of_user:
            return [self._namespace or settings.DEFAULT_NAMESPACE]
        if self._host == GEMINI:
            return [self._home(_gemini_root(place.folder.parent))]
        folder = self._folders.get(place.folder.parent) or own_memory.project_named(
            place.folder.parent.name
        )
        return [self._home(folder)]

    def done(self, name: str) -> ImportedSessions:
        return ImportedSessions(
            source=name,
            dry_run=self._dry_run,
            namespaces=dict(sorted(self._homes.items())),
            left_out={kind: number for kind, number in self._left_out.items() if number},
            **self._counts,
        )


def _hosts(file: Path) -> set[str]:
    """Return the hosts that wrote the records at the beginning of a file."""
    beginning = islice(transcripts.records(file, Counter()), BEGINNING)
    return {host for _, one in beginning if (host := transcripts.host_of(one)) is not None}


def _logged(file: Path) -> list[str]:
    """Return the sessions of which a log has prompts; none if the file is no log."""
    if file.suffix != ".json":
        return []
    found = (transcripts.logged_in(one) for _, one in transcripts.records(file, Counter()))
    return [*dict.fromkeys(session for session in found if session is not None)]


def _with_files(folder: Path) -> set[str]:
    """Return the sessions of Gemini CLI that have files in a folder."""
    firsts = (
        next(transcripts.records(file, Counter()), (0, {}))[1] for file in folder.glob("*.json*")
    )
    return {_session(first["sessionId"]) for first in firsts if first.get("sessionId")}


def _session(named: object) -> str:
    return transcripts.shortened(transcripts.mended(str(named)))


def _is_folder(given: object) -> bool:
    return isinstance(given, str) and os.path.isabs(given) and "\0" not in given


def _gemini_root(folder: Path) -> str | None:
    try:
        root = (folder / ".project_root").read_text(encoding="utf-8").strip()
    except (OSError, ValueError):
        return None
    return root if _is_folder(root) else None


def recorded(host: str) -> int:
    """Return how many sessions of a host are on this disk."""
    return len(transcripts_of(host)) if host in NAMES.values() else 0
