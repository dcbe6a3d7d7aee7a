"""Syncs in the background: when one is begun, by whom, and what is told of it."""

from __future__ import annotations

import io
import json
import logging
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.support.clock import ManualClock, wait_until
from tests.support.command_line import CommandLine, cli_fixture  # noqa: F401

import memstore
from memstore import Store, settings
from memstore.database.tables import leases
from memstore.domain import clock
from memstore.faces import background, background_sync
from memstore.faces.cli import sync as face
from memstore.faces.hosts import hook
from memstore.faces.serving.opening import Opening
from memstore.faces.starting import every_flag
from memstore.file import syncing
from memstore.settings import Settings
from memstore.sync import project_files, remembered, sealing
from memstore.sync.remembered import Remembered

EVERY = 300.0


@pytest.fixture(autouse=True)
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, databases: Any) -> Path:
    if databases is not None:
        pytest.skip("hooks and the programs that setup registers have a file")
    monkeypatch.setattr(settings, "data_folder", lambda: str(tmp_path / "data"))
    return tmp_path / "data"


@pytest.fixture
def begun(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, str]]:
    """The variables of the syncs that were begun."""
    made: list[dict[str, str]] = []

    def start(words: list[str], given: bytes = b"", log: object = None, **more: Any) -> None:
        assert words == ["sync", "--background"]
        made.append(more["environment"])

    monkeypatch.setattr(background, "start", start)
    return made


def remember(path: Path, every: float | None = EVERY) -> Path:
    state = remembered.folder_of(str(path))
    remembered.write(state, Remembered(str(path.with_name("place")), every_seconds=every))
    return state


def test_one_is_begun_when_it_is_time(path: Path, begun: list[dict[str, str]]) -> None:
    assert not background_sync.begin_if_due(str(path), {})
    remember(path, every=None)
    assert not background_sync.begin_if_due(str(path), {}, has_news=True)
    remember(path)
    moment = ManualClock()
    with clock.use(moment):
        assert background_sync.begin_if_due(str(path), {"MEMSTORE_SECRETS": "refuse"})
        assert not background_sync.begin_if_due(str(path), {})
        moment.advance(seconds=EVERY - 1)
        assert not background_sync.begin_if_due(str(path), {})
        moment.advance(seconds=2)
        assert background_sync.begin_if_due(str(path), {})
        moment.advance(seconds=-86_400)  # a clock that was set back does not stop it for a day
        assert background_sync.begin_if_due(str(path), {})
    assert begun[0] == {"MEMSTORE_SECRETS": "refuse", "MEMSTORE_DB": str(path)}


def test_what_was_written_is_sent_sooner_unless_the_place_is_away(
    path: Path, begun: list[dict[str, str]]
) -> None:
    state = remember(path)
    moment = ManualClock()
    with clock.use(moment):
        assert background_sync.begin_if_due(str(path), {}, has_news=True)
        moment.advance(seconds=background_sync.AFTER_WRITES_SECONDS + 1)
        assert background_sync.begin_if_due(str(path), {}, has_news=True)
        remembered.note_run(state, "the place is not there")
        moment.advance(seconds=background_sync.AFTER_WRITES_SECONDS + 1)
        assert not background_sync.begin_if_due(str(path), {}, has_news=True)
        moment.advance(seconds=EVERY)
        assert background_sync.begin_if_due(str(path), {}, has_news=True)


def test_a_server_syncs_by_its_flag_or_as_setup_chose(
    store: Store, path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    assert background_sync.schedule(store, Settings()) is None
    with caplog.at_level(logging.WARNING):
        assert background_sync.schedule(store, Settings(sync_every="5m")) is None
    assert "no place to sync with yet" in caplog.text
    remember(path, every=None)
    assert background_sync.schedule(store, Settings()) is None
    assert background_sync.schedule(store, Settings(sync_every="5m")) is not None
    remember(path)
    assert background_sync.schedule(store, Settings()) is not None
    assert background_sync.schedule(store, Settings(sync_every="off")) is None
    assert background_sync.schedule(store, Settings(read_only=True)) is None


def prepare(opening: Opening) -> None:
    """Prepare at once what a quiet moment prepares otherwise."""
    store = opening.store()
    assert opening._preparing is not None
    opening._preparing.cancel()
    opening._prepare(store)


def test_a_server_sends_what_it_wrote_also_at_its_end(
    open_store: Callable[..., Store],
    path: Path,
    begun: list[dict[str, str]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(background_sync, "LOOK_SECONDS", 0.01)
    remember(path)
    opening = Opening(lambda: open_store(path, embedder=None), syncing=Settings())
    opening.store()
    prepare(opening)
    assert wait_until(lambda: len(begun) == 1)  # at the start, to hear what others said
    opening.store().add("tea", subject="alice")
    opening.close()
    assert len(begun) == 2
    assert wait_until(lambda: not _is_running())


def test_a_server_that_wrote_nothing_ends_without_a_sync(
    cli: CommandLine,
    open_store: Callable[..., Store],
    path: Path,
    tmp_path: Path,
    begun: list[dict[str, str]],
) -> None:
    (tmp_path / "place").mkdir()
    cli("sync", tmp_path / "place", "--yes", "--every", "5m")
    opening = Opening(lambda: open_store(path, embedder=None), syncing=Settings())
    prepare(opening)
    assert wait_until(lambda: len(begun) == 1)
    opening.close()
    assert len(begun) == 1


def test_a_server_that_ends_while_it_opens_begins_nothing(
    open_store: Callable[..., Store], path: Path, begun: list[dict[str, str]]
) -> None:
    remember(path)
    opening = Opening(lambda: open_store(path, embedder=None), syncing=Settings())
    store = opening.store()
    opening.close()
    opening._prepare(store)
    assert begun == []


@pytest.mark.parametrize("wrong", ["5", "30s", "soon", ""])
def test_a_wrong_time_is_refused_at_the_start(
    wrong: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        every_flag.main(["--sync-every", wrong or " "])
    assert "--sync-every is" in capsys.readouterr().err


def test_a_server_that_only_reads_is_not_told_to_sync(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        every_flag.main(["--sync-every", "5m", "--read-only"])
    assert "leave --read-only out" in capsys.readouterr().err


def hooked(monkeypatch: pytest.MonkeyPatch, *words: str) -> None:
    given = io.TextIOWrapper(io.BytesIO(json.dumps({"source": "startup"}).encode()))
    monkeypatch.setattr(sys, "stdin", given)
    assert hook.main([*words]) == 0


@pytest.mark.parametrize("event", ["SessionStart", "UserPromptSubmit"])
def test_hooks_begin_one_where_no_server_runs(
    event: str, path: Path, store: Store, begun: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    store.add("tea", subject="alice")
    hooked(monkeypatch, event, "--db", str(path), "--embedder", "none")
    assert begun == []
    remember(path)
    for _ in range(2):
        hooked(monkeypatch, event, "--db", str(path), "--embedder", "none", "--secrets", "keep")
    assert begun == [{"MEMSTORE_DB": str(path), "MEMSTORE_SECRETS": "keep"}]


def test_hooks_look_once_a_minute(
    path: Path, store: Store, begun: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    store.add("tea", subject="alice")
    moment = ManualClock()
    with clock.use(moment):
        remember(path, every=None)
        hooked(monkeypatch, "SessionStart", "--db", str(path), "--embedder", "none")
        remember(path)
        for seconds, times in ((0, 0), (hook.ASKING_SECONDS + 1, 1), (EVERY - 5, 1), (90, 2)):
            moment.advance(seconds=seconds)
            hooked(monkeypatch, "SessionStart", "--db", str(path), "--embedder", "none")
            assert len(begun) == times


def test_hooks_that_only_read_or_have_no_file_begin_none(
    path: Path, tmp_path: Path, begun: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    missing = tmp_path / "missing.db"
    remember(missing)
    hooked(monkeypatch, "SessionStart", "--db", str(missing))
    monkeypatch.setenv("MEMSTORE_READ_ONLY", "1")
    remember(path)
    hooked(monkeypatch, "SessionStart", "--db", str(path))
    assert begun == []
    assert not missing.exists()


def test_a_place_that_cannot_be_read_disturbs_no_hook(
    path: Path,
    store: Store,
    begun: list[Any],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    store.pin(store.add("tea", subject="alice").id)
    (remember(path) / remembered.FILE).write_text("{")
    hooked(monkeypatch, "SessionStart", "--db", str(path), "--embedder", "none")
    shown = capsys.readouterr()
    assert ("tea" in shown.out, shown.err, begun) == (True, "", [])


def test_what_became_of_it_is_told_by_status(cli: CommandLine, tmp_path: Path) -> None:
    place = tmp_path / "place"
    place.mkdir()
    cli.add("Alice prefers tea")
    assert cli("sync", "--background").code != 0
    assert cli("sync", place, "--background").code == 2
    cli("sync", place, "--yes", "--every", "5m")
    done = cli("sync", "--background")
    assert (done.code, done.out, done.err) == (0, "", "")
    assert "last synced" in cli("status").err
    place.rename(place.with_name("away"))
    assert cli("sync", "--background").code != 0
    for words in (("status",), ("sync", "--status")):
        told = cli(*words).err
        assert "failed" in told
        assert "is not there" in told
    assert "is not there" in cli.json("sync", "--status")["failed"]
    place.with_name("away").rename(place)
    cli("sync", "--background")
    assert "failed" not in cli("status").err


def test_what_a_background_sync_has_to_say_waits_for_a_reader(
    cli: CommandLine, tmp_path: Path
) -> None:
    place = tmp_path / "place"
    place.mkdir()
    cli.add("Alice prefers tea")
    cli("sync", place, "--yes")
    (place / ("a" * 16)).mkdir()
    (place / ("a" * 16) / "state").write_text("{")
    cli("sync", "--background")
    assert "damaged" in cli("sync", "--status").err
    assert "damaged" in cli.json("sync", "--status")["said"][0]


def test_while_another_one_syncs_nothing_is_done_or_said(
    cli: CommandLine, path: Path, open_store: Callable[..., Store], tmp_path: Path
) -> None:
    (tmp_path / "place").mkdir()
    cli("sync", tmp_path / "place", "--yes")
    before = remembered.last_run(remembered.folder_of(str(path)))
    store = open_store(path, embedder=None)
    with store.file.engine.write() as transaction:
        assert leases.take(transaction, "sync place", "another", clock.utc_now(), 60.0)
    done = cli("sync", "--background")
    assert (done.code, done.out, done.err) == (0, "", "")
    assert remembered.last_run(remembered.folder_of(str(path))) == before


def test_the_interval_is_chosen_and_ended_also_while_the_place_is_away(
    cli: CommandLine, path: Path, tmp_path: Path
) -> None:
    place = tmp_path / "place"
    place.mkdir()
    state = remembered.folder_of(str(path))
    cli("sync", place, "--yes")
    assert cli("sync", "--every", "10s").code == 2
    cli("sync", "--every", "10m")
    assert remembered.read(state).every_seconds == 600  # type: ignore[union-attr]
    place.rename(tmp_path / "away")
    assert cli("sync", "--every", "off").code != 0
    assert remembered.read(state).every_seconds is None  # type: ignore[union-attr]


def test_a_place_of_an_earlier_version_is_not_synced_in_the_background(path: Path) -> None:
    state = remember(path)
    held = json.loads((state / remembered.FILE).read_text())
    del held["every_seconds"]
    (state / remembered.FILE).write_text(json.dumps(held))
    assert remembered.read(state) == Remembered(str(path.with_name("place")))


def _is_running() -> bool:
    return any(one.name == "memstore-syncing" for one in threading.enumerate())


@pytest.fixture
def place(tmp_path: Path) -> Path:
    made = tmp_path / "place"
    made.mkdir()
    return made


def meanwhile(monkeypatch: pytest.MonkeyPatch, act: Callable[[], object]) -> None:
    """Let something happen while the next run writes into the place."""
    real = project_files.put

    def put(*given: Any) -> None:
        monkeypatch.setattr(project_files, "put", real)
        act()
        real(*given)

    monkeypatch.setattr(project_files, "put", put)


def test_what_is_chosen_while_a_run_goes_on_holds_afterwards(
    cli: CommandLine, path: Path, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cli("sync", place, "--yes", "--every", "5m")
    state = remembered.folder_of(str(path))
    off = remembered.read(state)._replace(every_seconds=None)  # type: ignore[union-attr]
    meanwhile(monkeypatch, lambda: remembered.write(state, off))
    assert cli("sync", "--background").code == 0
    assert remembered.read(state).every_seconds is None  # type: ignore[union-attr]
    meanwhile(monkeypatch, lambda: remembered.forget(state))
    cli("sync", "--background")
    assert remembered.read(state) is None


def test_a_run_that_waited_sends_what_was_chosen_meanwhile(
    store: Store, path: Path, place: Path
) -> None:
    store.add("tea is green", subject="tea")
    store.within("private").add("the key is under the mat", subject="key")
    syncing.sync(store.file, Remembered(str(place), namespaces=("default",)))
    state = remembered.folder_of(str(path))
    every = remembered.read(state)
    assert every is not None
    remembered.write(state, every._replace(namespaces=None))
    before = syncing.chosen_for(store.file)
    taking = syncing._lease

    @contextmanager
    def lease(file: Any) -> Iterator[None]:
        remembered.write(state, before._replace(namespaces=("default",)))
        with taking(file):
            yield

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(syncing, "_lease", lease)
        done = syncing.sync(store.file, before)
    assert done.synced.went == {}
    with memstore.open(path.with_name("other.db"), embedder=None) as other:
        assert other.file.sync(place).came == {"default": 1}


def test_a_sync_by_hand_waits_for_one_in_the_background(
    cli: CommandLine, store: Store, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cli("sync", place, "--yes")
    moment = ManualClock()
    with clock.use(moment):
        with store.file.engine.write() as transaction:
            assert leases.take(transaction, "sync place", "another", clock.utc_now(), 5.0)
        done = cli("sync")
        assert (done.code, "waiting for it" in done.err) == (0, True)
        with store.file.engine.write() as transaction:
            assert leases.take(transaction, "sync place", "another", clock.utc_now(), 50.0)
        monkeypatch.setattr(face, "PATIENCE_SECONDS", 5.0)
        assert cli("sync", "--leave").code != 0
    assert cli.json("sync", "--status")["address"] == str(place)


def test_a_new_key_of_another_device_is_asked_for_where_somebody_looks(
    cli: CommandLine, place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sealing, "COST", sealing.Cost(memory_kib=64, passes=1, lanes=1))
    other = str(tmp_path / "other.db")
    phrases = [tmp_path / "old", tmp_path / "new"]
    for phrase in phrases:
        phrase.write_text(f"{phrase.name} horse")
    cli.add("Alice prefers tea")
    for words in ((), ("--db", other)):
        cli("sync", place, "--yes", "--passphrase-file", phrases[0], *words)
    assert cli("sync", "--new-key", "--passphrase-file", phrases[1], "--db", other).code == 0
    done = cli("sync", "--background")
    assert (done.code, done.out) == (1, "")
    told = cli("status").err
    assert "failed: " in told
    assert "passphrase" in told
    assert "horse" not in told + done.err
    assert cli("sync", "--passphrase-file", phrases[1]).code == 0
    assert "failed" not in cli("status").err


def test_what_only_looks_creates_no_file(cli: CommandLine, tmp_path: Path) -> None:
    missing = tmp_path / "missing.db"
    for words in (("--background",), ("--status",)):
        cli("sync", *words, "--db", missing)
    (tmp_path / "place").mkdir()
    assert cli("sync", tmp_path / "place", "--dry-run", "--db", missing).code == 0
    assert not missing.exists()
