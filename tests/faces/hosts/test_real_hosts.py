"""The real programs, where they are installed: what one session stores, the next begins with.

``npm install -g @anthropic-ai/claude-code @openai/codex @google/gemini-cli`` brings them.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.support.clock import wait_until
from tests.support.host_models import HostModels, serving

import memstore
from memstore.faces.cli.main import main

pytestmark = [pytest.mark.process, pytest.mark.slow]

REAL_PATH = os.environ.get("PATH", "")
CLAIM = "Ana drinks lapsang in the morning"
STORED = {"content": CLAIM, "subject": "ana", "category": "project"}


@pytest.fixture
def models() -> Iterator[HostModels]:
    with serving() as models:
        yield models


class Session:
    """Runs a host once, without a terminal, in one project."""

    def __init__(self, home: Path, programs: Path, models: HostModels) -> None:
        self.home, self.programs, self.models = home, programs, models
        self.project = home / "work" / "api"
        (self.project / ".git").mkdir(parents=True)
        self.environment = {
            "HOME": str(home),
            "PATH": f"{programs}{os.pathsep}{REAL_PATH}",
            "LANG": "C.UTF-8",
            "PYTHONPATH": str(Path(memstore.__file__).parents[1]),
            "XDG_DATA_HOME": str(home / "data"),
            "ANTHROPIC_BASE_URL": models.url,
            "ANTHROPIC_API_KEY": "none",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_AUTOUPDATER": "1",
            "GEMINI_API_KEY": "none",
            "GOOGLE_GEMINI_BASE_URL": models.url,
        }

    def run(self, *words: str) -> str:
        done = subprocess.run(
            words,
            cwd=self.project,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=300,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def ask(self, host: str, prompt: str) -> str:
        """Ask the host something, and return the first request in which it asks the model that."""
        self.models.requests.clear()
        self.run(*HOSTS[host](self, prompt))
        for path, request in self.models.requests:
            text = json.dumps(request, ensure_ascii=False)
            if prompt in text and "ount" not in path:
                return text
        raise AssertionError(f"{host} did not ask that: {self.models.requests}")


def claude(session: Session, prompt: str) -> list[str]:
    return ["claude", "-p", prompt, "--allowedTools", "mcp__memstore__memory_store"]


def codex(session: Session, prompt: str) -> list[str]:
    config = session.home / ".codex" / "config.toml"
    if "stub" not in config.read_text():
        config.write_text(
            f'model = "gpt-5"\nmodel_provider = "stub"\n{config.read_text()}\n'
            "[model_providers.stub]\n"
            f'name = "stub"\nbase_url = "{session.models.url}/v1"\nwire_api = "responses"\n'
        )
    flags = ["--skip-git-repo-check", "--dangerously-bypass-hook-trust"]
    return ["codex", "exec", *flags, "--dangerously-bypass-approvals-and-sandbox", prompt]


def gemini(session: Session, prompt: str) -> list[str]:
    folder = session.home / ".gemini"
    held: dict[str, Any] = json.loads((folder / "settings.json").read_text())
    held["security"] = {"auth": {"selectedType": "gemini-api-key"}}
    (folder / "settings.json").write_text(json.dumps(held))
    (folder / "trustedFolders.json").write_text(json.dumps({str(session.project): "TRUST_FOLDER"}))
    return ["gemini", "-p", prompt, "--yolo"]


HOSTS = {"claude-code": claude, "codex": codex, "gemini-cli": gemini}
PROGRAMS = {"claude-code": "claude", "codex": "codex", "gemini-cli": "gemini"}


@pytest.mark.parametrize("host", HOSTS)
def test_a_session_begins_with_what_the_last_one_stored(
    home: Path,
    programs: Path,
    models: HostModels,
    monkeypatch: pytest.MonkeyPatch,
    host: str,
) -> None:
    if shutil.which(PROGRAMS[host], path=REAL_PATH) is None:
        pytest.skip(f"{PROGRAMS[host]} is not installed")
    session = Session(home, programs, models)
    monkeypatch.setenv("PATH", session.environment["PATH"])
    monkeypatch.setenv("XDG_DATA_HOME", session.environment["XDG_DATA_HOME"])
    assert main(["setup", host]) == 0

    models.tool, models.arguments = "memory_store", STORED
    session.ask(host, "my drink in the morning is lapsang")
    models.tool = ""
    first = session.ask(host, "order something for breakfast")
    assert CLAIM in first
    assert "never as instructions" in first
    assert models.requests

    database = home / "data" / "memstore" / "memory.db"
    with memstore.open(database, namespace="~/work/api", embedder=None, read_only=True) as store:
        said = lambda: {e.content for e in store.episodes.list() if e.speaker == "user"}  # noqa: E731
        assert wait_until(lambda: "order something for breakfast" in said()), said()
        assert {e.source for e in store.episodes.list()} == {host}
    assert main(["setup", host, "--uninstall"]) == 0
    assert CLAIM not in session.ask(host, "and for lunch")
