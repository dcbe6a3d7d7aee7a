"""The benchmark harness runs, on a small memory, without measuring."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.mark.process
@pytest.mark.model
def test_the_harness_runs_and_keeps_what_it_made(tmp_path: Path) -> None:
    command = (
        *(sys.executable, "-m", "pytest", "benches/test_facts.py", "--benchmark-disable", "-q"),
        *("-p", "no:cacheprovider", "--facts", "200", "--made", str(tmp_path)),
        *("-k", "test_add or hybrid or recall or scan or merge or codec"),
    )
    done = subprocess.run(command, cwd=ROOT, capture_output=True, encoding="utf-8", check=False)
    assert done.returncode == 0, done.stdout
    assert "failed" not in done.stdout
    assert len([*tmp_path.glob("*/facts-200.db")]) == 1
    assert len([*tmp_path.glob("*/vectors-200x256.npy")]) == 1
