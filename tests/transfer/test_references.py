"""References by id refer to the same facts and episodes after an import."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from memstore import Memory, NewFact, Store
from memstore.domain.records import Fact
from memstore.facts.batch import AddFact, MayReplace
from memstore.transfer import merging


@pytest.fixture
def target(tmp_path: Path, open_store: Callable[..., Store]) -> Store:
    """A store whose ids are not those of the source."""
    store = open_store(tmp_path / "target.db")
    for n in range(5):
        episode = store.episodes.add(f"said {n}", source="test")
        store.add(f"fact {n}", subject="theirs", episode_id=episode.id)
    return store


def here(store: Store, fact: Fact) -> int:
    held = store.list(active_only=False, include_deleted=True)
    return next(one.id for one in held if one.uuid == fact.uuid)


def test_an_imported_consolidation_can_be_undone(store: Store, target: Store) -> None:
    facts = [store.add(text, subject="ana") for text in ("likes tea", "likes rum", "likes gin")]
    ids = [fact.id for fact in facts]
    proposal = store.of().proposals.put_forward(ids, "likes drinks", {})
    store.proposals.accept(proposal.id)
    target.transfer.import_(store.transfer.export())
    target.reinstate(here(target, facts[1]))
    texts = {fact.content for fact in target.list(subject="ana")}
    assert texts == {"likes tea", "likes rum", "likes gin", "likes drinks"}


def test_an_erased_episode_leaves_no_text_in_the_journal(store: Store, target: Store) -> None:
    old = store.add("Ana lives in Porto", subject="ana")
    episode = store.episodes.add("Ana: we moved to Braga", source="test")
    new = NewFact(content="Ana lives in Braga", subject="ana", supersedes=old.id)
    evidence = {"said": "we moved to Braga", "episode": episode.id}
    store.ledger.apply([AddFact(fact=new, evidence=evidence)])
    target.transfer.import_(store.transfer.export())
    (there,) = (e for e in target.episodes.list() if e.uuid == episode.uuid)
    assert "we moved" in str(target.ledger.journal(here(target, old)))
    target.episodes.erase(there.id)
    assert "we moved" not in str(target.ledger.journal(here(target, old)))
    assert target.file.doctor() == []


def test_an_imported_memory_keeps_its_own_history(store: Store, target: Store) -> None:
    memory = Memory(store)
    first = memory.add("I live in Porto", user_id="ana")[0]["id"]
    memory.update(first or 0, "I live in Braga", user_id="ana")
    target.transfer.import_(store.transfer.export())
    (now,) = Memory(target).get_all(user_id="ana")
    told = Memory(target).history(now["id"], user_id="ana")
    assert [(e["event"], e["previous"], e["memory"]) for e in told if e["event"] == "UPDATE"] == [
        ("UPDATE", "I live in Porto", "I live in Braga")
    ]
    assert now["id"] in {event["id"] for event in told}


def entangled(store: Store) -> None:
    """Fill a store with facts whose journals refer to one another."""
    ids = [store.add(f"one {n}", subject="ana").id for n in range(24)]
    first, second, third = ids[:8], ids[8:16], ids[16:]
    summed = [store.of().proposals.put_forward(some, f"sum of {some[0]}", {})
              for some in (first[::2] + third, first[1::2] + second)]  # fmt: skip
    store.proposals.accept(summed[0].id)
    store.reinstate(first[0])
    store.proposals.reject(summed[1].id)
    for n in range(4):
        old = second[n]
        for more in range(3):
            newer = NewFact(content=f"one {n}, then {more}", subject="ana", supersedes=old)
            (done,) = store.ledger.apply([AddFact(fact=newer, evidence={"said": "so"})])
            old = done.fact.id
    new = NewFact(content="another", subject="ana")
    store.ledger.apply([AddFact(fact=new, precedence=MayReplace(second[6], 0.9))])
    store.proposals.accept(store.proposals.list()[0].id)


def named_in(store: Store) -> list[str]:
    """The references of each line of an export, by text instead of ids."""
    lines = [json.loads(line) for line in store.transfer.export()]
    texts = {line["fact"]["id"]: line["fact"]["content"] for line in lines if "fact" in line}
    proposed = {}
    for line in lines:
        if one := line.get("proposal"):
            facts = one.get("sources") or [one["old"]]
            proposed[one["id"]] = [one["state"], one.get("new") and texts[one["new"]],
                                   sorted(texts[id_] for id_ in facts)]  # fmt: skip
    told = [json.dumps(one) for one in proposed.values()]
    for line in lines:
        for part in ("before", "after", "evidence"):
            for name, ids in (about := line.get("operation", {})).get(part, {}).items():
                named = ids if isinstance(ids, list) else [ids] if ids else []
                of = proposed if name == "proposal" else texts
                if name in (*merging.FACTS, *merging.PROPOSALS) and "fact" in about:
                    said = [of[id_] for id_ in named]  # a KeyError: it names what is not there
                    told.append(f"{texts[about['fact']]} {about['kind']} {part} {name} {said}")
    return sorted(set(told))


class Stopped(Exception):
    """Stops an import."""


@pytest.mark.parametrize("stops", [(), (4, 3, 5)])
@pytest.mark.parametrize("rows", [8, 30, 1000])
def test_lines_refer_to_rows_in_earlier_and_later_batches(
    store: Store,
    target: Store,
    rows: int,
    stops: tuple[int, ...],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("memstore.transfer.batches.ROWS", rows)
    monkeypatch.setattr("memstore.database.short_transactions.SECONDS", 0.0)
    entangled(store)
    lines = [*store.transfer.export()]
    taken = merging._Merge.take
    for stop in stops:
        left = [stop]

        def take(merge: merging._Merge, *given: object, left: list[int] = left) -> None:
            left[0] -= 1
            if left[0] < 0:
                raise Stopped
            taken(merge, *given)  # type: ignore[arg-type]

        with monkeypatch.context() as patched, suppress(Stopped):
            patched.setattr(merging._Merge, "take", take)
            target.transfer.import_(lines)
        target.add(f"meanwhile {stop}", subject="theirs")
        theirs = [target.add(f"{stop} {n}", subject="theirs").id for n in range(2)]
        target.proposals.put_forward(theirs, f"sum {stop}", {})
    target.transfer.import_(lines)
    assert {*named_in(store)} <= {*named_in(target)}
    assert target.file.doctor(deep=True) == []
    texts = [fact.content for fact in store.list(active_only=False)]
    there = [fact.content for fact in target.list(active_only=False) if fact.subject == "ana"]
    assert there == texts  # their ids are in the same order
    assert target.transfer.import_(lines).imported == 0


def test_unknown_ids_become_none_and_other_values_stay() -> None:
    part = {"superseded_by": 1, "reinstates": 2, "episode": 7, "episode_id": True,
            "consolidates": [1, 2], "id": 1, "metadata": {"episode": 7},
            "proposal": 1}  # fmt: skip
    assert merging.replaced(part, {1: 11}.get, {7: 77}.get, {1: 5}.get) == {
        "superseded_by": 11, "reinstates": None, "episode": 77, "episode_id": True,
        "consolidates": [11], "id": 1, "metadata": {"episode": 7}, "proposal": 5,
    }  # fmt: skip
    texts = {"episode": "the pilot", "consolidates": ["a", 1]}
    assert merging.replaced(texts, {1: 11}.get, {}.get, {}.get) == texts
