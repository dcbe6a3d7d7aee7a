"""Switching to another embedding model: searches continue, nothing is lost, it can be undone."""

from __future__ import annotations

import contextlib
import random
import signal
import subprocess
import sys
import tempfile
import threading
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule
from tests.support.clock import ManualClock, wait_until
from tests.support.embedders import WordEmbedder
from tests.support.examples import examples
from tests.support.http_server import Asked, serving
from tests.support.raw import raw

import memstore
from memstore import Conflict, NewFact, NotFound, Store
from memstore.database.sqlite.together import ROWS_TOGETHER

Open = Callable[..., Store]

MEANING: dict[str, Any] = {"word_weight": 0.0, "vector_weight": 1.0}


class Buckets(WordEmbedder):
    """Counts words like ``WordEmbedder``, with another name and a given dimension."""

    def __init__(self, model: str = "words-24", dimension: int = 24) -> None:
        super().__init__()
        self.model = model
        self._dimension = dimension

    def embed(self, texts: Sequence[str]) -> Any:
        rows = super().embed(texts)
        folded = np.zeros((len(texts), self._dimension), dtype=np.float32)
        for bucket, counts in enumerate(rows.T):
            folded[:, bucket % self._dimension] += counts
        return folded


class Provider:
    """An Ollama whose models' names end in the dimension of their vectors."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, list[str]]] = []
        self.url = ""

    @classmethod
    @contextlib.contextmanager
    def running(cls) -> Iterator[Provider]:
        provider = cls()
        with serving(provider._answer) as provider.url:
            yield provider

    def _answer(self, asked: Asked) -> None:
        model, texts = asked.body["model"], asked.body["input"]
        self.asked.append((model, texts))
        dimension = int(model.rpartition("-")[2])
        rows = [[0.01] * dimension for _ in texts]
        for row, text in zip(rows, texts, strict=True):
            for word in text.lower().split():
                row[zlib.crc32(word.encode()) % dimension] += 1.0
        asked.answer({"embeddings": rows})


@pytest.fixture
def provider(no_proxy: None) -> Iterator[Provider]:
    with Provider.running() as running:
        yield running


TELLING = "zebra crossing ahead"
"""A fact that shares no word with another one."""


def fill(store: Store, facts: int = 10, episodes: int = 3) -> None:
    store.add_many(NewFact(content=f"parcel {n} is upstairs", subject="post") for n in range(facts))
    store.add(TELLING, subject="post")
    for n in range(episodes):
        store.episodes.add(f"the {n}. neighbour took a parcel in. " * 80, source="test")
    assert store.file.embed_pending().left == 0


def ids(hits: Sequence[memstore.SearchHit]) -> list[int]:
    return [hit.fact.id for hit in hits]


def states(store: Store) -> list[tuple[int, str, str | None, int | None]]:
    found = [one.generation for one in store.file.generations.list()]
    return [(one.id, one.state, one.model, one.dimension) for one in found]


# -- switching and back --------------------------------------------------------------------------


def test_file_switches_to_a_model_of_another_dimension(store: Store) -> None:
    fill(store)
    report = store.file.reembed(Buckets())
    assert (report.switched, report.left, report.error) == (True, 0, None)
    assert report.embedded > 10 + 3, "long episodes are several"
    assert states(store) == [(1, "retired", "words-64", 64), (2, "active", "words-24", 24)]
    status = store.status()
    assert (status.model, status.dimension, status.embedder) == ("words-24", 24, "words-24")
    hits = store.search(TELLING, **MEANING)
    assert (hits.words_only, hits[0].fact.content) == (None, TELLING)
    found = store.episodes.search("the 2. neighbour took", mode="meaning")
    assert found.words_only is None
    assert found[0].similarity is not None
    assert store.file.doctor() == []


def test_searches_use_the_old_vectors_while_the_new_ones_are_made(store: Store) -> None:
    fill(store)
    old = store.search("parcel upstairs", **MEANING)
    seen: list[tuple[int, int]] = []

    def look(done: int, total: int) -> None:
        seen.append((done, total))
        again = store.search("parcel upstairs", touch=False, **MEANING)
        assert (ids(again), again.words_only) == (ids(old), None)
        assert store.status().model == "words-64"

    assert store.file.reembed(Buckets(), progress=look).switched
    assert seen
    assert seen[-1][0] == seen[-1][1]


def test_rows_written_during_a_switch_get_both_vectors(store: Store, path: Path) -> None:
    fill(store)
    new = Buckets()
    store.file.generations.stage(new)
    assert store.file.generations.run(new, limit=5).embedded == 5
    # More than one statement inserts, and some that are left over.
    count = ROWS_TOGETHER + 2
    together = [{"content": f"letter {n}", "subject": "post"} for n in range(count)]
    late = [store.add("a late letter", subject="post"), *store.add_many(together)]
    assert all(one.embedded for one in late), "by the model that searches use"
    with raw(path) as file:
        rows = "SELECT fact_id, generation_id, embedding IS NULL, checksum IS NULL"
        query = f"{rows} FROM memstore_fact_vectors WHERE fact_id >= ? ORDER BY id"
        written = [tuple(row) for row in file.execute(query, (late[0].id,))]
    of_each = ((1, 0, 0), (2, 1, 1))
    assert written == [(one.id, *kept) for one in late for kept in of_each]
    said = store.episodes.add("somebody said so late", source="test")
    with pytest.raises(Conflict, match="texts of generation 2 have no vector yet"):
        store.file.generations.switch()
    assert store.file.reembed(new).switched
    assert all(store.get(one.id).embedded for one in late)
    assert store.episodes.search("somebody said so late", mode="meaning")[0].episode.id == said.id
    store.file.generations.switch(1)
    for one in late:
        assert store.get(one.id).embedded, "the way back lacks nothing of before the switch"
    assert store.file.doctor() == []


def test_switching_back_takes_one_step_and_later_rows_are_pending(
    store: Store, open_store: Open, embedder: Any
) -> None:
    fill(store)
    store.file.reembed(Buckets())
    since = store.add("written since", subject="post")
    assert store.file.generations.switch(1).model == "words-64"
    old = open_store()
    assert not old.get(since.id).embedded
    assert old.status().pending == 1
    assert old.search("parcel 4", **MEANING).words_only is None
    assert old.file.embed_pending().embedded == 1
    assert old.file.doctor() == []
    assert [kind for kind in journal(old) if kind.endswith("_generation")] == [
        "stage_generation",
        "switch_generation",
        "switch_generation",
    ]


def journal(store: Store) -> list[str]:
    with raw(store.path) as file:
        return [kind for (kind,) in file.execute("SELECT kind FROM memstore_journal ORDER BY id")]


def test_a_retired_generation_can_be_reused(store: Store, embedder: Any) -> None:
    fill(store)
    other = Buckets()
    store.file.reembed(other)
    store.add("written since", subject="post")
    embedder.calls.clear()
    report = store.file.reembed(embedder)
    assert (report.switched, report.embedded) == (True, 1)
    assert embedder.calls == [["post: written since"]]
    assert states(store) == [(1, "active", "words-64", 64), (2, "retired", "words-24", 24)]


def test_another_dimension_of_the_same_model_requires_again(store: Store, open_store: Open) -> None:
    fill(store)
    shorter = Buckets("words-64", 16)
    with pytest.raises(Conflict, match="already of the model 'words-64'"):
        store.file.reembed(shorter)
    unaware = open_store()
    assert store.file.reembed(shorter, again=True).switched
    assert states(store) == [(1, "retired", "words-64", 64), (2, "active", "words-64", 16)]
    assert store.search("parcel 4", **MEANING).words_only is None
    told = str(unaware.search("parcel 4").words_only)
    assert "16 numbers" in told
    assert "gives 64 now" in told


def test_dropping_a_generation_deletes_its_vectors(store: Store, path: Path) -> None:
    fill(store, facts=30)
    store.file.reembed(Buckets())
    done: list[tuple[int, int]] = []
    store.file.generations.drop(1, progress=lambda *at: done.append(at))
    assert states(store) == [(2, "active", "words-24", 24)]
    assert done[-1][0] == done[-1][1] > 30
    with raw(path) as file:
        for table in ("memstore_fact_vectors", "memstore_piece_vectors"):
            of = file.execute(f"SELECT DISTINCT generation_id FROM {table}").fetchall()
            assert of == [(2,)]
    assert store.file.doctor() == []


def test_an_unfinished_generation_can_be_dropped(store: Store) -> None:
    fill(store)
    wrong = Buckets("wrong", 8)
    store.file.generations.stage(wrong)
    store.file.generations.run(wrong, limit=3)
    with pytest.raises(Conflict, match="generation 2 of the model 'wrong' is being staged"):
        store.file.reembed(Buckets())
    store.file.generations.drop(2)
    with pytest.raises(NotFound, match="no generation is staged"):
        store.file.generations.run(wrong)
    assert store.file.reembed(Buckets()).switched


def test_invalid_changes_are_refused_and_change_nothing(store: Store) -> None:
    fill(store)
    generations = store.file.generations
    before = states(store)
    with pytest.raises(Conflict, match="active one"):
        generations.drop(1)
    with pytest.raises(Conflict, match="already the active one"):
        generations.switch(1)
    with pytest.raises(NotFound, match="there is no generation 7, only 1"):
        generations.drop(7)
    with pytest.raises(NotFound, match="no generation is staged"):
        generations.switch()
    with pytest.raises(NotFound, match="no generation is staged"):
        generations.run(Buckets())
    for wrong in ("1", True, 1.0):
        with pytest.raises(TypeError, match="whole number"):
            generations.drop(wrong)  # type: ignore[arg-type]
    generations.stage(Buckets())
    with pytest.raises(memstore.EmbedderMismatch, match=r"words-24.*words-64"):
        generations.run(WordEmbedder())
    generations.drop(2)
    assert states(store) == before


def test_a_switch_interrupted_by_a_failing_embedder_resumes_later(
    store: Store,
) -> None:
    fill(store, facts=150)
    new = Buckets()
    store.file.generations.stage(new)
    assert store.file.generations.run(new, limit=64).embedded == 64
    new.failure = memstore.EmbedderUnavailable("asleep")
    report = store.file.reembed(new)
    assert (report.switched, report.error) == (False, "asleep")
    assert report.left > 80
    assert store.search("parcel 4", **MEANING).words_only is None
    new.failure = None
    again = store.file.reembed(new)
    assert (again.switched, again.embedded) == (True, report.left)


def test_texts_refused_by_the_new_model_do_not_block_the_switch(
    store: Store,
) -> None:
    fill(store)
    fact = store.add("a violin", subject="post")
    episode = store.episodes.add("violin lessons", source="test")
    store.file.embed_pending()
    new = Buckets()
    new.poison = "violin"
    report = store.file.reembed(new)
    assert report.switched
    assert report.quarantined_facts == (fact.id,)
    assert report.quarantined_episodes == (episode.id,)
    status = store.status()
    assert (status.quarantined, status.episodes_quarantined) == (1, 1)
    assert fact.id in ids(store.search("violin", vector_weight=0))
    assert "violin" in (store.get(fact.id).embed_error or "")
    new.poison = None
    assert store.file.embed_pending(retry_quarantined=True).embedded == 2


def test_erasing_removes_the_vectors_of_every_generation(store: Store, path: Path) -> None:
    fill(store)
    store.file.reembed(Buckets())
    fact = store.add("my secret", subject="post")
    episode = store.episodes.add("my secret in other words", source="test")
    store.file.embed_pending()
    store.file.generations.stage(Buckets("third", 12))
    store.erase(fact.id)
    store.episodes.erase(episode.id)
    with raw(path) as file:
        for table, owner in (("fact", fact.id), ("piece", None)):
            erased = file.execute(
                f"SELECT embedding, embed_attempts FROM memstore_{table}_vectors"
                f" WHERE {table}_id = coalesce(?, (SELECT max(id) FROM memstore_pieces))",
                (owner,),
            ).fetchall()
            assert erased == [(None, -1)] * 3
    assert store.file.reembed(Buckets("third", 12)).switched
    assert store.file.doctor() == []


def test_file_without_vectors_switches_models(open_store: Open) -> None:
    store = open_store(embedder=None)
    assert store.file.reembed(Buckets()).switched
    assert store.status().embedder is None, "a store of words only stays one"
    store.add("tea", subject="sue")
    assert store.file.reembed(Buckets("other", 8)).switched
    assert (store.status().model, store.status().dimension) == ("other", 8)


# -- other processes -----------------------------------------------------------------------------


def test_store_of_the_old_model_searches_by_words_and_loses_nothing(
    store: Store, open_store: Open, manual_clock: ManualClock
) -> None:
    fill(store)
    old = open_store()
    assert old.search("parcel 4", **MEANING).words_only is None
    assert old.episodes.search("neighbour", mode="meaning").words_only is None
    assert store.file.reembed(Buckets()).switched

    hits = old.search("parcel 4")
    assert "words-24" in str(hits.words_only)
    assert "words-64" in str(hits.words_only)
    assert hits
    said = old.episodes.search("neighbour")
    assert said.words_only is not None
    assert (said.words_only.code, bool(said)) == ("other_model", True)
    added = old.add("written by the old one", subject="post")
    assert not added.embedded
    old.file.embed_in_background(interval_seconds=5)
    for looks in range(1, 6):
        assert wait_until(lambda: len(manual_clock.waits) >= looks)  # noqa: B023
        manual_clock.advance(60)
    assert old.status().pending == 1
    assert "words-24" in (old.file.embedder_trouble or "")
    old.file.warm()

    assert store.file.embed_pending().embedded == 1
    assert store.search("written by the old one", **MEANING)[0].fact.id == added.id
    store.file.generations.switch(1)
    assert old.search("parcel 4", **MEANING).words_only is None


def test_store_opened_with_a_provider_name_switches_models(
    path: Path, provider: Provider, open_store: Open
) -> None:
    first, second = (
        open_store(embedder="ollama", model="small-16", base_url=provider.url) for _ in range(2)
    )
    fill(first)
    assert second.search("parcel 4", **MEANING).words_only is None
    assert second.episodes.search("neighbour", mode="meaning").words_only is None
    larger = memstore.OllamaEmbedder("large-48", base_url=provider.url)
    with closing(larger):
        assert first.file.reembed(larger).switched

    said = second.episodes.search("the 2. neighbour took", mode="meaning")
    assert said.words_only is None
    hits = second.search(TELLING, **MEANING)
    assert (hits.words_only, hits[0].fact.content) == (None, TELLING)
    assert second.status().embedder == "large-48"
    assert second.add("more", subject="post").embedded
    assert {model for model, _ in provider.asked[-2:]} == {"large-48"}

    first.file.generations.switch(1)
    assert second.search("parcel 4", **MEANING).words_only is None
    assert second.status().embedder == "small-16"


def test_only_the_first_write_after_a_switch_waits(
    path: Path, provider: Provider, open_store: Open
) -> None:
    store = open_store(embedder="ollama", model="small-16", base_url=provider.url)
    fill(store)
    with (
        open_store(embedder=None) as elsewhere,
        closing(memstore.OllamaEmbedder("large-48", base_url=provider.url)) as larger,
    ):
        assert elsewhere.file.reembed(larger).switched
    assert not store.add("first", subject="post").embedded
    assert store.file.embedder_trouble is None
    assert store.add("second", subject="post").embedded
    assert store.file.embed_pending().embedded == 1


def test_background_embedding_follows_a_switch(
    path: Path, provider: Provider, open_store: Open
) -> None:
    store = open_store(embedder="ollama", model="small-16", base_url=provider.url)
    fill(store)
    with open_store(embedder=None) as elsewhere:
        assert elsewhere.file.reembed(memstore.LocalEmbedder()).switched
        elsewhere.add("left by another", subject="post")
    assert store.file.embed_pending().embedded == 1
    assert "wordllama" in (store.status().embedder or "")


def test_opening_with_the_old_model_suggests_a_remedy(store: Store, open_store: Open) -> None:
    fill(store)
    store.file.reembed(Buckets())
    with pytest.raises(memstore.EmbedderMismatch, match=r"(?s)words-24.*words-64.*reembed"):
        open_store()


def test_searches_in_other_threads_never_mix_two_models(store: Store) -> None:
    fill(store, facts=40)
    ended = threading.Event()
    wrong: list[Any] = []

    def look() -> None:
        while not ended.is_set():
            hits = store.search(TELLING, touch=False, **MEANING)
            if hits.words_only is None and (not hits or hits[0].fact.content != TELLING):
                wrong.append(hits)

    threads = [threading.Thread(target=look) for _ in range(3)]
    for thread in threads:
        thread.start()
    # Of the same dimension, so that only the names differ.
    mixed = Buckets("mixed-64", 64)
    embed = mixed.embed
    mixed.embed = lambda texts: np.ascontiguousarray(embed(texts)[:, ::-1])  # type: ignore[method-assign]
    for _ in range(3):
        store.file.reembed(mixed, again=True)
        store.file.reembed(WordEmbedder(), again=True)
    ended.set()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert store.file.doctor() == []


# -- killed --------------------------------------------------------------------------------------

SCRIPT = """
import os, signal, sys
import numpy as np
import memstore
from memstore.embedding.generations import Generations

class Slow:
    model = "words-24"
    def embed(self, texts):
        return np.array([[text.count(chr(97 + i)) + 0.5 for i in range(24)] for text in texts],
                        dtype=np.float32)

def die(*_):
    os.kill(os.getpid(), signal.SIGKILL)

path, how = sys.argv[1:]
switch, whole = Generations._switch, Generations._switch_if_whole
if how == "before":
    Generations._switch = die
if how == "within":
    Generations._switch = lambda *given: (switch(*given), die())
if how == "after":
    Generations._switch_if_whole = lambda *given: (whole(*given), die())
store = memstore.open(path, embedder=None)
print("staging", flush=True)
if how.isdecimal():
    left = int(how)
    def count(*_):
        global left
        left -= 1
        if left < 0:
            die()
    sys.setprofile(count)
print(store.file.reembed(Slow()).switched, flush=True)
"""


def start(path: Path, how: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", SCRIPT, str(path), how], stdout=subprocess.PIPE, text=True
    )


@pytest.mark.process
@pytest.mark.skipif(sys.platform == "win32", reason="kills by a signal")
@pytest.mark.parametrize("how", ["before", "within", "after"])
def test_kill_during_the_switch_leaves_either_generation_active(
    how: str, store: Store, path: Path, open_store: Open
) -> None:
    fill(store)
    with start(path, how) as process:
        process.communicate(timeout=60)
    assert process.returncode == -signal.SIGKILL
    switched = how == "after"
    expected = "words-24" if switched else "words-64"
    assert store.status().model == expected
    assert store.file.doctor() == []
    if not switched:
        assert store.search("parcel 4", **MEANING).words_only is None
        assert states(store)[1][:2] == (2, "staged")
        with start(path, "alive") as process:
            assert process.communicate(timeout=60)[0] == "staging\nTrue\n"
    assert states(store)[1][:2] == (2, "active")
    assert store.file.doctor() == []


@pytest.mark.process
@pytest.mark.skipif(sys.platform == "win32", reason="kills by a signal")
def test_a_kill_loses_at_most_one_batch(store: Store, path: Path, open_store: Open) -> None:
    fill(store, facts=1500, episodes=6)
    chance = random.Random(17)
    embedded = killed = 0
    for _ in range(7):
        with start(path, str(chance.randrange(20_000))) as process:
            process.communicate(timeout=60)
        killed += process.returncode == -signal.SIGKILL
        [old, *new] = store.file.generations.list()
        assert store.search("parcel 7", **MEANING).words_only is None or new
        if new:
            now = new[0].facts.embedded + new[0].pieces.embedded
            assert now >= embedded, "what was committed is not made again"
            embedded = now
        if old.generation.state == "retired":
            break
        store.add(f"parcel {chance.random()} came meanwhile", subject="post")
    assert killed > 3
    with start(path, "alive") as process:
        process.communicate(timeout=60)
    listed = store.file.generations.list()[1]
    assert (listed.generation.state, listed.facts.pending, listed.pieces.pending) == (
        "active",
        0,
        0,
    )
    assert store.file.doctor() == []


@pytest.mark.process
@pytest.mark.skipif(sys.platform == "win32", reason="kills by a signal")
def test_a_kill_while_dropping_leaves_a_generation_that_can_be_dropped(
    store: Store, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(store, facts=50)
    store.file.reembed(Buckets())
    script = (
        "import os, signal, sys, memstore\n"
        "from memstore.embedding import generations\n"
        "generations.DROP_BATCH = 20\n"
        "store = memstore.open(sys.argv[1], embedder=None)\n"
        "kill = lambda *at: os.kill(os.getpid(), signal.SIGKILL)\n"
        "store.file.generations.drop(1, progress=kill)\n"
    )
    done = subprocess.run([sys.executable, "-c", script, str(path)], check=False, timeout=60)
    assert done.returncode == -signal.SIGKILL
    half = store.file.generations.list()[0]
    assert (half.generation.state, half.facts.pending) == ("retired", 20)
    assert store.file.doctor() == []
    store.file.generations.drop(1)
    assert store.file.doctor() == []


def test_writers_continue_during_a_switch(store: Store, path: Path, open_store: Open) -> None:
    fill(store)
    ended = threading.Event()
    written: list[int] = []
    new = Buckets()
    embed = new.embed

    def slow(texts: Sequence[str]) -> Any:
        before = len(written)
        assert wait_until(lambda: len(written) > before), "a writer waits for the embedder"
        return embed(texts)

    new.embed = slow  # type: ignore[method-assign]

    def write() -> None:
        with memstore.open(path, embedder=None) as other:
            while not ended.is_set():
                written.append(other.add(f"fact {len(written)}", subject="flood").id)
                ended.wait(0.002)

    writer = threading.Thread(target=write)
    writer.start()
    try:
        assert store.file.reembed(new).switched
    finally:
        ended.set()
        writer.join()
        new.embed = embed  # type: ignore[method-assign]
    assert len(written) > 3
    store.file.embed_pending()
    assert all(fact.embedded for fact in store.list(subject="flood"))
    assert store.file.doctor() == []


# -- any order of events -------------------------------------------------------------------------


class AnyOrder(RuleBasedStateMachine):
    """Facts, episodes and generations change in any order; the doctor finds nothing wrong."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory(prefix="memstore-test-")
        self.store = memstore.open(f"{self.folder.name}/memory.db", embedder=WordEmbedder())
        self.new = Buckets()
        self.known = 0

    @rule(text=st.sampled_from(["tea", "green tea", "rain", "a kayak"]))
    def add(self, text: str) -> None:
        self.known = self.store.add(text, subject="sue").id

    @rule(words=st.integers(1, 900))
    def record(self, words: int) -> None:
        self.store.episodes.add("so it was said " * words, source="test")

    @rule(what=st.sampled_from(["delete", "restore", "erase"]))
    def change(self, what: str) -> None:
        with contextlib.suppress(NotFound, Conflict):
            getattr(self.store, what)(self.known)

    @rule()
    def erase_episode(self) -> None:
        for episode in self.store.episodes.list(limit=1):
            self.store.episodes.erase(episode.id)

    @rule(limit=st.integers(1, 5))
    def stage(self, limit: int) -> None:
        with contextlib.suppress(Conflict):
            self.store.file.generations.stage(self.new)
            self.store.file.generations.run(self.new, limit=limit)

    @rule()
    def go_over(self) -> None:
        with contextlib.suppress(Conflict):
            assert self.store.file.reembed(self.new).switched

    @rule(number=st.integers(1, 3))
    def switch(self, number: int) -> None:
        with contextlib.suppress(Conflict, NotFound):
            self.store.file.generations.switch(number)

    @rule(number=st.integers(1, 3))
    def drop(self, number: int) -> None:
        with contextlib.suppress(Conflict, NotFound):
            self.store.file.generations.drop(number)

    @rule()
    def embed(self) -> None:
        with contextlib.suppress(memstore.EmbedderMismatch):
            assert self.store.file.embed_pending().left == 0

    @rule()
    def search(self) -> None:
        self.store.search("tea")
        self.store.episodes.search("said")

    @invariant()
    def one_is_active(self) -> None:
        found = [one.generation.state for one in self.store.file.generations.list()]
        assert found.count("active") == 1
        assert found.count("staged") <= 1

    def teardown(self) -> None:
        findings = self.store.file.doctor()
        self.store.close()
        self.folder.cleanup()
        assert findings == []


AnyOrder.TestCase.settings = settings(
    deadline=None, max_examples=examples(25), stateful_step_count=25
)
TestAnyOrder = AnyOrder.TestCase
