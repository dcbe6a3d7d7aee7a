"""Scheduled backups: when they are made, and which are removed."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from tests.support.clock import ManualClock, wait_until
from tests.support.raw import raw

import memstore
from memstore import InvalidArgument, StorageError, Store
from memstore.domain import clock
from memstore.errors import Reason
from memstore.file import scheduled

HOUR = 3600.0
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


class Schedule:
    """Backups of a store every hour, of which three are kept; started and stopped by hand."""

    def __init__(self, store: Store) -> None:
        self.told: list[Path | Reason] = []
        self.folder = Path(f"{store.path}.backups")
        self.engine = store.file.engine
        self.backups = scheduled.ScheduledBackups(self.engine, HOUR, 3, tell=self.told.append)

    def once(self) -> float:
        return self.backups._once()

    def names(self) -> list[str]:
        return sorted(file.name for file in self.folder.iterdir())


@pytest.fixture
def noon() -> Any:
    manual = ManualClock(NOON)
    with clock.use(manual):
        yield manual


@pytest.fixture
def schedule(open_store: Callable[..., Store], noon: ManualClock) -> Schedule:
    store = open_store(embedder=None)
    store.add("kept", subject="a")
    return Schedule(store)


def test_a_backup_is_created_when_due(schedule: Schedule, noon: ManualClock) -> None:
    assert schedule.once() == pytest.approx(HOUR, abs=1)
    assert schedule.names() == ["memory-20260301T120000Z.db"]
    assert schedule.told == [schedule.folder / "memory-20260301T120000Z.db"]
    with memstore.open(schedule.told[0], embedder=None) as copy:
        assert [fact.content for fact in copy.list()] == ["kept"]
    noon.advance(HOUR / 2)
    assert schedule.once() == pytest.approx(HOUR / 2, abs=1)
    assert len(schedule.names()) == 1
    noon.advance(HOUR / 2)
    schedule.once()
    assert schedule.names()[1:] == ["memory-20260301T130000Z.db"]


def test_oldest_backups_are_removed_and_nothing_else(schedule: Schedule, noon: ManualClock) -> None:
    schedule.folder.mkdir()
    others = (
        "memory-2026.db memory.db notes.txt memory-20200101T000000Z.db.bak"
        " other-20200101T000000Z.db memory-20200101T000000Z.db-wal"
    ).split()
    for name in others:
        (schedule.folder / name).touch()
    (schedule.folder / "memory-20200101T000000Z.db").mkdir()
    for _ in range(5):
        schedule.once()
        noon.advance(HOUR)
    kept = [f"memory-20260301T{hour}0000Z.db" for hour in (14, 15, 16)]
    assert schedule.names() == sorted([*others, "memory-20200101T000000Z.db", *kept])


def test_leftovers_of_a_killed_backup_are_removed(schedule: Schedule) -> None:
    schedule.folder.mkdir()
    left, other = (
        schedule.folder / f"{name}.part" for name in ("memory-20260301T110000Z.db", "mine.db")
    )
    left.touch()
    other.touch()
    schedule.once()
    assert (left.exists(), other.exists()) == (False, True)


def test_only_backups_of_this_memory_count_and_are_removed(
    schedule: Schedule, noon: ManualClock, tmp_path: Path
) -> None:
    """Two memories of one name keep their backups in one folder, with files of other kinds."""
    (tmp_path / "beside").mkdir()
    with memstore.open(tmp_path / "beside" / "memory.db", embedder=None) as other:
        other.add("another", subject="b")
        told: list[Path | Reason] = []
        theirs = scheduled.ScheduledBackups(
            other.file.engine, HOUR, 1, schedule.folder, tell=told.append
        )
        theirs._once()
        noon.advance(1)
        assert schedule.once() > 0, "a backup of the other one is none of this one"
        planted = {
            schedule.folder / "memory-20200101T000000Z.db": b"a diary",
            schedule.folder / "memory-20200102T000000Z.db": b"",
            schedule.folder / "memory-20200103T000000Z.db.part": b"a diary",
            schedule.folder / "memory-20209999T000000Z.db": b"no time",
        }
        for file, text in planted.items():
            file.write_bytes(text)
        copied = schedule.folder / "memory-20200105T000000Z.db"
        with memstore.open(tmp_path / "edited.db", embedder=None) as edited:
            edited.add("yet another", subject="c")
            edited.file.backup(copied)
        link = schedule.folder / "memory-20200104T000000Z.db"
        link.symlink_to(copied)
        for _ in range(4):
            noon.advance(HOUR)
            schedule.once()
            noon.advance(1)
            theirs._once()
    assert (len(schedule.told), len(told)) == (5, 5)
    kept = [*schedule.told[-3:], *told[-1:]]
    assert [one for one in [*schedule.told, *told] if Path(str(one)).exists()] == kept
    assert {file: file.read_bytes() for file in planted} == planted
    assert link.is_symlink()
    assert copied.exists()


def test_a_backup_that_somebody_went_on_with_is_kept(schedule: Schedule, noon: ManualClock) -> None:
    schedule.once()
    [first] = schedule.told
    assert isinstance(first, Path)
    with memstore.open(first, embedder=None) as used:
        used.add("written into the backup", subject="a")
    for _ in range(5):
        noon.advance(HOUR)
        schedule.once()
    assert first.exists()
    assert len(schedule.names()) == 4


def test_a_backup_that_another_process_is_writing_is_not_removed(schedule: Schedule) -> None:
    schedule.folder.mkdir()
    part = schedule.folder / "memory-20260301T110000Z.db.part"
    with raw(part, isolation_level=None) as writing:
        writing.execute("CREATE TABLE unfinished_copy (x)")
        writing.execute("BEGIN EXCLUSIVE")
        schedule.once()
        assert part.exists()
    schedule.engine.remove_unfinished_backup(part)
    assert not part.exists()


def test_failed_backup_is_reported_and_removes_nothing(
    schedule: Schedule, noon: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in range(3):
        schedule.once()
        noon.advance(HOUR)
    before = schedule.names()

    def fail(*_: object) -> None:
        raise StorageError("the disk is full")

    with monkeypatch.context() as patch:
        patch.setattr(schedule.engine, "backup", fail)
        schedule.backups.start()
        assert wait_until(lambda: "the disk is full" in schedule.told)
    assert schedule.names() == before
    assert wait_until(lambda: noon.waits)
    noon.advance(scheduled.RETRY_SECONDS)
    assert wait_until(lambda: len(schedule.told) == 5)
    schedule.backups.stop(10)
    assert len(schedule.names()) == 3


def test_two_schedules_of_one_file_create_one_backup(
    schedule: Schedule, open_store: Callable[..., Store]
) -> None:
    other = Schedule(open_store(embedder=None))
    schedule.once()
    other.once()
    assert (len(schedule.told), other.told) == (1, [])


def test_a_backup_dated_in_the_future_does_not_stop_backups(
    schedule: Schedule, noon: ManualClock
) -> None:
    schedule.folder.mkdir()
    (schedule.folder / "memory-20990101T000000Z.db").touch()
    schedule.once()
    assert "memory-20260301T120000Z.db" in schedule.names()


@pytest.mark.parametrize(("every", "keep"), [(59, 3), (float("nan"), 3), (HOUR, 0)])
def test_invalid_values_are_refused(store: Store, every: float, keep: int) -> None:
    with pytest.raises(InvalidArgument):
        store.file.backup_in_background(every, keep)


def test_store_in_memory_needs_a_folder_for_backups() -> None:
    with (
        memstore.open(":memory:", embedder=None) as store,
        pytest.raises(memstore.InvalidArgument, match="folder is required for an in-memory file"),
    ):
        store.file.backup_in_background(3600, 3)


def test_store_creates_backups_in_the_background(
    open_store: Callable[..., Store], tmp_path: Path
) -> None:
    told: list[Path | Reason] = []
    with open_store(embedder=None) as store:
        store.file.backup_in_background(HOUR, 2, tmp_path / "copies", tell=told.append)
        assert wait_until(lambda: told)
    assert list((tmp_path / "copies").iterdir()) == told
