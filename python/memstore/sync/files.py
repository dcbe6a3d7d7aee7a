"""The files of a place, as one run knows them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from memstore.database.tables.devices import HERE
from memstore.errors import SyncError
from memstore.sync import devices, segments
from memstore.sync.places import OtherKey, names
from memstore.sync.segments import NewerFormat

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from memstore.database.tables.devices import DeviceRow
    from memstore.sync.devices import DeviceState
    from memstore.sync.places import Place, Seal
    from memstore.sync.places.names import Named
    from memstore.sync.segments import Segment

MAX_SENTENCE: Final = 200
"""Characters of what is said of a file; it may quote what is in it."""


class Files:
    """States and files of lines in a place; each is read once in a run."""

    def __init__(self, place: Place, seal: Seal | None) -> None:
        self.named: dict[str, Named] = {}
        """What their names say."""
        self.sizes: dict[str, int] = {}
        self.ignored: list[str] = []
        """A sentence on each file that could not be read."""
        self.newer: set[str] = set()
        """The devices of which files were written by a newer version of the program."""
        self.other_key: set[str] = set()
        """The devices that have not synced since the key of the place was changed."""
        self.too_old: set[str] = set()
        """The devices of which files follow an earlier choice of namespaces than their states."""
        self.kept: dict[str, str] = {}
        """Why files of devices that are gone could not be removed."""
        self.has_changed = False
        self._place = place
        self._seal = seal
        self._read: dict[str, Segment | None] = {}

    def list_names(self) -> None:
        for name, entry in self._place.list().items():
            self.sizes[name] = entry.size
            if (named := names.read(name)) is not None:
                self.named[name] = named

    def states(self) -> Iterator[DeviceState]:
        """Yield what each device says of itself, where that can be read."""
        for name, named in [*self.named.items()]:
            if not named.is_state:
                continue
            try:
                yield devices.read(self._get(name, devices.MAX_BYTES), named.device)
            except NewerFormat:
                self.newer.add(named.device)
            except OtherKey:
                self.other_key.add(named.device)
            except SyncError as error:
                self.ignore(f"{name}: {error.text[:MAX_SENTENCE]}")

    def segment(self, name: str) -> Segment | None:
        """Return a file of lines; ``None`` if it cannot be read, which is said once."""
        if name not in self._read:
            try:
                data = self._get(name, segments.MAX_BYTES)
                self._read[name] = segments.read(data, self.named[name])
            except NewerFormat:
                self.newer.add(self.named[name].of)
                self._read[name] = None
            except OtherKey:
                self.other_key.add(self.named[name].device)
                self._read[name] = None
            except SyncError as error:
                self.reject(name, error.text)
        return self._read[name]

    def reject(self, name: str, reason: str) -> None:
        """Leave a file of lines out of this run."""
        self.ignored.append(f"{name}: {reason[:MAX_SENTENCE]}")
        self._read[name] = None

    def wait_for_newer(self, name: str) -> None:
        """Leave a file of lines out of this run, because its writer writes it again."""
        self.too_old.add(self.named[name].device)
        self._read[name] = None

    def is_rejected(self, name: str) -> bool:
        return name in self._read and self._read[name] is None

    def ignore(self, sentence: str) -> None:
        self.ignored.append(sentence)

    def put(self, name: str, data: bytes) -> None:
        named = names.read(name)
        if named is None:
            raise ValueError(f"{name} is no name of a file in a place")
        if self._seal is not None:
            data = self._seal.seal(data, device=named.device, name=name)
        self._place.put(name, data)
        self.named[name] = named
        self.sizes[name] = len(data)
        self.has_changed = True

    def delete(self, name: str) -> None:
        self._place.delete(name)
        self.named.pop(name, None)
        self.has_changed = True

    def own(self, device: str) -> dict[str, Named]:
        """Return the files in which a device wrote lines of its own."""
        return {
            name: named
            for name, named in self.named.items()
            if named.device == device and not named.is_state and not named.is_relayed
        }

    def uncovered(
        self, row: DeviceRow, last: int, among: Collection[str] | None = None
    ) -> list[tuple[int, int]]:
        """Return the stretches of a device's lines that no file has, or none of those named.

        Files that have still another key are no help to those who know only the new one.
        """
        found = []
        at = row.begins
        is_own = row.state == HERE
        for first, end in sorted(
            (named.first, named.last)
            for name, named in self.named.items()
            if named.of == row.device and not named.is_state
            if among is None or name in among
            if not (named.is_relayed if is_own else named.device in self.other_key)
        ):
            if first > at + 1:
                found.append((at + 1, min(first - 1, last)))
            at = max(at, end)
        if at < last:
            found.append((at + 1, last))
        return [(first, end) for first, end in found if first <= end]

    def _get(self, name: str, most: int) -> bytes:
        data = self._place.get(name, most=most)
        if self._seal is not None:
            data = self._seal.open(data, device=self.named[name].device, name=name)
        return data
