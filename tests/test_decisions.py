"""The decisions: short, and all in the index, with what replaced them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

DECISIONS = Path(__file__).parent.parent / "docs" / "decisions"
FILES = sorted(DECISIONS.glob("0*.md"))
ROW = re.compile(r"^\| (\d+) \| \[(.+)\]\((\S+\.md)\) \| (.+) \|$", re.MULTILINE)
LINES = 30
"""How long a decision may be, without its title and empty lines."""


def texts() -> dict[str, list[str]]:
    return {file.name: file.read_text(encoding="utf-8").splitlines() for file in FILES}


def index() -> dict[str, tuple[str, str]]:
    """Return the title and the status of each decision in the index, by its file."""
    rows = ROW.findall((DECISIONS / "README.md").read_text(encoding="utf-8"))
    return {file: (f"# {number}. {title}", status) for number, title, file, status in rows}


def test_the_index_lists_every_decision_by_its_title() -> None:
    titles = {name: lines[0] for name, lines in texts().items()}
    assert {name: title for name, (title, _) in index().items()} == titles
    assert all(int(name[:4]) == int(title.split()[1][:-1]) for name, title in titles.items())


def test_a_superseded_decision_and_the_index_name_its_successors() -> None:
    for name, (_, status) in index().items():
        head = re.sub(r"\s+", " ", " ".join(texts()[name][:6]))
        if status == "holds":
            assert "**Superseded" not in head, name
            continue
        assert re.fullmatch(r"superseded (in part )?by .+", status), name
        assert "**Superseded" in head, name
        for number, file in re.findall(r"\[(\d+)\]\((\S+)\)", status):
            assert file in texts(), name
            assert re.search(rf"decisions? (\d+ and )?{number}\b", head), (name, number)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_decision_is_short(file: Path) -> None:
    _, *lines = filter(None, file.read_text(encoding="utf-8").splitlines())
    assert len(lines) <= LINES
    assert [line for line in lines if len(line) > 120 and not line.startswith("|")] == []
