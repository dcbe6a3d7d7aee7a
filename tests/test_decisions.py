"""The decisions: short, and all in the index, with what replaced them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.support.sources import SOURCE, rooms

ROOT = Path(__file__).parent.parent
DECISIONS = ROOT / "docs" / "decisions"
FILES = sorted(DECISIONS.glob("0*.md"))
ROW = re.compile(r"^\| (\d+) \| \[(.+)\]\((\S+\.md)\) \| (.+) \|$", re.MULTILINE)
PLACE = re.compile(r"`([\w.-]+(?:/[\w.-]*)+|\w+\.(?:py|rs))(?:#[\w-]+|: (\w+))?(?: [^`]*)?`")
"""A file or folder of the project as a decision names it, and perhaps a name in it. Paths of the
system (``/dev``, ``~/work``) are not of the project."""
OF_THE_USER = {"hooks/", "sessions/"}
"""Folders beside the user's memories."""
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


@pytest.fixture(scope="module")
def places() -> dict[str, Path]:
    """Every file and folder, by each of the ends of its path that a text may name it by."""
    found: dict[str, Path] = {}
    tops = ("python", "rust", "tests", "benches", "docs", ".ci", ".github", "plugins", "deploy")
    for top in map(ROOT.joinpath, tops):
        for path in (top, *top.rglob("*")):
            parts = path.relative_to(ROOT).parts
            for first in range(len(parts)):
                end = "/".join(parts[first:])
                found[end] = found[end.removesuffix(".py")] = path
    return found


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_what_a_decision_names_exists(file: Path, places: dict[str, Path]) -> None:
    for place, name in PLACE.findall(file.read_text(encoding="utf-8")):
        if place in OF_THE_USER:
            continue
        path = places.get(place.rstrip("/"))
        assert path is not None, place
        assert not name or re.search(rf"\b{name}\b", path.read_text(encoding="utf-8")), name


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_decision_is_short(file: Path) -> None:
    _, *lines = filter(None, file.read_text(encoding="utf-8").splitlines())
    assert len(lines) <= LINES
    assert [line for line in lines if len(line) > 120 and not line.startswith("|")] == []


def test_the_index_is_ordered_by_the_folders_of_the_picture() -> None:
    text = (DECISIONS / "README.md").read_text(encoding="utf-8")
    whole, *headings = re.findall(r"^## (.+)$", text, re.MULTILINE)
    assert whole == "The whole package"
    pictured = [name.removesuffix("*") for name in rooms()]
    assert [heading.split("/")[0] for heading in headings] == sorted(
        (heading.split("/")[0] for heading in headings), key=pictured.index
    )
    for heading in headings:
        assert (SOURCE / heading).exists() or (SOURCE / f"{heading}.py").exists(), heading
    for section in re.split(r"^## ", text, flags=re.MULTILINE)[1:]:
        numbers = [int(number) for number, *_ in ROW.findall(section)]
        assert numbers, section
        assert numbers == sorted(numbers), section.splitlines()[0]
