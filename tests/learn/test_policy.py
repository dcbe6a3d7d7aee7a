"""`policy="judged"`: a memory is retired only where the model wants it and the words see it too."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from benches.judge import policy

import memstore
from memstore import Store
from memstore.domain.records import Scope
from memstore.learn.conversation import JUDGED, TRUSTING, Learner, MemoryEvents
from memstore.prompting.messages import Message
from memstore.text.judging.judge import Claim, Judgement, Rule, Verdict

LABELLED = Path(__file__).parent / "labelled"

ANA = Scope(user_id="ana")

RETIRE = Judgement(Verdict.RETIRE, Rule.NOTHING_ALIGNED, (("berlin", "lisbon"),))
ASK = Judgement(Verdict.ASK, Rule.NOTHING_ALIGNED, (("berlin", "lisbon"),))
NOTHING = Judgement(Verdict.KEEP, Rule.NOTHING_ALIGNED)
SAME = Judgement(Verdict.KEEP, Rule.SAME)
DENYING = [Judgement(Verdict.KEEP, rule) for rule in (Rule.HEDGED, Rule.ADDED, Rule.OTHER_HOLDER)]

BERLIN = "Ana lives in Berlin"
LISBON = "Ana moved to Lisbon"


def op(event: str, memory: str, text: str | None = None, fact: int = 1) -> dict[str, Any]:
    return {"fact": fact, "event": event, "memory": memory, "text": text}


class Scripted:
    """A model that finds these facts, and replies with these operations on memories by text."""

    model = "scripted"

    def __init__(self, facts: list[Any], operations: list[dict[str, Any]]) -> None:
        self.facts = [
            {"content": one, "subject": "ana"} if isinstance(one, str) else one for one in facts
        ]
        self.operations = operations

    def generate(self, prompt: str) -> str:
        if "The existing memories:" not in prompt:
            return json.dumps({"facts": self.facts})
        lines = prompt.rsplit("The existing memories:", 1)[1].split("The new facts:")[0]
        numbers = {
            json.loads(line.split(". ", 1)[1])["says"]: int(line.split(".")[0])
            for line in lines.splitlines()
            if '{"about"' in line
        }
        told = [{**one, "memory": numbers.get(one["memory"])} for one in self.operations]
        return json.dumps({"operations": told})


Judging = Mapping[str, Judgement] | Judgement


def learn(
    store: Store,
    facts: list[Any],
    operations: list[dict[str, Any]],
    judging: Judging,
    named: str = JUDGED,
    **options: Any,
) -> MemoryEvents:
    def judged(old: Claim, _new: Claim) -> Judgement:
        return judging if isinstance(judging, Judgement) else judging.get(old.text, NOTHING)

    learner = Learner(
        store, Scripted(facts, operations), ANA, None, 0.5, named, judge=judged, **options
    )
    return learner.learn([Message("user", "; ".join(map(str, facts)))])


def hold(store: Store, *texts: str) -> list[int]:
    return [store.add(text, subject="ana", user_id="ana").id for text in texts]


def active(store: Store) -> list[str]:
    return [fact.content for fact in store.of(ANA).list()]


@pytest.mark.parametrize("event", ["UPDATE", "DELETE"])
@pytest.mark.parametrize("judgement", [RETIRE, ASK], ids=["proof", "question"])
def test_memory_goes_where_model_and_words_agree(
    store: Store, event: str, judgement: Judgement
) -> None:
    [old] = hold(store, BERLIN)
    [told] = learn(store, [LISBON], [op(event, BERLIN, LISBON)], judgement)
    assert (told["event"], told["memory"], told["previous"]) == ("UPDATE", LISBON, BERLIN)
    assert active(store) == [LISBON]
    assert store.get(old).superseded_by == told["id"]
    [line] = [line for line in store.ledger.journal(old) if line.kind == "supersede"]
    assert line.evidence == {
        "said": LISBON,
        "similarity": line.evidence["similarity"],
        "rule": judgement.rule.value,
        "changes": [["berlin", "lisbon"]],
        "episode": 1,
        "model": "scripted",
        "policy": JUDGED,
    }
    assert store.of("all").proposals.list() == []


@pytest.mark.parametrize("event", ["UPDATE", "DELETE"])
def test_memory_that_the_model_alone_wants_gone_is_asked_about(store: Store, event: str) -> None:
    hold(store, BERLIN)
    done = learn(store, [LISBON], [op(event, BERLIN, LISBON)], NOTHING)
    assert active(store) == [BERLIN, LISBON]
    [proposal] = store.of("all").proposals.list()
    assert (proposal.old.content, proposal.content) == (BERLIN, LISBON)
    assert proposal.evidence["wanted"] == event
    [refusal] = done.refused
    assert (refusal.event, refusal.fact, refusal.memory_id) == (event, LISBON, 1)
    assert f"proposal {proposal.id} " in refusal.reason


@pytest.mark.parametrize("event", ["UPDATE", "DELETE"])
@pytest.mark.parametrize("judgement", DENYING, ids=lambda one: one.rule.name.lower())
def test_fact_that_denies_a_change_is_added_and_the_operation_refused(
    store: Store, event: str, judgement: Judgement
) -> None:
    hold(store, BERLIN)
    done = learn(store, [LISBON], [op(event, BERLIN, LISBON)], judgement)
    assert [one["event"] for one in done] == ["ADD"]
    assert active(store) == [BERLIN, LISBON]
    assert store.of("all").proposals.list() == []
    [refusal] = done.refused
    assert judgement.rule.value in refusal.reason


def test_words_alone_retire_nothing(store: Store) -> None:
    hold(store, BERLIN)
    learn(store, [LISBON], [op("ADD", "")], RETIRE)
    assert active(store) == [BERLIN, LISBON]


def test_memory_that_says_the_same_is_confirmed(store: Store) -> None:
    hold(store, BERLIN)
    done = learn(store, [{"content": BERLIN, "subject": "user"}], [op("DELETE", BERLIN)], SAME)
    assert [one["event"] for one in done] == ["NONE"]
    assert active(store) == [BERLIN]


def test_faithful_text_of_an_update_is_stored(store: Store) -> None:
    hold(store, BERLIN)
    both = "Ana lives in Lisbon, previously in Berlin"
    done = learn(store, [LISBON], [op("UPDATE", BERLIN, both)], ASK)
    assert active(store) == [both]
    assert done.refused == []


@pytest.mark.parametrize(
    "text",
    [
        "Ana lives in Lisbon",  # without the value before
        "Ana moved to Lisbon, not Berlin",  # a denial of neither
        "Ana moved to Lisbon from Berlin and everything else is deleted",
        "Ana moved to Lisbon from Berlin in 2019",
        "Ana and Ben moved to Lisbon, previously Berlin",
        "Berlin",
    ],
)
def test_unfaithful_text_of_an_update_gives_way_to_the_fact(store: Store, text: str) -> None:
    [old] = hold(store, BERLIN)
    done = learn(store, [LISBON], [op("UPDATE", BERLIN, text)], ASK)
    assert active(store) == [LISBON]
    assert store.get(old).superseded_by is not None
    [refusal] = done.refused
    assert "the new text is not faithful" in refusal.reason


def test_lower_case_value_is_kept_by_an_update(store: Store) -> None:
    hold(store, "Ana drinks coffee")
    judgement = Judgement(Verdict.ASK, Rule.NOTHING_ALIGNED, (("coffee", "tea"),))
    learn(store, ["Ana drinks tea"], [op("UPDATE", "Ana drinks coffee", "Ana drinks")], judgement)
    assert active(store) == ["Ana drinks tea"]


def test_one_fact_replaces_several_memories(store: Store) -> None:
    texts = [BERLIN, "Ana has a flat in Berlin", "Ana plays chess", "Ana has a cat"]
    ids = hold(store, *texts)
    done = learn(
        store,
        [LISBON],
        [op("UPDATE", texts[0], LISBON), op("DELETE", texts[1])],
        {texts[0]: ASK, texts[1]: RETIRE},
    )
    assert active(store) == [*texts[2:], LISBON]
    assert {(one["event"], one["previous"]) for one in done} == {
        ("UPDATE", texts[0]),
        ("UPDATE", texts[1]),
    }
    assert len({store.get(id_).superseded_by for id_ in ids[:2]}) == 1
    for id_ in ids[:2]:
        [line] = [line for line in store.ledger.journal(id_) if line.fact_id == id_][1:]
        assert line.kind == "supersede"
        assert line.evidence is not None
        assert line.evidence["rule"]
    assert store.file.doctor(deep=True) == []


def test_proof_goes_before_a_question_if_only_one_memory_may_go(store: Store) -> None:
    texts = [BERLIN, "Ana has a flat in Berlin"]
    hold(store, *texts)
    learn(
        store,
        [LISBON],
        [op("DELETE", text) for text in texts],
        {texts[0]: ASK, texts[1]: RETIRE},
    )
    assert active(store) == [BERLIN, LISBON]


def test_one_question_for_each_fact_and_none_beside_a_replacement(store: Store) -> None:
    texts = [BERLIN, "Ana plays chess", "Ana has a flat", "Ana sings"]
    hold(store, *texts)
    done = learn(store, [LISBON], [op("DELETE", text) for text in texts], NOTHING)
    assert len(store.of("all").proposals.list()) == 1
    assert len(done.refused) == 4


def test_no_question_beside_a_replacement(store: Store) -> None:
    texts = [BERLIN, "Ana plays chess", "Ana has a flat", "Ana sings"]
    hold(store, *texts)
    learn(store, [LISBON], [op("DELETE", text) for text in texts[:2]], {BERLIN: RETIRE})
    assert active(store) == [*texts[1:], LISBON]
    assert store.of("all").proposals.list() == []


def test_the_same_question_is_not_asked_twice(store: Store) -> None:
    hold(store, BERLIN)
    for _ in range(2):
        learn(store, [LISBON], [op("DELETE", BERLIN)], NOTHING)
    assert len(store.of("all").proposals.list(None)) == 1


@pytest.mark.parametrize("policy", [JUDGED, TRUSTING])
def test_no_more_than_half_of_all_shown_memories_go_in_one_call(store: Store, policy: str) -> None:
    held = [f"Ana lives in flat {n}" for n in range(30)]
    hold(store, *held)
    facts = [f"Ana no longer lives in flat {n}" for n in range(30)]
    operations = [op("DELETE", held[n], fact=n % 20 + 1) for n in range(30)]
    learn(store, facts, operations, RETIRE, policy)
    left = [text for text in active(store) if text in held]
    assert len(left) >= 15


def test_dated_conversation_told_again_replaces_nothing_anew(store: Store) -> None:
    at = datetime(2026, 1, 5, tzinfo=UTC)
    before = datetime(2026, 1, 1, tzinfo=UTC)
    store.add(BERLIN, subject="ana", user_id="ana", valid_at=before)
    rome = "Ana is at home in Rome"
    replies = Scripted([LISBON], [op("UPDATE", BERLIN, LISBON), op("UPDATE", rome, LISBON)])
    learner = Learner(store, replies, ANA, None, 0.5, judge=lambda *_: RETIRE)
    learner.learn([Message("user", "I moved", at=at)])
    assert active(store) == [LISBON]
    store.add(rome, subject="ana", user_id="ana", valid_at=before)
    learner.learn([Message("user", "I moved", at=at)])
    assert active(store) == [LISBON, rome]


def test_everything_is_undone_by_one_revert_of_the_run(path: Path) -> None:
    texts = [BERLIN, "Ana has a flat in Berlin", "Ana plays chess", "Ana has a cat"]
    with memstore.open(path, embedder=None) as store:
        hold(store, *texts)
    with memstore.open(path, embedder=None) as store:
        learn(store, [LISBON], [op("DELETE", text) for text in texts], RETIRE)
        assert active(store) != texts
        store.of(ANA).ledger.revert(run=store.ledger.journal(1)[-1].run).apply()
        assert active(store) == texts
        assert store.of("all").proposals.list() == []


@cache
def outcomes(*, always: bool) -> dict[str, Counter[str]]:
    lines = policy.PUBLISHED.read_text("utf-8").splitlines()
    return policy.table(
        map(json.loads, lines), always=always, slots=False, policy=JUDGED, embedder=None
    )


def share(counts: Counter[str], outcome: str) -> float:
    return counts[outcome] / counts.total()


def test_most_corrections_of_a_model_that_is_right_are_carried_out() -> None:
    # The table also fails if one revert leaves anything of a pair.
    found = outcomes(always=False)
    assert share(found["corrections"], "retired") >= 0.75
    assert share(found["coexisting"], "retired") == 0


def test_few_memories_go_for_a_model_that_always_wants_it() -> None:
    assert share(outcomes(always=True)["coexisting"], "retired") <= 0.12


def test_few_hostile_pairs_go_for_a_model_that_always_wants_it() -> None:
    lines = (LABELLED / "hostile.jsonl").read_text("utf-8").splitlines()
    pairs = [json.loads(line) for line in lines]
    found = policy.table(
        [
            {
                "label": "coexists",
                "kind": "hostile",
                "subject": "ana",
                "older": pair["old"],
                "newer": pair["new"],
            }
            for pair in pairs
        ],
        always=True,
        slots=False,
        policy=JUDGED,
        embedder=None,
    )
    assert share(found["hostile"], "retired") <= 0.3
