"""What is asked of the half year, with what answers it.

Which decision was in force at a time follows from the life itself; a question whose answer would
depend on how one reads its words (a change on the first days of a month that it asks about) is not
asked.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import date, timedelta
from itertools import pairwise
from typing import Final, NamedTuple

from benches.finding.halfyear import stock
from benches.finding.halfyear.life import (
    FIRST,
    NAMESPACES,
    NOW,
    PROJECTS,
    ZONE,
    Life,
    Session,
    Told,
)

TODAY: Final = NOW.astimezone(ZONE).date()
MONTHS: Final = (
    "January", "February", "March", "April", "May", "June", "July",
)  # fmt: skip
NEAR: Final = 8
"""A change within so many days of a month's beginning or end makes a question about it unclear."""

FILES: Final = (
    "src/util/slug.ts", "lib/retry.py", "app/Toast.kt", "web/Modal.svelte", "core/pool.rs",
    "tests/conftest.py", "scripts/seed.sh", "api/errors.go", "ui/Pager.tsx", "main.c",
)  # fmt: skip
NAMES: Final = (
    "parse_args", "useToggle", "clampIndex", "flush_buffer", "to_slug", "chunked", "isOpen",
    "debounce", "read_pages", "mergeProps", "next_power", "memoise",
)  # fmt: skip

GERMAN: Final = ("die ", "der ")
"""Topics of these names are asked about only as they are in the stock."""

PER_KIND: Final = {
    "before": 20, "since": 12, "after": 6, "between": 8, "beginning": 10, "end": 10, "back": 10,
    "first": 14, "latest": 12, "when": 14, "before x": 24, "after x": 10, "while x": 16,
}  # fmt: skip
TEMPORAL: Final = frozenset(
    ("before", "since", "after", "between", "beginning", "end", "back", "first", "latest", "when")
)
ORDERS: Final = 200


class Need(NamedTuple):
    """A line that answers."""

    key: str
    """Words that it must have; those joined by ``+`` in any order."""
    day: date | None = None
    """The day under which it must stand."""

    def is_met(self, words: str, day: date | None) -> bool:
        return (self.day is None or day == self.day) and has(words, self.key)


class Question(NamedTuple):
    kind: str
    project: str
    text: str
    needs: tuple[tuple[Need, ...], ...]
    """Of each group, one line is needed; without any, nothing should be told."""
    about: frozenset[str]
    """Labels of the turns that bear on it and can answer it."""
    stale: tuple[tuple[str, str, int], ...] = ()
    """Of what is asked as of now: the topic's label, the key that holds, its place."""
    event: frozenset[str] = frozenset()
    """The label of an event that it names as a time: what tells of that says which time it was, so
    it bears on the question, too."""

    @property
    def is_answerable(self) -> bool:
        return bool(self.needs)


def has(words: str, key: str) -> bool:
    return all(
        re.search(rf"(?<!\w){re.escape(one)}", words, re.IGNORECASE) for one in key.split("+")
    )


def asked(life: Life, seed: int, otherwise: bool = False) -> list[Question]:
    """Return all questions about the topics of a life's half."""
    return [*_Asker(life, random.Random(f"{life.half}/{seed}/asked"), otherwise).ask()]


class _Asker:
    def __init__(self, life: Life, chance: random.Random, otherwise: bool) -> None:
        self._life = life
        self._chance = chance
        self._ways = stock.asked(life.half, otherwise)
        self._is_otherwise = otherwise
        labels = sorted(topic.label for topic in stock.topics_of(life.half))
        self._told = [life.told[label] for label in labels]

    def ask(self) -> Iterator[Question]:
        yield from self._plain()
        for kind, count in PER_KIND.items():
            yield from self._sampled([*self._dated(kind)], count)
        yield from self._relative()
        yield from self._sampled([*self._touched()], 12)
        yield from self._pairs()
        yield from self._requests()
        yield from self._introduced()
        yield from self._tickets()
        yield from self._rules()
        yield from self._unknown()
        yield from self._orders()

    def _sampled(self, some: Sequence[Question], count: int) -> list[Question]:
        return self._chance.sample(some, min(count, len(some)))

    def _way(self, kind: str, **filled: str) -> str:
        text = self._chance.choice(self._ways[kind]).format(**filled)
        return text[0].upper() + text[1:]

    def _name(self, told: Told) -> str:
        """Return what a topic is called; in a shared memory, half of the time with its project."""
        is_shared = told.topic.project not in NAMESPACES
        of = is_shared and self._chance.random() < 0.5
        return f"{told.topic.name} of {told.topic.project}" if of else told.topic.name

    # -- as of now ---------------------------------------------------------------------------------

    def _plain(self) -> Iterator[Question]:
        for told in self._told:
            kind = "changed" if len(told) > 1 else "other words"
            count = 2 if len(told) > 1 else 3
            for text in self._chance.sample(told[-1].topic.asked, count):
                is_named = told[-1].topic.project not in NAMESPACES and self._chance.random() < 0.5
                yield _now(kind, f"{told[-1].topic.project}: {text}" if is_named else text, told)

    def _pairs(self) -> Iterator[Question]:
        for project in PROJECTS:
            own = [told for told in self._told if told[0].topic.project == project]
            self._chance.shuffle(own)
            for one, other in [*pairwise(own)][:5]:
                names = {"noun": self._name(one[0]), "noun2": self._name(other[0])}
                is_german = any(each[0].topic.name.startswith(GERMAN) for each in (one, other))
                by_name = not is_german and self._chance.random() < 0.6
                first, second = (self._chance.choice(each[0].topic.asked) for each in (one, other))
                text = self._way("two", **names) if by_name else f"{first} And {_lower(second)}"
                yield _now("two things", text, one, other)

    def _requests(self) -> Iterator[Question]:
        for told in self._told:
            if not told[0].topic.name.startswith(GERMAN):
                yield _now("request", self._way("request", noun=self._name(told[0])), told)

    def _introduced(self) -> Iterator[Question]:
        for told in self._told:
            for one in told:
                if one.proposed_by:
                    filled = {"new": _value(one), "noun": self._name(one)}
                    text = self._way("introduced", **filled)
                    yield _about("who introduced", text, one, Need(one.proposed_by))

    # -- as of another time ------------------------------------------------------------------------

    def _dated(self, kind: str) -> Iterator[Question]:
        for told in self._told:
            if len(told) < 2 or told[0].topic.name.startswith(GERMAN):
                continue
            for one, filled in self._answers(kind, told):
                noun = self._name(one)
                names = {"noun": noun, "bare": re.sub(r"^the ", "", noun)}
                text = self._way(kind, **names, **filled)
                need = Need(_key(one), one.day) if kind == "when" else Need(_key(one))
                question = _about(kind, text, one, need)
                if kind == "latest":
                    question = question._replace(stale=_stale(told))
                elif kind == "while x":
                    question = question._replace(event=frozenset({filled["event_label"]}))
                yield question

    def _answers(self, kind: str, told: list[Told]) -> Iterator[tuple[Told, dict[str, str]]]:
        first, last = told[0], told[-1]
        if kind == "first":
            yield first, {}
        elif kind in ("latest", "when"):
            yield last, {"new": _value(last)}
        elif kind == "before x":
            yield from ((old, {"new": _value(new)}) for old, new in pairwise(told))
        elif kind == "after x":
            yield from ((new, {"old": _value(old)}) for old, new in pairwise(told))
        elif kind == "while x":
            yield from self._meanwhile(told)
        else:
            for month in range(1, 8):
                yield from _in_month(kind, told, month)

    def _meanwhile(self, told: list[Told]) -> Iterator[tuple[Told, dict[str, str]]]:
        """Yield what was so when something else was decided in the same project."""
        for other in self._told:
            if other is told or other[0].topic.project != told[0].topic.project:
                continue
            event = self._chance.choice(other)
            held = _in_force(told, event.day)
            days = [abs((one.day - event.day).days) for one in told]
            if held and held is not told[-1] and min(days) > NEAR:
                yield held, {"event": _value(event), "event_label": event.topic.label}

    def _relative(self) -> Iterator[Question]:
        for project in PROJECTS:
            sessions = self._life.of(project)
            spans = [*_spans(sessions)]
            for when, first, last in self._chance.sample(spans, min(5, len(spans))):
                own = [one for one in sessions if first <= one.day <= last]
                needs = tuple(Need(_start(done), one.day) for one in own for done in one.done)
                about = frozenset(turn.about for one in own for turn in one.turns if turn.about)
                text = self._way("relative", when=when, When=when.capitalize())
                yield Question("relative days", project, text, (needs,), about)

    def _touched(self) -> Iterator[Question]:
        for project in PROJECTS:
            last = {file: one for one in self._life.of(project) for file in one.files}
            for file, session in last.items():
                about = frozenset({f"work {session.name}", f"trace {session.name}"})
                text = self._way("touched", file=file)
                need = Need(file, session.day)
                yield Question("last touched", project, text, ((need,),), about)

    # -- tickets, rules, and what has no answer ----------------------------------------------------

    def _tickets(self) -> Iterator[Question]:
        for one in stock.split(stock.tickets(), self._life.half, lambda ticket: ticket.number):
            by_number = self._way("ticket", number=one.number)
            for kind, text in (("ticket", by_number), ("ticket, other words", one.asked)):
                about = frozenset({one.number})
                yield Question(kind, one.project, text, ((Need(one.key),),), about)

    def _rules(self) -> Iterator[Question]:
        for one in stock.split(stock.rules(), self._life.half, lambda rule: rule.told[0]):
            for order in one.orders:
                about = frozenset({f"rule {one.told[0]}"})
                yield Question("rule on order", one.project, order, ((Need(one.key),),), about)

    def _unknown(self) -> Iterator[Question]:
        for text in stock.unknown(self._life.half, self._is_otherwise):
            yield Question("unknown", self._chance.choice(PROJECTS), text, (), frozenset())

    def _orders(self) -> Iterator[Question]:
        templates = stock.orders(self._life.half, self._is_otherwise)
        texts = dict.fromkeys(one for one in templates if "{" not in one)
        open_ones = [one for one in templates if "{" in one]
        while len(texts) < ORDERS:
            name, other = self._chance.sample(NAMES, 2)
            number = str(self._chance.randint(2, 90))
            file = self._chance.choice(FILES)
            template = self._chance.choice(open_ones)
            texts[template.format(file=file, name=name, other=other, n=number)] = None
        for text in texts:
            yield Question("order", self._chance.choice(PROJECTS), text, (), frozenset())


def _now(kind: str, text: str, *topics: list[Told]) -> Question:
    return Question(
        kind,
        topics[0][0].topic.project,
        text,
        tuple((Need(_key(told[-1])),) for told in topics),
        frozenset(told[0].topic.label for told in topics),
        tuple(one for told in topics for one in _stale(told)),
    )


def _stale(told: list[Told]) -> tuple[tuple[str, str, int], ...]:
    if len(told) < 2:
        return ()
    return ((told[0].topic.label, _key(told[-1]), told[-1].place),)


def _about(kind: str, text: str, told: Told, need: Need) -> Question:
    return Question(kind, told.topic.project, text, ((need,),), frozenset({told.topic.label}))


def _in_month(kind: str, told: list[Told], number: int) -> Iterator[tuple[Told, dict[str, str]]]:
    """Yield what was in force as a kind of question asks for a month, where that is one thing."""
    first, after = date(2026, number, 1), date(2026, number + 1, 1)
    month = {"month": MONTHS[number - 1]}
    changes = [one for one in told[1:] if first <= one.day < after]
    before = _in_force(told, first - timedelta(days=1))
    later = [one for one in told if one.day >= after]
    if after > TODAY:
        return
    if kind == "before" and before and any(one.day >= first for one in told):
        yield before, month
    elif kind == "since" and len(changes) == 1 and not later:
        yield changes[0], month
    elif kind == "after" and len(later) == 1 and before:
        yield later[0], month
    elif kind == "between" and number < 6:
        until = date(2026, number + 2, 1)
        if before and before is not told[-1] and not _changed(told, first, until):
            yield before, month | {"month2": MONTHS[number]}
    elif kind == "beginning" and before and before is not told[-1]:
        if not _changed(told, first - timedelta(days=1), first + timedelta(days=NEAR)):
            yield before, month
    elif kind == "end":
        held = _in_force(told, after)
        is_clear = not _changed(told, after - timedelta(days=NEAR), after + timedelta(days=1))
        if held and held is not told[-1] and is_clear:
            yield held, month
    elif kind == "back" and before and before is not told[-1] and not changes:
        yield before, month


def _in_force(told: Iterable[Told], day: date) -> Told | None:
    held = [one for one in told if one.day <= day]
    return held[-1] if held else None


def _changed(told: Iterable[Told], first: date, after: date) -> bool:
    return any(first <= one.day < after for one in told)


def _spans(sessions: Sequence[Session]) -> Iterator[tuple[str, date, date]]:
    """Yield words for a time with sessions, and its first and last day."""
    days = {one.day for one in sessions}
    monday = TODAY - timedelta(days=TODAY.weekday())
    for day in sorted(days):
        ago = (TODAY - day).days
        if ago in NEAR_DAYS:
            yield from ((words, day, day) for words in NEAR_DAYS[ago])
        elif ago < 15:
            yield f"{ago} days ago", day, day
        if 1 < ago < 7:
            yield f"last {day:%A}", day, day
        if ago == 14:
            yield "two weeks ago", day, day
    wide = (
        ("this week", monday, TODAY),
        ("last week", monday - timedelta(days=7), monday - timedelta(days=1)),
        ("last month", date(2026, 6, 1), date(2026, 6, 30)),
        ("this month", date(2026, 7, 1), TODAY),
    )
    for words, first, last in wide:
        if any(first <= day <= last for day in days) and first >= FIRST:
            yield words, first, last


NEAR_DAYS: Final = {
    0: ("today", "this morning"),
    1: ("yesterday", "the day before today"),
    2: ("the day before yesterday", "two days ago"),
    3: ("three days ago",),
}


def _key(told: Told) -> str:
    return told.decision.key


def _value(told: Told) -> str:
    return told.decision.key.split("+")[0]


def _start(text: str) -> str:
    return " ".join(text.split()[:6])


def _lower(text: str) -> str:
    return text[0].lower() + text[1:]
