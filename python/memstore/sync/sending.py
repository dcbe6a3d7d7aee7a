"""Sending this device's lines: files of those that the place lacks, made from the ledger as it is.

A file is made again if something in it was erased, or if the choice of namespaces or the key
changed. Files are merged so that each has more bytes than all that came after it together: a device
has few, and what it wrote once is written again only when the files have grown to twice its size.
"""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Final

from memstore.database import journal
from memstore.database import meta as meta_table
from memstore.database.tables import taken as taken_table
from memstore.named import NamedTuple
from memstore.sync import records, screening, segments
from memstore.sync.places import names
from memstore.sync.segments import Header

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from memstore.database.engine import Engine, Transaction
    from memstore.database.tables.devices import DeviceRow
    from memstore.sync.files import Files
    from memstore.sync.known_devices import KnownDevices
    from memstore.sync.namespace_choice import Choice
    from memstore.sync.rules import Record

SPARED: Final = 8
"""Files are merged when there are so many fewer of them afterwards."""


class Written(NamedTuple):
    """What the files of this device in the place were written from."""

    line: int = 0
    sent: int = 0
    """The last line in a file; those after it, up to :attr:`line`, have no records."""
    choice: str = ""
    edition: int = 0

    def is_of_another(self, choice: Choice) -> bool:
        """Return whether there are files, and they hold another choice of namespaces."""
        return self.choice not in ("", choice.text)


def written(transaction: Transaction) -> Written:
    """Return what this device's files were written from."""
    text = meta_table.get(transaction, meta_table.SYNCED)
    return Written() if text is None else Written(*json.loads(text)[: len(Written._fields)])


class Sending:
    """Writes the files of this device's own lines."""

    def __init__(self, engine: Engine, files: Files, known: KnownDevices, choice: Choice) -> None:
        self.went: Counter[str] = Counter()
        """How many records were written, by namespace."""
        self.redacted: Counter[str] = Counter()
        """How many of them the screen for secrets held back, in whole or in part."""
        self.is_rewritten = False
        """Whether files hold less than before, which a place has to forget."""
        self.is_again = False
        """Whether all that lies in the place is written again."""
        self.edition = 0
        """How many choices there were before the one that files follow."""
        self._engine = engine
        self._files = files
        self._known = known
        self._choice = choice

    def send(self, before: Written, seen: int, *, anew: bool) -> set[str]:
        """Write the lines that the place lacks, and again what an erasure or a choice changed.

        Return the files of this device, those that it relays among them, with lines of what was
        erased since.

        Args:
            before: what the files were written from before this run.
            seen: the last line from which the files are that others can see: a run may have been
                killed before it published what it wrote.
            anew: write every file again.
        """
        row = self._known.me
        chosen = before.is_of_another(self._choice)
        # Another edition was begun, but the run was killed before others could see it.
        is_begun = (here := self._known.states.get(row.device)) is not None and (
            here.edition != before.edition
        )
        self.is_again = again = anew or chosen or is_begun
        self.edition = before.edition + chosen
        with self._engine.read() as transaction:
            last = journal.last_id(transaction)
            stale = self._known.stale(transaction, seen + 1, last)
            own = {*self._files.own(row.device)}
            for name in sorted(own if again else own & stale):
                named = self._files.named[name]
                self._rewrite(transaction, row, named.first, named.last)
                self.is_rewritten = True
            for first, end in self._files.uncovered(row, last):
                follows = first == before.sent + 1 and not again
                since = max(first, before.line + 1) if follows else first
                self._write_new(transaction, row, first, end, since)
            self._remove_covered(row)
            self._merge(transaction, row)
        sent = max((one.last for one in self._files.own(row.device).values()), default=0)
        now = Written(last, sent, self._choice.text, self.edition)
        if now != before:
            with self._engine.write() as transaction:
                meta_table.put(transaction, meta_table.SYNCED, json.dumps(list(now)))
        return stale

    def count(self, transaction: Transaction) -> None:
        """Count what would be sent, without writing it."""
        row = self._known.me
        for first, end in self._files.uncovered(row, journal.last_id(transaction)):
            own = records.own(transaction, self._known.chains, first, end)
            travelling = [one for one in own if self._choice.travels(one)]
            self._count_sent(screening.screened(travelling))

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
            end = min(
                last, taken_table.end_of_act(transaction, min(last, start + segments.FULL_LINES))
            )
            made = self._file_of(transaction, row, first, end, start)
            while made is not None and len(made[0]) > segments.FULL_BYTES:
                half = taken_table.end_of_act(transaction, (start + end) // 2)
                if half >= end:
                    break
                end = half
                made = self._file_of(transaction, row, first, end, start)
            if made is not None:
                self._files.put(names.of_lines(row.device, row.device, first, end), made[0])
                self._count_sent(made[1])
                first = end + 1
            elif end == last:
                return
            since = end + 1

    def _rewrite(self, transaction: Transaction, row: DeviceRow, first: int, last: int) -> None:
        """Write a file of this device's lines again."""
        made = self._file_of(transaction, row, first, last, first)
        data = self._packed(transaction, row, first, last, first, []) if made is None else made[0]
        self._files.put(names.of_lines(row.device, row.device, first, last), data)

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
            for record in records.own(transaction, self._known.chains, since, last)
            if self._choice.travels(record) and record.device == row.device
        ]
        if not found:
            return None
        sent = screening.screened(found)
        return self._packed(transaction, row, first, last, since, sent.records), sent

    def _packed(
        self,
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
        header = Header(row.device, first, last, before, after, 0, self.edition)
        return segments.write(header, segments.acts_of(sent, ends.__getitem__))[0]

    def _count_sent(self, sent: screening.Screened) -> None:
        self.went.update(record.about.namespace for record in sent.records)
        self.redacted.update(record.about.namespace for record in sent.redacted)

    def _remove_covered(self, row: DeviceRow) -> None:
        """Remove what a run left that was killed after it had merged files."""
        reached = 0
        own = self._files.own(row.device).items()
        for name, named in sorted(own, key=lambda one: (one[1].first, -one[1].last)):
            if named.last <= reached:
                self._files.delete(name)
            reached = max(reached, named.last)

    def _merge(self, transaction: Transaction, row: DeviceRow) -> None:
        """Merge files of this device, if enough are spared."""
        groups = [*self._groups(row)]
        if sum(len(group) - 1 for group in groups) < SPARED:
            return
        for group in groups:
            if len(group) == 1:
                continue
            first = min(self._files.named[name].first for name in group)
            last = max(self._files.named[name].last for name in group)
            self._rewrite(transaction, row, first, last)
            for name in group:
                if name != names.of_lines(row.device, row.device, first, last):
                    self._files.delete(name)

    def _groups(self, row: DeviceRow) -> Iterator[list[str]]:
        """Yield what becomes one file each, newest first: those that are no larger than all after
        them in the group together.
        """
        group: list[str] = []
        total = 0
        own = self._files.own(row.device)
        for name in sorted(own, key=lambda name: own[name].last, reverse=True):
            size = self._files.sizes[name]
            if group and (size > total or total + size > segments.FULL_BYTES):
                yield group
                group, total = [], 0
            group.append(name)
            total += size
        if group:
            yield group
