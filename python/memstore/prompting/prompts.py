"""Building prompts: templates, filled with data that is fenced off from the instructions."""

from __future__ import annotations

import hashlib
import json
import re
from importlib import resources
from typing import TYPE_CHECKING, Any, Final

from memstore.domain import zones
from memstore.errors import InvalidArgument

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import datetime

DAYS: Final = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
"""Independent of the locale: the same text makes the same prompt."""

MARK_DIGITS: Final = 12


def template(package: str, name: str) -> str:
    """Return the text of ``prompts/NAME.md`` in a package."""
    return resources.files(package).joinpath("prompts", f"{name}.md").read_text("utf-8")


def fill(template: str, **values: str) -> str:
    """Replace each ``{name}`` of a template in one pass; ``{name}`` in a value is left alone."""
    places = re.compile(rf"\{{({'|'.join(values)})\}}")
    return places.sub(lambda place: values[place[1]], template)


def numbered(claims: Iterable[Mapping[str, Any]]) -> str:
    """Write claims as JSON, one per line and numbered from 1, so that none can imitate another."""
    return "\n".join(
        f"{number}. {json.dumps(claim, ensure_ascii=False)}"
        for number, claim in enumerate(claims, 1)
    )


def weekday(at: datetime) -> str:
    """Return the English name of the user's day; it helps models to resolve "last Friday"."""
    return DAYS[zones.local(at).weekday()]


def fence(text: str, label: str) -> str:
    """Put untrusted text between two marked lines that it cannot contain.

    The mark is derived from the text, so the same text makes the same prompt, and it does not occur
    in the text: nothing inside can close the fence. The label names the text for the model:
    letters, digits, spaces and ``_``.
    """
    if not re.fullmatch(r"[A-Za-z0-9_ ]{1,60}", label):
        raise InvalidArgument(f"must be a few plain words, not {label[:60]!r}", argument="label")
    mark = _mark(text)
    return f"<<<{label} {mark}\n{text}\n{label} {mark}>>>"


def _mark(text: str) -> str:
    """Return hexadecimal digits that occur nowhere in the text, in either case."""
    folded = text.casefold()
    seed = text.encode("utf-8", "surrogatepass")
    while True:
        mark = hashlib.sha256(seed).hexdigest()[:MARK_DIGITS]
        if mark not in folded:
            return mark
        seed = mark.encode() + seed
