"""Which pairs without subjects the judge retires, and what keeps facts from being compared."""

from __future__ import annotations

import json
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from memstore.learn.witness import MAX_CANDIDATES, metadata_conflicts, not_retracted
from memstore.text.judging.judge import Claim, Verdict, judge

LABELLED = Path(__file__).parent / "labelled"

KINDS = "correction restatement coexist number date version negation name".split()
"""And "hard", "fresh" and "hostile", which were written to find mistakes."""


@cache
def pairs() -> list[dict[str, Any]]:
    return [
        json.loads(line)
        for file in sorted(LABELLED.glob("*.jsonl"))
        for line in file.read_text(encoding="utf-8").splitlines()
    ]


@pytest.mark.parametrize(
    ("a", "b", "conflict"),
    [
        ({}, {}, False),
        (None, {"a": 1}, False),
        ({"a": 1}, {}, False),
        ({"a": 1}, {"b": 2}, False),
        ({"a": 1, "c": 3}, {"a": 1, "b": 2}, False),
        ({"a": 1}, {"a": 2}, True),
        ({"a": 1, "b": 2}, {"b": 3}, True),
        ({"a": None}, {"a": 1}, True),
        ({"a": True}, {"a": 1}, True),
        ({"a": 1}, {"a": 1.0}, False),
        ({"port": 8080}, {"port": "8080"}, False),
        ({"port": 8080}, {"port": "8081"}, True),
        ({"a": True}, {"a": "true"}, False),
        ({"a": [1, "x"]}, {"a": [1, "x"]}, False),
        ({"a": "1"}, {"a": True}, True),
        ({"a": {"x": 1, "y": 2}}, {"a": {"y": 2, "x": 1}}, False),
        ({"a": {"x": 1}}, {"a": {"x": 2}}, True),
    ],
)
def test_metadata_conflicts_when_a_shared_key_differs(
    a: dict[str, Any] | None, b: dict[str, Any] | None, conflict: bool
) -> None:
    assert metadata_conflicts(a, b) is conflict
    assert metadata_conflicts(b, a) is conflict


def test_the_labelled_set_has_sixty_of_each_kind_in_two_languages() -> None:
    counted = Counter((pair["kind"], pair["language"]) for pair in pairs())
    for kind in KINDS:
        assert min(counted[kind, "en"], counted[kind, "de"]) >= 30
    held_out = [pair["held_out"] for pair in pairs() if pair["kind"] in KINDS]
    assert sum(held_out) >= len(held_out) * 0.3
    assert {pair["label"] for pair in pairs()} == {"retire", "keep", "either"}


def test_no_pair_is_labelled_twice() -> None:
    assert max(Counter((pair["old"], pair["new"]) for pair in pairs()).values()) == 1


@cache
def verdicts() -> list[Verdict]:
    return [judge(Claim(pair["old"]), Claim(pair["new"])).verdict for pair in pairs()]


def of(label: str, *kinds: str) -> list[Verdict]:
    return [
        verdict
        for pair, verdict in zip(pairs(), verdicts(), strict=True)
        if pair["label"] == label and (not kinds or pair["kind"] in kinds)
    ]


def test_under_one_percent_of_compatible_pairs_are_retired() -> None:
    assert of("keep").count(Verdict.RETIRE) < 0.01 * len(of("keep"))
    assert of("keep", "hostile").count(Verdict.RETIRE) == 0


def test_most_contradictory_pairs_are_retired_or_asked_about() -> None:
    assert of("retire").count(Verdict.KEEP) < 0.1 * len(of("retire"))


def test_most_questions_are_about_contradictory_pairs() -> None:
    right, idle = of("retire").count(Verdict.ASK), of("keep").count(Verdict.ASK)
    assert right > 0.8 * (right + idle)


@pytest.mark.parametrize(
    ("memory", "fact", "retracted"),
    [
        ("Ana works at Globex", "Ana no longer works at Globex", True),
        ("Ana plans a trip to Rome", "The trip to Rome is off", True),
        ("Ana plays chess", "Ana plays chess on Sundays", False),
        ("Ana plays chess", "Ben might stop playing chess", False),
        ("Ana plays chess", "Ana drinks tea", False),
    ],
)
def test_a_deletion_needs_a_fact_that_speaks_against_the_memory(
    memory: str, fact: str, retracted: bool
) -> None:
    assert (not_retracted(memory, fact, "Ana") is None) is retracted


def test_constants_match_the_documentation() -> None:
    assert MAX_CANDIDATES == 10
