"""One run of sync: hear what others say, take their lines, and write what they have not.

Whatever happens in a run, the next one carries on: what was taken and how far is one transaction,
and files are put before those that they replace are removed.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from datetime import timedelta
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Final

from memstore.database import journal
from memstore.database import meta as meta_table
from memstore.database.tables import devices as device_table
from memstore.database.tables import taken as taken_table
from memstore.database.tables.devices import (
    DISMISSED,
    FORMER,
    HERE,
    OTHER,
    DeviceRow,
)
from memstore.domain import clock
from memstore.embedding.leases import Lease
from memstore.errors import StoreBusy, SyncError
from memstore.history.erasure import UNFINISHED, finish
from memstore.named import NamedTuple
from memstore.sync import devices, records, rules, screening, segments, taking
from memstore.sync.devices import DeviceState, Reached
from memstore.sync.places import names
from memstore.sync.reports import Synced
from memstore.sync.segments import ActRecords, Header, NewerFormat, Segment

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

    from memstore.database.changes import Dependents
    from memstore.database.engine import Engine, Transaction
    from memstore.sync.places import Place, Seal
    from memstore.sync.places.names import Named
    from memstore.sync.rules import Record

LEASE: Final = "sync"
LEASE_SECONDS: Final = 60.0
"""How long a run that was killed blocks the next one."""
MERGED_AT: Final = 32
"""So many files of a device are merged; fewer, if that was not done for a day."""
MERGED_AFTER: Final = timedelta(days=1)
MAX_SENTENCE: Final = 200
"""Characters of what is said of a file; it may quote what is in it."""
LINES: Final = 50_000
"""About so many lines are in one file."""
RECORDS: Final = 1_000
"""About so many records are taken in one transaction."""


class Written(NamedTuple):
    """What the files of this device in the place were written from."""

    line: int = 0
    sent: int = 0
    """The last line in a file; those after it, up to :attr:`line`, have no records."""
    choice: str = ""
    edition: int = 0
    merged: str = ""
    """When files were merged last, as it is stored."""


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


def written(transaction: Transaction) -> Written:
    """Return what this device's files were written from."""
    text = meta_table.get(transaction, meta_table.SYNCED)
    return Written() if text is None else Written(*json.loads(text))


class _Run:
    """The state of one run."""

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
        self.state = state
        self.engine = engine
        self.dependents = dependents
        self.place = place
        self.rewrite = rewrite
        self.namespaces = None if namespaces is None else frozenset(namespaces)
        self.seal = seal
        self.files: dict[str, Named] = {}
        self.sizes: dict[str, int] = {}
        self.states: dict[str, DeviceState] = {}
        self.rows: dict[str, DeviceRow] = {}
        self.read: dict[str, Segment | None] = {}
        self.ignored: list[str] = []
        self.newer: set[str] = set()
        """The devices of which files were written by a newer version of the program."""
        self.restarted: set[str] = set()
        """The devices that were read from their beginning again."""
        self.came: Counter[str] = Counter()
        self.went: Counter[str] = Counter()
        self.waits: Counter[str] = Counter()
        self.redacted: Counter[str] = Counter()
        self.erased = 0
        self.was = ""
        self.has_changed = False
        self.is_rewritten = False
        """Whether files hold less than before, which a place has to forget."""
        self.written = Written()
        """What this device's files were written from before this run."""
        self.seen = 0
        """The last line from which the files are that others can see: a run may have been killed
        before it published what it wrote."""

    def perform(self, *, anew: bool, new_device: bool) -> Synced:
        self._list()
        self._load()
        self.written = self._already_written()
        self._hear()
        self._be_somebody(new_device=new_device)
        told = self.states.get(self._me.device)
        self.seen = 0 if told is None else min(self.written.line, told.head.line)
        self._settle_own()
        self._take_all()
        self._finish_erasures()
        self._make(anew=anew)
        self._relay()
        self._say()
        if self.has_changed:
            self.place.publish(anew=self.is_rewritten)
        if self.state is not None:
            devices.remember(self.state, self._me.device, Path(self.engine.path))
        return self._report()

    def rehearse(self) -> Synced:
        """Return what a run would do, and write nothing."""
        self._list()
        self.written = self._already_written()
        with self.engine.trial() as transaction:
            self._load_in(transaction)
            self._hear_in(transaction)
            if self.here is None:
                self._begin(transaction, self._left_at(transaction))
            progress = True
            while progress:
                progress = False
                for row in self._others():
                    progress = self._take_from(row, transaction) or progress
            last = journal.last_id(transaction)
            row = self._me
            for first, end in self._uncovered(row, row.begins, last):
                own = records.own(transaction, self._chains, first, end)
                self._count_sent(screening.screened([one for one in own if self._travels(one)]))
        return self._report(dry_run=True)

    def _report(self, *, dry_run: bool = False) -> Synced:
        return Synced(
            came=dict(self.came),
            went=dict(self.went),
            waits=dict(self.waits),
            redacted=dict(self.redacted),
            erased=self.erased,
            ignored=(*self._said_once(dry_run=dry_run), *self.ignored),
            device=self._me.device,
            was=self.was,
            dry_run=dry_run,
        )

    def _said_once(self, *, dry_run: bool) -> list[str]:
        """Return what lies in the place and is not read, if nobody was told of it before."""
        sentences = [*self.place.ignored]
        for device in sorted(self.newer):
            row = self.rows.get(device)
            sentences.append(
                f"device {device[:4] if row is None else row.name} has a newer version of memstore;"
                " what it writes in that way is taken when this one is upgraded"
            )
        if dry_run or self.state is None:
            return sentences
        return devices.news(self.state, sentences)

    # -- the place -----------------------------------------------------------------------------

    def _list(self) -> None:
        for name, entry in self.place.list().items():
            self.sizes[name] = entry.size
            if (named := names.read(name)) is not None:
                self.files[name] = named

    def _get(self, name: str, most: int) -> bytes:
        data = self.place.get(name, most=most)
        if self.seal is not None:
            data = self.seal.open(data, device=self.files[name].device, name=name)
        return data

    def _put(self, name: str, data: bytes) -> None:
        named = names.read(name)
        if named is None:
            raise ValueError(f"{name} is no name of a file in a place")
        if self.seal is not None:
            data = self.seal.seal(data, device=named.device, name=name)
        self.place.put(name, data)
        self.files[name] = named
        self.sizes[name] = len(data)
        self.has_changed = True

    def _delete(self, name: str) -> None:
        self.place.delete(name)
        self.files.pop(name, None)
        self.has_changed = True

    def _segment(self, name: str) -> Segment | None:
        """Return a file of lines; ``None`` if it cannot be read, which is said once."""
        if name not in self.read:
            try:
                data = self._get(name, segments.MAX_BYTES)
                self.read[name] = segments.read(data, self.files[name])
            except NewerFormat:
                self.newer.add(self.files[name].of)
                self.read[name] = None
            except SyncError as error:
                self.ignored.append(f"{name}: {error.text[:MAX_SENTENCE]}")
                self.read[name] = None
        return self.read[name]

    # -- devices -------------------------------------------------------------------------------

    @property
    def here(self) -> DeviceRow | None:
        return next((row for row in self.rows.values() if row.state == HERE), None)

    @property
    def _me(self) -> DeviceRow:
        row = self.here
        if row is None:
            raise SyncError("this file is no device yet")
        return row

    def _others(self) -> list[DeviceRow]:
        return [row for row in self.rows.values() if row.state != HERE]

    @property
    def _chains(self) -> records.Chains:
        return records.Chains.of(self.rows.values())

    def _load(self) -> None:
        with self.engine.read() as transaction:
            self._load_in(transaction)

    def _load_in(self, transaction: Transaction) -> None:
        self.rows = {row.device: row for row in device_table.every(transaction)}

    def _keep(self, transaction: Transaction, row: DeviceRow) -> DeviceRow:
        device_table.change(transaction, row)
        self.rows[row.device] = row
        return row

    def _hear(self) -> None:
        """Read what the devices say, where it is new."""
        with self.engine.write() as transaction:
            self._hear_in(transaction)

    def _hear_in(self, transaction: Transaction) -> None:
        if self.written.choice not in ("", self._choice()):
            for row in self._others():  # more of their lines may travel now
                if not row.is_own:
                    self._keep(transaction, row._replace(known=row.begins, hash=""))
        for name, named in [*self.files.items()]:
            if not named.is_state:
                continue
            try:
                state = devices.read(self._get(name, devices.MAX_BYTES), named.device)
            except NewerFormat:
                self.newer.add(named.device)
                continue
            except SyncError as error:
                self.ignored.append(f"{name}: {error.text[:MAX_SENTENCE]}")
                continue
            self.states[named.device] = state
            self._note(transaction, state)
        begins: dict[str, int] = {}
        for state in self.states.values():
            for device, reached in (*state.taken.items(), (state.device, state.head)):
                begins[device] = max(begins.get(device, 0), reached.begins)
        for named in [*self.files.values()]:  # of devices that nobody hears any more
            if named.of not in self.rows and not named.is_state:
                start = begins.get(named.of, 0)
                self._meet(transaction, named.of, named.of[:4], start)
        for row in self._others():  # where one begins that was met by its files alone
            start = begins.get(row.device, 0)
            if not row.is_own and row.begins == row.known < start:
                self._keep(transaction, row._replace(begins=start, known=start))

    def _meet(self, transaction: Transaction, device: str, name: str, begins: int) -> DeviceRow:
        row = device_table.add(transaction, device, name, OTHER, begins=begins, known=begins)
        self.rows[device] = row
        return row

    def _note(self, transaction: Transaction, state: DeviceState) -> None:
        row = self.rows.get(state.device)
        if row is None:
            row = self._meet(transaction, state.device, state.name, state.head.begins)
        if row.state == HERE:
            return
        if row.state == OTHER and row.last_said.get("edition", state.edition) != state.edition:
            row = row._replace(known=row.begins, hash="")  # its files hold other records now
        said = json.loads(devices.write(state))
        self._keep(transaction, row._replace(name=state.name, said=json.dumps(said)))

    def _be_somebody(self, *, new_device: bool) -> None:
        """Become a device, or another one if somebody knows lines that this file has not."""
        row = self.here
        with self.engine.write() as transaction:
            if row is None:
                self._begin(transaction, self._left_at(transaction))
            elif new_device or self._is_elsewhere(row) or self._is_another(transaction, row):
                self.was = row.device
                common = max(row.begins, self._common(transaction, row))
                hash_ = taken_table.hash_at(transaction, common)
                self._keep(transaction, row._replace(state=FORMER, known=common, hash=hash_))
                self._begin(transaction, common, row.name)

    def _is_elsewhere(self, row: DeviceRow) -> bool:
        """Return whether this file is a copy of the one that is a device."""
        if self.state is None:
            return False
        return devices.is_elsewhere(self.state, row.device, Path(self.engine.path))

    def _left_at(self, transaction: Transaction) -> int:
        """Return the last line that this file sent before it left the others; 0 if it never did."""
        return max(
            (
                row.known
                for row in self.rows.values()
                if row.state == FORMER and self._has(transaction, Reached(row.known, row.hash))
            ),
            default=0,
        )

    def _begin(self, transaction: Transaction, begins: int, name: str | None = None) -> None:
        device = names.new_device()
        said = name or devices.name_of_machine()
        self.rows[device] = device_table.add(
            transaction, device, said, HERE, begins=begins, known=begins
        )

    def _is_another(self, transaction: Transaction, row: DeviceRow) -> bool:
        if any(row.device in (*one.former, *one.dismissed) for one in self.states.values()):
            return True
        return any(
            reached.line > 0 and not self._has(transaction, reached)
            for reached in self._reached(row)
        )

    def _reached(self, row: DeviceRow) -> Iterator[Reached]:
        """Yield how far this file's lines are known to others, and to what it left itself."""
        for state in self.states.values():
            if state.device == row.device:
                yield state.head
            elif row.device in state.taken:
                yield state.taken[row.device]

    def _has(self, transaction: Transaction, reached: Reached) -> bool:
        """Return whether this file has a line."""
        held = taken_table.hash_at(transaction, reached.line)
        return bool(held) and held.startswith(reached.hash)

    def _common(self, transaction: Transaction, row: DeviceRow) -> int:
        """Return the last line that this file has in common with what is known of it."""
        common = 0
        for reached in self._reached(row):
            if self._has(transaction, reached):
                common = max(common, reached.line)
        for name, named in self.files.items():
            if named.of != row.device or named.is_state or named.is_relayed:
                continue
            segment = self._segment(name)
            for act in segment.acts if segment is not None else ():
                if act.last > common and self._has(transaction, Reached(act.last, act.hash)):
                    common = act.last
        return common

    # -- taking --------------------------------------------------------------------------------

    def _settle_own(self) -> None:
        """Let follow what this file's own changes mean for what others changed."""
        since = self.written.line + 1
        with self.engine.write() as transaction:
            if not any(row.known > row.begins for row in self._others()):
                return
            last = journal.last_id(transaction)
            changed = {
                record.about for record in records.own(transaction, self._chains, since, last)
            }
            if changed:
                taking.settle(transaction, self.dependents, [*self.rows.values()], changed)

    def _take_all(self) -> None:
        progress = True
        while progress:
            progress = False
            for row in self._others():
                progress = self._take_from(row, None) or progress

    def _take_from(self, row: DeviceRow, within: Transaction | None) -> bool:
        """Take what follows of a device's lines; return whether anything was taken."""
        taken = False
        self.waits.pop(row.device, None)
        if row.device not in self.restarted and not self._is_as_there(row, within):
            row = self._restart(row, within)
        while (name := self._following(row)) is not None:
            segment = self._segment(name)
            if segment is None:
                break
            if not self._continues(row, segment, within):
                if row.device in self.restarted or self._has_taken_part(row, name, within):
                    self.ignored.append(f"{name}: it does not continue the lines before it")
                    self.read[name] = None
                else:
                    row = self._restart(row, within)
                continue
            before = row.known
            row = self._take_segment(row, segment, within)
            taken = taken or row.known > before
            if row.known < segment.header.last:
                break
        return taken

    def _is_as_there(self, row: DeviceRow, within: Transaction | None) -> bool:
        """Return whether the lines of a device in the place are those that were taken.

        They are others if the device was restored from a backup and its place was lost: it then
        wrote other lines under its name. Where those are more, their file does not continue what
        was taken.
        """
        if row.known <= row.begins:
            return True
        state = self.states.get(row.device)
        if state is not None and state.sent == row.known:
            # A state beside files of another chain is no reason to read them in each run.
            return self._is_hash(row, state.sent_hash) or self._has_taken_part(row, "", within)
        files = [
            (name, named)
            for name, named in self.files.items()
            if named.of == row.device
            and not named.is_state
            and not (named.is_relayed and named.device == self._me.device)
        ]
        if not files or any(named.last >= row.known for _, named in files):
            return True
        found = [self._segment(name) for name, named in files if named.last > row.begins]
        return all(one is None or self._agrees(row, one, within) for one in found)

    def _agrees(self, row: DeviceRow, segment: Segment, within: Transaction | None) -> bool:
        """Return whether what a file has of a device was taken, up to the last line that was."""
        first = max(segment.header.first, row.begins + 1)
        last = min(segment.header.last, row.known)
        there = {
            (record.line, record.at, record.about)
            for act in segment.acts
            for record in act.records
            if first <= record.line <= last and self._travels(record)
        }

        def known(transaction: Transaction) -> set[tuple[int, int, rules.About]]:
            found = self._known_of(transaction, row, first, last)
            return {(record.line, record.at, record.about) for record in found}

        if within is not None:
            return there <= known(within)
        with self.engine.read() as transaction:
            return there <= known(transaction)

    def _following(self, row: DeviceRow) -> str | None:
        """Return the file with the lines that follow; its own before one that others relay."""
        found = [
            (named.is_relayed, -named.last, name)
            for name, named in self.files.items()
            if named.of == row.device
            and named.first <= row.known + 1 <= named.last
            and self.read.get(name, True) is not None
            and not (named.is_relayed and named.device == self._me.device)
        ]
        return min(found)[2] if found else None

    def _continues(self, row: DeviceRow, segment: Segment, within: Transaction | None) -> bool:
        """Return whether a file continues what was taken of a device."""
        header = segment.header
        if header.first == row.known + 1:
            hash_ = header.before
        else:
            hash_ = next((act.hash for act in segment.acts if act.last == row.known), "")
            if not hash_:  # it is relayed, which tells no hashes
                return row.known <= row.begins or self._agrees(row, segment, within)
        return self._is_hash(row, hash_)

    def _has_taken_part(self, row: DeviceRow, following: str, within: Transaction | None) -> bool:
        """Return whether another file in the place has the last line that was taken."""
        for name, named in self.files.items():
            if name == following or named.of != row.device or named.is_state:
                continue
            if not named.first <= row.known <= named.last:
                continue
            segment = self._segment(name)
            if segment is None:
                continue
            hash_ = self._hash_at(segment, row.known)
            if self._is_hash(row, hash_) if hash_ else self._agrees(row, segment, within):
                return True
        return False

    @staticmethod
    def _hash_at(segment: Segment, line: int) -> str:
        """Return what a file says is the hash of a line; nothing if it does not say."""
        if line == segment.header.last:
            return segment.header.after
        return next((act.hash for act in segment.acts if act.last == line), "")

    @staticmethod
    def _is_hash(row: DeviceRow, hash_: str) -> bool:
        """Return whether a hash is that of the last line that was taken of a device."""
        length = min(len(hash_), len(row.hash))
        return hash_[:length] == row.hash[:length]

    def _restart(self, row: DeviceRow, within: Transaction | None) -> DeviceRow:
        """Keep what was taken as another chain, and read the device from its beginning."""
        self.restarted.add(row.device)
        digest = hashlib.sha256(f"{row.device} {row.hash} {len(self.rows)}".encode()).digest()
        other = "".join(names.ALPHABET[byte % 32] for byte in digest[: names.ID_LENGTH])

        def restart(transaction: Transaction) -> DeviceRow:
            del self.rows[row.device]
            # What this file wrote itself, under a former id, stays its own.
            state = row.state if row.is_own else DISMISSED
            self._keep(transaction, row._replace(device=other, state=state))
            found = device_table.add(
                transaction, row.device, row.name, OTHER, begins=row.begins, known=row.begins
            )
            found = found._replace(said=row.said)
            return self._keep(transaction, found)

        if within is not None:
            return restart(within)
        with self.engine.write() as transaction:
            return restart(transaction)

    def _take_segment(
        self, row: DeviceRow, segment: Segment, within: Transaction | None
    ) -> DeviceRow:
        acts = [act for act in segment.acts if act.last > row.known]
        for batch in _batches(acts):
            row, is_whole = self._take_acts(within, row, batch)
            if not is_whole:
                left = [act for act in acts if act.last > row.known]
                self.waits[row.device] = sum(len(act.records) for act in left)
                return row
        row = row._replace(known=segment.header.last, hash=segment.header.after)
        if within is not None:
            return self._keep(within, row)
        with self.engine.write() as transaction:
            return self._keep(transaction, row)

    def _take_acts(
        self, within: Transaction | None, row: DeviceRow, batch: Sequence[ActRecords]
    ) -> tuple[DeviceRow, bool]:
        """Take acts up to one that cannot be taken, yet or at all; return whether none was left."""
        try:
            if within is not None:
                return self._take_batch(within, row, batch)
            with self.engine.write() as transaction:
                return self._take_batch(transaction, row, batch)
        except SyncError as error:
            if within is None and len(batch) > 1:  # those before the one that is wrong are right
                for act in batch:
                    row, is_whole = self._take_acts(within, row, [act])
                    if not is_whole:
                        break
                return row, False
            self.ignored.append(error.text[:MAX_SENTENCE])
            return row, False

    def _take_batch(
        self, transaction: Transaction, row: DeviceRow, batch: Sequence[ActRecords]
    ) -> tuple[DeviceRow, bool]:
        """Take acts up to one that names something missing; return whether none was left."""
        ready = self._ready(transaction, row, batch)
        wanted = [record for act in ready for record in act.records if self._travels(record)]
        held = taken_table.positions(transaction, row.id, [one.line for one in wanted])
        new = [(row, record) for record in wanted if record.line not in held]
        if new:
            try:
                done = taking.take(transaction, self.dependents, [*self.rows.values()], new)
            except (ValueError, TypeError, KeyError, OverflowError) as error:
                raise SyncError(
                    f"a record of device {row.name} cannot be taken: {error}"
                ) from error
            self.came.update(done.came)
            self.erased += done.erased
        if ready:
            row = row._replace(known=ready[-1].last, hash=ready[-1].hash)
            self._keep(transaction, row)
        return row, len(ready) == len(batch)

    def _ready(
        self, transaction: Transaction, row: DeviceRow, batch: Sequence[ActRecords]
    ) -> list[ActRecords]:
        """Return the acts up to the first one that names something that is not here."""
        named = {
            about
            for act in batch
            for record in act.records
            if self._travels(record)
            for about in taking.named_by(record)
        }
        missing = taking.missing(transaction, named)
        ready = []
        for act in batch:
            own = [record for record in act.records if self._travels(record)]
            missing -= {record.about for record in own if record.kind in rules.BIRTHS}
            if missing and any(taking.named_by(record) & missing for record in own):
                break
            ready.append(act)
        return ready

    def _travels(self, record: Record) -> bool:
        return self.namespaces is None or record.about.namespace in self.namespaces

    def _finish_erasures(self) -> None:
        with self.engine.read() as transaction:
            unfinished = meta_table.is_set(transaction, UNFINISHED)
        if unfinished:
            finish(self.engine, self.rewrite)

    # -- what this file has --------------------------------------------------------------------

    def _already_written(self) -> Written:
        with self.engine.read() as transaction:
            return written(transaction)

    def _choice(self) -> str:
        return "all" if self.namespaces is None else json.dumps(sorted(self.namespaces))

    def _make(self, *, anew: bool) -> None:
        """Write the lines that the place lacks, and again what an erasure or a choice changed."""
        before, row = self.written, self._me
        chosen = before.choice not in ("", self._choice())
        # Another edition was begun, but the run was killed before others could see it.
        is_begun = (here := self.states.get(row.device)) is not None and (
            here.edition != before.edition
        )
        again = anew or chosen or is_begun
        with self.engine.read() as transaction:
            last = journal.last_id(transaction)
            own = [name for name, one in self.files.items() if self._is_own(one, row)]
            stale = {*own} if again else self._stale(transaction, row, self.seen + 1, last)
            for name in sorted(stale & {*own}):
                named = self.files[name]
                self._rewrite(transaction, row, named.first, named.last)
                self.is_rewritten = True
            for first, end in self._uncovered(row, row.begins, last):
                follows = first == before.sent + 1 and not again
                since = max(first, before.line + 1) if follows else first
                self._write_new(transaction, row, first, end, since)
            merged = self._merge(transaction, row)
        edition = before.edition + (1 if chosen and not anew else 0)
        sent = max((one.last for one in self.files.values() if self._is_own(one, row)), default=0)
        at = clock.to_text(clock.utc_now()) if merged or not before.merged else before.merged
        now = Written(last, sent, self._choice(), edition, at)
        if now != before:
            with self.engine.write() as transaction:
                meta_table.put(transaction, meta_table.SYNCED, json.dumps(list(now)))

    @staticmethod
    def _is_own(named: Named, row: DeviceRow) -> bool:
        return named.device == row.device and not named.is_state and not named.is_relayed

    def _stale(self, transaction: Transaction, row: DeviceRow, first: int, last: int) -> set[str]:
        """Return the files of this device with lines of what was erased since."""
        found: set[str] = set()
        for column, id_ in taken_table.ends_between(transaction, first, last):
            facts, episodes = ([id_], []) if column == "fact_id" else ([], [id_])
            for line in taken_table.about(transaction, facts, episodes):
                for name, named in self.files.items():
                    if named.device != row.device or named.is_state:
                        continue
                    at = line.id if not named.is_relayed else self._position(line, named)
                    if named.first <= at <= named.last:
                        found.add(name)
        return found

    def _position(self, line: taken_table.TracedLine, named: Named) -> int:
        """Return the number of a line in the chain of a relayed file; 0 if it is not of that."""
        other = self.rows.get(named.of)
        if other is None:
            return 0
        if line.device == other.id:
            return line.position or 0
        return line.id if other.is_own and line.taken is None else 0

    def _uncovered(
        self, row: DeviceRow, begins: int, last: int, among: Collection[str] | None = None
    ) -> list[tuple[int, int]]:
        """Return the stretches of a device's lines that no file has, or none of those named."""
        found = []
        at = begins
        for first, end in sorted(
            (named.first, named.last)
            for name, named in self.files.items()
            if named.of == row.device and not named.is_state
            if among is None or name in among
            if row.state != HERE or not named.is_relayed
        ):
            if first > at + 1:
                found.append((at + 1, min(first - 1, last)))
            at = max(at, end)
        if at < last:
            found.append((at + 1, last))
        return [(first, end) for first, end in found if first <= end]

    def _write_new(
        self,
        transaction: Transaction,
        row: DeviceRow,
        first: int,
        last: int,
        since: int,
    ) -> None:
        """Write a stretch of lines in files of a moderate size, if it has any records."""
        while first <= last:
            start = max(first, since)
            end = min(last, taken_table.end_of_act(transaction, min(last, start + LINES)))
            made = self._file_of(transaction, row, first, end, start)
            while made is not None and len(made[0]) > segments.FULL_BYTES:
                half = taken_table.end_of_act(transaction, (start + end) // 2)
                if half >= end:
                    break
                end = half
                made = self._file_of(transaction, row, first, end, start)
            if made is not None:
                self._put(names.of_lines(row.device, row.device, first, end), made[0])
                self._count_sent(made[1])
                first = end + 1
            elif end == last:
                return
            since = end + 1

    def _rewrite(self, transaction: Transaction, row: DeviceRow, first: int, last: int) -> None:
        """Write a file of this device's lines again."""
        made = self._file_of(transaction, row, first, last, first)
        data = self._packed(transaction, row, first, last, first, []) if made is None else made[0]
        self._put(names.of_lines(row.device, row.device, first, last), data)

    def _file_of(
        self,
        transaction: Transaction,
        row: DeviceRow,
        first: int,
        last: int,
        since: int,
    ) -> tuple[bytes, screening.Screened] | None:
        """Return a file of this device's lines, and its records; ``None`` if it has none.

        Args:
            since: the first line that may have one.
        """
        found = [
            record
            for record in records.own(transaction, self._chains, since, last)
            if self._travels(record) and record.device == row.device
        ]
        if not found:
            return None
        sent = screening.screened(found)
        return self._packed(transaction, row, first, last, since, sent.records), sent

    @staticmethod
    def _packed(
        transaction: Transaction,
        row: DeviceRow,
        first: int,
        last: int,
        since: int,
        sent: Sequence[Record],
    ) -> bytes:
        ends = taken_table.acts_between(transaction, since, last)
        before = taken_table.hash_at(transaction, first - 1)
        after = taken_table.hash_at(transaction, last)
        header = Header(row.device, first, last, before, after, 0)
        return segments.write(header, segments.acts_of(sent, ends.__getitem__))[0]

    def _count_sent(self, sent: screening.Screened) -> None:
        self.went.update(record.about.namespace for record in sent.records)
        self.redacted.update(record.about.namespace for record in sent.redacted)

    def _merge(self, transaction: Transaction, row: DeviceRow) -> bool:
        """Merge the small files of this device if they are many, or from days before this one."""
        own = sorted(
            (named.first, named.last, name)
            for name, named in self.files.items()
            if self._is_own(named, row)
        )
        merged = self.written.merged
        is_old = bool(merged) and clock.utc_now() - clock.from_text(merged) > MERGED_AFTER
        if len(own) < (2 if is_old else MERGED_AT):
            return False
        groups = [group for group in self._groups(own) if len(group) > 1]
        for group in groups:
            first, last = group[0][0], group[-1][1]
            self._rewrite(transaction, row, first, last)
            whole = names.of_lines(row.device, row.device, first, last)
            for *_, name in group:
                if name != whole:
                    self._delete(name)
        return bool(groups)

    def _groups(self, own: Sequence[tuple[int, int, str]]) -> Iterator[list[tuple[int, int, str]]]:
        """Yield what is merged into one file each: neighbours that are not full together."""
        group: list[tuple[int, int, str]] = []
        size = 0
        for one in own:
            more = self.sizes[one[2]]
            if group and size + more > segments.FULL_BYTES:
                yield group
                group, size = [], 0
            group.append(one)
            size += more
        if group:
            yield group

    # -- what others had -----------------------------------------------------------------------

    def _relay(self) -> None:
        """Write the lines of devices that are gone, as far as the place lacks them."""
        me = self._me
        with self.engine.read() as transaction:
            stale = self._stale(transaction, me, self.seen + 1, journal.last_id(transaction))
            for row in self._others():
                mine = {
                    name
                    for name, named in self.files.items()
                    if named.device == me.device and named.is_relayed and named.of == row.device
                }
                for name in sorted(mine & stale):
                    named = self.files[name]
                    self._write_relayed(transaction, row, named.first, named.last)
                    self.is_rewritten = True
                if row.device in self.states and row.state == OTHER and not self._is_gone(row):
                    for name in sorted(mine):
                        self._delete(name)  # it is back, and writes its own
                    continue
                for first, last in self._uncovered(row, row.begins, row.known):
                    self._write_relayed(transaction, row, first, last)
                if row.state in (DISMISSED, FORMER):
                    self._replace_gone(transaction, row)

    def _is_gone(self, row: DeviceRow) -> bool:
        """Return whether somebody says that a device goes on under another id, or is given up."""
        return any(row.device in (*one.former, *one.dismissed) for one in self.states.values())

    def _known_of(
        self,
        transaction: Transaction,
        row: DeviceRow,
        first: int,
        last: int,
    ) -> list[Record]:
        """Return the records of a device from one line to another, as far as this file has them."""
        found: list[Record] = []
        if row.is_own:
            end = min((o.begins for o in self._chains.own if o.begins > row.begins), default=last)
            own = records.own(transaction, self._chains, first, min(last, end))
            found += [record for record in own if record.device == row.device]
        found += records.relayed(transaction, self._chains, row, first, last)
        return [record for record in found if self._travels(record)]

    def _write_relayed(
        self,
        transaction: Transaction,
        row: DeviceRow,
        first: int,
        last: int,
    ) -> None:
        """Write a stretch of lines of a device that is gone, in files of a moderate size."""
        found = screening.screened(self._known_of(transaction, row, first, last)).records
        some: list[Record] = []
        for act, its in groupby(found, key=lambda record: record.act):
            if len(some) >= LINES:
                self._put_relayed(row, some, first, act - 1)
                some, first = [], act
            some += its
        self._put_relayed(row, some, first, last)

    def _put_relayed(self, row: DeviceRow, found: Sequence[Record], first: int, last: int) -> None:
        ends = {record.act: record.line for record in found}
        after = row.hash if last == row.known else ""
        header = Header(row.device, first, last, "", after, 0)
        acts = segments.acts_of(found, lambda act: (ends[act], ""))
        data, _ = segments.write(header, acts)
        self._put(names.of_lines(self._me.device, row.device, first, last), data)

    def _replace_gone(self, transaction: Transaction, row: DeviceRow) -> None:
        """Write all lines of a device that is gone, and remove the files that it wrote."""
        own = [(name, named) for name, named in self.files.items() if named.device == row.device]
        known = {one.device: one.known for one in self.rows.values() if one.state != HERE}
        if not own or any(named.last > known.get(named.of, 0) for _, named in own):
            return  # there is more in them than was taken
        others = self.files.keys() - {name for name, _ in own}
        for first, last in self._uncovered(row, row.begins, row.known, others):
            self._write_relayed(transaction, row, first, last)
        for name, _ in own:
            try:
                self._delete(name)
            except SyncError as error:  # on a server, another token may have begun the device
                self.ignored.append(f"{name} could not be removed: {error.text}")
                return

    # -- what is said --------------------------------------------------------------------------

    def _say(self) -> None:
        """Write this device's state, if it is not what it said last."""
        me = self._me
        with self.engine.read() as transaction:
            last = journal.last_id(transaction)
            head = Reached(last, taken_table.hash_at(transaction, last), me.begins)
            erased = taken_table.last_own_end(transaction, me.begins)
            files = [one.last for one in self.files.values() if self._is_own(one, me)]
            sent = max(files, default=0)
            sent_hash = taken_table.hash_at(transaction, sent)
        state = DeviceState(
            me.device,
            me.name,
            clock.utc_now(),
            head,
            sent,
            sent_hash,
            erased,
            self._already_written().edition,
            {row.device: Reached(row.known, row.hash, row.begins) for row in self._others()},
            tuple(row.device for row in self._others() if row.state == FORMER),
            tuple(row.device for row in self._others() if row.state == DISMISSED),
        )
        if not self.has_changed and state.same_as(self.states.get(me.device)):
            return
        data = devices.write(state)
        self._put(names.of_state(me.device), data)
        with self.engine.write() as transaction:
            self._keep(transaction, me._replace(said=data.decode()))


def _batches(acts: Iterable[ActRecords]) -> Iterator[list[ActRecords]]:
    """Yield acts in order, about so many records together as one transaction takes."""
    batch: list[ActRecords] = []
    number = 0
    for act in acts:
        batch.append(act)
        number += len(act.records)
        if number >= RECORDS:
            yield batch
            batch, number = [], 0
    if batch:
        yield batch
