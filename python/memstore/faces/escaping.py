"""How values are written for readers: escaped hidden characters, times, counts.

Stored text is anybody's. What would act on a terminal, or hide in a text from people while models
read it, is spelt out, by the one pattern here.
"""

from __future__ import annotations

import json
import re
from datetime import UTC
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from datetime import datetime

HIDDEN: Final = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f"  # control characters, with the ESC that starts a sequence
    "\u061c\u200e\u200f\u202a-\u202e"  # marks that turn the direction of writing
    "\u2028\u2029"  # line ends that few programs expect
    "\u2060-\u206f\ufeff\ufff9-\ufffb"  # invisible operators, isolates, annotations
    "\ud800-\udfff"  # halves of characters
    "\U000e0000-\U000e01ef]"  # tags and selectors that a model reads and a person cannot see
)
"""All but line feed and tab, which a text may hold."""


def visible(text: str) -> str:
    """Return text on one line, with what would act on a terminal, or hide there, spelt out."""
    return HIDDEN.sub(_spelt, text).replace("\n", "\\n").replace("\t", "\\t")


def visible_lines(text: str) -> str:
    """Return text with its own line ends kept, and everything else as in :func:`visible`."""
    lines = text.replace("\r\n", "\n").replace("\t", "    ").split("\n")
    return "\n".join(map(visible, lines))


def as_json(text: str) -> str:
    """Return text with its hidden characters spelt as JSON spells them: ``\\u202e``."""
    return HIDDEN.sub(lambda found: json.dumps(found[0])[1:-1], text)


def _spelt(match: re.Match[str]) -> str:
    code = ord(match[0])
    if match[0] == "\r":
        return "\\r"
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def second(moment: datetime) -> str:
    """Return a moment to the second, in UTC, as RFC 3339 has it."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def minute(moment: datetime) -> str:
    """Return a moment to the minute, in the time zone of the machine."""
    return moment.astimezone().strftime("%Y-%m-%d %H:%M")


def counted(number: int, noun: str = "fact") -> str:
    """Return ``1 fact`` or ``2 facts``."""
    return f"{number} {noun}{'' if number == 1 else 's'}"
