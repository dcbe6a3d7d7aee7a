"""The plugins, by the hosts' own validators, and installed from a marketplace in a folder."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from tests.support.host_models import HostModels
from tests.support.host_sessions import REAL_PATH, Session

from memstore import __version__

pytestmark = [pytest.mark.process, pytest.mark.slow]

ROOT = Path(__file__).parents[3]


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


def test_claude_code_accepts_the_plugin(home: Path, marketplace: Path) -> None:
    for place in (marketplace, marketplace / "plugins" / "memstore"):
        assert "Validation passed" in run(home, "claude", "plugin", "validate", str(place))
    run(home, "claude", "plugin", "marketplace", "add", str(marketplace))
    run(home, "claude", "plugin", "install", "memstore@memstore")
    details = run(home, "claude", "plugin", "details", "memstore")
    assert "distil, memory, recall, remember, tasks" in details
    assert "SessionStart, UserPromptSubmit, PreCompact, SessionEnd" in details
    assert "MCP servers (1)  memstore" in details


def test_codex_accepts_the_plugin(home: Path, marketplace: Path) -> None:
    (home / ".codex").mkdir()
    run(home, "codex", "plugin", "marketplace", "add", str(marketplace))
    installed = json.loads(run(home, "codex", "plugin", "add", "memstore@memstore", "--json"))
    there = Path(installed["installedPath"])
    manifest = json.loads((there / ".codex-plugin" / "plugin.json").read_text())
    assert all((there / manifest[part]).exists() for part in ("skills", "mcpServers", "hooks"))
    [listed] = json.loads(run(home, "codex", "plugin", "list", "--json"))["installed"]
    assert (listed["name"], listed["enabled"]) == ("memstore", True)
    assert "memstore" in run(home, "codex", "mcp", "list")


CLAIM = "Ana drinks lapsang in the morning"
STORED = {"content": CLAIM, "subject": "ana", "category": "project"}
UVX = f"""\
#!/bin/sh
# What uvx does with a package of the index.
case "$1 $2" in
"--from pymemstore=={__version__}") shift 2 ;;
"pymemstore@{__version__} "*) shift; set -- memstore-mcp "$@" ;;
*) echo "what is $1 $2?" >&2; exit 2 ;;
esac
program=$1; shift
exec "$(dirname "$0")/$program" "$@"
"""


@pytest.mark.parametrize("host", ["claude-code", "codex"])
def test_the_server_and_the_hooks_of_the_plugin_work(
    home: Path, programs: Path, models: HostModels, marketplace: Path, host: str
) -> None:
    uvx = programs / "uvx"
    uvx.write_text(UVX)
    uvx.chmod(0o755)
    session = Session(home, programs, models)
    if host == "claude-code":
        session.run("claude", "plugin", "marketplace", "add", str(marketplace))
        session.run("claude", "plugin", "install", "memstore@memstore")
    else:
        (home / ".codex").mkdir()
        session.run("codex", "plugin", "marketplace", "add", str(marketplace))
        session.run("codex", "plugin", "add", "memstore@memstore")
    models.tool, models.arguments = "memory_store", STORED
    session.ask(host, "my drink in the morning is lapsang")
    models.tool = ""
    assert CLAIM in session.ask(host, "order something for breakfast")


def test_the_bundle_for_claude_desktop_is_valid_and_starts(home: Path, tmp_path: Path) -> None:
    source = ROOT / "deploy" / "mcpb"
    run(home, "mcpb", "validate", str(source / "manifest.json"))
    run(home, "mcpb", "pack", str(source), str(tmp_path / "memstore.mcpb"))
    there = tmp_path / "bundle"
    with zipfile.ZipFile(tmp_path / "memstore.mcpb") as packed:
        packed.extractall(there)
    manifest = json.loads((there / "manifest.json").read_text())
    assert manifest["server"]["mcp_config"]["args"][-1] == manifest["server"]["entry_point"]
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}}
    hello |= {"clientInfo": {"name": "test", "version": "1"}}
    asked = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}
    done = subprocess.run(
        [sys.executable, str(there / manifest["server"]["entry_point"])],
        input=json.dumps(asked) + "\n",
        env=os.environ | {"MEMSTORE_DB": str(tmp_path / "memory.db")},
        capture_output=True,
        encoding="utf-8",
        timeout=60,
        check=True,
    )
    assert json.loads(done.stdout)["result"]["serverInfo"]["version"] == manifest["version"]
