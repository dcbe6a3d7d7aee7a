"""The file is moved away while it is open: none is created in its place, and it is used again."""

from __future__ import annotations

import asyncio
import shutil
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from tests.support.clock import wait_until
from tests.support.moving import WAYS, Way, away, move_all, parts

import memstore
from memstore import AsyncStore, FileMissing, FileReplaced, Remedy, Store, StoreBusy
from memstore.adapters.opened import Opened
from memstore.database.sqlite import engine as sqlite_engine

pytestmark = pytest.mark.skipif(
    sys.platform == "win32", reason="there, an open file is neither removed nor renamed"
)

OpenStore = Callable[..., Store]


@pytest.fixture(params=WAYS)
def way(request: pytest.FixtureRequest) -> Way:
    return WAYS[request.param]


@pytest.fixture(autouse=True)
def _always_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite_engine, "READ_CHECK_SECONDS", 0.0)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "folder" / "memory.db"


@pytest.fixture
def kept(open_store: OpenStore, path: Path) -> Store:
    """A store with some facts, most of them only in its log."""
    store = open_store(path, embedder=None)
    for number in range(50):
        store.add(f"before {number}", subject="a")
    return store


def told(store: Store) -> list[str]:
    return [fact.content for fact in store.list(limit=None)][50:]


ANOTHER = """
import os, sys
import memstore
try:
    store = memstore.open(sys.argv[1], embedder=None)
    for content in sys.argv[2:]:
        store.add(content, subject="a")
    print(*(fact.content for fact in store.list(limit=None)), sep="|")
    print(*(finding.message for finding in store.file.doctor(deep=True)), sep="|", flush=True)
except memstore.FileMissing as error:
    print(error, flush=True)
os._exit(0)  # as if it were killed: its log stays
"""


def by_another_process(path: Path, *contents: str) -> list[str]:
    """Open a file in another process, and add to it; return its facts, and what is wrong."""
    command = [sys.executable, "-c", ANOTHER, str(path), *contents]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()


def refuses(store: Store, path: Path) -> None:
    uses: list[Callable[[], object]] = [
        lambda: store.add("into the void", subject="a"),
        store.list,
        lambda: store.search("before"),
        lambda: store.get(1),
        lambda: store.file.tokens.required(),
        store.file.engine.compact,
        lambda: memstore.open(path, embedder=None),
        lambda: memstore.open(path, embedder=None, read_only=True),
        lambda: memstore.open(path, embedder=None, create=False),
    ]
    for use in uses:
        with pytest.raises(FileMissing) as caught:
            use()
        assert repr(str(path)) in str(caught.value)
        assert caught.value.remedy is Remedy.PUT_BACK
    assert not path.exists()
    assert not store.file.is_replaced


@pytest.mark.process
def test_a_store_goes_on_when_its_file_is_back(kept: Store, path: Path, way: Way) -> None:
    for turn in range(3):
        way.away(path)
        refuses(kept, path)
        way.back(path)
        assert told(kept) == [f"turn {number}" for number in range(turn)]
        kept.add(f"turn {turn}", subject="a")
        if turn == 1:  # and one that nobody noticed
            way.away(path)
            way.back(path)
    kept.close()
    facts, troubles = by_another_process(path, "of another")
    assert facts.split("|")[50:] == ["turn 0", "turn 1", "turn 2", "of another"]
    assert troubles == ""
    with memstore.open(path, embedder=None) as store:
        assert told(store)[-1] == "of another"


def test_nothing_is_stored_in_the_file_that_was_moved_away(kept: Store, path: Path) -> None:
    path.rename(away(path))
    with pytest.raises(FileMissing, match="while it was open; nothing was stored"):
        kept.add("refused", subject="a")
    shutil.copy(away(path), path.with_name("copy.db"))  # the file alone has all of it
    with memstore.open(path.with_name("copy.db"), embedder=None) as copy:
        assert len(copy.list(limit=None)) == 50
    away(path).rename(path)
    assert told(kept) == []


@pytest.mark.process
def test_what_others_wrote_into_the_file_elsewhere_is_found(kept: Store, path: Path) -> None:
    assert len(kept.search("before", limit=100)) == 50
    path.rename(away(path))
    with pytest.raises(FileMissing):
        kept.list()
    by_another_process(away(path), "written elsewhere")
    move_all(away(path), path.name)
    assert told(kept) == ["written elsewhere"]
    assert [hit.fact.content for hit in kept.search("elsewhere")] == ["written elsewhere"]
    kept.add("and here", subject="a")
    assert kept.file.doctor(deep=True) == []


@pytest.mark.parametrize("second_notices", [False, True])
def test_every_store_of_a_process_goes_on(
    kept: Store, open_store: OpenStore, path: Path, way: Way, second_notices: bool
) -> None:
    second = open_store(path, embedder=None)
    second.add("by the second", subject="a")
    way.away(path)
    refuses(kept, path)
    if second_notices:
        refuses(second, path)
    way.back(path)
    if way is WAYS["and back without its log"] and not second_notices:
        with pytest.raises(FileReplaced, match=r"log .* was removed or replaced"):
            told(kept)
        second.close()
    else:
        second.add("again", subject="a")
    kept.add("by the first", subject="a")
    wanted = ["by the second", "again", "by the first"]
    if way is WAYS["and back without its log"] and not second_notices:
        wanted.remove("again")
    assert told(kept) == wanted
    assert kept.file.doctor(deep=True) == []


def test_a_store_for_reading_goes_on(
    kept: Store, open_store: OpenStore, path: Path, way: Way
) -> None:
    kept.close()
    reader = open_store(path, embedder=None, read_only=True)
    assert told(reader) == []
    way.away(path)
    with pytest.raises(FileMissing):
        reader.list()
    assert not path.exists()
    way.back(path)
    assert told(reader) == []


def test_an_asynchronous_store_goes_on(path: Path, way: Way) -> None:
    async def use() -> list[str]:
        async with AsyncStore(memstore.open(path, embedder=None)) as store:
            await store.add("one", subject="a")
            way.away(path)
            for call in (store.add("void", subject="a"), store.list()):
                with pytest.raises(FileMissing):
                    await call
            assert not path.exists()
            way.back(path)
            await store.add("two", subject="a")
            return [fact.content for fact in await store.list()]

    assert asyncio.run(use()) == ["one", "two"]


def test_an_adapter_goes_on(path: Path, way: Way) -> None:
    opened = Opened(path, "framework")
    opened.store.add("one", subject="a")
    way.away(path)
    with pytest.raises(FileMissing):
        opened.store.add("void", subject="a")
    with pytest.raises(FileMissing):
        Opened(path, "framework")
    way.back(path)
    opened.store.add("two", subject="a")
    assert [fact.content for fact in opened.store.list()] == ["one", "two"]
    opened.close()


def test_work_in_the_background_goes_on(path: Path, way: Way, open_store: OpenStore) -> None:
    store = open_store(path)
    store.add("one", subject="a")
    store.file.embed_in_background(interval_seconds=0.01)
    way.away(path)
    with pytest.raises(FileMissing):
        store.add("void", subject="a")
    way.back(path)
    store.add("two", subject="a")
    assert wait_until(lambda: store.status().pending == 0)
    assert store.file.doctor(deep=True) == []


# -- opening again ---------------------------------------------------------------------------------


def test_a_store_that_was_closed_without_its_file_is_not_opened_anew(
    kept: Store, path: Path, way: Way
) -> None:
    way.away(path)
    kept.close()
    for _ in range(2):
        with pytest.raises(FileMissing, match="nothing was created"):
            memstore.open(path, embedder=None)
    assert not path.exists()
    way.back(path)
    with memstore.open(path, embedder=None) as store:
        assert told(store) == []


def test_a_store_that_was_dropped_without_its_file_is_not_opened_anew(path: Path) -> None:
    store = memstore.open(path, embedder=None)
    path.rename(away(path))
    del store
    with pytest.raises(FileMissing):
        memstore.open(path, embedder=None)
    away(path).rename(path)
    memstore.open(path, embedder=None).close()


def test_a_file_that_was_closed_in_its_place_may_be_created_anew(kept: Store, path: Path) -> None:
    kept.close()
    path.unlink()
    with memstore.open(path, embedder=None) as store:
        assert store.list() == []


def test_the_file_is_known_by_every_name(kept: Store, path: Path, tmp_path: Path) -> None:
    link, folder = tmp_path / "link.db", tmp_path / "other"
    link.symlink_to(path)
    folder.symlink_to(path.parent)
    path.rename(away(path))
    for name in (link, folder / path.name, folder / "../folder" / path.name):
        with pytest.raises(FileMissing):
            memstore.open(name, embedder=None)
    assert not path.exists()
    away(path).rename(path)
    assert told(kept) == []


def test_a_link_that_leads_nowhere_is_followed_again(
    open_store: OpenStore, kept: Store, path: Path, tmp_path: Path
) -> None:
    link = tmp_path / "link.db"
    link.symlink_to(path)
    store = open_store(link, embedder=None)
    path.rename(away(path))
    for use in (store.list, lambda: memstore.open(link, embedder=None)):
        with pytest.raises(FileMissing):
            use()
    away(path).rename(path)
    store.add("through the link", subject="a")
    link.unlink()
    with pytest.raises(FileMissing):
        store.list()
    link.symlink_to(path)
    assert told(store) == told(kept) == ["through the link"]


def test_a_gap_between_two_files_creates_none(kept: Store, path: Path) -> None:
    kept.file.backup(path.with_name("backup.db"))
    kept.add("after the backup", subject="a")
    path.rename(away(path))
    refuses(kept, path)
    path.with_name("backup.db").rename(path)
    with pytest.raises(FileReplaced, match="was replaced") as caught:
        kept.list()
    assert not isinstance(caught.value, FileMissing)
    assert kept.file.is_replaced
    kept.close()
    path.rename(path.with_name("backup.db"))
    with pytest.raises(FileMissing):
        memstore.open(path, embedder=None)
    path.with_name("backup.db").rename(path)
    with memstore.open(path, embedder=None) as store:
        assert told(store) == []
    with memstore.open(away(path), embedder=None) as former:
        assert told(former) == ["after the backup"]


def test_a_replaced_file_that_comes_back_is_used_again(kept: Store, path: Path) -> None:
    kept.file.backup(path.with_name("backup.db"))
    path.rename(away(path))
    path.with_name("backup.db").rename(path)
    with pytest.raises(FileReplaced):
        kept.add("into the void", subject="a")
    path.rename(path.with_name("backup.db"))
    with pytest.raises(FileMissing):
        kept.add("into the void", subject="a")
    away(path).rename(path)
    kept.add("back", subject="a")
    assert told(kept) == ["back"]


@pytest.mark.parametrize("closes", [False, True])
def test_an_empty_file_in_its_place_is_not_filled(kept: Store, path: Path, closes: bool) -> None:
    """Such as the beginning of a copy from another disk."""
    path.rename(away(path))
    path.touch()
    if closes:
        kept.close()
    with pytest.raises(FileMissing, match="is empty"):
        memstore.open(path, embedder=None)
    assert path.stat().st_size == 0
    away(path).rename(path)
    if not closes:
        assert told(kept) == []
    with memstore.open(path, embedder=None) as store:
        assert told(store) == []


def test_many_threads_may_create_one_file(tmp_path: Path) -> None:
    with ThreadPoolExecutor(16) as pool:
        for number in range(10):
            path = tmp_path / str(number) / "memory.db"

            def use(place: int, path: Path = path) -> None:
                with memstore.open(path, embedder=None) as store:
                    store.add(f"fact {place}", subject="a")

            for done in [pool.submit(use, place) for place in range(16)]:
                done.result(60)
            with memstore.open(path, embedder=None) as store:
                assert store.count() == 16


def test_threads_create_none_while_the_file_is_away(kept: Store, path: Path) -> None:
    def use(turn: int) -> bool:
        try:
            if turn % 3:
                kept.list()
            else:
                memstore.open(path, embedder=None).close()
        except FileMissing:
            return False
        return True

    with ThreadPoolExecutor(8) as pool:
        for _ in range(20):
            path.rename(away(path))
            assert not any(pool.map(use, range(24)))
            assert not path.exists()
            away(path).rename(path)
            assert all(pool.map(use, range(24)))
    assert told(kept) == []


def test_a_read_from_before_keeps_a_file_that_is_back_without_its_log_waiting(
    kept: Store, path: Path
) -> None:
    with kept.file.engine.read():  # which has read nothing yet
        move_all(path, "away.db")
        with pytest.raises(FileMissing):
            kept.list()
        away(path).rename(path)
        with pytest.raises(StoreBusy, match="is back"):
            kept.list()
    kept.add("later", subject="a")
    assert told(kept) == ["later"]


def test_a_log_that_a_read_keeps_open_is_saved_when_the_file_is_back(
    kept: Store, path: Path
) -> None:
    with kept.file.engine.read() as transaction:
        transaction.scalar("SELECT count(*) FROM memstore_facts")
        move_all(path, "away.db")
        with pytest.raises(FileMissing):
            kept.list()
        away(path).rename(path)
        with pytest.raises(FileReplaced, match="all acknowledged writes were saved"):
            kept.add("too early", subject="a")
        assert transaction.scalar("SELECT count(*) FROM memstore_facts") == 50
    with memstore.open(path, embedder=None) as store:
        assert store.count() == 50


# -- a log without its file ------------------------------------------------------------------------


@pytest.mark.process
def test_a_log_without_its_file_is_not_given_to_a_new_one(path: Path) -> None:
    by_another_process(path, *(f"only in the log {number}" for number in range(20)))
    path.rename(away(path))
    log = path.with_name(f"{path.name}-wal")
    size = log.stat().st_size
    assert size > 0
    with pytest.raises(FileMissing, match="its write-ahead log is there") as caught:
        memstore.open(path, embedder=None)
    assert caught.value.remedy is Remedy.PUT_BACK_OR_MOVE_LOG
    [refused] = by_another_process(path)
    assert "nothing was created" in refused
    assert (path.exists(), log.stat().st_size) == (False, size)
    away(path).rename(path)
    with memstore.open(path, embedder=None) as store:
        assert store.count() == 20
    path.rename(away(path))  # closed in order: it has no log
    with memstore.open(path, embedder=None) as store:
        assert store.count() == 0


def test_a_log_that_follows_its_file_is_waited_for(kept: Store, path: Path) -> None:
    """Whoever moves both back moves one after the other: a new log would be overwritten."""
    move_all(path, "away.db")
    with pytest.raises(FileMissing):
        kept.add("nowhere", subject="a")
    log = away(path).with_name("away.db-wal")
    logs = [(one, path.with_name(one.name.replace("away.db", path.name))) for one in parts(log)]
    away(path).rename(path)
    with ThreadPoolExecutor() as pool:
        stored = pool.submit(kept.add, "after the log", subject="a")
        assert not wait_until(stored.done, 0.2)
        for one, back in logs:
            one.rename(back)
        stored.result()
    assert told(kept) == ["after the log"]
    kept.close()
    with memstore.open(path, embedder=None) as again:
        assert told(again) == ["after the log"]
