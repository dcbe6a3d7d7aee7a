"""The examples run as they are, and print what they claim."""

from __future__ import annotations

import runpy
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parent.parent / "examples"
PRINTED = {
    "quick_start": ("found     Alice moved to Lisbon", "restored  Alice moved to Lisbon"),
    "conversation": ("found    Ana has a cat named Miso", "others   []"),
    "own_embedder": ("misspelt  Zoë plays the harpsichord", "switched  letters-3: 2 texts"),
    "prompt": ("e3 alice: Then we meet there at half past eight.", "(0 left out)"),
}
STARTS_PROCESSES = {
    "hook": ("#1 team: Deploys go out on Tuesdays", "(nothing)"),
    "mcp_client": (
        "found   Alice prefers light mode",
        "history active      Alice prefers dark mode",
    ),
}


def test_every_example_is_run_and_listed() -> None:
    names = {example.stem for example in EXAMPLES.glob("*.py")}
    page = (EXAMPLES / "README.md").read_text("utf-8")
    assert names == PRINTED.keys() | STARTS_PROCESSES.keys()
    assert all(f"[{name}.py]({name}.py)" in page for name in names)


@pytest.mark.parametrize("name", PRINTED)
def test_example_prints_what_it_claims(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(EXAMPLES / f"{name}.py"), run_name="__main__")
    assert not {*PRINTED[name]} - {*capsys.readouterr().out.splitlines()}


@pytest.mark.process
@pytest.mark.parametrize("name", STARTS_PROCESSES)
def test_example_that_starts_a_program_prints_what_it_claims(name: str) -> None:
    done = subprocess.run(
        [sys.executable, "-X", "utf8", str(EXAMPLES / f"{name}.py")],
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert all(line in done.stdout for line in STARTS_PROCESSES[name])
