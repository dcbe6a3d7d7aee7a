"""Decides whether a text asks something."""

from __future__ import annotations

from typing import Final

from memstore.lazy import lazy_pattern

MARKS: Final = "?？؟"
"""Looked for first: in a long text, that is much faster than a pattern."""

QUESTION_MARK = lazy_pattern(r"\?(?![\w&=/?.])|[？؟]")
"""Not that of an address."""

FIRST_WORD = lazy_pattern(r"\W*(\w+)")

QUESTION_WORDS: Final = frozenset(
    """who whom whose what which when where why how did does is are was were has
    wer wen wem wessen was welche welcher welches wann wo woher wohin warum wieso weshalb wie
    wieviel qui que quoi quel quelle quels quelles quand où pourquoi comment combien
    quién qué cuál cuándo cuánto dónde cómo quien donde cuando chi che cosa quale quando quanto dove
    perché quem qual onde porquê wie wat welke welk wanneer waar waarom hoe hoeveel""".split()
)
"""What a question begins with that is typed without its mark; no words that begin orders, too."""

WITHIN = lazy_pattern(
    r"什[么麼]|[谁誰哪]|多少|怎[么麼]|[吗嗎]\s*$"
    r"|いつ(?!も)|どこ|なぜ|どうして|何[をがので時年月日人]|(?:です|ます|でした|ました)か\s*$"
    r"|누구|누가|언제|어디|무엇|무슨|얼마|[나까]요\s*$|니까\s*$"
)
"""What questions have, wherever they have it, in languages that do not begin with it."""


def asks(text: str) -> bool:
    """Return whether a text has a question mark, or asks by its words."""
    has_mark = any(mark in text for mark in MARKS) and QUESTION_MARK.search(text)
    if has_mark or (not text.isascii() and WITHIN.search(text)):
        return True
    first = FIRST_WORD.match(text)
    return first is not None and first[1].casefold() in QUESTION_WORDS
