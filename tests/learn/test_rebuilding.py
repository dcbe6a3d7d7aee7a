"""Deriving facts again: the log gives the same facts, and changes by people stay."""

from __future__ import annotations

import json
import random
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.embedders import WordEmbedder
from tests.support.engines import engine_of
from tests.support.examples import examples
from tests.support.raw import raw

import memstore
from memstore import (
    Extractor,
    GeneratorUnavailable,
    LearningError,
    Memory,
    Scope,
    Store,
)
from memstore.database.tables import readings as reading_table
from memstore.database.tables import replies as reply_table
from memstore.errors import ReplyError
from memstore.facts import provenance

from tests.support.conversing import Conversing  # isort: skip
from tests.support.model_server import ModelServer  # isort: skip

TEA = "Ana's favourite drink in the morning is tea"
COFFEE = "Ana's favourite drink in the morning is coffee"
"""A new value of a single-valued attribute: near, and both cannot be true."""

OXFORD = "Ana's home address is 12 Mill Lane in Oxford"
BRISTOL = "Ana's home address is now 12 Mill Lane in Bristol"
"""Near, and the words do not show whether both are true."""

MONDAY = "Ana Reed has a meeting about the budget on Monday"


class Reader:
    """A model with scripted facts for each text; counts its calls."""

    def __init__(self, means: dict[str, list[str]], model: str = "reader-1") -> None:
        self.means = means
        self.model = model
        self.asked = 0
        self.failure: Exception | None = None

    def generate(self, prompt: str) -> str:
        self.asked += 1
        if self.failure is not None:
            raise self.failure
        text = prompt.rsplit("The text:", 1)[1]
        found = [fact for said, facts in self.means.items() if said in text for fact in facts]
        return json.dumps(
            {"facts": [{"content": f, "subject": "ana", "category": "note"} for f in found]}
        )


MEANS = {
    "first": [TEA, MONDAY],
    "second": [COFFEE],
    "third": [MONDAY, "Ana has a cat"],
    "fourth": ["Ana owns a boat"],
}


@pytest.fixture
def reader() -> Reader:
    return Reader(dict(MEANS))


@pytest.fixture
def extractor(store: Store, reader: Reader) -> Extractor:
    return Extractor(store, reader, policy="auto")


@pytest.fixture
def read(extractor: Extractor) -> Extractor:
    """Four texts, extracted: the second retires a fact of the first, the third repeats one."""
    for text in MEANS:
        extractor.extract(text)
    return extractor


def exported(store: Store) -> list[str]:
    return [*store.transfer.export()]


def rows(store: Store) -> list[Any]:
    """Every fact in any state, without its deletion time."""
    return [
        (f.id, f.uuid, f.subject, f.content, f.superseded_by, f.superseded_at, f.created_at,
         f.status, f.confirmed_count, f.metadata, f.derivation, f.episode_id)
        for f in store.of("all").list(active_only=False, include_deleted=True)
    ]  # fmt: skip


def held(store: Store) -> list[str]:
    return [fact.content for fact in store.of("all").list()]


def fact(store: Store, content: str) -> memstore.Fact:
    """The newest fact with this content, in any state."""
    found = store.of("all").list(active_only=False, include_deleted=True)
    return [one for one in found if one.content == content][-1]


def log_alone(source: Path, target: Path) -> Path:
    """A copy of a file with only the episodes and the models' replies."""
    with raw(source) as file, raw(target) as copy:
        file.backup(copy)
        copy.execute("PRAGMA foreign_keys = OFF")
        copy.execute("DROP TRIGGER memstore_journal_keep")
        copy.execute("DELETE FROM memstore_journal WHERE fact_id IS NOT NULL")
        copy.execute("DELETE FROM memstore_proposals")
        copy.execute("DELETE FROM memstore_fact_vectors")
        copy.execute("DELETE FROM memstore_facts")
        copy.execute("DELETE FROM sqlite_sequence WHERE name IN ('memstore_facts')")
        copy.execute(
            "CREATE TRIGGER memstore_journal_keep BEFORE DELETE ON memstore_journal BEGIN"
            " SELECT RAISE(ABORT, 'the journal is append-only'); END"
        )
        copy.commit()
    return target


# -- the same state --------------------------------------------------------------------------------


def test_rebuild_changes_nothing_and_calls_no_model(
    store: Store, read: Extractor, reader: Reader
) -> None:
    before, asked = exported(store), reader.asked
    told = read.rebuild()
    assert exported(store) == before
    assert reader.asked == asked == 4
    assert "questions to the model 0," in told[-1]
    assert "facts added 0, deleted because they were not found again 0," in told[-1]
    assert store.file.doctor() == []


def test_rebuild_works_while_the_model_is_down(
    store: Store, read: Extractor, reader: Reader
) -> None:
    reader.failure = GeneratorUnavailable("gone")
    before = exported(store)
    read.rebuild()
    assert exported(store) == before


def test_rebuild_from_the_log_alone_reproduces_the_facts(
    store: Store, read: Extractor, reader: Reader, path: Path,
    open_store: Callable[..., Store], tmp_path: Path,
) -> None:  # fmt: skip
    before = rows(store)
    assert {row[7] for row in before} == {"active", "superseded"}
    assert len(before) == 5
    store.close()
    asked = reader.asked
    for name in ("one.db", "two.db"):
        alone = open_store(log_alone(path, tmp_path / name))
        assert rows(alone) == []
        Extractor(alone, reader, policy="auto").rebuild()
        assert rows(alone) == before
        assert alone.file.doctor() == []
        twice = exported(alone)
        Extractor(alone, reader, policy="auto").rebuild()
        assert exported(alone) == twice
    assert reader.asked == asked


def test_rebuild_adds_only_the_missing_fact(
    store: Store, read: Extractor, path: Path, open_store: Callable[..., Store]
) -> None:
    before = rows(store)
    lost = fact(store, "Ana has a cat").id
    store.close()
    with raw(path) as file:
        file.execute("DROP TRIGGER memstore_journal_keep")
        for table in ("memstore_journal", "memstore_fact_vectors"):
            file.execute(f"DELETE FROM {table} WHERE fact_id = ?", (lost,))
        file.execute("DELETE FROM memstore_facts WHERE id = ?", (lost,))
        file.commit()
    again = open_store()
    Extractor(again, Reader({}), policy="auto").rebuild()
    back = fact(again, "Ana has a cat")
    assert [row[1:] for row in sorted(rows(again), key=lambda r: str(r[1]))] == [
        row[1:] for row in sorted(before, key=lambda r: str(r[1]))
    ]
    assert back.id not in {row[0] for row in before}


@pytest.mark.parametrize("times", [{}, {"at": "2026-03-01T10:00:00Z"}])
def test_rebuild_uses_the_original_extraction_settings(
    store: Store, reader: Reader, times: dict[str, str]
) -> None:
    extractor = Extractor(store.of(user_id="ana"), reader, policy="auto")
    extractor.extract("first", "somebody", {"k": [1, None]}, source="chat", **times)
    before, asked = exported(store), reader.asked
    other = Extractor(store, reader, max_characters=100)  # other owners and chunk size
    other.rebuild()
    assert exported(store) == before
    assert reader.asked == asked
    assert {f.user_id for f in store.of("all").list()} == {"ana"}


def test_extractor_rebuilds_only_its_scope(store: Store, reader: Reader) -> None:
    ana, ben = Scope(user_id="ana"), Scope(user_id="ben")
    for text, owner in (("first", ana), ("second", ben)):
        store.of(owner).episodes.record(text)
    Extractor(store.of(ben), reader).rebuild()
    assert [(f.content, f.user_id) for f in store.of("all").list()] == [(COFFEE, "ben")]


# -- what was never extracted ----------------------------------------------------------------------


def test_unread_episodes_are_extracted_once(
    store: Store, extractor: Extractor, reader: Reader
) -> None:
    store.episodes.add("first", source="notes", valid_at="2026-03-01T10:00:00Z")
    told = extractor.rebuild()
    assert "questions to the model 1," in told[-1]
    assert held(store) == [TEA, MONDAY]
    assert {(f.source, str(f.valid_at)[:10]) for f in store.of("all").list()} == {
        ("notes", "2026-03-01")
    }
    before = exported(store)
    extractor.rebuild()
    assert exported(store) == before
    assert reader.asked == 1


def test_episode_is_extracted_by_its_id(store: Store, extractor: Extractor) -> None:
    episode = store.episodes.add("first", source="notes", metadata={"k": 1})
    done = extractor.extract_episode(episode.id)
    assert [str(item.outcome) for item in done.items] == ["stored", "stored"]
    assert {(f.episode_id, f.metadata["k"]) for f in store.of("all").list()} == {(episode.id, 1)}
    with pytest.raises(memstore.NotFound):
        extractor.extract_episode(99)


def test_expired_unread_episode_stays_unread(
    store: Store, extractor: Extractor, reader: Reader
) -> None:
    episode = store.episodes.add("first", source="notes")
    store.episodes.update(episode.id, expired_at="2026-01-01")
    assert "expired episodes left unread 1" in extractor.rebuild()[-1]
    assert (held(store), reader.asked) == ([], 0)


@pytest.mark.parametrize("policy", ["auto", "propose"])
def test_older_text_does_not_retire_later_facts(store: Store, reader: Reader, policy: str) -> None:
    extractor = Extractor(store, reader, policy=policy)
    extractor.extract("second", at="2026-03-02")
    store.episodes.add("first", source="notes", valid_at="2020-01-01")
    extractor.rebuild()
    coffee, tea = fact(store, COFFEE), fact(store, TEA)
    assert coffee.status == "active"
    if policy == "auto":
        assert tea.superseded_by == coffee.id
        assert store.ledger.journal(tea.id)[-1].evidence["policy"] == "auto"  # type: ignore[index]
    else:
        [proposal] = store.proposals.list()
        assert (proposal.old, proposal.new) == (tea, coffee)
    before = exported(store)
    extractor.rebuild()
    assert exported(store) == before
    assert store.file.doctor() == []


def test_outdated_item_names_its_replacement(store: Store, reader: Reader) -> None:
    extractor = Extractor(store, reader, policy="auto")
    extractor.extract("second", at="2026-03-02")
    done = extractor.extract("first", at="2020-01-01")
    tea, monday = done.items
    assert (str(tea.outcome), tea.other_id) == ("outdated", fact(store, COFFEE).id)
    assert str(monday.outcome) == "stored"


# -- manual changes --------------------------------------------------------------------------------


def test_manual_changes_survive(store: Store, read: Extractor) -> None:
    boat, cat = fact(store, "Ana owns a boat"), fact(store, "Ana has a cat")
    monday = fact(store, MONDAY)
    store.confirm(boat.id)
    store.update_metadata(boat.id, {"harbour": "Rome"})
    store.delete(cat.id)
    mine = store.add("Ana has no meeting on Monday", subject="ana", supersedes=monday.id)
    before = exported(store)
    read.rebuild()
    assert exported(store) == before
    assert store.get(boat.id).confirmed_count == 1
    assert store.get(cat.id).status == "deleted"
    assert store.get(monday.id).superseded_by == mine.id


def test_reinstated_fact_is_not_retired_again(store: Store, read: Extractor) -> None:
    store.reinstate(fact(store, TEA).id)
    before = exported(store)
    read.rebuild()
    assert exported(store) == before
    assert {TEA, COFFEE} <= set(held(store))


@pytest.mark.parametrize("decide", ["accept", "reject", None])
def test_decided_proposals_are_kept(store: Store, reader: Reader, decide: str | None) -> None:
    reader.means = {"first": [OXFORD], "second": [BRISTOL]}
    extractor = Extractor(store, reader)
    for text in reader.means:
        extractor.extract(text)
    [proposal] = store.proposals.list()
    if decide is not None:
        getattr(store.proposals, decide)(proposal.id)
    before, every = exported(store), store.proposals.list(None)
    extractor.rebuild()
    assert exported(store) == before
    assert store.proposals.list(None) == every


def test_deleted_claim_does_not_come_back_from_another_episode(
    store: Store, read: Extractor
) -> None:
    store.delete(fact(store, MONDAY).id)  # the third text says it too
    before = exported(store)
    read.rebuild()
    assert exported(store) == before
    assert MONDAY not in held(store)


def test_deleted_claim_repeated_later_is_active(store: Store, read: Extractor) -> None:
    store.delete(fact(store, "Ana owns a boat").id)
    read.extract("fourth, said anew")
    assert "Ana owns a boat" in held(store)
    before = exported(store)
    read.rebuild()
    assert exported(store) == before


ACTS = ("confirm", "delete", "restore", "reinstate", "metadata", "supersede", "erase", "extract")


@pytest.mark.slow
@settings(max_examples=examples(25), deadline=None)
@given(st.lists(st.tuples(st.sampled_from(ACTS), st.integers(1, 9)), max_size=8))
def test_rebuild_undoes_no_manual_change(acts: list[tuple[str, int]]) -> None:
    with memstore.open(":memory:", embedder=WordEmbedder()) as store:
        extractor = Extractor(store, Reader(dict(MEANS)), policy="auto")
        for text in MEANS:
            extractor.extract(text)
        for act, number in acts:
            with suppress(memstore.Conflict, memstore.NotFound):
                do(store, extractor, act, number)
        before = exported(store)
        for _ in range(2):
            extractor.rebuild()
            assert exported(store) == before
        assert store.file.doctor() == []


CLAIMS = (TEA, COFFEE, MONDAY, OXFORD, BRISTOL, "Ana has a cat")
MODELS = st.lists(st.lists(st.sampled_from(CLAIMS), max_size=3), min_size=4, max_size=4)


@pytest.mark.slow
@settings(max_examples=examples(20), deadline=None)
@given(
    st.lists(MODELS, min_size=2, max_size=3),
    st.lists(st.tuples(st.sampled_from(ACTS[:-1]), st.integers(1, 12)), max_size=5),
    st.sampled_from(["auto", "propose"]),
)
def test_rebuild_with_other_models_is_stable_and_keeps_manual_changes(
    models: list[list[list[str]]], acts: list[tuple[str, int]], policy: str
) -> None:
    readers = [
        Reader(dict(zip(MEANS, found, strict=True)), f"reader-{n}")
        for n, found in enumerate(models)
    ]
    with memstore.open(":memory:", embedder=WordEmbedder()) as store:
        for text in MEANS:
            Extractor(store, readers[0], policy=policy).extract(text)
        for act, number in acts:
            with suppress(memstore.Conflict, memstore.NotFound):
                do(store, Extractor(store, readers[0]), act, number)
        mine = by_hand(store)
        for reader in (*readers, *readers):
            extractor = Extractor(store, reader, policy=policy)
            extractor.rebuild()
            settled = exported(store)
            extractor.rebuild()
            assert exported(store) == settled
            assert by_hand(store) == mine
        assert store.file.doctor() == []


def by_hand(store: Store) -> dict[int, Any]:
    """The states of facts that were stored by hand, or confirmed, changed or deleted by people."""
    hands = {"confirm", "metadata", "delete", "restore"}
    found = {}
    for one in store.of("all").list(active_only=False, include_deleted=True):
        kinds = [
            line.kind
            for line in store.ledger.journal(one.id)
            if line.fact_id == one.id
            and line.kind in hands
            and "rebuild" not in (line.evidence or {})
            and not (line.kind == "confirm" and line.evidence)  # by another episode
        ]
        if one.derivation is None or kinds:
            confirmed = kinds.count("confirm")
            found[one.id] = one.content, one.status == "deleted", one.metadata, confirmed
    return found


def do(store: Store, extractor: Extractor, act: str, number: int) -> None:
    if act == "metadata":
        store.update_metadata(number, {"seen": number})
    elif act == "supersede":
        store.add(f"by hand {number}", subject="ana", supersedes=number)
    elif act == "extract":
        extractor.extract([*MEANS][number % len(MEANS)])
    else:
        getattr(store, act)(number)


# -- erasing ---------------------------------------------------------------------------------------


def kept(path: Path) -> dict[str, int]:
    engine = engine_of(path)
    with closing(engine), engine.read() as transaction:
        return {
            "replies": reply_table.count_all(transaction),
            "readings": reading_table.count_all(transaction),
        }


def test_erased_fact_is_not_rederived_and_its_text_is_gone(
    store: Store, read: Extractor, reader: Reader, path: Path, open_store: Callable[..., Store]
) -> None:
    reader.means["fifth"] = ["Ana's secret is zanzibar"]
    reader.means["sixth"] = ["Ana's secret is zanzibar"]
    read.extract("fifth")
    read.extract("sixth")
    secret = fact(store, "Ana's secret is zanzibar")
    assert b"zanzibar" in path.read_bytes() + path.with_name(path.name + "-wal").read_bytes()
    assert store.erase(secret.id)
    before, asked = exported(store), reader.asked
    told = read.rebuild()
    assert "left alone since a fact of them was erased 2" in told[-1]
    assert exported(store) == before
    assert reader.asked == asked
    # Not from another model with other words either, and not by extracting the text again.
    reader.means["fifth"] = ["Zanzibar is a secret of Ana's"]
    Extractor(store, Reader(reader.means, "reader-2")).rebuild()
    reader.means["fifth"] = ["Ana's secret is zanzibar"]
    [item] = read.extract("fifth").items
    assert (str(item.outcome), item.fact_id) == ("rejected", None)
    assert "erased" in (item.reason or "")
    assert not any("anzibar" in line for line in exported(store))
    assert store.file.doctor() == []
    store.close()
    for file in path.parent.iterdir():
        assert b"anzibar" not in file.read_bytes()


def test_erased_fact_does_not_come_back_from_an_unread_episode(
    store: Store, extractor: Extractor
) -> None:
    store.episodes.add("fourth, earlier", source="notes")
    extractor.extract("fourth")
    store.erase(fact(store, "Ana owns a boat").id)
    extractor.rebuild()
    assert held(store) == []


def test_erased_episode_leaves_no_reply(
    store: Store, read: Extractor, reader: Reader, path: Path
) -> None:
    before = kept(path)
    first = store.of("all").episodes.list()[0]
    store.episodes.erase(first.id)
    after = kept(path)
    assert {table: before[table] - after[table] for table in before} == {
        "replies": 1,
        "readings": 1,
    }
    facts, asked = rows(store), reader.asked
    read.rebuild()
    assert rows(store) == facts
    assert reader.asked == asked
    assert store.file.doctor() == []


def test_clear_leaves_no_reply(store: Store, read: Extractor, path: Path) -> None:
    store.clear()
    assert set(kept(path).values()) == {0}
    store.close()
    for file in path.parent.iterdir():
        assert b"drink in the morning" not in file.read_bytes()


@pytest.mark.parametrize("fault", ["erased", "closed"])
def test_doctor_finds_replies_that_should_have_been_erased(
    store: Store, read: Extractor, path: Path, open_store: Callable[..., Store], fault: str
) -> None:
    engine = engine_of(path)
    with closing(engine), engine.read() as transaction:
        replies = [row for row in reply_table.everything(transaction) if row.episode_id == 1]
    if fault == "erased":
        store.episodes.erase(1)
    else:
        store.erase(fact(store, TEA).id)
    store.close()
    with raw(path) as file:
        file.executemany(
            "INSERT INTO memstore_replies (episode_id, key, model, reply, created_at)"
            " VALUES (?, ?, ?, ?, ?)",
            replies,
        )
        file.commit()
    again = open_store()
    assert [(f.check, f.repairable) for f in again.file.doctor()] == [("replies", True)]
    assert any("deleted the model replies" in told for told in again.file.rebuild())
    assert again.file.doctor() == []


# -- a model that finds something else -------------------------------------------------------------


def test_fact_no_longer_derived_is_deleted_and_can_be_restored(
    store: Store, read: Extractor
) -> None:
    better = Reader({**MEANS, "fourth": ["Ana owns a sailing boat"]}, "reader-2")
    boat = fact(store, "Ana owns a boat")
    Extractor(store, better, policy="auto").rebuild()
    assert better.asked == 4
    line = store.ledger.journal(boat.id)[-1]
    assert (line.kind, line.evidence) == (
        "delete",
        {"rebuild": "no longer derived", "model": "reader-2", "episode": boat.episode_id},
    )
    assert "Ana owns a sailing boat" in held(store)
    before = exported(store)
    Extractor(store, better, policy="auto").rebuild()
    assert exported(store) == before
    store.restore(boat.id)  # by hand: it stays
    before = exported(store)
    Extractor(store, better, policy="auto").rebuild()
    assert exported(store) == before


def test_manually_changed_fact_is_not_deleted(store: Store, read: Extractor) -> None:
    store.confirm(fact(store, "Ana owns a boat").id)
    store.update_metadata(fact(store, "Ana has a cat").id, {"name": "Tom"})
    nothing = Reader({}, "reader-2")
    Extractor(store, nothing, policy="auto").rebuild()
    assert set(held(store)) == {"Ana owns a boat", "Ana has a cat"}


def test_fact_superseded_by_a_withdrawn_one_is_active_again(store: Store, read: Extractor) -> None:
    other = Reader({**MEANS, "second": []}, "reader-2")
    Extractor(store, other, policy="auto").rebuild()
    assert TEA in held(store)
    assert COFFEE not in held(store)
    again = fact(store, TEA)
    assert store.ledger.journal(again.id)[0].evidence["reinstates"]  # type: ignore[index]
    before = exported(store)
    Extractor(store, other, policy="auto").rebuild()
    assert exported(store) == before
    # Back to the first model: the same rows are active as at first, and the coffee again.
    read.rebuild()
    assert COFFEE in held(store)
    assert TEA not in held(store)
    before = exported(store)
    read.rebuild()
    assert exported(store) == before
    assert store.file.doctor() == []


def test_new_wording_replaces_the_old_one(store: Store, read: Extractor) -> None:
    stronger = "Ana's favourite drink in the morning is espresso"
    other = Reader({**MEANS, "second": [stronger]}, "reader-2")
    Extractor(store, other, policy="auto").rebuild()
    assert stronger in held(store)
    assert not {TEA, COFFEE} & set(held(store))


def test_claim_in_two_texts_survives_the_loss_of_one(store: Store, read: Extractor) -> None:
    other = Reader({**MEANS, "first": [TEA]}, "reader-2")
    Extractor(store, other, policy="auto").rebuild()
    [monday] = [f for f in store.of("all").list() if f.content == MONDAY]
    assert monday.episode_id == 3
    read.rebuild()
    assert held(store).count(MONDAY) == 1


def test_claim_that_moved_to_an_earlier_text_is_not_lost(store: Store, read: Extractor) -> None:
    other = Reader({**MEANS, "third": ["Ana has a cat", "Ana owns a boat"], "fourth": []}, "r-2")
    Extractor(store, other, policy="auto").rebuild()
    assert [f.episode_id for f in store.of("all").list() if f.content == "Ana owns a boat"] == [3]


def test_facts_of_a_rejected_proposal_are_not_deleted(store: Store, reader: Reader) -> None:
    reader.means = {"first": [OXFORD], "second": [BRISTOL]}
    for text in reader.means:
        Extractor(store, reader).extract(text)
    store.proposals.reject(1)
    Extractor(store, Reader({}, "reader-2")).rebuild()
    assert held(store) == [OXFORD, BRISTOL]


def test_repeated_fact_is_not_superseded_by_its_own_text(store: Store, reader: Reader) -> None:
    reader.means = {"first": [TEA], "second": [TEA, COFFEE]}
    extractor = Extractor(store, reader, policy="auto")
    done = [extractor.extract(text) for text in reader.means][-1]
    assert [str(item.outcome) for item in done.items] == ["duplicate", "stored"]
    assert held(store) == [TEA, COFFEE]


# -- conversations ---------------------------------------------------------------------------------


def test_rebuild_skips_conversations(store: Store, model_server: ModelServer) -> None:
    means = {f"I live in {x}": [("ana", f"Ana lives in {x}")] for x in ("Berlin", "Lisbon")}
    moves = {"Ana lives in Lisbon": ("UPDATE", "Ana lives in Berlin", "Ana lives in Lisbon")}
    model = Conversing(means, moves)
    model_server.replies = model
    memory = Memory(store, model_server.generator())
    memory.add("I live in Berlin")
    memory.add("I live in Lisbon")
    assert model.steps == ["extract", "extract", "decide"]
    assert [(f.derivation, f.episode_id) for f in store.of("all").list(active_only=False)] == [
        ("memory", 1),
        ("memory", 2),
    ]
    before = exported(store)
    told = Extractor(store, model_server.generator(), policy="auto").rebuild()
    assert "conversations left alone 2:" in told[-1]
    assert exported(store) == before
    assert len(model.steps) == 3


def test_retry_repeats_only_the_failed_model_calls(store: Store, model_server: ModelServer) -> None:
    model = Conversing({"I like tea": [("ana", "Ana likes tea")]})
    store.add("Ana has a cat", subject="ana")
    failing = True

    def script(prompt: str) -> str:
        reply = model(prompt)
        return "" if failing and model.steps[-1] == "decide" else reply

    model_server.replies = script
    memory = Memory(store, model_server.generator())
    with pytest.raises(LearningError) as failed:
        memory.add("I like tea")
    assert failed.value.step == "decide"
    failing = False
    assert [change["event"] for change in memory.add("I like tea")] == ["ADD"]
    assert model.steps.count("extract") == 1


def test_erased_memory_does_not_come_back_from_a_retry(
    store: Store, model_server: ModelServer
) -> None:
    model_server.replies = Conversing({"I like tea": [("ana", "Ana likes tea")]})
    memory = Memory(store, model_server.generator())
    (added,) = memory.add("I like tea")
    store.erase(added["id"])
    again = memory.add("I like tea")
    assert [change["event"] for change in again] == ["NONE"]
    assert "erased" in again.refused[0].reason
    assert held(store) == []


# -- failures --------------------------------------------------------------------------------------


def test_unreadable_episode_is_skipped_and_the_rest_rebuilt(
    store: Store, extractor: Extractor, reader: Reader
) -> None:
    for text in MEANS:
        store.episodes.add(text, source="notes")
    generate = reader.generate

    def sometimes(prompt: str) -> str:
        if "second" in prompt.rsplit("The text:", 1)[1]:
            return "not JSON"
        return generate(prompt)

    reader.generate = sometimes  # type: ignore[method-assign]
    with pytest.raises(LearningError, match="episodes 2 could not be read") as failed:
        extractor.rebuild()
    assert isinstance(failed.value.__cause__, ReplyError)
    assert set(held(store)) == {TEA, MONDAY, "Ana has a cat", "Ana owns a boat"}
    reader.generate = generate  # type: ignore[method-assign]
    extractor.rebuild()
    assert COFFEE in held(store)


def test_unreachable_model_is_called_once(store: Store, read: Extractor, reader: Reader) -> None:
    for number in range(5):
        store.episodes.add(f"fourth {number}", source="notes")
    reader.failure, asked = GeneratorUnavailable("away"), reader.asked
    with pytest.raises(LearningError, match=r"episodes 5, 6, 7, 8, 9 could not be read"):
        read.rebuild()
    assert reader.asked == asked + 1


def test_unreadable_reply_is_not_kept(store: Store, reader: Reader, path: Path) -> None:
    answers: Iterator[str] = iter(["[1, 2", json.dumps({"facts": []})])
    reader.generate = lambda prompt: next(answers)  # type: ignore[method-assign]
    extractor = Extractor(store, reader)
    with pytest.raises(ReplyError):
        extractor.extract("text")
    assert kept(path)["replies"] == 0
    assert extractor.extract("text").items == []
    assert kept(path)["replies"] == 1


PROCESS = """
import json, sys
import memstore
from tests.support.embedders import WordEmbedder

class Model:
    model = "m"
    def generate(self, prompt):
        text = prompt.rsplit("The text:", 1)[1]
        number = next(word for word in text.split() if word.isdigit())
        print(number, flush=True)
        return json.dumps({"facts": [
            {"content": f"Ana's port of the day is {number}", "subject": "ana", "category": "note"},
            {"content": f"Ana said {number}", "subject": "ana", "category": "note"}]})

with memstore.open(sys.argv[1], embedder=WordEmbedder()) as store:
    extractor = memstore.Extractor(store, Model(), policy="auto")
    if sys.argv[2] == "rebuild":
        extractor.rebuild()
    else:
        extractor.extract("on record 7")
"""


def run(path: Path, what: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", PROCESS, str(path), what],
        stdout=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[2],
    )


def finish(path: Path, what: str) -> list[str]:
    worker = run(path, what)
    out, _ = worker.communicate(timeout=120)
    assert worker.returncode == 0
    return out.split()


@pytest.mark.process
@pytest.mark.parametrize("seed", range(4))
def test_killed_rebuild_is_completed_by_the_next(
    path: Path, open_store: Callable[..., Store], tmp_path: Path, seed: int
) -> None:
    with open_store() as store:
        for number in range(30):
            store.episodes.add(f"it is {number} today", source="notes")
    whole = tmp_path / "whole.db"
    shutil.copy(path, whole)
    chance = random.Random(seed)
    worker = run(path, "rebuild")
    assert worker.stdout is not None
    for _ in range(chance.randrange(1, 29)):
        assert worker.stdout.readline()
    worker.kill()
    worker.communicate()
    rest = finish(path, "rebuild")
    assert len(rest) < 30, "what was answered before the kill is not asked again"
    finish(whole, "rebuild")
    cut, uncut = open_store(path), open_store(whole)
    assert rows(cut) == rows(uncut)
    assert len(rows(cut)) == 60
    assert cut.file.doctor() == []


@pytest.mark.process
def test_rebuild_completes_after_a_kill_following_the_record(
    path: Path, open_store: Callable[..., Store]
) -> None:
    open_store().close()
    worker = run(path, "extract")
    assert worker.stdout is not None
    assert worker.stdout.readline()  # the model is asked: the text is on record
    worker.kill()
    worker.communicate()
    store = open_store()
    assert [episode.content for episode in store.of("all").episodes.list()] == ["on record 7"]
    store.close()
    finish(path, "rebuild")
    again = open_store()
    assert "Ana said 7" in held(again)
    assert {f.episode_id for f in again.list()} == {1}


def test_uuid_of_an_erased_fact_cannot_confirm_a_guess_of_its_text(
    store: Store, read: Extractor, path: Path
) -> None:
    cat = fact(store, "Ana has a cat")
    episode = store.episodes.get(cat.episode_id or 0)
    salt = episode.salt or ""
    guess = (episode.uuid, episode.created_at, cat.subject, cat.content)
    assert cat.uuid == provenance.uuid_of(salt, *guess)
    assert cat.uuid != provenance.uuid_of("", *guess)
    store.erase(cat.id)
    store.episodes.erase(episode.id)
    store.close()
    with raw(path) as file:
        rows = "\n".join(file.iterdump())
    assert cat.uuid in rows
    assert salt not in rows
    assert salt.encode() not in path.read_bytes()


def test_salt_is_never_shown_but_exported(
    store: Store, read: Extractor, reader: Reader, open_store: Callable[..., Store], tmp_path: Path
) -> None:
    one, other = store.episodes.list()[:2]
    assert len({one.salt, other.salt, None}) == 3
    shown = f"{one!r} {one.to_dict()} {store.episodes.journal(one.id)}"
    assert (one.salt or "") not in shown
    away = open_store(tmp_path / "away.db")
    away.transfer.import_(exported(store))
    assert [e.salt for e in away.episodes.list()] == [e.salt for e in store.episodes.list()]
    lost = away.get(fact(away, "Ana has a cat").id)
    assert lost.uuid == fact(store, "Ana has a cat").uuid
    before = {f.uuid for f in store.list()}
    Extractor(away, reader, policy="auto").rebuild()
    assert {f.uuid for f in away.list()} == before
