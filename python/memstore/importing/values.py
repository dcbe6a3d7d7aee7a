"""Values as other programs write them: times in seconds, tags in one text, JSON in a column."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any, Final

from memstore.domain.arguments import MAX_NAME

LATEST_SECOND: Final = 253_402_300_799
"""The last second of the year 9999."""
MILLISECOND: Final = 0.001
MIN_MILLISECONDS: Final = 100_000_000_000
"""As seconds, in the year 5138; as milliseconds, in 1973."""


def text(given: object) -> str | None:
    """Return a text that is not blank."""
    return given if isinstance(given, str) and given.strip() else None


def name(given: object) -> str | None:
    """Return a text as a name, cut at the longest that a name may be."""
    found = text(given)
    return found[:MAX_NAME] if found else None


def moment(given: object, what: str, unit: float = 1) -> datetime | str | None:
    """Return a time given as text, or as a number of units (seconds) since 1970."""
    if given is None or isinstance(given, str):
        return given
    if isinstance(given, bool) or not isinstance(given, int | float):
        raise TypeError(f"its {what} is not a time")
    if not 0 <= given * unit <= LATEST_SECOND:
        raise ValueError(f"its {what} is not a time: {given}")
    return datetime.fromtimestamp(given * unit, UTC)


def any_moment(given: object, what: str) -> datetime | str | None:
    """Return a time given as text, or as a number of seconds or milliseconds since 1970."""
    is_small = not isinstance(given, int | float) or given < MIN_MILLISECONDS
    return moment(given, what, 1 if is_small else MILLISECOND)


def tags(given: object) -> list[str]:
    """Return tags given as a list, or as one text with commas."""
    if isinstance(given, str):
        given = given.split(",")
    return [one.strip() for one in given if text(one)] if isinstance(given, list) else []


def texts(given: object, what: str) -> list[str]:
    """Return a list of texts, which may be written as JSON."""
    if isinstance(given, str) and given.strip():
        try:
            given = json.loads(given)
        except (ValueError, RecursionError):
            raise ValueError(f"its {what} are not JSON") from None
    if given in (None, ""):
        return []
    if not isinstance(given, list):
        raise TypeError(f"its {what} must be a list, not {type(given).__name__}")
    return [one for one in given if text(one)]


def mapping(given: object, what: str) -> dict[str, Any]:
    """Return an object, which may be written as JSON."""
    if isinstance(given, str) and given.strip():
        try:
            given = json.loads(given)
        except (ValueError, RecursionError):
            raise ValueError(f"its {what} is not JSON") from None
    if given in (None, ""):
        return {}
    if not isinstance(given, dict):
        raise TypeError(f"its {what} must be an object, not {type(given).__name__}")
    return given
