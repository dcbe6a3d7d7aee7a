"""Escaping characters that would act on a terminal or that people cannot see.

Stored text may come from anyone. Every check for hidden characters uses the pattern here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from memstore.lazy import lazy_pattern

if TYPE_CHECKING:
    import re

HIDDEN: Final = lazy_pattern(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f"  # control characters, with the ESC that starts a sequence
    "\u061c\u200e\u200f\u202a-\u202e"  # marks that change the direction of writing
    "\u2028\u2029"  # line ends that few programs expect
    "\u2060-\u206f\ufeff\ufff9-\ufffb"  # invisible operators, isolates, annotations
    "\ud800-\udfff"  # lone surrogates
    "\U000e0000-\U000e01ef]"  # tags and selectors that a model reads and a person cannot see
)
"""Line feed and tab are allowed."""


def visible(text: str) -> str:
    """Return text on one line, with control characters and hidden characters escaped."""
    if text.isascii() and text.isprintable():
        return text
    return HIDDEN.sub(spelt, text).replace("\n", "\\n").replace("\t", "\\t")


def spelt(match: re.Match[str]) -> str:
    """Return a hidden character as an escape sequence."""
    code = ord(match[0])
    if match[0] == "\r":
        return "\\r"
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
