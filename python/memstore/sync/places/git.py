"""A git repository: the user's own git carries the files, with the user's own credentials.

The clone is ours alone, in the user's state folder, and holds nothing that cannot be fetched again:
one that is damaged is made anew. It has no working tree, so no name in a hostile repository ever
becomes a file here. Nothing is merged or rebased: a device writes only its own files, so what it
has to push goes on top of whatever is there.

Each commit says which history it belongs to, and how long and how large that is. A history that
held an erased text, is long, or is much larger than the files, is begun again with one commit; who
sees that drops the old objects.
"""

from __future__ import annotations

import os
import re
import secrets
import shutil
import signal
import subprocess
import tempfile
import threading
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

from memstore import settings
from memstore.domain import clock
from memstore.errors import Remedy, SyncError
from memstore.lazy import cached_property
from memstore.named import NamedTuple
from memstore.sync.places import Entry, names
from memstore.sync.places.folder import checked_name, foreign_files, is_hidden, too_large
from memstore.text.addresses import masked

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

BRANCH: Final = "memstore"
REMOTE_REF: Final = f"refs/heads/{BRANCH}"
OWN_REF: Final = "refs/memstore/place"

LOCAL_SECONDS: Final = 60.0
NETWORK_SECONDS: Final = 300.0

MAX_LISTING_BYTES: Final = 32 * 2**20
"""Of the names of all files, or of a commit."""

MAX_COMMITS: Final = 200
"""A longer history is begun again."""

MAX_TIMES: Final = 4
"""So is one of more than so many times the bytes of the files, if that is something:"""

MIN_BYTES: Final = 64 * 1024

COMMIT_BYTES: Final = 400
ENTRY_BYTES: Final = 40
"""What a commit adds about, with its first tree, and for each entry of a device's tree."""

TRIES: Final = 8
"""How often it is pushed again because another device was faster."""

PAUSE_SECONDS: Final = 1.0

PLAIN: Final = "100644"
"""The mode of a plain file. Links, programs and other repositories are not read."""

PROTOCOLS: Final = "file:git:http:https:ssh"
"""Not ``ext``, whose addresses are commands."""

CONFIGURATION: Final = (
    "gc.auto=0",
    "maintenance.auto=false",
    "core.logAllRefUpdates=false",
    "core.hooksPath=/dev/null",
    "fetch.writeCommitGraph=false",
    "advice.pushUpdateRejected=false",
)
QUIET: Final = ("core.askPass=", "credential.interactive=false")
"""No question to anybody."""

HISTORY: Final = re.compile(
    rb"^history ([0-9a-f]{16}), commit ([0-9]{1,9}), ([0-9]{1,15}) bytes$", re.M
)

OUTRUN: Final = re.compile(
    r"fetch first|stale info|cannot lock ref|failed to update ref|reference already exists"
    r"|incorrect old value"
)
"""How git says that another device was faster."""

BEHIND: Final = re.compile(r"non-fast-forward")
"""The same of a push that was not forced."""

PROTECTED: Final = re.compile(r"protected|pre-receive|den(y|ied)|declined|not allowed|non-fast")
"""How hosts say that a branch may not be forced."""

REASONS: Final = (
    (r"could not resolve|network is unreachable|no route to host|timed out|connection refused"
     r"|could not connect|failed to connect", "it cannot be reached from here at the moment"),
    (r"terminal prompts disabled|permission denied|authentication failed|could not read (username"
     r"|password)|publickey|host key verification failed|access denied|invalid credentials",
     "git has no credentials for it, or they may not do this"),
    (r"repository not found|does not exist|does not appear to be a git repository|not found",
     "there is no such repository, or it may not be read"),
    (r"no space left|disk quota", "the disk is full"),
)  # fmt: skip


class _Refused(Exception):
    """Git ended with an error.

    Args:
        said: what it wrote on standard error.
    """

    def __init__(self, said: str) -> None:
        super().__init__(said)
        self.said = said


class _Protected(Exception):
    """The branch may not be forced, so its history cannot be begun again."""


class _Blob(NamedTuple):
    """A file of the repository."""

    id: str
    size: int


class _Tip(NamedTuple):
    """The newest commit; an empty id if there is none."""

    id: str = ""
    history: str = ""
    commits: int = 0
    bytes: int = 0
    """About what its history has added to its first commit."""


class GitPlace:
    """The branch ``memstore`` of a repository.

    Args:
        address: as git takes it.
        clone: the folder for the clone, which nothing else uses.
        asks: whether git and ssh may ask the user for a password or a passphrase.
        may_be_shared: whether the repository may have other branches, as that of a project has.
    """

    def __init__(
        self,
        address: str,
        clone: str | os.PathLike[str],
        *,
        asks: bool = False,
        may_be_shared: bool = False,
    ) -> None:
        self.address = masked(address)
        self.ignored: Sequence[str] = ()
        self._remote = address
        self._clone = Path(clone)
        self._asks = asks
        self._may_be_shared = may_be_shared
        self._files: dict[str, _Blob] = {}
        self._pending: dict[str, _Blob | None] = {}
        self._tip = _Tip()
        self._is_protected = False

    def list(self) -> Mapping[str, Entry]:
        self._fetch()
        found = {name: Entry(blob.size, blob.id) for name, blob in self._files.items()}
        for name, blob in self._pending.items():
            found.pop(name, None)
            if blob is not None:
                found[name] = Entry(blob.size, blob.id)
        return found

    def get(self, name: str, *, most: int) -> bytes:
        checked_name(name)
        blob = self._pending[name] if name in self._pending else self._files.get(name)
        if blob is None:
            raise SyncError(f"{name} is not in {self.address!r} any more")
        if blob.size > most:
            raise too_large(name, most)
        return self._local("cat-file", "blob", blob.id, most=most)

    def put(self, name: str, data: bytes) -> None:
        checked_name(name)
        self._begun()
        made = self._local("hash-object", "-w", "--stdin", data=data).decode().strip()
        self._pending[name] = _Blob(made, len(data))

    def delete(self, name: str) -> None:
        checked_name(name)
        self._pending[name] = None

    def publish(self, *, anew: bool = False) -> None:
        if not self._pending and not anew:
            return
        for attempt in range(TRIES):
            if attempt:
                clock.sleep(PAUSE_SECONDS * secrets.randbelow(1000) / 1000)
                self._fetch()
            if self._is_published(anew=anew):
                self._pending.clear()
                break
        else:
            raise SyncError(
                f"other devices wrote into {self.address!r} faster than this one, {TRIES} times; "
                "the next run tries again"
            )
        if anew and self._is_protected:
            raise SyncError(
                f"{self.address!r} refuses to have its history begun again, so texts that were "
                "erased stay in it",
                remedy=Remedy.ALLOW_FORCE,
            )

    def _is_published(self, *, anew: bool) -> bool:
        """Push what is pending; return false if another device was faster."""
        try:
            commit = self._committed(anew=anew)
            return commit is None or self._is_pushed(commit)
        except _Protected:
            self._is_protected = True
            commit = self._committed(anew=False)
            return commit is None or self._is_pushed(commit)

    # -- reading -------------------------------------------------------------------------------

    def _fetch(self) -> None:
        """Bring the clone to what the repository holds now."""
        self._begun()
        there = self._there()
        if there != self._tip.id or not there:
            try:
                self._take(there)
            except _Refused:  # the clone is damaged, or a lock was left in it
                self._make_again()
                try:
                    self._take(there)
                except _Refused as error:
                    raise self._failure(error.said) from None

    def _begun(self) -> None:
        """Make the clone if there is none, and read what it holds."""
        if self._tip.id:
            return
        if not (self._clone / "HEAD").is_file():
            self._make_again()
        try:
            tip = self._run("rev-parse", "-q", "--verify", f"{OWN_REF}^{{commit}}").decode().strip()
            self._read(tip)
        except _Refused:
            self._tip, self._files = _Tip(), {}

    def _there(self) -> str:
        """Return the id of the newest commit in the repository; empty if there is none."""
        try:
            said = self._run(
                *("ls-remote", "--heads", "--", self._remote), seconds=NETWORK_SECONDS, inside=False
            )
        except _Refused as error:
            raise self._failure(error.said) from None
        heads = dict(line.split("\t")[::-1] for line in said.decode().splitlines())
        there = heads.pop(REMOTE_REF, "")
        if heads and not there and not self._may_be_shared:
            some = ", ".join(name.removeprefix("refs/heads/")[:40] for name in sorted(heads)[:3])
            raise SyncError(
                f"{self.address!r} holds other branches ({some}), as the repository of a project "
                "does: memories would be sent to everybody who reads it",
                remedy=Remedy.OWN_PLACE,
            )
        return there

    def _take(self, there: str) -> None:
        before = self._tip.history
        if there:
            self._run(
                *("fetch", "-q", "--no-tags", "--no-write-fetch-head", "--depth=1", "--force"),
                *("--", self._remote, f"{REMOTE_REF}:{OWN_REF}"),
                seconds=NETWORK_SECONDS,
            )
            self._read(self._run("rev-parse", f"{OWN_REF}^{{commit}}").decode().strip())
        else:
            self._run("update-ref", "-d", OWN_REF)
            self._tip, self._files = _Tip(), {}
        if before and before != self._tip.history:
            self._drop_old_objects()

    def _read(self, tip: str) -> None:
        """Read the newest commit, which is in the clone."""
        self._tip = _tip(tip, self._run("cat-file", "commit", tip))
        self._files, foreign = {}, []
        listed = self._run("ls-tree", "-r", "-l", "-z", "--full-tree", tip)
        for line in filter(None, listed.split(b"\0")):
            head, _, path = line.partition(b"\t")
            mode, _, id_, size = head.decode().split()
            name = path.decode("utf-8", "replace")
            if mode == PLAIN and names.is_name(name):
                self._files[name] = _Blob(id_, int(size))
            elif not is_hidden(name):
                foreign.append(name)
        self.ignored = foreign_files(foreign)

    def _make_again(self) -> None:
        """Make an empty clone; what is to be pushed is kept."""
        kept = [
            self._local("cat-file", "blob", blob.id)
            for blob in self._pending.values()
            if blob is not None
        ]
        self._tip, self._files = _Tip(), {}
        shutil.rmtree(self._clone, ignore_errors=True)
        self._local("init", "-q", "--bare", "--template=", str(self._clone), inside=False)
        for data in kept:
            self._local("hash-object", "-w", "--stdin", data=data)

    def _drop_old_objects(self) -> None:
        """Remove what no file here is made of any more."""
        kept = [blob.id for blob in self._pending.values() if blob is not None]
        for number, id_ in enumerate(kept):
            self._run("update-ref", f"refs/memstore/pending/{number}", id_)
        try:
            self._run("gc", "-q", "--prune=now", seconds=NETWORK_SECONDS)
        finally:
            for number, _ in enumerate(kept):
                self._run("update-ref", "-d", f"refs/memstore/pending/{number}")

    # -- writing -------------------------------------------------------------------------------

    def _committed(self, *, anew: bool) -> _Tip | None:
        """Make a commit of what is there and what is pending; ``None`` if that changes nothing."""
        tree = self._tree()
        old = self._local("rev-parse", f"{self._tip.id}^{{tree}}") if self._tip.id else b""
        if old.decode().strip() == tree and (not anew or self._tip.commits == 1):
            return None
        begins = anew or not self._tip.id or (self._is_long() and not self._is_protected)
        history = secrets.token_hex(8) if begins else self._tip.history
        commits = 1 if begins else self._tip.commits + 1
        added = 0 if begins else self._tip.bytes + self._added()
        parents = ("-p", self._tip.id) if self._tip.id and not begins else ()
        said = f"memstore\n\nhistory {history}, commit {commits}, {added} bytes\n"
        made = self._local("commit-tree", tree, *parents, data=said.encode())
        return _Tip(made.decode().strip(), history, commits, added)

    def _is_long(self) -> bool:
        """Return whether the history that is there has become too long or too large."""
        most = MAX_TIMES * sum(blob.size for blob in self._files.values())
        return self._tip.commits >= MAX_COMMITS or self._tip.bytes > max(most, MIN_BYTES)

    def _added(self) -> int:
        """Return about how many bytes a commit of what is pending adds to the repository."""
        blobs = sum(blob.size for blob in self._pending.values() if blob is not None)
        devices = {name.partition("/")[0] for name in self._pending}
        every = self._files.keys() | self._pending.keys()
        entries = sum(name.partition("/")[0] in devices for name in every)
        return blobs + ENTRY_BYTES * entries + COMMIT_BYTES

    def _tree(self) -> str:
        """Write the tree of what is there and what is pending, and return its id."""
        changed: dict[str, dict[str, _Blob | None]] = {}
        for name, blob in self._pending.items():
            device, _, file = name.partition("/")
            changed.setdefault(device, {})[file] = blob
        root = self._entries(self._tip.id)
        for device, files in changed.items():
            inside = self._entries(f"{self._tip.id}:{device}") if device in root else {}
            for file, blob in files.items():
                inside.pop(file, None)
                if blob is not None:
                    inside[file] = f"{PLAIN} blob {blob.id}"
            root.pop(device, None)
            if inside:
                root[device] = f"040000 tree {self._made_tree(inside)}"
        return self._made_tree(root)

    def _entries(self, tree: str) -> dict[str, str]:
        """Return what a tree holds: mode, kind and id by name."""
        if not tree:
            return {}
        lines = filter(None, self._local("ls-tree", "-z", tree).split(b"\0"))
        parts = (line.decode("utf-8", "surrogateescape").partition("\t") for line in lines)
        return {name: head for head, _, name in parts}

    def _made_tree(self, entries: Mapping[str, str]) -> str:
        lines = (f"{head}\t{name}\0" for name, head in entries.items())
        data = "".join(lines).encode("utf-8", "surrogateescape")
        return self._local("mktree", "-z", "--missing", data=data).decode().strip()

    def _is_pushed(self, commit: _Tip) -> bool:
        """Push a commit; return false if another device was faster."""
        is_new_history = bool(self._tip.id) and commit.history != self._tip.history
        lease = f"--force-with-lease={REMOTE_REF}:{self._tip.id}"
        force = (lease,) if is_new_history else ()
        try:
            self._run(
                *("push", "-q", "--no-verify", *force),
                *("--", self._remote, f"{commit.id}:{REMOTE_REF}"),
                seconds=NETWORK_SECONDS,
            )
        except _Refused as error:
            if OUTRUN.search(error.said) or (not force and BEHIND.search(error.said)):
                return False
            if force and PROTECTED.search(error.said):
                raise _Protected from None
            raise self._failure(error.said) from None
        self._local("update-ref", OWN_REF, commit.id)
        self._pending.clear()
        self._read(commit.id)
        if is_new_history:
            self._drop_old_objects()
        return True

    # -- git -----------------------------------------------------------------------------------

    def _local(
        self, *arguments: str, data: bytes = b"", most: int = MAX_LISTING_BYTES, inside: bool = True
    ) -> bytes:
        """Run git where only the clone or this machine can be the reason if it fails."""
        try:
            return self._run(*arguments, data=data, most=most, inside=inside)
        except _Refused as error:
            shutil.rmtree(self._clone, ignore_errors=True)  # the next run makes it again
            raise self._failure(error.said) from None

    def _run(
        self,
        *arguments: str,
        data: bytes = b"",
        most: int = MAX_LISTING_BYTES,
        seconds: float = LOCAL_SECONDS,
        inside: bool = True,
    ) -> bytes:
        """Run git in the clone, and return what it wrote.

        Raises:
            SyncError: there is no git, or it wrote more than ``most`` bytes, or took longer.
            _Refused: it ended with an error.
        """
        where = (f"--git-dir={self._clone}",) if inside else ()
        configured = (*CONFIGURATION, *(() if self._asks else QUIET))
        options = [part for one in configured for part in ("-c", one)]
        self._clone.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with tempfile.TemporaryFile() as errors:
            try:
                process = subprocess.Popen(  # noqa: S603 - the user's git, with our arguments
                    ["git", *where, *options, *arguments],  # noqa: S607 - wherever the user has it
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=errors,
                    env=self._environment,
                    cwd=self._clone.parent,
                    start_new_session=not self._asks,  # without the terminal, nothing can ask there
                )
            except FileNotFoundError:
                raise SyncError("git is not installed on this machine") from None
            stopped = threading.Event()
            timer = threading.Timer(seconds, _stop, (process, stopped))
            timer.start()
            try:
                written = _exchanged(process, data, most)
                if len(written) > most:
                    _stop(process)
                status = process.wait()
            finally:
                timer.cancel()
            errors.seek(0)
            said = errors.read(2**16).decode("utf-8", "replace")
        if stopped.is_set():
            raise SyncError(
                f"{self.address!r} did not answer within {seconds:g} s", remedy=Remedy.CHECK_GIT
            )
        if len(written) > most:
            raise SyncError(f"{self.address!r} holds more than this program reads")
        if status:
            raise _Refused(said)
        return written

    @cached_property
    def _environment(self) -> dict[str, str]:
        """Return git's environment: the user's, in English, and of no other repository."""
        found = {
            name: value
            for name, value in settings.environment().items()
            if name not in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR")
            and name not in ("GIT_OBJECT_DIRECTORY", "GIT_NAMESPACE", "GIT_PREFIX")
        }
        for role in ("AUTHOR", "COMMITTER"):  # the carrier needs no name and address of the user
            found |= {f"GIT_{role}_NAME": "memstore", f"GIT_{role}_EMAIL": "memstore@localhost"}
        found |= {"LC_ALL": "C", "LANGUAGE": "", "GIT_ALLOW_PROTOCOL": PROTOCOLS}
        found["GIT_CEILING_DIRECTORIES"] = str(self._clone.parent)
        if not self._asks:
            found |= {"GIT_TERMINAL_PROMPT": "0", "GIT_ASKPASS": "", "SSH_ASKPASS_REQUIRE": "never"}
            found |= {"GCM_INTERACTIVE": "never", "GIT_SSH_COMMAND": _without_questions(found)}
        return found

    def _failure(self, said: str) -> SyncError:
        """Return the error for what git said."""
        for pattern, reason in REASONS:
            if re.search(pattern, said, re.IGNORECASE):
                return SyncError(
                    f"{self.address!r} cannot be used: {reason}", remedy=Remedy.CHECK_GIT
                )
        return SyncError(
            f"{self.address!r} cannot be used: git said {_line(said.splitlines())!r}",
            remedy=Remedy.CHECK_GIT,
        )


def _exchanged(process: subprocess.Popen[bytes], data: bytes, most: int) -> bytes:
    """Give a process its input, and return at most one byte more of its output than allowed."""
    assert process.stdin is not None
    assert process.stdout is not None
    with process.stdout, suppress(BrokenPipeError):
        with process.stdin:
            process.stdin.write(data)
        return process.stdout.read(most + 1)
    return b""


def _without_questions(environment: Mapping[str, str]) -> str:
    """Return the command of ssh that the user has chosen, told to ask nothing."""
    chosen = environment.get("GIT_SSH_COMMAND", "")
    if not chosen:
        asked = ["git", "config", "--get", "core.sshCommand"]
        with suppress(OSError, subprocess.TimeoutExpired):
            done = subprocess.run(  # noqa: S603
                asked,
                env=dict(environment),
                capture_output=True,
                timeout=LOCAL_SECONDS,
                check=False,
            )
            chosen = done.stdout.decode("utf-8", "replace").strip()
    return f"{chosen or environment.get('GIT_SSH') or 'ssh'} -o BatchMode=yes"


def _stop(process: subprocess.Popen[bytes], stopped: threading.Event | None = None) -> None:
    """End git and what it started."""
    if stopped is not None:
        stopped.set()
    with suppress(ProcessLookupError):
        if hasattr(os, "killpg") and os.getpgid(process.pid) == process.pid:
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()


def _tip(id_: str, commit: bytes) -> _Tip:
    found = HISTORY.search(commit)
    if found is None:  # somebody else's
        return _Tip(id_, id_[:16], MAX_COMMITS)
    return _Tip(id_, found[1].decode(), int(found[2]), int(found[3]))


def _line(lines: Iterable[str]) -> str:
    """Return the line of a message that says what is wrong."""
    told = [line.strip() for line in lines if line.strip()]
    worst = [line for line in told if line.startswith(("fatal:", "error:", "remote:"))]
    return masked((worst or told or ["nothing"])[0])[:200]
