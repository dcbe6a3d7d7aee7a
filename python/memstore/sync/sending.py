"""Sending this device's lines: files of those that the place lacks, made from the ledger as it is.

A file is made again if something in it was erased, or if the choice of namespaces or the key
changed. Small files are merged, so that a device has few.
"""

from __future__ import annotations

import json
from collections import Counter
from datetime import timedelta
from typing import TYPE_CHECKING, Final

from memstore.database import journal
from memstore.database import meta as meta_table
from memstore.database.tables import taken as taken_table
from memstore.domain import clock
from memstore.named import NamedTuple
from memstore.sync import records, screening, segments
from memstore.sync.places import names
from memstore.sync.segments import Header

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from memstore.database.engine import Engine, Transaction
    from memstore.database.tables.devices import DeviceRow
    from memstore.sync.choice import Choice
    from memstore.sync.files import Files
    from memstore.sync.known_devices import KnownDevices
    from memstore.sync.rules import Record

MERGED_AT: Final = 32
"""So many files of a device are merged; fewer, if that was not done for a day."""
MERGED_AFTER: Final = timedelta(days=1)


class Written(NamedTuple):
    """What the files of this device in the place were written from."""

    line: int = 0
    sent: int = 0
    """The last line in a file; those after it, up to :attr:`line`, have no records."""
    choice: str = ""
    edition: int = 0
    merged: str = ""
    """When files were merged last, as it is stored."""


def written(transaction: Transaction) -> Written:
    """Return what this device's files were written from."""
    text = meta_table.get(transaction, meta_table.SYNCED)
    return Written() if text is None else Written(*json.loads(text))


class Sending:
    """Writes the files of this device's own lines."""

    def __init__(self, engine: Engine, files: Files, known: KnownDevices, choice: Choice) -> None:
        self.went: Counter[str] = Counter()
        """How many records were written, by namespace."""
        self.redacted: Counter[str] = Counter()
        """How many of them the screen for secrets held back, in whole or in part."""
        self.is_rewritten = False
        """Whether files hold less than before, which a place has to forget."""
        self._engine = engine
        self._files = files
        self._known = known
        self._choice = choice

    def send(self, before: Written, seen: int, *, anew: bool) -> None:
        """Write the lines that the place lacks, and again what an erasure or a choice changed.

        Args:
            before: what the files were written from before this run.
            seen: the last line from which the files are that others can see: a run may have been
                killed before it published what it wrote.
            anew: write every file again.
        """
        row = self._known.me
        chosen = before.choice not in ("", self._choice.text)
        # Another edition was begun, but the run was killed before others could see it.
        is_begun = (here := self._known.states.get(row.device)) is not None and (
            here.edition != before.edition
        )
        again = anew or chosen or is_begun
        with self._engine.read() as transaction:
            last = journal.last_id(transaction)
            own = {*self._files.own(row.device)}
            stale = own if again else own & self._known.stale(transaction, seen + 1, last)
            for name in sorted(stale):
                named = self._files.named[name]
                self._rewrite(transaction, row, named.first, named.last)
                self.is_rewritten = True
            for first, end in self._files.uncovered(row, last):
                follows = first == before.sent + 1 and not again
                since = max(first, before.line + 1) if follows else first
                self._write_new(transaction, row, first, end, since)
            merged = self._merge(transaction, row, before.merged)
        edition = before.edition + (1 if chosen and not anew else 0)
        sent = max((one.last for one in self._files.own(row.device).values()), default=0)
        at = clock.to_text(clock.utc_now()) if merged or not before.merged else before.merged
        now = Written(last, sent, self._choice.text, edition, at)
        if now != before:
            with self._engine.write() as transaction:
                meta_table.put(transaction, meta_table.SYNCED, json.dumps(list(now)))

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

    def _merge(self, transaction: Transaction, row: DeviceRow, merged: str) -> bool:
        """Merge the small files of this device if they are many, or from days before this one.

        Args:
            transaction: of the file.
            row: this device.
            merged: when that was done last, as it is stored.
        """
        own = sorted(
            (named.first, named.last, name) for name, named in self._files.own(row.device).items()
        )
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
                    self._files.delete(name)
        return bool(groups)

    def _groups(self, own: Sequence[tuple[int, int, str]]) -> Iterator[list[tuple[int, int, str]]]:
        """Yield what is merged into one file each: neighbours that are not full together."""
        group: list[tuple[int, int, str]] = []
        size = 0
        for one in own:
            more = self._files.sizes[one[2]]
            if group and size + more > segments.FULL_BYTES:
                yield group
                group, size = [], 0
            group.append(one)
            size += more
        if group:
            yield group
