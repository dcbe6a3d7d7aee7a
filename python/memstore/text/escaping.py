"""Text on one line, with what would act on a terminal, or hide from people, spelt out.

Stored text is anybody's. By the one pattern here, hidden characters are found everywhere.
"""

from __future__ import annotations

import re
from typing import Final

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
    return HIDDEN.sub(spelt, text).replace("\n", "\\n").replace("\t", "\\t")


def spelt(match: re.Match[str]) -> str:
    """Return a hidden character as an escape sequence."""
    code = ord(match[0])
    if match[0] == "\r":
        return "\\r"
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
