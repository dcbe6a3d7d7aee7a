"""What sessions begin with after a simulated year, and what that costs.

    python -m benches.year [--db FILE] [--rounds 15]

300 sessions of three agents in four projects, 30,000 turns, 2,000 facts and some tasks, from a
seed, recorded through the same functions that the hooks call. Then the beginnings of five sessions
are compared with what a person who lived through that year would expect of them; the expectations
stand in this file, in the words in which they were stored. It ends with the times: the briefing in
a process that has the file open, the whole hook as hosts start it, and a Python that does nothing.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import median
from typing import Final, NamedTuple

import memstore
from benches.language import Language
from memstore import NewEpisode, NewFact, Store
from memstore.domain import clock
from memstore.domain.standing import Standing
from memstore.episodes.traces import TRACE, new_trace
from memstore.providers.local import tokens_at_most

FIRST: Final = datetime(2025, 8, 1, 9, tzinfo=UTC)
LAST: Final = FIRST + timedelta(days=365 + 61, hours=4)
SESSIONS, TURNS, FACTS = 300, 100, 2000
PROJECTS: Final = ("~/work/api", "~/work/web", "~/notes", "~/work/data")
AGENTS: Final = ("claude-code", "codex", "gemini-cli")
PARTS: Final = "parser lexer router cache queue index login report export search".split()


class Scene(NamedTuple):
    """The beginning of a session: where, by which agent, and what is expected, or must not be."""

    namespace: str
    agent: str
    expected: tuple[str, ...]
    absent: tuple[str, ...] = ()


USER: Final = ("Her name is Marta Klein", "short answers without praise", "lives in Porto")
SCENES: Final = (
    Scene(
        "~/work/api",
        "claude-code",
        (
            *USER,
            "renew the certificate",  # low, but due tomorrow
            "review the billing change",  # high
            "Deploys go through staging first",  # pinned in the first week
            "Postgres 17 runs the queue",  # a decision that is often used
            "asked: why does the login time out",
            "the pool was exhausted",
            "src/login.py",
            "committed: Give the pool a limit",
            "failed: pytest -q",
            "codex added 3, retired 1",
        ),
        ("the old queue is in Redis", "buy bread"),
    ),
    Scene(
        "~/work/api",
        "codex",
        (*USER, "Deploys go through staging first", "why does the login time out"),
        ("codex added",),
    ),
    Scene(
        "~/work/web",
        "gemini-cli",
        (
            *USER,
            "the palette is frozen until June",  # the newest there, two months old
            "asked: make the header sticky",
            "changed: web/header.css",
        ),
        ("Postgres 17", "src/login.py", "renew the certificate"),
    ),
    Scene("~/notes", "claude-code", (*USER, "asked: plan the trip to Lisbon"), ("palette",)),
    Scene("~/new", "codex", USER, ("Last sessions", "Postgres", "palette")),
)


class Calendar(clock.Clock):
    """A clock that stands where it was put."""

    now = FIRST

    def utc_now(self) -> datetime:
        return self.now


@contextmanager
def by(store: Store, namespace: str, agent: str) -> Iterator[Store]:
    with memstore.open(
        store.path, namespace=namespace, actor="agent", source=agent, durability="normal"
    ) as own:
        yield own


def lived(path: Path) -> None:
    """Write the year."""
    calendar = Calendar()
    chance, language = random.Random(7), Language(7)
    with clock.use(calendar), memstore.open(path, durability="normal") as store:
        begin(store, calendar)
        for number in range(SESSIONS):
            calendar.now = FIRST + timedelta(days=number * 365 / SESSIONS, hours=1)
            session(store, calendar, number, chance, language)
        end(store, calendar)
        store.file.save_index()


def begin(store: Store, calendar: Calendar) -> None:
    """What was said once, in the first week, and is expected ever after."""
    store.add("Her name is Marta Klein", subject="user", category="identity")
    store.add("Marta lives in Porto", subject="user", category="identity")
    liked = store.add(
        "Marta wants short answers without praise", subject="user", category="preference"
    )
    for _ in range(5):
        store.confirm(liked.id)
    api = store.within("~/work/api")
    api.pin(api.add("Deploys go through staging first", subject="api").id)
    old = api.add("the old queue is in Redis", subject="queue", category="decision")
    held = api.add(
        "Postgres 17 runs the queue", subject="queue", category="decision", supersedes=old.id
    )
    api.searches.note_use([held.id])
    api.confirm(held.id)


def session(
    store: Store, calendar: Calendar, number: int, chance: random.Random, language: Language
) -> None:
    """One session: its turns, its facts, some uses, and its trace."""
    agent, home = AGENTS[number % 3], PROJECTS[(number * 7) % 11 % 4]
    with by(store, home, agent) as own:
        talk(own, agent, f"session {number}", [language.text(8, 40) for _ in range(TURNS)])
        own.add_many(
            NewFact(
                content=language.text(5, 20),
                subject=chance.choice(PARTS),
                category=chance.choice(("note", "project", "decision", "event")),
            )
            for _ in range(FACTS * (number + 1) // SESSIONS - FACTS * number // SESSIONS)
        )
        held = own.list(limit=40, newest_first=True)
        own.searches.note_use([fact.id for fact in chance.sample(held, min(3, len(held)))])
        if home == "~/work/api":  # what lasts is looked up again and again
            own.searches.note_use(
                [hit.fact.id for hit in own.search("which database runs the queue", limit=1)]
            )
        part = chance.choice(PARTS)
        trace(own, agent, f"session {number}", [f"src/{part}.py"], [f"Change the {part}"], [])
    if number % 10 == 0:
        store.add(language.text(5, 12), subject="user", category="preference")


def end(store: Store, calendar: Calendar) -> None:
    """The last sessions, which the beginnings of the next ones are about."""
    calendar.now += timedelta(days=1)
    web, notes, api = (store.within(name) for name in ("~/work/web", "~/notes", "~/work/api"))
    web.add("the palette is frozen until June", subject="web", category="project")
    talk(web, "gemini-cli", "last web", ["make the header sticky", *["…"] * 20, "it is sticky now"])
    trace(web, "gemini-cli", "last web", ["web/header.css"], [], [])
    calendar.now += timedelta(days=60)
    talk(notes, "claude-code", "last notes", ["plan the trip to Lisbon", "here is a plan"])
    notes.add("buy bread", subject="shopping")
    api.tasks.create("review the billing change", priority="high")
    api.tasks.create("tidy the tests")
    soon = clock.to_text(calendar.now + timedelta(days=1))
    api.tasks.create("renew the certificate", priority="low", due=soon)
    said = ["why does the login time out", *["…"] * 40, "and now?", "the pool was exhausted"]
    talk(api, "claude-code", "last api", said)
    done = (["src/login.py", "src/pool.py"], ["Give the pool a limit"], ["pytest -q tests"])
    trace(api, "claude-code", "last api", *done)
    calendar.now += timedelta(hours=3)
    with by(store, "~/work/api", "codex") as codex:
        for number in range(3):
            codex.add(f"the report has {number + 2} columns", subject=f"report {number}")
        codex.delete(codex.list(limit=3)[2].id)
    for number in range(35):  # a busy morning elsewhere
        store.add(f"note {number}: the bus was late again", subject=f"bus {number}")


def talk(store: Store, agent: str, thread: str, said: list[str]) -> None:
    store.episodes.add_many(
        NewEpisode(
            content=text,
            source=agent,
            thread=thread,
            speaker=("user", "assistant")[place % 2],
            tags=("session",),
            valid_at=clock.utc_now(),
        )
        for place, text in enumerate(said)
    )


def trace(
    store: Store,
    agent: str,
    thread: str,
    changed: list[str],
    committed: list[str],
    failed: list[str],
) -> None:
    at = clock.to_text(clock.utc_now())
    made = new_trace(
        source=agent,
        session=thread,
        changed=changed,
        committed=committed,
        failed=failed,
        began=at,
        ended=at,
    )
    assert made is not None
    store.episodes.replace(made, TRACE)


def opened(path: Path, namespace: str) -> Store:
    """Open a project's namespace with the shared one beside it, as ``auto`` does."""
    whole = memstore.open(path, read_only=True)
    return Store(whole._file, Standing(namespace, shared="default"), closes_file=True)


def judged(path: Path) -> int:
    """Show how many of the expectations each beginning fulfils; return how many it does not."""
    missed = 0
    for scene in SCENES:
        calendar = Calendar()
        calendar.now = LAST
        with opened(path, scene.namespace) as store, clock.use(calendar):
            told = store.briefing(max_tokens=450, agent=scene.agent).text
        lacking = [one for one in scene.expected if one not in told]
        stray = [one for one in scene.absent if one in told]
        missed += len(lacking) + len(stray)
        held = len(scene.expected) - len(lacking)
        print(
            f"{scene.namespace} {scene.agent}: {held} of {len(scene.expected)} expected,", end=" "
        )
        print(f"{len(stray)} of {len(scene.absent)} unwanted, {tokens_at_most(told)} tokens")
        for kind, ones in (("lacks", lacking), ("has", stray)):
            for one in ones:
                print(f"  {kind}: {one}")
        if lacking or stray:
            print(told)
    return missed


def timed(path: Path, rounds: int) -> None:
    folder = Path.home() / "work" / "api"
    event = json.dumps({"cwd": str(folder), "session_id": "new", "source": "startup"})
    hook = [sys.executable, "-m", "memstore", "hook", "SessionStart", "--db", str(path)]
    hook += ["--namespace", "~/work/api", "--host", "claude-code"]
    ways: dict[str, Callable[[], object]] = {
        "a Python that does nothing": lambda: started([sys.executable, "-c", ""], ""),
        "memstore --help": lambda: started([sys.executable, "-m", "memstore", "--help"], ""),
        "the hook at the start of a session": lambda: started(hook, event),
    }
    took: dict[str, list[float]] = {name: [] for name in ways}
    with opened(path, "~/work/api") as store:
        ways["the briefing, in an open process"] = store.briefing
        took["the briefing, in an open process"] = []
        for _ in range(rounds):
            for name, way in ways.items():
                before = time.perf_counter()
                way()
                took[name].append((time.perf_counter() - before) * 1000)
    for name, times in took.items():
        print(f"{name}: {median(times):.1f} ms (best {min(times):.1f})")


def started(program: list[str], given: str) -> str:
    done = subprocess.run(program, input=given, capture_output=True, encoding="utf-8", check=True)
    return done.stdout


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--db", type=Path, help="written if it is not there")
    parser.add_argument("--rounds", type=int, default=15)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = asked.db or Path(folder) / "year.db"
        if not path.exists():
            before = time.perf_counter()
            lived(path)
            print(f"a year written in {time.perf_counter() - before:.0f} s")
        with memstore.open(path, read_only=True) as store:
            status = store.of("all").status()
        size = os.path.getsize(path) / 1e6
        print(f"{size:.1f} MB, namespaces {status.namespaces}")
        missed = judged(path)
        timed(path, asked.rounds)
    sys.exit(1 if missed else 0)


if __name__ == "__main__":
    main()
