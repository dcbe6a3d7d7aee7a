"""The file or its log is replaced or removed while a store is open: no loss goes unnoticed."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import pytest
from tests.support.raw import raw

import memstore
from memstore import FileMissing, FileReplaced, Remedy, Store
from memstore.database.sqlite import engine as sqlite_engine

pytestmark = pytest.mark.skipif(
    sys.platform == "win32", reason="there, an open file is neither removed nor renamed"
)

OpenStore = Callable[..., Store]


def log(path: Path) -> Path:
    return Path(f"{path}-wal")


def index(path: Path) -> Path:
    return Path(f"{path}-shm")


def contents(path: Path) -> list[str]:
    with memstore.open(path, embedder=None) as store:
        assert store.file.doctor() == []
        return [fact.content for fact in store.list()]


def replace_by_backup(path: Path) -> None:
    path.with_name("backup.db").rename(path)


def remove(path: Path) -> None:
    path.unlink()


def remove_all(path: Path) -> None:
    for each in (path, log(path), index(path)):
        each.unlink()


def move_the_folder(path: Path) -> None:
    path.parent.rename(path.parent.with_name("moved"))


@pytest.fixture
def kept(open_store: OpenStore, path: Path) -> Store:
    """A store with one fact, and a backup of it beside the file."""
    path = path.parent / "folder" / path.name
    store = open_store(path, embedder=None)
    store.add("before", subject="a")
    store.file.backup(path.with_name("backup.db"))
    return store


@pytest.mark.parametrize("change", [replace_by_backup, remove, remove_all, move_the_folder])
def test_no_write_is_acknowledged_if_the_file_was_removed(
    kept: Store, change: Callable[[Path], None]
) -> None:
    change(Path(kept.path))
    with pytest.raises(FileReplaced, match=r"while it was open; nothing was stored") as caught:
        kept.add("into the void", subject="a")
    is_missing = change is not replace_by_backup
    assert isinstance(caught.value, FileMissing) == is_missing
    assert caught.value.remedy is (Remedy.PUT_BACK if is_missing else Remedy.OPEN_REPLACED)
    for use in (lambda: kept.add("again", subject="a"), kept.list, lambda: kept.get(1)):
        with pytest.raises(FileReplaced, match="while it was open"):
            use()
    assert kept.file.is_replaced != is_missing


def test_replacing_file_is_not_touched(kept: Store) -> None:
    path = Path(kept.path)
    kept.add("after the backup", subject="a")
    replace_by_backup(path)
    log(path).unlink()
    index(path).unlink()
    with memstore.open(path, embedder=None) as there:
        there.add("in the new file", subject="a")
        with pytest.raises(FileReplaced):
            kept.add("into the void", subject="a")
        there.add("more", subject="a")
        kept.close()
        there.add("after the other closed", subject="a")
    assert contents(path) == ["before", "in the new file", "more", "after the other closed"]


@pytest.mark.parametrize("gone", [[log], [index], [log, index]])
def test_acknowledged_writes_are_saved_if_only_the_log_was_removed(
    kept: Store, gone: list[Callable[[Path], Path]]
) -> None:
    path = Path(kept.path)
    kept.add("in the log", subject="a")
    for each in gone:
        each(path).unlink()
    kept.add("saved with it", subject="a")
    with pytest.raises(FileReplaced, match="all acknowledged writes were saved"):
        kept.add("refused", subject="a")
    assert contents(path) == ["before", "in the log", "saved with it"]
    kept.close()
    assert contents(path) == ["before", "in the log", "saved with it"]


def test_acknowledged_writes_are_saved_when_the_store_closes(kept: Store) -> None:
    path = Path(kept.path)
    kept.add("in the log", subject="a")
    log(path).unlink()
    kept.close()
    assert contents(path) == ["before", "in the log"]


def test_log_of_another_process_is_never_overwritten(kept: Store) -> None:
    path = Path(kept.path)
    with raw(path) as there:
        there.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    kept.add("in the log that is gone", subject="a")
    log(path).unlink()
    index(path).unlink()
    add = "INSERT INTO memstore_meta (key, value) VALUES (?, '')"
    with raw(path, isolation_level=None) as there:  # as another process would
        there.execute(add, ["in the new log"])
        with pytest.raises(FileReplaced, match="removed or replaced"):
            kept.add("into the void", subject="a")
        there.execute(add, ["more"])
        kept.close()
    with raw(path) as there:
        keys = {key for (key,) in there.execute("SELECT key FROM memstore_meta")}
        assert there.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    assert {"in the new log", "more"} < keys


def test_read_notices_a_replaced_file(kept: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite_engine, "READ_CHECK_SECONDS", 0.0)
    assert kept.count() == 1
    replace_by_backup(Path(kept.path))
    with pytest.raises(FileReplaced):
        kept.count()


def test_a_symlink_to_the_file_is_followed(open_store: OpenStore, path: Path) -> None:
    link = path.with_name("link.db")
    memstore.open(path, embedder=None).close()
    link.symlink_to(path)
    store = open_store(link, embedder=None)
    store.add("through the link", subject="a")
    store.add("again", subject="a")
    shutil.copy(path, path.with_name("other.db"))
    link.unlink()
    link.symlink_to(path.with_name("other.db"))
    with pytest.raises(FileReplaced):
        store.add("into the old one", subject="a")


def test_other_programs_may_open_write_and_close(kept: Store) -> None:
    path = kept.path
    for turn in range(3):
        with memstore.open(path, embedder=None) as there:
            there.add(f"of another {turn}", subject="a")
        with raw(path) as there:
            there.execute("UPDATE memstore_meta SET value = value")
            there.commit()
            there.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        kept.add(f"ours {turn}", subject="a")
    assert kept.count() == 7
    assert not kept.file.is_replaced


ANOTHER_PROCESS = """
import os, sys
import memstore
store = memstore.open(sys.argv[1], embedder=None)
store.add(sys.argv[2], subject="a")
os._exit(0)  # as if it were killed: the log stays
"""


def add_in_another_process(path: Path, content: str) -> None:
    subprocess.run([sys.executable, "-c", ANOTHER_PROCESS, str(path), content], check=True)


@pytest.mark.process
def test_a_store_never_shares_the_index_of_a_removed_log(
    kept: Store, open_store: OpenStore
) -> None:
    path = Path(kept.path)
    idle = open_store(path, embedder=None)
    assert idle.count() == 1
    log(path).unlink()
    index(path).unlink()
    kept.add("saved", subject="a")
    kept.close()
    add_in_another_process(path, "of another process")
    with pytest.raises(FileReplaced, match="another store in this process") as caught:
        memstore.open(path, embedder=None)
    assert caught.value.remedy is Remedy.CLOSE_OTHERS
    idle.close()
    store = open_store(path, embedder=None)
    store.add("together", subject="a")
    add_in_another_process(path, "and once more")
    wanted = ["before", "saved", "of another process", "together", "and once more"]
    assert [fact.content for fact in store.list()] == wanted
    store.close()
    assert contents(path) == wanted


def read_and_left_without_log(kept: Store, open_store: OpenStore) -> tuple[Path, Store]:
    """Return the only store of a file, after it read the file and the log was removed."""
    path = Path(kept.path)
    kept.close()
    store = open_store(path, embedder=None)
    assert store.count() == 1
    log(path).unlink()
    index(path).unlink()
    return path, store


@pytest.mark.process
def test_a_store_that_only_read_notices_a_removed_log(
    kept: Store, open_store: OpenStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, reader = read_and_left_without_log(kept, open_store)
    add_in_another_process(path, "in the new log")
    monkeypatch.setattr(sqlite_engine, "READ_CHECK_SECONDS", 0.0)
    for use in (reader.count, lambda: reader.add("into the void", subject="a")):
        with pytest.raises(FileReplaced, match=r"log .* was removed or replaced"):
            use()
    reader.close()
    assert contents(path) == ["before", "in the new log"]


@pytest.mark.process
def test_log_of_another_process_survives_a_read_only_store(
    kept: Store, open_store: OpenStore
) -> None:
    path, reader = read_and_left_without_log(kept, open_store)
    add_in_another_process(path, "in the new log")
    reader.close()
    assert contents(path) == ["before", "in the new log"]


def test_the_first_write_of_a_store_notices_a_removed_log(
    kept: Store, open_store: OpenStore
) -> None:
    path, store = read_and_left_without_log(kept, open_store)
    with pytest.raises(FileReplaced, match="nothing was stored"):
        store.add("with another index", subject="a")
    assert store.file.is_replaced
    assert contents(path) == ["before"]


def test_acknowledged_writes_are_saved_despite_a_reader(
    kept: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite_engine, "WAIT_SECONDS", 0.0)
    path = Path(kept.path)
    kept.add("in the log", subject="a")
    with kept.file.engine.read() as transaction:
        transaction.scalar("SELECT count(*) FROM memstore_facts")
        log(path).unlink()
        kept.close()
        assert contents(path) == ["before", "in the log"]


def test_a_read_within_a_write_does_not_wait_for_it(
    kept: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite_engine, "READ_CHECK_SECONDS", 0.0)
    engine = kept.file.engine
    with ExitStack() as writing:
        writing.enter_context(engine.write())
        replace_by_backup(Path(kept.path))
        with pytest.raises(FileReplaced), engine.read():
            pass
        with pytest.raises(FileReplaced):
            writing.close()


def test_compacting_notices_a_replaced_file(kept: Store) -> None:
    replace_by_backup(Path(kept.path))
    with pytest.raises(FileReplaced):
        kept.file.engine.compact()


# -- a backup in the place of an open file ---------------------------------------------------------

OPENED = """
import sys, memstore
with memstore.open(sys.argv[1], embedder=None) as store:
    store.add("by the second", subject="second")
    print(*(fact.content for fact in store.list()), sep="|")
    print(*(finding.message for finding in store.file.doctor(deep=True)))
"""


def opened_by_another(path: Path) -> tuple[str, str]:
    """Open, read and write the file in another process; return its facts, and what is wrong."""
    done = subprocess.run(
        [sys.executable, "-c", OPENED, str(path)], check=True, capture_output=True, text=True
    )
    facts, troubles = done.stdout.splitlines()
    return facts, troubles


def filled(store: Store) -> None:
    for number in range(300):
        store.add(f"only in the former file {number}", subject=f"s{number}")


@pytest.mark.process
def test_a_backup_in_the_place_of_an_open_file_is_what_the_next_program_opens(kept: Store) -> None:
    path = Path(kept.path)
    filled(kept)
    replace_by_backup(path)
    assert opened_by_another(path) == ("before|by the second", "")
    for _ in range(3):
        with pytest.raises(FileReplaced):
            kept.add("too late", subject="a")
    assert opened_by_another(path) == ("before|by the second|by the second", "")
    kept.close()
    assert contents(path) == ["before", "by the second", "by the second"]


@pytest.mark.parametrize("use", ["write", "read", "close"])
def test_a_store_whose_file_was_replaced_leaves_the_backup_as_it_is(
    kept: Store, use: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite_engine, "READ_CHECK_SECONDS", 0)
    path = Path(kept.path)
    filled(kept)
    replace_by_backup(path)
    if use == "write":
        with pytest.raises(FileReplaced):
            kept.add("too late", subject="a")
    elif use == "read":
        with pytest.raises(FileReplaced):
            kept.list()
    else:
        kept.close()
    assert not log(path).exists()
    assert contents(path) == ["before"]
    assert [one.name for one in path.parent.iterdir() if "former" in one.name] == []


@pytest.mark.parametrize("noticed_by", ["a write", "another store"])
def test_a_file_that_was_moved_away_has_all_that_was_acknowledged(
    kept: Store, noticed_by: str
) -> None:
    path = Path(kept.path)
    filled(kept)
    former = path.with_name("former.db")
    path.rename(former)
    replace_by_backup(path)
    if noticed_by == "another store":
        assert contents(path) == ["before"]
    with pytest.raises(FileReplaced):
        kept.add("too late", subject="a")
    kept.close()
    assert contents(path) == ["before"]
    assert [one.name for one in path.parent.iterdir() if "-wal.former" in one.name] == []
    assert contents(former)[:301] == [
        "before",
        *(f"only in the former file {n}" for n in range(300)),
    ]


@pytest.mark.process
def test_the_log_of_a_killed_program_is_kept_aside(kept: Store) -> None:
    path = Path(kept.path)
    write_and_wait = (
        "import sys, memstore\n"
        "store = memstore.open(sys.argv[1], embedder=None)\n"
        "for n in range(300): store.add(f'kept {n}', subject='k')\n"
        "print('ready', flush=True)\n"
        "sys.stdin.read()\n"
    )
    kept.close()
    former = path.with_name("former.db")
    command = [sys.executable, "-c", write_and_wait, str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout is not None
        assert other.stdout.readline().strip() == b"ready"
        path.rename(former)
        replace_by_backup(path)
        assert contents(path) == ["before"]
        other.kill()
    [aside] = [one for one in path.parent.iterdir() if "-wal.former-" in one.name]
    aside.rename(log(former))
    assert len(contents(former)) == 301


def test_a_store_for_reading_leaves_the_backup_as_it_is(kept: Store) -> None:
    path = Path(kept.path)
    filled(kept)
    replace_by_backup(path)
    with memstore.open(path, embedder=None, read_only=True) as reader:
        assert [fact.content for fact in reader.list()] == ["before"]
        with pytest.raises(FileReplaced):
            kept.add("too late", subject="a")
        kept.close()
    assert contents(path) == ["before"]


@pytest.mark.process
def test_an_empty_place_is_not_filled_from_the_log(kept: Store) -> None:
    path = Path(kept.path)
    filled(kept)
    path.unlink()
    with pytest.raises(FileReplaced):
        kept.add("too late", subject="a")
    assert opened_by_another(path) == ("by the second", "")
    with pytest.raises(FileReplaced):
        kept.add("too late", subject="a")
    assert opened_by_another(path) == ("by the second|by the second", "")


def test_a_file_in_use_keeps_its_log(open_store: OpenStore, path: Path) -> None:
    first = open_store(path, embedder=None)
    first.add("tea", subject="a")
    for _ in range(20):
        with memstore.open(path, embedder=None) as second:
            second.add("rain", subject="b")
    first.add("tea again", subject="a")
    assert first.count() == 22
    assert [one.name for one in path.parent.iterdir() if "former" in one.name] == []
