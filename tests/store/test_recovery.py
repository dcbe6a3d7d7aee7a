"""A backup replaces a file that is damaged, missing or in use."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.support.raw import raw

import memstore
from memstore import FileReplaced, Remedy, SchemaError, StorageError, Store
from memstore.database.sqlite import engine as sqlite_engine

OpenStore = Callable[..., Store]


def contents(path: Path | str) -> list[str]:
    with memstore.open(path, embedder=None) as store:
        assert store.file.doctor() == []
        return [fact.content for fact in store.list()]


@pytest.fixture
def kept(open_store: OpenStore) -> Store:
    """A store with a fact that is in its backup, and one that is only in its log."""
    store = open_store(embedder=None)
    store.add("in the backup", subject="a")
    store.file.backup(backup_of(store))
    store.add("after the backup", subject="a")
    return store


def backup_of(store: Store) -> Path:
    return Path(store.path).with_name("backup.db")


@pytest.mark.skipif(sys.platform == "win32", reason="an open file is not renamed there")
def test_a_backup_is_restored_while_the_file_is_in_use(
    kept: Store, open_store: OpenStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite_engine, "READ_CHECK_SECONDS", 0.0)
    reader = open_store(embedder=None)
    assert reader.count() == 2
    before = backup_of(kept).read_bytes()
    done = memstore.recover(backup_of(kept), kept.path)
    assert done.path == kept.path
    assert done.kept is not None
    with memstore.open(kept.path, embedder=None) as there:
        assert there.count() == 1
        there.add("goes on", subject="a")
        with pytest.raises(FileReplaced, match="nothing was stored"):
            kept.add("into the void", subject="a")
        with pytest.raises(FileReplaced):
            reader.count()
        there.add("beside the old ones", subject="a")
        kept.close()
        reader.close()
        there.add("when they have gone", subject="a")
    assert contents(kept.path)[0] == "in the backup"
    assert len(contents(kept.path)) == 4
    assert contents(done.kept)[:2] == ["in the backup", "after the backup"]
    assert backup_of(kept).read_bytes() == before


@pytest.mark.skipif(sys.platform != "win32", reason="elsewhere, an open file can be renamed")
def test_a_file_in_use_is_not_replaced_on_windows(kept: Store) -> None:
    before = sorted(Path(kept.path).parent.iterdir())
    with pytest.raises(StorageError, match="cannot be replaced") as caught:
        memstore.recover(backup_of(kept), kept.path)
    assert caught.value.remedy is Remedy.CLOSE_FILE
    assert sorted(Path(kept.path).parent.iterdir()) == before
    kept.add("goes on", subject="a")
    kept.close()
    assert contents(kept.path) == ["in the backup", "after the backup", "goes on"]


def test_replaced_file_is_kept_with_its_log(kept: Store, path: Path, tmp_path: Path) -> None:
    killed = tmp_path / "killed" / "memory.db"
    killed.parent.mkdir()
    for suffix in ("", "-wal"):  # as a kill leaves them
        Path(f"{killed}{suffix}").write_bytes(Path(f"{path}{suffix}").read_bytes())
    log = Path(f"{killed}-wal").read_bytes()
    done = memstore.recover(backup_of(kept), killed)
    assert done.kept is not None
    assert Path(f"{done.kept}-wal").read_bytes() == log
    assert contents(killed) == ["in the backup"]
    assert contents(done.kept) == ["in the backup", "after the backup"]


@pytest.mark.parametrize("damage", [b"no database at all", b""])
def test_a_damaged_file_is_replaced_and_kept(kept: Store, damage: bytes) -> None:
    path = Path(kept.path)
    kept.close()
    path.write_bytes(damage)
    done = memstore.recover(backup_of(kept), path)
    assert contents(path) == ["in the backup"]
    assert Path(str(done.kept)).read_bytes() == damage


def test_a_missing_file_is_restored(kept: Store) -> None:
    path = Path(kept.path)
    kept.close()
    path.unlink()
    assert memstore.recover(backup_of(kept), path).kept is None
    assert contents(path) == ["in the backup"]


def test_recovering_twice_keeps_both_replaced_files(kept: Store, manual_clock: object) -> None:
    kept.close()
    first, second = (memstore.recover(backup_of(kept), kept.path) for _ in range(2))
    assert contents(str(first.kept)) == ["in the backup", "after the backup"]
    assert contents(str(second.kept)) == ["in the backup"]


def unfinished(backup: Path) -> None:
    backup.unlink()
    with raw(backup) as file:
        file.execute("CREATE TABLE unfinished_copy (x)")


def newer(backup: Path) -> None:
    with raw(backup) as file:
        file.execute("UPDATE memstore_version SET version = 99")
        file.commit()


def damaged(backup: Path) -> None:
    pages = bytearray(backup.read_bytes())
    pages[4096 * 20 :] = b"\xff" * len(pages[4096 * 20 :])
    backup.write_bytes(pages)


@pytest.mark.parametrize(
    ("spoil", "message", "remedy"),
    [
        (Path.unlink, "is not a file", Remedy.OTHER_BACKUP),
        (lambda file: file.write_bytes(b"text\n" * 999), "was not restored", Remedy.OTHER_BACKUP),
        (lambda file: file.write_bytes(b""), "holds no memories", Remedy.OTHER_BACKUP),
        (unfinished, "another program", Remedy.OTHER_BACKUP),
        (newer, "newer memstore", Remedy.UPGRADE),
        (damaged, "was not restored, and nothing was changed", Remedy.OTHER_BACKUP),
    ],
)
def test_unusable_backup_is_refused_and_changes_nothing(
    kept: Store, spoil: Callable[[Path], object], message: str, remedy: Remedy
) -> None:
    spoil(backup_of(kept))
    before = sorted(Path(kept.path).parent.iterdir())
    with pytest.raises(StorageError, match=message) as caught:
        memstore.recover(backup_of(kept), kept.path)
    assert caught.value.remedy is remedy
    assert isinstance(caught.value, SchemaError) == (spoil in (unfinished, newer))
    assert sorted(Path(kept.path).parent.iterdir()) == before
    kept.add("goes on", subject="a")


def test_the_file_is_not_a_backup_of_itself(kept: Store) -> None:
    with pytest.raises(StorageError, match="is the file itself"):
        memstore.recover(kept.path, kept.path)


@pytest.mark.parametrize("kind", ["text", "folder", "link"])
def test_what_is_no_copy_is_not_removed_for_one(kept: Store, tmp_path: Path, kind: str) -> None:
    ready = Path(f"{kept.path}.recovering")
    mine = tmp_path / "mine.txt"
    mine.write_text("mine")
    if kind == "text":
        ready.write_text("mine")
    elif kind == "folder":
        ready.mkdir()
    else:
        ready.symlink_to(mine)
    kept.close()
    with pytest.raises(StorageError, match="is in the way; nothing was changed"):
        memstore.recover(backup_of(kept), kept.path)
    assert ready.is_dir() if kind == "folder" else ready.read_text() == "mine"
    assert {*contents(kept.path)} == {"in the backup", "after the backup"}
