"""Escaping characters that would act on a terminal or that people cannot see.

Stored text may come from anyone. Every check for hidden characters uses the pattern here.

What people do not see is a property of Unicode, ``Default_Ignorable_Code_Point``, and a few blank
symbols besides. Some of these characters are needed for what people do see: a joiner and a selector
within an emoji, the tags of a flag, joiners between letters of scripts that join them. There they
stay; one at a place, so that nothing can be written with them.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Final

from memstore.lazy import lazy_pattern

if TYPE_CHECKING:
    from collections.abc import Callable

CONTROLS: Final = (
    "\x00-\x08\x0b-\x1f\x7f-\x9f"  # with the ESC that starts a sequence
    "\u2028\u2029"  # line ends that few programs expect
    "\ud800-\udfff"  # lone surrogates
)
"""Line feed and tab are allowed."""

UNSEEN: Final = (
    "\u00ad\u034f\u061c\u17b4\u17b5\u200e\u200f\u202a-\u202e\u2060-\u206f\u3164"
    "\ufe00-\ufe0d\ufeff\uffa0\ufff0-\ufffb"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    "\U00016fe4\U0001d159"  # blank symbols
)
"""Characters that nobody sees, and that nothing which is seen depends on."""

DEPENDING: Final = "\u115f\u1160\u180b-\u180f\u200b-\u200d\u2800\ufe0e\ufe0f\U000e0000-\U000e0fff"
"""Characters that nobody sees, and that are needed at some places."""

JOINER: Final = lazy_pattern(f"[{DEPENDING}]")
"""One of these, at which a text that is shown in parts is not to be cut."""

SYMBOLS: Final = (
    "\u00a9\u00ae\u203c\u2049\u2122\u2139\u2190-\u21ff\u2300-\u23ff\u24c2\u25a0-\u27bf\u2900-\u297f"
    "\u2b00-\u2bff\u3030\u303d\u3297\u3299\U0001f000-\U0001faff"
)
"""What may be an emoji, or a part of one."""

JOINING: Final = (
    "\u0620-\u06d3\u06d5\u06ee-\u06ff\u0710-\u08e1\u08e3-\u08ff\ufb50-\ufdff\ufe70-\ufefc"
    "\u0900-\u0dff\u0f00-\u109f\u1780-\u17b3\u17b6-\u17d3\u1820-\u18aa\u1900-\u1cff\ua800-\uaaff"
    "\uabc0-\uabff\U00010a00-\U00010aff\U00010d00-\U00010d3f\U00010f30-\U00010fff"
    "\U00011000-\U00011dff\U0001e900-\U0001e95f"
)
"""Scripts whose letters take another form, or are joined or not, by a joiner: Arabic, Persian,
Urdu, Syriac, those of India and South-East Asia, Mongolian, Adlam and others."""

UNSPACED: Final = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17b3\u17b6-\u17d3\u1950-\u19ff\u1a20-\u1aaf"
"""Scripts without spaces, where an invisible one says where a line may end: Thai, Lao, Burmese,
Khmer, Tai."""

MONGOLIAN: Final = "\u1820-\u18aa"

FLAGS: Final = tuple(
    "\U0001f3f4" + "".join(chr(0xE0000 + ord(letter)) for letter in region) + "\U000e007f"
    for region in ("gbeng", "gbsct", "gbwls")
)
"""The flags of England, Scotland and Wales: a black flag and tags. With other tags people see a
black flag and no more."""

NEEDED: Final = {
    "\u200d": (
        f"(?:(?<=[{SYMBOLS}])|(?<=[{SYMBOLS}]\ufe0f))\u200d[{SYMBOLS}]"
        f"|(?<=[{JOINING}])\u200d(?![{DEPENDING}])"
    ),
    "\u200c": f"(?<=[{JOINING}])\u200c(?![{DEPENDING}])",
    "\u200b": f"(?<=[{UNSPACED}])\u200b(?![{DEPENDING}])",
    "\u180e": f"(?<=[{MONGOLIAN}])\u180e(?![{DEPENDING}])",
    "\u115f": "\u115f[\u1161-\u11a7]",  # a syllable without a first consonant
    "\u1160": "(?<=[\u1100-\u115e])\u1160",  # a syllable without a vowel
    "\u2800": "(?<=[\u2801-\u28ff])\u2800|\u2800[\u2801-\u28ff]",  # Braille
    **dict.fromkeys("\u180b\u180c\u180d\u180f", f"(?<=[{MONGOLIAN}])[\u180b-\u180d\u180f]"),
    **dict.fromkeys(
        "\ufe0e\ufe0f",
        f"(?<=[{SYMBOLS}])[\ufe0e\ufe0f]|(?<=[0-9#*])[\ufe0e\ufe0f]\u20e3",  # or a keycap
    ),
}
"""Where these characters are needed: after what, and before what."""


class Hidden:
    """The hidden characters of a text, as a pattern finds them."""

    _any: Final = lazy_pattern(f"[{CONTROLS}{UNSEEN}{DEPENDING}]")

    def search(self, text: str) -> re.Match[str] | None:
        """Return the first one; ``None`` if there is none."""
        return next((one for one in self._any.finditer(text) if _is_hidden(one)), None)

    def sub(self, spell: Callable[[re.Match[str]], str], text: str) -> str:
        """Replace each by what ``spell`` returns for it."""
        return self._any.sub(lambda one: spell(one) if _is_hidden(one) else one[0], text)


HIDDEN: Final = Hidden()


def _is_hidden(one: re.Match[str]) -> bool:
    """Return whether a character that nobody sees is not needed where it is."""
    sign, text, place = one[0], one.string, one.start()
    if sign in NEEDED:
        return _needed(sign).match(text, place) is None
    if sign < "\U000e0000":
        return True
    return not any(
        flag[n] == sign and text.startswith(flag, place - n)
        for flag in FLAGS
        for n in range(1, min(len(flag), place + 1))
    )


@cache
def _needed(sign: str) -> re.Pattern[str]:
    return re.compile(NEEDED[sign])


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
