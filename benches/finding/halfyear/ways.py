"""Builds the memory of a life as hosts do, and asks it: what a user gets, and two plain rivals."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

import memstore
from benches.finding.halfyear import life as lives
from benches.finding.halfyear.life import Life, Session
from memstore import Episode, Fact, LocalEmbedder, NewEpisode, Store
from memstore.domain import clock
from memstore.episodes.traces import new_trace
from memstore.faces.mcp import catalogue
from memstore.faces.mcp.calls import Calls
from memstore.providers.local import TokenCounter
from memstore.text.dated import DatedLine, under_dates

HOOK_TOKENS, RECALL_TOKENS = 250, 500

DAY: Final = re.compile(r"\d{4}-\d{2}-\d{2}$")
LINE: Final = re.compile(r"((?:#|e)\d+)(?:\[([^\]]*)\])? (.*)")


class Unit(NamedTuple):
    """Where a line of the memory comes from."""

    project: str
    about: str
    place: int | None


class Line(NamedTuple):
    name: str
    marks: str
    words: str
    day: date | None
    unit: Unit | None


class Setting(NamedTuple):
    """Where the projects of a life are kept, and what hosts say of them."""

    together: bool = False
    """Whether one namespace holds them all."""
    told: bool = False
    """Whether hosts say in which project they work."""

    def namespace_of(self, project: str) -> str:
        return lives.SHARED if self.together else lives.namespace_of(project)

    def store(self, whole: Store, project: str) -> Store:
        """Return the store as a host opens it in a project's folder."""
        named = f"~/work/{project}" if self.told else None
        return whole.within(self.namespace_of(project), project=named)


class Calendar(clock.Clock):
    """A clock that stands where it was put."""

    def __init__(self, now: datetime) -> None:
        self.now = now

    def utc_now(self) -> datetime:
        return self.now


Given = Callable[[str, str], str]
"""What a way gives for a project and a prompt."""


def build(life: Life, path: Path, embedder: str, setting: Setting) -> dict[str, Unit]:
    """Write a life as hosts and an extractor do, and return where each line comes from."""
    calendar = Calendar(life.sessions[0].at)
    units: dict[str, Unit] = {}
    with (
        clock.use(calendar),
        memstore.open(
            path, timezone=lives.ZONE.key, durability="normal", embedder=embedder
        ) as whole,
    ):
        for session in life.sessions:
            calendar.now = session.turns[-1].at
            units |= _keep(setting.store(whole, session.project), session)
        whole.file.embed_pending()
        whole.file.save_index()
    return units


def _keep(store: Store, session: Session) -> dict[str, Unit]:
    said = store.episodes.add_many(
        NewEpisode(
            content=turn.text,
            source=session.host,
            thread=session.name,
            speaker=turn.speaker,
            tags=("session",),
            valid_at=turn.at,
            idempotency_key=f"{session.name}/{place}",
        )
        for place, turn in enumerate(session.turns)
    )
    units = {
        f"e{kept.id}": Unit(session.project, turn.about, turn.place)
        for kept, turn in zip(said, session.turns, strict=True)
    }
    for fact in session.facts:
        decision = fact.topic.decisions[fact.place]
        slots = {
            "holder": session.project,
            "attribute": fact.topic.name.removeprefix("the "),
            "value": decision.key.split("+")[0],
            "cardinality": "one",
        }
        noted = store.add(
            decision.noted,
            subject=session.project,
            category="decision",
            source=session.host,
            episode_id=said[fact.turn].id,
            slots=slots,
        )
        units[f"#{noted.id}"] = Unit(session.project, fact.topic.label, fact.place)
    trace = new_trace(
        source=session.host,
        session=session.name,
        changed=session.files,
        committed=(),
        failed=(),
        began=session.at.isoformat(),
        ended=session.turns[-1].at.isoformat(),
    )
    if trace is not None:
        kept = store.episodes.add_many([trace])[0]
        units[f"e{kept.id}"] = Unit(session.project, f"trace {session.name}", None)
    return units


def ways(whole: Store, setting: Setting) -> dict[str, Given]:
    """Return what is compared: what a user gets, and rivals with as many tokens."""
    stores = {project: setting.store(whole, project) for project in lives.PROJECTS}
    calls = Calls(catalogue.offered(), lambda: None)
    namespaces = {setting.namespace_of(project): stores[project] for project in lives.PROJECTS}
    rivals = {name: Rivals(store) for name, store in namespaces.items()}

    def hook(project: str, prompt: str) -> str:
        return stores[project].remind(prompt, max_tokens=HOOK_TOKENS).text

    def tool(project: str, prompt: str) -> str:
        call = {"name": "memory_search", "arguments": {"query": prompt}}
        answer = calls.answer(lambda: stores[project], call)
        return str(answer["content"][0]["text"])

    def recall(project: str, prompt: str) -> str:
        return stores[project].recall(prompt, max_tokens=RECALL_TOKENS, touch=False).text

    def rival(order: str, tokens: int) -> Given:
        return lambda project, prompt: rivals[setting.namespace_of(project)].given(
            order, prompt, tokens
        )

    return {
        "hook": hook,
        "BM25 250": rival("words", HOOK_TOKENS),
        "cosine 250": rival("meaning", HOOK_TOKENS),
        "search": tool,
        "recall": recall,
        "BM25 500": rival("words", RECALL_TOKENS),
        "cosine 500": rival("meaning", RECALL_TOKENS),
    }


def lines_of(text: str, units: Mapping[str, Unit]) -> list[Line]:
    """Read the lines of an answer, each with the day above it."""
    found: list[Line] = []
    day = None
    for line in text.split("\n"):
        if DAY.match(line):
            day = date.fromisoformat(line)
        elif match := LINE.match(line):
            name, marks, words = match.groups()
            found.append(Line(name, marks or "", words, day, units.get(name)))
    return found


class Rivals:
    """BM25 and plain cosine over the same rows, active facts and turns, the best ones first."""

    def __init__(self, store: Store) -> None:
        rows: dict[str, Fact | Episode] = {f"#{fact.id}": fact for fact in store.list(limit=None)}
        rows |= {f"e{turn.id}": turn for turn in store.episodes.list(limit=None)}
        texts = [one.content for one in rows.values()]
        days = [(one.valid_at or one.created_at).astimezone(lives.ZONE) for one in rows.values()]
        self._lines = [
            DatedLine(f"{day:%Y-%m-%d}", name, text)
            for day, name, text in zip(days, rows, texts, strict=True)
        ]
        count = TokenCounter()
        self._tokens = [count(f"{line.date}\n{line}\n") for line in self._lines]
        self._embedder = LocalEmbedder()
        self._vectors = np.asarray(self._embedder.embed(texts))
        self._words = BM25([_words(text) for text in texts])

    def given(self, order: str, prompt: str, tokens: int) -> str:
        scores = self._words.scores(_words(prompt)) if order == "words" else self._near(prompt)
        shown = []
        for place in np.argsort(-scores, kind="stable")[:100]:
            if scores[place] <= 0:
                break
            if self._tokens[place] <= tokens:
                tokens -= self._tokens[place]
                shown.append(self._lines[place])
        return "\n".join(under_dates(shown))

    def _near(self, prompt: str) -> NDArray[np.float64]:
        near: NDArray[np.float64] = self._vectors @ np.asarray(self._embedder.embed([prompt])[0])
        return near


class BM25:
    """Okapi BM25 as it is printed, with k1 = 1.2 and b = 0.75."""

    K1, B = 1.2, 0.75

    def __init__(self, rows: Sequence[Sequence[str]]) -> None:
        self._rows: dict[str, list[tuple[int, int]]] = defaultdict(list)
        for place, row in enumerate(rows):
            for word, count in Counter(row).items():
                self._rows[word].append((place, count))
        lengths = np.array([len(row) for row in rows], dtype=np.float64)
        self._norm = self.K1 * (1 - self.B + self.B * lengths / lengths.mean())

    def scores(self, query: Sequence[str]) -> NDArray[np.float64]:
        total = np.zeros(len(self._norm))
        for word in {*query} & self._rows.keys():
            held = self._rows[word]
            places = np.array([place for place, _ in held])
            counts = np.array([count for _, count in held], dtype=np.float64)
            rarity = math.log(1 + (len(total) - len(held) + 0.5) / (len(held) + 0.5))
            total[places] += rarity * counts * (self.K1 + 1) / (counts + self._norm[places])
        return total


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.casefold())
