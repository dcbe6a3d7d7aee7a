"""What agents are told, for the eye: cut into its groups, each with its tokens, and ids as links.

The text itself is not touched: the pieces together are letter for letter what the hook prints.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from memstore.faces.hosts import tags
from memstore.named import NamedTuple
from memstore.providers.local import TokenCounter

if TYPE_CHECKING:
    from collections.abc import Iterator

NAMES: Final = {
    "Open tasks": "tasks",
    "About the user": "you",
    "Last sessions": "last sessions",
    "Since then": "since then",
}
"""What the page calls the groups of a briefing, by their titles; the others are the project's."""

NEWEST: Final = "newest"

STEPS: Final = ("d1", "d2", "d3", "d5")
"""The colours of groups, in their order."""

NAMED: Final = re.compile(r"(?:- (?:\d{4}-\d\d-\d\d )?)?(?P<kind>#|e)(?P<id>\d{1,18})(?=[ \[])")
"""The beginning of a line about a fact or a turn."""


class Line(NamedTuple):
    """A line of the text: what is before a name, the name and where it leads, and the rest."""

    before: str
    name: str
    path: str
    rest: str


class Group(NamedTuple):
    """Lines that belong together.

    Attributes:
        name: what the page calls it; empty for what the hook adds around the others.
        step: its colour.
        start: where it begins in the bar, in per cent of the budget.
        width: how wide it is there.
    """

    name: str
    step: str
    tokens: int
    lines: list[Line]
    start: float = 0
    width: float = 0


class RecalledText(NamedTuple):
    """A text as the page shows it."""

    text: str
    tokens: int
    groups: list[Group]

    @property
    def named(self) -> list[Group]:
        return [group for group in self.groups if group.name]


def of(text: str, budget: int, *, titled: bool) -> RecalledText:
    """Return a text that a hook prints, cut into groups.

    Args:
        titled: whether its groups have titles, as those of a briefing; else it is one group.
    """
    count = TokenCounter()
    found: list[Group] = []
    place = 0.0
    for name, lines in _grouped(text.split("\n"), titled=titled):
        tokens = count("\n".join(lines)) + 1  # the end of its last line
        named = [group for group in found if group.name]
        before = named[-1].step if named else ""
        place_of = len({group.step for group in named})
        step = STEPS[min(place_of, len(STEPS) - 1)] if name else ""
        if name == NEWEST and before:  # of the project, too
            step = before
        width = round(100 * tokens / budget, 2) if name else 0.0
        found.append(Group(name, step, tokens, [*map(_line, lines)], round(place, 2), width))
        place += width
    return RecalledText(text, count(text), found)


def _grouped(lines: list[str], *, titled: bool) -> Iterator[tuple[str, list[str]]]:
    """Yield the name of each group and its lines; what stands around them has no name."""
    group: list[str] = []
    name = ""
    for place, line in enumerate(lines):
        is_around = place == 0 or line == tags.DATA
        begins = _name(line) if titled and not is_around else ""
        if place and (is_around or begins):
            yield name, group
            group, name = [], begins
        elif place == 1:  # below the first line, without a title
            yield name, group
            group, name = [], "recalled"
        group.append(line)
    yield name, group


def _name(line: str) -> str:
    """Return the name of the group that a line begins; empty if it begins none."""
    if line.startswith(("- ", "  ")) or NAMED.match(line) or ":" not in line:
        return ""
    title = line.partition(":")[0]
    if line.startswith("Since then: "):
        return NAMES[title]
    if not line.endswith(":"):
        return ""
    if title in NAMES:
        return NAMES[title]
    return NEWEST if title.startswith("Newest of ") else "project"


def _line(line: str) -> Line:
    found = NAMED.match(line)
    if found is None:
        return Line(line, "", "", "")
    begin = found.start("kind")
    path = f"{'fact' if found['kind'] == '#' else 'episode'}/{found['id']}"
    return Line(line[:begin], line[begin : found.end()], path, line[found.end() :])
