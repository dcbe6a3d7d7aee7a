"""Sealed places: what a carrier can do to their files, and passphrases that are wrong."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import memstore
from memstore.sync import sealing
from memstore.sync.places import names
from memstore.sync.places.folder import FolderPlace

HERE, THERE = "a" * 16, "b" * 16
RIGHT = "correct horse battery"
NAME = names.of_lines(HERE, HERE, 1, 2)


@pytest.fixture(autouse=True)
def _cheap(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sealing, "COST", sealing.Cost(memory_kib=64, passes=1, lanes=1))


@pytest.fixture
def place(tmp_path: Path) -> FolderPlace:
    (tmp_path / "place").mkdir()
    return FolderPlace(tmp_path / "place")


@pytest.fixture
def here(tmp_path: Path) -> Path:
    return tmp_path / "here"


@pytest.fixture
def there(tmp_path: Path) -> Path:
    return tmp_path / "there"


def seal_of(
    place: FolderPlace, device: str, state: Path, passphrase: str | None = None
) -> sealing.PlaceSeal | None:
    """Do what a run does: find the key, and put it there."""
    seal = sealing.seal_of(place, place.list(), state=state, passphrase=passphrase)
    if seal is not None:
        seal.put_key(place, place.list(), device=device)
    return seal


def begin(place: FolderPlace, device: str, state: Path, passphrase: str) -> sealing.PlaceSeal:
    seal = sealing.begin(state=state, passphrase=passphrase)
    seal.put_key(place, place.list(), device=device)
    return seal


def contents(folder: Path) -> dict[str, bytes]:
    return {
        file.relative_to(folder).as_posix(): file.read_bytes()
        for file in folder.rglob("*")
        if file.is_file()
    }


KEY = sealing.PlaceSeal(sealing.Kept(sealing.PlaceKey(1, bytes(range(32))), ""))


@given(data=st.binary(max_size=200))
def test_what_is_sealed_is_opened_again_and_shows_nothing(data: bytes) -> None:
    sealed = KEY.seal(data, device=HERE, name=NAME)
    assert KEY.open(sealed, device=HERE, name=NAME) == data
    assert len(sealed) == len(data) + sealing.OVERHEAD_BYTES
    assert len(data) < 8 or data not in sealed
    assert KEY.seal(data, device=HERE, name=NAME) != sealed


@given(at=st.integers(min_value=0), bit=st.integers(0, 7))
def test_any_changed_bit_is_noticed(at: int, bit: int) -> None:
    sealed = bytearray(KEY.seal(b"Alice prefers tea", device=HERE, name=NAME))
    sealed[at % len(sealed)] ^= 1 << bit
    with pytest.raises(memstore.SyncError):
        KEY.open(bytes(sealed), device=HERE, name=NAME)


@given(cut=st.integers(0, sealing.OVERHEAD_BYTES + 4))
def test_a_file_that_is_cut_is_noticed(cut: int) -> None:
    sealed = KEY.seal(b"12345", device=HERE, name=NAME)
    with pytest.raises(memstore.SyncError):
        KEY.open(sealed[:cut], device=HERE, name=NAME)


@pytest.mark.parametrize(
    ("device", "name"), [(THERE, NAME), (HERE, names.of_lines(HERE, HERE, 1, 3))]
)
def test_a_file_under_another_name_is_not_read(device: str, name: str) -> None:
    sealed = KEY.seal(b"1", device=HERE, name=NAME)
    with pytest.raises(memstore.SyncError, match="changed or moved"):
        KEY.open(sealed, device=device, name=name)


def test_a_plain_file_in_a_sealed_place_is_not_read() -> None:
    with pytest.raises(memstore.SyncError, match="is not sealed"):
        KEY.open(b"{}", device=HERE, name=NAME)


def test_a_file_of_a_newer_format_asks_for_a_newer_version() -> None:
    sealed = sealing.MAGIC[:-1] + b"\x02" + bytes(100)
    with pytest.raises(memstore.SyncError, match="newer version"):
        KEY.open(sealed, device=HERE, name=NAME)


def test_a_place_without_keys_is_not_sealed(place: FolderPlace, here: Path) -> None:
    assert seal_of(place, HERE, here) is None
    assert not sealing.is_sealed(place, place.list())


def test_another_device_opens_the_place_with_the_passphrase_and_then_without(
    place: FolderPlace, here: Path, there: Path
) -> None:
    first = begin(place, HERE, here, RIGHT)
    second = seal_of(place, THERE, there, RIGHT)
    assert second is not None
    sealed = first.seal(b"tea", device=HERE, name=NAME)
    assert second.open(sealed, device=HERE, name=NAME) == b"tea"
    assert second.key_id == first.key_id
    place.delete(names.of_key(HERE))
    place.delete(names.of_key(THERE))
    again = seal_of(place, THERE, there)
    assert again is not None
    assert again.key_id == first.key_id


@pytest.mark.parametrize("passphrase", [None, "", "correct horse batterie", RIGHT + " "])
def test_nothing_is_written_with_a_wrong_passphrase(
    place: FolderPlace, here: Path, there: Path, passphrase: str | None
) -> None:
    begin(place, HERE, here, RIGHT)
    before = contents(Path(place.address))
    with pytest.raises(memstore.SyncError):
        seal_of(place, THERE, there, passphrase)
    assert contents(Path(place.address)) == before
    assert not there.exists()


def test_a_passphrase_is_the_same_however_its_letters_are_composed(
    place: FolderPlace, here: Path, there: Path
) -> None:
    begin(place, HERE, here, "käse und brot")
    assert seal_of(place, THERE, there, "ka\u0308se und brot") is not None


def test_the_key_is_readable_by_its_user_alone_and_the_passphrase_is_nowhere(
    place: FolderPlace, here: Path
) -> None:
    begin(place, HERE, here, RIGHT)
    if os.name == "posix":
        assert stat.S_IMODE((here / "key").stat().st_mode) == 0o600
    kept = json.loads((here / "key").read_text())["key"]
    everything = contents(here) | contents(Path(place.address))
    assert not any(RIGHT.encode() in data for data in everything.values())
    assert not any(kept.encode() in data for data in contents(Path(place.address)).values())


def test_a_new_key_asks_each_device_for_the_new_passphrase(
    place: FolderPlace, here: Path, there: Path
) -> None:
    old = begin(place, HERE, here, RIGHT)
    assert seal_of(place, THERE, there, RIGHT) is not None
    new = begin(place, HERE, here, "another one")
    assert new.key_id != old.key_id
    for wrong in (None, RIGHT):
        with pytest.raises(memstore.SyncError):
            seal_of(place, THERE, there, wrong)
    second = seal_of(place, THERE, there, "another one")
    assert second is not None
    assert second.key_id == new.key_id
    sealed = old.seal(b"tea", device=HERE, name=NAME)
    with pytest.raises(memstore.SyncError, match="another key"):
        second.open(sealed, device=HERE, name=NAME)


def test_two_devices_that_begin_at_once_agree_on_one_key(
    place: FolderPlace, here: Path, there: Path
) -> None:
    ours = begin(place, HERE, here, RIGHT)
    theirs = begin(place, THERE, there, RIGHT)
    found = {
        seal.key_id
        for device, state in ((HERE, here), (THERE, there))
        if (seal := seal_of(place, device, state, RIGHT)) is not None
    }
    assert found == {max(ours.key_id, theirs.key_id)}


@pytest.mark.parametrize(
    "spoiled",
    [
        b"",
        b"[" * 4000,
        b"{}",
        b"x" * 5000,
        json.dumps({"format": 2}).encode(),
        json.dumps(
            {
                "format": 1,
                "generation": 9,
                "id": "00",
                "salt": "",
                "cost": {"memory_kib": 2**40, "passes": 1, "lanes": 1},
                "key": "",
            }
        ).encode(),
    ],
)
def test_a_hostile_key_file_is_ignored(
    place: FolderPlace, here: Path, there: Path, spoiled: bytes
) -> None:
    begin(place, HERE, here, RIGHT)
    place.put(names.of_key("c" * 16), spoiled)
    assert seal_of(place, HERE, here) is not None
    assert seal_of(place, THERE, there, RIGHT) is not None


def test_any_device_that_is_left_lets_others_in(
    place: FolderPlace, here: Path, there: Path, tmp_path: Path
) -> None:
    first = begin(place, HERE, here, RIGHT)
    assert seal_of(place, THERE, there, RIGHT) is not None
    place.delete(names.of_key(HERE))
    third = seal_of(place, "c" * 16, tmp_path / "third", RIGHT)
    assert third is not None
    assert third.key_id == first.key_id


def test_a_short_passphrase_is_refused(place: FolderPlace, here: Path) -> None:
    with pytest.raises(ValueError, match="at least 8"):
        begin(place, HERE, here, "1234567")
    assert place.list() == {}


def test_a_damaged_key_here_says_what_to_do(place: FolderPlace, here: Path) -> None:
    begin(place, HERE, here, RIGHT)
    (here / "key").write_text("{")
    with pytest.raises(memstore.SyncError, match="remove the file"):
        seal_of(place, HERE, here)
