"""The plugins, by the hosts' own validators, and installed from a marketplace in a folder."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

pytestmark = [pytest.mark.process, pytest.mark.slow]

ROOT = Path(__file__).parents[3]
REAL_PATH = os.environ.get("PATH", "")


@pytest.fixture
def marketplace(tmp_path: Path) -> Path:
    folder = tmp_path / "marketplace"
    for name in (".claude-plugin", "plugins"):
        shutil.copytree(ROOT / name, folder / name)
    return folder


def run(home: Path, *words: str) -> str:
    if shutil.which(words[0], path=REAL_PATH) is None:
        pytest.skip(f"{words[0]} is not installed")
    done = subprocess.run(
        words,
        cwd=home,
        env={"HOME": str(home), "PATH": REAL_PATH, "DISABLE_AUTOUPDATER": "1"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_claude_code_takes_the_plugin(home: Path, marketplace: Path) -> None:
    for place in (marketplace, marketplace / "plugins" / "memstore"):
        assert "Validation passed" in run(home, "claude", "plugin", "validate", str(place))
    run(home, "claude", "plugin", "marketplace", "add", str(marketplace))
    run(home, "claude", "plugin", "install", "memstore@memstore")
    details = run(home, "claude", "plugin", "details", "memstore")
    assert "memory, recall, remember, tasks" in details
    assert "SessionStart, UserPromptSubmit, PreCompact, SessionEnd" in details
    assert "MCP servers (1)  memstore" in details


def test_codex_takes_the_plugin(home: Path, marketplace: Path) -> None:
    (home / ".codex").mkdir()
    run(home, "codex", "plugin", "marketplace", "add", str(marketplace))
    installed = json.loads(run(home, "codex", "plugin", "add", "memstore@memstore", "--json"))
    there = Path(installed["installedPath"])
    manifest = json.loads((there / ".codex-plugin" / "plugin.json").read_text())
    assert all((there / manifest[part]).exists() for part in ("skills", "mcpServers", "hooks"))
    [listed] = json.loads(run(home, "codex", "plugin", "list", "--json"))["installed"]
    assert (listed["name"], listed["enabled"]) == ("memstore", True)
    assert "memstore" in run(home, "codex", "mcp", "list")


def test_the_bundle_for_claude_desktop_is_valid(home: Path) -> None:
    run(home, "mcpb", "validate", str(ROOT / "deploy" / "mcpb" / "manifest.json"))
