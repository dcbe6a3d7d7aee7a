"""What a place holds after a year in which devices synced every five minutes.

    python -m benches.sync_year [--place folder|git|server|spoilt] [--days 365] [--devices 2]
                                [--seed 0] [--kept FOLDER]

A person works on several devices, on each workday in some sessions, with about thirty changes a
day. Each device that is on syncs every five minutes, through the same function as always; only the
clock is another one. A run of which neither the file nor the place has news is made once in five
hours, and has to write nothing; the others of that kind are left out. Devices after the second one
are off for ten months, and come back. Of a git place, the objects grow older with the days, so that
git tidies up as it would. In the end, all devices hold the same, and no file of the place says what
was erased.

The place ``spoilt`` is in memory: each device sees files late, cut, with wrong hashes and beside
conflict copies, and now and then a run is killed at one of its writes. ``--kept`` goes on where an
earlier run ended; of a server it cannot.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

from tests.support.gated import listening
from tests.support.places import git, repository
from tests.support.syncing import Killed, Shelf, all_facts, device_of, differences, sync

import memstore
from benches.corpus import facts as made_facts
from memstore import Store
from memstore.domain import clock
from memstore.domain.clock import Clock
from memstore.errors import MemstoreError
from memstore.sync import segments
from memstore.sync.places import Entry, Place, names
from memstore.sync.places.folder import FolderPlace
from memstore.sync.places.git import GitPlace
from memstore.sync.places.server import ServerPlace
from memstore.sync.reports import Synced

FIRST: Final = datetime(2025, 1, 6, tzinfo=UTC)
EVERY: Final = timedelta(minutes=5)
HOURS: Final = range(8, 22)
AWAY: Final = range(30, 330)
"""The days on which devices after the second one are off."""
IDLE: Final = 60
"""Of so many runs that have no news, one is made."""
SESSIONS: Final = (4, 6)
CHANGES: Final = (3, 9)
KINDS: Final = {
    "add": 40, "turn": 25, "replace": 13, "confirm": 10, "metadata": 4, "task": 3, "done": 2,
    "delete": 1.5, "pin": 1, "expiry": 0.4, "erase": 0.1,
}  # fmt: skip
REPORTED: Final = (1, 7, 14, 30, 60, 90, 120, 150, 180, 210, 240, 270, 300, 330, 365)


class Simulated(Clock):
    """Goes forward a little with every look."""

    def __init__(self, now: datetime) -> None:
        self.now = now

    def utc_now(self) -> datetime:
        self.now += timedelta(microseconds=700)
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)


class Counted:
    """A place whose writes are counted."""

    def __init__(self, place: Place) -> None:
        self.address = place.address
        self.writes = 0
        self.bytes = 0
        self.place = place

    @property
    def ignored(self) -> Any:
        return self.place.ignored

    def list(self) -> Mapping[str, Entry]:
        return self.place.list()

    def get(self, name: str, *, most: int) -> bytes:
        return self.place.get(name, most=most)

    def put(self, name: str, data: bytes) -> None:
        self.writes += 1
        self.bytes += len(data)
        self.place.put(name, data)

    def delete(self, name: str) -> None:
        self.writes += 1
        self.place.delete(name)

    def publish(self, *, anew: bool = False) -> None:
        self.place.publish(anew=anew)


class Device:
    """A store, and what it has seen of the place."""

    def __init__(self, number: int, path: Path) -> None:
        self.number = number
        self.store = memstore.open(path, embedder=None, durability="normal")
        self.seen = -1
        self.has_news = False


class Year:
    """Devices, their place, and the days so far."""

    def __init__(
        self, kind: str, devices: int, folder: Path, stack: ExitStack, seed: int = 0
    ) -> None:
        self.kind = kind
        self.seed = seed
        self.folder = folder
        self.kept = folder / "kept.json"
        told = json.loads(self.kept.read_text()) if self.kept.exists() else {}
        self.day: int = told.get("day", 0)
        self.clock = Simulated(FIRST + timedelta(days=self.day))
        stack.enter_context(clock.use(self.clock))
        self.texts = texts(self.day)
        self.shelf = Shelf()
        for name, versions in told.get("shelf", {}).items():
            self.shelf.versions[name] = [
                None if data is None else bytes.fromhex(data) for data in versions
            ]
        self.version = 0
        self.total = {"runs": 0, "news": 0, "idle": 0, "changes": 0, "bytes": 0, "kills": 0}
        self.total |= told.get("total", {})
        self.seconds: dict[str, float] = {"goes": 0, "comes": 0, "nothing": 0}
        self.counts = dict.fromkeys(self.seconds, 0)
        self.most = told.get("most", 0)
        self.erased: list[str] = told.get("erased", [])
        """What erased facts said."""
        self.devices = [Device(number, folder / f"{number}.db") for number in range(devices)]
        for device in self.devices:
            stack.callback(device.store.close)
        self.reach = self._reached(stack)

    @property
    def place(self) -> Path:
        return self.folder / "place"

    def _reached(self, stack: ExitStack) -> Callable[[Device], Place]:
        if self.kind == "folder":
            self.place.mkdir(exist_ok=True)
            return lambda _device: FolderPlace(self.place)
        if self.kind == "git":
            if not self.place.exists():
                shutil.rmtree(repository(self.place) / "hooks")  # samples
            return lambda device: GitPlace(str(self.place), self.clone(device))
        if self.kind == "server":
            self.place.mkdir()
            path = self.place / "server.db"
            with memstore.open(path, embedder=None) as store:
                make = store.file.tokens.create
                tokens = [make(f"{one.number}", namespace="work")[1] for one in self.devices]
            address = stack.enter_context(listening(path))
            return lambda device: ServerPlace(address, tokens[device.number])
        return self._spoilt

    def _spoilt(self, device: Device) -> Place:
        """Return the shelf as a bad carrier shows it to a device."""
        rnd = random.Random(f"{self.seed} {self.day} {device.number} {self.total['runs']}")
        view = self.shelf.view(rnd if rnd.random() < 0.5 else None).own(device_of(device.store))
        for name in rnd.sample(sorted(view.seen), min(2, len(view.seen))):
            view.seen[f"{name}.sync-conflict"] = view.seen[name]
        if rnd.random() < 0.05:
            view.lives = rnd.randrange(8)
        return view

    def clone(self, device: Device) -> Path:
        return self.folder / f"clone {device.number}"

    # -- days ----------------------------------------------------------------------------------

    def work(self) -> None:
        """Live through a day."""
        rnd = random.Random(f"{self.seed} {self.day}")
        day = FIRST + timedelta(days=self.day)
        on = self.devices[:2] if self.day in AWAY else self.devices
        plan: dict[datetime, list[int]] = {}
        if day.weekday() < 5:
            for _ in range(rnd.randint(*SESSIONS)):
                at = day + timedelta(minutes=rnd.randrange(HOURS.start * 60, HOURS.stop * 60 - 30))
                where = rnd.choice(on).number
                for _ in range(rnd.randint(*CHANGES)):
                    plan.setdefault(at + rnd.randrange(2) * EVERY, []).append(where)
        self.clock.now = day + timedelta(hours=HOURS.start)
        left = sorted(plan)
        for place in range(len(HOURS) * 12):
            until = day + timedelta(hours=HOURS.start) + place * EVERY
            while left and left[0] <= until:
                at = left.pop(0)
                self.clock.now = max(self.clock.now, at)
                for where in plan[at]:
                    self.change(rnd, self.devices[where])
            self.clock.now = max(self.clock.now, until)
            for device in on:
                self.tick(rnd, device)
        self.day += 1
        self.most = max(self.most, *self.files().values())
        if self.kind == "git":
            self._grow_older()
        held = {
            name: [None if data is None else data.hex() for data in versions[-3:]]
            for name, versions in self.shelf.versions.items()
        }
        kept = {"day": self.day, "total": self.total, "most": self.most, "erased": self.erased}
        kept["shelf"] = held
        self.kept.write_text(json.dumps(kept))

    def tick(self, rnd: random.Random, device: Device) -> None:
        """Let a device sync, if there is news, and sometimes if there is none."""
        self.total["runs"] += 1
        is_idle = not device.has_news and device.seen == self.version
        if is_idle and rnd.randrange(IDLE):
            return
        counted = Counted(self.reach(device))
        begun = processor()
        done = self.synced(device, counted)
        taken = processor() - begun
        self.total["bytes"] += counted.bytes
        if is_idle and self.kind != "spoilt":
            assert not counted.writes, "a run without news wrote something"
            assert done is not None
            assert not done.came, "a run without news took something"
        kind = "nothing" if is_idle else "goes" if done and done.went else "comes"
        self.seconds[kind] += taken
        self.counts[kind] += 1
        self.total["idle" if is_idle else "news"] += 1
        self.version += counted.writes
        device.seen = self.version
        device.has_news = done is None
        if self.kind in ("folder", "spoilt"):
            self.most = max(self.most, *self.files().values())

    def synced(self, device: Device, place: Counted) -> Synced | None:
        """Sync a device; return nothing if it was killed."""
        try:
            return sync(device.store, place)
        except Killed:
            self.total["kills"] += 1
            return None

    def change(self, rnd: random.Random, device: Device) -> None:
        self.total["changes"] += 1
        device.has_news = True
        [kind] = rnd.choices([*KINDS], [*KINDS.values()])
        with suppress(MemstoreError):
            change(rnd, device.store, kind, self.texts, self.erased)

    def _grow_older(self) -> None:
        """Let a day pass for the objects and notes of the repository, which git keeps for weeks."""
        for file in self.place.rglob("*"):
            if file.is_file():
                at = file.stat().st_mtime - 86_400
                os.utime(file, (at, at))

    # -- what there is -------------------------------------------------------------------------

    def entries(self) -> Mapping[str, Entry]:
        if self.kind == "spoilt":
            return self.shelf.view().list()
        return self.reach(self.devices[0]).list()

    def files(self) -> dict[str, int]:
        """Return how many files each device has."""
        found = {device_of(device.store): 0 for device in self.devices}
        for name in self.entries():
            named = names.read(name)
            if named is not None:
                found[named.device] = found.get(named.device, 0) + 1
        return found

    def report(self) -> None:
        bytes_ = sum(entry.size for entry in self.entries().values())
        row = [f"{self.day}", f"{self.total['changes']:,}", f"{self.most}", f"{bytes_:,}"]
        row.append(f"{self.total['bytes'] / max(bytes_, 1):.1f}")
        if self.kind == "git":
            sizes = [size(self.place), size(self.clone(self.devices[0])), self._tidied()]
            row += [f"{one:,} ({one / bytes_:.1f})" for one in sizes]
            row.append(git(self.place, "rev-list", "--count", "memstore").strip())
        elif self.kind == "server":
            file = self.place / "server.db"
            row += [f"{one.stat().st_size:,}" for one in (file, Path(f"{file}-wal"))]
        print(f"| {' | '.join(row)} |", flush=True)

    def _tidied(self) -> int:
        """Return the size of the repository when the host has tidied up."""
        with tempfile.TemporaryDirectory(dir=self.folder) as made:
            copy = Path(made, "copy")
            shutil.copytree(self.place, copy)
            git(copy, "gc", "-q", "--prune=now")
            return size(copy)

    def end(self) -> None:
        """Let all devices meet, check that they hold the same, and tell what runs cost."""
        for _ in range(3):
            for device in self.devices:
                place = self.shelf.view().own(device_of(device.store))
                sync(device.store, place if self.kind == "spoilt" else self.reach(device))
        stores = [device.store for device in self.devices]
        assert [*differences(stores)] == []
        assert [one for store in stores for one in store.ledger.verify()] == []
        self._check_erased()
        facts = len(all_facts(stores[0]))
        print(f"\n{self.total}, {len(self.erased)} erased; {facts:,} facts, equal on all devices")
        for kind, number in self.counts.items():
            if number:
                print(f"{kind}: {number:,} runs, {self.seconds[kind] / number:.4f} s each")

    def _check_erased(self) -> None:
        """Check that no file of the place says what was erased."""
        place = self.shelf.view() if self.kind == "spoilt" else self.reach(self.devices[0])
        for name in place.list():
            named = names.read(name)
            if named is not None and not named.is_state:
                segment = segments.read(place.get(name, most=segments.MAX_BYTES), named)
                said = repr(segment.acts)
                assert not [text for text in self.erased if text in said]


def texts(seed: int) -> Iterator[str]:
    while True:
        yield from (str(fact["content"]) for fact in made_facts(1000, seed))
        seed += 1


def change(
    rnd: random.Random, store: Store, kind: str, made: Iterator[str], erased: list[str]
) -> None:
    text = f"{next(made)} ({rnd.getrandbits(20)})"
    match kind:
        case "add":
            store.add(text, subject=f"s{rnd.randrange(60)}")
        case "turn":
            content = " ".join([text, *(next(made) for _ in range(3))])
            store.episodes.add(content, source="bench", thread=f"t{store.path}{clock.utc_now():%j}")
        case "task":
            store.tasks.create(text)
        case "done":
            if tasks := store.tasks.list():
                store.tasks.update(rnd.choice(tasks).id, "completed")
        case _:
            if recent := store.list(limit=50):
                fact = rnd.choice(recent)
                _change(rnd, store, kind, fact.id, text)
                if kind == "erase":
                    erased.append(fact.content)


def _change(rnd: random.Random, store: Store, kind: str, id_: int, text: str) -> None:
    match kind:
        case "replace":
            store.add(text, subject="s", supersedes=id_, any_subject=True)
        case "confirm":
            store.confirm(id_)
        case "metadata":
            store.update_metadata(id_, {rnd.choice("abc"): rnd.randrange(9)})
        case "delete":
            store.delete(id_)
        case "pin":
            store.pin(id_)
        case "expiry":
            store.set_expiry(id_, clock.utc_now() + timedelta(days=30))
        case "erase":
            store.erase(id_)


def processor() -> float:
    """Return the seconds of the processor of this process and of those that it started."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def size(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--place", default="folder", choices="folder git server spoilt".split())
    parser.add_argument("--days", type=int, default=365)
    parser.add_argument("--devices", type=int, default=2)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--kept", type=Path)
    chosen = parser.parse_args()
    with ExitStack() as stack:
        made = chosen.kept or Path(stack.enter_context(tempfile.TemporaryDirectory()))
        made.mkdir(exist_ok=True)
        year = Year(chosen.place, chosen.devices, made, stack, chosen.seed)
        further = {
            "git": " the repository (x the place) | a clone | tidied up | commits |",
            "server": " the server's file | its log |",
        }.get(chosen.place, "")
        head = f"| day | changes | most files | bytes | written, x |{further}"
        print(head, "|---" * (head.count("|") - 1) + "|", sep="\n")
        while year.day < chosen.days:
            year.work()
            if year.day in REPORTED or year.day == chosen.days:
                year.report()
        year.end()


if __name__ == "__main__":
    main()
