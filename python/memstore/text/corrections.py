"""Decides whether something said later corrects what the same speaker said before.

It knows a few phrases of ten languages by which people take back what they said; a correction in
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
    | (?:i|we)\ changed\ (?:it|that) | (?<!you\ )(?<!to\ )make\ that | instead\ of
    | rather\ than\ what
    | i\ misspoke | i\ take\ that\ back | that\ was\ wrong
    | korrektur | doch\ nicht | nicht\ mehr | ich\ meinte | statt(?:dessen)?
    | ich\ habe\ mich\ (?:geirrt|vertan|versprochen) | das\ war\ falsch | anstelle
    | en\ fait | je\ voulais\ dire | finalement | (?:ne\ |n['’]).{1,30}\ plus | rectification
    | je\ me\ suis\ tromp[ée]e? | au\ lieu\ d[e'’]
    | en\ realidad | quise\ decir | correcci[oó]n | ya\ no | me\ equivoqu[eé]
    | en\ (?:vez|lugar)\ de | mejor\ dicho
    | in\ realt[aà] | anzi | volevo\ dire | non\ .{1,30}\ più | correzione | invece\ (?:di|che)
    | mi\ sono\ sbagliat[oa]
    | na\ verdade | quis\ dizer | corre[cç][aã]o | em\ vez\ de | j[aá]\ não | não\ .{1,30}\ mais
    | me\ enganei | enganei-me
    | eigenlijk | ik\ bedoelde | niet\ meer | correctie | in\ plaats\ van | toch\ niet
    | ik\ (?:had\ het\ mis|vergiste\ me)
    )(?!\w)
    | 更正 | 纠正 | 糾正 | [说說]错了 | 說錯了 | [搞记弄]错了 | [搞記弄]錯了
    | 改[成为為] | 不再 | 而不是
    | 訂正 | 間違え | 間違いで | ではなく | じゃなく | やっぱり | に変更 | に変わ | 取り消
    | 정정 | 이?\ ?아니라 | 잘못\ ?(?:말|알) | 틀렸 | 더\ ?이상 | (?:으로|로)\ (?:바꿨|바뀌|변경)
    """,
    re.IGNORECASE | re.VERBOSE,
)

OPENS = lazy_pattern(
    r"""\W*(?:[\w ]{1,30}:\ )?(?:
      (?:no|nein|non|não|nee)\s?[,.!:;–—-]
    | (?:sorry|wait|oops|moment|entschuldigung|pardon|perdón|espera|desculpe?|scusa|aspetta|wacht)
        \b[\s,.!:;-]
    | 不[,，。!！是对對] | 等等 | 抱歉 | いや | いえ | すみません | 違 | 아니 | 잠깐 | 죄송 | 미안
    )""",
    re.IGNORECASE | re.VERBOSE,
)
"""How a correction of the sentence before may begin."""

SHARED: Final = 2
SHARED_PAIRS: Final = 3
"""A correction has this many words, or pairs of characters, of what it corrects, unless it follows
at once."""


def corrects(later: str, earlier: str, *, follows: bool) -> bool:
    """Return whether a text takes back an earlier one.

    If it ``follows`` at once, it may share no word with it: "Sorry, I meant Tuesday".
    """
    opens = bool(OPENS.match(later))
    if not opens and not TAKES_BACK.search(later):
        return False
    shared = {*terms(later.casefold())} & {*terms(earlier.casefold())}
    pairs = sum(" " in term for term in shared)
    if len(shared) - pairs >= SHARED or len(shared) >= SHARED_PAIRS:
        return True
    return follows and opens and bool(TAKES_BACK.search(later))
