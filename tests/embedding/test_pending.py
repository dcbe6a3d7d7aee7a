"""Embedding pending facts and episodes, by one process at a time, with pauses."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.support.clock import ManualClock, wait_until
from tests.support.embedders import WordEmbedder
from tests.support.embedding_server import EmbeddingServer
from tests.support.engines import engine_of
from tests.support.raw import raw

import memstore
from memstore import NewFact, OllamaEmbedder, Store
from memstore.database.engine import Engine
from memstore.database.journal import Author
from memstore.domain import clock
from memstore.embedding.background import JOB, BackgroundEmbedding
from memstore.embedding.current import CurrentEmbedder
from memstore.embedding.embedding import (
    BATCH,
    BATCH_CHARACTERS,
    FIRST_PAUSE_SECONDS,
    WRITE_SECONDS,
    first_batch,
)
from memstore.embedding.leases import Lease

Open = Callable[..., Store]


def waiting(store: Store) -> int:
    status = store.status()
    return status.pending + status.episodes_pending


@pytest.fixture
def bare_store(open_store: Open) -> Store:
    """Another store on the same file, whose facts and episodes are pending."""
    return open_store(embedder=None)


# -- facts and episodes --------------------------------------------------------------------------


def test_pending_facts_and_episodes_are_both_embedded(
    store: Store, bare_store: Store, embedder: Any
) -> None:
    bare_store.add("tea", subject="sue")
    short = bare_store.episodes.add("she asked for tea", source="test", name="breakfast")
    long = bare_store.episodes.add("and the kettle sang all morning. " * 100, source="test")
    report = store.file.embed_pending()
    assert (report.left, report.failed, report.error) == (0, 0, None)
    assert report.pieces == report.embedded - 1 > 2
    texts = [text for call in embedder.calls for text in call]
    assert texts[:2] == ["sue: tea", "breakfast: she asked for tea"]
    pieces = texts[2:]
    assert all(piece in long.content for piece in pieces)
    assert sum(map(len, pieces)) >= len(long.content)
    assert waiting(store) == 0
    kinds = [line.kind for line in store.episodes.journal(long.id)]
    assert kinds == ["episode", *["embed"] * kinds.count("embed")]
    assert short.id in [
        hit.episode.id for hit in store.episodes.search("asked for tea", mode="meaning")
    ]
    assert store.file.doctor() == []


def test_only_the_refused_episode_is_quarantined(
    store: Store, bare_store: Store, embedder: Any
) -> None:
    embedder.poison = "violin"
    bad = bare_store.episodes.add("a violin", source="test")
    good = bare_store.episodes.add("a kettle", source="test")
    for _ in range(4):
        store.file.embed_pending()
    status = store.status()
    assert (status.episodes_pending, status.episodes_quarantined) == (0, 1)
    assert store.episodes.journal(bad.id)[-1].kind == "quarantine"
    assert [hit.episode.id for hit in store.episodes.search("kettle", mode="meaning")] == [good.id]
    embedder.poison = None
    assert store.file.embed_pending(retry_quarantined=True).pieces == 1


def test_an_episode_erased_during_embedding_gets_no_vector(
    store: Store, bare_store: Store, embedder: Any, path: Path
) -> None:
    episode = bare_store.episodes.add("a secret", source="test")
    embed = embedder.embed

    def erase_first(texts: Sequence[str]) -> Any:
        embedder.embed = embed
        bare_store.episodes.erase(episode.id)
        return embed(texts)

    embedder.embed = erase_first
    assert store.file.embed_pending().embedded == 0
    with raw(path) as file:
        assert file.execute("SELECT embedding FROM memstore_piece_vectors").fetchall() == [(None,)]
    assert (waiting(store), store.file.doctor()) == (0, [])


def test_another_store_sees_embedded_and_erased_chunks(store: Store, open_store: Open) -> None:
    other = open_store()
    store.episodes.add("a kettle", source="test")
    store.file.embed_pending()
    assert other.episodes.search("kettle", mode="meaning")[0].similarity is not None
    late = store.episodes.add("a kayak on the lake", source="test")
    store.file.embed_pending()
    assert other.episodes.search("kayak", mode="meaning")[0].episode.id == late.id
    store.episodes.erase(late.id)
    assert late.id not in [hit.episode.id for hit in other.episodes.search("kayak")]


# -- batches -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("lengths", "expected"),
    [
        ([], 0),
        ([5], 1),
        ([BATCH_CHARACTERS + 1], 1),
        ([BATCH_CHARACTERS + 1, 1], 1),
        ([BATCH_CHARACTERS - 1, 1], 2),
        ([BATCH_CHARACTERS - 1, 2], 1),
        ([1] * (BATCH + 9), BATCH),
    ],
)
def test_a_batch_is_limited_by_count_and_length(lengths: list[int], expected: int) -> None:
    assert first_batch(["x" * length for length in lengths]) == expected


def test_long_texts_are_sent_few_at_a_time(store: Store, bare_store: Store, embedder: Any) -> None:
    facts = [NewFact(content="tea " * 10_000, subject="sue") for _ in range(7)]
    store.add_many(facts)
    assert [len(call) for call in embedder.calls] == [2, 2, 2, 1]
    embedder.calls.clear()
    bare_store.add_many(facts)
    assert store.file.embed_pending().embedded == 7
    assert [len(call) for call in embedder.calls] == [2, 2, 2, 1]


BULK = """
import sys
import numpy as np
import memstore

class Halting:
    model = "words-64"
    def embed(self, texts):
        if made >= 5 * 64:
            sys.stdin.read()
        return np.ones((len(texts), 64), dtype=np.float32)

def progress(done, whole):
    global made
    made = done
    print(done, whole, flush=True)

made = 0
memstore.open(sys.argv[1], embedder=Halting()).file.embed_pending(progress=progress)
"""


@pytest.mark.process
@pytest.mark.skipif(sys.platform == "win32", reason="kills by a signal")
def test_embed_pending_continues_after_a_kill(store: Store, bare_store: Store, path: Path) -> None:
    bare_store.add_many(NewFact(content=f"fact {n}", subject="bulk") for n in range(2000))
    with subprocess.Popen(
        [sys.executable, "-c", BULK, str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        for _ in range(5):
            line = process.stdout.readline()
        process.kill()
    assert line == "320 2000\n"
    left = store.status().pending
    assert left == 2000 - 320
    assert store.file.embed_pending().embedded == left
    assert store.file.doctor() == []


# -- one at a time -------------------------------------------------------------------------------


@pytest.fixture
def engine(store: Store, path: Path) -> Iterator[Engine]:
    with closing(engine_of(path)) as opened:
        yield opened


def test_a_lease_has_one_holder_and_can_be_released(engine: Engine, path: Path) -> None:
    first, second = Lease(engine, "job"), Lease(engine, "job")
    assert first.is_free()
    with first:
        assert (first.is_held, second.is_free(), first.is_free()) == (True, False, True)
        with second:
            assert not second.is_held
        with Lease(engine, "another job") as other:
            assert other.is_held
        assert first.is_held
    assert not first.is_held
    with second:
        assert second.is_held
    with raw(path) as file:
        assert file.execute("SELECT * FROM memstore_leases").fetchall() == []


def test_a_lease_is_renewed_while_it_is_held(engine: Engine, manual_clock: ManualClock) -> None:
    with Lease(engine, "job", 30) as lease:
        rival = Lease(engine, "job", 30)
        for renewals in range(1, 10):
            assert wait_until(lambda: len(manual_clock.waits) == renewals)  # noqa: B023
            assert not rival.is_free()
            manual_clock.advance(11)
        assert lease.is_held


def put_lease(path: Path, holder: str, seconds_from_now: float) -> None:
    at = clock.to_text(clock.utc_now() + timedelta(seconds=seconds_from_now))
    with raw(path) as file:
        file.execute(
            "INSERT INTO memstore_leases (job, holder, expires_at) VALUES ('job', ?, ?)"
            " ON CONFLICT (job) DO UPDATE SET holder = excluded.holder,"
            " expires_at = excluded.expires_at",
            (holder, at),
        )
        file.commit()


@pytest.mark.parametrize(
    ("seconds_from_now", "free"),
    [(5, False), (-1, True), (-86_400, True), (86_400, True)],
    ids=["living", "dead", "clock set forward", "clock set back"],
)
def test_a_lease_that_is_expired_or_implausibly_far_ahead_is_free(
    engine: Engine, path: Path, seconds_from_now: float, free: bool
) -> None:
    put_lease(path, "somebody", seconds_from_now)
    lease = Lease(engine, "job", 20)
    assert lease.is_free() == free
    with lease:
        assert lease.is_held == free


def test_a_holder_notices_a_lost_lease(
    engine: Engine, path: Path, manual_clock: ManualClock
) -> None:
    with Lease(engine, "job", 30) as lease:
        put_lease(path, "somebody", 25)
        manual_clock.advance(11)
        assert wait_until(lambda: not lease.is_held)
    with raw(path) as file:
        assert file.execute("SELECT holder FROM memstore_leases").fetchall() == [("somebody",)]


class Counting(WordEmbedder):
    """Counts concurrent calls among all embedders that share the counter."""

    now = most = 0
    counting = threading.Lock()
    together = threading.Event()

    def embed(self, texts: Sequence[str]) -> Any:
        with self.counting:
            Counting.now += 1
            Counting.most = max(Counting.most, Counting.now)
            if Counting.now > 1:
                self.together.set()
        try:
            # Long enough for a second caller to be noticed.
            Counting.together.wait(0.01)
            return super().embed(texts)
        finally:
            with self.counting:
                Counting.now -= 1


def test_one_background_embedder_works_at_a_time(bare_store: Store, open_store: Open) -> None:
    Counting.now = Counting.most = 0
    stores = [open_store(embedder=Counting()) for _ in range(4)]
    for n in range(5):
        bare_store.add_many(NewFact(content=f"fact {n} {m}", subject="s") for m in range(100))
        bare_store.episodes.add(f"episode {n}", source="test")
    for store in stores:
        store.file.embed_in_background(interval_seconds=0.01)
    assert wait_until(lambda: waiting(bare_store) == 0)
    assert Counting.most == 1


HOLDER = """
import sys
import memstore
from memstore.database.sqlite.engine import SqliteEngine
from memstore.embedding.background import JOB
from memstore.embedding.leases import Lease

with Lease(SqliteEngine(sys.argv[1]), JOB, 1.0) as lease:
    print(lease.is_held, flush=True)
    sys.stdin.read()
"""


def lease_end(path: Path) -> str:
    with raw(path) as file:
        return str(file.execute("SELECT expires_at FROM memstore_leases").fetchone()[0])


@pytest.mark.process
def test_another_process_takes_over_from_a_killed_one(
    store: Store, bare_store: Store, engine: Engine, path: Path, embedder: Any
) -> None:
    bare_store.add("tea", subject="sue")
    background = BackgroundEmbedding(
        engine,
        Author("test", "test"),
        CurrentEmbedder(str(path), embedder, None),
        None,
        0.02,
        lease_seconds=1.0,
    )
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "True\n"
        background.start()
        ends = first = lease_end(path)
        for _ in range(3):
            assert wait_until(lambda: lease_end(path) > ends)  # noqa: B023
            ends = lease_end(path)
        assert ends > first, "it is renewed"
        assert (waiting(bare_store), embedder.calls) == (1, [])
        holder.kill()
    assert wait_until(lambda: waiting(bare_store) == 0)
    background.stop()


# -- in the background ---------------------------------------------------------------------------


def test_one_thread_embeds_every_namespace(store: Store, bare_store: Store) -> None:
    inner = store.within("inner")
    bare_store.within("elsewhere").episodes.add("said elsewhere", source="test")
    inner.file.embed_in_background(interval_seconds=0.02)
    store.file.embed_in_background(interval_seconds=0.02)
    names = [thread.name for thread in threading.enumerate()]
    assert names.count("memstore-embedding") == 1
    inner.close()
    assert wait_until(lambda: waiting(store.within("elsewhere")) == 0)


def test_background_embedding_with_nothing_to_do_writes_nothing(
    store: Store, path: Path, embedder: Any, manual_clock: ManualClock
) -> None:
    store.add("tea", subject="sue")
    with raw(path) as file:
        before = file.execute("PRAGMA data_version").fetchone()
        embedder.calls.clear()
        store.file.embed_in_background(interval_seconds=5)
        assert wait_until(lambda: manual_clock.advance(5) or len(manual_clock.waits) > 20)
        assert file.execute("PRAGMA data_version").fetchone() == before
    assert embedder.calls == []


def test_background_embedding_waits_for_a_lease_without_writing(
    store: Store, bare_store: Store, path: Path, engine: Engine, manual_clock: ManualClock
) -> None:
    bare_store.add("tea", subject="sue")
    with Lease(engine, JOB), raw(path) as file:
        before = file.execute("PRAGMA data_version").fetchone()
        store.file.embed_in_background(interval_seconds=0.2)
        for _ in range(20):  # polls before the lease is due for renewal
            looks = len(manual_clock.waits)
            manual_clock.advance(0.2)
            assert wait_until(lambda before=looks: len(manual_clock.waits) > before)
        assert file.execute("PRAGMA data_version").fetchone() == before
    assert wait_until(lambda: manual_clock.advance(0.2) or waiting(bare_store) == 0)


# -- writes do not wait --------------------------------------------------------------------------


@pytest.fixture
def server(no_proxy: None) -> Iterator[EmbeddingServer]:
    with EmbeddingServer.running() as running:
        yield running


class Hurried(OllamaEmbedder):
    """Waits a fraction of the time that a write allows, and records the allowed time."""

    given: list[float | None]

    def embed(self, texts: Sequence[str], *, timeout_seconds: float | None = None) -> Any:
        self.given.append(timeout_seconds)
        hurried = timeout_seconds and timeout_seconds / 20
        return super().embed(texts, timeout_seconds=hurried)


def test_write_does_not_wait_for_a_hanging_embedder(
    server: EmbeddingServer, open_store: Open
) -> None:
    embedder = Hurried(base_url=server.url)
    embedder.given = []
    store = open_store(embedder=embedder)
    server.mode, server.slow_seconds = "slow", 60.0
    facts = [store.add(f"fact {n}", subject="x") for n in range(5)]
    assert embedder.given[0] == WRITE_SECONDS
    assert None not in embedder.given
    assert not any(fact.embedded for fact in facts)
    assert "did not answer in time" in (store.file.embedder_trouble or "")
    server.mode = "works"
    assert store.file.embed_pending().embedded == 5


def test_embedder_test_by_one_caller_blocks_no_other(
    embedder: Any, store: Store, manual_clock: ManualClock
) -> None:
    embedder.failure = memstore.EmbedderUnavailable("asleep")
    store.add("tea", subject="sue")
    manual_clock.advance(FIRST_PAUSE_SECONDS)
    embed, asked, wake = embedder.embed, threading.Event(), threading.Event()
    embedder.failure = None

    def hang(texts: Sequence[str]) -> Any:
        asked.set()
        assert wake.wait(30)
        return embed(texts)

    embedder.embed = hang
    drain = threading.Thread(target=store.file.embed_pending)
    drain.start()
    try:
        assert asked.wait(30)
        assert not store.add("rain", subject="sue").embedded
        assert "asleep" in str(store.search("tea").words_only)
        assert not wake.is_set()
    finally:
        wake.set()
        drain.join()
    assert store.add("snow", subject="sue").embedded


# -- counting stays fast -------------------------------------------------------------------------


def test_erased_rows_are_not_in_the_queue(bare_store: Store, path: Path) -> None:
    bare_store.add_many(NewFact(content=f"fact {n}", subject="s") for n in range(50))
    bare_store.episodes.add("said", source="test")
    bare_store.clear()
    bare_store.add("the only one that waits", subject="s")
    with raw(path) as file:
        attempts = file.execute(
            "SELECT embed_attempts, count(*) FROM memstore_fact_vectors GROUP BY 1 ORDER BY 1"
        ).fetchall()
    assert attempts == [(-1, 50), (0, 1)]
    assert waiting(bare_store) == 1


# -- the command ---------------------------------------------------------------------------------

WATCH = """
import sys
from memstore.faces.cli import main as cli
from memstore.file import file
keep = file.File.keep_embedding
def often(self, tell, **options):
    keep(self, tell, interval_seconds=0.05, **options)
file.File.keep_embedding = often
sys.exit(cli.main(["embed-pending", "--watch", "--db", sys.argv[1]]))
"""


@pytest.mark.model
@pytest.mark.process
@pytest.mark.skipif(sys.platform == "win32", reason="interrupts by a signal")
def test_watching_embeds_until_it_is_interrupted(path: Path) -> None:
    with memstore.open(path, embedder=None) as store:
        store.add("tea", subject="sue")
        process = subprocess.Popen(
            [sys.executable, "-c", WATCH, str(path)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert process.stdout is not None
        assert process.stdout.readline() == "embedded 1 fact, 0 left\n"
        store.episodes.add("said while it watched", source="test")
        assert process.stdout.readline() == "embedded 1 piece of episodes, 0 left\n"
        process.send_signal(signal.SIGINT)
        out, errors = process.communicate(timeout=60)
    assert (process.returncode, out) == (0, "")
    assert errors.splitlines() == [
        "watching for texts to embed; press Ctrl-C to stop",
        "stopped; 2 texts embedded in all",
    ]
    with raw(path) as file:
        assert file.execute("SELECT * FROM memstore_leases").fetchall() == []
