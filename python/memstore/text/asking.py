"""Tells requests, by which somebody asks to be told something without a question, from orders.

"Somebody from legal wants our log retention" and "put the hosting on the slide" ask for what a
memory may know; "list the files you changed" and "explain this regex" ask for what is at hand. What
tells them apart is a phrase and what comes after it: something definite that is none of the things
of which the work itself consists. The words, in nine languages, are in ``asking.txt``; three more
have no spaces between words, and patterns here.
"""

from __future__ import annotations

import os
from itertools import takewhile
from typing import TYPE_CHECKING, Final
from unicodedata import normalize

from memstore.lazy import cached_property, lazy_pattern
from memstore.named import NamedTuple
from memstore.text.utterances import asks
from memstore.text.words import parts_of_identifiers

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

WITHOUT_SPACES = lazy_pattern(
    "提醒|告[诉訴]|我需要|我忘|想知道|要知道|[问問]我|在[问問]|帮我[查找]|查一下|[发發][给給]我|记不[清得]|不记得"
    "|忘了|想不起|需要知道|说一下|列一下|写[进到]|放[进到]"
    "|教えて|ごっちゃ|呼び起こ|入れておいて|要る|要点|頼む|メールして|思い出|忘れ|必要|知りたい|聞かれ"
    "|聞いてい|送って|調べて|覚えてい|書いて|載せて|まとめて"
    "|알려|상기|잊|필요|궁금|알고 ?싶|기억이|묻|물어|보내|찾아|헷갈|되살려|요약해|적어|넣어"
    "|정리해"
)
ONLY_ASKS = lazy_pattern(
    "提醒我|告[诉訴]我|我需要|我忘了|教えて|思い出させて|알려 ?(?:줘|주세요)|상기시켜"
)
"""Of them, those that are no part of other words."""

AT_HAND_WITHOUT_SPACES = lazy_pattern(
    "这[个段些]|上面|代码|测试|提交|文件|函数|正则|差异|报错|错误|注释|分支|日志级|类型|变量|重构|编译"
    "|この|その|これ|コード|テスト|コミット|ファイル|関数|正規表現|差分|エラー|コメント|ブランチ|型|変数|修正"
    "|이 |이거|그거|코드|테스트|커밋|파일|함수|정규식|에러|오류|주석|브랜치|타입|변수|diff|PR"
)

FILE: Final = os.path.join(os.path.dirname(__file__), "asking.txt")
WITH_ARTICLES: Final = ("en", "de", "fr", "es", "it", "pt", "nl")
"""Languages of which the definite words are known; Polish and Russian have no articles."""

BARE: Final = ("readers", "documents", "openers", "indefinite", "into", "wanting")
"""With the definite words, the sets of words that may be left out with a phrase."""

ANYBODY: Final = "*"
"""In a phrase, somebody who is named by up to :data:`NAMED` words."""

NAMED: Final = 3

MIN_NAMED: Final = 2
"""So many words must be named for what is named alone to be asked for."""

MAX_CHARACTERS: Final = 400
"""Further on nothing is read: who asks for something says so soon, or pastes a log."""

BEFORE: Final = 7
"""So many words may say who asks, before the phrase that says it."""

LISTENER: Final = 3
"""So many words may name who is to be told."""

OBJECT: Final = 4
"""So many words are the beginning of what is asked for."""

AROUND: Final = 8
"""None of so many may be at hand."""

WORD = lazy_pattern(r"[^\W_]+(?:-[^\W_]+)*")
SPACE_BEFORE = lazy_pattern(r"\s+([.!?,;])(?=\s|$)")
COMMENT = lazy_pattern(r"(?m)^#.*$")
CODE = lazy_pattern(r"\b[a-z]{2,}[A-Z][a-z]\w*|\w_\w|\w\(\)|`")
"""Names as code has them: ``useToggle``, ``parse_args``."""

CLAUSE_END = lazy_pattern(r"[.!?:;,](?=\s|$)|\n")


class _Sections:
    """The sets of words and the phrases of ``asking.txt``, which is read when one is wanted."""

    def __init__(self) -> None:
        self._sets: dict[str, frozenset[str]] = {}

    @cached_property
    def _texts(self) -> dict[str, str]:
        with open(FILE, encoding="utf-8") as file:
            sections = file.read().split("\n[")
        parts = (section.partition("]\n") for section in sections[1:])
        return {name: COMMENT.sub("", text) for name, _, text in parts}

    def __getitem__(self, name: str) -> frozenset[str]:
        if name not in self._sets:
            self._sets[name] = frozenset(self._texts[name].casefold().split())
        return self._sets[name]

    @cached_property
    def definite(self) -> frozenset[str]:
        """The definite words of all languages."""
        return frozenset().union(*(self[f"definite {language}"] for language in WITH_ARTICLES))

    @cached_property
    def bare(self) -> frozenset[str]:
        """Words that only say who asks, or where it is to be told."""
        return self.definite.union(*(self[name] for name in BARE))

    @cached_property
    def phrases(self) -> list[tuple[str | None, str]]:
        """Lists of phrases, each between bars or ends of lines.

        Each with the language of the definite words that have to follow; ``None`` if anything may.
        """
        named = [
            (name.partition(" "), f"\n{text.casefold()}\n") for name, text in self._texts.items()
        ]
        sure = [(None, text) for (kind, _, _), text in named if kind == "sure"]
        return [*sure, *((to, text) for (kind, _, to), text in named if kind == "guarded")]


WORDS: Final = _Sections()


class _Phrase(NamedTuple):
    words: tuple[str, ...]
    language: str | None = None
    """Whose definite words have to follow; ``None`` if anything may."""

    def end(self, words: Sequence[str], start: int) -> int | None:
        """Return the place after the phrase, where it stands at a place of some words."""
        place, reach = start, 1
        for word in self.words:
            if word == ANYBODY:
                reach = 1 + NAMED
            elif word in (near := words[place : place + reach]):
                place, reach = place + near.index(word) + 1, 1
            else:
                return None
        return place


def _phrases(word: str) -> Iterator[_Phrase]:
    """Yield the phrases that begin with a word; of each language, those of more words first.

    They are looked for in their lists: a table of all takes longer than the rest of a reminder.
    """
    for language, text in WORDS.phrases:
        place = -1
        while (place := text.find(word, place + 1)) >= 0:
            end = place + len(word)
            if text[place - 1] in "|\n" and text[end] in " |\n":
                words = text[place : _next_break(text, end)].split()
                yield _Phrase(tuple(words), language)


def _next_break(text: str, start: int) -> int:
    bar = text.find("|", start)
    line = text.find("\n", start)
    return line if bar < 0 else min(bar, line)


class _Prompt:
    """A text as words, with what of it is asked for."""

    def __init__(self, text: str) -> None:
        self._text = text
        said = WORD.finditer(text[:MAX_CHARACTERS])
        self._found = [one for one in said if one[0].casefold() not in WORDS["fillers"]]
        self._words = [one[0].casefold() for one in self._found]

    @cached_property
    def _has_identifier(self) -> bool:
        """Whether a name of code, a path or the like stands in it: that is at hand."""
        text = self._text[:MAX_CHARACTERS]
        return bool(CODE.search(text) or parts_of_identifiers(text))

    def topic(self) -> str | None:
        """Return what is asked for; ``None`` if nothing is."""
        if not self._words or self._words[0] in WORDS["asking"]:
            return None
        return (
            self._put_into_document()
            or self._told_in_piece()
            or self._after_phrase()
            or self._after_readers()
            or self._named_alone()
            or self._ours()
        )

    def _after_phrase(self) -> str | None:
        for start, word in enumerate(self._words):
            for phrase in _phrases(word):
                end = phrase.end(self._words, start)
                if end is None or not self._asks(phrase, start, end):
                    continue
                first, readers = self._subject(start), self._readers(end)
                if ANYBODY in phrase.words:  # "let Anna know"
                    return self._without((first, start + 1), (end - 1, end), readers)
                if phrase.words[0] in WORDS["telling"]:
                    end = self._after_listener(end)
                return self._without((first, end), readers)
        return None

    def _after_listener(self, end: int) -> int:
        """Return where what is asked for begins: in "tell the new colleague X", after them."""
        near = takewhile(_is_bare, self._words[end : end + LISTENER])
        near = takewhile(lambda word: not _leads_on(word), near)
        places = [at for at, word in enumerate(near, end + 1) if word in WORDS["readers"]]
        place = max(places, default=end)
        return place if place < len(self._words) else end

    def _readers(self, start: int) -> tuple[int, int]:
        """Return which of the last words only say for whom, or for what, it is asked."""
        count = len(self._words)
        for place in range(max(start + 1, count - 1 - OBJECT), count - 1):
            rest = self._words[place + 1 :]
            if _leads_on(self._words[place]) and _are_readers(rest) and all(map(_is_bare, rest)):
                return place, count
        return count, count

    def _after_readers(self) -> str | None:
        """Return what stands after "for the new colleague:" at the beginning."""
        near = [*takewhile(_is_bare, self._words[1 : 1 + OBJECT])]
        if self._words[0] not in WORDS["for"] or not _are_readers(near):
            return None
        last = max(place for place, word in enumerate(near, 1) if _are_readers((word,)))
        wanted = self._words[last + 1 :]
        is_known = wanted and not self._is_at_hand(wanted) and wanted[0] not in WORDS["indefinite"]
        return self._without((0, last + 1)) if is_known else None

    def _asks(self, phrase: _Phrase, start: int, end: int) -> bool:
        """Return whether a phrase asks for something that is not at hand."""
        is_third = phrase.words[0] in WORDS["third"]
        if len(phrase.words) == 1 and not is_third and not self._begins_clause(start):
            return False
        before, wanted = self._words[:start], self._words[end:]
        if not wanted:  # "the log retention escapes me"
            return phrase.language is None and bool(before) and not self._is_at_hand(before)
        near = before[-BEFORE:]
        if wanted[0] in WORDS["to do"] or self._is_at_hand(wanted):
            return False
        if not WORDS["at hand"].isdisjoint(near):
            return False
        if phrase.language is None:
            return True
        if self._has_identifier or (asks(self._text) and not WORDS["openers"].issuperset(before)):
            return False
        is_ours = not (WORDS["we"].isdisjoint(wanted[:OBJECT]) and WORDS["ours"].isdisjoint(wanted))
        has_readers = self._readers(end)[0] < len(self._words)
        is_for_somebody = has_readers or self._after_listener(end) > end
        if phrase.words[0] in WORDS["explaining"] and not (is_ours or is_for_somebody):
            return False
        if phrase.words[0] in WORDS["showing"] and wanted[0] in WORDS["asking"] and not is_ours:
            return False
        is_name = phrase.language != "de" and self._found[end][0][0].isupper()
        if len(phrase.words) == 1 and not is_ours:
            if is_third and WORDS["readers"].isdisjoint(near):  # "the door needs the new key"
                return False
            is_plain = phrase.words[0] in WORDS["plain"]  # "find the shortest way"
            if is_plain and not (is_for_somebody or is_name):
                return False
        if phrase.language not in WITH_ARTICLES:
            return True
        return is_name or wanted[0] in WORDS[f"definite {phrase.language}"]

    def _put_into_document(self) -> str | None:
        """Return what is to be put "on the slide for Monday", with the rest of the text."""
        for start in range(min(len(self._words), BEFORE)):
            if self._words[start] not in WORDS["into"] or not self._begins_clause(start):
                continue
            for place in range(start + 2, len(self._words)):
                if self._words[place] not in WORDS["in"]:
                    continue
                near = [*takewhile(_is_bare, self._words[place + 1 : place + 1 + OBJECT])]
                if WORDS["documents"].isdisjoint(near):
                    continue
                wanted = self._words[start + 1 : place]
                is_known = wanted[0] not in WORDS["indefinite"] and not self._is_at_hand(wanted)
                end = place + 1 + len(near)
                return self._without((start, start + 1), (place, end)) if is_known else None
        return None

    def _told_in_piece(self) -> str | None:
        """Return what "a paragraph on" is about, with the rest of the text."""
        for start, word in enumerate(self._words[: 2 * BEFORE]):
            if word not in WORDS["pieces"]:
                continue
            places = [at for at in (start + 1, start + 2) if self._words[at : at + 1]]
            first = next((at + 1 for at in places if self._words[at] in WORDS["about"]), None)
            if first is None or not all(map(_is_bare, self._words[start + 1 : first - 1])):
                continue
            wanted = self._words[first:]
            if wanted and not self._is_at_hand(wanted):
                return self._without((self._subject(start), first))
        return None

    def _named_alone(self) -> str | None:
        """Return what a prompt names that says no more: "the payment term, please"."""
        if not MIN_NAMED <= len(self._words) <= AROUND or len(self._text) > MAX_CHARACTERS:
            return None
        last = [*WORD.finditer(self._text)][-1][0].casefold()
        is_short = len(self._words) < OBJECT and self._words[0] not in WORDS["into"]
        is_thing = is_short or self._words[0] in WORDS.definite
        if last not in WORDS["closers"] or not is_thing or self._is_at_hand(self._words):
            return None
        return self._text[self._found[0].start() : self._found[-1].end()]

    def _ours(self) -> str | None:
        """Return the text if "which", "what" or the like is to be told: "ask when we leave"."""
        for start in range(1, len(self._words)):
            if self._words[start] not in WORDS["asking"]:
                continue
            near = self._words[start + 1 : start + 1 + OBJECT]
            before = self._words[max(0, start - BEFORE) : start]
            is_ours = not WORDS["we"].isdisjoint(near)
            tells = WORDS["telling"] | (WORDS["explaining"] if is_ours else frozenset())
            if tells.isdisjoint(before) or not near or self._has_identifier:
                continue
            if not self._is_at_hand(near) and WORDS["at hand"].isdisjoint(before):
                return None if asks(self._text) else self._text
        return None

    def _subject(self, start: int) -> int:
        """Return where those begin who ask; where a phrase begins if they are named."""
        end = self._found[start].start()
        breaks = [one.end() for one in CLAUSE_END.finditer(self._text, 0, end)]
        first = next(
            i for i, one in enumerate(self._found) if one.start() >= max(breaks, default=0)
        )
        return first if all(map(_is_bare, self._words[first:start])) else start

    def _begins_clause(self, start: int) -> bool:
        before = self._text[: self._found[start].start()].rstrip()
        return (
            start == 0 or before[-1] in ".!?,:;–—-\n" or self._words[start - 1] in WORDS["openers"]
        )

    @staticmethod
    def _is_at_hand(wanted: Sequence[str]) -> bool:
        """Return whether some words name, or point to, what one works with."""
        near = wanted[:AROUND]
        is_shown = not (WORDS["at hand"].isdisjoint(near) and WORDS["pointing"].isdisjoint(near))
        return is_shown or near[0] in WORDS["pointing first"] or near[-1] in WORDS["pointing first"]

    def _without(self, *spans: tuple[int, int]) -> str:
        """Return the text without some of its words; nothing that was not read is lost."""
        parts, place = [], 0
        for first, end in spans:
            if first < end:
                parts.append(self._text[place : self._found[first].start()])
                place = self._found[end - 1].end()
        return _joined(*parts, self._text[place:])


def _joined(*parts: str) -> str:
    text = " ".join(filter(None, (part.strip().lstrip(",;: ") for part in parts)))
    return SPACE_BEFORE.sub(r"\1", text)


def _is_bare(word: str) -> bool:
    return word in WORDS.bare


def _leads_on(word: str) -> bool:
    """Return whether a word leads to those who are to read something, or to a document."""
    return word in WORDS["for"] or word in WORDS["in"]


def _are_readers(words: Collection[str]) -> bool:
    return not (WORDS["documents"].isdisjoint(words) and WORDS["readers"].isdisjoint(words))


def is_at_hand(text: str) -> bool:
    """Return whether a question is about the work at hand: a name of code, or "these tests"."""
    part = text[:MAX_CHARACTERS]
    words = {one[0].casefold() for one in WORD.finditer(part)}
    return bool(CODE.search(part)) or not (
        WORDS["at hand"].isdisjoint(words) or WORDS["pointing"].isdisjoint(words)
    )


def topic(text: str) -> str | None:
    """Return what a request asks to be told; ``None`` if a text is none.

    "Remind me of the payment term" is about no reminder: the words that only ask are left out,
    unless nothing else is there.
    """
    found = _found(normalize("NFC", text))
    return text if found is not None and not any(map(str.isalnum, found)) else found


def requested(text: str) -> str:
    """Return what a request asks to be told, or another text as it is."""
    found = topic(text)
    return text if found is None else found


def _found(text: str) -> str | None:
    if not text.isascii() and WITHOUT_SPACES.search(text, 0, MAX_CHARACTERS):
        if asks(text) or AT_HAND_WITHOUT_SPACES.search(text, 0, MAX_CHARACTERS):
            return None
        return ONLY_ASKS.sub(" ", text, count=1).strip()
    return _Prompt(text).topic()
