"""What the types of the package accept in a user's code, checked by mypy."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from mypy import api

USER = """
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

import memstore

class Lists:
    model = "lists"
    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        return [[1.0, 0.0] for _ in texts]

class Arrays:
    model = "arrays"
    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return np.ones((len(texts), 2), np.float32)

class Doubles:
    model = "doubles"
    def embed(self, texts: Sequence[str]) -> NDArray[np.float64]:
        return np.ones((len(texts), 2))

class Rows:
    model = "rows"
    def embed(self, texts: Sequence[str]) -> list[NDArray[np.float32]]:
        return [np.ones(2, np.float32) for _ in texts]

for embedder in (Lists(), Arrays(), Doubles(), Rows()):
    made: memstore.Embedder = embedder
    store = memstore.open(":memory:", embedder=made)
    assert store.add("text", subject="s").embedded
    store.close()
"""

WRONG = """
from collections.abc import Sequence

import memstore

class Texts:
    model = "texts"
    def embed(self, texts: Sequence[str]) -> list[list[str]]:
        return [[]]

memstore.open(":memory:", embedder=Texts())
"""


@pytest.mark.slow
def test_embedders_of_lists_or_arrays_are_accepted_and_work_those_of_texts_are_refused(
    tmp_path: Path,
) -> None:
    right, wrong = tmp_path / "right.py", tmp_path / "wrong.py"
    right.write_text(USER, "utf-8")
    wrong.write_text(WRONG, "utf-8")
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    flags = ["--strict", "--python-version", version, "--cache-dir", str(tmp_path / "cache")]
    told, errors, _ = api.run([*flags, "--config-file=", str(right), str(wrong)])
    assert not errors
    assert "right.py" not in told, told
    assert 'incompatible type "Texts"' in told
    exec(compile(USER, "user.py", "exec"), {"__name__": "user"})
