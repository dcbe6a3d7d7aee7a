"""SIGKILL of clients and the server amid writes of vectors: each keeps the code of its own.

What a process without an index answers, which rests on the codes, is what it was before.
"""

from __future__ import annotations

import inspect
import os
import random
import subprocess
import sys
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

psycopg = pytest.importorskip("psycopg", reason="needs psycopg")

from tests.support.postgres import named  # noqa: E402
from tests.support.postgres_server import Server, started  # noqa: E402

import memstore  # noqa: E402
from memstore import EmbedderMismatch, NewFact, Store  # noqa: E402
from memstore.search.index import index  # noqa: E402
from memstore.search.index.index import Index  # noqa: E402
from memstore.search.lookups import database  # noqa: E402
from memstore.store import copying  # noqa: E402

pytestmark = [
    pytest.mark.process,
    pytest.mark.skipif(sys.platform != "linux", reason="ends processes by signals"),
]


class Drawn:
    """An embedder whose numbers, of both signs, are drawn by the last word and by the text."""

    def __init__(self, model: str) -> None:
        self.model = model

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        rows = [self.drawn(text.split()[-1]) + self.drawn(text) / 2 for text in texts]
        return np.array(rows, dtype=np.float32)

    def drawn(self, text: str) -> NDArray[np.float64]:
        seed = zlib.crc32(f"{self.model} {text}".encode())
        return np.random.default_rng(seed).standard_normal(64)


MODELS = ("first", "second")

FOR_LONG = 20
"""From how many kills on it runs."""


def opened(url: str, namespace: str = "default") -> Store:
    """Open a memory with the model that its vectors are of."""
    try:
        return memstore.open(url, namespace=namespace, embedder=Drawn(MODELS[0]))
    except EmbedderMismatch:
        return memstore.open(url, namespace=namespace, embedder=Drawn(MODELS[1]))


def model_of(store: Store) -> str:
    """Return the model that searches use."""
    every = [one.generation for one in store.file.generations.list()]
    return next(str(one.model) for one in every if one.state == "active")


# It is killed just before its message with this number, or says when the server is to be killed.
PROGRAM = (
    f"""
from __future__ import annotations
import os, signal, sys, zlib
from collections.abc import Sequence
import numpy as np
import memstore
from memstore import EmbedderMismatch, NewFact, Store
from memstore.errors import MemstoreError
from memstore.store import copying
from tests.support.sent import watched

MODELS = {MODELS!r}

{inspect.getsource(Drawn)}

{inspect.getsource(opened)}

{inspect.getsource(model_of)}
"""
    + """
job, url, other, number, whom = sys.argv[1:]
left = int(number)

def count(*_):
    global left
    left -= 1
    if left == 0 and whom == "client":
        os.kill(os.getpid(), signal.SIGKILL)
    if left == 0:
        print("now", flush=True)

def write(store, turn):
    facts = store.add_many(
        [NewFact(content=f"boat {number} {turn} {n}", subject="boat") for n in range(5)])
    store.episodes.add(f"they said {number} {turn}", source="chat")
    newer = store.add(f"ship {number} {turn}", subject="boat", supersedes=facts[0].id)
    store.file.embed_pending()
    store.erase(facts[1].id)
    store.delete(newer.id)

def embed_again(store, turn):
    store.file.reembed(Drawn(MODELS[model_of(store) == MODELS[0]]))
    for one in store.file.generations.list():
        if one.generation.state == "retired":
            store.file.generations.drop(one.generation.id)

def rebuild(store, turn):
    store.file.rebuild()

def copy(store, turn):
    copying.copy(url, other)

with opened(url, "beside" if job == "write" else "default") as store, watched(before=count):
    turn = 0
    while True:
        turn += 1
        try:
            globals()[job](store, turn)
        except MemstoreError as error:
            print("error", *str(error).split(), flush=True)
"""
)

JOBS = {"write": 60, "embed_again": 60, "rebuild": 40, "copy": 60}
"""The jobs, and before which of its messages one is killed at the latest."""

QUESTIONS = [f"what about number {n}" for n in range(1, 41)]
VECTORS = (
    "SELECT 'fact', generation_id, fact_id, embedding, code FROM memstore_fact_vectors"
    " UNION ALL SELECT 'piece', generation_id, piece_id, embedding, code"
    " FROM memstore_piece_vectors"
)


def miscoded(url: str) -> tuple[int, list[tuple[object, ...]]]:
    """Return how many vectors there are, and those whose codes are of others."""
    with psycopg.connect(url) as connection:
        rows = connection.execute(VECTORS).fetchall()
    wrong = [
        row[:3]
        for row in rows
        if row[4] != (None if row[3] is None else "".join(map(str, signs(row[3]))))
    ]
    return sum(row[3] is not None for row in rows), wrong


def signs(blob: bytes) -> list[int]:
    return [int(one) for one in np.signbit(np.frombuffer(blob, dtype="<f4"))]


def answers(store: Store) -> list[list[int]]:
    # The first ones, since of codes that differ equally any may be the last to be compared.
    found = [store.search(question, word_weight=0, limit=1) for question in QUESTIONS]
    assert all(hits.provisional for hits in found)
    return [[hit.fact.id for hit in hits] for hits in found]


@contextmanager
def running(*arguments: str) -> Iterator[subprocess.Popen[str]]:
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM, *arguments],
        stdout=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[2],  # from where it imports the tests' modules
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},
    ) as process:
        yield process
        process.kill()


def spoil(url: str, chance: random.Random) -> None:
    """Give some facts the code of another one."""
    with psycopg.connect(url) as connection:
        for fact_id in chance.sample(range(2, 41), 10):
            connection.execute(
                "UPDATE memstore_fact_vectors v SET code = w.code FROM memstore_fact_vectors w"
                " WHERE v.tenant = 'default' AND v.fact_id = %s AND w.tenant = 'default'"
                " AND w.fact_id = 1 AND w.generation_id = v.generation_id",
                [fact_id],
            )


def kill(server: Server, target: str, job: str, chance: random.Random, *, client: bool) -> None:
    """Kill a job, or the server amid it."""
    number = str(chance.randrange(2, JOBS[job]))
    whom = "client" if client else "server"
    with running(job, server.url, target, number, whom) as process:
        assert process.stdout is not None
        if client:
            assert process.wait(120) < 0
            return
        assert any(line == "now\n" for line in process.stdout)
        server.kill()
    server.start()


def test_each_vector_keeps_its_code(
    monkeypatch: pytest.MonkeyPatch,
    pytestconfig: pytest.Config,
    record_property: Callable[[str, object], None],
) -> None:
    kills = pytestconfig.getoption("kills")
    if kills < FOR_LONG:
        pytest.skip(f"takes a minute: --kills {FOR_LONG}")
    monkeypatch.setenv("MEMSTORE_INDEX_FOLDER", "off")
    monkeypatch.setattr(index, "AT_ONCE", 0)
    monkeypatch.setattr(Index, "_work_behind", lambda _: None)
    monkeypatch.setattr(database, "COMPARED", 10)
    chance = random.Random(133)
    compared = 0
    with started() as server:
        with psycopg.connect(server.url, autocommit=True) as connection:
            connection.execute("CREATE DATABASE copied")
        target = named(server.url, "copied")
        expected = prepared(server.url)
        for number in range(kills):
            job = [*JOBS][number % len(JOBS)]
            if job == "rebuild":
                spoil(server.url, chance)
            kill(server, target, job, chance, client=number % 5 != 3)
            with opened(server.url) as store:
                if job == "rebuild":
                    store.file.rebuild()
                assert store.file.doctor() == []
                model = model_of(store)
                assert answers(store) == expected[model]
            if job == "copy":
                copying.copy(server.url, target)
                with opened(target) as store:
                    assert answers(store) == expected[model]
            for url in (server.url, target) if job == "copy" else (server.url,):
                vectors, wrong = miscoded(url)
                assert wrong == []
                compared += vectors
    record_property("counts", f"{kills} kills, {compared} vectors with their codes, 0 with others")


def prepared(url: str) -> dict[str, list[list[int]]]:
    """Fill a memory; return the answers with each model."""
    found = {}
    with opened(url) as store:
        store.add_many(
            [NewFact(content=f"boat number {n}", subject=f"boat {n}") for n in range(1, 41)]
        )
        store.episodes.add("We met at the quay. It rained.", source="chat")
        store.file.embed_pending()
        found[MODELS[0]] = answers(store)
        store.file.reembed(Drawn(MODELS[1]))
        found[MODELS[1]] = answers(store)
    assert found[MODELS[0]] == found[MODELS[1]] == [[n] for n in range(1, 41)]
    assert miscoded(url) == (82, [])
    return found
