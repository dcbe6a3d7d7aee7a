"""The files with what each session of a host was given."""

from __future__ import annotations

import os
import stat
import sys
from pathlib import Path

import pytest

from memstore.domain import clock
from memstore.faces.hosts import sessions
from memstore.faces.hosts.sessions import HostSession

NAME = "s1"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("XDG_DATA_HOME", "LOCALAPPDATA"):
        monkeypatch.setenv(name, str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path))
    return Path(sessions.folder())


def test_what_was_given_survives_until_the_context_is_emptied() -> None:
    assert HostSession.of(NAME, "a.db").given == ()
    HostSession.of(NAME, "a.db").with_given(["#1", "e2"])
    HostSession.of(NAME, "a.db").with_given(["e2", "e3"])
    assert HostSession.of(NAME, "a.db").given == ("#1", "e2", "e3")
    assert HostSession.of(NAME, "b.db").given == ()
    assert HostSession.of("s2", "a.db").given == ()
    HostSession.of(NAME, "a.db").emptied()
    held = HostSession.of(NAME, "a.db")
    assert held.given == ()
    assert held.emptied_at is not None
    assert held.emptied_at <= clock.utc_now()


def test_no_session_writes_nothing(folder: Path) -> None:
    HostSession.of(None, "a.db").with_given(["#1"])
    assert not folder.exists()


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no modes")
def test_files_are_private_and_follow_no_link(folder: Path, tmp_path: Path) -> None:
    file = Path(HostSession.of(NAME, "a.db").with_given(["#1"]).file or "")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    other = tmp_path / "other"
    other.write_text("mine")
    file.unlink()
    file.symlink_to(other)
    HostSession.of(NAME, "a.db").with_given(["#2"])
    assert other.read_text() == "mine"
    assert not file.is_symlink()


@pytest.mark.parametrize("damage", [b"", b"{", b"[]", b"null", b'{"given": 7, "emptied_at": 8}'])
def test_damaged_file_is_replaced(damage: bytes) -> None:
    file = Path(HostSession.of(NAME, "a.db").with_given(["#1"]).file or "")
    file.write_bytes(damage)
    assert HostSession.of(NAME, "a.db").given == ()
    HostSession.of(NAME, "a.db").with_given(["#2"])
    assert HostSession.of(NAME, "a.db").given == ("#2",)


def test_folder_that_cannot_be_written_is_no_error(folder: Path) -> None:
    folder.parent.mkdir(parents=True, exist_ok=True)
    folder.write_text("in the way")
    assert HostSession.of(NAME, "a.db").with_given(["#1"]).given == ("#1",)


def test_files_and_names_are_bounded(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sessions, "MAX_FILES", 5)
    monkeypatch.setattr(sessions, "MAX_NAMES", 10)
    for number in range(9):
        session = HostSession.of(f"s{number}", "a.db")
        session = session.with_given(f"e{place}" for place in range(number * 5))
        assert session.file is not None
        os.utime(session.file, (clock.utc_now().timestamp() - 100 + number,) * 2)
    assert len([*folder.iterdir()]) == 5
    assert HostSession.of("s8", "a.db").given == tuple(f"e{n}" for n in range(30, 40))
    assert HostSession.of("s0", "a.db").given == ()


def test_old_files_and_left_over_parts_are_deleted(folder: Path) -> None:
    old = Path(HostSession.of("old", "a.db").with_given(["#1"]).file or "")
    part = folder / "x.123"
    part.write_text("cut off by a kill")
    for file in (old, part):
        os.utime(file, (1, 1))
    HostSession.of(NAME, "a.db").with_given(["#1"])
    assert len([*folder.iterdir()]) == 1


@pytest.mark.parametrize(
    "name", ["../../x", "a/b", "C:\\x", "CON", "é" * 400, "\ud83d", "a" * 65, " "]
)
def test_any_name_of_a_session_is_one_file_in_the_folder(folder: Path, name: str) -> None:
    HostSession.of(name, "a.db").with_given(["#1"])
    assert len([*folder.iterdir()]) == 1
    assert HostSession.of(name, "a.db").given == ("#1",)


def test_only_files_of_sessions_are_forgotten(folder: Path) -> None:
    HostSession.of(NAME, "a.db").with_given(["#1"])
    for name in ("diary.txt", "0123abcd.json.bak", "notes.json"):
        (folder / name).write_text("mine")
        os.utime(folder / name, (0, 0))
    (folder / "0123abcd-folder.json").mkdir()
    old = folder / "0123abcd-s0.json"
    old.write_text("{}")
    os.utime(old, (0, 0))
    HostSession.of("s2", "a.db").with_given(["#1"])
    assert not old.exists()
    assert (folder / "0123abcd-folder.json").is_dir()
    assert {"diary.txt", "0123abcd.json.bak", "notes.json"} <= {*os.listdir(folder)}
