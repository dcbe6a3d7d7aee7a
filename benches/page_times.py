"""How long pages take on the server, and how large they are.

    python -m benches.page_times [--folder FOLDER] [--facts 100000] [--rounds 7] [--starts 5]

A file with facts of realistic lengths, stored over a year and embedded with the built-in model:
20,000 subjects, one of them with a fifth of all facts; a tenth of the facts with one of 200 owners,
every twentieth drawn from an episode of a conversation, some superseded or deleted; 200 open
questions, 500 tasks, 1,000 recorded searches. ``memstore web`` serves it as a process of its own.

Each page is read twice, and then in rounds. Printed are the first time on the clock, the medians
of the time on the clock and of the server's processor time, in milliseconds, and the compressed
size. Processor time needs Linux.
"""

from __future__ import annotations

import argparse
import gzip
import http.client
import re
import shutil
import time
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from pathlib import Path
from statistics import median
from typing import NamedTuple
from urllib.parse import urlencode

from tests.support.web_server import WebServer

import memstore
from benches import corpus
from benches.pages import LARGE, SUBJECTS, Moving
from memstore import NewEpisode, NewFact, Store
from memstore.domain import clock

BATCH = 1_000
DAYS = 365
OWNERS = 200
QUESTIONS = 200
TASKS = 500
SEARCHES = 1_000
DRAWN = 20
"""Every so many-th fact is drawn from an episode."""

QUERY = "where does the deploy script of Ana run?"
FILES = ("style.css", "htmx.min.js", "page.js", "icon.svg")


# -- the memory ------------------------------------------------------------------------------------


def filled(path: Path, number: int) -> None:
    """Make a file with so many facts, and with some of all that pages show."""
    moving = Moving(datetime.now(clock.EPOCH.tzinfo) - timedelta(days=DAYS))
    step = timedelta(days=DAYS) / (number / BATCH + 1)
    texts = corpus.facts(number)
    with clock.use(moving), memstore.open(path, embedder="local") as store:
        for first in range(0, number, BATCH):
            add_batch(store, first, [next(texts)["content"] for _ in range(BATCH)])
            moving.at += step
        for place in range(QUESTIONS):
            old = store.add(f"the gate {place} is green", subject=f"gate {place // 3}")
            store.add(
                f"the gate {place} is red",
                subject=f"gate {place // 3}",
                source="web:example.org",
                supersedes=old.id,
            )
        for place in range(TASKS):
            store.tasks.create(f"paint the fence {place}", priority=("high", "low")[place % 2])
        newest = store.file.newest_id()
        for place in range(SEARCHES):
            given = range(newest - place - 10, newest - place)
            store.searches.record(QUERY, facts=given, tokens=300, milliseconds=place % 40)
        store.searches.list(limit=1)  # which writes them


def file_of(folder: Path, number: int) -> Path:
    """Return the file with so many facts, which the first call makes."""
    path = folder / f"page-times-{number}.db"
    if not path.exists():
        begun = path.with_suffix(".part")
        begun.unlink(missing_ok=True)
        filled(begun, number)
        shutil.move(begun, path)
    return path


def add_batch(store: Store, first: int, texts: list[str]) -> None:
    said = store.episodes.add_many(
        NewEpisode(content=f"So {text}.", source="codex", thread=f"talk {first}")
        for text in texts[::DRAWN]
    )
    added = store.add_many(
        NewFact(
            content=text,
            subject=subject_of(first + place),
            category=("note", "preference", "project", "world")[place % 4],
            user_id=f"person {place % OWNERS}" if place % 10 == 3 else None,
            episode_id=said[place // DRAWN].id if place % DRAWN == 0 else None,
        )
        for place, text in enumerate(texts)
    )
    for old, new in zip(added[10:200:2], added[11:201:2], strict=False):
        if old.scope == new.scope:
            store.supersede(old.id, new.id, any_subject=True)
    for one in added[-5:]:
        store.delete(one.id)


def subject_of(place: int) -> str:
    return LARGE if place % 5 == 0 else f"subject {place * 7919 % SUBJECTS}"


# -- the pages -------------------------------------------------------------------------------------


class Answer(NamedTuple):
    status: int
    body: bytes
    location: str
    wall: float
    processor: float


class Visitor:
    """Somebody who is signed in to a server, over one connection."""

    def __init__(self, server: WebServer) -> None:
        self._pid = server.process.pid
        self._origin = server.url
        self._http = http.client.HTTPConnection(server.url.removeprefix("http://"))
        self._http.connect()
        self.cookie = ""
        code = {"code": server.code(), "zone": "Europe/Berlin"}
        answer = self._ask("POST", "/enter", code)
        self.base = answer.location

    def get(self, path: str) -> Answer:
        return self._ask("GET", self.base + path)

    def post(self, path: str, fields: Mapping[str, str]) -> Answer:
        """Post fields with those that every form has."""
        page = self.get("").body.decode()
        hidden = {name: _field(page, name) for name in ("ticket", "seen")}
        return self._ask("POST", self.base + path, {**hidden, **fields})

    def file(self, name: str) -> bytes:
        page = self.get("").body.decode()
        found = re.search(rf'"(/[^"]*{re.escape(name)}[^"]*)"', page)
        assert found is not None, name
        return self._ask("GET", found[1]).body

    def _ask(self, method: str, path: str, fields: Mapping[str, str] | None = None) -> Answer:
        headers = {"Accept-Encoding": "identity", "Cookie": self.cookie}
        body = None
        if fields is not None:
            body = urlencode(fields)
            headers["Content-Type"] = "application/x-www-form-urlencoded"
            headers |= {"Origin": self._origin, "Sec-Fetch-Site": "same-origin"}
        cpu, start = self._processor(), time.perf_counter()
        self._http.request(method, path, body, headers)
        reply = self._http.getresponse()
        content = reply.read()
        wall, cpu = time.perf_counter() - start, self._processor() - cpu
        cookie = reply.headers.get("Set-Cookie")
        if cookie is not None:
            self.cookie = cookie.partition(";")[0]
        where = reply.headers.get("Location", "")
        return Answer(reply.status, content, where, 1000 * wall, 1000 * cpu)

    def _processor(self) -> float:
        # The processor-time clock of another process, as clock_getcpuclockid(3) makes it.
        return time.clock_gettime((~self._pid << 3) | 2)


def _field(page: str, name: str) -> str:
    found = re.search(rf'name="{name}" value="([^"]*)"', page)
    assert found is not None, name
    return found[1]


def addresses(visitor: Visitor, store: Store) -> Iterator[tuple[str, str]]:
    """Yield pages by name, with filters and without."""

    def asked(path: str, **fields: str) -> str:
        answer = visitor.post(path, fields)
        assert answer.status == 303, (path, fields, answer.status)
        return answer.location.removeprefix(visitor.base).partition("#")[0]

    large = store.of("all").list(subject=LARGE, limit=1)[0].id
    rare = next(one for one in store.of("all").list(limit=20) if one.subject != LARGE).id
    deep = store.file.newest_id() // 3
    drawn = store.of("all").list(thread="talk 0", limit=1)[0]
    chained = store.of("all").list(states=["superseded"], limit=1)[0].id
    search = asked("search", query=QUERY)
    yield "home", ""
    yield "search", search
    yield "search: why not", asked(f"{search}/why-not", missing=f"#{deep}")
    yield "search as of half a year ago", asked("search", query=QUERY, as_of="180d")
    yield "subjects by last change", "subjects"
    yield "subjects by size", asked("subjects", order="size")
    yield "subjects by name", asked("subjects", order="name", prefix="subject 1")
    yield "subjects of an owner", asked("subjects", user="person 3")
    yield "a large subject", f"subject/{large}"
    yield "a large subject, an older page", f"subject/{large}?before={deep}"
    yield "a large subject, one category", asked(f"subject/{large}", category="world")
    yield "a large subject, one source", asked(f"subject/{large}", source="web:example.org")
    yield (
        "a large subject, a month",
        asked(f"subject/{large}", **{"from": "2026-03-01", "until": "2026-03-31"}),
    )
    yield "a large subject as of yesterday", asked(f"subject/{large}", as_of="yesterday")
    yield "a large subject, what was removed", f"subject/{large}/removed"
    yield "a rare subject", f"subject/{rare}"
    yield "a rare subject as of half a year ago", asked(f"subject/{rare}", as_of="180d")
    yield "a fact", f"fact/{rare}"
    yield "a fact with its episode and chain", f"fact/{drawn.id}"
    yield "a superseded fact", f"fact/{chained}"
    yield "inbox", "inbox"
    yield "inbox by run", asked("inbox", by="run")
    yield "inbox, what was rejected", asked("inbox", asked="rejected")
    yield "timeline", "timeline"
    yield "timeline, an older page", f"timeline?before={deep}"
    yield "timeline of an actor", asked("timeline", actor="user")
    yield "timeline of a source", asked("timeline", source="web:example.org")
    yield "timeline, two moments", asked("timeline/difference", a="7d", b="now")
    yield "what a prompt adds", asked("prompt", prompt=QUERY)
    yield "sessions", "sessions"
    yield "a session", f"session/{drawn.episode_id}"
    yield "log", "log"
    yield "log, found", asked("log", query="deploy script")
    yield "log of a source", asked("log", source="codex")
    yield "an episode", f"episode/{drawn.episode_id}"
    yield "answers", "answers"
    yield "facts given often", "answers/given"
    yield "facts never given", "answers/given?never=1"
    yield "tasks", "tasks"
    yield "owners", "owners"
    yield "emptying the namespace", "owners/empty"
    yield "state", "state"
    yield "undo of an act", f"undo/{store.of('all').ledger.log(limit=1)[0].line}"
    yield "erasing a fact", f"erase/fact/{rare}"
    yield "correcting a fact", f"fact/{rare}/correct"
    yield "the palette", asked("go", query="deploy script")
    yield "the twin of home", "home.json"
    yield "the twin of a fact", f"fact/{drawn.id}.json"
    yield "the poll", f"pulse?since={deep}"


def first_pages(path: Path, folder: Path, starts: int) -> None:
    """Print how long the first page after a start takes."""
    walls, processors = [], []
    for _ in range(starts):
        server = WebServer(path, folder, "--embedder", "local", "--no-browser")
        try:
            answer = Visitor(server).get("")
            assert answer.status == 200, answer
            walls.append(answer.wall)
            processors.append(answer.processor)
        finally:
            server.close()
    print(
        f"\nfirst page after a start, medians of {starts}: {median(walls):.0f} ms on the clock "
        f"({min(walls):.0f} to {max(walls):.0f}), {median(processors):.0f} ms of the processor\n"
    )


def every_page(path: Path, folder: Path, rounds: int) -> None:
    server = WebServer(path, folder, "--embedder", "local", "--no-browser")
    try:
        visitor = Visitor(server)
        with memstore.open(path, embedder="local", read_only=True) as store:
            pages = [*addresses(visitor, store)]
        print("| page | first | clock | processor | KB gzip |\n|---|---|---|---|---|")
        for name, address in pages:
            first = visitor.get(address)
            visitor.get(address)
            times = [visitor.get(address) for _ in range(rounds)]
            size = len(gzip.compress(first.body, 6)) / 1000
            wall = median(one.wall for one in times)
            processor = median(one.processor for one in times)
            odd = "" if first.status == 200 else f" ({first.status})"
            print(
                f"| {name}{odd} | {first.wall:.0f} | {wall:.1f} | {processor:.1f} | {size:.1f} |",
                flush=True,
            )
        home = visitor.get("").body
        sent = sum(len(gzip.compress(one, 6)) for one in (home, *map(visitor.file, FILES)))
        print(f"\nfirst visit: {sent / 1000:.1f} KB gzip with its files")
    finally:
        server.close()


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--folder", type=Path, default=Path("benches/.made"))
    parser.add_argument("--facts", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--starts", type=int, default=5)
    chosen = parser.parse_args()
    chosen.folder.mkdir(exist_ok=True)
    path = file_of(chosen.folder, chosen.facts)
    user = chosen.folder / "user"
    first_pages(path, user, chosen.starts)
    every_page(path, user, chosen.rounds)


if __name__ == "__main__":
    main()
