"""SIGKILL of the server and its clients, `--kills` times: what was acknowledged is there once."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

psycopg = pytest.importorskip("psycopg", reason="needs psycopg")

from tests.process.test_kills import acknowledged, check  # noqa: E402
from tests.support import pgbouncer  # noqa: E402
from tests.support.clock import wait_until  # noqa: E402
from tests.support.postgres_server import Server, servers, started  # noqa: E402
from tests.support.programs import LETTERS, Letters  # noqa: E402

import memstore  # noqa: E402

CLIENTS = 4
NAMESPACES = ("shared", "beside")
"""Three clients of four write to the first."""
MOST_ACTS = 60
"""How much a client has recorded since the last kill, at most, when the next one comes."""
FOR_LONG = 20
"""From how many kills on all is done; with fewer, only the server is killed, once in five."""
FEW_CLIENTS = 2
"""With fewer kills."""
FEW_ACTS = 10
"""Like ``MOST_ACTS``, with fewer kills, and of clients, which begin anew each time."""

pytestmark = [
    pytest.mark.process,
    pytest.mark.skipif(sys.platform != "linux", reason="reads /proc"),
]

# What a call returned is recorded as acknowledged. A call that says that nothing was stored is
# recorded as refused. Of calls with a key, every second is repeated until it succeeds.
PROGRAM = (
    LETTERS
    + """
import os, random, sys, time
import memstore
from memstore.errors import Remedy, StorageError

url, namespace, acks, seed = sys.argv[1:]
chance = random.Random(seed)
fd = os.open(acks, os.O_WRONLY | os.O_CREAT | os.O_APPEND)

def note(*words):
    os.write(fd, ("\\t".join(map(str, words)) + "\\n").encode())

def until_there(call):
    while True:
        try:
            return call()
        except StorageError as error:
            note("error", 0, " ".join(str(error).split()))
            time.sleep(0.02)

def tried(name, call):
    try:
        return call()
    except StorageError as error:
        note("error", 0, " ".join(str(error).split()))
        if "nothing was stored" in str(error):
            note("refused", 0, name)
        else:
            note("unknown", 0, name)
        time.sleep(0.02)
        return None

store = until_there(lambda: memstore.open(url, namespace=namespace, embedder=Letters()))
store.file.embed_in_background(interval_seconds=0.05)
facts, number = [], 0
while True:
    number += 1
    name = f"{seed}-{number}"
    what = chance.random()
    if what < 0.25:
        text = f"kept {name}"
        fact = until_there(lambda: store.add(text, subject="kills", idempotency_key=name))
        note("fact", fact.id, text)
    elif what < 0.5:
        text = f"fact {name}"
        if (fact := tried(text, lambda: store.add(text, subject="kills"))) is not None:
            facts.append(fact.id)
            note("fact", fact.id, text)
    elif what < 0.6 and facts:
        old, text = facts.pop(), f"newer {name}"
        fact = tried(text, lambda: store.add(text, subject="kills", supersedes=old))
        if fact is not None:
            note("fact", fact.id, text)
    elif what < 0.7:
        texts = [f"many {name} {n}" for n in range(5)]
        made = tried(texts[0], lambda: store.add_many(
            [{"content": text, "subject": "kills"} for text in texts]))
        for fact in made or ():
            note("fact", fact.id, fact.content)
    elif what < 0.8:
        text = f"said {name}"
        if (episode := tried(text, lambda: store.episodes.add(text, source="kills"))) is not None:
            note("episode", episode.id, episode.content_hash)
    elif what < 0.86:
        task = f"do {name}"
        if (made := tried(task, lambda: store.tasks.create(task))) is not None:
            note("fact", made.id, task)
            if tried("", lambda: store.tasks.update(made.id, "completed")) is not None:
                note("done", made.id, task)
    elif what < 0.9 and facts:
        gone = facts.pop()
        if tried("", lambda: store.delete(gone)) is not None:
            note("deleted", gone, "")
    else:
        tried("", lambda: store.search("fact kept", limit=5))
"""
)


@dataclass
class Client:
    process: subprocess.Popen[str]
    notes: Path
    errors: Path

    def number(self) -> int:
        return len(acknowledged(self.notes))

    def check(self) -> None:
        """Check that it did not end by itself."""
        assert self.process.poll() is None, self.errors.read_text()

    def kill(self) -> None:
        self.check()
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()


class Clients:
    """Processes that write to a server, and what they recorded."""

    def __init__(self, url: str, folder: Path) -> None:
        self._url = url
        self._folder = folder
        self.running: list[Client] = []
        self.notes: dict[str, list[Path]] = {name: [] for name in NAMESPACES}
        self._started = 0

    def start(self) -> None:
        seed = self._started
        self._started += 1
        namespace = NAMESPACES[seed % 4 == 3]
        notes = self._folder / str(seed)
        notes.touch()
        self.notes[namespace].append(notes)
        errors = self._folder / f"{seed}.errors"
        with errors.open("w") as written:
            process = subprocess.Popen(
                [sys.executable, "-c", PROGRAM, self._url, namespace, str(notes), str(seed)],
                stderr=written,
                text=True,
                env={**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},
            )
        self.running.append(Client(process, notes, errors))

    def work(
        self, chance: random.Random, most: int = MOST_ACTS, awaited: Sequence[Client] | None = None
    ) -> None:
        """Wait until each of them, or of some, has recorded some more."""
        waited = self.running if awaited is None else awaited
        goals = [client.number() + chance.randrange(2, most) for client in waited]

        def is_reached() -> bool:
            for client in self.running:
                client.check()
            numbers = [client.number() for client in waited]
            return all(number >= goal for number, goal in zip(numbers, goals, strict=True))

        assert wait_until(is_reached, 120)

    def kill(self) -> None:
        for client in self.running:
            client.kill()
        self.running.clear()

    def recorded(self, namespace: str) -> list[list[str]]:
        return [note for file in self.notes[namespace] for note in acknowledged(file)]


@contextmanager
def clients(url: str, folder: Path, number: int = CLIENTS) -> Iterator[Clients]:
    made = Clients(url, folder)
    for _ in range(number):
        made.start()
    try:
        yield made
    finally:
        for client in made.running:
            client.process.kill()
            client.process.wait()


@contextmanager
def reached(server: Server, config: pytest.Config) -> Iterator[str]:
    """Yield the URL by which clients reach a server: with ``--pooler`` through PgBouncer."""
    if not config.getoption("--pooler"):
        yield server.url
        return
    with pgbouncer.before(server.url) as (host, port):
        yield pgbouncer.through(server.url, host, port)


def doubled(url: str) -> list[str]:
    """Return the texts that are stored more than once; each was given once."""
    with psycopg.connect(url) as connection:
        return [
            text
            for table in ("memstore_facts", "memstore_episodes")
            for (text,) in connection.execute(
                f"SELECT content FROM {table} GROUP BY content HAVING count(*) > 1"
            )
        ]


def stored(url: str, texts: list[str]) -> list[str]:
    """Return those of some texts that are stored."""
    with psycopg.connect(url) as connection:
        return [
            text
            for table in ("memstore_facts", "memstore_episodes")
            for (text,) in connection.execute(
                f"SELECT content FROM {table} WHERE content = ANY (%s)", [texts]
            )
        ]


def examined(url: str, running: Clients) -> str:
    """Check everything that clients recorded; return the figures."""
    kinds = dict.fromkeys(("fact", "episode", "done", "deleted", "refused", "unknown", "error"), 0)
    for namespace in NAMESPACES:
        notes = running.recorded(namespace)
        for kind, *_ in notes:
            kinds[kind] += 1
        with memstore.open(url, namespace=namespace, embedder=Letters()) as store:
            check(store, [note for note in notes if note[0] in ("fact", "episode")])
            for id_ in (int(note[1]) for note in notes if note[0] == "deleted"):
                assert store.get(id_).deleted_at is not None
            for id_ in (int(note[1]) for note in notes if note[0] == "done"):
                assert (store.get(id_).metadata or {})["status"] == "completed"
            assert stored(url, [text for kind, _, text in notes if kind == "refused"]) == []
            store.file.embed_pending()
            assert store.status().pending == 0
            assert store.ledger.verify() == []
            assert store.file.doctor(deep=True) == []
    assert doubled(url) == []
    kept = kinds["fact"] + kinds["episode"] + kinds["done"] + kinds["deleted"]
    return (
        f"{kept} acknowledged, {kinds['error']} errors ({kinds['refused']} said that nothing was"
        f" stored), 0 lost, 0 doubled"
    )


def many_kills(config: pytest.Config) -> int:
    kills: int = config.getoption("kills")
    if kills < FOR_LONG:
        pytest.skip(f"takes a minute: --kills {FOR_LONG}")
    return kills


def test_kills_of_the_server_lose_and_double_nothing(
    tmp_path: Path, pytestconfig: pytest.Config, record_property: Callable[[str, object], None]
) -> None:
    is_long = pytestconfig.getoption("kills") >= FOR_LONG
    number, most = (CLIENTS, MOST_ACTS) if is_long else (FEW_CLIENTS, FEW_ACTS)
    kills = max(1, pytestconfig.getoption("kills") // 5)
    chance = random.Random(28)
    with (
        started() as server,
        reached(server, pytestconfig) as url,
        clients(url, tmp_path, number) as running,
    ):
        for _ in range(kills):
            running.work(chance, most)
            server.kill()
            server.start()
        running.work(chance, most)
        running.kill()
        record_property("counts", f"{kills} kills, {examined(server.url, running)}")


def test_kills_of_clients_lose_and_double_nothing(
    tmp_path: Path, pytestconfig: pytest.Config, record_property: Callable[[str, object], None]
) -> None:
    kills = many_kills(pytestconfig)
    chance = random.Random(29)
    with (
        started() as server,
        reached(server, pytestconfig) as url,
        clients(url, tmp_path) as running,
    ):
        for _ in range(kills):
            killed = running.running[chance.randrange(CLIENTS)]
            running.work(chance, most=FEW_ACTS, awaited=[killed])
            running.running.remove(killed)
            killed.kill()
            running.start()
        running.kill()
        record_property("counts", f"{kills} kills, {examined(server.url, running)}")


def test_a_promoted_replica_has_all_that_was_acknowledged(
    tmp_path: Path, pytestconfig: pytest.Config, record_property: Callable[[str, object], None]
) -> None:
    """The replica is synchronous; clients know both servers, as libpq has it."""
    many_kills(pytestconfig)
    chance = random.Random(30)
    with servers("first", "second") as [first, second]:
        first.create()
        first.start()
        second.copy(first)
        second.start()
        with psycopg.connect(first.url, autocommit=True) as connection:
            connection.execute("ALTER SYSTEM SET synchronous_standby_names = '*'")
            connection.execute("SELECT pg_reload_conf()")
            state = "SELECT sync_state FROM pg_stat_replication"
            assert wait_until(lambda: connection.execute(state).fetchall() == [("sync",)])
        running = Clients(
            f"postgresql://postgres@127.0.0.1:{first.port},127.0.0.1:{second.port}/postgres"
            "?target_session_attrs=read-write",
            tmp_path,
        )
        for _ in range(CLIENTS):
            running.start()
        try:
            running.work(chance)
            first.kill()
            second.promote()
            running.work(chance)
            running.kill()
            record_property("counts", f"1 failover, {examined(second.url, running)}")
        finally:
            for client in running.running:
                client.process.kill()
                client.process.wait()
