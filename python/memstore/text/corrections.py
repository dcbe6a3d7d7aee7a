"""Whether something said later corrects what the same speaker said before.

It knows a few phrases of seven languages by which people take back what they said; a correction in
other words is not noticed.
"""

from __future__ import annotations

import re
from typing import Final

from memstore.lazy import lazy_pattern
from memstore.text.words import terms

TAKES_BACK = lazy_pattern(
    r"""\b(?:
      actually | correction | scratch\ that | (?:i|we)\ (?:was|were)\ wrong | my\ mistake
    | (?:i|we)\ meant | no\ longer | not\ any\ ?more | changed\ (?:my|our)\ minds?
    | (?:i|we)\ changed\ (?:it|that) | make\ that | instead\ of | rather\ than\ what
    | korrektur | doch\ nicht | nicht\ mehr | ich\ meinte | statt(?:dessen)?
    | ich\ habe\ mich\ geirrt
    | en\ fait | je\ voulais\ dire | finalement | ne\ .{1,30}\ plus | rectification
    | en\ realidad | quise\ decir | correcci[oó]n | ya\ no
    | in\ realt[aà] | anzi | volevo\ dire | non\ .{1,30}\ più
    | na\ verdade | quis\ dizer | corre[cç][aã]o
    | eigenlijk | ik\ bedoelde | niet\ meer
    )\b""",
    re.IGNORECASE | re.VERBOSE,
)

OPENS = lazy_pattern(
    r"\W*(?:[\w ]{1,30}: )?"
    r"(?:no|sorry|wait|oops|nein|moment|non|pardon|perdón|não|desculpe?|nee)\b[\s,.!:;-]",
    re.IGNORECASE,
)
"""How a correction of the sentence before may begin."""

SHARED: Final = 2
"""A correction has this many words of what it corrects, unless it follows at once."""


def corrects(later: str, earlier: str, *, follows: bool) -> bool:
    """Return whether a text takes back an earlier one.

    Args:
        follows: whether it is what the speaker said next. "Sorry, I meant Tuesday" repeats no word.
    """
    opens = bool(OPENS.match(later))
    if not opens and not TAKES_BACK.search(later):
        return False
    shared = {*terms(later.casefold())} & {*terms(earlier.casefold())}
    if len(shared) >= SHARED:
        return True
    return follows and opens and bool(TAKES_BACK.search(later))
