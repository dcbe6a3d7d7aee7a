"""Runs real hosts without an account: a stand-in for the model records their requests."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from tests.support.host_models import HostModels

import memstore

REAL_PATH = os.environ.get("PATH", "")


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
        if shutil.which(words[0], path=REAL_PATH) is None:
            pytest.skip(f"{words[0]} is not installed")
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
        """Give the host a prompt, and return the first request to the model with this prompt."""
        self.models.requests.clear()
        self.run(*HOSTS[host](self, prompt))
        for path, request in self.models.requests:
            text = json.dumps(request, ensure_ascii=False)
            if prompt in text and "ount" not in path:
                return text
        raise AssertionError(f"{host} did not ask that: {self.models.requests}")


ALLOWED = ",".join(
    f"mcp__{server}__{tool}"
    for server in ("memstore", "plugin_memstore_memstore")
    for tool in ("memory_store", "memory_search")
)


def claude(session: Session, prompt: str) -> list[str]:
    return ["claude", "-p", prompt, "--allowedTools", ALLOWED]


def codex(session: Session, prompt: str) -> list[str]:
    config = session.home / ".codex" / "config.toml"
    held = config.read_text() if config.exists() else ""
    if "stub" not in held:
        config.write_text(
            f'model = "gpt-5"\nmodel_provider = "stub"\n{held}\n'
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
