"""Whether a text asks something."""

from __future__ import annotations

from typing import Final

from memstore.lazy import lazy_pattern

QUESTION_MARKS: Final = "?？؟"

FIRST_WORD = lazy_pattern(r"\W*(\w+)")

QUESTION_WORDS: Final = frozenset(
    """who whom whose what which when where why how did does
    wer wen wem wessen was welche welcher welches wann wo warum wieso weshalb wie
    qui que quoi quel quelle quels quelles quand où pourquoi comment
    quién qué cuál cuándo dónde cómo chi che cosa quale quando dove perché
    quem qual onde porquê wie wat welke wanneer waar waarom hoe""".split()
)
"""What a question begins with that is typed without its mark; no words that begin orders, too."""


def asks(text: str) -> bool:
    """Return whether a text has a question mark, or begins with a question word."""
    if any(mark in text for mark in QUESTION_MARKS):
        return True
    first = FIRST_WORD.match(text)
    return first is not None and first[1].casefold() in QUESTION_WORDS
