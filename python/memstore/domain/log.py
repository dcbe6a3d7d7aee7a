"""The log: what was done to the memory, an act at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from memstore.domain import zones
from memstore.domain.arguments import (
    MAX_NUMBER,
    checked_id,
    checked_items,
    checked_limit,
    checked_number,
    checked_text,
)
from memstore.domain.plans import Selection, selection
from memstore.domain.records import Record
from memstore.domain.trust import Trust
from memstore.errors import InvalidArgument
from memstore.frozen import field, frozen
from memstore.named import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable
    from datetime import date, datetime

    from memstore.domain.queries import LineNarrowing
    from memstore.domain.records import Fact, Scope

MAX_CLAIMS: Final = 20
"""Texts of facts that each change of an act carries."""

MAX_LISTED: Final = 100
"""Of more facts or episodes that an act added, only the first ones are listed."""

SHOWN_CLAIMS: Final = 3
SHOWN_CHARACTERS: Final = 80
"""How many of them a line shows, and how much of each."""

SHOWN_LINES: Final = 8

ERASED: Final = "(erased)"
DISTRUSTED: Final = f"({Trust.DISTRUSTED})"


class Outline(NamedTuple):
    """What a line tells of a fact that is one of many."""

    id: int
    uuid: str
    namespace: str
    subject: str
    content: str
    scope: Scope
    status: str = ""
    """``erased`` or ``distrusted`` as :attr:`Fact.status`, or nothing."""


def claim_of(fact: Fact | Outline) -> str:
    """Return a fact in words: marked if its source is distrusted, without its words if erased."""
    if not fact.content:
        return ERASED
    mark = f"{DISTRUSTED} " if fact.status == Trust.DISTRUSTED else ""
    return f"{mark}{fact.subject}: {fact.content}"


@frozen(kw_only=True)
class ActChange(Record):
    """Changes of one kind in an act."""

    kind: str
    """As in the journal; ``import`` for what came from another file."""
    text: str
    """What was done, such as "added 12 facts" or "replaced fact 7 by 12"."""
    facts: tuple[int, ...] = ()
    """Their ids; for a replacement, the new fact's follows. Of more than 100 facts that were added,
    the first 100, and so for episodes and lines."""
    episodes: tuple[int, ...] = ()
    number: int = 0
    """How many facts and episodes it is about, listed or not."""
    claims: tuple[str, ...] = ()
    """Subject and text of the first facts that were stored or changed, as far as they may be seen.
    What was erased since is "(erased)"; "(distrusted)" precedes what a distrusted source said."""
    lines: tuple[int, ...] = ()
    """The lines of the journal."""

    def __str__(self) -> str:
        if not self.claims:
            return self.text
        shown = [cropped(claim) for claim in self.claims[:SHOWN_CLAIMS]]
        if (left := self.number - len(shown)) > 0 and len(self.claims) > SHOWN_CLAIMS:
            shown.append(f"and {left:,} more")
        return f"{self.text}: {'; '.join(shown)}"


@frozen(kw_only=True)
class Act(zones.ZonedResult, Record):
    """One act: what one transaction changed, as far as it was asked for and may be seen."""

    line: int
    """The id of its first line (``txn``); ``op:LINE`` names the moment after it. What was taken
    together from other devices has an act for each of theirs, and one moment."""
    at: datetime
    actor: str
    source: str
    """The program or interface through which it was done."""
    run: str | None = None
    changes: tuple[ActChange, ...] = ()
    reverts: tuple[int, ...] = ()
    """The lines that it took back."""
    device: str | None = None
    """The name of the device on which it was done; ``None`` for this one."""
    said_at: datetime | None = None
    """When it was done there; :attr:`at` is when it was taken here."""

    @property
    def through(self) -> str:
        """The program or interface, and the device if it was not this one."""
        return f"{self.source}{on_device(self.device)}"

    @property
    def parts(self) -> tuple[str, tuple[ActChange, ...]]:
        """Which lines it took back, if any, and its changes."""
        if not self.reverts:
            return "", self.changes
        noun = "line" if len(self.reverts) == 1 else "lines"
        named = ", ".join(map(str, self.reverts[:SHOWN_LINES]))
        more = len(self.reverts) - SHOWN_LINES
        rest = f" and {more:,} more" if more > 0 else ""
        return f"took back {noun} {named}{rest}", self.changes

    @property
    def text(self) -> str:
        """What was done, in one line."""
        lead, changes = self.parts
        told = "; ".join(map(str, changes))
        return f"{lead}: {told}" if lead else told

    @zones.of_its_zone
    def __str__(self) -> str:
        by = f"{self.actor} through {self.through}"
        return f"{self.line}  {zones.stamp(self.at, 'microseconds')}  {by}  {self.text}"

    def to_dict(self) -> dict[str, Any]:
        return Record.to_dict(self) | {"text": self.text}


@frozen(kw_only=True)
class LogLine(zones.ZonedResult, Record):
    """One line of the journal in words."""

    line: int
    act: int
    """The first line of its act, as :attr:`Act.line`."""
    at: datetime
    actor: str
    source: str
    """The program or interface through which it was done."""
    run: str | None = None
    kind: str
    """As in the journal; ``import`` for what came from another file."""
    text: str
    """What was done, such as "deleted fact 7" or "replaced fact 7 by 12"."""
    facts: tuple[int, ...] = ()
    """The id of the fact; for a replacement, the new fact's follows."""
    episodes: tuple[int, ...] = ()
    claims: tuple[str, ...] = ()
    """Subject and text of the fact, as far as it may be seen; as :attr:`ActChange.claims`."""
    reverts: tuple[int, ...] = ()
    """The lines that it took back."""
    device: str | None = None
    """The name of the device on which it was done; ``None`` for this one."""

    @zones.of_its_zone
    def __str__(self) -> str:
        by = f"{self.actor} through {self.source}{on_device(self.device)}"
        claims = "".join(f": {cropped(claim)}" for claim in self.claims)
        return f"{self.line}  {zones.stamp(self.at, 'microseconds')}  {by}  {self.text}{claims}"


@frozen(kw_only=True)
class DayActivity(Record):
    """How much was done on one day."""

    day: date
    first: int
    """The first line of the journal since the day began, the last one of it follows; if ``last`` is
    smaller, nothing was written on that day."""
    last: int
    kinds: dict[str, int]
    """The number of lines by kind, as :attr:`LogLine.kind`."""
    devices: dict[str, dict[str, int]] = field(default_factory=dict)
    """How many of them tell what other devices did, and when it was taken: by the name of the
    device, and by kind."""

    def to_dict(self) -> dict[str, Any]:
        return Record.to_dict(self) | {"day": self.day.isoformat()}


class LogFilter(NamedTuple):
    """Which acts to show."""

    chosen: Selection
    until: datetime | None
    fact: int | None
    kinds: tuple[str, ...] | None
    limit: int | None
    before: int | None
    after: int | None


def log_filter(
    asked: LineNarrowing,
    since: datetime | None = None,
    until: datetime | None = None,
    *,
    known: Collection[str],
) -> LogFilter:
    """Return a caller's filter, checked; ``since`` and ``until`` are its times, as they were read.

    Args:
        known: the kinds of lines.
    """
    checked_limit(asked.limit)
    for name in ("fact", "before", "after"):
        if (value := getattr(asked, name)) is not None:
            checked_id(value, name)
            checked_number(value, name, -MAX_NUMBER, MAX_NUMBER)
    return LogFilter(
        selection(
            episode=None,
            source=asked.source,
            run=asked.run,
            actor=asked.actor,
            since=since,
            lines=None,
        ),
        until,
        asked.fact,
        None if asked.kinds is None else _kinds(asked.kinds, known),
        asked.limit,
        asked.before,
        asked.after,
    )


def on_device(device: str | None) -> str:
    """Return on which device something was done, if it was not on this one."""
    return "" if device is None else f" on {device}"


def cropped(text: str, most: int = SHOWN_CHARACTERS) -> str:
    """Return the beginning of a text, on one line."""
    line = " ".join(text[: 4 * most].split())
    return line if len(line) <= most and len(text) <= 4 * most else f"{line[: most - 1]}…"


def _kinds(given: Iterable[str], known: Collection[str]) -> tuple[str, ...]:
    kinds = tuple(checked_text(one, "kinds", 100) for one in checked_items(given, "kinds"))
    for kind in kinds:
        if kind not in known:
            raise InvalidArgument(
                f"has no {kind!r}; the kinds are {', '.join(sorted(known))}", argument="kinds"
            )
    return kinds
