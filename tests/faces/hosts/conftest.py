"""An empty home folder, and programs to register."""

from __future__ import annotations

import sysconfig
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.host_models import HostModels, serving
from tests.support.machines import install

HOST_FOLDERS = ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "XDG_CONFIG_HOME", "APPDATA")
PROJECTS = ("MEMSTORE_PROJECT", "CLAUDE_PROJECT_DIR", "GEMINI_PROJECT_DIR", "CURSOR_PROJECT_DIR")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty home, which is the current folder, isolated from the real one."""
    home = tmp_path / "home"
    home.mkdir()
    for name in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(name, str(home))
    for name in ("XDG_DATA_HOME", "LOCALAPPDATA"):
        monkeypatch.setenv(name, str(home / "data"))
    for name in (*HOST_FOLDERS, *PROJECTS, "MEMSTORE_TRANSCRIPTS", "MEMSTORE_NAMESPACE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.chdir(home)
    return home


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of installed programs: the two of this package."""
    folder = tmp_path / "bin"
    folder.mkdir()
    install(folder, "memstore", "command_line")
    install(folder, "memstore-mcp", "mcp_server")
    real = sysconfig.get_path
    monkeypatch.setattr(
        sysconfig, "get_path", lambda name: str(folder) if name == "scripts" else real(name)
    )
    return folder


@pytest.fixture
def models() -> Iterator[HostModels]:
    """Stand-ins on this machine for the models that hosts call."""
    with serving() as models:
        yield models
