"""Syncing a file with the place that this machine remembers for it.

One process does it at a time. The place sees everything of a run at once: what the run writes, the
key of a sealed place, and what this device says of its projects.
"""

from __future__ import annotations

from contextlib import contextmanager, nullcontext, suppress
from typing import TYPE_CHECKING, Final

from memstore.embedding.leases import Lease
from memstore.errors import NotFound, Remedy, StoreBusy, SyncError
from memstore.named import NamedTuple
from memstore.sync import project_files, remembered, sealing, status, trust_files
from memstore.sync.places import mounts, names
from memstore.sync.places.address import place_at
from memstore.sync.reports import Status

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from memstore.file.file import File
    from memstore.sync.places import Entry, Place
    from memstore.sync.project_files import Twice
    from memstore.sync.remembered import Remembered
    from memstore.sync.reports import Synced
    from memstore.sync.trust_files import Exchanged

LEASE: Final = "sync place"
LEASE_SECONDS: Final = 60.0
"""How long a run that was killed blocks the next one."""


class Outcome(NamedTuple):
    """What a run did, and what a person has to know besides."""

    synced: Synced
    twice: tuple[Twice, ...] = ()
    """Projects for which two namespaces stand."""
    is_sealed: bool = False
    trust: Exchanged | None = None
    """Of how many sources the level of trust came and went; ``None`` if none travels."""


class _OneLook:
    """A place that is listed once, and that publishes when all has been put."""

    def __init__(self, place: Place) -> None:
        self.address = place.address
        self.listed: Mapping[str, Entry] = place.list()
        self.ignored: Sequence[str] = place.ignored
        self._place = place
        self._changed: set[str] = set()
        self._is_anew = False

    def list(self) -> Mapping[str, Entry]:
        return self.listed

    def get(self, name: str, *, most: int) -> bytes:
        return self._place.get(name, most=most)

    def put(self, name: str, data: bytes) -> None:
        self._place.put(name, data)
        self._changed.add(name)

    def delete(self, name: str) -> None:
        self._place.delete(name)
        self._changed.add(name)

    def publish(self, *, anew: bool = False) -> None:
        self._is_anew = self._is_anew or anew

    def end(self) -> None:
        """Let the others see what was put."""
        if self._changed or self._is_anew:
            self._place.publish(anew=self._is_anew)


def place_of(file: File, chosen: Remembered, *, asks: bool = False, refill: bool = False) -> Place:
    """Return the place that was chosen for a file."""
    return place_at(
        chosen.address,
        state=remembered.folder_of(file.path),
        token=chosen.token,
        asks=asks,
        may_be_shared=chosen.may_be_shared,
        refill=refill,
    )


def chosen_for(file: File) -> Remembered:
    """Return the place that is remembered for a file.

    Raises:
        NotFound: there is none.
    """
    chosen = remembered.read(remembered.folder_of(file.path))
    if chosen is None:
        raise NotFound("this file has no place to sync with yet", remedy=Remedy.NAME_PLACE)
    return chosen


def is_sealed(file: File, place: Place) -> bool:
    """Return whether a place is sealed, without needing the passphrase."""
    return sealing.is_sealed(place, place.list()) or sealing.is_kept(
        remembered.folder_of(file.path)
    )


def sources_set(file: File) -> int:
    """Return of how many sources somebody set how much they count."""
    with file.engine.read() as transaction:
        return len(trust_files.stored(transaction))


def needs_passphrase(file: File, place: Place) -> bool:
    """Return whether a run would need the passphrase."""
    try:
        sealing.seal_of(place, place.list(), state=remembered.folder_of(file.path))
    except SyncError as error:
        if error.remedy is Remedy.SAY_PASSPHRASE:
            return True
        raise
    return False


def sync(
    file: File,
    chosen: Remembered,
    *,
    passphrase: str | None = None,
    begin_sealing: bool = False,
    asks: bool = False,
    refill: bool = False,
    dry_run: bool = False,
) -> Outcome:
    """Exchange with a place what other devices and this file have not, and remember the place.

    Args:
        passphrase: opens the key of a sealed place that is not kept here; or seals it.
        begin_sealing: make a key, or a new one, that the passphrase opens.
        asks: whether git may ask for a password.
        refill: fill a folder that is empty, also on another file system than before.
        dry_run: only return what would come and go.

    Raises:
        SyncError: the place cannot be used; local memories are as they were.
        StoreBusy: another process syncs this file.
    """
    state = remembered.folder_of(file.path)
    before = remembered.read(state)
    with nullcontext() if dry_run else _lease(file):
        if chosen == before and remembered.read(state) != before:
            before = chosen = chosen_for(file)  # somebody chose otherwise before this began
        place = _OneLook(place_of(file, chosen, asks=asks, refill=refill))
        if begin_sealing and not dry_run:
            if sealing.is_sealed(place, place.listed):
                sealing.seal_of(place, place.listed, state=state, passphrase=passphrase)
            seal: sealing.PlaceSeal | None = sealing.begin(state=state, passphrase=passphrase or "")
        else:
            seal = sealing.seal_of(place, place.listed, state=state, passphrase=passphrase)
        if chosen.trust and seal is None and not dry_run:
            raise SyncError(
                f"how much sources count does not travel through {place.address!r}, which is not "
                "sealed: whoever can write there could let any text count as yours",
                remedy=Remedy.SEAL_PLACE,
            )
        key = None if seal is None else seal.key_id
        done = file.sync(
            place,
            namespaces=chosen.namespaces,
            seal=seal,
            anew=key != chosen.sealed_with,
            dry_run=dry_run,
            state=None if file.engine.is_remote else state,
        )
        trust = None
        if chosen.trust and seal is not None:
            trust = trust_files.exchange(
                file.engine, place, place.listed, done.device, seal, dry_run=dry_run
            )
        if dry_run:
            return Outcome(done, is_sealed=seal is not None, trust=trust)
        if trust is None:
            trust_files.withdraw(place, place.listed, done.device)
        if seal is not None:
            seal.put_key(place, place.listed, device=done.device)
        held = file.namespaces()
        travelling = [one for one in held if chosen.namespaces is None or one in chosen.namespaces]
        own = project_files.of_this_machine(travelling)
        project_files.put(place, place.listed, own, done.device, seal)
        _clear_dismissed(file, place)
        place.end()
        _remember(state, before, chosen._replace(sealed_with=key))
        others = project_files.of_others(place, place.listed, done.device, seal)
        twice = project_files.settle(own, others, held)
        if twice:
            with file.engine.read() as transaction:
                twice = tuple(project_files.older(transaction, one) for one in twice)
        return Outcome(done, twice, seal is not None, trust)


def _remember(state: Path, before: Remembered | None, chosen: Remembered) -> None:
    """Remember a place after a run, unless somebody forgot it or chose otherwise meanwhile."""
    now = remembered.read(state)
    if before is not None and now is None:
        return
    if before is not None and now is not None and now.every_seconds != before.every_seconds:
        chosen = chosen._replace(every_seconds=now.every_seconds)
    remembered.write(state, chosen)


def new_key(file: File, passphrase: str, *, asks: bool = False) -> Outcome:
    """Give the place a new key and passphrase, after all is taken that the old one opens."""
    chosen = chosen_for(file)
    sync(file, chosen, asks=asks)
    return sync(file, chosen_for(file), passphrase=passphrase, begin_sealing=True, asks=asks)


def status_of(file: File) -> Status:
    """Return what is known of the place and of each device, without asking the place."""
    state = remembered.folder_of(file.path)
    chosen, last = remembered.read(state), remembered.last_run(state)
    devices = tuple(one for one in status.status(file.engine) if not one.is_retired)
    return Status(
        address=None if chosen is None else chosen.address,
        namespaces=() if chosen is None else chosen.namespaces or (),
        synced_at=next((one.heard_at for one in devices if one.is_here), None),
        tried_at=None if last is None else last.at,
        failed="" if last is None else last.error,
        said=() if last is None else last.said,
        every_seconds=None if chosen is None else chosen.every_seconds,
        trust=chosen is not None and chosen.trust,
        devices=devices,
    )


def leave(file: File) -> Remembered:
    """Forget the place and its key; what this device has put there stays for the others."""
    state = remembered.folder_of(file.path)
    chosen = chosen_for(file)
    with _lease(file):  # a run that ends later would remember the place again
        status.leave(file.engine)
        remembered.forget(state)
        sealing.forget(state)
        mounts.forget(state)
    return chosen


def _clear_dismissed(file: File, place: _OneLook) -> None:
    """Remove keys and the like of dismissed devices, where that is allowed."""
    gone = {one.id for one in status.status(file.engine) if one.is_dismissed}
    for name in place.listed:
        device = name.partition("/")[0]
        if device in gone and names.read(name) is None:
            with suppress(SyncError):  # on a server, another token may have begun the device
                place.delete(name)


@contextmanager
def _lease(file: File) -> Iterator[None]:
    """Let no other process sync this file."""
    with Lease(file.engine, LEASE, LEASE_SECONDS) as lease:
        if not lease.is_held:
            raise StoreBusy("another process is syncing this file")
        yield
