"""The twin of a page: what its template is given, as JSON, for programs of the same person.

An address with ``.json`` behind it has the same checks and rights as the page, and the same place
in lists. Texts are whole, and every character that is not ASCII is an escape.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import date, datetime
from typing import Any, Final

from memstore.domain import clock
from memstore.faces.web.reply import JSON, Reply

SUFFIX: Final = ".json"

HOME: Final = "home"
"""What the address of the twin of the first page begins with, whose own address is empty."""


def page_of(path: str) -> str | None:
    """Return the page whose twin an address names; ``None`` if it names none."""
    if not path.endswith(SUFFIX):
        return None
    page = path.removesuffix(SUFFIX)
    return "" if page == HOME else page


def address_of(address: str) -> str:
    """Return the address of the twin of a page, with the same query."""
    path, mark, query = address.partition("#")[0].partition("?")
    return f"{path or HOME}{SUFFIX}{mark}{query}"


def reply(status: int, values: Mapping[str, Any]) -> Reply:
    """Return the twin of a page whose template is given these values."""
    return Reply(status, json.dumps(_plain(values)).encode("ascii"), JSON)


def _plain(value: Any) -> Any:
    """Return a value of a template as JSON has it: records by their fields."""
    match value:
        case None | bool() | int() | float():
            return value
        case str():
            return str(value)
        case datetime():
            return clock.to_text(value)
        case date():
            return value.isoformat()
        case Mapping():
            return {str(name): _plain(one) for name, one in value.items()}
    if hasattr(value, "to_dict"):
        return _plain(value.to_dict())
    if hasattr(value, "_asdict"):
        return _plain(value._asdict())
    if isinstance(value, (list, tuple, set, frozenset)):
        return [_plain(one) for one in value]
    return {name: _plain(one) for name, one in vars(value).items() if not name.startswith("_")}
