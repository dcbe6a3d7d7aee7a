"""Random pairs one step from a correction: with this seed, none of them is retired."""

from __future__ import annotations

import json
import random
from collections import Counter
from pathlib import Path

from memstore.text.judging.judge import Claim, Verdict, judge

from tests.support import labelled  # isort: skip
from tests.support.attack import attacks  # isort: skip
from tests.support.spoiling import Pair  # isort: skip

ROOT = Path(__file__).parents[2]

FILES = [
    *(
        ROOT / "tests" / "text" / "judged" / f"{name}pairs.jsonl"
        for name in ("", "more_", "further_")
    ),
    *(ROOT / "benches" / "judge" / "told" / f"{name}.jsonl" for name in ("development", "tails")),
]


def verdict(pair: Pair, older: str, newer: str) -> Verdict:
    return judge(Claim(older, pair["subject"]), Claim(newer, pair["subject"])).verdict


def test_no_pair_one_step_from_a_correction_is_retired() -> None:
    lines = [line for file in FILES for line in file.read_text(encoding="utf-8").splitlines()]
    tables = [pair for language in labelled.LANGUAGES for pair in labelled.of(language)]
    pairs = [*map(json.loads, lines), *tables, *labelled.everyday()]
    retired = [
        pair
        for pair in pairs
        if pair["label"] == "supersedes"
        and verdict(pair, pair["older"], pair["newer"]) is Verdict.RETIRE
    ]
    done: Counter[str] = Counter()
    for pair, case in attacks(retired, pairs, random.Random(0), rounds=3):
        done[case.how] += 1
        found = verdict(pair, case.older, case.newer)
        assert found is not Verdict.RETIRE, (case.how, case.older, case.newer)
    assert {*done} == {"wrapped", "tail", "exchanged", "another", "crossed", "past", "word"}
    assert done.total() > 5_000
