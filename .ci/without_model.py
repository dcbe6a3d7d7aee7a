"""Takes the built-in model out of a copy of the sources: ``without_model.py FOLDER``.

For distributions that cannot take its licence: docs/packaging.md.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

REPLACED = (
    ('"MIT AND LicenseRef-Llama-2-Community"  # the latter for the built-in model: 0043', '"MIT"'),
    (', "rust/kernel/model/NOTICE", "rust/kernel/model/LICENSE.*"]', "]"),
    ("[tool.maturin]\n", "[tool.maturin]\nno-default-features = true\n"),
)


def without_model(project: str) -> str:
    """Return ``pyproject.toml`` for a build without the model."""
    for old, new in REPLACED:
        if project.count(old) != 1:
            raise SystemExit(f"pyproject.toml does not contain once: {old.strip()}")
        project = project.replace(old, new)
    return project


if __name__ == "__main__":
    root = Path(sys.argv[1])
    project = root / "pyproject.toml"
    project.write_text(without_model(project.read_text("utf-8")), "utf-8")
    shutil.rmtree(root / "rust/kernel/model")
