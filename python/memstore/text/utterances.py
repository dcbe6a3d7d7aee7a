"""Tells questions, rules, corrections and what names something from other texts, by their words.

Rules forbid or demand something, and bear on orders. A correction takes back what the same speaker
said before: a few phrases of ten languages are known; one in other words is not noticed.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from memstore.lazy import lazy_pattern
from memstore.text.words import terms

if TYPE_CHECKING:
    from collections.abc import Callable

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
    re.VERBOSE,
)
"""Of text whose case is folded: without regard to case, it takes three times as long."""

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
    takes_back = bool(TAKES_BACK.search(later.casefold()))
    if not opens and not takes_back:
        return False
    shared = {*terms(later.casefold())} & {*terms(earlier.casefold())}
    pairs = sum(" " in term for term in shared)
    if len(shared) - pairs >= SHARED or len(shared) >= SHARED_PAIRS:
        return True
    return follows and opens and takes_back


RULE: Final = lazy_pattern(
    r"(?i)\b(?:never|always|must|mustn['’]t|do not|don['’]t|may not|not allowed|forbidden"
    r"|prohibited|only ever|avoid|no longer"
    r"|nie|niemals|immer|muss|müssen|darf|dürfen|verboten|nur noch"
    r"|jamais|toujours|doit|doivent|ne pas|interdit"
    r"|nunca|siempre|debe|deben|prohibido"
    r"|mai|sempre|deve|devono|vietato"
    r"|jamais|devem|proibido"
    r"|nooit|altijd|moet|verboden"
    r"|никогда|всегда|нельзя|должен|должны|запрещено)\b"
    r"|不要|不得|不能|必须|必須|禁止|总是|永远|決して|常に|必ず|しないで|てはいけない|마세요|항상|절대|금지"
)


def is_rule(text: str) -> bool:
    """Return whether a text forbids or demands something."""
    return RULE.search(text) is not None


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


SENTENCE_END = lazy_pattern(r"(?<=[.!?。！？])\s+|(?<=[。！？])|\n+")


def only_asks(text: str) -> bool:
    """Return whether each sentence of a text is a question."""
    sentences = [one for one in SENTENCE_END.split(text) if one and one.strip()]
    return bool(sentences) and all(map(asks, sentences))


SENTENCE = lazy_pattern(r"(?:^|[.!?:…]\s+|\n)\W*(\w+)")
"""How sentences begin; what follows a colon is one: "By the way: Redis is out"."""

WORD_OF_SENTENCE = lazy_pattern(r"\w+")


def has_name_or_number(text: str, is_common: Callable[[str], bool]) -> bool:
    """Return whether a text has a name or a number, as far as its letters tell.

    That is a digit, a word with a capital that begins no sentence, or one with a capital inside. In
    a script without letter case any word may be a name.

    Args:
        is_common: whether a word, in lower case, is no name; asked of the first words of sentences.
    """
    if any(letter.isdigit() for letter in text):
        return True
    if any(letter.isalpha() and letter.lower() == letter.upper() for letter in text):
        return True
    first = {match.start(1) for match in SENTENCE.finditer(text)}
    for match in WORD_OF_SENTENCE.finditer(text):
        word = match[0]
        if word[1:] != word[1:].lower():
            return True
        is_capital = len(word) > 1 and word[0].isupper()
        if is_capital and not (match.start() in first and is_common(word.lower())):
            return True
    return False
