"""Folders on bad days: each ends with a sentence, and what was there is still there."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

import memstore
from memstore.errors import Remedy
from memstore.sync.places import folder as folders
from memstore.sync.places import names
from memstore.sync.places.address import kind_of, place_at
from memstore.sync.places.folder import FolderPlace

DEVICE = "a" * 16
STATE = names.of_state(DEVICE)
LINES = names.of_lines(DEVICE, DEVICE, 1, 9)

pytestmark = pytest.mark.skipif(os.name != "posix", reason="links and pipes are those of POSIX")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "place"
    made.mkdir()
    return made


@pytest.fixture
def place(folder: Path) -> FolderPlace:
    made = FolderPlace(folder)
    made.put(STATE, b"one")
    return made


def test_a_folder_that_is_gone_is_not_made(folder: Path) -> None:
    folder.rmdir()
    place = FolderPlace(folder)
    for act in (place.list, lambda: place.put(STATE, b"1"), lambda: place.get(STATE, most=9)):
        with pytest.raises(memstore.SyncError, match="it is not there") as raised:
            act()
        assert raised.value.remedy is Remedy.CHECK_PLACE
    assert not folder.exists()


@pytest.mark.parametrize(
    ("number", "reason"),
    [
        (errno.ENOSPC, "the disk is full"),
        (errno.EROFS, "it is read-only"),
        (errno.EACCES, "may not be read or written"),
        (errno.EIO, "Input/output error"),
    ],
)
def test_a_write_that_fails_says_why_and_leaves_what_was_there(
    place: FolderPlace, monkeypatch: pytest.MonkeyPatch, number: int, reason: str
) -> None:
    def failing(_descriptor: int) -> None:
        raise OSError(number, os.strerror(number))

    with monkeypatch.context() as failing_disk:
        failing_disk.setattr(os, "fsync", failing)
        with pytest.raises(memstore.SyncError, match=reason):
            place.put(STATE, b"two")
    assert place.get(STATE, most=9) == b"one"
    assert list(place.list()) == [STATE]
    place.put(STATE, b"three")
    assert os.listdir(Path(place.address, DEVICE)) == ["state"]


@pytest.fixture
def mounted(folder: Path, monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """Say that these folders are where a file system is mounted."""
    found = {str(folder), "/"}
    monkeypatch.setattr(os.path, "ismount", lambda path: os.fspath(path) in found)
    return found


def test_a_stick_that_is_away_is_no_folder_that_was_emptied(
    folder: Path, tmp_path: Path, mounted: set[str]
) -> None:
    place = FolderPlace(folder, state=tmp_path / "state")
    assert place.list() == {}  # a new place is empty
    place.put(STATE, b"one")
    place.publish()
    place.delete(STATE)
    mounted.remove(str(folder))
    for _ in range(2):
        with pytest.raises(memstore.SyncError, match=f"it was on that of '{folder}'") as raised:
            FolderPlace(folder, state=tmp_path / "state").list()
        assert raised.value.remedy is Remedy.MOUNT_PLACE
    assert FolderPlace(folder, state=tmp_path / "another").list() == {}
    (folder.parent / "other").mkdir()
    assert FolderPlace(folder.parent / "other", state=tmp_path / "state").list() == {}
    mounted.add(str(folder))
    assert FolderPlace(folder, state=tmp_path / "state").list() == {}  # it was emptied


def test_a_folder_that_moved_to_another_disk_with_its_files_goes_on(
    folder: Path, tmp_path: Path, mounted: set[str]
) -> None:
    place = FolderPlace(folder, state=tmp_path / "state")
    place.put(STATE, b"one")
    place.publish()
    mounted.remove(str(folder))
    assert list(place.list()) == [STATE]
    place.put(STATE, b"two")
    place.publish()
    place.delete(STATE)
    assert place.list() == {}
    (tmp_path / "state" / "mount.json").write_text("[1")  # what cannot be read is not known
    assert place.list() == {}
    (tmp_path / "file").touch()
    place = FolderPlace(folder, state=tmp_path / "file")
    place.put(STATE, b"one")
    place.publish()  # what cannot be written is not known, either
    assert list(place.list()) == [STATE]


def test_a_link_is_neither_listed_nor_followed(place: FolderPlace, folder: Path) -> None:
    secret = folder.parent / "secret"
    secret.write_text("a secret")
    (folder / LINES).symlink_to(secret)
    assert list(place.list()) == [STATE]
    assert "not read" in place.ignored[0]
    with pytest.raises(memstore.SyncError, match="it is a link"):
        place.get(LINES, most=99)
    place.put(LINES, b"ours")
    assert secret.read_text() == "a secret"
    assert not (folder / LINES).is_symlink()


def test_a_folder_of_a_device_that_is_a_link_is_not_written_through(
    place: FolderPlace, folder: Path
) -> None:
    elsewhere = folder.parent / "elsewhere"
    elsewhere.mkdir()
    other = "b" * 16
    (folder / other).symlink_to(elsewhere)
    assert list(place.list()) == [STATE]
    for act in (
        lambda: place.put(names.of_state(other), b"1"),
        lambda: place.get(names.of_state(other), most=9),
        lambda: place.delete(names.of_state(other)),
    ):
        with pytest.raises(memstore.SyncError, match="is a link"):
            act()
    assert list(elsewhere.iterdir()) == []


def test_a_pipe_is_not_waited_for(place: FolderPlace, folder: Path) -> None:
    os.mkfifo(folder / LINES)
    assert list(place.list()) == [STATE]
    with pytest.raises(memstore.SyncError, match="no plain file"):
        place.get(LINES, most=9)


def test_a_folder_in_place_of_a_file_is_no_file(place: FolderPlace, folder: Path) -> None:
    (folder / LINES).mkdir()
    assert list(place.list()) == [STATE]
    with pytest.raises(memstore.SyncError):
        place.get(LINES, most=9)


def test_a_file_of_ten_gigabytes_is_not_read(place: FolderPlace, folder: Path) -> None:
    with (folder / LINES).open("wb") as file:
        file.truncate(10 * 10**9)
    assert place.list()[LINES].size == 10 * 10**9
    with pytest.raises(memstore.SyncError, match="more than 1,000 bytes"):
        place.get(LINES, most=1000)


@pytest.mark.parametrize(
    "foreign",
    [
        f"{DEVICE}/state.sync-conflict-20261129-101010-ABCDEFG",
        f"{DEVICE}/state (conflicted copy 2026-11-29)",
        f"{DEVICE}/1-9 2.lines",
        "holiday.jpg",
        "AAAAAAAAAAAAAAAA",
        "memory.db",
        "\u202eevil",
    ],
)
def test_conflict_copies_and_foreign_files_are_named_and_ignored(
    place: FolderPlace, folder: Path, foreign: str
) -> None:
    (folder / foreign).write_bytes(b"x")
    assert list(place.list()) == [STATE]
    assert len(place.ignored) == 1
    assert ascii(foreign)[:80] in place.ignored[0]
    assert (folder / foreign).read_bytes() == b"x"


@pytest.mark.parametrize("own", [".stfolder", ".git", ".DS_Store", "desktop.ini", ".dropbox"])
def test_what_belongs_to_the_carrier_is_not_mentioned(
    place: FolderPlace, folder: Path, own: str
) -> None:
    (folder / own).mkdir()
    (folder / DEVICE / ".syncthing.state.tmp").write_bytes(b"half")
    assert list(place.list()) == [STATE]
    assert place.ignored == ()


def test_many_foreign_files_are_counted(place: FolderPlace, folder: Path) -> None:
    for number in range(10):
        (folder / f"{number}.jpg").write_bytes(b"")
    place.list()
    assert place.ignored[0].endswith("'0.jpg', '1.jpg', '2.jpg' and 7 more")


def test_a_folder_with_too_many_files_is_refused(
    place: FolderPlace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folders, "MAX_FILES", 5)
    for number in range(6):
        place.put(names.of_lines(DEVICE, DEVICE, 1, number + 1), b"")
    with pytest.raises(memstore.SyncError, match="more than 5 files"):
        place.list()


def test_a_write_that_was_killed_leaves_nothing_that_is_read(
    place: FolderPlace, folder: Path
) -> None:
    (folder / DEVICE / ".state.new").write_bytes(b"half")
    assert place.get(STATE, most=9) == b"one"
    place.put(STATE, b"two")
    assert place.get(STATE, most=9) == b"two"
    assert os.listdir(folder / DEVICE) == ["state"]


def test_a_folder_in_the_repository_of_a_project_is_refused_until_told_twice(
    tmp_path: Path,
) -> None:
    project = tmp_path / "project"
    (project / ".git").mkdir(parents=True)
    inside = project / "memories"
    inside.mkdir()
    with pytest.raises(memstore.SyncError, match="is in the repository"):
        place_at(str(inside), state=tmp_path)
    assert place_at(str(inside), state=tmp_path, may_be_shared=True).list() == {}


@pytest.mark.parametrize(
    ("address", "kind"),
    [
        ("git@example.com:me/memory.git", "git"),
        ("example.com:memory", "git"),
        ("ssh://git@example.com/memory", "git"),
        ("https://example.com/me/memory.git", "git"),
        ("git+https://example.com/me/memory", "git"),
        ("file:///srv/memory.git", "git"),
        ("/no/such/memory.git", "git"),
        ("https://memory.example.com", "server"),
        ("https://memory.example.com/mcp", "server"),
        ("http://127.0.0.1:8765/mcp", "server"),
        ("~/Sync/memories", "folder"),
        ("/mnt/stick", "folder"),
        ("C:\\Users\\me\\Sync", "folder"),
        ("memories", "folder"),
    ],
)
def test_an_address_names_a_kind_of_place(address: str, kind: str) -> None:
    assert kind_of(address) == kind


@pytest.mark.parametrize(
    "address", ["", " ", "ext::sh -c true", "-oProxyCommand=x", "ftp://example.com", "a\0b"]
)
def test_an_address_of_no_place_is_refused(address: str) -> None:
    with pytest.raises(ValueError, match="place"):
        kind_of(address)
