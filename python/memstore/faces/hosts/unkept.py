"""Sessions whose conversations are still to be kept, in small files that survive a kill.

A host may end a hook at any moment, and the process that keeps a conversation may fail: the file is
locked, the disk is full, the machine is switched off. So the hook writes a note here before it does
anything else. The process removes it when the conversation is stored, or is in the spool; and a
later hook of any session has what is left kept, by a process that tries one session after the
other.

A note names the transcript, and what decides where it is kept; no text is in it. The name of its
file says when the session ended and how often it was tried; the time of the file says when it was
tried last. The pauses between tries grow. What cannot be kept in the end is counted, for ``memstore
status``: a transcript that is gone, a session of two weeks ago, the oldest of too many.

A session whose terminal is closed may end without a hook. So where the ends of sessions are kept, a
note is written at the start of a session, too, and renewed at each prompt. If nothing was said for
ten minutes, the next hook has that session kept; it is noted anew if it goes on.
"""

from __future__ import annotations

import json
import os
import zlib
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

from memstore import settings
from memstore.domain import clock
from memstore.lazy import lazy_import
from memstore.named import NamedTuple

if TYPE_CHECKING:
    import hashlib
    from collections.abc import Mapping, Sequence

    from memstore.faces import background
    from memstore.faces.hosts import locking, private, transcripts, troubles
else:  # most hooks only look whether there is anything
    hashlib = lazy_import("hashlib")
    background = lazy_import("memstore.faces.background")
    private = lazy_import("memstore.faces.hosts.private")
    locking = lazy_import("memstore.faces.hosts.locking")
    transcripts = lazy_import("memstore.faces.hosts.transcripts")
    troubles = lazy_import("memstore.faces.hosts.troubles")

MAX_FILES: Final = 1_000
MAX_NOTE_BYTES: Final = 1_000_000
KEPT_SECONDS: Final = 14 * 86_400.0

FIRST_PAUSE_SECONDS: Final = 5.0
"""After the first try, which the hook itself started; each later pause is four times as long."""

IDLE_SECONDS: Final = 600.0
"""A session that is open and silent for so long has probably ended without a hook."""

MAX_PAUSE_SECONDS: Final = 6 * 3600.0

PATIENCE_SECONDS: Final = 30.0
"""How long a person has to wait for another process that keeps what is left."""

TRY_SECONDS: Final = 600.0
"""How long one try may take."""

GONE: Final = "whose transcript was gone"
EXPIRED: Final = "that could not be kept for two weeks"
OVERFLOW: Final = "because too many waited"
DAMAGED: Final = "whose note was damaged"

EVENT: Final[tuple[str, ...]] = (
    "session_id",
    "conversation_id",
    "transcript_path",
    "cwd",
    "workspace_roots",
)
"""What an event says about a session; it may hold texts besides."""

SUFFIX: Final = ".json"
PART: Final = ".part"
PART_SECONDS: Final = 86_400.0
LOCK: Final = "trying.lock"


class UnkeptNote(NamedTuple):
    """What is remembered of a session."""

    event: dict[str, Any]
    words: list[str]
    """The flags of the hook."""
    environment: dict[str, str]
    """The variables that count besides."""
    database: str
    """The file or the server's address."""
    host: str


class _NamedNote(NamedTuple):
    """A note, as the name of its file has it."""

    name: str
    ended_at: str
    """When the session ended, or was noted first, in microseconds since 1970."""
    digest: str
    tries: int
    """0 for a session that is open."""

    @property
    def ended(self) -> float:
        """The same in seconds."""
        return int(self.ended_at) / 1_000_000


def remember(note: UnkeptNote) -> str | None:
    """Write a note of a session that ends, in place of earlier ones of the same session.

    Returns its digest, by which it is found; ``None`` if it cannot be written, as where the disk is
    full or read-only.
    """
    earlier = _all()
    digest, body = _digest(note), _body(note)
    if not _write(digest, 1, body):
        return None
    for one in earlier:
        if one.digest == digest:
            _remove(one)
    for one in [one for one in earlier if one.digest != digest][: -(MAX_FILES - 1)]:
        _drop(one, OVERFLOW)
    with suppress(OSError), open(_ends(note.host), "wb"):  # it has the time of the last end
        pass
    return digest


def remember_open(note: UnkeptNote) -> None:
    """Write a note of a session that begins or goes on, or renew it."""
    digest = _digest(note)
    now = clock.utc_now().timestamp()
    for one in _all():
        if one.digest == digest and not one.tries:
            with suppress(OSError):  # tried in the meantime: the next prompt writes another
                os.utime(_place(one.name), (now, now))
            return
    _write(digest, 0, _body(note))


def keeps_ends(host: str) -> bool:
    """Return whether the ends of a host's sessions are kept: a hook did so in two weeks."""
    try:
        last = os.stat(_ends(host)).st_mtime
    except OSError:
        return False
    return last > clock.utc_now().timestamp() - KEPT_SECONDS


def keep_no_ends(host: str) -> None:
    """Forget that the ends of a host's sessions were kept: its hooks are not to do so any more."""
    with suppress(OSError):
        os.unlink(_ends(host))


def of(digest: str | None) -> tuple[dict[str, Any] | None, list[str]]:
    """Return the event of a session that is noted, and the ends of it that are noted now.

    The hook may be killed before it has given the event to the process that it starts.
    """
    noted = [one for one in _all() if one.digest == digest and one.tries]
    notes = [note for one in noted if (note := _read(one)) is not None]
    return notes[-1].event if notes else None, [one.ended_at for one in noted]


def kept(digest: str | None, ends: Sequence[str]) -> None:
    """Remove the notes of these ends of a session, which may have been tried in the meantime."""
    for one in _all():
        if one.digest == digest and one.ended_at in ends:
            _remove(one)


def gone(digest: str | None) -> None:
    """Remove the notes of a session whose transcript is gone, and count it."""
    for one in _all():
        if one.digest == digest and one.tries:
            _drop(one, GONE)


def are_due() -> bool:
    """Return whether sessions are to be tried, and no process is at it; cheap, for each hook."""
    if not any(_is_soon(one) for one in _all()):
        return False
    try:
        with locking.locked(_place(LOCK), 0) as ours:
            return ours
    except OSError:  # nothing may be written there
        return False


def try_again(*, at_once: bool = False) -> None:
    """Keep what is left, one session after the other, unless another process is at it.

    Args:
        at_once: without the pauses between tries.
    """
    if not _all():
        return
    patience = PATIENCE_SECONDS if at_once else 0.0
    with suppress(OSError), locking.locked(_place(LOCK), patience) as ours:
        if ours:
            _sweep()
            _try_all(at_once=at_once)


def _try_all(*, at_once: bool) -> None:
    tried: set[str] = set()
    while True:
        left = [one for one in _all() if one.digest not in tried]
        soon = left if at_once else list(filter(_is_soon, left))
        if not soon:
            return
        first = min(soon, key=_next_try)
        pause = _next_try(first) - clock.utc_now().timestamp()
        if pause > 0 and not at_once:  # the process that its hook started may be at it
            clock.sleep(pause)
            continue
        tried.add(first.digest)
        with suppress(OSError):  # it is due again later
            _try(first)


def _try(one: _NamedNote) -> None:
    note = _read(one)
    now = clock.utc_now().timestamp()
    if note is None:
        _drop(one, DAMAGED)
        return
    file = transcripts.file_of(note.event)
    if not one.tries:
        if file is None or not keeps_ends(note.host):  # nothing was said, or it is not to be kept
            _remove(one)
            return
        changed = min(file.stat().st_mtime, now)
        if changed + IDLE_SECONDS > now:
            os.utime(_place(one.name), (changed, changed))
            return
    elif file is None:
        _drop(one, GONE)
        return
    if now - one.ended > KEPT_SECONDS:
        _drop(one, EXPIRED)
        return
    next_name = _name(one.ended_at, one.digest, one.tries + 1)
    try:
        os.rename(_place(one.name), _place(next_name))
    except FileNotFoundError:  # kept in the meantime
        return
    os.utime(_place(next_name), (now, now))
    words = ["hook", troubles.KEEP, f"--note={one.digest}", *note.words]
    event = json.dumps(note.event).encode()
    background.run(words, event, settings.environment_with(note.environment), TRY_SECONDS)


def sentences(*databases: str) -> list[str]:
    """Return what waits, in sentences; of these files and servers, or of all."""
    waiting = []
    for one in _all():
        note = _read(one)
        of_these = note is not None and (not databases or note.database in databases)
        if one.tries and of_these:
            waiting.append(one)
    if not waiting:
        return []
    since = clock.to_text(
        clock.EPOCH + clock.MILLISECOND * 1000 * min(one.ended for one in waiting)
    )
    number = "1 session waits" if len(waiting) == 1 else f"{len(waiting):,} sessions wait"
    when = since[:16].replace("T", " ")
    return [f"{number} to be kept since {when}; the next hook tries again"]


# -- files -----------------------------------------------------------------------------------------


def folder() -> str:
    return settings.unkept_folder()


def _place(name: str) -> str:
    return os.path.join(folder(), name)


def _all() -> list[_NamedNote]:
    """Return the notes, oldest first."""
    with suppress(OSError):
        if not _is_private():
            return []
        with os.scandir(folder()) as entries:
            names = sorted(one.name for one in entries if one.is_file(follow_symlinks=False))
        return [one for name in names if (one := _named(name))]
    return []


def _is_private() -> bool:
    """Return whether nobody else can write notes: they decide where a conversation is kept."""
    if not hasattr(os, "getuid"):
        return True
    found = os.stat(folder())
    return found.st_uid == os.getuid() and not found.st_mode & 0o022


def _named(name: str) -> _NamedNote | None:
    ended, _, rest = name.removesuffix(SUFFIX).partition("-")
    digest, _, tries = rest.partition("-")
    numbers = ended + tries
    whole = name.endswith(SUFFIX) and len(ended) == 17 and len(digest) == 32 and 0 < len(tries) < 9
    if not (whole and numbers.isascii() and numbers.isdecimal()):
        return None
    return _NamedNote(name, ended, digest, int(tries))


def _next_try(one: _NamedNote) -> float:
    try:
        last = os.stat(_place(one.name)).st_mtime
    except OSError:
        return 0.0  # kept in the meantime
    if last > clock.utc_now().timestamp() + MAX_PAUSE_SECONDS:
        return 0.0  # the clock was wrong
    if not one.tries:
        return last + IDLE_SECONDS
    return last + min(FIRST_PAUSE_SECONDS * 4.0 ** min(one.tries - 1, 9), MAX_PAUSE_SECONDS)


def _is_soon(one: _NamedNote) -> bool:
    return _next_try(one) - clock.utc_now().timestamp() <= FIRST_PAUSE_SECONDS


def _ends(host: str) -> str:
    """Return the file that says when a session of a host was kept last."""
    return _place(f"{zlib.crc32(host.encode('utf-8', 'replace')):08x}.ends")


def _name(ended_at: str, digest: str, tries: int) -> str:
    return f"{ended_at}-{digest}-{tries}{SUFFIX}"


def _digest(note: UnkeptNote) -> str:
    """Return what identifies a session, from its start to its end."""
    session = [note.event.get(name) for name in ("session_id", "conversation_id")]
    where = [note.words, note.environment, note.event.get("transcript_path")]
    whole = json.dumps([session, where]).encode()
    return hashlib.sha256(whole).hexdigest()[:32]


def _body(note: UnkeptNote) -> bytes:
    return json.dumps(note._asdict()).encode()


def _write(digest: str, tries: int, body: bytes) -> bool:
    """Write a note, as a whole or not at all; return whether it was possible.

    It is not synced: the transcript is not, either, and the host is waiting.
    """
    now = clock.utc_now().timestamp()
    place = _place(_name(f"{int(now * 1_000_000):017d}", digest, tries))
    part = f"{place}.{os.getpid()}{PART}"
    try:
        private.make_folder(folder())
        opened = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(opened, "wb") as file:
            file.write(body)
        os.replace(part, place)
        os.utime(place, (now, now))
    except OSError:
        with suppress(OSError):
            os.unlink(part)
        return False
    return True


def _read(one: _NamedNote) -> UnkeptNote | None:
    """Return a note; ``None`` if it is damaged, another session's, or has been removed."""
    flags = os.O_RDONLY | getattr(os, "O_BINARY", 0)
    flags |= getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)  # no link, no pipe
    try:
        with open(os.open(_place(one.name), flags), "rb") as file:
            note = UnkeptNote(**json.loads(file.read(MAX_NOTE_BYTES)))
    except (OSError, ValueError, TypeError, RecursionError):
        return None
    if not isinstance(note.host, str) or not isinstance(note.database, str):
        return None
    words = isinstance(note.words, list) and all(isinstance(word, str) for word in note.words)
    table = isinstance(note.environment, dict) and isinstance(note.event, dict)
    is_whole = words and table and _are_texts(note.environment)
    return note if is_whole and _digest(note) == one.digest else None


def _are_texts(table: Mapping[str, Any]) -> bool:
    return all(isinstance(value, str) for value in table.values())


def _sweep() -> None:
    """Remove what killed processes were writing."""
    before = clock.utc_now().timestamp() - PART_SECONDS
    with suppress(OSError), os.scandir(folder()) as entries:
        for entry in entries:
            if entry.name.endswith(PART) and entry.stat().st_mtime < before:
                os.unlink(entry.path)


def _remove(one: _NamedNote) -> None:
    with suppress(OSError):
        os.unlink(_place(one.name))


def _drop(one: _NamedNote, reason: str) -> None:
    """Remove a note, and count the session as one that was not kept."""
    if not os.path.exists(_place(one.name)):
        return
    note = _read(one) or UnkeptNote({}, [], {}, "", "host")
    session = transcripts.session_of(note.event) or one.digest
    about = troubles.Trouble(str(note.database), session, str(note.host), troubles.KEEP)
    troubles.note(about, lost=reason)
    _remove(one)
