"""SIGKILL of the HTTP server under load and of hooks that send to it, `--kills` times."""

from __future__ import annotations

import json
import os
import random
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.support.clock import wait_until
from tests.support.served import MCP_HEADERS, Served, request

import memstore
from memstore.faces.hosts import servers, spool

pytestmark = [
    pytest.mark.process,
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform == "win32", reason="kills are those of POSIX"),
]

CLIENTS = 3
FOR_LONG = 20
"""From how many kills on a file is served, too."""
MOST_ACTS = 20
"""How many calls are answered between two kills, at most."""


class Service:
    """A server that is started again at the same address."""

    def __init__(self, db: Path | str, *flags: str) -> None:
        self._db, self._flags = db, flags
        self._address = f"127.0.0.1:{free_port()}"
        self._running = Served(db, *flags, http=self._address)
        self.url = self._running.url

    def restart(self, first: str = "") -> None:
        """Kill it, and start it again.

        Args:
            first: a program that it runs before it serves.
        """
        self._running.process.send_signal(signal.SIGKILL)
        self._running.close()
        self._running = Served(self._db, *self._flags, http=self._address, first=first)
        assert self._running.url == self.url, self._running.told

    @property
    def has_ended(self) -> bool:
        return self._running.process.poll() is not None

    def close(self) -> None:
        self._running.close()


def free_port() -> int:
    """Return a port that no client's end has: one that tries to reach it may be given it."""
    for port in random.SystemRandom().sample(range(20_000, 32_000), 1_000):
        with socket.socket() as tried, suppress(OSError):
            tried.bind(("127.0.0.1", port))
            return port
    raise OSError("every port is in use")


@contextmanager
def served(db: Path | str, *flags: str) -> Iterator[Service]:
    service = Service(db, *flags)
    try:
        yield service
    finally:
        service.close()


class Writer(threading.Thread):
    """Stores facts, each with a key, and repeats each call until it is answered."""

    def __init__(self, url: str, token: str, number: int) -> None:
        super().__init__(name=f"writer {number}", daemon=True)
        self._url, self._token, self._number = url, token, number
        self.stored: dict[str, int] = {}
        """The id that was answered for each text."""
        self.attempts = 0
        self.trouble: str | None = None
        self._ended = threading.Event()

    def run(self) -> None:
        try:
            with httpx.Client(trust_env=False, timeout=30.0) as client:
                while not self._ended.is_set():
                    self._store(client, f"kept {self._number} {len(self.stored)}")
        except Exception as error:  # noqa: BLE001 - the test reads it
            self.trouble = repr(error)

    def end(self) -> None:
        self._ended.set()
        self.join(60)

    def _store(self, client: httpx.Client, text: str) -> None:
        arguments = {"content": text, "subject": "kills", "idempotency_key": text}
        sent = request("tools/call", name="memory_store", arguments=arguments)
        headers = {**MCP_HEADERS, "Authorization": f"Bearer {self._token}"}
        while not self._ended.is_set():
            self.attempts += 1
            try:
                answer = client.post(f"{self._url}/mcp", json=sent, headers=headers)
            except httpx.TransportError:
                self._ended.wait(0.02)
                continue
            if answer.status_code == 503:
                self._ended.wait(0.02)
                continue
            result = answer.json().get("result")
            if result is None or result["isError"]:
                raise AssertionError((answer.status_code, answer.text))
            self.stored[text] = json.loads(result["content"][0]["text"])["id"]
            return


@pytest.fixture(params=["sqlite", "postgres"])
def db(request: pytest.FixtureRequest, path: Path, pytestconfig: pytest.Config) -> Path | str:
    if request.param == "postgres":
        return str(request.getfixturevalue("url"))
    if pytestconfig.getoption("--kills") < FOR_LONG:
        pytest.skip(f"with few kills on PostgreSQL only: --kills {FOR_LONG}")
    return path


def test_what_was_acknowledged_is_there_once(
    db: Path | str, pytestconfig: pytest.Config, record_property: Callable[[str, object], None]
) -> None:
    kills = max(1, pytestconfig.getoption("--kills") // 5 - 1)
    chance = random.Random(28)
    with memstore.open(db, embedder=None) as store:
        _, token = store.file.tokens.create("team", namespace=store.namespace)
    with served(db) as service:
        writers = [Writer(service.url, token, number) for number in range(CLIENTS)]
        for writer in writers:
            writer.start()
        for _ in range(kills):
            goal = sum(len(one.stored) for one in writers) + chance.randrange(1, MOST_ACTS)

            def is_reached(goal: int = goal) -> bool:
                assert [one.trouble for one in writers if one.trouble] == []
                return sum(len(one.stored) for one in writers) >= goal

            assert wait_until(is_reached, 120)
            service.restart()
        for writer in writers:
            writer.end()
    acknowledged = {text: id_ for one in writers for text, id_ in one.stored.items()}
    with memstore.open(db, embedder=None) as store:
        found = store.list(subject="kills", limit=None)
        texts = [fact.content for fact in found]
        assert len(texts) == len({*texts})
        there = {fact.content: fact.id for fact in found}
        assert {text: there.get(text) for text in acknowledged} == acknowledged
        assert store.ledger.verify() == []
        assert store.file.doctor(deep=True) == []
    attempts = sum(one.attempts for one in writers)
    record_property(
        "counts",
        f"{kills} kills, {len(acknowledged)} acknowledged in {attempts} attempts, 0 lost,"
        " 0 doubled",
    )


# Keeps a transcript, and kills itself at one of its writes; 0 for none.
HOOK = """
import json, os, signal, sys
from memstore import plain_http
from memstore.faces.hosts import hook, remote

kill_at, seen = int(sys.argv[1]), 0

def step():
    global seen
    seen += 1
    if seen == kill_at:
        os.kill(os.getpid(), signal.SIGKILL)

def counted(real):
    def call(*given, **named):
        step()
        value = real(*given, **named)
        step()
        return value
    return call

for name in ("open", "replace", "unlink", "fsync", "mkdir"):
    setattr(os, name, counted(getattr(os, name)))
try:
    hook.answered(hook.parser().parse_args(sys.argv[2:]), json.load(sys.stdin))
except (plain_http.Unreachable, remote.ServerRefused):
    sys.exit(3)
"""

# Ends while it stores what a hook sent: before, or after and before the answer.
DYING = """
import os, signal
from memstore.faces.hosts import keeping

left, after = {left}, {after}
real = keeping._add

def add(*given, **named):
    global left
    left -= 1
    if not left and not after:
        os.kill(os.getpid(), signal.SIGKILL)
    value = real(*given, **named)
    if not left:
        os.kill(os.getpid(), signal.SIGKILL)
    return value

keeping._add = add
"""
MOST_WRITES = 60
"""More than a hook makes with two sessions, so that some are not killed."""
ROUNDS = 4
"""Hooks between two kills of the server."""


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    home = tmp_path / "home"
    home.mkdir()
    for name in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(name, str(home))
    for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.setenv(name, str(home / "data"))
    monkeypatch.chdir(home)
    return home


class Session:
    """A conversation of a host, which grows."""

    def __init__(self, folder: Path, name: str) -> None:
        self._file = folder / f"{name}.jsonl"
        self._name = name
        self._folder = folder
        self.said: list[str] = []

    def grow(self) -> None:
        with self._file.open("a") as file:
            for role in ("user", "assistant"):
                text = f"{self._name} said {len(self.said)}"
                turn = {"role": role, "content": text}
                file.write(json.dumps({"type": role, "uuid": text, "message": turn}) + "\n")
                self.said.append(text)

    def keep(self, url: str, kill_at: int = 0) -> int:
        """Run the hook that sends it; return its exit code."""
        event: dict[str, Any] = {
            "transcript_path": str(self._file),
            "session_id": self._name,
            "cwd": str(self._folder),
        }
        words = ["keep", "--server", url, "--host", "claude-code"]
        ended = subprocess.run(
            [sys.executable, "-c", HOOK, str(kill_at), *words],
            input=json.dumps(event),
            text=True,
            capture_output=True,
            env=os.environ.copy(),
        )
        assert ended.returncode in (0, 3, -signal.SIGKILL), ended.stderr
        return ended.returncode


def test_each_conversation_arrives_once(
    home: Path,
    path: Path,
    pytestconfig: pytest.Config,
    record_property: Callable[[str, object], None],
) -> None:
    kills = max(2, pytestconfig.getoption("--kills") // 4)
    chance = random.Random(29)
    with memstore.open(path, namespace="team", embedder=None) as store:
        _, token = store.file.tokens.create("laptop", namespace="team")
    sessions = [Session(home, "monday"), Session(home, "tuesday")]
    killed = died = 0
    with served(path) as service:
        url = f"{service.url}/mcp"
        servers.keep(url, token)
        for number in range(kills):
            if number % ROUNDS == 0:
                left, after = chance.randrange(1, ROUNDS), chance.random() < 0.5
                service.restart(DYING.format(left=left, after=after))
            session = chance.choice(sessions)
            session.grow()
            killed += session.keep(url, chance.randrange(1, MOST_WRITES)) == -signal.SIGKILL
            if service.has_ended:
                died += 1
                service.restart()
        service.restart()
        for session in sessions:
            if session.said:
                assert session.keep(url) == 0
    assert spool.Spool(url).is_empty()
    with memstore.open(path, namespace="team", embedder=None) as store:
        arrived = [one.content for one in store.of("all").episodes.list(limit=None)]
        for session in sessions:
            own = [text for text in arrived if text in session.said]
            assert sorted(own) == sorted(session.said)
        assert store.ledger.verify() == []
    record_property(
        "counts",
        f"{killed} of {kills} hooks killed at a write, {died} servers killed while they stored,"
        f" {len(arrived)} turns, each once",
    )
