"""A line of bars: how much was stored on each of the last days."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Final

from memstore.domain.status import DAYS

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import date

BARS: Final = "▁▂▃▄▅▆▇█"
NONE: Final = "·"
WEEK: Final = 7


def drawn(by_day: Mapping[str, int], today: date) -> str:
    """Return a bar for each of the last days, today's last, with a space between weeks.

    The highest bar is the day with the most; a dot is a day without any.
    """
    days = [today - timedelta(days=ago) for ago in range(DAYS - 1, -1, -1)]
    numbers = [by_day.get(day.isoformat(), 0) for day in days]
    most = max(numbers)
    bars = "".join(_bar(number, most) for number in numbers)
    return " ".join(bars[start : start + WEEK] for start in range(0, DAYS, WEEK))


def _bar(number: int, most: int) -> str:
    return BARS[-(-number * len(BARS) // most) - 1] if number else NONE
