"""Whether the lines of a device in the place are those that this file has taken (decision 225)."""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING

from memstore.sync import applying, rules

if TYPE_CHECKING:
    from memstore.database.engine import Engine, Transaction
    from memstore.database.tables.devices import DeviceRow
    from memstore.sync.files import Files
    from memstore.sync.known_devices import KnownDevices
    from memstore.sync.namespace_choice import Choice
    from memstore.sync.places.names import Named
    from memstore.sync.segments import Segment

    Compared = tuple[int, int, rules.About]
    """The line, the moment and the subject of a record."""


class ChainCheck:
    """Compares the chains that files show with those that were taken."""

    def __init__(self, engine: Engine, files: Files, known: KnownDevices, choice: Choice) -> None:
        self._engine = engine
        self._files = files
        self._known = known
        self._choice = choice

    def is_as_there(self, row: DeviceRow, within: Transaction | None) -> bool:
        """Return whether the lines of a device in the place are those that were taken.

        They are others if the device was restored from a backup and its place was lost: it then
        wrote other lines under its name. Where those are more, their file does not continue what
        was taken. Two devices can also have taken different lines of one that is gone.
        """
        if row.known <= row.begins:
            return True
        state = self._known.states.get(row.device)
        if state is not None and state.sent == row.known:
            # A state beside files of another chain is no reason to read them in each run.
            return _is_hash(row, state.sent_hash) or self.has_taken_part(row, "", within)
        files = {
            name: named
            for name, named in self._files.named.items()
            if named.of == row.device and not named.is_state and not self._is_relayed_here(named)
        }
        if all(named.last < row.known for named in files.values()):
            some = [name for name, named in files.items() if named.last > row.begins]
            found = [self._files.segment(name) for name in some]
            if not all(one is None or self._agrees(row, one, within) for one in found):
                return False
        some = [name for name, named in files.items() if self._is_of_others(row, named)]
        found = [self._files.segment(name) for name in some]
        if all(one is None or self._is_same(row, one, within) for one in found):
            return True
        return self.has_taken_part(row, "", within)

    def _is_relayed_here(self, named: Named) -> bool:
        return named.is_relayed and named.device == self._known.me.device

    def _is_of_others(self, row: DeviceRow, named: Named) -> bool:
        """Return whether a file is relayed by one that took other lines of a device, or fewer."""
        relaying = self._known.states.get(named.device) if named.is_relayed else None
        reached = None if relaying is None else relaying.taken.get(row.device)
        if reached is None:
            return False
        return reached.line != row.known or not _is_hash(row, reached.hash)

    def continues(self, row: DeviceRow, segment: Segment, within: Transaction | None) -> bool:
        """Return whether a file continues what was taken of a device."""
        header = segment.header
        if header.first == row.known + 1:
            hash_ = header.before
        else:
            hash_ = next((act.hash for act in segment.acts if act.last == row.known), "")
            if not hash_:  # it is relayed, which tells no hashes
                return row.known <= row.begins or self._agrees(row, segment, within)
        return _is_hash(row, hash_)

    def has_taken_part(self, row: DeviceRow, following: str, within: Transaction | None) -> bool:
        """Return whether another file in the place has the last line that was taken."""
        for name, named in self._files.named.items():
            if name == following or named.of != row.device or named.is_state:
                continue
            if self._is_relayed_here(named):
                continue
            if not named.first <= row.known <= named.last:
                continue
            segment = self._files.segment(name)
            if segment is None:
                continue
            hash_ = _hash_at(segment, row.known)
            if _is_hash(row, hash_) if hash_ else self._agrees(row, segment, within):
                return True
        return False

    def _agrees(self, row: DeviceRow, segment: Segment, within: Transaction | None) -> bool:
        """Return whether what a file has of a device was taken, up to the last line that was."""
        there, known = self._compared(row, segment, within)
        return there <= known

    def _is_same(self, row: DeviceRow, segment: Segment, within: Transaction | None) -> bool:
        """Return whether a file has what was taken of a device, from its first line on."""
        there, known = self._compared(row, segment, within)
        return there == known

    def _compared(
        self, row: DeviceRow, segment: Segment, within: Transaction | None
    ) -> tuple[set[Compared], set[Compared]]:
        """Return what a file has of a device, and what was taken, up to the last line that was.

        What is about erased facts and episodes is left out: parts of it are gone.
        """
        first = max(segment.header.first, row.begins + 1)
        last = min(segment.header.last, row.known)
        travels = self._choice.travels
        said = [record for act in segment.acts for record in act.records if travels(record)]
        blank = {one.about for one in said if one.kind in rules.BIRTHS and one.value is None}
        there = {(one.line, one.at, one.about) for one in said if first <= one.line <= last}
        with self._engine.read() if within is None else nullcontext(within) as transaction:
            held = self._known.records_of(transaction, row, first, last)
            known = {(one.line, one.at, one.about) for one in held}
            differing = {about for *_, about in there ^ known}
            gone = blank | applying.erased(transaction, differing) if differing else blank
        return (
            {one for one in there if one[2] not in gone},
            {one for one in known if one[2] not in gone},
        )


def _hash_at(segment: Segment, line: int) -> str:
    """Return what a file says is the hash of a line; nothing if it does not say."""
    if line == segment.header.last:
        return segment.header.after
    return next((act.hash for act in segment.acts if act.last == line), "")


def _is_hash(row: DeviceRow, hash_: str) -> bool:
    """Return whether a hash is that of the last line that was taken of a device."""
    length = min(len(hash_), len(row.hash))
    return hash_[:length] == row.hash[:length]
