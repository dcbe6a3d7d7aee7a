"""Nothing of what a caller may not see is shown: no id, no word and no subject."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.examples import examples

import memstore
from memstore import AddFact, Fact, MayReplace, MemstoreError, NewFact, Scope, Store

ANA, BEN = Scope(user_id="ana"), Scope(user_id="ben")
PLACES = [("default", Scope()), ("default", ANA), ("default", BEN), ("other", Scope())]
"""Namespaces and owners."""

FACTS, EPISODES = 7_000_000, 8_000_000
"""Where the ids of facts and episodes begin, so that they are recognised in every text."""

IDS = re.compile(r"\b[78]0000\d\d\b")
WORDS = re.compile(r"[a-z](\d+)zzyx")

VERBS = "add replace retire delete restore confirm pin metadata propose accept erase".split()


class Lived:
    """Facts of several owners that supersede each other, each with words that no other has."""

    def __init__(self, store: Store) -> None:
        self.store = store
        with store.file.engine.write() as transaction:
            for table, first in (("memstore_facts", FACTS), ("memstore_episodes", EPISODES)):
                transaction.reserve_ids(table, first)
        self.owners: dict[str, tuple[str, Scope]] = {}
        """The namespace and owners of each number that stands in words."""
        self.erased: set[tuple[str, int]] = set()
        """They have no owners any more."""
        self.began: dict[str, str] = {}
        """A moment after the first fact of each namespace."""
        for number, (namespace, owner) in enumerate(PLACES):
            self._add(str(number), namespace, owner, "add", None)
            self.began[namespace] = f"op:{store.file.head().line}"

    def act(self, number: int, verb: str, place: int, whose: int) -> None:
        namespace, owner = PLACES[whose]
        store = self.store.within(namespace)
        live = [fact.id for fact in store.of("all").list(tasks=True)]
        with suppress(MemstoreError):  # such as a fact that was retired already
            old = live[place % len(live)] if live else 1
            if verb in ("add", "replace", "propose"):
                self._add(str(number), namespace, owner, verb, old)
            elif verb == "retire":
                store.supersede(old, max(live, default=old), any_subject=True)
            elif verb == "metadata":
                store.update_metadata(old, {"n": f"value{number}zzyx"})
                self.owners[str(number)] = namespace, store.get(old).scope
            elif verb == "restore":
                gone = [one.id for one in every(store) if one.status in ("deleted", "superseded")]
                store.restore(gone[place % len(gone)] if gone else old)
            elif verb == "accept":
                open_ = store.of("all").proposals.list()
                store.proposals.accept(open_[0].id if open_ else 1)
            elif verb == "erase":
                store.erase(old)
                self.erased.add((namespace, old))
            else:
                getattr(store, verb)(old)

    def _add(self, number: str, namespace: str, owner: Scope, verb: str, old: int | None) -> None:
        store = self.store.within(namespace)
        said = store.of(owner).episodes.add(f"turn{number}zzyx", source=f"src{number}zzyx")
        new = NewFact(
            content=f"word{number}zzyx",
            subject=f"subject{number}zzyx",
            episode_id=said.id,
            supersedes=old if verb == "replace" else None,
            any_subject=True,
            **owner.ids,
        )
        why = {"said": f"turn{number}zzyx", "episode": said.id, "similarity": 0.9}
        precedence = MayReplace(old) if verb == "propose" and old is not None else None
        self.owners[number] = namespace, owner
        store.ledger.apply([AddFact(fact=new, precedence=precedence, evidence=why)])


def every(store: Store) -> list[Fact]:
    return store.of("all").list(active_only=False, include_deleted=True)


def answers(store: Store, scope: Scope, own: list[int], began: str, last: int) -> Iterator[Any]:
    """Yield all that the ledger says to somebody."""
    yield from store.of(scope).ledger.log(limit=None)
    yield store.of(scope).ledger.diff(began)
    yield store.of(scope).ledger.diff(began, limit=2, offset=1)
    yield from plans(store, scope, last)
    for fact_id in own:
        yield store.of(scope).ledger.explain(fact_id)
        yield store.of(scope).why_not("word zzyx", fact_id)
        yield store.of(scope).why_not("word zzyx", fact_id, active_only=False)
        yield from store.of(scope).ledger.log(fact=fact_id)


def plans(store: Store, scope: Scope, last: int) -> Iterator[Any]:
    """Yield plans to take everything back, the last lines, and that again."""
    yield store.of(scope).ledger.revert(since="1h")
    for first in range(max(1, last - 4), last + 1):
        yield store.of(scope).ledger.revert(lines=range(first, last + 1))


@pytest.mark.hypothesis
@settings(max_examples=examples(60), deadline=None)
@given(
    acts=st.lists(
        st.tuples(st.sampled_from(VERBS), st.integers(0, 9), st.integers(0, len(PLACES) - 1)),
        min_size=3,
        max_size=14,
    ),
    confined=st.booleans(),
)
def test_nothing_of_others_is_shown(acts: list[tuple[str, int, int]], confined: bool) -> None:
    with memstore.open(":memory:", embedder=None) as store:
        lived = Lived(store)
        for number, act in enumerate(acts, len(PLACES)):
            lived.act(number, *act)
        last = store.file.head().line
        for namespace, owner in PLACES:
            here = store.within(namespace, confined=confined)
            own = [fact.id for fact in every(here) if fact.scope == owner]
            erased = {fact_id for where, fact_id in lived.erased if where == namespace}
            turns = {turn.id for turn in here.of(owner).episodes.list()}
            mine = {number for number, whose in lived.owners.items() if whose == (namespace, owner)}
            for answer in answers(here, owner, own, lived.began[namespace], last):
                shown = f"{answer}\n{json.dumps(answer.to_dict(), default=str)}"
                ids = {int(one) for one in IDS.findall(shown)}
                assert ids <= {*own, *turns, *erased}, shown
                assert {*WORDS.findall(shown)} <= mine, shown


def test_a_fact_of_another_owner_is_mentioned_but_not_named(store: Store) -> None:
    store.add("mine", subject="s")
    began = f"op:{store.file.head().line}"
    store.add("anas", subject="s", user_id="ana")
    store.supersede(1, 2)
    (act, *_) = store.ledger.log()
    assert (act.text, act.changes[0].facts) == ("replaced fact 1 by another fact", (1,))
    (one,) = store.ledger.diff(began)
    assert (one.text, one.by) == ("replaced by another fact", None)
    assert store.of("all").ledger.log()[0].text == "replaced fact 1 by 2: s: anas"
    assert store.of("all").ledger.diff(began)[-1].by == 2
    assert store.why_not("mine", 1).text.startswith("fact 1 was superseded by another fact")


def test_a_plan_does_not_name_a_fact_of_another_owner(store: Store) -> None:
    store.add("mine", subject="s")
    store.add("anas", subject="s", user_id="ana")
    store.supersede(1, 2)
    line = store.file.head().line
    (step,) = store.ledger.revert(lines=[line]).steps
    assert step.reason == f"it was superseded by another fact in line {line} (user through library)"
    (step,) = store.of("all").ledger.revert(lines=[line]).steps
    assert "superseded by fact 2 in" in step.reason
