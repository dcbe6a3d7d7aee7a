"""Whether the lines of a device in the place are those that this file has taken (decision 225)."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from memstore.database.engine import Engine, Transaction
    from memstore.database.tables.devices import DeviceRow
    from memstore.sync import rules
    from memstore.sync.choice import Choice
    from memstore.sync.files import Files
    from memstore.sync.known_devices import KnownDevices
    from memstore.sync.segments import Segment


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
        was taken.
        """
        if row.known <= row.begins:
            return True
        state = self._known.states.get(row.device)
        if state is not None and state.sent == row.known:
            # A state beside files of another chain is no reason to read them in each run.
            return _is_hash(row, state.sent_hash) or self.has_taken_part(row, "", within)
        files = [
            (name, named)
            for name, named in self._files.named.items()
            if named.of == row.device
            and not named.is_state
            and not (named.is_relayed and named.device == self._known.me.device)
        ]
        if not files or any(named.last >= row.known for _, named in files):
            return True
        found = [self._files.segment(name) for name, named in files if named.last > row.begins]
        return all(one is None or self._agrees(row, one, within) for one in found)

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
        first = max(segment.header.first, row.begins + 1)
        last = min(segment.header.last, row.known)
        there = {
            (record.line, record.at, record.about)
            for act in segment.acts
            for record in act.records
            if first <= record.line <= last and self._choice.travels(record)
        }

        def known(transaction: Transaction) -> set[tuple[int, int, rules.About]]:
            found = self._known.records_of(transaction, row, first, last)
            return {(record.line, record.at, record.about) for record in found}

        if within is not None:
            return there <= known(within)
        with self._engine.read() as transaction:
            return there <= known(transaction)


def _hash_at(segment: Segment, line: int) -> str:
    """Return what a file says is the hash of a line; nothing if it does not say."""
    if line == segment.header.last:
        return segment.header.after
    return next((act.hash for act in segment.acts if act.last == line), "")


def _is_hash(row: DeviceRow, hash_: str) -> bool:
    """Return whether a hash is that of the last line that was taken of a device."""
    length = min(len(hash_), len(row.hash))
    return hash_[:length] == row.hash[:length]
