"""Threads: the conversations that facts and episodes belong to, and their order there."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.raw import raw

import memstore
from memstore import Fact, InvalidArgument, InvalidArgumentType, NewEpisode, NewFact, Scope, Store
from memstore.domain import clock
from memstore.domain.arguments import MAX_SEQ
from memstore.facts.batch import AddFact

Open = Callable[..., Store]

ANA = Scope(user_id="ana")
MAY = "2026-05-01T00:00:00Z"


def place(one: Any) -> tuple[str | None, int | None]:
    return one.thread, one.seq


def add(store: Store, **given: Any) -> Fact:
    return store.add("it rained", subject="weather", **given)


def test_positions_are_numbered_unless_given(store: Store) -> None:
    added = [add(store, thread="a", seq=seq) for seq in (None, None, 7, None, 2, None)]
    assert [fact.seq for fact in added] == [1, 2, 7, 8, 2, 9]
    assert {fact.thread for fact in added} == {"a"}
    assert add(store, thread="b").seq == 1
    assert place(add(store)) == (None, None)


@given(st.lists(st.tuples(st.sampled_from("ab"), st.none() | st.integers(0, 9)), max_size=8))
def test_add_many_numbers_positions_like_single_adds(given_: list[tuple[str, int | None]]) -> None:
    news = [
        {"content": str(n), "subject": "s", "thread": thread, "seq": seq}
        for n, (thread, seq) in enumerate(given_)
    ]
    told = [NewEpisode(content=n["content"], source="x", thread=n["thread"], seq=n["seq"])
            for n in news]  # fmt: skip
    with memstore.open(":memory:", embedder=None) as one, one.within("many") as many:
        facts = [one.add(**new) for new in news]
        assert [*map(place, many.add_many(news))] == [*map(place, facts)]
        assert [*map(place, many.episodes.add_many(told))] == [*map(place, facts)]
        applied = one.within("applied").ledger.apply(AddFact(fact=NewFact(**new)) for new in news)
        assert [place(done.fact) for done in applied] == [*map(place, facts)]


def test_a_thread_belongs_to_one_namespace_and_owner(store: Store) -> None:
    other = store.within("other")
    for one, owners in ((store, {}), (store, ANA.ids), (store, {"run_id": "ana"}), (other, {})):
        assert [add(one, thread="a", **owners).seq for _ in "12"] == [1, 2]
        said = [one.of(**owners).episodes.add("hi", source="x", thread="a") for _ in "12"]
        assert [episode.seq for episode in said] == [1, 2]


def test_thread_names_are_normalized(store: Store) -> None:
    assert place(add(store, thread="cafe\u0301")) == ("caf\u00e9", 1)
    assert place(add(store, thread="caf\u00e9")) == ("caf\u00e9", 2)
    said = store.episodes.add("hi", source="x", thread="cafe\u0301", speaker=" Ana ")
    assert (said.thread, said.speaker) == ("caf\u00e9", "Ana")


WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "a blank name": ({"thread": " "}, "thread is empty"),
    "a long name": ({"thread": "x" * 501}, "thread is 501 characters long; the limit is 500"),
    "no text": ({"thread": 7}, "thread must be text, not int"),
    "a place before the first": ({"thread": "a", "seq": -1}, "seq must be a whole number from 0"),
    "a place too far": ({"thread": "a", "seq": MAX_SEQ + 1}, "seq must be a whole number from 0"),
    "a truth": ({"thread": "a", "seq": True}, "seq must be a whole number from 0"),
    "a place nowhere": ({"seq": 3}, "seq is a place in a thread, but no thread is given"),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_invalid_positions_are_refused(store: Store, wrong: str) -> None:
    asked, told = WRONG[wrong]
    for write in (
        lambda: add(store, **asked),
        lambda: store.episodes.add("x", source="x", **asked),
    ):
        with pytest.raises((InvalidArgument, InvalidArgumentType)) as caught:
            write()
        assert str(caught.value).startswith(told)
        assert caught.value.argument in asked
    assert store.count() == store.episodes.count() == 0
    assert place(add(store, thread="a", seq=MAX_SEQ)) == ("a", MAX_SEQ)
    assert add(store, thread="a").seq == MAX_SEQ + 1


def test_a_blank_speaker_is_refused(store: Store) -> None:
    with pytest.raises(InvalidArgument, match="speaker is empty"):
        store.episodes.add("x", source="x", speaker=" ")


# -- facts of an episode, and superseding facts -----------------------------------------------


def test_facts_inherit_thread_position_and_time_of_their_episode(store: Store) -> None:
    said = store.episodes.add("It rained.", source="x", thread="a", seq=4, valid_at=MAY)
    fact = add(store, episode_id=said.id)
    assert (place(fact), fact.valid_at) == (("a", 4), said.valid_at)
    assert place(add(store, episode_id=said.id, thread="a")) == ("a", 4)
    assert place(add(store, episode_id=said.id, seq=6)) == ("a", 6)
    assert place(add(store, episode_id=said.id, thread="b")) == ("b", 1)
    told = add(store, episode_id=said.id, valid_at="2026-06-01")
    assert told.valid_at == clock.from_text("2026-06-01T00:00:00Z")
    assert store.file.doctor(deep=True) == []


def test_an_episode_without_a_thread_gives_its_facts_one(store: Store) -> None:
    first, second = (store.episodes.add("It rained.", source="x") for _ in "12")
    assert place(first) == (None, None)
    drawn = [add(store, episode_id=first.id) for _ in "12"]
    (other,) = store.add_many([{"content": "a", "subject": "b", "episode_id": second.id}])
    assert place(drawn[0]) == place(drawn[1]) != place(other)
    assert {fact.seq for fact in (*drawn, other)} == {1}
    assert add(store, thread=drawn[0].thread).seq == 2


def test_a_superseding_fact_inherits_the_position(store: Store) -> None:
    old = add(store, thread="a", seq=4)
    new = store.add("it snowed", subject="weather", supersedes=old.id)
    assert place(new) == ("a", 4)
    assert place(back := store.restore(old.id)) == ("a", 4)
    assert place(store.reinstate(new.id)) == ("a", 4)
    assert place(add(store, supersedes=back.id, thread="b")) == ("b", 1)


def test_fact_of_another_owner_inherits_no_position(store: Store) -> None:
    old = add(store, thread="a")
    assert place(add(store, supersedes=old.id, user_id="ana")) == (None, None)


def test_a_correction_from_an_episode_has_the_episodes_position(store: Store) -> None:
    old = add(store, thread="a", seq=4)
    said = store.episodes.add("It rained.", source="x", thread="b")
    assert place(add(store, supersedes=old.id, episode_id=said.id)) == ("b", 1)


@pytest.mark.parametrize(("threads", "expected"), [("aa", ("a", 6)), ("ab", (None, None))])
def test_consolidation_has_the_position_of_its_last_source(
    store: Store, threads: str, expected: tuple[Any, Any]
) -> None:
    ids = [
        store.add(f"it rained {seq} times", subject="weather", thread=thread, seq=seq).id
        for thread, seq in zip(threads, (6, 2), strict=True)
    ]
    proposal = store.of().proposals.put_forward(ids, "it rained 6 times, then 2", {})
    new = store.proposals.accept(proposal.id).new
    assert new is not None
    assert place(new) == expected


# -- erasing, and the file's contents ---------------------------------------------------------


def test_erasing_an_episode_leaves_no_thread_that_identifies_it(store: Store, path: Path) -> None:
    said = store.episodes.add(
        "It rained.", source="x", thread="with the doctor", speaker="Dr Who", tags=["t"]
    )
    alone = store.episodes.add("It snowed.", source="x")
    drawn = add(store, episode_id=alone.id)
    for episode in (said, alone):
        store.episodes.erase(episode.id)
    with raw(path) as file:
        held = list(file.execute("SELECT thread, seq, speaker FROM memstore_episodes"))
        assert held == [(None, None, None)] * 2
        (thread,) = file.execute("SELECT thread FROM memstore_facts").fetchone()
        told = [row for (row,) in file.execute("SELECT uuid FROM memstore_episodes")]
    # The name of its facts' thread cannot be derived from what is left of the episode.
    assert thread == drawn.thread
    assert thread not in told
    for word in ("with the doctor", "Dr Who"):
        assert word.encode() not in path.read_bytes()
    assert place(add(store, episode_id=alone.id)) == (None, None)
    assert store.file.doctor(deep=True) == []


def test_erased_fact_has_no_thread(store: Store, path: Path) -> None:
    fact = add(store, thread="with the doctor")
    store.erase(fact.id)
    with raw(path) as file:
        assert list(file.execute("SELECT thread, seq FROM memstore_facts")) == [(None, None)]
    assert b"with the doctor" not in path.read_bytes()
    assert store.file.doctor(deep=True) == []


@pytest.mark.parametrize("column", ["thread = 'b'", "seq = 9", "speaker = 'Bob'"])
def test_the_position_of_an_episode_never_changes(store: Store, path: Path, column: str) -> None:
    store.episodes.add("hi", source="x", thread="a", speaker="Ana")
    with raw(path) as file, pytest.raises(sqlite3.IntegrityError, match="append-only"):
        file.execute(f"UPDATE memstore_episodes SET {column}")


@pytest.mark.parametrize("table", ["memstore_facts", "memstore_episodes"])
@pytest.mark.parametrize("column", ["thread = 'b'", "seq = 9"])
def test_an_incomplete_position_is_refused_by_the_file_and_found_by_the_doctor(
    store: Store, path: Path, table: str, column: str
) -> None:
    add(store)
    store.episodes.add("hi", source="x")
    with raw(path) as file:
        file.execute("DROP TRIGGER memstore_episodes_lasting")
        with pytest.raises(sqlite3.IntegrityError, match="CHECK"):
            file.execute(f"UPDATE {table} SET {column}")
        file.execute("PRAGMA ignore_check_constraints = ON")
        file.execute(f"UPDATE {table} SET {column}")
        file.commit()
    found = store.file.doctor()
    assert any(f"CHECK constraint failed in {table}" in one.message for one in found)


def test_positions_survive_export_and_import(
    store: Store, open_store: Open, tmp_path: Path
) -> None:
    said = store.of(ANA).episodes.add("hi", source="x", thread="a", seq=3, speaker="Ana")
    alone = store.episodes.add("ho", source="x")
    for episode in (said, alone):
        add(store, episode_id=episode.id, **episode.scope.ids)
    lines = [*store.transfer.export()]
    target = open_store(tmp_path / "target.db")
    for _ in "12":
        target.transfer.import_(lines)
    every, others = store.of("all"), target.of("all")
    for one, other in ((every, others), (every.episodes, others.episodes)):
        assert [*map(place, one.list())] == [*map(place, other.list())]
    assert [one.speaker for one in target.of("all").episodes.list()] == ["Ana", None]
    assert place(add(target, thread="a", user_id="ana")) == ("a", 4)
    assert target.file.doctor(deep=True) == []


@pytest.mark.parametrize(("thread", "seq"), [("", 1), ("a", -1), ("a", "1"), (7, 1), ("a", 2**63)])
def test_invalid_positions_in_an_export_are_refused(store: Store, thread: Any, seq: Any) -> None:
    add(store, thread="a")
    lines = [json.loads(line) for line in store.transfer.export()]
    lines[1]["fact"] |= {"thread": thread, "seq": seq}
    with pytest.raises(memstore.TransferError, match="line 2: "):
        store.transfer.import_(map(json.dumps, lines))


def test_the_highest_position_is_reused(store: Store) -> None:
    add(store, thread="a")
    lines = [json.loads(line) for line in store.transfer.export()]
    lines[1]["fact"]["seq"] = 2**63 - 1
    other = store.within("other")
    other.transfer.import_(map(json.dumps, lines), unverified=True)
    assert add(other, thread="a").seq == 2**63 - 1


@pytest.mark.parametrize("kind", ["fact", "episode"])
@pytest.mark.parametrize("missing", ["thread", "seq"])
def test_an_incomplete_position_in_an_export_is_refused(
    store: Store, kind: str, missing: str
) -> None:
    said = store.episodes.add("hi", source="x", thread="a")
    add(store, episode_id=said.id)
    lines = [json.loads(line) for line in store.transfer.export()]
    for line in lines:
        line.get(kind, {}).pop(missing, None)
    with pytest.raises(memstore.TransferError, match="a place"):
        store.transfer.import_(map(json.dumps, lines))
