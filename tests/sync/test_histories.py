"""Random histories on several devices: whatever the carrier does, their memories end equal."""

from __future__ import annotations

import inspect
import random
import shutil
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import pytest
from tests.support import random_calls
from tests.support.carriers import Carrier, InRepository, OnShelf, Sealed
from tests.support.random_calls import ELSEWHERE, all_facts, call
from tests.support.repeatable import repeatable
from tests.support.syncing import Killed, Ticking, device_of, differences

import memstore
from memstore import Store
from memstore.database.tables import episodes as episode_table
from memstore.domain import clock
from memstore.episodes.episodes import Episodes
from memstore.errors import Conflict, NotFound
from memstore.facts.proposals import Proposals
from memstore.facts.tasks import Tasks
from memstore.store.keys import Keys
from memstore.store.ledger import Ledger
from memstore.store.sources import Sources
from memstore.store.transfer import Transfer
from memstore.sync import status
from memstore.sync.screening import SCREEN
from memstore.text.secrets import REDACTED

SKEWS = (0, 0, 600, -90_000, 4 * 365 * 86_400)
"""What clocks are wrong by, in seconds."""

ROUNDS = 14

HOME = "home"


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "seed" in metafunc.fixturenames:
        seeds = range(metafunc.config.getoption("--histories"))
        of_process = [pytest.mark.process]
        metafunc.parametrize(
            "seed",
            [
                pytest.param(seed, marks=of_process if carrier_of(seed) is InRepository else ())
                for seed in seeds
            ],
        )


CHOICES = (None, None, (HOME,), (ELSEWHERE,), (HOME, ELSEWHERE))
"""The namespaces that a person may choose."""


def carrier_of(seed: int) -> type[Carrier]:
    """Return how the devices of a history meet; git is slow, so few do over that."""
    return InRepository if seed % 25 == 4 else Sealed if seed % 9 == 7 else OnShelf


@dataclass
class Device:
    """A file of memories, the clock of its machine, and what its user chose."""

    store: Store
    skew: timedelta
    namespaces: tuple[str, ...] | None = None
    shares_trust: bool = True

    @property
    def path(self) -> Path:
        return Path(self.store.path)

    @property
    def id(self) -> str:
        return device_of(self.store)


class History:
    """Devices that are copied, restored from backups, killed or lost, and their place."""

    def __init__(self, seed: int, folder: Path) -> None:
        self.rnd = random.Random(seed)
        self.folder = folder
        self.chooses = (seed // 4) % 3 == 1
        """Whether namespaces are chosen; of devices that are gone, others may not know the rest."""
        self.tick = Ticking()
        self.carrier: Carrier = carrier_of(seed)(folder)
        self.devices: list[Device] = []
        self.backups: list[tuple[Path, Path]] = []
        self.exports: list[tuple[str, list[str]]] = []
        """Each with the namespace that it is of."""
        self.texts: dict[str, str] = {}
        """What each fact said, by its UUID."""
        for _ in range(2 + seed % 4):
            self.open(self.folder / f"{len(self.devices)}.db")

    @property
    def stores(self) -> list[Store]:
        return [device.store for device in self.devices]

    def open(self, path: Path) -> None:
        skew = timedelta(seconds=self.rnd.choice(SKEWS))
        self.devices.append(Device(_opened(path), skew))

    def close(self) -> None:
        for store in self.stores:
            store.close()

    def round(self, number: int) -> None:
        """Let one device act, and perhaps meet the others; then something may go wrong."""
        device = self.rnd.choice(self.devices)
        self.tick.skew = device.skew
        for _ in range(self.rnd.randrange(1, 5)):
            call(self.rnd, device.store)
        self.choose(device)
        facts = all_facts(device.store)
        self.texts |= {fact.uuid: fact.content for fact in facts if fact.content}
        if self.rnd.random() < 0.5:
            lives = self.rnd.randrange(8) if self.rnd.random() < 0.2 else None
            with suppress(Killed):
                self.sync(device, self.rnd, lives)
        self.go_wrong(device, self.folder / f"backup-{number}.db")

    def sync(
        self, device: Device, rnd: random.Random | None = None, lives: int | None = None
    ) -> None:
        self.tick.skew = device.skew
        self.carrier.sync(
            device.store,
            namespaces=device.namespaces,
            rnd=rnd,
            lives=lives,
            trust=device.shares_trust,
        )

    def choose(self, device: Device) -> None:
        """Let a person do with a device what is no change of a memory, or carry an export."""
        engine, chance = device.store.file.engine, self.rnd.random()
        if chance < 0.08:
            namespace = self.rnd.choice((HOME, ELSEWHERE))
            export = device.store.within(namespace).transfer.export()
            self.exports.append((namespace, [*export]))
        elif chance < 0.2 and self.exports:
            namespace, lines = self.rnd.choice(self.exports)
            device.store.within(namespace).transfer.import_(lines)
        elif chance < 0.24:
            with suppress(NotFound):
                status.rename(engine, f"device {self.rnd.randrange(100)}")
        elif chance < 0.28:
            device.shares_trust = not device.shares_trust
        elif chance < 0.31:
            self.carrier.change_key(device.store)
        elif self.chooses:
            if chance < 0.45:
                device.namespaces = self.rnd.choice(CHOICES)
        elif chance < 0.34:
            self.carrier.leave(device.store)
        elif chance < 0.36:
            with suppress(NotFound, Conflict):
                status.dismiss(engine, self.rnd.choice(self.devices).id or "none")

    def go_wrong(self, device: Device, file: Path) -> None:
        chance = self.rnd.random()
        if chance < 0.03:
            self.carrier.lose()
        elif chance < 0.04:  # a clock is set, perhaps back by years
            other = self.rnd.choice(self.devices)
            other.skew = timedelta(seconds=self.rnd.choice(SKEWS))
        elif self.chooses:
            return
        elif chance < 0.16:
            self.snapshot(device, file)
            self.backups.append((device.path, file))
        elif chance < 0.24 and self.backups:
            self.restore(*self.backups.pop())
        elif chance < 0.28 and len(self.devices) < 6:
            self.snapshot(device, file)
            self.open(file)
        elif chance < 0.31 and len(self.devices) > 2:
            lost = self.devices.pop(-1)
            with suppress(NotFound):  # the others may not have heard of it
                status.dismiss(self.devices[0].store.file.engine, lost.id or "none")
            lost.store.close()

    def snapshot(self, device: Device, to: Path) -> None:
        """Copy a file with everything in it, its id as well."""
        path = device.path
        device.store.close()
        shutil.copy(path, to)
        device.store = _opened(path)

    def restore(self, path: Path, backup: Path) -> None:
        """Put a backup in the place of a file that is open."""
        for device in self.devices:
            if device.path == path:
                device.store.close()
                for old in path.parent.glob(f"{path.name}*"):
                    shutil.rmtree(old) if old.is_dir() else old.unlink()
                shutil.copy(backup, path)
                device.store = _opened(path)

    def settle(self) -> bool:
        """Let every device meet the others until nothing is left to say; return whether it ends."""
        for _ in range(len(self.devices) + 4):
            before = self.carrier.mark
            for device in self.devices:
                self.sync(device)
            if self.carrier.mark == before:
                return True
        return False

    def strays(self) -> list[str]:
        """Return what lies in files of a device, although its user let it not travel."""
        chosen = {one.id: one.namespaces for one in self.devices if one.namespaces is not None}
        return [
            f"{record.about.namespace} in a file of {named.device}"
            for named, segment in self.carrier.lines(self.stores)
            for act in segment.acts
            for record in act.records
            if record.about.namespace not in chosen.get(named.device, record.about.namespace)
        ]

    def share_everything(self) -> None:
        for device in self.devices:
            device.namespaces, device.shares_trust = None, True

    def remains(self) -> set[str]:
        """Return the texts of erased facts that a file of the place still has."""
        facts = all_facts(self.stores[0])
        erased = {self.texts.get(fact.uuid, "") for fact in facts if fact.status == "erased"}
        kept = {self.texts.get(fact.uuid, "") for fact in facts if fact.status != "erased"}
        alive = {device.id for device in self.devices}
        written = "".join(
            repr(segment.acts)
            for named, segment in self.carrier.lines(self.stores)
            if named.device in alive
        )
        gone = {text for text in erased if not any(text in other for other in kept)}
        # A mark in place of a secret is the same in what was kept with its own secret.
        return {text for text in gone - {""} if REDACTED not in text and text in written}

    def misnamed(self) -> list[tuple[str, str]]:
        """Return the devices that another one knows by a name that they have no more."""
        known = [
            {one.id: one.name for one in status.status(store.file.engine)} for store in self.stores
        ]
        names = {
            device.id: here[device.id] for device, here in zip(self.devices, known, strict=True)
        }
        return [
            (name, here[id_])
            for here in known
            for id_, name in names.items()
            if here.get(id_, name) != name
        ]

    def dismiss_lost(self) -> None:
        """Let somebody say which devices will not come back, so that others have their files."""
        engine = self.rnd.choice(self.stores).file.engine
        alive = {device.id for device in self.devices}
        for device in status.status(engine):
            if device.id not in alive and not device.is_retired:
                with suppress(NotFound):
                    status.dismiss(engine, device.id)

    def erase(self) -> list[bytes]:
        """Erase a fact and an episode, one of which was deleted elsewhere; return their texts."""
        store, other = self.rnd.choices(self.stores, k=2)
        facts = all_facts(store)
        episodes = [one for one in store.episodes.list(limit=1000) if one.content]
        with store.file.engine.read() as transaction:
            every = episode_table.get_many(transaction, episode_table.all_ids(transaction))
        texts = " ".join(one.content for some in (facts, every.values()) for one in some)

        def is_own(text: str) -> bool:
            is_secret = REDACTED in SCREEN.value(text, "content")
            return bool(text) and texts.count(text) == 1 and not is_secret

        own = [fact for fact in facts if is_own(fact.content)]
        turns = [one for one in episodes if is_own(one.content)]
        erased = []
        if own:
            fact = self.rnd.choice(own)
            for same in all_facts(other):
                if same.uuid == fact.uuid and same.deleted_at is None and self.rnd.random() < 0.5:
                    other.of("all").within(fact.namespace).delete(same.id)
            store.of("all").within(fact.namespace).erase(fact.id)
            erased.append(fact.content)
        if turns:
            episode = self.rnd.choice(turns)
            store.episodes.erase(episode.id)
            erased.append(episode.content)
        return [text.encode() for text in erased]

    def bytes(self) -> bytes:
        """Return all that lies in the files of the devices, and in those of the place."""
        found = []
        for store in self.stores:
            path = Path(store.path)
            beside = [one for one in path.parent.rglob(f"{path.name}*") if one.is_file()]
            inside = [one for one in path.parent.glob(f"{path.name}*/**/*") if one.is_file()]
            found += [file.read_bytes() for file in {*beside, *inside}]
        found += [repr(segment).encode() for _, segment in self.carrier.lines(self.stores)]
        return b" ".join((*found, self.carrier.rest(self.stores)))


def _opened(path: Path) -> Store:
    return memstore.open(path, embedder=None, namespace=HOME, durability="normal")


def check(seed: int, folder: Path) -> None:
    """Check what a history ends in."""
    with ExitStack() as stack:
        stack.enter_context(repeatable(seed))
        history = History(seed, folder)
        stack.callback(history.close)
        stack.enter_context(clock.use(history.tick))
        for number in range(ROUNDS):
            history.round(number)
        acknowledged = {fact.uuid for store in history.stores for fact in all_facts(store)}
        assert history.settle()
        assert history.strays() == []
        history.share_everything()
        assert history.settle()
        assert [*differences(history.stores)] == []
        assert [one for store in history.stores for one in store.ledger.verify()] == []
        for store in history.stores:
            uuids = [fact.uuid for fact in all_facts(store)]
            assert acknowledged <= {*uuids}
            assert len(uuids) == len({*uuids})
        assert history.remains() == set()
        assert history.misnamed() == []
        if history.carrier.shares_trust:
            levels = [store.sources.levels() for store in history.stores]
            assert levels == levels[:1] * len(levels)
        history.dismiss_lost()
        erased = history.erase()
        assert history.settle()
        assert [*differences(history.stores)] == []
        assert [one for one in erased if one in history.bytes()] == []


def test_histories_end_equal_without_losing_or_doubling_anything(seed: int, tmp_path: Path) -> None:
    check(seed, tmp_path)


READING = frozenset(
    {
        *("activity", "around", "as_of", "briefing", "by_keys", "changes", "close", "count"),
        *("counts", "diff", "exists", "explain", "export", "first_stored", "folders", "get"),
        *("histories", "history", "identity", "journal", "last_turns", "levels", "may_replace"),
        *("namespace_of", "namespaces", "owners", "questions", "recall", "remind", "search"),
        *("search_batch", "sessions", "status", "subjects", "support", "threads", "turns_for"),
        *("unerased", "unless_changed", "uuids", "verify", "why_not"),
    }
)
"""Verbs that change nothing that travels."""
IMPORTING = frozenset({"import_from"})
"""What the tests of importing other programs' memories call."""


@pytest.mark.parametrize(
    "room", [Store, Keys, Ledger, Sources, Transfer, Proposals, Tasks, Episodes]
)
def test_histories_call_every_verb_that_changes_a_memory(room: type) -> None:
    verbs = {name for name, _ in inspect.getmembers(room, inspect.isfunction) if name[0] != "_"}
    calls = inspect.getsource(random_calls) + inspect.getsource(History)
    missing = {verb for verb in verbs - READING - IMPORTING if f".{verb}(" not in calls}
    assert missing == set()
