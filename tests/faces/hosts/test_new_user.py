"""The steps of a new user, in an empty home: set-up, first memory, second session, uninstall.

With ``MEMSTORE_WHEEL`` the programs are those of that wheel, in an environment of its own.
"""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
import sysconfig
import tomllib
from pathlib import Path
from typing import Any

import pytest

import memstore

pytestmark = [
    pytest.mark.process,
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform == "win32", reason="its programs are scripts"),
]

WHEEL = os.environ.get("MEMSTORE_WHEEL")
CLAIM = "Ana drinks lapsang in the morning"
SYSTEM_PATH = "/usr/bin:/bin"


@pytest.fixture
def bin_folder(tmp_path: Path) -> Path:
    """The folder of the user's programs: an environment with the wheel, or the tested one."""
    environment = tmp_path / "venv"
    folder = environment / "bin"
    if WHEEL is not None:
        subprocess.run([sys.executable, "-m", "venv", environment], check=True)
        subprocess.run([folder / "pip", "install", "-q", WHEEL], check=True)
        return folder
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", environment], check=True)
    [packages] = environment.glob("lib/python*/site-packages")
    where = [str(Path(memstore.__file__).parents[1]), sysconfig.get_path("purelib")]
    (packages / "tested.pth").write_text("\n".join(where))
    for name, entry in (("memstore", "command_line"), ("memstore-mcp", "mcp_server")):
        start = f"import sys\nfrom memstore.__main__ import {entry}\nsys.exit({entry}())\n"
        (folder / name).write_text(f"#!{folder / 'python'}\n{start}")
        (folder / name).chmod(0o755)
    return folder


def run(home: Path, line: str, given: str = "", **environment: str) -> str:
    """Run a command as a shell with a minimal environment does."""
    done = subprocess.run(
        ["/bin/sh", "-c", line],
        input=given,
        cwd=home / "api",
        env={"HOME": str(home), "PATH": SYSTEM_PATH, "LANG": "C.UTF-8", **environment},
        capture_output=True,
        encoding="utf-8",
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def request(number: int, method: str, **params: Any) -> str:
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params})


def all_of(home: Path) -> set[str]:
    return {str(path.relative_to(home)) for path in home.rglob("*")}


def test_a_new_user_installs_remembers_and_uninstalls(home: Path, bin_folder: Path) -> None:
    (home / "api" / ".git").mkdir(parents=True)
    before = all_of(home)
    program = shlex.quote(str(bin_folder / "memstore"))
    run(home, f"{program} setup codex gemini-cli cursor")
    for seen in json.loads(run(home, f"{program} setup --check --json")):
        assert seen["works"], seen

    # the first session: the host starts the server, and the model stores something
    registered = tomllib.loads((home / ".codex" / "config.toml").read_text())
    server = registered["mcp_servers"]["memstore"]
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}}
    hello["clientInfo"] = {"name": "host", "version": "1"}  # type: ignore[assignment]
    stored = {"content": CLAIM, "subject": "ana", "category": "project"}
    said = [
        request(1, "initialize", **hello),
        request(2, "tools/call", name="memory_store", arguments=stored),
    ]
    line = shlex.join([server["command"], *server["args"]])
    answers = run(home, line, "\n".join(said) + "\n", **server.get("env", {}))
    assert "#1 active" in answers

    # the second one begins with it
    hooks = json.loads((home / ".codex" / "hooks.json").read_text())["hooks"]
    [at_start] = hooks["SessionStart"]
    event = json.dumps({"cwd": str(home / "api"), "session_id": "2"})
    assert CLAIM in run(home, at_start["hooks"][0]["command"], event)
    assert "~/api" in run(home, f"{program} where")

    run(home, f"{program} setup --uninstall")
    memories = {path for path in all_of(home) if path.startswith(".local/share/memstore")}
    assert all_of(home) - memories - {".local", ".local/share"} == before
    folder = Path(".local/share/memstore")
    beside = {Path(path).relative_to(folder).parts[:1] for path in memories} - {()}
    assert all(name.startswith("memory.db") or name == "sessions" for (name,) in beside)
