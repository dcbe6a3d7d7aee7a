"""The slots of a claim: what of it an extractor named, as far as the text bears it out.

They are stored with the fact as a JSON object of texts. A holder, a value or a day that is not
found in the text is dropped, because two facts are compared by it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

from memstore.domain import clock
from memstore.domain.arguments import MAX_NAME, checked_text
from memstore.errors import InvalidArgument, InvalidArgumentType
from memstore.text.folding import folded
from memstore.text.judging.compared import Slots
from memstore.text.words import UNSPACED, UNSPACED_RUN

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Literal

CARDINALITIES: Final = ("one", "many")

SAID_AT: Final = "said_at"
"""Beside the slots: when the fact was said, if its ``valid_at`` is the time from which it holds."""

NAMES: Final = ("holder", "attribute", "value", "cardinality", "holds_from", "holds_until", SAID_AT)

DATE: Final = re.compile(r"(\d{4})(?:-(\d{2})(?:-(\d{2}))?)?")
"""A day, a month or a year."""


def checked(given: Mapping[str, str]) -> dict[str, str] | None:
    """Return slots that can be stored; ``None`` if there are none.

    Raises:
        InvalidArgument: one has an unknown name, is blank or too long.
        InvalidArgumentType: they are not texts by name.
    """
    if not isinstance(given, Mapping):
        raise InvalidArgumentType(
            f"must be a JSON object, not {type(given).__name__}", argument="slots"
        )
    for name, value in given.items():
        if name not in NAMES:
            raise InvalidArgument(f"there is no slot {str(name)[:40]!r}", argument="slots")
        checked_text(value, f"slots: {name}", MAX_NAME)
    if given.get("cardinality", "one") not in CARDINALITIES:
        raise InvalidArgument("cardinality must be one or many", argument="slots")
    return dict(given) or None


def slots_of(stored: Mapping[str, Any] | None) -> Slots | None:
    """Return the slots of a fact for a judge; ``None`` if there are none."""
    if not stored:
        return None
    told = {name: one for name, one in stored.items() if isinstance(one, str) and one}
    return Slots(
        holder=told.get("holder"),
        attribute=told.get("attribute"),
        value=told.get("value"),
        cardinality=_cardinality(told.get("cardinality")),
        holds_from=told.get("holds_from"),
        holds_until=told.get("holds_until"),
    )


def _cardinality(text: str | None) -> Literal["one", "many"] | None:
    if text == "one":
        return "one"
    return "many" if text == "many" else None


def found(given: Mapping[str, object], content: str, subject: str) -> dict[str, str]:
    """Return those of a model's slots that a claim's text says.

    The holder may be its subject instead. The attribute is a name for what the text tells, and may
    be any: the text rarely says it. Without an attribute and a value, it does not matter how many
    values there can be.
    """
    told = {
        name: " ".join(value.split())
        for name in NAMES
        if isinstance(value := given.get(name), str) and 0 < len(value.strip()) <= MAX_NAME
    }
    kept: dict[str, str] = {}
    if (holder := told.get("holder")) and _said(holder, (content, subject)):
        kept["holder"] = holder
    if attribute := told.get("attribute"):
        kept["attribute"] = folded(attribute)
    if (value := told.get("value")) and _said(value, (content,)):
        kept["value"] = value
    if {"attribute", "value"} <= kept.keys() and told.get("cardinality") in CARDINALITIES:
        kept["cardinality"] = told["cardinality"]
    for name in ("holds_from", "holds_until"):
        if name in told and _said(told[name], (content,)):
            kept[name] = told[name]
    return kept


def _said(part: str, texts: Iterable[str]) -> bool:
    """Return whether a text contains a part, as whole words where words have blanks."""
    wanted = folded(part)
    before, after = (
        "" if re.fullmatch(UNSPACED_RUN, end) or not end.isalnum() else f"{look}[^\\W{UNSPACED}])"
        for end, look in ((wanted[:1], "(?<!"), (wanted[-1:], "(?!"))
    )
    whole = re.compile(f"{before}{re.escape(wanted)}{after}")
    return bool(wanted) and any(whole.search(folded(text)) for text in texts)


def began(slots: Mapping[str, str] | None) -> datetime | None:
    """Return since when a fact holds, if its slots name a day, a month or a year."""
    period = _period((slots or {}).get("holds_from"))
    return None if period is None else period[0]


def ends(slots: Mapping[str, str] | None) -> datetime | None:
    """Return the end of the day, the month or the year until which a fact holds."""
    period = _period((slots or {}).get("holds_until"))
    return None if period is None else period[1]


def _period(text: str | None) -> tuple[datetime, datetime] | None:
    given = DATE.fullmatch(text or "")
    if given is None:
        return None
    year, month, day = (None if part is None else int(part) for part in given.groups())
    try:
        first = datetime(year or 0, month or 1, day or 1, tzinfo=UTC)
        if day is not None:
            return first, first + timedelta(days=1)
        if month is not None:
            return first, datetime(first.year + month // 12, month % 12 + 1, 1, tzinfo=UTC)
        return first, datetime(first.year + 1, 1, 1, tzinfo=UTC)
    except (ValueError, OverflowError):
        return None


def told_at(slots: Mapping[str, str] | None, valid_at: datetime | None) -> datetime | None:
    """Return when a fact was said; ``None`` if that is not known apart from when it was stored."""
    if slots and SAID_AT in slots:
        return clock.moment(slots[SAID_AT], SAID_AT)
    return valid_at if began(slots) is None else None
