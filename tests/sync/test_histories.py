"""Random histories on several devices: whatever the carrier does, their memories end equal."""

from __future__ import annotations

import inspect
import random
import shutil
from contextlib import ExitStack, suppress
from datetime import timedelta
from pathlib import Path

import pytest
from tests.support import random_calls
from tests.support.random_calls import all_facts, call
from tests.support.syncing import (
    Killed,
    Shelf,
    Ticking,
    device_of,
    differences,
    sync,
)

import memstore
from memstore import Store
from memstore.database.tables import episodes as episode_table
from memstore.domain import clock
from memstore.episodes.episodes import Episodes
from memstore.errors import NotFound
from memstore.facts.proposals import Proposals
from memstore.facts.tasks import Tasks
from memstore.store.keys import Keys
from memstore.store.ledger import Ledger
from memstore.store.sources import Sources
from memstore.store.transfer import Transfer
from memstore.sync import segments, status
from memstore.sync.places import names
from memstore.sync.screening import SCREEN
from memstore.text.secrets import REDACTED

SKEWS = (0, 0, 600, -90_000, 4 * 365 * 86_400)
"""What clocks are wrong by, in seconds."""

ROUNDS = 14


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "seed" in metafunc.fixturenames:
        metafunc.parametrize("seed", range(metafunc.config.getoption("--histories")))


class History:
    """Devices that are copied, restored from backups, killed or lost, and their place."""

    def __init__(self, seed: int, folder: Path) -> None:
        self.rnd = random.Random(seed)
        self.folder = folder
        self.tick = Ticking()
        self.shelf = Shelf()
        self.stores: list[Store] = []
        self.skews: list[timedelta] = []
        self.backups: list[tuple[Path, Path]] = []
        self.texts: dict[str, str] = {}
        """What each fact said, by its UUID."""
        for _ in range(2 + seed % 4):
            self.open(self.folder / f"{len(self.stores)}.db")

    def open(self, path: Path) -> None:
        self.stores.append(memstore.open(path, embedder=None, durability="normal"))
        self.skews.append(timedelta(seconds=self.rnd.choice(SKEWS)))

    def close(self) -> None:
        for store in self.stores:
            store.close()

    def round(self, number: int) -> None:
        """Let one device act, and perhaps meet the others; then something may go wrong."""
        place = self.rnd.randrange(len(self.stores))
        store = self.stores[place]
        self.tick.skew = self.skews[place]
        for _ in range(self.rnd.randrange(1, 5)):
            call(self.rnd, store)
        self.texts |= {fact.uuid: fact.content for fact in all_facts(store) if fact.content}
        if self.rnd.random() < 0.5:
            view = self.shelf.view(self.rnd).own(device_of(store))
            if self.rnd.random() < 0.2:
                view.lives = self.rnd.randrange(8)
            with suppress(Killed):
                sync(store, view)
        self.go_wrong(store, self.folder / f"backup-{number}.db")

    def go_wrong(self, store: Store, file: Path) -> None:
        chance = self.rnd.random()
        if chance < 0.12:
            self.snapshot(store, file)
            self.backups.append((Path(store.path), file))
        elif chance < 0.2 and self.backups:
            self.restore(*self.backups.pop())
        elif chance < 0.24 and len(self.stores) < 6:
            self.snapshot(store, file)
            self.open(file)
        elif chance < 0.27:
            self.shelf.versions.clear()
        elif chance < 0.28:  # a clock is set, perhaps back by years
            place = self.rnd.randrange(len(self.skews))
            self.skews[place] = timedelta(seconds=self.rnd.choice(SKEWS))
        elif chance < 0.31 and len(self.stores) > 2:
            lost = self.stores.pop(-1)
            self.skews.pop(-1)
            with suppress(NotFound):  # the others may not have heard of it
                status.dismiss(self.stores[0].file.engine, device_of(lost) or "none")
            lost.close()

    def snapshot(self, store: Store, to: Path) -> None:
        """Copy a file with everything in it, its id as well."""
        place = self.stores.index(store)
        path = Path(store.path)
        store.close()
        shutil.copy(path, to)
        self.stores[place] = memstore.open(path, embedder=None, durability="normal")

    def restore(self, path: Path, backup: Path) -> None:
        """Put a backup in the place of a file that is open."""
        for place, store in enumerate(self.stores):
            if Path(store.path) == path:
                store.close()
                for old in path.parent.glob(f"{path.name}*"):
                    shutil.rmtree(old) if old.is_dir() else old.unlink()
                shutil.copy(backup, path)
                self.stores[place] = memstore.open(path, embedder=None, durability="normal")

    def settle(self) -> bool:
        """Let every device meet the others until nothing is left to say; return whether it ends."""
        for _ in range(len(self.stores) + 4):
            before = self.puts
            for store, skew in zip(self.stores, self.skews, strict=True):
                self.tick.skew = skew
                sync(store, self.shelf.view().own(device_of(store)))
            if self.puts == before:
                return True
        return False

    @property
    def puts(self) -> int:
        """How many files were written so far."""
        return sum(len(versions) for versions in self.shelf.versions.values())

    def remains(self) -> set[str]:
        """Return the texts of erased facts that a file of the place still has."""
        facts = all_facts(self.stores[0])
        erased = {self.texts.get(fact.uuid, "") for fact in facts if fact.status == "erased"}
        kept = {self.texts.get(fact.uuid, "") for fact in facts if fact.status != "erased"}
        alive = {device_of(store) for store in self.stores}
        written = ""
        for name, data in self.shelf.files.items():
            named = names.read(name)
            assert named is not None
            if not named.is_state and named.device in alive:
                written += repr(segments.read(data, named).acts)
        gone = {text for text in erased if not any(text in other for other in kept)}
        return {text for text in gone - {""} if text in written}

    def dismiss_lost(self) -> None:
        """Let somebody say which devices will not come back, so that others have their files."""
        engine = self.rnd.choice(self.stores).file.engine
        alive = {device_of(store) for store in self.stores}
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
        for name, data in self.shelf.files.items():
            named = names.read(name)
            if named is not None and not named.is_state:
                found.append(repr(segments.read(data, named)).encode())
        return b" ".join(found)


def check(seed: int, folder: Path) -> None:
    """Check what a history ends in."""
    history = History(seed, folder)
    with clock.use(history.tick), ExitStack() as stack:
        stack.callback(history.close)
        for number in range(ROUNDS):
            history.round(number)
        acknowledged = {fact.uuid for store in history.stores for fact in all_facts(store)}
        assert history.settle()
        assert [*differences(history.stores)] == []
        assert [one for store in history.stores for one in store.ledger.verify()] == []
        for store in history.stores:
            uuids = [fact.uuid for fact in all_facts(store)]
            assert acknowledged <= {*uuids}
            assert len(uuids) == len({*uuids})
        assert history.remains() == set()
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
IMPORTING = frozenset({"import_", "import_from"})
"""What ``test_two_exports.py`` and the tests of importing make histories of."""


@pytest.mark.parametrize(
    "room", [Store, Keys, Ledger, Sources, Transfer, Proposals, Tasks, Episodes]
)
def test_histories_call_every_verb_that_changes_a_memory(room: type) -> None:
    verbs = {name for name, _ in inspect.getmembers(room, inspect.isfunction) if name[0] != "_"}
    calls = inspect.getsource(random_calls)
    missing = {verb for verb in verbs - READING - IMPORTING if f".{verb}(" not in calls}
    assert missing == set()
