"""Embedding: however an embedder fails, every fact is stored and found."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from tests.support.clock import ManualClock, wait_until

import memstore
from memstore import Embedder, NewFact, Store
from memstore.embedding.embedding import FIRST_PAUSE_SECONDS, MAX_PAUSE_SECONDS
from memstore.errors import Remedy

Open = Callable[..., Store]

MEANING_ONLY: dict[str, Any] = {"word_weight": 0.0, "vector_weight": 1.0}


def ids(hits: Sequence[memstore.SearchHit]) -> list[int]:
    return [hit.fact.id for hit in hits]


class Answers:
    """An embedder with scripted answers."""

    model = "answers"

    def __init__(self, answer: Callable[[list[str]], Any]) -> None:
        self.answer = answer

    def embed(self, texts: Sequence[str]) -> Any:
        return self.answer(list(texts))


def ones(count: int, dimension: int = 8) -> Any:
    return np.ones((count, dimension), dtype=np.float32)


# -- a failing embedder never fails a write --------------------------------------------------


def raising(error: BaseException) -> Callable[[list[str]], Any]:
    def answer(texts: list[str]) -> Any:
        raise error

    return answer


def one_nan(texts: list[str]) -> Any:
    rows = ones(len(texts))
    rows[-1, 3] = np.nan
    return rows


FAILING: dict[str, Callable[[list[str]], Any]] = {
    "unavailable": raising(memstore.EmbedderUnavailable("asleep")),
    "rejected": raising(memstore.EmbedderRejected("asleep")),
    "its base": raising(memstore.EmbedderError("asleep")),
    "runtime error": raising(RuntimeError("asleep")),
    "os error": raising(ConnectionRefusedError("asleep")),
    "timeout": raising(TimeoutError("asleep")),
    "memory": raising(MemoryError("asleep")),
    "stop iteration": raising(StopIteration("asleep")),
    "unicode": raising(UnicodeDecodeError("utf-8", b"\xff", 0, 1, "asleep")),
    "no message": raising(ValueError()),
    "too few": lambda texts: ones(len(texts) - 1),
    "too many": lambda texts: ones(len(texts) + 1),
    "one row flat": lambda texts: np.ones(8, dtype=np.float32),
    "a cube": lambda texts: np.ones((len(texts), 2, 4), dtype=np.float32),
    "no numbers": lambda texts: ones(len(texts), 0),
    "a scalar": lambda texts: 1.0,
    "nothing": lambda texts: None,
    "text": lambda texts: ["a"] * len(texts),
    "ragged": lambda texts: [[1.0] * (2 + n) for n in range(len(texts) + 1)],
    "nan": one_nan,
    "infinity": lambda texts: ones(len(texts)) * np.inf,
    "too large for float32": lambda texts: np.full((len(texts), 8), 1e300),
}
failing = pytest.mark.parametrize("answer", FAILING.values(), ids=FAILING)


@failing
def test_a_failing_embedder_never_fails_a_write_or_a_search(
    open_store: Open, answer: Callable[[list[str]], Any]
) -> None:
    store = open_store(embedder=Answers(answer))
    tea = store.add("tea", subject="sue")
    more = store.add_many([{"content": f"tea {n}", "subject": "sue"} for n in range(3)])
    assert not any(fact.embedded for fact in [tea, *more])
    assert (store.status().active, store.status().pending, store.status().model) == (4, 4, None)
    hits = store.search("tea")
    assert len(hits) == 4
    assert hits.words_only
    report = store.file.embed_pending()
    assert (report.embedded, report.failed, report.left) == (0, 0, 4)
    assert report.error


@pytest.mark.parametrize("error", [KeyboardInterrupt(), SystemExit(1)], ids=repr)
def test_an_interrupt_while_embedding_cancels_the_whole_write(
    open_store: Open, error: BaseException
) -> None:
    store = open_store(embedder=Answers(raising(error)))
    with pytest.raises(type(error)):
        store.add("tea", subject="sue")
    assert store.list() == []


@pytest.mark.parametrize(
    "answer",
    [
        lambda texts: [[1.0, 2.0]] * len(texts),
        lambda texts: np.ones((len(texts), 8), dtype=np.float64),
        lambda texts: np.ones((len(texts), 8), dtype=np.int64),
        lambda texts: np.asfortranarray(ones(len(texts))),
        lambda texts: ones(len(texts) * 2)[::2],
        lambda texts: ones(len(texts)).astype(">f4"),
        lambda texts: ones(len(texts)) * 1e-30,
    ],
    ids=["lists", "float64", "integers", "columns first", "strided", "big-endian", "tiny"],
)
def test_an_answer_convertible_to_float32_is_accepted(
    open_store: Open, answer: Callable[[list[str]], Any]
) -> None:
    store = open_store(embedder=Answers(answer))
    facts = store.add_many([{"content": text, "subject": "sue"} for text in ("tea", "rain")])
    assert all(fact.embedded for fact in facts)
    assert store.search("tea").words_only is None
    assert [hit.vector_score for hit in store.search("x", **MEANING_ONLY)] == pytest.approx([1, 1])


def test_a_changed_dimension_leaves_the_fact_pending(open_store: Open) -> None:
    embedder = Answers(lambda texts: ones(len(texts), 8))
    store = open_store(embedder=embedder)
    store.add("tea", subject="sue")
    embedder.answer = lambda texts: ones(len(texts), 12)
    late = store.add("more tea", subject="sue")
    assert not late.embedded
    assert (store.status().dimension, store.status().pending) == (8, 1)
    hits = store.search("tea")
    assert late.id in ids(hits)
    assert "8" in str(hits.words_only)
    assert "12" in str(hits.words_only)
    with pytest.raises(memstore.EmbedderMismatch, match=r"(?s)8 numbers.*gives 12 now.*again=True"):
        store.file.embed_pending()
    embedder.answer = lambda texts: ones(len(texts), 8)
    assert store.file.embed_pending().embedded == 1


def test_a_dimension_that_changes_within_one_write_is_rejected(
    open_store: Open,
) -> None:
    dimensions = iter([8, 12])
    store = open_store(embedder=Answers(lambda texts: ones(len(texts), next(dimensions, 8))))
    facts = store.add_many([{"content": f"tea {n}", "subject": "sue"} for n in range(65)])
    assert not any(fact.embedded for fact in facts)
    assert store.file.doctor() == []


# -- pending facts ---------------------------------------------------------------------------


def test_a_pending_fact_is_embedded_later_and_then_found_by_meaning(
    store: Store, embedder: Any
) -> None:
    embedder.failure = memstore.EmbedderUnavailable("asleep")
    tea = store.add("tea", subject="sue")
    embedder.failure = None
    assert ids(store.search("tea", **MEANING_ONLY)) == []
    report = store.file.embed_pending()
    assert (report.embedded, report.failed, report.left, report.error) == (1, 0, 0, None)
    assert ids(store.search("tea", **MEANING_ONLY)) == [tea.id]
    assert store.get(tea.id).embedded
    assert store.status().pending == 0
    assert store.file.embed_pending().embedded == 0


def test_embed_pending_resumes_where_it_stopped(store: Store, open_store: Open) -> None:
    with_none = open_store(embedder=None)
    with_none.add_many(NewFact(content=f"tea {n}", subject="sue") for n in range(150))
    calls = iter(range(100))
    answers = Answers(lambda texts: ones(len(texts)) if next(calls) < 1 else 1 / 0)
    failing = open_store(embedder=answers)
    report = failing.file.embed_pending()
    assert (report.embedded, report.left) == (64, 86)
    assert "division by zero" in (report.error or "")
    assert failing.status().pending == 86
    answers.answer = lambda texts: ones(len(texts))
    assert failing.file.embed_pending(limit=6).embedded == 6
    done: list[tuple[int, int]] = []
    report = failing.file.embed_pending(progress=lambda *at: done.append(at))
    assert (report.embedded, report.left) == (80, 0)
    assert done[-1] == (80, 80)
    assert done == sorted(done)


def test_embed_pending_covers_other_namespaces_only_on_request(
    store: Store, open_store: Open
) -> None:
    elsewhere = open_store(embedder=None, namespace="other")
    elsewhere.add("tea", subject="sue")
    assert store.file.embed_pending(namespace=store.namespace).embedded == 0
    assert store.file.embed_pending().embedded == 1
    assert elsewhere.list()[0].embedded


def test_embed_pending_without_an_embedder_is_reported(open_store: Open) -> None:
    with pytest.raises(memstore.EmbedderError, match="no embedder"):
        open_store(embedder=None).file.embed_pending()


def test_facts_deleted_or_superseded_during_embedding_keep_their_status(
    open_store: Open,
) -> None:
    other = open_store(embedder=None)
    gone = other.add("tea", subject="sue").id
    old = other.add("green tea", subject="sue").id

    def answer(texts: list[str]) -> Any:
        if other.get(old).status == "active":
            other.delete(gone)
            other.add("black tea", subject="sue", supersedes=old)
        return ones(len(texts))

    store = open_store(embedder=Answers(answer))
    report = store.file.embed_pending()
    assert (report.embedded, report.left) == (2, 0), "the one deleted is not counted"
    assert not other.get(gone).embedded
    assert (other.get(old).embedded, other.get(old).status) == (True, "superseded")
    other.restore(gone)
    assert store.file.embed_pending().embedded == 1


def test_a_fact_is_embedded_with_its_subject_named_once(store: Store, embedder: Any) -> None:
    store.add("drinks tea", subject="Sue")
    store.add("SUE drinks tea", subject="Sue")
    assert embedder.calls == [["Sue: drinks tea"], ["SUE drinks tea"]]


def test_many_facts_are_embedded_in_few_calls(store: Store, embedder: Any) -> None:
    store.add_many(NewFact(content=f"tea {n}", subject="sue") for n in range(200))
    assert sum(map(len, embedder.calls)) == 200
    assert len(embedder.calls) <= 4


# -- quarantine ------------------------------------------------------------------------------


def test_text_that_is_always_refused_is_quarantined_and_others_are_embedded(
    store: Store, embedder: Any
) -> None:
    embedder.poison = "violin"
    facts = store.add_many(
        NewFact(content="violin" if n == 5 else f"tea {n}", subject="sue") for n in range(10)
    )
    poisoned = facts[5].id
    first = store.file.embed_pending()
    assert (first.embedded, first.failed, first.left, first.error) == (9, 1, 1, None)
    for _ in range(2):
        assert store.status().quarantined == 0
        assert store.file.embed_pending().failed == 1
    status = store.status()
    assert (status.pending, status.quarantined) == (0, 1)
    assert "violin" in (store.get(poisoned).embed_error or "")
    assert store.ledger.journal(poisoned)[-1].kind == "quarantine"
    calls = len(embedder.calls)
    assert store.file.embed_pending() == type(first)(0, 0, 0, None)
    assert len(embedder.calls) == calls, "a quarantined text is not tried again"
    assert ids(store.search("violin", vector_weight=0)) == [poisoned]


def test_retry_quarantined_gives_another_chance(store: Store, embedder: Any) -> None:
    embedder.poison = "violin"
    fact = store.add("violin", subject="sue")
    for _ in range(3):
        store.file.embed_pending()
    assert store.status().quarantined == 1
    assert store.file.embed_pending(retry_quarantined=True).failed == 1
    assert (store.status().pending, store.status().quarantined) == (1, 0)
    embedder.poison = None
    assert store.file.embed_pending(retry_quarantined=True).embedded == 1
    after = store.get(fact.id)
    assert (after.embedded, after.embed_error) == (True, None)
    assert (store.status().pending, store.status().quarantined) == (0, 0)


def test_refused_text_does_not_block_the_next_ones(store: Store, embedder: Any) -> None:
    embedder.poison = "violin"
    assert not store.add("violin", subject="sue").embedded
    assert store.add("tea", subject="sue").embedded
    assert store.search("violin").words_only
    assert store.search("tea").words_only is None


def test_an_embedder_that_is_down_for_long_quarantines_nothing(
    store: Store, embedder: Any, manual_clock: ManualClock
) -> None:
    for failure in (
        memstore.EmbedderUnavailable("asleep"),
        memstore.EmbedderRejected("the key is wrong"),
        RuntimeError("broken"),
    ):
        embedder.failure = failure
        store.add("tea", subject="sue")
        for _ in range(8):
            report = store.file.embed_pending()
            assert (report.embedded, report.failed) == (0, 0)
            assert str(failure) in (report.error or "")
    assert (store.status().pending, store.status().quarantined) == (3, 0)
    embedder.failure = None
    assert store.file.embed_pending().embedded == 3


# -- a failing embedder is not called --------------------------------------------------------


def test_failing_embedder_is_not_called_between_writes(
    embedder: Any, store: Store, manual_clock: ManualClock
) -> None:
    embedder.failure = memstore.EmbedderUnavailable("asleep")
    for n in range(20):
        store.add(f"tea {n}", subject="sue")
        assert "asleep" in str(store.search("tea").words_only)
    assert len(embedder.calls) == 1
    embedder.failure = None
    assert store.file.embed_pending().embedded == 20, "who asks for it does not wait"
    assert store.add("rain", subject="sue").embedded


def test_failing_embedder_is_paused_longer_each_time(
    embedder: Any, store: Store, manual_clock: ManualClock
) -> None:
    embedder.failure = memstore.EmbedderUnavailable("asleep")
    asked_at: list[int] = []
    for second in range(200):
        calls = len(embedder.calls)
        store.search("tea")
        asked_at += [second] * (len(embedder.calls) - calls)
        manual_clock.advance(1)
    assert asked_at == [0, 1, 3, 7, 15, 31, 63, 123, 183], "twice as long, a minute at the most"


def test_embedder_is_called_again_after_its_pause(
    embedder: Any, store: Store, manual_clock: ManualClock
) -> None:
    embedder.failure = memstore.EmbedderUnavailable("asleep")
    store.add("tea", subject="sue")
    embedder.failure = None
    manual_clock.advance(FIRST_PAUSE_SECONDS)
    assert store.add("rain", subject="sue").embedded


# -- one file, one model ---------------------------------------------------------------------


def test_the_model_is_recorded_at_the_first_embedding(store: Store, embedder: Any) -> None:
    assert (store.status().model, store.status().embedder) == (None, "words-64")
    embedder.failure = memstore.EmbedderUnavailable("asleep")
    store.add("tea", subject="sue")
    assert store.status().model is None
    embedder.failure = None
    store.file.embed_pending()
    assert (store.status().model, store.status().dimension) == ("words-64", 64)


def test_another_model_is_refused_on_opening_and_both_are_named(
    store: Store, embedder: Any, open_store: Open
) -> None:
    store.add("tea", subject="sue")
    other = type(embedder)()
    other.model = "another"
    with pytest.raises(memstore.EmbedderMismatch, match="words-64") as caught:
        open_store(embedder=other)
    assert "another" in str(caught.value)
    assert caught.value.remedy is Remedy.USE_STORED_MODEL
    assert store.add("rain", subject="sue").embedded, "the file was left as it was"


def test_any_model_can_open_a_file_without_embeddings(embedder: Any, open_store: Open) -> None:
    open_store(embedder=None).add("tea", subject="sue")
    other = type(embedder)()
    other.model = "another"
    open_store(embedder=embedder).close()
    assert open_store(embedder=other).status().model is None


def test_any_file_can_be_opened_without_an_embedder(store: Store, open_store: Open) -> None:
    tea = store.add("tea", subject="sue")
    words_only = open_store(embedder=None)
    assert ids(words_only.search("tea")) == [tea.id]
    rain = words_only.add("rain", subject="sue")
    assert not rain.embedded
    assert (words_only.status().model, words_only.status().embedder) == ("words-64", None)
    assert store.file.embed_pending().embedded == 1


def test_two_models_racing_for_a_fresh_file_leave_one_and_lose_nothing(
    open_store: Open,
) -> None:
    stores = []
    for name in ("left", "right"):
        embedder = Answers(lambda texts: ones(len(texts)))
        embedder.model = name
        stores.append(open_store(embedder=embedder))
    barrier = threading.Barrier(2)

    def work(store: Store) -> None:
        barrier.wait()
        for n in range(20):
            store.add(f"tea {n}", subject="sue")

    threads = [threading.Thread(target=work, args=(store,)) for store in stores]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    model = stores[0].status().model
    winner, loser = stores if model == "left" else reversed(stores)
    assert (winner.status().active, winner.status().pending) == (40, 20)
    assert winner.search("tea").words_only is None
    assert "left" in str(loser.search("tea").words_only)
    assert "right" in str(loser.search("tea").words_only)
    with pytest.raises(memstore.EmbedderMismatch):
        loser.file.embed_pending()
    assert winner.file.embed_pending().embedded == 20
    assert winner.file.doctor() == []


# -- in the background -----------------------------------------------------------------------


def test_background_embeds_pending_items_after_recovery(
    store: Store, embedder: Any, manual_clock: ManualClock
) -> None:
    embedder.failure = memstore.EmbedderUnavailable("asleep")
    facts = [store.add(f"tea {n}", subject="sue").id for n in range(5)]
    store.file.embed_in_background(interval_seconds=0.02)
    assert wait_until(lambda: manual_clock.advance(60) or len(embedder.calls) > 6)
    assert store.status().pending == 5
    embedder.failure = None
    assert wait_until(lambda: manual_clock.advance(60) or store.status().pending == 0)
    assert set(ids(store.search("tea", **MEANING_ONLY))) == set(facts)


def test_background_embedding_backs_off_while_the_embedder_is_down(
    store: Store, embedder: Any, manual_clock: ManualClock
) -> None:
    embedder.failure = memstore.EmbedderUnavailable("asleep")
    store.add("tea", subject="sue")
    store.file.embed_in_background(interval_seconds=5)

    def between_looks() -> list[float]:  # and not those of the lease
        return [seconds for seconds in manual_clock.waits if seconds in (5, 10, 20, 40, 60)]

    assert wait_until(lambda: manual_clock.advance(5) or len(between_looks()) > 5)
    assert between_looks()[:6] == [5, 10, 20, 40, 60, 60]


def test_background_failure_pauses_the_embedder_for_writes(
    embedder: Any, store: Store, manual_clock: ManualClock
) -> None:
    embedder.failure = memstore.EmbedderUnavailable("asleep")
    store.add("tea", subject="sue")
    for _ in range(12):
        store.file.embed_pending()
    calls = len(embedder.calls)
    manual_clock.advance(MAX_PAUSE_SECONDS - 1)
    store.search("tea")
    assert len(embedder.calls) == calls


def test_background_survives_another_model_and_a_busy_file(
    open_store: Open, embedder: Any, manual_clock: ManualClock
) -> None:
    other = Answers(lambda texts: ones(len(texts)))
    late = open_store(embedder=other)
    open_store().add("tea", subject="sue")
    late.add("rain", subject="sue")
    late.file.embed_in_background(interval_seconds=5)
    for looks in range(1, 6):
        assert wait_until(lambda: len(manual_clock.waits) >= looks)  # noqa: B023
        manual_clock.advance(60)
    assert late.status().pending == 1
    assert any(thread.name == "memstore-embedding" for thread in threading.enumerate())


def test_closing_the_store_stops_the_background_thread_quickly(store: Store, embedder: Any) -> None:
    started, ended = threading.Event(), threading.Event()

    def slow(texts: Sequence[str]) -> Any:
        started.set()
        ended.wait(20)
        raise memstore.EmbedderUnavailable("cut off")

    embedder.failure = memstore.EmbedderUnavailable("asleep")
    store.add("tea", subject="sue")
    embedder.failure = None
    embedder.embed = slow
    store.file.embed_in_background(interval_seconds=0.5)
    assert started.wait(20)
    closing = threading.Thread(target=store.close)
    closing.start()
    closing.join(10)
    assert not closing.is_alive(), "it does not wait for an embedder that hangs"
    ended.set()
    assert wait_until(
        lambda: all(thread.name != "memstore-embedding" for thread in threading.enumerate())
    )


def test_an_idle_background_thread_ends_at_once(store: Store) -> None:
    store.file.embed_in_background(interval_seconds=600)
    store.file.embed_in_background(interval_seconds=600)
    closing = threading.Thread(target=store.close)
    closing.start()
    closing.join(10)
    assert not closing.is_alive()


@pytest.mark.parametrize("interval", [0, -1, float("nan")])
def test_background_embedding_without_a_pause_is_refused(store: Store, interval: float) -> None:
    with pytest.raises(ValueError, match="interval_seconds"):
        store.file.embed_in_background(interval_seconds=interval)


def test_background_embedding_with_nothing_to_do_does_nothing(
    store: Store, open_store: Open
) -> None:
    open_store(embedder=None).file.embed_in_background()
    open_store(read_only=True).file.embed_in_background()
    assert all(thread.name != "memstore-embedding" for thread in threading.enumerate())


# -- choosing one ----------------------------------------------------------------------------


class NoModel:
    def embed(self, texts: Sequence[str]) -> Any: ...


class NoEmbed:
    model = "x"


@pytest.mark.parametrize(
    "wrong",
    [NoModel(), NoEmbed(), 5, object(), ["local"], Answers, True],
    ids=["no model", "no embed", "number", "object", "list", "class", "bool"],
)
def test_invalid_embedder_is_refused(open_store: Open, wrong: Any) -> None:
    with pytest.raises(TypeError, match=r"embed\(texts\)"):
        open_store(embedder=wrong)


@pytest.mark.parametrize(
    ("model", "error"),
    [(None, TypeError), (5, TypeError), ("", ValueError), ("\ud800", ValueError)],
)
def test_a_model_without_a_name_is_refused(
    open_store: Open, model: Any, error: type[Exception]
) -> None:
    embedder = Answers(lambda texts: ones(len(texts)))
    embedder.model = model
    with pytest.raises(error, match="model"):
        open_store(embedder=embedder)


def test_embedders_satisfy_the_protocol(embedder: Any) -> None:
    for given in (
        embedder,
        memstore.LocalEmbedder(),
        memstore.OllamaEmbedder(),
        memstore.OpenAIEmbedder(),
    ):
        assert isinstance(given, Embedder)
        assert isinstance(given.model, str)


@pytest.mark.parametrize(
    ("options", "part"),
    [
        ({"embedder": "local"}, "wordllama"),
        ({"embedder": "ollama"}, ""),
        ({"embedder": "ollama", "model": "all-minilm"}, "all-minilm"),
        ({"embedder": "openai"}, ""),
        ({"embedder": "openai", "model": "my-model", "base_url": "http://127.0.0.1:1"}, "my-model"),
    ],
    ids=str,
)
def test_embedders_are_chosen_by_name(open_store: Open, options: dict[str, str], part: str) -> None:
    name = open_store(**options).status().embedder
    assert name
    assert part in name


def test_the_name_none_means_words_only(open_store: Open) -> None:
    assert open_store(embedder="none").status().embedder is None


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"embedder": "Local"}, "local, ollama, openai"),
        ({"embedder": ""}, "local, ollama, openai"),
        ({"embedder": "bert"}, "local, ollama, openai"),
        ({"embedder": "local", "model": "x"}, "model"),
        ({"embedder": "none", "base_url": "http://x"}, "base_url"),
    ],
    ids=str,
)
def test_unknown_names_and_unused_options_are_refused(
    open_store: Open, options: dict[str, str], words: str
) -> None:
    with pytest.raises(ValueError, match=words):
        open_store(**options)


# -- opening is cheap ------------------------------------------------------------------------


# The kernel itself is cheap: opening loads it for its locks, and numpy only comes with vectors.
def test_opening_contacts_no_server(embedder: Any, open_store: Open) -> None:
    store = open_store()
    store.list()
    store.status()
    assert embedder.calls == []
