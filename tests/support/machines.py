"""Machines of one user: each with a home, programs, and what the environment says there."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import memstore

PHRASE = "correct horse"


def install(folder: Path, program: str, entry: str) -> None:
    """Put a program of this package into a folder, as pip does."""
    package = Path(memstore.__file__).parents[1]
    script = folder / program
    script.write_text(
        f"#!{sys.executable}\nimport sys\nsys.path.insert(0, {str(package)!r})\n"
        f"from memstore.__main__ import {entry}\nsys.exit({entry}())\n"
    )
    script.chmod(0o755)


class Machine:
    """A user's home on a machine with memstore and Codex."""

    def __init__(self, home: Path, programs: Path, **variables: str) -> None:
        self.home = home
        self.programs = programs
        self.variables = variables
        (home / ".codex").mkdir(parents=True)
        self.phrase = home / "phrase"
        self.phrase.write_text(PHRASE)

    @property
    def environment(self) -> dict[str, str]:
        kept = {name: os.environ[name] for name in ("PYTHONPATH",) if name in os.environ}
        return kept | {
            "HOME": str(self.home),
            "XDG_DATA_HOME": str(self.home / "data"),
            "PATH": f"{self.programs}:/usr/bin:/bin",
            "MEMSTORE_EMBEDDER": "none",
            **self.variables,
        }

    def run(
        self, *words: object, given: str = "", folder: Path | None = None
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [self.programs / "memstore", *map(str, words)],
            env=self.environment,
            cwd=folder or self.home,
            input=given,
            capture_output=True,
            encoding="utf-8",
            timeout=120,
            check=False,
        )

    def told(self, *words: object, given: str = "", folder: Path | None = None) -> str:
        """Return what a command prints; it must succeed."""
        done = self.run(*words, given=given, folder=folder)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def hook(self, event: str, **more: Any) -> str:
        given = {"session_id": "s1", "source": "startup", "cwd": str(self.home), **more}
        return self.told("hook", event, "--host", "codex", given=json.dumps(given))

    def knows(self, text: str) -> bool:
        return text in self.told("list")
