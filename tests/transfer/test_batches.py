"""Imports use short transactions; interrupted anywhere, no superseded fact is active."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import memstore
from memstore import Store
from memstore.database import short_transactions
from memstore.domain import clock
from memstore.domain.records import Fact
from memstore.transfer import batches, merging
from memstore.transfer.parsing import Incoming

CHAINS = st.lists(st.integers(1, 60), min_size=1, max_size=30)


def fact(number: int, superseded_by: int | None) -> Fact:
    return Fact(
        id=number,
        uuid=str(number),
        namespace="default",
        content="text",
        subject="s",
        category="note",
        metadata={},
        superseded_by=superseded_by,
        created_at=clock.EPOCH,
    )


@given(lengths=CHAINS, places=st.randoms(use_true_random=False), rows=st.integers(4, 100))
def test_no_fact_is_imported_before_its_successor(
    lengths: Sequence[int], places: object, rows: int
) -> None:
    ids = list(range(1, sum(lengths) + 1))
    places.shuffle(ids)  # type: ignore[attr-defined]
    facts, left = [], iter(ids)
    for length in lengths:
        chain = [next(left) for _ in range(length)]
        facts += [fact(one, newer) for one, newer in zip(chain, [*chain[1:], None], strict=True)]
    here: set[int] = set()
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(batches, "ROWS", rows)
        for batch in batches.of(Incoming(facts=sorted(facts, key=lambda one: one.id))):
            assert 2 * len(batch.facts) <= rows
            together = here | {one.id for one in batch.facts}
            assert len(together) == len(here) + len(batch.facts)
            assert all(one.superseded_by in {None, *together} for one in batch.facts)
            here = together
    assert here == set(ids)


class Stopped(Exception):
    """Stops an import."""


def filled(store: Store, number: int) -> list[str]:
    """Fill a store with chains and episodes, and return its export."""
    episodes = store.episodes.add_many(
        {"content": f"said {n}", "source": "chat", "tags": ["t"]} for n in range(number)
    )
    store.add_many(
        {"content": f"fact {n}", "subject": f"s{n % 7}", "episode_id": episodes[n].id}
        for n in range(number)
    )
    for n in range(1, number // 2, 3):
        store.supersede(n, n + 7 * (number // 16))
    store.delete(number)
    return list(store.transfer.export())


def state(store: Store) -> dict[str, object]:
    facts = store.of("all").list(active_only=False, include_deleted=True)
    uuids = {one.id: one.uuid for one in facts}
    said = {one.id: one.uuid for one in store.of("all").episodes.list()}
    return {
        one.uuid: (
            one.content,
            one.status,
            one.superseded_at,
            uuids.get(one.superseded_by or 0),
            said[one.episode_id or 0],
        )
        for one in facts
    }


@pytest.mark.slow
def test_interrupted_import_is_completed_by_repeating_it(
    store: Store, open_store: Callable[..., Store], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = filled(store, 160)
    target = open_store(tmp_path / "target.db", embedder=None)
    monkeypatch.setattr(batches, "ROWS", 30)
    monkeypatch.setattr(short_transactions, "SECONDS", 0.0)
    taken = merging._Merge.take
    retired = {uuid for uuid, (_, status, *_) in state(store).items() if status != "active"}  # type: ignore[misc]
    tries = 0
    for last in range(1, 1000):
        left = [last]

        def take(merge: merging._Merge, *given: object, left: list[int] = left) -> None:
            taken(merge, *given)  # type: ignore[arg-type]
            left[0] -= 1
            if not left[0]:
                raise Stopped

        monkeypatch.setattr(merging._Merge, "take", take)
        tries += 1
        try:
            target.transfer.import_(lines)
        except Stopped:
            assert target.status().incomplete_imports == (last > 1)
            assert not retired & {one.uuid for one in target.list()}
        else:
            break
    assert tries > 5
    assert target.status().incomplete_imports == 0
    assert state(target) == state(store)
    assert target.file.doctor() == []
    monkeypatch.setattr(merging._Merge, "take", taken)
    assert target.transfer.import_(lines).imported == 0


def interrupted(target: Store, lines: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Import a part of an export."""
    taken, done = merging._Merge.take, []

    def take(merge: merging._Merge, *given: object) -> None:
        if done:
            raise Stopped
        done.append(taken(merge, *given))  # type: ignore[arg-type, func-returns-value]

    with monkeypatch.context() as patched:
        patched.setattr(batches, "ROWS", 30)
        patched.setattr(short_transactions, "SECONDS", 0.0)
        patched.setattr(merging._Merge, "take", take)
        with pytest.raises(Stopped):
            target.transfer.import_(lines)


def test_incomplete_import_can_be_abandoned(
    store: Store, open_store: Callable[..., Store], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = filled(store, 80)
    target = open_store(tmp_path / "target.db", embedder=None)
    interrupted(target, lines, monkeypatch)
    other = target.within("other")
    assert (target.status().incomplete_imports, other.status().incomplete_imports) == (1, 0)
    assert other.file.give_up_imports(other.namespace) == 0
    held = target.count()
    assert target.file.give_up_imports(target.namespace) == 1
    assert (target.status().incomplete_imports, target.count()) == (0, held)
    assert target.file.give_up_imports(target.namespace) == 0
    target.transfer.import_(lines)
    assert state(target) == state(store)


IMPORTING = """
import sys, memstore
with memstore.open(sys.argv[1], embedder=None) as store, open(sys.argv[2]) as lines:
    store.transfer.import_(lines, progress=lambda done, total: print(done, total, flush=True))
"""


@pytest.mark.process
@pytest.mark.slow
def test_killed_import_is_completed_by_repeating_it(
    store: Store, path: Path, open_store: Callable[..., Store], tmp_path: Path
) -> None:
    file = tmp_path / "export.jsonl"
    file.write_text("\n".join(filled(store, 1500)))
    retired = {uuid for uuid, (_, status, *_) in state(store).items() if status != "active"}  # type: ignore[misc]
    target = tmp_path / "target.db"
    command = [sys.executable, "-c", IMPORTING, str(target), str(file)]
    seen = []
    for kill_at in (1, 1600, 2500):
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            for line in process.stdout:
                if int(line.split()[0]) >= kill_at:
                    break
            process.kill()
        assert process.returncode != 0
        with memstore.open(target, embedder=None) as half:
            seen.append(half.status().incomplete_imports)
            assert not retired & {one.uuid for one in half.list()}
            assert half.file.doctor() == []
    assert 1 in seen
    subprocess.run(command, check=True, capture_output=True)
    whole = open_store(target, embedder=None)
    assert whole.status().incomplete_imports == 0
    assert state(whole) == state(store)
