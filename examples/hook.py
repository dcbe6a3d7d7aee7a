"""A host's hooks, called as a host calls them: python examples/hook.py.

The host runs ``memstore hook EVENT`` with the event as JSON, and gives the model what it prints.
``memstore setup`` registers exactly this with the hosts that have hooks.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import memstore


def told(database: Path, event: str, **given: str) -> str:
    """Return what the model is told at an event."""
    program = [sys.executable, "-m", "memstore", "hook", event, "--db", str(database)]
    asked = json.dumps({"hook_event_name": event, **given})
    done = subprocess.run(program, input=asked, capture_output=True, text=True, check=True)
    if not done.stdout.strip():
        return "(nothing)"
    answer: dict[str, Any] = json.loads(done.stdout)
    return str(answer["hookSpecificOutput"]["additionalContext"])


def main(folder: Path) -> None:
    database = folder / "memory.db"
    with memstore.open(database) as store:
        store.add("Deploys go out on Tuesdays", subject="team")
        store.add("Alice prefers small commits", subject="alice", category="preference")
        store.tasks.create("Renew the certificate", priority="high")

    print("-- the session begins with")
    print(told(database, "SessionStart"))
    print("-- a prompt recalls")
    print(told(database, "UserPromptSubmit", prompt="On which day do deploys go out?"))
    print("-- another has no bearing on the memory")
    print(told(database, "UserPromptSubmit", prompt="zzyzx"))


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        main(Path(name))
