"""Prints the notes of a release, its section of CHANGELOG.md: ``release_notes.py vX.Y.Z``."""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parent.parent


def notes(tag: str, version: str, changelog: str) -> str:
    """Refuse a tag that is not of the version, and a section without a date."""
    if tag != f"v{version}":
        raise SystemExit(f"the tag is {tag}, and the version {version}")
    head = rf"^## {re.escape(version)} - \d{{4}}-\d\d-\d\d$"
    found = re.search(rf"{head}(.*?)(?=^## |\Z)", changelog, re.MULTILINE | re.DOTALL)
    if found is None:
        raise SystemExit(f"CHANGELOG.md has no section {version} with a date")
    return found[1].strip()


if __name__ == "__main__":
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    changelog = (ROOT / "CHANGELOG.md").read_text("utf-8")
    print(notes(sys.argv[1], project["version"], changelog))
