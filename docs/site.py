"""Builds the site into ``site/``: ``python docs/site.py``, or with ``--pages`` only the reference.

Writes the reference from the docstrings, has zensical build everything and check the links, and
adds each page as Markdown and ``llms.txt``, which lists them.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
DOCS, SITE = ROOT / "docs", ROOT / "site"
sys.path.insert(0, str(DOCS))

import reference  # noqa: E402 - beside this file


def configuration() -> dict[str, Any]:
    project: dict[str, Any] = tomllib.loads((ROOT / "zensical.toml").read_text("utf-8"))["project"]
    return project


def write_reference() -> None:
    folder = DOCS / "reference"
    folder.mkdir(exist_ok=True)
    for name, text in reference.pages().items():
        (folder / name).write_text(text, "utf-8")


def listed(navigation: list[Any]) -> list[tuple[str, list[tuple[str, str]]]]:
    """Return the groups of the navigation: the name, and the title and file of each page."""
    groups = []
    for entry in navigation:
        ((name, inside),) = entry.items()
        pages = [{name: inside}] if isinstance(inside, str) else inside
        groups.append((name, [(title, file) for page in pages for title, file in page.items()]))
    return groups


def llms_txt(project: dict[str, Any]) -> str:
    """Return the site's contents for language models: each page as Markdown."""
    lines = [f"# {project['site_name']}", "", f"> {project['site_description']}."]
    for group, pages in listed(project["nav"]):
        lines += ["", f"## {group}", ""]
        lines += [f"- [{title}]({project['site_url']}{file})" for title, file in pages]
    return "\n".join([*lines, ""])


def add_markdown(project: dict[str, Any]) -> None:
    for program in SITE.glob("*.py"):
        program.unlink()
    for page in DOCS.rglob("*.md"):
        shutil.copy(page, SITE / page.relative_to(DOCS))
    (SITE / "llms.txt").write_text(llms_txt(project), "utf-8")


def main() -> None:
    write_reference()
    if "--pages" in sys.argv:
        return
    shutil.rmtree(SITE, ignore_errors=True)
    subprocess.run(["zensical", "build", "--strict"], cwd=ROOT, check=True)  # noqa: S607 - of this environment
    add_markdown(configuration())


if __name__ == "__main__":
    main()
