"""How much sources count travels where a person chose it, and through sealed places alone."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

import pytest
from tests.support.clock import ManualClock

import memstore
from memstore import Store, settings
from memstore.domain.trust import LEVELS
from memstore.errors import SyncError
from memstore.file import syncing
from memstore.sync import remembered, sealing, trust_files
from memstore.sync.places import names
from memstore.sync.places.folder import FolderPlace
from memstore.sync.remembered import Remembered
from memstore.sync.trust_files import Setting

PHRASE = "correct horse"


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(settings, "data_folder", lambda: str(tmp_path / "data"))
    monkeypatch.setattr(sealing, "COST", sealing.Cost(memory_kib=64, passes=1, lanes=1))
    made = tmp_path / "place"
    made.mkdir()
    return made


@pytest.fixture
def devices(place: Path, tmp_path: Path) -> Iterator[list[Store]]:
    stores = [memstore.open(tmp_path / f"{name}.db", embedder=None) for name in "abc"]
    yield stores
    for store in stores:
        store.close()


def sync(store: Store, place: Path, *, trust: bool = True, sealed: bool = True) -> syncing.Outcome:
    state = remembered.folder_of(store.file.path)
    begins = sealed and not any(names.KEY.fullmatch(one) for one in FolderPlace(place).list())
    chosen = (remembered.read(state) or Remembered(str(place)))._replace(trust=trust)
    phrase = PHRASE if sealed else None
    return syncing.sync(store.file, chosen, passphrase=phrase, begin_sealing=begins)


def settle(stores: list[Store], place: Path) -> None:
    for _ in range(2):
        for store in stores:
            sync(store, place)


def levels(store: Store) -> dict[str, str]:
    return store.sources.levels()


def test_what_is_distrusted_on_one_device_is_hidden_on_the_other(
    devices: list[Store], place: Path
) -> None:
    laptop, desktop, _ = devices
    laptop.add("the bank has moved", subject="bank", source="mail")
    settle(devices[:2], place)
    assert desktop.list(subject="bank") != []
    laptop.sources.distrust("mail")
    assert sync(laptop, place).trust == (0, 1)
    assert sync(desktop, place).trust == (1, 1)
    assert desktop.list(subject="bank") == []
    [act] = desktop.ledger.log(limit=1)
    assert (act.device is not None, "mail" in act.changes[0].text) == (True, True)
    desktop.sources.trust("mail", "external")
    settle(devices[:2], place)
    assert levels(laptop)["mail"] == levels(desktop)["mail"] == "external"
    assert laptop.list(subject="bank") != []
    assert laptop.ledger.verify() == desktop.ledger.verify() == []
    assert sync(laptop, place).trust == sync(desktop, place).trust == (0, 0)


def test_nothing_travels_through_a_place_that_is_not_sealed(
    devices: list[Store], place: Path
) -> None:
    laptop, desktop, _ = devices
    laptop.sources.distrust("mail")
    with pytest.raises(SyncError, match="not sealed"):
        sync(laptop, place, sealed=False)
    assert FolderPlace(place).list() == {}
    sync(laptop, place, trust=False, sealed=False)
    assert not any(names.TRUST.fullmatch(name) for name in FolderPlace(place).list())
    [device] = {name.partition("/")[0] for name in FolderPlace(place).list()}
    planted = trust_files.write({"web:": Setting(2**50, "person", False, "user", "cli")})
    FolderPlace(place).put(names.of_trust(device), planted)
    sync(desktop, place, trust=False, sealed=False)
    with pytest.raises(SyncError, match="not sealed"):
        sync(desktop, place, sealed=False)
    assert levels(desktop)["web:"] == "external"


def test_what_a_killed_first_run_wrote_is_sealed_anew_with_a_key_of_others(
    devices: list[Store], place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    laptop, desktop, _ = devices
    laptop.add("the bank has moved", subject="bank")
    put = FolderPlace.put

    def die(self: FolderPlace, name: str, data: bytes) -> None:
        if name.endswith("/state"):
            raise KeyboardInterrupt
        put(self, name, data)

    with monkeypatch.context() as patched:
        patched.setattr(FolderPlace, "put", die)
        with pytest.raises(KeyboardInterrupt):
            sync(laptop, place)
    assert [name for name in FolderPlace(place).list() if name.endswith(".lines")] != []
    sync(desktop, place)
    syncing.new_key(desktop.file, "another phrase")
    syncing.sync(laptop.file, Remembered(str(place)), passphrase="another phrase")
    sync(desktop, place, trust=False)
    assert [fact.content for fact in desktop.list()] == ["the bank has moved"]


def test_after_a_new_key_others_have_what_a_lost_device_had_sent(
    devices: list[Store], place: Path
) -> None:
    laptop, desktop, lost = devices
    lost.add("the bank has moved", subject="bank")
    sync(lost, place)
    sync(laptop, place)
    syncing.new_key(laptop.file, "another phrase")
    chosen = Remembered(str(place))
    syncing.sync(desktop.file, chosen, passphrase="another phrase")
    assert [fact.content for fact in desktop.list()] == ["the bank has moved"]
    relayed = [name for name in FolderPlace(place).list() if name.count(".") == 2]
    assert len(relayed) == 1
    found = syncing.sync(lost.file, syncing.chosen_for(lost.file), passphrase="another phrase")
    assert found.synced.was == ""
    sync(laptop, place)
    assert not {*relayed} & {*FolderPlace(place).list()}


def test_a_device_that_did_not_choose_it_says_and_takes_nothing(
    devices: list[Store], place: Path
) -> None:
    laptop, desktop, phone = devices
    laptop.sources.trust("mail", "external")
    phone.sources.trust("chat", "external")
    sync(laptop, place)
    sync(phone, place, trust=False)
    sync(desktop, place, trust=False)
    sync(laptop, place)
    assert "mail" not in levels(desktop)
    assert "chat" not in levels(laptop)
    assert sync(desktop, place).trust == (1, 1)
    assert levels(desktop)["mail"] == "external"
    sync(laptop, place, trust=False)
    told = [name for name in FolderPlace(place).list() if names.TRUST.fullmatch(name)]
    assert len(told) == 1  # what the laptop said was withdrawn


def plain(of: bytes, place: Path, name: str) -> bytes:
    return trust_files.write({"web:": Setting(2**50, "person", False, "user", "cli")})


def moved(of: bytes, place: Path, name: str) -> bytes:
    return of


def cut(of: bytes, place: Path, name: str) -> bytes:
    return of[:-1]


@pytest.mark.parametrize("hostile", [plain, moved, cut])
def test_what_was_not_sealed_for_that_device_says_nothing(
    devices: list[Store], place: Path, hostile: Callable[[bytes, Path, str], bytes]
) -> None:
    laptop, desktop, _ = devices
    laptop.sources.trust("web:", "person")
    sync(laptop, place)
    [name] = [one for one in FolderPlace(place).list() if names.TRUST.fullmatch(one)]
    said = FolderPlace(place).get(name, most=2**20)
    FolderPlace(place).delete(name)
    FolderPlace(place).put(names.of_trust("a" * 16), hostile(said, place, name))
    assert sync(desktop, place).trust == (0, 0)
    assert levels(desktop)["web:"] == "external"


@pytest.mark.parametrize(
    "sources",
    [
        {"web:": [1, "distrusted", False, "user", "cli"]},
        {"web:": [1, "god", False, "user", "cli"]},
        {"web:": [1, "person", 1, "user", "cli"]},
        {"web:": [-1, "person", False, "user", "cli"]},
        {"web:": [10**18, "person", False, "user", "cli"]},
        {"web:": [True, "person", False, "user", "cli"]},
        {"WEB:": [1, "person", False, "user", "cli"]},
        {"": [1, "person", False, "user", "cli"]},
        {"x" * 501: [1, "person", False, "user", "cli"]},
        {"web:": [1, "person", False, "", "cli"]},
        {"web:": [1, "person", False, "user"]},
        {"\ud800": [1, "person", False, "user", "cli"]},
        {f"s{n}": [1, "person", False, "user", "cli"] for n in range(5_001)},
        [],
        None,
    ],
)
def test_a_hostile_file_of_trust_is_refused(sources: object) -> None:
    told = json.dumps({"memstore": "trust", "format": 1, "sources": sources})
    with pytest.raises(SyncError, match="damaged"):
        trust_files.read(told.encode())
    for data in (b"", b"\xff", b"[]", b'{"memstore": "trust", "format": 2, "sources": {}}'):
        with pytest.raises(SyncError, match="damaged"):
            trust_files.read(data)


def test_a_clock_years_ahead_loses_to_who_has_seen_its_change(
    devices: list[Store], place: Path, manual_clock: ManualClock
) -> None:
    laptop, desktop, _ = devices
    manual_clock.advance(86_400 * 1000)
    laptop.sources.trust("mail", "external")
    manual_clock.advance(-86_400 * 1000)
    settle(devices[:2], place)
    desktop.sources.trust("mail", "tool")
    settle(devices[:2], place)
    assert levels(laptop)["mail"] == levels(desktop)["mail"] == "tool"


@pytest.mark.parametrize("seed", range(6))
def test_random_settings_end_equal_on_all_devices(
    devices: list[Store], place: Path, manual_clock: ManualClock, seed: int
) -> None:
    random = Random(seed)
    for store in devices:
        store.add("the bank has moved", subject="bank", source="mail")
    for _ in range(25):
        store = random.choice(devices)
        manual_clock.advance(random.uniform(-500, 1000))
        match random.choice(["trust", "distrust", "sync"]):
            case "trust":
                level = random.choice([*LEVELS, "default", None])
                store.sources.trust(random.choice(["mail", "web:", "chat"]), level)
            case "distrust":
                store.sources.distrust(random.choice(["mail", "web:", "chat"]))
            case _:
                sync(store, place)
    settle(devices, place)
    assert levels(devices[0]) == levels(devices[1]) == levels(devices[2])
    for store in devices:
        assert store.ledger.verify() == []
        assert store.file.doctor(deep=True) == []
        assert sync(store, place).trust == (0, 0)
