"""Relaying the lines of devices that are gone, as far as the place lacks them."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from memstore.database.tables.devices import DISMISSED, FORMER, HERE, OTHER
from memstore.errors import SyncError
from memstore.sync import screening, segments
from memstore.sync.places import names
from memstore.sync.segments import Header

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from memstore.database.engine import Engine, Transaction
    from memstore.database.tables.devices import DeviceRow
    from memstore.sync.files import Files
    from memstore.sync.known_devices import KnownDevices
    from memstore.sync.rules import Record


class Relaying:
    """Writes what this file has of devices that write no more."""

    def __init__(self, engine: Engine, files: Files, known: KnownDevices) -> None:
        self.is_rewritten = False
        """Whether files hold less than before, which a place has to forget."""
        self._engine = engine
        self._files = files
        self._known = known
        self._edition = 0

    def relay(self, stale: Collection[str], *, edition: int, again: bool) -> None:
        """Write what the place lacks, and again what an erasure changed.

        Args:
            stale: files with lines of what was erased.
            edition: of this device's files.
            again: write all of it again, as with another key or choice of namespaces.
        """
        self._edition = edition
        me = self._known.me
        with self._engine.read() as transaction:
            for row in self._known.others:
                mine = {
                    name
                    for name, named in self._files.named.items()
                    if named.device == me.device and named.is_relayed and named.of == row.device
                }
                stale_ones = mine if again else mine.intersection(stale)
                is_heard = row.device in self._known.states
                if is_heard and row.state == OTHER and not self._known.is_gone(row):
                    self.is_rewritten = self.is_rewritten or bool(stale_ones)
                    for name in sorted(mine):
                        self._files.delete(name)  # it is back, and writes its own
                    continue
                for name in sorted(stale_ones):
                    named = self._files.named[name]
                    if name not in self._write(transaction, row, named.first, named.last):
                        self._files.delete(name)
                    self.is_rewritten = True
                for first, last in self._files.uncovered(row, row.known):
                    self._write(transaction, row, first, last)
                if row.state in (DISMISSED, FORMER):
                    self._replace_gone(transaction, row)

    def _write(self, transaction: Transaction, row: DeviceRow, first: int, last: int) -> list[str]:
        """Write a stretch of lines of a device that is gone, in files of a moderate size."""
        written = []
        known = self._known.records_of(transaction, row, first, last)
        found = screening.screened(known).records
        some: list[Record] = []
        for act, its in groupby(found, key=lambda record: record.act):
            if len(some) >= segments.FULL_LINES:
                written.append(self._put(row, some, first, act - 1))
                some, first = [], act
            some += its
        return [*written, self._put(row, some, first, last)]

    def _put(self, row: DeviceRow, found: Sequence[Record], first: int, last: int) -> str:
        ends = {record.act: record.line for record in found}
        after = row.hash if last == row.known else ""
        header = Header(row.device, first, last, "", after, 0, self._edition)
        acts = segments.acts_of(found, lambda act: (ends[act], ""))
        data, _ = segments.write(header, acts)
        name = names.of_lines(self._known.me.device, row.device, first, last)
        self._files.put(name, data)
        return name

    def _replace_gone(self, transaction: Transaction, row: DeviceRow) -> None:
        """Write all lines of a device that is gone, and remove the files that it wrote.

        Its state stays as long as one of its files does: it tells others how to read that.
        """
        named = self._files.named
        every = [(name, one) for name, one in named.items() if one.device == row.device]
        lines = [(name, one) for name, one in every if not one.is_state]
        own = [(name, one) for name, one in lines if self._known.can_replace(name)]
        if len(own) == len(lines):
            own += [(name, one) for name, one in every if one.is_state]
        known = {one.device: one.known for one in self._known.rows.values() if one.state != HERE}
        if not own or any(one.last > known.get(one.of, 0) for _, one in own):
            return  # there is more in them than was taken
        others = named.keys() - {name for name, _ in own}
        for first, last in self._files.uncovered(row, row.known, others):
            self._write(transaction, row, first, last)
        for name, _ in own:
            try:
                self._files.delete(name)
            except SyncError as error:  # on a server, another token may have begun the device
                self._files.kept[row.device] = error.text
                return
