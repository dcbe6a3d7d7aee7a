"""The default location of a user's memories."""

from __future__ import annotations

import sys

import pytest

from memstore import settings


@pytest.mark.skipif(sys.platform == "win32", reason="paths of POSIX")
@pytest.mark.parametrize(
    ("platform", "named", "file"),
    [
        ("linux", None, "/home/ana/.local/share/memstore/memory.db"),
        ("linux", "", "/home/ana/.local/share/memstore/memory.db"),
        ("linux", "relative", "/home/ana/.local/share/memstore/memory.db"),
        ("linux", "/data", "/data/memstore/memory.db"),
        ("freebsd14", "/data", "/data/memstore/memory.db"),
        ("darwin", "/data", "/home/ana/Library/Application Support/memstore/memory.db"),
        ("win32", "/data", "/home/ana/AppData/Local/memstore/memory.db"),
    ],
)
def test_the_default_file_is_in_the_systems_data_folder(
    monkeypatch: pytest.MonkeyPatch, platform: str, named: str | None, file: str
) -> None:
    monkeypatch.setattr(sys, "platform", platform)
    monkeypatch.setenv("HOME", "/home/ana")
    monkeypatch.delenv("LOCALAPPDATA", raising=False)
    if named is None:
        monkeypatch.delenv("XDG_DATA_HOME", raising=False)
    else:
        monkeypatch.setenv("XDG_DATA_HOME", named)
    assert settings.default_path() == file


def test_the_default_file_on_windows_is_in_the_local_folder(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys, "platform", "win32")
    folder = "C:\\Users\\ana\\AppData\\Local" if settings.os.name == "nt" else "/c/local"
    monkeypatch.setenv("LOCALAPPDATA", folder)
    assert settings.default_path().startswith(folder)
