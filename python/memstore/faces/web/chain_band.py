"""The chain of a fact as a band: each value as wide as it was held, with the words that changed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from memstore.domain import clock
from memstore.faces.escaping import counted
from memstore.faces.web import templating, words
from memstore.named import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from memstore.domain.records import Fact

SHOWN: Final = 60
"""The newest values, which are drawn; those before them are one part."""

MAX_LABEL: Final = 16
"""Characters of the words that changed; longer ones say less than a date."""

MIN_LABELLED: Final = 5.0
MIN_WIDTH: Final = 0.35
"""In per cent of the band."""

UNITS: Final = (("day", 86_400), ("hour", 3_600), ("minute", 60))


class Value(NamedTuple):
    """A fact of the chain.

    Attributes:
        text: its text; what the next one does not say is marked, or in the last one what is new.
        label: the words that changed; empty if they are long.
        lasted: how long it was held, in words.
        x: where its part of the band begins, in per cent, and how wide it is.
    """

    fact: Fact
    text: tuple[words.Stretch, ...]
    label: str
    since: datetime
    until: datetime | None
    lasted: str
    x: float
    width: float
    is_here: bool

    @property
    def is_labelled(self) -> bool:
        return self.width >= MIN_LABELLED and bool(self.label)


class Band(NamedTuple):
    """The values that are drawn, oldest first.

    Attributes:
        number: how many there are.
        earlier: how many are not drawn, before the first.
    """

    values: list[Value]
    number: int
    earlier: int


def of(chain: Sequence[Fact], here: int) -> Band | None:
    """Return the band of a chain; ``None`` if it has one value.

    Args:
        chain: oldest first.
        here: the id of the fact whose page it is.
    """
    if len(chain) < 2:
        return None
    drawn = chain[-SHOWN:]
    begins = [fact.valid_at or fact.created_at for fact in drawn]
    ends = [*begins[1:], clock.utc_now()]
    seconds = [
        max(0.0, (end - begin).total_seconds()) for begin, end in zip(begins, ends, strict=True)
    ]
    widths = _widths(seconds)
    values, x = [], 0.0
    for place, fact in enumerate(drawn):
        text, label = _changed(drawn, place)
        until = None if place == len(drawn) - 1 else ends[place]
        values.append(
            Value(
                fact, text, label, begins[place], until, _in_words(seconds[place]),
                round(x, 2), round(widths[place], 2), fact.id == here,
            )
        )  # fmt: skip
        x += widths[place]
    return Band(values, len(chain), len(chain) - len(drawn))


def _in_words(seconds: float) -> str:
    """Return a duration in the largest unit of which it has one."""
    for unit, length in UNITS:
        if seconds >= length:
            return counted(round(seconds / length), unit)
    return "less than a minute"


def _widths(seconds: Sequence[float]) -> list[float]:
    """Return the widths of parts in per cent, none of them too narrow to be seen."""
    total = sum(seconds) or 1.0
    room = 100 - MIN_WIDTH * len(seconds)
    return [MIN_WIDTH + room * one / total for one in seconds]


def _changed(drawn: Sequence[Fact], place: int) -> tuple[tuple[words.Stretch, ...], str]:
    """Return a value's text with its changed words marked, and these words."""
    fact, is_last = drawn[place], place == len(drawn) - 1
    other = drawn[place - 1] if is_last else drawn[place + 1]
    mine, its = templating.beginning(fact.content), templating.beginning(other.content)
    text = words.changed_words(its, mine).new if is_last else words.changed_words(mine, its).old
    label = " ".join(one.text.strip() for one in text if one.kind != "same")
    return text, label if len(label) <= MAX_LABEL else ""
