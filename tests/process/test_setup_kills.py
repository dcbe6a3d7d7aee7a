"""SIGKILL of ``memstore setup`` at its system calls: three rounds for each of `--kills`."""

from __future__ import annotations

import os
import random
import signal
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from memstore.faces.cli.main import main

pytestmark = [
    pytest.mark.process,
    pytest.mark.slow,
    pytest.mark.skipif(not hasattr(os, "fork"), reason="kills are those of POSIX"),
]

HOSTS = ("codex", "gemini-cli", "cursor", "zed", "windsurf", "opencode")
FILES = {
    ".codex/config.toml": '# mine\r\nmodel = "o3"\r\n\r\n[mcp_servers.other]\r\na = "x" # keep\r\n',
    ".codex/hooks.json": '{"hooks": {"SessionStart": [{"hooks": [{"command": "mine"}]}]}}',
    ".gemini/settings.json": '\ufeff{\n  // c\n  "mcpServers": {"a": {"command": "b"},},\n}\n',
    ".cursor/mcp.json": '{"mcpServers": {"memstore": {"command": "mine"}}}',
    ".cursor/hooks.json": '{"version":1,"hooks":{}}',
    ".config/zed/settings.json": '// zed\n{\n\t"theme": "One", /* x */\n}\n',
    ".codeium/windsurf/mcp_config.json": "",
}
CALLS = ("replace", "unlink", "rmdir", "fsync", "mkdir")
MAX_CALLS = 150
"""More than a set-up of all hosts makes, so that some are not killed."""


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for name in ("CODEX_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "MEMSTORE_NAMESPACE"):
        monkeypatch.delenv(name, raising=False)
    programs = tmp_path / "bin"
    programs.mkdir()
    for name in ("memstore", "memstore-mcp"):
        (programs / name).write_text("#!/bin/sh\n")
        (programs / name).chmod(0o755)
    monkeypatch.setattr("sysconfig.get_path", lambda _: str(programs))
    for name, text in FILES.items():
        file = tmp_path / "home" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode())
    return tmp_path / "home"


def contents(home: Path) -> dict[str, str]:
    return {
        str(file.relative_to(home)): file.read_bytes().decode()
        for file in home.rglob("*")
        if file.is_file()
    }


def start(*arguments: str, kill_at: int = 0) -> int:
    """Run the command in a child, which kills itself at a call; return its process id."""
    child = os.fork()
    if child:
        return child
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    os.dup2(1, 2)
    sys.stdout = sys.stderr = open(1, "w", closefd=False)  # noqa: SIM115 - until it is killed
    seen = [0]
    for name in CALLS:
        setattr(os, name, _counted(getattr(os, name), seen, kill_at))
    code = 70
    try:
        code = main(["setup", *arguments])
    finally:
        os._exit(code)


def _counted(real: Callable[..., object], seen: list[int], kill_at: int) -> Callable[..., object]:
    def call(*arguments: object, **options: object) -> object:
        _step(seen, kill_at)
        value = real(*arguments, **options)
        _step(seen, kill_at)
        return value

    return call


def _step(seen: list[int], kill_at: int) -> None:
    seen[0] += 1
    if seen[0] == kill_at:
        os.kill(os.getpid(), signal.SIGKILL)


def ended(child: int) -> int:
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def test_settings_are_restored_after_kills(
    home: Path, pytestconfig: pytest.Config, record_property: Callable[[str, object], None]
) -> None:
    chance = random.Random(1)
    killed = 0
    for number in range(3 * pytestconfig.getoption("--kills")):
        rounds = []
        for _ in range(chance.randrange(1, 4)):
            flags = chance.choice([[], ["--no-hooks"], ["--durability", "normal"], ["--uninstall"]])
            hosts = [] if "--uninstall" in flags else HOSTS
            rounds.append((flags, chance.randrange(1, MAX_CALLS)))
            killed += ended(start(*hosts, *flags, kill_at=rounds[-1][1])) == -signal.SIGKILL
        if chance.random() < 0.5:
            assert ended(start(*HOSTS)) == 0, rounds
            hooks = (home / ".codex/hooks.json").read_text()
            assert hooks.count("hook SessionStart") == 1, rounds
        assert ended(start("--uninstall")) == 0, (number, rounds)
        assert contents(home) == FILES, (number, rounds)
    record_property("counts", f"{killed} kills, every file restored")


def test_setups_at_once_lose_no_record(
    home: Path, pytestconfig: pytest.Config, record_property: Callable[[str, object], None]
) -> None:
    rounds = pytestconfig.getoption("--kills")
    for _ in range(rounds):
        children = [start(host) for host in HOSTS]
        assert [ended(child) for child in children] == [0] * len(HOSTS)
        children = [start("--uninstall") for _ in range(2)]
        assert [ended(child) for child in children] == [0, 0]
        assert contents(home) == FILES
    record_property("counts", f"{rounds * len(HOSTS)} set-ups at once, no record lost")
