"""Times that a question states as a condition: before April, until May, at the end of June.

"What was the job queue before April?" does not ask for what was said in April: rows from then on
are no answer. The words, in sixteen languages, are in the kernel's lexicon. Only those next to
a time count; "before" and an event or a value is a condition too, whose moment the search finds.
"""

from __future__ import annotations

import re
import unicodedata
from datetime import date, timedelta
from functools import cache, lru_cache
from itertools import dropwhile, takewhile
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from memstore._kernel import language
from memstore.lazy import lazy_pattern
from memstore.named import NamedTuple
from memstore.text import relative_days
from memstore.text.relative_days import Days, last_of_month
from memstore.text.utterances import asks

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

MAX_CHARACTERS: Final = 300
"""A longer text is no question with a condition, but something pasted."""
WORDS_OF_DATE: Final = 6
"""How many words after its operator a date may end."""
WORDS_OF_EVENT: Final = 6
WORDS_OF_CLAUSE: Final = 9
"""How many words tell of an event that was decided."""
CHARACTERS_BEFORE: Final = 14
"""How far before an operator its date is, in a script without spaces."""

SPACED: Final = ("en", "de", "es", "fr", "it", "pt", "nl")
OF_LATIN: Final = (*SPACED, "pl", "tr")
OF_SCRIPTS: Final = {
    "ru": ("\u0400", "\u04ff"),
    "ar": ("\u0600", "\u06ff"),
    "hi": ("\u0900", "\u097f"),
    "th": ("\u0e00", "\u0e7f"),
    "ja": ("\u3040", "\u30ff"),
    "ko": ("\uac00", "\ud7af"),
    "zh": ("\u3400", "\u9fff"),
}
"""Languages that their scripts tell, whose first and last letters these are; of two that fit the
first one counts."""
OF_SPACE: Final = frozenset(("de", "nl", "ru", "pl"))
"""Languages whose "before" is of space or of purpose, too: only a name or a number is an event."""
UNTIL_OF_SPACE: Final = frozenset(("es", "fr", "it", "pt"))
"""And those whose "until" leads to a place: an event is what comes, "hasta que llegó NATS"."""
UNSPACED: Final = frozenset(("th", "ja", "zh", "ko"))

BEGINS: Final = r"(?<![^\s,;:.¿¡(«\"'’])"
ENDS: Final = r"(?![^\s,;:.?!？。、)»\"'’])"
APOSTROPHES: Final = "'’"
CLAUSE: Final = lazy_pattern(
    r"(?<!\d),(?!\s*(?:19|20)\d\d\b)|,(?!\d|\s*(?:19|20)\d\d\b)|[;:?!？。、؟]"
    r"|(?<!\b[DM]r)(?<!\b[FHNS][rt])(?<!\bMrs)(?<!\bMs)(?<!\bProf)(?<!\bSra)(?<!\bMme)\.(?:\s|$)"
)
"""Where a clause ends: not in "1,400", nor after a title."""
CLOCK: Final = frozenset(("AM", "PM", "A.M.", "P.M."))
"""After "until", an hour is no event."""
WORD: Final = re.compile(r"\S+")
WORDS: Final = re.compile(r"\w+")
CHINESE_MONTHS: Final = ("十二", "十一", "十", "一", "二", "三", "四", "五", "六", "七", "八", "九")
CHINESE_MONTH: Final = lazy_pattern(f"({'|'.join(CHINESE_MONTHS)})月")
MONTH_NUMBERS: Final = {"十二": 12, "十一": 11, "十": 10} | {
    sign: number for number, sign in enumerate("一二三四五六七八九", 1)
}

LIMITS: Final = ("between", "before", "until", "since", "from", "after", "back", "in")
"""Operators of which the first one with a time counts, in this order."""
PARTS: Final = ("beginning", "middle", "end")
NO_OPERATORS: Final = frozenset(("units", "asks", "decides", "we", "cuts", "past", "what", "why"))
"""Words of a language by which operators and what stands beside them are told."""


Side: TypeAlias = Literal["before", "at", "after"]

EVENTS: Final[Mapping[str, Side]] = MappingProxyType(
    {
        "before": "before",
        "precedes": "before",
        "follows": "after",
        "while": "at",
        "when": "at",
        "until": "before",
    }
)
"""Operators that may stand next to an event, and where the answer is beside it."""
TURNED: Final[Mapping[str, Side]] = MappingProxyType({"precedes": "after", "follows": "before"})
"""The same if nothing comes after the operator, but something before it: what did NATS replace?"""


class Stated(NamedTuple):
    """What a question says of the time of its answer."""

    first: date | None = None
    """Rows of earlier days are no answer."""
    last: date | None = None
    """Rows of later days are none."""
    meant: Days | None = None
    """The days that it means."""
    order: str | None = None
    """``newest`` or ``oldest``: which comes first of what matches."""
    words: str = ""
    """What says so, if rows may be about these words."""
    event: str = ""
    """What says by its own time of which one the answer is."""
    side: Side = "before"
    """Whether the answer is of the time before the event, of the same, or of the one after it."""
    is_dated: bool = False
    """Whether the dates that the question names are its condition."""
    topic: str = ""
    """The question without its condition; an event stays."""
    rest: str = ""
    """The question without its event, too; empty if nothing else may be left."""


class Operator(NamedTuple):
    language: str
    kinds: frozenset[str]
    begin: int
    end: int
    is_after: bool
    """Whether it stands after its time."""


@lru_cache(maxsize=16)  # a search reads its query for each thing that depends on it
def read(query: str, today: date) -> Stated | None:
    """Return the condition of a question, if it has one."""
    if len(query) > MAX_CHARACTERS:
        return None
    return Reading(query, today).condition()


class Reading:
    def __init__(self, query: str, today: date) -> None:
        self._query = CHINESE_MONTH.sub(_in_digits, unicodedata.normalize("NFC", query))
        self._text = folded(self._query)
        self._today = today
        self._operators = [*_operators(self._text)]
        if self._operators:
            past = relative_days.ends_of_past(self._query, today)
            self._operators = [one for one in self._operators if not past(one.end)]
        self._spans: list[tuple[int, int]] = []
        """Where the condition is stated."""
        self._event_span: tuple[int, int] | None = None
        self._language = ""
        """That of the condition, and where its event is."""

    def condition(self) -> Stated | None:
        by_kind: Iterable[tuple[str, Operator]] = (
            (kind, one) for kind in LIMITS for one in self._operators if kind in one.kinds
        )
        for kind, operator in by_kind:
            self._spans = [(operator.begin, operator.end)]
            if (found := self._limited(kind, operator)) is not None:
                return self._with_topic(found)
        found = self._part_alone() or self._event() or self._ordered()
        return found and self._with_topic(found)

    def _with_topic(self, found: Stated) -> Stated:
        without = self._without(self._spans)
        topic = without if any(map(str.isalnum, without)) else self._query
        if self._event_span is not None:
            return found._replace(topic=topic, rest=self._apart_from_event())
        # Who says what was first may say so: "for a start", "to begin with".
        rest = "" if found.order == "oldest" else self._plainly(topic)
        return found._replace(topic=topic, rest=rest)

    def _apart_from_event(self) -> str:
        """Return what is asked besides an event; nothing if that is only what it replaced."""
        assert self._event_span
        rest = self._plainly(self._without([*self._spans, self._event_span]))
        return rest if self._is_asked(rest) else ""

    def _is_asked(self, text: str) -> bool:
        """Whether a text has more than function words, if they are known in its language."""
        grammar = _known().get(self._language, frozenset())
        known = grammar | _words(self._language, "cuts") | _words(self._language, "decides")
        return bool(known) and any(word not in known for word in WORDS.findall(folded(text)))

    def _plainly(self, topic: str) -> str:
        """Return what is asked without words that only say that something was so: in force."""
        said = [one for one in self._operators if "states" in one.kinds]
        if not said:
            return topic
        among = {self._text[one.begin : one.end] for one in said}
        pattern = "|".join(sorted(map(re.escape, among), key=len, reverse=True))
        text = folded(topic)
        kept, last = [], 0
        for found in re.finditer(f"{BEGINS}(?:{pattern}){ENDS}", text):
            kept.append(topic[last : found.start()])
            last = found.end()
        return "".join([*kept, topic[last:]])

    def _without(self, spans: Iterable[tuple[int, int]]) -> str:
        """Return the question without all from the first to the last of some stretches."""
        begins, ends = zip(*spans, strict=True)
        return f"{self._query[: min(begins)]} {self._query[max(ends) :]}".strip()

    def _limited(self, kind: str, operator: Operator) -> Stated | None:
        if kind == "between":
            return self._between(operator, "and")
        if self._follows_unit(operator):
            return None
        if kind == "from" and (found := self._between(operator, "to", "through")) is not None:
            return found
        part, days = self._time(operator)
        if days is None or (kind == "from" and not self._goes_on(operator)):
            return None
        if kind == "in":
            return self._in(days) if part is None else _condition("part", part, days)
        return _condition(kind, part, days)

    def _in(self, days: Days) -> Stated | None:
        """Return the condition of "in May": what was said later is no answer.

        With a year it is what happened then, of which one may tell later, and so is a day.
        """
        if days[0] == days[1] or language.named_dates(self._query)[0]:
            return None
        return Stated(last=days[1], meant=days, order="newest")

    def _goes_on(self, operator: Operator) -> bool:
        """Whether it is from some time on."""
        end = self._clause_end(operator.end)
        return any(
            "onward" in one.kinds and operator.end < one.begin < end for one in self._operators
        )

    def _follows_unit(self, operator: Operator) -> bool:
        """Whether it is the week before something: that is told around it."""
        before = self._text[: operator.begin].split()
        return not operator.is_after and bool(before) and before[-1] in _units()

    def _between(self, operator: Operator, *joined_by: str) -> Stated | None:
        joints = [one for one in self._operators if not one.kinds.isdisjoint(joined_by)]
        joint = next((one for one in joints if one.begin > operator.end), None)
        if joint is None:
            return None
        first = self._days(operator, operator.end, joint.begin)
        if first is None or first[0] == first[1]:  # told on these days or around them
            return None
        part, second = self._time(joint)
        if second is None:
            return None
        if part:
            last = _of(part, second)[1]
        else:
            last = second[1] if "through" in joint.kinds else second[0] - timedelta(days=1)
        return Stated(last=last, order="newest", is_dated=True)

    def _part_alone(self) -> Stated | None:
        """At the end of May, Anfang Juli: without another operator."""
        for operator in self._operators:
            self._spans = [(operator.begin, operator.end)]
            if self._has_other_time(operator):
                continue
            for part in PARTS:
                if part in operator.kinds and (days := self._around(operator)) is not None:
                    return _condition("part", part, days)
        return None

    def _has_other_time(self, operator: Operator) -> bool:
        """Whether the time behind it is that of another operator: did she start it in May?"""
        end = self._clause_end(operator.end)
        return any(
            "in" in one.kinds and operator.end + 1 < one.begin < end for one in self._operators
        )

    def _around(self, operator: Operator) -> Days | None:
        """Return the time that an operator for a part of one stands next to."""
        after = self._days(operator, operator.end, self._clause_end(operator.end))
        return after or self._days(operator, self._start_before(operator.begin), operator.begin)

    def _event(self) -> Stated | None:
        if not asks(self._query):
            return None
        for operator in self._operators:
            if operator.kinds.isdisjoint(EVENTS) or self._follows_unit(operator):
                continue
            self._language = operator.language
            for kind in EVENTS:
                if kind in operator.kinds and (found := self._of_kind(kind, operator)):
                    return found
        self._event_span = None
        return None

    def _of_kind(self, kind: str, operator: Operator) -> Stated | None:
        """Return the condition of an operator that stands next to an event."""
        if kind == "before":
            return self._before(operator)
        if kind == "until":
            return self._until(operator)
        if EVENTS[kind] == "at":
            return self._while(kind, operator)
        return self._replaced(kind, operator)

    def _before(self, operator: Operator) -> Stated | None:
        if operator.is_after:
            begin, end = self._clause_start(operator.begin), operator.begin
            most = WORDS_OF_EVENT if operator.language in SPACED else 1
            found = [*WORD.finditer(self._query, begin, end)][-most:]
        else:
            begin, end = operator.end, self._clause_end(operator.end)
            found = [*WORD.finditer(self._query, begin, end)][:WORDS_OF_EVENT]
        event = _joined(found)
        if operator.language in OF_SPACE and not (event and _is_name(event)):
            return None
        return self._with_event("before", operator, found)

    def _until(self, operator: Operator) -> Stated | None:
        """Return the condition of what was so until something came, beside its name."""
        code = operator.language
        if operator.is_after or code in OF_SPACE or not self._is_past(self._text, code):
            return None
        end = self._clause_end(operator.end)
        behind = [*WORD.finditer(self._query, operator.end, end)][:WORDS_OF_EVENT]
        called = self._called(behind, code)
        is_event = any(one[0][0].isupper() and one[0] not in CLOCK for one in called)
        if code in UNTIL_OF_SPACE and called and called[0][0][0].isupper():
            return None  # the train to Madrid
        found = self._with_event("before", operator, called) if is_event else None
        if found is not None:
            self._event_span = behind[0].start(), behind[-1].end()
        return found

    def _is_past(self, text: str, code: str) -> bool:
        """Whether a text asks for what was so, if the words for that are known in its language."""
        past = _words(code, "past")
        told = f" {' '.join(WORDS.findall(folded(text)))} "
        return not past or any(f" {one} " in told for one in past)

    def _replaced(self, kind: str, operator: Operator) -> Stated | None:
        """Return the condition of what an event replaced, or was replaced by."""
        start, end = self._clause_start(operator.begin), self._clause_end(operator.end)
        before = [*WORD.finditer(self._query, start, operator.begin)][-WORDS_OF_EVENT:]
        if operator.is_after:
            we = _words(operator.language, "we")
            is_ours = not we or not we.isdisjoint(WORDS.findall(self._text))
            return self._with_event(EVENTS[kind], operator, before[-1:]) if is_ours else None
        if not self._asks_what(operator, start, end):
            return None
        behind = [*WORD.finditer(self._query, operator.end, end)][:WORDS_OF_EVENT]
        called = self._called(behind, operator.language)
        what = _words(operator.language, "what")
        if not called or self._plain_word(behind[0]) in what:  # Redis replaced which cache?
            event = self._named_last(before, operator)
            is_event = bool(event) and _is_name(_joined(event))
            return self._with_event(TURNED[kind], operator, event) if is_event else None
        is_event = _is_name(_joined(called)) or self._is_all(called, behind, operator.language)
        if not is_event or self._names_other(before, operator.language):
            return None
        found = self._with_event(EVENTS[kind], operator, called)
        if before and self._plain_word(before[-1]) in what:  # can you tell me what replaced it?
            self._spans.append((start, operator.begin))
        return found

    def _is_all(
        self, called: Sequence[re.Match[str]], behind: Sequence[re.Match[str]], code: str
    ) -> bool:
        """Whether an event is all that stands behind its operator, and no day: not what Marta
        replaced in the kitchen, nor what replaces foo in a file."""
        known = _known().get(code, frozenset())
        is_plain = known.isdisjoint(map(self._plain_word, called))
        is_day = bool(relative_days.past(_joined(called), self._today)[1])
        return called[0] is behind[0] and is_plain and not is_day

    def _asks_what(self, operator: Operator, start: int, end: int) -> bool:
        """Whether a clause asks what replaced something: not why, when, how, or whether to."""
        what = _words(operator.language, "what")
        clause = WORDS.findall(self._text[start:end])
        told = f"{' '.join(clause)} "
        if any(told.startswith(f"{one} ") for one in _words(operator.language, "why")):
            return False
        before = WORDS.findall(self._text[start : operator.begin])
        behind = WORDS.findall(self._text[operator.end : end])
        # Can you tell me what replaced it?
        return not what.isdisjoint((*clause[:2], *before[-1:], *behind))

    def _names_other(self, words: Sequence[re.Match[str]], code: str) -> bool:
        """Whether something is named that did replace it, or was said to: not "which API"."""
        what = _words(code, "what")
        parts = (WORDS.findall(self._plain_word(word)) for word in words)  # qu'est-ce
        asked = max((at for at, part in enumerate(parts) if not what.isdisjoint(part)), default=-2)
        called = self._called(words[asked + 2 :], code)
        return bool(called) and _is_name(_joined(called))

    def _while(self, kind: str, operator: Operator) -> Stated | None:
        """Return the condition of what was so when something was decided, or as long as it held."""
        code = operator.language
        if operator.is_after:
            begin, end = self._clause_start(operator.begin), operator.begin
        else:
            begin, end = operator.end, self._clause_end(operator.end)
        words = [*WORD.finditer(self._query, begin, end)][:WORDS_OF_CLAUSE]
        if not words:
            return None
        folds = [self._plain_word(word) for word in words]
        called = self._called(words, code)
        is_name = any(map(_is_name, (one[0] for one in called)))
        is_ours = folds[0] in _words(code, "we") or not _words(code, "we")
        is_decided = not _words(code, "decides").isdisjoint(folds)
        is_passive = (
            is_decided
            and folds[0] not in _words(code, "we")
            and any(one in _words(code, "past") for one in folds[1:-1])
        )
        if kind == "while":
            is_event = is_name
        elif is_decided or not _words(code, "decides"):
            is_event = is_ours or is_passive
        else:
            is_event = is_ours and is_name and bool(_words(code, "we"))
        found = self._with_event("at", operator, called) if is_event else None
        if found is None:
            return None
        self._event_span = words[0].start(), words[-1].end()
        rest = self._without([*self._spans, self._event_span])
        return found if self._is_past(rest, code) and self._is_asked(rest) else None

    def _with_event(
        self, side: Side, operator: Operator, words: Sequence[re.Match[str]]
    ) -> Stated | None:
        if not words:
            return None
        self._spans = [(operator.begin, operator.end)]
        self._event_span = words[0].start(), words[-1].end()
        said = self._query[operator.begin : operator.end]
        return Stated(order="newest", words=said, event=_joined(words), side=side)

    def _called(self, words: Sequence[re.Match[str]], code: str) -> Sequence[re.Match[str]]:
        """Return the first of some words that may be a name: no words of grammar, of deciding."""
        cuts = _words(code, "decides") | _words(code, "cuts")
        known = _known().get(code, frozenset()) | _words(code, "we") | cuts
        folds = [self._plain_word(word) for word in words]
        first = next((at for at, word in enumerate(folds) if word not in known), len(words))
        last = next((at for at in range(first, len(words)) if folds[at] in cuts), len(words))
        while last > first and folds[last - 1] in known:
            last -= 1
        return words[first:last]

    def _named_last(
        self, words: Sequence[re.Match[str]], operator: Operator
    ) -> Sequence[re.Match[str]]:
        """Return the last of some words that may be a name: which cache did Redis replace?"""
        code = operator.language
        cuts = _words(code, "decides") | _words(code, "cuts")
        known = _known().get(code, frozenset()) | _words(code, "we") | cuts
        told = [*dropwhile(lambda one: self._plain_word(one) in known, reversed(words))]
        run = [*takewhile(lambda one: self._plain_word(one) not in known, told)]
        return run[::-1]

    def _plain_word(self, word: re.Match[str]) -> str:
        return self._text[word.start() : word.end()].strip("«»\"'’“”() ")

    def _ordered(self) -> Stated | None:
        if not asks(self._query):
            return None
        for operator in self._operators:
            for order in ("newest", "oldest"):
                if order in operator.kinds or (order == "newest" and self._is_last(operator)):
                    words = self._query[operator.begin : operator.end]
                    self._spans = [(operator.begin, operator.end)]
                    return Stated(order=order, words=words)
        return None

    def _is_last(self, operator: Operator) -> bool:
        """Whether a question for a time asks for the last one: not for the last Friday."""
        following = self._text[operator.end :].split()[:1]
        is_unit = not _units().isdisjoint(word.rstrip("?.,") for word in following)
        return "last" in operator.kinds and self._text.startswith("when ") and not is_unit

    def _time(self, operator: Operator) -> tuple[str | None, Days | None]:
        """Return the time of an operator, and the part of it that is meant."""
        if operator.is_after:
            begin, end = self._start_before(operator.begin), operator.begin
        else:
            begin, end = operator.end, self._clause_end(operator.end)
        inside = [
            one
            for one in self._operators
            if begin <= one.begin < end or one.end + 1 == operator.begin
        ]
        parts = [(part, one) for part in PARTS for one in inside if part in one.kinds]
        days = self._days(operator, begin, end)
        if not parts:
            return None, days
        part, stated = parts[0]
        self._spans.append((stated.begin, stated.end))
        return part, days

    def _days(self, operator: Operator, begin: int, end: int) -> Days | None:
        """Return the time between two places, beside the operator but for words of grammar."""
        known = _known().get(operator.language, frozenset())
        serving = " ".join(word for word in self._text.split() if word in known)
        words = [*WORD.finditer(self._query, begin, end)][:WORDS_OF_DATE]
        for count, word in enumerate(words, 1):
            stated = self._query[begin : word.end()]
            is_vague = {"in", "back"}.isdisjoint(operator.kinds)
            if is_vague and (past := relative_days.past(stated, self._today)[1]):
                self._spans.append((begin, word.end()))
                return past[0]
            if named(f"{serving} {stated}", self._today):
                end = word.end()
                for more in words[count : count + 2]:
                    longer = self._query[begin : more.end()]
                    if _parts(f"{serving} {longer}") > _parts(f"{serving} {stated}"):
                        stated, end = longer, more.end()
                days = named(f"{serving} {stated}", self._today)
                if operator.is_after:
                    begin = self._beginning_of(begin, end, serving, days)
                self._spans.append((begin, end))
                return days
            if not self._serves(operator, word, known):
                return None
        return None

    def _beginning_of(self, begin: int, end: int, serving: str, days: Days | None) -> int:
        """Return where a time begins that ends at some place."""
        for word in WORD.finditer(self._query, begin, end):
            rest = self._query[word.end() : end]
            if named(f"{serving} {rest}", self._today) != days:
                return word.start()
        return begin

    def _serves(self, operator: Operator, word: re.Match[str], known: frozenset[str]) -> bool:
        """Whether a word may stand between an operator and its time, or is the beginning of it."""
        if operator.language in UNSPACED or operator.is_after:
            return True
        text = self._text[word.start() : word.end()].strip()
        parts = (one for one in self._operators if not one.kinds.isdisjoint(PARTS))
        is_part = any(one.begin <= word.start() < one.end for one in parts)
        return is_part or text in known or text[:1].isdigit() or text in _numbers()

    def _clause_end(self, begin: int) -> int:
        found = CLAUSE.search(self._query, begin)
        return found.start() if found else len(self._query)

    def _start_before(self, end: int) -> int:
        begin = max(self._clause_start(end), end - CHARACTERS_BEFORE)
        is_inside = begin > 0 and self._query[begin - 1].isascii() and self._query[begin].isascii()
        if is_inside and self._query[begin - 1].isalnum() and self._query[begin].isalnum():
            blank = self._query.find(" ", begin, end)
            begin = begin if blank < 0 else blank + 1
        return begin

    def _clause_start(self, end: int) -> int:
        return max((found.end() for found in CLAUSE.finditer(self._query, 0, end)), default=0)


def named(text: str, today: date) -> Days | None:
    """Return the first day, month or year that a text names, the most recent one."""
    years, months, days = language.named_dates(text)
    if not years and not months:
        return None
    year = years[0] if years else today.year - (months[0] > today.month)
    if not months:
        return date(year, 1, 1), date(year, 12, 31)
    try:
        first = date(year, months[0], days[0] if days else 1)
    except ValueError:  # the 31st of June
        return None
    return first, first if days else last_of_month(year, months[0])


def _parts(text: str) -> int:
    """Return how many years, months and days a text names."""
    return sum(map(len, language.named_dates(text)))


def _joined(words: Iterable[re.Match[str]]) -> str:
    return " ".join(one[0] for one in words)


def _is_name(text: str) -> bool:
    return text[0].isupper() or any(map(str.isdigit, text))


def _condition(kind: str, part: str | None, days: Days) -> Stated:
    first, last = _of(part, days) if part else days
    day = timedelta(days=1)
    if kind in ("since", "from"):
        return Stated(first=first, meant=(first, last))
    if kind == "after":
        return Stated(first=last + day, is_dated=True)
    if kind == "before" or (kind == "until" and part in (None, "beginning")):
        return Stated(last=first - day, order="newest", is_dated=True)
    if kind == "until":
        return Stated(last=last, order="newest", is_dated=True)
    end = days[1] if part == "end" else last
    return Stated(last=end, meant=(first, last), order="newest", is_dated=True)


def _of(part: str, days: Days) -> Days:
    """Return the first, the second or the last third of some days."""
    third = (days[1] - days[0]) / 3
    begin, end = days[0] + third, days[1] - third
    return {
        "beginning": (days[0], begin),
        "middle": (begin, end),
        "end": (end, days[1]),
    }[part]


def _in_digits(found: re.Match[str]) -> str:
    return f"{MONTH_NUMBERS[found[1]]}月"


def folded(text: str) -> str:
    """Return a text of the same length in small letters, Latin ones without accents; an apostrophe
    is a blank."""
    if text.isascii():
        return text.lower().replace("'", " ")
    return "".join(map(_plain, text))


def _plain(character: str) -> str:
    if character in APOSTROPHES:
        return " "
    if character.isascii():
        return character.lower()
    base = unicodedata.normalize("NFD", character)[0]
    plain = base if base.isascii() else character
    small = plain.lower()
    return small if len(small) == 1 else plain


def _operators(text: str) -> Iterator[Operator]:
    for code in _languages(text):
        kinds, find_end = _of_language(code)
        for found in _pattern(code).finditer(text):
            yield Operator(code, kinds[found[1]], *found.span(1), found[1] in find_end)


def _languages(text: str) -> list[str]:
    """Return the languages that a text with the words of some operator may be of."""
    script = _script(text)
    among = OF_LATIN if script is None else (script,)
    if not any(any(map(text.__contains__, _of_language(code)[0])) for code in among):
        return []  # like most questions
    if script is not None:
        return [script]
    words = WORD.findall(re.sub(r"[^\w\s]", " ", text))
    votes = {code: sum(map(known.__contains__, words)) for code, known in _known().items()}
    most = max(votes.values())
    return [code for code, count in votes.items() if count == most] if most else []


def _script(text: str) -> str | None:
    """Return the language that the script of a text tells."""
    if text.isascii():
        return None
    letters = {letter for letter in text if not letter.isascii()}
    scripts = OF_SCRIPTS.items()
    among = (
        code for code, (first, last) in scripts if any(first <= one <= last for one in letters)
    )
    return next(among, None)


@cache
def _known() -> Mapping[str, frozenset[str]]:
    """The function words of the languages that share the Latin script."""
    known = {code: {folded(one) for one in language.stop_words(code)} for code in SPACED}
    for code in ("pl", "tr"):
        known[code] = {folded(word) for word in dict(language.conditions(code))["asks"]}
    return {code: frozenset(words) for code, words in known.items()}


@cache
def _numbers() -> frozenset[str]:
    """Numbers in words, and what else a time relative to today begins with."""
    lasts = (*relative_days.LAST_OF_MONTH, "this", "diese", "dieser", "dieses", "diesem")
    return frozenset(map(folded, (*" ".join(relative_days.NUMBERS.values()).split(), *lasts)))


@cache
def _words(code: str, kind: str) -> frozenset[str]:
    """Return the words of a language of a kind that are no operators."""
    found = dict(language.conditions(code)).get(kind, ())
    return frozenset(folded(word).replace("_", " ") for word in found)


@cache
def _units() -> frozenset[str]:
    codes = (*SPACED, "ru", "pl")
    return frozenset(
        folded(word) for code in codes for word in dict(language.conditions(code))["units"]
    )


@cache
def _of_language(code: str) -> tuple[Mapping[str, frozenset[str]], frozenset[str]]:
    """Return what each operator of a language says, and which are after their times."""
    kinds: dict[str, set[str]] = {}
    after: set[str] = set()
    for kind, phrases in language.conditions(code):
        if kind in NO_OPERATORS:
            continue
        for phrase in phrases:
            text = folded(unicodedata.normalize("NFC", phrase)).lstrip("~").replace("_", " ")
            kinds.setdefault(text, set()).add(kind)
            if phrase.startswith("~"):
                after.add(text)
    return {text: frozenset(kinds) for text, kinds in kinds.items()}, frozenset(after)


@cache
def _pattern(code: str) -> re.Pattern[str]:
    """A pattern for the operators of a language."""
    each = "|".join(sorted(map(re.escape, _of_language(code)[0]), key=len, reverse=True))
    bounded = each if code in UNSPACED else f"{BEGINS}(?:{each}){ENDS}"
    # At each place, because "in the beginning of May" has "beginning", too.
    return re.compile(f"(?=({bounded}))")
