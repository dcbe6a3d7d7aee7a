"""One run of sync: hear what others say, take their lines, and write what they have not.

Whatever happens in a run, the next one carries on: what was taken and how far is one transaction,
and files are put before those that they replace are removed.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from memstore.database import journal
from memstore.database import meta as meta_table
from memstore.database.tables import taken as taken_table
from memstore.database.tables.devices import DISMISSED, FORMER
from memstore.domain import clock
from memstore.embedding.leases import Lease
from memstore.errors import StoreBusy
from memstore.history.erasure import UNFINISHED, finish
from memstore.sync import devices
from memstore.sync.devices import DeviceState, Reached
from memstore.sync.files import Files
from memstore.sync.known_devices import KnownDevices
from memstore.sync.namespace_choice import Choice
from memstore.sync.places import names
from memstore.sync.receiving import Receiving
from memstore.sync.relaying import Relaying
from memstore.sync.reports import Synced
from memstore.sync.sending import Sending, written

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from memstore.database.changes import Dependents
    from memstore.database.engine import Engine
    from memstore.sync.places import Place, Seal

LEASE: Final = "sync"
LEASE_SECONDS: Final = 60.0
"""How long a run that was killed blocks the next one."""


def sync(
    engine: Engine,
    dependents: Dependents,
    place: Place,
    *,
    rewrite: Callable[[], bool] = lambda: True,
    namespaces: Collection[str] | None = None,
    seal: Seal | None = None,
    anew: bool = False,
    new_device: bool = False,
    dry_run: bool = False,
    state: Path | None = None,
) -> Synced:
    """Exchange with a place what others and this file have not of each other.

    Args:
        engine: the file.
        dependents: derived data, which follows erasures.
        place: where the devices meet.
        rewrite: removes what was erased from the files beside the database.
        namespaces: those that travel; ``None`` for all.
        seal: encrypts what is written, and decrypts what is read.
        anew: write every file of this device again, as with another key.
        new_device: go on under a new id: the file is a copy, or on another machine.
        dry_run: only return what would come and go.
        state: the folder that this machine has for the file, which says where it was; ``None`` for
            a database of a server.

    Raises:
        SyncError: the place cannot be read or written.
        StoreBusy: another process syncs this file.
    """
    run = _Run(engine, dependents, place, rewrite, namespaces, seal, state)
    if dry_run:
        return run.rehearse()
    with Lease(engine, LEASE, LEASE_SECONDS) as lease:
        if not lease.is_held:
            raise StoreBusy("another process is syncing this file")
        return run.perform(anew=anew, new_device=new_device)


class _Run:
    """One run, step by step."""

    def __init__(
        self,
        engine: Engine,
        dependents: Dependents,
        place: Place,
        rewrite: Callable[[], bool],
        namespaces: Collection[str] | None,
        seal: Seal | None,
        state: Path | None,
    ) -> None:
        self._engine = engine
        self._place = place
        self._rewrite = rewrite
        self._state = state
        self._choice = choice = Choice(None if namespaces is None else frozenset(namespaces))
        self._files = Files(place, seal)
        self._known = KnownDevices(self._files, choice, Path(engine.path), state)
        self._receiving = Receiving(engine, dependents, self._files, self._known, choice)
        self._sending = Sending(engine, self._files, self._known, choice)
        self._relaying = Relaying(engine, self._files, self._known)

    def perform(self, *, anew: bool, new_device: bool) -> Synced:
        self._files.list_names()
        with self._engine.read() as transaction:
            self._known.load(transaction)
            before = written(transaction)
        with self._engine.write() as transaction:
            self._known.hear(transaction, again=before.choice != self._choice.text)
        with self._engine.write() as transaction:
            self._known.identify(transaction, new_device=new_device)
        self._known.remember()  # now: if the run fails, the file is not taken for a copy
        told = self._known.states.get(self._known.me.device)
        seen = 0 if told is None else min(before.line, told.head.line)
        self._receiving.settle_own(before.line)
        self._receiving.begin_again()
        self._receiving.take_all()
        self._finish_erasures()
        stale = self._sending.send(before, seen, anew=anew)
        self._relaying.relay(stale, edition=self._sending.edition, again=self._sending.is_again)
        self._say()
        if self._files.has_changed:
            is_rewritten = self._sending.is_rewritten or self._relaying.is_rewritten
            self._place.publish(anew=is_rewritten)
        return self._report()

    def rehearse(self) -> Synced:
        """Return what a run would do, and write nothing."""
        self._files.list_names()
        with self._engine.trial() as transaction:
            self._known.load(transaction)
            before = written(transaction)
            self._known.hear(transaction, again=before.choice != self._choice.text)
            if self._known.here is None:
                self._known.begin(transaction)
            self._receiving.begin_again(transaction)
            self._receiving.take_all(transaction)
            self._sending.count(transaction)
        return self._report(dry_run=True)

    def _finish_erasures(self) -> None:
        with self._engine.read() as transaction:
            unfinished = meta_table.is_set(transaction, UNFINISHED)
        if unfinished:
            finish(self._engine, self._rewrite)

    def _say(self) -> None:
        """Write this device's state, if it is not what it said last."""
        me, others = self._known.me, self._known.others
        own = self._files.own(me.device).values()
        sent = max((named.last for named in own), default=0)
        with self._engine.read() as transaction:
            last = journal.last_id(transaction)
            state = DeviceState(
                device=me.device,
                name=me.name,
                at=clock.utc_now(),
                head=Reached(last, taken_table.hash_at(transaction, last), me.begins),
                sent=sent,
                sent_hash=taken_table.hash_at(transaction, sent),
                erased=taken_table.last_own_end(transaction, me.begins),
                edition=written(transaction).edition,
                taken={row.device: Reached(row.known, row.hash, row.begins) for row in others},
                former=tuple(row.device for row in others if row.state == FORMER),
                dismissed=tuple(row.device for row in others if row.state == DISMISSED),
            )
        if not self._files.has_changed and state.same_as(self._known.states.get(me.device)):
            return
        data = devices.write(state)
        self._files.put(names.of_state(me.device), data)
        with self._engine.write() as transaction:
            self._known.keep(transaction, me._replace(said=data.decode()))

    def _report(self, *, dry_run: bool = False) -> Synced:
        return Synced(
            came=dict(self._receiving.came),
            went=dict(self._sending.went),
            waits=dict(self._receiving.waits),
            redacted=dict(self._sending.redacted),
            erased=self._receiving.erased,
            ignored=(*self._said_once(dry_run=dry_run), *self._files.ignored),
            device=self._known.me.device,
            was=self._known.was,
            reason=self._known.reason,
            dry_run=dry_run,
        )

    def _said_once(self, *, dry_run: bool) -> list[str]:
        """Return what lies in the place and is not read, if nobody was told of it before."""
        sentences = [*self._place.ignored]
        sentences += (
            f"device {self._known.name_of(device)} has a newer version of memstore; what it writes "
            "in that way is taken when this one is upgraded"
            for device in sorted(self._files.newer - {self._known.me.device})
        )
        sentences += (
            f"device {self._known.name_of(device)} has not synced since the key was changed; what "
            "it wrote is taken when it syncs with the new passphrase"
            for device in sorted(self._files.other_key - {self._known.me.device})
        )
        sentences += (
            f"device {self._known.name_of(device)} changed which namespaces it shares; its new "
            "files have not arrived yet"
            for device in sorted(self._files.too_old)
        )
        sentences += (
            f"the files of device {self._known.name_of(device)} could not be removed: {why}"
            for device, why in sorted(self._files.kept.items())
        )
        if dry_run or self._state is None:
            return sentences
        return devices.news(self._state, sentences)
