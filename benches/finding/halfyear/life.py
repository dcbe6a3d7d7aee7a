"""Makes up half a year of sessions from the stock: what is said in them, and what is so when.

All of it follows from a half and a seed. The development half is told in the first wording of each
decision, the held-out half in the second one; who asks, when, and in which session is drawn anew.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from typing import Final, NamedTuple
from zoneinfo import ZoneInfo

from benches.finding.halfyear import stock
from benches.finding.halfyear.stock import Decision, Rule, Ticket, Topic

ZONE: Final = ZoneInfo("Europe/Berlin")
FIRST: Final = date(2026, 1, 5)
NOW: Final = datetime(2026, 7, 2, 17, tzinfo=ZONE).astimezone(UTC)
"""When all is asked: on a Thursday."""

PROJECTS: Final = ("shop", "clinic", "fleet", "books", "radio", "home")
NAMESPACES: Final = {"shop": "~/work/shop", "clinic": "~/work/clinic", "home": "~/notes"}
"""The other projects share one, as where a host does not say in which folder it works."""
SHARED: Final = "default"
HOSTS: Final = {
    "shop": ("claude-code", "codex"),
    "clinic": ("claude-code", "gemini-cli"),
    "fleet": ("windsurf", "claude-desktop"),
    "books": ("windsurf",),
    "radio": ("windsurf", "claude-desktop"),
    "home": ("gemini-cli",),
}
SESSIONS: Final = 22
"""Of each project, over the half year; those of the last days come on top."""
LAST_DAYS: Final = ((1, 3, 6), (2, 4, 10))
"""How many days ago the last sessions were, of every other project."""

OPENINGS: Final = (
    "", "", "", "By the way: ", "FYI: ", "For the record: ", "One more thing. ",
    "Before I forget: ", "After the call with the others: ", "Small change of plan. ",
    "Note to self and to you: ",
)  # fmt: skip
AGAIN: Final = ("As I said: ", "To repeat it: ", "Same as before: ", "Just so that it is clear. ")
ACKNOWLEDGED: Final = (
    "Noted.", "I changed the configuration accordingly.", "Understood, I'll keep to that.",
    "Good. I adapted the docs, too.", "All right. Two places had it otherwise.",
    "Okay, that makes the next step easier.", "Done; the old settings are gone.", "Got it.",
)  # fmt: skip
NOT_FOUND: Final = (
    "I do not see that in the repository.", "There is nothing about it in these files.",
    "I cannot tell from the code. Shall I search the history?", "That is not written down here.",
)  # fmt: skip
PEOPLE: Final = (
    "Zsofia", "Emeka", "Solveig", "Ruben", "Xiomara", "Aurel", "Thandi", "Ludovic", "Keiko",
    "Fergus", "Ottilie", "Bashir", "Pernille", "Matteo", "Wioletta", "Gustavo",
)  # fmt: skip
IN_THE_SAME: Final = (" It was {}'s idea.", " {} proposed it.", " ({} pushed for it.)")
IN_THE_NEXT: Final = (
    "{} brought that up, by the way.", "We have {} to thank for that.", "That came from {}.",
)  # fmt: skip
LOG: Final = (
    "{time} INFO  worker-{n} picked batch {n}{n}",
    "{time} WARN  slow statement, {n}{n} ms",
    "{time} INFO  GET /health 200 {n} ms",
    "{time} ERROR connection reset by peer, attempt {n}",
)


class Told(NamedTuple):
    """A decision that was made in a session."""

    topic: Topic
    place: int
    """Its place among the topic's decisions."""
    at: datetime
    proposed_by: str | None

    @property
    def decision(self) -> Decision:
        return self.topic.decisions[self.place]

    @property
    def day(self) -> date:
        return self.at.astimezone(ZONE).date()


@dataclass
class Turn:
    speaker: str
    text: str
    at: datetime
    about: str = ""
    """The label of its topic, ticket, rule or work; empty for what bears on no question."""
    place: int | None = None
    """Of a turn that tells a decision: which one of its topic."""


@dataclass
class Fact:
    """What an extractor draws from a turn."""

    turn: int
    topic: Topic
    place: int


@dataclass
class Session:
    project: str
    host: str
    name: str
    at: datetime
    turns: list[Turn] = field(default_factory=list)
    facts: list[Fact] = field(default_factory=list)
    files: list[str] = field(default_factory=list)
    done: list[str] = field(default_factory=list)
    """What the agent said about each piece of work."""

    @property
    def day(self) -> date:
        return self.at.astimezone(ZONE).date()

    def say(self, speaker: str, text: str, about: str = "", place: int | None = None) -> None:
        self.turns.append(Turn(speaker, text, self._now(), about, place))

    def _now(self) -> datetime:
        return self.at + timedelta(minutes=2 * len(self.turns))


@dataclass
class Life:
    half: str
    sessions: list[Session]
    told: dict[str, list[Told]]
    """By the topic's label, in order."""

    def of(self, project: str) -> list[Session]:
        return [one for one in self.sessions if one.project == project]


def namespace_of(project: str) -> str:
    return NAMESPACES.get(project, SHARED)


def lived(half: str, seed: int, noted: float = 0.5) -> Life:
    """Return the half year of a half of the stock, with all topics told in its wording.

    Args:
        noted: the share of topics of which an extractor stores each decision as a fact.
    """
    return _Writer(half, random.Random(f"{half}/{seed}"), noted).write()


class _Writer:
    """Writes sessions, one project after the other."""

    def __init__(self, half: str, chance: random.Random, noted: float) -> None:
        self._chance = chance
        self._noted = noted
        self._wording = stock.HALVES.index(half)
        self._life = Life(half, [], defaultdict(list))
        self._people = [*PEOPLE]

    def write(self) -> Life:
        for project in PROJECTS:
            self._write_project(project)
        self._life.sessions.sort(key=lambda session: session.at)
        return self._life

    def _write_project(self, project: str) -> None:
        sessions = [*self._sessions(project)]
        works = [one for one in stock.work() if one.project == project]
        for place, session in enumerate(sessions):
            self._chatter(session, works, place)
        own = [one for one in stock.topics() if one.project == project]
        for topic in own:
            self._decide(topic, sessions)
        for ticket in (one for one in stock.tickets() if one.project == project):
            _report(ticket, self._chance.choice(sessions[:-6]))
        for rule in (one for one in stock.rules() if one.project == project):
            self._forbid(rule, self._chance.choice(sessions[:-6]))
        for session in sessions:
            self._disturb(session)
        for topic in self._chance.sample(own, len(own) // 3):
            self._ask(topic, sessions)
        self._life.sessions += sessions

    def _sessions(self, project: str) -> Iterator[Session]:
        number = PROJECTS.index(project)
        whole = (NOW.astimezone(ZONE).date() - FIRST).days
        ago = {*LAST_DAYS[number % 2], 0}
        first = [whole - round(i * whole / SESSIONS) for i in range(SESSIONS)]
        jittered = {days - self._chance.randint(0, 3) for days in first if days > 14}
        for days in sorted(ago | jittered, reverse=True):
            # Some work late: in UTC that is still the day before in summer, after midnight.
            hour = 8 + number if days < 12 else self._chance.choice((8, 9, 11, 14, 16, 23))
            day = NOW.astimezone(ZONE).date() - timedelta(days=days)
            at = datetime(day.year, day.month, day.day, hour, number, tzinfo=ZONE)
            host = self._chance.choice(HOSTS[project])
            yield Session(project, host, f"{project}-{day:%m%d}", at.astimezone(UTC))

    def _chatter(self, session: Session, works: Sequence[stock.Work], place: int) -> None:
        held = stock.chatter()
        for number in range(self._chance.randint(2, 4)):
            if number == 0 and place < len(works):
                work = works[place]
                order = f"{work.order}, in {work.file}" if work.file else work.order
                answer = work.answer
            else:
                work = self._chance.choice(works)
                thing = self._chance.choice(held.things[session.project])
                order, answer = self._chance.choice(held.exchanges)
                order = order.format(thing=thing)
                answer = answer.format(thing=thing, Thing=thing[0].upper() + thing[1:])
            if work.file and work.file not in session.files:
                session.files.append(work.file)
            session.say("user", self._in_style(session.host, order), f"work {session.name}")
            session.say("assistant", answer, f"work {session.name}")
            session.done.append(answer)

    def _in_style(self, host: str, text: str) -> str:
        if host == "codex":
            return text[0].lower() + text[1:].rstrip(".")
        if host == "gemini-cli" and self._chance.random() < 0.3:
            return f"Please: {text}"
        return text

    def _decide(self, topic: Topic, sessions: Sequence[Session]) -> None:
        count = len(topic.decisions)
        width = len(sessions) / (count + 0.5)
        extracted = self._chance.random() < self._noted
        earlier = -1
        for place in range(count):
            low = max(earlier + 1, int(place * width))
            at = min(len(sessions) - 1, self._chance.randint(low, int((place + 0.8) * width)))
            self._tell(topic, place, sessions[at], extracted)
            earlier = at
            if self._chance.random() < 0.3 and at + 1 < int((place + 1) * width):
                earlier = at + 1
                self._repeat(topic, place, sessions[earlier])

    def _tell(self, topic: Topic, place: int, session: Session, extracted: bool) -> None:
        text = self._chance.choice(OPENINGS) + topic.decisions[place].told[self._wording]
        who = None
        if self._chance.random() < 0.4:
            if not self._people:
                self._people = [*PEOPLE]
            who = self._people.pop(self._chance.randrange(len(self._people)))
        is_same = self._chance.random() < 0.5
        if who and is_same:
            text += self._chance.choice(IN_THE_SAME).format(who)
        told = Told(topic, place, session._now(), who)
        session.say("user", self._in_style(session.host, text), topic.label, place)
        if extracted:
            session.facts.append(Fact(len(session.turns) - 1, topic, place))
        if who and not is_same:
            session.say("user", self._chance.choice(IN_THE_NEXT).format(who), topic.label)
        session.say("assistant", self._chance.choice(ACKNOWLEDGED))
        self._life.told[topic.label].append(told)

    def _repeat(self, topic: Topic, place: int, session: Session) -> None:
        text = self._chance.choice(AGAIN) + topic.decisions[place].told[self._wording]
        session.say("user", text, topic.label, place)
        session.say("assistant", self._chance.choice(ACKNOWLEDGED))

    def _forbid(self, rule: Rule, session: Session) -> None:
        session.say("user", rule.told[self._wording], f"rule {rule.told[0]}")
        session.say("assistant", self._chance.choice(ACKNOWLEDGED))

    def _disturb(self, session: Session) -> None:
        """Add the orders that are given every day, and now and then a pasted log."""
        for order, answer in self._chance.sample(stock.noise(), self._chance.randint(2, 5)):
            session.say("user", order)
            session.say("assistant", answer)
        if self._chance.random() < 0.15:
            session.say("user", "what is this?\n" + "\n".join(self._log(session)))
            session.say("assistant", "One connection was dropped and came back by itself.")

    def _log(self, session: Session) -> Iterator[str]:
        for _ in range(12):
            at = session.at + timedelta(seconds=self._chance.randint(0, 90))
            line = self._chance.choice(LOG)
            yield line.format(time=at.isoformat(), n=self._chance.randint(1, 40))

    def _ask(self, topic: Topic, sessions: Sequence[Session]) -> None:
        """Ask the same question in several sessions, where the agent does not know."""
        question = self._chance.choice(topic.asked)
        for session in self._chance.sample(sessions[len(sessions) // 2 :], 3):
            session.say("user", question)
            session.say("assistant", self._chance.choice(NOT_FOUND))


def _report(ticket: Ticket, session: Session) -> None:
    session.say("user", f"{ticket.number}: {ticket.problem}", ticket.number)
    session.say("assistant", ticket.look, ticket.number)
    session.say("assistant", ticket.cause, ticket.number)
