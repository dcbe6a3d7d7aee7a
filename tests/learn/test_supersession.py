"""Which fact supersedes which: the words decide; unclear cases are only proposed."""

from __future__ import annotations

import json
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memstore import LocalEmbedder
from memstore.learn.supersession import (
    MAX_CANDIDATES,
    RELATED,
    SIMILARITY,
    Verdict,
    judge,
    metadata_conflicts,
)

LABELLED = Path(__file__).parent / "labelled"

KINDS = "correction restatement coexist number date version negation name".split()
"""And "hard", "fresh" and "hostile", which were written after the rules, to find their mistakes."""


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


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("The rate limit is 100 per minute", "The rate limit is 250 per minute"),
        ("The deadline is 3 May", "The deadline is 10 May"),
        ("The current release is 2.4.1", "The current release is 2.5.0"),
        ("Default browser is Firefox", "Default browser is Brave"),
        ("Lives in Berlin", "Lives in Lisbon"),
        ("Is 34 years old", "Is 35 years old"),
        ("Has three grandchildren", "Has four grandchildren"),
        ("Likes coriander", "Doesn't like coriander"),
        ("Can’t come", "Can come"),
        ("Owns a car", "No longer owns a car"),
        ("Uses Vim for notes", "Uses Emacs instead of Vim for notes"),
        ("Die Miete beträgt 850 Euro", "Die Miete beträgt 1.020 Euro"),
        ("Mag Rosenkohl", "Mag keinen Rosenkohl"),
        ("Wohnt in Kiel", "Wohnt in Jena"),
    ],
)
def test_new_values_denials_and_endings_supersede(old: str, new: str) -> None:
    assert judge(old, new, 0.9).verdict is Verdict.RETIRE
    assert judge(old, new, 0.84).verdict is Verdict.PROPOSE
    assert judge(old, new, 0.5).verdict is Verdict.KEEP


@pytest.mark.parametrize(
    ("old", "new", "finding"),
    [
        ("Has a cat named Tom", "Has a cat named Kim", "two of several"),
        ("Has a meeting on 3 May", "Has a meeting on 10 May", "two of several"),
        ("Her brother is Max", "Her brother is Tim", "two of several"),
        ("Went to the gym on Monday", "Went to the gym on Friday", "two events"),
        ("Hat 30 Euro ausgegeben", "Hat 50 Euro ausgegeben", "two events"),
        ("Anna likes sushi", "Ben likes sushi", "the same said of another thing"),
        ("Is allergic to cats", "Is not allergic to dogs", "one affirmed, something else denied"),
    ],
)
def test_events_possessions_and_other_subjects_do_not_supersede(
    old: str, new: str, finding: str
) -> None:
    judged = judge(old, new, 0.99)
    assert judged.verdict is Verdict.KEEP
    assert judged.evidence["finding"] == finding


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Server 1 listens on port 80", "Server 2 listens on port 81"),
        ("Room 301 has a projector", "Room 305 has a projector"),
        ("The module is available for 3.11", "The module is available for 3.12"),
        ("Likes tea", "Likes tea with milk"),
        ("All tests pass on Linux", "Some other tests pass on Linux"),
        ("Was reachable", "Was not reachable"),
        ("The museum closes on Monday", "The museum closes on Tuesday"),
        ("Die Apotheke öffnet um 8 Uhr", "Die Apotheke öffnet um 15 Uhr"),
        ("价格是100元", "价格是200元"),
        ("Привет из Москвы", "Привет из Казани"),
        ("x" * 1001, "y" + "x" * 1000),
    ],
)
def test_unclear_supersession_is_proposed_and_never_automatic(old: str, new: str) -> None:
    assert judge(old, new, 1.0).verdict is Verdict.PROPOSE


@pytest.mark.parametrize(
    ("old", "new"),
    [(pair["old"], pair["new"]) for pair in pairs() if pair["kind"] == "hostile"],
)
def test_similar_spelling_supersedes_nothing(old: str, new: str) -> None:
    for one, other in ((old, new), (new, old)):
        judged = judge(one, other, 1.0)
        assert judged.verdict is not Verdict.RETIRE
        assert judged.evidence["finding"] != "the same text"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Has a cat named Tom", "has a  cat named Tom."),
        ("Likes cafe\u0301s", "LIKES CAF\u00c9S"),
        ("Wohnt in der Hauptstraße", "wohnt in der Hauptstrasse"),
        ("👍", "👍"),
    ],
)
def test_text_equal_after_folding_is_neither_retired_nor_proposed(old: str, new: str) -> None:
    judged = judge(old, new, 1.0)
    assert (judged.verdict, judged.evidence["finding"]) == (Verdict.KEEP, "the same text")


def test_the_evidence_names_what_changed() -> None:
    assert judge("The port is 8080", "The port is 9090", 0.91234567).evidence == {
        "similarity": 0.9123,
        "finding": "another value of an attribute that has one at a time",
        "changes": [["8080", "9090"]],
        "negated": False,
    }


@given(st.text(), st.text(), st.floats(-1, 1))
def test_any_two_texts_get_a_verdict_with_small_json_evidence(
    old: str, new: str, similarity: float
) -> None:
    judged = judge(old, new, similarity)
    assert judged == judge(old, new, similarity)
    assert len(json.dumps(judged.evidence)) < 60_000
    if similarity < SIMILARITY:
        assert judged.verdict is not Verdict.RETIRE
    if similarity < RELATED:
        assert judged.verdict is Verdict.KEEP


@given(st.text(alphabet=st.sampled_from("is the not 3.5 May:'n$,"), max_size=1200))
def test_texts_of_short_words_and_symbols_can_be_compared(text: str) -> None:
    judge(text, "The port is 3.5", 0.9)
    judge("The port is 3.5", text, 0.9)


@pytest.mark.parametrize("similarity", [float("nan"), 1.5, -2.0])
def test_a_similarity_outside_the_cosine_range_is_refused(similarity: float) -> None:
    with pytest.raises(ValueError, match="cosine"):
        judge("a", "b", similarity)


def test_constants_match_the_documentation() -> None:
    assert (SIMILARITY, MAX_CANDIDATES) == (0.85, 10)


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
    embedder = LocalEmbedder()
    old = embedder.embed([pair["old"] for pair in pairs()])
    new = embedder.embed([pair["new"] for pair in pairs()])
    cosines = np.einsum("ij,ij->i", old, new)
    return [
        judge(pair["old"], pair["new"], float(cosine)).verdict
        for pair, cosine in zip(pairs(), cosines, strict=True)
    ]


@pytest.mark.parametrize("held_out", [False, True])
def test_under_two_percent_of_compatible_pairs_are_retired(held_out: bool) -> None:
    chosen = [
        verdict
        for pair, verdict in zip(pairs(), verdicts(), strict=True)
        if pair["label"] == "keep" and pair["held_out"] is held_out
    ]
    assert chosen.count(Verdict.RETIRE) < 0.02 * len(chosen)


def test_most_contradictory_near_pairs_are_retired() -> None:
    chosen = [
        verdict
        for pair, verdict in zip(pairs(), verdicts(), strict=True)
        if pair["label"] == "retire" and pair["kind"] in ("number", "date", "version", "negation")
    ]
    assert chosen.count(Verdict.RETIRE) > 0.6 * len(chosen)
