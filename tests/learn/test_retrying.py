"""What a model failed to read is counted, and read later: on request or in the background."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from tests.support.clock import ManualClock, wait_until

from memstore import Extractor, GeneratorUnavailable, LearningError, Memory, Scope, Store
from memstore.embedding.leases import Lease
from memstore.errors import GeneratorError
from memstore.learn import server_learning

ANA = Scope(user_id="ana")
TEA = "Ana drinks tea"


class Model:
    """Fails as long as there are errors, and then finds one fact."""

    model = "scripted"

    def __init__(self, *errors: Exception) -> None:
        self.errors = [*errors]
        self.asked = 0

    def generate(self, prompt: str) -> str:
        self.asked += 1
        if self.errors:
            raise self.errors.pop(0)
        if "The existing memories:" in prompt:
            return json.dumps({"operations": [{"fact": 1, "event": "ADD"}]})
        return json.dumps({"facts": [{"content": TEA, "subject": "ana"}]})


AWAY = GeneratorUnavailable("away")
ODD = GeneratorError("odd")


def failed(store: Store, *texts: str) -> None:
    for text in texts:
        with pytest.raises(GeneratorError):
            Extractor(store, Model(ODD)).extract(text)


def test_text_that_could_not_be_read_is_counted_and_read_later(store: Store) -> None:
    failed(store, "one", "two")
    failed(store.of(ANA), "three")
    assert store.of("all").status().not_learned == 3
    assert (store.status().not_learned, store.of(ANA).status().not_learned) == (2, 1)
    done = Extractor(store, Model()).retry()
    assert [one.episode.content for one in done] == ["one", "two", "three"]
    assert store.of("all").status().not_learned == 0
    assert [fact.scope for fact in store.of("all").list()] == [Scope(), ANA]
    assert Extractor(store, Model(ODD)).retry() == []


def test_retry_of_a_scope_reads_only_its_texts(store: Store) -> None:
    failed(store, "one")
    failed(store.of(ANA), "two")
    assert len(Extractor(store.of(ANA), Model()).retry()) == 1
    assert store.of("all").status().not_learned == 1


def test_text_is_read_as_it_was_to_be_read_at_first(store: Store) -> None:
    with pytest.raises(GeneratorError):
        Extractor(store, Model(ODD)).extract("x", "ben", {"a": 1}, at="2026-01-05")
    model = Model()
    [done] = Extractor(store, model).retry()
    fact = store.get(done.items[0].fact_id or 0)
    assert (fact.metadata, str(fact.valid_at)[:10]) == ({"a": 1}, "2026-01-05")


def test_the_same_call_again_or_a_rebuild_clears_the_count(store: Store) -> None:
    failed(store, "one", "two")
    Extractor(store, Model()).extract("one")
    assert store.status().not_learned == 1
    Extractor(store, Model()).rebuild()
    assert store.status().not_learned == 0


def test_one_that_fails_again_leaves_the_others_done(store: Store) -> None:
    failed(store, "one", "two", "three")
    with pytest.raises(LearningError, match=r"1 of 3 texts could not be learned from"):
        Extractor(store, Model(ODD)).retry()
    assert store.status().not_learned == 1


def test_model_that_is_away_stops_a_retry_unless_it_is_patient(
    store: Store, manual_clock: ManualClock
) -> None:
    failed(store, "one", "two")
    model = Model(AWAY)
    with pytest.raises(LearningError, match="2 of 2"):
        Extractor(store, model).retry()
    assert model.asked == 1
    model = Model(AWAY, AWAY, AWAY)
    assert len(Extractor(store, model).retry(patient=True)) == 2
    assert manual_clock.pauses == [2.0, 10.0, 60.0]


def test_memory_is_patient_on_request(store: Store, manual_clock: ManualClock) -> None:
    with pytest.raises(LearningError):
        Memory(store, Model(AWAY)).add("I drink tea", user_id="ana")
    [done] = Memory(store, Model(AWAY, AWAY)).retry(user_id="ana", patient=True)
    assert [event["memory"] for event in done] == [TEA]
    assert manual_clock.pauses == [2.0, 10.0]


def test_failed_texts_are_not_shown_as_conversations(store: Store) -> None:
    failed(store, "one")
    assert Memory(store).unread() == []
    assert Memory(store, Model(ODD)).retry(everything=True) == []


def test_failed_texts_are_exported(
    store: Store, open_store: Callable[..., Store], tmp_path: Any
) -> None:
    failed(store, "one")
    other = open_store(tmp_path / "other.db")
    other.transfer.import_(store.transfer.export())
    assert other.status().not_learned == 1
    assert len(Extractor(other, Model()).retry()) == 1


def test_erased_text_is_not_retried(store: Store) -> None:
    failed(store, "one")
    store.episodes.erase(1)
    assert store.status().not_learned == 0
    assert Extractor(store, Model(ODD)).retry() == []


def test_background_retries_with_growing_pauses_until_stopped(
    store: Store, manual_clock: ManualClock
) -> None:
    failed(store, "one")
    model = Model(AWAY, AWAY)
    with Extractor(store, model).retry_in_background(10) as job:
        for pause in (10, 20, 40):
            asked = model.asked
            assert wait_until(lambda pause=pause: pause in manual_clock.waits)
            manual_clock.advance(pause)
            assert wait_until(lambda asked=asked: model.asked > asked)
        assert wait_until(lambda: store.status().not_learned == 0)
    job.stop()
    assert [fact.content for fact in store.list()] == [TEA]


def test_memory_retries_conversations_in_the_background(
    store: Store, manual_clock: ManualClock
) -> None:
    with pytest.raises(LearningError):
        Memory(store, Model(AWAY)).add("I drink tea", user_id="ana")
    with Memory(store, Model()).retry_in_background(5):
        assert wait_until(lambda: 5 in manual_clock.waits)
        manual_clock.advance(5)
        assert wait_until(lambda: store.of("all").status().not_learned == 0)
    with pytest.raises(ValueError, match="generator"):
        Memory(store).retry_in_background()
    with pytest.raises(ValueError, match="interval_seconds"):
        Memory(store, Model()).retry_in_background(0)


def test_of_several_processes_one_works(store: Store, manual_clock: ManualClock) -> None:
    failed(store, "one")
    model = Model()
    with Lease(store.file.engine, f"extract {store.namespace}"):
        with Extractor(store, model).retry_in_background(5):
            assert wait_until(lambda: 5 in manual_clock.waits)
            manual_clock.advance(5)
            assert wait_until(lambda: manual_clock.waits.count(5) > 1)
        assert model.asked == 0


def keep(store: Store, *turns: str, thread: str = "monday") -> None:
    for turn in turns:
        store.episodes.add(turn, source="chat", thread=thread, speaker="user")


def test_turns_kept_without_a_model_are_counted_and_read_later(store: Store) -> None:
    keep(store, "I drink tea", "really")
    keep(store.of(ANA), "so do I")
    assert (store.of("all").status().unread, store.status().unread) == (2, 1)
    assert store.of("all").status().not_learned == 0
    assert len(Memory(store, Model()).retry(everything=True)) == 2
    assert store.of("all").status().unread == 0
    assert {fact.scope for fact in store.of("all").list()} == {Scope(), ANA}


def test_retry_of_a_scope_reads_only_its_turns(store: Store) -> None:
    keep(store, "I drink tea")
    keep(store.of(ANA), "so do I")
    assert len(Memory(store, Model()).retry(user_id="ana")) == 1
    assert (store.of("all").status().unread, store.of(ANA).status().unread) == (1, 0)


def test_turns_of_a_model_that_is_away_wait_for_the_next_retry(store: Store) -> None:
    keep(store, "I drink tea", thread="one")
    keep(store, "or coffee", thread="two")
    model = Model(AWAY)
    with pytest.raises(LearningError, match="away"):
        Memory(store, model).retry()
    assert model.asked == 1
    assert store.status().unread == 2
    assert len(Memory(store, model).retry()) == 2


def test_an_unreadable_conversation_does_not_keep_others_from_being_read(store: Store) -> None:
    with pytest.raises(LearningError):
        Memory(store, Model(ODD)).add("I drink tea")
    keep(store, "or coffee")
    model = Model(ODD)
    with pytest.raises(LearningError, match="odd"):
        Memory(store, model).retry()
    assert (store.status().not_learned, store.status().unread) == (1, 1)
    assert model.asked == 2


def test_a_server_reads_all_that_waits(store: Store, manual_clock: ManualClock) -> None:
    keep(store, "I drink tea")
    other = store.within("work")
    keep(other, "or coffee")
    failed(other, "a text")
    model = Model()
    for seconds, everywhere in ((5, False), (6, True)):
        with server_learning.learn_in_background(
            store, lambda: model, everywhere=everywhere, interval_seconds=seconds
        ):
            assert wait_until(lambda seconds=seconds: seconds in manual_clock.waits)
            manual_clock.advance(seconds)
            assert wait_until(lambda seconds=seconds: manual_clock.waits.count(seconds) > 1)
        assert store.status().unread == 0
        assert (other.status().unread, other.status().not_learned) == (
            (0, 0) if everywhere else (1, 1)
        )
