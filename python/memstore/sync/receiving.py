"""Receiving what other devices wrote: whole acts of each, as far as what they name is here."""

from __future__ import annotations

import hashlib
from collections import Counter
from contextlib import nullcontext
from typing import TYPE_CHECKING, Final

from memstore.database import journal
from memstore.database.tables import devices as device_table
from memstore.database.tables import taken as taken_table
from memstore.database.tables.devices import DISMISSED, OTHER
from memstore.errors import SyncError
from memstore.sync import applying, records, rules
from memstore.sync.chain_check import ChainCheck
from memstore.sync.files import MAX_SENTENCE
from memstore.sync.places import names

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from contextlib import AbstractContextManager

    from memstore.database.changes import Dependents
    from memstore.database.engine import Engine, Transaction
    from memstore.database.tables.devices import DeviceRow
    from memstore.sync.files import Files
    from memstore.sync.known_devices import KnownDevices
    from memstore.sync.namespace_choice import Choice
    from memstore.sync.segments import ActRecords, Segment

RECORDS: Final = 1_000
"""About so many records are taken in one transaction."""


class Receiving:
    """Takes the lines of other devices that follow those that were taken."""

    def __init__(
        self,
        engine: Engine,
        dependents: Dependents,
        files: Files,
        known: KnownDevices,
        choice: Choice,
    ) -> None:
        self.came: Counter[str] = Counter()
        """How many records were taken, by namespace."""
        self.waits: Counter[str] = Counter()
        """How many records of a device name something that is not here yet."""
        self.erased = 0
        self._engine = engine
        self._dependents = dependents
        self._files = files
        self._known = known
        self._choice = choice
        self._check = ChainCheck(engine, files, known, choice)
        self._restarted: set[str] = set()
        """The devices that were read from their beginning again."""

    def settle_own(self, since: int) -> None:
        """Let follow what this file's own changes mean for what others changed.

        Args:
            since: the last line that was settled.
        """
        with self._engine.write() as transaction:
            if not any(row.known > row.begins for row in self._known.others):
                return
            last = journal.last_id(transaction)
            own = records.own(transaction, self._known.chains, since + 1, last)
            if changed := {record.about for record in own}:
                rows = [*self._known.rows.values()]
                applying.settle(transaction, self._dependents, rows, changed)

    def begin_again(self, within: Transaction | None = None) -> None:
        """Read again from the beginning what may hold other records, if it is still that chain."""
        for row in [one for one in self._known.others if one.device in self._known.again]:
            name = self._following(row)
            segment = None if name is None else self._files.segment(name)
            if not self._check.is_as_there(row, within) or (
                segment is not None and not self._check.continues(row, segment, within)
            ):
                self._restart(row, within)
        if self._known.again:
            with self._writing(within) as transaction:
                self._known.read_again(transaction)

    def take_all(self, within: Transaction | None = None) -> None:
        """Take what is there of all devices, until nothing more can be taken.

        Args:
            within: a transaction for all of it, instead of many.
        """
        progress = True
        while progress:
            progress = False
            for row in self._known.others:
                progress = self._take_from(row, within) or progress

    def _writing(self, within: Transaction | None) -> AbstractContextManager[Transaction]:
        """Return a transaction that was given, or a new one."""
        return self._engine.write() if within is None else nullcontext(within)

    def _take_from(self, row: DeviceRow, within: Transaction | None) -> bool:
        """Take what follows of a device's lines; return whether anything was taken."""
        taken = False
        self.waits.pop(row.device, None)
        if row.device not in self._restarted and not self._check.is_as_there(row, within):
            row = self._restart(row, within)
        while (name := self._following(row)) is not None:
            segment = self._files.segment(name)
            if segment is None:
                continue  # it counts as rejected now
            if self._known.is_too_old(name, segment):
                self._files.wait_for_newer(name)
                continue
            if not self._check.continues(row, segment, within):
                is_part = self._check.has_taken_part
                if row.device in self._restarted or is_part(row, name, within):
                    self._files.reject(name, "it does not continue the lines before it")
                else:
                    row = self._restart(row, within)
                continue
            before = row.known
            if self._files.named[name].is_relayed:
                with self._writing(within) as transaction:
                    row = self._known.note_relayed(transaction, row)
            row = self._take_segment(row, segment, within)
            taken = taken or row.known > before
            if row.known < segment.header.last:
                break
        return taken

    def _following(self, row: DeviceRow) -> str | None:
        """Return the file with the lines that follow; its own before one that others relay."""
        found = [
            (named.is_relayed, -named.last, name)
            for name, named in self._files.named.items()
            if named.of == row.device
            and named.first <= row.known + 1 <= named.last
            and not self._files.is_rejected(name)
            and not (named.is_relayed and named.device == self._known.me.device)
        ]
        return min(found)[2] if found else None

    def _restart(self, row: DeviceRow, within: Transaction | None) -> DeviceRow:
        """Keep what was taken as another chain, and read the device from its beginning."""
        self._restarted.add(row.device)
        if within is None:  # what is relayed of it is written again, under the other name
            for name, named in [*self._files.named.items()]:
                is_own = named.is_relayed and named.device == self._known.me.device
                if is_own and named.of == row.device:
                    self._files.delete(name)
        rows = self._known.rows
        digest = hashlib.sha256(f"{row.device} {row.hash} {len(rows)}".encode()).digest()
        other = "".join(names.ALPHABET[byte % 32] for byte in digest[: names.ID_LENGTH])

        with self._writing(within) as transaction:
            del rows[row.device]
            # What this file wrote itself, under a former id, stays its own.
            state = row.state if row.is_own else DISMISSED
            self._known.keep(transaction, row._replace(device=other, state=state))
            found = device_table.add(
                transaction, row.device, row.name, OTHER, begins=row.begins, known=row.begins
            )
            return self._known.keep(transaction, found._replace(said=row.said))

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
        with self._writing(within) as transaction:
            return self._known.keep(transaction, row)

    def _take_acts(
        self, within: Transaction | None, row: DeviceRow, batch: Sequence[ActRecords]
    ) -> tuple[DeviceRow, bool]:
        """Take acts up to one that cannot be taken, yet or at all; return whether none was left."""
        try:
            with self._writing(within) as transaction:
                return self._take_batch(transaction, row, batch)
        except SyncError as error:
            if within is None and len(batch) > 1:  # those before the one that is wrong are right
                for act in batch:
                    row, is_whole = self._take_acts(within, row, [act])
                    if not is_whole:
                        break
                return row, False
            self._files.ignore(error.text[:MAX_SENTENCE])
            return row, False

    def _take_batch(
        self, transaction: Transaction, row: DeviceRow, batch: Sequence[ActRecords]
    ) -> tuple[DeviceRow, bool]:
        """Take acts up to one that names something missing; return whether none was left."""
        travels = self._choice.travels
        ready = self._ready(transaction, batch)
        wanted = [record for act in ready for record in act.records if travels(record)]
        held = taken_table.positions(transaction, row.id, [one.line for one in wanted])
        new = [(row, record) for record in wanted if record.line not in held]
        if new:
            rows = [*self._known.rows.values()]
            try:
                done = applying.take(transaction, self._dependents, rows, new)
            except (ValueError, TypeError, KeyError, OverflowError) as error:
                raise SyncError(
                    f"a record of device {row.name} cannot be taken: {error}"
                ) from error
            self.came.update(done.came)
            self.erased += done.erased
        if ready:
            row = row._replace(known=ready[-1].last, hash=ready[-1].hash)
            self._known.keep(transaction, row)
        return row, len(ready) == len(batch)

    def _ready(self, transaction: Transaction, batch: Sequence[ActRecords]) -> list[ActRecords]:
        """Return the acts up to the first one that names something that is not here."""
        travels = self._choice.travels
        named = {
            about
            for act in batch
            for record in act.records
            if travels(record)
            for about in applying.named_by(record)
        }
        missing = applying.missing(transaction, named)
        ready = []
        for act in batch:
            own = [record for record in act.records if travels(record)]
            missing -= {record.about for record in own if record.kind in rules.BIRTHS}
            if missing and any(applying.named_by(record) & missing for record in own):
                break
            ready.append(act)
        return ready


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
