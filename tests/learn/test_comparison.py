"""Comparing extracted facts with all candidates: what certainly changes goes before what may."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import pytest

from memstore import Extractor, InvalidArgument, Memory, Store
from memstore.domain.records import NewFact, Scope
from memstore.learn.comparison import Comparison
from memstore.text.judging.judge import Claim, Judgement, Rule, Verdict

NOW = datetime(2027, 1, 1, tzinfo=UTC)
HOME, FLAT, CHESS = "Ana lives in Berlin", "Ana has a flat in Berlin", "Ana plays chess in Berlin"
NEW = "Ana lives in Lisbon, no longer in Berlin"


class Model:
    model = "scripted"

    def generate(self, prompt: str) -> str:
        raise AssertionError(prompt)


def judged(verdict: Verdict) -> Judgement:
    return Judgement(verdict, Rule.NOTHING_ALIGNED)


def comparison(
    store: Store, verdicts: Mapping[tuple[str, str], Verdict], policy: str = "judged"
) -> Comparison:
    def judge(old: Claim, new: Claim) -> Judgement:
        return judged(verdicts.get((old.text, new.text), Verdict.KEEP))

    return Comparison(store, policy, Model(), judge)


def stored(store: Store, *news: str, by: Comparison) -> list[tuple[int | None, int]]:
    """Store facts as compared; return for each what it supersedes and how many proposals exist."""
    facts = [NewFact(content=new, subject="ana") for new in news]
    rivals, why_not = by.compare(facts, Scope(), NOW)
    assert why_not is None
    store.ledger.apply([by.addition(fact, rivals.get(n)) for n, fact in enumerate(facts)])
    return [(fact.superseded_by, fact.id) for fact in store.list(active_only=False)]


def active(store: Store) -> list[str]:
    return [fact.content for fact in store.list()]


def hold(store: Store) -> None:
    for text in (HOME, FLAT, CHESS):
        store.add(text, subject="ana")


def test_every_candidate_is_looked_at_and_a_proof_goes_before_a_question(store: Store) -> None:
    hold(store)
    by = comparison(store, {(HOME, NEW): Verdict.ASK, (CHESS, NEW): Verdict.RETIRE})
    stored(store, NEW, by=by)
    assert active(store) == [HOME, FLAT, NEW]
    assert store.proposals.list() == []


def test_one_fact_supersedes_all_that_say_the_same(store: Store) -> None:
    hold(store)
    by = comparison(store, {(HOME, NEW): Verdict.RETIRE, (FLAT, NEW): Verdict.RETIRE})
    stored(store, NEW, by=by)
    assert active(store) == [CHESS, NEW]
    for fact_id in (1, 2):
        [line] = [one for one in store.ledger.journal(fact_id) if one.fact_id == fact_id][1:]
        assert (line.kind, (line.evidence or {})["policy"]) == ("supersede", "judged")


@pytest.mark.parametrize("policy", ["judged", "propose"])
def test_one_question_for_each_new_fact(store: Store, policy: str) -> None:
    hold(store)
    verdicts = {(one, NEW): Verdict.ASK for one in (HOME, FLAT, CHESS)}
    stored(store, NEW, by=comparison(store, verdicts, policy))
    assert len(active(store)) == 4
    assert len(store.proposals.list()) == 1


def test_proof_is_asked_about_before_what_is_nearer_if_nothing_is_retired(store: Store) -> None:
    hold(store)
    verdicts = {(HOME, NEW): Verdict.ASK, (CHESS, NEW): Verdict.RETIRE}
    stored(store, NEW, by=comparison(store, verdicts, "propose"))
    [proposal] = store.proposals.list()
    assert proposal.old.content == CHESS


def test_older_fact_has_one_successor_the_one_that_certainly_changes_it(store: Store) -> None:
    hold(store)
    other = "Ana lives in Berlin no more"
    by = comparison(store, {(HOME, other): Verdict.ASK, (HOME, NEW): Verdict.RETIRE})
    stored(store, other, NEW, by=by)
    assert active(store) == [FLAT, CHESS, other, NEW]
    assert store.proposals.list() == []


def test_fact_that_a_later_one_supersedes_supersedes_none(store: Store) -> None:
    store.add(HOME, subject="ana", valid_at="2026-01-01")
    store.add(NEW, subject="ana", valid_at="2028-01-01")
    said = "Ana lives in Rome"
    by = comparison(store, {(said, NEW): Verdict.RETIRE, (HOME, said): Verdict.RETIRE})
    stored(store, said, by=by)
    assert active(store) == [HOME, NEW]
    assert store.get(3).superseded_by == 2


class Extracting(Model):
    """Finds the same fact in every text."""

    def __init__(self, content: str) -> None:
        self._reply = json.dumps([{"subject": "API", "content": content}])

    def generate(self, prompt: str) -> str:
        return self._reply


@pytest.mark.parametrize(("without", "outcome"), [({Rule.VALUE}, "proposed"), ((), "superseded")])
def test_a_rule_that_is_switched_off_decides_nothing(
    store: Store, without: set[str], outcome: str
) -> None:
    store.add("The timeout is 5 seconds.", subject="API")
    said = "The timeout is 9 seconds."
    extractor = Extractor(store, Extracting(said), policy="judged", without_rules=without)
    done = extractor.extract(said, source="chat")
    assert [item.outcome for item in done.items] == [outcome]


@pytest.mark.parametrize("kind", [Extractor, Memory])
def test_a_rule_that_does_not_exist_is_refused(store: Store, kind: type[Any]) -> None:
    with pytest.raises(InvalidArgument, match="without_rules"):
        kind(store, Model(), without_rules={"zebra"})
