"""The devices that a file knows: what they say, which one this file is, and what it has of each."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from memstore.database.tables import devices as device_table
from memstore.database.tables import taken as taken_table
from memstore.database.tables.devices import DISMISSED, FORMER, HERE, OTHER, DeviceRow
from memstore.errors import SyncError
from memstore.sync import devices, records
from memstore.sync.devices import DeviceState, Reached
from memstore.sync.places import names

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from memstore.database.engine import Transaction
    from memstore.database.tables.taken import TracedLine
    from memstore.sync.files import Files
    from memstore.sync.namespace_choice import Choice
    from memstore.sync.places.names import Named
    from memstore.sync.rules import Record
    from memstore.sync.segments import Segment


RELAYED: Final = "relayed"
"""The member that is kept with what a device says if lines of it came from others since."""

WANTED: Final = "as requested"
COPIED: Final = "it was copied or moved"
RESTORED: Final = "it was restored from a backup"
CONTINUED: Final = "another file already goes on from what this one was"
DISMISSED_ELSEWHERE: Final = "another device had dismissed it"
"""Why a file goes on as another device."""


class KnownDevices:
    """This file's rows of devices, and what lies of each in the place.

    Args:
        files: of the place.
        choice: the namespaces that travel.
        path: of the file.
        state: the folder of this machine that says where the file was.
    """

    def __init__(self, files: Files, choice: Choice, path: Path, state: Path | None) -> None:
        self.rows: dict[str, DeviceRow] = {}
        self.states: dict[str, DeviceState] = {}
        """What the devices say in the place."""
        self.again: set[str] = set()
        """The devices of which more may be in the place than was taken, up to the last line."""
        self._said: dict[str, str] = {}
        """What these say, if that is the reason; it is kept when they are read again."""
        self.was = ""
        """Under which id this file was known until this run, if it goes on under another one."""
        self.reason = ""
        """Why it does, as a clause."""
        self._files = files
        self._choice = choice
        self._path = path
        self._state = state

    @property
    def here(self) -> DeviceRow | None:
        return next((row for row in self.rows.values() if row.state == HERE), None)

    @property
    def me(self) -> DeviceRow:
        row = self.here
        if row is None:
            raise SyncError("this file is no device yet")
        return row

    @property
    def others(self) -> list[DeviceRow]:
        return [row for row in self.rows.values() if row.state != HERE]

    @property
    def chains(self) -> records.Chains:
        return records.Chains.of(self.rows.values())

    def name_of(self, device: str) -> str:
        row = self.rows.get(device)
        return device[:4] if row is None else row.name

    def load(self, transaction: Transaction) -> None:
        self.rows = {row.device: row for row in device_table.every(transaction)}

    def keep(self, transaction: Transaction, row: DeviceRow) -> DeviceRow:
        device_table.change(transaction, row)
        self.rows[row.device] = row
        return row

    # -- what they say -------------------------------------------------------------------------

    def hear(self, transaction: Transaction, *, again: bool) -> None:
        """Read what the devices say.

        Args:
            transaction: of the file.
            again: read all of their lines again, of which more may travel now.
        """
        if again:
            self.again.update(row.device for row in self.others)
        for state in self._files.states():
            self.states[state.device] = state
            self._note(transaction, state)
        begins: dict[str, int] = {}
        for state in self.states.values():
            for device, reached in (*state.taken.items(), (state.device, state.head)):
                begins[device] = max(begins.get(device, 0), reached.begins)
        for named in [*self._files.named.values()]:  # of devices that nobody hears any more
            if named.of not in self.rows and not named.is_state:
                start = begins.get(named.of, 0)
                self._meet(transaction, named.of, named.of[:4], start)
        for row in self.others:  # where one begins that was met by its files alone
            start = begins.get(row.device, 0)
            if not row.is_own and row.begins == row.known < start:
                self.keep(transaction, row._replace(begins=start, known=start))

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
        said = devices.write(state).decode()
        row = self.keep(transaction, row._replace(name=state.name))
        before = row.last_said
        if before.get("edition", state.edition) != state.edition:
            files = [one for one in self._files.named.values() if one.device == row.device]
            self.again.update(one.of for one in files)  # those that it relays among them
        elif not before.get(RELAYED, not before and row.known > row.begins):
            self.keep(transaction, row._replace(said=said))
            return
        self.again.add(row.device)
        self._said[row.device] = said

    def note_relayed(self, transaction: Transaction, row: DeviceRow) -> DeviceRow:
        """Note that lines were taken from one who relays them, and may not share everything."""
        if row.last_said.get(RELAYED) or not row.last_said:
            return row
        return self.keep(
            transaction, row._replace(said=json.dumps({**row.last_said, RELAYED: True}))
        )

    def read_again(self, transaction: Transaction) -> None:
        """Begin to read again what holds other records now, all or nothing.

        Lines of this file's former ids are read from where it left them.
        """
        for row in self.others:
            if row.device in self.again and row.is_own:
                known = self._own_end(row)
                hash_ = taken_table.hash_at(transaction, known)
                self.keep(transaction, row._replace(known=known, hash=hash_))
            elif row.device in self.again:
                self.keep(transaction, row._replace(known=row.begins, hash=""))
        for device, said in self._said.items():
            self.keep(transaction, self.rows[device]._replace(said=said))
        self.again.clear()
        self._said.clear()

    def _own_end(self, row: DeviceRow) -> int:
        """Return the last line of a former id of this file that is a line of this file."""
        later = [one.begins for one in self.rows.values() if one.is_own and one.id > row.id]
        return min(later, default=row.known)

    def can_replace(self, name: str) -> bool:
        """Return whether this file has taken all that is in a file of one that is gone.

        What the person chose not to take from others is not here, and stays where it is.
        """
        if self._choice.namespaces is None:
            return True
        segment = self._files.segment(name)
        if segment is None:
            return False
        row = self.rows.get(segment.header.device)
        end = self._own_end(row) if row is not None and row.is_own else 0
        return all(
            self._choice.travels(record) or record.line <= end
            for act in segment.acts
            for record in act.records
        )

    def is_too_old(self, name: str, segment: Segment) -> bool:
        """Return whether a file follows an earlier choice than its writer's state does.

        Not if the writer is gone: it may have been lost before it wrote the file again.
        """
        state = self.states.get(self._files.named[name].device)
        if state is None or segment.header.edition >= state.edition:
            return False
        writer = self.rows[state.device]
        return writer.state not in (DISMISSED, FORMER) and not self.is_gone(writer)

    def is_gone(self, row: DeviceRow) -> bool:
        """Return whether somebody says that a device goes on under another id, or is given up."""
        return any(row.device in (*one.former, *one.dismissed) for one in self.states.values())

    # -- which one this file is ----------------------------------------------------------------

    def identify(self, transaction: Transaction, *, new_device: bool) -> None:
        """Become a device, or another one if somebody knows lines that this file has not."""
        row = self.here
        if row is None:
            self.begin(transaction)
        elif reason := WANTED if new_device else self._reason_for_another(transaction, row):
            self.was, self.reason = row.device, reason
            common = max(row.begins, self._common(transaction, row))
            hash_ = taken_table.hash_at(transaction, common)
            self.keep(transaction, row._replace(state=FORMER, known=common, hash=hash_))
            self._begin(transaction, common, row.name)

    def begin(self, transaction: Transaction) -> None:
        """Become a device for the first time, or after this file left the others."""
        left = [
            row
            for row in self.rows.values()
            if row.state == FORMER and self._has(transaction, Reached(row.known, row.hash))
        ]
        if not left:
            self._begin(transaction, 0)
            return
        last = max(left, key=lambda row: row.known)
        # Of a copy on another machine, the name would be that of the machine where it came from.
        name = None if self._is_elsewhere(last) else last.name
        self._begin(transaction, last.known, name)

    def _begin(self, transaction: Transaction, begins: int, name: str | None = None) -> None:
        device = names.new_device()
        said = name or devices.name_of_machine()
        self.rows[device] = device_table.add(
            transaction, device, said, HERE, begins=begins, known=begins
        )

    def _is_elsewhere(self, row: DeviceRow) -> bool:
        """Return whether this file is a copy of the one that is a device."""
        if self._state is None:
            return False
        return devices.is_elsewhere(self._state, row.device, self._path)

    def remember(self) -> None:
        """Remember on this machine which device this file is, and where."""
        if self._state is not None:
            devices.remember(self._state, self.me.device, self._path)

    def _reason_for_another(self, transaction: Transaction, row: DeviceRow) -> str:
        """Return why this file goes on as another device; nothing if it does not."""
        if any(row.device in one.dismissed for one in self.states.values()):
            return DISMISSED_ELSEWHERE
        if self._is_elsewhere(row):
            return COPIED
        if any(row.device in one.former for one in self.states.values()):
            return CONTINUED
        is_behind = any(
            reached.line > 0 and not self._has(transaction, reached)
            for reached in self._reached(row)
        )
        return RESTORED if is_behind else ""

    def _reached(self, row: DeviceRow) -> Iterator[Reached]:
        """Yield how far this file's lines are known to others, and to what it left itself."""
        for state in self.states.values():
            if state.device == row.device:
                yield state.head
            elif row.device in state.taken:
                yield state.taken[row.device]

    @staticmethod
    def _has(transaction: Transaction, reached: Reached) -> bool:
        """Return whether this file has a line."""
        held = taken_table.hash_at(transaction, reached.line)
        return bool(held) and held.startswith(reached.hash)

    def _common(self, transaction: Transaction, row: DeviceRow) -> int:
        """Return the last line that this file has in common with what is known of it."""
        common = 0
        for reached in self._reached(row):
            if self._has(transaction, reached):
                common = max(common, reached.line)
        for name, named in self._files.named.items():
            if named.of != row.device or named.is_state or named.is_relayed:
                continue
            segment = self._files.segment(name)
            for act in segment.acts if segment is not None else ():
                if act.last > common and self._has(transaction, Reached(act.last, act.hash)):
                    common = act.last
        return common

    # -- what this file has of each ------------------------------------------------------------

    def records_of(
        self, transaction: Transaction, row: DeviceRow, first: int, last: int
    ) -> list[Record]:
        """Return the records of a device from one line to another, as far as this file has them."""
        found: list[Record] = []
        if row.is_own:
            end = min((o.begins for o in self.chains.own if o.begins > row.begins), default=last)
            own = records.own(transaction, self.chains, first, min(last, end))
            found += [record for record in own if record.device == row.device]
        found += records.relayed(transaction, self.chains, row, first, last)
        return [record for record in found if self._choice.travels(record)]

    def stale(self, transaction: Transaction, first: int, last: int) -> set[str]:
        """Return the files of this device with lines of what was erased between two lines here."""
        device = self.me.device
        written = {
            name: named
            for name, named in self._files.named.items()
            if named.device == device and not named.is_state
        }
        found: set[str] = set()
        for line in taken_table.about_erased(transaction, first, last):
            for name, named in written.items():
                at = line.id if not named.is_relayed else self._position(line, named)
                if named.first <= at <= named.last:
                    found.add(name)
        return found

    def _position(self, line: TracedLine, named: Named) -> int:
        """Return the number of a line in the chain of a relayed file; 0 if it is not of that."""
        other = self.rows.get(named.of)
        if other is None:
            return 0
        if line.device == other.id:
            return line.position or 0
        return line.id if other.is_own and line.taken is None else 0
